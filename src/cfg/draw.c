// SPDX-License-Identifier: GPL-2.0-only
/* A layout on a canvas. */
#include "cfg/canvas_internal.h"
#include "cfg/layout_internal.h"

#include <stdio.h>

struct drawing {
	const struct loupe_layout *layout;
	const struct loupe_cfg *cfg;
	const struct loupe_block_content *content;
	struct loupe_canvas *canvas;
	bool selected; /* the pass that draws selected edges, over all others */
};

enum loupe_role layout_edge_role(const struct loupe_cfg *cfg,
				 const struct loupe_block_content *content,
				 const struct loupe_route *route)
{
	static const uint8_t by_kind[] = {
		[LOUPE_EDGE_FALLTHROUGH] = LOUPE_ROLE_EDGE,
		[LOUPE_EDGE_JUMP] = LOUPE_ROLE_EDGE,
		[LOUPE_EDGE_TRUE] = LOUPE_ROLE_EDGE_TRUE,
		[LOUPE_EDGE_FALSE] = LOUPE_ROLE_EDGE_FALSE,
		[LOUPE_EDGE_MAY_GOTO] = LOUPE_ROLE_EDGE_TRUE,
	};

	if (content && content->edge_role)
		return content->edge_role(content->data, route->edge);
	return route->upwards ? LOUPE_ROLE_EDGE_BACK : by_kind[cfg->edges[route->edge].kind];
}

enum loupe_role layout_block_role(const struct loupe_cfg *cfg,
				  const struct loupe_block_content *content, uint32_t block)
{
	if (content && content->block_role)
		return content->block_role(content->data, block);
	return cfg->blocks[block].reachable ? LOUPE_ROLE_BLOCK : LOUPE_ROLE_BLOCK_DEAD;
}

static enum loupe_role edge_role(const struct drawing *d, const struct loupe_route *route)
{
	return layout_edge_role(d->cfg, d->content, route);
}

/* Where an edge goes up, an arrow below the turn at its upper end. */
static void draw_arrows(const struct drawing *d, const struct loupe_route *route,
			enum loupe_role role)
{
	const struct loupe_point *p = &d->layout->points[route->first];

	for (uint32_t i = 0; i + 1 < route->point_cnt; i++) {
		if (p[i].y > p[i + 1].y + 1)
			canvas_put(d->canvas, p[i].x, p[i + 1].y + 1, role, 0x25b2);
	}
}

static void draw_line(void *data, enum loupe_layout_thing thing, uint32_t index, int32_t x0,
		      int32_t y0, int32_t x1, int32_t y1)
{
	const struct drawing *d = data;
	enum loupe_role role;

	if (thing != LOUPE_LAYOUT_ROUTE)
		return;
	role = edge_role(d, &d->layout->routes[index]);
	if ((role == LOUPE_ROLE_EDGE_SELECTED) != d->selected)
		return;
	canvas_line(d->canvas, x0, y0, x1, y1, role, d->selected);
	if (d->layout->routes[index].upwards)
		draw_arrows(d, &d->layout->routes[index], role);
}

static void draw_text_line(const struct drawing *d, const struct loupe_node *node, uint32_t i)
{
	struct loupe_canvas *canvas = d->canvas;
	struct loupe_block_line line = { .text = "" };
	int32_t y = node->y + 1 + (int32_t)i, x = node->x + 2, w = node->w - 4, mark;

	d->content->line(d->content->data, node->block, i, &line);
	mark = loupe_text_columns(line.mark);
	mark = mark < w ? mark : w;
	loupe_canvas_text(canvas, x, y, mark ? w - mark - 1 : w, line.role, line.text);
	for (int32_t k = 0; k < line.number && k < w; k++) {
		struct loupe_cell *cell = loupe_canvas_cell(canvas, x + k, y);

		if (cell)
			cell->role = LOUPE_ROLE_NUMBER;
	}
	/* the mark ends where the border begins */
	loupe_canvas_text(canvas, x + w + 1 - mark, y, mark, line.mark_role, line.mark);
	for (int32_t k = 1; line.heat && k < node->w - 1; k++) {
		struct loupe_cell *cell = loupe_canvas_cell(canvas, node->x + k, y);

		if (cell)
			cell->heat = line.heat;
	}
}

static void draw_ports(const struct drawing *d, const struct loupe_node *node)
{
	const struct loupe_layout *l = d->layout;
	const struct loupe_block *block = &d->cfg->blocks[node->block];

	for (uint32_t e = block->succ; e < block->succ + block->succ_cnt; e++) {
		static const char letters[] = {
			[LOUPE_EDGE_TRUE] = 't',
			[LOUPE_EDGE_FALSE] = 'f',
			[LOUPE_EDGE_MAY_GOTO] = 'm',
		};
		const struct loupe_route *route = &l->routes[l->edge_route[e]];
		const struct loupe_point *p = &l->points[route->first];

		if (block->succ_cnt == 2)
			canvas_put(d->canvas, p->x, p->y, edge_role(d, route),
				   (uint32_t)letters[d->cfg->edges[e].kind]);
		else
			canvas_port(d->canvas, p->x, p->y, true, edge_role(d, route));
	}
	for (uint32_t i = 0; i < block->pred_cnt; i++) {
		uint32_t r = l->edge_route[d->cfg->preds[block->pred + i]];
		const struct loupe_route *route;
		const struct loupe_point *p;

		if (r == LOUPE_CFG_NONE || l->routes[r].cut)
			continue;
		route = &l->routes[r];
		p = &l->points[route->first + route->point_cnt - 1];
		canvas_port(d->canvas, p->x, p->y, false, edge_role(d, route));
	}
}

/* The last line of a block that is taller than its box tells what is not shown. */
static void draw_rest(const struct drawing *d, const struct loupe_node *node, uint32_t row,
		      uint32_t cnt)
{
	char text[32];

	snprintf(text, sizeof(text), "... %u more", cnt);
	loupe_canvas_text(d->canvas, node->x + 2, node->y + 1 + (int32_t)row, node->w - 4,
			  LOUPE_ROLE_NUMBER, text);
}

static void draw_node(const struct drawing *d, const struct loupe_node *node)
{
	struct loupe_canvas *canvas = d->canvas;
	enum loupe_role role = layout_block_role(d->cfg, d->content, node->block);
	int64_t first = (int64_t)canvas->y - node->y - 1, end = first + canvas->h;
	uint32_t lines, shown;

	canvas_box(canvas, node->x, node->y, node->w, node->h, role);
	draw_ports(d, node);
	if (!d->content || !d->content->lines)
		return;
	lines = d->content->lines(d->content->data, node->block);
	shown = lines;
	if (lines > (uint32_t)node->h - 2)
		shown = node->h > 2 ? (uint32_t)node->h - 3 : 0;
	for (int64_t i = first > 0 ? first : 0; i < end && i < shown; i++)
		draw_text_line(d, node, (uint32_t)i);
	if (shown < lines && node->h > 2)
		draw_rest(d, node, shown, lines - shown);
}

static void draw_thing(void *data, enum loupe_layout_thing thing, uint32_t index, int32_t x0,
		       int32_t y0, int32_t x1, int32_t y1)
{
	const struct drawing *d = data;

	(void)x0, (void)y0, (void)x1, (void)y1;
	if (thing == LOUPE_LAYOUT_NODE)
		draw_node(d, &d->layout->nodes[index]);
}

static void draw_label(void *data, enum loupe_layout_thing thing, uint32_t index, int32_t x0,
		       int32_t y0, int32_t x1, int32_t y1)
{
	const struct drawing *d = data;
	const struct loupe_label *label;

	(void)x0, (void)y0, (void)x1, (void)y1;
	if (thing != LOUPE_LAYOUT_LABEL)
		return;
	label = &d->layout->labels[index];
	loupe_canvas_text(d->canvas, label->x, label->y, label->w, LOUPE_ROLE_LABEL, label->text);
}

void loupe_layout_draw(const struct loupe_layout *layout, const struct loupe_cfg *cfg,
		       const struct loupe_block_content *content, struct loupe_canvas *canvas)
{
	struct drawing d = { layout, cfg, content, canvas, false };

	lay_index_visit(layout, canvas->x, canvas->y, canvas->w, canvas->h, draw_line, &d);
	d.selected = true;
	lay_index_visit(layout, canvas->x, canvas->y, canvas->w, canvas->h, draw_line, &d);
	lay_index_visit(layout, canvas->x, canvas->y, canvas->w, canvas->h, draw_thing, &d);
	lay_index_visit(layout, canvas->x, canvas->y, canvas->w, canvas->h, draw_label, &d);
}
