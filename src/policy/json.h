/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON with positions: every value knows its line, column and path, so that an error of meaning can
 * name the place, and a rule its line. Integers are exact over 64 bits, which policies need for
 * arguments. (jansson has neither.)
 */
#ifndef LOUPE_POLICY_JSON_H
#define LOUPE_POLICY_JSON_H

#include "bpfloupe/common.h"

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INTEGER,
	JSON_REAL, /* a number with a fraction, an exponent or more than 64 bits; value not kept */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_value {
	enum json_type type;
	uint32_t line, column;		 /* 1-based, of its first character */
	const struct json_value *parent; /* NULL: the root */
	const char *key;		 /* in an object, else NULL */
	uint32_t index;			 /* in an array or object */
	uint64_t magnitude;		 /* INTEGER */
	bool negative;
	const char *string; /* STRING, NUL-terminated; zero bytes in strings are refused */
	struct json_value *items; /* ARRAY, OBJECT: cnt of them */
	uint32_t cnt;
};

struct json_document {
	struct json_value root;
	struct json_chunk *chunks; /* all memory */
};

/**
 * Reads a document.
 * @param file  path for errors
 * @param out   filled; free with json_finish(), on failure too
 * @return 0; -EINVAL with position; -ENOMEM
 */
int json_read(const char *file, const char *text, size_t len, struct json_document *out,
	      struct loupe_error *err);

void json_finish(struct json_document *doc);

/** Member of an object; NULL when it is not there (or value is no object). */
const struct json_value *json_get(const struct json_value *value, const char *key);

/** As json_get(), but a member that is null is none. */
const struct json_value *json_get_set(const struct json_value *value, const char *key);

/** Writes "$.syscalls[3].names[7]", NUL-terminated, cut at size. */
void json_path(const struct json_value *value, char *buf, size_t size);

/** "an object", "a string" ... */
const char *json_type_name(enum json_type type);

#endif
