// SPDX-License-Identifier: GPL-2.0-only
/*
 * Third stage of the layout: columns. After U. Brandes and B. Köpf, "Fast and simple horizontal
 * coordinate assignment", GD 2001: four alignments (upper or lower neighbours, leftmost or
 * rightmost), of which the two in the middle are averaged. Long edges are aligned with the cell of
 * the border where they leave (after U. Rüegg et al., "Size- and port-aware horizontal node
 * coordinate assignment", GD 2015); blocks are aligned by their middles.
 */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdlib.h>

/* A side of a condition with that many times fewer blocks than the other branches off. */
#define SIDE_RATIO 3

/* Empty columns between neighbours. */
enum {
	GAP_BLOCKS = 3,
	GAP_OTHERS = 2,
	GAP_LINES = 1,
};

/* Arrays by node, except where stated. */
struct aligner {
	struct lay_graph *g;
	bool mirrored;	  /* everything is seen from the right: positions and columns negated */
	bool from_below;  /* aligned with lower neighbours */
	uint32_t *root;	  /* of the block of aligned nodes */
	uint32_t *next;	  /* in the block, cyclic */
	int64_t *shift;	  /* of the node's anchor against its root's */
	int64_t *x;	  /* of the anchor; while compacting, of the root's */
	uint32_t *degree; /* by root: constraints from the left not yet seen */
	uint32_t *queue;  /* roots in topological order */
	int64_t *result[4];
};

/* ---- conflicts ---------------------------------------------------------------------------- */

static bool is_line(const struct lay_graph *g, uint32_t n)
{
	return g->nodes[n].type == LAY_DUMMY;
}

/* Position above of the dummy to which the dummy n is linked, or NONE. */
static uint32_t inner_top(const struct lay_graph *g, uint32_t n)
{
	const struct lay_node *node = &g->nodes[n];
	uint32_t top;

	if (node->type != LAY_DUMMY || !node->up_cnt)
		return LOUPE_CFG_NONE;
	top = g->segs[g->up_segs[node->up_first]].top;
	return is_line(g, top) ? g->nodes[top].pos : LOUPE_CFG_NONE;
}

/* Marks segments that cross a segment between two dummies: those stay straight. */
static void mark_conflicts(struct lay_graph *g)
{
	for (uint32_t layer = 1; layer < g->layer_cnt; layer++) {
		uint32_t first = g->layer_first[layer], end = g->layer_first[layer + 1];
		uint32_t left = 0, scanned = first;

		for (uint32_t s = first; s < end; s++) {
			uint32_t right = inner_top(g, g->slots[s]);

			if (right == LOUPE_CFG_NONE && s + 1 < end)
				continue;
			if (right == LOUPE_CFG_NONE)
				right = g->layer_first[layer] - g->layer_first[layer - 1];
			for (; scanned <= s; scanned++) {
				const struct lay_node *node = &g->nodes[g->slots[scanned]];
				bool inner = inner_top(g, g->slots[scanned]) != LOUPE_CFG_NONE;

				for (uint32_t i = 0; i < node->up_cnt; i++) {
					struct lay_seg *seg =
						&g->segs[g->up_segs[node->up_first + i]];
					uint32_t pos = g->nodes[seg->top].pos;

					if (!inner && (pos < left || pos > right))
						seg->conflict = true;
				}
			}
			left = right;
		}
	}
}

/* Blocks that top dominates through bottom: what hangs on that side alone. */
static uint32_t weight(const struct lay_graph *g, const struct lay_seg *seg)
{
	uint32_t top = g->nodes[seg->top].block;
	const struct loupe_block *bottom = &g->cfg->blocks[g->nodes[seg->bottom].block];

	if (!bottom->reachable || bottom->idom != top)
		return 0;
	return bottom->dom_last - bottom->dom_first + 1;
}

/* Which of a condition's sides goes on below it, and which one branches off. */
static void prefer_side(struct lay_graph *g, struct lay_seg *a, struct lay_seg *b)
{
	bool a_block = g->nodes[a->bottom].type == LAY_BLOCK;
	bool b_block = g->nodes[b->bottom].type == LAY_BLOCK;
	uint32_t wa, wb;

	if (!a_block || !b_block) {
		a->conflict |= b_block;
		b->conflict |= a_block;
		return;
	}
	wa = weight(g, a);
	wb = weight(g, b);
	a->conflict |= wa && wa * SIDE_RATIO <= wb;
	b->conflict |= wb && wb * SIDE_RATIO <= wa;
}

/* Blocks are aligned with blocks rather than with labels and long edges, and with the side on which
 * most hangs: a column of conditions with early exits stays a column. */
static void prefer_blocks(struct lay_graph *g)
{
	for (uint32_t n = 0; n < g->block_cnt; n++) {
		const struct lay_node *node = &g->nodes[n];
		bool above = false;

		if (node->down_cnt == 2)
			prefer_side(g, &g->segs[node->down[0]], &g->segs[node->down[1]]);
		for (uint32_t i = 0; i < node->up_cnt && !above; i++)
			above = g->nodes[g->segs[g->up_segs[node->up_first + i]].top].type ==
				LAY_BLOCK;
		for (uint32_t i = 0; i < node->up_cnt && above; i++) {
			struct lay_seg *seg = &g->segs[g->up_segs[node->up_first + i]];

			seg->conflict |= g->nodes[seg->top].type != LAY_BLOCK;
		}
	}
}

/* ---- one alignment ------------------------------------------------------------------------ */

int32_t lay_lean(const struct lay_graph *g, const struct lay_seg *seg)
{
	const struct lay_node *top = &g->nodes[seg->top];

	if (top->type != LAY_BLOCK || g->nodes[seg->bottom].type == LAY_BLOCK)
		return 0;
	return lay_port_offset(top->w, seg->port) - lay_anchor(g, top);
}

/* The neighbours of a node on the side looked at, ordered by position. */
static uint32_t neighbours(const struct aligner *a, uint32_t n, uint32_t *segs, uint32_t size)
{
	const struct lay_graph *g = a->g;
	const struct lay_node *node = &g->nodes[n];
	uint32_t cnt = a->from_below ? node->down_cnt : node->up_cnt;
	const uint32_t *list = a->from_below ? node->down : g->up_segs + node->up_first;

	/* only those in the middle count; up_segs is sorted by position, see sort_up_segs() */
	if (cnt > size) {
		uint32_t kept = (cnt & 1) == (size & 1) ? size : size - 1;

		list += (cnt - kept) / 2;
		cnt = kept;
	}
	for (uint32_t i = 0; i < cnt; i++)
		segs[i] = list[i];
	if (a->from_below && cnt == 2 &&
	    g->nodes[g->segs[segs[0]].bottom].pos > g->nodes[g->segs[segs[1]].bottom].pos) {
		segs[0] = list[1];
		segs[1] = list[0];
	}
	return cnt;
}

static void align_node(struct aligner *a, uint32_t n, int64_t *limit)
{
	const struct lay_graph *g = a->g;
	uint32_t segs[4], cnt = neighbours(a, n, segs, 4);

	for (uint32_t k = 0; k < 2 && cnt; k++) {
		/* the two medians, the nearer side first; one if they are the same */
		uint32_t low = (cnt - 1) / 2, high = cnt / 2;
		uint32_t m = (k == 0) != a->mirrored ? low : high;
		const struct lay_seg *seg = &g->segs[segs[m]];
		uint32_t u = a->from_below ? seg->bottom : seg->top;
		int64_t pos = a->mirrored ? -(int64_t)g->nodes[u].pos : g->nodes[u].pos;

		if (a->next[n] != n || (k == 1 && low == high))
			return;
		if (seg->conflict || pos <= *limit)
			continue;
		a->next[n] = a->root[u];
		a->next[u] = n;
		a->root[n] = a->root[u];
		a->shift[n] = a->shift[u] + (a->from_below ? -lay_lean(g, seg) : lay_lean(g, seg));
		*limit = pos;
		return;
	}
}

static void align(struct aligner *a)
{
	const struct lay_graph *g = a->g;

	for (uint32_t n = 0; n < g->node_cnt; n++) {
		a->root[n] = a->next[n] = n;
		a->shift[n] = 0;
	}
	for (uint32_t i = 0; i < g->layer_cnt; i++) {
		uint32_t layer = a->from_below ? g->layer_cnt - 1 - i : i;
		uint32_t first = g->layer_first[layer], end = g->layer_first[layer + 1];
		int64_t limit = INT64_MIN;

		for (uint32_t s = 0; s < end - first; s++)
			align_node(a, g->slots[a->mirrored ? end - 1 - s : first + s], &limit);
	}
}

static int32_t gap(const struct lay_node *a, const struct lay_node *b)
{
	if (a->type == LAY_DUMMY && b->type == LAY_DUMMY)
		return GAP_LINES;
	return a->type == LAY_BLOCK && b->type == LAY_BLOCK ? GAP_BLOCKS : GAP_OTHERS;
}

static int32_t width(const struct lay_node *node)
{
	return node->w ? node->w : 1;
}

int64_t lay_separation(const struct lay_graph *g, uint32_t left, uint32_t right)
{
	const struct lay_node *a = &g->nodes[left], *b = &g->nodes[right];

	return width(a) - lay_anchor(g, a) + gap(a, b) + lay_anchor(g, b);
}

/* The node's neighbour further left (or right) as seen by the aligner, and how far it must be. */
static bool beside(const struct aligner *a, uint32_t n, bool further, uint32_t *other,
		   int64_t *dist)
{
	const struct lay_graph *g = a->g;
	const struct lay_node *node = &g->nodes[n];
	uint32_t first = g->layer_first[node->layer];
	uint32_t cnt = g->layer_first[node->layer + 1] - first;
	bool right = further != a->mirrored;

	if (right ? node->pos + 1 == cnt : node->pos == 0)
		return false;
	*other = g->slots[first + node->pos + (right ? 1 : UINT32_MAX)];
	*dist = right ? lay_separation(g, n, *other) : lay_separation(g, *other, n);
	return true;
}

/* In the mirrored view all columns are negated, shifts too. */
static int64_t seen_shift(const struct aligner *a, uint32_t n)
{
	return a->mirrored ? -a->shift[n] : a->shift[n];
}

static uint32_t sort_roots(struct aligner *a)
{
	const struct lay_graph *g = a->g;
	uint32_t head = 0, tail = 0, other;
	int64_t dist;

	for (uint32_t n = 0; n < g->node_cnt; n++)
		a->degree[n] = 0;
	for (uint32_t n = 0; n < g->node_cnt; n++)
		a->degree[a->root[n]] += beside(a, n, false, &other, &dist);
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		if (a->root[n] == n && !a->degree[n])
			a->queue[tail++] = n;
	}
	while (head < tail) {
		uint32_t root = a->queue[head++], n = root;

		do {
			if (beside(a, n, true, &other, &dist) && !--a->degree[a->root[other]])
				a->queue[tail++] = a->root[other];
			n = a->next[n];
		} while (n != root);
	}
	return tail;
}

/* Columns as far left as possible, then each block as near to its right neighbours as it can be. */
static void compact(struct aligner *a, int64_t *result)
{
	const struct lay_graph *g = a->g;
	uint32_t cnt = sort_roots(a), other;
	int64_t dist;

	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t root = a->queue[i], n = root;
		int64_t x = INT64_MIN;

		do {
			if (beside(a, n, false, &other, &dist)) {
				int64_t least = a->x[a->root[other]] + seen_shift(a, other) + dist -
						seen_shift(a, n);

				x = least > x ? least : x;
			}
			n = a->next[n];
		} while (n != root);
		a->x[root] = x == INT64_MIN ? 0 : x;
	}
	for (uint32_t i = cnt; i-- > 0;) {
		uint32_t root = a->queue[i], n = root;
		int64_t x = INT64_MAX;

		do {
			if (beside(a, n, true, &other, &dist)) {
				int64_t most = a->x[a->root[other]] + seen_shift(a, other) - dist -
					       seen_shift(a, n);

				x = most < x ? most : x;
			}
			n = a->next[n];
		} while (n != root);
		if (x != INT64_MAX && x > a->x[root])
			a->x[root] = x;
	}
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		int64_t x = a->x[a->root[n]] + seen_shift(a, n);

		result[n] = a->mirrored ? -x : x;
	}
}

/* ---- the four together -------------------------------------------------------------------- */

/* Bottoms' segments by the position of their tops; one pass over the tops in order does it. */
static void sort_up_segs(struct lay_graph *g)
{
	for (uint32_t n = 0; n < g->node_cnt; n++)
		g->nodes[n].up_cnt = 0;
	for (uint32_t s = 0; s < g->node_cnt; s++) {
		const struct lay_node *top = &g->nodes[g->slots[s]];

		for (uint32_t i = 0; i < top->down_cnt; i++) {
			struct lay_node *node = &g->nodes[g->segs[top->down[i]].bottom];

			g->up_segs[node->up_first + node->up_cnt++] = top->down[i];
		}
	}
}

static void extent(const struct lay_graph *g, const int64_t *x, int64_t *left, int64_t *right)
{
	*left = INT64_MAX;
	*right = INT64_MIN;
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		const struct lay_node *node = &g->nodes[n];
		int64_t end = x[n] - lay_anchor(g, node) + width(node);

		*left = x[n] - lay_anchor(g, node) < *left ? x[n] - lay_anchor(g, node) : *left;
		*right = end > *right ? end : *right;
	}
}

static int64_t floor_half(int64_t sum)
{
	return sum >= 0 ? sum / 2 : -((1 - sum) / 2);
}

/* Puts the four above each other, left ones by their left ends, right ones by their right ends
 * within the narrowest, and takes the mean of the middle two for each node. */
static int balance(struct aligner *a)
{
	struct lay_graph *g = a->g;
	int64_t left[4], right[4], min = INT64_MAX;
	uint32_t narrow = 0;

	for (uint32_t i = 0; i < 4; i++) {
		extent(g, a->result[i], &left[i], &right[i]);
		if (right[i] - left[i] < right[narrow] - left[narrow])
			narrow = i;
	}
	for (uint32_t i = 0; i < 4; i++) {
		int64_t by = i & 1 ? right[narrow] - right[i] : left[narrow] - left[i];

		for (uint32_t n = 0; n < g->node_cnt; n++)
			a->result[i][n] += by;
	}
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		int64_t lo = a->result[0][n], hi = lo, sum = 0;

		for (uint32_t i = 0; i < 4; i++) {
			int64_t x = a->result[i][n];

			lo = x < lo ? x : lo;
			hi = x > hi ? x : hi;
			sum += x;
		}
		a->x[n] = floor_half(sum - lo - hi) - lay_anchor(g, &g->nodes[n]);
		min = a->x[n] < min ? a->x[n] : min;
	}
	for (uint32_t n = 0; n < g->node_cnt; n++) {
		if (a->x[n] - min > (1 << 30))
			return -E2BIG;
		g->nodes[n].x = (int32_t)(a->x[n] - min);
	}
	return 0;
}

int lay_coords(struct lay_graph *g)
{
	struct aligner a = { .g = g };
	size_t cnt = g->node_cnt;
	int ret = -ENOMEM;

	a.root = malloc(4 * cnt * sizeof(*a.root));
	a.shift = malloc(6 * cnt * sizeof(*a.shift));
	if (!a.root || !a.shift)
		goto out;
	a.next = a.root + cnt;
	a.degree = a.next + cnt;
	a.queue = a.degree + cnt;
	a.x = a.shift + cnt;
	sort_up_segs(g);
	mark_conflicts(g);
	prefer_blocks(g);
	for (uint32_t i = 0; i < 4; i++) {
		if (lay_cancelled(g)) {
			ret = -ECANCELED;
			goto out;
		}
		a.mirrored = i & 1;
		a.from_below = i & 2;
		a.result[i] = a.x + (i + 1) * cnt;
		align(&a);
		compact(&a, a.result[i]);
	}
	ret = balance(&a);
out:
	free(a.root);
	free(a.shift);
	return ret;
}
