// SPDX-License-Identifier: GPL-2.0-only
/* What stands beside the program: counts, what is alive, how precision was asked for. */
#include "walk.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

/* Stack slots of a function on a call chain, alive before an insn. */
struct walk_live {
	uint32_t insn;
	uint32_t row; /* of the trace's table: later ones hold */
	const struct loupe_chain *chain;
	uint64_t slots;
};

/* The demand whose hops are being found. */
struct walk_replay {
	struct job job;
	struct walk_view *walk;
	const struct loupe_image *image;
	struct loupe_verify_opts opts;
	uint64_t demand; /* row */
	uint32_t step, nth;
	struct loupe_hop *hops;
	uint32_t cnt;
};

/* ---- counts ------------------------------------------------------------------------------- */

/* Counts take little room: 16,311 is 16k. */
static void short_count(uint32_t number, char *buf, size_t size)
{
	if (number < 10000)
		snprintf(buf, size, "%u", number);
	else if (number < 10000000)
		snprintf(buf, size, "%uk", number / 1000);
	else
		snprintf(buf, size, "%uM", number / 1000000);
}

/* Checkpoints of an insn at the present step. */
static void count_points(const struct walk_view *walk, uint32_t insn, uint32_t *live,
			 uint32_t *evicted)
{
	uint32_t cnt, now = walk->info.step;
	const uint32_t *serials = loupe_trace_insn_checkpoints(walk->trace, insn, &cnt);
	struct loupe_checkpoint_info info;

	*live = 0;
	*evicted = 0;
	for (uint32_t i = 0; i < cnt; i++) {
		if (loupe_trace_checkpoint(walk->trace, serials[i], &info) || info.born > now)
			continue;
		if (info.evicted != LOUPE_NO_STEP && info.evicted <= now)
			++*evicted;
		else
			++*live;
	}
}

/* "◆3 ●2 ✂1" at the right end of an instruction's row. @return columns that it takes */
static int draw_counts(const struct walk_view *walk, uint32_t insn, struct screen *screen,
		       struct rect at)
{
	static const struct {
		const char *sign;
		enum ui_role role;
	} signs[] = { { "◆", UI_ARRIVAL }, { "●", UI_CHECKPOINT }, { "✂", UI_EVICTED } };
	uint32_t counts[3];
	char text[3][16];
	int columns = 0;
	struct pen pen;

	loupe_trace_visits(walk->trace, insn, &counts[0]);
	count_points(walk, insn, &counts[1], &counts[2]);
	for (int i = 0; i < 3; i++) {
		short_count(counts[i], text[i], sizeof(text[i]));
		if (counts[i])
			columns += (int)strlen(text[i]) + 2;
	}
	pen = pen_at(screen, at.x + at.w - columns, at.y, columns);
	for (int i = 0; i < 3; i++) {
		if (counts[i])
			pen_printf(&pen, signs[i].role, " %s%s", signs[i].sign, text[i]);
	}
	return columns;
}

/* ---- liveness ----------------------------------------------------------------------------- */

static int by_insn(const void *left, const void *right)
{
	const struct walk_live *a = left, *b = right;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static int find_live(struct walk_view *walk)
{
	uint64_t rows = loupe_trace_rows(walk->trace, LOUPE_TABLE_LIVE_STACK);
	struct loupe_live_stack_info info;

	if (walk->live)
		return 0;
	walk->live = calloc(rows + 1, sizeof(*walk->live));
	if (!walk->live)
		return -ENOMEM;
	for (uint64_t row = 0; row < rows; row++) {
		/* a function's own frame is the last one of its chain */
		if (loupe_trace_live_stack(walk->trace, row, &info) ||
		    info.frameno + 1 != info.chain->cnt)
			continue;
		walk->live[walk->live_cnt++] = (struct walk_live){
			(uint32_t)info.insn_idx, (uint32_t)row, info.chain, info.live,
		};
	}
	qsort(walk->live, walk->live_cnt, sizeof(*walk->live), by_insn);
	return 0;
}

/* The chain is that of the present state, or of one of its callers. */
static bool is_present(const struct walk_view *walk, const struct loupe_chain *chain)
{
	if (!walk->state || chain->cnt > walk->state->curframe + 1)
		return false;
	for (uint32_t i = 0; i + 1 < chain->cnt; i++) {
		if (walk->state->frame[i + 1]->callsite != (int32_t)chain->at[i])
			return false;
	}
	return true;
}

/* What the trace says of an insn: on the present call chain if its function is on it, else on
 * any. */
static bool said_live(const struct walk_view *walk, uint32_t insn, uint64_t *slots)
{
	uint32_t lo = 0, hi = walk->live_cnt;
	uint64_t any = 0, present = 0;
	bool is = false, said = false;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (walk->live[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < walk->live_cnt && walk->live[lo].insn == insn; lo++) {
		const struct walk_live *live = &walk->live[lo];

		if (is_present(walk, live->chain)) {
			is = true;
			present = live->slots;
		}
		any |= live->slots;
		said = true;
	}
	*slots = is ? present : any;
	return said;
}

/* Nothing is said of insns that touch no stack and are no prune points: there it is as after
 * them. */
static uint64_t live_slots(const struct walk_view *walk, uint32_t insn)
{
	const struct loupe_insn *insns = walk->listing.insns;
	const struct loupe_insn_facts *facts;
	uint64_t slots;

	for (uint32_t i = 0; i < walk->listing.insn_cnt; i++) {
		if (said_live(walk, insn, &slots))
			return slots;
		facts = loupe_trace_facts(walk->trace, insn);
		if (!facts || facts->prune_point || insns[insn].code == (BPF_JMP | BPF_EXIT))
			return 0;
		if (insns[insn].code == (BPF_JMP | BPF_JA))
			insn += (uint32_t)(insns[insn].off + 1);
		else if (insns[insn].code == (BPF_JMP32 | BPF_JA))
			insn += (uint32_t)(insns[insn].imm + 1);
		else
			insn += loupe_insn_slots(&insns[insn]);
	}
	return 0;
}

/* "-8 -16 +3": slots as offsets from the frame pointer, as many as max names. */
static void slots_text(uint64_t slots, int max, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (; slots && max && len < size; slots &= slots - 1, max--)
		len += (size_t)snprintf(buf + len, size - len, "%s%d", len ? " " : "",
					-(__builtin_ctzll(slots) + 1) * (int)LOUPE_REG_SIZE);
	if (slots && len < size)
		snprintf(buf + len, size - len, " +%d", __builtin_popcountll(slots));
}

static void regs_text(uint32_t regs, bool wide, char *buf)
{
	for (uint32_t i = 0; i < LOUPE_REG_FP; i++) {
		if (regs >> i & 1)
			*buf++ = (char)('0' + i);
		else if (wide)
			*buf++ = '.';
	}
	*buf = '\0';
}

static int draw_live(const struct walk_view *walk, uint32_t insn, struct screen *screen,
		     struct rect at)
{
	const struct loupe_insn_facts *facts = loupe_trace_facts(walk->trace, insn);
	char regs[16], slots[64], scc[16] = "";
	bool wide = at.w >= 50;
	int columns;
	struct pen pen;

	if (!facts || facts->second_slot)
		return 0;
	if (facts->force_checkpoint || facts->prune_point)
		screen_put(screen, at.x - 1, at.y, UI_CHECKPOINT,
			   facts->force_checkpoint ? 0x25c9 : 0x25cb);
	regs_text(facts->live_regs, wide, regs);
	slots_text(live_slots(walk, insn), wide ? 3 : 1, slots, sizeof(slots));
	if (facts->scc)
		snprintf(scc, sizeof(scc), "↻%u ", facts->scc);
	columns =
		screen_columns(scc) + (int)strlen(regs) + 2 + (*slots ? (int)strlen(slots) + 3 : 0);
	pen = pen_at(screen, at.x + at.w - columns, at.y, columns);
	pen_text(&pen, UI_TEXT, " ");
	pen_text(&pen, UI_NOTICE, scc);
	if (*slots)
		pen_printf(&pen, UI_VALUE, "fp%s ", slots);
	pen_text(&pen, UI_REG, regs);
	return columns;
}

/* ---- precision ---------------------------------------------------------------------------- */

static void masks_text(const struct loupe_masks *masks, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < LOUPE_MAX_REG && len < size; i++) {
		if (masks->regs >> i & 1)
			len += (size_t)snprintf(buf + len, size - len, "%sR%u", len ? " " : "", i);
	}
	for (uint32_t i = 0; i < LOUPE_MAX_SLOTS && len < size; i++) {
		if (masks->stack >> i & 1)
			len += (size_t)snprintf(buf + len, size - len, "%sfp-%u", len ? " " : "",
						(i + 1) * LOUPE_REG_SIZE);
	}
}

/* The part of the chain at an insn: the hop nearest to the demand, the mark nearest to it. */
static void at_insn(const struct walk_view *walk, uint32_t insn, const struct loupe_hop **hop,
		    const struct loupe_hop **mark, uint32_t *times, bool *last)
{
	uint32_t last_hop = LOUPE_NO_STEP;

	*hop = *mark = NULL;
	*times = 0;
	*last = false;
	for (uint32_t i = 0; i < walk->hop_cnt; i++) {
		const struct loupe_hop *at = &walk->hops[i];

		if (at->kind == LOUPE_HOP_INSN)
			last_hop = i;
		if ((uint32_t)at->insn_idx != insn)
			continue;
		if (at->kind == LOUPE_HOP_MARK && !*mark)
			*mark = at;
		if (at->kind != LOUPE_HOP_INSN)
			continue;
		if (!*hop)
			*hop = at;
		++*times;
	}
	*last = last_hop != LOUPE_NO_STEP && (uint32_t)walk->hops[last_hop].insn_idx == insn;
}

/* "│ R4", "◀ wants R4", "◆ #7 R4". */
static int draw_precision(const struct walk_view *walk, uint32_t insn, struct screen *screen,
			  struct rect at)
{
	struct loupe_walk_info demand;
	const struct loupe_hop *hop, *mark;
	char what[96], marked[128] = "", text[320];
	uint32_t times;
	bool last, demands;
	int columns;
	struct pen pen;

	if (walk->demand == LOUPE_NO_ROW || loupe_trace_walk(walk->trace, walk->demand, &demand))
		return 0;
	demands = (uint32_t)loupe_trace_step_insn(walk->trace, demand.step) == insn;
	at_insn(walk, insn, &hop, &mark, &times, &last);
	if (mark) {
		masks_text(&mark->masks, what, sizeof(what));
		snprintf(marked, sizeof(marked), " ● #%u %s", mark->serial, what);
	}
	if (demands) {
		masks_text(&demand.want, what, sizeof(what));
		snprintf(text, sizeof(text), "%s ◀ wants %s", marked, what);
	} else if (hop) {
		masks_text(&hop->masks, what, sizeof(what));
		snprintf(text, sizeof(text), "%s %s %s", marked, last ? "└" : "│", what);
		if (times > 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " ×%u", times);
	} else if (mark) {
		snprintf(text, sizeof(text), "%s", marked);
	} else {
		return 0;
	}
	columns = screen_columns(text);
	if (columns > at.w / 2)
		columns = at.w / 2;
	pen = pen_at(screen, at.x + at.w - columns, at.y, columns);
	pen_text(&pen, demands ? UI_NOTICE : mark ? UI_CHECKPOINT : UI_PRECISE, text);
	return columns;
}

/* ---- the hops of a demand ------------------------------------------------------------------- */

static void progress(void *ctx, uint32_t insn_processed)
{
	struct walk_replay *replay = ctx;

	atomic_store(&replay->job.progress, insn_processed);
}

static int run(struct job *base)
{
	struct walk_replay *replay = (struct walk_replay *)base;

	replay->opts.cancel = &base->cancel;
	replay->opts.progress = progress;
	replay->opts.progress_ctx = replay;
	return loupe_replay_walk(replay->image, &replay->opts, replay->step, replay->nth,
				 &replay->hops, &replay->cnt);
}

static void done(struct job *base)
{
	struct walk_replay *replay = (struct walk_replay *)base;
	struct walk_view *walk = replay->walk;

	walk->replay = NULL;
	if (base->rc == 0) {
		walk->hops = replay->hops;
		walk->hop_cnt = replay->cnt;
		replay->hops = NULL;
	} else if (base->rc != -ECANCELED) {
		tui_say(walk->view.tui, UI_NOTICE, "the chain of this demand was not found again");
	}
	free(replay->hops);
	free(replay);
}

static void forget_hops(struct walk_view *walk)
{
	if (walk->replay)
		jobs_cancel(tui_jobs(walk->view.tui), walk->replay);
	free(walk->hops);
	walk->hops = NULL;
	walk->hop_cnt = 0;
}

static void find_hops(struct walk_view *walk, uint64_t demand)
{
	static const struct job_ops ops = { .run = run, .done = done };
	struct loupe_walk_info info;
	struct walk_replay *replay;

	if (walk->demand == demand)
		return;
	forget_hops(walk);
	walk->demand = demand;
	if (demand == LOUPE_NO_ROW || loupe_trace_walk(walk->trace, demand, &info) ||
	    !walk->view.subject->image)
		return;
	replay = calloc(1, sizeof(*replay));
	if (!replay)
		return;
	replay->job.ops = &ops;
	replay->walk = walk;
	replay->image = walk->view.subject->image;
	replay->opts = *tui_verify_opts(walk->view.tui);
	replay->demand = demand;
	replay->step = info.step;
	replay->nth = (uint32_t)(demand -
				 loupe_trace_first_row(walk->trace, LOUPE_TABLE_WALK, info.step));
	snprintf(replay->job.what, sizeof(replay->job.what),
		 "Following precision back from step %u", info.step);
	replay->job.unit = "instructions processed";
	replay->job.total = info.step;
	walk->replay = &replay->job;
	jobs_add(tui_jobs(walk->view.tui), &replay->job);
}

/* ---- the interface -------------------------------------------------------------------------- */

void walk_margin_step(struct walk_view *walk)
{
	struct loupe_walk_info info;
	uint64_t row;

	if (walk->margin != WALK_PRECISION || !walk->walked)
		return;
	/* the one that was chosen at this step stays */
	if (walk->demand != LOUPE_NO_ROW && !loupe_trace_walk(walk->trace, walk->demand, &info) &&
	    info.step == walk->info.step)
		return;
	row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_WALK, walk->info.step);
	if (loupe_trace_walk(walk->trace, row, &info) || info.step != walk->info.step)
		row = row ? row - 1 : LOUPE_NO_ROW;
	find_hops(walk, row);
}

void walk_margin_next(struct walk_view *walk)
{
	walk->margin = (walk->margin + 1) % WALK_MARGIN_CNT;
	if (walk->margin == WALK_LIVE && find_live(walk)) {
		walk->margin = WALK_COUNTS;
		tui_say(walk->view.tui, UI_ERROR, "out of memory");
	}
	walk_margin_step(walk);
	if (walk->margin == WALK_PRECISION && walk->demand == LOUPE_NO_ROW)
		tui_say(walk->view.tui, UI_NOTICE,
			"no exact value was asked for until here; V goes to the next demand");
}

void walk_show_demand(struct walk_view *walk, uint64_t row)
{
	struct loupe_walk_info info;

	if (loupe_trace_walk(walk->trace, row, &info))
		return;
	walk->margin = WALK_PRECISION;
	find_hops(walk, row);
	walk_seek(walk, info.step);
}

void walk_next_demand(struct walk_view *walk, bool forward)
{
	struct loupe_walk_info info;
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_WALK, walk->info.step);

	if (walk->margin == WALK_PRECISION && walk->demand != LOUPE_NO_ROW &&
	    !loupe_trace_walk(walk->trace, walk->demand, &info) && info.step == walk->info.step)
		row = walk->demand + (forward ? 1 : 0);
	row -= !forward;
	if (row == LOUPE_NO_ROW || loupe_trace_walk(walk->trace, row, &info)) {
		tui_say(walk->view.tui, UI_NOTICE, "no exact value is asked for %s this",
			forward ? "after" : "before");
		return;
	}
	walk_show_demand(walk, row);
}

void walk_margin_note(const struct walk_view *walk, char *buf, size_t size)
{
	struct loupe_walk_info info;
	char step[NUMBER_TEXT];

	buf[0] = '\0';
	if (walk->margin == WALK_LIVE)
		snprintf(buf, size, "live before");
	if (walk->margin != WALK_PRECISION)
		return;
	if (walk->demand == LOUPE_NO_ROW || loupe_trace_walk(walk->trace, walk->demand, &info))
		snprintf(buf, size, "precision");
	else
		snprintf(buf, size, "%s step %s%s",
			 info.propagated ? "carried over at" : "demand of",
			 number_text(step, info.step), walk->replay ? " …" : "");
}

int walk_draw_margin(const struct walk_view *walk, uint32_t insn, struct screen *screen,
		     struct rect at)
{
	switch (walk->margin) {
	case WALK_LIVE:
		return draw_live(walk, insn, screen, at);
	case WALK_PRECISION:
		return draw_precision(walk, insn, screen, at);
	default:
		return draw_counts(walk, insn, screen, at);
	}
}

bool walk_margin_legend(const struct walk_view *walk, struct pen *pen)
{
	switch (walk->margin) {
	case WALK_LIVE:
		pen_text(pen, UI_CHECKPOINT, "○");
		pen_text(pen, UI_DIM, " prune point ");
		pen_text(pen, UI_CHECKPOINT, "◉");
		pen_text(pen, UI_DIM, " always stored ");
		pen_text(pen, UI_NOTICE, "↻");
		pen_text(pen, UI_DIM, " loop ");
		return true;
	case WALK_PRECISION:
		pen_text(pen, UI_NOTICE, "◀");
		pen_text(pen, UI_DIM, " demand ");
		pen_text(pen, UI_PRECISE, "│");
		pen_text(pen, UI_DIM, " wanted ");
		pen_text(pen, UI_CHECKPOINT, "●");
		pen_text(pen, UI_DIM, " marked ");
		return true;
	default:
		return false;
	}
}

void walk_margin_finish(struct walk_view *walk)
{
	forget_hops(walk);
	free(walk->live);
}
