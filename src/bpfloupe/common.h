/* SPDX-License-Identifier: GPL-2.0-only */
/* What every public header needs: the export mark and the error that a person reads. */
#ifndef BPFLOUPE_COMMON_H
#define BPFLOUPE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LOUPE_API          __attribute__((visibility("default")))
#define LOUPE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define LOUPE_API
#define LOUPE_PRINTF(f, a)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What went wrong, for a person. Functions that can fail on input return 0 or a negative errno and
 * fill one of these where the caller gave one (NULL is always allowed).
 */
struct loupe_error {
	char message[512]; /* one line, no newline, printable characters only; says what to do */
	char file[256];	   /* file it is about, "" if none */
	uint32_t line;	   /* 1-based line of a text file, 0 if none */
	uint32_t column;   /* 1-based column of a text file, 0 if none */
	int64_t offset;	   /* byte offset in a binary file, -1 if none */
};

/**
 * Replaces in place, by one '?' a byte, what a terminal would obey: control characters, marks of
 * direction, and bytes that are no UTF-8.
 * @param text   len bytes
 * @param lines  leave line ends and tabs
 */
LOUPE_API void loupe_text_clean(char *text, size_t len, bool lines);

/**
 * Fills *err and returns code.
 * @param err   may be NULL
 * @param code  negative errno to return
 * @param fmt   printf format of the message; what loupe_text_clean() replaces becomes '?'
 * @return code
 */
LOUPE_API int loupe_error_set(struct loupe_error *err, int code, const char *fmt, ...)
	LOUPE_PRINTF(3, 4);

/**
 * Writes err as "file:line:column: message" (parts that are absent are left out) into buf, always
 * NUL-terminated.
 * @return length of the whole text, as snprintf
 */
LOUPE_API int loupe_error_format(const struct loupe_error *err, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
