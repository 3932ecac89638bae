// SPDX-License-Identifier: GPL-2.0-only
#include "calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void calls_init(struct calls *calls, const struct loupe_filter *before,
		const struct loupe_filter *after)
{
	*calls = (struct calls){ .filter = { before, after } };
}

void calls_finish(struct calls *calls)
{
	free(calls->rows);
	*calls = (struct calls){ 0 };
}

int calls_add(struct calls *calls, uint32_t at, const struct loupe_seccomp_data *data,
	      const char *name, double weight, struct loupe_error *err)
{
	const struct loupe_filter_input input = { .data = data, .len = sizeof(*data) };
	struct calls_row row = { .data = *data, .weight = weight };

	snprintf(row.name, sizeof(row.name), "%s", name ? name : "");
	for (int n = 0; n < 2; n++) {
		struct loupe_filter_run run = { 0 };
		int rc = loupe_filter_eval(calls->filter[n], &input, &run, err);

		if (rc)
			return rc;
		row.result = run.result;
		row.executed[n] = run.executed;
		row.loads[n] = run.loads;
		row.cached[n] = loupe_seccomp_is_cached(calls->filter[n], data->arch, data->nr);
	}
	if (calls->cnt == calls->cap) {
		uint32_t cap = calls->cap ? 2 * calls->cap : 64;
		struct calls_row *rows = realloc(calls->rows, cap * sizeof(*rows));

		if (!rows)
			return loupe_error_set(err, -ENOMEM, "out of memory");
		calls->rows = rows;
		calls->cap = cap;
	}
	memmove(&calls->rows[at + 1], &calls->rows[at], (calls->cnt - at) * sizeof(*calls->rows));
	calls->rows[at] = row;
	calls->cnt++;
	return 0;
}

int calls_add_table(struct calls *calls, const struct loupe_weights *table, struct loupe_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < table->cnt && !rc; i++) {
		const struct loupe_weight *row = &table->rows[i];
		struct loupe_seccomp_data data = { .nr = row->nr, .arch = table->arch };

		memcpy(data.args, row->args, sizeof(data.args));
		rc = calls_add(calls, calls->cnt, &data, row->name, row->weight, err);
	}
	return rc;
}

/* An argument for which a condition holds; later conditions may undo what an earlier one asked. */
static uint64_t meet(uint64_t arg, const struct loupe_policy_cond *cond)
{
	switch ((enum loupe_policy_op)cond->op) {
	case LOUPE_POLICY_EQ:
		return (arg & ~cond->mask) | cond->value;
	case LOUPE_POLICY_NE:
		return (arg & cond->mask) == cond->value ? arg ^ (cond->mask & (~cond->mask + 1))
							 : arg;
	case LOUPE_POLICY_LT:
		return (arg & cond->mask) < cond->value ? arg : cond->value - 1;
	case LOUPE_POLICY_LE:
		return (arg & cond->mask) <= cond->value ? arg : cond->value;
	case LOUPE_POLICY_GT:
		return (arg & cond->mask) > cond->value ? arg : cond->value + 1;
	case LOUPE_POLICY_GE:
		return (arg & cond->mask) >= cond->value ? arg : cond->value;
	}
	return arg;
}

int calls_add_rules(struct calls *calls, const struct loupe_policy *policy, struct loupe_error *err)
{
	int rc = 0;

	for (uint32_t r = 0; r < policy->rule_cnt && !rc; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];
		struct loupe_seccomp_data data = { .nr = rule->nr, .arch = policy->arch };
		int64_t decides;

		/* twice, so that each condition sees what the others made of the argument */
		for (uint32_t i = 0; i < 2 * rule->cond_cnt; i++) {
			const struct loupe_policy_cond *cond = &rule->conds[i % rule->cond_cnt];

			data.args[cond->arg] = meet(data.args[cond->arg], cond);
		}
		loupe_policy_eval(policy, &data, &decides);
		if (decides == r)
			rc = calls_add(calls, calls->cnt, &data, NULL, 0, err);
	}
	return rc;
}

struct calls_means calls_means(const struct calls *calls)
{
	struct calls_means means = { 0 };

	for (uint32_t i = 0; i < calls->cnt; i++) {
		const struct calls_row *row = &calls->rows[i];

		means.weight += row->weight;
		for (int n = 0; n < 2; n++) {
			means.executed[n] += row->weight * row->executed[n];
			means.loads[n] += row->weight * row->loads[n];
			means.with_cache[n] += row->cached[n] ? 0 : row->weight * row->executed[n];
			means.cached[n] += row->cached[n] ? row->weight : 0;
		}
	}
	for (int n = 0; n < 2 && means.weight > 0; n++) {
		means.executed[n] /= means.weight;
		means.loads[n] /= means.weight;
		means.with_cache[n] /= means.weight;
		means.cached[n] /= means.weight;
	}
	return means;
}

static bool parse_value(const char *text, uint64_t max, uint64_t *out)
{
	bool negative = text[0] == '-';
	const char *digits = text + negative;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	if (errno || *end || *out > max)
		return false;
	if (negative)
		*out = -*out;
	return true;
}

bool calls_parse(const char *const *words, uint32_t cnt, uint32_t arch,
		 struct loupe_seccomp_data *data, char *why, size_t size)
{
	int32_t nr = loupe_syscall_nr(arch, words[0]);
	uint64_t value;

	*data = (struct loupe_seccomp_data){ .arch = arch, .nr = (uint32_t)nr };
	if (nr < 0 && !parse_value(words[0], UINT32_MAX, &value)) {
		snprintf(why, size, "no system call is called '%s' on %s", words[0],
			 arch == AUDIT_ARCH_AARCH64 ? "aarch64" : "x86_64");
		return false;
	}
	if (nr < 0)
		data->nr = (uint32_t)value;
	if (cnt > 7) {
		snprintf(why, size, "a system call has six arguments, not %u", cnt - 1);
		return false;
	}
	for (uint32_t i = 1; i < cnt; i++) {
		if (parse_value(words[i], UINT64_MAX, &data->args[i - 1]))
			continue;
		snprintf(why, size, "'%s' is no number", words[i]);
		return false;
	}
	return true;
}
