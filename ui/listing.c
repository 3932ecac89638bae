// SPDX-License-Identifier: GPL-2.0-only
/* Rows of a program. */
#include "listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_row(struct listing *listing, enum listing_kind kind, uint32_t insn)
{
	listing->rows[listing->cnt++] = (struct listing_row){ kind, insn };
}

static void add_insn_rows(struct listing *listing, uint32_t insn, uint64_t *line_shown)
{
	struct loupe_source_line line;

	if (listing->source && loupe_source_func(listing->source, insn)) {
		add_row(listing, LISTING_FUNC, insn);
		*line_shown = 0;
	}
	if (listing->source && loupe_source_line_of(listing->source, insn, &line) && *line.text &&
	    line.line != *line_shown) {
		add_row(listing, LISTING_SOURCE, insn);
		*line_shown = line.line;
	}
	listing->row_of[insn] = listing->cnt;
	add_row(listing, LISTING_INSN, insn);
}

int listing_init(struct listing *listing, const struct loupe_insn *insns, uint32_t insn_cnt,
		 const struct loupe_source *source)
{
	uint64_t line_shown = 0;

	*listing = (struct listing){ .insns = insns, .insn_cnt = insn_cnt, .source = source };
	listing->rows = calloc((size_t)insn_cnt * 3 + 1, sizeof(*listing->rows));
	listing->row_of = calloc((size_t)insn_cnt + 1, sizeof(*listing->row_of));
	if (!listing->rows || !listing->row_of) {
		listing_finish(listing);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < insn_cnt;) {
		uint32_t slots = loupe_insn_slots(&insns[i]);

		add_insn_rows(listing, i, &line_shown);
		for (uint32_t n = 1; n < slots && i + n < insn_cnt; n++)
			listing->row_of[i + n] = listing->row_of[i];
		i += slots;
	}
	listing->digits = snprintf(NULL, 0, "%u", insn_cnt ? insn_cnt - 1 : 0);
	return 0;
}

void listing_finish(struct listing *listing)
{
	free(listing->rows);
	free(listing->row_of);
	*listing = (struct listing){ 0 };
}

int listing_insn_text(const struct listing *listing, uint32_t insn, bool code, char *buf,
		      size_t size)
{
	struct loupe_insn_print_opts opts = { .no_code = !code };
	struct loupe_insn pair[2];

	if (listing->source)
		opts = loupe_source_print_opts(listing->source, !code);
	if (insn >= listing->insn_cnt) {
		buf[0] = '\0';
		return 0;
	}
	/* in a log's program; no kernel takes code 0 */
	if (listing->source && !listing->insns[insn].code &&
	    loupe_source_is_logged(listing->source))
		return snprintf(buf, size, "(not in the log)");
	pair[0] = listing->insns[insn];
	/* a long constant whose second half is missing has a zero there */
	pair[1] =
		insn + 1 < listing->insn_cnt ? listing->insns[insn + 1] : (struct loupe_insn){ 0 };
	return loupe_insn_print(buf, size, pair, &opts);
}

void listing_condition(const struct listing *listing, uint32_t insn, char *buf, size_t size)
{
	char *end;

	listing_insn_text(listing, insn, false, buf, size);
	end = strstr(buf, " goto pc");
	if (end)
		*end = '\0';
}

void listing_row_text(const struct listing *listing, uint32_t row, char *buf, size_t size)
{
	const struct listing_row *r = &listing->rows[row];
	struct loupe_source_line line;
	char text[512];

	switch (r->kind) {
	case LISTING_FUNC:
		snprintf(buf, size, "%s:", loupe_source_func(listing->source, r->insn));
		break;
	case LISTING_SOURCE:
		loupe_source_line_of(listing->source, r->insn, &line);
		snprintf(buf, size, "; %s @ %s:%u", line.text, line.file, line.line);
		break;
	case LISTING_INSN:
		listing_insn_text(listing, r->insn, true, text, sizeof(text));
		snprintf(buf, size, "%*u: %s", listing->digits, r->insn, text);
		break;
	}
}

struct pen listing_draw_row(const struct listing *listing, uint32_t row, struct screen *screen,
			    struct rect at, enum ui_role role, bool code)
{
	const struct listing_row *r = &listing->rows[row];
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	struct loupe_source_line line;
	char text[512], number[24];
	int columns;

	switch (r->kind) {
	case LISTING_FUNC:
		pen_printf(&pen, UI_HEADING, "%s:", loupe_source_func(listing->source, r->insn));
		break;
	case LISTING_SOURCE:
		loupe_source_line_of(listing->source, r->insn, &line);
		snprintf(number, sizeof(number), ":%u", line.line);
		columns = screen_columns(number);
		pen.end -= columns + 1;
		pen_text(&pen, UI_COMMENT, "; ");
		pen_text(&pen, UI_COMMENT, line.text);
		pen.end += columns + 1;
		pen_right(&pen, UI_DIM, number);
		break;
	case LISTING_INSN:
		listing_insn_text(listing, r->insn, code, text, sizeof(text));
		pen_printf(&pen, UI_NUMBER, "%*u: ", listing->digits, r->insn);
		if (code && text[0] == '(' && text[3] == ')') {
			pen_printf(&pen, UI_DIM, "%.5s", text);
			pen_text(&pen, role, text + (strlen(text) > 5 ? 5 : 0));
		} else {
			pen_text(&pen, role, text);
		}
		break;
	}
	return pen;
}
