// SPDX-License-Identifier: GPL-2.0-only
/* What Prune and Cost add up is what the verifier itself counted, for every program of the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "bpfloupe/load.h"
#include "cost.h"

static char **files;
static int file_cnt;

static void check_prune(const struct loupe_trace *trace, const struct loupe_counters *counters)
{
	struct loupe_insn_stats stats;
	uint64_t born = 0, hits = 0, misses = 0, uncounted = 0, evicted = 0;

	for (uint32_t i = 0; i < loupe_trace_insn_cnt(trace); i++) {
		assert_int_equal(loupe_trace_insn_stats(trace, i, &stats), 0);
		born += stats.born;
		hits += stats.hits;
		misses += stats.misses;
		uncounted += stats.uncounted;
		evicted += stats.evicted;
	}
	assert_int_equal(born, counters->total_states);
	assert_int_equal(hits, counters->compare_hits);
	assert_int_equal(misses, counters->compare_misses);
	assert_int_equal(uncounted, counters->compare_uncounted);
	assert_int_equal(evicted, counters->evictions);
}

static void check_cost(const struct loupe_trace *trace, const struct loupe_image *image,
		       const struct loupe_counters *counters)
{
	struct loupe_source *source;
	struct cost cost;

	assert_int_equal(loupe_source_create(image, &source), 0);
	for (int by = 0; by < COST_BY_CNT; by++) {
		assert_int_equal(cost_make(&cost, trace, source, (enum cost_by)by), 0);
		assert_int_equal(cost.total, counters->insn_processed);
		for (uint32_t i = 0; i < cost.cnt; i++) {
			assert_true(cost.rows[i].inclusive >= cost.rows[i].exclusive);
			assert_true(cost.rows[i].inclusive <= cost.total);
		}
		cost_finish(&cost);
	}
	loupe_source_destroy(source);
}

static void check_image(const struct loupe_image *image)
{
	struct loupe_trace *trace = loupe_trace_create(image);
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;

	assert_non_null(trace);
	loupe_verify_opts_init(&opts);
	opts.insn_limit = 100000;
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(trace);
	assert_int_equal(loupe_verify(image, &opts, &result), 0);
	assert_int_equal(loupe_trace_finish(trace), 0);
	check_prune(trace, &result.counters);
	check_cost(trace, image, &result.counters);
	loupe_verify_result_finish(&result);
	loupe_trace_destroy(trace);
}

static void sums_are_the_verifiers(void **state)
{
	struct loupe_program_list list;
	struct loupe_error err;
	int judged = 0;

	(void)state;
	for (int i = 0; i < file_cnt; i++) {
		if (loupe_load_file(files[i], NULL, &list, &err))
			continue;
		for (uint32_t p = 0; p < list.cnt; p++) {
			if (!list.progs[p].image)
				continue;
			check_image(list.progs[p].image);
			judged++;
		}
		loupe_program_list_finish(&list);
	}
	assert_true(judged > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sums_are_the_verifiers) };

	files = argv + 1;
	file_cnt = argc - 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
