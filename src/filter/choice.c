// SPDX-License-Identifier: GPL-2.0-only
#include "filter/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_SLOTS = 1 << 12, MAX_SEGS = 1 << 18, MAX_PIECES = 1 << 12 };

/* By offset / 4: nr, arch, ip, then each argument's low and high half. */
const uint8_t choice_usual_order[FILTER_WORD_CNT] = { 1, 0,  14, 15, 2, 13, 3, 12,
						      4, 11, 5,	 10, 6, 9,  7, 8 };

int choices_init(struct choices *c, const uint8_t *order)
{
	*c = (struct choices){ .cap = 256, .seg_cap = 1024, .mask = 511, .root = CHOICE_NONE };
	c->nodes = malloc(c->cap * sizeof(*c->nodes));
	c->segs = malloc(c->seg_cap * sizeof(*c->segs));
	c->table = calloc((size_t)c->mask + 1, sizeof(*c->table));
	c->cache = malloc(CACHE_SLOTS * sizeof(*c->cache));
	if (!c->nodes || !c->segs || !c->table || !c->cache)
		return -ENOMEM;
	memset(c->cache, 0xff, CACHE_SLOTS * sizeof(*c->cache));
	memcpy(c->order, order ? order : choice_usual_order, sizeof(c->order));
	return 0;
}

void choices_finish(struct choices *c)
{
	free(c->nodes);
	free(c->segs);
	free(c->table);
	free(c->cache);
	*c = (struct choices){ 0 };
}

static uint32_t mix(uint32_t h, uint32_t x)
{
	return ((h ^ x) * 0x9e3779b1u) ^ h >> 15;
}

static uint32_t hash_of(uint32_t var, uint32_t value, const struct choice_seg *segs, uint32_t cnt)
{
	uint32_t h = mix(var, value);

	for (uint32_t i = 0; i < cnt; i++)
		h = mix(mix(h, segs[i].lo), segs[i].to);
	return h ^ h >> 16;
}

static bool grow(struct choices *c, uint32_t more)
{
	if (c->seg_cnt + more > c->seg_cap) {
		uint32_t cap = (c->seg_cap + more) * 2;
		struct choice_seg *segs = realloc(c->segs, cap * sizeof(*segs));

		if (!segs)
			return false;
		c->segs = segs;
		c->seg_cap = cap;
	}
	if (c->cnt == c->cap) {
		uint32_t cap = c->cap * 2, mask = c->mask * 2 + 1, *table;
		struct choice_node *nodes = realloc(c->nodes, cap * sizeof(*nodes));

		if (!nodes)
			return false;
		c->nodes = nodes;
		table = calloc((size_t)mask + 1, sizeof(*table));
		if (!table)
			return false;
		for (uint32_t i = 0; i < c->cnt; i++) {
			uint32_t slot = hash_of(nodes[i].var, nodes[i].value,
						&c->segs[nodes[i].first], nodes[i].cnt) &
					mask;

			while (table[slot])
				slot = (slot + 1) & mask;
			table[slot] = i + 1;
		}
		free(c->table);
		c->table = table;
		c->mask = mask;
		c->cap = cap;
	}
	return true;
}

/* The node with these contents; segs may not point into c->segs. */
static uint32_t intern(struct choices *c, uint32_t var, uint32_t value,
		       const struct choice_seg *segs, uint32_t cnt)
{
	uint32_t slot;

	if (c->err)
		return CHOICE_NONE;
	if (!grow(c, cnt) || c->seg_cnt > MAX_SEGS) {
		c->err = c->seg_cnt > MAX_SEGS ? -E2BIG : -ENOMEM;
		return CHOICE_NONE;
	}
	slot = hash_of(var, value, segs, cnt) & c->mask;
	for (; c->table[slot]; slot = (slot + 1) & c->mask) {
		const struct choice_node *n = &c->nodes[c->table[slot] - 1];

		if (n->var == var && n->value == value && n->cnt == cnt &&
		    (!cnt || !memcmp(&c->segs[n->first], segs, cnt * sizeof(*segs))))
			return c->table[slot] - 1;
	}
	c->nodes[c->cnt] = (struct choice_node){ var, value, c->seg_cnt, cnt };
	if (cnt)
		memcpy(&c->segs[c->seg_cnt], segs, cnt * sizeof(*segs));
	c->seg_cnt += cnt;
	c->table[slot] = c->cnt + 1;
	return c->cnt++;
}

uint32_t choice_leaf(struct choices *c, uint32_t value)
{
	return intern(c, CHOICE_LEAF, value, NULL, 0);
}

uint32_t choice_var_of(struct choices *c, uint32_t offset, uint32_t mask)
{
	uint32_t i = 0, rank = (uint32_t)c->order[offset / 4] * CHOICE_VARS;

	while (i < c->var_cnt && (c->vars[i].offset != offset || c->vars[i].mask != mask))
		i++;
	if (i == CHOICE_VARS) {
		c->err = -E2BIG;
		return 0;
	}
	if (i == c->var_cnt) {
		/* The whole word first: it is in A then. */
		if (mask != UINT32_MAX)
			rank += 1 + i;
		c->vars[c->var_cnt++] = (struct choice_var){ offset, mask, rank };
	}
	return i;
}

/* Segments that are being put together: neighbours that lead to the same are one. */
struct pieces {
	struct choice_seg *seg;
	uint32_t cnt;
};

static void append(struct choices *c, struct pieces *p, uint32_t lo, uint32_t to)
{
	if (to == CHOICE_NONE || (p->cnt && p->seg[p->cnt - 1].to == to))
		return;
	if (p->cnt == MAX_PIECES) {
		c->err = -E2BIG;
		return;
	}
	p->seg[p->cnt++] = (struct choice_seg){ lo, to };
}

static uint32_t finish(struct choices *c, uint32_t var, struct pieces *p)
{
	if (c->err || !p->cnt)
		return CHOICE_NONE;
	if (p->cnt == 1)
		return p->seg[0].to;
	return intern(c, var, 0, p->seg, p->cnt);
}

static uint32_t rank_of(const struct choices *c, uint32_t node)
{
	uint32_t var = c->nodes[node].var;

	return var == CHOICE_LEAF ? UINT32_MAX : c->vars[var].rank;
}

/* A node seen as segments of var: its own, or a single one. */
struct view {
	const struct choices *c;
	uint32_t first, cnt, at, node;
};

static struct view view_of(const struct choices *c, uint32_t node, uint32_t var)
{
	const struct choice_node *n = &c->nodes[node];

	if (n->var != var)
		return (struct view){ c, 0, 1, 0, node };
	return (struct view){ c, n->first, n->cnt, 0, CHOICE_NONE };
}

static uint32_t view_to(const struct view *v)
{
	return v->node != CHOICE_NONE ? v->node : v->c->segs[v->first + v->at].to;
}

/* Where the segment at hand ends: the first value behind it. */
static uint64_t view_end(const struct view *v)
{
	return v->at + 1 < v->cnt ? v->c->segs[v->first + v->at + 1].lo : UINT64_C(1) << 32;
}

static void view_go(struct view *v, uint64_t lo)
{
	while (view_end(v) <= lo)
		v->at++;
}

/* The variable is the one that both ask first, or asked before what they ask. */
static uint32_t splice(struct choices *c, uint32_t var, uint32_t lo, uint32_t hi, uint32_t in,
		       uint32_t out)
{
	struct choice_seg seg[MAX_PIECES];
	struct pieces p = { seg, 0 };
	struct view inside = view_of(c, in, var), outside = view_of(c, out, var);
	uint64_t at = 0;

	while (at < UINT64_C(1) << 32) {
		bool is_in = at >= lo && at <= hi;
		struct view *v = is_in ? &inside : &outside;
		uint64_t end;

		view_go(v, at);
		append(c, &p, (uint32_t)at, view_to(v));
		end = view_end(v);
		if (is_in && end > (uint64_t)hi + 1)
			end = (uint64_t)hi + 1;
		if (at < lo && end > lo)
			end = lo;
		at = end;
	}
	return finish(c, var, &p);
}

/* Something else is asked before the variable: for each of its values apart. */
static uint32_t descend(struct choices *c, uint32_t first, uint32_t var, uint32_t lo, uint32_t hi,
			uint32_t in, uint32_t out)
{
	struct choice_seg *seg = malloc(MAX_PIECES * sizeof(*seg));
	struct pieces p = { seg, 0 };
	struct view inside = view_of(c, in, first), outside = view_of(c, out, first);
	uint64_t at = 0;
	uint32_t result;

	if (!seg) {
		c->err = -ENOMEM;
		return CHOICE_NONE;
	}
	while (at < UINT64_C(1) << 32 && !c->err) {
		uint64_t end;

		view_go(&inside, at);
		view_go(&outside, at);
		append(c, &p, (uint32_t)at,
		       choice_select(c, var, lo, hi, view_to(&inside), view_to(&outside)));
		end = view_end(&inside);
		at = end < view_end(&outside) ? end : view_end(&outside);
	}
	result = finish(c, first, &p);
	free(seg);
	return result;
}

uint32_t choice_select(struct choices *c, uint32_t var, uint32_t lo, uint32_t hi, uint32_t in,
		       uint32_t out)
{
	struct choice_cached *cached;
	uint32_t first, result;

	if (c->err || in == CHOICE_NONE || out == CHOICE_NONE)
		return CHOICE_NONE;
	if (in == out)
		return in;
	cached = &c->cache[mix(mix(mix(mix(var, lo), hi), in), out) % CACHE_SLOTS];
	if (cached->var == var && cached->lo == lo && cached->hi == hi && cached->in == in &&
	    cached->out == out)
		return cached->result;
	first = rank_of(c, in) < rank_of(c, out) ? in : out;
	if (rank_of(c, first) >= c->vars[var].rank)
		result = splice(c, var, lo, hi, in, out);
	else
		result = descend(c, c->nodes[first].var, var, lo, hi, in, out);
	if (result != CHOICE_NONE)
		*cached = (struct choice_cached){ var, lo, hi, in, out, result };
	return result;
}
