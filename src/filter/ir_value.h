/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of A and X by number, and what a path knows of them. Two places hold the same value when
 * they hold the same number; what is known is known of the number, wherever it is held.
 */
#ifndef LOUPE_FILTER_IR_VALUE_H
#define LOUPE_FILTER_IR_VALUE_H

#include "filter/ir.h"

/* How a value was made: an opcode and its operands, or one of these in place of an opcode. */
enum {
	IR_VALUE_CONST = 0x100, /* a: the constant */
	IR_VALUE_JOIN_A,	/* a: the node where ways with different values of A meet */
	IR_VALUE_JOIN_X,
	IR_VALUE_JOIN_M, /* b: the word of scratch memory */
	IR_VALUE_ONCE, /* a: the node that made a value that is never made again */
};

struct ir_value {
	uint32_t how, a, b;
};

struct ir_values {
	struct ir_value *list;
	uint32_t cnt, cap;
	uint32_t *table; /* hash -> number + 1 */
	uint32_t mask;
	bool scratch; /* the program reads scratch memory */
	bool failed;
};

enum { IR_RANGES = 12, IR_OTHERS = 24 };

/* What is known where a node starts. Ranges and exclusions that find no room are forgotten. */
struct ir_known {
	uint32_t a, x; /* numbers of the values that A and X hold */
	uint32_t m[BPF_MEMWORDS]; /* and scratch memory, in a program that reads it */
	uint32_t range_cnt, other_cnt;
	struct {
		uint32_t value, lo, hi;
	} range[IR_RANGES];
	struct {
		uint32_t value, not ; /* the value is not this constant */
	} other[IR_OTHERS];
};

enum ir_outcome { IR_FALSE, IR_TRUE, IR_OPEN };

/** Zeroes and makes room; -ENOMEM. */
int ir_values_init(struct ir_values *v);
void ir_values_finish(struct ir_values *v);

/** The number of a value made this way; sets failed when memory runs out. */
uint32_t ir_value_of(struct ir_values *v, uint32_t how, uint32_t a, uint32_t b);

/**
 * What a load, store, transfer or ALU instruction does to the numbers of A and X, and of scratch
 * memory.
 * @param m  BPF_MEMWORDS of them; not touched where the program reads no scratch memory
 * @return whether leaving it out has no other effect: it cannot end the run, nor change what is
 *         stored
 */
bool ir_value_step(struct ir_values *v, enum loupe_filter_flavour flavour,
		   const struct filter_ir_node *n, uint32_t node, uint32_t *a, uint32_t *x,
		   uint32_t *m);

/** How a test ends when A and X hold a and x and known holds. */
enum ir_outcome ir_value_decide(struct ir_values *v, const struct ir_known *known,
				const struct filter_ir_node *n, uint32_t a, uint32_t x);

/** Adds what a test that ended with outcome (IR_TRUE or IR_FALSE) tells of A. */
void ir_value_learn(struct ir_values *v, struct ir_known *known, const struct filter_ir_node *n,
		    enum ir_outcome outcome);

/** Keeps in into what holds in both; A, X, M[] that differ become a value of the node's own. */
void ir_value_meet(struct ir_values *v, struct ir_known *into, const struct ir_known *other,
		   uint32_t node);

#endif
