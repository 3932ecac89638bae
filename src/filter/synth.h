/* SPDX-License-Identifier: GPL-2.0-only */
/* Building a filter anew from what it decides. */
#ifndef LOUPE_FILTER_SYNTH_H
#define LOUPE_FILTER_SYNTH_H

#include "filter/choice.h"

/* How often system calls are made. */
struct filter_weight {
	uint32_t nr;
	double weight;
};

struct filter_weights {
	struct filter_weight *rows; /* ascending numbers, none twice */
	uint32_t cnt;
};

/**
 * The weights that a filter itself suggests: what it tests early is frequent. Each number that it
 * treats differently from most others is given a weight that halves with every second instruction
 * that decides about it.
 * @param out  free out->rows
 * @return 0, -ENOMEM
 */
int filter_weights_guess(const struct choices *c, const struct filter_ir *ir,
			 struct filter_weights *out);

/**
 * Makes a graph that decides what c decides: numbers by a tree, each word of the arguments by a
 * tree of its own.
 * @param to     zeroed here
 * @param spare  see filter_tree(), for the tree of numbers
 * @return 0, -ENOMEM
 */
int filter_synth(const struct choices *c, const struct filter_weights *weights, uint32_t spare,
		 struct filter_ir *to);

#endif
