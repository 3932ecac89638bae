/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types behind an image: see bpfloupe/image.h. */
#ifndef BTF_KERNEL_TYPES_H
#define BTF_KERNEL_TYPES_H

#include "bpfloupe/image.h"
#include "btf/btf.h"

/**
 * The view of them, opened at the first call; from any thread.
 * @param types  NULL: there are none
 * @return NULL if there are none or they cannot be read
 */
const struct btf *kernel_types_btf(struct loupe_kernel_types *types);

#endif
