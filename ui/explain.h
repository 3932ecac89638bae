/* SPDX-License-Identifier: GPL-2.0-only */
/* What an error of the verifier means: the table in errors.def. */
#ifndef BPFLOUPE_UI_EXPLAIN_H
#define BPFLOUPE_UI_EXPLAIN_H

#include "subject.h"

struct explanation {
	const char *pattern;
	const char *rule; /* what was asked for */
	const char *ways; /* how programs usually give it */
};

/** The explanation of a message, NULL if there is none. */
const struct explanation *explain_error(const char *message);

/** What the kernel might have said of a rejection that it gives no message for; NULL: not known. */
const char *explain_silence(const struct loupe_image *image,
			    const struct loupe_verify_result *result);

/** Explanation number i, NULL beyond the last one. */
const struct explanation *explanation_get(size_t i);

/** True if a rejection is answered by what the program costs: a limit was hit. */
bool explain_counts(const struct subject *subject);

/** True if a rejection is answered by two states that are the same: an infinite loop. */
bool explain_compares(const struct subject *subject);

/** True if a rejection is answered by where a value came from. */
bool explain_blames(const struct subject *subject);

#endif
