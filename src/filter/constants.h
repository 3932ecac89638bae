/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOUPE_FILTER_CONSTANTS_H
#define LOUPE_FILTER_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

/** Looks up a C constant: opcodes, SECCOMP_RET_*, AUDIT_ARCH_*, errno values, SKF_*. */
bool filter_constant(const char *name, uint32_t *value);

#endif
