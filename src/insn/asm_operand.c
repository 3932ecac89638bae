// SPDX-License-Identifier: GPL-2.0-only
#include "insn/asm_operand.h"

#include <errno.h>
#include <string.h>

#include "insn/opcodes.h"
#include "insn/syntax.h"

/* Takes r0..r15 or w0..w15. Only r0..r10 exist for programs; the rest is what a hostile one may
 * hold. */
bool asm_take_reg(struct asm_scan *scan, struct asm_reg *reg)
{
	struct asm_word word;
	const char *start;
	unsigned int no = 0;

	asm_space(scan);
	start = scan->p;
	if ((*start != 'r' && *start != 'w') || !asm_take_word(scan, &word))
		return false;
	if (word.len < 2 || word.len > 3 || (word.len == 3 && word.p[1] != '1'))
		goto no_reg;
	for (size_t i = 1; i < word.len; i++) {
		if (word.p[i] < '0' || word.p[i] > '9')
			goto no_reg;
		no = no * 10 + (unsigned int)(word.p[i] - '0');
	}
	if (no > 15)
		goto no_reg;
	*reg = (struct asm_reg){ (uint8_t)no, *start == 'r' };
	return true;
no_reg:
	scan->p = start;
	return false;
}

int asm_expect_reg(struct asm_scan *scan, bool wide, struct asm_reg *reg)
{
	const char *start;

	asm_space(scan);
	start = scan->p;
	if (!asm_take_reg(scan, reg))
		return asm_fail(scan, start, "expected a register (r0 to r10) here");
	if (wide && !reg->wide)
		return asm_fail(scan, start, "a 64-bit register (r, not w) belongs here");
	return 0;
}

int asm_take_source(struct asm_scan *scan, const struct asm_reg *other, struct asm_reg *reg)
{
	const char *start;

	asm_space(scan);
	start = scan->p;
	if (!asm_take_reg(scan, reg))
		return 0;
	if (reg->wide != other->wide)
		return asm_fail(scan, start, "both registers must be r, or both w");
	return 1;
}

/* Index of the type word that comes next (u8, s16, ...), -1 if none does. */
static int take_type(struct asm_scan *scan, const char *const *types)
{
	for (int i = 0; i < 4; i++) {
		if (types[i] && asm_take(scan, types[i]))
			return i;
	}
	return -1;
}

int asm_cast_type(struct asm_scan *scan, bool *is_signed, uint8_t *size)
{
	int type = take_type(scan, insn_mem_types);
	bool wants_signed = is_signed != NULL;

	if (wants_signed)
		*is_signed = false;
	if (type < 0 && wants_signed) {
		type = take_type(scan, insn_mem_signed_types);
		*is_signed = type >= 0;
	}
	if (type < 0)
		return asm_fail(scan, scan->p, "expected %s here",
				wants_signed ? "u8, u16, u32, u64, s8, s16 or s32"
					     : "u8, u16, u32 or u64");
	*size = (uint8_t)(type << 3);
	return asm_expect(scan, "*") || asm_expect(scan, ")") ? -EINVAL : 0;
}

int asm_address(struct asm_scan *scan, struct asm_reg *reg, int16_t *off)
{
	const char *start;
	bool negative;
	uint64_t number = 0;

	if (asm_expect(scan, "(") || asm_expect_reg(scan, true, reg))
		return -EINVAL;
	asm_space(scan);
	start = scan->p;
	negative = *start == '-';
	if (*start == '-' || *start == '+') {
		scan->p++;
		if (asm_number(scan, "the offset", negative ? 0 : INT16_MIN,
			       negative ? 32768 : INT16_MAX, &number))
			return -EINVAL;
	}
	*off = (int16_t)(negative ? 0 - number : number);
	return asm_expect(scan, ")");
}

int asm_target(struct asm_scan *scan, struct asm_insn *out, enum asm_ref_kind kind)
{
	struct loupe_insn *insn = &out->insn[0];
	const char *start;
	uint64_t number;
	bool is_wide = kind == ASM_REF_JUMP32;

	asm_space(scan);
	start = scan->p;
	if (strncmp(start, "pc", 2) == 0 && (start[2] == '+' || start[2] == '-'))
		scan->p += 2;
	if (*scan->p == '+' || *scan->p == '-') {
		if (asm_number(scan, "the distance", is_wide ? INT32_MIN : INT16_MIN,
			       is_wide ? INT32_MAX : INT16_MAX, &number))
			return -EINVAL;
		if (is_wide)
			insn->imm = (int32_t)number;
		else
			insn->off = (int16_t)number;
		return 0;
	}
	if (asm_at_number(scan) || !asm_take_word(scan, &out->name))
		return asm_fail(scan, start, "expected a label or a distance such as pc+3 here");
	out->ref = kind;
	return 0;
}

int asm_atomic_address(struct asm_scan *scan, struct loupe_insn *insn, struct asm_reg *reg)
{
	uint8_t size;

	if (asm_expect(scan, "(") || asm_expect(scan, "(") || asm_cast_type(scan, NULL, &size) ||
	    asm_address(scan, reg, &insn->off))
		return -EINVAL;
	insn->code = BPF_STX | BPF_ATOMIC | size;
	return 0;
}
