// SPDX-License-Identifier: GPL-2.0-only
/* A graph: content of its blocks, layout, drawing. */
#include "cfg_side.h"

#include "panes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_rest(const struct cfg_side *side, uint32_t insn)
{
	/* only eBPF has instructions of two slots, and its second slot has no opcode */
	return side->ebpf && insn && side->ebpf[insn].code == 0 &&
	       loupe_insn_slots(&side->ebpf[insn - 1]) == 2;
}

uint32_t cfg_side_next(const struct cfg_side *side, uint32_t insn, int by)
{
	int64_t at = insn;

	do {
		at += by;
	} while (at > 0 && at < side->cnt && is_rest(side, (uint32_t)at));
	return at < 0 || at >= side->cnt ? LOUPE_CFG_NONE : (uint32_t)at;
}

void cfg_side_text(const struct cfg_side *side, uint32_t insn, char *buf, size_t size)
{
	struct loupe_insn_print_opts opts = { .no_code = true };
	struct loupe_insn pair[2];
	char *end;

	if (!side->ebpf) {
		loupe_filter_insn_words(side->flavour, side->prog.insns[insn].cbpf, buf, size);
		return;
	}
	if (side->source)
		opts = loupe_source_print_opts(side->source, true);
	pair[0] = side->ebpf[insn];
	pair[1] = insn + 1 < side->cnt ? side->ebpf[insn + 1] : (struct loupe_insn){ 0 };
	loupe_insn_print(buf, size, pair, &opts);
	/* the edges show where it leads */
	end = strncmp(buf, "if ", 3) == 0 ? strstr(buf, " goto ") : NULL;
	if (end)
		*end = '\0';
}

/* ---- content of blocks -------------------------------------------------------------------- */

static uint32_t shown_number(const struct cfg_side *side, uint32_t insn)
{
	return side->number ? side->number[insn] : insn;
}

static uint32_t content_lines(void *data, uint32_t block)
{
	const struct cfg_side *side = data;

	if (side->folded[block])
		return 1;
	return side->cfg->insn_line[side->cfg->blocks[block].last] + 1;
}

static const struct {
	enum ui_role role;
	const char *mark;
} fates[] = {
	[CFG_SAME] = { UI_TEXT, "" },
	[CFG_ALIKE] = { UI_TEXT, "" },
	[CFG_GONE] = { UI_DELETED, "gone" },
	[CFG_CHANGED] = { (enum ui_role)LOUPE_ROLE_CHANGED, "changed" },
	[CFG_RETARGETED] = { UI_TEXT, "↪" },
	[CFG_MOVED] = { (enum ui_role)LOUPE_ROLE_MOVED, "moved" },
	[CFG_NEW] = { (enum ui_role)LOUPE_ROLE_ADDED, "new" },
	[CFG_EDITED] = { (enum ui_role)LOUPE_ROLE_CHANGED, "◀" },
	[CFG_ERROR] = { UI_ERROR, "✗" },
};

/* What a folded block shows: its number, how much is in it, and the worst that happened in it. */
static void folded_line(const struct cfg_side *side, const struct loupe_block *b,
			struct loupe_block_line *line)
{
	enum cfg_fate fate = CFG_SAME;
	bool all_gone = true;
	uint32_t insns = 0;

	for (uint32_t i = b->first; i <= b->last; i++) {
		if (is_rest(side, i))
			continue;
		insns++;
		if (side->fate[i] != CFG_GONE)
			all_gone = false;
		if (side->fate[i] > fate)
			fate = (enum cfg_fate)side->fate[i];
	}
	line->number = (uint8_t)snprintf(line->text, sizeof(line->text),
					 "%u:", shown_number(side, b->first));
	snprintf(line->text + line->number, sizeof(line->text) - line->number, " +%u", insns);
	line->role = (uint8_t)(all_gone ? UI_DELETED : fates[fate].role);
	line->heat = side->shade ? side->heat[b->first] : 0;
}

static void content_line(void *data, uint32_t block, uint32_t i, struct loupe_block_line *line)
{
	const struct cfg_side *side = data;
	const struct loupe_block *b = &side->cfg->blocks[block];
	uint32_t insn;
	char text[200];

	if (side->folded[block]) {
		folded_line(side, b, line);
		return;
	}
	insn = loupe_cfg_line_insn(side->cfg, block, i);
	cfg_side_text(side, insn, text, sizeof(text));
	line->number = (uint8_t)snprintf(line->text, sizeof(line->text), "%*u: ", side->digits,
					 shown_number(side, insn));
	snprintf(line->text + line->number, sizeof(line->text) - line->number, "%s", text);
	line->role = (uint8_t)fates[side->fate[insn]].role;
	line->mark_role = line->role == UI_DELETED ? UI_DIM : line->role;
	snprintf(line->mark, sizeof(line->mark), "%s", fates[side->fate[insn]].mark);
	line->heat = side->shade ? side->heat[insn] : 0;
	if (!side->lit)
		return;
	line->role = side->lit[insn] == LOUPE_CFG_NONE ? UI_DIM : UI_STRONG;
	line->mark_role = UI_HIT;
	snprintf(line->mark, sizeof(line->mark), "%s",
		 side->lit[insn] == LOUPE_CFG_NONE ? "" : "●");
}

/* Edges that are not on the way that is lit go back. */
static uint8_t content_edge_role(void *data, uint32_t edge)
{
	const struct cfg_side *side = data;
	const struct loupe_edge *e = &side->cfg->edges[edge];

	return side->lit[side->cfg->blocks[e->from].last] == side->cfg->blocks[e->to].first ?
		       LOUPE_ROLE_EDGE_SELECTED : LOUPE_ROLE_BLOCK;
}

/* How a cut edge names a block: by its number, and what it returns if that is all it does. */
static void content_label(void *data, uint32_t block, char *buf, size_t size)
{
	const struct cfg_side *side = data;
	const struct loupe_block *b = &side->cfg->blocks[block];
	char text[200];

	snprintf(buf, size, "%u", shown_number(side, b->first));
	if (side->ebpf || b->first != b->last)
		return;
	cfg_side_text(side, b->first, text, sizeof(text));
	if (strncmp(text, "return ", 7) == 0)
		snprintf(buf, size, "%u %s", shown_number(side, b->first), text + 7);
}

static bool all_gone(const struct cfg_side *side, const struct loupe_block *b)
{
	for (uint32_t i = b->first; i <= b->last; i++) {
		if (!is_rest(side, i) && side->fate[i] != CFG_GONE)
			return false;
	}
	return true;
}

static uint8_t content_block_role(void *data, uint32_t block)
{
	const struct cfg_side *side = data;
	const struct loupe_block *b = &side->cfg->blocks[block];

	if (side->cursor != LOUPE_CFG_NONE && side->cfg->insn_block[side->cursor] == block)
		return side->active ? LOUPE_ROLE_BLOCK_SELECTED : LOUPE_ROLE_BLOCK_MATCHED;
	if (side->lit)
		return side->lit[b->first] == LOUPE_CFG_NONE ? LOUPE_ROLE_BLOCK
							     : LOUPE_ROLE_EDGE_SELECTED;
	return !b->reachable || all_gone(side, b) ? LOUPE_ROLE_BLOCK_DEAD : LOUPE_ROLE_BLOCK;
}

/* ---- life --------------------------------------------------------------------------------- */

int cfg_side_init(struct cfg_side *side, struct loupe_error *err)
{
	int rc = side->ebpf
			 ? loupe_cfg_from_ebpf(side->ebpf, side->cnt, &side->cfg, err)
			 : loupe_cfg_from_rewrite(&side->prog, LOUPE_REWRITE_CBPF, &side->cfg, err);

	if (rc)
		return rc;
	side->other = calloc(side->cnt, sizeof(*side->other));
	side->fate = calloc(side->cnt, sizeof(*side->fate));
	side->heat = calloc(side->cnt, sizeof(*side->heat));
	side->folded = calloc(side->cfg->block_cnt, sizeof(*side->folded));
	if (!side->other || !side->fate || !side->heat || !side->folded)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < side->cnt; i++)
		side->other[i] = LOUPE_CFG_NONE;
	side->cursor = LOUPE_CFG_NONE;
	side->look = LOUPE_CFG_NONE;
	side->digits = snprintf(NULL, 0, "%u", side->cnt - 1);
	side->content = (struct loupe_block_content){
		.data = side,
		.lines = content_lines,
		.line = content_line,
		.label = content_label,
		.block_role = content_block_role,
	};
	return 0;
}

int cfg_side_light(struct cfg_side *side)
{
	side->lit = malloc(side->cnt * sizeof(*side->lit));
	if (!side->lit)
		return -ENOMEM;
	memset(side->lit, 0xff, side->cnt * sizeof(*side->lit));
	side->content.edge_role = content_edge_role;
	return 0;
}

void cfg_side_finish(struct cfg_side *side)
{
	loupe_layout_destroy(side->layout);
	loupe_cfg_destroy(side->cfg);
	loupe_rewrite_prog_finish(&side->prog);
	free(side->number);
	free(side->other);
	free(side->fate);
	free(side->heat);
	free(side->folded);
	free(side->lit);
	*side = (struct cfg_side){ .cursor = LOUPE_CFG_NONE, .look = LOUPE_CFG_NONE };
}

int cfg_side_layout(struct cfg_side *side, const struct cfg_side *like, const volatile int *cancel,
		    struct loupe_layout **out)
{
	struct loupe_layout_opts opts;

	loupe_layout_opts_init(&opts);
	opts.content = &side->content;
	opts.cancel = cancel;
	if (like && like->layout) {
		opts.prev = like->layout;
		opts.prev_cfg = like->cfg;
		opts.prev_insn = side->other;
	}
	return loupe_layout_create(side->cfg, &opts, out);
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* Cells of an instruction's line in the picture; false if it is not drawn. */
static bool line_cells(const struct cfg_side *side, uint32_t insn, struct rect *line)
{
	uint32_t block, node, row = 0;
	const struct loupe_node *n;

	if (insn >= side->cnt)
		return false;
	block = side->cfg->insn_block[insn];
	node = side->layout->block_node[block];
	if (node == LOUPE_CFG_NONE)
		return false;
	n = &side->layout->nodes[node];
	if (!side->folded[block])
		row = side->cfg->insn_line[insn];
	if (n->h > 2 && row > (uint32_t)n->h - 3)
		row = (uint32_t)n->h - 3; /* only so much is shown of a very long block */
	*line = (struct rect){ n->x, n->y + 1 + (int)row, n->w, 1 };
	return true;
}

static void keep_in_sight(struct cfg_side *side, struct rect area)
{
	struct rect line;
	int margin = area.h > 10 ? 3 : 1;

	if (!side->follow ||
	    !line_cells(side, side->cursor == LOUPE_CFG_NONE ? side->look : side->cursor, &line))
		return;
	side->follow = false;
	if (side->centre || line.y < side->y + margin || line.y >= side->y + area.h - margin)
		side->y = line.y - area.h / 2;
	if (side->centre || line.x < side->x || line.x + line.w > side->x + area.w) {
		/* the block's middle in the middle; its beginning wins when it is wider */
		side->x = line.x + line.w / 2 - area.w / 2;
		if (line.w > area.w)
			side->x = line.x;
	}
	side->centre = false;
}

/* A picture that fits stands in the middle; of others, at least a third of the pane is filled. */
static void limit_pan(struct cfg_side *side, struct rect area)
{
	int32_t w = side->layout->w, h = side->layout->h, spare = area.w * 2 / 3;

	if (w <= area.w)
		side->x = (w - area.w) / 2;
	else if (side->x < -spare)
		side->x = -spare;
	else if (side->x > w - area.w + spare)
		side->x = w - area.w + spare;
	if (h <= area.h || side->y < 0)
		side->y = 0;
	else if (side->y > h - area.h)
		side->y = h - area.h;
}

static void copy_canvas(const struct loupe_canvas *canvas, struct screen *screen, struct rect area)
{
	for (int y = 0; y < area.h; y++) {
		for (int x = 0; x < area.w; x++) {
			const struct loupe_cell *from = &canvas->cells[y * canvas->w + x];
			struct ui_cell *to = screen_cell(screen, area.x + x, area.y + y);

			if (!to || !from->glyph)
				continue;
			to->glyph = from->glyph;
			to->role = from->role;
			if (from->heat)
				to->ground = (uint8_t)(UI_GROUND_HEAT + from->heat - 1);
		}
	}
}

void cfg_side_draw(struct cfg_side *side, struct screen *screen, struct rect area, bool ascii,
		   const char *pattern)
{
	struct loupe_canvas *canvas;
	struct rect line;

	if (!side->layout || area.w < 1 || area.h < 1)
		return;
	limit_pan(side, area);
	keep_in_sight(side, area);
	limit_pan(side, area);
	canvas = loupe_canvas_create(side->x, side->y, area.w, area.h);
	if (!canvas)
		return;
	canvas->ascii = ascii;
	loupe_layout_draw(side->layout, side->cfg, &side->content, canvas);
	copy_canvas(canvas, screen, area);
	loupe_canvas_destroy(canvas);
	for (int y = 0; *pattern && y < area.h; y++)
		mark_matches(screen, area.x, area.y + y, area.w, pattern);
	if (!line_cells(side, side->cursor, &line))
		return;
	line.x += area.x - side->x + 1;
	line.y += area.y - side->y;
	line.w -= 2;
	/* cut to the pane */
	if (line.x < area.x) {
		line.w -= area.x - line.x;
		line.x = area.x;
	}
	if (line.x + line.w > area.x + area.w)
		line.w = area.x + area.w - line.x;
	if (line.y >= area.y && line.y < area.y + area.h && line.w > 0)
		screen_ground(screen, line, side->active ? UI_GROUND_CURSOR : UI_GROUND_ROW);
}
