/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that a rewrite edits: instructions as nodes of a list, jumps as ids of nodes. Both
 * recording and replaying apply edits through rewrite_list_apply(), so a replay cannot differ from
 * what was recorded. Passes read nodes directly and change them only by loupe_rewrite_edit().
 */
#ifndef LOUPE_REWRITE_LIST_H
#define LOUPE_REWRITE_LIST_H

#include "bpfloupe/rewrite.h"

struct rewrite_node {
	union loupe_rewrite_insn insn; /* jump offsets are stale, jt and jf tell the truth */
	uint32_t next, prev;	       /* ids in the order, LOUPE_NONE at the ends; a removed node
					* keeps those that it had */
	uint32_t jt, jf;	       /* ids, to be read through rewrite_list_target() */
	uint32_t forward;	       /* removed: where references to it lead */
	bool removed;
};

struct rewrite_list {
	enum loupe_rewrite_kind kind;
	struct rewrite_node *nodes; /* by id */
	uint32_t id_cnt, id_cap;
	uint32_t first, last; /* ids, LOUPE_NONE when empty */
	uint32_t cnt;	      /* nodes in the list */
};

struct loupe_rewrite;

/** How the kind's instruction can leave: through a conditional jump, an unconditional one, ... */
enum rewrite_flow {
	REWRITE_NEXT,  /* goes on */
	REWRITE_JUMP,  /* always to jt */
	REWRITE_COND,  /* to jt or (classic) jf, or (eBPF) the next one */
	REWRITE_REFER, /* eBPF call or function reference: names jt and goes on */
	REWRITE_LEAVE, /* ends the program or function */
};

enum rewrite_flow rewrite_flow_of(enum loupe_rewrite_kind kind, union loupe_rewrite_insn insn);

/** Makes the list of a program. 0, -EINVAL for a jump out of it or cnt 0, -ENOMEM. */
int rewrite_list_init(struct rewrite_list *list, enum loupe_rewrite_kind kind,
		      const union loupe_rewrite_insn *insns, uint32_t cnt);

void rewrite_list_finish(struct rewrite_list *list);

/** Follows a reference over removed nodes; LOUPE_NONE when it leads past the end. */
uint32_t rewrite_list_resolve(const struct rewrite_list *list, uint32_t id);

/** Where a node's jump leads (ways JUMP, TRUE, FALSE) or what follows it (FALL). */
uint32_t rewrite_list_target(const struct rewrite_list *list, uint32_t id, enum loupe_way way);

/** Applies an edit. 0, -EINVAL, -ENOMEM; nothing is changed on failure. */
int rewrite_list_apply(struct rewrite_list *list, const struct loupe_edit *edit);

/** Lays the list out. The caller frees *out with loupe_rewrite_prog_finish(), on failure too. */
int rewrite_list_layout(const struct rewrite_list *list, struct loupe_rewrite_prog *out);

/** The newest program of a rewrite that is being recorded. */
const struct rewrite_list *rewrite_head(const struct loupe_rewrite *rw);

#endif
