// SPDX-License-Identifier: GPL-2.0-only
/* What made a verification long, in sentences. */
#include "cost.h"
#include "finding.h"
#include "panes.h"
#include "words.h"

#include <stdio.h>

/* Of the branches, the one whose paths cost most; NULL if there is none. */
static const struct cost_row *worst_branch(const struct cost *branches)
{
	const struct cost_row *worst = NULL;

	for (uint32_t i = 0; i < branches->cnt; i++) {
		if (branches->rows[i].kind == COST_ROW_PART &&
		    (!worst || branches->rows[i].exclusive > worst->exclusive))
			worst = &branches->rows[i];
	}
	return worst;
}

/* The insn whose checkpoints missed most often. */
static uint32_t worst_checkpoints(const struct loupe_trace *trace, struct loupe_insn_stats *worst)
{
	struct loupe_insn_stats stats;
	uint32_t at = 0;

	*worst = (struct loupe_insn_stats){ 0 };
	for (uint32_t i = 0; i < loupe_trace_insn_cnt(trace); i++) {
		if (!loupe_trace_insn_stats(trace, i, &stats) &&
		    stats.misses + stats.uncounted > worst->misses + worst->uncounted) {
			*worst = stats;
			at = i;
		}
	}
	return at;
}

void cost_why_long(const struct cost *branches, const struct loupe_trace *trace,
		   const struct listing *listing, const char *where, char *buf, size_t size)
{
	const struct cost_row *branch = worst_branch(branches);
	struct loupe_insn_stats stats;
	uint64_t all = loupe_trace_step_cnt(trace);
	char paths[NUMBER_TEXT], misses[NUMBER_TEXT], hits[NUMBER_TEXT], insn_text[160];
	char loop[FINDING_TEXT];
	uint32_t insn;
	size_t len;

	buf[0] = '\0';
	if ((!branch || branch->exclusive * 10 < all) && finding_loop(trace, loop, sizeof(loop))) {
		snprintf(buf, size, "%s.", loop);
		return;
	}
	if (!branch || !all)
		return;
	listing_condition(listing, branch->insn, insn_text, sizeof(insn_text));
	len = (size_t)snprintf(
		buf, size,
		"Insn %u (%s) multiplied most: it left %s path%s, which took %.1f%% of all.",
		branch->insn, insn_text, number_text(paths, branch->paths), plural(branch->paths),
		(double)branch->exclusive * 100 / (double)all);
	insn = worst_checkpoints(trace, &stats);
	if (stats.misses + stats.uncounted && len < size)
		snprintf(buf + len, size - len,
			 " Checkpoints at insn %u missed %s times and pruned %s%s.", insn,
			 number_text(misses, stats.misses + stats.uncounted),
			 number_text(hits, stats.hits), where);
}
