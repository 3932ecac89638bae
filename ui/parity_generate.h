/* SPDX-License-Identifier: GPL-2.0-only */
/* Model against running kernel, over random programs. */
#ifndef BPFLOUPE_UI_PARITY_GENERATE_H
#define BPFLOUPE_UI_PARITY_GENERATE_H

#include "args.h"

/**
 * Compares args->generate programs from seed args->seed on and writes what they were like and what
 * differed; each difference is shrunk and saved.
 * @return the exit status
 */
int parity_generate(const struct args *args);

#endif
