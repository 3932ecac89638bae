/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a verifier log: the text that the kernel (or loader around it) printed becomes, for each
 * program in it, an image and the events of its verification. A trace that hears those events lacks
 * only what a log lacks.
 */
#ifndef BPFLOUPE_LOG_READ_H
#define BPFLOUPE_LOG_READ_H

#include "common.h"
#include "image.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a log lacks: bits of struct loupe_verify_result.lacks. */
enum loupe_lacks {
	LOUPE_LACKS_CHECKPOINTS = 1 << 0, /* where states were stored, compared (hits aside) and
					     evicted: in every log */
	LOUPE_LACKS_PATHS = 1 << 1,	  /* level 1: all paths but the one that failed */
	LOUPE_LACKS_FACTS = 1 << 2,	  /* level 1: live registers, precision, the insns not
					     walked */
	LOUPE_LACKS_STEPS = 1 << 3,	  /* no insns at all */
	LOUPE_LACKS_BEGINNING = 1 << 4,	  /* its first lines were cut off */
	LOUPE_LACKS_END = 1 << 5,	  /* its last lines were cut off, the verdict with them */
	LOUPE_LACKS_ERRNO = 1 << 6,	  /* rejected, but not with which error number */
	LOUPE_LACKS_LAST_STEP = 1 << 8,	  /* it failed on arrival at an insn that it does not
					     name */
	LOUPE_LACKS_STATES = 1 << 7,	  /* states in another kernel's notation could not be
					     read */
};

/** What is lacking, as one line: "no comparisons, misses and evictions; …". Returns as snprintf. */
LOUPE_API size_t loupe_lacks_print(char *buf, size_t size, uint32_t lacks);

/** True if text looks like a verifier log, whatever stands around it. */
LOUPE_API bool loupe_log_sniff(const char *text, size_t len);

struct loupe_log_file;
struct loupe_logged;

/**
 * Reads a text with one or more logs. Lines of libbpf around them ("-- BEGIN PROG LOAD LOG --") are
 * understood. Control characters are replaced.
 * @param path  name of the text in errors and images
 * @param text  len bytes
 * @param out   free with loupe_log_file_destroy()
 * @return 0, -EINVAL (no log in it), -ENOMEM
 */
LOUPE_API int loupe_log_read(const char *path, const char *text, size_t len,
			     struct loupe_log_file **out, struct loupe_error *err);

/** Frees it, and the images of its programs. NULL is fine. */
LOUPE_API void loupe_log_file_destroy(struct loupe_log_file *file);

/**
 * The programs: names, and images made of what the log shows (instructions, maps that pointers
 * name, source lines, functions; an instruction that it does not show has code 0). Owned by the
 * file.
 */
LOUPE_API const struct loupe_program_list *
loupe_log_file_programs(const struct loupe_log_file *file);

/** Log of program n, NULL if there is none. */
LOUPE_API const struct loupe_logged *loupe_log_file_at(const struct loupe_log_file *file,
						       uint32_t n);

/** Levels that it was written at, as far as can be seen: LOUPE_LOG_*, or-ed. */
LOUPE_API uint32_t loupe_logged_level(const struct loupe_logged *logged);

/** Its text, without what stands around it. @param len  receives its length */
LOUPE_API const char *loupe_logged_text(const struct loupe_logged *logged, size_t *len);

/**
 * Tells listeners what the log says, as loupe_verify() would. Not heard: compare, checkpoint,
 * evict, state_free, clean, mark_precise, facts but for live registers and SCC numbers.
 * @param opts    listeners, cancel and progress are used; NULL: nobody listens
 * @param result  filled where 0 is returned: verdict, counters, phase as far as the log tells; free
 *                its arrays with loupe_verify_result_finish()
 * @return 0, -ENOMEM
 */
LOUPE_API int loupe_logged_replay(const struct loupe_logged *logged,
				  const struct loupe_verify_opts *opts,
				  struct loupe_verify_result *result);

/** Offset in loupe_logged_text() of the line that shows a step, counted as replay counts them. */
LOUPE_API size_t loupe_logged_step_offset(const struct loupe_logged *logged, uint32_t step);
LOUPE_API uint32_t loupe_logged_step_cnt(const struct loupe_logged *logged);

#ifdef __cplusplus
}
#endif

#endif
