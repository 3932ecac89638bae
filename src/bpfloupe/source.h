/* SPDX-License-Identifier: GPL-2.0-only */
/* The source behind instructions: lines, functions and kernel functions by name, from BTF. */
#ifndef BPFLOUPE_SOURCE_H
#define BPFLOUPE_SOURCE_H

#include "common.h"
#include "image.h"
#include "insn.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_source;

/* A line of source text. Strings belong to the source; they are as the file has them, so that
 * control characters are still in them. */
struct loupe_source_line {
	const char *text; /* without leading blanks */
	const char *file; /* without directories */
	const char *path; /* as the compiler was given it */
	uint32_t line, column; /* 1-based; 0 if unknown */
	uint32_t first_insn;   /* slot at which this stretch of the line begins */
};

/**
 * Prepares the names of an image; one without BTF has none.
 * @param image  must live as long as the source
 * @param out    free with loupe_source_destroy()
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_source_create(const struct loupe_image *image, struct loupe_source **out);

/** True if the image is one made from a verifier log, in which insns may be missing. */
LOUPE_API bool loupe_source_is_logged(const struct loupe_source *source);

/** Frees the source. NULL is fine. */
LOUPE_API void loupe_source_destroy(struct loupe_source *source);

/**
 * The line that an instruction belongs to.
 * @param insn  slot
 * @return false if none is known
 */
LOUPE_API bool loupe_source_line_of(const struct loupe_source *source, uint32_t insn,
				    struct loupe_source_line *line);

/** Name of the function that begins at slot insn, NULL if none is known to begin there. */
LOUPE_API const char *loupe_source_func(const struct loupe_source *source, uint32_t insn);

/** Name of the function that slot insn lies in, NULL if unknown. */
LOUPE_API const char *loupe_source_func_of(const struct loupe_source *source, uint32_t insn);

/**
 * Printing with every name that is known: kernel functions by name, maps as "map[events]".
 * @param hide_code  leave out the "(bf) " in front
 * @return options for loupe_insn_print(), valid as long as the source
 */
LOUPE_API struct loupe_insn_print_opts loupe_source_print_opts(const struct loupe_source *source,
								bool hide_code);

#ifdef __cplusplus
}
#endif

#endif
