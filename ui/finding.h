/* SPDX-License-Identifier: GPL-2.0-only */
/* What is worth knowing of a verification at first sight, in sentences. */
#ifndef BPFLOUPE_UI_FINDING_H
#define BPFLOUPE_UI_FINDING_H

#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"

enum { FINDINGS_MAX = 4, FINDING_TEXT = 320 };

struct findings {
	char text[FINDINGS_MAX][FINDING_TEXT]; /* most telling first */
	uint32_t cnt;
};

/** Looks for evictions, loops, what was pruned and what was not. names may be NULL. */
void findings_make(struct findings *findings, const struct loupe_trace *trace,
		   struct loupe_names *names);

#endif
