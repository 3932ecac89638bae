// SPDX-License-Identifier: GPL-2.0-only
/* Atomic read-modify-writes, load-acquire and store-release. */
#include "verifier/mem.h"

/* x86-64 loops for these; an access to an arena must be one instruction, which may fault. */
static bool jit_loops(int32_t op)
{
	return op == (BPF_AND | BPF_FETCH) || op == (BPF_OR | BPF_FETCH) ||
	       op == (BPF_XOR | BPF_FETCH);
}

/* Memory on which atomic insns work. */
static bool ptr_type_ok(struct vf_env *env, uint32_t regno, int32_t op)
{
	uint32_t type = vf_cur_regs(env)[regno].type;

	if (type == PTR_TO_ARENA)
		return !jit_loops(op);
	return type != PTR_TO_CTX && !vf_is_pkt_pointer(type) && type != PTR_TO_FLOW_KEYS &&
	       !vf_type_is_sk(type);
}

static int refuse_ptr_type(struct vf_env *env, const char *what, uint32_t regno)
{
	char buf[VF_TYPE_NAME];

	vf_msg(env, "BPF_ATOMIC %s R%u %s is not allowed\n", what, regno,
	       vf_type_str(buf, vf_cur_regs(env)[regno].type));
	return -EACCES;
}

static int refuse_leak(struct vf_env *env, uint32_t regno)
{
	vf_msg(env, "R%u leaks addr into mem\n", regno);
	return -EACCES;
}

static int access(struct vf_env *env, const struct loupe_insn *insn, enum vf_access t,
		  int value_regno)
{
	return vf_check_mem_access(env, env->insn_idx, insn->dst_reg, insn->off,
				   BPF_SIZE(insn->code), t, value_regno, true, false);
}

static int check_rmw(struct vf_env *env, const struct loupe_insn *insn)
{
	int load_reg = -1, err;

	if (BPF_SIZE(insn->code) != BPF_W && BPF_SIZE(insn->code) != BPF_DW) {
		vf_msg(env, "invalid atomic operand size\n");
		return -EINVAL;
	}
	err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);
	if (!err)
		err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;
	if (insn->imm == BPF_CMPXCHG) {
		err = vf_check_reg_arg(env, BPF_REG_0, VF_SRC_OP);
		if (err)
			return err;
		if (vf_is_pointer_value(env, BPF_REG_0))
			return refuse_leak(env, BPF_REG_0);
	}
	if (vf_is_pointer_value(env, insn->src_reg))
		return refuse_leak(env, insn->src_reg);
	if (!ptr_type_ok(env, insn->dst_reg, insn->imm))
		return refuse_ptr_type(env, "stores into", insn->dst_reg);
	if (insn->imm & BPF_FETCH) {
		load_reg = insn->imm == BPF_CMPXCHG ? BPF_REG_0 : insn->src_reg;
		err = vf_check_reg_arg(env, (uint32_t)load_reg, VF_DST_OP);
		if (err)
			return err;
	}
	/* Read without a target first, then into the register that gets the old value. */
	err = access(env, insn, VF_READ, -1);
	if (!err && load_reg >= 0)
		err = access(env, insn, VF_READ, load_reg);
	if (err)
		return err;
	if (vf_cur_regs(env)[insn->dst_reg].type == PTR_TO_ARENA) {
		err = vf_save_ptr_type(env, PTR_TO_ARENA, false);
		if (err)
			return err;
	}
	return access(env, insn, VF_WRITE, -1);
}

int vf_check_atomic(struct vf_env *env, const struct loupe_insn *insn)
{
	int err;

	switch (insn->imm) {
	case BPF_ADD:
	case BPF_ADD | BPF_FETCH:
	case BPF_AND:
	case BPF_AND | BPF_FETCH:
	case BPF_OR:
	case BPF_OR | BPF_FETCH:
	case BPF_XOR:
	case BPF_XOR | BPF_FETCH:
	case BPF_XCHG:
	case BPF_CMPXCHG:
		return check_rmw(env, insn);
	case BPF_LOAD_ACQ:
		err = vf_check_load(env, insn, true, false, false, "atomic_load");
		if (!err && !ptr_type_ok(env, insn->src_reg, insn->imm))
			return refuse_ptr_type(env, "loads from", insn->src_reg);
		return err;
	case BPF_STORE_REL:
		err = vf_check_store_reg(env, insn, true);
		if (!err && !ptr_type_ok(env, insn->dst_reg, insn->imm))
			return refuse_ptr_type(env, "stores into", insn->dst_reg);
		return err;
	default:
		vf_msg(env, "BPF_ATOMIC uses invalid atomic opcode %02x\n", (uint32_t)insn->imm);
		return -EINVAL;
	}
}
