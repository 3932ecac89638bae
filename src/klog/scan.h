/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading what the table of line forms writes: forms, registers, stack slots, frames. */
#ifndef KLOG_SCAN_H
#define KLOG_SCAN_H

#include "klog/forms.h"

/* Text that is read; at moves. */
struct scan {
	const char *at, *end;
};

enum { FORM_MAX_FIELDS = 6 };

/* Value of a conversion. */
struct scan_field {
	int64_t number;	  /* %d */
	const char *text; /* %s, %i, %f: len bytes */
	size_t len;
	uint32_t regs;		  /* %r */
	uint64_t slots;		  /* %k */
	struct loupe_chain chain; /* %c, %l */
};

/**
 * Reads one form. Blanks at the end of a line, and a form's leading newline, may be missing.
 * @param fields  receives the conversions, FORM_MAX_FIELDS have room
 * @return false, and s stays, if the text is not of that form
 */
bool form_scan(struct scan *s, enum form_id id, struct scan_field *fields);

bool scan_is(struct scan *s, const char *word);
/* A number as the log writes it: decimal, or hexadecimal with 0x. */
bool scan_number(struct scan *s, int64_t *out);
/* Moves to the newline or the end. */
void scan_line_end(struct scan *s);

/* Names met while registers are read. They are numbered as they turn up. */
struct scan_names {
	void *ctx;
	/* Index of a map of that name and sizes. */
	uint32_t (*map)(void *ctx, const char *name, size_t len, uint32_t key_size,
			uint32_t value_size);
	/* Number of a BTF type. */
	uint32_t (*type)(void *ctx, const char *name, size_t len);
};

/**
 * Reads a register's value; all of the text must be one.
 * @param frameno  frame that holds it
 */
bool reg_scan(const char *text, size_t len, uint32_t frameno, const struct scan_names *names,
	      struct loupe_reg *reg);

enum { SCAN_MAX_REFS = 64 };

/* What a line says of a frame. */
struct scan_frame {
	uint32_t frameno;
	uint32_t regs; /* those that it names */
	uint64_t slots;
	struct loupe_reg reg[LOUPE_MAX_REG];
	struct loupe_slot slot[LOUPE_MAX_SLOTS];
	uint32_t ref_cnt;
	uint32_t refs[SCAN_MAX_REFS]; /* ids */
	bool callback, async_callback;
	uint32_t foreign; /* parts that are not in this kernel's notation */
};

/* Reads the state of a frame, a %f. Parts that cannot be read have values that are not logged. */
void frame_scan(const char *text, size_t len, const struct scan_names *names,
		struct scan_frame *out);

/* Text is the state of a frame, by its first word. */
bool frame_looks(const char *text, size_t len);

#endif
