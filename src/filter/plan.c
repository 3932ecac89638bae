// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic programming over runs of cells. A run is one target; or a chain of single values against
 * one remaining target; or cut in two by one comparison; or its heaviest single value is tested
 * first. Where all values lead to different targets, a test for equality in an optimal tree is for
 * the heaviest value that is left (Anderson, Kannan, Karloff, Ladner 2002); where targets repeat,
 * another one is better now and then, by little. So which of the heavy values of a run were tested
 * before is told by their number.
 */
#include "filter/plan.h"

#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_CHAIN = 24,
	MAX_HOT = 12,
	MAX_CELLS = 1200,    /* above, halves by weight */
	MAX_STATES = 1 << 21,
	MAX_WINDOW = 64,     /* values that a test of bits tells apart, ... */
	MAX_APART = 12,	     /* ... and cells of which one may be tested before */
};

/* A value lighter than this share of a test's cost is not worth being tested early. */
#define HOT_SHARE 0.1

/* How a run is decided; else the last cell left of a cut. */
enum { ONE_TARGET = -1, CHAIN = -2, HOTTEST = -3, BITS = -4, CHAIN_BITS = -5 };

struct state {
	double cost;
	int32_t how;
};

struct filter_plan {
	struct filter_plan_cell *cells;
	uint32_t *last; /* by cell: its last value */
	uint32_t cnt;
	double size_cost;
	bool bits;
	uint32_t targets; /* highest to of a cell, and one more */
	double *sum; /* by cell: weight of those before it */
	uint32_t hot[MAX_HOT]; /* cells, heaviest first */
	uint32_t hot_cnt;
	uint32_t *hot_before; /* by cell: those among the cells before it, a bit each */
	struct state *states; /* [(tested * cnt + first) * cnt + last] */
	double cost;
};

/* The cells of a run, and which of hot[] were tested before. */
struct run {
	uint32_t i, j, tested;
};

/* Values of a run that go elsewhere than the rest, heaviest first; then a test of bits, or none. */
struct chain {
	uint32_t points[MAX_CHAIN]; /* cells */
	uint32_t cnt;
	uint32_t rest; /* target */
	uint32_t mask; /* 0: no test of bits */
	uint32_t other; /* target of values without these bits */
};

static bool is_single(const struct filter_plan *p, uint32_t cell)
{
	return p->cells[cell].lo == p->last[cell];
}

static uint32_t hots_in(const struct filter_plan *p, uint32_t i, uint32_t j)
{
	return p->hot_before[j + 1] & ~p->hot_before[i];
}

/* Whether nobody comes with a value of the cell any more. */
static bool is_gone(const struct filter_plan *p, uint32_t cell, uint32_t tested)
{
	return tested && hots_in(p, cell, cell) & tested;
}

static double weight_of(const struct filter_plan *p, struct run run)
{
	double weight = p->sum[run.j + 1] - p->sum[run.i];

	for (uint32_t left = run.tested; left; left &= left - 1)
		weight -= p->cells[p->hot[__builtin_ctz(left)]].weight;
	return weight > 0 ? weight : 0;
}

/* Bits of a set of hot values. Mostly there are none, and the compiler's own way is a call. */
static uint32_t count_bits(uint32_t set)
{
	uint32_t cnt = 0;

	for (; set; set &= set - 1)
		cnt++;
	return cnt;
}

static struct state *state_of(const struct filter_plan *p, struct run run)
{
	uint32_t tested = count_bits(run.tested);

	return &p->states[((size_t)tested * p->cnt + run.i) * p->cnt + run.j];
}

static struct run left_of(const struct filter_plan *p, struct run run, uint32_t k)
{
	return (struct run){ run.i, k, run.tested & hots_in(p, run.i, k) };
}

static struct run right_of(const struct filter_plan *p, struct run run, uint32_t k)
{
	return (struct run){ k + 1, run.j, run.tested & hots_in(p, k + 1, run.j) };
}

/* The heaviest value of a run that was not tested. 0: there is none */
static uint32_t next_hot(const struct filter_plan *p, struct run run)
{
	uint32_t left = hots_in(p, run.i, run.j) & ~run.tested;

	return left & (~left + 1);
}

/* ---- chains ------------------------------------------------------------------------------- */

/* The target that most cells of a run have; that of its ranges where it has any. */
static uint32_t usual_target(const struct filter_plan *p, struct run run)
{
	uint32_t best = p->cells[run.j].to, most = 0;

	for (uint32_t n = run.i; n <= run.j; n++) {
		if (!is_single(p, n))
			return p->cells[n].to;
	}
	if (run.j - run.i > 2 * MAX_CHAIN)
		return best;
	for (uint32_t n = run.i; n <= run.j; n++) {
		uint32_t same = 0;

		for (uint32_t m = run.i; m <= run.j; m++)
			same += p->cells[m].to == p->cells[n].to && !is_gone(p, m, run.tested);
		if (same > most) {
			most = same;
			best = p->cells[n].to;
		}
	}
	return best;
}

static bool add_point(const struct filter_plan *p, struct chain *chain, uint32_t cell)
{
	uint32_t at;

	if (!is_single(p, cell) || chain->cnt == MAX_CHAIN)
		return false;
	at = chain->cnt++;
	for (; at && p->cells[chain->points[at - 1]].weight < p->cells[cell].weight; at--)
		chain->points[at] = chain->points[at - 1];
	chain->points[at] = cell;
	return true;
}

/* @return false when the run is no chain */
static bool make_chain(const struct filter_plan *p, struct run run, struct chain *chain)
{
	*chain = (struct chain){ .rest = usual_target(p, run) };
	for (uint32_t n = run.i; n <= run.j; n++) {
		if (p->cells[n].to != chain->rest && !is_gone(p, n, run.tested) &&
		    !add_point(p, chain, n))
			return false;
	}
	return true;
}

static double chain_cost(const struct filter_plan *p, const struct chain *chain, double weight)
{
	double cost = 0;
	uint32_t tests = chain->cnt + !!chain->mask;

	for (uint32_t n = 0; n < chain->cnt; n++) {
		double w = p->cells[chain->points[n]].weight;

		cost += w * (n + 1);
		weight -= w;
	}
	return cost + p->size_cost * tests + (weight > 0 ? weight * tests : 0);
}

/* ---- tests of bits ------------------------------------------------------------------------ */

/*
 * A test of bits that tells the cells of a run apart, but for one cell that may be tested before:
 * values to one target have none of the bits, all others some.
 */
static bool try_bits(const struct filter_plan *p, struct run run, uint32_t apart,
		     struct chain *chain)
{
	uint32_t clear = p->cells[run.i].to, bits = 0;

	if (run.i == apart || is_gone(p, run.i, run.tested))
		clear = p->cells[run.i + 1].to;
	for (int swap = 0; swap < 2; swap++, bits = 0) {
		uint32_t set = clear, used = 0;
		bool good = true;

		for (uint32_t n = run.i; n <= run.j; n++) {
			if (n == apart || is_gone(p, n, run.tested))
				continue;
			if (p->cells[n].to != clear)
				set = p->cells[n].to;
			for (uint32_t v = p->cells[n].lo; p->cells[n].to == clear; v++) {
				bits |= v;
				if (v == p->last[n])
					break;
			}
		}
		if (set == clear || !~bits)
			return false;
		for (uint32_t n = run.i; good && n <= run.j; n++) {
			if (n == apart || is_gone(p, n, run.tested) || p->cells[n].to == clear)
				continue;
			good = p->cells[n].to == set;
			for (uint32_t v = p->cells[n].lo; good; v++) {
				good = v & ~bits;
				used |= v;
				if (v == p->last[n])
					break;
			}
		}
		if (good) {
			chain->rest = set;
			chain->other = clear;
			chain->mask = used & ~bits;
			return true;
		}
		clear = set;
	}
	return false;
}

static bool make_bits(const struct filter_plan *p, struct run run, bool with_point,
		      struct chain *chain)
{
	double best = 1e300;
	struct chain trial;

	if (run.j - run.i < 2 || p->last[run.j] - p->cells[run.i].lo >= MAX_WINDOW)
		return false;
	*chain = (struct chain){ 0 };
	if (with_point && run.j - run.i >= MAX_APART)
		return false;
	if (!with_point)
		return try_bits(p, run, UINT32_MAX, chain);
	for (uint32_t n = run.i; n <= run.j; n++) {
		double cost;

		trial = (struct chain){ 0 };
		if (is_gone(p, n, run.tested) || !add_point(p, &trial, n) ||
		    !try_bits(p, run, n, &trial))
			continue;
		cost = chain_cost(p, &trial, weight_of(p, run));
		if (cost < best) {
			best = cost;
			*chain = trial;
		}
	}
	return best < 1e300;
}

/* ---- solving ------------------------------------------------------------------------------ */

static void take(struct state *s, double cost, int32_t how)
{
	if (cost < s->cost - 1e-12)
		*s = (struct state){ cost, how };
}

static void solve_leaf(const struct filter_plan *p, struct run run, bool chains, struct state *s)
{
	double weight = weight_of(p, run);
	struct chain chain;

	if (chains && make_chain(p, run, &chain))
		*s = (struct state){ .cost = chain_cost(p, &chain, weight),
				     .how = chain.cnt ? CHAIN : ONE_TARGET };
	if (s->how == ONE_TARGET || !p->bits)
		return;
	if (make_bits(p, run, false, &chain))
		take(s, chain_cost(p, &chain, weight), BITS);
	else if (make_bits(p, run, true, &chain))
		take(s, chain_cost(p, &chain, weight), CHAIN_BITS);
}

static void solve_cuts(const struct filter_plan *p, struct run run, double step, struct state *s)
{
	const struct state *left = state_of(p, (struct run){ run.i, run.i, 0 });
	const struct state *right = state_of(p, (struct run){ run.i + 1, run.j, 0 });

	/* The common case, without a heavy value, walks along its rows. */
	if (!run.tested) {
		for (uint32_t k = run.i; k < run.j; k++, left++, right += p->cnt)
			take(s, step + left->cost + right->cost, (int32_t)k);
		return;
	}
	for (uint32_t k = run.i; k < run.j; k++)
		take(s,
		     step + state_of(p, left_of(p, run, k))->cost +
			     state_of(p, right_of(p, run, k))->cost,
		     (int32_t)k);
}

static void solve_run(const struct filter_plan *p, struct run run, bool chains)
{
	struct state *s = state_of(p, run);
	double step = p->size_cost + weight_of(p, run);
	uint32_t hot = next_hot(p, run);

	*s = (struct state){ 1e300, CHAIN };
	solve_leaf(p, run, chains, s);
	if (s->how == ONE_TARGET)
		return;
	solve_cuts(p, run, step, s);
	if (hot) {
		struct run rest = { run.i, run.j, run.tested | hot };

		take(s, step + state_of(p, rest)->cost, HOTTEST);
	}
}

/* Each number of heavy values that may have been tested before, all of them first. */
static void solve_tested(const struct filter_plan *p, uint32_t i, uint32_t j, bool chains)
{
	struct run run = { i, j, hots_in(p, i, j) };

	for (;;) {
		solve_run(p, run, chains);
		if (!run.tested)
			return;
		run.tested &= ~(UINT32_C(1) << (31 - __builtin_clz(run.tested)));
	}
}

static void solve(struct filter_plan *p)
{
	for (uint32_t i = p->cnt; i--;) {
		uint32_t wide = UINT32_MAX, singles = 0;
		bool chains = true;

		for (uint32_t j = i; j < p->cnt; j++) {
			/* Two targets of ranges, or too many values, make no chain. */
			if (!is_single(p, j)) {
				chains &= wide == UINT32_MAX || p->cells[j].to == p->cells[wide].to;
				wide = j;
			}
			singles += is_single(p, j);
			solve_tested(p, i, j, chains && singles <= 4 * MAX_CHAIN);
		}
	}
	p->cost = state_of(p, (struct run){ 0, p->cnt - 1, 0 })->cost;
}

static void choose_hot(struct filter_plan *p)
{
	size_t room = MAX_STATES / ((size_t)p->cnt * p->cnt);
	uint32_t most = room > MAX_HOT ? MAX_HOT : room ? (uint32_t)room - 1 : 0;

	for (uint32_t i = 0; i < p->cnt; i++) {
		uint32_t at = p->hot_cnt;
		double weight = p->cells[i].weight;

		if (!is_single(p, i) || weight < p->size_cost * HOT_SHARE)
			continue;
		while (at && p->cells[p->hot[at - 1]].weight < weight)
			at--;
		if (at == most)
			continue;
		if (p->hot_cnt < most)
			p->hot_cnt++;
		memmove(&p->hot[at + 1], &p->hot[at], (p->hot_cnt - at - 1) * sizeof(p->hot[0]));
		p->hot[at] = i;
	}
	for (uint32_t i = 0; i < p->cnt; i++) {
		uint32_t own = 0;

		for (uint32_t h = 0; h < p->hot_cnt; h++) {
			if (p->hot[h] == i)
				own = UINT32_C(1) << h;
		}
		p->hot_before[i + 1] = p->hot_before[i] | own;
	}
}

/* ---- making ------------------------------------------------------------------------------- */

struct filter_plan *filter_plan_create(const struct filter_plan_cell *cells, uint32_t cnt,
				       double size_cost, bool bits)
{
	struct filter_plan *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cnt = cnt;
	p->size_cost = size_cost;
	p->bits = bits;
	p->cells = malloc(cnt * sizeof(*p->cells));
	p->last = malloc(cnt * sizeof(*p->last));
	p->sum = calloc(cnt + 1, sizeof(*p->sum));
	p->hot_before = calloc(cnt + 1, sizeof(*p->hot_before));
	if (!p->cells || !p->last || !p->sum || !p->hot_before)
		goto fail;
	memcpy(p->cells, cells, cnt * sizeof(*cells));
	for (uint32_t i = 0; i < cnt; i++) {
		p->last[i] = i + 1 < cnt ? cells[i + 1].lo - 1 : UINT32_MAX;
		p->sum[i + 1] = p->sum[i] + cells[i].weight;
		if (cells[i].to >= p->targets)
			p->targets = cells[i].to + 1;
	}
	if (cnt > MAX_CELLS)
		return p;
	choose_hot(p);
	p->states = malloc((p->hot_cnt + 1) * (size_t)cnt * cnt * sizeof(*p->states));
	if (!p->states)
		goto fail;
	solve(p);
	return p;
fail:
	filter_plan_destroy(p);
	return NULL;
}

void filter_plan_destroy(struct filter_plan *p)
{
	if (!p)
		return;
	free(p->cells);
	free(p->last);
	free(p->sum);
	free(p->hot_before);
	free(p->states);
	free(p);
}

double filter_plan_cost(const struct filter_plan *p)
{
	return p->cost;
}

/* ---- plans of before ---------------------------------------------------------------------- */

void filter_plans_finish(struct filter_plans *plans)
{
	for (uint32_t i = 0; i < plans->cnt; i++)
		filter_plan_destroy(plans->plans[i]);
	free(plans->plans);
	*plans = (struct filter_plans){ 0 };
}

static bool is_for(const struct filter_plan *p, const struct filter_plan_cell *cells, uint32_t cnt,
		   double size_cost, bool bits)
{
	if (p->cnt != cnt || p->size_cost != size_cost || p->bits != bits)
		return false;
	for (uint32_t i = 0; i < cnt; i++) {
		if (cells[i].lo != p->cells[i].lo || cells[i].to != p->cells[i].to ||
		    cells[i].weight != p->cells[i].weight)
			return false;
	}
	return true;
}

const struct filter_plan *filter_plans_get(struct filter_plans *plans,
					   const struct filter_plan_cell *cells, uint32_t cnt,
					   double size_cost, bool bits)
{
	struct filter_plan *made;

	for (uint32_t i = 0; i < plans->cnt; i++) {
		if (is_for(plans->plans[i], cells, cnt, size_cost, bits))
			return plans->plans[i];
	}
	if (plans->cnt == plans->cap) {
		uint32_t cap = plans->cap * 2 + 64;
		struct filter_plan **more = realloc(plans->plans, cap * sizeof(*more));

		if (!more)
			return NULL;
		plans->plans = more;
		plans->cap = cap;
	}
	made = filter_plan_create(cells, cnt, size_cost, bits);
	if (made)
		plans->plans[plans->cnt++] = made;
	return made;
}

/* ---- emitting ----------------------------------------------------------------------------- */

struct emitter {
	const struct filter_plan *p;
	const uint32_t *targets;
	filter_plan_test *test;
	void *arg;
};

static uint32_t emit_chain(const struct emitter *e, const struct chain *chain)
{
	uint32_t node = e->targets[chain->rest];

	if (chain->mask)
		node = e->test(e->arg, BPF_JSET, chain->mask, node, e->targets[chain->other]);
	for (uint32_t n = chain->cnt; n--;) {
		const struct filter_plan_cell *cell = &e->p->cells[chain->points[n]];

		node = e->test(e->arg, BPF_JEQ, cell->lo, e->targets[cell->to], node);
	}
	return node;
}

/* A cut; where one side is a single value, as a test for equality. */
static uint32_t emit_cut(const struct emitter *e, struct run run, uint32_t k, uint32_t low,
			 uint32_t high)
{
	const struct filter_plan *p = e->p;

	if (run.i == k && is_single(p, k))
		return e->test(e->arg, BPF_JEQ, p->cells[k].lo, low, high);
	if (k + 1 == run.j && is_single(p, run.j))
		return e->test(e->arg, BPF_JEQ, p->cells[run.j].lo, high, low);
	return e->test(e->arg, BPF_JGE, p->cells[k + 1].lo, high, low);
}

static uint32_t emit_run(const struct emitter *e, struct run run)
{
	int32_t how = state_of(e->p, run)->how;
	uint32_t hot, low;
	struct chain chain;

	switch (how) {
	case ONE_TARGET:
	case CHAIN:
		make_chain(e->p, run, &chain);
		return emit_chain(e, &chain);
	case BITS:
	case CHAIN_BITS:
		make_bits(e->p, run, how == CHAIN_BITS, &chain);
		return emit_chain(e, &chain);
	case HOTTEST:
		hot = next_hot(e->p, run);
		run.tested |= hot;
		low = emit_run(e, run);
		hot = e->p->hot[__builtin_ctz(hot)];
		return e->test(e->arg, BPF_JEQ, e->p->cells[hot].lo,
			       e->targets[e->p->cells[hot].to], low);
	default:
		low = emit_run(e, left_of(e->p, run, (uint32_t)how));
		return emit_cut(e, run, (uint32_t)how, low,
				emit_run(e, right_of(e->p, run, (uint32_t)how)));
	}
}

/* Without a table: cut where the weights balance. */
static uint32_t emit_halves(const struct emitter *e, uint32_t i, uint32_t j)
{
	const struct filter_plan *p = e->p;
	double whole = p->sum[j + 1] - p->sum[i] + 1e-9 * (j - i + 1), left = 0;
	struct run run = { i, j, 0 };
	uint32_t k = i, low;
	struct chain chain;

	if (j - i <= 8 && make_chain(p, run, &chain))
		return emit_chain(e, &chain);
	for (; k + 1 < j; k++) {
		left += p->cells[k].weight + 1e-9;
		if (left * 2 >= whole)
			break;
	}
	low = emit_halves(e, i, k);
	return emit_cut(e, run, k, low, emit_halves(e, k + 1, j));
}

uint32_t filter_plan_emit(const struct filter_plan *p, const uint32_t *targets,
			  filter_plan_test *test, void *arg)
{
	const struct emitter e = { p, targets, test, arg };

	if (!p->states)
		return emit_halves(&e, 0, p->cnt - 1);
	return emit_run(&e, (struct run){ 0, p->cnt - 1, 0 });
}

static uint32_t count_test(void *arg, uint16_t op, uint32_t k, uint32_t t, uint32_t f)
{
	(void)op;
	(void)k;
	(void)t;
	(void)f;
	++*(uint32_t *)arg;
	return 0;
}

uint32_t filter_plan_tests(const struct filter_plan *p)
{
	uint32_t *targets = calloc(p->targets, sizeof(*targets)), cnt = 0;

	if (!targets)
		return UINT32_MAX;
	filter_plan_emit(p, targets, count_test, &cnt);
	free(targets);
	return cnt;
}
