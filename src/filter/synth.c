// SPDX-License-Identifier: GPL-2.0-only
#include "filter/synth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/tree.h"

/* Cells wider than this are not looked at number by number. */
enum { WIDE = 64 };

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

int filter_weights_guess(const struct choices *c, const struct filter_ir *ir,
			 struct filter_weights *out)
{
	uint32_t arch, most, cnt = 0;
	const struct choice_node *n = number_node(c, &arch);

	*out = (struct filter_weights){ 0 };
	if (!n)
		return 0;
	most = usual(c, n);
	for (uint32_t i = 0; i < n->cnt; i++)
		cnt += seg_end(c, n, i) - c->segs[n->first + i].lo <= WIDE ? WIDE : 0;
	out->rows = malloc((cnt + 1) * sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n->cnt; i++) {
		uint64_t lo = c->segs[n->first + i].lo, end = seg_end(c, n, i);

		if (end - lo > WIDE || c->segs[n->first + i].to == most)
			continue;
		for (uint64_t nr = lo; nr < end; nr++) {
			double weight = 1;

			for (uint32_t d = depth_of(ir, arch, (uint32_t)nr); d > 1; d -= 2)
				weight /= 2;
			out->rows[out->cnt++] = (struct filter_weight){ (uint32_t)nr, weight };
		}
	}
	return 0;
}

/* ---- building ----------------------------------------------------------------------------- */

struct builder {
	const struct choices *c;
	const struct filter_weights *weights;
	uint32_t spare;
	struct filter_ir *to;
	uint32_t *made;	 /* by node of choices: node of the graph */
	uint32_t *tests; /* and the one behind its load */
	uint32_t *built; /* nodes of choices whose tests were built */
	uint32_t built_cnt;
};

static double weight_between(const struct filter_weights *w, uint64_t lo, uint64_t end)
{
	uint32_t low = 0, high = w->cnt;
	double sum = 0;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w->rows[mid].nr < lo)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < w->cnt && w->rows[low].nr < end; low++)
		sum += w->rows[low].weight;
	return sum;
}

static double total_of(const struct filter_weights *w)
{
	double sum = 0;

	for (uint32_t i = 0; i < w->cnt; i++)
		sum += w->rows[i].weight;
	return sum;
}

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

/* The tests behind the load of a word. */
static uint32_t build_tests(struct builder *b, const struct choice_node *n)
{
	bool by_number = is_var(b->c, n, FILTER_WORD_NR);
	struct filter_tree_cell *cells = malloc(n->cnt * sizeof(*cells));
	/* What nobody asks for weighs a little. */
	double least = by_number ? total_of(b->weights) / (64.0 * n->cnt) + 1e-300 : 1;
	uint32_t root = FILTER_IR_NONE;

	if (cells) {
		for (uint32_t i = 0; i < n->cnt; i++) {
			struct choice_seg seg = b->c->segs[n->first + i];
			double weight = least;

			if (by_number)
				weight += weight_between(b->weights, seg.lo, seg_end(b->c, n, i));
			cells[i] = (struct filter_tree_cell){ seg.lo, b->made[seg.to], weight };
		}
		root = build_on(b, n, filter_tree_cost(cells, n->cnt));
		if (root == FILTER_IR_NONE)
			root = filter_tree(b->to, cells, n->cnt, by_number ? b->spare : 0);
	}
	free(cells);
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

int filter_synth(const struct choices *c, const struct filter_weights *weights, uint32_t spare,
		 struct filter_ir *to)
{
	struct builder b = { .c = c, .weights = weights, .spare = spare, .to = to };
	uint32_t *list = malloc(c->cnt * sizeof(*list)), cnt;
	int err = filter_ir_init(to, 2 * c->seg_cnt);

	b.made = malloc(c->cnt * sizeof(*b.made));
	b.tests = malloc(c->cnt * sizeof(*b.tests));
	b.built = malloc(c->cnt * sizeof(*b.built));
	if (!err && (!list || !b.made || !b.tests || !b.built))
		err = -ENOMEM;
	if (!err) {
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
