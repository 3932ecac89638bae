/* SPDX-License-Identifier: GPL-2.0-only */
/* The Prune view's levels: shared by view_prune.c and prune_*.c only. */
#ifndef BPFLOUPE_UI_PRUNE_H
#define BPFLOUPE_UI_PRUNE_H

#include "listing.h"
#include "panes.h"
#include "view.h"
#include "words.h"

enum prune_level {
	PRUNE_TABLE, /* insns */
	PRUNE_LIST,  /* comparisons of one insn */
	PRUNE_PAIR,  /* two states */
	PRUNE_LEVELS,
};

/* Where misses of an insn differ first, most often. */
struct prune_reason {
	enum loupe_diff_kind kind;
	uint8_t frameno;
	int16_t reg, spi; /* -1 if it is not about one */
	uint64_t cnt;	  /* misses for it, 0: there is none */
};

/* An insn at which states are stored or compared. */
struct prune_row {
	uint32_t insn;
	struct loupe_insn_stats stats;
	struct prune_reason reason;
};

enum prune_event_kind {
	PRUNE_COMPARE,
	PRUNE_BORN,
	PRUNE_EVICT,
};

/* What happened to a checkpoint of the insn, in time order. */
struct prune_event {
	enum prune_event_kind kind;
	uint32_t step;
	uint32_t serial;
	uint32_t hits, misses; /* the checkpoint's counters afterwards */
	struct loupe_compare_info compare; /* COMPARE only */
};

/* How a register or slot of two compared states relates. */
enum prune_mark {
	PRUNE_SAME,
	PRUNE_DEAD,	/* nothing reads it: not compared */
	PRUNE_ABSENT,	/* the checkpoint holds nothing there: not compared */
	PRUNE_ANY,	/* not precise: any number will do */
	PRUNE_COVERED,	/* another value, that was verified too */
	PRUNE_DIFFERS,	/* another value */
	PRUNE_DECIDED,	/* the difference that made it miss */
};

enum prune_cell_kind {
	PRUNE_CELL_FRAME, /* a frame begins */
	PRUNE_CELL_LOC,
};

/* A row of the pair. */
struct prune_cell {
	enum prune_cell_kind kind;
	enum prune_mark mark;
	struct loupe_loc loc;
	char then[224], now[224];
};

enum {
	PRUNE_CACHED = 64,
	/* there may be */
	PRUNE_DIFFS = LOUPE_MAX_FRAMES * (LOUPE_MAX_REG + LOUPE_MAX_SLOTS + 1) + 4,
};

/* What came of a run in which a checkpoint was kept that is evicted otherwise. */
struct prune_kept {
	uint32_t serial; /* 0: none */
	uint32_t hits;	 /* paths that it prunes after the step of its eviction */
	uint32_t first_hit; /* step, LOUPE_NO_STEP: none */
	uint32_t compares;  /* with it, after that step */
	uint32_t insns, states;
	enum loupe_verdict verdict;
};

struct prune_view {
	struct view view;
	const struct loupe_trace *trace;
	struct listing listing;
	struct loupe_cursor *now, *then, *birth;
	enum prune_level level;
	struct scroll scroll[PRUNE_LEVELS];
	int h[PRUNE_LEVELS]; /* rows when drawn last */

	struct prune_row *rows;
	uint32_t row_cnt;
	struct prune_row total; /* of all rows; its insn means nothing */
	int sort;		/* column */
	bool reverse;

	uint32_t insn; /* of the events */
	struct prune_event *events;
	uint64_t event_cnt, event_cap;
	/* words of the events in sight */
	struct {
		bool known;
		uint64_t event;
		char text[400];
	} cache[PRUNE_CACHED];

	uint64_t paired; /* event of the cells */
	struct prune_cell *cells;
	uint32_t cell_cnt, cell_cap;
	/* all differences of a comparison, the one that decided first */
	uint64_t differing; /* its row, LOUPE_NO_ROW: none */
	struct loupe_diff *diffs;
	uint32_t diff_cnt;
	struct job *keeping; /* the run with a checkpoint kept, NULL if none goes on */
	struct prune_kept kept[PRUNE_CACHED];
};

/* prune_table.c */
/** Makes the rows. @return 0 or -ENOMEM */
int prune_fill_table(struct prune_view *prune);
/** Puts the rows in order and the cursor back on its row. */
void prune_sort(struct prune_view *prune);
/** Sorts by the next column, or by the one of that name. @return false if there is none */
bool prune_sort_by(struct prune_view *prune, const char *name);
/** Row of an insn, -1 if it has none. */
int64_t prune_row_of(const struct prune_view *prune, uint32_t insn);
void prune_draw_table(struct prune_view *prune, struct screen *screen, struct rect area);
/** A difference of a kind, in few words. */
const char *prune_kind_words(enum loupe_diff_kind kind);
/** A row as a line of text. */
void prune_row_text(const struct prune_view *prune, const struct prune_row *row, char *buf,
		    size_t size);

/* prune_list.c */
/** Makes the events of an insn. @return 0 or -ENOMEM */
int prune_fill_list(struct prune_view *prune, uint32_t insn);
/** First event at or after step, the last one if there is none. */
int64_t prune_event_at(const struct prune_view *prune, uint32_t step);
/** Words of an event, owned by the view until the next call. */
const char *prune_event_words(struct prune_view *prune, uint64_t event);
void prune_draw_list(struct prune_view *prune, struct screen *screen, struct rect area);

/* prune_pair.c */
/** Makes the cells of a comparison. @return 0 or -ENOMEM */
int prune_fill_pair(struct prune_view *prune, uint64_t event);
void prune_draw_pair(struct prune_view *prune, struct screen *screen, struct rect area);
/** To the next cell that differs, or the one before; false if there is none. */
bool prune_next_diff(struct prune_view *prune, bool forward);
/** What a mark means, a few words. */
const char *prune_mark_words(enum prune_mark mark);

/* prune_diffs.c */
/** Finds all differences of a comparison. @return 0 or -ENOMEM */
int prune_fill_diffs(struct prune_view *prune, const struct loupe_compare_info *compare);
/** The difference of a location, NULL if it has none. */
const struct loupe_diff *prune_diff_of(const struct prune_view *prune, struct loupe_loc loc);
/** What differs besides what decided: "R7, fp-8"; "" if nothing does. */
void prune_other_diffs(const struct prune_view *prune, char *buf, size_t size);
/** A comparison's difference as if it had been the first: words for words_compare(). */
struct loupe_compare_info prune_diff_info(const struct loupe_compare_info *compare,
					  const struct loupe_diff *diff);

/* prune_keep.c */
/** Starts a run in which the checkpoint of an eviction is kept. */
void prune_keep(struct prune_view *prune, const struct prune_event *event);
void prune_keep_stop(struct prune_view *prune);
/** What came of it, NULL if it was not done. */
const struct prune_kept *prune_kept_of(const struct prune_view *prune, uint32_t serial);
/** The same in words, or how to find out. */
void prune_keep_words(const struct prune_view *prune, const struct prune_event *event, char *buf,
		      size_t size);

/* prune_why.c */
/**
 * Why a register or slot of a checkpoint had to match at a comparison, "it is precise since step
 * 1,204, because it bounds the access at insn 57"; "" if it is not precise.
 */
void prune_why(const struct prune_view *prune, const struct loupe_compare_info *compare,
	       struct loupe_loc loc, char *buf, size_t size);
/** Row of the demand that made a location precise before a comparison, LOUPE_NO_ROW if there is
 * none. */
uint64_t prune_demand(const struct prune_view *prune, const struct loupe_compare_info *compare,
		      struct loupe_loc loc);
/** The way from the demand to the checkpoint: "57: R2 → #21 R2 → #17 R6"; "" if there is none. */
void prune_chain(const struct prune_view *prune, const struct loupe_compare_info *compare,
		 struct loupe_loc loc, char *buf, size_t size);
/** The rule by which a checkpoint was evicted: "4 misses > 0 hits × 3 + 3". */
void prune_rule(const struct prune_view *prune, const struct prune_event *event, char *buf,
		size_t size);
/** Misses after which the checkpoint of an event is evicted; UINT64_MAX: never, or it depends. */
uint64_t prune_limit(const struct prune_view *prune, uint32_t hits);

/** The location that a comparison is about; false if it is about none. */
bool prune_loc(const struct loupe_compare_info *compare, struct loupe_loc *loc);

#endif
