// SPDX-License-Identifier: GPL-2.0-only
/*
 * From graph to program. Every way leads forward, so the program is written from its end: when an
 * instruction is written, the distance to everything that it leads to is known.
 */
#include "filter/ir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Farthest that a conditional jump reaches. */
#define REACH 255u

enum { UNREACHED, TO_WRITE, WRITTEN };

struct writer {
	const struct filter_ir *ir;
	struct filter_ir_item *items; /* last instruction first */
	uint32_t cnt, cap;
	uint32_t *at;	  /* by node: its place in items */
	uint32_t *near;	  /* by node: newest place that does what it does */
	uint32_t *before; /* by node: the nearest load or ALU instruction that it follows */
	uint8_t *state;	  /* by node: enum */
	bool failed;
};

static void write_item(struct writer *w, struct filter_ir_item item)
{
	if (w->cnt == w->cap) {
		uint32_t cap = w->cap * 2;
		struct filter_ir_item *items = realloc(w->items, cap * sizeof(*items));

		if (!items) {
			w->failed = true;
			return;
		}
		w->items = items;
		w->cap = cap;
	}
	w->items[w->cnt++] = item;
}

/* Writes something that does what node does right before what was written last. */
static void write_stand_in(struct writer *w, uint32_t node)
{
	const struct filter_ir_node *n = &w->ir->nodes[node];
	struct filter_ir_item item = { .node = FILTER_IR_NONE, .jt = LOUPE_NONE, .jf = LOUPE_NONE };

	if (filter_is_ret(n->code)) {
		item.node = node;
		item.copy = true;
		item.insn = (struct loupe_cbpf_insn){ n->code, 0, 0, n->k };
		w->at[node] = w->cnt;
	} else {
		item.insn.code = BPF_JMP | BPF_JA;
		item.jt = w->at[node];
	}
	w->near[node] = w->cnt;
	write_item(w, item);
}

/* The place to jump to for node: itself, or what stands in for it; false: both are too far. */
static bool in_reach(const struct writer *w, uint32_t node, uint32_t *place)
{
	*place = w->at[node];
	if (w->cnt - *place - 1 > REACH)
		*place = w->near[node];
	return w->cnt - *place - 1 <= REACH;
}

/*
 * What follows a load stands elsewhere. A test can stand here once more: as long as a jump to it,
 * and one instruction less on the way.
 */
static void write_follower(struct writer *w, uint32_t node)
{
	const struct filter_ir_node *n = &w->ir->nodes[node];
	struct filter_ir_item item = { .node = node, .copy = true };

	if (n->f == FILTER_IR_NONE || !in_reach(w, n->t, &item.jt) ||
	    !in_reach(w, n->f, &item.jf)) {
		write_stand_in(w, node);
		return;
	}
	item.insn = (struct loupe_cbpf_insn){ n->code, 0, 0, n->k };
	w->near[node] = w->cnt;
	write_item(w, item);
}

static void write_node(struct writer *w, uint32_t node)
{
	const struct filter_ir_node *n = &w->ir->nodes[node];
	struct filter_ir_item item = { .node = node, .jt = LOUPE_NONE, .jf = LOUPE_NONE };

	item.insn = (struct loupe_cbpf_insn){ n->code, 0, 0, n->k };
	if (n->f != FILTER_IR_NONE) {
		/* A stand-in for one moves the other away by one. */
		while (!w->failed) {
			bool t = in_reach(w, n->t, &item.jt), f = in_reach(w, n->f, &item.jf);

			if (t && f)
				break;
			write_stand_in(w, t ? n->f : n->t);
		}
	} else if (n->t != FILTER_IR_NONE && w->at[n->t] + 1 != w->cnt) {
		write_follower(w, n->t);
	}
	w->at[node] = w->near[node] = w->cnt;
	w->state[node] = WRITTEN;
	write_item(w, item);
}

static void link_plain(struct writer *w)
{
	const struct filter_ir *ir = w->ir;

	/* Descending, so that the nearest remains. */
	for (uint32_t i = ir->entry + 1; i--;) {
		const struct filter_ir_node *n = &ir->nodes[i];

		if (w->state[i] && n->t != FILTER_IR_NONE && n->f == FILTER_IR_NONE)
			w->before[n->t] = i;
	}
}

static void mark_reached(struct writer *w)
{
	const struct filter_ir *ir = w->ir;

	w->state[ir->entry] = TO_WRITE;
	for (uint32_t i = ir->entry + 1; i--;) {
		const struct filter_ir_node *n = &ir->nodes[i];

		if (!w->state[i])
			continue;
		if (n->t != FILTER_IR_NONE)
			w->state[n->t] = TO_WRITE;
		if (n->f != FILTER_IR_NONE)
			w->state[n->f] = TO_WRITE;
	}
}

static void write_all(struct writer *w)
{
	for (uint32_t i = 0; i <= w->ir->entry && !w->failed; i++) {
		uint32_t next = i;

		while (next != FILTER_IR_NONE && w->state[next] == TO_WRITE) {
			write_node(w, next);
			next = w->before[next];
		}
	}
}

/* Turns the order round and fills in distances. */
static void turn_round(struct writer *w)
{
	uint32_t last = w->cnt - 1;

	for (uint32_t i = 0; i < w->cnt - 1 - i; i++) {
		struct filter_ir_item item = w->items[i];

		w->items[i] = w->items[last - i];
		w->items[last - i] = item;
	}
	for (uint32_t i = 0; i < w->cnt; i++) {
		struct filter_ir_item *item = &w->items[i];

		if (item->jt == LOUPE_NONE)
			continue;
		item->jt = last - item->jt;
		if (item->jf == LOUPE_NONE) {
			item->insn.k = item->jt - i - 1;
			continue;
		}
		item->jf = last - item->jf;
		item->insn.jt = (uint8_t)(item->jt - i - 1);
		item->insn.jf = (uint8_t)(item->jf - i - 1);
	}
}

int filter_ir_encode(const struct filter_ir *ir, struct filter_ir_code *out)
{
	struct writer w = {
		.ir = ir,
		.cap = ir->cnt + 16,
		.at = malloc(ir->cnt * sizeof(*w.at)),
		.before = malloc(ir->cnt * sizeof(*w.before)),
		.near = malloc(ir->cnt * sizeof(*w.near)),
		.state = calloc(ir->cnt, 1),
	};

	w.items = malloc(w.cap * sizeof(*w.items));
	w.failed = !w.items || !w.at || !w.before || !w.near || !w.state;
	if (!w.failed) {
		memset(w.before, 0xff, ir->cnt * sizeof(*w.before));
		mark_reached(&w);
		link_plain(&w);
		write_all(&w);
	}
	if (!w.failed)
		turn_round(&w);
	free(w.at);
	free(w.before);
	free(w.near);
	free(w.state);
	if (w.failed) {
		free(w.items);
		*out = (struct filter_ir_code){ 0 };
		return -ENOMEM;
	}
	*out = (struct filter_ir_code){ w.items, w.cnt };
	return 0;
}
