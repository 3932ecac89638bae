/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The off-screen picture that every view draws: cells with a glyph and a meaning. It is shown by
 * curses (terminal.c), or written as text or SVG (screen_write.c). No colours and no terminal here.
 */
#ifndef BPFLOUPE_UI_SCREEN_H
#define BPFLOUPE_UI_SCREEN_H

#include "bpfloupe/canvas.h"

#include <stdarg.h>

/* What a cell's glyph means. The canvas's roles come first, so that a drawn graph can be copied. */
enum ui_role {
	UI_TEXT = LOUPE_ROLE_TEXT,
	UI_DIM = LOUPE_ROLE_DIM,
	UI_COMMENT = LOUPE_ROLE_COMMENT,
	UI_NUMBER = LOUPE_ROLE_NUMBER,
	UI_DELETED = LOUPE_ROLE_DELETED,
	UI_ERROR = LOUPE_ROLE_ERROR,
	UI_LABEL = LOUPE_ROLE_LABEL,
	UI_STRONG = LOUPE_ROLE_CNT, /* what the eye should find first */
	UI_HEADING,
	UI_BRAND, /* the program's own name in the header */
	UI_TAB,
	UI_TAB_ACTIVE,
	UI_ACCEPTED, /* verdicts, as badges */
	UI_REJECTED,
	UI_UNJUDGED,
	UI_WORKING,
	UI_FRAME, /* lines between panes */
	UI_FRAME_FOCUS,
	UI_TITLE, /* of a pane */
	UI_TITLE_FOCUS,
	UI_KEY,	   /* a key's name */
	UI_NOTICE, /* messages of ours */
	UI_PROMPT,
	UI_REG, /* a register's or slot's name */
	UI_VALUE,
	UI_CHANGED, /* a value that the last instruction made */
	UI_OLD,	    /* what it was before */
	UI_DEAD,    /* a register that nothing will read */
	UI_PRECISE,
	UI_ARRIVAL, /* counts beside instructions */
	UI_CHECKPOINT,
	UI_EVICTED,
	UI_HIT,
	UI_MISS,
	UI_TRUE,
	UI_FALSE,
	UI_PROGRESS, /* done part of a progress bar */
	UI_ROLE_CNT
};

/* What lies behind a cell. */
enum ui_ground {
	UI_GROUND_NONE,
	UI_GROUND_BAR,	  /* header and status line */
	UI_GROUND_CURSOR, /* selected row of the pane that has the focus */
	UI_GROUND_ROW,	  /* selected row of another pane */
	UI_GROUND_MATCH,  /* found text */
	UI_GROUND_ERROR,  /* the rejecting instruction, the bar with the error */
	UI_GROUND_HEAT,	  /* the coolest of LOUPE_HEAT_MAX shades */
	UI_GROUND_CNT = UI_GROUND_HEAT + LOUPE_HEAT_MAX
};

struct ui_cell {
	uint32_t glyph; /* one-column code point, 0: blank */
	uint8_t role;	/* enum ui_role */
	uint8_t ground; /* enum ui_ground */
	uint8_t arms;	/* of a line drawn there, for lines that join it */
};

struct screen {
	int w, h;
	int cursor_x, cursor_y; /* the terminal's cursor, -1: hidden */
	struct ui_cell *cells;	/* w × h, row after row */
};

struct rect {
	int x, y, w, h;
};

/** Allocates an empty screen, or NULL when out of memory. Free with screen_destroy(). */
struct screen *screen_create(int w, int h);
void screen_destroy(struct screen *screen);

/** Changes the size and empties it. @return 0, -ENOMEM (nothing changed) */
int screen_resize(struct screen *screen, int w, int h);

/** Empties every cell. */
void screen_clear(struct screen *screen);

/** The cell at x, y, or NULL outside. */
struct ui_cell *screen_cell(struct screen *screen, int x, int y);

/** Sets a glyph and its role, keeping the ground; nothing happens outside. */
void screen_put(struct screen *screen, int x, int y, enum ui_role role, uint32_t glyph);

/**
 * Writes UTF-8 in at most max columns; text that does not fit ends in "…". Characters that a
 * terminal would obey, and those not one column wide, become '?'.
 * @return columns used
 */
int screen_text(struct screen *screen, int x, int y, int max, enum ui_role role, const char *text);

/** Columns that screen_text() takes for text. */
int screen_columns(const char *text);

/** Takes one character off *text as screen_text() shows it; 0 at the end. */
uint32_t screen_next_glyph(const char **text);

/** Empties a rectangle. */
void screen_erase(struct screen *screen, struct rect rect);

/** Sets what lies behind a rectangle. */
void screen_ground(struct screen *screen, struct rect rect, enum ui_ground ground);

/** Lines whose ends and crossings join with lines already there. */
void screen_hline(struct screen *screen, int x, int y, int w, enum ui_role role);
void screen_vline(struct screen *screen, int x, int y, int h, enum ui_role role);

/** Replaces every glyph beyond ASCII by a similar character. */
void screen_make_ascii(struct screen *screen);

/* A position that moves on as text of different roles is written on one row. */
struct pen {
	struct screen *screen;
	int x, y;
	int end; /* first column that is not ours */
};

static inline struct pen pen_at(struct screen *screen, int x, int y, int w)
{
	return (struct pen){ .screen = screen, .x = x, .y = y, .end = x + w };
}

void pen_text(struct pen *pen, enum ui_role role, const char *text);
void pen_printf(struct pen *pen, enum ui_role role, const char *fmt, ...) LOUPE_PRINTF(3, 4);
/** Leaves blanks up to column x (counted from the screen's left edge). */
void pen_to(struct pen *pen, int x);
/** Columns left. */
static inline int pen_room(const struct pen *pen)
{
	return pen->end > pen->x ? pen->end - pen->x : 0;
}
/** Writes text so that it ends with the row; nothing when it would touch what is written. */
void pen_right(struct pen *pen, enum ui_role role, const char *text);

#endif
