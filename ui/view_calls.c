// SPDX-License-Identifier: GPL-2.0-only
/* Calls: who calls whom, and what the frames take of the stack together. */
#include "listing.h"
#include "panes.h"
#include "view.h"
#include "wrap.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY_ROWS = 4096, /* with more, what is below a function is listed once */
	MAX_ROWS = 65536,
	MAX_BEFORE_TAIL_CALL = 256, /* stack of the callers of a function with a tail call */
	FRAME_ALIGN = 16,
};

/* A function where it is called on the way down from a root. */
struct call_row {
	uint32_t subprogno;
	uint32_t frame;	    /* calls above it */
	int32_t callsite;   /* insn of the first call, -1 at a root */
	uint32_t sites;	    /* calls of it by the function above */
	uint32_t bytes;	    /* as rounded up in the sum; 0 if its stack is its own */
	uint32_t sum;	    /* with those above it */
	bool chain;	    /* on the way to where the limit was passed */
	bool over;	    /* it was passed here */
	bool folded;	    /* what it calls is listed above, with no less stack above it */
};

/* Where what a function calls was listed last. */
struct listed {
	bool is;
	uint32_t frame, sum;
};

struct calls_view {
	struct view view;
	struct listing listing;
	const struct loupe_verify_result *result;
	struct call_row *rows;
	uint32_t cnt, cap;
	bool cut;
	bool folds;
	struct listed listed[256]; /* by function */
	uint32_t deepest; /* row with the largest sum */
	struct scroll scroll;
	int h; /* rows when drawn last */
};

/* ---- making ------------------------------------------------------------------------------- */

static uint32_t end_of(const struct calls_view *view, uint32_t subprogno)
{
	const struct loupe_trace *trace = view->view.subject->trace;

	return subprogno + 1 < loupe_trace_subprog_cnt(trace) ?
		       loupe_trace_subprog_start(trace, subprogno + 1) :
		       loupe_trace_insn_cnt(trace);
}

/* The function that an insn calls, or names for a helper to call at once; -1 if it does neither. */
static int64_t callee_of(const struct calls_view *view, uint32_t insn)
{
	const struct loupe_insn *at = &view->listing.insns[insn];
	bool calls = at->code == (BPF_JMP | BPF_CALL) && at->src_reg == BPF_PSEUDO_CALL;
	bool names = at->code == (BPF_LD | BPF_IMM | BPF_DW) && at->src_reg == BPF_PSEUDO_FUNC;
	int64_t start = (int64_t)insn + at->imm + 1;
	uint32_t callee;

	if ((!calls && !names) || start < 0 || start >= view->listing.insn_cnt)
		return -1;
	callee = loupe_trace_subprog_of(view->view.subject->trace, (uint32_t)start);
	/* what runs later has a tree of its own */
	if (names && view->result->subprog_flags[callee] & LOUPE_SUBPROG_LATER)
		return -1;
	return callee;
}

static uint32_t calls_between(const struct calls_view *view, uint32_t from, uint32_t to,
			      uint32_t callee)
{
	uint32_t cnt = 0;

	for (uint32_t i = from; i < to; i++)
		cnt += callee_of(view, i) == callee;
	return cnt;
}

/* True if what a function calls was listed with at least as much above it; else it will be now. */
static bool is_listed(struct calls_view *view, const struct call_row *row)
{
	struct listed *listed = &view->listed[row->subprogno];

	if (listed->is && row->sum <= listed->sum && row->frame >= listed->frame)
		return true;
	*listed = (struct listed){ .is = true, .frame = row->frame, .sum = row->sum };
	return false;
}

static void add_calls(struct calls_view *view, uint32_t subprogno, uint32_t frame, int32_t callsite,
		      uint32_t sites, uint32_t above)
{
	const struct loupe_trace *trace = view->view.subject->trace;
	uint32_t start = loupe_trace_subprog_start(trace, subprogno), end = end_of(view, subprogno);
	uint32_t depth = view->result->stack_depth[subprogno], bytes;
	struct call_row *row;

	if (view->cnt == view->cap || frame >= LOUPE_MAX_FRAMES) {
		view->cut |= view->cnt == view->cap;
		return;
	}
	bytes = view->result->subprog_flags[subprogno] & LOUPE_SUBPROG_OWN_STACK ?
			0 :
			(depth + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
	row = &view->rows[view->cnt++];
	*row = (struct call_row){ .subprogno = subprogno, .frame = frame, .callsite = callsite,
				  .sites = sites, .bytes = bytes, .sum = above + bytes };
	if (row->sum > view->rows[view->deepest].sum)
		view->deepest = view->cnt - 1;
	above = row->sum;
	row->folded = view->folds && is_listed(view, row);
	for (uint32_t i = start; i < end && !row->folded; i++) {
		int64_t callee = callee_of(view, i);

		/* only the first call of each */
		if (callee >= 0 && !calls_between(view, start, i, (uint32_t)callee))
			add_calls(view, (uint32_t)callee, frame + 1, (int32_t)i,
				  calls_between(view, i, end, (uint32_t)callee), above);
	}
}

static bool passes(const struct calls_view *view, const struct call_row *row)
{
	if (row->sum > LOUPE_MAX_STACK)
		return true;
	if (view->result->subprog_flags[row->subprogno] & LOUPE_SUBPROG_OWN_STACK &&
	    view->result->stack_depth[row->subprogno] > LOUPE_MAX_STACK)
		return true;
	return row->frame &&
	       view->result->subprog_flags[row->subprogno] & LOUPE_SUBPROG_TAIL_CALL &&
	       row->sum - row->bytes >= MAX_BEFORE_TAIL_CALL;
}

/* The first row that passes a limit: callbacks that run later are looked at before main, last
 * first. */
static void mark_chain(struct calls_view *view)
{
	int64_t over = -1;
	uint32_t frame;

	for (uint32_t end = view->cnt; end && over < 0;) {
		uint32_t root = end - 1;

		while (view->rows[root].frame)
			root--;
		for (uint32_t i = root; i < end && over < 0; i++) {
			if (passes(view, &view->rows[i]))
				over = i;
		}
		end = root;
	}
	if (over < 0)
		return;
	view->rows[over].over = true;
	view->scroll.cursor = over;
	frame = view->rows[over].frame + 1;
	for (int64_t i = over; i >= 0 && frame; i--) {
		if (view->rows[i].frame + 1 != frame)
			continue;
		view->rows[i].chain = true;
		frame--;
	}
}

/* ---- words -------------------------------------------------------------------------------- */

static void name_of(const struct calls_view *view, uint32_t subprogno, char *buf, size_t size)
{
	const struct loupe_source *source = view->listing.source;
	uint32_t start = loupe_trace_subprog_start(view->view.subject->trace, subprogno);
	const char *name = source ? loupe_source_func_of(source, start) : NULL;

	if (name)
		snprintf(buf, size, "%s", name);
	else if (subprogno)
		snprintf(buf, size, "function at insn %u", start);
	else
		snprintf(buf, size, "main");
}

static bool calls_any(const struct calls_view *view, uint32_t subprogno)
{
	for (uint32_t i = loupe_trace_subprog_start(view->view.subject->trace, subprogno);
	     i < end_of(view, subprogno); i++) {
		if (callee_of(view, i) >= 0)
			return true;
	}
	return false;
}

static void remark_of(const struct calls_view *view, const struct call_row *row, char *buf,
		      size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	if (row->callsite >= 0)
		len = (size_t)snprintf(buf, size, "called at insn %d", row->callsite);
	if (row->sites > 1 && len < size)
		len += (size_t)snprintf(buf + len, size - len, " and %u more", row->sites - 1);
	if (row->callsite < 0 && row->subprogno)
		len = (size_t)snprintf(buf, size, "runs later, on a stack of its own");
	if (!row->bytes && view->result->subprog_flags[row->subprogno] & LOUPE_SUBPROG_OWN_STACK &&
	    len < size)
		len += (size_t)snprintf(buf + len, size - len, ", %u bytes on a stack of its own",
					view->result->stack_depth[row->subprogno]);
	if (row->folded && calls_any(view, row->subprogno) && len < size)
		len += (size_t)snprintf(buf + len, size - len, ", calls as above");
	if (row->over && len < size)
		snprintf(buf + len, size - len, "  ✗ here");
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { BYTES_W = 8, SUM_W = 8, SHARE_W = 7, FOOT_H = 2 };

static int bar_w(int w)
{
	return w >= 120 ? 32 : w >= 70 ? 16 : 0;
}

/* Bytes of this frame within those above it and what is left of the limit. */
static void draw_bar(const struct call_row *row, struct screen *screen, int x, int y, int w)
{
	int before = (int)((row->sum - row->bytes) * (uint32_t)w / LOUPE_MAX_STACK);
	int after = (int)((row->sum * (uint32_t)w + LOUPE_MAX_STACK - 1) / LOUPE_MAX_STACK);

	for (int i = 0; i < w; i++)
		screen_put(screen, x + i, y,
			   i < before			       ? UI_DIM :
			   i >= after			       ? UI_FRAME :
			   row->sum > LOUPE_MAX_STACK	       ? UI_MISS :
								 UI_PROGRESS,
			   i < before ? 0x2592 : i < after ? 0x2588 : 0x2591);
}

static void draw_row(const struct calls_view *view, const struct call_row *row,
		     struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char name[128], remark[200];
	int bar = bar_w(at.w), indent = (int)row->frame * 2;

	pen_printf(&pen, UI_STRONG, "%*u", BYTES_W, row->bytes);
	pen_printf(&pen, UI_DIM, "%*.1f%%", SHARE_W - 1,
		   (double)row->bytes * 100 / LOUPE_MAX_STACK);
	pen_printf(&pen, row->sum > LOUPE_MAX_STACK ? UI_MISS : UI_TEXT, "%*u", SUM_W, row->sum);
	if (bar) {
		draw_bar(row, screen, pen.x + 1, at.y, bar);
		pen.x += bar + 1;
	}
	pen.x += 1 + indent;
	name_of(view, row->subprogno, name, sizeof(name));
	remark_of(view, row, remark, sizeof(remark));
	pen_text(&pen, UI_FRAME, row->frame ? "└ " : "");
	pen_printf(&pen, row->over ? UI_ERROR : row->chain ? UI_STRONG : UI_TEXT, "%s  ", name);
	pen_text(&pen, row->over ? UI_ERROR : UI_DIM, remark);
}

static void draw_foot(const struct calls_view *view, struct screen *screen, struct rect at)
{
	const struct call_row *deepest = &view->rows[view->deepest];
	char text[600], name[128];

	name_of(view, deepest->subprogno, name, sizeof(name));
	snprintf(
		text, sizeof(text),
		"The deepest chain of calls ends in %s: %u of %d bytes. Frames are counted in steps of %d.",
		name, deepest->sum, LOUPE_MAX_STACK, FRAME_ALIGN);
	if (view->cut)
		strcat(text, " There are more ways down than are shown.");
	wrap_text(screen, (struct rect){ at.x + 1, at.y, at.w - 2, at.h }, 0, UI_NOTICE, text);
}

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct calls_view *view = (struct calls_view *)base;
	int foot = area.h >= 12 ? FOOT_H : 0, h = area.h - 2 - foot;
	struct pen head = pen_at(screen, area.x, area.y, area.w);

	if (!view->cnt) {
		screen_text(screen, area.x + 2, area.y + area.h / 2, area.w - 4, UI_NOTICE,
			    "Verification ended before functions were found.");
		return;
	}
	pen_printf(&head, UI_HEADING, "%*s%*s%*s", BYTES_W, "bytes", SHARE_W, "share", SUM_W,
		   "sum");
	pen_to(&head, head.x + bar_w(area.w) + (bar_w(area.w) ? 2 : 1));
	pen_printf(&head, UI_HEADING, "function, of %d bytes for a chain of calls",
		   LOUPE_MAX_STACK);
	view->h = h;
	scroll_fit(&view->scroll, view->cnt, h);
	for (int i = 0; i < h && view->scroll.top + i < view->cnt; i++) {
		struct rect at = { area.x, area.y + 1 + i, area.w - 1, 1 };

		draw_row(view, &view->rows[view->scroll.top + i], screen, at);
		if (view->scroll.top + i == view->scroll.cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		if (*tui_pattern(base->tui))
			mark_matches(screen, at.x, at.y, at.w, tui_pattern(base->tui));
	}
	pane_more(screen, (struct rect){ area.x, area.y + 1, area.w - 1, h }, view->scroll.top,
		  view->cnt);
	screen_hline(screen, area.x, area.y + 1 + h, area.w, UI_FRAME);
	if (foot)
		draw_foot(view, screen, (struct rect){ area.x, area.y + 2 + h, area.w, foot });
}

/* ---- going about, text -------------------------------------------------------------------- */

static bool request(struct view *base, enum request request)
{
	struct calls_view *view = (struct calls_view *)base;
	const struct call_row *row = view->cnt ? &view->rows[view->scroll.cursor] : NULL;

	if (request == REQ_ENTER && row) {
		tui_set_place(base->tui,
			      (struct place){ LOUPE_NO_STEP,
					      (int32_t)loupe_trace_subprog_start(
						      base->subject->trace, row->subprogno) });
		tui_show(base->tui, VIEW_WALK);
		return true;
	}
	return scroll_request(&view->scroll, request, view->cnt, view->h);
}

static void row_text(const struct calls_view *view, const struct call_row *row, char *buf,
		     size_t size)
{
	char name[128], remark[200];

	name_of(view, row->subprogno, name, sizeof(name));
	remark_of(view, row, remark, sizeof(remark));
	snprintf(buf, size, "%6u %6u  %*s%s  %s", row->bytes, row->sum, (int)row->frame * 2, "",
		 name, remark);
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct calls_view *view = (struct calls_view *)base;
	char line[400];

	for (int64_t i = 1; i <= view->cnt; i++) {
		int64_t n = (view->scroll.cursor + (forward ? i : view->cnt - i)) % view->cnt;

		row_text(view, &view->rows[n], line, sizeof(line));
		if (text_matches(line, text)) {
			scroll_to(&view->scroll, n, view->cnt, view->h);
			return true;
		}
	}
	return false;
}

static int export(struct view *base, FILE *out)
{
	struct calls_view *view = (struct calls_view *)base;
	char line[400];

	for (uint32_t i = 0; i < view->cnt; i++) {
		row_text(view, &view->rows[i], line, sizeof(line));
		fprintf(out, "%s\n", line);
	}
	return 0;
}

static int list_rows(struct calls_view *view, uint32_t cap)
{
	const struct loupe_trace *trace = view->view.subject->trace;

	free(view->rows);
	view->rows = calloc(cap, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	view->cap = cap;
	view->cnt = view->deepest = 0;
	view->cut = false;
	for (uint32_t i = 0; i < view->result->subprog_cnt && i < loupe_trace_subprog_cnt(trace);
	     i++) {
		if (!i || view->result->subprog_flags[i] & LOUPE_SUBPROG_LATER)
			add_calls(view, i, 0, -1, 0, 0);
	}
	return 0;
}

static int open_calls(struct view *base)
{
	struct calls_view *view = (struct calls_view *)base;
	const struct loupe_trace *trace = base->subject->trace;
	int rc = listing_init(&view->listing, loupe_trace_insns(trace), loupe_trace_insn_cnt(trace),
			      base->subject->source);

	if (rc)
		return rc;
	view->h = 10;
	view->result = &base->subject->result;
	rc = list_rows(view, MANY_ROWS);
	if (!rc && view->cut) {
		view->folds = true;
		rc = list_rows(view, MAX_ROWS);
	}
	if (!rc)
		mark_chain(view);
	return rc;
}

static void close_calls(struct view *base)
{
	struct calls_view *view = (struct calls_view *)base;

	listing_finish(&view->listing);
	free(view->rows);
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "walk there" },
	{ REQ_SEARCH, REQ_NONE, "search" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"bytes: of the function's frame, rounded up as they count in the sum",
	"sum: with the frames of the functions above it; more than 512 are refused",
	"a stack of its own: functions of tracing programs may have one; they do not add to the sum",
	"runs later: a timer's or workqueue's callback, whose chain of calls is counted apart",
	NULL,
};

const struct view_ops view_calls = {
	.name = "calls",
	.about = "who calls whom, and what the frames take of the stack",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct calls_view),
	.hints = hints,
	.open = open_calls,
	.close = close_calls,
	.draw = draw,
	.request = request,
	.search = search,
	.export = export,
	.terms = terms,
};
