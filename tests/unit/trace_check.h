/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second listener that keeps a hash of every state that the verifier shows, to check that a trace
 * gives back the same states: at every step, and of checkpoints at every so manieth comparison.
 */
#ifndef LOUPE_TEST_TRACE_CHECK_H
#define LOUPE_TEST_TRACE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/store.h"

struct trace_check {
	TRACE_VEC(uint64_t) steps;
	TRACE_VEC(uint64_t) olds; /* of every `sample`th comparison */
	uint32_t sample;
	uint64_t compares;
	uint64_t counts[LOUPE_CMP_MISS_UNCOUNTED + 1];
	uint64_t checkpoints, evictions, pruned;
};

static uint64_t check_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 31;
}

static uint64_t check_reg(uint64_t h, const struct loupe_reg *r)
{
	const uint64_t *words = (const uint64_t *)r;

	for (size_t i = 0; i < offsetof(struct loupe_reg, precise) / sizeof(uint64_t); i++)
		h = check_mix(h, words[i]);
	return check_mix(h, r->precise);
}

static uint64_t check_state(const struct loupe_state *st)
{
	uint64_t h = st->curframe, types;

	for (uint32_t f = 0; f <= st->curframe; f++) {
		const struct loupe_frame *frame = st->frame[f];

		h = check_mix(h, (uint32_t)frame->callsite);
		h = check_mix(h, frame->subprogno);
		h = check_mix(h, frame->callback_depth);
		h = check_mix(h, frame->slot_cnt);
		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
			h = check_reg(h, &frame->regs[r]);
		for (uint32_t s = 0; s < frame->slot_cnt; s++) {
			memcpy(&types, frame->stack->slot[s].type, sizeof(types));
			h = check_mix(h, types);
			if (trace_slot_has_reg(&frame->stack->slot[s]))
				h = check_reg(h, &frame->stack->slot[s].spilled);
		}
	}
	for (uint32_t i = 0; i < st->ref_cnt; i++)
		h = check_mix(h, st->refs[i].id);
	h = check_mix(h, st->active_locks);
	h = check_mix(h, st->active_rcu_locks);
	return check_mix(h, st->speculative);
}

static void check_on_arrive(void *ctx, const struct loupe_step *step)
{
	struct trace_check *c = ctx;

	*TRACE_PUSH(&c->steps) = check_state(step->state);
}

static void check_on_compare(void *ctx, const struct loupe_compare *cmp)
{
	struct trace_check *c = ctx;

	c->counts[cmp->outcome]++;
	if (c->compares++ % c->sample == 0)
		*TRACE_PUSH(&c->olds) = check_state(cmp->old);
}

static void check_on_checkpoint(void *ctx, const struct loupe_state *st, int32_t insn_idx)
{
	(void)st;
	(void)insn_idx;
	((struct trace_check *)ctx)->checkpoints++;
}

static void check_on_evict(void *ctx, const struct loupe_state *st, uint32_t hits, uint32_t misses)
{
	(void)st;
	(void)hits;
	(void)misses;
	((struct trace_check *)ctx)->evictions++;
}

static void check_on_pruned(void *ctx, const struct loupe_step *step, bool after_pop)
{
	(void)step;
	(void)after_pop;
	((struct trace_check *)ctx)->pruned++;
}

static const struct loupe_hooks check_hooks = {
	.arrive = check_on_arrive,
	.compare = check_on_compare,
	.checkpoint = check_on_checkpoint,
	.evict = check_on_evict,
	.pruned = check_on_pruned,
};

/* Differences between what was shown and what the finished trace says; prints the first few. */
static unsigned check_trace(const struct trace_check *c, const struct loupe_trace *t,
			    uint64_t missed)
{
	const struct loupe_verify_result *res = loupe_trace_result(t);
	struct loupe_cursor *cursor = loupe_cursor_create(t);
	unsigned bad = 0;
	uint64_t counts[LOUPE_CMP_MISS_UNCOUNTED + 1] = { 0 }, sums[4] = { 0 };

#define CHECK(ok, ...)                                \
	do {                                          \
		if (!(ok) && bad++ < 10)              \
			fprintf(stderr, __VA_ARGS__); \
	} while (0)
	CHECK(!missed, "%llu changes where none was expected\n", (unsigned long long)missed);
	CHECK(loupe_trace_complete(t), "incomplete\n");
	CHECK(loupe_trace_step_cnt(t) == c->steps.cnt, "step count %u, arrivals %zu\n",
	      loupe_trace_step_cnt(t), c->steps.cnt);
	CHECK(res && res->counters.insn_processed == c->steps.cnt, "insn_processed is not steps\n");
	for (uint32_t s = 0; s < loupe_trace_step_cnt(t) && s < c->steps.cnt; s++)
		CHECK(check_state(loupe_cursor_seek(cursor, s)) == c->steps.at[s],
		      "state at step %u (insn %d) differs\n", s, loupe_trace_step_insn(t, s));
	for (uint64_t row = 0; row < loupe_trace_rows(t, LOUPE_TABLE_COMPARE); row++) {
		struct loupe_compare_info info;

		if (row % c->sample)
			continue;
		loupe_trace_compare(t, row, &info);
		CHECK(check_state(loupe_cursor_seek_checkpoint(cursor, info.serial, row)) ==
			      c->olds.at[row / c->sample],
		      "checkpoint %u at comparison %llu (step %u) differs\n", info.serial,
		      (unsigned long long)row, info.step);
	}
	for (uint32_t i = 0; i < loupe_trace_insn_cnt(t); i++) {
		struct loupe_insn_stats st;

		loupe_trace_insn_stats(t, i, &st);
		sums[0] += st.visits;
		sums[1] += st.pruned;
		sums[2] += st.born;
		sums[3] += st.evicted;
		counts[LOUPE_CMP_HIT] += st.hits;
		counts[LOUPE_CMP_MISS] += st.misses;
		counts[LOUPE_CMP_MISS_UNCOUNTED] += st.uncounted;
	}
	CHECK(sums[0] == c->steps.cnt, "visits are not steps\n");
	CHECK(sums[1] == c->pruned, "pruned\n");
	CHECK(sums[2] == c->checkpoints && c->checkpoints == loupe_trace_checkpoint_cnt(t),
	      "checkpoints born\n");
	CHECK(sums[3] == c->evictions && c->evictions == loupe_trace_rows(t, LOUPE_TABLE_EVICT),
	      "evictions\n");
	CHECK(counts[LOUPE_CMP_MISS] == c->counts[LOUPE_CMP_MISS], "counted misses\n");
	CHECK(counts[LOUPE_CMP_MISS_UNCOUNTED] == c->counts[LOUPE_CMP_MISS_UNCOUNTED],
	      "uncounted misses\n");
	if (res) {
		CHECK(res->counters.total_states == c->checkpoints, "total states\n");
		CHECK(res->counters.compare_misses == c->counts[LOUPE_CMP_MISS],
		      "compare_misses\n");
		CHECK(res->counters.evictions == c->evictions, "evictions counter\n");
	}
#undef CHECK
	loupe_cursor_destroy(cursor);
	return bad;
}

static void check_finish(struct trace_check *c)
{
	TRACE_FREE(&c->steps);
	TRACE_FREE(&c->olds);
}

#endif
