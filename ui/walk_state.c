// SPDX-License-Identifier: GPL-2.0-only
/* The state before the present step: what just happened, frames, registers, stack slots. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct walk_row *add_row(struct walk_view *walk, enum walk_row_kind kind)
{
	struct walk_row *row;

	if (walk->row_cnt == walk->row_cap) {
		uint32_t cap = walk->row_cap ? walk->row_cap * 2 : 64;
		struct walk_row *rows = realloc(walk->rows, cap * sizeof(*rows));

		if (!rows)
			return NULL;
		walk->rows = rows;
		walk->row_cap = cap;
	}
	row = &walk->rows[walk->row_cnt++];
	*row = (struct walk_row){ .kind = kind, .change = -1, .goes = LOUPE_NO_STEP };
	return row;
}

static void LOUPE_PRINTF(4, 5)
	add_news(struct walk_view *walk, enum ui_role role, uint32_t goes, const char *fmt, ...)
{
	struct walk_row *row = add_row(walk, WALK_ROW_NEWS);
	va_list args;

	if (!row)
		return;
	row->role = role;
	row->goes = goes;
	va_start(args, fmt);
	vsnprintf(row->text, sizeof(row->text), fmt, args);
	va_end(args);
}

/* How the exploration came here. */
static void add_arrival(struct walk_view *walk)
{
	const struct loupe_step_info *info = &walk->info;
	struct loupe_path_info path;
	char insn[200], number[NUMBER_TEXT];
	const char *func;

	if (info->prev == LOUPE_NO_STEP) {
		func = walk->listing.source ? loupe_source_func_of(walk->listing.source,
								   (uint32_t)info->insn_idx)
					    : NULL;
		add_news(walk, UI_DIM, LOUPE_NO_STEP, "exploration of %s begins",
			 func ? func : "the function");
		return;
	}
	listing_insn_text(&walk->listing, (uint32_t)loupe_trace_step_insn(walk->trace, info->prev),
			  false, insn, sizeof(insn));
	if ((info->flags & LOUPE_STEP_PATH_START) &&
	    loupe_trace_path(walk->trace, info->path, &path) == 0)
		add_news(walk, UI_NOTICE, info->prev,
			 "a new path: the side of %d: %s that step %s left",
			 loupe_trace_step_insn(walk->trace, info->prev), insn,
			 number_text(number, info->prev));
	else
		add_news(walk, UI_DIM, info->prev, "after %d: %s",
			 loupe_trace_step_insn(walk->trace, info->prev), insn);
}

static void add_branches(struct walk_view *walk)
{
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_PUSH, walk->info.step);
	struct loupe_push_info push;
	char number[NUMBER_TEXT];

	for (; loupe_trace_push(walk->trace, row, &push) == 0 && push.step == walk->info.step;
	     row++) {
		struct loupe_path_info path;
		bool popped = loupe_trace_path(walk->trace, push.path, &path) == 0;

		if (popped)
			add_news(walk, UI_NOTICE, path.first, "leaves insn %d for later: step %s",
				 push.insn_idx, number_text(number, path.first));
		else
			add_news(walk, UI_NOTICE, LOUPE_NO_STEP,
				 "leaves insn %d for later, never explored", push.insn_idx);
	}
}

static void add_evictions(struct walk_view *walk)
{
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_EVICT, walk->info.step);
	struct loupe_evict_info evict;

	for (; loupe_trace_evict(walk->trace, row, &evict) == 0 && evict.step == walk->info.step;
	     row++)
		add_news(walk, UI_EVICTED, LOUPE_NO_STEP,
			 "✂ evicts checkpoint #%u: %u misses, %u hits", evict.serial, evict.misses,
			 evict.hits);
}

static void add_walks(struct walk_view *walk)
{
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_WALK, walk->info.step);
	struct loupe_walk_info info;

	for (; loupe_trace_walk(walk->trace, row, &info) == 0 && info.step == walk->info.step;
	     row++) {
		char regs[64], slots[160];

		loupe_reg_mask_print(regs, sizeof(regs), info.want.regs);
		loupe_slot_mask_print(slots, sizeof(slots), info.want.stack);
		add_news(walk, UI_PRECISE, LOUPE_NO_STEP,
			 "%s %s%s%s: exact value matters, %u insn%s back%s",
			 info.propagated ? "carries over" : "needs", regs,
			 *regs && *slots ? " " : "", slots, info.hops, info.hops == 1 ? "" : "s",
			 info.mark_cnt ? "" : ", nothing to mark");
	}
}

/* The checkpoint that pruned the path here, 0 if none did. */
static uint32_t pruned_by(const struct walk_view *walk)
{
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_COMPARE, walk->info.step);
	struct loupe_compare_info compare;
	bool hit;

	for (; loupe_trace_compare(walk->trace, row, &compare) == 0 &&
	       compare.step == walk->info.step;
	     row++) {
		words_outcome(compare.outcome, &hit);
		if (hit)
			return compare.serial;
	}
	return 0;
}

/* The checkpoint that this step's state became. */
static uint32_t born_here(const struct walk_view *walk)
{
	uint32_t cnt;
	const uint32_t *serials =
		loupe_trace_insn_checkpoints(walk->trace, (uint32_t)walk->info.insn_idx, &cnt);
	struct loupe_checkpoint_info info;

	for (uint32_t i = cnt; i; i--) {
		if (loupe_trace_checkpoint(walk->trace, serials[i - 1], &info) == 0 &&
		    info.born == walk->info.step)
			return serials[i - 1];
	}
	return 0;
}

static void add_events(struct walk_view *walk)
{
	uint32_t flags = walk->info.flags;
	char insn[200];

	if (flags & LOUPE_STEP_ERROR)
		add_news(walk, UI_ERROR, LOUPE_NO_STEP, "✗ %s",
			 *walk->view.subject->error ? walk->view.subject->error : "rejected here");
	if (flags & LOUPE_STEP_PRUNED && !pruned_by(walk))
		add_news(walk, UI_HIT, LOUPE_NO_STEP,
			 "✓ pruned: a checkpoint covers this state, the path ends here");
	else if (flags & LOUPE_STEP_PRUNED)
		add_news(walk, UI_HIT, LOUPE_NO_STEP,
			 "✓ pruned: checkpoint #%u covers this state, the path ends here",
			 pruned_by(walk));
	if (flags & LOUPE_STEP_CHECKPOINT)
		add_news(walk, UI_CHECKPOINT, LOUPE_NO_STEP, "● stored as checkpoint #%u",
			 born_here(walk));
	if (flags & LOUPE_STEP_EVICT)
		add_evictions(walk);
	if (flags & LOUPE_STEP_WALK)
		add_walks(walk);
	if (flags & LOUPE_STEP_PUSH)
		add_branches(walk);
	if ((flags & (LOUPE_STEP_PATH_END | LOUPE_STEP_PRUNED | LOUPE_STEP_ERROR)) ==
	    LOUPE_STEP_PATH_END) {
		listing_insn_text(&walk->listing, (uint32_t)walk->info.insn_idx, false, insn,
				  sizeof(insn));
		add_news(walk, UI_DIM, LOUPE_NO_STEP, "%s ends this path", insn);
	}
}

static int32_t change_of(const struct walk_view *walk, struct loupe_loc loc)
{
	for (uint32_t i = 0; i < walk->change_cnt; i++) {
		const struct loupe_loc *other = &walk->changes[i].loc;

		if (other->kind == loc.kind && other->frameno == loc.frameno &&
		    other->index == loc.index)
			return (int32_t)i;
	}
	return -1;
}

static void add_loc(struct walk_view *walk, struct loupe_loc loc, const char *text)
{
	int32_t change = change_of(walk, loc);
	const char *now = *text ? text : "not written";
	struct walk_row *row;
	char old[256];

	/* a change that the notation does not show is none for a reader */
	if (change >= 0 && walk->changes[change].has_old) {
		words_value(&walk->changes[change].old_value, loc, walk->view.subject->names, old,
			    sizeof(old));
		if (strcmp(old, now) == 0)
			change = -1;
	}
	/* what holds nothing is only news when it held something before */
	if (!*text && (change < 0 || !walk->changes[change].has_old))
		return;
	row = add_row(walk, WALK_ROW_LOC);
	if (!row)
		return;
	row->loc = loc;
	row->change = change;
	snprintf(row->text, sizeof(row->text), "%s", now);
}

static void add_frame(struct walk_view *walk, uint32_t frameno)
{
	const struct loupe_frame *frame = walk->state->frame[frameno];
	struct loupe_names *names = walk->view.subject->names;
	struct walk_row *row = add_row(walk, WALK_ROW_FRAME);
	char text[256];

	if (!row)
		return;
	row->loc.frameno = (uint8_t)frameno;
	for (uint8_t i = 0; i < LOUPE_MAX_REG; i++) {
		struct loupe_loc loc = { LOUPE_LOC_REG, (uint8_t)frameno, i };

		loupe_reg_print(text, sizeof(text), &frame->regs[i], frameno, names);
		/* the frame pointer never changes */
		if (i != LOUPE_REG_FP)
			add_loc(walk, loc, text);
	}
	for (uint32_t i = 0; i < frame->slot_cnt && i < LOUPE_MAX_SLOTS; i++) {
		struct loupe_loc loc = { LOUPE_LOC_SLOT, (uint8_t)frameno, (uint8_t)i };
		const char *value;

		loupe_slot_print(text, sizeof(text), frame, i, names);
		value = strchr(text, '=');
		add_loc(walk, loc, value ? value + 1 : "");
	}
}

static void add_held(struct walk_view *walk)
{
	const struct loupe_state *state = walk->state;
	static const struct {
		uint32_t type;
		const char *what;
	} kinds[] = {
		{ REF_TYPE_PTR, "reference" },
		{ REF_TYPE_IRQ, "saved IRQ flags" },
		{ REF_TYPE_LOCK, "lock" },
		{ REF_TYPE_RES_LOCK, "resilient lock" },
		{ REF_TYPE_RES_LOCK_IRQ, "resilient lock, IRQs off" },
	};

	for (uint32_t i = 0; i < state->ref_cnt; i++) {
		struct walk_row *row = add_row(walk, WALK_ROW_HELD);
		const char *what = "reference";

		if (!row)
			return;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			if (state->refs[i].type == kinds[k].type)
				what = kinds[k].what;
		}
		row->role = UI_CHANGED;
		snprintf(row->text, sizeof(row->text), "holds %s %u, acquired at insn %d", what,
			 state->refs[i].id, state->refs[i].insn_idx);
	}
	if (state->active_rcu_locks || state->active_preempt_locks) {
		struct walk_row *row = add_row(walk, WALK_ROW_HELD);

		if (!row)
			return;
		row->role = UI_CHANGED;
		snprintf(row->text, sizeof(row->text), "%s%s%s",
			 state->active_rcu_locks ? "in an RCU read section" : "",
			 state->active_rcu_locks && state->active_preempt_locks ? ", " : "",
			 state->active_preempt_locks ? "preemption is off" : "");
	}
}

int walk_fill_state(struct walk_view *walk)
{
	uint32_t cnt = loupe_trace_changes(walk->trace, walk->info.step, NULL, 0);

	walk->row_cnt = 0;
	free(walk->changes);
	walk->change_cnt = 0;
	walk->changes = calloc(cnt + 1, sizeof(*walk->changes));
	if (!walk->changes)
		return -ENOMEM;
	loupe_trace_changes(walk->trace, walk->info.step, walk->changes, cnt);
	walk->change_cnt = cnt;
	add_arrival(walk);
	add_events(walk);
	for (uint32_t i = walk->state->curframe + 1; i; i--) {
		if (walk->state->frame[i - 1])
			add_frame(walk, i - 1);
	}
	add_held(walk);
	return walk->rows ? 0 : -ENOMEM;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void draw_frame_row(struct walk_view *walk, const struct walk_row *row, struct pen *pen)
{
	const struct loupe_frame *frame = walk->state->frame[row->loc.frameno];
	const char *func = NULL;
	uint32_t start;

	if (walk->listing.source) {
		start = loupe_trace_subprog_start(walk->trace, frame->subprogno);
		func = loupe_source_func_of(walk->listing.source, start);
	}
	pen_printf(pen, UI_HEADING, "frame %u", row->loc.frameno);
	if (func)
		pen_printf(pen, UI_TEXT, "  %s", func);
	else if (frame->subprogno)
		pen_printf(pen, UI_TEXT, "  subprogram %u", frame->subprogno);
	if (frame->callsite >= 0)
		pen_printf(pen, UI_DIM, "  called at %d", frame->callsite);
	if (frame->in_callback_fn)
		pen_text(pen, UI_DIM, "  callback");
}

static bool is_dead(const struct walk_view *walk, const struct walk_row *row)
{
	const struct loupe_insn_facts *facts;

	if (row->loc.kind != LOUPE_LOC_REG || row->loc.frameno != walk->state->curframe)
		return false;
	facts = loupe_trace_facts(walk->trace, (uint32_t)walk->info.insn_idx);
	return facts && !(facts->live_regs & 1u << row->loc.index);
}

enum {
	NAME_W = 9,   /* "▸ fp-16  " */
	WRITER_W = 8, /* "← 1234" */
};

/* What a changed location held before; "" if it did not change. */
static void old_text(const struct walk_view *walk, const struct walk_row *row, char *buf,
		     size_t size)
{
	const struct loupe_change *change = row->change < 0 ? NULL : &walk->changes[row->change];

	buf[0] = '\0';
	if (row->kind == WALK_ROW_LOC && change && change->has_old)
		words_value(&change->old_value, row->loc, walk->view.subject->names, buf, size);
}

/* Columns of text that go on a row of w: all, or up to the last comma or blank that fits. */
static int columns_of_row(const char *text, int w)
{
	int at = 0, good = 0;
	uint32_t c;

	while ((c = screen_next_glyph(&text)) != 0) {
		if (++at > w)
			return good > w / 2 ? good : w;
		if (c == ',' || c == ' ')
			good = at;
	}
	return at;
}

/* Rows that text takes, w columns each. */
static int rows_of_text(const char *text, int w)
{
	int rows = 0;

	do {
		int columns = columns_of_row(text, w);

		while (columns--)
			screen_next_glyph(&text);
		rows++;
	} while (*text);
	return rows;
}

/* Draws text over the rows of at, whose width is the same on each. @return rows used */
static int draw_folded(struct screen *screen, struct rect at, enum ui_role role, const char *text)
{
	int used = 0;

	while (*text && used < at.h) {
		int columns = used + 1 == at.h ? at.w : columns_of_row(text, at.w);

		if (used + 1 == at.h) {
			screen_text(screen, at.x, at.y + used, at.w, role, text);
			return at.h;
		}
		for (int x = 0; x < columns; x++)
			screen_put(screen, at.x + x, at.y + used, role, screen_next_glyph(&text));
		used++;
	}
	return used;
}

/* True if what a value was before has a place behind it on one row. */
static bool old_fits(const char *text, const char *old, int w)
{
	return screen_columns(text) + screen_columns(old) + 6 <= w;
}

/* Rows that a row takes when there is room to show everything. */
static int full_height(const struct walk_view *walk, const struct walk_row *row, int w)
{
	int room = row->kind == WALK_ROW_LOC ? w - NAME_W - WRITER_W : w, rows;
	char old[256];

	if (row->kind == WALK_ROW_FRAME || room < 16)
		return 1;
	rows = rows_of_text(row->text, room);
	old_text(walk, row, old, sizeof(old));
	if (*old && !old_fits(row->text, old, room))
		rows++;
	return rows;
}

static void draw_writer(struct walk_view *walk, const struct walk_row *row, bool changed,
			struct screen *screen, struct rect at)
{
	uint32_t step = loupe_trace_writer(walk->trace, walk->info.step, row->loc);
	struct pen pen = pen_at(screen, at.x + at.w - WRITER_W, at.y, WRITER_W);
	char text[24];

	if (step == LOUPE_NO_STEP)
		return;
	snprintf(text, sizeof(text), "← %d", loupe_trace_step_insn(walk->trace, step));
	pen_right(&pen, changed ? UI_OLD : UI_DIM, text);
}

static void draw_loc_row(struct walk_view *walk, const struct walk_row *row, struct screen *screen,
			 struct rect at)
{
	struct rect value = { at.x + NAME_W, at.y, at.w - NAME_W - WRITER_W, at.h };
	struct pen pen = pen_at(screen, at.x, at.y, NAME_W);
	struct loupe_loc loc = row->loc;
	char name[32], old[256];
	bool changed, dead;
	int columns, used;

	old_text(walk, row, old, sizeof(old));
	changed = *old != '\0';
	dead = !changed && is_dead(walk, row);
	loc.frameno = 0;
	words_loc(&loc, false, name, sizeof(name));
	pen_text(&pen, UI_KEY, changed ? "▸ " : "  ");
	pen_text(&pen, dead ? UI_DEAD : UI_REG, name);
	draw_writer(walk, row, changed, screen, at);
	columns = screen_columns(row->text);
	if (changed && at.h > 1 && !old_fits(row->text, old, value.w))
		value.h--;
	/* that a call leaves nothing in a register is no surprise */
	used = draw_folded(screen, value,
			   strcmp(row->text, "not written") == 0 ? UI_DIM
			   : changed				 ? UI_CHANGED
			   : dead				 ? UI_DEAD
								 : UI_VALUE,
			   row->text);
	if (changed && used < at.h) {
		pen = pen_at(screen, value.x, at.y + used, value.w);
		pen_printf(&pen, UI_OLD, "was %s", old);
	} else if (used == 1 && columns + 8 < value.w) {
		pen = pen_at(screen, value.x + columns + 2, at.y, value.w - columns - 2);
		if (changed)
			pen_printf(&pen, UI_OLD, "was %s", old);
		else if (dead)
			pen_text(&pen, UI_DEAD, "dead");
	}
}

static void draw_row(struct walk_view *walk, const struct walk_row *row, struct screen *screen,
		     struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);

	switch (row->kind) {
	case WALK_ROW_NEWS:
	case WALK_ROW_HELD:
		draw_folded(screen, at, row->role, row->text);
		break;
	case WALK_ROW_FRAME:
		draw_frame_row(walk, row, &pen);
		break;
	case WALK_ROW_LOC:
		draw_loc_row(walk, row, screen, at);
		break;
	}
}

void walk_draw_wrapped(struct screen *screen, struct rect area, const char *text)
{
	int columns = screen_columns(text), rows = (columns + area.w - 1) / area.w;
	struct rect last;

	if (rows > area.h / 2)
		rows = area.h / 2;
	last = (struct rect){ area.x, area.y + area.h - rows, area.w, rows };
	screen_erase(screen, last);
	for (int i = 0; i < rows; i++) {
		for (int x = 0; x < area.w && *text; x++)
			screen_put(screen, last.x + x, last.y + i, UI_STRONG,
				   screen_next_glyph(&text));
	}
	screen_ground(screen, last, UI_GROUND_ROW);
}

/* The selected value whole, when its row has no room for it. */
static void draw_detail(struct walk_view *walk, struct screen *screen, struct rect area)
{
	const struct scroll *scroll = &walk->scroll[WALK_STATE];
	const struct walk_row *row = &walk->rows[scroll->cursor];
	char text[1024], old[256];

	old_text(walk, row, old, sizeof(old));
	snprintf(text, sizeof(text), "%s%s%s", row->text, *old ? ", was " : "", old);
	if (row->height < full_height(walk, row, area.w) &&
	    screen_columns(text) > area.w - (row->kind == WALK_ROW_LOC ? 17 : 0))
		walk_draw_wrapped(screen, area, text);
}

/*
 * Gives rows the height that they need as far as there is room: first what changed, then what
 * happened, then the rest. @return true if everything is shown whole
 */
static bool make_room(struct walk_view *walk, struct rect area)
{
	int spare = area.h - (int)walk->row_cnt;
	bool whole = spare >= 0;

	for (uint32_t i = 0; i < walk->row_cnt; i++)
		walk->rows[i].height = 1;
	for (int pass = 0; pass < 3 && spare >= 0; pass++) {
		for (uint32_t i = 0; i < walk->row_cnt; i++) {
			struct walk_row *row = &walk->rows[i];
			int turn = row->kind != WALK_ROW_LOC ? 1 : row->change >= 0 ? 0 : 2;
			int more = full_height(walk, row, area.w) - 1;

			if (turn != pass)
				continue;
			whole &= more <= spare;
			more = more < spare ? more : spare;
			row->height += more;
			spare -= more;
		}
	}
	return whole;
}

void walk_draw_state(struct walk_view *walk, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &walk->scroll[WALK_STATE];
	bool focus = walk->focus == WALK_STATE, whole = make_room(walk, area);
	int y = area.y;

	walk->h[WALK_STATE] = area.h;
	scroll_fit(scroll, walk->row_cnt, area.h);
	for (int64_t n = scroll->top; n < walk->row_cnt && y < area.y + area.h; n++) {
		const struct walk_row *row = &walk->rows[n];
		struct rect at = { area.x, y, area.w, row->height };

		draw_row(walk, row, screen, at);
		if (focus && n == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		y += at.h;
	}
	if (whole)
		return;
	if (focus && walk->row_cnt)
		draw_detail(walk, screen, area);
	pane_more(screen, area, scroll->top, walk->row_cnt);
}
