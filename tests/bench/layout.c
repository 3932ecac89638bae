// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times the graph's layout against its budget: 50 ms at 1,000 blocks, 500 ms at 10,000, best of
 * some runs. Exits with 1 when a shape that real programs have is over it.
 */
#include "bpfloupe/layout.h"
#include "../unit/cfg_random.h"

#include <stdio.h>
#include <time.h>

#define RUNS 5

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A ladder of conditions that all leave to one shared end, as a list of allowed values does. */
static struct loupe_cfg_insn *ladder(uint32_t blocks, uint32_t *cnt)
{
	struct loupe_cfg_insn *insns;

	*cnt = 2 * blocks;
	insns = calloc(*cnt, sizeof(*insns));
	for (uint32_t i = 0; i + 2 < *cnt; i += 2)
		insns[i + 1] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, *cnt - 1, i + 2 };
	insns[*cnt - 1].op = LOUPE_CFG_EXIT;
	return insns;
}

static uint32_t emit_tree(struct loupe_cfg_insn *insns, uint32_t at, uint32_t leaves)
{
	uint32_t cond = at + 1;

	if (leaves < 2) {
		insns[at].op = LOUPE_CFG_EXIT;
		return at + 1;
	}
	at = emit_tree(insns, at + 2, leaves / 2);
	insns[cond] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, at, cond + 1 };
	return emit_tree(insns, at, leaves - leaves / 2);
}

/* A balanced decision tree whose leaves end the program. */
static struct loupe_cfg_insn *tree(uint32_t blocks, uint32_t *cnt)
{
	struct loupe_cfg_insn *insns = calloc(2 * (size_t)blocks, sizeof(*insns));

	*cnt = emit_tree(insns, 0, blocks / 2);
	return insns;
}

static struct loupe_cfg_insn *structured(uint32_t blocks, uint32_t *cnt)
{
	return structured_program(blocks * 9 / 4, 7, cnt);
}

static struct loupe_cfg_insn *tangle(uint32_t blocks, uint32_t *cnt)
{
	*cnt = blocks * 4 / 3;
	return random_program(*cnt, 40, 12, 3);
}

static const struct shape {
	const char *name;
	struct loupe_cfg_insn *(*make)(uint32_t blocks, uint32_t *cnt);
	bool judged;
} shapes[] = {
	{ "structured", structured, true },
	{ "ladder", ladder, true },
	{ "tree", tree, true },
	{ "tangle", tangle, false },
};

static bool run(const struct shape *shape, uint32_t blocks, double budget)
{
	struct loupe_layout_opts opts;
	struct loupe_cell_size *sizes;
	struct loupe_cfg_insn *insns;
	struct loupe_layout *layout;
	struct loupe_cfg *cfg;
	uint32_t cnt;
	double best = 1e9, build = 1e9;

	insns = shape->make(blocks, &cnt);
	for (int i = 0; i < RUNS; i++) {
		double start = now();

		if (loupe_cfg_build(insns, cnt, &cfg, NULL))
			return false;
		build = now() - start < build ? now() - start : build;
		if (i + 1 < RUNS)
			loupe_cfg_destroy(cfg);
	}
	free(insns);
	sizes = calloc(cfg->block_cnt, sizeof(*sizes));
	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		sizes[n].h = (int32_t)(cfg->blocks[n].last - cfg->blocks[n].first + 1);
		sizes[n].w = 16 + (int32_t)(n * 7 % 23);
	}
	loupe_layout_opts_init(&opts);
	opts.sizes = sizes;
	for (int i = 0; i < RUNS; i++) {
		double start = now();

		if (loupe_layout_create(cfg, &opts, &layout))
			return false;
		best = now() - start < best ? now() - start : best;
		if (i + 1 < RUNS)
			loupe_layout_destroy(layout);
	}
	printf("%-10s %6u blocks %6u edges  graph %6.2f ms  layout %7.2f ms  %d x %d cells, "
	       "%u layers, %u labels%s\n",
	       shape->name, cfg->block_cnt, cfg->edge_cnt, build, best, layout->w, layout->h,
	       layout->layer_cnt, layout->label_cnt, best > budget ? "  OVER BUDGET" : "");
	loupe_layout_destroy(layout);
	loupe_cfg_destroy(cfg);
	free(sizes);
	return best <= budget || !shape->judged;
}

int main(void)
{
	bool ok = true;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		ok &= run(&shapes[i], 1000, 50);
		ok &= run(&shapes[i], 10000, 500);
	}
	return !ok;
}
