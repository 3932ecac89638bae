// SPDX-License-Identifier: GPL-2.0-only
/* Which maps may be passed to which helpers, and what may be done through a map's pointer. */
#include "verifier/helper.h"

struct pair {
	uint32_t map_type;
	int32_t func_id;
};

static const struct pair map_only[] = {
#define MAP_ONLY(map, func) { BPF_MAP_TYPE_##map, BPF_FUNC_##func },
#define FUNC_ONLY(func, map)
#include "kernel/6.18/map_funcs.def"
#undef MAP_ONLY
#undef FUNC_ONLY
};

static const struct pair func_only[] = {
#define MAP_ONLY(map, func)
#define FUNC_ONLY(func, map) { BPF_MAP_TYPE_##map, BPF_FUNC_##func },
#include "kernel/6.18/map_funcs.def"
#undef MAP_ONLY
#undef FUNC_ONLY
};

/* Programs of these types may change a map of sockets themselves. */
static bool may_update_sockmap(struct vf_env *env, int32_t func_id)
{
	if (func_id != BPF_FUNC_map_update_elem && func_id != BPF_FUNC_map_delete_elem)
		return false;
	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_TRACING:
		if (env->expected_attach_type == BPF_TRACE_ITER)
			return true;
		break;
	case BPF_PROG_TYPE_SOCK_OPS:
		if (func_id == BPF_FUNC_map_delete_elem)
			return true;
		break;
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_SK_REUSEPORT:
	case BPF_PROG_TYPE_FLOW_DISSECTOR:
	case BPF_PROG_TYPE_SK_LOOKUP:
		return true;
	default:
		break;
	}
	vf_msg(env, "cannot update sockmap in this context\n");
	return false;
}

/* Most maps and most helpers have no rule: these go with anything. */
static bool is_limited(uint32_t map_type, int32_t func_id)
{
	switch (map_type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
		return func_id != BPF_FUNC_map_lookup_elem &&
		       func_id != BPF_FUNC_map_update_elem && func_id != BPF_FUNC_map_delete_elem;
	default:
		return true;
	}
}

static bool map_allows(struct vf_env *env, uint32_t map_type, int32_t func_id)
{
	bool limited = false;

	for (size_t i = 0; i < sizeof(map_only) / sizeof(map_only[0]); i++) {
		if (map_only[i].map_type != map_type)
			continue;
		if (map_only[i].func_id == func_id)
			return true;
		limited = true;
	}
	if (map_type == BPF_MAP_TYPE_SOCKMAP || map_type == BPF_MAP_TYPE_SOCKHASH)
		return may_update_sockmap(env, func_id);
	return !limited;
}

static bool func_allows(uint32_t map_type, int32_t func_id)
{
	bool limited = false;

	for (size_t i = 0; i < sizeof(func_only) / sizeof(func_only[0]); i++) {
		if (func_only[i].func_id != func_id)
			continue;
		if (func_only[i].map_type == map_type)
			return true;
		limited = true;
	}
	return !limited;
}

int vf_check_map_func(struct vf_env *env, int32_t map, int32_t func_id)
{
	uint32_t type;

	if (map < 0)
		return 0;
	type = env->maps[map].def->type;
	if (!is_limited(type, func_id))
		return 0;
	if (map_allows(env, type, func_id) && func_allows(type, func_id))
		return 0;
	vf_msg(env, "cannot pass map_type %u into func %s#%d\n", type, vf_func_name(func_id),
	       func_id);
	return -EINVAL;
}

/* --- struct bpf_map and what is around it ------------------------------------------------ */

static const struct {
	uint32_t type;
	const char *name;
} structs[] = {
#define MAP_STRUCT(type, name) { BPF_MAP_TYPE_##type, name },
#include "kernel/6.18/map_structs.def"
#undef MAP_STRUCT
};

/* Looked up once: the kernel has very many types. */
static int find_struct(struct vf_env *env, struct vf_map *map, const char *name)
{
	int err = vf_need_kernel_btf(env);

	if (err || map->struct_id)
		return err;
	map->struct_id = btf_find(env->kernel_btf, name, BTF_KIND_STRUCT);
	if (map->struct_id)
		return 0;
	return vf_not_judged(env, "insn %d: struct %s is not in the kernel BTF", env->insn_idx,
			     name);
}

int vf_check_map_ptr_access(struct vf_env *env, uint32_t regno, int off, int size,
			    enum vf_access t, int value_regno)
{
	struct vf_map *map = &env->maps[loupe_reg_map(&vf_cur_regs(env)[regno])];
	uint32_t type = map->def->type;
	const char *name = NULL;
	int err;

	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
		if (structs[i].type == type)
			name = structs[i].name;
	if (!name)
		return vf_not_judged(env, "insn %d: pointer to a map of type %u", env->insn_idx,
				     type);
	if (!env->allow_ptr_leaks) {
		vf_msg(env, "'struct %s' access is allowed only to CAP_PERFMON and CAP_SYS_ADMIN\n",
		       name);
		return -EPERM;
	}
	if (off < 0) {
		vf_msg(env, "R%u is %s invalid negative access: off=%d\n", regno, name, off);
		return -EACCES;
	}
	if (t != VF_READ) {
		vf_msg(env, "only read from %s is supported\n", name);
		return -EACCES;
	}
	err = find_struct(env, map, name);
	if (!err)
		err = vf_check_struct_access(env, map->struct_id, (uint32_t)off, (uint32_t)size);
	if (!err && value_regno >= 0)
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}
