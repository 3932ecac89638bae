/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of instructions in assembler text. Functions return 0, or -EINVAL with an error. */
#ifndef LOUPE_INSN_ASM_OPERAND_H
#define LOUPE_INSN_ASM_OPERAND_H

#include "insn/asm_insn.h"

#define ASM_ANY_CODE (-1) /* no opcode byte stands in front of the instruction */

struct asm_reg {
	uint8_t no; /* 0 to 15: programs have r0 to r10, hostile ones may hold any */
	bool wide;  /* r, not w */
};

static inline void asm_set_dst(struct loupe_insn *insn, const struct asm_reg *reg)
{
	insn->dst_reg = reg->no & 0xfu;
}

static inline void asm_set_src(struct loupe_insn *insn, const struct asm_reg *reg)
{
	insn->src_reg = reg->no & 0xfu;
}

/** Takes r0..r15 or w0..w15 if one comes next. */
bool asm_take_reg(struct asm_scan *scan, struct asm_reg *reg);

/** A register must come next; with wide, an r one. */
int asm_expect_reg(struct asm_scan *scan, bool wide, struct asm_reg *reg);

/** Takes a register of other's width. 1: taken, 0: no register comes next, -EINVAL: of another
 * width. */
int asm_take_source(struct asm_scan *scan, const struct asm_reg *other, struct asm_reg *reg);

/**
 * The "u32 *)" of a cast whose opening was taken.
 * @param is_signed  whether the type was s8, s16 or s32; NULL where those are wrong
 * @param size       BPF_B, BPF_H, BPF_W or BPF_DW
 */
int asm_cast_type(struct asm_scan *scan, bool *is_signed, uint8_t *size);

/** "(r1 +0)", "(r1 - 8)" or "(r1)". */
int asm_address(struct asm_scan *scan, struct asm_reg *reg, int16_t *off);

/** "((u32 *)(r1 +0)" of an atomic function: code and offset go into insn. */
int asm_atomic_address(struct asm_scan *scan, struct loupe_insn *insn, struct asm_reg *reg);

/** Where a jump goes: "pc+3", "+3", or a label. A distance goes into off, or imm for
 * ASM_REF_JUMP32. */
int asm_target(struct asm_scan *scan, struct asm_insn *out, enum asm_ref_kind kind);

/**
 * What follows "rD =".
 * @param left   rD
 * @param want   the opcode byte in front of the line, or ASM_ANY_CODE
 * @param start  where rD stands, for errors
 */
int asm_value_parse(struct asm_scan *scan, const struct asm_reg *left, int want, const char *start,
		    struct asm_insn *out);

#endif
