/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules over 64-bit arguments as rules over the 32-bit words that a filter can load. */
#ifndef LOUPE_POLICY_LOWER_H
#define LOUPE_POLICY_LOWER_H

#include "bpfloupe/policy.h"

enum { LOWER_WORDS = 12 }; /* argument n: 2n is its low word, 2n + 1 its high one */

/*
 * A test of one word. With a full mask: lo <= word <= hi. Otherwise: (word & mask) == lo, or not so
 * where differs is set; such a mask has a gap, or low bits only, or the test differs.
 */
struct lower_atom {
	uint8_t word;
	bool differs;
	uint32_t mask, lo, hi;
};

/* Tests that must all hold. */
struct lower_rule {
	struct lower_atom *atoms;
	uint32_t cnt;
	uint32_t action;
	uint32_t line; /* 1-based in the policy's own file, 0: of no rule there */
	uint32_t rule; /* index in the policy, LOUPE_NONE: the default */
};

struct lower_rules {
	struct lower_rule *rules;
	uint32_t cnt, cap;
};

/**
 * Lowers the rules of one system call, in their order; the last one is the default's.
 * @param out  filled; free with lower_finish(), on failure too
 * @return 0, -E2BIG when one rule falls into too many alternatives, -ENOMEM
 */
int lower_rules(const struct loupe_policy *policy, uint32_t nr, struct lower_rules *out);

void lower_finish(struct lower_rules *rules);

#endif
