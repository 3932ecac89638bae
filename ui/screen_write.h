/* SPDX-License-Identifier: GPL-2.0-only */
/* Screens as files. */
#ifndef BPFLOUPE_UI_SCREEN_WRITE_H
#define BPFLOUPE_UI_SCREEN_WRITE_H

#include "screen.h"
#include "theme.h"

#include <stdio.h>

/** UTF-8 rows without trailing blanks. */
void screen_write_text(const struct screen *screen, FILE *out);

/** A picture that needs nothing but a monospaced font. */
void screen_write_svg(const struct screen *screen, const struct theme *theme, FILE *out);

/**
 * Writes text or, when path ends in ".svg", a picture.
 * @return 0 or a negative errno
 */
int screen_save(const struct screen *screen, const struct theme *theme, const char *path);

#endif
