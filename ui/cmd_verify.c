// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe verify: the kernel's log of a program on stdout, the verdict on stderr. */
#include <errno.h>

#include "bpfloupe/log.h"
#include "commands.h"

static void to_stdout(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	fwrite(text, 1, len, stdout);
}

static int verify(const struct args *args, const struct loupe_image *image)
{
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = args->log_level,
		.sink = to_stdout,
		.unprivileged = args->verify.unprivileged,
		.buffer_size = args->log_size,
	};
	struct loupe_verify_opts opts = args->verify;
	struct loupe_verify_result result;
	struct loupe_log *log;
	uint64_t needed;
	char text[512];
	int err;

	if (loupe_log_create(image, &log_opts, &log))
		return complain_text("out of memory");
	if (args->log_level)
		opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	err = loupe_verify(image, &opts, &result);
	if (!err)
		err = loupe_log_finish(log);
	needed = loupe_log_overflow(log) ? loupe_log_true_size(log) : 0;
	loupe_log_destroy(log);
	if (err)
		return complain_text("out of memory");
	fflush(stdout);
	if (needed && (result.verdict == LOUPE_ACCEPTED || result.verdict == LOUPE_REJECTED)) {
		fprintf(stderr, "rejected: ENOSPC (%d): the log needs %llu bytes\n", ENOSPC,
			(unsigned long long)needed);
		result.verdict = LOUPE_REJECTED;
	} else if (result.verdict != LOUPE_ACCEPTED) {
		verdict_text(&result, text, sizeof(text));
		if (result.verdict == LOUPE_REJECTED)
			fprintf(stderr, "%s\n", text);
		else
			complain_text("%s: %s", image->name, text);
	}
	err = verdict_status(result.verdict);
	loupe_verify_result_finish(&result);
	return err;
}

int cmd_verify(const struct args *args)
{
	const struct loupe_image *image;
	struct loupe_program_list list;
	int status = load_programs(args, args->files[0], &list);

	if (status)
		return status;
	image = only_program(args, &list, args->files[0]);
	status = image ? verify(args, image) : STATUS_USAGE;
	loupe_program_list_finish(&list);
	return status;
}
