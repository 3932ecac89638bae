/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ordered, reduced decision diagrams with any number of different leaves (Bryant 1986; leaves as in
 * Fujita, McGeer, Yang 1997). Two functions are equal exactly when their diagrams are the same
 * node.
 */
#ifndef LOUPE_FILTER_BDD_H
#define LOUPE_FILTER_BDD_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t bdd_ref;

/* Leaves that every diagram has: truth values, or the numbers 0 and 1. */
#define BDD_FALSE 0u
#define BDD_TRUE  1u
/* No diagram: memory or the limit ran out. Every operation on it gives it back. */
#define BDD_NONE UINT32_MAX

#define BDD_LEAF UINT32_MAX

struct bdd_node {
	uint32_t var; /* lower ones are nearer to the root; BDD_LEAF */
	bdd_ref lo;   /* when the variable is 0; for a leaf: its number */
	bdd_ref hi;   /* when it is 1 */
};

struct bdd_cached {
	bdd_ref cond, then, otherwise, result;
};

struct bdd {
	struct bdd_node *nodes;
	uint32_t cnt, cap, limit;
	uint32_t *table; /* hash -> node + 1 */
	uint32_t mask;
	struct bdd_cached *cache;
	bool over;   /* the limit was reached */
	bool failed; /* memory ran out */
};

/** @param limit  most nodes. -ENOMEM. Undo with bdd_finish(), on failure too */
int bdd_init(struct bdd *b, uint32_t limit);
void bdd_finish(struct bdd *b);

/** The leaf with this number. */
bdd_ref bdd_leaf(struct bdd *b, uint32_t number);

/** True when the variable is 1. */
bdd_ref bdd_var(struct bdd *b, uint32_t var);

/** then where cond (of truth values) holds, otherwise elsewhere. */
bdd_ref bdd_ite(struct bdd *b, bdd_ref cond, bdd_ref then, bdd_ref otherwise);

static inline bdd_ref bdd_not(struct bdd *b, bdd_ref f)
{
	return bdd_ite(b, f, BDD_FALSE, BDD_TRUE);
}

static inline bdd_ref bdd_and(struct bdd *b, bdd_ref f, bdd_ref g)
{
	return bdd_ite(b, f, g, BDD_FALSE);
}

static inline bdd_ref bdd_or(struct bdd *b, bdd_ref f, bdd_ref g)
{
	return bdd_ite(b, f, BDD_TRUE, g);
}

static inline bdd_ref bdd_xor(struct bdd *b, bdd_ref f, bdd_ref g)
{
	return bdd_ite(b, f, bdd_not(b, g), g);
}

/**
 * Finds where two different diagrams differ.
 * @param set  called for each variable that must have a value
 */
void bdd_difference(const struct bdd *b, bdd_ref f, bdd_ref g,
		    void (*set)(void *arg, uint32_t var, bool value), void *arg);

#endif
