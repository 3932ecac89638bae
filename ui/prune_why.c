// SPDX-License-Identifier: GPL-2.0-only
/* Why a checkpoint's value had to match, and by which rule checkpoints are evicted. */
#include "prune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The factor of the rule at a forced checkpoint whose paths are not finished. */
enum { EVICT_N_FORCED = 64 };

bool prune_loc(const struct loupe_compare_info *compare, struct loupe_loc *loc)
{
	if (compare->reg < 0 && compare->spi < 0)
		return false;
	*loc = (struct loupe_loc){
		.kind = compare->reg >= 0 ? LOUPE_LOC_REG : LOUPE_LOC_SLOT,
		.frameno = compare->frameno,
		.index = (uint8_t)(compare->reg >= 0 ? compare->reg : compare->spi),
	};
	return true;
}

static bool masks_have(const struct loupe_masks *masks, struct loupe_loc loc)
{
	if (masks->frameno != loc.frameno)
		return false;
	return loc.kind == LOUPE_LOC_REG ? (masks->regs >> loc.index & 1) != 0 :
					   (masks->stack >> loc.index & 1) != 0;
}

/* The mark that made loc precise before a comparison; false if there is none. */
static bool find_mark(const struct prune_view *prune, const struct loupe_compare_info *compare,
		      struct loupe_loc loc, struct loupe_mark_info *mark)
{
	uint32_t cap = 64, cnt;
	uint64_t *rows = NULL, *more;
	bool found = false;

	for (;;) {
		more = realloc(rows, cap * sizeof(*rows));
		if (!more) {
			free(rows);
			return false;
		}
		rows = more;
		cnt = loupe_trace_checkpoint_marks(prune->trace, compare->serial, rows, cap);
		if (cnt < cap || cap > UINT32_MAX / 2)
			break;
		cap *= 2;
	}
	for (uint32_t i = 0; i < cnt && !found; i++)
		found = !loupe_trace_mark(prune->trace, rows[i], mark) &&
			mark->kind == LOUPE_MARK_PRECISE && mark->compare <= compare->row &&
			masks_have(&mark->masks, loc);
	free(rows);
	return found;
}

/* What an instruction needs an exact value for, by its class and operation. */
static const char *need_of(const struct prune_view *prune, int32_t insn)
{
	static const struct {
		uint8_t mask, code; /* the opcode's bits that tell */
		const char *need;
	} table[] = {
		{ 0x07, 0x01, "it bounds the access" },
		{ 0x07, 0x02, "it bounds the access" },
		{ 0x07, 0x03, "it bounds the access" },
		{ 0x07, 0x04, "it takes part in the sum" },
		{ 0x07, 0x07, "it moves the pointer" },
		{ 0xff, 0x85, "it is checked by the call" },
		{ 0xff, 0x95, "it is what is returned" },
		{ 0x07, 0x05, "it decides the branch" },
		{ 0x07, 0x06, "it decides the branch" },
	};

	if (insn < 0 || (uint32_t)insn >= loupe_trace_insn_cnt(prune->trace))
		return "its value is needed";
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if ((loupe_trace_insns(prune->trace)[insn].code & table[i].mask) == table[i].code)
			return table[i].need;
	}
	return "its value is needed";
}

void prune_why(const struct prune_view *prune, const struct loupe_compare_info *compare,
	       struct loupe_loc loc, char *buf, size_t size)
{
	struct loupe_mark_info mark;
	struct loupe_walk_info walk;
	char step[NUMBER_TEXT];
	int32_t insn;

	buf[0] = '\0';
	if (!find_mark(prune, compare, loc, &mark))
		return;
	number_text(step, mark.step);
	insn = loupe_trace_step_insn(prune->trace, mark.step);
	if (mark.walk == LOUPE_NO_ROW || loupe_trace_walk(prune->trace, mark.walk, &walk))
		snprintf(buf, size, "precise since step %s (insn %d)", step, insn);
	else if (walk.propagated)
		snprintf(
			buf, size,
			"precise since step %s, because the checkpoint that covers insn %d needs it",
			step, insn);
	else
		snprintf(buf, size, "precise since step %s, because %s at insn %d", step,
			 need_of(prune, insn), insn);
}

uint64_t prune_demand(const struct prune_view *prune, const struct loupe_compare_info *compare,
		      struct loupe_loc loc)
{
	struct loupe_mark_info mark;

	return find_mark(prune, compare, loc, &mark) ? mark.walk : LOUPE_NO_ROW;
}

static void mask_words(const struct loupe_masks *masks, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	if (masks->frameno)
		len += (size_t)snprintf(buf, size, "frame %u ", masks->frameno);
	for (uint32_t i = 0; i < LOUPE_MAX_REG && len < size; i++) {
		if (masks->regs >> i & 1)
			len += (size_t)snprintf(buf + len, size - len, "R%u ", i);
	}
	for (uint32_t i = 0; i < LOUPE_MAX_SLOTS && len < size; i++) {
		if (masks->stack >> i & 1)
			len += (size_t)snprintf(buf + len, size - len, "fp-%u ",
						(i + 1) * LOUPE_REG_SIZE);
	}
	len = strlen(buf);
	if (len && buf[len - 1] == ' ')
		buf[len - 1] = '\0';
}

void prune_chain(const struct prune_view *prune, const struct loupe_compare_info *compare,
		 struct loupe_loc loc, char *buf, size_t size)
{
	struct loupe_mark_info mark, link;
	struct loupe_walk_info walk;
	char what[160];
	size_t len;

	buf[0] = '\0';
	if (!find_mark(prune, compare, loc, &mark) || mark.walk == LOUPE_NO_ROW ||
	    loupe_trace_walk(prune->trace, mark.walk, &walk))
		return;
	mask_words(&walk.want, what, sizeof(what));
	len = (size_t)snprintf(buf, size, "insn %d: %s",
			       loupe_trace_step_insn(prune->trace, walk.step), what);
	for (uint32_t i = 0; i < walk.mark_cnt && len < size; i++) {
		if (loupe_trace_mark(prune->trace, walk.first_mark + i, &link) ||
		    link.kind != LOUPE_MARK_PRECISE)
			continue;
		mask_words(&link.masks, what, sizeof(what));
		len += (size_t)snprintf(buf + len, size - len, " → #%u %s", link.serial, what);
		if (link.serial == compare->serial && masks_have(&link.masks, loc))
			break;
	}
}

uint64_t prune_limit(const struct prune_view *prune, uint32_t hits)
{
	const struct loupe_insn_facts *facts = loupe_trace_facts(prune->trace, prune->insn);
	int n = tui_verify_opts(prune->view.tui)->evict_n;

	if (n == LOUPE_EVICT_OFF || (facts && facts->force_checkpoint))
		return UINT64_MAX;
	return (uint64_t)hits * (uint64_t)n + (uint64_t)n;
}

void prune_rule(const struct prune_view *prune, const struct prune_event *event, char *buf,
		size_t size)
{
	const struct loupe_insn_facts *facts = loupe_trace_facts(prune->trace, prune->insn);
	uint64_t n = (uint64_t)tui_verify_opts(prune->view.tui)->evict_n;

	/* misses come one by one: the limit that was passed by one is the one that held */
	if (facts && facts->force_checkpoint &&
	    event->misses == (uint64_t)event->hits * EVICT_N_FORCED + EVICT_N_FORCED + 1)
		n = EVICT_N_FORCED;
	snprintf(buf, size, "%u misses > %u hits × %" PRIu64 " + %" PRIu64, event->misses,
		 event->hits, n, n);
}
