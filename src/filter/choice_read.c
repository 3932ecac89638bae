// SPDX-License-Identifier: GPL-2.0-only
/* From a filter's graph to what it decides. */
#include "filter/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What A holds. */
struct held {
	uint32_t offset; /* of a word, LOUPE_NONE: the constant */
	uint32_t mask;	 /* bits of the word, or the constant itself */
};

struct met {
	uint32_t node; /* FILTER_IR_NONE: free */
	struct held a;
	uint32_t choice;
};

struct reader {
	struct choices *c;
	const struct filter_ir *ir;
	struct met *met; /* table of what was worked out */
	uint32_t cnt, mask;
};

static uint32_t slot_of(const struct reader *r, uint32_t node, struct held a)
{
	uint64_t h = node * 0x9e3779b97f4a7c15ULL ^ ((uint64_t)a.offset << 32 | a.mask);

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	for (uint32_t slot = (uint32_t)(h >> 32) & r->mask;; slot = (slot + 1) & r->mask) {
		const struct met *m = &r->met[slot];

		if (m->node == FILTER_IR_NONE ||
		    (m->node == node && m->a.offset == a.offset && m->a.mask == a.mask))
			return slot;
	}
}

static bool remember(struct reader *r, uint32_t node, struct held a, uint32_t choice)
{
	if (2 * r->cnt++ > r->mask) {
		struct met *was = r->met;
		uint32_t cnt = r->mask + 1;

		r->met = malloc(2 * cnt * sizeof(*r->met));
		if (!r->met) {
			r->met = was;
			return false;
		}
		memset(r->met, 0xff, 2 * cnt * sizeof(*r->met));
		r->mask = 2 * cnt - 1;
		for (uint32_t i = 0; i < cnt; i++) {
			if (was[i].node != FILTER_IR_NONE)
				r->met[slot_of(r, was[i].node, was[i].a)] = was[i];
		}
		free(was);
	}
	r->met[slot_of(r, node, a)] = (struct met){ node, a, choice };
	return true;
}

/* Bits from some place upwards, all of them: such a mask makes an interval of a comparison. */
static bool is_high_mask(uint32_t mask)
{
	return mask && !(~mask & (~mask + 1));
}

/* Whether (word & mask) lies in lo .. hi, which are multiples of the mask's bits or its ends. */
static uint32_t select_bits(struct reader *r, struct held a, uint32_t lo, uint32_t hi, uint32_t in,
			    uint32_t out)
{
	uint32_t mask = a.mask;

	if (is_high_mask(mask)) {
		/* lo to the next multiple, and hi to the end of its own. */
		uint64_t low = ((uint64_t)lo + ~mask) & ~(uint64_t)~mask;

		hi |= ~mask;
		if (low > hi)
			return out;
		lo = (uint32_t)low;
		mask = UINT32_MAX;
	}
	return choice_select(r->c, choice_var_of(r->c, a.offset, mask), lo, hi, in, out);
}

static uint32_t read_node(struct reader *r, uint32_t node, struct held a);

static bool decide_constant(uint16_t op, uint32_t a, uint32_t k)
{
	switch (op) {
	case BPF_JEQ:
		return a == k;
	case BPF_JGT:
		return a > k;
	case BPF_JGE:
		return a >= k;
	default:
		return a & k;
	}
}

static uint32_t read_test(struct reader *r, const struct filter_ir_node *n, struct held a)
{
	uint16_t op = BPF_OP(n->code);
	uint32_t t, f;

	if (a.offset == LOUPE_NONE)
		return read_node(r, decide_constant(op, a.mask, n->k) ? n->t : n->f, a);
	t = read_node(r, n->t, a);
	f = read_node(r, n->f, a);
	switch (op) {
	case BPF_JEQ:
		if (n->k & ~a.mask)
			return f;
		/* One bit that is set is one that is not 0. */
		if (n->k && !(a.mask & (a.mask - 1)))
			return select_bits(r, a, 0, 0, f, t);
		return select_bits(r, a, n->k, n->k, t, f);
	case BPF_JGT:
		return n->k == UINT32_MAX ? f : select_bits(r, a, n->k + 1, UINT32_MAX, t, f);
	case BPF_JGE:
		return select_bits(r, a, n->k, UINT32_MAX, t, f);
	default:
		a.mask &= n->k;
		return a.mask ? select_bits(r, a, 0, 0, f, t) : f;
	}
}

/* The function of the words that a node computes, given what A holds. Depth: the longest way. */
static uint32_t read_node(struct reader *r, uint32_t node, struct held a)
{
	const struct filter_ir_node *n = &r->ir->nodes[node];
	uint32_t choice = CHOICE_NONE, slot;

	if (r->c->err)
		return CHOICE_NONE;
	switch (filter_opcode_of(n->code)->form) {
	case FORM_RET_K:
		return choice_leaf(r->c, n->k);
	case FORM_ABS:
		return read_node(r, n->t, (struct held){ n->k, UINT32_MAX });
	case FORM_IMM:
		if (BPF_CLASS(n->code) == BPF_LD)
			a = (struct held){ LOUPE_NONE, n->k };
		else
			r->c->err = -ENOTSUP;
		return read_node(r, n->t, a);
	case FORM_ALU_K:
		/* Of a word it leaves fewer bits, of a constant too. */
		if (BPF_OP(n->code) == BPF_AND)
			a.mask &= n->k;
		else
			r->c->err = -ENOTSUP;
		if (!a.mask)
			a.offset = LOUPE_NONE;
		return read_node(r, n->t, a);
	case FORM_JMP_K:
		slot = slot_of(r, node, a);
		if (r->met[slot].node != FILTER_IR_NONE)
			return r->met[slot].choice;
		choice = read_test(r, n, a);
		if (!remember(r, node, a, choice))
			r->c->err = -ENOMEM;
		return choice;
	default:
		r->c->err = -ENOTSUP;
		return choice;
	}
}

int choices_read(struct choices *c, const struct filter_ir *ir)
{
	struct reader r = { .c = c, .ir = ir, .mask = 1023 };

	r.met = malloc(((size_t)r.mask + 1) * sizeof(*r.met));
	if (!r.met)
		return -ENOMEM;
	memset(r.met, 0xff, ((size_t)r.mask + 1) * sizeof(*r.met));
	c->root = read_node(&r, ir->entry, (struct held){ LOUPE_NONE, 0 });
	free(r.met);
	return c->err;
}
