/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text under construction, either in a caller's buffer (what does not fit is only counted) or in
 * memory that grows.
 */
#ifndef KLOG_TEXT_H
#define KLOG_TEXT_H

#include "bpfloupe/common.h"

struct text {
	char *buf;
	size_t cap; /* bytes of buf, the NUL included */
	size_t len; /* of the whole text; may exceed cap in a caller's buffer */
	bool grows;
	bool failed; /* memory ran out: text is missing */
};

/* Text in a caller's buffer of size bytes; size may be 0. */
static inline struct text text_in(char *buf, size_t size)
{
	return (struct text){ .buf = buf, .cap = size };
}

/* Ends the text with a NUL where it fits. Returns the length of the whole text. */
size_t text_end(struct text *t);

void text_mem(struct text *t, const char *s, size_t len);
void text_str(struct text *t, const char *s);
void text_char(struct text *t, char c);
void text_fill(struct text *t, char c, size_t cnt);
/* Decimal. */
void text_dec(struct text *t, int64_t value);
/* Hexadecimal with "0x", also for 0. */
void text_hex(struct text *t, uint64_t value);
/* Appends at most max bytes of the formatted text. */
void text_printf(struct text *t, size_t max, const char *fmt, ...) LOUPE_PRINTF(3, 4);

/* Frees a growing text's memory. */
void text_finish(struct text *t);

#endif
