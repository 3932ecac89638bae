// SPDX-License-Identifier: GPL-2.0-only
#include "klog/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for len more bytes and a NUL. Returns how many of the len bytes have room. */
static size_t room(struct text *t, size_t len)
{
	size_t cap = t->cap;
	char *buf;

	if (t->grows && t->len + len >= cap) {
		cap = cap < 4096 ? 4096 : cap;
		while (t->len + len >= cap)
			cap *= 2;
		buf = realloc(t->buf, cap);
		if (!buf) {
			t->failed = true;
			return 0;
		}
		t->buf = buf;
		t->cap = cap;
	}
	if (t->len + 1 >= t->cap)
		return 0;
	return len < t->cap - t->len - 1 ? len : t->cap - t->len - 1;
}

size_t text_end(struct text *t)
{
	if (t->cap)
		t->buf[t->len < t->cap ? t->len : t->cap - 1] = '\0';
	return t->len;
}

void text_mem(struct text *t, const char *s, size_t len)
{
	size_t fit = room(t, len);

	if (fit)
		memcpy(t->buf + t->len, s, fit);
	if (!t->failed)
		t->len += len;
}

void text_str(struct text *t, const char *s)
{
	text_mem(t, s, strlen(s));
}

void text_char(struct text *t, char c)
{
	text_mem(t, &c, 1);
}

void text_fill(struct text *t, char c, size_t cnt)
{
	while (cnt--)
		text_char(t, c);
}

void text_dec(struct text *t, int64_t value)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do {
		*--p = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--p = '-';
	text_mem(t, p, (size_t)(digits + sizeof(digits) - p));
}

void text_hex(struct text *t, uint64_t value)
{
	char digits[24], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[value & 0xf];
		value >>= 4;
	} while (value);
	*--p = 'x';
	*--p = '0';
	text_mem(t, p, (size_t)(digits + sizeof(digits) - p));
}

void text_printf(struct text *t, size_t max, const char *fmt, ...)
{
	char small[256], *buf = small;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(small, sizeof(small), fmt, args);
	va_end(args);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(small)) {
		buf = malloc((size_t)len + 1);
		if (!buf) {
			t->failed = true;
			return;
		}
		va_start(args, fmt);
		vsnprintf(buf, (size_t)len + 1, fmt, args);
		va_end(args);
	}
	text_mem(t, buf, (size_t)len < max ? (size_t)len : max);
	if (buf != small)
		free(buf);
}

void text_finish(struct text *t)
{
	if (t->grows)
		free(t->buf);
	*t = (struct text){ 0 };
}
