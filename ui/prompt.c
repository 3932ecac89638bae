// SPDX-License-Identifier: GPL-2.0-only
/* Editing a line. */
#include "prompt.h"

#include "keys.h"

#include <stdio.h>
#include <string.h>

void prompt_open(struct prompt *prompt, const char *label)
{
	prompt->open = true;
	snprintf(prompt->label, sizeof(prompt->label), "%s", label);
	prompt->completion = -1;
	prompt->history_at = -1;
	prompt_set(prompt, "");
}

void prompt_set(struct prompt *prompt, const char *text)
{
	if (text != prompt->text)
		snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->cursor = strlen(prompt->text);
}

static bool is_inner(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static void insert(struct prompt *prompt, int key)
{
	char bytes[4];
	size_t cnt = 0, len = strlen(prompt->text);

	if (key < 0x80) {
		bytes[cnt++] = (char)key;
	} else if (key < 0x800) {
		bytes[cnt++] = (char)(0xc0 | key >> 6);
		bytes[cnt++] = (char)(0x80 | (key & 0x3f));
	} else if (key < 0x10000) {
		bytes[cnt++] = (char)(0xe0 | key >> 12);
		bytes[cnt++] = (char)(0x80 | (key >> 6 & 0x3f));
		bytes[cnt++] = (char)(0x80 | (key & 0x3f));
	} else {
		return;
	}
	if (len + cnt >= sizeof(prompt->text))
		return;
	memmove(prompt->text + prompt->cursor + cnt, prompt->text + prompt->cursor,
		len - prompt->cursor + 1);
	memcpy(prompt->text + prompt->cursor, bytes, cnt);
	prompt->cursor += cnt;
}

static size_t before(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	if (at)
		at--;
	while (at && is_inner(prompt->text[at]))
		at--;
	return at;
}

static size_t after(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	if (prompt->text[at])
		at++;
	while (is_inner(prompt->text[at]))
		at++;
	return at;
}

static void cut(struct prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, strlen(prompt->text + to) + 1);
	prompt->cursor = from;
}

static void remember(struct prompt *prompt)
{
	if (!*prompt->text ||
	    (prompt->history_cnt && strcmp(prompt->history[0], prompt->text) == 0))
		return;
	memmove(prompt->history[1], prompt->history[0],
		(PROMPT_HISTORY - 1) * sizeof(prompt->history[0]));
	memcpy(prompt->history[0], prompt->text, sizeof(prompt->text));
	if (prompt->history_cnt < PROMPT_HISTORY)
		prompt->history_cnt++;
}

static void recall(struct prompt *prompt, int32_t by)
{
	int32_t at = prompt->history_at + by;

	if (at < -1 || at >= (int32_t)prompt->history_cnt)
		return;
	prompt->history_at = at;
	prompt_set(prompt, at < 0 ? "" : prompt->history[at]);
}

enum prompt_result prompt_key(struct prompt *prompt, int key)
{
	if (key == K_TAB)
		return PROMPT_COMPLETE;
	prompt->completion = -1;
	switch (key) {
	case K_ENTER:
		remember(prompt);
		prompt->open = false;
		return PROMPT_DONE;
	case K_ESC:
	case 'c' & 0x1f:
		prompt->open = false;
		return PROMPT_CANCEL;
	case K_BACKSPACE:
		if (!*prompt->text) {
			prompt->open = false;
			return PROMPT_CANCEL;
		}
		cut(prompt, before(prompt), prompt->cursor);
		break;
	case K_DELETE:
		cut(prompt, prompt->cursor, after(prompt));
		break;
	case 'u' & 0x1f:
		cut(prompt, 0, prompt->cursor);
		break;
	case K_LEFT:
		prompt->cursor = before(prompt);
		break;
	case K_RIGHT:
		prompt->cursor = after(prompt);
		break;
	case K_HOME:
	case 'a' & 0x1f:
		prompt->cursor = 0;
		break;
	case K_END:
	case 'e' & 0x1f:
		prompt->cursor = strlen(prompt->text);
		break;
	case K_UP:
		recall(prompt, 1);
		break;
	case K_DOWN:
		recall(prompt, -1);
		break;
	default:
		if (key >= ' ' && key < K_UP)
			insert(prompt, key);
	}
	return PROMPT_MORE;
}
