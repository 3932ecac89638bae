/* SPDX-License-Identifier: GPL-2.0-only */
/* What the loader process sends. A library that hung up ends the process. */
#ifndef HELPER_REPLY_H
#define HELPER_REPLY_H

#include "bpfloupe/image.h"
#include "load/wire.h"

/* Sends a program and destroys its image. */
void reply_program(const char *name, const char *section, const char *reason,
		   struct loupe_image *image);

/* Refuses the whole object with a negative errno, and ends the process. */
void reply_error(int code, const char *fmt, ...) LOUPE_PRINTF(2, 3) __attribute__((noreturn));

/* No more programs; ends the process. */
void reply_end(void) __attribute__((noreturn));

/* Does this request want the program? By name or by section. */
bool reply_wanted(const struct wire_request *request, const char *name, const char *section);

#endif
