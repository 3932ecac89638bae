/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace: the whole exploration as an ordered, randomly accessible record. A recorder listens to the
 * verifier and fills it; views read it and nothing else.
 *
 * Vocabulary
 *   step        one processed instruction, in the order in which the verifier reached them, from 0.
 *               Step n's state is the state before its instruction. An arrival that was pruned is
 *               a step too (the verifier counts it), so steps equal processed instructions.
 *   path        a run of consecutive steps from the start of a function's exploration, or from a
 *               pop of a pending branch, to where the path ended. Paths branch: what came *before*
 *               a path's first step is the step that pushed the branch, not the step recorded
 *               before it. "Before" and "predecessor" always follow paths here.
 *   writer      the step whose instruction gave a location its present value.
 *   row         number of an entry of one of the tables, in record order, from 0. Every table is
 *               sorted by step; loupe_trace_first_row() finds a step's first row.
 *   checkpoint  named by its serial number, from 1 in the order in which they were stored.
 *
 * A trace may be read by several threads at once, each with its own cursor, once recording ended.
 */
#ifndef BPFLOUPE_TRACE_H
#define BPFLOUPE_TRACE_H

#include "common.h"
#include "image.h"
#include "state.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_trace;
struct loupe_cursor;

#define LOUPE_NO_STEP UINT32_MAX /* no such step */
#define LOUPE_NO_ROW  UINT64_MAX /* no such row */
#define LOUPE_NO_PATH UINT32_MAX /* no such path */

/* --- recording ------------------------------------------------------------------------------ */

/**
 * An empty trace.
 * @param image  the program that will be verified; the trace copies its instructions and keeps the
 *               pointer only for loupe_trace_image()
 * @return NULL when out of memory; free with loupe_trace_destroy()
 */
LOUPE_API struct loupe_trace *loupe_trace_create(const struct loupe_image *image);

/** The recorder's hooks: put it among loupe_verify_opts.listeners of one loupe_verify() call. */
LOUPE_API struct loupe_listener loupe_trace_listener(struct loupe_trace *trace);

/**
 * Ends the recording and builds the indexes; nothing may be asked before.
 * @return 0, or -ENOMEM when memory ran out while recording: then the trace holds what was recorded
 *         until then, loupe_trace_complete() is false, and every query works
 */
LOUPE_API int loupe_trace_finish(struct loupe_trace *trace);

/** Frees the trace; its cursors must be gone. NULL is fine. */
LOUPE_API void loupe_trace_destroy(struct loupe_trace *trace);

/* --- the run as a whole --------------------------------------------------------------------- */

/** The image given at creation; valid only as long as its owner keeps it. */
LOUPE_API const struct loupe_image *loupe_trace_image(const struct loupe_trace *trace);

/** Instructions as they were when verification began, loupe_trace_insn_cnt() of them. */
LOUPE_API const struct loupe_insn *loupe_trace_insns(const struct loupe_trace *trace);
LOUPE_API uint32_t loupe_trace_insn_cnt(const struct loupe_trace *trace);

/** False when memory ran out while recording, or the end of the verification was not heard. */
LOUPE_API bool loupe_trace_complete(const struct loupe_trace *trace);

/** Verdict, errno, phase, counters, stack depths, seen insns; NULL if the end was not heard. */
LOUPE_API const struct loupe_verify_result *loupe_trace_result(const struct loupe_trace *trace);

/** Facts of an insn found before exploration; NULL if verification ended before, or insn is out of
 * range. */
LOUPE_API const struct loupe_insn_facts *loupe_trace_facts(const struct loupe_trace *trace,
							   uint32_t insn);

/** Functions: how many, where each starts, and which one an insn belongs to (0 if none known). */
LOUPE_API uint32_t loupe_trace_subprog_cnt(const struct loupe_trace *trace);
LOUPE_API uint32_t loupe_trace_subprog_start(const struct loupe_trace *trace, uint32_t subprogno);
LOUPE_API uint32_t loupe_trace_subprog_of(const struct loupe_trace *trace, uint32_t insn);

/** Of a rejected program: the message that explains it ("" if there is none), as the log has it. */
LOUPE_API const char *loupe_trace_error(const struct loupe_trace *trace);

/** Of a rejected program: the step at which exploration failed; LOUPE_NO_STEP if not in
 * exploration. */
LOUPE_API uint32_t loupe_trace_error_step(const struct loupe_trace *trace);

/** Bytes that the trace occupies, without room for growth. */
LOUPE_API size_t loupe_trace_bytes(const struct loupe_trace *trace);

/* --- steps ---------------------------------------------------------------------------------- */

enum loupe_step_flag {
	LOUPE_STEP_PATH_START = 1 << 0, /* first step of a path */
	LOUPE_STEP_PATH_END = 1 << 1,	/* last step of a path */
	LOUPE_STEP_PRUNED = 1 << 2,	/* a checkpoint covers it: the insn was not simulated */
	LOUPE_STEP_PUSH = 1 << 3,	/* its insn left a branch for later */
	LOUPE_STEP_CHECKPOINT = 1 << 4, /* its state was stored */
	LOUPE_STEP_COMPARE = 1 << 5,	/* it was compared with checkpoints */
	LOUPE_STEP_EVICT = 1 << 6,	/* a checkpoint was evicted */
	LOUPE_STEP_WALK = 1 << 7,	/* it demanded precision */
	LOUPE_STEP_MESSAGE = 1 << 8,	/* a message was printed */
	LOUPE_STEP_ERROR = 1 << 9,	/* exploration failed here */
};

struct loupe_step_info {
	uint32_t step;
	int32_t insn_idx;
	int32_t prev_insn_idx; /* insn that led here, -1 at the start of a function's exploration */
	uint32_t prev;	       /* predecessor on the path, LOUPE_NO_STEP at the start */
	uint32_t next;	       /* step after it on the same path, LOUPE_NO_STEP at its end */
	uint32_t path;
	uint32_t path_depth;   /* branches popped between the function's start and here */
	uint32_t frame_cnt;    /* frames of the state, 1-8 */
	uint32_t flags;	       /* LOUPE_STEP_* */
};

/** Number of steps. */
LOUPE_API uint32_t loupe_trace_step_cnt(const struct loupe_trace *trace);

/**
 * Describes step.
 * @return 0, or -EINVAL if step is out of range
 */
LOUPE_API int loupe_trace_step(const struct loupe_trace *trace, uint32_t step,
			       struct loupe_step_info *info);

/** Insn of a step, without the rest; -1 if step is out of range. */
LOUPE_API int32_t loupe_trace_step_insn(const struct loupe_trace *trace, uint32_t step);

/**
 * The nearest step in record order that has any of flags (as LOUPE_STEP_*).
 * @param from     first step looked at
 * @param forward  direction
 * @return LOUPE_NO_STEP if there is none
 */
LOUPE_API uint32_t loupe_trace_find_step(const struct loupe_trace *trace, uint32_t from,
					 bool forward, uint32_t flags);

/** All steps at an insn in record order, *cnt of them; owned by the trace. */
LOUPE_API const uint32_t *loupe_trace_visits(const struct loupe_trace *trace, uint32_t insn,
					     uint32_t *cnt);

/** Number among its insn's visits, from 0, of the first one at or after step. */
LOUPE_API uint32_t loupe_trace_visit_lower(const struct loupe_trace *trace, uint32_t insn,
					   uint32_t step);

/** Visit of step's insn before or after step in record order; LOUPE_NO_STEP if there is none. */
LOUPE_API uint32_t loupe_trace_prev_visit(const struct loupe_trace *trace, uint32_t step);
LOUPE_API uint32_t loupe_trace_next_visit(const struct loupe_trace *trace, uint32_t step);

/** Predecessor of step with the same insn (the turn before, in a loop); LOUPE_NO_STEP if none. */
LOUPE_API uint32_t loupe_trace_prev_turn(const struct loupe_trace *trace, uint32_t step);

/* --- paths and branches --------------------------------------------------------------------- */

struct loupe_path_info {
	uint32_t path;
	uint32_t first, last;	/* steps, both included */
	uint32_t parent;	/* path that pushed it, LOUPE_NO_PATH at a function's start */
	uint32_t parent_step;	/* step that pushed it, LOUPE_NO_STEP at a function's start */
	uint32_t depth;		/* paths above it */
	uint32_t subprogno;	/* function whose exploration this is (0: main) */
	uint32_t subtree_end;	/* one past the last step of this path and all that descend from
				   it */
	uint64_t push;		/* row of LOUPE_TABLE_PUSH, LOUPE_NO_ROW at a function's start */
	bool async;		/* a callback that runs later: its state does not continue the
				   parent's */
	bool speculative;	/* a path that only a mispredicting processor takes */
};

LOUPE_API uint32_t loupe_trace_path_cnt(const struct loupe_trace *trace);

/** Describes path. @return 0, or -EINVAL if path is out of range */
LOUPE_API int loupe_trace_path(const struct loupe_trace *trace, uint32_t path,
			       struct loupe_path_info *info);

/** Path of a step; LOUPE_NO_PATH if step is out of range. */
LOUPE_API uint32_t loupe_trace_path_of(const struct loupe_trace *trace, uint32_t step);

enum loupe_branch_side {
	LOUPE_SIDE_TAKEN,
	LOUPE_SIDE_FELL_THROUGH,
};

enum loupe_branch_other {
	LOUPE_OTHER_IMPOSSIBLE, /* the state decides the condition */
	LOUPE_OTHER_LATER,	/* left for later */
	LOUPE_OTHER_EARLIER,	/* explored before; this side is the one that was left for later */
};

/* One conditional jump on the way to a step. */
struct loupe_decision {
	uint32_t step;
	int32_t insn_idx;
	enum loupe_branch_side side;
	enum loupe_branch_other other;
	uint64_t push; /* row of the branch left at step, LOUPE_NO_ROW if none */
};

/**
 * Conditional jumps on the path to step, latest first.
 * @param out  room for cap entries; NULL only if cap is 0
 * @return number written; fewer than cap means that the function's start was reached
 */
LOUPE_API uint32_t loupe_trace_decisions(const struct loupe_trace *trace, uint32_t step,
					 struct loupe_decision *out, uint32_t cap);

/* --- states --------------------------------------------------------------------------------- */

/*
 * A cursor owns one materialised state. Of struct loupe_state these are filled: frames with
 * registers, stack and call facts, curframe, refs, locks, rcu, preemption, IRQ,
 * callback_unroll_depth, may_goto_depth, speculative, in_sleepable, cleaned, and serial and
 * insn_idx of a checkpoint. branches, hist, dfs_depth, parent, equal_state and first/last insn stay
 * zero; parents are asked by loupe_trace_checkpoint().
 */

/** NULL when out of memory; free before the trace, with loupe_cursor_destroy(). */
LOUPE_API struct loupe_cursor *loupe_cursor_create(const struct loupe_trace *trace);
LOUPE_API void loupe_cursor_destroy(struct loupe_cursor *cursor);

/**
 * Materialises the state before step's instruction. Going on by one step is cheapest.
 * @return the cursor's state, valid until the next call on this cursor; NULL if step is out of
 * range
 */
LOUPE_API const struct loupe_state *loupe_cursor_seek(struct loupe_cursor *cursor, uint32_t step);

/**
 * Materialises a checkpoint as it was just before comparison `compare` (a row of
 * LOUPE_TABLE_COMPARE) with the precision marks that had arrived and with dead parts dropped if
 * they were; LOUPE_NO_ROW: as it was at the end.
 * @return as loupe_cursor_seek(); NULL if there is no such checkpoint
 */
LOUPE_API const struct loupe_state *loupe_cursor_seek_checkpoint(struct loupe_cursor *cursor,
								 uint32_t serial, uint64_t compare);

enum loupe_loc_kind {
	LOUPE_LOC_REG,
	LOUPE_LOC_SLOT,
};

/* A register or a stack slot of a frame. */
struct loupe_loc {
	uint8_t kind;	 /* enum loupe_loc_kind */
	uint8_t frameno; /* 0-7 */
	uint8_t index;	 /* register 0-10, or slot 0-63 (0 is fp-8) */
};

/* A value of a location. present is false for a slot that was never stored to. */
struct loupe_value {
	bool present;
	struct loupe_reg reg;		  /* the register, or what is spilled in the slot */
	uint8_t type[LOUPE_REG_SIZE];	  /* slots: as struct loupe_slot */
};

/* What the instruction of the predecessor changed on the way to a step. */
struct loupe_change {
	struct loupe_loc loc;
	bool has_old; /* false: the location did not exist (a new frame, a function's start) */
	struct loupe_value old_value, new_value;
};

/**
 * Locations that differ between step and its predecessor, in no special order. At a function's
 * start and in a new frame all registers count as changed.
 * @return how many there are; out gets at most cap of them
 */
LOUPE_API uint32_t loupe_trace_changes(const struct loupe_trace *trace, uint32_t step,
				       struct loupe_change *out, uint32_t cap);

/**
 * Parts that the kernel's log prints for the predecessor's instruction (touched, not necessarily
 * changed), of the current frame: only set at steps where the verifier had a state to print.
 */
LOUPE_API void loupe_trace_scratched(const struct loupe_trace *trace, uint32_t step,
				     uint32_t *regs, uint64_t *slots);

/** Value of loc at step. @return 0; -EINVAL if out of range; -ENOENT if the frame does not exist */
LOUPE_API int loupe_trace_value(const struct loupe_trace *trace, uint32_t step,
				struct loupe_loc loc, struct loupe_value *out);

/* --- where values come from ----------------------------------------------------------------- */

/**
 * The step before `step` on its path whose instruction gave loc the value that it has at `step`.
 * @return LOUPE_NO_STEP if it has held that value since the function's start, or out of range
 */
LOUPE_API uint32_t loupe_trace_writer(const struct loupe_trace *trace, uint32_t step,
				      struct loupe_loc loc);

enum loupe_origin {
	LOUPE_ORIGIN_ENTRY,   /* held since the function's start (context, frame pointer,
				 argument) */
	LOUPE_ORIGIN_CONST,   /* a constant */
	LOUPE_ORIGIN_MAP,     /* ldimm64 of a map, map value, function, BTF object */
	LOUPE_ORIGIN_CTX,     /* loaded from the context */
	LOUPE_ORIGIN_LOAD,    /* loaded from other memory than the stack */
	LOUPE_ORIGIN_CALL,    /* result of a helper or kfunc, or clobbered by it */
	LOUPE_ORIGIN_COPY,    /* moved from another register */
	LOUPE_ORIGIN_FILL,    /* loaded from a stack slot */
	LOUPE_ORIGIN_SPILL,   /* stored to a stack slot from a register */
	LOUPE_ORIGIN_ALU,     /* computed from its own old value and perhaps another register's */
	LOUPE_ORIGIN_BRANCH,  /* refined by a conditional jump */
	LOUPE_ORIGIN_ARG,     /* passed from a caller's register */
	LOUPE_ORIGIN_RETURN,  /* returned from a callee's R0 */
	LOUPE_ORIGIN_OTHER,   /* changed with something linked to it: ids, released references,
				 widening */
};

/* One link of the chain back from a value. */
struct loupe_blame {
	struct loupe_loc loc; /* location that was written */
	uint32_t step;	      /* writer; LOUPE_NO_STEP for LOUPE_ORIGIN_ENTRY */
	int32_t insn_idx;     /* writer's insn, -1 for LOUPE_ORIGIN_ENTRY */
	enum loupe_origin origin;
	uint32_t from_cnt;    /* locations, as of before `step`, that it was made from: 0-2 */
	struct loupe_loc from[2];
};

/** How loc at step got its value: one link. @return 0, -EINVAL, or -ENOENT as
 * loupe_trace_value() */
LOUPE_API int loupe_trace_blame(const struct loupe_trace *trace, uint32_t step,
				struct loupe_loc loc, struct loupe_blame *out);

/**
 * The chain of links back from loc at step, following from[0] of each, to where nothing precedes.
 * @return number written, at most cap
 */
LOUPE_API uint32_t loupe_trace_blame_chain(const struct loupe_trace *trace, uint32_t step,
					   struct loupe_loc loc, struct loupe_blame *out,
					   uint32_t cap);

/* Where a rejection comes from. */
struct loupe_fault {
	struct loupe_loc loc; /* register that was not acceptable at the rejected step; of a leaked
				 reference what held it last */
	uint32_t at;	      /* step at which loc is meant: the rejected one, or an earlier one if
				 nothing holds a leaked reference any more */
	bool named;	      /* the message names it; otherwise it is the one that the insn is
				 about */
	uint32_t step;	      /* whose insn is to blame: that made or limited the value, or the
				 rejected one itself */
	int32_t insn_idx;
	bool lost;	      /* before that insn the access would have been accepted, afterwards
				 not */
};

/**
 * The instruction that a rejection comes from, as far as messages and states tell.
 * @param message  what was printed at the rejected step, all lines
 * @return 0, or -ENOENT if the trace has no rejected step
 */
LOUPE_API int loupe_trace_fault(const struct loupe_trace *trace, const char *message,
				struct loupe_fault *out);

/* A reference that a path still has at its end. */
struct loupe_leak {
	uint32_t id;
	int32_t insn_idx;     /* whose instruction acquired it */
	uint32_t acquired;    /* at this step, LOUPE_NO_STEP: not found on the path */
	uint32_t held;	      /* latest step at which something holds it, LOUPE_NO_STEP: nothing
				 did */
	struct loupe_loc loc; /* what holds it there */
};

/**
 * The reference that was not released, of a message "Unreleased reference id=2 alloc_insn=12".
 * @return 0; -ENOENT if the message is another one or the trace has no rejected step; -ENOMEM
 */
LOUPE_API int loupe_trace_leak(const struct loupe_trace *trace, const char *message,
			       struct loupe_leak *out);

/** The register that a message names first, -1 if it names none. */
LOUPE_API int loupe_error_register(const char *message);

/* --- tables --------------------------------------------------------------------------------- */

enum loupe_table {
	LOUPE_TABLE_PUSH,	/* branches left for later: struct loupe_push_info */
	LOUPE_TABLE_COMPARE,	/* comparisons: struct loupe_compare_info */
	LOUPE_TABLE_EVICT,	/* evictions: struct loupe_evict_info */
	LOUPE_TABLE_WALK,	/* demands for precision: struct loupe_walk_info */
	LOUPE_TABLE_MARK,	/* precision marks, cleaning: struct loupe_mark_info */
	LOUPE_TABLE_MESSAGE,	/* struct loupe_message_info */
	LOUPE_TABLE_SCC,	/* loops: struct loupe_scc_info */
	LOUPE_TABLE_LIVE_STACK, /* struct loupe_live_stack_info */
	LOUPE_TABLE_CNT,
};

/** Rows of a table. */
LOUPE_API uint64_t loupe_trace_rows(const struct loupe_trace *trace, enum loupe_table table);

/** First row whose step is at or after step; loupe_trace_rows() if there is none. Rows from before
 * exploration have step 0. */
LOUPE_API uint64_t loupe_trace_first_row(const struct loupe_trace *trace, enum loupe_table table,
					 uint32_t step);

struct loupe_push_info {
	uint32_t step;	   /* step whose insn left it */
	int32_t insn_idx;  /* where it goes on */
	int32_t prev_insn_idx;
	uint32_t path;	   /* the path that it became, LOUPE_NO_PATH if it never was popped */
	bool async;
	bool speculative;
};

struct loupe_compare_info {
	uint64_t row;
	uint32_t step;
	uint32_t serial; /* checkpoint */
	int32_t insn_idx;
	enum loupe_compare_mode mode;
	enum loupe_compare_outcome outcome;
	enum loupe_diff_kind diff; /* first difference; LOUPE_DIFF_NONE unless a compared miss */
	uint8_t frameno;
	int16_t reg; /* -1 if it is not about a register */
	int16_t spi; /* -1 if it is not about a stack slot */
};

struct loupe_evict_info {
	uint32_t step;
	uint32_t serial;
	uint32_t hits, misses; /* the checkpoint's counters then */
};

enum loupe_walk_stop {
	LOUPE_WALK_SATISFIED,	 /* at checkpoint `reached`: what is wanted is precise there
				    already, or no scalar */
	LOUPE_WALK_FOUND,	 /* at insn `stop_insn`: the value comes from there */
	LOUPE_WALK_START,	 /* the start of the function was reached */
	LOUPE_WALK_GAVE_UP,	 /* every scalar of every ancestor became precise */
};

/* A demand for the exact value of something, followed back over checkpoints. */
struct loupe_walk_info {
	uint32_t step;		/* whose insn (or pruning) demanded it */
	struct loupe_masks want; /* what was demanded */
	int32_t last_insn, first_insn; /* insns of the first stretch walked, latest and earliest */
	uint32_t hops;		/* insns walked, over all stretches */
	uint32_t reached;	/* last checkpoint that it came to, 0 if none */
	int32_t stop_insn;	/* last insn walked, -1 if none */
	enum loupe_walk_stop stop;
	uint64_t first_mark;	/* rows of LOUPE_TABLE_MARK that it made */
	uint32_t mark_cnt;
	bool propagated;	/* carried over from a checkpoint that pruned the path */
};

enum loupe_mark_kind {
	LOUPE_MARK_PRECISE, /* masks became precise */
	LOUPE_MARK_CLEAN,   /* dead parts were dropped; masks: what is not initialised afterwards */
};

/* Something that happened to a checkpoint after it was stored. */
struct loupe_mark_info {
	uint32_t step;
	uint32_t serial;
	enum loupe_mark_kind kind;
	struct loupe_masks masks;
	uint64_t walk;	  /* PRECISE: row of LOUPE_TABLE_WALK, LOUPE_NO_ROW if outside one */
	uint64_t compare; /* comparisons recorded before it */
};

struct loupe_message_info {
	uint32_t step;
	bool before; /* printed before exploration */
	bool level2; /* the log has it at level 2 only */
	const char *text; /* owned by the trace */
};

enum loupe_scc_event {
	LOUPE_SCC_ENTER,
	LOUPE_SCC_EXIT,
	LOUPE_SCC_BACKEDGE,
	LOUPE_SCC_ROUND, /* a round of carrying precision over backedges */
};

struct loupe_scc_info {
	uint32_t step;
	enum loupe_scc_event event;
	const struct loupe_chain *chain; /* owned by the trace */
	uint32_t serial; /* BACKEDGE: the checkpoint it equals, 0 if unknown */
	uint32_t round;	 /* ROUND */
};

struct loupe_live_stack_info {
	uint32_t step;
	const struct loupe_chain *chain; /* owned by the trace */
	uint32_t frameno;
	int32_t insn_idx;
	uint64_t live;	  /* slots that may be read later, before insn; read from a log: those
			     that its lines told of */
	uint64_t written; /* slots surely written */
};

/* Rows of the tables. 0, or -EINVAL if row is out of range. */
LOUPE_API int loupe_trace_push(const struct loupe_trace *trace, uint64_t row,
			       struct loupe_push_info *info);
LOUPE_API int loupe_trace_compare(const struct loupe_trace *trace, uint64_t row,
				  struct loupe_compare_info *info);
LOUPE_API int loupe_trace_evict(const struct loupe_trace *trace, uint64_t row,
				struct loupe_evict_info *info);
LOUPE_API int loupe_trace_walk(const struct loupe_trace *trace, uint64_t row,
			       struct loupe_walk_info *info);
LOUPE_API int loupe_trace_mark(const struct loupe_trace *trace, uint64_t row,
			       struct loupe_mark_info *info);
LOUPE_API int loupe_trace_message(const struct loupe_trace *trace, uint64_t row,
				  struct loupe_message_info *info);
LOUPE_API int loupe_trace_scc(const struct loupe_trace *trace, uint64_t row,
			      struct loupe_scc_info *info);
LOUPE_API int loupe_trace_live_stack(const struct loupe_trace *trace, uint64_t row,
				     struct loupe_live_stack_info *info);

/* --- demands for precision, insn by insn ----------------------------------------------------- */

enum loupe_hop_kind {
	LOUPE_HOP_INSN,	  /* walked back over insn_idx; masks: what was wanted after it */
	LOUPE_HOP_PARENT, /* came to checkpoint `serial`; masks: what is still wanted there */
	LOUPE_HOP_MARK,	  /* masks became precise in checkpoint `serial` */
};

struct loupe_hop {
	enum loupe_hop_kind kind;
	int32_t insn_idx; /* PARENT, MARK: where the checkpoint was stored */
	uint32_t serial;  /* 0: INSN, or a state that is no checkpoint */
	struct loupe_masks masks;
};

/**
 * All hops of a demand for precision, from the demanding insn backwards. The trace keeps only its
 * head: the program is verified again up to that step.
 * @param image  the program of the trace
 * @param opts   the knobs that it was verified with; its listeners are not called
 * @param step   that of the demand
 * @param nth    number of the demand among those of the step, from 0
 * @param hops   *cnt of them; free() them
 * @return 0; -ENOENT if there is no such demand; -ECANCELED if opts->cancel stopped it; -ENOMEM
 */
LOUPE_API int loupe_replay_walk(const struct loupe_image *image,
				const struct loupe_verify_opts *opts, uint32_t step, uint32_t nth,
				struct loupe_hop **hops, uint32_t *cnt);

/* --- checkpoints and comparisons ------------------------------------------------------------ */

struct loupe_checkpoint_info {
	uint32_t serial;
	int32_t insn_idx;
	uint32_t born;	  /* step whose state it is */
	uint32_t parent;  /* checkpoint it descends from, 0 if none */
	uint32_t frame_cnt;
	uint32_t hits, misses; /* at the end */
	uint32_t uncounted;    /* misses that did not count against it */
	uint32_t compares;     /* all comparisons, skipped ones too */
	uint32_t evicted; /* step, LOUPE_NO_STEP if it was not */
	uint32_t evict_hits, evict_misses; /* counters that evicted it */
	uint32_t cleaned; /* step at which dead parts were dropped, LOUPE_NO_STEP if they were
			     not */
	uint32_t freed;	  /* step at which its memory went, LOUPE_NO_STEP if at the end */
	uint32_t child_cnt;
	uint32_t first_child;  /* 0 if none */
	uint32_t next_sibling; /* next child of the same parent, in order of birth, 0 if none */
	int32_t last_insn, first_insn; /* latest and earliest insn between parent and it */
};

/** Checkpoints ever stored: serials run from 1 to this. */
LOUPE_API uint32_t loupe_trace_checkpoint_cnt(const struct loupe_trace *trace);

/** Describes a checkpoint. @return 0, or -EINVAL if there is no such serial */
LOUPE_API int loupe_trace_checkpoint(const struct loupe_trace *trace, uint32_t serial,
				     struct loupe_checkpoint_info *info);

/** Serials of the checkpoints stored at insn, in order of birth, *cnt of them; owned by the
 * trace. */
LOUPE_API const uint32_t *loupe_trace_insn_checkpoints(const struct loupe_trace *trace,
						       uint32_t insn, uint32_t *cnt);

/** Checkpoint that was stored last on the path to step (step's own excluded), 0 if none. */
LOUPE_API uint32_t loupe_trace_parent_checkpoint(const struct loupe_trace *trace, uint32_t step);

/**
 * Comparisons at an insn, in record order.
 * @param from  first row looked at: 0 to begin with, then one more than that of the last one got
 * @return number written, at most cap
 */
LOUPE_API uint64_t loupe_trace_insn_compares(const struct loupe_trace *trace, uint32_t insn,
					     uint64_t from, struct loupe_compare_info *out,
					     uint64_t cap);

/** Comparisons of one checkpoint, in record order; as loupe_trace_insn_compares(). */
LOUPE_API uint64_t loupe_trace_checkpoint_compares(const struct loupe_trace *trace, uint32_t serial,
						   uint64_t from, struct loupe_compare_info *out,
						   uint64_t cap);

/**
 * The nearest comparison with one of the given outcomes.
 * @param from      first row looked at
 * @param outcomes  bit n: enum loupe_compare_outcome n
 * @return its row, or LOUPE_NO_ROW
 */
LOUPE_API uint64_t loupe_trace_find_compare(const struct loupe_trace *trace, uint64_t from,
					    bool forward, uint32_t outcomes);

/**
 * The two values that made a comparison miss: of the checkpoint's register or slot as it was then,
 * and of the present one.
 * @param cursor  is moved to the checkpoint
 * @return 0; -ENOENT if the first difference is not about a register or slot; -EINVAL if row is out
 *         of range; -ENOMEM
 */
LOUPE_API int loupe_cursor_compare_values(struct loupe_cursor *cursor, uint64_t row,
					  struct loupe_value *old, struct loupe_value *cur);

/**
 * All differences that made a comparison miss, the recorded first one in front: the verifier's own
 * comparison of each part, done again on the two states as they were.
 * @param then  is moved to the checkpoint
 * @param now   another cursor, is moved to the comparison's step
 * @param out   gets the first cap of them, without registers
 * @param cnt   how many there are; 0 if it did not miss, or was not compared
 * @return 0, -EINVAL if row is out of range, or -ENOMEM
 */
LOUPE_API int loupe_cursor_compare_diffs(struct loupe_cursor *then, struct loupe_cursor *now,
					 uint64_t row, struct loupe_diff *out, uint32_t cap,
					 uint32_t *cnt);

/**
 * What happened to a checkpoint, oldest first: marks and cleaning.
 * @return number of rows of LOUPE_TABLE_MARK written to rows, at most cap
 */
LOUPE_API uint32_t loupe_trace_checkpoint_marks(const struct loupe_trace *trace, uint32_t serial,
						uint64_t *rows, uint32_t cap);

enum { LOUPE_DIFF_KINDS = LOUPE_DIFF_LOCK + 1 };

/* Totals of one insn. */
struct loupe_insn_stats {
	uint32_t visits;      /* steps */
	uint32_t pruned;      /* of these: arrivals that were pruned */
	uint32_t taken, fell; /* conditional jumps: on how many paths, both sides */
	uint32_t born;	      /* checkpoints */
	uint32_t evicted;
	uint64_t compares;    /* all, skipped ones too */
	uint64_t hits;	      /* hits of all kinds, convergence included */
	uint64_t misses, uncounted, skipped;
	uint64_t reasons[LOUPE_DIFF_KINDS]; /* first differences of misses, by kind */
};

/** Totals of an insn. @return 0, or -EINVAL if insn is out of range */
LOUPE_API int loupe_trace_insn_stats(const struct loupe_trace *trace, uint32_t insn,
				     struct loupe_insn_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
