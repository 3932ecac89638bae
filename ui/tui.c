// SPDX-License-Identifier: GPL-2.0-only
/* The explorer: opens inputs, dispatches keys to views, keeps the terminal up to date. */
#include "tui.h"

#include "kernel_ask.h"
#include "explain.h"
#include "screen_write.h"
#include "tui_internal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Traces of programs that are not looked at are dropped above this size. */
#define KEEP_TRACE_BYTES (8u << 20)

enum { POLL_MS = 80 };

/* ---- views -------------------------------------------------------------------------------- */

#define VIEW(id, symbol, key) extern const struct view_ops view_##symbol;
#include "views.def"

static const struct view_ops *const all_views[VIEW_CNT] = {
#define VIEW(id, symbol, key) [VIEW_##id] = &view_##symbol,
#include "views.def"
};

const struct view_ops *view_ops(enum view_id id)
{
	return all_views[id];
}

enum view_id view_by_name(const char *name)
{
	int id = 0;

	while (id < VIEW_CNT && strcmp(all_views[id]->name, name) != 0)
		id++;
	return (enum view_id)id;
}

const char *view_refuses(enum view_id id, const struct subject *subject)
{
	enum view_needs needs = all_views[id]->needs;

	if (needs == VIEW_NEEDS_NOTHING)
		return NULL;
	if (!subject)
		return "Choose a program first.";
	if (subject->state == SUBJECT_NOT_LOADED)
		return "There is no program to show: it did not load.";
	if (subject->state == SUBJECT_FAILED)
		return "There is nothing to show: see the line above.";
	if (needs == VIEW_NEEDS_TRACE && subject->filter)
		return "A classic filter is not verified by exploring it: there is nothing to walk.";
	if (id == VIEW_LAB && subject->logged)
		return "A log cannot be run again: the lab needs the program.";
	if (id == VIEW_CFG && subject->logged && subject->state == SUBJECT_READY &&
	    subject->result.lacks & LOUPE_LACKS_FACTS)
		return "This log does not hold the whole program: one of level 2 has its instructions.";
	if (id == VIEW_COMPARE && !subject->other)
		return "bpfloupe --compare A B shows two programs side by side.";
	if (needs == VIEW_NEEDS_FILTER && !subject->filter)
		return "This is for classic filters, which have rules and calls.";
	return NULL;
}

static bool has_what_it_needs(enum view_id id, const struct subject *subject)
{
	if (all_views[id]->needs == VIEW_NEEDS_NOTHING)
		return true;
	if (view_refuses(id, subject) || subject->state != SUBJECT_READY)
		return false;
	return subject->filter || subject->trace;
}

void tui_close_view(struct tui *tui, enum view_id id)
{
	struct view *view = tui->views[id];

	if (!view)
		return;
	tui->views[id] = NULL;
	if (view->ops->close)
		view->ops->close(view);
	free(view);
}

static void close_subject_views(struct tui *tui)
{
	for (int id = 0; id < VIEW_CNT; id++) {
		if (all_views[id]->needs != VIEW_NEEDS_NOTHING)
			tui_close_view(tui, (enum view_id)id);
	}
}

static struct view *open_view(struct tui *tui, enum view_id id)
{
	const struct view_ops *ops = all_views[id];
	struct view *view;
	int rc = 0;

	if (tui->views[id])
		return tui->views[id];
	if (!has_what_it_needs(id, tui_current_subject(tui)))
		return NULL;
	view = calloc(1, ops->size);
	if (!view)
		return NULL;
	view->ops = ops;
	view->tui = tui;
	view->subject = tui_current_subject(tui);
	if (ops->open)
		rc = ops->open(view);
	if (rc) {
		tui_say(tui, UI_ERROR, "the view '%s' cannot open: %s", ops->name, strerror(-rc));
		if (ops->close)
			ops->close(view);
		free(view);
		return NULL;
	}
	tui->views[id] = view;
	if (ops->select && ops->needs != VIEW_NEEDS_NOTHING)
		ops->select(view, tui->place);
	return view;
}

/* Where the answer is: the rejecting step, the insn that stops it, else the beginning. */
static void land(struct tui *tui)
{
	struct subject *subject = tui_current_subject(tui);
	const struct loupe_verify_result *result = &subject->result;
	uint32_t step = LOUPE_NO_STEP;

	tui->landed = true;
	tui->has_loc = false;
	tui->place = (struct place){ .step = LOUPE_NO_STEP, .insn = 0 };
	if (subject->filter)
		return;
	if (loupe_trace_step_cnt(subject->trace)) {
		step = loupe_trace_error_step(subject->trace);
		if (step == LOUPE_NO_STEP && result->verdict != LOUPE_ACCEPTED &&
		    result->verdict != LOUPE_REJECTED)
			step = loupe_trace_step_cnt(subject->trace) - 1;
		if (step == LOUPE_NO_STEP)
			step = 0;
	}
	tui->place.step = step;
	if (step != LOUPE_NO_STEP)
		tui->place.insn = loupe_trace_step_insn(subject->trace, step);
	if (result->verdict == LOUPE_REJECTED && result->phase != LOUPE_PHASE_EXPLORE_MAIN &&
	    result->phase != LOUPE_PHASE_EXPLORE_SUBPROGS && subject->error_insn >= 0)
		tui->place = (struct place){ .step = LOUPE_NO_STEP, .insn = subject->error_insn };
}

static enum view_id suitable_view(const struct tui *tui, const struct subject *subject)
{
	enum view_id wanted = tui->opts->view ? view_by_name(tui->opts->view) : VIEW_CNT;
	const struct loupe_verify_result *result = &subject->result;

	if (wanted != VIEW_CNT && !view_refuses(wanted, subject))
		return wanted;
	if (subject->filter || subject->state != SUBJECT_READY)
		return VIEW_CFG;
	/* where the model and the log beside it part */
	if (subject->beside && !subject->beside->agrees)
		return VIEW_LOG;
	if (result->verdict == LOUPE_REJECTED && result->phase == LOUPE_PHASE_STACK_DEPTH)
		return VIEW_CALLS;
	if (subject->other)
		return VIEW_COMPARE;
	if (result->verdict == LOUPE_REJECTED && result->phase != LOUPE_PHASE_EXPLORE_MAIN &&
	    result->phase != LOUPE_PHASE_EXPLORE_SUBPROGS)
		return subject->error_insn >= 0 ? VIEW_CFG : VIEW_LOG;
	/* what was too long is answered by what it cost */
	if (explain_counts(subject))
		return VIEW_COST;
	/* what never ends, by the two states that are the same */
	if (explain_compares(subject) && !subject->logged)
		return VIEW_PRUNE;
	if (explain_blames(subject))
		return VIEW_BLAME;
	return VIEW_WALK;
}

static void say_lacks(struct tui *tui, const struct subject *subject)
{
	char lacks[200];

	loupe_lacks_print(lacks, sizeof(lacks), subject->result.lacks);
	tui_say(tui, UI_NOTICE, "Read from a log, which lacks: %s", lacks);
}

struct view *tui_view(struct tui *tui)
{
	struct subject *subject = tui_current_subject(tui);

	if (subject && !tui->landed && subject->state == SUBJECT_READY &&
	    (subject->filter || subject->trace)) {
		land(tui);
		if (all_views[tui->view]->needs != VIEW_NEEDS_NOTHING)
			tui->view = suitable_view(tui, subject);
		if (tui->lesson)
			lesson_arrive(tui);
		if (subject->logged)
			say_lacks(tui, subject);
		if (subject->beside)
			tui_say(tui, subject->beside->agrees ? UI_HIT : UI_MISS, "%s",
				subject->beside->words);
	}
	return open_view(tui, tui->view);
}

/* ---- subjects ----------------------------------------------------------------------------- */

uint32_t tui_subject_cnt(const struct tui *tui)
{
	return tui->subject_cnt;
}

struct subject *tui_subject(struct tui *tui, uint32_t n)
{
	return n < tui->subject_cnt ? &tui->subjects[n] : NULL;
}

uint32_t tui_current(const struct tui *tui)
{
	return tui->current;
}

struct subject *tui_current_subject(struct tui *tui)
{
	return tui_subject(tui, tui->current);
}

static void subject_done(void *data, struct subject *subject)
{
	struct tui *tui = data;

	if (subject != tui_current_subject(tui) && subject->trace && !subject->other &&
	    loupe_trace_bytes(subject->trace) > KEEP_TRACE_BYTES)
		subject_drop_trace(subject);
}

static struct job *start_job(struct tui *tui, struct subject *subject)
{
	struct job *job = subject_job(
		subject, subject->own_rules ? subject->own_rules : &tui->verify, subject_done, tui);

	if (!job) {
		tui_say(tui, UI_ERROR, "out of memory");
		return NULL;
	}
	jobs_add(tui->jobs, job);
	return job;
}

void tui_start(struct tui *tui, struct subject *subject)
{
	if (subject->state == SUBJECT_NOT_LOADED || subject->state == SUBJECT_WORKING ||
	    subject->kernel == KERNEL_ASKED)
		return;
	subject->kernel = KERNEL_NOT_ASKED;
	/* its views read what will be replaced */
	if (subject == tui_current_subject(tui)) {
		close_subject_views(tui);
		tui->landed = false;
	}
	start_job(tui, subject);
}

void tui_open(struct tui *tui, uint32_t n)
{
	struct subject *subject = tui_subject(tui, n);
	struct job *job = NULL;

	if (!subject)
		return;
	if (n != tui->current) {
		struct subject *old = tui_current_subject(tui);

		close_subject_views(tui);
		if (old && old->trace && !old->other &&
		    loupe_trace_bytes(old->trace) > KEEP_TRACE_BYTES)
			subject_drop_trace(old);
		tui->current = n;
		tui->landed = false;
	}
	if (subject->state == SUBJECT_NEW || subject->state == SUBJECT_STOPPED ||
	    (subject->state == SUBJECT_READY && !subject->filter && !subject->trace))
		job = start_job(tui, subject);
	if (job)
		jobs_prefer(tui->jobs, job);
	if (tui->landed || subject->state == SUBJECT_READY)
		tui->view = suitable_view(tui, subject);
	else
		tui->view = subject->filter || subject->state == SUBJECT_NOT_LOADED ? VIEW_CFG :
										     VIEW_WALK;
	tui->back_cnt = 0;
	if (tui->subject_cnt > 1)
		tui->back[tui->back_cnt++] = VIEW_LIST;
}

void tui_open_at(struct tui *tui, uint32_t n, enum view_id id, struct place place)
{
	bool same = n == tui->current;

	if (same) {
		tui->place = place;
		tui_show(tui, id);
		return;
	}
	tui_open(tui, n);
	tui->landed = true;
	tui->has_loc = false;
	tui->place = place;
	tui->view = id;
	if (tui_current_subject(tui)->other)
		tui->back[tui->back_cnt++] = VIEW_COMPARE;
}

/* ---- what views ask for ------------------------------------------------------------------- */

void tui_say(struct tui *tui, enum ui_role role, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(tui->message, sizeof(tui->message), fmt, args);
	va_end(args);
	tui->message_role = role;
}

void tui_show(struct tui *tui, enum view_id id)
{
	const char *refusal = view_refuses(id, tui_current_subject(tui));

	if (refusal) {
		tui_say(tui, UI_NOTICE, "%s", refusal);
		return;
	}
	if (id == tui->view)
		return;
	if (tui->back_cnt == TUI_BACK_CNT) {
		memmove(tui->back, tui->back + 1, (TUI_BACK_CNT - 1) * sizeof(tui->back[0]));
		tui->back_cnt--;
	}
	tui->back[tui->back_cnt++] = tui->view;
	tui->view = id;
	if (tui->views[id] && tui->views[id]->ops->select)
		tui->views[id]->ops->select(tui->views[id], tui->place);
}

void tui_go(struct tui *tui, struct place place)
{
	struct view *view = tui->views[tui->view];

	tui->place = place;
	if (view && view->ops->select)
		view->ops->select(view, place);
}

void tui_set_place(struct tui *tui, struct place place)
{
	tui->place = place;
}

void tui_set_loc(struct tui *tui, struct loupe_loc loc)
{
	tui->loc = loc;
	tui->has_loc = true;
}

bool tui_loc(const struct tui *tui, struct loupe_loc *loc)
{
	if (tui->has_loc)
		*loc = tui->loc;
	return tui->has_loc;
}

struct place tui_place(const struct tui *tui)
{
	return tui->place;
}

struct jobs *tui_jobs(struct tui *tui)
{
	return tui->jobs;
}

const struct loupe_verify_opts *tui_verify_opts(const struct tui *tui)
{
	const struct subject *subject = tui_subject((struct tui *)(uintptr_t)tui, tui->current);

	return subject && subject->own_rules ? subject->own_rules : &tui->verify;
}

const char *tui_pattern(const struct tui *tui)
{
	return tui->pattern;
}

enum view_id tui_view_before(const struct tui *tui)
{
	return tui->back_cnt ? tui->back[tui->back_cnt - 1] : tui->view;
}

bool tui_ascii(const struct tui *tui)
{
	return tui->ascii;
}

/* ---- requests ----------------------------------------------------------------------------- */

static void go_back(struct tui *tui)
{
	if (jobs_stop(tui->jobs)) {
		tui_say(tui, UI_NOTICE, "stopping");
		return;
	}
	if (!tui->back_cnt)
		return;
	tui->view = tui->back[--tui->back_cnt];
	if (tui->views[tui->view] && tui->views[tui->view]->ops->select)
		tui->views[tui->view]->ops->select(tui->views[tui->view], tui->place);
}

static void other_program(struct tui *tui, int by)
{
	int64_t n = tui->current == TUI_NO_SUBJECT ? 0 : (int64_t)tui->current + by;

	if (n < 0 || n >= (int64_t)tui->subject_cnt)
		tui_say(tui, UI_NOTICE, "that was the %s program", by < 0 ? "first" : "last");
	else
		tui_open(tui, (uint32_t)n);
}

static void copy(struct tui *tui)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	tui_draw(tui);
	screen_write_text(tui->screen, out);
	if (fclose(out) == 0 && tui->term)
		term_copy(tui->term, text, len);
	free(text);
	tui_say(tui, UI_NOTICE,
		"copied %d lines to the clipboard, if the terminal allows it; :export FILE writes all",
		tui->screen->h);
}

static void search(struct tui *tui, bool forward)
{
	struct view *view = tui_view(tui);

	if (!*tui->pattern) {
		tui_say(tui, UI_NOTICE, "nothing was searched for yet: / asks for it");
		return;
	}
	if (!view || !view->ops->search)
		tui_say(tui, UI_NOTICE, "there is nothing to search here");
	else if (!view->ops->search(view, tui->pattern, forward))
		tui_say(tui, UI_NOTICE, "not found: %s", tui->pattern);
}

static void kernel_answered(void *data, const char *words)
{
	tui_say(data, UI_NOTICE, "%s", words);
}

static void ask_kernel(struct tui *tui)
{
	struct subject *subject = tui_current_subject(tui);
	struct job *job;

	if (!subject || !subject->image || subject->state != SUBJECT_READY) {
		tui_say(tui, UI_NOTICE, "there is no verified program to ask the kernel about");
		return;
	}
	if (subject->logged) {
		tui_say(tui, UI_NOTICE,
			"this is what a kernel said; only a program can be asked about again");
		return;
	}
	if (subject->kernel == KERNEL_ASKED)
		return;
	job = kernel_ask_job(subject, &tui->verify, kernel_answered, tui);
	if (!job) {
		tui_say(tui, UI_ERROR, "out of memory");
		return;
	}
	jobs_add(tui->jobs, job);
	jobs_prefer(tui->jobs, job);
}

static void open_prompt(struct tui *tui, enum request what, const char *label)
{
	tui->prompt_for = what;
	prompt_open(&tui->prompt, label);
}

void tui_ask(struct tui *tui, const char *text)
{
	open_prompt(tui, REQ_COMMAND, ":");
	prompt_set(&tui->prompt, text);
}

static void general_request(struct tui *tui, enum request request)
{
	if (lesson_request(tui, request))
		return;
	if (request >= REQ_VIEW_LIST) {
		tui_show(tui, (enum view_id)(request - REQ_VIEW_LIST));
		return;
	}
	switch (request) {
	case REQ_COMMAND:
		open_prompt(tui, request, ":");
		break;
	case REQ_SEARCH:
		open_prompt(tui, request, "/");
		break;
	case REQ_GOTO:
		open_prompt(tui, request, "go to: ");
		break;
	case REQ_SEARCH_NEXT:
		search(tui, true);
		break;
	case REQ_SEARCH_PREV:
		search(tui, false);
		break;
	case REQ_COPY:
		copy(tui);
		break;
	case REQ_NEXT_PROG:
		other_program(tui, 1);
		break;
	case REQ_PREV_PROG:
		other_program(tui, -1);
		break;
	case REQ_RETRY:
		if (tui_current_subject(tui))
			tui_start(tui, tui_current_subject(tui));
		break;
	case REQ_ASK_KERNEL:
		ask_kernel(tui);
		break;
	case REQ_BACK:
		go_back(tui);
		break;
	case REQ_REDRAW:
		if (tui->term)
			term_repaint(tui->term);
		break;
	case REQ_QUIT:
		tui->quit = true;
		break;
	default:
		tui_say(tui, UI_NOTICE, "'%s' means nothing here", request_name(request));
	}
}

void tui_request(struct tui *tui, enum request request)
{
	struct view *view = tui_view(tui);

	if (request == REQ_NONE)
		return;
	/* Esc stops what runs before it means anything to a view */
	if (request == REQ_BACK && jobs_running(tui->jobs)) {
		go_back(tui);
		return;
	}
	if (view && view->ops->request && view->ops->request(view, request))
		return;
	general_request(tui, request);
}

static void prompt_done(struct tui *tui)
{
	const char *text = tui->prompt.text;

	switch (tui->prompt_for) {
	case REQ_COMMAND:
		tui_command(tui, text);
		break;
	case REQ_SEARCH:
		/* an empty line repeats the last search */
		if (*text)
			memcpy(tui->pattern, text, sizeof(tui->pattern));
		search(tui, true);
		break;
	case REQ_GOTO:
		if (*text)
			tui_goto(tui, text);
		break;
	default:
		break;
	}
}

static void complete(struct tui *tui)
{
	struct prompt *prompt = &tui->prompt;
	char text[PROMPT_TEXT];

	if (tui->prompt_for != REQ_COMMAND)
		return;
	if (prompt->completion < 0)
		memcpy(prompt->typed, prompt->text, sizeof(prompt->typed));
	prompt->completion++;
	if (!tui_complete(tui, prompt->typed, (uint32_t)prompt->completion, text, sizeof(text))) {
		/* once around */
		prompt->completion = -1;
		memcpy(text, prompt->typed, sizeof(text));
	}
	prompt_set(prompt, text);
}

void tui_key(struct tui *tui, int key)
{
	tui->message[0] = '\0';
	if (!tui->prompt.open) {
		enum request request = tui->lesson ? key_request(VIEW_LESSON, key) : REQ_NONE;

		if (request != REQ_STOP_NEXT && request != REQ_STOP_PREV)
			request = key_request(tui->view, key);
		if (request == REQ_NONE)
			tui_say(tui, UI_NOTICE, "that key means nothing here; ? shows the keys");
		else
			tui_request(tui, request);
		return;
	}
	switch (prompt_key(&tui->prompt, key)) {
	case PROMPT_DONE:
		prompt_done(tui);
		break;
	case PROMPT_COMPLETE:
		complete(tui);
		break;
	case PROMPT_CANCEL:
	case PROMPT_MORE:
		break;
	}
}

/* ---- running ------------------------------------------------------------------------------ */

static void report(const char *path, const struct loupe_error *err)
{
	char text[800];

	loupe_error_format(err, text, sizeof(text));
	fprintf(stderr, "bpfloupe: %s%s%s\n", err->file[0] ? "" : path,
		err->file[0] ? "" : ": ", text);
}

/* The two programs, or runs of one, that are shown side by side. */
static int open_compared(struct tui *tui)
{
	const struct tui_options *opts = tui->opts;

	tui->inputs = calloc(COMPARE_SIDES, sizeof(*tui->inputs));
	tui->subjects = calloc(COMPARE_SIDES, sizeof(*tui->subjects));
	if (!tui->inputs || !tui->subjects)
		return -ENOMEM;
	if (compare_open(opts->files, opts->file_cnt, opts->load, &opts->verify, tui->inputs))
		return -EINVAL;
	tui->input_cnt = tui->subject_cnt = COMPARE_SIDES;
	loupe_verify_opts_init(&tui->kernel_rules);
	for (uint32_t i = 0; i < COMPARE_SIDES; i++) {
		struct subject *subject = &tui->subjects[i];

		subject_init(subject, &tui->inputs[i], 0);
		subject->other = &tui->subjects[!i];
		subject->is_b = i;
		if (opts->file_cnt > 1)
			continue;
		subject->own_rules = i ? &tui->verify : &tui->kernel_rules;
		if (i)
			compare_rules(&tui->verify, subject->rules, sizeof(subject->rules));
		else
			snprintf(subject->rules, sizeof(subject->rules), "kernel's rules");
	}
	return 0;
}

static int open_inputs(struct tui *tui)
{
	const struct tui_options *opts = tui->opts;
	struct loupe_error err = { 0 };
	bool beside = false;
	uint32_t total;

	if (opts->compare)
		return open_compared(tui);
	if (opts->log && beside_open(opts->log, &tui->beside, &err)) {
		report(opts->log, &err);
		return -EINVAL;
	}
	tui->inputs = calloc(opts->file_cnt, sizeof(*tui->inputs));
	if (!tui->inputs)
		return -ENOMEM;
	for (uint32_t i = 0; i < opts->file_cnt; i++) {
		struct input *input = &tui->inputs[tui->input_cnt];

		if (input_open(opts->files[i], opts->load, opts->filters, input, &err)) {
			report(opts->files[i], &err);
			continue;
		}
		tui->input_cnt++;
		tui->subject_cnt += input->kind == INPUT_FILTER ? 1 : input->progs.cnt;
	}
	if (!tui->input_cnt)
		return -EINVAL;
	tui->subjects = calloc(tui->subject_cnt, sizeof(*tui->subjects));
	if (!tui->subjects)
		return -ENOMEM;
	total = tui->subject_cnt;
	tui->subject_cnt = 0;
	for (uint32_t i = 0; i < tui->input_cnt; i++) {
		uint32_t cnt = tui->inputs[i].kind == INPUT_FILTER ? 1 : tui->inputs[i].progs.cnt;

		for (uint32_t n = 0; n < cnt; n++) {
			struct subject *subject = &tui->subjects[tui->subject_cnt++];

			subject_init(subject, &tui->inputs[i], n);
			subject->passes = opts->passes;
			if (tui->beside.file && subject->image && !subject->logged) {
				subject->beside_path = tui->beside.path;
				subject->beside_log =
					beside_find(&tui->beside, subject_name(subject), total == 1,
						    opts->prog_name);
				beside |= subject->beside_log != NULL;
			}
		}
	}
	if (tui->beside.file && !beside) {
		fprintf(stderr,
			"bpfloupe: %s: not of %s; --prog chooses the program that it is of\n",
			opts->log, total == 1 ? "this program" : "one of these programs");
		return -ENOENT;
	}
	return 0;
}

static int choose_start(struct tui *tui)
{
	const char *name = tui->opts->prog_name;

	tui->view = VIEW_LIST;
	if (tui->opts->compare) {
		tui_open(tui, 0);
		start_job(tui, &tui->subjects[1]);
		return 0;
	}
	if (!name && tui->subject_cnt == 1) {
		tui_open(tui, 0);
		return 0;
	}
	for (uint32_t i = 0; name && i < tui->subject_cnt; i++) {
		const struct subject *subject = &tui->subjects[i];

		if (strcmp(subject_name(subject), name) == 0 ||
		    (subject->prog && subject->prog->section &&
		     strcmp(subject->prog->section, name) == 0)) {
			tui_open(tui, i);
			return 0;
		}
	}
	if (name) {
		fprintf(stderr, "bpfloupe: %s: no program '%s'\n", tui->inputs[0].path, name);
		return -ENOENT;
	}
	for (uint32_t i = 0; i < tui->subject_cnt; i++)
		tui_start(tui, &tui->subjects[i]);
	return 0;
}

static int interact(struct tui *tui)
{
	struct loupe_error err = { 0 };
	int w, h;

	if (term_open(tui->theme, &tui->term, &err)) {
		fprintf(stderr, "bpfloupe: %s\n", err.message);
		return 2;
	}
	while (!tui->quit) {
		int key;

		jobs_poll(tui->jobs);
		term_size(tui->term, &w, &h);
		if ((w != tui->screen->w || h != tui->screen->h) &&
		    screen_resize(tui->screen, w, h))
			break;
		tui_draw(tui);
		term_show(tui->term, tui->screen);
		key = term_key(tui->term, jobs_busy(tui->jobs) ? POLL_MS : -1);
		if (key != K_NONE && key != K_RESIZE)
			tui_key(tui, key);
	}
	term_close(tui->term);
	tui->term = NULL;
	return tui->status;
}

static void finish(struct tui *tui)
{
	for (int id = 0; id < VIEW_CNT; id++)
		tui_close_view(tui, (enum view_id)id);
	jobs_destroy(tui->jobs);
	for (uint32_t i = 0; i < tui->subject_cnt && tui->subjects; i++)
		subject_finish(&tui->subjects[i]);
	for (uint32_t i = 0; i < tui->input_cnt; i++)
		input_finish(&tui->inputs[i]);
	beside_close(&tui->beside);
	free(tui->subjects);
	free(tui->inputs);
	screen_destroy(tui->screen);
	lesson_play_destroy(tui->lesson);
}

int tui_run(const struct tui_options *opts)
{
	struct tui tui = {
		.opts = opts,
		.verify = opts->verify,
		.current = TUI_NO_SUBJECT,
		.theme = theme_from_environment(),
		.place = { .step = LOUPE_NO_STEP, .insn = 0 },
	};
	int status = 2;

	setlocale(LC_CTYPE, "");
	tui.ascii = opts->ascii || (!opts->script && strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
	if (opts->theme)
		tui.theme = theme_by_name(opts->theme);
	if (!tui.theme) {
		fprintf(stderr, "bpfloupe: no theme '%s': dark, light or none\n", opts->theme);
		return 2;
	}
	if (opts->view && view_by_name(opts->view) == VIEW_CNT) {
		fprintf(stderr, "bpfloupe: no view '%s'\n", opts->view);
		return 2;
	}
	tui.jobs = jobs_create();
	tui.screen = screen_create(opts->width ? (int)opts->width : 80,
				   opts->height ? (int)opts->height : 24);
	tui.lesson = opts->lesson ? lesson_play_create(opts->lesson) : NULL;
	if (!tui.jobs || !tui.screen || (opts->lesson && !tui.lesson))
		fprintf(stderr, "bpfloupe: out of memory\n");
	else if (open_inputs(&tui) == 0 && choose_start(&tui) == 0)
		status = opts->script ? tui_script(&tui, opts->script) : interact(&tui);
	finish(&tui);
	return status;
}
