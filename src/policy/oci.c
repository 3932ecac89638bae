// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seccomp profiles in JSON as the OCI runtime specification, Docker and Podman have them, with the
 * meaning that runc gives them:
 *  - an entry with no arguments decides all calls of its names, whatever other entries say; of the
 *    others the first that holds decides;
 *  - the arguments of an entry must all hold, but where one index stands twice each is an
 *    alternative of its own;
 *  - an entry whose action is the default's says nothing;
 *  - names that the architecture does not have are left out, and noted;
 *  - numbers of the x32 ABI are of another architecture, but not -1, which stands for a call that a
 *    tracer skips.
 * One architecture is compiled. Calls of the others that a profile lists get what libseccomp gives
 * to architectures that are not in a filter, and a note says so.
 */
#include "policy/json_policy.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ERRNO 1u /* EPERM, for SCMP_ACT_ERRNO and SCMP_ACT_TRACE without errnoRet */
#define MAX_ARGS      64u

static const struct policy_action actions[] = {
	{ "SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW, false },
	{ "SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO, true },
	{ "SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD, false },
	{ "SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, false },
	{ "SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD, false },
	{ "SCMP_ACT_LOG", SECCOMP_RET_LOG, false },
	{ "SCMP_ACT_NOTIFY", SECCOMP_RET_USER_NOTIF, false },
	{ "SCMP_ACT_TRACE", SECCOMP_RET_TRACE, true },
	{ "SCMP_ACT_TRAP", SECCOMP_RET_TRAP, false },
	{ NULL, 0, false },
};

static const struct {
	const char *name;
	enum loupe_policy_op op;
	bool masked; /* value is the mask, valueTwo what is compared */
} ops[] = {
	{ "SCMP_CMP_EQ", LOUPE_POLICY_EQ, false }, { "SCMP_CMP_NE", LOUPE_POLICY_NE, false },
	{ "SCMP_CMP_LT", LOUPE_POLICY_LT, false }, { "SCMP_CMP_LE", LOUPE_POLICY_LE, false },
	{ "SCMP_CMP_GT", LOUPE_POLICY_GT, false }, { "SCMP_CMP_GE", LOUPE_POLICY_GE, false },
	{ "SCMP_CMP_MASKED_EQ", LOUPE_POLICY_EQ, true },
};

/* What Docker and Podman call the architectures in includes and excludes, by ours. */
static const struct {
	uint32_t arch;
	const char *names[3];
	const char *scmp;
} arches[] = {
	{ AUDIT_ARCH_X86_64, { "amd64", "x86_64", NULL }, "SCMP_ARCH_X86_64" },
	{ AUDIT_ARCH_AARCH64, { "arm64", "aarch64", NULL }, "SCMP_ARCH_AARCH64" },
};

/* Errno of an action: a number in one member, a name in another, EPERM without both. */
static int read_errno(struct policy_builder *b, const struct json_value *object, const char *number,
		      const char *name, uint32_t *out)
{
	const struct json_value *value;
	uint64_t constant = 0;
	int ret;

	*out = DEFAULT_ERRNO;
	ret = json_policy_may(b, object, number, JSON_INTEGER, &value);
	if (!ret && value)
		return json_policy_u32(b, value, SECCOMP_RET_DATA, out);
	if (!ret)
		ret = json_policy_may(b, object, name, JSON_STRING, &value);
	if (ret || !value || !*value->string)
		return ret;
	if (value->string[0] != 'E' ||
	    !policy_constant(b->opts->arch, value->string, &constant) || constant > 4095)
		return json_policy_error(b, value, "there is no errno '%s'", value->string);
	*out = (uint32_t)constant;
	return 0;
}

static int read_action(struct policy_builder *b, const struct json_value *object, const char *key,
		       const char *number, const char *name, uint32_t *out)
{
	const struct json_value *value;
	const struct policy_action *row;
	uint32_t data = 0;
	int ret = json_policy_need(b, object, key, JSON_STRING, &value);

	if (ret)
		return ret;
	row = policy_action_find(actions, value->string);
	if (!row)
		return json_policy_error(b, value, "there is no action '%s'", value->string);
	if (row->takes_data)
		ret = read_errno(b, object, number, name, &data);
	*out = row->value | data;
	return ret;
}

static int read_cond(struct policy_builder *b, const struct json_value *arg,
		     struct loupe_policy_cond *cond)
{
	const struct json_value *op, *value, *two;
	uint64_t second = 0;
	int ret;

	if (arg->type != JSON_OBJECT)
		return json_policy_error(b, arg, "expected an object, not %s",
					 json_type_name(arg->type));
	ret = json_policy_index(b, arg, &cond->arg);
	if (!ret)
		ret = json_policy_need(b, arg, "op", JSON_STRING, &op);
	if (!ret)
		ret = json_policy_need(b, arg, "value", JSON_INTEGER, &value);
	if (!ret)
		ret = json_policy_u64(b, value, &cond->value);
	if (!ret)
		ret = json_policy_may(b, arg, "valueTwo", JSON_INTEGER, &two);
	if (!ret && two)
		ret = json_policy_u64(b, two, &second);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].name, op->string))
			continue;
		cond->op = (uint8_t)ops[i].op;
		cond->mask = ops[i].masked ? cond->value : UINT64_MAX;
		cond->value = ops[i].masked ? second : cond->value;
		return 0;
	}
	return json_policy_error(b, op, "there is no operator '%s'", op->string);
}

static bool index_repeats(const struct loupe_policy_cond *conds, uint32_t cnt)
{
	unsigned int seen = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		if (seen & 1u << conds[i].arg)
			return true;
		seen |= 1u << conds[i].arg;
	}
	return false;
}

/* ---- includes and excludes ---------------------------------------------------------------- */

static bool have_cap(const struct loupe_policy_opts *opts, const char *cap)
{
	for (uint32_t i = 0; i < opts->cap_cnt; i++) {
		if (!strcmp(opts->caps[i], cap))
			return true;
	}
	return false;
}

static bool is_arch(const struct loupe_policy_opts *opts, const char *name)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (arches[i].arch == opts->arch && (!strcmp(arches[i].names[0], name) ||
						     !strcmp(arches[i].names[1], name)))
			return true;
	}
	return false;
}

/* How many of a list of strings hold; *cnt: how long it is. */
static int count_list(struct policy_builder *b, const struct json_value *object, const char *key,
		      bool (*holds)(const struct loupe_policy_opts *opts, const char *name),
		      uint32_t *cnt, uint32_t *holding)
{
	const struct json_value *list;
	int ret = json_policy_may(b, object, key, JSON_ARRAY, &list);

	*cnt = *holding = 0;
	for (uint32_t i = 0; !ret && list && i < list->cnt; i++) {
		if (list->items[i].type != JSON_STRING)
			return json_policy_error(b, &list->items[i], "expected a string");
		*holding += holds(b->opts, list->items[i].string);
		(*cnt)++;
	}
	return ret;
}

/* minKernel: 0 not given, 1 met, -1 not met. */
static int kernel_met(struct policy_builder *b, const struct json_value *object, int *met)
{
	const struct json_value *value;
	unsigned int major, minor;
	int end = 0, ret = json_policy_may(b, object, "minKernel", JSON_STRING, &value);

	*met = 0;
	if (ret || !value || !*value->string)
		return ret;
	if (sscanf(value->string, "%9u.%9u%n", &major, &minor, &end) != 2 || value->string[end])
		return json_policy_error(b, value, "a kernel version is as 4.8, not '%s'",
					 value->string);
	*met = b->opts->kernel[0] > major ||
			       (b->opts->kernel[0] == major && b->opts->kernel[1] >= minor)
		       ? 1
		       : -1;
	return 0;
}

static int applies(struct policy_builder *b, const struct json_value *entry, bool *out)
{
	const struct json_value *includes, *excludes;
	uint32_t caps, have, archs, are;
	int kernel, ret;

	*out = false;
	ret = json_policy_may(b, entry, "includes", JSON_OBJECT, &includes);
	if (!ret)
		ret = json_policy_may(b, entry, "excludes", JSON_OBJECT, &excludes);
	if (!ret && excludes) {
		ret = count_list(b, excludes, "caps", have_cap, &caps, &have);
		if (!ret)
			ret = count_list(b, excludes, "arches", is_arch, &archs, &are);
		if (!ret)
			ret = kernel_met(b, excludes, &kernel);
		if (ret || have || are || kernel > 0)
			return ret;
	}
	if (!ret && includes) {
		ret = count_list(b, includes, "caps", have_cap, &caps, &have);
		if (!ret)
			ret = count_list(b, includes, "arches", is_arch, &archs, &are);
		if (!ret)
			ret = kernel_met(b, includes, &kernel);
		if (ret || have < caps || (archs && !are) || kernel < 0)
			return ret;
	}
	*out = true;
	return ret;
}

/* ---- entries ------------------------------------------------------------------------------ */

static int add_name(struct policy_builder *b, const struct json_value *name, uint32_t action,
		    const struct loupe_policy_cond *conds, uint32_t cnt, uint32_t line)
{
	bool apart = index_repeats(conds, cnt);
	int32_t nr = loupe_syscall_nr(b->opts->arch, name->string);
	char path[200];
	int ret = 0;

	if (nr < 0) {
		json_path(name, path, sizeof(path));
		return policy_add_note(b, "%s: '%s' is no system call of %s", path, name->string,
				       policy_arch_name(b->opts->arch));
	}
	if (!apart)
		return policy_add_rule(b, (uint32_t)nr, action, conds, cnt, 0, line);
	for (uint32_t i = 0; !ret && i < cnt; i++)
		ret = policy_add_rule(b, (uint32_t)nr, action, &conds[i], 1, 0, line);
	return ret;
}

static int add_names(struct policy_builder *b, const struct json_value *entry, uint32_t action,
		     const struct loupe_policy_cond *conds, uint32_t cnt)
{
	const struct json_value *names, *name = json_get_set(entry, "name");
	int ret;

	/* Docker's older form has one name. */
	if (name && name->type == JSON_STRING && *name->string)
		return add_name(b, name, action, conds, cnt, entry->line);
	ret = json_policy_need(b, entry, "names", JSON_ARRAY, &names);
	for (uint32_t i = 0; !ret && i < names->cnt; i++) {
		if (names->items[i].type != JSON_STRING)
			return json_policy_error(b, &names->items[i], "expected a string, not %s",
						 json_type_name(names->items[i].type));
		ret = add_name(b, &names->items[i], action, conds, cnt, entry->line);
	}
	return ret;
}

static int read_entry(struct policy_builder *b, const struct json_value *entry)
{
	struct loupe_policy_cond conds[MAX_ARGS];
	const struct json_value *args;
	uint32_t action = 0, cnt = 0;
	bool applicable = false;
	int ret;

	if (entry->type != JSON_OBJECT)
		return json_policy_error(b, entry, "expected an object, not %s",
					 json_type_name(entry->type));
	ret = read_action(b, entry, "action", "errnoRet", "errno", &action);
	if (!ret)
		ret = json_policy_may(b, entry, "args", JSON_ARRAY, &args);
	if (!ret && args && args->cnt > MAX_ARGS)
		return json_policy_error(b, args, "more than %u conditions", MAX_ARGS);
	while (!ret && args && cnt < args->cnt) {
		ret = read_cond(b, &args->items[cnt], &conds[cnt]);
		cnt++;
	}
	if (!ret)
		ret = applies(b, entry, &applicable);
	if (ret || !applicable || action == b->policy->default_action)
		return ret;
	return add_names(b, entry, action, conds, cnt);
}

/* Notes on architectures that are listed and not compiled. */
static int note_arch(struct policy_builder *b, const struct json_value *value)
{
	char path[200];

	if (value->type != JSON_STRING)
		return json_policy_error(b, value, "expected a string, not %s",
					 json_type_name(value->type));
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (arches[i].arch == b->opts->arch && !strcmp(arches[i].scmp, value->string))
			return 0;
	}
	if (strncmp(value->string, "SCMP_ARCH_", 10))
		return json_policy_error(b, value, "there is no architecture '%s'", value->string);
	json_path(value, path, sizeof(path));
	return policy_add_note(b, "%s: calls of %s are killed, this filter is for %s", path,
			       value->string, policy_arch_name(b->opts->arch));
}

static int read_archs(struct policy_builder *b, const struct json_value *profile)
{
	const struct json_value *list, *map, *arch, *subs;
	int ret = json_policy_may(b, profile, "architectures", JSON_ARRAY, &list);

	for (uint32_t i = 0; !ret && list && i < list->cnt; i++)
		ret = note_arch(b, &list->items[i]);
	if (!ret)
		ret = json_policy_may(b, profile, "archMap", JSON_ARRAY, &map);
	for (uint32_t i = 0; !ret && map && i < map->cnt; i++) {
		bool native = false;

		ret = json_policy_need(b, &map->items[i], "architecture", JSON_STRING, &arch);
		if (!ret)
			ret = json_policy_may(b, &map->items[i], "subArchitectures", JSON_ARRAY,
					      &subs);
		for (size_t a = 0; !ret && a < sizeof(arches) / sizeof(arches[0]); a++)
			native |= arches[a].arch == b->opts->arch &&
				  !strcmp(arches[a].scmp, arch->string);
		/* a map is of several machines: only this one's line counts */
		for (uint32_t s = 0; !ret && native && subs && s < subs->cnt; s++)
			ret = note_arch(b, &subs->items[s]);
	}
	return ret;
}

/* Entries without arguments decide before the others; otherwise the order stays. */
static int put_unconditional_first(struct policy_builder *b)
{
	struct loupe_policy *policy = b->policy;
	struct loupe_policy_rule *sorted = malloc((policy->rule_cnt + 1) * sizeof(*sorted));
	uint32_t cnt = 0;

	if (!sorted)
		return policy_no_memory(b);
	for (int conditional = 0; conditional < 2; conditional++) {
		for (uint32_t i = 0; i < policy->rule_cnt; i++) {
			if (!!policy->rules[i].cond_cnt == conditional)
				sorted[cnt++] = policy->rules[i];
		}
	}
	free(policy->rules);
	policy->rules = sorted;
	b->rule_cap = policy->rule_cnt + 1;
	return 0;
}

/* The profile itself, or a container's whole configuration with linux.seccomp. */
static const struct json_value *find_profile(const struct json_value *root)
{
	const struct json_value *inner = json_get_set(json_get(root, "linux"), "seccomp");

	return inner ? inner : root;
}

static int read_profile(struct policy_builder *b, const struct json_value *profile)
{
	const struct json_value *entries;
	int ret;

	if (profile->type != JSON_OBJECT)
		return json_policy_error(b, profile, "expected an object, not %s",
					 json_type_name(profile->type));
	ret = read_action(b, profile, "defaultAction", "defaultErrnoRet", "defaultErrno",
			  &b->policy->default_action);
	if (!ret)
		ret = read_archs(b, profile);
	if (!ret)
		ret = json_policy_may(b, profile, "syscalls", JSON_ARRAY, &entries);
	for (uint32_t i = 0; !ret && entries && i < entries->cnt; i++)
		ret = read_entry(b, &entries->items[i]);
	return ret ? ret : put_unconditional_first(b);
}

int policy_read_oci(struct policy_builder *b, const char *text, size_t len)
{
	struct json_document doc;
	int ret;

	/* libseccomp's action for architectures that a filter does not have */
	b->policy->other_arch = SECCOMP_RET_KILL_THREAD;
	b->policy->x32_apart = b->opts->arch == AUDIT_ARCH_X86_64;
	ret = json_read(b->policy->files[0], text, len, &doc, b->err);
	if (!ret)
		ret = read_profile(b, find_profile(&doc.root));
	json_finish(&doc);
	return ret;
}
