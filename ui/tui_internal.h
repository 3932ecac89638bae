/* SPDX-License-Identifier: GPL-2.0-only */
/* The explorer's context: shared by tui_*.c only. Views use view.h. */
#ifndef BPFLOUPE_UI_TUI_INTERNAL_H
#define BPFLOUPE_UI_TUI_INTERNAL_H

#include "beside.h"
#include "compare_input.h"
#include "lesson_play.h"
#include "prompt.h"
#include "terminal.h"
#include "tui.h"
#include "view.h"

#define TUI_NO_SUBJECT UINT32_MAX

enum { TUI_BACK_CNT = 16 };

struct tui {
	const struct tui_options *opts;
	struct loupe_verify_opts verify;
	struct loupe_verify_opts kernel_rules; /* of the first of two runs that are compared */
	struct beside beside; /* file NULL: none */
	const struct theme *theme;
	struct terminal *term; /* NULL while a script is obeyed */
	struct screen *screen;
	bool ascii;
	struct input *inputs;
	uint32_t input_cnt;
	struct subject *subjects;
	uint32_t subject_cnt;
	uint32_t current;	      /* TUI_NO_SUBJECT: only the list can be shown */
	struct view *views[VIEW_CNT]; /* those that are open */
	enum view_id view;
	enum view_id back[TUI_BACK_CNT]; /* views that were left, latest last */
	uint32_t back_cnt;
	bool landed; /* the current subject was shown where its answer is */
	struct place place;
	struct lesson_play *lesson; /* NULL: none is open */
	struct loupe_loc loc; /* register or slot last looked at */
	bool has_loc;
	struct jobs *jobs;
	struct prompt prompt;
	enum request prompt_for; /* REQ_COMMAND, REQ_SEARCH or REQ_GOTO while the prompt is open */
	char pattern[PROMPT_TEXT];
	char message[512];
	enum ui_role message_role;
	bool quit;
	int status;
	double took_ms;	   /* scripts: the line before the present one, with drawing */
	double slowest_ms; /* of those that had to be within a time */
};

/* tui_chrome.c: everything around a view. */
void tui_draw(struct tui *tui);

/* tui_command.c: what ":" takes. */
/** Obeys a command line. @return false if it had an error, which was said */
bool tui_command(struct tui *tui, const char *line);
/** Completion n of a command line that is being typed, whole; false if there are no more. */
bool tui_complete(struct tui *tui, const char *line, uint32_t n, char *buf, size_t size);

/* tui_goto.c */
/** Goes where the words say. @return false if there is no such place, which was said */
bool tui_goto(struct tui *tui, const char *where);

/* tui_script.c */
/** Obeys a script. @return exit status */
int tui_script(struct tui *tui, const char *path);

/* tui.c */
/** Obeys one key. */
void tui_key(struct tui *tui, int key);
/** Obeys a request as if its key was typed. */
void tui_request(struct tui *tui, enum request request);
/** Forgets what a view shows; it opens anew. */
void tui_close_view(struct tui *tui, enum view_id id);
/** The view in sight, opened if what it needs is there; NULL otherwise. */
struct view *tui_view(struct tui *tui);
struct subject *tui_current_subject(struct tui *tui);

#endif
