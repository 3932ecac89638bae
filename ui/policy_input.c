// SPDX-License-Identifier: GPL-2.0-only
#include "policy_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

/* The first of the reader's notes, and how many there are. */
static void tell_notes(const char *path, const struct loupe_policy *policy)
{
	if (policy->note_cnt == 1)
		fprintf(stderr, "bpfloupe: %s: left out: %s\n", path, policy->notes[0]);
	else if (policy->note_cnt)
		fprintf(stderr, "bpfloupe: %s: left out %u names and architectures: %s, ...\n",
			path, policy->note_cnt, policy->notes[0]);
}

int policy_input_compile(const char *path, const void *data, size_t len,
			 const struct loupe_policy_opts *opts, struct loupe_weights *weights,
			 struct loupe_filter **out, struct loupe_policy **policy_out,
			 struct loupe_error *err)
{
	struct loupe_policy *policy;
	int rc = loupe_policy_load(path, data, len, opts, &policy, err);

	if (policy_out)
		*policy_out = NULL;
	if (rc)
		return rc;
	rc = loupe_policy_compile(policy, weights && weights->cnt ? weights : NULL, out, err);
	if (!rc)
		tell_notes(path, policy);
	/* what the policy itself knows is for the optimizer too */
	if (!rc && weights && !weights->cnt)
		rc = loupe_policy_weights(policy, weights);
	if (policy_out && !rc)
		*policy_out = policy;
	else
		loupe_policy_destroy(policy);
	return rc;
}
