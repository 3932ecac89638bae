// SPDX-License-Identifier: GPL-2.0-only
/* The state that a log's lines build up, and those that paths left for later begin with. */
#include <stdlib.h>
#include <string.h>

#include "klog/replay.h"

/* --- states ---------------------------------------------------------------------------------- */

bool replay_state_init(struct loupe_state *st, struct loupe_frame *frames)
{
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++) {
		struct loupe_stack *stack =
			calloc(1, sizeof(*stack) + LOUPE_MAX_SLOTS * sizeof(stack->slot[0]));

		if (!stack)
			return false;
		stack->refs = 1;
		stack->cap = LOUPE_MAX_SLOTS;
		frames[f].refs = 1;
		frames[f].stack = stack;
		st->frame[f] = &frames[f];
	}
	return true;
}

void replay_state_finish(struct loupe_frame *frames)
{
	for (uint32_t f = 0; f < LOUPE_MAX_FRAMES; f++)
		free(frames[f].stack);
}

void replay_frame_reset(struct loupe_frame *frame, uint32_t frameno, int32_t callsite,
			uint32_t subprogno)
{
	memset(frame->regs, 0, sizeof(frame->regs));
	memset(frame->stack->slot, 0, LOUPE_MAX_SLOTS * sizeof(frame->stack->slot[0]));
	frame->slot_cnt = 0;
	frame->frameno = frameno;
	frame->callsite = callsite;
	frame->subprogno = subprogno;
	frame->in_callback_fn = frame->in_async_callback_fn = false;
}

/* The function that begins at insn, 0 if none is known to. */
static uint32_t subprog_at(const struct walk *w, int32_t insn)
{
	for (uint32_t i = 0; i < w->item; i++) {
		struct scan_field f[FORM_MAX_FIELDS];

		if (w->log->items[i].kind == FORM_LIVE_REGS || w->log->items[i].kind == FORM_STEP)
			break;
		if (w->log->items[i].kind == FORM_SUBPROG &&
		    item_scan(w->log, &w->log->items[i], f) && f[1].number == insn &&
		    f[0].number >= 0 && f[0].number < 256)
			return (uint32_t)f[0].number;
	}
	return 0;
}

/* Opens frames up to frameno, called at callsite to run insn. */
void replay_enter_frames(struct walk *w, uint32_t frameno, int32_t callsite, int32_t insn)
{
	while (w->st.curframe < frameno) {
		w->st.curframe++;
		replay_frame_reset(&w->frames[w->st.curframe], w->st.curframe, callsite,
				   subprog_at(w, insn));
	}
}

/* Takes over what w->text says. */
void replay_take_text(struct walk *w, struct loupe_state *st, bool whole)
{
	const struct scan_frame *t = &w->text;
	struct loupe_frame *frame = st->frame[t->frameno];

	if (whole) {
		memset(frame->regs, 0, sizeof(frame->regs));
		memset(frame->stack->slot, 0, frame->slot_cnt * sizeof(frame->stack->slot[0]));
		frame->slot_cnt = 0;
	}
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
		if (t->regs & 1u << r)
			frame->regs[r] = t->reg[r];
	}
	for (uint32_t s = 0; s < LOUPE_MAX_SLOTS; s++) {
		if (!(t->slots & 1ull << s))
			continue;
		frame->stack->slot[s] = t->slot[s];
		if (frame->slot_cnt <= s)
			frame->slot_cnt = s + 1;
	}
	frame->in_callback_fn = t->callback;
	frame->in_async_callback_fn = t->async_callback;
	st->ref_cnt = t->ref_cnt;
	for (uint32_t i = 0; i < t->ref_cnt; i++)
		st->refs[i] = (struct loupe_ref){ .type = REF_TYPE_PTR, .id = t->refs[i] };
}

void replay_read_frame(struct walk *w, const char *text, size_t len)
{
	struct scan_names names = logged_names(w->log);

	frame_scan(text, len, &names, &w->text);
}

/* Reads a frame's state into the present state. insn: where it is, for a frame that is new. */
void replay_apply(struct walk *w, const char *text, size_t len, bool whole, int32_t insn)
{
	replay_read_frame(w, text, len);
	if (w->text.frameno > w->st.curframe)
		replay_enter_frames(w, w->text.frameno, w->insn, insn);
	else
		w->st.curframe = w->text.frameno;
	replay_take_text(w, &w->st, whole);
}

/* Another value than any before, so that it is known which step gave it. */
static struct loupe_reg not_logged(const struct walk *w)
{
	return (struct loupe_reg){ .type = REG_NOT_LOGGED, .off = (int32_t)w->step_cnt };
}

/* What the last insn overwrote: known again if the log shows it. */
void replay_overwrite(struct walk *w, bool pruned)
{
	const struct loupe_insn *insn = insn_at(w, w->insn);
	struct loupe_reg *regs = w->st.frame[w->st.curframe]->regs;

	if (!insn || w->called || w->returned)
		return;
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LDX:
		if (insn->dst_reg < LOUPE_REG_FP)
			regs[insn->dst_reg] = not_logged(w);
		return;
	case BPF_STX:
		if (BPF_MODE(insn->code) != BPF_ATOMIC || !pruned)
			return;
		if (insn->imm == BPF_CMPXCHG)
			regs[BPF_REG_0] = not_logged(w);
		else if (insn->imm == BPF_LOAD_ACQ)
			regs[insn->dst_reg % LOUPE_REG_FP] = not_logged(w);
		else if (insn->imm & BPF_FETCH)
			regs[insn->src_reg % LOUPE_REG_FP] = not_logged(w);
		return;
	case BPF_LD:
		if (BPF_MODE(insn->code) == BPF_IMM) {
			if (insn->dst_reg < LOUPE_REG_FP)
				regs[insn->dst_reg] = not_logged(w);
			return;
		}
		break;
	default:
		if (!is_call(insn))
			return;
	}
	/* A call clobbers the arguments. Its result shows, unless there is none or the path ends.
	 */
	memset(&regs[BPF_REG_0], 0, (BPF_REG_5 + 1) * sizeof(regs[0]));
	if (pruned)
		regs[BPF_REG_0] = not_logged(w);
}

/* --- paths left for later -------------------------------------------------------------------- */

static void keep(struct walk *w, uint32_t pop)
{
	uint32_t frames = w->st.curframe + 1;
	size_t size = sizeof(struct kept) + frames * sizeof(struct loupe_frame);
	struct loupe_slot *slots;
	struct kept *k;

	for (uint32_t f = 0; f < frames; f++)
		size += w->frames[f].slot_cnt * sizeof(*slots);
	k = malloc(size);
	if (!k) {
		w->no_memory = true;
		return;
	}
	k->pop = pop;
	k->curframe = w->st.curframe;
	k->below = w->kept;
	slots = (struct loupe_slot *)(void *)&k->frame[frames];
	for (uint32_t f = 0; f < frames; f++) {
		k->frame[f] = w->frames[f];
		if (w->frames[f].slot_cnt)
			memcpy(slots, w->frames[f].stack->slot,
			       w->frames[f].slot_cnt * sizeof(*slots));
		slots += w->frames[f].slot_cnt;
	}
	w->kept = k;
}

void replay_drop_kept(struct walk *w)
{
	struct kept *k = w->kept;

	w->kept = k->below;
	free(k);
}

static void restore(struct walk *w, const struct kept *k)
{
	const struct loupe_slot *slots =
		(const struct loupe_slot *)(const void *)&k->frame[k->curframe + 1];

	for (uint32_t f = 0; f <= k->curframe; f++) {
		struct loupe_stack *stack = w->frames[f].stack;

		w->frames[f] = k->frame[f];
		w->frames[f].stack = stack;
		memset(stack->slot, 0, LOUPE_MAX_SLOTS * sizeof(*slots));
		memcpy(stack->slot, slots, k->frame[f].slot_cnt * sizeof(*slots));
		slots += k->frame[f].slot_cnt;
	}
	w->st.curframe = k->curframe;
}

/* The last step leaves these paths. */
void replay_tell_pushes(struct walk *w)
{
	const struct loupe_logged *log = w->log;

	for (uint32_t i = w->push_cnt; i < log->pop_cnt; i++) {
		const struct log_pop *pop = &log->pops[log->pushed[i]];
		struct loupe_state st = { .speculative = pop->speculative };

		if (pop->step != w->step_cnt - 1)
			break;
		TELL(w, branch_push, pop->to, pop->from, &st, pop->async);
		w->push_cnt++;
	}
}

/* Before the last step's insn does anything. */
void replay_keep_for_pushes(struct walk *w)
{
	const struct loupe_logged *log = w->log;

	for (; w->push_cnt < log->pop_cnt; w->push_cnt++) {
		uint32_t step = log->pops[log->pushed[w->push_cnt]].step;

		if (step != LOUPE_NO_STEP && step >= w->step_cnt - 1)
			break;
	}
	for (uint32_t i = w->push_cnt; i < log->pop_cnt; i++) {
		if (log->pops[log->pushed[i]].step != w->step_cnt - 1)
			break;
		keep(w, log->pushed[i]);
	}
}

void replay_pop_path(struct walk *w, const struct arrival *a)
{
	const struct log_pop *pop = w->pop_cnt < w->log->pop_cnt ? &w->log->pops[w->pop_cnt] : NULL;
	const struct loupe_insn *jump = insn_at(w, a->from);
	struct loupe_reg *regs;

	TELL(w, path_end, w->insn);
	w->path_speculative = a->speculative;
	if (!w->finder) {
		while (w->kept && w->kept->pop > w->pop_cnt)
			replay_drop_kept(w);
		if (w->kept && w->kept->pop == w->pop_cnt) {
			restore(w, w->kept);
			replay_drop_kept(w);
		}
	}
	w->insn = a->from;
	w->st.speculative = a->speculative;
	if (pop && pop->async) {
		w->st.curframe = 0;
		replay_frame_reset(&w->frames[0], 0, -1, subprog_at(w, a->to));
	} else if (!a->text && is_call(jump) && a->to != a->from && a->to != a->from + 1) {
		replay_enter_frames(w,
				    w->st.curframe + 1 < LOUPE_MAX_FRAMES ? w->st.curframe + 1
									  : w->st.curframe,
				    a->from, a->to);
		regs = w->st.frame[w->st.curframe]->regs;
		for (uint32_t r = BPF_REG_1; r <= BPF_REG_5; r++)
			regs[r] = not_logged(w);
		regs[LOUPE_REG_FP] =
			(struct loupe_reg){ .type = PTR_TO_STACK, .frameno = w->st.curframe };
	} else if (!a->text && is_cond(jump)) {
		regs = w->st.frame[w->st.curframe]->regs;
		regs[jump->dst_reg % LOUPE_REG_FP] = not_logged(w);
		if (BPF_SRC(jump->code) == BPF_X)
			regs[jump->src_reg % LOUPE_REG_FP] = not_logged(w);
	}
	TELL(w, branch_pop, a->to, a->from, &w->st);
	w->pop_cnt++;
}
