// SPDX-License-Identifier: GPL-2.0-only
/* The graph as one JSON object; indices into its own arrays, null where there is none. */
#include "bpfloupe/cfg_report.h"
#include "bpfloupe/insn.h"

#include <errno.h>
#include <jansson.h>

/* jansson takes valid UTF-8 only; names in a program may be anything. */
static json_t *string(const char *text)
{
	json_t *value = json_string(text);
	char clean[256];
	size_t i;

	if (value)
		return value;
	for (i = 0; text[i] && i + 1 < sizeof(clean); i++)
		clean[i] = (unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f
				   ? '?'
				   : text[i];
	clean[i] = '\0';
	return json_string(clean);
}

static json_t *number(uint32_t n)
{
	return n == LOUPE_CFG_NONE ? json_null() : json_integer(n);
}

static json_t *insns_of(const struct loupe_cfg_program *prog, const struct loupe_block *block)
{
	json_t *list = json_array();
	uint32_t i = block->first;

	while (i <= block->last) {
		char text[256];

		loupe_cfg_insn_text(prog, i, true, text, sizeof(text));
		json_array_append_new(
			list, json_pack("{s:o,s:o}", "insn", number(i), "text", string(text)));
		i += prog->insns ? loupe_insn_slots(&prog->insns[i]) : 1;
	}
	return list;
}

static json_t *blocks(const struct loupe_cfg_report *report)
{
	const struct loupe_cfg *cfg = report->cfg;
	json_t *list = json_array();

	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		const struct loupe_block *block = &cfg->blocks[n];
		json_t *value =
			json_pack("{s:o,s:o,s:o,s:b,s:b,s:o,s:o}", "first", number(block->first),
				  "last", number(block->last), "subprog", number(block->subprog),
				  "reachable", block->reachable, "exits", block->exits, "idom",
				  number(block->idom), "loop", number(block->loop));

		if (report->program)
			json_object_set_new(value, "insns", insns_of(report->program, block));
		json_array_append_new(list, value);
	}
	return list;
}

static json_t *edges(const struct loupe_cfg *cfg)
{
	json_t *list = json_array();

	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		const struct loupe_edge *edge = &cfg->edges[e];

		json_array_append_new(
			list, json_pack("{s:o,s:o,s:s,s:b,s:b}", "from", number(edge->from), "to",
					number(edge->to), "kind", loupe_edge_kind_name(edge->kind),
					"retreating", edge->retreating, "back", edge->back));
	}
	return list;
}

static json_t *subprogs(const struct loupe_cfg *cfg)
{
	json_t *list = json_array();

	for (uint32_t s = 0; s < cfg->subprog_cnt; s++) {
		const struct loupe_subprog *sub = &cfg->subprogs[s];

		json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o,s:b}", "first",
						      number(sub->first), "last", number(sub->last),
						      "first_block", number(sub->first_block),
						      "block_cnt", number(sub->block_cnt),
						      "reachable", sub->reachable));
	}
	return list;
}

static json_t *calls(const struct loupe_cfg *cfg)
{
	json_t *list = json_array();

	for (uint32_t c = 0; c < cfg->call_cnt; c++) {
		const struct loupe_cfg_call *call = &cfg->calls[c];

		json_array_append_new(list,
				      json_pack("{s:o,s:o,s:o,s:b}", "insn", number(call->insn),
						"block", number(call->block), "callee",
						number(call->callee), "callback", call->callback));
	}
	return list;
}

static json_t *loops(const struct loupe_cfg *cfg)
{
	json_t *list = json_array();

	for (uint32_t l = 0; l < cfg->loop_cnt; l++) {
		const struct loupe_loop *loop = &cfg->loops[l];
		json_t *members = json_array();

		for (uint32_t i = 0; i < loop->block_cnt; i++)
			json_array_append_new(members, number(cfg->loop_blocks[loop->first + i]));
		json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:b,s:o}", "header",
						      number(loop->header), "parent",
						      number(loop->parent), "depth",
						      number(loop->depth), "irreducible",
						      loop->irreducible, "blocks", members));
	}
	return list;
}

int loupe_cfg_write_json(const struct loupe_cfg_report *report, FILE *out)
{
	const struct loupe_cfg *cfg = report->cfg;
	json_t *root = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "title",
				 report->title ? string(report->title) : json_null(), "insn_cnt",
				 number(cfg->insn_cnt), "subprogs", subprogs(cfg), "blocks",
				 blocks(report), "edges", edges(cfg), "calls", calls(cfg), "loops",
				 loops(cfg));
	int ret = 0;

	if (!root)
		return -ENOMEM;
	if (json_dumpf(root, out, JSON_INDENT(1)) || putc('\n', out) == EOF || ferror(out))
		ret = -EIO;
	json_decref(root);
	return ret;
}
