// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe lab: programs verified under other rules, one row a run. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "csv.h"
#include "input.h"
#include "lab.h"

static void write_head(FILE *out)
{
	const struct lab_column *column;

	fprintf(out, "%-22s %-16s %-11s", "program", "run", "verdict");
	/* µ is two bytes and one column */
	for (size_t i = 0; (column = lab_column(i)) != NULL; i++)
		fprintf(out, " %*s", i ? 10 : 11, column->title);
	fputc('\n', out);
}

static void write_csv_head(FILE *out)
{
	const struct lab_column *column;

	fputs("file_name,prog_name,run,verdict", out);
	for (size_t i = 0; (column = lab_column(i)) != NULL; i++)
		fprintf(out, ",%s", column->name);
	fputc('\n', out);
}

static void write_run(FILE *out, bool csv, const char *file, const char *prog,
		      const struct lab_run *run)
{
	const struct lab_column *column;

	if (csv) {
		csv_field(out, file);
		fputc(',', out);
		csv_field(out, prog);
		fprintf(out, ",%s,%s", run->name, lab_verdict(run));
	} else {
		fprintf(out, "%-22.22s %-16s %-11s", prog, run->name, lab_verdict(run));
	}
	for (size_t i = 0; (column = lab_column(i)) != NULL; i++)
		fprintf(out, csv ? ",%" PRIu64 : " %10" PRIu64, column->value(run));
	fputc('\n', out);
}

static int run_program(const struct args *args, const struct loupe_program *prog, struct lab *lab,
		       const char *file, bool csv)
{
	if (!prog->image)
		return complain_text("%s: %s did not load: %s", file, prog->name ? prog->name : "",
				     prog->reason ? prog->reason : "");
	for (uint32_t i = 0; i < lab->cnt; i++) {
		if (lab_do(&lab->runs[i], prog->image, args->repeat))
			return complain_text("out of memory");
		write_run(stdout, csv, input_base_name(file), prog->name ? prog->name : "",
			  &lab->runs[i]);
	}
	return STATUS_OK;
}

int cmd_lab(const struct args *args)
{
	bool csv = args->output && !strcmp(args->output, "csv");
	struct loupe_program_list list;
	struct lab lab = { 0 };
	char why[160] = "out of memory";
	int status = STATUS_OK;

	if (args->output && !csv && strcmp(args->output, "table"))
		return complain_text("-o takes table or csv, not '%s'", args->output);
	if (lab_add(&lab, &args->verify, NULL, why, sizeof(why)) ||
	    lab_sweep(&lab, &args->verify, args->sweep ? args->sweep : "evict=off,1,2,3,5,10", why,
		      sizeof(why))) {
		lab_finish(&lab);
		return complain_text("%s", why);
	}
	if (csv)
		write_csv_head(stdout);
	else
		write_head(stdout);
	for (uint32_t f = 0; f < args->file_cnt; f++) {
		int rc = load_programs(args, args->files[f], &list);

		for (uint32_t i = 0; !rc && i < list.cnt; i++) {
			if (run_program(args, &list.progs[i], &lab, args->files[f], csv))
				status = STATUS_USAGE;
		}
		if (rc)
			status = rc;
		else
			loupe_program_list_finish(&list);
	}
	lab_finish(&lab);
	return status;
}
