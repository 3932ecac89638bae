// SPDX-License-Identifier: GPL-2.0-only
/* Keys, commands and terms of the view from which help was asked for. */
#include "help.h"
#include "panes.h"
#include "view.h"
#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct help_line {
	enum help_kind kind;
	char left[160];
	char right[200];
};

struct help_view {
	struct view view;
	enum view_id about; /* the lines are about this view */
	int w;		    /* and broken for a screen of this width */
	struct help_line *lines;
	size_t cnt, cap;
	struct scroll scroll;
	int h;
};

/* Column of what stands on the right, and where it begins behind a long left part. */
static int right_at(int w)
{
	return w > 100 ? 30 : 24;
}

static void push_line(struct help_view *help, enum help_kind kind, const char *left,
		      const char *right, size_t len)
{
	struct help_line *line;

	if (help->cnt == help->cap) {
		size_t cap = help->cap ? help->cap * 2 : 128;
		struct help_line *lines = realloc(help->lines, cap * sizeof(*lines));

		if (!lines)
			return;
		help->lines = lines;
		help->cap = cap;
	}
	line = &help->lines[help->cnt++];
	line->kind = kind;
	snprintf(line->left, sizeof(line->left), "%s", left);
	snprintf(line->right, sizeof(line->right), "%.*s", (int)len, right);
}

/* A line, or several if what stands on the right is longer than its column. */
static void add_line(void *data, enum help_kind kind, const char *left, const char *right)
{
	enum { LEAST = 10 };
	struct help_view *help = data;
	int at = right_at(help->w), room = help->w - 2 - at, behind = screen_columns(left) + 4;

	if (behind > at)
		room = help->w - 2 - behind;
	do {
		const char *end = right;
		int columns = room < LEAST ? screen_columns(right) : wrap_columns(right, room);

		for (int x = 0; x < columns && *end; x++)
			screen_next_glyph(&end);
		push_line(help, kind, left, right, (size_t)(end - right));
		left = "";
		room = help->w - 2 - at;
		right = end + strspn(end, " ");
	} while (*right);
}

static void fill(struct help_view *help, int w)
{
	enum view_id about = tui_view_before(help->view.tui);

	if (about == VIEW_HELP)
		about = VIEW_LIST;
	if (help->cnt && help->about == about && help->w == w)
		return;
	if (help->about != about)
		help->scroll = (struct scroll){ 0 };
	help->about = about;
	help->w = w;
	help->cnt = 0;
	help_view(about, add_line, help);
}

static void draw_line(const struct help_line *line, struct screen *screen, struct rect row)
{
	static const enum ui_role roles[] = {
		[HELP_HEADING] = UI_HEADING,
		[HELP_KEY] = UI_KEY,
		[HELP_COMMAND] = UI_KEY,
		[HELP_TERM] = UI_REG,
	};
	int at = right_at(row.w);
	struct pen pen = pen_at(screen, row.x + 1, row.y, row.w - 2);

	if (line->kind == HELP_BLANK)
		return;
	if (line->kind != HELP_HEADING)
		pen_text(&pen, UI_TEXT, "  ");
	pen_text(&pen, roles[line->kind], line->left);
	if (*line->right) {
		if (pen.x > row.x + at)
			pen_text(&pen, UI_TEXT, " ");
		pen_to(&pen, row.x + at);
		pen_text(&pen, UI_TEXT, line->right);
	}
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct help_view *help = (struct help_view *)view;
	int64_t cnt;

	fill(help, area.w);
	cnt = (int64_t)help->cnt;
	help->h = area.h;
	scroll_fit(&help->scroll, cnt, area.h);
	for (int i = 0; i < area.h && help->scroll.top + i < cnt; i++) {
		struct rect row = { area.x, area.y + i, area.w, 1 };

		draw_line(&help->lines[help->scroll.top + i], screen, row);
		if (*tui_pattern(view->tui))
			mark_matches(screen, row.x, row.y, row.w, tui_pattern(view->tui));
	}
	area.w--;
	pane_more(screen, area, help->scroll.top, cnt);
}

static bool request(struct view *view, enum request request)
{
	struct help_view *help = (struct help_view *)view;
	struct scroll *scroll = &help->scroll;
	int64_t cnt = (int64_t)help->cnt;

	/* there is no selected row: moving scrolls */
	if (request == REQ_UP)
		scroll->cursor = scroll->top - 1;
	else if (request == REQ_DOWN)
		scroll->cursor = scroll->top + help->h;
	else if (!scroll_request(scroll, request, cnt, help->h))
		return false;
	scroll_fit(scroll, cnt, help->h);
	return true;
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct help_view *help = (struct help_view *)view;
	int64_t cnt = (int64_t)help->cnt;

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (help->scroll.cursor + (forward ? i : cnt - i)) % cnt;

		if (text_matches(help->lines[n].left, text) ||
		    text_matches(help->lines[n].right, text)) {
			scroll_to(&help->scroll, n, cnt, help->h);
			return true;
		}
	}
	return false;
}

enum { EXPORT_W = 1000 };

static int export(struct view *view, FILE *out)
{
	struct help_view *help = (struct help_view *)view;

	fill(help, EXPORT_W);
	for (size_t i = 0; i < help->cnt; i++)
		fprintf(out, "%s%-28s %s\n", help->lines[i].kind == HELP_HEADING ? "" : "  ",
			help->lines[i].left, help->lines[i].right);
	return 0;
}

static int open(struct view *view)
{
	struct help_view *help = (struct help_view *)view;

	help->h = 1;
	fill(help, EXPORT_W);
	return help->cnt ? 0 : -ENOMEM;
}

static void close(struct view *view)
{
	free(((struct help_view *)view)->lines);
}

static const struct view_hint hints[] = {
	{ REQ_DOWN, REQ_UP, "scroll" },
	{ REQ_SEARCH, REQ_NONE, "search" },
	{ REQ_BACK, REQ_NONE, "back" },
	{ REQ_NONE, REQ_NONE, NULL },
};

const struct view_ops view_help = {
	.name = "help",
	.title = NULL,
	.about = "keys, commands and terms",
	.needs = VIEW_NEEDS_NOTHING,
	.size = sizeof(struct help_view),
	.hints = hints,
	.open = open,
	.close = close,
	.draw = draw,
	.request = request,
	.search = search,
	.export = export,
};
