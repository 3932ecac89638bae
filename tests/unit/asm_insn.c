// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/insn.h"
#include "insn/opcodes.h"

enum { DST = 1, SRC = 2, OFF = 4, IMM = 8 };

/* The fields that an instruction of this code uses; the others must be zero. 0: no such code. */
static unsigned int fields_of(uint8_t code)
{
	uint8_t op = BPF_OP(code), mode = BPF_MODE(code), size = BPF_SIZE(code);
	unsigned int source = BPF_SRC(code) == BPF_X ? SRC : IMM;

	switch (BPF_CLASS(code)) {
	case BPF_ALU:
	case BPF_ALU64:
		if (op == BPF_NEG)
			return BPF_SRC(code) == BPF_K ? DST : 0;
		if (op == BPF_END)
			return BPF_CLASS(code) == BPF_ALU || BPF_SRC(code) == BPF_K ? DST | IMM : 0;
		return op <= BPF_ARSH ? DST | source : 0;
	case BPF_JMP:
	case BPF_JMP32:
		if (code == (BPF_JMP | BPF_JA) || code == (BPF_JMP | BPF_JCOND))
			return OFF;
		if (code == (BPF_JMP32 | BPF_JA) || code == (BPF_JMP | BPF_CALL))
			return IMM;
		if (op == BPF_JA || op == BPF_CALL || op == BPF_EXIT || op > BPF_JSLE)
			return 0;
		return DST | OFF | source;
	case BPF_LD:
		if (size == BPF_DW)
			return 0;
		return mode == BPF_ABS ? IMM : mode == BPF_IND ? SRC | IMM : 0;
	case BPF_LDX:
		return mode == BPF_MEM || (mode == BPF_MEMSX && size != BPF_DW) ? DST | SRC | OFF
										: 0;
	case BPF_ST:
		return mode == BPF_MEM ? DST | OFF | IMM : 0;
	default:
		return mode == BPF_MEM || mode == BPF_ATOMIC ? DST | SRC | OFF : 0;
	}
}

static const int32_t imms[] = { 0, 1, -1, 8, 16, 32, 64, 211, INT32_MAX, INT32_MIN };
static const int16_t offs[] = { 0, 1, -1, 8, 32, INT16_MAX, INT16_MIN };
static const uint8_t regs[] = { 0, 1, 9, 10, 11, 15 };
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* Texts must give insn back: with and without the opcode, with a number and a comment around. */
static void check_round_trip(const struct loupe_insn *insn, unsigned int slots)
{
	static const char *const patterns[] = { "%s", "  12: %s   ; R0=scalar() # x", "%s // x" };
	struct loupe_insn_print_opts opts = { .symbol = loupe_insn_symbol };
	struct loupe_insn again[2];
	struct loupe_error err;
	char text[128], line[256];

	for (unsigned int i = 0; i < CNT(patterns) * 2; i++) {
		opts.no_code = i >= CNT(patterns);
		loupe_insn_print(text, sizeof(text), insn, &opts);
		snprintf(line, sizeof(line), patterns[i % CNT(patterns)], text);
		memset(again, 0, sizeof(again));
		if (loupe_asm_insn(line, again, &err) != (int)slots)
			fail_msg("'%s': column %u: %s", line, err.column, err.message);
		if (memcmp(again, insn, slots * sizeof(*insn)) != 0)
			fail_msg("'%s' of code %02x became code %02x dst %d src %d off %d imm %d",
				 line, insn->code, again->code, again->dst_reg, again->src_reg,
				 again->off, again->imm);
	}
}

static void every_valid_encoding_reads_back(void **state)
{
	unsigned int codes = 0;

	(void)state;
	for (unsigned int code = 0; code < 256; code++) {
		unsigned int fields = fields_of((uint8_t)code);

		codes += fields != 0;
		for (size_t n = 0; fields && n < 6 * 6 * 7 * 10; n++) {
			size_t d = n % 6, s = n / 6 % 6, o = n / 36 % 7, i = n / 252;
			struct loupe_insn insn = { .code = (uint8_t)code };

			if ((!(fields & DST) && d) || (!(fields & SRC) && s) ||
			    (!(fields & OFF) && o) || (!(fields & IMM) && i))
				continue;
			insn.dst_reg = fields & DST ? regs[d] & 0xfu : 0;
			insn.src_reg = fields & SRC ? regs[s] & 0xfu : 0;
			insn.off = fields & OFF ? offs[o] : 0;
			insn.imm = fields & IMM ? imms[i] : 0;
			check_round_trip(&insn, 1);
		}
	}
	/* ALU64, ALU, JMP (with ja, may_goto, call), JMP32 (with gotol), LD, LDX, ST, STX. */
	assert_int_equal(codes, 26 + 27 + 25 + 23 + 6 + 7 + 4 + 8);
}

static void variants_of_codes_read_back(void **state)
{
	static const int32_t atomics[] = { 0,	 0x50, 0x40, 0xa0, 0x01,  0x51,
					   0x41, 0xa1, 0xe1, 0xf1, 0x100, 0x110 };
	struct loupe_insn insn;

	(void)state;
	for (int code = 0; code < 256; code++) {
		if (BPF_CLASS(code) != BPF_STX || BPF_MODE(code) != BPF_ATOMIC)
			continue;
		for (size_t i = 0; i < CNT(atomics); i++) {
			insn = (struct loupe_insn){ (uint8_t)code, 1, 2, -8, atomics[i] };
			check_round_trip(&insn, 1);
		}
	}
	for (int16_t bits = 8; bits <= 32; bits = (int16_t)(bits * 2)) {
		insn = (struct loupe_insn){ BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, bits, 0 };
		check_round_trip(&insn, 1);
		insn.code = BPF_ALU | BPF_MOV | BPF_X;
		check_round_trip(&insn, 1);
	}
	for (int code = 0; code < 256; code++) {
		if ((BPF_CLASS(code) != BPF_ALU && BPF_CLASS(code) != BPF_ALU64) ||
		    (BPF_OP(code) != BPF_DIV && BPF_OP(code) != BPF_MOD))
			continue;
		insn = (struct loupe_insn){ (uint8_t)code, 3, 0, 1, 7 };
		if (BPF_SRC(code) == BPF_X)
			insn = (struct loupe_insn){ (uint8_t)code, 3, 4, 1, 0 };
		check_round_trip(&insn, 1);
	}
	insn = (struct loupe_insn){ BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, BPF_ADDR_SPACE_CAST,
				    0x10002 };
	check_round_trip(&insn, 1);
	insn = (struct loupe_insn){ BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, BPF_ADDR_PERCPU, 0 };
	check_round_trip(&insn, 1);
	insn = (struct loupe_insn){ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 };
	check_round_trip(&insn, 1);
	insn = (struct loupe_insn){ BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, -7 };
	check_round_trip(&insn, 1);
	insn = (struct loupe_insn){ BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, 4711 };
	check_round_trip(&insn, 1);
	for (int32_t id = -2; id < 214; id++) {
		insn = (struct loupe_insn){ BPF_JMP | BPF_CALL, 0, 0, 0, id };
		check_round_trip(&insn, 1);
	}
	insn = (struct loupe_insn){ BPF_ST | BPF_NOSPEC, 0, 0, 0, 0 };
	check_round_trip(&insn, 1);
}

static void constants_of_64_bits_read_back(void **state)
{
	static const uint8_t kinds[] = { 0,
					 BPF_PSEUDO_MAP_FD,
					 BPF_PSEUDO_MAP_VALUE,
					 BPF_PSEUDO_BTF_ID,
					 BPF_PSEUDO_FUNC,
					 BPF_PSEUDO_MAP_IDX,
					 BPF_PSEUDO_MAP_IDX_VALUE };

	(void)state;
	for (size_t k = 0; k < CNT(kinds); k++) {
		for (size_t n = 0; n < CNT(imms) * CNT(imms); n++) {
			struct loupe_insn insn[2] = { { .code = 0x18, .dst_reg = 3 }, { 0 } };
			bool one_half = kinds[k] == BPF_PSEUDO_MAP_FD ||
					kinds[k] == BPF_PSEUDO_FUNC ||
					kinds[k] == BPF_PSEUDO_MAP_IDX;

			insn[0].src_reg = kinds[k] & 0xfu;
			insn[0].imm = imms[n % CNT(imms)];
			insn[1].imm = one_half ? 0 : imms[n / CNT(imms)];
			check_round_trip(insn, 2);
		}
	}
}

/* What is printed of any bits, valid or not, is read, and prints the same again. */
static void every_printed_text_is_read(void **state)
{
	struct loupe_insn insn[2], again[2];
	char text[128], text_again[128];
	struct loupe_error err;

	(void)state;
	for (unsigned int n = 0; n < 256 * 16 * 7 * 10; n++) {
		insn[0] = (struct loupe_insn){ .code = (uint8_t)n,
					       .dst_reg = 2,
					       .src_reg = n / 256 % 16 & 0xf,
					       .off = offs[n / 4096 % 7],
					       .imm = imms[n / 4096 / 7] };
		insn[1] = (struct loupe_insn){ .imm = 5 };
		memset(again, 0, sizeof(again));
		loupe_insn_print(text, sizeof(text), insn, NULL);
		if (loupe_asm_insn(text, again, &err) < 1)
			fail_msg("'%s': column %u: %s", text, err.column, err.message);
		loupe_insn_print(text_again, sizeof(text_again), again, NULL);
		assert_string_equal(text_again, text);
	}
}

static const struct {
	const char *text;
	struct loupe_insn insn;
} free_forms[] = {
	{ "r1=5", { 0xb7, 1, 0, 0, 5 } },
	{ "w1 = 0xffffffff", { 0xb4, 1, 0, 0, -1 } },
	{ "r1 = -0x80000000", { 0xb7, 1, 0, 0, INT32_MIN } },
	{ "\tr1 = *( u8 * ) ( r2 )", { 0x71, 1, 2, 0, 0 } },
	{ "r1 = *(u8 *)(r2 + 0x10)", { 0x71, 1, 2, 16, 0 } },
	{ "r1 = *(u8 *)(r2-8)", { 0x71, 1, 2, -8, 0 } },
	{ "*(u32*)(r10 - 4) = w3", { 0x63, 10, 3, -4, 0 } },
	{ "if w1 s<= 5 goto +3", { 0xd6, 1, 0, 3, 5 } },
	{ "if r1 >= r2 goto pc-3", { 0x3d, 1, 2, -3, 0 } },
	{ "if r1 == 4294967295 goto pc+0", { 0x15, 1, 0, 0, -1 } },
	{ "call bpf_map_lookup_elem", { 0x85, 0, 0, 0, 1 } },
	{ "call #300", { 0x85, 0, 0, 0, 300 } },
	{ "call some_kfunc#300", { 0x85, 0, 2, 0, 300 } },
	{ "call pc-1", { 0x85, 0, 1, 0, -1 } },
	{ "(df) r1 = bswap16 r1", { 0xdf, 1, 0, 0, 16 } },
	{ "exit # done", { 0x95, 0, 0, 0, 0 } },
};

static void people_may_write_freely(void **state)
{
	struct loupe_insn insn[2];
	struct loupe_error err;

	(void)state;
	for (size_t i = 0; i < CNT(free_forms); i++) {
		if (loupe_asm_insn(free_forms[i].text, insn, &err) != 1)
			fail_msg("'%s': column %u: %s", free_forms[i].text, err.column,
				 err.message);
		assert_memory_equal(insn, &free_forms[i].insn, sizeof(insn[0]));
	}
}

static void constants_choose_the_shortest_form_that_means_the_same(void **state)
{
	struct loupe_insn insn[2];

	(void)state;
	assert_int_equal(loupe_asm_insn("r1 = 0x7fffffff", insn, NULL), 1);
	/* As a move it would become 0xffffffff80000000. */
	assert_int_equal(loupe_asm_insn("r1 = 0x80000000", insn, NULL), 2);
	assert_int_equal(insn[0].imm, INT32_MIN);
	assert_int_equal(insn[1].imm, 0);
	assert_int_equal(loupe_asm_insn("r1 = 1 ll", insn, NULL), 2);
	assert_int_equal(loupe_asm_insn("(18) r1 = 0x1", insn, NULL), 2);
	assert_int_equal(loupe_asm_insn("r1 = -1 ll", insn, NULL), 2);
	assert_int_equal(insn[1].imm, -1);
}

static const struct {
	const char *text;
	unsigned int column;
} mistakes[] = {
	{ "r11x = 1", 1 },
	{ "r16 = 1", 1 },
	{ "r1 = w2", 6 },
	{ "r1 += w2", 7 },
	{ "r1 == 2", 4 },
	{ "r1 = 0x1ffffffffffffffff", 6 },
	{ "w1 = 0x100000000", 6 },
	{ "r1 = *(u9 *)(r2 +0)", 8 },
	{ "r1 = *(u8 *)(r2 +32768)", 18 },
	{ "r1 = *(u8 *)(w2 +0)", 14 },
	{ "r1 = *(u8 *)skb[2]", 1 },
	{ "r1 = -r2", 6 },
	{ "r1 = be16 r2", 11 },
	{ "r1 = atomic_xchg((u64 *)(r2 +0), r1)", 1 },
	{ "r1 = atomic_xchg((u32 *)(r2 +0), r3)", 1 },
	{ "r1 = atomic_cmpxchg((u32 *)(r2 +0), r0, r3)", 1 },
	{ "if r1 = 5 goto pc+1", 7 },
	{ "if r1 == 5 goto 1", 17 },
	{ "if r1 == 5 goto pc+40000", 19 },
	{ "goto out", 6 },
	{ "call bpf_map_lookup_elem#2", 6 },
	{ "exit 5", 6 },
	{ "(07) r1 = 5", 1 },
	{ "(zz) r1 = 5", 1 },
	{ "frobnicate", 1 },
	{ "BUG_ld_18", 1 },
	{ "BUG_ld_9", 1 },
	{ "", 1 },
	{ "r1 = map[counts]", 10 },
};

static void mistakes_are_pointed_at(void **state)
{
	struct loupe_insn insn[2];
	struct loupe_error err;

	(void)state;
	for (size_t i = 0; i < CNT(mistakes); i++) {
		err = (struct loupe_error){ .column = 99 };
		assert_int_equal(loupe_asm_insn(mistakes[i].text, insn, &err), -EINVAL);
		if (err.column != mistakes[i].column)
			fail_msg("'%s': column %u, not %u: %s", mistakes[i].text, err.column,
				 mistakes[i].column, err.message);
		assert_true(err.message[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_valid_encoding_reads_back),
		cmocka_unit_test(variants_of_codes_read_back),
		cmocka_unit_test(constants_of_64_bits_read_back),
		cmocka_unit_test(every_printed_text_is_read),
		cmocka_unit_test(people_may_write_freely),
		cmocka_unit_test(constants_choose_the_shortest_form_that_means_the_same),
		cmocka_unit_test(mistakes_are_pointed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
