// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfloupe-load: makes images of one object's programs for libbpfloupe, at the other end of a
 * socket. A process of its own, because hostile objects crash libbpf and libelf, and because libbpf
 * keeps what it learns of a kernel for the process' life.
 */
#include "load/helper/host.h"
#include "load/helper/object.h"
#include "load/helper/reply.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static uint32_t programs_sent;

static bool transfer(void *data, size_t len, bool out)
{
	uint8_t *pos = data;

	while (len) {
		ssize_t n =
			out ? send(WIRE_FD, pos, len, MSG_NOSIGNAL) : recv(WIRE_FD, pos, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		pos += n;
		len -= (size_t)n;
	}
	return true;
}

static void send_frame(enum wire_type type, struct wire_buf *buf)
{
	struct wire_header header = { .type = type, .len = (uint32_t)buf->len };

	if (!transfer(&header, sizeof(header), true) || !transfer(buf->data, buf->len, true))
		_exit(2);
	wire_buf_finish(buf);
}

void reply_program(const char *name, const char *section, const char *reason,
		   struct loupe_image *image)
{
	struct loupe_program program = {
		.name = (char *)name,
		.section = (char *)section,
		.reason = (char *)reason,
		.image = image,
	};
	struct wire_buf buf = { 0 };

	wire_put_program(&buf, &program);
	if (buf.failed) {
		wire_buf_finish(&buf);
		program.image = NULL;
		program.reason = (char *)"the program is too large";
		wire_put_program(&buf, &program);
	}
	loupe_image_destroy(image);
	send_frame(WIRE_PROGRAM, &buf);
	programs_sent++;
}

void reply_error(int code, const char *fmt, ...)
{
	struct wire_buf buf = { 0 };
	char message[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	wire_put_u32(&buf, (uint32_t)code);
	wire_put_str(&buf, message);
	send_frame(WIRE_ERROR, &buf);
	_exit(0);
}

void reply_end(void)
{
	struct wire_buf buf = { 0 };

	if (!programs_sent)
		reply_error(-ENOENT, "the object holds no BPF program");
	send_frame(WIRE_END, &buf);
	_exit(0);
}

bool reply_wanted(const struct wire_request *request, const char *name, const char *section)
{
	return !request->prog_name || strcmp(request->prog_name, name) == 0 ||
	       strcmp(request->prog_name, section) == 0;
}

static void limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max)
		value = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = value;
	setrlimit(resource, &limit);
}

/* What a hostile object may cost at most. */
static void limit_resources(const struct wire_request *request)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, request->timeout_ms / 1000 + 1);
	limit(RLIMIT_AS, ((rlim_t)1 << 30) + 8 * (rlim_t)request->object_len);
	limit(RLIMIT_NOFILE, 65536);
}

int main(void)
{
	struct wire_header header;
	struct wire_request request;
	struct wire_reader reader;
	uint8_t *frame;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!transfer(&header, sizeof(header), false)) {
		fputs("bpfloupe-load is started by bpfloupe; it does nothing by itself\n", stderr);
		return 2;
	}
	if (header.type != WIRE_REQUEST || header.len > WIRE_MAX_OBJECT + (1 << 20))
		return 2;
	frame = malloc(header.len ? header.len : 1);
	if (!frame || !transfer(frame, header.len, false))
		return 2;
	reader = (struct wire_reader){ .pos = frame, .end = frame + header.len };
	if (wire_get_request(&reader, &request))
		return 2;
	limit_resources(&request);
	host_setup(&request);
	if (legacy_is(&request))
		legacy_load(&request);
	object_load(&request);
}
