// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of a live process. PTRACE_SECCOMP_GET_FILTER gives the classic program of each filter as
 * it was installed, while the process is stopped (ptrace(2)). It counts from the oldest on, other
 * than ptrace(2) has it.
 */
#include "bpfloupe/kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

/* How long a process may take to stop. */
enum { WAIT_MS = 2000 };

static long trace(int request, pid_t pid, uintptr_t addr, const void *data)
{
	long ret = ptrace(request, pid, (void *)addr, (void *)(uintptr_t)data);

	return ret < 0 ? -errno : ret;
}

/* Waits for the stop. @return 0 with the signal to deliver when it goes on, or a negative errno */
static int wait_for_stop(pid_t pid, int *signal)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		const struct timespec pause = { 0, 1000000 };
		int status;
		pid_t done = waitpid(pid, &status, WNOHANG | __WALL);

		if (done < 0)
			return -errno;
		if (done == pid && !WIFSTOPPED(status))
			return -ESRCH;
		if (done == pid) {
			/* our own stop is no signal; one that came before it still has to arrive */
			*signal = status >> 16 ? 0 : WSTOPSIG(status);
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static int explain(pid_t pid, int err, struct loupe_error *out)
{
	switch (err) {
	case -EPERM:
		return loupe_error_set(
			out, err, "process %d: not allowed to trace it: be root, in its container",
			pid);
	case -ESRCH:
		return loupe_error_set(out, err, "process %d: there is none", pid);
	case -EACCES:
		return loupe_error_set(
			out, err,
			"process %d: reading its filters needs CAP_SYS_ADMIN, and no seccomp "
			"filter on the reader itself",
			pid);
	case -EINVAL:
		return loupe_error_set(out, err, "process %d has no seccomp filter", pid);
	case -EMEDIUMTYPE:
		return loupe_error_set(out, err,
				       "process %d: the kernel kept no classic program of a filter",
				       pid);
	case -EIO:
		return loupe_error_set(
			out, err,
			"process %d: this kernel gives no filters out (CONFIG_CHECKPOINT_RESTORE)",
			pid);
	case -ETIMEDOUT:
		return loupe_error_set(out, err, "process %d does not stop", pid);
	default:
		return loupe_error_set(out, err, "process %d: %s", pid, strerror(-err));
	}
}

/* Filter n, counted from the oldest, of a stopped process; -ENOENT behind the last one. */
static int read_filter(pid_t pid, uint32_t n, struct loupe_filter **out, struct loupe_error *err)
{
	/* Room for the longest: another thread may push a filter while this one is stopped. */
	struct loupe_cbpf_insn *insns = calloc(LOUPE_FILTER_MAX_INSNS, sizeof(*insns));
	char name[64];
	long cnt;
	int rc;

	if (!insns)
		return explain(pid, -ENOMEM, err);
	cnt = trace(PTRACE_SECCOMP_GET_FILTER, pid, n, insns);
	snprintf(name, sizeof(name), "pid %d", pid);
	if (cnt == -ENOENT)
		rc = -ENOENT;
	else if (cnt < 0)
		rc = explain(pid, (int)cnt, err);
	else
		rc = loupe_filter_create(name, insns, (uint32_t)cnt, LOUPE_FILTER_SECCOMP, out,
					 err);
	free(insns);
	return rc;
}

static int read_all(pid_t pid, struct loupe_seccomp_stack *out, struct loupe_error *err)
{
	for (;;) {
		struct loupe_filter **grown, *filter;
		int rc = read_filter(pid, out->cnt, &filter, err);

		if (rc)
			return rc == -ENOENT ? 0 : rc;
		grown = realloc(out->filters, (out->cnt + 1) * sizeof(*grown));
		if (!grown) {
			loupe_filter_destroy(filter);
			return explain(pid, -ENOMEM, err);
		}
		out->filters = grown;
		out->filters[out->cnt++] = filter;
	}
}

static int newest_first(pid_t pid, struct loupe_seccomp_stack *stack, struct loupe_error *err)
{
	for (uint32_t i = 0; i < stack->cnt / 2; i++) {
		struct loupe_filter *filter = stack->filters[i];

		stack->filters[i] = stack->filters[stack->cnt - 1 - i];
		stack->filters[stack->cnt - 1 - i] = filter;
	}
	for (uint32_t i = 0; i < stack->cnt; i++) {
		char name[64];

		snprintf(name, sizeof(name), "pid %d filter %u", pid, i);
		free(stack->filters[i]->name);
		stack->filters[i]->name = strdup(name);
		if (!stack->filters[i]->name)
			return explain(pid, -ENOMEM, err);
	}
	return 0;
}

int loupe_seccomp_stack_read(int32_t pid, struct loupe_seccomp_stack *out, struct loupe_error *err)
{
	int rc, signal = 0;

	*out = (struct loupe_seccomp_stack){ 0 };
	rc = (int)trace(PTRACE_SEIZE, pid, 0, NULL);
	if (rc)
		return explain(pid, rc, err);
	rc = (int)trace(PTRACE_INTERRUPT, pid, 0, NULL);
	if (!rc)
		rc = wait_for_stop(pid, &signal);
	if (rc)
		return explain(pid, rc, err);
	rc = read_all(pid, out, err);
	if (!rc)
		rc = newest_first(pid, out, err);
	trace(PTRACE_DETACH, pid, 0, (void *)(uintptr_t)signal);
	if (rc)
		loupe_seccomp_stack_finish(out);
	return rc;
}

void loupe_seccomp_stack_finish(struct loupe_seccomp_stack *stack)
{
	for (uint32_t i = 0; i < stack->cnt; i++)
		loupe_filter_destroy(stack->filters[i]);
	free(stack->filters);
	*stack = (struct loupe_seccomp_stack){ 0 };
}

/* Lower ones win, as signed numbers: KILL_PROCESS is the lowest. */
static int32_t rank_of(uint32_t result)
{
	return (int32_t)(result & 0xffff0000u);
}

uint32_t loupe_seccomp_stack_answer(const uint32_t *results, uint32_t cnt, uint32_t *which)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < cnt; i++) {
		if (rank_of(results[i]) < rank_of(results[best]))
			best = i;
	}
	if (which)
		*which = best;
	return results[best];
}
