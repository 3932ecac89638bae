/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel that libbpf talks to: bpf(2) answered from memory, as a kernel that has every feature
 * libbpf probes for (as the 6.18 profile has). Maps and BTF are memory files. The one program load
 * that matters is recognised by its log buffer and kept as an image.
 */
#ifndef HELPER_KERNEL_H
#define HELPER_KERNEL_H

#include "bpfloupe/image.h"

/* Forgets maps and BTF of the object before, and waits for the load whose log buffer is log. */
void kernel_begin(const char *log);

/*
 * The load that came, its maps numbered from 3 in the order of their creation; NULL if none came.
 * The caller destroys it. *error is 0, or -errno when a load came but could not be kept.
 */
struct loupe_image *kernel_take(int *error);

/*
 * A program descriptor that libbpf accepts as attach target: its BTF has one function, named
 * KERNEL_TARGET_FUNC. A load with it is kept as one whose attach target is unset. -errno on
 * failure.
 */
int kernel_target_fd(void);

#define KERNEL_TARGET_FUNC "unset"

#endif
