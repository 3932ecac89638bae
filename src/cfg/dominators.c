// SPDX-License-Identifier: GPL-2.0-only
/*
 * Immediate dominators after T. Lengauer and R. E. Tarjan, "A fast algorithm for finding dominators
 * in a flowgraph", TOPLAS 1(1), 1979: the version with path compression alone, O(m log n). Shared
 * returns of large filters have thousands of predecessors at very different depths, which is where
 * simpler iterative schemes become quadratic.
 */
#include "cfg/cfg_internal.h"

#include <errno.h>
#include <stdlib.h>

/* All by preorder number. */
struct lt {
	uint32_t *semi; /* semidominator */
	uint32_t *idom;
	uint32_t *ancestor;		/* in the forest of blocks already processed */
	uint32_t *label;		/* least semidominator on the compressed path above */
	uint32_t *bucket, *bucket_next; /* lists of blocks by semidominator */
	uint32_t *stack;
};

/* The number with the least semidominator on the forest path from v up to, without, its root. */
static uint32_t eval(struct lt *lt, uint32_t v)
{
	uint32_t depth = 0;

	if (lt->ancestor[v] == LOUPE_CFG_NONE)
		return v;
	for (uint32_t u = v; lt->ancestor[lt->ancestor[u]] != LOUPE_CFG_NONE; u = lt->ancestor[u])
		lt->stack[depth++] = u;
	while (depth) {
		uint32_t u = lt->stack[--depth], a = lt->ancestor[u];

		if (lt->semi[lt->label[a]] < lt->semi[lt->label[u]])
			lt->label[u] = lt->label[a];
		lt->ancestor[u] = lt->ancestor[a];
	}
	return lt->label[v];
}

static void compute(const struct loupe_cfg *cfg, const struct cfg_dfs *dfs, struct lt *lt)
{
	for (uint32_t v = 0; v < dfs->cnt; v++) {
		lt->semi[v] = lt->label[v] = v;
		lt->ancestor[v] = lt->bucket[v] = lt->idom[v] = LOUPE_CFG_NONE;
	}
	for (uint32_t w = dfs->cnt; w-- > 0;) {
		const struct loupe_block *block = &cfg->blocks[dfs->block[w]];
		uint32_t parent = dfs->parent[w], v;

		if (parent == LOUPE_CFG_NONE)
			continue;
		for (uint32_t i = 0; i < block->pred_cnt; i++) {
			uint32_t from = cfg->edges[cfg->preds[block->pred + i]].from, u;

			if (dfs->number[from] == LOUPE_CFG_NONE)
				continue;
			u = eval(lt, dfs->number[from]);
			if (lt->semi[u] < lt->semi[w])
				lt->semi[w] = lt->semi[u];
		}
		lt->bucket_next[w] = lt->bucket[lt->semi[w]];
		lt->bucket[lt->semi[w]] = w;
		lt->ancestor[w] = parent;
		for (v = lt->bucket[parent]; v != LOUPE_CFG_NONE; v = lt->bucket_next[v]) {
			uint32_t u = eval(lt, v);

			lt->idom[v] = lt->semi[u] < lt->semi[v] ? u : parent;
		}
		lt->bucket[parent] = LOUPE_CFG_NONE;
	}
	for (uint32_t w = 0; w < dfs->cnt; w++) {
		if (dfs->parent[w] != LOUPE_CFG_NONE && lt->idom[w] != lt->semi[w])
			lt->idom[w] = lt->idom[lt->idom[w]];
	}
}

/* Intervals of a preorder walk of the dominator tree. Children have greater preorder numbers than
 * their dominators, so sizes add up from the end and places are given from the start. */
static void number_tree(struct loupe_cfg *cfg, const struct cfg_dfs *dfs, const struct lt *lt)
{
	uint32_t *size = lt->semi, *used = lt->label, next = 0;

	for (uint32_t w = 0; w < dfs->cnt; w++) {
		size[w] = 1;
		used[w] = 1;
	}
	for (uint32_t w = dfs->cnt; w-- > 0;) {
		if (lt->idom[w] != LOUPE_CFG_NONE)
			size[lt->idom[w]] += size[w];
	}
	for (uint32_t w = 0; w < dfs->cnt; w++) {
		struct loupe_block *block = &cfg->blocks[dfs->block[w]];
		uint32_t d = lt->idom[w];

		if (d == LOUPE_CFG_NONE) {
			block->idom = LOUPE_CFG_NONE;
			block->dom_first = next;
			next += size[w];
		} else {
			block->idom = dfs->block[d];
			block->dom_first = cfg->blocks[dfs->block[d]].dom_first + used[d];
			used[d] += size[w];
		}
		block->dom_last = block->dom_first + size[w] - 1;
	}
}

int cfg_dominators(struct loupe_cfg *cfg, const struct cfg_dfs *dfs)
{
	size_t cnt = dfs->cnt;
	struct lt lt;

	lt.semi = malloc(7 * cnt * sizeof(*lt.semi));
	if (!lt.semi)
		return -ENOMEM;
	lt.idom = lt.semi + cnt;
	lt.ancestor = lt.idom + cnt;
	lt.label = lt.ancestor + cnt;
	lt.bucket = lt.label + cnt;
	lt.bucket_next = lt.bucket + cnt;
	lt.stack = lt.bucket_next + cnt;
	compute(cfg, dfs, &lt);
	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		struct loupe_block *block = &cfg->blocks[n];

		block->idom = block->dom_first = block->dom_last = LOUPE_CFG_NONE;
	}
	number_tree(cfg, dfs, &lt);
	free(lt.semi);
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		struct loupe_edge *edge = &cfg->edges[e];

		edge->back = edge->retreating && loupe_cfg_dominates(cfg, edge->to, edge->from);
	}
	return 0;
}

bool loupe_cfg_dominates(const struct loupe_cfg *cfg, uint32_t a, uint32_t b)
{
	const struct loupe_block *up = &cfg->blocks[a], *down = &cfg->blocks[b];

	return up->reachable && down->reachable && up->dom_first <= down->dom_first &&
	       down->dom_first <= up->dom_last;
}
