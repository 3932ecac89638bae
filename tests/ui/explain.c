// SPDX-License-Identifier: GPL-2.0-only
/* Errors are explained by the row that is about them, and about the register that they name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "explain.h"

static void the_right_rule(void **state)
{
	static const struct {
		const char *message, *rule; /* what the rule must speak of */
	} cases[] = {
		{ "invalid access to packet, off=20 size=1, R1(id=1,off=20,r=0); R1 offset is outside "
		  "of the packet",
		  "data_end" },
		{ "R0 invalid mem access 'map_value_or_null'", "NULL" },
		{ "R1 invalid mem access 'scalar'", "number is used as an address" },
		{ "R4 min value is negative, either use unsigned or 'var &= const'",
		  "less than zero" },
		{ "R4 unbounded memory access, use 'var &= const' or 'if (var < const)'",
		  "no upper limit" },
		{ "R3 !read_ok", "nothing was written" },
		{ "invalid read from stack R2 off -16+0 size 8", "Stack bytes" },
		{ "Unreleased reference id=2 alloc_insn=5", "still holds" },
		{ "infinite loop detected at insn 3", "never ends" },
		{ "BPF program is too large. Processed 1000001 insn", "1,000,000" },
		{ "The sequence of 8193 jumps is too complex.", "branches" },
		{ "R1 type=scalar expected=map_ptr", "another kind of argument" },
		{ "R1 type=sock_or_null expected=sock_common, sock", "may be NULL" },
		{ "invalid func unknown#195896080", "CO-RE" },
		{ "invalid func unknown#7777", "does not know" },
		{ "unreachable insn 2", "No jump" },
		{ "At program exit the register R0 has smin=5 smax=5 should have been in [0, 3]",
		  "does not allow" },
		{ "R4 invalid zero-sized read: u64=[0,7]", "could be 0" },
		{ "program of this type cannot use helper bpf_skb_load_bytes#26", "may not call" },
		{ "write into map forbidden, value_size=8 off=0 size=1", "flags forbid" },
		{ "the call stack of 9 frames is too deep !", "More than 8" },
		{ "R1 partial copy of pointer", "lower half" },
		{ "BPF_LDX uses reserved fields", "must be 0" },
		{ "BPF_LD_[ABS|IND] instructions not allowed for this program type",
		  "socket filters" },
		{ "insn 12 cannot be patched due to 16-bit range", "out of reach" },
		{ "R1 has unknown scalar with mixed signed bounds, pointer arithmetic with it prohibited for !root",
		  "sign is not known" },
		{ "combined stack size of 2 calls is 600. Too large", "512 bytes together" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct explanation *found = explain_error(cases[i].message);

		assert_non_null(found);
		assert_non_null(strstr(found->rule, cases[i].rule));
	}
	assert_null(explain_error("something that no kernel says"));
}

static void every_row_is_whole(void **state)
{
	const struct explanation *row;

	(void)state;
	for (size_t i = 0; (row = explanation_get(i)) != NULL; i++) {
		assert_true(strlen(row->pattern) > 3);
		assert_int_equal(row->rule[strlen(row->rule) - 1], '.');
		assert_int_equal(row->ways[strlen(row->ways) - 1], '.');
	}
}

static void the_register_it_names(void **state)
{
	(void)state;
	assert_int_equal(loupe_error_register("R1 offset is outside of the packet"), 1);
	assert_int_equal(loupe_error_register("off=20 size=1, R10(id=1)"), 10);
	assert_int_equal(loupe_error_register("EACCES in BPR2x R4"), 4);
	assert_int_equal(loupe_error_register("Unreleased reference id=2"), -1);
	assert_int_equal(loupe_error_register("R99 R12"), -1);
}

static void what_the_kernel_keeps_to_itself(void **state)
{
	struct loupe_image image = { .prog_type = 27 /* struct_ops */ };
	struct loupe_verify_result result = { .verdict = LOUPE_REJECTED, .err = -524 };
	const char *words = explain_silence(&image, &result);

	(void)state;
	assert_non_null(words);
	assert_non_null(explain_error(words));
	image.attach_btf_id = 1;
	assert_null(explain_silence(&image, &result));
	result.phase = LOUPE_PHASE_EXPLORE_MAIN;
	words = explain_silence(&image, &result);
	assert_non_null(words);
	assert_non_null(explain_error(words));
	result.err = -22;
	assert_null(explain_silence(&image, &result));
}

static void who_may_call_a_helper(void **state)
{
	enum { SCHED_CLS = 3, XDP = 6, SKB_STORE_BYTES = 9, KTIME_GET_NS = 5 };
	uint64_t types = loupe_helper_types(SKB_STORE_BYTES);

	(void)state;
	assert_true(types >> SCHED_CLS & 1);
	assert_false(types >> XDP & 1);
	assert_true(loupe_helper_types(KTIME_GET_NS) >> XDP & 1);
	assert_int_equal(loupe_helper_types(0), 0);
	assert_int_equal(loupe_helper_types(-1), 0);
	assert_int_equal(loupe_helper_types(100000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_rule),
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(the_register_it_names),
		cmocka_unit_test(what_the_kernel_keeps_to_itself),
		cmocka_unit_test(who_may_call_a_helper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
