// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deductions must keep every number that all descriptions allow. Random descriptions are made
 * around a random number, which must survive; the stated cases are what each deduction is for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verifier/range.h"

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) ^ (seed << 31);
}

/* Numbers near the places where something changes are the interesting ones. */
static uint64_t number(void)
{
	static const uint64_t edges[] = { 0,
					  1ull << 31,
					  1ull << 32,
					  1ull << 63,
					  0x7fffffff80000000,
					  0xffffffff00000000,
					  0xffffffff80000000 };

	if (rnd() % 4 == 0)
		return rnd() << rnd() % 64;
	return edges[rnd() % (sizeof(edges) / sizeof(edges[0]))] + rnd() % 17 - 8;
}

static bool holds(const struct loupe_reg *reg, uint64_t x)
{
	return reg->umin <= x && x <= reg->umax && reg->smin <= (int64_t)x &&
	       (int64_t)x <= reg->smax && reg->u32_min <= (uint32_t)x &&
	       (uint32_t)x <= reg->u32_max && reg->s32_min <= (int32_t)x &&
	       (int32_t)x <= reg->s32_max && (x & ~reg->var_off.mask) == reg->var_off.value;
}

#define AROUND(type, min, max, x)                                              \
	do {                                                                   \
		type v_ = (type)(x), a_ = (type)number(), b_ = (type)number(); \
		if (rnd() % 2 && a_ <= v_)                                     \
			(min) = a_;                                            \
		if (rnd() % 2 && b_ >= v_)                                     \
			(max) = b_;                                            \
	} while (0)

static void make(struct loupe_reg *reg, uint64_t x)
{
	vf_reg_unknown_imprecise(reg);
	AROUND(uint64_t, reg->umin, reg->umax, x);
	AROUND(int64_t, reg->smin, reg->smax, x);
	AROUND(uint32_t, reg->u32_min, reg->u32_max, x);
	AROUND(int32_t, reg->s32_min, reg->s32_max, x);
	reg->var_off.mask = rnd() % 2 ? UINT64_MAX : number() | number();
	reg->var_off.value = x & ~reg->var_off.mask;
}

static void sync_is_sound(void **state)
{
	(void)state;
	for (int i = 0; i < 1000000; i++) {
		uint64_t x = number();
		struct loupe_reg reg;

		make(&reg, x);
		assert_true(holds(&reg, x));
		vf_bounds_sync(&reg);
		assert_true(holds(&reg, x));
	}
}

static uint64_t extend(uint64_t x, int bytes)
{
	int unused = 64 - bytes * 8;

	return (uint64_t)((int64_t)(x << unused) >> unused);
}

static void truncation_is_sound(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		uint64_t x = number();
		int bytes = 1 << rnd() % 3;
		struct loupe_reg reg, copy;

		make(&reg, x);
		vf_bounds_sync(&reg);
		copy = reg;
		vf_coerce_size(&copy, bytes);
		assert_true(holds(&copy, x & ((1ull << bytes * 8) - 1)));
		copy = reg;
		vf_coerce_size_sx(&copy, bytes);
		assert_true(holds(&copy, extend(x, bytes)));
		copy = reg;
		vf_zext_32(&copy);
		vf_bounds_sync(&copy);
		assert_true(holds(&copy, (uint32_t)x));
		if (bytes < 4) {
			vf_coerce_subreg_size_sx(&reg, bytes);
			vf_zext_32(&reg);
			vf_bounds_sync(&reg);
			assert_true(holds(&reg, (uint32_t)extend(x, bytes)));
		}
	}
}

static struct loupe_reg unknown(void)
{
	struct loupe_reg reg = { 0 };

	vf_reg_unknown_imprecise(&reg);
	return reg;
}

static void deductions(void **state)
{
	struct loupe_reg reg;

	(void)state;
	reg = unknown();
	reg.umax = 0x7f; /* unsigned, then everything else */
	vf_bounds_sync(&reg);
	assert_int_equal(reg.smin, 0);
	assert_int_equal(reg.smax, 0x7f);
	assert_int_equal(reg.u32_max, 0x7f);
	assert_int_equal(reg.s32_max, 0x7f);
	assert_int_equal(reg.var_off.mask, 0x7f);

	reg = unknown();
	reg.smin = -1; /* just around zero: the low half is too */
	reg.smax = 1;
	vf_bounds_sync(&reg);
	assert_int_equal(reg.s32_min, -1);
	assert_int_equal(reg.s32_max, 1);
	assert_true(reg.umax == UINT64_MAX && reg.umin == 0);

	reg = unknown();
	reg.smin = -100; /* crosses its sign boundary, but only one side meets the unsigned range */
	reg.smax = 50;
	reg.umax = 1000;
	vf_bounds_sync(&reg);
	assert_int_equal(reg.smin, 0);
	assert_int_equal(reg.umax, 50);

	reg = unknown();
	reg.smin = -100;
	reg.smax = 50;
	reg.umin = UINT64_MAX - 1000;
	vf_bounds_sync(&reg);
	assert_int_equal(reg.smax, -1);
	assert_true(reg.umin == (uint64_t)-100);

	reg = unknown();
	reg.umin = 0x100000000; /* low halves of the ends */
	reg.umax = 0x380000000;
	reg.s32_min = 1;
	vf_bounds_sync(&reg);
	assert_true(reg.umin == 0x100000001 && reg.umax == 0x37fffffff);

	reg = unknown();
	reg.smin = INT32_MIN; /* sign-extended, low half not negative */
	reg.smax = INT32_MAX;
	reg.s32_min = 5;
	vf_bounds_sync(&reg);
	assert_int_equal(reg.smin, 5);
	assert_int_equal(reg.umax, INT32_MAX);

	reg = unknown();
	reg.var_off = (struct loupe_tnum){ .value = 0, .mask = 0x11 }; /* 0, 1, 16, 17 */
	reg.umin = 2;
	reg.umax = 16;
	vf_bounds_sync(&reg);
	assert_int_equal(reg.var_off.mask, 0);
	assert_int_equal(reg.var_off.value, 16);
}

static char text[VF_TMP_MSG];

static void note(void *ctx, const char *message, bool level2)
{
	(void)ctx;
	assert_false(level2);
	snprintf(text, sizeof(text), "%s", message);
}

static void contradictions(void **state)
{
	static const struct loupe_hooks hooks = { .message = note };
	struct loupe_verify_opts opts = { .listeners = { { .hooks = &hooks } }, .listener_cnt = 1 };
	static struct vf_env env;
	struct loupe_reg reg = unknown();

	(void)state;
	env.opts = &opts;
	reg.umin = 2;
	reg.umax = 1;
	assert_int_equal(vf_bounds_sanity(&env, &reg, "alu"), 0);
	assert_string_equal(text, "verifier bug: REG INVARIANTS VIOLATION (alu): range bounds "
				  "violation u64=[0x2, 0x1] s64=[0x8000000000000000, "
				  "0x7fffffffffffffff] u32=[0x0, 0xffffffff] s32=[0x80000000, "
				  "0x7fffffff] var_off=(0x0, 0xffffffffffffffff)\n");
	assert_true(reg.umin == 0 && reg.umax == UINT64_MAX);

	env.test_reg_invariants = true;
	vf_reg_known(&reg, 7);
	assert_int_equal(vf_bounds_sanity(&env, &reg, "alu"), 0);
	reg.s32_min = 6;
	assert_int_equal(vf_bounds_sanity(&env, &reg, "alu"), -EFAULT);
}

static void type_names(void **state)
{
	char buf[128];

	(void)state;
	assert_string_equal(vf_type_str(buf, PTR_TO_MAP_VALUE | PTR_MAYBE_NULL),
			    "map_value_or_null");
	assert_string_equal(vf_type_str(buf, PTR_TO_MEM | MEM_RDONLY | PTR_UNTRUSTED),
			    "rdonly_untrusted_mem");
	assert_string_equal(vf_type_str(buf, PTR_TO_BTF_ID | PTR_MAYBE_NULL | PTR_TRUSTED),
			    "trusted_ptr_or_null_");
	assert_string_equal(vf_type_str(buf, NOT_INIT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sync_is_sound), cmocka_unit_test(truncation_is_sound),
		cmocka_unit_test(deductions),	 cmocka_unit_test(contradictions),
		cmocka_unit_test(type_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
