// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cfg/canvas_internal.h"

static void assert_row(const struct loupe_canvas *canvas, int32_t row, const char *expected)
{
	char buf[256];

	assert_int_equal(loupe_canvas_row(canvas, row, buf, sizeof(buf)), strlen(expected));
	assert_string_equal(buf, expected);
}

static void text_is_cut_and_cleaned(void **state)
{
	struct loupe_canvas *canvas = loupe_canvas_create(10, 5, 8, 2);

	(void)state;
	assert_int_equal(loupe_canvas_text(canvas, 8, 5, 100, LOUPE_ROLE_TEXT, "abcdef"), 6);
	assert_row(canvas, 0, "cdef");
	assert_int_equal(loupe_canvas_text(canvas, 16, 5, 100, LOUPE_ROLE_LABEL, "xyz"), 3);
	assert_row(canvas, 0, "cdef  xy");
	assert_int_equal(loupe_canvas_cell(canvas, 17, 5)->role, LOUPE_ROLE_LABEL);
	assert_null(loupe_canvas_cell(canvas, 18, 5));
	assert_null(loupe_canvas_cell(canvas, 9, 5));
	assert_int_equal(loupe_canvas_text(canvas, 10, 6, 3, LOUPE_ROLE_TEXT, "12345"), 3);
	assert_row(canvas, 1, "123");
	loupe_canvas_reset(canvas, 0, 0);
	assert_row(canvas, 0, "");
	/* escape, broken UTF-8, too long form, a wide character, a combining one, a tab */
	loupe_canvas_text(canvas, 0, 0, 8, LOUPE_ROLE_TEXT,
			  "\033\xff\xc0\x80\xe4\xb8\xad\xcc\x81\tä");
	assert_row(canvas, 0, "????? ä");
	assert_int_equal(loupe_text_columns("→12 ä"), 5);
	assert_int_equal(loupe_text_columns("\xe2\x86"), 1);
	canvas->ascii = true;
	loupe_canvas_text(canvas, 0, 1, 8, LOUPE_ROLE_TEXT, "→↑ä");
	assert_row(canvas, 1, ">^?");
	loupe_canvas_destroy(canvas);
	loupe_canvas_destroy(NULL);
}

static void row_fits_its_buffer(void **state)
{
	struct loupe_canvas *canvas = loupe_canvas_create(0, 0, 4, 1);
	char buf[5];

	(void)state;
	loupe_canvas_text(canvas, 0, 0, 4, LOUPE_ROLE_TEXT, "a→b");
	assert_int_equal(loupe_canvas_row(canvas, 0, buf, 4), 5);
	assert_string_equal(buf, "a");
	assert_int_equal(loupe_canvas_row(canvas, 0, buf, 5), 5);
	assert_string_equal(buf, "a→");
	assert_int_equal(loupe_canvas_row(canvas, 0, NULL, 0), 5);
	loupe_canvas_destroy(canvas);
}

static void sizes_are_checked(void **state)
{
	struct loupe_canvas *canvas = loupe_canvas_create(0, 0, 0, 0);

	(void)state;
	assert_non_null(canvas);
	loupe_canvas_destroy(canvas);
	assert_null(loupe_canvas_create(0, 0, -1, 4));
	assert_null(loupe_canvas_create(0, 0, 1 << 20, 1 << 20));
}

static void lines_join_and_cross(void **state)
{
	struct loupe_canvas *canvas = loupe_canvas_create(0, 0, 7, 3);

	(void)state;
	canvas_line(canvas, 1, 0, 1, 2, LOUPE_ROLE_EDGE, false);
	canvas_line(canvas, 0, 1, 3, 1, LOUPE_ROLE_EDGE, false); /* under the upright line */
	canvas_line(canvas, 3, 1, 3, 2, LOUPE_ROLE_EDGE, false); /* turns down */
	canvas_line(canvas, 3, 2, 6, 2, LOUPE_ROLE_EDGE, false); /* turns right */
	canvas_line(canvas, 5, 0, 5, 2, LOUPE_ROLE_EDGE, false); /* joins from above */
	assert_row(canvas, 0, " │   │");
	assert_row(canvas, 1, "─│─┐ │");
	assert_row(canvas, 2, " │ └─┴─");
	/* what is selected is seen whole */
	canvas_line(canvas, 0, 1, 2, 1, LOUPE_ROLE_EDGE_SELECTED, true);
	assert_row(canvas, 1, "───┐ │");
	loupe_canvas_reset(canvas, 0, 0);
	canvas->ascii = true;
	canvas_box(canvas, 0, 0, 5, 3, LOUPE_ROLE_BLOCK);
	canvas_port(canvas, 2, 2, true, LOUPE_ROLE_EDGE);
	assert_row(canvas, 0, "+---+");
	assert_row(canvas, 1, "|   |");
	assert_row(canvas, 2, "+-+-+");
	loupe_canvas_destroy(canvas);
}

static void roles_have_names(void **state)
{
	(void)state;
	for (int role = 0; role < LOUPE_ROLE_CNT; role++)
		assert_non_null(loupe_role_name((enum loupe_role)role));
	assert_string_equal(loupe_role_name(LOUPE_ROLE_EDGE_TRUE), "edge-true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_and_cleaned), cmocka_unit_test(row_fits_its_buffer),
		cmocka_unit_test(sizes_are_checked),	   cmocka_unit_test(lines_join_and_cross),
		cmocka_unit_test(roles_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
