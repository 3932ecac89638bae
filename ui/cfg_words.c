// SPDX-License-Identifier: GPL-2.0-only
/* The lines below the graphs: the present edit, the selected instruction. */
#include "cfg_pair.h"
#include "panes.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Writes the next line of the frame and takes its rows off. */
static void add_words(struct screen *screen, struct rect *inner, enum ui_role role,
		      const char *text)
{
	int rows;

	if (inner->h <= 0 || !*text)
		return;
	rows = draw_words(screen, *inner, role, text);
	inner->y += rows;
	inner->h -= rows;
}

/* Rules that an instruction of the filter before, or of the result, serves. */
static void rule_words(const struct loupe_why *why, uint32_t insn, char *buf, size_t size)
{
	char rules[400];

	buf[0] = '\0';
	if (insn < loupe_why_filter(why)->cnt &&
	    loupe_why_rules_text(why, insn, rules, sizeof(rules)))
		snprintf(buf, size, "for %s", rules);
}

/* Rules of what an edit is about, which may be new. */
static void edit_rules(const struct subject *subject, uint32_t id, char *buf, size_t size)
{
	const struct loupe_rewrite_prog *after = loupe_rewrite_after(subject->rewrite);

	buf[0] = '\0';
	if (id < subject->filter->cnt)
		rule_words(subject->why[0], id, buf, size);
	else if (id < after->id_cnt && after->index_of[id] != LOUPE_NONE)
		rule_words(subject->why[1], after->index_of[id], buf, size);
}

/* What is known about the selected instruction of the result: its explanation, without its title.
 */
static void result_words(const struct loupe_why *why, uint32_t insn, struct screen *screen,
			 struct rect *inner)
{
	struct loupe_why_select select = { .level = 0 };
	char *text, *at;
	size_t len;

	if (loupe_why_insn_text(why, insn, LOUPE_NONE, &select, &text, &len))
		return;
	at = strchr(text, '\n');
	for (at = at ? at + 1 : text + len; *at;) {
		size_t line = strcspn(at, "\n");
		char row[700];

		snprintf(row, sizeof(row), "%.*s", (int)line, at + strspn(at, " "));
		row[strcspn(row, "\n")] = '\0';
		add_words(screen, inner, strncmp(row, "stays", 5) ? UI_TEXT : UI_STRONG, row);
		at += line + (at[line] == '\n');
	}
	free(text);
}

/* What became of the selected instruction of the filter before. */
static void fate_words(const struct cfg_side *before, const struct subject *subject,
		       struct screen *screen, struct rect *inner)
{
	const struct loupe_rewrite *rw = subject->rewrite;
	uint32_t id = before->cursor;
	int64_t removed = id == LOUPE_CFG_NONE ? -1 : loupe_rewrite_removed_by(rw, id);
	char text[700], a[NUMBER_TEXT];

	if (id == LOUPE_CFG_NONE) {
		add_words(screen, inner, UI_DIM, "nothing of the filter before asks this");
		return;
	}
	if (before->fate[id] == CFG_ALIKE) {
		snprintf(text, sizeof(text), "built anew: %u asks the same of the same calls",
			 before->other[id]);
		add_words(screen, inner, UI_STRONG, text);
	} else if (removed >= 0) {
		loupe_rewrite_edit_line(rw, (uint32_t)removed, text, sizeof(text));
		add_words(screen, inner, UI_STRONG, text);
	} else {
		add_words(screen, inner, UI_DIM, "this instruction stayed");
	}
	rule_words(subject->why[0], id, text, sizeof(text));
	add_words(screen, inner, UI_TEXT, text);
	if (removed < 0)
		return;
	snprintf(text, sizeof(text), "edit %s, %s", number_text(a, (uint64_t)removed + 1),
		 loupe_rewrite_edit_get(rw, (uint32_t)removed)->pass);
	add_words(screen, inner, UI_DIM, text);
}

static void filter_words(const struct cfg_side side[2], int active, const struct subject *subject,
			 uint32_t edits, const char *verdict, struct screen *screen,
			 struct rect outer)
{
	const struct loupe_rewrite *rw = subject->rewrite;
	uint32_t cnt = loupe_rewrite_edit_cnt(rw);
	char title[120], text[700], a[NUMBER_TEXT], b[NUMBER_TEXT];
	const struct loupe_edit *edit;
	struct rect inner;

	if (!cnt)
		snprintf(title, sizeof(title), "no edits");
	else if (!edits)
		snprintf(title, sizeof(title), "before all of %s edits", number_text(b, cnt));
	else
		snprintf(title, sizeof(title), "edit %s of %s  %s", number_text(a, edits),
			 number_text(b, cnt), loupe_rewrite_edit_get(rw, edits - 1)->pass);
	inner = pane_frame(screen, outer, title, false);
	if (*verdict)
		pane_note(screen, outer, UI_NOTICE, verdict);
	inner.x++;
	inner.w -= 2;
	/* while stepping, the edit; with all of them done, what became of the selection */
	if (edits && edits < cnt) {
		edit = loupe_rewrite_edit_get(rw, edits - 1);
		loupe_rewrite_edit_line(rw, edits - 1, text, sizeof(text));
		add_words(screen, &inner, UI_STRONG, text);
		edit_rules(subject, edit->id, text, sizeof(text));
		add_words(screen, &inner, UI_TEXT, text);
	} else if (!edits && cnt) {
		add_words(
			screen, &inner, UI_TEXT,
			"] goes through the edits one by one, } shows the graph after all of them");
	} else if (active == CFG_AFTER && side[CFG_AFTER].cursor < side[CFG_AFTER].cnt) {
		result_words(subject->why[1], side[CFG_AFTER].cursor, screen, &inner);
	} else {
		fate_words(&side[CFG_BEFORE], subject, screen, &inner);
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
	       uint32_t edits, const char *verdict, struct screen *screen, struct rect outer)
{
	if (subject->filter)
		filter_words(side, active, subject, edits, verdict, screen, outer);
	else
		program_words(side, subject, screen, outer);
}
