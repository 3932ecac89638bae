// SPDX-License-Identifier: GPL-2.0-only
/* Writes a screen as text and as SVG. */
#include "screen_write.h"

#include <errno.h>
#include <string.h>

/* Pixels of a cell in the picture, and of its text. */
enum {
	CELL_W = 9,
	CELL_H = 19,
	FONT = 15,
	BASELINE = 14,
	MARGIN = 8,
};

static void put_utf8(uint32_t c, FILE *out)
{
	if (c < 0x80) {
		fputc((int)c, out);
	} else if (c < 0x800) {
		fputc((int)(0xc0 | c >> 6), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	} else if (c < 0x10000) {
		fputc((int)(0xe0 | c >> 12), out);
		fputc((int)(0x80 | (c >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	} else {
		fputc((int)(0xf0 | c >> 18), out);
		fputc((int)(0x80 | (c >> 12 & 0x3f)), out);
		fputc((int)(0x80 | (c >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (c & 0x3f)), out);
	}
}

static const struct ui_cell *row_of(const struct screen *screen, int y)
{
	return &screen->cells[y * screen->w];
}

static bool is_blank(const struct ui_cell *cell)
{
	return !cell->glyph || cell->glyph == ' ';
}

void screen_write_text(const struct screen *screen, FILE *out)
{
	for (int y = 0; y < screen->h; y++) {
		const struct ui_cell *row = row_of(screen, y);
		int end = screen->w;

		while (end && is_blank(&row[end - 1]))
			end--;
		for (int x = 0; x < end; x++)
			put_utf8(row[x].glyph ? row[x].glyph : ' ', out);
		fputc('\n', out);
	}
}

/* ---- SVG ---------------------------------------------------------------------------------- */

struct look {
	uint32_t fg, bg;
	bool bold, underline, struck;
};

static struct look look_of(const struct theme *theme, const struct ui_cell *cell)
{
	struct style style =
		theme_style(theme, (enum ui_role)cell->role, (enum ui_ground)cell->ground);
	struct look look = {
		.fg = style.fg == THEME_DEFAULT ? theme_ink(theme) : style.fg,
		.bg = style.bg == THEME_DEFAULT ? theme_paper(theme) : style.bg,
		.bold = style.bold,
		.underline = style.underline,
		.struck = style.struck,
	};

	if (style.reverse) {
		uint32_t fg = look.fg;

		look.fg = theme_paper(theme);
		look.bg = fg;
	}
	return look;
}

static bool same_ink(struct look a, struct look b)
{
	return a.fg == b.fg && a.bold == b.bold && a.underline == b.underline &&
	       a.struck == b.struck;
}

static void svg_grounds(const struct ui_cell *row, int w, int y, const struct theme *theme,
			FILE *out)
{
	for (int x = 0; x < w;) {
		uint32_t bg = look_of(theme, &row[x]).bg;
		int end = x + 1;

		while (end < w && look_of(theme, &row[end]).bg == bg)
			end++;
		if (bg != theme_paper(theme))
			fprintf(out, "<rect x='%d' y='%d' width='%d' height='%d' fill='#%06x'/>\n",
				MARGIN + x * CELL_W, MARGIN + y * CELL_H, (end - x) * CELL_W,
				CELL_H, bg);
		x = end;
	}
}

static void svg_glyph(uint32_t c, FILE *out)
{
	if (c == '<')
		fputs("&lt;", out);
	else if (c == '>')
		fputs("&gt;", out);
	else if (c == '&')
		fputs("&amp;", out);
	else
		put_utf8(c, out);
}

/* Lines are drawn, not written: fonts leave gaps between rows. Returns false for other glyphs. */
static bool svg_line(uint32_t glyph, int x, int y, uint32_t fg, FILE *out)
{
	static const struct {
		uint32_t glyph;
		bool up, down, left, right;
	} lines[] = {
		{ 0x2500, false, false, true, true }, { 0x2502, true, true, false, false },
		{ 0x250c, false, true, false, true }, { 0x2510, false, true, true, false },
		{ 0x2514, true, false, false, true }, { 0x2518, true, false, true, false },
		{ 0x251c, true, true, false, true },  { 0x2524, true, true, true, false },
		{ 0x252c, false, true, true, true },  { 0x2534, true, false, true, true },
		{ 0x253c, true, true, true, true },
	};
	int cx = MARGIN * 2 + x * CELL_W * 2 + CELL_W, cy = MARGIN * 2 + y * CELL_H * 2 + CELL_H;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (lines[i].glyph != glyph)
			continue;
		fputs("<path d='", out);
		/* coordinates in half pixels while computing */
		if (lines[i].up || lines[i].down)
			fprintf(out, "M%.1f %.1fV%.1f", cx / 2.0,
				(lines[i].up ? cy - CELL_H : cy) / 2.0,
				(lines[i].down ? cy + CELL_H : cy) / 2.0);
		if (lines[i].left || lines[i].right)
			fprintf(out, "M%.1f %.1fH%.1f", (lines[i].left ? cx - CELL_W : cx) / 2.0,
				cy / 2.0, (lines[i].right ? cx + CELL_W : cx) / 2.0);
		fprintf(out, "' stroke='#%06x'/>\n", fg);
		return true;
	}
	return false;
}

static void svg_inks(const struct ui_cell *row, int w, int y, const struct theme *theme, FILE *out)
{
	for (int x = 0; x < w;) {
		struct look look = look_of(theme, &row[x]);
		int end = x + 1;

		if ((is_blank(&row[x]) && !look.underline) ||
		    svg_line(row[x].glyph, x, y, look.fg, out)) {
			x++;
			continue;
		}
		/* a character beyond Latin-1 may be wider in a fallback font: alone, it moves
		 * nothing */
		while (end < w && row[x].glyph < 0x100 && row[end].glyph < 0x100 &&
		       same_ink(look_of(theme, &row[end]), look) &&
		       (!is_blank(&row[end]) ||
			(end + 1 < w && !is_blank(&row[end + 1]) && row[end + 1].glyph < 0x100)))
			end++;
		fprintf(out,
			"<text x='%d' y='%d' textLength='%d' lengthAdjust='spacingAndGlyphs' "
			"fill='#%06x'%s%s>",
			MARGIN + x * CELL_W, MARGIN + y * CELL_H + BASELINE, (end - x) * CELL_W,
			look.fg, look.bold ? " font-weight='bold'" : "",
			look.underline ? " text-decoration='underline'"
			: look.struck  ? " text-decoration='line-through'"
				       : "");
		for (int i = x; i < end; i++)
			svg_glyph(row[i].glyph ? row[i].glyph : ' ', out);
		fputs("</text>\n", out);
		x = end;
	}
}

void screen_write_svg(const struct screen *screen, const struct theme *theme, FILE *out)
{
	int w = screen->w * CELL_W + 2 * MARGIN, h = screen->h * CELL_H + 2 * MARGIN;

	fprintf(out,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d' font-family='DejaVu Sans Mono,Menlo,Consolas,monospace' "
		"font-size='%d' xml:space='preserve' shape-rendering='crispEdges'>\n"
		"<rect width='100%%' height='100%%' fill='#%06x'/>\n",
		w, h, w, h, FONT, theme_paper(theme));
	for (int y = 0; y < screen->h; y++) {
		svg_grounds(row_of(screen, y), screen->w, y, theme, out);
		svg_inks(row_of(screen, y), screen->w, y, theme, out);
	}
	fputs("</svg>\n", out);
}

int screen_save(const struct screen *screen, const struct theme *theme, const char *path)
{
	size_t len = strlen(path);
	FILE *out = fopen(path, "w");
	int rc = 0;

	if (!out)
		return -errno;
	errno = 0;
	if (len > 4 && strcmp(path + len - 4, ".svg") == 0)
		screen_write_svg(screen, theme, out);
	else
		screen_write_text(screen, out);
	if (ferror(out))
		rc = errno ? -errno : -EIO;
	if (fclose(out) && !rc)
		rc = -errno;
	return rc;
}
