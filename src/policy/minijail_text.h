/* SPDX-License-Identifier: GPL-2.0-only */
/* Characters, words and constants of minijail's policy text. */
#ifndef LOUPE_POLICY_MINIJAIL_TEXT_H
#define LOUPE_POLICY_MINIJAIL_TEXT_H

#include "policy/policy.h"

#define MINIJAIL_WORD 64 /* longest word and its NUL */

/* One file while it is read. A statement ends where its line does, unless '\' ends the line. */
struct minijail_text {
	struct policy_builder *b;
	const char *path;
	uint32_t file; /* index in the policy's files */
	const char *at;
	const char *line_start;
	uint32_t line;
};

/** An error at the place `at` of the current line. -EINVAL */
int minijail_error(const struct minijail_text *t, const char *at, const char *fmt, ...)
	LOUPE_PRINTF(3, 4);

/** Moves over spaces, line continuations and a comment; stops at the line's end. */
void minijail_skip(struct minijail_text *t);

/** Moves to the next line that has a statement. @return false at the end of the text */
bool minijail_next(struct minijail_text *t);

/** Whether the statement is over. */
bool minijail_end(struct minijail_text *t);

/** Moves over an operator or mark if it comes next. */
bool minijail_take(struct minijail_text *t, const char *mark);

/** Needs a mark. */
int minijail_need(struct minijail_text *t, const char *mark);

/** Copies the word that comes next (letters, digits, '_', '-', '@'); "" if none does. */
int minijail_word(struct minijail_text *t, char word[MINIJAIL_WORD]);

/** Whether this word, and no longer one, comes next; moves over it then. */
bool minijail_take_word(struct minijail_text *t, const char *word);

/** One number or named constant. */
int minijail_single(struct minijail_text *t, uint64_t *value);

/** Constants joined by '|', each with '~' or parentheses at will. */
int minijail_value(struct minijail_text *t, uint64_t *value);

#endif
