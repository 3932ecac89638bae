// SPDX-License-Identifier: GPL-2.0-only
/* The graphs before and after: what each instruction became. */
#include "cfg_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the two sides of an eBPF program ----------------------------------------------------- */

/* Visits on a logarithmic scale. */
static void fill_heat(struct cfg_side *side, const struct loupe_trace *trace)
{
	uint32_t most = 0, cnt;
	int top = 0;

	for (uint32_t i = 0; i < side->cnt; i++) {
		loupe_trace_visits(trace, i, &cnt);
		if (cnt > most)
			most = cnt;
	}
	while (most >> top > 1)
		top++;
	for (uint32_t i = 0; i < side->cnt && top; i++) {
		int bits = 0;

		loupe_trace_visits(trace, i, &cnt);
		while (cnt >> bits > 1)
			bits++;
		if (cnt > 1)
			side->heat[i] = (uint8_t)(1 + bits * (LOUPE_HEAT_MAX - 1) / top);
	}
}

static bool is_jump(const struct loupe_insn *insn)
{
	uint8_t class = insn->code & 7;

	return class == 5 || class == 6;
}

/* Removing what is between a jump and its target changes the distance, not the jump. */
static bool same_insn(const struct loupe_insn *a, const struct loupe_insn *b)
{
	return a->code == b->code && a->dst_reg == b->dst_reg && a->src_reg == b->src_reg &&
	       (is_jump(a) || (a->off == b->off && a->imm == b->imm));
}

int cfg_pair_program(struct cfg_side side[2], const struct subject *subject,
		     struct loupe_error *err)
{
	const struct loupe_verify_result *result = &subject->result;
	struct cfg_side *before = &side[CFG_BEFORE], *after = &side[CFG_AFTER];
	bool removed = result->final_insns && result->final_cnt && result->final_to_orig &&
		       result->final_cnt != subject->image->insn_cnt;
	int rc;

	*before = (struct cfg_side){ .title = "before",
				     .ebpf = loupe_trace_insns(subject->trace),
				     .source = subject->source,
				     .cnt = loupe_trace_insn_cnt(subject->trace) };
	rc = cfg_side_init(before, err);
	if (rc)
		return rc;
	fill_heat(before, subject->trace);
	if (result->verdict == LOUPE_REJECTED && subject->error_insn >= 0 &&
	    (uint32_t)subject->error_insn < before->cnt)
		before->fate[subject->error_insn] = CFG_ERROR;
	if (!removed) {
		/* an instruction may be replaced without any being removed */
		if (!result->final_insns ||
		    !memcmp(result->final_insns, before->ebpf, before->cnt * sizeof(*before->ebpf)))
			return 0;
	}
	*after = (struct cfg_side){ .title = "after",
				    .ebpf = result->final_insns,
				    .source = subject->source,
				    .cnt = result->final_cnt };
	rc = cfg_side_init(after, err);
	if (rc)
		return rc;
	memset(before->fate, CFG_GONE, before->cnt);
	for (uint32_t i = 0; i < after->cnt; i++) {
		int32_t orig = result->final_to_orig[i];

		if (orig < 0 || (uint32_t)orig >= before->cnt) {
			after->fate[i] = CFG_NEW;
			continue;
		}
		after->other[i] = (uint32_t)orig;
		before->other[orig] = i;
		before->fate[orig] = CFG_SAME;
		after->heat[i] = before->heat[orig];
		if (!same_insn(&after->ebpf[i], &before->ebpf[orig])) {
			before->fate[orig] = CFG_CHANGED;
			after->fate[i] = CFG_CHANGED;
		}
	}
	return 0;
}

/* What the calls of a table run, on a logarithmic scale. */
static void fill_weights(struct cfg_side *side, const struct loupe_filter *filter,
			 const struct loupe_weights *table)
{
	double *weight = calloc(side->cnt, sizeof(*weight)), most = 0;
	uint32_t *path = calloc(side->cnt, sizeof(*path));

	for (uint32_t n = 0; weight && path && n < table->cnt; n++) {
		struct loupe_seccomp_data data = { .nr = table->rows[n].nr, .arch = table->arch };
		const struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		struct loupe_filter_run run = { .path = path };

		memcpy(data.args, table->rows[n].args, sizeof(data.args));
		if (loupe_filter_eval(filter, &input, &run, NULL))
			continue;
		for (uint32_t i = 0; i < run.executed; i++) {
			weight[path[i]] += table->rows[n].weight;
			if (weight[path[i]] > most)
				most = weight[path[i]];
		}
	}
	for (uint32_t i = 0; weight && path && i < side->cnt; i++) {
		double share = weight[i];

		/* a shade less for every halving, the coolest for whatever runs */
		for (side->heat[i] = weight[i] > 0 ? LOUPE_HEAT_MAX : 0;
		     side->heat[i] > 1 && share * 2 <= most; share *= 2)
			side->heat[i]--;
	}
	free(weight);
	free(path);
}

/* ---- the two sides of a filter ------------------------------------------------------------ */

static bool same_cbpf(const struct loupe_cbpf_insn *a, const struct loupe_cbpf_insn *b)
{
	/* jump offsets tell nothing; k is the offset of an unconditional jump */
	return a->code == b->code &&
	       ((a->code & 7) == 5 ? (a->code == 5 || a->k == b->k) : a->k == b->k);
}

static void mark_edits(struct cfg_side side[2], const struct loupe_rewrite *rw, uint32_t edits)
{
	struct cfg_side *before = &side[CFG_BEFORE], *after = &side[CFG_AFTER];
	uint32_t ids[256], cnt;

	for (uint32_t n = 0; n < edits; n++) {
		const struct loupe_edit *edit = loupe_rewrite_edit_get(rw, n);
		enum cfg_fate fate = edit->kind == LOUPE_EDIT_MOVED	   ? CFG_MOVED
				     : edit->kind == LOUPE_EDIT_RETARGETED ? CFG_RETARGETED
									   : CFG_CHANGED;
		bool last = n + 1 == edits && edits < loupe_rewrite_edit_cnt(rw);

		if (edit->kind == LOUPE_EDIT_REMOVED && !last)
			continue;
		cnt = loupe_rewrite_edit_ids(rw, n, ids, 256);
		for (uint32_t i = 0; i < cnt && i < 256; i++) {
			uint32_t id = ids[i], at = LOUPE_CFG_NONE;

			if (id < after->prog.id_cnt && after->prog.index_of)
				at = after->prog.index_of[id];
			if (last)
				fate = CFG_EDITED;
			if (id < before->cnt && (last || before->fate[id] != CFG_GONE))
				before->fate[id] = (uint8_t)fate;
			if (at != LOUPE_NONE && at < after->cnt && after->fate[at] != CFG_NEW)
				after->fate[at] = (uint8_t)fate;
		}
	}
}

/* What was built anew is matched with what asks the same of the same calls. */
static void match_anew(struct cfg_side side[2], const struct subject *subject)
{
	for (int n = 0; n < 2; n++) {
		struct cfg_side *from = &side[n], *to = &side[!n];

		for (uint32_t i = 0; i < from->cnt; i++) {
			uint32_t partner;

			if (from->other[i] != LOUPE_CFG_NONE)
				continue;
			partner = loupe_why_partner(subject->why[n], i, subject->why[!n]);
			if (partner == LOUPE_NONE || partner >= to->cnt)
				continue;
			from->other[i] = partner;
			from->fate[i] = CFG_ALIKE;
		}
	}
}

int cfg_pair_after(struct cfg_side side[2], const struct subject *subject, uint32_t edits,
		   struct loupe_error *err)
{
	struct cfg_side *before = &side[CFG_BEFORE], *after = &side[CFG_AFTER];
	int rc;

	cfg_side_finish(after);
	*after = (struct cfg_side){ .title = "after", .flavour = subject->filter->flavour };
	rc = loupe_rewrite_prog_at(subject->rewrite, edits, &after->prog);
	if (rc)
		return loupe_error_set(err, rc, "%s", strerror(-rc));
	after->cnt = after->prog.cnt;
	rc = cfg_side_init(after, err);
	if (rc)
		return rc;
	memset(before->fate, CFG_GONE, before->cnt);
	for (uint32_t i = 0; i < before->cnt; i++)
		before->other[i] = LOUPE_CFG_NONE;
	for (uint32_t i = 0; i < after->cnt; i++) {
		uint32_t id = after->prog.ids[i];

		if (id >= before->cnt) {
			after->fate[i] = CFG_NEW;
			continue;
		}
		after->other[i] = id;
		before->other[id] = i;
		before->fate[id] = CFG_SAME;
		if (!same_cbpf(&after->prog.insns[i].cbpf, &before->prog.insns[id].cbpf))
			after->fate[i] = before->fate[id] = CFG_CHANGED;
	}
	mark_edits(side, subject->rewrite, edits);
	if (edits != loupe_rewrite_edit_cnt(subject->rewrite))
		return 0;
	match_anew(side, subject);
	if (subject->input->counted)
		fill_weights(after, subject->optimized, &subject->input->weights);
	return 0;
}

int cfg_pair_filter(struct cfg_side side[2], const struct subject *subject, struct loupe_error *err)
{
	struct cfg_side *before = &side[CFG_BEFORE];
	int rc;

	*before = (struct cfg_side){ .title = "before", .flavour = subject->filter->flavour };
	rc = loupe_rewrite_prog_at(subject->rewrite, 0, &before->prog);
	if (rc)
		return loupe_error_set(err, rc, "%s", strerror(-rc));
	before->cnt = before->prog.cnt;
	rc = cfg_side_init(before, err);
	if (rc)
		return rc;
	if (subject->input->counted)
		fill_weights(before, subject->filter, &subject->input->weights);
	return cfg_pair_after(side, subject, loupe_rewrite_edit_cnt(subject->rewrite), err);
}
