/* SPDX-License-Identifier: GPL-2.0-only */
/* Writers of a control-flow graph: drawn text, DOT, SVG, JSON. */
#ifndef BPFLOUPE_CFG_REPORT_H
#define BPFLOUPE_CFG_REPORT_H

#include <stdio.h>

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_cfg_report {
	const struct loupe_cfg *cfg;
	const struct loupe_block_content *content; /* what the blocks show */
	const char *title;			   /* of the program, may be NULL */
	const struct loupe_layout *layout;	   /* text, SVG: NULL makes one with defaults */
	bool ascii;				   /* text: no line-drawing characters */
	/* JSON: the text of one instruction; NULL leaves it out. */
	void (*insn)(void *data, uint32_t insn, char *buf, size_t size);
	void *insn_data;
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
