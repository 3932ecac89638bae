// SPDX-License-Identifier: GPL-2.0-only
/* The drawing as SVG: the layout's cells, with real lines. Light and dark by the viewer's wish. */
#include "cfg/layout_internal.h"
#include "report/cfg_report_internal.h"

#include <errno.h>

/* Of a cell, in pixels. */
#define CELL_W 8
#define CELL_H 17
#define MARGIN 12
/* From a cell's top to the text's base line. */
#define BASE 13

static const char style[] =
	"text{font:13px 'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;"
	"white-space:pre;fill:#1f2328}\n"
	".paper{fill:#fff}.box{fill:#f6f8fa;stroke:#59636e;stroke-width:1.2}\n"
	".box.block-dead{stroke-dasharray:4 3;stroke:#aab2bb}\n"
	".box.block-selected{stroke:#bf8700;stroke-width:2.5}\n"
	".box.block-matched{stroke:#8250df;stroke-width:2.5}\n"
	"polyline{fill:none;stroke:#59636e;stroke-width:1.4}\n"
	"polyline.edge-true{stroke:#1a7f37}polyline.edge-false{stroke:#cf222e}\n"
	"polyline.edge-back{stroke:#0969da;stroke-width:1.8}\n"
	"polyline.edge-selected{stroke:#bf8700;stroke-width:3}\n"
	"text.edge-true{fill:#1a7f37}text.edge-false{fill:#cf222e}\n"
	"text.dim,text.number{fill:#818b98}text.comment{fill:#57606a;font-style:italic}\n"
	"text.label{fill:#0969da}text.deleted{fill:#cf222e;text-decoration:line-through}\n"
	"text.moved{fill:#8250df}text.changed{fill:#9a6700}text.added{fill:#1a7f37}\n"
	"text.error{fill:#fff;stroke:none;font-weight:bold;fill:#cf222e}\n"
	".heat{fill:#fb8500}\n"
	"@media(prefers-color-scheme:dark){text{fill:#d1d7e0}.paper{fill:#0d1117}\n"
	".box{fill:#161b22;stroke:#7d8590}polyline{stroke:#7d8590}\n"
	"polyline.edge-true{stroke:#3fb950}polyline.edge-false{stroke:#f85149}\n"
	"polyline.edge-back{stroke:#58a6ff}text.edge-true,text.added{fill:#3fb950}\n"
	"text.edge-false,text.deleted,text.error{fill:#f85149}text.label{fill:#58a6ff}\n"
	"text.comment{fill:#9198a1}text.moved{fill:#a371f7}text.changed{fill:#d29922}}\n";

struct svg {
	const struct loupe_cfg_report *report;
	const struct loupe_layout *layout;
	FILE *out;
};

static void write_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			putc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	}
}

static int px(int32_t x)
{
	return MARGIN + x * CELL_W;
}

static int py(int32_t y)
{
	return MARGIN + y * CELL_H;
}

static void write_text(const struct svg *svg, int32_t x, int32_t y, enum loupe_role role,
		       const char *text)
{
	int32_t columns = loupe_text_columns(text);

	if (!columns)
		return;
	fprintf(svg->out, "<text class=\"%s\" x=\"%d\" y=\"%d\" textLength=\"%d\">",
		loupe_role_name(role), px(x), py(y) + BASE, columns * CELL_W);
	write_escaped(text, svg->out);
	fputs("</text>\n", svg->out);
}

static void write_line(const struct svg *svg, const struct loupe_node *node, uint32_t i)
{
	const struct loupe_block_content *content = svg->report->content;
	struct loupe_block_line line = { .text = "" };
	int32_t y = node->y + 1 + (int32_t)i, mark;
	char number[sizeof(line.text)];

	content->line(content->data, node->block, i, &line);
	if (line.heat)
		fprintf(svg->out,
			"<rect class=\"heat\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
			"opacity=\"%.2f\"/>\n",
			px(node->x) + CELL_W / 2 + 1, py(y), (node->w - 1) * CELL_W - 2, CELL_H,
			0.6 * line.heat / LOUPE_HEAT_MAX);
	/* numbers are ASCII: a column is a byte */
	snprintf(number, sizeof(number), "%.*s", (int)line.number, line.text);
	write_text(svg, node->x + 2, y, LOUPE_ROLE_NUMBER, number);
	write_text(svg, node->x + 2 + line.number, y, line.role, line.text + line.number);
	mark = loupe_text_columns(line.mark);
	write_text(svg, node->x + node->w - 1 - mark, y, line.mark_role, line.mark);
}

static void write_node(const struct svg *svg, const struct loupe_node *node)
{
	const struct loupe_block_content *content = svg->report->content;
	enum loupe_role role = layout_block_role(svg->report->cfg, content, node->block);
	uint32_t lines, shown;
	char rest[32];

	fprintf(svg->out,
		"<rect class=\"box %s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>\n",
		loupe_role_name(role), px(node->x) + CELL_W / 2, py(node->y) + CELL_H / 2,
		(node->w - 1) * CELL_W, (node->h - 1) * CELL_H);
	if (!content || !content->lines)
		return;
	lines = content->lines(content->data, node->block);
	shown = lines;
	if (lines > (uint32_t)node->h - 2)
		shown = node->h > 2 ? (uint32_t)node->h - 3 : 0;
	for (uint32_t i = 0; i < shown; i++)
		write_line(svg, node, i);
	if (shown == lines || node->h < 3)
		return;
	snprintf(rest, sizeof(rest), "... %u more", lines - shown);
	write_text(svg, node->x + 2, node->y + 1 + (int32_t)shown, LOUPE_ROLE_NUMBER, rest);
}

static void write_route(const struct svg *svg, const struct loupe_route *route)
{
	const struct loupe_layout *l = svg->layout;
	const struct loupe_cfg *cfg = svg->report->cfg;
	const struct loupe_point *p = &l->points[route->first];
	const struct loupe_edge *edge = &cfg->edges[route->edge];
	enum loupe_role role = layout_edge_role(cfg, svg->report->content, route);
	static const char letters[] = {
		[LOUPE_EDGE_TRUE] = 't',
		[LOUPE_EDGE_FALSE] = 'f',
		[LOUPE_EDGE_MAY_GOTO] = 'm',
	};

	fprintf(svg->out, "<polyline class=\"%s\"%s points=\"", loupe_role_name(role),
		route->cut ? "" : " marker-end=\"url(#a)\"");
	for (uint32_t i = 0; i < route->point_cnt; i++) {
		bool last = i + 1 == route->point_cnt;
		/* a cut edge ends above its label's letters */
		int y = py(p[i].y) + (last && route->cut ? 0 : CELL_H / 2);

		fprintf(svg->out, "%s%d,%d", i ? " " : "", px(p[i].x) + CELL_W / 2, y);
	}
	fputs("\"/>\n", svg->out);
	if (cfg->blocks[edge->from].succ_cnt == 2) {
		const char text[2] = { letters[edge->kind], '\0' };

		fprintf(svg->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n",
			loupe_role_name(role), px(p->x) + CELL_W - 1,
			py(p->y) + CELL_H / 2 + BASE - 1, text);
	}
}

int loupe_cfg_write_svg(const struct loupe_cfg_report *report, FILE *out)
{
	struct svg svg = { .report = report, .out = out };
	struct loupe_layout *made;
	int ret = report_layout(report, &svg.layout, &made);
	int64_t w, h;

	if (ret)
		return ret;
	w = 2 * MARGIN + (int64_t)svg.layout->w * CELL_W;
	h = 2 * MARGIN + (int64_t)svg.layout->h * CELL_H;
	if (w > INT32_MAX || h > INT32_MAX) {
		loupe_layout_destroy(made);
		return -E2BIG;
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%lld\" "
		"height=\"%lld\" "
		"viewBox=\"0 0 %lld %lld\">\n<title>",
		(long long)w, (long long)h, (long long)w, (long long)h);
	write_escaped(report->title ? report->title : "control-flow graph", out);
	fprintf(out,
		"</title>\n<style>\n%s</style>\n"
		"<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
		"markerWidth=\"6\" "
		"markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
		"fill=\"context-stroke\"/></marker></defs>\n"
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		style);
	for (uint32_t r = 0; r < svg.layout->route_cnt; r++)
		write_route(&svg, &svg.layout->routes[r]);
	for (uint32_t n = 0; n < svg.layout->node_cnt; n++)
		write_node(&svg, &svg.layout->nodes[n]);
	for (uint32_t i = 0; i < svg.layout->label_cnt; i++) {
		const struct loupe_label *label = &svg.layout->labels[i];

		write_text(&svg, label->x, label->y, LOUPE_ROLE_LABEL, label->text);
	}
	fputs("</svg>\n", out);
	loupe_layout_destroy(made);
	return ferror(out) ? -EIO : 0;
}
