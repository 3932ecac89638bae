// SPDX-License-Identifier: GPL-2.0-only
/* Whole logs from hand-made events; the texts are a live 6.18 kernel's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/log.h"

/* Text source of the fixture's line information, as the BTF's strings hold it. */
static const char strings[] = "\0src/loop.c\0\t  int i = 0;\0while (i < 4)";
enum { FILE_OFF = 1, LINE1_OFF = 12, LINE2_OFF = 26 };

static struct loupe_insn insns[] = {
	{ .code = 0xb7, .dst_reg = 0, .imm = 0 },	     /* r0 = 0 */
	{ .code = 0x07, .dst_reg = 0, .imm = 1 },	     /* r0 += 1 */
	{ .code = 0xa5, .dst_reg = 0, .off = -2, .imm = 4 }, /* if r0 < 4 goto -2 */
	{ .code = 0x95 },				     /* exit */
};

static struct loupe_line_info lines[] = {
	{ 0, FILE_OFF, LINE1_OFF, 7 << 10 | 3 },
	{ 1, FILE_OFF, LINE2_OFF, 9 << 10 | 1 },
	{ 2, FILE_OFF, LINE2_OFF, 9 << 10 | 5 }, /* same line, other column */
};

struct fixture {
	struct loupe_image image;
	struct loupe_frame frame;
	struct loupe_state state;
	struct loupe_log *log;
	struct loupe_listener to;
	uint8_t btf[24 + sizeof(strings)];
};

static void start(struct fixture *f, uint32_t level)
{
	const uint32_t header[6] = { 0x0001eb9f, 24, 0, 0, 0, sizeof(strings) };
	struct loupe_log_opts opts = { .size = sizeof(opts), .level = level };

	*f = (struct fixture){ .image = { .insns = insns, .insn_cnt = 4 } };
	memcpy(f->btf, header, sizeof(header));
	memcpy(f->btf + sizeof(header), strings, sizeof(strings));
	f->state.frame[0] = &f->frame;
	f->frame.regs[0] = (struct loupe_reg){ .type = SCALAR_VALUE };
	f->frame.regs[1] = (struct loupe_reg){ .type = PTR_TO_CTX };
	f->frame.regs[10] = (struct loupe_reg){ .type = PTR_TO_STACK };
	assert_int_equal(loupe_log_create(&f->image, &opts, &f->log), 0);
	f->to = loupe_log_listener(f->log);
}

static void with_source(struct fixture *f)
{
	f->image.btf = f->btf;
	f->image.btf_size = sizeof(f->btf);
	f->image.line_info = lines;
	f->image.line_info_cnt = 3;
}

/* The log ends and is this text. */
static void expect(struct fixture *f, const char *text)
{
	size_t len;

	assert_int_equal(loupe_log_finish(f->log), 0);
	assert_string_equal(loupe_log_text(f->log, &len), text);
	assert_int_equal(len, strlen(text));
	loupe_log_destroy(f->log);
}

#define TELL(f, hook, ...)                                             \
	do {                                                           \
		if ((f)->to.hooks->hook)                               \
			(f)->to.hooks->hook((f)->to.ctx, __VA_ARGS__); \
	} while (0)

static void step(struct fixture *f, int32_t insn_idx)
{
	const struct loupe_step s = { .insn_idx = insn_idx, .state = &f->state };

	TELL(f, step, &s);
}

/* The state after insn_idx: R0 has become value. */
static void result(struct fixture *f, int32_t insn_idx, uint64_t value)
{
	const struct loupe_step s = { .insn_idx = insn_idx, .state = &f->state };

	f->frame.regs[0].var_off.value = value;
	TELL(f, insn_state, &s, 1u << 0, 0);
}

static void whole_state(struct fixture *f, int32_t insn_idx)
{
	const struct loupe_step s = { .insn_idx = insn_idx, .state = &f->state };

	TELL(f, insn_state, &s, UINT32_MAX, UINT64_MAX);
}

static void end(struct fixture *f, enum loupe_verdict verdict)
{
	struct loupe_verify_result r = {
		.verdict = verdict,
		.phase = LOUPE_PHASE_DONE,
		.verification_ns = 35999,
		.subprog_cnt = 2,
		.stack_depth = { 0, 24 },
		.counters = { .insn_processed = 10, .total_states = 1, .peak_states = 2 },
	};

	TELL(f, end, &r);
}

static void test_level2(void **state)
{
	const struct loupe_masks want_r0 = { .regs = 1u << 0 };
	const struct loupe_chain scc = { .cnt = 1, .at = { 1 } };
	const struct loupe_insn_facts facts[4] = {
		{ .live_regs = 0 },
		{ .live_regs = 1, .scc = 1 },
		{ .live_regs = 1, .scc = 1 },
		{ .live_regs = 1 },
	};
	struct fixture f;

	(void)state;
	start(&f, 6);
	TELL(&f, begin, &f.image);
	TELL(&f, subprog, 0, 0);
	TELL(&f, facts, facts, 4);
	TELL(&f, func_begin, 0);
	f.frame.regs[0].type = NOT_INIT;
	whole_state(&f, 0);
	f.frame.regs[0].type = SCALAR_VALUE;
	step(&f, 0);
	result(&f, 0, 0);
	step(&f, 1);
	result(&f, 1, 1);
	step(&f, 2);
	TELL(&f, walk_begin, 0, 2, 0, -1);
	TELL(&f, walk_hop, &want_r0, 1);
	TELL(&f, walk_hop, &want_r0, 0);
	result(&f, 2, 1);
	TELL(&f, scc_enter, &scc);
	step(&f, 1);
	result(&f, 1, 4);
	f.frame.regs[0].precise = true;
	TELL(&f, walk_parent, &want_r0, &f.state);
	f.frame.regs[0].precise = false;
	step(&f, 3);
	TELL(&f, func_end, 0, 0);
	end(&f, LOUPE_ACCEPTED);
	expect(&f, "func#0 @0\n"
		   "Live regs before insn:\n"
		   "      0: .......... (b7) r0 = 0\n"
		   "  1   1: 0......... (07) r0 += 1\n"
		   "  1   2: 0......... (a5) if r0 < 0x4 goto pc-2\n"
		   "      3: 0......... (95) exit\n"
		   "0: R1=ctx() R10=fp0\n"
		   "0: (b7) r0 = 0                        ; R0=0\n"
		   "1: (07) r0 += 1                       ; R0=1\n"
		   "2: (a5) if r0 < 0x4 goto pc-2\n"
		   "mark_precise: frame0: last_idx 2 first_idx 0 subseq_idx -1 \n"
		   "mark_precise: frame0: regs=r0 stack= before 1: (07) r0 += 1\n"
		   "mark_precise: frame0: regs=r0 stack= before 0: (b7) r0 = 0\n"
		   "2: R0=1\n"
		   "SCC enter (1)\n"
		   "1: (07) r0 += 1                       ; R0=4\n"
		   "mark_precise: frame0: parent state regs=r0 stack=:  R0=P4 R1=ctx() R10=fp0\n"
		   "3: (95) exit\n"
		   "verification time 35 usec\n"
		   "stack depth 0+24\n"
		   "processed 10 insns (limit 1000000) max_states_per_insn 0 total_states 1 "
		   "peak_states 2 mark_read 0\n");
}

static void test_source_lines(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 2);
	with_source(&f);
	TELL(&f, begin, &f.image);
	step(&f, 0);
	step(&f, 1);
	step(&f, 2);
	TELL(&f, source_line, 0);
	TELL(&f, message, "R0 !read_ok\n", false);
	TELL(&f, phase, LOUPE_PHASE_CFG);
	TELL(&f, source_line, 1);
	expect(&f, "; int i = 0; @ loop.c:7\n"
		   "0: (b7) r0 = 0\n"
		   "; while (i < 4) @ loop.c:9\n"
		   "1: (07) r0 += 1\n"
		   "2: (a5) if r0 < 0x4 goto pc-2\n"
		   "; int i = 0; @ loop.c:7\n"
		   "R0 !read_ok\n"
		   "1: while (i < 4) @ loop.c:9\n");
}

static void test_paths(void **state)
{
	struct loupe_step popped = { .insn_idx = 3, .prev_insn_idx = 2 };
	struct fixture f;

	(void)state;
	start(&f, 2);
	popped.state = &f.state;
	step(&f, 2);
	TELL(&f, path_begin, &popped);
	whole_state(&f, 3);
	f.state.speculative = true;
	TELL(&f, path_begin, &popped);
	TELL(&f, pruned, &popped, true);
	TELL(&f, pruned, &popped, false);
	expect(&f, "2: (a5) if r0 < 0x4 goto pc-2\n"
		   "\n"
		   "from 2 to 3: R0=0 R1=ctx() R10=fp0\n"
		   "3: R0=0 R1=ctx() R10=fp0\n"
		   "\n"
		   "from 2 to 3 (speculative execution): R0=0 R1=ctx() R10=fp0\n"
		   "\n"
		   "from 2 to 3 (speculative execution): safe\n"
		   "3: safe\n");
}

static void test_level1_forgets_finished_paths(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 1);
	TELL(&f, func_begin, 0);
	step(&f, 0);
	TELL(&f, branch_push, 3, 0, &f.state, false);
	step(&f, 1);
	TELL(&f, branch_push, 2, 1, &f.state, false);
	step(&f, 3);
	TELL(&f, branch_pop, 2, 1, &f.state);
	step(&f, 2);
	TELL(&f, branch_pop, 3, 0, &f.state);
	TELL(&f, message, "mark_precise\n", true); /* level 2 only */
	TELL(&f, message, "R9 !read_ok\n", false);
	TELL(&f, func_end, 0, -EACCES);
	end(&f, LOUPE_REJECTED);
	assert_int_equal(loupe_log_true_size(f.log),
			 strlen("0: (b7) r0 = 0\nR9 !read_ok\n") +
				 strlen("processed 10 insns (limit 1000000) max_states_per_insn 0 "
					"total_states 1 peak_states 2 mark_read 0\n") +
				 1);
	expect(&f, "0: (b7) r0 = 0\n"
		   "R9 !read_ok\n"
		   "processed 10 insns (limit 1000000) max_states_per_insn 0 total_states 1 "
		   "peak_states 2 mark_read 0\n");
}

static void test_level1_functions(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 1);
	TELL(&f, func_begin, 0);
	step(&f, 0);
	TELL(&f, func_end, 0, 0);
	TELL(&f, func_begin, 1);
	step(&f, 3);
	TELL(&f, func_end, 1, 0);
	TELL(&f, func_begin, 2);
	TELL(&f, func_end, 2, -EINVAL);
	end(&f, LOUPE_NOT_JUDGED);
	/* no function info: no names */
	expect(&f, "Func#1 ('') is safe for any args that match its prototype\n"
		   "Validating () func#2...\n");
}

static void test_stats_only(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 4);
	TELL(&f, func_begin, 0);
	step(&f, 0);
	TELL(&f, branch_push, 3, 0, &f.state, false);
	TELL(&f, message, "div by zero\n", false);
	TELL(&f, branch_pop, 3, 0, &f.state);
	TELL(&f, infinite_loop, 3, &f.state, &f.state);
	TELL(&f, func_end, 0, -EINVAL);
	expect(&f, "infinite loop detected at insn 3\n"
		   "cur state: R0=0 R1=ctx() R10=fp0\n"
		   "old state: R0=0 R1=ctx() R10=fp0\n");
}

static void test_silent(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, 0);
	TELL(&f, message, "div by zero\n", false);
	end(&f, LOUPE_ACCEPTED);
	expect(&f, "");
	assert_int_equal(
		loupe_log_create(&f.image, &(struct loupe_log_opts){ .level = 16 }, &f.log),
		-EINVAL);
}

static void test_live_stack(void **state)
{
	const struct loupe_chain chain = { .cnt = 2, .at = { 12, 30 } };
	const struct loupe_chain loop = { .cnt = 3, .at = { 0, 7, 2 } };
	struct fixture f;

	(void)state;
	start(&f, 2);
	TELL(&f, live_stack, &chain, 0, 32, 0, 7, 0, 0);
	TELL(&f, live_stack, &chain, 1, 33, 2, 1, 6, 2);
	TELL(&f, live_stack_done, &chain, 2);
	/* a call at insn 0 cuts the chain that is shown of a loop */
	TELL(&f, scc_backedge, &loop, &f.state);
	TELL(&f, force_precise, 0, -1, -1);
	TELL(&f, force_precise, 1, 3, -1);
	TELL(&f, force_precise, 1, -1, 1);
	TELL(&f, propagate, &(struct loupe_masks){ .regs = 0x12, .stack = 2 });
	TELL(&f, propagate, &(struct loupe_masks){ .stack = 3 });
	expect(&f, "(12,30) frame 0 insn 32 +live -8,-16,-24 \n"
		   "(12,30) frame 1 insn 33 +live -8 -live -16\n"
		   "(12,30) frame 1 insn 33 -written -24\n"
		   "(12,30) live stack update done in 2 iterations\n"
		   "SCC backedge (2)\n"
		   "mark_precise: frame0: falling back to forcing all scalars precise\n"
		   "force_precise: frame1: forcing r3 to be precise\n"
		   "force_precise: frame1: forcing fp-16 to be precise\n"
		   "frame 0: propagating r1,r4,fp-16\n"
		   "frame 0: propagating fp-8,fp-16\n");
}

static void test_calls(void **state)
{
	struct loupe_frame callee = { .frameno = 1 };
	struct fixture f;

	(void)state;
	start(&f, 1);
	callee.regs[10] = (struct loupe_reg){ .type = PTR_TO_STACK, .frameno = 1 };
	f.state.frame[1] = &callee;
	TELL(&f, call_enter, &f.state, 0, 1);
	TELL(&f, call_return, &f.state, 1, 0, 9);
	expect(&f, "caller:\n"
		   " R0=0 R1=ctx() R10=fp0\n"
		   "callee:\n"
		   " frame1: R10=fp0\n"
		   "returning from callee:\n"
		   " frame1: R10=fp0\n"
		   "to caller at 9:\n"
		   " R0=0 R1=ctx() R10=fp0\n");
}

static void test_message_is_cut(void **state)
{
	struct fixture f;
	char text[2001];
	char want[1024];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[2000] = '\0';
	memset(want, 'x', sizeof(want));
	want[1023] = '\0';
	start(&f, 1);
	TELL(&f, message, text, false);
	expect(&f, want);
}

struct pieces {
	char *text;
	size_t len;
	int cnt;
};

static void take_piece(void *ctx, const char *text, size_t len)
{
	struct pieces *p = ctx;

	p->text = realloc(p->text, p->len + len + 1);
	assert_non_null(p->text);
	memcpy(p->text + p->len, text, len);
	p->len += len;
	p->text[p->len] = '\0';
	p->cnt++;
}

static void test_sink(void **state)
{
	struct pieces p = { 0 };
	struct fixture f;
	struct loupe_log_opts opts = {
		.size = sizeof(opts), .level = 2, .sink = take_piece, .sink_ctx = &p
	};

	(void)state;
	start(&f, 2);
	loupe_log_destroy(f.log);
	assert_int_equal(loupe_log_create(&f.image, &opts, &f.log), 0);
	f.to = loupe_log_listener(f.log);
	for (int i = 0; i < 10000; i++) {
		step(&f, 0);
		result(&f, 0, 5);
	}
	expect(&f, "");
	assert_true(p.cnt > 2);
	assert_int_equal(p.len, 10000 * strlen("0: (b7) r0 = 0                        ; R0=5\n"));
	for (size_t at = 0; at < p.len; at += 45)
		assert_memory_equal(p.text + at, "0: (b7) r0 = 0                        ; R0=5\n",
				    45);
	free(p.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level2),
		cmocka_unit_test(test_source_lines),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_level1_forgets_finished_paths),
		cmocka_unit_test(test_level1_functions),
		cmocka_unit_test(test_stats_only),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_live_stack),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_message_is_cut),
		cmocka_unit_test(test_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
