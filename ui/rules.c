// SPDX-License-Identifier: GPL-2.0-only
#include "rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rules_row *insert_row(struct rules *rules, uint32_t at)
{
	if (rules->cnt == rules->cap) {
		uint32_t cap = rules->cap ? 2 * rules->cap : 64;
		struct rules_row *rows = realloc(rules->rows, cap * sizeof(*rows));

		if (!rows)
			return NULL;
		rules->rows = rows;
		rules->cap = cap;
	}
	memmove(&rules->rows[at + 1], &rules->rows[at], (rules->cnt - at) * sizeof(*rules->rows));
	rules->rows[at] = (struct rules_row){ 0 };
	rules->cnt++;
	return &rules->rows[at];
}

static bool is_load(const struct loupe_filter *filter, uint32_t insn)
{
	enum loupe_filter_word word =
		loupe_filter_read_of(filter->flavour, filter->insns[insn]).word;

	return word != LOUPE_WORD_NONE && word != LOUPE_WORD_IMM && word != LOUPE_WORD_MEM;
}

/* What there is for a row, before and after. */
static void measure(const struct rules *rules, uint32_t n)
{
	struct rules_row *row = &rules->rows[n];

	for (int which = 0; which < 2; which++) {
		const struct loupe_filter *filter = loupe_why_filter(rules->subject->why[which]);

		for (uint32_t i = 0; i < filter->cnt; i++) {
			if (!rules_serves(rules, n, which, i))
				continue;
			row->share[which].insns++;
			row->share[which].loads += is_load(filter, i);
		}
	}
}

static uint32_t indent_of(const struct rules_row *row)
{
	uint32_t indent = 0;

	while (indent < row->len && (row->text[indent] == ' ' || row->text[indent] == '\t'))
		indent++;
	return indent;
}

/* The call that a line of JSON names: "socket", with its quotes and perhaps a comma. */
static int32_t named_call(const struct loupe_policy *policy, const struct rules_row *row)
{
	uint32_t from = indent_of(row), end;
	char name[64];

	if (from >= row->len || row->text[from] != '"')
		return -1;
	for (end = ++from; end < row->len && row->text[end] != '"';)
		end++;
	if (end + 2 < row->len || end - from >= sizeof(name))
		return -1;
	snprintf(name, sizeof(name), "%.*s", (int)(end - from), row->text + from);
	return loupe_syscall_nr(policy->arch, name);
}

/* Lines of a JSON object that stands for rules are part of them. */
static void find_owner(const struct rules *rules, struct rules_row *row)
{
	const struct loupe_policy *policy = rules->subject->input->policy;

	uint32_t least = indent_of(row);

	row->nr = -1;
	if (policy->format == LOUPE_POLICY_MINIJAIL || !row->len)
		return;
	for (const struct rules_row *above = row; above-- > rules->rows;) {
		if (above->kind != RULES_LINE || above->file != row->file)
			return;
		if (above->rule_cnt) {
			/* nothing in between has closed it */
			if (least > indent_of(above)) {
				row->owner = above->line;
				row->nr = named_call(policy, row);
			}
			return;
		}
		if (above->len && indent_of(above) < least)
			least = indent_of(above);
	}
}

static void measure_line(struct rules *rules, uint32_t n)
{
	const struct loupe_policy *policy = rules->subject->input->policy;
	struct rules_row *row = &rules->rows[n];

	for (uint32_t r = 0; r < policy->rule_cnt; r++)
		row->rule_cnt +=
			policy->rules[r].file == row->file && policy->rules[r].line == row->line;
	if (!row->rule_cnt)
		find_owner(rules, row);
	/* what belongs to all rules of the line above is counted there */
	if (row->rule_cnt || row->nr >= 0)
		measure(rules, n);
}

static int add_lines(struct rules *rules, uint32_t file, const char *text)
{
	for (uint32_t line = 1; *text; line++) {
		struct rules_row *row = insert_row(rules, rules->cnt);
		size_t len = strcspn(text, "\n");

		if (!row)
			return -ENOMEM;
		row->kind = RULES_LINE;
		row->file = file;
		row->line = line;
		row->text = text;
		row->len = len;
		measure_line(rules, rules->cnt - 1);
		text += len + (text[len] == '\n');
	}
	return 0;
}

/* The included files follow the policy's own. */
static int add_file(struct rules *rules, uint32_t file)
{
	const char *path = rules->subject->input->policy->files[file];
	struct rules_row *row = insert_row(rules, rules->cnt);
	struct loupe_error err;
	size_t len;

	if (!row)
		return -ENOMEM;
	row->kind = RULES_FILE;
	row->file = file;
	row->text = path;
	row->len = strlen(path);
	/* What cannot be read a second time has no lines to show. */
	if (input_read(path, &rules->texts[file], &len, &err))
		return 0;
	rules->texts[file] = realloc(rules->texts[file], len + 1);
	if (!rules->texts[file])
		return -ENOMEM;
	rules->texts[file][len] = '\0';
	return add_lines(rules, file, rules->texts[file]);
}

static int add_calls(struct rules *rules)
{
	uint32_t cnt, other;

	loupe_why_callers(rules->subject->why[0], &cnt);
	loupe_why_callers(rules->subject->why[1], &other);
	for (uint32_t c = 0; c < cnt && c < other; c++) {
		struct rules_row *row = insert_row(rules, rules->cnt);

		if (!row)
			return -ENOMEM;
		row->kind = RULES_CALL;
		row->n = c;
		measure(rules, rules->cnt - 1);
	}
	return 0;
}

int rules_init(struct rules *rules, const struct subject *subject)
{
	const struct input *input = subject->input;
	int err;

	*rules = (struct rules){ .subject = subject };
	if (!input->policy || !input->text)
		return add_calls(rules);
	rules->texts = calloc(input->policy->file_cnt, sizeof(*rules->texts));
	if (!rules->texts)
		return -ENOMEM;
	err = add_lines(rules, 0, input->text);
	for (uint32_t file = 1; file < input->policy->file_cnt && !err; file++)
		err = add_file(rules, file);
	return err;
}

void rules_finish(struct rules *rules)
{
	const struct loupe_policy *policy = rules->subject ? rules->subject->input->policy : NULL;

	for (uint32_t i = 1; rules->texts && i < policy->file_cnt; i++)
		free(rules->texts[i]);
	free(rules->texts);
	free(rules->rows);
	*rules = (struct rules){ 0 };
}

int rules_toggle(struct rules *rules, uint32_t n)
{
	const struct loupe_policy *policy = rules->subject->input->policy;
	struct rules_row line = rules->rows[n];
	uint32_t at = n + 1;

	rules->rows[n].open = !line.open;
	if (line.open) {
		memmove(&rules->rows[at], &rules->rows[at + line.rule_cnt],
			(rules->cnt - at - line.rule_cnt) * sizeof(*rules->rows));
		rules->cnt -= line.rule_cnt;
		return 0;
	}
	for (uint32_t r = 0; r < policy->rule_cnt; r++) {
		struct rules_row *row;

		if (policy->rules[r].file != line.file || policy->rules[r].line != line.line)
			continue;
		row = insert_row(rules, at);
		if (!row) {
			/* as many as there are */
			rules->rows[n].rule_cnt = at - n - 1;
			return -ENOMEM;
		}
		row->kind = RULES_RULE;
		row->file = line.file;
		row->line = line.line;
		row->n = r;
		for (int which = 0; which < 2; which++)
			row->share[which] = loupe_why_rule_share(rules->subject->why[which], r);
		at++;
	}
	return 0;
}

static bool line_serves(const struct rules *rules, const struct rules_row *row,
			const struct loupe_why *why, uint32_t insn)
{
	const struct loupe_policy *policy = rules->subject->input->policy;
	uint32_t line = row->rule_cnt ? row->line : row->owner;

	for (uint32_t r = 0; line && r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];

		if (rule->line == line && rule->file == row->file &&
		    (row->rule_cnt || row->nr < 0 || rule->nr == (uint32_t)row->nr) &&
		    loupe_why_serves(why, insn, r))
			return true;
	}
	return false;
}

bool rules_serves(const struct rules *rules, uint32_t n, int which, uint32_t insn)
{
	const struct loupe_why *why = rules->subject->why[which];
	const struct rules_row *row = &rules->rows[n];

	switch (row->kind) {
	case RULES_LINE:
		return line_serves(rules, row, why, insn);
	case RULES_RULE:
		return loupe_why_serves(why, insn, row->n);
	case RULES_CALL:
		return loupe_why_reaches(why, row->n, insn);
	default:
		return false;
	}
}

int64_t rules_first_served(const struct rules *rules, int which, uint32_t insn)
{
	for (uint32_t n = 0; n < rules->cnt; n++) {
		if (rules_serves(rules, n, which, insn))
			return n;
	}
	return -1;
}

void rules_text(const struct rules *rules, uint32_t n, char *buf, size_t size)
{
	const struct rules_row *row = &rules->rows[n];
	const struct loupe_callers *callers;
	char text[400], call[64];
	uint32_t cnt;

	switch (row->kind) {
	case RULES_FILE:
	case RULES_LINE:
		snprintf(buf, size, "%.*s", (int)(row->len < size ? row->len : size), row->text);
		for (char *tab = buf; (tab = strchr(tab, '\t')) != NULL;)
			*tab = ' ';
		break;
	case RULES_RULE: {
		const struct loupe_policy_rule *rule =
			&rules->subject->input->policy->rules[row->n];

		loupe_callers_text((struct loupe_callers){ LOUPE_CALLERS_CALL,
							   rules->subject->input->policy->arch,
							   rule->nr },
				   call, sizeof(call));
		loupe_policy_rule_text(rule, text, sizeof(text));
		snprintf(buf, size, "%s: %s", call, text);
		break;
	}
	case RULES_CALL:
		callers = loupe_why_callers(rules->subject->why[1], &cnt);
		loupe_callers_text(callers[row->n], buf, size);
		break;
	}
}
