// SPDX-License-Identifier: GPL-2.0-only
/* Passes that are wrong on purpose: the proof refuses whatever each of them makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter/ir.h"

enum { ALLOW = 0x7fff0000, DENY = 0x50001, KILL = 0x80000000, NATIVE = 0xc000003e };

/* A sandbox: three answers, numbers by a tree, two halves of arguments, flags. */
static void build(struct filter_ir *ir)
{
	uint32_t allow, deny, kill, high, fd, flags, node;

	assert_int_equal(filter_ir_init(ir, 64), 0);
	allow = filter_ir_return(ir, ALLOW);
	deny = filter_ir_return(ir, DENY);
	kill = filter_ir_return(ir, KILL);
	high = filter_ir_load(ir, FILTER_WORD_ARG(0) + 4,
			      filter_ir_test(ir, BPF_JEQ, 0, allow, deny));
	fd = filter_ir_load(ir, FILTER_WORD_ARG(0), filter_ir_test(ir, BPF_JGT, 2, deny, high));
	flags = filter_ir_load(ir, FILTER_WORD_ARG(2),
			       filter_ir_test(ir, BPF_JSET, 0x41, deny, fd));
	node = filter_ir_test(ir, BPF_JGT, 231, kill, allow);
	node = filter_ir_test(ir, BPF_JEQ, 101, kill, node);
	node = filter_ir_test(ir, BPF_JEQ, 257, flags, node);
	node = filter_ir_test(ir, BPF_JGT, 16, node, filter_ir_test(ir, BPF_JEQ, 1, fd, deny));
	ir->entry = filter_ir_load(ir, FILTER_WORD_ARCH,
				   filter_ir_test(ir, BPF_JEQ, NATIVE,
						  filter_ir_load(ir, FILTER_WORD_NR, node), kill));
}

/*
 * A wrong pass: what it makes of a node whose targets were made already. FILTER_IR_NONE: it does
 * not apply to this node.
 */
typedef uint32_t (*spoil_fn)(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
			     uint32_t f);

static bool is_test(const struct filter_ir_node *n, uint16_t op)
{
	return n->code == (BPF_JMP | op | BPF_K);
}

/* Jump threading over a test that nothing decides. */
static uint32_t undecided_is_true(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
				  uint32_t f)
{
	(void)to;
	(void)f;
	return filter_is_cond(n->code) ? t : FILTER_IR_NONE;
}

/* Removal of what looks unreachable but is not. */
static uint32_t true_way_is_dropped(struct filter_ir *to, const struct filter_ir_node *n,
				    uint32_t t, uint32_t f)
{
	(void)to;
	(void)t;
	return filter_is_cond(n->code) ? f : FILTER_IR_NONE;
}

/* Removal of a load although A holds another word. */
static uint32_t other_word_is_held(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
				   uint32_t f)
{
	(void)to;
	(void)f;
	return n->code == FILTER_LD_WORD ? t : FILTER_IR_NONE;
}

/* Returns that differ become one. */
static uint32_t returns_are_equal(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
				  uint32_t f)
{
	(void)t;
	(void)f;
	return filter_is_ret(n->code) ? filter_ir_return(to, n->k == DENY ? KILL : DENY)
				      : FILTER_IR_NONE;
}

/* Tests that differ in their constant become one. */
static uint32_t constants_are_equal(struct filter_ir *to, const struct filter_ir_node *n,
				    uint32_t t, uint32_t f)
{
	return is_test(n, BPF_JEQ) ? filter_ir_test(to, BPF_JEQ, n->k ^ 0x40, t, f)
				   : FILTER_IR_NONE;
}

/* Branch senses get mixed up. */
static uint32_t ways_are_swapped(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
				 uint32_t f)
{
	return filter_is_cond(n->code) ? filter_ir_make(to, n->code, n->k, f, t) : FILTER_IR_NONE;
}

/* A tree's cut is off by one. */
static uint32_t cut_is_off(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
			   uint32_t f)
{
	return is_test(n, BPF_JGT) ? filter_ir_test(to, BPF_JGT, n->k + 1, t, f) : FILTER_IR_NONE;
}

/* An equality test takes a whole range. */
static uint32_t point_is_range(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
			       uint32_t f)
{
	return is_test(n, BPF_JEQ) ? filter_ir_test(to, BPF_JGE, n->k, t, f) : FILTER_IR_NONE;
}

/* The order of words mixes up the halves of an argument. */
static uint32_t halves_are_swapped(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
				   uint32_t f)
{
	(void)f;
	return n->code == FILTER_LD_WORD ? filter_ir_load(to, n->k ^ 4, t) : FILTER_IR_NONE;
}

/* A bit of a mask is lost. */
static uint32_t bit_is_lost(struct filter_ir *to, const struct filter_ir_node *n, uint32_t t,
			    uint32_t f)
{
	return is_test(n, BPF_JSET) ? filter_ir_test(to, BPF_JSET, n->k & (n->k - 1), t, f)
				    : FILTER_IR_NONE;
}

static const struct {
	const char *pass; /* of which it is a wrong version */
	spoil_fn spoil;
} wrong[] = {
	{ "jump-threading", undecided_is_true },   { "unreachable", true_way_is_dropped },
	{ "redundant-load", other_word_is_held },  { "merge-returns", returns_are_equal },
	{ "share-suffixes", constants_are_equal }, { "layout", ways_are_swapped },
	{ "resynthesis: cuts", cut_is_off },	   { "resynthesis: points", point_is_range },
	{ "word-order", halves_are_swapped },	   { "bit-tests", bit_is_lost },
};
enum { WRONG = sizeof(wrong) / sizeof(wrong[0]) };

static struct loupe_filter *encode(const struct filter_ir *ir)
{
	struct filter_ir_code code;
	struct loupe_cbpf_insn insns[128];
	struct loupe_filter *filter;

	assert_int_equal(filter_ir_encode(ir, &code), 0);
	assert_in_range(code.cnt, 1, 128);
	for (uint32_t i = 0; i < code.cnt; i++)
		insns[i] = code.items[i].insn;
	assert_int_equal(
		loupe_filter_create("t", insns, code.cnt, LOUPE_FILTER_SECCOMP, &filter, NULL), 0);
	free(code.items);
	return filter;
}

/* The graph with one node spoilt; false when the pass does not apply to it. */
static bool spoil(const struct filter_ir *ir, uint32_t at, spoil_fn how, struct filter_ir *to)
{
	uint32_t made[128];
	bool applied = how == NULL;

	assert_int_equal(filter_ir_init(to, ir->cnt), 0);
	for (uint32_t i = 0; i < ir->cnt; i++) {
		const struct filter_ir_node *n = &ir->nodes[i];
		uint32_t t = n->t == FILTER_IR_NONE ? n->t : made[n->t];
		uint32_t f = n->f == FILTER_IR_NONE ? n->f : made[n->f];

		made[i] = how && i == at ? how(to, n, t, f) : FILTER_IR_NONE;
		applied |= made[i] != FILTER_IR_NONE;
		if (made[i] == FILTER_IR_NONE)
			made[i] = filter_ir_make(to, n->code, n->k, t, f);
	}
	to->entry = made[ir->entry];
	return applied;
}

static void wrong_passes_are_refused(void **state)
{
	struct loupe_filter *right, *made;
	struct loupe_filter_proof proof;
	struct filter_ir ir, to;

	(void)state;
	build(&ir);
	right = encode(&ir);
	assert_true(spoil(&ir, 0, NULL, &to));
	made = encode(&to);
	assert_int_equal(loupe_filter_prove(right, made, &proof, NULL), 0);
	assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
	loupe_filter_destroy(made);
	filter_ir_finish(&to);
	for (uint32_t w = 0; w < WRONG; w++) {
		uint32_t refused = 0;

		for (uint32_t at = 0; at < ir.cnt; at++) {
			if (!spoil(&ir, at, wrong[w].spoil, &to)) {
				filter_ir_finish(&to);
				continue;
			}
			made = encode(&to);
			assert_int_equal(loupe_filter_prove(right, made, &proof, NULL), 0);
			if (proof.verdict != LOUPE_PROOF_REFUTED)
				fail_msg("%s, wrong at node %u, is not refused", wrong[w].pass, at);
			/* The evaluator agrees about the input that shows it. */
			assert_int_not_equal(proof.before, proof.after);
			refused++;
			loupe_filter_destroy(made);
			filter_ir_finish(&to);
		}
		if (!refused)
			fail_msg("%s: applies nowhere", wrong[w].pass);
	}
	loupe_filter_destroy(right);
	filter_ir_finish(&ir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_passes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
