// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe stat: verdict and counters of every program. */
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "cmd_stat.h"
#include "commands.h"
#include "input.h"

static const char *verdict_name(enum loupe_verdict verdict)
{
	switch (verdict) {
	case LOUPE_ACCEPTED:
		return "success";
	case LOUPE_REJECTED:
		return "failure";
	case LOUPE_NOT_JUDGED:
		return "unsupported";
	case LOUPE_STOPPED:
		break;
	}
	return "stopped";
}

static struct stat_row *new_row(struct stat_table *table)
{
	if (table->cnt == table->cap) {
		uint32_t cap = table->cap ? table->cap * 2 : 16;
		struct stat_row *rows = realloc(table->rows, cap * sizeof(*rows));

		if (!rows)
			return NULL;
		table->rows = rows;
		table->cap = cap;
	}
	table->rows[table->cnt] = (struct stat_row){ .prog_type = "", .attach_type = "" };
	return &table->rows[table->cnt++];
}

static void finish_table(struct stat_table *table)
{
	for (uint32_t i = 0; i < table->cnt; i++) {
		free(table->rows[i].file_name);
		free(table->rows[i].prog_name);
		free(table->rows[i].reason);
	}
	free(table->rows);
}

static const char *name_or_empty(const char *name)
{
	return name ? name : "";
}

/* logged: the log that the program is read from, NULL: it is verified. */
static int verify_row(const struct args *args, const struct loupe_image *image,
		      const struct loupe_logged *logged, struct stat_row *row)
{
	struct loupe_verify_result result;
	uint32_t stack = 0;

	if (logged ? loupe_logged_replay(logged, &args->verify, &result) :
		     loupe_verify(image, &args->verify, &result))
		return complain_text("out of memory");
	for (uint32_t i = 0; i < result.subprog_cnt; i++)
		stack = result.stack_depth[i] > stack ? result.stack_depth[i] : stack;
	row->verdict = verdict_name(result.verdict);
	row->err = -result.err;
	row->duration = result.verification_ns / 1000;
	row->total_insns = result.counters.insn_processed;
	row->total_states = result.counters.total_states;
	row->peak_states = result.counters.peak_states;
	row->max_states_per_insn = result.counters.max_states_per_insn;
	row->prog_size = image->insn_cnt;
	row->stack = stack;
	row->prog_type = name_or_empty(loupe_prog_type_name(image->prog_type));
	if (image->expected_attach_type)
		row->attach_type =
			name_or_empty(loupe_attach_type_name(image->expected_attach_type));
	if (result.verdict == LOUPE_NOT_JUDGED || result.verdict == LOUPE_STOPPED)
		row->reason = strdup(result.reason);
	loupe_verify_result_finish(&result);
	return 0;
}

static int stat_program(const struct args *args, const char *file, const struct loupe_program *prog,
			const struct loupe_logged *logged, struct stat_table *table)
{
	struct stat_row *row = new_row(table);

	if (!row)
		return complain_text("out of memory");
	row->file_name = strdup(input_base_name(file));
	row->prog_name = strdup(prog->name ? prog->name : "");
	if (!row->file_name || !row->prog_name)
		return complain_text("out of memory");
	if (prog->image)
		return verify_row(args, prog->image, logged, row);
	row->verdict = "unloadable";
	row->reason = prog->reason ? strdup(prog->reason) : NULL;
	return 0;
}

static int stat_file(const struct args *args, const char *file, struct stat_table *table)
{
	struct loupe_program_list list;
	struct loupe_log_file *log;
	int status = load_programs_or_log(args, file, &list, &log);

	if (status)
		return status;
	for (uint32_t i = 0; !status && i < list.cnt; i++)
		status = stat_program(args, file, &list.progs[i],
				      log ? loupe_log_file_at(log, i) : NULL, table);
	if (log)
		loupe_log_file_destroy(log);
	else
		loupe_program_list_finish(&list);
	return status;
}

int cmd_stat(const struct args *args)
{
	struct stat_columns columns, by = { 0 };
	const char *format = args->output ? args->output : "table";
	struct stat_table table = { 0 };
	int status = STATUS_OK;
	bool any;

	if (args->compare)
		return stat_compare(args);
	stat_columns_default(&columns);
	if (args->columns && stat_columns_parse(args->columns, &columns))
		return STATUS_USAGE;
	if (args->sort && stat_columns_parse(args->sort, &by))
		return STATUS_USAGE;
	/* a mistake is told before the files are verified, not after */
	if (stat_write_check(format) || (args->filter && stat_filter(&table, args->filter)))
		return STATUS_USAGE;
	/* One unreadable file does not take the others along. */
	for (uint32_t i = 0; i < args->file_cnt; i++) {
		if (stat_file(args, args->files[i], &table))
			status = STATUS_USAGE;
	}
	any = table.cnt;
	if (args->filter && stat_filter(&table, args->filter))
		status = STATUS_USAGE;
	stat_sort(&table, &by);
	/* nothing passed the filters: a table of no rows; nothing was read: nothing */
	if ((any || !status) && stat_write(stdout, &table, &columns, format))
		status = STATUS_USAGE;
	finish_table(&table);
	return status;
}
