// SPDX-License-Identifier: GPL-2.0-only
/* Random filters: what the optimizer makes of them answers the same, at every step. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter_random.h"

enum { FILTERS = 20000, INPUTS = 30, MAX_INSNS = 60 };

static void show(const struct loupe_filter *filter, const char *title)
{
	char *text;
	size_t len;

	if (loupe_filter_emit(filter, NULL, LOUPE_EMIT_WORDS, &text, &len))
		return;
	print_message("%s\n%s", title, text);
	free(text);
}

/* What must not grow on any input, apart from keeping the answer. */
enum cost { COST_ALL, COST_LOADS, COST_ANY };

static void compare(struct random_source *r, const struct loupe_filter *before,
		    const struct loupe_filter *after, bool seccomp, enum cost cost)
{
	for (int n = 0; n < INPUTS; n++) {
		struct loupe_filter_run a = { 0 }, b = { 0 };
		struct loupe_seccomp_data data;
		uint8_t packet[16];
		struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };

		if (seccomp) {
			random_seccomp_data(r, before->insns, before->cnt, &data);
		} else {
			input.len = random_packet(r, before->insns, before->cnt, packet,
						  sizeof(packet));
			input.data = packet;
		}
		assert_int_equal(loupe_filter_eval(before, &input, &a, NULL), 0);
		assert_int_equal(loupe_filter_eval(after, &input, &b, NULL), 0);
		if (a.result != b.result || (b.executed > a.executed && cost == COST_ALL) ||
		    (b.loads > a.loads && cost != COST_ANY)) {
			show(before, "before");
			show(after, "after");
			fail_msg("before: %u after %u insns, %u loads; after: %u after %u, %u",
				 a.result, a.executed, a.loads, b.result, b.executed, b.loads);
		}
	}
}

static void random_filters_keep_their_meaning(void **state)
{
	struct random_source r = { .state = 1 };
	uint64_t total_before = 0, total_after = 0;
	uint32_t pass_cnt;

	(void)state;
	loupe_filter_passes(&pass_cnt);
	for (int n = 0; n < FILTERS; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		bool seccomp = n % 2;
		uint32_t cnt = random_filter(&r, seccomp, insns, MAX_INSNS), edits;
		struct loupe_filter *filter, *step;
		struct loupe_rewrite *rw;
		struct loupe_filter_opts opts = { 0 };
		struct loupe_error err = { 0 };

		enum cost cost;

		/* Passes must not depend on each other. */
		if (!random_below(&r, 4))
			opts.off = random_below(&r, 1u << pass_cnt);
		/* The search is slow. */
		opts.level = random_below(&r, 40) ? random_below(&r, 3) : 3;
		/* A shared tail may cost a jump; what is built anew asks in its own order. */
		cost = opts.level ? opts.level == 1 ? COST_LOADS : COST_ANY : COST_ALL;
		assert_int_equal(
			loupe_filter_create("random", insns, cnt,
					    seccomp ? LOUPE_FILTER_SECCOMP : LOUPE_FILTER_SOCKET,
					    &filter, &err),
			0);
		if (loupe_filter_optimize(filter, &opts, &rw, &err)) {
			show(filter, "before");
			fail_msg("%s", err.message);
		}
		edits = loupe_rewrite_edit_cnt(rw);
		/* The last program, and one on the way there. */
		assert_int_equal(loupe_filter_from_rewrite(filter, rw, edits, &step, &err), 0);
		compare(&r, filter, step, seccomp, cost);
		if (!random_below(&r, 64)) {
			struct loupe_filter_proof proof;

			assert_int_equal(loupe_filter_prove(filter, step, &proof, &err), 0);
			assert_int_not_equal(proof.verdict, LOUPE_PROOF_REFUTED);
		}
		total_before += filter->cnt;
		total_after += step->cnt;
		loupe_filter_destroy(step);
		edits = edits ? random_below(&r, edits) : 0;
		if (loupe_filter_from_rewrite(filter, rw, edits, &step, &err))
			fail_msg("after edit %u: %s", edits, err.message);
		/* Changes of a graph hold together, not one by one. */
		if (!opts.level)
			compare(&r, filter, step, seccomp, COST_ALL);
		loupe_filter_destroy(step);
		loupe_rewrite_destroy(rw);
		loupe_filter_destroy(filter);
	}
	assert_true(total_after < total_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters_keep_their_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
