// SPDX-License-Identifier: GPL-2.0-only
/* Cost: processed instructions by source line, function, insn and branch. */
#include "cost.h"
#include "listing.h"
#include "panes.h"
#include "view.h"
#include "words.h"
#include "wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cost_view {
	struct view view;
	struct listing listing;
	struct cost costs[COST_BY_CNT]; /* made when they are first looked at */
	struct scroll scroll[COST_BY_CNT];
	bool shown[COST_BY_CNT];
	enum cost_by by;
	int sort; /* column */
	bool reverse;
	uint64_t most; /* of the exclusive counts */
	int h; /* rows when drawn last */
};

/* ---- columns ------------------------------------------------------------------------------ */

static uint64_t of_place(const struct cost_row *row)
{
	return row->insn;
}

static uint64_t of_inclusive(const struct cost_row *row)
{
	return row->inclusive;
}

static uint64_t of_exclusive(const struct cost_row *row)
{
	return row->exclusive;
}

static uint64_t of_paths(const struct cost_row *row)
{
	return row->paths;
}

static const struct {
	const char *name;
	bool up; /* smallest first */
	uint64_t (*value)(const struct cost_row *row);
} columns[] = {
	{ "exclusive", false, of_exclusive },
	{ "inclusive", false, of_inclusive },
	{ "paths", false, of_paths },
	{ "place", true, of_place },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), BY_EXCLUSIVE = 0, BY_PLACE = COLUMNS - 1 };

static int by_column(const void *left, const void *right, void *data)
{
	const struct cost_row *a = left, *b = right;
	const struct cost_view *view = data;
	uint64_t x = columns[view->sort].value(a), y = columns[view->sort].value(b);

	if (x != y)
		return (x < y) == (columns[view->sort].up != view->reverse) ? -1 : 1;
	return a->insn < b->insn ? -1 : a->insn > b->insn;
}

static struct cost *current(struct cost_view *view)
{
	return &view->costs[view->by];
}

/* Row that insn belongs to, -1 if none. */
static int64_t row_of(struct cost_view *view, uint32_t insn)
{
	const struct cost *cost = current(view);
	const struct loupe_source *source = view->listing.source;
	struct loupe_source_line want, line;
	bool known = source && loupe_source_line_of(source, insn, &want) && want.path && want.line;

	for (uint32_t i = 0; i < cost->cnt; i++) {
		const struct cost_row *row = &cost->rows[i];

		if (view->by == COST_FUNCTION
			    ? loupe_trace_subprog_of(view->view.subject->trace, row->insn) ==
				      loupe_trace_subprog_of(view->view.subject->trace, insn)
		    : view->by == COST_LINE
			    ? (known ? row->kind == COST_ROW_PART &&
					       loupe_source_line_of(source, row->insn, &line) &&
					       line.line == want.line &&
					       !strcmp(line.path, want.path)
				     : row->kind == COST_ROW_NO_LINE)
			    : row->insn == insn && row->kind == COST_ROW_PART)
			return i;
	}
	return -1;
}

static void sort(struct cost_view *view)
{
	struct cost *cost = current(view);
	struct scroll *scroll = &view->scroll[view->by];
	struct cost_row keep;

	if (!cost->cnt)
		return;
	keep = cost->rows[scroll->cursor < cost->cnt ? scroll->cursor : 0];
	qsort_r(cost->rows, cost->cnt, sizeof(*cost->rows), by_column, view);
	for (uint32_t i = 0; i < cost->cnt; i++) {
		if (cost->rows[i].insn == keep.insn && cost->rows[i].kind == keep.kind)
			scroll_to(scroll, i, cost->cnt, view->h);
	}
}

static void show_by(struct cost_view *view, enum cost_by by)
{
	struct cost *cost = &view->costs[by];

	if (!cost->rows && cost_make(cost, view->view.subject->trace, view->listing.source, by)) {
		tui_say(view->view.tui, UI_ERROR, "out of memory");
		return;
	}
	view->by = by;
	view->most = 0;
	for (uint32_t i = 0; i < cost->cnt; i++)
		view->most =
			cost->rows[i].exclusive > view->most ? cost->rows[i].exclusive : view->most;
	sort(view);
	if (!view->shown[by])
		view->scroll[by] = (struct scroll){ 0 };
	view->shown[by] = true;
}

/* ---- words -------------------------------------------------------------------------------- */

static void func_name(const struct cost_view *view, uint32_t insn, char *buf, size_t size)
{
	const struct loupe_source *source = view->listing.source;
	const char *name = source ? loupe_source_func_of(source, insn) : NULL;
	uint32_t n = loupe_trace_subprog_of(view->view.subject->trace, insn);

	if (name)
		snprintf(buf, size, "%s", name);
	else if (n)
		snprintf(buf, size, "subprogram %u", n);
	else
		snprintf(buf, size, "main");
}

/* A row's name: where it is, and what stands there. */
static void row_words(const struct cost_view *view, const struct cost_row *row, char *where,
		      size_t where_size, char *what, size_t what_size)
{
	struct loupe_source_line line;

	snprintf(where, where_size, "%u:", row->insn);
	if (row->kind == COST_ROW_NO_LINE) {
		where[0] = '\0';
		snprintf(what, what_size, "without a source line");
	} else if (row->kind == COST_ROW_START) {
		char name[128];

		func_name(view, row->insn, name, sizeof(name));
		snprintf(what, what_size, "the start of %s", name);
	} else if (view->by == COST_FUNCTION) {
		func_name(view, row->insn, what, what_size);
	} else if (view->by == COST_LINE &&
		   loupe_source_line_of(view->listing.source, row->insn, &line)) {
		char insn[200];

		snprintf(where, where_size, ":%u", line.line);
		if (*line.text) {
			snprintf(what, what_size, "%s", line.text);
			return;
		}
		/* objects may hold the numbers of lines without their text */
		listing_insn_text(&view->listing, row->hottest, false, insn, sizeof(insn));
		snprintf(what, what_size, "%s  %s", line.file, insn);
	} else {
		listing_insn_text(&view->listing, row->insn, false, what, what_size);
	}
}

static double percent(const struct cost_view *view, uint64_t part)
{
	uint64_t all = view->costs[view->by].total;

	return all ? (double)part * 100 / (double)all : 0;
}

static void row_text(const struct cost_view *view, const struct cost_row *row, char *buf,
		     size_t size)
{
	char where[32], what[400];

	row_words(view, row, where, sizeof(where), what, sizeof(what));
	snprintf(buf, size, "%10" PRIu64 " %10" PRIu64 " %5.1f%% %8" PRIu64 "  %s %s",
		 row->exclusive, row->inclusive, percent(view, row->exclusive), row->paths, where,
		 what);
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { COUNT_W = 11, SHARE_W = 7, PATHS_W = 10, WHERE_W = 7 };

static int bar_w(int w)
{
	return w >= 120 ? 20 : w >= 70 ? 8 : 0;
}

static void draw_tabs(const struct cost_view *view, struct screen *screen, struct rect at)
{
	static const char *const names[] = { "source line", "function", "insn", "branch" };
	struct pen pen = pen_at(screen, at.x, at.y, at.w);

	pen_text(&pen, UI_DIM, " by ");
	for (int i = 0; i < COST_BY_CNT; i++) {
		pen_text(&pen, i == (int)view->by ? UI_TITLE_FOCUS : UI_DIM, names[i]);
		pen_text(&pen, UI_TEXT, "  ");
	}
	pen_text(&pen, UI_KEY, "Tab");
	pen_text(&pen, UI_DIM, " changes");
}

static void draw_head(const struct cost_view *view, struct screen *screen, struct rect at)
{
	static const int widths[] = { COUNT_W, COUNT_W, PATHS_W };
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	const char *names[] = { "exclusive", "inclusive",
				view->by == COST_BRANCH ? "paths left" : "arrivals" };

	for (int i = 0; i < 3; i++) {
		bool sorted = i == view->sort;

		if (i == 2) {
			pen_printf(&pen, UI_HEADING, "%*s", SHARE_W, "share");
			pen_to(&pen, pen.x + bar_w(at.w) + (bar_w(at.w) ? 1 : 0));
		}
		pen_to(&pen, pen.x + widths[i] - (int)strlen(names[i]) - sorted);
		if (sorted)
			pen_text(&pen, UI_TITLE_FOCUS, view->reverse ? "▲" : "▼");
		pen_text(&pen, sorted ? UI_TITLE_FOCUS : UI_HEADING, names[i]);
	}
	pen_printf(&pen, view->sort == BY_PLACE ? UI_TITLE_FOCUS : UI_HEADING, "  where");
}

/* Eighths of a cell would not show everywhere: whole cells do. */
static void draw_bar(struct screen *screen, int x, int y, int w, uint64_t part, uint64_t most)
{
	int full = most ? (int)((part * (uint64_t)w + most / 2) / most) : 0;

	for (int i = 0; i < w; i++)
		screen_put(screen, x + i, y, i < full ? UI_PROGRESS : UI_FRAME,
			   i < full ? 0x2588 : 0x2591);
}

static void draw_row(const struct cost_view *view, const struct cost_row *row,
		     struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char number[NUMBER_TEXT], where[32], what[400];
	int bar = bar_w(at.w);

	pen_printf(&pen, UI_STRONG, "%*s", COUNT_W, number_text(number, row->exclusive));
	pen_printf(&pen, row->inclusive > row->exclusive ? UI_TEXT : UI_DIM, "%*s", COUNT_W,
		   number_text(number, row->inclusive));
	pen_printf(&pen, UI_TEXT, "%*.1f%%", SHARE_W - 1, percent(view, row->exclusive));
	if (bar) {
		draw_bar(screen, pen.x + 1, at.y, bar, row->exclusive, view->most);
		pen.x += bar + 1;
	}
	pen_printf(&pen, UI_ARRIVAL, "%*s", PATHS_W, number_text(number, row->paths));
	row_words(view, row, where, sizeof(where), what, sizeof(what));
	pen_printf(&pen, UI_NUMBER, " %*s ", WHERE_W - 1, where);
	pen_text(&pen, row->kind != COST_ROW_PART	? UI_DIM :
		       view->by == COST_LINE		? UI_COMMENT :
							  UI_TEXT,
		 what);
}

/* The sum, and that it is the verifier's own count. */
static void draw_total(const struct cost_view *view, struct screen *screen, struct rect at)
{
	uint64_t total = view->costs[view->by].total;
	uint64_t processed = view->view.subject->result.counters.insn_processed;
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char number[NUMBER_TEXT];

	pen_printf(&pen, UI_STRONG, "%*s", COUNT_W, number_text(number, total));
	if (total == processed)
		pen_printf(&pen, UI_DIM, "  all processed instructions, in %u %s%s",
			   view->costs[view->by].cnt, cost_by_name(view->by),
			   view->costs[view->by].cnt == 1 ? "" :
			   view->by == COST_BRANCH	  ? "es" :
							    "s");
	else
		pen_printf(&pen, UI_ERROR, "  of %s: the trace lacks the others",
			   number_text(number, processed));
}

static void draw_selected(struct cost_view *view, const struct cost_row *row, struct screen *screen,
			  struct rect at)
{
	const struct loupe_trace *trace = view->view.subject->trace;
	struct cost *branches = &view->costs[COST_BRANCH];
	char text[700], number[NUMBER_TEXT], more[NUMBER_TEXT], insn[200];

	listing_insn_text(&view->listing, row->hottest, false, insn, sizeof(insn));
	if (view->by == COST_BRANCH && row->kind == COST_ROW_PART)
		snprintf(
			text, sizeof(text),
			"insn %u left %s path%s, of which %s ended at once; they took %s instructions, "
			"%.1f%% of all",
			row->insn, number_text(number, row->paths), plural(row->paths),
			number_text(more, row->pruned), number_text(insn, row->exclusive),
			percent(view, row->exclusive));
	else
		snprintf(text, sizeof(text),
			 "%s instruction%s, %.1f%% of all; most often insn %u: %s",
			 number_text(number, row->exclusive), plural(row->exclusive),
			 percent(view, row->exclusive), row->hottest, insn);
	wrap_text(screen, (struct rect){ at.x + 1, at.y, at.w - 2, at.h < 2 ? at.h : 2 }, 0,
		  UI_TEXT, text);
	if (at.h < 3)
		return;
	if (!branches->rows && cost_make(branches, trace, view->listing.source, COST_BRANCH))
		return;
	cost_why_long(branches, trace, &view->listing, "; 3 tells why", text, sizeof(text));
	wrap_text(screen, (struct rect){ at.x + 1, at.y + 2, at.w - 2, at.h - 2 }, 0, UI_NOTICE,
		  text);
}

enum { SELECTED_H = 5 };

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct cost_view *view = (struct cost_view *)base;
	struct cost *cost = current(view);
	struct scroll *scroll = &view->scroll[view->by];
	int selected = area.h >= SELECTED_H + 8 ? SELECTED_H : area.h >= 8 ? area.h - 8 : 0;
	int h = area.h - selected - 4;

	if (!cost->cnt) {
		screen_text(screen, area.x + 2, area.y + area.h / 2, area.w - 4, UI_NOTICE,
			    "Nothing was processed: verification ended before exploration.");
		return;
	}
	view->h = h;
	scroll_fit(scroll, cost->cnt, h);
	draw_tabs(view, screen, (struct rect){ area.x, area.y, area.w, 1 });
	draw_head(view, screen, (struct rect){ area.x, area.y + 1, area.w, 1 });
	for (int i = 0; i < h && scroll->top + i < cost->cnt; i++) {
		struct rect at = { area.x, area.y + 2 + i, area.w, 1 };

		draw_row(view, &cost->rows[scroll->top + i], screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		if (*tui_pattern(base->tui))
			mark_matches(screen, at.x, at.y, at.w, tui_pattern(base->tui));
	}
	pane_more(screen, (struct rect){ area.x, area.y + 2, area.w - 1, h }, scroll->top,
		  cost->cnt);
	screen_hline(screen, area.x, area.y + 2 + h, area.w, UI_FRAME);
	draw_total(view, screen, (struct rect){ area.x, area.y + 3 + h, area.w, 1 });
	draw_selected(view, &cost->rows[scroll->cursor], screen,
		      (struct rect){ area.x, area.y + 4 + h, area.w, selected });
}

/* ---- going about -------------------------------------------------------------------------- */

static void note_place(struct cost_view *view)
{
	const struct cost *cost = current(view);

	if (cost->cnt)
		tui_set_place(view->view.tui,
			      (struct place){
				      LOUPE_NO_STEP,
				      (int32_t)cost->rows[view->scroll[view->by].cursor].hottest });
}

static bool request(struct view *base, enum request request)
{
	struct cost_view *view = (struct cost_view *)base;

	switch (request) {
	case REQ_NEXT_PANE:
	case REQ_RIGHT:
		show_by(view, (view->by + 1) % COST_BY_CNT);
		return true;
	case REQ_PREV_PANE:
	case REQ_LEFT:
		show_by(view, (view->by + COST_BY_CNT - 1) % COST_BY_CNT);
		return true;
	case REQ_SORT:
		view->sort = (view->sort + 1) % COLUMNS;
		view->reverse = false;
		sort(view);
		return true;
	case REQ_SORT_REVERSE:
		view->reverse = !view->reverse;
		sort(view);
		return true;
	case REQ_ENTER:
		note_place(view);
		tui_show(base->tui, VIEW_WALK);
		return true;
	default:
		if (!scroll_request(&view->scroll[view->by], request, current(view)->cnt, view->h))
			return false;
		note_place(view);
		return true;
	}
}

static void select_place(struct view *base, struct place place)
{
	struct cost_view *view = (struct cost_view *)base;
	int64_t row;

	/* the beginning is no particular place */
	if (place.insn < 0 || (place.step == 0 && place.insn == 0))
		return;
	row = row_of(view, (uint32_t)place.insn);
	if (row >= 0)
		scroll_to(&view->scroll[view->by], row, current(view)->cnt, view->h);
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct cost_view *view = (struct cost_view *)base;
	struct scroll *scroll = &view->scroll[view->by];
	int64_t cnt = current(view)->cnt;
	char line[600];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (scroll->cursor + (forward ? i : cnt - i)) % cnt;

		row_text(view, &current(view)->rows[n], line, sizeof(line));
		if (!text_matches(line, text))
			continue;
		scroll_to(scroll, n, cnt, view->h);
		note_place(view);
		return true;
	}
	return false;
}

static bool command(struct view *base, const char *name, const char *arg)
{
	struct cost_view *view = (struct cost_view *)base;

	if (!strcmp(name, "by")) {
		for (int i = 0; i < COST_BY_CNT; i++) {
			if (!strcmp(arg, cost_by_name((enum cost_by)i))) {
				show_by(view, (enum cost_by)i);
				return true;
			}
		}
	} else if (!strcmp(name, "sort")) {
		for (int i = 0; i < COLUMNS; i++) {
			if (strcmp(arg, columns[i].name) != 0)
				continue;
			view->sort = i;
			view->reverse = false;
			sort(view);
			return true;
		}
	}
	return false;
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int open_cost(struct view *base)
{
	struct cost_view *view = (struct cost_view *)base;
	const struct subject *subject = base->subject;
	int rc = listing_init(&view->listing, loupe_trace_insns(subject->trace),
			      loupe_trace_insn_cnt(subject->trace), subject->source);

	if (rc)
		return rc;
	view->h = 10;
	view->sort = BY_EXCLUSIVE;
	rc = cost_make(&view->costs[COST_LINE], subject->trace, subject->source, COST_LINE);
	if (rc)
		return rc;
	/* a program without line info has nothing to tell by line */
	if (view->costs[COST_LINE].cnt == 1 &&
	    view->costs[COST_LINE].rows[0].kind == COST_ROW_NO_LINE)
		show_by(view, COST_INSN);
	else
		show_by(view, COST_LINE);
	return 0;
}

static void close_cost(struct view *base)
{
	struct cost_view *view = (struct cost_view *)base;

	for (int i = 0; i < COST_BY_CNT; i++)
		cost_finish(&view->costs[i]);
	listing_finish(&view->listing);
}

static int export(struct view *base, FILE *out)
{
	struct cost_view *view = (struct cost_view *)base;
	char line[600];

	for (uint32_t i = 0; i < current(view)->cnt; i++) {
		row_text(view, &current(view)->rows[i], line, sizeof(line));
		fprintf(out, "%s\n", line);
	}
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_NEXT_PANE, REQ_NONE, "by line, function, insn, branch" },
	{ REQ_SORT, REQ_SORT_REVERSE, "sort" },
	{ REQ_ENTER, REQ_NONE, "walk there" },
	{ REQ_SEARCH, REQ_NONE, "search" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"exclusive: processed instructions of the line, function or insn itself",
	"inclusive: with those of the functions that are called there",
	"exclusive, of a branch: instructions of the paths that it left for later",
	"inclusive, of a branch: with the paths that were left on those in turn",
	"paths left: how often the other side was left for later",
	"pruned at once: a checkpoint covered the path where it began, so that it cost one step",
	"the sum of the exclusive counts is the verifier's insn_processed (the limit is 1,000,000)",
	NULL,
};

const struct view_ops view_cost = {
	.name = "cost",
	.title = "Cost",
	.about = "processed instructions by source line, function, insn, branch",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct cost_view),
	.hints = hints,
	.open = open_cost,
	.close = close_cost,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.command = command,
	.terms = terms,
};
