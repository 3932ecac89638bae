/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rules of one system call decide, as a graph of tests of single words in a fixed order:
 * each node looks at one word only, and equal decisions are one node. (A multi-terminal decision
 * diagram whose edges are intervals; masked tests are nodes with two ways.)
 */
#ifndef LOUPE_POLICY_DECIDE_H
#define LOUPE_POLICY_DECIDE_H

#include "policy/lower.h"

enum decide_kind {
	DECIDE_ACTION,
	DECIDE_SPLIT, /* by intervals of a word */
	DECIDE_MASK,  /* (word & mask) == value: children[0], else children[1] */
};

struct decide_node {
	uint8_t kind; /* enum decide_kind */
	uint8_t word;
	uint32_t action; /* ACTION */
	uint32_t mask, value;
	uint32_t cnt;		/* ways out */
	uint32_t *ends;		/* SPLIT: last value of each interval */
	uint32_t *children;	/* nodes, all of lower numbers */
	double *weights;	/* share of all calls that take each way, filled by
				   decide_weigh() */
	uint32_t line;		/* of a rule that needs the test */
	uint32_t next;		/* in its hash bucket */
};

struct decide {
	struct decide_node *nodes;
	uint32_t cnt, cap;
	uint32_t root;
	struct decide_memo *memos;
	uint32_t memo_cnt, memo_cap;
	uint32_t *buckets, *memo_buckets;
	/* while it is built */
	const struct lower_rules *rules;
	const uint8_t *order; /* place of each word */
	uint64_t looks;	      /* at rules that are still possible */
};

/**
 * Builds the graph.
 * @param order  place of each of the LOWER_WORDS words, all different
 * @param out    filled; free with decide_finish(), on failure too
 * @return 0, -E2BIG when it grows beyond all bounds, -ENOMEM
 */
int decide_build(const struct lower_rules *rules, const uint8_t order[LOWER_WORDS],
		 struct decide *out);

void decide_finish(struct decide *d);

/**
 * Sends calls through the graph and notes which way they take.
 * @param rows    calls with arguments, all of this system call
 * @param spread  weight that takes all ways alike
 */
void decide_weigh(struct decide *d, const struct loupe_weight *rows, uint32_t cnt, double spread);

#endif
