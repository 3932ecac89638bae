// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the program's own functions, callbacks, and the way back. */
#include "verifier/call.h"

void vf_clear_caller_saved(struct vf_env *env, struct loupe_reg *regs)
{
	for (uint32_t i = BPF_REG_0; i <= BPF_REG_5; i++) {
		vf_reg_not_init(env, &regs[i]);
		vf_mark_scratched_reg(env, i);
		regs[i].subreg_def = env->insn_idx + 1;
	}
}

static bool is_pkt_slice(uint32_t type)
{
	return loupe_base_type(type) == PTR_TO_MEM &&
	       (type & (DYNPTR_TYPE_SKB | DYNPTR_TYPE_XDP | DYNPTR_TYPE_SKB_META));
}

int vf_clear_pkt_pointers(struct vf_env *env)
{
	const struct loupe_reg *reg;
	struct vf_reg_iter it;

	vf_reg_iter_init(&it, env, env->cur);
	while ((reg = vf_reg_iter_next(&it))) {
		if ((vf_is_pkt_pointer(reg->type) || reg->type == PTR_TO_PACKET_END ||
		     is_pkt_slice(reg->type)) &&
		    vf_reg_iter_forget(&it))
			return -ENOMEM;
	}
	return 0;
}

/* The prototype in BTF against what is passed; one that is found wrong is not believed any more. */
static int check_prototype(struct vf_env *env, uint32_t subprogno)
{
	struct vf_subprog *sub = &env->subprogs[subprogno];
	int err;

	if (!env->image->func_info_cnt)
		return -EINVAL;
	if (!sub->func_type_id)
		return -EFAULT;
	if (sub->unreliable)
		return -EINVAL;
	err = vf_check_func_args(env, subprogno);
	if (err)
		sub->unreliable = true;
	return err;
}

/* A fresh frame above the current one of st. */
static int enter(struct vf_env *env, struct loupe_state *st, uint32_t subprogno, int32_t callsite,
		 vf_set_callee set_callee)
{
	struct loupe_frame *callee;
	int err;

	if (st->curframe + 1 >= LOUPE_MAX_FRAMES) {
		vf_msg(env, "the call stack of %u frames is too deep\n", st->curframe + 2);
		return -E2BIG;
	}
	callee = vf_frame_init(env, st, st->curframe + 1, callsite, subprogno);
	if (!callee)
		return -ENOMEM;
	err = set_callee(env, st->frame[st->curframe], callee, callsite);
	if (err) {
		vf_frame_release(env, callee);
		st->frame[st->curframe + 1] = NULL;
		return err;
	}
	st->curframe++;
	return 0;
}

static int pass_arguments(struct vf_env *env, const struct loupe_frame *caller,
			  struct loupe_frame *callee, int32_t insn_idx)
{
	(void)env;
	(void)insn_idx;
	for (int i = BPF_REG_1; i <= BPF_REG_5; i++)
		callee->regs[i] = caller->regs[i];
	return 0;
}

/* Global functions are explored on their own: here only the prototype counts. */
static int call_global(struct vf_env *env, uint32_t subprogno, int args_err)
{
	struct vf_subprog *sub = &env->subprogs[subprogno];
	const struct loupe_state *st = env->cur;
	struct loupe_reg *regs;

	if (st->active_locks) {
		vf_msg(env, "global function calls are not allowed while holding a lock,\n"
			    "use static function instead\n");
		return -EINVAL;
	}
	if (sub->might_sleep && (st->active_rcu_locks || st->active_preempt_locks ||
				 st->active_irq_id || !st->in_sleepable)) {
		vf_msg(env,
		       "global functions that may sleep are not allowed in non-sleepable context,\n"
		       "i.e., in a RCU/IRQ/preempt-disabled section, or in\n"
		       "a non-sleepable BPF program context\n");
		return -EINVAL;
	}
	if (args_err) {
		vf_msg(env, "Caller passes invalid args into func#%u ('%s')\n", subprogno,
		       sub->name);
		return args_err;
	}
	vf_msg(env, "Func#%u ('%s') is global and assumed valid.\n", subprogno, sub->name);
	if (sub->changes_pkt_data) {
		int err = vf_clear_pkt_pointers(env);

		if (err)
			return err;
	}
	sub->called = true;
	regs = vf_cur_regs(env);
	vf_clear_caller_saved(env, regs);
	vf_mark_reg_unknown(env, BPF_REG_0);
	regs[BPF_REG_0].subreg_def = 0;
	return 0;
}

int vf_check_func_call(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx)
{
	int subprogno = vf_find_subprog(env, *insn_idx + insn->imm + 1);
	uint32_t caller = env->cur->curframe;
	int err;

	if (subprogno < 0) {
		vf_msg(env, "verifier bug: no program starts at insn %d\n",
		       *insn_idx + insn->imm + 1);
		return -EFAULT;
	}
	err = check_prototype(env, (uint32_t)subprogno);
	if (err == -EFAULT || err == VF_NOT_JUDGED)
		return err;
	if (env->subprogs[subprogno].is_global)
		return call_global(env, (uint32_t)subprogno, err);

	err = enter(env, env->cur, (uint32_t)subprogno, *insn_idx, pass_arguments);
	if (err)
		return err;
	vf_clear_caller_saved(env, env->cur->frame[caller]->regs);
	*insn_idx = (int32_t)env->subprogs[subprogno].start - 1;
	vf_livestack_reset_chain(env);
	if (vf_listening(env))
		VF_EMIT(env, call_enter, env->cur, caller, caller + 1);
	return 0;
}

/* Timers and work queues run their callback some other time, with nothing of the present state. */
static int push_later(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
		      uint32_t subprogno, vf_set_callee set_callee)
{
	const struct loupe_frame *caller = vf_cur_frame(env);
	bool sleepable = insn->src_reg == BPF_PSEUDO_KFUNC_CALL;
	struct loupe_frame *callee;
	struct loupe_state *st;
	int err;

	env->subprogs[subprogno].is_async_cb = true;
	st = vf_push_async(env, (int32_t)env->subprogs[subprogno].start, insn_idx, subprogno,
			   sleepable, &err);
	if (!st)
		return err;
	callee = st->frame[0];
	callee->async_entry_cnt = caller->async_entry_cnt + 1;
	return set_callee(env, caller, callee, insn_idx);
}

int vf_push_callback(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
		     uint32_t subprogno, vf_set_callee set_callee)
{
	struct loupe_state *st;
	struct loupe_frame *below;
	int err = check_prototype(env, subprogno);

	if (err == -EFAULT || err == VF_NOT_JUDGED)
		return err;
	env->subprogs[subprogno].is_cb = true;
	if (vf_insn_is_async_callback(insn))
		return push_later(env, insn, insn_idx, subprogno, set_callee);

	st = vf_push_branch(env, (int32_t)env->subprogs[subprogno].start, insn_idx, false, &err);
	if (!st)
		return err == -EFAULT ? VF_KERNEL_ENOMEM : err;
	err = enter(env, st, subprogno, insn_idx, set_callee);
	if (err)
		return err;
	st->callback_unroll_depth++;
	below = vf_frame_mut(env, st, st->curframe - 1);
	if (!below)
		return -ENOMEM;
	below->callback_depth++;
	vf_cur_frame(env)->callback_depth = 0;
	return 0;
}

/* --- the way back ----------------------------------------------------------------------------- */

void vf_msg_invalid_scalar(struct vf_env *env, const struct loupe_reg *reg,
			   struct loupe_retval_range range, const char *ctx, const char *reg_name)
{
	vf_msg(env, "%s the register %s has", ctx, reg_name);
	if (reg->smin > INT64_MIN)
		vf_msg(env, " smin=%lld", (long long)reg->smin);
	if (reg->smax < INT64_MAX)
		vf_msg(env, " smax=%lld", (long long)reg->smax);
	if (reg->smin == INT64_MIN && reg->smax == INT64_MAX)
		vf_msg(env, " unknown scalar value");
	vf_msg(env, " should have been in [%d, %d]\n", range.min, range.max);
}

bool vf_retval_within(struct loupe_retval_range range, const struct loupe_reg *reg)
{
	return range.min <= reg->smin && reg->smax <= range.max;
}

static int check_callback_result(struct vf_env *env, const struct loupe_frame *callee)
{
	const struct loupe_reg *r0 = &callee->regs[BPF_REG_0];
	int err;

	if (r0->type != SCALAR_VALUE) {
		vf_msg(env, "R0 not a scalar value\n");
		return -EACCES;
	}
	err = vf_mark_chain_precision(env, BPF_REG_0);
	if (err)
		return err;
	if (!vf_retval_within(callee->callback_ret_range, r0)) {
		vf_msg_invalid_scalar(env, r0, callee->callback_ret_range, "At callback return",
				      "R0");
		return -EINVAL;
	}
	return env->aux[callee->callsite].calls_callback ? 0 : -EFAULT;
}

/* The checkpoint at insn_idx from which the present turn of a callback's loop started. */
static const struct loupe_state *previous_turn(struct vf_env *env, int32_t insn_idx)
{
	for (struct vf_checkpoint *cp = *vf_bucket(env, insn_idx); cp; cp = cp->next) {
		if (cp->state.insn_idx == insn_idx && cp->state.branches &&
		    vf_same_callsites(&cp->state, env->cur) &&
		    cp->state.dfs_depth < env->cur->dfs_depth)
			return &cp->state;
	}
	return NULL;
}

/* The scalar changes from turn to turn and nobody needs its value: forget it. */
static bool should_widen(struct vf_env *env, const struct loupe_reg *old,
			 const struct loupe_reg *cur)
{
	return old->type == SCALAR_VALUE && cur->type == SCALAR_VALUE && !old->precise &&
	       !cur->precise && !vf_regs_exact(env, old, cur);
}

static int widen_frame(struct vf_env *env, const struct loupe_frame *old, uint32_t frameno)
{
	struct loupe_frame *cur = vf_frame_mut(env, env->cur, frameno);

	if (!cur)
		return -ENOMEM;
	for (int i = 0; i < LOUPE_MAX_REG; i++) {
		if (should_widen(env, &old->regs[i], &cur->regs[i]))
			vf_reg_unknown(env, &cur->regs[i]);
	}
	for (uint32_t i = 0; i < old->slot_cnt && i < cur->slot_cnt; i++) {
		struct loupe_slot *slots;

		if (!vf_slot_is_spill(&old->stack->slot[i]) ||
		    !vf_slot_is_spill(&cur->stack->slot[i]) ||
		    !should_widen(env, &old->stack->slot[i].spilled, &cur->stack->slot[i].spilled))
			continue;
		slots = vf_slots_mut(env, env->cur, frameno);
		if (!slots)
			return -ENOMEM;
		vf_reg_unknown(env, &slots[i].spilled);
	}
	return 0;
}

static int widen(struct vf_env *env, const struct loupe_state *old)
{
	env->idmap.tmp_id_gen = env->id_gen;
	env->idmap.cnt = 0;
	for (uint32_t f = old->curframe + 1; f-- > 0;) {
		int err = widen_frame(env, old->frame[f], f);

		if (err)
			return err;
	}
	return 0;
}

int vf_func_return(struct vf_env *env, int32_t *insn_idx)
{
	struct loupe_state *st = env->cur;
	struct loupe_frame *callee = vf_cur_frame(env), *caller;
	bool callback = callee->in_callback_fn;
	const struct loupe_state *turn;
	int err = vf_livestack_update(env);

	if (err)
		return err;
	if (callee->regs[BPF_REG_0].type == PTR_TO_STACK) {
		vf_msg(env, "cannot return stack pointer to the caller\n");
		return -EINVAL;
	}
	if (callback) {
		err = check_callback_result(env, callee);
		if (err)
			return err;
	}
	/* from now on it is the current frame, which is never shared */
	caller = vf_frame_mut(env, st, st->curframe - 1);
	if (!caller)
		return -ENOMEM;
	if (!callback)
		caller->regs[BPF_REG_0] = callee->regs[BPF_REG_0];
	*insn_idx = callback ? callee->callsite : callee->callsite + 1;
	if (vf_listening(env))
		VF_EMIT(env, call_return, st, st->curframe, st->curframe - 1, *insn_idx);
	vf_frame_release(env, callee);
	st->frame[st->curframe--] = NULL;

	turn = callback ? previous_turn(env, *insn_idx) : NULL;
	return turn ? widen(env, turn) : 0;
}
