// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: overflow_kernel DIR
 * Logs of every third program in DIR that outgrow their buffer: what the buffer holds, the size
 * that was needed and the error of the load, from the running kernel and from the model, at levels
 * without times, with and without BPF_LOG_FIXED.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/kernel.h"
#include "bpfloupe/load.h"
#include "bpfloupe/log.h"
#include "bpfloupe/verify.h"

enum { SKIPPED = 77, EVERY = 3 };

static const uint32_t levels[] = {
	LOUPE_LOG_LEVEL1,
	LOUPE_LOG_LEVEL2,
	LOUPE_LOG_LEVEL1 | LOUPE_LOG_FIXED,
	LOUPE_LOG_LEVEL2 | LOUPE_LOG_FIXED,
};

/* The line that the buffer cut may hold part of an address, which differs from load to load. */
static char *without_cut_line(char *text, bool fixed)
{
	char *newline = fixed ? strrchr(text, '\n') : strchr(text, '\n');

	if (!newline)
		return text + strlen(text);
	if (!fixed)
		return newline + 1;
	newline[1] = '\0';
	return text;
}

struct answer {
	int err;
	uint64_t needed;
	char *text; /* owned */
};

static bool ask_model(const struct loupe_image *image, uint32_t level, uint32_t size,
		      bool unprivileged, struct answer *out)
{
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = level,
		.unprivileged = unprivileged,
		.buffer_size = size,
	};
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;
	struct loupe_log *log;
	int overflow;

	loupe_verify_opts_init(&opts);
	opts.unprivileged = unprivileged;
	if (loupe_log_create(image, &log_opts, &log))
		return false;
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_verify(image, &opts, &result) || loupe_log_finish(log)) {
		loupe_log_destroy(log);
		return false;
	}
	overflow = loupe_log_overflow(log);
	out->err = overflow ? overflow : result.err;
	out->needed = loupe_log_true_size(log);
	out->text = strdup(loupe_log_text(log, NULL));
	loupe_log_destroy(log);
	loupe_verify_result_finish(&result);
	return out->text != NULL;
}

static bool compare(const char *file, const struct loupe_image *image, uint32_t level,
		    uint32_t size, bool unprivileged)
{
	struct loupe_kernel_opts opts = {
		.size = sizeof(opts),
		.log_level = level,
		.log_size = size,
		.unprivileged = unprivileged,
	};
	struct loupe_kernel_result kernel;
	struct loupe_error err;
	struct answer model;
	bool fixed = level & LOUPE_LOG_FIXED, same;
	char *want, *got;

	if (loupe_kernel_verify(image, &opts, &kernel, &err)) {
		printf("%s: %s\n", file, err.message);
		return false;
	}
	if (!ask_model(image, level, size, unprivileged, &model)) {
		printf("out of memory\n");
		exit(2);
	}
	want = kernel.log;
	got = model.text;
	same = kernel.log_err == model.err && kernel.log_true_size == model.needed &&
	       strlen(want) == strlen(got);
	if (kernel.log_err == -ENOSPC) {
		want = without_cut_line(want, fixed);
		got = without_cut_line(got, fixed);
	}
	loupe_log_normalise(want, strlen(want));
	loupe_log_normalise(got, strlen(got));
	same = same && !strcmp(want, got);
	if (!same)
		printf("%s: level %u, %u bytes: kernel %d, needs %u, holds\n%s\n"
		       "model %d, needs %llu, holds\n%s\n",
		       file, level, size, kernel.log_err, kernel.log_true_size, want, model.err,
		       (unsigned long long)model.needed, got);
	free(model.text);
	loupe_kernel_result_finish(&kernel);
	return same;
}

/* @return the number of comparisons that failed */
static int try_file(const char *file)
{
	static const uint32_t sizes[] = { 300, 4000 };
	const struct loupe_load_opts opts = { .size = sizeof(opts) };
	const char *slash = strrchr(file, '/');
	bool unprivileged = !strncmp(slash ? slash + 1 : file, "unpriv_", 7);
	struct loupe_program_list list;
	struct loupe_error err;
	int failed = 0;

	if (loupe_load_file(file, &opts, &list, &err)) {
		printf("%s:%u: %s\n", file, err.line, err.message);
		return 1;
	}
	for (size_t l = 0; l < sizeof(levels) / sizeof(*levels); l++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
			failed += !compare(file, list.progs[0].image, levels[l], sizes[s],
					   unprivileged);
	}
	loupe_program_list_finish(&list);
	return failed;
}

int main(int argc, char **argv)
{
	struct loupe_error err;
	char pattern[4096];
	glob_t files;
	int failed = 0;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: %s\n",
		       loupe_kernel_usable(&err) ? err.message : "the kernel is not 6.18");
		return SKIPPED;
	}
	snprintf(pattern, sizeof(pattern), "%s/*.bpfasm", argc == 2 ? argv[1] : "");
	if (glob(pattern, 0, NULL, &files)) {
		printf("%s: no files\n", pattern);
		return 2;
	}
	for (size_t i = 0; i < files.gl_pathc; i += EVERY)
		failed += try_file(files.gl_pathv[i]);
	printf("%d comparisons failed\n", failed);
	globfree(&files);
	return failed != 0;
}
