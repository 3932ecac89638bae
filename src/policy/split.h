/* SPDX-License-Identifier: GPL-2.0-only */
/* Search trees over one word: which way each interval of its values goes. */
#ifndef LOUPE_POLICY_SPLIT_H
#define LOUPE_POLICY_SPLIT_H

#include "policy/code.h"

struct split_item {
	uint32_t lo, hi; /* values; items cover all 2^32 in ascending order without gap */
	uint32_t target; /* node */
	double weight;	 /* share of all calls that come here with such a value */
};

/**
 * Builds comparisons of A that lead each value to its item's target. What they cost is their number
 * and, more, how many are executed on average by the items' weights.
 * @param items  consecutive ones with the same target become one
 * @return 0 with the node in *out, -ENOMEM
 */
int split_build(struct code *code, const struct split_item *items, uint32_t cnt, uint32_t *out);

#endif
