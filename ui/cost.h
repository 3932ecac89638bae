/* SPDX-License-Identifier: GPL-2.0-only */
/* What parts of a program cost: processed instructions, counted from a trace. */
#ifndef BPFLOUPE_UI_COST_H
#define BPFLOUPE_UI_COST_H

#include "bpfloupe/source.h"
#include "bpfloupe/trace.h"
#include "listing.h"

/* What the counts are by. */
enum cost_by {
	COST_LINE,
	COST_FUNCTION,
	COST_INSN,
	COST_BRANCH,
	COST_BY_CNT,
};

enum cost_row_kind {
	COST_ROW_PART,	  /* a line, function, insn or branch */
	COST_ROW_NO_LINE, /* LINE: insns without a source line */
	COST_ROW_START,	  /* BRANCH: paths that begin with a function, not at a branch */
};

struct cost_row {
	enum cost_row_kind kind;
	uint32_t insn;	    /* the first one of it */
	uint32_t hottest;   /* the one of it that was processed most often */
	uint64_t exclusive; /* processed insns: its own; of a branch: of the paths that it left */
	uint64_t inclusive; /* with what it calls (not of NO_LINE); of a branch: with what those
			       paths left in turn */
	uint64_t paths;	    /* BRANCH: paths that it left; else arrivals at its first insn */
	uint64_t pruned;    /* BRANCH: of these, how many ended where they began */
};

/* Rows by one of the parts; every processed insn is in the exclusive count of one row. */
struct cost {
	enum cost_by by;
	struct cost_row *rows; /* those that cost something */
	uint32_t cnt;
	uint64_t total; /* sum of the exclusive counts */
};

/**
 * Counts.
 * @param source  for COST_LINE; NULL: no insn has a line
 * @return 0 or -ENOMEM; empty it with cost_finish()
 */
int cost_make(struct cost *cost, const struct loupe_trace *trace, const struct loupe_source *source,
	      enum cost_by by);
void cost_finish(struct cost *cost);

/**
 * What made a verification long: the branch that multiplied most, the checkpoints that missed most;
 * or the loop, where branches had little part in it.
 * @param branches  counted by COST_BRANCH
 * @param where     behind it: where that is told, "" for nothing
 */
void cost_why_long(const struct cost *branches, const struct loupe_trace *trace,
		   const struct listing *listing, const char *where, char *buf, size_t size);

/** Name of what the counts are by: "line". */
const char *cost_by_name(enum cost_by by);

#endif
