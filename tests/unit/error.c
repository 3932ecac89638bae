// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/common.h"

static void set_returns_code_and_cleans_text(void **state)
{
	struct loupe_error err;

	(void)state;
	assert_int_equal(loupe_error_set(&err, -EINVAL, "bad name '%s'", "a\033[1mb\n"), -EINVAL);
	assert_string_equal(err.message, "bad name 'a?[1mb?'");
	assert_int_equal(loupe_error_set(NULL, -ENOENT, "nobody listens"), -ENOENT);
}

static void clean_leaves_nothing_that_a_terminal_obeys(void **state)
{
	static const char *const cases[][2] = {
		{ "plain, \xc3\xa4 and \xe2\x96\x88", "plain, \xc3\xa4 and \xe2\x96\x88" },
		{ "\033[2J \x7f", "?[2J ?" },
		{ "C1: \xc2\x9b" "2J, bare \x9b", "C1: ??2J, bare ?" },
		{ "cut \xe2\x96", "cut ??" },
		{ "overlong \xc0\x9b, surrogate \xed\xa0\x80, too far \xf4\x90\x80\x80",
		  "overlong ??, surrogate ???, too far ????" },
		{ "turned \xe2\x80\xae, line\xe2\x80\xa8", "turned ???, line???" },
	};
	char text[64], lines[] = "a\tb\r\n";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, cases[i][0]);
		loupe_text_clean(text, strlen(text), false);
		assert_string_equal(text, cases[i][1]);
	}
	loupe_text_clean(lines, strlen(lines), true);
	assert_string_equal(lines, "a\tb?\n");
}

static void format_leaves_out_absent_parts(void **state)
{
	struct loupe_error err = { .offset = -1 };
	char buf[256];

	(void)state;
	strcpy(err.message, "no such thing");
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "no such thing");
	strcpy(err.file, "a.bpfasm");
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "a.bpfasm: no such thing");
	err.line = 3;
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "a.bpfasm:3: no such thing");
	err.column = 7;
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "a.bpfasm:3:7: no such thing");
	err.line = err.column = 0;
	err.offset = 64;
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "a.bpfasm: at byte 64: no such thing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_returns_code_and_cleans_text),
		cmocka_unit_test(clean_leaves_nothing_that_a_terminal_obeys),
		cmocka_unit_test(format_leaves_out_absent_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
