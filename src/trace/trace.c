// SPDX-License-Identifier: GPL-2.0-only
/* A trace's life: creation, the indexes built when recording ends, what holds for the whole run. */
#include <errno.h>

#include "insn/opcodes.h"
#include "trace/store.h"

struct loupe_trace *loupe_trace_create(const struct loupe_image *image)
{
	struct loupe_trace *t = calloc(1, sizeof(*t));
	size_t cnt = image->insn_cnt ? image->insn_cnt : 1;

	if (!t)
		return NULL;
	t->image = image;
	t->insn_cnt = image->insn_cnt;
	t->error_step = LOUPE_NO_STEP;
	t->insns = calloc(cnt, sizeof(*t->insns));
	t->insn = calloc(cnt, sizeof(*t->insn));
	t->rec = trace_recorder_create();
	if (!t->insns || !t->insn || !t->rec || !trace_pool_init(&t->pool) ||
	    image->insn_cnt > STEP_INSN_MASK) {
		loupe_trace_destroy(t);
		return NULL;
	}
	if (image->from_log)
		trace_recorder_expect_all(t->rec);
	if (image->insn_cnt)
		memcpy(t->insns, image->insns, image->insn_cnt * sizeof(*t->insns));
	return t;
}

void loupe_trace_destroy(struct loupe_trace *t)
{
	if (!t)
		return;
	trace_recorder_destroy(t->rec);
	trace_prune_rec_finish(&t->prune);
	trace_pool_finish(&t->pool);
	free(t->insns);
	free(t->insn);
	free(t->facts);
	free(t->result.insn_seen);
	free(t->result.branch_taken);
	TRACE_FREE(&t->steps);
	TRACE_FREE(&t->scratched_slots);
	TRACE_FREE(&t->changes);
	TRACE_FREE(&t->paths);
	TRACE_FREE(&t->pushes);
	TRACE_FREE(&t->keyframes);
	TRACE_FREE(&t->keyframe_data);
	TRACE_FREE(&t->checkpoints);
	TRACE_FREE(&t->runs);
	TRACE_FREE(&t->run_outcomes);
	TRACE_FREE(&t->compare_bytes);
	TRACE_FREE(&t->compare_codes);
	TRACE_FREE(&t->compare_stats);
	TRACE_FREE(&t->evicts);
	TRACE_FREE(&t->walks);
	TRACE_FREE(&t->marks);
	TRACE_FREE(&t->messages);
	TRACE_FREE(&t->texts);
	TRACE_FREE(&t->sccs);
	TRACE_FREE(&t->chains);
	TRACE_FREE(&t->lives);
	free(t->visits);
	free(t->visit_start);
	free(t->insn_ckpts);
	free(t->insn_ckpt_start);
	free(t->error);
	free(t);
}

/* --- indexes -------------------------------------------------------------------------------- */

static uint32_t insn_of_step(const struct loupe_trace *t, uint32_t i)
{
	return trace_insn_of(t, i);
}

static uint32_t insn_of_checkpoint(const struct loupe_trace *t, uint32_t i)
{
	return (uint32_t)t->checkpoints.at[i].insn_idx;
}

/* Sorts cnt items by insn, stably: *start has insn_cnt + 1 entries, *items gets item + base. */
static bool by_insn(const struct loupe_trace *t, uint32_t cnt,
		    uint32_t (*insn_of)(const struct loupe_trace *t, uint32_t i), uint32_t base,
		    uint32_t **start, uint32_t **items)
{
	uint32_t *s = calloc((size_t)t->insn_cnt + 2, sizeof(*s));

	*start = s;
	*items = malloc(((size_t)cnt + 1) * sizeof(**items));
	if (!s || !*items)
		return false;
	/* Counts go two places up, so that filling leaves the starts in place. */
	for (uint32_t i = 0; i < cnt; i++)
		s[insn_of(t, i) + 2]++;
	for (uint32_t i = 2; i <= t->insn_cnt + 1; i++)
		s[i] += s[i - 1];
	for (uint32_t i = 0; i < cnt; i++)
		(*items)[s[insn_of(t, i) + 1]++] = i + base;
	return true;
}

/* A branch's two sides, and where paths end; needs whole paths, so it is done at the end. */
static void count_branches(struct loupe_trace *t)
{
	for (uint32_t p = 0; p < t->paths.cnt; p++) {
		const struct trace_path *path = &t->paths.at[p];
		uint32_t last = trace_path_last(t, p);
		uint32_t prev = (uint32_t)path->prev_insn;

		t->steps.at[last].word |= (uint32_t)LOUPE_STEP_PATH_END << STEP_FLAGS_SHIFT;
		for (uint32_t s = path->first; s <= last; s++) {
			uint32_t insn = trace_insn_of(t, s);

			if (prev < t->insn_cnt && trace_is_cond_jmp(&t->insns[prev])) {
				if (trace_fell_through(prev, insn))
					t->insn[prev].fell++;
				else
					t->insn[prev].taken++;
			}
			prev = insn;
		}
	}
}

/* Descendants follow a path directly, because the latest branch is popped first. */
static bool close_subtrees(struct loupe_trace *t)
{
	uint32_t *open = malloc((t->paths.cnt + 1) * sizeof(*open));
	uint32_t cnt = 0;

	if (!open)
		return false;
	for (uint32_t p = 0; p < t->paths.cnt; p++) {
		while (cnt && open[cnt - 1] != t->paths.at[p].parent)
			t->paths.at[open[--cnt]].subtree_end = t->paths.at[p].first;
		open[cnt++] = p;
	}
	while (cnt)
		t->paths.at[open[--cnt]].subtree_end = t->step_cnt;
	free(open);
	return true;
}

static void link_checkpoints(struct loupe_trace *t)
{
	for (uint32_t i = (uint32_t)t->checkpoints.cnt; i-- > 0;) {
		struct trace_checkpoint *c = &t->checkpoints.at[i];
		struct trace_checkpoint *parent;

		if (!c->parent)
			continue;
		parent = &t->checkpoints.at[c->parent - 1];
		c->next_sibling = parent->first_child;
		parent->first_child = i + 1;
		parent->child_cnt++;
	}
}

int loupe_trace_finish(struct loupe_trace *t)
{
	bool ok;

	if (!t->rec)
		return t->failed ? -ENOMEM : 0;
	trace_recorder_destroy(t->rec);
	trace_prune_rec_finish(&t->prune);
	t->rec = NULL;
	trace_pool_seal(&t->pool);
	ok = by_insn(t, t->step_cnt, insn_of_step, 0, &t->visit_start, &t->visits) &&
	     by_insn(t, (uint32_t)t->checkpoints.cnt, insn_of_checkpoint, 1, &t->insn_ckpt_start,
		     &t->insn_ckpts) &&
	     close_subtrees(t) && trace_count_compares(t);
	if (!ok) {
		t->failed = true;
		return -ENOMEM;
	}
	count_branches(t);
	link_checkpoints(t);
	return t->failed ? -ENOMEM : 0;
}

/* --- the run as a whole --------------------------------------------------------------------- */

const struct loupe_image *loupe_trace_image(const struct loupe_trace *t)
{
	return t->image;
}

const struct loupe_insn *loupe_trace_insns(const struct loupe_trace *t)
{
	return t->insns;
}

uint32_t loupe_trace_insn_cnt(const struct loupe_trace *t)
{
	return t->insn_cnt;
}

bool loupe_trace_complete(const struct loupe_trace *t)
{
	return t->ended && !t->failed;
}

const struct loupe_verify_result *loupe_trace_result(const struct loupe_trace *t)
{
	return t->ended ? &t->result : NULL;
}

const struct loupe_insn_facts *loupe_trace_facts(const struct loupe_trace *t, uint32_t insn)
{
	return insn < t->facts_cnt ? &t->facts[insn] : NULL;
}

uint32_t loupe_trace_subprog_cnt(const struct loupe_trace *t)
{
	return t->subprog_cnt;
}

uint32_t loupe_trace_subprog_start(const struct loupe_trace *t, uint32_t subprogno)
{
	return subprogno < t->subprog_cnt ? t->subprogs[subprogno] : 0;
}

uint32_t loupe_trace_subprog_of(const struct loupe_trace *t, uint32_t insn)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->subprog_cnt; i++) {
		if (t->subprogs[i] <= insn && t->subprogs[i] >= t->subprogs[best])
			best = i;
	}
	return best;
}

const char *loupe_trace_error(const struct loupe_trace *t)
{
	return t->error ? t->error : "";
}

uint32_t loupe_trace_error_step(const struct loupe_trace *t)
{
	return t->error_step;
}

#define BYTES(vec) ((vec).cnt * sizeof(*(vec).at))

size_t loupe_trace_bytes(const struct loupe_trace *t)
{
	size_t index = t->visits ? (t->step_cnt + t->insn_cnt * (size_t)2 + t->checkpoints.cnt) *
					   sizeof(uint32_t)
				 : 0;

	return sizeof(*t) + index + t->insn_cnt * (sizeof(*t->insns) + sizeof(*t->insn)) +
	       t->facts_cnt * sizeof(*t->facts) + BYTES(t->steps) + BYTES(t->scratched_slots) +
	       BYTES(t->changes) + BYTES(t->pool.words) + BYTES(t->paths) + BYTES(t->pushes) +
	       BYTES(t->keyframes) + BYTES(t->keyframe_data) + BYTES(t->checkpoints) +
	       BYTES(t->runs) + BYTES(t->run_outcomes) + BYTES(t->compare_bytes) +
	       BYTES(t->compare_codes) + BYTES(t->compare_stats) + BYTES(t->evicts) +
	       BYTES(t->walks) + BYTES(t->marks) + BYTES(t->messages) + BYTES(t->texts) +
	       BYTES(t->sccs) + BYTES(t->chains) + BYTES(t->lives);
}
