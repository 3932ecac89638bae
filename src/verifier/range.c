// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scalar is described five times over: known bits, and signed and unsigned ranges of the whole
 * register and of its low half. Whatever one description learns is carried to the others here. The
 * order and the number of the deductions decide which of the possible results comes out, and the
 * log shows it.
 */
#include "verifier/range.h"

#define HIGH_HALF (~(uint64_t)UINT32_MAX)

#define NARROW_MIN(field, bound)                                       \
	do {                                                           \
		__typeof__(field) bound_ = (__typeof__(field))(bound); \
		if (bound_ > (field))                                  \
			(field) = bound_;                              \
	} while (0)

#define NARROW_MAX(field, bound)                                       \
	do {                                                           \
		__typeof__(field) bound_ = (__typeof__(field))(bound); \
		if (bound_ < (field))                                  \
			(field) = bound_;                              \
	} while (0)

void vf_bounds_from_tnum32(struct loupe_reg *reg)
{
	uint32_t value = (uint32_t)reg->var_off.value, mask = (uint32_t)reg->var_off.mask;

	NARROW_MIN(reg->s32_min, value | (mask & 0x80000000u));
	NARROW_MAX(reg->s32_max, value | (mask & 0x7fffffffu));
	NARROW_MIN(reg->u32_min, value);
	NARROW_MAX(reg->u32_max, value | mask);
}

/*
 * The only value that is both in the unsigned range and among those of the known bits, if there is
 * just one that can be found in two steps. Kernel: "bpf: Improve bounds when tnum has a single
 * possible value".
 */
static bool only_value(const struct loupe_reg *reg, uint64_t *value)
{
	struct loupe_tnum t = reg->var_off;
	bool umin_possible = (reg->umin & ~t.mask) == t.value;
	uint64_t next = tnum_step(t, reg->umin);

	if (umin_possible) {
		*value = reg->umin;
		return next > reg->umax;
	}
	*value = next;
	if (next == (t.value | t.mask))
		return true;
	return next <= reg->umax && tnum_step(t, next) > reg->umax;
}

static void bounds_from_tnum64(struct loupe_reg *reg)
{
	uint64_t value = reg->var_off.value, mask = reg->var_off.mask, only;

	NARROW_MIN(reg->smin, value | (mask & (1ull << 63)));
	NARROW_MAX(reg->smax, value | (mask & (UINT64_MAX >> 1)));
	NARROW_MIN(reg->umin, value);
	NARROW_MAX(reg->umax, value | mask);
	if (only_value(reg, &only))
		vf_reg_known_value(reg, only);
}

void vf_bounds_from_tnum(struct loupe_reg *reg)
{
	vf_bounds_from_tnum32(reg);
	bounds_from_tnum64(reg);
}

/*
 * Low half of a 64-bit range whose ends are lo and hi. Where the high halves are equal, the low
 * halves of the ends bound every value between them, as far as they are in order.
 */
static void low_half_unsigned(struct loupe_reg *reg, uint64_t lo, uint64_t hi)
{
	if ((uint32_t)lo <= (uint32_t)hi) {
		NARROW_MIN(reg->u32_min, lo);
		NARROW_MAX(reg->u32_max, hi);
	}
}

static void low_half_signed(struct loupe_reg *reg, uint64_t lo, uint64_t hi)
{
	if ((int32_t)lo <= (int32_t)hi) {
		NARROW_MIN(reg->s32_min, lo);
		NARROW_MAX(reg->s32_max, hi);
	}
}

/* The range passes just one multiple of 2^32, from low halves below zero to ones above it. */
static void low_half_across_zero(struct loupe_reg *reg, uint64_t lo, uint64_t hi)
{
	if ((uint32_t)(lo >> 32) + 1 == (uint32_t)(hi >> 32) && (int32_t)lo < 0 &&
	    (int32_t)hi >= 0) {
		NARROW_MIN(reg->s32_min, lo);
		NARROW_MAX(reg->s32_max, hi);
	}
}

static void deduce32(struct loupe_reg *reg)
{
	if (reg->umin >> 32 == reg->umax >> 32) {
		/* A contradictory range must stay visible: no test of the order here. */
		NARROW_MIN(reg->u32_min, reg->umin);
		NARROW_MAX(reg->u32_max, reg->umax);
		low_half_signed(reg, reg->umin, reg->umax);
	}
	if (reg->smin >> 32 == reg->smax >> 32) {
		low_half_unsigned(reg, (uint64_t)reg->smin, (uint64_t)reg->smax);
		low_half_signed(reg, (uint64_t)reg->smin, (uint64_t)reg->smax);
	}
	low_half_across_zero(reg, reg->umin, reg->umax);
	low_half_across_zero(reg, (uint64_t)reg->smin, (uint64_t)reg->smax);

	/* Signed and unsigned: the same numbers while neither range passes its sign boundary. */
	low_half_signed(reg, reg->u32_min, reg->u32_max);
	if ((uint32_t)reg->s32_min <= (uint32_t)reg->s32_max) {
		NARROW_MIN(reg->u32_min, reg->s32_min);
		NARROW_MAX(reg->u32_max, reg->s32_max);
	} else if (reg->u32_max < (uint32_t)reg->s32_min) {
		/* Only the part from zero up is possible. */
		reg->s32_min = (int32_t)reg->u32_min;
		NARROW_MAX(reg->u32_max, reg->s32_max);
	} else if ((uint32_t)reg->s32_max < reg->u32_min) {
		/* Only the part below zero is possible. */
		reg->s32_max = (int32_t)reg->u32_max;
		NARROW_MIN(reg->u32_min, reg->s32_min);
	}
}

static void deduce64(struct loupe_reg *reg)
{
	if ((int64_t)reg->umin <= (int64_t)reg->umax) {
		NARROW_MIN(reg->smin, reg->umin);
		NARROW_MAX(reg->smax, reg->umax);
	}
	if ((uint64_t)reg->smin <= (uint64_t)reg->smax) {
		NARROW_MIN(reg->umin, reg->smin);
		NARROW_MAX(reg->umax, reg->smax);
	} else if (reg->umax < (uint64_t)reg->smin) {
		reg->smin = (int64_t)reg->umin;
		NARROW_MAX(reg->umax, reg->smax);
	} else if ((uint64_t)reg->smax < reg->umin) {
		reg->smax = (int64_t)reg->umax;
		NARROW_MIN(reg->umin, reg->smin);
	}
}

/* The ends of the 64-bit ranges cannot have low halves outside lo..hi. */
static void deduce64_from_low_half(struct loupe_reg *reg, uint32_t lo, uint32_t hi)
{
	NARROW_MIN(reg->umin, (reg->umin & HIGH_HALF) | lo);
	NARROW_MAX(reg->umax, (reg->umax & HIGH_HALF) | hi);
	NARROW_MIN(reg->smin, ((uint64_t)reg->smin & HIGH_HALF) | lo);
	NARROW_MAX(reg->smax, ((uint64_t)reg->smax & HIGH_HALF) | hi);
}

static void deduce64_from_32(struct loupe_reg *reg)
{
	deduce64_from_low_half(reg, reg->u32_min, reg->u32_max);
	if ((uint32_t)reg->s32_min <= (uint32_t)reg->s32_max)
		deduce64_from_low_half(reg, (uint32_t)reg->s32_min, (uint32_t)reg->s32_max);

	/*
	 * A sign-extended 32-bit number whose low half is not negative is not negative: all ones in
	 * the high half would make it less than INT32_MIN.
	 */
	if (reg->s32_min >= 0 && reg->smin >= INT32_MIN && reg->smax <= INT32_MAX) {
		reg->smin = reg->s32_min;
		reg->smax = reg->s32_max;
		reg->umin = (uint64_t)reg->s32_min;
		reg->umax = (uint64_t)(int64_t)reg->s32_max;
		reg->var_off = tnum_intersect(reg->var_off,
					      tnum_range((uint64_t)reg->smin, (uint64_t)reg->smax));
	}
}

/* Bits that all numbers between the ends share. */
static void tnum_from_bounds(struct loupe_reg *reg)
{
	struct loupe_tnum whole = tnum_intersect(reg->var_off, tnum_range(reg->umin, reg->umax));
	struct loupe_tnum low =
		tnum_intersect(tnum_subreg(whole), tnum_range(reg->u32_min, reg->u32_max));

	reg->var_off = tnum_or(tnum_clear_subreg(whole), low);
}

/* All descriptions say the same one number already. */
static inline bool settled(const struct loupe_reg *reg)
{
	uint64_t value = reg->var_off.value;

	return reg->var_off.mask == 0 && reg->umin == value && reg->umax == value &&
	       reg->smin == (int64_t)value && reg->smax == (int64_t)value &&
	       reg->u32_min == (uint32_t)value && reg->u32_max == (uint32_t)value &&
	       reg->s32_min == (int32_t)value && reg->s32_max == (int32_t)value;
}

/* Whether a round of deductions changed nothing, so that another one will not either. */
static inline bool same_values(const struct loupe_reg *a, const struct loupe_reg *b)
{
	return a->smin == b->smin && a->smax == b->smax && a->umin == b->umin &&
	       a->umax == b->umax && a->s32_min == b->s32_min && a->s32_max == b->s32_max &&
	       a->u32_min == b->u32_min && a->u32_max == b->u32_max &&
	       a->var_off.value == b->var_off.value && a->var_off.mask == b->var_off.mask;
}

void vf_bounds_sync(struct loupe_reg *reg)
{
	enum { ROUNDS = 3 };
	struct loupe_reg before;

	if (settled(reg))
		return;
	vf_bounds_from_tnum(reg);
	for (int round = 0; round < ROUNDS; round++) {
		before = *reg;
		deduce32(reg);
		deduce64(reg);
		deduce64_from_32(reg);
		if (same_values(&before, reg))
			break;
	}
	tnum_from_bounds(reg);
	vf_bounds_from_tnum(reg);
}

static const char *contradiction(const struct loupe_reg *reg)
{
	uint64_t value = reg->var_off.value;

	if (reg->umin > reg->umax || reg->smin > reg->smax || reg->u32_min > reg->u32_max ||
	    reg->s32_min > reg->s32_max)
		return "range bounds violation";
	if (tnum_is_const(reg->var_off) &&
	    (reg->umin != value || reg->umax != value || reg->smin != (int64_t)value ||
	     reg->smax != (int64_t)value))
		return "const tnum out of sync with range bounds";
	if (tnum_subreg_is_const(reg->var_off) &&
	    (reg->u32_min != (uint32_t)value || reg->u32_max != (uint32_t)value ||
	     reg->s32_min != (int32_t)value || reg->s32_max != (int32_t)value))
		return "const subreg tnum out of sync with range bounds";
	return NULL;
}

int vf_bounds_sanity(struct vf_env *env, struct loupe_reg *reg, const char *ctx)
{
	const char *what = contradiction(reg);

	if (!what)
		return 0;
	vf_msg(env,
	       "verifier bug: REG INVARIANTS VIOLATION (%s): %s u64=[0x%llx, 0x%llx] "
	       "s64=[0x%llx, 0x%llx] u32=[0x%x, 0x%x] s32=[0x%x, 0x%x] var_off=(0x%llx, 0x%llx)\n",
	       ctx, what, (unsigned long long)reg->umin, (unsigned long long)reg->umax,
	       (unsigned long long)reg->smin, (unsigned long long)reg->smax, reg->u32_min,
	       reg->u32_max, (uint32_t)reg->s32_min, (uint32_t)reg->s32_max,
	       (unsigned long long)reg->var_off.value, (unsigned long long)reg->var_off.mask);
	if (env->test_reg_invariants)
		return -EFAULT;
	vf_reg_unbounded(reg);
	return 0;
}

void vf_assign_32_into_64(struct loupe_reg *reg)
{
	reg->umin = reg->u32_min;
	reg->umax = reg->u32_max;
	if (reg->s32_min >= 0 && reg->s32_max >= 0) {
		reg->smin = reg->s32_min;
		reg->smax = reg->s32_max;
	} else {
		reg->smin = 0;
		reg->smax = UINT32_MAX;
	}
}

void vf_zext_32(struct loupe_reg *reg)
{
	reg->var_off = tnum_subreg(reg->var_off);
	vf_assign_32_into_64(reg);
}

void vf_coerce_size(struct loupe_reg *reg, int bytes)
{
	uint64_t kept = (1ull << (bytes * 8)) - 1;

	reg->var_off = tnum_cast(reg->var_off, (uint32_t)bytes);
	if ((reg->umin & ~kept) == (reg->umax & ~kept)) {
		reg->umin &= kept;
		reg->umax &= kept;
	} else {
		reg->umin = 0;
		reg->umax = kept;
	}
	reg->smin = (int64_t)reg->umin;
	reg->smax = (int64_t)reg->umax;
	if (bytes < 4)
		vf_reg_unbounded32(reg);
	vf_bounds_sync(reg);
}

static int64_t sign_extend(uint64_t value, int bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	default:
		return (int32_t)value;
	}
}

/* Least number of that many bytes; the greatest is its complement. */
static int64_t least_signed(int bytes)
{
	return -((int64_t)1 << (bytes * 8 - 1));
}

void vf_coerce_size_sx(struct loupe_reg *reg, int bytes)
{
	int bits = bytes * 8;
	int64_t a, b;

	if (tnum_is_const(reg->var_off)) {
		vf_reg_known_value(reg, (uint64_t)sign_extend(reg->var_off.value, bytes));
		return;
	}

	a = sign_extend((uint64_t)reg->smin, bytes);
	b = sign_extend((uint64_t)reg->smax, bytes);
	if ((uint64_t)reg->smin >> bits == (uint64_t)reg->smax >> bits && (a >= 0) == (b >= 0)) {
		reg->smin = a < b ? a : b;
		reg->smax = a < b ? b : a;
		reg->umin = (uint64_t)reg->smin;
		reg->umax = (uint64_t)reg->smax;
		reg->s32_min = (int32_t)reg->smin;
		reg->s32_max = (int32_t)reg->smax;
		reg->u32_min = (uint32_t)reg->smin;
		reg->u32_max = (uint32_t)reg->smax;
		reg->var_off = tnum_range(reg->umin, reg->umax);
		return;
	}

	vf_reg_unbounded(reg);
	reg->smin = least_signed(bytes);
	reg->smax = ~reg->smin;
	reg->s32_min = (int32_t)reg->smin;
	reg->s32_max = (int32_t)reg->smax;
	reg->var_off = TNUM_UNKNOWN;
}

void vf_coerce_subreg_size_sx(struct loupe_reg *reg, int bytes)
{
	int bits = bytes * 8;
	int32_t a, b;

	if (tnum_is_const(reg->var_off)) {
		reg->var_off = tnum_const((uint64_t)sign_extend(reg->var_off.value, bytes));
		reg->s32_min = reg->s32_max = (int32_t)reg->var_off.value;
		reg->u32_min = reg->u32_max = (uint32_t)reg->var_off.value;
		return;
	}

	a = (int32_t)sign_extend((uint64_t)reg->s32_min, bytes);
	b = (int32_t)sign_extend((uint64_t)reg->s32_max, bytes);
	if ((uint32_t)reg->s32_min >> bits == (uint32_t)reg->s32_max >> bits &&
	    (a >= 0) == (b >= 0)) {
		reg->s32_min = a < b ? a : b;
		reg->s32_max = a < b ? b : a;
		reg->u32_min = (uint32_t)reg->s32_min;
		reg->u32_max = (uint32_t)reg->s32_max;
		reg->var_off =
			tnum_subreg(tnum_range((uint64_t)reg->s32_min, (uint64_t)reg->s32_max));
		return;
	}

	reg->s32_min = (int32_t)least_signed(bytes);
	reg->s32_max = ~reg->s32_min;
	reg->u32_min = 0;
	reg->u32_max = UINT32_MAX;
	reg->var_off = tnum_subreg(TNUM_UNKNOWN);
}
