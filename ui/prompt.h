/* SPDX-License-Identifier: GPL-2.0-only */
/* A line that the user types, with what was typed before. */
#ifndef BPFLOUPE_UI_PROMPT_H
#define BPFLOUPE_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROMPT_TEXT = 256, PROMPT_HISTORY = 32 };

enum prompt_result {
	PROMPT_MORE,
	PROMPT_DONE, /* text is what was typed */
	PROMPT_CANCEL,
	PROMPT_COMPLETE, /* Tab: the owner sets another text */
};

struct prompt {
	bool open;
	char label[16];
	char text[PROMPT_TEXT];
	size_t cursor;				   /* byte */
	char typed[PROMPT_TEXT];		   /* what was there before completion began */
	int32_t completion;			   /* number of the completion shown, -1: none */
	char history[PROMPT_HISTORY][PROMPT_TEXT]; /* latest first */
	uint32_t history_cnt;
	int32_t history_at; /* -1: the line being typed */
};

/** Opens an empty line. */
void prompt_open(struct prompt *prompt, const char *label);

/** Takes a key. */
enum prompt_result prompt_key(struct prompt *prompt, int key);

/** Replaces the text, with the cursor at its end. */
void prompt_set(struct prompt *prompt, const char *text);

#endif
