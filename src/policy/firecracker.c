// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firecracker's seccompiler JSON: an object of filters by name. A filter has the action of calls
 * that a rule holds for and the action of all others, in either of two spellings, and a list of
 * rules; a rule's conditions must all hold, several rules of a call are alternatives.
 */
#include "policy/json_policy.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct policy_action actions[] = {
	{ "allow", SECCOMP_RET_ALLOW, false },
	{ "errno", SECCOMP_RET_ERRNO, true },
	{ "kill_process", SECCOMP_RET_KILL_PROCESS, false },
	{ "kill_thread", SECCOMP_RET_KILL_THREAD, false },
	{ "log", SECCOMP_RET_LOG, false },
	{ "trace", SECCOMP_RET_TRACE, true },
	{ "trap", SECCOMP_RET_TRAP, false },
	{ NULL, 0, false },
};

static const struct {
	const char *name;
	enum loupe_policy_op op;
} ops[] = {
	{ "eq", LOUPE_POLICY_EQ }, { "ne", LOUPE_POLICY_NE }, { "lt", LOUPE_POLICY_LT },
	{ "le", LOUPE_POLICY_LE }, { "gt", LOUPE_POLICY_GT }, { "ge", LOUPE_POLICY_GE },
};

/* "allow", or {"errno": 1}. */
static int read_action(struct policy_builder *b, const struct json_value *value, uint32_t *out)
{
	const char *name = NULL;
	const struct policy_action *row;
	uint32_t data = 0;
	int ret = 0;

	if (value->type == JSON_STRING)
		name = value->string;
	else if (value->type == JSON_OBJECT && value->cnt == 1)
		name = value->items[0].key;
	else
		return json_policy_error(b, value,
					 "an action is a name, or an object as {\"errno\": 1}");
	row = policy_action_find(actions, name);
	if (!row)
		return json_policy_error(b, value, "there is no action '%s'", name);
	if (row->takes_data != (value->type == JSON_OBJECT))
		return json_policy_error(b, value, row->takes_data ? "action '%s' needs a number"
								   : "action '%s' takes no number",
					 name);
	if (row->takes_data)
		ret = json_policy_u32(b, &value->items[0], SECCOMP_RET_DATA, &data);
	*out = row->value | data;
	return ret;
}

static int read_op(struct policy_builder *b, const struct json_value *value, uint64_t width,
		   struct loupe_policy_cond *cond)
{
	if (value->type == JSON_OBJECT && value->cnt == 1 &&
	    !strcmp(value->items[0].key, "masked_eq")) {
		uint64_t mask = 0;
		int ret = json_policy_u64(b, &value->items[0], &mask);

		cond->op = LOUPE_POLICY_EQ;
		cond->mask = mask & width;
		cond->value &= cond->mask;
		return ret;
	}
	for (size_t i = 0; value->type == JSON_STRING && i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcmp(ops[i].name, value->string)) {
			cond->op = (uint8_t)ops[i].op;
			cond->mask = width;
			return 0;
		}
	}
	return json_policy_error(b, value,
				 "an operator is eq, ne, lt, le, gt, ge or {\"masked_eq\": mask}");
}

static int read_cond(struct policy_builder *b, const struct json_value *arg,
		     struct loupe_policy_cond *cond)
{
	const struct json_value *type, *op, *val;
	uint64_t width;
	int ret;

	if (arg->type != JSON_OBJECT)
		return json_policy_error(b, arg, "expected an object, not %s",
					 json_type_name(arg->type));
	ret = json_policy_index(b, arg, &cond->arg);
	if (!ret)
		ret = json_policy_need(b, arg, "type", JSON_STRING, &type);
	if (!ret)
		ret = json_policy_need(b, arg, "val", JSON_INTEGER, &val);
	if (!ret)
		ret = json_policy_u64(b, val, &cond->value);
	if (ret)
		return ret;
	if (!strcmp(type->string, "dword"))
		width = UINT32_MAX;
	else if (!strcmp(type->string, "qword"))
		width = UINT64_MAX;
	else
		return json_policy_error(b, type, "a type is dword or qword");
	if (cond->value > width && !(val->negative && val->magnitude <= UINT64_C(1) << 31))
		return json_policy_error(b, val, "does not fit a dword");
	cond->value &= width;
	op = json_get(arg, "op");
	if (!op)
		return json_policy_error(b, arg, "there is no member 'op'");
	return read_op(b, op, width, cond);
}

static int read_rule(struct policy_builder *b, const struct json_value *rule, uint32_t action)
{
	const struct json_value *name, *args;
	struct loupe_policy_cond conds[32];
	uint32_t cnt = 0;
	int32_t nr;
	int ret;

	if (rule->type != JSON_OBJECT)
		return json_policy_error(b, rule, "expected an object, not %s",
					 json_type_name(rule->type));
	ret = json_policy_need(b, rule, "syscall", JSON_STRING, &name);
	if (!ret)
		ret = json_policy_may(b, rule, "args", JSON_ARRAY, &args);
	if (ret)
		return ret;
	nr = loupe_syscall_nr(b->opts->arch, name->string);
	if (nr < 0)
		return json_policy_error(b, name, "'%s' is no system call of %s", name->string,
					 policy_arch_name(b->opts->arch));
	if (args && args->cnt > sizeof(conds) / sizeof(conds[0]))
		return json_policy_error(b, args, "more than %zu conditions",
					 sizeof(conds) / sizeof(conds[0]));
	while (!ret && args && cnt < args->cnt) {
		ret = read_cond(b, &args->items[cnt], &conds[cnt]);
		cnt++;
	}
	if (!ret)
		ret = policy_add_rule(b, (uint32_t)nr, action, conds, cnt, 0, rule->line);
	return ret;
}

static int choose_filter(struct policy_builder *b, const struct json_value *root,
			 const struct json_value **out)
{
	char names[200] = "";

	if (root->type != JSON_OBJECT || !root->cnt)
		return json_policy_error(b, root, "expected an object of filters");
	if (b->opts->filter) {
		*out = json_get(root, b->opts->filter);
		return *out ? 0
			    : json_policy_error(b, root, "there is no filter '%s'",
						b->opts->filter);
	}
	*out = &root->items[0];
	if (root->cnt == 1)
		return 0;
	for (uint32_t i = 0; i < root->cnt; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
			 root->items[i].key);
	}
	return json_policy_error(b, root, "there are several filters, choose one with --prog: %s",
				 names);
}

/* One of two spellings. */
static int read_either(struct policy_builder *b, const struct json_value *object, const char *one,
		       const char *other, uint32_t *out)
{
	const struct json_value *value = json_get(object, one);

	if (!value)
		value = json_get(object, other);
	if (!value)
		return json_policy_error(b, object, "there is no member '%s'", one);
	return read_action(b, value, out);
}

static int read_filter(struct policy_builder *b, const struct json_value *filter)
{
	const struct json_value *rules;
	uint32_t action = 0;
	int ret;

	ret = json_policy_need(b, filter, "filter", JSON_ARRAY, &rules);
	if (!ret)
		ret = read_either(b, filter, "default_action", "mismatch_action",
				  &b->policy->default_action);
	if (!ret)
		ret = read_either(b, filter, "filter_action", "match_action", &action);
	for (uint32_t i = 0; !ret && i < rules->cnt; i++)
		ret = read_rule(b, &rules->items[i], action);
	return ret;
}

/* The filter's name becomes part of the policy's. */
static int name_policy(struct policy_builder *b, const char *filter)
{
	char *name;

	if (asprintf(&name, "%s: %s", b->policy->name, filter) < 0)
		return policy_no_memory(b);
	free(b->policy->name);
	b->policy->name = name;
	return 0;
}

int policy_read_firecracker(struct policy_builder *b, const char *text, size_t len)
{
	const struct json_value *filter = NULL;
	struct json_document doc;
	int ret;

	b->policy->other_arch = SECCOMP_RET_KILL_PROCESS;
	ret = json_read(b->policy->files[0], text, len, &doc, b->err);
	if (!ret)
		ret = choose_filter(b, &doc.root, &filter);
	if (!ret && filter->type != JSON_OBJECT)
		ret = json_policy_error(b, filter, "expected an object, not %s",
					json_type_name(filter->type));
	if (!ret)
		ret = read_filter(b, filter);
	if (!ret)
		ret = name_policy(b, filter->key);
	b->policy->x32_apart = b->opts->arch == AUDIT_ARCH_X86_64 &&
			       policy_action_permits(b->policy->default_action);
	json_finish(&doc);
	return ret;
}
