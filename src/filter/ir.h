/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The optimizer's form of a filter: a graph of instructions without order. Unconditional jumps do
 * not exist in it, a load or an ALU instruction names what follows, and equal instructions with
 * equal ways out are one node: identical suffixes are shared by construction.
 *
 * A node is made after the nodes that it leads to, so its targets have lower numbers, and
 * descending numbers are an order in which every way leads forward. The encoder makes a program of
 * it again. Whoever compiles rules builds such a graph from its returns upwards with
 * filter_ir_make().
 */
#ifndef LOUPE_FILTER_IR_H
#define LOUPE_FILTER_IR_H

#include "filter/opcode.h"

/* No such node. */
#define FILTER_IR_NONE UINT32_MAX

/* Byte offsets of the words of struct seccomp_data. */
#define FILTER_WORD_NR	   0u
#define FILTER_WORD_ARCH   4u
#define FILTER_WORD_ARG(n) (16u + 8u * (n)) /* low half; the high half is 4 further */
#define FILTER_WORD_CNT	   16u

#define FILTER_LD_WORD (BPF_LD | BPF_W | BPF_ABS)

/* Why a way leads where it does; see ir_reasons in ir_commit.c. */
enum filter_ir_reason {
	FILTER_IR_AS_BEFORE,
	FILTER_IR_DECIDED,   /* the test `at` is decided on this way */
	FILTER_IR_HELD,	     /* what `at` loads is in its register already */
	FILTER_IR_UNUSED,    /* nobody uses what `at` makes on this way */
	FILTER_IR_SAME_WAYS, /* both ways of the test `at` lead to the same */
	FILTER_IR_SHARED,    /* same as what stands there */
	FILTER_IR_OVER_JUMP, /* only a jump was there */
};

struct filter_ir_why {
	uint8_t reason; /* enum filter_ir_reason */
	uint32_t at;	/* index in the program before, LOUPE_NONE where there is none */
};

struct filter_ir_node {
	uint16_t code; /* never an unconditional jump */
	uint32_t k;
	uint32_t t;	 /* node: when true, or what follows; FILTER_IR_NONE for a return */
	uint32_t f;	 /* node: when false; FILTER_IR_NONE for all but conditional jumps */
	uint32_t origin; /* index in the program before, LOUPE_NONE when it is new */
	struct filter_ir_why why[2]; /* of t and f */
};

struct filter_ir {
	struct filter_ir_node *nodes;
	uint32_t cnt, cap;
	uint32_t entry;	 /* where the filter starts */
	uint32_t *table; /* hash -> node + 1, 0: free */
	uint32_t mask;	 /* slots of table - 1 */
	bool failed;	 /* memory ran out: every node made since is FILTER_IR_NONE */
};

/** Zeroes it and makes room for about cnt nodes; -ENOMEM. */
int filter_ir_init(struct filter_ir *ir, uint32_t cnt);

void filter_ir_finish(struct filter_ir *ir);

/**
 * The node with these contents, made if there is none. Tests whose outcome is fixed, or whose ways
 * lead to the same, are replaced by what they lead to; A >= k is written as A > k - 1.
 * @param code  any valid classic code but an unconditional jump
 * @param t     what follows, or where a test leads when true; ignored for returns
 * @param f     where a test leads when false; ignored for others
 * @return the node; FILTER_IR_NONE when memory ran out (ir->failed is set) or a target is
 */
uint32_t filter_ir_make(struct filter_ir *ir, uint16_t code, uint32_t k, uint32_t t, uint32_t f);

/**
 * The node for a node of another graph with new targets. Its origin and reasons come along when no
 * equal one was there.
 */
uint32_t filter_ir_remake(struct filter_ir *ir, const struct filter_ir_node *node, uint32_t t,
			  uint32_t f);

static inline uint32_t filter_ir_return(struct filter_ir *ir, uint32_t value)
{
	return filter_ir_make(ir, BPF_RET | BPF_K, value, FILTER_IR_NONE, FILTER_IR_NONE);
}

/** A = word at offset of struct seccomp_data, then next. */
static inline uint32_t filter_ir_load(struct filter_ir *ir, uint32_t offset, uint32_t next)
{
	return filter_ir_make(ir, FILTER_LD_WORD, offset, next, FILTER_IR_NONE);
}

/** if A op k goto t else f. @param op  BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET */
static inline uint32_t filter_ir_test(struct filter_ir *ir, uint16_t op, uint32_t k, uint32_t t,
				      uint32_t f)
{
	return filter_ir_make(ir, (uint16_t)(BPF_JMP | op | BPF_K), k, t, f);
}

/**
 * Makes the graph of a valid program; nodes are what can be reached from its start.
 * @param node_of  by index: its node, which an equal suffix may share; FILTER_IR_NONE where nothing
 *                 leads. May be NULL
 */
int filter_ir_read(struct filter_ir *ir, const struct loupe_cbpf_insn *insns, uint32_t cnt,
		   uint32_t *node_of);

/**
 * Makes the graph anew in *to, without what cannot be reached, in an order in which each node is
 * near what it leads to: the smaller side of a test right behind it.
 */
int filter_ir_arrange(const struct filter_ir *ir, struct filter_ir *to);

/** How many nodes can be reached. -ENOMEM */
int64_t filter_ir_size(const struct filter_ir *ir);

/* ---- encoding ----------------------------------------------------------------------------- */

/* An instruction of the program that the encoder makes. */
struct filter_ir_item {
	struct loupe_cbpf_insn insn; /* jump offsets filled in */
	uint32_t node;		     /* FILTER_IR_NONE: a jump that the order or the reach needs */
	uint32_t jt, jf;	     /* indices of targets, LOUPE_NONE where there is none */
	bool copy;		     /* the node stands elsewhere too: another copy of a return */
};

struct filter_ir_code {
	struct filter_ir_item *items;
	uint32_t cnt;
};

/**
 * Lays the graph out: descending numbers, but a load or ALU instruction goes right before what
 * follows it. Where two have the same one behind them, all but one get a jump, or a
 * copy where that is as short. A test that does
 * not reach its target gets a jump, or a copy of the return, right behind it; everything before it
 * that is within reach shares that one.
 * @param out  filled; free out->items
 * @return 0, -ENOMEM
 */
int filter_ir_encode(const struct filter_ir *ir, struct filter_ir_code *out);

#endif
