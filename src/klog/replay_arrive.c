// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrivals. An arrival at an insn has no line of its own: it is told by the first of the lines that
 * follow from it (a state, "from A to B", ": safe", the insn). Where other lines stand between,
 * they are looked over to find that one. Also precision walks, of which some belong to an arrival
 * that is still to be told.
 */
#include <string.h>

#include "klog/replay.h"

/* --- arrivals -------------------------------------------------------------------------------- */

void replay_end_func(struct walk *w)
{
	if (!w->in_func)
		return;
	TELL(w, func_end, w->subprogno, 0);
	w->in_func = false;
}

void replay_begin_func(struct walk *w, uint32_t subprogno)
{
	replay_end_func(w);
	w->subprogno = subprogno;
	w->in_func = w->fresh = true;
	w->open = w->arrived = w->called = w->returned = false;
	w->path_speculative = w->st.speculative = false;
	w->held = NULL;
	w->st.curframe = 0;
	w->st.ref_cnt = 0;
	replay_frame_reset(&w->frames[0], 0, -1, subprogno);
	while (w->kept)
		replay_drop_kept(w);
	w->phase = subprogno ? LOUPE_PHASE_EXPLORE_SUBPROGS : LOUPE_PHASE_EXPLORE_MAIN;
	TELL(w, phase, w->phase);
	TELL(w, func_begin, subprogno);
}

/* Finds the next arrival among the items from the present one on. */
struct arrival replay_find_arrival(const struct walk *w)
{
	struct arrival a = { .kind = ARRIVAL_NONE, .from = -1 };
	struct scan_field f[FORM_MAX_FIELDS];

	for (uint32_t i = w->item; i < w->log->item_cnt; i++) {
		const struct log_item *item = &w->log->items[i];

		switch (item->kind) {
		case FORM_STEP:
		case FORM_SAFE:
		case FORM_STATE:
		case FORM_PATH_BEGIN:
		case FORM_PATH_SAFE:
		case FORM_INFINITE_LOOP:
			break;
		case FORM_VALIDATING:
		case FORM_FUNC_SAFE:
		case FORM_PROCESSED:
			return a;
		default:
			continue;
		}
		if (!item_scan(w->log, item, f) || f[0].number < 0 || f[0].number > INT32_MAX)
			return a;
		a.to = (int32_t)f[0].number;
		a.kind = item->kind == FORM_SAFE ? ARRIVAL_PRUNED : ARRIVAL_LINE;
		if (item->kind == FORM_STATE) {
			a.text = f[1].text;
			a.len = f[1].len;
		}
		if (item->kind == FORM_INFINITE_LOOP && i + 1 < w->log->item_cnt &&
		    item[1].kind == FORM_CUR_STATE && item_scan(w->log, &item[1], f)) {
			a.text = f[0].text;
			a.len = f[0].len;
			a.whole = true;
		}
		if (item->kind == FORM_INFINITE_LOOP)
			a.kind = ARRIVAL_LOOP;
		if (item->kind != FORM_PATH_BEGIN && item->kind != FORM_PATH_SAFE)
			return a;
		if (f[1].number < 0 || f[1].number > INT32_MAX)
			return (struct arrival){ .kind = ARRIVAL_NONE };
		a.from = a.to;
		a.to = (int32_t)f[1].number;
		a.speculative = f[2].len != 0;
		a.kind = item->kind == FORM_PATH_BEGIN ? ARRIVAL_BEGIN : ARRIVAL_PRUNED_BEGIN;
		if (item->kind == FORM_PATH_BEGIN) {
			a.text = f[3].text;
			a.len = f[3].len;
			a.whole = true;
		}
		return a;
	}
	return a;
}

bool replay_is_pruned(const struct arrival *a)
{
	return a->kind == ARRIVAL_PRUNED || a->kind == ARRIVAL_PRUNED_BEGIN;
}

struct loupe_step replay_step_now(const struct walk *w)
{
	return (struct loupe_step){ .insn_idx = w->here,
				    .prev_insn_idx = w->prev,
				    .state = &w->st };
}

/* Taken and not taken branches, as dead code goes by them. */
static void note_way(struct walk *w)
{
	struct loupe_verify_result *r = w->result;

	if (w->finder || w->st.speculative || w->prev < 0 || (uint32_t)w->prev >= r->insn_cnt ||
	    !is_cond(insn_at(w, w->prev)))
		return;
	r->branch_taken[w->prev] |= w->here == w->prev + 1 ? 2 : 1;
}

static void take_held(struct walk *w)
{
	struct scan_field f[FORM_MAX_FIELDS];

	if (!w->held || !item_scan(w->log, w->held, f))
		return;
	replay_apply(w, f[0].text, f[0].len, false, w->here);
	w->state_due = true;
	w->due_regs = w->text.regs;
	w->due_slots = w->text.slots;
	w->held = NULL;
}

/* Both slots of a long constant were looked at when what follows is arrived at. */
static void note_long_constant(struct walk *w)
{
	const struct loupe_insn *insn = insn_at(w, w->insn);

	if (!w->finder && !w->st.speculative && insn && insn->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	    (uint32_t)w->insn + 1 < w->result->insn_cnt)
		w->result->insn_seen[w->insn + 1] = 1;
}

/* Arrives, unless that was done. */
void replay_arrive(struct walk *w)
{
	struct loupe_step step;
	struct arrival a;
	bool pop;

	if (w->arrived)
		return;
	a = replay_find_arrival(w);
	if (a.kind == ARRIVAL_NONE || (uint32_t)a.to >= w->image->insn_cnt)
		return;
	if (!w->in_func)
		replay_begin_func(w, 0);
	pop = (a.kind == ARRIVAL_BEGIN || a.kind == ARRIVAL_PRUNED_BEGIN) && !w->returned &&
	      !w->fresh;
	/* an infinite loop is found before "from A to B" is written */
	pop |= a.kind == ARRIVAL_LOOP && !w->open && !w->fresh;
	w->here = a.to;
	w->state_due = false;
	if (pop) {
		if (w->finder) {
			if (a.text)
				replay_read_frame(w, a.text, a.len);
			finder_pop(w->finder, a.from, a.to, a.speculative,
				   a.text ? &w->text : NULL);
		}
		if (a.kind == ARRIVAL_LOOP && w->pop_cnt < w->log->pop_cnt)
			a.from = w->log->pops[w->pop_cnt].from;
		replay_pop_path(w, &a);
	} else if (!w->fresh) {
		note_long_constant(w);
		replay_overwrite(w, replay_is_pruned(&a));
	}
	w->prev = w->fresh ? -1 : w->insn;
	take_held(w);
	if (a.text)
		replay_apply(w, a.text, a.len, a.whole || w->fresh, a.to);
	w->fresh = w->called = w->returned = w->scc_left = false;
	w->arrived = true;
	w->message_item = UINT32_MAX;
	w->step_cnt++;
	if (w->finder)
		finder_arrive(w->finder, w->item, a.to, &w->st, replay_is_pruned(&a));
	note_way(w);
	step = replay_step_now(w);
	TELL(w, arrive, &step);
	if (!w->finder && !replay_is_pruned(&a))
		replay_keep_for_pushes(w);
}

/* --- precision ------------------------------------------------------------------------------- */

void replay_end_precision(struct walk *w)
{
	if (w->in_walk)
		TELL(w, walk_end);
	w->in_walk = w->walk_open = false;
}

void replay_precision_begin(struct walk *w, const struct scan_field *f)
{
	/* a walk goes on at the parent, and then says which insn came after */
	if (!w->walk_open || f[3].number < 0)
		replay_end_precision(w);
	/* a jump asks for precision where its operands' ranges decide it */
	if (w->finder && w->open && !w->arrived && is_cond(insn_at(w, w->insn)))
		finder_decided(w->finder);
	w->in_walk = true;
	w->walk_open = false;
	TELL(w, walk_begin, (uint32_t)f[0].number, (int32_t)f[1].number, (int32_t)f[2].number,
	     (int32_t)f[3].number);
}

void replay_precision_parent(struct walk *w, const struct scan_field *f)
{
	struct loupe_masks masks = { (uint32_t)f[0].number & (LOUPE_MAX_FRAMES - 1), f[1].regs,
				     f[2].slots };

	w->walk_open |= masks.regs || masks.stack;
	replay_read_frame(w, f[3].text, f[3].len);
	w->text.frameno = masks.frameno;
	replay_frame_reset(&w->other_frames[masks.frameno], masks.frameno, -1, 0);
	replay_take_text(w, &w->other, true);
	w->other.curframe = masks.frameno;
	TELL(w, walk_parent, &masks, &w->other);
}

/* Lines that go on with a precision walk. */
bool replay_in_precision(uint8_t kind)
{
	return kind == FORM_WALK_BEGIN || kind == FORM_WALK_HOP || kind == FORM_WALK_PARENT ||
	       kind == FORM_FORCE_ALL || kind == FORM_FORCE_REG || kind == FORM_FORCE_SLOT;
}

/*
 * Precision that a checkpoint hands on. It belongs to the arrival that it prunes, or, where the
 * last path's loop was left, perhaps to a backedge of that.
 */
static bool hands_to_arrival(const struct walk *w)
{
	struct scan_field f[FORM_MAX_FIELDS];
	int64_t last = -1; /* insn at which the walk begins */
	uint32_t i = w->item;

	for (bool walked = false;; i++) {
		uint8_t kind = i < w->log->item_cnt ? w->log->items[i].kind : FORM_PROCESSED;

		if (kind == FORM_SAFE || kind == FORM_PATH_SAFE)
			break;
		if (kind == FORM_WALK_BEGIN && !walked) {
			walked = true;
			if (item_scan(w->log, &w->log->items[i], f))
				last = f[1].number;
		} else if ((kind == FORM_PROPAGATE && walked) ||
			   (kind != FORM_PROPAGATE && kind != FORM_SCC_BACKEDGE &&
			    !replay_in_precision(kind))) {
			return false;
		}
	}
	if (!w->scc_left)
		return true;
	if (!item_scan(w->log, &w->log->items[i], f))
		return false;
	return last == (w->log->items[i].kind == FORM_PATH_SAFE ? f[0].number : w->insn);
}

void replay_propagate(struct walk *w, const struct scan_field *f)
{
	struct loupe_masks masks = { .frameno = (uint32_t)f[0].number & (LOUPE_MAX_FRAMES - 1) };
	struct scan s = { f[1].text, f[1].text + f[1].len };
	bool more = true;
	int64_t n;

	while (more) {
		if (scan_is(&s, "r") && scan_number(&s, &n) && n >= 0 && n < LOUPE_MAX_REG)
			masks.regs |= 1u << n;
		else if (scan_is(&s, "fp") && scan_number(&s, &n) && n < 0 && n >= -LOUPE_MAX_STACK)
			masks.stack |= 1ull << (-n / LOUPE_REG_SIZE - 1);
		else
			break;
		more = scan_is(&s, ",");
	}
	if (!w->in_walk && hands_to_arrival(w))
		replay_arrive(w);
	TELL(w, propagate, &masks);
}
