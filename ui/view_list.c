// SPDX-License-Identifier: GPL-2.0-only
/* The list of programs with their verdicts. */
#include "panes.h"
#include "screen_write.h"
#include "view.h"
#include "wrap.h"

#include <errno.h>
#include <string.h>

struct list_view {
	struct view view;
	struct scroll scroll;
	int h; /* rows in sight when it was drawn last */
};

/* Columns: where each begins follows from the widest entries. */
struct columns {
	int name, section, type, insns, verdict, counters;
	bool wide; /* there is room for all of them */
};

static const char *section_of(const struct subject *subject)
{
	return subject->prog && subject->prog->section ? subject->prog->section : "";
}

static int widest(struct tui *tui, const char *(*text)(const struct subject *subject), int least,
		  int most)
{
	int w = least;

	for (uint32_t i = 0; i < tui_subject_cnt(tui); i++) {
		int columns = screen_columns(text(tui_subject(tui, i)));

		if (columns > w)
			w = columns;
	}
	return w < most ? w : most;
}

static struct columns place_columns(struct tui *tui, int w)
{
	static const struct {
		bool wide;
		int counters; /* columns */
	} ways[] = { { true, 26 }, { false, 17 } };
	struct columns at = { 0 };

	/* sections and peaks are what can be missed */
	for (int i = 0; i < 2; i++) {
		at.wide = ways[i].wide;
		at.name = 2;
		at.section = at.name + widest(tui, subject_name, 7, at.wide ? w / 3 : w - 60) + 2;
		at.type = at.section + (at.wide ? widest(tui, section_of, 7, w / 4) + 2 : 0);
		at.insns = at.type + widest(tui, subject_type, 4, 16) + 2;
		at.verdict = at.insns + 8;
		at.counters = at.verdict + 12;
		if (at.counters + ways[i].counters <= w)
			break;
	}
	return at;
}

static void draw_head(struct screen *screen, struct rect area, const struct columns *at)
{
	struct pen pen = pen_at(screen, area.x, area.y, area.w);

	pen_to(&pen, area.x + at->name);
	pen_text(&pen, UI_HEADING, "program");
	if (at->wide) {
		pen_to(&pen, area.x + at->section);
		pen_text(&pen, UI_HEADING, "section");
	}
	pen_to(&pen, area.x + at->type);
	pen_text(&pen, UI_HEADING, "type");
	pen_to(&pen, area.x + at->insns);
	pen_text(&pen, UI_HEADING, " insns");
	pen_to(&pen, area.x + at->verdict);
	pen_text(&pen, UI_HEADING, "verdict");
	pen_to(&pen, area.x + at->counters);
	pen_text(&pen, UI_HEADING, at->wide ? "    steps    states   peak" : "    steps  states");
}

static void draw_result(struct pen *pen, const struct subject *subject, const struct columns *at,
			int x)
{
	static const struct {
		const char *word;
		enum ui_role role;
	} verdicts[] = {
		[LOUPE_ACCEPTED] = { "accepted", UI_HIT },
		[LOUPE_REJECTED] = { "rejected", UI_MISS },
		[LOUPE_NOT_JUDGED] = { "not judged", UI_CHANGED },
		[LOUPE_STOPPED] = { "stopped", UI_CHANGED },
	};
	const struct loupe_verify_result *result = &subject->result;
	char steps[NUMBER_TEXT], states[NUMBER_TEXT], peak[NUMBER_TEXT];

	switch (subject->state) {
	case SUBJECT_NOT_LOADED:
		pen_text(pen, UI_CHANGED, "not loaded  ");
		pen_text(pen, UI_DIM, subject->prog->reason ? subject->prog->reason : "");
		return;
	case SUBJECT_NEW:
		return;
	case SUBJECT_WORKING:
		pen_text(pen, UI_DIM, "…");
		return;
	case SUBJECT_STOPPED:
		pen_text(pen, UI_CHANGED, "stopped");
		return;
	case SUBJECT_FAILED:
		pen_printf(pen, UI_MISS, "%s", subject->error);
		return;
	case SUBJECT_READY:
		break;
	}
	if (subject->filter) {
		pen_printf(pen, UI_HIT, "%u after optimization",
			   loupe_rewrite_after(subject->rewrite)->cnt);
		return;
	}
	pen_text(pen, verdicts[result->verdict].role, verdicts[result->verdict].word);
	pen_to(pen, x + at->counters);
	number_text(steps, result->counters.insn_processed);
	number_text(states, result->counters.total_states);
	if (!at->wide) {
		pen_printf(pen, UI_TEXT, "%9s %7s", steps, states);
		return;
	}
	pen_printf(pen, UI_TEXT, "%9s %9s %6s", steps, states,
		   number_text(peak, result->counters.peak_states));
	if (result->verdict != LOUPE_ACCEPTED)
		pen_printf(pen, UI_DIM, "  %s", subject->error);
}

static void draw_row(struct view *view, uint32_t n, struct screen *screen, struct rect row,
		     const struct columns *at)
{
	const struct subject *subject = tui_subject(view->tui, n);
	struct pen pen = pen_at(screen, row.x, row.y, row.w);
	bool loaded = subject->state != SUBJECT_NOT_LOADED;
	char number[NUMBER_TEXT];

	pen_text(&pen, UI_KEY, n == tui_current(view->tui) ? " ▸" : "  ");
	pen.end = row.x + at->section - 1;
	pen_text(&pen, loaded ? UI_STRONG : UI_DIM, subject_name(subject));
	pen.end = row.x + at->type - 1;
	pen_to(&pen, row.x + at->section);
	if (at->wide)
		pen_text(&pen, UI_COMMENT, section_of(subject));
	pen.end = row.x + row.w;
	pen_to(&pen, row.x + at->type);
	if (loaded) {
		pen_text(&pen, UI_TEXT, subject_type(subject));
		pen_to(&pen, row.x + at->insns);
		pen_printf(&pen, UI_NUMBER, "%6s", number_text(number, subject_insn_cnt(subject)));
	}
	pen_to(&pen, row.x + at->verdict);
	draw_result(&pen, subject, at, row.x);
}

static void draw_job(const struct job *job, struct screen *screen, struct rect row)
{
	struct pen pen = pen_at(screen, row.x + 1, row.y, row.w - 2);
	char number[NUMBER_TEXT];

	pen_text(&pen, UI_NOTICE, job->what);
	pen_printf(&pen, UI_DIM, "  %s %s  ", number_text(number, atomic_load(&job->progress)),
		   job->unit);
	pen_text(&pen, UI_KEY, "Esc");
	pen_text(&pen, UI_DIM, " stops it");
}

static bool several_files(struct tui *tui)
{
	uint32_t cnt = tui_subject_cnt(tui);

	return cnt && tui_subject(tui, 0)->input != tui_subject(tui, cnt - 1)->input;
}

/* What the columns have no room for; of several files, first which one the program is in. */
static void draw_selected(struct tui *tui, uint32_t n, struct screen *screen, struct rect row)
{
	const struct subject *subject = tui_subject(tui, n);
	struct pen pen = pen_at(screen, row.x + 1, row.y, row.w - 2);

	if (several_files(tui))
		pen_printf(&pen, UI_DIM, "%s  ", subject->input->path);
	if (subject->state == SUBJECT_NOT_LOADED) {
		pen_text(&pen, UI_CHANGED, "did not load: ");
		pen_text(&pen, UI_TEXT, subject->prog->reason ? subject->prog->reason : "");
	} else if (subject->state == SUBJECT_STOPPED || subject->state == SUBJECT_FAILED) {
		pen_text(&pen, UI_CHANGED, subject->error);
	} else if (*subject->error) {
		bool rejected = subject->result.verdict == LOUPE_REJECTED;

		pen_text(&pen, rejected ? UI_MISS : UI_CHANGED, rejected ? "✗ " : "not judged: ");
		/* some messages name the insn themselves */
		if (subject->error_insn >= 0 && !strstr(subject->error, "insn "))
			pen_printf(&pen, UI_STRONG, "insn %d: ", subject->error_insn);
		pen_text(&pen, UI_TEXT, subject->error);
	} else {
		if (!several_files(tui))
			pen_printf(&pen, UI_DIM, "%s  ", subject->input->path);
		if (subject->image && subject->image->host.loader)
			pen_printf(&pen, UI_DIM, "loaded by %s", subject->image->host.loader);
	}
}

static void draw_finding(const struct subject *subject, struct screen *screen, struct rect at)
{
	if (subject->state != SUBJECT_READY || subject->filter)
		return;
	if (*subject->error)
		wrap_text(screen, at, 0, UI_DIM, subject->error);
	else if (subject->findings.cnt)
		wrap_text(screen, at, 0, UI_DIM, subject->findings.at[0].text);
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct list_view *list = (struct list_view *)view;
	uint32_t cnt = tui_subject_cnt(view->tui);
	struct columns at = place_columns(view->tui, area.w);
	struct job *job = jobs_running(tui_jobs(view->tui));
	int h = area.h - 2, each;

	h -= 2;
	list->h = h;
	scroll_fit(&list->scroll, cnt, h);
	draw_head(screen, area, &at);
	screen_hline(screen, area.x, area.y + 1, area.w, UI_FRAME);
	/* few programs have room for what is worth knowing of each */
	each = cnt * 3 <= (uint32_t)h ? 3 : 1;
	for (int i = 0; i < h && list->scroll.top + i < cnt; i++) {
		struct rect row = { area.x, area.y + 2 + i * each, area.w, 1 };
		int64_t n = list->scroll.top + i;

		draw_row(view, (uint32_t)n, screen, row, &at);
		if (each > 1)
			draw_finding(tui_subject(view->tui, (uint32_t)n), screen,
				     (struct rect){ area.x + at.section, row.y + 1,
						    area.w - at.section - 1, 2 });
		if (n == list->scroll.cursor)
			screen_ground(screen, row, UI_GROUND_CURSOR);
		if (*tui_pattern(view->tui))
			mark_matches(screen, row.x, row.y, row.w, tui_pattern(view->tui));
	}
	screen_hline(screen, area.x, area.y + area.h - 2, area.w, UI_FRAME);
	if (job)
		draw_job(job, screen, (struct rect){ area.x, area.y + area.h - 1, area.w, 1 });
	else
		draw_selected(view->tui, (uint32_t)list->scroll.cursor, screen,
			      (struct rect){ area.x, area.y + area.h - 1, area.w, 1 });
}

static bool request(struct view *view, enum request request)
{
	struct list_view *list = (struct list_view *)view;

	if (scroll_request(&list->scroll, request, tui_subject_cnt(view->tui), list->h))
		return true;
	if (request == REQ_ENTER) {
		tui_open(view->tui, (uint32_t)list->scroll.cursor);
		return true;
	}
	if (request == REQ_RETRY) {
		tui_start(view->tui, tui_subject(view->tui, (uint32_t)list->scroll.cursor));
		return true;
	}
	return false;
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct list_view *list = (struct list_view *)view;
	int64_t cnt = tui_subject_cnt(view->tui);

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (list->scroll.cursor + (forward ? i : cnt - i)) % cnt;
		const struct subject *subject = tui_subject(view->tui, (uint32_t)n);

		if (text_matches(subject_name(subject), text) ||
		    text_matches(section_of(subject), text)) {
			scroll_to(&list->scroll, n, cnt, list->h);
			return true;
		}
	}
	return false;
}

static int export(struct view *view, FILE *out)
{
	int cnt = (int)tui_subject_cnt(view->tui), w = 240;
	struct columns at = place_columns(view->tui, w);
	struct screen *screen = screen_create(w, cnt + 1);

	if (!screen)
		return -ENOMEM;
	draw_head(screen, (struct rect){ 0, 0, w, 1 }, &at);
	for (int i = 0; i < cnt; i++)
		draw_row(view, (uint32_t)i, screen, (struct rect){ 0, i + 1, w, 1 }, &at);
	screen_write_text(screen, out);
	screen_destroy(screen);
	return 0;
}

static int open(struct view *view)
{
	struct list_view *list = (struct list_view *)view;
	uint32_t current = tui_current(view->tui);

	list->h = 1;
	list->scroll.cursor = current < tui_subject_cnt(view->tui) ? current : 0;
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "open" },
	{ REQ_SEARCH, REQ_NONE, "search" },
	{ REQ_RETRY, REQ_NONE, "verify again" },
	{ REQ_QUIT, REQ_NONE, "quit" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"steps: instructions processed, over all paths (the kernel's limit is 1,000,000)",
	"states: checkpoints ever stored (total_states)",
	"peak: most checkpoints, evicted but referenced ones and loop backedges alive at once",
	NULL,
};

const struct view_ops view_list = {
	.name = "list",
	.title = "Programs",
	.about = "the programs of the files, with their verdicts",
	.needs = VIEW_NEEDS_NOTHING,
	.size = sizeof(struct list_view),
	.hints = hints,
	.open = open,
	.draw = draw,
	.request = request,
	.search = search,
	.export = export,
	.terms = terms,
};
