// SPDX-License-Identifier: GPL-2.0-only
#include "policy/json_policy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int json_policy_error(struct policy_builder *b, const struct json_value *value, const char *fmt,
		      ...)
{
	char path[200], text[300];
	va_list args;

	json_path(value, path, sizeof(path));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return policy_error(b, b->policy->files[0], value->line, value->column, "%s: %s", path,
			    text);
}

static int check_type(struct policy_builder *b, const struct json_value *value, enum json_type type)
{
	if (value->type == type)
		return 0;
	return json_policy_error(b, value, "expected %s, not %s", json_type_name(type),
				 json_type_name(value->type));
}

int json_policy_need(struct policy_builder *b, const struct json_value *object, const char *key,
		     enum json_type type, const struct json_value **out)
{
	*out = json_get(object, key);
	if (!*out)
		return json_policy_error(b, object, "there is no member '%s'", key);
	return check_type(b, *out, type);
}

int json_policy_may(struct policy_builder *b, const struct json_value *object, const char *key,
		    enum json_type type, const struct json_value **out)
{
	*out = json_get_set(object, key);
	return *out ? check_type(b, *out, type) : 0;
}

int json_policy_u64(struct policy_builder *b, const struct json_value *value, uint64_t *out)
{
	int ret = check_type(b, value, JSON_INTEGER);

	if (ret)
		return ret;
	if (value->negative && value->magnitude > UINT64_C(1) << 63)
		return json_policy_error(b, value, "does not fit 64 bits");
	*out = value->negative ? 0 - value->magnitude : value->magnitude;
	return 0;
}

int json_policy_u32(struct policy_builder *b, const struct json_value *value, uint32_t max,
		    uint32_t *out)
{
	int ret = check_type(b, value, JSON_INTEGER);

	if (ret)
		return ret;
	if ((value->negative && value->magnitude) || value->magnitude > max)
		return json_policy_error(b, value, "must be from 0 to %u", max);
	*out = (uint32_t)value->magnitude;
	return 0;
}

int json_policy_index(struct policy_builder *b, const struct json_value *arg, uint8_t *out)
{
	const struct json_value *index;
	uint32_t n = 0;
	int ret = json_policy_need(b, arg, "index", JSON_INTEGER, &index);

	if (!ret)
		ret = json_policy_u32(b, index, 5, &n);
	*out = (uint8_t)n;
	return ret;
}
