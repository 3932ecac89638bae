// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: batch optimize FILTER OUT   writes what the optimizer makes of a filter as -ddd text
 *        batch ddd FILTER OUT        writes the filter itself
 *        batch eval FILTER           struct seccomp_data from stdin; "result executed" lines out
 * The library's side of check.py.
 */
#include "bpfloupe/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const struct loupe_error *err)
{
	char text[800];

	loupe_error_format(err, text, sizeof(text));
	fprintf(stderr, "batch: %s\n", text);
	return 2;
}

static int write_ddd(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
		     const char *out)
{
	size_t len;
	char *text;
	FILE *f;

	if (loupe_filter_emit(filter, rw, LOUPE_EMIT_DDD, &text, &len))
		return 2;
	f = fopen(out, "w");
	if (!f || fwrite(text, 1, len, f) != len || fclose(f)) {
		perror(out);
		return 2;
	}
	free(text);
	return 0;
}

/* Also prints the shortest of some runs, which is what the optimizer costs. */
static int optimize(const struct loupe_filter *filter, const char *out)
{
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	double best = 1e9;

	for (int i = 0; i < 21; i++) {
		double start = now_ms(), took;

		loupe_rewrite_destroy(rw);
		if (loupe_filter_optimize(filter, NULL, &rw, &err))
			return fail(&err);
		took = now_ms() - start;
		best = took < best ? took : best;
	}
	if (write_ddd(filter, rw, out))
		return 2;
	printf("%u to %u instructions, %u edits, %.3f ms\n", filter->cnt,
	       loupe_rewrite_after(rw)->cnt, loupe_rewrite_edit_cnt(rw), best);
	loupe_rewrite_destroy(rw);
	return 0;
}

static int eval(const struct loupe_filter *filter)
{
	struct loupe_seccomp_data data;
	struct loupe_error err;

	while (fread(&data, sizeof(data), 1, stdin) == 1) {
		struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		struct loupe_filter_run run = { 0 };

		if (loupe_filter_eval(filter, &input, &run, &err))
			return fail(&err);
		printf("%u %u\n", run.result, run.executed);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct loupe_filter *filter;
	struct loupe_error err;
	int ret = 2;

	if (argc < 3) {
		fprintf(stderr, "usage: batch optimize|ddd FILTER OUT | batch eval FILTER\n");
		return 2;
	}
	if (loupe_filter_load(argv[2], NULL, 0, NULL, &filter, &err))
		return fail(&err);
	if (!strcmp(argv[1], "optimize") && argc == 4)
		ret = optimize(filter, argv[3]);
	else if (!strcmp(argv[1], "ddd") && argc == 4)
		ret = write_ddd(filter, NULL, argv[3]);
	else if (!strcmp(argv[1], "eval"))
		ret = eval(filter);
	loupe_filter_destroy(filter);
	return ret;
}
