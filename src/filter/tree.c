// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tree of cuts (A > k) and equality tests over n cells. A cell of one value may be peeled off by
 * one equality test, after which its neighbours may be one run; what is not peeled off falls into
 * runs, and r runs need r - 1 cuts, however they are arranged. So the fewest tests follow from
 * choosing what to peel, which a walk over the cells decides exactly (dynamic programming over the
 * node of the last cell that was not peeled). Where the walk leaves a choice, runs are preferred to
 * peeling: cuts can be balanced.
 */
#include "filter/tree.h"

#include <stdlib.h>
#include <string.h>

/* A single this heavy, as a share of what is at hand, is peeled off before any cut. */
#define PEEL_SHARE 0.25

struct cell {
	uint32_t lo, to;
	double weight;
	bool single; /* one value only */
	bool peeled; /* by an equality test */
};

struct tree {
	struct filter_ir *ir;
	struct cell *cells;
	uint32_t cnt;
};

/* ---- what to peel ------------------------------------------------------------------------- */

/* Numbers the nodes that cells lead to; returns how many there are. */
static uint32_t number_targets(const struct tree *t, uint32_t *target_of)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t j = 0;

		while (j < i && t->cells[j].to != t->cells[i].to)
			j++;
		target_of[i] = j < i ? target_of[j] : cnt++;
	}
	return cnt;
}

/*
 * Marks what to peel. cost[j] is the fewest tests so far when the last run leads to target j;
 * from[i][j] is the target before cell i on that way, and whether cell i is peeled: in the highest
 * bit.
 */
static uint32_t walk_cells(struct tree *t, const uint32_t *target_of, uint32_t targets,
			   uint32_t *cost, uint32_t *from)
{
	const uint32_t none = UINT32_MAX / 2, peel = 1u << 31;
	uint32_t at, best = 0, fewest;

	for (uint32_t j = 0; j < targets; j++)
		cost[j] = none;
	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t *row = &from[i * targets], own = target_of[i], keep = i ? none : 0;
		uint32_t before = own;

		for (uint32_t j = 0; j < targets; j++) {
			uint32_t c = cost[j] + (j != own);

			if (cost[j] < none && c < keep) {
				keep = c;
				before = j;
			}
			row[j] = j | peel;
			if (t->cells[i].single && cost[j] < none)
				cost[j]++;
			else
				cost[j] = none;
		}
		/* Also when equal. */
		if (keep <= cost[own]) {
			cost[own] = keep;
			row[own] = before;
		}
	}
	for (uint32_t j = 1; j < targets; j++)
		best = cost[j] < cost[best] ? j : best;
	fewest = cost[best];
	at = best;
	for (uint32_t i = t->cnt; i--;) {
		uint32_t step = from[i * targets + at];

		t->cells[i].peeled = step & peel;
		at = step & ~peel;
	}
	return fewest;
}

/* How many tests it takes, UINT32_MAX when memory ran out. */
static uint32_t choose_peeled(struct tree *t)
{
	uint32_t *target_of = malloc(t->cnt * sizeof(*target_of)), targets;
	uint32_t *cost = NULL, *from = NULL, fewest = UINT32_MAX;
	bool ok = false;

	if (target_of) {
		targets = number_targets(t, target_of);
		cost = calloc(targets, sizeof(*cost));
		from = malloc((size_t)targets * t->cnt * sizeof(*from));
		ok = cost && from;
	}
	if (ok)
		fewest = walk_cells(t, target_of, targets, cost, from);
	free(target_of);
	free(cost);
	free(from);
	return fewest;
}

/* ---- arranging ---------------------------------------------------------------------------- */

/* Of the cells first .. last: the heaviest that is still to be peeled, the last where equal. */
static uint32_t heaviest(const struct tree *t, uint32_t first, uint32_t last, uint32_t *how_many)
{
	uint32_t at = FILTER_IR_NONE;

	*how_many = 0;
	for (uint32_t i = first; i <= last; i++) {
		if (!t->cells[i].peeled)
			continue;
		++*how_many;
		if (at == FILTER_IR_NONE || t->cells[i].weight >= t->cells[at].weight)
			at = i;
	}
	return at;
}

/* Cells that need no test of their own any more: not peeled, or peeled already. */
static bool is_kept(const struct cell *cell)
{
	return !cell->peeled && cell->to != FILTER_IR_NONE;
}

/*
 * Where to cut first .. last: before the returned cell. Each side keeps a run, and not the same.
 * FILTER_IR_NONE: nowhere.
 */
static uint32_t find_cut(const struct tree *t, uint32_t first, uint32_t last, double total)
{
	uint32_t best = FILTER_IR_NONE, run = FILTER_IR_NONE;
	double left = 0, best_off = 0;

	for (uint32_t i = first; i <= last; i++) {
		const struct cell *cell = &t->cells[i];
		double off = left * 2 - total;

		off = off < 0 ? -off : off;
		if (is_kept(cell)) {
			bool cut = run != FILTER_IR_NONE && cell->to != run;

			run = cell->to;
			if (cut && (best == FILTER_IR_NONE || off < best_off)) {
				best = i;
				best_off = off;
			}
		}
		if (cell->to != FILTER_IR_NONE)
			left += cell->weight;
	}
	return best;
}

static uint32_t run_of(const struct tree *t, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		if (is_kept(&t->cells[i]))
			return t->cells[i].to;
	}
	return FILTER_IR_NONE;
}

static uint32_t arrange(struct tree *t, uint32_t first, uint32_t last);

static uint32_t peel(struct tree *t, uint32_t first, uint32_t last, uint32_t at)
{
	struct cell was = t->cells[at];
	uint32_t rest;

	/* Nobody comes here with its value any more. */
	t->cells[at].to = FILTER_IR_NONE;
	t->cells[at].peeled = false;
	rest = arrange(t, first, last);
	t->cells[at] = was;
	return filter_ir_test(t->ir, BPF_JEQ, was.lo, was.to, rest);
}

static uint32_t cut(struct tree *t, uint32_t first, uint32_t last, uint32_t at)
{
	uint32_t low = arrange(t, first, at - 1), high = arrange(t, at, last);

	return filter_ir_test(t->ir, BPF_JGE, t->cells[at].lo, high, low);
}

/* The tests for the cells first .. last. Depth: of the tree. */
static uint32_t arrange(struct tree *t, uint32_t first, uint32_t last)
{
	uint32_t singles, at, top = heaviest(t, first, last, &singles);
	double total = 0;

	for (uint32_t i = first; i <= last; i++) {
		if (t->cells[i].to != FILTER_IR_NONE)
			total += t->cells[i].weight;
	}
	if (singles && t->cells[top].weight > total * PEEL_SHARE)
		return peel(t, first, last, top);
	at = find_cut(t, first, last, total);
	if (at != FILTER_IR_NONE)
		return cut(t, first, last, at);
	if (singles)
		return peel(t, first, last, top);
	return run_of(t, first, last);
}

static bool take_cells(struct tree *t, const struct filter_tree_cell *cells)
{
	t->cells = malloc(t->cnt * sizeof(*t->cells));
	for (uint32_t i = 0; t->cells && i < t->cnt; i++) {
		uint32_t last = i + 1 < t->cnt ? cells[i + 1].lo - 1 : UINT32_MAX;

		t->cells[i] = (struct cell){ cells[i].lo, cells[i].to, cells[i].weight,
					     cells[i].lo == last, false };
	}
	return t->cells;
}

uint32_t filter_tree(struct filter_ir *ir, const struct filter_tree_cell *cells, uint32_t cnt)
{
	struct tree t = { .ir = ir, .cnt = cnt };
	uint32_t root = FILTER_IR_NONE;

	if (take_cells(&t, cells) && choose_peeled(&t) != UINT32_MAX)
		root = arrange(&t, 0, cnt - 1);
	free(t.cells);
	if (root == FILTER_IR_NONE)
		ir->failed = true;
	return root;
}

uint32_t filter_tree_cost(const struct filter_tree_cell *cells, uint32_t cnt)
{
	struct tree t = { .cnt = cnt };
	uint32_t cost = UINT32_MAX;

	if (take_cells(&t, cells))
		cost = choose_peeled(&t);
	free(t.cells);
	return cost;
}
