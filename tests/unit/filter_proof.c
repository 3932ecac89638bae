// SPDX-License-Identifier: GPL-2.0-only
/* The proof: what is equal is proven, what differs is refuted by an input that shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "filter_random.h"

enum { FILTERS = 1000, INPUTS = 100, MAX_INSNS = 30 };

static struct loupe_filter *make(const struct loupe_cbpf_insn *insns, uint32_t cnt,
				 enum loupe_filter_flavour flavour)
{
	struct loupe_filter *filter;
	struct loupe_error err = { 0 };

	if (loupe_filter_create("t", insns, cnt, flavour, &filter, &err))
		fail_msg("%s", err.message);
	return filter;
}

static struct loupe_filter_proof judge(const struct loupe_cbpf_insn *a, uint32_t a_cnt,
				       const struct loupe_cbpf_insn *b, uint32_t b_cnt)
{
	struct loupe_filter *before = make(a, a_cnt, LOUPE_FILTER_SECCOMP);
	struct loupe_filter *after = make(b, b_cnt, LOUPE_FILTER_SECCOMP);
	struct loupe_filter_proof proof;

	assert_int_equal(loupe_filter_prove(before, after, &proof, NULL), 0);
	loupe_filter_destroy(before);
	loupe_filter_destroy(after);
	return proof;
}

#define JUDGE(a, b) judge(a, sizeof(a) / sizeof(a[0]), b, sizeof(b) / sizeof(b[0])).verdict

static void different_ways_to_say_the_same(void **state)
{
	/* (args[0].lo & 0xff) == 0 by jset, by a mask, by shifting, by a mask in X. */
	static const struct loupe_cbpf_insn jset[] = {
		{ 0x20, 0, 0, 16 }, { 0x45, 0, 1, 255 }, { 6, 0, 0, 1 }, { 6, 0, 0, 2 }
	};
	static const struct loupe_cbpf_insn mask[] = {
		{ 0x20, 0, 0, 16 }, { 0x54, 0, 0, 255 }, { 0x15, 0, 1, 0 },
		{ 6, 0, 0, 2 },	    { 6, 0, 0, 1 },
	};
	static const struct loupe_cbpf_insn shifted[] = {
		{ 0x20, 0, 0, 16 }, { 0x64, 0, 0, 24 }, { 0x25, 1, 0, 0 },
		{ 6, 0, 0, 2 },	    { 6, 0, 0, 1 },
	};
	static const struct loupe_cbpf_insn with_x[] = {
		{ 0x01, 0, 0, 255 }, { 0x20, 0, 0, 16 }, { 0x4d, 1, 0, 0 },
		{ 6, 0, 0, 2 },	     { 6, 0, 0, 1 },
	};
	/* Through scratch memory, and A returned: 1 + (A & 0xff ? 0 : 1) */
	static const struct loupe_cbpf_insn scratch[] = {
		{ 0x20, 0, 0, 16 }, { 0x54, 0, 0, 255 }, { 0x02, 0, 0, 3 }, { 0x00, 0, 0, 1 },
		{ 0x07, 0, 0, 0 },  { 0x60, 0, 0, 3 },	 { 0x15, 0, 3, 0 }, { 0x87, 0, 0, 0 },
		{ 0x04, 0, 0, 1 },  { 0x15, 1, 0, 2 },	 { 0x00, 0, 0, 1 }, { 0x16, 0, 0, 0 },
	};
	static const struct loupe_cbpf_insn wrong[] = {
		{ 0x20, 0, 0, 16 }, { 0x54, 0, 0, 127 }, { 0x15, 0, 1, 0 },
		{ 6, 0, 0, 2 },	    { 6, 0, 0, 1 },
	};

	(void)state;
	assert_int_equal(JUDGE(jset, mask), LOUPE_PROOF_PROVEN);
	assert_int_equal(JUDGE(jset, shifted), LOUPE_PROOF_PROVEN);
	assert_int_equal(JUDGE(with_x, mask), LOUPE_PROOF_PROVEN);
	assert_int_equal(JUDGE(scratch, mask), LOUPE_PROOF_PROVEN);
	assert_int_equal(JUDGE(jset, wrong), LOUPE_PROOF_REFUTED);
	assert_int_equal(JUDGE(scratch, wrong), LOUPE_PROOF_REFUTED);
}

static void one_input_of_all_is_found(void **state)
{
	struct loupe_cbpf_insn a[] = {
		{ 0x20, 0, 0, 60 }, { 0x15, 0, 3, 0xdeadbeef },
		{ 0x20, 0, 0, 24 }, { 0x35, 0, 1, 77 },
		{ 6, 0, 0, 1 },	    { 6, 0, 0, 0 },
	};
	struct loupe_cbpf_insn b[6];
	struct loupe_filter_proof proof;

	(void)state;
	memcpy(b, a, sizeof(a));
	assert_int_equal(judge(a, 6, b, 6).verdict, LOUPE_PROOF_PROVEN);
	b[3].k = 78;
	proof = judge(a, 6, b, 6);
	assert_int_equal(proof.verdict, LOUPE_PROOF_REFUTED);
	assert_int_equal(proof.data.args[5] >> 32, 0xdeadbeef);
	assert_int_equal(proof.data.args[1] & UINT32_MAX, 77);
	assert_int_equal(proof.before, 1);
	assert_int_equal(proof.after, 0);
}

static void what_is_not_decided_is_tested(void **state)
{
	static const struct loupe_cbpf_insn thirds[] = { { 0x20, 0, 0, 16 },
							 { 0x34, 0, 0, 3 },
							 { 0x16, 0, 0, 0 } };
	static const struct loupe_cbpf_insn fifths[] = { { 0x20, 0, 0, 16 },
							 { 0x34, 0, 0, 5 },
							 { 0x16, 0, 0, 0 } };
	struct loupe_filter_proof proof = judge(thirds, 3, thirds, 3);

	(void)state;
	assert_int_equal(proof.verdict, LOUPE_PROOF_TESTED);
	assert_non_null(proof.why_not);
	assert_true(proof.inputs >= 1000);
	assert_int_equal(judge(thirds, 3, fifths, 3).verdict, LOUPE_PROOF_REFUTED);
}

/* A filter and one with one instruction changed: the verdict is what inputs show. */
static void random_changes_are_judged(void **state)
{
	struct random_source r = { .state = 3 };
	uint32_t proven = 0, refuted = 0;

	(void)state;
	for (int n = 0; n < FILTERS; n++) {
		struct loupe_cbpf_insn a[MAX_INSNS], b[MAX_INSNS];
		uint32_t cnt = random_filter(&r, true, a, MAX_INSNS), at, k;
		struct loupe_filter *before, *after;
		struct loupe_filter_proof proof;
		bool differ = false;

		memcpy(b, a, cnt * sizeof(*a));
		at = random_below(&r, cnt);
		k = b[at].k;
		b[at].k = k ^ 1u << random_below(&r, 4);
		if (loupe_filter_check(b, cnt, LOUPE_FILTER_SECCOMP, NULL, NULL))
			b[at].k = k;
		before = make(a, cnt, LOUPE_FILTER_SECCOMP);
		after = make(b, cnt, LOUPE_FILTER_SECCOMP);
		assert_int_equal(loupe_filter_prove(before, after, &proof, NULL), 0);
		for (int i = 0; i < INPUTS; i++) {
			struct loupe_seccomp_data data;
			struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
			struct loupe_filter_run x = { 0 }, y = { 0 };

			random_seccomp_data(&r, a, cnt, &data);
			assert_int_equal(loupe_filter_eval(before, &input, &x, NULL), 0);
			assert_int_equal(loupe_filter_eval(after, &input, &y, NULL), 0);
			differ |= x.result != y.result;
		}
		if (differ)
			assert_int_not_equal(proof.verdict, LOUPE_PROOF_PROVEN);
		if (proof.verdict == LOUPE_PROOF_REFUTED)
			assert_int_not_equal(proof.before, proof.after);
		proven += proof.verdict == LOUPE_PROOF_PROVEN;
		refuted += proof.verdict == LOUPE_PROOF_REFUTED;
		loupe_filter_destroy(before);
		loupe_filter_destroy(after);
	}
	print_message("%u proven, %u refuted, %u undecided\n", proven, refuted,
		      FILTERS - proven - refuted);
	/* Undecided are only those that divide, multiply or shift by what depends on the input. */
	assert_true(proven + refuted > FILTERS * 3 / 4);
	assert_true(refuted > FILTERS / 20);
}

static void socket_filters_are_tested(void **state)
{
	static const struct loupe_cbpf_insn ip[] = {
		{ 0x28, 0, 0, 12 }, { 0x15, 0, 1, 0x800 }, { 6, 0, 0, 1 }, { 6, 0, 0, 0 }
	};
	static const struct loupe_cbpf_insn arp[] = {
		{ 0x28, 0, 0, 12 }, { 0x15, 0, 1, 0x806 }, { 6, 0, 0, 1 }, { 6, 0, 0, 0 }
	};
	struct loupe_filter *a = make(ip, 4, LOUPE_FILTER_SOCKET);
	struct loupe_filter *b = make(arp, 4, LOUPE_FILTER_SOCKET);
	struct loupe_filter_proof proof;

	(void)state;
	assert_int_equal(loupe_filter_prove(a, a, &proof, NULL), 0);
	assert_int_equal(proof.verdict, LOUPE_PROOF_TESTED);
	assert_int_equal(loupe_filter_prove(a, b, &proof, NULL), 0);
	assert_int_equal(proof.verdict, LOUPE_PROOF_REFUTED);
	loupe_filter_destroy(a);
	loupe_filter_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_ways_to_say_the_same),
		cmocka_unit_test(one_input_of_all_is_found),
		cmocka_unit_test(what_is_not_decided_is_tested),
		cmocka_unit_test(random_changes_are_judged),
		cmocka_unit_test(socket_filters_are_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
