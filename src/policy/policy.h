/* SPDX-License-Identifier: GPL-2.0-only */
/* What the policy readers share: building the model, errors and notes. */
#ifndef LOUPE_POLICY_POLICY_H
#define LOUPE_POLICY_POLICY_H

#include "bpfloupe/policy.h"

/* A policy while it is read. */
struct policy_builder {
	struct loupe_policy *policy;
	const struct loupe_policy_opts *opts; /* never NULL, arch and kernel are set */
	struct loupe_error *err;
	uint32_t rule_cap, note_cap, freq_cap;
};

/**
 * Appends a rule.
 * @param conds  copied
 * @return 0, -ENOMEM, -E2BIG (with err filled)
 */
int policy_add_rule(struct policy_builder *b, uint32_t nr, uint32_t action,
		    const struct loupe_policy_cond *conds, uint32_t cond_cnt, uint32_t file,
		    uint32_t line);

/** Appends a note, as printf. 0 or -ENOMEM */
int policy_add_note(struct policy_builder *b, const char *fmt, ...) LOUPE_PRINTF(2, 3);

/** Appends a file. @return its index, or -ENOMEM */
int policy_add_file(struct policy_builder *b, const char *path);

/** Appends a row of frequency. 0 or -ENOMEM */
int policy_add_frequency(struct policy_builder *b, uint32_t nr, double weight);

/**
 * Fills the builder's error with a position.
 * @param file  path it is about
 * @return -EINVAL
 */
int policy_error(struct policy_builder *b, const char *file, uint32_t line, uint32_t column,
		 const char *fmt, ...) LOUPE_PRINTF(5, 6);

int policy_no_memory(struct policy_builder *b);

/* Where x86-64's numbers of another ABI start, and the number of a call that a tracer skips. */
#define POLICY_X32_BIT 0x40000000u
#define POLICY_NO_CALL UINT32_MAX

/** Whether a number is of another ABI, and that ABI is kept apart: rules do not decide it. */
bool policy_is_apart(const struct loupe_policy *policy, uint32_t nr);

/** "x86_64" or "aarch64". */
const char *policy_arch_name(uint32_t arch);

/** Whether a name is a system call of any architecture of the tables. */
bool policy_name_known(const char *name);

/* The readers; text is NUL-terminated, its file is the policy's first. */
int policy_read_oci(struct policy_builder *b, const char *text, size_t len);
int policy_read_firecracker(struct policy_builder *b, const char *text, size_t len);
int policy_read_minijail(struct policy_builder *b, const char *text);

/**
 * Reads a whole file, or standard input ("-").
 * @param out  receives the bytes with a NUL behind them, the caller's to free
 * @return 0 or a negative errno
 */
int policy_read_file(const char *path, char **out, size_t *len);

/** Value of a named constant of policies: of C headers, or an errno value; arch is AUDIT_ARCH_*. */
bool policy_constant(uint32_t arch, const char *name, uint64_t *value);

#endif
