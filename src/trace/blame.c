// SPDX-License-Identifier: GPL-2.0-only
/* Where values come from: the last writer of a location, and the chain of writers behind it. */
#include <errno.h>

#include "insn/opcodes.h"
#include "trace/store.h"

static struct loupe_loc reg_loc(uint32_t frameno, uint32_t regno)
{
	return (struct loupe_loc){ .kind = LOUPE_LOC_REG,
				   .frameno = (uint8_t)frameno,
				   .index = (uint8_t)regno };
}

/* The step that made the change that is recorded at its successor; NO_STEP at a function's start.
 */
static uint32_t change_writer(const struct loupe_trace *t, uint32_t change)
{
	uint32_t step = trace_change_step(t, change);

	if (t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PATH_START &&
	    t->paths.at[loupe_trace_path_of(t, step)].fresh)
		return LOUPE_NO_STEP;
	return trace_pred(t, step);
}

uint32_t loupe_trace_writer(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc)
{
	int flat = trace_loc(loc);
	uint32_t change;

	if (flat < 0 || step >= t->step_cnt || loc.frameno > trace_frame_of(t, step))
		return LOUPE_NO_STEP;
	change = trace_find_change(t, step, (uint32_t)flat);
	return change == TRACE_NONE ? LOUPE_NO_STEP : change_writer(t, change);
}

static void from(struct loupe_blame *b, enum loupe_origin origin, struct loupe_loc loc)
{
	b->origin = origin;
	b->from[b->from_cnt++] = loc;
}

static bool is_reg(const struct loupe_blame *b, uint32_t frameno, uint32_t regno)
{
	return b->loc.kind == LOUPE_LOC_REG && b->loc.frameno == frameno && b->loc.index == regno;
}

/* The slot that base + off points at, if base is a constant stack pointer. */
static bool stack_slot(const struct loupe_reg *base, int off, struct loupe_loc *loc)
{
	int64_t at = (int64_t)base->var_off.value + base->off + off;

	if (loupe_base_type(base->type) != PTR_TO_STACK || base->var_off.mask ||
	    at < -LOUPE_MAX_STACK || at >= 0)
		return false;
	*loc = (struct loupe_loc){ .kind = LOUPE_LOC_SLOT,
				   .frameno = (uint8_t)base->frameno,
				   .index = (uint8_t)((-at - 1) / LOUPE_REG_SIZE) };
	return true;
}

/* What a load through regno + off reads. */
static void loaded(const struct loupe_trace *t, struct loupe_blame *b, uint32_t frameno,
		   uint32_t regno, int off)
{
	struct loupe_value base;
	struct loupe_loc slot;

	loupe_trace_value(t, b->step, reg_loc(frameno, regno), &base);
	if (stack_slot(&base.reg, off, &slot))
		from(b, LOUPE_ORIGIN_FILL, slot);
	else if (loupe_base_type(base.reg.type) == PTR_TO_CTX)
		b->origin = LOUPE_ORIGIN_CTX;
	else
		b->origin = LOUPE_ORIGIN_LOAD;
}

static void blame_alu(struct loupe_blame *b, const struct loupe_insn *insn, uint32_t frameno)
{
	bool x = BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_NEG &&
		 BPF_OP(insn->code) != BPF_END;

	if (BPF_OP(insn->code) == BPF_MOV) {
		if (x)
			from(b, LOUPE_ORIGIN_COPY, reg_loc(frameno, insn->src_reg));
		else
			b->origin = LOUPE_ORIGIN_CONST;
		return;
	}
	from(b, LOUPE_ORIGIN_ALU, reg_loc(frameno, insn->dst_reg));
	if (x && insn->src_reg != insn->dst_reg)
		from(b, LOUPE_ORIGIN_ALU, reg_loc(frameno, insn->src_reg));
}

static void blame_store(const struct loupe_trace *t, struct loupe_blame *b,
			const struct loupe_insn *insn, uint32_t frameno)
{
	bool atomic = BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC;

	if (b->loc.kind == LOUPE_LOC_SLOT) {
		if (BPF_CLASS(insn->code) == BPF_ST) {
			b->origin = LOUPE_ORIGIN_CONST;
		} else if (!atomic || insn->imm == BPF_STORE_REL || insn->imm == BPF_XCHG) {
			from(b, LOUPE_ORIGIN_SPILL, reg_loc(frameno, insn->src_reg));
		} else {
			from(b, LOUPE_ORIGIN_ALU, b->loc);
			from(b, LOUPE_ORIGIN_ALU, reg_loc(frameno, insn->src_reg));
		}
		return;
	}
	if (!atomic) {
		from(b, LOUPE_ORIGIN_OTHER, b->loc);
		return;
	}
	if (insn->imm == BPF_LOAD_ACQ)
		loaded(t, b, frameno, insn->src_reg, insn->off);
	else
		loaded(t, b, frameno, insn->dst_reg, insn->off);
}

static void blame_call(struct loupe_blame *b, const struct loupe_insn *insn, uint32_t frameno)
{
	if (b->loc.frameno > frameno) {
		if (insn_is_pseudo_call(insn) && b->loc.kind == LOUPE_LOC_REG &&
		    b->loc.index >= BPF_REG_1 && b->loc.index <= BPF_REG_5)
			from(b, LOUPE_ORIGIN_ARG, reg_loc(frameno, b->loc.index));
		else
			b->origin = LOUPE_ORIGIN_CALL;
		return;
	}
	if (b->loc.kind == LOUPE_LOC_SLOT ||
	    (b->loc.frameno == frameno && b->loc.index <= BPF_REG_5))
		b->origin = LOUPE_ORIGIN_CALL;
	else
		from(b, LOUPE_ORIGIN_OTHER, b->loc);
}

static void blame_jump(struct loupe_blame *b, const struct loupe_insn *insn, uint32_t frameno)
{
	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		blame_call(b, insn, frameno);
		break;
	case BPF_EXIT:
		if (b->loc.kind == LOUPE_LOC_REG && b->loc.frameno + 1u == frameno &&
		    b->loc.index == BPF_REG_0)
			from(b, LOUPE_ORIGIN_RETURN, reg_loc(frameno, BPF_REG_0));
		else
			from(b, LOUPE_ORIGIN_OTHER, b->loc);
		break;
	case BPF_JCOND:
	case BPF_JA:
		from(b, LOUPE_ORIGIN_OTHER, b->loc);
		break;
	default:
		from(b, LOUPE_ORIGIN_BRANCH, b->loc);
	}
}

int loupe_trace_blame(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
		      struct loupe_blame *out)
{
	int flat = trace_loc(loc);
	const struct loupe_insn *insn;
	uint32_t frameno;

	memset(out, 0, sizeof(*out));
	if (flat < 0 || step >= t->step_cnt)
		return -EINVAL;
	if (loc.frameno > trace_frame_of(t, step))
		return -ENOENT;
	out->loc = loc;
	out->step = loupe_trace_writer(t, step, loc);
	out->insn_idx = -1;
	if (out->step == LOUPE_NO_STEP)
		return 0;
	out->insn_idx = (int32_t)trace_insn_of(t, out->step);
	insn = &t->insns[out->insn_idx];
	frameno = trace_frame_of(t, out->step);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		if (is_reg(out, frameno, insn->dst_reg))
			blame_alu(out, insn, frameno);
		else
			from(out, LOUPE_ORIGIN_OTHER, loc);
		break;
	case BPF_LD:
		if (BPF_MODE(insn->code) == BPF_IMM)
			out->origin = insn->src_reg ? LOUPE_ORIGIN_MAP : LOUPE_ORIGIN_CONST;
		else
			out->origin = is_reg(out, frameno, BPF_REG_0) ? LOUPE_ORIGIN_LOAD
								      : LOUPE_ORIGIN_CALL;
		break;
	case BPF_LDX:
		if (is_reg(out, frameno, insn->dst_reg))
			loaded(t, out, frameno, insn->src_reg, insn->off);
		else
			from(out, LOUPE_ORIGIN_OTHER, loc);
		break;
	case BPF_ST:
	case BPF_STX:
		blame_store(t, out, insn, frameno);
		break;
	default:
		blame_jump(out, insn, frameno);
	}
	return 0;
}

uint32_t loupe_trace_blame_chain(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
				 struct loupe_blame *out, uint32_t cap)
{
	uint32_t cnt = 0;

	while (cnt < cap && !loupe_trace_blame(t, step, loc, &out[cnt])) {
		const struct loupe_blame *b = &out[cnt++];

		if (b->step == LOUPE_NO_STEP || !b->from_cnt)
			break;
		step = b->step;
		loc = b->from[0];
	}
	return cnt;
}
