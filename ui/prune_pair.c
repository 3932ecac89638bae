// SPDX-License-Identifier: GPL-2.0-only
/* Prune's pair: a checkpoint as it was at a comparison, beside the state it was compared with. */
#include "prune.h"

#include "explain.h"
#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- how two values relate ---------------------------------------------------------------- */

static bool range_covers(const struct loupe_reg *old, const struct loupe_reg *cur)
{
	return old->umin <= cur->umin && old->umax >= cur->umax && old->smin <= cur->smin &&
	       old->smax >= cur->smax && old->u32_min <= cur->u32_min &&
	       old->u32_max >= cur->u32_max && old->s32_min <= cur->s32_min &&
	       old->s32_max >= cur->s32_max && !(cur->var_off.mask & ~old->var_off.mask) &&
	       ((old->var_off.value ^ cur->var_off.value) & ~old->var_off.mask) == 0;
}

static enum prune_mark mark_reg(const struct loupe_reg *old, const struct loupe_reg *cur,
				enum loupe_compare_mode mode)
{
	if (old->type == NOT_INIT)
		return mode == LOUPE_CMP_NOT_EXACT ? PRUNE_ABSENT : PRUNE_DIFFERS;
	if (old->type != cur->type || mode == LOUPE_CMP_EXACT)
		return PRUNE_DIFFERS;
	if (old->type == SCALAR_VALUE && !old->precise && mode == LOUPE_CMP_NOT_EXACT)
		return PRUNE_ANY;
	if (old->type == SCALAR_VALUE && range_covers(old, cur))
		return PRUNE_COVERED;
	if (loupe_base_type(old->type) == PTR_TO_PACKET && old->off == cur->off &&
	    old->range >= 0 && cur->range >= old->range && range_covers(old, cur))
		return PRUNE_COVERED;
	return PRUNE_DIFFERS;
}

static bool slot_is(const struct loupe_slot *slot, uint8_t type)
{
	for (int i = 0; i < LOUPE_REG_SIZE; i++) {
		if (slot->type[i] != type)
			return false;
	}
	return true;
}

static const struct loupe_slot *slot_at(const struct loupe_frame *frame, uint32_t spi)
{
	return frame && frame->stack && spi < frame->slot_cnt ? &frame->stack->slot[spi] : NULL;
}

static enum prune_mark mark_slot(const struct loupe_slot *old, const struct loupe_slot *cur,
				 enum loupe_compare_mode mode)
{
	bool spilled = old && old->type[0] == STACK_SPILL, now = cur && cur->type[0] == STACK_SPILL;

	if (!old || slot_is(old, STACK_INVALID))
		return mode == LOUPE_CMP_NOT_EXACT ? PRUNE_ABSENT : PRUNE_DIFFERS;
	if (spilled && now)
		return mark_reg(&old->spilled, &cur->spilled, mode);
	if (mode != LOUPE_CMP_EXACT && slot_is(old, STACK_MISC) && cur &&
	    (slot_is(cur, STACK_ZERO) || slot_is(cur, STACK_INVALID)))
		return PRUNE_COVERED;
	return PRUNE_DIFFERS;
}

const char *prune_mark_words(enum prune_mark mark)
{
	static const char *const words[] = {
		[PRUNE_SAME] = "the same",
		[PRUNE_DEAD] = "dead: not compared",
		[PRUNE_ABSENT] = "empty then: not compared",
		[PRUNE_ANY] = "any number will do",
		[PRUNE_COVERED] = "covered",
		[PRUNE_DIFFERS] = "differs",
		[PRUNE_DECIDED] = "this made it miss",
	};

	return words[mark];
}

/* ---- making ------------------------------------------------------------------------------- */

struct making {
	struct prune_view *prune;
	const struct prune_event *event;
	const struct loupe_state *old, *cur;
	const struct loupe_state *birth; /* the checkpoint before dead parts were dropped */
	bool hit;
};

static struct prune_cell *add_cell(struct prune_view *prune)
{
	if (prune->cell_cnt == prune->cell_cap) {
		uint32_t cap = prune->cell_cap ? prune->cell_cap * 2 : 64;
		struct prune_cell *cells = realloc(prune->cells, cap * sizeof(*cells));

		if (!cells)
			return NULL;
		prune->cells = cells;
		prune->cell_cap = cap;
	}
	prune->cells[prune->cell_cnt] = (struct prune_cell){ 0 };
	return &prune->cells[prune->cell_cnt++];
}

/* What is known of a value's mark from the outcome and from all differences. */
static enum prune_mark settle(const struct making *making, struct loupe_loc loc,
			      enum prune_mark mark, const char *then, const char *now)
{
	const struct loupe_diff *diff = prune_diff_of(making->prune, loc);

	if (diff)
		return diff == making->prune->diffs ? PRUNE_DECIDED : PRUNE_DIFFERS;
	if (mark == PRUNE_DEAD || mark == PRUNE_ABSENT)
		return mark;
	/* a P for precise stands in front of the value that it is about */
	if (strcmp(then + (*then == 'P'), now + (*now == 'P')) == 0)
		return PRUNE_SAME;
	/* it was compared and no difference was found, or the whole state was covered */
	if (mark == PRUNE_DIFFERS && (making->hit || making->prune->diff_cnt))
		return PRUNE_COVERED;
	return mark;
}

static int add_reg(const struct making *making, uint32_t frameno, uint8_t reg, bool live)
{
	const struct loupe_reg *old = &making->old->frame[frameno]->regs[reg];
	const struct loupe_reg *cur = &making->cur->frame[frameno]->regs[reg];
	struct loupe_names *names = making->prune->view.subject->names;
	struct loupe_loc loc = { LOUPE_LOC_REG, (uint8_t)frameno, reg };
	enum prune_mark mark = live ? mark_reg(old, cur, making->event->compare.mode) : PRUNE_DEAD;
	struct prune_cell *cell;

	if (old->type == NOT_INIT && cur->type == NOT_INIT)
		return 0;
	cell = add_cell(making->prune);
	if (!cell)
		return -ENOMEM;
	cell->kind = PRUNE_CELL_LOC;
	cell->loc = loc;
	loupe_reg_print(cell->then, sizeof(cell->then), old, frameno, names);
	loupe_reg_print(cell->now, sizeof(cell->now), cur, frameno, names);
	if (!live && !*cell->then)
		loupe_reg_print(cell->then, sizeof(cell->then),
				&making->birth->frame[frameno]->regs[reg], frameno, names);
	cell->mark = settle(making, loc, mark, cell->then, cell->now);
	return 0;
}

static void slot_text(const struct loupe_frame *frame, uint32_t spi, struct loupe_names *names,
		      char *buf, size_t size)
{
	char text[256] = "";
	const char *value;

	if (slot_at(frame, spi))
		loupe_slot_print(text, sizeof(text), frame, spi, names);
	value = strchr(text, '=');
	snprintf(buf, size, "%s", value ? value + 1 : "");
}

static int add_slot(const struct making *making, uint32_t frameno, uint8_t spi)
{
	const struct loupe_frame *old = making->old->frame[frameno];
	const struct loupe_frame *cur = making->cur->frame[frameno];
	struct loupe_names *names = making->prune->view.subject->names;
	struct loupe_loc loc = { LOUPE_LOC_SLOT, (uint8_t)frameno, spi };
	enum prune_mark mark;
	struct prune_cell *cell;
	char then[sizeof(cell->then)], now[sizeof(cell->now)];

	slot_text(old, spi, names, then, sizeof(then));
	slot_text(cur, spi, names, now, sizeof(now));
	if (!*then && !*now)
		return 0;
	cell = add_cell(making->prune);
	if (!cell)
		return -ENOMEM;
	cell->kind = PRUNE_CELL_LOC;
	cell->loc = loc;
	memcpy(cell->then, then, sizeof(then));
	memcpy(cell->now, now, sizeof(now));
	mark = mark_slot(slot_at(old, spi), slot_at(cur, spi), making->event->compare.mode);
	if (mark == PRUNE_ABSENT) {
		slot_text(making->birth->frame[frameno], spi, names, cell->then,
			  sizeof(cell->then));
		if (*cell->then)
			mark = PRUNE_DEAD;
	}
	cell->mark = settle(making, loc, mark, then, now);
	return 0;
}

/* Registers that count in a frame's comparison: those alive where it goes on. */
static uint16_t live_regs(const struct making *making, uint32_t frameno)
{
	const struct loupe_state *old = making->old;
	int32_t at = frameno == old->curframe ? (int32_t)making->prune->insn :
						old->frame[frameno + 1]->callsite;
	const struct loupe_insn_facts *facts =
		loupe_trace_facts(making->prune->trace, (uint32_t)at);

	return facts ? facts->live_regs : UINT16_MAX;
}

static int add_frame(const struct making *making, uint32_t frameno)
{
	const struct loupe_frame *old = making->old->frame[frameno];
	const struct loupe_frame *cur = making->cur->frame[frameno];
	uint16_t live = live_regs(making, frameno);
	struct prune_cell *cell;
	int rc = 0;

	if (making->old->curframe) {
		cell = add_cell(making->prune);
		if (!cell)
			return -ENOMEM;
		cell->kind = PRUNE_CELL_FRAME;
		cell->loc.frameno = (uint8_t)frameno;
	}
	/* the frame pointer never changes */
	for (uint8_t i = 0; i < LOUPE_REG_FP && !rc; i++)
		rc = add_reg(making, frameno, i, (live >> i & 1) != 0);
	for (uint32_t i = 0; i < LOUPE_MAX_SLOTS && !rc; i++) {
		if (i < old->slot_cnt || i < cur->slot_cnt)
			rc = add_slot(making, frameno, (uint8_t)i);
	}
	return rc;
}

int prune_fill_pair(struct prune_view *prune, uint64_t n)
{
	struct making making = { .prune = prune, .event = &prune->events[n] };
	struct loupe_checkpoint_info info;
	int rc = 0;

	prune->paired = n;
	prune->cell_cnt = 0;
	prune->scroll[PRUNE_PAIR] = (struct scroll){ 0 };
	if (prune_fill_diffs(prune, &making.event->compare))
		return -ENOMEM;
	making.old = loupe_cursor_seek_checkpoint(prune->then, making.event->serial,
						  making.event->compare.row);
	making.cur = loupe_cursor_seek(prune->now, making.event->step);
	words_outcome(making.event->compare.outcome, &making.hit);
	if (loupe_trace_checkpoint(prune->trace, making.event->serial, &info))
		return -EINVAL;
	making.birth = loupe_cursor_seek(prune->birth, info.born);
	if (!making.old || !making.cur || !making.birth)
		return -ENOMEM;
	for (uint32_t i = making.old->curframe + 1; i && !rc; i--) {
		if (i - 1 <= making.cur->curframe)
			rc = add_frame(&making, i - 1);
	}
	for (uint32_t i = 0; i < prune->cell_cnt; i++) {
		if (prune->cells[i].mark == PRUNE_DECIDED)
			scroll_to(&prune->scroll[PRUNE_PAIR], i, prune->cell_cnt,
				  prune->h[PRUNE_PAIR]);
	}
	return rc;
}

bool prune_next_diff(struct prune_view *prune, bool forward)
{
	struct scroll *scroll = &prune->scroll[PRUNE_PAIR];

	for (int64_t at = scroll->cursor + (forward ? 1 : -1); at >= 0 && at < prune->cell_cnt;
	     at += forward ? 1 : -1) {
		if (prune->cells[at].mark != PRUNE_DECIDED &&
		    prune->cells[at].mark != PRUNE_DIFFERS)
			continue;
		scroll_to(scroll, at, prune->cell_cnt, prune->h[PRUNE_PAIR]);
		return true;
	}
	return false;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static const struct {
	const char *sign;
	enum ui_role then, now, sign_role;
} looks[] = {
	[PRUNE_SAME] = { "=", UI_TEXT, UI_TEXT, UI_DIM },
	[PRUNE_DEAD] = { "·", UI_DEAD, UI_DEAD, UI_DEAD },
	[PRUNE_ABSENT] = { "·", UI_DEAD, UI_DEAD, UI_DEAD },
	[PRUNE_ANY] = { "~", UI_VALUE, UI_VALUE, UI_DIM },
	[PRUNE_COVERED] = { "⊇", UI_VALUE, UI_VALUE, UI_HIT },
	[PRUNE_DIFFERS] = { "≠", UI_VALUE, UI_CHANGED, UI_CHANGED },
	[PRUNE_DECIDED] = { "≠", UI_STRONG, UI_MISS, UI_MISS },
};

enum { NAME_W = 8, REMARK_W = 26, WIDE = 110 };

static void draw_cell(const struct prune_view *prune, const struct prune_cell *cell,
		      struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	bool wide = at.w >= WIDE;
	int value = (at.w - NAME_W - 4 - (wide ? REMARK_W : 0)) / 2;
	char name[32];

	if (cell->kind == PRUNE_CELL_FRAME) {
		pen_printf(&pen, UI_HEADING, "frame %u", cell->loc.frameno);
		return;
	}
	/* frames have rows of their own */
	words_loc(&(struct loupe_loc){ cell->loc.kind, 0, cell->loc.index }, false, name,
		  sizeof(name));
	pen_printf(&pen, cell->mark == PRUNE_DEAD ? UI_DEAD : UI_REG, " %-6s ", name);
	pen.end = pen.x + value;
	pen_text(&pen, looks[cell->mark].then, cell->then);
	pen.end = at.x + at.w;
	pen_to(&pen, at.x + NAME_W + value + 1);
	pen_printf(&pen, looks[cell->mark].sign_role, "%s ", looks[cell->mark].sign);
	pen.end = pen.x + value;
	pen_text(&pen, looks[cell->mark].now, *cell->now || !*cell->then ? cell->now : "nothing");
	pen.end = at.x + at.w;
	if (wide && cell->mark != PRUNE_SAME) {
		pen_to(&pen, at.x + at.w - REMARK_W + 2);
		pen_text(&pen, looks[cell->mark].sign_role, prune_mark_words(cell->mark));
	}
	(void)prune;
}

static void draw_head(const struct prune_view *prune, const struct prune_event *event,
		      struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	struct loupe_checkpoint_info info;
	int value = (at.w - NAME_W - 4 - (at.w >= WIDE ? REMARK_W : 0)) / 2;
	char number[NUMBER_TEXT];

	if (loupe_trace_checkpoint(prune->trace, event->serial, &info))
		return;
	pen_to(&pen, at.x + NAME_W);
	pen.end = pen.x + value;
	pen_printf(&pen, UI_HEADING, "#%u, stored at step %s", event->serial,
		   number_text(number, info.born));
	pen.end = at.x + at.w;
	pen_to(&pen, at.x + NAME_W + value + 3);
	pen_printf(&pen, UI_HEADING, "now, step %s", number_text(number, event->step));
}

/* "verified for 24, now 16", without the name that stands in front. */
static void diff_words(struct prune_view *prune, const struct prune_event *event,
		       const struct loupe_diff *diff, char *buf, size_t size)
{
	struct loupe_compare_info info = prune_diff_info(&event->compare, diff);
	const char *text;
	char whole[400], *mattered;

	/* a difference alone would have been enough, whatever it counted for */
	info.outcome = LOUPE_CMP_MISS;
	words_compare(&info,
		      loupe_cursor_seek_checkpoint(prune->then, event->serial, event->compare.row),
		      loupe_cursor_seek(prune->now, event->step), prune->view.subject->names, whole,
		      sizeof(whole));
	/* why it mattered follows */
	mattered = strstr(whole, "; its exact value mattered");
	if (mattered)
		*mattered = '\0';
	text = strstr(whole, ": ");
	snprintf(buf, size, "%s", text ? text + 2 : whole);
}

/* Below the cells: what decided; the selected cell; why it had to match. */
static void draw_answer(struct prune_view *prune, const struct prune_event *event,
			struct screen *screen, struct rect at)
{
	const struct prune_cell *cell =
		prune->cell_cnt ? &prune->cells[prune->scroll[PRUNE_PAIR].cursor] : NULL;
	struct pen pen = pen_at(screen, at.x + 1, at.y, at.w - 2);
	char why[200], chain[400], name[32], others[200], text[1200];
	const struct loupe_diff *diff;
	char words[400];
	int row = at.y;
	bool hit;
	const char *word = words_outcome(event->compare.outcome, &hit);

	pen_printf(&pen, hit ? UI_HIT : UI_MISS, "%s  ", word);
	prune_other_diffs(prune, others, sizeof(others));
	snprintf(text, sizeof(text), "%s%s%s", prune_event_words(prune, prune->paired),
		 *others ? "; differs too: " : "", others);
	row += wrap_text(screen, (struct rect){ at.x + 1, row, at.w - 2, 2 }, pen.x - at.x - 1,
			 UI_STRONG, text);
	if (event->compare.outcome == LOUPE_CMP_INFINITE_LOOP) {
		const struct explanation *how = explain_error("infinite loop detected");

		wrap_text(screen, (struct rect){ at.x + 1, row, at.w - 2, at.y + at.h - row }, 0,
			  UI_NOTICE, how ? how->ways : "");
		return;
	}
	if (!cell || cell->kind != PRUNE_CELL_LOC)
		return;
	words_loc(&cell->loc, false, name, sizeof(name));
	prune_why(prune, &event->compare, cell->loc, why, sizeof(why));
	prune_chain(prune, &event->compare, cell->loc, chain, sizeof(chain));
	diff = prune_diff_of(prune, cell->loc);
	if (diff)
		diff_words(prune, event, diff, words, sizeof(words));
	else
		snprintf(words, sizeof(words), "%s", prune_mark_words(cell->mark));
	snprintf(text, sizeof(text), "%s%s%s%s%s", words, *why ? "; " : "", why, *chain ? "; " : "",
		 chain);
	pen = pen_at(screen, at.x + 1, row, at.w - 2);
	pen_printf(&pen, UI_REG, "%s ", name);
	wrap_text(screen, (struct rect){ at.x + 1, row, at.w - 2, at.y + at.h - row },
		  pen.x - at.x - 1, looks[cell->mark].sign_role, text);
}

void prune_draw_pair(struct prune_view *prune, struct screen *screen, struct rect area)
{
	const struct prune_event *event = &prune->events[prune->paired];
	struct scroll *scroll = &prune->scroll[PRUNE_PAIR];
	struct rect inner;
	char title[96];

	snprintf(title, sizeof(title), "checkpoint #%u and the state at insn %u", event->serial,
		 prune->insn);
	inner = pane_frame(screen, (struct rect){ area.x, area.y, area.w, area.h - 4 }, title,
			   true);
	snprintf(title, sizeof(title), "event %lld of %llu", (long long)prune->paired + 1,
		 (unsigned long long)prune->event_cnt);
	if (prune->diff_cnt > 1 && area.w >= WIDE)
		snprintf(title, sizeof(title), "%u differences  event %lld of %llu",
			 prune->diff_cnt, (long long)prune->paired + 1,
			 (unsigned long long)prune->event_cnt);
	pane_note(screen, area, UI_DIM, title);
	draw_head(prune, event, screen, (struct rect){ inner.x, inner.y, inner.w, 1 });
	inner.y++;
	inner.h--;
	prune->h[PRUNE_PAIR] = inner.h;
	scroll_fit(scroll, prune->cell_cnt, inner.h);
	for (int i = 0; i < inner.h && scroll->top + i < prune->cell_cnt; i++) {
		struct rect at = { inner.x, inner.y + i, inner.w, 1 };

		draw_cell(prune, &prune->cells[scroll->top + i], screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
	}
	pane_more(screen, inner, scroll->top, prune->cell_cnt);
	draw_answer(prune, event, screen, (struct rect){ area.x, area.y + area.h - 4, area.w, 4 });
}
