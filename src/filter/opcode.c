// SPDX-License-Identifier: GPL-2.0-only
#include "filter/opcode.h"

/* Both operand forms of an ALU or jump operation. */
#define ALU(op, name, sign, seccomp)                                    \
	[BPF_ALU | (op) | BPF_K] = { name, sign, FORM_ALU_K, seccomp }, \
			  [BPF_ALU | (op) | BPF_X] = { name, sign, FORM_ALU_X, seccomp }
#define JMP(op, name, sign)                                          \
	[BPF_JMP | (op) | BPF_K] = { name, sign, FORM_JMP_K, true }, \
			  [BPF_JMP | (op) | BPF_X] = { name, sign, FORM_JMP_X, true }

static const struct filter_opcode opcodes[256] = {
	[BPF_LD | BPF_W | BPF_ABS] = { "ld", NULL, FORM_ABS, true },
	[BPF_LD | BPF_H | BPF_ABS] = { "ldh", NULL, FORM_ABS, false },
	[BPF_LD | BPF_B | BPF_ABS] = { "ldb", NULL, FORM_ABS, false },
	[BPF_LD | BPF_W | BPF_IND] = { "ld", NULL, FORM_IND, false },
	[BPF_LD | BPF_H | BPF_IND] = { "ldh", NULL, FORM_IND, false },
	[BPF_LD | BPF_B | BPF_IND] = { "ldb", NULL, FORM_IND, false },
	[BPF_LD | BPF_W | BPF_LEN] = { "ld", NULL, FORM_LEN, true },
	[BPF_LD | BPF_IMM] = { "ld", NULL, FORM_IMM, true },
	[BPF_LD | BPF_MEM] = { "ld", NULL, FORM_MEM, true },
	[BPF_LDX | BPF_W | BPF_LEN] = { "ldx", NULL, FORM_LEN, true },
	[BPF_LDX | BPF_B | BPF_MSH] = { "ldxb", NULL, FORM_MSH, false },
	[BPF_LDX | BPF_IMM] = { "ldx", NULL, FORM_IMM, true },
	[BPF_LDX | BPF_MEM] = { "ldx", NULL, FORM_MEM, true },
	[BPF_ST] = { "st", NULL, FORM_ST, true },
	[BPF_STX] = { "stx", NULL, FORM_ST, true },
	ALU(BPF_ADD, "add", "+", true),
	ALU(BPF_SUB, "sub", "-", true),
	ALU(BPF_MUL, "mul", "*", true),
	ALU(BPF_DIV, "div", "/", true),
	ALU(BPF_MOD, "mod", "%", false),
	ALU(BPF_AND, "and", "&", true),
	ALU(BPF_OR, "or", "|", true),
	ALU(BPF_XOR, "xor", "^", true),
	ALU(BPF_LSH, "lsh", "<<", true),
	ALU(BPF_RSH, "rsh", ">>", true),
	[BPF_ALU | BPF_NEG] = { "neg", NULL, FORM_NEG, true },
	[BPF_MISC | BPF_TAX] = { "tax", NULL, FORM_MISC, true },
	[BPF_MISC | BPF_TXA] = { "txa", NULL, FORM_MISC, true },
	[BPF_RET | BPF_K] = { "ret", NULL, FORM_RET_K, true },
	[BPF_RET | BPF_A] = { "ret", NULL, FORM_RET_A, true },
	[BPF_JMP | BPF_JA] = { "ja", NULL, FORM_JA, true },
	JMP(BPF_JEQ, "jeq", "=="),
	JMP(BPF_JGT, "jgt", ">"),
	JMP(BPF_JGE, "jge", ">="),
	JMP(BPF_JSET, "jset", "&"),
};

const struct filter_opcode *filter_opcode_of(uint16_t code)
{
	static const struct filter_opcode none;

	return code < 256 ? &opcodes[code] : &none;
}

const char *filter_ancillary_name(uint32_t offset)
{
	static const char *const names[] = {
		"protocol",
		"packet type",
		"interface index",
		"netlink attribute",
		"nested netlink attribute",
		"mark",
		"queue",
		"hardware type",
		"rx hash",
		"cpu",
		"A ^ X",
		"vlan tag",
		"vlan tag present",
		"payload offset",
		"random",
		"vlan protocol",
	};

	return offset < SKF_AD_MAX && offset % 4 == 0 ? names[offset / 4] : NULL;
}
