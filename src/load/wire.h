/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the library and its loader process say to each other: frames of a type, a length and fields.
 * Both ends are the same build on the same machine, so numbers travel as they lie in memory; the
 * reader still trusts nothing, because the process at the other end has parsed a hostile file.
 */
#ifndef LOAD_WIRE_H
#define LOAD_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loupe_image;
struct loupe_program;

enum wire_type {
	WIRE_REQUEST = 1, /* struct wire_request */
	WIRE_PROGRAM,	  /* one program: names, then a reason, an image, or both */
	WIRE_ERROR,	  /* the whole object is refused: errno, message */
	WIRE_END,	  /* no more programs */
};

struct wire_header {
	uint32_t type;
	uint32_t len; /* bytes that follow */
};

/* A loader's descriptor of the socket, and the largest object and reply that either end accepts. */
enum {
	WIRE_FD = 3,
	WIRE_MAX_OBJECT = 256 << 20,
	WIRE_MAX_REPLY = 1 << 30,
};

/* Growing buffer of fields. Once it failed (memory, or more than WIRE_MAX_REPLY) it takes no more.
 */
struct wire_buf {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

void wire_buf_finish(struct wire_buf *buf);
void wire_put(struct wire_buf *buf, const void *data, size_t len);
void wire_put_u32(struct wire_buf *buf, uint32_t value);
void wire_put_u64(struct wire_buf *buf, uint64_t value);
/* Length, then bytes. */
void wire_put_bytes(struct wire_buf *buf, const void *data, size_t len);
/* NULL travels as NULL. */
void wire_put_str(struct wire_buf *buf, const char *str);

/* Reads fields out of a frame. After a failure every read gives 0 or NULL. */
struct wire_reader {
	const uint8_t *pos, *end;
	bool failed;
};

void wire_get(struct wire_reader *reader, void *out, size_t len);
uint32_t wire_get_u32(struct wire_reader *reader);
uint64_t wire_get_u64(struct wire_reader *reader);
/* The bytes inside the frame, and their number in *len. */
const uint8_t *wire_get_bytes(struct wire_reader *reader, uint32_t *len);
/* An array of records of size bytes, copied; NULL with *cnt 0 if it is empty. Free it. */
void *wire_get_array(struct wire_reader *reader, size_t size, uint32_t *cnt);
/* Copied, NUL-terminated; control bytes become '?'. Free it. */
char *wire_get_str(struct wire_reader *reader);

/* What the library asks of the loader process. Strings may be NULL. */
struct wire_request {
	char *object_name; /* libbpf derives the names of internal maps from it */
	char *prog_name, *kernel_btf, *kconfig, *kallsyms;
	uint32_t kernel_version, cpus, prog_type, timeout_ms;
	bool maps_as_is, list_only;
	const uint8_t *object;
	uint32_t object_len;
};

void wire_put_request(struct wire_buf *buf, const struct wire_request *request);
/* The object stays inside the frame, strings are copied. Returns 0, -EBADMSG or -ENOMEM. */
int wire_get_request(struct wire_reader *reader, struct wire_request *request);
void wire_request_finish(struct wire_request *request);

/* A program's names, reason and image (file and object are not sent: the library knows them). */
void wire_put_program(struct wire_buf *buf, const struct loupe_program *program);
/* Returns 0, or -EBADMSG or -ENOMEM with nothing left to free. */
int wire_get_program(struct wire_reader *reader, struct loupe_program *program);

#endif
