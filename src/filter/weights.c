// SPDX-License-Identifier: GPL-2.0-only
/* Tables of calls with their frequency. */
#include "filter/read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { COL_NAME, COL_NR, COL_WEIGHT, COL_OTHER, COL_ARG0 };

enum { MAX_COLUMNS = 32, MAX_CELL = 64 };

/* Columns of a table that does not name them. */
static const uint8_t short_columns[] = { COL_NAME, COL_WEIGHT };
static const uint8_t long_columns[] = { COL_NAME,     COL_NR,	    COL_ARG0,	  COL_ARG0 + 1,
					COL_ARG0 + 2, COL_ARG0 + 3, COL_ARG0 + 4, COL_ARG0 + 5,
					COL_WEIGHT };

struct table {
	const char *path;
	uint32_t arch;
	uint32_t line;
	uint8_t columns[MAX_COLUMNS]; /* enum column; COL_ARG0 + n */
	uint32_t column_cnt;	      /* 0: not known yet */
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

/* Copies the next cell of a line and moves behind it; "" at the line's end. -E2BIG: too long */
static int next_cell(const char *line, const char **at, char cell[MAX_CELL], uint32_t *column)
{
	size_t len = 0;

	while (**at == ' ' || **at == '\t' || **at == '\r')
		(*at)++;
	*column = (uint32_t)(*at - line) + 1;
	while ((*at)[len] && !isspace((unsigned char)(*at)[len]))
		len++;
	if (len >= MAX_CELL)
		return -E2BIG;
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
static void read_header(struct table *t, const char *line)
{
	const char *at = line + 1;
	bool weight = false, call = false;
	uint32_t cnt = 0, column;
	char cell[MAX_CELL];

	for (;;) {
		/* what does not fit names no columns */
		if (next_cell(line, &at, cell, &column) || cnt == MAX_COLUMNS)
			return;
		if (!*cell)
			break;
		t->columns[cnt] = (uint8_t)column_of(cell);
		weight |= t->columns[cnt] == COL_WEIGHT;
		call |= t->columns[cnt] == COL_NR || t->columns[cnt] == COL_NAME;
		cnt++;
	}
	/* otherwise it is a comment */
	if (weight && call)
		t->column_cnt = cnt;
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

static uint32_t count_cells(const char *line)
{
	uint32_t cnt = 0;

	for (;;) {
		line += strspn(line, " \t\r");
		if (!*line || *line == '\n')
			return cnt;
		line += strcspn(line, " \t\r\n");
		cnt++;
	}
}

static int guess_columns(struct table *t, const char *line)
{
	const uint32_t cnt = count_cells(line);
	const bool is_long = cnt >= sizeof(long_columns);

	if (!is_long && cnt != sizeof(short_columns))
		return fail(t, 1,
			    "not name and weight, nor name, number, six arguments and weight, and "
			    "no line before it says '# name nr ... weight'%s",
			    "");
	t->column_cnt = is_long ? sizeof(long_columns) : sizeof(short_columns);
	memcpy(t->columns, is_long ? long_columns : short_columns, t->column_cnt);
	return 0;
}

/* Which columns of a row were there. */
struct seen {
	bool name, nr, weight;
};

static int read_cell(const struct table *t, uint8_t kind, uint32_t column, const char *cell,
		     struct loupe_weight *row, struct seen *seen)
{
	uint64_t n = 0;
	char *end;
	int ret;

	switch (kind) {
	case COL_NAME:
		seen->name = true;
		free(row->name);
		row->name = strdup(cell);
		return row->name ? 0 : loupe_error_set(t->err, -ENOMEM, "out of memory");
	case COL_NR:
		ret = read_u64(t, cell, column, &n);
		if (!ret && n > UINT32_MAX)
			ret = fail(t, column, "'%s' is no system call's number", cell);
		row->nr = (uint32_t)n;
		seen->nr = true;
		return ret;
	case COL_WEIGHT:
		row->weight = strtod(cell, &end);
		seen->weight = true;
		if (*end || end == cell || !isfinite(row->weight) || row->weight < 0)
			return fail(t, column, "'%s' is no weight", cell);
		return 0;
	case COL_OTHER:
		return 0;
	default:
		row->has_args = true;
		return read_u64(t, cell, column, &row->args[kind - COL_ARG0]);
	}
}

static int add_row(struct table *t, const struct loupe_weight *row, struct loupe_weights *out)
{
	if (out->cnt == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		struct loupe_weight *bigger = realloc(out->rows, cap * sizeof(*bigger));

		if (!bigger)
			return loupe_error_set(t->err, -ENOMEM, "out of memory");
		out->rows = bigger;
		t->cap = cap;
	}
	out->rows[out->cnt++] = *row;
	return 0;
}

static int read_row(struct table *t, const char *line, struct loupe_weights *out)
{
	struct loupe_weight row = { 0 };
	struct seen seen = { 0 };
	const char *at = line;
	char cell[MAX_CELL];
	int ret = 0;

	if (!t->column_cnt)
		ret = guess_columns(t, line);
	for (uint32_t c = 0; !ret && c < t->column_cnt; c++) {
		uint32_t column;

		ret = next_cell(line, &at, cell, &column);
		if (ret)
			ret = fail(t, column, "a cell of more than 63 characters%s", "");
		if (!ret && !*cell)
			ret = fail(t, column, "the line ends before its last column%s", "");
		if (!ret)
			ret = read_cell(t, t->columns[c], column, cell, &row, &seen);
	}
	if (!ret && !seen.weight)
		ret = fail(t, 1, "there is no weight%s", "");
	if (!ret && !seen.nr) {
		int32_t nr = seen.name ? loupe_syscall_nr(t->arch, row.name) : -1;

		if (nr < 0)
			ret = fail(t, 1, "'%s' is no system call of this architecture",
				   row.name ? row.name : "");
		row.nr = (uint32_t)nr;
	}
	if (!ret)
		ret = add_row(t, &row, out);
	if (ret)
		free(row.name);
	return ret;
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
		if (*first == '#' && t->line == 1)
			read_header(t, first);
		else if (*first && *first != '\n' && *first != '#')
			ret = read_row(t, line, out);
		if (ret)
			return ret;
		if (!end)
			break;
		line = end + 1;
	}
	return out->cnt ? 0 : fail(t, 1, "a table of weights without rows%s", "");
}

/* Gets the text and puts a NUL behind it. */
static int get_text(const char *path, const void *data, size_t len, char **text,
		    struct loupe_error *err)
{
	uint8_t *bytes = NULL;
	int ret = 0;

	if (!data) {
		ret = filter_read_all(path, &bytes, &len, err);
		data = bytes;
	}
	if (!ret && len && memchr(data, 0, len))
		ret = loupe_error_set(err, -EINVAL, "a zero byte in a text");
	if (!ret) {
		*text = malloc(len + 1);
		if (!*text)
			ret = loupe_error_set(err, -ENOMEM, "out of memory");
		else if (len)
			memcpy(*text, data, len);
		if (!ret)
			(*text)[len] = 0;
	}
	free(bytes);
	return ret;
}

int loupe_weights_load(const char *path, const void *data, size_t len, uint32_t arch,
		       struct loupe_weights *out, struct loupe_error *err)
{
	struct table t = { .path = path, .arch = arch, .err = err };
	char *text = NULL;
	int ret;

	*out = (struct loupe_weights){ .arch = arch };
	ret = get_text(path, data, len, &text, err);
	if (!ret)
		ret = read_table(&t, text, out);
	if (ret && err && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", path);
	if (ret)
		loupe_weights_finish(out);
	free(text);
	return ret;
}

void loupe_weights_finish(struct loupe_weights *weights)
{
	for (uint32_t i = 0; i < weights->cnt; i++)
		free(weights->rows[i].name);
	free(weights->rows);
	*weights = (struct loupe_weights){ 0 };
}
