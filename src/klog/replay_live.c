// SPDX-License-Identifier: GPL-2.0-only
/* Lines about liveness: of registers, which come before exploration, and of stack slots. */
#include <stdlib.h>
#include <string.h>

#include "klog/replay.h"

void replay_facts(struct walk *w)
{
	struct loupe_insn_facts *facts = calloc((size_t)w->image->insn_cnt + 1, sizeof(*facts));
	uint32_t i = w->item + 1;
	struct live_row row;

	if (!facts) {
		w->no_memory = true;
		return;
	}
	for (; i < w->log->item_cnt && w->log->items[i].kind == FORM_LIVE_REGS_INSN; i++) {
		const struct loupe_insn *insn;

		if (!live_row_scan(w->log, &w->log->items[i], &row))
			continue;
		insn = insn_at(w, (int32_t)row.insn_idx);
		if (!insn)
			continue;
		facts[row.insn_idx].live_regs = (uint16_t)row.regs;
		facts[row.insn_idx].scc = row.scc;
		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    row.insn_idx + 1 < w->image->insn_cnt)
			facts[row.insn_idx + 1].second_slot = true;
	}
	TELL(w, facts, facts, w->image->insn_cnt);
	free(facts);
	w->item = i - 1;
}

static bool grow_live(struct walk *w);

/* The sets of stack slots at an insn of a call chain; a new one is empty. */
static struct live_set *live_set(struct walk *w, const struct live_change *of)
{
	uint32_t h = of->frameno * 31 + (uint32_t)of->insn_idx;

	if (w->live_cnt * 2 >= w->live_cap && !grow_live(w))
		return NULL;
	for (uint32_t i = 0; i < of->chain.cnt; i++)
		h = (h ^ of->chain.at[i]) * 0x9e3779b1u;
	for (h ^= h >> 15;; h++) {
		struct live_set *set = &w->live[h & (w->live_cap - 1)];

		if (!set->used) {
			*set = (struct live_set){ .used = true, .of = *of };
			w->live_cnt++;
			return set;
		}
		if (set->of.frameno == of->frameno && set->of.insn_idx == of->insn_idx &&
		    !memcmp(&set->of.chain, &of->chain, sizeof(of->chain)))
			return set;
	}
}

static bool grow_live(struct walk *w)
{
	struct live_set *old = w->live;
	uint32_t cap = w->live_cap;

	w->live_cap = cap ? cap * 2 : 256;
	w->live = calloc(w->live_cap, sizeof(*w->live));
	if (!w->live) {
		w->live = old;
		w->live_cap = cap;
		w->no_memory = true;
		return false;
	}
	w->live_cnt = 0;
	for (uint32_t i = 0; i < cap; i++) {
		struct live_set *set = old[i].used ? live_set(w, &old[i].of) : NULL;

		if (set)
			*set = old[i];
	}
	free(old);
	return true;
}

/*
 * Before an update the verifier forgets what is surely written at all insns of a function if an
 * insn turned out to write less. That shows when slots are gained that were there.
 */
static void note_forgotten(struct walk *w, struct live_set *set, const struct live_change *change)
{
	if (!change->written || !(change->gained & set->written))
		return;
	for (uint32_t i = 0; i < w->live_cap; i++) {
		struct live_set *other = &w->live[i];

		if (other->used && other->update != w->live_update &&
		    !memcmp(&other->of.chain, &set->of.chain, sizeof(set->of.chain)))
			other->written = 0;
	}
	set->written = 0;
}

/* Changes one of the sets as a line tells. @return it before that: the line knows better what was
 * in it */
static uint64_t change_set(struct walk *w, struct live_set *set, const struct live_change *change)
{
	uint64_t *slots = change->written ? &set->written : &set->live;
	uint64_t old = (*slots | change->lost) & ~change->gained;

	set->update = w->live_update;
	*slots = (old | change->gained) & ~change->lost;
	return old;
}

void replay_live_stack(struct walk *w)
{
	struct live_change change, next;
	const struct log_item *item = &w->log->items[w->item];
	struct live_set *set;
	uint64_t old[2];

	if (!live_change_scan(w->log, item, &change))
		return;
	set = live_set(w, &change);
	if (!set)
		return;
	note_forgotten(w, set, &change);
	old[0] = set->live;
	old[1] = set->written;
	old[change.written] = change_set(w, set, &change);
	if (!change.written && w->item + 1 < w->log->item_cnt && item[1].kind == FORM_LIVE_STACK &&
	    live_change_scan(w->log, &item[1], &next) && next.written &&
	    next.frameno == change.frameno && next.insn_idx == change.insn_idx &&
	    !memcmp(&next.chain, &change.chain, sizeof(next.chain))) {
		note_forgotten(w, set, &next);
		old[1] = change_set(w, set, &next);
		w->item++;
	}
	TELL(w, live_stack, &change.chain, change.frameno, change.insn_idx, old[0], set->live,
	     old[1], set->written);
}
