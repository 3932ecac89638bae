// SPDX-License-Identifier: GPL-2.0-only
/* The walk over a log's items: tells listeners what each line says, in the order of a verification.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "klog/replay.h"

enum { PROGRESS_EVERY = 4096 };

/* The last step ended its path as paths end. */
static bool path_ended(const struct walk *w)
{
	const struct loupe_insn *last = insn_at(w, w->insn);

	return !w->open || (last && last->code == (BPF_JMP | BPF_EXIT) && !w->st.curframe);
}

/* What is said after exploration, and in which phase. */
static enum loupe_phase late_phase(const char *text)
{
	static const struct {
		const char *words;
		enum loupe_phase phase;
	} rows[] = {
		{ "combined stack size of ", LOUPE_PHASE_STACK_DEPTH },
		{ "stack size of subprog ", LOUPE_PHASE_STACK_DEPTH },
		{ "tail_calls are not allowed when call stack", LOUPE_PHASE_STACK_DEPTH },
		{ "subprog has tail_call and async cb", LOUPE_PHASE_STACK_DEPTH },
		{ "the call stack of ", LOUPE_PHASE_STACK_DEPTH },
		{ "cannot call exception cb directly", LOUPE_PHASE_STACK_DEPTH },
		{ "cannot tail call within exception cb", LOUPE_PHASE_STACK_DEPTH },
		{ "cannot be patched due to 16-bit range", LOUPE_PHASE_DEAD_CODE },
		{ "tail_call abusing map_ptr", LOUPE_PHASE_REWRITE },
		{ "adding tail call poke descriptor failed", LOUPE_PHASE_REWRITE },
		{ "kernel function call not eliminated", LOUPE_PHASE_REWRITE },
		{ "No program to jit at insn ", LOUPE_PHASE_REWRITE },
		{ "error during ctx access conversion", LOUPE_PHASE_REWRITE },
		{ "bpf verifier is misconfigured", LOUPE_PHASE_REWRITE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strstr(text, rows[i].words))
			return rows[i].phase;
	}
	return LOUPE_PHASE_LOAD;
}

static void message(struct walk *w, const struct log_item *item)
{
	enum loupe_phase phase;
	static const char *const of_level2[] = { "bpf_loop iteration limit reached",
						 "propagate_backedges: too many iterations" };
	static const char *const without_weight[] = { "is global and assumed valid",
						      "size cannot be determined" };
	char *text = strndup(w->log->text + item->at, item->len);
	bool level2 = false, weight = true;

	if (!text) {
		w->no_memory = true;
		return;
	}
	for (size_t i = 0; i < sizeof(of_level2) / sizeof(of_level2[0]); i++)
		level2 |= strstr(text, of_level2[i]) != NULL;
	for (size_t i = 0; i < sizeof(without_weight) / sizeof(without_weight[0]); i++)
		weight &= !strstr(text, without_weight[i]);
	if (weight && !level2)
		w->message_item = w->item;
	phase = late_phase(text);
	if (phase != w->phase && phase != LOUPE_PHASE_LOAD && !w->arrived && path_ended(w)) {
		w->phase = phase;
		TELL(w, phase, phase);
	}
	TELL(w, message, text, level2);
	free(text);
}

static void infinite_loop(struct walk *w, int32_t insn)
{
	const struct log_item *item = &w->log->items[w->item];
	struct scan_field f[FORM_MAX_FIELDS];

	replay_arrive(w);
	w->message_item = w->item;
	w->other.curframe = w->st.curframe;
	if (w->item + 2 < w->log->item_cnt && item[2].kind == FORM_OLD_STATE &&
	    item_scan(w->log, &item[2], f)) {
		replay_read_frame(w, f[0].text, f[0].len);
		replay_frame_reset(&w->other_frames[w->text.frameno], w->text.frameno, -1, 0);
		replay_take_text(w, &w->other, true);
		w->other.curframe = w->text.frameno;
		w->item += 2;
	}
	if (w->other.curframe == w->st.curframe)
		TELL(w, infinite_loop, insn, &w->st, &w->other);
}

static void entered(struct walk *w, const struct scan_field *f)
{
	uint32_t caller = w->st.curframe;
	int32_t target = -1;
	const struct loupe_insn *insn = insn_at(w, w->insn);

	if (insn && is_call(insn) && insn_is_pseudo_call(insn))
		target = w->insn + insn->imm + 1;
	replay_read_frame(w, f->text, f->len);
	if (w->text.frameno <= caller)
		return;
	replay_enter_frames(w, w->text.frameno, w->insn, target);
	replay_take_text(w, &w->st, true);
	w->called = true;
	TELL(w, call_enter, &w->st, caller, w->st.curframe);
}

static void returned(struct walk *w, const struct scan_field *f)
{
	uint32_t callee = w->st.curframe;

	replay_read_frame(w, f[1].text, f[1].len);
	if (w->text.frameno >= callee)
		return;
	w->st.curframe = w->text.frameno;
	replay_take_text(w, &w->st, true);
	w->returned = true;
	TELL(w, call_return, &w->st, callee, w->st.curframe, (int32_t)f[0].number);
}

/* A state behind an insn, or on a line of its own. */
static void insn_state(struct walk *w, int32_t insn, const char *text, size_t len)
{
	struct loupe_step step;

	replay_apply(w, text, len, false, insn);
	w->here = insn;
	step = replay_step_now(w);
	TELL(w, insn_state, &step, w->text.regs, w->text.slots);
}

/* A jump shows the state after it before the next insn is arrived at. */
static bool belongs_to_jump(const struct walk *w)
{
	return w->open && !w->arrived && is_cond(insn_at(w, w->insn));
}

static void note_seen(struct walk *w, int32_t insn)
{
	const struct loupe_insn *at = insn_at(w, insn);

	if (!at || w->st.speculative)
		return;
	w->result->insn_seen[insn] = 1;
}

static void step_line(struct walk *w, int32_t insn)
{
	struct loupe_step step;

	replay_arrive(w);
	if (!w->arrived || w->here != insn)
		return;
	step = replay_step_now(w);
	if (w->state_due)
		TELL(w, insn_state, &step, w->due_regs, w->due_slots);
	TELL(w, step, &step);
	if (!w->finder)
		note_seen(w, insn);
	w->insn = insn;
	w->open = true;
	w->arrived = w->state_due = false;
	if (!w->finder)
		replay_tell_pushes(w);
}

static void pruned(struct walk *w, bool after_pop)
{
	struct loupe_step step;

	replay_arrive(w);
	if (!w->arrived)
		return;
	step = replay_step_now(w);
	TELL(w, pruned, &step, after_pop);
	w->insn = w->here;
	w->open = w->arrived = w->state_due = false;
}

static void depths(struct walk *w, const struct scan_field *f)
{
	struct scan s = { f->text, f->text + f->len };
	struct loupe_verify_result *r = w->result;
	int64_t n;

	while (r->subprog_cnt < 256 && scan_number(&s, &n)) {
		r->stack_depth[r->subprog_cnt++] = (uint32_t)n;
		if (!scan_is(&s, "+"))
			break;
	}
}

static void counters(struct walk *w, const struct scan_field *f)
{
	w->result->counters = (struct loupe_counters){
		.insn_processed = (uint32_t)f[0].number,
		.max_states_per_insn = (uint32_t)f[2].number,
		.total_states = (uint32_t)f[3].number,
		.peak_states = (uint32_t)f[4].number,
		.longest_mark_read_walk = (uint32_t)f[5].number,
	};
}

static void masks_of(const struct scan_field *f, struct loupe_masks *masks)
{
	*masks = (struct loupe_masks){ (uint32_t)f[0].number & (LOUPE_MAX_FRAMES - 1), f[1].regs,
				       f[2].slots };
}

static void one_form(struct walk *w, uint8_t kind, const struct scan_field *f)
{
	struct loupe_masks masks;
	struct loupe_step step;

	switch (kind) {
	case FORM_SUBPROG:
		TELL(w, subprog, (uint32_t)f[0].number, (uint32_t)f[1].number);
		break;
	case FORM_LIVE_REGS:
		replay_facts(w);
		break;
	case FORM_VALIDATING:
		replay_begin_func(w, (uint32_t)f[1].number);
		break;
	case FORM_FUNC_SAFE:
		w->message_item = UINT32_MAX;
		replay_end_func(w);
		break;
	case FORM_STEP:
		step_line(w, (int32_t)f[0].number);
		break;
	case FORM_STATE_AFTER:
		if (belongs_to_jump(w))
			insn_state(w, w->insn, f[0].text, f[0].len);
		else
			w->held = &w->log->items[w->item];
		break;
	case FORM_STATE:
		if (belongs_to_jump(w) && f[0].number == w->insn) {
			insn_state(w, w->insn, f[1].text, f[1].len);
			break;
		}
		replay_arrive(w);
		if (w->arrived && w->here == f[0].number)
			insn_state(w, w->here, f[1].text, f[1].len);
		break;
	case FORM_PATH_BEGIN:
		replay_arrive(w);
		step = replay_step_now(w);
		if (w->arrived)
			TELL(w, path_begin, &step);
		break;
	case FORM_PATH_SAFE:
		pruned(w, true);
		break;
	case FORM_SAFE:
		pruned(w, false);
		break;
	case FORM_CALLER:
		replay_apply(w, f[0].text, f[0].len, true, w->insn);
		break;
	case FORM_CALLEE:
		entered(w, &f[0]);
		break;
	case FORM_RETURNING:
		replay_apply(w, f[0].text, f[0].len, true, w->insn);
		break;
	case FORM_TO_CALLER:
		returned(w, f);
		break;
	case FORM_INFINITE_LOOP:
		infinite_loop(w, (int32_t)f[0].number);
		break;
	case FORM_SCC_ENTER:
		replay_arrive(w);
		TELL(w, scc_enter, &f[0].chain);
		break;
	case FORM_SCC_EXIT:
		w->scc_left = true;
		TELL(w, scc_exit, &f[0].chain);
		break;
	case FORM_SCC_BACKEDGE:
		replay_arrive(w);
		TELL(w, scc_backedge, &f[0].chain, NULL);
		break;
	case FORM_WALK_BEGIN:
		replay_precision_begin(w, f);
		break;
	case FORM_WALK_HOP:
		w->walk_open = false;
		masks_of(f, &masks);
		TELL(w, walk_hop, &masks, (int32_t)f[3].number);
		break;
	case FORM_WALK_PARENT:
		replay_precision_parent(w, f);
		break;
	case FORM_FORCE_ALL:
		TELL(w, force_precise, (uint32_t)f[0].number, -1, -1);
		break;
	case FORM_FORCE_REG:
		TELL(w, force_precise, (uint32_t)f[0].number, (int)f[1].number, -1);
		break;
	case FORM_FORCE_SLOT:
		TELL(w, force_precise, (uint32_t)f[0].number, -1,
		     (int)(-f[1].number / LOUPE_REG_SIZE - 1));
		break;
	case FORM_PROPAGATE:
		replay_propagate(w, f);
		break;
	case FORM_LIVE_STACK_DONE:
		w->live_update++;
		TELL(w, live_stack_done, &f[0].chain, (uint32_t)f[1].number);
		break;
	case FORM_TIME:
		w->result->verification_ns = (uint64_t)f[0].number * 1000;
		break;
	case FORM_STACK_DEPTH:
		depths(w, f);
		break;
	case FORM_PROCESSED:
		counters(w, f);
		break;
	default:
		break;
	}
}

/* The control-flow graph's errors show lines by their insns' numbers. */
static void numbered_source(struct walk *w, const struct log_item *item)
{
	struct source_line source;

	if (!source_scan(w->log, item, &source) || source.insn_idx >= w->log->image->insn_cnt)
		return;
	if (!w->phase) {
		w->phase = LOUPE_PHASE_CFG;
		TELL(w, phase, w->phase);
	}
	TELL(w, source_line, (int32_t)source.insn_idx);
}

static void one_item(struct walk *w)
{
	const struct log_item *item = &w->log->items[w->item];
	struct scan_field f[FORM_MAX_FIELDS];

	if (!replay_in_precision(item->kind))
		replay_end_precision(w);
	switch (item->kind) {
	case ITEM_MESSAGE:
		message(w, item);
		break;
	case FORM_LIVE_STACK:
		replay_live_stack(w);
		break;
	case FORM_SOURCE_PREFIX:
		/* a step shows its line by itself */
		if (w->item + 1 < w->log->item_cnt && item[1].kind != FORM_STEP && w->step_cnt)
			TELL(w, source_line, w->arrived ? w->here : w->insn);
		break;
	case FORM_SOURCE_PREFIX_INSN:
		numbered_source(w, item);
		break;
	case FORM_LIVE_REGS_INSN:
		break;
	default:
		if (item_scan(w->log, item, f))
			one_form(w, item->kind, f);
	}
}

/* --- the whole log --------------------------------------------------------------------------- */

/* The errno that goes with the message, where it can be no other; 0 if not. */
static int implied_errno(const struct walk *w)
{
	static const char *const too_big[] = { "BPF program is too large. Processed ",
					       "The sequence of " };
	const struct log_item *item;

	if (w->message_item >= w->log->item_cnt)
		return 0;
	item = &w->log->items[w->message_item];
	for (size_t i = 0; i < sizeof(too_big) / sizeof(too_big[0]); i++) {
		if (item->len > strlen(too_big[i]) &&
		    !memcmp(w->log->text + item->at, too_big[i], strlen(too_big[i])))
			return -E2BIG;
	}
	return 0;
}

static void judge(struct walk *w)
{
	struct loupe_verify_result *r = w->result;
	const struct loupe_logged *log = w->log;
	bool rejected = w->message_item != UINT32_MAX;

	/* A path that just stops in a whole log was given up, with or without a word. Of accepted
	 * programs level 1 keeps no path. */
	if (!(log->lacks & LOUPE_LACKS_END) &&
	    (!path_ended(w) || (w->step_cnt && w->in_func && !(log->level & LOUPE_LOG_LEVEL2))))
		rejected = true;
	/* so was a program of which nothing was looked at */
	if (!(log->lacks & LOUPE_LACKS_END) && !r->counters.insn_processed)
		rejected = true;
	/* errors on paths that only a mispredicting processor takes are made harmless */
	if (w->path_speculative)
		rejected = false;
	r->verdict = rejected ? LOUPE_REJECTED : LOUPE_ACCEPTED;
	if (log->verdict >= 0)
		r->verdict = (enum loupe_verdict)log->verdict;
	else if (log->lacks & LOUPE_LACKS_END && !rejected)
		r->verdict = LOUPE_NOT_JUDGED;
	r->err = r->verdict == LOUPE_REJECTED ? log->err : 0;
	if (r->verdict == LOUPE_REJECTED && !r->err)
		r->err = implied_errno(w);
	r->lacks = log->lacks;
	if (r->verdict == LOUPE_REJECTED && !r->err)
		r->lacks |= LOUPE_LACKS_ERRNO;
	if (r->verdict == LOUPE_NOT_JUDGED)
		strcpy(r->reason, "the log ends before the verdict");
	if (r->verdict != LOUPE_REJECTED)
		r->phase = LOUPE_PHASE_DONE;
	else if (w->phase)
		r->phase = w->phase;
	else
		r->phase = r->counters.insn_processed ? LOUPE_PHASE_EXPLORE_MAIN : LOUPE_PHASE_CFG;
	if (log->level & LOUPE_LOG_LEVEL2 && r->verdict == LOUPE_REJECTED &&
	    r->counters.insn_processed == w->step_cnt + 1)
		r->lacks |= LOUPE_LACKS_LAST_STEP;
	if (log->lacks & LOUPE_LACKS_END)
		r->counters.insn_processed = w->step_cnt;
}

int logged_walk(const struct loupe_logged *log, const struct loupe_verify_opts *opts,
		struct path_finder *finder, struct loupe_verify_result *result)
{
	struct walk *w = calloc(1, sizeof(*w));
	bool cancelled = false;
	int rc = -ENOMEM;

	*result = (struct loupe_verify_result){ .insn_idx = -1, .insn_cnt = log->image->insn_cnt };
	if (!w)
		return -ENOMEM;
	*w = (struct walk){ .log = log,
			    .image = log->image,
			    .opts = opts,
			    .finder = finder,
			    .result = result,
			    .insn = -1,
			    .prev = -1,
			    .message_item = UINT32_MAX };
	w->st.refs = w->refs;
	w->other.refs = w->refs;
	result->insn_seen = calloc((size_t)result->insn_cnt + 1, 1);
	result->branch_taken = calloc((size_t)result->insn_cnt + 1, 1);
	if (!replay_state_init(&w->st, w->frames) ||
	    !replay_state_init(&w->other, w->other_frames) || !result->insn_seen ||
	    !result->branch_taken)
		goto out;
	TELL(w, begin, log->image);
	for (; w->item < log->item_cnt && !w->no_memory && !cancelled; w->item++) {
		one_item(w);
		if (w->item % PROGRESS_EVERY || !opts)
			continue;
		cancelled = opts->cancel && *opts->cancel;
		if (opts->progress)
			opts->progress(opts->progress_ctx, w->step_cnt);
	}
	replay_end_precision(w);
	if (w->in_func)
		TELL(w, func_end, w->subprogno, w->message_item == UINT32_MAX ? 0 : -EINVAL);
	if (w->no_memory)
		goto out;
	judge(w);
	TELL(w, end, result);
	rc = 0;
out:
	while (w->kept)
		replay_drop_kept(w);
	replay_state_finish(w->frames);
	replay_state_finish(w->other_frames);
	free(w->live);
	free(w);
	if (rc)
		loupe_verify_result_finish(result);
	return rc;
}

int loupe_logged_replay(const struct loupe_logged *log, const struct loupe_verify_opts *opts,
			struct loupe_verify_result *result)
{
	return logged_walk(log, opts, NULL, result);
}
