// SPDX-License-Identifier: GPL-2.0-only
/* Making registers, and the check that one may be read or written. */
#include "verifier/range.h"

/* What comes after the type and before var_off: offset and union. */
static void clear_offset(struct loupe_reg *reg)
{
	reg->off = 0;
	reg->raw[0] = 0;
	reg->raw[1] = 0;
}

void vf_reg_unbounded(struct loupe_reg *reg)
{
	vf_reg_unbounded64(reg);
	vf_reg_unbounded32(reg);
}

void vf_reg_unknown_imprecise(struct loupe_reg *reg)
{
	reg->type = SCALAR_VALUE;
	clear_offset(reg);
	reg->id = 0;
	reg->ref_obj_id = 0;
	reg->frameno = 0;
	reg->precise = false;
	reg->var_off = TNUM_UNKNOWN;
	vf_reg_unbounded(reg);
}

void vf_reg_unknown(const struct vf_env *env, struct loupe_reg *reg)
{
	vf_reg_unknown_imprecise(reg);
	reg->precise = !env->bpf_capable;
}

void vf_reg_not_init(const struct vf_env *env, struct loupe_reg *reg)
{
	vf_reg_unknown(env, reg);
	reg->type = NOT_INIT;
}

void vf_reg_known_value(struct loupe_reg *reg, uint64_t value)
{
	reg->var_off = tnum_const(value);
	reg->smin = reg->smax = (int64_t)value;
	reg->umin = reg->umax = value;
	reg->s32_min = reg->s32_max = (int32_t)value;
	reg->u32_min = reg->u32_max = (uint32_t)value;
}

/* As vf_reg_known(), but the type stays. */
static void known_of_same_type(struct loupe_reg *reg, uint64_t value)
{
	clear_offset(reg);
	reg->id = 0;
	reg->ref_obj_id = 0;
	vf_reg_known_value(reg, value);
}

void vf_reg_known(struct loupe_reg *reg, uint64_t value)
{
	known_of_same_type(reg, value);
	reg->type = SCALAR_VALUE;
}

void vf_reg32_known(struct loupe_reg *reg, uint32_t value)
{
	reg->var_off = tnum_with_subreg(reg->var_off, tnum_const(value));
	reg->s32_min = reg->s32_max = (int32_t)value;
	reg->u32_min = reg->u32_max = value;
}

void vf_reg_const_zero(const struct vf_env *env, struct loupe_reg *reg)
{
	vf_reg_known(reg, 0);
	reg->precise = !env->bpf_capable;
}

void vf_mark_reg_unknown(struct vf_env *env, uint32_t regno)
{
	vf_reg_unknown(env, &vf_cur_regs(env)[regno]);
}

void vf_mark_reg_known_zero(struct vf_env *env, uint32_t regno)
{
	known_of_same_type(&vf_cur_regs(env)[regno], 0);
}

void vf_mark_reg_not_init(struct vf_env *env, uint32_t regno)
{
	vf_reg_not_init(env, &vf_cur_regs(env)[regno]);
}

/*
 * Whether insn reads or writes all 64 bits of a register. Decides which definitions of low halves
 * would need an explicit zero extension on machines that do not extend by themselves.
 */
static bool is_reg64(const struct loupe_insn *insn, uint32_t type, enum vf_reg_arg kind)
{
	uint8_t op = BPF_OP(insn->code), size = BPF_SIZE(insn->code);

	switch (BPF_CLASS(insn->code)) {
	case BPF_JMP:
		if (op == BPF_CALL)
			return insn->src_reg != BPF_PSEUDO_CALL && kind == VF_SRC_OP;
		return true;
	case BPF_ALU64:
		return op != BPF_END || (insn->imm != 16 && insn->imm != 32);
	case BPF_ALU:
		return op == BPF_END && insn->imm == 64;
	case BPF_JMP32:
		return false;
	case BPF_LDX:
		return kind == VF_SRC_OP || size == BPF_DW || BPF_MODE(insn->code) == BPF_MEMSX;
	case BPF_STX:
		return (kind == VF_SRC_OP && type != SCALAR_VALUE) || size == BPF_DW;
	case BPF_LD:
		return BPF_MODE(insn->code) == BPF_IMM || kind == VF_SRC_OP;
	default:
		return true;
	}
}

int vf_check_reg_arg_slow(struct vf_env *env, uint32_t regno, enum vf_reg_arg kind)
{
	struct loupe_reg *reg;
	bool whole;

	if (regno >= LOUPE_MAX_REG) {
		vf_msg(env, "R%u is invalid\n", regno);
		return -EINVAL;
	}
	vf_mark_scratched_reg(env, regno);

	reg = &vf_cur_regs(env)[regno];
	whole = is_reg64(&env->insns[env->insn_idx], reg->type, kind);
	if (kind == VF_SRC_OP) {
		if (reg->type == NOT_INIT) {
			vf_msg(env, "R%u !read_ok\n", regno);
			return -EACCES;
		}
		if (whole && regno != LOUPE_REG_FP && reg->subreg_def) {
			env->aux[reg->subreg_def - 1].zext_dst = true;
			reg->subreg_def = 0;
		}
		return 0;
	}

	if (regno == LOUPE_REG_FP) {
		vf_msg(env, "frame pointer is read only\n");
		return -EACCES;
	}
	reg->subreg_def = whole ? 0 : env->insn_idx + 1;
	if (kind == VF_DST_OP)
		vf_reg_unknown(env, reg);
	return 0;
}
