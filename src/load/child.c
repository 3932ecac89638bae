// SPDX-License-Identifier: GPL-2.0-only
#include "load/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int64_t child_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct child {
	pid_t pid;
	int sock; /* ours, -1 once closed */
	int64_t deadline;
	uint8_t *in; /* what arrived and is not read yet */
	size_t in_len, in_cap;
	size_t received; /* bytes in all */
};

/* The loader gets the socket as WIRE_FD and otherwise nothing of ours but the environment. */
static int spawn(struct child *child, const char *path)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *argv[] = { (char *)"bpfloupe-load", NULL };
	sigset_t none, all;
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* dup2() of a descriptor onto itself would leave it close-on-exec. */
	if (pair[1] <= WIRE_FD) {
		int above = fcntl(pair[1], F_DUPFD_CLOEXEC, WIRE_FD + 1);

		close(pair[1]);
		pair[1] = above;
	}
	if (pair[1] < 0) {
		close(pair[0]);
		return -EMFILE;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pair[1], WIRE_FD);
	posix_spawn_file_actions_addclosefrom_np(&actions, WIRE_FD + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	ret = posix_spawn(&child->pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(pair[1]);
	if (ret) {
		close(pair[0]);
		return -ret;
	}
	child->sock = pair[0];
	return 0;
}

/* Waits until the socket can do events. Returns 0 or -ETIMEDOUT. */
static int wait_for(const struct child *child, short events)
{
	for (;;) {
		struct pollfd pfd = { .fd = child->sock, .events = events };
		int64_t left = child->deadline - child_now_ms();
		int ret;

		if (left <= 0)
			return -ETIMEDOUT;
		ret = poll(&pfd, 1, left > 60000 ? 60000 : (int)left);
		if (ret > 0)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(const struct child *child, const void *data, size_t len)
{
	const uint8_t *pos = data;

	while (len) {
		ssize_t n = send(child->sock, pos, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			pos += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			int ret = wait_for(child, POLLOUT);

			if (ret)
				return ret;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Receives more. Returns 0, -EPIPE at the end, -ETIMEDOUT, -EBADMSG for too much, -ENOMEM. */
static int receive(struct child *child)
{
	ssize_t n;

	if (child->received >= WIRE_MAX_REPLY)
		return -EBADMSG;
	if (child->in_cap - child->in_len < 65536) {
		size_t cap = child->in_cap ? child->in_cap * 2 : 262144;
		uint8_t *grown = realloc(child->in, cap);

		if (!grown)
			return -ENOMEM;
		child->in = grown;
		child->in_cap = cap;
	}
	for (;;) {
		int ret = wait_for(child, POLLIN);

		if (ret)
			return ret;
		n = recv(child->sock, child->in + child->in_len, child->in_cap - child->in_len,
			 MSG_DONTWAIT);
		if (n > 0)
			break;
		if (!n)
			return -EPIPE;
		if (errno == ECONNRESET)
			return -EPIPE;
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
	}
	child->in_len += (size_t)n;
	child->received += (size_t)n;
	return 0;
}

/* The next whole frame; it stays in the buffer until drop_frame(). */
static int next_frame(struct child *child, struct wire_header *header, struct wire_reader *reader)
{
	for (;;) {
		int ret;

		if (child->in_len >= sizeof(*header)) {
			memcpy(header, child->in, sizeof(*header));
			if (header->len > WIRE_MAX_REPLY)
				return -EBADMSG;
			if (child->in_len - sizeof(*header) >= header->len)
				break;
		}
		ret = receive(child);
		if (ret)
			return ret;
	}
	reader->pos = child->in + sizeof(*header);
	reader->end = reader->pos + header->len;
	reader->failed = false;
	return 0;
}

static void drop_frame(struct child *child, const struct wire_header *header)
{
	size_t len = sizeof(*header) + header->len;

	child->in_len -= len;
	memmove(child->in, child->in + len, child->in_len);
}

/* Doubling at each power of two needs no capacity beside the count. */
int child_reserve(struct loupe_program_list *list)
{
	size_t cap = list->cnt ? (size_t)list->cnt * 2 : 1;
	struct loupe_program *grown;

	if (list->cnt & (list->cnt - 1))
		return 0;
	grown = realloc(list->progs, cap * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->progs = grown;
	return 0;
}

static int read_program(struct wire_reader *reader, struct loupe_program_list *out)
{
	int ret = child_reserve(out);

	if (!ret)
		ret = wire_get_program(reader, &out->progs[out->cnt]);
	if (!ret)
		out->cnt++;
	return ret;
}

static int read_refusal(struct wire_reader *reader, struct loupe_error *err)
{
	int code = (int)wire_get_u32(reader);
	char *message = wire_get_str(reader);

	if (code >= 0 || code < -4095)
		code = -EINVAL;
	code = loupe_error_set(err, code, "%s", message ? message : "refused without a reason");
	free(message);
	return code;
}

static int read_reply(struct child *child, struct loupe_program_list *out, struct loupe_error *err)
{
	for (;;) {
		struct wire_header header;
		struct wire_reader reader;
		int ret = next_frame(child, &header, &reader);

		if (ret)
			return ret;
		switch (header.type) {
		case WIRE_END:
			return 0;
		case WIRE_ERROR:
			/* Positive: err is filled already. */
			return -read_refusal(&reader, err);
		case WIRE_PROGRAM:
			ret = read_program(&reader, out);
			if (ret)
				return ret;
			break;
		default:
			return -EBADMSG;
		}
		drop_frame(child, &header);
	}
}

/* Ends the process if it still runs and collects it. Returns its wait status, 0 if unknown. */
static int reap(struct child *child, bool force)
{
	int status = 0;

	close(child->sock);
	child->sock = -1;
	if (force)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 0;
	}
	return status;
}

static int explain_death(int status, struct loupe_error *err)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return loupe_error_set(err, -ETIMEDOUT, "libbpf used up its time on this object");
	if (WIFSIGNALED(status))
		return loupe_error_set(
			err, -EINVAL,
			"the object crashed libbpf (signal %d); it is damaged or hostile",
			WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return loupe_error_set(err, -EINVAL, "the loader process could not start");
	return loupe_error_set(err, -EINVAL, "the loader process ended early (status %d)",
			       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void truncate_list(struct loupe_program_list *list, uint32_t cnt)
{
	for (uint32_t i = cnt; i < list->cnt; i++)
		loupe_program_finish(&list->progs[i]);
	list->cnt = cnt;
}

static int send_request(const struct child *child, const struct wire_request *request)
{
	struct wire_buf buf = { 0 };
	struct wire_header header = { .type = WIRE_REQUEST };
	int ret = -ENOMEM;

	wire_put_request(&buf, request);
	if (!buf.failed) {
		header.len = (uint32_t)buf.len;
		ret = send_all(child, &header, sizeof(header));
		if (!ret)
			ret = send_all(child, buf.data, buf.len);
	}
	wire_buf_finish(&buf);
	return ret;
}

int child_load(const char *path, const struct wire_request *request, int64_t deadline,
	       struct loupe_program_list *out, struct loupe_error *err)
{
	struct child child = { .deadline = deadline };
	uint32_t cnt_before = out->cnt;
	int ret = spawn(&child, path), status;

	if (ret)
		return loupe_error_set(err, ret, "cannot start %s: %s", path, strerror(-ret));
	ret = send_request(&child, request);
	/* A loader that hung up may still have said why. */
	if (!ret || ret == -EPIPE || ret == -ECONNRESET)
		ret = read_reply(&child, out, err);
	status = reap(&child, ret < 0 && ret != -EPIPE);
	free(child.in);
	if (!ret)
		return 0;
	truncate_list(out, cnt_before);
	if (ret > 0)
		return -ret;
	switch (ret) {
	case -EPIPE:
		return explain_death(status, err);
	case -ETIMEDOUT:
		return loupe_error_set(err, ret, "loading took more than the %u ms allowed",
				       request->timeout_ms);
	case -EBADMSG:
		return loupe_error_set(err, -EINVAL, "the loader process answered nonsense");
	default:
		return loupe_error_set(err, ret, "loading failed: %s", strerror(-ret));
	}
}
