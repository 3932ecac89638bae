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
		cmocka_unit_test(format_leaves_out_absent_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
