/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading one line of assembler text, word by word, with errors that name the column. */
#ifndef LOUPE_INSN_ASM_SCAN_H
#define LOUPE_INSN_ASM_SCAN_H

#include "bpfloupe/common.h"

struct asm_scan {
	const char *path;
	uint32_t lineno;  /* 1-based, 0: no line in errors */
	const char *line; /* whole line, NUL-terminated, no newline */
	const char *p;	  /* what is read next */
	struct loupe_error *err;
	uint32_t column; /* of line[0] in the file's line, from 0: more than 0 within a quoted text
			  */
};

/* A piece of the line. */
struct asm_word {
	const char *p;
	size_t len;
};

/** Fills the error with the position of at (within the line) and returns -EINVAL. */
int asm_fail(const struct asm_scan *scan, const char *at, const char *fmt, ...) LOUPE_PRINTF(3, 4);

/** Skips white space. */
void asm_space(struct asm_scan *scan);

/** Whether only white space or a comment is left. */
bool asm_at_end(struct asm_scan *scan);

/** Nothing may be left: 0 or -EINVAL with an error. */
int asm_expect_end(struct asm_scan *scan);

/**
 * Skips white space and takes token if it comes next. A token that ends in a letter or digit is
 * only taken as a whole word.
 */
bool asm_take(struct asm_scan *scan, const char *token);

/** As asm_take(), but its absence is an error. Returns 0 or -EINVAL. */
int asm_expect(struct asm_scan *scan, const char *token);

/** Takes a word of letters, digits, '_', '.', '$'. False when none comes next. */
bool asm_take_word(struct asm_scan *scan, struct asm_word *word);

/** Whether word equals text. */
bool asm_word_is(const struct asm_word *word, const char *text);

/** Copies word, NUL-terminated, into buf. False if it does not fit. */
bool asm_word_copy(const struct asm_word *word, char *buf, size_t size);

/** Whether a number comes next (digits, perhaps behind a sign). */
bool asm_at_number(struct asm_scan *scan);

/**
 * Takes a decimal or 0x number. Negative numbers down to min, others up to max; min may be 0.
 * @param what  the thing's name in errors
 * @return 0 with the two's complement value, or -EINVAL
 */
int asm_number(struct asm_scan *scan, const char *what, int64_t min, uint64_t max, uint64_t *value);

/** A 32-bit immediate, written signed or unsigned. */
int asm_imm32(struct asm_scan *scan, const char *what, int32_t *value);

/** An unsigned 32-bit number. */
int asm_u32(struct asm_scan *scan, const char *what, uint32_t *value);

/**
 * Takes a text in double quotes with the escapes \" \\ \n \t \xHH.
 * @param text  receives a new NUL-terminated string; release with free()
 * @return 0, -EINVAL or -ENOMEM
 */
int asm_string(struct asm_scan *scan, const char *what, char **text);

/**
 * Takes pairs of hexadecimal digits until the end of the word and appends them to *data.
 * @return 0, -EINVAL or -ENOMEM
 */
int asm_hex(struct asm_scan *scan, uint8_t **data, uint32_t *len);

#endif
