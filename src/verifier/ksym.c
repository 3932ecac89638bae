// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of what the kernel's types name: its functions, and variables. */
#include "verifier/vf.h"

int vf_resolve_ksym(struct vf_env *env, uint32_t i)
{
	const struct loupe_insn *insn = &env->insns[i];
	uint32_t id = (uint32_t)insn->imm;
	int err;

	if (insn[1].imm)
		return vf_not_judged(env, "address of a module's symbol (insn %u)", i);
	err = vf_need_kernel_btf(env);
	if (err)
		return err;
	if (id && !btf_type(env->kernel_btf, id)) {
		vf_msg(env, "ldimm64 insn specifies invalid btf_id %d.\n", insn->imm);
		return -ENOENT;
	}
	switch (btf_kind(env->kernel_btf, id)) {
	case BTF_KIND_VAR:
		/* the kernel of the profile has no names of data */
		vf_msg(env, "ldimm64 failed to find the address for kernel symbol '%s'.\n",
		       btf_name(env->kernel_btf, id));
		return -ENOENT;
	case BTF_KIND_FUNC:
		if (!vf_is_kfunc(env->kernel_btf, id))
			return vf_not_judged(env, "address of the kernel's function %s (insn %u)",
					     btf_name(env->kernel_btf, id), i);
		env->aux[i].ptr_type = PTR_TO_MEM | MEM_RDONLY; /* of no size */
		return 0;
	default:
		vf_msg(env, "pseudo btf_id %d in ldimm64 isn't KIND_VAR or KIND_FUNC\n", insn->imm);
		return -EINVAL;
	}
}
