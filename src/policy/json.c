// SPDX-License-Identifier: GPL-2.0-only
/* A JSON reader (RFC 8259) that keeps positions. */
#include "policy/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH   64u
#define MAX_MEMBERS 256u /* of an object; no policy has so many */
#define CHUNK_SIZE 65536u

struct json_chunk {
	struct json_chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct reader {
	const char *file;
	const char *at, *end;
	const char *line_start;
	uint32_t line;
	unsigned int depth;
	struct json_document *doc;
	struct loupe_error *err;
};

static void *take(struct reader *r, size_t size)
{
	struct json_chunk *chunk = r->doc->chunks;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct json_chunk){ .next = r->doc->chunks, .size = room };
		r->doc->chunks = chunk;
	}
	p = chunk->bytes + chunk->used;
	chunk->used += size;
	return p;
}

static int no_memory(struct reader *r)
{
	return loupe_error_set(r->err, -ENOMEM, "out of memory");
}

static uint32_t column_of(const struct reader *r, const char *at)
{
	return (uint32_t)(at - r->line_start) + 1;
}

static int fail(struct reader *r, const char *at, const char *what)
{
	loupe_error_set(r->err, -EINVAL, "%s", what);
	if (r->err) {
		snprintf(r->err->file, sizeof(r->err->file), "%s", r->file);
		r->err->line = r->line;
		r->err->column = column_of(r, at);
	}
	return -EINVAL;
}

static void skip_space(struct reader *r)
{
	for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++) {
		if (*r->at == '\n') {
			r->line++;
			r->line_start = r->at + 1;
		}
	}
}

static int hex4(struct reader *r, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < 4; i++, r->at++) {
		char c = r->at < r->end ? *r->at : 0;

		if (!isxdigit((unsigned char)c))
			return fail(r, r->at, "\\u needs four hexadecimal digits");
		*out = *out * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return 0;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Behind a backslash. */
static int read_escape(struct reader *r, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *at = r->at - 1, *known;
	uint32_t c, low;
	int ret;

	known = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
	if (known) {
		*(*to)++ = into[known - from];
		r->at++;
		return 0;
	}
	if (r->at == r->end || *r->at != 'u')
		return fail(r, at, "unknown escape in a string");
	r->at++;
	ret = hex4(r, &c);
	if (ret)
		return ret;
	if (c >= 0xd800 && c < 0xdc00) {
		if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
			return fail(r, at, "half of a surrogate pair");
		r->at += 2;
		ret = hex4(r, &low);
		if (ret)
			return ret;
		if (low < 0xdc00 || low >= 0xe000)
			return fail(r, at, "half of a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (!c || (c >= 0xdc00 && c < 0xe000)) {
		return fail(r, at, c ? "half of a surrogate pair" : "a zero character in a string");
	}
	*to = put_utf8(*to, c);
	return 0;
}

static int read_string(struct reader *r, const char **out)
{
	const char *start = r->at++, *close = r->at;
	char *to;

	while (close < r->end && *close != '"' && *close != '\n')
		close += *close == '\\' && close + 1 < r->end && close[1] != '\n' ? 2 : 1;
	if (close >= r->end || *close != '"')
		return fail(r, start, "a string without its closing quote");
	to = take(r, (size_t)(close - r->at) + 1);
	if (!to)
		return no_memory(r);
	*out = to;
	while (*r->at != '"') {
		int ret = 0;

		if ((unsigned char)*r->at < 0x20)
			return fail(r, r->at, "a control character in a string");
		if (*r->at != '\\') {
			*to++ = *r->at++;
		} else {
			r->at++;
			ret = read_escape(r, &to);
		}
		if (ret)
			return ret;
	}
	r->at++;
	*to = 0;
	return 0;
}

static bool digit_at(const struct reader *r)
{
	return r->at < r->end && isdigit((unsigned char)*r->at);
}

static int read_number(struct reader *r, struct json_value *value)
{
	const char *start = r->at;

	value->type = JSON_INTEGER;
	value->negative = *r->at == '-';
	r->at += value->negative;
	if (!digit_at(r))
		return fail(r, start, "a sign without digits");
	if (*r->at == '0' && r->at + 1 < r->end && isdigit((unsigned char)r->at[1]))
		return fail(r, start, "a number that starts with 0");
	for (; digit_at(r); r->at++) {
		if (__builtin_mul_overflow(value->magnitude, 10, &value->magnitude) ||
		    __builtin_add_overflow(value->magnitude, (uint64_t)(*r->at - '0'),
					   &value->magnitude))
			value->type = JSON_REAL;
	}
	if (r->at < r->end && *r->at == '.') {
		value->type = JSON_REAL;
		r->at++;
		if (!digit_at(r))
			return fail(r, start, "a point without digits behind it");
		while (digit_at(r))
			r->at++;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		value->type = JSON_REAL;
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		if (!digit_at(r))
			return fail(r, start, "an exponent without digits");
		while (digit_at(r))
			r->at++;
	}
	return 0;
}

static int read_word(struct reader *r, struct json_value *value)
{
	static const struct {
		const char *word;
		enum json_type type;
	} words[] = { { "null", JSON_NULL }, { "false", JSON_FALSE }, { "true", JSON_TRUE } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i].word);

		if ((size_t)(r->end - r->at) >= len && !memcmp(r->at, words[i].word, len)) {
			value->type = words[i].type;
			r->at += len;
			return 0;
		}
	}
	return fail(r, r->at, "expected a value");
}

static int read_value(struct reader *r, struct json_value *value);

/* A key and its colon. Readers disagree on which of two members of one name counts. */
static int read_key(struct reader *r, const struct json_value *object, struct json_value *item)
{
	const char *start;
	int ret;

	skip_space(r);
	start = r->at;
	if (r->at == r->end || *r->at != '"')
		return fail(r, r->at, "expected a member's name in quotes");
	if (object->cnt == MAX_MEMBERS)
		return fail(r, start, "more members in one object than any policy has");
	ret = read_string(r, &item->key);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < object->cnt; i++) {
		if (!strcmp(object->items[i].key, item->key))
			return fail(r, start, "this object has a member of this name already");
	}
	skip_space(r);
	if (r->at == r->end || *r->at != ':')
		return fail(r, r->at, "expected ':' behind a member's name");
	r->at++;
	return 0;
}

static int add_item(struct reader *r, struct json_value *value, uint32_t *cap)
{
	struct json_value *bigger;

	if (value->cnt < *cap)
		return 0;
	*cap = *cap ? *cap * 2 : 4;
	bigger = take(r, *cap * sizeof(*bigger));
	if (!bigger)
		return no_memory(r);
	if (value->cnt)
		memcpy(bigger, value->items, value->cnt * sizeof(*bigger));
	value->items = bigger;
	return 0;
}

/* Items have moved while the list grew: tell their children. */
static void adopt(struct json_value *value)
{
	for (uint32_t i = 0; i < value->cnt; i++) {
		struct json_value *item = &value->items[i];

		item->parent = value;
		for (uint32_t c = 0; c < item->cnt; c++)
			item->items[c].parent = item;
	}
}

static int read_items(struct reader *r, struct json_value *value)
{
	char close = value->type == JSON_OBJECT ? '}' : ']';
	uint32_t cap = 0;

	if (r->depth == MAX_DEPTH)
		return fail(r, r->at, "nested too deep");
	r->depth++;
	r->at++;
	skip_space(r);
	if (r->at < r->end && *r->at == close) {
		r->at++;
		r->depth--;
		return 0;
	}
	for (;;) {
		int ret = add_item(r, value, &cap);
		struct json_value *item;

		if (ret)
			return ret;
		item = &value->items[value->cnt];
		*item = (struct json_value){ .index = value->cnt };
		if (value->type == JSON_OBJECT)
			ret = read_key(r, value, item);
		if (!ret)
			ret = read_value(r, item);
		if (ret)
			return ret;
		value->cnt++;
		skip_space(r);
		if (r->at < r->end && *r->at == ',') {
			r->at++;
			continue;
		}
		if (r->at == r->end || *r->at != close)
			return fail(r, r->at,
				    close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
		r->at++;
		r->depth--;
		adopt(value);
		return 0;
	}
}

static int read_value(struct reader *r, struct json_value *value)
{
	skip_space(r);
	value->line = r->line;
	value->column = column_of(r, r->at);
	if (r->at == r->end)
		return fail(r, r->at, "expected a value, found the end");
	switch (*r->at) {
	case '{':
		value->type = JSON_OBJECT;
		return read_items(r, value);
	case '[':
		value->type = JSON_ARRAY;
		return read_items(r, value);
	case '"':
		value->type = JSON_STRING;
		return read_string(r, &value->string);
	default:
		if (*r->at == '-' || isdigit((unsigned char)*r->at))
			return read_number(r, value);
		return read_word(r, value);
	}
}

int json_read(const char *file, const char *text, size_t len, struct json_document *out,
	      struct loupe_error *err)
{
	struct reader r = {
		.file = file,
		.at = text,
		.end = text + len,
		.line_start = text,
		.line = 1,
		.doc = out,
		.err = err,
	};
	int ret;

	*out = (struct json_document){ 0 };
	ret = read_value(&r, &out->root);
	if (ret)
		return ret;
	skip_space(&r);
	return r.at == r.end ? 0 : fail(&r, r.at, "unexpected text behind the document");
}

void json_finish(struct json_document *doc)
{
	while (doc->chunks) {
		struct json_chunk *next = doc->chunks->next;

		free(doc->chunks);
		doc->chunks = next;
	}
	*doc = (struct json_document){ 0 };
}

const struct json_value *json_get(const struct json_value *value, const char *key)
{
	if (!value || value->type != JSON_OBJECT)
		return NULL;
	for (uint32_t i = 0; i < value->cnt; i++) {
		if (!strcmp(value->items[i].key, key))
			return &value->items[i];
	}
	return NULL;
}

const struct json_value *json_get_set(const struct json_value *value, const char *key)
{
	const struct json_value *member = json_get(value, key);

	return member && member->type != JSON_NULL ? member : NULL;
}

static bool plain_key(const char *key)
{
	if (!*key)
		return false;
	for (; *key; key++) {
		if (!isalnum((unsigned char)*key) && *key != '_' && *key != '-')
			return false;
	}
	return true;
}

void json_path(const struct json_value *value, char *buf, size_t size)
{
	const struct json_value *chain[MAX_DEPTH + 1];
	unsigned int cnt = 0;
	size_t used;

	for (; value->parent && cnt < MAX_DEPTH; value = value->parent)
		chain[cnt++] = value;
	used = (size_t)snprintf(buf, size, "$");
	while (cnt-- && used < size) {
		const struct json_value *item = chain[cnt];
		int n;

		if (!item->key)
			n = snprintf(buf + used, size - used, "[%u]", item->index);
		else if (plain_key(item->key))
			n = snprintf(buf + used, size - used, ".%s", item->key);
		else
			n = snprintf(buf + used, size - used, "['%s']", item->key);
		used += (size_t)n;
	}
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	       [JSON_FALSE] = "false",
		[JSON_TRUE] = "true",	       [JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number that is no 64-bit integer",
		[JSON_STRING] = "a string",    [JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};

	return names[type];
}
