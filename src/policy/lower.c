// SPDX-License-Identifier: GPL-2.0-only
#include "policy/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_ATOMS = 128,	/* of a rule */
	MAX_ALTERNATIVES = 4096 /* of a rule */
};

/* A condition as alternatives, each of at most two tests. */
struct alternatives {
	struct {
		struct lower_atom atoms[2];
		uint32_t cnt;
	} rows[4];
	uint32_t cnt; /* 0: it never holds */
};

static void add(struct alternatives *alt, const struct lower_atom *low,
		const struct lower_atom *high)
{
	uint32_t row = alt->cnt++;

	if (low)
		alt->rows[row].atoms[alt->rows[row].cnt++] = *low;
	if (high)
		alt->rows[row].atoms[alt->rows[row].cnt++] = *high;
}

static struct lower_atom range(unsigned int word, uint32_t lo, uint32_t hi)
{
	return (struct lower_atom){
		.word = (uint8_t)word, .mask = UINT32_MAX, .lo = lo, .hi = hi
	};
}

/* Whether all set bits are at the top, so that the masked test is one of a range. */
static bool is_prefix(uint32_t mask)
{
	return !(~mask & (~mask + 1));
}

/* (word & mask) == value; the caller has made sure that value is inside mask, and mask not 0. */
static struct lower_atom equal(unsigned int word, uint32_t mask, uint32_t value)
{
	if (is_prefix(mask))
		return range(word, value, value | ~mask);
	return (struct lower_atom){ .word = (uint8_t)word, .mask = mask, .lo = value, .hi = value };
}

static void lower_equal(struct alternatives *alt, unsigned int word, uint64_t mask, uint64_t value)
{
	uint32_t mask_lo = (uint32_t)mask, mask_hi = (uint32_t)(mask >> 32);
	struct lower_atom low, high;

	if (value & ~mask)
		return;
	if (mask_lo)
		low = equal(word, mask_lo, (uint32_t)value);
	if (mask_hi)
		high = equal(word + 1, mask_hi, (uint32_t)(value >> 32));
	add(alt, mask_lo ? &low : NULL, mask_hi ? &high : NULL);
}

/* One word differs from value under mask. */
static void differs(struct alternatives *alt, unsigned int word, uint32_t mask, uint32_t value)
{
	struct lower_atom atom;

	if (!mask)
		return;
	atom = equal(word, mask, value);
	if (atom.mask != UINT32_MAX) {
		atom.differs = true;
		add(alt, &atom, NULL);
		return;
	}
	/* what is outside a range is two ranges, of which one may be empty */
	if (atom.lo) {
		struct lower_atom below = range(word, 0, atom.lo - 1);

		add(alt, &below, NULL);
	}
	if (atom.hi != UINT32_MAX) {
		struct lower_atom above = range(word, atom.hi + 1, UINT32_MAX);

		add(alt, &above, NULL);
	}
}

/* argument >= least */
static void lower_at_least(struct alternatives *alt, unsigned int word, uint64_t least)
{
	uint32_t lo = (uint32_t)least, hi = (uint32_t)(least >> 32);
	struct lower_atom low = range(word, lo, UINT32_MAX), high = range(word + 1, hi, hi);
	struct lower_atom above = range(word + 1, hi + 1, UINT32_MAX);

	if (!least) {
		add(alt, NULL, NULL);
		return;
	}
	if (!lo) {
		high.hi = UINT32_MAX;
		add(alt, NULL, &high);
		return;
	}
	add(alt, &low, &high);
	if (hi != UINT32_MAX)
		add(alt, NULL, &above);
}

/* argument <= most */
static void lower_at_most(struct alternatives *alt, unsigned int word, uint64_t most)
{
	uint32_t lo = (uint32_t)most, hi = (uint32_t)(most >> 32);
	struct lower_atom low = range(word, 0, lo), high = range(word + 1, hi, hi);
	struct lower_atom below = range(word + 1, 0, hi - 1);

	if (lo == UINT32_MAX) {
		high.lo = 0;
		add(alt, NULL, hi == UINT32_MAX ? NULL : &high);
		return;
	}
	add(alt, &low, &high);
	if (hi)
		add(alt, NULL, &below);
}

/* A comparison of the low word alone. */
static void lower_word(struct alternatives *alt, unsigned int word, uint64_t least, uint64_t most)
{
	struct lower_atom atom;

	if (least > most || least > UINT32_MAX)
		return;
	if (!least && most >= UINT32_MAX) {
		add(alt, NULL, NULL);
		return;
	}
	atom = range(word, (uint32_t)least, most > UINT32_MAX ? UINT32_MAX : (uint32_t)most);
	add(alt, &atom, NULL);
}

static void lower_order(struct alternatives *alt, const struct loupe_policy_cond *cond)
{
	unsigned int word = cond->arg * 2u;
	bool at_least = cond->op == LOUPE_POLICY_GT || cond->op == LOUPE_POLICY_GE;
	uint64_t bound = cond->value;

	if (cond->op == LOUPE_POLICY_GT) {
		if (bound == UINT64_MAX)
			return;
		bound++;
	} else if (cond->op == LOUPE_POLICY_LT) {
		if (!bound)
			return;
		bound--;
	}
	if (cond->mask == UINT32_MAX)
		lower_word(alt, word, at_least ? bound : 0, at_least ? UINT64_MAX : bound);
	else if (at_least)
		lower_at_least(alt, word, bound);
	else
		lower_at_most(alt, word, bound);
}

static void lower_cond(struct alternatives *alt, const struct loupe_policy_cond *cond)
{
	unsigned int word = cond->arg * 2u;

	*alt = (struct alternatives){ 0 };
	if (cond->op == LOUPE_POLICY_EQ) {
		lower_equal(alt, word, cond->mask, cond->value);
	} else if (cond->op != LOUPE_POLICY_NE) {
		lower_order(alt, cond);
	} else if (cond->value & ~cond->mask) {
		add(alt, NULL, NULL);
	} else {
		struct alternatives high = { 0 };

		differs(alt, word, (uint32_t)cond->mask, (uint32_t)cond->value);
		differs(&high, word + 1, (uint32_t)(cond->mask >> 32),
			(uint32_t)(cond->value >> 32));
		for (uint32_t i = 0; i < high.cnt; i++)
			alt->rows[alt->cnt++] = high.rows[i];
	}
}

static int append(struct lower_rules *out, const struct lower_atom *atoms, uint32_t cnt,
		  uint32_t action, uint32_t line, uint32_t rule)
{
	struct lower_atom *copy;

	if (out->cnt == out->cap) {
		uint32_t cap = out->cap ? out->cap * 2 : 16;
		struct lower_rule *bigger = realloc(out->rules, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		out->rules = bigger;
		out->cap = cap;
	}
	copy = malloc((cnt + 1) * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (cnt)
		memcpy(copy, atoms, cnt * sizeof(*copy));
	out->rules[out->cnt++] = (struct lower_rule){
		.atoms = copy, .cnt = cnt, .action = action, .line = line, .rule = rule
	};
	return 0;
}

/* Each combination of the conditions' alternatives, from condition c on. */
static int combine(const struct loupe_policy *policy, uint32_t r, uint32_t c,
		   struct lower_atom *atoms, uint32_t cnt, uint32_t limit, struct lower_rules *out)
{
	const struct loupe_policy_rule *rule = &policy->rules[r];
	struct alternatives alt;
	int ret = 0;

	if (c == rule->cond_cnt) {
		if (out->cnt >= limit)
			return -E2BIG;
		return append(out, atoms, cnt, rule->action, rule->file ? 0 : rule->line, r);
	}
	lower_cond(&alt, &rule->conds[c]);
	if (cnt + 2 > MAX_ATOMS)
		return -E2BIG;
	for (uint32_t i = 0; !ret && i < alt.cnt; i++) {
		memcpy(atoms + cnt, alt.rows[i].atoms, sizeof(alt.rows[i].atoms));
		ret = combine(policy, r, c + 1, atoms, cnt + alt.rows[i].cnt, limit, out);
	}
	return ret;
}

int lower_rules(const struct loupe_policy *policy, uint32_t nr, struct lower_rules *out)
{
	struct lower_atom atoms[MAX_ATOMS];
	int ret = 0;

	*out = (struct lower_rules){ 0 };
	for (uint32_t i = 0; !ret && i < policy->rule_cnt; i++) {
		if (policy->rules[i].nr == nr)
			ret = combine(policy, i, 0, atoms, 0, out->cnt + MAX_ALTERNATIVES, out);
	}
	return ret ? ret : append(out, NULL, 0, policy->default_action, 0, LOUPE_NONE);
}

void lower_finish(struct lower_rules *rules)
{
	for (uint32_t i = 0; i < rules->cnt; i++)
		free(rules->rules[i].atoms);
	free(rules->rules);
	*rules = (struct lower_rules){ 0 };
}
