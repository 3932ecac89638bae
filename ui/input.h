/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that the user named: eBPF programs, a classic filter or a policy. The contents decide
 * which. */
#ifndef BPFLOUPE_UI_INPUT_H
#define BPFLOUPE_UI_INPUT_H

#include "bpfloupe/filter.h"
#include "bpfloupe/load.h"
#include "bpfloupe/log_read.h"
#include "bpfloupe/policy.h"

enum input_kind {
	INPUT_PROGRAMS, /* progs is filled, from a verifier log too */
	INPUT_FILTER,	/* filter is filled, from a policy too */
};

struct input {
	enum input_kind kind;
	char *path;
	struct loupe_program_list progs;
	struct loupe_filter *filter;
	struct loupe_policy *policy;  /* that the filter was made of or is explained by, NULL:
					 none */
	struct loupe_weights weights; /* how often calls are made; no rows: unknown */
	bool counted;		      /* weights are of a table, not what is usual */
	uint32_t arch;		      /* AUDIT_ARCH_* of its calls where the filter does not say */
	char *text;		      /* the policy's own, NULL: it was no policy */
	struct loupe_log_file *log;   /* the log that progs are of and owned by, NULL: they are
					 themselves */
};

/* How filters and policies are read. Zero-initialised: the defaults. */
struct input_filters {
	struct loupe_policy_opts policy;
	const char *policy_file; /* whose rules explain a filter, NULL: none */
	const char *weights;	 /* table of calls, NULL: what the policy itself says */
	uint32_t arch;		 /* AUDIT_ARCH_*, 0: x86-64 */
};

/**
 * Reads all of a file, which may be a pipe.
 * @param path  file; "-": standard input
 * @param data  on success the contents, for the caller to free; never NULL
 * @return 0 or a negative errno
 */
int input_read(const char *path, char **data, size_t *len, struct loupe_error *err);

/**
 * Opens path.
 * @param path  file; "-": standard input
 * @param opts  how eBPF programs are loaded, NULL: defaults
 * @param filters  how filters are read, NULL: defaults
 * @param out   filled on success; empty it with input_finish()
 * @param err   filled on failure, may be NULL
 * @return 0 or a negative errno, as loupe_load_file() and loupe_filter_load()
 */
int input_open(const char *path, const struct loupe_load_opts *opts,
	       const struct input_filters *filters, struct input *out, struct loupe_error *err);

/**
 * Opens a filter, or compiles a policy; anything else is an error.
 * @param only_policy  filters are errors too
 */
int input_open_filter(const char *path, const struct input_filters *filters, bool only_policy,
		      struct input *out, struct loupe_error *err);

/** True if the contents of path are a verifier log. */
bool input_is_log(const char *path, const char *data, size_t len);

/** Frees what an input owns and empties it. */
void input_finish(struct input *input);

/** The part of path behind its last slash. */
const char *input_base_name(const char *path);

/** The file of the kernel's types that loading or verifying has used; NULL: none so far. */
const char *input_kernel_btf(const struct loupe_image *image);

#endif
