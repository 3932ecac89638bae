// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proof that two seccomp filters answer the same to every input. Each is run with all inputs at
 * once: a register holds a decision diagram a bit, over the 512 bits of struct seccomp_data, and
 * what a filter returns is a diagram too. Equal diagrams, equal filters; different ones lead to an
 * input that shows it. It shares no code with the optimizer, whose work it judges, nor with the
 * evaluator, which judges both.
 */
#include "filter/proof.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "filter/proof_vector.h"

enum {
	WORDS = 16,
	REG_A = 0,
	REG_X = 1,
	REG_M = 2, /* and 15 more */
	REGS = 18,
	WHOLE = 32, /* in place of a bit's number: all that is returned are constants */
};

/* A filter that needs more is tested instead. */
#define MAX_NODES   (1u << 18)
#define MAX_STATES  (1u << 17)
#define MAX_VECTORS (1u << 16)

/* Registers by number of their vector; what nobody reads any more is 0. */
struct machine {
	uint32_t reg[REGS];
};

/* What running on from an instruction returns. */
struct state {
	uint32_t pc;
	struct machine m;
	bdd_ref result;
	uint32_t slot; /* in state_table */
};

struct prover {
	struct bdd bdd;
	struct proof_vector *vectors;
	uint32_t vector_cnt, vector_cap;
	uint32_t *vector_table; /* hash -> number + 1, 2 * MAX_VECTORS */
	struct state *states;
	uint32_t state_cnt, state_cap;
	uint32_t *state_table; /* 2 * MAX_STATES */
	uint32_t word[WORDS];  /* vectors of the input's words */

	const struct loupe_cbpf_insn *insns;
	uint32_t *live;	     /* by instruction: registers that are read from there on */
	uint32_t bit;	     /* of what is returned, or WHOLE */
	const char *why_not; /* why it is not decided, NULL so far */
	bool failed;	     /* memory ran out */
};

/* Rank of each word in the order of variables: arch, nr, args, instruction pointer. */
static const uint8_t rank[WORDS] = { 1, 0, 14, 15, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12 };

static uint32_t hash_of(const uint32_t *p, size_t cnt)
{
	uint64_t h = 0x51ed270b;

	for (size_t i = 0; i < cnt; i++) {
		h = (h ^ p[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

/* Number of a vector. */
static uint32_t number_of(struct prover *p, const struct proof_vector *v)
{
	uint32_t mask = 2 * MAX_VECTORS - 1, slot = hash_of(v->bit, PROOF_BITS) & mask;

	for (; p->vector_table[slot]; slot = (slot + 1) & mask) {
		uint32_t i = p->vector_table[slot] - 1;

		if (!memcmp(&p->vectors[i], v, sizeof(*v)))
			return i;
	}
	if (p->vector_cnt == MAX_VECTORS) {
		p->why_not = "too many different values of a register";
		return 0;
	}
	if (p->vector_cnt == p->vector_cap) {
		uint32_t cap = p->vector_cap * 2 + 64;
		struct proof_vector *grown = realloc(p->vectors, cap * sizeof(*grown));

		if (!grown) {
			p->failed = true;
			return 0;
		}
		p->vectors = grown;
		p->vector_cap = cap;
	}
	p->vectors[p->vector_cnt] = *v;
	p->vector_table[slot] = p->vector_cnt + 1;
	return p->vector_cnt++;
}

static uint32_t number_of_constant(struct prover *p, uint32_t k)
{
	struct proof_vector v = proof_constant(k);

	return number_of(p, &v);
}

/* Registers that an instruction reads (low half) and writes (high half). */
static void uses(struct loupe_cbpf_insn insn, uint32_t *reads, uint32_t *writes)
{
	uint16_t class = BPF_CLASS(insn.code);

	*reads = *writes = 0;
	switch (class) {
	case BPF_LD:
	case BPF_LDX:
		*writes = 1u << (class == BPF_LD ? REG_A : REG_X);
		if (BPF_MODE(insn.code) == BPF_MEM)
			*reads = 1u << (REG_M + insn.k);
		break;
	case BPF_ST:
	case BPF_STX:
		*reads = 1u << (class == BPF_ST ? REG_A : REG_X);
		*writes = 1u << (REG_M + insn.k);
		break;
	case BPF_ALU:
		*reads = 1u << REG_A;
		*writes = 1u << REG_A;
		if (BPF_SRC(insn.code) == BPF_X)
			*reads |= 1u << REG_X;
		break;
	case BPF_JMP:
		if (BPF_OP(insn.code) == BPF_JA)
			break;
		*reads = 1u << REG_A;
		if (BPF_SRC(insn.code) == BPF_X)
			*reads |= 1u << REG_X;
		break;
	case BPF_RET:
		if (BPF_RVAL(insn.code) == BPF_A)
			*reads = 1u << REG_A;
		break;
	default:
		*reads = 1u << (BPF_MISCOP(insn.code) == BPF_TAX ? REG_A : REG_X);
		*writes = 1u << (BPF_MISCOP(insn.code) == BPF_TAX ? REG_X : REG_A);
	}
}

static void find_live(struct prover *p, uint32_t cnt)
{
	for (uint32_t i = cnt; i--;) {
		struct loupe_cbpf_insn insn = p->insns[i];
		uint32_t reads, writes, after = 0;

		uses(insn, &reads, &writes);
		if (BPF_CLASS(insn.code) == BPF_JMP && BPF_OP(insn.code) == BPF_JA)
			after = p->live[i + 1 + insn.k];
		else if (BPF_CLASS(insn.code) == BPF_JMP)
			after = p->live[i + 1 + insn.jt] | p->live[i + 1 + insn.jf];
		else if (BPF_CLASS(insn.code) != BPF_RET)
			after = p->live[i + 1];
		p->live[i] = (after & ~writes) | reads;
	}
}

/* Forgets what nobody reads from pc on, so that equal situations look equal. */
static void forget(const struct prover *p, uint32_t pc, struct machine *m)
{
	for (uint32_t r = 0; r < REGS; r++) {
		if (!(p->live[pc] >> r & 1))
			m->reg[r] = 0;
	}
}

static bdd_ref returned(struct prover *p, uint32_t value)
{
	uint32_t k;

	if (p->bit != WHOLE)
		return p->vectors[value].bit[p->bit];
	if (proof_is_constant(&p->vectors[value], &k))
		return bdd_leaf(&p->bdd, k);
	p->why_not = "it returns what depends on the input";
	return BDD_NONE;
}

/* A load, in number of its value. */
static uint32_t loaded(struct prover *p, struct loupe_cbpf_insn insn, const struct machine *m)
{
	switch (BPF_MODE(insn.code)) {
	case BPF_ABS:
		return p->word[insn.k / 4];
	case BPF_IMM:
		return number_of_constant(p, insn.k);
	case BPF_LEN:
		return number_of_constant(p, sizeof(struct loupe_seccomp_data));
	case BPF_MEM:
		return m->reg[REG_M + insn.k];
	default:
		p->why_not = "it reads a packet";
		return 0;
	}
}

/* An instruction that is neither jump nor return; false when it ends the run with 0. */
static bool step(struct prover *p, struct loupe_cbpf_insn insn, struct machine *m)
{
	struct proof_vector operand, result;
	uint16_t class = BPF_CLASS(insn.code);

	switch (class) {
	case BPF_LD:
	case BPF_LDX:
		m->reg[class == BPF_LD ? REG_A : REG_X] = loaded(p, insn, m);
		return true;
	case BPF_ST:
	case BPF_STX:
		m->reg[REG_M + insn.k] = m->reg[class == BPF_ST ? REG_A : REG_X];
		return true;
	case BPF_ALU:
		operand = BPF_SRC(insn.code) == BPF_X ? p->vectors[m->reg[REG_X]]
						      : proof_constant(insn.k);
		switch (proof_arithmetic(&p->bdd, BPF_OP(insn.code), &p->vectors[m->reg[REG_A]],
					 &operand, &result)) {
		case PROOF_ENDS:
			return false;
		case PROOF_UNABLE:
			p->why_not = "it multiplies, divides or shifts by what is not decided here";
			return true;
		case PROOF_DONE:
			m->reg[REG_A] = number_of(p, &result);
		}
		return true;
	default:
		if (BPF_MISCOP(insn.code) == BPF_TAX)
			m->reg[REG_X] = m->reg[REG_A];
		else
			m->reg[REG_A] = m->reg[REG_X];
		return true;
	}
}

/* The state of being at pc with m; *is_new: its result is not known yet. LOUPE_NONE on failure. */
static uint32_t state_of(struct prover *p, uint32_t pc, const struct machine *m, bool *is_new)
{
	uint32_t mask = 2 * MAX_STATES - 1;
	uint32_t slot = (hash_of(m->reg, REGS) ^ pc * 0x9e3779b1u) & mask;

	*is_new = false;
	for (; p->state_table[slot]; slot = (slot + 1) & mask) {
		uint32_t i = p->state_table[slot] - 1;

		if (p->states[i].pc == pc && !memcmp(&p->states[i].m, m, sizeof(*m)))
			return i;
	}
	if (p->state_cnt == MAX_STATES) {
		p->why_not = "too many different ways through it";
		return LOUPE_NONE;
	}
	if (p->state_cnt == p->state_cap) {
		uint32_t cap = p->state_cap * 2 + 256;
		struct state *grown = realloc(p->states, cap * sizeof(*grown));

		if (!grown) {
			p->failed = true;
			return LOUPE_NONE;
		}
		p->states = grown;
		p->state_cap = cap;
	}
	*is_new = true;
	p->states[p->state_cnt] = (struct state){ pc, *m, BDD_NONE, slot };
	p->state_table[slot] = p->state_cnt + 1;
	return p->state_cnt++;
}

static bool stopped(const struct prover *p)
{
	return p->failed || p->why_not || p->bdd.failed || p->bdd.over;
}

static bdd_ref run(struct prover *p, uint32_t pc, struct machine m);

/* Both ways of a test. */
static bdd_ref branch(struct prover *p, uint32_t pc, const struct machine *m)
{
	struct loupe_cbpf_insn insn = p->insns[pc];
	struct proof_vector operand =
		BPF_SRC(insn.code) == BPF_X ? p->vectors[m->reg[REG_X]] : proof_constant(insn.k);
	bdd_ref cond =
		proof_compare(&p->bdd, BPF_OP(insn.code), &p->vectors[m->reg[REG_A]], &operand);
	bdd_ref t = BDD_FALSE, f = BDD_FALSE;

	if (cond != BDD_FALSE)
		t = run(p, pc + 1 + insn.jt, *m);
	if (cond != BDD_TRUE)
		f = run(p, pc + 1 + insn.jf, *m);
	return bdd_ite(&p->bdd, cond, t, f);
}

/* What the filter returns when it goes on at pc. Depth: the tests on the longest way. */
static bdd_ref run(struct prover *p, uint32_t pc, struct machine m)
{
	for (;; pc++) {
		struct loupe_cbpf_insn insn = p->insns[pc];
		uint32_t state;
		bdd_ref result;
		bool is_new;

		if (stopped(p))
			return BDD_NONE;
		if (BPF_CLASS(insn.code) == BPF_RET)
			return returned(p, BPF_RVAL(insn.code) == BPF_A
						   ? m.reg[REG_A]
						   : number_of_constant(p, insn.k));
		if (BPF_CLASS(insn.code) != BPF_JMP) {
			if (!step(p, insn, &m))
				return returned(p, number_of_constant(p, 0));
			continue;
		}
		if (BPF_OP(insn.code) == BPF_JA) {
			pc += insn.k;
			continue;
		}
		forget(p, pc, &m);
		state = state_of(p, pc, &m, &is_new);
		if (state == LOUPE_NONE)
			return BDD_NONE;
		if (!is_new)
			return p->states[state].result;
		result = branch(p, pc, &m);
		p->states[state].result = result;
		return result;
	}
}

/* The diagram of what a filter returns, or of one bit of that. */
static bdd_ref diagram(struct prover *p, const struct loupe_filter *filter)
{
	struct machine m = { { 0 } };
	bdd_ref result;

	p->live = calloc(filter->cnt, sizeof(*p->live));
	if (!p->live) {
		p->failed = true;
		return BDD_NONE;
	}
	p->insns = filter->insns;
	while (p->state_cnt)
		p->state_table[p->states[--p->state_cnt].slot] = 0;
	find_live(p, filter->cnt);
	result = run(p, 0, m);
	free(p->live);
	p->live = NULL;
	return result;
}

static int prover_init(struct prover *p)
{
	int err;

	*p = (struct prover){ .vector_cnt = 0 };
	p->vector_table = calloc(2 * MAX_VECTORS, sizeof(*p->vector_table));
	p->state_table = calloc(2 * MAX_STATES, sizeof(*p->state_table));
	err = bdd_init(&p->bdd, MAX_NODES);
	if (err || !p->vector_table || !p->state_table)
		return -ENOMEM;
	/* Number 0 is the constant 0, which forgotten registers hold. */
	number_of_constant(p, 0);
	for (uint32_t w = 0; w < WORDS; w++) {
		struct proof_vector v;

		for (uint32_t i = 0; i < PROOF_BITS; i++)
			v.bit[i] = bdd_var(&p->bdd, rank[w] * PROOF_BITS + (PROOF_BITS - 1 - i));
		p->word[w] = number_of(p, &v);
	}
	return p->failed || p->bdd.failed ? -ENOMEM : 0;
}

static void prover_finish(struct prover *p)
{
	bdd_finish(&p->bdd);
	free(p->vectors);
	free(p->vector_table);
	free(p->states);
	free(p->state_table);
}

static void set_bit(void *arg, uint32_t var, bool value)
{
	uint32_t *words = arg;

	for (uint32_t w = 0; w < WORDS; w++) {
		if (rank[w] == var / PROOF_BITS && value)
			words[w] |= 1u << (PROOF_BITS - 1 - var % PROOF_BITS);
	}
}

static bool returns_a(const struct loupe_filter *filter)
{
	for (uint32_t i = 0; i < filter->cnt; i++) {
		if (filter->insns[i].code == (BPF_RET | BPF_A))
			return true;
	}
	return false;
}

static int decide(struct prover *p, const struct loupe_filter *a, const struct loupe_filter *b,
		  struct loupe_seccomp_data *data)
{
	/* What depends on the input is compared bit by bit. */
	bool bits = returns_a(a) || returns_a(b);

	for (p->bit = bits ? 0 : WHOLE; p->bit == WHOLE || p->bit < PROOF_BITS; p->bit++) {
		bdd_ref of_a = diagram(p, a), of_b = diagram(p, b);

		if (p->failed || p->bdd.failed)
			return -ENOMEM;
		if (p->bdd.over)
			p->why_not = "the decision diagram grows too large";
		if (stopped(p))
			return PROOF_UNDECIDED;
		if (of_a != of_b) {
			uint32_t words[WORDS] = { 0 };

			bdd_difference(&p->bdd, of_a, of_b, set_bit, words);
			memcpy(data, words, sizeof(*data));
			return PROOF_DIFFERENT;
		}
		if (p->bit == WHOLE)
			break;
	}
	return PROOF_EQUAL;
}

int proof_decide(const struct loupe_filter *a, const struct loupe_filter *b,
		 struct loupe_seccomp_data *data, const char **why_not, uint32_t *nodes)
{
	struct prover p;
	int ret;

	*why_not = NULL;
	*nodes = 0;
	if (a->flavour != LOUPE_FILTER_SECCOMP || b->flavour != LOUPE_FILTER_SECCOMP) {
		*why_not = "it reads a packet";
		return PROOF_UNDECIDED;
	}
	ret = prover_init(&p);
	if (!ret)
		ret = decide(&p, a, b, data);
	*why_not = p.why_not;
	*nodes = p.bdd.cnt;
	prover_finish(&p);
	return ret;
}
