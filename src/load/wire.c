// SPDX-License-Identifier: GPL-2.0-only
#include "load/wire.h"

#include "bpfloupe/common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void wire_buf_finish(struct wire_buf *buf)
{
	free(buf->data);
	*buf = (struct wire_buf){ 0 };
}

void wire_put(struct wire_buf *buf, const void *data, size_t len)
{
	if (buf->failed || !len)
		return;
	if (len > WIRE_MAX_REPLY - buf->len) {
		buf->failed = true;
		return;
	}
	if (len > buf->cap - buf->len) {
		size_t cap = buf->cap ? buf->cap : 4096;
		uint8_t *grown;

		while (cap < buf->len + len)
			cap *= 2;
		grown = realloc(buf->data, cap);
		if (!grown) {
			buf->failed = true;
			return;
		}
		buf->data = grown;
		buf->cap = cap;
	}
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

void wire_put_u32(struct wire_buf *buf, uint32_t value)
{
	wire_put(buf, &value, sizeof(value));
}

void wire_put_u64(struct wire_buf *buf, uint64_t value)
{
	wire_put(buf, &value, sizeof(value));
}

void wire_put_bytes(struct wire_buf *buf, const void *data, size_t len)
{
	if (len > WIRE_MAX_REPLY) {
		buf->failed = true;
		return;
	}
	wire_put_u32(buf, (uint32_t)len);
	wire_put(buf, data, len);
}

/* The length counts the NUL, so that 0 is no string at all. */
void wire_put_str(struct wire_buf *buf, const char *str)
{
	wire_put_bytes(buf, str, str ? strlen(str) + 1 : 0);
}

static bool take(struct wire_reader *reader, size_t len)
{
	if (reader->failed || len > (size_t)(reader->end - reader->pos)) {
		reader->failed = true;
		return false;
	}
	reader->pos += len;
	return true;
}

void wire_get(struct wire_reader *reader, void *out, size_t len)
{
	if (take(reader, len))
		memcpy(out, reader->pos - len, len);
	else
		memset(out, 0, len);
}

uint32_t wire_get_u32(struct wire_reader *reader)
{
	uint32_t value;

	wire_get(reader, &value, sizeof(value));
	return value;
}

uint64_t wire_get_u64(struct wire_reader *reader)
{
	uint64_t value;

	wire_get(reader, &value, sizeof(value));
	return value;
}

const uint8_t *wire_get_bytes(struct wire_reader *reader, uint32_t *len)
{
	*len = wire_get_u32(reader);
	if (!take(reader, *len)) {
		*len = 0;
		return NULL;
	}
	return reader->pos - *len;
}

void *wire_get_array(struct wire_reader *reader, size_t size, uint32_t *cnt)
{
	uint32_t len;
	const uint8_t *bytes = wire_get_bytes(reader, &len);
	void *copy;

	*cnt = 0;
	if (!bytes || !len)
		return NULL;
	copy = len % size ? NULL : malloc(len);
	if (!copy) {
		reader->failed = true;
		return NULL;
	}
	memcpy(copy, bytes, len);
	*cnt = (uint32_t)(len / size);
	return copy;
}

char *wire_get_str(struct wire_reader *reader)
{
	uint32_t len;
	char *str = wire_get_array(reader, 1, &len);

	if (!str)
		return NULL;
	str[len - 1] = '\0';
	loupe_text_clean(str, strlen(str), false);
	return str;
}

void wire_put_request(struct wire_buf *buf, const struct wire_request *request)
{
	wire_put_str(buf, request->object_name);
	wire_put_str(buf, request->prog_name);
	wire_put_str(buf, request->kernel_btf);
	wire_put_str(buf, request->kconfig);
	wire_put_str(buf, request->kallsyms);
	wire_put_u32(buf, request->kernel_version);
	wire_put_u32(buf, request->cpus);
	wire_put_u32(buf, request->prog_type);
	wire_put_u32(buf, request->timeout_ms);
	wire_put_u32(buf, request->maps_as_is);
	wire_put_u32(buf, request->list_only);
	wire_put_bytes(buf, request->object, request->object_len);
}

/* File names are bytes: none of them is changed. */
static char *get_raw_str(struct wire_reader *reader)
{
	uint32_t len;
	char *str = wire_get_array(reader, 1, &len);

	if (str)
		str[len - 1] = '\0';
	return str;
}

int wire_get_request(struct wire_reader *reader, struct wire_request *request)
{
	*request = (struct wire_request){ 0 };
	request->object_name = get_raw_str(reader);
	request->prog_name = get_raw_str(reader);
	request->kernel_btf = get_raw_str(reader);
	request->kconfig = get_raw_str(reader);
	request->kallsyms = get_raw_str(reader);
	request->kernel_version = wire_get_u32(reader);
	request->cpus = wire_get_u32(reader);
	request->prog_type = wire_get_u32(reader);
	request->timeout_ms = wire_get_u32(reader);
	request->maps_as_is = wire_get_u32(reader) != 0;
	request->list_only = wire_get_u32(reader) != 0;
	request->object = wire_get_bytes(reader, &request->object_len);
	if (!reader->failed)
		return 0;
	wire_request_finish(request);
	return -EBADMSG;
}

void wire_request_finish(struct wire_request *request)
{
	free(request->object_name);
	free(request->prog_name);
	free(request->kernel_btf);
	free(request->kconfig);
	free(request->kallsyms);
	*request = (struct wire_request){ 0 };
}
