/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instruction set and constants of Linux 6.18 under the kernel's own names. Older ones come
 * from the installed UAPI header; what a header of 6.1 does not know yet is defined here. Macros
 * after the include shadow enumerators of a newer header with the same values, so both may be
 * present.
 */
#ifndef LOUPE_INSN_OPCODES_H
#define LOUPE_INSN_OPCODES_H

#include <linux/bpf.h>

#include "bpfloupe/image.h"

/* Modes of loads and stores. */
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80 /* sign-extending load */
#endif

/* Modes that exist only inside the kernel, after verification. */
#define BPF_PROBE_MEM	  0x20 /* load that may fault */
#define BPF_PROBE_MEMSX	  0x40 /* sign-extending load that may fault */
#define BPF_PROBE_MEM32	  0xa0 /* access to an arena */
#define BPF_PROBE_MEM32SX 0xc0 /* sign-extending load from an arena */
#define BPF_PROBE_ATOMIC  0xe0 /* atomic access to an arena */
#define BPF_NOSPEC	  0xc0 /* BPF_ST: speculation barrier */
#define BPF_TAIL_CALL	  0xf0 /* BPF_JMP: call of bpf_tail_call() */
#define BPF_CALL_ARGS	  0xe0 /* BPF_JMP: call into the interpreter */
#define BPF_ADDR_PERCPU	  (-1) /* off of a move that resolves a per-CPU address */

/* Jumps. */
#ifndef BPF_JCOND
#define BPF_JCOND 0xe0 /* conditional pseudo jumps, kind in src_reg */
#endif
#define BPF_MAY_GOTO 0 /* src_reg of BPF_JCOND: leaves the loop when its budget is spent */

/* imm of BPF_STX | BPF_ATOMIC, beside BPF_ADD, BPF_AND, BPF_OR, BPF_XOR, BPF_XCHG, BPF_CMPXCHG. */
#ifndef BPF_LOAD_ACQ
#define BPF_LOAD_ACQ 0x100
#endif
#ifndef BPF_STORE_REL
#define BPF_STORE_REL 0x110
#endif

/* off of BPF_ALU64 | BPF_MOV | BPF_X: the move changes the address space. */
#define BPF_ADDR_SPACE_CAST 1

/* prog_flags */
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6)
#endif
#ifndef BPF_F_TEST_REG_INVARIANTS
#define BPF_F_TEST_REG_INVARIANTS (1U << 7)
#endif

/* map_flags */
#define BPF_F_PATH_FD	       (1U << 14)
#define BPF_F_VTYPE_BTF_OBJ_FD (1U << 15)
#define BPF_F_TOKEN_FD	       (1U << 16)
#define BPF_F_SEGV_ON_FAULT    (1U << 17)
#define BPF_F_NO_USER_CONV     (1U << 18)

/* enum bpf_map_type */
#define BPF_MAP_TYPE_CGRP_STORAGE 32
#define BPF_MAP_TYPE_ARENA	  33
#define LOUPE_MAP_TYPE_CNT	  34 /* of 6.18 */

/* enum bpf_prog_type */
#define BPF_PROG_TYPE_NETFILTER 32
#define LOUPE_PROG_TYPE_CNT	33 /* of 6.18 */

/* enum bpf_attach_type */
#define BPF_STRUCT_OPS		    44
#define BPF_NETFILTER		    45
#define BPF_TCX_INGRESS		    46
#define BPF_TCX_EGRESS		    47
#define BPF_TRACE_UPROBE_MULTI	    48
#define BPF_CGROUP_UNIX_CONNECT	    49
#define BPF_CGROUP_UNIX_SENDMSG	    50
#define BPF_CGROUP_UNIX_RECVMSG	    51
#define BPF_CGROUP_UNIX_GETPEERNAME 52
#define BPF_CGROUP_UNIX_GETSOCKNAME 53
#define BPF_NETKIT_PRIMARY	    54
#define BPF_NETKIT_PEER		    55
#define BPF_TRACE_KPROBE_SESSION    56
#define BPF_TRACE_UPROBE_SESSION    57
#define LOUPE_ATTACH_TYPE_CNT	    58 /* of 6.18 */

/* enum bpf_func_id */
#define BPF_FUNC_user_ringbuf_drain  209
#define BPF_FUNC_cgrp_storage_get    210
#define BPF_FUNC_cgrp_storage_delete 211
#define LOUPE_FUNC_CNT		     212 /* of 6.18 */

/* Registers that a program may name: r0..r10. The verifier's rewriting also uses r11 (BPF_REG_AX).
 */
#define LOUPE_REG_CNT 11

/** Whether insn is the first slot of a two-slot load of a 64-bit constant. */
static inline bool insn_is_ldimm64(const struct loupe_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/** Whether insn calls a subprogram of the same program. */
static inline bool insn_is_pseudo_call(const struct loupe_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/** Whether insn calls a kernel function by its BTF id. */
static inline bool insn_is_kfunc_call(const struct loupe_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

/** Whether insn calls a helper by its number. */
static inline bool insn_is_helper_call(const struct loupe_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == 0;
}

/** Whether insn loads the address of a subprogram (a callback). */
static inline bool insn_is_pseudo_func(const struct loupe_insn *insn)
{
	return insn_is_ldimm64(insn) && insn->src_reg == BPF_PSEUDO_FUNC;
}

/** Whether insn is may_goto. */
static inline bool insn_is_may_goto(const struct loupe_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_JCOND) && insn->src_reg == BPF_MAY_GOTO;
}

/** The 64-bit constant of an ldimm64; insn has two slots. */
static inline uint64_t insn_imm64(const struct loupe_insn *insn)
{
	return (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn[0].imm;
}

#endif
