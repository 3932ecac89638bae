// SPDX-License-Identifier: GPL-2.0-only
/* Tree: checkpoints and branches under each other, with what exploring each cost. */
#include "bpfloupe/tree.h"
#include "listing.h"
#include "panes.h"
#include "view.h"
#include "words.h"
#include "wrap.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

enum {
	CACHED = 128, /* words of what changes in turns */
	JUMPS = 32,   /* places to come back to */
};

struct tree_view {
	struct view view;
	const struct loupe_trace *trace;
	struct loupe_tree *tree;
	struct listing listing;
	struct loupe_cursor *first, *second, *last;
	struct scroll scroll;
	int h; /* rows when drawn last */
	bool all_open;
	uint32_t jumps[JUMPS]; /* steps from which a pruned leaf was followed */
	int jump_cnt;
	struct {
		enum loupe_tree_kind kind;
		uint32_t serial; /* 0: none */
		char text[400];
	} cache[CACHED];
};

static int64_t row_cnt(const struct tree_view *view)
{
	return loupe_tree_row_cnt(view->tree);
}

static const struct loupe_tree_row *row_here(const struct tree_view *view)
{
	return loupe_tree_row(view->tree, (uint32_t)view->scroll.cursor);
}

/* ---- what changes in each turn ------------------------------------------------------------ */

/* Values of one place in two or three states: whole, and in few words. */
struct values {
	char text[3][224], brief[3][64];
};

static void brief_scalar(const struct loupe_reg *reg, char *buf, size_t size)
{
	if (reg->umin == reg->umax)
		snprintf(buf, size, "%lld", (long long)reg->smin);
	else if (reg->smin >= 0)
		snprintf(buf, size, "%lld..%lld", (long long)reg->smin, (long long)reg->smax);
	else if (reg->umax < UINT64_MAX)
		snprintf(buf, size, "%llu..%llu", (unsigned long long)reg->umin,
			 (unsigned long long)reg->umax);
	else if (reg->smin > INT64_MIN || reg->smax < INT64_MAX)
		snprintf(buf, size, "%lld..%lld", (long long)reg->smin, (long long)reg->smax);
	else
		snprintf(buf, size, "any number");
}

static void reg_value(const struct tree_view *view, const struct loupe_state *state,
		      uint32_t frameno, uint32_t reg, struct values *values, int n)
{
	char *buf = values->text[n];
	size_t size = sizeof(values->text[n]);

	const struct loupe_frame *frame = frameno <= state->curframe ? state->frame[frameno] : NULL;

	buf[0] = '\0';
	values->brief[n][0] = '\0';
	if (!frame || frame->regs[reg].type == NOT_INIT)
		return;
	loupe_reg_print(buf, size, &frame->regs[reg], frameno, view->view.subject->names);
	/* a P for precise is no part of the value */
	if (buf[0] == 'P')
		memmove(buf, buf + 1, strlen(buf));
	if (frame->regs[reg].type == SCALAR_VALUE)
		brief_scalar(&frame->regs[reg], values->brief[n], sizeof(values->brief[n]));
	else
		snprintf(values->brief[n], sizeof(values->brief[n]), "%.60s", buf);
}

static void slot_value(const struct tree_view *view, const struct loupe_state *state,
		       uint32_t frameno, uint32_t spi, struct values *values, int n)
{
	const struct loupe_frame *frame = frameno <= state->curframe ? state->frame[frameno] : NULL;
	char text[256] = "";
	const char *value;

	if (frame && frame->stack && spi < frame->slot_cnt)
		loupe_slot_print(text, sizeof(text), frame, spi, view->view.subject->names);
	value = strchr(text, '=');
	value = value ? value + 1 : "";
	value += *value == 'P';
	snprintf(values->text[n], sizeof(values->text[n]), "%s", value);
	if (*value && frame->stack->slot[spi].type[0] == STACK_SPILL &&
	    frame->stack->slot[spi].spilled.type == SCALAR_VALUE)
		brief_scalar(&frame->stack->slot[spi].spilled, values->brief[n],
			     sizeof(values->brief[n]));
	else
		snprintf(values->brief[n], sizeof(values->brief[n]), "%.60s", value);
}

static const char *value_or_nothing(const char *text)
{
	return *text ? text : "nothing";
}

/* What changes, one place each. */
struct change_list {
	uint32_t cnt;
	bool more; /* than fit */
	struct change_text {
		char text[320];
	} at[24];
};

/* Adds "R6 1 → 2 … 91", if the first two differ. */
static void add_change(const struct values *values, struct loupe_loc loc, bool many,
		       struct change_list *list)
{
	char name[32], text[320];

	if (strcmp(values->text[0], values->text[1]) == 0)
		return;
	words_loc(&loc, false, name, sizeof(name));
	if (strcmp(values->brief[0], values->brief[1]) == 0)
		snprintf(text, sizeof(text), "%s in its bits or ties", name);
	else
		snprintf(text, sizeof(text), "%s %s → %s%s%s", name,
			 value_or_nothing(values->brief[0]), value_or_nothing(values->brief[1]),
			 many ? " … " : "", many ? value_or_nothing(values->brief[2]) : "");
	if (list->cnt == sizeof(list->at) / sizeof(list->at[0])) {
		list->more = true;
		return;
	}
	memcpy(list->at[list->cnt++].text, text, strlen(text) + 1);
}

/* A counter's few digits first. */
static int by_length(const void *left, const void *right)
{
	const struct change_text *a = left, *b = right;
	size_t x = strlen(a->text), y = strlen(b->text);

	return x != y ? (x < y ? -1 : 1) : strcmp(a->text, b->text);
}

static void list_words(struct change_list *list, char *buf, size_t size)
{
	size_t len = 0;

	qsort(list->at, list->cnt, sizeof(list->at[0]), by_length);
	for (uint32_t i = 0; i < list->cnt && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					list->at[i].text);
	if (list->more && len < size)
		snprintf(buf + len, size - len, " …");
}

static uint32_t born_of(const struct tree_view *view, uint32_t serial)
{
	struct loupe_checkpoint_info info;

	return loupe_trace_checkpoint(view->trace, serial, &info) ? LOUPE_NO_STEP : info.born;
}

/* Registers of a frame that will be read where it goes on. */
static uint32_t live_regs(const struct tree_view *view, const struct loupe_state *state,
			  uint32_t frameno, uint32_t insn)
{
	int32_t at =
		frameno == state->curframe ? (int32_t)insn : state->frame[frameno + 1]->callsite;
	const struct loupe_insn_facts *facts = loupe_trace_facts(view->trace, (uint32_t)at);

	return (facts ? facts->live_regs : UINT16_MAX) & ((1u << LOUPE_REG_FP) - 1);
}

static void make_changes(struct tree_view *view, const struct loupe_tree_row *row, char *buf,
			 size_t size)
{
	bool many = row->kind == LOUPE_TREE_LOOP && row->second_serial != row->last_serial;
	uint32_t second = row->kind == LOUPE_TREE_LOOP ? row->second_serial : row->last_serial;
	const struct loupe_state *states[3] = {
		loupe_cursor_seek(view->first, row->step),
		loupe_cursor_seek(view->second, born_of(view, second)),
		many ? loupe_cursor_seek(view->last, born_of(view, row->last_serial)) : NULL,
	};
	uint32_t insn = (uint32_t)loupe_trace_step_insn(view->trace, row->step);
	struct change_list list = { 0 };
	struct values values = { 0 };

	buf[0] = '\0';
	if (!states[0] || !states[1] || (many && !states[2]))
		return;
	for (uint32_t f = states[0]->curframe + 1; f-- > 0;) {
		uint32_t live = live_regs(view, states[0], f, insn);

		for (uint32_t i = 0; i < LOUPE_REG_FP; i++) {
			if (!(live >> i & 1))
				continue;
			for (int n = 0; n < (many ? 3 : 2); n++)
				reg_value(view, states[n], f, i, &values, n);
			add_change(&values,
				   (struct loupe_loc){ LOUPE_LOC_REG, (uint8_t)f, (uint8_t)i },
				   many, &list);
		}
		for (uint32_t i = 0; i < LOUPE_MAX_SLOTS; i++) {
			for (int n = 0; n < (many ? 3 : 2); n++)
				slot_value(view, states[n], f, i, &values, n);
			add_change(&values,
				   (struct loupe_loc){ LOUPE_LOC_SLOT, (uint8_t)f, (uint8_t)i },
				   many, &list);
		}
	}
	list_words(&list, buf, size);
	if (!*buf)
		snprintf(buf, size, "nothing that is read later");
}

static const char *changes(struct tree_view *view, const struct loupe_tree_row *row)
{
	size_t n = (row->serial * 2 + (row->kind == LOUPE_TREE_TURN)) % CACHED;

	if (view->cache[n].serial != row->serial || view->cache[n].kind != row->kind) {
		view->cache[n].serial = row->serial;
		view->cache[n].kind = row->kind;
		make_changes(view, row, view->cache[n].text, sizeof(view->cache[n].text));
	}
	return view->cache[n].text;
}

/* ---- words -------------------------------------------------------------------------------- */

static void root_words(const struct tree_view *view, const struct loupe_tree_row *row, char *buf,
		       size_t size)
{
	uint32_t insn = (uint32_t)loupe_trace_step_insn(view->trace, row->step);
	const struct loupe_source *source = view->listing.source;
	const char *name = source ? loupe_source_func_of(source, insn) : NULL;

	if (name)
		snprintf(buf, size, "%s", name);
	else if (row->step)
		snprintf(buf, size, "function at insn %u", insn);
	else
		snprintf(buf, size, "main");
}

/* How a path ended. */
static void end_words(const struct tree_view *view, const struct loupe_tree_row *row, char *buf,
		      size_t size)
{
	static const char *const words[] = {
		[LOUPE_END_NONE] = "", [LOUPE_END_PRUNED] = "pruned", [LOUPE_END_EXIT] = "exits",
		[LOUPE_END_REJECTED] = "rejected", [LOUPE_END_UNFINISHED] = "not finished",
		[LOUPE_END_OTHER] = "goes no further",
	};
	int32_t insn = loupe_trace_step_insn(view->trace, row->end_step);

	if (row->end == LOUPE_END_PRUNED && row->pruned_by)
		snprintf(buf, size, "pruned at insn %d by #%u", insn, row->pruned_by);
	else if (row->end_step == LOUPE_NO_STEP)
		snprintf(buf, size, "never explored");
	else
		snprintf(buf, size, "%s at insn %d", words[row->end], insn);
}

static enum ui_role end_role(enum loupe_tree_end end)
{
	return end == LOUPE_END_PRUNED	 ? UI_HIT :
	       end == LOUPE_END_REJECTED ? UI_ERROR :
	       end == LOUPE_END_EXIT	 ? UI_TEXT :
					   UI_DIM;
}

/* The side of a branch that hangs in the tree: "true, later". */
static void side_words(const struct tree_view *view, const struct loupe_tree_row *row, char *buf,
		       size_t size)
{
	uint32_t insn = (uint32_t)loupe_trace_step_insn(view->trace, row->step);
	struct loupe_push_info push;
	uint8_t code = view->listing.insns[insn].code;
	bool fell;

	buf[0] = '\0';
	if (loupe_trace_push(view->trace, row->push, &push))
		return;
	if ((code & 7) != BPF_JMP && (code & 7) != BPF_JMP32)
		snprintf(buf, size, push.speculative ? "speculative" : "other side");
	else if ((code & 0xf0) == BPF_CALL)
		snprintf(buf, size, push.async ? "the callback, which runs later" :
				    row->now_hangs ? "what comes first" :
						     "what comes later");
	else {
		fell = push.insn_idx == (int32_t)insn + 1;
		snprintf(buf, size, "%s side%s", fell != row->now_hangs ? "false" : "true",
			 push.speculative ? ", mispredicted" : "");
	}
}

static void point_words(const struct tree_view *view, const struct loupe_tree_row *row, char *buf,
			size_t size)
{
	struct loupe_checkpoint_info info;
	char step[NUMBER_TEXT];
	size_t len = 0;

	buf[0] = '\0';
	if (loupe_trace_checkpoint(view->trace, row->serial, &info))
		return;
	if (info.hits)
		len += (size_t)snprintf(buf, size, "pruned %u path%s  ", info.hits,
					plural(info.hits));
	if (info.misses + info.uncounted && len < size)
		len += (size_t)snprintf(buf + len, size - len, "missed %u",
					info.misses + info.uncounted);
	if (info.evicted != LOUPE_NO_STEP && len < size)
		snprintf(buf + len, size - len, "  ✂ evicted at step %s",
			 number_text(step, info.evicted));
}

static void turn_words(const struct loupe_tree_row *row, char *buf, size_t size)
{
	char from[NUMBER_TEXT], to[NUMBER_TEXT];

	number_text(from, row->turn);
	number_text(to, row->turn + row->turns - 1);
	if (row->turns > 1)
		snprintf(buf, size, "turns %s to %s", from, to);
	else
		snprintf(buf, size, "turn %s", from);
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { INSNS_W = 10, SHARE_W = 7 };

static void draw_words(struct tree_view *view, const struct loupe_tree_row *row, struct pen *pen)
{
	char text[400], number[NUMBER_TEXT];
	int32_t insn = loupe_trace_step_insn(view->trace, row->step);

	switch (row->kind) {
	case LOUPE_TREE_ROOT:
		root_words(view, row, text, sizeof(text));
		pen_text(pen, UI_HEADING, text);
		break;
	case LOUPE_TREE_CHECKPOINT:
		point_words(view, row, text, sizeof(text));
		pen_printf(pen, UI_CHECKPOINT, "● #%u", row->serial);
		pen_printf(pen, UI_TEXT, " insn %d  ", insn);
		pen_text(pen, strstr(text, "✂") ? UI_EVICTED : UI_DIM, text);
		break;
	case LOUPE_TREE_BRANCH:
		listing_condition(&view->listing, (uint32_t)insn, text, sizeof(text));
		pen_printf(pen, UI_NUMBER, "%d: ", insn);
		pen_text(pen, UI_TEXT, text);
		side_words(view, row, text, sizeof(text));
		pen_printf(pen,
			   !strncmp(text, "true", 4)  ? UI_TRUE :
			   !strncmp(text, "false", 5) ? UI_FALSE :
							UI_DIM,
			   "  %s ", text);
		if (row->end) {
			end_words(view, row, text, sizeof(text));
			pen_printf(pen, end_role(row->end), " %s", text);
		}
		break;
	case LOUPE_TREE_LOOP:
		pen_printf(pen, UI_NOTICE, "↻ loop at insn %d, %s turn%s  ", insn,
			   number_text(number, row->turns), plural(row->turns));
		pen_text(pen, UI_CHANGED, changes(view, row));
		break;
	case LOUPE_TREE_TURN:
		turn_words(row, text, sizeof(text));
		pen_printf(pen, UI_NOTICE, "%s  ", text);
		pen_text(pen, UI_CHANGED, changes(view, row));
		break;
	case LOUPE_TREE_LEAF:
		end_words(view, row, text, sizeof(text));
		pen_printf(pen, end_role(row->end), "%s %s",
			   row->end == LOUPE_END_REJECTED ? "✗" :
			   row->end == LOUPE_END_PRUNED	  ? "└" :
							    "■",
			   text);
		break;
	}
}

static int indent_of(const struct loupe_tree_row *row, int w)
{
	int indent = (int)(row->depth < 1000 ? row->depth : 1000) * 2;

	return indent < w / 2 ? indent : w / 2;
}

static void draw_row(struct tree_view *view, const struct loupe_tree_row *row,
		     struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char number[NUMBER_TEXT];
	double all = loupe_trace_step_cnt(view->trace);

	if (row->insns) {
		pen_printf(&pen, row->kind == LOUPE_TREE_CHECKPOINT ? UI_NUMBER : UI_STRONG, "%*s",
			   INSNS_W - 1, number_text(number, row->insns));
		pen_printf(&pen, UI_DIM, "%*.1f%%", SHARE_W - 1, (double)row->insns * 100 / all);
	}
	pen_to(&pen, at.x + INSNS_W + SHARE_W);
	for (int i = 0; i < indent_of(row, at.w) && i + 1 < pen_room(&pen); i += 2)
		screen_put(screen, pen.x + i, at.y, UI_FRAME, i ? 0x2502 : ' ');
	pen.x += indent_of(row, at.w);
	pen_text(&pen, UI_KEY, row->can_fold ? row->folded ? "▸ " : "▾ " : "  ");
	draw_words(view, row, &pen);
}

static const char *ended(enum loupe_tree_end end)
{
	return end == LOUPE_END_PRUNED || end == LOUPE_END_REJECTED ? "was " : "";
}

static void branch_sentence(struct tree_view *view, const struct loupe_tree_row *row,
			    const char *side, char *buf, size_t size)
{
	char number[NUMBER_TEXT], step[NUMBER_TEXT], end[80];

	number_text(number, row->insns);
	number_text(step, row->step);
	end_words(view, row, end, sizeof(end));
	if (!row->insns)
		snprintf(buf, size,
			 "At step %s two ways went on; this one (%s) was never explored.", step,
			 side);
	else if (row->end)
		snprintf(
			buf, size,
			"At step %s two ways went on. The one that hangs here (%s) was explored %s, for %s "
			"instruction%s: it %s%s.",
			step, side, row->now_hangs ? "at once" : "later", number,
			plural(row->insns), ended(row->end), end);
	else
		snprintf(
			buf, size,
			"At step %s two ways went on. The one that hangs here (%s) was explored %s and took "
			"%s instruction%s.",
			step, side, row->now_hangs ? "at once" : "later", number,
			plural(row->insns));
}

/* The selected row in sentences. */
static void row_sentence(struct tree_view *view, const struct loupe_tree_row *row, char *buf,
			 size_t size)
{
	char number[NUMBER_TEXT], step[NUMBER_TEXT], more[NUMBER_TEXT], text[400];
	struct loupe_checkpoint_info info;
	uint32_t insn = (uint32_t)loupe_trace_step_insn(view->trace, row->step);

	number_text(number, row->insns);
	number_text(step, row->step);
	buf[0] = '\0';
	switch (row->kind) {
	case LOUPE_TREE_ROOT:
		root_words(view, row, text, sizeof(text));
		snprintf(buf, size, "All that was explored of %s: %s instruction%s.", text, number,
			 plural(row->insns));
		break;
	case LOUPE_TREE_CHECKPOINT:
		if (loupe_trace_checkpoint(view->trace, row->serial, &info))
			break;
		snprintf(
			buf, size,
			"The state before insn %u, stored at step %s. Exploring on from it took %s "
			"instruction%s; it pruned %s path%s.",
			insn, step, number, plural(row->insns),
			info.hits ? number_text(more, info.hits) : "no", info.hits > 1 ? "s" : "");
		break;
	case LOUPE_TREE_BRANCH:
		side_words(view, row, text, sizeof(text));
		branch_sentence(view, row, text, buf, size);
		break;
	case LOUPE_TREE_LOOP:
		snprintf(buf, size,
			 "%s turn%s of a loop took %s instruction%s. From turn to turn: %s",
			 number_text(more, row->turns), plural(row->turns), number,
			 plural(row->insns), changes(view, row));
		break;
	case LOUPE_TREE_TURN:
		turn_words(row, text, sizeof(text));
		snprintf(buf, size, "%s of the loop, %s instruction%s, from #%u to #%u: %s", text,
			 number, plural(row->insns), row->serial, row->last_serial,
			 changes(view, row));
		break;
	case LOUPE_TREE_LEAF:
		end_words(view, row, text, sizeof(text));
		snprintf(buf, size, "At step %s the path %s%s.", number_text(step, row->end_step),
			 ended(row->end), text);
		break;
	}
}

enum { SELECTED_H = 3 };

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct tree_view *view = (struct tree_view *)base;
	int selected = area.h >= 12 ? SELECTED_H : 0, h = area.h - 1 - selected;
	struct pen head = pen_at(screen, area.x, area.y, area.w);
	const struct loupe_tree_row *row;
	char text[900];

	if (!row_cnt(view)) {
		screen_text(screen, area.x + 2, area.y + area.h / 2, area.w - 4, UI_NOTICE,
			    "Nothing was explored: verification ended before.");
		return;
	}
	pen_printf(&head, UI_HEADING, "%*s%*s", INSNS_W - 1, "insns", SHARE_W, "share");
	pen_to(&head, area.x + INSNS_W + SHARE_W + 2);
	pen_text(&head, UI_HEADING, "checkpoints and branches, from the first step on");
	view->h = h;
	scroll_fit(&view->scroll, row_cnt(view), h);
	for (int i = 0; i < h && view->scroll.top + i < row_cnt(view); i++) {
		struct rect at = { area.x, area.y + 1 + i, area.w - 1, 1 };

		draw_row(view, loupe_tree_row(view->tree, (uint32_t)(view->scroll.top + i)), screen,
			 at);
		if (view->scroll.top + i == view->scroll.cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		if (*tui_pattern(base->tui))
			mark_matches(screen, at.x, at.y, at.w, tui_pattern(base->tui));
	}
	pane_more(screen, (struct rect){ area.x, area.y + 1, area.w - 1, h }, view->scroll.top,
		  row_cnt(view));
	row = row_here(view);
	if (!selected || !row)
		return;
	screen_hline(screen, area.x, area.y + 1 + h, area.w, UI_FRAME);
	row_sentence(view, row, text, sizeof(text));
	wrap_text(screen, (struct rect){ area.x + 1, area.y + 2 + h, area.w - 2, selected - 1 }, 0,
		  UI_TEXT, text);
}

/* ---- going about -------------------------------------------------------------------------- */

/* Step that a row stands for. */
static uint32_t step_of(const struct loupe_tree_row *row)
{
	return row->kind == LOUPE_TREE_LEAF ? row->end_step : row->step;
}

static void note_place(struct tree_view *view)
{
	const struct loupe_tree_row *row = row_here(view);

	if (row)
		tui_set_place(view->view.tui,
			      (struct place){ step_of(row),
					      loupe_trace_step_insn(view->trace, step_of(row)) });
}

static bool go_row(struct tree_view *view, uint32_t row)
{
	if (row == LOUPE_NO_TREE_ROW)
		return false;
	scroll_to(&view->scroll, row, row_cnt(view), view->h);
	note_place(view);
	return true;
}

static uint32_t find_step(struct tree_view *view, uint32_t step)
{
	struct loupe_step_info info;
	const uint32_t *serials;
	uint32_t cnt;

	if (loupe_trace_step(view->trace, step, &info))
		return LOUPE_NO_TREE_ROW;
	serials = loupe_trace_insn_checkpoints(view->trace, (uint32_t)info.insn_idx, &cnt);
	for (uint32_t i = 0; info.flags & LOUPE_STEP_CHECKPOINT && i < cnt; i++) {
		if (born_of(view, serials[i]) == step)
			return loupe_tree_find_checkpoint(view->tree, serials[i]);
	}
	return loupe_tree_find_step(view->tree, step);
}

static void fold(struct tree_view *view, bool folded)
{
	if (loupe_tree_fold(view->tree, (uint32_t)view->scroll.cursor, folded))
		tui_say(view->view.tui, UI_ERROR, "out of memory");
}

static void fold_all(struct tree_view *view)
{
	const struct loupe_tree_row *row = row_here(view);
	uint32_t step = row ? step_of(row) : 0;

	view->all_open = !view->all_open;
	if (loupe_tree_fold_all(view->tree, !view->all_open)) {
		tui_say(view->view.tui, UI_ERROR, "out of memory");
		return;
	}
	/* what was selected stays in sight, or else what hides it now */
	if (view->all_open)
		go_row(view, find_step(view, step));
	else
		go_row(view, 0);
}

/* To the checkpoint that pruned a path. */
static void follow(struct tree_view *view, const struct loupe_tree_row *row)
{
	uint32_t from = row->end_step, by = row->pruned_by;
	char number[NUMBER_TEXT];

	if (view->jump_cnt == JUMPS)
		memmove(view->jumps, view->jumps + 1, sizeof(view->jumps) - sizeof(view->jumps[0])),
			view->jump_cnt--;
	view->jumps[view->jump_cnt++] = from;
	if (go_row(view, loupe_tree_find_checkpoint(view->tree, by)))
		tui_say(view->view.tui, UI_NOTICE,
			"#%u pruned the path that ended at step %s; Esc goes back there", by,
			number_text(number, from));
}

static void enter(struct tree_view *view)
{
	const struct loupe_tree_row *row = row_here(view);

	if (!row)
		return;
	if (row->end == LOUPE_END_PRUNED && row->pruned_by)
		follow(view, row);
	else if (row->can_fold)
		fold(view, !row->folded);
	else
		tui_show(view->view.tui, VIEW_WALK);
}

static void go_parent(struct tree_view *view)
{
	if (!go_row(view, loupe_tree_parent(view->tree, (uint32_t)view->scroll.cursor)))
		tui_say(view->view.tui, UI_NOTICE, "this is where it begins");
}

static void find(struct tree_view *view, uint32_t flags, bool forward, const char *what)
{
	const struct loupe_tree_row *row = row_here(view);
	uint32_t step = row ? (row->end_step != LOUPE_NO_STEP ? row->end_step : row->step) : 0;

	step = !forward && !step ? LOUPE_NO_STEP :
				   loupe_trace_find_step(view->trace, forward ? step + 1 : step - 1,
							 forward, flags);
	if (step == LOUPE_NO_STEP || !go_row(view, loupe_tree_find_step(view->tree, step)))
		tui_say(view->view.tui, UI_NOTICE, "%s %s this", what,
			forward ? "after" : "before");
}

static bool tree_request(struct tree_view *view, const struct loupe_tree_row *row,
			 enum request request)
{
	switch (request) {
	case REQ_ENTER:
		enter(view);
		return true;
	case REQ_FOLD:
		fold(view, !row->folded);
		return true;
	case REQ_FOLD_ALL:
		fold_all(view);
		return true;
	case REQ_RIGHT:
		fold(view, false);
		return true;
	case REQ_LEFT:
		if (row->can_fold && !row->folded && row->kind != LOUPE_TREE_ROOT &&
		    row->kind != LOUPE_TREE_CHECKPOINT)
			fold(view, true);
		else
			go_parent(view);
		return true;
	case REQ_PATH_BACK:
		go_parent(view);
		return true;
	case REQ_HIT_NEXT:
	case REQ_HIT_PREV:
		find(view, LOUPE_STEP_PRUNED, request == REQ_HIT_NEXT, "no path is pruned");
		return true;
	case REQ_ERROR:
		if (!go_row(view,
			    loupe_tree_find_step(view->tree, loupe_trace_error_step(view->trace))))
			tui_say(view->view.tui, UI_NOTICE, "no step was rejected");
		return true;
	case REQ_BACK:
		return view->jump_cnt &&
		       go_row(view,
			      loupe_tree_find_step(view->tree, view->jumps[--view->jump_cnt]));
	default:
		return false;
	}
}

static bool request(struct view *base, enum request request)
{
	struct tree_view *view = (struct tree_view *)base;
	const struct loupe_tree_row *row = row_here(view);

	if (row && tree_request(view, row, request))
		return true;
	if (!scroll_request(&view->scroll, request, row_cnt(view), view->h))
		return false;
	note_place(view);
	return true;
}

static void select_place(struct view *base, struct place place)
{
	struct tree_view *view = (struct tree_view *)base;
	const struct loupe_tree_row *row = row_here(view);
	const uint32_t *visits;
	uint32_t cnt;

	if (place.step == LOUPE_NO_STEP && place.insn >= 0) {
		visits = loupe_trace_visits(view->trace, (uint32_t)place.insn, &cnt);
		if (!cnt) {
			tui_say(base->tui, UI_NOTICE, "insn %d was never reached", place.insn);
			return;
		}
		place.step = visits[0];
	}
	/* the beginning is no particular place, and the selected row may stand for the step
	 * already */
	if (place.step == 0 || (row && (step_of(row) == place.step || row->end_step == place.step)))
		return;
	go_row(view, find_step(view, place.step));
}

static void row_text(struct tree_view *view, const struct loupe_tree_row *row, char *buf,
		     size_t size)
{
	enum { W = 300 };
	struct screen *screen = screen_create(W, 1);
	size_t len = 0;

	buf[0] = '\0';
	if (!screen)
		return;
	draw_row(view, row, screen, (struct rect){ 0, 0, W, 1 });
	for (int x = 0; x < W && len + 5 < size; x++) {
		uint32_t glyph = screen_cell(screen, x, 0)->glyph;

		if (!glyph)
			glyph = ' ';
		if (glyph < 0x80) {
			buf[len++] = (char)glyph;
		} else if (glyph < 0x800) {
			buf[len++] = (char)(0xc0 | glyph >> 6);
			buf[len++] = (char)(0x80 | (glyph & 63));
		} else {
			buf[len++] = (char)(0xe0 | glyph >> 12);
			buf[len++] = (char)(0x80 | (glyph >> 6 & 63));
			buf[len++] = (char)(0x80 | (glyph & 63));
		}
	}
	while (len && buf[len - 1] == ' ')
		len--;
	buf[len] = '\0';
	screen_destroy(screen);
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct tree_view *view = (struct tree_view *)base;
	int64_t cnt = row_cnt(view);
	char line[1000];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (view->scroll.cursor + (forward ? i : cnt - i)) % cnt;

		row_text(view, loupe_tree_row(view->tree, (uint32_t)n), line, sizeof(line));
		if (text_matches(line, text))
			return go_row(view, (uint32_t)n);
	}
	return false;
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int open_tree(struct view *base)
{
	struct tree_view *view = (struct tree_view *)base;
	const struct subject *subject = base->subject;

	view->trace = subject->trace;
	view->h = 10;
	view->tree = loupe_tree_create(view->trace);
	view->first = loupe_cursor_create(view->trace);
	view->second = loupe_cursor_create(view->trace);
	view->last = loupe_cursor_create(view->trace);
	if (!view->tree || !view->first || !view->second || !view->last)
		return -ENOMEM;
	return listing_init(&view->listing, loupe_trace_insns(view->trace),
			    loupe_trace_insn_cnt(view->trace), subject->source);
}

static void close_tree(struct view *base)
{
	struct tree_view *view = (struct tree_view *)base;

	loupe_cursor_destroy(view->first);
	loupe_cursor_destroy(view->second);
	loupe_cursor_destroy(view->last);
	loupe_tree_destroy(view->tree);
	listing_finish(&view->listing);
}

static int export(struct view *base, FILE *out)
{
	struct tree_view *view = (struct tree_view *)base;
	char line[1000];

	for (uint32_t i = 0; i < loupe_tree_row_cnt(view->tree); i++) {
		row_text(view, loupe_tree_row(view->tree, i), line, sizeof(line));
		fprintf(out, "%s\n", line);
	}
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "unfold, or go to what pruned it" },
	{ REQ_FOLD_ALL, REQ_NONE, "all" },
	{ REQ_HIT_NEXT, REQ_HIT_PREV, "pruned" },
	{ REQ_PATH_BACK, REQ_NONE, "parent" },
	{ REQ_FOLD, REQ_NONE, "fold" },
	{ REQ_VIEW_WALK, REQ_NONE, "walk here" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"insns: of a checkpoint, what exploring on from it took; of a branch, what its side took",
	"branch: the side that took less hangs at it; the rows below go on along the other one",
	"true, false: the side of the condition that hangs there",
	"pruned by #17: that checkpoint covers the path's last state; Enter goes there",
	"loop: the same insn on the same call chain again; its first, second and last value are shown",
	"turns 3 to 12: inside loops a checkpoint is not stored in every turn",
	NULL,
};

const struct view_ops view_tree = {
	.name = "tree",
	.title = "Tree",
	.about = "the exploration as a tree: checkpoints, branches, loops, what each took",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct tree_view),
	.hints = hints,
	.open = open_tree,
	.close = close_tree,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.terms = terms,
};
