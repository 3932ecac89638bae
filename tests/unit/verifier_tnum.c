// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every operation is tried on all pairs of 4-bit tnums: its result must hold the result of every
 * pair of members. Results that are known to be the best possible one are compared with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verifier/tnum.h"

#define BITS 4
#define SIZE (1u << BITS)

typedef struct loupe_tnum (*binary_fn)(struct loupe_tnum, struct loupe_tnum);

static struct loupe_tnum tn(uint64_t value, uint64_t mask)
{
	return (struct loupe_tnum){ .value = value, .mask = mask };
}

static bool has(struct loupe_tnum t, uint64_t x)
{
	return (x & ~t.mask) == t.value;
}

static void assert_tnum(struct loupe_tnum t, uint64_t value, uint64_t mask)
{
	assert_int_equal(t.value, value);
	assert_int_equal(t.mask, mask);
}

static uint64_t op(char c, uint64_t x, uint64_t y)
{
	switch (c) {
	case '+':
		return x + y;
	case '-':
		return x - y;
	case '*':
		return x * y;
	case '&':
		return x & y;
	case '|':
		return x | y;
	default:
		return x ^ y;
	}
}

/* Bits that vary over all results, and a result: the best tnum. */
static struct loupe_tnum best(char c, struct loupe_tnum a, struct loupe_tnum b)
{
	uint64_t and = UINT64_MAX, or = 0;

	for (uint64_t x = 0; x < SIZE; x++) {
		for (uint64_t y = 0; has(a, x) && y < SIZE; y++) {
			if (has(b, y)) {
				and &= op(c, x, y);
				or |= op(c, x, y);
			}
		}
	}
	return tn(and, and^ or);
}

static void try_all_pairs(char c, binary_fn fn, bool optimal)
{
	for (uint64_t am = 0; am < SIZE; am++) {
		for (uint64_t av = 0; av < SIZE; av++) {
			for (uint64_t bm = 0; !(av & am) && bm < SIZE; bm++) {
				for (uint64_t bv = 0; bv < SIZE; bv++) {
					struct loupe_tnum want, got;

					if (bv & bm)
						continue;
					want = best(c, tn(av, am), tn(bv, bm));
					got = fn(tn(av, am), tn(bv, bm));
					assert_int_equal(got.value & got.mask, 0);
					assert_true(tnum_in(got, want));
					if (optimal)
						assert_tnum(got, want.value, want.mask);
				}
			}
		}
	}
}

static void binary_operations(void **state)
{
	(void)state;
	try_all_pairs('+', tnum_add, true);
	try_all_pairs('-', tnum_sub, true);
	try_all_pairs('&', tnum_and, true);
	try_all_pairs('|', tnum_or, true);
	try_all_pairs('^', tnum_xor, true);
	try_all_pairs('*', tnum_mul, false);
}

static void multiplication(void **state)
{
	(void)state;
	assert_tnum(tnum_mul(tn(0, 3), tn(2, 1)), 0, 0xf); /* {0..3} * {2,3} */
	assert_tnum(tnum_mul(tn(1, 2), tn(3, 0)), 1, 0xa); /* {1,3} * 3 = {3,9} */
	assert_tnum(tnum_mul(tn(0, 6), tn(4, 0)), 0, 0x18);
	assert_tnum(tnum_mul(tnum_const(7), tnum_const(9)), 63, 0);
	assert_tnum(tnum_mul(TNUM_UNKNOWN, tnum_const(4)), 0, UINT64_MAX << 2);
}

static void sets(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < SIZE * SIZE * SIZE * SIZE; i++) {
		struct loupe_tnum a = tn(i % SIZE, i / SIZE % SIZE);
		struct loupe_tnum b = tn(i / SIZE / SIZE % SIZE, i / SIZE / SIZE / SIZE);
		bool overlap = false, in = true;

		if ((a.value & a.mask) || (b.value & b.mask))
			continue;
		for (uint64_t x = 0; x < SIZE; x++) {
			overlap |= has(a, x) && has(b, x);
			in &= has(a, x) || !has(b, x);
			if (has(a, x) && has(b, x))
				assert_true(has(tnum_intersect(a, b), x));
			if (has(a, x) || has(b, x))
				assert_true(has(tnum_union(a, b), x));
		}
		assert_int_equal(tnum_overlap(a, b), overlap);
		assert_int_equal(tnum_in(a, b), in);
	}
}

static void ranges(void **state)
{
	(void)state;
	for (uint64_t min = 0; min < 64; min++) {
		for (uint64_t max = min; max < 64; max++) {
			struct loupe_tnum t = tnum_range(min, max);

			for (uint64_t x = min; x <= max; x++)
				assert_true(has(t, x));
			/* Any smaller mask would leave out an end. */
			assert_int_equal(t.mask & (t.mask + 1), 0);
			assert_true(t.mask == 0 || ((min ^ max) & (t.mask ^ (t.mask >> 1))) != 0);
		}
	}
	assert_tnum(tnum_range(0, UINT64_MAX), 0, UINT64_MAX);
	assert_tnum(tnum_range(UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 1, 1);
}

static void steps(void **state)
{
	(void)state;
	for (uint64_t mask = 0; mask < 64; mask++) {
		for (uint64_t value = 0; value < 64; value++) {
			struct loupe_tnum t = tn(value, mask);

			if (value & mask)
				continue;
			for (uint64_t z = 0; z < 70; z++) {
				uint64_t next = z + 1;

				while (next <= (value | mask) && !has(t, next))
					next++;
				if (next > (value | mask))
					next = value | mask;
				assert_int_equal(tnum_step(t, z), next);
			}
		}
	}
	assert_int_equal(tnum_step(TNUM_UNKNOWN, UINT64_MAX), UINT64_MAX);
	assert_int_equal(tnum_step(tn(0, 1ull << 63 | 1), 1), 1ull << 63);
}

static void shifts(void **state)
{
	(void)state;
	assert_tnum(tnum_arshift(tn(0x80000000, 1), 4, 32), 0xf8000000, 0);
	assert_tnum(tnum_arshift(tn(0, 0x80000010), 4, 32), 0, 0xf8000001);
	assert_tnum(tnum_arshift(tn(1ull << 63, 0), 63, 64), UINT64_MAX, 0);
	assert_tnum(tnum_arshift(tn(0, 1ull << 63), 63, 64), 0, UINT64_MAX);
	assert_tnum(tnum_lshift(tn(1, 2), 4), 0x10, 0x20);
	assert_tnum(tnum_rshift(tn(0x10, 0x20), 4), 1, 2);
}

static void subregisters(void **state)
{
	struct loupe_tnum t = tn(0x100000002, 0x200000005);

	(void)state;
	assert_tnum(tnum_subreg(t), 2, 5);
	assert_tnum(tnum_clear_subreg(t), 0x100000000, 0x200000000);
	assert_tnum(tnum_with_subreg(t, tn(0x8, 0)), 0x100000008, 0x200000000);
	assert_tnum(tnum_cast(tn(0x1234, 0x8888), 1), 0x34, 0x88);
	assert_true(tnum_is_aligned(tn(8, 0xf0), 8));
	assert_false(tnum_is_aligned(tn(8, 0xf4), 8));
	assert_true(tnum_is_aligned(tn(1, 0), 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binary_operations),
		cmocka_unit_test(multiplication),
		cmocka_unit_test(sets),
		cmocka_unit_test(ranges),
		cmocka_unit_test(steps),
		cmocka_unit_test(shifts),
		cmocka_unit_test(subregisters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
