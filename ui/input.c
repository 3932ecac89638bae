// SPDX-License-Identifier: GPL-2.0-only
/* Telling filters from eBPF, and opening either. */
#include "input.h"

#include "pid_input.h"
#include "policy_input.h"

#include <errno.h>
#include <linux/audit.h>
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

/* The policy that explains a filter. */
static int open_beside(const struct input_filters *filters, struct input *out,
		       struct loupe_error *err)
{
	char *data;
	size_t len;
	int rc;

	if (!filters->policy_file || out->policy)
		return 0;
	rc = input_read(filters->policy_file, &data, &len, err);
	if (rc)
		return rc;
	rc = loupe_policy_load(filters->policy_file, data, len, &filters->policy, &out->policy,
			       err);
	if (!rc) {
		out->text = strndup(data, len);
		rc = out->text ? 0 : loupe_error_set(err, -ENOMEM, "out of memory");
	}
	free(data);
	return rc;
}

static int open_filter(const char *path, const char *data, size_t len, bool is_policy,
		       const struct input_filters *filters, struct input *out,
		       struct loupe_error *err)
{
	int rc = 0;

	out->kind = INPUT_FILTER;
	out->arch = filters->arch ? filters->arch : AUDIT_ARCH_X86_64;
	if (filters->weights)
		rc = loupe_weights_load(filters->weights, NULL, 0, out->arch, &out->weights, err);
	out->counted = filters->weights != NULL;
	if (rc)
		return rc;
	if (!is_policy) {
		rc = loupe_filter_load(path, data, len, NULL, &out->filter, err);
		return rc ? rc : open_beside(filters, out, err);
	}
	out->text = strndup(data, len);
	if (!out->text)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	rc = policy_input_compile(path, data, len, &filters->policy, &out->weights, &out->filter,
				  &out->policy, err);
	out->counted |= !rc && out->policy->frequency.cnt;
	return rc;
}

/* A filter of a live process. */
static int open_process(const char *path, const struct input_filters *filters, struct input *out,
			struct loupe_error *err)
{
	int rc;

	rc = pid_input_filter(path, &out->filter, err);
	if (rc)
		return rc;
	out->kind = INPUT_FILTER;
	out->arch = filters->arch ? filters->arch : AUDIT_ARCH_X86_64;
	if (filters->weights)
		rc = loupe_weights_load(filters->weights, NULL, 0, out->arch, &out->weights, err);
	out->counted = filters->weights != NULL;
	return rc ? rc : open_beside(filters, out, err);
}

static int finish_open(struct input *out, const char *path, char *data, int rc)
{
	free(data);
	if (!rc) {
		out->path = strdup(path);
		rc = out->path ? 0 : -ENOMEM;
	}
	if (rc)
		input_finish(out);
	return rc;
}

/* A text that is none of what we know gets an error about all of it. */
static int check_kind(const char *path, const char *data, size_t len, struct loupe_error *err)
{
	if (len && (memchr(data, 0, len) || loupe_filter_sniff(data, len) ||
		    loupe_policy_sniff(data, len)))
		return 0;
	loupe_error_set(err, -EINVAL,
			"%s: it should be a filter (sock_filter bytes, tcpdump -ddd text, C "
			"initializers) or a "
			"policy (JSON, or minijail's lines \"NAME: RULE\")",
			len ? "no filter or policy" : "empty");
	if (err)
		snprintf(err->file, sizeof(err->file), "%s", path);
	return -EINVAL;
}

int input_open_filter(const char *path, const struct input_filters *filters, bool only_policy,
		      struct input *out, struct loupe_error *err)
{
	char *data = NULL;
	size_t len = 0;
	int rc;

	*out = (struct input){ 0 };
	if (pid_input_is(path))
		return finish_open(out, path, NULL, open_process(path, filters, out, err));
	rc = input_read(path, &data, &len, err);
	if (rc)
		return rc;
	if (!only_policy)
		rc = check_kind(path, data, len, err);
	if (!rc)
		rc = open_filter(path, data, len,
				 only_policy || (!loupe_filter_sniff(data, len) &&
						 loupe_policy_sniff(data, len)),
				 filters, out, err);
	return finish_open(out, path, data, rc);
}

bool input_is_log(const char *path, const char *data, size_t len)
{
	return !is_assembler(path) && loupe_log_sniff(data, len);
}

static int open_log(const char *path, const char *data, size_t len, struct input *out,
		    struct loupe_error *err)
{
	int rc = loupe_log_read(path, data, len, &out->log, err);

	out->kind = INPUT_PROGRAMS;
	if (!rc)
		out->progs = *loupe_log_file_programs(out->log);
	return rc;
}

/* What libbpf prints, without the log of a program in it. */
static bool is_libbpf_talk(const char *data, size_t len)
{
	static const char says[] = "libbpf: ";
	const char *at = data, *end = data + len;

	while (at && (size_t)(end - at) >= sizeof(says) - 1) {
		if (!memcmp(at, says, sizeof(says) - 1))
			return true;
		at = memchr(at, '\n', (size_t)(end - at));
		at += at != NULL;
	}
	return false;
}

int input_open(const char *path, const struct loupe_load_opts *opts,
	       const struct input_filters *filters, struct input *out, struct loupe_error *err)
{
	struct input_filters defaults = { .policy.filter = opts ? opts->prog_name : NULL };
	char *data;
	size_t len;
	int rc;

	*out = (struct input){ 0 };
	if (!filters)
		filters = &defaults;
	if (pid_input_is(path))
		return finish_open(out, path, NULL, open_process(path, filters, out, err));
	rc = input_read(path, &data, &len, err);
	if (rc)
		return rc;
	if (input_is_log(path, data, len)) {
		rc = open_log(path, data, len, out, err);
	} else if (loupe_filter_sniff(data, len)) {
		rc = open_filter(path, data, len, false, filters, out, err);
	} else if (!memchr(data, 0, len) && is_libbpf_talk(data, len)) {
		rc = loupe_error_set(
			err, -EINVAL,
			"%s: messages of libbpf without a verifier log; bpftool -d prog load prints it",
			path);
	} else if (loupe_policy_sniff(data, len) && !is_assembler(path)) {
		rc = open_filter(path, data, len, true, filters, out, err);
	} else {
		out->kind = INPUT_PROGRAMS;
		rc = loupe_load_bytes(path, data, len, opts, &out->progs, err);
	}
	return finish_open(out, path, data, rc);
}

void input_finish(struct input *input)
{
	if (input->log)
		loupe_log_file_destroy(input->log);
	else
		loupe_program_list_finish(&input->progs);
	loupe_filter_destroy(input->filter);
	loupe_policy_destroy(input->policy);
	loupe_weights_finish(&input->weights);
	free(input->text);
	free(input->path);
	*input = (struct input){ 0 };
}

const char *input_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *input_kernel_btf(const struct loupe_image *image)
{
	return image->host.kernel_btf ? image->host.kernel_btf
				      : loupe_kernel_types_used(image->kernel_types);
}
