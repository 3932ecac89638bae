// SPDX-License-Identifier: GPL-2.0-only
/* Random programs: the same for the same seed, valid assembler, and shrunk to what was asked
 * for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/generate.h"
#include "bpfloupe/verify.h"

static struct loupe_generated *make(uint64_t seed, bool unprivileged)
{
	struct loupe_generate_opts opts = {
		.size = sizeof(opts), .seed = seed, .cpus = 2, .unprivileged = unprivileged,
	};
	struct loupe_generated *gen = NULL;

	assert_int_equal(loupe_generate(&opts, &gen), 0);
	assert_non_null(gen);
	return gen;
}

static void test_seeds(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct loupe_generated *a = make(seed, seed % 3 == 0),
				       *b = make(seed, seed % 3 == 0);
		struct loupe_generated *other = make(seed + 1000, seed % 3 == 0);

		assert_string_equal(loupe_generated_text(a), loupe_generated_text(b));
		assert_string_not_equal(loupe_generated_text(a), loupe_generated_text(other));
		assert_true(loupe_generated_image(a)->insn_cnt >= 3);
		loupe_generated_destroy(a);
		loupe_generated_destroy(b);
		loupe_generated_destroy(other);
	}
}

/* Enough of them must be valid and deep to be worth comparing. */
static void check_depth(bool unprivileged)
{
	enum { CNT = 200 };
	uint32_t accepted = 0, deep = 0, hits = 0;

	for (uint64_t seed = 1; seed <= CNT; seed++) {
		struct loupe_generated *gen = make(seed, unprivileged);
		struct loupe_verify_result result;
		struct loupe_verify_opts opts;

		loupe_verify_opts_init(&opts);
		opts.insn_limit = 10000;
		opts.unprivileged = unprivileged;
		assert_int_equal(loupe_verify(loupe_generated_image(gen), &opts, &result), 0);
		accepted += result.verdict == LOUPE_ACCEPTED;
		deep += result.counters.insn_processed >= 200;
		hits += result.counters.compare_hits > 0;
		loupe_verify_result_finish(&result);
		loupe_generated_destroy(gen);
	}
	assert_in_range(accepted, CNT * 30 / 100, CNT * 70 / 100);
	assert_true(deep >= CNT / 2);
	assert_true(hits >= CNT / 2);
}

static void test_depth(void **state)
{
	(void)state;
	check_depth(false);
	check_depth(true);
}

static int has_lookup(void *ctx, const struct loupe_generated *gen)
{
	(*(uint32_t *)ctx)++;
	return strstr(loupe_generated_text(gen), "call bpf_map_lookup_elem") != NULL;
}

static void test_shrink(void **state)
{
	uint32_t done = 0, tried;

	(void)state;
	for (uint64_t seed = 1; done < 5; seed++) {
		struct loupe_generated *gen = make(seed, false);
		uint32_t before = loupe_generated_image(gen)->insn_cnt;

		tried = 0;
		if (has_lookup(&tried, gen)) {
			assert_int_equal(loupe_generated_shrink(&gen, has_lookup, &tried, 0), 0);
			assert_true(has_lookup(&tried, gen));
			assert_true(loupe_generated_image(gen)->insn_cnt < before);
			/* the lookup, its arguments, and what functions cannot be without */
			assert_true(loupe_generated_image(gen)->insn_cnt <= 30);
			done++;
		}
		loupe_generated_destroy(gen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
