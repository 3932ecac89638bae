/* SPDX-License-Identifier: GPL-2.0-only */
/* A filter's policy as rows: its lines, the rules of a line; without a policy: who calls. */
#ifndef BPFLOUPE_UI_RULES_H
#define BPFLOUPE_UI_RULES_H

#include "subject.h"

enum rules_kind {
	RULES_FILE, /* an included file begins */
	RULES_LINE, /* a line of the policy */
	RULES_RULE, /* a rule of the line above, when that is unfolded */
	RULES_CALL, /* a class of calls */
};

struct rules_row {
	enum rules_kind kind;
	uint32_t file, line; /* index in the policy's files, 1-based */
	uint32_t n;	     /* RULES_RULE: index of the rule; RULES_CALL: of the class */
	uint32_t rule_cnt;   /* RULES_LINE: rules that it was written as */
	uint32_t owner;	     /* RULES_LINE without rules: line that it is part of, 0: of none */
	int32_t nr;	     /* that line names this call of the rules only, -1: none */
	bool open;	     /* RULES_LINE: its rules follow */
	const char *text;    /* RULES_LINE, RULES_FILE: not terminated, len bytes */
	size_t len;
	struct loupe_why_share share[2]; /* before, after; not of RULES_FILE */
};

struct rules {
	const struct subject *subject;
	struct rules_row *rows;
	uint32_t cnt, cap;
	char **texts; /* of files, by index; the first one is the input's */
};

/** Makes the rows. @return 0, -ENOMEM; free with rules_finish(), on failure too */
int rules_init(struct rules *rules, const struct subject *subject);
void rules_finish(struct rules *rules);

/** Shows or hides the rules of a line. @return 0, -ENOMEM */
int rules_toggle(struct rules *rules, uint32_t row);

/** Whether an instruction of the filter before (0) or the result (1) is there for a row. */
bool rules_serves(const struct rules *rules, uint32_t row, int which, uint32_t insn);

/** The first row that an instruction serves, -1: none. */
int64_t rules_first_served(const struct rules *rules, int which, uint32_t insn);

/** A row as text. */
void rules_text(const struct rules *rules, uint32_t row, char *buf, size_t size);

#endif
