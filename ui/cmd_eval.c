// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe eval: what a seccomp filter does with a system call, or with a table of them. */
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pid_input.h"

static bool parse_value(const char *text, uint64_t max, uint64_t *out)
{
	bool negative = text[0] == '-';
	const char *digits = text + negative;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	if (errno || *end || *out > max)
		return false;
	if (negative)
		*out = -*out;
	return true;
}

static int parse_call(const struct args *args, struct loupe_seccomp_data *data)
{
	const char *name = args->files[1];
	int32_t nr = loupe_syscall_nr(args->filters.arch, name);
	uint64_t value;

	if (nr >= 0)
		data->nr = (uint32_t)nr;
	else if (parse_value(name, UINT32_MAX, &value))
		data->nr = (uint32_t)value;
	else
		return complain_text("no system call is called '%s' on %s", name,
				     args->filters.arch == AUDIT_ARCH_AARCH64 ? "aarch64" : "x86_64");
	data->arch = args->filters.arch;
	if (args->file_cnt > 8)
		return complain_text("a system call has six arguments, not %u", args->file_cnt - 2);
	for (uint32_t i = 2; i < args->file_cnt; i++) {
		if (!parse_value(args->files[i], UINT64_MAX, &data->args[i - 2]))
			return complain_text("'%s' is no number", args->files[i]);
	}
	return 0;
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
		printf("# %s: %" PRIu32 " instructions, %" PRIu32 " loads executed\n", text, run.executed,
		       run.loads);
		if (loupe_seccomp_is_cached(filter, data.arch, data.nr))
			printf("# the kernel caches it: this call never runs the filter\n");
	}
	free(run.path);
	return status;
}

/* Means of executed instructions, by weight. */
struct means {
	double weight, before, after;
};

static int show_row(const struct args *args, const struct loupe_filter *before,
		    const struct loupe_filter *after, const struct loupe_weight *call,
		    struct means *means)
{
	struct loupe_seccomp_data data = { .nr = call->nr, .arch = args->filters.arch };
	struct loupe_filter_run was = { 0 }, is = { 0 };
	const char *name = call->name;
	char action[64];
	int status;

	if (!name)
		name = loupe_syscall_name(args->filters.arch, call->nr);
	memcpy(data.args, call->args, sizeof(data.args));
	status = run_one(before, &data, &was);
	if (!status)
		status = run_one(after, &data, &is);
	if (status)
		return status;
	loupe_seccomp_action_text(is.result, action, sizeof(action));
	printf("%-20s %5" PRIu32 " %-14s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %s\n",
	       name ? name : "-", call->nr, action, was.executed, is.executed, was.loads, is.loads,
	       loupe_seccomp_is_cached(after, data.arch, data.nr) ? "cached" : "");
	means->weight += call->weight;
	means->before += call->weight * was.executed;
	means->after += call->weight * is.executed;
	return 0;
}

static int show_table(const struct args *args, const struct loupe_filter *before,
		      const struct loupe_filter *after, const struct loupe_weights *calls)
{
	struct means means = { 0 };
	int status = 0;

	printf("%-20s %5s %-14s %8s %8s %8s %8s\n", "call", "nr", "action", "insns", "after", "loads",
	       "after");
	for (uint32_t i = 0; !status && i < calls->cnt; i++)
		status = show_row(args, before, after, &calls->rows[i], &means);
	if (!status && means.weight > 0)
		printf("%-41s %8.2f %8.2f\n", "mean by weight", means.before / means.weight,
		       means.after / means.weight);
	return status;
}

/* All calls of a table, with the filter as it is and as optimize makes it. */
static int eval_table(const struct args *args, const struct loupe_filter *filter,
		      const struct loupe_weights *weights)
{
	struct loupe_filter_opts opts = args->passes;
	struct loupe_weights calls = { 0 };
	struct loupe_filter *after = NULL;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	int status;

	if (args->file_cnt > 1)
		return complain_text("--table names the calls; '%s' is one too many", args->files[1]);
	opts.weights = weights;
	if (loupe_weights_load(args->table, NULL, 0, args->filters.arch, &calls, &err) ||
	    loupe_filter_optimize_proven(filter, &opts, &rw, &proof, NULL, &err) ||
	    loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, &err))
		status = complain(&err);
	else
		status = show_table(args, filter, after, &calls);
	loupe_filter_destroy(after);
	loupe_rewrite_destroy(rw);
	loupe_weights_finish(&calls);
	return status;
}

/* A call goes through all filters of a process; the worst answer is the kernel's. */
static int eval_stack(const struct args *args)
{
	struct loupe_seccomp_stack stack;
	uint32_t results[64], which = 0, shown = 0;
	struct loupe_error err;
	char text[64];
	int status = STATUS_OK;

	if (pid_input_stack(args->files[0], &stack, &err))
		return complain(&err);
	for (; shown < stack.cnt && shown < 64 && !status; shown++) {
		if (stack.cnt > 1)
			printf("# filter %" PRIu32 "%s\n", shown, shown ? "" : ", the newest");
		status = show_call(args, stack.filters[shown], &results[shown]);
	}
	if (!status && stack.cnt > shown)
		status = complain_text("%s: more than %" PRIu32 " filters", args->files[0], shown);
	if (!status && stack.cnt > 1) {
		loupe_seccomp_action_text(loupe_seccomp_stack_answer(results, shown, &which), text, sizeof(text));
		printf("# all of them: %s, as filter %" PRIu32 " says\n", text, which);
	}
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
