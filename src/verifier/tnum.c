// SPDX-License-Identifier: GPL-2.0-only
#include "verifier/tnum.h"

static inline struct loupe_tnum tnum(uint64_t value, uint64_t mask)
{
	return (struct loupe_tnum){ .value = value & ~mask, .mask = mask };
}

/* All bits from the highest set one down; 0 for 0. */
static inline uint64_t fill_below(uint64_t bits)
{
	return bits ? UINT64_MAX >> __builtin_clzll(bits) : 0;
}

struct loupe_tnum tnum_range(uint64_t min, uint64_t max)
{
	return tnum(min, fill_below(min ^ max));
}

struct loupe_tnum tnum_arshift(struct loupe_tnum t, uint32_t shift, uint32_t bits)
{
	/* An unknown sign bit spreads as unknown bits, a known one as known bits. */
	if (bits == 32)
		return (struct loupe_tnum){ .value = (uint32_t)((int32_t)t.value >> shift),
					    .mask = (uint32_t)((int32_t)t.mask >> shift) };
	return (struct loupe_tnum){ .value = (uint64_t)((int64_t)t.value >> shift),
				    .mask = (uint64_t)((int64_t)t.mask >> shift) };
}

struct loupe_tnum tnum_add(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t least = a.value + b.value;
	uint64_t most = least + a.mask + b.mask;

	/* Bits where the sums differ depend on carries. */
	return tnum(least, (least ^ most) | a.mask | b.mask);
}

struct loupe_tnum tnum_sub(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t middle = a.value - b.value;

	return tnum(middle, ((middle + a.mask) ^ (middle - b.mask)) | a.mask | b.mask);
}

struct loupe_tnum tnum_neg(struct loupe_tnum t)
{
	return tnum_sub(tnum_const(0), t);
}

struct loupe_tnum tnum_and(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t ones = a.value & b.value;
	uint64_t possible = (a.value | a.mask) & (b.value | b.mask);

	return (struct loupe_tnum){ .value = ones, .mask = possible & ~ones };
}

struct loupe_tnum tnum_or(struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t ones = a.value | b.value;

	return (struct loupe_tnum){ .value = ones, .mask = (a.mask | b.mask) & ~ones };
}

struct loupe_tnum tnum_xor(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum(a.value ^ b.value, a.mask | b.mask);
}

struct loupe_tnum tnum_mul(struct loupe_tnum a, struct loupe_tnum b)
{
	struct loupe_tnum product = tnum_const(0);

	/* Long multiplication; an unknown digit of a may or may not add its row. */
	for (; a.value | a.mask; a = tnum_rshift(a, 1), b = tnum_lshift(b, 1)) {
		if (a.value & 1)
			product = tnum_add(product, b);
		else if (a.mask & 1)
			product = tnum_union(product, tnum_add(product, b));
	}
	return product;
}

struct loupe_tnum tnum_union(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum(a.value, (a.value ^ b.value) | a.mask | b.mask);
}

struct loupe_tnum tnum_intersect(struct loupe_tnum a, struct loupe_tnum b)
{
	return tnum(a.value | b.value, a.mask & b.mask);
}

struct loupe_tnum tnum_cast(struct loupe_tnum t, uint32_t bytes)
{
	uint64_t kept = (1ull << (bytes * 8)) - 1;

	return (struct loupe_tnum){ .value = t.value & kept, .mask = t.mask & kept };
}

bool tnum_overlap(struct loupe_tnum a, struct loupe_tnum b)
{
	return ((a.value ^ b.value) & ~a.mask & ~b.mask) == 0;
}

bool tnum_in(struct loupe_tnum a, struct loupe_tnum b)
{
	return (b.mask & ~a.mask) == 0 && (b.value & ~a.mask) == a.value;
}

bool tnum_is_aligned(struct loupe_tnum t, uint64_t size)
{
	return size == 0 || ((t.value | t.mask) & (size - 1)) == 0;
}

uint64_t tnum_step(struct loupe_tnum t, uint64_t z)
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
	below = fill_below(wrong);
	if (t.value & (below ^ (below >> 1))) /* the highest wrong digit must become 1 */
		return (least & ~below) | (t.value & below);
	/* It must become 0: the next unknown digit above that can still grow does. */
	carry = t.mask & ~least & ~below;
	carry &= -carry;
	below = (carry - 1) | carry;
	return (least & ~below) | carry | (t.value & (carry - 1));
}
