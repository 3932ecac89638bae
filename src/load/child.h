/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the loader process on one object. */
#ifndef LOAD_CHILD_H
#define LOAD_CHILD_H

#include "load/wire.h"

#include "bpfloupe/load.h"

/* Monotonic time in milliseconds. */
int64_t child_now_ms(void);

/*
 * Has the loader at path do request and appends its programs to out (names and images; file and
 * object are the caller's to add). deadline is in child_now_ms() time.
 * Returns 0, or -errno with err filled and out as it was.
 */
int child_load(const char *path, const struct wire_request *request, int64_t deadline,
	       struct loupe_program_list *out, struct loupe_error *err);

/* Makes room for one more program behind the last. Returns 0 or -ENOMEM. */
int child_reserve(struct loupe_program_list *list);

#endif
