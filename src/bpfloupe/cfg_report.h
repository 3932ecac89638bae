/* SPDX-License-Identifier: GPL-2.0-only */
/* Writers of a control-flow graph: drawn text, DOT, SVG, JSON. */
#ifndef BPFLOUPE_CFG_REPORT_H
#define BPFLOUPE_CFG_REPORT_H

#include <stdio.h>

#include "filter.h"
#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program whose blocks show its instructions. Either insns or cbpf is set. */
struct loupe_cfg_program {
	const struct loupe_cfg *cfg;
	const struct loupe_insn *insns;	 /* cfg->insn_cnt slots */
	const struct loupe_image *image; /* names the maps; may be NULL */
	const struct loupe_cbpf_insn *cbpf;
	enum loupe_filter_flavour flavour;
};

/**
 * Fills *content with functions that show a program's instructions, one a line: "12: r1 += 8".
 * @param prog  must live as long as content is used
 */
LOUPE_API void loupe_cfg_program_content(const struct loupe_cfg_program *prog,
					 struct loupe_block_content *content);

/**
 * Writes the text of the instruction that starts at slot, without its number.
 * @param flow  with where it leads; a graph's edges show that already
 */
LOUPE_API void loupe_cfg_insn_text(const struct loupe_cfg_program *prog, uint32_t slot, bool flow,
				   char *buf, size_t size);

struct loupe_cfg_report {
	const struct loupe_cfg *cfg;
	const struct loupe_block_content *content; /* what the blocks show */
	const struct loupe_cfg_program *program;   /* JSON: instructions are listed; may be NULL */
	const char *title;			   /* of the program, may be NULL */
	const struct loupe_layout *layout;	   /* text, SVG: NULL makes one with defaults */
	bool ascii;				   /* text: no line-drawing characters */
};

/** The whole graph drawn with characters. @return 0, -ENOMEM, -EIO, -E2BIG */
LOUPE_API int loupe_cfg_write_text(const struct loupe_cfg_report *report, FILE *out);

/** For graphviz's dot. @return 0, -EIO */
LOUPE_API int loupe_cfg_write_dot(const struct loupe_cfg_report *report, FILE *out);

/** The drawing as a picture that stands alone. @return as loupe_cfg_write_text() */
LOUPE_API int loupe_cfg_write_svg(const struct loupe_cfg_report *report, FILE *out);

/** Blocks, edges, subprograms, calls and loops. @return 0, -ENOMEM, -EIO */
LOUPE_API int loupe_cfg_write_json(const struct loupe_cfg_report *report, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
