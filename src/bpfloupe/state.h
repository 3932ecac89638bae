/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verifier's state as the verifier itself holds it: registers, stack slots, frames, states.
 * Nouns and numbering are the kernel's, so that a dump means the same on both sides.
 */
#ifndef BPFLOUPE_STATE_H
#define BPFLOUPE_STATE_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LOUPE_MAX_REG = 11,	   /* R0-R10 */
	LOUPE_REG_FP = 10,
	LOUPE_REG_SIZE = 8,	   /* bytes of a register and of a stack slot */
	LOUPE_MAX_STACK = 512,	   /* bytes of a frame's stack */
	LOUPE_MAX_FRAMES = 8,	   /* calls deep */
	LOUPE_MAX_SLOTS = LOUPE_MAX_STACK / LOUPE_REG_SIZE,
};

/* What a register holds. The low 8 bits of loupe_reg.type; flags below stand above them. */
enum loupe_reg_type {
	NOT_INIT = 0,	     /* nothing was written */
	SCALAR_VALUE,	     /* a number, not a pointer */
	PTR_TO_CTX,	     /* the program's context */
	CONST_PTR_TO_MAP,    /* struct bpf_map */
	PTR_TO_MAP_VALUE,    /* a map element's value */
	PTR_TO_MAP_KEY,	     /* a map element's key */
	PTR_TO_STACK,	     /* frame pointer + offset */
	PTR_TO_PACKET_META,  /* skb->data - meta_len */
	PTR_TO_PACKET,	     /* skb->data, xdp->data */
	PTR_TO_PACKET_END,   /* skb->data + headlen */
	PTR_TO_FLOW_KEYS,    /* flow dissector's keys */
	PTR_TO_SOCKET,	     /* struct bpf_sock */
	PTR_TO_SOCK_COMMON,  /* struct sock_common */
	PTR_TO_TCP_SOCK,     /* struct tcp_sock */
	PTR_TO_TP_BUFFER,    /* writable raw tracepoint's buffer */
	PTR_TO_XDP_SOCK,     /* struct xdp_sock */
	PTR_TO_BTF_ID,	     /* a kernel structure */
	PTR_TO_MEM,	     /* a memory region of known size */
	PTR_TO_ARENA,	     /* somewhere in an arena */
	PTR_TO_BUF,	     /* a read-only or read-write buffer */
	PTR_TO_FUNC,	     /* a subprogram */
	CONST_PTR_TO_DYNPTR, /* a const struct bpf_dynptr */
	REG_NOT_LOGGED = 31, /* ours: in a trace read from a log, a value that the log does not
				tell */
};

#define LOUPE_BASE_TYPE_MASK 0xffu

/* Type flags, or-ed to a register type, a helper's argument type or its return type. */
enum loupe_type_flag {
	PTR_MAYBE_NULL = 1 << 8,
	MEM_RDONLY = 1 << 9,
	MEM_RINGBUF = 1 << 10,
	MEM_USER = 1 << 11,
	MEM_PERCPU = 1 << 12,
	OBJ_RELEASE = 1 << 13,
	PTR_UNTRUSTED = 1 << 14,
	MEM_UNINIT = 1 << 15,
	DYNPTR_TYPE_LOCAL = 1 << 16,
	DYNPTR_TYPE_RINGBUF = 1 << 17,
	MEM_FIXED_SIZE = 1 << 18,
	MEM_ALLOC = 1 << 19,
	PTR_TRUSTED = 1 << 20,
	MEM_RCU = 1 << 21,
	NON_OWN_REF = 1 << 22,
	DYNPTR_TYPE_SKB = 1 << 23,
	DYNPTR_TYPE_XDP = 1 << 24,
	MEM_ALIGNED = 1 << 25,
	MEM_WRITE = 1 << 26,
	DYNPTR_TYPE_SKB_META = 1 << 27,
};

/* One byte of a stack slot. */
enum loupe_slot_type {
	STACK_INVALID,	/* nothing was stored */
	STACK_SPILL,	/* part of a spilled register */
	STACK_MISC,	/* some number */
	STACK_ZERO,	/* the number 0 */
	STACK_DYNPTR,
	STACK_ITER,
	STACK_IRQ_FLAG,
};

/*
 * A partially known 64-bit number: bits set in mask are unknown, the others are those of value
 * (value & mask == 0). Source: Vishwanathan et al., "Sound, Precise, and Fast Abstract
 * Interpretation with Tristate Numbers", CGO 2022.
 */
struct loupe_tnum {
	uint64_t value;
	uint64_t mask;
};

/* id bits of scalars that are linked with a constant distance: `r2 = r1; r2 += 8`. */
#define LOUPE_ADD_CONST64 (1u << 31)
#define LOUPE_ADD_CONST32 (1u << 30)
#define LOUPE_ADD_CONST	  (LOUPE_ADD_CONST64 | LOUPE_ADD_CONST32)

/*
 * A register. Fields up to u32_max are compared as raw bytes: keep them first, and keep unused
 * union bytes zero.
 */
struct loupe_reg {
	uint32_t type; /* enum loupe_reg_type | enum loupe_type_flag */
	int32_t off;   /* constant part of a pointer's offset, or a linked scalar's distance,
			  bytes */
	union {
		int32_t range; /* packet pointers: bytes from the pointer's base known to be inside
				  the packet; -1 at the end, -2 beyond it */
		struct {
			uint32_t nr;  /* maps: 1 + index into the verification's map table; stays
					 behind in a socket or number that was a map's value */
			uint32_t uid; /* which lookup of an inner map, 0 if not one */
		} map;
		struct {
			uint32_t btf; /* 0: the kernel's BTF, 1: the program's */
			uint32_t id;
		} btf;
		struct {
			uint32_t size; /* PTR_TO_MEM: bytes */
			uint32_t dynptr_id;
		} mem;
		struct {
			uint8_t type; /* dynptr kind */
			bool first_slot;
		} dynptr;
		struct {
			uint32_t btf_id;
			uint32_t state_depth; /* 2 bits of state, then 30 of depth */
		} iter;
		uint32_t irq_class;
		uint32_t subprogno; /* PTR_TO_FUNC */
		uint64_t raw[2];
	};
	struct loupe_tnum var_off; /* scalars: the value's known bits; pointers: variable offset */
	int64_t smin, smax;
	uint64_t umin, umax;
	int32_t s32_min, s32_max;
	uint32_t u32_min, u32_max;
	/* from here on not compared as raw bytes */
	uint32_t id;	     /* equal ids: equal (or linked) values, or the same null check; 0:
				none */
	uint32_t ref_obj_id; /* the acquired reference it stands for, 0: none */
	uint32_t frameno;    /* PTR_TO_STACK: whose stack */
	int32_t subreg_def;  /* insn + 1 that defined the low half only, 0: none */
	bool precise;	     /* scalars: the exact value decided something later */
};

/* The map of a pointer to a map, its value or its key: index into the verification's map table. */
static inline uint32_t loupe_reg_map(const struct loupe_reg *reg)
{
	return reg->map.nr - 1;
}

struct loupe_slot {
	struct loupe_reg spilled;	   /* valid when type[7] is STACK_SPILL, DYNPTR, ITER or
					      IRQ_FLAG */
	uint8_t type[LOUPE_REG_SIZE]; /* enum loupe_slot_type; [7] is the lowest address */
};

/* A frame's stack, reference counted and copied on write. slot[0] is fp-8, slot[1] fp-16, ... */
struct loupe_stack {
	uint32_t refs;
	uint32_t cap; /* slots allocated */
	uint32_t gen; /* another number whenever a slot may have changed: equal numbers, equal
			 contents; 0: not counted */
	struct loupe_slot slot[];
};

struct loupe_retval_range {
	int32_t min, max;
};

/* One frame of a call chain, reference counted and copied on write. */
struct loupe_frame {
	struct loupe_reg regs[LOUPE_MAX_REG];
	uint32_t refs;
	int32_t callsite;  /* insn of the call in the caller, -1 in frame 0 */
	uint32_t frameno;
	uint32_t subprogno;
	uint32_t async_entry_cnt;
	struct loupe_retval_range callback_ret_range;
	bool in_callback_fn;
	bool in_async_callback_fn;
	bool in_exception_callback_fn;
	uint32_t callback_depth; /* bpf_loop: callbacks simulated so far at this call */
	uint32_t slot_cnt;	 /* slots in use: allocated stack / 8 */
	struct loupe_stack *stack; /* NULL while slot_cnt is 0 */
	uint64_t filled; /* cleaned checkpoints: slots that hold what a comparison looks at */
};

/* What a reference or lock is. */
enum loupe_ref_type {
	REF_TYPE_PTR = 1 << 1,
	REF_TYPE_IRQ = 1 << 2,
	REF_TYPE_LOCK = 1 << 3,
	REF_TYPE_RES_LOCK = 1 << 4,
	REF_TYPE_RES_LOCK_IRQ = 1 << 5,
};

struct loupe_ref {
	uint32_t type;
	uint32_t id;
	int32_t insn_idx; /* where it was acquired */
	uint64_t ptr;	  /* locks: what the lock belongs to (map index + 1 or BTF) */
};

/* One entry of the current path's history since its last checkpoint. */
struct loupe_jmp_hist {
	uint32_t idx;	      /* insn */
	uint32_t prev_idx;    /* the insn before it */
	uint32_t flags;	      /* stack access: LOUPE_HIST_* */
	uint64_t linked_regs; /* linked scalars that got a range here, packed */
};

enum {
	LOUPE_HIST_FRAMENO_MASK = 0x7,	     /* frame of the stack access */
	LOUPE_HIST_SPI_SHIFT = 3,	     /* slot of the stack access, 6 bits */
	LOUPE_HIST_SPI_MASK = 0x3f,
	LOUPE_HIST_STACK_ACCESS = 1 << 9,
	LOUPE_HIST_DST_REG_STACK = 1 << 10, /* comparison: dst is a pointer to the stack */
	LOUPE_HIST_SRC_REG_STACK = 1 << 11, /* comparison: src is a pointer to the stack */
};

/* A whole verifier state: the current one, a pending branch, or a stored checkpoint. */
struct loupe_state {
	/* what a walk over checkpoints looks at first: one cache line */
	int32_t branches;	/* paths below it not yet finished */
	int32_t insn_idx;	/* the insn it is at; checkpoints: where it was stored */
	uint32_t curframe;
	bool speculative;
	bool in_sleepable;
	bool cleaned;		/* dead registers and slots were dropped */
	struct loupe_frame *frame[LOUPE_MAX_FRAMES];

	struct loupe_state *parent; /* checkpoint that it descends from, NULL at the start */
	struct loupe_ref *refs;	    /* references, locks, IRQ flags in order of acquisition */
	uint32_t ref_cnt, ref_cap;
	uint32_t active_locks;
	uint32_t active_preempt_locks;
	uint32_t active_irq_id;
	uint32_t active_lock_id;
	uint64_t active_lock_ptr;
	uint32_t active_rcu_locks;

	uint32_t first_insn_idx; /* first and last insn since the parent */
	uint32_t last_insn_idx;
	struct loupe_state *equal_state; /* backedges: the checkpoint it equals */
	struct loupe_jmp_hist *hist;
	uint32_t hist_cnt, hist_cap;
	uint32_t dfs_depth;
	uint32_t callback_unroll_depth;
	uint32_t may_goto_depth;

	uint64_t serial; /* ours: checkpoints are numbered from 1 as they are stored; 0 otherwise */
};

/* Base type and flags of a register type. */
static inline uint32_t loupe_base_type(uint32_t type)
{
	return type & LOUPE_BASE_TYPE_MASK;
}

static inline uint32_t loupe_type_flags(uint32_t type)
{
	return type & ~LOUPE_BASE_TYPE_MASK;
}

#ifdef __cplusplus
}
#endif

#endif
