// SPDX-License-Identifier: GPL-2.0-only
/* Queries about steps, paths and branches. */
#include <errno.h>

#include "insn/opcodes.h"
#include "trace/store.h"

bool trace_is_cond_jmp(const struct loupe_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_JA && op != BPF_CALL &&
	       op != BPF_EXIT;
}

bool trace_fell_through(uint32_t jmp, uint32_t next)
{
	return next == jmp + 1;
}

uint32_t loupe_trace_step_cnt(const struct loupe_trace *t)
{
	return t->step_cnt;
}

uint32_t loupe_trace_path_of(const struct loupe_trace *t, uint32_t step)
{
	return step < t->step_cnt ? (uint32_t)TRACE_LAST(&t->paths, first, step) : LOUPE_NO_PATH;
}

uint32_t trace_pred(const struct loupe_trace *t, uint32_t step)
{
	if (!(t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PATH_START))
		return step - 1;
	return t->paths.at[loupe_trace_path_of(t, step)].parent_step;
}

int loupe_trace_step(const struct loupe_trace *t, uint32_t step, struct loupe_step_info *info)
{
	const struct trace_path *path;
	uint32_t p = loupe_trace_path_of(t, step), word;

	if (p == LOUPE_NO_PATH)
		return -EINVAL;
	path = &t->paths.at[p];
	word = t->steps.at[step].word;
	*info = (struct loupe_step_info){
		.step = step,
		.insn_idx = (int32_t)(word & STEP_INSN_MASK),
		.prev = step > path->first ? step - 1 : path->parent_step,
		.prev_insn_idx =
			step > path->first ? (int32_t)trace_insn_of(t, step - 1) : path->prev_insn,
		.next = step < trace_path_last(t, p) ? step + 1 : LOUPE_NO_STEP,
		.path = p,
		.path_depth = path->depth,
		.frame_cnt = trace_frame_of(t, step) + 1,
		.flags = word >> STEP_FLAGS_SHIFT,
	};
	if (step == t->error_step)
		info->flags |= LOUPE_STEP_ERROR;
	return 0;
}

int32_t loupe_trace_step_insn(const struct loupe_trace *t, uint32_t step)
{
	return step < t->step_cnt ? (int32_t)trace_insn_of(t, step) : -1;
}

uint32_t loupe_trace_find_step(const struct loupe_trace *t, uint32_t from, bool forward,
			       uint32_t flags)
{
	uint32_t mask = flags << STEP_FLAGS_SHIFT, s = from;

	if (!forward && from >= t->step_cnt)
		s = t->step_cnt - 1; /* wraps to LOUPE_NO_STEP when there are none */
	for (; s < t->step_cnt; s += forward ? 1u : UINT32_MAX) {
		if (t->steps.at[s].word & mask || (flags & LOUPE_STEP_ERROR && s == t->error_step))
			return s;
	}
	return LOUPE_NO_STEP;
}

const uint32_t *loupe_trace_visits(const struct loupe_trace *t, uint32_t insn, uint32_t *cnt)
{
	*cnt = 0;
	if (insn >= t->insn_cnt || !t->visits)
		return NULL;
	*cnt = t->visit_start[insn + 1] - t->visit_start[insn];
	return t->visits + t->visit_start[insn];
}

uint32_t loupe_trace_visit_lower(const struct loupe_trace *t, uint32_t insn, uint32_t step)
{
	uint32_t cnt, lo = 0;
	const uint32_t *visits = loupe_trace_visits(t, insn, &cnt);

	while (lo < cnt) {
		uint32_t mid = lo + (cnt - lo) / 2;

		if (visits[mid] < step)
			lo = mid + 1;
		else
			cnt = mid;
	}
	return lo;
}

uint32_t loupe_trace_prev_visit(const struct loupe_trace *t, uint32_t step)
{
	uint32_t cnt, at, insn;
	const uint32_t *visits;

	if (step >= t->step_cnt)
		return LOUPE_NO_STEP;
	insn = trace_insn_of(t, step);
	visits = loupe_trace_visits(t, insn, &cnt);
	at = loupe_trace_visit_lower(t, insn, step);
	return at ? visits[at - 1] : LOUPE_NO_STEP;
}

uint32_t loupe_trace_next_visit(const struct loupe_trace *t, uint32_t step)
{
	uint32_t cnt, at, insn;
	const uint32_t *visits;

	if (step >= t->step_cnt)
		return LOUPE_NO_STEP;
	insn = trace_insn_of(t, step);
	visits = loupe_trace_visits(t, insn, &cnt);
	at = loupe_trace_visit_lower(t, insn, step + 1);
	return at < cnt ? visits[at] : LOUPE_NO_STEP;
}

uint32_t loupe_trace_prev_turn(const struct loupe_trace *t, uint32_t step)
{
	uint32_t cnt, at, insn, path;
	const uint32_t *visits;

	path = loupe_trace_path_of(t, step);
	if (path == LOUPE_NO_PATH)
		return LOUPE_NO_STEP;
	insn = trace_insn_of(t, step);
	visits = loupe_trace_visits(t, insn, &cnt);
	for (uint32_t top = step; path != TRACE_NONE; path = t->paths.at[path].parent) {
		const struct trace_path *p = &t->paths.at[path];

		at = loupe_trace_visit_lower(t, insn, top);
		if (at && visits[at - 1] >= p->first)
			return visits[at - 1];
		if (p->parent == TRACE_NONE)
			break;
		top = p->parent_step + 1;
	}
	return LOUPE_NO_STEP;
}

/* --- paths and branches --------------------------------------------------------------------- */

uint32_t loupe_trace_path_cnt(const struct loupe_trace *t)
{
	return (uint32_t)t->paths.cnt;
}

int loupe_trace_path(const struct loupe_trace *t, uint32_t path, struct loupe_path_info *info)
{
	const struct trace_path *p;

	if (path >= t->paths.cnt)
		return -EINVAL;
	p = &t->paths.at[path];
	*info = (struct loupe_path_info){
		.path = path,
		.first = p->first,
		.last = trace_path_last(t, path),
		.parent = p->parent,
		.parent_step = p->parent_step,
		.depth = p->depth,
		.subprogno = p->subprogno,
		.subtree_end = p->subtree_end,
		.push = p->push == TRACE_NONE ? LOUPE_NO_ROW : p->push,
		.async = p->async,
		.speculative = p->speculative,
	};
	return 0;
}

/* The branch that step's insn left for the other side of its condition. */
static uint64_t push_of(const struct loupe_trace *t, uint32_t step)
{
	uint64_t row;

	if (!(t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PUSH))
		return LOUPE_NO_ROW;
	row = loupe_trace_first_row(t, LOUPE_TABLE_PUSH, step);
	for (; row < t->pushes.cnt && t->pushes.at[row].step == step; row++) {
		if (!t->pushes.at[row].speculative)
			return row;
	}
	return LOUPE_NO_ROW;
}

uint32_t loupe_trace_decisions(const struct loupe_trace *t, uint32_t step,
			       struct loupe_decision *out, uint32_t cap)
{
	uint32_t cnt = 0, at = step, path = loupe_trace_path_of(t, step);

	if (path == LOUPE_NO_PATH)
		return 0;
	while (cnt < cap) {
		const struct trace_path *p = &t->paths.at[path];
		bool popped = at == p->first;
		uint32_t pred = popped ? p->parent_step : at - 1, insn;
		struct loupe_decision *d = &out[cnt];

		if (pred == TRACE_NONE)
			break;
		insn = trace_insn_of(t, pred);
		if (trace_is_cond_jmp(&t->insns[insn]) && !(popped && p->async)) {
			bool fell = trace_fell_through(insn, trace_insn_of(t, at));

			d->step = pred;
			d->insn_idx = (int32_t)insn;
			d->side = fell ? LOUPE_SIDE_FELL_THROUGH : LOUPE_SIDE_TAKEN;
			d->push = popped ? p->push : push_of(t, pred);
			d->other = popped		     ? LOUPE_OTHER_EARLIER
				   : d->push != LOUPE_NO_ROW ? LOUPE_OTHER_LATER
							     : LOUPE_OTHER_IMPOSSIBLE;
			cnt++;
		}
		if (popped)
			path = p->parent;
		at = pred;
	}
	return cnt;
}

/* --- changes by step ------------------------------------------------------------------------ */

uint32_t trace_change_step(const struct loupe_trace *t, uint32_t change)
{
	uint32_t lo = 0, hi = t->step_cnt;

	/* last step that starts at or before the change */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->steps.at[mid].change <= change)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void loupe_trace_scratched(const struct loupe_trace *t, uint32_t step, uint32_t *regs,
			   uint64_t *slots)
{
	size_t at = TRACE_BELOW(&t->scratched_slots, step, step);

	*regs = step < t->step_cnt ? t->steps.at[step].scratched : 0;
	*slots = 0;
	if (at < t->scratched_slots.cnt && t->scratched_slots.at[at].step == step)
		*slots = t->scratched_slots.at[at].lo | (uint64_t)t->scratched_slots.at[at].hi
								<< 32;
}
