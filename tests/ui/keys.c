// SPDX-License-Identifier: GPL-2.0-only
/* The tables of views, requests, keys and commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "keys.h"
#include "tui.h"
#include "tui_commands.h"
#include "view.h"

static int parsed(const char *text)
{
	int key = key_parse(&text);

	assert_string_equal(text, "");
	return key;
}

static void every_key_parses(void **state)
{
	const struct key_binding *binding;

	(void)state;
	for (size_t i = 0; (binding = key_binding(i)) != NULL; i++)
		assert_int_not_equal(parsed(binding->key), K_NONE);
	assert_int_equal(parsed("j"), 'j');
	assert_int_equal(parsed("<lt>"), '<');
	assert_int_equal(parsed("<"), '<');
	assert_int_equal(parsed("<C-l>"), 12);
	assert_int_equal(parsed("<Enter>"), K_ENTER);
	assert_int_equal(parsed("<space>"), ' ');
	assert_int_equal(parsed("ä"), 0xe4);
}

static void no_key_means_two_things(void **state)
{
	const struct key_binding *a, *b;

	(void)state;
	for (size_t i = 0; (a = key_binding(i)) != NULL; i++) {
		for (size_t n = i + 1; (b = key_binding(n)) != NULL; n++) {
			if (a->view == b->view && parsed(a->key) == parsed(b->key))
				fail_msg("%s has two meanings in view %d", a->key, (int)a->view);
		}
	}
}

static void a_views_own_keys_win(void **state)
{
	(void)state;
	assert_int_equal(key_request(VIEW_WALK, '.'), REQ_VISIT_NEXT);
	assert_int_equal(key_request(VIEW_LOG, '.'), REQ_NONE);
	assert_int_equal(key_request(VIEW_WALK, ']'), REQ_HIT_NEXT);
	assert_int_equal(key_request(VIEW_CFG, ']'), REQ_EDIT_NEXT);
	assert_int_equal(key_request(VIEW_CFG, 'q'), REQ_QUIT);
	assert_int_equal(key_request(VIEW_CFG, '2'), REQ_VIEW_WALK);
}

static void requests_have_names_of_their_own(void **state)
{
	(void)state;
	for (int i = REQ_NONE + 1; i < REQ_CNT; i++) {
		assert_non_null(request_name((enum request)i));
		assert_true(*request_help((enum request)i));
		assert_int_equal(request_by_name(request_name((enum request)i)), i);
	}
	assert_int_equal(request_by_name("no such request"), REQ_NONE);
}

static void every_request_has_a_key(void **state)
{
	(void)state;
	for (int i = REQ_NONE + 1; i < REQ_CNT; i++) {
		const struct key_binding *binding;
		bool found = false;

		for (size_t n = 0; (binding = key_binding(n)) != NULL; n++)
			found |= binding->request == (enum request)i;
		if (!found)
			fail_msg("no key asks for %s", request_name((enum request)i));
	}
}

static void note_help(void *data, enum help_kind kind, const char *left, const char *right)
{
	(void)kind;
	fprintf(data, "%s\t%s\n", left, right);
}

static void every_key_is_in_the_help(void **state)
{
	(void)state;
	for (int id = 0; id < VIEW_CNT; id++) {
		const struct key_binding *binding;
		const struct command *command;
		char *text = NULL, name[24], wanted[200];
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		help_view((enum view_id)id, note_help, out);
		fclose(out);
		for (size_t i = 0; (binding = key_binding(i)) != NULL; i++) {
			if (binding->view != (enum view_id)id && binding->view != VIEW_ANY)
				continue;
			key_display(binding->key, name, sizeof(name));
			assert_non_null(strstr(text, name));
			if (binding->request < REQ_VIEW_LIST)
				assert_non_null(strstr(text, request_help(binding->request)));
		}
		for (size_t i = 0; (command = command_get(i)) != NULL; i++) {
			snprintf(wanted, sizeof(wanted), ":%s %s\t%s", command->name,
				 command->arg_name, command->help);
			assert_non_null(strstr(text, wanted));
		}
		free(text);
	}
}

static void the_man_page_has_them_too(void **state)
{
	const struct key_binding *binding;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	tui_keys_write(out, TUI_KEYS_MAN);
	fclose(out);
	assert_non_null(strstr(text, ".SH KEYS"));
	assert_non_null(strstr(text, ".SH COMMANDS"));
	for (size_t i = 0; (binding = key_binding(i)) != NULL; i++) {
		/* without what roff writes differently */
		if (!strpbrk(request_help(binding->request), "-.'\\") &&
		    binding->request < REQ_VIEW_LIST)
			assert_non_null(strstr(text, request_help(binding->request)));
	}
	free(text);
}

static void views_are_whole(void **state)
{
	(void)state;
	for (int id = 0; id < VIEW_CNT; id++) {
		const struct view_ops *ops = view_ops((enum view_id)id);

		assert_true(*ops->name);
		assert_true(*ops->about);
		assert_non_null(ops->draw);
		assert_non_null(ops->export);
		assert_true(ops->size >= sizeof(struct view));
		assert_int_equal(view_by_name(ops->name), id);
	}
	assert_int_equal(view_by_name("nothing"), VIEW_CNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_parses),
		cmocka_unit_test(no_key_means_two_things),
		cmocka_unit_test(a_views_own_keys_win),
		cmocka_unit_test(requests_have_names_of_their_own),
		cmocka_unit_test(every_request_has_a_key),
		cmocka_unit_test(every_key_is_in_the_help),
		cmocka_unit_test(the_man_page_has_them_too),
		cmocka_unit_test(views_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
