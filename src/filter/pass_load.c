// SPDX-License-Identifier: GPL-2.0-only
/*
 * Redundant loads: along a chain in which each instruction has one way that leads to it, the
 * values of A, X and M[] are known by where they were made. A load, transfer or store that puts a
 * value where it already is goes.
 *
 * Values have numbers: the id of the instruction that made it, or a number above all ids for one
 * that no single instruction made (what a join left).
 */
#include "filter/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct loupe_reason same_block = { "same-block",
						"%i loaded %d before, and it is still there" };
static const struct loupe_reason only_way = {
	"only-way-here", "the only way here is %i (%e); A still holds %d, loaded at %i"
};
static const struct loupe_reason only_way_x = {
	"only-way-here", "the only way here is %i (%e); X still holds %d, loaded at %i"
};
static const struct loupe_reason starts_zero = { "starts-zero",
						 "A and X are 0 when a filter starts" };
static const struct loupe_reason already_copied = { "already-copied",
						    "both sides hold the same value since %i: %d" };
static const struct loupe_reason already_equal = { "already-equal",
						   "both sides hold the same value already" };

struct values {
	uint32_t a, x, m[BPF_MEMWORDS];
};

struct tracker {
	struct filter_opt *opt;
	struct values *in; /* by id, where one way leads here */
	uint32_t *branch;  /* by id: last branch on the chain, LOUPE_NONE if none */
	uint8_t *branch_way;
	uint32_t *x_used; /* by id of an indirect load: value of X that it used */
	uint32_t zero;	  /* number of the constant 0 that A and X start with */
	uint32_t next;	  /* next number that no instruction has */
};

static struct values unknown(struct tracker *t)
{
	struct values v = { .a = t->next++, .x = t->next++ };

	for (int i = 0; i < BPF_MEMWORDS; i++)
		v.m[i] = t->next++;
	return v;
}

/* Ancillary words that a second load finds unchanged. */
static bool stable_ancillary(uint32_t offset)
{
	switch (offset) {
	case SKF_AD_PROTOCOL:
	case SKF_AD_PKTTYPE:
	case SKF_AD_IFINDEX:
	case SKF_AD_MARK:
	case SKF_AD_QUEUE:
	case SKF_AD_HATYPE:
	case SKF_AD_RXHASH:
	case SKF_AD_VLAN_TAG:
	case SKF_AD_VLAN_TAG_PRESENT:
	case SKF_AD_VLAN_TPID:
		return true;
	default:
		return false;
	}
}

/* Whether a load of insn would give the value with this number. */
static bool would_give(const struct tracker *t, struct loupe_cbpf_insn insn, uint32_t value,
		       uint32_t x)
{
	enum filter_form form = filter_opcode_of(insn.code)->form;
	struct loupe_cbpf_insn maker;

	if (value == t->zero)
		return form == FORM_IMM && !insn.k;
	if (value >= t->opt->list->id_cnt)
		return false;
	maker = filter_insn(t->opt, value);
	if (filter_opcode_of(maker.code)->form != form)
		return false;
	switch (form) {
	case FORM_LEN:
		return true;
	case FORM_IMM:
	case FORM_MSH:
		return maker.k == insn.k;
	case FORM_ABS:
		if (t->opt->filter->flavour == LOUPE_FILTER_SOCKET && insn.k >= FILTER_AD_OFF &&
		    !stable_ancillary(insn.k - FILTER_AD_OFF))
			return false;
		return maker.code == insn.code && maker.k == insn.k;
	case FORM_IND:
		return maker.code == insn.code && maker.k == insn.k && t->x_used[value] == x;
	default:
		return false;
	}
}

static int drop_load(struct tracker *t, uint32_t id, uint32_t value, bool to_x)
{
	uint32_t branch = t->branch[id];

	if (value == t->zero)
		return filter_remove(t->opt, id, 1, &starts_zero, FILTER_ARGS(0));
	if (branch == LOUPE_NONE || t->opt->pos[value] > t->opt->pos[branch])
		return filter_remove(t->opt, id, 1, &same_block, FILTER_ARGS(value, value));
	return filter_remove(t->opt, id, 1, to_x ? &only_way_x : &only_way,
			     FILTER_ARGS(branch, t->branch_way[id], value, value));
}

static int drop_copy(struct tracker *t, uint32_t id, uint32_t value)
{
	if (value < t->opt->list->id_cnt)
		return filter_remove(t->opt, id, 1, &already_copied, FILTER_ARGS(value, value));
	return filter_remove(t->opt, id, 1, &already_equal, FILTER_ARGS(0));
}

/* Copies a value into a place, or drops the instruction if it is there. 1 when dropped. */
static int copy(struct tracker *t, uint32_t id, uint32_t from, uint32_t *to)
{
	int err;

	if (from != *to) {
		*to = from;
		return 0;
	}
	err = drop_copy(t, id, from);
	return err ? err : 1;
}

/* A load from outside into A or X, the same way. */
static int load(struct tracker *t, uint32_t id, struct loupe_cbpf_insn insn, struct values *v)
{
	bool to_x = BPF_CLASS(insn.code) == BPF_LDX;
	uint32_t *to = to_x ? &v->x : &v->a;
	int err;

	if (would_give(t, insn, *to, v->x)) {
		err = drop_load(t, id, *to, to_x);
		return err ? err : 1;
	}
	t->x_used[id] = v->x;
	*to = id;
	return 0;
}

/* What an instruction does to the values; 1 when it was dropped. */
static int step(struct tracker *t, uint32_t id, struct values *v)
{
	struct loupe_cbpf_insn insn = filter_insn(t->opt, id);
	uint32_t from;

	switch (filter_opcode_of(insn.code)->form) {
	case FORM_ABS:
	case FORM_IND:
	case FORM_IMM:
	case FORM_LEN:
	case FORM_MSH:
		return load(t, id, insn, v);
	case FORM_MEM:
		return copy(t, id, v->m[insn.k], BPF_CLASS(insn.code) == BPF_LDX ? &v->x : &v->a);
	case FORM_ST:
		from = BPF_CLASS(insn.code) == BPF_STX ? v->x : v->a;
		/* Needless for us, but the kernel may want to see it. */
		if (from == v->m[insn.k] && !filter_scratch_ok(t->opt, LOUPE_NONE, id, 1))
			return 0;
		return copy(t, id, from, &v->m[insn.k]);
	case FORM_MISC:
		if (insn.code == (BPF_MISC | BPF_TAX))
			return copy(t, id, v->a, &v->x);
		return copy(t, id, v->x, &v->a);
	case FORM_ALU_K:
	case FORM_ALU_X:
	case FORM_NEG:
		v->a = id;
		return 0;
	default:
		return 0;
	}
}

/* Hands the values on to the instructions that only this one leads to. */
static void hand_on(struct tracker *t, uint32_t id, const struct values *v)
{
	enum loupe_way way[2];
	uint32_t to[2];

	for (unsigned int i = filter_ways(t->opt, id, to, way); i--;) {
		if (t->opt->ins[to[i]] != 1)
			continue;
		t->in[to[i]] = *v;
		t->branch[to[i]] = way[i] == LOUPE_WAY_FALL ? t->branch[id] : id;
		t->branch_way[to[i]] =
			(uint8_t)(way[i] == LOUPE_WAY_FALL ? t->branch_way[id] : way[i]);
	}
}

static int walk(struct tracker *t)
{
	struct filter_opt *opt = t->opt;
	uint32_t next;
	int edits = 0;

	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = next) {
		struct values v;
		int made;

		next = filter_node(opt, id)->next;
		if (id == opt->list->first) {
			v = unknown(t);
			v.a = v.x = t->zero;
		} else {
			v = opt->ins[id] == 1 ? t->in[id] : unknown(t);
		}
		made = step(t, id, &v);
		if (made < 0)
			return made;
		edits += made;
		if (made) {
			/* Whoever reached it now reaches the one behind it, in the same way. */
			if (opt->ins[next] == 1) {
				t->in[next] = v;
				t->branch[next] = t->branch[id];
				t->branch_way[next] = t->branch_way[id];
			}
			continue;
		}
		hand_on(t, id, &v);
	}
	return edits;
}

int filter_pass_load(struct filter_opt *opt)
{
	uint32_t cnt = opt->list->id_cnt;
	struct tracker t = {
		.opt = opt,
		.in = malloc(cnt * sizeof(*t.in)),
		.branch = malloc(cnt * sizeof(*t.branch)),
		.branch_way = calloc(cnt, sizeof(*t.branch_way)),
		.x_used = calloc(cnt, sizeof(*t.x_used)),
		.zero = cnt,
		.next = cnt + 1,
	};
	int edits = -ENOMEM;

	if (t.in && t.branch && t.branch_way && t.x_used) {
		memset(t.branch, 0xff, cnt * sizeof(*t.branch));
		edits = walk(&t);
	}
	free(t.in);
	free(t.branch);
	free(t.branch_way);
	free(t.x_used);
	return edits;
}
