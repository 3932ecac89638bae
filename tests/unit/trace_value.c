// SPDX-License-Identifier: GPL-2.0-only
/* Values survive being made into words, and common ones stay short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "trace/store.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Often a value at which codes change. */
static uint64_t number(void)
{
	static const uint64_t edges[] = {
		0,	    1,	       255,	   INT32_MAX,  1ull << 31,     UINT32_MAX,
		1ull << 32, INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT32_MIN
	};

	return rnd() % 3 ? edges[rnd() % (sizeof(edges) / sizeof(edges[0]))] : rnd();
}

static struct loupe_reg unknown(void)
{
	return (struct loupe_reg){ .type = SCALAR_VALUE,
				   .var_off.mask = UINT64_MAX,
				   .smin = INT64_MIN,
				   .smax = INT64_MAX,
				   .umax = UINT64_MAX,
				   .s32_min = INT32_MIN,
				   .s32_max = INT32_MAX,
				   .u32_max = UINT32_MAX };
}

static void constants_and_unknowns_are_short(void **state)
{
	uint32_t words[TRACE_MAX_WORDS];
	struct loupe_reg reg = unknown();

	(void)state;
	assert_int_equal(trace_reg_encode(&reg, words), 1);
	reg = (struct loupe_reg){ .type = SCALAR_VALUE,
				  .var_off.value = 42,
				  .smin = 42,
				  .smax = 42,
				  .umin = 42,
				  .umax = 42,
				  .s32_min = 42,
				  .s32_max = 42,
				  .u32_min = 42,
				  .u32_max = 42 };
	assert_int_equal(trace_reg_encode(&reg, words), 2);
	reg = (struct loupe_reg){ .type = SCALAR_VALUE,
				  .var_off.value = UINT64_MAX,
				  .smin = -1,
				  .smax = -1,
				  .umin = UINT64_MAX,
				  .umax = UINT64_MAX,
				  .s32_min = -1,
				  .s32_max = -1,
				  .u32_min = UINT32_MAX,
				  .u32_max = UINT32_MAX };
	assert_int_equal(trace_reg_encode(&reg, words), 3);
}

static void registers_survive(void **state)
{
	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct loupe_reg reg = unknown(), back;
		uint32_t words[TRACE_MAX_WORDS + 1];
		uint64_t which = rnd();

		words[TRACE_MAX_WORDS] = 0xabcdef01;
		if (which & 1)
			reg.type = (uint32_t)(rnd() % 22) | (rnd() % 3 ? 0 : (uint32_t)rnd() << 8);
		if (which & 2)
			reg.off = (int32_t)number();
		if (which & 4)
			reg.raw[0] = number();
		if (which & 8)
			reg.raw[1] = number();
		if (which & 16)
			reg.var_off = (struct loupe_tnum){ number(), number() };
		if (which & 32)
			reg.smin = (int64_t)number();
		if (which & 64)
			reg.smax = (int64_t)number();
		if (which & 128)
			reg.umin = number();
		if (which & 256)
			reg.umax = number();
		if (which & 512)
			reg.s32_min = (int32_t)number();
		if (which & 1024)
			reg.s32_max = (int32_t)number();
		if (which & 2048)
			reg.u32_min = (uint32_t)number();
		if (which & 4096)
			reg.u32_max = (uint32_t)number();
		if (which & 8192)
			reg.id = (uint32_t)number();
		if (which & 16384)
			reg.ref_obj_id = (uint32_t)number();
		if (which & 32768)
			reg.frameno = (uint32_t)rnd() % 8;
		if (which & 65536)
			reg.subreg_def = (int32_t)number();
		reg.precise = which >> 17 & 1;
		assert_in_range(trace_reg_encode(&reg, words), 1, TRACE_MAX_WORDS);
		assert_int_equal(words[TRACE_MAX_WORDS], 0xabcdef01);
		trace_reg_decode(words, &back);
		assert_memory_equal(&back, &reg, offsetof(struct loupe_reg, precise));
		assert_int_equal(back.precise, reg.precise);
	}
}

static void values_that_come_again_are_kept_once(void **state)
{
	struct trace_pool pool = { 0 };
	struct loupe_reg reg = unknown();
	uint32_t value, words;

	(void)state;
	assert_true(trace_pool_init(&pool));
	reg.umax = 1000;
	value = trace_reg_value(&pool, &reg);
	words = (uint32_t)pool.words.cnt;
	/* Padding does not count. */
	memset((char *)&reg + offsetof(struct loupe_reg, precise) + 1, 0xaa,
	       sizeof(reg) - offsetof(struct loupe_reg, precise) - 1);
	assert_int_equal(trace_reg_value(&pool, &reg), value);
	assert_int_equal(pool.words.cnt, words);
	reg.precise = true;
	assert_int_not_equal(trace_reg_value(&pool, &reg), value);
	trace_pool_finish(&pool);
}

static void values_survive(void **state)
{
	struct trace_pool pool = { 0 };
	struct loupe_reg back;

	(void)state;
	assert_true(trace_pool_init(&pool));
	for (uint32_t i = 0; i < 50000; i++) {
		uint64_t v = number();
		struct loupe_reg reg = { .type = SCALAR_VALUE,
					 .var_off.value = v,
					 .umin = v,
					 .umax = v,
					 .smin = (int64_t)v,
					 .smax = (int64_t)v,
					 .u32_min = (uint32_t)v,
					 .u32_max = (uint32_t)v,
					 .s32_min = (int32_t)v,
					 .s32_max = (int32_t)v };
		uint32_t value;

		if (!(i % 3))
			reg = unknown();
		if (!(i % 7))
			reg.type = PTR_TO_CTX;
		reg.precise = !(i % 5);
		value = trace_reg_value(&pool, &reg);
		assert_int_not_equal(value, 0);
		trace_value_reg(&pool, value, &back);
		assert_memory_equal(&back, &reg, offsetof(struct loupe_reg, precise));
		assert_int_equal(back.precise, reg.precise);
	}
	trace_pool_finish(&pool);
}

static void slots_survive(void **state)
{
	static const uint8_t types[][LOUPE_REG_SIZE] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0 }, { 1, 1, 1, 1, 1, 1, 1, 1 }, { 2, 2, 2, 2, 1, 1, 1, 1 },
		{ 0, 0, 0, 0, 1, 1, 1, 1 }, { 2, 2, 2, 2, 2, 2, 2, 2 }, { 3, 3, 3, 3, 3, 3, 3, 3 },
		{ 1, 1, 1, 1, 2, 2, 2, 2 }, { 4, 4, 4, 4, 4, 4, 4, 4 }, { 5, 5, 5, 5, 5, 5, 5, 5 },
		{ 6, 6, 6, 6, 6, 6, 6, 6 },
	};
	struct trace_pool pool = { 0 };

	(void)state;
	assert_true(trace_pool_init(&pool));
	for (uint32_t i = 0; i < 3 * sizeof(types) / sizeof(types[0]); i++) {
		struct loupe_slot slot = { .spilled = unknown() }, back;
		uint32_t value;

		memcpy(slot.type, types[i / 3], sizeof(slot.type));
		if (i % 3 == 1)
			slot.spilled.id = i;
		else if (i % 3)
			slot.spilled = (struct loupe_reg){ .type = SCALAR_VALUE };
		assert_int_equal(trace_slot_has_reg(&slot),
				 slot.type[7] && slot.type[7] != 2 && slot.type[7] != 3);
		assert_true(trace_slot_value(&pool, &slot, &value));
		assert_int_equal(value == 0, i / 3 == 0);
		trace_value_slot(&pool, value, &back);
		assert_memory_equal(back.type, slot.type, sizeof(slot.type));
		if (trace_slot_has_reg(&slot))
			assert_memory_equal(&back.spilled, &slot.spilled,
					    offsetof(struct loupe_reg, precise));
	}
	trace_pool_finish(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_and_unknowns_are_short),
		cmocka_unit_test(registers_survive),
		cmocka_unit_test(values_that_come_again_are_kept_once),
		cmocka_unit_test(values_survive),
		cmocka_unit_test(slots_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
