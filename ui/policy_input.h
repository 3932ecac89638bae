/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy that becomes a filter. */
#ifndef BPFLOUPE_UI_POLICY_INPUT_H
#define BPFLOUPE_UI_POLICY_INPUT_H

#include "bpfloupe/policy.h"

/**
 * Compiles the policy in data; what its reader left out is told in one line on stderr.
 * @param path     what it is called; @include is relative to it
 * @param weights  how often calls are made; without a row it receives what the policy says. NULL:
 * none
 * @param policy   receives the policy, free with loupe_policy_destroy(). NULL: it is not wanted
 */
int policy_input_compile(const char *path, const void *data, size_t len,
			 const struct loupe_policy_opts *opts, struct loupe_weights *weights,
			 struct loupe_filter **out, struct loupe_policy **policy,
			 struct loupe_error *err);

#endif
