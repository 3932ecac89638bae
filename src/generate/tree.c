// SPDX-License-Identifier: GPL-2.0-only
/* Statements of generated programs, their text, and smaller programs made of them. */
#include "generate/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/asm.h"

struct loupe_generated {
	struct gen_tree tree;
	uint32_t cpus;
	char *text;
	struct loupe_program_list list; /* one program */
};

static char *format(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

static int add(struct gen_tree *tree, char *open)
{
	if (!open)
		return -1;
	if (tree->cnt == tree->cap) {
		uint32_t cap = tree->cap ? tree->cap * 2 : 64;
		struct gen_stmt *stmts = realloc(tree->stmts, cap * sizeof(*stmts));

		if (!stmts) {
			free(open);
			return -1;
		}
		tree->stmts = stmts;
		tree->cap = cap;
	}
	tree->stmts[tree->cnt] = (struct gen_stmt){ .size = 1, .open = open };
	return (int)tree->cnt++;
}

int gen_open(struct gen_tree *tree, const char *fmt, ...)
{
	va_list args;
	int at;

	va_start(args, fmt);
	at = add(tree, format(fmt, args));
	va_end(args);
	return at;
}

int gen_line(struct gen_tree *tree, const char *fmt, ...)
{
	va_list args;
	int at;

	va_start(args, fmt);
	at = add(tree, format(fmt, args));
	va_end(args);
	return at;
}

void gen_close(struct gen_tree *tree, int at, const char *fmt, ...)
{
	va_list args;

	if (at < 0)
		return;
	va_start(args, fmt);
	tree->stmts[at].close = format(fmt, args);
	va_end(args);
	tree->stmts[at].size = tree->cnt - (uint32_t)at;
}

void gen_tree_finish(struct gen_tree *tree)
{
	for (uint32_t i = 0; i < tree->cnt; i++) {
		free(tree->stmts[i].open);
		free(tree->stmts[i].close);
	}
	free(tree->stmts);
	free(tree->head);
	*tree = (struct gen_tree){ 0 };
}

static void write_range(const struct gen_tree *tree, uint32_t from, uint32_t to, FILE *out)
{
	while (from < to) {
		const struct gen_stmt *stmt = &tree->stmts[from];

		fputs(stmt->open, out);
		write_range(tree, from + 1, from + stmt->size, out);
		if (stmt->close)
			fputs(stmt->close, out);
		from += stmt->size;
	}
}

char *gen_tree_text(const struct gen_tree *tree)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs(tree->head, out);
	write_range(tree, 0, tree->cnt, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static int copy_stmt(struct gen_tree *out, const struct gen_stmt *stmt, uint32_t size)
{
	int at = add(out, strdup(stmt->open));

	if (at < 0)
		return -ENOMEM;
	out->stmts[at].size = size;
	if (!stmt->close)
		return 0;
	out->stmts[at].close = strdup(stmt->close);
	return out->stmts[at].close ? 0 : -ENOMEM;
}

/* All but [at, at + cnt); statements around shrink by as much. */
int gen_tree_without(const struct gen_tree *tree, uint32_t at, uint32_t cnt, struct gen_tree *out)
{
	*out = (struct gen_tree){ .head = strdup(tree->head) };
	for (uint32_t i = 0; i < tree->cnt; i++) {
		uint32_t size = tree->stmts[i].size;

		if (i >= at && i < at + cnt)
			continue;
		if (i < at && i + size > at)
			size -= cnt;
		if (!out->head || copy_stmt(out, &tree->stmts[i], size)) {
			gen_tree_finish(out);
			return -ENOMEM;
		}
	}
	return 0;
}

int gen_tree_unwrap(const struct gen_tree *tree, uint32_t at, struct gen_tree *out)
{
	return gen_tree_without(tree, at, 1, out);
}

/* --- programs ------------------------------------------------------------------------------- */

/* Takes the tree over, also on failure. */
static int assemble(struct gen_tree *tree, uint32_t cpus, struct loupe_generated **out)
{
	struct loupe_generated *gen = calloc(1, sizeof(*gen));
	int err = -ENOMEM;

	*out = NULL;
	if (!gen) {
		gen_tree_finish(tree);
		return -ENOMEM;
	}
	gen->tree = *tree;
	gen->cpus = cpus;
	gen->text = gen_tree_text(&gen->tree);
	if (gen->text)
		err = loupe_asm_load("generated", gen->text, strlen(gen->text), &gen->list, NULL);
	if (err) {
		loupe_generated_destroy(gen);
		return err;
	}
	gen->list.progs[0].image->host.cpus = cpus;
	*out = gen;
	return 0;
}

int loupe_generate(const struct loupe_generate_opts *opts, struct loupe_generated **out)
{
	struct gen_tree tree = { 0 };

	if (gen_program(&tree, opts)) {
		gen_tree_finish(&tree);
		return -ENOMEM;
	}
	return assemble(&tree, opts->cpus, out);
}

const char *loupe_generated_text(const struct loupe_generated *gen)
{
	return gen->text;
}

const struct loupe_image *loupe_generated_image(const struct loupe_generated *gen)
{
	return gen->list.progs[0].image;
}

void loupe_generated_destroy(struct loupe_generated *gen)
{
	if (!gen)
		return;
	loupe_program_list_finish(&gen->list);
	gen_tree_finish(&gen->tree);
	free(gen->text);
	free(gen);
}

/* --- shrinking ------------------------------------------------------------------------------ */

struct shrink {
	int (*keep)(void *ctx, const struct loupe_generated *gen);
	void *ctx;
	uint32_t left; /* programs that may still be tried */
};

/* Tries a smaller tree. 1: it has the property and is *gen now, 0: not, -ENOMEM. */
static int try_tree(struct shrink *shrink, struct loupe_generated **gen, struct gen_tree *tree)
{
	struct loupe_generated *smaller;
	int err = assemble(tree, (*gen)->cpus, &smaller);

	if (err)
		return err == -ENOMEM ? err : 0; /* does not assemble: a label is gone */
	shrink->left--;
	if (!shrink->keep(shrink->ctx, smaller)) {
		loupe_generated_destroy(smaller);
		return 0;
	}
	loupe_generated_destroy(*gen);
	*gen = smaller;
	return 1;
}

/* One round over all statements, larger ones first seen. *changed: something went. */
static int shrink_round(struct shrink *shrink, struct loupe_generated **gen, bool *changed)
{
	for (uint32_t i = 0; i < (*gen)->tree.cnt && shrink->left;) {
		const struct gen_tree *tree = &(*gen)->tree;
		struct gen_tree smaller;
		int done;

		if (gen_tree_without(tree, i, tree->stmts[i].size, &smaller))
			return -ENOMEM;
		done = try_tree(shrink, gen, &smaller);
		if (!done && (*gen)->tree.stmts[i].size > 1) {
			if (gen_tree_unwrap(&(*gen)->tree, i, &smaller))
				return -ENOMEM;
			done = try_tree(shrink, gen, &smaller);
		}
		if (done < 0)
			return done;
		*changed |= done;
		i += !done;
	}
	return 0;
}

int loupe_generated_shrink(struct loupe_generated **gen,
			   int (*keep)(void *ctx, const struct loupe_generated *gen), void *ctx,
			   uint32_t steps)
{
	struct shrink shrink = { keep, ctx, steps ? steps : UINT32_MAX };
	bool changed = true;
	int err = 0;

	while (!err && changed && shrink.left) {
		changed = false;
		err = shrink_round(&shrink, gen, &changed);
	}
	return err;
}
