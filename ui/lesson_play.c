// SPDX-License-Identifier: GPL-2.0-only
/* Stops of a lesson, and what is said there. */
#include "lesson_play.h"

#include "lesson.h"
#include "panes.h"
#include "tui_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GLYPHS = 1200 };

struct lesson_play {
	const struct lesson *lesson;
	uint32_t at;	/* stop */
	bool *held;	/* per claim of this stop: it is so under the present rules */
	uint32_t wrong; /* claims that are not */
};

struct lesson_play *lesson_play_create(const struct lesson *lesson)
{
	struct lesson_play *play = calloc(1, sizeof(*play));

	if (play)
		play->lesson = lesson;
	return play;
}

void lesson_play_destroy(struct lesson_play *play)
{
	if (!play)
		return;
	free(play->held);
	free(play);
}

/* Other rules on the command line can make a claim untrue. */
static void check(struct lesson_play *play, const struct subject *subject)
{
	const struct lesson_stop *stop = &play->lesson->stops[play->at];
	struct lesson_facts facts;
	char why[400];

	free(play->held);
	play->wrong = 0;
	play->held = calloc(stop->span_cnt, sizeof(*play->held));
	if (!play->held ||
	    lesson_facts_init(&facts, subject->trace, subject->image, subject->names))
		return;
	for (uint32_t i = 0; i < stop->span_cnt; i++) {
		play->held[i] =
			!stop->spans[i].fact ||
			lesson_holds(&facts, stop->step, stop->spans[i].fact, why, sizeof(why));
		play->wrong += !play->held[i];
	}
	lesson_facts_finish(&facts);
}

void lesson_arrive(struct tui *tui)
{
	struct lesson_play *play = tui->lesson;
	const struct lesson_stop *stop = &play->lesson->stops[play->at];
	const struct subject *subject = tui_current_subject(tui);
	uint32_t cnt = loupe_trace_step_cnt(subject->trace);
	/* under other rules there may be fewer steps */
	uint32_t step = stop->step < cnt ? stop->step : cnt ? cnt - 1 : LOUPE_NO_STEP;
	const char *keys = stop->keys;

	check(play, subject);
	/* views begin anew, so that the same keys always lead to the same place */
	tui_close_view(tui, stop->view);
	tui_show(tui, stop->view);
	tui_go(tui, (struct place){ step, loupe_trace_step_insn(subject->trace, step) });
	while (*keys) {
		int key = key_parse(&keys);

		if (key == K_NONE)
			break;
		tui_request(tui, key_request(tui->view, key));
	}
}

bool lesson_request(struct tui *tui, enum request request)
{
	struct lesson_play *play = tui->lesson;
	const struct subject *subject = tui_current_subject(tui);

	if (request != REQ_STOP_NEXT && request != REQ_STOP_PREV)
		return false;
	if (!play) {
		tui_say(tui, UI_NOTICE, "no lesson is open: bpfloupe --lesson lists them");
	} else if (!subject || !subject->trace) {
		return true;
	} else if (request == REQ_STOP_NEXT && play->at + 1 == play->lesson->stop_cnt) {
		tui_say(tui, UI_NOTICE,
			play->lesson->number < lesson_cnt() ?
				"that was the last stop; bpfloupe --lesson %u goes on" :
				"that was the last stop of lesson %u, and the last lesson",
			play->lesson->number + (play->lesson->number < lesson_cnt()));
	} else if (request == REQ_STOP_PREV && !play->at) {
		tui_say(tui, UI_NOTICE, "this is the first stop");
	} else {
		play->at += request == REQ_STOP_NEXT ? 1 : UINT32_MAX;
		lesson_arrive(tui);
	}
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* The words as glyphs with their roles. */
struct words {
	uint32_t glyph[MAX_GLYPHS];
	uint8_t role[MAX_GLYPHS];
	int cnt;
};

static void gather(const struct lesson_play *play, struct words *words)
{
	const struct lesson_stop *stop = &play->lesson->stops[play->at];
	uint32_t c;

	words->cnt = 0;
	for (uint32_t i = 0; i < stop->span_cnt; i++) {
		const struct lesson_span *span = &stop->spans[i];
		bool wrong = play->held && !play->held[i];
		const char *at = span->words;

		while (words->cnt < MAX_GLYPHS && (c = screen_next_glyph(&at)) != 0) {
			words->glyph[words->cnt] = c;
			words->role[words->cnt++] = wrong	 ? UI_MISS
						    : span->fact ? UI_STRONG
								 : UI_TEXT;
		}
	}
}

/* Breaks the words at blanks into rows of w columns. @return rows; draws them if there is a
 * screen */
static int lay(const struct words *words, struct screen *screen, struct rect at)
{
	int rows = 0;

	for (int from = 0; from < words->cnt;) {
		int end = from, blank = 0;

		while (end < words->cnt && end - from < at.w) {
			if (words->glyph[end] == ' ')
				blank = end;
			end++;
		}
		if (end < words->cnt && words->glyph[end] != ' ' && blank > from)
			end = blank;
		for (int i = from; screen && rows < at.h && i < end; i++)
			screen_put(screen, at.x + i - from, at.y + rows, words->role[i],
				   words->glyph[i]);
		while (end < words->cnt && words->glyph[end] == ' ')
			end++;
		from = end;
		rows++;
	}
	return rows;
}

int lesson_rows(const struct lesson_play *play, struct rect area)
{
	struct words words;
	int rows;

	gather(play, &words);
	rows = lay(&words, NULL, (struct rect){ 0, 0, area.w - 2, 0 }) + 1;
	if (area.h < 14)
		return 0;
	return rows > area.h / 2 ? area.h / 2 : rows;
}

void lesson_draw(const struct lesson_play *play, struct screen *screen, struct rect area)
{
	const struct lesson *lesson = play->lesson;
	struct words words;
	struct pen pen;
	char keys[64];

	gather(play, &words);
	screen_hline(screen, area.x, area.y, area.w, UI_FRAME_FOCUS);
	pen = pen_at(screen, area.x + 2, area.y, area.w - 4);
	pen_printf(&pen, UI_TITLE_FOCUS, " Lesson %u: %s ", lesson->number, lesson->title);
	if (play->wrong)
		pen_text(&pen, UI_MISS, " not so under these rules ");
	key_list(VIEW_LESSON, REQ_STOP_NEXT, keys, sizeof(keys));
	*strchrnul(keys, ' ') = '\0';
	pen = pen_at(screen, area.x + area.w - 26, area.y, 24);
	pen_printf(&pen, UI_TITLE, " stop %u of %u ", play->at + 1, lesson->stop_cnt);
	pen_printf(&pen, UI_KEY, " %s", keys);
	pen_text(&pen, UI_DIM, " next ");
	lay(&words, screen, (struct rect){ area.x + 1, area.y + 1, area.w - 2, area.h - 1 });
}
