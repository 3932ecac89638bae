/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Search trees over the values of one word where it is known how often each value comes: a trade
 * between the number of tests and how many are executed on average.
 */
#ifndef LOUPE_FILTER_PLAN_H
#define LOUPE_FILTER_PLAN_H

#include "bpfloupe/common.h"

/*
 * An instruction costs as much as this share of all calls executing one more. What is saved on the
 * way of the hottest calls must be worth the room that it takes.
 */
#define FILTER_SIZE_COST 0.08

struct filter_plan_cell {
	uint32_t lo;	 /* first value; the cell ends where the next begins */
	uint32_t to;	 /* what these values lead to, a small number: see filter_plan_emit() */
	double weight;	 /* share of all calls that come here with such a value */
};

struct filter_plan;

/* Plans that were made, for those who ask for the same again. */
struct filter_plans {
	struct filter_plan **plans;
	uint32_t cnt, cap;
};

void filter_plans_finish(struct filter_plans *plans);

/**
 * The plan for these cells, made by filter_plan_create() unless there is one.
 * @return owned by plans; NULL when memory ran out
 */
const struct filter_plan *filter_plans_get(struct filter_plans *plans,
					   const struct filter_plan_cell *cells, uint32_t cnt,
					   double size_cost, bool bits);

/**
 * Plans a tree. Equal costs are decided in favour of fewer tests.
 * @param cells      ascending, the first one from 0; copied
 * @param size_cost  cost of a test, as of that share of calls executing one more
 * @param bits       tests of bits may be used too, where they tell a window of values apart
 * @return NULL when memory ran out; free with filter_plan_destroy()
 */
struct filter_plan *filter_plan_create(const struct filter_plan_cell *cells, uint32_t cnt,
				       double size_cost, bool bits);

/** NULL is fine. */
void filter_plan_destroy(struct filter_plan *plan);

/** Cost of the tree: its tests by size_cost, and executed ones by weight. */
double filter_plan_cost(const struct filter_plan *plan);

/** Number of its tests. */
uint32_t filter_plan_tests(const struct filter_plan *plan);

/**
 * Makes a test.
 * @param op  BPF_JEQ, BPF_JGE, BPF_JSET
 * @param t   what it leads to when true: one of targets, or what such a function returned
 */
typedef uint32_t filter_plan_test(void *arg, uint16_t op, uint32_t k, uint32_t t, uint32_t f);

/**
 * Makes the tests of the tree.
 * @param targets  by a cell's to: what it stands for
 * @return what the last one, the root, was made; or one of targets
 */
uint32_t filter_plan_emit(const struct filter_plan *plan, const uint32_t *targets,
			  filter_plan_test *test, void *arg);

#endif
