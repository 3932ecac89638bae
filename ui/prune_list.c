// SPDX-License-Identifier: GPL-2.0-only
/* Prune's list: what happened to the checkpoints of one insn, in time order. */
#include "prune.h"

#include "wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------- */

/* A checkpoint of the insn, with its counters while events are made in order. */
struct life {
	struct loupe_checkpoint_info info;
	uint32_t hits, misses;
};

struct lives {
	struct life *at; /* in order of birth, so of serials too */
	uint32_t cnt;
	uint32_t next; /* the first that was not born yet */
};

static struct prune_event *add_event(struct prune_view *prune, enum prune_event_kind kind,
				     const struct life *life, uint32_t step)
{
	struct prune_event *event;

	if (prune->event_cnt == prune->event_cap) {
		uint64_t cap = prune->event_cap ? prune->event_cap * 2 : 256;
		struct prune_event *events = realloc(prune->events, cap * sizeof(*events));

		if (!events)
			return NULL;
		prune->events = events;
		prune->event_cap = cap;
	}
	event = &prune->events[prune->event_cnt++];
	*event = (struct prune_event){ .kind = kind, .step = step, .serial = life->info.serial,
				       .hits = life->hits, .misses = life->misses };
	return event;
}

/* Checkpoints stored before step. */
static int add_births(struct prune_view *prune, struct lives *lives, uint32_t step)
{
	for (; lives->next < lives->cnt && lives->at[lives->next].info.born < step; lives->next++) {
		const struct life *life = &lives->at[lives->next];

		if (!add_event(prune, PRUNE_BORN, life, life->info.born))
			return -ENOMEM;
	}
	return 0;
}

static struct life *find_life(struct lives *lives, uint32_t serial)
{
	uint32_t from = 0, to = lives->cnt;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (lives->at[mid].info.serial < serial)
			from = mid + 1;
		else
			to = mid;
	}
	return from < lives->cnt && lives->at[from].info.serial == serial ? &lives->at[from] : NULL;
}

static int add_compare(struct prune_view *prune, struct lives *lives,
		       const struct loupe_compare_info *compare)
{
	struct life *life = find_life(lives, compare->serial);
	struct prune_event *event;
	bool hit;

	if (!life)
		return 0;
	words_outcome(compare->outcome, &hit);
	if (hit)
		life->hits++;
	else if (compare->outcome == LOUPE_CMP_MISS)
		life->misses++;
	event = add_event(prune, PRUNE_COMPARE, life, compare->step);
	if (!event)
		return -ENOMEM;
	event->compare = *compare;
	if (life->info.evicted == compare->step && life->hits == life->info.evict_hits &&
	    life->misses == life->info.evict_misses &&
	    !add_event(prune, PRUNE_EVICT, life, compare->step))
		return -ENOMEM;
	return 0;
}

int prune_fill_list(struct prune_view *prune, uint32_t insn)
{
	enum { CHUNK = 256 };
	struct loupe_compare_info chunk[CHUNK];
	struct lives lives = { 0 };
	const uint32_t *serials;
	uint64_t from = 0, got;
	int rc = 0;

	prune->insn = insn;
	prune->event_cnt = 0;
	memset(prune->cache, 0, sizeof(prune->cache));
	serials = loupe_trace_insn_checkpoints(prune->trace, insn, &lives.cnt);
	lives.at = calloc((size_t)lives.cnt + 1, sizeof(*lives.at));
	if (!lives.at)
		return -ENOMEM;
	for (uint32_t i = 0; i < lives.cnt; i++)
		loupe_trace_checkpoint(prune->trace, serials[i], &lives.at[i].info);
	do {
		got = loupe_trace_insn_compares(prune->trace, insn, from, chunk, CHUNK);
		for (uint64_t i = 0; i < got && !rc; i++) {
			rc = add_births(prune, &lives, chunk[i].step);
			if (!rc)
				rc = add_compare(prune, &lives, &chunk[i]);
		}
		if (got)
			from = chunk[got - 1].row + 1;
	} while (got == CHUNK && !rc);
	if (!rc)
		rc = add_births(prune, &lives, LOUPE_NO_STEP);
	free(lives.at);
	prune->scroll[PRUNE_LIST] = (struct scroll){ 0 };
	return rc;
}

int64_t prune_event_at(const struct prune_view *prune, uint32_t step)
{
	uint64_t from = 0, to = prune->event_cnt;

	while (from < to) {
		uint64_t mid = from + (to - from) / 2;

		if (prune->events[mid].step < step)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == prune->event_cnt && from)
		from--;
	return (int64_t)from;
}

/* ---- words -------------------------------------------------------------------------------- */

static void born_words(const struct prune_view *prune, const struct prune_event *event, char *buf,
		       size_t size)
{
	struct loupe_checkpoint_info info;

	buf[0] = '\0';
	if (loupe_trace_checkpoint(prune->trace, event->serial, &info))
		return;
	if (info.parent)
		snprintf(buf, size, "stored; descends from #%u", info.parent);
	else
		snprintf(buf, size, "stored; the first one of its path");
}

const char *prune_event_words(struct prune_view *prune, uint64_t n)
{
	const struct prune_event *event = &prune->events[n];
	const struct loupe_state *old, *cur;
	char *text = prune->cache[n % PRUNE_CACHED].text, rule[80];
	size_t size = sizeof(prune->cache[0].text);

	if (prune->cache[n % PRUNE_CACHED].known && prune->cache[n % PRUNE_CACHED].event == n)
		return text;
	prune->cache[n % PRUNE_CACHED].known = true;
	prune->cache[n % PRUNE_CACHED].event = n;
	switch (event->kind) {
	case PRUNE_BORN:
		born_words(prune, event, text, size);
		break;
	case PRUNE_EVICT:
		prune_rule(prune, event, rule, sizeof(rule));
		snprintf(text, size, "given up: %s", rule);
		break;
	case PRUNE_COMPARE:
		old = loupe_cursor_seek_checkpoint(prune->then, event->serial, event->compare.row);
		cur = loupe_cursor_seek(prune->now, event->step);
		words_compare(&event->compare, old, cur, prune->view.subject->names, text, size);
		break;
	}
	return text;
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* "2 of 3": misses, and how many there may be. */
static void counter_text(const struct prune_view *prune, const struct prune_event *event, char *buf,
			 size_t size)
{
	uint64_t limit = prune_limit(prune, event->hits);

	if (event->kind != PRUNE_COMPARE || event->compare.outcome == LOUPE_CMP_MISS_UNCOUNTED)
		buf[0] = '\0';
	else if (limit == UINT64_MAX)
		snprintf(buf, size, "%u", event->misses);
	else
		snprintf(buf, size, "%u of %" PRIu64, event->misses, limit);
}

static enum ui_role event_role(const struct prune_event *event, const char **word)
{
	bool hit;

	switch (event->kind) {
	case PRUNE_BORN:
		*word = "●";
		return UI_CHECKPOINT;
	case PRUNE_EVICT:
		*word = "✂ EVICTED";
		return UI_EVICTED;
	case PRUNE_COMPARE:
		break;
	}
	*word = words_outcome(event->compare.outcome, &hit);
	if (event->compare.mode == LOUPE_CMP_SKIPPED && !hit &&
	    event->compare.outcome != LOUPE_CMP_INFINITE_LOOP) {
		*word = "–";
		return UI_DIM;
	}
	return hit ? UI_HIT : UI_MISS;
}

/* Columns at which the parts of a row begin. */
struct places {
	int serial, word, counter, text;
};

static const struct places places = { .serial = 11, .word = 18, .counter = 29, .text = 40 };

static void draw_head(struct screen *screen, struct rect area)
{
	struct pen pen = pen_at(screen, area.x, area.y, area.w);

	pen_text(&pen, UI_HEADING, "     step");
	pen_to(&pen, area.x + places.serial);
	pen_text(&pen, UI_HEADING, "state");
	pen_to(&pen, area.x + places.counter);
	pen_text(&pen, UI_HEADING, "misses");
	pen_to(&pen, area.x + places.text);
	pen_text(&pen, UI_HEADING, "what decided");
}

static void draw_row(struct prune_view *prune, uint64_t n, struct screen *screen, struct rect at)
{
	const struct prune_event *event = &prune->events[n];
	bool again = n && prune->events[n - 1].step == event->step;
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char number[NUMBER_TEXT], counter[64];
	const char *word;
	enum ui_role role = event_role(event, &word);

	pen_printf(&pen, again ? UI_DEAD : UI_NUMBER, "%9s", number_text(number, event->step));
	pen_to(&pen, at.x + places.serial);
	pen_printf(&pen, UI_CHECKPOINT, "#%u", event->serial);
	pen_to(&pen, at.x + places.word);
	pen_text(&pen, role, word);
	counter_text(prune, event, counter, sizeof(counter));
	pen_to(&pen, at.x + places.counter);
	pen_text(&pen, UI_DIM, counter);
	pen_to(&pen, at.x + places.text);
	pen_text(&pen, role == UI_DIM || event->kind == PRUNE_BORN ? UI_DIM : UI_TEXT,
		 prune_event_words(prune, n));
}

/* Words of the selected event over the rows at the bottom. */
static void draw_selected(struct prune_view *prune, struct screen *screen, struct rect at)
{
	uint64_t n = (uint64_t)prune->scroll[PRUNE_LIST].cursor;
	const struct prune_event *event = &prune->events[n];
	struct pen pen = pen_at(screen, at.x + 1, at.y, at.w - 2);
	char why[200] = "", others[200] = "", kept[300] = "", text[1000];
	struct loupe_loc loc;
	const char *word;
	enum ui_role role = event_role(event, &word);

	pen_printf(&pen, UI_CHECKPOINT, "#%u ", event->serial);
	pen_printf(&pen, role, "%s  ", word);
	if (event->kind == PRUNE_COMPARE && prune_loc(&event->compare, &loc))
		prune_why(prune, &event->compare, loc, why, sizeof(why));
	if (event->kind == PRUNE_COMPARE && !prune_fill_diffs(prune, &event->compare))
		prune_other_diffs(prune, others, sizeof(others));
	if (event->kind == PRUNE_EVICT)
		prune_keep_words(prune, event, kept, sizeof(kept));
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s", prune_event_words(prune, n),
		 *kept ? ". " : "", kept, *why ? ". It had to match: " : "", why,
		 *others ? ". Differs too: " : "", others);
	wrap_text(screen, (struct rect){ at.x + 1, at.y, at.w - 2, at.h }, pen.x - at.x - 1,
		  UI_STRONG, text);
}

void prune_draw_list(struct prune_view *prune, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &prune->scroll[PRUNE_LIST];
	struct rect inner;
	char title[96], number[NUMBER_TEXT], insn[160];

	snprintf(title, sizeof(title), "checkpoints at insn %u", prune->insn);
	inner = pane_frame(screen, (struct rect){ area.x, area.y, area.w, area.h - 4 }, title,
			   true);
	listing_insn_text(&prune->listing, prune->insn, false, insn, sizeof(insn));
	snprintf(title, sizeof(title), "%s events", number_text(number, prune->event_cnt));
	pane_note(screen, area, UI_DIM, title);
	draw_head(screen, (struct rect){ inner.x, inner.y, inner.w, 1 });
	inner.y++;
	inner.h--;
	prune->h[PRUNE_LIST] = inner.h;
	scroll_fit(scroll, (int64_t)prune->event_cnt, inner.h);
	for (int i = 0; i < inner.h && scroll->top + i < (int64_t)prune->event_cnt; i++) {
		struct rect at = { inner.x, inner.y + i, inner.w, 1 };

		draw_row(prune, (uint64_t)(scroll->top + i), screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		if (*tui_pattern(prune->view.tui))
			mark_matches(screen, at.x, at.y, at.w, tui_pattern(prune->view.tui));
	}
	pane_more(screen, inner, scroll->top, (int64_t)prune->event_cnt);
	screen_text(screen, area.x + 1, area.y + area.h - 4, area.w - 2, UI_COMMENT, insn);
	draw_selected(prune, screen, (struct rect){ area.x, area.y + area.h - 3, area.w, 3 });
}
