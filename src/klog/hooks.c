// SPDX-License-Identifier: GPL-2.0-only
/* From the verifier's events to lines of the log. */
#include "klog/klog.h"

#include <stdlib.h>
#include <string.h>

/* Column of the "; state" after an instruction, and the step by which it moves right. */
enum { STATE_COLUMN = 40, STATE_COLUMN_STEP = 8 };

/* The kernel's limit as it appears in the last line. */
enum { INSN_LIMIT = 1000000, PROG_TYPE_EXT = 28 };

static const char *speculative(const struct loupe_state *state)
{
	return state->speculative ? " (speculative execution)" : "";
}

static void on_begin(void *ctx, const struct loupe_image *image)
{
	struct loupe_log *log = ctx;

	if (image->btf && !log->btf)
		btf_open(image->btf, image->btf_size, &log->btf, NULL);
}

static void on_phase(void *ctx, enum loupe_phase phase)
{
	struct loupe_log *log = ctx;

	log->phase = phase;
}

static void on_message(void *ctx, const char *text, bool level2)
{
	struct loupe_log *log = ctx;

	if (level2 && !(log->level & LOUPE_LOG_LEVEL2))
		return;
	text_mem(&log->text, text, strnlen(text, MESSAGE_MAX));
	log_piece_done(log);
}

static void on_source_line(void *ctx, int32_t insn_idx)
{
	struct loupe_log *log = ctx;

	log_source_line(log, insn_idx);
	log_piece_done(log);
}

static void on_subprog(void *ctx, uint32_t subprogno, uint32_t start)
{
	log_put(ctx, FORM_SUBPROG, (struct field[]){ NUMBER(subprogno), NUMBER(start) });
	log_piece_done(ctx);
}

static void on_facts(void *ctx, const struct loupe_insn_facts *facts, uint32_t insn_cnt)
{
	log_put(ctx, FORM_LIVE_REGS, NULL);
	for (uint32_t i = 0; i < insn_cnt; i++) {
		char regs[LOUPE_REG_FP + 1] = { 0 };

		if (facts[i].second_slot)
			continue;
		for (int r = 0; r < LOUPE_REG_FP; r++)
			regs[r] = facts[i].live_regs & 1u << r ? (char)('0' + r) : '.';
		if (facts[i].scc)
			log_put(ctx, FORM_LIVE_REGS_SCC, &NUMBER(facts[i].scc));
		else
			log_put(ctx, FORM_LIVE_REGS_NO_SCC, NULL);
		log_put(ctx, FORM_LIVE_REGS_INSN,
			(struct field[]){ NUMBER(i), TEXT(regs), INSN((int32_t)i) });
		log_piece_done(ctx);
	}
}

static void on_func_begin(void *ctx, uint32_t subprogno)
{
	struct loupe_log *log = ctx;

	log->prev_line = NULL;
	log->position_cnt = 0;
	log->resumed = false;
	if (subprogno || log->form.image->prog_type == PROG_TYPE_EXT)
		log_put(log, FORM_VALIDATING,
			(struct field[]){ TEXT(log_subprog_name(log, subprogno)),
					  NUMBER(subprogno) });
	log_piece_done(log);
}

static void on_func_end(void *ctx, uint32_t subprogno, int err)
{
	struct loupe_log *log = ctx;

	if (err)
		return;
	if (!(log->level & LOUPE_LOG_LEVEL2))
		log_take_back(log, 0);
	if (subprogno)
		log_put(log, FORM_FUNC_SAFE,
			(struct field[]){ NUMBER(subprogno),
					  TEXT(log_subprog_name(log, subprogno)) });
	log_piece_done(log);
}

static void on_path_begin(void *ctx, const struct loupe_step *step)
{
	log_put(ctx, FORM_PATH_BEGIN,
		(struct field[]){ NUMBER(step->prev_insn_idx), NUMBER(step->insn_idx),
				  TEXT(speculative(step->state)),
				  WHOLE(step->state, step->state->curframe) });
	log_piece_done(ctx);
}

/* Blanks between an instruction of length bytes (newline included) and "; state". */
static uint64_t blanks_after(uint64_t length)
{
	uint64_t column = length + STATE_COLUMN_STEP / 2;

	if (column < STATE_COLUMN)
		column = STATE_COLUMN;
	column = (column + STATE_COLUMN_STEP - 1) / STATE_COLUMN_STEP * STATE_COLUMN_STEP;
	return column - length - 1;
}

static void on_insn_state(void *ctx, const struct loupe_step *step, uint32_t regs, uint64_t slots)
{
	struct loupe_log *log = ctx;
	struct field state = FRAME(step->state, step->state->curframe, regs, slots);

	if (log->insn_end && log->insn_end == log_position(log)) {
		/* nothing stands between: the state goes on the instruction's line */
		log_take_back(log, log->insn_end - 1);
		text_fill(&log->text, ' ', blanks_after(log->insn_length));
		log_put(log, FORM_STATE_AFTER, &state);
	} else {
		log_put(log, FORM_STATE, (struct field[]){ NUMBER(step->insn_idx), state });
	}
	log_piece_done(log);
}

static void on_step(void *ctx, const struct loupe_step *step)
{
	struct loupe_log *log = ctx;
	uint64_t start;

	log_source_line(log, step->insn_idx);
	start = log_position(log);
	log_put(log, FORM_STEP, (struct field[]){ NUMBER(step->insn_idx), INSN(step->insn_idx) });
	log->insn_end = log_position(log);
	log->insn_length = log->insn_end - start;
	log_piece_done(log);
}

/* At level 1 the kernel never takes note that it showed where a path came from: it says so
 * again. */
static void on_pruned(void *ctx, const struct loupe_step *step, bool after_pop)
{
	struct loupe_log *log = ctx;

	if (log->level & LOUPE_LOG_LEVEL2 ? after_pop : log->resumed)
		log_put(log, FORM_PATH_SAFE,
			(struct field[]){ NUMBER(step->prev_insn_idx), NUMBER(step->insn_idx),
					  TEXT(speculative(step->state)) });
	else
		log_put(log, FORM_SAFE, &NUMBER(step->insn_idx));
	log_piece_done(log);
}

static void on_branch_push(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			   const struct loupe_state *state, bool async)
{
	struct loupe_log *log = ctx;
	uint64_t *more;

	(void)insn_idx, (void)prev_insn_idx, (void)state, (void)async;
	if (log->position_cnt == log->position_cap) {
		uint32_t cap = log->position_cap ? 2 * log->position_cap : 64;

		more = realloc(log->positions, cap * sizeof(*more));
		if (!more) {
			log->text.failed = true;
			return;
		}
		log->positions = more;
		log->position_cap = cap;
	}
	log->positions[log->position_cnt++] = log_position(log);
}

static void on_branch_pop(void *ctx, int32_t insn_idx, int32_t prev_insn_idx,
			  const struct loupe_state *state)
{
	struct loupe_log *log = ctx;

	(void)insn_idx, (void)prev_insn_idx, (void)state;
	log->resumed = true;
	if (log->position_cnt)
		log_take_back(log, log->positions[--log->position_cnt]);
}

static void on_call_enter(void *ctx, const struct loupe_state *state, uint32_t caller_frame,
			  uint32_t callee_frame)
{
	log_put(ctx, FORM_CALLER, &WHOLE(state, caller_frame));
	log_put(ctx, FORM_CALLEE, &WHOLE(state, callee_frame));
	log_piece_done(ctx);
}

static void on_call_return(void *ctx, const struct loupe_state *state, uint32_t callee_frame,
			   uint32_t caller_frame, int32_t to_insn)
{
	struct loupe_log *log = ctx;

	log->resumed = true;
	log_put(log, FORM_RETURNING, &WHOLE(state, callee_frame));
	log_put(log, FORM_TO_CALLER,
		(struct field[]){ NUMBER(to_insn), WHOLE(state, caller_frame) });
	log_piece_done(log);
}

static void on_infinite_loop(void *ctx, int32_t insn_idx, const struct loupe_state *cur,
			     const struct loupe_state *old)
{
	log_source_line(ctx, insn_idx);
	log_put(ctx, FORM_INFINITE_LOOP, &NUMBER(insn_idx));
	log_put(ctx, FORM_CUR_STATE, &WHOLE(cur, cur->curframe));
	log_put(ctx, FORM_OLD_STATE, &WHOLE(old, cur->curframe));
	log_piece_done(ctx);
}

static void on_walk_begin(void *ctx, uint32_t frameno, int32_t last_idx, int32_t first_idx,
			  int32_t subseq_idx)
{
	log_put(ctx, FORM_WALK_BEGIN,
		(struct field[]){ NUMBER(frameno), NUMBER(last_idx), NUMBER(first_idx),
				  NUMBER(subseq_idx) });
	log_piece_done(ctx);
}

static void on_walk_hop(void *ctx, const struct loupe_masks *masks, int32_t insn_idx)
{
	log_put(ctx, FORM_WALK_HOP,
		(struct field[]){ NUMBER(masks->frameno), REGS(masks->regs), SLOTS(masks->stack),
				  NUMBER(insn_idx), INSN(insn_idx) });
	log_piece_done(ctx);
}

static void on_walk_parent(void *ctx, const struct loupe_masks *masks,
			   const struct loupe_state *state)
{
	log_put(ctx, FORM_WALK_PARENT,
		(struct field[]){ NUMBER(masks->frameno), REGS(masks->regs), SLOTS(masks->stack),
				  WHOLE(state, masks->frameno) });
	log_piece_done(ctx);
}

static void on_force_precise(void *ctx, uint32_t frameno, int reg, int spi)
{
	if (reg >= 0)
		log_put(ctx, FORM_FORCE_REG, (struct field[]){ NUMBER(frameno), NUMBER(reg) });
	else if (spi >= 0)
		log_put(ctx, FORM_FORCE_SLOT,
			(struct field[]){ NUMBER(frameno), NUMBER(-(spi + 1) * LOUPE_REG_SIZE) });
	else
		log_put(ctx, FORM_FORCE_ALL, &NUMBER(frameno));
	log_piece_done(ctx);
}

static void on_propagate(void *ctx, const struct loupe_masks *masks)
{
	char buf[512];
	struct text names = text_in(buf, sizeof(buf));

	if (!masks->regs && !masks->stack)
		return;
	reg_mask_text(&names, masks->regs);
	for (uint32_t spi = 0; spi < LOUPE_MAX_SLOTS; spi++) {
		if (!(masks->stack & 1ull << spi))
			continue;
		text_str(&names, names.len ? ",fp" : "fp");
		text_dec(&names, -(int64_t)(spi + 1) * LOUPE_REG_SIZE);
	}
	text_end(&names);
	log_put(ctx, FORM_PROPAGATE, (struct field[]){ NUMBER(masks->frameno), TEXT(buf) });
	log_put(ctx, FORM_PROPAGATED, NULL);
	log_piece_done(ctx);
}

static void on_scc_enter(void *ctx, const struct loupe_chain *chain)
{
	log_put(ctx, FORM_SCC_ENTER, &LOOP(chain));
	log_piece_done(ctx);
}

static void on_scc_exit(void *ctx, const struct loupe_chain *chain)
{
	log_put(ctx, FORM_SCC_EXIT, &LOOP(chain));
	log_piece_done(ctx);
}

static void on_scc_backedge(void *ctx, const struct loupe_chain *chain,
			    const struct loupe_state *state)
{
	(void)state;
	log_put(ctx, FORM_SCC_BACKEDGE, &LOOP(chain));
	log_piece_done(ctx);
}

static void live_stack_change(struct loupe_log *log, const struct field place[3], const char *what,
			      uint64_t before, uint64_t after)
{
	if (before == after)
		return;
	log_put(log, FORM_LIVE_STACK, place);
	if (after & ~before)
		log_put(log, FORM_LIVE_STACK_GAINED,
			(struct field[]){ TEXT(what), SLOTS(after & ~before) });
	if (before & ~after)
		log_put(log, FORM_LIVE_STACK_LOST,
			(struct field[]){ TEXT(what), SLOTS(before & ~after) });
	log_put(log, FORM_LIVE_STACK_END, NULL);
}

static void on_live_stack(void *ctx, const struct loupe_chain *chain, uint32_t frameno,
			  int32_t insn_idx, uint64_t live_old, uint64_t live_new,
			  uint64_t written_old, uint64_t written_new)
{
	const struct field place[] = { CHAIN(chain), NUMBER(frameno), NUMBER(insn_idx) };

	live_stack_change(ctx, place, "live", live_old, live_new);
	live_stack_change(ctx, place, "written", written_old, written_new);
	log_piece_done(ctx);
}

static void on_live_stack_done(void *ctx, const struct loupe_chain *chain, uint32_t iterations)
{
	log_put(ctx, FORM_LIVE_STACK_DONE, (struct field[]){ CHAIN(chain), NUMBER(iterations) });
	log_piece_done(ctx);
}

static void on_end(void *ctx, const struct loupe_verify_result *result)
{
	const struct loupe_counters *counters = &result->counters;
	char buf[2048];
	struct text depths = text_in(buf, sizeof(buf));

	if (result->phase == LOUPE_PHASE_LOAD ||
	    (result->verdict != LOUPE_ACCEPTED && result->verdict != LOUPE_REJECTED))
		return;
	for (uint32_t i = 0; i < result->subprog_cnt; i++) {
		if (i)
			text_char(&depths, '+');
		text_dec(&depths, result->stack_depth[i]);
	}
	text_end(&depths);
	log_put(ctx, FORM_TIME, &NUMBER((int64_t)(result->verification_ns / 1000)));
	log_put(ctx, FORM_STACK_DEPTH, &TEXT(buf));
	log_put(ctx, FORM_PROCESSED,
		(struct field[]){ NUMBER(counters->insn_processed), NUMBER(INSN_LIMIT),
				  NUMBER(counters->max_states_per_insn),
				  NUMBER(counters->total_states), NUMBER(counters->peak_states),
				  NUMBER(counters->longest_mark_read_walk) });
	log_piece_done(ctx);
}

/* Heard at every level but 0. */
#define ANY_HOOKS                                                                            \
	.begin = on_begin, .phase = on_phase, .message = on_message,                         \
	.source_line = on_source_line, .func_begin = on_func_begin, .func_end = on_func_end, \
	.infinite_loop = on_infinite_loop, .propagate = on_propagate, .end = on_end
/* Heard where finished paths are taken back. */
#define TAKE_BACK_HOOKS .branch_push = on_branch_push, .branch_pop = on_branch_pop
#define PATHS_HOOKS                                                        \
	.insn_state = on_insn_state, .step = on_step, .pruned = on_pruned, \
	.call_enter = on_call_enter, .call_return = on_call_return

static const struct loupe_hooks hooks_none = { 0 };
static const struct loupe_hooks hooks_stats = { ANY_HOOKS, TAKE_BACK_HOOKS };
static const struct loupe_hooks hooks_level1 = { ANY_HOOKS, TAKE_BACK_HOOKS, PATHS_HOOKS };
static const struct loupe_hooks hooks_level2 = {
	ANY_HOOKS,
	PATHS_HOOKS,
	.subprog = on_subprog,
	.facts = on_facts,
	.path_begin = on_path_begin,
	.walk_begin = on_walk_begin,
	.walk_hop = on_walk_hop,
	.walk_parent = on_walk_parent,
	.force_precise = on_force_precise,
	.scc_enter = on_scc_enter,
	.scc_exit = on_scc_exit,
	.scc_backedge = on_scc_backedge,
	.live_stack = on_live_stack,
	.live_stack_done = on_live_stack_done,
};

struct loupe_listener loupe_log_listener(struct loupe_log *log)
{
	const struct loupe_hooks *hooks = &hooks_none;

	if (log->level & LOUPE_LOG_LEVEL2)
		hooks = &hooks_level2;
	else if (log->level & LOUPE_LOG_LEVEL1)
		hooks = &hooks_level1;
	else if (log->level)
		hooks = &hooks_stats;
	return (struct loupe_listener){ .hooks = hooks, .ctx = log };
}
