/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of ":" commands, for dispatch, completion, help and the man page. */
#ifndef BPFLOUPE_UI_TUI_COMMANDS_H
#define BPFLOUPE_UI_TUI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

/* What a command takes, which is how it is completed. */
enum command_arg {
	ARG_NONE,
	ARG_WORD,
	ARG_FILE,
	ARG_VIEW,
	ARG_PROGRAM,
	ARG_THEME,
	ARG_LEVEL,
};

struct command {
	const char *name;
	enum command_arg arg;
	bool (*run)(struct tui *tui, const char *arg); /* NULL: the view in sight knows it */
	const char *arg_name;
	const char *help;
};

/** Command number i, NULL beyond the last one. */
const struct command *command_get(size_t i);

#endif
