/* SPDX-License-Identifier: GPL-2.0-only */
/* A generated program as statements that nest; text is made from them. */
#ifndef LOUPE_GENERATE_TREE_H
#define LOUPE_GENERATE_TREE_H

#include "bpfloupe/generate.h"

struct gen_stmt {
	uint32_t size; /* statements of it, itself and all nested ones; they follow it directly */
	char *open;    /* lines in front of the nested statements, each with its newline */
	char *close;   /* lines behind them, may be NULL */
};

struct gen_tree {
	struct gen_stmt *stmts;
	uint32_t cnt, cap;
	char *head; /* directives */
};

/* Adds a statement; its size is fixed by gen_close(). Returns its index, or -1 without memory. */
int gen_open(struct gen_tree *tree, const char *fmt, ...) LOUPE_PRINTF(2, 3);
/* Ends the nesting of statement at. */
void gen_close(struct gen_tree *tree, int at, const char *fmt, ...) LOUPE_PRINTF(3, 4);
/* A statement without nested ones. */
int gen_line(struct gen_tree *tree, const char *fmt, ...) LOUPE_PRINTF(2, 3);

void gen_tree_finish(struct gen_tree *tree);
/* The text of the whole program; NULL without memory. */
char *gen_tree_text(const struct gen_tree *tree);
/* A copy without statements [at, at + cnt), or with statement at replaced by what it holds. */
int gen_tree_without(const struct gen_tree *tree, uint32_t at, uint32_t cnt, struct gen_tree *out);
int gen_tree_unwrap(const struct gen_tree *tree, uint32_t at, struct gen_tree *out);

/* program.c: fills the tree. */
int gen_program(struct gen_tree *tree, const struct loupe_generate_opts *opts);

#endif
