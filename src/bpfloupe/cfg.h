/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control-flow graph for people: blocks, edges, subprograms, dominators, loops. Both instruction
 * sets map onto it; the verifier never uses it (it has an order of its own that its log shows).
 * layout.h places a graph in character cells; cfg_report.h writes it.
 */
#ifndef BPFLOUPE_CFG_H
#define BPFLOUPE_CFG_H

#include "common.h"
#include "rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "No such block, loop, instruction …" in every index below. */
#define LOUPE_CFG_NONE UINT32_MAX

/* What an instruction does to the flow of control. */
enum loupe_cfg_op {
	LOUPE_CFG_NEXT,	    /* goes on to the instruction after it */
	LOUPE_CFG_JUMP,	    /* to target: ja, gotol */
	LOUPE_CFG_COND,	    /* to target if true, to other if false */
	LOUPE_CFG_MAY_GOTO, /* to target once the budget is used up, else on to other */
	LOUPE_CFG_CALL,	    /* calls the subprogram that starts at target, then goes on */
	LOUPE_CFG_CALLBACK, /* names the subprogram at target, then goes on */
	LOUPE_CFG_EXIT,	    /* leaves the subprogram */
	LOUPE_CFG_REST,	    /* second slot of the instruction before it */
};

/* One slot of the abstract program from which a graph is built. */
struct loupe_cfg_insn {
	uint8_t op;	 /* enum loupe_cfg_op */
	uint32_t target; /* slot; meaning depends on op */
	uint32_t other;	 /* slot where a condition that is false leads */
};

enum loupe_edge_kind {
	LOUPE_EDGE_FALLTHROUGH, /* into a block that begins there for another reason */
	LOUPE_EDGE_JUMP,	/* unconditional */
	LOUPE_EDGE_TRUE,
	LOUPE_EDGE_FALSE,
	LOUPE_EDGE_MAY_GOTO, /* may_goto's exit; its other side is LOUPE_EDGE_FALSE */
};

struct loupe_edge {
	uint32_t from, to; /* blocks */
	uint8_t kind;	   /* enum loupe_edge_kind */
	bool retreating;   /* leads to a block that is not later in the reverse postorder */
	bool back;	   /* retreating to a dominator: the edge of a natural loop */
};

struct loupe_block {
	uint32_t first, last; /* slots, both inclusive; last may be a second slot */
	uint32_t subprog;
	uint32_t succ;	   /* first of its edges in cfg->edges: true (taken) first, then false */
	uint32_t pred;	   /* first of its entries in cfg->preds */
	uint32_t pred_cnt; /* edges that lead here */
	uint8_t succ_cnt;  /* 0 to 2 */
	bool reachable;	   /* from its subprogram's entry */
	bool exits;	   /* ends in an exit or a return */
	uint32_t rpo;	   /* position in cfg->rpo, LOUPE_CFG_NONE if unreachable */
	uint32_t idom;	   /* immediate dominator, LOUPE_CFG_NONE: entry or unreachable */
	uint32_t loop;	   /* innermost loop, LOUPE_CFG_NONE if in none */
	uint32_t dom_first, dom_last; /* it dominates the blocks whose dom_first lies in here */
};

struct loupe_subprog {
	uint32_t first, last;		 /* slots, both inclusive */
	uint32_t first_block, block_cnt; /* its blocks, the entry first */
	uint32_t first_rpo, rpo_cnt;	 /* its part of cfg->rpo: reachable blocks, entry first */
	bool reachable;			 /* called, directly or not, from subprogram 0 */
};

struct loupe_cfg_call {
	uint32_t insn;	 /* slot of the call or of the ldimm64 */
	uint32_t block;	 /* that holds it */
	uint32_t callee; /* subprogram */
	bool callback;	 /* the function is named, not called */
};

struct loupe_loop {
	uint32_t header;    /* block; for an irreducible loop, the entry that was found first */
	uint32_t parent;    /* enclosing loop, LOUPE_CFG_NONE if outermost */
	uint32_t depth;	    /* 1 for an outermost loop */
	uint32_t first;	    /* first of its blocks in cfg->loop_blocks: header, own, inner loops' */
	uint32_t block_cnt; /* header included */
	bool irreducible;   /* entered at more than one block */
};

/* Read-only for everyone but the functions below. */
struct loupe_cfg {
	uint32_t insn_cnt;	  /* slots */
	uint32_t *insn_block;	  /* slot → block */
	uint32_t *insn_line;	  /* slot → how many instructions of its block come before it */
	struct loupe_block *blocks; /* in instruction order */
	uint32_t block_cnt;
	struct loupe_edge *edges; /* grouped by source block */
	uint32_t edge_cnt;
	uint32_t *preds; /* edge indices, grouped by target block, in order of the source */
	struct loupe_subprog *subprogs; /* in instruction order; 0 is the main program */
	uint32_t subprog_cnt;
	struct loupe_cfg_call *calls; /* in instruction order */
	uint32_t call_cnt;
	uint32_t *rpo; /* blocks, a reverse postorder of each subprogram in turn */
	uint32_t rpo_cnt;
	struct loupe_loop *loops; /* an enclosing loop comes before those inside it */
	uint32_t loop_cnt;
	uint32_t *loop_blocks; /* see struct loupe_loop */
};

/**
 * Builds the graph of an abstract program.
 * @param insns  cnt slots
 * @param cnt    1 or more, less than 2^24
 * @param out    the graph; free with loupe_cfg_destroy()
 * @param err    filled on failure, may be NULL
 * @return 0; -EINVAL when the program has no graph: a jump out of the program, out of its
 *         subprogram or into the second half of an instruction, or a last instruction that goes
 *         on; -ENOMEM
 */
LOUPE_API int loupe_cfg_build(const struct loupe_cfg_insn *insns, uint32_t cnt,
			      struct loupe_cfg **out, struct loupe_error *err);

/** loupe_cfg_build() for eBPF: subprograms start where calls and function pointers lead. */
LOUPE_API int loupe_cfg_from_ebpf(const struct loupe_insn *insns, uint32_t cnt,
				  struct loupe_cfg **out, struct loupe_error *err);

/** loupe_cfg_build() for a classic filter. */
LOUPE_API int loupe_cfg_from_cbpf(const struct loupe_cbpf_insn *insns, uint32_t cnt,
				  struct loupe_cfg **out, struct loupe_error *err);

/** loupe_cfg_build() for a program of a rewrite, before, after, or between two edits. */
LOUPE_API int loupe_cfg_from_rewrite(const struct loupe_rewrite_prog *prog,
				     enum loupe_rewrite_kind kind, struct loupe_cfg **out,
				     struct loupe_error *err);

/** Frees the graph. NULL is fine. */
LOUPE_API void loupe_cfg_destroy(struct loupe_cfg *cfg);

/** Slot of the instruction that is number line (from 0) of a block; a block's last beyond it. */
LOUPE_API uint32_t loupe_cfg_line_insn(const struct loupe_cfg *cfg, uint32_t block, uint32_t line);

/** True if every path from the entry to b passes through a (a block dominates itself); false when
 * either is unreachable. */
LOUPE_API bool loupe_cfg_dominates(const struct loupe_cfg *cfg, uint32_t a, uint32_t b);

/** True if block is in the loop or in one inside it. */
LOUPE_API bool loupe_cfg_in_loop(const struct loupe_cfg *cfg, uint32_t loop, uint32_t block);

/**
 * For each instruction of a program of a rewrite, its index in another program of that rewrite.
 * @param other_insn  prog->cnt entries are filled; LOUPE_CFG_NONE where other does not have it
 */
LOUPE_API void loupe_cfg_map_rewrite(const struct loupe_rewrite_prog *prog,
				     const struct loupe_rewrite_prog *other, uint32_t *other_insn);

/**
 * Matches the blocks of two graphs through a map of their instructions.
 * @param other_insn  for each slot of cfg, its slot in other, or LOUPE_CFG_NONE
 * @param match       filled for each block of cfg: the block of other that holds the longest run
 *                    of its instructions (the first such), or LOUPE_CFG_NONE
 */
LOUPE_API void loupe_cfg_match(const struct loupe_cfg *cfg, const struct loupe_cfg *other,
			       const uint32_t *other_insn, uint32_t *match);

/** "true", "false", "jump", "fallthrough", "may_goto". */
LOUPE_API const char *loupe_edge_kind_name(enum loupe_edge_kind kind);

#ifdef __cplusplus
}
#endif

#endif
