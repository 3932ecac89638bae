// SPDX-License-Identifier: GPL-2.0-only
/* Verifies programs and optimizes filters in the background. */
#include "subject.h"

#include "explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct subject_work {
	struct job job; /* first */
	struct subject *subject;
	struct loupe_verify_opts opts;
	void (*done)(void *data, struct subject *subject);
	void *data;
	/* results until they are the subject's */
	struct loupe_trace *trace;
	struct loupe_verify_result result;
	bool have_result;
	struct findings findings;
	struct beside_result *beside;
	struct loupe_rewrite *rewrite;
	struct loupe_filter_proof proof;
	uint32_t level;
	struct loupe_filter *optimized;
	struct loupe_why *why[2];
	struct loupe_error err;
};

void subject_init(struct subject *subject, const struct input *input, uint32_t n)
{
	*subject = (struct subject){ .input = input, .error_insn = -1, .state = SUBJECT_NEW };
	if (input->kind == INPUT_FILTER) {
		subject->filter = input->filter;
		subject->passes = (struct loupe_filter_opts){ .level = 2 };
		return;
	}
	subject->prog = &input->progs.progs[n];
	subject->image = subject->prog->image;
	subject->logged = input->log ? loupe_log_file_at(input->log, n) : NULL;
	if (!subject->image) {
		subject->state = SUBJECT_NOT_LOADED;
		return;
	}
	if (loupe_source_create(subject->image, &subject->source) ||
	    loupe_names_create(subject->image, &subject->names)) {
		snprintf(subject->error, sizeof(subject->error), "out of memory");
		subject->state = SUBJECT_FAILED;
	}
}

void subject_drop_trace(struct subject *subject)
{
	loupe_trace_destroy(subject->trace);
	subject->trace = NULL;
}

static void drop_result(struct subject *subject)
{
	for (int i = 0; i < 2; i++) {
		loupe_why_destroy(subject->why[i]);
		subject->why[i] = NULL;
	}
	loupe_filter_destroy(subject->optimized);
	loupe_rewrite_destroy(subject->rewrite);
	subject->optimized = NULL;
	subject->rewrite = NULL;
}

void subject_finish(struct subject *subject)
{
	subject_drop_trace(subject);
	loupe_verify_result_finish(&subject->result);
	drop_result(subject);
	loupe_names_destroy(subject->names);
	loupe_source_destroy(subject->source);
	free(subject->beside);
	*subject = (struct subject){ 0 };
}

const char *subject_name(const struct subject *subject)
{
	if (subject->filter)
		return subject->filter->name;
	return subject->prog->name ? subject->prog->name : "(no name)";
}

const char *subject_type(const struct subject *subject)
{
	const char *name;

	if (subject->filter)
		return subject->filter->flavour == LOUPE_FILTER_SECCOMP ? "seccomp filter"
									: "socket filter";
	if (subject->logged)
		return "verifier log";
	name = subject->image ? loupe_prog_type_name(subject->image->prog_type) : NULL;
	return name ? name : "?";
}

uint32_t subject_insn_cnt(const struct subject *subject)
{
	if (subject->filter)
		return subject->filter->cnt;
	return subject->image ? subject->image->insn_cnt : 0;
}

/* ---- the work ----------------------------------------------------------------------------- */

static void progress(void *ctx, uint32_t insn_processed)
{
	struct subject_work *work = ctx;

	atomic_store(&work->job.progress, insn_processed);
}

/* The log that the user has beside the program. */
static int compare_log(struct subject_work *work)
{
	const struct subject *subject = work->subject;

	if (!subject->beside_log)
		return 0;
	work->beside = malloc(sizeof(*work->beside));
	if (!work->beside)
		return -ENOMEM;
	return beside_compare(subject->beside_path, subject->beside_log, subject->image,
			      &work->opts, work->beside);
}

static int verify(struct subject_work *work)
{
	const struct loupe_image *image = work->subject->image;
	int rc;

	work->trace = loupe_trace_create(image);
	if (!work->trace)
		return -ENOMEM;
	work->opts.cancel = &work->job.cancel;
	work->opts.progress = progress;
	work->opts.progress_ctx = work;
	work->opts.listeners[0] = loupe_trace_listener(work->trace);
	work->opts.listener_cnt = 1;
	rc = work->subject->logged ?
		     loupe_logged_replay(work->subject->logged, &work->opts, &work->result) :
		     loupe_verify(image, &work->opts, &work->result);
	if (rc)
		return rc;
	work->have_result = true;
	/* a trace that is cut short still answers what was recorded until then */
	loupe_trace_finish(work->trace);
	findings_make(&work->findings, work->trace, work->subject->names);
	return work->job.cancel ? -ECANCELED : compare_log(work);
}

static int optimize(struct subject_work *work)
{
	const struct subject *subject = work->subject;
	const struct input *input = subject->input;
	struct loupe_filter_opts opts = subject->passes;
	int rc;

	opts.weights = &input->weights;
	rc = loupe_filter_optimize_proven(subject->filter, &opts, &work->rewrite, &work->proof,
					  &work->level, &work->err);
	if (!rc)
		rc = loupe_filter_from_rewrite(subject->filter, work->rewrite,
					       loupe_rewrite_edit_cnt(work->rewrite),
					       &work->optimized, &work->err);
	if (!rc)
		rc = loupe_why_create(subject->filter, input->policy, input->arch, &work->why[0],
				      &work->err);
	if (!rc)
		rc = loupe_why_create(work->optimized, input->policy, input->arch, &work->why[1],
				      &work->err);
	return rc;
}

static int run(struct job *job)
{
	struct subject_work *work = (struct subject_work *)job;

	return work->subject->filter ? optimize(work) : verify(work);
}

static void append_line(char *buf, size_t size, const char *line, size_t len)
{
	size_t used = strlen(buf);

	while (len && (line[len - 1] == ' ' || line[len - 1] == '\n'))
		len--;
	if (len)
		snprintf(buf + used, size - used, "%s%.*s", used ? "; " : "", (int)len, line);
}

/* All lines of a message on one. */
static void append_message(char *buf, size_t size, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		append_line(buf, size, text, len);
		text += len;
		text += strspn(text, "\n");
	}
}

/* What was printed at the rejecting step, or the trace's explanation. */
static void explain_rejection(struct subject *subject, uint32_t step)
{
	uint64_t row = loupe_trace_first_row(subject->trace, LOUPE_TABLE_MESSAGE, step);
	struct loupe_message_info info;
	const char *words;
	char text[sizeof(subject->error)] = ""; /* some messages are printed in pieces */
	size_t len = 0;

	subject->error[0] = '\0';
	for (; step != LOUPE_NO_STEP && loupe_trace_message(subject->trace, row, &info) == 0 &&
	       info.step == step;
	     row++) {
		if (!info.before && !info.level2 && len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", info.text);
	}
	append_message(subject->error, sizeof(subject->error), text);
	if (!*subject->error)
		append_message(subject->error, sizeof(subject->error),
			       loupe_trace_error(subject->trace));
	if (!*subject->error) {
		words = explain_silence(subject->image, &subject->result);
		snprintf(subject->error, sizeof(subject->error), "%s",
			 words ? words : "rejected without a message");
	}
}

/* "unreachable insn 2", "back-edge from insn 5 to 1": the insn that a message names first. */
static int32_t named_insn(const struct subject *subject)
{
	const char *at = strstr(subject->error, "insn ");
	char *end;
	long insn;

	if (!at)
		return -1;
	insn = strtol(at + 5, &end, 10);
	return end == at + 5 || insn < 0 || insn >= (long)subject->image->insn_cnt ? -1
										   : (int32_t)insn;
}

static void take_verdict(struct subject *subject, struct subject_work *work)
{
	uint32_t step = loupe_trace_error_step(work->trace);

	subject_drop_trace(subject);
	loupe_verify_result_finish(&subject->result);
	subject->result = work->result;
	subject->trace = work->trace;
	subject->findings = work->findings;
	free(subject->beside);
	subject->beside = work->beside;
	work->beside = NULL;
	subject->error_insn = work->result.insn_idx;
	work->trace = NULL;
	work->have_result = false;
	if (work->result.verdict == LOUPE_REJECTED) {
		explain_rejection(subject, step);
		if (step != LOUPE_NO_STEP)
			subject->error_insn = loupe_trace_step_insn(subject->trace, step);
		else if (subject->error_insn < 0)
			subject->error_insn = named_insn(subject);
	} else {
		snprintf(subject->error, sizeof(subject->error), "%s", work->result.reason);
	}
	subject->state = SUBJECT_READY;
}

static void take_result(struct subject *subject, struct subject_work *work)
{
	drop_result(subject);
	subject->rewrite = work->rewrite;
	subject->proof = work->proof;
	subject->level = work->level;
	subject->optimized = work->optimized;
	memcpy(subject->why, work->why, sizeof(subject->why));
	work->rewrite = NULL;
	work->optimized = NULL;
	memset(work->why, 0, sizeof(work->why));
	subject->state = SUBJECT_READY;
}

static void done(struct job *job)
{
	struct subject_work *work = (struct subject_work *)job;
	struct subject *subject = work->subject;

	if (job->rc == -ECANCELED) {
		subject->state = SUBJECT_STOPPED;
		snprintf(subject->error, sizeof(subject->error), "stopped");
	} else if (job->rc) {
		subject->state = SUBJECT_FAILED;
		snprintf(subject->error, sizeof(subject->error), "%s",
			 work->err.message[0] ? work->err.message : strerror(-job->rc));
	} else if (subject->filter) {
		take_result(subject, work);
	} else {
		take_verdict(subject, work);
	}
	if (work->have_result)
		loupe_verify_result_finish(&work->result);
	loupe_trace_destroy(work->trace);
	free(work->beside);
	for (int i = 0; i < 2; i++)
		loupe_why_destroy(work->why[i]);
	loupe_filter_destroy(work->optimized);
	loupe_rewrite_destroy(work->rewrite);
	work->done(work->data, subject);
	free(work);
}

struct job *subject_job(struct subject *subject, const struct loupe_verify_opts *opts,
			void (*on_done)(void *data, struct subject *subject), void *data)
{
	static const struct job_ops ops = { .run = run, .done = done };
	struct subject_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	work->job.ops = &ops;
	work->subject = subject;
	work->opts = *opts;
	work->done = on_done;
	work->data = data;
	snprintf(work->job.what, sizeof(work->job.what), "%s %s",
		 subject->filter ? "Optimizing" : subject->logged ? "Reading" : "Verifying",
		 subject_name(subject));
	work->job.unit = "instructions processed";
	work->job.total = opts->insn_limit;
	subject->state = SUBJECT_WORKING;
	return &work->job;
}
