// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop nest after P. Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19(4), 1997:
 * headers are treated from the innermost outwards, and what was found is folded into its header by
 * union and find. A loop that can be entered besides its header is marked irreducible.
 */
#include "cfg/cfg_internal.h"

#include <errno.h>
#include <stdlib.h>

struct extra_pred {
	uint32_t from, next;
};

/* All by preorder number of the depth-first forest. */
struct nest {
	struct loupe_cfg *cfg;
	const struct cfg_dfs *dfs;
	uint32_t *folded; /* union and find: the header that a block was folded into, or itself */
	uint32_t *header; /* of the innermost loop around, a header's own loop not counted */
	uint32_t *mark;	  /* last header for which the block was put on the work list */
	uint32_t *work;
	uint32_t *extra; /* list of entries that bypass a header, handed on to the loop around */
	struct extra_pred *extra_preds;
	uint32_t extra_cnt, extra_size;
	uint8_t *is_header;
	uint8_t *irreducible;
};

static uint32_t find(struct nest *nest, uint32_t v)
{
	while (nest->folded[v] != v) {
		nest->folded[v] = nest->folded[nest->folded[v]];
		v = nest->folded[v];
	}
	return v;
}

static bool below(const struct nest *nest, uint32_t v, uint32_t w)
{
	return w <= v && v <= nest->dfs->last[w];
}

static int add_extra(struct nest *nest, uint32_t w, uint32_t from)
{
	if (nest->extra_cnt == nest->extra_size) {
		uint32_t size = nest->extra_size ? 2 * nest->extra_size : 64;
		void *p = realloc(nest->extra_preds, size * sizeof(*nest->extra_preds));

		if (!p)
			return -ENOMEM;
		nest->extra_preds = p;
		nest->extra_size = size;
	}
	nest->extra_preds[nest->extra_cnt] = (struct extra_pred){ from, nest->extra[w] };
	nest->extra[w] = nest->extra_cnt++;
	return 0;
}

/* Looks at an edge into the body of the loop with header w. */
static int pull(struct nest *nest, uint32_t w, uint32_t from, uint32_t *work_cnt)
{
	uint32_t v = find(nest, from);

	if (!below(nest, v, w)) {
		nest->irreducible[w] = 1;
		return add_extra(nest, w, v);
	}
	if (v != w && nest->mark[v] != w) {
		nest->mark[v] = w;
		nest->work[(*work_cnt)++] = v;
	}
	return 0;
}

static int treat_header(struct nest *nest, uint32_t w)
{
	const struct loupe_cfg *cfg = nest->cfg;
	const struct cfg_dfs *dfs = nest->dfs;
	const struct loupe_block *block = &cfg->blocks[dfs->block[w]];
	uint32_t cnt = 0;
	int ret;

	for (uint32_t i = 0; i < block->pred_cnt; i++) {
		const struct loupe_edge *edge = &cfg->edges[cfg->preds[block->pred + i]];

		if (!edge->retreating)
			continue;
		nest->is_header[w] = 1;
		ret = pull(nest, w, dfs->number[edge->from], &cnt);
		if (ret)
			return ret;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t x = nest->work[i];

		block = &cfg->blocks[dfs->block[x]];
		for (uint32_t p = 0; p < block->pred_cnt; p++) {
			const struct loupe_edge *edge = &cfg->edges[cfg->preds[block->pred + p]];

			if (edge->retreating || !cfg->blocks[edge->from].reachable)
				continue;
			ret = pull(nest, w, dfs->number[edge->from], &cnt);
			if (ret)
				return ret;
		}
		for (uint32_t e = nest->extra[x]; e != LOUPE_CFG_NONE;
		     e = nest->extra_preds[e].next) {
			ret = pull(nest, w, nest->extra_preds[e].from, &cnt);
			if (ret)
				return ret;
		}
	}
	for (uint32_t i = 0; i < cnt; i++) {
		nest->header[nest->work[i]] = w;
		nest->folded[nest->work[i]] = w;
	}
	return 0;
}

/* Loops in preorder of their headers, so that an enclosing loop comes first; blocks of a loop are
 * one range that holds the ranges of the loops inside. */
static int store(struct nest *nest)
{
	struct loupe_cfg *cfg = nest->cfg;
	const struct cfg_dfs *dfs = nest->dfs;
	uint32_t *loop_of = nest->mark, *used = nest->work, next = 0, cnt = 0;

	for (uint32_t w = 0; w < dfs->cnt; w++)
		cnt += nest->is_header[w];
	cfg->loops = calloc(cnt ? cnt : 1, sizeof(*cfg->loops));
	cfg->loop_blocks = calloc(dfs->cnt ? dfs->cnt : 1, sizeof(*cfg->loop_blocks));
	if (!cfg->loops || !cfg->loop_blocks)
		return -ENOMEM;
	for (uint32_t w = 0; w < dfs->cnt; w++) {
		uint32_t around = nest->header[w];
		uint32_t loop = around == LOUPE_CFG_NONE ? LOUPE_CFG_NONE : loop_of[around];

		if (nest->is_header[w]) {
			cfg->loops[cfg->loop_cnt] = (struct loupe_loop){
				.header = dfs->block[w],
				.parent = loop,
				.depth = loop == LOUPE_CFG_NONE ? 1 : cfg->loops[loop].depth + 1,
				.irreducible = nest->irreducible[w],
			};
			loop = loop_of[w] = cfg->loop_cnt++;
		}
		cfg->blocks[dfs->block[w]].loop = loop;
		if (loop != LOUPE_CFG_NONE)
			cfg->loops[loop].block_cnt++;
	}
	/* own blocks are placed from the front of the range, inner loops behind them */
	for (uint32_t l = 0; l < cnt; l++)
		used[l] = cfg->loops[l].block_cnt;
	for (uint32_t l = cnt; l-- > 0;) {
		if (cfg->loops[l].parent != LOUPE_CFG_NONE)
			cfg->loops[cfg->loops[l].parent].block_cnt += cfg->loops[l].block_cnt;
	}
	for (uint32_t l = 0; l < cnt; l++) {
		struct loupe_loop *loop = &cfg->loops[l];

		if (loop->parent == LOUPE_CFG_NONE) {
			loop->first = next;
			next += loop->block_cnt;
		} else {
			loop->first = cfg->loops[loop->parent].first + used[loop->parent];
			used[loop->parent] += loop->block_cnt;
		}
	}
	for (uint32_t l = 0; l < cnt; l++)
		used[l] = 0;
	for (uint32_t w = 0; w < dfs->cnt; w++) {
		uint32_t loop = cfg->blocks[dfs->block[w]].loop;

		if (loop != LOUPE_CFG_NONE)
			cfg->loop_blocks[cfg->loops[loop].first + used[loop]++] = dfs->block[w];
	}
	return 0;
}

int cfg_loops(struct loupe_cfg *cfg, const struct cfg_dfs *dfs)
{
	struct nest nest = { .cfg = cfg, .dfs = dfs };
	size_t cnt = dfs->cnt;
	int ret = -ENOMEM;

	for (uint32_t n = 0; n < cfg->block_cnt; n++)
		cfg->blocks[n].loop = LOUPE_CFG_NONE;
	nest.folded = malloc(5 * cnt * sizeof(*nest.folded));
	nest.is_header = calloc(2 * cnt, 1);
	if (!nest.folded || !nest.is_header)
		goto out;
	nest.header = nest.folded + cnt;
	nest.mark = nest.header + cnt;
	nest.work = nest.mark + cnt;
	nest.extra = nest.work + cnt;
	nest.irreducible = nest.is_header + cnt;
	for (uint32_t v = 0; v < cnt; v++) {
		nest.folded[v] = v;
		nest.header[v] = nest.mark[v] = nest.extra[v] = LOUPE_CFG_NONE;
	}
	ret = 0;
	for (uint32_t w = dfs->cnt; w-- > 0 && !ret;)
		ret = treat_header(&nest, w);
	if (!ret)
		ret = store(&nest);
out:
	free(nest.folded);
	free(nest.is_header);
	free(nest.extra_preds);
	return ret;
}

bool loupe_cfg_in_loop(const struct loupe_cfg *cfg, uint32_t loop, uint32_t block)
{
	uint32_t l = cfg->blocks[block].loop;

	/* loops inside have greater indices */
	while (l != LOUPE_CFG_NONE && l > loop)
		l = cfg->loops[l].parent;
	return l == loop;
}
