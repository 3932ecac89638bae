// SPDX-License-Identifier: GPL-2.0-only
/* Arithmetic instructions: fields, operands, moves, and who computes the result. */
#include "insn/syntax.h"
#include "verifier/range.h"

enum {
	CAST_TO_KERNEL = 1 << 16, /* imm of an address space cast: from an arena pointer */
	CAST_TO_ARENA = 1,	  /* to an arena pointer */
};

void vf_assign_scalar_id(struct vf_env *env, struct loupe_reg *src)
{
	if (src->type != SCALAR_VALUE)
		return;
	/* A distance to others cannot be passed on. */
	if (src->id & LOUPE_ADD_CONST)
		vf_clear_scalar_id(src);
	if (!src->id && !tnum_is_const(src->var_off))
		src->id = vf_new_id(env);
}

static int reserved(struct vf_env *env, const char *name)
{
	vf_msg(env, "%s uses reserved fields\n", name);
	return -EINVAL;
}

/* --- one operand -------------------------------------------------------------------------- */

static int check_unary(struct vf_env *env, const struct loupe_insn *insn)
{
	struct loupe_reg *dst;
	int err;

	if (BPF_OP(insn->code) == BPF_NEG) {
		if (BPF_SRC(insn->code) != BPF_K || insn->src_reg || insn->off || insn->imm)
			return reserved(env, "BPF_NEG");
	} else if (insn->src_reg || insn->off ||
		   (insn->imm != 16 && insn->imm != 32 && insn->imm != 64) ||
		   (BPF_CLASS(insn->code) == BPF_ALU64 && BPF_SRC(insn->code) != BPF_TO_LE)) {
		return reserved(env, "BPF_END");
	}

	err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;
	if (vf_is_pointer_value(env, insn->dst_reg)) {
		vf_msg(env, "R%d pointer arithmetic prohibited\n", insn->dst_reg);
		return -EACCES;
	}

	dst = &vf_cur_regs(env)[insn->dst_reg];
	if (vf_is_pointer(dst))
		return vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP);
	err = vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP_NO_MARK);
	return err ? err : vf_alu_scalar(env, insn, dst, dst);
}

/* --- moves -------------------------------------------------------------------------------- */

static bool has_arena(const struct vf_env *env)
{
	for (uint32_t i = 0; i < env->map_cnt; i++) {
		if (env->maps[i].used && env->maps[i].def->type == BPF_MAP_TYPE_ARENA)
			return true;
	}
	return false;
}

static int check_move_fields(struct vf_env *env, const struct loupe_insn *insn)
{
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;

	if (BPF_SRC(insn->code) == BPF_K)
		return insn->src_reg || insn->off ? reserved(env, "BPF_MOV") : 0;
	if (is64 && insn->off == BPF_ADDR_SPACE_CAST) {
		if (insn->imm != CAST_TO_ARENA && insn->imm != CAST_TO_KERNEL) {
			vf_msg(env, "addr_space_cast insn can only convert between address space 1 "
				    "and 0\n");
			return -EINVAL;
		}
		if (!has_arena(env)) {
			vf_msg(env, "addr_space_cast insn can only be used in a program that has "
				    "an associated arena\n");
			return -EINVAL;
		}
		return 0;
	}
	if (insn->imm ||
	    (insn->off != 0 && insn->off != 8 && insn->off != 16 && !(is64 && insn->off == 32)))
		return reserved(env, "BPF_MOV");
	return 0;
}

/*
 * Copies a scalar of which bits may get lost. While none does, both are the same number and share
 * an id.
 */
static void copy_scalar(struct vf_env *env, struct loupe_reg *dst, struct loupe_reg *src, bool same)
{
	if (same)
		vf_assign_scalar_id(env, src);
	*dst = *src;
	if (!same)
		vf_clear_scalar_id(dst);
}

static int move64(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
		  struct loupe_reg *src)
{
	if (insn->imm) { /* address space cast */
		vf_reg_unknown(env, dst);
		if (insn->imm == CAST_TO_ARENA) {
			dst->type = PTR_TO_ARENA;
			dst->subreg_def = env->insn_idx + 1;
		}
		return 0;
	}
	if (insn->off == 0) {
		vf_assign_scalar_id(env, src);
		*dst = *src;
		dst->subreg_def = 0;
		return 0;
	}
	if (vf_is_pointer_value(env, insn->src_reg)) {
		vf_msg(env, "R%d sign-extension part of pointer\n", insn->src_reg);
		return -EACCES;
	}
	if (vf_is_pointer(src)) {
		vf_reg_unknown(env, dst);
		return 0;
	}
	copy_scalar(env, dst, src, src->umax < 1ull << (insn->off - 1));
	vf_coerce_size_sx(dst, insn->off / 8);
	dst->subreg_def = 0;
	return 0;
}

static int move32(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
		  struct loupe_reg *src)
{
	if (vf_is_pointer_value(env, insn->src_reg)) {
		vf_msg(env, "R%d partial copy of pointer\n", insn->src_reg);
		return -EACCES;
	}
	if (vf_is_pointer(src)) {
		vf_reg_unknown(env, dst);
	} else {
		copy_scalar(env, dst, src,
			    insn->off ? src->umax < 1ull << (insn->off - 1)
				      : src->umax <= UINT32_MAX);
		dst->subreg_def = env->insn_idx + 1;
		if (insn->off)
			vf_coerce_subreg_size_sx(dst, insn->off / 8);
	}
	vf_zext_32(dst);
	vf_bounds_sync(dst);
	return 0;
}

static int check_move(struct vf_env *env, const struct loupe_insn *insn)
{
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;
	struct loupe_reg *regs = vf_cur_regs(env), *dst = &regs[insn->dst_reg];
	int err;

	err = check_move_fields(env, insn);
	if (!err && BPF_SRC(insn->code) == BPF_X)
		err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);
	if (!err)
		err = vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP_NO_MARK);
	if (err)
		return err;

	if (BPF_SRC(insn->code) == BPF_X)
		return is64 ? move64(env, insn, dst, &regs[insn->src_reg])
			    : move32(env, insn, dst, &regs[insn->src_reg]);
	vf_reg_unknown(env, dst);
	vf_reg_known(dst, is64 ? (uint64_t)insn->imm : (uint32_t)insn->imm);
	return 0;
}

/* --- two operands ------------------------------------------------------------------------- */

/*
 * `r1 = r2; r1 += 8`: the two stay linked at that distance, once. dst_umax is that of dst before
 * the addition: a 32-bit one must have started from a 32-bit number.
 */
static void link_distance(const struct loupe_insn *insn, struct loupe_reg *dst,
			  const struct loupe_reg *src, uint64_t dst_umax)
{
	bool alu32 = BPF_CLASS(insn->code) != BPF_ALU64;
	bool sub = BPF_OP(insn->code) == BPF_SUB;
	uint64_t value = vf_reg_const_value(src, alu32);
	int32_t distance = (int32_t)value;

	if ((dst->id & LOUPE_ADD_CONST) || (sub && distance == INT32_MIN) ||
	    (alu32 ? dst_umax > UINT32_MAX : (int64_t)value != distance)) {
		vf_clear_scalar_id(dst);
		return;
	}
	dst->id |= alu32 ? LOUPE_ADD_CONST32 : LOUPE_ADD_CONST64;
	dst->off = sub ? -distance : distance;
}

static int alu_scalars(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
		       const struct loupe_reg *src)
{
	uint8_t op = BPF_OP(insn->code);
	uint64_t dst_umax = dst->umax;
	struct loupe_reg copy;
	int err;

	if (dst == src) {
		copy = *src;
		err = vf_alu_scalar(env, insn, dst, &copy);
	} else {
		err = vf_alu_scalar(env, insn, dst, src);
	}
	if (err)
		return err;
	if (env->bpf_capable && (op == BPF_ADD || op == BPF_SUB) && dst->id && dst != src &&
	    vf_reg_is_const_of(src, BPF_CLASS(insn->code) != BPF_ALU64))
		link_distance(insn, dst, src, dst_umax);
	else
		vf_clear_scalar_id(dst);
	return 0;
}

/* Both operands are registers, at least one of them a pointer. */
static int alu_with_pointer(struct vf_env *env, const struct loupe_insn *insn,
			    struct loupe_reg *dst, struct loupe_reg *src)
{
	int err;

	if (vf_is_pointer(dst) && vf_is_pointer(src)) {
		if (BPF_OP(insn->code) == BPF_SUB && env->allow_ptr_leaks) {
			vf_reg_unknown(env, dst);
			return 0;
		}
		vf_msg(env, "R%d pointer %s pointer prohibited\n", insn->dst_reg,
		       insn_alu_ops[BPF_OP(insn->code) >> 4]);
		return -EACCES;
	}
	err = vf_mark_chain_precision(env, vf_is_pointer(dst) ? insn->src_reg : insn->dst_reg);
	if (err)
		return err;
	return vf_is_pointer(dst) ? vf_alu_pointer(env, insn, dst, src)
				  : vf_alu_pointer(env, insn, src, dst);
}

static int alu_operands(struct vf_env *env, const struct loupe_insn *insn)
{
	struct loupe_reg *regs = vf_cur_regs(env), *dst = &regs[insn->dst_reg];
	struct loupe_reg *src = BPF_SRC(insn->code) == BPF_X ? &regs[insn->src_reg] : NULL;
	struct loupe_reg constant;
	int err;

	if (dst->type == PTR_TO_ARENA || (src && src->type == PTR_TO_ARENA)) {
		/* Anything goes; only the low half counts. */
		if (dst->type != PTR_TO_ARENA)
			*dst = *src;
		dst->subreg_def = env->insn_idx + 1;
		if (BPF_CLASS(insn->code) == BPF_ALU64)
			env->aux[env->insn_idx].needs_zext = true;
		return 0;
	}
	if (!src) {
		vf_reg_constant(&constant, (uint64_t)insn->imm);
		return vf_is_pointer(dst) ? vf_alu_pointer(env, insn, dst, &constant)
					  : alu_scalars(env, insn, dst, &constant);
	}

	if (vf_is_pointer(src) || vf_is_pointer(dst))
		return alu_with_pointer(env, insn, dst, src);
	if (dst->precise) {
		err = vf_mark_chain_precision(env, insn->src_reg);
		if (err)
			return err;
	}
	return alu_scalars(env, insn, dst, src);
}

static int check_binary(struct vf_env *env, const struct loupe_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);
	bool by_reg = BPF_SRC(insn->code) == BPF_X;
	int size = BPF_CLASS(insn->code) == BPF_ALU64 ? 64 : 32;
	int err = 0;

	if ((by_reg ? insn->imm != 0 : insn->src_reg != 0) || (insn->off != 0 && insn->off != 1) ||
	    (insn->off == 1 && op != BPF_MOD && op != BPF_DIV))
		return reserved(env, "BPF_ALU");
	if (by_reg)
		err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);
	if (!err)
		err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;

	if ((op == BPF_MOD || op == BPF_DIV) && !by_reg && insn->imm == 0) {
		vf_msg(env, "div by zero\n");
		return -EINVAL;
	}
	if ((op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH) && !by_reg &&
	    (insn->imm < 0 || insn->imm >= size)) {
		vf_msg(env, "invalid shift %d\n", insn->imm);
		return -EINVAL;
	}

	err = vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP_NO_MARK);
	return err ? err : alu_operands(env, insn);
}

int vf_check_alu(struct vf_env *env, const struct loupe_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);
	int err;

	if (op == BPF_END || op == BPF_NEG)
		err = check_unary(env, insn);
	else if (op == BPF_MOV)
		err = check_move(env, insn);
	else
		err = check_binary(env, insn);
	if (err)
		return err;
	return vf_bounds_sanity(env, &vf_cur_regs(env)[insn->dst_reg], "alu");
}
