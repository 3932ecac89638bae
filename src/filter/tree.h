/* SPDX-License-Identifier: GPL-2.0-only */
/* Search trees over the values of A, made of equality tests and cuts. */
#ifndef LOUPE_FILTER_TREE_H
#define LOUPE_FILTER_TREE_H

#include "filter/ir.h"

struct filter_tree_cell {
	uint32_t lo;   /* first value; the cell ends where the next begins */
	uint32_t to;   /* node of the graph that these values lead to */
	double weight; /* how often A is in it, in any unit */
};

/**
 * Makes the tests that lead each value of A to its cell's node. Their number is the least possible
 * for a tree; among these trees the arrangement keeps the weighted mean of executed tests low.
 * @param cells  ascending, the first one from 0; neighbours lead to different nodes
 * @return the root, FILTER_IR_NONE when memory ran out
 */
uint32_t filter_tree(struct filter_ir *ir, const struct filter_tree_cell *cells, uint32_t cnt);

/** How many tests filter_tree() makes; UINT32_MAX when memory ran out. */
uint32_t filter_tree_cost(const struct filter_tree_cell *cells, uint32_t cnt);

#endif
