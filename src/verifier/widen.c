// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops that converge by forgetting: at an iteration of a may_goto, iterator or callback loop,
 * imprecise scalars that changed since the iteration before become unknown.
 */
#include "verifier/vf.h"

struct loupe_state *vf_find_prev_entry(struct vf_env *env, const struct loupe_state *cur,
				       int32_t insn_idx)
{
	/* Latest first. A checkpoint with unfinished paths is one of the present path. */
	for (struct vf_checkpoint *cp = *vf_bucket(env, insn_idx); cp; cp = cp->next) {
		struct loupe_state *st = &cp->state;

		if (st->insn_idx == insn_idx && st->branches && vf_same_callsites(st, cur) &&
		    st->dfs_depth < cur->dfs_depth)
			return st;
	}
	return NULL;
}

static bool must_widen(struct vf_env *env, const struct loupe_reg *prev,
		       const struct loupe_reg *queued)
{
	return prev->type == SCALAR_VALUE && queued->type == SCALAR_VALUE && !prev->precise &&
	       !queued->precise && !vf_regs_exact(env, prev, queued);
}

static int widen_regs(struct vf_env *env, const struct loupe_frame *prev,
		      struct loupe_state *queued, uint32_t frameno)
{
	for (uint32_t i = 0; i < LOUPE_MAX_REG; i++) {
		struct loupe_frame *frame;

		if (!must_widen(env, &prev->regs[i], &queued->frame[frameno]->regs[i]))
			continue;
		frame = vf_frame_mut(env, queued, frameno);
		if (!frame)
			return -ENOMEM;
		vf_reg_unknown(env, &frame->regs[i]);
	}
	return 0;
}

static int widen_slots(struct vf_env *env, const struct loupe_frame *prev,
		       struct loupe_state *queued, uint32_t frameno)
{
	uint32_t cnt = queued->frame[frameno]->slot_cnt;

	if (prev->slot_cnt < cnt)
		cnt = prev->slot_cnt;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct loupe_slot *before = &prev->stack->slot[i];
		const struct loupe_slot *now = &queued->frame[frameno]->stack->slot[i];
		struct loupe_slot *slots;

		if (!vf_slot_is_spill(before) || !vf_slot_is_spill(now) ||
		    !must_widen(env, &before->spilled, &now->spilled))
			continue;
		slots = vf_slots_mut(env, queued, frameno);
		if (!slots)
			return -ENOMEM;
		vf_reg_unknown(env, &slots[i].spilled);
	}
	return 0;
}

int vf_widen_imprecise(struct vf_env *env, const struct loupe_state *prev,
		       struct loupe_state *queued)
{
	int err = 0;

	env->idmap.tmp_id_gen = env->id_gen;
	env->idmap.cnt = 0;
	for (uint32_t frameno = prev->curframe + 1; frameno-- > 0 && !err;) {
		err = widen_regs(env, prev->frame[frameno], queued, frameno);
		if (!err)
			err = widen_slots(env, prev->frame[frameno], queued, frameno);
	}
	return err;
}
