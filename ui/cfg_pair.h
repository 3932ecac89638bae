/* SPDX-License-Identifier: GPL-2.0-only */
/* The two sides of the CFG view, matched instruction by instruction. */
#ifndef BPFLOUPE_UI_CFG_PAIR_H
#define BPFLOUPE_UI_CFG_PAIR_H

#include "cfg_side.h"
#include "subject.h"

enum { CFG_BEFORE, CFG_AFTER };

/**
 * Makes both sides of a verified program; the one after stays empty when nothing was removed or
 * changed.
 * @return as cfg_side_init()
 */
int cfg_pair_program(struct cfg_side side[2], const struct subject *subject,
		     struct loupe_error *err);

/** Makes both sides of an optimized filter, after all edits. @return as cfg_side_init() */
int cfg_pair_filter(struct cfg_side side[2], const struct subject *subject,
		    struct loupe_error *err);

/** Makes the side after anew, as it is after the first edits of them. @return as cfg_side_init() */
int cfg_pair_after(struct cfg_side side[2], const struct subject *subject, uint32_t edits,
		   struct loupe_error *err);

/**
 * Writes what is known about the selected instruction, and about the present edit, into a frame.
 * @param verdict  of a filter: whether the program shown is the same, "": not known
 */
void cfg_words(const struct cfg_side side[2], int active, const struct subject *subject,
	       uint32_t edits, const char *verdict, struct screen *screen, struct rect outer);

#endif
