/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that is a filter, or a policy that becomes one. */
#ifndef BPFLOUPE_UI_POLICY_INPUT_H
#define BPFLOUPE_UI_POLICY_INPUT_H

#include "args.h"

/**
 * Compiles the policy in data; what its reader left out is told in one line on stderr.
 * @param path     what it is called; @include is relative to it
 * @param weights  how often calls are made; without a row it receives what the policy says. NULL: none
 * @param policy   receives the policy, free with loupe_policy_destroy(). NULL: it is not wanted
 */
int policy_input_compile(const char *path, const void *data, size_t len, const struct loupe_policy_opts *opts,
			 struct loupe_weights *weights, struct loupe_filter **out,
			 struct loupe_policy **policy, struct loupe_error *err);

/**
 * Opens a filter, or compiles a policy.
 * @param only_policy  refuse filters
 * @param out          receives the filter, free with loupe_filter_destroy()
 * @param weights      zeroed first; receives the table of --weights, or what the policy says; free with
 *                     loupe_weights_finish(), on failure too. May be NULL
 * @param policy       receives the policy, or the one that --policy names; NULL where there is none. May
 *                     itself be NULL
 * @return 0 or a negative errno with err filled
 */
int policy_input_filter(const char *path, const struct args *args, bool only_policy, struct loupe_filter **out,
			struct loupe_weights *weights, struct loupe_policy **policy, struct loupe_error *err);

#endif
