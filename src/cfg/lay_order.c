// SPDX-License-Identifier: GPL-2.0-only
/*
 * Second stage of the layout: left to right within the layers. Barycentre sweeps down and up (see
 * lay_layers.c for the source); crossings are counted as in W. Barth, M. Jünger and P. Mutzel,
 * "Simple and efficient bilayer cross counting", GD 2002. A condition's true side counts as left
 * of its false side.
 */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SWEEPS    16
#define MAX_IDLE      4	    /* sweeps without gain */
#define LARGE	      20000 /* nodes; from here on, fewer sweeps */
#define LARGE_SWEEPS  6
#define MAX_EXCHANGES 8	   /* rounds of exchanging neighbours */
#define MAX_PAIRS     4096 /* of edges that are compared for an exchange */

struct key {
	uint64_t value;
	uint32_t node;
};

struct ordering {
	struct lay_graph *g;
	uint64_t *bary;	  /* by node; 16 fractional bits over four times the position */
	struct key *keys; /* for a layer, twice */
	uint32_t *tree;	  /* accumulator tree of the crossing count */
	uint32_t *best;	  /* slots of the best order so far */
};

#define FRACTION 16

static uint32_t layer_size(const struct lay_graph *g, uint32_t layer)
{
	return g->layer_first[layer + 1] - g->layer_first[layer];
}

static void set_positions(struct lay_graph *g)
{
	for (uint32_t layer = 0; layer < g->layer_cnt; layer++) {
		for (uint32_t s = g->layer_first[layer]; s < g->layer_first[layer + 1]; s++)
			g->nodes[g->slots[s]].pos = s - g->layer_first[layer];
	}
}

/* ---- first order: depth first, true sides to the left ------------------------------------- */

static void place(struct lay_graph *g, uint32_t n)
{
	struct lay_node *node = &g->nodes[n];

	g->slots[g->layer_first[node->layer] + node->pos] = n;
}

/* The first segment's layer is walked after the node is placed; pos is NONE until then. */
static int first_order(struct lay_graph *g)
{
	uint32_t *used = calloc(g->layer_cnt, sizeof(*used));
	uint32_t *stack = malloc((size_t)g->node_cnt * 2 * sizeof(*stack));
	uint32_t *chain = malloc((size_t)g->block_cnt * sizeof(*chain));
	uint32_t *chain_next = malloc((size_t)(g->edge_cnt + 1) * sizeof(*chain_next));
	int ret = -ENOMEM;

	if (!used || !stack || !chain || !chain_next)
		goto out;
	/* upward edges by the block that they enter */
	for (uint32_t n = 0; n < g->block_cnt; n++)
		chain[n] = LOUPE_CFG_NONE;
	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		const struct lay_edge *edge = &g->edges[e];

		if (!edge->upwards || edge->cut)
			continue;
		chain_next[e] = chain[edge->to];
		chain[edge->to] = e;
	}
	for (uint32_t n = 0; n < g->node_cnt; n++)
		g->nodes[n].pos = LOUPE_CFG_NONE;
	for (uint32_t root = 0; root < g->node_cnt; root++) {
		uint32_t depth = 0;

		if (g->nodes[root].up_cnt || g->nodes[root].type != LAY_BLOCK)
			continue;
		stack[depth++] = root;
		while (depth) {
			uint32_t n = stack[--depth];
			struct lay_node *node = &g->nodes[n];

			if (node->pos != LOUPE_CFG_NONE)
				continue;
			/* the loop's edge goes up at the left of its blocks */
			for (uint32_t e = node->type == LAY_BLOCK ? chain[n] : LOUPE_CFG_NONE;
			     e != LOUPE_CFG_NONE; e = chain_next[e]) {
				for (uint32_t i = 0; i < g->edges[e].dummy_cnt; i++) {
					uint32_t d = g->edges[e].dummy + i;

					g->nodes[d].pos = used[g->nodes[d].layer]++;
					place(g, d);
				}
			}
			node->pos = used[node->layer]++;
			place(g, n);
			for (uint32_t i = node->down_cnt; i-- > 0;) {
				uint32_t to = g->segs[node->down[i]].bottom;

				if (g->nodes[to].pos == LOUPE_CFG_NONE)
					stack[depth++] = to;
			}
		}
	}
	ret = 0;
out:
	free(used);
	free(stack);
	free(chain);
	free(chain_next);
	return ret;
}

/* ---- crossings ---------------------------------------------------------------------------- */

/* Between a layer and the one below it. */
static uint64_t crossings_below(struct ordering *o, uint32_t layer)
{
	const struct lay_graph *g = o->g;
	uint32_t cnt = layer_size(g, layer + 1), leaves = 1, total = 0;
	uint64_t crossings = 0;

	while (leaves < cnt)
		leaves *= 2;
	memset(o->tree, 0, 2 * (size_t)leaves * sizeof(*o->tree));
	for (uint32_t s = g->layer_first[layer]; s < g->layer_first[layer + 1]; s++) {
		const struct lay_node *node = &g->nodes[g->slots[s]];

		for (uint32_t i = 0; i < node->down_cnt; i++) {
			uint32_t at = leaves + g->nodes[g->segs[node->down[i]].bottom].pos;

			/* those that came before and end further right */
			for (uint32_t t = at; t > 1; t /= 2) {
				if (!(t & 1))
					crossings += o->tree[t + 1];
				o->tree[t]++;
			}
			total++;
		}
	}
	return total ? crossings : 0;
}

static uint64_t count_crossings(struct ordering *o)
{
	uint64_t crossings = 0;

	for (uint32_t layer = 0; layer + 1 < o->g->layer_cnt; layer++)
		crossings += crossings_below(o, layer);
	return crossings;
}

/* ---- sweeps ------------------------------------------------------------------------------- */

static uint64_t scaled(uint32_t pos, uint32_t quarter)
{
	return (4 * (uint64_t)pos + quarter) << FRACTION;
}

/* Mean position of the neighbours in the layer above or below, own position without any. */
static uint64_t barycentre(const struct lay_graph *g, uint32_t n, bool from_above)
{
	const struct lay_node *node = &g->nodes[n];
	uint32_t cnt = from_above ? node->up_cnt : node->down_cnt;
	uint64_t sum = 0;

	if (!cnt)
		return scaled(node->pos, LAY_MIDDLE);
	for (uint32_t i = 0; i < cnt; i++) {
		if (from_above) {
			const struct lay_seg *seg = &g->segs[g->up_segs[node->up_first + i]];

			sum += scaled(g->nodes[seg->top].pos, seg->port);
		} else {
			const struct lay_seg *seg = &g->segs[node->down[i]];

			sum += scaled(g->nodes[seg->bottom].pos, LAY_MIDDLE);
		}
	}
	return sum / cnt;
}

/* Stable, so that equal keys keep their order. */
static void sort_keys(struct key *keys, struct key *spare, uint32_t cnt)
{
	if (cnt <= 12) {
		for (uint32_t i = 1; i < cnt; i++) {
			struct key key = keys[i];
			uint32_t j = i;

			for (; j > 0 && keys[j - 1].value > key.value; j--)
				keys[j] = keys[j - 1];
			keys[j] = key;
		}
		return;
	}
	sort_keys(keys, spare, cnt / 2);
	sort_keys(keys + cnt / 2, spare, cnt - cnt / 2);
	memcpy(spare, keys, cnt * sizeof(*keys));
	for (uint32_t i = 0, a = 0, b = cnt / 2; i < cnt; i++) {
		if (b == cnt || (a < cnt / 2 && spare[a].value <= spare[b].value))
			keys[i] = spare[a++];
		else
			keys[i] = spare[b++];
	}
}

/* Blocks that have a partner in the previous picture share out the slots that they hold in the
 * order of their partners. */
static void keep_previous(struct ordering *o, uint32_t layer)
{
	struct lay_graph *g = o->g;
	struct key *keys = o->keys;
	uint32_t cnt = 0, next = 0;

	for (uint32_t s = g->layer_first[layer]; s < g->layer_first[layer + 1]; s++) {
		const struct lay_node *node = &g->nodes[g->slots[s]];

		if (node->type == LAY_BLOCK && g->prev_rank[node->block] >= 0)
			keys[cnt++] =
				(struct key){ (uint64_t)g->prev_rank[node->block], g->slots[s] };
	}
	sort_keys(keys, keys + cnt, cnt);
	for (uint32_t s = g->layer_first[layer]; s < g->layer_first[layer + 1] && cnt; s++) {
		const struct lay_node *node = &g->nodes[g->slots[s]];

		if (node->type == LAY_BLOCK && g->prev_rank[node->block] >= 0)
			g->slots[s] = keys[next++].node;
	}
}

static void order_layer(struct ordering *o, uint32_t layer, bool from_above)
{
	struct lay_graph *g = o->g;
	uint32_t first = g->layer_first[layer], cnt = layer_size(g, layer);

	for (uint32_t i = 0; i < cnt; i++)
		o->bary[g->slots[first + i]] = barycentre(g, g->slots[first + i], from_above);
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t n = g->slots[first + i];
		const struct lay_node *node = &g->nodes[n];

		/* an upward edge's end has nothing on this side but the block beside it */
		if (node->beside != LOUPE_CFG_NONE && !(from_above ? node->up_cnt : node->down_cnt))
			o->bary[n] = o->bary[node->beside] - (o->bary[node->beside] ? 1 : 0);
		o->keys[i] = (struct key){ o->bary[n], n };
	}
	sort_keys(o->keys, o->keys + cnt, cnt);
	for (uint32_t i = 0; i < cnt; i++)
		g->slots[first + i] = o->keys[i].node;
	if (g->prev_rank)
		keep_previous(o, layer);
	for (uint32_t i = 0; i < cnt; i++)
		g->nodes[g->slots[first + i]].pos = i;
}

static int sweeps(struct ordering *o)
{
	struct lay_graph *g = o->g;
	uint32_t limit = g->node_cnt < LARGE ? MAX_SWEEPS : LARGE_SWEEPS, idle = 0;
	uint64_t best;

	if (g->prev_rank) {
		for (uint32_t layer = 0; layer < g->layer_cnt; layer++)
			keep_previous(o, layer);
		set_positions(g);
	}
	best = count_crossings(o);
	memcpy(o->best, g->slots, g->node_cnt * sizeof(*o->best));
	for (uint32_t sweep = 0; sweep < limit && idle < MAX_IDLE && best; sweep++) {
		uint64_t crossings;

		for (uint32_t i = 0; i < g->layer_cnt; i++) {
			bool down = !(sweep & 1);

			order_layer(o, down ? i : g->layer_cnt - 1 - i, down);
			if (!(i & 63) && lay_cancelled(g))
				return -ECANCELED;
		}
		crossings = count_crossings(o);
		idle++;
		if (crossings < best) {
			best = crossings;
			memcpy(o->best, g->slots, g->node_cnt * sizeof(*o->best));
			idle = 0;
		}
	}
	memcpy(g->slots, o->best, g->node_cnt * sizeof(*o->best));
	set_positions(g);
	return 0;
}

/* ---- exchanging neighbours ---------------------------------------------------------------- */

static uint64_t top_key(const struct lay_graph *g, uint32_t seg)
{
	return 4 * (uint64_t)g->nodes[g->segs[seg].top].pos + g->segs[seg].port;
}

/* Crossings between the segments of two nodes of a layer, a left of b, less those the other way
 * round. */
static int64_t gain(const struct lay_graph *g, const struct lay_node *a, const struct lay_node *b)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < a->up_cnt; i++) {
		uint64_t ka = top_key(g, g->up_segs[a->up_first + i]);

		for (uint32_t k = 0; k < b->up_cnt; k++) {
			uint64_t kb = top_key(g, g->up_segs[b->up_first + k]);

			sum += (ka > kb) - (ka < kb);
		}
	}
	for (uint32_t i = 0; i < a->down_cnt; i++) {
		uint32_t ka = g->nodes[g->segs[a->down[i]].bottom].pos;

		for (uint32_t k = 0; k < b->down_cnt; k++) {
			uint32_t kb = g->nodes[g->segs[b->down[k]].bottom].pos;

			sum += (ka > kb) - (ka < kb);
		}
	}
	return sum;
}

static bool may_exchange(const struct lay_graph *g, const struct lay_node *a,
			 const struct lay_node *b)
{
	if ((uint64_t)a->up_cnt * b->up_cnt > MAX_PAIRS)
		return false;
	return !g->prev_rank || a->type != LAY_BLOCK || b->type != LAY_BLOCK ||
	       g->prev_rank[a->block] < 0 || g->prev_rank[b->block] < 0;
}

/* Exchanges neighbours as long as that removes crossings: what barycentres leave behind. */
static int exchange(struct lay_graph *g)
{
	bool any = true;

	for (uint32_t round = 0; round < MAX_EXCHANGES && any; round++) {
		any = false;
		for (uint32_t layer = 0; layer < g->layer_cnt; layer++) {
			uint32_t *slots = g->slots + g->layer_first[layer];

			if (!(layer & 63) && lay_cancelled(g))
				return -ECANCELED;
			for (uint32_t i = 0; i + 1 < layer_size(g, layer); i++) {
				struct lay_node *a = &g->nodes[slots[i]];
				struct lay_node *b = &g->nodes[slots[i + 1]];
				uint32_t left = slots[i];

				if (!may_exchange(g, a, b) || gain(g, a, b) <= 0)
					continue;
				slots[i] = slots[i + 1];
				slots[i + 1] = left;
				a->pos = i + 1;
				b->pos = i;
				any = true;
			}
		}
	}
	return 0;
}

int lay_order(struct lay_graph *g)
{
	struct ordering o = { .g = g };
	uint32_t widest = 1;
	int ret = first_order(g);

	if (ret)
		return ret;
	for (uint32_t layer = 0; layer < g->layer_cnt; layer++) {
		if (layer_size(g, layer) > widest)
			widest = layer_size(g, layer);
	}
	o.bary = malloc(g->node_cnt * sizeof(*o.bary));
	o.keys = malloc(2 * (size_t)widest * sizeof(*o.keys));
	o.tree = malloc(4 * (size_t)widest * sizeof(*o.tree));
	o.best = malloc(g->node_cnt * sizeof(*o.best));
	ret = o.bary && o.keys && o.tree && o.best ? sweeps(&o) : -ENOMEM;
	if (!ret)
		ret = exchange(g);
	free(o.bary);
	free(o.keys);
	free(o.tree);
	free(o.best);
	return ret;
}
