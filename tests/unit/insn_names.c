// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "insn/opcodes.h"
#include "bpfloupe/insn.h"

static void helpers_have_the_kernels_numbers(void **state)
{
	(void)state;
	assert_string_equal(loupe_helper_name(1), "bpf_map_lookup_elem");
	assert_string_equal(loupe_helper_name(BPF_FUNC_perf_event_output), "bpf_perf_event_output");
	assert_string_equal(loupe_helper_name(211), "bpf_cgrp_storage_delete");
	assert_null(loupe_helper_name(212));
	assert_null(loupe_helper_name(UINT32_MAX));
	assert_int_equal(loupe_helper_by_name("bpf_loop"), 181);
	assert_int_equal(loupe_helper_by_name("bpf_lop"), -ENOENT);
}

static void every_number_finds_itself(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LOUPE_FUNC_CNT; i++)
		assert_int_equal(loupe_helper_by_name(loupe_helper_name(i)), i);
	for (uint32_t i = 0; i < LOUPE_PROG_TYPE_CNT; i++)
		assert_int_equal(loupe_prog_type_by_name(loupe_prog_type_name(i)), i);
	for (uint32_t i = 0; i < LOUPE_ATTACH_TYPE_CNT; i++)
		assert_int_equal(loupe_attach_type_by_name(loupe_attach_type_name(i)), i);
	for (uint32_t i = 0; i < LOUPE_MAP_TYPE_CNT; i++)
		assert_int_equal(loupe_map_type_by_name(loupe_map_type_name(i)), i);
}

static void types_are_spelled_as_libbpf_does(void **state)
{
	(void)state;
	assert_string_equal(loupe_prog_type_name(BPF_PROG_TYPE_SCHED_CLS), "sched_cls");
	assert_string_equal(loupe_prog_type_name(BPF_PROG_TYPE_NETFILTER), "netfilter");
	assert_null(loupe_prog_type_name(LOUPE_PROG_TYPE_CNT));
	assert_string_equal(loupe_attach_type_name(BPF_XDP), "xdp");
	assert_string_equal(loupe_attach_type_name(BPF_TRACE_FENTRY), "trace_fentry");
	assert_string_equal(loupe_attach_type_name(57), "trace_uprobe_session");
	assert_string_equal(loupe_map_type_name(BPF_MAP_TYPE_PERCPU_ARRAY), "percpu_array");
	assert_string_equal(loupe_map_type_name(19), "cgroup_storage");
	assert_string_equal(loupe_map_type_name(33), "arena");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_have_the_kernels_numbers),
		cmocka_unit_test(every_number_finds_itself),
		cmocka_unit_test(types_are_spelled_as_libbpf_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
