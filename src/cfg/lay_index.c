// SPDX-License-Identifier: GPL-2.0-only
/* A grid over the picture: what is at a cell, what touches a rectangle. */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdlib.h>

struct rect {
	int32_t x0, y0, x1, y1; /* inclusive */
};

/* A node, a label, or the piece of a route between a point and the next. */
struct item {
	struct rect at;
	uint32_t index; /* in nodes, labels or routes */
	uint8_t thing;	/* enum loupe_layout_thing */
};

struct loupe_layout_index {
	int32_t cell_w, cell_h; /* of a grid cell */
	int32_t cols, rows;
	uint32_t *first; /* by grid cell, one more; in list */
	uint32_t *list;	 /* items */
	struct item *items;
	uint32_t item_cnt;
};

static int32_t least(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static void add(struct loupe_layout_index *index, enum loupe_layout_thing thing, uint32_t i,
		struct rect at)
{
	index->items[index->item_cnt++] = (struct item){ at, i, (uint8_t)thing };
}

static void collect(const struct loupe_layout *l, struct loupe_layout_index *index)
{
	for (uint32_t i = 0; i < l->label_cnt; i++) {
		const struct loupe_label *label = &l->labels[i];

		add(index, LOUPE_LAYOUT_LABEL, i,
		    (struct rect){ label->x, label->y, label->x + label->w - 1, label->y });
	}
	for (uint32_t i = 0; i < l->node_cnt; i++) {
		const struct loupe_node *node = &l->nodes[i];

		add(index, LOUPE_LAYOUT_NODE, i,
		    (struct rect){ node->x, node->y, node->x + node->w - 1,
				   node->y + node->h - 1 });
	}
	for (uint32_t i = 0; i < l->route_cnt; i++) {
		const struct loupe_point *p = l->points + l->routes[i].first;

		for (uint32_t k = 0; k + 1 < l->routes[i].point_cnt; k++, p++)
			add(index, LOUPE_LAYOUT_ROUTE, i,
			    (struct rect){ least(p[0].x, p[1].x), least(p[0].y, p[1].y),
					   most(p[0].x, p[1].x), most(p[0].y, p[1].y) });
	}
}

static struct rect grid_cells(const struct loupe_layout_index *index, struct rect r)
{
	return (struct rect){
		most(r.x0 / index->cell_w, 0),
		most(r.y0 / index->cell_h, 0),
		least(r.x1 / index->cell_w, index->cols - 1),
		least(r.y1 / index->cell_h, index->rows - 1),
	};
}

/* Calls the two passes of filling: counting first, then storing. */
static uint64_t spread(struct loupe_layout_index *index, bool store)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < index->item_cnt; i++) {
		struct rect r = grid_cells(index, index->items[i].at);

		for (int32_t y = r.y0; y <= r.y1; y++) {
			for (int32_t x = r.x0; x <= r.x1; x++) {
				uint32_t cell = (uint32_t)y * (uint32_t)index->cols + (uint32_t)x;

				if (store)
					index->list[index->first[cell]++] = i;
				else
					index->first[cell + 1]++;
				total++;
			}
		}
	}
	return total;
}

int lay_index_create(struct loupe_layout *l)
{
	struct loupe_layout_index *index = calloc(1, sizeof(*index));
	size_t items = (size_t)l->label_cnt + l->node_cnt + l->point_cnt, cells;
	uint64_t total;

	l->index = index;
	if (!index)
		return -ENOMEM;
	index->cell_w = 32;
	index->cell_h = 8;
	for (;;) {
		index->cols = l->w / index->cell_w + 1;
		index->rows = l->h / index->cell_h + 1;
		cells = (size_t)index->cols * (size_t)index->rows;
		if (cells <= 1024 + 2 * items)
			break;
		if (index->cell_w <= 2 * index->cell_h)
			index->cell_w *= 2;
		else
			index->cell_h *= 2;
	}
	index->items = malloc((items + 1) * sizeof(*index->items));
	index->first = calloc(cells + 1, sizeof(*index->first));
	if (!index->items || !index->first)
		return -ENOMEM;
	collect(l, index);
	total = spread(index, false);
	if (total >= UINT32_MAX)
		return -E2BIG;
	index->list = malloc((total + 1) * sizeof(*index->list));
	if (!index->list)
		return -ENOMEM;
	for (size_t c = 0; c < cells; c++)
		index->first[c + 1] += index->first[c];
	spread(index, true);
	/* each first has moved to its end, which is the next one's first */
	for (size_t c = cells; c > 0; c--)
		index->first[c] = index->first[c - 1];
	index->first[0] = 0;
	return 0;
}

void lay_index_destroy(struct loupe_layout_index *index)
{
	if (!index)
		return;
	free(index->first);
	free(index->list);
	free(index->items);
	free(index);
}

static bool touches(struct rect a, struct rect b)
{
	return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

struct loupe_layout_hit loupe_layout_at(const struct loupe_layout *l, int32_t x, int32_t y)
{
	const struct loupe_layout_index *index = l->index;
	struct loupe_layout_hit hit = { LOUPE_LAYOUT_NOTHING, 0 };
	struct rect at = { x, y, x, y };
	bool upright = false;
	uint32_t cell;

	if (x < 0 || y < 0 || x >= l->w || y >= l->h)
		return hit;
	cell = (uint32_t)(y / index->cell_h) * (uint32_t)index->cols +
	       (uint32_t)(x / index->cell_w);
	for (uint32_t i = index->first[cell]; i < index->first[cell + 1]; i++) {
		const struct item *item = &index->items[index->list[i]];

		if (!touches(item->at, at))
			continue;
		/* labels come first, then nodes; where lines cross, the upright one shows */
		if (item->thing != LOUPE_LAYOUT_ROUTE)
			return (struct loupe_layout_hit){ item->thing, item->index };
		if (hit.thing && (upright || item->at.x0 != item->at.x1))
			continue;
		hit = (struct loupe_layout_hit){ item->thing, item->index };
		upright = item->at.x0 == item->at.x1;
	}
	return hit;
}

void lay_index_visit(const struct loupe_layout *l, int32_t x, int32_t y, int32_t w, int32_t h,
		     lay_visit *visit, void *data)
{
	const struct loupe_layout_index *index = l->index;
	struct rect wanted = { x, y, x + w - 1, y + h - 1 }, cells;

	if (w <= 0 || h <= 0 || wanted.x1 < 0 || wanted.y1 < 0 || x >= l->w || y >= l->h)
		return;
	cells = grid_cells(index, wanted);
	for (int32_t cy = cells.y0; cy <= cells.y1; cy++) {
		for (int32_t cx = cells.x0; cx <= cells.x1; cx++) {
			uint32_t cell = (uint32_t)cy * (uint32_t)index->cols + (uint32_t)cx;

			for (uint32_t i = index->first[cell]; i < index->first[cell + 1]; i++) {
				const struct item *item = &index->items[index->list[i]];
				struct rect r = grid_cells(index, item->at);

				/* in the first of the grid cells that both share */
				if (touches(item->at, wanted) && most(r.x0, cells.x0) == cx &&
				    most(r.y0, cells.y0) == cy)
					visit(data, item->thing, item->index, item->at.x0,
					      item->at.y0, item->at.x1, item->at.y1);
			}
		}
	}
}

struct caller {
	void (*visit)(void *data, struct loupe_layout_hit hit);
	void *data;
};

static void tell(void *data, enum loupe_layout_thing thing, uint32_t i, int32_t x0, int32_t y0,
		 int32_t x1, int32_t y1)
{
	const struct caller *caller = data;

	(void)x0, (void)y0, (void)x1, (void)y1;
	caller->visit(caller->data, (struct loupe_layout_hit){ thing, i });
}

void loupe_layout_visit(const struct loupe_layout *l, int32_t x, int32_t y, int32_t w, int32_t h,
			void (*visit)(void *data, struct loupe_layout_hit hit), void *data)
{
	struct caller caller = { visit, data };

	lay_index_visit(l, x, y, w, h, tell, &caller);
}
