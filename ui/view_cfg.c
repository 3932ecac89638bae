// SPDX-License-Identifier: GPL-2.0-only
/* CFG: the graphs before and after, side by side. */
#include "cfg_pair.h"
#include "panes.h"
#include "view.h"

#include "bpfloupe/cfg_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Graphs of more blocks are laid out in the background. */
#define SMALL_GRAPH 1500

struct cfg_view {
	struct view view;
	struct cfg_side side[2]; /* CFG_AFTER may have no instruction */
	int active;
	bool zoom; /* only the active side is shown */
	bool shade;
	uint32_t edit;	       /* filters: edits applied in the graph after */
	char verdict[120];     /* filters: whether that is the same filter */
	struct cfg_work *work; /* layout under way, or NULL */
	char problem[600];     /* why a graph cannot be shown */
};

/* ---- layout ------------------------------------------------------------------------------- */

struct cfg_work {
	struct job job; /* first */
	struct cfg_view *cfg;
	struct loupe_layout *layout[2];
};

static int run_layout(struct job *job)
{
	struct cfg_work *work = (struct cfg_work *)job;
	struct cfg_side *side = work->cfg->side;
	int rc;

	rc = cfg_side_layout(&side[CFG_BEFORE], NULL, &job->cancelled, &work->layout[CFG_BEFORE]);
	if (rc || !side[CFG_AFTER].cnt)
		return rc;
	/* the order of the blocks is that of the graph before, which is only kept when done */
	side[CFG_BEFORE].layout = work->layout[CFG_BEFORE];
	rc = cfg_side_layout(&side[CFG_AFTER], &side[CFG_BEFORE], &job->cancelled,
			     &work->layout[CFG_AFTER]);
	side[CFG_BEFORE].layout = NULL;
	return rc;
}

static void done_layout(struct job *job)
{
	struct cfg_work *work = (struct cfg_work *)job;
	struct cfg_view *cfg = work->cfg;

	cfg->work = NULL;
	for (int i = 0; i < 2; i++) {
		struct cfg_side *side = &cfg->side[i];

		if (job->rc) {
			loupe_layout_destroy(work->layout[i]);
			continue;
		}
		side->layout = work->layout[i];
		side->follow = true;
		side->centre = true;
	}
	if (job->rc)
		snprintf(cfg->problem, sizeof(cfg->problem), "the graph was not laid out: %s",
			 job->rc == -ECANCELED ? "stopped" : strerror(-job->rc));
	free(work);
}

static int lay_out(struct cfg_view *cfg)
{
	static const struct job_ops ops = { .run = run_layout, .done = done_layout };
	struct cfg_work *work = calloc(1, sizeof(*work));
	uint32_t blocks = cfg->side[CFG_BEFORE].cfg->block_cnt;

	if (!work)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		loupe_layout_destroy(cfg->side[i].layout);
		cfg->side[i].layout = NULL;
	}
	if (cfg->side[CFG_AFTER].cnt)
		blocks += cfg->side[CFG_AFTER].cfg->block_cnt;
	work->cfg = cfg;
	work->job.ops = &ops;
	snprintf(work->job.what, sizeof(work->job.what), "Laying out %u blocks", blocks);
	if (blocks <= SMALL_GRAPH) {
		work->job.rc = run_layout(&work->job);
		done_layout(&work->job);
		return 0;
	}
	cfg->work = work;
	jobs_add(tui_jobs(cfg->view.tui), &work->job);
	jobs_prefer(tui_jobs(cfg->view.tui), &work->job);
	return 0;
}

/* ---- selecting ---------------------------------------------------------------------------- */

/* Where on the other side to look for an instruction that is only on this one: at the nearest
 * before it that both have. */
static uint32_t neighbour(const struct cfg_side *side, uint32_t insn)
{
	while (insn && side->other[insn] == LOUPE_CFG_NONE)
		insn--;
	return side->other[insn];
}

/* Puts the active side's cursor on insn, and the other's on its partner. */
static void put_cursor(struct cfg_view *cfg, uint32_t insn)
{
	struct cfg_side *side = &cfg->side[cfg->active], *other = &cfg->side[!cfg->active];
	struct place place = tui_place(cfg->view.tui);
	uint32_t orig;

	if (insn >= side->cnt)
		return;
	side->cursor = insn;
	side->follow = true;
	side->way_in = 0;
	if (other->cnt) {
		other->cursor = side->other[insn];
		other->look = neighbour(side, insn);
		other->follow = true;
	}
	orig = cfg->active == CFG_BEFORE ? insn : side->other[insn];
	if (orig != LOUPE_CFG_NONE && place.insn != (int32_t)orig)
		tui_set_place(cfg->view.tui, (struct place){ LOUPE_NO_STEP, (int32_t)orig });
}

static void activate(struct cfg_view *cfg, int which)
{
	if (!cfg->side[which].cnt)
		return;
	cfg->active = which;
	cfg->side[which].active = true;
	cfg->side[!which].active = false;
	if (cfg->side[which].cursor == LOUPE_CFG_NONE)
		put_cursor(cfg, 0);
}

/* The block's edge of a side, or its only one. */
static void follow_edge(struct cfg_view *cfg, bool truth)
{
	struct cfg_side *side = &cfg->side[cfg->active];
	const struct loupe_block *b = &side->cfg->blocks[side->cfg->insn_block[side->cursor]];
	uint32_t n = b->succ_cnt > 1 && !truth ? 1 : 0;

	if (!b->succ_cnt)
		tui_say(cfg->view.tui, UI_NOTICE, "nothing follows this block");
	else
		put_cursor(cfg, side->cfg->blocks[side->cfg->edges[b->succ + n].to].first);
}

static void follow_back(struct cfg_view *cfg)
{
	struct cfg_side *side = &cfg->side[cfg->active];
	uint32_t block = side->cfg->insn_block[side->cursor];
	const struct loupe_block *b = &side->cfg->blocks[block];
	uint32_t from;

	if (!b->pred_cnt) {
		tui_say(cfg->view.tui, UI_NOTICE, "nothing leads to this block");
		return;
	}
	from = side->cfg->edges[side->cfg->preds[b->pred]].from;
	put_cursor(cfg, side->cfg->blocks[from].last);
	if (b->pred_cnt > 1)
		tui_say(cfg->view.tui, UI_NOTICE, "the first of %u ways in", b->pred_cnt);
	/* the last slot may be a second half */
	if (cfg_side_next(side, cfg_side_next(side, side->cursor, -1), 1) != side->cursor &&
	    side->cursor)
		put_cursor(cfg, cfg_side_next(side, side->cursor, -1));
}

static void move_block(struct cfg_view *cfg, int by)
{
	struct cfg_side *side = &cfg->side[cfg->active];
	int64_t block = (int64_t)side->cfg->insn_block[side->cursor] + by;

	if (block >= 0 && block < side->cfg->block_cnt)
		put_cursor(cfg, side->cfg->blocks[block].first);
}

static void fold(struct cfg_view *cfg, bool all)
{
	struct cfg_side *side = &cfg->side[cfg->active];
	uint32_t block = side->cfg->insn_block[side->cursor];
	uint8_t folded = !side->folded[block];

	if (!all) {
		uint32_t partner = side->other[side->cfg->blocks[block].first];

		side->folded[block] = folded;
		if (partner != LOUPE_CFG_NONE && cfg->side[!cfg->active].cnt) {
			struct cfg_side *other = &cfg->side[!cfg->active];

			other->folded[other->cfg->insn_block[partner]] = folded;
		}
	}
	for (int i = 0; all && i < 2; i++) {
		if (cfg->side[i].cnt)
			memset(cfg->side[i].folded, folded, cfg->side[i].cfg->block_cnt);
	}
	if (lay_out(cfg))
		tui_say(cfg->view.tui, UI_ERROR, "out of memory");
}

/* Has the filter after so many edits judged. */
static void judge(struct cfg_view *cfg)
{
	const struct subject *subject = cfg->view.subject;
	struct loupe_filter_proof proof = subject->proof;
	struct loupe_filter *filter = NULL;
	struct loupe_error err = { 0 };
	int rc = 0;

	cfg->verdict[0] = '\0';
	if (!cfg->edit && loupe_rewrite_edit_cnt(subject->rewrite))
		return;
	if (cfg->edit < loupe_rewrite_edit_cnt(subject->rewrite)) {
		rc = loupe_filter_at_edit(subject->filter, subject->rewrite, cfg->edit, &filter,
					  &err);
		if (!rc)
			rc = loupe_filter_prove(subject->filter, filter, &proof, &err);
		loupe_filter_destroy(filter);
	}
	if (rc)
		snprintf(cfg->verdict, sizeof(cfg->verdict), "not judged: %.90s", err.message);
	else if (proof.verdict == LOUPE_PROOF_PROVEN)
		snprintf(cfg->verdict, sizeof(cfg->verdict), "proven equivalent");
	else if (proof.verdict == LOUPE_PROOF_TESTED)
		snprintf(cfg->verdict, sizeof(cfg->verdict), "tested on %u inputs, not proven",
			 proof.inputs);
	else
		snprintf(cfg->verdict, sizeof(cfg->verdict),
			 "not the same until later edits, which belong to this one");
}

/* Shows the graph after n edits, with the instruction that the last one is about. */
static void go_edit(struct cfg_view *cfg, int64_t n)
{
	const struct loupe_rewrite *rw = cfg->view.subject->rewrite;
	uint32_t cnt, id = LOUPE_NONE, cursor = cfg->side[CFG_BEFORE].cursor;
	struct loupe_error err = { 0 };

	if (!rw) {
		tui_say(cfg->view.tui, UI_NOTICE, "a program has no edits to step through");
		return;
	}
	cnt = loupe_rewrite_edit_cnt(rw);
	if (n < 0 || n > cnt) {
		tui_say(cfg->view.tui, UI_NOTICE,
			n < 0 ? "that is before all edits" : "that was the last edit");
		return;
	}
	cfg->edit = (uint32_t)n;
	judge(cfg);
	if (cfg_pair_after(cfg->side, cfg->view.subject, cfg->edit, &err) || lay_out(cfg)) {
		snprintf(cfg->problem, sizeof(cfg->problem), "%s", err.message);
		cfg->side[CFG_AFTER].cnt = 0;
	}
	cfg->active = CFG_BEFORE;
	cfg->side[CFG_BEFORE].active = true;
	cfg->side[CFG_AFTER].active = false;
	if (n && loupe_rewrite_edit_ids(rw, cfg->edit - 1, &id, 1) &&
	    id < cfg->side[CFG_BEFORE].cnt)
		cursor = id;
	put_cursor(cfg, cursor == LOUPE_CFG_NONE ? 0 : cursor);
	/* what an edit inserted is only on the other side */
	if (n && id != LOUPE_NONE && id >= cfg->side[CFG_BEFORE].cnt && cfg->side[CFG_AFTER].cnt &&
	    id < cfg->side[CFG_AFTER].prog.id_cnt &&
	    cfg->side[CFG_AFTER].prog.index_of[id] != LOUPE_NONE) {
		activate(cfg, CFG_AFTER);
		put_cursor(cfg, cfg->side[CFG_AFTER].prog.index_of[id]);
	}
}

static void pan(struct cfg_view *cfg, int dx, int dy)
{
	struct cfg_side *side = &cfg->side[cfg->active];

	side->x += dx;
	side->y += dy;
}

static void enter(struct cfg_view *cfg)
{
	struct view *view = &cfg->view;
	struct cfg_side *side = &cfg->side[cfg->active];

	if (view->subject->filter) {
		side->follow = side->centre = true;
		return;
	}
	if (cfg->active == CFG_AFTER && side->other[side->cursor] == LOUPE_CFG_NONE)
		tui_say(view->tui, UI_NOTICE, "this instruction was not explored");
	else
		tui_show(view->tui, VIEW_WALK);
}

static bool request(struct view *view, enum request request)
{
	struct cfg_view *cfg = (struct cfg_view *)view;
	struct cfg_side *side = &cfg->side[cfg->active];
	uint32_t insn;

	if (!side->layout || side->cursor == LOUPE_CFG_NONE)
		return false;
	switch (request) {
	case REQ_UP:
	case REQ_DOWN:
		insn = cfg_side_next(side, side->cursor, request == REQ_UP ? -1 : 1);
		put_cursor(cfg, insn);
		break;
	case REQ_FIRST:
		put_cursor(cfg, 0);
		break;
	case REQ_LAST:
		put_cursor(cfg, side->cnt - 1);
		break;
	case REQ_LEFT:
		pan(cfg, -8, 0);
		break;
	case REQ_RIGHT:
		pan(cfg, 8, 0);
		break;
	case REQ_PAGE_UP:
		pan(cfg, 0, -12);
		break;
	case REQ_PAGE_DOWN:
		pan(cfg, 0, 12);
		break;
	case REQ_NEXT_PANE:
	case REQ_PREV_PANE:
		activate(cfg, !cfg->active);
		break;
	case REQ_ENTER:
		enter(cfg);
		break;
	case REQ_BLOCK_NEXT:
		move_block(cfg, 1);
		break;
	case REQ_BLOCK_PREV:
		move_block(cfg, -1);
		break;
	case REQ_FOLLOW_TRUE:
		follow_edge(cfg, true);
		break;
	case REQ_FOLLOW_FALSE:
		follow_edge(cfg, false);
		break;
	case REQ_FOLLOW_BACK:
		follow_back(cfg);
		break;
	case REQ_CENTRE:
		side->follow = side->centre = true;
		break;
	case REQ_OVERVIEW:
		fold(cfg, true);
		break;
	case REQ_FOLD:
		fold(cfg, false);
		break;
	case REQ_ZOOM:
		cfg->zoom = !cfg->zoom;
		side->follow = true;
		break;
	case REQ_SHADE:
		cfg->shade = !cfg->shade;
		break;
	case REQ_EDIT_NEXT:
		go_edit(cfg, (int64_t)cfg->edit + 1);
		break;
	case REQ_EDIT_PREV:
		go_edit(cfg, (int64_t)cfg->edit - 1);
		break;
	case REQ_EDIT_FIRST:
		go_edit(cfg, 0);
		break;
	case REQ_EDIT_LAST:
		go_edit(cfg, view->subject->rewrite ? loupe_rewrite_edit_cnt(view->subject->rewrite)
						    : 0);
		break;
	default:
		return false;
	}
	return true;
}

static bool command(struct view *view, const char *name, const char *arg)
{
	if (strcmp(name, "edit") != 0)
		return false;
	go_edit((struct cfg_view *)view, atoi(arg));
	return true;
}

static void select_place(struct view *view, struct place place)
{
	struct cfg_view *cfg = (struct cfg_view *)view;

	if (place.insn < 0)
		return;
	activate(cfg, CFG_BEFORE);
	put_cursor(cfg, (uint32_t)place.insn);
	cfg->side[CFG_BEFORE].centre = true;
	/* what was gone to is kept, with its step */
	tui_set_place(view->tui, place);
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct cfg_view *cfg = (struct cfg_view *)view;
	struct cfg_side *side = &cfg->side[cfg->active];
	char line[240];

	if (side->cursor == LOUPE_CFG_NONE)
		return false;
	for (uint32_t i = 1; i <= side->cnt; i++) {
		uint32_t n = (side->cursor + (forward ? i : side->cnt - i)) % side->cnt;

		if (cfg_side_next(side, n ? n - 1 : 0, 1) != n && n)
			continue;
		snprintf(line, sizeof(line), "%u: ", n);
		cfg_side_text(side, n, line + strlen(line), sizeof(line) - strlen(line));
		if (text_matches(line, text)) {
			put_cursor(cfg, n);
			return true;
		}
	}
	return false;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void draw_side(struct cfg_view *cfg, int which, struct screen *screen, struct rect outer)
{
	struct cfg_side *side = &cfg->side[which];
	char title[96], insns[NUMBER_TEXT], blocks[NUMBER_TEXT];
	struct rect inner;

	side->shade = cfg->shade;
	snprintf(title, sizeof(title), "%s  %s insn%s  %s block%s",
		 cfg->side[CFG_AFTER].cnt ? side->title : "graph", number_text(insns, side->cnt),
		 side->cnt == 1 ? "" : "s", number_text(blocks, side->cfg->block_cnt),
		 side->cfg->block_cnt == 1 ? "" : "s");
	inner = pane_frame(screen, outer, title, which == cfg->active);
	cfg_side_draw(side, screen, inner, tui_ascii(cfg->view.tui), tui_pattern(cfg->view.tui));
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct cfg_view *cfg = (struct cfg_view *)view;
	int words = area.h < 16		     ? 3
		    : !view->subject->filter ? 4
		    : area.h < 30	     ? 5
					     : 8,
	    left = area.w / 2;
	struct rect graphs = { area.x, area.y, area.w, area.h - words + 1 };
	struct rect bottom = { area.x, area.y + area.h - words, area.w, words };

	if (*cfg->problem) {
		struct pen pen = pen_at(screen, area.x + 2, area.y + 1, area.w - 4);

		pen_text(&pen, UI_NOTICE, cfg->problem);
		return;
	}
	if (cfg->work) {
		tui_draw_progress(screen, area, &cfg->work->job);
		return;
	}
	if (cfg->zoom || !cfg->side[CFG_AFTER].cnt) {
		draw_side(cfg, cfg->active, screen, graphs);
	} else {
		draw_side(cfg, CFG_BEFORE, screen,
			  (struct rect){ area.x, area.y, left + 1, graphs.h });
		draw_side(cfg, CFG_AFTER, screen,
			  (struct rect){ area.x + left, area.y, area.w - left, graphs.h });
	}
	cfg_words(cfg->side, cfg->active, view->subject, cfg->edit, cfg->verdict, screen, bottom);
}

static void legend(struct view *view, struct pen *pen)
{
	const struct cfg_view *cfg = (const struct cfg_view *)view;

	if (pen_room(pen) < 90)
		return;
	pen_text(pen, UI_TRUE, "t true ");
	pen_text(pen, UI_FALSE, "f false");
	if (cfg->side[CFG_AFTER].cnt)
		pen_text(pen, UI_DELETED, "  gone");
	if (cfg->shade && !view->subject->filter)
		pen_text(pen, UI_DIM, "  shade: visits");
}

/* ---- life --------------------------------------------------------------------------------- */

static void close_cfg(struct view *view)
{
	struct cfg_view *cfg = (struct cfg_view *)view;

	if (cfg->work)
		jobs_cancel(tui_jobs(view->tui), &cfg->work->job);
	cfg_side_finish(&cfg->side[CFG_BEFORE]);
	cfg_side_finish(&cfg->side[CFG_AFTER]);
}

static int open_cfg(struct view *view)
{
	struct cfg_view *cfg = (struct cfg_view *)view;
	struct loupe_error err = { 0 };
	int rc;

	cfg->shade = true;
	cfg->side[CFG_BEFORE].active = true;
	if (view->subject->filter) {
		cfg->edit = loupe_rewrite_edit_cnt(view->subject->rewrite);
		judge(cfg);
		rc = cfg_pair_filter(cfg->side, view->subject, &err);
	} else {
		rc = cfg_pair_program(cfg->side, view->subject, &err);
	}
	cfg->side[CFG_BEFORE].active = true;
	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		/* a program that is refused for its jumps has no graph */
		snprintf(cfg->problem, sizeof(cfg->problem), "there is no graph: %s", err.message);
		return 0;
	}
	return lay_out(cfg);
}

static int export(struct view *view, FILE *out)
{
	struct cfg_view *cfg = (struct cfg_view *)view;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct cfg_side *side = &cfg->side[i];
		struct loupe_cfg_report report = { .cfg = side->cfg,
						   .content = &side->content,
						   .title = side->title,
						   .layout = side->layout,
						   .ascii = tui_ascii(view->tui) };

		if (side->cnt && side->layout)
			rc = loupe_cfg_write_text(&report, out);
	}
	return rc;
}

static bool offers(const struct view *view, enum request request)
{
	const struct cfg_view *cfg = (const struct cfg_view *)view;

	switch (request) {
	case REQ_EDIT_NEXT:
		return view->subject->filter != NULL;
	case REQ_ENTER:
		return !view->subject->filter;
	case REQ_NEXT_PANE:
	case REQ_ZOOM:
		return cfg->side[CFG_AFTER].cnt != 0;
	default:
		return true;
	}
}

static const struct view_hint hints[] = {
	{ REQ_FOLLOW_TRUE, REQ_FOLLOW_FALSE, "follow" },
	{ REQ_FOLLOW_BACK, REQ_NONE, "back" },
	{ REQ_EDIT_NEXT, REQ_EDIT_PREV, "edit" },
	{ REQ_OVERVIEW, REQ_NONE, "overview" },
	{ REQ_FOLD, REQ_NONE, "fold" },
	{ REQ_NEXT_PANE, REQ_NONE, "side" },
	{ REQ_ZOOM, REQ_NONE, "zoom" },
	{ REQ_CENTRE, REQ_NONE, "centre" },
	{ REQ_ENTER, REQ_NONE, "walk" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"before: the program as it was loaded, or the filter as it was read",
	"after: without what no path reached, as the kernel keeps it; a filter: after optimization",
	"gone: nothing on the other side is it or asks the same, struck out where the terminal can",
	"proven equivalent: the graph after the present edit answers every input as the one before",
	"changed: another instruction stands there (often a condition that never varies)",
	"moved: the same instruction in another place",
	"↪: a jump that leads elsewhere now",
	"◀: what the present edit is about",
	"t, f: sides of a condition, true and false",
	"→57: an edge that is cut; it goes to the block that begins with 57",
	"12: +3: a folded block of 3 instructions",
	"shade: the warmer a block, the more visits (logarithmic); a filter: calls of --weights",
	NULL,
};

const struct view_ops view_cfg = {
	.name = "cfg",
	.title = "CFG",
	.about = "control flow before and after, side by side",
	.needs = VIEW_NEEDS_CODE,
	.size = sizeof(struct cfg_view),
	.hints = hints,
	.open = open_cfg,
	.close = close_cfg,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.legend = legend,
	.export = export,
	.command = command,
	.offers = offers,
	.terms = terms,
};
