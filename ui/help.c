// SPDX-License-Identifier: GPL-2.0-only
/* Help from the tables. */
#include "help.h"

#include "roff.h"
#include "tui_commands.h"
#include "tui.h"
#include "view.h"

#include <string.h>

/* The first binding of a request in a view tells them all. */
static bool is_first(size_t n, const struct key_binding *binding)
{
	for (size_t i = 0; i < n; i++) {
		const struct key_binding *other = key_binding(i);

		if (other->view == binding->view && other->request == binding->request)
			return false;
	}
	return true;
}

static void describe(enum request request, char *buf, size_t size)
{
	if (request >= REQ_VIEW_LIST)
		snprintf(buf, size, "%s", view_ops((enum view_id)(request - REQ_VIEW_LIST))->about);
	else
		snprintf(buf, size, "%s", request_help(request));
}

void help_keys(enum view_id view, help_emit *emit, void *data)
{
	const struct key_binding *binding;

	for (size_t i = 0; (binding = key_binding(i)) != NULL; i++) {
		char keys[96] = "", name[24], what[160];

		if (binding->view != view || !is_first(i, binding))
			continue;
		for (size_t n = i; key_binding(n); n++) {
			const struct key_binding *other = key_binding(n);
			size_t len = strlen(keys);

			if (other->view == view && other->request == binding->request)
				snprintf(keys + len, sizeof(keys) - len, "%s%s", len ? "  " : "",
					 key_display(other->key, name, sizeof(name)));
		}
		describe(binding->request, what, sizeof(what));
		emit(data, HELP_KEY, keys, what);
	}
}

void help_commands(help_emit *emit, void *data)
{
	const struct command *command;

	for (size_t i = 0; (command = command_get(i)) != NULL; i++) {
		char left[64];

		snprintf(left, sizeof(left), ":%s %s", command->name, command->arg_name);
		emit(data, HELP_COMMAND, left, command->help);
	}
	emit(data, HELP_COMMAND, ":NAME",
	     "every key has a name that is a command: :next-visit, :copy …");
}

static void emit_term(help_emit *emit, void *data, const char *term)
{
	const char *colon = strstr(term, ": ");
	char left[48];

	if (!colon) {
		emit(data, HELP_TERM, "", term);
		return;
	}
	snprintf(left, sizeof(left), "%.*s", (int)(colon - term), term);
	emit(data, HELP_TERM, left, colon + 2);
}

void help_view(enum view_id view, help_emit *emit, void *data)
{
	const struct view_ops *ops = view_ops(view);
	char heading[160];

	snprintf(heading, sizeof(heading), "%s: %s", ops->title ? ops->title : ops->name,
		 ops->about);
	emit(data, HELP_HEADING, heading, "");
	help_keys(view, emit, data);
	if (ops->terms) {
		emit(data, HELP_BLANK, "", "");
		emit(data, HELP_HEADING, "What it says", "");
		for (const char *const *term = ops->terms; *term; term++)
			emit_term(emit, data, *term);
	}
	emit(data, HELP_BLANK, "", "");
	emit(data, HELP_HEADING, "In every view", "");
	help_keys(VIEW_ANY, emit, data);
	emit(data, HELP_BLANK, "", "");
	emit(data, HELP_HEADING, "While a lesson is open", "");
	help_keys(VIEW_LESSON, emit, data);
	emit(data, HELP_BLANK, "", "");
	emit(data, HELP_HEADING, "Commands", "");
	help_commands(emit, data);
}

/* ---- as a file ---------------------------------------------------------------------------- */

static void emit_text(void *data, enum help_kind kind, const char *left, const char *right)
{
	FILE *out = data;

	switch (kind) {
	case HELP_HEADING:
		fprintf(out, "%s\n", left);
		break;
	case HELP_BLANK:
		fputc('\n', out);
		break;
	default:
		fprintf(out, "  %-24s %s\n", left, right);
	}
}

static void emit_man(void *data, enum help_kind kind, const char *left, const char *right)
{
	FILE *out = data;

	switch (kind) {
	case HELP_HEADING:
		fputs(".SS ", out);
		roff_put(out, left);
		fputc('\n', out);
		break;
	case HELP_BLANK:
		break;
	default:
		fputs(".TP\n.B ", out);
		roff_put(out, left);
		fputc('\n', out);
		roff_put(out, right);
		fputc('\n', out);
	}
}

void tui_keys_write(FILE *out, enum tui_keys_format format)
{
	help_emit *emit = format == TUI_KEYS_MAN ? emit_man : emit_text;
	char heading[160];

	if (format == TUI_KEYS_MAN)
		fputs(".SH KEYS OF THE EXPLORER\n", out);
	emit(out, HELP_HEADING, "In every view", "");
	help_keys(VIEW_ANY, emit, out);
	emit(out, HELP_BLANK, "", "");
	emit(out, HELP_HEADING, "While a lesson is open", "");
	help_keys(VIEW_LESSON, emit, out);
	for (int id = 0; id < VIEW_CNT; id++) {
		const struct view_ops *ops = view_ops((enum view_id)id);

		emit(out, HELP_BLANK, "", "");
		snprintf(heading, sizeof(heading), "%s: %s", ops->title ? ops->title : ops->name,
			 ops->about);
		emit(out, HELP_HEADING, heading, "");
		help_keys((enum view_id)id, emit, out);
	}
	emit(out, HELP_BLANK, "", "");
	if (format == TUI_KEYS_MAN)
		fputs(".SH COMMANDS OF THE EXPLORER\n", out);
	else
		emit(out, HELP_HEADING, "Commands", "");
	help_commands(emit, out);
}
