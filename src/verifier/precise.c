// SPDX-License-Identifier: GPL-2.0-only
/*
 * Precision: a scalar's exact value matters only where something was decided by it. When that
 * happens, the path is walked back, insn by insn and checkpoint by checkpoint, and every register
 * and stack slot that the value was computed from is marked in the checkpoints on the way. Only
 * marked scalars must match when states are compared.
 */
#include "verifier/vf.h"

#define ARG_REGS 0x3eu /* R1-R5 */

enum { WALK_GIVE_UP = 1 }; /* the walk met what it cannot follow */

/* --- what is wanted -------------------------------------------------------------------------- */

static bool want_nothing(const struct vf_backtrack *bt)
{
	for (uint32_t i = 0; i <= bt->frame; i++) {
		if (bt->reg_masks[i] || bt->stack_masks[i])
			return false;
	}
	return true;
}

static void want_reset(struct vf_backtrack *bt)
{
	memset(bt, 0, sizeof(*bt));
}

static bool reg_wanted(const struct vf_backtrack *bt, uint32_t reg)
{
	return bt->reg_masks[bt->frame] & (1u << reg);
}

static void want_reg(struct vf_backtrack *bt, uint32_t reg)
{
	bt->reg_masks[bt->frame] |= 1u << reg;
}

static void drop_reg(struct vf_backtrack *bt, uint32_t reg)
{
	bt->reg_masks[bt->frame] &= ~(1u << reg);
}

static struct loupe_masks masks_of(const struct vf_backtrack *bt, uint32_t frameno)
{
	return (struct loupe_masks){
		.frameno = frameno,
		.regs = bt->reg_masks[frameno],
		.stack = bt->stack_masks[frameno],
	};
}

/* Verifier's own inconsistency: the kernel warns and fails. */
/* What the kernel believes that it cannot see: it says so and gives up. */
#define bug(env, ...) (vf_msg(env, "verifier bug: " __VA_ARGS__), -EFAULT)

/* If one of the scalars that got a range together here is wanted, all are. */
static void want_linked(struct vf_backtrack *bt, const struct loupe_jmp_hist *hist)
{
	struct vf_linked_regs linked;
	bool wanted = false;

	if (!hist || !hist->linked_regs)
		return;
	vf_linked_unpack(hist->linked_regs, &linked);
	for (uint32_t i = 0; i < linked.cnt && !wanted; i++) {
		uint32_t f = linked.entry[i].frameno, at = linked.entry[i].at;

		wanted = linked.entry[i].is_reg ? bt->reg_masks[f] >> at & 1
						: bt->stack_masks[f] >> at & 1;
	}
	if (!wanted)
		return;
	for (uint32_t i = 0; i < linked.cnt; i++) {
		uint32_t f = linked.entry[i].frameno, at = linked.entry[i].at;

		if (linked.entry[i].is_reg)
			bt->reg_masks[f] |= 1u << at;
		else
			bt->stack_masks[f] |= 1ull << at;
	}
}

/* --- one insn backwards ----------------------------------------------------------------------- */

static void back_over_alu(struct vf_backtrack *bt, const struct loupe_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);

	if (!reg_wanted(bt, insn->dst_reg) || op == BPF_END || op == BPF_NEG)
		return;
	if (op == BPF_MOV)
		drop_reg(bt, insn->dst_reg);
	if (BPF_SRC(insn->code) == BPF_X && insn->src_reg != LOUPE_REG_FP)
		want_reg(bt, insn->src_reg);
}

static uint64_t *hist_slot(struct vf_backtrack *bt, const struct loupe_jmp_hist *hist,
			   uint64_t *bit)
{
	*bit = 1ull << (hist->flags >> LOUPE_HIST_SPI_SHIFT & LOUPE_HIST_SPI_MASK);
	return &bt->stack_masks[hist->flags & LOUPE_HIST_FRAMENO_MASK];
}

static void back_over_load(struct vf_backtrack *bt, const struct loupe_insn *insn,
			   const struct loupe_jmp_hist *hist)
{
	uint64_t bit, *mask;

	if (!reg_wanted(bt, insn->dst_reg))
		return;
	drop_reg(bt, insn->dst_reg);
	/* Only the stack keeps a scalar's value; from elsewhere it comes new. */
	if (!hist || !(hist->flags & LOUPE_HIST_STACK_ACCESS))
		return;
	mask = hist_slot(bt, hist, &bit);
	*mask |= bit;
}

static int back_over_store(struct vf_backtrack *bt, const struct loupe_insn *insn,
			   const struct loupe_jmp_hist *hist)
{
	uint64_t bit, *mask;

	/* A wanted scalar as address: it was a pointer before a subtraction. */
	if (reg_wanted(bt, insn->dst_reg))
		return WALK_GIVE_UP;
	if (!hist || !(hist->flags & LOUPE_HIST_STACK_ACCESS))
		return 0;
	mask = hist_slot(bt, hist, &bit);
	if (!(*mask & bit))
		return 0;
	*mask &= ~bit;
	if (BPF_CLASS(insn->code) == BPF_STX)
		want_reg(bt, insn->src_reg);
	return 0;
}

static int leave_to_caller(struct vf_env *env, struct vf_backtrack *bt)
{
	if (bt->frame == 0)
		return bug(env, "subprog exit from frame 0\n");
	bt->frame--;
	return 0;
}

static int enter_callee(struct vf_env *env, struct vf_backtrack *bt)
{
	if (bt->frame == LOUPE_MAX_FRAMES - 1)
		return bug(env, "subprog enter from frame %u\n", bt->frame);
	bt->frame++;
	return 0;
}

/* Backwards over a call of a static function is out of that function, into its caller. */
static int back_over_func_call(struct vf_env *env, struct vf_backtrack *bt, int32_t idx,
			       const struct loupe_insn *insn, int32_t subseq_idx)
{
	int subprog = vf_find_subprog(env, idx + insn->imm + 1);
	uint32_t *regs = &bt->reg_masks[bt->frame];

	if (subprog < 0)
		return -EFAULT;
	if (env->subprogs[subprog].is_global) {
		if (idx + 1 != subseq_idx) /* said only */
			vf_msg(env,
			       "verifier bug: extra insn from subprog (idx + 1 != subseq_idx)\n");
		if (*regs & ARG_REGS)
			return bug(env, "global subprog unexpected regs %x\n", *regs);
		drop_reg(bt, BPF_REG_0);
		return 0;
	}
	if (*regs & ~ARG_REGS)
		return bug(env, "static subprog unexpected regs %x\n", *regs);
	if (bt->stack_masks[bt->frame])
		return bug(env, "static subprog leftover stack slots %llx\n",
			   (unsigned long long)bt->stack_masks[bt->frame]);
	if (!bt->frame && *regs) {
		/* see quirks: 6.18 writes to what would be the frame before the first */
		env->result->kernel_crashes = true;
		return vf_not_judged(
			env,
			"insn %d: a walk for precision would leave the outermost frame with "
			"arguments; a 6.18 kernel crashes",
			env->insn_idx);
	}
	if (bt->frame)
		bt->reg_masks[bt->frame - 1] |= *regs;
	*regs = 0;
	return leave_to_caller(env, bt);
}

/* Backwards from a callback's first insn to the helper call that runs it. */
static int back_over_callback_call(struct vf_env *env, struct vf_backtrack *bt)
{
	uint32_t *regs = &bt->reg_masks[bt->frame];

	if (*regs & ~ARG_REGS)
		return bug(env, "callback unexpected regs %x\n", *regs);
	if (bt->stack_masks[bt->frame])
		return bug(env, "callback leftover stack slots %llx\n",
			   (unsigned long long)bt->stack_masks[bt->frame]);
	*regs &= ~ARG_REGS;
	return leave_to_caller(env, bt);
}

static int back_over_call(struct vf_env *env, struct vf_backtrack *bt, int32_t idx,
			  const struct loupe_insn *insn, int32_t subseq_idx)
{
	if (insn->src_reg == BPF_PSEUDO_CALL)
		return back_over_func_call(env, bt, idx, insn, subseq_idx);
	if (vf_insn_is_sync_callback(insn) && idx != subseq_idx - 1)
		return back_over_callback_call(env, bt);
	if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL && insn->imm == 0)
		return WALK_GIVE_UP;
	drop_reg(bt, BPF_REG_0);
	if (bt->reg_masks[bt->frame] & ARG_REGS)
		return bug(env, "backtracking call unexpected regs %x\n",
			   bt->reg_masks[bt->frame]);
	/* A tail call that "failed" into its caller's next function. */
	if (insn->src_reg == 0 && insn->imm == BPF_FUNC_tail_call && subseq_idx - idx != 1)
		return enter_callee(env, bt);
	return 0;
}

/* Backwards over an exit is into the function that returned. */
static int back_over_exit(struct vf_env *env, struct vf_backtrack *bt, int32_t subseq_idx)
{
	uint32_t *regs = &bt->reg_masks[bt->frame];
	bool r0_wanted;

	if (subseq_idx >= 0 && env->aux[subseq_idx].calls_callback)
		*regs &= ~ARG_REGS;
	if (*regs & ARG_REGS)
		return bug(env, "backtracking exit unexpected regs %x\n", *regs);
	/* A function returns behind its call, a callback to the call that runs it. */
	r0_wanted = subseq_idx >= 1 && env->insns[subseq_idx - 1].code == (BPF_JMP | BPF_CALL) &&
		    env->insns[subseq_idx - 1].src_reg == BPF_PSEUDO_CALL &&
		    reg_wanted(bt, BPF_REG_0);
	drop_reg(bt, BPF_REG_0);
	if (enter_callee(env, bt))
		return -EFAULT;
	if (r0_wanted)
		want_reg(bt, BPF_REG_0);
	return 0;
}

static void back_over_comparison(struct vf_backtrack *bt, const struct loupe_insn *insn,
				 const struct loupe_jmp_hist *hist)
{
	uint32_t flags = hist ? hist->flags : 0;

	if (BPF_SRC(insn->code) != BPF_X ||
	    (!reg_wanted(bt, insn->dst_reg) && !reg_wanted(bt, insn->src_reg)))
		return;
	if (!(flags & LOUPE_HIST_SRC_REG_STACK))
		want_reg(bt, insn->src_reg);
	if (!(flags & LOUPE_HIST_DST_REG_STACK))
		want_reg(bt, insn->dst_reg);
}

static bool is_load_acquire(const struct loupe_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC &&
	       insn->imm == BPF_LOAD_ACQ;
}

static int back_over(struct vf_env *env, struct vf_backtrack *bt, int32_t idx, int32_t subseq_idx,
		     const struct loupe_jmp_hist *hist)
{
	const struct loupe_insn *insn = &env->insns[idx];
	int err = 0;

	if (insn->code == 0) /* second half of an ldimm64 */
		return 0;
	if (vf_listening(env)) {
		struct loupe_masks masks = masks_of(bt, bt->frame);

		VF_EMIT(env, walk_hop, &masks, idx);
	}
	want_linked(bt, hist);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		if (!reg_wanted(bt, insn->dst_reg))
			return 0;
		back_over_alu(bt, insn);
		if (BPF_OP(insn->code) == BPF_END || BPF_OP(insn->code) == BPF_NEG)
			return 0;
		break;
	case BPF_STX:
		if (!is_load_acquire(insn)) {
			err = back_over_store(bt, insn, hist);
			break;
		}
		/* fallthrough */
	case BPF_LDX:
		back_over_load(bt, insn, hist);
		break;
	case BPF_ST:
		err = back_over_store(bt, insn, hist);
		break;
	case BPF_LD:
		if (!reg_wanted(bt, insn->dst_reg))
			return 0;
		drop_reg(bt, insn->dst_reg);
		if (BPF_MODE(insn->code) == BPF_IND || BPF_MODE(insn->code) == BPF_ABS)
			return WALK_GIVE_UP;
		break;
	default:
		if (BPF_OP(insn->code) == BPF_CALL)
			return back_over_call(env, bt, idx, insn, subseq_idx);
		if (BPF_OP(insn->code) == BPF_EXIT)
			return back_over_exit(env, bt, subseq_idx);
		back_over_comparison(bt, insn, hist);
		break;
	}
	if (!err)
		want_linked(bt, hist);
	return err;
}

/* --- marking ---------------------------------------------------------------------------------- */

static void note_precise(struct vf_env *env, const struct loupe_state *st, uint32_t frameno,
			 int reg, int spi)
{
	struct loupe_masks masks = {
		.frameno = frameno,
		.regs = reg >= 0 ? 1u << reg : 0,
		.stack = spi >= 0 ? 1ull << spi : 0,
	};

	if (vf_listening(env))
		VF_EMIT(env, mark_precise, st, &masks);
}

static int force_frame_precise(struct vf_env *env, struct loupe_state *st, uint32_t frameno)
{
	const struct loupe_frame *frame = st->frame[frameno];

	for (int i = 0; i < LOUPE_REG_FP; i++) {
		struct loupe_frame *mut;

		if (frame->regs[i].type != SCALAR_VALUE || frame->regs[i].precise)
			continue;
		frame = mut = vf_frame_mut(env, st, frameno);
		if (!mut)
			return -ENOMEM;
		mut->regs[i].precise = true;
		note_precise(env, st, frameno, i, -1);
		if (vf_listening(env))
			VF_EMIT(env, force_precise, frameno, i, -1);
	}
	for (uint32_t i = 0; i < frame->slot_cnt; i++) {
		const struct loupe_slot *slot = &frame->stack->slot[i];
		struct loupe_slot *mut;

		if (!vf_slot_is_spilled_scalar(slot) || slot->spilled.precise)
			continue;
		mut = vf_slots_mut(env, st, frameno);
		if (!mut)
			return -ENOMEM;
		frame = st->frame[frameno];
		mut[i].spilled.precise = true;
		note_precise(env, st, frameno, -1, (int)i);
		if (vf_listening(env))
			VF_EMIT(env, force_precise, frameno, -1, (int)i);
	}
	return 0;
}

int vf_force_all_precise(struct vf_env *env, struct loupe_state *st)
{
	if (vf_listening(env))
		VF_EMIT(env, force_precise, st->curframe, -1, -1);
	for (st = st->parent; st; st = st->parent) {
		for (uint32_t i = 0; i <= st->curframe; i++) {
			int err = force_frame_precise(env, st, i);

			if (err)
				return err;
		}
	}
	return 0;
}

/* Marks what is wanted in frameno of a checkpoint; what is marked already, or is no scalar, is no
 * longer wanted. */
static int mark_frame(struct vf_env *env, struct loupe_state *st, uint32_t frameno, bool *changed)
{
	struct vf_backtrack *bt = &env->bt;
	uint32_t regs = bt->reg_masks[frameno];
	uint64_t slots = bt->stack_masks[frameno];
	const struct loupe_frame *frame = st->frame[frameno];

	for (; regs; regs &= regs - 1) {
		int i = __builtin_ctz(regs);
		struct loupe_frame *mut;

		if (frame->regs[i].type != SCALAR_VALUE || frame->regs[i].precise) {
			bt->reg_masks[frameno] &= ~(1u << i);
			continue;
		}
		frame = mut = vf_frame_mut(env, st, frameno);
		if (!mut)
			return -ENOMEM;
		mut->regs[i].precise = true;
		*changed = true;
		note_precise(env, st, frameno, i, -1);
	}
	for (; slots; slots &= slots - 1) {
		int i = __builtin_ctzll(slots);
		struct loupe_slot *mut;

		if ((uint32_t)i >= frame->slot_cnt)
			return bug(env, "stack slot %d, total slots %u "
					"(i >= func->allocated_stack / BPF_REG_SIZE)\n",
				   i, frame->slot_cnt);
		if (!vf_slot_is_spilled_scalar(&frame->stack->slot[i]) ||
		    frame->stack->slot[i].spilled.precise) {
			bt->stack_masks[frameno] &= ~(1ull << i);
			continue;
		}
		mut = vf_slots_mut(env, st, frameno);
		if (!mut)
			return -ENOMEM;
		frame = st->frame[frameno];
		mut[i].spilled.precise = true;
		*changed = true;
		note_precise(env, st, frameno, -1, i);
	}
	if (vf_listening(env)) {
		struct loupe_masks masks = masks_of(bt, frameno);

		VF_EMIT(env, walk_parent, &masks, st);
	}
	return 0;
}

static int mark_checkpoint(struct vf_env *env, struct loupe_state *st, bool *changed)
{
	for (uint32_t i = env->bt.frame + 1; i-- > 0;) {
		int err = mark_frame(env, st, i, changed);

		if (err)
			return err;
	}
	return 0;
}

/* --- insns that are nothing to a walk --------------------------------------------------------- */

/* In a walk mask beside the registers: the insn always matters. */
#define WALK_ALWAYS (1u << 15)

/* Registers of which one must be wanted for the insn to matter, unless the history has it. */
static uint16_t walk_mask(const struct loupe_insn *insn)
{
	uint32_t dst = 1u << insn->dst_reg, src = 1u << insn->src_reg;

	if (insn->code == 0)
		return 0;
	switch (BPF_CLASS(insn->code)) {
	case BPF_JMP:
	case BPF_JMP32:
		if (BPF_OP(insn->code) == BPF_EXIT)
			return WALK_ALWAYS;
		if (BPF_OP(insn->code) == BPF_CALL)
			return insn->src_reg || vf_insn_is_sync_callback(insn) ||
					       insn->imm == BPF_FUNC_tail_call ?
				       WALK_ALWAYS :
				       ARG_REGS | 1u << BPF_REG_0;
		return BPF_SRC(insn->code) == BPF_X ? (uint16_t)(dst | src) : 0;
	default:
		return (uint16_t)dst;
	}
}

int vf_walk_init(struct vf_env *env)
{
	uint16_t *masks = vf_alloc(env->slabs, env->insn_cnt * sizeof(*masks));

	if (!masks)
		return -ENOMEM;
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		masks[i] = walk_mask(&env->insns[i]);
	env->walk_masks = masks;
	return 0;
}

/* The latest insn from idx backwards that may matter, on a stretch without jumps. */
static int32_t skip_idle(const struct vf_env *env, const struct loupe_state *st, uint32_t hist_cnt,
			 int32_t idx, int32_t *subseq_idx)
{
	uint32_t wanted = env->bt.reg_masks[env->bt.frame] | WALK_ALWAYS;
	int32_t first = (int32_t)st->first_insn_idx, from = idx;
	int32_t noted = hist_cnt ? (int32_t)st->hist[hist_cnt - 1].idx : -1;

	while (idx > 0 && idx != first && idx != noted && !(env->walk_masks[idx] & wanted))
		idx--;
	if (idx != from)
		*subseq_idx = idx + 1;
	return idx;
}

/* --- walking ---------------------------------------------------------------------------------- */

/* The insn before idx on st's path; `*cnt` history entries remain. -1: none in this state. */
static int32_t previous_insn(const struct loupe_state *st, int32_t idx, uint32_t *cnt)
{
	if ((uint32_t)idx == st->first_insn_idx) {
		if (*cnt == 0)
			return -1;
		/* the jump here from the parent's last insn, recorded behind the checkpoint */
		if (*cnt == 1 && st->hist[0].idx == (uint32_t)idx)
			return -1;
	}
	if (*cnt && st->hist[*cnt - 1].idx == (uint32_t)idx)
		return (int32_t)st->hist[--*cnt].prev_idx;
	return idx - 1;
}

/* The walk stands before the first insn: fine for arguments of a global function only. */
static int at_function_entry(struct vf_env *env, struct loupe_state *st, bool *changed)
{
	struct vf_backtrack *bt = &env->bt;
	struct loupe_frame *frame = st->frame[0];
	uint32_t regs = bt->reg_masks[bt->frame];

	if (st->curframe || !frame->subprogno || frame->callsite != -1 ||
	    bt->stack_masks[bt->frame] || (regs & ~ARG_REGS)) {
		vf_msg(env,
		       "verifier bug: backtracking func entry subprog %u reg_mask %x stack_mask %llx\n",
		       frame->subprogno, regs, (unsigned long long)bt->stack_masks[bt->frame]);
		return -EFAULT;
	}
	frame = vf_frame_mut(env, st, 0);
	if (!frame)
		return -ENOMEM;
	for (; regs; regs &= regs - 1) {
		int i = __builtin_ctz(regs);

		drop_reg(bt, (uint32_t)i);
		if (frame->regs[i].type == SCALAR_VALUE) {
			frame->regs[i].precise = true;
			*changed = true;
			note_precise(env, st, 0, i, -1);
		}
	}
	return 0;
}

/* One state's stretch of the path, last insn first. 1: nothing is wanted any more. */
static int walk_state(struct vf_env *env, struct loupe_state *st, int32_t last_idx,
		      int32_t *subseq_idx, bool *skip_first)
{
	struct vf_backtrack *bt = &env->bt;
	uint32_t cnt = st->hist_cnt;

	for (int32_t i = last_idx;;) {
		/* a listener hears of every insn */
		if (!*skip_first && !vf_listening(env))
			i = skip_idle(env, st, cnt, i, subseq_idx);
		if (*skip_first) {
			*skip_first = false;
		} else {
			const struct loupe_jmp_hist *hist = NULL;
			int err;

			if (cnt && st->hist[cnt - 1].idx == (uint32_t)i)
				hist = &st->hist[cnt - 1];
			err = back_over(env, bt, i, *subseq_idx, hist);
			if (err)
				return err < 0 ? err : -VF_ENOTSUPP;
		}
		if (want_nothing(bt))
			return 1;
		*subseq_idx = i;
		i = previous_insn(st, i, &cnt);
		if (i == -1)
			return 0;
		if (i < 0 || (uint32_t)i >= env->insn_cnt)
			return bug(env, "backtracking idx %d\n", i);
	}
}

static int walk(struct vf_env *env, struct loupe_state *start, bool *changed)
{
	struct vf_backtrack *bt = &env->bt;
	struct loupe_state *st = start;
	int32_t first_idx = (int32_t)st->first_insn_idx, last_idx = start->insn_idx;
	int32_t subseq_idx = -1;
	bool skip_first = true;
	int err;

	for (;;) {
		if (vf_listening(env))
			VF_EMIT(env, walk_begin, bt->frame, last_idx, first_idx, subseq_idx);
		if (last_idx < 0)
			return at_function_entry(env, st, changed);
		err = walk_state(env, st, last_idx, &subseq_idx, &skip_first);
		if (err == -VF_ENOTSUPP)
			break;
		if (err)
			return err < 0 ? err : 0;
		st = st->parent;
		if (!st)
			break;
		err = mark_checkpoint(env, st, changed);
		if (err)
			return err;
		if (want_nothing(bt))
			return 0;
		subseq_idx = first_idx;
		last_idx = (int32_t)st->last_insn_idx;
		first_idx = (int32_t)st->first_insn_idx;
	}
	want_reset(bt);
	return vf_force_all_precise(env, start);
}

int vf_backtrack_run(struct vf_env *env, struct loupe_state *start, bool *changed)
{
	bool ignored;
	int err;

	if (!env->bpf_capable)
		return 0;
	env->bt.frame = start->curframe;
	if (want_nothing(&env->bt))
		return 0;
	err = walk(env, start, changed ? changed : &ignored);
	if (vf_listening(env))
		VF_EMIT(env, walk_end);
	return err;
}

int vf_mark_chain_precision(struct vf_env *env, uint32_t regno)
{
	if (!env->bpf_capable)
		return 0;
	if (vf_cur_regs(env)[regno].type != SCALAR_VALUE)
		return bug(env, "backtracking misuse\n");
	env->bt.frame = env->cur->curframe;
	want_reg(&env->bt, regno);
	return vf_backtrack_run(env, env->cur, NULL);
}

int vf_propagate_precision(struct vf_env *env, const struct loupe_state *old,
			   struct loupe_state *cur, bool *changed)
{
	for (uint32_t f = old->curframe + 1; f-- > 0;) {
		const struct loupe_frame *frame = old->frame[f];
		struct loupe_masks masks = { .frameno = f };

		for (uint32_t i = 0; i < LOUPE_REG_FP; i++) {
			if (frame->regs[i].type == SCALAR_VALUE && frame->regs[i].precise)
				masks.regs |= 1u << i;
		}
		for (uint64_t slots = vf_filled_slots(old, f); slots; slots &= slots - 1) {
			const struct loupe_slot *slot = &frame->stack->slot[__builtin_ctzll(slots)];

			if (vf_slot_is_spilled_scalar(slot) && slot->spilled.precise)
				masks.stack |= slots & -slots;
		}
		env->bt.reg_masks[f] |= masks.regs;
		env->bt.stack_masks[f] |= masks.stack;
		if ((masks.regs || masks.stack) && vf_listening(env))
			VF_EMIT(env, propagate, &masks);
	}
	return vf_backtrack_run(env, cur, changed);
}
