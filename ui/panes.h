/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames with titles, scrolling lists, numbers: what several views draw alike. */
#ifndef BPFLOUPE_UI_PANES_H
#define BPFLOUPE_UI_PANES_H

#include "keys.h"
#include "screen.h"

/**
 * Draws a frame around a pane, joining the lines of its neighbours, with its title in the top line.
 * @param outer  the frame included
 * @return the inside
 */
struct rect pane_frame(struct screen *screen, struct rect outer, const char *title, bool focus);

/** Writes a remark at the right end of a frame's top line. */
void pane_note(struct screen *screen, struct rect outer, enum ui_role role, const char *note);

/** Marks at a pane's right line that rows above top or below top + h are out of sight. */
void pane_more(struct screen *screen, struct rect inner, int64_t top, int64_t cnt);

/* A list of rows of which some are in sight. */
struct scroll {
	int64_t cursor, top;
};

/** Keeps the cursor in the list, and in sight in a pane of h rows. */
void scroll_fit(struct scroll *scroll, int64_t cnt, int h);

/** Puts the cursor on a row and, if that is not in sight, the row in the middle. */
void scroll_to(struct scroll *scroll, int64_t row, int64_t cnt, int h);

/** Obeys a request to move in a list; false if it is another kind of request. */
bool scroll_request(struct scroll *scroll, enum request request, int64_t cnt, int h);

/** A number with separators, "16,311", in one of the caller's buffers. */
#define NUMBER_TEXT 32
const char *number_text(char buf[NUMBER_TEXT], uint64_t number);

/** "s", or "" of one. */
const char *plural(uint64_t cnt);

/** Case-insensitive unless what contains an upper-case letter. */
bool text_matches(const char *text, const char *what);

/** Puts the match ground behind each match of what in columns x to x + w of row y. */
void mark_matches(struct screen *screen, int x, int y, int w, const char *what);

#endif
