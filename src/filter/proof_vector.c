// SPDX-License-Identifier: GPL-2.0-only
#include "filter/proof_vector.h"

#include <linux/filter.h>

struct proof_vector proof_constant(uint32_t k)
{
	struct proof_vector v;

	for (int i = 0; i < PROOF_BITS; i++)
		v.bit[i] = k >> i & 1 ? BDD_TRUE : BDD_FALSE;
	return v;
}

bool proof_is_constant(const struct proof_vector *v, uint32_t *k)
{
	*k = 0;
	for (int i = 0; i < PROOF_BITS; i++) {
		if (v->bit[i] != BDD_TRUE && v->bit[i] != BDD_FALSE)
			return false;
		*k |= (uint32_t)(v->bit[i] == BDD_TRUE) << i;
	}
	return true;
}

static struct proof_vector add(struct bdd *bdd, const struct proof_vector *a,
			       const struct proof_vector *b, bdd_ref carry)
{
	struct proof_vector v;

	for (int i = 0; i < PROOF_BITS; i++) {
		bdd_ref half = bdd_xor(bdd, a->bit[i], b->bit[i]);

		v.bit[i] = bdd_xor(bdd, half, carry);
		carry = bdd_ite(bdd, half, carry, a->bit[i]);
	}
	return v;
}

static struct proof_vector subtract(struct bdd *bdd, const struct proof_vector *a,
				    const struct proof_vector *b)
{
	struct proof_vector v;

	for (int i = 0; i < PROOF_BITS; i++)
		v.bit[i] = bdd_not(bdd, b->bit[i]);
	return add(bdd, a, &v, BDD_TRUE);
}

/* Upwards by n bits when n is positive, downwards when negative. */
static struct proof_vector shift(const struct proof_vector *a, int n)
{
	struct proof_vector v;

	for (int i = 0; i < PROOF_BITS; i++)
		v.bit[i] = i - n >= 0 && i - n < PROOF_BITS ? a->bit[i - n] : BDD_FALSE;
	return v;
}

static struct proof_vector multiply(struct bdd *bdd, const struct proof_vector *a, uint32_t k)
{
	struct proof_vector sum = proof_constant(0);

	for (int i = 0; i < PROOF_BITS; i++) {
		struct proof_vector part = shift(a, i);

		if (k >> i & 1)
			sum = add(bdd, &sum, &part, BDD_FALSE);
	}
	return sum;
}

static struct proof_vector bitwise(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
				   const struct proof_vector *b)
{
	struct proof_vector v;

	for (int i = 0; i < PROOF_BITS; i++) {
		if (op == BPF_AND)
			v.bit[i] = bdd_and(bdd, a->bit[i], b->bit[i]);
		else if (op == BPF_OR)
			v.bit[i] = bdd_or(bdd, a->bit[i], b->bit[i]);
		else
			v.bit[i] = bdd_xor(bdd, a->bit[i], b->bit[i]);
	}
	return v;
}

/* Operations that are decided only for a constant on the right. */
static enum proof_alu by_constant(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
				  uint32_t k, struct proof_vector *out)
{
	switch (op) {
	case BPF_LSH:
		*out = shift(a, (int)(k & 31));
		return PROOF_DONE;
	case BPF_RSH:
		*out = shift(a, -(int)(k & 31));
		return PROOF_DONE;
	case BPF_MUL:
		*out = multiply(bdd, a, k);
		return PROOF_DONE;
	case BPF_DIV:
		if (!k)
			return PROOF_ENDS;
		if (k & (k - 1))
			return PROOF_UNABLE;
		*out = shift(a, -__builtin_ctz(k));
		return PROOF_DONE;
	default:
		return PROOF_UNABLE;
	}
}

enum proof_alu proof_arithmetic(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
				const struct proof_vector *b, struct proof_vector *out)
{
	const struct proof_vector zero = proof_constant(0);
	uint32_t k;

	switch (op) {
	case BPF_ADD:
		*out = add(bdd, a, b, BDD_FALSE);
		return PROOF_DONE;
	case BPF_SUB:
		*out = subtract(bdd, a, b);
		return PROOF_DONE;
	case BPF_NEG:
		*out = subtract(bdd, &zero, a);
		return PROOF_DONE;
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
		*out = bitwise(bdd, op, a, b);
		return PROOF_DONE;
	default:
		if (!proof_is_constant(b, &k))
			return PROOF_UNABLE;
		return by_constant(bdd, op, a, k, out);
	}
}

bdd_ref proof_compare(struct bdd *bdd, uint16_t op, const struct proof_vector *a,
		      const struct proof_vector *b)
{
	/* Of the bits below the one at hand: all equal, or a greater. */
	bdd_ref so_far = op == BPF_JEQ || op == BPF_JGE ? BDD_TRUE : BDD_FALSE;

	for (int i = 0; i < PROOF_BITS; i++) {
		bdd_ref differ = bdd_xor(bdd, a->bit[i], b->bit[i]);

		if (op == BPF_JEQ)
			so_far = bdd_ite(bdd, differ, BDD_FALSE, so_far);
		else if (op == BPF_JSET)
			so_far = bdd_or(bdd, so_far, bdd_and(bdd, a->bit[i], b->bit[i]));
		else
			so_far = bdd_ite(bdd, differ, a->bit[i], so_far);
	}
	return so_far;
}
