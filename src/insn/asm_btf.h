/* SPDX-License-Identifier: GPL-2.0-only */
/* BTF from C declarations, as far as programs for the verifier need it. */
#ifndef LOUPE_INSN_ASM_BTF_H
#define LOUPE_INSN_ASM_BTF_H

#include "insn/asm_scan.h"

/* A type; its id is its index + 1. */
struct asm_btf_type {
	uint32_t name;	       /* offset into the strings */
	uint32_t kind, vlen;   /* BTF_KIND_*; vlen is the linkage of a function */
	uint32_t size_or_type; /* as in struct btf_type */
	uint32_t size, align;  /* bytes; 0 and 1 for what has none */
	bool declared;	       /* a struct or union whose members were given */
	uint8_t *extra;	       /* what follows struct btf_type: members, parameters ... */
	uint32_t extra_len;
};

/* All zero is an empty one. */
struct asm_btf {
	struct asm_btf_type *types;
	uint32_t type_cnt, type_cap;
	char *strs; /* the string section as it will be */
	uint32_t strs_len, strs_cap;
};

/** Frees what it owns. */
void asm_btf_finish(struct asm_btf *btf);

/** Makes to, which is empty, a copy. 0 or -ENOMEM (asm_btf_finish() then still has to run). */
int asm_btf_copy(struct asm_btf *to, const struct asm_btf *from);

/**
 * Reads declarations up to the end of the scanned text: "struct NAME { ... };", "union ...",
 * "typedef TYPE NAME;".
 * @return 0, -EINVAL or -ENOMEM
 */
int asm_btf_decl(struct asm_btf *btf, struct asm_scan *scan);

/**
 * Reads a function's prototype, "int f(struct xdp_md *ctx, const char *p __arg_nonnull)", and adds
 * its BTF_KIND_FUNC. A struct that was not declared is an empty one.
 * @param linkage  0 static, 1 global
 * @param id       receives the type id
 * @param name     receives the function's name, which lies in the scanned text
 * @return 0, -EINVAL or -ENOMEM
 */
int asm_btf_func(struct asm_btf *btf, struct asm_scan *scan, uint32_t linkage, uint32_t *id,
		 struct asm_word *name);

/**
 * Adds text to the strings and tells its offset (0 for the empty one).
 * @return 0 or -ENOMEM
 */
int asm_btf_string(struct asm_btf *btf, const char *text, size_t len, uint32_t *off);

/**
 * Writes header, types and strings into a new buffer; *data is NULL and *size 0 for an empty one.
 * @return 0 or -ENOMEM
 */
int asm_btf_emit(const struct asm_btf *btf, uint8_t **data, uint32_t *size);

#endif
