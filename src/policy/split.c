// SPDX-License-Identifier: GPL-2.0-only
#include "policy/split.h"

#include "filter/plan.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <stdlib.h>

/* Cells of a plan, and what they lead to. */
struct cells {
	struct filter_plan_cell *cells;
	uint32_t cnt;
	uint32_t *targets; /* all different */
	uint32_t target_cnt;
};

static uint32_t number_of(struct cells *c, uint32_t target)
{
	uint32_t t = 0;

	while (t < c->target_cnt && c->targets[t] != target)
		t++;
	if (t == c->target_cnt)
		c->targets[c->target_cnt++] = target;
	return t;
}

static void add_item(struct cells *c, const struct split_item *item)
{
	uint32_t to = number_of(c, item->target);

	if (c->cnt && c->cells[c->cnt - 1].to == to)
		c->cells[c->cnt - 1].weight += item->weight;
	else
		c->cells[c->cnt++] = (struct filter_plan_cell){ item->lo, to, item->weight };
}

static uint32_t make_test(void *arg, uint16_t op, uint32_t k, uint32_t t, uint32_t f)
{
	enum code_kind kind = op == BPF_JEQ ? CODE_JEQ : op == BPF_JGE ? CODE_JGE : CODE_JSET;

	return code_jump(arg, kind, k, t, f);
}

int split_build(struct code *code, const struct split_item *items, uint32_t cnt, uint32_t *out)
{
	struct cells c = { .cells = malloc(cnt * sizeof(*c.cells)),
			   .targets = malloc(cnt * sizeof(*c.targets)) };
	struct filter_plan *plan = NULL;

	if (c.cells && c.targets) {
		for (uint32_t i = 0; i < cnt; i++)
			add_item(&c, &items[i]);
		plan = filter_plan_create(c.cells, c.cnt, FILTER_SIZE_COST, true);
	}
	if (plan)
		*out = filter_plan_emit(plan, c.targets, make_test, code);
	free(c.cells);
	free(c.targets);
	if (!plan)
		return -ENOMEM;
	filter_plan_destroy(plan);
	return 0;
}
