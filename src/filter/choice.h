/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a seccomp filter decides, as a diagram of choices: each node asks for a word of the input
 * (or some bits of it), and its segments say for which values which node comes next. Words are
 * asked in one order on every way, so equal functions of the words are the same node, however the
 * filter went about it. (Multi-valued decision diagrams: Srinivasan, Kam, Malik, Brayton 1990.)
 */
#ifndef LOUPE_FILTER_CHOICE_H
#define LOUPE_FILTER_CHOICE_H

#include "filter/ir.h"

/* Most different words, and bits of words, that a filter may ask for. */
#define CHOICE_VARS 64u
#define CHOICE_NONE UINT32_MAX
#define CHOICE_LEAF UINT32_MAX

struct choice_var {
	uint32_t offset; /* of the word in struct seccomp_data */
	uint32_t mask;	 /* bits asked for, UINT32_MAX: all */
	uint32_t rank;	 /* lower ones are asked first */
};

struct choice_seg {
	uint32_t lo; /* first value; the segment ends where the next begins */
	uint32_t to; /* node */
};

struct choice_node {
	uint32_t var;	     /* CHOICE_LEAF: it returns value */
	uint32_t value;	     /* of a leaf */
	uint32_t first, cnt; /* segments, in choices.segs; neighbours lead to different nodes */
};

struct choice_cached {
	uint32_t var, lo, hi, in, out, result;
};

struct choices {
	struct choice_node *nodes; /* after those that they lead to */
	uint32_t cnt, cap;
	struct choice_seg *segs;
	uint32_t seg_cnt, seg_cap;
	uint32_t *table;
	uint32_t mask;
	struct choice_cached *cache;
	struct choice_var vars[CHOICE_VARS];
	uint32_t var_cnt;
	uint8_t order[FILTER_WORD_CNT]; /* rank of each word */
	uint32_t root;
	int err; /* -ENOMEM, -E2BIG, -ENOTSUP; every node made since is CHOICE_NONE */
};

/*
 * Rank of each word by offset / 4: arch, nr, low halves of the arguments ascending, high halves
 * descending, instruction pointer. Checks of high halves that end alike are shared this way.
 */
extern const uint8_t choice_usual_order[FILTER_WORD_CNT];

/**
 * @param order  rank of each word by offset / 4, NULL: choice_usual_order
 * @return -ENOMEM. Undo with choices_finish(), on failure too
 */
int choices_init(struct choices *c, const uint8_t *order);
void choices_finish(struct choices *c);

uint32_t choice_leaf(struct choices *c, uint32_t value);

/** The variable for bits of a word. */
uint32_t choice_var_of(struct choices *c, uint32_t offset, uint32_t mask);

/** The function that is in where the variable is lo to hi, and out elsewhere. */
uint32_t choice_select(struct choices *c, uint32_t var, uint32_t lo, uint32_t hi, uint32_t in,
		       uint32_t out);

/**
 * Finds what a filter decides and makes it the root.
 * @return 0; -ENOTSUP when it computes with words other than by a mask, returns A, or uses X;
 *         -E2BIG when the diagram grows too large; -ENOMEM
 */
int choices_read(struct choices *c, const struct filter_ir *ir);

#endif
