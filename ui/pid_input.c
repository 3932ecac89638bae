// SPDX-License-Identifier: GPL-2.0-only
#include "pid_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "pid:";

bool pid_input_is(const char *path)
{
	return !strncmp(path, prefix, strlen(prefix));
}

/* Takes "pid:N" or "pid:N:K" apart; *filter is -1 where there is no K. */
static int parse(const char *path, int32_t *pid, int32_t *filter, struct loupe_error *err)
{
	int end = 0;

	*filter = -1;
	if (sscanf(path + strlen(prefix), "%9d%n", pid, &end) == 1 && *pid > 0) {
		const char *rest = path + strlen(prefix) + end;

		if (!*rest)
			return 0;
		end = 0;
		if (sscanf(rest, ":%9d%n", filter, &end) == 1 && *filter >= 0 && !rest[end])
			return 0;
	}
	return loupe_error_set(err, -EINVAL, "a process is N, or N:K for its filter K, not '%s'",
			       path + strlen(prefix));
}

int pid_input_stack(const char *path, struct loupe_seccomp_stack *out, struct loupe_error *err)
{
	int32_t pid, filter;
	int rc = parse(path, &pid, &filter, err);

	*out = (struct loupe_seccomp_stack){ 0 };
	if (!rc)
		rc = loupe_seccomp_stack_read(pid, out, err);
	if (rc || filter < 0)
		return rc;
	if ((uint32_t)filter >= out->cnt) {
		rc = loupe_error_set(err, -EINVAL, "process %d has %u filter%s, 0 is the newest",
				     pid, out->cnt, out->cnt == 1 ? "" : "s");
		loupe_seccomp_stack_finish(out);
		return rc;
	}
	for (uint32_t i = 0; i < out->cnt; i++) {
		if (i != (uint32_t)filter)
			loupe_filter_destroy(out->filters[i]);
	}
	out->filters[0] = out->filters[filter];
	out->cnt = 1;
	return 0;
}

int pid_input_filter(const char *path, struct loupe_filter **out, struct loupe_error *err)
{
	struct loupe_seccomp_stack stack;
	int rc = pid_input_stack(path, &stack, err);

	if (rc)
		return rc;
	if (stack.cnt > 1) {
		rc = loupe_error_set(
			err, -EINVAL,
			"process %s has %u filters: say which, as --pid %s:0 (the newest)",
			path + strlen(prefix), stack.cnt, path + strlen(prefix));
	} else {
		*out = stack.filters[0];
		stack.cnt = 0;
	}
	loupe_seccomp_stack_finish(&stack);
	return rc;
}

int pid_input_expand(struct args *args, bool each)
{
	/* as long as the program runs, as its arguments */
	static const char **files;
	static char(*paths)[40];
	struct loupe_seccomp_stack stack = { 0 };
	struct loupe_error err;
	uint32_t cnt = 1;
	char whole[40];

	if (strlen(args->pid) > 24)
		return complain_text("a process is N, or N:K for its filter K, not '%s'",
				     args->pid);
	snprintf(whole, sizeof(whole), "%s%.24s", prefix, args->pid);
	if (each && !strchr(args->pid, ':')) {
		if (pid_input_stack(whole, &stack, &err))
			return complain(&err);
		cnt = stack.cnt;
		loupe_seccomp_stack_finish(&stack);
	}
	paths = calloc(cnt, sizeof(*paths));
	files = calloc(cnt + args->file_cnt, sizeof(*files));
	if (!paths || !files)
		return complain_text("out of memory");
	for (uint32_t i = 0; i < cnt; i++) {
		if (each && !strchr(args->pid, ':'))
			snprintf(paths[i], sizeof(paths[i]), "%s%.24s:%u", prefix, args->pid, i);
		else
			snprintf(paths[i], sizeof(paths[i]), "%s", whole);
		files[i] = paths[i];
	}
	for (uint32_t i = 0; i < args->file_cnt; i++)
		files[cnt + i] = args->files[i];
	args->files = files;
	args->file_cnt += cnt;
	return 0;
}
