// SPDX-License-Identifier: GPL-2.0-only
/* The recorder's hooks for steps, paths and branches, and for what concerns the whole run. */
#include <errno.h>
#include <stdio.h>

#include "insn/opcodes.h"
#include "trace/store.h"

/* A branch that waits, and what the mirror held at the step that pushed it. */
struct pending {
	uint32_t push; /* row */
	uint32_t path; /* that pushed it */
	uint32_t gen[LOUPE_MAX_FRAMES];
	struct trace_regs regs;
};

struct trace_recorder {
	struct trace_mirror mirror;
	TRACE_VEC(struct pending) pending; /* not popped yet, latest last */
	bool path_due;			   /* the next arrival starts a path … */
	uint32_t popped; /* … of that entry of pending, just beyond its end; TRACE_NONE: a
			    function's */
	uint32_t subprogno;
	uint32_t path;
	uint32_t distance;	/* from the last keyframe on this path */
	uint32_t keyframe_step; /* last keyframe */
	size_t error_from;	/* messages since the last arrival or phase */
	bool all; /* insns may seem to change anything, as what a log shows late */
	bool check;
	uint64_t missed;
};

struct trace_recorder *trace_recorder_create(void)
{
	struct trace_recorder *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return NULL;
	rec->path_due = true; /* which resets the mirror */
	rec->popped = TRACE_NONE;
	return rec;
}

void trace_recorder_destroy(struct trace_recorder *rec)
{
	if (!rec)
		return;
	TRACE_FREE(&rec->mirror.state_room);
	TRACE_FREE(&rec->pending);
	free(rec);
}

void trace_recorder_expect_all(struct trace_recorder *rec)
{
	rec->all = true;
}

void trace_recorder_check(struct loupe_trace *t)
{
	t->rec->check = true;
}

uint64_t trace_recorder_missed(const struct loupe_trace *t)
{
	return t->rec ? t->rec->missed : 0;
}

/* --- paths ---------------------------------------------------------------------------------- */

/* First change after those of step. */
static uint32_t changes_end(const struct loupe_trace *t, uint32_t step)
{
	return t->steps.at[step + 1].change;
}

/*
 * Takes the mirror back from the last step to `step`, which is on one of its ancestor paths. The
 * verifier pops the latest branch first, so that every change is taken back once. False if step is
 * not among the ancestors.
 */
static bool rewind_to(struct loupe_trace *t, uint32_t step)
{
	struct trace_mirror *m = &t->rec->mirror;
	uint32_t path = t->rec->path, top = t->step_cnt - 1;

	for (;;) {
		const struct trace_path *p = &t->paths.at[path];

		if (step >= p->first && step <= top) {
			trace_mirror_undo(t, m, changes_end(t, step), changes_end(t, top));
			m->curframe = trace_frame_of(t, step);
			return true;
		}
		trace_mirror_undo(t, m, t->steps.at[p->first].change, changes_end(t, top));
		if (p->parent == TRACE_NONE)
			return false;
		path = p->parent;
		top = p->parent_step;
	}
}

/* Opens a path; the mirror is then at its parent's step. *fresh: there is no such state. */
static bool begin_path(struct loupe_trace *t, int32_t prev_insn, bool *fresh)
{
	struct trace_recorder *rec = t->rec;
	struct trace_path *path;
	uint32_t parent = TRACE_NONE;

	if (!TRACE_ROOM(&t->paths, 1))
		return false;
	path = &t->paths.at[t->paths.cnt];
	*path = (struct trace_path){ .first = t->step_cnt,
				     .parent = TRACE_NONE,
				     .parent_step = TRACE_NONE,
				     .push = TRACE_NONE,
				     .prev_insn = prev_insn,
				     .fresh = true,
				     .subprogno = (uint16_t)rec->subprogno };
	rec->distance = 0;
	if (rec->popped != TRACE_NONE && t->step_cnt) {
		const struct pending *popped = &rec->pending.at[rec->popped];
		struct trace_push_rec *push = &t->pushes.at[popped->push];

		if (rewind_to(t, push->step)) {
			for (uint32_t f = 0; f <= rec->mirror.curframe; f++)
				rec->mirror.frame[f].stack_gen = popped->gen[f];
			trace_mirror_put_regs(&rec->mirror, &popped->regs);
			parent = popped->path;
			path->fresh = push->async;
			path->parent = parent;
			path->parent_step = push->step;
			path->depth = t->paths.at[parent].depth + 1;
			path->async = push->async;
			path->speculative = push->speculative;
			rec->distance = push->distance;
		}
		path->push = popped->push;
		push->path = (uint32_t)t->paths.cnt;
	}
	if (parent == TRACE_NONE)
		trace_mirror_reset(&rec->mirror);
	rec->path = (uint32_t)t->paths.cnt++;
	rec->path_due = false;
	rec->popped = TRACE_NONE;
	*fresh = path->fresh;
	return true;
}

static void add_keyframe(struct loupe_trace *t)
{
	struct trace_recorder *rec = t->rec;
	struct trace_mirror *m = &rec->mirror;
	struct trace_keyframe *kf = TRACE_PUSH(&t->keyframes);
	size_t room = 1 + (size_t)(m->curframe + 1) * (LOC_STRIDE + 1);
	uint32_t *out;

	if (!kf || !TRACE_ROOM(&t->keyframe_data, room)) {
		t->failed = true;
		return;
	}
	kf->step = t->step_cnt - 1;
	kf->at = (uint32_t)t->keyframe_data.cnt;
	out = &t->keyframe_data.at[kf->at];
	*out++ = m->last[LOC_STATE_META];
	for (uint32_t f = 0; f <= m->curframe; f++) {
		const uint32_t *last = &m->last[f * LOC_STRIDE];
		uint32_t high = m->frame[f].high;

		*out++ = last[LOC_FRAME_META];
		*out++ = high;
		memcpy(out, &last[LOC_REG], LOUPE_MAX_REG * sizeof(*last));
		out += LOUPE_MAX_REG;
		memcpy(out, &last[LOC_SLOT], high * sizeof(*last));
		out += high;
	}
	t->keyframe_data.cnt = (size_t)(out - t->keyframe_data.at);
	rec->distance = 0;
	rec->keyframe_step = kf->step;
}

/* --- hooks of steps ------------------------------------------------------------------------- */

/* Looks for changes that the insn was not expected to make. */
static bool check_diff(struct loupe_trace *t, const struct loupe_state *st)
{
	size_t before = t->changes.cnt;

	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++)
		t->rec->mirror.frame[f].stack_gen = 0;
	if (!trace_mirror_diff(t, &t->rec->mirror, st, TRACE_SCOPE_ALL, NULL))
		return false;
	t->rec->missed += t->changes.cnt - before;
	return true;
}

static void on_arrive(void *ctx, const struct loupe_step *s)
{
	struct loupe_trace *t = ctx;
	struct trace_recorder *rec = t->rec;
	enum trace_scope scope = TRACE_SCOPE_ALL;
	const struct loupe_insn *insn = NULL;
	uint32_t n = t->step_cnt, flags = 0, start = (uint32_t)t->changes.cnt;
	bool fresh = false;

	if (t->failed)
		return;
	t->failed = true;
	if ((uint32_t)s->insn_idx >= t->insn_cnt || n >= LOUPE_NO_STEP - 1 ||
	    start > UINT32_MAX - 2 * LOC_CNT)
		return;
	if (!TRACE_ROOM(&t->changes, 2 * LOC_CNT) || !TRACE_ROOM(&t->steps, 2))
		return;
	if (rec->path_due) {
		if (!begin_path(t, s->prev_insn_idx, &fresh))
			return;
		flags = LOUPE_STEP_PATH_START;
		if (fresh)
			scope = TRACE_SCOPE_FRESH;
	} else if ((uint32_t)s->prev_insn_idx == trace_insn_of(t, n - 1) && !rec->all) {
		scope = TRACE_SCOPE_INSN;
		insn = &t->insns[s->prev_insn_idx];
	}
	if (!trace_mirror_diff(t, &rec->mirror, s->state, scope, insn) ||
	    (rec->check && !check_diff(t, s->state))) {
		t->changes.cnt = start;
		if (flags)
			t->paths.cnt--;
		return;
	}
	t->steps.at[n].word = (uint32_t)s->insn_idx | s->state->curframe << STEP_FRAME_SHIFT |
			      flags << STEP_FLAGS_SHIFT;
	t->steps.at[n].change = start;
	t->steps.at[n + 1].change = (uint32_t)t->changes.cnt;
	t->steps.at[n].scratched = 0;
	t->step_cnt = n + 1;
	t->steps.cnt = n + 1;
	t->failed = false;
	rec->error_from = t->messages.cnt;
	rec->distance += 1 + (uint32_t)t->changes.cnt - start;
	if (rec->distance >= KEYFRAME_DISTANCE && n - rec->keyframe_step >= KEYFRAME_SPACING)
		add_keyframe(t);
}

static void on_insn_state(void *ctx, const struct loupe_step *s, uint32_t regs, uint64_t slots)
{
	struct loupe_trace *t = ctx;
	struct trace_slots *out;

	(void)s;
	if (t->failed || !t->step_cnt)
		return;
	t->steps.at[t->step_cnt - 1].scratched |= (uint16_t)regs;
	if (!slots)
		return;
	out = t->scratched_slots.cnt ? &t->scratched_slots.at[t->scratched_slots.cnt - 1] : NULL;
	if (!out || out->step != t->step_cnt - 1) {
		out = TRACE_PUSH(&t->scratched_slots);
		if (!out) {
			t->failed = true;
			return;
		}
		*out = (struct trace_slots){ .step = t->step_cnt - 1 };
	}
	out->lo |= (uint32_t)slots;
	out->hi |= (uint32_t)(slots >> 32);
}

static void on_pruned(void *ctx, const struct loupe_step *s, bool after_pop)
{
	struct loupe_trace *t = ctx;

	(void)after_pop;
	if (t->failed || !t->step_cnt || (uint32_t)s->insn_idx >= t->insn_cnt)
		return;
	trace_flag(t, LOUPE_STEP_PRUNED);
	t->insn[s->insn_idx].pruned++;
}

static void on_func_begin(void *ctx, uint32_t subprogno)
{
	struct loupe_trace *t = ctx;

	if (t->failed)
		return;
	t->rec->path_due = true;
	t->rec->popped = TRACE_NONE;
	t->rec->subprogno = subprogno;
	t->rec->pending.cnt = 0;
}

static void on_branch_push(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			   const struct loupe_state *st, bool async)
{
	struct loupe_trace *t = ctx;
	struct trace_push_rec *push;
	struct pending *pending;

	if (t->failed || !t->step_cnt)
		return;
	push = TRACE_PUSH(&t->pushes);
	pending = TRACE_PUSH(&t->rec->pending);
	if (!push || !pending) {
		t->failed = true;
		return;
	}
	*push = (struct trace_push_rec){ .step = t->step_cnt - 1,
					 .insn_idx = insn_idx,
					 .prev_insn_idx = prev_insn_idx,
					 .path = TRACE_NONE,
					 .distance = t->rec->distance,
					 .async = async,
					 .speculative = st->speculative };
	pending->push = (uint32_t)t->pushes.cnt - 1;
	pending->path = t->rec->path;
	for (uint32_t f = 0; f <= t->rec->mirror.curframe; f++)
		pending->gen[f] = t->rec->mirror.frame[f].stack_gen;
	trace_mirror_get_regs(&t->rec->mirror, &pending->regs);
	trace_flag(t, LOUPE_STEP_PUSH);
}

static void on_branch_pop(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			  const struct loupe_state *st)
{
	struct loupe_trace *t = ctx;
	struct trace_recorder *rec = t->rec;

	(void)st;
	if (t->failed)
		return;
	rec->path_due = true;
	rec->popped = TRACE_NONE;
	while (rec->pending.cnt) {
		const struct pending *pending = &rec->pending.at[--rec->pending.cnt];
		const struct trace_push_rec *push = &t->pushes.at[pending->push];

		if (push->insn_idx == insn_idx && push->prev_insn_idx == prev_insn_idx) {
			rec->popped = (uint32_t)rec->pending.cnt;
			return;
		}
	}
}

/* --- hooks of the whole run ----------------------------------------------------------------- */

static void on_phase(void *ctx, enum loupe_phase phase)
{
	struct loupe_trace *t = ctx;

	(void)phase;
	t->rec->error_from = t->messages.cnt;
}

static void on_message(void *ctx, const char *text, bool level2)
{
	struct loupe_trace *t = ctx;
	size_t len = strlen(text) + 1;
	struct trace_message_rec *msg;

	if (t->failed || !TRACE_ROOM(&t->texts, len) || t->texts.cnt + len > UINT32_MAX) {
		t->failed = true;
		return;
	}
	msg = TRACE_PUSH(&t->messages);
	if (!msg) {
		t->failed = true;
		return;
	}
	*msg = (struct trace_message_rec){ .step = trace_now(t),
					   .text = (uint32_t)t->texts.cnt,
					   .before = !t->step_cnt,
					   .level2 = level2 };
	memcpy(&t->texts.at[t->texts.cnt], text, len);
	t->texts.cnt += len;
	if (!level2)
		trace_flag(t, LOUPE_STEP_MESSAGE);
}

static void on_subprog(void *ctx, uint32_t subprogno, uint32_t start)
{
	struct loupe_trace *t = ctx;

	if (subprogno >= sizeof(t->subprogs) / sizeof(t->subprogs[0]))
		return;
	t->subprogs[subprogno] = start;
	if (subprogno >= t->subprog_cnt)
		t->subprog_cnt = subprogno + 1;
}

static void on_facts(void *ctx, const struct loupe_insn_facts *facts, uint32_t insn_cnt)
{
	struct loupe_trace *t = ctx;

	if (!insn_cnt)
		return;
	free(t->facts);
	t->facts_cnt = 0;
	t->facts = malloc(insn_cnt * sizeof(*facts));
	if (!t->facts) {
		t->failed = true;
		return;
	}
	memcpy(t->facts, facts, insn_cnt * sizeof(*facts));
	t->facts_cnt = insn_cnt;
}

static uint8_t *copy_bytes(const uint8_t *bytes, uint32_t cnt)
{
	uint8_t *copy = bytes && cnt ? malloc(cnt) : NULL;

	if (copy)
		memcpy(copy, bytes, cnt);
	return copy;
}

/* The log's words for it, which come as an event of its own. */
static void on_infinite_loop(void *ctx, int32_t insn_idx, const struct loupe_state *cur,
			     const struct loupe_state *old)
{
	char text[64];

	(void)cur;
	(void)old;
	snprintf(text, sizeof(text), "infinite loop detected at insn %d\n", insn_idx);
	on_message(ctx, text, false);
}

/* The level-1 messages since the last arrival, without the last newline. */
static char *error_text(const struct loupe_trace *t)
{
	size_t len = 1, at = 0;
	char *text;

	for (size_t i = t->rec->error_from; i < t->messages.cnt; i++)
		len += strlen(&t->texts.at[t->messages.at[i].text]);
	text = malloc(len);
	if (!text)
		return NULL;
	for (size_t i = t->rec->error_from; i < t->messages.cnt; i++) {
		const char *from = &t->texts.at[t->messages.at[i].text];

		if (t->messages.at[i].level2)
			continue;
		memcpy(text + at, from, strlen(from));
		at += strlen(from);
	}
	while (at && text[at - 1] == '\n')
		at--;
	text[at] = '\0';
	return text;
}

static void on_end(void *ctx, const struct loupe_verify_result *result)
{
	struct loupe_trace *t = ctx;

	if (t->ended)
		return;
	t->result = *result;
	t->result.insn_seen = copy_bytes(result->insn_seen, result->insn_cnt);
	t->result.branch_taken = copy_bytes(result->branch_taken, result->insn_cnt);
	t->ended = true;
	if (result->verdict != LOUPE_REJECTED)
		return;
	t->error = error_text(t);
	if (t->step_cnt && (result->phase == LOUPE_PHASE_EXPLORE_MAIN ||
			    result->phase == LOUPE_PHASE_EXPLORE_SUBPROGS))
		t->error_step = t->step_cnt - 1;
}

static const struct loupe_hooks hooks = {
	.phase = on_phase,
	.message = on_message,
	.infinite_loop = on_infinite_loop,
	.subprog = on_subprog,
	.facts = on_facts,
	.func_begin = on_func_begin,
	.arrive = on_arrive,
	.insn_state = on_insn_state,
	.pruned = on_pruned,
	.branch_push = on_branch_push,
	.branch_pop = on_branch_pop,
	.checkpoint = trace_on_checkpoint,
	.compare = trace_on_compare,
	.evict = trace_on_evict,
	.state_free = trace_on_state_free,
	.clean = trace_on_clean,
	.mark_precise = trace_on_mark_precise,
	.walk_begin = trace_on_walk_begin,
	.walk_hop = trace_on_walk_hop,
	.walk_parent = trace_on_walk_parent,
	.walk_end = trace_on_walk_end,
	.force_precise = trace_on_force_precise,
	.propagate = trace_on_propagate,
	.scc_enter = trace_on_scc_enter,
	.scc_exit = trace_on_scc_exit,
	.scc_backedge = trace_on_scc_backedge,
	.scc_round = trace_on_scc_round,
	.live_stack = trace_on_live_stack,
	.end = on_end,
};

struct loupe_listener loupe_trace_listener(struct loupe_trace *trace)
{
	return (struct loupe_listener){ .hooks = &hooks, .ctx = trace };
}
