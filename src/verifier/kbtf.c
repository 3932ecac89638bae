// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's types, for what a program names in them. Most programs never come here. */
#include "btf/kernel_types.h"
#include "verifier/vf.h"

int vf_need_kernel_btf(struct vf_env *env)
{
	if (!env->kernel_btf)
		env->kernel_btf = kernel_types_btf(env->image->kernel_types);
	if (env->kernel_btf)
		return 0;
	return vf_not_judged(env,
			     "what the program needs of the kernel's types: there is no kernel "
			     "BTF (--btf FILE)");
}

const char *vf_btf_kind_str(const struct btf_type *t)
{
	static const char *const names[NR_BTF_KINDS] = {
		[BTF_KIND_UNKN] = "UNKNOWN",
		[BTF_KIND_INT] = "INT",
		[BTF_KIND_PTR] = "PTR",
		[BTF_KIND_ARRAY] = "ARRAY",
		[BTF_KIND_STRUCT] = "STRUCT",
		[BTF_KIND_UNION] = "UNION",
		[BTF_KIND_ENUM] = "ENUM",
		[BTF_KIND_FWD] = "FWD",
		[BTF_KIND_TYPEDEF] = "TYPEDEF",
		[BTF_KIND_VOLATILE] = "VOLATILE",
		[BTF_KIND_CONST] = "CONST",
		[BTF_KIND_RESTRICT] = "RESTRICT",
		[BTF_KIND_FUNC] = "FUNC",
		[BTF_KIND_FUNC_PROTO] = "FUNC_PROTO",
		[BTF_KIND_VAR] = "VAR",
		[BTF_KIND_DATASEC] = "DATASEC",
		[BTF_KIND_FLOAT] = "FLOAT",
		[BTF_KIND_DECL_TAG] = "DECL_TAG",
		[BTF_KIND_TYPE_TAG] = "TYPE_TAG",
		[BTF_KIND_ENUM64] = "ENUM64",
	};

	return names[t ? btf_type_kind(t) : BTF_KIND_UNKN];
}

const char *vf_kernel_name(const struct vf_env *env, const struct btf_type *t)
{
	return t && t->name_off ? btf_str(env->kernel_btf, t->name_off) : "(anon)";
}

const struct btf_type *vf_kernel_type(const struct vf_env *env, uint32_t id)
{
	return btf_type(env->kernel_btf, btf_resolve(env->kernel_btf, id));
}
