// SPDX-License-Identifier: GPL-2.0-only
/* Right texts were read in the log of a running 6.18 kernel, but for codes that it refuses
 * unprinted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "insn/opcodes.h"
#include "bpfloupe/insn.h"

#define INSN(c, d, s, o, i)                                                              \
	{                                                                                \
		{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }, \
		{                                                                        \
			0                                                                \
		}                                                                        \
	}

static const struct {
	struct loupe_insn insn[2];
	const char *text;
} rows[] = {
	{ INSN(0xbf, 6, 1, 0, 0), "(bf) r6 = r1" },
	{ INSN(0xbf, 1, 2, 8, 0), "(bf) r1 = (s8)r2" },
	{ INSN(0xbc, 1, 2, 16, 0), "(bc) w1 = (s16)w2" },
	{ INSN(0xbf, 1, 2, 32, 0), "(bf) r1 = (s32)r2" },
	{ INSN(0xbf, 1, 2, 1, 1), "(bf) r1 = addr_space_cast(r2, 0, 1)" },
	{ INSN(0xbf, 1, 2, 1, 0x10000), "(bf) r1 = addr_space_cast(r2, 1, 0)" },
	{ INSN(0xb7, 0, 0, 0, -1), "(b7) r0 = -1" },
	{ INSN(0x07, 3, 0, 0, 14), "(07) r3 += 14" },
	{ INSN(0x3f, 3, 4, 1, 0), "(3f) r3 s/= r4" },
	{ INSN(0x94, 3, 0, 1, 7), "(94) w3 s%= 7" },
	{ INSN(0xc7, 3, 0, 0, 3), "(c7) r3 s>>= 3" },
	{ INSN(0x84, 3, 0, 0, 0), "(84) w3 = -w3" },
	{ INSN(0xdc, 3, 0, 0, 16), "(dc) r3 = be16 r3" },
	{ INSN(0xd4, 3, 0, 0, 64), "(d4) r3 = le64 r3" },
	{ INSN(0xd7, 3, 0, 0, 32), "(d7) r3 = bswap32 r3" },
	{ INSN(0x71, 1, 2, 12, 0), "(71) r1 = *(u8 *)(r2 +12)" },
	{ INSN(0x79, 1, 10, -8, 0), "(79) r1 = *(u64 *)(r10 -8)" },
	{ INSN(0x81, 1, 2, 0, 0), "(81) r1 = *(s32 *)(r2 +0)" },
	{ INSN(0x63, 10, 1, -4, 0), "(63) *(u32 *)(r10 -4) = r1" },
	{ INSN(0x6a, 10, 0, -4, -2), "(6a) *(u16 *)(r10 -4) = -2" },
	{ INSN(0x28, 0, 0, 0, 12), "(28) r0 = *(u16 *)skb[12]" },
	{ INSN(0x50, 0, 7, 0, 3), "(50) r0 = *(u8 *)skb[r7 + 3]" },
	{ INSN(0xc3, 1, 2, 0, 0), "(c3) lock *(u32 *)(r1 +0) += r2" },
	{ INSN(0xdb, 1, 2, 8, 0xa0), "(db) lock *(u64 *)(r1 +8) ^= r2" },
	{ INSN(0xc3, 1, 2, 0, 1), "(c3) r2 = atomic_fetch_add((u32 *)(r1 +0), r2)" },
	{ INSN(0xdb, 1, 2, 0, 0xe1), "(db) r2 = atomic64_xchg((u64 *)(r1 +0), r2)" },
	{ INSN(0xdb, 1, 2, 0, 0xf1), "(db) r0 = atomic64_cmpxchg((u64 *)(r1 +0), r0, r2)" },
	{ INSN(0xc3, 0, 1, 0, 0x100), "(c3) r0 = load_acquire((u32 *)(r1 +0))" },
	{ INSN(0xd3, 1, 2, -1, 0x110), "(d3) store_release((u8 *)(r1 -1), r2)" },
	{ INSN(0xc3, 1, 2, 0, 0x20), "BUG_c3" },
	{ INSN(0x05, 0, 0, -3, 0), "(05) goto pc-3" },
	{ INSN(0x06, 0, 0, 0, 70000), "(06) gotol pc+70000" },
	{ INSN(0xe5, 0, 0, 2, 0), "(e5) may_goto pc+2" },
	{ INSN(0xe5, 0, 1, 2, 0), "(e5) if r0 (null) 0x0 goto pc+2" },
	{ INSN(0x2d, 2, 3, 190, 0), "(2d) if r2 > r3 goto pc+190" },
	{ INSN(0x15, 2, 0, 1, -1), "(15) if r2 == 0xffffffff goto pc+1" },
	{ INSN(0xd6, 2, 0, 1, 5), "(d6) if w2 s<= 0x5 goto pc+1" },
	{ INSN(0x45, 2, 0, 1, 5), "(45) if r2 & 0x5 goto pc+1" },
	{ INSN(0x95, 0, 0, 0, 0), "(95) exit" },
	{ INSN(0x85, 0, 0, 0, 25), "(85) call bpf_perf_event_output#25" },
	{ INSN(0x85, 0, 0, 0, 0), "(85) call bpf_unspec#0" },
	{ INSN(0x85, 0, 0, 0, 212), "(85) call unknown#212" },
	{ INSN(0x85, 0, 1, 0, 140), "(85) call pc+140" },
	{ INSN(0x85, 0, 2, 0, 4711), "(85) call <error>#4711" },
	{ { { .code = 0x18, .dst_reg = 2, .imm = -1 }, { 0 } }, "(18) r2 = 0xffffffff" },
	{ { { .code = 0x18, .dst_reg = 2, .imm = 1 }, { .imm = -1 } },
	  "(18) r2 = 0xffffffff00000001" },
	{ { { .code = 0x18, .dst_reg = 2, .src_reg = BPF_PSEUDO_FUNC, .imm = 6 }, { 0 } },
	  "(18) r2 = 0x6" },
	{ INSN(0x10, 0, 0, 0, 0), "BUG_ld_10" },
	{ INSN(0x01, 0, 0, 0, 0), "BUG_ldx_01" },
	{ INSN(0x02, 0, 0, 0, 0), "BUG_st_02" },
};

static void prints_what_the_kernel_prints(void **state)
{
	char buf[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int len = loupe_insn_print(buf, sizeof(buf), rows[i].insn, NULL);

		assert_string_equal(buf, rows[i].text);
		assert_int_equal(len, strlen(rows[i].text));
	}
}

static void cuts_to_the_buffer_and_returns_the_whole_length(void **state)
{
	struct loupe_insn insn = { .code = 0xbf, .dst_reg = 6, .src_reg = 1 };
	char buf[8] = "xxxxxxx";

	(void)state;
	assert_int_equal(loupe_insn_print(buf, 6, &insn, NULL), 12);
	assert_string_equal(buf, "(bf) ");
	assert_int_equal(buf[6], 'x');
	assert_int_equal(loupe_insn_print(NULL, 0, &insn, NULL), 12);
}

static const char *name_of(void *ctx, const struct loupe_insn *insn)
{
	assert_int_equal(insn->imm, 4711);
	return ctx;
}

static uint64_t address_of(void *ctx, const struct loupe_insn *insn)
{
	(void)ctx;
	return 0xffff000000000000ull + (uint32_t)insn->imm;
}

static void callbacks_fill_in_what_only_the_kernel_knows(void **state)
{
	char name[] = "bpf_rdonly_cast";
	struct loupe_insn_print_opts opts = { .kfunc_name = name_of,
					      .address = address_of,
					      .ctx = name };
	struct loupe_insn call = { .code = 0x85, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = 4711 };
	struct loupe_insn map[2] = { { .code = 0x18, .src_reg = BPF_PSEUDO_MAP_FD, .imm = 3 },
				     { 0 } };
	char buf[64];

	(void)state;
	loupe_insn_print(buf, sizeof(buf), &call, &opts);
	assert_string_equal(buf, "(85) call bpf_rdonly_cast#4711");
	loupe_insn_print(buf, sizeof(buf), map, &opts);
	assert_string_equal(buf, "(18) r0 = 0xffff000000000003");
	opts.hide_pointers = true;
	opts.no_code = true;
	loupe_insn_print(buf, sizeof(buf), map, &opts);
	assert_string_equal(buf, "r0 = 0x0");
}

static void symbols_name_maps(void **state)
{
	struct loupe_map map = { .name = ".rodata", .fd = 3, .inner_map_fd = -1 };
	int32_t fds[] = { 0, 3 };
	struct loupe_image image = {
		.maps = &map, .map_cnt = 1, .fd_array = fds, .fd_array_cnt = 2
	};
	struct loupe_insn_print_opts opts = { .symbol = loupe_insn_symbol, .ctx = &image };
	struct loupe_insn insn[2] = { { .code = 0x18, .dst_reg = 1 }, { .imm = 8 } };
	static const struct {
		uint8_t src;
		int32_t imm;
		const char *text;
	} symbols[] = {
		{ 0, 5, "(18) r1 = 0x800000005 ll" },
		{ BPF_PSEUDO_MAP_FD, 3, "(18) r1 = map[.rodata]" },
		{ BPF_PSEUDO_MAP_FD, 4, "(18) r1 = map[fd 4]" },
		{ BPF_PSEUDO_MAP_VALUE, 3, "(18) r1 = map_value[.rodata]+8" },
		{ BPF_PSEUDO_MAP_IDX, 1, "(18) r1 = map[#1 .rodata]" },
		{ BPF_PSEUDO_MAP_IDX_VALUE, 2, "(18) r1 = map_value[#2]+8" },
		{ BPF_PSEUDO_BTF_ID, 12, "(18) r1 = btf_id 12 fd 8" },
		{ BPF_PSEUDO_FUNC, 5, "(18) r1 = func pc+5" },
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		insn[0].src_reg = symbols[i].src & 0xf;
		insn[0].imm = symbols[i].imm;
		loupe_insn_print(buf, sizeof(buf), insn, &opts);
		assert_string_equal(buf, symbols[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_what_the_kernel_prints),
		cmocka_unit_test(cuts_to_the_buffer_and_returns_the_whole_length),
		cmocka_unit_test(callbacks_fill_in_what_only_the_kernel_knows),
		cmocka_unit_test(symbols_name_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
