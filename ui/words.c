// SPDX-License-Identifier: GPL-2.0-only
/* Sentences about comparisons and values. */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void words_loc(const struct loupe_loc *loc, bool name_frame, char *buf, size_t size)
{
	char frame[24] = "";

	if (name_frame || loc->frameno)
		snprintf(frame, sizeof(frame), "frame %u ", loc->frameno);
	if (loc->kind == LOUPE_LOC_REG)
		snprintf(buf, size, "%sR%u", frame, loc->index);
	else
		snprintf(buf, size, "%sfp-%u", frame, (loc->index + 1u) * LOUPE_REG_SIZE);
}

static char slot_letter(uint8_t type)
{
	static const char letters[] = {
		[STACK_INVALID] = '?', [STACK_SPILL] = 'r', [STACK_MISC] = 'm', [STACK_ZERO] = '0',
		[STACK_DYNPTR] = 'd',  [STACK_ITER] = 'i',  [STACK_IRQ_FLAG] = 'f',
	};

	return type < sizeof(letters) && letters[type] ? letters[type] : '?';
}

static void slot_types(const uint8_t type[LOUPE_REG_SIZE], char buf[LOUPE_REG_SIZE + 1])
{
	for (int i = 0; i < LOUPE_REG_SIZE; i++)
		buf[i] = slot_letter(type[i]);
	buf[LOUPE_REG_SIZE] = '\0';
}

void words_value(const struct loupe_value *value, struct loupe_loc loc, struct loupe_names *names,
		 char *buf, size_t size)
{
	char types[LOUPE_REG_SIZE + 1];

	if (!value->present) {
		snprintf(buf, size, "not written");
		return;
	}
	if (loc.kind == LOUPE_LOC_SLOT && value->type[LOUPE_REG_SIZE - 1] != STACK_SPILL) {
		slot_types(value->type, types);
		snprintf(buf, size, "%s", strcmp(types, "????????") == 0 ? "not written" : types);
		return;
	}
	if (value->reg.type == NOT_INIT)
		snprintf(buf, size, "not written");
	else
		loupe_reg_print(buf, size, &value->reg, loc.frameno, names);
}

const char *words_outcome(enum loupe_compare_outcome outcome, bool *hit)
{
	static const struct {
		const char *word;
		bool hit;
	} table[] = {
		[LOUPE_CMP_HIT] = { "HIT", true },
		[LOUPE_CMP_HIT_BACKEDGE] = { "HIT", true },
		[LOUPE_CMP_LOOP_CONVERGED] = { "CONVERGED", true },
		[LOUPE_CMP_INFINITE_LOOP] = { "INFINITE LOOP", false },
		[LOUPE_CMP_MISS] = { "MISS", false },
		[LOUPE_CMP_MISS_UNCOUNTED] = { "MISS", false },
	};

	*hit = table[outcome].hit;
	return table[outcome].word;
}

/* ---- differences -------------------------------------------------------------------------- */

struct bounds {
	int64_t smin, smax;
	uint64_t umin, umax;
};

static int print_signed(char *buf, size_t size, int64_t value)
{
	if (value == INT64_MIN)
		return snprintf(buf, size, "S64_MIN");
	if (value == INT64_MAX)
		return snprintf(buf, size, "S64_MAX");
	return snprintf(buf, size, "%" PRId64, value);
}

static int print_unsigned(char *buf, size_t size, uint64_t value)
{
	if (value == UINT64_MAX)
		return snprintf(buf, size, "U64_MAX");
	if (value > UINT32_MAX)
		return snprintf(buf, size, "%#" PRIx64, value);
	return snprintf(buf, size, "%" PRIu64, value);
}

static void signed_range(char *buf, size_t size, int64_t min, int64_t max)
{
	char from[32], to[32];

	print_signed(from, sizeof(from), min);
	print_signed(to, sizeof(to), max);
	if (min == max)
		snprintf(buf, size, "%s", from);
	else
		snprintf(buf, size, "%s..%s", from, to);
}

static void unsigned_range(char *buf, size_t size, uint64_t min, uint64_t max)
{
	char from[32], to[32];

	print_unsigned(from, sizeof(from), min);
	print_unsigned(to, sizeof(to), max);
	if (min == max)
		snprintf(buf, size, "%s", from);
	else
		snprintf(buf, size, "%s..%s", from, to);
}

/* The first range of old that does not cover cur's. */
static void range_words(const struct loupe_reg *old, const struct loupe_reg *cur, char *buf,
			size_t size)
{
	char was[80], is[80];
	const char *how = "";

	if ((old->smax < 0 || cur->smax < 0) && (cur->smin < old->smin || cur->smax > old->smax)) {
		/* numbers below 0 are read more easily as such */
		signed_range(was, sizeof(was), old->smin, old->smax);
		signed_range(is, sizeof(is), cur->smin, cur->smax);
	} else if (cur->umin < old->umin || cur->umax > old->umax) {
		unsigned_range(was, sizeof(was), old->umin, old->umax);
		unsigned_range(is, sizeof(is), cur->umin, cur->umax);
	} else if (cur->smin < old->smin || cur->smax > old->smax) {
		signed_range(was, sizeof(was), old->smin, old->smax);
		signed_range(is, sizeof(is), cur->smin, cur->smax);
		how = " as signed";
	} else if (cur->u32_min < old->u32_min || cur->u32_max > old->u32_max) {
		unsigned_range(was, sizeof(was), old->u32_min, old->u32_max);
		unsigned_range(is, sizeof(is), cur->u32_min, cur->u32_max);
		how = " in 32 bits";
	} else {
		signed_range(was, sizeof(was), old->s32_min, old->s32_max);
		signed_range(is, sizeof(is), cur->s32_min, cur->s32_max);
		how = " in 32 bits, signed";
	}
	snprintf(buf, size, "verified for %s, now %s%s%s", was, is, how,
		 old->precise ? "; its exact value mattered" : "");
}

static const struct loupe_frame *frame_of(const struct loupe_state *state, uint32_t frameno)
{
	return state && frameno < LOUPE_MAX_FRAMES ? state->frame[frameno] : NULL;
}

static const struct loupe_slot *slot_of(const struct loupe_frame *frame, int16_t spi)
{
	if (!frame || spi < 0 || (uint32_t)spi >= frame->slot_cnt || !frame->stack)
		return NULL;
	return &frame->stack->slot[spi];
}

/* The register that a difference is about, or what is spilled in its slot. */
static const struct loupe_reg *reg_of(const struct loupe_compare_info *info,
				      const struct loupe_state *state)
{
	const struct loupe_frame *frame = frame_of(state, info->frameno);
	const struct loupe_slot *slot = slot_of(frame, info->spi);

	if (frame && info->reg >= 0 && info->reg < LOUPE_MAX_REG)
		return &frame->regs[info->reg];
	return slot ? &slot->spilled : NULL;
}

static void both_regs(const char *before, const struct loupe_reg *old, const struct loupe_reg *cur,
		      uint32_t frameno, struct loupe_names *names, char *buf, size_t size)
{
	char was[256], is[256];

	if (!loupe_reg_print(was, sizeof(was), old, frameno, names))
		snprintf(was, sizeof(was), "nothing");
	if (!loupe_reg_print(is, sizeof(is), cur, frameno, names))
		snprintf(is, sizeof(is), "nothing");
	snprintf(buf, size, "%s%s, now %s", before, was, is);
}

/* Pointers of one kind: the first part that differs. */
static bool pointer_words(const struct loupe_reg *old, const struct loupe_reg *cur, char *buf,
			  size_t size)
{
	char was[80], is[80];

	if (old->type != cur->type || old->type == SCALAR_VALUE || old->type == NOT_INIT)
		return false;
	if (old->off != cur->off) {
		snprintf(buf, size, "its offset was %d, now %d", old->off, cur->off);
		return true;
	}
	if (loupe_base_type(old->type) == PTR_TO_PACKET && old->range != cur->range) {
		snprintf(buf, size, "%d bytes of packet were known then, now %d", old->range,
			 cur->range);
		return true;
	}
	if (old->smin != cur->smin || old->smax != cur->smax) {
		signed_range(was, sizeof(was), old->smin, old->smax);
		signed_range(is, sizeof(is), cur->smin, cur->smax);
		snprintf(buf, size, "its variable offset was %s, now %s", was, is);
		return true;
	}
	return false;
}

static void reg_words(const struct loupe_compare_info *info, const struct loupe_reg *old,
		      const struct loupe_reg *cur, struct loupe_names *names, char *buf,
		      size_t size)
{
	char was[64], is[64];

	switch (info->diff) {
	case LOUPE_DIFF_RANGE:
		range_words(old, cur, buf, size);
		break;
	case LOUPE_DIFF_TNUM:
		loupe_tnum_print(was, sizeof(was), old->var_off);
		loupe_tnum_print(is, sizeof(is), cur->var_off);
		snprintf(buf, size, "verified for the bits %s, now %s", was, is);
		break;
	case LOUPE_DIFF_PKT_RANGE:
		snprintf(buf, size, "%d bytes of packet were known then, now %d", old->range,
			 cur->range);
		break;
	case LOUPE_DIFF_PRECISION:
		both_regs("its exact value mattered: ", old, cur, info->frameno, names, buf, size);
		break;
	case LOUPE_DIFF_ID:
		both_regs("tied to other values than then: ", old, cur, info->frameno, names, buf,
			  size);
		break;
	default:
		if (pointer_words(old, cur, buf, size))
			break;
		both_regs("was ", old, cur, info->frameno, names, buf, size);
	}
}

static void slot_words(const struct loupe_compare_info *info, const struct loupe_state *old,
		       const struct loupe_state *cur, char *buf, size_t size)
{
	const struct loupe_slot *was = slot_of(frame_of(old, info->frameno), info->spi);
	const struct loupe_slot *is = slot_of(frame_of(cur, info->frameno), info->spi);
	char then[LOUPE_REG_SIZE + 1] = "nothing", now[LOUPE_REG_SIZE + 1] = "nothing";

	if (was)
		slot_types(was->type, then);
	if (is)
		slot_types(is->type, now);
	snprintf(buf, size, "its bytes were %s, now %s", then, now);
}

void words_compare(const struct loupe_compare_info *info, const struct loupe_state *old,
		   const struct loupe_state *cur, struct loupe_names *names, char *buf,
		   size_t size)
{
	static const char *const whole[LOUPE_DIFF_KINDS] = {
		[LOUPE_DIFF_CALLCHAIN] = "reached through other calls",
		[LOUPE_DIFF_SPECULATIVE] = "one of the paths is speculative",
		[LOUPE_DIFF_SLEEPABLE] = "one of them may sleep, the other may not",
		[LOUPE_DIFF_CALLBACK_DEPTH] = "other number of turns of a callback",
		[LOUPE_DIFF_REFS] = "other references are held",
		[LOUPE_DIFF_LOCK] = "other locks are held",
		[LOUPE_DIFF_STACK_SIZE] = "that part of the stack is not in use now",
		[LOUPE_DIFF_DYNPTR] = "another dynptr",
		[LOUPE_DIFF_ITER] = "another iterator",
		[LOUPE_DIFF_IRQ] = "another saved IRQ state",
	};
	const struct loupe_reg *was = reg_of(info, old), *is = reg_of(info, cur);
	char where[48] = "", what[640] = "";
	struct loupe_loc loc = { .frameno = info->frameno };

	switch (info->outcome) {
	case LOUPE_CMP_HIT:
		snprintf(buf, size, "it covers this state: the path ends here");
		return;
	case LOUPE_CMP_HIT_BACKEDGE:
		snprintf(buf, size, "it covers this turn of a loop that is not done yet");
		return;
	case LOUPE_CMP_LOOP_CONVERGED:
		snprintf(buf, size, "another turn of the loop brings nothing new");
		return;
	case LOUPE_CMP_INFINITE_LOOP:
		snprintf(buf, size, "the same state again: the loop never ends");
		return;
	default:
		break;
	}
	if (info->mode == LOUPE_CMP_SKIPPED) {
		snprintf(buf, size, "not compared: paths from it are not finished");
		return;
	}
	if (info->reg >= 0 || info->spi >= 0) {
		loc.kind = info->reg >= 0 ? LOUPE_LOC_REG : LOUPE_LOC_SLOT;
		loc.index = (uint8_t)(info->reg >= 0 ? info->reg : info->spi);
		words_loc(&loc, false, where, sizeof(where));
		strcat(where, ": ");
	}
	if (whole[info->diff])
		snprintf(what, sizeof(what), "%s", whole[info->diff]);
	else if (info->diff == LOUPE_DIFF_STACK_TYPE)
		slot_words(info, old, cur, what, sizeof(what));
	else if (was && is)
		reg_words(info, was, is, names, what, sizeof(what));
	else if (info->diff == LOUPE_DIFF_NONE)
		snprintf(what, sizeof(what), "not compared");
	else
		snprintf(what, sizeof(what), "differs");
	snprintf(buf, size, "%s%s%s", where, what,
		 info->outcome == LOUPE_CMP_MISS_UNCOUNTED ? " (does not count)" : "");
}
