// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs read back: for each NAME.bpfasm, the trace made of the kernel's log in NAME.log is compared
 * with the one that the model records, in every field that a log of that level carries.
 *
 * usage: log_read DIR [NAME...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe.h"
#include "names.h"

enum { PATH_SIZE = 4096, CPUS = 2, MAX_COMPLAINTS = 3, BPF_LDIMM64 = 0x18 };

/* What the log shows of the current frame at a step: before its insn, and behind a jump. */
struct shown {
	uint32_t regs[2];
	uint64_t slots[2];
};

/* A listener that notes it. */
struct live_change;
struct shows {
	struct shown *at;
	uint32_t cnt, cap;
	bool behind;
	struct live_change *lives;
	uint32_t live_cnt, live_cap;
};

/* Slots that a line of stack liveness names: which are live besides is not always known from a log.
 */
struct live_change {
	uint64_t gained[2], lost[2];
};

struct pair {
	struct shows want_shows, got_shows;
	const char *name;
	uint32_t level;
	const struct loupe_image *image, *read_image;
	struct loupe_trace *want, *got;
	struct loupe_names *want_names, *got_names;
	struct loupe_cursor *want_at, *got_at;
	uint32_t complaints;
	uint64_t silent; /* locations that differ where the log says nothing */
	uint64_t compared;
	uint32_t unnamed; /* 1: the last arrival, at which it failed, has no line in the log */
};

static bool complain(struct pair *p, const char *where, uint64_t at, const char *what)
{
	if (p->complaints++ < MAX_COMPLAINTS)
		printf("%s: level %u, %s %llu: %s\n", p->name, p->level, where,
		       (unsigned long long)at, what);
	return false;
}

#define SAME(p, where, at, a, b) ((void)((a) == (b) || complain(p, where, at, #a)))

static void on_arrive(void *ctx, const struct loupe_step *step)
{
	struct shows *s = ctx;

	(void)step;
	if (s->cnt == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 256;
		s->at = realloc(s->at, s->cap * sizeof(*s->at));
		if (!s->at)
			exit(2);
	}
	s->at[s->cnt++] = (struct shown){ 0 };
	s->behind = false;
}

static void on_step(void *ctx, const struct loupe_step *step)
{
	struct shows *s = ctx;

	(void)step;
	s->behind = true;
}

static void on_insn_state(void *ctx, const struct loupe_step *step, uint32_t regs, uint64_t slots)
{
	struct shows *s = ctx;
	const struct loupe_frame *frame = step->state->frame[step->state->curframe];

	/* what holds nothing is not written */
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
		s->at[s->cnt - 1].regs[s->behind] |= (regs >> r & (frame->regs[r].type != NOT_INIT))
						     << r;
	for (uint32_t i = 0; i < frame->slot_cnt; i++) {
		static const uint8_t nothing[LOUPE_REG_SIZE];

		if (memcmp(frame->stack->slot[i].type, nothing, sizeof(nothing)) != 0)
			s->at[s->cnt - 1].slots[s->behind] |= slots & 1ull << i;
	}
}

static void on_live_stack(void *ctx, const struct loupe_chain *chain, uint32_t frameno,
			  int32_t insn_idx, uint64_t live_old, uint64_t live_new,
			  uint64_t written_old, uint64_t written_new)
{
	struct shows *s = ctx;

	(void)chain, (void)frameno, (void)insn_idx;
	if (s->live_cnt == s->live_cap) {
		s->live_cap = s->live_cap ? s->live_cap * 2 : 64;
		s->lives = realloc(s->lives, s->live_cap * sizeof(*s->lives));
		if (!s->lives)
			exit(2);
	}
	s->lives[s->live_cnt++] = (struct live_change){
		.gained = { live_new & ~live_old, written_new & ~written_old },
		.lost = { live_old & ~live_new, written_old & ~written_new },
	};
}

static const struct loupe_hooks show_hooks = { .arrive = on_arrive,
					       .step = on_step,
					       .insn_state = on_insn_state,
					       .live_stack = on_live_stack };

/* --- values ---------------------------------------------------------------------------------- */

/* Flags that a type's name shows. */
static uint32_t shown_type(uint32_t type)
{
	return type & (LOUPE_BASE_TYPE_MASK | PTR_MAYBE_NULL | MEM_RDONLY | MEM_RINGBUF | MEM_USER |
		       MEM_PERCPU | MEM_RCU | PTR_UNTRUSTED | PTR_TRUSTED);
}

static bool same_bounds(const struct loupe_reg *a, const struct loupe_reg *b)
{
	return a->smin == b->smin && a->smax == b->smax && a->umin == b->umin &&
	       a->umax == b->umax && a->s32_min == b->s32_min && a->s32_max == b->s32_max &&
	       a->u32_min == b->u32_min && a->u32_max == b->u32_max;
}

/* What stands in the log for the register, except names and ids of maps and types, whose numbers
 * are the reader's own: those are compared as text. */
static bool same_reg(struct pair *p, const struct loupe_reg *a, const struct loupe_reg *b,
		     uint32_t frameno)
{
	char want[512], got[512];

	if (a->type == NOT_INIT || b->type == NOT_INIT)
		return a->type == b->type;
	if (a->type == PTR_TO_ARENA && b->type == PTR_TO_ARENA)
		return true; /* nothing else is written */
	if (shown_type(a->type) != shown_type(b->type) || a->var_off.value != b->var_off.value ||
	    a->var_off.mask != b->var_off.mask)
		return false;
	if (a->var_off.mask && !same_bounds(a, b))
		return false;
	if (a->type == SCALAR_VALUE) {
		if (a->precise != b->precise)
			return false;
		if (!a->var_off.mask)
			return true; /* a constant's id is not written */
	}
	if ((a->id & ~LOUPE_ADD_CONST) != (b->id & ~LOUPE_ADD_CONST) ||
	    !(a->id & LOUPE_ADD_CONST) != !(b->id & LOUPE_ADD_CONST) ||
	    a->ref_obj_id != b->ref_obj_id)
		return a->type == PTR_TO_STACK || a->type == PTR_TO_ARENA;
	loupe_reg_print(want, sizeof(want), a, frameno, p->want_names);
	loupe_reg_print(got, sizeof(got), b, frameno, p->got_names);
	return !strcmp(want, got);
}

static bool same_slot(struct pair *p, const struct loupe_slot *a, const struct loupe_slot *b,
		      uint32_t frameno)
{
	if (memcmp(a->type, b->type, sizeof(a->type)) != 0)
		return false;
	return a->type[LOUPE_REG_SIZE - 1] != STACK_SPILL ||
	       same_reg(p, &a->spilled, &b->spilled, frameno);
}

static const struct loupe_slot *slot_of(const struct loupe_frame *frame, uint32_t spi)
{
	static const struct loupe_slot none;

	return spi < frame->slot_cnt ? &frame->stack->slot[spi] : &none;
}

static void show_difference(struct pair *p, uint32_t step, const char *what, uint32_t n,
			    const struct loupe_reg *a, const struct loupe_reg *b, uint32_t frameno)
{
	char want[512], got[512], text[1200];

	loupe_reg_print(want, sizeof(want), a, frameno, p->want_names);
	loupe_reg_print(got, sizeof(got), b, frameno, p->got_names);
	snprintf(text, sizeof(text), "frame %u %s%u is %s, read %s", frameno, what, n, want, got);
	complain(p, "step", step, text);
}

/* Frame frameno of both states; where masks have a bit the log has written the value. */
static void compare_frame(struct pair *p, uint32_t step, const struct loupe_state *a,
			  const struct loupe_state *b, uint32_t frameno, uint32_t regs,
			  uint64_t slots)
{
	const struct loupe_frame *fa = a->frame[frameno], *fb = b->frame[frameno];

	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
		p->compared++;
		if (same_reg(p, &fa->regs[r], &fb->regs[r], frameno))
			continue;
		/* a result that is nothing is not written */
		if (regs & 1u << r)
			show_difference(p, step, "R", r, &fa->regs[r], &fb->regs[r], frameno);
		else
			p->silent++;
	}
	for (uint32_t s = 0; s < LOUPE_MAX_SLOTS; s++) {
		const struct loupe_slot *x = slot_of(fa, s), *y = slot_of(fb, s);

		p->compared++;
		if (same_slot(p, x, y, frameno))
			continue;
		if (slots & 1ull << s)
			show_difference(p, step, "slot ", s, &x->spilled, &y->spilled, frameno);
		else
			p->silent++;
	}
}

/* --- steps ----------------------------------------------------------------------------------- */

static void compare_state(struct pair *p, uint32_t want_step, uint32_t got_step)
{
	struct loupe_step_info info, before = { .frame_cnt = 0 };
	const struct shown *want = &p->want_shows.at[want_step], *got = &p->got_shows.at[got_step];
	const struct loupe_state *a, *b;
	uint32_t regs = want->regs[0], cur;
	uint64_t slots = want->slots[0];

	loupe_trace_step(p->want, want_step, &info);
	if (info.flags & LOUPE_STEP_PRUNED)
		return;
	if (info.prev != LOUPE_NO_STEP)
		loupe_trace_step(p->want, info.prev, &before);
	a = loupe_cursor_seek(p->want_at, want_step);
	b = loupe_cursor_seek(p->got_at, got_step);
	if (!a || !b || a->curframe != b->curframe) {
		complain(p, "step", want_step, "frames of the state");
		return;
	}
	cur = a->curframe;
	for (int i = 0; i < 2; i++) {
		/* at level 1 the line of a jump whose other side failed is cut */
		if (i && !(p->level & LOUPE_LOG_LEVEL2))
			continue;
		SAME(p, "step", want_step, want->regs[i], got->regs[i]);
		SAME(p, "step", want_step, want->slots[i], got->slots[i]);
	}
	/* a jump's line shows the state of the side that is walked first */
	if (!(info.flags & LOUPE_STEP_PATH_START) && info.prev != LOUPE_NO_STEP) {
		regs |= p->want_shows.at[info.prev].regs[1];
		slots |= p->want_shows.at[info.prev].slots[1];
	}
	/* whole frames are written where paths begin and functions are called or return */
	if ((info.flags & LOUPE_STEP_PATH_START && p->level & LOUPE_LOG_LEVEL2) ||
	    (info.prev != LOUPE_NO_STEP && before.frame_cnt != info.frame_cnt)) {
		regs = UINT32_MAX;
		slots = UINT64_MAX;
	}
	compare_frame(p, want_step, a, b, cur, regs, slots);
	if (before.frame_cnt == info.frame_cnt - 1 && cur && !(info.flags & LOUPE_STEP_PATH_START))
		compare_frame(p, want_step, a, b, cur - 1, UINT32_MAX, UINT64_MAX);
	if (regs && a->ref_cnt != b->ref_cnt)
		complain(p, "step", want_step, "references");
	if (a->frame[cur]->callsite != b->frame[cur]->callsite ||
	    a->frame[cur]->in_callback_fn != b->frame[cur]->in_callback_fn)
		complain(p, "step", want_step, "call site of the frame");
	if (p->level & LOUPE_LOG_LEVEL2 && (a->frame[cur]->subprogno != b->frame[cur]->subprogno ||
					    a->speculative != b->speculative))
		complain(p, "step", want_step, "subprog or speculation");
}

/* Flags that a log tells. */
static uint32_t told_flags(const struct pair *p, const struct loupe_trace *t, uint32_t step,
			   uint32_t flags)
{
	uint64_t row = loupe_trace_first_row(t, LOUPE_TABLE_PUSH, step);
	struct loupe_push_info push;
	bool walked = false;

	(void)p;
	for (; !loupe_trace_push(t, row, &push) && push.step == step; row++)
		walked |= push.path != LOUPE_NO_PATH;
	flags &= LOUPE_STEP_PATH_START | LOUPE_STEP_PATH_END | LOUPE_STEP_PRUNED | LOUPE_STEP_WALK |
		 LOUPE_STEP_MESSAGE | LOUPE_STEP_ERROR;
	/* a branch that waited when the program was rejected is never heard of */
	return flags | (walked ? LOUPE_STEP_PUSH : 0);
}

static void compare_steps(struct pair *p)
{
	uint32_t cnt = loupe_trace_step_cnt(p->got);

	SAME(p, "number of steps, read", cnt, loupe_trace_step_cnt(p->want), cnt + p->unnamed);
	if (cnt > loupe_trace_step_cnt(p->want))
		cnt = loupe_trace_step_cnt(p->want);
	/* what goes with an arrival that has no line is not compared */
	cnt -= cnt && p->unnamed;
	for (uint32_t s = 0; s < cnt; s++) {
		struct loupe_step_info a, b;

		loupe_trace_step(p->want, s, &a);
		loupe_trace_step(p->got, s, &b);
		SAME(p, "step", s, a.insn_idx, b.insn_idx);
		SAME(p, "step", s, a.prev_insn_idx, b.prev_insn_idx);
		SAME(p, "step", s, a.prev, b.prev);
		SAME(p, "step", s, a.next, b.next);
		SAME(p, "step", s, a.path, b.path);
		SAME(p, "step", s, a.path_depth, b.path_depth);
		SAME(p, "step", s, a.frame_cnt, b.frame_cnt);
		SAME(p, "step", s, told_flags(p, p->want, s, a.flags),
		     told_flags(p, p->got, s, b.flags));
		compare_state(p, s, s);
	}
}

static void compare_paths(struct pair *p)
{
	SAME(p, "paths", 0, loupe_trace_path_cnt(p->want), loupe_trace_path_cnt(p->got));
	for (uint32_t i = 0; i < loupe_trace_path_cnt(p->got); i++) {
		struct loupe_path_info a, b;

		if (loupe_trace_path(p->want, i, &a) || loupe_trace_path(p->got, i, &b))
			return;
		SAME(p, "path", i, a.first, b.first);
		if (!p->unnamed)
			SAME(p, "path", i, a.last, b.last);
		SAME(p, "path", i, a.parent, b.parent);
		SAME(p, "path", i, a.parent_step, b.parent_step);
		SAME(p, "path", i, a.subprogno, b.subprogno);
		SAME(p, "path", i, a.subtree_end,
		     b.subtree_end + (p->unnamed && b.subtree_end == loupe_trace_step_cnt(p->got)));
		SAME(p, "path", i, a.async, b.async);
		SAME(p, "path", i, a.speculative, b.speculative);
	}
}

static void compare_pushes(struct pair *p)
{
	uint64_t at = 0;
	struct loupe_push_info a, b;

	for (uint64_t i = 0; !loupe_trace_push(p->want, i, &a); i++) {
		if (a.path == LOUPE_NO_PATH)
			continue;
		if (loupe_trace_push(p->got, at++, &b)) {
			complain(p, "push", i, "is missing");
			return;
		}
		SAME(p, "push", i, a.step, b.step);
		SAME(p, "push", i, a.insn_idx, b.insn_idx);
		SAME(p, "push", i, a.prev_insn_idx, b.prev_insn_idx);
		SAME(p, "push", i, a.path, b.path);
		SAME(p, "push", i, a.async, b.async);
		SAME(p, "push", i, a.speculative, b.speculative);
	}
	SAME(p, "pushes", at, at, loupe_trace_rows(p->got, LOUPE_TABLE_PUSH));
}

/* --- tables ---------------------------------------------------------------------------------- */

static void compare_walks(struct pair *p)
{
	struct loupe_walk_info a, b;

	SAME(p, "walks", 0, loupe_trace_rows(p->want, LOUPE_TABLE_WALK),
	     loupe_trace_rows(p->got, LOUPE_TABLE_WALK));
	for (uint64_t i = 0; !loupe_trace_walk(p->want, i, &a) && !loupe_trace_walk(p->got, i, &b);
	     i++) {
		SAME(p, "walk", i, a.step,
		     b.step + (p->unnamed && b.step + 1 == loupe_trace_step_cnt(p->got) &&
			       a.step > b.step));
		SAME(p, "walk", i, a.want.frameno, b.want.frameno);
		SAME(p, "walk", i, a.want.regs, b.want.regs);
		SAME(p, "walk", i, a.want.stack, b.want.stack);
		SAME(p, "walk", i, a.last_insn, b.last_insn);
		SAME(p, "walk", i, a.first_insn, b.first_insn);
		SAME(p, "walk", i, a.hops, b.hops);
		SAME(p, "walk", i, a.stop_insn, b.stop_insn);
		SAME(p, "walk", i, a.stop, b.stop);
		SAME(p, "walk", i, a.propagated, b.propagated);
	}
}

static bool same_chain(const struct loupe_chain *a, const struct loupe_chain *b)
{
	return a->cnt == b->cnt && !memcmp(a->at, b->at, a->cnt * sizeof(a->at[0]));
}

static void compare_sccs(struct pair *p)
{
	struct loupe_scc_info a, b;
	uint64_t at = 0;

	for (uint64_t i = 0; !loupe_trace_scc(p->want, i, &a); i++) {
		if (a.event == LOUPE_SCC_ROUND)
			continue;
		if (loupe_trace_scc(p->got, at++, &b)) {
			complain(p, "scc event", i, "is missing");
			return;
		}
		SAME(p, "scc event", i, a.step, b.step);
		SAME(p, "scc event", i, a.event, b.event);
		if (!same_chain(a.chain, b.chain))
			complain(p, "scc event", i, "its chain");
	}
	SAME(p, "scc events", at, at, loupe_trace_rows(p->got, LOUPE_TABLE_SCC));
}

static void compare_lives(struct pair *p)
{
	struct loupe_live_stack_info a, b;
	uint64_t at = 0;

	for (uint64_t i = 0; !loupe_trace_live_stack(p->want, i, &a); i++) {
		if (loupe_trace_live_stack(p->got, at++, &b)) {
			complain(p, "live stack", i, "is missing");
			return;
		}
		SAME(p, "live stack", i, a.step, b.step);
		SAME(p, "live stack", i, a.frameno, b.frameno);
		SAME(p, "live stack", i, a.insn_idx, b.insn_idx);
		if (memcmp(&p->want_shows.lives[i], &p->got_shows.lives[i],
			   sizeof(struct live_change)) != 0)
			complain(p, "live stack", i, "slots gained and lost");
		if (!same_chain(a.chain, b.chain))
			complain(p, "live stack", i, "its chain");
	}
	SAME(p, "live stack", at, at, loupe_trace_rows(p->got, LOUPE_TABLE_LIVE_STACK));
}

/* All messages, each with its step in front; lines, because a log does not tell which belong to
 * one. */
static char *messages(const struct loupe_trace *t, bool with_steps)
{
	struct loupe_message_info info;
	char *text = NULL;
	bool at_line = true;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint64_t i = 0; !loupe_trace_message(t, i, &info); i++) {
		for (const char *c = info.text; *c; c++) {
			if (at_line && with_steps)
				fprintf(out, "%u%s%s: ", info.step, info.before ? " before" : "",
					info.level2 ? " level 2" : "");
			fputc(*c, out);
			at_line = *c == '\n';
		}
	}
	fclose(out);
	return text;
}

static void compare_messages(struct pair *p)
{
	char *a = messages(p->want, true), *b = messages(p->got, true);

	if (strcmp(a, b) != 0) {
		complain(p, "messages", 0, "differ");
		if (p->complaints <= MAX_COMPLAINTS)
			printf("--- want\n%s--- read\n%s---\n", a, b);
	}
	free(a);
	free(b);
}

/* --- the whole run --------------------------------------------------------------------------- */

static void compare_result(struct pair *p, bool after_exploration)
{
	const struct loupe_verify_result *a = loupe_trace_result(p->want);
	const struct loupe_verify_result *b = loupe_trace_result(p->got);

	SAME(p, "result", 0, a->verdict, b->verdict);
	SAME(p, "result", 0, a->counters.insn_processed, b->counters.insn_processed);
	SAME(p, "result", 0, a->counters.max_states_per_insn, b->counters.max_states_per_insn);
	SAME(p, "result", 0, a->counters.total_states, b->counters.total_states);
	SAME(p, "result", 0, a->counters.peak_states, b->counters.peak_states);
	SAME(p, "result", 0, a->counters.longest_mark_read_walk,
	     b->counters.longest_mark_read_walk);
	if (p->level & LOUPE_LOG_STATS) {
		SAME(p, "result", 0, a->subprog_cnt, b->subprog_cnt);
		for (uint32_t i = 0; i < a->subprog_cnt; i++)
			SAME(p, "stack depth", i, a->stack_depth[i], b->stack_depth[i]);
	}
	if (!(p->level & LOUPE_LOG_LEVEL2))
		return;
	for (uint32_t i = 0; i < b->insn_cnt && after_exploration; i++) {
		SAME(p, "insn", i, a->insn_seen[i], b->insn_seen[i]);
		SAME(p, "insn", i, a->branch_taken[i] != 0, b->branch_taken[i] != 0);
	}
	SAME(p, "result", 0, loupe_trace_subprog_cnt(p->want), loupe_trace_subprog_cnt(p->got));
	for (uint32_t i = 0; i < loupe_trace_subprog_cnt(p->got); i++)
		SAME(p, "subprog", i, loupe_trace_subprog_start(p->want, i),
		     loupe_trace_subprog_start(p->got, i));
}

static void compare_insns(struct pair *p)
{
	struct loupe_insn_print_opts opts = { .hide_pointers = true };
	const struct loupe_insn *a = loupe_trace_insns(p->want), *b = loupe_trace_insns(p->got);
	uint32_t cnt = loupe_trace_insn_cnt(p->got);
	char want[1024], got[1024];

	if (!loupe_trace_step_cnt(p->got))
		return;
	if (p->level & LOUPE_LOG_LEVEL2)
		SAME(p, "insns", 0, loupe_trace_insn_cnt(p->want), cnt);
	for (uint32_t i = 0; i < cnt && i < loupe_trace_insn_cnt(p->want); i++) {
		const struct loupe_insn_facts *fa = loupe_trace_facts(p->want, i);
		const struct loupe_insn_facts *fb = loupe_trace_facts(p->got, i);

		if (p->level & LOUPE_LOG_LEVEL2 && fa && fb) {
			/* R10 is not written */
			SAME(p, "insn", i, fa->live_regs & 0x3ff, fb->live_regs);
			SAME(p, "insn", i, fa->scc, fb->scc);
			SAME(p, "insn", i, fa->second_slot, fb->second_slot);
			if (fa->second_slot)
				continue;
		} else if (!b[i].code) {
			continue;
		}
		SAME(p, "insn", i, a[i].code, b[i].code);
		/* what an address stands for is not in the log's line of the insn */
		if (a[i].code == BPF_LDIMM64)
			continue;
		loupe_insn_print(want, sizeof(want), &a[i], &opts);
		loupe_insn_print(got, sizeof(got), &b[i], &opts);
		if (strcmp(want, got) != 0)
			complain(p, "insn", i, got);
	}
}

static void compare_lines(struct pair *p)
{
	struct loupe_source *want, *got;
	const struct loupe_verify_result *result = loupe_trace_result(p->got);

	loupe_source_create(p->image, &want);
	loupe_source_create(p->read_image, &got);
	for (uint32_t i = 0; i < loupe_trace_insn_cnt(p->got); i++) {
		struct loupe_source_line a, b;

		if (!result->insn_seen[i] || !p->image->line_info_cnt)
			continue;
		SAME(p, "line of insn", i, loupe_source_line_of(want, i, &a),
		     loupe_source_line_of(got, i, &b));
		SAME(p, "line of insn", i, a.line, b.line);
		if (strcmp(a.text, b.text) != 0 || strcmp(a.file, b.file) != 0)
			complain(p, "line of insn", i, b.text);
	}
	loupe_source_destroy(want);
	loupe_source_destroy(got);
}

/* A level 1 log has the way to the error: the last step and those before it on its paths. */
static void compare_way(struct pair *p)
{
	uint32_t at = loupe_trace_error_step(p->want), cnt = loupe_trace_step_cnt(p->got);
	char *a, *b;

	if (p->unnamed && at != LOUPE_NO_STEP) {
		struct loupe_step_info info;

		loupe_trace_step(p->want, at, &info);
		at = info.prev;
	}
	for (uint32_t s = cnt; s-- > 0 && at != LOUPE_NO_STEP;) {
		struct loupe_step_info want, got;

		loupe_trace_step(p->want, at, &want);
		loupe_trace_step(p->got, s, &got);
		SAME(p, "step", at, want.insn_idx, got.insn_idx);
		SAME(p, "step", at, want.frame_cnt, got.frame_cnt);
		compare_state(p, at, s);
		at = want.prev;
	}
	if (cnt && at != LOUPE_NO_STEP)
		complain(p, "step", at, "the way does not begin here");
	if (!cnt)
		return;
	a = strdup(loupe_trace_error(p->want));
	b = strdup(loupe_trace_error(p->got));
	if (strcmp(a, b) != 0)
		complain(p, "error", 0, b);
	free(a);
	free(b);
}

static bool is_pruned(const struct loupe_trace *t, uint32_t step)
{
	struct loupe_step_info info;

	return !loupe_trace_step(t, step, &info) && info.flags & LOUPE_STEP_PRUNED;
}

static void compare(struct pair *p)
{
	const struct loupe_verify_result *result = loupe_trace_result(p->want);
	bool explored = result->phase >= LOUPE_PHASE_EXPLORE_MAIN;

	p->unnamed = loupe_trace_error_step(p->want) != LOUPE_NO_STEP && !p->want_shows.behind &&
		     *loupe_trace_error(p->want) &&
		     strncmp(loupe_trace_error(p->want), "infinite loop", 13) != 0 &&
		     !is_pruned(p->want, loupe_trace_error_step(p->want));
	if (p->level & LOUPE_LOG_LEVEL2)
		SAME(p, "result", 0, p->unnamed,
		     (loupe_trace_result(p->got)->lacks & LOUPE_LACKS_LAST_STEP) != 0);
	compare_result(p, explored);
	compare_insns(p);
	if (!(p->level & LOUPE_LOG_LEVEL2)) {
		compare_way(p);
		return;
	}
	compare_steps(p);
	compare_paths(p);
	compare_pushes(p);
	compare_walks(p);
	compare_sccs(p);
	compare_lives(p);
	compare_lines(p);
	if (p->unnamed)
		return;
	compare_messages(p);
	SAME(p, "error step", 0, loupe_trace_error_step(p->want), loupe_trace_error_step(p->got));
	if (strcmp(loupe_trace_error(p->want), loupe_trace_error(p->got)) != 0)
		complain(p, "error", 0, loupe_trace_error(p->got));
}

/* --- files ----------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
	enum { MAX = 1 << 20 };
	FILE *f = fopen(path, "r");
	char *text = malloc(MAX);
	size_t len = 0;

	if (f && text)
		len = fread(text, 1, MAX - 1, f);
	if (f)
		fclose(f);
	if (text)
		text[len] = '\0';
	return text;
}

/* The text of a level's section. */
static char *section(const char *text, uint32_t level, size_t *len)
{
	char title[40];
	const char *at, *end;

	snprintf(title, sizeof(title), "\n--- log level %u\n", level);
	at = strstr(text, title);
	if (!at)
		return NULL;
	at = strchr(at + 1, '\n') + 1;
	end = !strncmp(at, "---", 3) ? at : strstr(at, "\n---");
	*len = !end ? strlen(at) : (size_t)(end - at) + (end != at);
	return strndup(at, *len);
}

/* What is read is written again: no line is lost or moved. */
static void write_again(struct pair *p, const struct loupe_logged *logged, const char *text,
			size_t len)
{
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts),
					   .level = p->level,
					   .sink = loupe_log_compare_feed,
					   .unprivileged = !strncmp(p->name, "unpriv_", 7) };
	struct loupe_log_difference diff;
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;
	struct loupe_log *log;

	log_opts.sink_ctx = loupe_log_compare_create(text, len);
	loupe_verify_opts_init(&opts);
	if (loupe_log_create(p->read_image, &log_opts, &log))
		exit(2);
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_logged_replay(logged, &opts, &result) || loupe_log_finish(log))
		exit(2);
	if (!loupe_log_compare_end(log_opts.sink_ctx, &diff)) {
		complain(p, "written again, line", diff.line, diff.want);
		if (p->complaints <= MAX_COMPLAINTS)
			printf("  again  %s\n", diff.got);
	}
	loupe_verify_result_finish(&result);
	loupe_log_destroy(log);
	loupe_log_compare_destroy(log_opts.sink_ctx);
}

static bool check(const char *name, const struct loupe_image *image, const char *text, size_t len,
		  uint32_t level, struct pair *p)
{
	struct loupe_verify_opts opts;
	struct loupe_verify_result want, got;
	struct loupe_log_file *file;
	struct loupe_error err;

	*p = (struct pair){ .name = name, .level = level, .image = image };
	if (loupe_log_read(name, text, len, &file, &err)) {
		printf("%s: level %u: %s\n", name, level, err.message);
		return false;
	}
	p->read_image = loupe_log_file_programs(file)->progs[0].image;
	p->want = loupe_trace_create(image);
	p->got = loupe_trace_create(p->read_image);
	loupe_verify_opts_init(&opts);
	opts.unprivileged = !strncmp(name, "unpriv_", 7);
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(p->want);
	opts.listeners[opts.listener_cnt++] =
		(struct loupe_listener){ &show_hooks, &p->want_shows };
	if (loupe_verify(image, &opts, &want))
		exit(2);
	opts.listeners[0] = loupe_trace_listener(p->got);
	opts.listeners[1] = (struct loupe_listener){ &show_hooks, &p->got_shows };
	if (loupe_logged_replay(loupe_log_file_at(file, 0), &opts, &got))
		exit(2);
	if (loupe_trace_finish(p->want) || loupe_trace_finish(p->got))
		exit(2);
	p->want_at = loupe_cursor_create(p->want);
	p->got_at = loupe_cursor_create(p->got);
	loupe_names_create(image, &p->want_names);
	loupe_names_create(p->read_image, &p->got_names);
	SAME(p, "programs", 0, 1u, loupe_log_file_programs(file)->cnt);
	compare(p);
	if (level & LOUPE_LOG_LEVEL2)
		write_again(p, loupe_log_file_at(file, 0), text, len);
	free(p->want_shows.at);
	free(p->got_shows.at);
	free(p->want_shows.lives);
	free(p->got_shows.lives);
	loupe_cursor_destroy(p->want_at);
	loupe_cursor_destroy(p->got_at);
	loupe_names_destroy(p->want_names);
	loupe_names_destroy(p->got_names);
	loupe_trace_destroy(p->want);
	loupe_trace_destroy(p->got);
	loupe_verify_result_finish(&want);
	loupe_verify_result_finish(&got);
	loupe_log_file_destroy(file);
	return !p->complaints;
}

struct totals {
	uint64_t compared, silent; /* registers and slots */
};

static bool run(const char *dir, const char *name, void *data)
{
	struct totals *totals = data;
	static const uint32_t levels[] = { 6, 4, 1 };
	char types[PATH_SIZE];
	const struct loupe_load_opts load = { .size = sizeof(load),
					      .kernel_btf = types,
					      .cpus = CPUS };
	struct loupe_program_list list;
	struct loupe_error err;
	char path[PATH_SIZE];
	bool ok = true;
	size_t len;
	char *text;

	snprintf(types, sizeof(types), "%s/kernel.btf", dir);
	snprintf(path, sizeof(path), "%s/%s.bpfasm", dir, name);
	if (loupe_load_file(path, &load, &list, &err)) {
		printf("%s: %s\n", name, err.message);
		return false;
	}
	snprintf(path, sizeof(path), "%s/%s.log", dir, name);
	text = read_text(path);
	for (size_t i = 0; text && i < sizeof(levels) / sizeof(levels[0]); i++) {
		char *log = section(text, levels[i], &len);
		struct pair p;

		/* without any text there is no log: the load failed before */
		if (log && len) {
			ok &= check(name, list.progs[0].image, log, len, levels[i], &p);
			totals->compared += p.compared;
			totals->silent += p.silent;
		}
		free(log);
	}
	ok &= text && *text;
	free(text);
	loupe_program_list_finish(&list);
	return ok;
}

int main(int argc, char **argv)
{
	struct totals totals = { 0 };
	uint32_t cnt, failed;

	if (argc < 2) {
		fprintf(stderr, "usage: log_read DIR [NAME...]\n");
		return 2;
	}
	cnt = each_program(argv[1], argv + 2, argc - 2, run, &totals, &failed);
	printf("%u of %u read back; %llu registers and slots compared, %llu differ where the log "
	       "is silent\n",
	       cnt - failed, cnt, (unsigned long long)totals.compared,
	       (unsigned long long)totals.silent);
	return failed || !cnt;
}
