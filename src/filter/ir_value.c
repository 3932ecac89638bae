// SPDX-License-Identifier: GPL-2.0-only
#include "filter/ir_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ir_values_init(struct ir_values *v)
{
	*v = (struct ir_values){ .cap = 128, .mask = 255 };
	v->list = malloc(v->cap * sizeof(*v->list));
	v->table = calloc(v->mask + 1, sizeof(*v->table));
	if (v->list && v->table)
		return 0;
	ir_values_finish(v);
	return -ENOMEM;
}

void ir_values_finish(struct ir_values *v)
{
	free(v->list);
	free(v->table);
	*v = (struct ir_values){ 0 };
}

static uint32_t hash_of(uint32_t how, uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ULL + how;

	return (uint32_t)((h ^ h >> 31) * 0xd6e8feb86659fd93ULL >> 32);
}

static bool grow(struct ir_values *v)
{
	uint32_t cap = v->cap * 2, mask = v->mask * 2 + 1, *table;
	struct ir_value *list;

	if (v->cnt < v->cap)
		return true;
	list = realloc(v->list, cap * sizeof(*list));
	if (!list)
		return false;
	v->list = list;
	table = calloc((size_t)mask + 1, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t i = 0; i < v->cnt; i++) {
		uint32_t slot = hash_of(list[i].how, list[i].a, list[i].b) & mask;

		while (table[slot])
			slot = (slot + 1) & mask;
		table[slot] = i + 1;
	}
	free(v->table);
	v->table = table;
	v->mask = mask;
	v->cap = cap;
	return true;
}

uint32_t ir_value_of(struct ir_values *v, uint32_t how, uint32_t a, uint32_t b)
{
	uint32_t slot;

	if (v->failed || !grow(v)) {
		v->failed = true;
		return 0;
	}
	for (slot = hash_of(how, a, b) & v->mask; v->table[slot]; slot = (slot + 1) & v->mask) {
		const struct ir_value *is = &v->list[v->table[slot] - 1];

		if (is->how == how && is->a == a && is->b == b)
			return v->table[slot] - 1;
	}
	v->list[v->cnt] = (struct ir_value){ how, a, b };
	v->table[slot] = v->cnt + 1;
	return v->cnt++;
}

static bool is_const(const struct ir_values *v, uint32_t value, uint32_t *k)
{
	*k = v->list[value].a;
	return v->list[value].how == IR_VALUE_CONST;
}

/* A op k for constants; false where it ends the run or is not worked out here. */
static bool fold(uint16_t op, uint32_t a, uint32_t k, uint32_t *out)
{
	switch (op) {
	case BPF_ADD:
		*out = a + k;
		return true;
	case BPF_SUB:
		*out = a - k;
		return true;
	case BPF_MUL:
		*out = a * k;
		return true;
	case BPF_OR:
		*out = a | k;
		return true;
	case BPF_AND:
		*out = a & k;
		return true;
	case BPF_XOR:
		*out = a ^ k;
		return true;
	case BPF_LSH:
		*out = a << (k & 31);
		return k < 32;
	case BPF_RSH:
		*out = a >> (k & 31);
		return k < 32;
	case BPF_DIV:
		*out = k ? a / k : 0;
		return k;
	case BPF_MOD:
		*out = k ? a % k : 0;
		return k;
	default:
		return false;
	}
}

static bool step_alu(struct ir_values *v, const struct filter_ir_node *n, uint32_t *a, uint32_t x)
{
	uint32_t left, right = n->k, result;
	bool by_x = BPF_SRC(n->code) == BPF_X && BPF_OP(n->code) != BPF_NEG;
	bool known = !by_x || is_const(v, x, &right);
	bool divides = BPF_OP(n->code) == BPF_DIV || BPF_OP(n->code) == BPF_MOD;

	if (known && BPF_OP(n->code) != BPF_NEG && is_const(v, *a, &left) &&
	    fold(BPF_OP(n->code), left, right, &result))
		*a = ir_value_of(v, IR_VALUE_CONST, result, 0);
	else if (known)
		*a = ir_value_of(v, BPF_ALU | BPF_OP(n->code), *a, right);
	else
		*a = ir_value_of(v, n->code, *a, x);
	return !divides || (known && right);
}

bool ir_value_step(struct ir_values *v, enum loupe_filter_flavour flavour,
		   const struct filter_ir_node *n, uint32_t node, uint32_t *a, uint32_t *x,
		   uint32_t *m)
{
	uint32_t *to = BPF_CLASS(n->code) == BPF_LDX ? x : a, value;
	bool same;

	switch (filter_opcode_of(n->code)->form) {
	case FORM_IMM:
		*to = ir_value_of(v, IR_VALUE_CONST, n->k, 0);
		return true;
	case FORM_LEN:
		*to = ir_value_of(v, BPF_LD | BPF_LEN, 0, 0);
		return true;
	case FORM_ABS:
		/* Some ancillary words change between two reads. */
		if (flavour == LOUPE_FILTER_SOCKET && n->k >= FILTER_AD_OFF) {
			*to = ir_value_of(v, IR_VALUE_ONCE, node, 0);
			return false;
		}
		value = ir_value_of(v, n->code, n->k, 0);
		break;
	case FORM_MSH:
		value = ir_value_of(v, n->code, n->k, 0);
		break;
	case FORM_IND:
		value = ir_value_of(v, n->code, n->k, *x);
		break;
	case FORM_ALU_K:
	case FORM_ALU_X:
	case FORM_NEG:
		return step_alu(v, n, a, *x);
	case FORM_MISC:
		if (n->code == (BPF_MISC | BPF_TAX))
			*x = *a;
		else
			*a = *x;
		return true;
	case FORM_ST:
		/* Nothing reads what is stored. */
		if (!v->scratch)
			return true;
		value = BPF_CLASS(n->code) == BPF_STX ? *x : *a;
		same = m[n->k] == value;
		m[n->k] = value;
		return same;
	case FORM_MEM:
		*to = m[n->k];
		return true;
	default:
		*to = ir_value_of(v, IR_VALUE_ONCE, node, 0);
		return false;
	}
	/* A packet may be too short, but not for what was read from it before. */
	same = value == *a || value == *x;
	*to = value;
	return flavour == LOUPE_FILTER_SECCOMP || same;
}

/* Bounds of a value: what its making gives, then what the path knows. */
static void bounds(const struct ir_values *v, const struct ir_known *known, uint32_t value,
		   uint32_t *lo, uint32_t *hi)
{
	*lo = 0;
	*hi = UINT32_MAX;
	if (is_const(v, value, hi))
		*lo = *hi;
	else if (v->list[value].how == (BPF_ALU | BPF_AND))
		*hi = v->list[value].b;
	else
		*hi = UINT32_MAX;
	for (uint32_t i = 0; i < known->range_cnt; i++) {
		if (known->range[i].value == value) {
			*lo = known->range[i].lo;
			*hi = known->range[i].hi;
			return;
		}
	}
}

static bool is_not(const struct ir_known *known, uint32_t value, uint32_t k)
{
	for (uint32_t i = 0; i < known->other_cnt; i++) {
		if (known->other[i].value == value && known->other[i].not == k)
			return true;
	}
	return false;
}

/* The value that a test compares with *k, and how; jset asks whether A & k is not 0. */
static bool tested(struct ir_values *v, const struct filter_ir_node *n, uint32_t *a, uint32_t x,
		   uint16_t *op, uint32_t *k)
{
	uint32_t held;

	*op = BPF_OP(n->code);
	*k = n->k;
	if (BPF_SRC(n->code) == BPF_X && !is_const(v, x, k))
		return false;
	if (*op == BPF_JSET) {
		if (is_const(v, *a, &held))
			*a = ir_value_of(v, IR_VALUE_CONST, held & *k, 0);
		else
			*a = ir_value_of(v, BPF_ALU | BPF_AND, *a, *k);
		*k = 0;
	}
	return true;
}

enum ir_outcome ir_value_decide(struct ir_values *v, const struct ir_known *known,
				const struct filter_ir_node *n, uint32_t a, uint32_t x)
{
	uint32_t k, lo, hi, base = a;
	uint16_t op;

	if (!tested(v, n, &a, x, &op, &k)) {
		if (a != x || op == BPF_JSET)
			return IR_OPEN;
		return op == BPF_JGT ? IR_FALSE : IR_TRUE;
	}
	if (v->failed)
		return IR_OPEN;
	bounds(v, known, a, &lo, &hi);
	switch (op) {
	case BPF_JEQ:
		if (k < lo || k > hi || is_not(known, a, k))
			return IR_FALSE;
		return lo == hi ? IR_TRUE : IR_OPEN;
	case BPF_JGT:
		return lo > k ? IR_TRUE : hi <= k ? IR_FALSE : IR_OPEN;
	case BPF_JGE:
		return lo >= k ? IR_TRUE : hi < k ? IR_FALSE : IR_OPEN;
	default:
		if (!hi)
			return IR_FALSE;
		if (lo || is_not(known, a, 0))
			return IR_TRUE;
		bounds(v, known, base, &lo, &hi);
		if (lo == hi)
			return lo & v->list[a].b ? IR_TRUE : IR_FALSE;
		return IR_OPEN;
	}
}

static void set_bounds(struct ir_known *known, uint32_t value, uint32_t lo, uint32_t hi)
{
	uint32_t i = 0;

	while (i < known->range_cnt && known->range[i].value != value)
		i++;
	if (i == IR_RANGES) {
		/* The oldest is the least likely to be asked for. */
		memmove(&known->range[0], &known->range[1],
			(IR_RANGES - 1) * sizeof(known->range[0]));
		i--;
	} else if (i == known->range_cnt) {
		known->range_cnt++;
	}
	known->range[i].value = value;
	known->range[i].lo = lo;
	known->range[i].hi = hi;
}

static void set_not(struct ir_values *v, struct ir_known *known, uint32_t value, uint32_t k)
{
	uint32_t lo, hi;

	bounds(v, known, value, &lo, &hi);
	if (lo == hi)
		return;
	if (k == lo || k == hi) {
		set_bounds(known, value, lo + (k == lo), hi - (k == hi));
		return;
	}
	if (is_not(known, value, k))
		return;
	if (known->other_cnt == IR_OTHERS) {
		memmove(&known->other[0], &known->other[1],
			(IR_OTHERS - 1) * sizeof(known->other[0]));
		known->other_cnt--;
	}
	known->other[known->other_cnt].value = value;
	known->other[known->other_cnt++].not = k;
}

void ir_value_learn(struct ir_values *v, struct ir_known *known, const struct filter_ir_node *n,
		    enum ir_outcome outcome)
{
	uint32_t a = known->a, k, lo, hi, was_lo, was_hi;
	uint16_t op;

	if (!tested(v, n, &a, known->x, &op, &k) || v->failed)
		return;
	if (op == BPF_JSET || op == BPF_JEQ) {
		if ((op == BPF_JEQ) == (outcome == IR_TRUE))
			set_bounds(known, a, k, k);
		else
			set_not(v, known, a, k);
		return;
	}
	bounds(v, known, a, &was_lo, &was_hi);
	lo = was_lo;
	hi = was_hi;
	if (op == BPF_JGE) {
		/* k 0 is never open. */
		if (!k)
			return;
		k--;
	}
	if (outcome == IR_TRUE)
		lo = lo > k + 1 || k == UINT32_MAX ? lo : k + 1;
	else
		hi = hi < k ? hi : k;
	if (lo <= hi && (lo != was_lo || hi != was_hi))
		set_bounds(known, a, lo, hi);
}

static void meet_others(const struct ir_values *v, struct ir_known *into,
			const struct ir_known *from, const struct ir_known *other)
{
	for (uint32_t i = 0; i < from->other_cnt; i++) {
		uint32_t value = from->other[i].value, k = from->other[i].not, lo, hi;

		bounds(v, other, value, &lo, &hi);
		if ((k >= lo && k <= hi && !is_not(other, value, k)) ||
		    into->other_cnt == IR_OTHERS || is_not(into, value, k))
			continue;
		into->other[into->other_cnt].value = value;
		into->other[into->other_cnt++].not = k;
	}
}

void ir_value_meet(struct ir_values *v, struct ir_known *into, const struct ir_known *other,
		   uint32_t node)
{
	struct ir_known was = *into;

	if (into->a != other->a)
		into->a = ir_value_of(v, IR_VALUE_JOIN_A, node, 0);
	if (into->x != other->x)
		into->x = ir_value_of(v, IR_VALUE_JOIN_X, node, 0);
	for (uint32_t i = 0; v->scratch && i < BPF_MEMWORDS; i++) {
		if (into->m[i] != other->m[i])
			into->m[i] = ir_value_of(v, IR_VALUE_JOIN_M, node, i);
	}
	into->range_cnt = into->other_cnt = 0;
	for (uint32_t i = 0; i < was.range_cnt; i++) {
		uint32_t value = was.range[i].value, lo, hi;

		bounds(v, other, value, &lo, &hi);
		lo = lo < was.range[i].lo ? lo : was.range[i].lo;
		hi = hi > was.range[i].hi ? hi : was.range[i].hi;
		if (!lo && hi == UINT32_MAX)
			continue;
		into->range[into->range_cnt].value = value;
		into->range[into->range_cnt].lo = lo;
		into->range[into->range_cnt++].hi = hi;
	}
	meet_others(v, into, &was, other);
	meet_others(v, into, other, &was);
}
