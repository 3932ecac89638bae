// SPDX-License-Identifier: GPL-2.0-only
#include "filter/synth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/plan.h"
#include "filter/tree.h"

/* Cells wider than this are not looked at number by number. */
enum { WIDE = 256 };

/* Share of calls that nobody told of, in one tree: they break ties. */
#define LEAST_FLOW 1e-6

/* ---- weights ------------------------------------------------------------------------------ */

/* Instructions that run before something else than the number and the architecture matters. */
static uint32_t depth_of(const struct filter_ir *ir, uint32_t arch, uint32_t nr)
{
	uint32_t node = ir->entry, a = 0, depth = 0;

	for (;; depth++) {
		const struct filter_ir_node *n = &ir->nodes[node];
		bool taken;

		switch (filter_opcode_of(n->code)->form) {
		case FORM_ABS:
			if (n->k != FILTER_WORD_NR && n->k != FILTER_WORD_ARCH)
				return depth;
			a = n->k == FILTER_WORD_NR ? nr : arch;
			node = n->t;
			continue;
		case FORM_JMP_K:
			break;
		default:
			return depth;
		}
		switch (BPF_OP(n->code)) {
		case BPF_JEQ:
			taken = a == n->k;
			break;
		case BPF_JGT:
			taken = a > n->k;
			break;
		case BPF_JGE:
			taken = a >= n->k;
			break;
		default:
			taken = a & n->k;
		}
		node = taken ? n->t : n->f;
	}
}

static uint64_t seg_end(const struct choices *c, const struct choice_node *n, uint32_t i)
{
	return i + 1 < n->cnt ? c->segs[n->first + i + 1].lo : UINT64_C(1) << 32;
}

/* What most values lead to. */
static uint32_t usual(const struct choices *c, const struct choice_node *n)
{
	uint32_t widest = 0;

	for (uint32_t i = 1; i < n->cnt; i++) {
		if (seg_end(c, n, i) - c->segs[n->first + i].lo >
		    seg_end(c, n, widest) - c->segs[n->first + widest].lo)
			widest = i;
	}
	return c->segs[n->first + widest].to;
}

static bool is_var(const struct choices *c, const struct choice_node *n, uint32_t offset)
{
	return n->var != CHOICE_LEAF && c->vars[n->var].offset == offset &&
	       c->vars[n->var].mask == UINT32_MAX;
}

/* The node that asks for the number, on the way of the architecture that is let through. */
static const struct choice_node *number_node(const struct choices *c, uint32_t *arch)
{
	const struct choice_node *n = &c->nodes[c->root];

	*arch = 0;
	if (is_var(c, n, FILTER_WORD_ARCH)) {
		uint32_t most = usual(c, n);

		for (uint32_t i = 0; i < n->cnt; i++) {
			if (c->segs[n->first + i].to == most)
				continue;
			*arch = c->segs[n->first + i].lo;
			n = &c->nodes[c->segs[n->first + i].to];
			break;
		}
	}
	return is_var(c, n, FILTER_WORD_NR) ? n : NULL;
}

/*
 * The weight that a filter suggests for numbers: what it tests early is frequent. Each number that
 * it treats differently from most others has a weight that halves with every second instruction
 * that decides about it.
 */
static void guess(const struct choices *c, const struct choice_node *n, const struct filter_ir *ir,
		  uint32_t arch, double *weights)
{
	uint32_t most = usual(c, n);

	for (uint32_t i = 0; i < n->cnt; i++) {
		uint64_t lo = c->segs[n->first + i].lo, end = seg_end(c, n, i);

		weights[i] = 0;
		if (end - lo > WIDE || c->segs[n->first + i].to == most)
			continue;
		for (uint64_t nr = lo; nr < end; nr++)
			weights[i] += ldexp(1, -(int)(depth_of(ir, arch, (uint32_t)nr) / 2));
	}
}

/* ---- flow --------------------------------------------------------------------------------- */

static uint32_t word_of(const struct choice_var *var, const struct loupe_weights *weights,
			const struct loupe_weight *row)
{
	struct loupe_seccomp_data data = { .nr = row->nr, .arch = weights->arch };
	uint32_t word;

	memcpy(data.args, row->args, sizeof(data.args));
	memcpy(&word, (const char *)&data + var->offset, sizeof(word));
	return word & var->mask;
}

static uint32_t seg_of(const struct choices *c, const struct choice_node *n, uint32_t value)
{
	uint32_t low = 0, high = n->cnt - 1;

	while (low < high) {
		uint32_t mid = (low + high + 1) / 2;

		if (c->segs[n->first + mid].lo <= value)
			low = mid;
		else
			high = mid - 1;
	}
	return n->first + low;
}

/* Sends one call along as far as its words are known. */
static void send(const struct choices *c, const struct loupe_weights *weights,
		 const struct loupe_weight *row, double share, double *flow, double *arriving)
{
	uint32_t node = c->root;

	while (c->nodes[node].var != CHOICE_LEAF) {
		const struct choice_var *var = &c->vars[c->nodes[node].var];
		uint32_t seg;

		if (!row->has_args && var->offset > FILTER_WORD_ARCH)
			break;
		seg = seg_of(c, &c->nodes[node], word_of(var, weights, row));
		flow[seg] += share;
		node = c->segs[seg].to;
	}
	arriving[node] += share;
}

/* Calls whose arguments nobody knows take all ways alike. */
static void spread(const struct choices *c, double *flow, double *arriving)
{
	for (uint32_t i = c->root + 1; i--;) {
		const struct choice_node *n = &c->nodes[i];

		for (uint32_t s = n->first; s < n->first + n->cnt; s++) {
			flow[s] += arriving[i] / n->cnt;
			arriving[c->segs[s].to] += arriving[i] / n->cnt;
		}
	}
}

double *filter_flow(const struct choices *c, const struct loupe_weights *weights)
{
	double *flow = calloc(c->seg_cnt + 1, sizeof(*flow)), total = 0;
	double *arriving = calloc(c->cnt, sizeof(*arriving));

	if (flow && arriving) {
		for (uint32_t i = 0; i < weights->cnt; i++)
			total += weights->rows[i].weight;
		for (uint32_t i = 0; i < weights->cnt; i++)
			send(c, weights, &weights->rows[i], weights->rows[i].weight / total, flow,
			     arriving);
		spread(c, flow, arriving);
	} else {
		free(flow);
		flow = NULL;
	}
	free(arriving);
	return flow;
}

/* ---- building ----------------------------------------------------------------------------- */

struct builder {
	const struct choices *c;
	const struct filter_synth_opts *opts;
	struct filter_ir *to;
	const struct choice_node *numbers; /* the node that asks for the number, NULL: none */
	uint32_t arch;			   /* on whose way it is */
	uint32_t *made;	 /* by node of choices: node of the graph */
	uint32_t *tests; /* and the one behind its load */
	uint32_t *built; /* nodes of choices whose tests were built */
	uint32_t built_cnt;
};

/* A stretch of values for which two nodes differ, and where the first one leads. */
struct patch {
	uint32_t lo, hi, to;
};

/*
 * Where n leads elsewhere than base, which asks for the same.
 * @return how many tests it takes to tell these values from the others; more than most: too many
 */
static uint32_t compare(const struct choices *c, const struct choice_node *n,
			const struct choice_node *base, struct patch *patches, uint32_t *cnt,
			uint32_t most)
{
	uint32_t i = 0, j = 0, tests = 0;

	*cnt = 0;
	for (uint64_t at = 0; at < UINT64_C(1) << 32;) {
		uint64_t end = seg_end(c, n, i), base_end = seg_end(c, base, j), lo = at;
		uint32_t to = c->segs[n->first + i].to;

		at = end < base_end ? end : base_end;
		if (to != c->segs[base->first + j].to) {
			tests += lo + 1 == at || !lo || at == UINT64_C(1) << 32 ? 1 : 2;
			if (tests > most)
				return tests;
			patches[(*cnt)++] = (struct patch){ (uint32_t)lo, (uint32_t)(at - 1), to };
		}
		i += at == end;
		j += at == base_end;
	}
	return tests;
}

/* Tests that send the values of a patch away and others to rest. */
static uint32_t apply(struct builder *b, struct patch patch, uint32_t rest)
{
	uint32_t to = b->made[patch.to], in;

	if (patch.lo == patch.hi)
		return filter_ir_test(b->to, BPF_JEQ, patch.lo, to, rest);
	in = patch.hi == UINT32_MAX ? to : filter_ir_test(b->to, BPF_JGT, patch.hi, rest, to);
	return filter_ir_test(b->to, BPF_JGE, patch.lo, in, rest);
}

/* Most tests by which a node may be told from another one. */
enum { MOST_PATCHES = 16 };

/*
 * The tests of a node that differs from one that was built before in few values only: for these,
 * and then those of the other. FILTER_IR_NONE where its own tests are fewer.
 */
static uint32_t build_on(struct builder *b, const struct choice_node *n, uint32_t own_cost)
{
	struct patch best[MOST_PATCHES], patches[MOST_PATCHES];
	uint32_t most = own_cost - 1, best_cnt = 0, on = CHOICE_NONE, rest;

	if (most > MOST_PATCHES)
		most = MOST_PATCHES;
	for (uint32_t i = 0; i < b->built_cnt && most; i++) {
		const struct choice_node *base = &b->c->nodes[b->built[i]];
		uint32_t cnt, tests;

		if (base->var != n->var)
			continue;
		tests = compare(b->c, n, base, patches, &cnt, most);
		if (tests > most)
			continue;
		most = tests - 1;
		best_cnt = cnt;
		on = b->built[i];
		memcpy(best, patches, cnt * sizeof(*best));
	}
	if (on == CHOICE_NONE)
		return FILTER_IR_NONE;
	rest = b->tests[on];
	while (best_cnt)
		rest = apply(b, best[--best_cnt], rest);
	return rest;
}

static uint32_t plan_test(void *arg, uint16_t op, uint32_t k, uint32_t t, uint32_t f)
{
	return filter_ir_test(arg, op, k, t, f);
}

/* Numbers what segments lead to. */
static void number_targets(const struct builder *b, const struct choice_node *n,
			   const double *weights, struct filter_plan_cell *cells, uint32_t *targets)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < n->cnt; i++) {
		struct choice_seg seg = b->c->segs[n->first + i];
		uint32_t t = 0;

		while (t < cnt && targets[t] != b->made[seg.to])
			t++;
		if (t == cnt)
			targets[cnt++] = b->made[seg.to];
		/* What nobody asks for weighs a little. */
		cells[i] = (struct filter_plan_cell){ seg.lo, t, weights[i] + LEAST_FLOW / n->cnt };
	}
}

/* The plan for a node's values, and what its targets are. NULL when memory ran out */
static const struct filter_plan *plan_values(struct builder *b, const struct choice_node *n,
					     const double *weights, double size_cost,
					     uint32_t **targets)
{
	struct filter_plan_cell *cells = malloc(n->cnt * sizeof(*cells));
	const struct filter_plan *plan = NULL;

	*targets = malloc(n->cnt * sizeof(**targets));
	if (cells && *targets) {
		number_targets(b, n, weights, cells, *targets);
		plan = filter_plans_get(b->opts->plans, cells, n->cnt, size_cost,
					b->opts->bits);
	}
	free(cells);
	return plan;
}

/* As build_shortest(); each test weighs as much as one that every call executes. */
static uint32_t build_with_bits(struct builder *b, const struct choice_node *n, double *weights,
				double total, uint32_t least)
{
	const struct filter_plan *plan;
	uint32_t *targets, root = FILTER_IR_NONE;

	for (uint32_t i = 0; i < n->cnt && total > 0; i++)
		weights[i] /= total;
	plan = plan_values(b, n, weights, 1, &targets);
	if (!plan)
		b->to->failed = true;
	else if (filter_plan_tests(plan) < least)
		root = build_on(b, n, filter_plan_tests(plan));
	if (plan && root == FILTER_IR_NONE && filter_plan_tests(plan) < least)
		root = filter_plan_emit(plan, targets, plan_test, b->to);
	free(targets);
	return root;
}

/* The fewest tests behind the load of a word; of them the early ones for what is frequent. */
static uint32_t build_shortest(struct builder *b, const struct choice_node *n)
{
	struct filter_tree_cell *cells = malloc(n->cnt * sizeof(*cells));
	double *weights = calloc(n->cnt, sizeof(*weights)), total = 0;
	uint32_t root = FILTER_IR_NONE, tests;

	if (cells && weights) {
		if (n == b->numbers)
			guess(b->c, n, b->opts->like, b->arch, weights);
		for (uint32_t i = 0; i < n->cnt; i++)
			total += weights[i];
		for (uint32_t i = 0; i < n->cnt; i++) {
			struct choice_seg seg = b->c->segs[n->first + i];
			/* What nobody asks for weighs a little. */
			double least = total > 0 ? total / (64.0 * n->cnt) : 1;

			cells[i] = (struct filter_tree_cell){ seg.lo, b->made[seg.to],
							      weights[i] + least };
		}
		tests = filter_tree_cost(cells, n->cnt);
		if (b->opts->bits)
			root = build_with_bits(b, n, weights, total, tests);
		if (root == FILTER_IR_NONE)
			root = build_on(b, n, tests);
		if (root == FILTER_IR_NONE)
			root = filter_tree(b->to, cells, n->cnt);
	}
	free(cells);
	free(weights);
	return root;
}

/* Tests that are executed for a value until something else than the word is asked for. */
static uint32_t tests_for(const struct builder *b, uint32_t node, uint32_t value)
{
	uint32_t cnt = 0;

	for (;; cnt++) {
		const struct filter_ir_node *n = &b->to->nodes[node];
		bool taken;

		if (n->f == FILTER_IR_NONE)
			return cnt;
		switch (BPF_OP(n->code)) {
		case BPF_JEQ:
			taken = value == n->k;
			break;
		case BPF_JGT:
			taken = value > n->k;
			break;
		default:
			taken = value & n->k;
		}
		node = taken ? n->t : n->f;
	}
}

/* What tests cost: those of them that are new, and those that are executed. */
static double cost_of(const struct builder *b, const struct choice_node *n, uint32_t root,
		      uint32_t before)
{
	double cost = FILTER_SIZE_COST * (b->to->cnt - before);

	for (uint32_t i = 0; i < n->cnt; i++) {
		double flow = b->opts->flow[n->first + i];

		if (flow > 0)
			cost += flow * tests_for(b, root, b->c->segs[n->first + i].lo);
	}
	return cost;
}

/* A trade between the number of tests and how many are executed. */
static uint32_t build_weighted(struct builder *b, const struct choice_node *n)
{
	uint32_t root = FILTER_IR_NONE, before = b->to->cnt, *targets;
	const struct filter_plan *plan =
		plan_values(b, n, &b->opts->flow[n->first], FILTER_SIZE_COST, &targets);

	if (plan) {
		root = build_on(b, n, UINT32_MAX);
		if (root == FILTER_IR_NONE ||
		    cost_of(b, n, root, before) > filter_plan_cost(plan))
			root = filter_plan_emit(plan, targets, plan_test, b->to);
	}
	free(targets);
	return root;
}

/* The tests behind the load of a word. */
static uint32_t build_tests(struct builder *b, const struct choice_node *n)
{
	uint32_t root = b->opts->flow ? build_weighted(b, n) : build_shortest(b, n);

	if (root == FILTER_IR_NONE)
		b->to->failed = true;
	return root;
}

static uint32_t build(struct builder *b, uint32_t node)
{
	const struct choice_node *n = &b->c->nodes[node];
	const struct choice_seg *segs = &b->c->segs[n->first];
	struct choice_var var;
	uint32_t tests;

	if (n->var == CHOICE_LEAF)
		return filter_ir_return(b->to, n->value);
	var = b->c->vars[n->var];
	if (var.mask != UINT32_MAX && n->cnt == 2 && segs[1].lo == 1)
		return filter_ir_load(b->to, var.offset,
				      filter_ir_test(b->to, BPF_JSET, var.mask, b->made[segs[1].to],
						     b->made[segs[0].to]));
	tests = build_tests(b, n);
	b->tests[node] = tests;
	b->built[b->built_cnt++] = node;
	if (var.mask != UINT32_MAX)
		tests = filter_ir_make(b->to, BPF_ALU | BPF_AND | BPF_K, var.mask, tests,
				       FILTER_IR_NONE);
	return filter_ir_load(b->to, var.offset, tests);
}

/* Lists what the root leads to; nodes come after those that they lead to. */
static uint32_t list_nodes(const struct choices *c, uint32_t *made, uint32_t *list)
{
	uint32_t cnt = 0;

	made[c->root] = 0;
	for (uint32_t i = c->root + 1; i--;) {
		const struct choice_node *n = &c->nodes[i];

		if (made[i] == FILTER_IR_NONE)
			continue;
		list[cnt++] = i;
		for (uint32_t j = 0; j < n->cnt; j++)
			made[c->segs[n->first + j].to] = 0;
	}
	return cnt;
}

static uint32_t rank_of(const struct choices *c, uint32_t node)
{
	uint32_t var = c->nodes[node].var;

	return var == CHOICE_LEAF ? UINT32_MAX : c->vars[var].rank;
}

/* Words that are asked last come first; of those that ask for the same the ones that ask less. */
static int by_rank(const void *a, const void *b, void *arg)
{
	const struct choices *c = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (rank_of(c, x) != rank_of(c, y))
		return rank_of(c, x) > rank_of(c, y) ? -1 : 1;
	if (c->nodes[x].cnt != c->nodes[y].cnt)
		return c->nodes[x].cnt < c->nodes[y].cnt ? -1 : 1;
	return x < y ? -1 : x > y;
}

int filter_synth(const struct choices *c, const struct filter_synth_opts *opts,
		 struct filter_ir *to)
{
	struct builder b = { .c = c, .opts = opts, .to = to };
	uint32_t *list = malloc(c->cnt * sizeof(*list)), cnt;
	int err = filter_ir_init(to, 2 * c->seg_cnt);

	b.made = malloc(c->cnt * sizeof(*b.made));
	b.tests = malloc(c->cnt * sizeof(*b.tests));
	b.built = malloc(c->cnt * sizeof(*b.built));
	if (!err && (!list || !b.made || !b.tests || !b.built))
		err = -ENOMEM;
	if (!err) {
		b.numbers = number_node(c, &b.arch);
		memset(b.made, 0xff, c->cnt * sizeof(*b.made));
		cnt = list_nodes(c, b.made, list);
		qsort_r(list, cnt, sizeof(*list), by_rank, (void *)(uintptr_t)c);
		for (uint32_t i = 0; i < cnt && !to->failed; i++)
			b.made[list[i]] = build(&b, list[i]);
		to->entry = b.made[c->root];
		err = to->failed ? -ENOMEM : 0;
	}
	if (err)
		filter_ir_finish(to);
	free(list);
	free(b.made);
	free(b.tests);
	free(b.built);
	return err;
}
