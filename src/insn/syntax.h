/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of the kernel's instruction syntax, shared by the printer and the assembler. */
#ifndef LOUPE_INSN_SYNTAX_H
#define LOUPE_INSN_SYNTAX_H

#include <stdint.h>

/* By BPF_OP >> 4, NULL where there is no operator. BPF_NEG and BPF_END have forms of their own. */
extern const char *const insn_alu_ops[16];
extern const char *const insn_alu_signed_ops[16]; /* when off is 1 */
extern const char *const insn_jump_ops[16];

/* By BPF_SIZE >> 3. */
extern const char *const insn_mem_types[4];
extern const char *const insn_mem_signed_types[4]; /* no 64-bit one */

enum insn_atomic_form {
	INSN_ATOMIC_LOCK,    /* lock *(u32 *)(r1 +0) += r2 */
	INSN_ATOMIC_FETCH,   /* r2 = atomic_fetch_add((u32 *)(r1 +0), r2) */
	INSN_ATOMIC_CMPXCHG, /* r0 = atomic_cmpxchg((u32 *)(r1 +0), r0, r2) */
	INSN_ATOMIC_LOAD,    /* r2 = load_acquire((u32 *)(r1 +0)) */
	INSN_ATOMIC_STORE,   /* store_release((u32 *)(r1 +0), r2) */
};

struct insn_atomic {
	int32_t imm; /* of BPF_STX | BPF_ATOMIC */
	enum insn_atomic_form form;
	const char *word; /* operator or function; a 64-bit FETCH or CMPXCHG is atomic64_<word> */
};

#define INSN_ATOMIC_CNT 12
extern const struct insn_atomic insn_atomics[INSN_ATOMIC_CNT];

/** The row with that imm, NULL if there is none. */
const struct insn_atomic *insn_atomic_by_imm(int32_t imm);

#endif
