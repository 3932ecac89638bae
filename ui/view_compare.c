// SPDX-License-Identifier: GPL-2.0-only
/* Compare: two explorations side by side, by the way they take and by what lines cost. */
#include "compare.h"
#include "panes.h"
#include "view.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum compare_mode { BY_WAY, BY_COST, MODES };

struct compare_view {
	struct view view;
	struct compare compare;
	bool made;
	struct loupe_cursor *cursor[COMPARE_SIDES];
	const struct subject *sides[COMPARE_SIDES];
	enum compare_mode mode;
	int side; /* that Enter opens */
	struct scroll scroll[MODES];
	int h; /* rows when drawn last */
};

static int64_t row_cnt(const struct compare_view *view)
{
	return view->mode == BY_WAY ? view->compare.pair_cnt : view->compare.cost_cnt;
}

/* Both verdicts are there: align them. */
static int make(struct compare_view *view)
{
	const struct loupe_trace *traces[] = { view->sides[0]->trace, view->sides[1]->trace };
	const struct loupe_source *sources[] = { view->sides[0]->source, view->sides[1]->source };
	struct compare *c = &view->compare;
	int rc = compare_make(c, traces, sources);

	if (rc)
		return rc;
	for (int side = 0; side < COMPARE_SIDES; side++)
		view->cursor[side] = loupe_cursor_create(traces[side]);
	if (!view->cursor[0] || !view->cursor[1])
		return -ENOMEM;
	view->made = true;
	scroll_to(&view->scroll[BY_WAY], c->first < 0 ? 0 : c->first, c->pair_cnt, view->h);
	tui_say(view->view.tui, c->first < 0 ? UI_HIT : UI_MISS, "%s", c->words);
	return 0;
}

/* The step that is selected on a side, LOUPE_NO_STEP if there is none. */
static uint32_t selected_step(const struct compare_view *view, int side)
{
	const struct compare *c = &view->compare;
	int64_t at = view->scroll[view->mode].cursor;

	if (at >= row_cnt(view))
		return LOUPE_NO_STEP;
	if (view->mode == BY_COST) {
		const struct compare_line *line = &c->lines[c->by_cost[at]];
		uint32_t cnt = 0;
		const uint32_t *visits =
			line->insn[side] == COMPARE_NONE
				? NULL
				: loupe_trace_visits(c->trace[side], (uint32_t)line->insn[side],
						     &cnt);

		return cnt ? visits[0] : LOUPE_NO_STEP;
	}
	if (c->pairs[at].run[side] == COMPARE_NONE)
		return LOUPE_NO_STEP;
	return c->runs[side][c->pairs[at].run[side]].step;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void draw_run(struct compare_view *view, int64_t pair, int side, struct screen *screen,
		     struct rect at)
{
	static const struct {
		const char *sign;
		enum ui_role role;
	} ends[] = {
		[COMPARE_GOES_ON] = { " ", UI_TEXT },
		[COMPARE_PRUNED] = { "✓", UI_HIT },
		[COMPARE_EXITS] = { "■", UI_DIM },
		[COMPARE_REJECTED] = { "✗", UI_ERROR },
	};
	const struct compare *c = &view->compare;
	const struct compare_pair *p = &c->pairs[pair];
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	const struct compare_run *run;
	char number[NUMBER_TEXT], place[40];

	if (p->run[side] == COMPARE_NONE)
		return;
	run = &c->runs[side][p->run[side]];
	compare_place(c, side, run->line, place, sizeof(place));
	pen_printf(&pen, UI_DIM, "%9s ", number_text(number, run->step));
	pen_printf(&pen, ends[run->end].role, "%s ", ends[run->end].sign);
	pen_printf(&pen, UI_NUMBER, "%-6s ", place);
	pen_text(&pen, p->same ? UI_TEXT : UI_MISS, c->lines[run->line].text);
}

static void draw_way(struct compare_view *view, struct screen *screen,
		     const struct rect sides[COMPARE_SIDES])
{
	struct scroll *scroll = &view->scroll[BY_WAY];
	int h = sides[0].h;

	view->h = h;
	scroll_fit(scroll, view->compare.pair_cnt, h);
	for (int i = 0; i < h && scroll->top + i < view->compare.pair_cnt; i++) {
		for (int side = 0; side < COMPARE_SIDES; side++) {
			struct rect at = { sides[side].x, sides[side].y + i, sides[side].w, 1 };

			draw_run(view, scroll->top + i, side, screen, at);
			if (scroll->top + i == scroll->cursor)
				screen_ground(screen, at,
					      side == view->side ? UI_GROUND_CURSOR
								 : UI_GROUND_ROW);
		}
	}
	pane_more(screen, sides[1], scroll->top, view->compare.pair_cnt);
}

static void percent_text(uint64_t a, uint64_t b, char *buf, size_t size)
{
	if (a == b)
		snprintf(buf, size, "=");
	else if (!a)
		snprintf(buf, size, "new");
	else
		snprintf(buf, size, "%+.1f%%", ((double)b - (double)a) * 100 / (double)a);
}

static void draw_cost(struct compare_view *view, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &view->scroll[BY_COST];
	const struct compare *c = &view->compare;
	struct pen pen = pen_at(screen, area.x, area.y, area.w);

	pen_printf(&pen, UI_HEADING, "%11s %11s %11s %9s  where in A, B", "A", "B", "difference",
		   "");
	area.y++;
	area.h--;
	view->h = area.h;
	scroll_fit(scroll, view->compare.cost_cnt, area.h);
	for (int i = 0; i < area.h && scroll->top + i < view->compare.cost_cnt; i++) {
		const struct compare_line *line = &c->lines[c->by_cost[scroll->top + i]];
		char a[NUMBER_TEXT], b[NUMBER_TEXT], diff[NUMBER_TEXT], pct[32], of_a[40], of_b[40];
		enum ui_role role = line->cost[0] == line->cost[1]  ? UI_DIM
				    : line->cost[1] < line->cost[0] ? UI_HIT
								    : UI_MISS;

		pen = pen_at(screen, area.x, area.y + i, area.w);
		percent_text(line->cost[0], line->cost[1], pct, sizeof(pct));
		compare_place(c, 0, c->by_cost[scroll->top + i], of_a, sizeof(of_a));
		compare_place(c, 1, c->by_cost[scroll->top + i], of_b, sizeof(of_b));
		pen_printf(&pen, UI_TEXT, "%11s %11s ", number_text(a, line->cost[0]),
			   number_text(b, line->cost[1]));
		pen_printf(&pen, role, "%c%10s %9s  ",
			   line->cost[0] == line->cost[1]  ? ' '
			   : line->cost[1] < line->cost[0] ? '-'
							   : '+',
			   number_text(diff, compare_difference(line)), pct);
		pen_printf(&pen, UI_NUMBER, "%s %s ", of_a, of_b);
		pen_text(&pen, UI_TEXT, line->text);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, (struct rect){ area.x, area.y + i, area.w, 1 },
				      UI_GROUND_CURSOR);
	}
	pane_more(screen, area, scroll->top, view->compare.cost_cnt);
}

/* The registers of a side at the selected step; those that the other has otherwise stand out. */
static void draw_state(struct compare_view *view, int side,
		       const struct loupe_state *const states[COMPARE_SIDES], struct screen *screen,
		       struct rect area)
{
	const struct loupe_state *st = states[side], *other = states[!side];
	int y = 0;

	if (!st)
		return;
	for (uint32_t r = 0; r < LOUPE_MAX_REG && y < area.h; r++) {
		const struct loupe_frame *frame = st->frame[st->curframe];
		struct pen pen = pen_at(screen, area.x, area.y + y, area.w);
		char text[300], theirs[300] = "";

		if (frame->regs[r].type == NOT_INIT)
			continue;
		loupe_reg_print(text, sizeof(text), &frame->regs[r], frame->frameno,
				view->sides[side]->names);
		if (other)
			loupe_reg_print(
				theirs, sizeof(theirs), &other->frame[other->curframe]->regs[r],
				other->frame[other->curframe]->frameno, view->sides[!side]->names);
		pen_printf(&pen, UI_REG, "R%-3u ", r);
		pen_text(&pen, other && strcmp(text, theirs) != 0 ? UI_MISS : UI_VALUE, text);
		y++;
	}
}

static void titles(const struct compare_view *view, int side, char *buf, size_t size)
{
	static const char *const verdicts[] = { "accepted", "rejected", "not judged", "stopped" };
	const struct subject *s = view->sides[side];
	char number[NUMBER_TEXT];

	/* two runs of one program differ in their rules, which are what the title has room for */
	snprintf(buf, size, "%c: %s%s%s  %s, %s steps", 'A' + side,
		 *s->rules ? s->rules : input_base_name(s->input->path), *s->rules ? "" : " › ",
		 *s->rules ? "" : subject_name(s), verdicts[s->result.verdict],
		 number_text(number, s->result.counters.insn_processed));
}

static void draw_waiting(const struct compare_view *view, struct screen *screen, struct rect area)
{
	struct pen pen = pen_at(screen, area.x + 2, area.y + 1, area.w - 4);

	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct subject *s = view->sides[side];

		if (s->state == SUBJECT_READY && s->trace)
			continue;
		pen_printf(&pen, UI_NOTICE, "%c: %s %s", 'A' + side, subject_name(s),
			   s->state == SUBJECT_NOT_LOADED ? "did not load"
			   : s->state == SUBJECT_STOPPED  ? "was stopped"
			   : s->state == SUBJECT_FAILED	  ? s->error
							  : "is being verified");
		return;
	}
	pen_text(&pen, UI_ERROR, "out of memory");
}

static void draw(struct view *v, struct screen *screen, struct rect area)
{
	struct compare_view *view = (struct compare_view *)v;
	int left = area.w / 2, upper = area.h * 60 / 100;
	const struct loupe_state *states[COMPARE_SIDES];
	struct rect rows[COMPARE_SIDES], below[COMPARE_SIDES];
	char title[200];

	if (!view->made && view->sides[0]->trace && view->sides[1]->trace && !make(view))
		view->made = true;
	if (!view->made) {
		draw_waiting(view, screen, area);
		return;
	}
	for (int side = 0; side < COMPARE_SIDES; side++) {
		struct rect frame = { side ? area.x + left : area.x, area.y,
				      side ? area.w - left : left + 1, upper + 1 };
		uint32_t step = selected_step(view, side);

		titles(view, side, title, sizeof(title));
		rows[side] = pane_frame(screen, frame, title, view->side == side);
		frame.y += upper;
		frame.h = area.h - upper;
		snprintf(title, sizeof(title),
			 step == LOUPE_NO_STEP ? "not here" : "state at step %u", step);
		below[side] = pane_frame(screen, frame, title, false);
		states[side] =
			step == LOUPE_NO_STEP ? NULL : loupe_cursor_seek(view->cursor[side], step);
	}
	if (view->mode == BY_WAY) {
		draw_way(view, screen, rows);
	} else {
		struct rect whole = { rows[0].x, rows[0].y, rows[1].x + rows[1].w - rows[0].x,
				      rows[0].h };

		screen_erase(screen, whole);
		draw_cost(view, screen, whole);
	}
	for (int side = 0; side < COMPARE_SIDES; side++) {
		below[side].x++;
		below[side].w--;
		draw_state(view, side, states, screen, below[side]);
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

static void find_difference(struct compare_view *view, bool forward)
{
	const struct compare *c = &view->compare;
	int64_t at = view->scroll[BY_WAY].cursor;

	view->mode = BY_WAY;
	/* a stretch of differences is one */
	while (at >= 0 && at < c->pair_cnt && !c->pairs[at].same)
		at += forward ? 1 : -1;
	while (at >= 0 && at < c->pair_cnt && c->pairs[at].same)
		at += forward ? 1 : -1;
	if (at < 0 || at >= c->pair_cnt)
		tui_say(view->view.tui, UI_NOTICE, "no difference %s this",
			forward ? "after" : "before");
	else
		scroll_to(&view->scroll[BY_WAY], at, c->pair_cnt, view->h);
}

static void open_side(struct compare_view *view)
{
	struct tui *tui = view->view.tui;
	uint32_t step = selected_step(view, view->side);
	const struct subject *side = view->sides[view->side];

	if (step == LOUPE_NO_STEP) {
		tui_say(tui, UI_NOTICE, "%c is not here; Left and Right choose the side",
			'A' + view->side);
		return;
	}
	/* opening the other program closes this view */
	for (uint32_t n = 0; n < tui_subject_cnt(tui); n++) {
		if (tui_subject(tui, n) != side)
			continue;
		tui_open_at(tui, n, VIEW_WALK,
			    (struct place){ step, loupe_trace_step_insn(side->trace, step) });
		return;
	}
}

static bool request(struct view *v, enum request request)
{
	struct compare_view *view = (struct compare_view *)v;

	if (!view->made)
		return false;
	switch (request) {
	case REQ_NEXT_PANE:
	case REQ_PREV_PANE:
		view->mode = (view->mode + 1) % MODES;
		return true;
	case REQ_LEFT:
		view->side = 0;
		return true;
	case REQ_RIGHT:
		view->side = 1;
		return true;
	case REQ_PART_NEXT:
	case REQ_PART_PREV:
		find_difference(view, request == REQ_PART_NEXT);
		return true;
	case REQ_PART:
		view->mode = BY_WAY;
		if (view->compare.first >= 0)
			scroll_to(&view->scroll[BY_WAY], view->compare.first,
				  view->compare.pair_cnt, view->h);
		tui_say(v->tui, UI_NOTICE, "%s", view->compare.words);
		return true;
	case REQ_ENTER:
		open_side(view);
		return true;
	default:
		return scroll_request(&view->scroll[view->mode], request, row_cnt(view), view->h);
	}
}

static const char *row_text(const struct compare_view *view, int64_t row)
{
	const struct compare *c = &view->compare;
	const struct compare_pair *p;
	int side;

	if (view->mode == BY_COST)
		return c->lines[c->by_cost[row]].text;
	p = &c->pairs[row];
	side = p->run[0] == COMPARE_NONE;
	return c->lines[c->runs[side][p->run[side]].line].text;
}

static bool search(struct view *v, const char *text, bool forward)
{
	struct compare_view *view = (struct compare_view *)v;
	int64_t cnt = row_cnt(view), from = view->scroll[view->mode].cursor;

	for (int64_t i = 1; view->made && i <= cnt; i++) {
		int64_t n = (from + (forward ? i : cnt - i)) % cnt;

		if (!text_matches(row_text(view, n), text))
			continue;
		scroll_to(&view->scroll[view->mode], n, cnt, view->h);
		return true;
	}
	return false;
}

static int export(struct view *v, FILE *out)
{
	struct compare_view *view = (struct compare_view *)v;
	const struct compare *c = &view->compare;

	fprintf(out, "%s\n", c->words);
	for (uint32_t i = 0; view->made && i < view->compare.cost_cnt; i++) {
		const struct compare_line *line = &c->lines[c->by_cost[i]];

		fprintf(out, "%11llu %11llu %+12lld  %s\n", (unsigned long long)line->cost[0],
			(unsigned long long)line->cost[1],
			(long long)line->cost[1] - (long long)line->cost[0], line->text);
	}
	return 0;
}

static void close_compare(struct view *v)
{
	struct compare_view *view = (struct compare_view *)v;

	compare_finish(&view->compare);
	for (int side = 0; side < COMPARE_SIDES; side++)
		loupe_cursor_destroy(view->cursor[side]);
}

static int open_compare(struct view *v)
{
	struct compare_view *view = (struct compare_view *)v;

	view->compare.first = -1;
	view->h = 8;
	view->side = v->subject->is_b;
	view->sides[view->side] = v->subject;
	view->sides[!view->side] = v->subject->other;
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_NEXT_PANE, REQ_NONE, "way, cost" },
	{ REQ_PART_NEXT, REQ_PART_PREV, "difference" },
	{ REQ_PART, REQ_NONE, "where they part" },
	{ REQ_LEFT, REQ_RIGHT, "side" },
	{ REQ_ENTER, REQ_NONE, "walk there" },
	{ REQ_SEARCH, REQ_NONE, "search" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"stretch: steps in a row on one source line (or instruction, where there are no lines)",
	"lines of both are the same if their text is, in the same order",
	"red: only one of them goes here, or it ends here otherwise",
	"✓ pruned, ■ the path exits, ✗ rejected",
	"cost: processed instructions of a line in each, largest difference first",
	NULL,
};

const struct view_ops view_compare = {
	.name = "compare",
	.title = "Compare",
	.about = "two programs or runs side by side, and where they part",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct compare_view),
	.hints = hints,
	.open = open_compare,
	.close = close_compare,
	.draw = draw,
	.request = request,
	.search = search,
	.export = export,
	.terms = terms,
};
