/* SPDX-License-Identifier: GPL-2.0-only */
/* Random valid filters and inputs for them, for tests and fuzzing. */
#ifndef LOUPE_TEST_FILTER_RANDOM_H
#define LOUPE_TEST_FILTER_RANDOM_H

#include <linux/filter.h>
#include <string.h>

#include "bpfloupe/filter.h"

/* Where randomness comes from: a generator, or the bytes of a fuzzer until they run out. */
struct random_source {
	uint64_t state;
	const uint8_t *bytes;
	size_t len;
};

static inline uint32_t random_next(struct random_source *r)
{
	uint32_t value = 0;

	if (r->bytes) {
		for (int i = 0; i < 2 && r->len; i++, r->len--)
			value = value << 8 | *r->bytes++;
		return value;
	}
	/* xorshift64*, Vigna 2016. */
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (uint32_t)(r->state * 0x2545f4914f6cdd1dULL >> 32);
}

static inline uint32_t random_below(struct random_source *r, uint32_t limit)
{
	return random_next(r) % limit;
}

/* Small numbers repeat, so that comparisons hit and loads are redundant. */
static inline uint32_t random_constant(struct random_source *r)
{
	static const uint32_t odd[] = { 0, 1, 0x80000000, 0xffffffff, 0x7fffffff, 0x100 };

	switch (random_below(r, 8)) {
	case 0:
		return odd[random_below(r, 6)];
	case 1:
		return random_next(r);
	default:
		return random_below(r, 6);
	}
}

static inline uint32_t random_jump(struct random_source *r, uint32_t room, uint32_t max)
{
	uint32_t off = random_below(r, 4) ? random_below(r, 6) : random_below(r, max);

	return off < room ? off : random_below(r, room);
}

/* One instruction with room more behind it (at least 1). */
static inline struct loupe_cbpf_insn random_insn(struct random_source *r, uint32_t room,
						 bool seccomp)
{
	static const uint16_t alu[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR, BPF_AND,
					BPF_LSH, BPF_RSH, BPF_NEG, BPF_XOR, BPF_MOD };
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	struct loupe_cbpf_insn insn = { 0 };

	switch (random_below(r, seccomp ? 13 : 16)) {
	case 0:
	case 1:
	case 2:
		insn.code = BPF_LD | BPF_W | BPF_ABS;
		insn.k = seccomp ? (random_below(r, 3) ? random_below(r, 4) * 4
						       : random_below(r, 16) * 4)
				 : random_below(r, 12);
		/* The instruction pointer differs from run to run. */
		if (seccomp && (insn.k == 8 || insn.k == 12))
			insn.k += 8;
		break;
	case 3:
		insn.code = BPF_JMP | BPF_JA;
		insn.k = random_jump(r, room, room);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		insn.code = (uint16_t)(BPF_JMP | jumps[random_below(r, 4)] |
				       (random_below(r, 6) ? BPF_K : BPF_X));
		insn.jt = (uint8_t)random_jump(r, room, 256);
		insn.jf = (uint8_t)random_jump(r, room, 256);
		insn.k = insn.code & BPF_X ? 0 : random_constant(r);
		break;
	case 8:
		insn.code = (uint16_t)(BPF_ALU | alu[random_below(r, seccomp ? 10 : 11)]);
		if (insn.code != (BPF_ALU | BPF_NEG)) {
			insn.code |= random_below(r, 3) ? BPF_K : BPF_X;
			insn.k = random_constant(r);
			if (insn.code == (BPF_ALU | BPF_LSH) || insn.code == (BPF_ALU | BPF_RSH))
				insn.k &= 31;
			if (!insn.k)
				insn.k = 1;
			if (insn.code & BPF_X)
				insn.k = 0;
		}
		break;
	case 9:
		insn.code = random_below(r, 2) ? BPF_MISC | BPF_TAX : BPF_MISC | BPF_TXA;
		break;
	case 10:
		insn.code = random_below(r, 2) ? BPF_ST : BPF_STX;
		insn.k = random_below(r, 3);
		break;
	case 11:
		insn.code = (random_below(r, 2) ? BPF_LD : BPF_LDX) | BPF_MEM;
		insn.k = random_below(r, 3);
		break;
	case 12:
		switch (random_below(r, 4)) {
		case 0:
			insn.code = BPF_RET | BPF_K;
			insn.k = random_below(r, 4);
			break;
		case 1:
			insn.code = (random_below(r, 2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN;
			break;
		default:
			insn.code = (random_below(r, 2) ? BPF_LD : BPF_LDX) | BPF_IMM;
			insn.k = random_constant(r);
		}
		break;
	case 13:
		insn.code = (random_below(r, 2) ? BPF_H : BPF_B) | BPF_LD | BPF_ABS;
		insn.k = random_below(r, 12);
		break;
	case 14:
		insn.code = (uint16_t)(random_below(r, 3) * 8 | BPF_LD | BPF_IND);
		insn.k = random_below(r, 12) - 2;
		break;
	default:
		insn.code = BPF_LDX | BPF_B | BPF_MSH;
		insn.k = random_below(r, 6);
	}
	return insn;
}

/* A filter that computes with words by masks only, as those that compilers make. */
static inline void random_mask_only(struct random_source *r, struct loupe_cbpf_insn *insns,
				    uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		if (BPF_CLASS(insns[i].code) == BPF_ALU)
			insns[i] = (struct loupe_cbpf_insn){ BPF_ALU | BPF_AND | BPF_K, 0, 0,
							     random_constant(r) };
		else if (insns[i].code == (BPF_RET | BPF_A))
			insns[i].code = BPF_RET | BPF_K;
	}
}

/**
 * Fills insns with a program that the kernel takes.
 * @param max  longest, at least 2
 * @return its length
 */
static inline uint32_t random_filter(struct random_source *r, bool seccomp,
				     struct loupe_cbpf_insn *insns, uint32_t max)
{
	enum loupe_filter_flavour flavour = seccomp ? LOUPE_FILTER_SECCOMP : LOUPE_FILTER_SOCKET;
	uint32_t cnt = 2 + random_below(r, max - 1), bad;

	for (uint32_t i = 0; i + 1 < cnt; i++)
		insns[i] = random_insn(r, cnt - i - 1, seccomp);
	insns[cnt - 1] = (struct loupe_cbpf_insn){ BPF_RET | BPF_K, 0, 0, random_below(r, 4) };
	if (!random_below(r, 3))
		insns[cnt - 1].code = BPF_RET | BPF_A;
	/* Reads of scratch words that are not written become writes. */
	while (loupe_filter_check(insns, cnt, flavour, &bad, NULL))
		insns[bad].code = BPF_CLASS(insns[bad].code) == BPF_LDX ? BPF_STX : BPF_ST;
	return cnt;
}

/* A word that the filter compares with, or close to one. */
static inline uint32_t random_word(struct random_source *r, const struct loupe_cbpf_insn *insns,
				   uint32_t cnt)
{
	return random_below(r, 8) ? insns[random_below(r, cnt)].k + random_below(r, 3) - 1
				  : random_constant(r);
}

static inline void random_seccomp_data(struct random_source *r, const struct loupe_cbpf_insn *insns,
				       uint32_t cnt, struct loupe_seccomp_data *data)
{
	uint32_t words[16];

	for (int i = 0; i < 16; i++)
		words[i] = random_word(r, insns, cnt);
	memcpy(data, words, sizeof(*data));
}

/* Fills packet and returns its length, at most max. */
static inline size_t random_packet(struct random_source *r, const struct loupe_cbpf_insn *insns,
				   uint32_t cnt, uint8_t *packet, size_t max)
{
	size_t len = 1 + random_below(r, (uint32_t)max);

	for (size_t i = 0; i < len; i++) {
		uint32_t word = random_word(r, insns, cnt);

		packet[i] = (uint8_t)(word >> random_below(r, 4) * 8);
	}
	return len;
}

#endif
