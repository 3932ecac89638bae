// SPDX-License-Identifier: GPL-2.0-only
/*
 * First stage of the layout: edges that go upwards, edges that are cut, layers, dummies. After
 * K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system
 * structures", IEEE SMC 11(2), 1981, with longest-path layers.
 */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A loop's own edge is worth more than a jump over the same distance. */
#define UPWARD_SPAN_FACTOR 4
/* Two corners, two ports and a cell between them. */
#define MIN_WIDTH 5
/* Some gigabytes of them; only pictures in which nothing is cut need more. */
#define MAX_NODES (1u << 25)
/* Cutting moves blocks up, which makes other edges long. */
#define CUT_ROUNDS 16

struct layering {
	struct lay_graph *g;
	uint32_t *order;   /* block nodes, a reverse postorder */
	uint32_t *place;   /* by block node: in order */
	uint32_t *in_cnt;  /* by block node: downward edges that enter and are not cut */
	uint32_t *nearest; /* by block node: the entering downward edge that is never cut */
};

static uint8_t port_of(const struct loupe_cfg *cfg, uint32_t edge)
{
	const struct loupe_block *from = &cfg->blocks[cfg->edges[edge].from];

	if (from->succ_cnt < 2)
		return LAY_MIDDLE;
	return edge == from->succ ? LAY_LEFT : LAY_RIGHT;
}

static int collect(struct lay_graph *g)
{
	const struct loupe_cfg *cfg = g->cfg;
	uint32_t edges = 0, n = 0;

	for (uint32_t b = 0; b < cfg->block_cnt; b++) {
		if (g->piece_of[b] != g->piece)
			continue;
		g->block_cnt++;
		edges += cfg->blocks[b].succ_cnt;
	}
	g->edges = calloc(edges ? edges : 1, sizeof(*g->edges));
	g->out = calloc((size_t)g->block_cnt + 1, sizeof(*g->out));
	g->cut_in = calloc(g->block_cnt, sizeof(*g->cut_in));
	g->nodes = calloc(g->block_cnt, sizeof(*g->nodes));
	if (!g->edges || !g->out || !g->cut_in || !g->nodes)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_cnt; b++) {
		if (g->piece_of[b] != g->piece)
			continue;
		g->node_of[b] = n;
		g->nodes[n++] = (struct lay_node){
			.block = b,
			.edge = LOUPE_CFG_NONE,
			.beside = LOUPE_CFG_NONE,
			.type = LAY_BLOCK,
			.w = g->sizes[b].w + 2 > MIN_WIDTH ? g->sizes[b].w + 2 : MIN_WIDTH,
			.h = g->sizes[b].h + 2,
		};
	}
	g->node_cnt = g->block_cnt;
	for (n = 0; n < g->block_cnt; n++) {
		const struct loupe_block *block = &cfg->blocks[g->nodes[n].block];

		g->out[n] = g->edge_cnt;
		for (uint32_t e = block->succ; e < block->succ + block->succ_cnt; e++) {
			uint32_t to = cfg->edges[e].to;
			bool other = g->piece_of[to] != g->piece;

			g->edges[g->edge_cnt++] = (struct lay_edge){
				.edge = e,
				.from = n,
				.to = other ? LOUPE_CFG_NONE : g->node_of[to],
				.port = port_of(cfg, e),
				.cut = other,
				.to_other = other,
			};
		}
	}
	g->out[n] = g->edge_cnt;
	return 0;
}

/* Walks what root leads to; end is the first place in the order that is taken. */
static uint32_t walk_from(struct layering *l, uint32_t root, uint32_t *stack, uint32_t *next,
			  uint32_t end)
{
	struct lay_graph *g = l->g;
	uint32_t depth = 0;

	stack[depth++] = root;
	next[root] = g->out[root];
	while (depth) {
		uint32_t n = stack[depth - 1];

		if (next[n] < g->out[n + 1]) {
			const struct lay_edge *edge = &g->edges[next[n]++];

			if (!edge->to_other && next[edge->to] == LOUPE_CFG_NONE) {
				next[edge->to] = g->out[edge->to];
				stack[depth++] = edge->to;
			}
			continue;
		}
		l->order[--end] = n;
		l->place[n] = end;
		depth--;
	}
	return end;
}

static bool is_entered(const struct lay_graph *g, uint32_t n)
{
	const struct loupe_block *block = &g->cfg->blocks[g->nodes[n].block];

	for (uint32_t i = 0; i < block->pred_cnt; i++) {
		uint32_t from = g->cfg->edges[g->cfg->preds[block->pred + i]].from;

		if (g->piece_of[from] == g->piece)
			return true;
	}
	return false;
}

/* Depth first; false sides come first in the order, as in the program. The first block is walked
 * before cycles that nothing leads into, which only code that is never reached can have. */
static int walk(struct layering *l)
{
	struct lay_graph *g = l->g;
	uint32_t *stack = malloc(2 * (size_t)g->block_cnt * sizeof(*stack));
	uint32_t *next = stack ? stack + g->block_cnt : NULL;
	uint32_t end = g->block_cnt;

	if (!stack)
		return -ENOMEM;
	for (uint32_t n = 0; n < g->block_cnt; n++)
		next[n] = LOUPE_CFG_NONE;
	for (uint32_t n = g->block_cnt; n-- > 0;) {
		if ((n == 0 || !is_entered(g, n)) && next[n] == LOUPE_CFG_NONE)
			end = walk_from(l, n, stack, next, end);
	}
	for (uint32_t n = 0; n < g->block_cnt; n++) {
		if (next[n] == LOUPE_CFG_NONE)
			end = walk_from(l, n, stack, next, end);
	}
	free(stack);
	/* what stood on the path when the edge was looked at comes before in the order */
	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		struct lay_edge *edge = &g->edges[e];

		edge->upwards = !edge->to_other && l->place[edge->to] <= l->place[edge->from];
	}
	return 0;
}

static uint32_t span(const struct lay_graph *g, const struct lay_edge *edge)
{
	uint32_t from = g->nodes[edge->from].layer, to = g->nodes[edge->to].layer;

	return from < to ? to - from : from - to;
}

static void assign_layers(struct layering *l)
{
	struct lay_graph *g = l->g;

	for (uint32_t n = 0; n < g->block_cnt; n++) {
		g->nodes[n].layer = 0;
		l->in_cnt[n] = 0;
		l->nearest[n] = LOUPE_CFG_NONE;
	}
	for (uint32_t i = 0; i < g->block_cnt; i++) {
		uint32_t n = l->order[i];

		for (uint32_t e = g->out[n]; e < g->out[n + 1]; e++) {
			const struct lay_edge *edge = &g->edges[e];

			if (edge->cut || edge->upwards)
				continue;
			l->in_cnt[edge->to]++;
			if (g->nodes[edge->to].layer <= g->nodes[n].layer) {
				g->nodes[edge->to].layer = g->nodes[n].layer + 1;
				l->nearest[edge->to] = e;
			}
		}
	}
}

/* Cuts what is too long or comes from afar to a block with many entries. The edge that decides a
 * block's layer stays, so that every block keeps hanging on the first one. */
static bool cut(struct layering *l)
{
	struct lay_graph *g = l->g;
	bool any = false;

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		struct lay_edge *edge = &g->edges[e];
		uint32_t limit = g->opts->max_span;

		if (edge->cut)
			continue;
		if (edge->upwards)
			limit = limit < UINT32_MAX / UPWARD_SPAN_FACTOR ? limit * UPWARD_SPAN_FACTOR
									: UINT32_MAX;
		else if (l->nearest[edge->to] == e)
			continue;
		if (g->far[edge->edge] || span(g, edge) > limit ||
		    (!edge->upwards && span(g, edge) > 1 &&
		     l->in_cnt[edge->to] > g->opts->max_preds)) {
			edge->cut = true;
			any = true;
		}
	}
	return any;
}

/* Moves a block down when more of its edges get shorter than longer. */
static void pull_down(struct layering *l)
{
	struct lay_graph *g = l->g;

	for (uint32_t i = g->block_cnt; i-- > 0;) {
		uint32_t n = l->order[i], down = 0, lowest = UINT32_MAX;

		for (uint32_t e = g->out[n]; e < g->out[n + 1]; e++) {
			const struct lay_edge *edge = &g->edges[e];

			if (edge->cut || edge->upwards)
				continue;
			down++;
			if (g->nodes[edge->to].layer < lowest)
				lowest = g->nodes[edge->to].layer;
		}
		if (down > l->in_cnt[n] && l->in_cnt[n] && lowest - 1 > g->nodes[n].layer)
			g->nodes[n].layer = lowest - 1;
	}
}

void lay_label_text(const struct lay_graph *g, uint32_t block, bool upwards, char *buf, size_t size)
{
	const struct loupe_block_content *content = g->opts->content;
	int n = snprintf(buf, size, "%s", upwards ? "↑" : "→");

	if (content && content->label)
		content->label(content->data, block, buf + n, size - (size_t)n);
	else
		snprintf(buf + n, size - (size_t)n, "%u", g->cfg->blocks[block].first);
}

int32_t lay_mark_width(const struct lay_graph *g, uint32_t node)
{
	int32_t w = 1;

	for (uint32_t cnt = g->cut_in[node]; cnt; cnt /= 10)
		w++;
	return w == 1 ? 0 : w;
}

static uint32_t add_node(struct lay_graph *g, uint8_t type, uint32_t edge, uint32_t layer)
{
	g->nodes[g->node_cnt] = (struct lay_node){
		.block = LOUPE_CFG_NONE,
		.edge = edge,
		.layer = layer,
		.beside = LOUPE_CFG_NONE,
		.type = type,
	};
	return g->node_cnt++;
}

static void add_seg(struct lay_graph *g, uint32_t top, uint32_t bottom, uint32_t edge)
{
	struct lay_node *node = &g->nodes[top];

	node->down[node->down_cnt++] = g->seg_cnt;
	g->nodes[bottom].up_cnt++;
	g->segs[g->seg_cnt++] = (struct lay_seg){
		.top = top,
		.bottom = bottom,
		.edge = edge,
		.port = node->type == LAY_BLOCK ? g->edges[edge].port : LAY_MIDDLE,
	};
}

static void expand_edge(struct lay_graph *g, uint32_t e)
{
	struct lay_edge *edge = &g->edges[e];
	uint32_t from = g->nodes[edge->from].layer, to, node, above;
	char text[sizeof(((struct loupe_label *)0)->text)];

	edge->dummy = g->node_cnt;
	if (edge->cut) {
		uint32_t target = g->cfg->edges[edge->edge].to;

		edge->to = add_node(g, LAY_LABEL, e, from + 1);
		g->nodes[edge->to].block = target;
		lay_label_text(g, target, edge->upwards, text, sizeof(text));
		g->nodes[edge->to].w = loupe_text_columns(text);
		g->nodes[edge->to].h = 1;
		add_seg(g, edge->from, edge->to, e);
		return;
	}
	to = g->nodes[edge->to].layer;
	if (edge->upwards) {
		for (uint32_t layer = to; layer <= from; layer++) {
			node = add_node(g, LAY_DUMMY, e, layer);
			if (layer > to)
				add_seg(g, node - 1, node, e);
		}
		edge->dummy_cnt = g->node_cnt - edge->dummy;
		g->nodes[edge->dummy].beside = edge->to;
		if (from != to)
			g->nodes[g->node_cnt - 1].beside = edge->from;
		return;
	}
	above = edge->from;
	for (uint32_t layer = from + 1; layer < to; layer++) {
		node = add_node(g, LAY_DUMMY, e, layer);
		add_seg(g, above, node, e);
		above = node;
	}
	edge->dummy_cnt = g->node_cnt - edge->dummy;
	add_seg(g, above, edge->to, e);
}

/* Adds dummies and labels, and links all nodes by segments between adjacent layers. */
static int expand(struct lay_graph *g)
{
	size_t nodes = g->block_cnt, segs = 0;
	uint32_t next = 0;
	void *p;

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		const struct lay_edge *edge = &g->edges[e];
		uint32_t s = edge->cut ? 1 : span(g, edge);

		nodes += edge->cut ? 1 : edge->upwards ? s + 1 : s - 1;
		segs += s;
	}
	if (nodes > MAX_NODES || segs > MAX_NODES)
		return -E2BIG;
	p = realloc(g->nodes, nodes * sizeof(*g->nodes));
	if (!p)
		return -ENOMEM;
	g->nodes = p;
	g->segs = calloc(segs ? segs : 1, sizeof(*g->segs));
	g->up_segs = calloc(segs ? segs : 1, sizeof(*g->up_segs));
	if (!g->segs || !g->up_segs)
		return -ENOMEM;
	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		if (g->edges[e].cut && !g->edges[e].to_other)
			g->cut_in[g->edges[e].to]++;
		expand_edge(g, e);
	}
	for (uint32_t n = 0; n < g->block_cnt; n++) {
		int32_t mark = lay_mark_width(g, n), least = MIN_WIDTH + (mark ? mark + 1 : 0);

		g->nodes[n].w = g->nodes[n].w < least ? least : g->nodes[n].w;
	}
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		g->nodes[n].up_first = next;
		next += g->nodes[n].up_cnt;
		g->nodes[n].up_cnt = 0;
	}
	for (uint32_t s = 0; s < g->seg_cnt; s++) {
		struct lay_node *node = &g->nodes[g->segs[s].bottom];

		g->up_segs[node->up_first + node->up_cnt++] = s;
	}
	return 0;
}

static int make_layers(struct lay_graph *g)
{
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		if (g->nodes[n].layer >= g->layer_cnt)
			g->layer_cnt = g->nodes[n].layer + 1;
	}
	g->layer_first = calloc((size_t)g->layer_cnt + 1, sizeof(*g->layer_first));
	g->slots = malloc(g->node_cnt * sizeof(*g->slots));
	if (!g->layer_first || !g->slots)
		return -ENOMEM;
	for (uint32_t n = 0; n < g->node_cnt; n++)
		g->layer_first[g->nodes[n].layer + 1]++;
	for (uint32_t i = 0; i < g->layer_cnt; i++)
		g->layer_first[i + 1] += g->layer_first[i];
	return 0;
}

int lay_layers(struct lay_graph *g)
{
	struct layering l = { .g = g };
	int ret = collect(g);

	if (ret)
		return ret;
	l.order = malloc(4 * (size_t)g->block_cnt * sizeof(*l.order));
	if (!l.order)
		return -ENOMEM;
	l.place = l.order + g->block_cnt;
	l.in_cnt = l.place + g->block_cnt;
	l.nearest = l.in_cnt + g->block_cnt;
	ret = walk(&l);
	if (!ret) {
		assign_layers(&l);
		for (uint32_t i = 0; i < CUT_ROUNDS && cut(&l); i++)
			assign_layers(&l);
		pull_down(&l);
		ret = lay_cancelled(g) ? -ECANCELED : expand(g);
	}
	free(l.order);
	return ret ? ret : make_layers(g);
}

void lay_graph_finish(struct lay_graph *g)
{
	free(g->nodes);
	free(g->edges);
	free(g->out);
	free(g->segs);
	free(g->up_segs);
	free(g->cut_in);
	free(g->layer_first);
	free(g->slots);
	free(g->points);
	free(g->route_first);
	*g = (struct lay_graph){ 0 };
}
