/* SPDX-License-Identifier: GPL-2.0-only */
/* Classic BPF opcodes: one table that checking, printing and passes share. */
#ifndef LOUPE_FILTER_OPCODE_H
#define LOUPE_FILTER_OPCODE_H

#include "bpfloupe/filter.h"

#include <linux/filter.h>

/* Packet offsets from here on are ancillary data (16 of them), and below them relative to a header.
 */
#define FILTER_AD_OFF  ((uint32_t)SKF_AD_OFF)
#define FILTER_NET_OFF ((uint32_t)SKF_NET_OFF)
#define FILTER_LL_OFF  ((uint32_t)SKF_LL_OFF)

#define SECCOMP_DATA_SIZE 64u

/* What the operand looks like. */
enum filter_form {
	FORM_INVALID,
	FORM_ABS,  /* [k] */
	FORM_IND,  /* [x + k] */
	FORM_IMM,  /* #k */
	FORM_LEN,  /* #pktlen */
	FORM_MEM,  /* M[k], read */
	FORM_MSH,  /* 4*([k]&0xf) */
	FORM_ST,   /* M[k], written */
	FORM_MISC, /* no operand: tax, txa */
	FORM_ALU_K,
	FORM_ALU_X,
	FORM_NEG,
	FORM_JA,
	FORM_JMP_K,
	FORM_JMP_X,
	FORM_RET_K,
	FORM_RET_A,
};

struct filter_opcode {
	const char *name; /* assembler mnemonic */
	const char *sign; /* operator in words, NULL if none */
	uint8_t form;	  /* enum filter_form */
	bool seccomp;	  /* seccomp allows it */
};

/** Facts of a code; form is FORM_INVALID where the kernel knows no such classic instruction. */
const struct filter_opcode *filter_opcode_of(uint16_t code);

/** Name of SKF_AD_* by offset, e.g. "protocol"; NULL when there is none. */
const char *filter_ancillary_name(uint32_t offset);

static inline bool filter_is_cond(uint16_t code)
{
	return BPF_CLASS(code) == BPF_JMP && BPF_OP(code) != BPF_JA;
}

static inline bool filter_is_ja(uint16_t code)
{
	return code == (BPF_JMP | BPF_JA);
}

static inline bool filter_is_ret(uint16_t code)
{
	return BPF_CLASS(code) == BPF_RET;
}

#endif
