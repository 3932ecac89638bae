// SPDX-License-Identifier: GPL-2.0-only
#include "insn/syntax.h"

#include <stddef.h>

#include "insn/opcodes.h"

const char *const insn_alu_ops[16] = {
	[BPF_ADD >> 4] = "+=",	[BPF_SUB >> 4] = "-=",	[BPF_MUL >> 4] = "*=",
	[BPF_DIV >> 4] = "/=",	[BPF_OR >> 4] = "|=",	[BPF_AND >> 4] = "&=",
	[BPF_LSH >> 4] = "<<=", [BPF_RSH >> 4] = ">>=", [BPF_MOD >> 4] = "%=",
	[BPF_XOR >> 4] = "^=",	[BPF_MOV >> 4] = "=",	[BPF_ARSH >> 4] = "s>>=",
};

const char *const insn_alu_signed_ops[16] = {
	[BPF_DIV >> 4] = "s/=",
	[BPF_MOD >> 4] = "s%=",
};

/* The kernel has words for BPF_JA, BPF_CALL and BPF_EXIT too; they show in codes that it refuses.
 */
const char *const insn_jump_ops[16] = {
	[BPF_JA >> 4] = "jmp",	  [BPF_JEQ >> 4] = "==",   [BPF_JGT >> 4] = ">",
	[BPF_JGE >> 4] = ">=",	  [BPF_JSET >> 4] = "&",   [BPF_JNE >> 4] = "!=",
	[BPF_JSGT >> 4] = "s>",	  [BPF_JSGE >> 4] = "s>=", [BPF_CALL >> 4] = "call",
	[BPF_EXIT >> 4] = "exit", [BPF_JLT >> 4] = "<",	   [BPF_JLE >> 4] = "<=",
	[BPF_JSLT >> 4] = "s<",	  [BPF_JSLE >> 4] = "s<=",
};

const char *const insn_mem_types[4] = {
	[BPF_W >> 3] = "u32",
	[BPF_H >> 3] = "u16",
	[BPF_B >> 3] = "u8",
	[BPF_DW >> 3] = "u64",
};

const char *const insn_mem_signed_types[4] = {
	[BPF_W >> 3] = "s32",
	[BPF_H >> 3] = "s16",
	[BPF_B >> 3] = "s8",
};

const struct insn_atomic insn_atomics[INSN_ATOMIC_CNT] = {
	{ BPF_ADD, INSN_ATOMIC_LOCK, "+=" },
	{ BPF_AND, INSN_ATOMIC_LOCK, "&=" },
	{ BPF_OR, INSN_ATOMIC_LOCK, "|=" },
	{ BPF_XOR, INSN_ATOMIC_LOCK, "^=" },
	{ BPF_ADD | BPF_FETCH, INSN_ATOMIC_FETCH, "fetch_add" },
	{ BPF_AND | BPF_FETCH, INSN_ATOMIC_FETCH, "fetch_and" },
	{ BPF_OR | BPF_FETCH, INSN_ATOMIC_FETCH, "fetch_or" },
	{ BPF_XOR | BPF_FETCH, INSN_ATOMIC_FETCH, "fetch_xor" },
	{ BPF_XCHG, INSN_ATOMIC_FETCH, "xchg" },
	{ BPF_CMPXCHG, INSN_ATOMIC_CMPXCHG, "cmpxchg" },
	{ BPF_LOAD_ACQ, INSN_ATOMIC_LOAD, "load_acquire" },
	{ BPF_STORE_REL, INSN_ATOMIC_STORE, "store_release" },
};

const struct insn_atomic *insn_atomic_by_imm(int32_t imm)
{
	for (size_t i = 0; i < INSN_ATOMIC_CNT; i++) {
		if (insn_atomics[i].imm == imm)
			return &insn_atomics[i];
	}
	return NULL;
}
