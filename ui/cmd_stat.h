/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of bpfloupe stat: one a program, with veristat's column names. */
#ifndef BPFLOUPE_UI_CMD_STAT_H
#define BPFLOUPE_UI_CMD_STAT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "bpfloupe/image.h"
#include "bpfloupe/verify.h"

struct stat_row {
	char *file_name, *prog_name;
	const char *verdict;   /* success, failure, unsupported, stopped, or unloadable */
	const char *prog_type, *attach_type; /* "" if unknown */
	char *reason;	       /* why there is no verdict; NULL otherwise */
	int err;	       /* positive errno of a rejection */
	uint64_t duration;     /* microseconds */
	uint64_t total_insns, total_states, peak_states, max_states_per_insn;
	uint64_t prog_size;    /* insn slots */
	uint64_t stack;	       /* bytes of the deepest function's stack */
};

struct stat_table {
	struct stat_row *rows;
	uint32_t cnt, cap;
};

enum { STAT_MAX_COLUMNS = 16 };

/* Columns by index into the table of columns. */
struct stat_columns {
	int at[STAT_MAX_COLUMNS];
	int down[STAT_MAX_COLUMNS]; /* sort only: largest first */
	uint32_t cnt;
};

/* Parses "a,b,c"; for sorting also "a>" and "a<", or veristat's "a." and "a^". 0, or 2 after one
 * line on stderr. */
int stat_columns_parse(const char *text, struct stat_columns *out);
void stat_columns_default(struct stat_columns *out);
void stat_sort(struct stat_table *table, const struct stat_columns *by);
/* Drops rows that the filters do not let through. 0, or 2 after one line on stderr. */
int stat_filter(struct stat_table *table, const char *filters);
/* Whether there is such a format. 0, or 2 after one line on stderr. */
int stat_write_check(const char *format);
/* format: table, csv or json. 0, or 2 after one line on stderr. */
int stat_write(FILE *out, const struct stat_table *table, const struct stat_columns *columns,
	       const char *format);

/* Writes and frees a list that was made; err: it could not be, and says so. 0, or 2 after one line
 * on stderr. */
int stat_write_json(FILE *out, json_t *list, int err);

/* The name of a column that veristat may call otherwise ("insns": "total_insns"). @return text if
 * it is none */
const char *stat_column_name(const char *text, size_t len);
/* A column's title in tables, its name if it is unknown. */
const char *stat_column_title(const char *name);

struct args;
/* The command with -C (stat_compare.c). @return exit status */
int stat_compare(const struct args *args);

#endif
