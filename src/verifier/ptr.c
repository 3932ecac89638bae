// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pointer arithmetic, and what unprivileged programs pay for it: each addition is masked so that
 * not even a mispredicting processor leaves the object, and each misprediction is explored.
 */
#include "insn/syntax.h"
#include "verifier/mem.h"
#include "verifier/range.h"

enum reason {
	REASON_BOUNDS = -1,
	REASON_TYPE = -2,
	REASON_PATHS = -3,
	REASON_LIMIT = -4,
	REASON_STACK = -5,
};

/* The operation's result before and after, for the masking limit. */
struct sanitize {
	uint32_t alu_state, alu_limit;
	bool mask_to_left;
};

/* --- Spectre: masking --------------------------------------------------------------------- */

static bool needs_no_masking(const struct vf_env *env, const struct loupe_insn *insn)
{
	return env->bypass_spec_v1 || BPF_SRC(insn->code) == BPF_K ||
	       env->aux[env->insn_idx].nospec;
}

/* Distance from the pointer to the end of its object in the direction of the move. */
static int ptr_limit(const struct vf_env *env, const struct loupe_reg *ptr, bool to_left,
		     uint32_t *limit)
{
	uint32_t max, at;

	switch (ptr->type) {
	case PTR_TO_STACK:
		max = LOUPE_MAX_STACK + to_left;
		at = 0u - (uint32_t)(ptr->var_off.value + (uint64_t)ptr->off);
		break;
	case PTR_TO_MAP_VALUE:
		max = env->maps[loupe_reg_map(ptr)].def->value_size;
		at = (uint32_t)(to_left ? (uint64_t)ptr->smin : ptr->umax) + (uint32_t)ptr->off;
		break;
	default:
		return REASON_TYPE;
	}
	if (at >= max)
		return REASON_LIMIT;
	*limit = at;
	return 0;
}

/* All paths must agree on the masking of an insn. */
static int agree_on_state(uint32_t *state, uint32_t *limit, uint32_t new_state, uint32_t new_limit)
{
	if (*state && (*state != new_state || *limit != new_limit))
		return REASON_PATHS;
	*state = new_state;
	*limit = new_limit;
	return 0;
}

int vf_sanitize_path(struct vf_env *env, const struct loupe_insn *insn, int32_t next_idx,
		     int32_t idx)
{
	struct loupe_state *branch;
	struct loupe_reg *regs;
	int err;

	branch = vf_push_branch(env, next_idx, idx, true, &err);
	if (!branch)
		return err;
	if (insn) {
		regs = branch->frame[branch->curframe]->regs;
		vf_reg_unknown(env, &regs[insn->dst_reg]);
		if (BPF_SRC(insn->code) == BPF_X)
			vf_reg_unknown(env, &regs[insn->src_reg]);
	}
	return 0;
}

/* Explores what happens when the mask turns the offset into 0. */
static int simulate_truncation(struct vf_env *env, const struct loupe_reg *ptr,
			       struct loupe_reg *dst)
{
	struct loupe_reg saved = *dst;
	int err;

	if (ptr != dst)
		*dst = *ptr;
	err = vf_sanitize_path(env, NULL, env->insn_idx + 1, env->insn_idx);
	if (err)
		return err == -ENOMEM || err == -EFAULT ? REASON_STACK : err;
	*dst = saved;
	return 0;
}

/* Before the operation: chooses the masking, and explores its effect. */
static int sanitize_before(struct vf_env *env, const struct loupe_insn *insn,
			   const struct loupe_reg *ptr, const struct loupe_reg *off,
			   struct loupe_reg *dst, struct sanitize *s)
{
	bool add = BPF_OP(insn->code) == BPF_ADD;
	bool imm = tnum_is_const(off->var_off), negative = off->smin < 0;
	uint32_t limit, state;
	int err;

	if (needs_no_masking(env, insn))
		return 0;
	if (!env->cur->speculative) {
		if (!imm && negative != (off->smax < 0))
			return REASON_BOUNDS;
		s->mask_to_left = add == negative;
		err = ptr_limit(env, ptr, s->mask_to_left, &limit);
		if (err)
			return err;
		state = ptr == dst ? VF_ALU_SANITIZE_SRC : VF_ALU_SANITIZE_DST;
		if (negative)
			state |= VF_ALU_NEG_VALUE;
		if (imm)
			state |= VF_ALU_IMMEDIATE;
		else
			env->explore_alu_limits = true;
		s->alu_state = state;
		s->alu_limit = limit;
	}
	return imm ? 0 : simulate_truncation(env, ptr, dst);
}

/* After it: the masking's limit is how far the pointer really moved. */
static int sanitize_after(struct vf_env *env, const struct loupe_insn *insn,
			  const struct loupe_reg *dst, const struct sanitize *s)
{
	struct vf_aux *aux = &env->aux[env->insn_idx];
	uint32_t limit;
	int err;

	if (needs_no_masking(env, insn) || env->cur->speculative)
		return 0;
	err = ptr_limit(env, dst, s->mask_to_left, &limit);
	if (err)
		return err;
	limit = s->alu_limit - limit;
	if ((int32_t)limit < 0)
		limit = 0u - limit;
	return agree_on_state(&aux->alu_state, &aux->alu_limit, s->alu_state, limit);
}

/* off_is_dst: the offset stands in dst, the pointer in src. */
static int sanitize_error(struct vf_env *env, const struct loupe_insn *insn, int reason,
			  bool off_is_dst)
{
	static const char prohibited[] = "pointer arithmetic with it prohibited for !root";
	const char *op = BPF_OP(insn->code) == BPF_ADD ? "add" : "sub";
	uint32_t dst = insn->dst_reg, src = insn->src_reg;

	switch (reason) {
	case REASON_BOUNDS:
		vf_msg(env, "R%u has unknown scalar with mixed signed bounds, %s\n",
		       off_is_dst ? dst : src, prohibited);
		break;
	case REASON_TYPE:
		vf_msg(env, "R%u has pointer with unsupported alu operation, %s\n",
		       off_is_dst ? src : dst, prohibited);
		break;
	case REASON_PATHS:
		vf_msg(env, "R%u tried to %s from different maps, paths or scalars, %s\n", dst, op,
		       prohibited);
		break;
	case REASON_LIMIT:
		vf_msg(env, "R%u tried to %s beyond pointer bounds, %s\n", dst, op, prohibited);
		break;
	case REASON_STACK:
		vf_msg(env, "R%u could not be pushed for speculative verification, %s\n", dst,
		       prohibited);
		return -ENOMEM;
	default:
		return reason;
	}
	return -EACCES;
}

int vf_sanitize_scalar(struct vf_env *env, const struct loupe_insn *insn)
{
	struct vf_aux *aux = &env->aux[env->insn_idx];

	if (needs_no_masking(env, insn))
		return 0;
	if (agree_on_state(&aux->alu_state, &aux->alu_limit, VF_ALU_NON_POINTER, 0))
		return sanitize_error(env, insn, REASON_PATHS, false);
	return 0;
}

/* The result must lie inside of its object. -EOPNOTSUPP: an object without a limit. */
static int sanitize_check_bounds(struct vf_env *env, const struct loupe_insn *insn,
				 const struct loupe_reg *dst)
{
	uint32_t regno = insn->dst_reg;
	int32_t off = (int32_t)(dst->var_off.value + (uint64_t)dst->off);
	int err;

	if (env->bypass_spec_v1)
		return 0;
	switch (dst->type) {
	case PTR_TO_STACK:
		if (!tnum_is_const(dst->var_off)) {
			vf_msg(env,
			       "R%u variable stack access prohibited for !root, "
			       "var_off=(0x%llx; 0x%llx) off=%d\n",
			       regno, (unsigned long long)dst->var_off.value,
			       (unsigned long long)dst->var_off.mask, off);
			return -EACCES;
		}
		if (off >= 0 || off < -LOUPE_MAX_STACK) {
			vf_msg(env,
			       "R%u stack pointer arithmetic goes out of range, prohibited for "
			       "!root; off=%d\n",
			       regno, off);
			return -EACCES;
		}
		return 0;
	case PTR_TO_MAP_VALUE:
		err = vf_check_map_access(env, regno, dst->off, 1, false);
		if (err == VF_NOT_JUDGED)
			return err;
		if (err) {
			vf_msg(env,
			       "R%u pointer arithmetic of map value goes out of range, "
			       "prohibited for !root\n",
			       regno);
			return -EACCES;
		}
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* --- arithmetic --------------------------------------------------------------------------- */

/* Offsets must stay far away from overflows. */
static bool is_sane_offset(struct vf_env *env, const struct loupe_reg *reg, uint32_t type)
{
	int64_t value = (int64_t)reg->var_off.value, smin = reg->smin;
	bool fixed_bad = tnum_is_const(reg->var_off) &&
			 (value >= VF_MAX_VAR_OFF || value <= -VF_MAX_VAR_OFF);
	bool off_bad = reg->off >= VF_MAX_VAR_OFF || reg->off <= -VF_MAX_VAR_OFF;
	bool smin_bad = smin >= VF_MAX_VAR_OFF || smin <= -VF_MAX_VAR_OFF;
	char name[VF_TYPE_NAME];

	if (!fixed_bad && !off_bad && !smin_bad)
		return true;
	vf_type_str(name, type);
	if (fixed_bad)
		vf_msg(env, "math between %s pointer and %lld is not allowed\n", name,
		       (long long)value);
	else if (off_bad)
		vf_msg(env, "%s pointer offset %d is not allowed\n", name, reg->off);
	else if (smin == INT64_MIN)
		vf_msg(env,
		       "math between %s pointer and register with unbounded min value is not "
		       "allowed\n",
		       name);
	else
		vf_msg(env, "value %lld makes %s pointer be out of bounds\n", (long long)smin,
		       name);
	return false;
}

/* Whether the type of pointer may be moved at all, and by this operand. */
static bool is_movable(const struct loupe_insn *insn, const struct loupe_reg *ptr,
		       const struct loupe_reg *off)
{
	bool known = tnum_is_const(off->var_off);

	switch (loupe_base_type(ptr->type)) {
	case PTR_TO_CTX:
	case PTR_TO_MAP_VALUE:
	case PTR_TO_MAP_KEY:
	case PTR_TO_STACK:
	case PTR_TO_PACKET_META:
	case PTR_TO_PACKET:
	case PTR_TO_TP_BUFFER:
	case PTR_TO_BTF_ID:
	case PTR_TO_MEM:
	case PTR_TO_BUF:
	case PTR_TO_FUNC:
	case CONST_PTR_TO_DYNPTR:
		return true;
	case PTR_TO_FLOW_KEYS:
		return known;
	case CONST_PTR_TO_MAP:
		return known && off->smin == 0 && BPF_OP(insn->code) == BPF_ADD;
	default:
		return false;
	}
}

/* dst = ptr at the constant distance, if that fits the fixed offset. */
static bool move_fixed(struct loupe_reg *dst, const struct loupe_reg *ptr, int64_t distance)
{
	int64_t off = ptr->off + distance;

	if (off != (int32_t)off)
		return false;
	dst->smin = ptr->smin;
	dst->smax = ptr->smax;
	dst->umin = ptr->umin;
	dst->umax = ptr->umax;
	dst->var_off = ptr->var_off;
	dst->off = (int32_t)off;
	dst->raw[0] = ptr->raw[0];
	dst->raw[1] = ptr->raw[1];
	return true;
}

/* A packet pointer with a new variable part is a base of its own; what was known may not hold. */
static void rebase_packet(struct vf_env *env, struct loupe_reg *dst, bool forget_range)
{
	if (!vf_is_pkt_pointer(dst->type))
		return;
	dst->id = vf_new_id(env);
	if (forget_range) {
		dst->raw[0] = 0;
		dst->raw[1] = 0;
	}
}

/* ptr and off are copies: either may be dst. */
static void ptr_add(struct vf_env *env, struct loupe_reg *dst, const struct loupe_reg *ptr,
		    const struct loupe_reg *off)
{
	if (tnum_is_const(off->var_off) && move_fixed(dst, ptr, off->smin))
		return;
	if (__builtin_add_overflow(ptr->smin, off->smin, &dst->smin) ||
	    __builtin_add_overflow(ptr->smax, off->smax, &dst->smax)) {
		dst->smin = INT64_MIN;
		dst->smax = INT64_MAX;
	}
	if (__builtin_add_overflow(ptr->umin, off->umin, &dst->umin) ||
	    __builtin_add_overflow(ptr->umax, off->umax, &dst->umax)) {
		dst->umin = 0;
		dst->umax = UINT64_MAX;
	}
	dst->var_off = tnum_add(ptr->var_off, off->var_off);
	dst->off = ptr->off;
	dst->raw[0] = ptr->raw[0];
	dst->raw[1] = ptr->raw[1];
	rebase_packet(env, dst, true);
}

static void ptr_sub(struct vf_env *env, struct loupe_reg *dst, const struct loupe_reg *ptr,
		    const struct loupe_reg *off)
{
	/* off->smin is sane: it can be negated. */
	if (tnum_is_const(off->var_off) && move_fixed(dst, ptr, -off->smin))
		return;
	if (__builtin_sub_overflow(ptr->smin, off->smax, &dst->smin) ||
	    __builtin_sub_overflow(ptr->smax, off->smin, &dst->smax)) {
		dst->smin = INT64_MIN;
		dst->smax = INT64_MAX;
	}
	if (ptr->umin < off->umax) {
		dst->umin = 0;
		dst->umax = UINT64_MAX;
	} else {
		dst->umin = ptr->umin - off->umax;
		dst->umax = ptr->umax - off->umin;
	}
	dst->var_off = tnum_sub(ptr->var_off, off->var_off);
	/* Moving towards the start keeps what was verified ahead. */
	rebase_packet(env, dst, off->smin < 0);
}

static int move_pointer(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
			const struct loupe_reg *ptr, const struct loupe_reg *off, bool off_is_dst)
{
	uint8_t op = BPF_OP(insn->code);
	uint32_t regno = insn->dst_reg;

	switch (op) {
	case BPF_ADD:
		ptr_add(env, dst, ptr, off);
		return 0;
	case BPF_SUB:
		if (off_is_dst) {
			vf_msg(env, "R%u tried to subtract pointer from scalar\n", regno);
			return -EACCES;
		}
		if (ptr->type == PTR_TO_STACK) {
			vf_msg(env, "R%u subtraction from stack pointer prohibited\n", regno);
			return -EACCES;
		}
		ptr_sub(env, dst, ptr, off);
		return 0;
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
		vf_msg(env, "R%u bitwise operator %s on pointer prohibited\n", regno,
		       insn_alu_ops[op >> 4]);
		return -EACCES;
	default:
		vf_msg(env, "R%u pointer arithmetic with %s operator prohibited\n", regno,
		       insn_alu_ops[op >> 4]);
		return -EACCES;
	}
}

/* What refuses the operation before it is looked at. *done: the result is set already. */
static int check_operation(struct vf_env *env, const struct loupe_insn *insn,
			   const struct loupe_reg *ptr, const struct loupe_reg *off,
			   struct loupe_reg *dst, bool *done)
{
	bool known = tnum_is_const(off->var_off);
	char name[VF_TYPE_NAME];

	*done = true;
	if ((known && (off->smin != off->smax || off->umin != off->umax)) ||
	    off->smin > off->smax || off->umin > off->umax) {
		vf_reg_unknown(env, dst); /* a path that cannot happen */
		return 0;
	}
	if (BPF_CLASS(insn->code) != BPF_ALU64) {
		if (BPF_OP(insn->code) == BPF_SUB && env->allow_ptr_leaks) {
			vf_reg_unknown(env, dst);
			return 0;
		}
		vf_msg(env, "R%d 32-bit pointer arithmetic prohibited\n", insn->dst_reg);
		return -EACCES;
	}
	if (ptr->type & PTR_MAYBE_NULL) {
		vf_msg(env, "R%d pointer arithmetic on %s prohibited, null-check it first\n",
		       insn->dst_reg, vf_type_str(name, ptr->type));
		return -EACCES;
	}
	/* Accesses to it are probed: its offset does not matter. */
	if (loupe_base_type(ptr->type) == PTR_TO_MEM && (ptr->type & PTR_UNTRUSTED))
		return 0;
	if (!is_movable(insn, ptr, off)) {
		vf_msg(env, "R%d pointer arithmetic on %s prohibited\n", insn->dst_reg,
		       vf_type_str(name, ptr->type));
		return -EACCES;
	}
	*done = false;
	return 0;
}

int vf_alu_pointer(struct vf_env *env, const struct loupe_insn *insn, const struct loupe_reg *ptr,
		   const struct loupe_reg *off)
{
	struct loupe_reg *dst = &vf_cur_regs(env)[insn->dst_reg];
	uint8_t op = BPF_OP(insn->code);
	bool off_is_dst = off == dst, masked = op == BPF_ADD || op == BPF_SUB, done;
	struct loupe_reg ptr_before, off_before;
	struct sanitize s = { 0 };
	int err, in_bounds;

	err = check_operation(env, insn, ptr, off, dst, &done);
	if (err || done)
		return err;

	/* `scalar += pointer`: dst takes over type and id, and nothing else by itself. */
	dst->type = ptr->type;
	dst->id = ptr->id;
	if (!is_sane_offset(env, off, ptr->type) || !is_sane_offset(env, ptr, ptr->type))
		return -EINVAL;
	vf_reg_unbounded32(dst);

	if (masked) {
		err = sanitize_before(env, insn, ptr, off, dst, &s);
		if (err)
			return sanitize_error(env, insn, err, off_is_dst);
	}
	ptr_before = *ptr;
	off_before = *off;
	err = move_pointer(env, insn, dst, &ptr_before, &off_before, off_is_dst);
	if (err)
		return err;

	if (!is_sane_offset(env, dst, ptr_before.type))
		return -EINVAL;
	vf_bounds_sync(dst);
	in_bounds = sanitize_check_bounds(env, insn, dst);
	if (in_bounds && in_bounds != -EOPNOTSUPP)
		return in_bounds;
	if (masked) {
		err = sanitize_after(env, insn, dst, &s);
		if (err)
			return sanitize_error(env, insn, err, off_is_dst);
	}
	return 0;
}
