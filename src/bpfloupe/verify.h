/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verification: runs the model of the Linux 6.18 verifier over an image and tells listeners about
 * everything it does.
 */
#ifndef BPFLOUPE_VERIFY_H
#define BPFLOUPE_VERIFY_H

#include "common.h"
#include "image.h"
#include "state.h"

#ifdef __cplusplus
extern "C" {
#endif

enum loupe_verdict {
	LOUPE_ACCEPTED,
	LOUPE_REJECTED,
	LOUPE_NOT_JUDGED, /* the program needs something that the model does not have */
	LOUPE_STOPPED,	  /* cancelled, or our own memory limit */
};

enum loupe_phase {
	LOUPE_PHASE_LOAD,	 /* load-time checks, no log */
	LOUPE_PHASE_SUBPROGS,	 /* subprograms and kfuncs found */
	LOUPE_PHASE_BTF,	 /* func info, line info */
	LOUPE_PHASE_RESOLVE,	 /* ldimm64 map fds, opcodes */
	LOUPE_PHASE_CFG,	 /* jumps, reachability, back edges for unprivileged */
	LOUPE_PHASE_SCC,
	LOUPE_PHASE_LIVENESS,	 /* live registers before each insn */
	LOUPE_PHASE_FASTCALL,
	LOUPE_PHASE_EXPLORE_MAIN,
	LOUPE_PHASE_EXPLORE_SUBPROGS, /* global functions */
	LOUPE_PHASE_STACK_DEPTH,
	LOUPE_PHASE_DEAD_CODE,
	LOUPE_PHASE_REWRITE,	 /* context and helper rewriting */
	LOUPE_PHASE_JIT,
	LOUPE_PHASE_DONE,
};

/* Counters with the kernel's names and meanings. */
struct loupe_counters {
	uint32_t insn_processed;      /* instructions walked, over all paths */
	uint32_t max_states_per_insn; /* longest walk over one hash bucket of checkpoints */
	uint32_t total_states;	      /* checkpoints ever stored */
	uint32_t peak_states;	      /* most checkpoints, evicted-but-referenced ones and loop
					 backedges alive at once */
	uint32_t longest_mark_read_walk;
	/* ours */
	uint64_t compare_hits;
	uint64_t compare_misses;      /* counted against the checkpoint */
	uint64_t compare_uncounted;   /* misses where no checkpoint was about to be stored */
	uint64_t evictions;
	uint64_t loop_converged;
};

enum loupe_subprog_flag {
	LOUPE_SUBPROG_OWN_STACK = 1 << 0, /* its frame is no part of its callers' stack */
	LOUPE_SUBPROG_LATER = 1 << 1,	  /* a callback that runs later, on a stack that is counted
					     apart */
	LOUPE_SUBPROG_TAIL_CALL = 1 << 2, /* it has a tail call */
};

struct loupe_verify_result {
	enum loupe_verdict verdict;
	int err;		    /* 0, or the negative errno that the kernel returns */
	enum loupe_phase phase;	    /* where it ended */
	int32_t insn_idx;	    /* insn it ended at, -1 if none */
	struct loupe_counters counters;
	uint64_t verification_ns;   /* the time of the whole run */
	uint32_t subprog_cnt;
	uint32_t stack_depth[256];  /* per subprog, bytes */
	uint8_t subprog_flags[256]; /* per subprog: LOUPE_SUBPROG_* */
	char reason[256];	    /* NOT_JUDGED, STOPPED: what was needed or why, one line */
	bool kernel_crashes;	    /* NOT_JUDGED: loading it would crash the kernel */
	uint8_t *insn_seen;	    /* per insn of the image: 1 if a path reached it; freed by
				       loupe_verify_result_finish() */
	uint8_t *branch_taken;	    /* per insn: bit 0 the condition was true on some path, bit 1
				       false */
	uint32_t insn_cnt;
	/* The program after removal of what no path reached, before accesses to the context and
	 * calls of helpers are rewritten; NULL unless accepted. Freed by
	 * loupe_verify_result_finish(). */
	struct loupe_insn *final_insns;
	int32_t *final_to_orig;	    /* per insn of it: the insn of the image */
	uint32_t final_cnt;	    /* insn slots */
	uint32_t lacks;		    /* read from a log: what it does not tell, enum loupe_lacks of
				       log_read.h; 0: a verification */
};

/* What was learnt about an instruction before exploration. */
struct loupe_insn_facts {
	uint16_t live_regs;	  /* bit n: Rn may be read later */
	bool prune_point;	  /* states are compared here */
	bool jmp_point;		  /* the path history gets an entry here */
	bool force_checkpoint;	  /* a checkpoint is stored at every visit */
	bool calls_callback;
	bool second_slot;	  /* second half of an ldimm64 */
	uint32_t scc;		  /* strongly connected component with a cycle, 0: none */
};

/* A step: the instruction about to be simulated, with the state before it. */
struct loupe_step {
	int32_t insn_idx;
	int32_t prev_insn_idx; /* -1 at the start of a function's exploration */
	const struct loupe_state *state;
};

enum loupe_compare_mode {
	LOUPE_CMP_NOT_EXACT,
	LOUPE_CMP_EXACT,	/* infinite-loop detection */
	LOUPE_CMP_RANGE_WITHIN, /* inside loops */
	LOUPE_CMP_SKIPPED,	/* still has unfinished paths: was not compared for pruning */
};

enum loupe_compare_outcome {
	LOUPE_CMP_HIT,
	LOUPE_CMP_HIT_BACKEDGE,	  /* hit on a checkpoint inside a loop being explored */
	LOUPE_CMP_LOOP_CONVERGED, /* iterator, callback or may_goto loop */
	LOUPE_CMP_INFINITE_LOOP,
	LOUPE_CMP_MISS,		  /* counted against the checkpoint */
	LOUPE_CMP_MISS_UNCOUNTED,
};

enum loupe_diff_kind {
	LOUPE_DIFF_NONE,
	LOUPE_DIFF_CALLCHAIN,	/* other frames or call sites */
	LOUPE_DIFF_SPECULATIVE,
	LOUPE_DIFF_SLEEPABLE,
	LOUPE_DIFF_CALLBACK_DEPTH,
	LOUPE_DIFF_TYPE,	/* another register type */
	LOUPE_DIFF_RANGE,	/* checkpoint's range does not cover the present one */
	LOUPE_DIFF_TNUM,	/* known bits do not cover */
	LOUPE_DIFF_PRECISION,	/* a precise or exact value differs */
	LOUPE_DIFF_ID,		/* ids map differently */
	LOUPE_DIFF_PTR_OFFSET,	/* pointers with other offsets, maps, sizes */
	LOUPE_DIFF_PKT_RANGE,	/* smaller verified packet range */
	LOUPE_DIFF_STACK_SIZE,	/* a slot that the checkpoint has is not allocated now */
	LOUPE_DIFF_STACK_TYPE,	/* slot bytes of another kind */
	LOUPE_DIFF_DYNPTR,
	LOUPE_DIFF_ITER,
	LOUPE_DIFF_IRQ,
	LOUPE_DIFF_REFS,	/* acquired references differ */
	LOUPE_DIFF_LOCK,
};

/* The first difference that made a comparison miss. */
struct loupe_diff {
	enum loupe_diff_kind kind;
	uint32_t frameno;
	int16_t reg;  /* register, or -1 */
	int16_t spi;  /* stack slot, or -1 */
	const struct loupe_reg *old_reg, *cur_reg; /* valid during the call; NULL if not about
						      registers */
};

struct loupe_compare {
	const struct loupe_state *old; /* checkpoint */
	const struct loupe_state *cur;
	int32_t insn_idx;
	enum loupe_compare_mode mode;
	enum loupe_compare_outcome outcome;
	struct loupe_diff diff;	    /* kind NONE unless a compared miss */
	uint32_t hit_cnt, miss_cnt; /* of the checkpoint, after this */
};

/* Masks of registers and slots of one frame. */
struct loupe_masks {
	uint32_t frameno;
	uint32_t regs;	/* bit n: Rn */
	uint64_t stack; /* bit n: fp-8*(n+1) */
};

/* A call chain: call sites, then the function's first insn or the SCC number. */
struct loupe_chain {
	uint32_t cnt;
	uint32_t at[LOUPE_MAX_FRAMES + 1];
};

/*
 * What a listener hears. All pointers are valid during the call only. Any hook may be NULL.
 * Registers and slots that were touched since the last print are the "scratched" set; that is
 * what the kernel's log prints, and it is not the set of changed values.
 */
struct loupe_hooks {
	void (*begin)(void *ctx, const struct loupe_image *image);
	void (*phase)(void *ctx, enum loupe_phase phase);
	/* Text for people (may hold several or partial lines), as the log prints it; level2: only
	 * at log level 2. */
	void (*message)(void *ctx, const char *text, bool level2);
	/* The log prints the source line of insn here, if it differs from the last printed one:
	 * beside messages only, a step shows its source line anyway. */
	void (*source_line)(void *ctx, int32_t insn_idx);
	void (*subprog)(void *ctx, uint32_t subprogno, uint32_t start);
	/* Facts of all insns, once, before exploration. */
	void (*facts)(void *ctx, const struct loupe_insn_facts *facts, uint32_t insn_cnt);

	/* Exploration of one function starts (0: main) and ends. The log's "Validating ..." and
	 * "Func#... is safe ..." are written here. */
	void (*func_begin)(void *ctx, uint32_t subprogno);
	void (*func_end)(void *ctx, uint32_t subprogno, int err);
	/*
	 * An instruction is reached and was just counted as processed; exactly insn_processed of
	 * these in a run. What follows: compare, evict, clean, checkpoint … of this arrival, then
	 * either pruned, or path_begin or insn_state (if anything is to print) and step.
	 */
	void (*arrive)(void *ctx, const struct loupe_step *step);
	/* First step of a path that was popped: the log prints "from A to B:" and the whole
	 * state. */
	void (*path_begin)(void *ctx, const struct loupe_step *step);
	/* Result of the insn before: scratched parts of the current frame of state. insn_idx is the
	 * insn the log names. */
	void (*insn_state)(void *ctx, const struct loupe_step *step, uint32_t scratched_regs,
			   uint64_t scratched_slots);
	void (*step)(void *ctx, const struct loupe_step *step);
	/* The path ends here because a checkpoint covers it; after_pop: right after path was
	 * popped. */
	void (*pruned)(void *ctx, const struct loupe_step *step, bool after_pop);
	/* A conditional jump, call or callback left a path for later; pop is the reverse, but not
	 * heard for paths that are dropped because verification ends. */
	void (*branch_push)(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			    const struct loupe_state *state, bool async);
	void (*branch_pop)(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			   const struct loupe_state *state);
	/* The path reached the program's (or function's) end, or was pruned: nothing left of it. */
	void (*path_end)(void *ctx, int32_t insn_idx);
	void (*call_enter)(void *ctx, const struct loupe_state *state, uint32_t caller_frame,
			   uint32_t callee_frame);
	void (*call_return)(void *ctx, const struct loupe_state *state, uint32_t callee_frame,
			    uint32_t caller_frame, int32_t to_insn);

	void (*checkpoint)(void *ctx, const struct loupe_state *state, int32_t insn_idx);
	void (*compare)(void *ctx, const struct loupe_compare *cmp);
	void (*evict)(void *ctx, const struct loupe_state *state, uint32_t hit_cnt,
		      uint32_t miss_cnt);
	void (*state_free)(void *ctx, const struct loupe_state *state);
	/* Dead registers and slots of a checkpoint were dropped; called after. */
	void (*clean)(void *ctx, const struct loupe_state *state);
	/* A register or slot of a checkpoint became precise. */
	void (*mark_precise)(void *ctx, const struct loupe_state *state,
			     const struct loupe_masks *masks);
	/* The log writes source line, message and both states. */
	void (*infinite_loop)(void *ctx, int32_t insn_idx, const struct loupe_state *cur,
			      const struct loupe_state *old);

	/* A precision walk over one state's path: from last to first insn; subseq is the insn after
	 * last, -1 at the start. */
	void (*walk_begin)(void *ctx, uint32_t frameno, int32_t last_idx, int32_t first_idx,
			   int32_t subseq_idx);
	void (*walk_hop)(void *ctx, const struct loupe_masks *masks, int32_t insn_idx);
	/* The walk reached checkpoint state; masks are what is still wanted there. */
	void (*walk_parent)(void *ctx, const struct loupe_masks *masks,
			    const struct loupe_state *state);
	void (*walk_end)(void *ctx);
	/* Gave up: every scalar is precise. reg, spi: -1 where not meant; both -1: the
	 * announcement. */
	void (*force_precise)(void *ctx, uint32_t frameno, int reg, int spi);
	/* Precision of a checkpoint is carried over to the path that it pruned. */
	void (*propagate)(void *ctx, const struct loupe_masks *masks);

	void (*scc_enter)(void *ctx, const struct loupe_chain *chain);
	void (*scc_exit)(void *ctx, const struct loupe_chain *chain);
	void (*scc_backedge)(void *ctx, const struct loupe_chain *chain,
			     const struct loupe_state *state);
	void (*scc_round)(void *ctx, const struct loupe_chain *chain, uint32_t round);

	/* Stack liveness of a call chain at insn: slots that became live or dead, and must-written
	 * or not. */
	void (*live_stack)(void *ctx, const struct loupe_chain *chain, uint32_t frameno,
			   int32_t insn_idx, uint64_t live_old, uint64_t live_new,
			   uint64_t written_old, uint64_t written_new);
	void (*live_stack_done)(void *ctx, const struct loupe_chain *chain, uint32_t iterations);

	void (*end)(void *ctx, const struct loupe_verify_result *result);
};

struct loupe_listener {
	const struct loupe_hooks *hooks;
	void *ctx;
};

enum { LOUPE_MAX_LISTENERS = 4, LOUPE_EVICT_OFF = -1 };

/* Knobs; defaults are exactly the kernel's. Fill with loupe_verify_opts_init(). */
struct loupe_verify_opts {
	size_t size;		   /* sizeof(struct loupe_verify_opts) */
	bool unprivileged;	   /* no CAP_BPF, CAP_PERFMON */
	bool no_pruning;	   /* never prune on a finished checkpoint */
	bool checkpoint_always;	   /* as BPF_F_TEST_STATE_FREQ */
	bool no_cleaning;	   /* finished checkpoints keep the stack slots that nothing will
				      read */
	int evict_n;		   /* n of misses > hits * n + n: 3; LOUPE_EVICT_OFF: never evict */
	uint32_t keep;		   /* serial of a checkpoint that is never evicted, 0: none */
	uint32_t insn_limit;	   /* processed instructions: 1,000,000 */
	bool general_allocator;	   /* states come one by one from malloc() instead of slabs */
	uint64_t memory_limit;	   /* bytes of states, 0: none */
	const volatile bool *cancel; /* looked at now and then; NULL: none */
	void (*progress)(void *ctx, uint32_t insn_processed); /* every 4,096 insns; NULL: none */
	void *progress_ctx;
	struct loupe_listener listeners[LOUPE_MAX_LISTENERS];
	uint32_t listener_cnt;
};

/** Sets *opts to the defaults. */
LOUPE_API void loupe_verify_opts_init(struct loupe_verify_opts *opts);

/**
 * Verifies image as the modelled kernel would.
 * @param opts    NULL for the defaults
 * @param result  filled in any case where 0 is returned; free its arrays with
 * loupe_verify_result_finish()
 * @return 0 when a verdict was found (whichever), -ENOMEM, or -EINVAL for options out of range
 */
LOUPE_API int loupe_verify(const struct loupe_image *image, const struct loupe_verify_opts *opts,
			   struct loupe_verify_result *result);

enum {
	LOUPE_DIFFS_UNPRIVILEGED = 1 << 0,  /* the run was without CAP_BPF and CAP_PERFMON */
	LOUPE_DIFFS_EXACT_SCALARS = 1 << 1, /* limits of pointer arithmetic against speculation had
					       been found by then: all numbers must be the same */
};

/**
 * All differences because of which a checkpoint does not cover a state, by the verifier's own
 * comparison of each part. A part's differences do not make others differ; where the call chains
 * differ, that is the only one.
 * @param facts  of all insns of the program, insn_cnt of them
 * @param old    the checkpoint, insn_idx filled in
 * @param flags  LOUPE_DIFFS_*
 * @param out    gets the first cap of them, in the order of comparing, without registers
 * @param cnt    how many there are
 * @return 0, -ENOMEM, or -EINVAL if a frame of old is at no insn
 */
LOUPE_API int loupe_state_diffs(const struct loupe_insn_facts *facts, uint32_t insn_cnt,
				const struct loupe_state *old, const struct loupe_state *cur,
				enum loupe_compare_mode mode, uint32_t flags,
				struct loupe_diff *out, uint32_t cap, uint32_t *cnt);

/** Frees what loupe_verify() allocated in *result. */
LOUPE_API void loupe_verify_result_finish(struct loupe_verify_result *result);

/**
 * Program types that may call a helper, in some attach type and with all capabilities.
 * @param func_id  as in enum bpf_func_id
 * @return bit n: BPF_PROG_TYPE n; 0 if no judged type may, or there is no such helper
 */
LOUPE_API uint64_t loupe_helper_types(int32_t func_id);

#ifdef __cplusplus
}
#endif

#endif
