// SPDX-License-Identifier: GPL-2.0-only
#include "parity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "bpfloupe/log.h"

const uint32_t parity_levels[PARITY_LEVELS] = { LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS,
						LOUPE_LOG_LEVEL1 };

bool parity_differs(const struct parity *parity)
{
	bool differs = parity->verdict == PARITY_DIFFERS || parity->err == PARITY_DIFFERS ||
		       parity->counters == PARITY_DIFFERS;

	for (int i = 0; i < PARITY_LEVELS; i++)
		differs = differs || parity->logs[i] == PARITY_DIFFERS;
	return differs;
}

static enum parity_same same_if(bool same)
{
	return same ? PARITY_SAME : PARITY_DIFFERS;
}

static bool same_counters(const struct loupe_counters *a, const struct loupe_counters *b)
{
	return a->insn_processed == b->insn_processed && a->total_states == b->total_states &&
	       a->peak_states == b->peak_states && a->max_states_per_insn == b->max_states_per_insn;
}

/* The model's verdict without listeners. */
static int ask_model(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
		     struct parity *out)
{
	struct loupe_verify_result result;
	int err = loupe_verify(image, knobs, &result);

	if (err)
		return err;
	out->model = result.verdict;
	out->model_err = result.err;
	out->model_counters = result.counters;
	if (result.verdict == LOUPE_NOT_JUDGED || result.verdict == LOUPE_STOPPED)
		snprintf(out->reason, sizeof(out->reason), "%s", result.reason);
	out->kernel_crashes = result.kernel_crashes;
	loupe_verify_result_finish(&result);
	return 0;
}

static int compare_log(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
		       uint32_t level, const struct loupe_kernel_result *kernel,
		       struct loupe_log_difference *diff)
{
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = level,
		.sink = loupe_log_compare_feed,
		.unprivileged = knobs->unprivileged,
	};
	struct loupe_verify_opts opts = *knobs;
	struct loupe_verify_result result;
	struct loupe_log_compare *compare;
	struct loupe_log *log = NULL;
	int err = -ENOMEM;

	compare = loupe_log_compare_create(kernel->log, kernel->log_len);
	log_opts.sink_ctx = compare;
	if (compare && !loupe_log_create(image, &log_opts, &log)) {
		opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
		err = loupe_verify(image, &opts, &result);
		if (!err) {
			err = loupe_log_finish(log);
			loupe_verify_result_finish(&result);
		}
	}
	if (!err)
		loupe_log_compare_end(compare, diff);
	loupe_log_destroy(log);
	loupe_log_compare_destroy(compare);
	return err;
}

static int compare_level(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
			 int which, struct parity *out)
{
	struct loupe_kernel_opts opts = {
		.size = sizeof(opts),
		.log_level = parity_levels[which],
		.unprivileged = knobs->unprivileged,
	};
	struct loupe_kernel_result kernel;
	struct loupe_error err;
	bool judged;
	int ret = 0;

	if (loupe_kernel_verify(image, &opts, &kernel, &err)) {
		if (!out->reason[0])
			snprintf(out->reason, sizeof(out->reason), "%s", err.message);
		return 0;
	}
	out->kernel_judged = true;
	out->kernel_err = kernel.err;
	out->kernel_counters = kernel.counters;
	judged = out->model == LOUPE_ACCEPTED || out->model == LOUPE_REJECTED;
	if (judged) {
		out->verdict = same_if((out->model == LOUPE_ACCEPTED) == kernel.accepted);
		out->err = same_if(out->model_err == kernel.err);
		/* A load that ends before verification has none. */
		if (kernel.has_counters)
			out->counters =
				same_if(same_counters(&out->model_counters, &kernel.counters));
		/* A log that outgrows the largest buffer is no log of the whole. */
		if (kernel.log_err == kernel.err)
			ret = compare_log(image, knobs, parity_levels[which], &kernel,
					  &out->diffs[which]);
		if (!ret && kernel.log_err == kernel.err)
			out->logs[which] = same_if(!out->diffs[which].line);
	}
	loupe_kernel_result_finish(&kernel);
	return ret;
}

int parity_compare(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
		   struct parity *out)
{
	int err;

	*out = (struct parity){ 0 };
	err = ask_model(image, knobs, out);
	for (int i = 0; !err && i < PARITY_LEVELS && !out->kernel_crashes; i++)
		err = compare_level(image, knobs, i, out);
	out->done = !err;
	return err;
}

static void take_numbers(uint64_t *next, uint64_t cnt, void (*work)(void *ctx, uint64_t i),
			 void *ctx)
{
	for (;;) {
		uint64_t i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);

		if (i >= cnt)
			return;
		work(ctx, i);
	}
}

int parity_share_out(uint64_t *next, uint64_t cnt, uint32_t processes,
		     void (*work)(void *ctx, uint64_t i), void *ctx)
{
	uint32_t running = 0;

	fflush(NULL);
	while (running || __atomic_load_n(next, __ATOMIC_RELAXED) < cnt) {
		while (running < processes && __atomic_load_n(next, __ATOMIC_RELAXED) < cnt) {
			pid_t pid = fork();

			if (pid < 0)
				return complain_text("cannot start a process: %s", strerror(errno));
			if (!pid) {
				take_numbers(next, cnt, work, ctx);
				fflush(stdout);
				_exit(0);
			}
			running++;
		}
		if (waitpid(-1, NULL, 0) > 0)
			running--;
		else if (errno != EINTR)
			break;
	}
	return 0;
}
