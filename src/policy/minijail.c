// SPDX-License-Identifier: GPL-2.0-only
/*
 * Minijail's policy text, as minijail0(5) and its policy compiler document it:
 *
 *	@include PATH   @frequency PATH   @default ACTION   @denylist
 *	NAME: FILTER            { NAME, NAME[arch=x86_64] }: FILTER
 *
 * FILTER is an action, or conditions with an action behind ';' ("allow" without one), or several of
 * these in braces; the first that holds decides, and a call for which none does gets the default.
 * Statements of one call add up. Beyond that dialect: "(argN & MASK) == VALUE" (and !=), and any
 * action as the default, "return" too.
 */
#include "policy/action.h"
#include "policy/minijail_text.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 10, MAX_NAMES = 256, MAX_CONDS = 64 };

static const struct policy_action actions[] = {
	{ "allow", SECCOMP_RET_ALLOW, false },
	{ "kill", SECCOMP_RET_KILL_PROCESS, false },
	{ "kill-process", SECCOMP_RET_KILL_PROCESS, false },
	{ "kill-thread", SECCOMP_RET_KILL_THREAD, false },
	{ "log", SECCOMP_RET_LOG, false },
	{ "return", SECCOMP_RET_ERRNO, true },
	{ "trace", SECCOMP_RET_TRACE, false },
	{ "trap", SECCOMP_RET_TRAP, false },
	{ "user-notify", SECCOMP_RET_USER_NOTIF, false },
	{ NULL, 0, false },
};

static const struct {
	const char *name;
	enum loupe_policy_op op;
} ops[] = {
	{ "==", LOUPE_POLICY_EQ }, { "!=", LOUPE_POLICY_NE }, { "<=", LOUPE_POLICY_LE },
	{ ">=", LOUPE_POLICY_GE }, { "<", LOUPE_POLICY_LT },  { ">", LOUPE_POLICY_GT },
};

struct names {
	uint32_t nrs[MAX_NAMES];
	uint32_t cnt;
};

static int parse_action(struct minijail_text *t, uint32_t *out)
{
	const struct policy_action *row;
	char word[MINIJAIL_WORD];
	uint64_t data = 0;
	const char *start;
	int ret;

	minijail_skip(t);
	start = t->at;
	if (*t->at == '1') {
		ret = minijail_single(t, &data);
		*out = SECCOMP_RET_ALLOW;
		return ret || data == 1 ? ret : minijail_error(t, start, "expected an action");
	}
	ret = minijail_word(t, word);
	if (ret)
		return ret;
	row = policy_action_find(actions, word);
	if (!row)
		return minijail_error(t, start, "expected arg0 ... arg5 or an action: 1, allow, "
						"return N, kill, trap, trace, log, user-notify");
	if (row->takes_data) {
		minijail_skip(t);
		start = t->at;
		ret = minijail_single(t, &data);
		if (!ret && data > SECCOMP_RET_DATA)
			ret = minijail_error(t, start, "an errno value is at most %u",
					     SECCOMP_RET_DATA);
	}
	*out = row->value | (uint32_t)data;
	return ret;
}

/* ---- conditions --------------------------------------------------------------------------- */

/* Whether "argN" comes next; an argument that no call has is an error of parse_arg(). */
static bool at_arg(struct minijail_text *t)
{
	minijail_skip(t);
	return !strncmp(t->at, "arg", 3) && t->at[3] >= '0' && t->at[3] <= '9';
}

static int parse_arg(struct minijail_text *t, uint8_t *arg)
{
	char word[MINIJAIL_WORD];
	const char *start;
	int ret;

	minijail_skip(t);
	start = t->at;
	ret = minijail_word(t, word);
	if (ret)
		return ret;
	if (strncmp(word, "arg", 3) || word[3] < '0' || word[3] > '5' || word[4])
		return minijail_error(t, start, "expected arg0 ... arg5");
	*arg = (uint8_t)(word[3] - '0');
	return 0;
}

static int parse_op(struct minijail_text *t, enum loupe_policy_op *op)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (minijail_take(t, ops[i].name)) {
			*op = ops[i].op;
			return 0;
		}
	}
	minijail_skip(t);
	return minijail_error(t, t->at, "expected an operator: == != < <= > >= & in");
}

/* "(argN & MASK) == VALUE", behind the parenthesis. */
static int parse_masked(struct minijail_text *t, struct loupe_policy_cond *cond)
{
	enum loupe_policy_op op;
	const char *start;
	int ret = parse_arg(t, &cond->arg);

	if (!ret)
		ret = minijail_need(t, "&");
	if (!ret)
		ret = minijail_value(t, &cond->mask);
	if (!ret)
		ret = minijail_need(t, ")");
	minijail_skip(t);
	start = t->at;
	if (!ret)
		ret = parse_op(t, &op);
	if (!ret && op != LOUPE_POLICY_EQ && op != LOUPE_POLICY_NE)
		ret = minijail_error(t, start, "a masked argument takes == or !=");
	if (ret)
		return ret;
	cond->op = (uint8_t)op;
	return minijail_value(t, &cond->value);
}

static int parse_cond(struct minijail_text *t, struct loupe_policy_cond *cond)
{
	enum loupe_policy_op op;
	int ret;

	*cond = (struct loupe_policy_cond){ .mask = UINT64_MAX };
	if (minijail_take(t, "("))
		return parse_masked(t, cond);
	ret = parse_arg(t, &cond->arg);
	if (ret)
		return ret;
	if (minijail_take_word(t, "in")) { /* no bit outside */
		cond->op = LOUPE_POLICY_EQ;
		ret = minijail_value(t, &cond->mask);
		cond->mask = ~cond->mask;
		return ret;
	}
	if (minijail_take(t, "&")) { /* some bit of these */
		cond->op = LOUPE_POLICY_NE;
		return minijail_value(t, &cond->mask);
	}
	ret = parse_op(t, &op);
	if (ret)
		return ret;
	cond->op = (uint8_t)op;
	return minijail_value(t, &cond->value);
}

/* Conditions joined by "&&": one rule for each name. */
static int parse_clause(struct minijail_text *t, struct loupe_policy_cond *conds, uint32_t *cnt)
{
	*cnt = 0;
	do {
		int ret;

		if (*cnt == MAX_CONDS)
			return minijail_error(t, t->at, "more than %d conditions", MAX_CONDS);
		ret = parse_cond(t, &conds[(*cnt)++]);
		if (ret)
			return ret;
	} while (minijail_take(t, "&&"));
	return 0;
}

static int add_rules(struct minijail_text *t, const struct names *names, uint32_t action,
		     const struct loupe_policy_cond *conds, uint32_t cnt, uint32_t line)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < names->cnt; i++)
		ret = policy_add_rule(t->b, names->nrs[i], action, conds, cnt, t->file, line);
	return ret;
}

/* An action, or "clause || clause ; action". */
static int parse_single_filter(struct minijail_text *t, const struct names *names)
{
	struct loupe_policy *policy = t->b->policy;
	struct loupe_policy_cond conds[MAX_CONDS];
	uint32_t first = policy->rule_cnt, action = SECCOMP_RET_ALLOW, cnt, line;
	int ret;

	minijail_skip(t);
	line = t->line;
	if (!at_arg(t) && *t->at != '(') {
		ret = parse_action(t, &action);
		return ret ? ret : add_rules(t, names, action, NULL, 0, line);
	}
	do {
		ret = parse_clause(t, conds, &cnt);
		if (!ret)
			ret = add_rules(t, names, action, conds, cnt, line);
	} while (!ret && minijail_take(t, "||"));
	if (!ret && minijail_take(t, ";"))
		ret = parse_action(t, &action);
	for (uint32_t i = first; !ret && i < policy->rule_cnt; i++)
		policy->rules[i].action = action;
	return ret;
}

static int parse_filter(struct minijail_text *t, const struct names *names)
{
	int ret;

	if (!minijail_take(t, "{"))
		return parse_single_filter(t, names);
	do {
		ret = parse_single_filter(t, names);
	} while (!ret && minijail_take(t, ","));
	return ret ? ret : minijail_need(t, "}");
}

/* ---- names -------------------------------------------------------------------------------- */

static bool is_arch(const struct minijail_text *t, const char *word)
{
	if (t->b->opts->arch == AUDIT_ARCH_AARCH64)
		return !strcmp(word, "arm64") || !strcmp(word, "aarch64");
	return !strcmp(word, "x86_64");
}

/* "[arch=x86_64,arm64]", behind the bracket. */
static int parse_metadata(struct minijail_text *t, bool *ours)
{
	char key[MINIJAIL_WORD], word[MINIJAIL_WORD];
	bool known = false;
	int ret;

	do {
		const char *start;
		bool match = false;

		minijail_skip(t);
		start = t->at;
		ret = minijail_word(t, key);
		if (!ret && strcmp(key, "arch"))
			ret = minijail_error(t, start, "metadata is [arch=NAME]");
		if (!ret && known)
			ret = minijail_error(t, start, "arch stands twice");
		if (!ret)
			ret = minijail_need(t, "=");
		do {
			if (!ret)
				ret = minijail_word(t, word);
			if (!ret && !*word)
				ret = minijail_error(t, t->at, "expected an architecture");
			match |= !ret && is_arch(t, word);
		} while (!ret && minijail_take(t, ","));
		known = true;
		*ours = match;
	} while (!ret && minijail_take(t, ";"));
	return ret ? ret : minijail_need(t, "]");
}

static int parse_name(struct minijail_text *t, struct names *names)
{
	char word[MINIJAIL_WORD];
	struct minijail_text start;
	uint64_t number = 0;
	bool ours = true;
	int64_t nr;
	int ret;

	minijail_skip(t);
	start = *t;
	if (*t->at >= '0' && *t->at <= '9') {
		ret = minijail_single(t, &number);
		if (!ret && number > UINT32_MAX)
			ret = minijail_error(&start, start.at, "no system call has this number");
		nr = (int64_t)number;
	} else {
		ret = minijail_word(t, word);
		if (!ret && !*word)
			ret = minijail_error(&start, start.at,
					     "expected the name of a system call");
		nr = ret ? -1 : loupe_syscall_nr(t->b->opts->arch, word);
	}
	if (!ret && minijail_take(t, "["))
		ret = parse_metadata(t, &ours);
	if (ret || !ours)
		return ret;
	if (nr < 0)
		return minijail_error(&start, start.at, "'%s' is no system call of %s", word,
				      policy_arch_name(t->b->opts->arch));
	if (names->cnt == MAX_NAMES)
		return minijail_error(&start, start.at, "more than %d names", MAX_NAMES);
	names->nrs[names->cnt++] = (uint32_t)nr;
	return 0;
}

static int parse_names(struct minijail_text *t, struct names *names)
{
	int ret;

	names->cnt = 0;
	if (!minijail_take(t, "{"))
		return parse_name(t, names);
	do {
		ret = parse_name(t, names);
	} while (!ret && minijail_take(t, ","));
	return ret ? ret : minijail_need(t, "}");
}

/* A rule that no call reaches is a mistake: the one before it decides everything. */
static int check_reached(struct minijail_text *t, uint32_t first, const char *at)
{
	const struct loupe_policy *policy = t->b->policy;
	int ret = 0;

	for (uint32_t i = first; i < policy->rule_cnt; i++) {
		for (uint32_t o = 0; !ret && o < i; o++) {
			const struct loupe_policy_rule *old = &policy->rules[o];
			const char *name;

			if (old->nr != policy->rules[i].nr || old->cond_cnt)
				continue;
			name = loupe_syscall_name(policy->arch, old->nr);
			ret = minijail_error(t, at, "%s: line %u of %s decides every call already",
					     name ? name : "this call", old->line,
					     policy->files[old->file]);
		}
	}
	return ret;
}

static int parse_statement(struct minijail_text *t)
{
	uint32_t first = t->b->policy->rule_cnt;
	struct names names;
	int ret = parse_names(t, &names);

	if (!ret)
		ret = minijail_need(t, ":");
	if (!ret && minijail_end(t))
		ret = minijail_error(t, t->at, "the line ends before its filter");
	if (!ret)
		ret = parse_filter(t, &names);
	if (!ret)
		ret = check_reached(t, first, t->line_start);
	return ret;
}

/* ---- files -------------------------------------------------------------------------------- */

static int parse_file(struct policy_builder *b, uint32_t file, const char *text,
		      unsigned int depth, bool frequency);

/* A path behind @include or @frequency, relative to the file's own directory. */
static int parse_path(struct minijail_text *t, char **out)
{
	const char *slash = strrchr(t->path, '/');
	size_t len = 0, dir;

	minijail_skip(t);
	while (t->at[len] && !strchr(" \t\r\n", t->at[len]))
		len++;
	if (!len)
		return minijail_error(t, t->at, "the line ends before its path");
	dir = slash && *t->at != '/' ? (size_t)(slash - t->path) + 1 : 0;
	*out = malloc(dir + len + 1);
	if (!*out)
		return policy_no_memory(t->b);
	memcpy(*out, t->path, dir);
	memcpy(*out + dir, t->at, len);
	(*out)[dir + len] = 0;
	return 0;
}

static int parse_other(struct minijail_text *t, unsigned int depth, bool frequency)
{
	struct stat st;
	char *path = NULL, *text = NULL;
	size_t len;
	int file, ret;

	if (depth + 1 == MAX_DEPTH)
		return minijail_error(t, t->at, "@include nested more than %d deep", MAX_DEPTH);
	ret = parse_path(t, &path);
	if (ret)
		return ret;
	ret = stat(path, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!ret)
		ret = policy_read_file(path, &text, &len);
	if (ret) {
		ret = minijail_error(t, t->at, "cannot read %s: %s", path, strerror(-ret));
	} else if (memchr(text, 0, len)) {
		ret = minijail_error(t, t->at, "%s has a zero byte, it is no text", path);
	} else {
		file = policy_add_file(t->b, path);
		ret = file < 0 ? file
			       : parse_file(t->b, (uint32_t)file, text, depth + 1, frequency);
	}
	while (*t->at && !strchr(" \t\r\n", *t->at))
		t->at++;
	free(path);
	free(text);
	return ret;
}

static int parse_at(struct minijail_text *t, unsigned int depth)
{
	const char *start = t->at++;
	char word[MINIJAIL_WORD];
	int ret = minijail_word(t, word);

	if (ret)
		return ret;
	if (!strcmp(word, "include"))
		return parse_other(t, depth, false);
	if (!strcmp(word, "frequency"))
		return parse_other(t, depth, true);
	if (!strcmp(word, "default"))
		return parse_action(t, &t->b->policy->default_action);
	if (!strcmp(word, "denylist")) {
		t->b->policy->default_action = SECCOMP_RET_ALLOW;
		return 0;
	}
	return minijail_error(t, start, "expected @include, @frequency, @default or @denylist");
}

/* "NAME: COUNT" of a frequency file. */
static int parse_count(struct minijail_text *t)
{
	struct names names;
	uint64_t count = 0;
	int ret = parse_names(t, &names);

	if (!ret)
		ret = minijail_need(t, ":");
	if (!ret)
		ret = minijail_single(t, &count);
	for (uint32_t i = 0; !ret && i < names.cnt; i++)
		ret = policy_add_frequency(t->b, names.nrs[i], (double)count);
	return ret;
}

static int parse_file(struct policy_builder *b, uint32_t file, const char *text,
		      unsigned int depth, bool frequency)
{
	struct minijail_text t = {
		.b = b,
		.path = b->policy->files[file],
		.file = file,
		.at = text,
		.line_start = text,
		.line = 1,
	};
	int ret = 0;

	while (!ret && minijail_next(&t)) {
		if (frequency)
			ret = parse_count(&t);
		else
			ret = *t.at == '@' ? parse_at(&t, depth) : parse_statement(&t);
		if (!ret && !minijail_end(&t))
			ret = minijail_error(&t, t.at, "unexpected text behind the statement");
	}
	return ret;
}

int policy_read_minijail(struct policy_builder *b, const char *text)
{
	int ret;

	b->policy->default_action = SECCOMP_RET_KILL_PROCESS;
	b->policy->other_arch = SECCOMP_RET_KILL_PROCESS;
	ret = parse_file(b, 0, text, 0, false);
	b->policy->x32_apart = b->opts->arch == AUDIT_ARCH_X86_64 &&
			       policy_action_permits(b->policy->default_action);
	return ret;
}
