// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scalars that are copies of each other, or a constant apart, share an id: what a comparison says
 * about one of them holds for all.
 */
#include "verifier/range.h"

/* Packed: a count of 4 bits, then 10 bits an entry. */
enum {
	CNT_BITS = 4,
	FRAME_BITS = 3,
	AT_BITS = 6,
	ENTRY_BITS = FRAME_BITS + AT_BITS + 1,
};

uint64_t vf_linked_pack(const struct vf_linked_regs *linked)
{
	uint64_t packed = linked->cnt;

	for (uint32_t i = 0; i < linked->cnt; i++) {
		uint64_t entry = linked->entry[i].frameno;

		entry |= (uint64_t)linked->entry[i].at << FRAME_BITS;
		entry |= (uint64_t)linked->entry[i].is_reg << (FRAME_BITS + AT_BITS);
		packed |= entry << (CNT_BITS + i * ENTRY_BITS);
	}
	return packed;
}

void vf_linked_unpack(uint64_t packed, struct vf_linked_regs *linked)
{
	linked->cnt = packed & ((1u << CNT_BITS) - 1);
	packed >>= CNT_BITS;
	for (uint32_t i = 0; i < linked->cnt; i++, packed >>= ENTRY_BITS) {
		linked->entry[i].frameno = packed & ((1u << FRAME_BITS) - 1);
		linked->entry[i].at = packed >> FRAME_BITS & ((1u << AT_BITS) - 1);
		linked->entry[i].is_reg = packed >> (FRAME_BITS + AT_BITS) & 1;
	}
}

static uint32_t base_id(const struct loupe_reg *reg)
{
	return reg->id & ~LOUPE_ADD_CONST;
}

/* Notes a register or slot; false when there is no room left. */
static bool note(struct vf_linked_regs *linked, uint32_t frameno, uint32_t at, bool is_reg)
{
	if (linked->cnt == VF_MAX_LINKED_REGS)
		return false;
	linked->entry[linked->cnt].frameno = (uint8_t)frameno;
	linked->entry[linked->cnt].at = (uint8_t)at;
	linked->entry[linked->cnt].is_reg = is_reg;
	linked->cnt++;
	return true;
}

static bool is_linked(const struct loupe_reg *reg, uint32_t id)
{
	return reg->type == SCALAR_VALUE && base_id(reg) == id;
}

static int collect_regs(struct vf_env *env, uint32_t frameno, uint32_t id,
			struct vf_linked_regs *linked)
{
	struct loupe_state *st = env->cur;
	int32_t at = frameno == st->curframe ? env->insn_idx : st->frame[frameno + 1]->callsite;
	uint16_t live = env->aux[at].live_regs;

	for (uint32_t i = 0; i < LOUPE_REG_FP; i++) {
		struct loupe_frame *frame;

		if (!(live & 1u << i) || !is_linked(&st->frame[frameno]->regs[i], id) ||
		    note(linked, frameno, i, true))
			continue;
		frame = vf_frame_mut(env, st, frameno);
		if (!frame)
			return -ENOMEM;
		vf_clear_scalar_id(&frame->regs[i]);
	}
	return 0;
}

static int collect_slots(struct vf_env *env, uint32_t frameno, uint32_t id,
			 struct vf_linked_regs *linked)
{
	struct loupe_state *st = env->cur;

	for (uint32_t i = 0; i < st->frame[frameno]->slot_cnt; i++) {
		const struct loupe_slot *slot = &st->frame[frameno]->stack->slot[i];
		struct loupe_slot *slots;

		if (!vf_slot_is_spill(slot) || !is_linked(&slot->spilled, id) ||
		    note(linked, frameno, i, false))
			continue;
		slots = vf_slots_mut(env, st, frameno);
		if (!slots)
			return -ENOMEM;
		vf_clear_scalar_id(&slots[i].spilled);
	}
	return 0;
}

int vf_linked_collect(struct vf_env *env, uint32_t id, struct vf_linked_regs *linked)
{
	int err;

	id &= ~LOUPE_ADD_CONST;
	for (uint32_t frameno = env->cur->curframe + 1; frameno-- > 0;) {
		err = collect_regs(env, frameno, id, linked);
		if (!err)
			err = collect_slots(env, frameno, id, linked);
		if (err)
			return err;
	}
	return 0;
}

/* Both are at a distance, one counted in 32 bits and the other in 64: neither follows the other. */
static bool distances_differ_in_kind(const struct loupe_reg *a, const struct loupe_reg *b)
{
	return (a->id & LOUPE_ADD_CONST) && (b->id & LOUPE_ADD_CONST) &&
	       ((a->id ^ b->id) & LOUPE_ADD_CONST);
}

/* reg becomes the same number as known, or the one at the known distance. */
static void follow(struct loupe_reg *reg, const struct loupe_reg *known)
{
	struct loupe_reg old = *reg, delta = { 0 };

	*reg = *known;
	reg->subreg_def = old.subreg_def;
	if (!((old.id | known->id) & LOUPE_ADD_CONST) || old.off == known->off)
		return;

	reg->off = old.off;
	reg->id = old.id;
	vf_reg_known(&delta, (uint64_t)((int64_t)old.off - known->off));
	vf_reg_add(reg, &delta);
	if ((old.id | known->id) & LOUPE_ADD_CONST32)
		vf_zext_32(reg);
	vf_bounds_sync(reg);
}

/* What changes here is not printed with the insn: the kernel does not count it as touched. */
int vf_linked_sync(struct vf_env *env, struct loupe_state *st, const struct loupe_reg *known,
		   const struct vf_linked_regs *linked)
{
	for (uint32_t i = 0; i < linked->cnt; i++) {
		uint32_t frameno = linked->entry[i].frameno, at = linked->entry[i].at;
		bool is_reg = linked->entry[i].is_reg;
		const struct loupe_frame *frame = st->frame[frameno];
		const struct loupe_reg *reg =
			is_reg ? &frame->regs[at] : &frame->stack->slot[at].spilled;
		struct loupe_frame *own;
		struct loupe_slot *slots;

		if (reg == known || !is_linked(reg, base_id(known)) ||
		    distances_differ_in_kind(reg, known))
			continue;
		if (is_reg) {
			own = vf_frame_mut(env, st, frameno);
			if (!own)
				return -ENOMEM;
			follow(&own->regs[at], known);
		} else {
			slots = vf_slots_mut(env, st, frameno);
			if (!slots)
				return -ENOMEM;
			follow(&slots[at].spilled, known);
		}
	}
	return 0;
}
