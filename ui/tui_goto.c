// SPDX-License-Identifier: GPL-2.0-only
/* Places as words: 57, s1204, #17, :112, name of a function. */
#include "tui_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number that takes the whole text, thousands separators allowed. */
static bool whole_number(const char *text, uint32_t *number)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; *text; text++) {
		if (*text == ',')
			continue;
		if (!isdigit((unsigned char)*text))
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > INT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

static bool go_insn(struct tui *tui, const struct subject *subject, uint32_t insn)
{
	if (insn >= subject_insn_cnt(subject)) {
		tui_say(tui, UI_ERROR, "the last insn is %u", subject_insn_cnt(subject) - 1);
		return false;
	}
	tui_go(tui, (struct place){ .step = LOUPE_NO_STEP, .insn = (int32_t)insn });
	return true;
}

static bool go_step(struct tui *tui, const struct subject *subject, uint32_t step)
{
	if (!subject->trace || step >= loupe_trace_step_cnt(subject->trace)) {
		tui_say(tui, UI_ERROR, "there is no step %u", step);
		return false;
	}
	tui_go(tui,
	       (struct place){ .step = step, .insn = loupe_trace_step_insn(subject->trace, step) });
	return true;
}

static bool go_checkpoint(struct tui *tui, const struct subject *subject, uint32_t serial)
{
	struct loupe_checkpoint_info info;

	if (!subject->trace || loupe_trace_checkpoint(subject->trace, serial, &info)) {
		tui_say(tui, UI_ERROR, "there is no checkpoint #%u", serial);
		return false;
	}
	return go_step(tui, subject, info.born);
}

static bool go_line(struct tui *tui, const struct subject *subject, uint32_t number)
{
	struct loupe_source_line line;

	for (uint32_t i = 0; subject->source && i < subject_insn_cnt(subject); i++) {
		if (loupe_source_line_of(subject->source, i, &line) && line.line == number)
			return go_insn(tui, subject, i);
	}
	tui_say(tui, UI_ERROR, "no insn belongs to source line %u", number);
	return false;
}

static bool go_function(struct tui *tui, const struct subject *subject, const char *name)
{
	for (uint32_t i = 0; subject->source && i < subject_insn_cnt(subject); i++) {
		const char *func = loupe_source_func(subject->source, i);

		if (func && strcmp(func, name) == 0)
			return go_insn(tui, subject, i);
	}
	tui_say(tui, UI_ERROR,
		"no place '%s': 57 is an insn, s1204 a step, #17 a checkpoint, "
		":112 a source line",
		name);
	return false;
}

bool tui_goto(struct tui *tui, const char *where)
{
	static const struct {
		char mark;
		bool (*go)(struct tui *tui, const struct subject *subject, uint32_t number);
	} kinds[] = {
		{ 's', go_step },
		{ '#', go_checkpoint },
		{ ':', go_line },
	};
	struct subject *subject = tui_current_subject(tui);
	uint32_t number;

	if (!subject || subject->state != SUBJECT_READY) {
		tui_say(tui, UI_ERROR, "there is no program to go about in");
		return false;
	}
	where += strspn(where, " ");
	if (whole_number(where, &number))
		return go_insn(tui, subject, number);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (*where == kinds[i].mark && whole_number(where + 1, &number))
			return kinds[i].go(tui, subject, number);
	}
	return go_function(tui, subject, where);
}
