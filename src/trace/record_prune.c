// SPDX-License-Identifier: GPL-2.0-only
/* The recorder's hooks for checkpoints, comparisons, precision and loops. */
#include "trace/store.h"

void trace_prune_rec_finish(struct trace_prune_rec *rec)
{
	free(rec->code_table);
	free(rec->chain_table);
	memset(rec, 0, sizeof(*rec));
}

static struct trace_checkpoint *checkpoint_of(struct loupe_trace *t, const struct loupe_state *st)
{
	if (!st || !st->serial || st->serial > t->checkpoints.cnt)
		return NULL;
	return &t->checkpoints.at[st->serial - 1];
}

/* --- checkpoints ---------------------------------------------------------------------------- */

void trace_on_checkpoint(void *ctx, const struct loupe_state *st, int32_t insn_idx)
{
	struct loupe_trace *t = ctx;
	const struct trace_checkpoint *parent;
	struct trace_checkpoint *c;

	if (t->failed || !t->step_cnt || (uint32_t)insn_idx >= t->insn_cnt)
		return;
	c = st->serial == t->checkpoints.cnt + 1 ? TRACE_PUSH(&t->checkpoints) : NULL;
	if (!c) {
		t->failed = true;
		return;
	}
	parent = checkpoint_of(t, st->parent);
	*c = (struct trace_checkpoint){
		.born = t->step_cnt - 1,
		.insn_idx = insn_idx,
		.parent = parent ? (uint32_t)st->parent->serial : 0,
		.evicted = LOUPE_NO_STEP,
		.freed = LOUPE_NO_STEP,
		.mark = TRACE_NONE,
		.last_insn = (int32_t)st->last_insn_idx,
		.first_insn = (int32_t)st->first_insn_idx,
	};
	t->insn[insn_idx].checkpoints++;
	trace_flag(t, LOUPE_STEP_CHECKPOINT);
}

void trace_on_evict(void *ctx, const struct loupe_state *st, uint32_t hits, uint32_t misses)
{
	struct loupe_trace *t = ctx;
	struct trace_checkpoint *c = checkpoint_of(t, st);
	struct trace_evict_rec *row;

	if (t->failed || !c)
		return;
	row = TRACE_PUSH(&t->evicts);
	if (!row) {
		t->failed = true;
		return;
	}
	*row = (struct trace_evict_rec){ trace_now(t), (uint32_t)st->serial, hits, misses };
	c->evicted = row->step;
	c->evict_hits = hits;
	c->evict_misses = misses;
	t->insn[c->insn_idx].evicted++;
	trace_flag(t, LOUPE_STEP_EVICT);
}

void trace_on_state_free(void *ctx, const struct loupe_state *st)
{
	struct loupe_trace *t = ctx;
	struct trace_checkpoint *c = checkpoint_of(t, st);

	if (!t->failed && c)
		c->freed = trace_now(t);
}

static struct trace_mark_rec *add_mark(struct loupe_trace *t, const struct loupe_state *st,
				       uint32_t frameno, uint32_t regs, uint64_t slots)
{
	struct trace_mark_rec *row = TRACE_PUSH(&t->marks);
	struct trace_checkpoint *c = checkpoint_of(t, st);

	if (!row) {
		t->failed = true;
		return NULL;
	}
	*row = (struct trace_mark_rec){
		.slots_lo = (uint32_t)slots,
		.slots_hi = (uint32_t)(slots >> 32),
		.serial = (uint32_t)st->serial,
		.prev = c->mark,
		.step = trace_now(t),
		.walk = TRACE_NONE,
		.compare = (uint32_t)t->compare_cnt,
		.regs = (uint16_t)regs,
		.frameno = (uint8_t)frameno,
	};
	c->mark = (uint32_t)t->marks.cnt - 1;
	return row;
}

void trace_on_clean(void *ctx, const struct loupe_state *st)
{
	static const uint8_t invalid[LOUPE_REG_SIZE]; /* STACK_INVALID is 0 */
	struct loupe_trace *t = ctx;

	if (t->failed || !checkpoint_of(t, st))
		return;
	for (uint32_t f = 0; f <= st->curframe; f++) {
		const struct loupe_frame *frame = st->frame[f];
		struct trace_mark_rec *row;
		uint8_t kind = MARK_CLEAN;
		uint32_t regs = 0;
		uint64_t slots = 0;

		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
			if (frame->regs[r].type != NOT_INIT)
				continue;
			regs |= 1u << r;
			if (frame->regs[r].precise)
				kind |= MARK_CLEAN_PRECISE;
		}
		for (uint32_t s = 0; s < frame->slot_cnt; s++) {
			if (!memcmp(frame->stack->slot[s].type, invalid, sizeof(invalid)))
				slots |= 1ull << s;
		}
		row = add_mark(t, st, f, regs, slots);
		if (!row)
			return;
		row->kind = kind;
	}
}

/* --- comparisons ---------------------------------------------------------------------------- */

static uint32_t pack(const struct loupe_compare *cmp)
{
	const struct loupe_diff *diff = &cmp->diff;
	uint32_t word = (uint32_t)cmp->mode | (uint32_t)cmp->outcome << CMP_OUTCOME_SHIFT,
		 place = 0;

	if (diff->kind == LOUPE_DIFF_NONE)
		return word;
	if (diff->reg >= 0)
		place = 1 + (uint32_t)diff->reg;
	else if (diff->spi >= 0)
		place = 1 + LOUPE_MAX_REG + (uint32_t)diff->spi;
	return word | (uint32_t)diff->kind << CMP_DIFF_SHIFT |
	       (diff->frameno & 7) << CMP_FRAME_SHIFT | (place & 127) << CMP_PLACE_SHIFT;
}

/* Where the table holds word's number, or may hold it. */
static uint16_t *code_place(const struct loupe_trace *t, const struct trace_prune_rec *rec,
			    uint32_t word)
{
	uint32_t at = word * 0x9e3779b1u >> 8 & (rec->code_cap - 1);

	while (rec->code_table[at] && t->compare_codes.at[rec->code_table[at] - 1] != word)
		at = (at + 1) & (rec->code_cap - 1);
	return &rec->code_table[at];
}

static bool grow_code_table(const struct loupe_trace *t, struct trace_prune_rec *rec)
{
	uint32_t cap = rec->code_cap ? rec->code_cap * 2 : 128;
	uint16_t *table = calloc(cap, sizeof(*table));

	if (!table)
		return false;
	free(rec->code_table);
	rec->code_table = table;
	rec->code_cap = cap;
	for (uint32_t i = 0; i < t->compare_codes.cnt; i++)
		*code_place(t, rec, t->compare_codes.at[i]) = (uint16_t)(i + 1);
	return true;
}

/* Number of a meaning; meanings are numbered as they turn up, so that common ones take one byte. */
static bool code_of(struct loupe_trace *t, uint32_t word, uint32_t *code)
{
	struct trace_prune_rec *rec = &t->prune;
	uint16_t *place;
	uint32_t *out;

	if (t->compare_codes.cnt * 2 >= rec->code_cap && !grow_code_table(t, rec))
		return false;
	place = code_place(t, rec, word);
	if (!*place) {
		out = t->compare_codes.cnt < UINT16_MAX ? TRACE_PUSH(&t->compare_codes) : NULL;
		if (!out)
			return false;
		*out = word;
		*place = (uint16_t)t->compare_codes.cnt;
	}
	*code = *place - 1u;
	return true;
}

static uint8_t *put_code(uint8_t *at, uint32_t code)
{
	if (code < CMP_CODE_ESCAPE) {
		*at++ = (uint8_t)code;
		return at;
	}
	*at++ = CMP_CODE_ESCAPE;
	*at++ = (uint8_t)code;
	*at++ = (uint8_t)(code >> 8);
	return at;
}

/* Zigzag, 7 bits a byte. */
static uint8_t *put_delta(uint8_t *at, int32_t delta)
{
	uint32_t v = (uint32_t)delta << 1 ^ (uint32_t)(delta >> 31);

	for (; v > 127; v >>= 7)
		*at++ = (uint8_t)(v | 128);
	*at++ = (uint8_t)v;
	return at;
}

static bool open_run(struct loupe_trace *t)
{
	struct trace_run *run = TRACE_PUSH(&t->runs);
	uint8_t *outcomes = TRACE_PUSH(&t->run_outcomes);

	if (!run || !outcomes)
		return false;
	*outcomes = 0;
	*run = (struct trace_run){ .step = t->step_cnt - 1,
				   .first = (uint32_t)t->compare_cnt,
				   .at = (uint32_t)t->compare_bytes.cnt };
	t->prune.last_serial = 0;
	trace_flag(t, LOUPE_STEP_COMPARE);
	return true;
}

void trace_on_compare(void *ctx, const struct loupe_compare *cmp)
{
	struct loupe_trace *t = ctx;
	uint32_t serial = (uint32_t)cmp->old->serial, code;
	uint8_t *at;

	if (t->failed || !serial || serial > t->checkpoints.cnt || !t->step_cnt ||
	    t->compare_cnt == UINT32_MAX)
		return;
	t->failed = true;
	if ((!t->runs.cnt || t->runs.at[t->runs.cnt - 1].step != t->step_cnt - 1) && !open_run(t))
		return;
	if (!code_of(t, pack(cmp), &code) || !TRACE_ROOM(&t->compare_bytes, 8) ||
	    t->compare_bytes.cnt > UINT32_MAX - 8)
		return;
	/* Counters are left to the end, when the comparisons are read in order. */
	at = put_code(&t->compare_bytes.at[t->compare_bytes.cnt], code);
	at = put_delta(at, (int32_t)(t->prune.last_serial - 1 - serial));
	t->compare_bytes.cnt = (size_t)(at - t->compare_bytes.at);
	t->run_outcomes.at[t->runs.cnt - 1] |= (uint8_t)(1u << cmp->outcome);
	t->prune.last_serial = serial;
	t->compare_cnt++;
	t->failed = false;
}

/* --- precision ------------------------------------------------------------------------------ */

static struct trace_walk_rec *open_walk(struct loupe_trace *t)
{
	return t->walks.cnt && t->prune.in_walk ? &t->walks.at[t->walks.cnt - 1] : NULL;
}

void trace_on_mark_precise(void *ctx, const struct loupe_state *st, const struct loupe_masks *masks)
{
	struct loupe_trace *t = ctx;
	struct trace_mark_rec *row;
	uint32_t walk = t->prune.in_walk ? (uint32_t)t->walks.cnt - 1 : TRACE_NONE;

	if (t->failed || !checkpoint_of(t, st))
		return;
	row = t->marks.cnt ? &t->marks.at[t->marks.cnt - 1] : NULL;
	if (!row || row->serial != st->serial || row->frameno != masks->frameno ||
	    row->walk != walk || row->step != trace_now(t) || row->compare != t->compare_cnt ||
	    row->kind) {
		row = add_mark(t, st, masks->frameno & 7, 0, 0);
		if (!row)
			return;
		row->walk = walk;
	}
	row->regs |= (uint16_t)masks->regs;
	row->slots_lo |= (uint32_t)masks->stack;
	row->slots_hi |= (uint32_t)(masks->stack >> 32);
}

void trace_on_walk_begin(void *ctx, uint32_t frameno, int32_t last, int32_t first, int32_t subseq)
{
	struct loupe_trace *t = ctx;
	struct trace_prune_rec *rec = &t->prune;
	struct trace_walk_rec *walk;

	(void)subseq;
	if (t->failed || rec->in_walk)
		return;
	walk = TRACE_PUSH(&t->walks);
	if (!walk) {
		t->failed = true;
		return;
	}
	*walk = (struct trace_walk_rec){
		.step = trace_now(t),
		.last_insn = last,
		.first_insn = first,
		.first_mark = (uint32_t)t->marks.cnt,
		.frameno = (uint8_t)frameno,
		.propagated = rec->propagating,
	};
	rec->in_walk = true;
	rec->has_want = rec->at_parent = rec->parent_open = rec->forced = false;
	rec->hops = 0;
	rec->stop_insn = -1;
	trace_flag(t, LOUPE_STEP_WALK);
}

static void want(struct loupe_trace *t, const struct loupe_masks *masks)
{
	struct trace_walk_rec *walk = open_walk(t);

	if (!walk || t->prune.has_want || !(masks->regs || masks->stack))
		return;
	t->prune.has_want = true;
	walk->frameno = (uint8_t)masks->frameno;
	walk->regs = (uint16_t)masks->regs;
	walk->slots = masks->stack;
}

void trace_on_walk_hop(void *ctx, const struct loupe_masks *masks, int32_t insn_idx)
{
	struct loupe_trace *t = ctx;

	/* Often called many times a step. */
	if (__builtin_expect(!t->prune.has_want, 0))
		want(t, masks);
	t->prune.hops++;
	t->prune.stop_insn = insn_idx;
	t->prune.at_parent = false;
}

void trace_on_walk_parent(void *ctx, const struct loupe_masks *masks, const struct loupe_state *st)
{
	struct loupe_trace *t = ctx;
	struct trace_prune_rec *rec = &t->prune;
	struct trace_walk_rec *walk = open_walk(t);

	if (t->failed || !walk)
		return;
	want(t, masks);
	if (!rec->at_parent)
		rec->parent_open = false;
	rec->at_parent = true;
	rec->parent_open |= masks->regs || masks->stack;
	if (checkpoint_of(t, st))
		walk->reached = (uint32_t)st->serial;
}

void trace_on_force_precise(void *ctx, uint32_t frameno, int reg, int spi)
{
	struct loupe_trace *t = ctx;

	(void)frameno;
	(void)reg;
	(void)spi;
	t->prune.forced = true;
}

void trace_on_propagate(void *ctx, const struct loupe_masks *masks)
{
	struct loupe_trace *t = ctx;

	(void)masks;
	t->prune.propagating = true;
}

void trace_on_walk_end(void *ctx)
{
	struct loupe_trace *t = ctx;
	struct trace_prune_rec *rec = &t->prune;
	struct trace_walk_rec *walk = open_walk(t);

	rec->in_walk = rec->propagating = false;
	if (t->failed || !walk)
		return;
	walk->hops = rec->hops;
	walk->stop_insn = rec->stop_insn;
	if (rec->forced)
		walk->stop = LOUPE_WALK_GAVE_UP;
	else if (!rec->at_parent)
		walk->stop = LOUPE_WALK_FOUND;
	else
		walk->stop = rec->parent_open ? LOUPE_WALK_START : LOUPE_WALK_SATISFIED;
}

/* --- loops and stack liveness --------------------------------------------------------------- */

static uint32_t hash_chain(const struct loupe_chain *chain)
{
	uint32_t h = chain->cnt;

	for (uint32_t i = 0; i < chain->cnt; i++)
		h = (h ^ chain->at[i]) * 0x9e3779b1u;
	return h ^ h >> 15;
}

static bool same_chain(const struct loupe_chain *a, const struct loupe_chain *b)
{
	return a->cnt == b->cnt && !memcmp(a->at, b->at, a->cnt * sizeof(a->at[0]));
}

static bool grow_chain_table(struct loupe_trace *t, struct trace_prune_rec *rec)
{
	uint32_t cap = rec->chain_cap ? rec->chain_cap * 2 : 64;
	uint32_t *table = calloc(cap, sizeof(*table));

	if (!table)
		return false;
	for (uint32_t i = 0; i < t->chains.cnt; i++) {
		uint32_t at = hash_chain(&t->chains.at[i]) & (cap - 1);

		while (table[at])
			at = (at + 1) & (cap - 1);
		table[at] = i + 1;
	}
	free(rec->chain_table);
	rec->chain_table = table;
	rec->chain_cap = cap;
	return true;
}

/* Number of a call chain, each kept once. */
static bool chain_no(struct loupe_trace *t, const struct loupe_chain *chain, uint32_t *no)
{
	struct trace_prune_rec *rec = &t->prune;
	struct loupe_chain *out;
	uint32_t at;

	if (chain->cnt > LOUPE_MAX_FRAMES + 1)
		return false;
	if (t->chains.cnt * 2 >= rec->chain_cap && !grow_chain_table(t, rec))
		return false;
	at = hash_chain(chain) & (rec->chain_cap - 1);
	for (; rec->chain_table[at]; at = (at + 1) & (rec->chain_cap - 1)) {
		*no = rec->chain_table[at] - 1;
		if (same_chain(&t->chains.at[*no], chain))
			return true;
	}
	out = TRACE_PUSH(&t->chains);
	if (!out)
		return false;
	*out = *chain;
	*no = (uint32_t)t->chains.cnt - 1;
	rec->chain_table[at] = *no + 1;
	return true;
}

static void add_scc(struct loupe_trace *t, enum loupe_scc_event event,
		    const struct loupe_chain *chain, uint32_t serial, uint32_t round)
{
	struct trace_scc_rec *row;
	uint32_t no;

	if (t->failed)
		return;
	row = chain_no(t, chain, &no) ? TRACE_PUSH(&t->sccs) : NULL;
	if (!row) {
		t->failed = true;
		return;
	}
	*row = (struct trace_scc_rec){ .step = trace_now(t),
				       .chain = no,
				       .serial = serial,
				       .round = round,
				       .event = (uint8_t)event };
}

void trace_on_scc_enter(void *ctx, const struct loupe_chain *chain)
{
	add_scc(ctx, LOUPE_SCC_ENTER, chain, 0, 0);
}

void trace_on_scc_exit(void *ctx, const struct loupe_chain *chain)
{
	add_scc(ctx, LOUPE_SCC_EXIT, chain, 0, 0);
}

void trace_on_scc_backedge(void *ctx, const struct loupe_chain *chain, const struct loupe_state *st)
{
	uint32_t serial = st && st->equal_state ? (uint32_t)st->equal_state->serial : 0;

	add_scc(ctx, LOUPE_SCC_BACKEDGE, chain, serial, 0);
}

void trace_on_scc_round(void *ctx, const struct loupe_chain *chain, uint32_t round)
{
	add_scc(ctx, LOUPE_SCC_ROUND, chain, 0, round);
}

void trace_on_live_stack(void *ctx, const struct loupe_chain *chain, uint32_t frameno,
			 int32_t insn_idx, uint64_t live_old, uint64_t live_new,
			 uint64_t written_old, uint64_t written_new)
{
	struct loupe_trace *t = ctx;
	struct trace_live_rec *row;
	uint32_t no;

	(void)live_old;
	(void)written_old;
	if (t->failed)
		return;
	row = chain_no(t, chain, &no) ? TRACE_PUSH(&t->lives) : NULL;
	if (!row) {
		t->failed = true;
		return;
	}
	*row = (struct trace_live_rec){ .live = live_new,
					.written = written_new,
					.step = trace_now(t),
					.chain = no,
					.insn = (uint32_t)insn_idx,
					.frameno = frameno };
}
