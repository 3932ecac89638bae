// SPDX-License-Identifier: GPL-2.0-only
/* Tables of calls with their frequency. */
#include "policy/policy.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { COL_NAME, COL_NR, COL_WEIGHT, COL_OTHER, COL_ARG0 };

enum { MAX_COLUMNS = 32, MAX_CELL = 64 };

struct table {
	const char *path;
	uint32_t arch;
	uint32_t line;
	uint8_t columns[MAX_COLUMNS]; /* enum column; COL_ARG0 + n */
	uint32_t column_cnt;
	uint32_t cap;
	struct loupe_error *err;
};

static int fail(const struct table *t, uint32_t column, const char *what, const char *cell)
{
	loupe_error_set(t->err, -EINVAL, what, cell);
	if (t->err) {
		snprintf(t->err->file, sizeof(t->err->file), "%s", t->path);
		t->err->line = t->line;
		t->err->column = column;
	}
	return -EINVAL;
}

/* Copies the next cell of a line and moves behind it; "" at the line's end. */
static int next_cell(const struct table *t, const char *line, const char **at,
		     char cell[MAX_CELL], uint32_t *column)
{
	size_t len = 0;

	while (**at == ' ' || **at == '\t' || **at == '\r')
		(*at)++;
	*column = (uint32_t)(*at - line) + 1;
	while ((*at)[len] && !isspace((unsigned char)(*at)[len]))
		len++;
	if (len >= MAX_CELL)
		return fail(t, *column, "a cell of more than 63 characters%s", "");
	memcpy(cell, *at, len);
	cell[len] = 0;
	*at += len;
	return 0;
}

static enum column column_of(const char *cell)
{
	if (!strcmp(cell, "name"))
		return COL_NAME;
	if (!strcmp(cell, "nr"))
		return COL_NR;
	if (!strcmp(cell, "weight"))
		return COL_WEIGHT;
	if (!strncmp(cell, "arg", 3) && cell[3] >= '0' && cell[3] <= '5' && !cell[4])
		return (enum column)(COL_ARG0 + (cell[3] - '0'));
	return COL_OTHER;
}

/* "# name	nr	arg0 ..." */
static int read_header(struct table *t, const char *line)
{
	const char *at = line + 1;
	bool weight = false, call = false;
	uint32_t cnt = 0, column;
	char cell[MAX_CELL];

	for (;;) {
		int ret = next_cell(t, line, &at, cell, &column);

		if (ret)
			return ret;
		if (!*cell)
			break;
		if (cnt == MAX_COLUMNS)
			return fail(t, column, "too many columns%s", "");
		t->columns[cnt] = (uint8_t)column_of(cell);
		weight |= t->columns[cnt] == COL_WEIGHT;
		call |= t->columns[cnt] == COL_NR || t->columns[cnt] == COL_NAME;
		cnt++;
	}
	/* otherwise it is a comment */
	if (weight && call)
		t->column_cnt = cnt;
	return 0;
}

static int read_u64(const struct table *t, const char *cell, uint32_t column, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(cell, &end, 0);
	if (errno || *end || !isdigit((unsigned char)*cell))
		return fail(t, column, "'%s' is no number", cell);
	return 0;
}

static int read_row(struct table *t, const char *line, struct loupe_weights *out)
{
	struct loupe_weight row = { 0 };
	bool have_nr = false, have_name = false, have_weight = false;
	int32_t nr = -1;
	const char *at = line;
	char cell[MAX_CELL], name[MAX_CELL] = "", *end;
	uint64_t n;

	for (uint32_t c = 0; c < t->column_cnt; c++) {
		uint32_t column;
		int ret = next_cell(t, line, &at, cell, &column);

		if (!ret && !*cell)
			ret = fail(t, column, "the line ends before its last column%s", "");
		if (ret)
			return ret;
		switch (t->columns[c]) {
		case COL_NAME:
			have_name = true;
			memcpy(name, cell, sizeof(name));
			nr = loupe_syscall_nr(t->arch, cell);
			break;
		case COL_NR:
			ret = read_u64(t, cell, column, &n);
			if (!ret && n > UINT32_MAX)
				ret = fail(t, column, "'%s' is no system call's number", cell);
			row.nr = (uint32_t)n;
			have_nr = true;
			break;
		case COL_WEIGHT:
			row.weight = strtod(cell, &end);
			if (*end || end == cell || !isfinite(row.weight) || row.weight < 0)
				ret = fail(t, column, "'%s' is no weight", cell);
			have_weight = true;
			break;
		case COL_OTHER:
			break;
		default:
			ret = read_u64(t, cell, column, &row.args[t->columns[c] - COL_ARG0]);
			row.has_args = true;
		}
		if (ret)
			return ret;
	}
	if (!have_nr && have_name && nr < 0)
		return fail(t, 1, "'%s' is no system call of this architecture", name);
	if (!have_nr)
		row.nr = (uint32_t)nr;
	if (!have_weight)
		return fail(t, 1, "there is no weight%s", "");
	if (out->cnt == t->cap) {
		struct loupe_weight *bigger;

		t->cap = t->cap ? t->cap * 2 : 64;
		bigger = realloc(out->rows, t->cap * sizeof(*bigger));
		if (!bigger)
			return loupe_error_set(t->err, -ENOMEM, "out of memory");
		out->rows = bigger;
	}
	out->rows[out->cnt++] = row;
	return 0;
}

static int read_table(struct table *t, const char *text, struct loupe_weights *out)
{
	const char *line = text;

	for (t->line = 1; *line; t->line++) {
		const char *end = strchr(line, '\n');
		const char *first = line;
		int ret = 0;

		while (*first == ' ' || *first == '\t' || *first == '\r')
			first++;
		if (*first == '#')
			ret = t->line == 1 ? read_header(t, line) : 0;
		else if (*first && *first != '\n')
			ret = read_row(t, line, out);
		if (ret)
			return ret;
		if (!end)
			break;
		line = end + 1;
	}
	return out->cnt ? 0 : fail(t, 1, "a table of weights without rows%s", "");
}

int loupe_weights_load(const char *path, const void *data, size_t len, uint32_t arch,
		       struct loupe_weights *out, struct loupe_error *err)
{
	struct table t = { .path = path,
			   .arch = arch,
			   .columns = { COL_NAME, COL_WEIGHT },
			   .column_cnt = 2,
			   .err = err };
	char *text = NULL;
	int ret = 0;

	*out = (struct loupe_weights){ 0 };
	if (!data) {
		ret = policy_read_file(path, &text, &len);
		if (ret)
			loupe_error_set(err, ret, "%s", strerror(-ret));
	} else {
		text = malloc(len + 1);
		if (!text)
			ret = loupe_error_set(err, -ENOMEM, "out of memory");
		else
			((char *)memcpy(text, data, len))[len] = 0;
	}
	if (!ret && memchr(text, 0, len))
		ret = loupe_error_set(err, -EINVAL, "a zero byte in a text");
	if (!ret)
		ret = read_table(&t, text, out);
	if (ret && err && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", path);
	if (ret)
		loupe_weights_finish(out);
	free(text);
	return ret;
}
