// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does with a program that passed, in its order, as far as it can still refuse it
 * or changes what a person sees: inlining of loops, dead code, rewriting, JIT.
 */
#include <stdlib.h>

#include "verifier/rewrite.h"

static void enter(struct vf_env *env, enum loupe_phase phase)
{
	env->phase = phase;
	if (vf_listening(env))
		VF_EMIT(env, phase, phase);
}

/* Keeps the program without dead code for the caller. */
static int keep_final(struct vf_env *env, const struct vf_program *prog)
{
	struct loupe_verify_result *result = env->result;

	result->final_insns = malloc((prog->cnt + 1) * sizeof(*result->final_insns));
	result->final_to_orig = malloc((prog->cnt + 1) * sizeof(*result->final_to_orig));
	if (!result->final_insns || !result->final_to_orig)
		return -ENOMEM;
	memcpy(result->final_insns, prog->insns, prog->cnt * sizeof(*prog->insns));
	for (uint32_t i = 0; i < prog->cnt; i++)
		result->final_to_orig[i] = (int32_t)prog->orig[i];
	result->final_cnt = prog->cnt;
	return 0;
}

static bool holds_programs(const struct loupe_map *map)
{
	return map->type == BPF_MAP_TYPE_PROG_ARRAY || map->type == BPF_MAP_TYPE_DEVMAP ||
	       map->type == BPF_MAP_TYPE_DEVMAP_HASH || map->type == BPF_MAP_TYPE_CPUMAP;
}

/* A program that overrides return values must not be reached through a map of programs. */
static int check_program_maps(struct vf_env *env, const struct vf_program *prog)
{
	bool overrides = false;

	for (uint32_t i = 0; i < prog->cnt; i++)
		overrides |= insn_is_helper_call(&prog->insns[i]) &&
			     prog->insns[i].imm == BPF_FUNC_override_return;
	for (uint32_t i = 0; overrides && i < env->map_cnt; i++)
		if (env->maps[i].used && holds_programs(env->maps[i].def))
			return -EINVAL;
	return 0;
}

int vf_rewrite(struct vf_env *env)
{
	struct vf_program prog;
	int err = vf_check_loop_inlining(env);

	if (err)
		return err;
	enter(env, LOUPE_PHASE_DEAD_CODE);
	err = vf_remove_dead_code(env, &prog);
	if (!err)
		err = keep_final(env, &prog);
	if (err)
		return err;
	enter(env, LOUPE_PHASE_REWRITE);
	err = vf_check_expansion(env, &prog);
	if (err)
		return err;
	enter(env, LOUPE_PHASE_JIT);
	return check_program_maps(env, &prog);
}
