/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of an explanation; bpfloupe/why.h says what it is for. */
#ifndef LOUPE_WHY_WHY_H
#define LOUPE_WHY_WHY_H

#include "bpfloupe/why.h"
#include "filter/opcode.h"
#include "policy/lower.h"

/* A register in the midst of a run. */
struct why_hold {
	uint8_t kind; /* enum loupe_hold_kind */
	uint32_t at, base;
	uint32_t mask;	 /* of the word of base that is left, all bits for HOLD_WORD */
	uint32_t lo, hi; /* its values */
};

/* What is the same for all runs that come to an instruction with equal contents of A and X. */
struct why_state {
	struct why_hold a, x;
	uint32_t lo[LOUPE_WHY_WORDS], hi[LOUPE_WHY_WORDS];
	uint32_t insn, prev; /* the state before on one way, LOUPE_NONE at the start */
	uint32_t next;	     /* of the same instruction */
};

/* Arrivals of an instruction. */
struct why_list {
	struct loupe_arrival *at;
	uint32_t cnt, cap;
};

struct loupe_why {
	const struct loupe_filter *filter;
	const struct loupe_policy *policy;
	struct loupe_callers *callers;
	uint32_t caller_cnt, caller_cap;
	uint32_t caller_words;	/* 64-bit words of a set of callers */
	struct why_list *lists; /* by instruction */
	uint64_t *reach;	/* by instruction: set of callers, when all runs are done */
	uint32_t rule_words;	/* 64-bit words of a set of rules */
	uint64_t *serves;	/* by instruction: set of rules */
	uint64_t *maybe;	/* the same, rules that it may serve: used where serves is empty */
	struct lower_rules *lowered; /* by class, filled for calls of the policy */
};

/** Notes which rules the instruction serves when class c comes to it in this state. */
void why_note_rules(struct loupe_why *why, uint32_t c, const struct why_state *state);

/* The values of a word that a comparison parts. */
struct why_cut {
	uint32_t lo, hi; /* the values that one side has, the other side has the others */
	uint32_t mask;	 /* all bits: lo to hi; else (word & mask) == lo */
};

/** What a comparison with a constant parts. @param mask  bits of the word that A has */
struct why_cut why_cut_of(struct loupe_cbpf_insn insn, uint32_t mask);

/** Puts the rules that may be served where none is for certain. */
void why_settle_rules(struct loupe_why *why);

static inline bool why_bit(const uint64_t *set, uint32_t n)
{
	return set[n / 64] >> (n % 64) & 1;
}

static inline void why_set_bit(uint64_t *set, uint32_t n)
{
	set[n / 64] |= UINT64_C(1) << (n % 64);
}

static inline struct loupe_cbpf_insn why_insn(const struct loupe_why *why, uint32_t i)
{
	return why->filter->insns[i];
}

static inline struct loupe_filter_read why_read(const struct loupe_why *why, uint32_t i)
{
	return loupe_filter_read_of(why->filter->flavour, why_insn(why, i));
}

static inline bool why_is_input(struct loupe_filter_read read)
{
	return read.word != LOUPE_WORD_NONE && read.word != LOUPE_WORD_IMM &&
	       read.word != LOUPE_WORD_MEM;
}

/** Place of a load's word in struct seccomp_data, LOUPE_NONE if it reads none of its words. */
uint32_t why_word_of(const struct loupe_why *why, uint32_t load);

/** The ways out of an instruction. @return how many: 0, 1 or 2 (true, false) */
unsigned int why_ways(const struct loupe_why *why, uint32_t i, uint32_t to[2],
		      enum loupe_way way[2]);

/** Whether two loads read the same; one that X or the moment decides never does. */
bool why_same_word(const struct loupe_why *why, uint32_t i, uint32_t j);

#endif
