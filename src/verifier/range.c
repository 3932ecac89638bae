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

/*
 * What is known of a number, apart from the register that holds it: a copy that can stay in the
 * processor's registers while it is worked on.
 */
struct bounds {
	struct loupe_tnum var_off;
	int64_t smin, smax;
	uint64_t umin, umax;
	int32_t s32_min, s32_max;
	uint32_t u32_min, u32_max;
};

static __always_inline struct bounds bounds_of(const struct loupe_reg *reg)
{
	return (struct bounds){
		.var_off = reg->var_off,
		.smin = reg->smin,
		.smax = reg->smax,
		.umin = reg->umin,
		.umax = reg->umax,
		.s32_min = reg->s32_min,
		.s32_max = reg->s32_max,
		.u32_min = reg->u32_min,
		.u32_max = reg->u32_max,
	};
}

static __always_inline void set_bounds(struct loupe_reg *reg, const struct bounds *b)
{
	reg->var_off = b->var_off;
	reg->smin = b->smin;
	reg->smax = b->smax;
	reg->umin = b->umin;
	reg->umax = b->umax;
	reg->s32_min = b->s32_min;
	reg->s32_max = b->s32_max;
	reg->u32_min = b->u32_min;
	reg->u32_max = b->u32_max;
}

static __always_inline void from_tnum32(struct bounds *b)
{
	uint32_t value = (uint32_t)b->var_off.value, mask = (uint32_t)b->var_off.mask;

	NARROW_MIN(b->s32_min, value | (mask & 0x80000000u));
	NARROW_MAX(b->s32_max, value | (mask & 0x7fffffffu));
	NARROW_MIN(b->u32_min, value);
	NARROW_MAX(b->u32_max, value | mask);
}

/*
 * The only value that is both in the unsigned range and among those of the known bits, if there is
 * just one that can be found in two steps. Kernel: "bpf: Improve bounds when tnum has a single
 * possible value".
 */
static __always_inline bool only_value(const struct bounds *b, uint64_t *value)
{
	struct loupe_tnum t = b->var_off;
	bool umin_possible = (b->umin & ~t.mask) == t.value;
	uint64_t next = tnum_step(t, b->umin);

	if (umin_possible) {
		*value = b->umin;
		return next > b->umax;
	}
	*value = next;
	if (next == (t.value | t.mask))
		return true;
	return next <= b->umax && tnum_step(t, next) > b->umax;
}

static __always_inline void from_tnum64(struct bounds *b)
{
	uint64_t value = b->var_off.value, mask = b->var_off.mask, only;

	NARROW_MIN(b->smin, value | (mask & (1ull << 63)));
	NARROW_MAX(b->smax, value | (mask & (UINT64_MAX >> 1)));
	NARROW_MIN(b->umin, value);
	NARROW_MAX(b->umax, value | mask);
	if (only_value(b, &only))
		*b = (struct bounds){
			.var_off = tnum_const(only),
			.smin = (int64_t)only,
			.smax = (int64_t)only,
			.umin = only,
			.umax = only,
			.s32_min = (int32_t)only,
			.s32_max = (int32_t)only,
			.u32_min = (uint32_t)only,
			.u32_max = (uint32_t)only,
		};
}

static __always_inline void from_tnum(struct bounds *b)
{
	from_tnum32(b);
	from_tnum64(b);
}

/*
 * Low half of a 64-bit range whose ends are lo and hi. Where the high halves are equal, the low
 * halves of the ends bound every value between them, as far as they are in order.
 */
static __always_inline void low_half_unsigned(struct bounds *b, uint64_t lo, uint64_t hi)
{
	if ((uint32_t)lo <= (uint32_t)hi) {
		NARROW_MIN(b->u32_min, lo);
		NARROW_MAX(b->u32_max, hi);
	}
}

static __always_inline void low_half_signed(struct bounds *b, uint64_t lo, uint64_t hi)
{
	if ((int32_t)lo <= (int32_t)hi) {
		NARROW_MIN(b->s32_min, lo);
		NARROW_MAX(b->s32_max, hi);
	}
}

/* The range passes just one multiple of 2^32, from low halves below zero to ones above it. */
static __always_inline void low_half_across_zero(struct bounds *b, uint64_t lo, uint64_t hi)
{
	if ((uint32_t)(lo >> 32) + 1 == (uint32_t)(hi >> 32) && (int32_t)lo < 0 &&
	    (int32_t)hi >= 0) {
		NARROW_MIN(b->s32_min, lo);
		NARROW_MAX(b->s32_max, hi);
	}
}

static __always_inline void deduce32(struct bounds *b)
{
	if (b->umin >> 32 == b->umax >> 32) {
		/* A contradictory range must stay visible: no test of the order here. */
		NARROW_MIN(b->u32_min, b->umin);
		NARROW_MAX(b->u32_max, b->umax);
		low_half_signed(b, b->umin, b->umax);
	}
	if (b->smin >> 32 == b->smax >> 32) {
		low_half_unsigned(b, (uint64_t)b->smin, (uint64_t)b->smax);
		low_half_signed(b, (uint64_t)b->smin, (uint64_t)b->smax);
	}
	low_half_across_zero(b, b->umin, b->umax);
	low_half_across_zero(b, (uint64_t)b->smin, (uint64_t)b->smax);

	/* Signed and unsigned: the same numbers while neither range passes its sign boundary. */
	low_half_signed(b, b->u32_min, b->u32_max);
	if ((uint32_t)b->s32_min <= (uint32_t)b->s32_max) {
		NARROW_MIN(b->u32_min, b->s32_min);
		NARROW_MAX(b->u32_max, b->s32_max);
	} else if (b->u32_max < (uint32_t)b->s32_min) {
		/* Only the part from zero up is possible. */
		b->s32_min = (int32_t)b->u32_min;
		NARROW_MAX(b->u32_max, b->s32_max);
	} else if ((uint32_t)b->s32_max < b->u32_min) {
		/* Only the part below zero is possible. */
		b->s32_max = (int32_t)b->u32_max;
		NARROW_MIN(b->u32_min, b->s32_min);
	}
}

static __always_inline void deduce64(struct bounds *b)
{
	if ((int64_t)b->umin <= (int64_t)b->umax) {
		NARROW_MIN(b->smin, b->umin);
		NARROW_MAX(b->smax, b->umax);
	}
	if ((uint64_t)b->smin <= (uint64_t)b->smax) {
		NARROW_MIN(b->umin, b->smin);
		NARROW_MAX(b->umax, b->smax);
	} else if (b->umax < (uint64_t)b->smin) {
		b->smin = (int64_t)b->umin;
		NARROW_MAX(b->umax, b->smax);
	} else if ((uint64_t)b->smax < b->umin) {
		b->smax = (int64_t)b->umax;
		NARROW_MIN(b->umin, b->smin);
	}
}

/* The ends of the 64-bit ranges cannot have low halves outside lo..hi. */
static __always_inline void deduce64_from_low_half(struct bounds *b, uint32_t lo, uint32_t hi)
{
	NARROW_MIN(b->umin, (b->umin & HIGH_HALF) | lo);
	NARROW_MAX(b->umax, (b->umax & HIGH_HALF) | hi);
	NARROW_MIN(b->smin, ((uint64_t)b->smin & HIGH_HALF) | lo);
	NARROW_MAX(b->smax, ((uint64_t)b->smax & HIGH_HALF) | hi);
}

static __always_inline void deduce64_from_32(struct bounds *b)
{
	deduce64_from_low_half(b, b->u32_min, b->u32_max);
	if ((uint32_t)b->s32_min <= (uint32_t)b->s32_max)
		deduce64_from_low_half(b, (uint32_t)b->s32_min, (uint32_t)b->s32_max);

	/*
	 * A sign-extended 32-bit number whose low half is not negative is not negative: all ones in
	 * the high half would make it less than INT32_MIN.
	 */
	if (b->s32_min >= 0 && b->smin >= INT32_MIN && b->smax <= INT32_MAX) {
		b->smin = b->s32_min;
		b->smax = b->s32_max;
		b->umin = (uint64_t)b->s32_min;
		b->umax = (uint64_t)(int64_t)b->s32_max;
		b->var_off = tnum_intersect(b->var_off,
					      tnum_range((uint64_t)b->smin, (uint64_t)b->smax));
	}
}

/* Bits that all numbers between the ends share. */
static __always_inline void tnum_from_bounds(struct bounds *b)
{
	struct loupe_tnum whole = tnum_intersect(b->var_off, tnum_range(b->umin, b->umax));
	struct loupe_tnum low =
		tnum_intersect(tnum_subreg(whole), tnum_range(b->u32_min, b->u32_max));

	b->var_off = tnum_or(tnum_clear_subreg(whole), low);
}

/* All ranges say what the known bits say, and no more: there is nothing to deduce. */
static __always_inline bool says_known_bits(const struct bounds *b)
{
	const uint64_t sign = 1ull << 63;
	uint64_t value = b->var_off.value, mask = b->var_off.mask;
	uint32_t value32 = (uint32_t)value, mask32 = (uint32_t)mask;

	return b->umin == value && b->umax == (value | mask) &&
	       b->smin == (int64_t)(value | (mask & sign)) &&
	       b->smax == (int64_t)(value | (mask & ~sign)) && b->u32_min == value32 &&
	       b->u32_max == (value32 | mask32) &&
	       b->s32_min == (int32_t)(value32 | (mask32 & 0x80000000u)) &&
	       b->s32_max == (int32_t)(value32 | (mask32 & 0x7fffffffu));
}

/*
 * The usual case, decided at once: the unknown bits are the lowest ones, and no value has bit 31
 * or one above it. Then all four ranges are about the same numbers, the deductions end with what
 * they have in common, and the known bits are those that its ends share.
 * @return false if it is not the case, or the ranges contradict each other
 */
static __always_inline bool sync_small(struct bounds *b)
{
	uint64_t value = b->var_off.value, mask = b->var_off.mask;
	int64_t lo = (int64_t)value, hi = (int64_t)(value | mask);

	if ((mask & (mask + 1)) || (value | mask) > INT32_MAX || b->umin > (uint64_t)hi)
		return false;
	NARROW_MIN(lo, b->umin);
	NARROW_MIN(lo, b->smin);
	NARROW_MIN(lo, b->u32_min);
	NARROW_MIN(lo, b->s32_min);
	if (b->umax < (uint64_t)hi)
		hi = (int64_t)b->umax;
	NARROW_MAX(hi, b->smax);
	NARROW_MAX(hi, b->u32_max);
	NARROW_MAX(hi, b->s32_max);
	if (lo > hi)
		return false;
	*b = (struct bounds){
		.var_off = tnum_range((uint64_t)lo, (uint64_t)hi),
		.smin = lo,
		.smax = hi,
		.umin = (uint64_t)lo,
		.umax = (uint64_t)hi,
		.s32_min = (int32_t)lo,
		.s32_max = (int32_t)hi,
		.u32_min = (uint32_t)lo,
		.u32_max = (uint32_t)hi,
	};
	return true;
}

/* Whether a round of deductions changed nothing, so that another one will not either. */
static __always_inline bool same_bounds(const struct bounds *a, const struct bounds *b)
{
	return a->smin == b->smin && a->smax == b->smax && a->umin == b->umin &&
	       a->umax == b->umax && a->s32_min == b->s32_min && a->s32_max == b->s32_max &&
	       a->u32_min == b->u32_min && a->u32_max == b->u32_max &&
	       a->var_off.value == b->var_off.value && a->var_off.mask == b->var_off.mask;
}

void vf_bounds_sync(struct loupe_reg *reg)
{
	enum { ROUNDS = 3 };
	struct bounds b = bounds_of(reg);

	if (sync_small(&b)) {
		set_bounds(reg, &b);
		return;
	}
	if (says_known_bits(&b))
		return;
	from_tnum(&b);
	for (int round = 0; round < ROUNDS; round++) {
		struct bounds before = b;

		deduce32(&b);
		deduce64(&b);
		deduce64_from_32(&b);
		if (same_bounds(&before, &b))
			break;
	}
	tnum_from_bounds(&b);
	from_tnum(&b);
	set_bounds(reg, &b);
}

void vf_bounds_from_tnum32(struct loupe_reg *reg)
{
	struct bounds b = bounds_of(reg);

	from_tnum32(&b);
	set_bounds(reg, &b);
}

void vf_bounds_from_tnum(struct loupe_reg *reg)
{
	struct bounds b = bounds_of(reg);

	from_tnum(&b);
	set_bounds(reg, &b);
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

int vf_bounds_violated(struct vf_env *env, struct loupe_reg *reg, const char *ctx)
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
