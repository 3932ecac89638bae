/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lessons: a program and a handful of stops in its exploration, with what is to be seen there.
 * Every claim of the words has a fact beside it that is checked against the trace. The files'
 * format is described in data/lessons/README.md.
 */
#ifndef BPFLOUPE_UI_LESSON_H
#define BPFLOUPE_UI_LESSON_H

#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"
#include "keys.h"

/* A piece of the words; those with a fact are claims. */
struct lesson_span {
	char *words;
	char *fact; /* NULL: says nothing that could be wrong */
};

struct lesson_stop {
	uint32_t step;
	enum view_id view;
	char *keys; /* typed on arrival, "" if none */
	struct lesson_span *spans;
	uint32_t span_cnt;
	uint32_t line; /* of the file, from 1 */
};

struct lesson {
	uint32_t number;
	char *path;    /* of the lesson's file */
	char *title;   /* a few words */
	char *about;   /* one sentence */
	char *program; /* path of the program's file */
	struct lesson_stop *stops;
	uint32_t stop_cnt;
};

/**
 * The folder of the lessons: that of $BPFLOUPE_LESSONS, of the build tree or of the installation.
 * @return 0, or -ENOENT if there is none
 */
int lesson_folder(char *buf, size_t size);

/**
 * Reads a lesson's file.
 * @param err  receives what is wrong with it, and where
 * @return 0, -EINVAL or another -errno; empty it with lesson_finish() in any case
 */
int lesson_read(const char *path, struct lesson *out, struct loupe_error *err);
void lesson_finish(struct lesson *lesson);

/** Reads lesson number n of the folder. As lesson_read(); -ENOENT if there is none. */
int lesson_open(uint32_t n, struct lesson *out, struct loupe_error *err);

/** Number of lessons in the folder, which are 1 to this. */
uint32_t lesson_cnt(void);

/* ---- facts -------------------------------------------------------------------------------- */

/* What facts are checked against. */
struct lesson_facts {
	const struct loupe_trace *trace;
	const struct loupe_image *image;
	struct loupe_names *names;
	struct loupe_cursor *now, *then;
};

/** Makes the cursors. @return 0 or -ENOMEM; empty it with lesson_facts_finish() */
int lesson_facts_init(struct lesson_facts *facts, const struct loupe_trace *trace,
		      const struct loupe_image *image, struct loupe_names *names);
void lesson_facts_finish(struct lesson_facts *facts);

/**
 * True if all facts of a claim hold at a step.
 * @param fact  facts separated by " ; "
 * @param why   receives what is so instead, one line; "" if they hold
 */
bool lesson_holds(const struct lesson_facts *facts, uint32_t step, const char *fact, char *why,
		  size_t size);

#endif
