// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exploration as rows of a tree. Nothing of the tree is stored but what is folded: the trace's
 * paths, pushes and checkpoints are in the order of steps, and each subtree is a stretch of steps,
 * because the branch that was left last is explored first.
 *
 * Lines follow the larger side at each branch (heavy paths: Sleator and Tarjan, "A data structure
 * for dynamic trees", 1983), so that indentation is logarithmic.
 */
#include <errno.h>

#include "bpfloupe/tree.h"
#include "insn/opcodes.h"
#include "trace/store.h"

/* Where a call chain begins to hold, in order of steps. */
struct chain_at {
	uint32_t step, chain;
};

/* A call chain: the one of the caller and the call. */
struct chain {
	uint32_t parent;
	uint32_t callsite;
};

struct loupe_tree {
	const struct loupe_trace *t;
	TRACE_VEC(struct loupe_tree_row) rows;
	TRACE_VEC(uint32_t) parents; /* of the rows */
	TRACE_VEC(struct chain) chains;
	TRACE_VEC(struct chain_at) chain_ats;
	/* bits: by push, and by serial - 1 */
	uint64_t *open_pushes, *open_loops, *open_turns, *closed;
	bool failed; /* out of memory while making the rows */
	/* while rows are made */
	uint32_t target;	/* step to show, LOUPE_NO_STEP: none */
	uint32_t target_serial; /* or the checkpoint whose row is wanted */
	uint32_t found;
	bool passed; /* the side where the target is was made */
	uint32_t above; /* row that the next one goes on from */
};

/* Steps [from, to). */
struct range {
	uint32_t from, to;
};

static bool range_has(struct range range, uint32_t step)
{
	return step != LOUPE_NO_STEP && step >= range.from && step < range.to;
}

/* ---- bits --------------------------------------------------------------------------------- */

static uint64_t *bits_create(size_t cnt)
{
	return calloc(cnt / 64 + 1, sizeof(uint64_t));
}

static bool bit_get(const uint64_t *bits, size_t n)
{
	return (bits[n / 64] >> n % 64 & 1) != 0;
}

static void bit_set(uint64_t *bits, size_t n, bool on)
{
	uint64_t bit = (uint64_t)1 << n % 64;

	bits[n / 64] = on ? bits[n / 64] | bit : bits[n / 64] & ~bit;
}

/* ---- call chains -------------------------------------------------------------------------- */

/* Chains are few: those of one caller are looked through. */
static uint32_t chain_enter(struct loupe_tree *tree, uint32_t parent, uint32_t callsite)
{
	struct chain *chain;

	for (uint32_t i = (uint32_t)tree->chains.cnt; i-- > 1;) {
		if (tree->chains.at[i].parent == parent && tree->chains.at[i].callsite == callsite)
			return i;
	}
	chain = TRACE_PUSH(&tree->chains);
	if (!chain) {
		tree->failed = true;
		return 0;
	}
	*chain = (struct chain){ parent, callsite };
	return (uint32_t)tree->chains.cnt - 1;
}

static uint32_t chain_of(const struct loupe_tree *tree, uint32_t step)
{
	const struct chain_at *at = tree->chain_ats.at;

	return at ? at[TRACE_LAST(&tree->chain_ats, step, step)].chain : 0;
}

/* The chain after going from one step's frame to another's. */
static uint32_t chain_next(struct loupe_tree *tree, uint32_t chain, uint32_t before, uint32_t after)
{
	uint32_t was = trace_frame_of(tree->t, before), is = trace_frame_of(tree->t, after);

	if (is > was)
		return chain_enter(tree, chain, trace_insn_of(tree->t, before));
	for (; is < was; was--)
		chain = tree->chains.at[chain].parent;
	return chain;
}

static bool find_chains(struct loupe_tree *tree)
{
	const struct loupe_trace *t = tree->t;
	struct chain *none = TRACE_PUSH(&tree->chains);
	uint32_t path = 0, chain = 0;

	if (!none)
		return false;
	*none = (struct chain){ 0 };
	for (uint32_t step = 0; step < t->step_cnt && !tree->failed; step++) {
		bool first = path < t->paths.cnt && t->paths.at[path].first == step;
		struct chain_at *last = NULL;
		uint32_t now = chain;

		if (first) {
			const struct trace_path *p = &t->paths.at[path++];

			now = p->parent_step == TRACE_NONE
				      ? 0
				      : chain_next(tree, chain_of(tree, p->parent_step),
						   p->parent_step, step);
		} else if (step && trace_frame_of(t, step) != trace_frame_of(t, step - 1)) {
			now = chain_next(tree, chain, step - 1, step);
		}
		if (step && now == chain)
			continue;
		last = TRACE_PUSH(&tree->chain_ats);
		if (!last)
			return false;
		*last = (struct chain_at){ step, now };
		chain = now;
	}
	return !tree->failed;
}

/* ---- subtrees as stretches of steps --------------------------------------------------------- */

/* First push, checkpoint whose step is at or after step. */
static uint32_t push_lower(const struct loupe_trace *t, uint32_t step)
{
	return (uint32_t)loupe_trace_first_row(t, LOUPE_TABLE_PUSH, step);
}

static uint32_t checkpoint_lower(const struct loupe_trace *t, uint32_t step)
{
	return (uint32_t)TRACE_BELOW(&t->checkpoints, born, step);
}

/* Steps of the side of a push that was left for later; empty if it was never explored. */
static struct range later_side(const struct loupe_trace *t, uint32_t push)
{
	const struct trace_path *path;

	if (t->pushes.at[push].path == TRACE_NONE)
		return (struct range){ t->step_cnt, t->step_cnt };
	path = &t->paths.at[t->pushes.at[push].path];
	return (struct range){ path->first, path->subtree_end };
}

/* Steps of the side that was explored at once. */
static struct range now_side(const struct loupe_trace *t, uint32_t push)
{
	return (struct range){ t->pushes.at[push].step + 1, later_side(t, push).from };
}

/* What descends from a checkpoint: all until the first branch that was left before it is taken. */
static struct range checkpoint_range(const struct loupe_trace *t, uint32_t serial)
{
	uint32_t born = t->checkpoints.at[serial - 1].born;
	uint32_t last = trace_path_last(t, loupe_trace_path_of(t, born));
	uint32_t push = push_lower(t, born);

	if (push < t->pushes.cnt && t->pushes.at[push].step <= last)
		return (struct range){ born, later_side(t, push).to };
	return (struct range){ born, last + 1 };
}

uint64_t loupe_tree_checkpoint_insns(const struct loupe_trace *t, uint32_t serial)
{
	struct range range;

	if (!serial || serial > t->checkpoints.cnt)
		return 0;
	range = checkpoint_range(t, serial);
	return range.to - range.from;
}

/* ---- lines -------------------------------------------------------------------------------- */

enum item_kind { ITEM_CHECKPOINT, ITEM_BRANCH, ITEM_END };

struct item {
	enum item_kind kind;
	uint32_t step;
	uint32_t n;    /* serial, push or path */
	uint32_t path; /* that it is on */
	bool now_hangs;
	uint32_t next; /* checkpoints: the item of the next one at the same place, TRACE_NONE */
};

/* Where a line begins. */
struct start {
	uint32_t path;
	uint32_t push;	     /* first one that belongs to it */
	uint32_t checkpoint; /* the same, serial - 1 */
	struct range range;  /* steps of all that hangs on it */
};

struct line {
	TRACE_VEC(struct item) items;
	struct range range;
};

static struct start start_of_path(const struct loupe_trace *t, uint32_t path)
{
	const struct trace_path *p = &t->paths.at[path];

	return (struct start){ path, push_lower(t, p->first), checkpoint_lower(t, p->first),
			       { p->first, p->subtree_end } };
}

/* The line on which the side that was explored at once hangs at a push. */
static struct start start_of_now(const struct loupe_trace *t, uint32_t push)
{
	uint32_t step = t->pushes.at[push].step;

	return (struct start){ loupe_trace_path_of(t, step), push + 1,
			       checkpoint_lower(t, step + 1), now_side(t, push) };
}

/* Finds for each checkpoint the next one of the line at the same insn and call chain. */
static bool find_loops(const struct loupe_tree *tree, struct line *line)
{
	uint32_t cap = 16, *table;

	while (cap < line->items.cnt * 2)
		cap *= 2;
	table = calloc(cap, sizeof(*table)); /* item + 1 */
	if (!table)
		return false;
	for (uint32_t i = (uint32_t)line->items.cnt; i-- > 0;) {
		struct item *item = &line->items.at[i];
		int32_t insn;
		uint32_t chain, at;

		item->next = TRACE_NONE;
		if (item->kind != ITEM_CHECKPOINT)
			continue;
		insn = tree->t->checkpoints.at[item->n - 1].insn_idx;
		chain = chain_of(tree, item->step);
		for (at = ((uint32_t)insn * 2654435761u ^ chain * 40503u) & (cap - 1); table[at];
		     at = (at + 1) & (cap - 1)) {
			const struct item *later = &line->items.at[table[at] - 1];

			if (tree->t->checkpoints.at[later->n - 1].insn_idx == insn &&
			    chain_of(tree, later->step) == chain) {
				item->next = table[at] - 1;
				break;
			}
		}
		table[at] = i + 1;
	}
	free(table);
	return true;
}

static bool add_item(struct line *line, enum item_kind kind, uint32_t step, uint32_t n,
		     uint32_t path)
{
	struct item *item = TRACE_PUSH(&line->items);

	if (!item)
		return false;
	*item = (struct item){ .kind = kind, .step = step, .n = n, .path = path };
	return true;
}

static bool gather(const struct loupe_tree *tree, struct start at, struct line *line)
{
	const struct loupe_trace *t = tree->t;
	uint32_t last = trace_path_last(t, at.path);

	line->range = at.range;
	for (;;) {
		uint32_t born = at.checkpoint < t->checkpoints.cnt ?
					t->checkpoints.at[at.checkpoint].born :
					LOUPE_NO_STEP;
		uint32_t left =
			at.push < t->pushes.cnt ? t->pushes.at[at.push].step : LOUPE_NO_STEP;
		struct range now, later;

		if (born <= last && born <= left) {
			if (!add_item(line, ITEM_CHECKPOINT, born, ++at.checkpoint, at.path))
				return false;
			continue;
		}
		if (left > last)
			return add_item(line, ITEM_END, last, at.path, at.path) &&
			       find_loops(tree, line);
		if (!add_item(line, ITEM_BRANCH, left, at.push, at.path))
			return false;
		now = now_side(t, at.push);
		later = later_side(t, at.push);
		if (later.to - later.from > now.to - now.from) {
			line->items.at[line->items.cnt - 1].now_hangs = true;
			at = start_of_path(t, t->pushes.at[at.push].path);
			last = trace_path_last(t, at.path);
		} else {
			at.push++;
		}
	}
}

/* Arrivals at a checkpoint's insn, on its call chain, between two items of a line. */
static uint32_t count_arrivals(const struct loupe_tree *tree, const struct line *line,
			       uint32_t from, uint32_t to)
{
	const struct loupe_trace *t = tree->t;
	const struct item *items = line->items.at;
	uint32_t insn = (uint32_t)t->checkpoints.at[items[from].n - 1].insn_idx;
	uint32_t chain = chain_of(tree, items[from].step), cnt, sum = 0;
	const uint32_t *visits = loupe_trace_visits(t, insn, &cnt);
	uint32_t begin = items[from].step;

	for (uint32_t i = from + 1; i <= to; i++) {
		const struct item *before = &items[i - 1];
		uint32_t end = items[i].step;

		/* the line goes over to a path that was left at the item before */
		if (items[i].path != before->path) {
			for (uint32_t v = loupe_trace_visit_lower(t, insn, begin);
			     v < cnt && visits[v] <= before->step; v++)
				sum += chain_of(tree, visits[v]) == chain;
			begin = t->paths.at[items[i].path].first;
		}
		for (uint32_t v = loupe_trace_visit_lower(t, insn, begin);
		     v < cnt && visits[v] < end; v++)
			sum += chain_of(tree, visits[v]) == chain;
		begin = end;
	}
	return sum;
}

/* ---- rows --------------------------------------------------------------------------------- */

static struct loupe_tree_row *add_row(struct loupe_tree *tree, enum loupe_tree_kind kind,
				      uint32_t depth, uint32_t step)
{
	struct loupe_tree_row *row = tree->failed ? NULL : TRACE_PUSH(&tree->rows);
	uint32_t *parent = row ? TRACE_PUSH(&tree->parents) : NULL;

	if (!parent) {
		tree->failed = true;
		return NULL;
	}
	*row = (struct loupe_tree_row){
		.kind = kind,
		.depth = depth,
		.step = step,
		.push = LOUPE_NO_ROW,
		.end_step = LOUPE_NO_STEP,
	};
	*parent = tree->above;
	return row;
}

/* The row made last; only rows of one's own are gone on from. */
static uint32_t last_row(const struct loupe_tree *tree)
{
	return (uint32_t)tree->rows.cnt - 1;
}

static void set_end(const struct loupe_tree *tree, struct loupe_tree_row *row, uint32_t step)
{
	const struct loupe_trace *t = tree->t;
	uint32_t word = t->steps.at[step].word;
	const struct loupe_verify_result *result = loupe_trace_result(t);
	struct loupe_compare_info info;

	row->end_step = step;
	row->end = LOUPE_END_OTHER;
	if (step == t->error_step) {
		row->end = LOUPE_END_REJECTED;
	} else if (word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PRUNED) {
		row->end = LOUPE_END_PRUNED;
		for (uint64_t n = loupe_trace_first_row(t, LOUPE_TABLE_COMPARE, step);
		     !loupe_trace_compare(t, n, &info) && info.step == step; n++) {
			if (info.outcome <= LOUPE_CMP_LOOP_CONVERGED)
				row->pruned_by = info.serial;
		}
	} else if (step == t->step_cnt - 1 &&
		   (!result || result->phase == LOUPE_PHASE_EXPLORE_MAIN ||
		    result->phase == LOUPE_PHASE_EXPLORE_SUBPROGS)) {
		/* where exploration stopped; what a later phase rejects was explored to its end */
		row->end = LOUPE_END_UNFINISHED;
	} else if (t->insns[trace_insn_of(t, step)].code == (BPF_JMP | BPF_EXIT)) {
		row->end = LOUPE_END_EXIT;
	}
}

static void make_line(struct loupe_tree *tree, struct start start, uint32_t depth, bool here);

/* A side that has nothing but its end says so in the branch's row. */
static bool side_is_plain(const struct loupe_trace *t, struct start side)
{
	uint32_t last = trace_path_last(t, side.path);

	return (side.push >= t->pushes.cnt || t->pushes.at[side.push].step > last) &&
	       (side.checkpoint >= t->checkpoints.cnt ||
		t->checkpoints.at[side.checkpoint].born > last);
}

static void make_branch(struct loupe_tree *tree, const struct item *item, uint32_t depth, bool here)
{
	const struct loupe_trace *t = tree->t;
	struct loupe_tree_row *row = add_row(tree, LOUPE_TREE_BRANCH, depth, item->step);
	struct range range = item->now_hangs ? now_side(t, item->n) : later_side(t, item->n);
	bool below = here && !tree->passed && range_has(range, tree->target);
	struct start side;
	uint32_t above = tree->above;

	if (!row)
		return;
	if (here && !tree->passed && item->step <= tree->target && !tree->target_serial)
		tree->found = last_row(tree);
	row->push = item->n;
	row->now_hangs = item->now_hangs;
	row->insns = range.to - range.from;
	if (!row->insns) {
		row->end = LOUPE_END_UNFINISHED;
		return;
	}
	side = item->now_hangs ? start_of_now(t, item->n) :
				 start_of_path(t, t->pushes.at[item->n].path);
	if (side_is_plain(t, side)) {
		set_end(tree, row, trace_path_last(t, side.path));
		tree->passed |= below;
		return;
	}
	if (below)
		bit_set(tree->open_pushes, item->n, true);
	row->can_fold = true;
	row->folded = !bit_get(tree->open_pushes, item->n);
	if (row->folded)
		return;
	tree->above = last_row(tree);
	make_line(tree, side, depth + 1, below);
	tree->above = above;
	tree->passed |= below;
}

static void make_checkpoint(struct loupe_tree *tree, const struct item *item, uint32_t depth,
			    bool more, bool here)
{
	struct loupe_tree_row *row = add_row(tree, LOUPE_TREE_CHECKPOINT, depth, item->step);
	struct range range = checkpoint_range(tree->t, item->n);

	if (!row)
		return;
	here &= !tree->passed;
	if (here &&
	    (tree->target_serial ? item->n == tree->target_serial : item->step <= tree->target))
		tree->found = last_row(tree);
	/* the wanted one may be folded, what it hides may not */
	if (here && range_has(range, tree->target) && item->step != tree->target)
		bit_set(tree->closed, item->n - 1, false);
	row->serial = item->n;
	row->insns = range.to - range.from;
	row->can_fold = more;
	row->folded = more && bit_get(tree->closed, item->n - 1);
	tree->above = last_row(tree);
}

static void make_range(struct loupe_tree *tree, struct line *line, uint32_t lo, uint32_t hi,
		       uint32_t depth, bool here);

/* Is the target in what lies between two checkpoints of a line? */
static bool between(const struct loupe_tree *tree, uint32_t first, uint32_t last)
{
	return range_has(checkpoint_range(tree->t, first), tree->target) &&
	       !range_has(checkpoint_range(tree->t, last), tree->target);
}

static struct loupe_tree_row *make_stretch(struct loupe_tree *tree, struct line *line,
					   enum loupe_tree_kind kind, uint32_t from, uint32_t to,
					   uint32_t depth, uint64_t *open, bool here)
{
	const struct item *items = line->items.at;
	uint32_t first = items[from].n, last = items[to].n;
	struct loupe_tree_row *row = add_row(tree, kind, depth, items[from].step);

	if (!row)
		return NULL;
	if (here && !tree->passed && between(tree, first, last)) {
		bit_set(open, first - 1, true);
		tree->found = last_row(tree);
	}
	row->serial = first;
	row->last_serial = last;
	row->insns = loupe_tree_checkpoint_insns(tree->t, first) -
		     loupe_tree_checkpoint_insns(tree->t, last);
	row->turns = count_arrivals(tree, line, from, to);
	row->can_fold = true;
	row->folded = !bit_get(open, first - 1);
	return row;
}

static void make_turn(struct loupe_tree *tree, struct line *line, uint32_t from, uint32_t to,
		      uint32_t depth, uint32_t *turn, bool here)
{
	struct loupe_tree_row *row = make_stretch(tree, line, LOUPE_TREE_TURN, from, to, depth,
						  tree->open_turns, here);

	if (!row)
		return;
	row->turn = *turn;
	*turn += row->turns;
	if (row->folded)
		return;
	tree->above = last_row(tree);
	make_checkpoint(tree, &line->items.at[from], depth + 1, false, here);
	make_range(tree, line, from + 1, to, depth + 1, here);
}

/* Returns the last checkpoint of the loop, which ends its last complete turn. */
static uint32_t make_loop(struct loupe_tree *tree, struct line *line, uint32_t from, uint32_t hi,
			  uint32_t depth, bool here)
{
	const struct item *items = line->items.at;
	uint32_t last = from, turn = 1, own;
	struct loupe_tree_row *row;

	while (items[last].next < hi)
		last = items[last].next;
	row = make_stretch(tree, line, LOUPE_TREE_LOOP, from, last, depth, tree->open_loops, here);
	own = last_row(tree);
	if (row)
		row->second_serial = items[items[from].next].n;
	for (uint32_t i = from; i != last && row && !row->folded && !tree->failed;
	     i = items[i].next) {
		tree->above = own;
		make_turn(tree, line, i, items[i].next, depth + 1, &turn, here);
		row = &tree->rows.at[own];
	}
	tree->above = own;
	return last;
}

static void make_range(struct loupe_tree *tree, struct line *line, uint32_t lo, uint32_t hi,
		       uint32_t depth, bool here)
{
	bool plain = false; /* the next checkpoint begins no loop: it ends one */
	struct loupe_tree_row *row;

	for (uint32_t i = lo; i < hi && !tree->failed; i++) {
		const struct item *item = &line->items.at[i];

		switch (item->kind) {
		case ITEM_CHECKPOINT:
			if (!plain && item->next < hi) {
				i = make_loop(tree, line, i, hi, depth, here) - 1;
				plain = true;
				break;
			}
			plain = false;
			make_checkpoint(tree, item, depth, i + 1 < hi, here);
			if (!tree->failed && tree->rows.at[last_row(tree)].folded)
				return;
			break;
		case ITEM_BRANCH:
			make_branch(tree, item, depth, here);
			break;
		case ITEM_END:
			row = add_row(tree, LOUPE_TREE_LEAF, depth, item->step);
			if (!row)
				return;
			set_end(tree, row, item->step);
			if (here && !tree->passed && item->step <= tree->target &&
			    !tree->target_serial)
				tree->found = last_row(tree);
			break;
		}
	}
}

/* here: the target is on it, or on what hangs on it. */
static void make_line(struct loupe_tree *tree, struct start start, uint32_t depth, bool here)
{
	struct line line = { .range = start.range };

	if (gather(tree, start, &line))
		make_range(tree, &line, 0, (uint32_t)line.items.cnt, depth, here);
	else
		tree->failed = true;
	TRACE_FREE(&line.items);
}

static int make_rows(struct loupe_tree *tree)
{
	const struct loupe_trace *t = tree->t;

	tree->rows.cnt = 0;
	tree->parents.cnt = 0;
	tree->failed = false;
	tree->found = LOUPE_NO_TREE_ROW;
	tree->passed = false;
	for (uint32_t path = 0; path < t->paths.cnt && !tree->failed; path++) {
		struct start start;
		struct loupe_tree_row *row;
		bool here;

		if (t->paths.at[path].parent != TRACE_NONE)
			continue;
		start = start_of_path(t, path);
		here = range_has(start.range, tree->target);
		tree->above = LOUPE_NO_TREE_ROW;
		row = add_row(tree, LOUPE_TREE_ROOT, 0, start.range.from);
		if (!row)
			break;
		row->insns = start.range.to - start.range.from;
		if (here && !tree->target_serial)
			tree->found = last_row(tree);
		tree->above = last_row(tree);
		make_line(tree, start, 1, here);
	}
	tree->target = LOUPE_NO_STEP;
	tree->target_serial = 0;
	return tree->failed ? -ENOMEM : 0;
}

/* ---- the interface -------------------------------------------------------------------------- */

struct loupe_tree *loupe_tree_create(const struct loupe_trace *trace)
{
	struct loupe_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->t = trace;
	tree->target = LOUPE_NO_STEP;
	tree->open_pushes = bits_create(trace->pushes.cnt);
	tree->open_loops = bits_create(trace->checkpoints.cnt);
	tree->open_turns = bits_create(trace->checkpoints.cnt);
	tree->closed = bits_create(trace->checkpoints.cnt);
	if (!tree->open_pushes || !tree->open_loops || !tree->open_turns || !tree->closed ||
	    !find_chains(tree) || make_rows(tree)) {
		loupe_tree_destroy(tree);
		return NULL;
	}
	return tree;
}

void loupe_tree_destroy(struct loupe_tree *tree)
{
	if (!tree)
		return;
	TRACE_FREE(&tree->rows);
	TRACE_FREE(&tree->parents);
	TRACE_FREE(&tree->chains);
	TRACE_FREE(&tree->chain_ats);
	free(tree->open_pushes);
	free(tree->open_loops);
	free(tree->open_turns);
	free(tree->closed);
	free(tree);
}

uint32_t loupe_tree_row_cnt(const struct loupe_tree *tree)
{
	return (uint32_t)tree->rows.cnt;
}

const struct loupe_tree_row *loupe_tree_row(const struct loupe_tree *tree, uint32_t row)
{
	return row < tree->rows.cnt ? &tree->rows.at[row] : NULL;
}

int loupe_tree_fold(struct loupe_tree *tree, uint32_t n, bool fold)
{
	const struct loupe_tree_row *row = loupe_tree_row(tree, n);

	if (!row || !row->can_fold || row->folded == fold)
		return 0;
	switch (row->kind) {
	case LOUPE_TREE_CHECKPOINT:
		bit_set(tree->closed, row->serial - 1, fold);
		break;
	case LOUPE_TREE_BRANCH:
		bit_set(tree->open_pushes, row->push, !fold);
		break;
	case LOUPE_TREE_LOOP:
		bit_set(tree->open_loops, row->serial - 1, !fold);
		break;
	case LOUPE_TREE_TURN:
		bit_set(tree->open_turns, row->serial - 1, !fold);
		break;
	default:
		return 0;
	}
	return make_rows(tree);
}

int loupe_tree_fold_all(struct loupe_tree *tree, bool fold)
{
	size_t pushes = (tree->t->pushes.cnt / 64 + 1) * sizeof(uint64_t);
	size_t checkpoints = (tree->t->checkpoints.cnt / 64 + 1) * sizeof(uint64_t);

	memset(tree->open_pushes, fold ? 0 : 255, pushes);
	memset(tree->open_loops, fold ? 0 : 255, checkpoints);
	memset(tree->open_turns, fold ? 0 : 255, checkpoints);
	memset(tree->closed, 0, checkpoints);
	return make_rows(tree);
}

uint32_t loupe_tree_find_step(struct loupe_tree *tree, uint32_t step)
{
	if (step >= tree->t->step_cnt)
		return LOUPE_NO_TREE_ROW;
	tree->target = step;
	return make_rows(tree) ? LOUPE_NO_TREE_ROW : tree->found;
}

uint32_t loupe_tree_find_checkpoint(struct loupe_tree *tree, uint32_t serial)
{
	if (!serial || serial > tree->t->checkpoints.cnt)
		return LOUPE_NO_TREE_ROW;
	tree->target = tree->t->checkpoints.at[serial - 1].born;
	tree->target_serial = serial;
	return make_rows(tree) ? LOUPE_NO_TREE_ROW : tree->found;
}

uint32_t loupe_tree_parent(const struct loupe_tree *tree, uint32_t row)
{
	return row < tree->parents.cnt ? tree->parents.at[row] : LOUPE_NO_TREE_ROW;
}
