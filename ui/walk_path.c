// SPDX-License-Identifier: GPL-2.0-only
/* The conditional jumps that led to the present step, and which side was taken. */
#include "walk.h"

#include "wrap.h"

#include <errno.h>
#include <stdlib.h>

/* More are not looked at: nobody scrolls through them. */
#define MAX_DECISIONS 2000

int walk_fill_path(struct walk_view *walk)
{
	uint32_t cnt;

	if (!walk->decisions)
		walk->decisions = calloc(MAX_DECISIONS, sizeof(*walk->decisions));
	if (!walk->decisions)
		return -ENOMEM;
	cnt = loupe_trace_decisions(walk->trace, walk->info.step, walk->decisions, MAX_DECISIONS);
	for (uint32_t i = 0; i < cnt / 2; i++) {
		struct loupe_decision swap = walk->decisions[i];

		walk->decisions[i] = walk->decisions[cnt - 1 - i];
		walk->decisions[cnt - 1 - i] = swap;
	}
	walk->decision_cnt = cnt;
	walk->decisions_cut = cnt == MAX_DECISIONS;
	/* the latest is what matters */
	walk->scroll[WALK_PATH] = (struct scroll){ .cursor = cnt ? cnt - 1 : 0 };
	return 0;
}

bool walk_tells_findings(const struct walk_view *walk)
{
	return walk->walked && !walk->info.step && walk->view.subject->findings.cnt;
}

static void draw_decision(struct walk_view *walk, uint32_t n, struct screen *screen, struct rect at)
{
	static const struct {
		const char *word, *sign;
		enum ui_role role;
	} others[] = {
		[LOUPE_OTHER_IMPOSSIBLE] = { "other side impossible", " ", UI_DIM },
		[LOUPE_OTHER_LATER] = { "other side later", "+", UI_NOTICE },
		[LOUPE_OTHER_EARLIER] = { "other side done", "-", UI_DIM },
	};
	const struct loupe_decision *decision = &walk->decisions[n];
	bool taken = decision->side == LOUPE_SIDE_TAKEN;
	/* what stands behind the condition: its side, what became of the other, when */
	bool words = at.w >= 52, when = at.w >= 66;
	int behind = 6 + (words ? 23 : 2) + (when ? 12 : 0), end = at.x + at.w;
	struct pen pen = pen_at(screen, at.x, at.y, at.w - behind);
	char condition[128], text[48], step[NUMBER_TEXT];

	listing_condition(&walk->listing, (uint32_t)decision->insn_idx, condition,
			  sizeof(condition));
	pen_text(&pen, UI_FRAME, n + 1 == walk->decision_cnt ? "└─" : "├─");
	pen_printf(&pen, UI_NUMBER, " %*d ", walk->listing.digits, decision->insn_idx);
	pen_text(&pen, UI_TEXT, condition);
	pen.end = end;
	pen_to(&pen, end - behind);
	pen_text(&pen, taken ? UI_TRUE : UI_FALSE, taken ? " true " : " false");
	if (words)
		pen_printf(&pen, others[decision->other].role, "  %-21s",
			   others[decision->other].word);
	else
		pen_printf(&pen, others[decision->other].role, " %s", others[decision->other].sign);
	if (when) {
		snprintf(text, sizeof(text), "%s", number_text(step, decision->step));
		pen_right(&pen, UI_DIM, text);
	}
}

/* At the first step nothing led here; what is to come stands in its place. */
static void draw_findings(const struct findings *findings, struct screen *screen, struct rect area)
{
	char text[FINDING_TEXT + 32];
	int y = 0;

	for (uint32_t i = 0; i < findings->cnt && y < area.h; i++)
		y += wrap_text(screen, (struct rect){ area.x, area.y + y, area.w - 1, area.h - y },
			       0, i ? UI_TEXT : UI_NOTICE,
			       finding_words(&findings->at[i], text, sizeof(text)));
}

void walk_draw_path(struct walk_view *walk, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &walk->scroll[WALK_PATH];
	bool focus = walk->focus == WALK_PATH;

	walk->h[WALK_PATH] = area.h;
	scroll_fit(scroll, walk->decision_cnt, area.h);
	if (walk_tells_findings(walk)) {
		draw_findings(&walk->view.subject->findings, screen, area);
		return;
	}
	if (!walk->decision_cnt) {
		struct pen pen = pen_at(screen, area.x, area.y, area.w);

		pen_text(&pen, UI_DIM, "no condition on the way here");
	}
	for (int i = 0; i < area.h && scroll->top + i < walk->decision_cnt; i++) {
		struct rect at = { area.x, area.y + i, area.w, 1 };

		draw_decision(walk, (uint32_t)(scroll->top + i), screen, at);
		if (focus && scroll->top + i == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
	}
	pane_more(screen, area, scroll->top, walk->decision_cnt);
}
