// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does an old state cover the present one: is everything that was proven from the old one also
 * proven from the present one? Each check returns the kind of the first difference, so that a miss
 * can be explained at no cost to those who do not ask.
 */
#include <stdlib.h>

#include "verifier/tnum.h"
#include "verifier/vf.h"

/* What is compared of a register as raw bytes. */
#define REG_BYTES_BEFORE_ID	 offsetof(struct loupe_reg, id)
#define REG_BYTES_BEFORE_VAR_OFF offsetof(struct loupe_reg, var_off)

#define CHECK(cond, kind)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			return (kind);                                                             \
	} while (0)

/* A scalar about which nothing is known: what a load from miscellaneous stack bytes gives. */
static const struct loupe_reg unbound_reg = {
	.type = SCALAR_VALUE,
	.var_off = { .mask = UINT64_MAX },
	.smin = INT64_MIN,
	.smax = INT64_MAX,
	.umax = UINT64_MAX,
	.s32_min = INT32_MIN,
	.s32_max = INT32_MAX,
	.u32_max = UINT32_MAX,
};

static bool range_within(const struct loupe_reg *old, const struct loupe_reg *cur)
{
	return old->umin <= cur->umin && old->umax >= cur->umax && old->smin <= cur->smin &&
	       old->smax >= cur->smax && old->u32_min <= cur->u32_min &&
	       old->u32_max >= cur->u32_max && old->s32_min <= cur->s32_min &&
	       old->s32_max >= cur->s32_max;
}

/* Ids correspond one to one: an old id always stands for the same present id, and only for it. */
static bool ids_match(struct vf_idmap *map, uint32_t old, uint32_t cur)
{
	if (!old != !cur)
		return false;
	if (!old)
		return true;
	for (uint32_t i = 0; i < map->cnt; i++) {
		if (map->map[i].old == old)
			return map->map[i].cur == cur;
		if (map->map[i].cur == cur)
			return false;
	}
	if (map->cnt == sizeof(map->map) / sizeof(map->map[0]))
		return false;
	map->map[map->cnt++] = (struct vf_id_pair){ old, cur };
	return true;
}

/*
 * A scalar without an id is unlike all others: it gets one that nobody else has. One at a distance
 * from others must correspond as such, and so must those that it is linked with.
 */
static bool scalar_ids_match(struct vf_idmap *map, uint32_t old, uint32_t cur)
{
	if (!old)
		return true;
	if (!cur)
		cur = ++map->tmp_id_gen;
	if (!ids_match(map, old, cur))
		return false;
	return !(old & LOUPE_ADD_CONST) ||
	       ids_match(map, old & ~LOUPE_ADD_CONST, cur & ~LOUPE_ADD_CONST);
}

static enum loupe_diff_kind regs_exact(struct vf_idmap *map, const struct loupe_reg *old,
				       const struct loupe_reg *cur, enum loupe_diff_kind kind)
{
	CHECK(memcmp(old, cur, REG_BYTES_BEFORE_ID) == 0,
	      old->type != cur->type ? LOUPE_DIFF_TYPE : kind);
	CHECK(ids_match(map, old->id, cur->id), LOUPE_DIFF_ID);
	CHECK(ids_match(map, old->ref_obj_id, cur->ref_obj_id), LOUPE_DIFF_ID);
	return LOUPE_DIFF_NONE;
}

bool vf_regs_exact(struct vf_env *env, const struct loupe_reg *old, const struct loupe_reg *cur)
{
	return regs_exact(&env->idmap, old, cur, LOUPE_DIFF_RANGE) == LOUPE_DIFF_NONE;
}

static enum loupe_diff_kind scalar_safe(struct vf_env *env, const struct loupe_reg *old,
					const struct loupe_reg *cur, enum loupe_compare_mode mode)
{
	struct vf_idmap *map = &env->idmap;

	if (env->explore_alu_limits) {
		CHECK(memcmp(old, cur, REG_BYTES_BEFORE_ID) == 0, LOUPE_DIFF_PRECISION);
		CHECK(scalar_ids_match(map, old->id, cur->id), LOUPE_DIFF_ID);
		return LOUPE_DIFF_NONE;
	}
	if (!old->precise && mode == LOUPE_CMP_NOT_EXACT)
		return LOUPE_DIFF_NONE;
	CHECK(!old->id || (old->id & LOUPE_ADD_CONST) == (cur->id & LOUPE_ADD_CONST),
	      LOUPE_DIFF_ID);
	CHECK(!(old->id & LOUPE_ADD_CONST) || old->off == cur->off, LOUPE_DIFF_ID);
	CHECK(range_within(old, cur), LOUPE_DIFF_RANGE);
	CHECK(tnum_in(old->var_off, cur->var_off), LOUPE_DIFF_TNUM);
	CHECK(scalar_ids_match(map, old->id, cur->id), LOUPE_DIFF_ID);
	return LOUPE_DIFF_NONE;
}

static enum loupe_diff_kind reg_safe(struct vf_env *env, const struct loupe_reg *old,
				     const struct loupe_reg *cur, enum loupe_compare_mode mode)
{
	struct vf_idmap *map = &env->idmap;

	if (mode == LOUPE_CMP_EXACT)
		return regs_exact(map, old, cur, LOUPE_DIFF_RANGE);
	if (old->type == NOT_INIT && mode == LOUPE_CMP_NOT_EXACT)
		return LOUPE_DIFF_NONE;
	CHECK(old->type == cur->type, LOUPE_DIFF_TYPE);

	switch (loupe_base_type(old->type)) {
	case NOT_INIT:
		return LOUPE_DIFF_NONE;
	case SCALAR_VALUE:
		return scalar_safe(env, old, cur, mode);
	case PTR_TO_MAP_KEY:
	case PTR_TO_MAP_VALUE:
	case PTR_TO_MEM:
	case PTR_TO_BUF:
	case PTR_TO_TP_BUFFER:
		CHECK(memcmp(old, cur, REG_BYTES_BEFORE_VAR_OFF) == 0, LOUPE_DIFF_PTR_OFFSET);
		CHECK(range_within(old, cur), LOUPE_DIFF_RANGE);
		CHECK(tnum_in(old->var_off, cur->var_off), LOUPE_DIFF_TNUM);
		CHECK(ids_match(map, old->id, cur->id), LOUPE_DIFF_ID);
		CHECK(ids_match(map, old->ref_obj_id, cur->ref_obj_id), LOUPE_DIFF_ID);
		return LOUPE_DIFF_NONE;
	case PTR_TO_PACKET_META:
	case PTR_TO_PACKET:
		/* Negative: known to be at the end, or beyond. */
		CHECK(old->range < 0 || cur->range < 0 ? old->range == cur->range
						       : old->range <= cur->range,
		      LOUPE_DIFF_PKT_RANGE);
		CHECK(old->off == cur->off, LOUPE_DIFF_PTR_OFFSET);
		CHECK(ids_match(map, old->id, cur->id), LOUPE_DIFF_ID);
		CHECK(range_within(old, cur), LOUPE_DIFF_RANGE);
		CHECK(tnum_in(old->var_off, cur->var_off), LOUPE_DIFF_TNUM);
		return LOUPE_DIFF_NONE;
	case PTR_TO_STACK:
		CHECK(old->frameno == cur->frameno, LOUPE_DIFF_PTR_OFFSET);
		return regs_exact(map, old, cur, LOUPE_DIFF_PTR_OFFSET);
	case PTR_TO_ARENA:
		return LOUPE_DIFF_NONE;
	default:
		return regs_exact(map, old, cur, LOUPE_DIFF_PTR_OFFSET);
	}
}

/* The scalar that an 8-byte load from the slot gives, NULL if it gives none. */
static const struct loupe_reg *slot_scalar(const struct vf_env *env, const struct loupe_slot *slot)
{
	if (slot->type[0] == STACK_SPILL && slot->spilled.type == SCALAR_VALUE)
		return &slot->spilled;
	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++) {
		if (slot->type[i] != STACK_MISC &&
		    !(slot->type[i] == STACK_INVALID && env->allow_uninit_stack))
			return NULL;
	}
	return &unbound_reg;
}

/* Both slots hold the same kind of bytes. */
static enum loupe_diff_kind slot_content_safe(struct vf_env *env, const struct loupe_slot *old,
					      const struct loupe_slot *cur,
					      enum loupe_compare_mode mode)
{
	const struct loupe_reg *old_reg = &old->spilled, *cur_reg = &cur->spilled;
	struct vf_idmap *map = &env->idmap;

	switch (old->type[LOUPE_REG_SIZE - 1]) {
	case STACK_SPILL:
		return reg_safe(env, old_reg, cur_reg, mode);
	case STACK_DYNPTR:
		CHECK(old_reg->dynptr.type == cur_reg->dynptr.type, LOUPE_DIFF_DYNPTR);
		CHECK(old_reg->dynptr.first_slot == cur_reg->dynptr.first_slot, LOUPE_DIFF_DYNPTR);
		CHECK(ids_match(map, old_reg->ref_obj_id, cur_reg->ref_obj_id), LOUPE_DIFF_ID);
		return LOUPE_DIFF_NONE;
	case STACK_ITER:
		CHECK(old_reg->iter.btf_id == cur_reg->iter.btf_id, LOUPE_DIFF_ITER);
		CHECK((old_reg->iter.state_depth & 3) == (cur_reg->iter.state_depth & 3),
		      LOUPE_DIFF_ITER);
		CHECK(ids_match(map, old_reg->ref_obj_id, cur_reg->ref_obj_id), LOUPE_DIFF_ID);
		return LOUPE_DIFF_NONE;
	case STACK_IRQ_FLAG:
		CHECK(ids_match(map, old_reg->ref_obj_id, cur_reg->ref_obj_id), LOUPE_DIFF_ID);
		CHECK(old_reg->irq_class == cur_reg->irq_class, LOUPE_DIFF_IRQ);
		return LOUPE_DIFF_NONE;
	default:
		return LOUPE_DIFF_NONE;
	}
}

static enum loupe_diff_kind slot_safe(struct vf_env *env, const struct loupe_slot *old,
				      const struct loupe_slot *cur, enum loupe_compare_mode mode)
{
	bool compared_as_scalar = false;

	for (uint32_t i = 0; i < LOUPE_REG_SIZE; i++) {
		CHECK(mode == LOUPE_CMP_NOT_EXACT || (cur && old->type[i] == cur->type[i]),
		      LOUPE_DIFF_STACK_TYPE);
		if (old->type[i] == STACK_INVALID)
			continue;
		if (old->type[i] == STACK_MISC && env->allow_uninit_stack)
			continue;
		CHECK(cur, LOUPE_DIFF_STACK_SIZE);
		if (!compared_as_scalar) {
			const struct loupe_reg *old_reg = slot_scalar(env, old);
			const struct loupe_reg *cur_reg = slot_scalar(env, cur);

			if (old_reg && cur_reg)
				return reg_safe(env, old_reg, cur_reg, mode);
			compared_as_scalar = true;
		}
		if (old->type[i] == STACK_MISC && cur->type[i] == STACK_ZERO)
			continue;
		CHECK(old->type[i] == cur->type[i], LOUPE_DIFF_STACK_TYPE);
		if (i == LOUPE_REG_SIZE - 1)
			return slot_content_safe(env, old, cur, mode);
	}
	return LOUPE_DIFF_NONE;
}

/* NULL if the stack does not reach so far. */
static const struct loupe_slot *slot_at(const struct loupe_frame *frame, uint32_t spi)
{
	return spi < frame->slot_cnt ? &frame->stack->slot[spi] : NULL;
}

/* slots: those to look at. */
static enum loupe_diff_kind stack_safe(struct vf_env *env, const struct loupe_frame *old,
				       const struct loupe_frame *cur, uint64_t slots,
				       enum loupe_compare_mode mode, int16_t *spi)
{
	for (; slots; slots &= slots - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(slots);
		enum loupe_diff_kind kind =
			slot_safe(env, &old->stack->slot[i], slot_at(cur, i), mode);

		if (kind) {
			*spi = (int16_t)i;
			return kind;
		}
	}
	return LOUPE_DIFF_NONE;
}

static enum loupe_diff_kind refs_safe(struct vf_env *env, const struct loupe_state *old,
				      const struct loupe_state *cur)
{
	struct vf_idmap *map = &env->idmap;

	CHECK(old->ref_cnt == cur->ref_cnt, LOUPE_DIFF_REFS);
	CHECK(old->active_locks == cur->active_locks, LOUPE_DIFF_LOCK);
	CHECK(old->active_preempt_locks == cur->active_preempt_locks, LOUPE_DIFF_LOCK);
	CHECK(old->active_rcu_locks == cur->active_rcu_locks, LOUPE_DIFF_LOCK);
	CHECK(ids_match(map, old->active_irq_id, cur->active_irq_id), LOUPE_DIFF_IRQ);
	CHECK(ids_match(map, old->active_lock_id, cur->active_lock_id), LOUPE_DIFF_LOCK);
	CHECK(old->active_lock_ptr == cur->active_lock_ptr, LOUPE_DIFF_LOCK);
	for (uint32_t i = 0; i < old->ref_cnt; i++) {
		const struct loupe_ref *a = &old->refs[i], *b = &cur->refs[i];

		CHECK(ids_match(map, a->id, b->id), LOUPE_DIFF_REFS);
		CHECK(a->type == b->type, LOUPE_DIFF_REFS);
		CHECK(!(a->type & ~(uint32_t)(REF_TYPE_PTR | REF_TYPE_IRQ)) || a->ptr == b->ptr,
		      LOUPE_DIFF_LOCK);
	}
	return LOUPE_DIFF_NONE;
}

/* Fills *diff for registers that differ. */
static void note_regs(struct loupe_diff *diff, const struct loupe_frame *old,
		      const struct loupe_frame *cur)
{
	if (diff->reg >= 0) {
		diff->old_reg = &old->regs[diff->reg];
		diff->cur_reg = &cur->regs[diff->reg];
	} else if (diff->spi >= 0 && (uint32_t)diff->spi < cur->slot_cnt) {
		diff->old_reg = &old->stack->slot[diff->spi].spilled;
		diff->cur_reg = &cur->stack->slot[diff->spi].spilled;
	}
}

static enum loupe_diff_kind frame_safe(struct vf_env *env, const struct loupe_state *old,
				       const struct loupe_frame *cur, uint32_t frameno,
				       enum loupe_compare_mode mode, int16_t *reg, int16_t *spi)
{
	const struct loupe_frame *frame = old->frame[frameno];
	uint32_t insn_idx =
		(uint32_t)(frameno == old->curframe ? old->insn_idx
						    : old->frame[frameno + 1]->callsite);
	/* an insn that is not understood has more bits than there are registers */
	uint32_t live = env->aux[insn_idx].live_regs & ((1u << LOUPE_MAX_REG) - 1);
	uint64_t slots = mode == LOUPE_CMP_NOT_EXACT ? vf_filled_slots(old, frameno)
						     : vf_all_slots(frame);
	enum loupe_diff_kind kind;

	CHECK(frame->callback_depth <= cur->callback_depth, LOUPE_DIFF_CALLBACK_DEPTH);
	for (; live; live &= live - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(live);

		kind = reg_safe(env, &frame->regs[i], &cur->regs[i], mode);
		if (kind) {
			*reg = (int16_t)i;
			return kind;
		}
	}
	return stack_safe(env, frame, cur, slots, mode, spi);
}

static void idmap_reset(struct vf_env *env)
{
	env->idmap.tmp_id_gen = env->id_gen;
	env->idmap.cnt = 0;
}

/* Does the present state differ where others did? It is looked at alone, with no ids known. */
static bool differs_again(struct vf_env *env, uint32_t curframe, const struct loupe_state *cur,
			  enum loupe_compare_mode mode, const struct vf_differed *differed)
{
	const struct loupe_frame *frame;

	if (curframe != cur->curframe)
		return true;
	frame = cur->frame[differed->frameno];
	idmap_reset(env);
	if (differed->reg >= 0)
		return reg_safe(env, &differed->old.spilled, &frame->regs[differed->reg], mode);
	return differed->spi >= 0 &&
	       slot_safe(env, &differed->old, slot_at(frame, (uint32_t)differed->spi), mode);
}

static void note_differed(struct vf_differed *differed, const struct loupe_state *old,
			  uint32_t frameno, int16_t reg, int16_t spi)
{
	differed->frameno = (uint8_t)frameno;
	differed->reg = (int8_t)reg;
	differed->spi = (int8_t)spi;
	if (reg >= 0)
		differed->old.spilled = old->frame[frameno]->regs[reg];
	else if (spi >= 0)
		differed->old = old->frame[frameno]->stack->slot[spi];
}

bool vf_states_equal(struct vf_env *env, const struct loupe_state *old,
		     const struct loupe_state *cur, enum loupe_compare_mode mode,
		     struct loupe_diff *diff, struct vf_differed *differed)
{
	enum loupe_diff_kind kind = LOUPE_DIFF_NONE;
	int16_t reg = -1, spi = -1;
	uint32_t frameno = 0;

	if (!diff && differed && differs_again(env, old->curframe, cur, mode, differed))
		return false;
	idmap_reset(env);
	if (old->curframe != cur->curframe)
		kind = LOUPE_DIFF_CALLCHAIN;
	else if (old->speculative && !cur->speculative)
		kind = LOUPE_DIFF_SPECULATIVE;
	else if (old->in_sleepable != cur->in_sleepable)
		kind = LOUPE_DIFF_SLEEPABLE;
	else
		kind = refs_safe(env, old, cur);
	for (uint32_t i = 0; !kind && i <= old->curframe; i++) {
		frameno = i;
		if (old->frame[i]->callsite != cur->frame[i]->callsite)
			kind = LOUPE_DIFF_CALLCHAIN;
		else
			kind = frame_safe(env, old, cur->frame[i], i, mode, &reg, &spi);
	}
	if (kind && differed)
		note_differed(differed, old, frameno, reg, spi);
	if (kind && diff) {
		*diff = (struct loupe_diff){ kind, .frameno = frameno, .reg = reg, .spi = spi };
		if (frameno <= cur->curframe)
			note_regs(diff, old->frame[frameno], cur->frame[frameno]);
	}
	return kind == LOUPE_DIFF_NONE;
}

/* --- all differences, for those who ask why --------------------------------------------------- */

struct diff_list {
	struct loupe_diff *out;
	uint32_t cap, cnt;
};

static void add_diff(struct diff_list *list, enum loupe_diff_kind kind, uint32_t frameno,
		     int16_t reg, int16_t spi)
{
	if (kind && list->cnt < list->cap)
		list->out[list->cnt] = (struct loupe_diff){
			.kind = kind, .frameno = frameno, .reg = reg, .spi = spi,
		};
	list->cnt += kind != LOUPE_DIFF_NONE;
}

/* Compares each part of two frames; ids that a part which differs has tied are untied again, so
 * that it does not make others differ. */
static void list_frame(struct vf_env *env, const struct loupe_frame *old,
		       const struct loupe_frame *cur, uint32_t frameno, uint32_t insn_idx,
		       enum loupe_compare_mode mode, struct diff_list *list)
{
	struct vf_idmap *map = &env->idmap;
	uint32_t live = env->aux[insn_idx].live_regs & ((1u << LOUPE_MAX_REG) - 1), ids;

	if (old->callback_depth > cur->callback_depth)
		add_diff(list, LOUPE_DIFF_CALLBACK_DEPTH, frameno, -1, -1);
	for (; live; live &= live - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(live);
		enum loupe_diff_kind kind;

		ids = map->cnt;
		kind = reg_safe(env, &old->regs[i], &cur->regs[i], mode);
		if (kind)
			map->cnt = ids;
		add_diff(list, kind, frameno, (int16_t)i, -1);
	}
	for (uint32_t i = 0; i < old->slot_cnt; i++) {
		enum loupe_diff_kind kind;

		ids = map->cnt;
		kind = slot_safe(env, &old->stack->slot[i], slot_at(cur, i), mode);
		if (kind)
			map->cnt = ids;
		add_diff(list, kind, frameno, -1, (int16_t)i);
	}
}

static void list_states(struct vf_env *env, const struct loupe_state *old,
			const struct loupe_state *cur, enum loupe_compare_mode mode,
			struct diff_list *list)
{
	uint32_t ids;
	enum loupe_diff_kind kind;

	/* frames of different functions cannot be laid side by side */
	if (old->curframe != cur->curframe) {
		add_diff(list, LOUPE_DIFF_CALLCHAIN, 0, -1, -1);
		return;
	}
	if (old->speculative && !cur->speculative)
		add_diff(list, LOUPE_DIFF_SPECULATIVE, 0, -1, -1);
	if (old->in_sleepable != cur->in_sleepable)
		add_diff(list, LOUPE_DIFF_SLEEPABLE, 0, -1, -1);
	ids = env->idmap.cnt;
	kind = refs_safe(env, old, cur);
	if (kind)
		env->idmap.cnt = ids;
	add_diff(list, kind, 0, -1, -1);
	for (uint32_t i = 0; i <= old->curframe; i++) {
		int32_t at = i == old->curframe ? old->insn_idx : old->frame[i + 1]->callsite;

		if (old->frame[i]->callsite != cur->frame[i]->callsite) {
			add_diff(list, LOUPE_DIFF_CALLCHAIN, i, -1, -1);
			return;
		}
		list_frame(env, old->frame[i], cur->frame[i], i, (uint32_t)at, mode, list);
	}
}

int loupe_state_diffs(const struct loupe_insn_facts *facts, uint32_t insn_cnt,
		      const struct loupe_state *old, const struct loupe_state *cur,
		      enum loupe_compare_mode mode, uint32_t flags, struct loupe_diff *out,
		      uint32_t cap, uint32_t *cnt)
{
	struct diff_list list = { .out = out, .cap = cap };
	struct vf_env *env;

	*cnt = 0;
	if (mode == LOUPE_CMP_SKIPPED)
		return 0;
	for (uint32_t i = 0; i <= old->curframe; i++) {
		int32_t at = i == old->curframe ? old->insn_idx : old->frame[i + 1]->callsite;

		if (at < 0 || (uint32_t)at >= insn_cnt)
			return -EINVAL;
	}
	env = calloc(1, sizeof(*env));
	if (env)
		env->aux = calloc(insn_cnt, sizeof(*env->aux));
	if (!env || !env->aux) {
		free(env);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < insn_cnt; i++)
		env->aux[i].live_regs = facts[i].live_regs;
	env->allow_uninit_stack = !(flags & LOUPE_DIFFS_UNPRIVILEGED);
	env->explore_alu_limits = flags & LOUPE_DIFFS_EXACT_SCALARS;
	/* beyond all ids of either state */
	env->idmap.tmp_id_gen = LOUPE_ADD_CONST32 / 2;
	list_states(env, old, cur, mode, &list);
	*cnt = list.cnt;
	free(env->aux);
	free(env);
	return 0;
}
