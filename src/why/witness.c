// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two calls that show that a comparison matters. The filter is run twice side by side from the
 * comparison on, on one side as if it were true, on the other as if it were false. All words are
 * the same on both sides but the one that is compared; what tests on the way ask for becomes a
 * condition on a word's value, and a way goes on as long as a value meets all conditions of its
 * word.
 */
#include "why/why.h"

#include <string.h>

enum {
	MOST_CONDITIONS = 512,
	MOST_STEPS = 3000,
	OTHER_SIDE = LOUPE_WHY_WORDS, /* the compared word as the second call has it */
	VARIABLES,
	A_CONSTANT = 0xff,
};

/* (variable & mask) op k came out as taken. */
struct condition {
	uint8_t var;
	bool taken;
	uint16_t op;
	uint32_t mask, k;
};

struct content {
	uint8_t var;   /* A_CONSTANT: value */
	uint32_t mask; /* bits of the variable that are left */
	uint32_t value;
};

struct witness {
	const struct loupe_why *why;
	struct condition conditions[MOST_CONDITIONS];
	uint32_t cnt, steps;
	uint32_t word; /* that is compared */
	uint32_t answer[2];
};

struct side {
	uint32_t insn;
	struct content a;
};

static bool holds(const struct condition *c, uint32_t value)
{
	value &= c->mask;
	switch (c->op) {
	case BPF_JEQ:
		return (value == c->k) == c->taken;
	case BPF_JGT:
		return (value > c->k) == c->taken;
	case BPF_JGE:
		return (value >= c->k) == c->taken;
	default:
		return !!(value & c->k) == c->taken;
	}
}

static bool meets_all(const struct witness *w, uint8_t var, uint32_t value)
{
	for (uint32_t i = 0; i < w->cnt; i++) {
		if (w->conditions[i].var == var && !holds(&w->conditions[i], value))
			return false;
	}
	return true;
}

/* A value that meets all conditions of a variable; those near the newest ones come first. */
static bool find_value(const struct witness *w, uint8_t var, uint32_t *value)
{
	uint32_t base = 0;

	/* Bits that masked equalities ask for, and others that must be there. */
	for (uint32_t i = 0; i < w->cnt; i++) {
		const struct condition *c = &w->conditions[i];

		if (c->var != var || !c->taken)
			continue;
		if (c->op == BPF_JEQ)
			base = (base & ~c->mask) | c->k;
		else if (c->op == BPF_JSET && !(base & c->mask & c->k))
			base |= c->mask & c->k & (~(c->mask & c->k) + 1);
	}
	for (uint32_t i = w->cnt; i--;) {
		const struct condition *c = &w->conditions[i];
		const uint32_t tries[] = { c->k,	 c->k + 1, c->k - 1,	   base | c->k,
					   base & ~c->k, ~c->k,	   base | ~c->mask };

		if (c->var != var)
			continue;
		for (size_t t = 0; t < sizeof(tries) / sizeof(tries[0]); t++) {
			if (meets_all(w, var, tries[t])) {
				*value = tries[t];
				return true;
			}
		}
	}
	*value = meets_all(w, var, 0) ? 0 : base;
	return meets_all(w, var, *value);
}

static bool assume(struct witness *w, struct content a, struct loupe_cbpf_insn insn, bool taken)
{
	uint32_t value;

	if (w->cnt == MOST_CONDITIONS)
		return false;
	w->conditions[w->cnt++] =
		(struct condition){ a.var, taken, BPF_OP(insn.code), a.mask, insn.k };
	return find_value(w, a.var, &value);
}

/* What A holds behind a load or a mask; false for anything else. */
static bool step(const struct witness *w, uint32_t i, struct content *a, bool second)
{
	struct loupe_cbpf_insn insn = why_insn(w->why, i);
	uint32_t word = why_word_of(w->why, i);

	if (word != LOUPE_NONE) {
		bool apart = second && word == w->word;

		*a = (struct content){ (uint8_t)(apart ? OTHER_SIDE : word), UINT32_MAX, 0 };
		return true;
	}
	if (insn.code == (BPF_LD | BPF_IMM)) {
		*a = (struct content){ A_CONSTANT, UINT32_MAX, insn.k };
		return true;
	}
	a->mask &= insn.k;
	a->value &= insn.k;
	return insn.code == (BPF_ALU | BPF_AND | BPF_K);
}

static bool walk(struct witness *w, struct side one, struct side two);

/* Lets one side go on, on all ways that it can. */
static bool go_on(struct witness *w, struct side one, struct side two, bool second)
{
	struct side *s = second ? &two : &one;
	struct loupe_cbpf_insn insn = why_insn(w->why, s->insn);
	enum loupe_way way[2];
	uint32_t to[2];
	unsigned int ways = why_ways(w->why, s->insn, to, way);

	if (ways == 1) {
		if (!filter_is_ja(insn.code) && !step(w, s->insn, &s->a, second))
			return false;
		s->insn = to[0];
		return walk(w, one, two);
	}
	if (BPF_SRC(insn.code) != BPF_K)
		return false;
	if (s->a.var == A_CONSTANT) {
		struct condition c = { 0, true, BPF_OP(insn.code), UINT32_MAX, insn.k };

		s->insn = to[holds(&c, s->a.value) ? 0 : 1];
		return walk(w, one, two);
	}
	for (int n = 0; n < 2; n++) {
		uint32_t cnt = w->cnt;

		s->insn = to[n];
		if (assume(w, s->a, insn, !n) && walk(w, one, two))
			return true;
		w->cnt = cnt;
	}
	return false;
}

static bool walk(struct witness *w, struct side one, struct side two)
{
	struct loupe_cbpf_insn a = why_insn(w->why, one.insn), b = why_insn(w->why, two.insn);
	bool ends[2] = { filter_is_ret(a.code), filter_is_ret(b.code) };

	if (++w->steps > MOST_STEPS)
		return false;
	if (ends[0] && ends[1]) {
		w->answer[0] = a.k;
		w->answer[1] = b.k;
		return a.code == (BPF_RET | BPF_K) && b.code == a.code && a.k != b.k;
	}
	/* From here on both do the same. */
	if (one.insn == two.insn && one.a.var == two.a.var && one.a.mask == two.a.mask &&
	    one.a.value == two.a.value)
		return false;
	return go_on(w, one, two, ends[0] || (!ends[1] && two.insn < one.insn));
}

/* What the tests on the way to the comparison ask for. */
static bool replay(struct witness *w, const struct loupe_arrival *arrival, uint32_t insn,
		   struct content *a)
{
	*a = (struct content){ .var = A_CONSTANT };
	for (uint32_t n = 0; n < arrival->path_cnt; n++) {
		uint32_t i = arrival->path[n];
		uint32_t next = n + 1 < arrival->path_cnt ? arrival->path[n + 1] : insn;
		enum loupe_way way[2];
		uint32_t to[2];
		unsigned int ways = why_ways(w->why, i, to, way);

		if (ways == 1) {
			if (!filter_is_ja(why_insn(w->why, i).code) && !step(w, i, a, false))
				return false;
		} else if (to[0] != to[1] && a->var != A_CONSTANT) {
			if (BPF_SRC(why_insn(w->why, i).code) != BPF_K ||
			    !assume(w, *a, why_insn(w->why, i), to[0] == next))
				return false;
		}
	}
	return true;
}

/* The second call has met the tests before, too. */
static bool part(struct witness *w, struct content a)
{
	uint32_t cnt = w->cnt;

	for (uint32_t i = 0; i < cnt; i++) {
		if (w->conditions[i].var != a.var)
			continue;
		if (w->cnt == MOST_CONDITIONS)
			return false;
		w->conditions[w->cnt] = w->conditions[i];
		w->conditions[w->cnt++].var = OTHER_SIDE;
	}
	return true;
}

static void write_call(const struct witness *w, bool second, struct loupe_seccomp_data *call)
{
	uint32_t words[LOUPE_WHY_WORDS] = { 0 };

	for (uint8_t v = 0; v < LOUPE_WHY_WORDS; v++)
		find_value(w, v == w->word && second ? OTHER_SIDE : v, &words[v]);
	memcpy(call, words, sizeof(*call));
}

/* Calls of one class look nicest: its number and architecture, where they are not compared. */
static void settle(struct witness *w, const struct loupe_arrival *arrival)
{
	const struct loupe_cbpf_insn eq = { .code = BPF_JMP | BPF_JEQ | BPF_K };
	struct loupe_callers callers;
	uint32_t first = 0;

	while (first < w->why->caller_cnt && !why_bit(arrival->callers, first))
		first++;
	callers = w->why->callers[first];
	if (callers.kind == LOUPE_CALLERS_ARCH || callers.kind == LOUPE_CALLERS_PACKET)
		return;
	for (uint8_t v = 0; v < 2; v++) {
		struct loupe_cbpf_insn insn = eq;
		uint32_t cnt = w->cnt;

		insn.k = v ? callers.arch : callers.nr;
		if (v == w->word || (!v && callers.kind != LOUPE_CALLERS_CALL))
			continue;
		if (!assume(w, (struct content){ v, UINT32_MAX, 0 }, insn, true))
			w->cnt = cnt;
	}
}

static bool try_way(struct witness *w, const struct loupe_arrival *arrival, uint32_t insn)
{
	struct loupe_cbpf_insn test = why_insn(w->why, insn);
	struct side one, two;
	enum loupe_way way[2];
	uint32_t to[2];

	w->cnt = w->steps = 0;
	w->word = LOUPE_NONE;
	if (!replay(w, arrival, insn, &one.a) || one.a.var == A_CONSTANT)
		return false;
	w->word = one.a.var;
	settle(w, arrival);
	two.a = one.a;
	two.a.var = OTHER_SIDE;
	why_ways(w->why, insn, to, way);
	one.insn = to[0];
	two.insn = to[1];
	return part(w, one.a) && assume(w, one.a, test, true) && assume(w, two.a, test, false) &&
	       walk(w, one, two);
}

bool loupe_why_witness(const struct loupe_why *why, uint32_t insn,
		       struct loupe_seccomp_data call[2], uint32_t answer[2])
{
	struct loupe_cbpf_insn test = why_insn(why, insn);
	struct witness w = { .why = why };

	if (why->filter->flavour != LOUPE_FILTER_SECCOMP || !filter_is_cond(test.code) ||
	    BPF_SRC(test.code) != BPF_K)
		return false;
	for (uint32_t n = 0; n < why->lists[insn].cnt; n++) {
		if (!try_way(&w, &why->lists[insn].at[n], insn))
			continue;
		write_call(&w, false, &call[0]);
		write_call(&w, true, &call[1]);
		memcpy(answer, w.answer, sizeof(w.answer));
		return true;
	}
	return false;
}
