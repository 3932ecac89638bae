/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types of a load, and the attach targets that assembler text names. */
#ifndef LOAD_TARGET_H
#define LOAD_TARGET_H

#include "bpfloupe/image.h"

/* Gives all images of the list the kernel's types: those of the file that libbpf used, else of the
 * chosen one (NULL: the host's, "none": no types). 0 or -ENOMEM. */
int target_give_types(struct loupe_program_list *list, const char *chosen);

/* Looks up the target that an image without a number for it names; it stays unset if there is no
 * such. 0 or -ENOMEM. */
int target_resolve(struct loupe_image *image, const char *chosen);

#endif
