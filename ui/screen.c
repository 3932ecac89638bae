// SPDX-License-Identifier: GPL-2.0-only
/* Cells, text, and lines that join where they meet. */
#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen *screen_create(int w, int h)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (screen && screen_resize(screen, w, h)) {
		free(screen);
		return NULL;
	}
	return screen;
}

void screen_destroy(struct screen *screen)
{
	if (!screen)
		return;
	free(screen->cells);
	free(screen);
}

int screen_resize(struct screen *screen, int w, int h)
{
	struct ui_cell *cells;

	if (w < 1)
		w = 1;
	if (h < 1)
		h = 1;
	cells = calloc((size_t)w * (size_t)h, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	free(screen->cells);
	*screen = (struct screen){ .w = w, .h = h, .cursor_x = -1, .cursor_y = -1, .cells = cells };
	return 0;
}

void screen_clear(struct screen *screen)
{
	memset(screen->cells, 0, (size_t)screen->w * (size_t)screen->h * sizeof(*screen->cells));
	screen->cursor_x = -1;
	screen->cursor_y = -1;
}

struct ui_cell *screen_cell(struct screen *screen, int x, int y)
{
	if (x < 0 || y < 0 || x >= screen->w || y >= screen->h)
		return NULL;
	return &screen->cells[y * screen->w + x];
}

void screen_put(struct screen *screen, int x, int y, enum ui_role role, uint32_t glyph)
{
	struct ui_cell *cell = screen_cell(screen, x, y);

	if (!cell)
		return;
	cell->glyph = glyph;
	cell->role = (uint8_t)role;
	cell->arms = 0;
}

/* ---- text --------------------------------------------------------------------------------- */

/* Not one column wide, or obeyed by a terminal: control characters, combining marks, direction
 * marks, wide scripts, pictographs. */
static const struct {
	uint32_t first, last;
} not_one_column[] = {
	{ 0x1, 0x1f },	      { 0x7f, 0x9f },	       { 0xad, 0xad },	   { 0x300, 0x36f },
	{ 0x483, 0x489 },     { 0x591, 0x5bd },	       { 0x600, 0x61c },   { 0x64b, 0x65f },
	{ 0x900, 0xdff },     { 0xe31, 0xe4e },	       { 0x1100, 0x11ff }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },   { 0x200b, 0x200f },      { 0x2028, 0x202e }, { 0x2060, 0x206f },
	{ 0x20d0, 0x20ff },   { 0x231a, 0x231b },      { 0x23e9, 0x23f3 }, { 0x2e80, 0xa4cf },
	{ 0xa960, 0xa97c },   { 0xac00, 0xdfff },      { 0xf900, 0xfaff }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe6f },   { 0xfeff, 0xff60 },      { 0xffe0, 0xffff }, { 0x16fe0, 0x1b2fb },
	{ 0x1f000, 0x1faff }, { 0x20000, UINT32_MAX },
};

/* One UTF-8 sequence; 0xfffd for a broken one. */
static uint32_t decode(const char **text)
{
	static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*text;
	uint32_t c = *p++, more = 0, got = 0;

	if (c >= 0xf0)
		more = 3;
	else if (c >= 0xe0)
		more = 2;
	else if (c >= 0xc0)
		more = 1;
	else if (c >= 0x80)
		c = 0xfffd;
	if (more)
		c &= 0x3fu >> more;
	for (; got < more && (*p & 0xc0) == 0x80; got++)
		c = c << 6 | (*p++ & 0x3fu);
	*text = (const char *)p;
	return got < more || c < smallest[more] ? 0xfffd : c;
}

uint32_t screen_next_glyph(const char **text)
{
	uint32_t c;

	if (!**text)
		return 0;
	c = decode(text);
	if (c == '\t')
		return ' ';
	for (size_t i = 0; i < sizeof(not_one_column) / sizeof(not_one_column[0]); i++) {
		if (c >= not_one_column[i].first && c <= not_one_column[i].last)
			return '?';
	}
	return c;
}

int screen_columns(const char *text)
{
	int n = 0;

	while (screen_next_glyph(&text))
		n++;
	return n;
}

int screen_text(struct screen *screen, int x, int y, int max, enum ui_role role, const char *text)
{
	uint32_t c;
	int n = 0;

	if (max <= 0)
		return 0;
	while (n < max && (c = screen_next_glyph(&text)) != 0)
		screen_put(screen, x + n++, y, role, c);
	if (*text)
		screen_put(screen, x + max - 1, y, role, 0x2026);
	return n;
}

void screen_erase(struct screen *screen, struct rect rect)
{
	for (int y = rect.y; y < rect.y + rect.h; y++) {
		for (int x = rect.x; x < rect.x + rect.w; x++) {
			struct ui_cell *cell = screen_cell(screen, x, y);

			if (cell)
				*cell = (struct ui_cell){ 0 };
		}
	}
}

void screen_ground(struct screen *screen, struct rect rect, enum ui_ground ground)
{
	for (int y = rect.y; y < rect.y + rect.h; y++) {
		for (int x = rect.x; x < rect.x + rect.w; x++) {
			struct ui_cell *cell = screen_cell(screen, x, y);

			if (cell)
				cell->ground = (uint8_t)ground;
		}
	}
}

/* ---- lines -------------------------------------------------------------------------------- */

enum {
	ARM_UP = 1,
	ARM_DOWN = 2,
	ARM_LEFT = 4,
	ARM_RIGHT = 8,
};

/* Line-drawing characters by the arms that they have. */
static const uint32_t line_glyph[16] = {
	[ARM_UP] = 0x2502,
	[ARM_DOWN] = 0x2502,
	[ARM_UP | ARM_DOWN] = 0x2502,
	[ARM_LEFT] = 0x2500,
	[ARM_RIGHT] = 0x2500,
	[ARM_LEFT | ARM_RIGHT] = 0x2500,
	[ARM_DOWN | ARM_RIGHT] = 0x250c,
	[ARM_DOWN | ARM_LEFT] = 0x2510,
	[ARM_UP | ARM_RIGHT] = 0x2514,
	[ARM_UP | ARM_LEFT] = 0x2518,
	[ARM_UP | ARM_DOWN | ARM_RIGHT] = 0x251c,
	[ARM_UP | ARM_DOWN | ARM_LEFT] = 0x2524,
	[ARM_DOWN | ARM_LEFT | ARM_RIGHT] = 0x252c,
	[ARM_UP | ARM_LEFT | ARM_RIGHT] = 0x2534,
	[ARM_UP | ARM_DOWN | ARM_LEFT | ARM_RIGHT] = 0x253c,
};

static void add_arms(struct screen *screen, int x, int y, unsigned int arms, enum ui_role role)
{
	struct ui_cell *cell = screen_cell(screen, x, y);

	if (!cell)
		return;
	arms |= cell->arms;
	screen_put(screen, x, y, role, line_glyph[arms]);
	cell->arms = (uint8_t)arms;
}

void screen_hline(struct screen *screen, int x, int y, int w, enum ui_role role)
{
	for (int i = 0; i < w; i++)
		add_arms(screen, x + i, y, (i ? ARM_LEFT : 0u) | (i < w - 1 ? ARM_RIGHT : 0u),
			 role);
}

void screen_vline(struct screen *screen, int x, int y, int h, enum ui_role role)
{
	for (int i = 0; i < h; i++)
		add_arms(screen, x, y + i, (i ? ARM_UP : 0u) | (i < h - 1 ? ARM_DOWN : 0u), role);
}

void screen_make_ascii(struct screen *screen)
{
	static const struct {
		uint32_t from;
		char to;
	} table[] = {
		{ 0x2500, '-' }, { 0x2502, '|' }, { 0x2192, '>' }, { 0x2190, '<' }, { 0x2191, '^' },
		{ 0x2193, 'v' }, { 0x25b8, '>' }, { 0x25bc, 'v' }, { 0x25b2, '^' }, { 0x2026, '~' },
		{ 0x21bb, '@' }, { 0x25a0, '#' }, { 0x2592, ':' }, { 0x25c9, 'O' },
		{ 0xb7, '.' },	 { 0xd7, 'x' },	  { 0x25c6, '*' }, { 0x25c7, '*' }, { 0x25cf, 'o' },
		{ 0x25cb, 'o' }, { 0x203a, '>' }, { 0x2013, '-' }, { 0x2014, '-' }, { 0x2702, '%' },
		{ 0x2588, '#' }, { 0x2591, '.' }, { 0x2713, '+' }, { 0x2717, 'x' }, { 0x2260, '#' },
		{ 0x2264, '<' }, { 0x2265, '>' }, { 0x25c0, '<' }, { 0x25b6, '>' }, { 0x21aa, '>' },
		{ 0x258f, '|' }, { 0x2287, '>' }, { 0xb5, 'u' }, { 0x25c2, '<' }, { 0x25be, 'v' },
	};

	for (int i = 0; i < screen->w * screen->h; i++) {
		uint32_t c = screen->cells[i].glyph;

		if (c < 0x80)
			continue;
		screen->cells[i].glyph = c >= 0x2500 && c < 0x2580 ? '+' : '?';
		for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++) {
			if (table[t].from == c)
				screen->cells[i].glyph = (uint32_t)table[t].to;
		}
	}
}

/* ---- pen ---------------------------------------------------------------------------------- */

void pen_text(struct pen *pen, enum ui_role role, const char *text)
{
	pen->x += screen_text(pen->screen, pen->x, pen->y, pen_room(pen), role, text);
}

void pen_printf(struct pen *pen, enum ui_role role, const char *fmt, ...)
{
	char buf[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf, sizeof(buf), fmt, args);
	va_end(args);
	pen_text(pen, role, buf);
}

void pen_to(struct pen *pen, int x)
{
	if (x > pen->x)
		pen->x = x < pen->end ? x : pen->end;
}

void pen_right(struct pen *pen, enum ui_role role, const char *text)
{
	int columns = screen_columns(text);

	if (columns && pen->x + columns + 1 <= pen->end) {
		pen->x = pen->end - columns;
		pen_text(pen, role, text);
	}
}
