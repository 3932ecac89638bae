// SPDX-License-Identifier: GPL-2.0-only
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Longest start of a character that waits for the rest of it. */
enum { MAX_CARRY = 3 };

struct guard {
	char carry[MAX_CARRY];
	size_t carried;
};

void out_reserve(void)
{
	/* the wrong way round, so that using one is still an error */
	static const int flags[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd]) != fd)
			return;
	}
}

static int write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Bytes at the end of text that may be the start of a character. */
static size_t unfinished(const char *text, size_t len)
{
	for (size_t back = 1; back <= MAX_CARRY && back <= len; back++) {
		unsigned char c = (unsigned char)text[len - back];

		if (c < 0x80)
			return 0;
		if (c >= 0xc0)
			return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? back : 0;
	}
	return 0;
}

static ssize_t guard_write(void *cookie, const char *text, size_t len)
{
	struct guard *guard = cookie;
	char buf[4096 + MAX_CARRY];
	size_t done = 0;

	while (done < len) {
		size_t part = len - done < 4096 ? len - done : 4096, used = guard->carried;

		memcpy(buf, guard->carry, used);
		memcpy(buf + used, text + done, part);
		done += part;
		used += part;
		guard->carried = unfinished(buf, used);
		used -= guard->carried;
		memcpy(guard->carry, buf + used, guard->carried);
		loupe_text_clean(buf, used, true);
		if (write_all(buf, used))
			return 0;
	}
	return (ssize_t)len;
}

void out_guard(void)
{
	static struct guard guard;
	FILE *guarded;

	if (!isatty(STDOUT_FILENO))
		return;
	guarded = fopencookie(&guard, "w", (cookie_io_functions_t){ .write = guard_write });
	if (!guarded)
		return;
	setvbuf(guarded, NULL, _IOLBF, BUFSIZ);
	stdout = guarded;
}

int out_finish(int status)
{
	bool lost = ferror(stdout);
	int err = 0;

	if (fflush(stdout)) {
		lost = true;
		err = errno;
	}
	if (!lost)
		return status;
	if (err)
		return complain_text("cannot write the output: %s", strerror(err));
	return complain_text("cannot write all of the output; is there room for it?");
}
