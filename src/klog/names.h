/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of maps and BTF types for the text of registers. */
#ifndef KLOG_NAMES_H
#define KLOG_NAMES_H

#include "bpfloupe/log.h"

/* What the log shows of a map. */
struct map_text {
	const char *name; /* "" if it has none */
	uint32_t key_size, value_size;
};

/* The map that loupe_reg_map() stands for; all zero if there is none. */
struct map_text names_map(const struct loupe_names *names, uint32_t idx);

/* Name of a type in the kernel's BTF (which 0) or the program's (1); "?" if it cannot be had. */
const char *names_type(struct loupe_names *names, uint32_t which, uint32_t id);

#endif
