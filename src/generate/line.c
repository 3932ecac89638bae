// SPDX-License-Identifier: GPL-2.0-only
/* Statements of generated programs that nothing nests in. */
#include "generate/gen.h"

#include <stdio.h>

#include <linux/bpf.h>

void gen_make_constant(struct gen *gen)
{
	int r = gen_target(gen);
	int64_t value = gen_constant(gen);

	if (gen_one_in(gen, 8)) {
		gen_put(gen, gen_line(gen->tree, "\tr%d = 0x%llx ll\n", r,
				      (unsigned long long)gen_next_random(gen)));
		gen_set_number(gen, r, UINT64_MAX);
		return;
	}
	if (gen_one_in(gen, 4))
		gen_put(gen, gen_line(gen->tree, "\tw%d = %lld\n", r, (long long)(int32_t)value));
	else
		gen_put(gen, gen_line(gen->tree, "\tr%d = %lld\n", r, (long long)(int32_t)value));
	gen_set_number(gen, r, value < 0 ? UINT64_MAX : (uint64_t)value);
}

/* Of four bytes of the context that any program may read. */
int gen_context_offset(struct gen *gen)
{
	if (gen->prog_type == BPF_PROG_TYPE_XDP)
		return 12 + 4 * gen_below(gen, 2);
	return (gen->tracing ? 8 : 0) + 4 * gen_below(gen, 5);
}

/* A number that the verifier does not know. */
void gen_make_unknown(struct gen *gen)
{
	int r = gen_target(gen);

	switch (gen_below(gen, 4)) {
	case 0:
		gen_put(gen, gen_line(gen->tree, "\tcall bpf_get_prandom_u32\n"));
		for (int i = 0; i <= 5; i++)
			gen->now.reg[i].kind = NOTHING;
		gen_set_number(gen, 0, UINT32_MAX);
		if (r) {
			gen_put(gen, gen_line(gen->tree, "\tr%d = r0\n", r));
			gen_set_number(gen, r, UINT32_MAX);
		}
		break;
	case 1:
		if (gen->prog_type != BPF_PROG_TYPE_XDP) {
			gen_put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r6 +%d)\n", r,
					      8 << gen_below(gen, 3),
					      (gen->tracing ? 8 : 0) + gen_below(gen, 2) * 8));
			gen_set_number(gen, r, UINT32_MAX);
			break;
		}
		/* fallthrough */
	default:
		gen_put(gen, gen_line(gen->tree, "\tr%d = *(u32 *)(r6 +%d)\n", r,
				      gen_context_offset(gen)));
		gen_set_number(gen, r, UINT32_MAX);
		break;
	}
}

void gen_make_alu(struct gen *gen)
{
	static const char *const ops[] = { "+=",  "-=",	  "*=", "&=", "|=",  "^=", "<<=",
					   ">>=", "s>>=", "/=", "%=", "s/=", "s%=" };
	int r = gen_pick(gen, NUMBER), s = gen_pick(gen, NUMBER), op = gen_below(gen, 13);
	char w = gen_one_in(gen, 3) ? 'w' : 'r';
	uint64_t max = UINT64_MAX;
	int64_t imm;

	if (r < 0)
		return;
	if (gen_one_in(gen, 2) && (op < 9 || gen_one_in(gen, 4))) {
		gen_put(gen, gen_line(gen->tree, "\t%c%d %s %c%d\n", w, r, ops[op], w, s));
		gen_set_number(gen, r, w == 'w' ? UINT32_MAX : UINT64_MAX);
		return;
	}
	imm = gen_constant(gen);
	if (op >= 6 && op <= 8)
		imm = gen_below(gen, w == 'w' ? 32 : 64);
	if (op >= 9 && imm == 0)
		imm = 3;
	if (op == 3 && imm >= 0)
		max = (uint64_t)imm;
	if (op == 7 && imm && w == 'r')
		max = UINT64_MAX >> imm;
	gen_put(gen,
		gen_line(gen->tree, "\t%c%d %s %lld\n", w, r, ops[op], (long long)(int32_t)imm));
	gen_set_number(gen, r, w == 'w' && max > UINT32_MAX ? UINT32_MAX : max);
}

void gen_make_unary(struct gen *gen)
{
	int r = gen_pick(gen, NUMBER), s = gen_pick(gen, NUMBER);

	if (r < 0)
		return;
	switch (gen_below(gen, 6)) {
	case 0:
		gen_put(gen, gen_line(gen->tree, "\tr%d = -r%d\n", r, r));
		break;
	case 1:
		gen_put(gen,
			gen_line(gen->tree, "\tr%d = %s%d r%d\n", r,
				 gen_one_in(gen, 2) ? "be" : "bswap", 16 << gen_below(gen, 3), r));
		break;
	case 2:
		gen_put(gen,
			gen_line(gen->tree, "\tr%d = (s%d)r%d\n", r, 8 << gen_below(gen, 3), s));
		break;
	case 3:
		gen_put(gen,
			gen_line(gen->tree, "\tw%d = (s%d)w%d\n", r, 8 << gen_below(gen, 2), s));
		break;
	default:
		gen_put(gen, gen_line(gen->tree, "\tw%d = w%d\n", r, s));
		gen_set_number(gen, r, UINT32_MAX);
		return;
	}
	gen_set_number(gen, r, UINT64_MAX);
}

/* Copies link scalars; a distance may be added. */
void gen_make_copy(struct gen *gen)
{
	int s = gen_below(gen, REGS), r = gen_target(gen);

	if (gen->now.reg[s].kind == NOTHING || r == s)
		return;
	gen_put(gen, gen_line(gen->tree, "\tr%d = r%d\n", r, s));
	gen->now.reg[r] = gen->now.reg[s];
	if (gen->now.reg[s].kind == NUMBER && gen_one_in(gen, 3)) {
		gen_put(gen, gen_line(gen->tree, "\tr%d += %d\n", r, 1 + gen_below(gen, 16)));
		gen_set_number(gen, r, UINT64_MAX);
	}
}

/* --- the stack
 * ------------------------------------------------------------------------------------ */

void gen_make_spill(struct gen *gen)
{
	int r = gen_below(gen, REGS), s = gen_below(gen, SLOTS), off = -8 * (s + 1), size = 8;

	if (gen->now.reg[r].kind == NOTHING)
		return;
	if (gen->now.reg[r].kind == NUMBER && gen_one_in(gen, 3) &&
	    !(gen->unprivileged && gen->now.slot[s].pointer))
		size = 1 << gen_below(gen, 3);
	if (size < 8)
		off += size * gen_below(gen, 8 / size);
	gen_put(gen, gen_line(gen->tree, "\t*(u%d *)(r10 %d) = r%d\n", size * 8, off, r));
	if (size == 8)
		gen->now.slot[s] =
			(struct slot){ gen->now.reg[r].kind, true, gen->now.reg[r].kind != NUMBER };
	else
		gen->now.slot[s].kind = NOTHING;
}

void gen_make_store(struct gen *gen)
{
	int s = gen_below(gen, SLOTS), off = -8 * (s + 1), size = 1 << gen_below(gen, 4);
	int64_t value = gen_one_in(gen, 2) ? 0 : gen_constant(gen);

	if (gen->unprivileged && gen->now.slot[s].pointer)
		size = 8;
	off += size * gen_below(gen, 8 / size);
	gen_put(gen, gen_line(gen->tree, "\t*(u%d *)(r10 %d) = %lld\n", size * 8, off,
			      (long long)(int32_t)value));
	gen->now.slot[s].kind = size == 8 ? NUMBER : NOTHING;
	gen->now.slot[s].set |= size == 8;
	gen->now.slot[s].pointer &= size != 8;
}

void gen_make_fill(struct gen *gen)
{
	int s = gen_below(gen, SLOTS), r = gen_target(gen), off = -8 * (s + 1), size = 8;

	if (!gen->now.slot[s].set && (gen->unprivileged || !gen_one_in(gen, 3)))
		return;
	if (gen->unprivileged && gen->now.slot[s].pointer && gen->now.slot[s].kind <= NUMBER)
		return;
	if (gen->now.slot[s].kind != NOTHING && gen->now.slot[s].kind != NUMBER) {
		gen_put(gen, gen_line(gen->tree, "\tr%d = *(u64 *)(r10 %d)\n", r, off));
		gen->now.reg[r] = (struct reg){ .kind = gen->now.slot[s].kind, .max = UINT64_MAX };
		return;
	}
	if (gen_one_in(gen, 2))
		size = 1 << gen_below(gen, 3);
	off += size < 8 ? size * gen_below(gen, 8 / size) : 0;
	gen_put(gen, gen_line(gen->tree, "\tr%d = *(%c%d *)(r10 %d)\n", r,
			      size < 8 && gen_one_in(gen, 3) ? 's' : 'u', size * 8, off));
	gen_set_number(gen, r, UINT64_MAX);
}

void gen_make_atomic(struct gen *gen)
{
	static const char *const ops[] = { "lock *(u64 *)(r10 %d) += r%d\n",
					   "lock *(u64 *)(r10 %d) |= r%d\n",
					   "lock *(u32 *)(r10 %d) ^= r%d\n" };
	int s = gen_below(gen, SLOTS), r = gen_pick(gen, NUMBER), off = -8 * (s + 1);

	if (r < 0 || !gen->now.slot[s].set || gen->now.slot[s].kind > NUMBER ||
	    (gen->unprivileged && gen->now.slot[s].pointer))
		return;
	gen->now.slot[s].kind = NUMBER;
	switch (gen_below(gen, 5)) {
	case 0:
		gen_put(gen,
			gen_line(gen->tree, "\tr%d = atomic64_fetch_add((u64 *)(r10 %d), r%d)\n", r,
				 off, r));
		gen_set_number(gen, r, UINT64_MAX);
		break;
	case 1:
		gen_put(gen, gen_line(gen->tree, "\tr%d = atomic64_xchg((u64 *)(r10 %d), r%d)\n", r,
				      off, r));
		gen_set_number(gen, r, UINT64_MAX);
		break;
	default: {
		char text[80] = "\t";

		/* the formats differ in operator and width only */
		snprintf(text + 1, sizeof(text) - 1,
			 gen_below(gen, 2) ? ops[0] : ops[1 + gen_below(gen, 2)], off, r);
		gen_put(gen, gen_line(gen->tree, "%s", text));
	}
	}
}

/* Of a map's value: what loads give back changes registers, and R0 where values are compared. */
void gen_make_value_atomic(struct gen *gen)
{
	static const char *const ops[] = { "add", "and", "or", "xor" };
	int v = gen_pick(gen, VALUE), r = gen_pick(gen, NUMBER), off = 8 * gen_below(gen, 8);
	int bits = gen_one_in(gen, 3) ? 32 : 64;
	const char *width = bits == 64 ? "64" : "";

	if (v < 0 || r < 0)
		return;
	switch (gen_below(gen, 5)) {
	case 0:
		if (v == 0 || r == 0)
			return;
		gen_put(gen,
			gen_line(gen->tree,
				 "\tr0 = %d\n\tr0 = atomic%s_cmpxchg((u%d *)(r%d +%d), r0, r%d)\n",
				 gen_below(gen, 9), width, bits, v, off, r));
		r = 0;
		break;
	case 1:
		gen_put(gen, gen_line(gen->tree, "\tr%d = load_acquire((u%d *)(r%d +%d))\n", r,
				      bits, v, off));
		break;
	case 2:
		gen_put(gen, gen_line(gen->tree, "\tstore_release((u%d *)(r%d +%d), r%d)\n", bits,
				      v, off, r));
		return;
	case 3:
		gen_put(gen, gen_line(gen->tree, "\tr%d = atomic%s_xchg((u%d *)(r%d +%d), r%d)\n",
				      r, width, bits, v, off, r));
		break;
	default:
		gen_put(gen,
			gen_line(gen->tree, "\tr%d = atomic%s_fetch_%s((u%d *)(r%d +%d), r%d)\n", r,
				 width, ops[gen_below(gen, 4)], bits, v, off, r));
		break;
	}
	gen_set_number(gen, r, UINT64_MAX);
}

/* --- maps and packets
 * ------------------------------------------------------------------------------ */

void gen_lose_temporaries(struct gen *gen)
{
	for (int i = 0; i <= 5; i++)
		gen->now.reg[i].kind = NOTHING;
}

/* A number limited so that it can be an offset or a size. */
int gen_limited(struct gen *gen, int limit)
{
	int r = gen_pick(gen, NUMBER);

	if (r < 0)
		return -1;
	if (gen->now.reg[r].max < (uint64_t)limit)
		return r;
	if (gen_one_in(gen, 25))
		return r; /* not limited after all */
	gen_put(gen, gen_line(gen->tree, "\tr%d &= %d\n", r, limit - 1));
	gen_set_number(gen, r, (uint64_t)limit - 1);
	return r;
}

/*
 * A number to add to a pointer. Of an ordinary user's program the verifier wants the same limit,
 * and the same answer to whether it is a constant, on every path; a number that was just read has
 * both.
 */
int gen_unknown_offset(struct gen *gen)
{
	int r;

	if (!gen->unprivileged || gen_one_in(gen, 20))
		return gen_pick(gen, NUMBER);
	do
		r = gen_target(gen);
	while (gen->now.reg[r].kind > NUMBER);
	gen_put(gen, gen_line(gen->tree, "\tr%d = *(u32 *)(r6 +%d)\n", r, 4 * gen_below(gen, 5)));
	gen_set_number(gen, r, UINT32_MAX);
	return r;
}

void gen_make_value_access(struct gen *gen)
{
	int v = gen_pick(gen, VALUE), size = 1 << gen_below(gen, 4), r, off;

	if (v < 0)
		return;
	off = size * gen_below(gen, VALUE_SIZE / 2 / size);
	if (gen_one_in(gen, 2)) {
		r = gen_unknown_offset(gen);
		if (r < 0 || gen_is_pinned(gen, v))
			return;
		if (gen->now.reg[r].max >= VALUE_SIZE / 2) {
			gen_put(gen, gen_line(gen->tree, "\tr%d &= %d\n", r, VALUE_SIZE / 2 - 1));
			gen_set_number(gen, r, VALUE_SIZE / 2 - 1);
		}
		gen_put(gen, gen_line(gen->tree, "\tr%d += r%d\n", v, r));
		size = gen_one_in(gen, 2) ? 1 : size;
		off %= VALUE_SIZE / 2;
		gen->now.reg[v].kind = NOTHING;
	}
	r = gen_pick(gen, NUMBER);
	if (r >= 0 && gen_one_in(gen, 2)) {
		gen_put(gen,
			gen_line(gen->tree, "\t*(u%d *)(r%d +%d) = r%d\n", size * 8, v, off, r));
		return;
	}
	r = gen_target(gen);
	gen_put(gen, gen_line(gen->tree, "\tr%d = *(%c%d *)(r%d +%d)\n", r,
			      size < 8 && gen_one_in(gen, 5) ? 's' : 'u', size * 8, v, off));
	gen_set_number(gen, r, UINT64_MAX);
}

void gen_make_packet_access(struct gen *gen)
{
	int p = gen_pick(gen, PACKET), r = gen_target(gen), room, size = 1 << gen_below(gen, 4);

	if (p < 0)
		return;
	room = gen->now.reg[p].room;
	if (room < size)
		return;
	if (gen_one_in(gen, 4)) {
		gen_put(gen, gen_line(gen->tree, "\t*(u%d *)(r%d +%d) = %d\n", size * 8, p,
				      gen_below(gen, room - size + 1), gen_below(gen, 100)));
		return;
	}
	gen_put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r%d +%d)\n", r, size * 8, p,
			      gen_below(gen, room - size + (gen_one_in(gen, 40) ? 9 : 1))));
	gen_set_number(gen, r, UINT64_MAX);
}

/* A helper that fills stack or reads it, with a size that varies. */
void gen_make_sized_call(struct gen *gen)
{
	bool xdp = gen->prog_type == BPF_PROG_TYPE_XDP;
	int r = gen_limited(gen, 16);

	if (r < 0)
		return;
	for (int s = SLOTS - 3; gen->unprivileged && s < SLOTS; s++) {
		if (!gen->now.slot[s].set || gen->now.slot[s].pointer)
			return;
	}
	if (gen->tracing)
		gen_put(gen, gen_line(gen->tree,
				      "\tr2 = r%d\n\tr2 += 1\n\tr1 = r10\n\tr1 += -%d\n\tr3 = 0\n"
				      "\tcall bpf_probe_read_kernel\n",
				      r, 8 * SLOTS));
	else
		gen_put(gen,
			gen_line(
				gen->tree,
				"\tr4 = r%d\n\tr4 += 1\n\tr3 = r10\n\tr3 += -%d\n\tr2 = %d\n\tr1 = "
				"r6\n\tcall %s\n",
				r, 8 * SLOTS, gen_below(gen, 64),
				xdp ? "bpf_xdp_load_bytes" : "bpf_skb_load_bytes"));
	gen_lose_temporaries(gen);
	gen_set_number(gen, 0, UINT64_MAX);
	for (int s = SLOTS - 3; s < SLOTS; s++)
		gen->now.slot[s].kind = NOTHING;
}

/* A register, most often one that was written. */
static int any_register(struct gen *gen)
{
	int r = gen_below(gen, 11);

	for (int tries = 0; tries < 8 && r < REGS && gen->now.reg[r].kind == NOTHING; tries++)
		r = gen_below(gen, 11);
	return r;
}

/* What the types say does not matter. */
void gen_make_chaos(struct gen *gen)
{
	int r = any_register(gen), s = any_register(gen);

	switch (gen_below(gen, 9)) {
	case 0:
		gen_put(gen, gen_line(gen->tree, "\tr%d += r%d\n", r % 10, s));
		break;
	case 1:
		gen_put(gen, gen_line(gen->tree, "\tr%d = *(u64 *)(r%d %+d)\n", r % 10, s,
				      gen_below(gen, 128) - 64));
		break;
	case 2:
		gen_put(gen, gen_line(gen->tree, "\t*(u32 *)(r%d %+d) = r%d\n", r,
				      gen_below(gen, 128) - 64, s));
		break;
	case 3:
		gen_put(gen, gen_line(gen->tree, "\tr%d -= r%d\n", r % 10, s));
		break;
	case 4:
		gen_put(gen, gen_line(gen->tree, "\tr%d = r%d\n", r % 10, s));
		break;
	case 5:
		gen_put(gen, gen_line(gen->tree, "\tcall #%d\n", gen_below(gen, 220)));
		break;
	case 6:
		gen_put(gen,
			gen_line(gen->tree, "\tr%d = r10\n\tr%d += %d\n\t*(u8 *)(r%d +0) = 1\n",
				 r % 10, r % 10, -gen_below(gen, 530), r % 10));
		break;
	case 7:
		gen_put(gen, gen_line(gen->tree, "\tlock *(u64 *)(r%d %+d) += r%d\n", r,
				      gen_below(gen, 64) - 32, s));
		break;
	default:
		gen_put(gen, gen_line(gen->tree, "\tif r%d > r%d goto +0\n", r, s));
		break;
	}
	if (r < 10 && !gen_is_pinned(gen, r))
		gen->now.reg[r].kind = NOTHING;
}
