// SPDX-License-Identifier: GPL-2.0-only
/* The ":" commands and their completion. */
#include "tui_internal.h"

#include "tui_commands.h"
#include "screen_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they do ------------------------------------------------------------------------- */

static bool do_view(struct tui *tui, const char *arg)
{
	enum view_id id = view_by_name(arg);

	if (id == VIEW_CNT) {
		tui_say(tui, UI_ERROR, "no view '%s'", arg);
		return false;
	}
	tui_show(tui, id);
	return true;
}

static bool do_goto(struct tui *tui, const char *arg)
{
	return tui_goto(tui, arg);
}

static bool do_open(struct tui *tui, const char *arg)
{
	for (uint32_t i = 0; i < tui->subject_cnt; i++) {
		if (strcmp(subject_name(&tui->subjects[i]), arg) == 0) {
			tui_open(tui, i);
			return true;
		}
	}
	tui_say(tui, UI_ERROR, "no program '%s'", arg);
	return false;
}

static bool do_search(struct tui *tui, const char *arg)
{
	snprintf(tui->pattern, sizeof(tui->pattern), "%s", arg);
	tui_request(tui, REQ_SEARCH_NEXT);
	return true;
}

static bool do_theme(struct tui *tui, const char *arg)
{
	const struct theme *theme = theme_by_name(arg);

	if (!theme) {
		tui_say(tui, UI_ERROR, "no theme '%s': dark, light or none", arg);
		return false;
	}
	tui->theme = theme;
	if (tui->term)
		term_set_theme(tui->term, theme);
	return true;
}

static bool do_save_screen(struct tui *tui, const char *arg)
{
	int rc;

	tui_draw(tui);
	rc = screen_save(tui->screen, tui->theme, arg);
	if (rc)
		tui_say(tui, UI_ERROR, "cannot write %s: %s", arg, strerror(-rc));
	else if (tui->term)
		tui_say(tui, UI_NOTICE, "wrote %s", arg);
	return rc == 0;
}

static bool do_export(struct tui *tui, const char *arg)
{
	struct view *view = tui_view(tui);
	FILE *out;
	int rc;

	if (!view || !view->ops->export) {
		tui_say(tui, UI_ERROR,
			"this view has no text; :save-screen FILE writes the screen");
		return false;
	}
	out = fopen(arg, "w");
	if (!out) {
		tui_say(tui, UI_ERROR, "cannot write %s: %s", arg, strerror(errno));
		return false;
	}
	rc = view->ops->export(view, out);
	if (fclose(out) && !rc)
		rc = -errno;
	if (rc)
		tui_say(tui, UI_ERROR, "cannot write %s: %s", arg, strerror(-rc));
	else
		tui_say(tui, UI_NOTICE, "wrote %s", arg);
	return rc == 0;
}

static bool do_resize(struct tui *tui, const char *arg)
{
	unsigned int w, h;

	if (sscanf(arg, "%ux%u", &w, &h) != 2 || w < 1 || h < 1 || w > 1000 || h > 1000) {
		tui_say(tui, UI_ERROR, "a size is written like 140x45");
		return false;
	}
	if (tui->term) {
		tui_say(tui, UI_ERROR, "the terminal decides its size; this is for scripts");
		return false;
	}
	return screen_resize(tui->screen, (int)w, (int)h) == 0;
}

static bool do_within(struct tui *tui, const char *arg)
{
	char *end;
	double ms = strtod(arg, &end);

	if (end == arg || *end || ms <= 0) {
		tui_say(tui, UI_ERROR, "within takes milliseconds, not '%s'", arg);
		return false;
	}
	if (tui->took_ms > ms) {
		fprintf(stderr, "bpfloupe: the line before took %.1f ms, not at most %s\n",
			tui->took_ms, arg);
		tui->status = 1;
	}
	if (tui->took_ms > tui->slowest_ms)
		tui->slowest_ms = tui->took_ms;
	return true;
}

static bool do_expect(struct tui *tui, const char *arg)
{
	char *text = NULL;
	size_t len = 0;
	bool found = false;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return false;
	tui_draw(tui);
	screen_write_text(tui->screen, out);
	if (fclose(out) == 0)
		found = strstr(text, arg) != NULL;
	if (!found && !tui->term) {
		fprintf(stderr, "bpfloupe: not on the screen: %s\n%s", arg, text);
		tui->status = 1;
	}
	if (tui->term)
		tui_say(tui, found ? UI_NOTICE : UI_ERROR, "%s on the screen: %s",
			found ? "is" : "not", arg);
	free(text);
	return true;
}

static bool do_quit(struct tui *tui, const char *arg)
{
	(void)arg;
	tui->quit = true;
	return true;
}

static const struct command commands[] = {
	{ "view", ARG_VIEW, do_view, "NAME", "show a view" },
	{ "open", ARG_PROGRAM, do_open, "PROGRAM", "open a program of the list" },
	{ "goto", ARG_WORD, do_goto, "WHERE",
	  "go to an insn (57), step (s1204), checkpoint (#17), source line (:112) or function" },
	{ "search", ARG_WORD, do_search, "TEXT", "search; small letters match capital ones too" },
	{ "theme", ARG_THEME, do_theme, "dark|light|none", "change the colours" },
	{ "level", ARG_LEVEL, NULL, "1|2|4|6", "log level of the log view" },
	{ "edit", ARG_WORD, NULL, "N", "graph of a filter after N edits" },
	{ "call", ARG_WORD, NULL, "NAME ARGUMENT...",
	  "light the way of a system call in a filter's graphs" },
	{ "sort", ARG_WORD, NULL, "COLUMN", "sort a table by the column of that name" },
	{ "by", ARG_WORD, NULL, "line|function|insn|branch", "what the costs are by" },
	{ "run", ARG_WORD, NULL, "KNOB=VALUES",
	  "in the lab: verify under other rules, as evict=off,1,7" },
	{ "export", ARG_FILE, do_export, "FILE", "write everything that the view shows as text" },
	{ "save-screen", ARG_FILE, do_save_screen, "FILE",
	  "write the screen as text, or as a picture if FILE ends in .svg" },
	{ "resize", ARG_WORD, do_resize, "WxH", "in scripts: another size of the screen" },
	{ "expect", ARG_WORD, do_expect, "TEXT", "in scripts: fail unless TEXT is on the screen" },
	{ "within", ARG_WORD, do_within, "MS",
	  "in scripts: fail if the line before and drawing what came of it took more milliseconds" },
	{ "q", ARG_NONE, do_quit, "", "leave bpfloupe" },
};

const struct command *command_get(size_t i)
{
	return i < sizeof(commands) / sizeof(commands[0]) ? &commands[i] : NULL;
}

/* ---- obeying ------------------------------------------------------------------------------ */

static const struct command *find_command(const char *name)
{
	const struct command *command;

	for (size_t i = 0; (command = command_get(i)) != NULL; i++) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

bool tui_command(struct tui *tui, const char *line)
{
	const struct command *command;
	char name[PROMPT_TEXT];
	enum request request;
	const char *arg;
	size_t len;
	struct view *view;

	line += strspn(line, " ");
	len = strcspn(line, " ");
	if (!len)
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	arg = line + len + strspn(line + len, " ");
	command = find_command(name);
	if (command && command->arg != ARG_NONE && !*arg && !(request_by_name(name))) {
		tui_say(tui, UI_ERROR, ":%s %s", command->name, command->arg_name);
		return false;
	}
	if (command && command->run && *arg)
		return command->run(tui, arg);
	view = tui_view(tui);
	if (command && view && view->ops->command && view->ops->command(view, name, arg))
		return true;
	if (command && command->run && command->arg == ARG_NONE)
		return command->run(tui, arg);
	request = request_by_name(name);
	if (request != REQ_NONE && !*arg) {
		tui_request(tui, request);
		return true;
	}
	tui_say(tui, UI_ERROR, command ? "'%s' means nothing here" : "no command '%s'", name);
	return false;
}

/* ---- completing --------------------------------------------------------------------------- */

/* Candidate n for an argument, NULL beyond the last. */
static const char *candidate(struct tui *tui, enum command_arg kind, uint32_t n)
{
	static const char *const themes[] = { "dark", "light", "none" };
	static const char *const levels[] = { "1", "2", "4", "6" };

	switch (kind) {
	case ARG_VIEW:
		return n < VIEW_CNT ? view_ops((enum view_id)n)->name : NULL;
	case ARG_PROGRAM:
		return n < tui->subject_cnt ? subject_name(&tui->subjects[n]) : NULL;
	case ARG_THEME:
		return n < 3 ? themes[n] : NULL;
	case ARG_LEVEL:
		return n < 4 ? levels[n] : NULL;
	default:
		return NULL;
	}
}

/* Names of commands, then those of requests that are not commands already. */
static const char *command_candidate(uint32_t n)
{
	const struct command *command = command_get(n);
	uint32_t i = n;

	if (command)
		return command->name;
	for (size_t c = 0; command_get(c); c++)
		i--;
	for (int request = REQ_NONE + 1; request < REQ_CNT; request++) {
		const char *name = request_name((enum request)request);

		if (find_command(name))
			continue;
		if (i-- == 0)
			return name;
	}
	return NULL;
}

bool tui_complete(struct tui *tui, const char *line, uint32_t n, char *buf, size_t size)
{
	size_t word = strcspn(line, " ");
	const struct command *command = NULL;
	const char *prefix = line, *text;
	char name[PROMPT_TEXT];

	snprintf(name, sizeof(name), "%.*s", (int)word, line);
	if (line[word]) {
		command = find_command(name);
		prefix = line + word + strspn(line + word, " ");
		if (!command)
			return false;
	}
	for (uint32_t i = 0;
	     (text = command ? candidate(tui, command->arg, i) : command_candidate(i)) != NULL;
	     i++) {
		if (strncmp(text, prefix, strlen(prefix)) != 0 || n-- != 0)
			continue;
		if (command)
			snprintf(buf, size, "%s %s", name, text);
		else
			snprintf(buf, size, "%s", text);
		return true;
	}
	return false;
}
