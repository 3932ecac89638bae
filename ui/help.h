/* SPDX-License-Identifier: GPL-2.0-only */
/* What can be typed, made from the tables: for the help screen and the man page. */
#ifndef BPFLOUPE_UI_HELP_H
#define BPFLOUPE_UI_HELP_H

#include "keys.h"

enum help_kind {
	HELP_HEADING, /* left only */
	HELP_KEY,     /* left: keys; right: what they do */
	HELP_COMMAND, /* left: command with its argument; right: what it does */
	HELP_TERM,    /* left: a word of ours; right: what it means */
	HELP_BLANK,
};

/** Receives one line. */
typedef void help_emit(void *data, enum help_kind kind, const char *left, const char *right);

/** The keys of a view (VIEW_ANY: those that work everywhere) without a heading. */
void help_keys(enum view_id view, help_emit *emit, void *data);

/** The commands. */
void help_commands(help_emit *emit, void *data);

/** Everything for a view: its keys, general keys, commands, its signs and terms. */
void help_view(enum view_id view, help_emit *emit, void *data);

#endif
