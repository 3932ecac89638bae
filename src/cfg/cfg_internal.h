/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared between the files that build the graph. */
#ifndef CFG_CFG_INTERNAL_H
#define CFG_CFG_INTERNAL_H

#include "bpfloupe/cfg.h"

/*
 * Depth-first spanning forest of the reachable blocks, one tree a subprogram. Numbers are preorder
 * numbers over the whole forest.
 */
struct cfg_dfs {
	uint32_t cnt;	  /* reachable blocks */
	uint32_t *number; /* block → number, LOUPE_CFG_NONE when unreachable */
	uint32_t *block;  /* number → block */
	uint32_t *parent; /* number → number, LOUPE_CFG_NONE for a root */
	uint32_t *last;	  /* number → greatest number in its subtree */
};

/* Fills dfs, and in cfg: reachable, rpo, the subprograms' parts of it, the edges' retreating. */
int cfg_order(struct loupe_cfg *cfg, struct cfg_dfs *dfs);
void cfg_dfs_finish(struct cfg_dfs *dfs);

/* Fills idom, dom_first, dom_last and the edges' back. */
int cfg_dominators(struct loupe_cfg *cfg, const struct cfg_dfs *dfs);

/* Fills loops, loop_blocks and the blocks' loop. */
int cfg_loops(struct loupe_cfg *cfg, const struct cfg_dfs *dfs);

#endif
