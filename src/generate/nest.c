// SPDX-License-Identifier: GPL-2.0-only
/* Statements of generated programs that others nest in, and calls. */
#include "generate/gen.h"

#include <stdio.h>
#include <linux/bpf.h>

void gen_meet(struct frame *a, const struct frame *b)
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
		a->slot[i].pointer |= b->slot[i].pointer;
	}
}

static void condition(struct gen *gen, char *buf, size_t size, int r)
{
	static const char *const ops[] = { "==", "!=",	">",  ">=",  "<", "<=",
					   "s>", "s>=", "s<", "s<=", "&" };
	char w = gen_one_in(gen, 3) ? 'w' : 'r';
	int s = gen_pick(gen, NUMBER), op = gen_below(gen, 11);

	if (s >= 0 && gen_one_in(gen, 4))
		snprintf(buf, size, "%c%d %s %c%d", w, r, ops[op], w, s);
	else
		snprintf(buf, size, "%c%d %s %lld", w, r, ops[op],
			 (long long)(int32_t)gen_constant(gen));
}

void gen_make_if(struct gen *gen)
{
	int r = gen_pick(gen, NUMBER), label = gen->label++, outer, inner;
	struct frame before, then;
	char test[64];

	if (r < 0)
		return;
	condition(gen, test, sizeof(test), r);
	before = gen->now;
	outer = gen_open(gen->tree, "\tif %s goto else%d\n", test, label);
	gen_put(gen, outer);
	gen_make_block(gen, 1 + gen_below(gen, 5));
	then = gen->now;
	gen->now = before;
	if (gen_one_in(gen, 2)) {
		inner = gen_open(gen->tree, "\tgoto%s end%d\nelse%d:\n",
				 gen_one_in(gen, 10) ? "l" : "", label, label);
		gen_put(gen, inner);
		gen_make_block(gen, 1 + gen_below(gen, 5));
		gen_close(gen->tree, inner, "end%d:\n", label);
		gen_close(gen->tree, outer, "%s", "");
	} else {
		gen_close(gen->tree, outer, "else%d:\n", label);
	}
	gen_meet(&gen->now, &then);
}

void gen_make_early_exit(struct gen *gen)
{
	int r = gen_pick(gen, NUMBER), label = gen->label++;
	char test[64];

	if (r < 0 || gen->held)
		return;
	condition(gen, test, sizeof(test), r);
	gen_put(gen, gen_line(gen->tree, "\tif %s goto on%d\n\tr0 = %d\n\texit\non%d:\n", test,
			      label, gen_below(gen, 2), label));
}

/* A loop may change anything that its body touches: what holds before need not hold in the second
 * turn, so the body starts from what is left after a first pass over it. */
static void forget_for_loop(struct gen *gen, int counter)
{
	for (int i = 0; i < REGS; i++) {
		if (gen_is_pinned(gen, i) || i == counter)
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
		gen_put(gen, gen_line(gen->tree, "\tr%d = %d\n", i, gen_below(gen, 100)));
		gen_set_number(gen, i, UINT64_MAX);
	}
	for (int i = 0; i < SLOTS; i++) {
		if (before->slot[i].kind != NUMBER || gen->now.slot[i].kind == NUMBER)
			continue;
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = 0\n", 8 * (i + 1)));
		gen->now.slot[i].kind = NUMBER;
	}
}

void gen_make_loop(struct gen *gen)
{
	int counter = 7 + gen_below(gen, 3), label = gen->label++,
	    turns = 2 + gen_below(gen, gen->loops ? 4 : 30), at;
	bool up = gen_one_in(gen, 2);
	struct frame before;

	/* ordinary users have no jumps back */
	if (gen->loops >= 2 || (gen->counters >> counter & 1) || gen->unprivileged)
		return;
	gen->loops++;
	forget_for_loop(gen, counter);
	gen->now.reg[counter].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree, "\tr%d = %d\nloop%d:\n", counter, up ? 0 : turns, label);
	gen_put(gen, at);
	gen_set_number(gen, counter, UINT64_MAX);
	/* the counter lives in a slot of its own meanwhile, often enough */
	if (gen_one_in(gen, 2)) {
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = r%d\n",
				      8 * (SLOTS + 1 + gen->loops), counter));
		gen_make_block(gen, 1 + gen_below(gen, 4));
		restore_for_loop(gen, &before);
		gen_close(gen->tree, at,
			  "\tr%d = *(u64 *)(r10 -%d)\n\tr%d += %d\n\tif r%d %s %d goto loop%d\n",
			  counter, 8 * (SLOTS + 1 + gen->loops), counter, up ? 1 : -1, counter,
			  up ? "<" : "!=", up ? turns : 0, label);
	} else {
		gen->now.reg[counter].kind = NOTHING;
		gen->counters |= 1u << counter;
		gen_make_block(gen, 1 + gen_below(gen, 3));
		restore_for_loop(gen, &before);
		gen_close(gen->tree, at, "\tr%d += %d\n\tif r%d %s %d goto loop%d\n", counter,
			  up ? 1 : -1, counter, up ? "<" : "!=", up ? turns : 0, label);
	}
	gen->counters &= ~(1u << counter);
	gen_meet(&gen->now, &before);
	gen_set_number(gen, counter, UINT64_MAX);
	gen->loops--;
}

void gen_make_may_goto(struct gen *gen)
{
	int label = gen->label++, at;
	struct frame before;

	if (gen->loops >= 1 || gen->unprivileged)
		return;
	gen->loops++;
	forget_for_loop(gen, -1);
	before = gen->now;
	at = gen_open(gen->tree, "again%d:\n\tmay_goto over%d\n", label, label);
	gen_put(gen, at);
	gen_make_block(gen, 1 + gen_below(gen, 3));
	restore_for_loop(gen, &before);
	gen_close(gen->tree, at, "\tgoto again%d\nover%d:\n", label, label);
	gen_meet(&gen->now, &before);
	gen->loops--;
}

void gen_make_lookup(struct gen *gen)
{
	int label = gen->label++, at, slot = gen_below(gen, SLOTS), v = 7;
	bool array = gen_one_in(gen, 2);
	struct frame before;
	int r = gen_pick(gen, NUMBER);

	if (gen->unprivileged && gen->now.slot[slot].pointer)
		return;
	while (v < 9 && (gen_is_pinned(gen, v) || gen_one_in(gen, 2)))
		v++;
	if (gen_is_pinned(gen, v))
		v = 0;
	if (r >= 0 && gen_one_in(gen, 2))
		gen_put(gen,
			gen_line(gen->tree, "\t*(u32 *)(r10 -%d) = r%d\n", 8 * (slot + 1) - 4, r));
	else
		gen_put(gen, gen_line(gen->tree, "\t*(u32 *)(r10 -%d) = %d\n", 8 * (slot + 1) - 4,
				      gen_below(gen, 6)));
	gen->now.slot[slot].kind = NOTHING;
	gen_put(gen,
		gen_line(gen->tree,
			 "\tr2 = r10\n\tr2 += -%d\n\tr1 = map[%s]\n\tcall bpf_map_lookup_elem\n",
			 8 * (slot + 1) - 4, array ? "array" : "hash"));
	gen_lose_temporaries(gen);
	before = gen->now;
	at = gen_open(gen->tree, "\tif r0 == 0 goto none%d\n", label);
	gen_put(gen, at);
	gen_put(gen, gen_line(gen->tree, "\tr%d = r0\n", v));
	gen->now.reg[0] = gen->now.reg[v] = (struct reg){ .kind = VALUE };
	gen_make_value_access(gen);
	gen_make_block(gen, 1 + gen_below(gen, 4));
	gen_close(gen->tree, at, "none%d:\n", label);
	before.reg[0].kind = NOTHING;
	gen_meet(&gen->now, &before);
}

void gen_make_packet_check(struct gen *gen)
{
	int label = gen->label++, at, room = 1 << (2 + gen_below(gen, 4)), r = -1;
	bool xdp = gen->prog_type == BPF_PROG_TYPE_XDP;
	struct frame before;

	if (gen->prog_type == BPF_PROG_TYPE_SOCKET_FILTER || gen->unprivileged || gen->tracing ||
	    gen->func)
		return;
	gen_put(gen, gen_line(gen->tree, "\tr2 = *(u32 *)(r6 +%d)\n\tr3 = *(u32 *)(r6 +%d)\n",
			      xdp ? 0 : 76, xdp ? 4 : 80));
	gen->now.reg[2].kind = gen->now.reg[3].kind = NOTHING;
	if (gen_one_in(gen, 2))
		r = gen_limited(gen, 256);
	if (r >= 0)
		gen_put(gen, gen_line(gen->tree, "\tr2 += r%d\n", r));
	gen->now.reg[4].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree, "\tr4 = r2\n\tr4 += %d\n\tif r4 > r3 goto short%d\n", room, label);
	gen_put(gen, at);
	gen->now.reg[2] = (struct reg){ .kind = PACKET, .room = room };
	gen_make_packet_access(gen);
	gen_make_block(gen, 1 + gen_below(gen, 4));
	gen_close(gen->tree, at, "short%d:\n", label);
	gen_meet(&gen->now, &before);
}

void gen_make_ringbuf(struct gen *gen)
{
	int label = gen->label++, r = gen_pick(gen, NUMBER), at;
	struct frame before;

	if (r < 0)
		return;
	gen_put(gen,
		gen_line(gen->tree,
			 "\tr3 = 0\n\tr2 = 16\n\tr1 = map[ring]\n\tcall bpf_ringbuf_reserve\n"));
	gen_lose_temporaries(gen);
	before = gen->now;
	at = gen_open(gen->tree, "\tif r0 == 0 goto full%d\n", label);
	gen_put(gen, at);
	if (r > 5)
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r0 +8) = r%d\n", r));
	if (!gen_one_in(gen, 30))
		gen_put(gen, gen_line(gen->tree, "\tr2 = 0\n\tr1 = r0\n\tcall bpf_ringbuf_%s\n",
				      gen_one_in(gen, 2) ? "submit" : "discard"));
	gen_lose_temporaries(gen);
	gen_close(gen->tree, at, "full%d:\n", label);
	gen_meet(&gen->now, &before);
}

void gen_make_tail_call(struct gen *gen)
{
	int r = gen_limited(gen, 4);

	if (r < 0 || gen->loops || gen->held || gen->sleepable)
		return;
	gen_put(gen,
		gen_line(gen->tree,
			 "\tr3 = r%d\n\tr2 = map[progs]\n\tr1 = r6\n\tcall bpf_tail_call\n", r));
	gen_lose_temporaries(gen);
	for (int i = 0; i < REGS; i++) {
		if (gen->now.reg[i].kind == PACKET)
			gen->now.reg[i].kind = NOTHING;
	}
}

/* Another packet pointer, at an unknown distance from one that was checked, is checked too. */
void gen_make_packet_walk(struct gen *gen)
{
	int p = gen_pick(gen, PACKET), r = gen_limited(gen, 64), t = 7, label, at;
	int room = 1 + gen_below(gen, 16);
	struct frame before;

	while (t < REGS && (gen_is_pinned(gen, t) || t == r || t == p))
		t++;
	if (p < 0 || r < 0 || t == REGS)
		return;
	label = gen->label++;
	gen_put(gen, gen_line(gen->tree, "\tr%d = r%d\n\tr%d += r%d\n", t, p, t, r));
	gen->now.reg[t].kind = gen->now.reg[4].kind = gen->now.reg[5].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree,
		      "\tr5 = *(u32 *)(r6 +%d)\n\tr4 = r%d\n\tr4 += %d\n\tif r%s goto short%d\n",
		      gen->prog_type == BPF_PROG_TYPE_XDP ? 4 : 80, t, room,
		      gen_one_in(gen, 2) ? "4 > r5" : "5 <= r4", label);
	gen_put(gen, at);
	gen->now.reg[t] = (struct reg){ .kind = PACKET, .room = room };
	gen_make_packet_access(gen);
	gen_make_block(gen, 1 + gen_below(gen, 3));
	gen_close(gen->tree, at, "short%d:\n", label);
	gen_meet(&gen->now, &before);
}
