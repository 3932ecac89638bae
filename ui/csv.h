/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for other programs to read, by RFC 4180. */
#ifndef BPFLOUPE_UI_CSV_H
#define BPFLOUPE_UI_CSV_H

#include <stdio.h>

/** Writes a field, in quotes where it needs them. */
void csv_field(FILE *out, const char *text);

#endif
