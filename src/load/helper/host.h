/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What libbpf sees of the machine: its opens of the kernel's BTF, configuration, symbols and CPUs,
 * and its uname(), are answered from the choices of the request, and what was used is noted.
 */
#ifndef HELPER_HOST_H
#define HELPER_HOST_H

#include "bpfloupe/image.h"
#include "load/wire.h"

/* request must live as long as the process. */
void host_setup(const struct wire_request *request);

/* Forgets what was used so far: another program loads. */
void host_begin(void);

/*
 * Shows libbpf these types as the kernel's BTF, which host_describe() then does not name; NULL ends
 * it. Returns 0 or -errno.
 */
int host_show_types(const void *btf, uint32_t size);

/* Fills host (strings allocated) with what was used since host_begin(). Returns 0 or -ENOMEM. */
int host_describe(struct loupe_host *host);

#endif
