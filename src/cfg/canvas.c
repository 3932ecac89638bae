// SPDX-License-Identifier: GPL-2.0-only
/* Cells, text, and lines that join where they meet. */
#include "cfg/canvas_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CANVAS_CELLS (1 << 28)

struct loupe_canvas *loupe_canvas_create(int32_t x, int32_t y, int32_t w, int32_t h)
{
	struct loupe_canvas *canvas;
	size_t cells;

	if (w < 0 || h < 0 || (int64_t)w * h > MAX_CANVAS_CELLS)
		return NULL;
	cells = (size_t)w * (size_t)h + 1;
	canvas = calloc(1, sizeof(*canvas));
	if (!canvas)
		return NULL;
	*canvas = (struct loupe_canvas){ .x = x, .y = y, .w = w, .h = h };
	canvas->cells = calloc(cells, sizeof(*canvas->cells));
	canvas->lines = calloc(cells, sizeof(*canvas->lines));
	if (!canvas->cells || !canvas->lines) {
		loupe_canvas_destroy(canvas);
		return NULL;
	}
	return canvas;
}

void loupe_canvas_destroy(struct loupe_canvas *canvas)
{
	if (!canvas)
		return;
	free(canvas->cells);
	free(canvas->lines);
	free(canvas);
}

void loupe_canvas_reset(struct loupe_canvas *canvas, int32_t x, int32_t y)
{
	size_t cells = (size_t)canvas->w * (size_t)canvas->h;

	memset(canvas->cells, 0, cells * sizeof(*canvas->cells));
	memset(canvas->lines, 0, cells * sizeof(*canvas->lines));
	canvas->x = x;
	canvas->y = y;
}

/* Index of the cell at picture coordinates, or -1. */
static int64_t cell_index(const struct loupe_canvas *canvas, int32_t x, int32_t y)
{
	int64_t column = (int64_t)x - canvas->x, row = (int64_t)y - canvas->y;

	if (column < 0 || row < 0 || column >= canvas->w || row >= canvas->h)
		return -1;
	return row * canvas->w + column;
}

struct loupe_cell *loupe_canvas_cell(struct loupe_canvas *canvas, int32_t x, int32_t y)
{
	int64_t i = cell_index(canvas, x, y);

	return i < 0 ? NULL : &canvas->cells[i];
}

/* ---- text --------------------------------------------------------------------------------- */

static const struct {
	uint32_t first, last;
} not_one_column[] = {
	{ 0x0, 0x8 },	      { 0xa, 0x1f },	    { 0x7f, 0x9f },	     { 0xad, 0xad },
	{ 0x300, 0x36f },     { 0x483, 0x489 },	    { 0x591, 0x5bd },	     { 0x600, 0x61c },
	{ 0x64b, 0x65f },     { 0x900, 0xdff },	    { 0xe31, 0xe4e },	     { 0x1100, 0x11ff },
	{ 0x1ab0, 0x1aff },   { 0x1dc0, 0x1dff },   { 0x200b, 0x200f },	     { 0x2028, 0x202e },
	{ 0x2060, 0x206f },   { 0x20d0, 0x20ff },   { 0x231a, 0x231b },	     { 0x23e9, 0x23f3 },
	{ 0x2e80, 0xa4cf },   { 0xa960, 0xa97c },   { 0xac00, 0xdfff },	     { 0xf900, 0xfaff },
	{ 0xfe00, 0xfe0f },   { 0xfe20, 0xfe6f },   { 0xfeff, 0xff60 },	     { 0xffe0, 0xffff },
	{ 0x16fe0, 0x1b2fb }, { 0x1f000, 0x1faff }, { 0x20000, 0xffffffff },
};

/* Takes the next character; '?' for what is broken or not one column wide. */
static uint32_t next_glyph(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	static const uint32_t smallest[] = { 0, 0x80, 0x800, 0x10000 };
	uint32_t c = *p++, more = 0, i;

	if (c >= 0xf0 && c < 0xf8)
		more = 3;
	else if (c >= 0xe0)
		more = 2;
	else if (c >= 0xc0)
		more = 1;
	if (c >= 0xf8 || (c >= 0x80 && c < 0xc0)) {
		*text = (const char *)p;
		return '?';
	}
	if (more)
		c &= 0x3fu >> more;
	for (i = 0; i < more && (*p & 0xc0) == 0x80; i++)
		c = c << 6 | (*p++ & 0x3f);
	*text = (const char *)p;
	if (i < more || c < smallest[more])
		return '?';
	if (c == '\t')
		return ' ';
	for (i = 0; i < sizeof(not_one_column) / sizeof(not_one_column[0]); i++) {
		if (c >= not_one_column[i].first && c <= not_one_column[i].last)
			return '?';
	}
	return c;
}

static uint32_t ascii_glyph(uint32_t c)
{
	static const struct {
		uint32_t from;
		char to;
	} table[] = {
		{ 0x2192, '>' }, { 0x2190, '<' }, { 0x2191, '^' }, { 0x2193, 'v' }, { 0x25b2, '^' },
		{ 0x25b8, '>' }, { 0x2026, '~' }, { 0x00b7, '.' }, { 0x00d7, 'x' }, { 0x25c6, '*' },
		{ 0x25cf, 'o' }, { 0x203a, '>' }, { 0x2013, '-' },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].from == c)
			return (uint32_t)table[i].to;
	}
	return c < 0x80 ? c : '?';
}

int32_t loupe_canvas_text(struct loupe_canvas *canvas, int32_t x, int32_t y, int32_t max,
			  enum loupe_role role, const char *text)
{
	int32_t n = 0;

	for (; *text && n < max; n++) {
		uint32_t c = next_glyph(&text);

		canvas_put(canvas, x + n, y, role, c);
	}
	return n;
}

int32_t loupe_text_columns(const char *text)
{
	int32_t n = 0;

	for (; *text; n++)
		next_glyph(&text);
	return n;
}

void canvas_put(struct loupe_canvas *canvas, int32_t x, int32_t y, enum loupe_role role, uint32_t c)
{
	int64_t i = cell_index(canvas, x, y);

	if (i < 0)
		return;
	canvas->cells[i].glyph = canvas->ascii ? ascii_glyph(c) : c;
	canvas->cells[i].role = (uint8_t)role;
	canvas->lines[i] = 0;
}

size_t canvas_utf8(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

size_t loupe_canvas_row(const struct loupe_canvas *canvas, int32_t row, char *buf, size_t size)
{
	const struct loupe_cell *cells = canvas->cells + (int64_t)row * canvas->w;
	int32_t end = canvas->w;
	size_t len = 0, kept = 0;

	while (end > 0 && (!cells[end - 1].glyph || cells[end - 1].glyph == ' '))
		end--;
	for (int32_t i = 0; i < end; i++) {
		char out[4];
		size_t n = canvas_utf8(cells[i].glyph ? cells[i].glyph : ' ', out);

		if (kept == len && len + n < size) {
			memcpy(buf + len, out, n);
			kept += n;
		}
		len += n;
	}
	if (size)
		buf[kept] = '\0';
	return len;
}

/* ---- lines -------------------------------------------------------------------------------- */

enum {
	UP = 1,
	RIGHT = 2,
	DOWN = 4,
	LEFT = 8,
};

static uint32_t arms_glyph(uint8_t arms, bool ascii)
{
	static const uint16_t glyphs[16] = {
		' ',	0x2502, 0x2500, 0x2514, 0x2502, 0x2502, 0x250c, 0x251c,
		0x2500, 0x2518, 0x2500, 0x2534, 0x2510, 0x2524, 0x252c, 0x253c,
	};

	if (!ascii)
		return glyphs[arms];
	if (!(arms & (LEFT | RIGHT)))
		return '|';
	return arms & (UP | DOWN) ? '+' : '-';
}

/* Lines that cross without meeting: the upright one is drawn through, unless the other must be
 * seen whole. */
static void add_arms(struct loupe_canvas *canvas, int32_t x, int32_t y, uint8_t arms,
		     enum loupe_role role, bool on_top)
{
	int64_t i = cell_index(canvas, x, y);
	uint8_t old;

	if (i < 0)
		return;
	old = canvas->lines[i];
	if (old == (UP | DOWN) && arms == (LEFT | RIGHT)) {
		if (!on_top)
			return;
		old = 0;
	} else if (old == (LEFT | RIGHT) && arms == (UP | DOWN)) {
		old = 0;
	}
	canvas->lines[i] = old | arms;
	canvas->cells[i].glyph = arms_glyph(old | arms, canvas->ascii);
	canvas->cells[i].role = (uint8_t)role;
}

static int32_t clip(int32_t v, int64_t low, int64_t high)
{
	return v < low ? (int32_t)low : v > high ? (int32_t)high : v;
}

void canvas_line(struct loupe_canvas *canvas, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
		 enum loupe_role role, bool on_top)
{
	/* one more cell at each side of what is seen, so that ends outside stay outside */
	int32_t xa = clip(x0, (int64_t)canvas->x - 1, (int64_t)canvas->x + canvas->w);
	int32_t xb = clip(x1, (int64_t)canvas->x - 1, (int64_t)canvas->x + canvas->w);
	int32_t ya = clip(y0, (int64_t)canvas->y - 1, (int64_t)canvas->y + canvas->h);
	int32_t yb = clip(y1, (int64_t)canvas->y - 1, (int64_t)canvas->y + canvas->h);

	for (int32_t x = xa; x <= xb && y0 == y1; x++)
		add_arms(canvas, x, y0, (uint8_t)((x > x0 ? LEFT : 0) | (x < x1 ? RIGHT : 0)), role,
			 on_top);
	for (int32_t y = ya; y <= yb && y0 != y1; y++)
		add_arms(canvas, x0, y, (uint8_t)((y > y0 ? UP : 0) | (y < y1 ? DOWN : 0)), role,
			 on_top);
}

void canvas_box(struct loupe_canvas *canvas, int32_t x, int32_t y, int32_t w, int32_t h,
		enum loupe_role role)
{
	const int32_t x1 = x + w - 1, y1 = y + h - 1;
	int64_t end_x = (int64_t)canvas->x + canvas->w, end_y = (int64_t)canvas->y + canvas->h;

	for (int32_t cy = clip(y, canvas->y, end_y); cy <= y1 && cy < end_y; cy++) {
		for (int32_t cx = clip(x, canvas->x, end_x); cx <= x1 && cx < end_x; cx++) {
			uint8_t arms = 0;

			if (cx == x || cx == x1)
				arms = (uint8_t)((cy > y ? UP : 0) | (cy < y1 ? DOWN : 0));
			if (cy == y || cy == y1)
				arms |= (uint8_t)((cx > x ? LEFT : 0) | (cx < x1 ? RIGHT : 0));
			canvas_put(canvas, cx, cy, role,
				   arms ? arms_glyph(arms, canvas->ascii) : ' ');
		}
	}
}

void canvas_port(struct loupe_canvas *canvas, int32_t x, int32_t y, bool below,
		 enum loupe_role role)
{
	canvas_put(canvas, x, y, role,
		   arms_glyph(LEFT | RIGHT | (below ? DOWN : UP), canvas->ascii));
}

const char *loupe_role_name(enum loupe_role role)
{
	static const char *const names[LOUPE_ROLE_CNT] = {
		[LOUPE_ROLE_TEXT] = "text",
		[LOUPE_ROLE_DIM] = "dim",
		[LOUPE_ROLE_COMMENT] = "comment",
		[LOUPE_ROLE_NUMBER] = "number",
		[LOUPE_ROLE_BLOCK] = "block",
		[LOUPE_ROLE_BLOCK_SELECTED] = "block-selected",
		[LOUPE_ROLE_BLOCK_MATCHED] = "block-matched",
		[LOUPE_ROLE_BLOCK_DEAD] = "block-dead",
		[LOUPE_ROLE_EDGE] = "edge",
		[LOUPE_ROLE_EDGE_TRUE] = "edge-true",
		[LOUPE_ROLE_EDGE_FALSE] = "edge-false",
		[LOUPE_ROLE_EDGE_BACK] = "edge-back",
		[LOUPE_ROLE_EDGE_SELECTED] = "edge-selected",
		[LOUPE_ROLE_LABEL] = "label",
		[LOUPE_ROLE_DELETED] = "deleted",
		[LOUPE_ROLE_MOVED] = "moved",
		[LOUPE_ROLE_CHANGED] = "changed",
		[LOUPE_ROLE_ADDED] = "added",
		[LOUPE_ROLE_ERROR] = "error",
	};

	return names[role];
}
