// SPDX-License-Identifier: GPL-2.0-only
/* Following values back, and finding where a bound was lost. */
#include "blame.h"

#include "bpfloupe/insn.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loops can make chains as long as the path; what matters is near its end. */
enum { MAX_ROWS = 400, MAX_DEPTH = 3 };

void blame_finish(struct blame *blame)
{
	free(blame->rows);
	*blame = (struct blame){ 0 };
}

void blame_words(const struct loupe_blame *link, char *buf, size_t size)
{
	/* %s are the locations that it was made from */
	static const struct {
		const char *none, *one, *two;
	} words[] = {
		[LOUPE_ORIGIN_ENTRY] = { "held since the function began" },
		[LOUPE_ORIGIN_CONST] = { "a constant" },
		[LOUPE_ORIGIN_MAP] = { "address of a map, function or object" },
		[LOUPE_ORIGIN_CTX] = { "loaded from the context" },
		[LOUPE_ORIGIN_LOAD] = { "loaded from memory" },
		[LOUPE_ORIGIN_CALL] = { "given or cleared by the call" },
		[LOUPE_ORIGIN_COPY] = { "copied", "copy of %s" },
		[LOUPE_ORIGIN_FILL] = { "read from the stack", "read from %s" },
		[LOUPE_ORIGIN_SPILL] = { "stored", "stored from %s" },
		[LOUPE_ORIGIN_ALU] = { "computed", "computed from %s", "computed from %s and %s" },
		[LOUPE_ORIGIN_BRANCH] = { "narrowed by the branch", "narrowed by the branch" },
		[LOUPE_ORIGIN_ARG] = { "passed", "passed as %s" },
		[LOUPE_ORIGIN_RETURN] = { "returned", "returned in %s" },
		[LOUPE_ORIGIN_OTHER] = { "changed along with others", "changed along with others" },
	};
	char one[32] = "", two[32] = "";

	if (link->from_cnt > 0)
		words_loc(&link->from[0], false, one, sizeof(one));
	if (link->from_cnt > 1)
		words_loc(&link->from[1], false, two, sizeof(two));
	if (link->from_cnt > 1 && words[link->origin].two)
		snprintf(buf, size, "computed from %s and %s", one, two);
	else if (link->from_cnt && words[link->origin].one) {
		const char *text = words[link->origin].one, *at = strstr(text, "%s");

		if (at)
			snprintf(buf, size, "%.*s%s", (int)(at - text), text, one);
		else
			snprintf(buf, size, "%s", text);
	} else {
		snprintf(buf, size, "%s", words[link->origin].none);
	}
}

static struct blame_row *add_row(struct blame *blame)
{
	if (blame->cnt == blame->cap) {
		uint32_t cap = blame->cap ? blame->cap * 2 : 32;
		struct blame_row *rows = realloc(blame->rows, cap * sizeof(*rows));

		if (!rows)
			return NULL;
		blame->rows = rows;
		blame->cap = cap;
	}
	blame->rows[blame->cnt] = (struct blame_row){ 0 };
	return &blame->rows[blame->cnt++];
}

static int follow(struct blame *blame, const struct loupe_trace *trace, uint32_t step,
		  struct loupe_loc loc, uint32_t depth)
{
	for (;;) {
		struct loupe_blame link;
		struct blame_row *row;

		if (blame->cnt == MAX_ROWS) {
			blame->cut = true;
			return 0;
		}
		if (loupe_trace_blame(trace, step, loc, &link))
			return 0;
		row = add_row(blame);
		if (!row)
			return -ENOMEM;
		row->link = link;
		row->depth = depth;
		row->used = step;
		loupe_trace_value(trace, step, loc, &row->value);
		if (link.step == LOUPE_NO_STEP || !link.from_cnt)
			return 0;
		/* the second value's story first: it is what changed this one */
		if (link.from_cnt > 1 && depth + 1 < MAX_DEPTH &&
		    follow(blame, trace, link.step, link.from[1], depth + 1))
			return -ENOMEM;
		step = link.step;
		loc = link.from[0];
	}
}

/* ---- where a bound was lost --------------------------------------------------------------- */

/* Bytes that the access of an insn reaches behind its base register; 0 if it is no access. */
static int64_t reach(const struct loupe_insn *insn)
{
	static const uint8_t sizes[] = { 4, 2, 1, 8 };
	uint8_t class = insn->code & 7;

	return class >= 1 && class <= 3 ? insn->off + sizes[insn->code >> 3 & 3] : 0;
}

static bool is_packet(const struct loupe_reg *reg)
{
	return loupe_base_type(reg->type) == PTR_TO_PACKET ||
	       loupe_base_type(reg->type) == PTR_TO_PACKET_META;
}

static void where(const struct blame_row *row, char *buf, size_t size)
{
	if (row->link.step == LOUPE_NO_STEP)
		snprintf(buf, size, "the beginning of the function");
	else
		snprintf(buf, size, "insn %d (step %u)", row->link.insn_idx, row->link.step);
}

static void packet_answer(struct blame *blame, const struct loupe_trace *trace, const char *name,
			  const struct loupe_reg *reg, int64_t needed)
{
	const struct loupe_fault *fault = &blame->fault;
	struct loupe_value after;

	if (!fault->lost) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "The bound was never made: the access reaches to byte %" PRId64
			 " behind %s, of which %d are known to exist.",
			 reg->off + needed, name, reg->range);
		return;
	}
	if (loupe_trace_value(trace, fault->step + 1, blame->loc, &after))
		after.reg.range = 0;
	snprintf(blame->answer, sizeof(blame->answer),
		 "The bound was lost at insn %d (step %u): before it, this access would have been "
		 "accepted; afterwards %d bytes behind %s are known to exist.",
		 fault->insn_idx, fault->step, after.reg.range, name);
}

/* A pointer that a call made a number of: released, or into a packet that may have moved. */
static bool ended_answer(struct blame *blame, const struct loupe_trace *trace, const char *name)
{
	const struct loupe_blame *link = &blame->rows[0].link;
	struct loupe_value before;
	const struct loupe_reg *was = &before.reg;
	char call[96];

	if (link->step == LOUPE_NO_STEP || link->origin != LOUPE_ORIGIN_OTHER ||
	    loupe_trace_value(trace, link->step, link->from[0], &before) ||
	    was->type == SCALAR_VALUE || was->type == NOT_INIT ||
	    (!is_packet(was) && !was->ref_obj_id))
		return false;
	blame->enough = true;
	snprintf(call, sizeof(call), "insn %d (step %u)", link->insn_idx, link->step);
	if (is_packet(was))
		snprintf(
			blame->answer, sizeof(blame->answer),
			"%s pointed into the packet up to %s: that call may move the packet, which ends all "
			"pointers into it. Load data and data_end anew behind it, and compare again.",
			name, call);
	else
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s is no pointer any more since %s, which released what it pointed to.",
			 name, call);
	return true;
}

/* The link that made the value, behind those that only carry it. */
static const struct blame_row *maker(const struct blame *blame)
{
	const struct blame_row *made = &blame->rows[0];

	for (uint32_t i = 1; i < blame->cnt; i++) {
		if (!blame->rows[i].depth && blame->rows[i].link.step != LOUPE_NO_STEP)
			made = &blame->rows[i];
	}
	return made;
}

/* What is wrong with the value at a rejected step. */
static void value_answer(struct blame *blame, const struct loupe_trace *trace)
{
	int32_t insn = loupe_trace_step_insn(trace, blame->step);
	const struct loupe_reg *reg;
	int64_t needed;
	char name[32], at[64];

	words_loc(&blame->loc, false, name, sizeof(name));
	reg = &blame->rows[0].value.reg;
	where(&blame->rows[0], at, sizeof(at));
	needed = reach(&loupe_trace_insns(trace)[insn]);
	if (is_packet(reg) && needed) {
		packet_answer(blame, trace, name, reg, needed);
	} else if (ended_answer(blame, trace, name)) {
		return;
	} else if (reg->type & PTR_MAYBE_NULL) {
		where(maker(blame), at, sizeof(at));
		snprintf(
			blame->answer, sizeof(blame->answer),
			"%s may be NULL: it comes from %s, and no branch on the way here excludes that.",
			name, at);
	} else if (reg->type == NOT_INIT) {
		snprintf(blame->answer, sizeof(blame->answer),
			 blame->rows[0].link.step == LOUPE_NO_STEP ?
				 "%s holds nothing: nothing was written to it since %s." :
				 "%s holds nothing: it was cleared at %s.",
			 name, at);
	} else if (reg->type == SCALAR_VALUE && reg->var_off.mask == UINT64_MAX &&
		   reg->smin == INT64_MIN && reg->smax == INT64_MAX) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s can be any number, since %s.", name, at);
	} else if (reg->type == SCALAR_VALUE && reg->var_off.mask && reg->smin >= 0) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s is a number from %" PRIu64 " to %" PRIu64 ", last changed at %s.",
			 name, reg->umin, reg->umax, at);
	} else if (reg->type == SCALAR_VALUE && reg->var_off.mask) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s is a number from %" PRId64 " to %" PRId64 " (unsigned up to %" PRIu64
			 "), last changed at %s.",
			 name, reg->smin, reg->smax, reg->umax, at);
	} else if (reg->type == SCALAR_VALUE) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s is the number %" PRId64 ", since %s.", name,
			 (int64_t)reg->var_off.value, at);
	} else if (reg->var_off.mask) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "%s has an offset from %" PRId64 " to %" PRId64 ", last changed at %s.",
			 name, reg->off + reg->smin, reg->off + reg->smax, at);
	} else {
		snprintf(blame->answer, sizeof(blame->answer), "%s comes from %s.", name, at);
	}
}

/* Who holds a reference that was not released, or since when nobody does. */
static void leak_answer(struct blame *blame, const struct loupe_trace *trace,
			const struct loupe_leak *leak)
{
	char got[64], name[32];
	int len;

	if (leak->acquired == LOUPE_NO_STEP)
		snprintf(got, sizeof(got), "insn %d", leak->insn_idx);
	else
		snprintf(got, sizeof(got), "insn %d (step %u)", leak->insn_idx, leak->acquired);
	words_loc(&leak->loc, false, name, sizeof(name));
	len = snprintf(blame->answer, sizeof(blame->answer),
		       "The reference that %s acquired is not released here", got);
	if (leak->held == loupe_trace_error_step(trace))
		snprintf(blame->answer + len, sizeof(blame->answer) - (size_t)len, "; %s holds it.",
			 name);
	else if (leak->held != LOUPE_NO_STEP)
		snprintf(blame->answer + len, sizeof(blame->answer) - (size_t)len,
			 "; %s held it last, up to insn %d (step %u).", name,
			 loupe_trace_step_insn(trace, leak->held), leak->held);
	else
		snprintf(blame->answer + len, sizeof(blame->answer) - (size_t)len, ".");
}

/* The insn to look at made no value of the chain: it gets a row above it. */
static int add_aside(struct blame *blame, const struct loupe_trace *trace)
{
	struct loupe_decision decision;
	const char *what = "what decides about it";

	for (uint32_t i = 0; i < blame->cnt; i++) {
		if (blame->rows[i].named)
			return 0;
	}
	if (blame->fault.step == LOUPE_NO_STEP ||
	    blame->fault.step == loupe_trace_error_step(trace))
		return 0;
	if (!add_row(blame))
		return -ENOMEM;
	if (blame->fault.step == blame->step)
		what = "nothing holds it afterwards";
	else if (loupe_trace_decisions(trace, blame->fault.step + 1, &decision, 1) &&
		 decision.step == blame->fault.step)
		what = "a condition on the way here";
	memmove(blame->rows + 1, blame->rows, (blame->cnt - 1) * sizeof(*blame->rows));
	blame->rows[0] = (struct blame_row){
		.link = { .loc = blame->loc,
			  .step = blame->fault.step,
			  .insn_idx = blame->fault.insn_idx },
		.used = blame->step,
		.named = true,
		.aside = what,
	};
	return 0;
}

/* Which program types have a helper that this one has not. */
static void helper_answer(struct blame *blame, const struct loupe_trace *trace, int32_t insn)
{
	uint32_t own = loupe_trace_image(trace)->prog_type;
	uint64_t types = loupe_helper_types(loupe_trace_insns(trace)[insn].imm);
	size_t len;

	if (!types)
		return;
	if (own < 64 && types >> own & 1) {
		snprintf(blame->answer, sizeof(blame->answer),
			 "Of this program type only other attach types have the helper.");
		return;
	}
	len = (size_t)snprintf(blame->answer, sizeof(blame->answer), "Types that have the helper:");
	for (uint32_t type = 0; type < 64; type++) {
		const char *name = types >> type & 1 ? loupe_prog_type_name(type) : NULL;

		if (name && len < sizeof(blame->answer) - 64)
			len += (size_t)snprintf(blame->answer + len, sizeof(blame->answer) - len,
						"%s %s", blame->answer[len - 1] == ':' ? "" : ",",
						name);
	}
	snprintf(blame->answer + len, sizeof(blame->answer) - len, ".");
}

static bool same_loc(const struct loupe_loc *a, const struct loupe_loc *b)
{
	return a->kind == b->kind && a->frameno == b->frameno && a->index == b->index;
}

/* The answer at a rejected step: the value, then the insn to look at. */
static void make_answer(struct blame *blame, const struct subject *subject)
{
	const struct loupe_trace *trace = subject->trace;
	struct loupe_insn_print_opts opts = { .symbol = loupe_insn_symbol, .no_code = true };
	struct loupe_fault *fault = &blame->fault;
	struct loupe_leak leak;
	char text[96];
	size_t len;

	if (!blame->cnt || loupe_trace_fault(trace, subject->error, fault))
		return;
	blame->of_error = (blame->step == loupe_trace_error_step(trace) &&
			   blame->loc.kind == LOUPE_LOC_REG) ||
			  (blame->step == fault->at && same_loc(&blame->loc, &fault->loc));
	if (!blame->of_error) {
		fault->step = LOUPE_NO_STEP;
		return;
	}
	for (uint32_t i = 0; i < blame->cnt; i++)
		blame->rows[i].named = blame->rows[i].link.step == fault->step;
	if (!loupe_trace_leak(trace, subject->error, &leak))
		leak_answer(blame, trace, &leak);
	else if (strstr(subject->error, "cannot use helper") && fault->step == blame->step)
		helper_answer(blame, trace, fault->insn_idx);
	else if (fault->named)
		value_answer(blame, trace);
	/* what libbpf put something else in place of in a log */
	if (!loupe_trace_insns(trace)[fault->insn_idx].code)
		return;
	if (fault->lost || blame->enough ||
	    (*blame->answer && fault->step == blame->step && !fault->named))
		return;
	opts.ctx = (void *)(uintptr_t)loupe_trace_image(trace);
	loupe_insn_print(text, sizeof(text), &loupe_trace_insns(trace)[fault->insn_idx], &opts);
	len = strlen(blame->answer);
	if (fault->step == blame->step)
		snprintf(blame->answer + len, sizeof(blame->answer) - len,
			 "%sWhat must change is this insn: %d: %s", len ? " " : "", fault->insn_idx,
			 text);
	else
		snprintf(blame->answer + len, sizeof(blame->answer) - len,
			 "%sLook first at insn %d (step %u): %s", len ? " " : "", fault->insn_idx,
			 fault->step, text);
}

int blame_make(struct blame *blame, const struct subject *subject, uint32_t step,
	       struct loupe_loc loc)
{
	int rc;

	blame_finish(blame);
	blame->step = step;
	blame->loc = loc;
	blame->fault = (struct loupe_fault){ .step = LOUPE_NO_STEP, .insn_idx = -1 };
	rc = follow(blame, subject->trace, step, loc, 0);
	if (!rc) {
		make_answer(blame, subject);
		rc = add_aside(blame, subject->trace);
	}
	if (rc)
		blame_finish(blame);
	return rc;
}
