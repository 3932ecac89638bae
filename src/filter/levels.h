/* SPDX-License-Identifier: GPL-2.0-only */
/* The levels of the optimizer that work on the graph, -O1 to -O3. */
#ifndef LOUPE_FILTER_LEVELS_H
#define LOUPE_FILTER_LEVELS_H

#include "filter/opt.h"

/* Passes that a level may use, a bit each. */
enum {
	FILTER_USE_TESTS = 1,
	FILTER_USE_LOADS = 2,
	FILTER_USE_SYNTH = 4,
	FILTER_USE_SEARCH = 8,
	FILTER_USE_BITS = 16,
};

/**
 * Optimizes by way of the graph and records how.
 * @param use      FILTER_USE_*
 * @param weights  how often system calls are made, NULL: as the filter itself suggests
 * What was used, and why less than asked, is in opt->used and opt->why.
 * @return 1; 0 when the graph is not for this filter (the kernel would not take its scratch memory,
 *         or it would get longer) and nothing was recorded; negative errno
 */
int filter_optimize_graph(struct filter_opt *opt, uint32_t use,
			  const struct loupe_weights *weights);

#endif
