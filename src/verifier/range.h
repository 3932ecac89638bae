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
