/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What passes of the filter optimizer share. A pass looks at the list of instructions (see
 * rewrite/list.h: jumps name instructions, not distances) and changes it only through the helpers
 * here, which record each edit with its reason.
 */
#ifndef LOUPE_FILTER_OPT_H
#define LOUPE_FILTER_OPT_H

#include "filter/opcode.h"
#include "rewrite/list.h"

/* Farthest that a conditional jump reaches. */
#define FILTER_REACH 255u

/* How an instruction lost a way that led to it. */
struct filter_lost {
	uint32_t from; /* LOUPE_NONE: it lost none */
	uint32_t to;   /* where that way leads now, LOUPE_NONE: from is a return now */
	enum loupe_way way;
};

struct filter_opt {
	const struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	const struct rewrite_list *list;
	const char *pass; /* name of the one that runs */
	bool scratch;	  /* the program reads M[] */
	uint32_t used;	  /* level that made the result */
	const char *why;  /* it is lower than the one asked for, NULL: it is not */

	/* By id; see filter_opt_number(). */
	uint32_t cap;
	uint32_t *pos;		  /* place in the order */
	uint32_t *ins;		  /* ways that lead here, from reachable code or not */
	struct filter_lost *lost; /* newest way that was led away */
};

struct filter_pass {
	struct loupe_filter_pass info;
	int (*run)(struct filter_opt *opt); /* edits made, or negative errno */
};

/** Starts recording; opt is zeroed first. -ENOMEM. Undo with filter_opt_finish(), on failure too.
 */
int filter_opt_init(struct filter_opt *opt, const struct loupe_filter *filter);

void filter_opt_finish(struct filter_opt *opt);

/**
 * Numbers the instructions: pos and ins become right. Removals after it keep pos ascending and
 * never too small a distance; insertions need it anew. -ENOMEM
 */
int filter_opt_number(struct filter_opt *opt);

static inline const struct rewrite_node *filter_node(const struct filter_opt *opt, uint32_t id)
{
	return &opt->list->nodes[id];
}

static inline struct loupe_cbpf_insn filter_insn(const struct filter_opt *opt, uint32_t id)
{
	return opt->list->nodes[id].insn.cbpf;
}

/** The ways out of an instruction: 0, 1 or 2 targets and the way to each. */
unsigned int filter_ways(const struct filter_opt *opt, uint32_t id, uint32_t to[2],
			 enum loupe_way way[2]);

/* Each records one edit; args are the reason's. 0 or negative errno. */
int filter_remove(struct filter_opt *opt, uint32_t id, uint32_t cnt,
		  const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS]);
/* Takes one out whose work into does: who jumped to it jumps there. */
int filter_merge(struct filter_opt *opt, uint32_t id, uint32_t into,
		 const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS]);
int filter_retarget(struct filter_opt *opt, uint32_t id, enum loupe_way way, uint32_t to,
		    const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS]);
int filter_replace(struct filter_opt *opt, uint32_t id, struct loupe_cbpf_insn insn, uint32_t jt,
		   const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS]);
int filter_insert(struct filter_opt *opt, uint32_t where, struct loupe_cbpf_insn insn, uint32_t jt,
		  const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS],
		  uint32_t *id);

#define FILTER_ARGS(...) ((const uint32_t[LOUPE_REASON_ARGS]){ __VA_ARGS__ })

/**
 * Whether the kernel's check of scratch memory would still pass after a change. It takes a return
 * for an instruction that goes on, so an edit that is right may make a program that it refuses.
 * Always true for programs that read no M[].
 * @param as_return  this instruction becomes a return, LOUPE_NONE: none does
 * @param skip       first of skip_cnt instructions that go, LOUPE_NONE: none
 */
bool filter_scratch_ok(const struct filter_opt *opt, uint32_t as_return, uint32_t skip,
		       uint32_t skip_cnt);

/** Makes every conditional jump reach, by jumps in between where needed. Edits made or -errno. */
int filter_make_reach(struct filter_opt *opt);

int filter_pass_thread(struct filter_opt *opt);
int filter_pass_unreachable(struct filter_opt *opt);
int filter_pass_load(struct filter_opt *opt);
int filter_pass_return(struct filter_opt *opt);

#endif
