// SPDX-License-Identifier: GPL-2.0-only
/* What changed since the step before: compares the verifier's state with the mirror. */
#include "insn/opcodes.h"
#include "trace/store.h"

void trace_mirror_reset(struct trace_mirror *m)
{
	memset(m->frame, 0, m->frame_cnt * sizeof(m->frame[0]));
	memset(m->last, 0xff, sizeof(m->last));
	memset(m->value, 0, sizeof(m->value));
	memset(m->stale, 0, sizeof(m->stale));
	m->curframe = m->frame_cnt = 0;
}

static inline bool is_stale(const struct trace_mirror *m, uint32_t loc)
{
	return m->stale[loc / 64] >> loc % 64 & 1;
}

static inline void set_stale(struct trace_mirror *m, uint32_t loc)
{
	m->stale[loc / 64] |= 1ull << loc % 64;
}

static inline void set_fresh(struct trace_mirror *m, uint32_t loc)
{
	m->stale[loc / 64] &= ~(1ull << loc % 64);
}

void trace_mirror_undo(struct loupe_trace *t, struct trace_mirror *m, uint32_t from, uint32_t to)
{
	while (to-- > from) {
		uint32_t loc = t->changes.at[to].loc, prev = t->changes.at[to].prev;

		m->last[loc] = prev;
		m->value[loc] = prev == TRACE_NONE ? 0 : t->changes.at[prev].value;
		set_stale(m, loc);
	}
}

static inline uint64_t *stale_regs(struct trace_mirror *m, uint32_t frameno)
{
	return &m->stale[(frameno * LOC_STRIDE + LOC_REG) / 64];
}

void trace_mirror_get_regs(const struct trace_mirror *m, struct trace_regs *regs)
{
	regs->fresh = (uint32_t)~m->stale[(m->curframe * LOC_STRIDE + LOC_REG) / 64];
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
		trace_copy_reg(&regs->reg[r], &m->frame[m->curframe].regs[r]);
}

void trace_mirror_put_regs(struct trace_mirror *m, const struct trace_regs *regs)
{
	uint64_t *stale = stale_regs(m, m->curframe);
	uint32_t put = (uint32_t)*stale & regs->fresh & ((1u << LOUPE_MAX_REG) - 1);

	*stale &= ~(uint64_t)put;
	for (; put; put &= put - 1) {
		uint32_t r = (uint32_t)__builtin_ctz(put);

		trace_copy_reg(&m->frame[m->curframe].regs[r], &regs->reg[r]);
	}
}

/* Room was made by the caller. */
static void record(struct loupe_trace *t, struct trace_mirror *m, uint32_t loc, uint32_t value)
{
	size_t n = t->changes.cnt;

	t->changes.at[n] =
		(struct trace_change){ .value = value, .prev = m->last[loc], .loc = (uint16_t)loc };
	t->changes.cnt = n + 1;
	m->last[loc] = (uint32_t)n;
	m->value[loc] = value;
}

static inline bool same(const void *a, const void *b, size_t size)
{
	return !memcmp(a, b, size);
}

static inline bool same_slot(const struct loupe_slot *a, const struct loupe_slot *b)
{
	return same(a->type, b->type, sizeof(a->type)) &&
	       (!trace_slot_has_reg(a) || trace_same_reg(&a->spilled, &b->spilled));
}

/* The register of frame frameno as it was at the step before. */
static inline const struct loupe_reg *old_reg(struct loupe_trace *t, struct trace_mirror *m,
					      uint32_t frameno, uint32_t regno)
{
	struct loupe_reg *reg = &m->frame[frameno].regs[regno];
	uint32_t loc = frameno * LOC_STRIDE + LOC_REG + regno;

	if (is_stale(m, loc)) {
		trace_value_reg(&t->pool, m->value[loc], reg);
		set_fresh(m, loc);
	}
	return reg;
}

static inline const struct loupe_slot *old_slot(struct loupe_trace *t, struct trace_mirror *m,
						uint32_t frameno, uint32_t spi)
{
	struct loupe_slot *slot = &m->frame[frameno].slots[spi];
	uint32_t loc = frameno * LOC_STRIDE + LOC_SLOT + spi;

	if (is_stale(m, loc)) {
		trace_value_slot(&t->pool, m->value[loc], slot);
		set_fresh(m, loc);
	}
	return slot;
}

/* Takes over a register that changed. */
static bool take_reg(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		     uint32_t regno, const struct loupe_reg *reg)
{
	uint32_t loc = frameno * LOC_STRIDE + LOC_REG + regno;
	uint32_t value = trace_reg_value(&t->pool, reg);

	if (!value)
		return false;
	trace_copy_reg(&m->frame[frameno].regs[regno], reg);
	set_fresh(m, loc);
	record(t, m, loc, value);
	return true;
}

static bool diff_reg(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		     uint32_t regno, const struct loupe_reg *reg)
{
	return trace_same_reg(old_reg(t, m, frameno, regno), reg) ||
	       take_reg(t, m, frameno, regno, reg);
}

/* All registers of a frame: finds those that differ first, then takes them over. */
static bool diff_regs(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		      const struct loupe_frame *frame, bool force)
{
	const struct loupe_reg *old = m->frame[frameno].regs;
	uint64_t stale = *stale_regs(m, frameno);
	uint32_t differ = (1u << LOUPE_MAX_REG) - 1;

	stale &= (uint64_t)differ;
	if (!force && !stale && same(old, frame->regs, sizeof(frame->regs)))
		return true;
	if (!force) {
		for (; stale; stale &= stale - 1)
			old_reg(t, m, frameno, (uint32_t)__builtin_ctzll(stale));
		differ = 0;
		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
			differ |= (uint32_t)!trace_same_reg(&old[r], &frame->regs[r]) << r;
	}
	for (; differ; differ &= differ - 1) {
		uint32_t r = (uint32_t)__builtin_ctz(differ);

		if (!take_reg(t, m, frameno, r, &frame->regs[r]))
			return false;
	}
	return true;
}

/* Takes over a slot that changed; NULL: it is no more, or not yet, in the frame's stack. */
static bool take_slot(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno, uint32_t spi,
		      const struct loupe_slot *slot)
{
	struct trace_mirror_frame *f = &m->frame[frameno];
	uint32_t loc = frameno * LOC_STRIDE + LOC_SLOT + spi, value = 0;

	if (slot) {
		if (!trace_slot_value(&t->pool, slot, &value))
			return false;
		f->slots[spi] = *slot;
		set_fresh(m, loc);
		if (spi >= f->high)
			f->high = spi + 1;
	} else {
		set_stale(m, loc);
	}
	/* Empty slots need no record of their own, not even in a new frame, unless they had another
	 * value in an earlier frame of this number. */
	if (value || m->value[loc])
		record(t, m, loc, value);
	return true;
}

static bool diff_slot(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno, uint32_t spi,
		      const struct loupe_slot *slot)
{
	return same_slot(old_slot(t, m, frameno, spi), slot) || take_slot(t, m, frameno, spi, slot);
}

/* The words of loc are compared with the pool's, so there is no raw copy to keep. */
static bool diff_words(struct loupe_trace *t, struct trace_mirror *m, uint32_t loc,
		       const uint32_t *words, uint32_t n, bool force)
{
	uint32_t value = m->value[loc];

	if (!force && value && same(&t->pool.words.at[value], words, n * sizeof(*words)))
		return true;
	value = trace_pool_add(&t->pool, words, n);
	if (!value)
		return false;
	record(t, m, loc, value);
	return true;
}

static bool diff_frame_meta(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
			    const struct loupe_frame *frame, bool force)
{
	uint32_t words[TRACE_FRAME_WORDS];

	trace_frame_encode(frame, words);
	return diff_words(t, m, frameno * LOC_STRIDE + LOC_FRAME_META, words, TRACE_FRAME_WORDS,
			  force);
}

static bool diff_state_meta(struct loupe_trace *t, struct trace_mirror *m,
			    const struct loupe_state *st)
{
	uint32_t n = TRACE_STATE_WORDS + st->ref_cnt * TRACE_REF_WORDS, value;

	if (!TRACE_ROOM(&m->state_room, n))
		return false;
	trace_state_encode(st, m->state_room.at);
	/* The number of references, and so the length, is the first word. */
	value = m->value[LOC_STATE_META];
	return diff_words(t, m, LOC_STATE_META, m->state_room.at, n,
			  !value || trace_state_ref_cnt(&t->pool.words.at[value]) != st->ref_cnt);
}

static bool diff_stack(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		       const struct loupe_frame *frame, bool force)
{
	struct trace_mirror_frame *f = &m->frame[frameno];
	uint32_t gen = frame->slot_cnt ? frame->stack->gen : 0, spi;

	if (!force && gen && gen == f->stack_gen)
		return true;
	for (spi = 0; spi < frame->slot_cnt; spi++) {
		const struct loupe_slot *slot = &frame->stack->slot[spi];

		if (!(force ? take_slot(t, m, frameno, spi, slot)
			    : diff_slot(t, m, frameno, spi, slot)))
			return false;
	}
	for (; spi < f->high; spi++) {
		if (m->value[frameno * LOC_STRIDE + LOC_SLOT + spi] &&
		    !take_slot(t, m, frameno, spi, NULL))
			return false;
	}
	f->stack_gen = gen;
	return true;
}

static bool diff_frame(struct loupe_trace *t, struct trace_mirror *m, uint32_t frameno,
		       const struct loupe_frame *frame, bool force)
{
	return diff_regs(t, m, frameno, frame, force) && diff_stack(t, m, frameno, frame, force) &&
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

/*
 * Slots that a store through its destination register may change: [*first, *last] of frame
 * *frameno. Returns 0 if it is none, 1 if it is those, -1 if it may be anything.
 */
static int store_slots(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_insn *insn,
		       const struct loupe_state *st, uint32_t *frameno, uint32_t *first,
		       uint32_t *last)
{
	const struct loupe_reg *base = old_reg(t, m, m->curframe, insn->dst_reg);
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
	for (uint32_t spi = *first; spi <= *last; spi++) {
		/* Overwriting a dynptr or an iterator reaches further. */
		if (old_slot(t, m, *frameno, spi)->type[LOUPE_REG_SIZE - 1] >= STACK_DYNPTR)
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
		if (!diff_slot(t, m, frameno, spi, &frame->stack->slot[spi]))
			return false;
	}
	m->frame[frameno].stack_gen = frame->stack->gen;
	return diff_frame_meta(t, m, frameno, frame, false);
}

/* A load writes its destination; one from the stack may enlarge the stack. */
static bool diff_load(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_state *st,
		      const struct loupe_insn *insn)
{
	const struct loupe_reg *base = old_reg(t, m, m->curframe, insn->src_reg);

	if (loupe_base_type(base->type) == PTR_TO_STACK && base->frameno <= st->curframe &&
	    !diff_frame_meta(t, m, base->frameno, st->frame[base->frameno], false))
		return false;
	return diff_reg(t, m, m->curframe, insn->dst_reg,
			&st->frame[m->curframe]->regs[insn->dst_reg]);
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
			return diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg]) &&
			       (BPF_SRC(insn->code) != BPF_X ||
				diff_reg(t, m, cur, insn->src_reg, &regs[insn->src_reg]));
		case BPF_LDX:
			return diff_load(t, m, st, insn);
		case BPF_LD:
			if (BPF_MODE(insn->code) == BPF_IMM)
				return diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg]);
			all = true;
			break;
		case BPF_ST:
		case BPF_STX:
			if (!diff_store(t, m, st, insn, &all))
				return false;
			if (all)
				break;
			if (class == BPF_STX &&
			    !diff_reg(t, m, cur, insn->src_reg, &regs[insn->src_reg]))
				return false;
			return BPF_MODE(insn->code) != BPF_ATOMIC ||
			       (diff_reg(t, m, cur, BPF_REG_0, &regs[BPF_REG_0]) &&
				diff_reg(t, m, cur, insn->dst_reg, &regs[insn->dst_reg]));
		case BPF_JMP:
		case BPF_JMP32:
			if (BPF_OP(insn->code) == BPF_JA)
				return true;
			all = true;
			break;
		}
	}
	if (m->frame_cnt <= cur)
		m->frame_cnt = cur + 1;
	for (uint32_t f = 0; f <= cur; f++) {
		bool fresh = scope == TRACE_SCOPE_FRESH || f > m->curframe;

		if (!diff_frame(t, m, f, st->frame[f], fresh))
			return false;
	}
	m->curframe = cur;
	return diff_state_meta(t, m, st);
}
