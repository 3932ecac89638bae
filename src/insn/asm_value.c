// SPDX-License-Identifier: GPL-2.0-only
/* What stands on the right of "rD =". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "insn/asm_operand.h"
#include "insn/opcodes.h"
#include "insn/syntax.h"

/* The atomic function that word names, and whether with "64"; NULL if none. */
static const struct insn_atomic *atomic_by_name(const struct asm_word *word, bool *is_wide)
{
	char name[32];

	for (size_t i = 0; i < INSN_ATOMIC_CNT; i++) {
		const struct insn_atomic *atomic = &insn_atomics[i];

		*is_wide = false;
		if (atomic->form == INSN_ATOMIC_LOAD && asm_word_is(word, atomic->word))
			return atomic;
		if (atomic->form != INSN_ATOMIC_FETCH && atomic->form != INSN_ATOMIC_CMPXCHG)
			continue;
		snprintf(name, sizeof(name), "atomic_%s", atomic->word);
		if (asm_word_is(word, name))
			return atomic;
		*is_wide = true;
		snprintf(name, sizeof(name), "atomic64_%s", atomic->word);
		if (asm_word_is(word, name))
			return atomic;
	}
	return NULL;
}

/* "rD = atomic_xchg((u32 *)(r1 +0), r2)" and the like, from behind the function's name. */
static int parse_atomic(struct asm_scan *scan, const struct insn_atomic *atomic, bool is_wide,
			const struct asm_reg *left, const char *start, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_reg base, src;

	if (asm_atomic_address(scan, insn, &base))
		return -EINVAL;
	insn->imm = atomic->imm;
	if (atomic->form == INSN_ATOMIC_LOAD) {
		asm_set_dst(insn, left);
		asm_set_src(insn, &base);
		return asm_expect(scan, ")");
	}
	if (is_wide != (BPF_SIZE(insn->code) == BPF_DW))
		return asm_fail(scan, start, "atomic64_ goes with u64, atomic_ with smaller types");
	if (asm_expect(scan, ","))
		return -EINVAL;
	if (atomic->form == INSN_ATOMIC_CMPXCHG) {
		if (left->no != 0)
			return asm_fail(scan, start,
					"cmpxchg leaves its result in r0: write r0 on the left");
		if (asm_expect(scan, "r0") || asm_expect(scan, ","))
			return -EINVAL;
	}
	if (asm_expect_reg(scan, false, &src) || asm_expect(scan, ")"))
		return -EINVAL;
	if (atomic->form == INSN_ATOMIC_FETCH && src.no != left->no)
		return asm_fail(scan, start,
				"the register on the left must be the last argument: the old value "
				"comes back in it");
	asm_set_dst(insn, &base);
	asm_set_src(insn, &src);
	return 0;
}

static void set_ldimm64(struct asm_insn *out, uint64_t value)
{
	out->insn[0].code = BPF_LD | BPF_IMM | BPF_DW;
	out->insn[0].imm = (int32_t)(uint32_t)value;
	out->insn[1].imm = (int32_t)(uint32_t)(value >> 32);
	out->slots = 2;
}

/* "[name]", "[fd 3]", "[#0]" or "[#0 name]". */
static int map_subscript(struct asm_scan *scan, struct asm_insn *out, bool is_value)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_word word;

	if (asm_expect(scan, "["))
		return -EINVAL;
	insn->src_reg = is_value ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
	if (asm_take(scan, "#")) {
		insn->src_reg = is_value ? BPF_PSEUDO_MAP_IDX_VALUE : BPF_PSEUDO_MAP_IDX;
		if (asm_imm32(scan, "the map's index", &insn->imm))
			return -EINVAL;
		asm_take_word(scan, &word); /* the name is for people */
		return asm_expect(scan, "]");
	}
	if (!asm_take_word(scan, &word))
		return asm_fail(scan, scan->p, "expected a map's name, fd NUMBER or #INDEX here");
	if (asm_word_is(&word, "fd") && asm_at_number(scan)) {
		if (asm_imm32(scan, "the map's fd", &insn->imm))
			return -EINVAL;
		return asm_expect(scan, "]");
	}
	out->ref = ASM_REF_MAP;
	out->name = word;
	return asm_expect(scan, "]");
}

/* Loads of 64-bit constants by what they mean. 1: it was one, 0: it was none, or -EINVAL. */
static int parse_symbol(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = out->insn;
	bool is_value = asm_take(scan, "map_value");
	uint32_t number;

	if (is_value || asm_take(scan, "map")) {
		set_ldimm64(out, 0);
		if (map_subscript(scan, out, is_value))
			return -EINVAL;
		if (is_value && asm_take(scan, "+") && asm_imm32(scan, "the offset", &insn[1].imm))
			return -EINVAL;
		return 1;
	}
	if (asm_take(scan, "btf_id")) {
		set_ldimm64(out, 0);
		insn->src_reg = BPF_PSEUDO_BTF_ID;
		if (asm_u32(scan, "the BTF id", &number) ||
		    (asm_take(scan, "fd") && asm_imm32(scan, "the fd", &insn[1].imm)))
			return -EINVAL;
		insn->imm = (int32_t)number;
		return 1;
	}
	if (asm_take(scan, "func")) {
		set_ldimm64(out, 0);
		insn->src_reg = BPF_PSEUDO_FUNC;
		return asm_target(scan, out, ASM_REF_JUMP32) ? -EINVAL : 1;
	}
	return 0;
}

/* "skb[12]" or "skb[r7 + 3]"; "skb" was taken. */
static int parse_skb(struct asm_scan *scan, const struct asm_reg *left, uint8_t size,
		     const char *start, struct loupe_insn *insn)
{
	struct asm_reg index;

	if (left->no != 0 || !left->wide)
		return asm_fail(scan, start,
				"a packet load leaves its result in r0: write r0 on the left");
	if (asm_expect(scan, "["))
		return -EINVAL;
	insn->code = BPF_LD | BPF_ABS | size;
	if (asm_take_reg(scan, &index)) {
		insn->code = BPF_LD | BPF_IND | size;
		asm_set_src(insn, &index);
		if (asm_expect(scan, "+"))
			return -EINVAL;
	}
	return asm_imm32(scan, "the packet offset", &insn->imm) || asm_expect(scan, "]") ? -EINVAL
											 : 0;
}

/* "*(u8 *)(r2 +12)" or "*(u8 *)skb[...]" on the right; the '*' was taken. */
static int parse_load(struct asm_scan *scan, const struct asm_reg *left, const char *start,
		      struct loupe_insn *insn)
{
	struct asm_reg src;
	bool is_signed;
	uint8_t size;

	if (asm_expect(scan, "(") || asm_cast_type(scan, &is_signed, &size))
		return -EINVAL;
	if (!is_signed && asm_take(scan, "skb"))
		return parse_skb(scan, left, size, start, insn);
	if (asm_address(scan, &src, &insn->off))
		return -EINVAL;
	insn->code = BPF_LDX | size;
	insn->code |= is_signed ? BPF_MEMSX : BPF_MEM;
	asm_set_dst(insn, left);
	asm_set_src(insn, &src);
	return 0;
}

/* "addr_space_cast(r2, 0, 1)"; its name was taken. */
static int parse_space_cast(struct asm_scan *scan, struct loupe_insn *insn)
{
	struct asm_reg src;
	uint64_t to, from;

	if (asm_expect(scan, "(") || asm_expect_reg(scan, true, &src) || asm_expect(scan, ",") ||
	    asm_number(scan, "the address space", 0, UINT16_MAX, &to) || asm_expect(scan, ",") ||
	    asm_number(scan, "the address space", 0, UINT16_MAX, &from) || asm_expect(scan, ")"))
		return -EINVAL;
	insn->code = BPF_ALU64 | BPF_MOV | BPF_X;
	insn->off = BPF_ADDR_SPACE_CAST;
	insn->imm = (int32_t)((uint32_t)to << 16 | (uint32_t)from);
	asm_set_src(insn, &src);
	return 0;
}

/* "be16 r1", "le32 r1", "bswap64 r1". 1: it was one, 0: it was none, or -EINVAL. */
static int parse_swap(struct asm_scan *scan, const struct asm_reg *left, struct loupe_insn *insn)
{
	static const struct {
		const char *word;
		uint8_t code;
	} swaps[] = {
		{ "bswap", BPF_ALU64 | BPF_END | BPF_TO_LE },
		{ "be", BPF_ALU | BPF_END | BPF_TO_BE },
		{ "le", BPF_ALU | BPF_END | BPF_TO_LE },
	};
	struct asm_reg src;
	const char *start;

	asm_space(scan);
	for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
		size_t len = strlen(swaps[i].word);

		if (strncmp(scan->p, swaps[i].word, len) != 0)
			continue;
		scan->p += len;
		insn->code = swaps[i].code;
		if (asm_imm32(scan, "the number of bits", &insn->imm))
			return -EINVAL;
		asm_space(scan);
		start = scan->p;
		if (asm_expect_reg(scan, true, &src))
			return -EINVAL;
		if (src.no != left->no)
			return asm_fail(scan, start,
					"a byte swap has the same register on both sides");
		return 1;
	}
	return 0;
}

/* A number on the right of '='. want: the opcode byte in front of the line, or ASM_ANY_CODE. */
static int parse_constant(struct asm_scan *scan, const struct asm_reg *left, int want,
			  struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	const char *start;
	uint64_t value;
	bool fits, negative;

	asm_space(scan);
	start = scan->p;
	negative = *start == '-';
	if (asm_number(scan, "the constant", INT64_MIN, UINT64_MAX, &value))
		return -EINVAL;
	fits = negative ? (int64_t)value >= INT32_MIN
			: value <= (left->wide ? INT32_MAX : UINT32_MAX);
	if (asm_take(scan, "ll") || want == (BPF_LD | BPF_IMM | BPF_DW) ||
	    (left->wide && !fits && want == ASM_ANY_CODE)) {
		if (!left->wide)
			return asm_fail(scan, start, "a 64-bit constant needs an r register");
		set_ldimm64(out, value);
	} else if (fits) {
		insn->code = (left->wide ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_K;
		insn->imm = (int32_t)(uint32_t)value;
	} else {
		return asm_fail(scan, start, "the constant does not fit into 32 bits: %s",
				left->wide ? "write 'll' behind it" : "use an r register");
	}
	return 0;
}

/* "-r1", "(s8)r2" and plain registers on the right of '='. 1: it was one, 0: none, or -EINVAL. */
static int parse_move(struct asm_scan *scan, const struct asm_reg *left, struct loupe_insn *insn)
{
	static const char *const extends[] = { "(s8)", "(s16)", "(s32)" };
	uint8_t class = left->wide ? BPF_ALU64 : BPF_ALU;
	const char *start;
	struct asm_reg src;
	int ret;

	asm_space(scan);
	start = scan->p;
	if (*start == '-' && !asm_at_number(scan)) {
		scan->p++;
		if (asm_expect_reg(scan, false, &src))
			return -EINVAL;
		if (src.no != left->no || src.wide != left->wide)
			return asm_fail(scan, start,
					"negation has the same register on both sides");
		insn->code = class | BPF_NEG;
		return 1;
	}
	for (int i = 0; i < 3; i++) {
		if (!asm_take(scan, extends[i]))
			continue;
		insn->off = (int16_t)(8 << i);
		ret = asm_take_source(scan, left, &src);
		if (ret < 0)
			return ret;
		if (ret == 0)
			return asm_fail(scan, scan->p, "expected a register behind %s", extends[i]);
		goto found;
	}
	ret = asm_take_source(scan, left, &src);
	if (ret < 1)
		return ret;
found:
	insn->code = class | BPF_MOV | BPF_X;
	asm_set_src(insn, &src);
	return 1;
}

int asm_value_parse(struct asm_scan *scan, const struct asm_reg *left, int want, const char *start,
		    struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	const struct insn_atomic *atomic;
	struct asm_word word;
	const char *right;
	struct asm_reg src;
	bool is_wide;
	int found;

	asm_set_dst(insn, left);
	asm_space(scan);
	right = scan->p;
	if (asm_at_number(scan))
		return parse_constant(scan, left, want, out);
	found = parse_move(scan, left, insn);
	if (found)
		return found < 0 ? found : 0;
	if (asm_take(scan, "*"))
		return parse_load(scan, left, start, insn);
	if (asm_take_word(scan, &word)) {
		atomic = atomic_by_name(&word, &is_wide);
		if (atomic)
			return parse_atomic(scan, atomic, is_wide, left, start, out);
		scan->p = right;
	}
	if (!left->wide)
		return asm_fail(scan, right, "this form needs an r register on the left");
	if (asm_take(scan, "addr_space_cast"))
		return parse_space_cast(scan, insn);
	if (asm_take(scan, "&")) {
		if (asm_expect(scan, "(") || asm_expect(scan, "void") ||
		    asm_expect(scan, "__percpu") || asm_expect(scan, "*") ||
		    asm_expect(scan, ")") || asm_expect(scan, "(") ||
		    asm_expect_reg(scan, true, &src) || asm_expect(scan, ")"))
			return -EINVAL;
		insn->code = BPF_ALU64 | BPF_MOV | BPF_X;
		insn->off = BPF_ADDR_PERCPU;
		asm_set_src(insn, &src);
		return 0;
	}
	found = parse_symbol(scan, out);
	if (found == 0)
		found = parse_swap(scan, left, insn);
	if (found)
		return found < 0 ? found : 0;
	return asm_fail(scan, right, "cannot read '%.20s' as a value for %.*s", right,
			(int)(left->no > 9 ? 3 : 2), start);
}
