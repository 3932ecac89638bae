/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes as a policy of one format: what is one is compiled, and asked beside its filter. */
#ifndef FUZZ_POLICY_H
#define FUZZ_POLICY_H

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe.h"

enum { FUZZ_CALLS = 40 };

static inline uint32_t fuzz_below(uint64_t *state, uint32_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % n;
}

/* Calls at the edges of the policy's own conditions. */
static inline void fuzz_ask(const struct loupe_policy *policy, const struct loupe_filter *filter)
{
	uint64_t state = 1;

	for (int i = 0; i < FUZZ_CALLS; i++) {
		struct loupe_seccomp_data data = { .arch = policy->arch,
						   .nr = fuzz_below(&state, 480) };
		struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		struct loupe_filter_run run = { 0 };

		if (policy->rule_cnt && fuzz_below(&state, 8)) {
			const struct loupe_policy_rule *rule =
				&policy->rules[fuzz_below(&state, policy->rule_cnt)];

			data.nr = rule->nr;
			for (uint32_t c = 0; c < rule->cond_cnt; c++)
				data.args[rule->conds[c].arg] =
					rule->conds[c].value + fuzz_below(&state, 3) - 1;
		}
		assert(!loupe_filter_eval(filter, &input, &run, NULL));
		assert(run.result == loupe_policy_eval(policy, &data, NULL));
	}
}

static inline int fuzz_policy(const uint8_t *data, size_t size, enum loupe_policy_format format)
{
	struct loupe_policy_opts opts = { .format = format };
	struct loupe_policy *policy;
	struct loupe_filter *filter;
	struct loupe_error err = { 0 };

	/* no file of this machine */
	if (size > 4096 || memmem(data, size, "include", 7) || memmem(data, size, "frequency", 9))
		return 0;
	loupe_policy_sniff(data, size);
	if (loupe_policy_load("fuzz", data, size, &opts, &policy, &err)) {
		assert(err.message[0]);
		return 0;
	}
	err.message[0] = 0;
	if (policy->rule_cnt < 60 && !loupe_policy_compile(policy, NULL, &filter, &err)) {
		fuzz_ask(policy, filter);
		loupe_filter_destroy(filter);
	}
	loupe_policy_destroy(policy);
	return 0;
}

#endif
