/* SPDX-License-Identifier: GPL-2.0-only */
/* Text in a man page's source. */
#ifndef BPFLOUPE_UI_ROFF_H
#define BPFLOUPE_UI_ROFF_H

#include <stdio.h>

/** Writes text so that roff shows it as it is, at the start of a line or within one. */
void roff_put(FILE *out, const char *text);

#endif
