/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seccomp policies: rules over system calls and their arguments, as people write them. Readers for
 * several formats make one model of them; the compiler makes a classic filter of the model.
 */
#ifndef BPFLOUPE_POLICY_H
#define BPFLOUPE_POLICY_H

#include "common.h"
#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

enum loupe_policy_format {
	LOUPE_POLICY_AUTO,	  /* only in options */
	LOUPE_POLICY_OCI,	  /* JSON of the OCI runtime specification, of Docker and Podman */
	LOUPE_POLICY_FIRECRACKER, /* JSON of Firecracker's seccompiler */
	LOUPE_POLICY_MINIJAIL,	  /* text of minijail, with masked equality besides */
};

enum loupe_policy_op {
	LOUPE_POLICY_EQ,
	LOUPE_POLICY_NE,
	LOUPE_POLICY_LT,
	LOUPE_POLICY_LE,
	LOUPE_POLICY_GT,
	LOUPE_POLICY_GE,
};

/* (argument & mask) op value, on 64 bits without sign. */
struct loupe_policy_cond {
	uint8_t arg; /* 0-5 */
	uint8_t op;  /* enum loupe_policy_op; all but EQ and NE have a mask of low bits without
			gap */
	uint64_t mask;
	uint64_t value;
};

/* A conjunction: what a call of nr gets when all conditions hold. */
struct loupe_policy_rule {
	uint32_t nr;
	uint32_t action; /* what the filter returns: SECCOMP_RET_* with its data */
	struct loupe_policy_cond *conds;
	uint32_t cond_cnt; /* 0: every call */
	uint32_t file;	   /* index in the policy's files */
	uint32_t line;	   /* 1-based, of what the rule was written as */
};

struct loupe_policy {
	char *name; /* file's name without directories; Firecracker: and the filter's name */
	enum loupe_policy_format format;
	char **files; /* paths: the policy's own, then included ones */
	uint32_t file_cnt;
	uint32_t arch;		/* AUDIT_ARCH_* that the numbers are of */
	uint32_t other_arch;	/* action for calls of every other architecture */
	bool x32_apart;		/* numbers from __X32_SYSCALL_BIT on, but for -1, get other_arch */
	uint32_t default_action; /* what no rule decides gets this */
	/* In order of trial: of the rules of one number the first that holds decides. */
	struct loupe_policy_rule *rules;
	uint32_t rule_cnt;
	struct loupe_weights frequency; /* what the policy itself says about it (@frequency) */
	/* What a reader left out and why, one line each: "$.syscalls[0].names[7]: ...". */
	char **notes;
	uint32_t note_cnt;
};

/* How to read a policy; zero-initialised means: the defaults. */
struct loupe_policy_opts {
	enum loupe_policy_format format;
	uint32_t arch;		  /* AUDIT_ARCH_X86_64 (default) or AUDIT_ARCH_AARCH64 */
	const char *filter;	  /* Firecracker: name of the filter, may be NULL where there is
				     one */
	const char *const *caps; /* OCI: capabilities that the process has ("CAP_SYS_PTRACE") */
	uint32_t cap_cnt;
	uint32_t kernel[2]; /* OCI: version for minKernel, default 6.18 */
};

/**
 * Reads a policy.
 * @param path  shown in errors and what @include is relative to; read from when data is NULL
 * @param data  contents, or NULL
 * @param len   bytes of data
 * @param opts  may be NULL
 * @param out   receives the policy; free with loupe_policy_destroy()
 * @return 0; -EINVAL with the position of the error; -ENOMEM; errno of reading
 */
LOUPE_API int loupe_policy_load(const char *path, const void *data, size_t len,
				const struct loupe_policy_opts *opts, struct loupe_policy **out,
				struct loupe_error *err);

/** NULL is fine. */
LOUPE_API void loupe_policy_destroy(struct loupe_policy *policy);

/**
 * @return the format these bytes seem to be in, LOUPE_POLICY_AUTO when they are no policy (they may
 *         still be invalid): for telling a policy from other kinds of input file
 */
LOUPE_API enum loupe_policy_format loupe_policy_sniff(const void *data, size_t len);

/**
 * What a policy says about a call, by trying its rules one after the other.
 * @param rule  receives the index of the rule that decides, -1: none; may be NULL
 * @return SECCOMP_RET_* with its data
 */
LOUPE_API uint32_t loupe_policy_eval(const struct loupe_policy *policy,
				     const struct loupe_seccomp_data *data, int64_t *rule);

/**
 * How often calls are made, as far as a policy knows: what it says itself; or else all calls of its
 * architecture, on x86-64 those of low numbers more often, those without rules less often.
 * @param out  zeroed first; free with loupe_weights_finish()
 * @return 0, -ENOMEM
 */
LOUPE_API int loupe_policy_weights(const struct loupe_policy *policy, struct loupe_weights *out);

/**
 * Makes a filter of a policy: the architecture is tested first, then a search tree over the number,
 * then only those halves of arguments that the rules of that number need.
 * @param weights  how often which call is made, for the shape of the trees; NULL: what
 *                 loupe_policy_weights() gives
 * @param out      receives the filter, free with loupe_filter_destroy(); its lines are those of the
 *                 rules, 0 where an instruction serves no rule in particular
 * @return 0; -E2BIG when it does not fit the kernel's 4,096 instructions, with what takes the room;
 *         -ENOMEM
 */
LOUPE_API int loupe_policy_compile(const struct loupe_policy *policy,
				   const struct loupe_weights *weights, struct loupe_filter **out,
				   struct loupe_error *err);

#ifdef __cplusplus
}
#endif

#endif
