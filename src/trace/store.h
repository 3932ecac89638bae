/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace's store, as the recorder writes and the queries read it.
 *
 * A step is 8 bytes: insn, frame, flags, and where its changes start. A change says that a location
 * got a value on the way from the predecessor to this step; changes are in record order and each
 * points at the change of the same location before it on the same path, so that both the old value
 * and the last writer are one look-up away. Values are words in a pool, each distinct value once.
 * Locations are numbered flat over all frames.
 */
#ifndef LOUPE_TRACE_STORE_H
#define LOUPE_TRACE_STORE_H

#include <stdlib.h>
#include <string.h>

#include "bpfloupe/trace.h"

#define TRACE_NONE UINT32_MAX

enum {
	/* flat locations: per frame 64 slots, registers and the frame's other facts, so that 64
	 * neighbours make a word of bits; then the state's other facts */
	LOC_SLOT = 0,
	LOC_REG = LOUPE_MAX_SLOTS,
	LOC_FRAME_META = LOC_REG + LOUPE_MAX_REG,
	LOC_STRIDE = 128,
	LOC_STATE_META = LOC_STRIDE * LOUPE_MAX_FRAMES,
	LOC_CNT,
	LOC_WORDS = LOC_CNT / 64 + 1,

	/* a step's word */
	STEP_INSN_BITS = 20,
	STEP_INSN_MASK = (1 << STEP_INSN_BITS) - 1,
	STEP_FRAME_SHIFT = STEP_INSN_BITS,
	STEP_FRAME_MASK = 7,
	STEP_FLAGS_SHIFT = STEP_FRAME_SHIFT + 3,

	/* A keyframe is due when seeking would pass that many changes and paths … */
	KEYFRAME_DISTANCE = 2048,
	/* … but not sooner than that many steps after the one before. */
	KEYFRAME_SPACING = 512,
};

/* A growing array; TRACE_PUSH() gives room for one more element, NULL when out of memory. */
#define TRACE_VEC(type)          \
	struct {                 \
		type *at;        \
		size_t cnt, cap; \
	}

bool trace_vec_grow(void **at, size_t *cap, size_t need, size_t elem);
void trace_vec_free(void *at, size_t cap, size_t elem);

#define TRACE_ROOM(vec, n)                                      \
	(__builtin_expect((vec)->cnt + (n) <= (vec)->cap, 1) || \
	 trace_vec_grow((void **)&(vec)->at, &(vec)->cap, (vec)->cnt + (n), sizeof(*(vec)->at)))

#define TRACE_PUSH(vec) (TRACE_ROOM(vec, 1) ? &(vec)->at[(vec)->cnt++] : NULL)

/* In an array that is sorted by a field: how many elements are below key there. */
#define TRACE_BELOW(vec, field, key)                         \
	({                                                   \
		size_t lo_ = 0, hi_ = (vec)->cnt;            \
                                                             \
		while (lo_ < hi_) {                          \
			size_t mid_ = lo_ + (hi_ - lo_) / 2; \
                                                             \
			if ((vec)->at[mid_].field < (key))   \
				lo_ = mid_ + 1;              \
			else                                 \
				hi_ = mid_;                  \
		}                                            \
		lo_;                                         \
	})

/* The last element that is at most key there; the first if there is none. */
#define TRACE_LAST(vec, field, key)                                           \
	({                                                                    \
		size_t below_ = TRACE_BELOW(vec, field, (uint64_t)(key) + 1); \
                                                                              \
		below_ ? below_ - 1 : 0;                                      \
	})

#define TRACE_FREE(vec) trace_vec_free((vec)->at, (vec)->cap, sizeof(*(vec)->at))

struct trace_step {
	uint32_t word;	 /* insn, frame, flags: STEP_* */
	uint32_t change; /* first change */
	uint16_t scratched;
} __attribute__((packed, aligned(2)));

struct trace_change {
	uint32_t value; /* number of the value, 0 absent */
	uint32_t prev;	/* change of the same location before it on the path, TRACE_NONE */
	uint16_t loc;
} __attribute__((packed, aligned(2)));

struct trace_slots {
	uint32_t step;
	uint32_t lo, hi; /* scratched slots */
};

struct trace_path {
	uint32_t first;	      /* step */
	uint32_t parent;      /* path, TRACE_NONE */
	uint32_t parent_step; /* TRACE_NONE */
	uint32_t push;	      /* row, TRACE_NONE */
	uint32_t depth;
	uint32_t subtree_end; /* set at the end */
	int32_t prev_insn;
	uint16_t subprogno;
	bool speculative;
	bool async;
	bool fresh; /* its state does not continue the parent's: all is recorded anew */
};

struct trace_push_rec {
	uint32_t step;
	int32_t insn_idx, prev_insn_idx;
	uint32_t path;	   /* TRACE_NONE until popped */
	uint32_t distance; /* to the keyframe, for the path that it becomes */
	bool async, speculative;
};

struct trace_keyframe {
	uint32_t step;
	uint32_t at; /* in keyframe_data */
};

struct trace_checkpoint {
	uint32_t born;
	int32_t insn_idx;
	uint32_t parent;
	uint32_t hits, misses, uncounted, compares; /* counted at the end */
	uint32_t evicted, evict_hits, evict_misses, freed;
	uint32_t first_child, next_sibling, child_cnt;
	uint32_t mark; /* latest mark, TRACE_NONE */
	int32_t last_insn, first_insn;
};

/* The comparisons of one arrival: bytes from `at`, see compare.c. */
struct trace_run {
	uint32_t step;
	uint32_t first; /* row of the first comparison */
	uint32_t at;
};

struct trace_evict_rec {
	uint32_t step, serial, hits, misses;
};

struct trace_walk_rec {
	uint64_t slots;
	uint32_t step;
	int32_t last_insn, first_insn, stop_insn;
	uint32_t hops;
	uint32_t reached;
	uint32_t first_mark;
	uint16_t regs;
	uint8_t frameno;
	uint8_t stop : 3;
	uint8_t propagated : 1;
};

enum { MARK_CLEAN = 1, MARK_CLEAN_PRECISE = 2 }; /* cleaned registers are precise: unprivileged */

struct trace_mark_rec {
	uint32_t slots_lo, slots_hi;
	uint32_t serial;
	uint32_t prev; /* mark of the same checkpoint before it, TRACE_NONE */
	uint32_t step;
	uint32_t walk;	  /* TRACE_NONE */
	uint32_t compare; /* comparisons before it */
	uint16_t regs;
	uint8_t frameno;
	uint8_t kind; /* MARK_* */
};

struct trace_message_rec {
	uint32_t step;
	uint32_t text; /* in texts */
	bool before, level2;
};

struct trace_scc_rec {
	uint32_t step, chain, serial, round;
	uint8_t event;
};

struct trace_live_rec {
	uint64_t live, written;
	uint32_t step, chain, insn, frameno;
};

/* Totals of an insn that are counted while recording. */
struct trace_insn {
	uint32_t checkpoints; /* born here */
	uint32_t evicted;
	uint32_t compare; /* entry of compare_stats + 1, 0 if never compared; set at the end */
	uint32_t taken, fell, pruned;
};

struct trace_compare_stats {
	uint64_t compares, hits, misses, uncounted, skipped;
	uint32_t reasons[LOUPE_DIFF_KINDS];
};

/* Registers are compared and copied in pieces of 16 bytes, without a call. */
typedef uint64_t trace_piece __attribute__((vector_size(16), aligned(8), may_alias));
enum { TRACE_REG_PIECES = sizeof(struct loupe_reg) / sizeof(trace_piece) };
_Static_assert(sizeof(struct loupe_reg) % sizeof(trace_piece) == 0, "a register is whole pieces");
_Static_assert(offsetof(struct loupe_reg, precise) == sizeof(struct loupe_reg) - 8,
	       "the last field is one byte, then comes padding");

static inline bool trace_same_reg(const struct loupe_reg *a, const struct loupe_reg *b)
{
	static const uint8_t used[sizeof(trace_piece)] __attribute__((aligned(8))) = {
		255, 255, 255, 255, 255, 255, 255, 255, 255,
	};
	const trace_piece *pa = (const trace_piece *)a, *pb = (const trace_piece *)b;
	trace_piece diff = pa[0] ^ pb[0];

#pragma GCC unroll 8
	for (size_t i = 1; i < TRACE_REG_PIECES - 1; i++)
		diff |= pa[i] ^ pb[i];
	diff |= (pa[TRACE_REG_PIECES - 1] ^ pb[TRACE_REG_PIECES - 1]) & *(const trace_piece *)used;
	return !(diff[0] | diff[1]);
}

static inline void trace_copy_reg(struct loupe_reg *dst, const struct loupe_reg *src)
{
	trace_piece *to = (trace_piece *)dst;
	const trace_piece *from = (const trace_piece *)src;

#pragma GCC unroll 8
	for (size_t i = 0; i < TRACE_REG_PIECES; i++)
		to[i] = from[i];
}

/* Registers, and slots that hold part of one, that were made into words lately. */
enum { TRACE_REG_CACHE = 256, TRACE_SLOT_CACHE = 256 };
struct trace_cached_reg {
	struct loupe_reg reg;
	uint32_t value; /* 0: none */
};
struct trace_cached_slot {
	uint32_t types, reg;
	uint32_t value; /* 0: none */
};

/*
 * Pool of values as words; offset 0 is "absent". Most values come again soon, so looking among the
 * latest ones keeps almost every value once, at a fraction of the cost of looking among all: the
 * same value may be there twice, and equality of numbers proves equality only one way.
 */
struct trace_pool {
	TRACE_VEC(uint32_t) words;
	/* while recording */
	struct trace_cached_reg *regs;
	struct trace_cached_slot *slots;
};

/* State of the walk and of the comparisons that are being recorded. */
struct trace_prune_rec {
	bool in_walk;	  /* a demand is open */
	bool has_want;	  /* its masks are known */
	bool at_parent;	  /* the last thing heard was a checkpoint … */
	bool parent_open; /* … where something is still wanted */
	bool forced;
	bool propagating; /* masks were carried over: the next walk is for them */
	uint32_t hops;	  /* of the open demand */
	int32_t stop_insn;
	uint32_t last_serial;  /* of the run */
	uint16_t *code_table;  /* code + 1, by hash of the packed meaning */
	uint32_t code_cap;
	uint32_t *chain_table; /* chain + 1, by hash */
	uint32_t chain_cap;
};

struct trace_recorder;

struct loupe_trace {
	const struct loupe_image *image;
	struct loupe_insn *insns;
	uint32_t insn_cnt;
	struct trace_insn *insn; /* insn_cnt */
	struct loupe_insn_facts *facts;
	uint32_t facts_cnt;
	uint32_t subprogs[256];
	uint32_t subprog_cnt;
	struct loupe_verify_result result;
	bool ended, failed;

	TRACE_VEC(struct trace_step) steps; /* one past the last holds the end of the changes */
	uint32_t step_cnt;
	TRACE_VEC(struct trace_slots) scratched_slots;
	TRACE_VEC(struct trace_change) changes;
	struct trace_pool pool;
	TRACE_VEC(struct trace_path) paths;
	TRACE_VEC(struct trace_push_rec) pushes;
	TRACE_VEC(struct trace_keyframe) keyframes;
	TRACE_VEC(uint32_t) keyframe_data;

	TRACE_VEC(struct trace_checkpoint) checkpoints; /* by serial - 1 */
	TRACE_VEC(struct trace_run) runs;
	TRACE_VEC(uint8_t) run_outcomes; /* bit n: enum loupe_compare_outcome n */
	TRACE_VEC(uint8_t) compare_bytes;
	uint64_t compare_cnt;
	TRACE_VEC(uint32_t) compare_codes; /* packed meaning of each code */
	TRACE_VEC(struct trace_compare_stats) compare_stats;
	TRACE_VEC(struct trace_evict_rec) evicts;
	TRACE_VEC(struct trace_walk_rec) walks;
	TRACE_VEC(struct trace_mark_rec) marks;
	TRACE_VEC(struct trace_message_rec) messages;
	TRACE_VEC(char) texts;
	TRACE_VEC(struct trace_scc_rec) sccs;
	TRACE_VEC(struct loupe_chain) chains;
	TRACE_VEC(struct trace_live_rec) lives;

	/* indexes, built at the end */
	uint32_t *visits, *visit_start;		/* steps by insn; start: insn_cnt + 1 */
	uint32_t *insn_ckpts, *insn_ckpt_start; /* serials by insn */
	char *error;
	uint32_t error_step;

	/* while recording */
	struct trace_recorder *rec;
	struct trace_prune_rec prune;
};

/* --- pool.c --------------------------------------------------------------------------------- */

enum {
	TRACE_MAX_WORDS = 32, /* longest encoded register, with room to write ahead */
	TRACE_SLACK = 2,      /* words that may be read beyond a value */
	TRACE_POOL_MAX = 1 << 29,
};

bool trace_pool_init(struct trace_pool *pool);
void trace_pool_finish(struct trace_pool *pool);
/* Frees what only the recorder needs. */
void trace_pool_seal(struct trace_pool *pool);
/* Offset of a new entry of n words, below TRACE_POOL_MAX; 0 when out of memory. */
uint32_t trace_pool_add(struct trace_pool *pool, const uint32_t *words, uint32_t n);

/* --- value.c: what values are as words ------------------------------------------------------ */

/*
 * A register's or slot's value is a number: 0 absent; else an offset in the pool, or, for the many
 * that are a small constant or need one word only, the value itself.
 */
enum {
	VALUE_HEADER = 2u << 30, /* the register's only word */
	VALUE_CONST = 3u << 30,	 /* a scalar constant below VALUE_SMALL */
	VALUE_KIND = 3u << 30,
	VALUE_TYPES =
		1u << 29, /* a slot that is not eight bytes of one spilled register: with
			     VALUE_HEADER its types, else a pool entry of types and register */
	VALUE_SMALL = 1 << 29,
};

/* Reg as words: 1 to TRACE_MAX_WORDS of them. */
uint32_t trace_reg_encode(const struct loupe_reg *reg, uint32_t words[TRACE_MAX_WORDS]);
void trace_reg_decode(const uint32_t *words, struct loupe_reg *reg);
/* Number of a register; 0 when out of memory. */
uint32_t trace_reg_value(struct trace_pool *pool, const struct loupe_reg *reg);
/* What a number stands for; all zero if absent. */
void trace_value_reg(const struct trace_pool *pool, uint32_t value, struct loupe_reg *reg);
/* The slot's register means something. */
bool trace_slot_has_reg(const struct loupe_slot *slot);
/* Number of a slot, *value 0 if nothing is stored in it. False when out of memory. */
bool trace_slot_value(struct trace_pool *pool, const struct loupe_slot *slot, uint32_t *value);
void trace_value_slot(const struct trace_pool *pool, uint32_t value, struct loupe_slot *slot);

enum { TRACE_FRAME_WORDS = 8 };
uint32_t trace_frame_encode(const struct loupe_frame *frame, uint32_t words[TRACE_FRAME_WORDS]);
void trace_frame_decode(const uint32_t *words, struct loupe_frame *frame);

enum { TRACE_STATE_WORDS = 11, TRACE_REF_WORDS = 5 };
/* room: TRACE_STATE_WORDS + ref_cnt * TRACE_REF_WORDS */
uint32_t trace_state_encode(const struct loupe_state *st, uint32_t *words);
uint32_t trace_state_ref_cnt(const uint32_t *words);
/* st->refs must have room. */
void trace_state_decode(const uint32_t *words, struct loupe_state *st);

/* --- mirror.c, record.c, record_prune.c ----------------------------------------------------- */

/*
 * The mirror: the state at the last step as it was recorded, to find out what changed. After going
 * back to an earlier step its raw copies are stale and made again only when looked at.
 */
struct trace_mirror_frame {
	struct loupe_reg regs[LOUPE_MAX_REG];
	struct loupe_slot slots[LOUPE_MAX_SLOTS];
	uint32_t high;	    /* slots below it may be present */
	uint32_t stack_gen; /* loupe_stack.gen of what slots holds, 0 unknown */
};

struct trace_mirror {
	struct trace_mirror_frame frame[LOUPE_MAX_FRAMES];
	uint32_t curframe;
	uint32_t frame_cnt; /* that were used; the others are zero */
	uint64_t stale[LOC_WORDS];	/* bit by location: the raw copy is not up to date */
	uint32_t last[LOC_CNT];		/* change, TRACE_NONE */
	uint32_t value[LOC_CNT];	/* number of the value, 0 absent */
	TRACE_VEC(uint32_t) state_room; /* scratch */
};

/* The raw registers of the mirror's current frame that are not stale. */
struct trace_regs {
	uint32_t fresh; /* bit n: Rn */
	struct loupe_reg reg[LOUPE_MAX_REG];
};

void trace_mirror_get_regs(const struct trace_mirror *m, struct trace_regs *regs);
/* The mirror went back to where they were got. */
void trace_mirror_put_regs(struct trace_mirror *m, const struct trace_regs *regs);
/* Forgets everything. */
void trace_mirror_reset(struct trace_mirror *m);
/* Takes back the changes [from, to), latest first. */
void trace_mirror_undo(struct loupe_trace *t, struct trace_mirror *m, uint32_t from, uint32_t to);
/* What to compare with the mirror. */
enum trace_scope {
	TRACE_SCOPE_FRESH, /* all, and all counts as changed */
	TRACE_SCOPE_ALL,
	TRACE_SCOPE_INSN, /* what the insn may have changed */
};
/* Records what differs between the mirror and st; insn: the one executed. False: no memory. */
bool trace_mirror_diff(struct loupe_trace *t, struct trace_mirror *m, const struct loupe_state *st,
		       enum trace_scope scope, const struct loupe_insn *insn);

struct trace_recorder *trace_recorder_create(void);
void trace_recorder_destroy(struct trace_recorder *rec);
/* Looks for changes everywhere, not only where an insn can make them. */
void trace_recorder_expect_all(struct trace_recorder *rec);
/* For tests: after each step look for changes where the insn was not expected to make any. */
void trace_recorder_check(struct loupe_trace *t);
/* Such changes found so far. */
uint64_t trace_recorder_missed(const struct loupe_trace *t);

/* Step that an event belongs to. */
static inline uint32_t trace_now(const struct loupe_trace *t)
{
	return t->step_cnt ? t->step_cnt - 1 : 0;
}

static inline void trace_flag(struct loupe_trace *t, uint32_t flag)
{
	if (t->step_cnt)
		t->steps.at[t->step_cnt - 1].word |= flag << STEP_FLAGS_SHIFT;
}

void trace_on_checkpoint(void *ctx, const struct loupe_state *st, int32_t insn_idx);
void trace_on_compare(void *ctx, const struct loupe_compare *cmp);
void trace_on_evict(void *ctx, const struct loupe_state *st, uint32_t hits, uint32_t misses);
void trace_on_state_free(void *ctx, const struct loupe_state *st);
void trace_on_clean(void *ctx, const struct loupe_state *st);
void trace_on_mark_precise(void *ctx, const struct loupe_state *st,
			   const struct loupe_masks *masks);
void trace_on_walk_begin(void *ctx, uint32_t frameno, int32_t last, int32_t first, int32_t subseq);
void trace_on_walk_hop(void *ctx, const struct loupe_masks *masks, int32_t insn_idx);
void trace_on_walk_parent(void *ctx, const struct loupe_masks *masks, const struct loupe_state *st);
void trace_on_walk_end(void *ctx);
void trace_on_force_precise(void *ctx, uint32_t frameno, int reg, int spi);
void trace_on_propagate(void *ctx, const struct loupe_masks *masks);
void trace_on_scc_enter(void *ctx, const struct loupe_chain *chain);
void trace_on_scc_exit(void *ctx, const struct loupe_chain *chain);
void trace_on_scc_backedge(void *ctx, const struct loupe_chain *chain,
			   const struct loupe_state *st);
void trace_on_scc_round(void *ctx, const struct loupe_chain *chain, uint32_t round);
void trace_on_live_stack(void *ctx, const struct loupe_chain *chain, uint32_t frameno,
			 int32_t insn_idx, uint64_t live_old, uint64_t live_new,
			 uint64_t written_old, uint64_t written_new);

void trace_prune_rec_finish(struct trace_prune_rec *rec);

/* --- compare.c ------------------------------------------------------------------------------ */

struct trace_compare_iter {
	const struct loupe_trace *t;
	uint32_t run;
	uint64_t row, end; /* next row of the run, one past its last */
	const uint8_t *at;
	uint32_t serial;
	int32_t insn_idx;
};

void trace_compare_open(struct trace_compare_iter *it, const struct loupe_trace *t, uint32_t run);
/* False at the end of the run. */
bool trace_compare_next(struct trace_compare_iter *it, struct loupe_compare_info *info);
/* Fills the counters of checkpoints and insns. False when out of memory. */
bool trace_count_compares(struct loupe_trace *t);
/* First comparison at or after step. */
uint64_t trace_compare_lower(const struct loupe_trace *t, uint32_t step);

/* What a code means: mode, outcome, and the first difference's kind and place. */
enum {
	CMP_OUTCOME_SHIFT = 2,
	CMP_DIFF_SHIFT = 5,
	CMP_FRAME_SHIFT = 10,
	CMP_PLACE_SHIFT = 13, /* 0 none, 1-11 register + 1, then slots */
	CMP_BITS = 20,
	CMP_CODE_ESCAPE = 255, /* a code of two bytes follows */
};

/* --- steps.c, states.c
 * -------------------------------------------------------------------------------- */

static inline uint32_t trace_insn_of(const struct loupe_trace *t, uint32_t step)
{
	return t->steps.at[step].word & STEP_INSN_MASK;
}

static inline uint32_t trace_frame_of(const struct loupe_trace *t, uint32_t step)
{
	return t->steps.at[step].word >> STEP_FRAME_SHIFT & STEP_FRAME_MASK;
}

/* Last step of a path. */
static inline uint32_t trace_path_last(const struct loupe_trace *t, uint32_t path)
{
	return (path + 1 < t->paths.cnt ? t->paths.at[path + 1].first : t->step_cnt) - 1;
}

bool trace_is_cond_jmp(const struct loupe_insn *insn);
/* The jump at jmp was followed by next: did its condition not hold? */
bool trace_fell_through(uint32_t jmp, uint32_t next);
/* Step whose changes include change number `change`. */
uint32_t trace_change_step(const struct loupe_trace *t, uint32_t change);
/* Predecessor of step on its path. */
uint32_t trace_pred(const struct loupe_trace *t, uint32_t step);
/* Change that gave loc its value at step, TRACE_NONE if it has none; follows paths. */
uint32_t trace_find_change(const struct loupe_trace *t, uint32_t step, uint32_t loc);
/* Fills last[LOC_CNT] with the change of every location at step, TRACE_NONE where there is none. */
void trace_collect(const struct loupe_trace *t, uint32_t step, uint32_t *last);
/* The last keyframe in [from, to], NULL if there is none. */
const struct trace_keyframe *trace_keyframe_in(const struct loupe_trace *t, uint32_t from,
					       uint32_t to);
/* Number of a location, -1 if it is out of range. */
int trace_loc(struct loupe_loc loc);

#endif
