// SPDX-License-Identifier: GPL-2.0-only
/* Lab: the program under other rules, a table of runs. */
#include "lab.h"
#include "panes.h"
#include "view.h"
#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lab_view {
	struct view view;
	struct lab lab; /* run 0 is the program as it was opened */
	struct lab_job *job; /* the run that is going on or waits, NULL if none */
	bool all;	     /* the next one follows by itself */
	bool more;	     /* `next` was asked for while another went on */
	uint32_t next;
	struct scroll scroll;
	int h; /* rows when drawn last */
};

/* A run off the UI's thread. */
struct lab_job {
	struct job job;
	struct lab_view *view;
	const struct loupe_image *image;
	struct lab_run run;
	uint32_t n; /* its number */
};

/* ---- running ------------------------------------------------------------------------------ */

static void progress(void *ctx, uint32_t insn_processed)
{
	struct lab_job *job = ctx;

	atomic_store(&job->job.progress, insn_processed);
}

static int run(struct job *base)
{
	struct lab_job *job = (struct lab_job *)base;
	int rc;

	job->run.opts.cancel = &base->cancel;
	job->run.opts.progress = progress;
	job->run.opts.progress_ctx = job;
	rc = lab_do(&job->run, job->image, 1);
	return rc ? rc : base->cancel ? -ECANCELED : 0;
}

static void start(struct lab_view *view, uint32_t n);

/* The first run after n that was not done, the number of runs if there is none. */
static uint32_t next_open(const struct lab_view *view, uint32_t n)
{
	while (n < view->lab.cnt && view->lab.runs[n].done)
		n++;
	return n;
}

static void run_done(struct job *base)
{
	struct lab_job *job = (struct lab_job *)base;
	struct lab_view *view = job->view;

	view->job = NULL;
	if (!base->rc) {
		job->run.opts = view->lab.runs[job->n].opts;
		view->lab.runs[job->n] = job->run;
	} else {
		view->all = false;
		view->more = false;
		tui_say(view->view.tui, UI_NOTICE,
			base->rc == -ECANCELED ? "stopped" : "out of memory");
	}
	free(job);
	if (view->more) {
		view->more = false;
		start(view, view->next);
	} else if (view->all && next_open(view, 0) < view->lab.cnt) {
		start(view, next_open(view, 0));
	}
}

static void start(struct lab_view *view, uint32_t n)
{
	static const struct job_ops ops = { .run = run, .done = run_done };
	struct lab_job *job;

	if (view->job) {
		view->more = true;
		view->next = n;
		return;
	}
	job = calloc(1, sizeof(*job));
	if (!job) {
		tui_say(view->view.tui, UI_ERROR, "out of memory");
		return;
	}
	job->job.ops = &ops;
	job->view = view;
	job->image = view->view.subject->image;
	job->run = view->lab.runs[n];
	job->n = n;
	snprintf(job->job.what, sizeof(job->job.what), "Verifying with %s", job->run.name);
	job->job.unit = "instructions processed";
	job->job.total = job->run.opts.insn_limit;
	view->job = job;
	jobs_add(tui_jobs(view->view.tui), &job->job);
}

/* ---- drawing ------------------------------------------------------------------------------ */

enum { NAME_W = 20, VERDICT_W = 10, CELL_W = 10 };

static size_t columns_that_fit(int w)
{
	size_t cnt = 0;

	while (lab_column(cnt) && NAME_W + VERDICT_W + (int)(cnt + 1) * CELL_W <= w)
		cnt++;
	return cnt;
}

static void draw_head(struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);

	pen_printf(&pen, UI_HEADING, " %-*s%-*s", NAME_W - 1, "run", VERDICT_W, "verdict");
	for (size_t i = 0; i < columns_that_fit(at.w); i++) {
		const char *title = lab_column(i)->title;

		pen_to(&pen, pen.x + CELL_W - screen_columns(title));
		pen_text(&pen, UI_HEADING, title);
	}
}

static void draw_cell(const struct lab_view *view, const struct lab_run *row, size_t column,
		      struct pen *pen)
{
	const struct lab_run *base = &view->lab.runs[0];
	uint64_t value = lab_column(column)->value(row), was = lab_column(column)->value(base);
	const char *mark = row == base || value == was || !base->done ? ""
			   : value > was			      ? "▲"
								      : "▼";
	char number[NUMBER_TEXT];

	number_text(number, value);
	pen_to(pen, pen->x + CELL_W - (int)strlen(number) - screen_columns(mark));
	pen_text(pen, UI_CHANGED, mark);
	pen_text(pen, *mark ? UI_CHANGED : row == base ? UI_STRONG : UI_DIM, number);
}

static void draw_row(const struct lab_view *view, uint32_t n, struct screen *screen, struct rect at)
{
	const struct lab_run *row = &view->lab.runs[n];
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	bool going = view->job && view->job->n == n;

	pen_printf(&pen, n ? UI_TEXT : UI_STRONG, " %-*s", NAME_W - 1, row->name);
	if (!row->done) {
		pen_text(&pen, UI_DIM, going				       ? "running …" :
				       view->more && view->next == n ? "follows …" :
								      "Enter runs it");
		return;
	}
	pen_printf(&pen, row->verdict == LOUPE_ACCEPTED ? UI_HIT : UI_MISS, "%-*s", VERDICT_W,
		   row->verdict == LOUPE_ACCEPTED   ? "accepted" :
		   row->verdict == LOUPE_REJECTED   ? "rejected" :
						      "unjudged");
	for (size_t i = 0; i < columns_that_fit(at.w); i++)
		draw_cell(view, row, i, &pen);
}

/* "processed instructions +12.5%", in words of the first columns. */
static void compare_words(const struct lab_view *view, const struct lab_run *row, char *buf,
			  size_t size)
{
	static const char *const names[] = { "time", "processed instructions", "states stored",
					     "states at once", "states per insn" };
	const struct lab_run *base = &view->lab.runs[0];
	size_t len = (size_t)snprintf(buf, size, "%s, against %s:", row->name, base->name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && len < size; i++) {
		uint64_t was = lab_column(i)->value(base), is = lab_column(i)->value(row);

		if (was == is)
			len += (size_t)snprintf(buf + len, size - len, "%s %s the same",
						i ? "," : "", names[i]);
		else if (was)
			len += (size_t)snprintf(buf + len, size - len, "%s %s ×%.2f", i ? "," : "",
						names[i], (double)is / (double)was);
		else
			len += (size_t)snprintf(buf + len, size - len, "%s %s %llu", i ? "," : "",
						names[i], (unsigned long long)is);
	}
}

enum { FOOT_H = 4 };

static void draw_foot(const struct lab_view *view, struct screen *screen, struct rect at)
{
	const struct lab_run *row = &view->lab.runs[view->scroll.cursor];
	char text[400], number[NUMBER_TEXT];

	if (view->job) {
		snprintf(text, sizeof(text), "%s: %s %s; Esc stops it", view->job->job.what,
			 number_text(number, atomic_load(&view->job->job.progress)),
			 view->job->job.unit);
	} else if (!row->done) {
		snprintf(
			text, sizeof(text),
			"Enter verifies the program with %s; a runs everything in the list; :run KNOB=VALUE "
			"adds a run.",
			row->name);
	} else if (view->scroll.cursor == 0) {
		snprintf(
			text, sizeof(text),
			"The rules that the program was opened with. Times are the verifier's alone, "
			"without recording; one run each.");
	} else {
		compare_words(view, row, text, sizeof(text));
	}
	wrap_text(screen, (struct rect){ at.x + 1, at.y, at.w - 2, at.h }, 0, UI_NOTICE, text);
}

static void draw(struct view *base, struct screen *screen, struct rect area)
{
	struct lab_view *view = (struct lab_view *)base;
	int foot = area.h >= 12 ? FOOT_H : 0, h = area.h - foot - 2;

	view->h = h;
	scroll_fit(&view->scroll, view->lab.cnt, h);
	draw_head(screen, (struct rect){ area.x, area.y, area.w, 1 });
	for (int i = 0; i < h && view->scroll.top + i < view->lab.cnt; i++) {
		struct rect at = { area.x, area.y + 1 + i, area.w, 1 };

		draw_row(view, (uint32_t)(view->scroll.top + i), screen, at);
		if (view->scroll.top + i == view->scroll.cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
	}
	screen_hline(screen, area.x, area.y + 1 + h, area.w, UI_FRAME);
	draw_foot(view, screen, (struct rect){ area.x, area.y + area.h - foot, area.w, foot });
}

/* ---- going about -------------------------------------------------------------------------- */

static bool request(struct view *base, enum request request)
{
	struct lab_view *view = (struct lab_view *)base;

	switch (request) {
	case REQ_ENTER:
		start(view, (uint32_t)view->scroll.cursor);
		return true;
	case REQ_RUN_ALL:
		view->all = true;
		if (!view->job && next_open(view, 0) < view->lab.cnt)
			start(view, next_open(view, 0));
		return true;
	default:
		return scroll_request(&view->scroll, request, view->lab.cnt, view->h);
	}
}

static bool command(struct view *base, const char *name, const char *arg)
{
	struct lab_view *view = (struct lab_view *)base;
	char why[160] = "out of memory";

	if (strcmp(name, "run") != 0 || !*arg)
		return false;
	if (lab_sweep(&view->lab, tui_verify_opts(base->tui), arg, why, sizeof(why))) {
		tui_say(base->tui, UI_ERROR, "%s", why);
		return true;
	}
	view->scroll.cursor = (int64_t)view->lab.cnt - 1;
	view->all = true;
	if (!view->job)
		start(view, next_open(view, (uint32_t)view->scroll.cursor));
	return true;
}

static bool search(struct view *base, const char *text, bool forward)
{
	struct lab_view *view = (struct lab_view *)base;
	int64_t cnt = view->lab.cnt;

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (view->scroll.cursor + (forward ? i : cnt - i)) % cnt;

		if (text_matches(view->lab.runs[n].name, text)) {
			scroll_to(&view->scroll, n, cnt, view->h);
			return true;
		}
	}
	return false;
}

/* ---- opening, closing, text --------------------------------------------------------------- */

static int open_lab(struct view *base)
{
	static const char *const sweeps[] = { "evict=off,1,2,3,5,10", "pruning=off",
					      "checkpoints=always", "states=kept",
					      "privileged=no" };
	struct lab_view *view = (struct lab_view *)base;
	const struct loupe_verify_opts *opts = tui_verify_opts(base->tui);
	const struct loupe_verify_result *result = &base->subject->result;
	int rc = lab_add(&view->lab, opts, NULL, NULL, 0);

	view->h = 10;
	for (size_t i = 0; !rc && i < sizeof(sweeps) / sizeof(sweeps[0]); i++)
		rc = lab_sweep(&view->lab, opts, sweeps[i], NULL, 0);
	if (rc)
		return rc;
	view->lab.runs[0].done = true;
	view->lab.runs[0].verdict = result->verdict;
	view->lab.runs[0].err = result->err;
	view->lab.runs[0].ns = result->verification_ns;
	view->lab.runs[0].counters = result->counters;
	/* its time is with recording: once more without, so that times compare */
	start(view, 0);
	return 0;
}

static void close_lab(struct view *base)
{
	struct lab_view *view = (struct lab_view *)base;

	view->all = false;
	view->more = false;
	if (view->job)
		jobs_cancel(tui_jobs(base->tui), &view->job->job);
	lab_finish(&view->lab);
}

static int export(struct view *base, FILE *out)
{
	struct lab_view *view = (struct lab_view *)base;
	const struct lab_column *column;

	fputs("run,verdict", out);
	for (size_t i = 0; (column = lab_column(i)) != NULL; i++)
		fprintf(out, ",%s", column->name);
	fputc('\n', out);
	for (uint32_t n = 0; n < view->lab.cnt; n++) {
		const struct lab_run *row = &view->lab.runs[n];

		if (!row->done)
			continue;
		fprintf(out, "%s,%s", row->name, lab_verdict(row));
		for (size_t i = 0; (column = lab_column(i)) != NULL; i++)
			fprintf(out, ",%llu", (unsigned long long)column->value(row));
		fputc('\n', out);
	}
	return 0;
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "run" },
	{ REQ_RUN_ALL, REQ_NONE, "run all" },
	{ REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"▲ ▼: more, or less, than in the run of the first row",
	"peak: most states stored, evicted but referenced, and backedges alive at once",
	"per insn: longest walk over one bucket of checkpoints (max_states_per_insn)",
	":run evict=N: a checkpoint goes when misses > hits × N + N (the kernel: 3); off: never",
	":run pruning=off: no path ends because a checkpoint covers it",
	":run checkpoints=always: a state is stored wherever one may be",
	":run states=kept: finished checkpoints keep what nothing will read, so that it must match",
	":run keep=17: checkpoint #17 is never evicted",
	":run allocator=general: states come one by one from malloc() instead of slabs; only time changes",
	":run privileged=no: the rules without CAP_BPF and CAP_PERFMON",
	":run insn-limit=N: stop after N processed instructions",
	NULL,
};

const struct view_ops view_lab = {
	.name = "lab",
	.title = "Lab",
	.about = "the program verified under other rules, and what that changes",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct lab_view),
	.hints = hints,
	.open = open_lab,
	.close = close_lab,
	.draw = draw,
	.request = request,
	.search = search,
	.export = export,
	.command = command,
	.terms = terms,
};
