/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views, requests and keys: the tables in views.def and keys.def, from which dispatch, the help
 * screen, the man page and completion come.
 */
#ifndef BPFLOUPE_UI_KEYS_H
#define BPFLOUPE_UI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Keys: characters are themselves (Unicode), these stand above them. */
enum {
	K_NONE = -1,
	K_TAB = '\t',
	K_ENTER = '\n',
	K_ESC = 27,
	K_UP = 0x110000,
	K_DOWN,
	K_LEFT,
	K_RIGHT,
	K_HOME,
	K_END,
	K_PGUP,
	K_PGDN,
	K_BACKSPACE,
	K_DELETE,
	K_BTAB,
	K_F1,
	K_F12 = K_F1 + 11,
	K_RESIZE, /* the terminal has another size */
};

enum view_id {
#define VIEW(id, symbol, key) VIEW_##id,
#include "views.def"
	VIEW_CNT,
	VIEW_ANY = VIEW_CNT, /* keys that work in every view */
	VIEW_LESSON,	     /* keys that work everywhere while a lesson is open; they win */
};

enum request {
	REQ_NONE,
#define REQUEST(id, name, help) REQ_##id,
#include "keys.def"
#define VIEW(id, symbol, key) REQ_VIEW_##id,
#include "views.def"
	REQ_CNT
};

struct key_binding {
	enum view_id view; /* VIEW_ANY: all */
	const char *key;   /* as key_parse() reads it */
	enum request request;
};

/** Binding number i, NULL beyond the last one. */
const struct key_binding *key_binding(size_t i);

/** What a key asks for in a view; REQ_NONE if it has no meaning there. */
enum request key_request(enum view_id view, int key);

/** A request's name as a command, "next-hit"; NULL for REQ_NONE. */
const char *request_name(enum request request);

/** What a request does, one line. */
const char *request_help(enum request request);

/** The request of that name, REQ_NONE if there is none. */
enum request request_by_name(const char *name);

/**
 * Takes one key off text: "j", "<Down>", "<C-l>", "<lt>".
 * @return the key, or K_NONE at the end and for an unknown name
 */
int key_parse(const char **text);

/** Keys of a request in a view (its own first, then general ones), "s", "] or <Down>". */
void key_list(enum view_id view, enum request request, char *buf, size_t size);

/** A key as a person reads it: "Down" for "<Down>". Writes it to buf, returns buf. */
const char *key_display(const char *key, char *buf, size_t size);

#endif
