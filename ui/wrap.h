/* SPDX-License-Identifier: GPL-2.0-only */
/* Text over several rows. */
#ifndef BPFLOUPE_UI_WRAP_H
#define BPFLOUPE_UI_WRAP_H

#include "screen.h"

/** Columns of text that go on a row of w: all, or up to the last blank that fits. */
int wrap_columns(const char *text, int w);

/**
 * Writes text over the rows of at, broken at blanks; what does not fit ends in "…".
 * @param first  columns left free on the first row, for what stands there already
 * @return rows used
 */
int wrap_text(struct screen *screen, struct rect at, int first, enum ui_role role,
	      const char *text);

#endif
