/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the filter readers. */
#ifndef LOUPE_FILTER_READ_H
#define LOUPE_FILTER_READ_H

#include "bpfloupe/filter.h"

/* Instructions while they are read. */
struct filter_code {
	struct loupe_cbpf_insn *insns;
	uint32_t *lines; /* 1-based */
	uint32_t cnt, cap;
};

/** Appends; -E2BIG beyond the kernel's limit (with err filled), -ENOMEM. */
int filter_code_add(struct filter_code *code, struct loupe_cbpf_insn insn, uint32_t line,
		    struct loupe_error *err);

void filter_code_finish(struct filter_code *code);

/** Fills err with a position: 1-based line and column of a text. @return -EINVAL */
int filter_text_error(struct loupe_error *err, const char *text, const char *at, const char *fmt,
		      ...) LOUPE_PRINTF(4, 5);

/**
 * Reads a whole file, or standard input ("-").
 * @param data  the caller's to free, on failure too
 * @param len   receives its length
 */
int filter_read_all(const char *path, uint8_t **data, size_t *len, struct loupe_error *err);

/** Reads C source: the first initializer of struct sock_filter. text is NUL-terminated. */
int filter_read_c(const char *text, struct filter_code *code, struct loupe_error *err);

/** Reads tcpdump -ddd's output. */
int filter_read_ddd(const char *text, struct filter_code *code, struct loupe_error *err);

#endif
