// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the load's func info and line info against the program and its BTF. */
#include "verifier/vf.h"

/* Without func info nothing promises that a subprogram returns a number. */
static int check_abnormal_return(struct vf_env *env)
{
	for (uint32_t i = 1; i < env->subprog_cnt; i++) {
		if (env->subprogs[i].has_ld_abs) {
			vf_msg(env, "LD_ABS is not allowed in subprogs without BTF\n");
			return -EINVAL;
		}
		if (env->subprogs[i].has_tail_call) {
			vf_msg(env, "tail_call is not allowed in subprogs without BTF\n");
			return -EINVAL;
		}
	}
	return 0;
}

int vf_check_btf_early(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	uint32_t prev_off = 0;

	if (!image->func_info_cnt && !image->line_info_cnt)
		return 0;
	if (!env->btf)
		return -EINVAL;
	for (uint32_t i = 0; i < image->func_info_cnt; i++) {
		const struct loupe_func_info *info = &image->func_info[i];

		if (i == 0 && info->insn_off) {
			vf_msg(env, "nonzero insn_off %u for the first func info record",
			       info->insn_off);
			return -EINVAL;
		}
		if (i > 0 && info->insn_off <= prev_off) {
			vf_msg(env,
			       "same or smaller insn offset (%u) than previous func info record "
			       "(%u)",
			       info->insn_off, prev_off);
			return -EINVAL;
		}
		if (btf_kind(env->btf, info->type_id) != BTF_KIND_FUNC) {
			vf_msg(env, "invalid type id %d in func info", (int32_t)info->type_id);
			return -EINVAL;
		}
		if (!btf_func_proto(env->btf, info->type_id))
			return -EINVAL;
		prev_off = info->insn_off;
	}
	return 0;
}

/* The function returns an integer of up to 8 bytes or an enumeration. */
static bool returns_scalar(const struct btf *btf, uint32_t func_id)
{
	const struct btf_type *proto = btf_func_proto(btf, func_id);
	const struct btf_type *ret = btf_type(btf, btf_resolve(btf, proto->type));

	if (!ret)
		return false;
	switch (btf_type_kind(ret)) {
	case BTF_KIND_INT:
		return ret->size <= 8;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return true;
	default:
		return false;
	}
}

static int check_func_info(struct vf_env *env)
{
	const struct loupe_image *image = env->image;

	if (!image->func_info_cnt)
		return check_abnormal_return(env);
	if (image->func_info_cnt != env->subprog_cnt) {
		vf_msg(env, "number of funcs in func_info doesn't match number of subprogs\n");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < image->func_info_cnt; i++) {
		uint32_t id = image->func_info[i].type_id;
		struct vf_subprog *sub = &env->subprogs[i];
		bool scalar;

		if (sub->start != image->func_info[i].insn_off) {
			vf_msg(env, "func_info BTF section doesn't match subprog layout in BPF "
				    "program\n");
			return -EINVAL;
		}
		sub->func_type_id = id;
		sub->name = btf_name(env->btf, id);
		sub->is_global = btf_func_linkage(btf_type(env->btf, id)) == BTF_FUNC_GLOBAL;
		scalar = i == 0 || returns_scalar(env->btf, id);
		if (!scalar && sub->has_ld_abs) {
			vf_msg(env, "LD_ABS is only allowed in functions that return 'int'.\n");
			return -EINVAL;
		}
		if (!scalar && sub->has_tail_call) {
			vf_msg(env, "tail_call is only allowed in functions that return 'int'.\n");
			return -EINVAL;
		}
	}
	return 0;
}

/* Length of the BTF's string section. */
static uint32_t string_bytes(const struct loupe_image *image)
{
	struct btf_header hdr;

	if (image->btf_size < sizeof(hdr))
		return 0;
	memcpy(&hdr, image->btf, sizeof(hdr));
	return hdr.str_len;
}

static int check_line(struct vf_env *env, uint32_t i, uint32_t prev_off, uint32_t str_len)
{
	const struct loupe_line_info *line = &env->image->line_info[i];

	if ((i && line->insn_off <= prev_off) || line->insn_off >= env->insn_cnt) {
		vf_msg(env, "Invalid line_info[%u].insn_off:%u (prev_offset:%u prog->len:%u)\n", i,
		       line->insn_off, prev_off, env->insn_cnt);
		return -EINVAL;
	}
	if (!env->insns[line->insn_off].code) {
		vf_msg(env, "Invalid insn code at line_info[%u].insn_off\n", i);
		return -EINVAL;
	}
	if (line->line_off >= str_len || line->file_name_off >= str_len) {
		vf_msg(env, "Invalid line_info[%u].line_off or .file_name_off\n", i);
		return -EINVAL;
	}
	return 0;
}

/* Lines are in order, and each function's first insn has one of its own. */
static int check_line_info(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	uint32_t str_len = string_bytes(image), prev_off = 0, sub = 0;

	for (uint32_t i = 0; i < image->line_info_cnt; i++) {
		uint32_t off = image->line_info[i].insn_off;
		int err = check_line(env, i, prev_off, str_len);

		if (err)
			return err;
		if (sub < env->subprog_cnt && off == env->subprogs[sub].start) {
			env->subprogs[sub++].linfo_idx = i;
		} else if (sub < env->subprog_cnt && off > env->subprogs[sub].start) {
			vf_msg(env, "missing bpf_line_info for func#%u\n", sub);
			return -EINVAL;
		}
		prev_off = off;
	}
	if (image->line_info_cnt && sub != env->subprog_cnt) {
		vf_msg(env, "missing bpf_line_info for %u funcs starting from func#%u\n",
		       env->subprog_cnt - sub, sub);
		return -EINVAL;
	}
	return 0;
}

int vf_check_btf_info(struct vf_env *env)
{
	int err;

	if (!env->image->func_info_cnt && !env->image->line_info_cnt)
		return check_abnormal_return(env);
	err = check_func_info(env);
	return err ? err : check_line_info(env);
}
