// SPDX-License-Identifier: GPL-2.0-only
/* Planned trees against the best ones, found by trying all. */
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filter/plan.h"

enum { MOST = 7, TARGETS = 3, NODES = 64 };

#define SIZE_COST 0.05

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

struct problem {
	struct filter_plan_cell cells[MOST];
	uint32_t cnt;
	double best[1 << MOST]; /* by set of cells that may still come; below 0: not known */
};

static bool is_single(const struct problem *p, uint32_t i)
{
	return i + 1 < p->cnt && p->cells[i + 1].lo == p->cells[i].lo + 1;
}

static double weight_of(const struct problem *p, uint32_t set)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->cnt; i++)
		sum += set >> i & 1 ? p->cells[i].weight : 0;
	return sum;
}

/* Tries every first test of a set of cells. */
static double try_all(struct problem *p, uint32_t set)
{
	double best = 1e300, step = SIZE_COST + weight_of(p, set);
	bool same = true;

	if (p->best[set] >= 0)
		return p->best[set];
	for (uint32_t i = 0; i < p->cnt; i++)
		same &= !(set >> i & 1) ||
			p->cells[i].to == p->cells[__builtin_ctz(set)].to;
	for (uint32_t i = 0; !same && i < p->cnt; i++) {
		uint32_t low = set & ((1u << i) - 1), one = set & 1u << i;

		if (low && low != set && step + try_all(p, low) + try_all(p, set & ~low) < best)
			best = step + try_all(p, low) + try_all(p, set & ~low);
		if (one && one != set && is_single(p, i) && step + try_all(p, set & ~one) < best)
			best = step + try_all(p, set & ~one);
	}
	p->best[set] = same ? 0 : best;
	return p->best[set];
}

static void make_problem(struct problem *p)
{
	uint32_t lo = 0;
	double total = 0;

	p->cnt = 2 + below(MOST - 1);
	for (uint32_t i = 0; i < p->cnt; i++) {
		uint32_t to = below(TARGETS - 1);

		/* neighbours differ */
		to += i && to >= p->cells[i - 1].to;
		p->cells[i] = (struct filter_plan_cell){ lo, to, 1 + below(1u << below(9)) };
		total += p->cells[i].weight;
		lo += below(3) ? 1 : 2 + below(100);
	}
	for (uint32_t i = 0; i < p->cnt; i++)
		p->cells[i].weight /= total;
	for (uint32_t i = 0; i < 1u << MOST; i++)
		p->best[i] = -1;
}

/* A tree as it is emitted; nodes below TARGETS are targets. */
struct tree {
	struct {
		uint16_t op;
		uint32_t k, t, f;
	} nodes[NODES];
	uint32_t cnt;
};

static uint32_t add_test(void *arg, uint16_t op, uint32_t k, uint32_t t, uint32_t f)
{
	struct tree *tree = arg;

	assert_true(tree->cnt < NODES);
	tree->nodes[tree->cnt].op = op;
	tree->nodes[tree->cnt].k = k;
	tree->nodes[tree->cnt].t = t;
	tree->nodes[tree->cnt].f = f;
	return TARGETS + tree->cnt++;
}

static uint32_t walk(const struct tree *tree, uint32_t node, uint32_t value, uint32_t *tests)
{
	for (*tests = 0; node >= TARGETS; ++*tests) {
		uint32_t k = tree->nodes[node - TARGETS].k;
		bool taken = value & k;

		if (tree->nodes[node - TARGETS].op == BPF_JEQ)
			taken = value == k;
		else if (tree->nodes[node - TARGETS].op == BPF_JGE)
			taken = value >= k;
		node = taken ? tree->nodes[node - TARGETS].t : tree->nodes[node - TARGETS].f;
	}
	return node;
}

/* Every value gets where its cell says, and the tree costs what the plan said. */
static void check_tree(const struct problem *p, const struct filter_plan *plan)
{
	static const uint32_t targets[TARGETS] = { 0, 1, 2 };
	struct tree tree = { .cnt = 0 };
	uint32_t root = filter_plan_emit(plan, targets, add_test, &tree);
	double cost = SIZE_COST * tree.cnt;

	for (uint32_t i = 0; i < p->cnt; i++) {
		uint32_t last = i + 1 < p->cnt ? p->cells[i + 1].lo - 1 : UINT32_MAX, tests;

		assert_int_equal(walk(&tree, root, p->cells[i].lo, &tests), p->cells[i].to);
		cost += p->cells[i].weight * tests;
		assert_int_equal(walk(&tree, root, last, &tests), p->cells[i].to);
	}
	assert_true(cost < filter_plan_cost(plan) + 1e-9);
	assert_true(cost > filter_plan_cost(plan) - 1e-9);
}

/* Never worse than by an eighth, and nearly always the best. */
static void plans_are_the_best(void **state)
{
	uint32_t worse = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct filter_plan *plan;
		struct problem p;
		double best;

		make_problem(&p);
		plan = filter_plan_create(p.cells, p.cnt, SIZE_COST, false);
		assert_non_null(plan);
		best = try_all(&p, (1u << p.cnt) - 1);
		worse += filter_plan_cost(plan) > best + 1e-9;
		assert_true(filter_plan_cost(plan) <= best * 1.125 + 1e-9);
		check_tree(&p, plan);
		filter_plan_destroy(plan);
	}
	assert_true(worse < 60);
}

/* Tests of bits are right, and save something now and then. */
static void bits_save(void **state)
{
	uint32_t saved = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct filter_plan *plan;
		struct problem p;
		double best;

		make_problem(&p);
		best = try_all(&p, (1u << p.cnt) - 1);
		plan = filter_plan_create(p.cells, p.cnt, SIZE_COST, true);
		assert_non_null(plan);
		saved += filter_plan_cost(plan) < best - 1e-9;
		check_tree(&p, plan);
		filter_plan_destroy(plan);
	}
	assert_true(saved > 10);
}

/* Of 0 .. 63 those with bit 2 or 3 set, by one test; all else by a cut. */
static void one_test_of_bits(void **state)
{
	struct filter_plan_cell cells[16];
	struct filter_plan *plan;
	uint32_t cnt = 0;

	(void)state;
	for (uint32_t v = 0; v < 64; v++) {
		uint32_t to = v & 12 ? 1 : 0;

		if (!cnt || cells[cnt - 1].to != to)
			cells[cnt++] = (struct filter_plan_cell){ v, to, 0 };
	}
	cells[cnt++] = (struct filter_plan_cell){ 64, 2, 0 };
	plan = filter_plan_create(cells, cnt, 1, true);
	assert_non_null(plan);
	assert_true(filter_plan_cost(plan) == 2);
	filter_plan_destroy(plan);
}

/* Plans are found again, and only for the same question. */
static void plans_are_kept(void **state)
{
	struct filter_plan_cell cells[] = { { 0, 0, 0.5 }, { 5, 1, 0.25 }, { 6, 0, 0.25 } };
	struct filter_plans plans = { 0 };
	const struct filter_plan *first = filter_plans_get(&plans, cells, 3, 1, false);

	(void)state;
	assert_non_null(first);
	assert_ptr_equal(filter_plans_get(&plans, cells, 3, 1, false), first);
	assert_ptr_not_equal(filter_plans_get(&plans, cells, 3, 2, false), first);
	cells[1].weight = 0.26;
	assert_ptr_not_equal(filter_plans_get(&plans, cells, 3, 1, false), first);
	filter_plans_finish(&plans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_the_best),
		cmocka_unit_test(bits_save),
		cmocka_unit_test(one_test_of_bits),
		cmocka_unit_test(plans_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
