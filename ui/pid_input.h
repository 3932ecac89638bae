/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters of a live process as files: "pid:N" has all of them, "pid:N:K" is one, 0 the newest. */
#ifndef BPFLOUPE_UI_PID_INPUT_H
#define BPFLOUPE_UI_PID_INPUT_H

#include "args.h"
#include "bpfloupe/kernel.h"

/** Whether a path names a process. */
bool pid_input_is(const char *path);

/**
 * Reads the one filter that a path names.
 * @return 0; -EINVAL when the process has several and the path names none; others as
 *         loupe_seccomp_stack_read()
 */
int pid_input_filter(const char *path, struct loupe_filter **out, struct loupe_error *err);

/** Reads all that a path names. */
int pid_input_stack(const char *path, struct loupe_seccomp_stack *out, struct loupe_error *err);

/**
 * Puts the process that --pid names in front of the files; with each, every filter by itself.
 * @return 0, or 2 after one line on stderr
 */
int pid_input_expand(struct args *args, bool each);

#endif
