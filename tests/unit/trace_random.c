// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random explorations, recorded twice: by the recorder, and by full copies of every state. Each
 * query must answer what the copies say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "insn/opcodes.h"
#include "trace/store.h"

enum {
	INSNS = 96,
	CALLEE = 64, /* where the subprogram starts */
	FRAMES = 3,
	SLOTS = 6,
	LOCS = LOUPE_MAX_REG + SLOTS,
	STEPS = 6000,
	MAX_CKPTS = 2000,
	MAX_COMPARES = 40000,
	MAX_PENDING = 64,
};

static uint64_t seed;
static uint32_t keyframes; /* of all runs */

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

/* --- the reference: everything in full ------------------------------------------------------ */

struct snap {
	uint32_t curframe;
	struct loupe_frame frame[FRAMES];
	struct loupe_slot slot[FRAMES][SLOTS];
	struct loupe_ref refs[3];
	uint32_t ref_cnt, active_locks;
	uint32_t writer[FRAMES][LOCS];
	bool cleaned;
};

struct ref_step {
	struct snap *snap;
	uint32_t insn, pred;
	uint32_t flags;
	uint32_t depth;
};

struct ref_ckpt {
	struct snap snap; /* as it is now */
	uint32_t born, insn, parent, hits, misses, uncounted, compares, evicted, freed, cleaned;
	uint32_t marks;
	bool listed;
};

struct ref_compare {
	struct snap *old; /* a copy, of some */
	uint32_t step, serial, mode, outcome, kind, frameno;
	int reg, spi;
};

struct pend {
	struct snap snap;
	int32_t insn, prev;
	uint32_t pred, depth, parent;
};

static struct {
	struct loupe_image image;
	struct loupe_insn insns[INSNS];
	struct loupe_trace *trace;
	struct loupe_listener to;
	struct snap cur;
	uint32_t insn, prev, pred, depth;
	uint32_t parent; /* serial */
	bool start;
	struct ref_step steps[STEPS];
	uint32_t step_cnt;
	struct ref_ckpt ckpts[MAX_CKPTS + 1];
	uint32_t ckpt_cnt;
	struct ref_compare compares[MAX_COMPARES];
	uint32_t compare_cnt;
	struct pend pending[MAX_PENDING];
	uint32_t pending_cnt, push_cnt, evict_cnt, walk_cnt, message_cnt;
	uint32_t taken[INSNS], fell[INSNS];
} w;

#define HOOK(name, ...) w.to.hooks->name(w.to.ctx, ##__VA_ARGS__)

/* The verifier's form of a snapshot, valid until the next call. */
static const struct loupe_state *as_state(const struct snap *s, uint32_t serial)
{
	static struct loupe_state st, parent;
	static struct loupe_frame frame[FRAMES];
	static struct {
		struct loupe_stack head;
		struct loupe_slot slot[SLOTS];
	} stack[FRAMES];

	memset(&st, 0, sizeof(st));
	for (uint32_t f = 0; f <= s->curframe; f++) {
		frame[f] = s->frame[f];
		frame[f].stack = NULL;
		if (frame[f].slot_cnt) {
			memcpy(stack[f].head.slot, s->slot[f], sizeof(s->slot[f]));
			frame[f].stack = &stack[f].head;
		}
		st.frame[f] = &frame[f];
	}
	st.curframe = s->curframe;
	st.refs = (struct loupe_ref *)s->refs;
	st.ref_cnt = s->ref_cnt;
	st.active_locks = s->active_locks;
	st.serial = serial;
	parent.serial = serial ? w.ckpts[serial].parent : 0;
	st.parent = &parent;
	st.cleaned = s->cleaned;
	return &st;
}

static bool same_reg(const struct loupe_reg *a, const struct loupe_reg *b)
{
	return !memcmp(a, b, offsetof(struct loupe_reg, precise)) && a->precise == b->precise;
}

static bool empty(const struct loupe_slot *s)
{
	static const uint8_t none[LOUPE_REG_SIZE];

	return !memcmp(s->type, none, sizeof(none));
}

static bool same_slot(const struct loupe_slot *a, const struct loupe_slot *b)
{
	return !memcmp(a->type, b->type, sizeof(a->type)) &&
	       (!trace_slot_has_reg(a) || same_reg(&a->spilled, &b->spilled));
}

static void check_state(const struct loupe_state *st, const struct snap *s)
{
	assert_non_null(st);
	assert_int_equal(st->curframe, s->curframe);
	assert_int_equal(st->ref_cnt, s->ref_cnt);
	for (uint32_t i = 0; i < s->ref_cnt; i++) {
		assert_int_equal(st->refs[i].id, s->refs[i].id);
		assert_int_equal(st->refs[i].ptr, s->refs[i].ptr);
	}
	assert_int_equal(st->active_locks, s->active_locks);
	for (uint32_t f = 0; f <= s->curframe; f++) {
		const struct loupe_frame *a = st->frame[f], *b = &s->frame[f];

		assert_int_equal(a->slot_cnt, b->slot_cnt);
		assert_int_equal(a->callsite, b->callsite);
		assert_int_equal(a->callback_depth, b->callback_depth);
		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
			assert_true(same_reg(&a->regs[r], &b->regs[r]));
		for (uint32_t i = 0; i < b->slot_cnt; i++)
			assert_true(same_slot(&a->stack->slot[i], &s->slot[f][i]));
	}
}

/* --- making states -------------------------------------------------------------------------- */

static struct loupe_reg random_reg(void)
{
	struct loupe_reg reg = { .type = SCALAR_VALUE,
				 .var_off.mask = UINT64_MAX,
				 .smin = INT64_MIN,
				 .smax = INT64_MAX,
				 .umax = UINT64_MAX,
				 .s32_min = INT32_MIN,
				 .s32_max = INT32_MAX,
				 .u32_max = UINT32_MAX };
	uint64_t c = rnd(40);

	switch (rnd(4)) {
	case 0: /* a constant */
		if (!rnd(4))
			c = seed;
		reg.var_off = (struct loupe_tnum){ c, 0 };
		reg.smin = reg.smax = (int64_t)c;
		reg.umin = reg.umax = c;
		reg.s32_min = reg.s32_max = (int32_t)c;
		reg.u32_min = reg.u32_max = (uint32_t)c;
		break;
	case 1: /* a range */
		reg.umax = reg.u32_max = (uint32_t)c;
		reg.smin = reg.s32_min = 0;
		reg.smax = reg.s32_max = (int32_t)c;
		reg.var_off.mask = 63;
		break;
	case 2:
		reg.type = rnd(2) ? PTR_TO_MAP_VALUE | PTR_MAYBE_NULL : PTR_TO_PACKET;
		reg.off = (int32_t)c - 20;
		reg.raw[0] = rnd(3);
		reg.var_off.mask = 0;
		reg.smin = reg.smax = reg.s32_min = reg.s32_max = 0;
		reg.umax = reg.u32_max = 0;
		break;
	}
	reg.id = rnd(3) ? 0 : rnd(1000);
	reg.subreg_def = rnd(4) ? 0 : (int32_t)rnd(INSNS);
	/* Padding is whatever it is. */
	memset((char *)&reg + offsetof(struct loupe_reg, precise) + 1, (int)rnd(256), 3);
	return reg;
}

static struct loupe_reg stack_pointer(uint32_t frameno)
{
	struct loupe_reg reg = { .type = PTR_TO_STACK, .frameno = frameno };

	return reg;
}

static void write_reg(struct snap *s, uint32_t f, uint32_t r)
{
	s->frame[f].regs[r] = random_reg();
}

static void write_slot(struct snap *s, uint32_t f, uint32_t i)
{
	struct loupe_slot slot = { .spilled = random_reg() }; /* stale unless it is a spill */

	memset(slot.type, (int)rnd(4), sizeof(slot.type));
	if (rnd(3) == 0)
		memset(slot.type, STACK_MISC, 4);
	if (i >= s->frame[f].slot_cnt)
		s->frame[f].slot_cnt = i + 1;
	s->slot[f][i] = slot;
}

static void new_frame(struct snap *s, uint32_t f, int32_t callsite)
{
	memset(&s->frame[f], 0, sizeof(s->frame[f]));
	memset(s->slot[f], 0, sizeof(s->slot[f]));
	s->frame[f].callsite = callsite;
	s->frame[f].frameno = f;
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++)
		s->frame[f].regs[r] = r == 10 ? stack_pointer(f) : random_reg();
}

static void anything(struct snap *s)
{
	for (uint32_t n = rnd(4); n; n--) {
		uint32_t f = rnd(s->curframe + 1);

		if (rnd(3) || !s->frame[f].slot_cnt)
			write_reg(s, f, rnd(10));
		else
			write_slot(s, f, rnd(s->frame[f].slot_cnt));
	}
	if (!rnd(8)) {
		s->ref_cnt = rnd(4);
		for (uint32_t i = 0; i < s->ref_cnt; i++)
			s->refs[i] = (struct loupe_ref){ .id = rnd(50), .ptr = seed };
		s->active_locks = rnd(2);
	}
}

static void make_program(void)
{
	for (uint32_t i = 0; i < INSNS; i++) {
		struct loupe_insn *insn = &w.insns[i];
		uint32_t limit = i < CALLEE ? CALLEE : INSNS, base = i < CALLEE ? 0 : CALLEE;

		memset(insn, 0, sizeof(*insn));
		insn->dst_reg = rnd(10);
		insn->src_reg = rnd(10);
		insn->imm = (int32_t)rnd(1000);
		if (i == CALLEE - 1) {
			insn->code = BPF_JMP | BPF_JA;
			insn->off = -CALLEE;
			continue;
		}
		if (i == INSNS - 1) {
			insn->code = BPF_JMP | BPF_EXIT;
			continue;
		}
		switch (rnd(8)) {
		case 0:
			insn->code = BPF_ALU64 | BPF_MOV | BPF_X;
			break;
		case 1:
			insn->code = BPF_ALU64 | BPF_ADD | (rnd(2) ? BPF_X : BPF_K);
			break;
		case 2:
			insn->code = BPF_LDX | BPF_MEM | BPF_DW;
			break;
		case 3:
		case 4:
			insn->code = (rnd(2) ? BPF_ST : BPF_STX) | BPF_MEM | BPF_DW;
			insn->dst_reg = 10;
			insn->off = (int16_t)(-8 * (int)(1 + rnd(SLOTS)));
			break;
		case 5:
		case 6:
			insn->code = BPF_JMP | BPF_JGT | BPF_K;
			insn->off = (int16_t)((int)(base + rnd(limit - base)) - (int)i - 1);
			if (!insn->off)
				insn->off = 1;
			break;
		default:
			insn->code = BPF_JMP | BPF_CALL;
			insn->dst_reg = 0;
			insn->src_reg = rnd(2) ? BPF_PSEUDO_CALL : 0;
			insn->imm = insn->src_reg ? CALLEE - (int)i - 1 : 1;
		}
	}
}

/* --- the exploration ------------------------------------------------------------------------ */

static void mark_and_walk(void)
{
	struct loupe_masks masks = { .frameno = 0, .regs = 1u << rnd(10), .stack = 0 };
	uint32_t serial = 1 + rnd(w.ckpt_cnt);
	struct ref_ckpt *c = &w.ckpts[serial];
	bool in_walk = rnd(4);

	masks.frameno = rnd(c->snap.curframe + 1);
	if (c->snap.frame[masks.frameno].slot_cnt && !rnd(3)) {
		uint32_t i = rnd(c->snap.frame[masks.frameno].slot_cnt);

		if (c->snap.slot[masks.frameno][i].type[7] == STACK_SPILL)
			masks.stack = 1ull << i;
	}
	if (in_walk) {
		HOOK(walk_begin, 0, 5, 3, -1);
		HOOK(walk_hop, &masks, 4);
		w.walk_cnt++;
	}
	for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
		struct loupe_reg *reg = &c->snap.frame[masks.frameno].regs[r];

		if (!(masks.regs >> r & 1))
			continue;
		if (reg->type == SCALAR_VALUE)
			reg->precise = true;
		else
			masks.regs = 0;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (masks.stack >> i & 1)
			c->snap.slot[masks.frameno][i].spilled.precise = true;
	}
	HOOK(mark_precise, as_state(&c->snap, serial), &masks);
	c->marks++;
	if (in_walk) {
		HOOK(walk_parent, &masks, as_state(&c->snap, serial));
		HOOK(walk_end);
	}
}

static void clean(uint32_t serial)
{
	struct ref_ckpt *c = &w.ckpts[serial];
	struct loupe_reg none = { .type = NOT_INIT,
				  .var_off.mask = UINT64_MAX,
				  .smin = INT64_MIN,
				  .smax = INT64_MAX,
				  .umax = UINT64_MAX,
				  .s32_min = INT32_MIN,
				  .s32_max = INT32_MAX,
				  .u32_max = UINT32_MAX };

	if (c->snap.cleaned)
		return;
	for (uint32_t f = 0; f <= c->snap.curframe; f++) {
		for (uint32_t r = 0; r < 10; r++) {
			if (!rnd(2))
				continue;
			none.subreg_def = c->snap.frame[f].regs[r].subreg_def;
			c->snap.frame[f].regs[r] = none;
		}
		for (uint32_t i = 0; i < c->snap.frame[f].slot_cnt; i++) {
			if (rnd(2))
				memset(&c->snap.slot[f][i], 0, sizeof(c->snap.slot[f][i]));
		}
	}
	c->snap.cleaned = true;
	c->cleaned = w.step_cnt - 1;
	c->marks += c->snap.curframe + 1;
	HOOK(clean, as_state(&c->snap, serial));
}

/* Comparisons with the insn's listed checkpoints, latest first; true if one hit. */
static bool compare_all(void)
{
	for (uint32_t serial = w.ckpt_cnt; serial; serial--) {
		struct ref_ckpt *c = &w.ckpts[serial];
		struct ref_compare *r = &w.compares[w.compare_cnt];
		struct loupe_compare cmp = { .insn_idx = (int32_t)w.insn };

		if (c->insn != w.insn || !c->listed || w.compare_cnt == MAX_COMPARES)
			continue;
		if (!rnd(8))
			clean(serial);
		cmp.mode = rnd(4);
		cmp.outcome = rnd(300) ? LOUPE_CMP_MISS + rnd(2) : LOUPE_CMP_HIT + rnd(3);
		cmp.diff.reg = cmp.diff.spi = -1;
		if (cmp.outcome == LOUPE_CMP_MISS) {
			cmp.diff.kind = 1 + rnd(LOUPE_DIFF_KINDS - 1);
			cmp.diff.frameno = rnd(FRAMES);
			if (rnd(2))
				cmp.diff.reg = (int16_t)rnd(LOUPE_MAX_REG);
			else
				cmp.diff.spi = (int16_t)rnd(LOUPE_MAX_SLOTS);
		}
		c->hits += cmp.outcome < LOUPE_CMP_MISS;
		c->misses += cmp.outcome == LOUPE_CMP_MISS;
		c->uncounted += cmp.outcome == LOUPE_CMP_MISS_UNCOUNTED;
		c->compares++;
		cmp.hit_cnt = c->hits;
		cmp.miss_cnt = c->misses;
		*r = (struct ref_compare){ .step = w.step_cnt - 1,
					   .serial = serial,
					   .mode = cmp.mode,
					   .outcome = cmp.outcome,
					   .kind = cmp.diff.kind,
					   .frameno = cmp.diff.frameno,
					   .reg = cmp.diff.reg,
					   .spi = cmp.diff.spi };
		if (!rnd(8)) {
			r->old = malloc(sizeof(*r->old));
			*r->old = c->snap;
		}
		w.compare_cnt++;
		w.steps[w.step_cnt - 1].flags |= LOUPE_STEP_COMPARE;
		cmp.old = as_state(&c->snap, serial);
		HOOK(compare, &cmp);
		if (cmp.outcome < LOUPE_CMP_MISS)
			return true;
		if (c->misses > 6) {
			c->listed = false;
			c->evicted = w.step_cnt - 1;
			w.evict_cnt++;
			w.steps[w.step_cnt - 1].flags |= LOUPE_STEP_EVICT;
			HOOK(evict, as_state(&c->snap, serial), c->hits, c->misses);
			if (rnd(2)) {
				c->freed = w.step_cnt - 1;
				HOOK(state_free, as_state(&c->snap, serial));
			}
		}
	}
	return false;
}

static void store_checkpoint(void)
{
	struct ref_ckpt *c = &w.ckpts[++w.ckpt_cnt];

	*c = (struct ref_ckpt){ .snap = w.cur,
				.born = w.step_cnt - 1,
				.insn = w.insn,
				.parent = w.parent,
				.evicted = LOUPE_NO_STEP,
				.freed = LOUPE_NO_STEP,
				.cleaned = LOUPE_NO_STEP,
				.listed = true };
	w.steps[w.step_cnt - 1].flags |= LOUPE_STEP_CHECKPOINT;
	HOOK(checkpoint, as_state(&c->snap, w.ckpt_cnt), (int32_t)w.insn);
	w.parent = w.ckpt_cnt;
}

/* Whatever differs from the predecessor's state was written by it. */
static void note_writers(struct snap *now, const struct snap *old, uint32_t pred)
{
	for (uint32_t f = 0; f <= now->curframe; f++) {
		bool fresh = !old || f > old->curframe;

		for (uint32_t r = 0; r < LOUPE_MAX_REG; r++) {
			bool same =
				!fresh && same_reg(&old->frame[f].regs[r], &now->frame[f].regs[r]);

			now->writer[f][r] = same ? old->writer[f][r] : pred;
		}
		for (uint32_t i = 0; i < SLOTS; i++) {
			bool same = !fresh && same_slot(&old->slot[f][i], &now->slot[f][i]);

			now->writer[f][LOUPE_MAX_REG + i] =
				same ? old->writer[f][LOUPE_MAX_REG + i] : pred;
		}
	}
}

/* Arrives at w.insn; true if the path was pruned. */
static bool arrive(void)
{
	struct loupe_step step = { .insn_idx = (int32_t)w.insn,
				   .prev_insn_idx = (int32_t)w.prev,
				   .state = as_state(&w.cur, 0) };
	struct ref_step *s = &w.steps[w.step_cnt++];

	*s = (struct ref_step){
		.snap = malloc(sizeof(*s->snap)), .insn = w.insn, .pred = w.pred, .depth = w.depth
	};
	note_writers(&w.cur, w.pred == LOUPE_NO_STEP ? NULL : w.steps[w.pred].snap, w.pred);
	*s->snap = w.cur;
	if (w.start)
		s->flags |= LOUPE_STEP_PATH_START;
	if (w.pred != LOUPE_NO_STEP && trace_is_cond_jmp(&w.insns[w.steps[w.pred].insn])) {
		if (w.insn == w.steps[w.pred].insn + 1)
			w.fell[w.steps[w.pred].insn]++;
		else
			w.taken[w.steps[w.pred].insn]++;
	}
	w.start = false;
	HOOK(arrive, &step);
	if (compare_all()) {
		s->flags |= LOUPE_STEP_PRUNED;
		HOOK(pruned, &step, false);
		return true;
	}
	if (!rnd(6) && w.ckpt_cnt < MAX_CKPTS)
		store_checkpoint();
	HOOK(insn_state, &step, w.insn & 0x7ff, w.insn % 3 ? 0 : 1ull << (w.insn % 64));
	return false;
}

static void push(int32_t target)
{
	struct pend *p;

	if (w.pending_cnt == MAX_PENDING)
		return;
	p = &w.pending[w.pending_cnt++];
	*p = (struct pend){ .snap = w.cur,
			    .insn = target,
			    .prev = (int32_t)w.insn,
			    .pred = w.step_cnt - 1,
			    .depth = w.depth + 1,
			    .parent = w.parent };
	if (rnd(2))
		write_reg(&p->snap, p->snap.curframe, rnd(10));
	HOOK(branch_push, p->insn, p->prev, as_state(&p->snap, 0), false);
	w.steps[w.step_cnt - 1].flags |= LOUPE_STEP_PUSH;
	w.push_cnt++;
}

/* Executes w.insn; false if the path ends. */
static bool execute(void)
{
	const struct loupe_insn *insn = &w.insns[w.insn];
	uint32_t at = w.step_cnt - 1, f = w.cur.curframe, next = w.insn + 1;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU64:
		write_reg(&w.cur, f, insn->dst_reg);
		if (BPF_SRC(insn->code) == BPF_X && !rnd(3))
			write_reg(&w.cur, f, insn->src_reg);
		break;
	case BPF_LDX:
		write_reg(&w.cur, f, insn->dst_reg);
		break;
	case BPF_ST:
	case BPF_STX:
		write_slot(&w.cur, f, (uint32_t)(-insn->off / 8 - 1));
		break;
	default:
		if (trace_is_cond_jmp(insn)) {
			if (rnd(2)) {
				bool take = rnd(2);

				push((int32_t)(w.insn + 1) + (take ? 0 : insn->off));
				if (take)
					next = (uint32_t)((int)next + insn->off);
			} else if (rnd(2)) {
				next = (uint32_t)((int)next + insn->off);
			}
			anything(&w.cur);
		} else if (BPF_OP(insn->code) == BPF_JA) {
			next = 0;
		} else if (BPF_OP(insn->code) == BPF_EXIT) {
			if (!f)
				return false;
			next = (uint32_t)w.cur.frame[f].callsite + 1;
			w.cur.curframe--;
			write_reg(&w.cur, f - 1, 0);
		} else if (insn->src_reg == BPF_PSEUDO_CALL && f + 1 < FRAMES) {
			w.cur.curframe++;
			new_frame(&w.cur, f + 1, (int32_t)w.insn);
			next = CALLEE;
		} else {
			anything(&w.cur);
		}
	}
	if (!rnd(50)) {
		HOOK(message, "some text\n", rnd(2));
		w.message_cnt++;
	}
	if (w.ckpt_cnt && !rnd(4))
		mark_and_walk();
	w.prev = w.insn;
	w.pred = at;
	w.insn = next;
	return rnd(800) != 0;
}

static bool pop(void)
{
	struct pend *p;

	if (!w.pending_cnt)
		return false;
	p = &w.pending[--w.pending_cnt];
	HOOK(branch_pop, p->insn, p->prev, as_state(&p->snap, 0));
	w.cur = p->snap;
	w.insn = (uint32_t)p->insn;
	w.prev = (uint32_t)p->prev;
	w.pred = p->pred;
	w.depth = p->depth;
	w.parent = p->parent;
	w.start = true;
	return true;
}

static void explore(uint32_t until)
{
	memset(&w.cur, 0, sizeof(w.cur));
	new_frame(&w.cur, 0, -1);
	w.insn = 0;
	w.prev = w.pred = UINT32_MAX;
	w.depth = w.parent = w.pending_cnt = 0;
	w.start = true;
	HOOK(func_begin, 0);
	while (w.step_cnt < until) {
		if (arrive() || !execute()) {
			if (!pop())
				break;
		}
	}
}

/* --- checks --------------------------------------------------------------------------------- */

static void check_steps(void)
{
	struct loupe_cursor *on = loupe_cursor_create(w.trace),
			    *jump = loupe_cursor_create(w.trace);

	assert_int_equal(loupe_trace_step_cnt(w.trace), w.step_cnt);
	for (uint32_t s = 0; s < w.step_cnt; s++) {
		struct ref_step *r = &w.steps[s];
		struct loupe_step_info info;
		uint32_t any = rnd(w.step_cnt), regs;
		uint64_t slots;

		assert_int_equal(loupe_trace_step(w.trace, s, &info), 0);
		assert_int_equal(info.insn_idx, r->insn);
		assert_int_equal(info.prev, r->pred);
		assert_int_equal(info.path_depth, r->depth);
		assert_int_equal(info.frame_cnt, r->snap->curframe + 1);
		assert_int_equal(info.flags & (LOUPE_STEP_PATH_START | LOUPE_STEP_PRUNED |
					       LOUPE_STEP_PUSH | LOUPE_STEP_CHECKPOINT |
					       LOUPE_STEP_COMPARE | LOUPE_STEP_EVICT),
				 r->flags);
		if (info.next != LOUPE_NO_STEP)
			assert_int_equal(w.steps[info.next].pred, s);
		if (!(r->flags & LOUPE_STEP_PRUNED)) {
			loupe_trace_scratched(w.trace, s, &regs, &slots);
			assert_int_equal(regs, r->insn & 0x7ff);
			assert_int_equal(slots, r->insn % 3 ? 0 : 1ull << (r->insn % 64));
		}
		check_state(loupe_cursor_seek(on, s), r->snap);
		check_state(loupe_cursor_seek(jump, any), w.steps[any].snap);
	}
	assert_null(loupe_cursor_seek(on, w.step_cnt));
	loupe_cursor_destroy(on);
	loupe_cursor_destroy(jump);
}

static struct loupe_loc some_loc(const struct snap *s)
{
	struct loupe_loc loc = { .kind = LOUPE_LOC_REG,
				 .frameno = (uint8_t)rnd(s->curframe + 1),
				 .index = (uint8_t)rnd(LOUPE_MAX_REG) };

	if (rnd(2) && s->frame[loc.frameno].slot_cnt) {
		loc.kind = LOUPE_LOC_SLOT;
		loc.index = (uint8_t)rnd(s->frame[loc.frameno].slot_cnt);
	}
	return loc;
}

static void check_writers(void)
{
	for (uint32_t i = 0; i < 2 * w.step_cnt; i++) {
		uint32_t s = rnd(w.step_cnt);
		const struct snap *snap = w.steps[s].snap;
		struct loupe_loc loc = some_loc(snap);
		struct loupe_value value;
		struct loupe_blame chain[8];
		uint32_t n;

		assert_int_equal(loupe_trace_value(w.trace, s, loc, &value), 0);
		if (loc.kind == LOUPE_LOC_REG) {
			assert_true(
				same_reg(&value.reg, &snap->frame[loc.frameno].regs[loc.index]));
			assert_int_equal(loupe_trace_writer(w.trace, s, loc),
					 snap->writer[loc.frameno][loc.index]);
		} else {
			const struct loupe_slot *slot = &snap->slot[loc.frameno][loc.index];

			assert_int_equal(value.present, !empty(slot));
			if (!value.present)
				continue;
			assert_memory_equal(value.type, slot->type, sizeof(slot->type));
			assert_int_equal(loupe_trace_writer(w.trace, s, loc),
					 snap->writer[loc.frameno][LOUPE_MAX_REG + loc.index]);
		}
		n = loupe_trace_blame_chain(w.trace, s, loc, chain, 8);
		assert_in_range(n, 1, 8);
		assert_int_equal(chain[0].step, loupe_trace_writer(w.trace, s, loc));
		for (uint32_t k = 1; k < n; k++) {
			assert_true(chain[k - 1].from_cnt > 0);
			assert_true(chain[k].step == LOUPE_NO_STEP ||
				    chain[k].step < chain[k - 1].step);
		}
	}
}

static void check_changes(void)
{
	struct loupe_change changes[FRAMES * LOCS];

	for (uint32_t s = 0; s < w.step_cnt; s++) {
		const struct ref_step *r = &w.steps[s];
		const struct snap *now = r->snap;
		const struct snap *old = r->pred == LOUPE_NO_STEP ? NULL : w.steps[r->pred].snap;
		uint32_t want = 0, cnt;

		cnt = loupe_trace_changes(w.trace, s, changes, FRAMES * LOCS);
		for (uint32_t f = 0; f <= now->curframe; f++) {
			bool fresh = !old || f > old->curframe;

			for (uint32_t i = 0; i < LOUPE_MAX_REG; i++)
				want += fresh ||
					!same_reg(&old->frame[f].regs[i], &now->frame[f].regs[i]);
			for (uint32_t i = 0; i < SLOTS; i++)
				want += fresh ? !empty(&now->slot[f][i])
					      : !same_slot(&old->slot[f][i], &now->slot[f][i]);
		}
		assert_int_equal(cnt, want);
		for (uint32_t i = 0; i < cnt; i++) {
			struct loupe_loc loc = changes[i].loc;

			assert_int_equal(changes[i].has_old, old && loc.frameno <= old->curframe);
			if (loc.kind != LOUPE_LOC_REG)
				continue;
			assert_true(same_reg(&changes[i].new_value.reg,
					     &now->frame[loc.frameno].regs[loc.index]));
			if (changes[i].has_old)
				assert_true(same_reg(&changes[i].old_value.reg,
						     &old->frame[loc.frameno].regs[loc.index]));
		}
	}
}

static void check_visits(void)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < INSNS; i++) {
		struct loupe_insn_stats stats;
		uint32_t cnt, at = 0;
		const uint32_t *visits = loupe_trace_visits(w.trace, i, &cnt);

		for (uint32_t s = 0; s < w.step_cnt; s++) {
			if (w.steps[s].insn != i)
				continue;
			assert_true(at < cnt);
			assert_int_equal(visits[at], s);
			assert_int_equal(loupe_trace_prev_visit(w.trace, s),
					 at ? visits[at - 1] : LOUPE_NO_STEP);
			at++;
		}
		assert_int_equal(at, cnt);
		total += cnt;
		assert_int_equal(loupe_trace_insn_stats(w.trace, i, &stats), 0);
		assert_int_equal(stats.visits, cnt);
		assert_int_equal(stats.taken, w.taken[i]);
		assert_int_equal(stats.fell, w.fell[i]);
	}
	assert_int_equal(total, w.step_cnt);
}

static void check_paths(void)
{
	for (uint32_t s = 0; s < w.step_cnt; s += 1 + rnd(5)) {
		struct loupe_decision d[6];
		uint32_t cnt = loupe_trace_decisions(w.trace, s, d, 6), have = 0, turn = s;
		uint32_t parent = 0;

		for (uint32_t at = s; w.steps[at].pred != LOUPE_NO_STEP && have < 6;
		     at = w.steps[at].pred) {
			uint32_t pred = w.steps[at].pred, insn = w.steps[pred].insn;

			if (!trace_is_cond_jmp(&w.insns[insn]))
				continue;
			assert_true(have < cnt);
			assert_int_equal(d[have].step, pred);
			assert_int_equal(d[have].side, w.steps[at].insn == insn + 1
							       ? LOUPE_SIDE_FELL_THROUGH
							       : LOUPE_SIDE_TAKEN);
			assert_int_equal(d[have].other, w.steps[at].flags & LOUPE_STEP_PATH_START
								? LOUPE_OTHER_EARLIER
							: w.steps[pred].flags & LOUPE_STEP_PUSH
								? LOUPE_OTHER_LATER
								: LOUPE_OTHER_IMPOSSIBLE);
			have++;
		}
		assert_int_equal(have, cnt);
		do {
			turn = w.steps[turn].pred;
		} while (turn != LOUPE_NO_STEP && w.steps[turn].insn != w.steps[s].insn);
		assert_int_equal(loupe_trace_prev_turn(w.trace, s), turn);
		for (uint32_t at = w.steps[s].pred; at != LOUPE_NO_STEP && !parent;
		     at = w.steps[at].pred) {
			for (uint32_t c = w.ckpt_cnt; c && !parent; c--)
				parent = w.ckpts[c].born == at ? c : 0;
		}
		assert_int_equal(loupe_trace_parent_checkpoint(w.trace, s), parent);
	}
	for (uint32_t p = 0; p < loupe_trace_path_cnt(w.trace); p++) {
		struct loupe_path_info info, next;

		assert_int_equal(loupe_trace_path(w.trace, p, &info), 0);
		assert_true(info.subtree_end > info.last);
		if (info.subtree_end == w.step_cnt)
			continue;
		assert_int_equal(loupe_trace_path(w.trace,
						  loupe_trace_path_of(w.trace, info.subtree_end),
						  &next),
				 0);
		assert_int_equal(next.first, info.subtree_end);
		assert_true(next.depth <= info.depth);
	}
}

static void check_checkpoints(void)
{
	struct loupe_cursor *cursor = loupe_cursor_create(w.trace);

	assert_int_equal(loupe_trace_checkpoint_cnt(w.trace), w.ckpt_cnt);
	for (uint32_t s = 1; s <= w.ckpt_cnt; s++) {
		const struct ref_ckpt *r = &w.ckpts[s];
		struct loupe_checkpoint_info info;
		struct loupe_compare_info cmp[64];
		uint64_t rows[64], n;
		uint32_t at = 0;

		assert_int_equal(loupe_trace_checkpoint(w.trace, s, &info), 0);
		assert_int_equal(info.insn_idx, r->insn);
		assert_int_equal(info.born, r->born);
		assert_int_equal(info.parent, r->parent);
		assert_int_equal(info.hits, r->hits);
		assert_int_equal(info.misses, r->misses);
		assert_int_equal(info.uncounted, r->uncounted);
		assert_int_equal(info.compares, r->compares);
		assert_int_equal(info.evicted, r->evicted);
		assert_int_equal(info.freed, r->freed);
		assert_int_equal(info.cleaned, r->cleaned);
		check_state(loupe_cursor_seek_checkpoint(cursor, s, LOUPE_NO_ROW), &r->snap);
		n = loupe_trace_checkpoint_compares(w.trace, s, 0, cmp, 64);
		assert_int_equal(n, r->compares < 64 ? r->compares : 64);
		for (uint32_t i = 0; at < n; i++) {
			if (w.compares[i].serial == s)
				assert_int_equal(cmp[at++].row, i);
		}
		assert_true(loupe_trace_checkpoint_marks(w.trace, s, rows, 64) <= r->marks);
	}
	for (uint32_t i = 0; i < w.compare_cnt; i++) {
		const struct ref_compare *r = &w.compares[i];

		if (r->old)
			check_state(loupe_cursor_seek_checkpoint(cursor, r->serial, i), r->old);
	}
	loupe_cursor_destroy(cursor);
}

static void check_compares(void)
{
	static const uint32_t hits = 1u << LOUPE_CMP_HIT;
	uint32_t next = 0;

	assert_int_equal(loupe_trace_rows(w.trace, LOUPE_TABLE_COMPARE), w.compare_cnt);
	for (uint32_t i = 0; i < w.compare_cnt; i++) {
		const struct ref_compare *r = &w.compares[i];
		struct loupe_compare_info info;

		assert_int_equal(loupe_trace_compare(w.trace, i, &info), 0);
		assert_int_equal(info.row, i);
		assert_int_equal(info.step, r->step);
		assert_int_equal(info.serial, r->serial);
		assert_int_equal(info.mode, r->mode);
		assert_int_equal(info.outcome, r->outcome);
		assert_int_equal(info.diff, r->kind);
		assert_int_equal(info.reg, r->reg);
		assert_int_equal(info.spi, r->spi);
		if (r->kind)
			assert_int_equal(info.frameno, r->frameno);
		if (r->outcome == LOUPE_CMP_HIT) {
			assert_int_equal(loupe_trace_find_compare(w.trace, next, true, hits), i);
			assert_int_equal(loupe_trace_find_compare(w.trace, i, false, hits), i);
			next = i + 1;
		}
	}
	assert_true(loupe_trace_find_compare(w.trace, next, true, hits) == LOUPE_NO_ROW);
	for (uint32_t insn = 0; insn < INSNS; insn++) {
		struct loupe_compare_info out[16];
		uint64_t from = rnd(20), n, row = from;

		/* in parts, which is how a long list is read */
		do {
			n = loupe_trace_insn_compares(w.trace, insn, from, out, 1 + rnd(16));
			for (uint32_t i = 0; i < n; i++) {
				while (row < w.compare_cnt &&
				       w.steps[w.compares[row].step].insn != insn)
					row++;
				assert_int_equal(out[i].row, row);
				from = ++row;
			}
		} while (n);
		while (row < w.compare_cnt && w.steps[w.compares[row].step].insn != insn)
			row++;
		assert_true(row >= w.compare_cnt);
	}
}

static void check_tables(void)
{
	assert_int_equal(loupe_trace_rows(w.trace, LOUPE_TABLE_PUSH), w.push_cnt);
	assert_int_equal(loupe_trace_rows(w.trace, LOUPE_TABLE_EVICT), w.evict_cnt);
	assert_int_equal(loupe_trace_rows(w.trace, LOUPE_TABLE_WALK), w.walk_cnt);
	assert_int_equal(loupe_trace_rows(w.trace, LOUPE_TABLE_MESSAGE), w.message_cnt);
	for (uint32_t row = 0; row < w.push_cnt; row++) {
		struct loupe_push_info push;
		struct loupe_path_info path;

		assert_int_equal(loupe_trace_push(w.trace, row, &push), 0);
		assert_true(loupe_trace_first_row(w.trace, LOUPE_TABLE_PUSH, push.step) <= row);
		if (push.path == LOUPE_NO_PATH)
			continue;
		assert_int_equal(loupe_trace_path(w.trace, push.path, &path), 0);
		assert_int_equal(path.push, row);
		assert_int_equal(path.parent_step, push.step);
		assert_int_equal(w.steps[path.first].insn, push.insn_idx);
	}
	for (uint32_t row = 0; row < w.walk_cnt; row++) {
		struct loupe_walk_info walk;

		assert_int_equal(loupe_trace_walk(w.trace, row, &walk), 0);
		assert_int_equal(walk.hops, 1);
		assert_int_equal(walk.mark_cnt, 1);
		assert_int_not_equal(walk.reached, 0);
	}
}

static void run(uint64_t start)
{
	seed = start;
	memset(&w, 0, sizeof(w));
	make_program();
	w.image = (struct loupe_image){ .insns = w.insns, .insn_cnt = INSNS };
	w.trace = loupe_trace_create(&w.image);
	assert_non_null(w.trace);
	w.to = loupe_trace_listener(w.trace);
	trace_recorder_check(w.trace);
	while (w.step_cnt < STEPS)
		explore(w.step_cnt < STEPS / 2 ? STEPS / 2 : STEPS);
	assert_int_equal(trace_recorder_missed(w.trace), 0);
	assert_int_equal(loupe_trace_finish(w.trace), 0);
	keyframes += (uint32_t)w.trace->keyframes.cnt;

	check_steps();
	check_writers();
	check_changes();
	check_visits();
	check_paths();
	check_checkpoints();
	check_compares();
	check_tables();

	for (uint32_t s = 0; s < w.step_cnt; s++)
		free(w.steps[s].snap);
	for (uint32_t i = 0; i < w.compare_cnt; i++)
		free(w.compares[i].old);
	loupe_trace_destroy(w.trace);
}

static void queries_equal_full_copies(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= 4; s++)
		run(s * 0x9e3779b97f4a7c15u);
	assert_in_range(keyframes, 4, STEPS);
}

static void empty_trace_answers(void **state)
{
	struct loupe_insn insn = { .code = BPF_JMP | BPF_EXIT };
	struct loupe_image image = { .insns = &insn, .insn_cnt = 1 };
	struct loupe_trace *t = loupe_trace_create(&image);
	struct loupe_cursor *cursor;
	struct loupe_step_info info;
	uint32_t cnt;

	(void)state;
	assert_int_equal(loupe_trace_finish(t), 0);
	assert_false(loupe_trace_complete(t));
	assert_null(loupe_trace_result(t));
	assert_int_equal(loupe_trace_step_cnt(t), 0);
	assert_int_not_equal(loupe_trace_step(t, 0, &info), 0);
	assert_int_equal(loupe_trace_find_step(t, 0, true, ~0u), LOUPE_NO_STEP);
	assert_int_equal(loupe_trace_find_step(t, 0, false, ~0u), LOUPE_NO_STEP);
	loupe_trace_visits(t, 0, &cnt);
	assert_int_equal(cnt, 0);
	assert_int_equal(loupe_trace_path_of(t, 0), LOUPE_NO_PATH);
	assert_string_equal(loupe_trace_error(t), "");
	cursor = loupe_cursor_create(t);
	assert_null(loupe_cursor_seek(cursor, 0));
	loupe_cursor_destroy(cursor);
	loupe_trace_destroy(t);
	loupe_trace_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_equal_full_copies),
		cmocka_unit_test(empty_trace_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
