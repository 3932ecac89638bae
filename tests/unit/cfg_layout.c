// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/layout.h"
#include "cfg_random.h"

#define NONE LOUPE_CFG_NONE

static struct loupe_cfg *build(const struct loupe_cfg_insn *insns, uint32_t cnt)
{
	struct loupe_cfg *cfg;
	struct loupe_error err = { .message = "" };

	if (loupe_cfg_build(insns, cnt, &cfg, &err))
		fail_msg("%s", err.message);
	return cfg;
}

static struct loupe_cell_size *random_sizes(const struct loupe_cfg *cfg, uint64_t seed)
{
	struct loupe_cell_size *sizes = calloc(cfg->block_cnt, sizeof(*sizes));

	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		sizes[n].w = (int32_t)(rnd(&seed) % 30);
		sizes[n].h = (int32_t)(rnd(&seed) % 5);
	}
	return sizes;
}

static struct loupe_layout *lay_out(const struct loupe_cfg *cfg,
				    const struct loupe_layout_opts *opts)
{
	struct loupe_layout *layout = NULL;

	assert_int_equal(loupe_layout_create(cfg, opts, &layout), 0);
	assert_non_null(layout);
	return layout;
}

/* ---- what must hold for every picture ------------------------------------------------------ */

/* Who uses a cell of the picture; 0 is nobody, else an index plus 1. */
struct use {
	uint32_t node, label, across, along; /* along: an upright line */
};

struct map {
	const struct loupe_cfg *cfg;
	const struct loupe_layout *layout;
	struct use *cells;
};

static struct use *at(const struct map *map, int32_t x, int32_t y)
{
	assert_in_range(x, 0, map->layout->w - 1);
	assert_in_range(y, 0, map->layout->h - 1);
	return &map->cells[(int64_t)y * map->layout->w + x];
}

static void put_boxes(const struct map *map)
{
	const struct loupe_layout *l = map->layout;

	for (uint32_t n = 0; n < l->node_cnt; n++) {
		const struct loupe_node *node = &l->nodes[n];

		assert_int_equal(l->block_node[node->block], n);
		for (int32_t y = node->y; y < node->y + node->h; y++) {
			for (int32_t x = node->x; x < node->x + node->w; x++) {
				assert_int_equal(at(map, x, y)->node, 0);
				at(map, x, y)->node = n + 1;
			}
		}
		if (n && node->layer == node[-1].layer)
			assert_true(node->x > node[-1].x + node[-1].w);
	}
	for (uint32_t i = 0; i < l->label_cnt; i++) {
		const struct loupe_label *label = &l->labels[i];

		assert_int_equal(label->w, loupe_text_columns(label->text));
		for (int32_t x = label->x; x < label->x + label->w; x++) {
			struct use *use = at(map, x, label->y);

			assert_int_equal(use->label, 0);
			assert_int_equal(use->node,
					 label->edge == NONE ? l->block_node[label->block] + 1 : 0);
			use->label = i + 1;
		}
		/* a mark leaves the corners and a cell beside them alone */
		if (label->edge == NONE) {
			const struct loupe_node *node = &l->nodes[l->block_node[label->block]];

			assert_int_equal(label->y, node->y);
			assert_true(label->x >= node->x + 2);
			assert_true(label->x + label->w <= node->x + node->w - 1);
		}
	}
}

static bool same_target(const struct map *map, uint32_t a, uint32_t b)
{
	const struct loupe_route *x = &map->layout->routes[a], *y = &map->layout->routes[b];

	return !x->cut && !y->cut && map->cfg->edges[x->edge].to == map->cfg->edges[y->edge].to;
}

static void put_line(const struct map *map, uint32_t r, struct loupe_point a, struct loupe_point b)
{
	int32_t dx = (a.x < b.x) - (b.x < a.x), dy = (a.y < b.y) - (b.y < a.y);
	const struct loupe_route *route = &map->layout->routes[r];
	const struct loupe_point *first = &map->layout->points[route->first];
	const struct loupe_point *last = first + route->point_cnt - 1;

	assert_true((dx == 0) != (dy == 0));
	for (struct loupe_point p = a;; p.x += dx, p.y += dy) {
		struct use *use = at(map, p.x, p.y);
		uint32_t *line = dx ? &use->across : &use->along;
		bool end =
			(p.x == first->x && p.y == first->y) || (p.x == last->x && p.y == last->y);

		if (!end) {
			assert_int_equal(use->node, 0);
			assert_int_equal(use->label, 0);
		}
		if (*line && *line != r + 1)
			assert_true(same_target(map, *line - 1, r));
		*line = r + 1;
		if (p.x == b.x && p.y == b.y)
			break;
	}
}

static void check_route(const struct map *map, uint32_t r)
{
	const struct loupe_layout *l = map->layout;
	const struct loupe_route *route = &l->routes[r];
	const struct loupe_edge *edge = &map->cfg->edges[route->edge];
	const struct loupe_node *from = &l->nodes[l->block_node[edge->from]];
	const struct loupe_point *p = &l->points[route->first], *last = p + route->point_cnt - 1;

	assert_int_equal(l->edge_route[route->edge], r);
	assert_true(route->point_cnt >= 2);
	assert_int_equal(p->y, from->y + from->h - 1);
	assert_in_range(p->x, from->x + 1, from->x + from->w - 2);
	assert_true(p[1].x == p->x && p[1].y > p->y);
	if (route->cut) {
		const struct loupe_label *label = &l->labels[route->label];

		assert_int_equal(label->block, edge->to);
		assert_int_equal(label->edge, route->edge);
		assert_int_equal(last->y, label->y);
		assert_in_range(last->x, label->x, label->x + label->w - 1);
	} else {
		const struct loupe_node *to = &l->nodes[l->block_node[edge->to]];

		assert_int_equal(last->y, to->y);
		assert_in_range(last->x, to->x + 1, to->x + to->w - 2);
		assert_int_equal(at(map, last->x, last->y)->label, 0);
		assert_true(last[-1].x == last->x && last[-1].y < last->y);
		assert_int_equal(route->upwards, to->y <= from->y);
	}
	for (uint32_t i = 0; i + 1 < route->point_cnt; i++)
		put_line(map, r, p[i], p[i + 1]);
}

static void check_sides(const struct map *map)
{
	const struct loupe_layout *l = map->layout;

	for (uint32_t n = 0; n < l->node_cnt; n++) {
		const struct loupe_block *block = &map->cfg->blocks[l->nodes[n].block];
		const struct loupe_point *taken, *other;

		for (uint32_t i = 0; i < block->succ_cnt; i++)
			assert_int_not_equal(l->edge_route[block->succ + i], NONE);
		if (block->succ_cnt < 2)
			continue;
		taken = &l->points[l->routes[l->edge_route[block->succ]].first];
		other = &l->points[l->routes[l->edge_route[block->succ + 1]].first];
		assert_true(taken->x < other->x);
	}
}

static void check_marks(const struct map *map)
{
	const struct loupe_layout *l = map->layout;
	uint32_t *cut = calloc(l->block_cnt, sizeof(*cut));

	for (uint32_t r = 0; r < l->route_cnt; r++) {
		uint32_t from = map->cfg->edges[l->routes[r].edge].from;
		uint32_t to = map->cfg->edges[l->routes[r].edge].to;

		if (l->routes[r].cut &&
		    map->cfg->blocks[from].reachable == map->cfg->blocks[to].reachable)
			cut[to]++;
	}
	for (uint32_t i = 0; i < l->label_cnt; i++) {
		if (l->labels[i].edge != NONE)
			continue;
		assert_int_equal(l->labels[i].cnt, cut[l->labels[i].block]);
		cut[l->labels[i].block] = 0;
	}
	for (uint32_t n = 0; n < l->block_cnt; n++)
		assert_true(!cut[n] || l->block_node[n] == NONE);
	free(cut);
}

static void check_picture(const struct loupe_cfg *cfg, const struct loupe_layout *layout)
{
	struct map map = { cfg, layout, NULL };

	map.cells = calloc((size_t)layout->w * (size_t)layout->h, sizeof(*map.cells));
	assert_non_null(map.cells);
	put_boxes(&map);
	for (uint32_t r = 0; r < layout->route_cnt; r++)
		check_route(&map, r);
	check_sides(&map);
	check_marks(&map);
	free(map.cells);
}

static void assert_same(const struct loupe_layout *a, const struct loupe_layout *b)
{
	assert_int_equal(a->w, b->w);
	assert_int_equal(a->h, b->h);
	assert_int_equal(a->node_cnt, b->node_cnt);
	assert_int_equal(a->point_cnt, b->point_cnt);
	assert_memory_equal(a->nodes, b->nodes, a->node_cnt * sizeof(*a->nodes));
	if (a->point_cnt)
		assert_memory_equal(a->points, b->points, a->point_cnt * sizeof(*a->points));
}

/* ---- random graphs ------------------------------------------------------------------------- */

static void check_program(const struct loupe_cfg_insn *insns, uint32_t cnt, uint64_t seed)
{
	struct loupe_cfg *cfg = build(insns, cnt);
	struct loupe_layout_opts opts;
	struct loupe_layout *layout, *again;

	loupe_layout_opts_init(&opts);
	opts.sizes = random_sizes(cfg, seed);
	if (seed % 3 == 1) {
		opts.max_span = 1 + (uint32_t)seed % 9;
		opts.max_preds = 1 + (uint32_t)seed % 4;
		opts.max_reach = 20 + (int32_t)(seed % 50);
	} else if (seed % 3 == 2) {
		opts.max_span = opts.max_preds = UINT32_MAX;
		opts.max_reach = INT32_MAX;
	}
	layout = lay_out(cfg, &opts);
	assert_int_equal(layout->node_cnt, cfg->block_cnt);
	assert_int_equal(layout->route_cnt, cfg->edge_cnt);
	check_picture(cfg, layout);
	if (seed % 3 == 2) {
		/* nothing is cut but what leads from dead code to code that is reached */
		for (uint32_t r = 0; r < layout->route_cnt; r++) {
			const struct loupe_edge *edge = &cfg->edges[layout->routes[r].edge];

			assert_int_equal(layout->routes[r].cut,
					 cfg->blocks[edge->from].reachable !=
						 cfg->blocks[edge->to].reachable);
		}
	}
	again = lay_out(cfg, &opts);
	assert_same(layout, again);
	loupe_layout_destroy(layout);
	loupe_layout_destroy(again);
	free((void *)(uintptr_t)opts.sizes);
	loupe_cfg_destroy(cfg);
}

static void random_tangles(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		uint32_t cnt = 3 + (uint32_t)seed % 120;
		struct loupe_cfg_insn *insns =
			random_program(cnt, 2 + (uint32_t)seed % 50, (uint32_t)seed % 6, seed);

		check_program(insns, cnt, seed);
		free(insns);
	}
}

static void structured_programs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		uint32_t cnt;
		struct loupe_cfg_insn *insns =
			structured_program(40 + 3 * (uint32_t)seed, seed, &cnt);

		check_program(insns, cnt, seed);
		free(insns);
	}
}

/* ---- stated pictures ----------------------------------------------------------------------- */

/* Ten conditions that all leave to the same end: two of them next to it. */
static struct loupe_cfg *ladder(void)
{
	struct loupe_cfg_insn insns[11];

	for (uint32_t i = 0; i < 10; i++)
		insns[i] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, 10, i + 1 };
	insns[10] = (struct loupe_cfg_insn){ .op = LOUPE_CFG_EXIT };
	return build(insns, 11);
}

static void shared_ends_are_cut(void **state)
{
	struct loupe_cfg *cfg = ladder();
	struct loupe_layout_opts opts;
	struct loupe_layout *layout;
	uint32_t cut = 0, marks = 0;

	(void)state;
	loupe_layout_opts_init(&opts);
	opts.sizes = random_sizes(cfg, 1);
	layout = lay_out(cfg, &opts);
	for (uint32_t r = 0; r < layout->route_cnt; r++)
		cut += layout->routes[r].cut;
	/* the last condition's two edges stay */
	assert_int_equal(cut, 9);
	for (uint32_t i = 0; i < layout->label_cnt; i++) {
		if (layout->labels[i].edge == NONE) {
			marks++;
			assert_string_equal(layout->labels[i].text, "+9");
			assert_int_equal(layout->labels[i].cnt, 9);
			assert_int_equal(layout->labels[i].block, 10);
		} else {
			assert_string_equal(layout->labels[i].text, "→10");
		}
	}
	assert_int_equal(marks, 1);
	loupe_layout_destroy(layout);
	opts.max_preds = 20;
	layout = lay_out(cfg, &opts);
	for (uint32_t r = 0; r < layout->route_cnt; r++)
		assert_false(layout->routes[r].cut);
	assert_int_equal(layout->label_cnt, 0);
	loupe_layout_destroy(layout);
	free((void *)(uintptr_t)opts.sizes);
	loupe_cfg_destroy(cfg);
}

static void hidden_blocks_leave_labels(void **state)
{
	struct loupe_cfg *cfg = ladder();
	struct loupe_layout_opts opts;
	struct loupe_layout *layout;
	uint8_t hidden[11] = { [5] = 1 };

	(void)state;
	loupe_layout_opts_init(&opts);
	opts.sizes = random_sizes(cfg, 1);
	opts.max_preds = 20;
	opts.hidden = hidden;
	layout = lay_out(cfg, &opts);
	check_picture(cfg, layout);
	assert_int_equal(layout->node_cnt, 10);
	assert_int_equal(layout->block_node[5], NONE);
	/* 4 → 5 is cut; 5's own edges are not drawn */
	assert_true(layout->routes[layout->edge_route[cfg->blocks[4].succ + 1]].cut);
	assert_int_equal(layout->edge_route[cfg->blocks[5].succ], NONE);
	assert_int_equal(layout->label_cnt, 1);
	loupe_layout_destroy(layout);
	free((void *)(uintptr_t)opts.sizes);
	loupe_cfg_destroy(cfg);
}

static void subprograms_stand_below_each_other(void **state)
{
	const struct loupe_cfg_insn insns[] = {
		{ LOUPE_CFG_CALL, 3, 0 }, { LOUPE_CFG_COND, 2, 2 }, { LOUPE_CFG_EXIT, 0, 0 },
		{ LOUPE_CFG_EXIT, 0, 0 }, { LOUPE_CFG_EXIT, 0, 0 },
	};
	struct loupe_cfg *cfg = build(insns, 5);
	struct loupe_layout_opts opts;
	struct loupe_layout *layout;

	(void)state;
	loupe_layout_opts_init(&opts);
	opts.sizes = random_sizes(cfg, 1);
	layout = lay_out(cfg, &opts);
	check_picture(cfg, layout);
	assert_int_equal(layout->node_cnt, 4);
	for (uint32_t n = 1; n < 4; n++) {
		const struct loupe_node *above = &layout->nodes[layout->block_node[n - 1]];

		assert_true(layout->nodes[layout->block_node[n]].y >= above->y + above->h + 1);
	}
	loupe_layout_destroy(layout);
	opts.subprog = 1;
	opts.dead = false;
	layout = lay_out(cfg, &opts);
	assert_int_equal(layout->node_cnt, 1);
	assert_int_equal(layout->nodes[0].block, 2);
	loupe_layout_destroy(layout);
	free((void *)(uintptr_t)opts.sizes);
	loupe_cfg_destroy(cfg);
}

static void bad_options_and_cancelling(void **state)
{
	struct loupe_cfg *cfg = ladder();
	struct loupe_cell_size sizes[11] = { [3] = { -1, 0 } };
	struct loupe_layout_opts opts;
	struct loupe_layout *layout;
	volatile int cancel = 1;

	(void)state;
	loupe_layout_opts_init(&opts);
	assert_int_equal(loupe_layout_create(cfg, &opts, &layout), -EINVAL);
	assert_null(layout);
	opts.sizes = sizes;
	assert_int_equal(loupe_layout_create(cfg, &opts, &layout), -EINVAL);
	sizes[3].w = 0;
	opts.cancel = &cancel;
	assert_int_equal(loupe_layout_create(cfg, &opts, &layout), -ECANCELED);
	assert_null(layout);
	cancel = 0;
	assert_int_equal(loupe_layout_create(cfg, &opts, &layout), 0);
	loupe_layout_destroy(layout);
	loupe_layout_destroy(NULL);
	loupe_cfg_destroy(cfg);
}

/* ---- stability ----------------------------------------------------------------------------- */

/* Matched blocks of one layer stand in the order of their partners. */
static void check_order_kept(const struct loupe_layout *layout, const struct loupe_layout *prev,
			     const uint32_t *match)
{
	for (uint32_t a = 0; a < layout->node_cnt; a++) {
		for (uint32_t b = a + 1; b < layout->node_cnt; b++) {
			uint32_t ma = match[layout->nodes[a].block];
			uint32_t mb = match[layout->nodes[b].block];
			const struct loupe_node *pa, *pb;

			if (layout->nodes[b].layer != layout->nodes[a].layer)
				break;
			if (ma == NONE || mb == NONE)
				continue;
			pa = &prev->nodes[prev->block_node[ma]];
			pb = &prev->nodes[prev->block_node[mb]];
			assert_true(pa->x + pa->w / 2 <= pb->x + pb->w / 2);
		}
	}
}

/* The program after is the program before with some instructions that do not branch taken out. */
static void matched_blocks_keep_their_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint32_t cnt, kept = 0;
		struct loupe_cfg_insn *before = structured_program(300, seed, &cnt);
		struct loupe_cfg_insn *after = calloc(cnt, sizeof(*after));
		uint32_t *to_after = calloc(cnt + 1, sizeof(*to_after));
		uint32_t *to_before = calloc(cnt, sizeof(*to_before));
		struct loupe_layout_opts opts;
		struct loupe_layout *first, *second;
		struct loupe_cfg *cfg, *other;
		uint32_t *match;
		uint64_t coin = seed;

		for (uint32_t i = 0; i < cnt; i++) {
			to_after[i] = kept;
			if (before[i].op != LOUPE_CFG_NEXT || rnd(&coin) % 2)
				to_before[kept++] = i;
		}
		for (uint32_t i = 0; i < kept; i++) {
			after[i] = before[to_before[i]];
			after[i].target = to_after[after[i].target];
			after[i].other = to_after[after[i].other];
		}
		cfg = build(before, cnt);
		loupe_layout_opts_init(&opts);
		opts.sizes = random_sizes(cfg, seed);
		first = lay_out(cfg, &opts);
		free((void *)(uintptr_t)opts.sizes);
		other = build(after, kept);
		opts.sizes = random_sizes(other, seed + 1);
		opts.prev = first;
		opts.prev_cfg = cfg;
		opts.prev_insn = to_before;
		second = lay_out(other, &opts);
		check_picture(other, second);
		match = calloc(other->block_cnt, sizeof(*match));
		loupe_cfg_match(other, cfg, to_before, match);
		check_order_kept(second, first, match);
		free((void *)(uintptr_t)opts.sizes);
		free(match);
		loupe_layout_destroy(first);
		loupe_layout_destroy(second);
		loupe_cfg_destroy(cfg);
		loupe_cfg_destroy(other);
		free(before);
		free(after);
		free(to_after);
		free(to_before);
	}
}

/* A condition and its negation: the blocks stay where they are, the edges cross. */
static void negated_condition_keeps_its_blocks(void **state)
{
	const struct loupe_cfg_insn before[] = {
		{ LOUPE_CFG_COND, 3, 1 }, { LOUPE_CFG_NEXT, 0, 0 }, { LOUPE_CFG_JUMP, 4, 0 },
		{ LOUPE_CFG_NEXT, 0, 0 }, { LOUPE_CFG_EXIT, 0, 0 },
	};
	/* 1 and 2 of before are 2 and 3, 3 of before is 1; then a jump of its own */
	const struct loupe_cfg_insn after[] = {
		{ LOUPE_CFG_COND, 3, 1 }, { LOUPE_CFG_NEXT, 0, 0 }, { LOUPE_CFG_JUMP, 5, 0 },
		{ LOUPE_CFG_NEXT, 0, 0 }, { LOUPE_CFG_JUMP, 5, 0 }, { LOUPE_CFG_EXIT, 0, 0 },
	};
	const uint32_t to_before[] = { 0, 3, NONE, 1, 2, 4 };
	const struct loupe_cell_size sizes[4] = { { 20, 1 }, { 8, 1 }, { 8, 1 }, { 8, 1 } };
	struct loupe_cfg *cfg = build(before, 5), *other = build(after, 6);
	struct loupe_layout *first, *alone, *second;
	struct loupe_layout_opts opts;
	uint32_t match[4];

	(void)state;
	loupe_cfg_match(other, cfg, to_before, match);
	assert_int_equal(match[0], 0);
	assert_int_equal(match[1], 2);
	assert_int_equal(match[2], 1);
	assert_int_equal(match[3], 3);
	loupe_layout_opts_init(&opts);
	opts.sizes = sizes;
	first = lay_out(cfg, &opts);
	alone = lay_out(other, &opts);
	assert_true(first->nodes[first->block_node[2]].x < first->nodes[first->block_node[1]].x);
	assert_true(alone->nodes[alone->block_node[2]].x < alone->nodes[alone->block_node[1]].x);
	opts.prev = first;
	opts.prev_cfg = cfg;
	opts.prev_insn = to_before;
	second = lay_out(other, &opts);
	check_picture(other, second);
	assert_true(second->nodes[second->block_node[1]].x <
		    second->nodes[second->block_node[2]].x);
	loupe_layout_destroy(first);
	loupe_layout_destroy(alone);
	loupe_layout_destroy(second);
	loupe_cfg_destroy(cfg);
	loupe_cfg_destroy(other);
}

/* ---- queries ------------------------------------------------------------------------------- */

struct seen {
	uint32_t nodes, labels;
	uint8_t *routes;
};

static void see(void *data, struct loupe_layout_hit hit)
{
	struct seen *seen = data;

	seen->nodes += hit.thing == LOUPE_LAYOUT_NODE;
	seen->labels += hit.thing == LOUPE_LAYOUT_LABEL;
	if (hit.thing == LOUPE_LAYOUT_ROUTE)
		seen->routes[hit.index] = 1;
}

static bool overlap(int32_t x0, int32_t y0, int32_t x1, int32_t y1, const int32_t *r)
{
	return x0 < r[0] + r[2] && x1 >= r[0] && y0 < r[1] + r[3] && y1 >= r[1];
}

static void check_visit(const struct loupe_layout *l, const int32_t *r)
{
	struct seen seen = { 0, 0, calloc(l->route_cnt + 1, 1) };

	loupe_layout_visit(l, r[0], r[1], r[2], r[3], see, &seen);
	for (uint32_t i = 0; i < l->node_cnt; i++) {
		const struct loupe_node *n = &l->nodes[i];

		seen.nodes -= overlap(n->x, n->y, n->x + n->w - 1, n->y + n->h - 1, r);
	}
	for (uint32_t i = 0; i < l->label_cnt; i++) {
		const struct loupe_label *label = &l->labels[i];

		seen.labels -= overlap(label->x, label->y, label->x + label->w - 1, label->y, r);
	}
	assert_int_equal(seen.nodes, 0);
	assert_int_equal(seen.labels, 0);
	for (uint32_t i = 0; i < l->route_cnt; i++) {
		const struct loupe_point *p = &l->points[l->routes[i].first];
		bool touched = false;

		for (uint32_t k = 0; k + 1 < l->routes[i].point_cnt; k++, p++)
			touched |= overlap(p[0].x < p[1].x ? p[0].x : p[1].x,
					   p[0].y < p[1].y ? p[0].y : p[1].y,
					   p[0].x < p[1].x ? p[1].x : p[0].x,
					   p[0].y < p[1].y ? p[1].y : p[0].y, r);
		assert_int_equal(seen.routes[i], touched);
	}
	free(seen.routes);
}

static void check_at(const struct loupe_layout *l, int32_t x, int32_t y)
{
	struct loupe_layout_hit hit = loupe_layout_at(l, x, y);
	const int32_t cell[] = { x, y, 1, 1 };
	bool node = false, label = false, upright = false, line = false;

	for (uint32_t i = 0; i < l->node_cnt; i++) {
		const struct loupe_node *n = &l->nodes[i];

		node |= overlap(n->x, n->y, n->x + n->w - 1, n->y + n->h - 1, cell);
	}
	for (uint32_t i = 0; i < l->label_cnt; i++)
		label |= overlap(l->labels[i].x, l->labels[i].y,
				 l->labels[i].x + l->labels[i].w - 1, l->labels[i].y, cell);
	for (uint32_t i = 0; i < l->route_cnt; i++) {
		const struct loupe_point *p = &l->points[l->routes[i].first];

		for (uint32_t k = 0; k + 1 < l->routes[i].point_cnt; k++, p++) {
			bool on = overlap(p[0].x < p[1].x ? p[0].x : p[1].x,
					  p[0].y < p[1].y ? p[0].y : p[1].y,
					  p[0].x < p[1].x ? p[1].x : p[0].x,
					  p[0].y < p[1].y ? p[1].y : p[0].y, cell);

			line |= on;
			upright |= on && p[0].x == p[1].x;
			if (on && hit.thing == LOUPE_LAYOUT_ROUTE && hit.index == i &&
			    p[0].x == p[1].x)
				upright = false;
		}
	}
	assert_int_equal(hit.thing, label  ? LOUPE_LAYOUT_LABEL
				    : node ? LOUPE_LAYOUT_NODE
				    : line ? LOUPE_LAYOUT_ROUTE
					   : LOUPE_LAYOUT_NOTHING);
}

static void queries_find_what_is_there(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		struct loupe_cfg_insn *insns = random_program(150, 30, 5, seed);
		struct loupe_cfg *cfg = build(insns, 150);
		struct loupe_layout_opts opts;
		struct loupe_layout *l;
		uint64_t coin = seed;

		loupe_layout_opts_init(&opts);
		opts.sizes = random_sizes(cfg, seed);
		l = lay_out(cfg, &opts);
		for (int i = 0; i < 40; i++) {
			const int32_t r[] = {
				(int32_t)(rnd(&coin) % (uint32_t)(l->w + 20)) - 10,
				(int32_t)(rnd(&coin) % (uint32_t)(l->h + 20)) - 10,
				1 + (int32_t)(rnd(&coin) % 200),
				1 + (int32_t)(rnd(&coin) % 60),
			};

			check_visit(l, r);
			check_at(l, r[0], r[1]);
		}
		assert_int_equal(loupe_layout_at(l, -1, 0).thing, LOUPE_LAYOUT_NOTHING);
		assert_int_equal(loupe_layout_at(l, 0, l->h).thing, LOUPE_LAYOUT_NOTHING);
		loupe_layout_destroy(l);
		free((void *)(uintptr_t)opts.sizes);
		free(insns);
		loupe_cfg_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_tangles),
		cmocka_unit_test(structured_programs),
		cmocka_unit_test(shared_ends_are_cut),
		cmocka_unit_test(hidden_blocks_leave_labels),
		cmocka_unit_test(subprograms_stand_below_each_other),
		cmocka_unit_test(bad_options_and_cancelling),
		cmocka_unit_test(matched_blocks_keep_their_order),
		cmocka_unit_test(negated_condition_keeps_its_blocks),
		cmocka_unit_test(queries_find_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
