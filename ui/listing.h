/* SPDX-License-Identifier: GPL-2.0-only */
/* A program as rows: functions, source lines, instructions. */
#ifndef BPFLOUPE_UI_LISTING_H
#define BPFLOUPE_UI_LISTING_H

#include "bpfloupe/source.h"
#include "screen.h"

enum listing_kind {
	LISTING_FUNC,	/* a function's name */
	LISTING_SOURCE, /* a source line */
	LISTING_INSN,
};

struct listing_row {
	enum listing_kind kind;
	uint32_t insn; /* the row's, or the first one below it */
};

struct listing {
	const struct loupe_insn *insns;
	uint32_t insn_cnt;
	const struct loupe_source *source;
	struct listing_row *rows;
	uint32_t cnt;
	uint32_t *row_of; /* insn slot → its row; second slots have that of the first */
	int digits;	  /* of the largest number */
};

/** Makes the rows. @return 0 or -ENOMEM; empty it with listing_finish() */
int listing_init(struct listing *listing, const struct loupe_insn *insns, uint32_t insn_cnt,
		 const struct loupe_source *source);
void listing_finish(struct listing *listing);

/** An instruction's text: "(07) r2 += 14", without the code if !code. As snprintf. */
int listing_insn_text(const struct listing *listing, uint32_t insn, bool code, char *buf,
		      size_t size);

/** What a conditional jump asks: "if r4 == 0x0", without where it leads. */
void listing_condition(const struct listing *listing, uint32_t insn, char *buf, size_t size);

/** A row as plain text, for search and export. */
void listing_row_text(const struct listing *listing, uint32_t row, char *buf, size_t size);

/**
 * Draws a row of an instruction, source line or function.
 * @param role  of an instruction's text
 * @param code  show the opcode
 * @return the pen behind the text
 */
struct pen listing_draw_row(const struct listing *listing, uint32_t row, struct screen *screen,
			    struct rect at, enum ui_role role, bool code);

#endif
