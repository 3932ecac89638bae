// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that keep registers: compilers spill live caller-saved registers around them at the bottom
 * of the stack, in pairs that are dropped when nothing else uses that part of the stack.
 */
#include "verifier/vf.h"

enum { CALLER_SAVED_CNT = 6 };

static bool is_spill(const struct loupe_insn *insn)
{
	return insn->code == (BPF_STX | BPF_MEM | BPF_DW) && insn->dst_reg == BPF_REG_10;
}

static bool is_fill(const struct loupe_insn *insn)
{
	return insn->code == (BPF_LDX | BPF_MEM | BPF_DW) && insn->src_reg == BPF_REG_10;
}

/* Registers that the call would keep if it kept all that its prototype does not mention. */
static uint32_t kept_regs(const struct vf_env *env, const struct loupe_insn *call, bool *known)
{
	bool void_ret = false;
	int args = insn_is_helper_call(call) ? vf_helper_arg_cnt(env, call->imm, &void_ret) : -1;
	uint32_t clobbered;

	*known = args >= 0;
	if (!*known)
		return 0;
	clobbered = (2u << args) - 1;
	if (void_ret)
		clobbered &= ~1u;
	return ~clobbered & ((1u << CALLER_SAVED_CNT) - 1);
}

/* Counts spill/fill pairs around the call at idx, from the slot at lowest_off upwards. */
static void mark_call(struct vf_env *env, struct vf_subprog *sub, uint32_t idx, int32_t lowest_off)
{
	bool known;
	uint32_t kept = kept_regs(env, &env->insns[idx], &known);
	int32_t off = lowest_off;
	uint32_t pairs;

	if (!known)
		return;
	for (pairs = 0; pairs < CALLER_SAVED_CNT; pairs++, off += LOUPE_REG_SIZE) {
		const struct loupe_insn *spill, *fill;

		if (idx < pairs + 1 || idx + pairs + 1 >= env->insn_cnt)
			break;
		spill = &env->insns[idx - pairs - 1];
		fill = &env->insns[idx + pairs + 1];
		if (!is_spill(spill) || !is_fill(fill) || spill->src_reg != fill->dst_reg)
			break;
		if (!(1u << spill->src_reg & kept) || spill->off != off || fill->off != off)
			break;
		kept &= ~(1u << spill->src_reg);
		env->aux[idx - pairs - 1].fastcall_pattern = 1;
		env->aux[idx + pairs + 1].fastcall_pattern = 1;
	}
	if (!pairs)
		return;
	/* a helper that this kernel does not inline keeps its pairs, and the slots with them */
	if (vf_helper_is_fastcall(env, env->insns[idx].imm))
		env->aux[idx].fastcall_spills = (uint8_t)pairs;
	else
		sub->keep_fastcall_stack = true;
	/* 16 bits wide, as offsets of insns are */
	if ((int16_t)off < sub->fastcall_stack_off)
		sub->fastcall_stack_off = (int16_t)off;
}

int vf_mark_fastcall(struct vf_env *env)
{
	for (uint32_t s = 0; s < env->subprog_cnt; s++) {
		struct vf_subprog *sub = &env->subprogs[s];
		int32_t lowest_off = 0;

		for (uint32_t i = sub->start; i < sub[1].start; i++)
			if (is_spill(&env->insns[i]) && env->insns[i].off < lowest_off)
				lowest_off = env->insns[i].off;
		for (uint32_t i = sub->start; i < sub[1].start; i++)
			if (env->insns[i].code == (BPF_JMP | BPF_CALL))
				mark_call(env, sub, i, lowest_off);
	}
	return 0;
}

void vf_fastcall_stack_access(struct vf_env *env, const struct loupe_frame *frame, int32_t insn_idx,
			      int off)
{
	struct vf_subprog *sub = &env->subprogs[frame->subprogno];

	if (sub->fastcall_stack_off <= off || env->aux[insn_idx].fastcall_pattern)
		return;
	/* below any offset: happens once per function */
	sub->fastcall_stack_off = INT16_MIN;
	for (uint32_t i = sub->start; i < sub[1].start; i++) {
		env->aux[i].fastcall_spills = 0;
		env->aux[i].fastcall_pattern = 0;
	}
}
