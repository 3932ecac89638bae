// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instruction a rejection comes from: of all that made the value that was not acceptable, the
 * one that a person would look at first. Messages choose a rule, states decide the rest.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "insn/opcodes.h"
#include "trace/store.h"

enum { MAX_LINKS = 10000, MAX_DECISIONS = 64 };

/* Nothing that is added to a pointer may be larger. */
#define VERY_LARGE (1u << 29)

/* What is asked of whom. */
enum rule {
	RULE_INSN,    /* the rejected instruction itself is what must change */
	RULE_MAKER,   /* what gave the register its value */
	RULE_PASSED,  /* the same; a copy of what always was of another type is the wrong
			 register */
	RULE_BOUND,   /* a number: what limited it last, or made it unlimited */
	RULE_ADDEND,  /* the same of the number that is added to a pointer here */
	RULE_MEMORY,  /* a pointer: what moved it last; else the size that goes with it */
	RULE_PACKET,  /* a packet pointer: where its bound was lost, or the check that gives none */
	RULE_NULL,    /* a pointer that may be NULL: the check that does not help, or its maker */
	RULE_WAY,     /* something is missing on this way: the branch that led to it last */
	RULE_LEAK,    /* a release is missing: the branch that led past it, or what lost the
			 reference */
	RULE_MAP,     /* a map's value: where the map comes from */
};

/* The first row whose words are in the message holds; reg: the register meant, -1: the one
 * named. */
static const struct {
	const char *words;
	enum rule rule;
	int reg;
} rules[] = {
	{ "pointer arithmetic", RULE_INSN, -1 },
	{ "Unreleased reference", RULE_LEAK, -1 },
	{ "reference leak", RULE_WAY, -1 },
	{ "bpf_spin_lock-ed region", RULE_WAY, -1 },
	{ "without taking a lock", RULE_WAY, -1 },
	{ "outside of the packet", RULE_PACKET, -1 },
	{ "_or_null", RULE_NULL, -1 },
	{ "map forbidden", RULE_MAP, -1 },
	{ "register with unbounded min value", RULE_ADDEND, -1 },
	{ "outside of the allowed memory range", RULE_MEMORY, -1 },
	{ "invalid write to stack", RULE_MEMORY, -1 },
	{ "invalid variable-offset", RULE_MEMORY, -1 },
	{ "invalid unbounded variable-offset", RULE_MEMORY, -1 },
	{ "misaligned stack access", RULE_MEMORY, -1 },
	{ "min value is negative", RULE_BOUND, -1 },
	{ "unbounded memory access", RULE_BOUND, -1 },
	{ "invalid zero-sized read", RULE_BOUND, -1 },
	{ "invalid mem access 'scalar'", RULE_MAKER, -1 },
	{ "type=", RULE_PASSED, -1 },
	{ "At program exit the register", RULE_BOUND, -1 },
	{ "At callback return the register", RULE_BOUND, -1 },
	{ "dereference of modified ctx", RULE_MEMORY, -1 },
	{ "negative offset ctx ptr", RULE_MEMORY, -1 },
	{ "variable ctx access", RULE_MEMORY, -1 },
	{ "cannot pass map_type", RULE_MAKER, BPF_REG_1 },
	{ "doesn't support non-zero flags", RULE_BOUND, BPF_REG_2 },
};

struct search {
	const struct loupe_trace *t;
	uint32_t step; /* the rejected one */
	const struct loupe_insn *insn;
	uint32_t frameno;
};

static struct loupe_loc reg_loc(uint32_t frameno, int reg)
{
	return (struct loupe_loc){ .kind = LOUPE_LOC_REG,
				   .frameno = (uint8_t)frameno,
				   .index = (uint8_t)reg };
}

static struct loupe_reg value_at(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc)
{
	struct loupe_value value = { 0 };

	loupe_trace_value(t, step, loc, &value);
	return value.reg;
}

int loupe_error_register(const char *message)
{
	for (const char *at = message; (at = strchr(at, 'R')) != NULL; at++) {
		char *end;
		long reg;

		if ((at != message && isalnum((unsigned char)at[-1])) ||
		    !isdigit((unsigned char)at[1]))
			continue;
		reg = strtol(at + 1, &end, 10);
		if (reg < LOUPE_MAX_REG && !isalnum((unsigned char)*end))
			return (int)reg;
	}
	return -1;
}

/* True if something made another kind of value of it: a release, a call that moves the packet. */
static bool turned(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
		   const struct loupe_blame *link)
{
	return link->origin == LOUPE_ORIGIN_OTHER && link->from_cnt &&
	       loupe_base_type(value_at(t, link->step, link->from[0]).type) !=
		       loupe_base_type(value_at(t, step, loc).type);
}

/* Moves back over what only carries the value; the link that made it. False: nothing precedes. */
static bool find_maker(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
		       struct loupe_blame *link)
{
	for (uint32_t i = 0; i < MAX_LINKS && !loupe_trace_blame(t, step, loc, link); i++) {
		if (link->step == LOUPE_NO_STEP)
			return false;
		if (turned(t, step, loc, link))
			return true;
		switch (link->origin) {
		case LOUPE_ORIGIN_COPY:
		case LOUPE_ORIGIN_FILL:
		case LOUPE_ORIGIN_SPILL:
		case LOUPE_ORIGIN_ARG:
		case LOUPE_ORIGIN_RETURN:
		case LOUPE_ORIGIN_OTHER:
		case LOUPE_ORIGIN_BRANCH:
			step = link->step;
			loc = link->from[0];
			continue;
		default:
			return true;
		}
	}
	return false;
}

/* What was passed: a copy of a value that always was of that type is a wrong choice of the
 * register. */
static uint32_t find_passed(const struct search *s, struct loupe_loc loc)
{
	uint32_t step = s->step, copy = LOUPE_NO_STEP;
	struct loupe_blame link;

	for (uint32_t i = 0; i < MAX_LINKS && !loupe_trace_blame(s->t, step, loc, &link); i++) {
		if (link.step == LOUPE_NO_STEP)
			break;
		if (turned(s->t, step, loc, &link))
			return link.step;
		if (link.origin == LOUPE_ORIGIN_COPY && copy == LOUPE_NO_STEP)
			copy = link.step;
		if (!link.from_cnt || link.origin == LOUPE_ORIGIN_ALU)
			return copy == LOUPE_NO_STEP ? link.step : copy;
		step = link.step;
		loc = link.from[0];
	}
	return copy == LOUPE_NO_STEP ? s->step : copy;
}

/* True if a number got a limit of the kind that it lacks. */
static bool limits(const struct loupe_reg *before, const struct loupe_reg *after, bool negative)
{
	/* what leaves it negative does not help */
	if (negative)
		return after->smin > before->smin && after->smin >= 0;
	return after->umax < before->umax || after->smax < before->smax;
}

/* True if an operation only passes on that its operand has no limit. */
static bool passes_on(const struct loupe_trace *t, const struct loupe_blame *link, bool negative)
{
	struct loupe_reg before = value_at(t, link->step, link->from[0]);
	bool keeps = true;

	switch (BPF_OP(t->insns[link->insn_idx].code)) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_LSH:
	case BPF_OR:
	case BPF_XOR:
		break;
	default:
		keeps = false;
	}
	return keeps && link->from_cnt == 1 && before.type == SCALAR_VALUE &&
	       (negative ? before.smin == INT64_MIN : before.umax >= VERY_LARGE);
}

/*
 * What limited a number last: a branch that did so, the constant that it is, the operation that
 * computed it; else what it was read from.
 */
static uint32_t find_bound(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc)
{
	bool negative = value_at(t, step, loc).smin < 0;
	uint32_t last = LOUPE_NO_STEP;
	struct loupe_blame link;

	for (uint32_t i = 0; i < MAX_LINKS && !loupe_trace_blame(t, step, loc, &link); i++) {
		struct loupe_reg before, after;

		if (link.step == LOUPE_NO_STEP)
			break;
		last = link.step;
		switch (link.origin) {
		case LOUPE_ORIGIN_BRANCH:
			after = value_at(t, step, loc);
			before = value_at(t, link.step, link.from[0]);
			if (limits(&before, &after, negative))
				return last;
			break;
		case LOUPE_ORIGIN_COPY:
		case LOUPE_ORIGIN_FILL:
		case LOUPE_ORIGIN_SPILL:
		case LOUPE_ORIGIN_ARG:
		case LOUPE_ORIGIN_RETURN:
		case LOUPE_ORIGIN_OTHER:
			break;
		case LOUPE_ORIGIN_ALU:
			if (passes_on(t, &link, negative))
				break;
			return last;
		default:
			return last;
		}
		step = link.step;
		loc = link.from[0];
	}
	return last;
}

/* Of two operands the one that is a number; false if neither or both are. */
static bool number_of(const struct loupe_trace *t, uint32_t step, const struct loupe_loc loc[2],
		      struct loupe_loc *number)
{
	bool first = value_at(t, step, loc[0]).type == SCALAR_VALUE;

	if (first == (value_at(t, step, loc[1]).type == SCALAR_VALUE))
		return false;
	*number = loc[first ? 0 : 1];
	return true;
}

/* What moved a pointer last: that operation, or what limited the number that it added. */
static uint32_t find_move(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc)
{
	struct loupe_blame link;
	struct loupe_loc number;
	uint32_t bound;

	if (!find_maker(t, step, loc, &link) || link.origin != LOUPE_ORIGIN_ALU)
		return LOUPE_NO_STEP;
	if (link.from_cnt < 2 || BPF_OP(t->insns[link.insn_idx].code) == BPF_SUB ||
	    !number_of(t, link.step, link.from, &number))
		return link.step;
	bound = find_bound(t, link.step, number);
	return bound == LOUPE_NO_STEP ? link.step : bound;
}

/* True if the sizes of what a helper is given are the map's. */
static bool sized_by_map(int32_t helper)
{
	switch (helper) {
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_update_elem:
	case BPF_FUNC_map_delete_elem:
	case BPF_FUNC_map_push_elem:
	case BPF_FUNC_map_pop_elem:
	case BPF_FUNC_map_peek_elem:
	case BPF_FUNC_map_lookup_percpu_elem:
		return true;
	default:
		return false;
	}
}

/* The size that a helper takes behind a pointer, as far as it is a number. */
static bool size_behind(const struct search *s, struct loupe_loc loc, struct loupe_loc *size)
{
	if (!insn_is_helper_call(s->insn) || loc.index < BPF_REG_1 || loc.index >= BPF_REG_5 ||
	    sized_by_map(s->insn->imm))
		return false;
	*size = reg_loc(s->frameno, loc.index + 1);
	return value_at(s->t, s->step, *size).type == SCALAR_VALUE;
}

/* Whether a pointer, as it was moved, is fine, so that what is taken from there is too much. */
static bool size_decides(const struct loupe_reg *reg, bool moved, uint64_t size)
{
	int64_t off = reg->off + (int64_t)reg->var_off.value;

	if (!moved)
		return true;
	if (loupe_base_type(reg->type) == PTR_TO_STACK)
		return !reg->var_off.mask && off >= -LOUPE_MAX_STACK;
	if (reg->var_off.mask)
		return reg->smin >= 0 && size > reg->umax + (uint64_t)reg->off;
	return off > 0;
}

static uint32_t find_memory(const struct search *s, struct loupe_loc loc)
{
	struct loupe_reg reg = value_at(s->t, s->step, loc);
	uint32_t move = find_move(s->t, s->step, loc), bound;
	struct loupe_loc size;

	if (size_behind(s, loc, &size) &&
	    size_decides(&reg, move != LOUPE_NO_STEP, value_at(s->t, s->step, size).umax)) {
		bound = find_bound(s->t, s->step, size);
		if (bound != LOUPE_NO_STEP)
			return bound;
	}
	return move == LOUPE_NO_STEP ? s->step : move;
}

/* ---- checks ------------------------------------------------------------------------------- */

static bool is_packet(uint32_t type)
{
	return loupe_base_type(type) == PTR_TO_PACKET ||
	       loupe_base_type(type) == PTR_TO_PACKET_META;
}

/* A comparison of a packet pointer with an end, on both sides of which pointers are. */
static bool checks_packet(const struct loupe_reg *dst, const struct loupe_reg *src, uint32_t id)
{
	(void)id;
	return (is_packet(dst->type) || is_packet(src->type)) && dst->type != SCALAR_VALUE &&
	       src->type != SCALAR_VALUE;
}

static bool checks_null(const struct loupe_reg *dst, const struct loupe_reg *src, uint32_t id)
{
	return ((dst->type & PTR_MAYBE_NULL) && dst->id == id) ||
	       ((src->type & PTR_MAYBE_NULL) && src->id == id);
}

/* The latest comparison on the way here that is about the value. */
static uint32_t find_check(const struct search *s,
			   bool (*is_about)(const struct loupe_reg *dst,
					    const struct loupe_reg *src, uint32_t id),
			   uint32_t id)
{
	struct loupe_decision decisions[MAX_DECISIONS];
	uint32_t cnt = loupe_trace_decisions(s->t, s->step, decisions, MAX_DECISIONS);

	for (uint32_t i = 0; i < cnt; i++) {
		const struct loupe_insn *insn = &s->t->insns[decisions[i].insn_idx];
		uint32_t step = decisions[i].step, frameno = trace_frame_of(s->t, step);
		struct loupe_reg dst = value_at(s->t, step, reg_loc(frameno, insn->dst_reg));
		struct loupe_reg src = { .type = SCALAR_VALUE };

		if (BPF_SRC(insn->code) == BPF_X)
			src = value_at(s->t, step, reg_loc(frameno, insn->src_reg));
		if (is_about(&dst, &src, id))
			return step;
	}
	return LOUPE_NO_STEP;
}

/* Bytes that the access of an insn reaches behind its base register; 0 if it is no access. */
static int64_t reach(const struct loupe_insn *insn)
{
	static const uint8_t sizes[] = { 4, 2, 1, 8 };
	uint8_t class = BPF_CLASS(insn->code);

	return class >= BPF_LDX && class <= BPF_STX ? insn->off + sizes[BPF_SIZE(insn->code) >> 3]
						    : 0;
}

/* An unsigned comparison limits a number on both sides, if what it is compared with is no large
 * one. */
static bool is_unsigned(const struct loupe_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_JGT:
	case BPF_JGE:
	case BPF_JLT:
	case BPF_JLE:
		return true;
	default:
		return false;
	}
}

/*
 * The comparison of a number that does not help: the latest unsigned one if it may be negative,
 * else the latest. Where what it is compared with is to blame, what made that.
 */
static uint32_t find_useless_check(const struct search *s, uint32_t id, bool negative)
{
	struct loupe_decision decisions[MAX_DECISIONS];
	uint32_t cnt = loupe_trace_decisions(s->t, s->step, decisions, MAX_DECISIONS);
	uint32_t latest = LOUPE_NO_STEP, limit;

	for (uint32_t i = 0; id && i < cnt; i++) {
		const struct loupe_insn *insn = &s->t->insns[decisions[i].insn_idx];
		uint32_t step = decisions[i].step, frameno = trace_frame_of(s->t, step);
		struct loupe_loc loc[2] = { reg_loc(frameno, insn->dst_reg),
					    reg_loc(frameno, insn->src_reg) };
		struct loupe_reg reg[2] = { value_at(s->t, step, loc[0]),
					    value_at(s->t, step, loc[1]) };
		bool both = BPF_SRC(insn->code) == BPF_X;
		int other = reg[0].id == id ? 1 : 0;

		if (reg[0].id != id && (!both || reg[1].id != id))
			continue;
		if (latest == LOUPE_NO_STEP)
			latest = step;
		if (!negative)
			break;
		if (!is_unsigned(insn))
			continue;
		if (!both || reg[other].var_off.mask || (int64_t)reg[other].var_off.value >= 0)
			return step;
		limit = find_bound(s->t, step, loc[other]);
		return limit == LOUPE_NO_STEP ? step : limit;
	}
	return latest;
}

/* What limited a number; if nothing did, the comparison of it that does not help. */
static uint32_t find_limit(const struct search *s, uint32_t step, struct loupe_loc loc)
{
	uint32_t bound = find_bound(s->t, step, loc), check = LOUPE_NO_STEP;
	struct loupe_reg reg = value_at(s->t, step, loc);
	const struct loupe_insn *insn;

	if (bound == LOUPE_NO_STEP)
		return bound;
	insn = &s->t->insns[trace_insn_of(s->t, bound)];
	if (BPF_CLASS(insn->code) == BPF_LDX || insn_is_helper_call(insn))
		check = find_useless_check(s, reg.id, reg.smin < 0);
	return check == LOUPE_NO_STEP || check < bound ? bound : check;
}

static uint32_t find_addend(const struct search *s)
{
	const struct loupe_loc loc[2] = { reg_loc(s->frameno, s->insn->dst_reg),
					  reg_loc(s->frameno, s->insn->src_reg) };
	struct loupe_loc number;

	if (BPF_SRC(s->insn->code) != BPF_X || !number_of(s->t, s->step, loc, &number))
		return s->step;
	return find_limit(s, s->step, number);
}

/* Packet bytes that are not known to exist, of those that an access needs; 0 if all are. */
static int64_t missing(const struct loupe_reg *reg, int64_t start, int64_t needed)
{
	int64_t end;

	if (reg->off + start + reg->smin < 0)
		return -(reg->off + start + reg->smin);
	if (reg->umax > UINT16_MAX)
		return INT32_MAX;
	end = (int64_t)reg->umax + reg->off + needed;
	return end > reg->range ? end - reg->range : 0;
}

/* The step after which the access would not have been accepted any more. */
static uint32_t find_loss(const struct loupe_trace *t, uint32_t step, struct loupe_loc loc,
			  int64_t start, int64_t needed)
{
	struct loupe_blame link;

	for (uint32_t i = 0; i < MAX_LINKS && !loupe_trace_blame(t, step, loc, &link); i++) {
		struct loupe_reg before, after = value_at(t, step, loc);

		if (link.step == LOUPE_NO_STEP || !link.from_cnt)
			break;
		before = value_at(t, link.step, link.from[0]);
		if (is_packet(before.type) && missing(&after, start, needed) &&
		    !missing(&before, start, needed))
			return link.step;
		step = link.step;
		loc = link.from[0];
	}
	return LOUPE_NO_STEP;
}

static uint32_t find_packet(const struct search *s, struct loupe_loc loc, bool *lost)
{
	struct loupe_reg reg = value_at(s->t, s->step, loc);
	int64_t needed = reach(s->insn), start = needed ? s->insn->off : 0;
	struct loupe_loc size;
	uint32_t step, check;

	if (!is_packet(reg.type))
		return s->step;
	if (!needed && size_behind(s, loc, &size))
		needed = (int64_t)value_at(s->t, s->step, size).umax;
	step = needed ? find_loss(s->t, s->step, loc, start, needed) : LOUPE_NO_STEP;
	if (step != LOUPE_NO_STEP) {
		*lost = true;
		return step;
	}
	if (reg.off + start + reg.smin < 0) {
		step = find_move(s->t, s->step, loc);
		return step == LOUPE_NO_STEP ? s->step : step;
	}
	check = find_check(s, checks_packet, reg.id);
	/* a check of less than is needed: one byte less is the wrong comparison, else the access
	 * goes too far */
	if (reg.range > 0 && (check == LOUPE_NO_STEP || !reach(s->insn) ||
			      missing(&reg, start, needed) != 1)) {
		step = size_behind(s, loc, &size) ? find_bound(s->t, s->step, size) : s->step;
		return step == LOUPE_NO_STEP ? s->step : step;
	}
	return check == LOUPE_NO_STEP ? s->step : check;
}

static uint32_t find_null(const struct search *s, struct loupe_loc loc)
{
	struct loupe_reg reg = value_at(s->t, s->step, loc);
	struct loupe_blame link;
	uint32_t step;

	if (!(reg.type & PTR_MAYBE_NULL))
		return s->step;
	step = find_check(s, checks_null, reg.id);
	if (step != LOUPE_NO_STEP)
		return step;
	return find_maker(s->t, s->step, loc, &link) ? link.step : s->step;
}

/* The latest condition on the way here, of those that could have been answered otherwise if any
 * could. */
static uint32_t find_way(const struct search *s)
{
	struct loupe_decision decisions[MAX_DECISIONS];
	uint32_t cnt = loupe_trace_decisions(s->t, s->step, decisions, MAX_DECISIONS);

	for (uint32_t i = 0; i < cnt; i++) {
		if (decisions[i].other != LOUPE_OTHER_IMPOSSIBLE)
			return decisions[i].step;
	}
	return cnt ? decisions[0].step : LOUPE_NO_STEP;
}

/* A comparison of the reference itself with NULL. */
static bool checks_reference(const struct search *s, const struct loupe_decision *decision,
			     uint32_t id)
{
	const struct loupe_insn *insn = &s->t->insns[decision->insn_idx];
	uint32_t frameno = trace_frame_of(s->t, decision->step);

	return BPF_SRC(insn->code) == BPF_K && insn->imm == 0 &&
	       value_at(s->t, decision->step, reg_loc(frameno, insn->dst_reg)).ref_obj_id == id;
}

/*
 * Where a reference was not released: the latest condition since it was acquired, other than
 * whether it is NULL; else the instruction after which nothing holds it any more.
 */
static uint32_t find_leak(const struct search *s, const struct loupe_leak *leak)
{
	struct loupe_decision decisions[MAX_DECISIONS];
	uint32_t cnt = loupe_trace_decisions(s->t, s->step, decisions, MAX_DECISIONS);

	for (uint32_t i = 0; i < cnt; i++) {
		if (leak->acquired != LOUPE_NO_STEP && decisions[i].step <= leak->acquired)
			break;
		if (decisions[i].other != LOUPE_OTHER_IMPOSSIBLE &&
		    !checks_reference(s, &decisions[i], leak->id))
			return decisions[i].step;
	}
	return leak->held;
}

/* The map of a value that was looked up: what gave the call its first argument. */
static uint32_t find_map(const struct search *s, struct loupe_loc loc)
{
	struct loupe_blame link;
	bool found = find_maker(s->t, s->step, loc, &link);

	if (found && link.origin == LOUPE_ORIGIN_CALL)
		found = find_maker(s->t, link.step,
				   reg_loc(trace_frame_of(s->t, link.step), BPF_REG_1), &link);
	return found ? link.step : s->step;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The register that an instruction is about when the message names none. */
static int usual_reg(const struct search *s, enum rule rule)
{
	uint8_t class = BPF_CLASS(s->insn->code);

	if (rule == RULE_MAP && insn_is_helper_call(s->insn)) {
		for (int reg = BPF_REG_1; reg <= BPF_REG_5; reg++) {
			if (loupe_base_type(
				    value_at(s->t, s->step, reg_loc(s->frameno, reg)).type) ==
			    PTR_TO_MAP_VALUE)
				return reg;
		}
	}
	if (class == BPF_LDX)
		return s->insn->src_reg;
	if (class == BPF_JMP && BPF_OP(s->insn->code) == BPF_CALL)
		return BPF_REG_1;
	if (class == BPF_JMP && BPF_OP(s->insn->code) == BPF_EXIT)
		return BPF_REG_0;
	return s->insn->dst_reg;
}

static uint32_t apply(const struct search *s, enum rule rule, struct loupe_loc loc, bool *lost)
{
	struct loupe_blame link;
	uint32_t step = s->step;

	switch (rule) {
	case RULE_INSN:
	case RULE_LEAK: /* is about more than a value */
		break;
	case RULE_MAKER:
		if (find_maker(s->t, s->step, loc, &link))
			step = link.step;
		break;
	case RULE_PASSED:
		step = find_passed(s, loc);
		break;
	case RULE_BOUND:
		/* a pointer's offset is limited by the number that was added; returned, it is the
		 * wrong value */
		if (value_at(s->t, s->step, loc).type == SCALAR_VALUE)
			step = find_limit(s, s->step, loc);
		else
			step = BPF_OP(s->insn->code) == BPF_EXIT ? find_passed(s, loc)
								 : find_memory(s, loc);
		break;
	case RULE_ADDEND:
		step = find_addend(s);
		break;
	case RULE_MEMORY:
		step = find_memory(s, loc);
		break;
	case RULE_PACKET:
		step = find_packet(s, loc, lost);
		break;
	case RULE_NULL:
		step = find_null(s, loc);
		break;
	case RULE_WAY:
		step = find_way(s);
		break;
	case RULE_MAP:
		step = find_map(s, loc);
		break;
	}
	return step == LOUPE_NO_STEP ? s->step : step;
}

int loupe_trace_fault(const struct loupe_trace *t, const char *message, struct loupe_fault *out)
{
	struct search s = { .t = t, .step = loupe_trace_error_step(t) };
	enum rule rule = RULE_INSN;
	int reg = loupe_error_register(message);
	struct loupe_leak leak;

	*out = (struct loupe_fault){ .step = LOUPE_NO_STEP, .insn_idx = -1 };
	if (s.step == LOUPE_NO_STEP)
		return -ENOENT;
	s.insn = &t->insns[trace_insn_of(t, s.step)];
	s.frameno = trace_frame_of(t, s.step);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!strstr(message, rules[i].words))
			continue;
		rule = rules[i].rule;
		reg = rules[i].reg >= 0 ? rules[i].reg : reg;
		break;
	}
	out->named = reg >= 0;
	out->at = s.step;
	out->loc = reg_loc(s.frameno, reg >= 0 ? reg : usual_reg(&s, rule));
	if (rule == RULE_LEAK && !loupe_trace_leak(t, message, &leak)) {
		out->step = find_leak(&s, &leak);
		if (leak.held != LOUPE_NO_STEP) {
			out->at = leak.held;
			out->loc = leak.loc;
		}
	} else if (rule != RULE_INSN && rule != RULE_WAY &&
		   value_at(t, s.step, out->loc).type == REG_NOT_LOGGED) {
		/* all that is known of the value is who gave it */
		out->step = loupe_trace_writer(t, s.step, out->loc);
	} else {
		out->step = apply(&s, rule, out->loc, &out->lost);
	}
	if (out->step == LOUPE_NO_STEP)
		out->step = s.step;
	out->insn_idx = (int32_t)trace_insn_of(t, out->step);
	return 0;
}
