// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as words. A register is a header word that says which fields follow; fields that follow
 * from the known bits alone are left out, so that a constant takes two words and an unknown number
 * takes one.
 */
#include "trace/store.h"

/* Header: 5 bits of base type, then these. Wide fields have a code of 2 bits, narrow ones 1 bit. */
enum {
	HDR_PRECISE = 5,
	HDR_WIDE = 6,
	HDR_NARROW = 22,
};

enum wide {
	W_VALUE,
	W_MASK,
	W_UMIN,
	W_UMAX,
	W_SMIN,
	W_SMAX,
	W_RAW0,
	W_RAW1,
	WIDE_CNT,
};

enum narrow {
	N_FLAGS,
	N_OFF,
	N_S32_MIN,
	N_S32_MAX,
	N_U32_MIN,
	N_U32_MAX,
	N_ID,
	N_REF,
	N_FRAMENO,
	N_SUBREG,
};

/* Codes of a wide field. */
enum {
	CODE_USUAL, /* what the known bits imply (0 for the union) */
	CODE_WORD,  /* one word follows */
	CODE_TWO,   /* two words follow */
	CODE_OTHER, /* all ones for the mask, the unsigned bound for a signed one, else a
		       sign-extended word follows */
};

struct writer {
	uint32_t *at;
	uint32_t header;
};

static void put_full(struct writer *w, enum wide field, uint64_t v)
{
	uint32_t code = CODE_TWO;

	*w->at++ = (uint32_t)v;
	if (v >> 32)
		*w->at++ = (uint32_t)(v >> 32);
	else
		code = CODE_WORD;
	w->header |= code << (HDR_WIDE + 2 * field);
}

/* A field whose other code means a sign-extended word. */
static void put_signed(struct writer *w, enum wide field, uint64_t v)
{
	if ((uint64_t)(int64_t)(int32_t)v == v && v >> 32) {
		w->header |= (uint32_t)CODE_OTHER << (HDR_WIDE + 2 * field);
		*w->at++ = (uint32_t)v;
		return;
	}
	put_full(w, field, v);
}

/* A field whose other code means the value `other`. */
static void put_or(struct writer *w, enum wide field, uint64_t v, uint64_t other)
{
	if (v == other)
		w->header |= (uint32_t)CODE_OTHER << (HDR_WIDE + 2 * field);
	else
		put_full(w, field, v);
}

static void put_narrow(struct writer *w, enum narrow field, uint32_t v)
{
	w->header |= 1u << (HDR_NARROW + field);
	*w->at++ = v;
}

static uint64_t bit63(uint64_t v)
{
	return v & 1ull << 63;
}

static uint32_t bit31(uint32_t v)
{
	return v & 1u << 31;
}

uint32_t trace_reg_encode(const struct loupe_reg *reg, uint32_t words[TRACE_MAX_WORDS])
{
	struct writer w = { .at = words + 1 };
	uint64_t v = reg->var_off.value, m = reg->var_off.mask;
	uint32_t v32 = (uint32_t)v, m32 = (uint32_t)m;

	w.header = loupe_base_type(reg->type) & 31;
	w.header |= (uint32_t)reg->precise << HDR_PRECISE;
	if (v)
		put_signed(&w, W_VALUE, v);
	if (m)
		put_or(&w, W_MASK, m, UINT64_MAX);
	if (reg->umin != v)
		put_signed(&w, W_UMIN, reg->umin);
	if (reg->umax != (v | m))
		put_signed(&w, W_UMAX, reg->umax);
	if ((uint64_t)reg->smin != (v | bit63(m)))
		put_or(&w, W_SMIN, (uint64_t)reg->smin, reg->umin);
	if ((uint64_t)reg->smax != (v | (m & ~bit63(m))))
		put_or(&w, W_SMAX, (uint64_t)reg->smax, reg->umax);
	if (reg->raw[0])
		put_signed(&w, W_RAW0, reg->raw[0]);
	if (reg->raw[1])
		put_signed(&w, W_RAW1, reg->raw[1]);
	if (reg->type > 31)
		put_narrow(&w, N_FLAGS, reg->type);
	if (reg->off)
		put_narrow(&w, N_OFF, (uint32_t)reg->off);
	if ((uint32_t)reg->s32_min != (v32 | bit31(m32)))
		put_narrow(&w, N_S32_MIN, (uint32_t)reg->s32_min);
	if ((uint32_t)reg->s32_max != (v32 | (m32 & ~bit31(m32))))
		put_narrow(&w, N_S32_MAX, (uint32_t)reg->s32_max);
	if (reg->u32_min != v32)
		put_narrow(&w, N_U32_MIN, reg->u32_min);
	if (reg->u32_max != (v32 | m32))
		put_narrow(&w, N_U32_MAX, reg->u32_max);
	if (reg->id)
		put_narrow(&w, N_ID, reg->id);
	if (reg->ref_obj_id)
		put_narrow(&w, N_REF, reg->ref_obj_id);
	if (reg->frameno)
		put_narrow(&w, N_FRAMENO, reg->frameno);
	if (reg->subreg_def)
		put_narrow(&w, N_SUBREG, (uint32_t)reg->subreg_def);
	words[0] = w.header;
	return (uint32_t)(w.at - words);
}

struct reader {
	const uint32_t *at;
	uint32_t header;
};

static uint64_t get_wide(struct reader *r, enum wide field, uint64_t usual, const uint64_t *other)
{
	uint64_t v;

	switch (r->header >> (HDR_WIDE + 2 * field) & 3) {
	case CODE_WORD:
		return *r->at++;
	case CODE_TWO:
		v = r->at[0] | (uint64_t)r->at[1] << 32;
		r->at += 2;
		return v;
	case CODE_OTHER:
		return other ? *other : (uint64_t)(int64_t)(int32_t)*r->at++;
	default:
		return usual;
	}
}

static uint32_t get_narrow(struct reader *r, enum narrow field, uint32_t usual)
{
	return r->header >> (HDR_NARROW + field) & 1 ? *r->at++ : usual;
}

void trace_reg_decode(const uint32_t *words, struct loupe_reg *reg)
{
	static const uint64_t ones = UINT64_MAX;
	struct reader r = { .at = words + 1, .header = words[0] };
	uint64_t v, m;
	uint32_t v32, m32;

	memset(reg, 0, sizeof(*reg));
	reg->precise = r.header >> HDR_PRECISE & 1;
	v = reg->var_off.value = get_wide(&r, W_VALUE, 0, NULL);
	m = reg->var_off.mask = get_wide(&r, W_MASK, 0, &ones);
	reg->umin = get_wide(&r, W_UMIN, v, NULL);
	reg->umax = get_wide(&r, W_UMAX, v | m, NULL);
	reg->smin = (int64_t)get_wide(&r, W_SMIN, v | bit63(m), &reg->umin);
	reg->smax = (int64_t)get_wide(&r, W_SMAX, v | (m & ~bit63(m)), &reg->umax);
	reg->raw[0] = get_wide(&r, W_RAW0, 0, NULL);
	reg->raw[1] = get_wide(&r, W_RAW1, 0, NULL);
	v32 = (uint32_t)v;
	m32 = (uint32_t)m;
	reg->type = get_narrow(&r, N_FLAGS, r.header & 31);
	reg->off = (int32_t)get_narrow(&r, N_OFF, 0);
	reg->s32_min = (int32_t)get_narrow(&r, N_S32_MIN, v32 | bit31(m32));
	reg->s32_max = (int32_t)get_narrow(&r, N_S32_MAX, v32 | (m32 & ~bit31(m32)));
	reg->u32_min = get_narrow(&r, N_U32_MIN, v32);
	reg->u32_max = get_narrow(&r, N_U32_MAX, v32 | m32);
	reg->id = get_narrow(&r, N_ID, 0);
	reg->ref_obj_id = get_narrow(&r, N_REF, 0);
	reg->frameno = get_narrow(&r, N_FRAMENO, 0);
	reg->subreg_def = (int32_t)get_narrow(&r, N_SUBREG, 0);
}

/* --- stack slots ---------------------------------------------------------------------------- */

bool trace_slot_has_reg(const struct loupe_slot *slot)
{
	uint8_t top = slot->type[LOUPE_REG_SIZE - 1];

	return top == STACK_SPILL || top >= STACK_DYNPTR;
}

uint32_t trace_slot_encode(const struct loupe_slot *slot, uint32_t reg, uint32_t words[2])
{
	words[0] = 0;
	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++)
		words[0] |= (uint32_t)(slot->type[i] & 7) << (3 * i);
	words[1] = reg;
	return reg ? 2 : 1;
}

void trace_slot_decode(const struct trace_pool *pool, uint32_t value, struct loupe_slot *slot)
{
	uint32_t types = pool->words.at[value]; /* 0 at 0: absent */

	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++)
		slot->type[i] = types >> (3 * i) & 7;
	if (value && trace_slot_has_reg(slot))
		trace_reg_decode(&pool->words.at[pool->words.at[value + 1]], &slot->spilled);
	else
		memset(&slot->spilled, 0, sizeof(slot->spilled));
}

/* --- a frame's and a state's other facts ---------------------------------------------------- */

uint32_t trace_frame_encode(const struct loupe_frame *frame, uint32_t words[TRACE_FRAME_WORDS])
{
	words[0] = (uint32_t)frame->callsite;
	words[1] = frame->subprogno;
	words[2] = frame->async_entry_cnt;
	words[3] = (uint32_t)frame->callback_ret_range.min;
	words[4] = (uint32_t)frame->callback_ret_range.max;
	words[5] = (uint32_t)frame->in_callback_fn | (uint32_t)frame->in_async_callback_fn << 1 |
		   (uint32_t)frame->in_exception_callback_fn << 2;
	words[6] = frame->callback_depth;
	words[7] = frame->slot_cnt;
	return TRACE_FRAME_WORDS;
}

void trace_frame_decode(const uint32_t *words, struct loupe_frame *frame)
{
	frame->callsite = (int32_t)words[0];
	frame->subprogno = words[1];
	frame->async_entry_cnt = words[2];
	frame->callback_ret_range.min = (int32_t)words[3];
	frame->callback_ret_range.max = (int32_t)words[4];
	frame->in_callback_fn = words[5] & 1;
	frame->in_async_callback_fn = words[5] >> 1 & 1;
	frame->in_exception_callback_fn = words[5] >> 2 & 1;
	frame->callback_depth = words[6];
	frame->slot_cnt = words[7] > LOUPE_MAX_SLOTS ? LOUPE_MAX_SLOTS : words[7];
}

uint32_t trace_state_encode(const struct loupe_state *st, uint32_t *words)
{
	uint32_t *w = words;

	*w++ = st->ref_cnt;
	*w++ = st->active_locks;
	*w++ = st->active_preempt_locks;
	*w++ = st->active_irq_id;
	*w++ = st->active_lock_id;
	*w++ = (uint32_t)st->active_lock_ptr;
	*w++ = (uint32_t)(st->active_lock_ptr >> 32);
	*w++ = st->active_rcu_locks;
	*w++ = st->callback_unroll_depth;
	*w++ = st->may_goto_depth;
	*w++ = (uint32_t)st->speculative | (uint32_t)st->in_sleepable << 1;
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		*w++ = st->refs[i].type;
		*w++ = st->refs[i].id;
		*w++ = (uint32_t)st->refs[i].insn_idx;
		*w++ = (uint32_t)st->refs[i].ptr;
		*w++ = (uint32_t)(st->refs[i].ptr >> 32);
	}
	return (uint32_t)(w - words);
}

uint32_t trace_state_ref_cnt(const uint32_t *words)
{
	return words[0];
}

void trace_state_decode(const uint32_t *words, struct loupe_state *st)
{
	const uint32_t *w = words;

	st->ref_cnt = *w++;
	st->active_locks = *w++;
	st->active_preempt_locks = *w++;
	st->active_irq_id = *w++;
	st->active_lock_id = *w++;
	st->active_lock_ptr = w[0] | (uint64_t)w[1] << 32;
	w += 2;
	st->active_rcu_locks = *w++;
	st->callback_unroll_depth = *w++;
	st->may_goto_depth = *w++;
	st->speculative = *w & 1;
	st->in_sleepable = *w++ >> 1 & 1;
	for (uint32_t i = 0; i < st->ref_cnt; i++, w += TRACE_REF_WORDS) {
		st->refs[i] = (struct loupe_ref){ .type = w[0],
						  .id = w[1],
						  .insn_idx = (int32_t)w[2],
						  .ptr = w[3] | (uint64_t)w[4] << 32 };
	}
}
