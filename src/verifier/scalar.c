// SPDX-License-Identifier: GPL-2.0-only
/* Arithmetic on two scalars: known bits and ranges of the result. */
#include "verifier/range.h"

/* The two ranges of a register or of its low half, computed with enough bits never to overflow. */
struct span {
	__int128 smin, smax, umin, umax;
};

struct limits {
	int64_t smin, smax;
	uint64_t umax;
};

static const struct limits limits64 = { INT64_MIN, INT64_MAX, UINT64_MAX };
static const struct limits limits32 = { INT32_MIN, INT32_MAX, UINT32_MAX };

static struct span span64(const struct loupe_reg *reg)
{
	return (struct span){ reg->smin, reg->smax, reg->umin, reg->umax };
}

static struct span span32(const struct loupe_reg *reg)
{
	return (struct span){ reg->s32_min, reg->s32_max, reg->u32_min, reg->u32_max };
}

static void set_span64(struct loupe_reg *reg, struct span s)
{
	reg->smin = (int64_t)s.smin;
	reg->smax = (int64_t)s.smax;
	reg->umin = (uint64_t)s.umin;
	reg->umax = (uint64_t)s.umax;
}

static void set_span32(struct loupe_reg *reg, struct span s)
{
	reg->s32_min = (int32_t)s.smin;
	reg->s32_max = (int32_t)s.smax;
	reg->u32_min = (uint32_t)s.umin;
	reg->u32_max = (uint32_t)s.umax;
}

static bool fits_signed(__int128 value, const struct limits *lim)
{
	return value >= lim->smin && value <= lim->smax;
}

static bool fits_unsigned(__int128 value, const struct limits *lim)
{
	return value >= 0 && value <= (__int128)lim->umax;
}

static void forget_signed(struct span *s, const struct limits *lim)
{
	s->smin = lim->smin;
	s->smax = lim->smax;
}

static void forget_unsigned(struct span *s, const struct limits *lim)
{
	s->umin = 0;
	s->umax = lim->umax;
}

/*
 * Brings the sum or difference back to its width. Unsigned bounds that both wrap still bound the
 * result.
 */
static struct span wrapped(struct span s, const struct limits *lim)
{
	if (!fits_signed(s.smin, lim) || !fits_signed(s.smax, lim))
		forget_signed(&s, lim);
	if (fits_unsigned(s.umin, lim) != fits_unsigned(s.umax, lim))
		forget_unsigned(&s, lim);
	return s;
}

static struct span span_add(struct span a, struct span b, const struct limits *lim)
{
	return wrapped(
		(struct span){ a.smin + b.smin, a.smax + b.smax, a.umin + b.umin, a.umax + b.umax },
		lim);
}

static struct span span_sub(struct span a, struct span b, const struct limits *lim)
{
	return wrapped(
		(struct span){ a.smin - b.smax, a.smax - b.smin, a.umin - b.umax, a.umax - b.umin },
		lim);
}

static struct span span_mul(struct span a, struct span b, const struct limits *lim)
{
	const __int128 products[] = { a.smin * b.smin, a.smin * b.smax, a.smax * b.smin,
				      a.smax * b.smax };
	unsigned __int128 umin = (unsigned __int128)a.umin * (unsigned __int128)b.umin;
	unsigned __int128 umax = (unsigned __int128)a.umax * (unsigned __int128)b.umax;
	struct span s = { .smin = products[0], .smax = products[0] };

	if (umin > lim->umax || umax > lim->umax) {
		forget_unsigned(&s, lim);
	} else {
		s.umin = (__int128)umin;
		s.umax = (__int128)umax;
	}
	for (int i = 0; i < 4; i++) {
		if (!fits_signed(products[i], lim)) {
			forget_signed(&s, lim);
			break;
		}
		if (products[i] < s.smin)
			s.smin = products[i];
		if (products[i] > s.smax)
			s.smax = products[i];
	}
	return s;
}

/* Signed bounds are the unsigned ones, if these do not cross the sign boundary. */
static void signed_from_unsigned(struct span *s, const struct limits *lim)
{
	bool min_negative = s->umin > lim->smax, max_negative = s->umax > lim->smax;

	forget_signed(s, lim);
	if (min_negative == max_negative ? s->umin <= s->umax : min_negative) {
		s->smin = min_negative ? s->umin - (__int128)lim->umax - 1 : s->umin;
		s->smax = max_negative ? s->umax - (__int128)lim->umax - 1 : s->umax;
	}
}

/* Ranges of a bitwise operation, given its known bits: a is the destination's range before. */
static struct span span_bitwise(uint8_t op, struct span a, struct span b, struct loupe_tnum t,
				const struct limits *lim)
{
	struct span s = { .umin = t.value, .umax = t.value | t.mask };

	if (op == BPF_AND)
		s.umax = a.umax < b.umax ? a.umax : b.umax;
	else if (op == BPF_OR)
		s.umin = a.umin > b.umin ? a.umin : b.umin;
	signed_from_unsigned(&s, lim);
	return s;
}

static void alu_bitwise(uint8_t op, struct loupe_reg *dst, const struct loupe_reg *src)
{
	static struct loupe_tnum (*const fns[16])(struct loupe_tnum, struct loupe_tnum) = {
		[BPF_AND >> 4] = tnum_and,
		[BPF_OR >> 4] = tnum_or,
		[BPF_XOR >> 4] = tnum_xor,
	};
	struct loupe_tnum t = fns[op >> 4](dst->var_off, src->var_off);

	dst->var_off = t;
	if (tnum_subreg_is_const(t) && tnum_subreg_is_const(src->var_off))
		vf_reg32_known(dst, (uint32_t)t.value);
	else
		set_span32(dst,
			   span_bitwise(op, span32(dst), span32(src), tnum_subreg(t), &limits32));

	if (tnum_is_const(t) && tnum_is_const(src->var_off)) {
		vf_reg_known(dst, t.value);
		return;
	}
	set_span64(dst, span_bitwise(op, span64(dst), span64(src), t, &limits64));
	vf_bounds_from_tnum(dst);
}

/* Low half of dst <<= shift, when the bits that the high half takes over do not matter. */
static void shift_left_ranges32(struct loupe_reg *dst, uint32_t shift)
{
	dst->s32_min = INT32_MIN;
	dst->s32_max = INT32_MAX;
	if (shift > 31 || dst->u32_max > 1ull << (31 - shift)) {
		dst->u32_min = 0;
		dst->u32_max = UINT32_MAX;
	} else {
		dst->u32_min <<= shift;
		dst->u32_max <<= shift;
	}
}

static void shift_left32(struct loupe_reg *dst, uint32_t shift)
{
	struct loupe_tnum subreg = tnum_subreg(dst->var_off);

	shift_left_ranges32(dst, shift);
	dst->var_off = tnum_subreg(tnum_lshift(subreg, shift));
	vf_reg_unbounded64(dst);
	vf_bounds_from_tnum32(dst);
}

static void shift_left64(struct loupe_reg *dst, uint32_t shift)
{
	/* Half of a sign extension: the low half's signed range moves up. */
	dst->smin = shift == 32 ? (int64_t)((uint64_t)dst->s32_min << 32) : INT64_MIN;
	dst->smax = shift == 32 ? (int64_t)((uint64_t)dst->s32_max << 32) : INT64_MAX;
	if (dst->umax > 1ull << (63 - shift)) {
		dst->umin = 0;
		dst->umax = UINT64_MAX;
	} else {
		dst->umin <<= shift;
		dst->umax <<= shift;
	}
	shift_left_ranges32(dst, shift);
	dst->var_off = tnum_lshift(dst->var_off, shift);
	vf_bounds_from_tnum(dst);
}

static void shift_right32(struct loupe_reg *dst, uint32_t shift)
{
	dst->s32_min = INT32_MIN;
	dst->s32_max = INT32_MAX;
	dst->var_off = tnum_rshift(tnum_subreg(dst->var_off), shift);
	dst->u32_min >>= shift;
	dst->u32_max >>= shift;
	vf_reg_unbounded64(dst);
	vf_bounds_from_tnum32(dst);
}

static void shift_right64(struct loupe_reg *dst, uint32_t shift)
{
	dst->smin = INT64_MIN;
	dst->smax = INT64_MAX;
	dst->var_off = tnum_rshift(dst->var_off, shift);
	dst->umin >>= shift;
	dst->umax >>= shift;
	vf_reg_unbounded32(dst);
	vf_bounds_from_tnum(dst);
}

static void shift_arithmetic32(struct loupe_reg *dst, uint32_t shift)
{
	dst->s32_min >>= shift;
	dst->s32_max >>= shift;
	dst->var_off = tnum_arshift(tnum_subreg(dst->var_off), shift, 32);
	dst->u32_min = 0;
	dst->u32_max = UINT32_MAX;
	vf_reg_unbounded64(dst);
	vf_bounds_from_tnum32(dst);
}

static void shift_arithmetic64(struct loupe_reg *dst, uint32_t shift)
{
	dst->smin >>= shift;
	dst->smax >>= shift;
	dst->var_off = tnum_arshift(dst->var_off, shift, 64);
	dst->umin = 0;
	dst->umax = UINT64_MAX;
	vf_reg_unbounded32(dst);
	vf_bounds_from_tnum(dst);
}

static void alu_shift(uint8_t op, bool alu32, struct loupe_reg *dst, uint32_t shift)
{
	switch (op) {
	case BPF_LSH:
		alu32 ? shift_left32(dst, shift) : shift_left64(dst, shift);
		break;
	case BPF_RSH:
		alu32 ? shift_right32(dst, shift) : shift_right64(dst, shift);
		break;
	default:
		alu32 ? shift_arithmetic32(dst, shift) : shift_arithmetic64(dst, shift);
		break;
	}
}

static uint64_t swap_bytes(uint64_t value, int bits)
{
	return __builtin_bswap64(value) >> (64 - bits);
}

static void alu_end(const struct loupe_insn *insn, struct loupe_reg *dst)
{
	/* The modelled machine is little-endian: "to little-endian" only truncates. */
	bool swaps = BPF_CLASS(insn->code) == BPF_ALU64 || BPF_SRC(insn->code) == BPF_TO_BE;

	if (!swaps && insn->imm == 64)
		return;
	vf_clear_scalar_id(dst);
	if (swaps) {
		dst->var_off.value = swap_bytes(dst->var_off.value, insn->imm);
		dst->var_off.mask = swap_bytes(dst->var_off.mask, insn->imm);
		vf_reg_unbounded(dst);
	}
	if (insn->imm < 64)
		vf_coerce_size(dst, insn->imm / 8);
}

static void alu_neg(struct loupe_reg *dst)
{
	struct loupe_reg old = *dst;

	vf_reg_known(dst, 0);
	set_span32(dst, span_sub(span32(dst), span32(&old), &limits32));
	set_span64(dst, span_sub(span64(dst), span64(&old), &limits64));
	dst->var_off = tnum_neg(old.var_off);
}

static bool is_shift(uint8_t op)
{
	return op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
}

/* Whether anything is known of the result but that it is a number. */
static bool is_computable(uint8_t op, bool alu32, const struct loupe_reg *src)
{
	switch (op) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_NEG:
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
	case BPF_END:
		return true;
	default:
		break;
	}
	if (!is_shift(op))
		return false;
	if (alu32)
		return tnum_subreg_is_const(src->var_off) && src->s32_min == src->s32_max &&
		       src->u32_min == src->u32_max && src->umax < 32;
	return tnum_is_const(src->var_off) && src->smin == src->smax && src->umin == src->umax &&
	       src->umax < 64;
}

/*
 * A mask of all ones or all zeroes, as an arithmetic shift makes it, is about to select a constant:
 * each of the two values is followed on its own. Kernel: "bpf: Recognize special arithmetic shift
 * in the verifier".
 */
static int fork_mask(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst)
{
	bool is64 = dst->smin == -1 && dst->smax == 0;
	struct loupe_state *other;
	struct loupe_reg *zero;
	int err;

	if (!is64 && (dst->s32_min != -1 || dst->s32_max != 0))
		return 0;
	other = vf_push_branch(env, env->insn_idx, env->insn_idx, false, &err);
	if (!other && err != -EFAULT)
		return err;
	if (!other) {
		/* see quirks: 6.18 goes on with a state that it does not have */
		env->result->kernel_crashes = true;
		return vf_not_judged(env,
				     "insn %d: the kernel crashes with this many branches pending",
				     env->insn_idx);
	}
	zero = &other->frame[other->curframe]->regs[insn->dst_reg];
	if (is64) {
		vf_reg_known(zero, 0);
		vf_reg_known(dst, UINT64_MAX);
	} else {
		vf_reg32_known(zero, 0);
		vf_reg32_known(dst, UINT32_MAX);
	}
	return 0;
}

void vf_reg_add(struct loupe_reg *dst, const struct loupe_reg *src)
{
	set_span32(dst, span_add(span32(dst), span32(src), &limits32));
	set_span64(dst, span_add(span64(dst), span64(src), &limits64));
	dst->var_off = tnum_add(dst->var_off, src->var_off);
}

static void reg_sub(struct loupe_reg *dst, const struct loupe_reg *src)
{
	set_span32(dst, span_sub(span32(dst), span32(src), &limits32));
	set_span64(dst, span_sub(span64(dst), span64(src), &limits64));
	dst->var_off = tnum_sub(dst->var_off, src->var_off);
}

static void reg_mul(struct loupe_reg *dst, const struct loupe_reg *src)
{
	dst->var_off = tnum_mul(dst->var_off, src->var_off);
	set_span32(dst, span_mul(span32(dst), span32(src), &limits32));
	set_span64(dst, span_mul(span64(dst), span64(src), &limits64));
}

int vf_alu_scalar(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
		  const struct loupe_reg *src)
{
	uint8_t op = BPF_OP(insn->code);
	bool alu32 = BPF_CLASS(insn->code) != BPF_ALU64;
	int err;

	if (!is_computable(op, alu32, src)) {
		vf_reg_unknown(env, dst);
		return 0;
	}
	if (op == BPF_ADD || op == BPF_SUB) {
		err = vf_sanitize_scalar(env, insn);
		if (err)
			return err;
	}

	switch (op) {
	case BPF_ADD:
		vf_reg_add(dst, src);
		break;
	case BPF_SUB:
		reg_sub(dst, src);
		break;
	case BPF_MUL:
		reg_mul(dst, src);
		break;
	case BPF_NEG:
		alu_neg(dst);
		break;
	case BPF_END:
		alu_end(insn, dst);
		break;
	case BPF_AND:
	case BPF_OR:
		if (tnum_is_const(src->var_off)) {
			err = fork_mask(env, insn, dst);
			if (err)
				return err;
		}
		alu_bitwise(op, dst, src);
		break;
	case BPF_XOR:
		alu_bitwise(op, dst, src);
		break;
	default:
		alu_shift(op, alu32, dst, alu32 ? src->u32_min : (uint32_t)src->umin);
		break;
	}

	if (alu32 && op != BPF_END)
		vf_zext_32(dst);
	vf_bounds_sync(dst);
	return 0;
}
