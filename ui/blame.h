/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps back from a value to where it came from. */
#ifndef BPFLOUPE_UI_BLAME_H
#define BPFLOUPE_UI_BLAME_H

#include "subject.h"

/* One step back. */
struct blame_row {
	struct loupe_blame link;
	uint32_t depth;		  /* 0: the value itself; 1: a second value that it was made from,
				     … */
	uint32_t used;		  /* the step at which the value is used */
	struct loupe_value value; /* that it gave */
	bool named;		  /* the insn that the rejection comes from */
	const char *aside;	  /* it made no value: what it is instead; else NULL */
};

struct blame {
	uint32_t step;
	struct loupe_loc loc;
	struct blame_row *rows; /* latest first; a second value's rows stand below its user */
	uint32_t cnt, cap;
	bool cut; /* there is more than is kept */
	bool of_error; /* it is what a rejection is about */
	struct loupe_fault fault; /* of a rejected step; its step is LOUPE_NO_STEP if it is none */
	bool enough;		  /* the answer says more than the explanation of the message */
	char answer[600]; /* of a rejected step: what is wrong with the value, and since when; or
			     "" */
};

/**
 * Makes the chain of a register or slot at a step.
 * @return 0 or -ENOMEM; empty it with blame_finish()
 */
int blame_make(struct blame *blame, const struct subject *subject, uint32_t step,
	       struct loupe_loc loc);
void blame_finish(struct blame *blame);

/** How a link made its value: "computed from R1 and R2". */
void blame_words(const struct loupe_blame *link, char *buf, size_t size);

#endif
