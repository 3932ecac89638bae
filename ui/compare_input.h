/* SPDX-License-Identifier: GPL-2.0-only */
/* What --compare names. */
#ifndef BPFLOUPE_UI_COMPARE_INPUT_H
#define BPFLOUPE_UI_COMPARE_INPUT_H

#include "bpfloupe/verify.h"
#include "compare.h"
#include "input.h"

/** What rules differ from the kernel's, "evict off, no pruning"; "" if none. */
void compare_rules(const struct loupe_verify_opts *rules, char *buf, size_t size);

/**
 * Opens the two programs: two files, each FILE or FILE:PROGRAM, or one file twice, which is then
 * verified by the kernel's rules and by others.
 * @return 0, or 2 after one line on stderr
 */
int compare_open(const char *const *files, uint32_t cnt, const struct loupe_load_opts *load,
		 const struct loupe_verify_opts *rules, struct input out[COMPARE_SIDES]);

#endif
