// SPDX-License-Identifier: GPL-2.0-only
/*
 * After the columns are assigned: what could not be aligned with the block above it stands anywhere
 * between its neighbours. It is moved, with all that hangs on it alone, to where its edge comes
 * from, as far as there is room.
 */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdlib.h>

#define ROUNDS 3
/* Blocks and lines that are off by less stay: they are where the alignment wants them. */
#define TOLERANCE 6
/* Nodes looked at in all, for each node that there is. */
#define EFFORT 60

struct settler {
	struct lay_graph *g;
	uint32_t *body; /* nodes that move together */
	uint32_t cnt;
	uint32_t *member;  /* by node: number of the body that it was last in */
	uint32_t *seen;	   /* by node: segments that come from that body */
	uint32_t *seen_in; /* by node: the body for which seen counts */
	uint32_t number;
	uint64_t effort;
};

static int64_t column(const struct lay_graph *g, uint32_t n)
{
	return g->nodes[n].x + lay_anchor(g, &g->nodes[n]);
}

static int64_t upper_end(const struct lay_graph *g, const struct lay_seg *seg)
{
	const struct lay_node *top = &g->nodes[seg->top];

	return top->type == LAY_BLOCK ? top->x + lay_port_offset(top->w, seg->port)
				      : column(g, seg->top);
}

/* The columns between which the edges come from above; from blocks only, if any do. */
static void upper_range(const struct lay_graph *g, const struct lay_node *node, int64_t *low,
			int64_t *high)
{
	bool blocks = false;

	for (uint32_t i = 0; i < node->up_cnt; i++) {
		const struct lay_seg *seg = &g->segs[g->up_segs[node->up_first + i]];
		bool block = g->nodes[seg->top].type == LAY_BLOCK;
		int64_t from = upper_end(g, seg);

		if (blocks && !block)
			continue;
		if (!i || block > blocks)
			*low = *high = from;
		blocks = block;
		*low = from < *low ? from : *low;
		*high = from > *high ? from : *high;
	}
}

/* How far the node is from where it should be. */
static int64_t wanted_shift(const struct lay_graph *g, uint32_t n)
{
	const struct lay_node *node = &g->nodes[n];
	int64_t from = 0, to = 0, low = node->x, high = node->x + (node->w ? node->w - 1 : 0);

	if (!node->up_cnt) {
		/* the upper end of an edge that goes up: beside its block */
		const struct lay_node *block;

		if (node->beside == LOUPE_CFG_NONE)
			return 0;
		block = &g->nodes[node->beside];
		from = block->pos > node->pos ? block->x - 2 : block->x + block->w + 1;
		return from - node->x;
	}
	upper_range(g, node, &from, &to);
	if (node->type == LAY_LABEL)
		return from - column(g, n);
	if (to < low - TOLERANCE)
		return to - low;
	return from > high + TOLERANCE ? from - high : 0;
}

static void add_member(struct settler *s, uint32_t n)
{
	s->member[n] = s->number;
	s->body[s->cnt++] = n;
}

/* The node, and what is reached from above only through it. */
static void collect_body(struct settler *s, uint32_t first)
{
	const struct lay_graph *g = s->g;

	s->number++;
	s->cnt = 0;
	add_member(s, first);
	for (uint32_t i = 0; i < s->cnt; i++) {
		const struct lay_node *node = &g->nodes[s->body[i]];

		for (uint32_t k = 0; k < node->down_cnt; k++) {
			uint32_t to = g->segs[node->down[k]].bottom;

			if (s->seen_in[to] != s->number) {
				s->seen_in[to] = s->number;
				s->seen[to] = 0;
			}
			if (++s->seen[to] == g->nodes[to].up_cnt)
				add_member(s, to);
		}
	}
	s->effort += s->cnt;
}

/* The shift cut down to what the neighbours of the body leave. */
static int64_t possible_shift(const struct settler *s, int64_t shift)
{
	const struct lay_graph *g = s->g;

	for (uint32_t i = 0; i < s->cnt && shift; i++) {
		uint32_t n = s->body[i], other;
		const struct lay_node *node = &g->nodes[n];
		uint32_t first = g->layer_first[node->layer];
		uint32_t last = g->layer_first[node->layer + 1] - 1;
		int64_t room;

		if (shift < 0) {
			if (!node->pos)
				continue;
			other = g->slots[first + node->pos - 1];
			if (s->member[other] == s->number)
				continue;
			room = column(g, n) - column(g, other) - lay_separation(g, other, n);
			shift = -shift > room ? -room : shift;
		} else {
			if (first + node->pos == last)
				continue;
			other = g->slots[first + node->pos + 1];
			if (s->member[other] == s->number)
				continue;
			room = column(g, other) - column(g, n) - lay_separation(g, n, other);
			shift = shift > room ? room : shift;
		}
	}
	return shift;
}

static void settle_node(struct settler *s, uint32_t n, bool to_left)
{
	int64_t shift = wanted_shift(s->g, n);

	if (!shift || (shift < 0) != to_left)
		return;
	collect_body(s, n);
	shift = possible_shift(s, shift);
	for (uint32_t i = 0; i < s->cnt && shift; i++)
		s->g->nodes[s->body[i]].x += (int32_t)shift;
}

/* Left ones first where the way goes left, so that each makes room for the next. */
static int settle(struct settler *s)
{
	struct lay_graph *g = s->g;
	uint64_t limit = (uint64_t)EFFORT * g->node_cnt;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t layer = 0; layer < g->layer_cnt && s->effort < limit; layer++) {
			uint32_t first = g->layer_first[layer], end = g->layer_first[layer + 1];

			if (!(layer & 63) && lay_cancelled(g))
				return -ECANCELED;
			for (uint32_t i = first; i < end; i++)
				settle_node(s, g->slots[i], true);
			for (uint32_t i = end; i-- > first;)
				settle_node(s, g->slots[i], false);
		}
	}
	return 0;
}

static void measure(struct lay_graph *g)
{
	int32_t left = INT32_MAX;

	for (uint32_t n = 0; n < g->node_cnt; n++)
		left = g->nodes[n].x < left ? g->nodes[n].x : left;
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		struct lay_node *node = &g->nodes[n];
		int32_t end;

		node->x -= left;
		end = node->x + (node->w ? node->w : 1);
		g->w = end > g->w ? end : g->w;
	}
}

int lay_settle(struct lay_graph *g)
{
	struct settler s = { .g = g };
	size_t cnt = g->node_cnt;
	int ret;

	s.body = malloc(cnt * sizeof(*s.body));
	s.member = calloc(3 * cnt, sizeof(*s.member));
	if (!s.body || !s.member) {
		free(s.body);
		free(s.member);
		return -ENOMEM;
	}
	s.seen = s.member + cnt;
	s.seen_in = s.seen + cnt;
	ret = settle(&s);
	measure(g);
	free(s.body);
	free(s.member);
	return ret;
}
