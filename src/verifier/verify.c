// SPDX-License-Identifier: GPL-2.0-only
/* A whole verification: the phases in the kernel's order, and the verdict. */
#include <stdlib.h>
#include <time.h>

#include "verifier/helper.h"

void loupe_verify_opts_init(struct loupe_verify_opts *opts)
{
	*opts = (struct loupe_verify_opts){
		.size = sizeof(*opts),
		.evict_n = 3,
		.insn_limit = VF_MAX_INSNS,
	};
}

void loupe_verify_result_finish(struct loupe_verify_result *result)
{
	free(result->insn_seen);
	free(result->branch_taken);
	free(result->final_insns);
	free(result->final_to_orig);
	result->insn_seen = NULL;
	result->branch_taken = NULL;
	result->final_insns = NULL;
	result->final_to_orig = NULL;
}

static int explore_main(struct vf_env *env)
{
	return vf_explore_func(env, 0);
}

/* Global functions are explored once each, when something explored calls them. */
static int explore_subprogs(struct vf_env *env)
{
	bool again = true;

	if (!env->image->func_info_cnt)
		return 0;
	if (env->exception_cb > 0)
		env->subprogs[env->exception_cb].called = true;
	while (again) {
		again = false;
		for (uint32_t i = 1; i < env->subprog_cnt; i++) {
			struct vf_subprog *sub = &env->subprogs[i];
			int err;

			if (!sub->is_global || !sub->called || sub->verified)
				continue;
			err = vf_explore_func(env, i);
			if (err)
				return err;
			sub->verified = true;
			again = true;
		}
	}
	return 0;
}

static int prepare_exploration(struct vf_env *env)
{
	int err;

	env->buckets = vf_zalloc(env->slabs, env->insn_cnt * sizeof(env->buckets[0]));
	if (!env->buckets)
		return -ENOMEM;
	err = vf_walk_init(env);
	return err ? err : vf_sccs_init(env);
}

/* The phases that have a log, in the kernel's order. */
static const struct {
	enum loupe_phase phase;
	int (*run)(struct vf_env *env);
} phases[] = {
	{ LOUPE_PHASE_LOAD, vf_helpers_init },
	{ LOUPE_PHASE_BTF, vf_check_btf_early },
	{ LOUPE_PHASE_SUBPROGS, vf_add_subprogs },
	{ LOUPE_PHASE_SUBPROGS, vf_check_subprogs },
	{ LOUPE_PHASE_BTF, vf_check_btf_info },
	{ LOUPE_PHASE_RESOLVE, vf_resolve_maps },
	{ LOUPE_PHASE_CFG, vf_check_cfg },
	{ LOUPE_PHASE_CFG, vf_compute_postorder },
	{ LOUPE_PHASE_CFG, vf_livestack_init },
	{ LOUPE_PHASE_CFG, vf_check_attach },
	{ LOUPE_PHASE_SCC, vf_compute_scc },
	{ LOUPE_PHASE_LIVENESS, vf_check_modelled },
	{ LOUPE_PHASE_LIVENESS, vf_check_kfuncs_modelled },
	{ LOUPE_PHASE_LIVENESS, vf_compute_live_regs },
	{ LOUPE_PHASE_FASTCALL, vf_mark_fastcall },
	{ LOUPE_PHASE_FASTCALL, prepare_exploration },
	{ LOUPE_PHASE_EXPLORE_MAIN, explore_main },
	{ LOUPE_PHASE_EXPLORE_SUBPROGS, explore_subprogs },
	{ LOUPE_PHASE_STACK_DEPTH, vf_check_stack_depth },
	{ LOUPE_PHASE_REWRITE, vf_rewrite },
};

/* The loader found nothing to attach to. */
static int no_target(struct vf_env *env)
{
	const struct loupe_image *image = env->image;

	if (image->attach_target && image->prog_type != BPF_PROG_TYPE_EXT)
		return vf_not_judged(env, "attach target %s is not in the kernel's BTF",
				     image->attach_target);
	return vf_not_judged(env, "the load needs an attach target, and none is set");
}

static int run_phases(struct vf_env *env)
{
	int err;

	env->phase = LOUPE_PHASE_LOAD;
	if (env->image->attach_unset)
		return no_target(env);
	err = vf_load_checks(env);

	for (size_t i = 0; !err && i < sizeof(phases) / sizeof(phases[0]); i++) {
		if (env->phase != phases[i].phase) {
			env->phase = phases[i].phase;
			if (vf_listening(env))
				VF_EMIT(env, phase, env->phase);
		}
		err = phases[i].run(env);
	}
	return err;
}

static int setup(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	bool privileged = !env->opts->unprivileged;
	struct loupe_error err;

	env->slabs = vf_slabs_create(env->opts->memory_limit, env->opts->general_allocator);
	if (!env->slabs)
		return -ENOMEM;
	env->insn_cnt = image->insn_cnt;
	env->insns = vf_alloc(env->slabs, (env->insn_cnt + 1) * sizeof(env->insns[0]));
	env->aux = vf_zalloc(env->slabs, (env->insn_cnt + 1) * sizeof(env->aux[0]));
	if (!env->insns || !env->aux)
		return -ENOMEM;
	if (env->insn_cnt)
		memcpy(env->insns, image->insns, env->insn_cnt * sizeof(env->insns[0]));
	env->insns[env->insn_cnt] = (struct loupe_insn){ 0 };
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		env->aux[i].map_idx = -1;
		env->aux[i].orig_idx = i;
	}
	env->exception_cb = -1;
	env->allow_ptr_leaks = env->allow_uninit_stack = env->bpf_capable = privileged;
	env->bypass_spec_v1 = env->bypass_spec_v4 = privileged;
	env->strict_alignment = (image->prog_flags & BPF_F_STRICT_ALIGNMENT) &&
				!(image->prog_flags & BPF_F_ANY_ALIGNMENT);
	env->test_state_freq = (privileged && (image->prog_flags & BPF_F_TEST_STATE_FREQ)) ||
			       env->opts->checkpoint_always;
	env->test_reg_invariants = privileged && (image->prog_flags & BPF_F_TEST_REG_INVARIANTS);
	if (image->btf && btf_open(image->btf, image->btf_size, &env->program_btf, &err))
		env->program_btf = NULL;
	env->btf = env->program_btf;
	return 0;
}

static void finish(struct vf_env *env)
{
	btf_close(env->program_btf);
	vf_slabs_destroy(env->slabs);
	free(env);
}

/* What a caller may want to know of each insn of the image. */
static int report_insns(struct vf_env *env)
{
	struct loupe_verify_result *result = env->result;
	uint32_t cnt = env->image->insn_cnt;

	result->insn_cnt = cnt;
	result->insn_seen = calloc(cnt + 1, 1);
	result->branch_taken = calloc(cnt + 1, 1);
	if (!result->insn_seen || !result->branch_taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		const struct vf_aux *aux = &env->aux[i];

		if (aux->orig_idx >= cnt)
			continue;
		result->insn_seen[aux->orig_idx] = aux->pass_seen != 0;
		result->branch_taken[aux->orig_idx] =
			(uint8_t)(aux->branch_true | aux->branch_false << 1);
	}
	result->subprog_cnt = env->subprog_cnt;
	for (uint32_t i = 0; i < env->subprog_cnt && i < VF_MAX_SUBPROGS; i++) {
		const struct vf_subprog *sub = &env->subprogs[i];

		result->stack_depth[i] = sub->stack_depth;
		result->subprog_flags[i] =
			(uint8_t)((sub->priv_stack_mode == VF_PRIV_STACK_ADAPTIVE
					   ? LOUPE_SUBPROG_OWN_STACK
					   : 0) |
				  (sub->is_async_cb ? LOUPE_SUBPROG_LATER : 0) |
				  (sub->has_tail_call ? LOUPE_SUBPROG_TAIL_CALL : 0));
	}
	return 0;
}

static void judge(struct vf_env *env, int err)
{
	struct loupe_verify_result *result = env->result;

	result->phase = err ? env->phase : LOUPE_PHASE_DONE;
	result->insn_idx = err && env->phase >= LOUPE_PHASE_EXPLORE_MAIN &&
					   env->phase <= LOUPE_PHASE_EXPLORE_SUBPROGS
				   ? env->insn_idx
				   : -1;
	if (!err) {
		result->verdict = LOUPE_ACCEPTED;
	} else if (err == VF_NOT_JUDGED) {
		result->verdict = LOUPE_NOT_JUDGED;
	} else if (err == VF_STOPPED) {
		result->verdict = LOUPE_STOPPED;
	} else if (err == -ENOMEM) {
		result->verdict = LOUPE_STOPPED;
		snprintf(result->reason, sizeof(result->reason),
			 "memory limit reached at insn %d after %u processed insns", env->insn_idx,
			 result->counters.insn_processed);
	} else {
		result->verdict = LOUPE_REJECTED;
		result->err = err == VF_KERNEL_ENOMEM ? -ENOMEM : err;
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int loupe_verify(const struct loupe_image *image, const struct loupe_verify_opts *opts,
		 struct loupe_verify_result *result)
{
	struct loupe_verify_opts own;
	uint64_t start = now_ns();
	struct vf_env *env;
	int err;

	loupe_verify_opts_init(&own);
	if (opts)
		memcpy(&own, opts, opts->size < sizeof(own) ? opts->size : sizeof(own));
	if (own.evict_n < LOUPE_EVICT_OFF || !own.insn_limit ||
	    own.listener_cnt > LOUPE_MAX_LISTENERS)
		return -EINVAL;
	*result = (struct loupe_verify_result){ .insn_idx = -1 };
	env = malloc(sizeof(*env));
	if (!env)
		return -ENOMEM;
	memset(env, 0, VF_ENV_ZEROED);
	env->image = image;
	env->opts = &own;
	env->result = result;
	env->counters = &result->counters;
	err = setup(env);
	if (err) {
		finish(env);
		return err;
	}
	if (vf_listening(env))
		VF_EMIT(env, begin, image);
	err = run_phases(env);
	judge(env, err);
	err = report_insns(env);
	result->verification_ns = now_ns() - start;
	if (vf_listening(env))
		VF_EMIT(env, end, result);
	finish(env);
	if (err)
		loupe_verify_result_finish(result);
	return err;
}
