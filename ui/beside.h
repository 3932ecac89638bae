/* SPDX-License-Identifier: GPL-2.0-only */
/* A verifier log beside the program that it is of: does the model say the same? */
#ifndef BPFLOUPE_UI_BESIDE_H
#define BPFLOUPE_UI_BESIDE_H

#include "bpfloupe/kernel.h"
#include "bpfloupe/log_read.h"

struct beside {
	const char *path; /* as the user named it */
	struct loupe_log_file *file;
};

struct beside_result {
	bool agrees;
	uint32_t level;	 /* of the log: LOUPE_LOG_* */
	uint64_t lines;	 /* of the log that were compared */
	struct loupe_log_difference diff; /* line 0: none */
	char words[700]; /* one line, for people */
};

/** Reads a file of logs. @return 0 or -errno with *err filled; empty it with beside_close() */
int beside_open(const char *path, struct beside *out, struct loupe_error *err);
void beside_close(struct beside *beside);

/**
 * The log of a program: the one with its name.
 * @param only    there is no other program that a log without a name could be of
 * @param chosen  the user chose the program, so that a name does not matter
 * @return NULL if there is none
 */
const struct loupe_logged *beside_find(const struct beside *beside, const char *prog_name,
				       bool only, bool chosen);

/** Characters of both lines that need not be shown, because they are the same far into long
 * lines. */
size_t beside_same(const struct loupe_log_difference *diff);

/**
 * Verifies image and compares the model's log at the log's level with it, line by line. Blanks at
 * the ends of lines, which get lost when logs are copied, do not count.
 * @param opts  knobs, cancel, progress; listeners are not used
 * @return 0, -ECANCELED, -ENOMEM
 */
int beside_compare(const char *path, const struct loupe_logged *logged,
		   const struct loupe_image *image, const struct loupe_verify_opts *opts,
		   struct beside_result *out);

#endif
