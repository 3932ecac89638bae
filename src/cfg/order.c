// SPDX-License-Identifier: GPL-2.0-only
/* Depth-first order: reachability, reverse postorder, retreating edges. */
#include "cfg/cfg_internal.h"

#include <errno.h>
#include <stdlib.h>

struct walk {
	struct loupe_cfg *cfg;
	struct cfg_dfs *dfs;
	uint32_t *stack;  /* numbers of the blocks on the current path */
	uint8_t *next;	  /* per block: successors already looked at */
	uint32_t rpo_end; /* part of rpo that is still free ends here */
};

static void enter(struct walk *w, uint32_t block, uint32_t parent)
{
	struct cfg_dfs *dfs = w->dfs;
	uint32_t number = dfs->cnt++;

	dfs->number[block] = number;
	dfs->block[number] = block;
	dfs->parent[number] = parent;
	w->cfg->blocks[block].reachable = true;
}

/* True sides are walked first, so that false sides come first in the reverse postorder, which
 * therefore stays near the order of the instructions. */
static void walk_subprog(struct walk *w, struct loupe_subprog *sub)
{
	struct loupe_cfg *cfg = w->cfg;
	struct cfg_dfs *dfs = w->dfs;
	uint32_t depth = 0, first = dfs->cnt;

	/* filled from the end, moved to its place below */
	w->rpo_end = cfg->block_cnt;
	enter(w, sub->first_block, LOUPE_CFG_NONE);
	w->stack[depth++] = first;
	while (depth) {
		uint32_t number = w->stack[depth - 1];
		uint32_t n = dfs->block[number];
		struct loupe_block *block = &cfg->blocks[n];

		if (w->next[n] < block->succ_cnt) {
			uint32_t to = cfg->edges[block->succ + w->next[n]++].to;

			if (dfs->number[to] == LOUPE_CFG_NONE) {
				w->stack[depth++] = dfs->cnt;
				enter(w, to, number);
			}
			continue;
		}
		dfs->last[number] = dfs->cnt - 1;
		cfg->rpo[--w->rpo_end] = n;
		depth--;
	}
	sub->first_rpo = cfg->rpo_cnt;
	sub->rpo_cnt = dfs->cnt - first;
	for (uint32_t i = 0; i < sub->rpo_cnt; i++) {
		uint32_t n = cfg->rpo[w->rpo_end + i];

		cfg->rpo[cfg->rpo_cnt] = n;
		cfg->blocks[n].rpo = cfg->rpo_cnt++;
	}
}

int cfg_order(struct loupe_cfg *cfg, struct cfg_dfs *dfs)
{
	size_t cnt = cfg->block_cnt;
	struct walk w = { .cfg = cfg, .dfs = dfs };
	int ret = -ENOMEM;

	dfs->number = malloc(4 * cnt * sizeof(*dfs->number));
	w.stack = malloc(cnt * sizeof(*w.stack));
	w.next = calloc(cnt, 1);
	if (!dfs->number || !w.stack || !w.next)
		goto out;
	dfs->block = dfs->number + cnt;
	dfs->parent = dfs->block + cnt;
	dfs->last = dfs->parent + cnt;
	for (uint32_t n = 0; n < cnt; n++) {
		dfs->number[n] = LOUPE_CFG_NONE;
		cfg->blocks[n].rpo = LOUPE_CFG_NONE;
	}
	for (uint32_t s = 0; s < cfg->subprog_cnt; s++)
		walk_subprog(&w, &cfg->subprogs[s]);
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		struct loupe_edge *edge = &cfg->edges[e];

		edge->retreating = cfg->blocks[edge->from].reachable &&
				   cfg->blocks[edge->to].rpo <= cfg->blocks[edge->from].rpo;
	}
	ret = 0;
out:
	free(w.stack);
	free(w.next);
	return ret;
}

void cfg_dfs_finish(struct cfg_dfs *dfs)
{
	free(dfs->number);
	*dfs = (struct cfg_dfs){ 0 };
}
