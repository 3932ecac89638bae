/* SPDX-License-Identifier: GPL-2.0-only */
/* What is worth knowing of a verification at first sight, in sentences. */
#ifndef BPFLOUPE_UI_FINDING_H
#define BPFLOUPE_UI_FINDING_H

#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"

enum { FINDINGS_MAX = 4, FINDING_TEXT = 320 };

struct finding {
	char text[FINDING_TEXT]; /* a sentence */
	const char *where;	 /* how the explorer goes there: "] goes there" */
};

struct findings {
	struct finding at[FINDINGS_MAX]; /* most telling first */
	uint32_t cnt;
};

/** Looks for evictions, loops, what was pruned and what was not. names may be NULL. */
void findings_make(struct findings *findings, const struct loupe_trace *trace,
		   struct loupe_names *names);

/** What a loop did, a sentence without its full stop. @return false if no loop is worth telling */
bool finding_loop(const struct loupe_trace *trace, char *buf, size_t size);

/** The sentence with how to go there behind it. @return buf */
const char *finding_words(const struct finding *finding, char *buf, size_t size);

#endif
