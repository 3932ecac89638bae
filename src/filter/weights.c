// SPDX-License-Identifier: GPL-2.0-only
/* Tables of system calls and how often they are made. */
#include "bpfloupe/filter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_NR = 1, COLUMN_WEIGHT = 8, COLUMNS = 9 };

struct row {
	uint32_t nr;
	double weight;
};

static int by_nr(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* Splits a line at its tabs in place; returns the number of columns, at most COLUMNS. */
static int split(char *line, char *column[COLUMNS])
{
	int cnt = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (cnt < COLUMNS) {
		char *tab = strchr(line, '\t');

		column[cnt++] = line;
		if (!tab)
			break;
		*tab = '\0';
		line = tab + 1;
	}
	return cnt;
}

static bool parse(char *line, struct row *row)
{
	char *column[COLUMNS], *end;
	unsigned long nr;

	if (split(line, column) < COLUMNS)
		return false;
	errno = 0;
	nr = strtoul(column[COLUMN_NR], &end, 0);
	if (errno || *end || end == column[COLUMN_NR] || nr > UINT32_MAX)
		return false;
	row->nr = (uint32_t)nr;
	row->weight = strtod(column[COLUMN_WEIGHT], &end);
	return !*end && end != column[COLUMN_WEIGHT] && isfinite(row->weight) && row->weight >= 0;
}

static int read_rows(FILE *f, struct row **rows, uint32_t *cnt, const char *path,
		     struct loupe_error *err)
{
	uint32_t cap = 0, line_no = 0;
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && getline(&line, &size, f) > 0) {
		line_no++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (*cnt == cap) {
			struct row *grown;

			cap = cap * 2 + 64;
			grown = realloc(*rows, cap * sizeof(*grown));
			if (!grown) {
				ret = loupe_error_set(err, -ENOMEM, "%s: out of memory", path);
				break;
			}
			*rows = grown;
		}
		if (parse(line, &(*rows)[*cnt]))
			++*cnt;
		else
			ret = loupe_error_set(err, -EINVAL,
					      "%s:%u: not name, number, six arguments and weight, "
					      "separated by tabs",
					      path, line_no);
	}
	if (!ret && ferror(f))
		ret = loupe_error_set(err, -EIO, "%s: cannot be read", path);
	free(line);
	return ret;
}

int loupe_filter_weights_load(const char *path, struct loupe_filter_weights *out,
			      struct loupe_error *err)
{
	FILE *f = fopen(path, "re");
	struct row *rows = NULL;
	uint32_t cnt = 0;
	int ret;

	*out = (struct loupe_filter_weights){ 0 };
	if (!f)
		return loupe_error_set(err, -errno, "%s: %s", path, strerror(errno));
	ret = read_rows(f, &rows, &cnt, path, err);
	fclose(f);
	if (!ret) {
		if (cnt)
			qsort(rows, cnt, sizeof(*rows), by_nr);
		out->nr = malloc((cnt + 1) * sizeof(*out->nr));
		out->weight = malloc((cnt + 1) * sizeof(*out->weight));
		if (!out->nr || !out->weight)
			ret = loupe_error_set(err, -ENOMEM, "%s: out of memory", path);
	}
	for (uint32_t i = 0; !ret && i < cnt; i++) {
		if (out->cnt && out->nr[out->cnt - 1] == rows[i].nr) {
			out->weight[out->cnt - 1] += rows[i].weight;
			continue;
		}
		out->nr[out->cnt] = rows[i].nr;
		out->weight[out->cnt++] = rows[i].weight;
	}
	free(rows);
	return ret;
}

void loupe_filter_weights_finish(struct loupe_filter_weights *weights)
{
	free(weights->nr);
	free(weights->weight);
	*weights = (struct loupe_filter_weights){ 0 };
}
