/* SPDX-License-Identifier: GPL-2.0-only */
/* One instruction of assembler text; what it names elsewhere in the text is left as a reference. */
#ifndef LOUPE_INSN_ASM_INSN_H
#define LOUPE_INSN_ASM_INSN_H

#include "bpfloupe/image.h"
#include "insn/asm_scan.h"

enum asm_ref_kind {
	ASM_REF_NONE,
	ASM_REF_JUMP16, /* label, distance into off */
	ASM_REF_JUMP32, /* label, distance into imm */
	ASM_REF_MAP,	/* map's name, its fd into imm */
};

struct asm_insn {
	struct loupe_insn insn[2];
	unsigned int slots;
	enum asm_ref_kind ref;
	struct asm_word name; /* within the line */
};

/**
 * Reads the instruction at scan->p, with or without "(bf) " in front, up to the end of the line.
 * @return 0 or -EINVAL with an error
 */
int asm_insn_parse(struct asm_scan *scan, struct asm_insn *out);

#endif
