// SPDX-License-Identifier: GPL-2.0-only
/* Queries about checkpoints and comparisons. */
#include <errno.h>

#include "trace/store.h"

/* --- comparisons ---------------------------------------------------------------------------- */

/*
 * A comparison is the number of its meaning (a byte; rare ones escape to two more) and how far its
 * checkpoint's serial lies below that of the one compared before it at the same arrival.
 */
void trace_compare_open(struct trace_compare_iter *it, const struct loupe_trace *t, uint32_t run)
{
	const struct trace_run *r = &t->runs.at[run];

	*it = (struct trace_compare_iter){
		.t = t,
		.run = run,
		.row = r->first,
		.end = run + 1 < t->runs.cnt ? t->runs.at[run + 1].first : t->compare_cnt,
		.at = &t->compare_bytes.at[r->at],
		.insn_idx = (int32_t)trace_insn_of(t, r->step),
	};
}

static int32_t get_delta(const uint8_t **at)
{
	uint32_t v = 0, shift = 0;

	while (**at & 128) {
		v |= (uint32_t)(*(*at)++ & 127) << shift;
		shift += 7;
	}
	v |= (uint32_t) * (*at)++ << shift;
	return (int32_t)(v >> 1 ^ -(v & 1));
}

bool trace_compare_next(struct trace_compare_iter *it, struct loupe_compare_info *info)
{
	const struct loupe_trace *t = it->t;
	uint32_t code, word, place;

	if (it->row == it->end)
		return false;
	code = *it->at++;
	if (code == CMP_CODE_ESCAPE) {
		code = it->at[0] | (uint32_t)it->at[1] << 8;
		it->at += 2;
	}
	word = t->compare_codes.at[code];
	it->serial = it->serial - 1 - (uint32_t)get_delta(&it->at);
	place = word >> CMP_PLACE_SHIFT & 127;
	*info = (struct loupe_compare_info){
		.row = it->row++,
		.step = t->runs.at[it->run].step,
		.serial = it->serial,
		.insn_idx = it->insn_idx,
		.mode = word & 3,
		.outcome = word >> CMP_OUTCOME_SHIFT & 7,
		.diff = word >> CMP_DIFF_SHIFT & 31,
		.frameno = word >> CMP_FRAME_SHIFT & 7,
		.reg = -1,
		.spi = -1,
	};
	if (place > LOUPE_MAX_REG)
		info->spi = (int16_t)(place - 1 - LOUPE_MAX_REG);
	else if (place)
		info->reg = (int16_t)(place - 1);
	return true;
}

static struct trace_compare_stats *stats_of(struct loupe_trace *t, uint32_t insn)
{
	struct trace_compare_stats *stats;

	if (t->insn[insn].compare)
		return &t->compare_stats.at[t->insn[insn].compare - 1];
	stats = TRACE_PUSH(&t->compare_stats);
	if (!stats)
		return NULL;
	memset(stats, 0, sizeof(*stats));
	t->insn[insn].compare = (uint32_t)t->compare_stats.cnt;
	return stats;
}

bool trace_count_compares(struct loupe_trace *t)
{
	struct loupe_compare_info info;
	struct trace_compare_iter it;

	for (uint32_t run = 0; run < t->runs.cnt; run++) {
		struct trace_compare_stats *stats;

		trace_compare_open(&it, t, run);
		stats = stats_of(t, (uint32_t)it.insn_idx);
		if (!stats)
			return false;
		while (trace_compare_next(&it, &info)) {
			struct trace_checkpoint *c = &t->checkpoints.at[info.serial - 1];

			c->compares++;
			stats->compares++;
			stats->skipped += info.mode == LOUPE_CMP_SKIPPED;
			if (info.outcome == LOUPE_CMP_MISS) {
				c->misses++;
				stats->misses++;
			} else if (info.outcome == LOUPE_CMP_MISS_UNCOUNTED) {
				c->uncounted++;
				stats->uncounted++;
			} else if (info.outcome != LOUPE_CMP_INFINITE_LOOP) {
				c->hits++;
				stats->hits++;
			}
			stats->reasons[info.diff]++;
		}
	}
	return true;
}

/* First run at or after step. */
static uint32_t run_lower(const struct loupe_trace *t, uint32_t step)
{
	return (uint32_t)TRACE_BELOW(&t->runs, step, step);
}

/* Run that holds comparison row. */
static uint32_t run_of(const struct loupe_trace *t, uint64_t row)
{
	return (uint32_t)TRACE_LAST(&t->runs, first, row);
}

uint64_t trace_compare_lower(const struct loupe_trace *t, uint32_t step)
{
	uint32_t run = run_lower(t, step);

	return run < t->runs.cnt ? t->runs.at[run].first : t->compare_cnt;
}

int loupe_trace_compare(const struct loupe_trace *t, uint64_t row, struct loupe_compare_info *info)
{
	struct trace_compare_iter it;

	if (row >= t->compare_cnt || !t->insn_ckpts)
		return -EINVAL;
	trace_compare_open(&it, t, run_of(t, row));
	do {
		trace_compare_next(&it, info);
	} while (info->row < row);
	return 0;
}

uint64_t loupe_trace_find_compare(const struct loupe_trace *t, uint64_t from, bool forward,
				  uint32_t outcomes)
{
	uint64_t found = LOUPE_NO_ROW;
	struct trace_compare_iter it;
	struct loupe_compare_info info;

	if (!t->compare_cnt || (forward && from >= t->compare_cnt) || !t->insn_ckpts)
		return LOUPE_NO_ROW;
	if (from >= t->compare_cnt)
		from = t->compare_cnt - 1;
	for (uint32_t run = run_of(t, from); run < t->runs.cnt; run += forward ? 1u : UINT32_MAX) {
		if (!(t->run_outcomes.at[run] & outcomes))
			continue;
		trace_compare_open(&it, t, run);
		while (trace_compare_next(&it, &info)) {
			if (!(outcomes >> info.outcome & 1))
				continue;
			if (forward && info.row >= from)
				return info.row;
			if (!forward && info.row <= from)
				found = info.row;
		}
		if (found != LOUPE_NO_ROW)
			return found;
	}
	return LOUPE_NO_ROW;
}

/* Comparisons from a row on, at an insn between two steps, of one checkpoint or (0) of all. */
static uint64_t list_compares(const struct loupe_trace *t, uint32_t insn, uint32_t first,
			      uint32_t last, uint32_t serial, uint64_t from,
			      struct loupe_compare_info *out, uint64_t cap)
{
	uint32_t visit_cnt;
	const uint32_t *visits = loupe_trace_visits(t, insn, &visit_cnt);
	struct trace_compare_iter it;
	struct loupe_compare_info info;
	uint64_t cnt = 0;

	if (from >= t->compare_cnt)
		return 0;
	if (t->runs.at[run_of(t, from)].step > first)
		first = t->runs.at[run_of(t, from)].step;
	for (uint32_t v = loupe_trace_visit_lower(t, insn, first); v < visit_cnt; v++) {
		uint32_t step = visits[v];

		if (step > last)
			break;
		if (!(t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_COMPARE))
			continue;
		trace_compare_open(&it, t, run_lower(t, step));
		while (trace_compare_next(&it, &info)) {
			if (serial && info.serial != serial)
				continue;
			if (info.row < from)
				continue;
			if (cnt == cap)
				return cnt;
			out[cnt++] = info;
		}
	}
	return cnt;
}

uint64_t loupe_trace_insn_compares(const struct loupe_trace *t, uint32_t insn, uint64_t from,
				   struct loupe_compare_info *out, uint64_t cap)
{
	return list_compares(t, insn, 0, LOUPE_NO_STEP, 0, from, out, cap);
}

uint64_t loupe_trace_checkpoint_compares(const struct loupe_trace *t, uint32_t serial,
					 uint64_t from, struct loupe_compare_info *out,
					 uint64_t cap)
{
	const struct trace_checkpoint *c;
	uint32_t last;

	if (!serial || serial > t->checkpoints.cnt)
		return 0;
	c = &t->checkpoints.at[serial - 1];
	last = c->evicted != LOUPE_NO_STEP ? c->evicted : c->freed;
	return list_compares(t, (uint32_t)c->insn_idx, c->born, last, serial, from, out, cap);
}

/* --- checkpoints ---------------------------------------------------------------------------- */

uint32_t loupe_trace_checkpoint_cnt(const struct loupe_trace *t)
{
	return (uint32_t)t->checkpoints.cnt;
}

int loupe_trace_checkpoint(const struct loupe_trace *t, uint32_t serial,
			   struct loupe_checkpoint_info *info)
{
	const struct trace_checkpoint *c;

	if (!serial || serial > t->checkpoints.cnt)
		return -EINVAL;
	c = &t->checkpoints.at[serial - 1];
	*info = (struct loupe_checkpoint_info){
		.serial = serial,
		.insn_idx = c->insn_idx,
		.born = c->born,
		.parent = c->parent,
		.frame_cnt = trace_frame_of(t, c->born) + 1,
		.hits = c->hits,
		.misses = c->misses,
		.uncounted = c->uncounted,
		.compares = c->compares,
		.evicted = c->evicted,
		.evict_hits = c->evict_hits,
		.evict_misses = c->evict_misses,
		.cleaned = LOUPE_NO_STEP,
		.freed = c->freed,
		.child_cnt = c->child_cnt,
		.first_child = c->first_child,
		.next_sibling = c->next_sibling,
		.last_insn = c->last_insn,
		.first_insn = c->first_insn,
	};
	for (uint32_t m = c->mark; m != TRACE_NONE; m = t->marks.at[m].prev) {
		if (t->marks.at[m].kind & MARK_CLEAN)
			info->cleaned = t->marks.at[m].step;
	}
	return 0;
}

const uint32_t *loupe_trace_insn_checkpoints(const struct loupe_trace *t, uint32_t insn,
					     uint32_t *cnt)
{
	*cnt = 0;
	if (insn >= t->insn_cnt || !t->insn_ckpts)
		return NULL;
	*cnt = t->insn_ckpt_start[insn + 1] - t->insn_ckpt_start[insn];
	return t->insn_ckpts + t->insn_ckpt_start[insn];
}

uint32_t loupe_trace_parent_checkpoint(const struct loupe_trace *t, uint32_t step)
{
	uint32_t path = loupe_trace_path_of(t, step);

	if (path == LOUPE_NO_PATH)
		return 0;
	for (;;) {
		const struct trace_path *p = &t->paths.at[path];
		uint32_t serial = (uint32_t)TRACE_BELOW(&t->checkpoints, born, step);

		if (serial && t->checkpoints.at[serial - 1].born >= p->first)
			return serial;
		if (p->parent == TRACE_NONE || p->async)
			return 0;
		path = p->parent;
		step = p->parent_step + 1;
	}
}

uint32_t loupe_trace_checkpoint_marks(const struct loupe_trace *t, uint32_t serial, uint64_t *rows,
				      uint32_t cap)
{
	uint32_t cnt = 0, skip;

	if (!serial || serial > t->checkpoints.cnt)
		return 0;
	for (uint32_t m = t->checkpoints.at[serial - 1].mark; m != TRACE_NONE;
	     m = t->marks.at[m].prev)
		cnt++;
	/* Latest first in the store: the first cap rows are the last ones of the chain. */
	skip = cnt > cap ? cnt - cap : 0;
	cnt -= skip;
	for (uint32_t m = t->checkpoints.at[serial - 1].mark, i = cnt; m != TRACE_NONE;
	     m = t->marks.at[m].prev) {
		if (skip)
			skip--;
		else
			rows[--i] = m;
	}
	return cnt;
}

int loupe_trace_insn_stats(const struct loupe_trace *t, uint32_t insn,
			   struct loupe_insn_stats *stats)
{
	const struct trace_insn *in;
	const struct trace_compare_stats *cmp;

	if (insn >= t->insn_cnt)
		return -EINVAL;
	in = &t->insn[insn];
	*stats = (struct loupe_insn_stats){
		.pruned = in->pruned,
		.taken = in->taken,
		.fell = in->fell,
		.born = in->checkpoints,
		.evicted = in->evicted,
	};
	loupe_trace_visits(t, insn, &stats->visits);
	if (!in->compare)
		return 0;
	cmp = &t->compare_stats.at[in->compare - 1];
	stats->compares = cmp->compares;
	stats->hits = cmp->hits;
	stats->misses = cmp->misses;
	stats->uncounted = cmp->uncounted;
	stats->skipped = cmp->skipped;
	for (uint32_t k = 0; k < LOUPE_DIFF_KINDS; k++)
		stats->reasons[k] = cmp->reasons[k];
	return 0;
}
