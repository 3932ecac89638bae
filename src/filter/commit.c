// SPDX-License-Identifier: GPL-2.0-only
#include "filter/commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char pass_tests[] = "jump-threading", pass_loads[] = "redundant-load";
static const char pass_share[] = "share-suffixes", pass_layout[] = "layout";
static const char pass_synth[] = "resynthesis";

/* By enum filter_ir_reason: what is said of a way that leads elsewhere, and whose work it was. */
static const struct {
	const char *pass;
	struct loupe_reason with, without; /* with the instruction led over, or not */
} leads[] = {
	[FILTER_IR_AS_BEFORE] = { pass_share,
				  { "same-suffix",
				    "what starts at %i is the same as what was here" },
				  { "same-suffix", "the same is there" } },
	[FILTER_IR_DECIDED] = { pass_tests,
				{ "decided", "on this way the outcome of %i, %d, is known" },
				{ "decided", "on this way the outcome is known" } },
	[FILTER_IR_HELD] = { pass_loads,
			     { "held", "on this way the register holds what %i, %d, loads" },
			     { "held", "on this way the register holds it already" } },
	[FILTER_IR_UNUSED] = { pass_loads,
			       { "unused", "on this way nobody uses what %i, %d, makes" },
			       { "unused", "on this way nobody uses it" } },
};

static const struct loupe_reason starts_there = {
	"starts-there",
	"whatever the input, the filter gets to %i, %d, and needs nothing of what is before"
};
static const struct loupe_reason other_words = { "other-words", "the same test, written as %d" };
static const struct loupe_reason parts = { "parts", "what follows, %i, will be elsewhere" };
static const struct loupe_reason near = { "near", "it goes near what it leads to" };
static const struct loupe_reason to_next = { "to-next", "%i is the next instruction now" };
static const struct loupe_reason as_short = { "as-short",
					      "%i once more is as short as a jump to it" };
static const struct loupe_reason too_far = { "too-far", "a test reaches 255 instructions far" };
static const struct loupe_reason by_way = { "by-way", "it is as good, and in reach" };

/* What is said of an instruction of a filter that was built anew. */
static const struct loupe_reason builds[] = {
	{ "answers", "one of the answers" },
	{ "asks", "%d is what decides next" },
	{ "tells-numbers", "one of the fewest tests that tell the numbers apart" },
	{ "tells-values", "one of the fewest tests that tell the values of a word apart" },
	{ "leads-on", "what follows has another instruction before it, or is far" },
};
static const struct loupe_reason instead = { "built-anew",
					     "the filter that starts at %i decides the same" };

struct committer {
	struct filter_opt *opt;
	const struct filter_ir *ir;
	const struct filter_ir_code *code;
	uint32_t *ids;	   /* by item: id in the rewrite, LOUPE_NONE: not there yet */
	uint32_t *item_of; /* by index before: item, LOUPE_NONE: it does not stay */
	uint32_t *jump_of; /* by index before: the jump that stands behind it, LOUPE_NONE: none */
	uint32_t entry;	   /* a jump that leads to the start, LOUPE_NONE: none is needed */
};

static const struct filter_ir_node *node_at(const struct committer *c, uint32_t item)
{
	return &c->ir->nodes[c->code->items[item].node];
}

/* Whether the item is a node itself rather than what stands in for one. */
static bool is_own(const struct committer *c, uint32_t item)
{
	return c->code->items[item].node != FILTER_IR_NONE && !c->code->items[item].copy;
}

static bool is_plain(uint16_t code)
{
	return !filter_is_ret(code) && BPF_CLASS(code) != BPF_JMP;
}

static int insert(struct committer *c, const char *pass, uint32_t where,
		  struct loupe_cbpf_insn insn, uint32_t jt, uint32_t jf,
		  const struct loupe_reason *reason, uint32_t arg, uint32_t *id)
{
	struct loupe_edit edit = { .pass = pass,
				   .reason = reason,
				   .args = { arg },
				   .kind = LOUPE_EDIT_INSERTED,
				   .id = LOUPE_NONE,
				   .cnt = 1,
				   .where = where,
				   .into = LOUPE_NONE,
				   .jt = jt,
				   .jf = jf };

	edit.insn.cbpf = insn;
	return loupe_rewrite_edit(c->opt->rw, &edit, id);
}

static int insert_jump(struct committer *c, const char *pass, uint32_t where, uint32_t to,
		       const struct loupe_reason *reason, uint32_t *id)
{
	const struct loupe_cbpf_insn ja = { BPF_JMP | BPF_JA, 0, 0, 0 };

	return insert(c, pass, where, ja, to, LOUPE_NONE, reason, to, id);
}

static int committer_init(struct committer *c, struct filter_opt *opt, const struct filter_ir *ir,
			  const struct filter_ir_code *code)
{
	uint32_t cnt = opt->filter->cnt;

	*c = (struct committer){ .opt = opt, .ir = ir, .code = code, .entry = LOUPE_NONE };
	c->ids = malloc(code->cnt * sizeof(*c->ids));
	c->item_of = malloc(cnt * sizeof(*c->item_of));
	c->jump_of = malloc(cnt * sizeof(*c->jump_of));
	if (!c->ids || !c->item_of || !c->jump_of)
		return -ENOMEM;
	memset(c->ids, 0xff, code->cnt * sizeof(*c->ids));
	memset(c->item_of, 0xff, cnt * sizeof(*c->item_of));
	memset(c->jump_of, 0xff, cnt * sizeof(*c->jump_of));
	return filter_opt_number(opt);
}

static void committer_finish(struct committer *c)
{
	free(c->ids);
	free(c->item_of);
	free(c->jump_of);
}

/* ---- a graph of what was there ------------------------------------------------------------ */

static uint32_t origin_of(const struct committer *c, uint32_t node)
{
	return c->ir->nodes[node].origin;
}

static int find_items(struct committer *c)
{
	for (uint32_t i = 0; i < c->code->cnt; i++) {
		uint32_t origin;

		if (!is_own(c, i))
			continue;
		origin = node_at(c, i)->origin;
		if (origin >= c->opt->filter->cnt || c->item_of[origin] != LOUPE_NONE)
			return -EINVAL;
		c->item_of[origin] = i;
		c->ids[i] = origin;
	}
	return 0;
}

/* Leads one way of an instruction to where it leads in the graph. */
static int lead(struct committer *c, uint32_t id, enum loupe_way way, uint32_t to,
		struct filter_ir_why why)
{
	bool with = true;
	uint32_t at = why.at;

	if (rewrite_list_target(c->opt->list, id, way) == to)
		return 0;
	if (why.reason == FILTER_IR_AS_BEFORE)
		at = to;
	else
		with = at != LOUPE_NONE;
	c->opt->pass = leads[why.reason].pass;
	return filter_retarget(c->opt, id, way, to,
			       with ? &leads[why.reason].with : &leads[why.reason].without,
			       FILTER_ARGS(at, at));
}

/* Is insn the node's test? The graph knows A >= k only as A > k - 1. */
static bool is_test_of(struct loupe_cbpf_insn insn, const struct filter_ir_node *n)
{
	if (insn.code == (BPF_JMP | BPF_JGE | BPF_K) && insn.k) {
		insn.code = BPF_JMP | BPF_JGT | BPF_K;
		insn.k--;
	}
	return n->code == insn.code && n->k == insn.k;
}

/* Says a test in the graph's words. */
static int reword(struct committer *c, uint32_t id, const struct filter_ir_node *n)
{
	struct loupe_edit edit = { .pass = pass_share,
				   .reason = &other_words,
				   .args = { id },
				   .kind = LOUPE_EDIT_REPLACED,
				   .id = id,
				   .cnt = 1,
				   .where = LOUPE_NONE,
				   .into = LOUPE_NONE,
				   .jt = origin_of(c, n->t),
				   .jf = origin_of(c, n->f) };

	edit.insn.cbpf = (struct loupe_cbpf_insn){ n->code, 0, 0, n->k };
	return loupe_rewrite_edit(c->opt->rw, &edit, NULL);
}

/* Lets a load lead where it leads in the graph; a jump behind it where it cannot stay before it. */
static int lead_plain(struct committer *c, uint32_t id, const struct filter_ir_node *n,
		      uint32_t item)
{
	uint32_t next = filter_node(c->opt, id)->next, to = origin_of(c, n->t);

	if (filter_is_ja(filter_insn(c->opt, next).code) && c->opt->ins[next] == 1) {
		c->jump_of[id] = next;
		return lead(c, next, LOUPE_WAY_JUMP, to, n->why[0]);
	}
	if (next == to && is_own(c, item + 1))
		return 0;
	return insert_jump(c, pass_layout, next, to, &parts, &c->jump_of[id]);
}

/* From the start on, so that what is known at an instruction holds when its ways change. */
static int lead_all(struct committer *c)
{
	uint32_t start = c->opt->list->first;
	int err = 0;

	if (c->ids[0] != start)
		err = insert_jump(c, pass_loads, start, c->ids[0], &starts_there, &c->entry);
	for (uint32_t id = 0; !err && id < c->opt->filter->cnt; id++) {
		const struct filter_ir_node *n;
		struct loupe_cbpf_insn insn = c->opt->filter->insns[id];

		if (c->item_of[id] == LOUPE_NONE)
			continue;
		n = node_at(c, c->item_of[id]);
		if (n->f != FILTER_IR_NONE) {
			if (!is_test_of(insn, n)) {
				err = reword(c, id, n);
				continue;
			}
			err = lead(c, id, LOUPE_WAY_TRUE, origin_of(c, n->t), n->why[0]);
			if (!err)
				err = lead(c, id, LOUPE_WAY_FALSE, origin_of(c, n->f), n->why[1]);
		} else if (n->t != FILTER_IR_NONE) {
			err = lead_plain(c, id, n, c->item_of[id]);
		}
	}
	return err;
}

/* Moves what stands from id to where it goes somewhere else to before at. */
static int move(struct committer *c, uint32_t id, uint32_t at)
{
	struct loupe_edit edit = { .pass = pass_layout,
				   .reason = &near,
				   .kind = LOUPE_EDIT_MOVED,
				   .id = id,
				   .cnt = 1,
				   .where = at,
				   .into = LOUPE_NONE,
				   .jt = LOUPE_NONE,
				   .jf = LOUPE_NONE };

	while (is_plain(filter_insn(c->opt, id).code)) {
		id = filter_node(c->opt, id)->next;
		edit.cnt++;
	}
	return loupe_rewrite_edit(c->opt->rw, &edit, NULL);
}

static int order(struct committer *c)
{
	uint32_t prev = c->entry;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->code->cnt; i++) {
		uint32_t id = c->ids[i], at;

		if (id == LOUPE_NONE)
			continue;
		at = prev == LOUPE_NONE ? c->opt->list->first : filter_node(c->opt, prev)->next;
		/* The jump behind a load goes where the load goes. */
		if (prev != LOUPE_NONE && prev != c->entry && c->jump_of[prev] != LOUPE_NONE)
			at = filter_node(c->opt, at)->next;
		if (at != id)
			err = move(c, id, at);
		prev = id;
	}
	return err;
}

/* A jump behind a load becomes a copy of the test or return that it leads to. */
static int copy_here(struct committer *c, uint32_t item)
{
	const struct filter_ir_node *n = node_at(c, item);
	struct loupe_edit edit = { .pass = pass_layout,
				   .reason = &as_short,
				   .args = { n->origin },
				   .kind = LOUPE_EDIT_REPLACED,
				   .id = c->ids[item],
				   .cnt = 1,
				   .where = LOUPE_NONE,
				   .into = LOUPE_NONE,
				   .jt = LOUPE_NONE,
				   .jf = LOUPE_NONE };

	edit.insn.cbpf = (struct loupe_cbpf_insn){ n->code, 0, 0, n->k };
	if (n->f != FILTER_IR_NONE) {
		edit.jt = origin_of(c, n->t);
		edit.jf = origin_of(c, n->f);
	}
	return loupe_rewrite_edit(c->opt->rw, &edit, NULL);
}

/* Jumps behind loads go, stay, or become what they lead to. */
static int settle_jumps(struct committer *c)
{
	int err = 0;

	c->opt->pass = pass_layout;
	for (uint32_t i = 0; !err && i < c->code->cnt; i++) {
		uint32_t jump = is_own(c, i) ? c->jump_of[c->ids[i]] : LOUPE_NONE;

		if (jump == LOUPE_NONE)
			continue;
		if (is_own(c, i + 1)) {
			err = filter_remove(c->opt, jump, 1, &to_next, FILTER_ARGS(c->ids[i + 1]));
			continue;
		}
		c->ids[i + 1] = jump;
		if (c->code->items[i + 1].copy)
			err = copy_here(c, i + 1);
	}
	if (!err && c->entry != LOUPE_NONE)
		err = filter_remove(c->opt, c->entry, 1, &to_next, FILTER_ARGS(c->ids[0]));
	return err;
}

/* Puts in what stands in for targets that are too far away, and leads tests there. */
static int reach(struct committer *c)
{
	int err = 0;

	for (uint32_t i = c->code->cnt; !err && i--;) {
		const struct filter_ir_item *item = &c->code->items[i];

		if (c->ids[i] != LOUPE_NONE)
			continue;
		err = insert(c, pass_layout, c->ids[i + 1], item->insn,
			     item->jt == LOUPE_NONE ? LOUPE_NONE : c->ids[item->jt], LOUPE_NONE,
			     &too_far, 0, &c->ids[i]);
	}
	if (!err)
		err = filter_opt_number(c->opt);
	for (uint32_t i = 0; !err && i < c->code->cnt; i++) {
		const struct filter_ir_item *item = &c->code->items[i];

		if (item->jf == LOUPE_NONE)
			continue;
		c->opt->pass = pass_layout;
		if (rewrite_list_target(c->opt->list, c->ids[i], LOUPE_WAY_TRUE) !=
		    c->ids[item->jt])
			err = filter_retarget(c->opt, c->ids[i], LOUPE_WAY_TRUE, c->ids[item->jt],
					      &by_way, FILTER_ARGS(0));
		if (!err && rewrite_list_target(c->opt->list, c->ids[i], LOUPE_WAY_FALSE) !=
				    c->ids[item->jf])
			err = filter_retarget(c->opt, c->ids[i], LOUPE_WAY_FALSE, c->ids[item->jf],
					      &by_way, FILTER_ARGS(0));
	}
	return err;
}

static int take_out_unreachable(struct filter_opt *opt)
{
	int ret = filter_opt_number(opt);

	opt->pass = "unreachable";
	if (!ret)
		ret = filter_pass_unreachable(opt);
	return ret < 0 ? ret : 0;
}

int filter_commit_graph(struct filter_opt *opt, const struct filter_ir *ir,
			const struct filter_ir_code *code)
{
	struct committer c;
	int err = committer_init(&c, opt, ir, code);

	if (!err)
		err = find_items(&c);
	if (!err)
		err = lead_all(&c);
	if (!err)
		err = take_out_unreachable(opt);
	if (!err)
		err = order(&c);
	if (!err)
		err = settle_jumps(&c);
	if (!err)
		err = reach(&c);
	committer_finish(&c);
	return err;
}

/* ---- a graph built anew ------------------------------------------------------------------- */

/* Marks the nodes that run before any argument is asked for. */
static void mark_numbers(const struct filter_ir *ir, uint8_t *numbers)
{
	numbers[ir->entry] = 1;
	for (uint32_t i = ir->entry + 1; i--;) {
		const struct filter_ir_node *n = &ir->nodes[i];

		if (!numbers[i] || n->t == FILTER_IR_NONE ||
		    (n->code == FILTER_LD_WORD && n->k > FILTER_WORD_ARCH))
			continue;
		numbers[n->t] = 1;
		if (n->f != FILTER_IR_NONE)
			numbers[n->f] = 1;
	}
}

static const struct loupe_reason *reason_to_build(const struct committer *c, uint32_t item,
						  const uint8_t *numbers)
{
	const struct filter_ir_node *n;

	if (!is_own(c, item))
		return &builds[4];
	n = node_at(c, item);
	if (filter_is_ret(n->code))
		return &builds[0];
	if (n->f == FILTER_IR_NONE)
		return &builds[1];
	return numbers[c->code->items[item].node] ? &builds[2] : &builds[3];
}

static int insert_all(struct committer *c, const uint8_t *numbers)
{
	uint32_t where = LOUPE_NONE;
	int err = 0;

	for (uint32_t i = c->code->cnt; !err && i--;) {
		const struct filter_ir_item *item = &c->code->items[i];

		err = insert(c, pass_synth, where, item->insn,
			     item->jt == LOUPE_NONE ? LOUPE_NONE : c->ids[item->jt],
			     item->jf == LOUPE_NONE ? LOUPE_NONE : c->ids[item->jf],
			     reason_to_build(c, i, numbers), c->opt->list->id_cnt, &c->ids[i]);
		where = c->ids[i];
	}
	return err;
}

int filter_commit_new(struct filter_opt *opt, const struct filter_ir *ir,
		      const struct filter_ir_code *code)
{
	uint8_t *numbers = calloc(ir->cnt, 1);
	struct committer c;
	int err = committer_init(&c, opt, ir, code);

	if (!err && !numbers)
		err = -ENOMEM;
	if (!err) {
		mark_numbers(ir, numbers);
		err = insert_all(&c, numbers);
	}
	if (!err)
		err = insert_jump(&c, pass_synth, opt->list->first, c.ids[0], &instead, &c.entry);
	if (!err)
		err = take_out_unreachable(opt);
	opt->pass = pass_synth;
	if (!err)
		err = filter_remove(opt, c.entry, 1, &to_next, FILTER_ARGS(c.ids[0]));
	committer_finish(&c);
	free(numbers);
	return err;
}
