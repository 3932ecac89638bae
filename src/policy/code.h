/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A filter while it is built: a graph of instructions without order or distances. Equal
 * instructions with equal ways out are one node, so that every common suffix is shared by itself.
 */
#ifndef LOUPE_POLICY_CODE_H
#define LOUPE_POLICY_CODE_H

#include "bpfloupe/filter.h"

enum code_kind {
	CODE_RET,  /* return k */
	CODE_LOAD, /* A = input[k], then yes */
	CODE_AND,  /* A &= k, then yes */
	CODE_JEQ,  /* A == k ? yes : no */
	CODE_JGE,  /* A >= k ? yes : no */
	CODE_JSET, /* A & k ? yes : no */
};

struct code_node {
	uint8_t kind; /* enum code_kind */
	uint32_t k;
	uint32_t yes, no; /* nodes */
	uint32_t line;	  /* of the rule it serves, 0: of none */
	uint32_t owner;	  /* number of the system call that it was made for, CODE_COMMON: of none */
	uint32_t next;	  /* in its hash bucket */
};

#define CODE_COMMON UINT32_MAX
#define CODE_NONE   UINT32_MAX

struct code {
	struct code_node *nodes;
	uint32_t cnt, cap;
	uint32_t *buckets;
	uint32_t line, owner; /* given to new nodes */
	bool failed;	      /* out of memory: node numbers are worthless */
};

/** -ENOMEM; undo with code_finish(), on failure too. */
int code_init(struct code *code);
void code_finish(struct code *code);

/* Each returns the node, an old one if there is one alike. */
uint32_t code_ret(struct code *code, uint32_t value);
uint32_t code_load(struct code *code, uint32_t offset, uint32_t then);
uint32_t code_and(struct code *code, uint32_t mask, uint32_t then);
/** A jump whose ways are the same is that way. */
uint32_t code_jump(struct code *code, enum code_kind kind, uint32_t k, uint32_t yes, uint32_t no);

/** Takes away all nodes from number cnt on. */
void code_rollback(struct code *code, uint32_t cnt);

/** Instructions that a call executes from a node on, A holding a. */
uint32_t code_run(const struct code *code, uint32_t node, uint32_t a,
		  const struct loupe_seccomp_data *data);

/**
 * Puts the nodes that root reaches in an order in which every jump reaches its target.
 * @param insns, lines  receive the program, the caller's to free
 * @return 0, -ENOMEM
 */
int code_encode(const struct code *code, uint32_t root, struct loupe_cbpf_insn **insns,
		uint32_t **lines, uint32_t *cnt);

#endif
