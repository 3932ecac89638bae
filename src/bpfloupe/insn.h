/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions as text, in the syntax of the kernel's verifier log, and the kernel's names of
 * helpers, program types, attach types and map types.
 */
#ifndef BPFLOUPE_INSN_H
#define BPFLOUPE_INSN_H

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to print. All zero (or a NULL pointer in its place) prints what a privileged user's log has.
 */
struct loupe_insn_print_opts {
	/*
	 * Name of the kernel function that a kfunc call names by insn->imm (BTF id) and insn->off
	 * (index into fd_array). NULL, or a NULL result, prints "<error>" as the kernel does.
	 */
	const char *(*kfunc_name)(void *ctx, const struct loupe_insn *insn);
	/*
	 * The 64-bit value that stands in the log for an ldimm64 of a map, map value or BTF id: the
	 * kernel shows the address that it resolved. NULL prints a made-up address, the same every
	 * time.
	 */
	uint64_t (*address)(void *ctx, const struct loupe_insn *insn);
	/*
	 * Text in place of the value of any ldimm64 (insn has two slots), e.g. loupe_insn_symbol.
	 * Returns its length as snprintf does, or a negative number to print the value.
	 */
	int (*symbol)(void *ctx, const struct loupe_insn *insn, char *buf, size_t size);
	void *ctx;	    /* handed to the three functions */
	bool hide_pointers; /* without the right to see pointers: addresses print as 0x0 */
	bool no_code;	    /* leave out the "(bf) " in front */
};

/**
 * Prints one instruction as Linux 6.18's verifier log does after "N: ", without a newline.
 * @param buf   receives the text, always NUL-terminated when size > 0
 * @param insn  the instruction; two slots when it is an ldimm64 (code 0x18)
 * @param opts  may be NULL
 * @return length of the whole text, as snprintf
 */
LOUPE_API int loupe_insn_print(char *buf, size_t size, const struct loupe_insn *insn,
			       const struct loupe_insn_print_opts *opts);

/**
 * A loupe_insn_print_opts.symbol that prints what the address stands for, in the assembler's
 * syntax: "map[events]", "map_value[.rodata]+8", "btf_id 12 fd 0", "func pc+5"; plain constants
 * print as "0x2a ll".
 * @param image  a const struct loupe_image *, which names the maps; with NULL they are "map[fd 3]"
 */
LOUPE_API int loupe_insn_symbol(void *image, const struct loupe_insn *insn, char *buf, size_t size);

/** Slots that the instruction takes: 2 for ldimm64 (code 0x18), else 1. */
LOUPE_API unsigned int loupe_insn_slots(const struct loupe_insn *insn);

/** Name of a helper function, "bpf_map_lookup_elem" for 1; NULL where 6.18 has none. */
LOUPE_API const char *loupe_helper_name(uint32_t id);
/** Number of the helper with that name, -ENOENT if there is none. */
LOUPE_API int loupe_helper_by_name(const char *name);

/** Name of a program type as libbpf spells it, "sched_cls" for 3; NULL where 6.18 has none. */
LOUPE_API const char *loupe_prog_type_name(uint32_t type);
/** Program type (BPF_PROG_TYPE_*) with that name, -ENOENT if there is none. */
LOUPE_API int loupe_prog_type_by_name(const char *name);

/** Name of an attach type as libbpf spells it, "cgroup_inet_ingress" for 0; NULL where 6.18 has
 * none. */
LOUPE_API const char *loupe_attach_type_name(uint32_t type);
/** Attach type with that name, -ENOENT if there is none. */
LOUPE_API int loupe_attach_type_by_name(const char *name);

/** Name of a map type as libbpf spells it, "percpu_array" for 6; NULL where 6.18 has none. */
LOUPE_API const char *loupe_map_type_name(uint32_t type);
/** Map type (BPF_MAP_TYPE_*) with that name, -ENOENT if there is none. */
LOUPE_API int loupe_map_type_by_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
