// SPDX-License-Identifier: GPL-2.0-only
/* Conditional jumps: one way is followed, the other is left for later. */
#include "verifier/range.h"

/* What loupe_reg.range says of a packet pointer that was compared with the end. */
enum { AT_PKT_END = -1, BEYOND_PKT_END = -2 };

/* --- pointers that may be null ------------------------------------------------------------ */

void vf_mark_ptr_not_null(const struct vf_env *env, struct loupe_reg *reg)
{
	const struct vf_map *map, *inner;

	if (loupe_base_type(reg->type) != PTR_TO_MAP_VALUE) {
		reg->type &= ~(uint32_t)PTR_MAYBE_NULL;
		return;
	}

	map = &env->maps[loupe_reg_map(reg)];
	if (map->inner >= 0) {
		inner = &env->maps[map->inner];
		reg->type = CONST_PTR_TO_MAP;
		reg->map.nr = (uint32_t)map->inner + 1;
		/* Timers and the like of different inner maps must not be mixed up. */
		if (inner->timer_off >= 0 || vf_map_has_field(inner, VF_FIELD_WQ) ||
		    vf_map_has_field(inner, VF_FIELD_TASK_WORK))
			reg->map.uid = reg->id;
		return;
	}
	switch (map->def->type) {
	case BPF_MAP_TYPE_XSKMAP:
		reg->type = PTR_TO_XDP_SOCK;
		break;
	case BPF_MAP_TYPE_SOCKMAP:
	case BPF_MAP_TYPE_SOCKHASH:
		reg->type = PTR_TO_SOCKET;
		break;
	default:
		reg->type = PTR_TO_MAP_VALUE;
		break;
	}
}

static bool may_hold_spin_lock(const struct vf_env *env, const struct loupe_reg *reg)
{
	const struct vf_map *map;

	if (reg->type != PTR_TO_MAP_VALUE)
		return false;
	map = &env->maps[loupe_reg_map(reg)];
	return map->spin_lock_off >= 0 || map->res_spin_lock_off >= 0;
}

static bool is_candidate(const struct loupe_reg *reg, uint32_t id)
{
	if (!(reg->type & PTR_MAYBE_NULL) || reg->id != id || (!reg->id && !(reg->type & MEM_RCU)))
		return false;
	/* No arithmetic was possible on it, but for what helpers return in allocated objects. */
	if (reg->smin || reg->smax || !tnum_equals_const(reg->var_off, 0))
		return false;
	return reg->off == 0 || (reg->type & (MEM_ALLOC | NON_OWN_REF));
}

static void mark_ptr_or_null_reg(const struct vf_env *env, struct loupe_reg *reg, bool is_null)
{
	if (is_null) {
		reg->type = SCALAR_VALUE;
		reg->id = 0;
		reg->ref_obj_id = 0;
		return;
	}
	vf_mark_ptr_not_null(env, reg);
	if (!may_hold_spin_lock(env, reg))
		reg->id = 0;
}

int vf_mark_ptr_or_null(struct vf_env *env, struct loupe_state *st, uint32_t regno, bool is_null)
{
	const struct loupe_reg *checked = &st->frame[st->curframe]->regs[regno], *reg;
	uint32_t id = checked->id, ref_obj_id = checked->ref_obj_id;
	struct vf_reg_iter it;

	if (ref_obj_id && ref_obj_id == id && is_null)
		vf_ref_drop(st, id);

	vf_reg_iter_init(&it, env, st);
	while ((reg = vf_reg_iter_next(&it)) != NULL) {
		struct loupe_reg *own;

		if (!is_candidate(reg, id))
			continue;
		own = vf_reg_iter_mut(&it);
		if (!own)
			return -ENOMEM;
		mark_ptr_or_null_reg(env, own, is_null);
	}
	return 0;
}

/* --- packet pointers ---------------------------------------------------------------------- */

/* The packet is known to reach up to pkt (beyond: one byte more): so it is for all of that base. */
static int find_good_pkt_pointers(struct vf_env *env, struct loupe_state *st,
				  const struct loupe_reg *pkt, bool beyond)
{
	uint32_t type = pkt->type, id = pkt->id;
	const struct loupe_reg *reg;
	struct vf_reg_iter it;
	int32_t range;

	if (pkt->off < 0 || (pkt->off == 0 && beyond))
		return 0;
	/* Larger offsets might overflow. */
	if (pkt->umax > VF_MAX_PACKET_OFF || pkt->umax + (uint64_t)pkt->off > VF_MAX_PACKET_OFF)
		return 0;

	range = pkt->off + beyond;
	vf_reg_iter_init(&it, env, st);
	while ((reg = vf_reg_iter_next(&it)) != NULL) {
		struct loupe_reg *own;

		if (reg->type != type || reg->id != id || reg->range >= range)
			continue;
		own = vf_reg_iter_mut(&it);
		if (!own)
			return -ENOMEM;
		own->range = range;
	}
	return 0;
}

static void mark_pkt_end(struct loupe_state *st, uint32_t regno, bool beyond)
{
	struct loupe_reg *reg = &st->frame[st->curframe]->regs[regno];

	if (reg->type == PTR_TO_PACKET)
		reg->range = beyond ? BEYOND_PKT_END : AT_PKT_END;
}

/* As it came from the context: the start of the packet. */
static bool is_packet_start(const struct loupe_reg *reg)
{
	return reg->type == PTR_TO_PACKET && reg->id == 0 && reg->off == 0 &&
	       tnum_equals_const(reg->var_off, 0);
}

/* pkt is compared with what it must not pass: packet with its end, metadata with the packet. */
static bool is_pkt_with_limit(const struct loupe_reg *pkt, const struct loupe_reg *limit)
{
	return (pkt->type == PTR_TO_PACKET && limit->type == PTR_TO_PACKET_END) ||
	       (pkt->type == PTR_TO_PACKET_META && is_packet_start(limit));
}

/*
 * Learns from a comparison of a packet pointer with its limit. *matched: it was one.
 *
 * Where the pointer is below the limit, the packet is good up to it; on the other way it is known
 * to be at the limit or beyond.
 */
static int match_pkt_pointers(struct vf_env *env, const struct loupe_insn *insn,
			      struct loupe_state *fall, struct loupe_state *taken, bool *matched)
{
	const struct loupe_reg *regs = vf_cur_regs(env);
	const struct loupe_reg *dst = &regs[insn->dst_reg], *src = &regs[insn->src_reg];
	uint8_t op = BPF_OP(insn->code);
	bool pkt_first, pkt_high_if_taken, strict;
	struct loupe_state *good, *bad;
	uint32_t regno;
	int err;

	*matched = false;
	if (insn->code != (BPF_JMP | BPF_X | op) ||
	    (op != BPF_JGT && op != BPF_JLT && op != BPF_JGE && op != BPF_JLE))
		return 0;
	pkt_first = is_pkt_with_limit(dst, src);
	if (!pkt_first && !is_pkt_with_limit(src, dst))
		return 0;
	*matched = true;

	regno = pkt_first ? insn->dst_reg : insn->src_reg;
	/* Is the pointer the greater one where the jump is taken, and strictly so? */
	pkt_high_if_taken = pkt_first == (op == BPF_JGT || op == BPF_JGE);
	strict = op == BPF_JGT || op == BPF_JLT;
	good = pkt_high_if_taken ? fall : taken;
	bad = pkt_high_if_taken ? taken : fall;
	/*
	 * Taken with a strict comparison, or not taken with one that allows equality: the pointer
	 * is strictly on its side there, and may be equal on the other.
	 */
	err = find_good_pkt_pointers(env, good, &regs[regno], (good == taken) == strict);
	if (err)
		return err;
	mark_pkt_end(bad, regno, (bad == taken) == strict);
	return 0;
}

/* --- the jump ----------------------------------------------------------------------------- */

static void note_outcome(struct vf_env *env, bool taken, bool fell)
{
	struct vf_aux *aux = &env->aux[env->insn_idx];

	if (env->cur->speculative)
		return;
	aux->branch_true |= taken;
	aux->branch_false |= fell;
}

static int check_may_goto(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx)
{
	struct loupe_state *prev, *queued;
	int32_t idx = *insn_idx;
	int err;

	if (insn->code != (BPF_JMP | BPF_JCOND) || insn->src_reg != BPF_MAY_GOTO || insn->dst_reg ||
	    insn->imm) {
		vf_msg(env, "invalid may_goto imm %d\n", insn->imm);
		return -EINVAL;
	}
	prev = vf_find_prev_entry(env, env->cur->parent, idx);
	queued = vf_push_branch(env, idx + 1, idx, false, &err);
	if (!queued)
		return err == -EFAULT ? VF_KERNEL_ENOMEM : err;
	queued->may_goto_depth++;
	note_outcome(env, true, true);
	*insn_idx += insn->off;
	return prev ? vf_widen_imprecise(env, prev, queued) : 0;
}

static bool is_pkt_pointer_any(uint32_t type)
{
	return vf_is_pkt_pointer(type) || type == PTR_TO_PACKET_END;
}

/* Checks the operands; *src is the register or a made-up constant. */
static int check_operands(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg **src)
{
	struct loupe_reg *regs = vf_cur_regs(env), *dst = &regs[insn->dst_reg];
	bool by_reg = BPF_SRC(insn->code) == BPF_X;
	uint32_t flags = 0;
	int err;

	err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;
	if (by_reg ? insn->imm != 0 : insn->src_reg != 0) {
		vf_msg(env, "BPF_JMP/JMP32 uses reserved fields\n");
		return -EINVAL;
	}
	if (by_reg) {
		err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);
		if (err)
			return err;
		*src = &regs[insn->src_reg];
		if (!(is_pkt_pointer_any(dst->type) && is_pkt_pointer_any((*src)->type)) &&
		    vf_is_pointer_value(env, insn->src_reg)) {
			vf_msg(env, "R%d pointer comparison prohibited\n", insn->src_reg);
			return -EACCES;
		}
		if ((*src)->type == PTR_TO_STACK)
			flags |= LOUPE_HIST_SRC_REG_STACK;
	} else {
		*src = &env->fake_reg[0];
		vf_reg_constant(*src, (uint64_t)insn->imm);
	}
	if (dst->type == PTR_TO_STACK)
		flags |= LOUPE_HIST_DST_REG_STACK;
	return flags ? vf_hist_push(env, env->cur, flags, 0) : 0;
}

/* The condition is certain: values that made it so are precise, one way is followed. */
static int follow_certain(struct vf_env *env, const struct loupe_insn *insn,
			  const struct loupe_reg *src, bool taken, int32_t *insn_idx)
{
	int32_t idx = *insn_idx;
	int err = 0;

	if (!vf_is_pointer(&vf_cur_regs(env)[insn->dst_reg]))
		err = vf_mark_chain_precision(env, insn->dst_reg);
	if (!err && BPF_SRC(insn->code) == BPF_X && !vf_is_pointer(src))
		err = vf_mark_chain_precision(env, insn->src_reg);
	if (!err && !env->bypass_spec_v1)
		err = vf_sanitize_path(env, insn, taken ? idx + 1 : idx + insn->off + 1, idx);
	if (err)
		return err;

	note_outcome(env, taken, !taken);
	vf_emit_insn_state(env);
	if (taken)
		*insn_idx += insn->off;
	return 0;
}

/* Notes which registers will share what the comparison says, before the ways part. */
static int collect_linked(struct vf_env *env, const struct loupe_insn *insn,
			  const struct loupe_reg *src, struct vf_linked_regs *linked)
{
	const struct loupe_reg *dst = &vf_cur_regs(env)[insn->dst_reg];
	int err = 0;

	if (BPF_SRC(insn->code) == BPF_X && !vf_is_pointer(src) && src->id)
		err = vf_linked_collect(env, src->id, linked);
	if (!err && !vf_is_pointer(dst) && dst->id)
		err = vf_linked_collect(env, dst->id, linked);
	if (!err && linked->cnt > 1)
		err = vf_hist_push(env, env->cur, 0, vf_linked_pack(linked));
	return err;
}

static int sync_linked(struct vf_env *env, struct loupe_state *taken, uint32_t regno,
		       const struct vf_linked_regs *linked)
{
	const struct loupe_reg *here = &vf_cur_regs(env)[regno];
	const struct loupe_reg *there = &taken->frame[taken->curframe]->regs[regno];
	int err;

	if (vf_is_pointer(here) || !here->id || here->id != there->id)
		return 0;
	err = vf_linked_sync(env, env->cur, here, linked);
	return err ? err : vf_linked_sync(env, taken, there, linked);
}

/* Where a maybe-null pointer equals another pointer, it is not null. */
static void share_nullness(struct vf_env *env, const struct loupe_insn *insn,
			   struct loupe_state *taken)
{
	struct loupe_reg *regs = vf_cur_regs(env), *equal;
	uint32_t dst = regs[insn->dst_reg].type, src = regs[insn->src_reg].type;

	if (dst == SCALAR_VALUE || src == SCALAR_VALUE || !((dst ^ src) & PTR_MAYBE_NULL) ||
	    loupe_base_type(dst) == PTR_TO_BTF_ID || loupe_base_type(src) == PTR_TO_BTF_ID)
		return;
	if (insn->code == (BPF_JMP | BPF_JEQ | BPF_X))
		equal = taken->frame[taken->curframe]->regs;
	else if (insn->code == (BPF_JMP | BPF_JNE | BPF_X))
		equal = regs;
	else
		return;
	vf_mark_ptr_not_null(env, &equal[src & PTR_MAYBE_NULL ? insn->src_reg : insn->dst_reg]);
}

/* What the comparison says about pointers. */
static int learn_pointers(struct vf_env *env, const struct loupe_insn *insn,
			  struct loupe_state *taken)
{
	uint8_t op = BPF_OP(insn->code);
	bool matched;
	int err;

	if (BPF_SRC(insn->code) == BPF_X)
		share_nullness(env, insn, taken);

	if (BPF_CLASS(insn->code) == BPF_JMP && BPF_SRC(insn->code) == BPF_K && insn->imm == 0 &&
	    (op == BPF_JEQ || op == BPF_JNE) &&
	    (vf_cur_regs(env)[insn->dst_reg].type & PTR_MAYBE_NULL)) {
		err = vf_mark_ptr_or_null(env, env->cur, insn->dst_reg, op == BPF_JNE);
		return err ? err : vf_mark_ptr_or_null(env, taken, insn->dst_reg, op == BPF_JEQ);
	}
	err = match_pkt_pointers(env, insn, env->cur, taken, &matched);
	if (err)
		return err;
	if (!matched && vf_is_pointer_value(env, insn->dst_reg)) {
		vf_msg(env, "R%d pointer comparison prohibited\n", insn->dst_reg);
		return -EACCES;
	}
	return 0;
}

/* Both ways are possible: the jump is left for later, the present path falls through. */
static int follow_both(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *src,
		       int32_t idx)
{
	bool by_reg = BPF_SRC(insn->code) == BPF_X, jmp32 = BPF_CLASS(insn->code) == BPF_JMP32;
	struct loupe_reg *dst = &vf_cur_regs(env)[insn->dst_reg], *there;
	struct vf_linked_regs linked = { 0 };
	struct loupe_state *taken;
	int err;

	err = collect_linked(env, insn, src, &linked);
	if (err)
		return err;
	taken = vf_push_branch(env, idx + insn->off + 1, idx, false, &err);
	if (!taken)
		return err;
	note_outcome(env, true, true);

	there = taken->frame[taken->curframe]->regs;
	env->fake_reg[1] = env->fake_reg[0];
	err = vf_branch_refine(env, &there[insn->dst_reg],
			       by_reg ? &there[insn->src_reg] : &env->fake_reg[0], dst,
			       by_reg ? src : &env->fake_reg[1], BPF_OP(insn->code), jmp32);
	if (!err && by_reg)
		err = sync_linked(env, taken, insn->src_reg, &linked);
	if (!err)
		err = sync_linked(env, taken, insn->dst_reg, &linked);
	if (!err)
		err = learn_pointers(env, insn, taken);
	if (err)
		return err;
	vf_emit_insn_state(env);
	return 0;
}

int vf_check_cond_jmp(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx)
{
	uint8_t op = BPF_OP(insn->code);
	struct loupe_reg *src;
	int err, outcome;

	if (op == BPF_JCOND)
		return check_may_goto(env, insn, insn_idx);

	err = check_operands(env, insn, &src);
	if (err)
		return err;
	outcome = vf_branch_taken(&vf_cur_regs(env)[insn->dst_reg], src, op,
				  BPF_CLASS(insn->code) == BPF_JMP32);
	if (outcome >= 0)
		return follow_certain(env, insn, src, outcome, insn_idx);
	return follow_both(env, insn, src, *insn_idx);
}
