/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assembler text (.bpfasm): the instruction syntax of the kernel's verifier log with labels and
 * directives. One line holds one thing; ";", "//" and "#" after white space start a comment.
 *
 *	.type xdp                   program type, as libbpf spells it, or its number (needed)
 *	.license "GPL"              "GPL" if left out; .license none: no licence
 *	.map counts type=array key=4 value=8 entries=16
 *	.prog first                 starts a program; directives in front of the first .prog (or the
 *first instruction) hold for every program of the file r2 = r10            each with or without "N:
 *" and "(bf) " in front r2 += -4
 *	        *(u32 *)(r2 +0) = 0
 *	        r1 = map[counts]    or map[fd 3], map[#0] (index into .fd_array)
 *	        call bpf_map_lookup_elem
 *	        if r0 == 0 goto out or pc+1
 *	        r3 = 0x100000000 ll
 *	out:    exit
 *
 * Instructions: all that the kernel prints; 64-bit constants "r1 = 5 ll", "r1 =
 *map_value[NAME]+OFF", "r1 = func LABEL", "r1 = btf_id N fd M"; subprograms "call LABEL"; ".insn
 *CODE DST SRC OFF IMM" places one slot as it is. Without "ll" or "(18)", a constant that a 32-bit
 *immediate holds is a move.
 *
 * Directives: .prog NAME, .name NAME (at most 15 characters, the kernel's name), .section "NAME",
 * .type, .attach TYPE, .attach_target NAME (as a section's name has it: a tracepoint of tp_btf, a
 * function; looked up in the kernel's BTF when a file is loaded), or its number .attach_btf_id N
 * [fd M], .flags WORD|NUMBER..., .license, .kern_version N, .ifindex N, .fd_array FD..., .map NAME
 * [fd=] [type=] [key=] [value=] [entries=] [flags=] [extra=] [inner=NAME|fd:N] [numa=] [btf_key=]
 * [btf_value=] [btf_vmlinux_value=] [frozen] [data=HEX], .data NAME|fd:N HEX... (appends). Names
 * with other characters than letters, digits and _.$ stand in double quotes.
 *
 * BTF, either raw: .btf HEX... (appends), .func_info INSN TYPE, .line_info INSN FILE LINE COL (all
 * numbers); or made here from C: .decl "struct pair { int a; int b; };", .func "int f(struct pair
 * *p)" [static|global] in front of the function's first instruction, which gets the label f, and
 * .line N[:COL] ["FILE" ["TEXT"]]. A struct that was not declared is an empty one, which is enough
 * for a context. Arguments may have the tags __arg_ctx, __arg_nonnull, __arg_nullable,
 * __arg_trusted, __arg_untrusted and __arg_arena; behind the prototype may stand
 * __exception_cb(FUNCTION).
 */
#ifndef BPFLOUPE_ASM_H
#define BPFLOUPE_ASM_H

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Assembles text into images, one a program.
 * @param path  name of the text in errors and images; its last part names a program without .prog
 * @param text  len bytes, need not end in NUL or newline
 * @param out   filled on success; empty it with loupe_program_list_finish()
 * @param err   file, line and column of the first mistake, and what to do
 * @return 0, -EINVAL (a mistake in the text), -ENOMEM
 */
LOUPE_API int loupe_asm_load(const char *path, const char *text, size_t len,
			     struct loupe_program_list *out, struct loupe_error *err);

/**
 * Assembles one instruction without labels and map names, with or without "N: " and "(bf) " in
 * front and a comment behind.
 * @param line  NUL-terminated, one line
 * @param insn  two slots
 * @return slots used (1 or 2), or -EINVAL
 */
LOUPE_API int loupe_asm_insn(const char *line, struct loupe_insn *insn, struct loupe_error *err);

/**
 * Writes an image as text from which loupe_asm_load() makes the same image: instructions, maps,
 * types, flags, names, licence, BTF, function and line info (not the path and what the load
 * depended on).
 * @param text  receives the NUL-terminated text; release with free()
 * @param len   receives its length, may be NULL
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_asm_write(const struct loupe_image *image, char **text, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
