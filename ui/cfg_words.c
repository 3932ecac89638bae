// SPDX-License-Identifier: GPL-2.0-only
/* The lines below the graphs: the present edit, the selected instruction. */
#include "cfg_pair.h"
#include "panes.h"

#include <stdio.h>
#include <string.h>

/* Writes text word by word over the rows of area. */
static int draw_words(struct screen *screen, struct rect area, enum ui_role role, const char *text)
{
	struct pen pen = pen_at(screen, area.x, area.y, area.w);
	int row = 0;

	while (*text) {
		char word[256];
		size_t len = strcspn(text, " ");
		int columns;

		snprintf(word, sizeof(word), "%.*s", (int)(len < 255 ? len : 255), text);
		columns = screen_columns(word);
		if (columns > pen_room(&pen) && pen.x > area.x) {
			if (++row >= area.h)
				return row;
			pen = pen_at(screen, area.x, area.y + row, area.w);
		}
		pen_text(&pen, role, word);
		if (pen_room(&pen))
			pen_text(&pen, role, " ");
		text += len;
		text += strspn(text, " ");
	}
	return row + 1;
}

static void filter_words(const struct cfg_side side[2], int active, const struct loupe_rewrite *rw,
			 uint32_t edits, struct screen *screen, struct rect outer)
{
	uint32_t cnt = loupe_rewrite_edit_cnt(rw), id = side[CFG_BEFORE].cursor;
	char title[120], text[700], a[NUMBER_TEXT], b[NUMBER_TEXT];
	struct rect inner;
	int64_t removed;
	int rows = 0;

	if (!edits)
		snprintf(title, sizeof(title), "before all of %s edits", number_text(b, cnt));
	else
		snprintf(title, sizeof(title), "edit %s of %s  %s", number_text(a, edits),
			 number_text(b, cnt), loupe_rewrite_edit_get(rw, edits - 1)->pass);
	inner = pane_frame(screen, outer, title, false);
	inner.x++;
	inner.w -= 2;
	/* while stepping, the edit; with all of them done, what became of the selection */
	if (edits && edits < cnt) {
		loupe_rewrite_edit_line(rw, edits - 1, text, sizeof(text));
		draw_words(screen, inner, UI_STRONG, text);
		return;
	}
	if (!edits) {
		draw_words(
			screen, inner, UI_TEXT,
			"] goes through the edits one by one, } shows the graph after all of them");
		return;
	}
	removed = id == LOUPE_CFG_NONE ? -1 : loupe_rewrite_removed_by(rw, id);
	if (removed >= 0) {
		loupe_rewrite_edit_line(rw, (uint32_t)removed, text, sizeof(text));
		rows = draw_words(screen, inner, UI_STRONG, text);
		inner.y += rows;
		inner.h -= rows;
		if (inner.h > 0) {
			snprintf(text, sizeof(text), "edit %s, %s",
				 number_text(a, (uint64_t)removed + 1),
				 loupe_rewrite_edit_get(rw, (uint32_t)removed)->pass);
			draw_words(screen, inner, UI_DIM, text);
		}
	} else if (side[active].cursor != LOUPE_CFG_NONE) {
		draw_words(screen, inner, UI_DIM,
			   id == LOUPE_CFG_NONE ? "an edit inserted this instruction"
						: "this instruction stayed");
	}
}

static void program_words(const struct cfg_side side[2], const struct subject *subject,
			  struct screen *screen, struct rect outer)
{
	uint32_t insn = side[CFG_BEFORE].cursor;
	struct loupe_source_line line;
	struct loupe_insn_stats stats;
	char title[48] = "instruction", number[NUMBER_TEXT];
	struct rect inner;
	struct pen pen;

	if (insn != LOUPE_CFG_NONE)
		snprintf(title, sizeof(title), "instruction %u", insn);
	inner = pane_frame(screen, outer, title, false);
	pen = pen_at(screen, inner.x + 1, inner.y, inner.w - 2);
	if (insn == LOUPE_CFG_NONE || loupe_trace_insn_stats(subject->trace, insn, &stats)) {
		pen_text(&pen, UI_DIM, "it is not in the program that was loaded");
		return;
	}
	if (!stats.visits) {
		pen_text(&pen, UI_DELETED, "never reached");
		if (side[CFG_AFTER].cnt)
			pen_text(&pen, UI_DIM, ", and therefore removed");
	} else {
		pen_printf(&pen, UI_STRONG, "%s visit%s", number_text(number, stats.visits),
			   stats.visits == 1 ? "" : "s");
	}
	if (stats.taken || stats.fell) {
		pen_printf(&pen, UI_TRUE, "   true %s", number_text(number, stats.taken));
		pen_printf(&pen, UI_FALSE, "  false %s", number_text(number, stats.fell));
	}
	if (stats.born)
		pen_printf(&pen, UI_CHECKPOINT, "   ● %s checkpoints",
			   number_text(number, stats.born));
	if (stats.pruned)
		pen_printf(&pen, UI_HIT, "   pruned %s", number_text(number, stats.pruned));
	if (stats.misses + stats.uncounted)
		pen_printf(&pen, UI_MISS, "   missed %s",
			   number_text(number, stats.misses + stats.uncounted));
	if (stats.evicted)
		pen_printf(&pen, UI_EVICTED, "   ✂ %s evicted", number_text(number, stats.evicted));
	pen = pen_at(screen, inner.x + 1, inner.y + 1, inner.w - 2);
	if (inner.h > 1 && subject->source && loupe_source_line_of(subject->source, insn, &line)) {
		pen_text(&pen, UI_COMMENT, line.text);
		snprintf(title, sizeof(title), "%.30s:%u", line.file, line.line);
		pen_right(&pen, UI_DIM, title);
	}
}

void cfg_words(const struct cfg_side side[2], int active, const struct subject *subject,
	       uint32_t edits, struct screen *screen, struct rect outer)
{
	if (subject->filter)
		filter_words(side, active, subject->rewrite, edits, screen, outer);
	else
		program_words(side, subject, screen, outer);
}
