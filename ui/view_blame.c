// SPDX-License-Identifier: GPL-2.0-only
/* Blame: where a register's or slot's value came from, and what an error means. */
#include "blame.h"
#include "explain.h"
#include "listing.h"
#include "panes.h"
#include "view.h"
#include "words.h"
#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct blame_view {
	struct view view;
	struct listing listing;
	struct blame blame;
	bool made; /* there is a step to explain */
	struct scroll scroll;
	int h; /* rows when drawn last */
};

/* ---- choosing ----------------------------------------------------------------------------- */

static void show_loc(struct blame_view *view, uint32_t step, struct loupe_loc loc)
{
	if (blame_make(&view->blame, view->view.subject, step, loc)) {
		view->made = false;
		tui_say(view->view.tui, UI_ERROR, "out of memory");
		return;
	}
	view->made = true;
	view->scroll = (struct scroll){ 0 };
	for (uint32_t i = 0; i < view->blame.cnt; i++) {
		if (view->blame.rows[i].named)
			scroll_to(&view->scroll, i, view->blame.cnt, view->h);
	}
	tui_set_loc(view->view.tui, loc);
}

/* The register that an instruction goes through: the base of an access, else what it changes. */
static uint8_t base_of(const struct loupe_insn *insn)
{
	switch (insn->code & 7) {
	case 1: /* LDX */
		return insn->src_reg;
	case 5: /* JMP: a call's or the program's result, or what is compared */
		return (insn->code & 0xf0) == 0x80   ? 1
		       : (insn->code & 0xf0) == 0x90 ? 0
						     : insn->dst_reg;
	default:
		return insn->dst_reg;
	}
}

static bool has_value(struct blame_view *view, uint32_t step, struct loupe_loc loc)
{
	struct loupe_value value;

	return loupe_trace_value(view->view.subject->trace, step, loc, &value) == 0 &&
	       value.present && (loc.kind == LOUPE_LOC_SLOT || value.reg.type != NOT_INIT);
}

static void show_step(struct blame_view *view, uint32_t step)
{
	const struct subject *subject = view->view.subject;
	struct loupe_loc loc = { LOUPE_LOC_REG, 0, 0 }, wanted;
	struct loupe_step_info info;
	struct loupe_fault fault;

	if (loupe_trace_step(subject->trace, step, &info))
		return;
	if (step == loupe_trace_error_step(subject->trace) &&
	    !loupe_trace_fault(subject->trace, subject->error, &fault)) {
		show_loc(view, fault.at, fault.loc);
		return;
	}
	loc.frameno = (uint8_t)(info.frame_cnt - 1);
	loc.index = base_of(&loupe_trace_insns(subject->trace)[info.insn_idx]);
	/* what was selected in Walk, unless it is the error's turn */
	if (tui_loc(view->view.tui, &wanted) && has_value(view, step, wanted))
		loc = wanted;
	show_loc(view, step, loc);
}

/* The next register or slot of the frame that holds something. */
static void show_other(struct blame_view *view, int by)
{
	enum { LOCS = LOUPE_MAX_REG - 1 + LOUPE_MAX_SLOTS };
	struct loupe_loc loc = view->blame.loc;
	int at = loc.kind == LOUPE_LOC_REG ? loc.index : LOUPE_REG_FP + loc.index;

	for (int i = 0; i < LOCS; i++) {
		at = (at + by + LOCS) % LOCS;
		loc.kind = at < LOUPE_REG_FP ? LOUPE_LOC_REG : LOUPE_LOC_SLOT;
		loc.index = (uint8_t)(at < LOUPE_REG_FP ? at : at - LOUPE_REG_FP);
		if (has_value(view, view->blame.step, loc)) {
			show_loc(view, view->blame.step, loc);
			return;
		}
	}
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { STEP_W = 10, INSN_W = 31, HOW_W = 28 };

/* Widths of the columns follow from the screen's. */
static int insn_w(int w)
{
	return w >= 120 ? 46 : INSN_W;
}

static void row_words(const struct blame_row *row, char *buf, size_t size)
{
	if (row->aside)
		snprintf(buf, size, "%s", row->aside);
	else
		blame_words(&row->link, buf, size);
}

static void row_value(const struct blame_view *view, const struct blame_row *row, char *buf,
		      size_t size)
{
	buf[0] = '\0';
	if (!row->aside)
		words_value(&row->value, row->link.loc, view->view.subject->names, buf, size);
}

static void draw_row(struct blame_view *view, const struct blame_row *row, struct screen *screen,
		     struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	bool wide = at.w >= 100;
	char text[400], number[NUMBER_TEXT], name[32];
	int x = at.x + STEP_W;

	if (row->link.step != LOUPE_NO_STEP)
		pen_printf(&pen, UI_NUMBER, "%9s", number_text(number, row->link.step));
	pen_to(&pen, x);
	for (uint32_t i = 0; i < row->depth; i++)
		pen_text(&pen, UI_FRAME, i + 1 == row->depth ? "└ " : "  ");
	pen.end = x + insn_w(at.w) - 1;
	if (row->link.step != LOUPE_NO_STEP) {
		listing_insn_text(&view->listing, (uint32_t)row->link.insn_idx, false, text,
				  sizeof(text));
		pen_printf(&pen, UI_NUMBER, "%d: ", row->link.insn_idx);
		pen_text(&pen, row->named ? UI_MISS : row->depth ? UI_TEXT : UI_STRONG, text);
	} else {
		pen_text(&pen, UI_DIM, "start");
	}
	x += insn_w(at.w);
	if (wide) {
		pen.end = x + HOW_W - 1;
		pen_to(&pen, x);
		row_words(row, text, sizeof(text));
		pen_text(&pen, UI_DIM, text);
		x += HOW_W;
	}
	pen.end = at.x + at.w;
	pen_to(&pen, x);
	if (row->aside) {
		pen_text(&pen, UI_DIM, wide ? "" : row->aside);
	} else {
		words_loc(&row->link.loc, false, name, sizeof(name));
		pen_printf(&pen, UI_REG, "%s", name);
		pen_text(&pen, UI_TEXT, " ");
	}
	row_value(view, row, text, sizeof(text));
	if (row->named)
		pen.end -= 8;
	pen_text(&pen, row->named ? UI_MISS : UI_VALUE, text);
	pen.end = at.x + at.w;
	if (row->named)
		pen_right(&pen, UI_MISS, view->blame.fault.lost ? "◂ lost" : "◂ look");
}

static void draw_head(struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	int x = at.x + STEP_W;

	pen_text(&pen, UI_HEADING, "     step");
	pen_to(&pen, x);
	pen_text(&pen, UI_HEADING, "insn, latest first");
	x += insn_w(at.w);
	pen_to(&pen, x);
	if (at.w >= 100) {
		pen_text(&pen, UI_HEADING, "how");
		pen_to(&pen, x + HOW_W);
	}
	pen_text(&pen, UI_HEADING, "value afterwards");
}

/* What stands below the chain: the answer, the selected link, the rule and the ways. */
struct footing {
	const char *answer;
	const struct explanation *explanation;
	char link[400];
};

static struct footing footing_of(struct blame_view *view)
{
	const struct subject *subject = view->view.subject;
	struct footing footing = { .answer = view->blame.answer };
	char how[128], name[32], value[240];

	if (subject->result.verdict == LOUPE_REJECTED && !(view->made && view->blame.enough) &&
	    (!view->made || view->blame.of_error ||
	     view->blame.step == loupe_trace_error_step(subject->trace)))
		footing.explanation = explain_error(subject->error);
	if (view->made && view->blame.cnt) {
		const struct blame_row *row = &view->blame.rows[view->scroll.cursor];

		row_words(row, how, sizeof(how));
		words_loc(&row->link.loc, false, name, sizeof(name));
		row_value(view, row, value, sizeof(value));
		if (row->aside)
			snprintf(footing.link, sizeof(footing.link), "%s", how);
		else
			snprintf(footing.link, sizeof(footing.link), "%.31s: %.100s; %.239s", name,
				 how, value);
	}
	return footing;
}

static int draw_footing(const struct footing *footing, struct screen *screen, struct rect at)
{
	int y = at.y, end = at.y + at.h;

	if (*footing->answer)
		y += wrap_text(screen,
			       (struct rect){ at.x + 1, y, at.w - 2, end - y < 3 ? end - y : 3 }, 0,
			       UI_STRONG, footing->answer);
	if (!footing->explanation)
		return y;
	y += wrap_text(screen, (struct rect){ at.x + 1, y, at.w - 2, end - y }, 0, UI_NOTICE,
		       footing->explanation->rule);
	y += wrap_text(screen, (struct rect){ at.x + 1, y, at.w - 2, end - y }, 0, UI_TEXT,
		       footing->explanation->ways);
	return y;
}

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct blame_view *view = (struct blame_view *)base;
	struct footing footing = footing_of(view);
	int foot = footing.explanation ? (area.w >= 120 ? 5 : 8) : *footing.answer ? 3 : 0, used;
	char title[96], name[32], note[64], number[NUMBER_TEXT];
	struct rect inner;

	if (!view->made) {
		screen_text(screen, area.x + 2, area.y + 1, area.w - 4, UI_NOTICE,
			    "No step is selected; the error is not about one.");
		draw_footing(&footing, screen,
			     (struct rect){ area.x, area.y + 3, area.w, area.h - 3 });
		return;
	}
	if (foot > area.h / 2)
		foot = area.h / 2;
	words_loc(&view->blame.loc, false, name, sizeof(name));
	snprintf(title, sizeof(title), "where %s at insn %d comes from", name,
		 loupe_trace_step_insn(base->subject->trace, view->blame.step));
	inner = pane_frame(screen, (struct rect){ area.x, area.y, area.w, area.h - foot }, title,
			   true);
	snprintf(note, sizeof(note), "step %s", number_text(number, view->blame.step));
	pane_note(screen, area, UI_STRONG, note);
	draw_head(screen, (struct rect){ inner.x, inner.y, inner.w, 1 });
	inner.y++;
	inner.h--;
	view->h = inner.h;
	scroll_fit(&view->scroll, view->blame.cnt, inner.h);
	for (int i = 0; i < inner.h && view->scroll.top + i < view->blame.cnt; i++) {
		struct rect at = { inner.x, inner.y + i, inner.w, 1 };

		draw_row(view, &view->blame.rows[view->scroll.top + i], screen, at);
		if (view->scroll.top + i == view->scroll.cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
	}
	used = (int)(view->blame.cnt - view->scroll.top);
	if (view->blame.cut && used < inner.h)
		screen_text(screen, inner.x + STEP_W, inner.y + used, inner.w - STEP_W, UI_DIM,
			    "earlier ones are left out");
	pane_more(screen, inner, view->scroll.top, view->blame.cnt);
	/* a value that is longer than its column is shown whole where there is room */
	if (used + 3 < inner.h)
		wrap_text(screen,
			  (struct rect){ inner.x + 1, inner.y + inner.h - 3, inner.w - 2, 3 }, 0,
			  UI_NOTICE, footing.link);
	draw_footing(&footing, screen,
		     (struct rect){ area.x, area.y + area.h - foot, area.w, foot });
}

/* ---- going about -------------------------------------------------------------------------- */

static bool request(struct view *base, enum request request)
{
	struct blame_view *view = (struct blame_view *)base;
	const struct blame_row *row;

	if (!view->made)
		return false;
	switch (request) {
	case REQ_NEXT_PANE:
	case REQ_RIGHT:
		show_other(view, 1);
		return true;
	case REQ_PREV_PANE:
	case REQ_LEFT:
		show_other(view, -1);
		return true;
	case REQ_ERROR:
		if (loupe_trace_error_step(base->subject->trace) != LOUPE_NO_STEP)
			show_step(view, loupe_trace_error_step(base->subject->trace));
		else
			tui_say(base->tui, UI_NOTICE, "no step was rejected");
		return true;
	case REQ_ENTER:
		row = &view->blame.rows[view->scroll.cursor];
		if (row->link.step == LOUPE_NO_STEP) {
			tui_say(base->tui, UI_NOTICE, "it was there when the function began");
			return true;
		}
		tui_set_place(base->tui, (struct place){ row->link.step, row->link.insn_idx });
		tui_show(base->tui, VIEW_WALK);
		return true;
	default:
		return scroll_request(&view->scroll, request, view->blame.cnt, view->h);
	}
}

static void select_place(struct view *base, struct place place)
{
	struct blame_view *view = (struct blame_view *)base;
	const struct loupe_trace *trace = base->subject->trace;
	uint32_t cnt = 0, at, step = place.step;
	const uint32_t *visits;
	struct loupe_loc wanted;

	if (step == LOUPE_NO_STEP && place.insn >= 0) {
		visits = loupe_trace_visits(trace, (uint32_t)place.insn, &cnt);
		at = view->made ? loupe_trace_visit_lower(trace, (uint32_t)place.insn,
							  view->blame.step)
				: 0;
		if (cnt)
			step = visits[at < cnt ? at : cnt - 1];
	}
	if (step == LOUPE_NO_STEP)
		return;
	/* coming back shows what was left */
	if (view->made && view->blame.step == step && tui_loc(base->tui, &wanted) &&
	    !memcmp(&wanted, &view->blame.loc, sizeof(wanted)))
		return;
	if (view->made && view->blame.step == step && tui_loc(base->tui, &wanted) &&
	    has_value(view, step, wanted))
		show_loc(view, step, wanted);
	else
		show_step(view, step);
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct blame_view *view = (struct blame_view *)base;
	int64_t cnt = view->made ? view->blame.cnt : 0;
	char line[300], value[300];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (view->scroll.cursor + (forward ? i : cnt - i)) % cnt;
		const struct blame_row *row = &view->blame.rows[n];

		line[0] = '\0';
		if (row->link.insn_idx >= 0)
			listing_insn_text(&view->listing, (uint32_t)row->link.insn_idx, false, line,
					  sizeof(line));
		row_value(view, row, value, sizeof(value));
		if (text_matches(line, text) || text_matches(value, text)) {
			scroll_to(&view->scroll, n, cnt, view->h);
			return true;
		}
	}
	return false;
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int open_blame(struct view *base)
{
	struct blame_view *view = (struct blame_view *)base;

	view->h = 10;
	return listing_init(&view->listing, loupe_trace_insns(base->subject->trace),
			    loupe_trace_insn_cnt(base->subject->trace), base->subject->source);
}

static void close_blame(struct view *base)
{
	struct blame_view *view = (struct blame_view *)base;

	blame_finish(&view->blame);
	listing_finish(&view->listing);
}

static int export(struct view *base, FILE *out)
{
	struct blame_view *view = (struct blame_view *)base;
	struct footing footing = footing_of(view);

	for (uint32_t i = 0; view->made && i < view->blame.cnt; i++) {
		const struct blame_row *row = &view->blame.rows[i];
		char insn[200] = "start", value[300], how[128], name[32];

		if (row->link.insn_idx >= 0)
			listing_insn_text(&view->listing, (uint32_t)row->link.insn_idx, false, insn,
					  sizeof(insn));
		row_value(view, row, value, sizeof(value));
		row_words(row, how, sizeof(how));
		words_loc(&row->link.loc, false, name, sizeof(name));
		fprintf(out, "%*s%d: %s  %s  %s=%s%s\n", (int)row->depth * 2, "",
			row->link.insn_idx, insn, how, name, value,
			row->named ? "  (look here)" : "");
	}
	if (*footing.answer)
		fprintf(out, "%s\n", footing.answer);
	if (footing.explanation)
		fprintf(out, "%s\n%s\n", footing.explanation->rule, footing.explanation->ways);
	return 0;
}

static bool offers(const struct view *view, enum request request)
{
	return request != REQ_ERROR ||
	       loupe_trace_error_step(view->subject->trace) != LOUPE_NO_STEP;
}

static const struct view_hint hints[] = {
	{ REQ_NEXT_PANE, REQ_PREV_PANE, "other register" },
	{ REQ_ENTER, REQ_NONE, "walk there" },
	{ REQ_ERROR, REQ_NONE, "error" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"insn, latest first: the instructions that made the value, back to where nothing precedes",
	"└: what made a second value that the one above was computed from",
	"lost: before this insn the rejected access would have been accepted, afterwards not",
	"look: the insn that the rejection most likely comes from; on top if it made no value",
	"value afterwards: what the register or slot held when it was used next",
	NULL,
};

const struct view_ops view_blame = {
	.name = "blame",
	.title = "Blame",
	.about = "where a value came from; what an error means",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct blame_view),
	.hints = hints,
	.open = open_blame,
	.close = close_blame,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.offers = offers,
	.terms = terms,
};
