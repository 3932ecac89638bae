/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls that are made, and what they cost in a filter before and after. */
#ifndef BPFLOUPE_UI_CALLS_H
#define BPFLOUPE_UI_CALLS_H

#include "bpfloupe/filter.h"
#include "bpfloupe/policy.h"

struct calls_row {
	char name[32]; /* as a table has it, "" for none */
	struct loupe_seccomp_data data;
	double weight;
	uint32_t result;      /* the same before and after */
	uint32_t executed[2]; /* instructions, before and after */
	uint32_t loads[2];
	bool cached[2]; /* the kernel allows it without running the filter */
};

struct calls {
	const struct loupe_filter *filter[2];
	struct calls_row *rows;
	uint32_t cnt, cap;
};

/* Expected cost of a call, by weight. */
struct calls_means {
	double weight; /* of all rows; 0: there is nothing to expect */
	double executed[2], loads[2];
	double with_cache[2]; /* instructions, calls that never run the filter counted as none */
	double cached[2];     /* share of calls that never run it */
};

/** Starts an empty list. @param filter  before and after; must outlive it */
void calls_init(struct calls *calls, const struct loupe_filter *before,
		const struct loupe_filter *after);
void calls_finish(struct calls *calls);

/**
 * Runs a call through both filters and puts it at a place in the list, at most behind the last row.
 * @return 0, -ENOMEM, or an error of loupe_filter_eval()
 */
int calls_add(struct calls *calls, uint32_t at, const struct loupe_seccomp_data *data,
	      const char *name, double weight, struct loupe_error *err);

/** Adds the rows of a table. */
int calls_add_table(struct calls *calls, const struct loupe_weights *table,
		    struct loupe_error *err);

/** Adds, for each rule that a call can be made up for, a call that the rule decides. */
int calls_add_rules(struct calls *calls, const struct loupe_policy *policy,
		    struct loupe_error *err);

struct calls_means calls_means(const struct calls *calls);

/**
 * Reads a call: its name or number, then at most six arguments.
 * @param words  cnt of them
 * @param why    receives one line when it cannot be read
 */
bool calls_parse(const char *const *words, uint32_t cnt, uint32_t arch,
		 struct loupe_seccomp_data *data, char *why, size_t size);

#endif
