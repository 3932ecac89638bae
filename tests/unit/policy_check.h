/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests of policies share: reading from a string, compiling, and asking both sides. */
#ifndef POLICY_CHECK_H
#define POLICY_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include "bpfloupe.h"

static inline struct loupe_policy *read_policy(const char *text,
					       const struct loupe_policy_opts *opts)
{
	struct loupe_policy *policy;
	struct loupe_error err;

	if (loupe_policy_load("test", text, strlen(text), opts, &policy, &err)) {
		char line[1024];

		loupe_error_format(&err, line, sizeof(line));
		fail_msg("%s", line);
	}
	return policy;
}

/* Reading must fail with this line. */
static inline void expect_error(const char *text, const struct loupe_policy_opts *opts,
				const char *want)
{
	struct loupe_policy *policy;
	struct loupe_error err;
	char line[1024];

	assert_int_equal(loupe_policy_load("test", text, strlen(text), opts, &policy, &err),
			 -EINVAL);
	loupe_error_format(&err, line, sizeof(line));
	assert_string_equal(line, want);
}

static inline struct loupe_filter *compile_policy(const struct loupe_policy *policy)
{
	struct loupe_filter *filter;
	struct loupe_error err;

	if (loupe_policy_compile(policy, NULL, &filter, &err))
		fail_msg("%s", err.message);
	return filter;
}

static inline uint32_t run_filter(const struct loupe_filter *filter,
				  const struct loupe_seccomp_data *data)
{
	struct loupe_filter_input input = { .data = data, .len = sizeof(*data) };
	struct loupe_filter_run run = { 0 };

	assert_int_equal(loupe_filter_eval(filter, &input, &run, NULL), 0);
	return run.result;
}

/* What policy and filter say to a call, which must be the same. */
static inline uint32_t ask(const struct loupe_policy *policy, const struct loupe_filter *filter,
			   const struct loupe_seccomp_data *data)
{
	uint32_t want = loupe_policy_eval(policy, data, NULL);
	uint32_t have = run_filter(filter, data);

	if (want != have)
		fail_msg("nr %u arch %x args %llx %llx %llx: policy %x, filter %x", data->nr,
			 data->arch, (unsigned long long)data->args[0],
			 (unsigned long long)data->args[1], (unsigned long long)data->args[2], want,
			 have);
	return want;
}

/* The answer to a call of x86-64 with one argument set. */
static inline uint32_t answer(const char *text, uint32_t nr, unsigned int arg, uint64_t value)
{
	struct loupe_policy *policy = read_policy(text, NULL);
	struct loupe_filter *filter = compile_policy(policy);
	struct loupe_seccomp_data data = { .nr = nr, .arch = AUDIT_ARCH_X86_64 };
	uint32_t ret;

	data.args[arg] = value;
	ret = ask(policy, filter, &data);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
	return ret;
}

#define ALLOW	   SECCOMP_RET_ALLOW
#define KILL	   SECCOMP_RET_KILL_PROCESS
#define ERRNO(n)   (SECCOMP_RET_ERRNO | (n))
#define U64(n)	   UINT64_C(n)

#endif
