// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which step left a path for later. The log shows the path when it begins ("from A to B"), not when
 * it is left. Paths are taken up latest first, so the step is a visit of A on the way to where the
 * last path ended. Where a loop visits A several times on that way, the visit is the one whose
 * state the path's state resembles most: what the insn itself does not touch is the same in both.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "insn/opcodes.h"
#include "klog/logged.h"

enum { NO_INSN = -1, SIDES = 2, RESEMBLES = LOUPE_MAX_REG + 1 };

/* A step that may have left a path, with sums of what its state holds. */
struct visit {
	uint32_t step;
	int32_t insn, next;  /* insn that followed, NO_INSN if none did */
	int32_t left[SIDES]; /* where paths went on that were found to be left here */
	bool decided;	     /* a jump that could go one way only */
	uint32_t frameno;
	uint32_t sum[RESEMBLES]; /* registers, then the stack */
};

struct path_finder {
	struct loupe_logged *log;
	struct visit *visits; /* on the way to the present step */
	uint32_t visit_cnt, visit_cap;
	uint32_t step; /* number of the next one */
	bool all;      /* any insn may leave a path, as where a misprediction goes on */
	bool no_memory;
};

static uint32_t mix(uint32_t h, uint64_t v)
{
	h = (h ^ (uint32_t)v) * 0x9e3779b1u;
	h = (h ^ (uint32_t)(v >> 32)) * 0x85ebca6bu;
	return h ^ h >> 13;
}

static uint32_t reg_sum(const struct loupe_reg *reg)
{
	uint32_t h = mix(reg->type, (uint32_t)reg->off);

	h = mix(h, reg->raw[0]);
	h = mix(h, reg->var_off.value);
	h = mix(h, reg->var_off.mask);
	h = mix(h, (uint64_t)reg->smin);
	h = mix(h, reg->umax);
	h = mix(h, reg->umin);
	return mix(h, (uint64_t)reg->id << 32 | reg->ref_obj_id);
}

static uint32_t slot_sum(uint32_t h, uint32_t spi, const struct loupe_slot *slot)
{
	static const uint8_t nothing[LOUPE_REG_SIZE];
	uint64_t types;

	if (!memcmp(slot->type, nothing, sizeof(nothing)))
		return h;
	memcpy(&types, slot->type, sizeof(types));
	return h + mix(mix(spi, types), reg_sum(&slot->spilled));
}

static void sum_state(const struct loupe_state *st, struct visit *v)
{
	const struct loupe_frame *frame = st->frame[st->curframe];

	v->frameno = st->curframe;
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
		v->sum[r] = reg_sum(&frame->regs[r]);
	for (uint32_t s = 0; s < frame->slot_cnt; s++)
		v->sum[LOUPE_MAX_REG] = slot_sum(v->sum[LOUPE_MAX_REG], s, &frame->stack->slot[s]);
}

static void sum_text(const struct scan_frame *text, struct visit *v)
{
	static const struct loupe_reg none;

	v->frameno = text->frameno;
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
		v->sum[r] = reg_sum(text->regs & 1u << r ? &text->reg[r] : &none);
	for (uint32_t s = 0; s < LOUPE_MAX_SLOTS; s++) {
		if (text->slots & 1ull << s)
			v->sum[LOUPE_MAX_REG] = slot_sum(v->sum[LOUPE_MAX_REG], s, &text->slot[s]);
	}
}

/* Insns that leave paths: conditional jumps, calls that may run a callback or an iterator's turn.
 */
static bool may_leave(const struct path_finder *f, int32_t insn_idx)
{
	const struct loupe_insn *insn;
	uint8_t class, op;

	if (f->all || insn_idx < 0 || (uint32_t)insn_idx >= f->log->image->insn_cnt)
		return f->all;
	insn = &f->log->image->insns[insn_idx];
	class = BPF_CLASS(insn->code);
	op = BPF_OP(insn->code);
	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_JA && op != BPF_EXIT;
}

void finder_arrive(struct path_finder *f, uint32_t item, int32_t insn_idx,
		   const struct loupe_state *st, bool pruned)
{
	struct loupe_logged *log = f->log;
	struct visit *last = f->visit_cnt ? &f->visits[f->visit_cnt - 1] : NULL;

	if (last && last->step + 1 == f->step && last->next == NO_INSN)
		last->next = insn_idx;
	if (!logged_grow((void **)&log->step_at, &log->step_cap, log->step_cnt + 1,
			 sizeof(*log->step_at)) ||
	    !logged_grow((void **)&f->visits, &f->visit_cap, f->visit_cnt + 1,
			 sizeof(*f->visits))) {
		f->no_memory = true;
		return;
	}
	log->step_at[log->step_cnt++] = item;
	if (!pruned && may_leave(f, insn_idx)) {
		struct visit *v = &f->visits[f->visit_cnt++];

		*v = (struct visit){ .step = f->step,
				     .insn = insn_idx,
				     .next = NO_INSN,
				     .left = { NO_INSN, NO_INSN } };
		sum_state(st, v);
	}
	f->step++;
}

void finder_decided(struct path_finder *f)
{
	struct visit *last = f->visit_cnt ? &f->visits[f->visit_cnt - 1] : NULL;

	if (last && last->step + 1 == f->step)
		last->decided = true;
}

/* The insn at which a visit's jump goes on if its condition holds, NO_INSN if it is none. */
static int32_t target_of(const struct path_finder *f, const struct visit *v)
{
	const struct loupe_insn *insn = &f->log->image->insns[v->insn];
	uint8_t class = BPF_CLASS(insn->code);

	if ((class != BPF_JMP && class != BPF_JMP32) || BPF_OP(insn->code) == BPF_CALL)
		return NO_INSN;
	return v->insn + 1 + insn->off;
}

/* from: NO_INSN where the log does not say it. */
static bool can_have_left(const struct path_finder *f, const struct visit *v, int32_t from,
			  int32_t to, bool speculative)
{
	int32_t target = target_of(f, v);

	if (from == NO_INSN ? to != target && to != v->insn + 1 : v->insn != from)
		return false;
	if (speculative)
		return v->left[1] == NO_INSN;
	/* the side that was walked first is not left, unless both go to the same insn */
	return !v->decided && v->left[0] == NO_INSN && (v->next != to || target == v->insn + 1);
}

static uint32_t resemblance(const struct visit *v, const struct visit *path)
{
	uint32_t same = 0;

	if (v->frameno != path->frameno)
		return 0;
	for (uint32_t i = 0; i < RESEMBLES; i++)
		same += v->sum[i] == path->sum[i];
	return same;
}

void finder_pop(struct path_finder *f, int32_t from, int32_t to, bool speculative,
		const struct scan_frame *text)
{
	struct loupe_logged *log = f->log;
	struct visit path = { 0 };
	uint32_t best = UINT32_MAX, most = 0;
	struct log_pop *pop;

	if (!logged_grow((void **)&log->pops, &log->pop_cap, log->pop_cnt + 1,
			 sizeof(*log->pops))) {
		f->no_memory = true;
		return;
	}
	if (text)
		sum_text(text, &path);
	for (uint32_t i = f->visit_cnt; i-- > 0;) {
		const struct visit *v = &f->visits[i];
		uint32_t same;

		if (!can_have_left(f, v, from, to, speculative))
			continue;
		same = text ? resemblance(v, &path) : 0;
		if (best != UINT32_MAX && same <= most)
			continue;
		best = i;
		most = same;
		/* nothing can resemble more than all but what the insn touches */
		if (!text || same >= RESEMBLES - 1)
			break;
	}
	pop = &log->pops[log->pop_cnt++];
	*pop = (struct log_pop){ .step = LOUPE_NO_STEP,
				 .from = from,
				 .to = to,
				 .speculative = speculative,
				 .async = text && text->async_callback && !text->frameno };
	if (best == UINT32_MAX)
		return;
	pop->from = f->visits[best].insn;
	pop->step = f->visits[best].step;
	f->visits[best].left[speculative] = to;
	/* later ones can have left nothing that still waits */
	f->visit_cnt = best + 1;
}

/* Orders the paths as they were left: by step; of those left by one step the last taken up was
 * first. Unknown ones go first. */
static int sort_pushes(struct loupe_logged *log, uint32_t step_cnt)
{
	/* numbers of pops by step + 1, counted first */
	uint32_t *start = calloc((size_t)step_cnt + 2, sizeof(*start));

	log->pushed = calloc((size_t)log->pop_cnt + 1, sizeof(*log->pushed));
	if (!start || !log->pushed) {
		free(start);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < log->pop_cnt; i++)
		start[log->pops[i].step + 1]++; /* LOUPE_NO_STEP + 1 is 0 */
	for (uint32_t s = 1; s <= step_cnt; s++)
		start[s] += start[s - 1];
	for (uint32_t i = 0; i < log->pop_cnt; i++)
		log->pushed[--start[log->pops[i].step + 1]] = i;
	free(start);
	return 0;
}

int logged_find_paths(struct loupe_logged *log)
{
	struct path_finder f = { .log = log };
	struct loupe_verify_result result;
	int rc;

	for (uint32_t i = 0; i < log->item_cnt && !f.all; i++) {
		struct scan_field field[FORM_MAX_FIELDS];

		if (log->items[i].kind == FORM_PATH_BEGIN || log->items[i].kind == FORM_PATH_SAFE)
			f.all = item_scan(log, &log->items[i], field) && field[2].len;
	}
	rc = logged_walk(log, NULL, &f, &result);
	free(f.visits);
	if (rc)
		return rc;
	loupe_verify_result_finish(&result);
	return f.no_memory ? -ENOMEM : sort_pushes(log, f.step);
}
