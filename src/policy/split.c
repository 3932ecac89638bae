// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree is found by dynamic programming over runs of items: a run is one target; or a chain of
 * single values against one remaining target; or cut in two by one comparison. In front of it may
 * stand tests for a few of the hottest single values.
 */
#include "policy/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CHAIN = 24,
	MAX_HOT = 8,
	MAX_ITEMS_HOT = 300, /* above, trying hot values takes too long */
	MAX_ITEMS_DP = 1200, /* above, halves by weight */
};

/* One instruction of the program costs as much as this share of all calls executing one more. */
#define SIZE_COST 0.02

enum { ONE_TARGET = -1, CHAIN = -2 };

struct split {
	const struct split_item *items;
	uint32_t cnt;
	double *sum;  /* weight of the items before each */
	double *cost; /* [i * cnt + j]: of the run from i to j */
	int32_t *how; /* ONE_TARGET, CHAIN, or the last item left of the cut */
};

static bool is_single(const struct split_item *item)
{
	return item->lo == item->hi;
}

/* A chain over a run: values that go elsewhere than the rest, hottest first. */
struct chain {
	uint32_t points[MAX_CHAIN]; /* items */
	uint32_t cnt;
	uint32_t rest; /* target of all else */
};

/* @return false when the run is no chain */
static bool make_chain(const struct split_item *items, uint32_t i, uint32_t j, struct chain *chain)
{
	chain->cnt = 0;
	chain->rest = items[j].target;
	for (uint32_t n = i; n <= j; n++) {
		if (!is_single(&items[n])) {
			chain->rest = items[n].target;
			break;
		}
	}
	for (uint32_t n = i; n <= j; n++) {
		uint32_t at;

		if (items[n].target == chain->rest)
			continue;
		if (!is_single(&items[n]) || chain->cnt == MAX_CHAIN)
			return false;
		at = chain->cnt++;
		for (; at && items[chain->points[at - 1]].weight < items[n].weight; at--)
			chain->points[at] = chain->points[at - 1];
		chain->points[at] = n;
	}
	return true;
}

static double chain_cost(const struct split *s, const struct chain *chain, double weight)
{
	double cost = SIZE_COST * chain->cnt, executed = 0;

	for (uint32_t p = 0; p < chain->cnt; p++) {
		double w = s->items[chain->points[p]].weight;

		executed += w * (p + 1);
		weight -= w;
	}
	return cost + executed + (weight > 0 ? weight * chain->cnt : 0);
}

static void solve_run(struct split *s, uint32_t i, uint32_t j)
{
	double weight = s->sum[j + 1] - s->sum[i], best;
	double *cost = &s->cost[(size_t)i * s->cnt + j];
	int32_t *how = &s->how[(size_t)i * s->cnt + j];
	struct chain chain;

	*cost = 0;
	*how = ONE_TARGET;
	if (i == j)
		return;
	best = 1e300;
	if (make_chain(s->items, i, j, &chain)) {
		best = chain_cost(s, &chain, weight);
		*how = CHAIN;
	}
	for (uint32_t k = i; k < j; k++) {
		double c = SIZE_COST + weight + s->cost[(size_t)i * s->cnt + k] +
			   s->cost[(size_t)(k + 1) * s->cnt + j];

		if (c < best) {
			best = c;
			*how = (int32_t)k;
		}
	}
	*cost = best;
}

static void split_finish(struct split *s)
{
	free(s->sum);
	free(s->cost);
	free(s->how);
}

static int solve(struct split *s, const struct split_item *items, uint32_t cnt)
{
	*s = (struct split){
		.items = items,
		.cnt = cnt,
		.sum = malloc((cnt + 1) * sizeof(*s->sum)),
		.cost = malloc((size_t)cnt * cnt * sizeof(*s->cost)),
		.how = malloc((size_t)cnt * cnt * sizeof(*s->how)),
	};
	if (!s->sum || !s->cost || !s->how) {
		split_finish(s);
		return -ENOMEM;
	}
	s->sum[0] = 0;
	for (uint32_t i = 0; i < cnt; i++)
		s->sum[i + 1] = s->sum[i] + items[i].weight;
	for (uint32_t len = 1; len <= cnt; len++) {
		for (uint32_t i = 0; i + len <= cnt; i++)
			solve_run(s, i, i + len - 1);
	}
	return 0;
}

static uint32_t build_chain(struct code *code, const struct split_item *items,
			    const struct chain *chain)
{
	uint32_t node = chain->rest;

	for (uint32_t p = chain->cnt; p--;) {
		const struct split_item *item = &items[chain->points[p]];

		node = code_jump(code, CODE_JEQ, item->lo, item->target, node);
	}
	return node;
}

/* A cut; where one side is a single value, as a test for equality. */
static uint32_t build_cut(struct code *code, const struct split_item *items, uint32_t i, uint32_t k,
			  uint32_t j, uint32_t left, uint32_t right)
{
	if (i == k && is_single(&items[i]))
		return code_jump(code, CODE_JEQ, items[i].lo, left, right);
	if (k + 1 == j && is_single(&items[j]))
		return code_jump(code, CODE_JEQ, items[j].lo, right, left);
	return code_jump(code, CODE_JGE, items[k + 1].lo, right, left);
}

static uint32_t build_run(struct code *code, const struct split *s, uint32_t i, uint32_t j)
{
	int32_t how = s->how[(size_t)i * s->cnt + j];
	uint32_t k = (uint32_t)how, left, right;
	struct chain chain;

	if (how == ONE_TARGET)
		return s->items[i].target;
	if (how == CHAIN) {
		make_chain(s->items, i, j, &chain);
		return build_chain(code, s->items, &chain);
	}
	left = build_run(code, s, i, k);
	right = build_run(code, s, k + 1, j);
	return build_cut(code, s->items, i, k, j, left, right);
}

/* Without a table: cut where the weights balance. */
static uint32_t build_halves(struct code *code, const struct split_item *items, uint32_t i,
			     uint32_t j)
{
	double whole = 0, left_weight = 0;
	uint32_t k = i, left, right;
	struct chain chain;

	if (i == j)
		return items[i].target;
	if (j - i <= 8 && make_chain(items, i, j, &chain))
		return build_chain(code, items, &chain);
	for (uint32_t n = i; n <= j; n++)
		whole += items[n].weight + 1e-9;
	for (; k + 1 < j; k++) {
		left_weight += items[k].weight + 1e-9;
		if (left_weight * 2 >= whole)
			break;
	}
	left = build_halves(code, items, i, k);
	right = build_halves(code, items, k + 1, j);
	return build_cut(code, items, i, k, j, left, right);
}

/* Takes item p out: its value is tested before, so it may go with either neighbour. */
static uint32_t take_out(struct split_item *items, uint32_t cnt, uint32_t p)
{
	bool left = p > 0, right = p + 1 < cnt;
	uint32_t gone = 1, first = p;

	if (left && right && items[p - 1].target == items[p + 1].target) {
		items[p - 1].hi = items[p + 1].hi;
		items[p - 1].weight += items[p + 1].weight;
		gone = 2;
	} else if (left) {
		items[p - 1].hi = items[p].hi;
	} else {
		items[p + 1].lo = items[p].lo;
	}
	memmove(items + first, items + first + gone, (cnt - first - gone) * sizeof(*items));
	return cnt - gone;
}

static int32_t hottest(const struct split_item *items, uint32_t cnt)
{
	int32_t best = -1;

	for (uint32_t i = 0; i < cnt; i++) {
		if (is_single(&items[i]) && (best < 0 || items[i].weight > items[best].weight))
			best = (int32_t)i;
	}
	return best;
}

/* The best number of hot values in front, up to MAX_HOT; *cnt items become the rest. */
static int choose_hot(struct split_item *items, uint32_t *cnt, struct split_item *hot,
		      uint32_t *hot_cnt)
{
	struct split_item *work = malloc(*cnt * sizeof(*work));
	double best = 1e300, before = 0, weight = 0;
	uint32_t left = *cnt, taken = 0;
	int ret = 0;

	if (!work)
		return -ENOMEM;
	memcpy(work, items, *cnt * sizeof(*work));
	*hot_cnt = 0;
	for (uint32_t i = 0; i < left; i++)
		weight += work[i].weight;
	for (;;) {
		struct split s;
		int32_t p = -1;
		double cost;

		ret = solve(&s, work, left);
		if (ret)
			break;
		cost = before + s.cost[left - 1];
		split_finish(&s);
		if (cost < best) {
			best = cost;
			*hot_cnt = taken;
		}
		if (taken < MAX_HOT && left > 1)
			p = hottest(work, left);
		if (p < 0)
			break;
		hot[taken++] = work[p];
		before += SIZE_COST + weight;
		weight -= work[p].weight;
		left = take_out(work, left, (uint32_t)p);
	}
	free(work);
	for (uint32_t h = 0; !ret && h < *hot_cnt; h++)
		*cnt = take_out(items, *cnt, (uint32_t)hottest(items, *cnt));
	return ret;
}

static int build_tree(struct code *code, const struct split_item *items, uint32_t cnt,
		      uint32_t *out)
{
	struct split s;

	if (cnt > MAX_ITEMS_DP) {
		*out = build_halves(code, items, 0, cnt - 1);
		return 0;
	}
	if (solve(&s, items, cnt))
		return -ENOMEM;
	*out = build_run(code, &s, 0, cnt - 1);
	split_finish(&s);
	return 0;
}

int split_build(struct code *code, const struct split_item *items, uint32_t cnt, uint32_t *out)
{
	struct split_item *own = malloc(cnt * sizeof(*own));
	struct split_item hot[MAX_HOT];
	uint32_t own_cnt = 0, hot_cnt = 0;
	int ret = 0;

	if (!own)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		if (own_cnt && own[own_cnt - 1].target == items[i].target) {
			own[own_cnt - 1].hi = items[i].hi;
			own[own_cnt - 1].weight += items[i].weight;
		} else {
			own[own_cnt++] = items[i];
		}
	}
	if (own_cnt > 2 && own_cnt <= MAX_ITEMS_HOT)
		ret = choose_hot(own, &own_cnt, hot, &hot_cnt);
	if (!ret)
		ret = build_tree(code, own, own_cnt, out);
	while (!ret && hot_cnt--)
		*out = code_jump(code, CODE_JEQ, hot[hot_cnt].lo, hot[hot_cnt].target, *out);
	free(own);
	return ret;
}
