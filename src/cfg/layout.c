// SPDX-License-Identifier: GPL-2.0-only
/* The layout as callers see it: splits the graph into pieces, lays each out, puts them together. */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE	   LOUPE_CFG_NONE
#define MAX_CELLS  (1 << 30)
#define MAX_INSIDE (1 << 15)
/* Edges to a block where others are cut may go that many times less far. */
#define SHARED_REACH 8
/* Rows between pieces, columns between small ones in a row, columns that small ones may fill. */
#define PIECE_ROWS    1
#define PIECE_COLUMNS 3
#define ROW_COLUMNS   100

struct builder {
	const struct loupe_cfg *cfg;
	const struct loupe_layout_opts *opts;
	struct loupe_layout *layout;
	struct loupe_cell_size *sizes; /* measured, or NULL */
	uint32_t *piece_of;	       /* by block: first block of its piece */
	uint32_t *node_of;
	uint8_t *far;
	int64_t *prev_rank;
	uint32_t node_size, route_size, point_size, label_size; /* allocated */
	/* packing */
	int32_t x, y, row_h;
};

void loupe_layout_opts_init(struct loupe_layout_opts *opts)
{
	*opts = (struct loupe_layout_opts){
		.subprog = NONE,
		.dead = true,
		.max_span = 24,
		.max_preds = 6,
		.max_reach = 400,
	};
}

/* ---- what is drawn ------------------------------------------------------------------------ */

static bool drawn(const struct builder *b, uint32_t n)
{
	const struct loupe_block *block = &b->cfg->blocks[n];

	if (b->opts->subprog != NONE && block->subprog != b->opts->subprog)
		return false;
	if (b->opts->hidden && b->opts->hidden[n])
		return false;
	return block->reachable || b->opts->dead;
}

static uint32_t find(uint32_t *piece_of, uint32_t n)
{
	while (piece_of[n] != n) {
		piece_of[n] = piece_of[piece_of[n]];
		n = piece_of[n];
	}
	return n;
}

/* Pieces are connected; code that is never reached is not connected with code that is. */
static void split_pieces(struct builder *b)
{
	const struct loupe_cfg *cfg = b->cfg;

	for (uint32_t n = 0; n < cfg->block_cnt; n++)
		b->piece_of[n] = drawn(b, n) ? n : NONE;
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		uint32_t from = cfg->edges[e].from, to = cfg->edges[e].to;

		if (b->piece_of[from] == NONE || b->piece_of[to] == NONE ||
		    cfg->blocks[from].reachable != cfg->blocks[to].reachable)
			continue;
		from = find(b->piece_of, from);
		to = find(b->piece_of, to);
		if (from < to)
			b->piece_of[to] = from;
		else
			b->piece_of[from] = to;
	}
	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		if (b->piece_of[n] != NONE)
			b->piece_of[n] = find(b->piece_of, n);
	}
}

static int measure(struct builder *b)
{
	const struct loupe_block_content *content = b->opts->content;

	if (b->opts->sizes) {
		for (uint32_t n = 0; n < b->cfg->block_cnt; n++) {
			const struct loupe_cell_size *size = &b->opts->sizes[n];

			if (size->w < 0 || size->h < 0 || size->w >= MAX_INSIDE ||
			    size->h >= MAX_INSIDE)
				return -EINVAL;
		}
		return 0;
	}
	if (!content || !content->lines || !content->line)
		return -EINVAL;
	b->sizes = calloc(b->cfg->block_cnt, sizeof(*b->sizes));
	if (!b->sizes)
		return -ENOMEM;
	for (uint32_t n = 0; n < b->cfg->block_cnt; n++) {
		uint32_t lines;

		if (!drawn(b, n))
			continue;
		if (!(n & 63) && b->opts->cancel && *b->opts->cancel)
			return -ECANCELED;
		lines = content->lines(content->data, n);
		lines = lines < MAX_INSIDE ? lines : MAX_INSIDE - 1;
		b->sizes[n].h = (int32_t)lines;
		for (uint32_t i = 0; i < lines; i++) {
			struct loupe_block_line line = { .text = "" };
			int32_t w;

			content->line(content->data, n, i, &line);
			w = loupe_text_columns(line.text) + 2;
			if (line.mark[0])
				w += loupe_text_columns(line.mark) + 1;
			b->sizes[n].w = w > b->sizes[n].w ? w : b->sizes[n].w;
		}
	}
	return 0;
}

static int rank_previous(struct builder *b)
{
	const struct loupe_layout_opts *opts = b->opts;
	uint32_t *match;

	if (!opts->prev || !opts->prev_cfg || !opts->prev_insn)
		return 0;
	match = malloc(b->cfg->block_cnt * sizeof(*match));
	b->prev_rank = malloc(b->cfg->block_cnt * sizeof(*b->prev_rank));
	if (!match || !b->prev_rank) {
		free(match);
		return -ENOMEM;
	}
	loupe_cfg_match(b->cfg, opts->prev_cfg, opts->prev_insn, match);
	for (uint32_t n = 0; n < b->cfg->block_cnt; n++) {
		uint32_t node =
			match[n] < opts->prev->block_cnt ? opts->prev->block_node[match[n]] : NONE;

		b->prev_rank[n] = -1;
		if (node != NONE)
			b->prev_rank[n] = opts->prev->nodes[node].x + opts->prev->nodes[node].w / 2;
	}
	free(match);
	return 0;
}

/* ---- putting together --------------------------------------------------------------------- */

static int grow(void **array, uint32_t *size, uint32_t need, size_t each)
{
	uint32_t wanted = *size ? *size : 64;
	void *p;

	if (need <= *size)
		return 0;
	while (wanted < need)
		wanted *= 2;
	p = realloc(*array, wanted * each);
	if (!p)
		return -ENOMEM;
	*array = p;
	*size = wanted;
	return 0;
}

static int make_room(struct builder *b, const struct lay_graph *g)
{
	struct loupe_layout *l = b->layout;
	int ret = grow((void **)&l->nodes, &b->node_size, l->node_cnt + g->block_cnt,
		       sizeof(*l->nodes));

	if (!ret)
		ret = grow((void **)&l->routes, &b->route_size, l->route_cnt + g->edge_cnt,
			   sizeof(*l->routes));
	if (!ret)
		ret = grow((void **)&l->points, &b->point_size, l->point_cnt + g->point_cnt,
			   sizeof(*l->points));
	/* a label for each cut edge, and a mark for each block */
	if (!ret)
		ret = grow((void **)&l->labels, &b->label_size,
			   l->label_cnt + g->edge_cnt + g->block_cnt, sizeof(*l->labels));
	return ret;
}

static void take_nodes(struct builder *b, const struct lay_graph *g, int32_t x, int32_t y)
{
	struct loupe_layout *l = b->layout;

	for (uint32_t s = 0; s < g->node_cnt; s++) {
		const struct lay_node *node = &g->nodes[g->slots[s]];
		int32_t mark;

		if (node->type != LAY_BLOCK)
			continue;
		l->block_node[node->block] = l->node_cnt;
		l->nodes[l->node_cnt++] = (struct loupe_node){
			.block = node->block,
			.layer = l->layer_cnt + node->layer,
			.x = x + node->x,
			.y = y + node->y,
			.w = node->w,
			.h = node->h,
		};
		mark = lay_mark_width(g, g->slots[s]);
		if (!mark)
			continue;
		l->labels[l->label_cnt] = (struct loupe_label){
			.x = x + node->x + node->w - 2 - mark,
			.y = y + node->y,
			.w = mark,
			.block = node->block,
			.edge = NONE,
			.cnt = g->cut_in[g->slots[s]],
		};
		snprintf(l->labels[l->label_cnt].text, sizeof(l->labels[0].text), "+%u",
			 g->cut_in[g->slots[s]]);
		l->label_cnt++;
	}
	l->layer_cnt += g->layer_cnt;
}

static void take_routes(struct builder *b, const struct lay_graph *g, int32_t x, int32_t y)
{
	struct loupe_layout *l = b->layout;

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		const struct lay_edge *edge = &g->edges[e];
		struct loupe_route *route = &l->routes[l->route_cnt];

		*route = (struct loupe_route){
			.edge = edge->edge,
			.first = l->point_cnt,
			.point_cnt = g->route_first[e + 1] - g->route_first[e],
			.upwards = edge->upwards,
			.cut = edge->cut,
			.label = NONE,
		};
		l->edge_route[edge->edge] = l->route_cnt++;
		for (uint32_t p = g->route_first[e]; p < g->route_first[e + 1]; p++)
			l->points[l->point_cnt++] = (struct loupe_point){
				x + g->points[p].x,
				y + g->points[p].y,
			};
		if (edge->cut) {
			const struct lay_node *node = &g->nodes[edge->to];
			struct loupe_label *label = &l->labels[l->label_cnt];

			*label = (struct loupe_label){
				.x = x + node->x,
				.y = y + node->y,
				.w = node->w,
				.block = node->block,
				.edge = edge->edge,
				.cnt = 1,
			};
			lay_label_text(g, node->block, edge->upwards, label->text,
				       sizeof(label->text));
			route->label = l->label_cnt++;
		}
	}
}

/* Parts of a subprogram that are reached stand below each other, small dead ones in rows. */
static int take(struct builder *b, const struct lay_graph *g, bool live)
{
	struct loupe_layout *l = b->layout;
	int32_t widest = l->w > ROW_COLUMNS ? l->w : ROW_COLUMNS;
	int ret = make_room(b, g);

	if (ret)
		return ret;
	if (b->row_h && (live || b->x + g->w > widest)) {
		b->y += b->row_h + PIECE_ROWS;
		b->x = b->row_h = 0;
	}
	if (g->w > MAX_CELLS - b->x || g->h > MAX_CELLS - b->y)
		return -E2BIG;
	take_nodes(b, g, b->x, b->y);
	take_routes(b, g, b->x, b->y);
	if (b->x + g->w > l->w)
		l->w = b->x + g->w;
	if (b->y + g->h > l->h)
		l->h = b->y + g->h;
	if (g->h > b->row_h)
		b->row_h = g->h;
	b->x += g->w + PIECE_COLUMNS;
	if (live) {
		b->y += b->row_h + PIECE_ROWS;
		b->x = b->row_h = 0;
	}
	return 0;
}

/* Marks edges of the piece whose ends are too far apart. */
static bool mark_far(struct builder *b, const struct lay_graph *g)
{
	bool any = false;

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		const struct lay_edge *edge = &g->edges[e];
		const struct lay_node *from = &g->nodes[edge->from], *to = &g->nodes[edge->to];
		int64_t reach = (int64_t)to->x + to->w / 2 -
				(from->x + lay_port_offset(from->w, edge->port));
		int32_t limit = b->opts->max_reach;

		if (edge->cut || b->far[edge->edge])
			continue;
		/* where some are cut, only near ones are worth their lines */
		if (g->cut_in[edge->to])
			limit /= SHARED_REACH;
		if (reach <= limit && -reach <= limit)
			continue;
		b->far[edge->edge] = 1;
		any = true;
	}
	return any;
}

static int lay_piece(struct builder *b, uint32_t piece)
{
	struct lay_graph g;
	int ret;

	for (int attempt = 0;; attempt++) {
		g = (struct lay_graph){
			.cfg = b->cfg,
			.opts = b->opts,
			.sizes = b->sizes ? b->sizes : b->opts->sizes,
			.piece_of = b->piece_of,
			.prev_rank = b->prev_rank,
			.far = b->far,
			.piece = piece,
			.node_of = b->node_of,
		};
		ret = lay_layers(&g);
		if (!ret)
			ret = lay_order(&g);
		if (!ret)
			ret = lay_coords(&g);
		if (!ret)
			ret = lay_settle(&g);
		if (ret || attempt || !mark_far(b, &g))
			break;
		lay_graph_finish(&g);
	}
	if (!ret)
		ret = lay_route(&g);
	if (!ret)
		ret = take(b, &g, b->cfg->blocks[piece].reachable);
	lay_graph_finish(&g);
	return ret;
}

/* Of each subprogram what is reached, then what is not. */
static int lay_pieces(struct builder *b)
{
	const struct loupe_cfg *cfg = b->cfg;
	int ret = 0;

	for (uint32_t s = 0; s < cfg->subprog_cnt; s++) {
		const struct loupe_subprog *sub = &cfg->subprogs[s];

		for (int dead = 0; dead <= 1; dead++) {
			for (uint32_t i = 0; i < sub->block_cnt && !ret; i++) {
				uint32_t n = sub->first_block + i;

				if (b->piece_of[n] == n && cfg->blocks[n].reachable == !dead)
					ret = lay_piece(b, n);
			}
		}
		if (b->row_h) {
			b->y += b->row_h + PIECE_ROWS;
			b->x = b->row_h = 0;
		}
	}
	return ret;
}

static int prepare(struct builder *b)
{
	struct loupe_layout *l = b->layout;
	size_t blocks = b->cfg->block_cnt, edges = b->cfg->edge_cnt + (size_t)1;

	l->block_cnt = b->cfg->block_cnt;
	l->edge_cnt = b->cfg->edge_cnt;
	l->block_node = malloc(blocks * sizeof(*l->block_node));
	l->edge_route = malloc(edges * sizeof(*l->edge_route));
	b->piece_of = malloc(blocks * sizeof(*b->piece_of));
	b->node_of = malloc(blocks * sizeof(*b->node_of));
	b->far = calloc(edges, 1);
	if (!l->block_node || !l->edge_route || !b->piece_of || !b->node_of || !b->far)
		return -ENOMEM;
	memset(l->block_node, 0xff, blocks * sizeof(*l->block_node));
	memset(l->edge_route, 0xff, edges * sizeof(*l->edge_route));
	split_pieces(b);
	return rank_previous(b);
}

int loupe_layout_create(const struct loupe_cfg *cfg, const struct loupe_layout_opts *opts,
			struct loupe_layout **out)
{
	struct builder b = { .cfg = cfg, .opts = opts };
	int ret;

	*out = NULL;
	b.layout = calloc(1, sizeof(*b.layout));
	ret = b.layout ? measure(&b) : -ENOMEM;
	if (!ret)
		ret = prepare(&b);
	if (!ret)
		ret = lay_pieces(&b);
	if (!ret)
		ret = lay_index_create(b.layout);
	free(b.sizes);
	free(b.piece_of);
	free(b.node_of);
	free(b.far);
	free(b.prev_rank);
	if (ret) {
		loupe_layout_destroy(b.layout);
		return ret;
	}
	*out = b.layout;
	return 0;
}

void loupe_layout_destroy(struct loupe_layout *layout)
{
	if (!layout)
		return;
	lay_index_destroy(layout->index);
	free(layout->nodes);
	free(layout->block_node);
	free(layout->routes);
	free(layout->edge_route);
	free(layout->points);
	free(layout->labels);
	free(layout);
}
