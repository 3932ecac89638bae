// SPDX-License-Identifier: GPL-2.0-only
/* Traces of real verifications: every state is given back as the verifier showed it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "insn/opcodes.h"
#include "trace_check.h"

#define I(c, d, s, o, i)                                                            \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}
#define MOV(d, i)	 I(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOVX(d, s)	 I(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ALU(op, d, i)	 I(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALUX(op, d, s)	 I(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define LDX(sz, d, s, o) I(BPF_LDX | BPF_MEM | (sz), d, s, o, 0)
#define STX(sz, d, s, o) I(BPF_STX | BPF_MEM | (sz), d, s, o, 0)
#define ST(sz, d, o, i)	 I(BPF_ST | BPF_MEM | (sz), d, 0, o, i)
#define JMP(op, d, i, o) I(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define JA(o)		 I(BPF_JMP | BPF_JA, 0, 0, o, 0)
#define CALL(o)		 I(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, o)
#define EXIT()		 I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* A bounded loop with spills, writes at unknown stack offsets and branches that multiply. */
static const struct loupe_insn loop[] = {
	/* 0 */ MOV(6, 0),
	/* 1 */ LDX(BPF_W, 8, 1, 0),
	/* 2 */ LDX(BPF_W, 9, 1, 4),
	/* 3 */ ST(BPF_DW, 10, -16, 0),
	/* 4 */ ALU(BPF_ADD, 6, 1),
	/* 5 */ MOVX(2, 8),
	/* 6 */ ALU(BPF_AND, 2, 7),
	/* 7 */ STX(BPF_DW, 10, 2, -8),
	/* 8 */ MOVX(3, 10),
	/* 9 */ ALUX(BPF_ADD, 3, 2),
	/* 10 */ ST(BPF_B, 3, -24, 1),
	/* 11 */ JMP(BPF_JGT, 9, 100, 2),
	/* 12 */ JMP(BPF_JSET, 8, 4, 1),
	/* 13 */ STX(BPF_W, 10, 6, -16),
	/* 14 */ ALU(BPF_RSH, 8, 1),
	/* 15 */ LDX(BPF_DW, 4, 10, -8),
	/* 16 */ JMP(BPF_JLT, 6, 12, -13),
	/* 17 */ MOV(0, 0),
	/* 18 */ EXIT(),
};

/* Calls: two static functions, one writing into its caller's stack. */
static const struct loupe_insn calls[] = {
	/* 0 */ MOVX(6, 1),
	/* 1 */ LDX(BPF_W, 7, 6, 0),
	/* 2 */ STX(BPF_DW, 10, 7, -8),
	/* 3 */ MOVX(1, 10),
	/* 4 */ ALU(BPF_ADD, 1, -16),
	/* 5 */ MOVX(2, 7),
	/* 6 */ CALL(7), /* 14 */
	/* 7 */ MOVX(8, 0),
	/* 8 */ MOVX(1, 10),
	/* 9 */ ALU(BPF_ADD, 1, -24),
	/* 10 */ MOV(2, 5),
	/* 11 */ CALL(2), /* 14 */
	/* 12 */ ALUX(BPF_ADD, 0, 8),
	/* 13 */ EXIT(),
	/* 14 */ STX(BPF_DW, 10, 1, -8),
	/* 15 */ JMP(BPF_JGT, 2, 9, 2),
	/* 16 */ MOVX(1, 2),
	/* 17 */ CALL(4), /* 22 */
	/* 18 */ LDX(BPF_DW, 3, 10, -8),
	/* 19 */ ST(BPF_DW, 3, 0, 3),
	/* 20 */ MOV(0, 1),
	/* 21 */ EXIT(),
	/* 22 */ MOV(0, 0),
	/* 23 */ JMP(BPF_JEQ, 1, 3, 1),
	/* 24 */ MOV(0, 2),
	/* 25 */ EXIT(),
};

/* Rejected: R3 was not written on one of the two ways. */
static const struct loupe_insn refused[] = {
	/* 0 */ LDX(BPF_W, 2, 1, 0),
	/* 1 */ JMP(BPF_JEQ, 2, 0, 1),
	/* 2 */ MOV(3, 1),
	/* 3 */ MOVX(0, 3),
	/* 4 */ EXIT(),
};

static struct loupe_trace *record(const struct loupe_insn *insns, uint32_t cnt, bool deep,
				  const struct loupe_verify_opts *base)
{
	struct loupe_image *image = loupe_image_create();
	struct trace_check c = { .sample = 1 };
	struct loupe_verify_opts opts = *base;
	struct loupe_verify_result res;
	struct loupe_trace *t;
	uint64_t missed;

	image->insns = malloc(cnt * sizeof(*insns));
	memcpy(image->insns, insns, cnt * sizeof(*insns));
	image->insn_cnt = cnt;
	image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	image->license = strdup("GPL");
	t = loupe_trace_create(image);
	opts.listeners[0] = loupe_trace_listener(t);
	opts.listeners[1] = (struct loupe_listener){ &check_hooks, &c };
	opts.listener_cnt = 2;
	if (deep)
		trace_recorder_check(t);
	assert_int_equal(loupe_verify(image, &opts, &res), 0);
	missed = trace_recorder_missed(t);
	assert_int_equal(loupe_trace_finish(t), 0);
	assert_int_equal(check_trace(&c, t, missed), 0);
	loupe_verify_result_finish(&res);
	check_finish(&c);
	loupe_image_destroy(image);
	return t;
}

/* steps: at least so many there must be. */
static void with_options(const struct loupe_insn *insns, uint32_t cnt, uint32_t steps)
{
	struct loupe_verify_opts opts;
	struct loupe_trace *t;

	for (int i = 0; i < 12; i++) {
		loupe_verify_opts_init(&opts);
		opts.checkpoint_always = i / 2 % 3 == 1;
		opts.no_pruning = i / 2 % 3 == 2;
		opts.evict_n = i >= 6 ? LOUPE_EVICT_OFF : opts.evict_n;
		opts.insn_limit = 20000;
		t = record(insns, cnt, i % 2, &opts);
		assert_true(loupe_trace_step_cnt(t) >= steps);
		loupe_trace_destroy(t);
	}
	opts.unprivileged = true;
	loupe_trace_destroy(record(insns, cnt, true, &opts));
}

#define ALL(insns) insns, sizeof(insns) / sizeof(insns[0])

static void states_are_given_back(void **state)
{
	(void)state;
	with_options(ALL(loop), 300);
	with_options(ALL(calls), 40);
	with_options(ALL(refused), 4);
}

static struct loupe_loc reg(uint8_t frameno, uint8_t regno)
{
	return (struct loupe_loc){ LOUPE_LOC_REG, frameno, regno };
}

static void blame_finds_where_values_come_from(void **state)
{
	struct loupe_verify_opts opts;
	struct loupe_blame b[8];
	struct loupe_trace *t;
	uint32_t cnt, step;
	const uint32_t *visits;

	(void)state;
	loupe_verify_opts_init(&opts);
	t = record(ALL(calls), false, &opts);
	assert_int_equal(loupe_trace_result(t)->verdict, LOUPE_ACCEPTED);

	/* R3 in the callee: filled from its slot, spilled from R1, an argument, fp - 16. */
	visits = loupe_trace_visits(t, 19, &cnt);
	assert_true(cnt > 0);
	step = visits[0];
	cnt = loupe_trace_blame_chain(t, step, reg(1, 3), b, 8);
	assert_int_equal(cnt, 6);
	assert_int_equal(b[0].origin, LOUPE_ORIGIN_FILL);
	assert_int_equal(b[0].insn_idx, 18);
	assert_int_equal(b[0].from[0].kind, LOUPE_LOC_SLOT);
	assert_int_equal(b[1].origin, LOUPE_ORIGIN_SPILL);
	assert_int_equal(b[1].insn_idx, 14);
	assert_int_equal(b[2].origin, LOUPE_ORIGIN_ARG);
	assert_int_equal(b[2].insn_idx, 6);
	assert_int_equal(b[2].from[0].frameno, 0);
	assert_int_equal(b[3].origin, LOUPE_ORIGIN_ALU);
	assert_int_equal(b[3].insn_idx, 4);
	assert_int_equal(b[4].origin, LOUPE_ORIGIN_COPY);
	assert_int_equal(b[4].insn_idx, 3);
	assert_int_equal(b[5].origin, LOUPE_ORIGIN_ENTRY);

	/* R8 at insn 8: a copy of what the callee's R0 was. */
	visits = loupe_trace_visits(t, 8, &cnt);
	cnt = loupe_trace_blame_chain(t, visits[0], reg(0, 8), b, 8);
	assert_int_equal(cnt, 3);
	assert_int_equal(b[0].origin, LOUPE_ORIGIN_COPY);
	assert_int_equal(b[1].origin, LOUPE_ORIGIN_RETURN);
	assert_int_equal(b[1].insn_idx, 21);
	assert_int_equal(b[1].from[0].frameno, 1);
	assert_int_equal(b[2].origin, LOUPE_ORIGIN_CONST);
	assert_int_equal(b[2].insn_idx, 20);

	/* R7 at insn 5 is still what was loaded from the context. */
	visits = loupe_trace_visits(t, 5, &cnt);
	cnt = loupe_trace_blame_chain(t, visits[0], reg(0, 7), b, 8);
	assert_true(cnt >= 1);
	assert_int_equal(b[cnt - 1].origin, LOUPE_ORIGIN_CTX);
	assert_int_equal(b[cnt - 1].insn_idx, 1);
	loupe_trace_destroy(t);
}

static void rejection_names_step_and_message(void **state)
{
	struct loupe_verify_opts opts;
	struct loupe_step_info info;
	struct loupe_decision d;
	struct loupe_trace *t;
	uint32_t step;

	(void)state;
	loupe_verify_opts_init(&opts);
	t = record(ALL(refused), false, &opts);
	assert_int_equal(loupe_trace_result(t)->verdict, LOUPE_REJECTED);
	assert_string_equal(loupe_trace_error(t), "R3 !read_ok");
	step = loupe_trace_error_step(t);
	assert_int_equal(loupe_trace_step(t, step, &info), 0);
	assert_int_equal(info.insn_idx, 3);
	assert_true(info.flags & LOUPE_STEP_ERROR);
	assert_int_equal(loupe_trace_find_step(t, 0, true, LOUPE_STEP_ERROR), step);
	assert_int_equal(loupe_trace_decisions(t, step, &d, 1), 1);
	assert_int_equal(d.insn_idx, 1);
	assert_int_equal(d.side, LOUPE_SIDE_TAKEN);
	loupe_trace_destroy(t);
}

/* Of every miss that is about a register or slot, the two values differ. */
static void misses_have_two_values(void **state)
{
	struct loupe_verify_opts opts;
	struct loupe_cursor *cursor;
	struct loupe_trace *t;
	uint32_t seen = 0;

	(void)state;
	loupe_verify_opts_init(&opts);
	t = record(ALL(loop), false, &opts);
	cursor = loupe_cursor_create(t);
	for (uint64_t row = 0; row < loupe_trace_rows(t, LOUPE_TABLE_COMPARE); row++) {
		struct loupe_compare_info info;
		struct loupe_value old, cur;
		int err = loupe_cursor_compare_values(cursor, row, &old, &cur);

		assert_int_equal(loupe_trace_compare(t, row, &info), 0);
		assert_int_equal(err, info.reg >= 0 || info.spi >= 0 ? 0 : -ENOENT);
		if (err)
			continue;
		seen++;
		assert_true(old.present);
		assert_true(memcmp(&old.reg, &cur.reg, offsetof(struct loupe_reg, precise)) ||
			    memcmp(old.type, cur.type, sizeof(old.type)));
	}
	assert_true(seen > 0);
	assert_int_equal(loupe_cursor_compare_values(cursor, LOUPE_NO_ROW,
						     &(struct loupe_value){ 0 },
						     &(struct loupe_value){ 0 }),
			 -EINVAL);
	loupe_cursor_destroy(cursor);
	loupe_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_given_back),
		cmocka_unit_test(blame_finds_where_values_come_from),
		cmocka_unit_test(rejection_names_step_and_message),
		cmocka_unit_test(misses_have_two_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
