// SPDX-License-Identifier: GPL-2.0-only
/* What a trace is too small to keep: found by verifying again up to where it happened. */
#include <errno.h>

#include "trace/store.h"

struct replay {
	uint32_t step, nth; /* what is looked for */
	uint32_t steps;	    /* arrivals so far */
	uint32_t walks;	    /* demands of that step so far */
	bool in_walk, found, failed;
	TRACE_VEC(struct loupe_hop) hops;
};

static bool wanted(const struct replay *r)
{
	return r->steps == r->step + 1 && r->in_walk && r->walks == r->nth + 1 && !r->failed;
}

static void add(struct replay *r, enum loupe_hop_kind kind, int32_t insn,
		const struct loupe_state *st, const struct loupe_masks *masks)
{
	struct loupe_hop *hop;

	if (!wanted(r))
		return;
	hop = TRACE_PUSH(&r->hops);
	if (!hop) {
		r->failed = true;
		return;
	}
	*hop = (struct loupe_hop){
		.kind = kind,
		.insn_idx = st ? st->insn_idx : insn,
		.serial = st ? (uint32_t)st->serial : 0,
		.masks = *masks,
	};
}

static void on_arrive(void *ctx, const struct loupe_step *step)
{
	(void)step;
	((struct replay *)ctx)->steps++;
}

/* A walk over several states begins at each of them, and ends once. */
static void on_walk_begin(void *ctx, uint32_t frameno, int32_t last, int32_t first, int32_t subseq)
{
	struct replay *r = ctx;

	(void)frameno;
	(void)last;
	(void)first;
	(void)subseq;
	if (r->steps != r->step + 1 || r->in_walk)
		return;
	r->in_walk = true;
	r->walks++;
	r->found |= r->walks == r->nth + 1;
}

static void on_walk_end(void *ctx)
{
	((struct replay *)ctx)->in_walk = false;
}

static void on_walk_hop(void *ctx, const struct loupe_masks *masks, int32_t insn_idx)
{
	add(ctx, LOUPE_HOP_INSN, insn_idx, NULL, masks);
}

static void on_walk_parent(void *ctx, const struct loupe_masks *masks, const struct loupe_state *st)
{
	add(ctx, LOUPE_HOP_PARENT, -1, st, masks);
}

static void on_mark_precise(void *ctx, const struct loupe_state *st,
			    const struct loupe_masks *masks)
{
	struct replay *r = ctx;
	struct loupe_hop *last = r->hops.cnt ? &r->hops.at[r->hops.cnt - 1] : NULL;

	/* marks come one by one */
	if (wanted(r) && last && last->kind == LOUPE_HOP_MARK && last->serial == st->serial &&
	    last->masks.frameno == masks->frameno) {
		last->masks.regs |= masks->regs;
		last->masks.stack |= masks->stack;
		return;
	}
	add(r, LOUPE_HOP_MARK, -1, st, masks);
}

static const struct loupe_hooks hooks = {
	.arrive = on_arrive,
	.mark_precise = on_mark_precise,
	.walk_begin = on_walk_begin,
	.walk_hop = on_walk_hop,
	.walk_parent = on_walk_parent,
	.walk_end = on_walk_end,
};

int loupe_replay_walk(const struct loupe_image *image, const struct loupe_verify_opts *opts,
		      uint32_t step, uint32_t nth, struct loupe_hop **hops, uint32_t *cnt)
{
	struct replay r = { .step = step, .nth = nth };
	struct loupe_verify_result result;
	struct loupe_verify_opts own;
	int err;

	*hops = NULL;
	*cnt = 0;
	if (opts)
		own = *opts;
	else
		loupe_verify_opts_init(&own);
	own.listeners[0] = (struct loupe_listener){ &hooks, &r };
	own.listener_cnt = 1;
	if (step < own.insn_limit - 2)
		own.insn_limit = step + 2;
	err = loupe_verify(image, &own, &result);
	if (!err) {
		if (r.failed)
			err = -ENOMEM;
		else if (!r.found)
			err = result.verdict == LOUPE_STOPPED ? -ECANCELED : -ENOENT;
		loupe_verify_result_finish(&result);
	}
	if (err) {
		TRACE_FREE(&r.hops);
		return err;
	}
	/* callers free() it: what a vector takes may be a mapping */
	*hops = malloc((r.hops.cnt + 1) * sizeof(**hops));
	if (*hops && r.hops.cnt)
		memcpy(*hops, r.hops.at, r.hops.cnt * sizeof(**hops));
	*cnt = (uint32_t)r.hops.cnt;
	TRACE_FREE(&r.hops);
	return *hops ? 0 : -ENOMEM;
}
