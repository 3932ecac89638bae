// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe parity: the model against the running kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "commands.h"
#include "input.h"
#include "parity.h"
#include "parity_generate.h"

struct job {
	const char *file;
	const struct loupe_program *prog;
};

/* What the processes share. */
struct board {
	uint64_t next; /* job to be taken */
	struct parity rows[];
};

struct work {
	struct loupe_program_list *lists; /* one a file */
	struct job *jobs;
	uint32_t job_cnt;
	struct board *board;
	size_t board_size;
};

static const char *const same_words[] = {
	[PARITY_UNKNOWN] = "-",
	[PARITY_SAME] = "same",
	[PARITY_DIFFERS] = "differs",
};

struct task {
	const struct work *work;
	const struct loupe_verify_opts *knobs;
};

static void compare_job(void *ctx, uint64_t i)
{
	const struct task *task = ctx;
	const struct loupe_image *image = task->work->jobs[i].prog->image;

	if (image)
		parity_compare(image, task->knobs, &task->work->board->rows[i]);
}

static int collect(const struct args *args, struct work *work)
{
	uint32_t cnt = 0;
	int status = 0;

	work->lists = calloc(args->file_cnt, sizeof(*work->lists));
	if (!work->lists)
		return complain_text("out of memory");
	for (uint32_t i = 0; i < args->file_cnt; i++) {
		if (load_programs(args, args->files[i], &work->lists[i]))
			status = STATUS_USAGE;
		cnt += work->lists[i].cnt;
	}
	work->jobs = calloc(cnt ? cnt : 1, sizeof(*work->jobs));
	work->board_size = sizeof(*work->board) + cnt * sizeof(work->board->rows[0]);
	work->board = mmap(NULL, work->board_size, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (work->board == MAP_FAILED)
		work->board = NULL;
	if (!work->jobs || !work->board)
		return complain_text("out of memory");
	for (uint32_t i = 0; i < args->file_cnt; i++) {
		for (uint32_t j = 0; j < work->lists[i].cnt; j++)
			work->jobs[work->job_cnt++] =
				(struct job){ args->files[i], &work->lists[i].progs[j] };
	}
	return status;
}

static void finish_work(const struct args *args, struct work *work)
{
	for (uint32_t i = 0; work->lists && i < args->file_cnt; i++)
		loupe_program_list_finish(&work->lists[i]);
	free(work->lists);
	free(work->jobs);
	if (work->board)
		munmap(work->board, work->board_size);
}

/* --- writing --------------------------------------------------------------------------------- */

static void verdict_word(bool judged, bool accepted, int err, char *buf, size_t size)
{
	if (!judged)
		snprintf(buf, size, "not judged");
	else if (accepted)
		snprintf(buf, size, "accepted");
	else
		snprintf(buf, size, "%s", errno_name(-err));
}

static void model_word(const struct parity *row, char *buf, size_t size)
{
	verdict_word(row->model == LOUPE_ACCEPTED || row->model == LOUPE_REJECTED,
		     row->model == LOUPE_ACCEPTED, row->model_err, buf, size);
}

static void kernel_word(const struct parity *row, char *buf, size_t size)
{
	verdict_word(row->kernel_judged, !row->kernel_err, row->kernel_err, buf, size);
}

static const char *reason_of(const struct job *job, const struct parity *row)
{
	if (!job->prog->image)
		return job->prog->reason;
	return row->done ? row->reason : "comparing it ended early";
}

static void counters_word(const struct loupe_counters *c, char *buf, size_t size)
{
	snprintf(buf, size, "%u/%u/%u/%u", c->insn_processed, c->total_states, c->peak_states,
		 c->max_states_per_insn);
}

static void write_printable(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
}

static void write_diff(const struct job *job, const struct parity *row)
{
	for (int i = 0; i < PARITY_LEVELS; i++) {
		const struct loupe_log_difference *diff = &row->diffs[i];

		if (row->logs[i] != PARITY_DIFFERS)
			continue;
		printf("%s: %s: log level %u, line %llu\n", input_base_name(job->file),
		       job->prog->name, parity_levels[i], (unsigned long long)diff->line);
		for (int j = 0; j < 3; j++) {
			if (!diff->before[j][0])
				continue;
			printf("         ");
			write_printable(diff->before[j]);
			putchar('\n');
		}
		printf("  kernel ");
		write_printable(diff->want);
		printf("\n  model  ");
		write_printable(diff->got);
		putchar('\n');
	}
}

static void write_table(const struct work *work)
{
	size_t file = 4, prog = 7;

	for (uint32_t i = 0; i < work->job_cnt; i++) {
		size_t a = strlen(input_base_name(work->jobs[i].file));
		size_t b = strlen(work->jobs[i].prog->name);

		file = a > file ? a : file;
		prog = b > prog ? b : prog;
	}
	printf("%-*s  %-*s  %-10s  %-10s  %-8s  %-7s  %-7s  %s\n", (int)file, "File", (int)prog,
	       "Program", "Model", "Kernel", "Counters", "Log 6", "Log 1",
	       "Insns/states/peak/most, or why not");
	for (uint32_t i = 0; i < work->job_cnt; i++) {
		const struct parity *row = &work->board->rows[i];
		const char *reason = reason_of(&work->jobs[i], row);
		char model[32], kernel[32], counts[64];

		model_word(row, model, sizeof(model));
		kernel_word(row, kernel, sizeof(kernel));
		counters_word(&row->model_counters, counts, sizeof(counts));
		printf("%-*s  %-*s  %-10s  %-10s  %-8s  %-7s  %-7s  ", (int)file,
		       input_base_name(work->jobs[i].file), (int)prog, work->jobs[i].prog->name,
		       row->done ? model : "-", row->done ? kernel : "-", same_words[row->counters],
		       same_words[row->logs[0]], same_words[row->logs[1]]);
		write_printable(reason && reason[0] ? reason : counts);
		if (row->counters == PARITY_DIFFERS) {
			counters_word(&row->kernel_counters, counts, sizeof(counts));
			printf(", kernel %s", counts);
		}
		putchar('\n');
	}
	for (uint32_t i = 0; i < work->job_cnt; i++)
		write_diff(&work->jobs[i], &work->board->rows[i]);
}

/* A CSV field in quotes. */
static void write_field(const char *text)
{
	putchar('"');
	for (; text && *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
	}
	putchar('"');
}

static void write_counters(const struct loupe_counters *c)
{
	printf(",%u,%u,%u,%u", c->insn_processed, c->total_states, c->peak_states,
	       c->max_states_per_insn);
}

static void write_csv(const struct work *work)
{
	printf("file_name,prog_name,model,kernel,verdict,errno,counters,log6,log1,"
	       "total_insns,total_states,peak_states,max_states_per_insn,"
	       "kernel_insns,kernel_states,kernel_peak,kernel_max,line,kernel_line,model_line,"
	       "reason\n");
	for (uint32_t i = 0; i < work->job_cnt; i++) {
		const struct job *job = &work->jobs[i];
		const struct parity *row = &work->board->rows[i];
		int level = row->logs[0] == PARITY_DIFFERS ? 0 : 1;
		char model[32], kernel[32];

		model_word(row, model, sizeof(model));
		kernel_word(row, kernel, sizeof(kernel));
		write_field(input_base_name(job->file));
		putchar(',');
		write_field(job->prog->name);
		printf(",%s,%s,%s,%s,%s,%s,%s", row->done ? model : "", row->done ? kernel : "",
		       same_words[row->verdict], same_words[row->err], same_words[row->counters],
		       same_words[row->logs[0]], same_words[row->logs[1]]);
		write_counters(&row->model_counters);
		write_counters(&row->kernel_counters);
		printf(",%llu,", (unsigned long long)row->diffs[level].line);
		write_field(row->diffs[level].want);
		putchar(',');
		write_field(row->diffs[level].got);
		putchar(',');
		write_field(reason_of(job, row));
		putchar('\n');
	}
}

/* @return the exit status that the rows mean */
static int summarise(const struct work *work, FILE *out)
{
	uint32_t same = 0, differs = 0, model = 0, kernel = 0, unloaded = 0;

	for (uint32_t i = 0; i < work->job_cnt; i++) {
		const struct parity *row = &work->board->rows[i];

		if (!work->jobs[i].prog->image)
			unloaded++;
		else if (!row->done || parity_differs(row))
			differs++;
		else if (row->model != LOUPE_ACCEPTED && row->model != LOUPE_REJECTED)
			model++;
		else if (!row->kernel_judged)
			kernel++;
		else
			same++;
	}
	fprintf(out,
		"%u same, %u different, %u not judged by the model, %u not judged by the kernel, "
		"%u do not load\n",
		same, differs, model, kernel, unloaded);
	if (differs)
		return STATUS_REJECTED;
	return model || kernel ? STATUS_NOT_JUDGED : STATUS_OK;
}

int cmd_parity(const struct args *args)
{
	const char *output = args->output ? args->output : "table";
	struct loupe_error err;
	struct work work = { 0 };
	int status, verdict;

	if (strcmp(output, "table") && strcmp(output, "csv"))
		return complain_text("-o takes table or csv, not '%s'", output);
	if (loupe_kernel_usable(&err))
		return complain(&err);
	if (!loupe_kernel_is_modelled()) {
		char release[128];

		loupe_kernel_release(release, sizeof(release));
		fprintf(stderr,
			"bpfloupe: this kernel is %s, the model is 6.18: differences need not be "
			"mistakes\n",
			release);
	}
	if (args->generate)
		return parity_generate(args);
	status = collect(args, &work);
	if (work.job_cnt && parity_share_out(&work.board->next, work.job_cnt, args->jobs,
					     compare_job, &(struct task){ &work, &args->verify }))
		status = STATUS_USAGE;
	if (work.job_cnt) {
		if (!strcmp(output, "csv"))
			write_csv(&work);
		else
			write_table(&work);
		verdict = summarise(&work, !strcmp(output, "csv") ? stderr : stdout);
		status = status ? status : verdict;
	}
	finish_work(args, &work);
	return status;
}
