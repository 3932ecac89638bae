// SPDX-License-Identifier: GPL-2.0-only
/* Which instruction of one program does what an instruction of another one does. */
#include "why/why.h"

/* What an instruction asks or does, however it is written. */
struct question {
	uint16_t code;
	uint32_t load; /* that gave A what is compared, LOUPE_NONE: none in particular */
	uint32_t k;
	struct why_cut cut;
};

static struct question question_of(const struct loupe_why *why, uint32_t i)
{
	struct loupe_cbpf_insn insn = why_insn(why, i);
	struct question q = { .code = insn.code, .load = LOUPE_NONE, .k = insn.k };
	const struct why_list *list = &why->lists[i];

	if (!filter_is_cond(insn.code))
		return q;
	if (list->cnt && list->at[0].a.kind == LOUPE_HOLD_WORD)
		q.load = list->at[0].a.at;
	else if (list->cnt)
		q.load = list->at[0].a.base;
	if (BPF_SRC(insn.code) == BPF_K)
		q.cut = why_cut_of(insn, UINT32_MAX);
	return q;
}

static bool same_read(struct loupe_filter_read a, struct loupe_filter_read b)
{
	return a.word == b.word && a.arg == b.arg && a.size == b.size && a.offset == b.offset;
}

static bool same_question(const struct loupe_why *a, struct question x, const struct loupe_why *b,
			  struct question y)
{
	if (!filter_is_cond(x.code) || !filter_is_cond(y.code))
		return x.code == y.code && (filter_is_ja(x.code) || x.k == y.k);
	if (BPF_SRC(x.code) != BPF_SRC(y.code) || (x.load == LOUPE_NONE) != (y.load == LOUPE_NONE))
		return false;
	if (x.load != LOUPE_NONE && !same_read(why_read(a, x.load), why_read(b, y.load)))
		return false;
	return x.cut.lo == y.cut.lo && x.cut.hi == y.cut.hi && x.cut.mask == y.cut.mask;
}

uint32_t loupe_why_partner(const struct loupe_why *why, uint32_t insn,
			   const struct loupe_why *other)
{
	const uint64_t *mine = &why->reach[(size_t)insn * why->caller_words];
	struct question question = question_of(why, insn);
	uint32_t best = LOUPE_NONE;
	int64_t most = INT64_MIN;

	if (why->caller_cnt != other->caller_cnt || !why->lists[insn].cnt)
		return LOUPE_NONE;
	for (uint32_t i = 0; i < other->filter->cnt; i++) {
		const uint64_t *theirs = &other->reach[(size_t)i * why->caller_words];
		int64_t common = 0, apart = 0;

		if (!same_question(why, question, other, question_of(other, i)))
			continue;
		for (uint32_t w = 0; w < why->caller_words; w++) {
			common += __builtin_popcountll(mine[w] & theirs[w]);
			apart += __builtin_popcountll(mine[w] ^ theirs[w]);
		}
		if (common && 4 * common - apart > most) {
			most = 4 * common - apart;
			best = i;
		}
	}
	return best;
}
