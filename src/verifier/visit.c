// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoints: at a prune point the present state is compared with those stored before; a match
 * ends the path, enough misses evict a checkpoint, and now and then the present state is stored.
 */
#include "verifier/vf.h"

enum {
	MIN_JMPS_BETWEEN = 2, /* jumps and insns since the last checkpoint before another is
				 stored */
	MIN_INSNS_BETWEEN = 8,
	LOOP_JMPS_BETWEEN = 20, /* the same while a loop is being walked */
	LOOP_INSNS_BETWEEN = 100,
	MAX_HIST = 40, /* path history entries that force a checkpoint */
	EVICT_N_UNFINISHED = 64, /* n of eviction for forced checkpoints with unfinished paths */
};

struct vf_checkpoint **vf_bucket(struct vf_env *env, int32_t insn_idx)
{
	uint32_t key = (uint32_t)insn_idx ^ (uint32_t)vf_cur_frame(env)->callsite;

	return &env->buckets[key % env->insn_cnt];
}

void vf_update_peak(struct vf_env *env)
{
	uint32_t now = env->explored_size + env->free_list_size + env->backedge_cnt;

	if (env->counters->peak_states < now)
		env->counters->peak_states = now;
}

static void link_first(struct vf_checkpoint **head, struct vf_checkpoint *cp)
{
	cp->next = *head;
	cp->pprev = head;
	if (cp->next)
		cp->next->pprev = &cp->next;
	*head = cp;
}

static void unlink_checkpoint(struct vf_checkpoint *cp)
{
	*cp->pprev = cp->next;
	if (cp->next)
		cp->next->pprev = cp->pprev;
}

/* An evicted checkpoint stays while paths below it, or backedges of its loop, refer to it. */
static void free_if_unreferenced(struct vf_env *env, struct vf_checkpoint *cp)
{
	if (!cp->in_free_list || cp->state.branches || vf_scc_incomplete(env, &cp->state))
		return;
	if (vf_listening(env))
		VF_EMIT(env, state_free, &cp->state);
	unlink_checkpoint(cp);
	vf_state_release(env, &cp->state);
	vf_free(env->slabs, cp, sizeof(*cp));
	env->free_list_size--;
}

static void evict(struct vf_env *env, struct vf_checkpoint *cp)
{
	if (vf_listening(env))
		VF_EMIT(env, evict, &cp->state, cp->hit_cnt, cp->miss_cnt);
	env->counters->evictions++;
	cp->in_free_list = true;
	unlink_checkpoint(cp);
	link_first(&env->free_list, cp);
	env->free_list_size++;
	env->explored_size--;
	free_if_unreferenced(env, cp);
}

void vf_checkpoints_drop(struct vf_env *env)
{
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		while (env->buckets[i]) {
			struct vf_checkpoint *cp = env->buckets[i];

			unlink_checkpoint(cp);
			vf_state_release(env, &cp->state);
			vf_free(env->slabs, cp, sizeof(*cp));
		}
	}
	while (env->free_list) {
		struct vf_checkpoint *cp = env->free_list;

		unlink_checkpoint(cp);
		vf_state_release(env, &cp->state);
		vf_free(env->slabs, cp, sizeof(*cp));
	}
}

static struct vf_checkpoint *checkpoint_of(struct loupe_state *st)
{
	if (!st)
		return NULL;
	return (struct vf_checkpoint *)((char *)st - offsetof(struct vf_checkpoint, state));
}

int vf_branch_done(struct vf_env *env, struct loupe_state *st)
{
	struct vf_checkpoint *cp = NULL;

	while (st) {
		struct vf_checkpoint *parent = checkpoint_of(st->parent);
		int err;

		if (--st->branches)
			break;
		err = vf_scc_exit(env, st);
		if (err)
			return err;
		if (cp)
			free_if_unreferenced(env, cp);
		cp = parent;
		st = parent ? &parent->state : NULL;
	}
	return 0;
}

/* --- dead parts of finished checkpoints ----------------------------------------------------- */

bool vf_same_callsites(const struct loupe_state *a, const struct loupe_state *b)
{
	if (a->curframe != b->curframe)
		return false;
	for (uint32_t i = 0; i <= a->curframe; i++) {
		if (a->frame[i]->callsite != b->frame[i]->callsite)
			return false;
	}
	return true;
}

static void forget_differed(struct vf_checkpoint *cp)
{
	cp->differed.frameno = 0;
	cp->differed.reg = cp->differed.spi = -1;
}

/* All eight bytes at once. */
static bool all_bytes_are(const struct loupe_slot *slot, uint8_t type)
{
	uint64_t types;

	memcpy(&types, slot->type, sizeof(types));
	return types == type * 0x0101010101010101u;
}

static int clean_frame(struct vf_env *env, struct loupe_state *st, uint32_t frameno,
		       uint32_t insn_idx)
{
	struct loupe_frame *frame = vf_frame_mut(env, st, frameno);
	uint32_t live = env->aux[insn_idx].live_regs;

	if (!frame)
		return -ENOMEM;
	for (uint32_t i = 0; i < LOUPE_REG_FP; i++) {
		if (!(live & (1u << i)))
			vf_reg_not_init(env, &frame->regs[i]);
	}
	frame->filled = 0;
	for (uint32_t i = 0; i < frame->slot_cnt; i++) {
		struct loupe_slot *slots;

		if (all_bytes_are(&frame->stack->slot[i], STACK_INVALID))
			continue;
		if (vf_livestack_alive(env, frameno, i)) {
			if (!env->allow_uninit_stack ||
			    !all_bytes_are(&frame->stack->slot[i], STACK_MISC))
				frame->filled |= 1ull << i;
			continue;
		}
		slots = vf_slots_mut(env, st, frameno);
		if (!slots)
			return -ENOMEM;
		vf_reg_not_init(env, &slots[i].spilled);
		memset(slots[i].type, STACK_INVALID, sizeof(slots[i].type));
	}
	return 0;
}

static int clean_state(struct vf_env *env, struct vf_checkpoint *cp)
{
	struct loupe_state *st = &cp->state;
	int err = vf_livestack_query(env, st);

	if (err)
		return err;
	st->cleaned = true;
	forget_differed(cp);
	for (uint32_t i = 0; i <= st->curframe; i++) {
		int32_t at = i == st->curframe ? st->insn_idx : st->frame[i + 1]->callsite;

		err = clean_frame(env, st, i, (uint32_t)at);
		if (err)
			return err;
	}
	if (vf_listening(env))
		VF_EMIT(env, clean, st);
	return 0;
}

/* The comparison that follows will look at it first. */
static void prefetch_differed(const struct vf_checkpoint *cp)
{
	__builtin_prefetch(cp);
	__builtin_prefetch((const char *)cp + 64);
}

/* What is dead at insn was settled when the last path below it ended. */
static int clean_finished(struct vf_env *env, struct vf_checkpoint *cp, int32_t insn_idx)
{
	for (; cp; cp = cp->next) {
		struct loupe_state *st = &cp->state;
		int err;

		prefetch_differed(cp);
		if (st->cleaned || st->branches || st->insn_idx != insn_idx ||
		    !vf_same_callsites(st, env->cur) || vf_scc_incomplete(env, st))
			continue;
		err = clean_state(env, cp);
		if (err)
			return err;
	}
	return 0;
}

/* --- comparing ------------------------------------------------------------------------------ */

struct visit {
	int32_t insn_idx;
	bool force_new; /* a checkpoint is stored whatever happened lately */
	bool add_new;	/* a checkpoint will be stored unless the path is pruned */
	bool loop;	/* a hit makes a backedge. A hit on a callback's turn leaves it as the
			   checkpoints compared before have set it */
};

static void emit_compare(struct vf_env *env, const struct visit *visit,
			 const struct vf_checkpoint *cp, enum loupe_compare_mode mode,
			 enum loupe_compare_outcome outcome, const struct loupe_diff *diff)
{
	struct loupe_compare cmp;

	if (!vf_listening(env))
		return;
	cmp = (struct loupe_compare){
		.old = &cp->state,
		.cur = env->cur,
		.insn_idx = visit->insn_idx,
		.mode = mode,
		.outcome = outcome,
		.diff = *diff,
		.hit_cnt = cp->hit_cnt,
		.miss_cnt = cp->miss_cnt,
	};
	VF_EMIT(env, compare, &cmp);
}

static bool maybe_looping(const struct loupe_state *old, const struct loupe_state *cur)
{
	const struct loupe_frame *fold, *fcur;

	if (old->curframe != cur->curframe)
		return false;
	fold = old->frame[old->curframe];
	fcur = cur->frame[cur->curframe];
	for (uint32_t i = 0; i < LOUPE_MAX_REG; i++) {
		if (memcmp(&fold->regs[i], &fcur->regs[i], offsetof(struct loupe_reg, frameno)))
			return false;
	}
	return true;
}

/* An iterator that is in use was advanced between the two. */
static bool iter_depths_differ(const struct loupe_state *old, const struct loupe_state *cur)
{
	for (uint32_t f = 0; f <= old->curframe; f++) {
		const struct loupe_frame *fold = old->frame[f], *fcur = cur->frame[f];

		for (uint32_t i = 0; i < fold->slot_cnt; i++) {
			uint32_t a, b;

			if (fold->stack->slot[i].type[0] != STACK_ITER)
				continue;
			a = fold->stack->slot[i].spilled.iter.state_depth;
			b = fcur->stack->slot[i].spilled.iter.state_depth;
			if ((a & 3) == 1 /* active */ && a >> 2 != b >> 2)
				return true;
		}
	}
	return false;
}

static bool is_may_goto(const struct vf_env *env, int32_t insn_idx)
{
	const struct loupe_insn *insn = &env->insns[insn_idx];

	return insn->code == (BPF_JMP | BPF_JCOND) && insn->src_reg == BPF_MAY_GOTO;
}

/* HIT_LOOP: and the path is kept as a backedge of the loop. */
enum found { MISS, HIT };

static int refuse_infinite_loop(struct vf_env *env, const struct visit *visit,
				const struct vf_checkpoint *cp)
{
	static const struct loupe_diff none = { .reg = -1, .spi = -1 };

	emit_compare(env, visit, cp, LOUPE_CMP_EXACT, LOUPE_CMP_INFINITE_LOOP, &none);
	if (vf_listening(env))
		VF_EMIT(env, infinite_loop, visit->insn_idx, env->cur, &cp->state);
	return -EINVAL;
}

/*
 * The checkpoint still has unfinished paths, the present one among them: that makes a loop. Loops
 * through iterators, may_goto and callbacks end some day, and may converge; others are infinite
 * when nothing at all has changed.
 */
static int compare_unfinished(struct vf_env *env, struct visit *visit, struct vf_checkpoint *cp,
			      enum loupe_compare_mode *mode, struct loupe_diff *diff)
{
	struct loupe_state *old = &cp->state, *cur = env->cur;
	const struct loupe_frame *frame = old->frame[old->curframe];

	*mode = LOUPE_CMP_SKIPPED;
	/* Another run of an asynchronous callback is no loop, but proves nothing either. */
	if (frame->in_async_callback_fn &&
	    frame->async_entry_cnt != vf_cur_frame(env)->async_entry_cnt)
		goto miss;
	if (is_may_goto(env, visit->insn_idx) && old->may_goto_depth != cur->may_goto_depth) {
		*mode = LOUPE_CMP_RANGE_WITHIN;
		if (vf_states_equal(env, old, cur, *mode, diff, &cp->differed)) {
			visit->loop = true;
			return HIT;
		}
	}
	if (env->aux[visit->insn_idx].calls_callback) {
		*mode = LOUPE_CMP_RANGE_WITHIN;
		if (vf_states_equal(env, old, cur, *mode, diff, &cp->differed))
			return HIT;
		goto miss;
	}
	if (maybe_looping(old, cur) &&
	    vf_states_equal(env, old, cur, LOUPE_CMP_EXACT, NULL, NULL) &&
	    !iter_depths_differ(old, cur) && old->may_goto_depth == cur->may_goto_depth &&
	    old->callback_unroll_depth == cur->callback_unroll_depth)
		return refuse_infinite_loop(env, visit, cp);
miss:
	/* States of a loop's turns differ and seldom help: store fewer of them. */
	if (!visit->force_new &&
	    env->jmps_processed - env->prev_jmps_processed < LOOP_JMPS_BETWEEN &&
	    env->counters->insn_processed - env->prev_insn_processed < LOOP_INSNS_BETWEEN)
		visit->add_new = false;
	return MISS;
}

static int compare_finished(struct vf_env *env, struct visit *visit, struct vf_checkpoint *cp,
			    enum loupe_compare_mode *mode, struct loupe_diff *diff)
{
	visit->loop = vf_scc_incomplete(env, &cp->state);
	if (env->opts->no_pruning) {
		*mode = LOUPE_CMP_SKIPPED;
		return MISS;
	}
	*mode = visit->loop ? LOUPE_CMP_RANGE_WITHIN : LOUPE_CMP_NOT_EXACT;
	if (!vf_states_equal(env, &cp->state, env->cur, *mode, diff, &cp->differed))
		return MISS;
	return HIT;
}

static int note_hit(struct vf_env *env, const struct visit *visit, struct vf_checkpoint *cp,
		    enum loupe_compare_mode mode)
{
	static const struct loupe_diff none = { .reg = -1, .spi = -1 };
	enum loupe_compare_outcome outcome = LOUPE_CMP_HIT;
	int err = 0;

	cp->hit_cnt++;
	env->counters->compare_hits++;
	if (cp->state.branches)
		outcome = LOUPE_CMP_LOOP_CONVERGED;
	else if (visit->loop)
		outcome = LOUPE_CMP_HIT_BACKEDGE;
	if (outcome == LOUPE_CMP_LOOP_CONVERGED)
		env->counters->loop_converged++;
	emit_compare(env, visit, cp, mode, outcome, &none);

	if (env->aux[env->insn_idx].jmp_point)
		err = vf_hist_push(env, env->cur, 0, 0);
	if (!err)
		err = vf_propagate_precision(env, &cp->state, env->cur, NULL);
	if (!err && visit->loop)
		err = vf_scc_add_backedge(env, &cp->state, visit->insn_idx);
	return err;
}

static void note_miss(struct vf_env *env, const struct visit *visit, struct vf_checkpoint *cp,
		      enum loupe_compare_mode mode, const struct loupe_diff *diff)
{
	uint64_t n = (uint64_t)env->opts->evict_n;

	if (visit->add_new) {
		cp->miss_cnt++;
		env->counters->compare_misses++;
	} else {
		env->counters->compare_uncounted++;
	}
	emit_compare(env, visit, cp, mode,
		     visit->add_new ? LOUPE_CMP_MISS : LOUPE_CMP_MISS_UNCOUNTED, diff);
	if (env->opts->evict_n == LOUPE_EVICT_OFF)
		return;
	if (env->aux[visit->insn_idx].force_checkpoint && cp->state.branches > 0)
		n = EVICT_N_UNFINISHED;
	if (cp->miss_cnt > cp->hit_cnt * n + n && cp->state.serial != env->opts->keep)
		evict(env, cp);
}

/* --- storing -------------------------------------------------------------------------------- */

static bool is_precise(const struct loupe_reg *reg)
{
	return reg->type == SCALAR_VALUE && reg->precise;
}

static int forget_precision(struct vf_env *env, struct loupe_state *st)
{
	for (uint32_t f = 0; f <= st->curframe; f++) {
		const struct loupe_frame *frame = st->frame[f];

		for (uint32_t i = 0; i < LOUPE_MAX_REG; i++) {
			struct loupe_frame *mut;

			if (!is_precise(&frame->regs[i]))
				continue;
			frame = mut = vf_frame_mut(env, st, f);
			if (!mut)
				return -ENOMEM;
			mut->regs[i].precise = false;
		}
		for (uint32_t i = 0; i < frame->slot_cnt; i++) {
			struct loupe_slot *slots;

			if (!vf_slot_is_spill(&frame->stack->slot[i]) ||
			    !is_precise(&frame->stack->slot[i].spilled))
				continue;
			slots = vf_slots_mut(env, st, f);
			if (!slots)
				return -ENOMEM;
			slots[i].spilled.precise = false;
			frame = st->frame[f];
		}
	}
	return 0;
}

static int store_checkpoint(struct vf_env *env, int32_t insn_idx)
{
	struct vf_checkpoint *cp = vf_alloc(env->slabs, sizeof(*cp));
	struct loupe_state *cur = env->cur;
	int err;

	if (!cp)
		return -ENOMEM;
	env->counters->total_states++;
	env->explored_size++;
	vf_update_peak(env);
	env->prev_jmps_processed = env->jmps_processed;
	env->prev_insn_processed = env->counters->insn_processed;

	/* What was precise in the parent need not be here, unless a later insn asks for it. */
	if (env->bpf_capable) {
		err = forget_precision(env, cur);
		if (err)
			return err;
	}
	err = vf_state_copy(env, &cp->state, cur);
	if (err)
		return err;
	cp->miss_cnt = cp->hit_cnt = 0;
	cp->in_free_list = false;
	forget_differed(cp);
	cp->state.insn_idx = insn_idx;
	cp->state.serial = ++env->next_serial;
	err = vf_scc_enter(env, &cp->state);
	if (err)
		return err;
	cur->parent = &cp->state;
	cur->first_insn_idx = (uint32_t)insn_idx;
	cur->dfs_depth = cp->state.dfs_depth + 1;
	cur->hist_cnt = 0;
	link_first(vf_bucket(env, insn_idx), cp);
	if (vf_listening(env))
		VF_EMIT(env, checkpoint, &cp->state, insn_idx);
	return 0;
}

int vf_state_visited(struct vf_env *env, int32_t insn_idx)
{
	static const struct loupe_diff no_diff = { .reg = -1, .spi = -1 };
	struct vf_checkpoint *cp, *next, *head = *vf_bucket(env, insn_idx);
	struct loupe_diff diff = no_diff;
	struct visit visit = { .insn_idx = insn_idx };
	uint32_t states_cnt = 0;
	int err;

	visit.force_new = env->test_state_freq || env->aux[insn_idx].force_checkpoint ||
			  env->cur->hist_cnt > MAX_HIST;
	visit.add_new = visit.force_new ||
			(env->jmps_processed - env->prev_jmps_processed >= MIN_JMPS_BETWEEN &&
			 env->counters->insn_processed - env->prev_insn_processed >=
				 MIN_INSNS_BETWEEN);

	if (!env->opts->no_cleaning) {
		err = clean_finished(env, head, insn_idx);
		if (err)
			return err;
	}
	for (cp = head; cp; cp = next) {
		struct loupe_diff *want = vf_listening(env) ? &diff : NULL;
		enum loupe_compare_mode mode;
		int found;

		next = cp->next;
		states_cnt++;
		if (want)
			diff = no_diff;
		if (cp->state.insn_idx != insn_idx)
			continue;
		found = cp->state.branches ? compare_unfinished(env, &visit, cp, &mode, want)
					   : compare_finished(env, &visit, cp, &mode, want);
		if (found < 0)
			return found;
		if (found != MISS) {
			err = note_hit(env, &visit, cp, mode);
			return err ? err : 1;
		}
		note_miss(env, &visit, cp, mode, &diff);
	}
	if (env->counters->max_states_per_insn < states_cnt)
		env->counters->max_states_per_insn = states_cnt;
	if (!env->bpf_capable && states_cnt > VF_MAX_STATES_UNPRIV)
		return 0;
	if (!visit.add_new)
		return 0;
	return store_checkpoint(env, insn_idx);
}
