/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of actions in each format, and their values. */
#ifndef LOUPE_POLICY_ACTION_H
#define LOUPE_POLICY_ACTION_H

#include "bpfloupe/common.h"

#include <linux/seccomp.h>

struct policy_action {
	const char *name;
	uint32_t value;
	bool takes_data; /* errno or trace: low 16 bits are the rule's to give */
};

/** @return the row of that name in a table that ends with a NULL name, or NULL */
const struct policy_action *policy_action_find(const struct policy_action *table, const char *name);

/** Whether a call goes on: a filter whose default is one of these must mind x32 numbers. */
bool policy_action_permits(uint32_t action);

#endif
