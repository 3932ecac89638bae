// SPDX-License-Identifier: GPL-2.0-only
#include "policy/minijail_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 32u

int minijail_error(const struct minijail_text *t, const char *at, const char *fmt, ...)
{
	char text[300];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return policy_error(t->b, t->path, t->line, (uint32_t)(at - t->line_start) + 1, "%s", text);
}

static void new_line(struct minijail_text *t)
{
	t->at++;
	t->line++;
	t->line_start = t->at;
}

/* Length of a '\' with its line end, 0 if none is here. */
static size_t continuation(const char *at)
{
	if (at[0] != '\\')
		return 0;
	if (at[1] == '\n')
		return 2;
	return at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

void minijail_skip(struct minijail_text *t)
{
	for (;;) {
		size_t joined = continuation(t->at);

		if (joined) {
			t->at += joined - 1;
			new_line(t);
		} else if (*t->at == ' ' || *t->at == '\t' || *t->at == '\r' || *t->at == '\v' ||
			   *t->at == '\f') {
			t->at++;
		} else if (*t->at == '#') {
			while (*t->at && *t->at != '\n' && !continuation(t->at))
				t->at++;
		} else {
			return;
		}
	}
}

bool minijail_next(struct minijail_text *t)
{
	for (;;) {
		minijail_skip(t);
		if (*t->at != '\n')
			return *t->at;
		new_line(t);
	}
}

bool minijail_end(struct minijail_text *t)
{
	minijail_skip(t);
	return !*t->at || *t->at == '\n';
}

bool minijail_take(struct minijail_text *t, const char *mark)
{
	size_t len = strlen(mark);

	minijail_skip(t);
	if (strncmp(t->at, mark, len))
		return false;
	/* "|" is not half of "||", "<" not half of "<=" */
	if (len == 1 && ((strchr("|&=", *mark) && t->at[1] == *mark) ||
			 (strchr("<>!", *mark) && t->at[1] == '=')))
		return false;
	t->at += len;
	return true;
}

int minijail_need(struct minijail_text *t, const char *mark)
{
	if (minijail_take(t, mark))
		return 0;
	if (minijail_end(t))
		return minijail_error(t, t->at, "the line ends before its '%s'", mark);
	return minijail_error(t, t->at, "expected '%s'", mark);
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '@';
}

static size_t word_len(const char *at)
{
	size_t len = 0;

	if (!isalpha((unsigned char)*at) && *at != '_')
		return 0;
	while (word_char(at[len]))
		len++;
	return len;
}

int minijail_word(struct minijail_text *t, char word[MINIJAIL_WORD])
{
	size_t len;

	minijail_skip(t);
	len = word_len(t->at);
	if (len >= MINIJAIL_WORD)
		return minijail_error(t, t->at, "a word of more than %d characters",
				      MINIJAIL_WORD - 1);
	memcpy(word, t->at, len);
	word[len] = 0;
	t->at += len;
	return 0;
}

bool minijail_take_word(struct minijail_text *t, const char *word)
{
	size_t len = strlen(word);

	minijail_skip(t);
	if (word_len(t->at) != len || strncmp(t->at, word, len))
		return false;
	t->at += len;
	return true;
}

/* As C has them: 0x hexadecimal, 0 octal, decimal; a sign makes two's complement. */
static int number(struct minijail_text *t, uint64_t *value)
{
	const char *start = t->at;
	bool negative = *t->at == '-';
	unsigned int base = 10;
	uint64_t n = 0;

	t->at += negative;
	if (t->at[0] == '0' && (t->at[1] | 0x20) == 'x') {
		base = 16;
		t->at += 2;
	} else if (t->at[0] == '0' && (t->at[1] | 0x20) == 'o') {
		base = 8;
		t->at += 2;
	} else if (t->at[0] == '0') {
		base = 8;
	}
	if (!isxdigit((unsigned char)*t->at))
		return minijail_error(t, start, "a number without digits");
	for (; word_char(*t->at); t->at++) {
		char c = *t->at;
		unsigned int digit = isdigit((unsigned char)c) ? (unsigned int)(c - '0')
				     : isxdigit((unsigned char)c)
					     ? (unsigned int)((c | 0x20) - 'a' + 10)
					     : 99;

		if (digit >= base)
			return minijail_error(t, t->at, "'%c' is no digit of a number of base %u",
					      c, base);
		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
			return minijail_error(t, start, "a number of more than 64 bits");
	}
	if (negative && n > UINT64_C(1) << 63)
		return minijail_error(t, start, "a number of more than 64 bits");
	*value = negative ? 0 - n : n;
	return 0;
}

int minijail_single(struct minijail_text *t, uint64_t *value)
{
	char word[MINIJAIL_WORD];
	const char *start;
	int ret;

	minijail_skip(t);
	start = t->at;
	if (isdigit((unsigned char)*t->at) || *t->at == '-')
		return number(t, value);
	ret = minijail_word(t, word);
	if (ret)
		return ret;
	if (!*word)
		return minijail_error(t, start, "expected a number or the name of a constant");
	if (!policy_constant(t->b->opts->arch, word, value))
		return minijail_error(
			t, start, "there is no constant '%s' in the table; write its number", word);
	return 0;
}

static int value_at(struct minijail_text *t, unsigned int depth, uint64_t *value)
{
	*value = 0;
	do {
		bool invert = minijail_take(t, "~");
		uint64_t one = 0;
		int ret;

		if (depth == MAX_DEPTH)
			return minijail_error(t, t->at, "parentheses nested too deep");
		if (minijail_take(t, "(")) {
			ret = value_at(t, depth + 1, &one);
			if (!ret)
				ret = minijail_need(t, ")");
		} else {
			ret = minijail_single(t, &one);
		}
		if (ret)
			return ret;
		*value |= invert ? ~one : one;
	} while (minijail_take(t, "|"));
	return 0;
}

int minijail_value(struct minijail_text *t, uint64_t *value)
{
	return value_at(t, 0, value);
}
