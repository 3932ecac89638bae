// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/load.h"
#include "bpfloupe/verify.h"
#include "btf/btf.h"
#include "btf/kernel_types.h"

#define TYPES SAMPLES "/../../tests/golden/kernel.btf"

static const char text[] = ".type tracing\n"
			   ".prog found\n"
			   ".section \"tp_btf/kmalloc\"\n"
			   ".attach trace_raw_tp\n"
			   ".attach_target kmalloc\n"
			   "	r0 = 0\n"
			   "	exit\n"
			   ".prog unknown\n"
			   ".attach trace_raw_tp\n"
			   ".attach_target no_such_tracepoint\n"
			   "	r0 = 0\n"
			   "	exit\n"
			   ".prog other_kind\n"
			   ".attach trace_fentry\n"
			   ".attach_target kmalloc\n"
			   "	r0 = 0\n"
			   "	exit\n"
			   ".prog number\n"
			   ".attach trace_raw_tp\n"
			   ".attach_btf_id 7\n"
			   ".attach_target kmalloc\n"
			   "	r0 = 0\n"
			   "	exit\n";

static void load(struct loupe_program_list *list, const char *types)
{
	const struct loupe_load_opts opts = { .size = sizeof(opts), .kernel_btf = types };
	struct loupe_error err;

	assert_int_equal(loupe_load_bytes("t.bpfasm", text, strlen(text), &opts, list, &err), 0);
	assert_int_equal(list->cnt, 4);
}

static void targets_are_looked_up(void **state)
{
	struct loupe_program_list list;
	const struct loupe_image *image;
	const struct btf *btf;

	(void)state;
	load(&list, TYPES);
	image = list.progs[0].image;
	btf = kernel_types_btf(image->kernel_types);
	assert_non_null(btf);
	assert_string_equal(btf_name(btf, image->attach_btf_id), "btf_trace_kmalloc");
	assert_false(image->attach_unset);
	assert_string_equal(image->host.kernel_btf, TYPES);
	for (int i = 1; i < 3; i++) {
		assert_true(list.progs[i].image->attach_unset);
		assert_int_equal(list.progs[i].image->attach_btf_id, 0);
	}
	assert_int_equal(list.progs[3].image->attach_btf_id, 7);
	assert_false(list.progs[3].image->attach_unset);
	assert_ptr_equal(list.progs[3].image->kernel_types, image->kernel_types);
	loupe_program_list_finish(&list);
}

static const char *reason_of(const struct loupe_image *image)
{
	static struct loupe_verify_result result;

	loupe_verify_result_finish(&result);
	assert_int_equal(loupe_verify(image, NULL, &result), 0);
	assert_int_equal(result.verdict, LOUPE_NOT_JUDGED);
	return result.reason;
}

/* Without a kernel's types nothing is guessed. */
static void no_types(void **state)
{
	struct loupe_program_list list;

	(void)state;
	load(&list, "none");
	assert_null(list.progs[0].image->kernel_types);
	assert_true(list.progs[0].image->attach_unset);
	assert_non_null(
		strstr(reason_of(list.progs[0].image), "kmalloc is not in the kernel's BTF"));
	assert_non_null(strstr(reason_of(list.progs[3].image), "no kernel BTF"));
	loupe_program_list_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_looked_up),
		cmocka_unit_test(no_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
