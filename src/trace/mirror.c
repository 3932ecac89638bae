// SPDX-License-Identifier: GPL-2.0-only
/* What changed since the step before: compares the verifier's state with the mirror. */
#include "insn/opcodes.h"
#include "trace/store.h"

void trace_mirror_reset(struct trace_mirror *m)
{
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++)
		memset(&m->frame[f], 0, sizeof(m->frame[f]));
	memset(m->last, 0xff, sizeof(m->last));
	memset(m->value, 0, sizeof(m->value));
	m->curframe = 0;
	m->state_meta.cnt = 0;
	m->stale_state = false;
}

void trace_mirror_undo(struct loupe_trace *t, struct trace_mirror *m, uint32_t from, uint32_t to)
{
	while (to-- > from) {
		uint32_t loc = t->change_loc.at[to], prev = t->change_prev.at[to];
		struct trace_mirror_frame *f = &m->frame[loc / LOC_STRIDE % LOUPE_MAX_FRAMES];
		uint32_t in = loc % LOC_STRIDE;

		m->last[loc] = prev;
		m->value[loc] = prev == TRACE_NONE ? 0 : t->change_value.at[prev];
		if (loc == LOC_STATE_META)
			m->stale_state = true;
		else if (in < LOC_SLOT)
			f->stale_regs |= 1u << in;
		else if (in < LOC_FRAME_META)
			f->stale_slots |= 1ull << (in - LOC_SLOT);
		else
			f->stale_meta = true;
	}
}

/* Room was made by the caller. */
static void record(struct loupe_trace *t, struct trace_mirror *m, uint32_t loc, uint32_t value)
{
	size_t n = t->change_loc.cnt;

	t->change_loc.at[n] = (uint16_t)loc;
	t->change_value.at[n] = value;
	t->change_prev.at[n] = m->last[loc];
	t->change_loc.cnt = t->change_value.cnt = t->change_prev.cnt = n + 1;
	m->last[loc] = (uint32_t)n;
	m->value[loc] = value;
}

static inline bool same(const void *a, const void *b, size_t size)
{
	return !memcmp(a, b, size);
}

static bool diff_reg(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		     uint32_t regno, const struct loupe_reg *reg, bool force)
{
	struct trace_mirror_frame *f = &m->frame[frameno];
	uint32_t loc = frameno * LOC_STRIDE + regno, value;
	uint32_t words[TRACE_MAX_WORDS];

	if (!force) {
		if (f->stale_regs & 1u << regno) {
			trace_reg_decode(&t->pool.words.at[m->value[loc]], &f->regs[regno]);
			f->stale_regs &= ~(1u << regno);
		}
		if (same(&f->regs[regno], reg, sizeof(*reg)))
			return true;
	}
	value = trace_pool_intern(&t->pool, words, trace_reg_encode(reg, words));
	if (!value)
		return false;
	f->regs[regno] = *reg;
	f->stale_regs &= ~(1u << regno);
	if (force || value != m->value[loc])
		record(t, m, loc, value);
	return true;
}

static bool slot_empty(const struct loupe_slot *slot)
{
	static const uint8_t invalid[LOUPE_REG_SIZE]; /* STACK_INVALID is 0 */

	return same(slot->type, invalid, sizeof(invalid));
}

/* slot: NULL beyond the frame's stack. */
static bool diff_slot(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno, uint32_t spi,
		      const struct loupe_slot *slot, bool force)
{
	struct trace_mirror_frame *f = &m->frame[frameno];
	uint32_t loc = frameno * LOC_STRIDE + LOC_SLOT + spi, value = 0;
	uint32_t words[TRACE_MAX_WORDS], reg = 0;

	if (slot && !force) {
		if (f->stale_slots & 1ull << spi) {
			trace_slot_decode(&t->pool, m->value[loc], &f->slots[spi]);
			f->stale_slots &= ~(1ull << spi);
		}
		if (same(&f->slots[spi], slot, sizeof(*slot)))
			return true;
	}
	if (slot && !slot_empty(slot)) {
		if (trace_slot_has_reg(slot)) {
			reg = trace_pool_intern(&t->pool, words,
						trace_reg_encode(&slot->spilled, words));
			if (!reg)
				return false;
		}
		value = trace_pool_intern(&t->pool, words, trace_slot_encode(slot, reg, words));
		if (!value)
			return false;
	}
	if (slot) {
		f->slots[spi] = *slot;
		f->stale_slots &= ~(1ull << spi);
		if (spi >= f->high)
			f->high = spi + 1;
	} else {
		f->stale_slots |= 1ull << spi;
	}
	/* Empty slots need no record of their own, not even in a new frame, unless they had another
	 * value in an earlier frame of this number. */
	if (value != m->value[loc] || (force && value))
		record(t, m, loc, value);
	return true;
}

static bool diff_frame_meta(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
			    const struct loupe_frame *frame, bool force)
{
	struct trace_mirror_frame *f = &m->frame[frameno];
	uint32_t loc = frameno * LOC_STRIDE + LOC_FRAME_META, value;
	uint32_t words[TRACE_FRAME_WORDS];

	trace_frame_encode(frame, words);
	if (!force && !f->stale_meta && same(words, f->meta, sizeof(words)))
		return true;
	value = trace_pool_intern(&t->pool, words, TRACE_FRAME_WORDS);
	if (!value)
		return false;
	memcpy(f->meta, words, sizeof(words));
	f->stale_meta = false;
	if (force || value != m->value[loc])
		record(t, m, loc, value);
	return true;
}

static bool diff_state_meta(struct loupe_trace *t, struct trace_mirror *m,
			    const struct loupe_state *st)
{
	uint32_t n, value;

	if (!TRACE_ROOM(&m->state_room, TRACE_STATE_WORDS + (size_t)st->ref_cnt * TRACE_REF_WORDS))
		return false;
	n = trace_state_encode(st, m->state_room.at);
	if (!m->stale_state && n == m->state_meta.cnt &&
	    same(m->state_room.at, m->state_meta.at, n * sizeof(uint32_t)))
		return true;
	value = trace_pool_intern(&t->pool, m->state_room.at, n);
	if (!value)
		return false;
	m->state_meta.cnt = 0;
	if (!TRACE_ROOM(&m->state_meta, n))
		return false;
	memcpy(m->state_meta.at, m->state_room.at, n * sizeof(uint32_t));
	m->state_meta.cnt = n;
	m->stale_state = false;
	if (value != m->value[LOC_STATE_META])
		record(t, m, LOC_STATE_META, value);
	return true;
}

static bool diff_stack(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		       const struct loupe_frame *frame, bool force)
{
	uint32_t high = m->frame[frameno].high, spi;

	for (spi = 0; spi < frame->slot_cnt; spi++) {
		if (!diff_slot(t, m, frameno, spi, &frame->stack->slot[spi], force))
			return false;
	}
	for (; spi < high; spi++) {
		if (m->value[frameno * LOC_STRIDE + LOC_SLOT + spi] &&
		    !diff_slot(t, m, frameno, spi, NULL, force))
			return false;
	}
	return true;
}

static bool diff_frame(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		       const struct loupe_frame *frame, bool force)
{
	struct trace_mirror_frame *f = &m->frame[frameno];

	if (force || f->stale_regs || !same(f->regs, frame->regs, sizeof(f->regs))) {
		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
			if (!diff_reg(t, m, frameno, r, &frame->regs[r], force))
				return false;
		}
	}
	return diff_stack(t, m, frameno, frame, force) &&
	       diff_frame_meta(t, m, frameno, frame, force);
}

static uint32_t access_size(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

/* Register of the current frame as it was at the step before. */
static const struct loupe_reg *old_reg(struct loupe_trace *t, struct trace_mirror *m,
				       uint32_t regno)
{
	struct trace_mirror_frame *f = &m->frame[m->curframe];

	if (f->stale_regs & 1u << regno) {
		uint32_t value = m->value[m->curframe * LOC_STRIDE + regno];

		trace_reg_decode(&t->pool.words.at[value], &f->regs[regno]);
		f->stale_regs &= ~(1u << regno);
	}
	return &f->regs[regno];
}

/*
 * Slots that a store through its destination register may change: [*first, *last] of frame
 * *frameno. Returns 0 if it is none, 1 if it is those, -1 if it may be anything.
 */
static int store_slots(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_insn *insn,
		       const struct loupe_state *st, uint32_t *frameno, uint32_t *first,
		       uint32_t *last)
{
	const struct loupe_reg *base = old_reg(t, m, insn->dst_reg);
	struct trace_mirror_frame *f;
	int64_t off;

	if (loupe_base_type(base->type) != PTR_TO_STACK)
		return 0;
	off = (int64_t)base->var_off.value + base->off + insn->off;
	if (base->var_off.mask || off < -LOUPE_MAX_STACK || off + access_size(insn->code) > 0 ||
	    base->frameno > st->curframe)
		return -1;
	*frameno = base->frameno;
	*last = (uint32_t)(-off - 1) / LOUPE_REG_SIZE;
	*first = (uint32_t)(-(off + access_size(insn->code) - 1) - 1) / LOUPE_REG_SIZE;
	f = &m->frame[*frameno];
	for (uint32_t spi = *first; spi <= *last; spi++) {
		/* Overwriting a dynptr or an iterator reaches further. */
		if (f->stale_slots & 1ull << spi)
			trace_slot_decode(&t->pool,
					  m->value[*frameno * LOC_STRIDE + LOC_SLOT + spi],
					  &f->slots[spi]);
		f->stale_slots &= ~(1ull << spi);
		if (f->slots[spi].type[LOUPE_REG_SIZE - 1] >= STACK_DYNPTR)
			return -1;
	}
	return 1;
}

/* The slots that a store or an atomic operation may change. *all: look at everything instead. */
static bool diff_store(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_state *st,
		       const struct loupe_insn *insn, bool *all)
{
	uint32_t frameno, first, last;
	const struct loupe_frame *frame;
	int which = store_slots(t, m, insn, st, &frameno, &first, &last);

	*all = which < 0;
	if (which <= 0)
		return true;
	frame = st->frame[frameno];
	if (last >= frame->slot_cnt) {
		*all = true;
		return true;
	}
	for (uint32_t spi = first; spi <= last; spi++) {
		if (!diff_slot(t, m, frameno, spi, &frame->stack->slot[spi], false))
			return false;
	}
	return diff_frame_meta(t, m, frameno, frame, false);
}

/* A load writes its destination; one from the stack may enlarge the stack. */
static bool diff_load(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_state *st,
		      const struct loupe_insn *insn)
{
	const struct loupe_reg *base = old_reg(t, m, insn->src_reg);

	if (loupe_base_type(base->type) == PTR_TO_STACK && base->frameno <= st->curframe &&
	    !diff_frame_meta(t, m, base->frameno, st->frame[base->frameno], false))
		return false;
	return diff_reg(t, m, m->curframe, insn->dst_reg,
			&st->frame[m->curframe]->regs[insn->dst_reg], false);
}

bool trace_mirror_diff(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_state *st,
		       enum trace_scope scope, const struct loupe_insn *insn)
{
	uint32_t cur = st->curframe;
	const struct loupe_reg *regs = st->frame[cur]->regs;
	bool all = scope != TRACE_SCOPE_INSN || cur != m->curframe;

	if (!all) {
		uint8_t class = BPF_CLASS(insn->code);

		switch (class) {
		case BPF_ALU:
		case BPF_ALU64:
			/* A source may get an id when it is copied. */
			return diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg], false) &&
			       (BPF_SRC(insn->code) != BPF_X ||
				diff_reg(t, m, cur, insn->src_reg, &regs[insn->src_reg], false));
		case BPF_LDX:
			return diff_load(t, m, st, insn);
		case BPF_LD:
			if (BPF_MODE(insn->code) == BPF_IMM)
				return diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg],
						false);
			all = true;
			break;
		case BPF_ST:
		case BPF_STX:
			if (!diff_store(t, m, st, insn, &all))
				return false;
			if (all)
				break;
			if (class == BPF_STX &&
			    !diff_reg(t, m, cur, insn->src_reg, &regs[insn->src_reg], false))
				return false;
			return BPF_MODE(insn->code) != BPF_ATOMIC ||
			       (diff_reg(t, m, cur, BPF_REG_0, &regs[BPF_REG_0], false) &&
				diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg], false));
		case BPF_JMP:
		case BPF_JMP32:
			if (BPF_OP(insn->code) == BPF_JA)
				return true;
			all = true;
			break;
		}
	}
	for (uint32_t f = 0; f <= cur; f++) {
		bool fresh = scope == TRACE_SCOPE_FRESH || f > m->curframe;

		if (!diff_frame(t, m, f, st->frame[f], fresh))
			return false;
	}
	m->curframe = cur;
	return diff_state_meta(t, m, st);
}
