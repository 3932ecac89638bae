/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places a control-flow graph in character cells: blocks in layers from top to bottom, edges as
 * orthogonal lines in channels between them. x grows to the right, y downwards, both from 0.
 *
 *	┌──────────────────┐
 *	│ 3: if r2 > r3    │
 *	└───t──────────f───┘     a condition's true side leaves left, the false one right
 *	┌───┘          │
 *	│             →12        a cut edge: the label names its target's first insn
 */
#ifndef BPFLOUPE_LAYOUT_H
#define BPFLOUPE_LAYOUT_H

#include "canvas.h"
#include "cfg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_cell_size {
	int32_t w, h; /* of a block's inside, without its border, with a blank column at each side
			 of the text; 0 or more, less than 2^15 */
};

/* One line inside a block. */
struct loupe_block_line {
	char text[224];	   /* UTF-8 */
	char mark[24];	   /* at the right end of the line, "" if none */
	uint8_t role;	   /* enum loupe_role of text */
	uint8_t mark_role; /* of mark */
	uint8_t heat;	   /* 0 to LOUPE_HEAT_MAX, for the whole line */
	uint8_t number;	   /* that many leading columns of text are drawn as LOUPE_ROLE_NUMBER */
};

/* What the blocks show. Every function but lines and line may be NULL. All get data. */
struct loupe_block_content {
	void *data;
	/* how many lines the block has */
	uint32_t (*lines)(void *data, uint32_t block);
	/* fills *line, which is all zero, with line number i of the block */
	void (*line)(void *data, uint32_t block, uint32_t i, struct loupe_block_line *line);
	/* a cut edge's name for the block, at most a few words; default: its first insn */
	void (*label)(void *data, uint32_t block, char *buf, size_t size);
	/* enum loupe_role of the border; by default BLOCK, or BLOCK_DEAD when unreachable */
	uint8_t (*block_role)(void *data, uint32_t block);
	/* enum loupe_role of an edge; by default by its kind */
	uint8_t (*edge_role)(void *data, uint32_t edge);
};

struct loupe_layout;

/* Set up with loupe_layout_opts_init(), which sets what stands in parentheses. */
struct loupe_layout_opts {
	uint32_t subprog; /* the one to draw, or LOUPE_CFG_NONE: all, one below the other */
	const struct loupe_cell_size *sizes;	   /* of each block; NULL: measured from content */
	const struct loupe_block_content *content; /* may be NULL when sizes is given */
	const uint8_t *hidden;	/* per block, 1: left out, edges to it are cut; NULL: none */
	bool dead;		/* draw unreachable blocks too (true) */
	uint32_t max_span;	/* an edge over more layers is cut (24) */
	uint32_t max_preds;	/* with more entering a block, those from afar are cut (6) */
	int32_t max_reach;	/* an edge that goes further sideways is cut, in cells (400) */
	/* Keep blocks in the order of another layout, as far as the blocks match: the panes before
	   and after. prev_insn gives for each of our slots the slot in prev_cfg, or
	   LOUPE_CFG_NONE. All three or none. */
	const struct loupe_layout *prev;
	const struct loupe_cfg *prev_cfg;
	const uint32_t *prev_insn;
	const volatile int *cancel; /* looked at often; when not 0, work ends with -ECANCELED */
};

struct loupe_node {
	uint32_t block;
	uint32_t layer;
	int32_t x, y, w, h; /* cells, the border included */
};

struct loupe_point {
	int32_t x, y;
};

/*
 * An edge as drawn: from the cell in the source's bottom border to the cell in the target's top
 * border, through points where it turns. A cut edge ends at a label that names the target; the top
 * border of the target tells how many are cut there.
 */
struct loupe_route {
	uint32_t edge;	    /* in cfg->edges */
	uint32_t first;	    /* in layout->points */
	uint32_t point_cnt; /* 2 or more; consecutive points share x or y */
	bool upwards;	    /* the target is not below the source */
	bool cut;	    /* the last point is a cell of the label */
	uint32_t label;	    /* in layout->labels when cut, else LOUPE_CFG_NONE */
};

struct loupe_label {
	int32_t x, y, w; /* cells; one row */
	uint32_t block;	 /* that it names */
	uint32_t edge;	 /* the cut edge; LOUPE_CFG_NONE: "+cnt" in the block's top border */
	uint32_t cnt;	 /* cut edges that it stands for */
	char text[40];	 /* UTF-8 */
};

/* Read-only for callers. */
struct loupe_layout {
	int32_t w, h; /* of the picture, cells */
	struct loupe_node *nodes; /* by layer, left to right */
	uint32_t node_cnt;
	uint32_t *block_node; /* block → node, LOUPE_CFG_NONE when not drawn */
	uint32_t block_cnt;
	uint32_t layer_cnt;
	struct loupe_route *routes;
	uint32_t route_cnt;
	uint32_t *edge_route; /* edge → route, LOUPE_CFG_NONE when its source is not drawn */
	uint32_t edge_cnt;
	struct loupe_point *points;
	uint32_t point_cnt;
	struct loupe_label *labels;
	uint32_t label_cnt;
	struct loupe_layout_index *index; /* for the queries */
};

/** Fills *opts with defaults: everything drawn, no previous layout, no cancelling. */
LOUPE_API void loupe_layout_opts_init(struct loupe_layout_opts *opts);

/**
 * Lays out a graph. The same input always gives the same picture.
 * @param cfg   not kept after the call
 * @param opts  sizes or content must be given
 * @param out   free with loupe_layout_destroy()
 * @return 0, -EINVAL (neither sizes nor content, or a size out of range), -ECANCELED, -ENOMEM,
 *         -E2BIG (the picture would be more than 2^30 cells wide or high, or its lines too many)
 */
LOUPE_API int loupe_layout_create(const struct loupe_cfg *cfg, const struct loupe_layout_opts *opts,
				  struct loupe_layout **out);

/** Frees the layout. NULL is fine. */
LOUPE_API void loupe_layout_destroy(struct loupe_layout *layout);

enum loupe_layout_thing {
	LOUPE_LAYOUT_NOTHING,
	LOUPE_LAYOUT_NODE,  /* index: in layout->nodes */
	LOUPE_LAYOUT_LABEL, /* index: in layout->labels */
	LOUPE_LAYOUT_ROUTE, /* index: in layout->routes */
};

struct loupe_layout_hit {
	enum loupe_layout_thing thing;
	uint32_t index;
};

/** What is at a cell: a label before a block before an edge. Takes time in the order of what is
 * near, not of the whole. */
LOUPE_API struct loupe_layout_hit loupe_layout_at(const struct loupe_layout *layout, int32_t x,
						  int32_t y);

/** Calls visit for each node, label and piece of a route that touches the rectangle, in no stated
 * order; a route comes once for each of its pieces. */
LOUPE_API void loupe_layout_visit(const struct loupe_layout *layout, int32_t x, int32_t y,
				  int32_t w, int32_t h,
				  void (*visit)(void *data, struct loupe_layout_hit hit),
				  void *data);

/**
 * Draws what the canvas shows of the layout.
 * @param content  may be NULL: empty boxes
 */
LOUPE_API void loupe_layout_draw(const struct loupe_layout *layout, const struct loupe_cfg *cfg,
				 const struct loupe_block_content *content,
				 struct loupe_canvas *canvas);

#ifdef __cplusplus
}
#endif

#endif
