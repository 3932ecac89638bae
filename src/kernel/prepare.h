/* SPDX-License-Identifier: GPL-2.0-only */
/* What must exist in the kernel before an image's program can be loaded. */
#ifndef KERNEL_PREPARE_H
#define KERNEL_PREPARE_H

#include "bpfloupe/image.h"

/* File descriptors of this process, and the instructions that name them. */
struct kernel_prepared {
	const struct loupe_image *image;
	int btf_fd;	 /* -1: none */
	int *map_fds;	 /* per map of the image, -1: not created */
	struct loupe_insn *insns;
	int32_t *fd_array; /* NULL: none */
};

/**
 * Loads the image's BTF.
 * @return the file descriptor, -1 if the image has none, or a negative errno below -1 with err set
 */
int kernel_prepare_btf(const struct loupe_image *image, struct loupe_error *err);

/**
 * Creates maps, fills and freezes them, and names them in a copy of the instructions.
 * @param btf_fd  of kernel_prepare_btf(), not closed by kernel_prepared_finish()
 * @return 0, or a negative errno with err set; finish prep in either case
 */
int kernel_prepare(const struct loupe_image *image, int btf_fd, struct kernel_prepared *prep,
		   struct loupe_error *err);

/** Closes and frees it all. */
void kernel_prepared_finish(struct kernel_prepared *prep);

#endif
