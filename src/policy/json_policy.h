/* SPDX-License-Identifier: GPL-2.0-only */
/* What the readers of JSON policies share. */
#ifndef LOUPE_POLICY_JSON_POLICY_H
#define LOUPE_POLICY_JSON_POLICY_H

#include "policy/action.h"
#include "policy/json.h"
#include "policy/policy.h"

/** An error of meaning: the position and the path of value stand before the message. -EINVAL */
int json_policy_error(struct policy_builder *b, const struct json_value *value, const char *fmt,
		      ...) LOUPE_PRINTF(3, 4);

/**
 * A member that must be there and have a type.
 * @param out  receives it
 */
int json_policy_need(struct policy_builder *b, const struct json_value *object, const char *key,
		     enum json_type type, const struct json_value **out);

/** A member that may be absent or null (then *out is NULL), but has this type otherwise. */
int json_policy_may(struct policy_builder *b, const struct json_value *object, const char *key,
		    enum json_type type, const struct json_value **out);

/** A value of 64 bits; negative ones are taken as two's complement. */
int json_policy_u64(struct policy_builder *b, const struct json_value *value, uint64_t *out);

/** A number of at most max. */
int json_policy_u32(struct policy_builder *b, const struct json_value *value, uint32_t max,
		    uint32_t *out);

/** An argument's index. */
int json_policy_index(struct policy_builder *b, const struct json_value *arg, uint8_t *out);

#endif
