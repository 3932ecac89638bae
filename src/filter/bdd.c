// SPDX-License-Identifier: GPL-2.0-only
#include "filter/bdd.h"

#include <errno.h>
#include <stdlib.h>

/* Slots of the cache of results, a power of 2; what falls out is worked out again. */
#define CACHE_SLOTS (1u << 15)

int bdd_init(struct bdd *b, uint32_t limit)
{
	*b = (struct bdd){ .cap = 1u << 12, .limit = limit, .mask = (1u << 13) - 1 };
	b->nodes = malloc(b->cap * sizeof(*b->nodes));
	b->table = calloc((size_t)b->mask + 1, sizeof(*b->table));
	b->cache = calloc(CACHE_SLOTS, sizeof(*b->cache));
	if (!b->nodes || !b->table || !b->cache)
		return -ENOMEM;
	bdd_leaf(b, 0);
	bdd_leaf(b, 1);
	return 0;
}

void bdd_finish(struct bdd *b)
{
	free(b->nodes);
	free(b->table);
	free(b->cache);
	*b = (struct bdd){ 0 };
}

static uint32_t mix(uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t h = ((uint64_t)x << 32 | y) * 0x9e3779b97f4a7c15ULL + z;

	h = (h ^ h >> 32) * 0xff51afd7ed558ccdULL;
	return (uint32_t)(h >> 32);
}

static bool grow(struct bdd *b)
{
	uint32_t cap = b->cap * 2, mask = b->mask * 2 + 1, *table;
	struct bdd_node *nodes;

	if (b->cnt < b->cap)
		return true;
	nodes = realloc(b->nodes, cap * sizeof(*nodes));
	if (!nodes)
		return false;
	b->nodes = nodes;
	table = calloc((size_t)mask + 1, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t i = 0; i < b->cnt; i++) {
		uint32_t slot = mix(nodes[i].var, nodes[i].lo, nodes[i].hi) & mask;

		while (table[slot])
			slot = (slot + 1) & mask;
		table[slot] = i + 1;
	}
	free(b->table);
	b->table = table;
	b->mask = mask;
	b->cap = cap;
	return true;
}

static bdd_ref make(struct bdd *b, uint32_t var, bdd_ref lo, bdd_ref hi)
{
	uint32_t slot = mix(var, lo, hi) & b->mask;

	for (; b->table[slot]; slot = (slot + 1) & b->mask) {
		const struct bdd_node *n = &b->nodes[b->table[slot] - 1];

		if (n->var == var && n->lo == lo && n->hi == hi)
			return b->table[slot] - 1;
	}
	if (b->cnt >= b->limit) {
		b->over = true;
		return BDD_NONE;
	}
	if (b->cnt == b->cap) {
		if (!grow(b)) {
			b->failed = true;
			return BDD_NONE;
		}
		slot = mix(var, lo, hi) & b->mask;
		while (b->table[slot])
			slot = (slot + 1) & b->mask;
	}
	b->nodes[b->cnt] = (struct bdd_node){ var, lo, hi };
	b->table[slot] = b->cnt + 1;
	return b->cnt++;
}

bdd_ref bdd_leaf(struct bdd *b, uint32_t number)
{
	return make(b, BDD_LEAF, number, 0);
}

bdd_ref bdd_var(struct bdd *b, uint32_t var)
{
	return make(b, var, BDD_FALSE, BDD_TRUE);
}

static bdd_ref side(const struct bdd *b, bdd_ref f, uint32_t var, bool value)
{
	const struct bdd_node *n = &b->nodes[f];

	if (n->var != var)
		return f;
	return value ? n->hi : n->lo;
}

static uint32_t top(const struct bdd *b, bdd_ref f)
{
	return b->nodes[f].var;
}

bdd_ref bdd_ite(struct bdd *b, bdd_ref cond, bdd_ref then, bdd_ref otherwise)
{
	struct bdd_cached *cached;
	bdd_ref lo, hi, result;
	uint32_t var;

	if (cond == BDD_NONE || then == BDD_NONE || otherwise == BDD_NONE)
		return BDD_NONE;
	if (cond == BDD_TRUE || then == otherwise)
		return then;
	if (cond == BDD_FALSE)
		return otherwise;
	if (then == BDD_TRUE && otherwise == BDD_FALSE)
		return cond;
	cached = &b->cache[mix(cond, then, otherwise) & (CACHE_SLOTS - 1)];
	/* cond is never 0 here, so that an empty slot never matches. */
	if (cached->cond == cond && cached->then == then && cached->otherwise == otherwise)
		return cached->result;
	var = top(b, cond);
	var = top(b, then) < var ? top(b, then) : var;
	var = top(b, otherwise) < var ? top(b, otherwise) : var;
	lo = bdd_ite(b, side(b, cond, var, false), side(b, then, var, false),
		     side(b, otherwise, var, false));
	hi = bdd_ite(b, side(b, cond, var, true), side(b, then, var, true),
		     side(b, otherwise, var, true));
	if (lo == BDD_NONE || hi == BDD_NONE)
		return BDD_NONE;
	result = lo == hi ? lo : make(b, var, lo, hi);
	if (result != BDD_NONE)
		*cached = (struct bdd_cached){ cond, then, otherwise, result };
	return result;
}

void bdd_difference(const struct bdd *b, bdd_ref f, bdd_ref g,
		    void (*set)(void *arg, uint32_t var, bool value), void *arg)
{
	while (f != g) {
		uint32_t var = top(b, f) < top(b, g) ? top(b, f) : top(b, g);
		bool value;

		if (var == BDD_LEAF)
			return;
		value = side(b, f, var, false) == side(b, g, var, false);
		set(arg, var, value);
		f = side(b, f, var, value);
		g = side(b, g, var, value);
	}
}
