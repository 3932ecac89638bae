/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the walk over a log's items. */
#ifndef KLOG_REPLAY_H
#define KLOG_REPLAY_H

#include "insn/opcodes.h"
#include "klog/logged.h"

/* The state at a step that left a path for later. */
struct kept {
	uint32_t pop; /* number of that path */
	uint32_t curframe;
	struct kept *below;
	struct loupe_frame frame[]; /* curframe + 1; then their slots */
};

/* How an insn is arrived at. */
enum arrival_kind {
	ARRIVAL_NONE,
	ARRIVAL_LINE,	      /* on the path */
	ARRIVAL_BEGIN,	      /* "from A to B:" */
	ARRIVAL_PRUNED,	      /* "B: safe" */
	ARRIVAL_LOOP,	      /* "infinite loop detected at insn B" */
	ARRIVAL_PRUNED_BEGIN, /* "from A to B: safe" */
};

struct arrival {
	enum arrival_kind kind;
	int32_t to, from;
	bool speculative;
	bool whole;	  /* text is all of the frame */
	const char *text; /* what the log says of the state, NULL: nothing */
	size_t len;
};

/* What is live, and surely written, at an insn of a call chain. */
struct live_set {
	bool used;
	struct live_change of;
	uint32_t update; /* number of the update that changed it last */
	uint64_t live, written;
};

struct walk {
	const struct loupe_logged *log;
	const struct loupe_image *image;
	const struct loupe_verify_opts *opts;
	struct path_finder *finder;
	struct loupe_verify_result *result;

	struct loupe_state st, other; /* the present one; another that an event shows */
	struct loupe_frame frames[LOUPE_MAX_FRAMES], other_frames[LOUPE_MAX_FRAMES];
	struct loupe_ref refs[SCAN_MAX_REFS];
	struct scan_frame text; /* read last */

	uint32_t item;
	uint32_t step_cnt;
	int32_t insn, prev; /* of the last step */
	bool in_func;	    /* exploration of a function has begun */
	bool fresh;	    /* … and its first step has not come */
	bool open;	    /* the last step's path goes on */
	bool arrived;	    /* at `here`, whose line has not come */
	int32_t here;
	bool called, returned; /* the last step entered or left a function */
	bool path_speculative;
	bool scc_left; /* a loop was left since the last step */
	uint32_t subprogno;

	const struct log_item
		*held;	/* state behind the last step's insn, for the arrival after it */
	bool state_due; /* it was taken, insn_state is to come */
	uint32_t due_regs;
	uint64_t due_slots;

	bool in_walk, walk_open; /* a precision walk; which goes on at the parent */
	uint32_t pop_cnt, push_cnt;
	struct kept *kept;
	enum loupe_phase phase;
	uint32_t message_item; /* last message of weight since the last step, UINT32_MAX: none */
	struct live_set *live; /* hash table */
	uint32_t live_cnt, live_cap, live_update;
	bool no_memory;
};

#define TELL(w, hook, ...)                                                               \
	do {                                                                             \
		for (uint32_t l_ = 0; (w)->opts && l_ < (w)->opts->listener_cnt; l_++) { \
			const struct loupe_listener *li_ = &(w)->opts->listeners[l_];    \
			if (li_->hooks->hook)                                            \
				li_->hooks->hook(li_->ctx, ##__VA_ARGS__);               \
		}                                                                        \
	} while (0)

static inline const struct loupe_insn *insn_at(const struct walk *w, int32_t idx)
{
	return idx >= 0 && (uint32_t)idx < w->image->insn_cnt ? &w->image->insns[idx] : NULL;
}

static inline bool is_jmp_class(const struct loupe_insn *insn)
{
	uint8_t class = insn ? BPF_CLASS(insn->code) : BPF_LD;

	return class == BPF_JMP || class == BPF_JMP32;
}

static inline bool is_cond(const struct loupe_insn *insn)
{
	return is_jmp_class(insn) && BPF_OP(insn->code) != BPF_JA &&
	       BPF_OP(insn->code) != BPF_CALL && BPF_OP(insn->code) != BPF_EXIT;
}

static inline bool is_call(const struct loupe_insn *insn)
{
	return is_jmp_class(insn) && BPF_OP(insn->code) == BPF_CALL;
}

/* --- replay_state.c */
bool replay_state_init(struct loupe_state *st, struct loupe_frame *frames);
void replay_state_finish(struct loupe_frame *frames);
void replay_frame_reset(struct loupe_frame *frame, uint32_t frameno, int32_t callsite,
			uint32_t subprogno);
void replay_enter_frames(struct walk *w, uint32_t frameno, int32_t callsite, int32_t insn);
void replay_take_text(struct walk *w, struct loupe_state *st, bool whole);
void replay_read_frame(struct walk *w, const char *text, size_t len);
void replay_apply(struct walk *w, const char *text, size_t len, bool whole, int32_t insn);
void replay_overwrite(struct walk *w, bool pruned);
void replay_drop_kept(struct walk *w);
void replay_tell_pushes(struct walk *w);
void replay_keep_for_pushes(struct walk *w);
void replay_pop_path(struct walk *w, const struct arrival *a);

/* --- replay_arrive.c */
void replay_end_func(struct walk *w);
void replay_begin_func(struct walk *w, uint32_t subprogno);
struct arrival replay_find_arrival(const struct walk *w);
bool replay_is_pruned(const struct arrival *a);
struct loupe_step replay_step_now(const struct walk *w);
void replay_arrive(struct walk *w);
void replay_end_precision(struct walk *w);
void replay_precision_begin(struct walk *w, const struct scan_field *f);
void replay_precision_parent(struct walk *w, const struct scan_field *f);
bool replay_in_precision(uint8_t kind);
void replay_propagate(struct walk *w, const struct scan_field *f);

/* --- replay_live.c */
void replay_facts(struct walk *w);
void replay_live_stack(struct walk *w);

#endif
