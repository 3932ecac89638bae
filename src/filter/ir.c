// SPDX-License-Identifier: GPL-2.0-only
#include "filter/ir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int filter_ir_init(struct filter_ir *ir, uint32_t cnt)
{
	uint32_t slots = 64;

	while (slots < 2 * cnt)
		slots *= 2;
	*ir = (struct filter_ir){ .entry = FILTER_IR_NONE, .mask = slots - 1, .cap = cnt + 16 };
	ir->nodes = malloc(ir->cap * sizeof(*ir->nodes));
	ir->table = calloc(slots, sizeof(*ir->table));
	if (ir->nodes && ir->table)
		return 0;
	filter_ir_finish(ir);
	return -ENOMEM;
}

void filter_ir_finish(struct filter_ir *ir)
{
	free(ir->nodes);
	free(ir->table);
	*ir = (struct filter_ir){ .entry = FILTER_IR_NONE };
}

static uint32_t hash_of(uint16_t code, uint32_t k, uint32_t t, uint32_t f)
{
	uint64_t h = ((uint64_t)t << 32 | f) * 0x9e3779b97f4a7c15ULL;

	h ^= ((uint64_t)code << 32 | k) * 0xc2b2ae3d27d4eb4fULL;
	return (uint32_t)((h ^ h >> 29) * 0x165667b19e3779f9ULL >> 32);
}

static bool grow(struct filter_ir *ir)
{
	if (ir->cnt == ir->cap) {
		uint32_t cap = ir->cap * 2;
		struct filter_ir_node *nodes = realloc(ir->nodes, cap * sizeof(*nodes));

		if (!nodes)
			return false;
		ir->nodes = nodes;
		ir->cap = cap;
	}
	if (2 * ir->cnt > ir->mask) {
		uint32_t mask = ir->mask * 2 + 1;
		uint32_t *table = calloc((size_t)mask + 1, sizeof(*table));

		if (!table)
			return false;
		for (uint32_t i = 0; i < ir->cnt; i++) {
			const struct filter_ir_node *n = &ir->nodes[i];
			uint32_t slot = hash_of(n->code, n->k, n->t, n->f) & mask;

			while (table[slot])
				slot = (slot + 1) & mask;
			table[slot] = i + 1;
		}
		free(ir->table);
		ir->table = table;
		ir->mask = mask;
	}
	return true;
}

/* The node, as filter_ir_make(), and whether it is new. */
static uint32_t intern(struct filter_ir *ir, uint16_t code, uint32_t k, uint32_t t, uint32_t f,
		       bool *is_new)
{
	uint32_t slot;

	*is_new = false;
	if (ir->failed || !grow(ir)) {
		ir->failed = true;
		return FILTER_IR_NONE;
	}
	slot = hash_of(code, k, t, f) & ir->mask;
	for (; ir->table[slot]; slot = (slot + 1) & ir->mask) {
		const struct filter_ir_node *n = &ir->nodes[ir->table[slot] - 1];

		if (n->code == code && n->k == k && n->t == t && n->f == f)
			return ir->table[slot] - 1;
	}
	*is_new = true;
	ir->nodes[ir->cnt] = (struct filter_ir_node){ code, k, t, f, LOUPE_NONE, { { 0 } } };
	ir->table[slot] = ir->cnt + 1;
	return ir->cnt++;
}

/* A test of A against a constant in its plainest form; true when it needs no test: *to. */
static bool simplify(uint16_t *code, uint32_t *k, uint32_t *t, uint32_t *f, uint32_t *to)
{
	bool swap = false;

	if (*t == *f) {
		*to = *t;
		return true;
	}
	if (*code == (BPF_JMP | BPF_JGE | BPF_K)) {
		if (!*k) {
			*to = *t;
			return true;
		}
		*code = BPF_JMP | BPF_JGT | BPF_K;
		--*k;
	}
	if (*code == (BPF_JMP | BPF_JGT | BPF_K)) {
		if (*k == UINT32_MAX) {
			*to = *f;
			return true;
		}
		if (*k == UINT32_MAX - 1 || !*k) {
			swap = !*k;
			*code = BPF_JMP | BPF_JEQ | BPF_K;
			*k = swap ? 0 : UINT32_MAX;
		}
	} else if (*code == (BPF_JMP | BPF_JSET | BPF_K)) {
		if (!*k) {
			*to = *f;
			return true;
		}
		if (*k == UINT32_MAX) {
			swap = true;
			*code = BPF_JMP | BPF_JEQ | BPF_K;
			*k = 0;
		}
	}
	if (swap) {
		uint32_t was = *t;

		*t = *f;
		*f = was;
	}
	return false;
}

static uint32_t make(struct filter_ir *ir, uint16_t code, uint32_t k, uint32_t t, uint32_t f,
		     bool *is_new)
{
	uint32_t to;

	*is_new = false;
	if (filter_is_ret(code)) {
		t = f = FILTER_IR_NONE;
	} else if (t == FILTER_IR_NONE) {
		return FILTER_IR_NONE;
	} else if (!filter_is_cond(code)) {
		f = FILTER_IR_NONE;
	} else {
		if (f == FILTER_IR_NONE)
			return FILTER_IR_NONE;
		if (simplify(&code, &k, &t, &f, &to))
			return to;
	}
	return intern(ir, code, k, t, f, is_new);
}

uint32_t filter_ir_make(struct filter_ir *ir, uint16_t code, uint32_t k, uint32_t t, uint32_t f)
{
	bool is_new;

	return make(ir, code, k, t, f, &is_new);
}

uint32_t filter_ir_remake(struct filter_ir *ir, const struct filter_ir_node *node, uint32_t t,
			  uint32_t f)
{
	bool is_new;
	uint32_t made = make(ir, node->code, node->k, t, f, &is_new);
	struct filter_ir_node *n = &ir->nodes[made];

	if (is_new) {
		bool swapped = filter_is_cond(node->code) && n->t == f;

		n->origin = node->origin;
		n->why[0] = node->why[swapped];
		n->why[1] = node->why[!swapped];
	}
	return made;
}

/* Marks what can be reached from the start of a program; jumps lead forward. */
static void mark(const struct loupe_cbpf_insn *insns, uint32_t cnt, uint8_t *reached)
{
	reached[0] = 1;
	for (uint32_t i = 0; i < cnt; i++) {
		if (!reached[i] || filter_is_ret(insns[i].code))
			continue;
		if (filter_is_cond(insns[i].code)) {
			reached[i + 1 + insns[i].jt] = 1;
			reached[i + 1 + insns[i].jf] = 1;
		} else {
			reached[i + 1 + (filter_is_ja(insns[i].code) ? insns[i].k : 0)] = 1;
		}
	}
}

int filter_ir_read(struct filter_ir *ir, const struct loupe_cbpf_insn *insns, uint32_t cnt,
		   uint32_t *node_of)
{
	uint8_t *reached = calloc(cnt, 1);
	uint32_t *nodes = malloc(cnt * sizeof(*nodes));
	int err = -ENOMEM;

	if (reached && nodes)
		err = filter_ir_init(ir, cnt);
	if (!err) {
		mark(insns, cnt, reached);
		for (uint32_t i = cnt; i--;) {
			struct filter_ir_node node = { .code = insns[i].code,
						       .k = insns[i].k,
						       .origin = i };
			uint32_t t = FILTER_IR_NONE, f = FILTER_IR_NONE;

			nodes[i] = FILTER_IR_NONE;
			if (!reached[i])
				continue;
			if (filter_is_ja(node.code)) {
				nodes[i] = nodes[i + 1 + node.k];
				continue;
			}
			if (filter_is_cond(node.code)) {
				t = nodes[i + 1 + insns[i].jt];
				f = nodes[i + 1 + insns[i].jf];
			} else if (!filter_is_ret(node.code)) {
				t = nodes[i + 1];
			}
			nodes[i] = filter_ir_remake(ir, &node, t, f);
		}
		ir->entry = nodes[0];
		if (node_of)
			memcpy(node_of, nodes, cnt * sizeof(*nodes));
		if (ir->failed) {
			filter_ir_finish(ir);
			err = -ENOMEM;
		}
	}
	free(reached);
	free(nodes);
	return err;
}

/* Marks by node what the entry leads to. */
static uint32_t mark_nodes(const struct filter_ir *ir, uint8_t *reached)
{
	uint32_t cnt = 0;

	reached[ir->entry] = 1;
	for (uint32_t i = ir->entry + 1; i--;) {
		const struct filter_ir_node *n = &ir->nodes[i];

		if (!reached[i])
			continue;
		cnt++;
		if (n->t != FILTER_IR_NONE)
			reached[n->t] = 1;
		if (n->f != FILTER_IR_NONE)
			reached[n->f] = 1;
	}
	return cnt;
}

int64_t filter_ir_size(const struct filter_ir *ir)
{
	uint8_t *reached = calloc(ir->cnt, 1);
	uint32_t cnt;

	if (!reached)
		return -ENOMEM;
	cnt = mark_nodes(ir, reached);
	free(reached);
	return cnt;
}

/* How many instructions each node would take if nothing were shared, at most a large number. */
static void weigh(const struct filter_ir *ir, uint32_t *weight)
{
	for (uint32_t i = 0; i < ir->cnt; i++) {
		const struct filter_ir_node *n = &ir->nodes[i];
		uint32_t sum = 1;

		if (n->t != FILTER_IR_NONE)
			sum += weight[n->t];
		if (n->f != FILTER_IR_NONE)
			sum += weight[n->f];
		weight[i] = sum < 1u << 30 ? sum : 1u << 30;
	}
}

/* Takes the nodes over in postorder, the heavier side of each test first. */
static void take_over(const struct filter_ir *ir, struct filter_ir *to, uint32_t *made,
		      const uint32_t *weight, uint32_t *stack)
{
	uint32_t depth = 0;

	stack[depth++] = ir->entry;
	while (depth) {
		const struct filter_ir_node *n = &ir->nodes[stack[depth - 1]];
		uint32_t first = n->t, second = n->f;

		if (second != FILTER_IR_NONE && weight[second] > weight[first]) {
			first = n->f;
			second = n->t;
		}
		if (first != FILTER_IR_NONE && made[first] == FILTER_IR_NONE) {
			stack[depth++] = first;
		} else if (second != FILTER_IR_NONE && made[second] == FILTER_IR_NONE) {
			stack[depth++] = second;
		} else {
			uint32_t t = n->t == FILTER_IR_NONE ? n->t : made[n->t];
			uint32_t f = n->f == FILTER_IR_NONE ? n->f : made[n->f];

			made[stack[--depth]] = filter_ir_remake(to, n, t, f);
			if (to->failed)
				return;
		}
	}
}

int filter_ir_arrange(const struct filter_ir *ir, struct filter_ir *to)
{
	uint32_t *made = malloc(ir->cnt * sizeof(*made));
	uint32_t *weight = malloc(ir->cnt * sizeof(*weight));
	uint32_t *stack = malloc(ir->cnt * sizeof(*stack));
	int err = filter_ir_init(to, ir->cnt);

	if (!err && (!made || !weight || !stack))
		err = -ENOMEM;
	if (!err) {
		memset(made, 0xff, ir->cnt * sizeof(*made));
		weigh(ir, weight);
		take_over(ir, to, made, weight, stack);
		to->entry = made[ir->entry];
		err = to->failed ? -ENOMEM : 0;
	}
	if (err)
		filter_ir_finish(to);
	free(made);
	free(weight);
	free(stack);
	return err;
}
