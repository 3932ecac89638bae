// SPDX-License-Identifier: GPL-2.0-only
/* All differences of a comparison: the recorded one comes first, and each one alone is enough. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/generate.h"
#include "insn/opcodes.h"
#include "trace/store.h"

#define I(c, d, s, o, i)                                                            \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}

static struct loupe_trace *record(const struct loupe_image *image, bool unprivileged)
{
	struct loupe_trace *t = loupe_trace_create(image);
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;

	loupe_verify_opts_init(&opts);
	opts.insn_limit = 20000;
	opts.checkpoint_always = true;
	opts.unprivileged = unprivileged;
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(t);
	assert_int_equal(loupe_verify(image, &opts, &result), 0);
	loupe_verify_result_finish(&result);
	assert_int_equal(loupe_trace_finish(t), 0);
	return t;
}

/* Compares the states of a row as cursors give them; first: what the verifier recorded. */
static void first_is_recorded(const struct loupe_trace *t, bool unprivileged, uint64_t *misses)
{
	struct loupe_cursor *then = loupe_cursor_create(t), *now = loupe_cursor_create(t);

	for (uint64_t row = 0; row < loupe_trace_rows(t, LOUPE_TABLE_COMPARE); row++) {
		struct loupe_compare_info info;
		struct loupe_diff direct[1], diffs[80];
		uint32_t cnt, cnt_direct = 0;

		assert_int_equal(loupe_trace_compare(t, row, &info), 0);
		assert_int_equal(loupe_cursor_compare_diffs(then, now, row, diffs, 80, &cnt), 0);
		if (info.diff == LOUPE_DIFF_NONE) {
			assert_int_equal(cnt, 0);
			continue;
		}
		++*misses;
		assert_true(cnt >= 1);
		assert_int_equal(diffs[0].kind, info.diff);
		assert_int_equal(diffs[0].reg, info.reg);
		assert_int_equal(diffs[0].spi, info.spi);
		assert_int_equal(diffs[0].frameno, info.frameno);
		if (unprivileged)
			continue;
		/* no fallback was needed: the comparison itself says so */
		assert_int_equal(
			loupe_state_diffs(loupe_trace_facts(t, 0), loupe_trace_insn_cnt(t),
					  loupe_cursor_seek_checkpoint(then, info.serial, row),
					  loupe_cursor_seek(now, info.step), info.mode, 0, direct,
					  1, &cnt_direct),
			0);
		assert_int_equal(cnt_direct, cnt);
		assert_int_equal(direct[0].kind, info.diff);
	}
	loupe_cursor_destroy(then);
	loupe_cursor_destroy(now);
}

static void test_random_programs(void **state)
{
	uint64_t misses = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 80; seed++) {
		struct loupe_generate_opts opts = { .size = sizeof(opts), .seed = seed,
						    .unprivileged = seed % 4 == 0 };
		struct loupe_generated *gen;
		struct loupe_trace *t;

		assert_int_equal(loupe_generate(&opts, &gen), 0);
		t = record(loupe_generated_image(gen), opts.unprivileged);
		if (loupe_trace_step_cnt(t) < 5000)
			first_is_recorded(t, opts.unprivileged, &misses);
		loupe_trace_destroy(t);
		loupe_generated_destroy(gen);
	}
	assert_true(misses > 200);
}

/*
 * Both sides of a branch set R6 and R7, and both bound what is done with the stack: where they
 * meet, both differ, and R8, on which nothing depends exactly, does not.
 */
static void test_two_differences(void **state)
{
	static const struct loupe_insn insns[] = {
		/* 0 */ I(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0),
		/* 1 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, -8),
		/* 2 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, -16),
		/* 3 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 8, 0, 0, 1),
		/* 4 */ I(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 3, 5),
		/* 5 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, -24),
		/* 6 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, -32),
		/* 7 */ I(BPF_ALU64 | BPF_MOV | BPF_K, 8, 0, 0, 2),
		/* 8 */ I(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		/* 9 */ I(BPF_ALU64 | BPF_ADD | BPF_X, 3, 6, 0, 0),
		/* 10 */ I(BPF_ST | BPF_MEM | BPF_B, 3, 0, 0, 7),
		/* 11 */ I(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		/* 12 */ I(BPF_ALU64 | BPF_ADD | BPF_X, 3, 7, 0, 0),
		/* 13 */ I(BPF_ST | BPF_MEM | BPF_B, 3, 0, 0, 7),
		/* 14 */ I(BPF_ALU64 | BPF_MOV | BPF_X, 0, 8, 0, 0),
		/* 15 */ I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct loupe_image *image = loupe_image_create();
	struct loupe_cursor *then, *now;
	struct loupe_compare_info info;
	struct loupe_diff diffs[4];
	struct loupe_trace *t;
	uint64_t row;
	uint32_t cnt;

	(void)state;
	image->insns = malloc(sizeof(insns));
	memcpy(image->insns, insns, sizeof(insns));
	image->insn_cnt = sizeof(insns) / sizeof(insns[0]);
	image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	image->license = strdup("GPL");
	t = record(image, false);
	then = loupe_cursor_create(t);
	now = loupe_cursor_create(t);
	assert_int_equal(loupe_trace_insn_compares(t, 8, 0, &info, 1), 1);
	row = info.row;
	assert_int_equal(info.outcome, LOUPE_CMP_MISS);
	assert_int_equal(loupe_cursor_compare_diffs(then, now, row, diffs, 4, &cnt), 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(diffs[0].reg, 6);
	assert_int_equal(diffs[0].kind, LOUPE_DIFF_RANGE);
	assert_int_equal(diffs[1].reg, 7);
	assert_int_equal(diffs[1].kind, LOUPE_DIFF_RANGE);
	/* counted, though only one was asked for */
	assert_int_equal(loupe_cursor_compare_diffs(then, now, row, diffs, 1, &cnt), 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(loupe_cursor_compare_diffs(then, now, UINT64_MAX, diffs, 1, &cnt),
			 -EINVAL);
	loupe_cursor_destroy(then);
	loupe_cursor_destroy(now);
	loupe_trace_destroy(t);
	loupe_image_destroy(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_two_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
