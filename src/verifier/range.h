/* SPDX-License-Identifier: GPL-2.0-only */
/* What arithmetic and comparisons share about ranges, beside vf.h. */
#ifndef LOUPE_VERIFIER_RANGE_H
#define LOUPE_VERIFIER_RANGE_H

#include "verifier/tnum.h"
#include "verifier/vf.h"

static inline void vf_reg_unbounded64(struct loupe_reg *reg)
{
	reg->smin = INT64_MIN;
	reg->smax = INT64_MAX;
	reg->umin = 0;
	reg->umax = UINT64_MAX;
}

static inline void vf_reg_unbounded32(struct loupe_reg *reg)
{
	reg->s32_min = INT32_MIN;
	reg->s32_max = INT32_MAX;
	reg->u32_min = 0;
	reg->u32_max = UINT32_MAX;
}

/* Narrows ranges by the known bits: those of the low half, or all. */
void vf_bounds_from_tnum32(struct loupe_reg *reg);
void vf_bounds_from_tnum(struct loupe_reg *reg);
/* The low half becomes the constant; the 64-bit ranges stay as they are. */
void vf_reg32_known(struct loupe_reg *reg, uint32_t value);
/* Sign-extends the low half from 1 or 2 bytes; the 64-bit ranges stay as they are. */
void vf_coerce_subreg_size_sx(struct loupe_reg *reg, int bytes);

/* dst += src for scalars: known bits and ranges, not yet synced (scalar.c). */
void vf_reg_add(struct loupe_reg *dst, const struct loupe_reg *src);
/* ptr.c: two scalars are added or subtracted where other paths may have a pointer. */
int vf_sanitize_scalar(struct vf_env *env, const struct loupe_insn *insn);
/*
 * ptr.c: follows next_idx as a mispredicting processor would. insn: the conditional jump, whose
 * operands become unknown there; NULL otherwise.
 */
int vf_sanitize_path(struct vf_env *env, const struct loupe_insn *insn, int32_t next_idx,
		     int32_t idx);

/* compare.c: whether `a op b` holds: 1 always, 0 never, -1 unknown. */
int vf_branch_taken(const struct loupe_reg *a, const struct loupe_reg *b, uint8_t op, bool jmp32);
/*
 * What the outcome of `a op b` says about both, where it is true and where it is false. A pair may
 * be one and the same register.
 */
int vf_branch_refine(struct vf_env *env, struct loupe_reg *true_a, struct loupe_reg *true_b,
		     struct loupe_reg *false_a, struct loupe_reg *false_b, uint8_t op, bool jmp32);

/* linked.c: adds scalars of the current state that have id, in registers that are still needed. */
int vf_linked_collect(struct vf_env *env, uint32_t id, struct vf_linked_regs *linked);
/* Carries what became known of a register of st's current frame over to those linked with it. */
int vf_linked_sync(struct vf_env *env, struct loupe_state *st, const struct loupe_reg *known,
		   const struct vf_linked_regs *linked);

/* The whole value, or the low half, is one number. */
static inline bool vf_reg_is_const_of(const struct loupe_reg *reg, bool subreg32)
{
	return reg->type == SCALAR_VALUE &&
	       (subreg32 ? tnum_subreg_is_const(reg->var_off) : tnum_is_const(reg->var_off));
}

static inline uint64_t vf_reg_const_value(const struct loupe_reg *reg, bool subreg32)
{
	return subreg32 ? (uint32_t)reg->var_off.value : reg->var_off.value;
}

/* A pointer, which may not be told to the world unless leaks are allowed. */
static inline bool vf_is_pointer(const struct loupe_reg *reg)
{
	return reg->type != SCALAR_VALUE;
}

static inline bool vf_is_pointer_value(struct vf_env *env, uint32_t regno)
{
	return !env->allow_ptr_leaks && vf_is_pointer(&vf_cur_regs(env)[regno]);
}

static inline bool vf_is_pkt_pointer(uint32_t type)
{
	return type == PTR_TO_PACKET || type == PTR_TO_PACKET_META;
}

#endif
