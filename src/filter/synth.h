/* SPDX-License-Identifier: GPL-2.0-only */
/* Building a filter anew from what it decides. */
#ifndef LOUPE_FILTER_SYNTH_H
#define LOUPE_FILTER_SYNTH_H

#include "filter/choice.h"
#include "filter/plan.h"

/* How a filter is to be made. */
struct filter_synth_opts {
	/*
	 * By segment of choices: share of all calls that go its way. NULL: trees have the fewest
	 * tests, and what the filter itself tests early, see depth, is tested early.
	 */
	const double *flow;
	struct filter_plans *plans;   /* kept from one time to the next */
	bool bits; /* tests of bits may save others; without flow it takes time to find out */
	const struct filter_ir *like; /* without flow: whose order of numbers is a guide */
};

/**
 * Sends calls through a diagram.
 * @param weights  at least one row of a weight above 0
 * @return by segment the share of calls that go there, free(); NULL when memory ran out
 */
double *filter_flow(const struct choices *c, const struct loupe_weights *weights);

/**
 * Makes a graph that decides what c decides: numbers by a tree, each word of the arguments by a
 * tree of its own.
 * @param to  zeroed here
 * @return 0, -ENOMEM
 */
int filter_synth(const struct choices *c, const struct filter_synth_opts *opts,
		 struct filter_ir *to);

#endif
