/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: one table of options, from which parsing, --help and the man page come. */
#ifndef BPFLOUPE_UI_ARGS_H
#define BPFLOUPE_UI_ARGS_H

#include <stdio.h>

#include "bpfloupe/filter.h"
#include "bpfloupe/load.h"
#include "bpfloupe/policy.h"
#include "bpfloupe/verify.h"
#include "input.h"

/* Which commands an option belongs to. */
enum {
	FOR_EXPLORE = 1 << 0,
	FOR_VERIFY = 1 << 1,
	FOR_STAT = 1 << 2,
	FOR_OPTIMIZE = 1 << 3,
	FOR_DISASM = 1 << 4,
	FOR_CFG = 1 << 5,
	FOR_BENCH = 1 << 6,
	FOR_PARITY = 1 << 7,
	FOR_EVAL = 1 << 8,
	FOR_LAB = 1 << 9,
	FOR_COMPILE = 1 << 10,
	FOR_POLICY = FOR_OPTIMIZE | FOR_COMPILE,
	FOR_FILTERS = FOR_OPTIMIZE | FOR_EVAL | FOR_EXPLORE | FOR_CFG, /* what optimizes filters */
	FOR_LOADING = FOR_LAB | FOR_EXPLORE | FOR_VERIFY | FOR_STAT | FOR_DISASM | FOR_CFG |
		      FOR_BENCH | FOR_PARITY,
	FOR_KNOBS = FOR_LAB | FOR_EXPLORE | FOR_VERIFY | FOR_STAT,
};

/* Everything that options can say; what was not said is as the options structs' defaults. */
struct args {
	const char *const *files;
	uint32_t file_cnt;
	struct loupe_load_opts load;
	struct loupe_verify_opts verify;
	uint32_t log_level;
	uint32_t log_size; /* 0: no bound */
	const char *output;   /* -o */
	const char *emit;     /* --emit */
	const char *columns;  /* -e */
	const char *sort;     /* -s */
	const char *filter;   /* -f */
	bool compare;	      /* -C */
	struct loupe_filter_opts passes;
	const char *table;   /* --table */
	struct input_filters filters; /* --arch, --policy, --weights, and what policies ask for */
	const char *caps[64]; /* --caps, what filters.policy.caps points to */
	const char *pid;      /* --pid, NULL: none */
	bool explain;
	const char *explain_what; /* --explain=, NULL: everything */
	bool before;	      /* cfg: of the program as it was loaded */
	bool list;	      /* bench: the file is a list of programs */
	uint32_t runs;	      /* -n */
	uint32_t jobs;	      /* -j */
	uint32_t generate;    /* random programs, 0: none */
	uint64_t seed;
	const char *save;     /* directory, NULL: the present one */
	const char *sweep;    /* lab: KNOB=VALUE,VALUE... */
	uint32_t repeat;      /* lab: runs of which the fastest counts */
	const char *log;      /* --log: beside the program, NULL: none */
	const char *script, *view, *theme;
	uint32_t width, height;
	bool ascii;
	bool side_by_side;    /* --compare */
	bool lessons;	      /* --lesson */
	uint32_t lesson;      /* its number, 0: list them */
	bool help;
	bool version;
};

/**
 * Parses what follows the command's name.
 * @param command  FOR_* of the command, for messages its name
 * @return 0, or 2 after one line on stderr
 */
int args_parse(struct args *args, uint32_t command, const char *name, int argc, char **argv);

/**
 * Writes the options of a command, aligned, one a line.
 * @param command  FOR_* of it, 0: all options
 * @param name     leaves out what a text tells of other commands, NULL: nothing
 * @param man      as man page source
 */
void args_write_options(FILE *out, uint32_t command, const char *name, bool man);

/** Writes the names of a command's options with their dashes, separated by spaces. */
void args_write_names(FILE *out, uint32_t command);

/** "bpfloupe: " and the error on stderr, one line. @return 2 */
int complain(const struct loupe_error *err);
/** The same for a message of our own. @return 2 */
int complain_text(const char *fmt, ...) LOUPE_PRINTF(1, 2);

#endif
