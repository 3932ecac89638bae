/* SPDX-License-Identifier: GPL-2.0-only */
/* One graph of the CFG view: before, or after. */
#ifndef BPFLOUPE_UI_CFG_SIDE_H
#define BPFLOUPE_UI_CFG_SIDE_H

#include "bpfloupe/cfg.h"
#include "bpfloupe/filter.h"
#include "bpfloupe/layout.h"
#include "bpfloupe/source.h"
#include "screen.h"

/* What became of an instruction. */
enum cfg_fate {
	CFG_SAME,
	CFG_ALIKE,	/* asks what one on the other side asks, but was made anew */
	CFG_GONE,	/* not on the other side */
	CFG_CHANGED,	/* another instruction on the other side */
	CFG_RETARGETED, /* one of its edges leads elsewhere */
	CFG_MOVED,
	CFG_NEW,    /* was not on the other side */
	CFG_EDITED, /* what the present edit is about */
	CFG_ERROR,  /* the rejecting instruction */
};

struct cfg_side {
	const char *title; /* "before", "after" */
	/* one of two kinds of program */
	const struct loupe_insn *ebpf;
	const struct loupe_source *source; /* names for ebpf, may be NULL */
	struct loupe_rewrite_prog prog;	   /* classic; owned */
	enum loupe_filter_flavour flavour;
	uint32_t cnt; /* slots; 0: this side is not there */

	struct loupe_cfg *cfg;
	struct loupe_layout *layout; /* NULL while it is being made */
	struct loupe_block_content content;
	uint32_t *number; /* slot → number to show, NULL: the slot itself */
	uint32_t *other;  /* slot → slot on the other side, LOUPE_CFG_NONE: none */
	uint8_t *fate;	  /* slot → enum cfg_fate */
	uint8_t *heat;	  /* slot → 0 to LOUPE_HEAT_MAX */
	uint32_t *lit;	  /* NULL, or slot → the slot that runs next on a way that is lit,
			     LOUPE_CFG_NONE: it does not run */
	uint8_t *folded;  /* block → 1: drawn as one line */
	bool shade;
	int digits;

	uint32_t cursor; /* slot, LOUPE_CFG_NONE: nothing is selected here */
	uint32_t look;	 /* without a cursor: slot to keep in sight, LOUPE_CFG_NONE: none */
	bool active;	 /* has the focus */
	int32_t x, y;	 /* of the picture's cell at the top left */
	bool follow;	 /* the cursor must be in sight when it is drawn next */
	bool centre;	 /* and in the middle */
	uint32_t way_in; /* which predecessor follow-back took last */
};

/**
 * Prepares a side whose program (ebpf or prog, cnt) is filled in: graph and arrays.
 * @return 0, -ENOMEM, or -EINVAL with the reason in err
 */
int cfg_side_init(struct cfg_side *side, struct loupe_error *err);

/** Makes room for a way that is lit; nothing is lit yet. @return 0, -ENOMEM */
int cfg_side_light(struct cfg_side *side);

/** Frees what a side owns and empties it. */
void cfg_side_finish(struct cfg_side *side);

/**
 * Lays it out; safe outside the UI's thread.
 * @param like    side whose order of blocks is kept where they match, or NULL
 * @param cancel  as in loupe_layout_opts
 */
int cfg_side_layout(struct cfg_side *side, const struct cfg_side *like, const volatile int *cancel,
		    struct loupe_layout **out);

/** An instruction's text without its number. */
void cfg_side_text(const struct cfg_side *side, uint32_t insn, char *buf, size_t size);

/** Draws what area shows, with the cursor's row on its ground. */
void cfg_side_draw(struct cfg_side *side, struct screen *screen, struct rect area, bool ascii,
		   const char *pattern);

/** Slot of the first instruction of a block, the next or the one before in its block or beyond;
 * LOUPE_CFG_NONE at an end. */
uint32_t cfg_side_next(const struct cfg_side *side, uint32_t insn, int by);

#endif
