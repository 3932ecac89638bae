// SPDX-License-Identifier: GPL-2.0-only
/* Prune's table: what pruning did at each insn. */
#include "prune.h"

#include "wrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------------ */

/* Comparisons that were worked through: those with unfinished checkpoints are passed over. */
static uint64_t compared(const struct prune_row *row)
{
	return row->stats.compares - row->stats.skipped;
}

static uint64_t of_insn(const struct prune_row *row)
{
	return row->insn;
}

static uint64_t of_visits(const struct prune_row *row)
{
	return row->stats.visits;
}

static uint64_t of_born(const struct prune_row *row)
{
	return row->stats.born;
}

static uint64_t of_alive(const struct prune_row *row)
{
	return row->stats.born - row->stats.evicted;
}

static uint64_t of_evicted(const struct prune_row *row)
{
	return row->stats.evicted;
}

static uint64_t of_hits(const struct prune_row *row)
{
	return row->stats.hits;
}

static uint64_t of_misses(const struct prune_row *row)
{
	return row->stats.misses;
}

static uint64_t of_uncounted(const struct prune_row *row)
{
	return row->stats.uncounted;
}

static uint64_t of_skipped(const struct prune_row *row)
{
	return row->stats.skipped;
}

static const struct {
	const char *name;
	int w;	    /* columns with the gap before */
	int screen; /* columns that the screen must have */
	enum ui_role role; /* of a number that is not 0 */
	bool up;    /* smallest first */
	uint64_t (*value)(const struct prune_row *row);
} columns[] = {
	{ "insn", 7, 0, UI_NUMBER, true, of_insn },
	{ "arrivals", 10, 110, UI_ARRIVAL, false, of_visits },
	{ "born", 7, 0, UI_CHECKPOINT, false, of_born },
	{ "alive", 7, 0, UI_CHECKPOINT, false, of_alive },
	{ "evicted", 9, 0, UI_EVICTED, false, of_evicted },
	{ "hits", 7, 0, UI_HIT, false, of_hits },
	{ "misses", 9, 0, UI_MISS, false, of_misses },
	{ "uncounted", 11, 120, UI_TEXT, false, of_uncounted },
	{ "skipped", 9, 160, UI_DIM, false, of_skipped },
	{ "compared", 10, 0, UI_STRONG, false, compared },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), BY_COMPARED = COLUMNS - 1, SHARE_W = 6 };

/* ---- making ------------------------------------------------------------------------------- */

/* Misses of one insn, counted by what differed first. */
enum { PLACES = LOUPE_MAX_REG + LOUPE_MAX_SLOTS + 1 };

struct tally {
	uint32_t cnt[LOUPE_DIFF_KINDS][LOUPE_MAX_FRAMES][PLACES];
};

static uint32_t place_of(const struct loupe_compare_info *info)
{
	if (info->reg >= 0 && info->reg < LOUPE_MAX_REG)
		return (uint32_t)info->reg;
	if (info->spi >= 0 && info->spi < LOUPE_MAX_SLOTS)
		return (uint32_t)(LOUPE_MAX_REG + info->spi);
	return PLACES - 1;
}

static bool is_compared_miss(const struct loupe_compare_info *info)
{
	return (info->outcome == LOUPE_CMP_MISS || info->outcome == LOUPE_CMP_MISS_UNCOUNTED) &&
	       info->mode != LOUPE_CMP_SKIPPED && info->frameno < LOUPE_MAX_FRAMES;
}

/* Finds the most frequent reason, and leaves the tally empty. */
static void find_reason(const struct prune_view *prune, struct prune_row *row, struct tally *tally)
{
	enum { CHUNK = 256 };
	struct loupe_compare_info chunk[CHUNK];
	uint64_t from, got;

	for (int pass = 0; pass < 2; pass++) {
		from = 0;
		do {
			got = loupe_trace_insn_compares(prune->trace, row->insn, from, chunk,
							CHUNK);
			for (uint64_t i = 0; i < got; i++) {
				const struct loupe_compare_info *info = &chunk[i];
				uint32_t *cnt;

				if (!is_compared_miss(info))
					continue;
				cnt = &tally->cnt[info->diff][info->frameno][place_of(info)];
				if (pass) {
					*cnt = 0;
				} else if (++*cnt > row->reason.cnt) {
					row->reason =
						(struct prune_reason){ info->diff, info->frameno,
								       info->reg, info->spi, *cnt };
				}
			}
			if (got)
				from = chunk[got - 1].row + 1;
		} while (got == CHUNK);
	}
}

static void add_total(struct loupe_insn_stats *total, const struct loupe_insn_stats *stats)
{
	total->visits += stats->visits;
	total->born += stats->born;
	total->evicted += stats->evicted;
	total->compares += stats->compares;
	total->hits += stats->hits;
	total->misses += stats->misses;
	total->uncounted += stats->uncounted;
	total->skipped += stats->skipped;
}

int prune_fill_table(struct prune_view *prune)
{
	uint32_t cnt = loupe_trace_insn_cnt(prune->trace);
	struct tally *tally = calloc(1, sizeof(*tally));

	prune->rows = calloc((size_t)cnt + 1, sizeof(*prune->rows));
	prune->sort = BY_COMPARED;
	if (!prune->rows || !tally) {
		free(tally);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		struct prune_row *row = &prune->rows[prune->row_cnt];

		if (loupe_trace_insn_stats(prune->trace, i, &row->stats) ||
		    (!row->stats.born && !row->stats.compares))
			continue;
		row->insn = i;
		row->reason = (struct prune_reason){ .reg = -1, .spi = -1 };
		find_reason(prune, row, tally);
		add_total(&prune->total.stats, &row->stats);
		prune->row_cnt++;
	}
	free(tally);
	prune_sort(prune);
	prune->scroll[PRUNE_TABLE] = (struct scroll){ 0 };
	return 0;
}

/* ---- sorting ------------------------------------------------------------------------------ */

struct order {
	int column;
	bool reverse;
};

static int by_order(const void *left, const void *right, void *data)
{
	const struct prune_row *a = left, *b = right;
	const struct order *order = data;
	uint64_t x = columns[order->column].value(a), y = columns[order->column].value(b);

	if (x != y)
		return (x < y) == (columns[order->column].up != order->reverse) ? -1 : 1;
	return a->insn < b->insn ? -1 : a->insn > b->insn;
}

int64_t prune_row_of(const struct prune_view *prune, uint32_t insn)
{
	for (uint32_t i = 0; i < prune->row_cnt; i++) {
		if (prune->rows[i].insn == insn)
			return i;
	}
	return -1;
}

void prune_sort(struct prune_view *prune)
{
	struct scroll *scroll = &prune->scroll[PRUNE_TABLE];
	struct order order = { prune->sort, prune->reverse };
	uint32_t insn;

	if (!prune->row_cnt)
		return;
	insn = prune->rows[scroll->cursor < prune->row_cnt ? scroll->cursor : 0].insn;
	qsort_r(prune->rows, prune->row_cnt, sizeof(*prune->rows), by_order, &order);
	scroll_to(scroll, prune_row_of(prune, insn), prune->row_cnt, prune->h[PRUNE_TABLE]);
}

bool prune_sort_by(struct prune_view *prune, const char *name)
{
	int column = (prune->sort + 1) % COLUMNS;

	for (int i = 0; name && i <= COLUMNS; i++) {
		if (i == COLUMNS)
			return false;
		if (strcmp(columns[i].name, name) == 0) {
			column = i;
			break;
		}
	}
	prune->sort = column;
	prune->reverse = false;
	prune_sort(prune);
	return true;
}

/* ---- words -------------------------------------------------------------------------------- */

/* A reason in words, and where there is less room. */
static const struct {
	const char *words, *brief;
} kinds[LOUPE_DIFF_KINDS] = {
	[LOUPE_DIFF_NONE] = { "not said", "not said" },
	[LOUPE_DIFF_CALLCHAIN] = { "reached through other calls", "other calls" },
	[LOUPE_DIFF_SPECULATIVE] = { "speculative path", "speculative" },
	[LOUPE_DIFF_SLEEPABLE] = { "may sleep, or not", "may sleep" },
	[LOUPE_DIFF_CALLBACK_DEPTH] = { "other turn of a callback", "callback" },
	[LOUPE_DIFF_TYPE] = { "holds another type", "type" },
	[LOUPE_DIFF_RANGE] = { "outside the verified range", "range" },
	[LOUPE_DIFF_TNUM] = { "other known bits", "known bits" },
	[LOUPE_DIFF_PRECISION] = { "another exact value", "exact value" },
	[LOUPE_DIFF_ID] = { "tied to other values", "links" },
	[LOUPE_DIFF_PTR_OFFSET] = { "points elsewhere", "points" },
	[LOUPE_DIFF_PKT_RANGE] = { "fewer packet bytes known", "packet" },
	[LOUPE_DIFF_STACK_SIZE] = { "stack not in use", "not in use" },
	[LOUPE_DIFF_STACK_TYPE] = { "other bytes on the stack", "bytes" },
	[LOUPE_DIFF_DYNPTR] = { "another dynptr", "dynptr" },
	[LOUPE_DIFF_ITER] = { "another iterator", "iterator" },
	[LOUPE_DIFF_IRQ] = { "other IRQ state", "IRQ state" },
	[LOUPE_DIFF_REFS] = { "other references held", "references" },
	[LOUPE_DIFF_LOCK] = { "other locks held", "locks" },
};

const char *prune_kind_words(enum loupe_diff_kind kind)
{
	return kinds[kind].words;
}

static void reason_words(const struct prune_row *row, bool brief, char *buf, size_t size)
{
	struct loupe_compare_info at = { .frameno = row->reason.frameno, .reg = row->reason.reg,
					 .spi = row->reason.spi };
	uint64_t all = row->stats.misses + row->stats.uncounted;
	const char *what = brief ? kinds[row->reason.kind].brief : kinds[row->reason.kind].words;
	struct loupe_loc loc;
	char where[48] = "";

	buf[0] = '\0';
	if (!row->reason.cnt)
		return;
	if (prune_loc(&at, &loc)) {
		words_loc(&loc, false, where, sizeof(where));
		strcat(where, " ");
	}
	if (row->reason.cnt < all)
		snprintf(buf, size, "%s%s %llu%%", where, what,
			 (unsigned long long)(row->reason.cnt * 100 / all));
	else
		snprintf(buf, size, "%s%s", where, what);
}

static void share_text(const struct prune_view *prune, const struct prune_row *row, char *buf,
		       size_t size)
{
	uint64_t all = compared(&prune->total);

	snprintf(buf, size, "%.1f%%", all ? (double)compared(row) * 100 / (double)all : 0.0);
}

void prune_row_text(const struct prune_view *prune, const struct prune_row *row, char *buf,
		    size_t size)
{
	char reason[160], share[16], text[256];
	size_t len = 0;

	for (int i = 0; i < COLUMNS && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%*llu", columns[i].w,
					(unsigned long long)columns[i].value(row));
	share_text(prune, row, share, sizeof(share));
	reason_words(row, false, reason, sizeof(reason));
	listing_insn_text(&prune->listing, row->insn, true, text, sizeof(text));
	if (len < size)
		snprintf(buf + len, size - len, "%*s  %-36s  %s", SHARE_W, share, reason, text);
}

/* ---- drawing ------------------------------------------------------------------------------ */

static bool shown(int column, int w)
{
	return w >= columns[column].screen;
}

enum { REASON_W = 34 };

static void draw_head(const struct prune_view *prune, struct screen *screen, struct rect area)
{
	struct pen pen = pen_at(screen, area.x, area.y, area.w);
	char head[32];
	int x;

	for (int i = 0; i < COLUMNS; i++) {
		bool down = columns[i].up == prune->reverse;

		if (!shown(i, area.w))
			continue;
		snprintf(head, sizeof(head), "%s%s", i == prune->sort ? (down ? "▼" : "▲") : "",
			 columns[i].name);
		pen_to(&pen, pen.x + columns[i].w - screen_columns(head));
		pen_text(&pen, i == prune->sort ? UI_TITLE_FOCUS : UI_HEADING, head);
	}
	pen_text(&pen, UI_HEADING, " share  ");
	x = pen.x;
	pen_text(&pen, UI_HEADING, area.w >= 100 ? "most frequent reason of a miss" : "missed by");
	if (area.w >= 120 && pen_room(&pen) > 20) {
		pen_to(&pen, x + REASON_W + 2);
		pen_text(&pen, UI_HEADING, "instruction");
	}
}

static void draw_numbers(const struct prune_view *prune, const struct prune_row *row, bool total,
			 struct pen *pen, int w)
{
	char number[NUMBER_TEXT], share[16];

	for (int i = 0; i < COLUMNS; i++) {
		uint64_t value = columns[i].value(row);

		if (!shown(i, w))
			continue;
		number_text(number, value);
		if (total && i == 0)
			snprintf(number, sizeof(number), "all");
		pen_printf(pen, total ? UI_STRONG : value || !i ? columns[i].role : UI_DEAD, "%*s",
			   columns[i].w, number);
	}
	share_text(prune, row, share, sizeof(share));
	pen_printf(pen, total ? UI_STRONG : UI_TEXT, "%*s", SHARE_W, total ? "" : share);
}

static void draw_row(const struct prune_view *prune, const struct prune_row *row,
		     struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x, at.y, at.w);
	char reason[160], text[256];
	int x, end = pen.end;

	draw_numbers(prune, row, false, &pen, at.w);
	reason_words(row, at.w < 100, reason, sizeof(reason));
	x = pen.x + 2;
	pen_to(&pen, x);
	if (at.w >= 120)
		pen.end = x + REASON_W;
	pen_text(&pen, UI_TEXT, reason);
	pen.end = end;
	if (at.w < 120)
		return;
	pen_to(&pen, x + REASON_W + 2);
	listing_insn_text(&prune->listing, row->insn, false, text, sizeof(text));
	pen_text(&pen, UI_TEXT, text);
}

/* The selected insn in a sentence. */
static void draw_selected(const struct prune_view *prune, const struct prune_row *row,
			  struct screen *screen, struct rect at)
{
	struct pen pen = pen_at(screen, at.x + 1, at.y, at.w - 2);
	struct loupe_source_line line;
	char text[256], reason[160];
	int used;

	listing_insn_text(&prune->listing, row->insn, false, text, sizeof(text));
	pen_printf(&pen, UI_NUMBER, "%u: ", row->insn);
	pen_text(&pen, UI_STRONG, text);
	if (prune->listing.source &&
	    loupe_source_line_of(prune->listing.source, row->insn, &line) && *line.text)
		pen_printf(&pen, UI_COMMENT, "  ; %s", line.text);
	reason_words(row, false, reason, sizeof(reason));
	if (row->stats.hits)
		snprintf(text, sizeof(text), "pruned %llu of %u arrivals",
			 (unsigned long long)row->stats.hits, row->stats.visits);
	else
		snprintf(text, sizeof(text), "never pruned, in %u arrival%s", row->stats.visits,
			 row->stats.visits == 1 ? "" : "s");
	screen_text(screen, at.x + 1, at.y + 1, at.w - 2, row->stats.hits ? UI_HIT : UI_MISS, text);
	used = screen_columns(text);
	if (!*reason && row->stats.skipped && row->stats.skipped == row->stats.compares)
		snprintf(text, sizeof(text), "; paths from each checkpoint were not finished");
	else if (*reason)
		snprintf(text, sizeof(text), "; what most misses say: %s", reason);
	else
		snprintf(text, sizeof(text), "%s", row->stats.visits == 1 ?
			 ": nothing came a second time" : "");
	wrap_text(screen, (struct rect){ at.x + 1, at.y + 1, at.w - 2, 2 }, used, UI_TEXT, text);
}

void prune_draw_table(struct prune_view *prune, struct screen *screen, struct rect area)
{
	struct scroll *scroll = &prune->scroll[PRUNE_TABLE];
	struct pen pen;
	int h = area.h - 6;

	if (!prune->row_cnt) {
		pen = pen_at(screen, area.x + 2, area.y + area.h / 2, area.w - 4);
		pen_text(&pen, UI_NOTICE,
			 "No state was ever stored: there was nothing to prune with.");
		return;
	}
	prune->h[PRUNE_TABLE] = h;
	scroll_fit(scroll, prune->row_cnt, h);
	draw_head(prune, screen, area);
	for (int i = 0; i < h && scroll->top + i < prune->row_cnt; i++) {
		struct rect at = { area.x, area.y + 1 + i, area.w, 1 };

		draw_row(prune, &prune->rows[scroll->top + i], screen, at);
		if (scroll->top + i == scroll->cursor)
			screen_ground(screen, at, UI_GROUND_CURSOR);
		if (*tui_pattern(prune->view.tui))
			mark_matches(screen, at.x, at.y, at.w, tui_pattern(prune->view.tui));
	}
	screen_hline(screen, area.x, area.y + area.h - 5, area.w, UI_FRAME);
	pane_more(screen, (struct rect){ area.x, area.y + 1, area.w - 1, h }, scroll->top,
		  prune->row_cnt);
	pen = pen_at(screen, area.x, area.y + area.h - 4, area.w);
	draw_numbers(prune, &prune->total, true, &pen, area.w);
	pen_printf(&pen, UI_DIM, "  %u insns", prune->row_cnt);
	draw_selected(prune, &prune->rows[scroll->cursor], screen,
		      (struct rect){ area.x, area.y + area.h - 3, area.w, 3 });
}
