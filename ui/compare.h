/* SPDX-License-Identifier: GPL-2.0-only */
/* Two explorations side by side, aligned by source line, and where they part. */
#ifndef BPFLOUPE_UI_COMPARE_H
#define BPFLOUPE_UI_COMPARE_H

#include "bpfloupe/source.h"
#include "bpfloupe/trace.h"

enum { COMPARE_SIDES = 2, COMPARE_NONE = -1 };

/* A source line of either program, or of both where it is the same; an instruction where a program
 * tells no lines. */
struct compare_line {
	char *text;	  /* "if (x)", or the instruction */
	uint32_t line[COMPARE_SIDES]; /* numbers in the source, 0: there is none */
	int32_t insn[COMPARE_SIDES];  /* first insn, COMPARE_NONE: that program lacks it */
	uint64_t cost[COMPARE_SIDES]; /* processed insns */
};

/* How a stretch of steps ends. */
enum compare_end {
	COMPARE_GOES_ON,
	COMPARE_PRUNED,
	COMPARE_EXITS,
	COMPARE_REJECTED,
};

/* Steps in a row that are on one line. */
struct compare_run {
	uint32_t step, cnt;
	uint32_t line;
	enum compare_end end;
};

/* Runs of both that belong together, COMPARE_NONE where one has none. */
struct compare_pair {
	int64_t run[COMPARE_SIDES];
	bool same;
};

struct compare {
	const struct loupe_trace *trace[COMPARE_SIDES];
	const struct loupe_source *source[COMPARE_SIDES];
	bool by_line; /* else by instruction */
	struct compare_line *lines; /* in the order of the first program */
	uint32_t line_cnt;
	uint32_t *by_cost; /* lines that cost anything, largest difference first */
	uint32_t cost_cnt;
	uint32_t *line_of[COMPARE_SIDES]; /* by insn */
	struct compare_run *runs[COMPARE_SIDES];
	int64_t run_cnt[COMPARE_SIDES];
	struct compare_pair *pairs;
	int64_t pair_cnt;
	int64_t first; /* pair where they part, -1: nowhere */
	char words[480]; /* that in a sentence */
};

/**
 * Compares two traces.
 * @return 0 or -ENOMEM; empty it with compare_finish() in any case
 */
int compare_make(struct compare *c, const struct loupe_trace *const traces[COMPARE_SIDES],
		 const struct loupe_source *const sources[COMPARE_SIDES]);
void compare_finish(struct compare *c);

/** The pair that step of a side is in. */
int64_t compare_pair_of(const struct compare *c, int side, uint32_t step);

/** By how much the costs of a line differ. */
uint64_t compare_difference(const struct compare_line *line);

/** Where a line is: ":12", "insn 7". */
void compare_place(const struct compare *c, int side, uint32_t line, char *buf, size_t size);

#endif
