/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rectangle of character cells with meanings instead of colours. The terminal UI, the text writer
 * and the SVG writer show the same canvas. No curses here.
 */
#ifndef BPFLOUPE_CANVAS_H
#define BPFLOUPE_CANVAS_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a cell means; a theme gives it a colour. */
enum loupe_role {
	LOUPE_ROLE_TEXT,
	LOUPE_ROLE_DIM,	    /* less important text */
	LOUPE_ROLE_COMMENT, /* source lines, remarks */
	LOUPE_ROLE_NUMBER,  /* instruction numbers */
	LOUPE_ROLE_BLOCK,   /* a block's border */
	LOUPE_ROLE_BLOCK_SELECTED,
	LOUPE_ROLE_BLOCK_MATCHED, /* the selected block's partner in the other pane */
	LOUPE_ROLE_BLOCK_DEAD,	  /* border of a block that is unreachable or gone */
	LOUPE_ROLE_EDGE,	  /* jump, fall through */
	LOUPE_ROLE_EDGE_TRUE,
	LOUPE_ROLE_EDGE_FALSE,
	LOUPE_ROLE_EDGE_BACK,
	LOUPE_ROLE_EDGE_SELECTED,
	LOUPE_ROLE_LABEL,   /* where a cut edge goes to or comes from */
	LOUPE_ROLE_DELETED, /* an instruction that the rewrite removed */
	LOUPE_ROLE_MOVED,
	LOUPE_ROLE_CHANGED,
	LOUPE_ROLE_ADDED,
	LOUPE_ROLE_ERROR, /* the rejecting instruction */
	LOUPE_ROLE_CNT
};

/* Shading by visits or weight: 0 is none, 1 the coolest, LOUPE_HEAT_MAX the hottest. */
#define LOUPE_HEAT_MAX 8

struct loupe_cell {
	uint32_t glyph; /* Unicode code point that takes one column; 0 is an empty cell */
	uint8_t role;	/* enum loupe_role */
	uint8_t heat;	/* 0 to LOUPE_HEAT_MAX */
};

struct loupe_canvas {
	int32_t x, y;		  /* what the top left cell shows, in the picture's coordinates */
	int32_t w, h;		  /* cells */
	bool ascii;		  /* draw with + - | only */
	struct loupe_cell *cells; /* w × h, row after row */
	uint8_t *lines; /* w × h, arms of the lines drawn there; for the drawing functions only */
};

/**
 * Allocates an empty canvas.
 * @param w, h  0 or more; at most 2^28 cells in all
 * @return NULL when out of memory or too large; free with loupe_canvas_destroy()
 */
LOUPE_API struct loupe_canvas *loupe_canvas_create(int32_t x, int32_t y, int32_t w, int32_t h);

/** Frees the canvas. NULL is fine. */
LOUPE_API void loupe_canvas_destroy(struct loupe_canvas *canvas);

/** Empties every cell, and moves the canvas so that its top left cell shows x, y. */
LOUPE_API void loupe_canvas_reset(struct loupe_canvas *canvas, int32_t x, int32_t y);

/** The cell at picture coordinates x, y; NULL when it is outside. */
LOUPE_API struct loupe_cell *loupe_canvas_cell(struct loupe_canvas *canvas, int32_t x, int32_t y);

/**
 * Writes UTF-8 text at x, y, at most max columns; what is outside is cut. Control characters,
 * broken sequences and characters that are not one column wide become '?'.
 * @return columns that the text takes, cut at max
 */
LOUPE_API int32_t loupe_canvas_text(struct loupe_canvas *canvas, int32_t x, int32_t y, int32_t max,
				    enum loupe_role role, const char *text);

/** Columns that loupe_canvas_text() takes for text. */
LOUPE_API int32_t loupe_text_columns(const char *text);

/**
 * Writes a row as UTF-8, trailing blanks removed, always NUL-terminated.
 * @param row  0 to h - 1
 * @return length of the whole row in bytes, as snprintf
 */
LOUPE_API size_t loupe_canvas_row(const struct loupe_canvas *canvas, int32_t row, char *buf,
				  size_t size);

/** A role's name, as the writers use it: "edge-true", "block" … */
LOUPE_API const char *loupe_role_name(enum loupe_role role);

#ifdef __cplusplus
}
#endif

#endif
