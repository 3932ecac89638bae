// SPDX-License-Identifier: GPL-2.0-only
/* Rules: the policy beside the filter before and after; which rule which instruction serves. */
#include "csv.h"
#include "panes.h"
#include "rules.h"
#include "view.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE, AFTER, LIST, PANES };

struct rules_view {
	struct view view;
	struct rules rules;
	struct scroll scroll[PANES]; /* instructions before, after; rows of the policy */
	int h[PANES];		     /* rows when drawn last */
	int focus;		     /* BEFORE, AFTER, LIST */
	int program;		     /* the one that is shown where only one fits */
	bool wide;		     /* both fit, when drawn last */
	uint32_t partner; /* of the selected instruction, in the other program; LOUPE_NONE */
	int shift;	  /* columns of the policy's text out of sight at the left */
	bool more;	  /* more room for the explanation */
};

static const struct loupe_filter *filter_of(const struct rules_view *view, int which)
{
	return which == BEFORE ? view->view.subject->filter : view->view.subject->optimized;
}

static uint32_t insn_at(const struct rules_view *view, int which)
{
	return (uint32_t)view->scroll[which].cursor;
}

/* Whether an instruction goes with what is selected in the pane that has the focus. */
static bool is_lit(const struct rules_view *view, int which, uint32_t insn)
{
	const struct rules *rules = &view->rules;

	if (view->focus == LIST)
		return rules->cnt &&
		       rules_serves(rules, (uint32_t)view->scroll[LIST].cursor, which, insn);
	return view->focus != which && view->partner == insn;
}

/* The same of a row of the policy. */
static bool is_row_lit(const struct rules_view *view, uint32_t row)
{
	return view->focus != LIST &&
	       rules_serves(&view->rules, row, view->focus, insn_at(view, view->focus));
}

/* ---- keeping together --------------------------------------------------------------------- */

/* First instruction of a program, from one on, that is lit; -1: none. */
static int64_t next_lit(const struct rules_view *view, int which, int64_t from, int by)
{
	for (int64_t i = from; i >= 0 && i < filter_of(view, which)->cnt; i += by) {
		if (is_lit(view, which, (uint32_t)i))
			return i;
	}
	return -1;
}

/* Brings into sight what goes with the selection. */
static void follow(struct rules_view *view)
{
	struct loupe_why *const *why = view->view.subject->why;

	view->partner = LOUPE_NONE;
	if (view->focus != LIST)
		view->partner = loupe_why_partner(why[view->focus], insn_at(view, view->focus),
						  why[!view->focus]);
	for (int which = BEFORE; which <= AFTER; which++) {
		int64_t lit;

		if (which == view->focus)
			continue;
		lit = view->partner == LOUPE_NONE ? -1 : (int64_t)view->partner;
		if (view->focus == LIST)
			lit = next_lit(view, which, 0, 1);
		if (lit >= 0)
			scroll_to(&view->scroll[which], lit, filter_of(view, which)->cnt,
				  view->h[which]);
	}
	if (view->focus != LIST) {
		int64_t row =
			rules_first_served(&view->rules, view->focus, insn_at(view, view->focus));

		if (row >= 0)
			scroll_to(&view->scroll[LIST], row, view->rules.cnt, view->h[LIST]);
		if (view->focus == BEFORE)
			tui_set_place(
				view->view.tui,
				(struct place){ LOUPE_NO_STEP, (int32_t)insn_at(view, BEFORE) });
	}
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* "61→50 6→4": instructions and loads before and after. */
static void share_text(const struct rules_row *row, char *buf, size_t size)
{
	const struct loupe_why_share *s = row->share;

	buf[0] = '\0';
	if (s[0].insns || s[1].insns)
		snprintf(buf, size, "%u→%u %u→%u", s[0].insns, s[1].insns, s[0].loads, s[1].loads);
}

static void draw_list_row(const struct rules_view *view, uint32_t n, struct screen *screen,
			  struct rect at)
{
	const struct rules_row *row = &view->rules.rows[n];
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	bool lit = is_row_lit(view, n);
	char text[1200], share[48];
	const char *shown = text;
	int columns;

	rules_text(&view->rules, n, text, sizeof(text));
	share_text(row, share, sizeof(share));
	columns = screen_columns(share);
	pen_text(&pen, UI_HIT, lit ? "●" : " ");
	if (row->kind == RULES_LINE)
		pen_printf(&pen, UI_NUMBER, "%4u ", row->line);
	else if (row->kind == RULES_RULE)
		pen_text(&pen, UI_DIM, "     ");
	pen.end -= columns ? columns + 1 : 0;
	if (row->rule_cnt > 1)
		pen_text(&pen, UI_KEY, row->open ? "▾" : "▸");
	for (int i = 0; i < view->shift && *shown; i++)
		screen_next_glyph(&shown);
	pen_text(&pen,
		 lit					     ? UI_STRONG
		 : row->kind == RULES_RULE		     ? UI_VALUE
		 : row->kind == RULES_LINE && !row->rule_cnt && !row->owner ? UI_DIM
							     : UI_TEXT,
		 shown);
	pen.end += columns ? columns + 1 : 0;
	pen_right(&pen, lit ? UI_HIT : UI_ARRIVAL, share);
}

static void draw_list(struct rules_view *view, struct screen *screen, struct rect outer)
{
	const struct input *input = view->view.subject->input;
	bool policy = view->rules.texts != NULL;
	struct scroll *scroll = &view->scroll[LIST];
	struct rect inner;
	char title[120];

	snprintf(title, sizeof(title), "%s",
		 policy ? input_base_name(input->policy->files[0]) : "calls");
	inner = pane_frame(screen, outer, title, view->focus == LIST);
	pane_note(screen, outer, UI_DIM, "insns, loads: before→after");
	view->h[LIST] = inner.h;
	scroll_fit(scroll, view->rules.cnt, inner.h);
	for (int i = 0; i < inner.h && scroll->top + i < view->rules.cnt; i++) {
		struct rect at = { inner.x, inner.y + i, inner.w, 1 };

		draw_list_row(view, (uint32_t)(scroll->top + i), screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at,
				      view->focus == LIST ? UI_GROUND_CURSOR : UI_GROUND_ROW);
		mark_matches(screen, at.x, at.y, at.w, tui_pattern(view->view.tui));
	}
	pane_more(screen, inner, scroll->top, view->rules.cnt);
}

/* Name of the call whose number an instruction asks for, NULL if it asks for none on some way. */
static const char *call_asked(const struct rules_view *view, int which, uint32_t insn)
{
	const struct loupe_why *why = view->view.subject->why[which];
	const struct loupe_filter *filter = filter_of(view, which);
	const struct loupe_cbpf_insn *code = &filter->insns[insn];
	uint32_t cnt, callers, c = 0;
	const struct loupe_arrival *arrivals = loupe_why_arrivals(why, insn, &cnt);
	const struct loupe_callers *all = loupe_why_callers(why, &callers);

	if (filter->flavour != LOUPE_FILTER_SECCOMP || code->code != (BPF_JMP | BPF_JEQ | BPF_K) ||
	    !cnt)
		return NULL;
	for (uint32_t i = 0; i < cnt; i++) {
		if (arrivals[i].a.kind != LOUPE_HOLD_WORD || filter->insns[arrivals[i].a.at].k)
			return NULL;
	}
	while (c < callers && !(arrivals->callers[c / 64] >> c % 64 & 1))
		c++;
	return c < callers ? loupe_syscall_name(all[c].arch, code->k) : NULL;
}

/* Puts the call's name where its number stands: "if A == ioctl goto 8 else 14". */
static void put_name(char *text, size_t size, const char *name)
{
	static const char before[] = "if A == ";
	char rest[80];
	const char *then = strstr(text, " goto ");

	if (strncmp(text, before, sizeof(before) - 1) || !then)
		return;
	snprintf(rest, sizeof(rest), "%s", then);
	snprintf(text, size, "%s%.60s%s", before, name, rest);
}

static void insn_line(const struct rules_view *view, int which, uint32_t insn, char *buf,
		      size_t size)
{
	const struct loupe_filter *filter = filter_of(view, which);
	const char *name = call_asked(view, which, insn);

	loupe_filter_insn_text(filter->flavour, filter->insns[insn], insn, LOUPE_SYNTAX_WORDS, buf,
			       size);
	if (name)
		put_name(buf, size, name);
}

static void draw_program(struct rules_view *view, int which, struct screen *screen,
			 struct rect outer)
{
	const struct loupe_filter *filter = filter_of(view, which);
	const struct subject *subject = view->view.subject;
	struct scroll *scroll = &view->scroll[which];
	int digits = snprintf(NULL, 0, "%u", filter->cnt - 1);
	struct rect inner;
	char text[200];

	snprintf(text, sizeof(text), "%s  %u insns", which == BEFORE ? "before" : "after",
		 filter->cnt);
	inner = pane_frame(screen, outer, text, view->focus == which);
	if (which == AFTER)
		pane_note(screen, outer, UI_NOTICE,
			  subject->proof.verdict == LOUPE_PROOF_PROVEN ? "proven equivalent"
								       : "tested");
	view->h[which] = inner.h;
	scroll_fit(scroll, filter->cnt, inner.h);
	for (int i = 0; i < inner.h && scroll->top + i < filter->cnt; i++) {
		uint32_t insn = (uint32_t)(scroll->top + i);
		struct rect at = { inner.x, inner.y + i, inner.w, 1 };
		struct pen pen = pen_at(screen, at.x, at.y, at.w);
		bool lit = is_lit(view, which, insn), here = scroll->top + i == scroll->cursor;

		insn_line(view, which, insn, text, sizeof(text));
		pen_text(&pen, UI_HIT, lit ? "●" : " ");
		pen_printf(&pen, UI_NUMBER, "%*u: ", digits, insn);
		pen_text(&pen, lit ? UI_STRONG : view->focus == which ? UI_TEXT : UI_DIM, text);
		if (here && view->focus == which)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		mark_matches(screen, at.x, at.y, at.w, tui_pattern(view->view.tui));
	}
	pane_more(screen, inner, scroll->top, filter->cnt);
}

/* Text line after line, each broken at blanks. */
static void draw_lines(struct screen *screen, struct rect at, const char *text)
{
	while (*text && at.h > 0) {
		size_t len = strcspn(text, "\n"), indent = strspn(text, " ");
		struct pen pen = pen_at(screen, at.x, at.y, at.w);
		char line[1000];
		const char *word = line;

		if (indent > len)
			indent = len;
		snprintf(line, sizeof(line), "%.*s", (int)(len - indent), text + indent);
		while (*word && at.h > 0) {
			size_t n = strcspn(word, " ") + strspn(word + strcspn(word, " "), " ");
			char one[256];

			snprintf(one, sizeof(one), "%.*s", (int)(n < 255 ? n : 255), word);
			if ((int)strcspn(one, " ") > pen_room(&pen) && pen.x > at.x) {
				at.y++;
				if (--at.h <= 0)
					return;
				pen = pen_at(screen, at.x + 4, at.y, at.w - 4);
			}
			pen_text(&pen,
				 !strncmp(line, "stays", 5) || !strncmp(line, "would", 5)
					 ? UI_NOTICE
					 : UI_TEXT,
				 pen_room(&pen) < screen_columns(one) ? strtok(one, " ") : one);
			word += n;
		}
		at.y++;
		at.h--;
		text += len + (text[len] == '\n');
	}
}

/* Loads of each word that serve a row, "args[1].lo 45→1". */
static void write_loads(const struct rules_view *view, uint32_t row, FILE *out)
{
	const char *before = "";

	for (uint32_t word = 0; word < LOUPE_WHY_WORDS; word++) {
		struct loupe_cbpf_insn load = { 0x20, 0, 0, 4 * word };
		uint32_t cnt[2] = { 0 };
		char text[32];

		for (int which = BEFORE; which <= AFTER; which++) {
			const struct loupe_filter *filter = filter_of(view, which);

			for (uint32_t i = 0; i < filter->cnt; i++)
				cnt[which] += filter->insns[i].code == load.code &&
					      filter->insns[i].k == load.k &&
					      rules_serves(&view->rules, row, which, i);
		}
		if (!cnt[0] && !cnt[1])
			continue;
		loupe_filter_read_text(loupe_filter_read_of(LOUPE_FILTER_SECCOMP, load), text,
				       sizeof(text));
		fprintf(out, "%s%s %u→%u", before, text, cnt[0], cnt[1]);
		before = ", ";
	}
	fprintf(out, "%s\n", *before ? "" : "none");
}

static void write_row(const struct rules_view *view, FILE *out)
{
	uint32_t n = (uint32_t)view->scroll[LIST].cursor;
	const struct rules_row *row = &view->rules.rows[n];

	if (row->kind == RULES_FILE || (row->kind == RULES_LINE && !row->rule_cnt && !row->owner)) {
		fprintf(out, "No rule is written here.\n");
		return;
	}
	if (row->owner)
		fprintf(out, "Part of what line %u says.\n", row->owner);
	if (row->owner && row->nr < 0)
		return;
	if (row->kind == RULES_LINE && row->rule_cnt)
		fprintf(out, "%u rule%s; ", row->rule_cnt, row->rule_cnt == 1 ? "" : "s");
	fprintf(out, "%s: %u instructions before, %u after; %u loads before, %u after\n",
		row->kind == RULES_CALL ? "may run" : "served by", row->share[0].insns,
		row->share[1].insns, row->share[0].loads, row->share[1].loads);
	if (view->view.subject->filter->flavour == LOUPE_FILTER_SECCOMP) {
		fprintf(out, "loads: ");
		write_loads(view, n, out);
	}
	if (row->kind == RULES_LINE && row->rule_cnt > 1 && !row->open)
		fprintf(out, "Enter shows its rules one by one.\n");
}

static void draw_foot(struct rules_view *view, struct screen *screen, struct rect outer)
{
	const struct loupe_why_select select = { .level = view->view.subject->level };
	int which = view->focus;
	char title[120], line[200], *text = NULL;
	struct rect inner;
	size_t len = 0;

	if (which == LIST) {
		FILE *out = open_memstream(&text, &len);

		rules_text(&view->rules, (uint32_t)view->scroll[LIST].cursor, line, sizeof(line));
		snprintf(title, sizeof(title), "%.60s", line + strspn(line, " "));
		if (out) {
			write_row(view, out);
			fclose(out);
		}
	} else {
		loupe_filter_insn_words(filter_of(view, which)->flavour,
					filter_of(view, which)->insns[insn_at(view, which)], line,
					sizeof(line));
		snprintf(title, sizeof(title), "%u: %.90s", insn_at(view, which), line);
		loupe_why_insn_text(view->view.subject->why[which], insn_at(view, which),
				    LOUPE_NONE, &select, &text, &len);
	}
	inner = pane_frame(screen, outer, title, false);
	inner.x++;
	inner.w -= 2;
	if (text)
		draw_lines(screen, inner, which == LIST ? text : text + strcspn(text, "\n") + 1);
	free(text);
}

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct rules_view *view = (struct rules_view *)base;
	int foot = view->more ? area.h * 2 / 3 : area.h < 16 ? 4 : area.h < 30 ? 7 : 12;
	struct rect top = { area.x, area.y, area.w, area.h - foot + 1 };
	int list;

	view->wide = area.w >= 120;
	list = view->wide ? area.w * 2 / 5 : area.w / 2;
	draw_list(view, screen, (struct rect){ top.x, top.y, list + 1, top.h });
	if (view->wide) {
		int each = (area.w - list) / 2;

		draw_program(view, BEFORE, screen,
			     (struct rect){ top.x + list, top.y, each + 1, top.h });
		draw_program(
			view, AFTER, screen,
			(struct rect){ top.x + list + each, top.y, area.w - list - each, top.h });
	} else {
		draw_program(view, view->program, screen,
			     (struct rect){ top.x + list, top.y, area.w - list, top.h });
	}
	draw_foot(view, screen, (struct rect){ area.x, area.y + area.h - foot, area.w, foot });
}

/* ---- going about -------------------------------------------------------------------------- */

static void set_focus(struct rules_view *view, int focus)
{
	view->focus = focus;
	if (focus != LIST)
		view->program = focus;
	follow(view);
}

static void enter(struct rules_view *view)
{
	uint32_t n = (uint32_t)view->scroll[LIST].cursor;

	if (view->focus != LIST) {
		/* the graph knows places of the filter before */
		if (view->focus == AFTER && view->partner != LOUPE_NONE)
			tui_set_place(view->view.tui,
				      (struct place){ LOUPE_NO_STEP, (int32_t)view->partner });
		tui_show(view->view.tui, VIEW_CFG);
	} else if (view->rules.rows[n].kind == RULES_LINE && view->rules.rows[n].rule_cnt) {
		if (rules_toggle(&view->rules, n))
			tui_say(view->view.tui, UI_ERROR, "out of memory");
	}
}

/* Goes to the next place in the other pane that goes with the selection. */
static void go_lit(struct rules_view *view, int by)
{
	int which = view->focus == LIST || view->focus == BEFORE ? AFTER : BEFORE;
	int64_t lit;

	if (view->focus == LIST && !view->wide)
		which = view->program;
	lit = next_lit(view, which, view->scroll[which].cursor + by, by);
	if (lit < 0)
		tui_say(view->view.tui, UI_NOTICE, "no more instructions go with this");
	else
		scroll_to(&view->scroll[which], lit, filter_of(view, which)->cnt, view->h[which]);
}

static bool request(struct view *base, enum request request)
{
	static const int next[PANES] = { [LIST] = AFTER, [AFTER] = BEFORE, [BEFORE] = LIST };
	static const int prev[PANES] = { [LIST] = BEFORE, [BEFORE] = AFTER, [AFTER] = LIST };
	struct rules_view *view = (struct rules_view *)base;
	int64_t cnt = view->focus == LIST ? view->rules.cnt : filter_of(view, view->focus)->cnt;

	switch (request) {
	case REQ_NEXT_PANE:
		set_focus(view, next[view->focus]);
		return true;
	case REQ_PREV_PANE:
		set_focus(view, prev[view->focus]);
		return true;
	case REQ_ENTER:
		enter(view);
		return true;
	case REQ_LIT_NEXT:
		go_lit(view, 1);
		return true;
	case REQ_LIT_PREV:
		go_lit(view, -1);
		return true;
	case REQ_MORE:
		view->more = !view->more;
		return true;
	case REQ_LEFT:
		view->shift = view->shift > 8 ? view->shift - 8 : 0;
		return true;
	case REQ_RIGHT:
		view->shift += 8;
		return true;
	default:
		if (!scroll_request(&view->scroll[view->focus], request, cnt, view->h[view->focus]))
			return false;
		follow(view);
		return true;
	}
}

static void row_as_text(const struct rules_view *view, int64_t n, char *buf, size_t size)
{
	if (view->focus == LIST)
		rules_text(&view->rules, (uint32_t)n, buf, size);
	else
		insn_line(view, view->focus, (uint32_t)n, buf, size);
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct rules_view *view = (struct rules_view *)base;
	int64_t cnt = view->focus == LIST ? view->rules.cnt : filter_of(view, view->focus)->cnt;
	struct scroll *scroll = &view->scroll[view->focus];
	char row[1200];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (scroll->cursor + (forward ? i : cnt - i)) % cnt;

		row_as_text(view, n, row, sizeof(row));
		if (!text_matches(row, text))
			continue;
		scroll_to(scroll, n, cnt, view->h[view->focus]);
		follow(view);
		return true;
	}
	return false;
}

static void select_place(struct view *base, struct place place)
{
	struct rules_view *view = (struct rules_view *)base;

	if (place.insn < 0 || (uint32_t)place.insn >= filter_of(view, BEFORE)->cnt)
		return;
	scroll_to(&view->scroll[BEFORE], place.insn, filter_of(view, BEFORE)->cnt, view->h[BEFORE]);
	if (view->focus == BEFORE)
		follow(view);
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int open_rules(struct view *base)
{
	struct rules_view *view = (struct rules_view *)base;
	int rc = rules_init(&view->rules, base->subject);

	view->focus = LIST;
	view->program = AFTER;
	view->h[LIST] = view->h[BEFORE] = view->h[AFTER] = 10;
	/* the first line that says something */
	for (uint32_t n = 0; !rc && n < view->rules.cnt; n++) {
		if (!view->rules.rows[n].share[0].insns)
			continue;
		view->scroll[LIST].cursor = n;
		break;
	}
	if (!rc)
		follow(view);
	return rc;
}

static void close_rules(struct view *base)
{
	rules_finish(&((struct rules_view *)base)->rules);
}

static int export(struct view *base, FILE *out)
{
	struct rules_view *view = (struct rules_view *)base;
	char text[1200];

	fprintf(out, "line,insns_before,insns_after,loads_before,loads_after,text\n");
	for (uint32_t n = 0; n < view->rules.cnt; n++) {
		const struct rules_row *row = &view->rules.rows[n];

		if (!row->share[0].insns && !row->share[1].insns)
			continue;
		rules_text(&view->rules, n, text, sizeof(text));
		fprintf(out, "%u,%u,%u,%u,%u,", row->line, row->share[0].insns,
			row->share[1].insns, row->share[0].loads, row->share[1].loads);
		csv_field(out, text);
		fputc('\n', out);
	}
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_NEXT_PANE, REQ_NONE, "pane" },
	{ REQ_ENTER, REQ_NONE, "rules, graph" },
	{ REQ_LIT_NEXT, REQ_LIT_PREV, "what goes with it" },
	{ REQ_MORE, REQ_NONE, "more" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"A == ioctl: the number of that call",
	"●: goes with what is selected: instructions that a line, rule or call is served by, and "
	"back",
	"61→50 6→4: instructions and loads that serve a line, before and after",
	"▸: the line stands for several rules; Enter shows them",
	"stays: why a load or a comparison could not go; would go: what would let it",
	"calls: what a filter without a policy is listed by; --policy FILE names one",
	NULL,
};

const struct view_ops view_rules = {
	.name = "rules",
	.title = "Rules",
	.about = "a filter's policy beside it: which instructions serve which rule, and why each "
		 "is there",
	.needs = VIEW_NEEDS_FILTER,
	.size = sizeof(struct rules_view),
	.hints = hints,
	.open = open_rules,
	.close = close_rules,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.terms = terms,
};
