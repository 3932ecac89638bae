/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared between the stages of the layout. A picture consists of pieces, connected parts of the
 * graph; each piece goes through the stages alone:
 *
 *	lay_layers()   which edges are cut, the layer of each block, dummies and labels
 *	lay_order()    left to right within each layer
 *	lay_coords()   columns
 *	lay_settle()   moves what hangs loose nearer to where its edge comes from
 *	lay_route()    rows, and the edges' lines in the channels between the layers
 */
#ifndef CFG_LAYOUT_INTERNAL_H
#define CFG_LAYOUT_INTERNAL_H

#include "bpfloupe/layout.h"

enum lay_type {
	LAY_BLOCK,
	LAY_DUMMY, /* where an edge passes through a layer */
	LAY_LABEL, /* end of a cut edge */
};

/* Where an edge leaves the bottom border of its block. */
enum lay_port {
	LAY_LEFT,
	LAY_MIDDLE,
	LAY_RIGHT,
};

struct lay_node {
	uint32_t block; /* block, or the one that a label names */
	uint32_t edge;	/* of a dummy or label, in lay_graph.edges */
	uint32_t layer;
	uint32_t pos;		    /* in its layer */
	uint32_t down[2], down_cnt; /* segments, the true side's first */
	uint32_t up_first, up_cnt;  /* in lay_graph.up_segs */
	uint32_t beside; /* first or last dummy of an upward edge: the block at that end */
	int32_t w, h;	 /* cells, border included; 0 × 0 for a dummy, which takes one column */
	int32_t x, y;	 /* top left cell */
	uint8_t type;	 /* enum lay_type */
};

/* Part of an edge between adjacent layers. */
struct lay_seg {
	uint32_t top, bottom; /* nodes */
	uint32_t edge;	      /* in lay_graph.edges */
	uint8_t port;	      /* enum lay_port at top, if that is a block */
	bool conflict;	      /* crosses the straight part of a long edge */
};

struct lay_edge {
	uint32_t edge;	   /* in cfg->edges */
	uint32_t from, to; /* nodes; to is the label of a cut edge */
	uint32_t dummy;	   /* first of its dummies, from the upper end to the lower */
	uint32_t dummy_cnt;
	uint8_t port; /* enum lay_port */
	bool upwards;
	bool cut;
	bool to_other; /* the target is not in this piece */
};

/* One piece. */
struct lay_graph {
	const struct loupe_cfg *cfg;
	const struct loupe_layout_opts *opts;
	const struct loupe_cell_size *sizes; /* by block */
	const uint32_t *piece_of;	     /* by block */
	const int64_t *prev_rank; /* by block, -1: no partner; NULL: no previous layout */
	const uint8_t *far;	  /* by cfg edge: reaches too far, cut it if possible */
	uint32_t piece;

	struct lay_node *nodes; /* blocks first, in instruction order */
	uint32_t node_cnt, block_cnt;
	uint32_t *node_of; /* by block; shared by all pieces */
	struct lay_edge *edges;
	uint32_t edge_cnt;
	uint32_t *out; /* by block node, one more than there are: first of its edges */
	struct lay_seg *segs;
	uint32_t seg_cnt;
	uint32_t *up_segs; /* by bottom node */
	uint32_t *cut_in;  /* by block node: cut edges that would enter */

	uint32_t layer_cnt;
	uint32_t *layer_first; /* one more than there are layers; in slots */
	uint32_t *slots;       /* nodes, by layer and pos */

	struct loupe_point *points; /* made by lay_route() */
	uint32_t point_cnt, point_size;
	uint32_t *route_first; /* by edge, one more: first of its points */
	int32_t w, h;
};

int lay_layers(struct lay_graph *g);
int lay_order(struct lay_graph *g);
int lay_coords(struct lay_graph *g);
int lay_settle(struct lay_graph *g);
int lay_route(struct lay_graph *g);
void lay_graph_finish(struct lay_graph *g);

static inline bool lay_cancelled(const struct lay_graph *g)
{
	return g->opts->cancel && *g->opts->cancel;
}

/* Columns from a block's left end to the cell where an edge leaves. */
static inline int32_t lay_port_offset(int32_t w, uint8_t port)
{
	int32_t in = w / 5 > 1 ? w / 5 : 1;

	if (port == LAY_LEFT)
		return in;
	return port == LAY_RIGHT ? w - 1 - in : (w - 1) / 2;
}

/* Column, from its left end, by which a node is aligned; an edge ends there above a label. */
static inline int32_t lay_anchor(const struct lay_graph *g, const struct lay_node *node)
{
	if (node->type == LAY_DUMMY)
		return 0;
	if (node->type == LAY_LABEL && g->edges[node->edge].port != LAY_MIDDLE)
		return g->edges[node->edge].port == LAY_LEFT ? node->w - 1 : 0;
	return (node->w - 1) / 2;
}

/* Where a segment's lower end wants to be, from the anchor of its upper end. */
int32_t lay_lean(const struct lay_graph *g, const struct lay_seg *seg);

/* Least distance of the anchors of two neighbours in a layer. */
int64_t lay_separation(const struct lay_graph *g, uint32_t left, uint32_t right);

/* What a label says; buf holds a loupe_label's text. */
void lay_label_text(const struct lay_graph *g, uint32_t block, bool upwards, char *buf,
		    size_t size);

/* Columns of the mark that counts cut edges, at the right end of the top border; 0: no mark. */
int32_t lay_mark_width(const struct lay_graph *g, uint32_t node);

/* As the content says, or by what the graph knows. */
enum loupe_role layout_edge_role(const struct loupe_cfg *cfg,
				 const struct loupe_block_content *content,
				 const struct loupe_route *route);
enum loupe_role layout_block_role(const struct loupe_cfg *cfg,
				  const struct loupe_block_content *content, uint32_t block);

/* The grid of the picture's things. */
int lay_index_create(struct loupe_layout *layout);
void lay_index_destroy(struct loupe_layout_index *index);

/* As loupe_layout_visit(), with the cells that the thing or the piece of a route takes. */
typedef void lay_visit(void *data, enum loupe_layout_thing thing, uint32_t index, int32_t x0,
		       int32_t y0, int32_t x1, int32_t y1);
void lay_index_visit(const struct loupe_layout *l, int32_t x, int32_t y, int32_t w, int32_t h,
		     lay_visit *visit, void *data);

#endif
