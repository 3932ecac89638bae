// SPDX-License-Identifier: GPL-2.0-only
/* What an eviction cost: the program verified again with that one checkpoint never given up. */
#include "prune.h"

#include <errno.h>
#include <stdlib.h>

/* The run that is going on. */
struct keep_job {
	struct job job;
	struct prune_view *prune;
	const struct loupe_image *image;
	struct loupe_verify_opts opts;
	struct prune_kept kept;
	/* while it runs */
	uint32_t step, evicted;
};

/* ---- listening ---------------------------------------------------------------------------- */

static void on_arrive(void *ctx, const struct loupe_step *step)
{
	(void)step;
	((struct keep_job *)ctx)->step++;
}

static void on_compare(void *ctx, const struct loupe_compare *cmp)
{
	struct keep_job *job = ctx;
	struct prune_kept *kept = &job->kept;
	bool hit;

	if (cmp->old->serial != kept->serial || job->step - 1 <= job->evicted)
		return;
	words_outcome(cmp->outcome, &hit);
	if (cmp->mode != LOUPE_CMP_SKIPPED || hit)
		kept->compares++;
	if (hit && !kept->hits++)
		kept->first_hit = job->step - 1;
}

static void progress(void *ctx, uint32_t insn_processed)
{
	struct keep_job *job = ctx;

	atomic_store(&job->job.progress, insn_processed);
}

/* ---- the job ------------------------------------------------------------------------------ */

static int run(struct job *base)
{
	static const struct loupe_hooks hooks = { .arrive = on_arrive, .compare = on_compare };
	struct keep_job *job = (struct keep_job *)base;
	struct loupe_verify_result result;
	int rc;

	job->opts.cancel = &base->cancel;
	job->opts.progress = progress;
	job->opts.progress_ctx = job;
	job->opts.listeners[0] = (struct loupe_listener){ &hooks, job };
	job->opts.listener_cnt = 1;
	rc = loupe_verify(job->image, &job->opts, &result);
	if (rc)
		return rc;
	job->kept.verdict = result.verdict;
	job->kept.insns = result.counters.insn_processed;
	job->kept.states = result.counters.total_states;
	loupe_verify_result_finish(&result);
	return base->cancel ? -ECANCELED : 0;
}

static void done(struct job *base)
{
	struct keep_job *job = (struct keep_job *)base;
	struct prune_view *prune = job->prune;

	prune->keeping = NULL;
	if (base->rc == 0)
		prune->kept[job->kept.serial % PRUNE_CACHED] = job->kept;
	else
		tui_say(prune->view.tui, UI_NOTICE,
			base->rc == -ECANCELED ? "stopped" : "out of memory");
	free(job);
}

const struct prune_kept *prune_kept_of(const struct prune_view *prune, uint32_t serial)
{
	const struct prune_kept *kept = &prune->kept[serial % PRUNE_CACHED];

	return kept->serial == serial ? kept : NULL;
}

void prune_keep(struct prune_view *prune, const struct prune_event *event)
{
	static const struct job_ops ops = { .run = run, .done = done };
	struct keep_job *job;

	if (prune->keeping)
		jobs_cancel(tui_jobs(prune->view.tui), prune->keeping);
	if (!prune->view.subject->image) {
		tui_say(prune->view.tui, UI_NOTICE,
			"only a program can be verified again, not a log");
		return;
	}
	job = calloc(1, sizeof(*job));
	if (!job) {
		tui_say(prune->view.tui, UI_ERROR, "out of memory");
		return;
	}
	job->job.ops = &ops;
	job->prune = prune;
	job->image = prune->view.subject->image;
	job->opts = *tui_verify_opts(prune->view.tui);
	job->opts.keep = event->serial;
	job->kept.serial = event->serial;
	job->kept.first_hit = LOUPE_NO_STEP;
	job->evicted = event->step;
	snprintf(job->job.what, sizeof(job->job.what), "Verifying with #%u kept", event->serial);
	job->job.unit = "instructions processed";
	job->job.total = job->opts.insn_limit;
	prune->keeping = &job->job;
	jobs_add(tui_jobs(prune->view.tui), &job->job);
}

void prune_keep_stop(struct prune_view *prune)
{
	if (prune->keeping)
		jobs_cancel(tui_jobs(prune->view.tui), prune->keeping);
}

/* ---- words -------------------------------------------------------------------------------- */

static const char *verdict_word(enum loupe_verdict verdict)
{
	static const char *const words[] = {
		[LOUPE_ACCEPTED] = "accepted",
		[LOUPE_REJECTED] = "rejected",
		[LOUPE_NOT_JUDGED] = "not judged",
		[LOUPE_STOPPED] = "stopped",
	};

	return words[verdict];
}

void prune_keep_words(const struct prune_view *prune, const struct prune_event *event, char *buf,
		      size_t size)
{
	const struct loupe_verify_result *was = &prune->view.subject->result;
	const struct prune_kept *kept = prune_kept_of(prune, event->serial);
	char hits[NUMBER_TEXT], step[NUMBER_TEXT], insns[NUMBER_TEXT], before[NUMBER_TEXT],
		compares[NUMBER_TEXT];
	size_t len;

	if (prune->keeping) {
		snprintf(buf, size, "Verifying again with it kept …");
		return;
	}
	if (!kept) {
		snprintf(
			buf, size,
			"Enter: would it have pruned something later? Verifies again with it kept.");
		return;
	}
	number_text(compares, kept->compares);
	if (kept->hits)
		len = (size_t)snprintf(
			buf, size,
			"Kept, it would have pruned %s path%s in %s more comparison%s, the first at "
			"step %s",
			number_text(hits, kept->hits), kept->hits == 1 ? "" : "s", compares,
			kept->compares == 1 ? "" : "s", number_text(step, kept->first_hit));
	else
		len = (size_t)snprintf(
			buf, size, "Kept, it would have pruned nothing, in %s more comparison%s",
			compares, kept->compares == 1 ? "" : "s");
	if (len < size && kept->insns == was->counters.insn_processed)
		len += (size_t)snprintf(buf + len, size - len,
					"; the program takes the same %s instructions",
					number_text(insns, kept->insns));
	else if (len < size)
		len += (size_t)snprintf(buf + len, size - len,
					": the program takes %s instructions, not %s",
					number_text(insns, kept->insns),
					number_text(before, was->counters.insn_processed));
	if (len < size && kept->verdict != was->verdict)
		len += (size_t)snprintf(buf + len, size - len, ", and is %s",
					verdict_word(kept->verdict));
	if (len < size)
		snprintf(buf + len, size - len, ".");
}
