// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: filter_property [--full]
 * Random filters: what the optimizer makes of them answers the same, at every step, on inputs that
 * reach every instruction of both; and the proof says what the test says, of results and of broken
 * results. With --full many more of them.
 */
#include <errno.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter_reach.h"

enum { FILTERS = 2500, FULL_FILTERS = 50000, MAX_INSNS = 60 };

static uint32_t filter_cnt = FILTERS;

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

static void compare(const struct reach_inputs *inputs, const struct loupe_filter *before,
		    const struct loupe_filter *after, enum cost cost)
{
	for (uint32_t n = 0; n < inputs->cnt; n++) {
		struct loupe_filter_run a = reach_run(before, &inputs->input[n], NULL);
		struct loupe_filter_run b = reach_run(after, &inputs->input[n], NULL);

		if (a.result != b.result || (b.executed > a.executed && cost == COST_ALL) ||
		    (b.loads > a.loads && cost != COST_ANY)) {
			show(before, "before");
			show(after, "after");
			fail_msg("before: %u after %u insns, %u loads; after: %u after %u, %u",
				 a.result, a.executed, a.loads, b.result, b.executed, b.loads);
		}
	}
}

static bool differ(const struct reach_inputs *inputs, const struct loupe_filter *a,
		   const struct loupe_filter *b)
{
	for (uint32_t n = 0; n < inputs->cnt; n++) {
		if (reach_run(a, &inputs->input[n], NULL).result !=
		    reach_run(b, &inputs->input[n], NULL).result)
			return true;
	}
	return false;
}

/* Changes one instruction; what comes out may be the same filter still, or not be valid. */
static struct loupe_filter *broken(struct random_source *r, const struct loupe_filter *filter)
{
	struct loupe_cbpf_insn insns[LOUPE_FILTER_MAX_INSNS], *insn;
	struct loupe_filter *out = NULL;
	uint8_t jt;

	memcpy(insns, filter->insns, filter->cnt * sizeof(*insns));
	insn = &insns[random_below(r, filter->cnt)];
	jt = insn->jt;
	if (BPF_CLASS(insn->code) == BPF_JMP && insn->code != (BPF_JMP | BPF_JA) &&
	    random_below(r, 2)) {
		insn->jt = insn->jf;
		insn->jf = jt;
	} else if (insn->code != (BPF_JMP | BPF_JA)) {
		insn->k += insn->code == (BPF_LD | BPF_W | BPF_ABS) ? 4 : 1;
	}
	loupe_filter_create("broken", insns, filter->cnt, filter->flavour, &out, NULL);
	return out;
}

/* The proof's verdict and the test's do not contradict each other. */
static void check_proof(const struct reach_inputs *inputs, const struct loupe_filter *before,
			const struct loupe_filter *after, const struct loupe_filter_proof *proof,
			uint32_t verdicts[3])
{
	verdicts[proof->verdict]++;
	if (proof->verdict == LOUPE_PROOF_REFUTED && before->flavour == LOUPE_FILTER_SECCOMP) {
		struct reach_input input = { .data = proof->data, .len = sizeof(proof->data) };

		assert_int_equal(reach_run(before, &input, NULL).result, proof->before);
		assert_int_equal(reach_run(after, &input, NULL).result, proof->after);
		assert_int_not_equal(proof->before, proof->after);
	}
	if (differ(inputs, before, after) && proof->verdict != LOUPE_PROOF_REFUTED) {
		show(before, "before");
		show(after, "after");
		fail_msg("the test tells them apart, the proof does not");
	}
}

struct sums {
	struct reach_count reach[2]; /* where the prover finds inputs, and elsewhere */
	uint32_t verdicts[3]; /* on results */
	uint32_t broken[3];   /* on broken ones */
	uint64_t before, after;
};

/* The last program, and one on the way there. */
static void check_rewrite(struct random_source *r, const struct loupe_filter *filter,
			  const struct loupe_rewrite *rw, uint32_t level, struct sums *sums)
{
	/* A shared tail may cost a jump; what is built anew asks in its own order. */
	enum cost cost = level ? level == 1 ? COST_LOADS : COST_ANY : COST_ALL;
	static struct reach_inputs inputs;
	struct loupe_filter_proof proof = { .verdict = LOUPE_PROOF_TESTED };
	uint32_t edits = loupe_rewrite_edit_cnt(rw);
	struct loupe_filter *after, *spoilt;
	struct loupe_error err;
	/* the proof of a packet filter is a long test */
	bool prove = filter->flavour == LOUPE_FILTER_SECCOMP || !random_below(r, 40), decided;

	if (loupe_filter_from_rewrite(filter, rw, edits, &after, &err))
		fail_msg("after all edits: %s", err.message);
	if (prove)
		assert_int_equal(loupe_filter_prove(filter, after, &proof, NULL), 0);
	decided = proof.verdict != LOUPE_PROOF_TESTED;
	inputs.cnt = 0;
	reach_all(r, filter, decided, &inputs, &sums->reach[!decided]);
	reach_all(r, after, decided, &inputs, &sums->reach[!decided]);
	compare(&inputs, filter, after, cost);
	if (prove)
		check_proof(&inputs, filter, after, &proof, sums->verdicts);
	spoilt = decided ? broken(r, after) : NULL;
	if (spoilt) {
		assert_int_equal(loupe_filter_prove(filter, spoilt, &proof, NULL), 0);
		check_proof(&inputs, filter, spoilt, &proof, sums->broken);
	}
	loupe_filter_destroy(spoilt);
	sums->before += filter->cnt;
	sums->after += after->cnt;
	loupe_filter_destroy(after);
	/* Changes of a graph hold together, not one by one; the kernel might refuse what they
	 * leave. */
	edits = edits ? random_below(r, edits) : 0;
	if (!loupe_filter_from_rewrite(filter, rw, edits, &after, &err)) {
		if (!level)
			compare(&inputs, filter, after, COST_ALL);
		loupe_filter_destroy(after);
	} else if (!level || !strstr(err.message, "reads a scratch word")) {
		fail_msg("after edit %u: %s", edits, err.message);
	}
}

static void random_weights(struct random_source *r, const struct loupe_filter *filter,
			   struct loupe_weights *weights)
{
	for (uint32_t i = 0; i < weights->cnt; i++) {
		struct loupe_seccomp_data data;

		random_seccomp_data(r, filter->insns, filter->cnt, &data);
		weights->rows[i] = (struct loupe_weight){ .nr = data.nr,
							  .has_args = random_below(r, 2),
							  .weight = random_below(r, 9) };
		memcpy(weights->rows[i].args, data.args, sizeof(data.args));
		weights->arch = data.arch;
	}
}

static void show_sums(const struct sums *s)
{
	print_message("%u filters: %llu instructions before, %llu after\n", filter_cnt,
		      (unsigned long long)s->before, (unsigned long long)s->after);
	for (int i = 0; i < 2; i++)
		print_message(
			"%s: %llu instructions reached, %llu proven out of reach, %llu open\n",
			i ? "tested" : "decided", (unsigned long long)s->reach[i].reached,
			(unsigned long long)s->reach[i].out_of_reach,
			(unsigned long long)s->reach[i].open);
	print_message("results: %u proven, %u tested; broken results: %u refuted, %u the same "
		      "still, %u tested\n",
		      s->verdicts[LOUPE_PROOF_PROVEN], s->verdicts[LOUPE_PROOF_TESTED],
		      s->broken[LOUPE_PROOF_REFUTED], s->broken[LOUPE_PROOF_PROVEN],
		      s->broken[LOUPE_PROOF_TESTED]);
}

static void random_filters_keep_their_meaning(void **state)
{
	struct random_source r = { .state = 1 };
	struct sums sums = { 0 };
	uint32_t pass_cnt;

	(void)state;
	loupe_filter_passes(&pass_cnt);
	for (uint32_t n = 0; n < filter_cnt; n++) {
		struct loupe_weight rows[5];
		struct loupe_weights weights = { .rows = rows, .cnt = random_below(&r, 6) };
		struct loupe_cbpf_insn insns[MAX_INSNS];
		bool seccomp = n % 4;
		uint32_t cnt = random_filter(&r, seccomp, insns, MAX_INSNS);
		struct loupe_filter_opts opts = { 0 };
		struct loupe_filter *filter;
		struct loupe_rewrite *rw;
		struct loupe_error err;

		if (seccomp && random_below(&r, 16))
			random_mask_only(&r, insns, cnt);
		/* Passes must not depend on each other. */
		if (!random_below(&r, 4))
			opts.off = random_below(&r, 1u << pass_cnt);
		/* The search is slow. */
		opts.level = random_below(&r, 40) ? random_below(&r, 3) : 3;
		if (loupe_filter_create("random", insns, cnt,
					seccomp ? LOUPE_FILTER_SECCOMP : LOUPE_FILTER_SOCKET,
					&filter, &err))
			fail_msg("%s", err.message);
		random_weights(&r, filter, &weights);
		if (random_below(&r, 2))
			opts.weights = &weights;
		if (loupe_filter_optimize(filter, &opts, &rw, &err)) {
			show(filter, "before");
			fail_msg("%s", err.message);
		}
		check_rewrite(&r, filter, rw, opts.level, &sums);
		loupe_rewrite_destroy(rw);
		loupe_filter_destroy(filter);
	}
	show_sums(&sums);
	assert_true(sums.after < sums.before);
	assert_int_equal(sums.verdicts[LOUPE_PROOF_REFUTED], 0);
	/* everything is reached, or nothing reaches it, but where that is more than the prover can
	 * decide; elsewhere most */
	assert_true(sums.reach[0].open * 100000 < sums.reach[0].reached);
	assert_true(sums.reach[1].open * 3 < sums.reach[1].reached);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters_keep_their_meaning),
	};

	if (argc > 1 && !strcmp(argv[1], "--full"))
		filter_cnt = FULL_FILTERS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
