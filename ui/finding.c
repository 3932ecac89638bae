// SPDX-License-Identifier: GPL-2.0-only
/* Evictions, loops, hits and misses, each in a sentence. */
#include "finding.h"

#include "panes.h"
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TURNS = 8, TURNS_WORTH_TELLING = 4 };

static void add(struct findings *findings, const char *where, const char *fmt, ...)
	LOUPE_PRINTF(3, 4);
static void add(struct findings *findings, const char *where, const char *fmt, ...)
{
	struct finding *finding;
	va_list args;

	if (findings->cnt == FINDINGS_MAX)
		return;
	finding = &findings->at[findings->cnt++];
	finding->where = where;
	va_start(args, fmt);
	vsnprintf(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
}

const char *finding_words(const struct finding *finding, char *buf, size_t size)
{
	snprintf(buf, size, finding->where ? "%s (%s)." : "%s.", finding->text, finding->where);
	return buf;
}

static void find_eviction(struct findings *findings, const struct loupe_trace *trace)
{
	uint64_t cnt = loupe_trace_rows(trace, LOUPE_TABLE_EVICT);
	struct loupe_checkpoint_info point;
	struct loupe_evict_info evict;
	char step[NUMBER_TEXT], number[NUMBER_TEXT], hits[64], more[64] = "";

	if (!cnt || loupe_trace_evict(trace, 0, &evict) ||
	    loupe_trace_checkpoint(trace, evict.serial, &point))
		return;
	if (evict.hits)
		snprintf(hits, sizeof(hits), "pruned only %u", evict.hits);
	else
		snprintf(hits, sizeof(hits), "pruned nothing");
	if (cnt > 1)
		snprintf(more, sizeof(more), "; %s more went later", number_text(number, cnt - 1));
	add(findings, "} goes there",
	    "The checkpoint #%u at insn %d missed %u times and %s: it was evicted at step %s%s",
	    evict.serial, point.insn_idx, evict.misses, hits, number_text(step, evict.step), more);
}

/* A loop: its insns, and how often they were visited. */
struct loop {
	uint32_t scc, first, last, turns;
};

static struct loop find_loop(const struct loupe_trace *trace)
{
	struct loop best = { 0 };

	for (uint32_t insn = 0; insn < loupe_trace_insn_cnt(trace); insn++) {
		const struct loupe_insn_facts *facts = loupe_trace_facts(trace, insn);
		struct loupe_insn_stats stats;

		if (!facts || !facts->scc || loupe_trace_insn_stats(trace, insn, &stats))
			continue;
		/* the loop whose insns are visited most */
		if (stats.visits > best.turns || facts->scc == best.scc) {
			if (facts->scc != best.scc)
				best = (struct loop){ .scc = facts->scc, .first = insn };
			best.last = insn;
			if (stats.visits > best.turns)
				best.turns = stats.visits;
		}
	}
	return best;
}

/* True if every one of the first turns brings another value of a register or slot. */
static bool turns(const struct loupe_trace *trace, const uint32_t *visits, uint32_t cnt,
		  struct loupe_loc loc)
{
	for (uint32_t i = 1; i < cnt && i < MAX_TURNS; i++) {
		struct loupe_value before = { 0 }, after = { 0 };

		if (loupe_trace_value(trace, visits[i - 1], loc, &before) ||
		    loupe_trace_value(trace, visits[i], loc, &after) ||
		    after.reg.type == NOT_INIT ||
		    (before.reg.type == after.reg.type && before.reg.off == after.reg.off &&
		     before.reg.umin == after.reg.umin && before.reg.umax == after.reg.umax))
			return false;
	}
	return cnt > 1;
}

/* The first live register, or else slot, whose value is another one in every turn. */
static bool find_turning(const struct loupe_trace *trace, uint32_t insn, struct loupe_loc *loc)
{
	const struct loupe_insn_facts *facts = loupe_trace_facts(trace, insn);
	struct loupe_step_info info;
	uint32_t cnt;
	const uint32_t *visits = loupe_trace_visits(trace, insn, &cnt);

	if (!cnt || loupe_trace_step(trace, visits[0], &info))
		return false;
	*loc = (struct loupe_loc){ .kind = LOUPE_LOC_REG };
	loc->frameno = (uint8_t)(info.frame_cnt - 1);
	for (int reg = 0; facts && reg < LOUPE_REG_FP; reg++) {
		loc->index = (uint8_t)reg;
		if ((facts->live_regs >> reg & 1) && turns(trace, visits, cnt, *loc))
			return true;
	}
	loc->kind = LOUPE_LOC_SLOT;
	for (int slot = 0; slot < LOUPE_MAX_SLOTS; slot++) {
		loc->index = (uint8_t)slot;
		if (turns(trace, visits, cnt, *loc))
			return true;
	}
	return false;
}

bool finding_loop(const struct loupe_trace *trace, char *buf, size_t size)
{
	uint64_t row = loupe_trace_find_compare(trace, 0, true, 1u << LOUPE_CMP_LOOP_CONVERGED);
	struct loupe_compare_info compare;
	struct loop loop = find_loop(trace);
	struct loupe_loc loc;
	char turns[NUMBER_TEXT], name[32];

	if (row != LOUPE_NO_ROW && !loupe_trace_compare(trace, row, &compare)) {
		snprintf(
			buf, size,
			"The loop at insn %d converged after %u arrivals: another turn brings nothing new",
			compare.insn_idx,
			loupe_trace_visit_lower(trace, (uint32_t)compare.insn_idx, compare.step) +
				1);
		return true;
	}
	if (loop.turns < TURNS_WORTH_TELLING)
		return false;
	if (find_turning(trace, loop.first, &loc)) {
		words_loc(&loc, false, name, sizeof(name));
		snprintf(
			buf, size,
			"The loop of insns %u to %u was walked turn by turn, %s times, with another %s each time",
			loop.first, loop.last, number_text(turns, loop.turns), name);
	} else {
		snprintf(buf, size, "The loop of insns %u to %u was walked turn by turn, %s times",
			 loop.first, loop.last, number_text(turns, loop.turns));
	}
	return true;
}

static uint32_t count_pruned(const struct loupe_trace *trace)
{
	struct loupe_insn_stats stats;
	uint32_t cnt = 0;

	for (uint32_t insn = 0; insn < loupe_trace_insn_cnt(trace); insn++) {
		if (!loupe_trace_insn_stats(trace, insn, &stats))
			cnt += stats.pruned;
	}
	return cnt;
}

static void find_hits(struct findings *findings, const struct loupe_trace *trace)
{
	uint32_t step = loupe_trace_find_step(trace, 0, true, LOUPE_STEP_PRUNED),
		 cnt = count_pruned(trace);
	uint64_t row = step == LOUPE_NO_STEP
			       ? LOUPE_NO_ROW
			       : loupe_trace_first_row(trace, LOUPE_TABLE_COMPARE, step);
	struct loupe_compare_info compare = { 0 };
	char number[NUMBER_TEXT], paths[NUMBER_TEXT], at[NUMBER_TEXT];
	bool hit = false;

	for (; row != LOUPE_NO_ROW && !hit && !loupe_trace_compare(trace, row, &compare) &&
	       compare.step == step;
	     row++)
		words_outcome(compare.outcome, &hit);
	if (!cnt)
		return;
	/* a log tells that a path was pruned, not by what */
	if (!hit) {
		add(findings, "] goes there",
		    "%s of %s paths %s pruned, the first at insn %d, step %s",
		    number_text(number, cnt), number_text(paths, loupe_trace_path_cnt(trace)),
		    cnt == 1 ? "was" : "were", loupe_trace_step_insn(trace, step),
		    number_text(at, step));
		return;
	}
	add(findings, "] goes there",
	    "%s of %s paths %s pruned, the first at insn %d, step %s: checkpoint #%u covers what it brings",
	    number_text(number, cnt), number_text(paths, loupe_trace_path_cnt(trace)),
	    cnt == 1 ? "was" : "were", compare.insn_idx, number_text(at, step), compare.serial);
}

static void find_miss(struct findings *findings, const struct loupe_trace *trace,
		      struct loupe_names *names, enum loupe_compare_outcome kind)
{
	uint64_t row = loupe_trace_find_compare(trace, 0, true, 1u << kind);
	struct loupe_compare_info compare;
	struct loupe_cursor *now, *then;
	char why[400], step[NUMBER_TEXT], *uncounted;

	while (row != LOUPE_NO_ROW && !loupe_trace_compare(trace, row, &compare) &&
	       compare.diff == LOUPE_DIFF_NONE)
		row = loupe_trace_find_compare(trace, row + 1, true, 1u << kind);
	if (row == LOUPE_NO_ROW)
		return;
	now = loupe_cursor_create(trace);
	then = loupe_cursor_create(trace);
	if (now && then) {
		words_compare(&compare, loupe_cursor_seek_checkpoint(then, compare.serial, row),
			      loupe_cursor_seek(now, compare.step), names, why, sizeof(why));
		/* what counts against whom is another story */
		uncounted = strstr(why, " (does not count)");
		if (uncounted)
			*uncounted = '\0';
		add(findings, "Prune, 3",
		    "At insn %d, step %s, checkpoint #%u did not prune: %.200s", compare.insn_idx,
		    number_text(step, compare.step), compare.serial, why);
	}
	loupe_cursor_destroy(now);
	loupe_cursor_destroy(then);
}

void findings_make(struct findings *findings, const struct loupe_trace *trace,
		   struct loupe_names *names)
{
	const struct loupe_verify_result *result = loupe_trace_result(trace);
	bool misses = result && result->counters.compare_misses;
	char loop[FINDING_TEXT];
	enum loupe_compare_outcome kind;

	findings->cnt = 0;
	find_eviction(findings, trace);
	if (finding_loop(trace, loop, sizeof(loop)))
		add(findings, NULL, "%s", loop);
	kind = misses ? LOUPE_CMP_MISS : LOUPE_CMP_MISS_UNCOUNTED;
	/* where nearly all paths are pruned, one that was not is no news */
	if (count_pruned(trace) * 10ull >= loupe_trace_path_cnt(trace) * 9ull) {
		find_hits(findings, trace);
		find_miss(findings, trace, names, kind);
	} else {
		find_miss(findings, trace, names, kind);
		find_hits(findings, trace);
	}
	if (!findings->cnt && loupe_trace_step_cnt(trace) && result &&
	    result->verdict == LOUPE_ACCEPTED)
		add(findings, NULL, "%s: nothing was pruned",
		    loupe_trace_checkpoint_cnt(trace)
			    ? "No state came to a checkpoint again"
			    : "The program is so short that no state was stored");
}
