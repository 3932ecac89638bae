/* SPDX-License-Identifier: GPL-2.0-only */
/* Experiments: the same program verified under other rules. */
#ifndef BPFLOUPE_UI_LAB_H
#define BPFLOUPE_UI_LAB_H

#include "bpfloupe/verify.h"

enum { LAB_NAME = 32 };

/* One run: a change of the rules, and what came of it. */
struct lab_run {
	char name[LAB_NAME]; /* "evict=off"; "as given" for no change */
	struct loupe_verify_opts opts;
	bool done;
	enum loupe_verdict verdict;
	int err;
	uint64_t ns; /* processor time, the least of all repetitions */
	struct loupe_counters counters;
};

struct lab {
	struct lab_run *runs;
	uint32_t cnt, cap;
};

/** Frees the runs. */
void lab_finish(struct lab *lab);

/**
 * Adds a run: base with one knob changed.
 * @param change  "evict=off", or NULL for base itself
 * @param why     where a fault is told, NULL: nobody asks
 * @return 0; -EINVAL if the knob or value is not known; -ENOMEM
 */
int lab_add(struct lab *lab, const struct loupe_verify_opts *base, const char *change, char *why,
	    size_t size);

/** Adds the runs of a sweep, "evict=off,1,2,3". As lab_add(). */
int lab_sweep(struct lab *lab, const struct loupe_verify_opts *base, const char *sweep, char *why,
	      size_t size);

/**
 * Does a run.
 * @param times  repetitions, of which the fastest counts
 * @return 0 or -errno
 */
int lab_do(struct lab_run *run, const struct loupe_image *image, uint32_t times);

/* What a table of runs shows. */
struct lab_column {
	const char *name;  /* of scripts: as veristat's, where it has one */
	const char *title; /* of people */
	uint64_t (*value)(const struct lab_run *run);
};

/** Column i, NULL beyond the last one. */
const struct lab_column *lab_column(size_t i);

/** "success", "failure", … as bpfloupe stat has it. */
const char *lab_verdict(const struct lab_run *run);

#endif
