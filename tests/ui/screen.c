// SPDX-License-Identifier: GPL-2.0-only
/* The off-screen picture, its themes and its writers; prompts; small helpers of views. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "panes.h"
#include "prompt.h"
#include "screen_write.h"

/* A screen as text; the caller frees it. */
static char *text_of(const struct screen *screen)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	screen_write_text(screen, out);
	fclose(out);
	return text;
}

static void assert_screen(const struct screen *screen, const char *wanted)
{
	char *text = text_of(screen);

	assert_string_equal(text, wanted);
	free(text);
}

static void text_is_cut_and_harmless(void **state)
{
	struct screen *screen = screen_create(8, 4);

	(void)state;
	assert_int_equal(screen_text(screen, 0, 0, 8, UI_TEXT, "abc"), 3);
	assert_int_equal(screen_text(screen, 0, 1, 5, UI_TEXT, "abcdefgh"), 5);
	/* escape sequences, C1 controls, direction marks, wide characters, broken UTF-8 */
	screen_text(screen, 0, 2, 8, UI_TEXT,
		    "\033[2J\xc2\x9b"
		    "1m");
	screen_text(screen, 0, 3, 8, UI_TEXT,
		    "\xe2\x80\xae"
		    "\xe4\xb8\xad"
		    "\xff\t.\xc3\xa4");
	assert_screen(screen, "abc\nabcd…\n?[2J?1m\n??? .ä\n");
	screen_destroy(screen);
}

static void nothing_is_drawn_outside(void **state)
{
	struct screen *screen = screen_create(3, 2);

	(void)state;
	screen_text(screen, -1, 0, 5, UI_TEXT, "abcde");
	screen_text(screen, 0, 2, 3, UI_TEXT, "x");
	screen_hline(screen, -2, 1, 10, UI_FRAME);
	screen_ground(screen, (struct rect){ -5, -5, 20, 20 }, UI_GROUND_BAR);
	assert_screen(screen, "bcd\n───\n");
	screen_destroy(screen);
}

static void lines_join(void **state)
{
	struct screen *screen = screen_create(7, 5);
	struct rect inner;

	(void)state;
	inner = pane_frame(screen, (struct rect){ 0, 0, 4, 5 }, "", false);
	assert_int_equal(inner.x, 1);
	assert_int_equal(inner.h, 3);
	pane_frame(screen, (struct rect){ 3, 0, 4, 3 }, "", false);
	pane_frame(screen, (struct rect){ 3, 2, 4, 3 }, "", false);
	assert_screen(screen, "┌──┬──┐\n│  │  │\n│  ├──┤\n│  │  │\n└──┴──┘\n");
	screen_make_ascii(screen);
	assert_screen(screen, "+--+--+\n|  |  |\n|  +--+\n|  |  |\n+--+--+\n");
	screen_destroy(screen);
}

static void svg_escapes_and_colours(void **state)
{
	const struct theme *dark = theme_by_name("dark");
	struct screen *screen = screen_create(10, 1);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	screen_text(screen, 0, 0, 10, UI_ERROR, "a<b & c>d");
	screen_write_svg(screen, dark, out);
	fclose(out);
	assert_non_null(strstr(text, "a&lt;b &amp; c&gt;d"));
	assert_non_null(strstr(text, "font-weight='bold'"));
	assert_null(strstr(text, "a<b"));
	free(text);
	screen_destroy(screen);
}

static void every_role_has_a_look(void **state)
{
	static const char *const names[] = { "dark", "light" };

	(void)state;
	for (size_t t = 0; t < 2; t++) {
		const struct theme *theme = theme_by_name(names[t]);

		for (int role = 0; role < UI_ROLE_CNT; role++) {
			struct style style = theme_style(theme, (enum ui_role)role, UI_GROUND_NONE);

			/* only plain text is as the terminal has it */
			if (role != UI_TEXT && role != UI_VALUE)
				assert_int_not_equal(style.fg, THEME_DEFAULT);
		}
		for (int ground = 1; ground < UI_GROUND_CNT; ground++)
			assert_int_not_equal(theme_style(theme, UI_TEXT, (enum ui_ground)ground).bg,
					     THEME_DEFAULT);
	}
}

static void no_color_is_obeyed(void **state)
{
	(void)state;
	setenv("NO_COLOR", "1", 1);
	assert_false(theme_has_colour(theme_from_environment()));
	for (int role = 0; role < UI_ROLE_CNT; role++) {
		struct style style =
			theme_style(theme_from_environment(), (enum ui_role)role, UI_GROUND_CURSOR);

		assert_int_equal(style.fg, THEME_DEFAULT);
		assert_int_equal(style.bg, THEME_DEFAULT);
		/* the selected row can still be told */
		assert_true(style.reverse);
	}
	unsetenv("NO_COLOR");
	assert_true(theme_has_colour(theme_from_environment()));
	setenv("COLORFGBG", "0;15", 1);
	assert_string_equal(theme_name(theme_from_environment()), "light");
	unsetenv("COLORFGBG");
	assert_null(theme_by_name("purple"));
}

static void nearest_colours(void **state)
{
	(void)state;
	assert_int_equal(theme_nearest(0xff0000, 256), 196);
	assert_int_equal(theme_nearest(0x080808, 256), 232);
	assert_int_equal(theme_nearest(0xcd0000, 8), 1);
	assert_int_equal(theme_nearest(0xff0000, 16), 9);
}

static void numbers_and_matches(void **state)
{
	char buf[NUMBER_TEXT];

	(void)state;
	assert_string_equal(number_text(buf, 0), "0");
	assert_string_equal(number_text(buf, 999), "999");
	assert_string_equal(number_text(buf, 16311), "16,311");
	assert_string_equal(number_text(buf, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_true(text_matches("R6 += 1", "r6"));
	assert_false(text_matches("r6 += 1", "R6"));
}

static void scrolling(void **state)
{
	struct scroll scroll = { 0 };

	(void)state;
	assert_true(scroll_request(&scroll, REQ_LAST, 100, 10));
	assert_int_equal(scroll.cursor, 99);
	assert_int_equal(scroll.top, 90);
	scroll_request(&scroll, REQ_DOWN, 100, 10);
	assert_int_equal(scroll.cursor, 99);
	scroll_request(&scroll, REQ_PAGE_UP, 100, 10);
	assert_int_equal(scroll.cursor, 90);
	scroll_to(&scroll, 50, 100, 10);
	assert_int_equal(scroll.top, 45);
	/* a list that became shorter, and an empty one */
	scroll_fit(&scroll, 3, 10);
	assert_int_equal(scroll.cursor, 2);
	assert_int_equal(scroll.top, 0);
	scroll_fit(&scroll, 0, 10);
	assert_int_equal(scroll.cursor, 0);
	assert_int_equal(scroll.top, 0);
	assert_false(scroll_request(&scroll, REQ_QUIT, 3, 10));
}

static void type(struct prompt *prompt, const char *keys)
{
	while (*keys)
		prompt_key(prompt, key_parse(&keys));
}

static void prompts(void **state)
{
	struct prompt prompt = { 0 };

	(void)state;
	prompt_open(&prompt, ":");
	type(&prompt, "gäto<Left><Left><Backspace>o");
	assert_string_equal(prompt.text, "goto");
	type(&prompt, "<Home><Delete>G<End> 1<C-u>x");
	assert_string_equal(prompt.text, "x");
	assert_int_equal(prompt_key(&prompt, K_ENTER), PROMPT_DONE);
	prompt_open(&prompt, ":");
	type(&prompt, "y<Enter>");
	prompt_open(&prompt, ":");
	type(&prompt, "<Up><Up>");
	assert_string_equal(prompt.text, "x");
	type(&prompt, "<Down>");
	assert_string_equal(prompt.text, "y");
	assert_int_equal(prompt_key(&prompt, K_ESC), PROMPT_CANCEL);
	/* it never overflows */
	prompt_open(&prompt, ":");
	for (int i = 0; i < 1000; i++)
		prompt_key(&prompt, 0x2026);
	assert_true(strlen(prompt.text) < PROMPT_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_and_harmless),
		cmocka_unit_test(nothing_is_drawn_outside),
		cmocka_unit_test(lines_join),
		cmocka_unit_test(svg_escapes_and_colours),
		cmocka_unit_test(every_role_has_a_look),
		cmocka_unit_test(no_color_is_obeyed),
		cmocka_unit_test(nearest_colours),
		cmocka_unit_test(numbers_and_matches),
		cmocka_unit_test(scrolling),
		cmocka_unit_test(prompts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
