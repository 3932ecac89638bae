// SPDX-License-Identifier: GPL-2.0-only
/* What a program attaches to, as far as that is decided when it is loaded. */
#include "verifier/vf.h"

static bool may_sleep(const struct vf_env *env)
{
	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_TRACING:
		switch (env->expected_attach_type) {
		case BPF_TRACE_FENTRY:
		case BPF_TRACE_FEXIT:
		case BPF_MODIFY_RETURN:
		case BPF_TRACE_ITER:
			return true;
		default:
			return false;
		}
	case BPF_PROG_TYPE_LSM:
	case BPF_PROG_TYPE_KPROBE: /* user space probes */
	case BPF_PROG_TYPE_STRUCT_OPS:
		return true;
	default:
		return false;
	}
}

int vf_check_attach(struct vf_env *env)
{
	uint32_t type = env->image->prog_type;

	if (type == BPF_PROG_TYPE_SYSCALL) {
		if (env->sleepable)
			return 0;
		vf_msg(env, "Syscall programs can only be sleepable\n");
		return -EINVAL;
	}
	if (env->sleepable && !may_sleep(env)) {
		vf_msg(env,
		       "Only fentry/fexit/fmod_ret, lsm, iter, uprobe, and struct_ops programs "
		       "can be sleepable\n");
		return -EINVAL;
	}
	switch (type) {
	case BPF_PROG_TYPE_STRUCT_OPS:
		if (!env->gpl_compatible) {
			vf_msg(env, "struct ops programs must have a GPL compatible license\n");
			return -EINVAL;
		}
		if (!env->image->attach_btf_id)
			return -VF_ENOTSUPP;
		return vf_not_judged(env, "struct_ops programs");
	case BPF_PROG_TYPE_TRACING:
	case BPF_PROG_TYPE_LSM:
	case BPF_PROG_TYPE_EXT:
		return vf_check_target(env);
	default:
		return 0;
	}
}
