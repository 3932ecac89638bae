/* SPDX-License-Identifier: GPL-2.0-only */
/* Colours: semantic roles × themes. The only place that knows a colour. */
#ifndef BPFLOUPE_UI_THEME_H
#define BPFLOUPE_UI_THEME_H

#include "screen.h"

#define THEME_DEFAULT UINT32_MAX /* the terminal's own foreground or background */

struct style {
	uint32_t fg, bg; /* 0xrrggbb or THEME_DEFAULT */
	bool bold, underline, reverse, struck;
};

struct theme;

/**
 * A theme by name: "dark", "light", "none".
 * @return NULL when there is none of that name
 */
const struct theme *theme_by_name(const char *name);

/** The theme that the environment asks for: NO_COLOR, then COLORFGBG, else dark. */
const struct theme *theme_from_environment(void);

const char *theme_name(const struct theme *theme);

/** True if the theme uses colours at all. */
bool theme_has_colour(const struct theme *theme);

/** How a cell looks. */
struct style theme_style(const struct theme *theme, enum ui_role role, enum ui_ground ground);

/** Colours of an empty picture, for formats that have no terminal behind them. */
uint32_t theme_paper(const struct theme *theme);
uint32_t theme_ink(const struct theme *theme);

/** Nearest colour of the 256 (or, below that, the first 8 or 16) that terminals have. */
int theme_nearest(uint32_t rgb, int colours);

#endif
