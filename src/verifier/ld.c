// SPDX-License-Identifier: GPL-2.0-only
/* 64-bit immediates, and the packet loads that classic BPF left behind. */
#include "verifier/mem.h"

static int load_func(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst)
{
	int subprogno = vf_find_subprog(env, env->insn_idx + insn->imm + 1);

	if (!env->image->func_info_cnt) {
		vf_msg(env, "missing btf func_info\n");
		return -EINVAL;
	}
	if (subprogno < 0 || env->subprogs[subprogno].is_global) {
		vf_msg(env, "callback function not static\n");
		return -EINVAL;
	}
	dst->type = PTR_TO_FUNC;
	dst->subprogno = (uint32_t)subprogno;
	return 0;
}

int vf_check_ld_imm64(struct vf_env *env, const struct loupe_insn *insn)
{
	const struct vf_aux *aux = &env->aux[env->insn_idx];
	struct loupe_reg *dst = &vf_cur_regs(env)[insn->dst_reg];
	int err;

	if (insn->off != 0) {
		vf_msg(env, "BPF_LD_IMM64 uses reserved fields\n");
		return -EINVAL;
	}
	err = vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP);
	if (err)
		return err;
	if (insn->src_reg == 0) {
		vf_reg_known(dst, (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn[0].imm);
		return 0;
	}
	vf_mark_reg_known_zero(env, insn->dst_reg);
	switch (insn->src_reg) {
	case BPF_PSEUDO_BTF_ID:
		dst->type = aux->ptr_type;
		dst->mem.size = 0;
		return 0;
	case BPF_PSEUDO_FUNC:
		return load_func(env, insn, dst);
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		if (env->maps[aux->map_idx].def->type == BPF_MAP_TYPE_ARENA) {
			vf_reg_unknown(env, dst);
			return 0;
		}
		dst->type = PTR_TO_MAP_VALUE;
		dst->map.nr = (uint32_t)aux->map_idx + 1;
		dst->off = (int32_t)aux->map_off;
		return 0;
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
		dst->type = CONST_PTR_TO_MAP;
		dst->map.nr = (uint32_t)aux->map_idx + 1;
		return 0;
	default:
		vf_msg(env, "bpf verifier is misconfigured\n");
		return -EINVAL;
	}
}

static bool reads_skb(uint32_t prog_type)
{
	return prog_type == BPF_PROG_TYPE_SOCKET_FILTER || prog_type == BPF_PROG_TYPE_SCHED_CLS ||
	       prog_type == BPF_PROG_TYPE_SCHED_ACT;
}

/*
 * Beyond the packet's end the instruction returns 0 from the function that holds it: that return is
 * the present path, and the one with a value in R0 is left for later.
 */
static int leave_with_zero(struct vf_env *env)
{
	int err = 0;

	vf_mark_scratched_reg(env, BPF_REG_0);
	if (!vf_push_branch(env, env->insn_idx + 1, env->insn_idx, false, &err))
		return err;
	vf_mark_reg_known_zero(env, BPF_REG_0);
	err = vf_func_return(env, &env->insn_idx);
	env->insn_idx--;
	return err;
}

int vf_check_ld_abs(struct vf_env *env, const struct loupe_insn *insn)
{
	enum { CTX_REG = BPF_REG_6 }; /* implicit operand */
	struct loupe_reg *regs = vf_cur_regs(env);
	uint8_t mode = BPF_MODE(insn->code);
	int err;

	if (!reads_skb(env->image->prog_type)) {
		vf_msg(env, "BPF_LD_[ABS|IND] instructions not allowed for this program type\n");
		return -EINVAL;
	}
	if (insn->dst_reg != BPF_REG_0 || insn->off != 0 ||
	    (mode == BPF_ABS && insn->src_reg != BPF_REG_0)) {
		vf_msg(env, "BPF_LD_[ABS|IND] uses reserved fields\n");
		return -EINVAL;
	}
	err = vf_check_reg_arg(env, CTX_REG, VF_SRC_OP);
	if (err)
		return err;
	/* It may end the program. */
	err = vf_check_resource_leak(env, false, true, "BPF_LD_[ABS|IND]");
	if (err)
		return err;
	if (regs[CTX_REG].type != PTR_TO_CTX) {
		vf_msg(env, "at the time of BPF_LD_ABS|IND R6 != pointer to skb\n");
		return -EINVAL;
	}
	if (mode == BPF_IND) {
		err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);
		if (err)
			return err;
	}
	err = vf_check_ptr_off(env, &regs[CTX_REG], CTX_REG, false);
	if (err)
		return err;
	vf_clear_caller_saved(env, regs);
	vf_mark_reg_unknown(env, BPF_REG_0);
	regs[BPF_REG_0].subreg_def = env->insn_idx + 1;
	return env->cur->curframe ? leave_with_zero(env) : 0;
}
