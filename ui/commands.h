/* SPDX-License-Identifier: GPL-2.0-only */
/* The program's commands; each runs on parsed arguments and returns the exit status. */
#ifndef BPFLOUPE_UI_COMMANDS_H
#define BPFLOUPE_UI_COMMANDS_H

#include "args.h"
#include "bpfloupe/image.h"
#include "bpfloupe/log_read.h"

/* Exit status, a contract with scripts. */
enum {
	STATUS_OK = 0,	       /* accepted, done */
	STATUS_REJECTED = 1,   /* rejected, differs */
	STATUS_USAGE = 2,      /* usage, unreadable input */
	STATUS_NOT_JUDGED = 3, /* needs what the model does not have */
};

int cmd_verify(const struct args *args);
int cmd_stat(const struct args *args);
int cmd_disasm(const struct args *args);
int cmd_cfg(const struct args *args);
int cmd_eval(const struct args *args);
int cmd_compile(const struct args *args);
int cmd_optimize(const struct args *args);
int cmd_parity(const struct args *args);
int cmd_bench(const struct args *args);
int cmd_lab(const struct args *args);
/* What --compare shows, as text. */
int cmd_compare(const struct args *args);
struct tui_options;
/* --lesson; opts are those of the explorer without a lesson. */
int cmd_lesson(const struct args *args, const struct tui_options *opts);
/* What the explorer would show first, as text: for output that is no terminal. */
int cmd_summary(const struct args *args);

/** The status that goes with a verdict. */
int verdict_status(enum loupe_verdict verdict);
/** "accepted", "rejected: EACCES (13)", "not judged: …" … as snprintf. */
int verdict_text(const struct loupe_verify_result *result, char *buf, size_t size);
/** Name of an errno, "EACCES" for 13; for what the C library does not know "524" as text. */
const char *errno_name(int err);
/**
 * Loads one file's programs that args ask for, which must be at least one.
 * @return 0, or 2 after one line on stderr
 */
int load_programs(const struct args *args, const char *file, struct loupe_program_list *list);
/**
 * The same, where a verifier log will do.
 * @param log  receives the log that list is of and is owned by, NULL if file is none
 */
int load_programs_or_log(const struct args *args, const char *file, struct loupe_program_list *list,
			 struct loupe_log_file **log);
/**
 * The one program that args mean.
 * @return its image, or NULL after one line on stderr
 */
const struct loupe_image *only_program(const struct args *args,
				       const struct loupe_program_list *list, const char *file);

#endif
