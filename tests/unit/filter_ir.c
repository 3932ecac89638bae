// SPDX-License-Identifier: GPL-2.0-only
/* The optimizer's graph: reading, sharing, threading, encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter/ir.h"
#include "filter/ir_thread.h"
#include "filter_random.h"

enum { FILTERS = 4000, INPUTS = 20, MAX_INSNS = 60 };

static void equal_suffixes_are_one_node(void **state)
{
	struct filter_ir ir;
	uint32_t yes, no, test;

	(void)state;
	assert_int_equal(filter_ir_init(&ir, 0), 0);
	yes = filter_ir_return(&ir, 1);
	no = filter_ir_return(&ir, 0);
	test = filter_ir_test(&ir, BPF_JEQ, 7, yes, no);
	assert_int_equal(filter_ir_test(&ir, BPF_JEQ, 7, yes, no), test);
	assert_int_equal(filter_ir_load(&ir, 16, test), filter_ir_load(&ir, 16, test));
	/* A >= 8 is A > 7. */
	assert_int_equal(filter_ir_test(&ir, BPF_JGE, 8, yes, no),
			 filter_ir_test(&ir, BPF_JGT, 7, yes, no));
	/* What does not depend on A needs no test. */
	assert_int_equal(filter_ir_test(&ir, BPF_JEQ, 7, yes, yes), yes);
	assert_int_equal(filter_ir_test(&ir, BPF_JGE, 0, yes, no), yes);
	assert_int_equal(filter_ir_test(&ir, BPF_JGT, UINT32_MAX, yes, no), no);
	assert_int_equal(filter_ir_test(&ir, BPF_JSET, 0, yes, no), no);
	/* More nodes than there was room for at first. */
	for (uint32_t i = 0; i < 5000; i++)
		test = filter_ir_test(&ir, BPF_JEQ, i, yes, test);
	assert_false(ir.failed);
	assert_int_equal(ir.nodes[test].k, 4999);
	filter_ir_finish(&ir);
}

static struct loupe_filter *encode(const struct filter_ir *ir, enum loupe_filter_flavour flavour)
{
	struct filter_ir_code code;
	struct loupe_cbpf_insn *insns;
	struct loupe_filter *filter;
	struct loupe_error err = { 0 };

	assert_int_equal(filter_ir_encode(ir, &code), 0);
	insns = calloc(code.cnt, sizeof(*insns));
	for (uint32_t i = 0; i < code.cnt; i++)
		insns[i] = code.items[i].insn;
	if (loupe_filter_create("t", insns, code.cnt, flavour, &filter, &err))
		fail_msg("%s", err.message);
	free(insns);
	free(code.items);
	return filter;
}

static uint32_t answer(const struct loupe_filter *filter, uint32_t nr, uint32_t *executed)
{
	struct loupe_seccomp_data data = { .nr = nr };
	struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
	struct loupe_filter_run run = { 0 };

	assert_int_equal(loupe_filter_eval(filter, &input, &run, NULL), 0);
	*executed = run.executed;
	return run.result;
}

/* 600 tests in a row, each of which may lead to the far end: a return, or more than that. */
static void far_targets_are_reached(void **state)
{
	enum { TESTS = 600 };

	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		struct filter_ir ir;
		struct loupe_filter *filter;
		uint32_t yes, next, executed;

		assert_int_equal(filter_ir_init(&ir, 0), 0);
		yes = filter_ir_return(&ir, 1);
		if (deep)
			yes = filter_ir_load(
				&ir, 4,
				filter_ir_test(&ir, BPF_JEQ, 0, yes, filter_ir_return(&ir, 2)));
		next = filter_ir_return(&ir, 0);
		for (uint32_t i = 0; i < TESTS; i++)
			next = filter_ir_test(&ir, BPF_JEQ, 3 * i, yes, next);
		ir.entry = filter_ir_load(&ir, 0, next);
		filter = encode(&ir, LOUPE_FILTER_SECCOMP);
		/* Two of three tests cannot reach the end by themselves: a stand-in each 255. */
		assert_in_range(filter->cnt, TESTS + 4, TESTS + 8);
		for (uint32_t nr = 0; nr < 3 * TESTS + 3; nr++)
			assert_int_equal(answer(filter, nr, &executed),
					 nr % 3 == 0 && nr < 3 * TESTS);
		loupe_filter_destroy(filter);
		filter_ir_finish(&ir);
	}
}

static bool reads_scratch(const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		if (filter_opcode_of(insns[i].code)->form == FORM_MEM)
			return true;
	}
	return false;
}

static void compare(struct random_source *r, const struct loupe_filter *a,
		    const struct loupe_filter *b, bool longer_is_fine)
{
	for (int i = 0; i < INPUTS; i++) {
		struct loupe_filter_run run_a = { 0 }, run_b = { 0 };
		struct loupe_seccomp_data data;
		uint8_t packet[16];
		struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };

		if (a->flavour == LOUPE_FILTER_SECCOMP) {
			random_seccomp_data(r, a->insns, a->cnt, &data);
		} else {
			input.data = packet;
			input.len = random_packet(r, a->insns, a->cnt, packet, sizeof(packet));
		}
		assert_int_equal(loupe_filter_eval(a, &input, &run_a, NULL), 0);
		assert_int_equal(loupe_filter_eval(b, &input, &run_b, NULL), 0);
		assert_int_equal(run_a.result, run_b.result);
		assert_true(longer_is_fine || run_b.loads <= run_a.loads);
	}
}

static void random_filters_come_back(void **state)
{
	struct random_source r = { .state = 7 };
	uint32_t before = 0, after = 0;

	(void)state;
	for (int n = 0; n < FILTERS; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		bool seccomp = n % 2;
		uint32_t cnt = random_filter(&r, seccomp, insns, MAX_INSNS);
		enum loupe_filter_flavour flavour =
			seccomp ? LOUPE_FILTER_SECCOMP : LOUPE_FILTER_SOCKET;
		struct filter_ir ir, arranged;
		struct loupe_filter *filter, *back;
		struct loupe_filter_proof proof;

		if (reads_scratch(insns, cnt))
			continue;
		assert_int_equal(loupe_filter_create("t", insns, cnt, flavour, &filter, NULL), 0);
		assert_int_equal(filter_ir_read(&ir, insns, cnt, NULL), 0);
		back = encode(&ir, flavour);
		compare(&r, filter, back, false);
		loupe_filter_destroy(back);

		assert_int_equal(
			filter_ir_thread(&ir, flavour, FILTER_THREAD_TESTS | FILTER_THREAD_LOADS),
			0);
		assert_int_equal(filter_ir_arrange(&ir, &arranged), 0);
		back = encode(&arranged, flavour);
		compare(&r, filter, back, false);
		if (n % 32 == 1) {
			assert_int_equal(loupe_filter_prove(filter, back, &proof, NULL), 0);
			assert_int_not_equal(proof.verdict, LOUPE_PROOF_REFUTED);
		}
		before += cnt;
		after += back->cnt;
		loupe_filter_destroy(back);
		filter_ir_finish(&arranged);
		filter_ir_finish(&ir);
		loupe_filter_destroy(filter);
	}
	assert_true(after < before / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_suffixes_are_one_node),
		cmocka_unit_test(far_targets_are_reached),
		cmocka_unit_test(random_filters_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
