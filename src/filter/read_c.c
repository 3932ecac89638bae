// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters in C source: the initializer of an array of struct sock_filter, written as braces, as
 * BPF_STMT() and BPF_JUMP(), or mixed; a bare list of these works too. Constant expressions are
 * those that such sources use: numbers, known names, object-like macros of the same file, bit and
 * sum operators, offsetof(struct seccomp_data, ...).
 */
#include "filter/constants.h"
#include "filter/read.h"

#include <ctype.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME  64
#define MAX_DEPTH 32 /* of parentheses and macros */
/* Bytes looked through for macros: a bound on what nested macros can cost. */
#define MAX_MACRO_WORK (256u << 20)

struct reader {
	const char *text;   /* whole input, for positions */
	const char *p;	    /* where the next token starts */
	const char *end;    /* of what is read: the input's, or a macro body's */
	size_t *macro_work; /* bytes looked through */
	unsigned int depth;
	struct loupe_error *err;
};

/* Skips what lies between tokens: blanks, comments, preprocessor lines. */
static void skip(struct reader *r)
{
	while (r->p < r->end) {
		const char *p = r->p;

		if (isspace((unsigned char)*p)) {
			r->p++;
		} else if (p[0] == '/' && p[1] == '/') {
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		} else if (p[0] == '/' && p[1] == '*') {
			const char *close = strstr(p + 2, "*/");

			r->p = close && close + 2 < r->end ? close + 2 : r->end;
		} else if (p[0] == '\\' && (p[1] == '\n' || p[1] == '\r')) {
			r->p++;
		} else if (*p == '#') {
			while (r->p < r->end && *r->p != '\n')
				r->p += r->p[0] == '\\' && r->p[1] == '\n' ? 2 : 1;
			if (r->p > r->end)
				r->p = r->end;
		} else {
			return;
		}
	}
}

static bool peek(struct reader *r, char c)
{
	skip(r);
	return r->p < r->end && *r->p == c;
}

static bool take(struct reader *r, char c)
{
	bool found = peek(r, c);

	if (found)
		r->p++;
	return found;
}

static int expected(struct reader *r, const char *what)
{
	skip(r);
	if (r->p >= r->end)
		return filter_text_error(r->err, r->text, r->p, "%s expected, but this ends here",
					 what);
	return filter_text_error(r->err, r->text, r->p, "%s expected, not '%c'", what, *r->p);
}

static int need(struct reader *r, char c)
{
	char what[4] = { '\'', c, '\'' };

	return take(r, c) ? 0 : expected(r, what);
}

/* Reads an identifier; false when there is none or it is too long for any name we know. */
static bool take_name(struct reader *r, char *name)
{
	size_t len = 0;

	skip(r);
	if (r->p >= r->end || !(isalpha((unsigned char)*r->p) || *r->p == '_'))
		return false;
	while (r->p + len < r->end && (isalnum((unsigned char)r->p[len]) || r->p[len] == '_'))
		len++;
	if (len >= MAX_NAME)
		return false;
	memcpy(name, r->p, len);
	name[len] = 0;
	r->p += len;
	return true;
}

static bool peek_name(struct reader *r, const char *wanted)
{
	const char *start;
	char name[MAX_NAME];
	bool same;

	skip(r);
	start = r->p;
	same = take_name(r, name) && !strcmp(name, wanted);
	r->p = start;
	return same;
}

static int expression(struct reader *r, uint64_t *value);

/* Body of "#define name body" in the input; false if there is none. */
static bool find_macro(const struct reader *r, const char *name, const char **body,
		       const char **end)
{
	size_t len = strlen(name);

	for (const char *p = r->text; (p = strstr(p, "#")); p++) {
		const char *q = p + 1;

		while (*q == ' ' || *q == '\t')
			q++;
		if (strncmp(q, "define", 6) || (q[6] != ' ' && q[6] != '\t'))
			continue;
		q += 6;
		while (*q == ' ' || *q == '\t')
			q++;
		if (strncmp(q, name, len) || (q[len] != ' ' && q[len] != '\t'))
			continue;
		*body = q + len;
		q = *body;
		while (*q && *q != '\n')
			q += q[0] == '\\' && q[1] == '\n' ? 2 : 1;
		*end = q;
		return true;
	}
	return false;
}

/* offsetof(struct seccomp_data, member), after the name. */
static int offset_of(struct reader *r, uint64_t *value)
{
	const char *at;
	char name[MAX_NAME];
	uint64_t index;
	int ret = need(r, '(');

	if (ret)
		return ret;
	if (peek_name(r, "struct"))
		take_name(r, name);
	skip(r);
	at = r->p;
	if (!take_name(r, name) || strcmp(name, "seccomp_data"))
		return filter_text_error(r->err, r->text, at,
					 "only struct seccomp_data is known to offsetof()");
	ret = need(r, ',');
	if (ret)
		return ret;
	skip(r);
	at = r->p;
	if (!take_name(r, name))
		return expected(r, "a member of struct seccomp_data");
	if (!strcmp(name, "nr")) {
		*value = 0;
	} else if (!strcmp(name, "arch")) {
		*value = 4;
	} else if (!strcmp(name, "instruction_pointer")) {
		*value = 8;
	} else if (!strcmp(name, "args")) {
		*value = 16;
		if (take(r, '[')) {
			ret = expression(r, &index);
			if (!ret && index > 5)
				return filter_text_error(r->err, r->text, at,
							 "there are args[0] to args[5]");
			*value += index * 8;
			if (!ret)
				ret = need(r, ']');
		}
	} else {
		return filter_text_error(r->err, r->text, at,
					 "struct seccomp_data has no member '%s'", name);
	}
	return ret ? ret : need(r, ')');
}

static int named_value(struct reader *r, uint64_t *value)
{
	const char *at = r->p, *body, *end;
	char name[MAX_NAME];
	uint32_t known;
	int32_t nr;

	if (!take_name(r, name))
		return filter_text_error(r->err, r->text, at, "no constant has so long a name");
	if (!strcmp(name, "offsetof"))
		return offset_of(r, value);
	if (filter_constant(name, &known)) {
		*value = known;
		return 0;
	}
	if (!strncmp(name, "__NR_", 5) || !strncmp(name, "SYS_", 4)) {
		nr = loupe_syscall_nr(AUDIT_ARCH_X86_64, name + (name[0] == '_' ? 5 : 4));
		if (nr >= 0) {
			*value = (uint64_t)nr;
			return 0;
		}
	}
	*r->macro_work += strlen(r->text);
	if (*r->macro_work > MAX_MACRO_WORK)
		return filter_text_error(r->err, r->text, at,
					 "too many macros are used; preprocess the file first");
	if (find_macro(r, name, &body, &end)) {
		struct reader inner = *r;
		int ret;

		inner.p = body;
		inner.end = end;
		inner.depth++;
		if (inner.depth > MAX_DEPTH)
			return filter_text_error(r->err, r->text, at,
						 "'%s' is defined by itself or nested too deeply",
						 name);
		ret = expression(&inner, value);
		skip(&inner);
		if (!ret && inner.p < inner.end)
			ret = expected(&inner, "the end of the macro");
		return ret;
	}
	return filter_text_error(
		r->err, r->text, at,
		"unknown name '%s': define it in this file, or preprocess it first", name);
}

static int number(struct reader *r, uint64_t *value)
{
	const char *at = r->p;
	char *end;

	errno = 0;
	*value = strtoull(at, &end, 0);
	if (errno)
		return filter_text_error(r->err, r->text, at, "the number is too large");
	while (end < r->end && strchr("uUlL", *end) && *end)
		end++;
	if (end < r->end && (isalnum((unsigned char)*end) || *end == '_' || *end == '.'))
		return filter_text_error(r->err, r->text, end, "unexpected '%c' in a number", *end);
	r->p = end;
	return 0;
}

static int primary(struct reader *r, uint64_t *value)
{
	int ret;

	if (r->depth > MAX_DEPTH)
		return filter_text_error(r->err, r->text, r->p, "too many nested parentheses");
	skip(r);
	if (r->p >= r->end)
		return expected(r, "a value");
	if (isdigit((unsigned char)*r->p))
		return number(r, value);
	if (isalpha((unsigned char)*r->p) || *r->p == '_')
		return named_value(r, value);
	r->depth++;
	if (take(r, '(')) {
		ret = expression(r, value);
		if (!ret)
			ret = need(r, ')');
	} else if (take(r, '~')) {
		ret = primary(r, value);
		*value = ~*value;
	} else if (take(r, '-')) {
		ret = primary(r, value);
		*value = -*value;
	} else {
		ret = expected(r, "a value");
	}
	r->depth--;
	return ret;
}

/* Binary operators, weakest first. */
static const char *const levels[] = { "|", "^", "&", "<>", "+-", "*" };

static int binary(struct reader *r, unsigned int level, uint64_t *value)
{
	int ret;

	if (level == sizeof(levels) / sizeof(levels[0]))
		return primary(r, value);
	ret = binary(r, level + 1, value);
	while (!ret) {
		const char *at;
		uint64_t right;
		char op;

		skip(r);
		if (r->p >= r->end || !strchr(levels[level], *r->p))
			return 0;
		op = *r->p++;
		if ((op == '<' || op == '>')) {
			if (r->p >= r->end || *r->p != op)
				return expected(r, op == '<' ? "'<<'" : "'>>'");
			r->p++;
		}
		skip(r);
		at = r->p;
		ret = binary(r, level + 1, &right);
		if (ret)
			return ret;
		if ((op == '<' || op == '>') && right > 63) {
			r->p = at;
			return expected(r, "a shift by less than 64 bits");
		}
		switch (op) {
		case '|':
			*value |= right;
			break;
		case '^':
			*value ^= right;
			break;
		case '&':
			*value &= right;
			break;
		case '<':
			*value <<= right;
			break;
		case '>':
			*value >>= right;
			break;
		case '+':
			*value += right;
			break;
		case '-':
			*value -= right;
			break;
		default:
			*value *= right;
		}
	}
	return ret;
}

static int expression(struct reader *r, uint64_t *value)
{
	*value = 0;
	return binary(r, 0, value);
}

/* The fields of struct sock_filter. */
static const struct {
	const char *name;
	uint32_t max;
} fields[4] = {
	{ "code", UINT16_MAX }, { "jt", UINT8_MAX }, { "jf", UINT8_MAX }, { "k", UINT32_MAX }
};

static int field_value(struct reader *r, unsigned int field, uint32_t *value)
{
	const char *at;
	uint64_t wide;
	int ret;

	skip(r);
	at = r->p;
	ret = expression(r, &wide);
	if (ret)
		return ret;
	/* -1 and ~1 are fine for k, as in C. */
	if (wide > fields[field].max && !(field == 3 && wide >> 32 == UINT32_MAX))
		return filter_text_error(r->err, r->text, at, "%s is more than %u",
					 fields[field].name, fields[field].max);
	*value = (uint32_t)wide;
	return 0;
}

/* { code, jt, jf, k }, any of them with designators, trailing ones left out. */
static int brace_insn(struct reader *r, uint32_t value[4])
{
	unsigned int field = 0;
	int ret = 0;

	while (!ret && !peek(r, '}')) {
		if (take(r, '.')) {
			const char *at = r->p;
			char name[MAX_NAME];

			if (!take_name(r, name))
				return expected(r, "a field of struct sock_filter");
			for (field = 0; field < 4 && strcmp(fields[field].name, name);)
				field++;
			if (field == 4)
				return filter_text_error(r->err, r->text, at,
							 "struct sock_filter has no field '%s'",
							 name);
			ret = need(r, '=');
			if (ret)
				return ret;
		}
		if (field == 4)
			return expected(r, "'}' after four values");
		ret = field_value(r, field, &value[field]);
		field++;
		if (!ret && !take(r, ',') && !peek(r, '}'))
			ret = expected(r, "',' or '}'");
	}
	return ret ? ret : need(r, '}');
}

/* Arguments of BPF_STMT(code, k) and BPF_JUMP(code, k, jt, jf), after the name. */
static int macro_insn(struct reader *r, bool jump, uint32_t value[4])
{
	static const unsigned int order[] = { 0, 3, 1, 2 };
	unsigned int n = jump ? 4 : 2;
	int ret = need(r, '(');

	for (unsigned int i = 0; !ret && i < n; i++) {
		ret = field_value(r, order[i], &value[order[i]]);
		if (!ret)
			ret = need(r, i + 1 < n ? ',' : ')');
	}
	return ret;
}

static uint32_t line_of(const struct reader *r, const char **counted, uint32_t *line)
{
	for (; *counted < r->p; (*counted)++)
		*line += **counted == '\n';
	return *line;
}

static int elements(struct reader *r, bool braced, struct filter_code *code)
{
	const char *counted = r->text;
	uint32_t line = 1;
	int ret = 0;

	for (;;) {
		uint32_t value[4] = { 0 }, at;
		char name[MAX_NAME];

		skip(r);
		at = line_of(r, &counted, &line);
		if (r->p >= r->end)
			return braced ? expected(r, "'}'") : 0;
		if (braced && take(r, '}'))
			return 0;
		if (take(r, '{')) {
			ret = brace_insn(r, value);
		} else if (peek_name(r, "BPF_STMT") || peek_name(r, "BPF_JUMP")) {
			take_name(r, name);
			ret = macro_insn(r, !strcmp(name, "BPF_JUMP"), value);
		} else {
			ret = expected(r, "{ code, jt, jf, k }, BPF_STMT() or BPF_JUMP()");
		}
		if (!ret)
			ret = filter_code_add(
				code,
				(struct loupe_cbpf_insn){ (uint16_t)value[0], (uint8_t)value[1],
							  (uint8_t)value[2], value[3] },
				at, r->err);
		if (ret)
			return ret;
		if (!take(r, ',') && !(braced && peek(r, '}'))) {
			skip(r);
			if (!braced && r->p >= r->end)
				return 0;
			return expected(r, braced ? "',' or '}'" : "','");
		}
	}
}

/* Goes behind the "{" of the next initialized array of struct sock_filter; false if there is none.
 */
static bool find_array(struct reader *r)
{
	char name[MAX_NAME];

	while (skip(r), r->p < r->end) {
		if (!take_name(r, name)) {
			r->p++;
			continue;
		}
		if (strcmp(name, "sock_filter"))
			continue;
		if (!take_name(r, name) || !take(r, '['))
			continue;
		while (r->p < r->end && *r->p != ']' && *r->p != ';')
			r->p++;
		if (take(r, ']') && take(r, '=') && take(r, '{'))
			return true;
	}
	return false;
}

int filter_read_c(const char *text, struct filter_code *code, struct loupe_error *err)
{
	size_t macro_work = 0;
	struct reader r = {
		.text = text,
		.p = text,
		.end = text + strlen(text),
		.macro_work = &macro_work,
		.err = err,
	};
	bool braced = false;
	int ret;

	if (find_array(&r)) {
		ret = elements(&r, true, code);
		if (ret)
			return ret;
		if (find_array(&r))
			return filter_text_error(err, text, r.p,
						 "a second filter in the same file; keep one");
		return 0;
	}
	r.p = text;
	/* A bare list may have braces around it. */
	if (take(&r, '{') &&
	    (peek(&r, '{') || peek_name(&r, "BPF_STMT") || peek_name(&r, "BPF_JUMP")))
		braced = true;
	else
		r.p = text;
	skip(&r);
	if (r.p >= r.end)
		return filter_text_error(err, text, r.p, "no filter in this text");
	ret = elements(&r, braced, code);
	if (ret || !braced)
		return ret;
	take(&r, ';');
	skip(&r);
	return r.p < r.end ? expected(&r, "the end of the file") : 0;
}
