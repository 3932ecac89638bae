// SPDX-License-Identifier: GPL-2.0-only
/* Walk: the exploration step by step, in four panes. */
#include "walk.h"

#include "screen_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- going about -------------------------------------------------------------------------- */

static void put_cursor(struct walk_view *walk, uint32_t insn)
{
	if (insn < walk->listing.insn_cnt)
		scroll_to(&walk->scroll[WALK_PROGRAM], walk->listing.row_of[insn],
			  walk->listing.cnt, walk->h[WALK_PROGRAM]);
}

void walk_seek(struct walk_view *walk, uint32_t step)
{
	if (loupe_trace_step(walk->trace, step, &walk->info))
		return;
	walk->walked = true;
	walk->state = loupe_cursor_seek(walk->now, step);
	if (!walk->state || walk_fill_state(walk) || walk_fill_path(walk) ||
	    walk_fill_points(walk)) {
		tui_say(walk->view.tui, UI_ERROR, "out of memory");
		walk->walked = false;
		return;
	}
	walk_margin_step(walk);
	put_cursor(walk, (uint32_t)walk->info.insn_idx);
	tui_set_place(walk->view.tui, (struct place){ step, walk->info.insn_idx });
}

static void go(struct walk_view *walk, uint32_t step, const char *otherwise)
{
	if (step == LOUPE_NO_STEP)
		tui_say(walk->view.tui, UI_NOTICE, "%s", otherwise);
	else
		walk_seek(walk, step);
}

/* The visit of an insn that is nearest after the present step, or else before it. */
static void go_insn(struct walk_view *walk, uint32_t insn)
{
	uint32_t cnt, at;
	const uint32_t *visits = loupe_trace_visits(walk->trace, insn, &cnt);

	if (!cnt) {
		put_cursor(walk, insn);
		tui_set_place(walk->view.tui,
			      (struct place){ LOUPE_NO_STEP, (int32_t)insn });
		tui_say(walk->view.tui, UI_NOTICE, "insn %u was never reached", insn);
		return;
	}
	at = loupe_trace_visit_lower(walk->trace, insn, walk->walked ? walk->info.step : 0);
	walk_seek(walk, visits[at < cnt ? at : cnt - 1]);
}

static uint32_t find(const struct walk_view *walk, bool forward, uint32_t flags)
{
	uint32_t step = walk->info.step;

	if (!forward && !step)
		return LOUPE_NO_STEP;
	return loupe_trace_find_step(walk->trace, forward ? step + 1 : step - 1, forward, flags);
}

static void go_path(struct walk_view *walk, bool forward)
{
	struct loupe_path_info path;
	uint32_t n = walk->info.path;

	if (loupe_trace_path(walk->trace, n, &path))
		return;
	if (!forward && path.first != walk->info.step) {
		walk_seek(walk, path.first);
		return;
	}
	n = forward ? n + 1 : n - 1;
	if (loupe_trace_path(walk->trace, n, &path))
		tui_say(walk->view.tui, UI_NOTICE, forward ? "that was the last path" :
							     "that was the first path");
	else
		walk_seek(walk, path.first);
}

static void go_writer(struct walk_view *walk)
{
	const struct walk_row *row;
	char name[32];
	uint32_t step;

	if (walk->scroll[WALK_STATE].cursor >= walk->row_cnt)
		return;
	row = &walk->rows[walk->scroll[WALK_STATE].cursor];
	if (row->kind != WALK_ROW_LOC) {
		tui_say(walk->view.tui, UI_NOTICE,
			"select a register or slot first: Tab, then j and k");
		return;
	}
	words_loc(&row->loc, false, name, sizeof(name));
	step = loupe_trace_writer(walk->trace, walk->info.step, row->loc);
	if (step == LOUPE_NO_STEP) {
		tui_say(walk->view.tui, UI_NOTICE, "%s has held this since the function began",
			name);
		return;
	}
	walk_seek(walk, step);
	tui_say(walk->view.tui, UI_NOTICE, "insn %d makes that value of %s; s shows it done",
		walk->info.insn_idx, name);
}

static void go_blame(struct walk_view *walk)
{
	int64_t at = walk->scroll[WALK_STATE].cursor;

	if (at < walk->row_cnt && walk->rows[at].kind == WALK_ROW_LOC)
		tui_set_loc(walk->view.tui, walk->rows[at].loc);
	tui_show(walk->view.tui, VIEW_BLAME);
}

static void enter(struct walk_view *walk)
{
	const struct scroll *scroll = &walk->scroll[walk->focus];
	const struct walk_point *point;

	switch (walk->focus) {
	case WALK_PROGRAM:
		go_insn(walk, walk->listing.rows[scroll->cursor].insn);
		break;
	case WALK_STATE:
		if (scroll->cursor >= walk->row_cnt)
			break;
		if (walk->rows[scroll->cursor].goes != LOUPE_NO_STEP)
			walk_seek(walk, walk->rows[scroll->cursor].goes);
		else
			go_writer(walk);
		break;
	case WALK_PATH:
		if (scroll->cursor < walk->decision_cnt)
			walk_seek(walk, walk->decisions[scroll->cursor].step);
		break;
	case WALK_POINTS:
		point = walk_point_at(walk, scroll->cursor);
		if (point)
			walk_seek(walk, point->info.born);
		break;
	case WALK_PANE_CNT:
		break;
	}
}

static bool move(struct walk_view *walk, enum request request)
{
	const int64_t cnt[] = { walk->listing.cnt, walk->row_cnt, walk->decision_cnt,
				walk_point_rows(walk) };

	if (!scroll_request(&walk->scroll[walk->focus], request, cnt[walk->focus],
			    walk->h[walk->focus]))
		return false;
	/* the other views answer for the line that is selected; the step stays */
	if (walk->focus == WALK_PROGRAM && walk->walked && walk->listing.cnt)
		tui_set_place(walk->view.tui,
			      (struct place){
				      walk->info.step,
				      (int32_t)walk->listing.rows[walk->scroll[WALK_PROGRAM].cursor]
					      .insn });
	return true;
}

static void switch_pane(struct walk_view *walk, int by)
{
	static const enum walk_pane order[] = { WALK_PROGRAM, WALK_STATE, WALK_POINTS, WALK_PATH };
	int at = 0;

	while (order[at] != walk->focus)
		at++;
	walk->focus = order[(at + by + WALK_PANE_CNT) % WALK_PANE_CNT];
}

static bool step_request(struct walk_view *walk, enum request request)
{
	uint32_t step = walk->info.step, cnt = loupe_trace_step_cnt(walk->trace);

	switch (request) {
	case REQ_STEP:
		go(walk, step + 1 < cnt ? step + 1 : LOUPE_NO_STEP, "that was the last step");
		break;
	case REQ_STEP_BACK:
		go(walk, step ? step - 1 : LOUPE_NO_STEP, "that was the first step");
		break;
	case REQ_PATH_BACK:
		go(walk, walk->info.prev, "the path begins here");
		break;
	case REQ_VISIT_NEXT:
		go(walk, loupe_trace_next_visit(walk->trace, step), "no later visit of this insn");
		break;
	case REQ_VISIT_PREV:
		go(walk, loupe_trace_prev_visit(walk->trace, step),
		   "no earlier visit of this insn");
		break;
	case REQ_HIT_NEXT:
		go(walk, find(walk, true, LOUPE_STEP_PRUNED), "no path is pruned later");
		break;
	case REQ_HIT_PREV:
		go(walk, find(walk, false, LOUPE_STEP_PRUNED), "no path was pruned before");
		break;
	case REQ_EVICT_NEXT:
		go(walk, find(walk, true, LOUPE_STEP_EVICT), "no checkpoint is evicted later");
		break;
	case REQ_EVICT_PREV:
		go(walk, find(walk, false, LOUPE_STEP_EVICT), "no checkpoint was evicted before");
		break;
	case REQ_ERROR:
		go(walk, loupe_trace_error_step(walk->trace), "no step was rejected");
		break;
	case REQ_PATH_NEXT:
		go_path(walk, true);
		break;
	case REQ_PATH_PREV:
		go_path(walk, false);
		break;
	case REQ_WRITER:
		go_writer(walk);
		break;
	case REQ_BLAME:
		go_blame(walk);
		break;
	case REQ_DEMAND_NEXT:
	case REQ_DEMAND_PREV:
		walk_next_demand(walk, request == REQ_DEMAND_NEXT);
		break;
	case REQ_FIRST:
		walk_seek(walk, 0);
		break;
	case REQ_LAST:
		walk_seek(walk, cnt - 1);
		break;
	default:
		return false;
	}
	return true;
}

static bool request(struct view *view, enum request request)
{
	struct walk_view *walk = (struct walk_view *)view;

	if (walk->walked && step_request(walk, request))
		return true;
	switch (request) {
	case REQ_MARGIN:
		walk_margin_next(walk);
		return true;
	case REQ_NEXT_PANE:
	case REQ_RIGHT:
		switch_pane(walk, 1);
		return true;
	case REQ_PREV_PANE:
	case REQ_LEFT:
		switch_pane(walk, -1);
		return true;
	case REQ_ENTER:
		enter(walk);
		return true;
	default:
		return move(walk, request);
	}
}

static void select_place(struct view *view, struct place place)
{
	struct walk_view *walk = (struct walk_view *)view;

	if (place.demand)
		walk_show_demand(walk, place.demand - 1);
	else if (place.step != LOUPE_NO_STEP)
		walk_seek(walk, place.step);
	else if (place.insn >= 0)
		go_insn(walk, (uint32_t)place.insn);
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct walk_view *walk = (struct walk_view *)view;
	int64_t cnt = walk->listing.cnt;
	char row[700];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (walk->scroll[WALK_PROGRAM].cursor + (forward ? i : cnt - i)) % cnt;

		listing_row_text(&walk->listing, (uint32_t)n, row, sizeof(row));
		if (!text_matches(row, text))
			continue;
		walk->focus = WALK_PROGRAM;
		scroll_to(&walk->scroll[WALK_PROGRAM], n, cnt, walk->h[WALK_PROGRAM]);
		tui_say(view->tui, UI_NOTICE, "Enter goes to the next visit of insn %u",
			walk->listing.rows[n].insn);
		return true;
	}
	return false;
}

/* ---- drawing ------------------------------------------------------------------------------ */

void walk_draw_program(struct walk_view *walk, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &walk->scroll[WALK_PROGRAM];
	const char *pattern = tui_pattern(walk->view.tui);
	bool code = area.w >= 50, error_here;

	walk->h[WALK_PROGRAM] = area.h;
	scroll_fit(scroll, walk->listing.cnt, area.h);
	for (int i = 0; i < area.h && scroll->top + i < walk->listing.cnt; i++) {
		uint32_t n = (uint32_t)(scroll->top + i);
		const struct listing_row *row = &walk->listing.rows[n];
		struct rect whole = { area.x, area.y + i, area.w, 1 };
		struct rect at = { area.x + 2, area.y + i, area.w - 2, 1 };
		bool here = walk->walked && row->kind == LISTING_INSN &&
			    row->insn == (uint32_t)walk->info.insn_idx;
		uint32_t visits = 0;

		loupe_trace_visits(walk->trace, row->insn, &visits);
		error_here = row->kind == LISTING_INSN &&
			     walk->view.subject->result.verdict == LOUPE_REJECTED &&
			     (int32_t)row->insn == walk->view.subject->error_insn;
		if (row->kind == LISTING_INSN)
			at.w -= walk_draw_margin(walk, row->insn, screen, at);
		listing_draw_row(&walk->listing, n, screen, at,
				 error_here ? UI_ERROR
				 : here	    ? UI_STRONG
				 : visits   ? UI_TEXT
					    : UI_DEAD,
				 code);
		if (here)
			screen_put(screen, area.x, area.y + i, UI_KEY, 0x25b8);
		if (here || n == scroll->cursor)
			screen_ground(screen, whole,
				      error_here ? UI_GROUND_ERROR
				      : n == scroll->cursor && walk->focus == WALK_PROGRAM
					      ? UI_GROUND_CURSOR
					      : UI_GROUND_ROW);
		if (*pattern)
			mark_matches(screen, at.x, at.y, at.w, pattern);
	}
	pane_more(screen, area, scroll->top, walk->listing.cnt);
}

static void draw_not_walked(struct walk_view *walk, struct screen *screen, struct rect area)
{
	const struct subject *subject = walk->view.subject;
	struct pen pen = pen_at(screen, area.x + 1, area.y, area.w - 2);

	pen_text(&pen, UI_NOTICE, "Verification ended before any instruction was explored.");
	pen = pen_at(screen, area.x + 1, area.y + 1, area.w - 2);
	pen_text(&pen, UI_TEXT, subject->error);
}

static void titles(const struct walk_view *walk, char *path, size_t size)
{
	size_t len = (size_t)snprintf(path, size, "path: ");
	uint32_t from = walk->decision_cnt > 5 ? walk->decision_cnt - 5 : 0;

	if (from)
		len += (size_t)snprintf(path + len, size - len, "… ");
	for (uint32_t i = from; i < walk->decision_cnt && len < size; i++)
		len += (size_t)snprintf(path + len, size - len, "%d → ",
					walk->decisions[i].insn_idx);
	if (len < size)
		snprintf(path + len, size - len, "%d", walk->info.insn_idx);
}

static struct rect indent(struct rect area)
{
	return (struct rect){ area.x + 1, area.y, area.w - 1, area.h };
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct walk_view *walk = (struct walk_view *)view;
	int left = area.w >= 120 ? area.w * 44 / 100 : area.w * 47 / 100;
	int upper = area.h >= 30 ? area.h * 62 / 100 : area.h * 58 / 100;
	struct rect frames[WALK_PANE_CNT] = {
		[WALK_PROGRAM] = { area.x, area.y, left + 1, upper + 1 },
		[WALK_STATE] = { area.x + left, area.y, area.w - left, upper + 1 },
		[WALK_PATH] = { area.x, area.y + upper, left + 1, area.h - upper },
		[WALK_POINTS] = { area.x + left, area.y + upper, area.w - left, area.h - upper },
	};
	char title[96] = "", path[160] = "", note[80], step[NUMBER_TEXT], cnt[NUMBER_TEXT];
	struct rect inner[WALK_PANE_CNT];

	if (walk->walked) {
		titles(walk, path, sizeof(path));
		if (walk_tells_findings(walk))
			snprintf(path, sizeof(path), "in short");
		snprintf(title, sizeof(title), "state before insn %d", walk->info.insn_idx);
	}
	inner[WALK_PROGRAM] = pane_frame(screen, frames[WALK_PROGRAM], subject_name(view->subject),
					 walk->focus == WALK_PROGRAM);
	walk_margin_note(walk, note, sizeof(note));
	if (*note)
		pane_note(screen, frames[WALK_PROGRAM], UI_NOTICE, note);
	inner[WALK_STATE] =
		pane_frame(screen, frames[WALK_STATE], title, walk->focus == WALK_STATE);
	inner[WALK_PATH] = pane_frame(screen, frames[WALK_PATH], path, walk->focus == WALK_PATH);
	if (walk->walked) {
		snprintf(title, sizeof(title), "checkpoints at insn %d", walk->info.insn_idx);
		snprintf(note, sizeof(note), "step %s of %s", number_text(step, walk->info.step),
			 number_text(cnt, loupe_trace_step_cnt(walk->trace)));
		pane_note(screen, frames[WALK_STATE], UI_STRONG, note);
		snprintf(note, sizeof(note), "depth %u", walk->info.path_depth);
		if (!walk_tells_findings(walk))
			pane_note(screen, frames[WALK_PATH], UI_DIM, note);
	}
	inner[WALK_POINTS] = pane_frame(screen, frames[WALK_POINTS], title,
					walk->focus == WALK_POINTS);
	walk_draw_program(walk, screen, inner[WALK_PROGRAM]);
	if (!walk->walked) {
		draw_not_walked(walk, screen, inner[WALK_STATE]);
		return;
	}
	inner[WALK_STATE] = indent(inner[WALK_STATE]);
	inner[WALK_PATH] = indent(inner[WALK_PATH]);
	inner[WALK_POINTS] = indent(inner[WALK_POINTS]);
	walk_draw_state(walk, screen, inner[WALK_STATE]);
	walk_draw_path(walk, screen, inner[WALK_PATH]);
	walk_draw_points(walk, screen, inner[WALK_POINTS]);
}

static void legend(struct view *view, struct pen *pen)
{
	if (pen_room(pen) < 100 || walk_margin_legend((struct walk_view *)view, pen))
		return;
	pen_text(pen, UI_ARRIVAL, "◆");
	pen_text(pen, UI_DIM, " arrivals ");
	pen_text(pen, UI_CHECKPOINT, "●");
	pen_text(pen, UI_DIM, " live checkpoints ");
	pen_text(pen, UI_EVICTED, "✂");
	pen_text(pen, UI_DIM, " evicted");
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static void close_walk(struct view *view)
{
	struct walk_view *walk = (struct walk_view *)view;

	loupe_cursor_destroy(walk->now);
	loupe_cursor_destroy(walk->then);
	walk_margin_finish(walk);
	listing_finish(&walk->listing);
	free(walk->changes);
	free(walk->rows);
	free(walk->decisions);
	free(walk->points);
}

static int open_walk(struct view *view)
{
	struct walk_view *walk = (struct walk_view *)view;
	const struct subject *subject = view->subject;

	walk->trace = subject->trace;
	walk->demand = LOUPE_NO_ROW;
	for (int i = 0; i < WALK_PANE_CNT; i++)
		walk->h[i] = 8;
	walk->now = loupe_cursor_create(walk->trace);
	walk->then = loupe_cursor_create(walk->trace);
	if (!walk->now || !walk->then)
		return -ENOMEM;
	return listing_init(&walk->listing, loupe_trace_insns(walk->trace),
			    loupe_trace_insn_cnt(walk->trace), subject->source);
}

static int export(struct view *view, FILE *out)
{
	struct walk_view *walk = (struct walk_view *)view;
	struct rect area = { 0, 0, 160, 0 };
	enum walk_pane focus = walk->focus;
	struct screen *screen;

	/* the panes below each other, each as high as it has rows */
	static void (*const draw_pane[])(struct walk_view *walk, struct screen *screen,
					 struct rect area) = {
		[WALK_PROGRAM] = walk_draw_program,
		[WALK_STATE] = walk_draw_state,
		[WALK_PATH] = walk_draw_path,
		[WALK_POINTS] = walk_draw_points,
	};
	const int64_t cnt[] = { walk->listing.cnt, walk->row_cnt, walk->decision_cnt,
				walk_point_rows(walk) };

	for (int i = 0; i < WALK_PANE_CNT; i++) {
		struct scroll scroll = walk->scroll[i];
		int h = walk->h[i];

		area.h = cnt[i] ? (int)cnt[i] : 1;
		screen = screen_create(area.w + 1, area.h);
		if (!screen)
			return -ENOMEM;
		walk->focus = WALK_PANE_CNT;
		if (i == WALK_PROGRAM || walk->walked)
			draw_pane[i](walk, screen, area);
		walk->focus = focus;
		walk->scroll[i] = scroll;
		walk->h[i] = h;
		screen_write_text(screen, out);
		fputc('\n', out);
		screen_destroy(screen);
	}
	return 0;
}

static bool offers(const struct view *view, enum request request)
{
	return request != REQ_ERROR ||
	       loupe_trace_error_step(view->subject->trace) != LOUPE_NO_STEP;
}

static const struct view_hint hints[] = {
	{ REQ_STEP, REQ_STEP_BACK, "step" },	   { REQ_VISIT_PREV, REQ_VISIT_NEXT, "visit" },
	{ REQ_HIT_NEXT, REQ_HIT_PREV, "hit" },	   { REQ_EVICT_NEXT, REQ_EVICT_PREV, "eviction" },
	{ REQ_GOTO, REQ_NONE, "goto" },		   { REQ_NEXT_PANE, REQ_NONE, "pane" },
	{ REQ_ERROR, REQ_NONE, "error" },	   { REQ_WRITER, REQ_BLAME, "writer, blame" },
	{ REQ_MARGIN, REQ_DEMAND_NEXT, "live, precise" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"◆ arrivals: how often the exploration came to an insn",
	"● live: checkpoints (stored states) of the insn at this step",
	"✂ evicted: checkpoints given up because misses > hits × 3 + 3",
	"live before: registers by number, slots by offset from fp, that may be read later",
	"○ prune point: states are compared here; ◉: and one is stored at every visit",
	"↻2: the insn belongs to loop (strongly connected component) 2",
	"◀ wants R4: this step needs an exact value; │ R4: the value came through here; ● #7 R4: marked precise",
	"▸ in the state: changed by the insn before; 'was' is the old value",
	"← 54: insn 54 gave the value",
	"dead: nothing reads the register any more, so comparisons ignore it",
	"P before a value: its exact value decided something later (precise)",
	"HIT: a checkpoint covers this state, so that the path ends here (pruned)",
	"MISS: it does not; the first difference is why",
	"+ in the path: the other side is left for later",
	"depth: branches that were left for later on the way here",
	NULL,
};

const struct view_ops view_walk = {
	.name = "walk",
	.title = "Walk",
	.about = "the exploration step by step: state, path, checkpoints",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct walk_view),
	.hints = hints,
	.open = open_walk,
	.close = close_walk,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.legend = legend,
	.export = export,
	.offers = offers,
	.terms = terms,
};
