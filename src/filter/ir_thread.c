// SPDX-License-Identifier: GPL-2.0-only
#include "filter/ir_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/ir_value.h"

enum { LIVE_A = 1, LIVE_X = 2 };

/* More rounds than this have not been seen to find anything. */
enum { MAX_ROUNDS = 12 };

struct threader {
	struct filter_ir *ir;
	enum loupe_filter_flavour flavour;
	uint32_t what;
	struct ir_values values;
	uint8_t *live;	 /* by node: registers whose value matters where it starts */
	uint32_t *known; /* by node: index into pool + 1, 0: no way here so far */
	struct ir_known *pool;
	uint32_t pool_cnt, pool_cap;
	uint32_t *unused; /* indices into pool */
	uint32_t unused_cnt;
	uint32_t changes;
};

static uint8_t live_before(const struct filter_ir_node *n, uint8_t t, uint8_t f, bool scratch)
{
	bool by_x = BPF_SRC(n->code) == BPF_X;

	switch (filter_opcode_of(n->code)->form) {
	case FORM_ABS:
	case FORM_IMM:
	case FORM_LEN:
	case FORM_MSH:
	case FORM_MEM:
		return t & (uint8_t)(BPF_CLASS(n->code) == BPF_LDX ? ~LIVE_X : ~LIVE_A);
	case FORM_IND:
		return (uint8_t)((t & ~LIVE_A) | LIVE_X);
	case FORM_ST:
		if (!scratch)
			return t;
		return t | (BPF_CLASS(n->code) == BPF_STX ? LIVE_X : LIVE_A);
	case FORM_MISC:
		if (n->code == (BPF_MISC | BPF_TAX))
			return t & LIVE_X ? LIVE_A : t;
		return t & LIVE_A ? LIVE_X : t;
	case FORM_ALU_X:
		return t | LIVE_A | LIVE_X;
	case FORM_ALU_K:
	case FORM_NEG:
		return t | LIVE_A;
	case FORM_JMP_K:
	case FORM_JMP_X:
		return (uint8_t)(t | f | LIVE_A | (by_x ? LIVE_X : 0));
	case FORM_RET_A:
		return LIVE_A;
	case FORM_RET_K:
		return 0;
	default:
		return t;
	}
}

static void find_live(struct threader *w)
{
	for (uint32_t i = 0; i < w->ir->cnt; i++) {
		const struct filter_ir_node *n = &w->ir->nodes[i];

		w->live[i] = live_before(n, n->t == FILTER_IR_NONE ? 0 : w->live[n->t],
					 n->f == FILTER_IR_NONE ? 0 : w->live[n->f],
					 w->values.scratch);
	}
}

/* What a way was led over, the most telling of it. */
static void note(struct filter_ir_why *why, enum filter_ir_reason reason, uint32_t at)
{
	if (why->reason == FILTER_IR_DECIDED && reason != FILTER_IR_DECIDED)
		return;
	why->reason = (uint8_t)reason;
	why->at = at;
}

/*
 * Where a way to node may lead instead. It walks on with the values that A and X would have; the
 * way may end wherever those that matter are the ones that A and X do have.
 */
static uint32_t follow(struct threader *w, uint32_t node, const struct ir_known *known,
		       struct filter_ir_why *why)
{
	struct filter_ir_why so_far = *why;
	uint32_t a = known->a, x = known->x, land = node, m[BPF_MEMWORDS];

	if (w->values.scratch)
		memcpy(m, known->m, sizeof(m));
	for (;;) {
		const struct filter_ir_node *n = &w->ir->nodes[node];
		uint32_t was_a = a, was_x = x;

		if (node != land && (a == known->a || !(w->live[node] & LIVE_A)) &&
		    (x == known->x || !(w->live[node] & LIVE_X))) {
			land = node;
			*why = so_far;
		}
		if (n->f != FILTER_IR_NONE) {
			enum ir_outcome outcome = IR_OPEN;

			if (w->what & FILTER_THREAD_TESTS)
				outcome = ir_value_decide(&w->values, known, n, a, x);
			if (outcome == IR_OPEN)
				return land;
			note(&so_far, FILTER_IR_DECIDED, n->origin);
			node = outcome == IR_TRUE ? n->t : n->f;
			continue;
		}
		if (n->t == FILTER_IR_NONE || !(w->what & FILTER_THREAD_LOADS) ||
		    !ir_value_step(&w->values, w->flavour, n, node, &a, &x, m))
			return land;
		note(&so_far, a == was_a && x == was_x ? FILTER_IR_HELD : FILTER_IR_UNUSED,
		     n->origin);
		node = n->t;
	}
}

/* Room for what is known at a node; NULL when memory ran out. */
static struct ir_known *take(struct threader *w, uint32_t *index)
{
	if (w->unused_cnt) {
		*index = w->unused[--w->unused_cnt];
		return &w->pool[*index];
	}
	if (w->pool_cnt == w->pool_cap) {
		uint32_t cap = w->pool_cap * 2 + 32;
		struct ir_known *pool = realloc(w->pool, cap * sizeof(*pool));
		uint32_t *unused;

		if (!pool)
			return NULL;
		w->pool = pool;
		unused = realloc(w->unused, cap * sizeof(*unused));
		if (!unused)
			return NULL;
		w->unused = unused;
		w->pool_cap = cap;
	}
	*index = w->pool_cnt++;
	return &w->pool[*index];
}

static void copy_known(struct ir_known *to, const struct ir_known *from)
{
	to->a = from->a;
	to->x = from->x;
	to->range_cnt = from->range_cnt;
	memcpy(to->m, from->m, sizeof(to->m));
	to->other_cnt = from->other_cnt;
	memcpy(to->range, from->range, from->range_cnt * sizeof(from->range[0]));
	memcpy(to->other, from->other, from->other_cnt * sizeof(from->other[0]));
}

/* Leads one way on and tells where it ends what is known. -ENOMEM */
static int lead(struct threader *w, uint32_t *target, struct filter_ir_why *why,
		const struct ir_known *known)
{
	uint32_t to = follow(w, *target, known, why), index;
	struct ir_known *there;

	if (to != *target)
		w->changes++;
	*target = to;
	if (w->ir->nodes[to].t == FILTER_IR_NONE) {
		w->known[to] = 1;
		return 0;
	}
	if (w->known[to]) {
		ir_value_meet(&w->values, &w->pool[w->known[to] - 1], known, to);
		return 0;
	}
	there = take(w, &index);
	if (!there)
		return -ENOMEM;
	copy_known(there, known);
	w->known[to] = index + 1;
	return 0;
}

/* What was stored is loaded where it is read, if it is a word of the call or a constant. */
static void reload(struct threader *w, struct filter_ir_node *n, const struct ir_known *known)
{
	bool to_x = BPF_CLASS(n->code) == BPF_LDX;
	struct ir_value value;

	if (filter_opcode_of(n->code)->form != FORM_MEM)
		return;
	value = w->values.list[known->m[n->k]];
	if (value.how == IR_VALUE_CONST)
		n->code = (to_x ? BPF_LDX : BPF_LD) | BPF_IMM;
	else if (value.how == FILTER_LD_WORD && !to_x)
		n->code = FILTER_LD_WORD;
	else
		return;
	n->k = value.a;
	w->changes++;
}

static int visit(struct threader *w, uint32_t node)
{
	struct filter_ir_node *n = &w->ir->nodes[node];
	struct ir_known known, side;
	int err;

	if (n->t == FILTER_IR_NONE)
		return 0;
	copy_known(&known, &w->pool[w->known[node] - 1]);
	w->unused[w->unused_cnt++] = w->known[node] - 1;
	if (n->f == FILTER_IR_NONE) {
		if (w->what & FILTER_THREAD_RELOADS)
			reload(w, n, &known);
		ir_value_step(&w->values, w->flavour, n, node, &known.a, &known.x, known.m);
		return lead(w, &n->t, &n->why[0], &known);
	}
	copy_known(&side, &known);
	ir_value_learn(&w->values, &side, n, IR_TRUE);
	err = lead(w, &n->t, &n->why[0], &side);
	if (err)
		return err;
	ir_value_learn(&w->values, &known, n, IR_FALSE);
	return lead(w, &n->f, &n->why[1], &known);
}

/* Makes the graph anew from what can still be reached. */
static int remake(struct filter_ir *ir, const uint32_t *reached)
{
	struct filter_ir to;
	uint32_t *made = malloc(ir->cnt * sizeof(*made));
	int err = made ? filter_ir_init(&to, ir->cnt) : -ENOMEM;

	if (!err) {
		for (uint32_t i = 0; i <= ir->entry; i++) {
			const struct filter_ir_node *n = &ir->nodes[i];

			if (!reached[i])
				continue;
			made[i] =
				filter_ir_remake(&to, n, n->t == FILTER_IR_NONE ? n->t : made[n->t],
						 n->f == FILTER_IR_NONE ? n->f : made[n->f]);
			if (to.failed)
				break;
		}
		to.entry = to.failed ? FILTER_IR_NONE : made[ir->entry];
		err = to.failed ? -ENOMEM : 0;
		if (err) {
			filter_ir_finish(&to);
		} else {
			filter_ir_finish(ir);
			*ir = to;
		}
	}
	free(made);
	return err;
}

bool filter_ir_reads_scratch(const struct filter_ir *ir)
{
	for (uint32_t i = 0; i < ir->cnt; i++) {
		if (filter_opcode_of(ir->nodes[i].code)->form == FORM_MEM)
			return true;
	}
	return false;
}

/* One round over the graph; 1 when something changed. */
static int thread_once(struct threader *w)
{
	struct ir_known start = { 0 };
	struct filter_ir_why why = { 0 };
	uint32_t before = w->ir->cnt;
	int err = ir_values_init(&w->values);

	if (err)
		return err;
	w->values.scratch = filter_ir_reads_scratch(w->ir);
	w->changes = w->pool_cnt = w->unused_cnt = 0;
	memset(w->known, 0, w->ir->cnt * sizeof(*w->known));
	find_live(w);
	start.a = start.x = ir_value_of(&w->values, IR_VALUE_CONST, 0, 0);
	/* A valid program writes scratch memory first. */
	for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
		start.m[i] = start.a;
	err = lead(w, &w->ir->entry, &why, &start);
	for (uint32_t i = w->ir->entry + 1; !err && i--;) {
		if (w->known[i])
			err = visit(w, i);
	}
	if (!err && w->values.failed)
		err = -ENOMEM;
	ir_values_finish(&w->values);
	if (!err)
		err = remake(w->ir, w->known);
	return err ? err : w->changes || w->ir->cnt != before;
}

int filter_ir_thread(struct filter_ir *ir, enum loupe_filter_flavour flavour, uint32_t what)
{
	struct threader w = {
		.ir = ir,
		.flavour = flavour,
		.what = what,
		.live = malloc(ir->cnt),
		.known = malloc(ir->cnt * sizeof(*w.known)),
	};
	int again = w.live && w.known ? 1 : -ENOMEM;

	for (int i = 0; i < MAX_ROUNDS && again > 0; i++)
		again = thread_once(&w);
	free(w.live);
	free(w.known);
	free(w.pool);
	free(w.unused);
	return again < 0 ? again : 0;
}
