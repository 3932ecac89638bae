// SPDX-License-Identifier: GPL-2.0-only
/* The router alone, on columns that the stages before it hardly ever give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cfg/layout_internal.h"

/* Two edges that pass layers 2 to 7 side by side: 0 to 8, and 1 to 9. */
static const struct loupe_cfg_insn insns[] = {
	{ LOUPE_CFG_COND, 8, 1 }, { LOUPE_CFG_COND, 9, 2 }, { LOUPE_CFG_JUMP, 3, 0 },
	{ LOUPE_CFG_JUMP, 4, 0 }, { LOUPE_CFG_JUMP, 5, 0 }, { LOUPE_CFG_JUMP, 6, 0 },
	{ LOUPE_CFG_JUMP, 7, 0 }, { LOUPE_CFG_JUMP, 8, 0 }, { LOUPE_CFG_NEXT, 0, 0 },
	{ LOUPE_CFG_EXIT, 0, 0 },
};

#define CNT (sizeof(insns) / sizeof(insns[0]))

struct fixture {
	struct loupe_cfg *cfg;
	struct loupe_layout_opts opts;
	struct loupe_cell_size sizes[CNT];
	uint32_t piece_of[CNT], node_of[CNT];
	uint8_t far[2 * CNT];
	struct lay_graph g;
};

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	assert_int_equal(loupe_cfg_build(insns, CNT, &f->cfg, NULL), 0);
	loupe_layout_opts_init(&f->opts);
	for (size_t i = 0; i < CNT; i++)
		f->sizes[i] = (struct loupe_cell_size){ 9, 1 };
	f->g = (struct lay_graph){
		.cfg = f->cfg,
		.opts = &f->opts,
		.sizes = f->sizes,
		.piece_of = f->piece_of,
		.node_of = f->node_of,
		.far = f->far,
	};
	assert_int_equal(lay_layers(&f->g), 0);
	assert_int_equal(lay_order(&f->g), 0);
	assert_int_equal(lay_coords(&f->g), 0);
	assert_int_equal(lay_settle(&f->g), 0);
}

static void finish(struct fixture *f)
{
	lay_graph_finish(&f->g);
	loupe_cfg_destroy(f->cfg);
}

static struct lay_node *dummy_at(struct lay_graph *g, uint32_t edge, uint32_t layer)
{
	for (uint32_t i = 0; i < g->edges[edge].dummy_cnt; i++) {
		struct lay_node *node = &g->nodes[g->edges[edge].dummy + i];

		if (node->layer == layer)
			return node;
	}
	fail_msg("edge %u does not pass layer %u", edge, layer);
	return NULL;
}

static void swap_columns(struct lay_graph *g, uint32_t layer)
{
	struct lay_node *a = dummy_at(g, 0, layer), *b = dummy_at(g, 2, layer), old = *a;

	a->x = b->x;
	a->pos = b->pos;
	b->x = old.x;
	b->pos = old.pos;
	g->slots[g->layer_first[layer] + a->pos] = (uint32_t)(a - g->nodes);
	g->slots[g->layer_first[layer] + b->pos] = (uint32_t)(b - g->nodes);
}

/* No two edges with different targets share a cell in the same direction. */
static void check_lines(const struct lay_graph *g)
{
	uint32_t *used = calloc(2 * (size_t)g->w * (size_t)g->h, sizeof(*used));

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		for (uint32_t i = g->route_first[e]; i + 1 < g->route_first[e + 1]; i++) {
			struct loupe_point p = g->points[i], to = g->points[i + 1];
			int32_t dx = (p.x < to.x) - (to.x < p.x), dy = (p.y < to.y) - (to.y < p.y);

			assert_true(!dx != !dy);
			for (;; p.x += dx, p.y += dy) {
				uint32_t *cell = &used[2 * (p.y * g->w + p.x) + !dx];

				if (*cell && *cell != e + 1)
					assert_int_equal(g->edges[*cell - 1].to, g->edges[e].to);
				*cell = e + 1;
				if (p.x == to.x && p.y == to.y)
					break;
			}
		}
	}
	free(used);
}

static void edges_change_places(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	swap_columns(&f.g, 5);
	assert_int_equal(lay_route(&f.g), 0);
	check_lines(&f.g);
	finish(&f);
}

static void long_edges_are_straight(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	for (uint32_t layer = 3; layer < 8; layer++) {
		assert_int_equal(dummy_at(&f.g, 0, layer)->x, dummy_at(&f.g, 0, 2)->x);
		assert_int_equal(dummy_at(&f.g, 2, layer)->x, dummy_at(&f.g, 2, 2)->x);
	}
	assert_int_equal(lay_route(&f.g), 0);
	check_lines(&f.g);
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_change_places),
		cmocka_unit_test(long_edges_are_straight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
