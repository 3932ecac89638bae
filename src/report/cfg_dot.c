// SPDX-License-Identifier: GPL-2.0-only
/* The graph for graphviz. */
#include "bpfloupe/cfg_report.h"

#include <errno.h>

/* The text of a double-quoted string. Backslashes too: dot has escapes of its own. */
static void write_quoted(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc((unsigned char)*text < 0x20 ? '?' : *text, out);
	}
}

static void write_block(const struct loupe_cfg_report *report, uint32_t n, FILE *out)
{
	const struct loupe_block *block = &report->cfg->blocks[n];
	const struct loupe_block_content *content = report->content;
	uint32_t lines = content ? content->lines(content->data, n) : 0;

	fprintf(out, "\t\tb%u [label=\"", n);
	for (uint32_t i = 0; i < lines; i++) {
		struct loupe_block_line line = { .text = "" };

		content->line(content->data, n, i, &line);
		write_quoted(line.text, out);
		if (line.mark[0]) {
			fputs("  ", out);
			write_quoted(line.mark, out);
		}
		fputs("\\l", out);
	}
	if (!lines)
		fprintf(out, "%u", block->first);
	fprintf(out, "\"%s];\n", block->reachable ? "" : ", style=dashed, fontcolor=gray40");
}

static void write_edge(const struct loupe_cfg *cfg, const struct loupe_edge *edge, FILE *out)
{
	static const char *const colours[] = {
		[LOUPE_EDGE_FALLTHROUGH] = "black",  [LOUPE_EDGE_JUMP] = "black",
		[LOUPE_EDGE_TRUE] = "darkgreen",     [LOUPE_EDGE_FALSE] = "firebrick",
		[LOUPE_EDGE_MAY_GOTO] = "darkgreen",
	};
	bool two = cfg->blocks[edge->from].succ_cnt == 2;

	fprintf(out, "\tb%u:s%c -> b%u:n [color=%s", edge->from,
		!two				 ? ' '
		: edge->kind == LOUPE_EDGE_FALSE ? 'e'
						 : 'w',
		edge->to, colours[edge->kind]);
	if (two)
		fprintf(out, ", taillabel=\"%c\"",
			edge->kind == LOUPE_EDGE_FALSE	? 'f'
			: edge->kind == LOUPE_EDGE_TRUE ? 't'
							: 'm');
	if (edge->retreating)
		fprintf(out, ", style=%s", edge->back ? "bold" : "dashed");
	fputs("];\n", out);
}

int loupe_cfg_write_dot(const struct loupe_cfg_report *report, FILE *out)
{
	const struct loupe_cfg *cfg = report->cfg;

	fputs("digraph \"", out);
	write_quoted(report->title ? report->title : "cfg", out);
	fputs("\" {\n\tnode [shape=box, fontname=\"monospace\", fontsize=10];\n"
	      "\tedge [fontname=\"monospace\", fontsize=9];\n",
	      out);
	for (uint32_t s = 0; s < cfg->subprog_cnt; s++) {
		const struct loupe_subprog *sub = &cfg->subprogs[s];

		if (cfg->subprog_cnt > 1)
			fprintf(out,
				"\tsubgraph cluster_%u {\n\t\tlabel=\"subprog %u, insns %u to "
				"%u\";\n",
				s, s, sub->first, sub->last);
		else
			fputs("\t{\n", out);
		for (uint32_t i = 0; i < sub->block_cnt; i++)
			write_block(report, sub->first_block + i, out);
		fputs("\t}\n", out);
	}
	for (uint32_t e = 0; e < cfg->edge_cnt; e++)
		write_edge(cfg, &cfg->edges[e], out);
	for (uint32_t c = 0; c < cfg->call_cnt; c++)
		fprintf(out, "\tb%u -> b%u [style=dotted, constraint=false, label=\"%s\"];\n",
			cfg->calls[c].block, cfg->subprogs[cfg->calls[c].callee].first_block,
			cfg->calls[c].callback ? "callback" : "call");
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
