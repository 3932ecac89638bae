// SPDX-License-Identifier: GPL-2.0-only
/* The second opinion. */
#include "kernel_ask.h"

#include "bpfloupe/kernel.h"
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Logs of longer explorations are not compared: hundreds of megabytes for a key press. */
#define MAX_LOGGED_STEPS 200000

struct ask_work {
	struct job job; /* first */
	struct subject *subject;
	struct loupe_verify_opts opts;
	void (*done)(void *data, const char *words);
	void *data;
	enum subject_kernel answer;
	char words[700];
};

static bool same_counters(const struct loupe_kernel_result *kernel,
			  const struct loupe_verify_result *model, char *buf, size_t size)
{
	const struct {
		const char *name;
		uint32_t kernel, model;
	} rows[] = {
		{ "steps", kernel->counters.insn_processed, model->counters.insn_processed },
		{ "states", kernel->counters.total_states, model->counters.total_states },
		{ "peak states", kernel->counters.peak_states, model->counters.peak_states },
		{ "states at an insn", kernel->counters.max_states_per_insn,
		  model->counters.max_states_per_insn },
	};

	for (size_t i = 0; kernel->has_counters && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].kernel == rows[i].model)
			continue;
		snprintf(buf, size, "it counts %u %s, the model %u", rows[i].kernel, rows[i].name,
			 rows[i].model);
		return false;
	}
	return true;
}

/* Runs the model once more and compares the logs line by line. */
static int compare_logs(struct ask_work *work, const struct loupe_kernel_result *kernel,
			uint32_t level, struct loupe_log_difference *diff)
{
	struct loupe_log_compare *compare = loupe_log_compare_create(kernel->log, kernel->log_len);
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts),
					   .level = level,
					   .sink = loupe_log_compare_feed,
					   .sink_ctx = compare,
					   .unprivileged = work->opts.unprivileged };
	struct loupe_verify_opts opts = work->opts;
	struct loupe_verify_result result;
	struct loupe_log *log = NULL;
	int rc = compare ? loupe_log_create(work->subject->image, &log_opts, &log) : -ENOMEM;

	if (rc)
		goto out;
	opts.cancel = &work->job.cancel;
	opts.listeners[0] = loupe_log_listener(log);
	opts.listener_cnt = 1;
	rc = loupe_verify(work->subject->image, &opts, &result);
	if (rc)
		goto out;
	loupe_verify_result_finish(&result);
	rc = loupe_log_finish(log);
	loupe_log_compare_end(compare, diff);
out:
	loupe_log_destroy(log);
	loupe_log_compare_destroy(compare);
	return rc;
}

/* Fills answer and words from what the kernel said. */
static int judge(struct ask_work *work, const struct loupe_kernel_result *kernel, uint32_t level)
{
	const struct loupe_verify_result *model = &work->subject->result;
	bool accepted = model->verdict == LOUPE_ACCEPTED;
	struct loupe_log_difference diff = { 0 };
	char release[80], counters[160];
	int rc;

	loupe_kernel_release(release, sizeof(release));
	work->answer = KERNEL_DIFFERS;
	if (model->verdict != LOUPE_ACCEPTED && model->verdict != LOUPE_REJECTED) {
		work->answer = KERNEL_ANSWERED;
		snprintf(work->words, sizeof(work->words), "kernel %s %s%s", release,
			 kernel->accepted ? "accepts it" : "rejects it: ",
			 kernel->accepted ? "" : errno_name(-kernel->err));
		return 0;
	}
	if (kernel->accepted != accepted || kernel->err != model->err) {
		snprintf(work->words, sizeof(work->words),
			 "kernel %s differs: it says %s, the model %s", release,
			 kernel->accepted ? "accepted" : errno_name(-kernel->err),
			 accepted ? "accepted" : errno_name(-model->err));
		return 0;
	}
	if (!same_counters(kernel, model, counters, sizeof(counters))) {
		snprintf(work->words, sizeof(work->words), "kernel %s differs: %s", release,
			 counters);
		return 0;
	}
	work->answer = KERNEL_AGREES;
	snprintf(work->words, sizeof(work->words), "kernel %s agrees in verdict and counters",
		 release);
	if (!level || !kernel->log)
		return 0;
	rc = compare_logs(work, kernel, level, &diff);
	if (rc || work->job.cancel)
		return rc;
	if (diff.line) {
		work->answer = KERNEL_DIFFERS;
		snprintf(work->words, sizeof(work->words),
			 "kernel %s differs in line %llu of its log: %.200s (model: %.200s)",
			 release, (unsigned long long)diff.line, diff.want, diff.got);
	} else {
		snprintf(work->words, sizeof(work->words),
			 "kernel %s agrees: verdict, counters, and every line of the log", release);
	}
	return 0;
}

static int run(struct job *job)
{
	struct ask_work *work = (struct ask_work *)job;
	bool logged = work->subject->result.counters.insn_processed <= MAX_LOGGED_STEPS;
	struct loupe_kernel_opts opts = { .size = sizeof(opts),
					  .log_level = logged ? LOUPE_LOG_LEVEL2 : 0,
					  .unprivileged = work->opts.unprivileged };
	struct loupe_kernel_result result = { 0 };
	struct loupe_error err = { 0 };
	int rc;

	if (work->subject->result.kernel_crashes) {
		work->answer = KERNEL_NO_ANSWER;
		snprintf(work->words, sizeof(work->words), "the kernel is not asked: %s",
			 work->subject->result.reason);
		return 0;
	}
	if (loupe_kernel_usable(&err) ||
	    loupe_kernel_verify(work->subject->image, &opts, &result, &err)) {
		work->answer = KERNEL_NO_ANSWER;
		snprintf(work->words, sizeof(work->words), "the kernel cannot be asked: %s",
			 err.message);
		return 0;
	}
	rc = judge(work, &result, opts.log_level);
	loupe_kernel_result_finish(&result);
	return rc;
}

static void done(struct job *job)
{
	struct ask_work *work = (struct ask_work *)job;

	if (job->rc || job->cancel) {
		work->answer = KERNEL_NOT_ASKED;
		snprintf(work->words, sizeof(work->words),
			 "the kernel's answer was not compared: %s",
			 job->cancel ? "stopped" : strerror(-job->rc));
	}
	work->subject->kernel = work->answer;
	work->done(work->data, work->words);
	free(work);
}

struct job *kernel_ask_job(struct subject *subject, const struct loupe_verify_opts *opts,
			   void (*on_done)(void *data, const char *words), void *data)
{
	static const struct job_ops ops = { .run = run, .done = done };
	struct ask_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	work->job.ops = &ops;
	work->subject = subject;
	work->opts = *opts;
	work->done = on_done;
	work->data = data;
	snprintf(work->job.what, sizeof(work->job.what), "Asking the kernel about %.80s",
		 subject_name(subject));
	subject->kernel = KERNEL_ASKED;
	return &work->job;
}
