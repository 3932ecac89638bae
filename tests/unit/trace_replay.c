// SPDX-License-Identifier: GPL-2.0-only
/* Hops of a demand, found again: as many as were recorded, from what was wanted to where it
 * ended. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bpfloupe/generate.h"
#include "bpfloupe/trace.h"

static const struct loupe_verify_opts *options(void)
{
	static struct loupe_verify_opts opts;

	loupe_verify_opts_init(&opts);
	opts.insn_limit = 20000;
	return &opts;
}

static struct loupe_trace *record(const struct loupe_image *image)
{
	struct loupe_trace *t = loupe_trace_create(image);
	struct loupe_verify_opts opts = *options();
	struct loupe_verify_result result;

	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(t);
	assert_int_equal(loupe_verify(image, &opts, &result), 0);
	loupe_verify_result_finish(&result);
	assert_int_equal(loupe_trace_finish(t), 0);
	return t;
}

static void check_walk(const struct loupe_image *image, const struct loupe_trace *t, uint64_t row)
{
	struct loupe_walk_info info;
	struct loupe_hop *hops;
	uint32_t cnt, walked = 0, marked = 0;
	int32_t last = -1;

	assert_int_equal(loupe_trace_walk(t, row, &info), 0);
	assert_int_equal(
		loupe_replay_walk(
			image, options(), info.step,
			(uint32_t)(row - loupe_trace_first_row(t, LOUPE_TABLE_WALK, info.step)),
			&hops, &cnt),
		0);
	for (uint32_t i = 0; i < cnt; i++) {
		if (hops[i].kind == LOUPE_HOP_MARK)
			marked |= 1;
		if (hops[i].kind != LOUPE_HOP_INSN)
			continue;
		walked++;
		last = hops[i].insn_idx;
	}
	assert_int_equal(walked, info.hops);
	assert_int_equal(last, info.stop_insn);
	assert_int_equal(marked, info.mark_cnt > 0);
	free(hops);
}

static void test_random_programs(void **state)
{
	uint64_t walks = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct loupe_generate_opts opts = { .size = sizeof(opts), .seed = seed };
		const struct loupe_image *image;
		struct loupe_generated *gen;
		struct loupe_trace *t;

		assert_int_equal(loupe_generate(&opts, &gen), 0);
		image = loupe_generated_image(gen);
		t = record(image);
		for (uint64_t row = 0; row < loupe_trace_rows(t, LOUPE_TABLE_WALK) && row < 12;
		     row++, walks++)
			check_walk(image, t, row);
		loupe_trace_destroy(t);
		loupe_generated_destroy(gen);
	}
	assert_true(walks > 50);
}

static void test_no_such_demand(void **state)
{
	struct loupe_generate_opts opts = { .size = sizeof(opts), .seed = 1 };
	struct loupe_generated *gen;
	struct loupe_hop *hops;
	uint32_t cnt;

	(void)state;
	assert_int_equal(loupe_generate(&opts, &gen), 0);
	/* the first step demands nothing, and no program of this size has such a step */
	assert_int_equal(
		loupe_replay_walk(loupe_generated_image(gen), options(), 0, 0, &hops, &cnt),
		-ENOENT);
	assert_null(hops);
	assert_int_equal(
		loupe_replay_walk(loupe_generated_image(gen), NULL, 900000, 0, &hops, &cnt),
		-ENOENT);
	loupe_generated_destroy(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_no_such_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
