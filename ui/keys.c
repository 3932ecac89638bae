// SPDX-License-Identifier: GPL-2.0-only
/* The tables, and keys as text. */
#include "keys.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *help;
} requests[REQ_CNT] = {
	[REQ_NONE] = { NULL, "" },
#define REQUEST(id, name, help) [REQ_##id] = { name, help },
#include "keys.def"
#define VIEW(id, symbol, key) [REQ_VIEW_##id] = { "view-" #symbol, "the view '" #symbol "'" },
#include "views.def"
};

static const struct key_binding bindings[] = {
#define VIEW(id, symbol, key) { VIEW_ANY, key, REQ_VIEW_##id },
#include "views.def"
#define KEY(view, key, request) { VIEW_##view, key, REQ_##request },
#include "keys.def"
};

static const struct {
	const char *name;
	int key;
} names[] = {
	{ "Up", K_UP },		{ "Down", K_DOWN },  { "Left", K_LEFT },
	{ "Right", K_RIGHT },	{ "Home", K_HOME },  { "End", K_END },
	{ "PgUp", K_PGUP },	{ "PgDn", K_PGDN },  { "Backspace", K_BACKSPACE },
	{ "Delete", K_DELETE }, { "S-Tab", K_BTAB }, { "Tab", K_TAB },
	{ "Enter", K_ENTER },	{ "Esc", K_ESC },    { "Space", ' ' },
	{ "lt", '<' },		{ "F1", K_F1 },
};

const struct key_binding *key_binding(size_t i)
{
	return i < sizeof(bindings) / sizeof(bindings[0]) ? &bindings[i] : NULL;
}

enum request key_request(enum view_id view, int key)
{
	enum request any = REQ_NONE;

	for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++) {
		const char *text = bindings[i].key;

		if (key_parse(&text) != key)
			continue;
		if (bindings[i].view == view)
			return bindings[i].request;
		if (bindings[i].view == VIEW_ANY)
			any = bindings[i].request;
	}
	return any;
}

const char *request_name(enum request request)
{
	return requests[request].name;
}

const char *request_help(enum request request)
{
	return requests[request].help;
}

enum request request_by_name(const char *name)
{
	for (int i = REQ_NONE + 1; i < REQ_CNT; i++) {
		if (strcmp(requests[i].name, name) == 0)
			return (enum request)i;
	}
	return REQ_NONE;
}

/* One UTF-8 character. */
static int next_char(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	int c = *p++;
	int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

	if (more)
		c &= 0x3f >> more;
	for (; more && (*p & 0xc0) == 0x80; more--)
		c = c << 6 | (*p++ & 0x3f);
	*text = (const char *)p;
	return c;
}

int key_parse(const char **text)
{
	const char *start = *text, *end;
	size_t len;

	if (!*start)
		return K_NONE;
	end = *start == '<' ? strchr(start, '>') : NULL;
	if (!end || end == start + 1)
		return next_char(text);
	len = (size_t)(end - start) - 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == len &&
		    strncasecmp(names[i].name, start + 1, len) == 0) {
			*text = end + 1;
			return names[i].key;
		}
	}
	if (len == 3 && (start[1] == 'C' || start[1] == 'c') && start[2] == '-') {
		*text = end + 1;
		return start[3] & 0x1f;
	}
	return K_NONE;
}

const char *key_display(const char *key, char *buf, size_t size)
{
	size_t len = strlen(key);

	if (strcmp(key, "<lt>") == 0)
		snprintf(buf, size, "<");
	else if (strncmp(key, "<C-", 3) == 0)
		snprintf(buf, size, "^%c", key[3] - 'a' + 'A');
	else if (len > 2 && key[0] == '<')
		snprintf(buf, size, "%.*s", (int)len - 2, key + 1);
	else
		snprintf(buf, size, "%s", key);
	return buf;
}

static void append_keys(enum view_id view, enum request request, char *buf, size_t size)
{
	for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++) {
		size_t len = strlen(buf);
		char name[24];

		if (bindings[i].view != view || bindings[i].request != request)
			continue;
		snprintf(buf + len, size - len, "%s%s", len ? " " : "",
			 key_display(bindings[i].key, name, sizeof(name)));
	}
}

void key_list(enum view_id view, enum request request, char *buf, size_t size)
{
	buf[0] = '\0';
	if (view != VIEW_ANY)
		append_keys(view, request, buf, size);
	append_keys(VIEW_ANY, request, buf, size);
}
