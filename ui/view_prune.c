// SPDX-License-Identifier: GPL-2.0-only
/* Prune: what pruning did at each insn; its comparisons; two states side by side. */
#include "prune.h"

#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- going about -------------------------------------------------------------------------- */

static const struct prune_event *event_here(const struct prune_view *prune)
{
	return prune->event_cnt ? &prune->events[prune->scroll[PRUNE_LIST].cursor] : NULL;
}

/* Tells the other views what is selected. */
static void note_place(struct prune_view *prune)
{
	const struct prune_event *event = event_here(prune);

	if (prune->level == PRUNE_TABLE && prune->row_cnt)
		tui_set_place(
			prune->view.tui,
			(struct place){
				LOUPE_NO_STEP,
				(int32_t)prune->rows[prune->scroll[PRUNE_TABLE].cursor].insn });
	else if (prune->level != PRUNE_TABLE && event)
		tui_set_place(prune->view.tui, (struct place){ event->step, (int32_t)prune->insn });
}

static void go_event(struct prune_view *prune, int64_t event)
{
	scroll_to(&prune->scroll[PRUNE_LIST], event, (int64_t)prune->event_cnt,
		  prune->h[PRUNE_LIST]);
	note_place(prune);
	if (prune->level == PRUNE_PAIR && prune_fill_pair(prune, (uint64_t)event)) {
		prune->level = PRUNE_LIST;
		tui_say(prune->view.tui, UI_ERROR, "out of memory");
	}
}

static bool open_list(struct prune_view *prune, uint32_t insn)
{
	if (prune_fill_list(prune, insn)) {
		tui_say(prune->view.tui, UI_ERROR, "out of memory");
		return false;
	}
	prune->level = PRUNE_LIST;
	return true;
}

/* The first comparison with a state that was looked at, or else the first event. */
static int64_t first_answer(const struct prune_view *prune)
{
	for (uint64_t i = 0; i < prune->event_cnt; i++) {
		const struct prune_event *event = &prune->events[i];

		if (event->kind == PRUNE_COMPARE && event->compare.mode != LOUPE_CMP_SKIPPED)
			return (int64_t)i;
	}
	return 0;
}

static void enter(struct prune_view *prune)
{
	const struct prune_event *event;
	struct place place = tui_place(prune->view.tui);
	const struct prune_row *row;

	switch (prune->level) {
	case PRUNE_TABLE:
		if (!prune->row_cnt)
			break;
		row = &prune->rows[prune->scroll[PRUNE_TABLE].cursor];
		if (!open_list(prune, row->insn))
			break;
		go_event(prune, place.step != LOUPE_NO_STEP && place.insn == (int32_t)row->insn ?
				prune_event_at(prune, place.step) :
				first_answer(prune));
		break;
	case PRUNE_LIST:
		event = event_here(prune);
		if (!event)
			break;
		if (event->kind == PRUNE_EVICT && !prune_kept_of(prune, event->serial)) {
			prune_keep(prune, event);
			break;
		}
		if (event->kind != PRUNE_COMPARE) {
			tui_show(prune->view.tui, VIEW_WALK);
			break;
		}
		prune->level = PRUNE_PAIR;
		go_event(prune, prune->scroll[PRUNE_LIST].cursor);
		break;
	default:
		tui_show(prune->view.tui, VIEW_WALK);
	}
}

static bool is_kind(const struct prune_event *event, enum request request)
{
	bool hit = false;

	if (event->kind == PRUNE_COMPARE)
		words_outcome(event->compare.outcome, &hit);
	switch (request) {
	case REQ_HIT_NEXT:
	case REQ_HIT_PREV:
		return hit;
	case REQ_EVICT_NEXT:
	case REQ_EVICT_PREV:
		return event->kind == PRUNE_EVICT;
	case REQ_MISS_NEXT:
	case REQ_MISS_PREV:
		return event->kind == PRUNE_COMPARE && !hit &&
		       event->compare.mode != LOUPE_CMP_SKIPPED;
	default:
		return event->kind == PRUNE_COMPARE;
	}
}

static void find_event(struct prune_view *prune, enum request request, bool forward)
{
	int64_t at = prune->scroll[PRUNE_LIST].cursor, cnt = (int64_t)prune->event_cnt;

	do {
		at += forward ? 1 : -1;
	} while (at >= 0 && at < cnt && !is_kind(&prune->events[at], request));
	if (at < 0 || at >= cnt) {
		tui_say(prune->view.tui, UI_NOTICE, "no such event %s this at insn %u",
			forward ? "after" : "before", prune->insn);
		return;
	}
	/* evictions and births have no pair */
	if (prune->events[at].kind != PRUNE_COMPARE)
		prune->level = PRUNE_LIST;
	go_event(prune, at);
}

/* To the step because of which the selected place had to match, with its way back. */
static void go_demand(struct prune_view *prune)
{
	const struct prune_event *event = event_here(prune);
	const struct prune_cell *cell = prune->level == PRUNE_PAIR && prune->cell_cnt ?
						&prune->cells[prune->scroll[PRUNE_PAIR].cursor] :
						NULL;
	struct loupe_walk_info walk;
	struct loupe_loc loc;
	bool known = event && event->kind == PRUNE_COMPARE && prune_loc(&event->compare, &loc);
	uint64_t row;

	if (cell) {
		known = cell->kind == PRUNE_CELL_LOC;
		loc = cell->loc;
	}
	row = known ? prune_demand(prune, &event->compare, loc) : LOUPE_NO_ROW;
	if (row == LOUPE_NO_ROW || loupe_trace_walk(prune->trace, row, &walk)) {
		tui_say(prune->view.tui, UI_NOTICE, "no demand made it precise before this");
		return;
	}
	tui_set_place(prune->view.tui,
		      (struct place){ walk.step, loupe_trace_step_insn(prune->trace, walk.step),
				      row + 1 });
	tui_show(prune->view.tui, VIEW_WALK);
}

static bool event_request(struct prune_view *prune, enum request request)
{
	switch (request) {
	case REQ_HIT_NEXT:
	case REQ_MISS_NEXT:
	case REQ_EVICT_NEXT:
	case REQ_VISIT_NEXT:
		find_event(prune, request, true);
		return true;
	case REQ_HIT_PREV:
	case REQ_MISS_PREV:
	case REQ_EVICT_PREV:
	case REQ_VISIT_PREV:
		find_event(prune, request, false);
		return true;
	case REQ_DEMAND:
		go_demand(prune);
		return true;
	case REQ_DIFF_NEXT:
	case REQ_DIFF_PREV:
		if (prune->level == PRUNE_PAIR && !prune_next_diff(prune, request == REQ_DIFF_NEXT))
			tui_say(prune->view.tui, UI_NOTICE, "nothing else differs");
		return true;
	case REQ_BACK:
		prune->level--;
		note_place(prune);
		return true;
	default:
		return false;
	}
}

static bool request(struct view *view, enum request request)
{
	struct prune_view *prune = (struct prune_view *)view;
	const int64_t cnt[] = { prune->row_cnt, (int64_t)prune->event_cnt, prune->cell_cnt };

	if (view->subject->logged)
		return false;
	switch (request) {
	case REQ_ENTER:
		enter(prune);
		return true;
	case REQ_SORT:
		prune->level = PRUNE_TABLE;
		prune_sort_by(prune, NULL);
		return true;
	case REQ_SORT_REVERSE:
		prune->level = PRUNE_TABLE;
		prune->reverse = !prune->reverse;
		prune_sort(prune);
		return true;
	default:
		break;
	}
	if (prune->level != PRUNE_TABLE && event_request(prune, request))
		return true;
	if (!scroll_request(&prune->scroll[prune->level], request, cnt[prune->level],
			    prune->h[prune->level]))
		return false;
	if (prune->level != PRUNE_PAIR)
		note_place(prune);
	return true;
}

/* Where an infinite loop was found, the two states are the answer. */
static bool open_loop(struct prune_view *prune, struct place place)
{
	if (place.step != loupe_trace_error_step(prune->trace) ||
	    !open_list(prune, (uint32_t)place.insn))
		return false;
	for (uint64_t i = 0; i < prune->event_cnt; i++) {
		const struct prune_event *event = &prune->events[i];

		if (event->step != place.step || event->kind != PRUNE_COMPARE ||
		    event->compare.outcome != LOUPE_CMP_INFINITE_LOOP)
			continue;
		scroll_to(&prune->scroll[PRUNE_TABLE], prune_row_of(prune, prune->insn),
			  prune->row_cnt, prune->h[PRUNE_TABLE]);
		prune->level = PRUNE_PAIR;
		go_event(prune, (int64_t)i);
		return true;
	}
	prune->level = PRUNE_TABLE;
	return false;
}

static void select_place(struct view *view, struct place place)
{
	struct prune_view *prune = (struct prune_view *)view;
	int64_t row = place.insn >= 0 ? prune_row_of(prune, (uint32_t)place.insn) : -1;

	if (prune->level != PRUNE_TABLE && place.insn == (int32_t)prune->insn) {
		if (place.step != LOUPE_NO_STEP && event_here(prune) &&
		    event_here(prune)->step != place.step) {
			prune->level = PRUNE_LIST;
			go_event(prune, prune_event_at(prune, place.step));
		}
		return;
	}
	prune->level = PRUNE_TABLE;
	if (row >= 0 && place.step != LOUPE_NO_STEP && open_loop(prune, place))
		return;
	if (row >= 0)
		scroll_to(&prune->scroll[PRUNE_TABLE], row, prune->row_cnt, prune->h[PRUNE_TABLE]);
}

static bool command(struct view *view, const char *name, const char *arg)
{
	struct prune_view *prune = (struct prune_view *)view;

	if (strcmp(name, "sort") != 0 || !*arg)
		return false;
	if (!prune_sort_by(prune, arg))
		return false;
	prune->level = PRUNE_TABLE;
	return true;
}

static bool row_matches(struct prune_view *prune, int64_t row, const char *text)
{
	char line[700];

	switch (prune->level) {
	case PRUNE_TABLE:
		prune_row_text(prune, &prune->rows[row], line, sizeof(line));
		return text_matches(line, text);
	case PRUNE_LIST:
		snprintf(line, sizeof(line), "#%u %s", prune->events[row].serial,
			 prune_event_words(prune, (uint64_t)row));
		return text_matches(line, text);
	default:
		return text_matches(prune->cells[row].then, text) ||
		       text_matches(prune->cells[row].now, text);
	}
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct prune_view *prune = (struct prune_view *)view;
	const int64_t cnts[] = { prune->row_cnt, (int64_t)prune->event_cnt, prune->cell_cnt };
	int64_t cnt = cnts[prune->level], from = prune->scroll[prune->level].cursor;

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (from + (forward ? i : cnt - i)) % cnt;

		if (!row_matches(prune, n, text))
			continue;
		scroll_to(&prune->scroll[prune->level], n, cnt, prune->h[prune->level]);
		if (prune->level != PRUNE_PAIR)
			note_place(prune);
		return true;
	}
	return false;
}

/* ---- opening, drawing, text --------------------------------------------------------------- */

/* What a log can say of pruning: where paths ended because of it. */
static void draw_logged(struct prune_view *prune, struct screen *screen, struct rect area)
{
	struct rect inner = pane_frame(screen, area, "pruning, as far as a log tells", true);
	char lacks[200], text[700];
	int y = 0;

	loupe_lacks_print(lacks, sizeof(lacks), prune->view.subject->result.lacks);
	snprintf(text, sizeof(text),
		 "A verifier log does not hold comparisons. This one lacks: %s. "
		 "With the program itself (bpfloupe FILE.o --log LOG) each miss has its reason.",
		 lacks);
	y += wrap_text(screen, (struct rect){ inner.x + 1, inner.y, inner.w - 2, 4 }, 0, UI_NOTICE,
		       text);
	y++;
	for (uint32_t i = 0; i < loupe_trace_insn_cnt(prune->trace) && y < inner.h; i++) {
		struct pen pen = pen_at(screen, inner.x + 1, inner.y + y, inner.w - 2);
		struct loupe_insn_stats stats;

		if (loupe_trace_insn_stats(prune->trace, i, &stats) || !stats.pruned)
			continue;
		listing_insn_text(&prune->listing, i, false, text, sizeof(text));
		pen_printf(&pen, UI_HIT, "%6u pruned ", stats.pruned);
		pen_printf(&pen, UI_TEXT, "of %6u arrivals at ", stats.visits);
		pen_printf(&pen, UI_NUMBER, "%u: ", i);
		pen_text(&pen, UI_TEXT, text);
		y++;
	}
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct prune_view *prune = (struct prune_view *)view;

	if (view->subject->logged) {
		draw_logged(prune, screen, area);
		return;
	}

	switch (prune->level) {
	case PRUNE_LIST:
		prune_draw_list(prune, screen, area);
		break;
	case PRUNE_PAIR:
		prune_draw_pair(prune, screen, area);
		break;
	default:
		prune_draw_table(prune, screen, area);
	}
}

static int open_prune(struct view *view)
{
	struct prune_view *prune = (struct prune_view *)view;
	const struct subject *subject = view->subject;
	int rc;

	prune->trace = subject->trace;
	for (int i = 0; i < PRUNE_LEVELS; i++)
		prune->h[i] = 10;
	prune->now = loupe_cursor_create(prune->trace);
	prune->then = loupe_cursor_create(prune->trace);
	prune->birth = loupe_cursor_create(prune->trace);
	if (!prune->now || !prune->then || !prune->birth)
		return -ENOMEM;
	rc = listing_init(&prune->listing, loupe_trace_insns(prune->trace),
			  loupe_trace_insn_cnt(prune->trace), subject->source);
	return rc ? rc : prune_fill_table(prune);
}

static void close_prune(struct view *view)
{
	struct prune_view *prune = (struct prune_view *)view;

	prune_keep_stop(prune);
	loupe_cursor_destroy(prune->now);
	loupe_cursor_destroy(prune->then);
	loupe_cursor_destroy(prune->birth);
	listing_finish(&prune->listing);
	free(prune->rows);
	free(prune->events);
	free(prune->cells);
	free(prune->diffs);
}

static void export_pair(const struct prune_view *prune, FILE *out)
{
	for (uint32_t i = 0; i < prune->cell_cnt; i++) {
		const struct prune_cell *cell = &prune->cells[i];
		char name[32];

		if (cell->kind == PRUNE_CELL_FRAME) {
			fprintf(out, "frame %u\n", cell->loc.frameno);
			continue;
		}
		words_loc(&cell->loc, false, name, sizeof(name));
		fprintf(out, "%-8s %-40s | %-40s %s\n", name, cell->then, cell->now,
			prune_mark_words(cell->mark));
	}
}

static int export(struct view *view, FILE *out)
{
	struct prune_view *prune = (struct prune_view *)view;
	char line[700];

	switch (prune->level) {
	case PRUNE_TABLE:
		for (uint32_t i = 0; i < prune->row_cnt; i++) {
			prune_row_text(prune, &prune->rows[i], line, sizeof(line));
			fprintf(out, "%s\n", line);
		}
		break;
	case PRUNE_LIST:
		for (uint64_t i = 0; i < prune->event_cnt; i++)
			fprintf(out, "%9u  #%-6u %s\n", prune->events[i].step,
				prune->events[i].serial, prune_event_words(prune, i));
		break;
	default:
		export_pair(prune, out);
	}
	return 0;
}

static bool offers(const struct view *view, enum request request)
{
	const struct prune_view *prune = (const struct prune_view *)view;

	switch (request) {
	case REQ_SORT:
		return prune->level == PRUNE_TABLE;
	case REQ_BACK:
	case REQ_MISS_NEXT:
	case REQ_HIT_NEXT:
	case REQ_EVICT_NEXT:
		return prune->level != PRUNE_TABLE;
	case REQ_ENTER:
		return prune->level != PRUNE_PAIR;
	case REQ_VISIT_PREV:
	case REQ_DEMAND:
		return prune->level == PRUNE_PAIR;
	case REQ_DIFF_NEXT:
		return prune->level == PRUNE_PAIR && prune->diff_cnt > 1;
	default:
		return true;
	}
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "look closer" },	      { REQ_BACK, REQ_NONE, "back" },
	{ REQ_MISS_NEXT, REQ_MISS_PREV, "miss" },     { REQ_HIT_NEXT, REQ_HIT_PREV, "hit" },
	{ REQ_EVICT_NEXT, REQ_EVICT_PREV, "evicted" }, { REQ_VISIT_PREV, REQ_VISIT_NEXT, "other" },
	{ REQ_DIFF_NEXT, REQ_DIFF_PREV, "differs" },
	{ REQ_DEMAND, REQ_NONE, "who needs it" },
	{ REQ_SORT, REQ_SORT_REVERSE, "sort" },	      { REQ_VIEW_WALK, REQ_NONE, "walk here" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"born: checkpoints (states) stored at the insn; their sum is total_states",
	"alive: of these, those that were not evicted",
	"evicted: given up because misses > hits × 3 + 3, so that they cost no more comparisons",
	"hits: arrivals that a checkpoint covers, so that the path ends there",
	"misses: comparisons that found a difference, and count against the checkpoint",
	"uncounted: misses where no checkpoint was about to be stored; they do not count",
	"skipped: paths from the checkpoint were not finished, so that it cannot prune yet",
	"compared: comparisons that were worked through; share is of all of them",
	"kept: the program is verified again, and only that checkpoint is never given up",
	"2 of 3: misses so far, and how many there may be before it is evicted",
	"=: both states hold the same",
	"·: dead (nothing reads it) or empty: not compared",
	"~: the checkpoint's number is not precise: any number will do",
	"⊇: the checkpoint was verified for more than this",
	"all differences: the verifier stops at the first; the others are found by the same comparison",
	"≠: differs; the red one is the difference that made it miss",
	"precise: the exact value decided something after the checkpoint, so it has to match",
	NULL,
};

const struct view_ops view_prune = {
	.name = "prune",
	.title = "Prune",
	.about = "why paths were pruned, or not: checkpoints, comparisons, evictions",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct prune_view),
	.hints = hints,
	.open = open_prune,
	.close = close_prune,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.command = command,
	.offers = offers,
	.terms = terms,
};
