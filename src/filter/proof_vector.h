/* SPDX-License-Identifier: GPL-2.0-only */
/* 32-bit numbers of which each bit is a decision diagram: arithmetic on all values at once. */
#ifndef LOUPE_FILTER_PROOF_VECTOR_H
#define LOUPE_FILTER_PROOF_VECTOR_H

#include "filter/bdd.h"

enum { PROOF_BITS = 32 };

struct proof_vector {
	bdd_ref bit[PROOF_BITS]; /* lowest first */
};

enum proof_alu {
	PROOF_DONE,
	PROOF_ENDS,   /* division by zero: the filter returns 0 */
	PROOF_UNABLE, /* not decided here */
};

struct proof_vector proof_constant(uint32_t k);

/** Whether it is the same number whatever the input. */
bool proof_is_constant(const struct proof_vector *v, uint32_t *k);

/** a op b. @param op  BPF_ADD ... BPF_XOR; b is ignored by BPF_NEG */
enum proof_alu proof_arithmetic(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
				const struct proof_vector *b, struct proof_vector *out);

/** When a op b holds. @param op  BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET */
bdd_ref proof_compare(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
		      const struct proof_vector *b);

#endif
