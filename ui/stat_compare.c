// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe stat -C A.csv B.csv: two runs' tables joined by file and program, as veristat's. */
#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cmd_stat.h"
#include "commands.h"
#include "csv.h"
#include "input.h"

enum { MAX_COLUMNS = 64, MAX_KEYS = 16, CELL_SIZE = 300 };

/* What is shown, sorted or filtered by of a column. */
enum variant { VARIANT_A, VARIANT_B, VARIANT_DIFF, VARIANT_PCT };

static const struct {
	const char *suffix;
	enum variant variant;
} suffixes[] = {
	{ "_a", VARIANT_A },	{ "_base", VARIANT_A },	   { "_b", VARIANT_B },
	{ "_comp", VARIANT_B }, { "_diff", VARIANT_DIFF }, { "_pct", VARIANT_PCT },
};

/* A table as it was written with -o csv. */
struct csv {
	const char *path;
	char *text; /* cut up into cells */
	const char *names[MAX_COLUMNS];
	uint32_t column_cnt;
	const char **cells; /* column_cnt a row */
	uint32_t row_cnt, row_cap;
	int file, prog; /* columns that name a row */
};

struct pair {
	const char *file, *prog;
	int64_t a, b; /* rows, -1: there is none */
};

struct comparison {
	struct csv csv[2];
	struct pair *pairs;
	uint32_t cnt, cap;
};

/* A column of both tables, or one value of it. */
struct key {
	const char *name;
	enum variant variant;
	bool magnitude, down;
};

struct keys {
	struct key at[MAX_KEYS];
	uint32_t cnt;
};

/* --- reading --------------------------------------------------------------------------------- */

/* Takes a cell off *at, which moves behind its comma, or to the line's end. */
static char *take_cell(char **at, bool *last)
{
	char *start = *at, *to = *at, *p = *at;
	bool quoted = *p == '"';

	p += quoted;
	for (; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
		if (quoted && *p == '"') {
			if (p[1] != '"') {
				quoted = false;
				continue;
			}
			p++;
		}
		if (*p != '\r')
			*to++ = *p;
	}
	*last = *p != ',';
	*at = *p ? p + 1 : p;
	*to = '\0';
	return start;
}

static int complain_line(const struct csv *csv, uint32_t line, const char *what)
{
	return complain_text("%s:%u: %s; -C takes what stat -o csv, or veristat -o csv, wrote",
			     csv->path, line, what);
}

static int column_of(const struct csv *csv, const char *name)
{
	for (uint32_t i = 0; i < csv->column_cnt; i++) {
		if (!strcmp(csv->names[i], name))
			return (int)i;
	}
	return -1;
}

static int column_by_len(const struct csv *csv, const char *name, size_t len)
{
	for (uint32_t i = 0; i < csv->column_cnt; i++) {
		if (strlen(csv->names[i]) == len && !memcmp(csv->names[i], name, len))
			return (int)i;
	}
	return -1;
}

static int read_header(struct csv *csv, char **at)
{
	bool last = false;

	while (!last) {
		const char *name = take_cell(at, &last);

		if (csv->column_cnt == MAX_COLUMNS)
			return complain_line(csv, 1, "too many columns");
		csv->names[csv->column_cnt++] = stat_column_name(name, strlen(name));
	}
	csv->file = column_of(csv, "file_name");
	csv->prog = column_of(csv, "prog_name");
	if (csv->file < 0 || csv->prog < 0)
		return complain_line(csv, 1, "no columns file_name and prog_name");
	return 0;
}

static int read_csv(const char *path, struct csv *csv)
{
	struct loupe_error err;
	uint32_t line = 1;
	size_t len;
	char *at;

	*csv = (struct csv){ .path = path };
	if (input_read(path, &csv->text, &len, &err))
		return complain(&err);
	at = realloc(csv->text, len + 1);
	if (!at)
		return complain_text("out of memory");
	csv->text = at;
	at[len] = '\0';
	loupe_text_clean(at, len, true);
	if (read_header(csv, &at))
		return STATUS_USAGE;
	while (*at) {
		const char **row;
		bool last = false;

		line++;
		if (*at == '\n') {
			at++;
			continue;
		}
		if (csv->row_cnt == csv->row_cap) {
			uint32_t cap = csv->row_cap ? csv->row_cap * 2 : 64;
			const char **cells =
				realloc(csv->cells, (size_t)cap * csv->column_cnt * sizeof(*cells));

			if (!cells)
				return complain_text("out of memory");
			csv->cells = cells;
			csv->row_cap = cap;
		}
		row = &csv->cells[(size_t)csv->row_cnt * csv->column_cnt];
		for (uint32_t i = 0; i < csv->column_cnt; i++) {
			if (last)
				return complain_line(csv, line, "not as many cells as columns");
			row[i] = take_cell(&at, &last);
		}
		if (!last)
			return complain_line(csv, line, "more cells than columns");
		csv->row_cnt++;
	}
	return 0;
}

static const char *csv_cell(const struct csv *csv, int64_t row, int column)
{
	return csv->cells[(size_t)row * csv->column_cnt + (size_t)column];
}

/* --- joining --------------------------------------------------------------------------------- */

static int add_pair(struct comparison *c, struct pair pair)
{
	if (c->cnt == c->cap) {
		uint32_t cap = c->cap ? c->cap * 2 : 64;
		struct pair *pairs = realloc(c->pairs, cap * sizeof(*pairs));

		if (!pairs)
			return complain_text("out of memory");
		c->pairs = pairs;
		c->cap = cap;
	}
	c->pairs[c->cnt++] = pair;
	return 0;
}

static int by_name(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int order = strcmp(a->file, b->file);

	if (!order)
		order = strcmp(a->prog, b->prog);
	/* of one name: those of the first table first, in the order of its rows */
	if (!order)
		order = (a->a < 0) - (b->a < 0);
	if (!order)
		order = (a->a > b->a) - (a->a < b->a) + (a->b > b->b) - (a->b < b->b);
	return order;
}

/* Rows with the same names become one, in order. */
static int join(struct comparison *c)
{
	uint32_t kept = 0, of_a, of_b;
	int rc = 0;

	for (int t = 0; t < 2 && !rc; t++) {
		for (int64_t i = 0; i < c->csv[t].row_cnt && !rc; i++)
			rc = add_pair(c, (struct pair){ csv_cell(&c->csv[t], i, c->csv[t].file),
							csv_cell(&c->csv[t], i, c->csv[t].prog),
							t ? -1 : i, t ? i : -1 });
	}
	if (rc || !c->cnt)
		return rc;
	qsort(c->pairs, c->cnt, sizeof(*c->pairs), by_name);
	for (uint32_t i = 0; i < c->cnt; i = of_b) {
		uint32_t end;

		for (of_a = i;
		     of_a < c->cnt && !strcmp(c->pairs[of_a].file, c->pairs[i].file) &&
		     !strcmp(c->pairs[of_a].prog, c->pairs[i].prog) && c->pairs[of_a].a >= 0;
		     of_a++)
			;
		for (of_b = of_a; of_b < c->cnt && !strcmp(c->pairs[of_b].file, c->pairs[i].file) &&
				  !strcmp(c->pairs[of_b].prog, c->pairs[i].prog);
		     of_b++)
			;
		end = of_a - i > of_b - of_a ? of_a - i : of_b - of_a;
		for (uint32_t n = 0; n < end; n++) {
			struct pair pair = c->pairs[i];

			pair.a = n < of_a - i ? c->pairs[i + n].a : -1;
			pair.b = n < of_b - of_a ? c->pairs[of_a + n].b : -1;
			c->pairs[kept++] = pair;
		}
	}
	c->cnt = kept;
	return 0;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool is_key_column(const char *name)
{
	return !strcmp(name, "file_name") || !strcmp(name, "prog_name");
}

static const char *cell_of(const struct comparison *c, const struct pair *pair, const char *name,
			   int which)
{
	int64_t row = which ? pair->b : pair->a;
	int column = column_of(&c->csv[which], name);

	if (!strcmp(name, "file_name"))
		return pair->file;
	if (!strcmp(name, "prog_name"))
		return pair->prog;
	return row < 0 || column < 0 ? NULL : csv_cell(&c->csv[which], row, column);
}

static bool number_of(const char *text, double *out)
{
	char *end;

	if (!text || !*text)
		return false;
	*out = strtod(text, &end);
	return !*end;
}

/* A number of a pair; false if there is none. */
static bool pair_number(const struct comparison *c, const struct pair *pair, const struct key *key,
			double *out)
{
	double a = 0, b = 0;
	bool has_a = number_of(cell_of(c, pair, key->name, 0), &a);
	bool has_b = number_of(cell_of(c, pair, key->name, 1), &b);

	switch (key->variant) {
	case VARIANT_A:
		*out = a;
		return has_a;
	case VARIANT_B:
		*out = b;
		return has_b;
	case VARIANT_DIFF:
		*out = b - a;
		break;
	case VARIANT_PCT:
		*out = a == b ? 0 : a == 0 ? (b < a ? -100 : 100) : (b - a) * 100 / a;
		break;
	}
	if (key->magnitude && *out < 0)
		*out = -*out;
	return has_a && has_b;
}

/* Text of a pair; buf is room for a difference. */
static const char *pair_text(const struct comparison *c, const struct pair *pair,
			     const struct key *key, char *buf, size_t size)
{
	const char *a = cell_of(c, pair, key->name, 0), *b = cell_of(c, pair, key->name, 1);
	struct key percent = *key;
	double diff, pct;

	if (key->variant == VARIANT_A || is_key_column(key->name))
		return a ? a : "N/A";
	if (key->variant == VARIANT_B)
		return b ? b : "N/A";
	if (!a || !b)
		return "N/A";
	percent.variant = VARIANT_PCT;
	if (!pair_number(c, pair, key, &diff) || !pair_number(c, pair, &percent, &pct))
		return strcmp(a, b) ? "MISMATCH" : "MATCH";
	snprintf(buf, size, "%+.0f (%+.2f%%)", diff, pct);
	return buf;
}

/* --- what was asked for ---------------------------------------------------------------------- */

/* "insns_diff", "|insns_pct|"; then < or ^ upwards, > . ! _ downwards. */
static int parse_key(const struct comparison *c, const char *text, size_t len, struct key *out)
{
	const char *name;

	*out = (struct key){ .variant = VARIANT_A };
	if (len > 1 && strchr("<>^.!", text[len - 1])) {
		out->down = !strchr("<^", text[len - 1]);
		len--;
	}
	if (len > 2 && text[0] == '|' && text[len - 1] == '|') {
		out->magnitude = true;
		text++;
		len -= 2;
	}
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i].suffix);

		if (len > n && !memcmp(text + len - n, suffixes[i].suffix, n)) {
			out->variant = suffixes[i].variant;
			len -= n;
			break;
		}
	}
	name = stat_column_name(text, len);
	for (int t = 0; t < 2; t++) {
		int column = name != text ? column_of(&c->csv[t], name)
					  : column_by_len(&c->csv[t], text, len);

		if (column >= 0) {
			out->name = c->csv[t].names[column];
			return 0;
		}
	}
	return complain_text("neither %s nor %s has a column '%.*s'", c->csv[0].path,
			     c->csv[1].path, (int)len, text);
}

static int parse_keys(const struct comparison *c, const char *text, struct keys *out)
{
	out->cnt = 0;
	while (text && *text) {
		size_t len = strcspn(text, ",");

		if (out->cnt == MAX_KEYS)
			return complain_text("more than %d columns", MAX_KEYS);
		if (parse_key(c, text, len, &out->at[out->cnt++]))
			return STATUS_USAGE;
		text += len;
		text += *text == ',';
	}
	return 0;
}

static int default_keys(const struct comparison *c, struct keys *out)
{
	static const char *const names[] = { "verdict", "total_insns", "total_states",
					     "peak_states" };
	int rc = parse_keys(c, "file_name,prog_name", out);

	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		if (column_of(&c->csv[0], names[i]) >= 0 && column_of(&c->csv[1], names[i]) >= 0)
			rc = parse_key(c, names[i], strlen(names[i]), &out->at[out->cnt++]);
	}
	return rc;
}

static int compare_pairs(const struct comparison *c, const struct pair *x, const struct pair *y,
			 const struct keys *by)
{
	char x_text[CELL_SIZE], y_text[CELL_SIZE];

	for (uint32_t i = 0; i < by->cnt; i++) {
		const struct key *key = &by->at[i];
		double a, b;
		bool has_a = pair_number(c, x, key, &a), has_b = pair_number(c, y, key, &b);
		int order;

		if (has_a && has_b)
			order = (a > b) - (a < b);
		else if (has_a != has_b)
			return has_a ? -1 : 1; /* what has no number goes last */
		else
			order = strcmp(pair_text(c, x, key, x_text, sizeof(x_text)),
				       pair_text(c, y, key, y_text, sizeof(y_text)));
		if (order)
			return key->down ? -order : order;
	}
	return 0;
}

static void sort_pairs(struct comparison *c, const struct keys *by)
{
	for (uint32_t i = 1; by->cnt && i < c->cnt; i++) {
		struct pair pair = c->pairs[i];
		uint32_t at = i;

		for (; at && compare_pairs(c, &c->pairs[at - 1], &pair, by) > 0; at--)
			c->pairs[at] = c->pairs[at - 1];
		c->pairs[at] = pair;
	}
}

static bool by_operator(double have, const char *op, double want)
{
	switch (op[0]) {
	case '<':
		return op[1] == '=' ? have <= want : have < want;
	case '>':
		return op[1] == '=' ? have >= want : have > want;
	case '!':
		return have != want;
	default:
		return have == want;
	}
}

/* One filter; text is cut up. */
static int filter_pairs(struct comparison *c, char *text)
{
	size_t name = strcspn(text, "<>=!");
	bool deny = *text == '!', by_value = text[name] && name;
	char op[3] = { 0 }, buf[CELL_SIZE], *value = text, *slash = NULL;
	struct key key = { 0 };
	uint32_t kept = 0;
	double want = 0;
	bool number = false;

	if (by_value) {
		if (parse_key(c, text, name, &key))
			return STATUS_USAGE;
		value = text + name;
		op[0] = *value++;
		if (*value == '=')
			op[1] = *value++;
		number = number_of(value, &want);
		if (!number && strchr("<>", op[0]))
			return complain_text("filter '%s': '%s' is no number", text, value);
	} else {
		value += deny;
		slash = strchr(value, '/');
		if (slash)
			*slash++ = '\0';
	}
	for (uint32_t i = 0; i < c->cnt; i++) {
		const struct pair *pair = &c->pairs[i];
		double have;
		bool keep;

		if (by_value && number)
			keep = pair_number(c, pair, &key, &have) && by_operator(have, op, want);
		else if (by_value)
			keep = !fnmatch(value, pair_text(c, pair, &key, buf, sizeof(buf)), 0) ==
			       (op[0] != '!');
		else if (slash)
			keep = ((!*value || !fnmatch(value, pair->file, 0)) &&
				(!*slash || !fnmatch(slash, pair->prog, 0))) != deny;
		else
			keep = (!fnmatch(value, pair->file, 0) || !fnmatch(value, pair->prog, 0)) !=
			       deny;
		if (keep)
			c->pairs[kept++] = *pair;
	}
	c->cnt = kept;
	return 0;
}

static int apply_filters(struct comparison *c, const char *filters)
{
	char *copy = strdup(filters), *rest = copy, *text;
	int rc = copy ? 0 : complain_text("out of memory");

	while (!rc && (text = strsep(&rest, ","))) {
		if (*text)
			rc = filter_pairs(c, text);
	}
	free(copy);
	return rc;
}

/* --- writing --------------------------------------------------------------------------------- */

/* The columns as they are written: a key's, or the three of a value. */
static uint32_t spread(const struct keys *keys, struct key out[3 * MAX_KEYS])
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < keys->cnt; i++) {
		struct key key = keys->at[i];

		for (int v = VARIANT_A; v <= VARIANT_DIFF; v++) {
			key.variant = (enum variant)v;
			out[cnt++] = key;
			if (is_key_column(key.name))
				break;
		}
	}
	return cnt;
}

static void header(const struct key *key, bool csv, char *buf, size_t size)
{
	static const char *const csv_words[] = { "_base", "_comp", "_diff" };
	static const char *const words[] = { " (A)", " (B)", " (DIFF)" };
	const char *name = csv ? key->name : stat_column_title(key->name);

	snprintf(buf, size, "%s%s", name,
		 is_key_column(key->name) ? ""
		 : csv			  ? csv_words[key->variant]
					  : words[key->variant]);
}

static bool is_text(const struct comparison *c, const struct key *key)
{
	for (uint32_t i = 0; i < c->cnt; i++) {
		struct key of_a = { .name = key->name, .variant = VARIANT_A };
		struct key of_b = { .name = key->name, .variant = VARIANT_B };
		double n;

		if (pair_number(c, &c->pairs[i], &of_a, &n) ||
		    pair_number(c, &c->pairs[i], &of_b, &n))
			return false;
	}
	return true;
}

static void write_table(FILE *out, const struct comparison *c, const struct key *keys, uint32_t cnt)
{
	int width[3 * MAX_KEYS];
	char buf[CELL_SIZE];

	for (uint32_t k = 0; k < cnt; k++) {
		header(&keys[k], false, buf, sizeof(buf));
		width[k] = (int)strlen(buf);
		for (uint32_t i = 0; i < c->cnt; i++) {
			int len =
				(int)strlen(pair_text(c, &c->pairs[i], &keys[k], buf, sizeof(buf)));

			width[k] = len > width[k] ? len : width[k];
		}
	}
	for (uint32_t k = 0; k < cnt; k++) {
		header(&keys[k], false, buf, sizeof(buf));
		fprintf(out, "%s%*s", k ? "  " : "", is_text(c, &keys[k]) ? -width[k] : width[k],
			buf);
	}
	fputc('\n', out);
	for (uint32_t k = 0; k < cnt; k++) {
		fputs(k ? "  " : "", out);
		for (int i = 0; i < width[k]; i++)
			fputc('-', out);
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < c->cnt; i++) {
		for (uint32_t k = 0; k < cnt; k++)
			fprintf(out, "%s%*s", k ? "  " : "",
				is_text(c, &keys[k]) ? -width[k] : width[k],
				pair_text(c, &c->pairs[i], &keys[k], buf, sizeof(buf)));
		fputc('\n', out);
	}
}

static void write_csv(FILE *out, const struct comparison *c, const struct key *keys, uint32_t cnt)
{
	char buf[CELL_SIZE];

	for (uint32_t k = 0; k < cnt; k++) {
		header(&keys[k], true, buf, sizeof(buf));
		fprintf(out, "%s%s", k ? "," : "", buf);
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < c->cnt; i++) {
		for (uint32_t k = 0; k < cnt; k++) {
			fputs(k ? "," : "", out);
			csv_field(out, pair_text(c, &c->pairs[i], &keys[k], buf, sizeof(buf)));
		}
		fputc('\n', out);
	}
}

/* A number as JSON writes it; NULL of what it has no notation for. */
static json_t *json_number(double number)
{
	if (fabs(number) < 9007199254740992.0 && number == floor(number))
		return json_integer((json_int_t)number);
	return json_real(number);
}

/* A value: null if that table has none, a number if it is one. A difference comes with its
 * share. */
static void add_json(json_t *object, const struct comparison *c, const struct pair *pair,
		     const struct key *key)
{
	struct key percent = *key;
	char name[CELL_SIZE], buf[CELL_SIZE];
	const char *text = pair_text(c, pair, key, buf, sizeof(buf));
	json_t *value = NULL;
	double number;

	header(key, true, name, sizeof(name));
	if (!is_key_column(key->name) && !strcmp(text, "N/A"))
		value = json_null();
	else if (!is_key_column(key->name) && pair_number(c, pair, key, &number))
		value = json_number(number);
	json_object_set_new_nocheck(object, name, value ? value : json_string_nocheck(text));
	percent.variant = VARIANT_PCT;
	if (key->variant != VARIANT_DIFF || is_text(c, key))
		return;
	snprintf(name, sizeof(name), "%s_pct", key->name);
	value = pair_number(c, pair, &percent, &number) ? json_number(number) : NULL;
	json_object_set_new_nocheck(object, name, value ? value : json_null());
}

static int write_json(FILE *out, const struct comparison *c, const struct key *keys, uint32_t cnt)
{
	json_t *list = json_array();
	int err = list ? 0 : -1;

	for (uint32_t i = 0; !err && i < c->cnt; i++) {
		json_t *object = json_object();

		for (uint32_t k = 0; object && k < cnt; k++)
			add_json(object, c, &c->pairs[i], &keys[k]);
		err = json_array_append_new(list, object);
	}
	return stat_write_json(out, list, err);
}

/* A program that is judged otherwise, or is in one table only. */
static bool differs(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->cnt; i++) {
		const char *a = cell_of(c, &c->pairs[i], "verdict", 0);
		const char *b = cell_of(c, &c->pairs[i], "verdict", 1);

		if (c->pairs[i].a < 0 || c->pairs[i].b < 0 || (a && b && strcmp(a, b) != 0))
			return true;
	}
	return false;
}

static int run(const struct args *args, struct comparison *c, const char *format)
{
	struct key spread_keys[3 * MAX_KEYS];
	struct keys keys, by;
	uint32_t cnt;

	if (read_csv(args->files[0], &c->csv[0]) || read_csv(args->files[1], &c->csv[1]) || join(c))
		return STATUS_USAGE;
	if (args->columns ? parse_keys(c, args->columns, &keys) : default_keys(c, &keys))
		return STATUS_USAGE;
	if (parse_keys(c, args->sort, &by) || (args->filter && apply_filters(c, args->filter)))
		return STATUS_USAGE;
	sort_pairs(c, &by);
	cnt = spread(&keys, spread_keys);
	if (!strcmp(format, "json") && write_json(stdout, c, spread_keys, cnt))
		return STATUS_USAGE;
	if (!strcmp(format, "csv"))
		write_csv(stdout, c, spread_keys, cnt);
	else if (!strcmp(format, "table"))
		write_table(stdout, c, spread_keys, cnt);
	return differs(c) ? STATUS_REJECTED : STATUS_OK;
}

int stat_compare(const struct args *args)
{
	const char *format = args->output ? args->output : "table";
	struct comparison c = { 0 };
	int status;

	if (args->file_cnt != 2)
		return complain_text("stat -C takes two tables, as bpfloupe stat -C A.csv B.csv");
	if (stat_write_check(format))
		return STATUS_USAGE;
	status = run(args, &c, format);
	for (int t = 0; t < 2; t++) {
		free(c.csv[t].cells);
		free(c.csv[t].text);
	}
	free(c.pairs);
	return status;
}
