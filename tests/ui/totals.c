// SPDX-License-Identifier: GPL-2.0-only
/* What Prune and Cost add up is what the verifier itself counted, for every program of the
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
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

/* States and backedges that come and go at a step: first what is evicted goes, then the present
 * state is stored or kept as a backedge, then what hung on a path that ends goes. */
struct traffic {
	uint32_t evicted, stored, ended;
};

/* Backedges that wait for the end of their loop, by call chain. */
struct waiting {
	struct loupe_chain chain;
	uint32_t cnt;
};

static struct waiting *waiting_of(struct waiting *all, uint32_t *cnt,
				  const struct loupe_chain *chain)
{
	for (uint32_t i = 0; i < *cnt; i++) {
		if (all[i].chain.cnt == chain->cnt &&
		    !memcmp(all[i].chain.at, chain->at, chain->cnt * sizeof(chain->at[0])))
			return &all[i];
	}
	assert_true(*cnt < 256);
	all[*cnt] = (struct waiting){ .chain = *chain };
	return &all[(*cnt)++];
}

static void check_peak(const struct loupe_trace *trace, const struct loupe_counters *counters)
{
	struct traffic *at = calloc((size_t)loupe_trace_step_cnt(trace) + 1, sizeof(*at));
	struct loupe_checkpoint_info point;
	struct loupe_scc_info scc;
	struct waiting all[256];
	uint32_t cnt = 0, alive = 0, peak = 0;

	assert_non_null(at);
	for (uint32_t serial = 1; serial <= loupe_trace_checkpoint_cnt(trace); serial++) {
		assert_int_equal(loupe_trace_checkpoint(trace, serial, &point), 0);
		at[point.born].stored++;
		if (point.freed == LOUPE_NO_STEP)
			continue;
		if (point.freed == point.evicted)
			at[point.freed].evicted++;
		else
			at[point.freed].ended++;
	}
	for (uint64_t row = 0; !loupe_trace_scc(trace, row, &scc); row++) {
		if (scc.event == LOUPE_SCC_BACKEDGE) {
			at[scc.step].stored++;
			waiting_of(all, &cnt, scc.chain)->cnt++;
		} else if (scc.event == LOUPE_SCC_EXIT) {
			at[scc.step].ended += waiting_of(all, &cnt, scc.chain)->cnt;
			waiting_of(all, &cnt, scc.chain)->cnt = 0;
		}
	}
	for (uint32_t step = 0; step < loupe_trace_step_cnt(trace); step++) {
		alive = alive - at[step].evicted + at[step].stored;
		peak = alive > peak ? alive : peak;
		alive -= at[step].ended;
	}
	assert_int_equal(peak, counters->peak_states);
	free(at);
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
	check_peak(trace, &result.counters);
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
