// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe eval: what a seccomp filter does with a system call, or with a table of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "commands.h"
#include "pid_input.h"

static int parse_call(const struct args *args, struct loupe_seccomp_data *data)
{
	char why[160];

	if (calls_parse(args->files + 1, args->file_cnt - 1, args->filters.arch, data, why,
			sizeof(why)))
		return 0;
	return complain_text("%s", why);
}

static int run_one(const struct loupe_filter *filter, const struct loupe_seccomp_data *data,
		   struct loupe_filter_run *run)
{
	const struct loupe_filter_input input = { .data = data, .len = sizeof(*data) };
	struct loupe_error err;

	return loupe_filter_eval(filter, &input, run, &err) ? complain(&err) : 0;
}

/* @param result  receives the answer, may be NULL */
static int show_call(const struct args *args, const struct loupe_filter *filter, uint32_t *result)
{
	struct loupe_seccomp_data data = { 0 };
	struct loupe_filter_run run = { 0 };
	char text[160];
	int status = parse_call(args, &data);

	if (status)
		return status;
	run.path = malloc(filter->cnt * sizeof(*run.path));
	if (!run.path)
		return complain_text("out of memory");
	status = run_one(filter, &data, &run);
	if (result)
		*result = run.result;
	if (!status) {
		for (uint32_t i = 0; i < run.executed; i++) {
			uint32_t at = run.path[i];

			loupe_filter_insn_text(filter->flavour, filter->insns[at], at,
					       LOUPE_SYNTAX_WORDS, text, sizeof(text));
			printf("%4" PRIu32 ": %s\n", at, text);
		}
		loupe_seccomp_action_text(run.result, text, sizeof(text));
		printf("# %s: %" PRIu32 " instructions, %" PRIu32 " loads executed\n", text,
		       run.executed, run.loads);
		if (loupe_seccomp_is_cached(filter, data.arch, data.nr))
			printf("# the kernel caches it: this call never runs the filter\n");
	}
	free(run.path);
	return status;
}

static const char *cached_word(const struct calls_row *row)
{
	return row->cached[0] && row->cached[1] ? "cached"
	       : row->cached[1]			? "cached after"
	       : row->cached[0]			? "cached before"
						: "";
}

static void show_means(const char *what, const double value[2])
{
	printf("%-41s %8.2f %8.2f\n", what, value[0], value[1]);
}

static void show_table(const struct calls *calls)
{
	struct calls_means means = calls_means(calls);

	printf("%-20s %5s %-14s %8s %8s %8s %8s\n", "call", "nr", "action", "insns", "after",
	       "loads", "after");
	for (uint32_t i = 0; i < calls->cnt; i++) {
		const struct calls_row *row = &calls->rows[i];
		const char *name =
			row->name[0] ? row->name : loupe_syscall_name(row->data.arch, row->data.nr);
		char action[64];

		loupe_seccomp_action_text(row->result, action, sizeof(action));
		printf("%-20s %5" PRIu32 " %-14s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32
		       "  %s\n",
		       name ? name : "-", row->data.nr, action, row->executed[0], row->executed[1],
		       row->loads[0], row->loads[1], cached_word(row));
	}
	if (means.weight <= 0)
		return;
	show_means("mean by weight", means.executed);
	show_means("loads", means.loads);
	show_means("instructions with the kernel's cache", means.with_cache);
	printf("%-41s %7.1f%% %7.1f%%\n", "calls that never run the filter", 100 * means.cached[0],
	       100 * means.cached[1]);
}

/* All calls of a table, with the filter as it is and as optimize makes it. */
static int eval_table(const struct args *args, const struct loupe_filter *filter,
		      const struct loupe_weights *weights)
{
	struct loupe_filter_opts opts = args->passes;
	struct loupe_weights table = { 0 };
	struct calls calls = { 0 };
	struct loupe_filter *after = NULL;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	int status = STATUS_OK;

	if (args->file_cnt > 1)
		return complain_text("--table names the calls; '%s' is one too many",
				     args->files[1]);
	opts.weights = weights;
	if (loupe_weights_load(args->table, NULL, 0, args->filters.arch, &table, &err) ||
	    loupe_filter_optimize_proven(filter, &opts, &rw, &proof, NULL, &err) ||
	    loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, &err))
		status = complain(&err);
	if (!status) {
		calls_init(&calls, filter, after);
		if (calls_add_table(&calls, &table, &err))
			status = complain(&err);
		else
			show_table(&calls);
	}
	calls_finish(&calls);
	loupe_filter_destroy(after);
	loupe_rewrite_destroy(rw);
	loupe_weights_finish(&table);
	return status;
}

/* A call goes through all filters of a process; the worst answer is the kernel's. */
static int eval_stack(const struct args *args)
{
	struct loupe_seccomp_stack stack;
	uint32_t *results, which = 0;
	struct loupe_error err;
	char text[64];
	int status = STATUS_OK;

	if (pid_input_stack(args->files[0], &stack, &err))
		return complain(&err);
	results = calloc(stack.cnt + 1, sizeof(*results));
	if (!results)
		status = complain_text("out of memory");
	for (uint32_t shown = 0; shown < stack.cnt && !status; shown++) {
		if (stack.cnt > 1)
			printf("# filter %" PRIu32 "%s\n", shown, shown ? "" : ", the newest");
		status = show_call(args, stack.filters[shown], &results[shown]);
	}
	if (!status && stack.cnt > 1) {
		loupe_seccomp_action_text(loupe_seccomp_stack_answer(results, stack.cnt, &which),
					  text, sizeof(text));
		printf("# all of them: %s, as filter %" PRIu32 " says\n", text, which);
	}
	free(results);
	loupe_seccomp_stack_finish(&stack);
	return status;
}

int cmd_eval(const struct args *args)
{
	struct input input = { 0 };
	struct loupe_error err;
	int status;

	if (!args->table && args->file_cnt < 2)
		return complain_text("eval needs a system call behind the filter, or --table FILE");
	if (pid_input_is(args->files[0]) && !args->table)
		return eval_stack(args);
	if (input_open_filter(args->files[0], &args->filters, false, &input, &err))
		status = complain(&err);
	else if (input.filter->flavour != LOUPE_FILTER_SECCOMP)
		status = complain_text("%s: a socket filter sees packets, no system calls",
				       args->files[0]);
	else
		status = args->table ? eval_table(args, input.filter, &input.weights)
				     : show_call(args, input.filter, NULL);
	input_finish(&input);
	return status;
}
