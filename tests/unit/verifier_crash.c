// SPDX-License-Identifier: GPL-2.0-only
/* Programs that would crash the kernel: no verdict, and a mark that keeps everybody from loading
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/verify.h"

static void verify(const char *text, struct loupe_verify_result *result)
{
	struct loupe_program_list list;
	struct loupe_error err;

	assert_int_equal(loupe_asm_load("crash.bpfasm", text, strlen(text), &list, &err), 0);
	assert_int_equal(loupe_verify(list.progs[0].image, NULL, result), 0);
	loupe_program_list_finish(&list);
}

/* The function returns at the packet load, which the walk back for r8 does not see as an exit. */
static void test_walk_out_of_first_frame(void **state)
{
	static const char text[] = ".type sched_cls\n"
				   ".func \"int prog(struct __sk_buff *ctx)\" global\n"
				   "	r6 = r1\n"
				   "	r8 = *(u32 *)(r1 +0)\n"
				   "	r8 &= 7\n"
				   "	r2 = r8\n"
				   "	call f\n"
				   "	r3 = r10\n"
				   "	r3 += -16\n"
				   "	r3 += r8\n"
				   "	*(u8 *)(r3 +0) = 0\n"
				   "	r0 = 0\n"
				   "	exit\n"
				   ".func \"int f(struct __sk_buff *ctx, int n)\" static\n"
				   "	r6 = r1\n"
				   "	r8 = r2\n"
				   "	r0 = *(u8 *)skb[0]\n"
				   "	exit\n";
	struct loupe_verify_result result;

	(void)state;
	verify(text, &result);
	assert_int_equal(result.verdict, LOUPE_NOT_JUDGED);
	assert_true(result.kernel_crashes);
	assert_non_null(strstr(result.reason, "leave the outermost frame"));
	loupe_verify_result_finish(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk_out_of_first_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
