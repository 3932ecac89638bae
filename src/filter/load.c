// SPDX-License-Identifier: GPL-2.0-only
#include "filter/opcode.h"
#include "filter/read.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No sensible filter in any of the formats comes near this many bytes. */
#define MAX_INPUT (4u << 20)

int filter_code_add(struct filter_code *code, struct loupe_cbpf_insn insn, uint32_t line,
		    struct loupe_error *err)
{
	if (code->cnt == LOUPE_FILTER_MAX_INSNS)
		return loupe_error_set(err, -E2BIG,
				       "more than %u instructions; the kernel takes no more",
				       LOUPE_FILTER_MAX_INSNS);
	if (code->cnt == code->cap) {
		uint32_t cap = code->cap ? code->cap * 2 : 64;
		struct loupe_cbpf_insn *insns = realloc(code->insns, cap * sizeof(*insns));
		uint32_t *lines;

		if (insns)
			code->insns = insns;
		lines = insns ? realloc(code->lines, cap * sizeof(*lines)) : NULL;
		if (!lines)
			return loupe_error_set(err, -ENOMEM, "out of memory");
		code->lines = lines;
		code->cap = cap;
	}
	code->insns[code->cnt] = insn;
	code->lines[code->cnt++] = line;
	return 0;
}

void filter_code_finish(struct filter_code *code)
{
	free(code->insns);
	free(code->lines);
	*code = (struct filter_code){ 0 };
}

int filter_text_error(struct loupe_error *err, const char *text, const char *at, const char *fmt,
		      ...)
{
	char message[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	loupe_error_set(err, -EINVAL, "%s", message);
	if (err) {
		err->line = err->column = 1;
		for (const char *p = text; p < at; p++) {
			err->column++;
			if (*p == '\n') {
				err->line++;
				err->column = 1;
			}
		}
	}
	return -EINVAL;
}

/* One decimal number of a -ddd line; max is the field's. */
static int ddd_number(const char *text, const char **at, const char *field, uint32_t max,
		      uint32_t *value, struct loupe_error *err)
{
	const char *p = *at;
	uint64_t n = 0;

	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	if (!isdigit((unsigned char)*p))
		return filter_text_error(err, text, p,
					 *p == '\n' || !*p ? "the line ends before its %s"
							   : "%s is not a decimal number",
					 field);
	*at = p;
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > max)
			return filter_text_error(err, text, *at, "%s is more than %u", field, max);
	}
	if (*p && !isspace((unsigned char)*p))
		return filter_text_error(err, text, p, "unexpected character in the %s", field);
	*at = p;
	*value = (uint32_t)n;
	return 0;
}

/* Goes to the start of the next line that has something on it; err when this one has more. */
static int ddd_line_end(const char *text, const char **at, struct loupe_error *err)
{
	const char *p = *at;

	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	if (*p && *p != '\n')
		return filter_text_error(err, text, p, "unexpected text at the end of the line");
	while (isspace((unsigned char)*p))
		p++;
	*at = p;
	return 0;
}

int filter_read_ddd(const char *text, struct filter_code *code, struct loupe_error *err)
{
	const char *p = text, *count_at;
	uint32_t count, line = 1;
	const char *counted = text;
	int ret;

	while (isspace((unsigned char)*p))
		p++;
	count_at = p;
	ret = ddd_number(text, &p, "instruction count", UINT32_MAX, &count, err);
	if (!ret)
		ret = ddd_line_end(text, &p, err);
	while (!ret && *p) {
		uint32_t value[4] = { 0 };

		for (; counted < p; counted++)
			line += *counted == '\n';
		ret = ddd_number(text, &p, "code", UINT16_MAX, &value[0], err);
		if (!ret)
			ret = ddd_number(text, &p, "jt", UINT8_MAX, &value[1], err);
		if (!ret)
			ret = ddd_number(text, &p, "jf", UINT8_MAX, &value[2], err);
		if (!ret)
			ret = ddd_number(text, &p, "k", UINT32_MAX, &value[3], err);
		if (!ret)
			ret = ddd_line_end(text, &p, err);
		if (!ret)
			ret = filter_code_add(
				code,
				(struct loupe_cbpf_insn){ (uint16_t)value[0], (uint8_t)value[1],
							  (uint8_t)value[2], value[3] },
				line, err);
	}
	if (ret)
		return ret;
	if (code->cnt != count)
		return filter_text_error(err, text, count_at,
					 "the first line says %u instructions, but %u follow",
					 count, code->cnt);
	return 0;
}

static int read_raw(const uint8_t *data, size_t len, struct filter_code *code,
		    struct loupe_error *err)
{
	if (len % 8) {
		loupe_error_set(err, -EINVAL,
				"%zu bytes are no whole number of 8-byte instructions", len);
		if (err)
			err->offset = (int64_t)(len - len % 8);
		return -EINVAL;
	}
	for (size_t i = 0; i < len; i += 8) {
		struct loupe_cbpf_insn insn = {
			.code = (uint16_t)(data[i] | data[i + 1] << 8),
			.jt = data[i + 2],
			.jf = data[i + 3],
			.k = data[i + 4] | (uint32_t)data[i + 5] << 8 |
			     (uint32_t)data[i + 6] << 16 | (uint32_t)data[i + 7] << 24,
		};
		int ret = filter_code_add(code, insn, 0, err);

		if (ret)
			return ret;
	}
	return 0;
}

static bool is_text(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r'))
			return false;
	}
	return true;
}

static enum loupe_filter_format guess_format(const uint8_t *data, size_t len)
{
	size_t i = 0;

	if (!is_text(data, len))
		return LOUPE_FILTER_RAW;
	while (i < len && isspace(data[i]))
		i++;
	if (i == len || !isdigit(data[i]))
		return LOUPE_FILTER_C;
	return LOUPE_FILTER_DDD;
}

/* Text that has a NUL behind it; *out is the caller's to free. */
static int to_text(const uint8_t *data, size_t len, char **out, struct loupe_error *err)
{
	const uint8_t *nul = memchr(data, 0, len);

	if (nul) {
		loupe_error_set(err, -EINVAL, "a zero byte in a text");
		if (err)
			err->offset = nul - data;
		return -EINVAL;
	}
	*out = malloc(len + 1);
	if (!*out)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	memcpy(*out, data, len);
	(*out)[len] = 0;
	return 0;
}

static int read_code(const uint8_t *data, size_t len, enum loupe_filter_format format,
		     struct filter_code *code, struct loupe_error *err)
{
	char *text = NULL;
	int ret;

	if (format == LOUPE_FILTER_RAW)
		return read_raw(data, len, code, err);
	ret = to_text(data, len, &text, err);
	if (!ret)
		ret = format == LOUPE_FILTER_DDD ? filter_read_ddd(text, code, err)
						 : filter_read_c(text, code, err);
	free(text);
	return ret;
}

/*
 * Checks and settles the flavour: what seccomp takes is a seccomp filter.
 * @param bad  index of the offending instruction on failure
 */
static int settle(const struct filter_code *code, enum loupe_filter_flavour *flavour, uint32_t *bad,
		  struct loupe_error *err)
{
	if (*flavour != LOUPE_FILTER_AUTO)
		return loupe_filter_check(code->insns, code->cnt, *flavour, bad, err);
	*flavour = LOUPE_FILTER_SECCOMP;
	if (!loupe_filter_check(code->insns, code->cnt, LOUPE_FILTER_SECCOMP, bad, err))
		return 0;
	*flavour = LOUPE_FILTER_SOCKET;
	return loupe_filter_check(code->insns, code->cnt, LOUPE_FILTER_SOCKET, bad, err);
}

/* Takes code over; path may be "". */
static int finish_filter(const char *path, struct filter_code *code,
			 enum loupe_filter_flavour flavour, enum loupe_filter_format format,
			 struct loupe_filter **out, struct loupe_error *err)
{
	struct loupe_filter *filter = calloc(1, sizeof(*filter));
	const char *slash = strrchr(path, '/');

	if (!filter)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	filter->file = strdup(path);
	filter->name = strdup(slash ? slash + 1 : path);
	if (!filter->file || !filter->name) {
		loupe_filter_destroy(filter);
		return loupe_error_set(err, -ENOMEM, "out of memory");
	}
	filter->flavour = flavour;
	filter->format = format;
	filter->insns = code->insns;
	filter->cnt = code->cnt;
	if (format == LOUPE_FILTER_RAW)
		free(code->lines);
	else
		filter->lines = code->lines;
	*code = (struct filter_code){ 0 };
	*out = filter;
	return 0;
}

int filter_read_all(const char *path, uint8_t **data, size_t *len, struct loupe_error *err)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t cap = 0;
	int ret = 0;

	*data = NULL;
	*len = 0;
	if (fd < 0)
		return loupe_error_set(err, -errno, "%s", strerror(errno));
	for (;;) {
		ssize_t n;

		if (*len == cap) {
			uint8_t *bigger = cap > MAX_INPUT ? NULL : realloc(*data, cap * 2 + 65536);

			if (!bigger) {
				ret = cap > MAX_INPUT
					      ? loupe_error_set(err, -EFBIG,
								"larger than any filter or table")
					      : loupe_error_set(err, -ENOMEM, "out of memory");
				break;
			}
			*data = bigger;
			cap = cap * 2 + 65536;
		}
		n = read(fd, *data + *len, cap - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = loupe_error_set(err, -errno, "%s", strerror(errno));
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	if (!standard)
		close(fd);
	return ret;
}

static int load_bytes(const char *path, const uint8_t *data, size_t len,
		      const struct loupe_filter_load_opts *opts, struct loupe_filter **out,
		      struct loupe_error *err)
{
	enum loupe_filter_flavour flavour = opts ? opts->flavour : LOUPE_FILTER_AUTO;
	enum loupe_filter_format format = opts ? opts->format : LOUPE_FILTER_FORMAT_AUTO;
	struct filter_code code = { 0 };
	uint32_t bad = 0;
	int ret;

	if (!len)
		return loupe_error_set(err, -EINVAL, "empty input, not a filter");
	if (len > MAX_INPUT)
		return loupe_error_set(err, -EFBIG, "too large for a filter");
	if (format == LOUPE_FILTER_FORMAT_AUTO && len >= 4 && !memcmp(data, "\177ELF", 4))
		return loupe_error_set(err, -EINVAL,
				       "an ELF file, not a classic filter (sock_filter "
				       "bytes, tcpdump -ddd text, C initializers)");
	if (format == LOUPE_FILTER_FORMAT_AUTO)
		format = guess_format(data, len);
	ret = read_code(data, len, format, &code, err);
	if (!ret) {
		ret = settle(&code, &flavour, &bad, err);
		if (ret == -EINVAL && err && code.cnt) {
			if (format == LOUPE_FILTER_RAW)
				err->offset = bad * INT64_C(8);
			else
				err->line = code.lines[bad];
		}
	}
	if (!ret)
		ret = finish_filter(path, &code, flavour, format, out, err);
	filter_code_finish(&code);
	return ret;
}

int loupe_filter_load(const char *path, const void *data, size_t len,
		      const struct loupe_filter_load_opts *opts, struct loupe_filter **out,
		      struct loupe_error *err)
{
	uint8_t *own = NULL;
	int ret = 0;

	*out = NULL;
	if (!path)
		path = "";
	if (!data) {
		ret = filter_read_all(path, &own, &len, err);
		data = own;
	}
	if (!ret)
		ret = load_bytes(path, data, len, opts, out, err);
	if (ret && err)
		snprintf(err->file, sizeof(err->file), "%s", path);
	free(own);
	return ret;
}

int loupe_filter_create(const char *name, const struct loupe_cbpf_insn *insns, uint32_t cnt,
			enum loupe_filter_flavour flavour, struct loupe_filter **out,
			struct loupe_error *err)
{
	struct filter_code code = { 0 };
	uint32_t bad;
	int ret = 0;

	*out = NULL;
	for (uint32_t i = 0; !ret && i < cnt; i++)
		ret = filter_code_add(&code, insns[i], 0, err);
	if (!ret)
		ret = settle(&code, &flavour, &bad, err);
	if (!ret)
		ret = finish_filter(name, &code, flavour, LOUPE_FILTER_RAW, out, err);
	filter_code_finish(&code);
	return ret;
}

void loupe_filter_destroy(struct loupe_filter *filter)
{
	if (!filter)
		return;
	free(filter->file);
	free(filter->name);
	free(filter->insns);
	free(filter->lines);
	free(filter);
}

static bool sniff_raw(const uint8_t *data, size_t len)
{
	if (len % 8 || len / 8 > LOUPE_FILTER_MAX_INSNS)
		return false;
	for (size_t i = 0; i < len; i += 8) {
		if (filter_opcode_of((uint16_t)(data[i] | data[i + 1] << 8))->form == FORM_INVALID)
			return false;
	}
	return filter_is_ret(data[len - 8]);
}

/* A line with one number, then one with four. */
static bool sniff_ddd(const uint8_t *data, size_t len)
{
	static const unsigned int wanted[] = { 1, 4 };
	size_t i = 0;

	for (size_t row = 0; row < 2; row++) {
		unsigned int numbers = 0;

		while (i < len && isspace(data[i]))
			i++;
		while (i < len && data[i] != '\n') {
			if (!isdigit(data[i]))
				return false;
			while (i < len && isdigit(data[i]))
				i++;
			numbers++;
			while (i < len && data[i] != '\n' && isspace(data[i]))
				i++;
		}
		if (numbers != wanted[row])
			return false;
	}
	return true;
}

static bool sniff_c(const uint8_t *data, size_t len)
{
	static const char *const words[] = { "sock_filter", "BPF_STMT", "BPF_JUMP" };
	size_t i = 0;

	while (i < len && (isspace(data[i]) || data[i] == '{'))
		i++;
	if (i && i < len && data[i - 1] != '\n' && isdigit(data[i]) && memchr(data, '{', i))
		return true;
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		if (memmem(data, len, words[w], strlen(words[w])))
			return true;
	}
	return false;
}

bool loupe_filter_sniff(const void *data, size_t len)
{
	if (!len || len > MAX_INPUT)
		return false;
	if (!is_text(data, len))
		return sniff_raw(data, len);
	return sniff_ddd(data, len) || sniff_c(data, len);
}
