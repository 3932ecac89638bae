/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of a log that was read: its lines as items, and what was found out about them. */
#ifndef KLOG_LOGGED_H
#define KLOG_LOGGED_H

#include "bpfloupe/log_read.h"
#include "bpfloupe/trace.h"
#include "klog/scan.h"

enum { ITEM_MESSAGE = FORM_CNT };

/*
 * A line, or a part of one. Lines made of several forms are named by their first: a source line by
 * SOURCE_PREFIX, a change of stack liveness by LIVE_STACK, a row of the table of live registers by
 * LIVE_REGS_INSN.
 */
struct log_item {
	uint32_t at, len; /* in the text, final newline included */
	uint8_t kind;	  /* enum form_id or ITEM_MESSAGE */
};

/* A path that began because it had been left for later: "from A to B". */
struct log_pop {
	uint32_t step; /* that left it, LOUPE_NO_STEP if that is not known */
	int32_t from, to;
	bool speculative, async;
};

struct loupe_logged {
	struct loupe_image *image; /* owned by the program list */
	char *text;
	size_t len;
	struct log_item *items;
	uint32_t item_cnt, item_cap;
	uint32_t level, lacks;

	struct log_pop *pops; /* in order */
	uint32_t pop_cnt, pop_cap;
	uint32_t *pushed;  /* pop_cnt numbers of pops, in the order in which they were left */
	uint32_t *step_at; /* item of each step */
	uint32_t step_cnt, step_cap;

	char **types; /* names of BTF types, id - first_type */
	uint32_t type_cnt, type_cap, first_type;

	int verdict; /* enum loupe_verdict if the text around the log says it, else -1 */
	int err;     /* errno if it says that, else 0 */
};

/* Room for need elements in a vector, new ones zero. False when out of memory. */
bool logged_grow(void **at, uint32_t *cap, uint32_t need, size_t size);

/* The conversions of an item that is one form. */
bool item_scan(const struct loupe_logged *log, const struct log_item *item,
	       struct scan_field *fields);

/* A source line: its text and file (not NUL-terminated) and number. */
struct source_line {
	const char *text, *file;
	size_t text_len, file_len;
	int64_t line;
	int64_t insn_idx; /* -1 if the line names none */
};
bool source_scan(const struct loupe_logged *log, const struct log_item *item,
		 struct source_line *out);

/* A row of the table of live registers. */
struct live_row {
	uint32_t scc, insn_idx, regs;
	const char *insn;
	size_t insn_len;
};
bool live_row_scan(const struct loupe_logged *log, const struct log_item *item,
		   struct live_row *out);

/* A change of stack liveness. */
struct live_change {
	struct loupe_chain chain;
	uint32_t frameno;
	int32_t insn_idx;
	bool written; /* else: live */
	uint64_t gained, lost;
};
bool live_change_scan(const struct loupe_logged *log, const struct log_item *item,
		      struct live_change *out);

/* items.c: cuts the text into items. False when out of memory. */
bool logged_find_items(struct loupe_logged *log);
/* True if a log ends on the line at from: with the last line, or a message right before it. */
bool items_end(const char *from, const char *to);
/* True if text has a line that only a verifier log has. */
bool items_sniff(const char *text, size_t len);

/* logged_image.c: makes the image. @param name  may be NULL */
int logged_make_image(struct loupe_logged *log, const char *path, const char *name);
/* Names for registers; they are in the image. */
struct scan_names logged_names(const struct loupe_logged *log);

/* logged_paths.c: finds out which step left which path. 0 or -ENOMEM. */
int logged_find_paths(struct loupe_logged *log);

/* The walk over the items; finder: NULL, or what learns where paths were left (logged_paths.c). */
struct path_finder;
int logged_walk(const struct loupe_logged *log, const struct loupe_verify_opts *opts,
		struct path_finder *finder, struct loupe_verify_result *result);

/* What the walk tells the finder: a step begins, with the state before it … */
void finder_arrive(struct path_finder *finder, uint32_t item, int32_t insn_idx,
		   const struct loupe_state *st, bool pruned);
/* … that the last step's jump could go one way only, … */
void finder_decided(struct path_finder *finder);
/* … and before a step, that it begins a path that had been left for later; text: what the log says
 * of its state, NULL if nothing. */
void finder_pop(struct path_finder *finder, int32_t from, int32_t to, bool speculative,
		const struct scan_frame *text);

#endif
