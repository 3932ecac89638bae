// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which rules an instruction serves. A rule of a call is possible on a way as long as what is known
 * of the words there contradicts none of its conditions. Of the possible ones, a load serves those
 * that ask for its word and whose answer is open; a comparison those with a bound where it cuts; a
 * return those that give its answer.
 */
#include "why/why.h"

struct why_cut why_cut_of(struct loupe_cbpf_insn insn, uint32_t mask)
{
	uint32_t k = insn.k;

	switch (BPF_OP(insn.code)) {
	case BPF_JEQ:
		return (struct why_cut){ k, k, mask };
	case BPF_JGT:
		return (struct why_cut){ 0, k, mask };
	case BPF_JGE:
		return (struct why_cut){ 0, k - !!k, mask };
	default:
		k &= mask;
		if (!(~k & (~k + 1)))
			return (struct why_cut){ 0, ~k, UINT32_MAX };
		return (struct why_cut){ 0, 0, k };
	}
}

/* Whether a test of a rule has a bound where the comparison cuts. */
static bool has_bound(const struct lower_atom *atom, struct why_cut cut)
{
	uint32_t starts[2] = { cut.lo, cut.hi + 1 };

	if (cut.mask != UINT32_MAX)
		return atom->mask == cut.mask ||
		       (atom->mask == UINT32_MAX && atom->hi == ~cut.mask) ||
		       (atom->mask & cut.mask && atom->mask != UINT32_MAX);
	if (atom->mask != UINT32_MAX)
		return false;
	for (int i = 0; i < 2; i++) {
		if (starts[i] && (atom->lo == starts[i] || atom->hi == starts[i] - 1))
			return true;
	}
	return false;
}

enum truth { NEVER, ALWAYS, OPEN };

static enum truth truth_of(const struct lower_atom *atom, uint32_t lo, uint32_t hi)
{
	uint32_t unlike = lo ^ hi, fixed = UINT32_MAX;

	if (atom->mask == UINT32_MAX) {
		if (hi < atom->lo || lo > atom->hi)
			return atom->differs ? ALWAYS : NEVER;
		if (lo >= atom->lo && hi <= atom->hi)
			return atom->differs ? NEVER : ALWAYS;
		return OPEN;
	}
	if (unlike)
		fixed = (uint32_t)(~UINT64_C(0) << (32 - __builtin_clz(unlike)));
	if ((lo ^ atom->lo) & atom->mask & fixed)
		return atom->differs ? ALWAYS : NEVER;
	if (!(atom->mask & ~fixed))
		return atom->differs ? NEVER : ALWAYS;
	return OPEN;
}

/* An argument's word in the state, by its number in lowered rules. */
static enum truth truth_in(const struct lower_atom *atom, const struct why_state *s)
{
	uint32_t word = 4u + atom->word;

	return truth_of(atom, s->lo[word], s->hi[word]);
}

static bool is_possible(const struct lower_rule *rule, const struct why_state *s)
{
	for (uint32_t i = 0; i < rule->cnt; i++) {
		if (truth_in(&rule->atoms[i], s) == NEVER)
			return false;
	}
	return true;
}

/* Notes rules that ask for a word, with a bound at the cut (NULL: any). */
static void note_word(struct loupe_why *why, uint32_t c, const struct why_state *s, uint32_t word,
		      const struct why_cut *cut)
{
	const struct lower_rules *rules = &why->lowered[c];
	uint64_t *serves = &why->serves[(size_t)s->insn * why->rule_words];
	uint64_t *maybe = &why->maybe[(size_t)s->insn * why->rule_words];

	for (uint32_t r = 0; r < rules->cnt; r++) {
		const struct lower_rule *rule = &rules->rules[r];

		if (rule->rule == LOUPE_NONE || !is_possible(rule, s))
			continue;
		for (uint32_t i = 0; i < rule->cnt; i++) {
			const struct lower_atom *atom = &rule->atoms[i];

			if (4u + atom->word != word || truth_in(atom, s) != OPEN)
				continue;
			why_set_bit(cut && !has_bound(atom, *cut) ? maybe : serves, rule->rule);
		}
	}
}

/* Notes the possible rules that give an answer; none behind one that holds whatever comes. */
static void note_return(struct loupe_why *why, uint32_t c, const struct why_state *s,
			uint32_t answer)
{
	const struct lower_rules *rules = &why->lowered[c];
	uint64_t *serves = &why->serves[(size_t)s->insn * why->rule_words];

	for (uint32_t r = 0; r < rules->cnt; r++) {
		const struct lower_rule *rule = &rules->rules[r];
		bool sure = true;

		if (!is_possible(rule, s))
			continue;
		if (rule->rule != LOUPE_NONE && rule->action == answer)
			why_set_bit(serves, rule->rule);
		for (uint32_t i = 0; i < rule->cnt; i++)
			sure &= truth_in(&rule->atoms[i], s) == ALWAYS;
		if (sure)
			return;
	}
}

/* A comparison of numbers serves the calls nearest to where it cuts. */
static void note_number(struct loupe_why *why, uint32_t insn, struct why_cut cut)
{
	uint64_t *serves = &why->serves[(size_t)insn * why->rule_words];
	uint32_t below = LOUPE_NONE, above = LOUPE_NONE;

	for (uint32_t c = 0; c < why->caller_cnt; c++) {
		uint32_t nr = why->callers[c].nr;

		if (why->callers[c].kind != LOUPE_CALLERS_CALL || !loupe_why_reaches(why, c, insn))
			continue;
		if (nr <= cut.hi && (below == LOUPE_NONE || nr > below))
			below = nr;
		if (nr > cut.hi && (above == LOUPE_NONE || nr < above))
			above = nr;
	}
	for (uint32_t r = 0; r < why->policy->rule_cnt; r++) {
		uint32_t nr = why->policy->rules[r].nr;

		if (cut.lo == cut.hi ? nr == cut.lo : nr == below || nr == above)
			why_set_bit(serves, r);
	}
}

void why_note_rules(struct loupe_why *why, uint32_t c, const struct why_state *s)
{
	struct loupe_cbpf_insn insn = why_insn(why, s->insn);
	uint32_t word, mask = UINT32_MAX;

	if (!why->policy || why->callers[c].kind != LOUPE_CALLERS_CALL)
		return;
	if (insn.code == (BPF_RET | BPF_K)) {
		note_return(why, c, s, insn.k);
		return;
	}
	word = why_word_of(why, s->insn);
	if (word >= 4 && word != LOUPE_NONE) {
		note_word(why, c, s, word, NULL);
		return;
	}
	if (s->a.kind == LOUPE_HOLD_WORD) {
		word = why_word_of(why, s->a.at);
	} else {
		word = s->a.kind == LOUPE_HOLD_CHANGED ? why_word_of(why, s->a.base) : LOUPE_NONE;
		mask = s->a.mask;
	}
	if (word < 4 || word == LOUPE_NONE)
		return;
	if (filter_is_cond(insn.code) && BPF_SRC(insn.code) == BPF_K) {
		struct why_cut cut = why_cut_of(insn, mask);

		note_word(why, c, s, word, &cut);
	} else if (BPF_CLASS(insn.code) == BPF_ALU) {
		struct why_cut cut = { 0, 0, insn.k };

		note_word(why, c, s, word, &cut);
	}
}

/* Who gets where, by any way. */
static void settle_reach(struct loupe_why *why)
{
	for (uint32_t i = 0; i < why->filter->cnt; i++) {
		for (uint32_t n = 0; n < why->lists[i].cnt; n++) {
			for (uint32_t w = 0; w < why->caller_words; w++)
				why->reach[(size_t)i * why->caller_words + w] |=
					why->lists[i].at[n].callers[w];
		}
	}
}

void why_settle_rules(struct loupe_why *why)
{
	settle_reach(why);
	for (uint32_t i = 0; why->policy && i < why->filter->cnt; i++) {
		uint64_t *serves = &why->serves[(size_t)i * why->rule_words];
		struct loupe_cbpf_insn insn = why_insn(why, i);
		const struct why_list *list = &why->lists[i];
		bool by_number = false;

		for (uint32_t n = 0; n < list->cnt && filter_is_cond(insn.code); n++)
			by_number |= list->at[n].a.kind == LOUPE_HOLD_WORD &&
				     why_word_of(why, list->at[n].a.at) == 0;
		if (by_number && BPF_SRC(insn.code) == BPF_K && BPF_OP(insn.code) != BPF_JSET)
			note_number(why, i, why_cut_of(insn, UINT32_MAX));
		if (loupe_why_rule_cnt(why, i, NULL))
			continue;
		for (uint32_t w = 0; w < why->rule_words; w++)
			serves[w] = why->maybe[(size_t)i * why->rule_words + w];
	}
}

/* ---- questions ---------------------------------------------------------------------------- */

bool loupe_why_serves(const struct loupe_why *why, uint32_t insn, uint32_t rule)
{
	return why->policy && insn < why->filter->cnt && rule < why->policy->rule_cnt &&
	       why_bit(&why->serves[(size_t)insn * why->rule_words], rule);
}

uint32_t loupe_why_rule_cnt(const struct loupe_why *why, uint32_t insn, uint32_t *first)
{
	const uint64_t *serves = &why->serves[(size_t)insn * why->rule_words];
	uint32_t cnt = 0;

	for (uint32_t w = why->rule_words; w--;) {
		cnt += (uint32_t)__builtin_popcountll(serves[w]);
		if (serves[w] && first)
			*first = w * 64 + (uint32_t)__builtin_ctzll(serves[w]);
	}
	return cnt;
}

static void add_share(const struct loupe_why *why, uint32_t insn, struct loupe_why_share *share)
{
	share->insns++;
	share->loads += why_is_input(why_read(why, insn));
}

struct loupe_why_share loupe_why_rule_share(const struct loupe_why *why, uint32_t rule)
{
	struct loupe_why_share share = { 0 };

	for (uint32_t i = 0; i < why->filter->cnt; i++) {
		if (loupe_why_serves(why, i, rule))
			add_share(why, i, &share);
	}
	return share;
}

bool loupe_why_serves_line(const struct loupe_why *why, uint32_t insn, uint32_t file, uint32_t line)
{
	for (uint32_t r = 0; why->policy && r < why->policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &why->policy->rules[r];

		if (rule->file == file && rule->line == line && loupe_why_serves(why, insn, r))
			return true;
	}
	return false;
}

struct loupe_why_share loupe_why_line_share(const struct loupe_why *why, uint32_t file,
					    uint32_t line)
{
	struct loupe_why_share share = { 0 };

	for (uint32_t i = 0; i < why->filter->cnt; i++) {
		if (loupe_why_serves_line(why, i, file, line))
			add_share(why, i, &share);
	}
	return share;
}

const struct loupe_filter *loupe_why_filter(const struct loupe_why *why)
{
	return why->filter;
}

const struct loupe_policy *loupe_why_policy(const struct loupe_why *why)
{
	return why->policy;
}

const struct loupe_callers *loupe_why_callers(const struct loupe_why *why, uint32_t *cnt)
{
	*cnt = why->caller_cnt;
	return why->callers;
}

int64_t loupe_why_callers_of(const struct loupe_why *why, uint32_t arch, uint32_t nr)
{
	for (uint32_t c = 0; c < why->caller_cnt; c++) {
		if (why->callers[c].kind == LOUPE_CALLERS_CALL && why->callers[c].arch == arch &&
		    why->callers[c].nr == nr)
			return c;
	}
	return -1;
}

bool loupe_why_reaches(const struct loupe_why *why, uint32_t callers, uint32_t insn)
{
	return why_bit(&why->reach[(size_t)insn * why->caller_words], callers);
}

const struct loupe_arrival *loupe_why_arrivals(const struct loupe_why *why, uint32_t insn,
					       uint32_t *cnt)
{
	*cnt = why->lists[insn].cnt;
	return why->lists[insn].at;
}
