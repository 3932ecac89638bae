// SPDX-License-Identifier: GPL-2.0-only
/* Log: the text that the kernel's verifier writes, each line tied to its step. */
#include "panes.h"
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the text of a step begins. */
struct log_mark {
	size_t offset;
	uint32_t step;
};

/* Everything that one verification writes. */
struct log_text {
	struct loupe_log *log; /* NULL: text is what the user brought */
	const char *text; /* owned by log, or by the input */
	size_t len;
	size_t *lines; /* where each begins */
	int64_t line_cnt;
	struct log_mark *marks; /* ascending */
	size_t mark_cnt, mark_cap;
	uint32_t arrivals; /* while it is written */
	bool no_memory;
};

struct log_work;

struct log_view {
	struct view view;
	uint32_t level;
	bool first; /* it was not shown before */
	struct log_text text;
	struct log_work *work; /* being written, or NULL */
	char problem[160];
	struct scroll scroll;
	int column; /* first one in sight */
	int h;
};

/* ---- writing ------------------------------------------------------------------------------ */

struct log_work {
	struct job job; /* first */
	struct log_view *view;
	struct log_text text;
};

static void text_finish(struct log_text *text)
{
	loupe_log_destroy(text->log);
	free(text->lines);
	free(text->marks);
	*text = (struct log_text){ 0 };
}

static void on_arrive(void *ctx, const struct loupe_step *step)
{
	struct log_text *text = ctx;

	(void)step;
	text->arrivals++;
}

/* Heard before the log hears it, so that its text begins here. */
static void on_step(void *ctx, const struct loupe_step *step)
{
	struct log_text *text = ctx;
	size_t len;

	(void)step;
	loupe_log_text(text->log, &len);
	/* at level 1 the text of finished paths is taken back */
	while (text->mark_cnt && text->marks[text->mark_cnt - 1].offset >= len &&
	       text->marks[text->mark_cnt - 1].offset)
		text->mark_cnt--;
	if (text->mark_cnt == text->mark_cap) {
		size_t cap = text->mark_cap ? text->mark_cap * 2 : 1024;
		struct log_mark *marks = realloc(text->marks, cap * sizeof(*marks));

		if (!marks) {
			text->no_memory = true;
			return;
		}
		text->marks = marks;
		text->mark_cap = cap;
	}
	text->marks[text->mark_cnt++] = (struct log_mark){ len, text->arrivals - 1 };
}

static int index_lines(struct log_text *text)
{
	const char *at = text->text, *end = text->text + text->len;
	int64_t cnt = 0;

	for (const char *p = at; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		cnt++;
	text->lines = calloc((size_t)cnt + 2, sizeof(*text->lines));
	if (!text->lines)
		return -ENOMEM;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		text->lines[text->line_cnt++] = (size_t)(at - text->text);
		at = newline ? newline + 1 : end;
	}
	text->lines[text->line_cnt] = text->len;
	return 0;
}

/* The log that the program was read from. */
static int take_logged(const struct loupe_logged *logged, struct log_text *text)
{
	uint32_t cnt = loupe_logged_step_cnt(logged);

	text->text = loupe_logged_text(logged, &text->len);
	text->marks = calloc((size_t)cnt + 1, sizeof(*text->marks));
	if (!text->marks)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		text->marks[i] = (struct log_mark){ loupe_logged_step_offset(logged, i), i };
	text->mark_cnt = cnt;
	return index_lines(text);
}

static void progress(void *ctx, uint32_t insn_processed)
{
	struct log_work *work = ctx;

	atomic_store(&work->job.progress, insn_processed);
}

static int run(struct job *job)
{
	static const struct loupe_hooks hooks = { .arrive = on_arrive, .step = on_step };
	struct log_work *work = (struct log_work *)job;
	struct log_view *view = work->view;
	struct loupe_verify_opts opts = *tui_verify_opts(view->view.tui);
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts),
					   .level = view->level,
					   .unprivileged = opts.unprivileged };
	const struct loupe_image *image = view->view.subject->image;
	struct loupe_verify_result result;
	int rc;

	if (view->view.subject->logged)
		return take_logged(view->view.subject->logged, &work->text);
	rc = loupe_log_create(image, &log_opts, &work->text.log);

	if (rc)
		return rc;
	opts.cancel = &job->cancel;
	opts.progress = progress;
	opts.progress_ctx = work;
	opts.listeners[0] = (struct loupe_listener){ &hooks, &work->text };
	opts.listeners[1] = loupe_log_listener(work->text.log);
	opts.listener_cnt = 2;
	rc = loupe_verify(image, &opts, &result);
	if (rc)
		return rc;
	loupe_verify_result_finish(&result);
	if (job->cancel)
		return -ECANCELED;
	rc = loupe_log_finish(work->text.log);
	work->text.text = loupe_log_text(work->text.log, &work->text.len);
	if (!rc)
		rc = index_lines(&work->text);
	return rc ? rc : work->text.no_memory ? -ENOMEM : 0;
}

static int64_t line_of_step(const struct log_text *text, uint32_t step)
{
	size_t low = 0, high = text->mark_cnt, offset;
	int64_t first = 0, last = text->line_cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (text->marks[mid].step <= step)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	offset = text->marks[low - 1].offset;
	while (first < last) {
		int64_t mid = first + (last - first) / 2;

		if (text->lines[mid] < offset)
			first = mid + 1;
		else
			last = mid;
	}
	/* a source line stands before its instruction */
	while (first + 1 < text->line_cnt && text->text[text->lines[first]] == ';')
		first++;
	return first < text->line_cnt ? first : text->line_cnt - 1;
}

/* Step that wrote a line, LOUPE_NO_STEP before the first. */
static uint32_t step_of_line(const struct log_text *text, int64_t line)
{
	size_t low = 0, high = text->mark_cnt, offset = text->lines[line];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (text->marks[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? text->marks[low - 1].step : LOUPE_NO_STEP;
}

/* Where the log beside the program says something else; NULL: nowhere, or not at this level. */
static const struct beside_result *parting(const struct log_view *log)
{
	const struct beside_result *beside = log->view.subject->beside;

	return beside && !beside->agrees && beside->level == log->level ? beside : NULL;
}

static void note_place(struct log_view *log);

static void go_place(struct log_view *log)
{
	struct place place = tui_place(log->view.tui);
	const struct subject *subject = log->view.subject;

	if (!log->text.line_cnt)
		return;
	if (parting(log) && log->first) {
		int64_t line = (int64_t)parting(log)->diff.line - 1;

		log->first = false;
		scroll_to(&log->scroll, line < log->text.line_cnt ? line : log->text.line_cnt - 1,
			  log->text.line_cnt, log->h);
		note_place(log);
		return;
	}
	if (place.step != LOUPE_NO_STEP)
		scroll_to(&log->scroll, line_of_step(&log->text, place.step), log->text.line_cnt,
			  log->h);
	else if (subject->result.verdict == LOUPE_REJECTED)
		scroll_to(&log->scroll, log->text.line_cnt - 1, log->text.line_cnt, log->h);
}

static void done(struct job *job)
{
	struct log_work *work = (struct log_work *)job;
	struct log_view *log = work->view;

	log->work = NULL;
	if (job->rc == 0) {
		text_finish(&log->text);
		log->text = work->text;
		work->text = (struct log_text){ 0 };
		log->scroll = (struct scroll){ 0 };
		go_place(log);
	} else {
		snprintf(log->problem, sizeof(log->problem), "the log is not there: %s",
			 job->rc == -ECANCELED ? "it was stopped; L writes it again"
					       : strerror(-job->rc));
	}
	text_finish(&work->text);
	free(work);
}

static int start(struct log_view *log)
{
	static const struct job_ops ops = { .run = run, .done = done };
	struct log_work *work;

	if (log->work)
		jobs_cancel(tui_jobs(log->view.tui), &log->work->job);
	work = calloc(1, sizeof(*work));
	if (!work)
		return -ENOMEM;
	log->problem[0] = '\0';
	work->view = log;
	work->job.ops = &ops;
	work->job.unit = "instructions processed";
	work->job.total = tui_verify_opts(log->view.tui)->insn_limit;
	snprintf(work->job.what, sizeof(work->job.what), "Writing the log of %.80s at level %u",
		 subject_name(log->view.subject), log->level);
	log->work = work;
	jobs_add(tui_jobs(log->view.tui), &work->job);
	jobs_prefer(tui_jobs(log->view.tui), &work->job);
	return 0;
}

/* ---- drawing ------------------------------------------------------------------------------ */

static void line_text(const struct log_text *text, int64_t line, char *buf, size_t size)
{
	size_t from = text->lines[line], to = text->lines[line + 1];

	while (to > from && text->text[to - 1] == '\n')
		to--;
	if (to - from >= size)
		to = from + size - 1;
	memcpy(buf, text->text + from, to - from);
	buf[to - from] = '\0';
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	size_t len = strlen(text), tail = strlen(with);

	return len >= tail && strcmp(text + len - tail, with) == 0;
}

static enum ui_role role_of(const struct subject *subject, const char *text)
{
	if (*text && subject->result.verdict == LOUPE_REJECTED && strstr(subject->error, text))
		return UI_ERROR;
	if (*text == ';')
		return UI_COMMENT;
	if (begins(text, "mark_precise:"))
		return UI_PRECISE;
	if (ends(text, ": safe"))
		return UI_HIT;
	if (begins(text, "from ") || begins(text, "func#") || begins(text, "Validating ") ||
	    begins(text, "Func#") || begins(text, "caller:") || begins(text, "callee:") ||
	    begins(text, "returning from callee:"))
		return UI_HEADING;
	if (begins(text, "processed ") || begins(text, "stack depth") ||
	    begins(text, "verification time"))
		return UI_STRONG;
	return UI_TEXT;
}

/* "57: (07) r2 += 14   ; R2_w=…": the number, the instruction, the state. */
static void draw_insn_line(struct pen *pen, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *state = strstr(text, " ; ");

	pen_printf(pen, UI_NUMBER, "%.*s", (int)digits + 1, text);
	text += digits + 1;
	if (!state) {
		pen_text(pen, UI_TEXT, text);
		return;
	}
	pen_printf(pen, UI_TEXT, "%.*s", (int)(state - text), text);
	pen_text(pen, UI_REG, state);
}

static void draw_line(struct log_view *log, int64_t n, struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char text[4096];
	const char *shown = text;
	enum ui_role role;
	size_t digits;

	line_text(&log->text, n, text, sizeof(text));
	role = role_of(log->view.subject, text);
	for (int i = 0; i < log->column && *shown; i++)
		screen_next_glyph(&shown);
	digits = strspn(shown, "0123456789");
	if (role == UI_TEXT && digits && shown[digits] == ':')
		draw_insn_line(&pen, shown);
	else
		pen_text(&pen, role, shown);
}

enum { PARTING_H = 7 };

static void draw_parting(const struct beside_result *beside, struct screen *screen,
			 struct rect area)
{
	const struct loupe_log_difference *diff = &beside->diff;
	char title[96], number[NUMBER_TEXT];
	size_t same = beside_same(diff);
	struct rect inner;
	struct pen pen;
	int y = 0;

	snprintf(title, sizeof(title), "first difference, line %s of the log",
		 number_text(number, diff->line));
	inner = pane_frame(screen, area, title, false);
	for (int i = 0; i < 3; i++) {
		if (!*diff->before[i])
			continue;
		pen = pen_at(screen, inner.x + 1, inner.y + y++, inner.w - 2);
		pen_printf(&pen, UI_DIM, "       %s", diff->before[i]);
	}
	pen = pen_at(screen, inner.x + 1, inner.y + y++, inner.w - 2);
	pen_printf(&pen, UI_MISS, "log:   %s%s", same ? "…" : "", diff->want + same);
	pen = pen_at(screen, inner.x + 1, inner.y + y, inner.w - 2);
	pen_printf(&pen, UI_STRONG, "model: %s%s", same ? "…" : "", diff->got + same);
}

static void draw(struct view *view, struct screen *screen, struct rect area)
{
	struct log_view *log = (struct log_view *)view;
	char title[96], note[64], number[NUMBER_TEXT], total[NUMBER_TEXT];
	struct rect inner, below = { 0 };

	if (view->subject->logged)
		snprintf(title, sizeof(title), "the log that was read  %s line%s",
			 number_text(number, (uint64_t)log->text.line_cnt),
			 plural((uint64_t)log->text.line_cnt));
	else
		snprintf(title, sizeof(title), "log at level %u  %s line%s", log->level,
			 number_text(number, (uint64_t)log->text.line_cnt),
			 plural((uint64_t)log->text.line_cnt));
	if (parting(log) && area.h >= 2 * PARTING_H) {
		area.h -= PARTING_H - 1;
		below = (struct rect){ area.x, area.y + area.h - 1, area.w, PARTING_H };
	}
	inner = pane_frame(screen, area, log->work ? "log" : title, true);
	log->h = inner.h;
	if (log->work) {
		tui_draw_progress(screen, inner, &log->work->job);
		return;
	}
	if (*log->problem || !log->text.line_cnt) {
		struct pen pen = pen_at(screen, inner.x + 1, inner.y, inner.w - 2);

		pen_text(&pen, UI_NOTICE, *log->problem ? log->problem : "the log is empty");
		return;
	}
	scroll_fit(&log->scroll, log->text.line_cnt, inner.h);
	for (int i = 0; i < inner.h && log->scroll.top + i < log->text.line_cnt; i++) {
		struct rect row = { inner.x, inner.y + i, inner.w, 1 };
		int64_t n = log->scroll.top + i;

		draw_line(log, n, screen, row);
		if (n == log->scroll.cursor)
			screen_ground(screen, row, UI_GROUND_CURSOR);
		if (*tui_pattern(view->tui))
			mark_matches(screen, row.x, row.y, row.w, tui_pattern(view->tui));
	}
	pane_more(screen, inner, log->scroll.top, log->text.line_cnt);
	if (step_of_line(&log->text, log->scroll.cursor) != LOUPE_NO_STEP)
		snprintf(note, sizeof(note), "line %s  step %s",
			 number_text(number, (uint64_t)log->scroll.cursor + 1),
			 number_text(total, step_of_line(&log->text, log->scroll.cursor)));
	else
		snprintf(note, sizeof(note), "line %s",
			 number_text(number, (uint64_t)log->scroll.cursor + 1));
	pane_note(screen, area, UI_STRONG, note);
	if (below.h)
		draw_parting(parting(log), screen, below);
}

/* ---- requests ----------------------------------------------------------------------------- */

/* The place that the cursor's line belongs to, for the other views. */
static void note_place(struct log_view *log)
{
	const struct loupe_trace *trace = log->view.subject->trace;
	uint32_t step;

	if (!log->text.line_cnt)
		return;
	step = step_of_line(&log->text, log->scroll.cursor);
	if (step < loupe_trace_step_cnt(trace))
		tui_set_place(log->view.tui,
			      (struct place){ step, loupe_trace_step_insn(trace, step) });
}

static void set_level(struct log_view *log, uint32_t level)
{
	if (log->view.subject->logged) {
		tui_say(log->view.tui, UI_NOTICE,
			"a log that was read has the level that it was written at");
		return;
	}
	log->level = level;
	if (start(log))
		tui_say(log->view.tui, UI_ERROR, "out of memory");
}

static bool request(struct view *view, enum request request)
{
	static const uint32_t next[] = { [1] = 2, [2] = 4, [4] = 6, [6] = 1 };
	struct log_view *log = (struct log_view *)view;

	switch (request) {
	case REQ_LEVEL:
		set_level(log, log->level < sizeof(next) / sizeof(next[0]) && next[log->level]
				       ? next[log->level]
				       : 1);
		return true;
	case REQ_LEFT:
		log->column = log->column > 8 ? log->column - 8 : 0;
		return true;
	case REQ_RIGHT:
		log->column += 8;
		return true;
	case REQ_ENTER:
		if (log->text.line_cnt &&
		    step_of_line(&log->text, log->scroll.cursor) == LOUPE_NO_STEP)
			tui_say(view->tui, UI_NOTICE, "this line belongs to no step");
		else
			tui_show(view->tui, VIEW_WALK);
		return true;
	default:
		if (!scroll_request(&log->scroll, request, log->text.line_cnt, log->h))
			return false;
		note_place(log);
		return true;
	}
}

static bool command(struct view *view, const char *name, const char *arg)
{
	struct log_view *log = (struct log_view *)view;

	if (strcmp(name, "level") != 0)
		return false;
	if (!*arg)
		return request(view, REQ_LEVEL);
	if (strlen(arg) != 1 || !strchr("1246", *arg))
		tui_say(view->tui, UI_ERROR, "levels are 1, 2, 4 and 6");
	else
		set_level(log, (uint32_t)(*arg - '0'));
	return true;
}

static bool search(struct view *view, const char *text, bool forward)
{
	struct log_view *log = (struct log_view *)view;
	int64_t cnt = log->text.line_cnt;
	char line[4096];

	for (int64_t i = 1; i <= cnt; i++) {
		int64_t n = (log->scroll.cursor + (forward ? i : cnt - i)) % cnt;

		line_text(&log->text, n, line, sizeof(line));
		if (text_matches(line, text)) {
			scroll_to(&log->scroll, n, cnt, log->h);
			note_place(log);
			return true;
		}
	}
	return false;
}

static void select_place(struct view *view, struct place place)
{
	struct log_view *log = (struct log_view *)view;
	uint32_t cnt;
	const uint32_t *visits;

	if (place.step == LOUPE_NO_STEP && place.insn >= 0) {
		visits = loupe_trace_visits(view->subject->trace, (uint32_t)place.insn, &cnt);
		if (cnt)
			tui_set_place(view->tui, (struct place){ visits[0], place.insn });
	}
	go_place(log);
}

static int export(struct view *view, FILE *out)
{
	struct log_view *log = (struct log_view *)view;

	fwrite(log->text.text ? log->text.text : "", 1, log->text.len, out);
	return ferror(out) ? -EIO : 0;
}

static void close_log(struct view *view)
{
	struct log_view *log = (struct log_view *)view;

	if (log->work)
		jobs_cancel(tui_jobs(view->tui), &log->work->job);
	text_finish(&log->text);
}

static int open_log(struct view *view)
{
	struct log_view *log = (struct log_view *)view;

	log->level = view->subject->result.verdict == LOUPE_REJECTED ? 1 : 2;
	log->first = true;
	if (view->subject->beside && !view->subject->beside->agrees)
		log->level = view->subject->beside->level;
	log->h = 1;
	return start(log);
}

static const struct view_hint hints[] = {
	{ REQ_ENTER, REQ_NONE, "walk from here" }, { REQ_LEVEL, REQ_NONE, "level" },
	{ REQ_SEARCH, REQ_NONE, "search" },	   { REQ_SEARCH_NEXT, REQ_SEARCH_PREV, "again" },
	{ REQ_LEFT, REQ_RIGHT, "sideways" },	   { REQ_NONE, REQ_NONE, NULL },
};

static const char *const terms[] = {
	"level 1: the path that failed (of an accepted program, the last one)",
	"level 2: all paths, and what the verifier does on the way",
	"level 4: counters at the end",
	"level 6: 2 and 4 together",
	"max_states_per_insn: longest walk over one hash bucket of checkpoints",
	"total_states: checkpoints ever stored",
	"peak_states: most checkpoints, evicted but referenced ones and loop backedges alive at "
	"once",
	"mark_precise: walk back over the path to what a value was made from",
	NULL,
};

const struct view_ops view_log = {
	.name = "log",
	.title = "Log",
	.about = "the kernel's verifier log, tied to the steps",
	.needs = VIEW_NEEDS_TRACE,
	.size = sizeof(struct log_view),
	.hints = hints,
	.open = open_log,
	.close = close_log,
	.draw = draw,
	.request = request,
	.search = search,
	.select = select_place,
	.export = export,
	.command = command,
	.terms = terms,
};
