// SPDX-License-Identifier: GPL-2.0-only
/* From an abstract program to blocks, edges, subprograms and calls. */
#include "cfg/cfg_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CFG_MAX_INSNS (1u << 24)

enum {
	STARTS_BLOCK = 1,
	STARTS_SUBPROG = 2,
};

struct builder {
	const struct loupe_cfg_insn *insns;
	uint32_t cnt;
	uint8_t *marks; /* per slot */
	struct loupe_cfg *cfg;
	struct loupe_error *err;
};

static bool has_target(uint8_t op)
{
	return op == LOUPE_CFG_JUMP || op == LOUPE_CFG_COND || op == LOUPE_CFG_MAY_GOTO;
}

static bool has_other(uint8_t op)
{
	return op == LOUPE_CFG_COND || op == LOUPE_CFG_MAY_GOTO;
}

static bool names_subprog(uint8_t op)
{
	return op == LOUPE_CFG_CALL || op == LOUPE_CFG_CALLBACK;
}

/* First slot after the instruction that starts at slot i. */
static uint32_t next_slot(const struct builder *b, uint32_t i)
{
	do
		i++;
	while (i < b->cnt && b->insns[i].op == LOUPE_CFG_REST);
	return i;
}

static int check_target(const struct builder *b, uint32_t i, uint32_t target)
{
	const char *verb = names_subprog(b->insns[i].op) ? "refers" : "jumps";

	if (target == LOUPE_CFG_NONE)
		return loupe_error_set(b->err, -EINVAL, "insn %u %s to a place before the program",
				       i, verb);
	if (target >= b->cnt)
		return loupe_error_set(b->err, -EINVAL,
				       "insn %u %s to %u, but the program ends at insn %u", i, verb,
				       target, b->cnt - 1);
	if (b->insns[target].op == LOUPE_CFG_REST)
		return loupe_error_set(b->err, -EINVAL,
				       "insn %u %s to %u, the middle of an instruction", i, verb,
				       target);
	return 0;
}

static int mark_starts(struct builder *b)
{
	int ret;

	b->marks[0] = STARTS_BLOCK | STARTS_SUBPROG;
	if (b->insns[0].op == LOUPE_CFG_REST)
		return loupe_error_set(b->err, -EINVAL, "insn 0 is half an instruction");
	for (uint32_t i = 0; i < b->cnt; i = next_slot(b, i)) {
		const struct loupe_cfg_insn *insn = &b->insns[i];
		uint32_t next = next_slot(b, i);

		if (has_target(insn->op) || names_subprog(insn->op)) {
			ret = check_target(b, i, insn->target);
			if (ret)
				return ret;
			b->marks[insn->target] |= STARTS_BLOCK;
			if (names_subprog(insn->op))
				b->marks[insn->target] |= STARTS_SUBPROG;
		}
		if (has_other(insn->op)) {
			ret = check_target(b, i, insn->other);
			if (ret)
				return ret;
			b->marks[insn->other] |= STARTS_BLOCK;
		}
		if ((has_target(insn->op) || insn->op == LOUPE_CFG_EXIT) && next < b->cnt)
			b->marks[next] |= STARTS_BLOCK;
	}
	return 0;
}

static int allocate(struct builder *b)
{
	struct loupe_cfg *cfg = b->cfg;
	uint32_t blocks = 0, subprogs = 0, calls = 0;

	for (uint32_t i = 0; i < b->cnt; i++) {
		blocks += !!(b->marks[i] & STARTS_BLOCK);
		subprogs += !!(b->marks[i] & STARTS_SUBPROG);
		calls += names_subprog(b->insns[i].op);
	}
	cfg->insn_cnt = b->cnt;
	cfg->insn_block = calloc(b->cnt, sizeof(*cfg->insn_block));
	cfg->insn_line = calloc(b->cnt, sizeof(*cfg->insn_line));
	cfg->blocks = calloc(blocks, sizeof(*cfg->blocks));
	cfg->edges = calloc(2 * (size_t)blocks, sizeof(*cfg->edges));
	cfg->preds = calloc(2 * (size_t)blocks, sizeof(*cfg->preds));
	cfg->subprogs = calloc(subprogs, sizeof(*cfg->subprogs));
	cfg->calls = calloc(calls ? calls : 1, sizeof(*cfg->calls));
	cfg->rpo = calloc(blocks, sizeof(*cfg->rpo));
	if (!cfg->insn_block || !cfg->insn_line || !cfg->blocks || !cfg->edges || !cfg->preds ||
	    !cfg->subprogs || !cfg->calls || !cfg->rpo)
		return -ENOMEM;
	return 0;
}

static void make_blocks(struct builder *b)
{
	struct loupe_cfg *cfg = b->cfg;

	for (uint32_t i = 0; i < b->cnt; i++) {
		if (b->marks[i] & STARTS_SUBPROG) {
			struct loupe_subprog *sub = &cfg->subprogs[cfg->subprog_cnt++];

			sub->first = i;
			sub->first_block = cfg->block_cnt;
		}
		if (b->marks[i] & STARTS_BLOCK) {
			struct loupe_block *block = &cfg->blocks[cfg->block_cnt++];

			block->first = i;
			block->subprog = cfg->subprog_cnt - 1;
			cfg->subprogs[block->subprog].block_cnt++;
		}
		cfg->insn_block[i] = cfg->block_cnt - 1;
		if (i > cfg->blocks[cfg->block_cnt - 1].first)
			cfg->insn_line[i] =
				cfg->insn_line[i - 1] + (b->insns[i].op != LOUPE_CFG_REST);
		cfg->blocks[cfg->block_cnt - 1].last = i;
		cfg->subprogs[cfg->subprog_cnt - 1].last = i;
	}
}

static void add_edge(struct loupe_cfg *cfg, uint32_t from, uint32_t to, enum loupe_edge_kind kind)
{
	cfg->edges[cfg->edge_cnt++] = (struct loupe_edge){ .from = from, .to = to, .kind = kind };
	cfg->blocks[from].succ_cnt++;
	cfg->blocks[to].pred_cnt++;
}

/* The edge from the instruction at slot i, which ends a block, to the one at slot target. */
static int link_slots(struct builder *b, uint32_t i, uint32_t target, enum loupe_edge_kind kind)
{
	struct loupe_cfg *cfg = b->cfg;
	const struct loupe_subprog *sub = &cfg->subprogs[cfg->blocks[cfg->insn_block[i]].subprog];

	if (target < sub->first || target > sub->last) {
		if (kind == LOUPE_EDGE_FALLTHROUGH)
			return loupe_error_set(b->err, -EINVAL,
					       "insn %u is the last of its subprogram, but control "
					       "goes on after it",
					       i);
		return loupe_error_set(
			b->err, -EINVAL,
			"insn %u jumps to %u, out of its subprogram (insns %u to %u)", i, target,
			sub->first, sub->last);
	}
	add_edge(cfg, cfg->insn_block[i], cfg->insn_block[target], kind);
	return 0;
}

static int make_edges(struct builder *b)
{
	struct loupe_cfg *cfg = b->cfg;

	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		struct loupe_block *block = &cfg->blocks[n];
		const struct loupe_cfg_insn *insn;
		uint32_t i = block->last;
		int ret = 0;

		while (b->insns[i].op == LOUPE_CFG_REST)
			i--;
		insn = &b->insns[i];
		block->succ = cfg->edge_cnt;
		switch (insn->op) {
		case LOUPE_CFG_EXIT:
			block->exits = true;
			break;
		case LOUPE_CFG_JUMP:
			ret = link_slots(b, i, insn->target, LOUPE_EDGE_JUMP);
			break;
		case LOUPE_CFG_COND:
		case LOUPE_CFG_MAY_GOTO:
			ret = link_slots(b, i, insn->target,
					 insn->op == LOUPE_CFG_COND ? LOUPE_EDGE_TRUE
								    : LOUPE_EDGE_MAY_GOTO);
			if (!ret)
				ret = link_slots(b, i, insn->other, LOUPE_EDGE_FALSE);
			break;
		default:
			ret = link_slots(b, i, block->last + 1, LOUPE_EDGE_FALLTHROUGH);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static void make_preds(struct loupe_cfg *cfg)
{
	uint32_t next = 0;

	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		cfg->blocks[n].pred = next;
		next += cfg->blocks[n].pred_cnt;
		cfg->blocks[n].pred_cnt = 0;
	}
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		struct loupe_block *to = &cfg->blocks[cfg->edges[e].to];

		cfg->preds[to->pred + to->pred_cnt++] = e;
	}
}

static void make_calls(struct builder *b)
{
	struct loupe_cfg *cfg = b->cfg;

	for (uint32_t i = 0; i < b->cnt; i++) {
		const struct loupe_cfg_insn *insn = &b->insns[i];

		if (!names_subprog(insn->op))
			continue;
		cfg->calls[cfg->call_cnt++] = (struct loupe_cfg_call){
			.insn = i,
			.block = cfg->insn_block[i],
			.callee = cfg->blocks[cfg->insn_block[insn->target]].subprog,
			.callback = insn->op == LOUPE_CFG_CALLBACK,
		};
	}
}

/* Calls are in instruction order, so those of one subprogram are consecutive. */
static int reach_subprogs(struct loupe_cfg *cfg)
{
	uint32_t *first = calloc(2 * (size_t)cfg->subprog_cnt + 1, sizeof(*first));
	uint32_t *stack, depth = 0, call = 0;

	if (!first)
		return -ENOMEM;
	stack = first + cfg->subprog_cnt + 1;
	for (uint32_t s = 0; s < cfg->subprog_cnt; s++) {
		first[s] = call;
		while (call < cfg->call_cnt && cfg->calls[call].insn <= cfg->subprogs[s].last)
			call++;
	}
	first[cfg->subprog_cnt] = call;
	cfg->subprogs[0].reachable = true;
	stack[depth++] = 0;
	while (depth) {
		uint32_t s = stack[--depth];

		for (call = first[s]; call < first[s + 1]; call++) {
			struct loupe_subprog *callee = &cfg->subprogs[cfg->calls[call].callee];

			if (callee->reachable || !cfg->blocks[cfg->calls[call].block].reachable)
				continue;
			callee->reachable = true;
			stack[depth++] = cfg->calls[call].callee;
		}
	}
	free(first);
	return 0;
}

static int analyse(struct loupe_cfg *cfg)
{
	struct cfg_dfs dfs = { 0 };
	int ret = cfg_order(cfg, &dfs);

	if (!ret)
		ret = cfg_dominators(cfg, &dfs);
	if (!ret)
		ret = cfg_loops(cfg, &dfs);
	cfg_dfs_finish(&dfs);
	return ret ? ret : reach_subprogs(cfg);
}

int loupe_cfg_build(const struct loupe_cfg_insn *insns, uint32_t cnt, struct loupe_cfg **out,
		    struct loupe_error *err)
{
	struct builder b = { .insns = insns, .cnt = cnt, .err = err };
	int ret;

	*out = NULL;
	if (!cnt)
		return loupe_error_set(err, -EINVAL, "the program has no instructions");
	if (cnt >= CFG_MAX_INSNS)
		return loupe_error_set(err, -EINVAL,
				       "the program has %u instructions, at most %u "
				       "can be drawn",
				       cnt, CFG_MAX_INSNS - 1);
	b.marks = calloc(cnt, 1);
	b.cfg = calloc(1, sizeof(*b.cfg));
	ret = b.marks && b.cfg ? mark_starts(&b) : -ENOMEM;
	if (!ret)
		ret = allocate(&b);
	if (!ret) {
		make_blocks(&b);
		ret = make_edges(&b);
	}
	if (!ret) {
		make_preds(b.cfg);
		make_calls(&b);
		ret = analyse(b.cfg);
	}
	free(b.marks);
	if (ret) {
		loupe_cfg_destroy(b.cfg);
		return ret == -ENOMEM ? loupe_error_set(err, ret, "out of memory") : ret;
	}
	*out = b.cfg;
	return 0;
}

void loupe_cfg_destroy(struct loupe_cfg *cfg)
{
	if (!cfg)
		return;
	free(cfg->insn_block);
	free(cfg->insn_line);
	free(cfg->blocks);
	free(cfg->edges);
	free(cfg->preds);
	free(cfg->subprogs);
	free(cfg->calls);
	free(cfg->rpo);
	free(cfg->loops);
	free(cfg->loop_blocks);
	free(cfg);
}

uint32_t loupe_cfg_line_insn(const struct loupe_cfg *cfg, uint32_t block, uint32_t line)
{
	uint32_t lo = cfg->blocks[block].first, hi = cfg->blocks[block].last;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (cfg->insn_line[mid] < line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void loupe_cfg_match(const struct loupe_cfg *cfg, const struct loupe_cfg *other,
		     const uint32_t *other_insn, uint32_t *match)
{
	for (uint32_t n = 0; n < cfg->block_cnt; n++) {
		uint32_t most = 0, run = 0, in_run = LOUPE_CFG_NONE;

		/* instructions that stay together are neighbours: runs are enough */
		match[n] = LOUPE_CFG_NONE;
		for (uint32_t i = cfg->blocks[n].first; i <= cfg->blocks[n].last; i++) {
			uint32_t to = other_insn[i] < other->insn_cnt
					      ? other->insn_block[other_insn[i]]
					      : LOUPE_CFG_NONE;

			if (to == LOUPE_CFG_NONE)
				continue;
			run = to == in_run ? run + 1 : 1;
			in_run = to;
			if (run > most) {
				most = run;
				match[n] = to;
			}
		}
	}
}

const char *loupe_edge_kind_name(enum loupe_edge_kind kind)
{
	static const char *const names[] = {
		[LOUPE_EDGE_FALLTHROUGH] = "fallthrough",
		[LOUPE_EDGE_JUMP] = "jump",
		[LOUPE_EDGE_TRUE] = "true",
		[LOUPE_EDGE_FALSE] = "false",
		[LOUPE_EDGE_MAY_GOTO] = "may_goto",
	};

	return names[kind];
}
