// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/kernel.h"

/* Compares want with got, fed in pieces of every size. */
static bool same(const char *want, const char *got, struct loupe_log_difference *diff)
{
	bool equal = false;

	for (size_t piece = 1; piece <= strlen(got) + 1; piece++) {
		struct loupe_log_compare *compare = loupe_log_compare_create(want, strlen(want));
		bool now;

		assert_non_null(compare);
		for (size_t at = 0; at < strlen(got); at += piece) {
			size_t left = strlen(got) - at;

			loupe_log_compare_feed(compare, got + at, left < piece ? left : piece);
		}
		now = loupe_log_compare_end(compare, diff);
		if (piece > 1)
			assert_int_equal(now, equal);
		equal = now;
		loupe_log_compare_destroy(compare);
	}
	return equal;
}

static void equal_logs(void **state)
{
	struct loupe_log_difference diff;

	(void)state;
	assert_true(same("", "", &diff));
	assert_true(same("a\n\nb\n", "a\n\nb\n", &diff));
	assert_int_equal(diff.line, 0);
	assert_true(same("verification time 12 usec\nx\n", "verification time 7 usec\nx\n", &diff));
	assert_true(same("no newlineverification time 12 usec\n",
			 "no newlineverification time 7 usec\n", &diff));
	assert_false(same("a verification time 12 usec\n", "b verification time 12 usec\n", &diff));
	assert_true(same("0: (18) r1 = 0xffff888003f3a000   ; R1=map_ptr()\n",
			 "0: (18) r1 = 0x0                  ; R1=map_ptr()\n", &diff));
	assert_false(same("0: (18) r1 = 0xffff888003f3a000   ; R1=map_ptr()\n",
			  "0: (18) r1 = 0x0   ; R1=map_ptr()\n", &diff));
	assert_true(same("0: (18) r1 = 0xffff888003f3a000\n", "0: (18) r1 = 0x0\n", &diff));
	/* an arena's */
	assert_true(same("0: (18) r1 = 0x7fdc6a0ec000          ; R1=scalar()\n",
			 "0: (18) r1 = 0xffffc90001000000      ; R1=scalar()\n", &diff));
	assert_true(same("0: (18) r1 = 0xffff888003f3a000 ; R1=map_ptr()\n",
			 "0: (18) r1 = 0xffffc90000000000 ; R1=map_ptr()\n", &diff));
}

static void different_logs(void **state)
{
	struct loupe_log_difference diff;

	(void)state;
	assert_false(same("a\nb\nc\n", "a\nb\nd\n", &diff));
	assert_int_equal(diff.line, 3);
	assert_string_equal(diff.want, "c");
	assert_string_equal(diff.got, "d");
	assert_string_equal(diff.before[2], "b");
	assert_string_equal(diff.before[1], "a");
	assert_string_equal(diff.before[0], "");
	assert_false(same("a\n", "a\nb\n", &diff));
	assert_int_equal(diff.line, 2);
	assert_string_equal(diff.want, "<end>");
	assert_false(same("a\nb\n", "a\n", &diff));
	assert_string_equal(diff.got, "<end>");
	/* A constant of the program is no address. */
	assert_false(same("0: (18) r1 = 0x1122334455667788\n", "0: (18) r1 = 0x1122334455667789\n",
			  &diff));
	/* What follows an address counts. */
	assert_false(same("0: (18) r1 = 0xffff888003f3a000 ; R1=a\n",
			  "0: (18) r1 = 0xffff888003f3a000 ; R1=b\n", &diff));
	assert_false(same("verification time 12 usec\n", "verification time 12 sec\n", &diff));
}

static void normalised(void **state)
{
	char text[] = "0: (18) r1 = 0xffff888003f3a000  ; x\n2: (18) r1 = 0x1\n"
		      "verification time 1234 usec\nprocessed\n";
	const char *want = "0: (18) r1 = 0xffff800000000000  ; x\n2: (18) r1 = 0x1\n"
			   "verification time 0 usec\nprocessed\n";

	(void)state;
	assert_int_equal(loupe_log_normalise(text, strlen(text)), strlen(want));
	assert_string_equal(text, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_logs),
		cmocka_unit_test(different_logs),
		cmocka_unit_test(normalised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
