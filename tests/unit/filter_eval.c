// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"

/* Runs insns as a socket filter on a packet. */
static struct loupe_filter_run run_packet(const struct loupe_cbpf_insn *insns, uint32_t cnt,
					  const void *packet, size_t len)
{
	static const uint32_t ancillary[16] = { 0x0800, 3, 7, 0, 0, 99 };
	struct loupe_filter_input input = { packet, len, 14, ancillary };
	struct loupe_filter_run run = { 0 };
	struct loupe_filter *filter;
	struct loupe_error err = { 0 };

	if (loupe_filter_create("t", insns, cnt, LOUPE_FILTER_SOCKET, &filter, &err))
		fail_msg("%s", err.message);
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), 0);
	loupe_filter_destroy(filter);
	return run;
}

static void alu_is_the_kernels(void **state)
{
	/* A = a, X = x, then the operation; the result is what it leaves in A. */
	static const struct {
		uint16_t code;
		uint32_t a, x, k, result;
	} rows[] = {
		{ 0x04, 0xffffffff, 0, 2, 1 },
		{ 0x0c, 5, 7, 0, 12 },
		{ 0x14, 1, 0, 2, 0xffffffff },
		{ 0x1c, 9, 4, 0, 5 },
		{ 0x24, 0x80000000, 0, 2, 0 },
		{ 0x2c, 3, 5, 0, 15 },
		{ 0x34, 7, 0, 2, 3 },
		{ 0x3c, 0xffffffff, 0x10, 0, 0x0fffffff },
		{ 0x94, 7, 0, 4, 3 },
		{ 0x9c, 9, 5, 0, 4 },
		{ 0x44, 0x0f, 0, 0xf0, 0xff },
		{ 0x4c, 1, 2, 0, 3 },
		{ 0x54, 0xff, 0, 0x18, 0x18 },
		{ 0x5c, 6, 3, 0, 2 },
		{ 0xa4, 0xff, 0, 0x0f, 0xf0 },
		{ 0xac, 6, 3, 0, 5 },
		{ 0x64, 1, 0, 31, 0x80000000 },
		{ 0x6c, 1, 33, 0, 2 }, /* shifts use five bits of X */
		{ 0x74, 0x80000000, 0, 31, 1 },
		{ 0x7c, 8, 34, 0, 2 },
		{ 0x84, 1, 0, 0, 0xffffffff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct loupe_cbpf_insn insns[] = {
			{ 0x00, 0, 0, rows[i].a },
			{ 0x01, 0, 0, rows[i].x },
			{ rows[i].code, 0, 0, rows[i].k },
			{ 0x16, 0, 0, 0 },
		};
		struct loupe_filter_run run = run_packet(insns, 4, "", 0);

		assert_int_equal(run.result, rows[i].result);
		assert_int_equal(run.executed, 4);
		assert_int_equal(run.loads, 0);
		assert_false(run.out_of_input);
	}
}

static void division_by_x_zero_returns_0(void **state)
{
	static const uint16_t codes[] = { 0x3c, 0x9c };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct loupe_cbpf_insn insns[] = { { 0x00, 0, 0, 5 },
							 { codes[i], 0, 0, 0 },
							 { 0x06, 0, 0, 9 } };
		struct loupe_filter_run run = run_packet(insns, 3, "", 0);

		assert_true(run.out_of_input);
		assert_int_equal(run.result, 0);
		assert_int_equal(run.executed, 2);
	}
}

static void jumps_compare_unsigned(void **state)
{
	static const struct {
		uint16_t code;
		uint32_t a, x, k;
		bool taken;
	} rows[] = {
		{ 0x15, 5, 0, 5, true },	  { 0x15, 5, 0, 6, false },
		{ 0x1d, 5, 5, 0, true },	  { 0x25, 0x80000000, 0, 1, true },
		{ 0x25, 5, 0, 5, false },	  { 0x2d, 1, 0x80000000, 0, false },
		{ 0x35, 5, 0, 5, true },	  { 0x3d, 4, 5, 0, false },
		{ 0x45, 6, 0, 0x80000002, true }, { 0x45, 4, 0, 3, false },
		{ 0x4d, 8, 8, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct loupe_cbpf_insn insns[] = {
			{ 0x00, 0, 0, rows[i].a },
			{ 0x01, 0, 0, rows[i].x },
			{ rows[i].code, 2, 0, rows[i].k },
			{ 0x05, 0, 0, 0 },
			{ 0x06, 0, 0, 1 },
			{ 0x06, 0, 0, 2 },
		};

		assert_int_equal(run_packet(insns, 6, "", 0).result, rows[i].taken ? 2 : 1);
	}
}

static void packets_are_big_endian_and_bounded(void **state)
{
	static const uint8_t packet[20] = { [12] = 0x08, [13] = 0x06, [14] = 0x46, [16] = 0xde,
					    0xad,	 0xbe,	      0xef };
	static const struct {
		struct loupe_cbpf_insn load;
		uint32_t x, result;
		bool ends;
	} rows[] = {
		{ { 0x28, 0, 0, 12 }, 0, 0x0806, false },
		{ { 0x20, 0, 0, 16 }, 0, 0xdeadbeef, false },
		{ { 0x20, 0, 0, 17 }, 0, 0, true },
		{ { 0x30, 0, 0, 19 }, 0, 0xef, false },
		{ { 0x30, 0, 0, 20 }, 0, 0, true },
		{ { 0x48, 0, 0, 2 }, 14, 0xdead, false },
		{ { 0x50, 0, 0, 0xffffffff }, 15, 0x46, false },
		{ { 0x50, 0, 0, 0xffffffff }, 0, 0, true },
		{ { 0x30, 0, 0, 0xfff00000 }, 0, 0x46, false },	  /* network header, at 14 */
		{ { 0x28, 0, 0, 0xffe0000c }, 0, 0x0806, false }, /* link layer header */
		{ { 0x20, 0, 0, 0x7fffffff }, 0, 0, true },
		{ { 0x80, 0, 0, 0 }, 0, 20, false },
		{ { 0x20, 0, 0, 0xfffff000 }, 0, 0x0800, false },
		{ { 0x20, 0, 0, 0xfffff014 }, 0, 99, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct loupe_cbpf_insn insns[] = { { 0x01, 0, 0, rows[i].x },
							 rows[i].load,
							 { 0x16, 0, 0, 0 } };
		struct loupe_filter_run run = run_packet(insns, 3, packet, sizeof(packet));

		assert_int_equal(run.out_of_input, rows[i].ends);
		assert_int_equal(run.result, rows[i].result);
		assert_int_equal(run.loads, 1);
	}
}

static void registers_and_scratch_move(void **state)
{
	static const uint8_t packet[] = { 0x45 };
	/* X = 4 * 5; A = X; M[2] = A; A = 1; M[3] = X; X = M[2]; A += X; X = A; A = 0; A = X ... */
	static const struct loupe_cbpf_insn insns[] = {
		{ 0xb1, 0, 0, 0 },	    { 0x87, 0, 0, 0 }, { 0x02, 0, 0, 2 }, { 0x00, 0, 0, 1 },
		{ 0x03, 0, 0, 3 },	    { 0x61, 0, 0, 2 }, { 0x0c, 0, 0, 0 }, { 0x07, 0, 0, 0 },
		{ 0x00, 0, 0, 0 },	    { 0x87, 0, 0, 0 }, { 0x61, 0, 0, 3 }, { 0x0c, 0, 0, 0 },
		{ 0x20, 0, 0, 0xfffff028 }, /* A ^= X */
		{ 0x16, 0, 0, 0 },
	};

	(void)state;
	assert_int_equal(run_packet(insns, 14, packet, 1).result, (21 + 20) ^ 20);
}

static void seccomp_data_is_read_and_the_path_kept(void **state)
{
	/* if nr == 16: if args[1] == 0x541b: allow; errno 1 */
	static const struct loupe_cbpf_insn insns[] = {
		{ 0x20, 0, 0, 0 },	    { 0x15, 0, 5, 16 },	     { 0x20, 0, 0, 28 },
		{ 0x15, 0, 3, 0 },	    { 0x20, 0, 0, 24 },	     { 0x15, 0, 1, 0x541b },
		{ 0x06, 0, 0, 0x7fff0000 }, { 0x06, 0, 0, 0x50001 },
	};
	static const uint32_t path[] = { 0, 1, 2, 3, 4, 5, 6 };
	struct loupe_seccomp_data data = { .nr = 16, .arch = 0xc000003e, .args = { 3, 0x541b } };
	struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
	struct loupe_filter_run run;
	struct loupe_filter *filter;
	struct loupe_error err;
	uint32_t room[8];

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 8, LOUPE_FILTER_AUTO, &filter, &err), 0);
	run.path = room;
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), 0);
	assert_int_equal(run.result, 0x7fff0000);
	assert_int_equal(run.executed, 7);
	assert_int_equal(run.loads, 3);
	assert_memory_equal(run.path, path, sizeof(path));
	data.args[1] |= UINT64_C(1) << 32;
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), 0);
	assert_int_equal(run.result, 0x50001);
	assert_int_equal(run.executed, 5);
	input.len = 63;
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), -EINVAL);
	loupe_filter_destroy(filter);
}

static void unknown_ancillary_data_is_said(void **state)
{
	static const uint32_t ancillary[16];
	static const struct loupe_cbpf_insn insns[] = { { 0x20, 0, 0, 0xfffff024 },
							{ 0x20, 0, 0, 0xfffff00c },
							{ 0x16, 0, 0, 0 } };
	struct loupe_filter_input input = { .data = "", .len = 0 };
	struct loupe_filter_run run = { 0 };
	struct loupe_filter *filter;
	struct loupe_error err;

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 3, LOUPE_FILTER_AUTO, &filter, &err), 0);
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), -ENOTSUP);
	assert_string_equal(err.message,
			    "the filter reads ancillary data, and no values are given");
	input.ancillary = ancillary;
	assert_int_equal(loupe_filter_eval(filter, &input, &run, &err), -ENOTSUP);
	assert_string_equal(err.message, "netlink attribute search is not evaluated");
	loupe_filter_destroy(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alu_is_the_kernels),
		cmocka_unit_test(division_by_x_zero_returns_0),
		cmocka_unit_test(jumps_compare_unsigned),
		cmocka_unit_test(packets_are_big_endian_and_bounded),
		cmocka_unit_test(registers_and_scratch_move),
		cmocka_unit_test(seccomp_data_is_read_and_the_path_kept),
		cmocka_unit_test(unknown_ancillary_data_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
