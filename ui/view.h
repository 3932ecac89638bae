/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: one way to look at a subject. Each is a file that defines one struct view_ops, named in
 * views.def; nothing else knows it.
 */
#ifndef BPFLOUPE_UI_VIEW_H
#define BPFLOUPE_UI_VIEW_H

#include "keys.h"
#include "screen.h"
#include "subject.h"

#include <stdio.h>

struct tui;
struct view;

/* What the user is looking at; views hand it to each other. */
struct place {
	uint32_t step; /* LOUPE_NO_STEP: no particular one */
	int32_t insn;  /* slot in the program as loaded, -1: none */
	uint64_t demand; /* row + 1 of the step's demand for precision that is meant, 0: none */
};

enum view_needs {
	VIEW_NEEDS_NOTHING, /* not even a subject */
	VIEW_NEEDS_CODE,    /* a program or filter, worked on */
	VIEW_NEEDS_TRACE,   /* a program and its trace */
	VIEW_NEEDS_FILTER,  /* a filter, worked on */
};

/* A group of keys for the status line. */
struct view_hint {
	enum request request, other; /* other: REQ_NONE if there is only one */
	const char *what;
};

struct view_ops {
	const char *name;  /* as :view takes it */
	const char *title; /* on its tab; NULL: it has none */
	const char *about; /* what it shows, one line */
	enum view_needs needs;
	size_t size; /* of its struct, whose first member is struct view */
	const struct view_hint *hints; /* most important first; ends with REQ_NONE */

	/* All may be NULL but draw. */
	/* Prepares it; what needs names is there. @return 0 or -errno */
	int (*open)(struct view *view);
	void (*close)(struct view *view);
	void (*draw)(struct view *view, struct screen *screen, struct rect area);
	/* Obeys a request; false if it is none of its own, and the general meaning holds. */
	bool (*request)(struct view *view, enum request request);
	/* Goes to the next place after (before) the present one that contains text. */
	bool (*search)(struct view *view, const char *text, bool forward);
	/* Shows a place. */
	void (*select)(struct view *view, struct place place);
	/* Explains its signs, at the left of the status line. */
	void (*legend)(struct view *view, struct pen *pen);
	/* Writes everything that it has to show as text. @return 0 or -errno */
	int (*export)(struct view *view, FILE *out);
	/* Obeys a command of its own, ":level 2"; false if it is none. */
	bool (*command)(struct view *view, const char *name, const char *arg);
	/* False if a request of its own means nothing for the present subject; NULL: all do. */
	bool (*offers)(const struct view *view, enum request request);
	/* Explains its terms for the help screen, one line each, ends with NULL. */
	const char *const *terms;
};

struct view {
	const struct view_ops *ops;
	struct tui *tui;
	struct subject *subject; /* NULL if it needs nothing */
};

/** A view's operations. */
const struct view_ops *view_ops(enum view_id id);

/** The view of that name, VIEW_CNT if there is none. */
enum view_id view_by_name(const char *name);

/** Why a view cannot show a subject; NULL if it can. */
const char *view_refuses(enum view_id id, const struct subject *subject);

/* ---- what views ask of the explorer -------------------------------------------------------- */

/** Shows a message at the bottom until the next key. */
void tui_say(struct tui *tui, enum ui_role role, const char *fmt, ...) LOUPE_PRINTF(3, 4);

/** Opens the command line with text in it. */
void tui_ask(struct tui *tui, const char *text);

/** Switches to a view of the current subject. */
void tui_show(struct tui *tui, enum view_id id);

/** Goes to a place, in the current view. */
void tui_go(struct tui *tui, struct place place);

/** Notes the place that a view shows now, for the other views. */
void tui_set_place(struct tui *tui, struct place place);
struct place tui_place(const struct tui *tui);

/** Notes the register or slot that a view shows now; false if none was noted for this subject. */
void tui_set_loc(struct tui *tui, struct loupe_loc loc);
bool tui_loc(const struct tui *tui, struct loupe_loc *loc);

/** Number of subjects, one of them, the current one's number. */
uint32_t tui_subject_cnt(const struct tui *tui);
struct subject *tui_subject(struct tui *tui, uint32_t n);
uint32_t tui_current(const struct tui *tui);

/** Opens a subject in the view that suits it. */
void tui_open(struct tui *tui, uint32_t n);

/** Opens a subject that is READY in a view at a place. */
void tui_open_at(struct tui *tui, uint32_t n, enum view_id id, struct place place);

/** Starts (again) what makes a subject ready. */
void tui_start(struct tui *tui, struct subject *subject);

/** The queue for a view's own long work, and the knobs that programs are verified with. */
struct jobs *tui_jobs(struct tui *tui);
const struct loupe_verify_opts *tui_verify_opts(const struct tui *tui);

/** What is searched for, "" if nothing. */
const char *tui_pattern(const struct tui *tui);

/** The view from which help was asked for. */
enum view_id tui_view_before(const struct tui *tui);

/** True if only ASCII may be shown. */
bool tui_ascii(const struct tui *tui);

/** Shows how far a job is, in the middle of area. */
void tui_draw_progress(struct screen *screen, struct rect area, const struct job *job);

#endif
