// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack slots that may still be read, per call chain and instruction.
 *
 * Every visit of an insn adds what it read, and narrows what it certainly wrote, in the instance of
 * its function that belongs to the present call chain. Whenever a path has ended, instances with
 * news are brought to a fixed point by backward data flow:
 *
 *	live before i  = (union over successors of live before - written by i) + read by i
 *	written from i = (intersection over successors of written from) + written by i
 *
 * and what the callee's entry says of the callers' frames becomes a property of the call insn.
 * The chain of calls is a tree: an instance is found from its caller's by call site and function.
 */
#include "verifier/vf.h"

struct masks {
	uint64_t may_read;     /* the insn may read it */
	uint64_t must_write;   /* the insn always writes it */
	uint64_t written_from; /* the insn or all paths from it write it */
	uint64_t live_before;  /* the insn or a path from it may read it */
};

struct instance {
	struct instance *outer; /* caller's, NULL in frame 0 */
	struct instance *next;	/* in the same bucket */
	uint32_t callsite;	/* in the caller */
	uint32_t subprogno;
	uint32_t start, insn_cnt; /* of the function */
	uint32_t frameno;
	uint32_t from, to; /* while updated: places in the postorder between which there are news */
	bool updated;
	bool must_write_dropped;		/* some must_write got smaller */
	struct masks *frames[LOUPE_MAX_FRAMES]; /* per insn; of frames that were accessed */
	bool *visited;				/* per insn: must_write has a value */
};

struct successors {
	uint32_t cnt, to[2];
};

enum { INSTANCE_BUCKETS = 128 };

struct vf_liveness {
	struct instance *instances[INSTANCE_BUCKETS]; /* by caller and call site */
	struct instance *cur;	 /* of the current state's innermost frame, NULL: look it up */
	struct successors *succ; /* per insn */
	uint32_t *order; /* per insn: its place in the postorder */
	uint32_t *reach; /* per insn: the greatest place of an insn that it follows */
	bool has_loop[VF_MAX_SUBPROGS]; /* per function: some insn can come before itself */
	uint64_t written[LOUPE_MAX_FRAMES]; /* by the insn being simulated */
	uint32_t write_insn_idx;
	/* the state that queries are about */
	struct instance *query[LOUPE_MAX_FRAMES];
	uint32_t query_frameno;
	uint32_t query_insn_idx;
};

static bool find_loop(const struct vf_env *env, uint32_t subprogno)
{
	const struct vf_subprog *sub = &env->subprogs[subprogno];
	const struct vf_liveness *live = env->liveness;

	for (uint32_t k = sub->postorder_start; k < sub[1].postorder_start; k++) {
		const struct successors *succ = &live->succ[env->postorder[k]];

		for (uint32_t s = 0; s < succ->cnt; s++) {
			if (live->order[succ->to[s]] >= k)
				return true;
		}
	}
	return false;
}

int vf_livestack_init(struct vf_env *env)
{
	struct vf_liveness *live = vf_zalloc(env->slabs, sizeof(*live));

	env->liveness = live;
	if (!live)
		return -ENOMEM;
	live->succ = vf_alloc(env->slabs, env->insn_cnt * sizeof(*live->succ));
	if (!live->succ)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		live->succ[i].cnt = vf_insn_successors(env, i, live->succ[i].to);
	live->order = vf_zalloc(env->slabs, env->insn_cnt * sizeof(*live->order));
	live->reach = vf_zalloc(env->slabs, env->insn_cnt * sizeof(*live->reach));
	if (!live->order || !live->reach)
		return -ENOMEM;
	for (uint32_t k = 0; k < env->postorder_cnt; k++) {
		const struct successors *succ = &live->succ[env->postorder[k]];

		live->order[env->postorder[k]] = k;
		for (uint32_t s = 0; s < succ->cnt; s++)
			live->reach[succ->to[s]] = k;
	}
	for (uint32_t i = 0; i < env->subprog_cnt; i++)
		live->has_loop[i] = find_loop(env, i);
	return 0;
}

/* Instance of subprogno called at callsite of outer; NULL: no memory. */
static struct instance *get_instance(struct vf_env *env, struct instance *outer, uint32_t callsite,
				     uint32_t subprogno)
{
	uint64_t hash = ((uintptr_t)outer >> 4 ^ callsite * 0x9e3779b1u) * 0x9e3779b97f4a7c15u;
	struct instance **list = &env->liveness->instances[hash >> 57];
	const struct vf_subprog *sub = &env->subprogs[subprogno];
	struct instance *inst;

	for (inst = *list; inst; inst = inst->next)
		if (inst->outer == outer && inst->callsite == callsite &&
		    inst->subprogno == subprogno)
			return inst;
	inst = vf_zalloc(env->slabs, sizeof(*inst));
	if (!inst)
		return NULL;
	inst->start = sub->start;
	inst->insn_cnt = sub[1].start - sub->start;
	inst->visited = vf_zalloc(env->slabs, inst->insn_cnt);
	if (!inst->visited)
		return NULL;
	inst->outer = outer;
	inst->callsite = callsite;
	inst->subprogno = subprogno;
	inst->frameno = outer ? outer->frameno + 1 : 0;
	inst->next = *list;
	*list = inst;
	return inst;
}

/* Instances of all frames of st, the innermost last. */
static int get_chain(struct vf_env *env, const struct loupe_state *st, struct instance **chain)
{
	struct instance *outer = NULL;

	for (uint32_t i = 0; i <= st->curframe; i++) {
		/* frame 0 has no call site; any constant will do */
		uint32_t callsite = i ? (uint32_t)st->frame[i]->callsite : 0;

		outer = get_instance(env, outer, callsite, st->frame[i]->subprogno);
		if (!outer)
			return -ENOMEM;
		chain[i] = outer;
	}
	return 0;
}

static int find_cur(struct vf_env *env)
{
	struct instance *chain[LOUPE_MAX_FRAMES];
	int err = get_chain(env, env->cur, chain);

	if (!err)
		env->liveness->cur = chain[env->cur->curframe];
	return err;
}

static inline int ensure_cur(struct vf_env *env)
{
	return env->liveness->cur ? 0 : find_cur(env);
}

void vf_livestack_reset_chain(struct vf_env *env)
{
	env->liveness->cur = NULL;
}

/* NULL if nothing is known of the frame. */
static struct masks *masks_at(const struct instance *inst, uint32_t frameno, uint32_t insn_idx)
{
	return inst->frames[frameno] ? &inst->frames[frameno][insn_idx - inst->start] : NULL;
}

static struct masks *masks_mut(struct vf_env *env, struct instance *inst, uint32_t frameno,
			       uint32_t insn_idx)
{
	if (!inst->frames[frameno])
		inst->frames[frameno] =
			vf_zalloc(env->slabs, inst->insn_cnt * sizeof(struct masks));
	return masks_at(inst, frameno, insn_idx);
}

static void note_update(const struct vf_env *env, struct instance *inst, uint32_t insn_idx)
{
	uint32_t at = env->liveness->order[insn_idx];

	if (!inst->updated || at < inst->from)
		inst->from = at;
	if (!inst->updated || at > inst->to)
		inst->to = at;
	inst->updated = true;
}

static int add_read(struct vf_env *env, struct instance *inst, uint32_t frameno, uint32_t insn_idx,
		    uint64_t mask)
{
	struct masks *m = masks_mut(env, inst, frameno, insn_idx);
	uint64_t read;

	if (!m)
		return -ENOMEM;
	read = m->may_read | mask;
	if (read != m->may_read && (read & ~m->live_before))
		note_update(env, inst, insn_idx);
	m->may_read = read;
	return 0;
}

int vf_livestack_read(struct vf_env *env, uint32_t frameno, uint32_t insn_idx, uint64_t mask)
{
	int err = ensure_cur(env);

	return err ? err : add_read(env, env->liveness->cur, frameno, insn_idx, mask);
}

static void reset_writes(struct vf_liveness *live, const struct instance *inst, uint32_t insn_idx)
{
	live->write_insn_idx = insn_idx;
	for (uint32_t i = 0; i <= inst->frameno; i++)
		live->written[i] = 0;
}

int vf_livestack_reset_writes(struct vf_env *env, uint32_t insn_idx)
{
	int err = ensure_cur(env);

	if (!err)
		reset_writes(env->liveness, env->liveness->cur, insn_idx);
	return err;
}

void vf_livestack_write(struct vf_env *env, uint32_t frameno, uint64_t mask)
{
	env->liveness->written[frameno] |= mask;
}

static int commit_writes(struct vf_env *env, struct instance *inst)
{
	struct vf_liveness *live = env->liveness;
	bool *visited = &inst->visited[live->write_insn_idx - inst->start];

	for (uint32_t i = 0; i <= inst->frameno; i++) {
		uint64_t mask = live->written[i];
		struct masks *m = masks_at(inst, i, live->write_insn_idx);
		/* a quirk: the kernel keeps 32 of the 64 slots here */
		uint32_t old_write = m ? (uint32_t)m->must_write : 0;

		if (*visited)
			mask &= old_write;
		if (mask != old_write) {
			m = masks_mut(env, inst, i, live->write_insn_idx);
			if (!m)
				return -ENOMEM;
			m->must_write = mask;
			note_update(env, inst, live->write_insn_idx);
		}
		if (old_write & ~mask)
			inst->must_write_dropped = true;
	}
	*visited = true;
	live->write_insn_idx = 0;
	return 0;
}

int vf_livestack_commit_writes(struct vf_env *env)
{
	return env->liveness->cur ? commit_writes(env, env->liveness->cur) : 0;
}

static void fill_chain(const struct instance *inst, struct loupe_chain *chain)
{
	chain->cnt = inst->frameno + 1;
	chain->at[inst->frameno] = inst->start;
	for (; inst->outer; inst = inst->outer)
		chain->at[inst->frameno - 1] = inst->callsite;
}

static void emit_change(struct vf_env *env, const struct instance *inst, uint32_t frameno,
			uint32_t insn_idx, const struct masks *old, const struct masks *new)
{
	struct loupe_chain chain;

	if (old->live_before == new->live_before && old->written_from == new->written_from)
		return;
	if (!new->may_read && !new->must_write && insn_idx != inst->start &&
	    !env->aux[insn_idx].prune_point)
		return;
	fill_chain(inst, &chain);
	VF_EMIT(env, live_stack, &chain, frameno, (int32_t)insn_idx, old->live_before,
		new->live_before, old->written_from, new->written_from);
}

/* One step of the data flow; true if it changed something. */
static bool update_insn(struct vf_env *env, struct instance *inst, uint32_t frameno,
			uint32_t insn_idx)
{
	const struct successors *succ = &env->liveness->succ[insn_idx];
	struct masks *m = masks_at(inst, frameno, insn_idx), old = *m;
	uint64_t after = 0, written = UINT64_MAX;

	if (!succ->cnt)
		return false;
	for (uint32_t s = 0; s < succ->cnt; s++) {
		const struct masks *to = masks_at(inst, frameno, succ->to[s]);

		after |= to->live_before;
		written &= to->written_from;
	}
	m->live_before = (after & ~m->must_write) | m->may_read;
	m->written_from = written | m->must_write;
	if (vf_listening(env))
		emit_change(env, inst, frameno, insn_idx, &old, m);
	return m->live_before != old.live_before || m->written_from != old.written_from;
}

/* A smaller must_write can only spread if written_from starts from nothing. */
static void forget_written_from(struct instance *inst)
{
	for (uint32_t i = 0; i <= inst->frameno; i++)
		for (uint32_t k = 0; inst->frames[i] && k < inst->insn_cnt; k++)
			inst->frames[i][k].written_from = 0;
}

/* One pass over all insns in postorder. */
static bool pass(struct vf_env *env, struct instance *inst)
{
	const struct vf_subprog *sub = &env->subprogs[inst->subprogno];
	bool changed = false;

	for (uint32_t i = 0; i <= inst->frameno; i++)
		for (uint32_t k = sub->postorder_start;
		     inst->frames[i] && k < sub[1].postorder_start; k++)
			changed |= update_insn(env, inst, i, env->postorder[k]);
	return changed;
}

/*
 * The same where all successors of an insn come before it: no second pass would change anything,
 * and beyond the last insn that follows on a change there is none.
 */
static bool pass_once(struct vf_env *env, struct instance *inst)
{
	const uint32_t *reach = env->liveness->reach;
	bool changed = false;

	for (uint32_t i = 0; i <= inst->frameno; i++) {
		uint32_t to = inst->to;

		for (uint32_t k = inst->from; inst->frames[i] && k <= to; k++) {
			uint32_t insn_idx = env->postorder[k];

			if (!update_insn(env, inst, i, insn_idx))
				continue;
			changed = true;
			if (reach[insn_idx] > to)
				to = reach[insn_idx];
		}
	}
	return changed;
}

static uint32_t run_to_fixed_point(struct vf_env *env, struct instance *inst)
{
	uint32_t iterations = 0;

	/* the kernel finds out by a second pass that there is no more to do */
	if (!env->liveness->has_loop[inst->subprogno] && !inst->must_write_dropped)
		return pass_once(env, inst) ? 2 : 1;
	do
		iterations++;
	while (pass(env, inst));
	return iterations;
}

/* What the function does to its callers' frames, as reads and writes of the call insn. */
static int tell_caller(struct vf_env *env, struct instance *inst)
{
	struct instance *outer = inst->outer;

	reset_writes(env->liveness, outer, inst->callsite);
	for (uint32_t i = 0; i < inst->frameno; i++) {
		const struct masks *entry = masks_at(inst, i, inst->start);
		int err;

		if (!entry)
			continue;
		vf_livestack_write(env, i, entry->written_from);
		err = add_read(env, outer, i, inst->callsite, entry->live_before);
		if (err)
			return err;
	}
	return commit_writes(env, outer);
}

static int update_instance(struct vf_env *env, struct instance *inst)
{
	uint32_t iterations;

	if (inst->must_write_dropped)
		forget_written_from(inst);
	iterations = run_to_fixed_point(env, inst);
	if (vf_listening(env)) {
		struct loupe_chain chain;

		fill_chain(inst, &chain);
		VF_EMIT(env, live_stack_done, &chain, iterations);
	}
	return inst->outer ? tell_caller(env, inst) : 0;
}

int vf_livestack_update(struct vf_env *env)
{
	struct instance *chain[LOUPE_MAX_FRAMES];
	int err;

	vf_livestack_reset_chain(env);
	err = get_chain(env, env->cur, chain);
	for (int i = (int)env->cur->curframe; !err && i >= 0; i--) {
		if (!chain[i]->updated)
			continue;
		err = update_instance(env, chain[i]);
		if (err)
			break;
		chain[i]->updated = false;
		chain[i]->must_write_dropped = false;
	}
	return err;
}

int vf_livestack_query(struct vf_env *env, const struct loupe_state *st)
{
	struct vf_liveness *live = env->liveness;

	live->query_frameno = st->curframe;
	live->query_insn_idx = (uint32_t)st->insn_idx;
	return get_chain(env, st, live->query);
}

static bool is_live_before(const struct instance *inst, uint32_t insn_idx, uint32_t frameno,
			   uint32_t spi)
{
	const struct masks *m = masks_at(inst, frameno, insn_idx);

	return m && (m->live_before >> spi & 1);
}

bool vf_livestack_alive(struct vf_env *env, uint32_t frameno, uint32_t spi)
{
	struct vf_liveness *live = env->liveness;

	if (is_live_before(live->query[live->query_frameno], live->query_insn_idx, frameno, spi))
		return true;
	/* read by a caller after the call; a callback's call is made again */
	for (uint32_t i = frameno; i < live->query_frameno; i++) {
		uint32_t callsite = live->query[i + 1]->callsite;
		uint32_t back = env->aux[callsite].calls_callback ? callsite : callsite + 1;

		if (is_live_before(live->query[i], back, frameno, spi))
			return true;
	}
	return false;
}
