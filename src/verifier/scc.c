// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of the instructions that later phases rely on and the log shows: successors, postorder of
 * each function, strongly connected components.
 */
#include "bpfloupe/insn.h"
#include "verifier/vf.h"

/* Postorder of the insns from start on that were not met before; a stack of at most insn_cnt. */
static void postorder_from(struct vf_env *env, uint32_t start, uint8_t *state, uint32_t *stack)
{
	enum { DISCOVERED = 1, EXPLORED = 2 };
	uint32_t depth = 0;

	state[start] = DISCOVERED;
	stack[depth++] = start;
	while (depth) {
		uint32_t top = stack[depth - 1], succ[2], cnt;

		if (state[top] & EXPLORED) {
			env->postorder[env->postorder_cnt++] = top;
			depth--;
			continue;
		}
		cnt = vf_insn_successors(env, top, succ);
		for (uint32_t s = 0; s < cnt; s++) {
			if (state[succ[s]])
				continue;
			state[succ[s]] = DISCOVERED;
			stack[depth++] = succ[s];
		}
		state[top] = DISCOVERED | EXPLORED;
	}
}

int vf_compute_postorder(struct vf_env *env)
{
	uint8_t *state = vf_zalloc(env->slabs, env->insn_cnt);
	uint32_t *stack = vf_alloc(env->slabs, env->insn_cnt * sizeof(*stack));

	env->postorder = vf_zalloc(env->slabs, env->insn_cnt * sizeof(*env->postorder));
	env->postorder_cnt = 0;
	if (!state || !stack || !env->postorder)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->subprog_cnt; i++) {
		env->subprogs[i].postorder_start = env->postorder_cnt;
		postorder_from(env, env->subprogs[i].start, state, stack);
	}
	env->subprogs[env->subprog_cnt].postorder_start = env->postorder_cnt;
	vf_free(env->slabs, state, env->insn_cnt);
	vf_free(env->slabs, stack, env->insn_cnt * sizeof(*stack));
	return 0;
}

/*
 * Tarjan's algorithm with Pearce's simplification (low[] alone is compared), without recursion.
 * A component gets a number only if it can repeat: several insns, or a jump to itself.
 */
struct tarjan {
	uint32_t *stack, *pre, *low, *dfs;
	uint32_t stack_cnt, dfs_cnt;
	uint32_t next_pre, next_scc;
};

#define OFF_STACK UINT32_MAX

static void close_component(struct vf_env *env, struct tarjan *t, uint32_t root, bool repeats)
{
	uint32_t v;

	do {
		v = t->stack[--t->stack_cnt];
		t->low[v] = OFF_STACK;
		if (repeats)
			env->aux[v].scc = t->next_scc;
	} while (v != root);
	if (repeats)
		t->next_scc++;
}

static void tarjan_from(struct vf_env *env, struct tarjan *t, uint32_t start)
{
	t->stack_cnt = 0;
	t->dfs_cnt = 0;
	t->dfs[t->dfs_cnt++] = start;
	while (t->dfs_cnt) {
		uint32_t v = t->dfs[t->dfs_cnt - 1], succ[2], cnt, s;
		bool repeats;

		if (!t->pre[v]) {
			t->pre[v] = t->low[v] = t->next_pre++;
			t->stack[t->stack_cnt++] = v;
		}
		cnt = vf_insn_successors(env, v, succ);
		for (s = 0; s < cnt && t->pre[succ[s]]; s++)
			if (t->low[succ[s]] < t->low[v])
				t->low[v] = t->low[succ[s]];
		if (s < cnt) {
			t->dfs[t->dfs_cnt++] = succ[s];
			continue;
		}
		t->dfs_cnt--;
		if (t->low[v] < t->pre[v])
			continue;
		repeats = t->stack[t->stack_cnt - 1] != v;
		for (s = 0; s < cnt; s++)
			repeats |= succ[s] == v;
		close_component(env, t, v, repeats);
	}
}

int vf_compute_scc(struct vf_env *env)
{
	size_t size = env->insn_cnt * sizeof(uint32_t);
	struct tarjan t = {
		.stack = vf_alloc(env->slabs, size),
		.pre = vf_zalloc(env->slabs, size),
		.low = vf_zalloc(env->slabs, size),
		.dfs = vf_alloc(env->slabs, size),
		.next_pre = 1,
		.next_scc = 1,
	};

	if (!t.stack || !t.pre || !t.low || !t.dfs)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		if (!t.pre[i])
			tarjan_from(env, &t, i);
	env->scc_cnt = t.next_scc;
	vf_free(env->slabs, t.stack, size);
	vf_free(env->slabs, t.pre, size);
	vf_free(env->slabs, t.low, size);
	vf_free(env->slabs, t.dfs, size);
	return 0;
}
