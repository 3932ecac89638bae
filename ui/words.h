/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of a trace in words that a person understands. */
#ifndef BPFLOUPE_UI_WORDS_H
#define BPFLOUPE_UI_WORDS_H

#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"

/** "R6", "fp-16", with "frame 1 " in front if it is not frame 0 or there are several. */
void words_loc(const struct loupe_loc *loc, bool name_frame, char *buf, size_t size);

/** A value of a register or slot in the log's notation; "not written" for what holds none. */
void words_value(const struct loupe_value *value, struct loupe_loc loc, struct loupe_names *names,
		 char *buf, size_t size);

/** One word for an outcome: "HIT", "MISS", "CONVERGED" …; counts tells if it counts as a hit. */
const char *words_outcome(enum loupe_compare_outcome outcome, bool *hit);

/**
 * Why a comparison missed: "R6: verified for [0,63], now [0,255]"; of a hit, what that means.
 * @param old  the checkpoint as it was then, NULL if it is not known
 * @param cur  the state it was compared with
 */
void words_compare(const struct loupe_compare_info *info, const struct loupe_state *old,
		   const struct loupe_state *cur, struct loupe_names *names, char *buf,
		   size_t size);

#endif
