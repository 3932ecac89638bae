// SPDX-License-Identifier: GPL-2.0-only
/* Tables of system calls and how often they are made. */
#include "bpfloupe/filter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_NAME, COLUMN_NR, COLUMN_ARG, COLUMN_WEIGHT = COLUMN_ARG + 6, COLUMNS };

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

static bool parse_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && !*end && *out <= max;
}

/* Everything but the name. */
static bool parse(char *const column[COLUMNS], struct loupe_filter_call *call)
{
	uint64_t nr;
	char *end;

	if (!parse_number(column[COLUMN_NR], UINT32_MAX, &nr))
		return false;
	call->nr = (uint32_t)nr;
	for (int i = 0; i < 6; i++) {
		if (!parse_number(column[COLUMN_ARG + i], UINT64_MAX, &call->args[i]))
			return false;
	}
	call->weight = strtod(column[COLUMN_WEIGHT], &end);
	return !*end && end != column[COLUMN_WEIGHT] && isfinite(call->weight) && call->weight >= 0;
}

static int read_line(struct loupe_filter_calls *calls, uint32_t *cap, char *line, const char *path,
		     uint32_t line_no, struct loupe_error *err)
{
	struct loupe_filter_call call = { 0 };
	char *column[COLUMNS];

	if (split(line, column) < COLUMNS || !parse(column, &call))
		return loupe_error_set(err, -EINVAL,
				       "%s:%u: not name, number, six arguments and weight, "
				       "separated by tabs",
				       path, line_no);
	if (calls->cnt == *cap) {
		uint32_t more = *cap * 2 + 64;
		struct loupe_filter_call *grown = realloc(calls->call, more * sizeof(*grown));

		if (!grown)
			return loupe_error_set(err, -ENOMEM, "%s: out of memory", path);
		calls->call = grown;
		*cap = more;
	}
	call.name = strdup(column[COLUMN_NAME]);
	if (!call.name)
		return loupe_error_set(err, -ENOMEM, "%s: out of memory", path);
	calls->call[calls->cnt++] = call;
	return 0;
}

int loupe_filter_calls_load(const char *path, struct loupe_filter_calls *out,
			    struct loupe_error *err)
{
	uint32_t cap = 0, line_no = 0;
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	*out = (struct loupe_filter_calls){ 0 };
	if (!f) {
		ret = -errno;
		return loupe_error_set(err, ret, "%s: %s", path, strerror(-ret));
	}
	while (!ret && getline(&line, &size, f) > 0) {
		line_no++;
		if (line[0] != '#' && line[0] != '\n' && line[0] != '\r')
			ret = read_line(out, &cap, line, path, line_no, err);
	}
	if (!ret && ferror(f))
		ret = loupe_error_set(err, -EIO, "%s: cannot be read", path);
	free(line);
	fclose(f);
	if (ret)
		loupe_filter_calls_finish(out);
	return ret;
}

void loupe_filter_calls_finish(struct loupe_filter_calls *calls)
{
	for (uint32_t i = 0; i < calls->cnt; i++)
		free(calls->call[i].name);
	free(calls->call);
	*calls = (struct loupe_filter_calls){ 0 };
}

static int by_nr(const void *a, const void *b)
{
	const struct loupe_filter_call *x = a, *y = b;

	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

int loupe_filter_weights_load(const char *path, struct loupe_filter_weights *out,
			      struct loupe_error *err)
{
	struct loupe_filter_calls calls;
	int ret = loupe_filter_calls_load(path, &calls, err);

	*out = (struct loupe_filter_weights){ 0 };
	if (ret)
		return ret;
	if (calls.cnt)
		qsort(calls.call, calls.cnt, sizeof(*calls.call), by_nr);
	out->nr = malloc((calls.cnt + 1) * sizeof(*out->nr));
	out->weight = malloc((calls.cnt + 1) * sizeof(*out->weight));
	if (!out->nr || !out->weight)
		ret = loupe_error_set(err, -ENOMEM, "%s: out of memory", path);
	for (uint32_t i = 0; !ret && i < calls.cnt; i++) {
		const struct loupe_filter_call *call = &calls.call[i];

		if (out->cnt && out->nr[out->cnt - 1] == call->nr) {
			out->weight[out->cnt - 1] += call->weight;
			continue;
		}
		out->nr[out->cnt] = call->nr;
		out->weight[out->cnt++] = call->weight;
	}
	loupe_filter_calls_finish(&calls);
	return ret;
}

void loupe_filter_weights_finish(struct loupe_filter_weights *weights)
{
	free(weights->nr);
	free(weights->weight);
	*weights = (struct loupe_filter_weights){ 0 };
}
