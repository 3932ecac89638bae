// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of a program: where they start, which instruction belongs to which, and the rule that
 * control stays inside a function.
 */
#include <stdlib.h>

#include "verifier/vf.h"

/* Jump targets and callees are computed modulo 2^32, as the kernel's int arithmetic does. */
static int32_t target(uint32_t idx, int32_t distance)
{
	return (int32_t)(idx + (uint32_t)distance + 1);
}

uint32_t vf_find_containing_subprog(const struct vf_env *env, uint32_t idx)
{
	uint32_t low = 0, high = env->subprog_cnt - 1;

	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;

		if (env->subprogs[mid].start <= idx)
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

int vf_find_subprog(const struct vf_env *env, int32_t idx)
{
	uint32_t subprogno;

	if (idx < 0 || (uint32_t)idx >= env->insn_cnt || env->subprog_cnt == 0)
		return -1;
	subprogno = vf_find_containing_subprog(env, (uint32_t)idx);
	return env->subprogs[subprogno].start == (uint32_t)idx ? (int)subprogno : -1;
}

/* Notes that a function starts at idx; the list stays sorted by start. */
static int add_subprog(struct vf_env *env, int32_t idx)
{
	uint32_t at = env->subprog_cnt;

	if (idx < 0 || (uint32_t)idx >= env->insn_cnt) {
		vf_msg(env, "call to invalid destination\n");
		return -EINVAL;
	}
	if (vf_find_subprog(env, idx) >= 0)
		return 0;
	if (env->subprog_cnt >= VF_MAX_SUBPROGS) {
		vf_msg(env, "too many subprograms\n");
		return -E2BIG;
	}
	memset(&env->subprogs[at], 0, sizeof(env->subprogs[at]));
	while (at > 0 && env->subprogs[at - 1].start > (uint32_t)idx) {
		env->subprogs[at].start = env->subprogs[at - 1].start;
		at--;
	}
	env->subprogs[at].start = (uint32_t)idx;
	env->subprog_cnt++;
	return 0;
}

/*
 * Value of the tag "PREFIXvalue" on type id. Returns 0 with *value NULL when there is none, -EEXIST
 * when there are several.
 */
static int decl_tag_value(const struct btf *btf, uint32_t id, const char *prefix,
			  const char **value)
{
	size_t len = strlen(prefix);
	uint32_t tag = 0;

	*value = NULL;
	while ((tag = btf_find_decl_tag(btf, id, -1, tag)) != 0) {
		const char *name = btf_name(btf, tag);

		if (strncmp(name, prefix, len) != 0)
			continue;
		if (*value)
			return -EEXIST;
		*value = name + len;
	}
	return 0;
}

/* First insn of the function that a tag on main names as exception callback; 0: no such tag. */
static int find_exception_callback(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	const char *name;
	uint32_t id;
	int err, start = 0;

	if (!image->func_info_cnt)
		return 0;
	err = decl_tag_value(env->btf, image->func_info[0].type_id, "exception_callback:", &name);
	if (err) {
		vf_msg(env, "multiple exception callback tags for main subprog\n");
		return err;
	}
	if (!name)
		return 0;
	id = btf_find(env->btf, name, BTF_KIND_FUNC);
	if (!id) {
		vf_msg(env, "exception callback '%s' could not be found in BTF\n", name);
		return -ENOENT;
	}
	if (btf_func_linkage(btf_type(env->btf, id)) != BTF_FUNC_GLOBAL) {
		vf_msg(env, "exception callback '%s' must have global linkage\n", name);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < image->func_info_cnt; i++) {
		if (image->func_info[i].type_id != id)
			continue;
		start = (int)image->func_info[i].insn_off;
		if (!start) {
			vf_msg(env, "invalid exception callback insn_off in func_info: 0\n");
			return -EINVAL;
		}
	}
	if (!start) {
		vf_msg(env, "exception callback type id not found in func_info\n");
		return -EINVAL;
	}
	return start;
}

static int add_exception_callback(struct vf_env *env)
{
	int start = find_exception_callback(env);
	int err, subprogno;

	env->exception_cb = -1;
	if (start <= 0)
		return start;
	err = add_subprog(env, start);
	if (err)
		return err;
	subprogno = vf_find_subprog(env, start);
	env->exception_cb = subprogno;
	env->subprogs[subprogno].is_cb = true;
	env->subprogs[subprogno].is_async_cb = true;
	env->subprogs[subprogno].is_exception_cb = true;
	return 0;
}

int vf_add_subprogs(struct vf_env *env)
{
	int err = add_subprog(env, 0);

	if (err)
		return err;
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		const struct loupe_insn *insn = &env->insns[i];
		bool own = insn_is_pseudo_func(insn) || insn_is_pseudo_call(insn);

		if (!own && !insn_is_kfunc_call(insn))
			continue;
		if (!env->bpf_capable) {
			vf_msg(env, "loading/calling other bpf or kernel functions are allowed for "
				    "CAP_BPF and CAP_SYS_ADMIN\n");
			return -EPERM;
		}
		if (!own && !env->gpl_compatible) {
			vf_msg(env,
			       "cannot call kernel function from non-GPL compatible program\n");
			return -EINVAL;
		}
		if (own)
			err = add_subprog(env, target(i, insn->imm));
		else
			err = vf_add_kfunc(env, insn, i);
		if (err)
			return err;
	}
	err = add_exception_callback(env);
	if (err)
		return err;

	env->subprogs[env->subprog_cnt] = (struct vf_subprog){ .start = env->insn_cnt };
	for (uint32_t i = 0; i < env->subprog_cnt; i++) {
		env->subprogs[i].name = "";
		VF_EMIT(env, subprog, i, env->subprogs[i].start);
	}
	return 0;
}

static bool is_ld_abs(const struct loupe_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_LD &&
	       (BPF_MODE(insn->code) == BPF_ABS || BPF_MODE(insn->code) == BPF_IND);
}

static bool is_jump(const struct loupe_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static bool ends_subprog(const struct loupe_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_EXIT) || insn->code == (BPF_JMP | BPF_JA) ||
	       insn->code == (BPF_JMP32 | BPF_JA);
}

int vf_check_subprogs(struct vf_env *env)
{
	struct vf_subprog *sub = env->subprogs;

	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		const struct loupe_insn *insn = &env->insns[i];

		if (i == sub[1].start)
			sub++;
		if (insn_is_helper_call(insn) && insn->imm == BPF_FUNC_tail_call) {
			sub->has_tail_call = true;
			sub->tail_call_reachable = true;
		}
		if (is_ld_abs(insn))
			sub->has_ld_abs = true;
		if (is_jump(insn)) {
			bool is_long = insn->code == (BPF_JMP32 | BPF_JA);
			int32_t to = target(i, is_long ? insn->imm : insn->off);

			if (to < (int32_t)sub->start || to >= (int32_t)sub[1].start) {
				vf_msg(env, "jump out of range from insn %u to %d\n", i, to);
				return -EINVAL;
			}
		}
		if (i == sub[1].start - 1 && !ends_subprog(insn)) {
			vf_msg(env, "last insn is not an exit or jmp\n");
			return -EINVAL;
		}
	}
	return 0;
}
