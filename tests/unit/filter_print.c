// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"

/* Every instruction form, at index 7, in both syntaxes. */
static const struct {
	enum loupe_filter_flavour flavour;
	struct loupe_cbpf_insn insn;
	const char *asm_text, *words;
} rows[] = {
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 0 }, "ld       [0]", "A = nr" },
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 4 }, "ld       [4]", "A = arch" },
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 8 }, "ld       [8]", "A = ip.lo" },
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 12 }, "ld       [12]", "A = ip.hi" },
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 24 }, "ld       [24]", "A = args[1].lo" },
	{ LOUPE_FILTER_SECCOMP, { 0x20, 0, 0, 60 }, "ld       [60]", "A = args[5].hi" },
	{ LOUPE_FILTER_SECCOMP, { 0x80, 0, 0, 0 }, "ld       #pktlen", "A = length" },
	{ LOUPE_FILTER_SOCKET, { 0x20, 0, 0, 26 }, "ld       [26]", "A = u32 packet[26]" },
	{ LOUPE_FILTER_SOCKET, { 0x28, 0, 0, 12 }, "ldh      [12]", "A = u16 packet[12]" },
	{ LOUPE_FILTER_SOCKET, { 0x30, 0, 0, 23 }, "ldb      [23]", "A = u8 packet[23]" },
	{ LOUPE_FILTER_SOCKET, { 0x48, 0, 0, 14 }, "ldh      [x + 14]", "A = u16 packet[X + 14]" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x50, 0, 0, 0xfffffffe },
	  "ldb      [x + -2]",
	  "A = u8 packet[X + -2]" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x30, 0, 0, 0xfff00009 },
	  "ldb      [-1048567]",
	  "A = u8 packet[net + 9]" },
	{ LOUPE_FILTER_SOCKET, { 0x28, 0, 0, 0xfffff000 }, "ldh      [-4096]", "A = protocol" },
	{ LOUPE_FILTER_SOCKET, { 0x20, 0, 0, 0xfffff028 }, "ld       [-4056]", "A ^= X" },
	{ LOUPE_FILTER_SOCKET,
	  { 0xb1, 0, 0, 14 },
	  "ldxb     4*([14]&0xf)",
	  "X = 4 * (packet[14] & 0xf)" },
	{ LOUPE_FILTER_SOCKET, { 0x81, 0, 0, 0 }, "ldx      #pktlen", "X = length" },
	{ LOUPE_FILTER_SOCKET, { 0x00, 0, 0, 17 }, "ld       #0x11", "A = 0x11" },
	{ LOUPE_FILTER_SOCKET, { 0x01, 0, 0, 17 }, "ldx      #0x11", "X = 0x11" },
	{ LOUPE_FILTER_SOCKET, { 0x60, 0, 0, 3 }, "ld       M[3]", "A = M[3]" },
	{ LOUPE_FILTER_SOCKET, { 0x61, 0, 0, 3 }, "ldx      M[3]", "X = M[3]" },
	{ LOUPE_FILTER_SOCKET, { 0x02, 0, 0, 3 }, "st       M[3]", "M[3] = A" },
	{ LOUPE_FILTER_SOCKET, { 0x03, 0, 0, 3 }, "stx      M[3]", "M[3] = X" },
	{ LOUPE_FILTER_SOCKET, { 0x07, 0, 0, 0 }, "tax", "X = A" },
	{ LOUPE_FILTER_SOCKET, { 0x87, 0, 0, 0 }, "txa", "A = X" },
	{ LOUPE_FILTER_SOCKET, { 0x04, 0, 0, 20 }, "add      #20", "A += 0x14" },
	{ LOUPE_FILTER_SOCKET, { 0x0c, 0, 0, 0 }, "add      x", "A += X" },
	{ LOUPE_FILTER_SOCKET, { 0x54, 0, 0, 0x3f }, "and      #0x3f", "A &= 0x3f" },
	{ LOUPE_FILTER_SOCKET, { 0x64, 0, 0, 2 }, "lsh      #2", "A <<= 2" },
	{ LOUPE_FILTER_SOCKET, { 0x94, 0, 0, 7 }, "mod      #7", "A %= 7" },
	{ LOUPE_FILTER_SOCKET, { 0x84, 0, 0, 0 }, "neg", "A = -A" },
	{ LOUPE_FILTER_SOCKET, { 0x05, 0, 0, 300 }, "ja       308", "goto 308" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x15, 1, 3, 0x800 },
	  "jeq      #0x800           jt 9\tjf 11",
	  "if A == 0x800 goto 9 else 11" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x45, 0, 2, 0x1fff },
	  "jset     #0x1fff          jt 8\tjf 10",
	  "if A & 0x1fff goto 8 else 10" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x2d, 0, 2, 0 },
	  "jgt      x                jt 8\tjf 10",
	  "if A > X goto 8 else 10" },
	{ LOUPE_FILTER_SOCKET,
	  { 0x35, 0, 2, 1 },
	  "jge      #0x1             jt 8\tjf 10",
	  "if A >= 0x1 goto 8 else 10" },
	{ LOUPE_FILTER_SOCKET, { 0x06, 0, 0, 262144 }, "ret      #262144", "return 262144" },
	{ LOUPE_FILTER_SOCKET, { 0x16, 0, 0, 0 }, "ret", "return A" },
	{ LOUPE_FILTER_SECCOMP,
	  { 0x06, 0, 0, 0x7fff0000 },
	  "ret      #0x7fff0000",
	  "return ALLOW" },
	{ LOUPE_FILTER_SECCOMP, { 0x06, 0, 0, 0x50026 }, "ret      #0x50026", "return ERRNO(38)" },
	{ LOUPE_FILTER_SECCOMP,
	  { 0x06, 0, 0, 0x80000000 },
	  "ret      #0x80000000",
	  "return KILL_PROCESS" },
	{ LOUPE_FILTER_SECCOMP, { 0x06, 0, 0, 0 }, "ret      #0x0", "return KILL_THREAD" },
	{ LOUPE_FILTER_SECCOMP,
	  { 0x06, 0, 0, 0x12340000 },
	  "ret      #0x12340000",
	  "return 0x12340000" },
	{ LOUPE_FILTER_SOCKET, { 0xff, 0, 0, 0 }, "unimp    0xff", "unimp    0xff" },
};

static void each_form_prints(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[160];

		loupe_filter_insn_text(rows[i].flavour, rows[i].insn, 7, LOUPE_SYNTAX_ASM, buf,
				       sizeof(buf));
		assert_string_equal(buf, rows[i].asm_text);
		loupe_filter_insn_text(rows[i].flavour, rows[i].insn, 7, LOUPE_SYNTAX_WORDS, buf,
				       sizeof(buf));
		assert_string_equal(buf, rows[i].words);
	}
}

static const struct loupe_cbpf_insn small[] = {
	{ 0x20, 0, 0, 0 },
	{ 0x15, 0, 1, 1 },
	{ 0x06, 0, 0, 0x7fff0000 },
	{ 0x06, 0, 0, 0x00050001 },
};

static void each_emission_is_exact(void **state)
{
	static const struct {
		enum loupe_filter_emit_as as;
		const char *text;
	} wanted[] = {
		{ LOUPE_EMIT_DDD, "4\n32 0 0 0\n21 0 1 1\n6 0 0 2147418112\n6 0 0 327681\n" },
		{ LOUPE_EMIT_ASM, "(000) ld       [0]\n"
				  "(001) jeq      #0x1             jt 2\tjf 3\n"
				  "(002) ret      #0x7fff0000\n(003) ret      #0x50001\n" },
		{ LOUPE_EMIT_WORDS, "   0: A = nr\n   1: if A == 0x1 goto 2 else 3\n"
				    "   2: return ALLOW\n   3: return ERRNO(1)\n" },
		{ LOUPE_EMIT_C,
		  "{ 0x20,   0,   0, 0x00000000 }, /*    0: A = nr */\n"
		  "{ 0x15,   0,   1, 0x00000001 }, /*    1: if A == 0x1 goto 2 else 3 */\n"
		  "{ 0x06,   0,   0, 0x7fff0000 }, /*    2: return ALLOW */\n"
		  "{ 0x06,   0,   0, 0x00050001 }, /*    3: return ERRNO(1) */\n" },
		{ LOUPE_EMIT_STATS, "                 before    after\n"
				    "instructions          4        4\n"
				    "loads                 1        1\n"
				    "branches              1        1\n"
				    "jumps                 0        0\n"
				    "returns               2        2\n"
				    "blocks                3        3\n"
				    "longest path          3        3\n" },
	};
	struct loupe_filter *filter, *again;
	struct loupe_error err;

	(void)state;
	assert_int_equal(loupe_filter_create("s", small, 4, LOUPE_FILTER_AUTO, &filter, &err), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		char *text;
		size_t len;

		assert_int_equal(loupe_filter_emit(filter, NULL, wanted[i].as, &text, &len), 0);
		assert_string_equal(text, wanted[i].text);
		assert_int_equal(len, strlen(text));
		assert_int_equal(loupe_filter_emit_by_name(loupe_filter_emit_name(wanted[i].as)),
				 wanted[i].as);
		/* What we write as C and -ddd we read back. */
		if (wanted[i].as == LOUPE_EMIT_DDD || wanted[i].as == LOUPE_EMIT_C) {
			assert_int_equal(loupe_filter_load("x", text, len, NULL, &again, &err), 0);
			assert_int_equal(again->cnt, 4);
			assert_memory_equal(again->insns, small, sizeof(small));
			loupe_filter_destroy(again);
		}
		free(text);
	}
	assert_int_equal(loupe_filter_emit_by_name("svg"), -1);
	loupe_filter_destroy(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_prints),
		cmocka_unit_test(each_emission_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
