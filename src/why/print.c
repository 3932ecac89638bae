// SPDX-License-Identifier: GPL-2.0-only
/* Callers, rules and calls in words. */
#include "bpfloupe/why.h"

#include <linux/audit.h>
#include <stdio.h>
#include <string.h>

int loupe_callers_text(struct loupe_callers callers, char *buf, size_t size)
{
	static const char *const words[] = {
		[LOUPE_CALLERS_OTHER] = "other calls",
		[LOUPE_CALLERS_X32] = "x32 calls",
		[LOUPE_CALLERS_ARCH] = "other architectures",
		[LOUPE_CALLERS_PACKET] = "packets",
	};
	const char *name;

	if (callers.kind != LOUPE_CALLERS_CALL)
		return snprintf(buf, size, "%s", words[callers.kind]);
	name = loupe_syscall_name(callers.arch, callers.nr);
	if (!name)
		return snprintf(buf, size, "call %u", callers.nr);
	return snprintf(buf, size, "%s%s", name,
			callers.arch == AUDIT_ARCH_AARCH64 ? " (aarch64)" : "");
}

int loupe_policy_rule_text(const struct loupe_policy_rule *rule, char *buf, size_t size)
{
	static const char *const ops[] = {
		[LOUPE_POLICY_EQ] = "==", [LOUPE_POLICY_NE] = "!=", [LOUPE_POLICY_LT] = "<",
		[LOUPE_POLICY_LE] = "<=", [LOUPE_POLICY_GT] = ">",  [LOUPE_POLICY_GE] = ">=",
	};
	int used = 0;

	if (!rule->cond_cnt)
		return snprintf(buf, size, "always");
	for (uint32_t i = 0; i < rule->cond_cnt; i++) {
		const struct loupe_policy_cond *cond = &rule->conds[i];
		size_t at = (size_t)used < size ? (size_t)used : size;
		char mask[32] = "";

		if (cond->mask != UINT64_MAX)
			snprintf(mask, sizeof(mask), " & 0x%llx", (unsigned long long)cond->mask);
		used += snprintf(buf + at, size - at, "%sargs[%u]%s %s 0x%llx", i ? " && " : "",
				 cond->arg, mask, ops[cond->op], (unsigned long long)cond->value);
	}
	return used;
}

int loupe_seccomp_call_text(const struct loupe_seccomp_data *call, char *buf, size_t size)
{
	const char *name = loupe_syscall_name(call->arch, call->nr);
	char head[64];
	int used, last = 6;

	while (last && !call->args[last - 1])
		last--;
	if (name)
		snprintf(head, sizeof(head), "%s", name);
	else
		snprintf(head, sizeof(head), "call 0x%x", call->nr);
	used = snprintf(buf, size, "%s(", head);
	for (int i = 0; i < last; i++) {
		size_t at = (size_t)used < size ? (size_t)used : size;

		used += snprintf(buf + at, size - at, call->args[i] > 9 ? "%s0x%llx" : "%s%llu",
				 i ? ", " : "", (unsigned long long)call->args[i]);
	}
	if ((size_t)used < size)
		used += snprintf(buf + used, size - (size_t)used, ")");
	if (!name && call->arch != AUDIT_ARCH_X86_64 && (size_t)used < size)
		used += snprintf(buf + used, size - (size_t)used, " of arch 0x%x", call->arch);
	return used;
}
