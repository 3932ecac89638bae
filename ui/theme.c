// SPDX-License-Identifier: GPL-2.0-only
/* The tables of colours. */
#include "theme.h"

#include <stdlib.h>
#include <string.h>

enum {
	BOLD = 1,
	UNDERLINE = 2,
	REVERSE = 4,
	STRUCK = 8,
};

#define NO THEME_DEFAULT

struct face {
	uint32_t fg;
	uint8_t attrs;
};

struct theme {
	const char *name;
	bool colour;
	uint32_t paper, ink;
	struct face role[UI_ROLE_CNT];
	uint32_t ground[UI_GROUND_CNT];
};

/*
 * Rules of both tables: green is what holds, went on, was taken or hit; red is what failed, was
 * removed or missed; amber is what just changed; blue is where one can go. Lines are quieter than
 * text, and text that only accompanies is quieter than text that answers.
 */
static const struct theme dark = {
	.name = "dark",
	.colour = true,
	.paper = 0x14171c,
	.ink = 0xd3d7de,
	.role = {
		[UI_TEXT] = { NO, 0 },
		[UI_DIM] = { 0x7c8696, 0 },
		[UI_COMMENT] = { 0x87afaf, 0 },
		[UI_NUMBER] = { 0x8a94a6, 0 },
		[LOUPE_ROLE_BLOCK] = { 0x5f6b7d, 0 },
		[LOUPE_ROLE_BLOCK_SELECTED] = { 0xffd75f, BOLD },
		[LOUPE_ROLE_BLOCK_MATCHED] = { 0x5fd7ff, BOLD },
		[LOUPE_ROLE_BLOCK_DEAD] = { 0x875f5f, 0 },
		[LOUPE_ROLE_EDGE] = { 0x87a0c0, 0 },
		[LOUPE_ROLE_EDGE_TRUE] = { 0x5fd787, 0 },
		[LOUPE_ROLE_EDGE_FALSE] = { 0xff8787, 0 },
		[LOUPE_ROLE_EDGE_BACK] = { 0xd787ff, 0 },
		[LOUPE_ROLE_EDGE_SELECTED] = { 0xffd75f, BOLD },
		[LOUPE_ROLE_LABEL] = { 0x5fafff, 0 },
		[LOUPE_ROLE_DELETED] = { 0xaf5f5f, STRUCK },
		[LOUPE_ROLE_MOVED] = { 0x5fafff, 0 },
		[LOUPE_ROLE_CHANGED] = { 0xffd787, 0 },
		[LOUPE_ROLE_ADDED] = { 0x87d787, 0 },
		[LOUPE_ROLE_ERROR] = { 0xff5f5f, BOLD },
		[UI_STRONG] = { 0xffffff, BOLD },
		[UI_HEADING] = { 0x5fd7ff, BOLD },
		[UI_BRAND] = { 0xffd75f, BOLD },
		[UI_TAB] = { 0x9aa5b5, 0 },
		[UI_TAB_ACTIVE] = { 0xffd75f, BOLD | UNDERLINE },
		[UI_ACCEPTED] = { 0x5fd787, BOLD | REVERSE },
		[UI_REJECTED] = { 0xff5f5f, BOLD | REVERSE },
		[UI_UNJUDGED] = { 0xffaf5f, BOLD | REVERSE },
		[UI_WORKING] = { 0x5fafff, BOLD | REVERSE },
		[UI_FRAME] = { 0x4e5766, 0 },
		[UI_FRAME_FOCUS] = { 0x4e5766, 0 },
		[UI_TITLE] = { 0x9aa5b5, 0 },
		[UI_TITLE_FOCUS] = { 0xffd75f, BOLD },
		[UI_KEY] = { 0xffd75f, BOLD },
		[UI_NOTICE] = { 0x5fd7ff, 0 },
		[UI_PROMPT] = { 0xffffff, BOLD },
		[UI_REG] = { 0x87afff, 0 },
		[UI_VALUE] = { NO, 0 },
		[UI_CHANGED] = { 0xffd75f, BOLD },
		[UI_OLD] = { 0xaf875f, 0 },
		[UI_DEAD] = { 0x5f6875, 0 },
		[UI_PRECISE] = { 0xaf87d7, 0 },
		[UI_ARRIVAL] = { 0x87afd7, 0 },
		[UI_CHECKPOINT] = { 0x5fd787, 0 },
		[UI_EVICTED] = { 0xff8787, 0 },
		[UI_HIT] = { 0x5fd787, BOLD },
		[UI_MISS] = { 0xff8787, BOLD },
		[UI_TRUE] = { 0x5fd787, 0 },
		[UI_FALSE] = { 0xff8787, 0 },
		[UI_PROGRESS] = { 0x5fafff, 0 },
	},
	.ground = {
		[UI_GROUND_NONE] = NO,
		[UI_GROUND_BAR] = 0x262c36,
		[UI_GROUND_CURSOR] = 0x2f4363,
		[UI_GROUND_ROW] = 0x2a303a,
		[UI_GROUND_MATCH] = 0x5f5f00,
		[UI_GROUND_ERROR] = 0x5f0000,
		[UI_GROUND_HEAT] = 0x16242e,
		[UI_GROUND_HEAT + 1] = 0x17303a,
		[UI_GROUND_HEAT + 2] = 0x1b3a40,
		[UI_GROUND_HEAT + 3] = 0x2c4436,
		[UI_GROUND_HEAT + 4] = 0x45472c,
		[UI_GROUND_HEAT + 5] = 0x5a4224,
		[UI_GROUND_HEAT + 6] = 0x6b3620,
		[UI_GROUND_HEAT + 7] = 0x7d2620,
	},
};

static const struct theme light = {
	.name = "light",
	.colour = true,
	.paper = 0xfcfcfa,
	.ink = 0x24292f,
	.role = {
		[UI_TEXT] = { NO, 0 },
		[UI_DIM] = { 0x767f8c, 0 },
		[UI_COMMENT] = { 0x2f6f6f, 0 },
		[UI_NUMBER] = { 0x6c7686, 0 },
		[LOUPE_ROLE_BLOCK] = { 0x9aa3b0, 0 },
		[LOUPE_ROLE_BLOCK_SELECTED] = { 0x9a5b00, BOLD },
		[LOUPE_ROLE_BLOCK_MATCHED] = { 0x005faf, BOLD },
		[LOUPE_ROLE_BLOCK_DEAD] = { 0xc09a9a, 0 },
		[LOUPE_ROLE_EDGE] = { 0x5a7396, 0 },
		[LOUPE_ROLE_EDGE_TRUE] = { 0x007a3d, 0 },
		[LOUPE_ROLE_EDGE_FALSE] = { 0xc0392b, 0 },
		[LOUPE_ROLE_EDGE_BACK] = { 0x8700af, 0 },
		[LOUPE_ROLE_EDGE_SELECTED] = { 0x9a5b00, BOLD },
		[LOUPE_ROLE_LABEL] = { 0x005faf, 0 },
		[LOUPE_ROLE_DELETED] = { 0xb06060, STRUCK },
		[LOUPE_ROLE_MOVED] = { 0x005faf, 0 },
		[LOUPE_ROLE_CHANGED] = { 0x875f00, 0 },
		[LOUPE_ROLE_ADDED] = { 0x007a3d, 0 },
		[LOUPE_ROLE_ERROR] = { 0xc00000, BOLD },
		[UI_STRONG] = { 0x000000, BOLD },
		[UI_HEADING] = { 0x005f87, BOLD },
		[UI_BRAND] = { 0x9a5b00, BOLD },
		[UI_TAB] = { 0x4d5663, 0 },
		[UI_TAB_ACTIVE] = { 0x9a5b00, BOLD | UNDERLINE },
		[UI_ACCEPTED] = { 0x007a3d, BOLD | REVERSE },
		[UI_REJECTED] = { 0xc00000, BOLD | REVERSE },
		[UI_UNJUDGED] = { 0xaf5f00, BOLD | REVERSE },
		[UI_WORKING] = { 0x005faf, BOLD | REVERSE },
		[UI_FRAME] = { 0xb4bcc8, 0 },
		[UI_FRAME_FOCUS] = { 0xb4bcc8, 0 },
		[UI_TITLE] = { 0x4d5663, 0 },
		[UI_TITLE_FOCUS] = { 0x9a5b00, BOLD },
		[UI_KEY] = { 0x9a5b00, BOLD },
		[UI_NOTICE] = { 0x005f87, 0 },
		[UI_PROMPT] = { 0x000000, BOLD },
		[UI_REG] = { 0x0050a0, 0 },
		[UI_VALUE] = { NO, 0 },
		[UI_CHANGED] = { 0x9a4b00, BOLD },
		[UI_OLD] = { 0x9a7b5b, 0 },
		[UI_DEAD] = { 0xa6adb8, 0 },
		[UI_PRECISE] = { 0x8700af, 0 },
		[UI_ARRIVAL] = { 0x3a6ea5, 0 },
		[UI_CHECKPOINT] = { 0x007a3d, 0 },
		[UI_EVICTED] = { 0xc0392b, 0 },
		[UI_HIT] = { 0x007a3d, BOLD },
		[UI_MISS] = { 0xc0392b, BOLD },
		[UI_TRUE] = { 0x007a3d, 0 },
		[UI_FALSE] = { 0xc0392b, 0 },
		[UI_PROGRESS] = { 0x005faf, 0 },
	},
	.ground = {
		[UI_GROUND_NONE] = NO,
		[UI_GROUND_BAR] = 0xe8ebf0,
		[UI_GROUND_CURSOR] = 0xcfe2ff,
		[UI_GROUND_ROW] = 0xeceff4,
		[UI_GROUND_MATCH] = 0xffe88a,
		[UI_GROUND_ERROR] = 0xffd7d7,
		[UI_GROUND_HEAT] = 0xf0f7f7,
		[UI_GROUND_HEAT + 1] = 0xe2f2ee,
		[UI_GROUND_HEAT + 2] = 0xd7efdc,
		[UI_GROUND_HEAT + 3] = 0xe7f0c4,
		[UI_GROUND_HEAT + 4] = 0xf7ecb0,
		[UI_GROUND_HEAT + 5] = 0xfbdca0,
		[UI_GROUND_HEAT + 6] = 0xfbc596,
		[UI_GROUND_HEAT + 7] = 0xf9ab94,
	},
};

/* No colours: what must be seen is bold, reversed or underlined. */
static const struct theme none = {
	.name = "none",
	.colour = false,
	.paper = 0xffffff,
	.ink = 0x000000,
	.role = {
		[LOUPE_ROLE_BLOCK_SELECTED] = { NO, BOLD },
		[LOUPE_ROLE_BLOCK_MATCHED] = { NO, BOLD },
		[LOUPE_ROLE_EDGE_SELECTED] = { NO, BOLD },
		[LOUPE_ROLE_DELETED] = { NO, STRUCK },
		[LOUPE_ROLE_CHANGED] = { NO, UNDERLINE },
		[LOUPE_ROLE_ADDED] = { NO, BOLD },
		[LOUPE_ROLE_ERROR] = { NO, BOLD | UNDERLINE },
		[UI_STRONG] = { NO, BOLD },
		[UI_HEADING] = { NO, BOLD },
		[UI_BRAND] = { NO, BOLD },
		[UI_TAB_ACTIVE] = { NO, BOLD | UNDERLINE },
		[UI_ACCEPTED] = { NO, BOLD | REVERSE },
		[UI_REJECTED] = { NO, BOLD | REVERSE },
		[UI_UNJUDGED] = { NO, BOLD | REVERSE },
		[UI_WORKING] = { NO, BOLD | REVERSE },
		[UI_TITLE_FOCUS] = { NO, BOLD },
		[UI_KEY] = { NO, BOLD },
		[UI_NOTICE] = { NO, BOLD },
		[UI_CHANGED] = { NO, BOLD },
		[UI_PRECISE] = { NO, BOLD },
		[UI_HIT] = { NO, BOLD },
		[UI_MISS] = { NO, BOLD },
	},
	.ground = { 0 },
};

static const struct theme *const themes[] = { &dark, &light, &none };

const struct theme *theme_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++) {
		if (strcmp(themes[i]->name, name) == 0)
			return themes[i];
	}
	return NULL;
}

const struct theme *theme_from_environment(void)
{
	const char *no_color = getenv("NO_COLOR"), *fgbg = getenv("COLORFGBG"), *bg;

	if (no_color && *no_color)
		return &none;
	bg = fgbg ? strrchr(fgbg, ';') : NULL;
	if (bg && (strcmp(bg, ";15") == 0 || strcmp(bg, ";7") == 0))
		return &light;
	return &dark;
}

const char *theme_name(const struct theme *theme)
{
	return theme->name;
}

bool theme_has_colour(const struct theme *theme)
{
	return theme->colour;
}

struct style theme_style(const struct theme *theme, enum ui_role role, enum ui_ground ground)
{
	const struct face *face = &theme->role[role];
	struct style style = {
		.fg = theme->colour ? face->fg : NO,
		.bg = theme->colour ? theme->ground[ground] : NO,
		.bold = (face->attrs & BOLD) != 0,
		.underline = (face->attrs & UNDERLINE) != 0,
		.reverse = (face->attrs & REVERSE) != 0,
		.struck = (face->attrs & STRUCK) != 0,
	};

	if (theme->colour)
		return style;
	switch (ground) {
	case UI_GROUND_BAR:
	case UI_GROUND_CURSOR:
		style.reverse = true;
		break;
	case UI_GROUND_MATCH:
	case UI_GROUND_ERROR:
		style.bold = true;
		style.underline = true;
		break;
	case UI_GROUND_ROW:
		style.underline = true;
		break;
	default:
		break;
	}
	return style;
}

uint32_t theme_paper(const struct theme *theme)
{
	return theme->paper;
}

uint32_t theme_ink(const struct theme *theme)
{
	return theme->ink;
}

/* ---- the terminal's palette --------------------------------------------------------------- */

static uint32_t palette_rgb(int index)
{
	static const uint32_t first[16] = {
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	};
	static const uint8_t level[6] = { 0, 95, 135, 175, 215, 255 };

	if (index < 16)
		return first[index];
	if (index < 232) {
		index -= 16;
		return (uint32_t)level[index / 36] << 16 | (uint32_t)level[index / 6 % 6] << 8 |
		       level[index % 6];
	}
	return (uint32_t)(8 + (index - 232) * 10) * 0x10101u;
}

static int distance(uint32_t a, uint32_t b)
{
	int r = (int)(a >> 16 & 0xff) - (int)(b >> 16 & 0xff);
	int g = (int)(a >> 8 & 0xff) - (int)(b >> 8 & 0xff);
	int blue = (int)(a & 0xff) - (int)(b & 0xff);

	/* the eye sees green best and blue worst */
	return 3 * r * r + 4 * g * g + 2 * blue * blue;
}

int theme_nearest(uint32_t rgb, int colours)
{
	/* what users configure (the first 16) is no measure where there are fixed ones */
	int from = colours >= 256 ? 16 : 0, to = colours >= 256 ? 256 : colours >= 16 ? 16 : 8;
	int best = from;

	for (int i = from; i < to; i++) {
		if (distance(palette_rgb(i), rgb) < distance(palette_rgb(best), rgb))
			best = i;
	}
	return best;
}
