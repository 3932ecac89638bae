// SPDX-License-Identifier: GPL-2.0-only
#include "bpfloupe/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character at text, 0 if they are none; *c is its number. */
static size_t decode(const unsigned char *text, size_t len, uint32_t *c)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t size = *text < 0x80 ? 1 : *text < 0xc0 ? 0 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;

	if (!size || size > len || *text >= 0xf8)
		return 0;
	*c = size == 1 ? *text : *text & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (text[i] & 0x3fu);
	}
	return *c < smallest[size] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : size;
}

/* Controls of C0, DEL and C1; line and paragraph separators; marks that change the direction. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c;
}

void loupe_text_clean(char *text, size_t len, bool lines)
{
	for (size_t i = 0, size; i < len; i += size) {
		uint32_t c = 0;

		size = decode((const unsigned char *)text + i, len - i, &c);
		if (size && (!is_control(c) || (lines && (c == '\n' || c == '\t'))))
			continue;
		size = size ? size : 1;
		memset(text + i, '?', size);
	}
}

int loupe_error_set(struct loupe_error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	*err = (struct loupe_error){ .offset = -1 };
	va_start(args, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, args);
	va_end(args);
	loupe_text_clean(err->message, strlen(err->message), false);
	return code;
}

int loupe_error_format(const struct loupe_error *err, char *buf, size_t size)
{
	const char *sep = err->file[0] ? ": " : "";

	if (err->line && err->column)
		return snprintf(buf, size, "%s:%u:%u%s%s", err->file, err->line, err->column, sep,
				err->message);
	if (err->line)
		return snprintf(buf, size, "%s:%u%s%s", err->file, err->line, sep, err->message);
	if (err->offset >= 0)
		return snprintf(buf, size, "%s%sat byte %lld: %s", err->file, sep,
				(long long)err->offset, err->message);
	return snprintf(buf, size, "%s%s%s", err->file, sep, err->message);
}
