/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal. The only module that knows curses. */
#ifndef BPFLOUPE_UI_TERMINAL_H
#define BPFLOUPE_UI_TERMINAL_H

#include "screen.h"
#include "theme.h"

struct terminal;

/**
 * Takes over the terminal.
 * @return 0 with *out for term_close(); -ENOTTY, with the reason in err, when there is none to use
 */
int term_open(const struct theme *theme, struct terminal **out, struct loupe_error *err);

/** Gives the terminal back as it was. NULL is fine. */
void term_close(struct terminal *term);

void term_set_theme(struct terminal *term, const struct theme *theme);

/** Size in cells. */
void term_size(const struct terminal *term, int *w, int *h);

/** Shows a screen. */
void term_show(struct terminal *term, const struct screen *screen);

/** Paints everything anew with the next term_show(), whatever other programs wrote meanwhile. */
void term_repaint(struct terminal *term);

/**
 * Waits for a key.
 * @param timeout_ms  -1: as long as it takes
 * @return a key as keys.h has them, K_NONE when the time is over, K_RESIZE
 */
int term_key(struct terminal *term, int timeout_ms);

/** Asks the terminal to put text on the clipboard (OSC 52); terminals that cannot ignore it. */
void term_copy(struct terminal *term, const char *text, size_t len);

#endif
