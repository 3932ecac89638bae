// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops under exploration. While a strongly connected component of the program is being walked,
 * what its checkpoints need is not known in full; a path that ends because it equals one of them
 * is kept as a backedge. When the component is left, precision flows over the backedges until
 * nothing changes any more. A component counts once for each chain of calls that leads to it.
 */
#include "verifier/vf.h"

enum { MAX_ROUNDS = 64 };

struct scc_key {
	uint32_t callsites[LOUPE_MAX_FRAMES - 1];
	uint32_t scc;
};

struct backedge {
	struct loupe_state state;
	struct backedge *next;
};

struct scc_visit {
	struct scc_key key;
	const struct loupe_state *entry; /* checkpoint that entered it, NULL while not inside */
	struct backedge *backedges;
	uint32_t backedge_cnt;
	struct scc_visit *next; /* of the same component */
};

struct vf_sccs {
	struct scc_visit **visits; /* by component */
};

int vf_sccs_init(struct vf_env *env)
{
	env->sccs = vf_zalloc(env->slabs, sizeof(*env->sccs));
	if (!env->sccs)
		return -ENOMEM;
	env->sccs->visits = vf_zalloc(env->slabs, (env->scc_cnt + 1) * sizeof(struct scc_visit *));
	return env->sccs->visits ? 0 : -ENOMEM;
}

void vf_sccs_drop(struct vf_env *env)
{
	for (uint32_t i = 0; i <= env->scc_cnt; i++)
		env->sccs->visits[i] = NULL;
}

/* The outermost frame of st that stands in a component decides. False: none does. */
static bool scc_key(const struct vf_env *env, const struct loupe_state *st, struct scc_key *key)
{
	memset(key, 0, sizeof(*key));
	for (uint32_t i = 0; i <= st->curframe; i++) {
		bool last = i == st->curframe;
		int32_t at = last ? st->insn_idx : st->frame[i + 1]->callsite;

		key->scc = env->aux[at].scc;
		if (key->scc)
			return true;
		if (last)
			break;
		key->callsites[i] = (uint32_t)at;
	}
	return false;
}

static struct scc_visit *find_visit(const struct vf_env *env, const struct scc_key *key)
{
	struct scc_visit *visit = env->sccs->visits[key->scc];

	while (visit && memcmp(&visit->key, key, sizeof(*key)))
		visit = visit->next;
	return visit;
}

static struct loupe_chain chain_of(const struct scc_key *key)
{
	struct loupe_chain chain = { 0 };

	for (uint32_t i = 0; i < LOUPE_MAX_FRAMES - 1 && key->callsites[i]; i++)
		chain.at[chain.cnt++] = key->callsites[i];
	chain.at[chain.cnt++] = key->scc;
	return chain;
}

int vf_scc_enter(struct vf_env *env, struct loupe_state *st)
{
	struct scc_visit *visit;
	struct scc_key key;

	if (!scc_key(env, st, &key))
		return 0;
	visit = find_visit(env, &key);
	if (!visit) {
		visit = vf_zalloc(env->slabs, sizeof(*visit));
		if (!visit)
			return -ENOMEM;
		visit->key = key;
		visit->next = env->sccs->visits[key.scc];
		env->sccs->visits[key.scc] = visit;
	}
	if (visit->entry)
		return 0;
	visit->entry = st;
	if (vf_listening(env)) {
		struct loupe_chain chain = chain_of(&key);

		VF_EMIT(env, scc_enter, &chain);
	}
	return 0;
}

bool vf_scc_incomplete(struct vf_env *env, const struct loupe_state *st)
{
	struct scc_visit *visit;
	struct scc_key key;

	if (!env->backedge_cnt || !scc_key(env, st, &key))
		return false;
	visit = find_visit(env, &key);
	return visit && visit->backedges;
}

int vf_scc_add_backedge(struct vf_env *env, struct loupe_state *checkpoint, int32_t insn_idx)
{
	struct backedge *backedge = vf_alloc(env->slabs, sizeof(*backedge));
	struct scc_visit *visit;
	struct scc_key key;
	int err;

	if (!backedge)
		return -ENOMEM;
	err = vf_state_copy(env, &backedge->state, env->cur);
	if (err)
		return err;
	backedge->state.equal_state = checkpoint;
	backedge->state.insn_idx = insn_idx;
	if (!scc_key(env, checkpoint, &key)) {
		vf_msg(env,
		       "verifier bug: add backedge: no SCC in verification path, insn_idx %d\n",
		       checkpoint->insn_idx);
		return -EFAULT;
	}
	visit = find_visit(env, &key);
	if (!visit)
		return -EFAULT;
	if (vf_listening(env)) {
		struct loupe_chain chain = chain_of(&key);

		VF_EMIT(env, scc_backedge, &chain, &backedge->state);
	}
	backedge->next = visit->backedges;
	visit->backedges = backedge;
	visit->backedge_cnt++;
	env->backedge_cnt++;
	vf_update_peak(env);
	return 0;
}

static void free_backedges(struct vf_env *env, struct scc_visit *visit)
{
	while (visit->backedges) {
		struct backedge *backedge = visit->backedges;

		visit->backedges = backedge->next;
		vf_state_release(env, &backedge->state);
		vf_free(env->slabs, backedge, sizeof(*backedge));
	}
}

static int propagate(struct vf_env *env, struct scc_visit *visit)
{
	struct loupe_chain chain = chain_of(&visit->key);
	bool changed = true;

	for (uint32_t round = 0; changed; round++) {
		if (round > MAX_ROUNDS) {
			vf_msg2(env, "propagate_backedges: too many iterations\n");
			for (struct backedge *b = visit->backedges; b; b = b->next) {
				int err = vf_force_all_precise(env, &b->state);

				if (err)
					return err;
			}
			break;
		}
		changed = false;
		if (vf_listening(env))
			VF_EMIT(env, scc_round, &chain, round);
		for (struct backedge *b = visit->backedges; b; b = b->next) {
			int err = vf_propagate_precision(env, b->state.equal_state, &b->state,
							 &changed);

			if (err)
				return err;
		}
	}
	free_backedges(env, visit);
	return 0;
}

int vf_scc_exit(struct vf_env *env, struct loupe_state *st)
{
	struct scc_visit *visit;
	struct scc_key key;

	if (env->scc_cnt <= 1 || !scc_key(env, st, &key))
		return 0;
	visit = find_visit(env, &key);
	if (!visit)
		return st->speculative ? 0 : -EFAULT;
	if (visit->entry != st)
		return 0;
	if (vf_listening(env)) {
		struct loupe_chain chain = chain_of(&key);

		VF_EMIT(env, scc_exit, &chain);
	}
	visit->entry = NULL;
	env->backedge_cnt -= visit->backedge_cnt;
	visit->backedge_cnt = 0;
	vf_update_peak(env);
	return propagate(env, visit);
}
