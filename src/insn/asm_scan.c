// SPDX-License-Identifier: GPL-2.0-only
#include "insn/asm_scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int asm_fail(const struct asm_scan *scan, const char *at, const char *fmt, ...)
{
	struct loupe_error *err = scan->err;
	char message[sizeof(err->message)];
	va_list args;

	if (!err)
		return -EINVAL;
	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	loupe_error_set(err, -EINVAL, "%s", message);
	if (scan->path)
		snprintf(err->file, sizeof(err->file), "%s", scan->path);
	err->line = scan->lineno;
	err->column = at ? scan->column + (uint32_t)(at - scan->line) + 1 : 0;
	return -EINVAL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '.' || c == '$';
}

/* -1 for what is no hexadecimal digit. */
static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

void asm_space(struct asm_scan *scan)
{
	while (is_space(*scan->p))
		scan->p++;
}

bool asm_at_end(struct asm_scan *scan)
{
	asm_space(scan);
	if (*scan->p == '\0' || *scan->p == ';' || (scan->p[0] == '/' && scan->p[1] == '/'))
		return true;
	return *scan->p == '#' && (scan->p == scan->line || is_space(scan->p[-1]));
}

int asm_expect_end(struct asm_scan *scan)
{
	if (asm_at_end(scan))
		return 0;
	return asm_fail(scan, scan->p,
			"unexpected '%.20s': the line should end here (a comment starts with ';')",
			scan->p);
}

bool asm_take(struct asm_scan *scan, const char *token)
{
	size_t len = strlen(token);

	asm_space(scan);
	if (strncmp(scan->p, token, len) != 0)
		return false;
	if (is_word(token[len - 1]) && is_word(scan->p[len]))
		return false;
	scan->p += len;
	return true;
}

int asm_expect(struct asm_scan *scan, const char *token)
{
	if (asm_take(scan, token))
		return 0;
	if (asm_at_end(scan))
		return asm_fail(scan, scan->p, "'%s' is missing at the end of the line", token);
	return asm_fail(scan, scan->p, "expected '%s' here, not '%.20s'", token, scan->p);
}

bool asm_take_word(struct asm_scan *scan, struct asm_word *word)
{
	const char *p;

	asm_space(scan);
	for (p = scan->p; is_word(*p); p++)
		;
	*word = (struct asm_word){ scan->p, (size_t)(p - scan->p) };
	scan->p = p;
	return word->len > 0;
}

bool asm_word_is(const struct asm_word *word, const char *text)
{
	return strlen(text) == word->len && memcmp(word->p, text, word->len) == 0;
}

bool asm_word_copy(const struct asm_word *word, char *buf, size_t size)
{
	if (word->len >= size)
		return false;
	memcpy(buf, word->p, word->len);
	buf[word->len] = '\0';
	return true;
}

bool asm_at_number(struct asm_scan *scan)
{
	const char *p;

	asm_space(scan);
	p = scan->p;
	if (*p == '-' || *p == '+')
		p++;
	return is_digit(*p);
}

int asm_number(struct asm_scan *scan, const char *what, int64_t min, uint64_t max, uint64_t *value)
{
	const char *start, *digits;
	uint64_t number = 0, limit = max;
	bool negative = false, overflow = false;
	int base = 10, digit;

	asm_space(scan);
	start = scan->p;
	if (!asm_at_number(scan))
		return asm_fail(scan, start, "%s is missing: a decimal or 0x number belongs here",
				what);
	if (*scan->p == '-' || *scan->p == '+')
		negative = *scan->p++ == '-';
	if (scan->p[0] == '0' && (scan->p[1] == 'x' || scan->p[1] == 'X')) {
		base = 16;
		scan->p += 2;
	}
	if (negative)
		limit = 0 - (uint64_t)min;
	for (digits = scan->p; (digit = hex_digit(*scan->p)) >= 0 && digit < base; scan->p++)
		overflow |= __builtin_mul_overflow(number, (uint64_t)base, &number) ||
			    __builtin_add_overflow(number, (uint64_t)digit, &number);
	if (scan->p == digits || is_word(*scan->p))
		return asm_fail(scan, start, "%s is not a number: write it in decimal or as 0x...",
				what);
	if (overflow || number > limit)
		return asm_fail(scan, start, "%s is out of range: it may be %lld to %llu", what,
				(long long)min, (unsigned long long)max);
	*value = negative ? 0 - number : number;
	return 0;
}

int asm_imm32(struct asm_scan *scan, const char *what, int32_t *value)
{
	uint64_t number;

	if (asm_number(scan, what, INT32_MIN, UINT32_MAX, &number))
		return -EINVAL;
	*value = (int32_t)(uint32_t)number;
	return 0;
}

int asm_u32(struct asm_scan *scan, const char *what, uint32_t *value)
{
	uint64_t number;

	if (asm_number(scan, what, 0, UINT32_MAX, &number))
		return -EINVAL;
	*value = (uint32_t)number;
	return 0;
}

/* The character that the escape at scan->p (behind the backslash) means, or -1. */
static int escaped(struct asm_scan *scan)
{
	int high, low;

	switch (*scan->p++) {
	case '"':
		return '"';
	case '\\':
		return '\\';
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		high = hex_digit(scan->p[0]);
		low = high < 0 ? -1 : hex_digit(scan->p[1]);
		if (low < 0 || (high == 0 && low == 0))
			return -1;
		scan->p += 2;
		return high << 4 | low;
	default:
		return -1;
	}
}

int asm_string(struct asm_scan *scan, const char *what, char **text)
{
	char *out;
	size_t len = 0;
	const char *start;

	asm_space(scan);
	start = scan->p;
	if (*start != '"')
		return asm_fail(scan, start, "%s is missing: write it in double quotes", what);
	out = malloc(strlen(start) + 1);
	if (!out)
		return -ENOMEM;
	scan->p++;
	while (*scan->p != '"') {
		const char *at = scan->p;
		int c = (unsigned char)*scan->p++;

		if (c == '\0') {
			free(out);
			return asm_fail(scan, start, "%s has no closing double quote", what);
		}
		if (c == '\\') {
			c = escaped(scan);
			if (c < 0) {
				free(out);
				return asm_fail(scan, at,
						"unknown escape: there are \\\" \\\\ \\n \\t \\xHH "
						"(not \\x00)");
			}
		}
		out[len++] = (char)c;
	}
	scan->p++;
	out[len] = '\0';
	*text = out;
	return 0;
}

int asm_hex(struct asm_scan *scan, uint8_t **data, uint32_t *len)
{
	size_t cnt = 0;
	uint8_t *grown;

	asm_space(scan);
	while (is_word(scan->p[cnt]))
		cnt++;
	if (cnt == 0 || cnt % 2)
		return asm_fail(scan, scan->p, "expected pairs of hexadecimal digits here");
	if (cnt / 2 > UINT32_MAX - *len)
		return asm_fail(scan, scan->p, "too many bytes");
	grown = realloc(*data, *len + cnt / 2);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	for (size_t i = 0; i < cnt / 2; i++, scan->p += 2) {
		int high = hex_digit(scan->p[0]), low = hex_digit(scan->p[1]);

		if (high < 0 || low < 0)
			return asm_fail(scan, scan->p, "expected pairs of hexadecimal digits here");
		grown[(*len)++] = (uint8_t)(high << 4 | low);
	}
	return 0;
}
