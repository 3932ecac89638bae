// SPDX-License-Identifier: GPL-2.0-only
/* States at a step, made from the changes on the path back to a keyframe. */
#include <errno.h>

#include "trace/store.h"

struct loupe_cursor {
	const struct loupe_trace *t;
	uint32_t step;		/* LOUPE_NO_STEP: nowhere */
	uint32_t last[LOC_CNT]; /* change of each location at step, of frames up to curframe */
	uint32_t made[LOC_CNT]; /* change that the state's value was made from */
	struct loupe_state st;
	size_t ref_room;
	struct loupe_frame frames[LOUPE_MAX_FRAMES];
};

enum { MADE_OTHERWISE = UINT32_MAX - 1 }; /* made[]: the value is no change's */

/* --- locations ------------------------------------------------------------------------------ */

int trace_loc(struct loupe_loc loc)
{
	if (loc.frameno >= LOUPE_MAX_FRAMES)
		return -1;
	if (loc.kind == LOUPE_LOC_REG && loc.index < LOUPE_MAX_REG)
		return loc.frameno * LOC_STRIDE + LOC_REG + loc.index;
	if (loc.kind == LOUPE_LOC_SLOT && loc.index < LOUPE_MAX_SLOTS)
		return loc.frameno * LOC_STRIDE + LOC_SLOT + loc.index;
	return -1;
}

/* The public form of a location of a frame; false for those that are neither register nor slot. */
static bool public_loc(uint32_t flat, struct loupe_loc *loc)
{
	uint32_t in = flat % LOC_STRIDE;

	if (flat >= LOC_STATE_META || in >= LOC_FRAME_META)
		return false;
	loc->frameno = (uint8_t)(flat / LOC_STRIDE);
	loc->kind = in < LOC_REG ? LOUPE_LOC_SLOT : LOUPE_LOC_REG;
	loc->index = (uint8_t)(in < LOC_REG ? in : in - LOC_REG);
	return true;
}

/* The value of a change of loc (TRACE_NONE: none). */
static void value_of(const struct loupe_trace *t, uint32_t flat, uint32_t change,
		     struct loupe_value *out)
{
	uint32_t value = change == TRACE_NONE ? 0 : t->changes.at[change].value;
	struct loupe_slot slot;

	memset(out, 0, sizeof(*out));
	out->present = value != 0;
	if (flat % LOC_STRIDE >= LOC_REG) {
		trace_value_reg(&t->pool, value, &out->reg);
		return;
	}
	trace_value_slot(&t->pool, value, &slot);
	out->reg = slot.spilled;
	memcpy(out->type, slot.type, sizeof(out->type));
}

/* --- looking changes up --------------------------------------------------------------------- */

const struct trace_keyframe *trace_keyframe_in(const struct loupe_trace *t, uint32_t from,
					       uint32_t to)
{
	size_t below = TRACE_BELOW(&t->keyframes, step, (uint64_t)to + 1);

	return below && t->keyframes.at[below - 1].step >= from ? &t->keyframes.at[below - 1]
								: NULL;
}

/* A walk back over a step's changes, path by path, until a keyframe or the function's start. */
struct back {
	const struct loupe_trace *t;
	const struct trace_keyframe *kf; /* reached at the end, NULL: the start */
	uint32_t path, top;		 /* stretch to look at next */
	uint32_t from, to;		 /* changes of the present stretch */
	bool done;
};

static void back_open(struct back *b, const struct loupe_trace *t, uint32_t step)
{
	*b = (struct back){ .t = t, .path = loupe_trace_path_of(t, step), .top = step };
}

/* The next stretch [from, to) of changes, latest first; false when there is none. */
static bool back_next(struct back *b)
{
	const struct loupe_trace *t = b->t;
	const struct trace_path *p;
	uint32_t first;

	if (b->done)
		return false;
	p = &t->paths.at[b->path];
	b->kf = trace_keyframe_in(t, p->first, b->top);
	first = b->kf ? b->kf->step + 1 : p->first;
	b->from = t->steps.at[first].change;
	b->to = t->steps.at[b->top + 1].change;
	if (b->kf || p->fresh || p->parent == TRACE_NONE) {
		b->done = true;
	} else {
		b->path = p->parent;
		b->top = p->parent_step;
	}
	return true;
}

/* Takes from a keyframe the changes of all locations that were not seen. */
static void keyframe_read(const struct loupe_trace *t, const struct trace_keyframe *kf,
			  const uint8_t seen[LOC_CNT], uint32_t last[LOC_CNT])
{
	const uint32_t *in = &t->keyframe_data.at[kf->at];
	uint32_t frames = trace_frame_of(t, kf->step);

	if (!seen[LOC_STATE_META])
		last[LOC_STATE_META] = *in;
	in++;
	for (uint32_t f = 0; f <= frames; f++) {
		uint32_t base = f * LOC_STRIDE, meta = *in++, high = *in++;

		if (!seen[base + LOC_FRAME_META])
			last[base + LOC_FRAME_META] = meta;
		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++, in++) {
			if (!seen[base + LOC_REG + r])
				last[base + LOC_REG + r] = *in;
		}
		for (uint32_t s = 0; s < high; s++, in++) {
			if (!seen[base + LOC_SLOT + s])
				last[base + LOC_SLOT + s] = *in;
		}
	}
}

void trace_collect(const struct loupe_trace *t, uint32_t step, uint32_t *last)
{
	uint8_t seen[LOC_CNT] = { 0 };
	struct back b;

	memset(last, 0xff, LOC_CNT * sizeof(*last));
	back_open(&b, t, step);
	while (back_next(&b)) {
		for (uint32_t c = b.to; c-- > b.from;) {
			uint32_t loc = t->changes.at[c].loc;

			if (seen[loc])
				continue;
			seen[loc] = 1;
			last[loc] = c;
		}
	}
	if (b.kf)
		keyframe_read(t, b.kf, seen, last);
}

uint32_t trace_find_change(const struct loupe_trace *t, uint32_t step, uint32_t loc)
{
	uint32_t last[LOC_CNT];
	uint8_t seen[LOC_CNT] = { 0 };
	struct back b;

	back_open(&b, t, step);
	while (back_next(&b)) {
		for (uint32_t c = b.to; c-- > b.from;) {
			if (t->changes.at[c].loc == loc)
				return c;
		}
	}
	if (!b.kf)
		return TRACE_NONE;
	last[loc] = TRACE_NONE;
	keyframe_read(t, b.kf, seen, last);
	return last[loc];
}

int loupe_trace_value(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
		      struct loupe_value *out)
{
	int flat = trace_loc(loc);

	memset(out, 0, sizeof(*out));
	if (flat < 0 || step >= t->step_cnt)
		return -EINVAL;
	if (loc.frameno > trace_frame_of(t, step))
		return -ENOENT;
	value_of(t, (uint32_t)flat, trace_find_change(t, step, (uint32_t)flat), out);
	return 0;
}

uint32_t loupe_trace_changes(const struct loupe_trace *t, uint32_t step, struct loupe_change *out,
			     uint32_t cap)
{
	uint32_t cnt = 0, pred, frames;

	if (step >= t->step_cnt)
		return 0;
	pred = trace_pred(t, step);
	if (pred != LOUPE_NO_STEP &&
	    t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PATH_START &&
	    t->paths.at[loupe_trace_path_of(t, step)].fresh)
		pred = LOUPE_NO_STEP;
	frames = pred == LOUPE_NO_STEP ? 0 : trace_frame_of(t, pred) + 1;
	for (uint32_t c = t->steps.at[step].change; c < t->steps.at[step + 1].change; c++) {
		uint32_t flat = t->changes.at[c].loc;
		struct loupe_change change;

		if (!public_loc(flat, &change.loc))
			continue;
		change.has_old = change.loc.frameno < frames;
		/* An earlier frame's slot that the new one does not have is no change. */
		if (!change.has_old && !t->changes.at[c].value)
			continue;
		if (cnt++ >= cap)
			continue;
		value_of(t, flat, c, &change.new_value);
		value_of(t, flat, change.has_old ? t->changes.at[c].prev : TRACE_NONE,
			 &change.old_value);
		out[cnt - 1] = change;
	}
	return cnt;
}

/* --- cursors -------------------------------------------------------------------------------- */

struct loupe_cursor *loupe_cursor_create(const struct loupe_trace *t)
{
	struct loupe_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->t = t;
	c->step = LOUPE_NO_STEP;
	for (uint32_t i = 0; i < LOC_CNT; i++)
		c->last[i] = c->made[i] = TRACE_NONE;
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++) {
		struct loupe_stack *stack =
			calloc(1, sizeof(*stack) + LOUPE_MAX_SLOTS * sizeof(stack->slot[0]));

		if (!stack) {
			loupe_cursor_destroy(c);
			return NULL;
		}
		stack->refs = 1;
		stack->cap = LOUPE_MAX_SLOTS;
		c->frames[f].refs = 1;
		c->frames[f].frameno = f;
		c->frames[f].stack = stack;
	}
	return c;
}

void loupe_cursor_destroy(struct loupe_cursor *c)
{
	if (!c)
		return;
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++)
		free(c->frames[f].stack);
	free(c->st.refs);
	free(c);
}

static bool make_state(struct loupe_cursor *c, uint32_t value)
{
	const uint32_t *words = &c->t->pool.words.at[value];
	uint32_t refs = value ? trace_state_ref_cnt(words) : 0;

	if (refs > c->ref_room) {
		struct loupe_ref *room = realloc(c->st.refs, refs * sizeof(*room));

		if (!room)
			return false;
		c->st.refs = room;
		c->ref_room = refs;
	}
	if (value)
		trace_state_decode(words, &c->st);
	return true;
}

static bool make(struct loupe_cursor *c, uint32_t loc)
{
	const struct loupe_trace *t = c->t;
	uint32_t change = c->last[loc], in = loc % LOC_STRIDE;
	uint32_t value = change == TRACE_NONE ? 0 : t->changes.at[change].value;
	struct loupe_frame *frame;

	if (c->made[loc] == change)
		return true;
	c->made[loc] = change;
	if (loc == LOC_STATE_META)
		return make_state(c, value);
	frame = &c->frames[loc / LOC_STRIDE];
	if (in < LOC_REG) {
		trace_value_slot(&t->pool, value, &frame->stack->slot[in]);
	} else if (in < LOC_FRAME_META) {
		trace_value_reg(&t->pool, value, &frame->regs[in - LOC_REG]);
	} else if (value) {
		trace_frame_decode(&t->pool.words.at[value], frame);
	}
	return true;
}

/* Makes what differs from what the state holds. */
static bool make_all(struct loupe_cursor *c, uint32_t curframe)
{
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++) {
		c->st.frame[f] = f <= curframe ? &c->frames[f] : NULL;
		if (f > curframe)
			continue;
		for (uint32_t in = 0; in <= LOC_FRAME_META; in++) {
			if (!make(c, f * LOC_STRIDE + in))
				return false;
		}
	}
	c->st.curframe = curframe;
	return make(c, LOC_STATE_META);
}

/* Forward by one step of the same path. */
static bool step_on(struct loupe_cursor *c, uint32_t step)
{
	const struct loupe_trace *t = c->t;

	uint32_t from = t->steps.at[step].change, to = t->steps.at[step + 1].change;

	for (uint32_t i = from; i < to; i++)
		c->last[t->changes.at[i].loc] = i;
	if (trace_frame_of(t, step) != c->st.curframe)
		return make_all(c, trace_frame_of(t, step));
	for (uint32_t i = from; i < to; i++) {
		if (!make(c, t->changes.at[i].loc))
			return false;
	}
	return true;
}

const struct loupe_state *loupe_cursor_seek(struct loupe_cursor *c, uint32_t step)
{
	const struct loupe_trace *t = c->t;
	bool ok;

	if (step >= t->step_cnt)
		return NULL;
	if (step && c->step == step - 1 &&
	    !(t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PATH_START)) {
		ok = step_on(c, step);
	} else {
		if (c->step != step)
			trace_collect(t, step, c->last);
		ok = make_all(c, trace_frame_of(t, step));
	}
	c->step = ok ? step : LOUPE_NO_STEP;
	c->st.insn_idx = -1;
	c->st.serial = 0;
	c->st.cleaned = false;
	return ok ? &c->st : NULL;
}

static void apply_precise(struct loupe_cursor *c, const struct trace_mark_rec *mark)
{
	struct loupe_frame *frame = &c->frames[mark->frameno];
	uint64_t slots = mark->slots_lo | (uint64_t)mark->slots_hi << 32;
	uint32_t base = mark->frameno * LOC_STRIDE;

	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
		if (!(mark->regs >> r & 1))
			continue;
		frame->regs[r].precise = true;
		c->made[base + LOC_REG + r] = MADE_OTHERWISE;
	}
	for (uint32_t s = 0; s < LOUPE_MAX_SLOTS; s++) {
		if (!(slots >> s & 1))
			continue;
		frame->stack->slot[s].spilled.precise = true;
		c->made[base + LOC_SLOT + s] = MADE_OTHERWISE;
	}
}

static void apply_clean(struct loupe_cursor *c, const struct trace_mark_rec *mark)
{
	struct loupe_frame *frame = &c->frames[mark->frameno];
	uint64_t slots = mark->slots_lo | (uint64_t)mark->slots_hi << 32;
	uint32_t base = mark->frameno * LOC_STRIDE;
	struct loupe_reg cleared = {
		.type = NOT_INIT,
		.var_off.mask = UINT64_MAX,
		.smin = INT64_MIN,
		.smax = INT64_MAX,
		.umax = UINT64_MAX,
		.s32_min = INT32_MIN,
		.s32_max = INT32_MAX,
		.u32_max = UINT32_MAX,
		.precise = mark->kind & MARK_CLEAN_PRECISE,
	};

	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
		if (!(mark->regs >> r & 1))
			continue;
		cleared.subreg_def = frame->regs[r].subreg_def; /* is kept */
		frame->regs[r] = cleared;
		c->made[base + LOC_REG + r] = MADE_OTHERWISE;
	}
	for (uint32_t s = 0; s < LOUPE_MAX_SLOTS; s++) {
		if (!(slots >> s & 1))
			continue;
		memset(&frame->stack->slot[s], 0, sizeof(frame->stack->slot[s]));
		c->made[base + LOC_SLOT + s] = MADE_OTHERWISE;
	}
	c->st.cleaned = true;
}

const struct loupe_state *loupe_cursor_seek_checkpoint(struct loupe_cursor *c, uint32_t serial,
						       uint64_t compare)
{
	const struct loupe_trace *t = c->t;
	const struct trace_checkpoint *ckpt;

	if (!serial || serial > t->checkpoints.cnt)
		return NULL;
	ckpt = &t->checkpoints.at[serial - 1];
	if (!loupe_cursor_seek(c, ckpt->born))
		return NULL;
	/* A dead part that was precise is gone in either order: marks first, then cleaning. */
	for (int clean = 0; clean < 2; clean++) {
		for (uint32_t m = ckpt->mark; m != TRACE_NONE; m = t->marks.at[m].prev) {
			const struct trace_mark_rec *mark = &t->marks.at[m];

			if (mark->compare > compare || (mark->kind & MARK_CLEAN) != clean ||
			    mark->frameno > c->st.curframe)
				continue;
			if (clean)
				apply_clean(c, mark);
			else
				apply_precise(c, mark);
		}
	}
	c->step = LOUPE_NO_STEP; /* the state is no longer a step's */
	c->st.serial = serial;
	c->st.insn_idx = ckpt->insn_idx;
	return &c->st;
}

int loupe_cursor_compare_values(struct loupe_cursor *c, uint64_t row, struct loupe_value *old,
				struct loupe_value *cur)
{
	struct loupe_compare_info info;
	const struct loupe_frame *frame;
	const struct loupe_state *st;
	struct loupe_loc loc;
	int err = loupe_trace_compare(c->t, row, &info);

	memset(old, 0, sizeof(*old));
	memset(cur, 0, sizeof(*cur));
	if (err)
		return err;
	if (info.reg < 0 && info.spi < 0)
		return -ENOENT;
	loc.kind = info.reg >= 0 ? LOUPE_LOC_REG : LOUPE_LOC_SLOT;
	loc.frameno = info.frameno;
	loc.index = (uint8_t)(info.reg >= 0 ? info.reg : info.spi);
	st = loupe_cursor_seek_checkpoint(c, info.serial, row);
	if (!st)
		return -ENOMEM;
	if (trace_loc(loc) < 0 || loc.frameno > st->curframe)
		return -ENOENT;
	frame = st->frame[loc.frameno];
	if (loc.kind == LOUPE_LOC_REG) {
		old->present = true;
		old->reg = frame->regs[loc.index];
	} else if (loc.index < frame->slot_cnt) {
		const struct loupe_slot *slot = &frame->stack->slot[loc.index];

		memcpy(old->type, slot->type, sizeof(old->type));
		for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++)
			old->present |= slot->type[i] != STACK_INVALID;
		if (trace_slot_has_reg(slot))
			old->reg = slot->spilled;
	}
	return loupe_trace_value(c->t, info.step, loc, cur);
}

/* --- all differences -------------------------------------------------------------------------- */

static bool is_recorded(const struct loupe_diff *diff, const struct loupe_compare_info *info)
{
	return diff->kind == info->diff && diff->frameno == info->frameno &&
	       diff->reg == info->reg && diff->spi == info->spi;
}

int loupe_cursor_compare_diffs(struct loupe_cursor *then, struct loupe_cursor *now, uint64_t row,
			       struct loupe_diff *out, uint32_t cap, uint32_t *cnt)
{
	/* what the run allowed is not recorded: the first difference tells */
	static const uint32_t runs[] = {
		0,
		LOUPE_DIFFS_UNPRIVILEGED,
		LOUPE_DIFFS_UNPRIVILEGED | LOUPE_DIFFS_EXACT_SCALARS,
	};
	struct loupe_compare_info info;
	const struct loupe_state *old, *cur;
	struct loupe_diff first;
	int err = loupe_trace_compare(then->t, row, &info);

	*cnt = 0;
	if (err || info.diff == LOUPE_DIFF_NONE)
		return err;
	old = loupe_cursor_seek_checkpoint(then, info.serial, row);
	cur = loupe_cursor_seek(now, info.step);
	if (!old || !cur)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		err = loupe_state_diffs(then->t->facts, then->t->facts_cnt, old, cur, info.mode,
					runs[i], &first, 1, cnt);
		if (err)
			return err;
		if (*cnt && is_recorded(&first, &info))
			return loupe_state_diffs(then->t->facts, then->t->facts_cnt, old, cur,
						 info.mode, runs[i], out, cap, cnt);
	}
	/* what is known for sure */
	*cnt = 1;
	if (cap)
		out[0] = (struct loupe_diff){
			.kind = info.diff,
			.frameno = info.frameno,
			.reg = info.reg,
			.spi = info.spi,
		};
	return 0;
}
