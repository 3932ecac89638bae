// SPDX-License-Identifier: GPL-2.0-only
/* Exploration of one function: insn by insn along a path, then the next path left for later. */
#include "verifier/vf.h"

enum {
	PATH_ENDS = 1,		/* result of an insn: nothing follows it */
	PROGRESS_EVERY = 4096, /* insns between two looks at cancel and progress; a power of two */
};

struct explore {
	bool print_state; /* the next step begins a stretch: its whole state is shown */
	int32_t prev_insn_idx;
};

static struct loupe_step step_now(const struct vf_env *env)
{
	return (struct loupe_step){
		.insn_idx = env->insn_idx,
		.prev_insn_idx = env->prev_insn_idx,
		.state = env->cur,
	};
}

void vf_emit_insn_state(struct vf_env *env)
{
	struct loupe_step step;

	if (!vf_listening(env) || (!env->scratched_regs && !env->scratched_slots))
		return;
	step = step_now(env);
	VF_EMIT(env, insn_state, &step, env->scratched_regs, env->scratched_slots);
	env->scratched_regs = 0;
	env->scratched_slots = 0;
}

static void emit_step(struct vf_env *env, struct explore *ex)
{
	struct loupe_step step = step_now(env);

	if (ex->print_state)
		VF_EMIT(env, path_begin, &step);
	ex->print_state = false;
	vf_emit_insn_state(env);
	VF_EMIT(env, step, &step);
}

static void mark_seen(struct vf_env *env, int32_t insn_idx)
{
	if (!env->cur->speculative)
		env->aux[insn_idx].pass_seen = env->pass_cnt;
}

/* --- insns ------------------------------------------------------------------------------------ */

static int step_exit(struct vf_env *env, struct explore *ex)
{
	int err = vf_check_resource_leak(env, false, env->cur->curframe == 0,
					 "BPF_EXIT instruction in main prog");

	if (err)
		return err;
	if (env->cur->curframe) {
		err = vf_func_return(env, &env->insn_idx);
		ex->print_state = true;
		return err;
	}
	err = vf_check_return_value(env, BPF_REG_0, "R0");
	return err ? err : PATH_ENDS;
}

static int step_call(struct vf_env *env, const struct loupe_insn *insn)
{
	int err;

	if (BPF_SRC(insn->code) != BPF_K ||
	    (insn->src_reg != BPF_PSEUDO_KFUNC_CALL && insn->off != 0) ||
	    (insn->src_reg != 0 && insn->src_reg != BPF_PSEUDO_CALL &&
	     insn->src_reg != BPF_PSEUDO_KFUNC_CALL) ||
	    insn->dst_reg != 0 || BPF_CLASS(insn->code) == BPF_JMP32) {
		vf_msg(env, "BPF_CALL uses reserved fields\n");
		return -EINVAL;
	}
	if (env->cur->active_locks && insn->src_reg == 0 && insn->imm != BPF_FUNC_spin_unlock) {
		vf_msg(env, "function calls are not allowed while holding a lock\n");
		return -EINVAL;
	}
	if (insn->src_reg == BPF_PSEUDO_CALL)
		err = vf_check_func_call(env, insn, &env->insn_idx);
	else if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		err = 0; /* the kernel lacks it: wrong if it is still there in the end */
	else
		err = vf_check_helper_call(env, insn, &env->insn_idx);
	if (err)
		return err;
	vf_mark_scratched_reg(env, BPF_REG_0);
	env->insn_idx++;
	return 0;
}

static int step_ja(struct vf_env *env, const struct loupe_insn *insn)
{
	bool wide = BPF_CLASS(insn->code) == BPF_JMP32;

	if (BPF_SRC(insn->code) != BPF_K || insn->src_reg != 0 || insn->dst_reg != 0 ||
	    (!wide && insn->imm != 0) || (wide && insn->off != 0)) {
		vf_msg(env, "BPF_JA uses reserved fields\n");
		return -EINVAL;
	}
	env->insn_idx += (wide ? insn->imm : insn->off) + 1;
	return 0;
}

static int step_jmp(struct vf_env *env, struct explore *ex, const struct loupe_insn *insn)
{
	int err;

	env->jmps_processed++;
	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		return step_call(env, insn);
	case BPF_JA:
		return step_ja(env, insn);
	case BPF_EXIT:
		if (BPF_SRC(insn->code) != BPF_K || insn->imm != 0 || insn->src_reg != 0 ||
		    insn->dst_reg != 0 || BPF_CLASS(insn->code) == BPF_JMP32) {
			vf_msg(env, "BPF_EXIT uses reserved fields\n");
			return -EINVAL;
		}
		return step_exit(env, ex);
	default:
		err = vf_check_cond_jmp(env, insn, &env->insn_idx);
		if (err)
			return err;
		env->insn_idx++;
		return 0;
	}
}

static int step_ld(struct vf_env *env, const struct loupe_insn *insn)
{
	int err;

	if (BPF_MODE(insn->code) == BPF_IMM) {
		err = vf_check_ld_imm64(env, insn);
		if (err)
			return err;
		env->insn_idx++;
		mark_seen(env, env->insn_idx);
	} else {
		err = vf_check_ld_abs(env, insn);
	}
	if (err)
		return err;
	env->insn_idx++;
	return 0;
}

static int step_store(struct vf_env *env, const struct loupe_insn *insn)
{
	if (BPF_MODE(insn->code) == BPF_ATOMIC)
		return vf_check_atomic(env, insn);
	if (BPF_MODE(insn->code) != BPF_MEM || insn->imm != 0) {
		vf_msg(env, "BPF_STX uses reserved fields\n");
		return -EINVAL;
	}
	return vf_check_store_reg(env, insn, false);
}

/* Simulates the insn at env->insn_idx and moves to the next. */
static int step_insn(struct vf_env *env, struct explore *ex)
{
	const struct loupe_insn *insn = &env->insns[env->insn_idx];
	int err;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		err = vf_check_alu(env, insn);
		break;
	case BPF_LDX:
		err = vf_check_load(env, insn, false, BPF_MODE(insn->code) == BPF_MEMSX, true,
				    "ldx");
		break;
	case BPF_STX:
		err = step_store(env, insn);
		break;
	case BPF_ST:
		err = vf_check_store_imm(env, insn);
		break;
	case BPF_LD:
		return step_ld(env, insn);
	default:
		return step_jmp(env, ex, insn);
	}
	if (err)
		return err;
	env->insn_idx++;
	return 0;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Errors that a barrier against speculation can make harmless on a speculative path. */
static bool absorbed_by_barrier(int err)
{
	return err == -EPERM || err == -EACCES || err == -EINVAL;
}

static int look_around(struct vf_env *env)
{
	uint32_t processed = env->counters->insn_processed;

	if (processed & (PROGRESS_EVERY - 1))
		return 0;
	if (env->opts->progress)
		env->opts->progress(env->opts->progress_ctx, processed);
	if (!env->opts->cancel || !*env->opts->cancel)
		return 0;
	snprintf(env->result->reason, sizeof(env->result->reason), "cancelled");
	return VF_STOPPED;
}

/* What happens on arrival at an insn, before it is simulated. PATH_ENDS: pruned. */
static int arrive(struct vf_env *env, struct explore *ex)
{
	struct loupe_step step;
	int err;

	env->hist_open = false;
	env->prev_insn_idx = ex->prev_insn_idx;
	if (env->insn_idx < 0 || (uint32_t)env->insn_idx >= env->insn_cnt) {
		vf_msg(env, "invalid insn idx %d insn_cnt %u\n", env->insn_idx, env->insn_cnt);
		return -EFAULT;
	}
	env->counters->insn_processed++;
	step = step_now(env);
	if (vf_listening(env))
		VF_EMIT(env, arrive, &step);
	if (env->counters->insn_processed > env->opts->insn_limit) {
		vf_msg(env, "BPF program is too large. Processed %u insn\n",
		       env->counters->insn_processed);
		return -E2BIG;
	}
	env->cur->last_insn_idx = (uint32_t)env->prev_insn_idx;
	env->cur->insn_idx = env->insn_idx;
	if (env->aux[env->insn_idx].prune_point) {
		err = vf_state_visited(env, env->insn_idx);
		if (err < 0)
			return err;
		if (err) {
			if (vf_listening(env))
				VF_EMIT(env, pruned, &step, ex->print_state);
			return PATH_ENDS;
		}
	}
	if (env->aux[env->insn_idx].jmp_point) {
		err = vf_hist_push(env, env->cur, 0, 0);
		if (err)
			return err;
	}
	err = look_around(env);
	if (err)
		return err;
	if (vf_listening(env))
		emit_step(env, ex);
	mark_seen(env, env->insn_idx);
	ex->prev_insn_idx = env->insn_idx;
	return 0;
}

/* Others have no say in which slots are always written. */
static bool may_write_stack(const struct loupe_insn *insn)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ST:
	case BPF_STX:
		return true;
	case BPF_JMP:
	case BPF_JMP32:
		return BPF_OP(insn->code) == BPF_CALL || BPF_OP(insn->code) == BPF_EXIT;
	default:
		return false;
	}
}

/* One insn of the present path; PATH_ENDS or an error at its end. */
static int advance(struct vf_env *env, struct explore *ex)
{
	struct vf_aux *aux;
	int err = arrive(env, ex), marks_err;
	bool writes;

	if (err)
		return err;
	aux = &env->aux[env->insn_idx];
	if (env->cur->speculative && aux->nospec)
		return PATH_ENDS;
	writes = may_write_stack(&env->insns[env->insn_idx]);
	if (writes) {
		err = vf_livestack_reset_writes(env, (uint32_t)env->insn_idx);
		if (err)
			return err;
	}
	err = step_insn(env, ex);
	if (writes && (err >= 0 || absorbed_by_barrier(err))) {
		marks_err = vf_livestack_commit_writes(env);
		if (marks_err)
			return marks_err;
	}
	if (err < 0 && absorbed_by_barrier(err) && env->cur->speculative) {
		aux->nospec = true;
		aux->alu_state = 0;
		return PATH_ENDS;
	}
	if (!err && env->cur->speculative && aux->nospec_result)
		return PATH_ENDS;
	return err;
}

static int walk_paths(struct vf_env *env)
{
	struct explore ex = { .prev_insn_idx = -1 };
	int err;

	for (;;) {
		err = advance(env, &ex);
		if (!err)
			continue;
		if (err < 0)
			return err;
		env->scratched_regs = UINT32_MAX;
		env->scratched_slots = UINT64_MAX;
		if (vf_listening(env))
			VF_EMIT(env, path_end, env->insn_idx);
		err = vf_branch_done(env, env->cur);
		if (!err)
			err = vf_livestack_update(env);
		if (err)
			return err;
		if (vf_pop_branch(env, &env->insn_idx, &ex.prev_insn_idx) == -ENOENT)
			return 0;
		ex.print_state = true;
	}
}

static void drop_paths(struct vf_env *env)
{
	while (env->head) {
		struct vf_branch *branch = env->head;

		env->head = branch->next;
		vf_state_release(env, &branch->state);
		vf_free(env->slabs, branch, sizeof(*branch));
	}
	env->branch_cnt = 0;
}

int vf_explore_func(struct vf_env *env, uint32_t subprogno)
{
	int err;

	env->pass_cnt++;
	env->subprog_now = subprogno;
	env->cur = vf_zalloc(env->slabs, sizeof(*env->cur));
	if (!env->cur)
		return -ENOMEM;
	env->cur->branches = 1;
	env->cur->in_sleepable = env->sleepable;
	if (!vf_frame_init(env, env->cur, 0, -1, subprogno))
		return -ENOMEM;
	env->cur->first_insn_idx = env->subprogs[subprogno].start;
	env->cur->last_insn_idx = UINT32_MAX;
	env->insn_idx = (int32_t)env->subprogs[subprogno].start;

	if (vf_listening(env))
		VF_EMIT(env, func_begin, subprogno);
	err = vf_prepare_args(env, subprogno);
	if (!err)
		err = walk_paths(env);
	if (vf_listening(env))
		VF_EMIT(env, func_end, subprogno, err);

	vf_state_release(env, env->cur);
	vf_free(env->slabs, env->cur, sizeof(*env->cur));
	env->cur = NULL;
	drop_paths(env);
	vf_checkpoints_drop(env);
	vf_sccs_drop(env);
	return err;
}
