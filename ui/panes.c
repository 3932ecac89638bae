// SPDX-License-Identifier: GPL-2.0-only
/* Frames, lists, numbers. */
#include "panes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct rect pane_frame(struct screen *screen, struct rect outer, const char *title, bool focus)
{
	enum ui_role role = focus ? UI_FRAME_FOCUS : UI_FRAME;
	struct pen pen = pen_at(screen, outer.x + 1, outer.y, outer.w - 2);

	screen_hline(screen, outer.x, outer.y, outer.w, role);
	screen_hline(screen, outer.x, outer.y + outer.h - 1, outer.w, role);
	screen_vline(screen, outer.x, outer.y, outer.h, role);
	screen_vline(screen, outer.x + outer.w - 1, outer.y, outer.h, role);
	if (*title) {
		pen_text(&pen, UI_TEXT, " ");
		pen_text(&pen, focus ? UI_TITLE_FOCUS : UI_TITLE, title);
		pen_text(&pen, UI_TEXT, " ");
	}
	return (struct rect){ outer.x + 1, outer.y + 1, outer.w - 2, outer.h - 2 };
}

void pane_note(struct screen *screen, struct rect outer, enum ui_role role, const char *note)
{
	int columns = screen_columns(note), x = outer.x + outer.w - columns - 3;
	struct pen pen;

	/* at least two columns of line between title and note, else it is left out */
	for (int i = -1; i < columns + 2; i++) {
		const struct ui_cell *cell = screen_cell(screen, x + i, outer.y);

		if (!cell || x + i <= outer.x || cell->glyph < 0x2500 || cell->glyph > 0x257f)
			return;
	}
	pen = pen_at(screen, x, outer.y, columns + 2);
	pen_text(&pen, UI_TEXT, " ");
	pen_text(&pen, role, note);
	pen_text(&pen, UI_TEXT, " ");
}

void pane_more(struct screen *screen, struct rect inner, int64_t top, int64_t cnt)
{
	if (top > 0)
		screen_put(screen, inner.x + inner.w, inner.y, UI_DIM, 0x25b2);
	if (top + inner.h < cnt)
		screen_put(screen, inner.x + inner.w, inner.y + inner.h - 1, UI_DIM, 0x25bc);
}

void scroll_fit(struct scroll *scroll, int64_t cnt, int h)
{
	if (scroll->cursor >= cnt)
		scroll->cursor = cnt - 1;
	if (scroll->cursor < 0)
		scroll->cursor = 0;
	if (scroll->top > cnt - h)
		scroll->top = cnt - h;
	if (scroll->cursor < scroll->top)
		scroll->top = scroll->cursor;
	if (h > 0 && scroll->cursor >= scroll->top + h)
		scroll->top = scroll->cursor - h + 1;
	if (scroll->top < 0)
		scroll->top = 0;
}

void scroll_to(struct scroll *scroll, int64_t row, int64_t cnt, int h)
{
	scroll->cursor = row;
	/* two rows of what is around it stay in sight */
	if (h > 6 && (row < scroll->top + 2 || row >= scroll->top + h - 2))
		scroll->top = row - h / 2;
	scroll_fit(scroll, cnt, h);
}

bool scroll_request(struct scroll *scroll, enum request request, int64_t cnt, int h)
{
	int page = h > 2 ? h - 1 : 1;

	switch (request) {
	case REQ_UP:
		scroll->cursor--;
		break;
	case REQ_DOWN:
		scroll->cursor++;
		break;
	case REQ_PAGE_UP:
		scroll->cursor -= page;
		scroll->top -= page;
		break;
	case REQ_PAGE_DOWN:
		scroll->cursor += page;
		scroll->top += page;
		break;
	case REQ_FIRST:
		scroll->cursor = 0;
		break;
	case REQ_LAST:
		scroll->cursor = cnt - 1;
		break;
	default:
		return false;
	}
	scroll_fit(scroll, cnt, h);
	return true;
}

const char *plural(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

const char *number_text(char buf[NUMBER_TEXT], uint64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number), out = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

static bool has_upper(const char *text)
{
	for (; *text; text++) {
		if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

bool text_matches(const char *text, const char *what)
{
	return has_upper(what) ? strstr(text, what) != NULL : strcasestr(text, what) != NULL;
}

static uint32_t fold(uint32_t c, bool exact)
{
	return !exact && c >= 'A' && c <= 'Z' ? c + 32 : c;
}

void mark_matches(struct screen *screen, int x, int y, int w, const char *what)
{
	int columns = screen_columns(what);
	bool exact = has_upper(what);

	for (int at = x; columns && at + columns <= x + w; at++) {
		const char *rest = what;
		int i = 0;

		for (; i < columns; i++) {
			struct ui_cell *cell = screen_cell(screen, at + i, y);
			uint32_t want = screen_next_glyph(&rest);

			if (!cell ||
			    fold(cell->glyph ? cell->glyph : ' ', exact) != fold(want, exact))
				break;
		}
		if (i == columns)
			screen_ground(screen, (struct rect){ at, y, columns, 1 }, UI_GROUND_MATCH);
	}
}
