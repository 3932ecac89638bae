/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking the running kernel about a subject, when the user wants a second opinion. */
#ifndef BPFLOUPE_UI_KERNEL_ASK_H
#define BPFLOUPE_UI_KERNEL_ASK_H

#include "subject.h"

/**
 * A job that loads a verified program into the running kernel and compares what it says with the
 * model: verdict, errno, counters, and the log where that is not too long. Nothing stays loaded.
 * subject->kernel is set when it is done.
 * @param opts  knobs that the model ran with
 * @param done  called in the UI's thread, with what to tell the user
 * @return NULL when out of memory; it frees itself
 */
struct job *kernel_ask_job(struct subject *subject, const struct loupe_verify_opts *opts,
			   void (*done)(void *data, const char *words), void *data);

#endif
