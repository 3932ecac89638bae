/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel would not take, where it makes a difference to the image. */
#ifndef HELPER_CHECK_H
#define HELPER_CHECK_H

#include "bpfloupe/image.h"

/*
 * Does the kernel take this BTF? Only what compilers are known to write is checked: a function with
 * a parameter that has no name (a naked function). libbpf goes on without BTF then, as this image
 * must. BTF that cannot be read is left to whoever reads it next.
 */
bool check_btf(const void *data, uint32_t size);

/*
 * Does the kernel create the image's maps? Sizes, entries and the one flag that some types need, by
 * type. A tool often sets them just before it loads, so a program with other maps has an image, and
 * this reason: it names the first such map. reason becomes "" if there is none.
 */
void check_maps(const struct loupe_image *image, char *reason, size_t size);

#endif
