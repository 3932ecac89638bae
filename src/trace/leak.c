// SPDX-License-Identifier: GPL-2.0-only
/* Which reference a path still holds at its end, who acquired it, and what held it last. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "insn/opcodes.h"
#include "trace/store.h"

/* Something of a frame that holds the reference: of registers the highest, which calls leave
 * alone. */
static bool held_in_frame(const struct loupe_state *st, uint32_t frameno, uint32_t id,
			  struct loupe_loc *loc)
{
	const struct loupe_frame *frame = st->frame[frameno];

	*loc = (struct loupe_loc){ .kind = LOUPE_LOC_REG, .frameno = (uint8_t)frameno };
	for (int reg = LOUPE_MAX_REG - 1; reg >= 0; reg--) {
		loc->index = (uint8_t)reg;
		if (frame->regs[reg].ref_obj_id == id)
			return true;
	}
	loc->kind = LOUPE_LOC_SLOT;
	for (uint32_t slot = 0; slot < frame->slot_cnt; slot++) {
		loc->index = (uint8_t)slot;
		if (trace_slot_has_reg(&frame->stack->slot[slot]) &&
		    frame->stack->slot[slot].spilled.ref_obj_id == id)
			return true;
	}
	return false;
}

/* Something of the frames from `first` on. */
static bool held(struct loupe_cursor *cursor, uint32_t step, uint32_t first, uint32_t id,
		 struct loupe_loc *loc)
{
	const struct loupe_state *st = loupe_cursor_seek(cursor, step);

	for (uint32_t frameno = first; st && frameno <= (uint32_t)st->curframe; frameno++) {
		if (held_in_frame(st, frameno, id, loc))
			return true;
	}
	return false;
}

/* Something that the instruction before `step` took the reference from. */
static bool dropped(const struct loupe_trace *t, uint32_t step, uint32_t id, struct loupe_loc *loc)
{
	enum { MOST = 64 };
	struct loupe_change changes[MOST];
	uint32_t cnt = loupe_trace_changes(t, step, changes, MOST);
	bool found = false;

	for (uint32_t i = 0; i < cnt && i < MOST; i++) {
		if (!changes[i].has_old || changes[i].old_value.reg.ref_obj_id != id)
			continue;
		if (!found || changes[i].loc.index > loc->index)
			*loc = changes[i].loc;
		found = true;
	}
	return found;
}

/* True if the reference is there after a step's instruction, and was not before. */
static bool acquires(struct loupe_cursor *cursor, uint32_t step, uint32_t next, uint32_t id)
{
	struct loupe_loc loc;

	return held(cursor, next, 0, id, &loc) && !held(cursor, step, 0, id, &loc);
}

int loupe_trace_leak(const struct loupe_trace *t, const char *message, struct loupe_leak *out)
{
	const char *line = strstr(message, "Unreleased reference id=");
	uint32_t step = loupe_trace_error_step(t), prev, alloc;
	struct loupe_cursor *cursor;
	bool found;

	*out = (struct loupe_leak){ .acquired = LOUPE_NO_STEP, .held = LOUPE_NO_STEP };
	if (!line || step == LOUPE_NO_STEP ||
	    sscanf(line, "Unreleased reference id=%u alloc_insn=%u", &out->id, &alloc) != 2)
		return -ENOENT;
	cursor = loupe_cursor_create(t);
	if (!cursor)
		return -ENOMEM;
	out->insn_idx = (int32_t)alloc;
	found = held(cursor, step, 0, out->id, &out->loc);
	if (found)
		out->held = step;
	for (; (prev = trace_pred(t, step)) != LOUPE_NO_STEP; step = prev) {
		if (t->steps.at[step].word >> STEP_FLAGS_SHIFT & LOUPE_STEP_PATH_START &&
		    t->paths.at[loupe_trace_path_of(t, step)].fresh)
			break;
		if (!found &&
		    (dropped(t, step, out->id, &out->loc) ||
		     (trace_frame_of(t, prev) > trace_frame_of(t, step) &&
		      held(cursor, prev, trace_frame_of(t, step) + 1, out->id, &out->loc)))) {
			found = true;
			out->held = prev;
		}
		if (trace_insn_of(t, prev) == alloc && acquires(cursor, prev, step, out->id)) {
			out->acquired = prev;
			break;
		}
	}
	loupe_cursor_destroy(cursor);
	return 0;
}
