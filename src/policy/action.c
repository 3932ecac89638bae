// SPDX-License-Identifier: GPL-2.0-only
#include "policy/action.h"

#include <string.h>

const struct policy_action *policy_action_find(const struct policy_action *table, const char *name)
{
	for (; table->name; table++) {
		if (!strcmp(table->name, name))
			return table;
	}
	return NULL;
}

bool policy_action_permits(uint32_t action)
{
	uint32_t what = action & SECCOMP_RET_ACTION_FULL;

	return what == SECCOMP_RET_ALLOW || what == SECCOMP_RET_LOG;
}
