// SPDX-License-Identifier: GPL-2.0-only
/* Telling filters from eBPF, and opening either. */
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A filter of 4,096 instructions is 32 KiB of bytes, or some hundred KiB of C text. */
#define MAX_FILTER_BYTES (4u << 20)

/*
 * Reads the start of a file, at most MAX_FILTER_BYTES.
 * @return 0 with *data for the caller to free, or a negative errno
 */
static int read_start(const char *path, char **data, size_t *len)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "rb");
	char *buf = NULL;
	int rc = 0;

	if (!file)
		return -errno;
	buf = malloc(MAX_FILTER_BYTES + 1);
	if (!buf) {
		rc = -ENOMEM;
		goto out;
	}
	errno = 0;
	*len = fread(buf, 1, MAX_FILTER_BYTES, file);
	if (ferror(file)) {
		rc = errno ? -errno : -EIO;
		goto out;
	}
	*data = buf;
	buf = NULL;
out:
	free(buf);
	if (!is_stdin)
		fclose(file);
	return rc;
}

int input_open(const char *path, const struct loupe_load_opts *opts, struct input *out,
	       struct loupe_error *err)
{
	char *data = NULL;
	size_t len = 0;
	int rc;

	*out = (struct input){ 0 };
	rc = read_start(path, &data, &len);
	if (rc) {
		loupe_error_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
		return rc;
	}
	out->path = strdup(path);
	if (!out->path) {
		rc = loupe_error_set(err, -ENOMEM, "out of memory");
	} else if (loupe_filter_sniff(data, len) || strcmp(path, "-") == 0) {
		out->kind = INPUT_FILTER;
		rc = loupe_filter_load(path, data, len, NULL, &out->filter, err);
	} else {
		out->kind = INPUT_PROGRAMS;
		rc = loupe_load_file(path, opts, &out->progs, err);
	}
	free(data);
	if (rc)
		input_finish(out);
	return rc;
}

void input_finish(struct input *input)
{
	loupe_program_list_finish(&input->progs);
	loupe_filter_destroy(input->filter);
	free(input->path);
	*input = (struct input){ 0 };
}

const char *input_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
