/* SPDX-License-Identifier: GPL-2.0-only */
/* The Walk view's panes: shared by view_walk.c and walk_*.c only. */
#ifndef BPFLOUPE_UI_WALK_H
#define BPFLOUPE_UI_WALK_H

#include "listing.h"
#include "panes.h"
#include "view.h"
#include "words.h"

enum walk_pane {
	WALK_PROGRAM,
	WALK_STATE,
	WALK_PATH,
	WALK_POINTS,
	WALK_PANE_CNT,
};

enum walk_row_kind {
	WALK_ROW_NEWS,	/* what happened at this step */
	WALK_ROW_FRAME, /* a frame begins */
	WALK_ROW_LOC,	/* a register or slot */
	WALK_ROW_HELD,	/* references, locks */
};

/* A row of the state pane. */
struct walk_row {
	enum walk_row_kind kind;
	enum ui_role role; /* NEWS, HELD */
	struct loupe_loc loc;
	int32_t change; /* in changes, -1: none */
	int height;	/* rows on the screen */
	uint32_t goes;	/* step that Enter leads to, LOUPE_NO_STEP: none (LOC finds its writer) */
	char text[256];
};

/* A checkpoint of the present insn. */
struct walk_point {
	struct loupe_checkpoint_info info;
	bool counted;	/* hits and misses are known */
	bool until_now; /* they are those of this step, not of the end */
	uint32_t hits, misses;
	int interest;  /* rank in the pane, see walk_points.c */
	bool compared; /* at this step */
	struct loupe_compare_info compare;
};

/* What stands at the right of the program. */
enum walk_margin {
	WALK_COUNTS,	/* arrivals, checkpoints */
	WALK_LIVE,	/* live registers and slots, prune points, loops */
	WALK_PRECISION, /* the way of a demand for an exact value */
	WALK_MARGIN_CNT,
};

struct walk_live;

struct walk_view {
	struct view view;
	const struct loupe_trace *trace;
	struct listing listing;
	struct loupe_cursor *now, *then;
	struct loupe_step_info info;	 /* of the present step */
	const struct loupe_state *state; /* before its insn; NULL if there is no step */
	bool walked;			 /* false: the trace has no step */
	enum walk_pane focus;
	struct scroll scroll[WALK_PANE_CNT];
	int h[WALK_PANE_CNT]; /* rows when drawn last */
	/* made anew for every step */
	struct loupe_change *changes;
	uint32_t change_cnt;
	struct walk_row *rows;
	uint32_t row_cnt, row_cap;
	struct loupe_decision *decisions; /* oldest first */
	uint32_t decision_cnt;
	bool decisions_cut; /* there are older ones */
	struct walk_point *points;
	uint32_t point_cnt;
	char detail[800]; /* words of the comparison drawn last */
	/* walk_margin.c */
	enum walk_margin margin;
	struct walk_live *live; /* by insn; made when first looked at */
	uint32_t live_cnt;
	uint64_t demand; /* row of LOUPE_TABLE_WALK, LOUPE_NO_ROW: none */
	struct job *replay; /* finds its hops, NULL if none goes on */
	struct loupe_hop *hops;
	uint32_t hop_cnt;
};

/** Makes the rows of a pane for the present step. @return 0 or -ENOMEM */
int walk_fill_state(struct walk_view *walk);
int walk_fill_path(struct walk_view *walk);
int walk_fill_points(struct walk_view *walk);

/** True at the first step, where the path pane tells in short what the whole run did. */
bool walk_tells_findings(const struct walk_view *walk);

/** Draws a pane's inside. */
void walk_draw_program(struct walk_view *walk, struct screen *screen, struct rect area);
void walk_draw_state(struct walk_view *walk, struct screen *screen, struct rect area);
void walk_draw_path(struct walk_view *walk, struct screen *screen, struct rect area);
void walk_draw_points(struct walk_view *walk, struct screen *screen, struct rect area);

/** Rows of the checkpoint pane: two for a checkpoint that was compared at this step. */
uint32_t walk_point_rows(const struct walk_view *walk);
/** Checkpoint that a row of that pane belongs to. */
struct walk_point *walk_point_at(const struct walk_view *walk, int64_t row);

/** Shows text whole in the last rows of a pane, at most half of it. */
void walk_draw_wrapped(struct screen *screen, struct rect area, const char *text);

/** Draws the margin of an insn's row, at the right end of at. @return columns that it takes */
int walk_draw_margin(const struct walk_view *walk, uint32_t insn, struct screen *screen,
		     struct rect at);
/** The next kind of margin. */
void walk_margin_next(struct walk_view *walk);
/** The present step is another one. */
void walk_margin_step(struct walk_view *walk);
/** Shows a demand, row of LOUPE_TABLE_WALK, and goes to its step. */
void walk_show_demand(struct walk_view *walk, uint64_t row);
/** To the next (previous) demand for an exact value. */
void walk_next_demand(struct walk_view *walk, bool forward);
/** What the margin shows, "" if that is the usual. */
void walk_margin_note(const struct walk_view *walk, char *buf, size_t size);
/** Explains its signs; false if they are the usual. */
bool walk_margin_legend(const struct walk_view *walk, struct pen *pen);
void walk_margin_finish(struct walk_view *walk);

/** Makes step the present one; its insn gets the cursor. */
void walk_seek(struct walk_view *walk, uint32_t step);

#endif
