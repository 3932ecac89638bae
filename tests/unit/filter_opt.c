// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"
#include "filter/opt.h"

#define LD(k)                 \
	{                     \
		0x20, 0, 0, k \
	}
#define JEQ(k, t, f)          \
	{                     \
		0x15, t, f, k \
	}
#define JA(k)                 \
	{                     \
		0x05, 0, 0, k \
	}
#define RET(k)                \
	{                     \
		0x06, 0, 0, k \
	}
#define LDI(k)                \
	{                     \
		0x00, 0, 0, k \
	}
#define LDXI(k)               \
	{                     \
		0x01, 0, 0, k \
	}
#define AND(k)                \
	{                     \
		0x54, 0, 0, k \
	}
#define ST(k)                 \
	{                     \
		0x02, 0, 0, k \
	}
#define STX(k)                \
	{                     \
		0x03, 0, 0, k \
	}
#define LDM(k)                \
	{                     \
		0x60, 0, 0, k \
	}
#define LDXM(k)               \
	{                     \
		0x61, 0, 0, k \
	}
#define TAX                   \
	{                     \
		0x07, 0, 0, 0 \
	}
#define TXA                   \
	{                     \
		0x87, 0, 0, 0 \
	}
#define RETA                  \
	{                     \
		0x16, 0, 0, 0 \
	}
#define LDH_IND(k)            \
	{                     \
		0x48, 0, 0, k \
	}
#define LDB(k)                \
	{                     \
		0x30, 0, 0, k \
	}

/* One optimization and what must come out: the program, and the edits as people read them. */
struct example {
	const char *only; /* pass that runs, NULL for all */
	struct loupe_cbpf_insn before[12];
	uint32_t before_cnt;
	struct loupe_cbpf_insn after[12];
	uint32_t after_cnt;
	const char *edits; /* "pass: line\n" each, NULL: not compared */
};

static char *edits_text(const struct loupe_rewrite *rw)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (uint32_t n = 0; n < loupe_rewrite_edit_cnt(rw); n++) {
		char line[400];

		loupe_rewrite_edit_line(rw, n, line, sizeof(line));
		fprintf(f, "%s: %s\n", loupe_rewrite_edit_get(rw, n)->pass, line);
	}
	fclose(f);
	return text;
}

static void check(const struct example *example)
{
	struct loupe_filter_opts opts = { 0 };
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_error err = { 0 };
	const struct loupe_filter_pass *passes;
	const struct loupe_rewrite_prog *after;
	uint32_t cnt;
	char *text;

	if (loupe_filter_create("t", example->before, example->before_cnt, LOUPE_FILTER_AUTO,
				&filter, &err))
		fail_msg("%s", err.message);
	passes = loupe_filter_passes(&cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		if (example->only && strcmp(passes[i].name, example->only))
			assert_int_equal(loupe_filter_opts_set(&opts, passes[i].name, false), 0);
	}
	assert_int_equal(loupe_filter_optimize(filter, &opts, &rw, &err), 0);
	after = loupe_rewrite_after(rw);
	text = edits_text(rw);
	if (example->edits)
		assert_string_equal(text, example->edits);
	assert_int_equal(after->cnt, example->after_cnt);
	for (uint32_t i = 0; i < after->cnt; i++) {
		char want[100], got[100];

		loupe_filter_insn_text(filter->flavour, example->after[i], i, LOUPE_SYNTAX_WORDS,
				       want, sizeof(want));
		loupe_filter_insn_text(filter->flavour, after->insns[i].cbpf, i, LOUPE_SYNTAX_WORDS,
				       got, sizeof(got));
		assert_string_equal(got, want);
	}
	free(text);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

static void jumps_are_threaded(void **state)
{
	static const struct example examples[] = {
		/* A condition over a jump, and a jump over a jump. */
		{ "jump-threading",
		  { LD(0), JEQ(1, 0, 1), JA(1), LD(4), JEQ(2, 0, 1), RET(1), RET(2) },
		  7,
		  { LD(0), JEQ(1, 2, 1), JA(1), LD(4), JEQ(2, 0, 1), RET(1), RET(2) },
		  7,
		  "jump-threading: 1 (true) retargeted to 4: 2 there is only a jump to 4\n" },
		{ "jump-threading",
		  { LD(0), JEQ(1, 0, 2), JA(2), LD(4), LD(8), JA(1), LD(12), JEQ(7, 0, 1), RET(1),
		    RET(2) },
		  10,
		  { LD(0), JEQ(1, 5, 2), JA(4), LD(4), LD(8), JA(1), LD(12), JEQ(7, 0, 1), RET(1),
		    RET(2) },
		  10,
		  "jump-threading: 1 (true) retargeted to 7: 2 there is only a jump to 7\n"
		  "jump-threading: 2 retargeted to 7: 5 there is only a jump to 7\n" },
		/* Equal targets make a plain jump; a jump to the next instruction is nothing. */
		{ "jump-threading",
		  { LD(0), JEQ(1, 1, 1), LD(4), RET(2) },
		  4,
		  { LD(0), RET(2), LD(4), RET(2) },
		  4,
		  "jump-threading: 1 replaced: true and false both lead to 3\n"
		  "jump-threading: 1 replaced: all it does is reach 3, return KILL_THREAD(2)\n" },
		{ "jump-threading",
		  { LD(0), JA(0), RETA },
		  3,
		  { LD(0), RETA },
		  2,
		  "jump-threading: 1 removed: 2 is the next instruction anyway\n" },
		{ "jump-threading",
		  { LD(0), JEQ(4, 0, 0), RET(2) },
		  3,
		  { LD(0), RET(2) },
		  2,
		  NULL },
		{ "jump-threading",
		  { JA(1), LD(0), RETA },
		  3,
		  { RETA, LD(0), RETA },
		  3,
		  "jump-threading: 0 replaced: all it does is reach 2, return A\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		check(&examples[i]);
	}
}

static void unreachable_code_goes(void **state)
{
	static const struct example examples[] = {
		{ "unreachable",
		  { JA(2), LD(0), LD(4), RET(1), RET(2), RET(3) },
		  6,
		  { JA(0), RET(1) },
		  2,
		  "unreachable: 1 and 1 more removed: no jump leads here, and 0 before it does not "
		  "go on\n"
		  "unreachable: 4 and 1 more removed: no jump leads here, and 3 before it does not "
		  "go on\n" },
		{ NULL,
		  { LD(0), JEQ(1, 0, 1), JA(1), RET(1), RET(2) },
		  5,
		  { LD(0), JEQ(1, 1, 0), RET(1), RET(2) },
		  4,
		  "jump-threading: 1 (true) retargeted to 4: 2 there is only a jump to 4\n"
		  "jump-threading: 2 replaced: all it does is reach 4, return KILL_THREAD(2)\n"
		  "unreachable: 2 removed: no way leads here since 1 (true) leads to 4\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		check(&examples[i]);
}

static void repeated_loads_go(void **state)
{
	static const struct example examples[] = {
		{ NULL,
		  { LD(24), JEQ(1, 0, 1), RET(1), LD(24), JEQ(2, 0, 1), RET(1), RET(2) },
		  7,
		  { LD(24), JEQ(1, 1, 0), JEQ(2, 0, 1), RET(1), RET(2) },
		  5,
		  "redundant-load: 3 removed: the only way here is 1 (false); A still holds "
		  "args[1].lo, loaded at 0\n"
		  "merge-returns: 2 removed: 5, return KILL_THREAD(1), is the same and in reach of "
		  "1\n" },
		{ NULL,
		  { LD(0), LD(0), RETA },
		  3,
		  { LD(0), RETA },
		  2,
		  "redundant-load: 1 removed: 0 loaded nr before, and it is still there\n" },
		/* A join: two ways lead to the second load, so it stays. */
		{ NULL,
		  { LD(0), JEQ(1, 0, 1), LD(4), LD(0), RETA },
		  5,
		  { LD(0), JEQ(1, 0, 1), LD(4), LD(0), RETA },
		  5,
		  "" },
		/* A was changed. */
		{ NULL, { LD(0), AND(7), LD(0), RETA }, 4, { LD(0), AND(7), LD(0), RETA }, 4, "" },
		/* 0x07 is X = A: it leaves A alone, and later A = X brings the word back. */
		{ NULL, { LD(0), TAX, LD(0), RETA }, 4, { LD(0), TAX, RETA }, 3, NULL },
		{ NULL,
		  { LD(0), TAX, LD(4), TXA, LD(0), RETA },
		  6,
		  { LD(0), TAX, LD(4), TXA, RETA },
		  5,
		  NULL },
		/* 0x87 is A = X: A does not hold the word any more. */
		{ NULL, { LD(0), TXA, LD(0), RETA }, 4, { LD(0), TXA, LD(0), RETA }, 4, "" },
		/* Through scratch memory. */
		{ NULL,
		  { LD(0), ST(3), LD(4), LDM(3), LD(0), RETA },
		  6,
		  { LD(0), ST(3), LD(4), LDM(3), RETA },
		  5,
		  NULL },
		{ NULL, { LD(0), ST(3), LDM(3), RETA }, 4, { LD(0), ST(3), RETA }, 3, NULL },
		{ NULL,
		  { LD(0), ST(3), LD(4), ST(3), LDM(3), LD(0), RETA },
		  7,
		  { LD(0), ST(3), LD(4), ST(3), LD(0), RETA },
		  6,
		  NULL },
		{ NULL,
		  { LD(0), ST(1), LDXM(1), TXA, STX(1), RETA },
		  6,
		  { LD(0), ST(1), LDXM(1), RETA },
		  4,
		  NULL },
		/* Both registers start at 0, and constants are words too. */
		{ NULL, { LDI(0), LDXI(0), RETA }, 3, { RETA }, 1, NULL },
		{ NULL, { LDI(5), LDXI(5), LDI(5), RETA }, 4, { LDI(5), LDXI(5), RETA }, 3, NULL },
		/* The same bytes, but X moved; a byte is no word; random numbers differ. */
		{ NULL,
		  { LDXI(1), LDH_IND(2), LDH_IND(2), LDXI(2), LDH_IND(2), RETA },
		  6,
		  { LDXI(1), LDH_IND(2), LDXI(2), LDH_IND(2), RETA },
		  5,
		  NULL },
		{ NULL, { LDB(0), LD(0), RETA }, 3, { LDB(0), LD(0), RETA }, 3, "" },
		{ NULL,
		  { LD(0xfffff038), LD(0xfffff038), RETA },
		  3,
		  { LD(0xfffff038), LD(0xfffff038), RETA },
		  3,
		  "" },
		{ NULL,
		  { LD(0xfffff000), LD(0xfffff000), RETA },
		  3,
		  { LD(0xfffff000), RETA },
		  2,
		  "redundant-load: 1 removed: 0 loaded protocol before, and it is still there\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		check(&examples[i]);
}

static void passes_can_be_off(void **state)
{
	static const struct example none = { "no such pass",
					     { LD(0), LD(0), JA(0), RETA },
					     4,
					     { LD(0), LD(0), JA(0), RETA },
					     4,
					     "" };
	struct loupe_filter_opts opts = { 0 };

	(void)state;
	check(&none);
	assert_int_equal(loupe_filter_opts_set(&opts, "no such pass", false), -ENOENT);
	assert_int_equal(loupe_filter_opts_set(&opts, "unreachable", false), 0);
	assert_int_equal(opts.off, 2);
	assert_int_equal(loupe_filter_opts_set(&opts, "unreachable", true), 0);
	assert_int_equal(opts.off, 0);
}

/*
 * The kernel takes M[0] for unwritten at the read if a return without it stands before it, so the
 * jump before it may not become one.
 */
static void kernel_still_takes_scratch_programs(void **state)
{
	static const struct example example = {
		NULL,
		{ LD(0), JEQ(1, 0, 3), ST(0), AND(1), JA(2), LD(4), JA(2), LDM(0), RETA, RET(2) },
		10,
		{ LD(0), JEQ(1, 0, 3), ST(0), AND(1), JA(2), LD(4), JA(2), LDM(0), RETA, RET(2) },
		10,
		""
	};

	(void)state;
	check(&example);
}

/* A conditional jump with 300 instructions between it and its targets. */
/* What level makes of a filter; *used is the level that it used. */
static uint32_t length_at(const struct loupe_cbpf_insn *insns, uint32_t cnt, uint32_t level,
			  uint32_t *used, const char **why)
{
	const struct loupe_filter_opts opts = { .level = level };
	struct loupe_filter_proof proof;
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;

	assert_int_equal(loupe_filter_create("t", insns, cnt, LOUPE_FILTER_SECCOMP, &filter, NULL),
			 0);
	assert_int_equal(loupe_filter_optimize_proven(filter, &opts, &rw, &proof, used, NULL), 0);
	assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
	cnt = loupe_rewrite_after(rw)->cnt;
	*why = proof.lower;
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
	return cnt;
}

/* Scratch memory is followed over joins, and the level that was used is told. */
static void scratch_memory_has_values(void **state)
{
	static const struct loupe_cbpf_insn insns[] = {
		LD(16),		 ST(0), LD(24), ST(1), LDM(0), JEQ(5, 0, 4), LD(24), ST(1),
		LDM(1),		 JEQ(7, 1, 0), RET(1), RET(2), RET(3),
	};
	/* On both ways M[0] is args[0].lo. */
	static const struct loupe_cbpf_insn join[] = {
		LD(16), ST(0), LD(0), JEQ(1, 0, 2), LD(20), JEQ(0, 0, 1), LD(24), LDM(0),
		JEQ(3, 0, 2), LDM(0), JEQ(3, 1, 0), RET(1), RET(2),
	};
	/* what no test of words can do */
	static const struct loupe_cbpf_insn sum[] = {
		LD(16), { 0x24, 0, 0, 3 }, JEQ(5, 0, 1), RET(1), RET(2),
	};
	const char *why;
	uint32_t used;

	(void)state;
	/* that M[1] is args[1].lo is known, so it is neither loaded nor stored again */
	assert_int_equal(length_at(insns, 13, 1, &used, &why), 10);
	assert_int_equal(used, 1);
	assert_null(why);
	/* loads, tests and two returns, without scratch memory */
	assert_int_equal(length_at(insns, 13, 2, &used, &why), 6);
	assert_int_equal(used, 2);
	assert_null(why);
	assert_int_equal(length_at(sum, 5, 2, &used, &why), 5);
	assert_int_equal(used, 1);
	assert_string_equal(why, "it does more than test words and bits of words");
	/* the second test is decided, what is between matters to nobody, nothing is read back */
	assert_int_equal(length_at(join, 13, 1, &used, &why), 4);
	assert_int_equal(used, 1);
}

static void far_jumps_get_a_stand_in(void **state)
{
	enum { BETWEEN = 300 };
	struct loupe_cbpf_insn insns[BETWEEN + 4] = { LD(0), JEQ(1, 0, 0) };
	struct loupe_filter *filter, *after;
	const struct loupe_rewrite_prog *prog;
	struct filter_opt opt;
	struct loupe_error err = { 0 };
	static const struct loupe_reason test = { "test", "the test wants it" };

	(void)state;
	for (int i = 2; i < BETWEEN + 2; i++)
		insns[i] = (struct loupe_cbpf_insn){ 0x04, 0, 0, 1 };
	insns[BETWEEN + 2] = (struct loupe_cbpf_insn)AND(3);
	insns[BETWEEN + 3] = (struct loupe_cbpf_insn)RETA;
	assert_int_equal(
		loupe_filter_create("t", insns, BETWEEN + 4, LOUPE_FILTER_SECCOMP, &filter, &err),
		0);
	assert_int_equal(filter_opt_init(&opt, filter), 0);
	assert_int_equal(filter_opt_number(&opt), 0);
	opt.pass = "test";
	assert_int_equal(
		filter_retarget(&opt, 1, LOUPE_WAY_TRUE, BETWEEN + 2, &test, FILTER_ARGS(0)), 0);
	assert_int_equal(
		filter_retarget(&opt, 1, LOUPE_WAY_FALSE, BETWEEN + 3, &test, FILTER_ARGS(0)), 0);
	assert_int_equal(filter_make_reach(&opt), 4);
	assert_int_equal(loupe_rewrite_seal(opt.rw), 0);
	prog = loupe_rewrite_after(opt.rw);
	assert_int_equal(prog->cnt, BETWEEN + 6);
	/* A copy of the return for the false side, a jump for the true one. */
	assert_int_equal(prog->insns[2].cbpf.code, 0x16);
	assert_int_equal(prog->insns[3].cbpf.code, 0x05);
	assert_int_equal(prog->insns[3].cbpf.k, BETWEEN);
	assert_int_equal(prog->insns[1].cbpf.jt, 1);
	assert_int_equal(prog->insns[1].cbpf.jf, 0);
	assert_int_equal(loupe_filter_from_rewrite(filter, opt.rw, loupe_rewrite_edit_cnt(opt.rw),
						   &after, &err),
			 0);
	loupe_filter_destroy(after);
	filter_opt_finish(&opt);
	loupe_filter_destroy(filter);
}

/*
 * Jumps at 1, 151 and 301 to equal returns at 100, 250 and 400: the first reaches the second return
 * too, the second the third, the third only its own. Two returns are the fewest.
 */
static void returns_are_shared_as_far_as_jumps_reach(void **state)
{
	struct loupe_cbpf_insn insns[402] = { LD(0) };
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_error err = { 0 };
	char line[200];

	(void)state;
	for (int i = 1; i < 402; i++)
		insns[i] = (struct loupe_cbpf_insn){ 0x04, 0, 0, 1 };
	for (int i = 0; i < 3; i++) {
		insns[1 + 150 * i] = (struct loupe_cbpf_insn)JEQ(7, 98, 0);
		insns[98 + 150 * i] = (struct loupe_cbpf_insn)JEQ(8, 0, 2);
		insns[99 + 150 * i] = (struct loupe_cbpf_insn)RETA;
		insns[100 + 150 * i] = (struct loupe_cbpf_insn)RET(9);
	}
	insns[401] = (struct loupe_cbpf_insn)RET(3);
	insns[398] = (struct loupe_cbpf_insn)JEQ(8, 0, 2);
	assert_int_equal(loupe_filter_create("t", insns, 402, LOUPE_FILTER_SECCOMP, &filter, &err),
			 0);
	assert_int_equal(loupe_filter_optimize(filter, NULL, &rw, &err), 0);
	assert_int_equal(loupe_rewrite_after_of(rw, 100), -1);
	assert_true(loupe_rewrite_after_of(rw, 250) >= 0);
	assert_true(loupe_rewrite_after_of(rw, 400) >= 0);
	/* The returns of A at 99, 249 and 399, with jumps right before them, are no different. */
	assert_int_equal(loupe_rewrite_after_of(rw, 99), -1);
	assert_int_equal(loupe_rewrite_edit_cnt(rw), 2);
	loupe_rewrite_edit_line(rw, 0, line, sizeof(line));
	assert_string_equal(line, "100 removed: 250, return KILL_THREAD(9), is the same and in "
				  "reach of 1");
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

/* Each number of edits leaves a program that the kernel takes and that answers the same. */
static void every_step_is_a_program(void **state)
{
	static const struct loupe_cbpf_insn insns[] = {
		LD(0), JEQ(16, 0, 8), LD(24), JEQ(1, 0, 1), JA(6),  LD(24), JEQ(2, 0, 1),
		JA(3), JA(0),	      JA(2),  JA(1),	    RET(1), RET(2),
	};
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_error err = { 0 };

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 13, LOUPE_FILTER_AUTO, &filter, &err), 0);
	assert_int_equal(loupe_filter_optimize(filter, NULL, &rw, &err), 0);
	assert_true(loupe_rewrite_edit_cnt(rw) > 4);
	for (uint32_t n = 0; n <= loupe_rewrite_edit_cnt(rw); n++) {
		struct loupe_filter *step;

		if (loupe_filter_from_rewrite(filter, rw, n, &step, &err))
			fail_msg("after edit %u: %s", n, err.message);
		for (uint32_t nr = 15; nr < 18; nr++) {
			for (uint32_t arg = 0; arg < 4; arg++) {
				struct loupe_seccomp_data data = { .nr = nr, .args = { 0, arg } };
				struct loupe_filter_input input = { .data = &data,
								    .len = sizeof(data) };
				struct loupe_filter_run a = { 0 }, b = { 0 };

				assert_int_equal(loupe_filter_eval(filter, &input, &a, &err), 0);
				assert_int_equal(loupe_filter_eval(step, &input, &b, &err), 0);
				assert_int_equal(a.result, b.result);
			}
		}
		loupe_filter_destroy(step);
	}
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

/* Steps whose jumps are too long for their fields are judged with jumps in between. */
static void far_steps_are_filters(void **state)
{
	enum { TESTS = 300, CNT = 1 + 2 * TESTS + 3 };
	struct loupe_cbpf_insn insns[CNT] = { LD(0) };
	struct loupe_filter_opts opts = { .level = 1 };
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_error err = { 0 };
	uint32_t far = 0;

	(void)state;
	for (uint32_t i = 0; i < TESTS; i++) {
		uint32_t at = 1 + 2 * i;

		insns[at] = (struct loupe_cbpf_insn)JEQ(3 * i, 0, 1);
		/* a third of them to each return */
		insns[at + 1] = (struct loupe_cbpf_insn)JA(CNT - 3 + i % 3 - (at + 1) - 1);
	}
	for (uint32_t i = 0; i < 3; i++)
		insns[CNT - 3 + i] = (struct loupe_cbpf_insn)RET(i);
	assert_int_equal(loupe_filter_create("t", insns, CNT, LOUPE_FILTER_SECCOMP, &filter, &err),
			 0);
	assert_int_equal(loupe_filter_optimize(filter, &opts, &rw, &err), 0);
	for (uint32_t n = 0; n <= loupe_rewrite_edit_cnt(rw); n += 7) {
		struct loupe_filter_proof proof;
		struct loupe_filter *step;

		far += loupe_filter_from_rewrite(filter, rw, n, &step, &err) == -ERANGE;
		loupe_filter_destroy(step);
		assert_int_equal(loupe_filter_at_edit(filter, rw, n, &step, &err), 0);
		assert_int_equal(loupe_filter_prove(filter, step, &proof, &err), 0);
		assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
		loupe_filter_destroy(step);
	}
	assert_true(far > 10);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_are_threaded),
		cmocka_unit_test(unreachable_code_goes),
		cmocka_unit_test(repeated_loads_go),
		cmocka_unit_test(passes_can_be_off),
		cmocka_unit_test(kernel_still_takes_scratch_programs),
		cmocka_unit_test(scratch_memory_has_values),
		cmocka_unit_test(far_jumps_get_a_stand_in),
		cmocka_unit_test(returns_are_shared_as_far_as_jumps_reach),
		cmocka_unit_test(every_step_is_a_program),
		cmocka_unit_test(far_steps_are_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
