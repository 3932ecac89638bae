// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model alone over random programs, each for a privileged and for an ordinary user: a verdict
 * for nearly all, the same whether somebody listens or not. What tests/live/generate.sh compares
 * with the kernel anywhere, and what ./dev coverage looks at.
 *
 * usage: generated FIRST-SEED COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/generate.h"
#include "bpfloupe/log.h"
#include "bpfloupe/verify.h"

enum { INSN_LIMIT = 20000, UNJUDGED_PER_MILLE = 10 };

static void discard(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)text;
	(void)len;
}

static void out_of_memory(void)
{
	printf("out of memory\n");
	exit(2);
}

static void verify(const struct loupe_image *image, const struct loupe_verify_opts *opts,
		   struct loupe_verify_result *result)
{
	if (loupe_verify(image, opts, result))
		out_of_memory();
}

/* @return whether it is as it should be */
static bool check(uint64_t seed, bool unprivileged, uint32_t *unjudged)
{
	struct loupe_generate_opts gen_opts = {
		.size = sizeof(gen_opts), .seed = seed, .cpus = 2, .unprivileged = unprivileged,
	};
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS,
		.sink = discard,
		.unprivileged = unprivileged,
	};
	struct loupe_verify_result alone, heard;
	struct loupe_generated *gen;
	struct loupe_verify_opts opts;
	struct loupe_log *log;
	bool same;

	if (loupe_generate(&gen_opts, &gen) ||
	    loupe_log_create(loupe_generated_image(gen), &log_opts, &log))
		out_of_memory();
	loupe_verify_opts_init(&opts);
	opts.insn_limit = INSN_LIMIT;
	opts.unprivileged = unprivileged;
	verify(loupe_generated_image(gen), &opts, &alone);
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	verify(loupe_generated_image(gen), &opts, &heard);
	if (loupe_log_finish(log))
		out_of_memory();
	same = alone.verdict == heard.verdict && alone.err == heard.err &&
	       !memcmp(&alone.counters, &heard.counters, sizeof(alone.counters));
	if (!same)
		printf("seed %llu%s: another answer when heard\n", (unsigned long long)seed,
		       unprivileged ? ", unprivileged" : "");
	*unjudged += alone.verdict == LOUPE_NOT_JUDGED || alone.verdict == LOUPE_STOPPED;
	loupe_verify_result_finish(&alone);
	loupe_verify_result_finish(&heard);
	loupe_log_destroy(log);
	loupe_generated_destroy(gen);
	return same;
}

int main(int argc, char **argv)
{
	uint32_t unjudged = 0, failed = 0;
	uint64_t first, cnt;

	if (argc != 3) {
		fprintf(stderr, "usage: generated FIRST-SEED COUNT\n");
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	cnt = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < cnt; i++) {
		failed += !check(first + i, false, &unjudged);
		failed += !check(first + i, true, &unjudged);
	}
	printf("%llu programs for each of two users: %u not judged, %u with two answers\n",
	       (unsigned long long)cnt, unjudged, failed);
	return failed || unjudged > cnt * UNJUDGED_PER_MILLE / 1000;
}
