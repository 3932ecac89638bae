// SPDX-License-Identifier: GPL-2.0-only
/*
 * Depth-first walk over the program before exploration: every insn must be reachable, and insns
 * where states are compared (prune points) or the path history gets an entry (jump points) are
 * marked. The order of the walk decides which error is reported and what of a callee's effects its
 * callers see.
 */
#include "bpfloupe/insn.h"
#include "verifier/vf.h"

enum { FALLTHROUGH = 1, BRANCH = 2, DISCOVERED = 0x10, EXPLORED = 0x20 };
enum { DONE = 0, KEEP_EXPLORING = 1 };

struct walk {
	struct vf_env *env;
	uint8_t *state; /* per insn: DISCOVERED and the last labelled edge, or EXPLORED */
	uint32_t *stack;
	uint32_t depth;
};

bool vf_insn_is_sync_callback(const struct loupe_insn *insn)
{
	return insn_is_helper_call(insn) && vf_helper_is_sync_callback(insn->imm);
}

bool vf_insn_is_async_callback(const struct loupe_insn *insn)
{
	return insn_is_helper_call(insn) && vf_helper_is_async_callback(insn->imm);
}

static void mark_prune_point(struct vf_env *env, uint32_t idx)
{
	env->aux[idx].prune_point = true;
}

static void mark_jmp_point(struct vf_env *env, uint32_t idx)
{
	env->aux[idx].jmp_point = true;
}

static int back_edge(struct vf_env *env, uint32_t from, uint32_t to)
{
	vf_source_line(env, (int32_t)from);
	vf_source_line(env, (int32_t)to);
	vf_msg(env, "back-edge from insn %u to %u\n", from, to);
	return -EINVAL;
}

/* Follows the edge of insn `from` to `to`, unless it was followed before. */
static int push_edge(struct walk *walk, uint32_t from, uint32_t to, uint8_t edge)
{
	struct vf_env *env = walk->env;

	if (walk->state[from] >= (DISCOVERED | edge))
		return DONE;
	if (to >= env->insn_cnt) {
		vf_source_line(env, (int32_t)from);
		vf_msg(env, "jump out of range from insn %u to %d\n", from, (int32_t)to);
		return -EINVAL;
	}
	if (edge == BRANCH) {
		mark_prune_point(env, to);
		mark_jmp_point(env, to);
	}
	if (walk->state[to] == 0) {
		walk->state[from] = DISCOVERED | edge;
		walk->state[to] = DISCOVERED;
		if (walk->depth >= env->insn_cnt)
			return -E2BIG;
		walk->stack[walk->depth++] = to;
		return KEEP_EXPLORING;
	}
	if (walk->state[to] == EXPLORED)
		walk->state[from] = DISCOVERED | edge;
	else if (!env->bpf_capable)
		return back_edge(env, from, to);
	return DONE;
}

/* What a callee may do its caller may do; the callee has been walked by then, as calls cannot recur
 * in this order. */
static void merge_effects(struct vf_env *env, uint32_t call, uint32_t callee)
{
	struct vf_subprog *from = &env->subprogs[vf_find_containing_subprog(env, callee)];
	struct vf_subprog *to = &env->subprogs[vf_find_containing_subprog(env, call)];

	to->changes_pkt_data |= from->changes_pkt_data;
	to->might_sleep |= from->might_sleep;
}

/* A call, or a load of a callback's address: the function is walked as the second edge. */
static int visit_call(struct walk *walk, uint32_t idx, bool visit_callee)
{
	struct vf_env *env = walk->env;
	const struct loupe_insn *insn = &env->insns[idx];
	uint32_t next = idx + loupe_insn_slots(insn);
	uint32_t callee = idx + (uint32_t)insn->imm + 1;
	int ret = push_edge(walk, idx, next, FALLTHROUGH);

	if (ret)
		return ret;
	mark_prune_point(env, next);
	mark_jmp_point(env, next);
	if (!visit_callee)
		return DONE;
	mark_prune_point(env, idx);
	merge_effects(env, idx, callee);
	return push_edge(walk, idx, callee, BRANCH);
}

static void note_helper_effects(struct vf_env *env, uint32_t idx, int32_t func_id)
{
	struct vf_subprog *sub = &env->subprogs[vf_find_containing_subprog(env, idx)];

	if (vf_helper_might_sleep(env, func_id))
		sub->might_sleep = true;
	if (vf_helper_changes_pkt_data(func_id))
		sub->changes_pkt_data = true;
}

static int visit_call_insn(struct walk *walk, uint32_t idx)
{
	struct vf_env *env = walk->env;
	const struct loupe_insn *insn = &env->insns[idx];

	/* compared before the call, or the callback would be queued again and again */
	if (vf_insn_is_async_callback(insn))
		mark_prune_point(env, idx);
	/* the callback returns to the call itself; a checkpoint there ends the iteration */
	if (vf_insn_is_sync_callback(insn)) {
		env->aux[idx].calls_callback = true;
		env->aux[idx].force_checkpoint = true;
		mark_prune_point(env, idx);
		mark_jmp_point(env, idx);
	}
	if (insn_is_helper_call(insn))
		note_helper_effects(env, idx, insn->imm);
	return visit_call(walk, idx, insn->src_reg == BPF_PSEUDO_CALL);
}

static int visit_ja(struct walk *walk, uint32_t idx)
{
	const struct loupe_insn *insn = &walk->env->insns[idx];
	int32_t off = BPF_CLASS(insn->code) == BPF_JMP ? insn->off : insn->imm;
	uint32_t to = idx + (uint32_t)off + 1;
	int ret = push_edge(walk, idx, to, FALLTHROUGH);

	if (ret)
		return ret;
	mark_prune_point(walk->env, to);
	mark_jmp_point(walk->env, to);
	return DONE;
}

static int visit_cond(struct walk *walk, uint32_t idx)
{
	struct vf_env *env = walk->env;
	const struct loupe_insn *insn = &env->insns[idx];
	int ret;

	mark_prune_point(env, idx);
	if (insn_is_may_goto(insn))
		env->aux[idx].force_checkpoint = true;
	ret = push_edge(walk, idx, idx + 1, FALLTHROUGH);
	if (ret)
		return ret;
	return push_edge(walk, idx, (uint32_t)((int32_t)idx + insn->off + 1), BRANCH);
}

static int visit_insn(struct walk *walk, uint32_t idx)
{
	const struct loupe_insn *insn = &walk->env->insns[idx];

	if (insn_is_pseudo_func(insn))
		return visit_call(walk, idx, true);
	if (BPF_CLASS(insn->code) != BPF_JMP && BPF_CLASS(insn->code) != BPF_JMP32)
		return push_edge(walk, idx, idx + loupe_insn_slots(insn), FALLTHROUGH);
	switch (BPF_OP(insn->code)) {
	case BPF_EXIT:
		return DONE;
	case BPF_CALL:
		return visit_call_insn(walk, idx);
	case BPF_JA:
		return visit_ja(walk, idx);
	default:
		return visit_cond(walk, idx);
	}
}

static int walk_from(struct walk *walk, uint32_t start)
{
	walk->state[start] = DISCOVERED;
	walk->stack[0] = start;
	walk->depth = 1;
	while (walk->depth) {
		uint32_t idx = walk->stack[walk->depth - 1];
		int ret = visit_insn(walk, idx);

		if (ret < 0)
			return ret;
		if (ret == KEEP_EXPLORING)
			continue;
		walk->state[idx] = EXPLORED;
		walk->depth--;
	}
	return 0;
}

static int check_all_reached(struct walk *walk)
{
	struct vf_env *env = walk->env;

	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		if (walk->state[i] != EXPLORED) {
			vf_msg(env, "unreachable insn %u\n", i);
			return -EINVAL;
		}
		if (!insn_is_ldimm64(&env->insns[i]))
			continue;
		if (walk->state[i + 1] != 0) {
			vf_msg(env, "jump into the middle of ldimm64 insn %u\n", i);
			return -EINVAL;
		}
		i++;
	}
	return 0;
}

int vf_check_cfg(struct vf_env *env)
{
	struct walk walk = {
		.env = env,
		.state = vf_zalloc(env->slabs, env->insn_cnt),
		.stack = vf_alloc(env->slabs, env->insn_cnt * sizeof(uint32_t)),
	};
	int err;

	if (!walk.state || !walk.stack)
		return -ENOMEM;
	err = walk_from(&walk, 0);
	if (!err && env->exception_cb > 0) {
		uint32_t start = env->subprogs[env->exception_cb].start;

		if (walk.state[start] != EXPLORED)
			err = walk_from(&walk, start);
	}
	if (!err)
		err = check_all_reached(&walk);
	vf_free(env->slabs, walk.state, env->insn_cnt);
	vf_free(env->slabs, walk.stack, env->insn_cnt * sizeof(uint32_t));
	return err;
}
