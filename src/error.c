// SPDX-License-Identifier: GPL-2.0-only
#include "bpfloupe/common.h"

#include <stdarg.h>
#include <stdio.h>

int loupe_error_set(struct loupe_error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	*err = (struct loupe_error){ .offset = -1 };
	va_start(args, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, args);
	va_end(args);
	for (char *p = err->message; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
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
