// SPDX-License-Identifier: GPL-2.0-only
/* Knobs as words, and running with them. */
#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- knobs -------------------------------------------------------------------------------- */

static int set_evict(struct loupe_verify_opts *opts, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (!strcmp(value, "off")) {
		opts->evict_n = LOUPE_EVICT_OFF;
		return 0;
	}
	if (end == value || *end || n < 0 || n > 1000000)
		return -EINVAL;
	opts->evict_n = (int)n;
	return 0;
}

static int set_switch(bool *on, const char *value, const char *yes, const char *no)
{
	if (strcmp(value, yes) != 0 && strcmp(value, no) != 0)
		return -EINVAL;
	*on = !strcmp(value, yes);
	return 0;
}

static int set_pruning(struct loupe_verify_opts *opts, const char *value)
{
	return set_switch(&opts->no_pruning, value, "off", "on");
}

static int set_checkpoints(struct loupe_verify_opts *opts, const char *value)
{
	return set_switch(&opts->checkpoint_always, value, "always", "kernel");
}

static int set_states(struct loupe_verify_opts *opts, const char *value)
{
	return set_switch(&opts->no_cleaning, value, "kept", "cleaned");
}

static int set_keep(struct loupe_verify_opts *opts, const char *value)
{
	char *end;
	unsigned long n = strtoul(value + (*value == '#'), &end, 10);

	if (end == value + (*value == '#') || *end || !n || n > UINT32_MAX || strchr(value, '-'))
		return -EINVAL;
	opts->keep = (uint32_t)n;
	return 0;
}

static int set_allocator(struct loupe_verify_opts *opts, const char *value)
{
	return set_switch(&opts->general_allocator, value, "general", "slabs");
}

static int set_privileged(struct loupe_verify_opts *opts, const char *value)
{
	return set_switch(&opts->unprivileged, value, "no", "yes");
}

static int set_limit(struct loupe_verify_opts *opts, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (end == value || *end || !n || n > UINT32_MAX || *value == '-')
		return -EINVAL;
	opts->insn_limit = (uint32_t)n;
	return 0;
}

static const struct {
	const char *name, *values;
	int (*set)(struct loupe_verify_opts *opts, const char *value);
} knobs[] = {
	{ "evict", "off or N", set_evict },
	{ "pruning", "on or off", set_pruning },
	{ "checkpoints", "kernel or always", set_checkpoints },
	{ "states", "cleaned or kept", set_states },
	{ "keep", "a checkpoint's number", set_keep },
	{ "allocator", "slabs or general", set_allocator },
	{ "privileged", "yes or no", set_privileged },
	{ "insn-limit", "a number above 0", set_limit },
};

enum { KNOBS = sizeof(knobs) / sizeof(knobs[0]) };

static void tell(char *why, size_t size, const char *text, const char *word)
{
	if (why)
		snprintf(why, size, text, word);
}

static int change_opts(struct loupe_verify_opts *opts, const char *knob, const char *value,
		       char *why, size_t size)
{
	for (size_t i = 0; i < KNOBS; i++) {
		if (strcmp(knobs[i].name, knob) != 0)
			continue;
		if (knobs[i].set(opts, value) == 0)
			return 0;
		if (why)
			snprintf(why, size, "%s takes %s, not '%s'", knob, knobs[i].values, value);
		return -EINVAL;
	}
	tell(why, size,
	     "no knob '%s': evict, pruning, checkpoints, states, keep, allocator, privileged or "
	     "insn-limit",
	     knob);
	return -EINVAL;
}

/* ---- runs --------------------------------------------------------------------------------- */

void lab_finish(struct lab *lab)
{
	free(lab->runs);
	*lab = (struct lab){ 0 };
}

int lab_add(struct lab *lab, const struct loupe_verify_opts *base, const char *change, char *why,
	    size_t size)
{
	struct lab_run run = { .opts = *base };
	const char *equals = change ? strchr(change, '=') : NULL;
	char knob[LAB_NAME];

	run.opts.listener_cnt = 0;
	snprintf(run.name, sizeof(run.name), "%s", change ? change : "as given");
	if (change && !equals) {
		tell(why, size, "a change is written KNOB=VALUE, as evict=off, not '%s'", change);
		return -EINVAL;
	}
	if (change) {
		snprintf(knob, sizeof(knob), "%.*s", (int)(equals - change), change);
		if (change_opts(&run.opts, knob, equals + 1, why, size))
			return -EINVAL;
	}
	if (lab->cnt == lab->cap) {
		uint32_t cap = lab->cap ? lab->cap * 2 : 16;
		struct lab_run *runs = realloc(lab->runs, cap * sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		lab->runs = runs;
		lab->cap = cap;
	}
	lab->runs[lab->cnt++] = run;
	return 0;
}

int lab_sweep(struct lab *lab, const struct loupe_verify_opts *base, const char *sweep, char *why,
	      size_t size)
{
	const char *equals = strchr(sweep, '='), *value;
	char change[LAB_NAME];
	int rc = 0;

	if (!equals) {
		tell(why, size, "a sweep is written KNOB=VALUE,VALUE…, as evict=off,1,3, not '%s'",
		     sweep);
		return -EINVAL;
	}
	for (value = equals + 1; !rc; value += strcspn(value, ",") + 1) {
		size_t head = (size_t)(equals - sweep) + 1, len = strcspn(value, ",");

		if (head + len >= sizeof(change)) {
			tell(why, size, "a value in '%s' is too long", sweep);
			return -EINVAL;
		}
		memcpy(change, sweep, head);
		memcpy(change + head, value, len);
		change[head + len] = '\0';
		rc = lab_add(lab, base, change, why, size);
		if (!value[strcspn(value, ",")])
			break;
	}
	return rc;
}

/* Of this thread: what others do on the machine is no part of a comparison. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int lab_do(struct lab_run *run, const struct loupe_image *image, uint32_t times)
{
	struct loupe_verify_result result;
	uint64_t ns;
	int rc;

	for (uint32_t i = 0; i < times; i++) {
		ns = now_ns();
		rc = loupe_verify(image, &run->opts, &result);
		ns = now_ns() - ns;
		if (rc)
			return rc;
		if (!i || ns < run->ns)
			run->ns = ns;
		run->verdict = result.verdict;
		run->err = result.err;
		run->counters = result.counters;
		loupe_verify_result_finish(&result);
		if (run->verdict == LOUPE_STOPPED)
			break;
	}
	run->done = run->verdict != LOUPE_STOPPED;
	return 0;
}

const char *lab_verdict(const struct lab_run *run)
{
	static const char *const words[] = {
		[LOUPE_ACCEPTED] = "success",
		[LOUPE_REJECTED] = "failure",
		[LOUPE_NOT_JUDGED] = "unsupported",
		[LOUPE_STOPPED] = "stopped",
	};

	return words[run->verdict];
}

/* ---- columns ------------------------------------------------------------------------------ */

static uint64_t of_time(const struct lab_run *run)
{
	return run->ns / 1000;
}

static uint64_t of_insns(const struct lab_run *run)
{
	return run->counters.insn_processed;
}

static uint64_t of_states(const struct lab_run *run)
{
	return run->counters.total_states;
}

static uint64_t of_peak(const struct lab_run *run)
{
	return run->counters.peak_states;
}

static uint64_t of_per_insn(const struct lab_run *run)
{
	return run->counters.max_states_per_insn;
}

static uint64_t of_hits(const struct lab_run *run)
{
	return run->counters.compare_hits;
}

static uint64_t of_misses(const struct lab_run *run)
{
	return run->counters.compare_misses;
}

static uint64_t of_uncounted(const struct lab_run *run)
{
	return run->counters.compare_uncounted;
}

static uint64_t of_evictions(const struct lab_run *run)
{
	return run->counters.evictions;
}

static uint64_t of_converged(const struct lab_run *run)
{
	return run->counters.loop_converged;
}

static const struct lab_column columns[] = {
	{ "duration", "µs", of_time },
	{ "total_insns", "insns", of_insns },
	{ "total_states", "states", of_states },
	{ "peak_states", "peak", of_peak },
	{ "max_states_per_insn", "per insn", of_per_insn },
	{ "evictions", "evicted", of_evictions },
	{ "hits", "hits", of_hits },
	{ "misses", "misses", of_misses },
	{ "uncounted", "uncounted", of_uncounted },
	{ "converged", "converged", of_converged },
};

const struct lab_column *lab_column(size_t i)
{
	return i < sizeof(columns) / sizeof(columns[0]) ? &columns[i] : NULL;
}
