// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack that a chain of calls may use, over all chains from main and from each callback that runs
 * later. Functions of some program types get a stack of their own and do not add to the sum.
 */
#include "verifier/vf.h"

enum {
	MIN_PRIV_STACK = 64,	    /* smaller stacks stay on the kernel's */
	MAX_BEFORE_TAIL_CALL = 256, /* stack of the callers of a function with a tail call */
};

/* A walk down one tree of calls. */
struct chain {
	struct vf_env *env;
	bool priv_supported;
	uint32_t depth;
	uint32_t frame;
	uint32_t subprogno; /* where the walk is */
	uint32_t insn;
	bool tail_call_reachable;
	uint32_t ret_insn[LOUPE_MAX_FRAMES]; /* where to go on after a callee */
	uint32_t ret_subprog[LOUPE_MAX_FRAMES];
};

static uint32_t rounded(uint32_t depth)
{
	return (depth + 15) & ~15u;
}

/* Functions of these types cannot be entered again while they run. */
static bool type_has_priv_stack(const struct vf_env *env)
{
	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
		return true;
	case BPF_PROG_TYPE_TRACING:
		return env->expected_attach_type != BPF_TRACE_ITER;
	default:
		return false;
	}
}

static int enter(struct chain *chain)
{
	struct vf_env *env = chain->env;
	struct vf_subprog *sub = &env->subprogs[chain->subprogno];
	uint32_t depth = rounded(sub->stack_depth);

	if (chain->subprogno && sub->has_tail_call && chain->depth >= MAX_BEFORE_TAIL_CALL) {
		vf_msg(env,
		       "tail_calls are not allowed when call stack of previous frames is %u bytes. "
		       "Too large\n",
		       chain->depth);
		return -EACCES;
	}
	if (chain->priv_supported && sub->priv_stack_mode == VF_PRIV_STACK_UNKNOWN &&
	    depth >= MIN_PRIV_STACK)
		sub->priv_stack_mode = VF_PRIV_STACK_ADAPTIVE;
	if (sub->priv_stack_mode == VF_PRIV_STACK_ADAPTIVE) {
		if (depth > LOUPE_MAX_STACK) {
			vf_msg(env, "stack size of subprog %u is %u. Too large\n", chain->subprogno,
			       depth);
			return -EACCES;
		}
		return 0;
	}
	chain->depth += depth;
	if (chain->depth > LOUPE_MAX_STACK) {
		vf_msg(env, "combined stack size of %u calls is %u. Too large\n", chain->frame + 1,
		       chain->depth);
		return -EACCES;
	}
	return 0;
}

/* A function called or named at insn idx: 1 if the walk goes down into it. */
static int go_down(struct chain *chain, uint32_t idx)
{
	struct vf_env *env = chain->env;
	const struct loupe_insn *insn = &env->insns[idx];
	int callee = vf_find_subprog(env, (int32_t)idx + insn->imm + 1);
	struct vf_subprog *sub = &env->subprogs[callee];

	if (sub->is_async_cb) {
		if (sub->has_tail_call) {
			vf_msg(env, "verifier bug: subprog has tail_call and async cb\n");
			return -EFAULT;
		}
		/* it runs later, on a stack that is counted apart */
		if (!insn_is_pseudo_call(insn))
			return 0;
		if (sub->is_exception_cb) {
			vf_msg(env, "insn %u cannot call exception cb directly", idx);
			return -EINVAL;
		}
	}
	chain->ret_insn[chain->frame] = idx + 1;
	chain->ret_subprog[chain->frame] = chain->subprogno;
	chain->subprogno = (uint32_t)callee;
	chain->insn = sub->start;
	if (!chain->priv_supported)
		sub->priv_stack_mode = VF_PRIV_STACK_NONE;
	if (sub->has_tail_call)
		chain->tail_call_reachable = true;
	if (++chain->frame >= LOUPE_MAX_FRAMES) {
		vf_msg(env, "the call stack of %u frames is too deep !\n", chain->frame);
		return -E2BIG;
	}
	return 1;
}

/* Follows the function's insns to its next call: 1 down into it, 0 at its end. */
static int walk_function(struct chain *chain)
{
	const struct vf_env *env = chain->env;
	uint32_t end = env->subprogs[chain->subprogno + 1].start;

	for (; chain->insn < end; chain->insn++) {
		const struct loupe_insn *insn = &env->insns[chain->insn];
		int ret;

		if (!insn_is_pseudo_call(insn) && !insn_is_pseudo_func(insn))
			continue;
		ret = go_down(chain, chain->insn);
		if (ret)
			return ret;
	}
	return 0;
}

/* Back to the caller. */
static int leave(struct chain *chain)
{
	struct vf_env *env = chain->env;
	struct vf_subprog *sub = &env->subprogs[chain->subprogno];

	for (uint32_t i = 0; chain->tail_call_reachable && i < chain->frame; i++) {
		struct vf_subprog *caller = &env->subprogs[chain->ret_subprog[i]];

		if (caller->is_exception_cb) {
			vf_msg(env, "cannot tail call within exception cb\n");
			return -EINVAL;
		}
		caller->tail_call_reachable = true;
	}
	if (!chain->frame)
		return 0;
	if (sub->priv_stack_mode != VF_PRIV_STACK_ADAPTIVE)
		chain->depth -= rounded(sub->stack_depth);
	chain->frame--;
	chain->insn = chain->ret_insn[chain->frame];
	chain->subprogno = chain->ret_subprog[chain->frame];
	return 1;
}

static int check_from(struct vf_env *env, uint32_t subprogno, bool priv_supported)
{
	struct chain chain = {
		.env = env,
		.priv_supported = priv_supported,
		.subprogno = subprogno,
		.insn = env->subprogs[subprogno].start,
	};
	int ret;

	if (!priv_supported)
		env->subprogs[subprogno].priv_stack_mode = VF_PRIV_STACK_NONE;
	ret = enter(&chain);
	while (!ret) {
		ret = walk_function(&chain);
		if (ret < 0)
			return ret;
		if (ret) {
			ret = enter(&chain);
			continue;
		}
		ret = leave(&chain);
		if (ret <= 0)
			return ret;
		ret = 0;
	}
	return ret;
}

/* Spills and fills around calls that keep registers become no-ops; their slots go too. */
static void drop_fastcall_spills(struct vf_env *env)
{
	static const struct loupe_insn nop = { .code = BPF_JMP | BPF_JA };

	for (uint32_t s = 0; s < env->subprog_cnt; s++) {
		struct vf_subprog *sub = &env->subprogs[s];
		bool dropped = false;

		for (uint32_t i = sub->start; i < sub[1].start; i++) {
			for (uint32_t k = 1; k <= env->aux[i].fastcall_spills; k++) {
				env->insns[i - k] = nop;
				env->insns[i + k] = nop;
				dropped = true;
			}
		}
		if (dropped && !sub->keep_fastcall_stack)
			sub->stack_depth = (uint32_t)-sub->fastcall_stack_off;
	}
}

int vf_check_stack_depth(struct vf_env *env)
{
	bool priv = type_has_priv_stack(env);

	drop_fastcall_spills(env);
	for (uint32_t i = 0; i < env->subprog_cnt; i++)
		if (env->subprogs[i].has_tail_call)
			priv = false;
	/* later callbacks first: what they call stays on the kernel's stack for main too */
	for (uint32_t i = env->subprog_cnt; i-- > 0;) {
		int err;

		if (i && !env->subprogs[i].is_async_cb)
			continue;
		err = check_from(env, i, i == 0 && priv);
		if (err)
			return err;
	}
	return 0;
}
