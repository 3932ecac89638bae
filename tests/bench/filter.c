// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: bench_filter DIR
 * Sizes, means of executed instructions and times of the optimizer against their budgets, for the
 * three published filters below DIR: NAME.generated.txt, a filter; NAME.policy, the rules that it
 * was made of; NAME.syscalls.tsv, calls with their weights. The budgets are those of the optimizer
 * that these filters were published with, on a like machine: its result and its time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/audit.h>

#include "bpfloupe.h"

enum { SKIPPED = 77, RUNS = 41, LEVELS = 3 };

/* What one filter may become. */
static const struct budget {
	const char *name;
	uint32_t insns[LEVELS]; /* by level */
	double ms;		/* level 2; level 1 may take a tenth, level 3 SEARCH_MS */
	double mean;		/* of executed instructions without weights */
	uint32_t policy_insns;	/* of the policy at level 2 with weights */
	double policy_mean;
} budgets[] = {
	{ "systrap", { 280, 211, 207 }, 2.4, 12.6, 215, 8.9 },
	{ "kvm", { 259, 189, 187 }, 2.2, 17.5, 195, 10.1 },
	{ "nvproxy", { 333, 253, 247 }, 4.0, 44.0, 256, 17.5 },
};

#define SEARCH_MS 20.0

static uint32_t over;

static const char *mark(bool good)
{
	over += !good;
	return good ? "" : " !";
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle of some runs, warm. */
static double median_ms(const struct loupe_filter *filter, const struct loupe_filter_opts *opts)
{
	double ms[RUNS];

	for (int i = 0; i < RUNS; i++) {
		struct loupe_rewrite *rw;
		double start = now_ms();

		if (loupe_filter_optimize(filter, opts, &rw, NULL))
			abort();
		ms[i] = now_ms() - start;
		loupe_rewrite_destroy(rw);
	}
	qsort(ms, RUNS, sizeof(ms[0]), compare_doubles);
	return ms[RUNS / 2];
}

static double mean_of(const struct loupe_filter *filter, const struct loupe_weights *weights)
{
	double sum = 0, total = 0;

	for (uint32_t i = 0; i < weights->cnt; i++) {
		const struct loupe_weight *row = &weights->rows[i];
		struct loupe_seccomp_data data = { .nr = row->nr, .arch = weights->arch };
		const struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		struct loupe_filter_run run = { 0 };

		memcpy(data.args, row->args, sizeof(data.args));
		if (loupe_filter_eval(filter, &input, &run, NULL))
			abort();
		sum += run.executed * row->weight;
		total += row->weight;
	}
	return sum / total;
}

struct result {
	struct loupe_filter *after;
	struct loupe_filter_proof proof;
	uint32_t level;
	double proof_ms;
};

static struct result optimize(const struct loupe_filter *filter,
			      const struct loupe_filter_opts *opts)
{
	struct loupe_rewrite *rw;
	struct result r = { 0 };
	double start;

	if (loupe_filter_optimize_proven(filter, opts, &rw, &r.proof, &r.level, NULL) ||
	    loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &r.after, NULL))
		abort();
	start = now_ms();
	if (loupe_filter_prove(filter, r.after, &r.proof, NULL))
		abort();
	r.proof_ms = now_ms() - start;
	loupe_rewrite_destroy(rw);
	return r;
}

static void show(const char *name, const char *what, const struct loupe_filter *filter,
		 const struct loupe_filter_opts *opts, uint32_t most, double ms, double mean,
		 const struct loupe_weights *calls)
{
	struct result r = optimize(filter, opts);
	double took = median_ms(filter, opts), executed = mean_of(r.after, calls);
	bool proven = r.proof.verdict == LOUPE_PROOF_PROVEN && r.level == opts->level;

	printf("%-8s %-10s -O%u %5u %5u /%4u%s %7.2f /%5.1f%s %8.3f /%7.3f%s %8.3f %s%s\n", name,
	       what, opts->level, filter->cnt, r.after->cnt, most, mark(r.after->cnt <= most),
	       executed, mean, mark(executed <= mean), took, ms, mark(took <= ms), r.proof_ms,
	       proven ? "proven" : "not proven", mark(proven));
	loupe_filter_destroy(r.after);
}

static void path_of(char *buf, size_t size, const char *dir, const char *name, const char *rest)
{
	if (snprintf(buf, size, "%s/%s%s", dir, name, rest) >= (int)size)
		abort();
}

static void measure(const char *dir, const struct budget *b)
{
	struct loupe_filter *filter, *compiled;
	struct loupe_filter_opts opts = { 0 };
	struct loupe_policy *policy;
	struct loupe_weights calls;
	char path[4096];

	path_of(path, sizeof(path), dir, b->name, ".syscalls.tsv");
	if (loupe_weights_load(path, NULL, 0, AUDIT_ARCH_X86_64, &calls, NULL))
		abort();
	path_of(path, sizeof(path), dir, b->name, ".generated.txt");
	if (loupe_filter_load(path, NULL, 0, NULL, &filter, NULL))
		abort();
	for (opts.level = 1; opts.level <= LEVELS; opts.level++) {
		double ms = opts.level == 1 ? b->ms / 10 : opts.level == 2 ? b->ms : SEARCH_MS;

		show(b->name, "filter", filter, &opts, b->insns[opts.level - 1], ms, b->mean,
		     &calls);
	}
	path_of(path, sizeof(path), dir, b->name, ".policy");
	if (loupe_policy_load(path, NULL, 0, NULL, &policy, NULL) ||
	    loupe_policy_compile(policy, &calls, &compiled, NULL))
		abort();
	opts.weights = &calls;
	for (opts.level = 2; opts.level <= LEVELS; opts.level++)
		show(b->name, "policy", compiled, &opts, b->policy_insns, 1e3, b->policy_mean,
		     &calls);
	loupe_filter_destroy(compiled);
	loupe_policy_destroy(policy);
	loupe_filter_destroy(filter);
	loupe_weights_finish(&calls);
}

int main(int argc, char **argv)
{
	char path[4096];

	path_of(path, sizeof(path), argc > 1 ? argv[1] : ".", budgets[0].name, ".generated.txt");
	if (access(path, R_OK)) {
		printf("skipped: %s is not there\n", path);
		return SKIPPED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%-24s %5s %12s %16s %18s %8s\n", "result / budget; ! over it", "insns", "after",
	       "executed", "ms", "proof ms");
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++)
		measure(argv[1], &budgets[i]);
	printf("%u over their budgets\n", over);
	return over != 0;
}
