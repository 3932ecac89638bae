// SPDX-License-Identifier: GPL-2.0-only
/* The graph drawn with characters. */
#include "report/cfg_report_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Rows that are drawn at a time: pictures may be much larger than memory. */
#define BAND_ROWS 64

int report_layout(const struct loupe_cfg_report *report, const struct loupe_layout **layout,
		  struct loupe_layout **made)
{
	struct loupe_layout_opts opts;
	int ret;

	*made = NULL;
	*layout = report->layout;
	if (report->layout)
		return 0;
	loupe_layout_opts_init(&opts);
	opts.content = report->content;
	ret = loupe_layout_create(report->cfg, &opts, made);
	*layout = *made;
	return ret;
}

static int write_band(struct loupe_canvas *canvas, int32_t rows, char *buf, size_t size, FILE *out)
{
	for (int32_t row = 0; row < rows; row++) {
		loupe_canvas_row(canvas, row, buf, size);
		if (fprintf(out, "%s\n", buf) < 0)
			return -EIO;
	}
	return 0;
}

int loupe_cfg_write_text(const struct loupe_cfg_report *report, FILE *out)
{
	struct loupe_canvas *canvas = NULL;
	const struct loupe_layout *layout;
	struct loupe_layout *made;
	char *buf = NULL;
	size_t size;
	int ret = report_layout(report, &layout, &made);

	if (ret)
		return ret;
	size = (size_t)layout->w * 4 + 1;
	canvas = loupe_canvas_create(0, 0, layout->w, BAND_ROWS);
	buf = malloc(size);
	ret = canvas && buf ? 0 : -ENOMEM;
	if (!ret && report->title && fprintf(out, "%s\n", report->title) < 0)
		ret = -EIO;
	for (int32_t y = 0; y < layout->h && !ret; y += BAND_ROWS) {
		int32_t rows = layout->h - y < BAND_ROWS ? layout->h - y : BAND_ROWS;

		loupe_canvas_reset(canvas, 0, y);
		canvas->ascii = report->ascii;
		loupe_layout_draw(layout, report->cfg, report->content, canvas);
		ret = write_band(canvas, rows, buf, size, out);
	}
	free(buf);
	loupe_canvas_destroy(canvas);
	loupe_layout_destroy(made);
	return ret;
}
