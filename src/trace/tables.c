// SPDX-License-Identifier: GPL-2.0-only
/* Rows of the tables that are plain records. */
#include <errno.h>

#include "trace/store.h"

uint64_t loupe_trace_rows(const struct loupe_trace *t, enum loupe_table table)
{
	switch (table) {
	case LOUPE_TABLE_PUSH:
		return t->pushes.cnt;
	case LOUPE_TABLE_COMPARE:
		return t->insn_ckpts ? t->compare_cnt : 0;
	case LOUPE_TABLE_EVICT:
		return t->evicts.cnt;
	case LOUPE_TABLE_WALK:
		return t->walks.cnt;
	case LOUPE_TABLE_MARK:
		return t->marks.cnt;
	case LOUPE_TABLE_MESSAGE:
		return t->messages.cnt;
	case LOUPE_TABLE_SCC:
		return t->sccs.cnt;
	case LOUPE_TABLE_LIVE_STACK:
		return t->lives.cnt;
	default:
		return 0;
	}
}

static uint32_t step_of(const struct loupe_trace *t, enum loupe_table table, uint64_t row)
{
	switch (table) {
	case LOUPE_TABLE_PUSH:
		return t->pushes.at[row].step;
	case LOUPE_TABLE_EVICT:
		return t->evicts.at[row].step;
	case LOUPE_TABLE_WALK:
		return t->walks.at[row].step;
	case LOUPE_TABLE_MARK:
		return t->marks.at[row].step;
	case LOUPE_TABLE_MESSAGE:
		return t->messages.at[row].step;
	case LOUPE_TABLE_SCC:
		return t->sccs.at[row].step;
	default:
		return t->lives.at[row].step;
	}
}

uint64_t loupe_trace_first_row(const struct loupe_trace *t, enum loupe_table table, uint32_t step)
{
	uint64_t lo = 0, hi = loupe_trace_rows(t, table);

	if (table == LOUPE_TABLE_COMPARE)
		return hi ? trace_compare_lower(t, step) : 0;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (step_of(t, table, mid) < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int loupe_trace_push(const struct loupe_trace *t, uint64_t row, struct loupe_push_info *info)
{
	const struct trace_push_rec *r;

	if (row >= t->pushes.cnt)
		return -EINVAL;
	r = &t->pushes.at[row];
	*info = (struct loupe_push_info){ .step = r->step,
					  .insn_idx = r->insn_idx,
					  .prev_insn_idx = r->prev_insn_idx,
					  .path = r->path,
					  .async = r->async,
					  .speculative = r->speculative };
	return 0;
}

int loupe_trace_evict(const struct loupe_trace *t, uint64_t row, struct loupe_evict_info *info)
{
	const struct trace_evict_rec *r;

	if (row >= t->evicts.cnt)
		return -EINVAL;
	r = &t->evicts.at[row];
	*info = (struct loupe_evict_info){
		.step = r->step, .serial = r->serial, .hits = r->hits, .misses = r->misses
	};
	return 0;
}

int loupe_trace_walk(const struct loupe_trace *t, uint64_t row, struct loupe_walk_info *info)
{
	const struct trace_walk_rec *r;
	uint64_t end;

	if (row >= t->walks.cnt)
		return -EINVAL;
	r = &t->walks.at[row];
	end = row + 1 < t->walks.cnt ? t->walks.at[row + 1].first_mark : t->marks.cnt;
	/* Marks that follow the walk's own belong to none. */
	for (uint64_t m = r->first_mark; m < end; m++) {
		if (t->marks.at[m].walk != row)
			end = m;
	}
	*info = (struct loupe_walk_info){
		.step = r->step,
		.want = { .frameno = r->frameno, .regs = r->regs, .stack = r->slots },
		.last_insn = r->last_insn,
		.first_insn = r->first_insn,
		.hops = r->hops,
		.reached = r->reached,
		.stop_insn = r->stop_insn,
		.stop = r->stop,
		.first_mark = r->first_mark,
		.mark_cnt = (uint32_t)(end - r->first_mark),
		.propagated = r->propagated,
	};
	return 0;
}

int loupe_trace_mark(const struct loupe_trace *t, uint64_t row, struct loupe_mark_info *info)
{
	const struct trace_mark_rec *r;

	if (row >= t->marks.cnt)
		return -EINVAL;
	r = &t->marks.at[row];
	*info = (struct loupe_mark_info){
		.step = r->step,
		.serial = r->serial,
		.kind = r->kind & MARK_CLEAN ? LOUPE_MARK_CLEAN : LOUPE_MARK_PRECISE,
		.masks = { .frameno = r->frameno,
			   .regs = r->regs,
			   .stack = r->slots_lo | (uint64_t)r->slots_hi << 32 },
		.walk = r->walk == TRACE_NONE ? LOUPE_NO_ROW : r->walk,
		.compare = r->compare,
	};
	return 0;
}

int loupe_trace_message(const struct loupe_trace *t, uint64_t row, struct loupe_message_info *info)
{
	const struct trace_message_rec *r;

	if (row >= t->messages.cnt)
		return -EINVAL;
	r = &t->messages.at[row];
	*info = (struct loupe_message_info){ .step = r->step,
					     .before = r->before,
					     .level2 = r->level2,
					     .text = &t->texts.at[r->text] };
	return 0;
}

int loupe_trace_scc(const struct loupe_trace *t, uint64_t row, struct loupe_scc_info *info)
{
	const struct trace_scc_rec *r;

	if (row >= t->sccs.cnt)
		return -EINVAL;
	r = &t->sccs.at[row];
	*info = (struct loupe_scc_info){ .step = r->step,
					 .event = r->event,
					 .chain = &t->chains.at[r->chain],
					 .serial = r->serial,
					 .round = r->round };
	return 0;
}

int loupe_trace_live_stack(const struct loupe_trace *t, uint64_t row,
			   struct loupe_live_stack_info *info)
{
	const struct trace_live_rec *r;

	if (row >= t->lives.cnt)
		return -EINVAL;
	r = &t->lives.at[row];
	*info = (struct loupe_live_stack_info){ .step = r->step,
						.chain = &t->chains.at[r->chain],
						.frameno = r->frameno,
						.insn_idx = (int32_t)r->insn,
						.live = r->live,
						.written = r->written };
	return 0;
}
