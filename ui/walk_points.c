// SPDX-License-Identifier: GPL-2.0-only
/* The checkpoints of the present insn: their lives, and how they compare with the present state. */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>

/* Lives with more arrivals or comparisons are not counted through: their totals must do. */
enum { MAX_ARRIVALS = 20000, MAX_COMPARES = 2000 };

static struct walk_point *find_point(struct walk_view *walk, uint32_t serial)
{
	for (uint32_t i = 0; i < walk->point_cnt; i++) {
		if (walk->points[i].info.serial == serial)
			return &walk->points[i];
	}
	return NULL;
}

/* What a person looks for first: what was compared now, the living, the evicted, those to come. */
enum interest {
	COMPARED_NOW,
	LIVING,
	EVICTED,
	UNBORN,
};

static enum interest interest_of(const struct walk_point *point, uint32_t now)
{
	if (point->compared)
		return COMPARED_NOW;
	if (point->info.born > now)
		return UNBORN;
	return point->info.evicted != LOUPE_NO_STEP && point->info.evicted <= now ? EVICTED
										  : LIVING;
}

/* In the order of comparing; the living and the evicted young first; those to come by their turn.
 */
static int by_interest(const void *left, const void *right)
{
	const struct walk_point *a = left, *b = right;

	if (a->interest != b->interest)
		return a->interest < b->interest ? -1 : 1;
	if (a->interest == COMPARED_NOW)
		return a->compare.row < b->compare.row ? -1 : 1;
	if (a->interest == UNBORN)
		return a->info.serial < b->info.serial ? -1 : 1;
	return a->info.serial > b->info.serial ? -1 : 1;
}

int walk_fill_points(struct walk_view *walk)
{
	uint64_t row = loupe_trace_first_row(walk->trace, LOUPE_TABLE_COMPARE, walk->info.step);
	uint32_t cnt;
	const uint32_t *serials =
		loupe_trace_insn_checkpoints(walk->trace, (uint32_t)walk->info.insn_idx, &cnt);
	struct loupe_compare_info compare;

	free(walk->points);
	walk->point_cnt = 0;
	walk->points = calloc(cnt + 1, sizeof(*walk->points));
	if (!walk->points)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		struct walk_point *point = &walk->points[walk->point_cnt];

		if (loupe_trace_checkpoint(walk->trace, serials[i], &point->info) == 0)
			walk->point_cnt++;
	}
	for (; loupe_trace_compare(walk->trace, row, &compare) == 0 &&
	       compare.step == walk->info.step;
	     row++) {
		struct walk_point *point = find_point(walk, compare.serial);

		if (point) {
			point->compared = true;
			point->compare = compare;
		}
	}
	for (uint32_t i = 0; i < walk->point_cnt; i++)
		walk->points[i].interest = interest_of(&walk->points[i], walk->info.step);
	qsort(walk->points, walk->point_cnt, sizeof(*walk->points), by_interest);
	walk->scroll[WALK_POINTS] = (struct scroll){ 0 };
	return 0;
}

uint32_t walk_point_rows(const struct walk_view *walk)
{
	uint32_t rows = walk->point_cnt;

	for (uint32_t i = 0; i < walk->point_cnt && walk->points[i].compared; i++)
		rows++;
	return rows;
}

struct walk_point *walk_point_at(const struct walk_view *walk, int64_t row)
{
	for (uint32_t i = 0; i < walk->point_cnt; i++) {
		int64_t takes = walk->points[i].compared ? 2 : 1;

		if (row < takes)
			return &walk->points[i];
		row -= takes;
	}
	return NULL;
}

/* Hits and misses until now; the totals of the whole life where counting would take too long. */
static void count_compares(const struct walk_view *walk, struct walk_point *point)
{
	const struct loupe_checkpoint_info *info = &point->info;
	uint32_t insn = (uint32_t)info->insn_idx, arrivals;
	uint32_t end = info->evicted != LOUPE_NO_STEP ? info->evicted : info->freed;
	struct loupe_compare_info *compares;
	uint64_t cnt = 0;

	if (point->counted)
		return;
	point->counted = true;
	point->hits = info->hits;
	point->misses = info->misses;
	arrivals = loupe_trace_visit_lower(walk->trace, insn, end) -
		   loupe_trace_visit_lower(walk->trace, insn, info->born);
	if (arrivals > MAX_ARRIVALS || info->compares > MAX_COMPARES)
		return;
	compares = calloc(info->compares + 1, sizeof(*compares));
	if (!compares)
		return;
	point->until_now = true;
	point->hits = 0;
	point->misses = 0;
	cnt = loupe_trace_checkpoint_compares(walk->trace, info->serial, 0, compares,
					      info->compares);
	for (uint64_t i = 0; i < cnt && compares[i].step <= walk->info.step; i++) {
		bool hit;

		words_outcome(compares[i].outcome, &hit);
		if (hit)
			point->hits++;
		else if (compares[i].outcome == LOUPE_CMP_MISS)
			point->misses++;
	}
	free(compares);
}

static void draw_life(const struct walk_view *walk, struct walk_point *point, struct pen *pen)
{
	const struct loupe_checkpoint_info *info = &point->info;
	uint32_t now = walk->info.step;
	bool unborn = info->born > now, wide = pen_room(pen) >= 64;
	enum ui_role role = unborn ? UI_DEAD : UI_TEXT;
	char born[NUMBER_TEXT], step[NUMBER_TEXT];

	pen_printf(pen, unborn ? UI_DEAD : UI_CHECKPOINT, "#%-4u", info->serial);
	if (wide)
		pen_printf(pen, role, " born step %-8s", number_text(born, info->born));
	else
		pen_printf(pen, role, " @%-6s", number_text(born, info->born));
	if (unborn) {
		pen_text(pen, UI_DEAD, " later than this");
		return;
	}
	count_compares(walk, point);
	pen_printf(pen, point->hits ? UI_HIT : role, wide ? " hit %-3u" : " hit %-2u", point->hits);
	pen_printf(pen, role, wide ? " miss %-3u" : " miss %-2u", point->misses);
	if (!point->until_now)
		pen_text(pen, UI_DIM, " in all");
	if (info->evicted != LOUPE_NO_STEP && info->evicted <= now) {
		pen_printf(pen, UI_EVICTED, wide ? " ✂ evicted step %s" : " ✂ @%s",
			   number_text(step, info->evicted));
		if (wide)
			pen_printf(pen, UI_DIM, " (%u > %u×3+3)", info->evict_misses,
				   info->evict_hits);
	} else {
		pen_text(pen, UI_CHECKPOINT, info->born == now ? " ● new" : " ● alive");
		if (wide && info->evicted != LOUPE_NO_STEP)
			pen_printf(pen, UI_DIM, " until step %s", number_text(step, info->evicted));
	}
}

static void draw_compare(struct walk_view *walk, const struct walk_point *point, struct pen *pen)
{
	const struct loupe_state *old =
		loupe_cursor_seek_checkpoint(walk->then, point->info.serial, point->compare.row);
	bool hit;
	const char *word = words_outcome(point->compare.outcome, &hit);
	char text[800];

	words_compare(&point->compare, old, walk->state, walk->view.subject->names, text,
		      sizeof(text));
	snprintf(walk->detail, sizeof(walk->detail), "%s", text);
	if (point->compare.mode == LOUPE_CMP_SKIPPED && !hit)
		pen_text(pen, UI_DIM, "   now: ");
	else
		pen_printf(pen, hit ? UI_HIT : UI_MISS, "   %s ", word);
	pen_text(pen, UI_STRONG, text);
}

void walk_draw_points(struct walk_view *walk, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &walk->scroll[WALK_POINTS];
	bool focus = walk->focus == WALK_POINTS;
	uint32_t cnt = walk_point_rows(walk);
	char detail[sizeof(walk->detail)];
	int64_t selected = -1;

	walk->h[WALK_POINTS] = area.h;
	scroll_fit(scroll, cnt, area.h);
	if (!cnt) {
		const struct loupe_insn_facts *facts =
			loupe_trace_facts(walk->trace, (uint32_t)walk->info.insn_idx);
		struct pen pen = pen_at(screen, area.x, area.y, area.w);

		pen_text(
			&pen, UI_DIM,
			walk->view.subject->logged
				? "a log does not tell where states were stored, compared or evicted"
			: facts && facts->prune_point
				? "states are compared here, but none was ever stored"
				: "no state is stored or compared at this insn");
	}
	for (int i = 0; i < area.h && scroll->top + i < cnt; i++) {
		struct rect at = { area.x, area.y + i, area.w, 1 };
		struct pen pen = pen_at(screen, at.x, at.y, at.w);
		int64_t row = scroll->top + i;
		struct walk_point *point = walk_point_at(walk, row);

		if (row && walk_point_at(walk, row - 1) == point)
			draw_compare(walk, point, &pen);
		else
			draw_life(walk, point, &pen);
		if (focus && row == scroll->cursor) {
			screen_ground(screen, at, UI_GROUND_CURSOR);
			selected = row && walk_point_at(walk, row - 1) == point ? row : -1;
			if (selected >= 0)
				snprintf(detail, sizeof(detail), "%s", walk->detail);
		}
	}
	/* words that do not fit are shown whole */
	if (selected >= 0 && screen_columns(detail) > area.w - 8)
		walk_draw_wrapped(screen, area, detail);
	pane_more(screen, area, scroll->top, cnt);
}
