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
#include "csv.h"

enum cell_type { CELL_TEXT, CELL_NUMBER, CELL_ERRNO };

static const struct {
	const char *name;     /* veristat's */
	const char *names[2]; /* what veristat also takes for it */
	const char *title;    /* of the table */
	enum cell_type type;
	size_t off;
	bool by_default;
} columns[] = {
	{ "file_name",
	  { "filename", "file" },
	  "File",
	  CELL_TEXT,
	  offsetof(struct stat_row, file_name),
	  true },
	{ "prog_name",
	  { "progname", "prog" },
	  "Program",
	  CELL_TEXT,
	  offsetof(struct stat_row, prog_name),
	  true },
	{ "verdict", { NULL }, "Verdict", CELL_TEXT, offsetof(struct stat_row, verdict), true },
	{ "duration",
	  { "dur" },
	  "Duration (us)",
	  CELL_NUMBER,
	  offsetof(struct stat_row, duration),
	  true },
	{ "total_insns",
	  { "insns" },
	  "Insns",
	  CELL_NUMBER,
	  offsetof(struct stat_row, total_insns),
	  true },
	{ "total_states",
	  { "states" },
	  "States",
	  CELL_NUMBER,
	  offsetof(struct stat_row, total_states),
	  true },
	{ "peak_states",
	  { NULL },
	  "Peak states",
	  CELL_NUMBER,
	  offsetof(struct stat_row, peak_states),
	  true },
	{ "max_states_per_insn",
	  { NULL },
	  "Max states per insn",
	  CELL_NUMBER,
	  offsetof(struct stat_row, max_states_per_insn),
	  true },
	{ "prog_size",
	  { "size" },
	  "Program size",
	  CELL_NUMBER,
	  offsetof(struct stat_row, prog_size),
	  true },
	{ "stack", { NULL }, "Stack", CELL_NUMBER, offsetof(struct stat_row, stack), false },
	{ "prog_type",
	  { NULL },
	  "Program type",
	  CELL_TEXT,
	  offsetof(struct stat_row, prog_type),
	  false },
	{ "attach_type",
	  { NULL },
	  "Attach type",
	  CELL_TEXT,
	  offsetof(struct stat_row, attach_type),
	  false },
	{ "errno", { NULL }, "Errno", CELL_ERRNO, offsetof(struct stat_row, err), false },
	{ "reason", { NULL }, "Reason", CELL_TEXT, offsetof(struct stat_row, reason), false },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_name(const char *known, const char *name, size_t len)
{
	return known && strlen(known) == len && !strncmp(known, name, len);
}

static int find_column(const char *name, size_t len)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (is_name(columns[i].name, name, len) ||
		    is_name(columns[i].names[0], name, len) ||
		    is_name(columns[i].names[1], name, len))
			return i;
	}
	return -1;
}

const char *stat_column_name(const char *text, size_t len)
{
	int column = find_column(text, len);

	return column < 0 ? text : columns[column].name;
}

const char *stat_column_title(const char *name)
{
	int column = find_column(name, strlen(name));

	return column < 0 ? name : columns[column].title;
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
		size_t len = strcspn(text, ","), name = len;
		bool down = false;
		int column;

		/* our order, or veristat's; no column's name ends with one of those */
		if (name > 1 && strchr("<>^.!_", text[name - 1])) {
			down = !strchr("<^", text[name - 1]);
			name--;
		}
		column = find_column(text, name);

		if (column < 0)
			return unknown_column(text, name);
		if (out->cnt == STAT_MAX_COLUMNS)
			return complain_text("more than %d columns", STAT_MAX_COLUMNS);
		out->at[out->cnt] = column;
		out->down[out->cnt++] = down;
		text += len;
		text += *text == ',';
	}
	return out->cnt ? 0 : complain_text("-e and -s take names of columns, separated by commas");
}

/* --- cells ------------------------------------------------------------------------------------ */

static const char *text_cell(const struct stat_row *row, int column)
{
	const char *text = *(const char *const *)((const char *)row + columns[column].off);

	return text ? text : "";
}

static uint64_t number_cell(const struct stat_row *row, int column)
{
	const char *at = (const char *)row + columns[column].off;

	return columns[column].type == CELL_ERRNO ? (uint64_t) * (const int *)at
						  : *(const uint64_t *)at;
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

/* --- filters ---------------------------------------------------------------------------------- */

enum operator { LESS_EQUAL, MORE_EQUAL, NOT_EQUAL, EQUAL, LESS, MORE, OPERATORS };

static const char *const operators[OPERATORS] = { "<=", ">=", "!=", "=", "<", ">" };

struct filter {
	bool deny;	   /* drops what it matches, of files and programs */
	const char *file;  /* pattern, NULL: any */
	const char *prog;  /* pattern, NULL: any */
	const char *name;  /* pattern for either, NULL: any */
	int column;	   /* compared with value, -1: none */
	enum operator op;
	const char *value;
	uint64_t number;
};

/* text is the filter's from now on: patterns are cut out of it in place. */
static int parse_pattern(char *text, struct filter *out)
{
	char *slash;

	*out = (struct filter){ .column = -1, .deny = *text == '!' };
	text += out->deny;
	slash = strchr(text, '/');
	if (!*text)
		return complain_text("a filter lacks its pattern; '!' goes before one, as !test_*");
	if (!slash) {
		out->name = text;
		return 0;
	}
	*slash = '\0';
	out->file = *text ? text : NULL;
	out->prog = slash[1] ? slash + 1 : NULL;
	return 0;
}

static int parse_filter(char *text, struct filter *out)
{
	size_t name = strcspn(text, "<>=!");
	char *end;

	if (!text[name] || !name)
		return parse_pattern(text, out);
	*out = (struct filter){ .column = find_column(text, name) };
	if (out->column < 0)
		return unknown_column(text, name);
	while (out->op < OPERATORS &&
	       strncmp(text + name, operators[out->op], strlen(operators[out->op])))
		out->op++;
	if (out->op == OPERATORS)
		return complain_text("filter '%s' has no operator; use = != < <= > >=", text);
	out->value = text + name + strlen(operators[out->op]);
	if (columns[out->column].type == CELL_TEXT)
		return out->op == EQUAL || out->op == NOT_EQUAL ?
			       0 :
			       complain_text("filter '%s': text is compared with = or !=", text);
	out->number = strtoull(out->value, &end, 10);
	if (*out->value < '0' || *out->value > '9' || *end)
		return complain_text("filter '%s': '%s' is no number", text, out->value);
	return 0;
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || !fnmatch(pattern, text, 0);
}

static bool passes(const struct stat_row *row, const struct filter *filter)
{
	uint64_t have;

	if (filter->column < 0) {
		bool match = filter->name ? matches(filter->name, row->file_name) ||
						    matches(filter->name, row->prog_name) :
					    matches(filter->file, row->file_name) &&
						    matches(filter->prog, row->prog_name);

		return match != filter->deny;
	}
	if (columns[filter->column].type == CELL_TEXT)
		return matches(filter->value, text_cell(row, filter->column)) ==
		       (filter->op == EQUAL);
	have = number_cell(row, filter->column);
	switch (filter->op) {
	case LESS_EQUAL:
		return have <= filter->number;
	case MORE_EQUAL:
		return have >= filter->number;
	case NOT_EQUAL:
		return have != filter->number;
	case EQUAL:
		return have == filter->number;
	case LESS:
		return have < filter->number;
	default:
		return have > filter->number;
	}
}

static void drop_row(struct stat_row *row)
{
	free(row->file_name);
	free(row->prog_name);
	free(row->reason);
}

static void apply_filter(struct stat_table *table, const struct filter *filter)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->cnt; i++) {
		if (passes(&table->rows[i], filter))
			table->rows[kept++] = table->rows[i];
		else
			drop_row(&table->rows[i]);
	}
	table->cnt = kept;
}

int stat_filter(struct stat_table *table, const char *filters)
{
	char *copy = strdup(filters), *rest = copy, *text;
	int err = copy ? 0 : complain_text("out of memory");

	while (!err && (text = strsep(&rest, ","))) {
		struct filter filter;

		err = *text ? parse_filter(text, &filter) : 0;
		if (!err && *text)
			apply_filter(table, &filter);
	}
	free(copy);
	return err;
}

/* --- writing ---------------------------------------------------------------------------------- */

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
				columns[cols->at[c]].type == CELL_TEXT ? -width[c] : width[c],
				cell);
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
			csv_field(out, cell);
		}
		fputc('\n', out);
	}
}

int stat_write_json(FILE *out, json_t *list, int err)
{
	if (!err)
		err = json_dumpf(list, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	json_decref(list);
	fputc('\n', out);
	return err ? complain_text("out of memory") : 0;
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
	return stat_write_json(out, list, err);
}

int stat_write_check(const char *format)
{
	if (!strcmp(format, "table") || !strcmp(format, "csv") || !strcmp(format, "json"))
		return 0;
	return complain_text("-o takes table, csv or json, not '%s'", format);
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
	return 0;
}
