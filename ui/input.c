// SPDX-License-Identifier: GPL-2.0-only
/* Telling filters from eBPF, and opening either. */
#include "input.h"

#include "policy_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest object that loads has 256 MiB. */
#define MAX_INPUT_BYTES ((256u << 20) + 1)

int input_read(const char *path, char **data, size_t *len, struct loupe_error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "rbe");
	size_t cap = 0;
	int rc = file ? 0 : -errno;

	*data = NULL;
	*len = 0;
	errno = 0;
	while (!rc && !feof(file) && *len < MAX_INPUT_BYTES) {
		char *grown;

		cap = cap ? cap * 2 : 65536;
		grown = realloc(*data, cap);
		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		*data = grown;
		*len += fread(*data + *len, 1, cap - *len, file);
		if (ferror(file))
			rc = errno ? -errno : -EIO;
	}
	if (file && !is_stdin)
		fclose(file);
	if (!rc)
		return 0;
	free(*data);
	*data = NULL;
	loupe_error_set(err, rc, "cannot read: %s", strerror(-rc));
	if (err)
		snprintf(err->file, sizeof(err->file), "%s", path);
	return rc;
}

/* Assembler text has labels, which look like statements of a policy. */
static bool is_assembler(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".bpfasm") == 0;
}

int input_open(const char *path, const struct loupe_load_opts *opts, struct input *out,
	       struct loupe_error *err)
{
	char *data;
	size_t len;
	int rc;

	*out = (struct input){ 0 };
	rc = input_read(path, &data, &len, err);
	if (rc)
		return rc;
	out->path = strdup(path);
	if (!out->path) {
		rc = loupe_error_set(err, -ENOMEM, "out of memory");
	} else if (!loupe_filter_sniff(data, len) && loupe_policy_sniff(data, len) && !is_assembler(path)) {
		struct loupe_policy_opts policy = { .filter = opts ? opts->prog_name : NULL };

		out->kind = INPUT_FILTER;
		rc = policy_input_compile(path, data, len, &policy, NULL, &out->filter, &out->policy, err);
	} else if (loupe_filter_sniff(data, len)) {
		out->kind = INPUT_FILTER;
		rc = loupe_filter_load(path, data, len, NULL, &out->filter, err);
	} else {
		out->kind = INPUT_PROGRAMS;
		rc = loupe_load_bytes(path, data, len, opts, &out->progs, err);
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
	loupe_policy_destroy(input->policy);
	free(input->path);
	*input = (struct input){ 0 };
}

const char *input_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
