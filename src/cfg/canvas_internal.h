/* SPDX-License-Identifier: GPL-2.0-only */
/* Drawing on a canvas, for the graph and its writers. Coordinates are the picture's. */
#ifndef CFG_CANVAS_INTERNAL_H
#define CFG_CANVAS_INTERNAL_H

#include "bpfloupe/canvas.h"

void canvas_put(struct loupe_canvas *canvas, int32_t x, int32_t y, enum loupe_role role,
		uint32_t c);

/* A straight line, x0 <= x1 and y0 <= y1; it joins lines that end where it passes, and passes under
 * upright lines (over all, if on_top). */
void canvas_line(struct loupe_canvas *canvas, int32_t x0, int32_t y0, int32_t x1, int32_t y1,
		 enum loupe_role role, bool on_top);

/* A border, empty inside. */
void canvas_box(struct loupe_canvas *canvas, int32_t x, int32_t y, int32_t w, int32_t h,
		enum loupe_role role);

/* Where a line leaves a border to what is below or above it. */
void canvas_port(struct loupe_canvas *canvas, int32_t x, int32_t y, bool below,
		 enum loupe_role role);

/* Writes a code point, returns its bytes. */
size_t canvas_utf8(uint32_t c, char out[4]);

#endif
