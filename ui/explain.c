// SPDX-License-Identifier: GPL-2.0-only
/* Looking errors up. */
#include "explain.h"

#include "bpfloupe/insn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct explanation table[] = {
#define ERROR(pattern, rule, ways) { pattern, rule, ways },
#include "errors.def"
};

const struct explanation *explanation_get(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? &table[i] : NULL;
}

/* The parts between stars, one after another. */
static bool has_parts(const char *message, const char *pattern)
{
	char part[64];

	while (*pattern) {
		size_t len = strcspn(pattern, "*");
		const char *at;

		snprintf(part, sizeof(part), "%.*s", (int)len, pattern);
		at = strstr(message, part);
		if (!at)
			return false;
		message = at + len;
		pattern += len + (pattern[len] == '*');
	}
	return true;
}

const struct explanation *explain_error(const char *message)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (has_parts(message, table[i].pattern))
			return &table[i];
	}
	return NULL;
}

const char *explain_silence(const struct loupe_image *image,
			    const struct loupe_verify_result *result)
{
	enum { ENOTSUPP = 524 }; /* the kernel's own, no user sees it elsewhere */
	const char *type;

	if (result->verdict != LOUPE_REJECTED || result->err != -ENOTSUPP)
		return NULL;
	type = loupe_prog_type_name(image->prog_type);
	if (type && !strcmp(type, "struct_ops") && !image->attach_btf_id)
		return "rejected without a message: struct_ops of no kernel structure";
	if (result->phase == LOUPE_PHASE_EXPLORE_MAIN ||
	    result->phase == LOUPE_PHASE_EXPLORE_SUBPROGS)
		return "rejected without a message: constant of a map with several entries";
	return NULL;
}

bool explain_counts(const struct subject *subject)
{
	return subject->result.verdict == LOUPE_REJECTED &&
	       (strstr(subject->error, "program is too large") ||
		strstr(subject->error, "too complex"));
}

bool explain_compares(const struct subject *subject)
{
	return subject->trace && subject->result.verdict == LOUPE_REJECTED &&
	       loupe_trace_error_step(subject->trace) != LOUPE_NO_STEP &&
	       strstr(subject->error, "infinite loop");
}

bool explain_blames(const struct subject *subject)
{
	return subject->trace && subject->result.verdict == LOUPE_REJECTED &&
	       !explain_counts(subject) &&
	       loupe_trace_error_step(subject->trace) != LOUPE_NO_STEP &&
	       !explain_compares(subject);
}
