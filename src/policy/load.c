// SPDX-License-Identifier: GPL-2.0-only
/* Opening a policy: which format it is, and the reader for it. */
#include "policy/policy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_INPUT (16u << 20)

int policy_read_file(const char *path, char **out, size_t *len)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t cap = 0;
	int ret = 0;

	*out = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (*len == cap) {
			char *bigger;

			cap = cap * 2 + 65536;
			bigger = cap > 2 * MAX_INPUT ? NULL : realloc(*out, cap + 1);
			if (!bigger) {
				ret = cap > 2 * MAX_INPUT ? -EFBIG : -ENOMEM;
				break;
			}
			*out = bigger;
		}
		n = read(fd, *out + *len, cap - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	if (!standard)
		close(fd);
	if (ret) {
		free(*out);
		*out = NULL;
		return ret;
	}
	(*out)[*len] = 0;
	return 0;
}

static size_t skip_space(const char *text, size_t len, size_t i)
{
	while (i < len && isspace((unsigned char)text[i]))
		i++;
	return i;
}

/* A JSON object whose first members are none of a profile's is taken for Firecracker's. */
static enum loupe_policy_format sniff_json(const char *text, size_t len)
{
	static const char *const oci[] = { "\"defaultAction\"", "\"ociVersion\"", "\"seccomp\"",
					   "\"archMap\"" };
	static const char *const firecracker[] = { "\"filter_action\"", "\"match_action\"",
						   "\"default_action\"", "\"mismatch_action\"" };

	for (size_t i = 0; i < sizeof(oci) / sizeof(oci[0]); i++) {
		if (memmem(text, len, oci[i], strlen(oci[i])))
			return LOUPE_POLICY_OCI;
	}
	for (size_t i = 0; i < sizeof(firecracker) / sizeof(firecracker[0]); i++) {
		if (memmem(text, len, firecracker[i], strlen(firecracker[i])))
			return LOUPE_POLICY_FIRECRACKER;
	}
	return LOUPE_POLICY_OCI;
}

/* "name:", "name[", "{name", "@word": what a statement of minijail's starts with. */
static bool sniff_statement(const char *text, size_t len)
{
	size_t i = 0;

	if (len && *text == '@')
		return len > 1 && isalpha((unsigned char)text[1]);
	if (len && *text == '{')
		i = skip_space(text, len, 1);
	/* a call by number may stand first too, but so do instructions of logs and listings */
	if (i == len || !(isalpha((unsigned char)text[i]) || text[i] == '_'))
		return false;
	while (i < len && (isalnum((unsigned char)text[i]) || strchr("_-@", text[i])) && text[i])
		i++;
	i = skip_space(text, len, i);
	return i < len && (text[i] == ':' || text[i] == '[' || (*text == '{' && text[i] == ','));
}

enum loupe_policy_format loupe_policy_sniff(const void *data, size_t len)
{
	const char *text = data;
	size_t i = 0;

	if (len > MAX_INPUT || memchr(text, 0, len))
		return LOUPE_POLICY_AUTO;
	for (;;) {
		const char *end;

		i = skip_space(text, len, i);
		if (i == len)
			return LOUPE_POLICY_AUTO;
		if (text[i] != '#')
			break;
		end = memchr(text + i, '\n', len - i);
		i = end ? (size_t)(end - text) : len;
	}
	if (text[i] == '{') {
		size_t next = skip_space(text, len, i + 1);

		if (next < len && (text[next] == '"' || text[next] == '}'))
			return sniff_json(text, len);
	}
	return sniff_statement(text + i, len - i) ? LOUPE_POLICY_MINIJAIL : LOUPE_POLICY_AUTO;
}

static int read_text(struct policy_builder *b, const char *text, size_t len)
{
	enum loupe_policy_format format = b->opts->format;

	if (memchr(text, 0, len))
		return loupe_error_set(
			b->err, -EINVAL,
			"%s, not a policy: OCI or Docker JSON, Firecracker JSON or minijail text",
			len > 3 && !memcmp(text, "\177ELF", 4) ? "an ELF file" : "no text");
	if (format == LOUPE_POLICY_AUTO)
		format = loupe_policy_sniff(text, len);
	b->policy->format = format;
	switch (format) {
	case LOUPE_POLICY_OCI:
		return policy_read_oci(b, text, len);
	case LOUPE_POLICY_FIRECRACKER:
		return policy_read_firecracker(b, text, len);
	case LOUPE_POLICY_MINIJAIL:
		return policy_read_minijail(b, text);
	case LOUPE_POLICY_AUTO:
		break;
	}
	return loupe_error_set(b->err, -EINVAL,
			       "not a policy: neither JSON of a seccomp profile nor minijail text");
}

static int start(struct policy_builder *b, const char *path)
{
	const char *slash = strrchr(path, '/');
	int ret;

	b->policy = calloc(1, sizeof(*b->policy));
	if (!b->policy)
		return policy_no_memory(b);
	b->policy->arch = b->opts->arch;
	b->policy->name = strdup(slash ? slash + 1 : path);
	if (!b->policy->name)
		return policy_no_memory(b);
	ret = policy_add_file(b, path);
	return ret < 0 ? ret : 0;
}

int loupe_policy_load(const char *path, const void *data, size_t len,
		      const struct loupe_policy_opts *opts, struct loupe_policy **out,
		      struct loupe_error *err)
{
	struct loupe_policy_opts settled = opts ? *opts : (struct loupe_policy_opts){ 0 };
	struct policy_builder b = { .opts = &settled, .err = err };
	char *text = NULL;
	int ret = 0;

	*out = NULL;
	if (err)
		*err = (struct loupe_error){ .offset = -1 };
	if (!path)
		path = "";
	if (!settled.arch)
		settled.arch = AUDIT_ARCH_X86_64;
	if (!settled.kernel[0]) {
		settled.kernel[0] = 6;
		settled.kernel[1] = 18;
	}
	if (settled.arch != AUDIT_ARCH_X86_64 && settled.arch != AUDIT_ARCH_AARCH64)
		return loupe_error_set(err, -EINVAL, "policies are for x86_64 or aarch64");
	if (!data) {
		ret = policy_read_file(path, &text, &len);
		if (ret)
			loupe_error_set(err, ret, "%s", strerror(-ret));
	} else if (len > MAX_INPUT) {
		ret = loupe_error_set(err, -EFBIG, "too large for a policy");
	} else {
		text = malloc(len + 1);
		if (!text)
			ret = loupe_error_set(err, -ENOMEM, "out of memory");
		else
			((char *)memcpy(text, data, len))[len] = 0;
	}
	if (!ret)
		ret = start(&b, path);
	if (!ret)
		ret = read_text(&b, text, len);
	free(text);
	if (!ret) {
		*out = b.policy;
		return 0;
	}
	if (err && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", path);
	loupe_policy_destroy(b.policy);
	return ret;
}
