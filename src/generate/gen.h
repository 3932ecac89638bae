/* SPDX-License-Identifier: GPL-2.0-only */
/* A program in the making: what is known of it where the next statement goes. */
#ifndef LOUPE_GENERATE_GEN_H
#define LOUPE_GENERATE_GEN_H

#include "generate/tree.h"

enum kind {
	NOTHING, /* not written, or differs between paths */
	NUMBER,
	CONTEXT,
	VALUE,	/* map value, 64 bytes */
	PACKET, /* room bytes behind it are checked */
	END,	/* the packet's end */
	STACK,
};

enum {
	REGS = 10,
	SLOTS = 8, /* stack slots that programs use */
	VALUE_SIZE = 64,
	MAX_DEPTH = 5,
	MAX_FUNCS = 4,
	CONTEXT_SLOT = 12, /* a caller's, where callbacks find the context */
	CHAOS = 40, /* one statement in so many ignores the types, where programs may */
};

struct reg {
	enum kind kind;
	uint64_t max; /* NUMBER: largest value, UINT64_MAX unknown */
	int room;     /* PACKET: bytes */
};

struct slot {
	enum kind kind; /* what a whole-slot load gives; NOTHING: bytes or unset */
	bool set;	/* all eight bytes were stored */
	bool pointer;	/* may hold one: an ordinary user reads and overwrites it as a whole only */
};

struct frame {
	struct reg reg[REGS];
	struct slot slot[SLOTS];
};

enum func_kind {
	MAIN,
	STATIC,
	GLOBAL,
	CALLBACK, /* of bpf_loop() */
	EACH,	  /* of bpf_for_each_map_elem() */
	MEMORY,	  /* global, takes VALUE_SIZE bytes */
	LATER,	  /* of a timer */
};

struct gen {
	struct gen_tree *tree;
	uint64_t random;
	uint32_t prog_type;
	bool unprivileged;
	bool tracing;	/* the type has no packets */
	bool sleepable;
	bool chaotic; /* some statements ignore the types */
	enum func_kind func_kind[MAX_FUNCS + 1];
	bool called[MAX_FUNCS + 1];
	int funcs; /* functions beside main */
	int func;  /* the one that is being made */
	int label;
	int depth;
	bool types; /* the program has BTF, and maps with a lock and with a timer */
	int held;   /* references that must be given back */
	int loops;	   /* loops around the present statement */
	uint32_t counters; /* registers that count turns of a loop around */
	int budget;	   /* statements left in this function */
	bool failed;
	struct frame now;
};

/* choose.c */
int gen_below(struct gen *gen, int n);
bool gen_one_in(struct gen *gen, int n);
int64_t gen_constant(struct gen *gen);
int gen_pick(struct gen *gen, enum kind kind);
bool gen_is_pinned(const struct gen *gen, int r);
int gen_target(struct gen *gen);
void gen_set_number(struct gen *gen, int r, uint64_t max);
void gen_put(struct gen *gen, int at);
uint64_t gen_next_random(struct gen *gen);

/* line.c */
void gen_lose_temporaries(struct gen *gen);
int gen_limited(struct gen *gen, int limit);
int gen_unknown_offset(struct gen *gen);
int gen_context_offset(struct gen *gen);
void gen_make_value_access(struct gen *gen);
void gen_make_packet_access(struct gen *gen);
void gen_make_sized_call(struct gen *gen);
void gen_make_constant(struct gen *gen);
void gen_make_unknown(struct gen *gen);
void gen_make_alu(struct gen *gen);
void gen_make_unary(struct gen *gen);
void gen_make_copy(struct gen *gen);
void gen_make_spill(struct gen *gen);
void gen_make_store(struct gen *gen);
void gen_make_fill(struct gen *gen);
void gen_make_atomic(struct gen *gen);
void gen_make_value_atomic(struct gen *gen);
void gen_make_chaos(struct gen *gen);

/* nest.c */
void gen_make_if(struct gen *gen);
void gen_make_early_exit(struct gen *gen);
void gen_make_loop(struct gen *gen);
void gen_make_may_goto(struct gen *gen);
void gen_make_lookup(struct gen *gen);
void gen_make_packet_check(struct gen *gen);
void gen_make_ringbuf(struct gen *gen);
void gen_make_tail_call(struct gen *gen);
void gen_make_packet_walk(struct gen *gen);
/* After two ways meet only that is known which both agree on. */
void gen_meet(struct frame *a, const struct frame *b);

/* func.c */
void gen_choose_functions(struct gen *gen);
void gen_make_function(struct gen *gen, int func);
void gen_make_call(struct gen *gen);

/* recipe.c */
void gen_make_recipe(struct gen *gen);
void gen_make_checked_access(struct gen *gen);
void gen_make_stack_pointer(struct gen *gen);

/* long.c */
void gen_make_long_jump(struct gen *gen);

/* program.c: that many statements. */
void gen_make_block(struct gen *gen, int cnt);

#endif
