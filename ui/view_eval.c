// SPDX-License-Identifier: GPL-2.0-only
/* Eval: what system calls cost before and after; the way of one lights up in both graphs. */
#include "calls.h"
#include "cfg_pair.h"
#include "panes.h"
#include "view.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 2, PANES };

/* How the way of a call is shown: graphs need room. */
enum form { FORM_BY_ROOM, FORM_GRAPHS, FORM_STEPS };
enum { GRAPHS_FROM_W = 120 };

struct eval_view {
	struct view view;
	struct calls calls;
	struct scroll scroll;
	int h;			 /* rows of the list when drawn last */
	struct cfg_side side[2]; /* CFG_BEFORE, CFG_AFTER */
	uint32_t *path[2];	 /* instructions that the selected call runs */
	uint32_t path_cnt[2];
	uint32_t at[2]; /* place on the path that is selected */
	enum form form;
	bool steps;		 /* drawn as a list last */
	struct scroll listed[2]; /* of that list */
	int focus;	/* CFG_BEFORE, CFG_AFTER, LIST */
	char problem[600];
};

static const struct loupe_filter *filter_of(const struct eval_view *view, int n)
{
	const struct subject *subject = view->view.subject;

	return n == CFG_BEFORE ? subject->filter : subject->optimized;
}

/* ---- the way of a call -------------------------------------------------------------------- */

/* Puts the cursor of a graph on a place of the path. */
static void show_place(struct eval_view *view, int n)
{
	struct cfg_side *side = &view->side[n];

	side->cursor = view->path_cnt[n] ? view->path[n][view->at[n]] : LOUPE_CFG_NONE;
	side->active = view->focus == n;
	side->follow = true;
}

/* Runs the selected call and lights its way in both graphs. */
static void light(struct eval_view *view)
{
	const struct calls_row *row;

	if (!view->calls.cnt)
		return;
	row = &view->calls.rows[view->scroll.cursor];
	for (int n = 0; n < 2; n++) {
		const struct loupe_filter_input input = { .data = &row->data,
							  .len = sizeof(row->data) };
		struct loupe_filter_run run = { .path = view->path[n] };
		struct cfg_side *side = &view->side[n];

		memset(side->lit, 0xff, side->cnt * sizeof(*side->lit));
		view->path_cnt[n] = 0;
		if (loupe_filter_eval(filter_of(view, n), &input, &run, NULL))
			continue;
		view->path_cnt[n] = run.executed;
		/* each instruction knows the next one, the last one itself */
		for (uint32_t i = 0; i < run.executed; i++)
			side->lit[run.path[i]] = run.path[i + 1 < run.executed ? i + 1 : i];
		view->at[n] = view->focus == n ? 0 : run.executed - 1;
		show_place(view, n);
	}
}

static void select_row(struct eval_view *view, int64_t row)
{
	scroll_to(&view->scroll, row, view->calls.cnt, view->h);
	light(view);
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { WHAT_W = 14, NUMBERS_W = 30 };

static void row_name(const struct calls_row *row, char *buf, size_t size)
{
	char call[200];

	loupe_seccomp_call_text(&row->data, call, sizeof(call));
	snprintf(buf, size, "%s", call);
}

static void draw_head(struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);

	pen_text(&pen, UI_HEADING, " call");
	pen_to(&pen, at.x + at.w - NUMBERS_W - WHAT_W);
	pen_text(&pen, UI_HEADING, "answer");
	pen_to(&pen, at.x + at.w - NUMBERS_W);
	pen_text(&pen, UI_HEADING, "     insns    loads   cached");
}

static void draw_row(const struct calls_row *row, struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w - NUMBERS_W - WHAT_W - 1);
	char text[200], insns[32], loads[32];
	const char *cached = row->cached[0] && row->cached[1] ? "yes"
			     : row->cached[1]		      ? "after"
			     : row->cached[0]		      ? "before"
							      : "";

	row_name(row, text, sizeof(text));
	pen_text(&pen, UI_TEXT, " ");
	pen_text(&pen, UI_TEXT, text);
	pen.end = at.x + at.w;
	pen_to(&pen, at.x + at.w - NUMBERS_W - WHAT_W);
	loupe_seccomp_action_text(row->result, text, sizeof(text));
	pen_printf(&pen, strcmp(text, "ALLOW") ? UI_MISS : UI_HIT, "%.*s", WHAT_W - 1, text);
	pen_to(&pen, at.x + at.w - NUMBERS_W);
	snprintf(insns, sizeof(insns), "%u→%u", row->executed[0], row->executed[1]);
	snprintf(loads, sizeof(loads), "%u→%u", row->loads[0], row->loads[1]);
	pen_to(&pen, at.x + at.w - NUMBERS_W + 10 - screen_columns(insns));
	pen_text(&pen, UI_STRONG, insns);
	pen_to(&pen, at.x + at.w - NUMBERS_W + 19 - screen_columns(loads));
	pen_text(&pen, UI_TEXT, loads);
	pen_to(&pen, at.x + at.w - NUMBERS_W + 22);
	pen_text(&pen, UI_ARRIVAL, cached);
}

/* What a table's calls cost on average. */
static void means_text(const struct eval_view *view, bool wide, char *buf, size_t size)
{
	struct calls_means m = calls_means(&view->calls);

	if (m.weight <= 0)
		snprintf(buf, size,
			 wide ? "a call of each rule; i adds one of your own, --weights FILE names "
				"those that are made"
			      : "a call of each rule; i adds one, --weights FILE names others");
	else if (!wide)
		snprintf(buf, size, "mean: insns %.2f→%.2f  loads %.2f→%.2f  with cache %.2f→%.2f",
			 m.executed[0], m.executed[1], m.loads[0], m.loads[1], m.with_cache[0],
			 m.with_cache[1]);
	else
		snprintf(buf, size,
			 "mean by weight: insns %.2f→%.2f  loads %.2f→%.2f  with the kernel's "
			 "cache %.2f→%.2f "
			 "(%.0f%%→%.0f%% never run it)",
			 m.executed[0], m.executed[1], m.loads[0], m.loads[1], m.with_cache[0],
			 m.with_cache[1], 100 * m.cached[0], 100 * m.cached[1]);
}

static void draw_list(struct eval_view *view, struct screen *screen, struct rect outer)
{
	char title[64], number[NUMBER_TEXT], means[240];
	struct rect inner;

	snprintf(title, sizeof(title), "%s call%s", number_text(number, view->calls.cnt),
		 view->calls.cnt == 1 ? "" : "s");
	inner = pane_frame(screen, outer, title, view->focus == LIST);
	pane_note(screen, outer, UI_DIM, "before→after");
	draw_head(screen, (struct rect){ inner.x, inner.y, inner.w, 1 });
	view->h = inner.h - 2;
	scroll_fit(&view->scroll, view->calls.cnt, view->h);
	for (int i = 0; i < view->h && view->scroll.top + i < view->calls.cnt; i++) {
		struct rect at = { inner.x, inner.y + 1 + i, inner.w, 1 };

		draw_row(&view->calls.rows[view->scroll.top + i], screen, at);
		if (view->scroll.top + i == view->scroll.cursor)
			screen_ground(screen, at,
				      view->focus == LIST ? UI_GROUND_CURSOR : UI_GROUND_ROW);
		mark_matches(screen, at.x, at.y, at.w, tui_pattern(view->view.tui));
	}
	means_text(view, inner.w >= 120, means, sizeof(means));
	screen_text(screen, inner.x + 1, inner.y + inner.h - 1, inner.w - 2, UI_NOTICE, means);
	pane_more(screen, (struct rect){ inner.x, inner.y + 1, inner.w, view->h }, view->scroll.top,
		  view->calls.cnt);
}

/* True if A holds the number of the call, as it was loaded, where the way has come to. */
static bool holds_number(const struct eval_view *view, int n, uint32_t step)
{
	while (step-- > 0) {
		const struct loupe_cbpf_insn *code =
			&filter_of(view, n)->insns[view->path[n][step]];

		if (BPF_CLASS(code->code) == BPF_LD)
			return BPF_MODE(code->code) == BPF_ABS && code->k == 0;
		if (BPF_CLASS(code->code) == BPF_ALU || BPF_CLASS(code->code) == BPF_MISC)
			return false;
	}
	return false;
}

/* An instruction of the way; behind it what the register is compared with led to. */
static void draw_step(const struct eval_view *view, int n, uint32_t step, struct screen *screen,
		      struct rect at)
{
	const struct cfg_side *side = &view->side[n];
	uint32_t insn = view->path[n][step];
	const struct loupe_cbpf_insn *code = &filter_of(view, n)->insns[insn];
	bool last = step + 1 == view->path_cnt[n];
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char text[200], to[40] = "";
	const char *name = NULL;

	cfg_side_text(side, insn, text, sizeof(text));
	if (code->code == (BPF_JMP | BPF_JEQ | BPF_K) && holds_number(view, n, step))
		name = loupe_syscall_name(view->calls.rows[view->scroll.cursor].data.arch, code->k);
	if (!last && BPF_CLASS(code->code) == BPF_JMP && BPF_OP(code->code) != BPF_JA)
		snprintf(to, sizeof(to), " %s → %u",
			 view->path[n][step + 1] == insn + 1 + code->jt ? "yes" : "no",
			 view->path[n][step + 1]);
	pen_printf(&pen, UI_NUMBER, "%*u: ", side->digits, insn);
	pen.end -= screen_columns(to);
	pen_text(&pen, last ? UI_STRONG : UI_TEXT, text);
	if (name)
		pen_printf(&pen, UI_DIM, "  %s", name);
	pen.end = at.x + at.w;
	pen_right(&pen, strncmp(to, " yes", 4) ? UI_FALSE : UI_TRUE, to);
}

static void draw_steps(struct eval_view *view, int n, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &view->listed[n];

	scroll->cursor = view->at[n];
	scroll_fit(scroll, view->path_cnt[n], area.h);
	for (int i = 0; i < area.h && scroll->top + i < view->path_cnt[n]; i++) {
		struct rect at = { area.x, area.y + i, area.w, 1 };

		draw_step(view, n, (uint32_t)(scroll->top + i), screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at,
				      view->focus == n ? UI_GROUND_CURSOR : UI_GROUND_ROW);
	}
	pane_more(screen, area, scroll->top, view->path_cnt[n]);
}

static void draw_side(struct eval_view *view, int n, struct screen *screen, struct rect outer)
{
	const struct calls_row *row =
		view->calls.cnt ? &view->calls.rows[view->scroll.cursor] : NULL;
	char title[96] = "", note[64];
	struct rect inner;

	if (row)
		snprintf(title, sizeof(title), "%s  %u insns, %u loads run",
			 n == CFG_BEFORE ? "before" : "after", row->executed[n], row->loads[n]);
	inner = pane_frame(screen, outer, title, view->focus == n);
	if (row && row->cached[n]) {
		snprintf(note, sizeof(note), "cached: never runs");
		pane_note(screen, outer, UI_NOTICE, note);
	}
	if (view->steps)
		draw_steps(view, n, screen, inner);
	else
		cfg_side_draw(&view->side[n], screen, inner, tui_ascii(view->view.tui), "");
}

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct eval_view *view = (struct eval_view *)base;
	int list = area.h < 14 ? area.h / 2 : area.h < 30 ? 8 : 14, left = area.w / 2;
	struct rect top = { area.x, area.y, area.w, list };

	if (*view->problem) {
		struct pen pen = pen_at(screen, area.x + 2, area.y + 1, area.w - 4);

		pen_text(&pen, UI_NOTICE, view->problem);
		return;
	}
	view->steps = view->form == FORM_STEPS ||
		      (view->form == FORM_BY_ROOM && area.w < GRAPHS_FROM_W);
	draw_list(view, screen, top);
	draw_side(view, CFG_BEFORE, screen,
		  (struct rect){ area.x, area.y + list - 1, left + 1, area.h - list + 1 });
	draw_side(view, CFG_AFTER, screen,
		  (struct rect){ area.x + left, area.y + list - 1, area.w - left,
				 area.h - list + 1 });
}

/* ---- going about -------------------------------------------------------------------------- */

static void set_focus(struct eval_view *view, int focus)
{
	view->focus = focus;
	for (int n = 0; n < 2; n++) {
		if (focus == n)
			view->at[n] = 0;
		show_place(view, n);
	}
}

/* Puts the other graph where the same is asked, if the call gets there. */
static void bring_along(struct eval_view *view, int n)
{
	struct loupe_why *const *why = view->view.subject->why;
	uint32_t partner = loupe_why_partner(why[n], view->path[n][view->at[n]], why[!n]);

	for (uint32_t i = 0; i < view->path_cnt[!n]; i++) {
		if (view->path[!n][i] != partner)
			continue;
		view->at[!n] = i;
		show_place(view, !n);
	}
}

/* Moves along the way of the call. */
static bool walk(struct eval_view *view, enum request request)
{
	int n = view->focus;
	struct scroll along = { .cursor = view->at[n] };

	if ((request == REQ_LEFT || request == REQ_RIGHT) && !view->steps) {
		view->side[n].x += request == REQ_LEFT ? -8 : 8;
		return true;
	}
	if (!view->path_cnt[n] || !scroll_request(&along, request, view->path_cnt[n], 12))
		return false;
	view->at[n] = (uint32_t)along.cursor;
	show_place(view, n);
	bring_along(view, n);
	return true;
}

static bool request(struct view *base, enum request request)
{
	struct eval_view *view = (struct eval_view *)base;

	if (*view->problem)
		return false;
	switch (request) {
	case REQ_NEXT_PANE:
		set_focus(view, (view->focus + 1) % PANES);
		return true;
	case REQ_PREV_PANE:
		set_focus(view, (view->focus + PANES - 1) % PANES);
		return true;
	case REQ_STEPS:
		view->form = view->steps ? FORM_GRAPHS : FORM_STEPS;
		for (int n = 0; n < 2; n++)
			view->side[n].follow = true;
		return true;
	case REQ_CALL:
		tui_ask(base->tui, "call ");
		return true;
	case REQ_ENTER:
		set_focus(view, view->focus == LIST ? CFG_AFTER : LIST);
		return true;
	default:
		if (view->focus != LIST)
			return walk(view, request);
		if (!scroll_request(&view->scroll, request, view->calls.cnt, view->h))
			return false;
		light(view);
		return true;
	}
}

/* ":call ioctl 0 0x5401" */
static bool command(struct view *base, const char *name, const char *arg)
{
	struct eval_view *view = (struct eval_view *)base;
	const struct loupe_callers *callers;
	uint32_t cnt = 0, arch = base->subject->input->arch, some;
	struct loupe_seccomp_data data;
	struct loupe_error err = { 0 };
	char text[240], why[200];
	const char *words[10];

	if (strcmp(name, "call") != 0 || *view->problem)
		return false;
	/* of the architecture that the filter is for */
	callers = loupe_why_callers(base->subject->why[0], &some);
	if (some && callers[0].kind == LOUPE_CALLERS_CALL)
		arch = callers[0].arch;
	snprintf(text, sizeof(text), "%s", arg);
	for (char *word = strtok(text, " ,()"); word && cnt < 10; word = strtok(NULL, " ,()"))
		words[cnt++] = word;
	if (!cnt || !calls_parse(words, cnt, arch, &data, why, sizeof(why))) {
		tui_say(base->tui, UI_ERROR, "%s", cnt ? why : ":call NAME ARGUMENT ...");
		return true;
	}
	if (calls_add(&view->calls, 0, &data, NULL, 0, &err)) {
		tui_say(base->tui, UI_ERROR, "%s", err.message);
		return true;
	}
	view->scroll.top = 0;
	select_row(view, 0);
	return true;
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct eval_view *view = (struct eval_view *)base;
	int64_t cnt = view->calls.cnt;
	char row[200];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (view->scroll.cursor + (forward ? i : cnt - i)) % cnt;

		row_name(&view->calls.rows[n], row, sizeof(row));
		if (text_matches(row, text)) {
			select_row(view, n);
			return true;
		}
	}
	return false;
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int add_callers(struct eval_view *view, struct loupe_error *err)
{
	uint32_t cnt;
	const struct loupe_callers *callers = loupe_why_callers(view->view.subject->why[0], &cnt);
	int rc = 0;

	for (uint32_t c = 0; c < cnt && !rc; c++) {
		const struct loupe_seccomp_data data = { .nr = callers[c].nr,
							 .arch = callers[c].arch };

		if (callers[c].kind == LOUPE_CALLERS_CALL)
			rc = calls_add(&view->calls, view->calls.cnt, &data, NULL, 0, err);
	}
	return rc;
}

static int open_eval(struct view *base)
{
	struct eval_view *view = (struct eval_view *)base;
	const struct input *input = base->subject->input;
	struct loupe_error err = { 0 };
	int rc;

	view->focus = LIST;
	view->h = 6;
	if (base->subject->filter->flavour != LOUPE_FILTER_SECCOMP) {
		snprintf(view->problem, sizeof(view->problem),
			 "a socket filter sees packets, no system calls");
		return 0;
	}
	calls_init(&view->calls, base->subject->filter, base->subject->optimized);
	rc = cfg_pair_filter(view->side, base->subject, &err);
	for (int n = 0; n < 2 && !rc; n++) {
		struct cfg_side *side = &view->side[n];

		view->path[n] = calloc(side->cnt, sizeof(*view->path[n]));
		if (!view->path[n] || cfg_side_light(side))
			return -ENOMEM;
		/* with room for the marks */
		memset(side->lit, 0, side->cnt * sizeof(*side->lit));
		rc = cfg_side_layout(side, n ? &view->side[CFG_BEFORE] : NULL, NULL, &side->layout);
	}
	if (!rc && input->counted)
		rc = calls_add_table(&view->calls, &input->weights, &err);
	else if (!rc && input->policy)
		rc = calls_add_rules(&view->calls, input->policy, &err);
	if (!rc && !view->calls.cnt)
		rc = add_callers(view, &err);
	if (rc == -ENOMEM)
		return rc;
	if (rc)
		snprintf(view->problem, sizeof(view->problem), "%s",
			 err.message[0] ? err.message : strerror(-rc));
	else
		light(view);
	return 0;
}

static void close_eval(struct view *base)
{
	struct eval_view *view = (struct eval_view *)base;

	for (int n = 0; n < 2; n++) {
		free(view->path[n]);
		cfg_side_finish(&view->side[n]);
	}
	calls_finish(&view->calls);
}

static int export(struct view *base, FILE *out)
{
	struct eval_view *view = (struct eval_view *)base;
	char text[240];

	fprintf(out, "call,answer,weight,insns_before,insns_after,loads_before,loads_after,cached_"
		     "before,cached_after\n");
	for (uint32_t i = 0; i < view->calls.cnt; i++) {
		const struct calls_row *row = &view->calls.rows[i];

		row_name(row, text, sizeof(text));
		fprintf(out, "\"%s\",", text);
		loupe_seccomp_action_text(row->result, text, sizeof(text));
		fprintf(out, "%s,%g,%u,%u,%u,%u,%d,%d\n", text, row->weight, row->executed[0],
			row->executed[1], row->loads[0], row->loads[1], row->cached[0],
			row->cached[1]);
	}
	return 0;
}

static bool offers(const struct view *base, enum request request)
{
	bool own = request == REQ_CALL || request == REQ_STEPS || request == REQ_NEXT_PANE ||
		   request == REQ_ENTER;

	return !own || !*((const struct eval_view *)base)->problem;
}

static const struct view_hint hints[] = {
	{ REQ_CALL, REQ_NONE, "a call of yours" },
	{ REQ_NEXT_PANE, REQ_NONE, "pane" },
	{ REQ_ENTER, REQ_NONE, "follow it" },
	{ REQ_STEPS, REQ_NONE, "list, graphs" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"●: the selected call runs this; Down and Up in a graph or list go along its way",
	"yes → 3: the comparison was true, so that instruction 3 comes next",
	"18→12: before and after",
	"cached: the kernel knows from installing the filter that it allows the call: it never "
	"runs",
	"mean by weight: expected cost of a call, by the table that --weights names",
	"with the kernel's cache: the same, where calls that never run the filter cost nothing",
	NULL,
};

const struct view_ops view_eval = {
	.name = "eval",
	.title = "Eval",
	.about = "what system calls cost in a filter, and the way of one in both graphs",
	.needs = VIEW_NEEDS_FILTER,
	.size = sizeof(struct eval_view),
	.hints = hints,
	.open = open_eval,
	.close = close_eval,
	.draw = draw,
	.request = request,
	.search = search,
	.command = command,
	.export = export,
	.offers = offers,
	.terms = terms,
};
