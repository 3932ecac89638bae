// SPDX-License-Identifier: GPL-2.0-only
/* Columns of bpfloupe stat: choosing, sorting, filtering, writing. */
#include <ctype.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cmd_stat.h"

enum cell_type { CELL_TEXT, CELL_NUMBER, CELL_ERRNO };

static const struct {
	const char *name;  /* veristat's */
	const char *title; /* of the table */
	enum cell_type type;
	size_t off;
	bool by_default;
} columns[] = {
	{ "file_name", "File", CELL_TEXT, offsetof(struct stat_row, file_name), true },
	{ "prog_name", "Program", CELL_TEXT, offsetof(struct stat_row, prog_name), true },
	{ "verdict", "Verdict", CELL_TEXT, offsetof(struct stat_row, verdict), true },
	{ "duration", "Duration (us)", CELL_NUMBER, offsetof(struct stat_row, duration), true },
	{ "total_insns", "Insns", CELL_NUMBER, offsetof(struct stat_row, total_insns), true },
	{ "total_states", "States", CELL_NUMBER, offsetof(struct stat_row, total_states), true },
	{ "peak_states", "Peak states", CELL_NUMBER, offsetof(struct stat_row, peak_states), true },
	{ "max_states_per_insn", "Max states per insn", CELL_NUMBER,
	  offsetof(struct stat_row, max_states_per_insn), true },
	{ "prog_size", "Program size", CELL_NUMBER, offsetof(struct stat_row, prog_size), true },
	{ "stack", "Stack", CELL_NUMBER, offsetof(struct stat_row, stack), false },
	{ "prog_type", "Program type", CELL_TEXT, offsetof(struct stat_row, prog_type), false },
	{ "attach_type", "Attach type", CELL_TEXT, offsetof(struct stat_row, attach_type), false },
	{ "errno", "Errno", CELL_ERRNO, offsetof(struct stat_row, err), false },
	{ "reason", "Reason", CELL_TEXT, offsetof(struct stat_row, reason), false },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static int find_column(const char *name, size_t len)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (strlen(columns[i].name) == len && !strncmp(columns[i].name, name, len))
			return i;
	}
	return -1;
}

static int unknown_column(const char *name, size_t len)
{
	char all[512] = "";

	for (int i = 0; i < COLUMNS; i++) {
		if (i)
			strcat(all, ", ");
		strcat(all, columns[i].name);
	}
	return complain_text("there is no column '%.*s'; there are %s", (int)len, name, all);
}

void stat_columns_default(struct stat_columns *out)
{
	*out = (struct stat_columns){ 0 };
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].by_default)
			out->at[out->cnt++] = i;
	}
}

int stat_columns_parse(const char *text, struct stat_columns *out)
{
	*out = (struct stat_columns){ 0 };
	while (*text) {
		size_t len = strcspn(text, ","), name = strcspn(text, ",<>^");
		int column = find_column(text, name);

		if (column < 0)
			return unknown_column(text, name);
		if (out->cnt == STAT_MAX_COLUMNS)
			return complain_text("more than %d columns", STAT_MAX_COLUMNS);
		out->at[out->cnt] = column;
		out->down[out->cnt++] = name < len && text[name] == '>';
		text += len;
		text += *text == ',';
	}
	return 0;
}

/* --- cells --------------------------------------------------------------------------------------- */

static const char *text_cell(const struct stat_row *row, int column)
{
	const char *text = *(const char *const *)((const char *)row + columns[column].off);

	return text ? text : "";
}

static uint64_t number_cell(const struct stat_row *row, int column)
{
	const char *at = (const char *)row + columns[column].off;

	return columns[column].type == CELL_ERRNO ? (uint64_t)*(const int *)at : *(const uint64_t *)at;
}

/* The cell as text; control characters from names never leave here. */
static void cell_text(const struct stat_row *row, int column, char *buf, size_t size)
{
	if (columns[column].type != CELL_TEXT) {
		snprintf(buf, size, "%llu", (unsigned long long)number_cell(row, column));
		return;
	}
	snprintf(buf, size, "%s", text_cell(row, column));
	loupe_text_clean(buf, strlen(buf), false);
}

static int compare_cells(const struct stat_row *a, const struct stat_row *b, int column)
{
	uint64_t x, y;

	if (columns[column].type == CELL_TEXT)
		return strcmp(text_cell(a, column), text_cell(b, column));
	x = number_cell(a, column);
	y = number_cell(b, column);
	return (x > y) - (x < y);
}

/* Insertion keeps rows that are equal in the order of the files. */
void stat_sort(struct stat_table *table, const struct stat_columns *by)
{
	for (uint32_t i = 1; by->cnt && i < table->cnt; i++) {
		struct stat_row row = table->rows[i];
		uint32_t at = i;

		for (; at > 0; at--) {
			int order = 0;

			for (uint32_t c = 0; !order && c < by->cnt; c++) {
				order = compare_cells(&table->rows[at - 1], &row, by->at[c]);
				order = by->down[c] ? -order : order;
			}
			if (order <= 0)
				break;
			table->rows[at] = table->rows[at - 1];
		}
		table->rows[at] = row;
	}
}

/* --- filters -------------------------------------------------------------------------------------- */

static const char *const operators[] = { "<=", ">=", "!=", "=", "<", ">" };

/* 1: passes, 0: does not, -1: complained. */
static int passes(const struct stat_row *row, const char *filter)
{
	size_t name = strcspn(filter, "<>=!"), i = 0;
	const char *value;
	uint64_t want, have;
	int column, order;
	char *end;

	if (!filter[name])
		return !fnmatch(filter, row->file_name, 0) || !fnmatch(filter, row->prog_name, 0);
	column = find_column(filter, name);
	if (column < 0)
		return unknown_column(filter, name) ? -1 : -1;
	while (i < sizeof(operators) / sizeof(operators[0]) &&
	       strncmp(filter + name, operators[i], strlen(operators[i])))
		i++;
	if (i == sizeof(operators) / sizeof(operators[0])) {
		complain_text("filter '%s' has no operator; use = != < <= > >=", filter);
		return -1;
	}
	value = filter + name + strlen(operators[i]);
	if (columns[column].type == CELL_TEXT) {
		bool same = !fnmatch(value, text_cell(row, column), 0);

		if (i != 2 && i != 3) {
			complain_text("filter '%s': text is compared with = or !=", filter);
			return -1;
		}
		return i == 3 ? same : !same;
	}
	want = strtoull(value, &end, 10);
	if (end == value || *end) {
		complain_text("filter '%s': '%s' is no number", filter, value);
		return -1;
	}
	have = number_cell(row, column);
	order = (have > want) - (have < want);
	switch (i) {
	case 0:
		return order <= 0;
	case 1:
		return order >= 0;
	case 2:
		return order != 0;
	case 3:
		return order == 0;
	case 4:
		return order < 0;
	default:
		return order > 0;
	}
}

static void drop_row(struct stat_row *row)
{
	free(row->file_name);
	free(row->prog_name);
	free(row->reason);
}

static int apply_filter(struct stat_table *table, const char *filter)
{
	uint32_t kept = 0, i = 0;

	for (; i < table->cnt; i++) {
		int pass = passes(&table->rows[i], filter);

		if (pass < 0)
			return 2;
		if (pass)
			table->rows[kept++] = table->rows[i];
		else
			drop_row(&table->rows[i]);
	}
	table->cnt = kept;
	return 0;
}

int stat_filter(struct stat_table *table, const char *filters)
{
	char *copy = strdup(filters), *rest = copy, *filter;
	int err = copy ? 0 : complain_text("out of memory");

	while (!err && (filter = strsep(&rest, ",")))
		err = *filter ? apply_filter(table, filter) : 0;
	free(copy);
	return err;
}

/* --- writing --------------------------------------------------------------------------------------- */

enum { CELL_SIZE = 512 };

static void write_table(FILE *out, const struct stat_table *table, const struct stat_columns *cols)
{
	int width[STAT_MAX_COLUMNS];
	char cell[CELL_SIZE];

	for (uint32_t c = 0; c < cols->cnt; c++) {
		width[c] = (int)strlen(columns[cols->at[c]].title);
		for (uint32_t i = 0; i < table->cnt; i++) {
			cell_text(&table->rows[i], cols->at[c], cell, sizeof(cell));
			width[c] = (int)strlen(cell) > width[c] ? (int)strlen(cell) : width[c];
		}
	}
	for (uint32_t c = 0; c < cols->cnt; c++)
		fprintf(out, "%s%*s", c ? "  " : "",
			columns[cols->at[c]].type == CELL_TEXT ? -width[c] : width[c],
			columns[cols->at[c]].title);
	fputc('\n', out);
	for (uint32_t c = 0; c < cols->cnt; c++) {
		fputs(c ? "  " : "", out);
		for (int i = 0; i < width[c]; i++)
			fputc('-', out);
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < table->cnt; i++) {
		for (uint32_t c = 0; c < cols->cnt; c++) {
			cell_text(&table->rows[i], cols->at[c], cell, sizeof(cell));
			fprintf(out, "%s%*s", c ? "  " : "",
				columns[cols->at[c]].type == CELL_TEXT ? -width[c] : width[c], cell);
		}
		fputc('\n', out);
	}
}

static void write_csv(FILE *out, const struct stat_table *table, const struct stat_columns *cols)
{
	char cell[CELL_SIZE];

	for (uint32_t c = 0; c < cols->cnt; c++)
		fprintf(out, "%s%s", c ? "," : "", columns[cols->at[c]].name);
	fputc('\n', out);
	for (uint32_t i = 0; i < table->cnt; i++) {
		for (uint32_t c = 0; c < cols->cnt; c++) {
			cell_text(&table->rows[i], cols->at[c], cell, sizeof(cell));
			if (c)
				fputc(',', out);
			if (!strpbrk(cell, ",\"")) {
				fputs(cell, out);
				continue;
			}
			fputc('"', out);
			for (const char *p = cell; *p; p++)
				fprintf(out, *p == '"' ? "\"\"" : "%c", *p);
			fputc('"', out);
		}
		fputc('\n', out);
	}
}

static int write_json(FILE *out, const struct stat_table *table, const struct stat_columns *cols)
{
	json_t *list = json_array();
	int err = list ? 0 : -1;

	for (uint32_t i = 0; !err && i < table->cnt; i++) {
		json_t *object = json_object();

		for (uint32_t c = 0; object && c < cols->cnt; c++) {
			int column = cols->at[c];
			char cell[CELL_SIZE];

			cell_text(&table->rows[i], column, cell, sizeof(cell));
			json_object_set_new(object, columns[column].name,
					    columns[column].type == CELL_TEXT
						    ? json_string_nocheck(cell)
						    : json_integer((json_int_t)number_cell(
							      &table->rows[i], column)));
		}
		err = json_array_append_new(list, object);
	}
	if (!err)
		err = json_dumpf(list, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	json_decref(list);
	fputc('\n', out);
	return err ? complain_text("out of memory") : 0;
}

int stat_write(FILE *out, const struct stat_table *table, const struct stat_columns *cols,
	       const char *format)
{
	if (!strcmp(format, "table"))
		write_table(out, table, cols);
	else if (!strcmp(format, "csv"))
		write_csv(out, table, cols);
	else if (!strcmp(format, "json"))
		return write_json(out, table, cols);
	else
		return complain_text("-o takes table, csv or json, not '%s'", format);
	return 0;
}
