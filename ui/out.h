/* SPDX-License-Identifier: GPL-2.0-only */
/* The program's standard output: safe on a terminal, and not silently lost elsewhere. */
#ifndef BPFLOUPE_UI_OUT_H
#define BPFLOUPE_UI_OUT_H

#include "args.h"

/** Makes sure that files opened later do not get the numbers of closed standard streams. */
void out_reserve(void);

/**
 * Puts a filter before stdout if it is a terminal: names and source lines come from files, and a
 * terminal obeys control characters. Elsewhere output stays byte for byte.
 */
void out_guard(void);

/**
 * Writes what is left.
 * @param status  what the program would exit with
 * @return status, or 2 after one line on stderr if not everything was written
 */
int out_finish(int status);

#endif
