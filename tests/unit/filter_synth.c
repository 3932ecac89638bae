// SPDX-License-Identifier: GPL-2.0-only
/* Search trees are as small as can be; what a filter decides is found and built anew. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter/choice.h"
#include "filter/synth.h"
#include "filter/tree.h"
#include "filter_random.h"

enum { CELLS = 8, TREES = 3000 };

/* Fewest tests for the cells in mask, by trying everything. */
static uint32_t fewest(const struct filter_tree_cell *cells, uint32_t cnt, uint32_t mask,
		       uint32_t *known)
{
	uint32_t best = UINT32_MAX, to = UINT32_MAX;
	bool same = true;

	if (known[mask] != UINT32_MAX)
		return known[mask];
	for (uint32_t i = 0; i < cnt; i++) {
		if (!(mask >> i & 1))
			continue;
		same &= to == UINT32_MAX || to == cells[i].to;
		to = cells[i].to;
	}
	if (same)
		return known[mask] = 0;
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t below = mask & ((1u << i) - 1), cost;
		bool single = i + 1 < cnt && cells[i].lo + 1 == cells[i + 1].lo;

		if (below && below != mask) {
			cost = 1 + fewest(cells, cnt, below, known) +
			       fewest(cells, cnt, mask & ~below, known);
			best = cost < best ? cost : best;
		}
		if (single && mask >> i & 1) {
			cost = 1 + fewest(cells, cnt, mask & ~(1u << i), known);
			best = cost < best ? cost : best;
		}
	}
	return known[mask] = best;
}

static uint32_t follow(const struct filter_ir *ir, uint32_t node, uint32_t a)
{
	for (;;) {
		const struct filter_ir_node *n = &ir->nodes[node];
		bool taken;

		if (n->f == FILTER_IR_NONE)
			return node;
		taken = BPF_OP(n->code) == BPF_JEQ ? a == n->k : a > n->k;
		node = taken ? n->t : n->f;
	}
}

static void trees_are_minimal_and_right(void **state)
{
	struct random_source r = { .state = 5 };

	(void)state;
	for (int n = 0; n < TREES; n++) {
		struct filter_tree_cell cells[CELLS];
		uint32_t known[1 << CELLS], cnt = 1 + random_below(&r, CELLS), lo = 0, root;
		uint32_t returns[3], reached = 0;
		struct filter_ir ir;

		assert_int_equal(filter_ir_init(&ir, 0), 0);
		for (uint32_t i = 0; i < 3; i++)
			returns[i] = filter_ir_return(&ir, i);
		for (uint32_t i = 0; i < cnt; i++) {
			uint32_t to = random_below(&r, 3);

			if (i && returns[to] == cells[i - 1].to)
				to = (to + 1) % 3;
			cells[i] =
				(struct filter_tree_cell){ lo, returns[to], random_below(&r, 9) };
			lo += random_below(&r, 3) ? 1 : 3;
		}
		memset(known, 0xff, sizeof(known));
		root = filter_tree(&ir, cells, cnt);
		assert_int_equal(filter_tree_cost(cells, cnt),
				 fewest(cells, cnt, (1u << cnt) - 1, known));
		for (uint32_t i = 0; i < cnt; i++) {
			uint32_t last = i + 1 < cnt ? cells[i + 1].lo - 1 : UINT32_MAX;

			assert_int_equal(follow(&ir, root, cells[i].lo), cells[i].to);
			assert_int_equal(follow(&ir, root, last), cells[i].to);
		}
		/* Returns were made before tests. */
		reached = ir.cnt - 3;
		assert_true(reached <= filter_tree_cost(cells, cnt));
		filter_ir_finish(&ir);
	}
}

static uint32_t read_choices(const struct loupe_cbpf_insn *insns, uint32_t cnt, struct choices *c)
{
	struct filter_ir ir;
	int err;

	assert_int_equal(filter_ir_read(&ir, insns, cnt, NULL), 0);
	err = choices_read(c, &ir);
	filter_ir_finish(&ir);
	return err ? CHOICE_NONE : c->root;
}

/* However it is said, the same decision is the same node. */
static void equal_decisions_are_one(void **state)
{
	/* nr 1 or 2, and args[0] 64 bits: exactly 5; the high half first, or the low half. */
	static const struct loupe_cbpf_insn one[] = {
		{ 0x20, 0, 0, 0 },  { 0x15, 1, 0, 1 }, { 0x15, 0, 5, 2 },
		{ 0x20, 0, 0, 20 }, { 0x15, 0, 3, 0 }, { 0x20, 0, 0, 16 },
		{ 0x15, 0, 1, 5 },  { 6, 0, 0, 1 },    { 6, 0, 0, 0 },
	};
	static const struct loupe_cbpf_insn two[] = {
		{ 0x20, 0, 0, 16 },	    { 0x15, 0, 6, 5 }, { 0x20, 0, 0, 0 },
		{ 0x35, 0, 4, 1 },	    { 0x25, 3, 0, 2 }, { 0x20, 0, 0, 20 },
		{ 0x45, 1, 0, UINT32_MAX }, { 6, 0, 0, 1 },    { 6, 0, 0, 0 },
	};
	/* A mask of high bits is an interval. */
	static const struct loupe_cbpf_insn mask[] = {
		{ 0x20, 0, 0, 24 },   { 0x54, 0, 0, 0xfffffff0 },
		{ 0x15, 0, 1, 0x30 }, { 6, 0, 0, 1 },
		{ 6, 0, 0, 0 },
	};
	static const struct loupe_cbpf_insn range[] = {
		{ 0x20, 0, 0, 24 }, { 0x35, 0, 2, 0x30 }, { 0x25, 1, 0, 0x3f },
		{ 6, 0, 0, 1 },	    { 6, 0, 0, 0 },
	};
	static const struct loupe_cbpf_insn sum[] = {
		{ 0x20, 0, 0, 24 }, { 0x04, 0, 0, 1 }, { 0x15, 0, 1, 7 },
		{ 6, 0, 0, 1 },	    { 6, 0, 0, 0 },
	};
	struct choices c;
	uint32_t root;

	(void)state;
	assert_int_equal(choices_init(&c, NULL), 0);
	root = read_choices(one, 9, &c);
	assert_int_not_equal(root, CHOICE_NONE);
	assert_int_equal(read_choices(two, 9, &c), root);
	root = read_choices(mask, 5, &c);
	assert_int_not_equal(root, CHOICE_NONE);
	assert_int_equal(read_choices(range, 5, &c), root);
	assert_int_equal(read_choices(sum, 5, &c), CHOICE_NONE);
	assert_int_equal(c.err, -ENOTSUP);
	choices_finish(&c);
}

/* Cases that share most of their tests are told apart first, and share the rest. */
static void likeness_is_used(void **state)
{
	struct loupe_cbpf_insn insns[80];
	struct loupe_filter *filter, *after;
	struct loupe_filter_opts opts = { .level = 2 };
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw;
	uint32_t n = 0, level;

	(void)state;
	/* nr 1: args[0].lo one of 20 values; nr 2: the same ones and 999; else 0. */
	insns[n++] = (struct loupe_cbpf_insn){ 0x20, 0, 0, 0 };
	insns[n++] = (struct loupe_cbpf_insn){ 0x15, 24, 0, 1 };
	insns[n++] = (struct loupe_cbpf_insn){ 0x15, 0, 44, 2 };
	insns[n++] = (struct loupe_cbpf_insn){ 0x20, 0, 0, 16 };
	insns[n++] = (struct loupe_cbpf_insn){ 0x15, 43, 0, 999 };
	for (uint32_t i = 0; i < 20; i++)
		insns[n++] = (struct loupe_cbpf_insn){ 0x15, (uint8_t)(42 - i), 0, 10 * i };
	insns[n++] = (struct loupe_cbpf_insn){ 0x05, 0, 0, 21 };
	insns[n++] = (struct loupe_cbpf_insn){ 0x20, 0, 0, 16 };
	for (uint32_t i = 0; i < 20; i++)
		insns[n++] =
			(struct loupe_cbpf_insn){ 0x15, (uint8_t)(20 - i), 0, 200 - 10 * (i + 1) };
	insns[n++] = (struct loupe_cbpf_insn){ 6, 0, 0, 0 };
	insns[n++] = (struct loupe_cbpf_insn){ 6, 0, 0, 1 };
	assert_int_equal(n, 49);
	assert_int_equal(loupe_filter_create("t", insns, n, LOUPE_FILTER_SECCOMP, &filter, NULL),
			 0);
	assert_int_equal(loupe_filter_optimize_proven(filter, &opts, &rw, &proof, &level, NULL), 0);
	assert_int_equal(level, 2);
	assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
	assert_int_equal(
		loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, NULL), 0);
	/* Loads of nr and the word twice, tests of 1, 2, 999 and the 20 values, returns. */
	assert_in_range(after->cnt, 28, 29);
	loupe_filter_destroy(after);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

static uint32_t length_at(const struct loupe_filter *filter, uint32_t level, bool bits)
{
	struct loupe_filter_opts opts = { .level = level };
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw;
	uint32_t cnt;

	assert_int_equal(loupe_filter_opts_set(&opts, "bit-tests", bits), 0);
	assert_int_equal(loupe_filter_optimize_proven(filter, &opts, &rw, &proof, NULL, NULL), 0);
	assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
	cnt = loupe_rewrite_after(rw)->cnt;
	loupe_rewrite_destroy(rw);
	return cnt;
}

/* Of 0 .. 15 what has bit 2 set is one thing, the rest another, all above a third. */
static void bits_tell_windows_apart(void **state)
{
	static const struct loupe_cbpf_insn insns[] = {
		{ 0x20, 0, 0, 16 }, { 0x35, 6, 0, 16 }, { 0x35, 3, 0, 12 }, { 0x35, 3, 0, 8 },
		{ 0x35, 1, 0, 4 },  { 6, 0, 0, 1 },	{ 6, 0, 0, 2 },	    { 6, 0, 0, 1 },
		{ 6, 0, 0, 3 },
	};
	struct loupe_filter *filter;

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 9, LOUPE_FILTER_SECCOMP, &filter, NULL),
			 0);
	/* load, four cuts, three returns; load, a cut, a test of bits, three returns */
	assert_int_equal(length_at(filter, 2, true), 8);
	assert_int_equal(length_at(filter, 3, true), 6);
	assert_int_equal(length_at(filter, 3, false), 8);
	loupe_filter_destroy(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_minimal_and_right),
		cmocka_unit_test(equal_decisions_are_one),
		cmocka_unit_test(likeness_is_used),
		cmocka_unit_test(bits_tell_windows_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
