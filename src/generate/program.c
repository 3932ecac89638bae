// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a random program. What every register and stack slot holds is followed as the statements
 * are made, roughly as the verifier will see it; a small share of statements ignores that on
 * purpose.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

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
	SLOTS = 8,	  /* stack slots that programs use */
	VALUE_SIZE = 64,
	MAX_DEPTH = 5,
	MAX_FUNCS = 4,
	CHAOS = 40,	  /* one statement in so many ignores the types, where programs may */
};

struct reg {
	enum kind kind;
	uint64_t max; /* NUMBER: largest value, UINT64_MAX unknown */
	int room;     /* PACKET: bytes */
};

struct slot {
	enum kind kind; /* what a whole-slot load gives; NOTHING: bytes or unset */
	bool set;	/* all eight bytes were stored */
};

struct frame {
	struct reg reg[REGS];
	struct slot slot[SLOTS];
};

enum func_kind { MAIN, STATIC, GLOBAL, CALLBACK };

struct gen {
	struct gen_tree *tree;
	uint64_t random;
	uint32_t prog_type;
	bool unprivileged;
	bool chaotic; /* some statements ignore the types */
	enum func_kind func_kind[MAX_FUNCS + 1];
	bool called[MAX_FUNCS + 1];
	int funcs;	/* functions beside main */
	int func;	/* the one that is being made */
	int label;
	int depth;
	int loops;	/* loops around the present statement */
	uint32_t counters; /* registers that count turns of a loop around */
	int budget;	/* statements left in this function */
	bool failed;
	struct frame now;
};

/* --- random choices --------------------------------------------------------------------------- */

/* splitmix64, Steele et al., OOPSLA 2014. */
static uint64_t next_random(struct gen *gen)
{
	uint64_t z = gen->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int below(struct gen *gen, int n)
{
	return (int)(next_random(gen) % (uint64_t)n);
}

static bool one_in(struct gen *gen, int n)
{
	return below(gen, n) == 0;
}

static int64_t constant(struct gen *gen)
{
	static const int64_t odd[] = { 0,	   1,	      -1,	  2,	      7,	     8,
				       15,	   16,	      31,	  63,	      64,	     255,
				       256,	   0x7fff,    0xffff,	  0x7fffffff, -0x80000000ll, -8,
				       -16,	   4095,      100,	  1000 };

	if (one_in(gen, 3))
		return (int32_t)next_random(gen);
	return odd[below(gen, sizeof(odd) / sizeof(odd[0]))];
}

/* A register of that kind, or -1. */
static int pick(struct gen *gen, enum kind kind)
{
	int start = below(gen, REGS);

	for (int i = 0; i < REGS; i++) {
		int r = (start + i) % REGS;

		if (gen->now.reg[r].kind == kind)
			return r;
	}
	return -1;
}

/* r6 always holds the context; some loops keep their counter in a register. */
static bool is_pinned(const struct gen *gen, int r)
{
	return r == 6 || (gen->counters >> r & 1);
}

/* A register to write to. */
static int target(struct gen *gen)
{
	for (;;) {
		int r = below(gen, REGS);

		if (!is_pinned(gen, r))
			return r;
	}
}

static void set_number(struct gen *gen, int r, uint64_t max)
{
	gen->now.reg[r] = (struct reg){ .kind = NUMBER, .max = max };
}

static void put(struct gen *gen, int at)
{
	gen->failed |= at < 0;
}

/* --- straight lines ----------------------------------------------------------------------------- */

static void make_constant(struct gen *gen)
{
	int r = target(gen);
	int64_t value = constant(gen);

	if (one_in(gen, 8)) {
		put(gen, gen_line(gen->tree, "\tr%d = 0x%llx ll\n", r,
				  (unsigned long long)next_random(gen)));
		set_number(gen, r, UINT64_MAX);
		return;
	}
	if (one_in(gen, 4))
		put(gen, gen_line(gen->tree, "\tw%d = %lld\n", r, (long long)(int32_t)value));
	else
		put(gen, gen_line(gen->tree, "\tr%d = %lld\n", r, (long long)(int32_t)value));
	set_number(gen, r, value < 0 ? UINT64_MAX : (uint64_t)value);
}

/* A number that the verifier does not know. */
static void make_unknown(struct gen *gen)
{
	int r = target(gen);

	switch (below(gen, 4)) {
	case 0:
		put(gen, gen_line(gen->tree, "\tcall bpf_get_prandom_u32\n"));
		for (int i = 0; i <= 5; i++)
			gen->now.reg[i].kind = NOTHING;
		set_number(gen, 0, UINT32_MAX);
		if (r) {
			put(gen, gen_line(gen->tree, "\tr%d = r0\n", r));
			set_number(gen, r, UINT32_MAX);
		}
		break;
	case 1:
		if (gen->prog_type != BPF_PROG_TYPE_XDP) {
			put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r6 +%d)\n", r, 8 << below(gen, 3),
					  below(gen, 2) * 8));
			set_number(gen, r, UINT32_MAX);
			break;
		}
		/* fallthrough */
	default:
		put(gen, gen_line(gen->tree, "\tr%d = *(u32 *)(r6 +%d)\n", r,
				  gen->prog_type == BPF_PROG_TYPE_XDP ? 12 + 4 * below(gen, 2)
								      : 4 * below(gen, 5)));
		set_number(gen, r, UINT32_MAX);
		break;
	}
}

static void make_alu(struct gen *gen)
{
	static const char *const ops[] = { "+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "s>>=",
					   "/=", "%=", "s/=", "s%=" };
	int r = pick(gen, NUMBER), s = pick(gen, NUMBER), op = below(gen, 13);
	char w = one_in(gen, 3) ? 'w' : 'r';
	uint64_t max = UINT64_MAX;
	int64_t imm;

	if (r < 0)
		return;
	if (one_in(gen, 2) && op < 9) {
		put(gen, gen_line(gen->tree, "\t%c%d %s %c%d\n", w, r, ops[op], w, s));
		set_number(gen, r, w == 'w' ? UINT32_MAX : UINT64_MAX);
		return;
	}
	imm = constant(gen);
	if (op >= 6 && op <= 8)
		imm = below(gen, w == 'w' ? 32 : 64);
	if (op >= 9 && imm == 0)
		imm = 3;
	if (op == 3 && imm >= 0)
		max = (uint64_t)imm;
	if (op == 7 && imm && w == 'r')
		max = UINT64_MAX >> imm;
	put(gen, gen_line(gen->tree, "\t%c%d %s %lld\n", w, r, ops[op], (long long)(int32_t)imm));
	set_number(gen, r, w == 'w' && max > UINT32_MAX ? UINT32_MAX : max);
}

static void make_unary(struct gen *gen)
{
	int r = pick(gen, NUMBER), s = pick(gen, NUMBER);

	if (r < 0)
		return;
	switch (below(gen, 6)) {
	case 0:
		put(gen, gen_line(gen->tree, "\tr%d = -r%d\n", r, r));
		break;
	case 1:
		put(gen, gen_line(gen->tree, "\tr%d = %s%d r%d\n", r, one_in(gen, 2) ? "be" : "bswap",
				  16 << below(gen, 3), r));
		break;
	case 2:
		put(gen, gen_line(gen->tree, "\tr%d = (s%d)r%d\n", r, 8 << below(gen, 3), s));
		break;
	case 3:
		put(gen, gen_line(gen->tree, "\tw%d = (s%d)w%d\n", r, 8 << below(gen, 2), s));
		break;
	default:
		put(gen, gen_line(gen->tree, "\tw%d = w%d\n", r, s));
		set_number(gen, r, UINT32_MAX);
		return;
	}
	set_number(gen, r, UINT64_MAX);
}

/* Copies link scalars; a distance may be added. */
static void make_copy(struct gen *gen)
{
	int s = below(gen, REGS), r = target(gen);

	if (gen->now.reg[s].kind == NOTHING || r == s)
		return;
	put(gen, gen_line(gen->tree, "\tr%d = r%d\n", r, s));
	gen->now.reg[r] = gen->now.reg[s];
	if (gen->now.reg[s].kind == NUMBER && one_in(gen, 3)) {
		put(gen, gen_line(gen->tree, "\tr%d += %d\n", r, 1 + below(gen, 16)));
		set_number(gen, r, UINT64_MAX);
	}
}

/* --- the stack ------------------------------------------------------------------------------------ */

static void make_spill(struct gen *gen)
{
	int r = below(gen, REGS), s = below(gen, SLOTS), off = -8 * (s + 1), size = 8;

	if (gen->now.reg[r].kind == NOTHING)
		return;
	if (gen->now.reg[r].kind == NUMBER && one_in(gen, 3))
		size = 1 << below(gen, 3);
	if (size < 8)
		off += size * below(gen, 8 / size);
	put(gen, gen_line(gen->tree, "\t*(u%d *)(r10 %d) = r%d\n", size * 8, off, r));
	if (size == 8)
		gen->now.slot[s] = (struct slot){ gen->now.reg[r].kind, true };
	else
		gen->now.slot[s].kind = NOTHING;
}

static void make_store(struct gen *gen)
{
	int s = below(gen, SLOTS), off = -8 * (s + 1), size = 1 << below(gen, 4);
	int64_t value = one_in(gen, 2) ? 0 : constant(gen);

	off += size * below(gen, 8 / size);
	put(gen, gen_line(gen->tree, "\t*(u%d *)(r10 %d) = %lld\n", size * 8, off, (long long)(int32_t)value));
	gen->now.slot[s].kind = size == 8 ? NUMBER : NOTHING;
	gen->now.slot[s].set |= size == 8;
}

static void make_fill(struct gen *gen)
{
	int s = below(gen, SLOTS), r = target(gen), off = -8 * (s + 1), size = 8;

	if (!gen->now.slot[s].set && (gen->unprivileged || !one_in(gen, 3)))
		return;
	if (gen->now.slot[s].kind != NOTHING && gen->now.slot[s].kind != NUMBER) {
		put(gen, gen_line(gen->tree, "\tr%d = *(u64 *)(r10 %d)\n", r, off));
		gen->now.reg[r] = (struct reg){ .kind = gen->now.slot[s].kind, .max = UINT64_MAX };
		return;
	}
	if (one_in(gen, 2))
		size = 1 << below(gen, 3);
	off += size < 8 ? size * below(gen, 8 / size) : 0;
	put(gen, gen_line(gen->tree, "\tr%d = *(%c%d *)(r10 %d)\n", r, size < 8 && one_in(gen, 3) ? 's' : 'u',
			  size * 8, off));
	set_number(gen, r, UINT64_MAX);
}

static void make_atomic(struct gen *gen)
{
	static const char *const ops[] = { "lock *(u64 *)(r10 %d) += r%d\n", "lock *(u64 *)(r10 %d) |= r%d\n",
					   "lock *(u32 *)(r10 %d) ^= r%d\n" };
	int s = below(gen, SLOTS), r = pick(gen, NUMBER), off = -8 * (s + 1);

	if (r < 0 || !gen->now.slot[s].set || gen->now.slot[s].kind > NUMBER)
		return;
	gen->now.slot[s].kind = NUMBER;
	switch (below(gen, 5)) {
	case 0:
		put(gen, gen_line(gen->tree, "\tr%d = atomic64_fetch_add((u64 *)(r10 %d), r%d)\n", r, off, r));
		set_number(gen, r, UINT64_MAX);
		break;
	case 1:
		put(gen, gen_line(gen->tree, "\tr%d = atomic64_xchg((u64 *)(r10 %d), r%d)\n", r, off, r));
		set_number(gen, r, UINT64_MAX);
		break;
	default: {
		char text[80] = "\t";

		/* the formats differ in operator and width only */
		snprintf(text + 1, sizeof(text) - 1, below(gen, 2) ? ops[0] : ops[1 + below(gen, 2)], off, r);
		put(gen, gen_line(gen->tree, "%s", text));
	}
	}
}

/* --- maps and packets ------------------------------------------------------------------------------ */

static void lose_temporaries(struct gen *gen)
{
	for (int i = 0; i <= 5; i++)
		gen->now.reg[i].kind = NOTHING;
}

/* A number limited so that it can be an offset or a size. */
static int limited(struct gen *gen, int limit)
{
	int r = pick(gen, NUMBER);

	if (r < 0)
		return -1;
	if (gen->now.reg[r].max < (uint64_t)limit)
		return r;
	if (one_in(gen, 25))
		return r; /* not limited after all */
	put(gen, gen_line(gen->tree, "\tr%d &= %d\n", r, limit - 1));
	set_number(gen, r, (uint64_t)limit - 1);
	return r;
}

static void make_value_access(struct gen *gen)
{
	int v = pick(gen, VALUE), size = 1 << below(gen, 4), r, off;

	if (v < 0)
		return;
	off = size * below(gen, VALUE_SIZE / 2 / size);
	if (one_in(gen, 2)) {
		r = limited(gen, VALUE_SIZE / 2);
		if (r < 0 || is_pinned(gen, v))
			return;
		put(gen, gen_line(gen->tree, "\tr%d += r%d\n", v, r));
		size = one_in(gen, 2) ? 1 : size;
		off %= VALUE_SIZE / 2;
		gen->now.reg[v].kind = NOTHING;
	}
	r = pick(gen, NUMBER);
	if (r >= 0 && one_in(gen, 2)) {
		put(gen, gen_line(gen->tree, "\t*(u%d *)(r%d +%d) = r%d\n", size * 8, v, off, r));
		return;
	}
	r = target(gen);
	put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r%d +%d)\n", r, size * 8, v, off));
	set_number(gen, r, UINT64_MAX);
}

static void make_packet_access(struct gen *gen)
{
	int p = pick(gen, PACKET), r = target(gen), room, size = 1 << below(gen, 4);

	if (p < 0)
		return;
	room = gen->now.reg[p].room;
	if (room < size)
		return;
	put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r%d +%d)\n", r, size * 8, p,
			  below(gen, room - size + (one_in(gen, 40) ? 9 : 1))));
	set_number(gen, r, UINT64_MAX);
}

/* A helper that fills stack or reads it, with a size that varies. */
static void make_sized_call(struct gen *gen)
{
	bool xdp = gen->prog_type == BPF_PROG_TYPE_XDP;
	int r = limited(gen, 16);

	if (r < 0)
		return;
	put(gen, gen_line(gen->tree, "\tr4 = r%d\n\tr4 += 1\n\tr3 = r10\n\tr3 += -%d\n\tr2 = %d\n\tr1 = r6\n\tcall %s\n", r,
			  8 * SLOTS, below(gen, 64), xdp ? "bpf_xdp_load_bytes" : "bpf_skb_load_bytes"));
	lose_temporaries(gen);
	set_number(gen, 0, UINT64_MAX);
	for (int s = SLOTS - 3; s < SLOTS; s++)
		gen->now.slot[s].kind = NOTHING;
}

/* --- what nests -------------------------------------------------------------------------------------- */

static void make_block(struct gen *gen, int statements);

/* After two ways meet only that is known which both agree on. */
static void meet(struct frame *a, const struct frame *b)
{
	for (int i = 0; i < REGS; i++) {
		if (a->reg[i].kind != b->reg[i].kind)
			a->reg[i].kind = NOTHING;
		if (a->reg[i].max < b->reg[i].max)
			a->reg[i].max = b->reg[i].max;
		if (a->reg[i].room > b->reg[i].room)
			a->reg[i].room = b->reg[i].room;
	}
	for (int i = 0; i < SLOTS; i++) {
		if (a->slot[i].kind != b->slot[i].kind)
			a->slot[i].kind = NOTHING;
		a->slot[i].set &= b->slot[i].set;
	}
}

static void condition(struct gen *gen, char *buf, size_t size, int r)
{
	static const char *const ops[] = { "==", "!=", ">", ">=", "<", "<=", "s>", "s>=", "s<", "s<=", "&" };
	char w = one_in(gen, 3) ? 'w' : 'r';
	int s = pick(gen, NUMBER), op = below(gen, 11);

	if (s >= 0 && one_in(gen, 4))
		snprintf(buf, size, "%c%d %s %c%d", w, r, ops[op], w, s);
	else
		snprintf(buf, size, "%c%d %s %lld", w, r, ops[op], (long long)(int32_t)constant(gen));
}

static void make_if(struct gen *gen)
{
	int r = pick(gen, NUMBER), label = gen->label++, outer, inner;
	struct frame before, then;
	char test[64];

	if (r < 0)
		return;
	condition(gen, test, sizeof(test), r);
	before = gen->now;
	outer = gen_open(gen->tree, "\tif %s goto else%d\n", test, label);
	put(gen, outer);
	make_block(gen, 1 + below(gen, 5));
	then = gen->now;
	gen->now = before;
	if (one_in(gen, 2)) {
		inner = gen_open(gen->tree, "\tgoto end%d\nelse%d:\n", label, label);
		put(gen, inner);
		make_block(gen, 1 + below(gen, 5));
		gen_close(gen->tree, inner, "end%d:\n", label);
		gen_close(gen->tree, outer, "%s", "");
	} else {
		gen_close(gen->tree, outer, "else%d:\n", label);
	}
	meet(&gen->now, &then);
}

static void make_early_exit(struct gen *gen)
{
	int r = pick(gen, NUMBER), label = gen->label++;
	char test[64];

	if (r < 0)
		return;
	condition(gen, test, sizeof(test), r);
	put(gen, gen_line(gen->tree, "\tif %s goto on%d\n\tr0 = %d\n\texit\non%d:\n", test, label,
			  below(gen, 2), label));
}

/* A loop may change anything that its body touches: what holds before need not hold in the second
 * turn, so the body starts from what is left after a first pass over it. */
static void forget_for_loop(struct gen *gen, int counter)
{
	for (int i = 0; i < REGS; i++) {
		if (is_pinned(gen, i) || i == counter)
			continue;
		if (gen->now.reg[i].kind == NUMBER && i > 6)
			gen->now.reg[i].max = UINT64_MAX;
		else
			gen->now.reg[i].kind = NOTHING;
	}
	for (int i = 0; i < SLOTS; i++)
		gen->now.slot[i].kind = gen->now.slot[i].set ? NUMBER : NOTHING;
}

/* The next turn finds numbers where the first one did. */
static void restore_for_loop(struct gen *gen, const struct frame *before)
{
	for (int i = 0; i < REGS; i++) {
		if (before->reg[i].kind != NUMBER || gen->now.reg[i].kind == NUMBER)
			continue;
		put(gen, gen_line(gen->tree, "\tr%d = %d\n", i, below(gen, 100)));
		set_number(gen, i, UINT64_MAX);
	}
	for (int i = 0; i < SLOTS; i++) {
		if (before->slot[i].kind != NUMBER || gen->now.slot[i].kind == NUMBER)
			continue;
		put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = 0\n", 8 * (i + 1)));
		gen->now.slot[i].kind = NUMBER;
	}
}

static void make_loop(struct gen *gen)
{
	int counter = 7 + below(gen, 3), label = gen->label++, turns = 2 + below(gen, gen->loops ? 4 : 30), at;
	bool up = one_in(gen, 2);
	struct frame before;

	if (gen->loops >= 2 || (gen->counters >> counter & 1))
		return;
	gen->loops++;
	forget_for_loop(gen, counter);
	gen->now.reg[counter].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree, "\tr%d = %d\nloop%d:\n", counter, up ? 0 : turns, label);
	put(gen, at);
	set_number(gen, counter, UINT64_MAX);
	/* the counter lives in a slot of its own meanwhile, often enough */
	if (one_in(gen, 2)) {
		put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = r%d\n", 8 * (SLOTS + 1 + gen->loops), counter));
		make_block(gen, 1 + below(gen, 4));
		restore_for_loop(gen, &before);
		gen_close(gen->tree, at, "\tr%d = *(u64 *)(r10 -%d)\n\tr%d += %d\n\tif r%d %s %d goto loop%d\n", counter,
			  8 * (SLOTS + 1 + gen->loops), counter, up ? 1 : -1, counter, up ? "<" : "!=",
			  up ? turns : 0, label);
	} else {
		gen->now.reg[counter].kind = NOTHING;
		gen->counters |= 1u << counter;
		make_block(gen, 1 + below(gen, 3));
		restore_for_loop(gen, &before);
		gen_close(gen->tree, at, "\tr%d += %d\n\tif r%d %s %d goto loop%d\n", counter, up ? 1 : -1,
			  counter, up ? "<" : "!=", up ? turns : 0, label);
	}
	gen->counters &= ~(1u << counter);
	meet(&gen->now, &before);
	set_number(gen, counter, UINT64_MAX);
	gen->loops--;
}

static void make_may_goto(struct gen *gen)
{
	int label = gen->label++, at;
	struct frame before;

	if (gen->loops >= 1 || gen->unprivileged)
		return;
	gen->loops++;
	forget_for_loop(gen, -1);
	before = gen->now;
	at = gen_open(gen->tree, "again%d:\n\tmay_goto over%d\n", label, label);
	put(gen, at);
	make_block(gen, 1 + below(gen, 3));
	restore_for_loop(gen, &before);
	gen_close(gen->tree, at, "\tgoto again%d\nover%d:\n", label, label);
	meet(&gen->now, &before);
	gen->loops--;
}

static void make_lookup(struct gen *gen)
{
	int label = gen->label++, at, slot = below(gen, SLOTS), v = 7;
	bool array = one_in(gen, 2);
	struct frame before;
	int r = pick(gen, NUMBER);

	while (v < 9 && (is_pinned(gen, v) || one_in(gen, 2)))
		v++;
	if (is_pinned(gen, v))
		v = 0;
	if (r >= 0 && one_in(gen, 2))
		put(gen, gen_line(gen->tree, "\t*(u32 *)(r10 -%d) = r%d\n", 8 * (slot + 1) - 4, r));
	else
		put(gen, gen_line(gen->tree, "\t*(u32 *)(r10 -%d) = %d\n", 8 * (slot + 1) - 4, below(gen, 6)));
	gen->now.slot[slot].kind = NOTHING;
	put(gen, gen_line(gen->tree, "\tr2 = r10\n\tr2 += -%d\n\tr1 = map[%s]\n\tcall bpf_map_lookup_elem\n", 8 * (slot + 1) - 4,
			  array ? "array" : "hash"));
	lose_temporaries(gen);
	before = gen->now;
	at = gen_open(gen->tree, "\tif r0 == 0 goto none%d\n", label);
	put(gen, at);
	put(gen, gen_line(gen->tree, "\tr%d = r0\n", v));
	gen->now.reg[0] = gen->now.reg[v] = (struct reg){ .kind = VALUE };
	make_value_access(gen);
	make_block(gen, 1 + below(gen, 4));
	gen_close(gen->tree, at, "none%d:\n", label);
	before.reg[0].kind = NOTHING;
	meet(&gen->now, &before);
}

static void make_packet_check(struct gen *gen)
{
	int label = gen->label++, at, room = 1 << (2 + below(gen, 4)), r = -1;
	bool xdp = gen->prog_type == BPF_PROG_TYPE_XDP;
	struct frame before;

	if (gen->prog_type == BPF_PROG_TYPE_SOCKET_FILTER || gen->unprivileged || gen->func)
		return;
	put(gen, gen_line(gen->tree, "\tr2 = *(u32 *)(r6 +%d)\n\tr3 = *(u32 *)(r6 +%d)\n", xdp ? 0 : 76, xdp ? 4 : 80));
	gen->now.reg[2].kind = gen->now.reg[3].kind = NOTHING;
	if (one_in(gen, 2))
		r = limited(gen, 256);
	if (r >= 0)
		put(gen, gen_line(gen->tree, "\tr2 += r%d\n", r));
	gen->now.reg[4].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree, "\tr4 = r2\n\tr4 += %d\n\tif r4 > r3 goto short%d\n", room, label);
	put(gen, at);
	gen->now.reg[2] = (struct reg){ .kind = PACKET, .room = room };
	make_packet_access(gen);
	make_block(gen, 1 + below(gen, 4));
	gen_close(gen->tree, at, "short%d:\n", label);
	meet(&gen->now, &before);
}

static void call_function(struct gen *gen, int callee)
{
	int r = pick(gen, NUMBER);

	if (gen->func_kind[callee] == CALLBACK) {
		int counter = one_in(gen, 4) ? limited(gen, 32) : -1;

		if (counter >= 0)
			put(gen, gen_line(gen->tree, "\tr1 = r%d\n", counter));
		else
			put(gen, gen_line(gen->tree, "\tr1 = %d\n", 1 + below(gen, 20)));
		put(gen, gen_line(gen->tree, "\tr2 = func f%d\n\tr3 = r10\n\tr3 += -8\n\tr4 = 0\n\tcall bpf_loop\n", callee));
		gen->now.slot[0].kind = NOTHING;
	} else {
		if (r >= 0)
			put(gen, gen_line(gen->tree, "\tr2 = r%d\n", r));
		else
			put(gen, gen_line(gen->tree, "\tr2 = %d\n", below(gen, 100)));
		put(gen, gen_line(gen->tree, "\tr1 = r6\n\tcall f%d\n", callee));
	}
	gen->called[callee] = true;
	lose_temporaries(gen);
	set_number(gen, 0, UINT64_MAX);
}

static void make_call(struct gen *gen)
{
	int callee = gen->func + 1 + below(gen, gen->funcs + 1 - gen->func);

	if (callee <= gen->funcs)
		call_function(gen, callee);
}

/* A function that nobody calls is none: its bytes would belong to another. */
static void call_the_rest(struct gen *gen)
{
	for (int i = 1; i <= gen->funcs; i++) {
		if (!gen->called[i])
			call_function(gen, i);
	}
}

static void make_ringbuf(struct gen *gen)
{
	int label = gen->label++, r = pick(gen, NUMBER), at;
	struct frame before;

	if (r < 0 || gen->unprivileged)
		return;
	put(gen, gen_line(gen->tree, "\tr3 = 0\n\tr2 = 16\n\tr1 = map[ring]\n\tcall bpf_ringbuf_reserve\n"));
	lose_temporaries(gen);
	before = gen->now;
	at = gen_open(gen->tree, "\tif r0 == 0 goto full%d\n", label);
	put(gen, at);
	if (r > 5)
		put(gen, gen_line(gen->tree, "\t*(u64 *)(r0 +8) = r%d\n", r));
	if (!one_in(gen, 30))
		put(gen, gen_line(gen->tree, "\tr2 = 0\n\tr1 = r0\n\tcall bpf_ringbuf_%s\n",
				  one_in(gen, 2) ? "submit" : "discard"));
	lose_temporaries(gen);
	gen_close(gen->tree, at, "full%d:\n", label);
	meet(&gen->now, &before);
}

static void make_tail_call(struct gen *gen)
{
	int r = limited(gen, 4);

	if (r < 0 || gen->loops)
		return;
	put(gen, gen_line(gen->tree, "\tr3 = r%d\n\tr2 = map[progs]\n\tr1 = r6\n\tcall bpf_tail_call\n", r));
	lose_temporaries(gen);
	set_number(gen, 0, UINT64_MAX);
	for (int i = 0; i < REGS; i++) {
		if (gen->now.reg[i].kind == PACKET)
			gen->now.reg[i].kind = NOTHING;
	}
}

/* Anything goes. */
static void make_chaos(struct gen *gen)
{
	int r = below(gen, 11), s = below(gen, 11);

	switch (below(gen, 9)) {
	case 0:
		put(gen, gen_line(gen->tree, "\tr%d += r%d\n", r % 10, s));
		break;
	case 1:
		put(gen, gen_line(gen->tree, "\tr%d = *(u64 *)(r%d %+d)\n", r % 10, s, below(gen, 128) - 64));
		break;
	case 2:
		put(gen, gen_line(gen->tree, "\t*(u32 *)(r%d %+d) = r%d\n", r, below(gen, 128) - 64, s));
		break;
	case 3:
		put(gen, gen_line(gen->tree, "\tr%d -= r%d\n", r % 10, s));
		break;
	case 4:
		put(gen, gen_line(gen->tree, "\tr%d = r%d\n", r % 10, s));
		break;
	case 5:
		put(gen, gen_line(gen->tree, "\tcall #%d\n", below(gen, 220)));
		break;
	case 6:
		put(gen, gen_line(gen->tree, "\tr%d = r10\n\tr%d += %d\n\t*(u8 *)(r%d +0) = 1\n", r % 10, r % 10,
				  -below(gen, 530), r % 10));
		break;
	case 7:
		put(gen, gen_line(gen->tree, "\tlock *(u64 *)(r%d %+d) += r%d\n", r, below(gen, 64) - 32, s));
		break;
	default:
		put(gen, gen_line(gen->tree, "\tif r%d > r%d goto +0\n", r, s));
		break;
	}
	if (r < 10 && !is_pinned(gen, r))
		gen->now.reg[r].kind = NOTHING;
}

/* --- statements -------------------------------------------------------------------------------------- */

static const struct {
	void (*make)(struct gen *gen);
	int weight;
	bool nests;
} statements[] = {
	{ make_constant, 8, false },	 { make_unknown, 12, false },	{ make_alu, 14, false },
	{ make_unary, 4, false },	 { make_copy, 7, false },	{ make_spill, 8, false },
	{ make_store, 4, false },	 { make_fill, 8, false },	{ make_atomic, 2, false },
	{ make_value_access, 6, false }, { make_packet_access, 6, false }, { make_sized_call, 6, false },
	{ make_if, 22, true },		 { make_early_exit, 2, false },	{ make_loop, 4, true },
	{ make_may_goto, 1, true },	 { make_lookup, 7, true },	{ make_packet_check, 6, true },
	{ make_call, 5, false },	 { make_ringbuf, 2, true },	{ make_tail_call, 1, false },
};

static void make_statement(struct gen *gen)
{
	enum { CNT = sizeof(statements) / sizeof(statements[0]) };
	int total = 0, n;

	if (gen->chaotic && one_in(gen, CHAOS)) {
		make_chaos(gen);
		return;
	}
	for (int i = 0; i < CNT; i++)
		total += statements[i].weight;
	n = below(gen, total);
	for (int i = 0; i < CNT; i++) {
		n -= statements[i].weight;
		if (n >= 0)
			continue;
		if (!statements[i].nests || gen->depth < MAX_DEPTH)
			statements[i].make(gen);
		return;
	}
}

static void make_block(struct gen *gen, int cnt)
{
	gen->depth++;
	while (cnt-- > 0 && gen->budget > 0) {
		gen->budget--;
		make_statement(gen);
	}
	gen->depth--;
}

/* --- functions ----------------------------------------------------------------------------------------- */

static const char *context_type(uint32_t prog_type)
{
	return prog_type == BPF_PROG_TYPE_XDP ? "xdp_md" : "__sk_buff";
}

static void start_function(struct gen *gen, int func)
{
	static const char *const linkage[] = { "static", "static", "global", "static" };
	enum func_kind kind = gen->func_kind[func];
	const char *ctx = context_type(gen->prog_type);
	int at;

	memset(&gen->now, 0, sizeof(gen->now));
	gen->func = func;
	gen->depth = gen->loops = 0;
	gen->counters = 0;
	gen->budget = func ? 8 + below(gen, 24) : 50 + below(gen, 110);
	if (func == 0 && gen->funcs)
		at = gen_line(gen->tree, ".func \"int main0(struct %s *ctx)\" global\n", ctx);
	else if (func == 0)
		at = 0;
	else if (kind == CALLBACK)
		at = gen_line(gen->tree, ".func \"long f%d(__u32 index, void *arg)\" static\n", func);
	else
		at = gen_line(gen->tree, ".func \"int f%d(struct %s *ctx, __u64 n)\" %s\n", func, ctx,
			      linkage[kind]);
	put(gen, at);
	if (kind == CALLBACK) {
		put(gen, gen_line(gen->tree, "\tr7 = r1\n\tr8 = r2\n\tr6 = 0\n"));
		set_number(gen, 7, UINT64_MAX);
		gen->now.reg[6].kind = NOTHING;
		return;
	}
	put(gen, gen_line(gen->tree, "\tr6 = r1\n"));
	gen->now.reg[6].kind = CONTEXT;
	if (func) {
		put(gen, gen_line(gen->tree, "\tr7 = r2\n"));
		set_number(gen, 7, UINT64_MAX);
	}
}

static void make_function(struct gen *gen, int func)
{
	enum func_kind kind = gen->func_kind[func];
	int r;

	start_function(gen, func);
	if (kind == CALLBACK) {
		/* no context here: numbers, and the caller's slot through r8 */
		put(gen, gen_line(gen->tree, "\tr1 = *(u64 *)(r8 +0)\n\tr1 += %d\n", below(gen, 3)));
		if (one_in(gen, 2))
			put(gen, gen_line(gen->tree, "\tr1 &= 0xff\n"));
		if (one_in(gen, 2))
			put(gen, gen_line(gen->tree, "\tif r7 > %d goto +1\n\tr1 = 0\n", below(gen, 9)));
		put(gen, gen_line(gen->tree, "\t*(u64 *)(r8 +0) = r1\n\tr0 = 0\n"));
		if (one_in(gen, 2))
			put(gen, gen_line(gen->tree, "\tif r7 s< %d goto +1\n\tr0 = 1\n", below(gen, 30)));
		put(gen, gen_line(gen->tree, "\texit\n"));
		return;
	}
	make_unknown(gen);
	make_block(gen, gen->budget);
	if (!func)
		call_the_rest(gen);
	r = pick(gen, NUMBER);
	if (r >= 0 && !(gen->prog_type == BPF_PROG_TYPE_CGROUP_SKB && func == 0) && one_in(gen, 3))
		put(gen, gen_line(gen->tree, "\tr0 = r%d\n", r));
	else
		put(gen, gen_line(gen->tree, "\tr0 = %d\n", below(gen, 2)));
	put(gen, gen_line(gen->tree, "\texit\n"));
}

static const char *type_name(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_XDP:
		return "xdp";
	case BPF_PROG_TYPE_SCHED_CLS:
		return "sched_cls";
	case BPF_PROG_TYPE_CGROUP_SKB:
		return "cgroup_skb";
	default:
		return "socket_filter";
	}
}

int gen_program(struct gen_tree *tree, const struct loupe_generate_opts *opts)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS,
					  BPF_PROG_TYPE_SOCKET_FILTER };
	struct gen gen = {
		.tree = tree,
		.random = opts->seed * 0x2545f4914f6cdd1dull + 1,
		.unprivileged = opts->unprivileged,
	};

	gen.prog_type = opts->prog_type ? opts->prog_type : types[below(&gen, 4)];
	if (opts->unprivileged && !opts->prog_type)
		gen.prog_type = one_in(&gen, 2) ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_CGROUP_SKB;
	gen.chaotic = one_in(&gen, 5);
	if (!opts->unprivileged && one_in(&gen, 2))
		gen.funcs = 1 + below(&gen, MAX_FUNCS);
	for (int i = 1; i <= gen.funcs; i++)
		gen.func_kind[i] = STATIC + (enum func_kind)below(&gen, 3);
	if (asprintf(&tree->head,
		     ".type %s\n.license \"GPL\"\n%s"
		     ".map hash type=hash key=4 value=%d entries=8\n"
		     ".map array type=array key=4 value=%d entries=4\n"
		     ".map progs type=prog_array key=4 value=4 entries=4\n"
		     ".map ring type=ringbuf entries=4096\n.prog generated\n",
		     type_name(gen.prog_type),
		     gen.prog_type == BPF_PROG_TYPE_CGROUP_SKB ? ".attach cgroup_inet_ingress\n" : "",
		     VALUE_SIZE, VALUE_SIZE) < 0) {
		tree->head = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i <= gen.funcs; i++)
		make_function(&gen, i);
	return gen.failed ? -ENOMEM : 0;
}
