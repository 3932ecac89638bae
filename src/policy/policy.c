// SPDX-License-Identifier: GPL-2.0-only
/* The policy model: building, freeing, and deciding a call by it. */
#include "policy/policy.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any filter has room for. */
#define MAX_RULES (1u << 20)

/* Where nobody says how often calls are made: numbers that are looked at, ... */
enum { LAST_CALL = 1023, OLD_CALLS = 32 };

/* ... and how often what has no rules is called, compared with the rest. */
#define WITHOUT_RULES 0.5

/* Room for one more of size bytes. */
static int grow(void **rows, uint32_t cnt, uint32_t *cap, size_t size)
{
	uint32_t bigger = *cap ? *cap * 2 : 16;
	void *moved;

	if (cnt < *cap)
		return 0;
	moved = realloc(*rows, bigger * size);
	if (!moved)
		return -ENOMEM;
	*rows = moved;
	*cap = bigger;
	return 0;
}

int policy_no_memory(struct policy_builder *b)
{
	return loupe_error_set(b->err, -ENOMEM, "out of memory");
}

int policy_add_rule(struct policy_builder *b, uint32_t nr, uint32_t action,
		    const struct loupe_policy_cond *conds, uint32_t cond_cnt, uint32_t file,
		    uint32_t line)
{
	struct loupe_policy *policy = b->policy;
	struct loupe_policy_cond *copy = NULL;

	if (policy->rule_cnt == MAX_RULES)
		return loupe_error_set(b->err, -E2BIG, "more than %u rules", MAX_RULES);
	if (grow((void **)&policy->rules, policy->rule_cnt, &b->rule_cap, sizeof(*policy->rules)))
		return policy_no_memory(b);
	if (cond_cnt) {
		copy = malloc(cond_cnt * sizeof(*copy));
		if (!copy)
			return policy_no_memory(b);
		memcpy(copy, conds, cond_cnt * sizeof(*copy));
	}
	policy->rules[policy->rule_cnt++] = (struct loupe_policy_rule){
		.nr = nr,
		.action = action,
		.conds = copy,
		.cond_cnt = cond_cnt,
		.file = file,
		.line = line,
	};
	return 0;
}

static char *printed(const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		return NULL;
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	return text;
}

int policy_add_note(struct policy_builder *b, const char *fmt, ...)
{
	struct loupe_policy *policy = b->policy;
	va_list args;
	char *text;

	if (grow((void **)&policy->notes, policy->note_cnt, &b->note_cap, sizeof(*policy->notes)))
		return policy_no_memory(b);
	va_start(args, fmt);
	text = printed(fmt, args);
	va_end(args);
	if (!text)
		return policy_no_memory(b);
	policy->notes[policy->note_cnt++] = text;
	return 0;
}

int policy_add_file(struct policy_builder *b, const char *path)
{
	struct loupe_policy *policy = b->policy;
	char **bigger = realloc(policy->files, (policy->file_cnt + 1) * sizeof(*bigger));

	if (!bigger)
		return policy_no_memory(b);
	policy->files = bigger;
	bigger[policy->file_cnt] = strdup(path);
	if (!bigger[policy->file_cnt])
		return policy_no_memory(b);
	return (int)policy->file_cnt++;
}

int policy_add_frequency(struct policy_builder *b, uint32_t nr, double weight)
{
	struct loupe_weights *freq = &b->policy->frequency;

	if (grow((void **)&freq->rows, freq->cnt, &b->freq_cap, sizeof(*freq->rows)))
		return policy_no_memory(b);
	freq->arch = b->policy->arch;
	freq->rows[freq->cnt++] = (struct loupe_weight){ .nr = nr, .weight = weight };
	return 0;
}

int policy_error(struct policy_builder *b, const char *file, uint32_t line, uint32_t column,
		 const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = printed(fmt, args);
	va_end(args);
	if (!text)
		return policy_no_memory(b);
	loupe_error_set(b->err, -EINVAL, "%s", text);
	free(text);
	if (b->err) {
		snprintf(b->err->file, sizeof(b->err->file), "%s", file);
		b->err->line = line;
		b->err->column = column;
	}
	return -EINVAL;
}

const char *policy_arch_name(uint32_t arch)
{
	return arch == AUDIT_ARCH_AARCH64 ? "aarch64" : "x86_64";
}

bool policy_name_known(const char *name)
{
	return loupe_syscall_nr(AUDIT_ARCH_X86_64, name) >= 0 ||
	       loupe_syscall_nr(AUDIT_ARCH_AARCH64, name) >= 0;
}

/* How often a call is made, where nobody says so. */
static double usual_weight(const struct loupe_policy *policy, uint32_t nr, bool has_rules)
{
	/* x86-64 was given its numbers by how often calls are made; ARM's are by subject */
	double weight = policy->arch == AUDIT_ARCH_X86_64 ? 1.0 / (OLD_CALLS + nr) : 1.0;

	return has_rules ? weight : weight * WITHOUT_RULES;
}

static int copy_rows(const struct loupe_weights *from, struct loupe_weights *to)
{
	to->rows = malloc((from->cnt + 1) * sizeof(*to->rows));
	if (!to->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->cnt; i++) {
		to->rows[to->cnt] = from->rows[i];
		to->rows[to->cnt++].name = NULL;
	}
	return 0;
}

int loupe_policy_weights(const struct loupe_policy *policy, struct loupe_weights *out)
{
	bool has_rules[LAST_CALL + 1] = { false };

	*out = (struct loupe_weights){ .arch = policy->arch };
	if (policy->frequency.cnt)
		return copy_rows(&policy->frequency, out);
	out->rows = calloc(LAST_CALL + 1, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < policy->rule_cnt; i++) {
		if (policy->rules[i].nr <= LAST_CALL)
			has_rules[policy->rules[i].nr] = true;
	}
	for (uint32_t nr = 0; nr <= LAST_CALL; nr++) {
		if (loupe_syscall_name(policy->arch, nr))
			out->rows[out->cnt++] = (struct loupe_weight){
				.nr = nr, .weight = usual_weight(policy, nr, has_rules[nr])
			};
	}
	return 0;
}

void loupe_policy_destroy(struct loupe_policy *policy)
{
	if (!policy)
		return;
	for (uint32_t i = 0; i < policy->rule_cnt; i++)
		free(policy->rules[i].conds);
	for (uint32_t i = 0; i < policy->note_cnt; i++)
		free(policy->notes[i]);
	for (uint32_t i = 0; i < policy->file_cnt; i++)
		free(policy->files[i]);
	loupe_weights_finish(&policy->frequency);
	free(policy->rules);
	free(policy->notes);
	free(policy->files);
	free(policy->name);
	free(policy);
}

static bool cond_holds(const struct loupe_policy_cond *cond, const uint64_t args[6])
{
	uint64_t have = args[cond->arg] & cond->mask;

	switch ((enum loupe_policy_op)cond->op) {
	case LOUPE_POLICY_EQ:
		return have == cond->value;
	case LOUPE_POLICY_NE:
		return have != cond->value;
	case LOUPE_POLICY_LT:
		return have < cond->value;
	case LOUPE_POLICY_LE:
		return have <= cond->value;
	case LOUPE_POLICY_GT:
		return have > cond->value;
	case LOUPE_POLICY_GE:
		return have >= cond->value;
	}
	return false;
}

bool policy_is_apart(const struct loupe_policy *policy, uint32_t nr)
{
	return policy->x32_apart && nr >= POLICY_X32_BIT && nr != POLICY_NO_CALL;
}

uint32_t loupe_policy_eval(const struct loupe_policy *policy,
			   const struct loupe_seccomp_data *data, int64_t *rule)
{
	int64_t none;

	if (!rule)
		rule = &none;
	*rule = -1;
	if (data->arch != policy->arch)
		return policy->other_arch;
	if (policy_is_apart(policy, data->nr))
		return policy->other_arch;
	for (uint32_t i = 0; i < policy->rule_cnt; i++) {
		const struct loupe_policy_rule *r = &policy->rules[i];
		uint32_t c = 0;

		if (r->nr != data->nr)
			continue;
		while (c < r->cond_cnt && cond_holds(&r->conds[c], data->args))
			c++;
		if (c == r->cond_cnt) {
			*rule = i;
			return r->action;
		}
	}
	return policy->default_action;
}
