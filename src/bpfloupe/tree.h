/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exploration as a tree that can be folded: checkpoints and branches under each other by their
 * parent links, as rows.
 *
 * Vocabulary
 *   line   one way from where it hangs down to a path's end: where a branch was left, the line goes
 *          on along the side that cost more, and the other side hangs at the branch as a line of
 *          its own. So no tree of n steps is deeper than log2(n), however long its loops are.
 *   loop   a stretch of a line that comes to the same insn on the same call chain again and again,
 *          seen by the checkpoints stored there. A turn lasts from one of them to the next.
 *
 * A tree may be used by one thread at a time.
 */
#ifndef BPFLOUPE_TREE_H
#define BPFLOUPE_TREE_H

#include "common.h"
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_tree;

#define LOUPE_NO_TREE_ROW UINT32_MAX /* no such row */

enum loupe_tree_kind {
	LOUPE_TREE_ROOT,       /* the exploration of a function begins */
	LOUPE_TREE_CHECKPOINT,
	LOUPE_TREE_BRANCH,     /* a branch was left: one side hangs here */
	LOUPE_TREE_LOOP,       /* all complete turns of a loop */
	LOUPE_TREE_TURN,       /* of a loop, from one of its checkpoints to the next */
	LOUPE_TREE_LEAF,       /* a path ends */
};

enum loupe_tree_end {
	LOUPE_END_NONE,	      /* not a leaf */
	LOUPE_END_PRUNED,     /* a checkpoint covers it */
	LOUPE_END_EXIT,	      /* the function's end */
	LOUPE_END_REJECTED,   /* the step that was rejected */
	LOUPE_END_UNFINISHED, /* verification ended here, or before it was explored */
	LOUPE_END_OTHER,      /* nothing to go on with: a dead end of speculation, an exception */
};

struct loupe_tree_row {
	enum loupe_tree_kind kind;
	uint32_t depth;	 /* lines that it hangs on, loops and turns that it is in */
	bool can_fold;	 /* something is below it that can be shown or hidden */
	bool folded;
	uint32_t step;	 /* ROOT, CHECKPOINT, LOOP, TURN: first step; BRANCH: the one that left it;
			    LEAF: the last one */
	uint64_t insns;	 /* processed instructions: CHECKPOINT, ROOT: all that descends from it;
			    BRANCH: of the side that hangs here; LOOP, TURN: of what is in it; LEAF:
			    0 */
	uint32_t serial; /* CHECKPOINT; LOOP, TURN: the first one of it */
	uint32_t second_serial; /* LOOP: with which its first turn ends */
	uint32_t last_serial; /* LOOP, TURN: the checkpoint with which it ends, which is not in
				 it */
	uint32_t turns;	 /* LOOP: turns; TURN: arrivals in it (checkpoints are not stored at
			    each) */
	uint32_t turn;	 /* TURN: number of its first one in its loop, from 1 */
	uint64_t push;	 /* BRANCH: row of LOUPE_TABLE_PUSH, else LOUPE_NO_ROW */
	bool now_hangs;	 /* BRANCH: the side that was explored at once hangs here, and the line goes
			    on along the one that was left for later */
	enum loupe_tree_end end;    /* LEAF; BRANCH: how the side ends if it has nothing but its
				       end */
	uint32_t end_step;	    /* its step; LOUPE_NO_STEP if the side was never explored */
	uint32_t pruned_by;	    /* PRUNED: serial, 0 if not known */
};

/** The tree of a trace, with loops and branches folded. NULL when out of memory; free before the
 * trace, with loupe_tree_destroy(). */
LOUPE_API struct loupe_tree *loupe_tree_create(const struct loupe_trace *trace);
LOUPE_API void loupe_tree_destroy(struct loupe_tree *tree);

/** Rows that are not hidden. */
LOUPE_API uint32_t loupe_tree_row_cnt(const struct loupe_tree *tree);

/** One of them, from the top; NULL if there is none. Valid until the rows change. */
LOUPE_API const struct loupe_tree_row *loupe_tree_row(const struct loupe_tree *tree, uint32_t row);

/**
 * Shows or hides what is below a row; its number stays. Nothing happens if it cannot fold.
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_tree_fold(struct loupe_tree *tree, uint32_t row, bool fold);

/** Shows everything, or folds as in the beginning. @return 0 or -ENOMEM */
LOUPE_API int loupe_tree_fold_all(struct loupe_tree *tree, bool fold);

/**
 * Unfolds what hides a step.
 * @return the last row at or before it on its way from the root; LOUPE_NO_TREE_ROW if there is no
 *         such step, or out of memory
 */
LOUPE_API uint32_t loupe_tree_find_step(struct loupe_tree *tree, uint32_t step);

/** Unfolds what hides a checkpoint. @return its row, or LOUPE_NO_TREE_ROW */
LOUPE_API uint32_t loupe_tree_find_checkpoint(struct loupe_tree *tree, uint32_t serial);

/** Row that a row hangs on or goes on from; LOUPE_NO_TREE_ROW at a root. */
LOUPE_API uint32_t loupe_tree_parent(const struct loupe_tree *tree, uint32_t row);

/** Processed instructions of all that descends from a checkpoint; 0 if there is no such serial. */
LOUPE_API uint64_t loupe_tree_checkpoint_insns(const struct loupe_trace *trace, uint32_t serial);

#ifdef __cplusplus
}
#endif

#endif
