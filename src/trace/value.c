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
	CODE_OTHER, /* all ones for the mask, the unsigned bound of the same end for a signed one */
};

/*
 * Which fields follow varies from register to register, so deciding by jumps would be mispredicted
 * again and again: words are always written, and the place for the next one moves or stays.
 */
struct writer {
	uint32_t *at;
	uint32_t header;
};

static inline void put_wide(struct writer *w, enum wide field, uint64_t v, uint64_t usual,
			    uint64_t other)
{
	uint32_t two = (v >> 32) != 0, code = CODE_WORD + two, cnt = 1 + two;

	code = v == other ? CODE_OTHER : code;
	code = v == usual ? CODE_USUAL : code;
	cnt = (v == usual) | (v == other) ? 0 : cnt;
	w->at[0] = (uint32_t)v;
	w->at[1] = (uint32_t)(v >> 32);
	w->at += cnt;
	w->header |= code << (HDR_WIDE + 2 * field);
}

static inline void put_narrow(struct writer *w, enum narrow field, uint32_t v, uint32_t usual)
{
	uint32_t differs = v != usual;

	w->at[0] = v;
	w->at += differs;
	w->header |= differs << (HDR_NARROW + field);
}

static inline uint64_t bit63(uint64_t v)
{
	return v & 1ull << 63;
}

static inline uint32_t bit31(uint32_t v)
{
	return v & 1u << 31;
}

uint32_t trace_reg_encode(const struct loupe_reg *reg, uint32_t words[TRACE_MAX_WORDS])
{
	struct writer w = { .at = words + 1 };
	uint64_t v = reg->var_off.value, m = reg->var_off.mask;
	uint32_t v32 = (uint32_t)v, m32 = (uint32_t)m;

	w.header = reg->type & 31;
	w.header |= (uint32_t)reg->precise << HDR_PRECISE;
	put_wide(&w, W_VALUE, v, 0, 0);
	put_wide(&w, W_MASK, m, 0, UINT64_MAX);
	put_wide(&w, W_UMIN, reg->umin, v, v);
	put_wide(&w, W_UMAX, reg->umax, v | m, v | m);
	put_wide(&w, W_SMIN, (uint64_t)reg->smin, v | bit63(m), reg->umin);
	put_wide(&w, W_SMAX, (uint64_t)reg->smax, v | (m & ~bit63(m)), reg->umax);
	put_wide(&w, W_RAW0, reg->raw[0], 0, 0);
	put_wide(&w, W_RAW1, reg->raw[1], 0, 0);
	put_narrow(&w, N_FLAGS, reg->type, reg->type & 31);
	put_narrow(&w, N_OFF, (uint32_t)reg->off, 0);
	put_narrow(&w, N_S32_MIN, (uint32_t)reg->s32_min, v32 | bit31(m32));
	put_narrow(&w, N_S32_MAX, (uint32_t)reg->s32_max, v32 | (m32 & ~bit31(m32)));
	put_narrow(&w, N_U32_MIN, reg->u32_min, v32);
	put_narrow(&w, N_U32_MAX, reg->u32_max, v32 | m32);
	put_narrow(&w, N_ID, reg->id, 0);
	put_narrow(&w, N_REF, reg->ref_obj_id, 0);
	put_narrow(&w, N_FRAMENO, reg->frameno, 0);
	put_narrow(&w, N_SUBREG, (uint32_t)reg->subreg_def, 0);
	words[0] = w.header;
	return (uint32_t)(w.at - words);
}

struct reader {
	const uint32_t *at;
	uint32_t header;
};

/* All ones if set. */
static inline uint64_t ones(bool set)
{
	return -(uint64_t)set;
}

static inline uint64_t get_wide(struct reader *r, enum wide field, uint64_t usual, uint64_t other)
{
	uint32_t code = r->header >> (HDR_WIDE + 2 * field) & 3;
	uint64_t v = r->at[0] & ones(code == CODE_WORD || code == CODE_TWO);

	v |= (uint64_t)r->at[1] << 32 & ones(code == CODE_TWO);
	v |= usual & ones(code == CODE_USUAL);
	v |= other & ones(code == CODE_OTHER);
	r->at += code & (uint32_t)ones(code != CODE_OTHER); /* the code is the number of words */
	return v;
}

static inline uint32_t get_narrow(struct reader *r, enum narrow field, uint32_t usual)
{
	uint32_t differs = r->header >> (HDR_NARROW + field) & 1;
	uint32_t v = (*r->at & -differs) | (usual & (differs - 1));

	r->at += differs;
	return v;
}

void trace_reg_decode(const uint32_t *words, struct loupe_reg *reg)
{
	struct reader r = { .at = words + 1, .header = words[0] };
	uint64_t v, m;
	uint32_t v32, m32;

	memset(reg, 0, sizeof(*reg));
	reg->precise = r.header >> HDR_PRECISE & 1;
	v = reg->var_off.value = get_wide(&r, W_VALUE, 0, 0);
	m = reg->var_off.mask = get_wide(&r, W_MASK, 0, UINT64_MAX);
	reg->umin = get_wide(&r, W_UMIN, v, v);
	reg->umax = get_wide(&r, W_UMAX, v | m, v | m);
	reg->smin = (int64_t)get_wide(&r, W_SMIN, v | bit63(m), reg->umin);
	reg->smax = (int64_t)get_wide(&r, W_SMAX, v | (m & ~bit63(m)), reg->umax);
	reg->raw[0] = get_wide(&r, W_RAW0, 0, 0);
	reg->raw[1] = get_wide(&r, W_RAW1, 0, 0);
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

/* Header of a plain constant: its value follows in a word. */
#define CONST_HEADER (SCALAR_VALUE | (uint32_t)CODE_WORD << (HDR_WIDE + 2 * W_VALUE))

static uint32_t words_value(struct trace_pool *pool, const uint32_t *words, uint32_t n)
{
	if (n == 1 && words[0] < 1u << HDR_NARROW)
		return VALUE_HEADER | words[0];
	if (n == 2 && words[0] == CONST_HEADER && words[1] < VALUE_SMALL)
		return VALUE_CONST | words[1];
	return trace_pool_add(pool, words, n);
}

/* Where the cache may hold reg: all fields but padding count. */
static inline uint32_t cache_slot(const struct loupe_reg *reg)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	uint64_t a, b, c;

	a = (reg->var_off.value + k) * (reg->umin ^ 0xc4ceb9fe1a85ec53u) + reg->umax;
	b = (reg->var_off.mask ^ ((uint64_t)reg->type << 32 | (uint32_t)reg->off)) * k +
	    reg->raw[0];
	c = ((uint64_t)reg->id << 32 | reg->ref_obj_id) * k + (uint64_t)reg->smax +
	    ((uint64_t)(uint32_t)reg->subreg_def << 3);
	a = (a ^ a >> 29 ^ b ^ b >> 31) * k + c + (uint64_t)reg->smin * 3;
	a ^= c >> 32;
	return (uint32_t)(a * k >> 40) % TRACE_REG_CACHE;
}

uint32_t trace_reg_value(struct trace_pool *pool, const struct loupe_reg *reg)
{
	struct trace_cached_reg *cached = &pool->regs[cache_slot(reg)];
	uint32_t words[TRACE_MAX_WORDS];

	if (cached->value && trace_same_reg(&cached->reg, reg))
		return cached->value;
	cached->value = words_value(pool, words, trace_reg_encode(reg, words));
	trace_copy_reg(&cached->reg, reg);
	return cached->value;
}

void trace_value_reg(const struct trace_pool *pool, uint32_t value, struct loupe_reg *reg)
{
	uint32_t word = value & (VALUE_SMALL - 1);

	if (!value) {
		memset(reg, 0, sizeof(*reg));
	} else if ((value & VALUE_KIND) == VALUE_CONST) {
		memset(reg, 0, sizeof(*reg));
		reg->type = SCALAR_VALUE;
		reg->var_off.value = reg->umin = reg->umax = word;
		reg->smin = reg->smax = word;
		reg->s32_min = reg->s32_max = (int32_t)word;
		reg->u32_min = reg->u32_max = word;
	} else if ((value & VALUE_KIND) == VALUE_HEADER) {
		uint32_t words[1 + TRACE_SLACK] = { word };

		trace_reg_decode(words, reg);
	} else {
		trace_reg_decode(&pool->words.at[value], reg);
	}
}

/* --- stack slots ---------------------------------------------------------------------------- */

static const uint8_t all_invalid[LOUPE_REG_SIZE]; /* STACK_INVALID is 0 */
static const uint8_t all_spill[LOUPE_REG_SIZE] = {
	STACK_SPILL, STACK_SPILL, STACK_SPILL, STACK_SPILL,
	STACK_SPILL, STACK_SPILL, STACK_SPILL, STACK_SPILL,
};

bool trace_slot_has_reg(const struct loupe_slot *slot)
{
	uint8_t top = slot->type[LOUPE_REG_SIZE - 1];

	return top == STACK_SPILL || top >= STACK_DYNPTR;
}

bool trace_slot_value(struct trace_pool *pool, const struct loupe_slot *slot, uint32_t *value)
{
	struct trace_cached_slot *cached;
	uint32_t words[2] = { 0 };

	*value = 0;
	if (!memcmp(slot->type, all_invalid, sizeof(all_invalid)))
		return true;
	if (!memcmp(slot->type, all_spill, sizeof(all_spill))) {
		*value = trace_reg_value(pool, &slot->spilled);
		return *value != 0;
	}
	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++)
		words[0] |= (uint32_t)(slot->type[i] & 7) << (3 * i);
	if (!trace_slot_has_reg(slot)) {
		*value = VALUE_HEADER | VALUE_TYPES | words[0];
		return true;
	}
	words[1] = trace_reg_value(pool, &slot->spilled);
	if (!words[1])
		return false;
	cached = &pool->slots[(words[1] ^ words[0] * 5) % TRACE_SLOT_CACHE];
	if (!cached->value || cached->types != words[0] || cached->reg != words[1]) {
		*cached = (struct trace_cached_slot){ words[0], words[1],
						      trace_pool_add(pool, words, 2) };
		if (!cached->value)
			return false;
	}
	*value = cached->value | VALUE_TYPES;
	return true;
}

void trace_value_slot(const struct trace_pool *pool, uint32_t value, struct loupe_slot *slot)
{
	uint32_t word = value & (VALUE_SMALL - 1), types, reg = 0;

	if (!value) {
		memset(slot, 0, sizeof(*slot));
		return;
	}
	if (!(value & VALUE_TYPES)) {
		memcpy(slot->type, all_spill, sizeof(all_spill));
		trace_value_reg(pool, value, &slot->spilled);
		return;
	}
	if ((value & VALUE_KIND) == VALUE_HEADER) {
		types = word;
	} else {
		types = pool->words.at[word];
		reg = pool->words.at[word + 1];
	}
	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++)
		slot->type[i] = types >> (3 * i) & 7;
	trace_value_reg(pool, reg, &slot->spilled);
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
