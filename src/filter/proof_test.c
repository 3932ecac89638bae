// SPDX-License-Identifier: GPL-2.0-only
/* Judging a rewritten filter: by proof, and by generated inputs where no proof is possible. */
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "filter/proof.h"

enum { INPUTS = 20000, PACKET = 128 };

struct tester {
	const struct loupe_filter *a, *b;
	uint64_t random;
	uint32_t *words; /* constants of both filters */
	uint32_t word_cnt;
	uint8_t packet[PACKET];
	uint32_t ancillary[16];
	struct loupe_seccomp_data data;
};

static uint32_t next_random(struct tester *t)
{
	/* splitmix64, Steele, Lea, Flood 2014. */
	uint64_t z = t->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)(z >> 32);
}

/* Mostly a constant of the filters or a neighbour of one. */
static uint32_t pick(struct tester *t)
{
	uint32_t r = next_random(t);

	if (!t->word_cnt || r % 16 == 0)
		return next_random(t);
	if (r % 16 < 4)
		return 0;
	return t->words[next_random(t) % t->word_cnt] + (r >> 8) % 3 - 1;
}

static void collect(struct tester *t, const struct loupe_filter *filter)
{
	for (uint32_t i = 0; i < filter->cnt; i++) {
		uint16_t class = BPF_CLASS(filter->insns[i].code);

		if (class == BPF_JMP || class == BPF_ALU || class == BPF_LD)
			t->words[t->word_cnt++] = filter->insns[i].k;
	}
}

static struct loupe_filter_input generate(struct tester *t)
{
	struct loupe_filter_input input = { .data = &t->data, .len = sizeof(t->data) };

	if (t->a->flavour == LOUPE_FILTER_SECCOMP) {
		uint32_t words[sizeof(t->data) / 4];

		for (size_t i = 0; i < sizeof(t->data) / 4; i++)
			words[i] = pick(t);
		memcpy(&t->data, words, sizeof(t->data));
		return input;
	}
	for (int i = 0; i < PACKET; i += 4) {
		uint32_t word = pick(t);

		for (int j = 0; j < 4; j++)
			t->packet[i + j] = (uint8_t)(word >> (24 - 8 * j));
	}
	/* Odd places hold constants too. */
	if (next_random(t) % 2)
		memmove(t->packet + 2, t->packet, PACKET - 2);
	for (int i = 0; i < 16; i++)
		t->ancillary[i] = pick(t);
	input.data = t->packet;
	input.len = 1 + next_random(t) % PACKET;
	input.net_off = 14;
	input.ancillary = t->ancillary;
	return input;
}

static int test(struct tester *t, struct loupe_filter_proof *proof, struct loupe_error *err)
{
	proof->verdict = LOUPE_PROOF_TESTED;
	for (proof->inputs = 0; proof->inputs < INPUTS; proof->inputs++) {
		struct loupe_filter_input input = generate(t);
		struct loupe_filter_run a = { 0 }, b = { 0 };
		int ret = loupe_filter_eval(t->a, &input, &a, err);

		if (!ret)
			ret = loupe_filter_eval(t->b, &input, &b, err);
		if (ret)
			return ret;
		if (a.result != b.result) {
			proof->verdict = LOUPE_PROOF_REFUTED;
			proof->data = t->data;
			proof->before = a.result;
			proof->after = b.result;
			return 0;
		}
	}
	return 0;
}

int loupe_filter_prove(const struct loupe_filter *before, const struct loupe_filter *after,
		       struct loupe_filter_proof *out, struct loupe_error *err)
{
	struct tester t = { .a = before, .b = after, .random = 1 };
	int ret;

	*out = (struct loupe_filter_proof){ .verdict = LOUPE_PROOF_PROVEN };
	if (before->flavour != after->flavour)
		return loupe_error_set(err, -EINVAL, "filters of different kinds");
	ret = proof_decide(before, after, &out->data, &out->why_not, &out->nodes);
	if (ret < 0)
		return loupe_error_set(err, ret, "proving: out of memory");
	if (ret == PROOF_DIFFERENT) {
		struct loupe_filter_input input = { .data = &out->data, .len = sizeof(out->data) };
		struct loupe_filter_run a = { 0 }, b = { 0 };

		out->verdict = LOUPE_PROOF_REFUTED;
		ret = loupe_filter_eval(before, &input, &a, err);
		if (!ret)
			ret = loupe_filter_eval(after, &input, &b, err);
		out->before = a.result;
		out->after = b.result;
		return ret;
	}
	if (ret == PROOF_EQUAL)
		return 0;
	t.words = malloc(((size_t)before->cnt + after->cnt) * sizeof(*t.words));
	if (!t.words)
		return loupe_error_set(err, -ENOMEM, "testing: out of memory");
	collect(&t, before);
	collect(&t, after);
	ret = test(&t, out, err);
	free(t.words);
	return ret;
}
