// SPDX-License-Identifier: GPL-2.0-only
/* The reader of line forms, driven by the table that the writer uses. */
#include "klog/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool scan_is(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0)
		return false;
	s->at += len;
	return true;
}

void scan_line_end(struct scan *s)
{
	const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));

	s->at = newline ? newline : s->end;
}

static bool is_end(const struct scan *s)
{
	return s->at == s->end || *s->at == '\n';
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool scan_number(struct scan *s, int64_t *out)
{
	struct scan t = *s;
	bool minus = scan_is(&t, "-");
	const char *first;
	uint64_t value = 0;

	if (!minus && scan_is(&t, "0x")) {
		first = t.at;
		while (t.at < t.end && t.at - first < 16 && hex_digit(*t.at) >= 0)
			value = value << 4 | (unsigned int)hex_digit(*t.at++);
	} else {
		first = t.at;
		while (t.at < t.end && t.at - first < 18 && *t.at >= '0' && *t.at <= '9')
			value = value * 10 + (unsigned int)(*t.at++ - '0');
		/* no number has zeros in front */
		if (t.at - first > 1 && *first == '0')
			return false;
	}
	if (t.at == first)
		return false;
	*out = (int64_t)(minus ? -value : value);
	*s = t;
	return true;
}

/* One character of a form's text. */
static bool take_char(struct scan *s, char c)
{
	if (c == '\n') {
		skip_blanks(s);
		if (s->at == s->end)
			return true;
	}
	/* blanks before a newline get lost on the way */
	if (c == ' ' && is_end(s))
		return true;
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool take_literal(struct scan *s, const char *from, const char *to)
{
	while (from < to) {
		if (!take_char(s, *from++))
			return false;
	}
	return true;
}

/* Text up to where the form goes on with [from, to), on this line. */
static bool take_text(struct scan *s, const char *from, const char *to, struct scan_field *f)
{
	struct scan t = *s;

	for (;; t.at++) {
		struct scan rest = t;

		if (from == to ? is_end(&t) : take_literal(&rest, from, to))
			break;
		if (is_end(&t))
			return false;
	}
	f->text = s->at;
	f->len = (size_t)(t.at - s->at);
	s->at = t.at;
	return true;
}

static bool take_insn(struct scan *s, struct scan_field *f)
{
	const char *from = s->at;

	/* the printer's word for what it does not know begins with BUG_ */
	if (s->end - from < 4 ||
	    (memcmp(from, "BUG_", 4) != 0 && (from[0] != '(' || hex_digit(from[1]) < 0 ||
					      hex_digit(from[2]) < 0 || from[3] != ')')))
		return false;
	while (!is_end(s) && *s->at != ';')
		s->at++;
	f->text = from;
	f->len = (size_t)(s->at - from);
	while (f->len && f->text[f->len - 1] == ' ')
		f->len--;
	return true;
}

static bool take_regs(struct scan *s, uint32_t *regs)
{
	int64_t n;

	*regs = 0;
	while (scan_is(s, *regs ? ",r" : "r")) {
		if (!scan_number(s, &n) || n < 0 || n >= LOUPE_MAX_REG)
			return false;
		*regs |= 1u << n;
	}
	return true;
}

/* The slot that "-8" names. */
static bool slot_number(int64_t off, uint32_t *spi)
{
	if (off >= 0 || off < -LOUPE_MAX_STACK || off % LOUPE_REG_SIZE)
		return false;
	*spi = (uint32_t)(-off / LOUPE_REG_SIZE) - 1;
	return true;
}

static bool take_slots(struct scan *s, uint64_t *slots)
{
	uint32_t spi;
	int64_t n;

	*slots = 0;
	while (s->at < s->end && *s->at == (*slots ? ',' : '-')) {
		s->at += *slots ? 1 : 0;
		if (!scan_number(s, &n) || !slot_number(n, &spi))
			return false;
		*slots |= 1ull << spi;
	}
	return true;
}

static bool take_chain(struct scan *s, struct loupe_chain *chain)
{
	int64_t n;

	*chain = (struct loupe_chain){ 0 };
	if (!scan_is(s, "("))
		return false;
	while (!scan_is(s, ")")) {
		if (chain->cnt && !scan_is(s, ","))
			return false;
		if (chain->cnt > LOUPE_MAX_FRAMES || !scan_number(s, &n) || n < 0 || n > INT32_MAX)
			return false;
		chain->at[chain->cnt++] = (uint32_t)n;
	}
	return true;
}

static bool take_field(struct scan *s, char conversion, const char *from, const char *to,
		       struct scan_field *f)
{
	switch (conversion) {
	case 'd':
		skip_blanks(s);
		return scan_number(s, &f->number);
	case 's':
		return take_text(s, from, to, f);
	case 'i':
		return take_insn(s, f);
	case 'f':
		f->text = s->at;
		scan_line_end(s);
		f->len = (size_t)(s->at - f->text);
		return true;
	case 'r':
		return take_regs(s, &f->regs);
	case 'k':
		return take_slots(s, &f->slots);
	default:
		return take_chain(s, &f->chain);
	}
}

bool form_scan(struct scan *s, enum form_id id, struct scan_field *fields)
{
	const char *p = forms[id].format;
	struct scan t = *s;

	if (*p == '\n') {
		scan_is(&t, "\n");
		p++;
	}
	for (;;) {
		const char *percent = strchr(p, '%'), *next;
		char *conversion;

		if (!take_literal(&t, p, percent ? percent : p + strlen(p)))
			return false;
		if (!percent)
			break;
		strtoul(percent + 1, &conversion, 10);
		p = conversion + 1;
		next = strchr(p, '%');
		if (!take_field(&t, *conversion, p, next ? next : p + strlen(p), fields++))
			return false;
	}
	*s = t;
	return true;
}
