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

/* value with the unknown bits of mask. */
static inline struct loupe_tnum tnum_of(uint64_t value, uint64_t mask)
{
	return (struct loupe_tnum){ .value = value & ~mask, .mask = mask };
}

/* All bits from the highest set one down; 0 for 0. */
static inline uint64_t tnum_fill_below(uint64_t bits)
{
	return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0;
}

/* The smallest tnum that holds min..max (unsigned). */
static inline struct loupe_tnum tnum_range(uint64_t min, uint64_t max)
{
	return tnum_of(min, tnum_fill_below(min ^ max));
}

static inline struct loupe_tnum tnum_add(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t least = a.value + b.value;
	uint64_t most = least + a.mask + b.mask;

	/* Bits where the sums differ depend on carries. */
	return tnum_of(least, (least ^ most) | a.mask | b.mask);
}

static inline struct loupe_tnum tnum_sub(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t middle = a.value - b.value;

	return tnum_of(middle, ((middle + a.mask) ^ (middle - b.mask)) | a.mask | b.mask);
}

static inline struct loupe_tnum tnum_and(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t ones = a.value & b.value;
	uint64_t possible = (a.value | a.mask) & (b.value | b.mask);

	return (struct loupe_tnum){ .value = ones, .mask = possible & ~ones };
}

static inline struct loupe_tnum tnum_or(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t ones = a.value | b.value;

	return (struct loupe_tnum){ .value = ones, .mask = (a.mask | b.mask) & ~ones };
}

static inline struct loupe_tnum tnum_xor(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum_of(a.value ^ b.value, a.mask | b.mask);
}

/* What both agree on: covers the values of either. */
static inline struct loupe_tnum tnum_union(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum_of(a.value, (a.value ^ b.value) | a.mask | b.mask);
}

/* What either knows: covers the values of both. Where they contradict each other, the bit is 1. */
static inline struct loupe_tnum tnum_intersect(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum_of(a.value | b.value, a.mask & b.mask);
}

/* Truncates to 1, 2 or 4 bytes. */
static inline struct loupe_tnum tnum_cast(struct loupe_tnum t, uint32_t bytes)
{
	uint64_t kept = (1ull << (bytes * 8)) - 1;

	return (struct loupe_tnum){ .value = t.value & kept, .mask = t.mask & kept };
}

/* Some value is in both. */
static inline bool tnum_overlap(struct loupe_tnum a, struct loupe_tnum b)
{
	return ((a.value ^ b.value) & ~a.mask & ~b.mask) == 0;
}

/* All values of b are values of a. */
static inline bool tnum_in(struct loupe_tnum a, struct loupe_tnum b)
{
	return (b.mask & ~a.mask) == 0 && (b.value & ~a.mask) == a.value;
}

/* All values are multiples of size, a power of two; any value for size 0. */
static inline bool tnum_is_aligned(struct loupe_tnum t, uint64_t size)
{
	return size == 0 || ((t.value | t.mask) & (size - 1)) == 0;
}

/* The smallest value of t beyond z; the largest value of t when there is none. */
static inline uint64_t tnum_step(struct loupe_tnum t, uint64_t z)
{
	uint64_t largest = t.value | t.mask;
	uint64_t least, wrong, below, carry;

	if (z >= largest)
		return largest;
	if (z < t.value)
		return t.value;

	/* The smallest value that is at least z + 1. */
	least = z + 1;
	wrong = (least ^ t.value) & ~t.mask;
	if (wrong == 0)
		return least;
	below = tnum_fill_below(wrong);
	if (t.value & (below ^ (below >> 1))) /* the highest wrong digit must become 1 */
		return (least & ~below) | (t.value & below);
	/* It must become 0: the next unknown digit above that can still grow does. */
	carry = t.mask & ~least & ~below;
	carry &= -carry;
	below = (carry - 1) | carry;
	return (least & ~below) | carry | (t.value & (carry - 1));
}

/* Arithmetic shift of a 32- or 64-bit number; shift is below bits. */
struct loupe_tnum tnum_arshift(struct loupe_tnum t, uint32_t shift, uint32_t bits);
struct loupe_tnum tnum_neg(struct loupe_tnum t);
struct loupe_tnum tnum_mul(struct loupe_tnum a, struct loupe_tnum b);

#endif
