/* SPDX-License-Identifier: GPL-2.0-only */
/* The forms in which compile and optimize give out a filter. */
#ifndef BPFLOUPE_UI_EMIT_H
#define BPFLOUPE_UI_EMIT_H

#include "bpfloupe/filter.h"
#include "bpfloupe/why.h"
#include "input.h"

#define EMIT_FORMS "ddd, asm, words, c, raw, stats, graph, dot, svg or json"

struct emission {
	const struct input *input;
	const struct loupe_filter *result; /* the input's own filter when nothing was optimized */
	const struct loupe_rewrite *rw;	   /* NULL: nothing was optimized */
	const struct loupe_filter_proof *proof; /* NULL: there was nothing to prove */
};

/**
 * What explains the filter before and after.
 * @return exit status; 2 after one line on stderr. Destroy both in any case; they begin as NULL
 */
int emission_why(const struct emission *e, struct loupe_why **before, struct loupe_why **after);

/** Whether there is a form of that name; NULL is the default one. */
bool emit_knows(const char *form);

/** Writes the result to stdout. @return exit status; 2 after one line on stderr */
int emit(const char *form, const struct emission *emission);

#endif
