/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic on partially known numbers (struct loupe_tnum). Every result covers all results of
 * all operands that the arguments stand for.
 *
 * Source: Vishwanathan et al., "Sound, Precise, and Fast Abstract Interpretation with Tristate
 * Numbers", CGO 2022; multiplication as of the kernel commit "bpf: Improve the general precision
 * of tnum_mul".
 */
#ifndef LOUPE_VERIFIER_TNUM_H
#define LOUPE_VERIFIER_TNUM_H

#include "bpfloupe/state.h"

#define TNUM_UNKNOWN ((struct loupe_tnum){ .value = 0, .mask = UINT64_MAX })

static inline struct loupe_tnum tnum_const(uint64_t value)
{
	return (struct loupe_tnum){ .value = value, .mask = 0 };
}

static inline bool tnum_is_const(struct loupe_tnum t)
{
	return t.mask == 0;
}

static inline bool tnum_is_unknown(struct loupe_tnum t)
{
	return t.mask == UINT64_MAX;
}

static inline bool tnum_equals_const(struct loupe_tnum t, uint64_t value)
{
	return t.mask == 0 && t.value == value;
}

static inline struct loupe_tnum tnum_lshift(struct loupe_tnum t, uint32_t shift)
{
	return (struct loupe_tnum){ .value = t.value << shift, .mask = t.mask << shift };
}

static inline struct loupe_tnum tnum_rshift(struct loupe_tnum t, uint32_t shift)
{
	return (struct loupe_tnum){ .value = t.value >> shift, .mask = t.mask >> shift };
}

/* The low 32 bits. */
static inline struct loupe_tnum tnum_subreg(struct loupe_tnum t)
{
	return (struct loupe_tnum){ .value = (uint32_t)t.value, .mask = (uint32_t)t.mask };
}

static inline struct loupe_tnum tnum_clear_subreg(struct loupe_tnum t)
{
	return (struct loupe_tnum){ .value = t.value & ~(uint64_t)UINT32_MAX,
				    .mask = t.mask & ~(uint64_t)UINT32_MAX };
}

static inline bool tnum_subreg_is_const(struct loupe_tnum t)
{
	return (uint32_t)t.mask == 0;
}

/* The high half of t with the low half of subreg. */
static inline struct loupe_tnum tnum_with_subreg(struct loupe_tnum t, struct loupe_tnum subreg)
{
	t = tnum_clear_subreg(t);
	t.value |= (uint32_t)subreg.value;
	t.mask |= (uint32_t)subreg.mask;
	return t;
}

/* The smallest tnum that holds min..max (unsigned). */
struct loupe_tnum tnum_range(uint64_t min, uint64_t max);
/* Arithmetic shift of a 32- or 64-bit number; shift is below bits. */
struct loupe_tnum tnum_arshift(struct loupe_tnum t, uint32_t shift, uint32_t bits);
struct loupe_tnum tnum_add(struct loupe_tnum a, struct loupe_tnum b);
struct loupe_tnum tnum_sub(struct loupe_tnum a, struct loupe_tnum b);
struct loupe_tnum tnum_neg(struct loupe_tnum t);
struct loupe_tnum tnum_and(struct loupe_tnum a, struct loupe_tnum b);
struct loupe_tnum tnum_or(struct loupe_tnum a, struct loupe_tnum b);
struct loupe_tnum tnum_xor(struct loupe_tnum a, struct loupe_tnum b);
struct loupe_tnum tnum_mul(struct loupe_tnum a, struct loupe_tnum b);
/* What both agree on: covers the values of either. */
struct loupe_tnum tnum_union(struct loupe_tnum a, struct loupe_tnum b);
/* What either knows: covers the values of both. Where they contradict each other, the bit is 1. */
struct loupe_tnum tnum_intersect(struct loupe_tnum a, struct loupe_tnum b);
/* Truncates to 1, 2 or 4 bytes. */
struct loupe_tnum tnum_cast(struct loupe_tnum t, uint32_t bytes);
/* Some value is in both. */
bool tnum_overlap(struct loupe_tnum a, struct loupe_tnum b);
/* All values of b are values of a. */
bool tnum_in(struct loupe_tnum a, struct loupe_tnum b);
/* All values are multiples of size, a power of two; any value for size 0. */
bool tnum_is_aligned(struct loupe_tnum t, uint64_t size);
/* The smallest value of t beyond z; the largest value of t when there is none. */
uint64_t tnum_step(struct loupe_tnum t, uint64_t z);

#endif
