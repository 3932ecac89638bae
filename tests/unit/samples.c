// SPDX-License-Identifier: GPL-2.0-only
/* Each sample shows the fact that its first comment states. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"
#include "bpfloupe/load.h"
#include "bpfloupe/verify.h"

/* What the verifier said of one program. */
struct heard {
	struct loupe_verify_result result;
	uint32_t hits, misses, converged, evictions;
	uint32_t range_misses;	   /* about the range or known bits of a register */
	uint32_t reg_of_last_miss; /* -1: not about a register */
	uint32_t evicted_hits, evicted_misses;
};

static void on_compare(void *ctx, const struct loupe_compare *cmp)
{
	struct heard *heard = ctx;

	switch (cmp->outcome) {
	case LOUPE_CMP_HIT:
	case LOUPE_CMP_HIT_BACKEDGE:
		heard->hits++;
		break;
	case LOUPE_CMP_LOOP_CONVERGED:
		heard->converged++;
		break;
	default:
		heard->misses++;
		if (cmp->diff.kind == LOUPE_DIFF_RANGE || cmp->diff.kind == LOUPE_DIFF_TNUM) {
			heard->range_misses++;
			heard->reg_of_last_miss = (uint32_t)cmp->diff.reg;
		}
	}
}

static void on_evict(void *ctx, const struct loupe_state *state, uint32_t hits, uint32_t misses)
{
	struct heard *heard = ctx;

	(void)state;
	heard->evictions++;
	heard->evicted_hits = hits;
	heard->evicted_misses = misses;
}

static const struct loupe_hooks hooks = { .compare = on_compare, .evict = on_evict };

static struct heard verify(const char *file, const char *name)
{
	struct loupe_load_opts load = { .size = sizeof(load), .prog_name = name };
	struct loupe_program_list list = { 0 };
	struct loupe_verify_opts opts;
	struct heard heard = { 0 };
	struct loupe_error err;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", SAMPLES, file);
	assert_int_equal(loupe_load_file(path, &load, &list, &err), 0);
	assert_int_equal(list.cnt, 1);
	assert_non_null(list.progs[0].image);
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = (struct loupe_listener){ &hooks, &heard };
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &heard.result), 0);
	loupe_verify_result_finish(&heard.result);
	loupe_program_list_finish(&list);
	return heard;
}

static void a_join_prunes(void **state)
{
	struct heard heard = verify("prune-at-join.bpf.o", "prune_at_join");

	(void)state;
	assert_int_equal(heard.result.verdict, LOUPE_ACCEPTED);
	assert_int_equal(heard.hits, 1);
	assert_int_equal(heard.misses, 0);
}

static void a_precise_scalar_prevents_pruning(void **state)
{
	struct heard heard = verify("precise-scalar.bpf.o", "precise_scalar");

	(void)state;
	assert_int_equal(heard.result.verdict, LOUPE_ACCEPTED);
	assert_int_equal(heard.range_misses, 1);
	assert_true(heard.reg_of_last_miss <= 9);
}

static void useless_checkpoints_are_evicted(void **state)
{
	struct heard heard = verify("evicted-checkpoint.bpf.o", "evicted_checkpoint");

	(void)state;
	assert_int_equal(heard.result.verdict, LOUPE_ACCEPTED);
	assert_true(heard.evictions > 0);
	assert_int_equal(heard.evicted_hits, 0);
	assert_int_equal(heard.evicted_misses, 4);
	assert_int_equal(heard.result.counters.evictions, heard.evictions);
}

static void a_loop_is_walked_turn_by_turn(void **state)
{
	struct heard heard = verify("bounded-loop.bpf.o", "bounded_loop");

	(void)state;
	assert_int_equal(heard.result.verdict, LOUPE_ACCEPTED);
	assert_int_equal(heard.hits, 0);
	assert_true(heard.result.counters.insn_processed > 20 * 5);
}

static void a_lost_bound_is_rejected(void **state)
{
	struct heard heard = verify("lost-bound.bpf.o", "lost_bound");

	(void)state;
	assert_int_equal(heard.result.verdict, LOUPE_REJECTED);
	assert_int_equal(heard.result.err, -EACCES);
	assert_int_equal(heard.result.phase, LOUPE_PHASE_EXPLORE_MAIN);
	assert_int_equal(heard.result.insn_idx, 10);
}

static void a_callback_converges_sooner(void **state)
{
	struct heard unrolled = verify("unrolled-and-loop.bpf.o", "unrolled");
	struct heard looped = verify("unrolled-and-loop.bpf.o", "looped");

	(void)state;
	assert_int_equal(unrolled.result.verdict, LOUPE_ACCEPTED);
	assert_int_equal(looped.result.verdict, LOUPE_ACCEPTED);
	assert_int_equal(unrolled.converged, 0);
	assert_true(looped.converged > 0);
	assert_true(looped.result.counters.insn_processed * 3 <
		    unrolled.result.counters.insn_processed);
}

static struct loupe_filter_stats optimized(const char *file)
{
	struct loupe_filter_stats stats;
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_filter *after;
	struct loupe_error err;
	char path[512];

	snprintf(path, sizeof(path), "%s/../filters/%s", SAMPLES, file);
	assert_int_equal(loupe_filter_load(path, NULL, 0, NULL, &filter, &err), 0);
	assert_int_equal(loupe_filter_optimize(filter, NULL, &rw, &err), 0);
	assert_int_equal(
		loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, &err), 0);
	stats = loupe_filter_stats_of(after->flavour, after->insns, after->cnt);
	loupe_filter_destroy(after);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
	return stats;
}

static void filters_lose_their_detours(void **state)
{
	(void)state;
	/* four words are looked at, each once on every way */
	assert_int_equal(optimized("sandbox.c").loads, 4);
	assert_int_equal(optimized("sandbox.c").jumps, 0);
	assert_int_equal(optimized("dns.ddd").jumps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_join_prunes),
		cmocka_unit_test(a_precise_scalar_prevents_pruning),
		cmocka_unit_test(useless_checkpoints_are_evicted),
		cmocka_unit_test(a_loop_is_walked_turn_by_turn),
		cmocka_unit_test(a_lost_bound_is_rejected),
		cmocka_unit_test(a_callback_converges_sooner),
		cmocka_unit_test(filters_lose_their_detours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
