// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of kernel functions: that they exist. What they take and return is not modelled; before a
 * program's first such call matters, much can be wrong with it.
 */
#include "btf/btf.h"
#include "verifier/vf.h"

/* Those that ask a network device need a program that is bound to one. */
static const char *const of_devices[] = {
	"bpf_xdp_metadata_rx_timestamp",
	"bpf_xdp_metadata_rx_hash",
	"bpf_xdp_metadata_rx_vlan_tag",
};

/*
 * Every kernel function that programs may call is a symbol. Of others some have their name in the
 * types only, for the compiler made something else of them.
 */
bool vf_is_kfunc(const struct btf *btf, uint32_t id)
{
	uint32_t tag = 0;

	while ((tag = btf_find_decl_tag(btf, id, -1, tag)))
		if (strcmp(btf_name(btf, tag), "bpf_kfunc") == 0)
			return true;
	return false;
}

static bool is_known(const struct vf_env *env, int32_t id)
{
	for (uint32_t i = 0; i < env->kfunc_cnt; i++)
		if (env->kfuncs[i] == id)
			return true;
	return false;
}

int vf_add_kfunc(struct vf_env *env, const struct loupe_insn *insn, uint32_t insn_idx)
{
	const struct btf *btf;
	const char *name;
	int err;

	/* A loader's way to say that there is none: a mistake only where it is run. */
	if (!insn->imm && !insn->off)
		return 0;
	if (insn->off)
		return vf_not_judged(env, "call of a module's function (insn %u)", insn_idx);
	err = vf_need_kernel_btf(env);
	if (err || is_known(env, insn->imm))
		return err;
	if (env->kfunc_cnt == VF_MAX_KFUNCS) {
		vf_msg(env, "too many different kernel function calls\n");
		return -E2BIG;
	}
	btf = env->kernel_btf;
	if (btf_kind(btf, (uint32_t)insn->imm) != BTF_KIND_FUNC) {
		vf_msg(env, "kernel btf_id %u is not a function\n", (uint32_t)insn->imm);
		return -EINVAL;
	}
	name = btf_name(btf, (uint32_t)insn->imm);
	if (!vf_is_kfunc(btf, (uint32_t)insn->imm))
		return vf_not_judged(env, "call of the kernel's function %s (insn %u)", name,
				     insn_idx);
	for (size_t i = 0; i < sizeof(of_devices) / sizeof(of_devices[0]); i++) {
		if (strcmp(name, of_devices[i]) != 0)
			continue;
		vf_msg(env, "metadata kfuncs require device-bound program\n");
		return -EINVAL;
	}
	env->kfuncs[env->kfunc_cnt++] = insn->imm;
	return 0;
}

int vf_check_kfuncs_modelled(struct vf_env *env)
{
	for (uint32_t i = 0; env->kfunc_cnt && i < env->insn_cnt; i++) {
		const struct loupe_insn *insn = &env->insns[i];

		if (insn_is_kfunc_call(insn) && insn->imm)
			return vf_not_judged(env, "call of the kernel's function %s (insn %u)",
					     btf_name(env->kernel_btf, (uint32_t)insn->imm), i);
	}
	return 0;
}
