// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verifier states: frames and stacks that are shared until somebody writes, the paths left for
 * later, and the history of the present path.
 */
#include "verifier/vf.h"

static size_t stack_bytes(uint32_t cap)
{
	return sizeof(struct loupe_stack) + cap * sizeof(struct loupe_slot);
}

static void stack_release(struct vf_env *env, struct loupe_stack *stack)
{
	if (stack && --stack->refs == 0)
		vf_free(env->slabs, stack, stack_bytes(stack->cap));
}

static struct loupe_stack *stack_alloc(struct vf_env *env, uint32_t cap)
{
	struct loupe_stack *stack = vf_alloc(env->slabs, stack_bytes(cap));

	if (stack) {
		stack->refs = 1;
		stack->cap = cap;
		stack->gen = ++env->stack_gen;
	}
	return stack;
}

void vf_frame_release(struct vf_env *env, struct loupe_frame *frame)
{
	if (!frame || --frame->refs)
		return;
	stack_release(env, frame->stack);
	vf_free(env->slabs, frame, sizeof(*frame));
}

/* A frame of its own with the same registers; the stack is shared. */
static struct loupe_frame *frame_clone(struct vf_env *env, const struct loupe_frame *src)
{
	struct loupe_frame *frame = vf_alloc(env->slabs, sizeof(*frame));

	if (!frame)
		return NULL;
	memcpy(frame, src, sizeof(*frame));
	frame->refs = 1;
	if (frame->stack)
		frame->stack->refs++;
	return frame;
}

struct loupe_frame *vf_frame_mut(struct vf_env *env, struct loupe_state *st, uint32_t frameno)
{
	struct loupe_frame *frame = st->frame[frameno];

	if (frame->refs == 1)
		return frame;
	frame = frame_clone(env, frame);
	if (!frame)
		return NULL;
	st->frame[frameno]->refs--;
	st->frame[frameno] = frame;
	return frame;
}

struct loupe_slot *vf_slots_mut(struct vf_env *env, struct loupe_state *st, uint32_t frameno)
{
	struct loupe_frame *frame = vf_frame_mut(env, st, frameno);
	struct loupe_stack *stack;

	if (!frame)
		return NULL;
	stack = frame->stack;
	if (stack->refs == 1) {
		stack->gen = ++env->stack_gen;
		return stack->slot;
	}
	stack = stack_alloc(env, frame->slot_cnt);
	if (!stack)
		return NULL;
	memcpy(stack->slot, frame->stack->slot, frame->slot_cnt * sizeof(stack->slot[0]));
	frame->stack->refs--;
	frame->stack = stack;
	return stack->slot;
}

int vf_stack_grow(struct vf_env *env, struct loupe_state *st, uint32_t frameno, int bytes)
{
	uint32_t cnt = ((uint32_t)bytes + LOUPE_REG_SIZE - 1) / LOUPE_REG_SIZE;
	struct loupe_frame *frame = st->frame[frameno];
	struct vf_subprog *subprog;
	struct loupe_stack *stack;

	if (cnt <= frame->slot_cnt)
		return 0;
	frame = vf_frame_mut(env, st, frameno);
	if (!frame)
		return -ENOMEM;
	stack = frame->stack;
	if (!stack || stack->refs > 1 || stack->cap < cnt) {
		stack = stack_alloc(env, cnt + cnt / 2);
		if (!stack)
			return -ENOMEM;
		if (frame->slot_cnt)
			memcpy(stack->slot, frame->stack->slot,
			       frame->slot_cnt * sizeof(stack->slot[0]));
		stack_release(env, frame->stack);
		frame->stack = stack;
	}
	stack->gen = ++env->stack_gen;
	memset(&stack->slot[frame->slot_cnt], 0, (cnt - frame->slot_cnt) * sizeof(stack->slot[0]));
	frame->slot_cnt = cnt;
	subprog = &env->subprogs[frame->subprogno];
	if (subprog->stack_depth < cnt * LOUPE_REG_SIZE)
		subprog->stack_depth = cnt * LOUPE_REG_SIZE;
	return 0;
}

struct loupe_frame *vf_frame_init(struct vf_env *env, struct loupe_state *st, uint32_t frameno,
				  int32_t callsite, uint32_t subprogno)
{
	struct loupe_frame *frame = vf_zalloc(env->slabs, sizeof(*frame));

	if (!frame)
		return NULL;
	frame->refs = 1;
	frame->callsite = callsite;
	frame->frameno = frameno;
	frame->subprogno = subprogno;
	for (uint32_t i = 0; i < LOUPE_MAX_REG; i++)
		vf_reg_not_init(env, &frame->regs[i]);
	vf_reg_known(&frame->regs[LOUPE_REG_FP], 0);
	frame->regs[LOUPE_REG_FP].type = PTR_TO_STACK;
	frame->regs[LOUPE_REG_FP].frameno = frameno;
	st->frame[frameno] = frame;
	env->scratched_regs = UINT32_MAX;
	env->scratched_slots = UINT64_MAX;
	return frame;
}

/* --- all registers of a state ------------------------------------------------------------- */

void vf_reg_iter_init(struct vf_reg_iter *it, struct vf_env *env, struct loupe_state *st)
{
	*it = (struct vf_reg_iter){ .env = env, .st = st, .at = -1 };
}

const struct loupe_reg *vf_reg_iter_next(struct vf_reg_iter *it)
{
	while (it->frameno <= it->st->curframe) {
		const struct loupe_frame *frame = it->st->frame[it->frameno];

		it->at++;
		if (!it->is_slot) {
			if (it->at < LOUPE_MAX_REG)
				return &frame->regs[it->at];
			it->is_slot = true;
			it->at = 0;
		}
		for (; (uint32_t)it->at < frame->slot_cnt; it->at++) {
			if (vf_slot_is_spill(&frame->stack->slot[it->at]))
				return &frame->stack->slot[it->at].spilled;
		}
		it->frameno++;
		it->is_slot = false;
		it->at = -1;
	}
	return NULL;
}

struct loupe_reg *vf_reg_iter_mut(struct vf_reg_iter *it)
{
	struct loupe_frame *frame;
	struct loupe_slot *slots;

	if (it->is_slot) {
		slots = vf_slots_mut(it->env, it->st, it->frameno);
		return slots ? &slots[it->at].spilled : NULL;
	}
	frame = vf_frame_mut(it->env, it->st, it->frameno);
	return frame ? &frame->regs[it->at] : NULL;
}

int vf_reg_iter_forget(struct vf_reg_iter *it)
{
	struct loupe_reg *reg = vf_reg_iter_mut(it);

	if (!reg)
		return -ENOMEM;
	if (it->env->allow_ptr_leaks)
		vf_reg_unknown(it->env, reg);
	else
		vf_reg_not_init(it->env, reg);
	return 0;
}

/* --- whole states ------------------------------------------------------------------------- */

/* @return the copy, NULL for an empty array or without memory */
static void *copy_array(struct vf_env *env, const void *src, uint32_t cnt, size_t size)
{
	void *copy = cnt ? vf_alloc(env->slabs, cnt * size) : NULL;

	if (copy)
		memcpy(copy, src, cnt * size);
	return copy;
}

void vf_state_release(struct vf_env *env, struct loupe_state *st)
{
	for (uint32_t i = 0; i <= st->curframe; i++) {
		vf_frame_release(env, st->frame[i]);
		st->frame[i] = NULL;
	}
	vf_free(env->slabs, st->refs, st->ref_cap * sizeof(*st->refs));
	vf_free(env->slabs, st->hist, st->hist_cap * sizeof(*st->hist));
	st->refs = NULL;
	st->hist = NULL;
	st->ref_cap = st->ref_cnt = st->hist_cap = st->hist_cnt = 0;
}

int vf_state_copy(struct vf_env *env, struct loupe_state *dst, const struct loupe_state *src)
{
	uint32_t last = src->curframe;

	*dst = *src;
	dst->serial = 0;
	dst->refs = copy_array(env, src->refs, src->ref_cnt, sizeof(*src->refs));
	dst->ref_cap = src->ref_cnt;
	dst->hist = copy_array(env, src->hist, src->hist_cnt, sizeof(*src->hist));
	dst->hist_cap = src->hist_cnt;
	for (uint32_t i = 0; i < last; i++)
		dst->frame[i]->refs++;
	dst->frame[last] = frame_clone(env, src->frame[last]);
	if (!dst->frame[last] || (src->ref_cnt && !dst->refs) || (src->hist_cnt && !dst->hist))
		return -ENOMEM;
	return 0;
}

/* --- paths left for later ----------------------------------------------------------------- */

static struct vf_branch *new_branch(struct vf_env *env, int32_t insn_idx, int32_t prev_insn_idx)
{
	struct vf_branch *branch = vf_alloc(env->slabs, sizeof(*branch));

	if (!branch)
		return NULL;
	branch->insn_idx = insn_idx;
	branch->prev_insn_idx = prev_insn_idx;
	branch->next = env->head;
	env->head = branch;
	env->branch_cnt++;
	return branch;
}

struct loupe_state *vf_push_branch(struct vf_env *env, int32_t insn_idx, int32_t prev_insn_idx,
				   bool speculative, int *err)
{
	struct vf_branch *branch = new_branch(env, insn_idx, prev_insn_idx);
	struct loupe_state *st;

	*err = -ENOMEM;
	if (!branch || vf_state_copy(env, &branch->state, env->cur))
		return NULL;
	st = &branch->state;
	st->speculative |= speculative;
	if (env->branch_cnt > VF_MAX_BRANCHES) {
		vf_msg(env, "The sequence of %u jumps is too complex.\n", env->branch_cnt);
		*err = -EFAULT;
		return NULL;
	}
	if (st->parent)
		st->parent->branches++;
	*err = 0;
	if (vf_listening(env))
		VF_EMIT(env, branch_push, insn_idx, prev_insn_idx, st, false);
	return st;
}

struct loupe_state *vf_push_async(struct vf_env *env, int32_t insn_idx, int32_t prev_insn_idx,
				  uint32_t subprogno, bool sleepable, int *err)
{
	struct vf_branch *branch = new_branch(env, insn_idx, prev_insn_idx);
	struct loupe_state *st;

	*err = -ENOMEM;
	if (!branch)
		return NULL;
	st = &branch->state;
	memset(st, 0, sizeof(*st));
	if (env->branch_cnt > VF_MAX_BRANCHES) {
		vf_msg(env, "The sequence of %u jumps is too complex for async cb.\n",
		       env->branch_cnt);
		*err = -EFAULT;
		return NULL;
	}
	st->branches = 1;
	st->in_sleepable = sleepable;
	if (!vf_frame_init(env, st, 0, -1, subprogno))
		return NULL;
	*err = 0;
	if (vf_listening(env))
		VF_EMIT(env, branch_push, insn_idx, prev_insn_idx, st, true);
	return st;
}

int vf_pop_branch(struct vf_env *env, int32_t *insn_idx, int32_t *prev_insn_idx)
{
	struct vf_branch *branch = env->head;

	if (!branch)
		return -ENOENT;
	vf_state_release(env, env->cur);
	*env->cur = branch->state;
	*insn_idx = branch->insn_idx;
	*prev_insn_idx = branch->prev_insn_idx;
	env->head = branch->next;
	env->branch_cnt--;
	vf_free(env->slabs, branch, sizeof(*branch));
	if (vf_listening(env))
		VF_EMIT(env, branch_pop, *insn_idx, *prev_insn_idx, env->cur);
	return 0;
}

/* --- path history ------------------------------------------------------------------------- */

int vf_hist_push(struct vf_env *env, struct loupe_state *st, uint32_t flags, uint64_t linked_regs)
{
	struct loupe_jmp_hist *entry;

	if (env->hist_open) {
		entry = &st->hist[st->hist_cnt - 1];
		entry->flags |= flags;
		entry->linked_regs = linked_regs;
		return 0;
	}
	if (st->hist_cnt == st->hist_cap) {
		uint32_t cap = st->hist_cap ? st->hist_cap * 2 : 8;
		struct loupe_jmp_hist *hist = vf_alloc(env->slabs, cap * sizeof(*hist));

		if (!hist)
			return -ENOMEM;
		if (st->hist_cnt)
			memcpy(hist, st->hist, st->hist_cnt * sizeof(*hist));
		vf_free(env->slabs, st->hist, st->hist_cap * sizeof(*hist));
		st->hist = hist;
		st->hist_cap = cap;
	}
	entry = &st->hist[st->hist_cnt++];
	entry->idx = (uint32_t)env->insn_idx;
	entry->prev_idx = (uint32_t)env->prev_insn_idx;
	entry->flags = flags;
	entry->linked_regs = linked_regs;
	env->hist_open = true;
	return 0;
}
