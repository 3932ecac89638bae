/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs under assembly. */
#ifndef LOUPE_INSN_ASM_UNIT_H
#define LOUPE_INSN_ASM_UNIT_H

#include "bpfloupe/image.h"
#include "insn/asm_btf.h"
#include "insn/asm_insn.h"

struct asm_label {
	struct asm_word name;
	uint32_t insn;	/* slot that it stands in front of */
	const char *at; /* within line, for errors */
	const char *line;
	uint32_t lineno;
};

/* A name in an instruction that is looked up when the program is whole. */
struct asm_fixup {
	enum asm_ref_kind kind;
	uint32_t insn;	      /* slot */
	struct asm_word name; /* within line */
	const char *line;
	uint32_t lineno;
};

/*
 * One program, or what stands in front of the first and holds for all. Vectors grow by doubling;
 * *_cap counts what is allocated of those in the image.
 */
struct asm_unit {
	struct loupe_image *image;
	bool has_type;	  /* .type was given */
	bool has_license; /* .license was given */
	bool raw_btf;	  /* .btf was given */
	uint32_t insn_cap, map_cap, fd_cap, func_cap, line_cap;
	struct asm_label *labels;
	uint32_t label_cnt, label_cap;
	struct asm_fixup *fixups;
	uint32_t fixup_cnt, fixup_cap;
	struct asm_btf btf;
	uint32_t line_file; /* file name of the last .line, in the BTF's strings; 0 at first */
};

/**
 * Room for one more in a vector of cnt elements.
 * @return 0 or -ENOMEM
 */
int asm_grow(void **vector, uint32_t cnt, uint32_t *cap, size_t size);

/** Adds a label for the next instruction. 0, -EINVAL if it has a helper's name, -ENOMEM. */
int asm_unit_label(struct asm_unit *unit, const struct asm_scan *scan, const struct asm_word *name);

/** Appends one instruction slot. 0 or -ENOMEM. */
int asm_unit_insn(struct asm_unit *unit, const struct loupe_insn *insn);

/**
 * Reads the directive at scan->p, which is not .prog.
 * @param name  the directive's name, with the dot
 * @return 0, -EINVAL or -ENOMEM
 */
int asm_directive(struct asm_unit *unit, struct asm_scan *scan, const struct asm_word *name);

/** Whether the directive speaks of one program's instructions, so that it starts a program. */
bool asm_directive_is_of_program(const struct asm_word *name);

/**
 * The map that name stands for.
 * @return index, -ENOENT, or -EEXIST when several have that name
 */
int asm_unit_map(const struct asm_unit *unit, const struct asm_word *name);

#endif
