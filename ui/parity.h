/* SPDX-License-Identifier: GPL-2.0-only */
/* Model against running kernel, for one program. */
#ifndef BPFLOUPE_UI_PARITY_H
#define BPFLOUPE_UI_PARITY_H

#include "bpfloupe/kernel.h"
#include "bpfloupe/verify.h"

/* How one thing compares. */
enum parity_same {
	PARITY_UNKNOWN, /* one side does not have it */
	PARITY_SAME,
	PARITY_DIFFERS,
};

enum { PARITY_LEVELS = 2 };
extern const uint32_t parity_levels[PARITY_LEVELS];

/* What model and kernel said of one program. No pointers: it lies in memory shared by processes. */
struct parity {
	bool done;	       /* false: the process that compared it died */
	bool kernel_judged;
	bool kernel_crashes; /* so the model says: it was not asked */
	enum loupe_verdict model; /* LOUPE_ACCEPTED ... */
	int model_err, kernel_err; /* negative errno, 0: accepted */
	struct loupe_counters model_counters, kernel_counters;
	enum parity_same verdict, err, counters, logs[PARITY_LEVELS];
	struct loupe_log_difference diffs[PARITY_LEVELS];
	char reason[512];      /* why one of them did not judge */
};

/** Does anything differ? */
bool parity_differs(const struct parity *parity);

/**
 * Asks both.
 * @param knobs  of the model; of the kernel only unprivileged
 * @return 0 or -ENOMEM
 */
int parity_compare(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
		   struct parity *out);

/**
 * Shares numbers from 0 on out to processes, so that what one breaks is only its own part.
 * @param next    lies in memory that the processes share, 0 at first
 * @param work    does number i; its results go to shared memory too
 * @return 0, or 2 after one line on stderr
 */
int parity_share_out(uint64_t *next, uint64_t cnt, uint32_t processes,
		     void (*work)(void *ctx, uint64_t i), void *ctx);

#endif
