// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers that may be read at or after each instruction before they are written: textbook
 * backward data flow inside each function. Source: Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5.
 */
#include "verifier/vf.h"

struct live {
	uint16_t use, def; /* read and written by the insn itself */
	uint16_t in, out;  /* live before and after it */
};

enum { ARG_REGS = 0x3e, CALLER_SAVED = 0x3f, ALL_REGS = 0xffff };

static uint16_t bit(uint32_t regno)
{
	return (uint16_t)(1u << regno);
}

static struct live atomic(const struct loupe_insn *insn)
{
	uint16_t src = bit(insn->src_reg), dst = bit(insn->dst_reg);

	switch (insn->imm) {
	case BPF_CMPXCHG:
		return (struct live){ .use = bit(0) | dst | src, .def = bit(0) };
	case BPF_LOAD_ACQ:
		return (struct live){ .use = src, .def = dst };
	case BPF_STORE_REL:
		return (struct live){ .use = dst | src };
	default:
		return (struct live){ .use = dst | src, .def = insn->imm & BPF_FETCH ? src : 0 };
	}
}

static struct live alu(const struct loupe_insn *insn)
{
	uint16_t src = bit(insn->src_reg), dst = bit(insn->dst_reg);
	bool from_reg = BPF_SRC(insn->code) == BPF_X;

	switch (BPF_OP(insn->code)) {
	case BPF_END:
		return (struct live){ .use = dst, .def = dst };
	case BPF_MOV:
		return (struct live){ .use = from_reg ? src : 0, .def = dst };
	default:
		return (struct live){ .use = dst | (from_reg ? src : 0), .def = dst };
	}
}

static struct live call(const struct vf_env *env, const struct loupe_insn *insn)
{
	struct live live = { .use = ARG_REGS, .def = CALLER_SAVED };
	bool void_ret;
	int args;

	if (insn_is_helper_call(insn)) {
		args = vf_helper_arg_cnt(env, insn->imm, &void_ret);
		if (args >= 0)
			live.use = (uint16_t)((1u << (args + 1)) - 2);
	}
	return live;
}

static struct live jump(const struct vf_env *env, const struct loupe_insn *insn)
{
	uint16_t src = bit(insn->src_reg), dst = bit(insn->dst_reg);

	switch (BPF_OP(insn->code)) {
	case BPF_JA:
	case BPF_JCOND:
		return (struct live){ 0 };
	case BPF_EXIT:
		return (struct live){ .use = bit(0) };
	case BPF_CALL:
		return call(env, insn);
	default:
		return (struct live){ .use = dst | (BPF_SRC(insn->code) == BPF_X ? src : 0) };
	}
}

/* What an insn reads and writes; what is not understood reads everything. */
static struct live use_def(const struct vf_env *env, const struct loupe_insn *insn)
{
	uint16_t src = bit(insn->src_reg), dst = bit(insn->dst_reg);
	uint8_t mode = BPF_MODE(insn->code);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		if (insn_is_ldimm64(insn))
			return (struct live){ .def = dst };
		break;
	case BPF_LDX:
		if (mode == BPF_MEM || mode == BPF_MEMSX)
			return (struct live){ .use = src, .def = dst };
		break;
	case BPF_ST:
		if (mode == BPF_MEM)
			return (struct live){ .use = dst };
		break;
	case BPF_STX:
		if (mode == BPF_MEM)
			return (struct live){ .use = dst | src };
		if (mode == BPF_ATOMIC)
			return atomic(insn);
		break;
	case BPF_ALU:
	case BPF_ALU64:
		return alu(insn);
	default:
		return jump(env, insn);
	}
	return (struct live){ .use = ALL_REGS };
}

static void emit_facts(struct vf_env *env, struct loupe_insn_facts *facts)
{
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		const struct vf_aux *aux = &env->aux[i];

		facts[i].live_regs = aux->live_regs;
		facts[i].prune_point = aux->prune_point;
		facts[i].jmp_point = aux->jmp_point;
		facts[i].force_checkpoint = aux->force_checkpoint;
		facts[i].calls_callback = aux->calls_callback;
		facts[i].scc = aux->scc;
		if (i + 1 < env->insn_cnt && !facts[i].second_slot)
			facts[i + 1].second_slot = insn_is_ldimm64(&env->insns[i]);
	}
	VF_EMIT(env, facts, facts, env->insn_cnt);
}

int vf_compute_live_regs(struct vf_env *env)
{
	size_t facts_size = env->insn_cnt * sizeof(struct loupe_insn_facts);
	struct live *state = vf_zalloc(env->slabs, env->insn_cnt * sizeof(*state));
	struct loupe_insn_facts *facts;
	bool changed = true;

	if (!state)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		state[i] = use_def(env, &env->insns[i]);
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < env->postorder_cnt; i++) {
			struct live *live = &state[env->postorder[i]];
			uint32_t succ[2], cnt = vf_insn_successors(env, env->postorder[i], succ);
			uint16_t out = 0, in;

			for (uint32_t s = 0; s < cnt; s++)
				out |= state[succ[s]].in;
			in = (uint16_t)((out & ~live->def) | live->use);
			changed |= in != live->in || out != live->out;
			live->in = in;
			live->out = out;
		}
	}
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		env->aux[i].live_regs = state[i].in;
	vf_free(env->slabs, state, env->insn_cnt * sizeof(*state));

	if (vf_listening(env)) {
		facts = vf_zalloc(env->slabs, facts_size);
		if (!facts)
			return -ENOMEM;
		emit_facts(env, facts);
		vf_free(env->slabs, facts, facts_size);
	}
	return 0;
}
