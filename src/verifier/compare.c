// SPDX-License-Identifier: GPL-2.0-only
/* Comparisons: whether the outcome is certain, and what either outcome says about the operands. */
#include "verifier/range.h"

/* "None of the bits is set", the opposite of BPF_JSET, which has no opcode of its own. */
#define JSET_NOT (BPF_JSET | BPF_X)

/* Packet pointers: what loupe_reg.range says once one was compared with the end. */
enum { AT_PKT_END = -1, BEYOND_PKT_END = -2 };

/* `a op b` as `b op' a`. */
static uint8_t flipped(uint8_t op)
{
	static const uint8_t table[16] = {
		[BPF_JEQ >> 4] = BPF_JEQ,   [BPF_JNE >> 4] = BPF_JNE,	[BPF_JSET >> 4] = BPF_JSET,
		[BPF_JGE >> 4] = BPF_JLE,   [BPF_JGT >> 4] = BPF_JLT,	[BPF_JLE >> 4] = BPF_JGE,
		[BPF_JLT >> 4] = BPF_JGT,   [BPF_JSGE >> 4] = BPF_JSLE, [BPF_JSGT >> 4] = BPF_JSLT,
		[BPF_JSLE >> 4] = BPF_JSGE, [BPF_JSLT >> 4] = BPF_JSGT,
	};

	return table[op >> 4];
}

/* The condition that holds when op does not. */
static uint8_t negated(uint8_t op)
{
	static const uint8_t table[16] = {
		[BPF_JEQ >> 4] = BPF_JNE,   [BPF_JNE >> 4] = BPF_JEQ,	[BPF_JSET >> 4] = JSET_NOT,
		[BPF_JGE >> 4] = BPF_JLT,   [BPF_JGT >> 4] = BPF_JLE,	[BPF_JLE >> 4] = BPF_JGT,
		[BPF_JLT >> 4] = BPF_JGE,   [BPF_JSGE >> 4] = BPF_JSLT, [BPF_JSGT >> 4] = BPF_JSLE,
		[BPF_JSLE >> 4] = BPF_JSGT, [BPF_JSLT >> 4] = BPF_JSGE,
	};

	return table[op >> 4];
}

/* --- certain outcomes --------------------------------------------------------------------- */

/* What a comparison sees of a register: all of it, or the low half. */
struct view {
	struct loupe_tnum t;
	uint64_t umin, umax;
	int64_t smin, smax;
};

static struct view view(const struct loupe_reg *reg, bool jmp32)
{
	if (jmp32)
		return (struct view){ tnum_subreg(reg->var_off), reg->u32_min, reg->u32_max,
				      reg->s32_min, reg->s32_max };
	return (struct view){ reg->var_off, reg->umin, reg->umax, reg->smin, reg->smax };
}

static bool ranges_disjoint(const struct view *a, const struct view *b)
{
	return a->umin > b->umax || a->umax < b->umin || a->smin > b->smax || a->smax < b->smin;
}

static int equal(const struct loupe_reg *a, const struct loupe_reg *b, bool jmp32)
{
	struct view va = view(a, jmp32), vb = view(b, jmp32);

	if (tnum_is_const(va.t) && tnum_is_const(vb.t))
		return va.t.value == vb.t.value;
	if (!tnum_overlap(va.t, vb.t) || ranges_disjoint(&va, &vb))
		return 0;
	if (!jmp32) {
		va = view(a, true);
		vb = view(b, true);
		if (ranges_disjoint(&va, &vb))
			return 0;
	}
	return -1;
}

static int common_bits(const struct loupe_reg *a, const struct loupe_reg *b, bool jmp32)
{
	struct loupe_tnum t;
	uint64_t mask;

	if (!vf_reg_is_const_of(b, jmp32)) {
		const struct loupe_reg *tmp = a;

		a = b;
		b = tmp;
		if (!vf_reg_is_const_of(b, jmp32))
			return -1;
	}
	t = view(a, jmp32).t;
	mask = vf_reg_const_value(b, jmp32);
	if (t.value & mask)
		return 1;
	return (t.value | t.mask) & mask ? -1 : 0;
}

static int greater(struct view a, struct view b, bool is_signed, bool or_equal)
{
	if (is_signed) {
		if (a.smin > b.smax || (or_equal && a.smin == b.smax))
			return 1;
		return a.smax < b.smin || (!or_equal && a.smax == b.smin) ? 0 : -1;
	}
	if (a.umin > b.umax || (or_equal && a.umin == b.umax))
		return 1;
	return a.umax < b.umin || (!or_equal && a.umax == b.umin) ? 0 : -1;
}

static int scalar_taken(const struct loupe_reg *a, const struct loupe_reg *b, uint8_t op,
			bool jmp32)
{
	struct view va = view(a, jmp32), vb = view(b, jmp32);
	int eq;

	switch (op) {
	case BPF_JEQ:
		return equal(a, b, jmp32);
	case BPF_JNE:
		eq = equal(a, b, jmp32);
		return eq < 0 ? -1 : !eq;
	case BPF_JSET:
		return common_bits(a, b, jmp32);
	case BPF_JGT:
		return greater(va, vb, false, false);
	case BPF_JSGT:
		return greater(va, vb, true, false);
	case BPF_JLT:
		return greater(vb, va, false, false);
	case BPF_JSLT:
		return greater(vb, va, true, false);
	case BPF_JGE:
		return greater(va, vb, false, true);
	case BPF_JSGE:
		return greater(va, vb, true, true);
	case BPF_JLE:
		return greater(vb, va, false, true);
	case BPF_JSLE:
		return greater(vb, va, true, true);
	default:
		return -1;
	}
}

/* A packet pointer was compared with the end before: the same question has the same answer. */
static int packet_taken(const struct loupe_reg *a, const struct loupe_reg *b, uint8_t op)
{
	const struct loupe_reg *pkt = a;

	if (b->type != PTR_TO_PACKET_END) {
		if (a->type != PTR_TO_PACKET_END)
			return -1;
		pkt = b;
		op = flipped(op);
	}
	switch (op) {
	case BPF_JGT:
	case BPF_JLE:
		return pkt->range == BEYOND_PKT_END ? op == BPF_JGT : -1;
	case BPF_JGE:
	case BPF_JLT:
		return pkt->range == BEYOND_PKT_END || pkt->range == AT_PKT_END ? op == BPF_JGE
										: -1;
	default:
		return -1;
	}
}

static bool is_trusted(const struct loupe_reg *reg)
{
	uint32_t flags = loupe_type_flags(reg->type);

	if (reg->ref_obj_id)
		return true;
	return (flags & (MEM_ALLOC | PTR_TRUSTED | NON_OWN_REF)) &&
	       !(flags & ~(uint32_t)(MEM_ALLOC | PTR_TRUSTED | NON_OWN_REF));
}

static bool is_never_null(const struct loupe_reg *reg)
{
	if (reg->type & PTR_MAYBE_NULL)
		return false;
	switch (loupe_base_type(reg->type)) {
	case PTR_TO_SOCKET:
	case PTR_TO_TCP_SOCK:
	case PTR_TO_MAP_VALUE:
	case PTR_TO_MAP_KEY:
	case PTR_TO_SOCK_COMMON:
	case CONST_PTR_TO_MAP:
		return true;
	case PTR_TO_MEM:
		return !(reg->type & PTR_UNTRUSTED);
	case PTR_TO_BTF_ID:
		return is_trusted(reg);
	default:
		return false;
	}
}

static bool is_pkt_pointer_any(uint32_t type)
{
	return vf_is_pkt_pointer(type) || type == PTR_TO_PACKET_END;
}

int vf_branch_taken(const struct loupe_reg *a, const struct loupe_reg *b, uint8_t op, bool jmp32)
{
	if (!jmp32 && is_pkt_pointer_any(a->type) && is_pkt_pointer_any(b->type))
		return packet_taken(a, b, op);
	if (!vf_is_pointer(a) && !vf_is_pointer(b))
		return scalar_taken(a, b, op, jmp32);

	/* All that is known of a pointer is that it is not 0. */
	if (!vf_reg_is_const_of(b, jmp32)) {
		const struct loupe_reg *tmp = a;

		a = b;
		b = tmp;
		op = flipped(op);
		if (!vf_reg_is_const_of(b, jmp32))
			return -1;
	}
	if (!is_never_null(a) || vf_reg_const_value(b, jmp32) != 0)
		return -1;
	return op == BPF_JEQ ? 0 : op == BPF_JNE ? 1 : -1;
}

/* --- what an outcome says ----------------------------------------------------------------- */

#define SET_MAX(a, b)              \
	do {                       \
		if ((b) > (a))     \
			(a) = (b); \
	} while (0)

#define SET_MIN(a, b)              \
	do {                       \
		if ((b) < (a))     \
			(a) = (b); \
	} while (0)

static void refine_equal32(struct loupe_reg *a, struct loupe_reg *b)
{
	struct loupe_tnum t = tnum_intersect(tnum_subreg(a->var_off), tnum_subreg(b->var_off));

	SET_MAX(a->u32_min, b->u32_min);
	SET_MIN(a->u32_max, b->u32_max);
	SET_MAX(a->s32_min, b->s32_min);
	SET_MIN(a->s32_max, b->s32_max);
	b->u32_min = a->u32_min;
	b->u32_max = a->u32_max;
	b->s32_min = a->s32_min;
	b->s32_max = a->s32_max;
	a->var_off = tnum_with_subreg(a->var_off, t);
	b->var_off = tnum_with_subreg(b->var_off, t);
}

static void refine_equal64(struct loupe_reg *a, struct loupe_reg *b)
{
	SET_MAX(a->umin, b->umin);
	SET_MIN(a->umax, b->umax);
	SET_MAX(a->smin, b->smin);
	SET_MIN(a->smax, b->smax);
	b->umin = a->umin;
	b->umax = a->umax;
	b->smin = a->smin;
	b->smax = a->smax;
	a->var_off = tnum_intersect(a->var_off, b->var_off);
	b->var_off = a->var_off;
}

/* A value at an end of a range is not the number: the range is one shorter. */
static void refine_unequal(struct loupe_reg *reg, uint64_t value, bool jmp32)
{
	if (jmp32) {
		reg->u32_min += reg->u32_min == (uint32_t)value;
		reg->u32_max -= reg->u32_max == (uint32_t)value;
		reg->s32_min += reg->s32_min == (int32_t)value;
		reg->s32_max -= reg->s32_max == (int32_t)value;
	} else {
		reg->umin += reg->umin == value;
		reg->umax -= reg->umax == value;
		reg->smin += reg->smin == (int64_t)value;
		reg->smax -= reg->smax == (int64_t)value;
	}
}

static void refine_bits(struct loupe_reg *reg, uint64_t bits, bool jmp32, bool any_set)
{
	struct loupe_tnum t = jmp32 ? tnum_subreg(reg->var_off) : reg->var_off;

	if (any_set) {
		if (bits == 0 || (bits & (bits - 1)))
			return; /* which of them? */
		t = tnum_or(t, tnum_const(bits));
	} else {
		vf_reg_unbounded(reg);
		t = tnum_and(t, tnum_const(~bits));
	}
	reg->var_off = jmp32 ? tnum_with_subreg(reg->var_off, t) : t;
}

/* a < b, or a <= b. b is looked at before a changes it, as they may be the same. */
static void refine_less(struct loupe_reg *a, struct loupe_reg *b, bool is_signed, bool or_equal,
			bool jmp32)
{
	uint32_t one = or_equal ? 0 : 1;

	if (is_signed && jmp32) {
		SET_MIN(a->s32_max, (int32_t)((uint32_t)b->s32_max - one));
		SET_MAX(b->s32_min, (int32_t)((uint32_t)a->s32_min + one));
	} else if (is_signed) {
		SET_MIN(a->smax, (int64_t)((uint64_t)b->smax - one));
		SET_MAX(b->smin, (int64_t)((uint64_t)a->smin + one));
	} else if (jmp32) {
		SET_MIN(a->u32_max, b->u32_max - one);
		SET_MAX(b->u32_min, a->u32_min + one);
	} else {
		SET_MIN(a->umax, b->umax - one);
		SET_MAX(b->umin, a->umin + one);
	}
}

/* `a op b` holds. */
static void refine(struct loupe_reg *a, struct loupe_reg *b, uint8_t op, bool jmp32)
{
	switch (op) {
	case BPF_JEQ:
		jmp32 ? refine_equal32(a, b) : refine_equal64(a, b);
		return;
	case BPF_JNE:
	case BPF_JSET:
	case JSET_NOT:
		break;
	case BPF_JLT:
	case BPF_JSLT:
		refine_less(a, b, op == BPF_JSLT, false, jmp32);
		return;
	case BPF_JLE:
	case BPF_JSLE:
		refine_less(a, b, op == BPF_JSLE, true, jmp32);
		return;
	case BPF_JGT:
	case BPF_JSGT:
		refine_less(b, a, op == BPF_JSGT, false, jmp32);
		return;
	case BPF_JGE:
	case BPF_JSGE:
		refine_less(b, a, op == BPF_JSGE, true, jmp32);
		return;
	default:
		return;
	}

	/* The others say something only about a number beside a constant. */
	if (!vf_reg_is_const_of(b, jmp32)) {
		struct loupe_reg *tmp = a;

		a = b;
		b = tmp;
		if (!vf_reg_is_const_of(b, jmp32))
			return;
	}
	if (op == BPF_JNE)
		refine_unequal(a, vf_reg_const_value(b, jmp32), jmp32);
	else
		refine_bits(a, vf_reg_const_value(b, jmp32), jmp32, op == BPF_JSET);
}

int vf_branch_refine(struct vf_env *env, struct loupe_reg *true_a, struct loupe_reg *true_b,
		     struct loupe_reg *false_a, struct loupe_reg *false_b, uint8_t op, bool jmp32)
{
	int err;

	if (vf_is_pointer(false_a) || vf_is_pointer(false_b))
		return 0;

	refine(false_a, false_b, negated(op), jmp32);
	vf_bounds_sync(false_a);
	vf_bounds_sync(false_b);
	refine(true_a, true_b, op, jmp32);
	vf_bounds_sync(true_a);
	vf_bounds_sync(true_b);

	err = vf_bounds_sanity(env, true_a, "true_reg1");
	if (!err)
		err = vf_bounds_sanity(env, true_b, "true_reg2");
	if (!err)
		err = vf_bounds_sanity(env, false_a, "false_reg1");
	if (!err)
		err = vf_bounds_sanity(env, false_b, "false_reg2");
	return err;
}
