/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal explorer: what the command line starts. */
#ifndef BPFLOUPE_UI_TUI_H
#define BPFLOUPE_UI_TUI_H

#include "input.h"
#include "bpfloupe/load.h"
#include "bpfloupe/verify.h"

#include <stdio.h>

/* How to explore. Zero-initialised (verify through loupe_verify_opts_init()), then filled in. */
struct tui_options {
	const char *const *files; /* paths of objects, assembler text or filters */
	uint32_t file_cnt;	  /* 1 or more */
	const char *prog_name; /* program to open at once, NULL: list them if there are several */
	const struct loupe_load_opts *load; /* NULL: defaults */
	const struct input_filters *filters; /* NULL: defaults */
	struct loupe_filter_opts passes;     /* how filters are optimized */
	struct loupe_verify_opts verify;    /* knobs; its listeners, progress and cancel are ours */
	const char *log;    /* a kernel's log to compare the programs with, NULL: none */
	bool compare;	    /* two programs side by side: see compare_open() */
	const char *view;   /* name of the view to open, NULL: what suits the verdict */
	const char *theme;  /* "dark", "light" or "none"; NULL: none with NO_COLOR, else dark, or
			       what  COLORFGBG tells of a light background */
	const struct lesson *lesson; /* whose program files[0] is, NULL: none */
	const char *script; /* commands and keys to obey without a terminal, "-": standard input;
			       NULL: use the terminal */
	uint32_t width, height; /* cells of a script's screen, 0: 80 and 24 */
	bool ascii; /* no characters beyond ASCII (also where the locale is not UTF-8) */
};

/**
 * Opens the files and explores them until the user quits or the script ends. Errors go to stderr as
 * one line, when the terminal is as it was.
 * @return exit status: 0; 1 when a script's :expect failed; 2 when nothing could be opened or the
 *         script has an error
 */
int tui_run(const struct tui_options *opts);

enum tui_keys_format {
	TUI_KEYS_TEXT, /* aligned columns, one section a view */
	TUI_KEYS_MAN,  /* the KEYS and COMMANDS sections of the man page */
};

/** Writes every key and command of the explorer with its description. */
void tui_keys_write(FILE *out, enum tui_keys_format format);

#endif
