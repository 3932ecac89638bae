// SPDX-License-Identifier: GPL-2.0-only
/* Counting processed instructions by parts of the program. */
#include "cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *cost_by_name(enum cost_by by)
{
	static const char *const names[] = { "line", "function", "insn", "branch" };

	return names[by];
}

void cost_finish(struct cost *cost)
{
	free(cost->rows);
	*cost = (struct cost){ 0 };
}

/* ---- calls -------------------------------------------------------------------------------- */

/* A chain of calls: what was processed in it, and in what it called. */
struct chain {
	uint32_t parent;   /* NO_CHAIN at a function's start */
	uint32_t callsite; /* insn of the call, NO_CHAIN at a function's start */
	uint32_t func;	   /* number of the function that it ends in */
	uint32_t depth;	   /* frames */
	uint32_t first_child, next_sibling;
	uint64_t steps;	   /* of it alone, then with what it called */
};

#define NO_CHAIN UINT32_MAX

struct chains {
	const struct loupe_trace *trace;
	struct chain *at;
	uint32_t cnt, cap;
	uint32_t *of_step; /* per step: its chain */
};

static uint32_t add_chain(struct chains *chains, uint32_t parent, uint32_t callsite, uint32_t func)
{
	struct chain *chain;

	if (chains->cnt == chains->cap) {
		uint32_t cap = chains->cap ? chains->cap * 2 : 64;
		struct chain *at = realloc(chains->at, cap * sizeof(*at));

		if (!at)
			return NO_CHAIN;
		chains->at = at;
		chains->cap = cap;
	}
	chain = &chains->at[chains->cnt];
	*chain = (struct chain){ .parent = parent, .callsite = callsite, .func = func, .depth = 1,
				 .first_child = NO_CHAIN, .next_sibling = NO_CHAIN };
	if (parent != NO_CHAIN) {
		chain->depth = chains->at[parent].depth + 1;
		chain->next_sibling = chains->at[parent].first_child;
		chains->at[parent].first_child = chains->cnt;
	}
	return chains->cnt++;
}

static uint32_t child_chain(struct chains *chains, uint32_t parent, uint32_t callsite,
			    uint32_t func)
{
	for (uint32_t c = chains->at[parent].first_child; c != NO_CHAIN;
	     c = chains->at[c].next_sibling) {
		if (chains->at[c].callsite == callsite && chains->at[c].func == func)
			return c;
	}
	return add_chain(chains, parent, callsite, func);
}

static uint32_t root_chain(struct chains *chains, uint32_t func)
{
	for (uint32_t c = 0; c < chains->cnt; c++) {
		if (chains->at[c].parent == NO_CHAIN && chains->at[c].func == func)
			return c;
	}
	return add_chain(chains, NO_CHAIN, NO_CHAIN, func);
}

/* The chain of a step that follows one of chain `from` at insn `before`. */
static uint32_t next_chain(struct chains *chains, uint32_t from, uint32_t before,
			   const struct loupe_step_info *info)
{
	while (from != NO_CHAIN && chains->at[from].depth > info->frame_cnt)
		from = chains->at[from].parent;
	while (from != NO_CHAIN && chains->at[from].depth < info->frame_cnt)
		from = child_chain(chains, from, before,
				   loupe_trace_subprog_of(chains->trace, (uint32_t)info->insn_idx));
	return from;
}

static int walk_path(struct chains *chains, const struct loupe_path_info *path)
{
	bool goes_on = path->parent_step != LOUPE_NO_STEP && !path->async;
	uint32_t chain = goes_on ? chains->of_step[path->parent_step] : NO_CHAIN, before = 0;
	struct loupe_step_info info;

	if (goes_on)
		before = (uint32_t)loupe_trace_step_insn(chains->trace, path->parent_step);
	for (uint32_t step = path->first; step <= path->last; step++) {
		if (loupe_trace_step(chains->trace, step, &info))
			return -EINVAL;
		if (step == path->first && !goes_on)
			chain = root_chain(chains, loupe_trace_subprog_of(chains->trace,
									  (uint32_t)info.insn_idx));
		else
			chain = next_chain(chains, chain, before, &info);
		if (chain == NO_CHAIN)
			return -ENOMEM;
		chains->of_step[step] = chain;
		chains->at[chain].steps++;
		before = (uint32_t)info.insn_idx;
	}
	return 0;
}

/* True if a chain runs through the same function, or the same call, further out. */
static bool is_nested(const struct chains *chains, uint32_t chain, bool call)
{
	const struct chain *inner = &chains->at[chain];

	for (uint32_t c = inner->parent; c != NO_CHAIN; c = chains->at[c].parent) {
		if (call ? chains->at[c].callsite == inner->callsite
			 : chains->at[c].func == inner->func)
			return true;
	}
	return false;
}

/* A call is in its own count already where it is reached within itself: main as its own
 * callback. */
static void drop_nested_calls(const struct chains *chains, uint64_t *called)
{
	for (uint32_t step = 0; step < loupe_trace_step_cnt(chains->trace); step++) {
		uint32_t insn = (uint32_t)loupe_trace_step_insn(chains->trace, step);

		for (uint32_t c = chains->of_step[step]; c != NO_CHAIN; c = chains->at[c].parent) {
			if (chains->at[c].parent == NO_CHAIN || chains->at[c].callsite != insn)
				continue;
			called[insn]--;
			break;
		}
	}
}

/*
 * Adds to called[insn] what was processed in functions called there, and to funcs[n] what was in
 * function n and what it called. What lies within another call of the same is in its count already.
 */
static int count_calls(const struct loupe_trace *trace, uint64_t *called, uint64_t *funcs)
{
	struct chains chains = { .trace = trace };
	struct loupe_path_info path;
	bool nested = false;
	int rc = 0;

	chains.of_step = calloc((size_t)loupe_trace_step_cnt(trace) + 1, sizeof(*chains.of_step));
	if (!chains.of_step)
		return -ENOMEM;
	for (uint32_t p = 0; !rc && loupe_trace_path(trace, p, &path) == 0; p++)
		rc = walk_path(&chains, &path);
	for (uint32_t c = chains.cnt; !rc && c--;) {
		const struct chain *chain = &chains.at[c];

		if (is_nested(&chains, c, false))
			nested = true;
		else
			funcs[chain->func] += chain->steps;
		if (chain->parent == NO_CHAIN)
			continue;
		chains.at[chain->parent].steps += chain->steps;
		if (!is_nested(&chains, c, true))
			called[chain->callsite] += chain->steps;
	}
	if (!rc && nested)
		drop_nested_calls(&chains, called);
	free(chains.of_step);
	free(chains.at);
	return rc;
}

/* ---- by insn, function, line -------------------------------------------------------------- */

struct counting {
	const struct loupe_trace *trace;
	const struct loupe_source *source;
	uint32_t insn_cnt, func_cnt;
	uint64_t *own;	  /* per insn: how often it was processed */
	uint64_t *called; /* per insn: what it called */
	uint64_t *funcs;  /* per function, inclusive */
};

static void add_insn(struct cost_row *row, const struct counting *counting, uint32_t insn)
{
	uint64_t own = counting->own[insn];

	if (!row->exclusive) {
		row->insn = insn;
		row->hottest = insn;
		row->paths = own;
	}
	if (own > counting->own[row->hottest])
		row->hottest = insn;
	row->exclusive += own;
	row->inclusive += own + counting->called[insn];
}

static void by_insn(struct cost *cost, const struct counting *counting)
{
	for (uint32_t i = 0; i < counting->insn_cnt; i++) {
		if (counting->own[i])
			add_insn(&cost->rows[cost->cnt++], counting, i);
	}
}

static void by_function(struct cost *cost, const struct counting *counting)
{
	for (uint32_t f = 0; f < counting->func_cnt; f++) {
		uint32_t end = f + 1 < counting->func_cnt ?
				       loupe_trace_subprog_start(counting->trace, f + 1) :
				       counting->insn_cnt;
		struct cost_row *row = &cost->rows[cost->cnt];

		for (uint32_t i = loupe_trace_subprog_start(counting->trace, f); i < end; i++) {
			if (counting->own[i])
				add_insn(row, counting, i);
		}
		row->inclusive = counting->funcs[f];
		row->insn = loupe_trace_subprog_start(counting->trace, f);
		if (row->exclusive)
			cost->cnt++;
	}
}

/* An insn and its line; those without one come last. */
struct placed {
	struct loupe_source_line line;
	bool known;
	uint32_t insn;
};

static int same_line(const struct placed *a, const struct placed *b)
{
	int order;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (!a->known)
		return 0;
	order = strcmp(a->line.path, b->line.path);
	if (order)
		return order;
	return a->line.line < b->line.line ? -1 : a->line.line > b->line.line;
}

static int by_place(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	int order = same_line(a, b);

	return order ? order : a->insn < b->insn ? -1 : 1;
}

static int by_line(struct cost *cost, const struct counting *counting)
{
	struct placed *placed = calloc((size_t)counting->insn_cnt + 1, sizeof(*placed));
	uint32_t cnt = 0;

	if (!placed)
		return -ENOMEM;
	for (uint32_t i = 0; i < counting->insn_cnt; i++) {
		struct placed *p = &placed[cnt];

		if (!counting->own[i])
			continue;
		p->insn = i;
		p->known = counting->source &&
			   loupe_source_line_of(counting->source, i, &p->line) &&
			   p->line.path && p->line.line;
		cnt++;
	}
	qsort(placed, cnt, sizeof(*placed), by_place);
	for (uint32_t i = 0; i < cnt; i++) {
		if (!i || same_line(&placed[i - 1], &placed[i]) != 0)
			cost->cnt++;
		cost->rows[cost->cnt - 1].kind = placed[i].known ? COST_ROW_PART : COST_ROW_NO_LINE;
		add_insn(&cost->rows[cost->cnt - 1], counting, placed[i].insn);
	}
	/* what lies all over the program calls itself: calls there would count several times */
	if (cost->cnt && cost->rows[cost->cnt - 1].kind == COST_ROW_NO_LINE)
		cost->rows[cost->cnt - 1].inclusive = cost->rows[cost->cnt - 1].exclusive;
	free(placed);
	return 0;
}

/* ---- by branch ---------------------------------------------------------------------------- */

/*
 * What lies below a path is the stretch of steps up to subtree_end: a path within a stretch of the
 * same branch is in its inclusive count already.
 */
static int by_branch(struct cost *cost, const struct counting *counting)
{
	struct cost_row *rows = calloc((size_t)counting->insn_cnt * 2 + 1, sizeof(*rows));
	uint32_t *until = calloc((size_t)counting->insn_cnt + 1, sizeof(*until));
	struct loupe_path_info path;
	struct loupe_step_info first;

	if (!rows || !until) {
		free(rows);
		free(until);
		return -ENOMEM;
	}
	for (uint32_t p = 0; loupe_trace_path(counting->trace, p, &path) == 0; p++) {
		bool start = path.parent_step == LOUPE_NO_STEP;
		uint32_t insn = (uint32_t)loupe_trace_step_insn(
			counting->trace, start ? path.first : path.parent_step);
		struct cost_row *row = &rows[start ? counting->insn_cnt + insn : insn];

		row->kind = start ? COST_ROW_START : COST_ROW_PART;
		row->insn = insn;
		row->hottest = insn;
		row->paths++;
		row->exclusive += path.last - path.first + 1;
		if (path.first == path.last &&
		    !loupe_trace_step(counting->trace, path.first, &first) &&
		    first.flags & LOUPE_STEP_PRUNED)
			row->pruned++;
		if (start) {
			row->inclusive += path.subtree_end - path.first;
		} else if (path.first >= until[insn]) {
			row->inclusive += path.subtree_end - path.first;
			until[insn] = path.subtree_end;
		}
	}
	for (uint32_t i = 0; i < counting->insn_cnt * 2; i++) {
		if (rows[i].exclusive)
			cost->rows[cost->cnt++] = rows[i];
	}
	free(rows);
	free(until);
	return 0;
}

int cost_make(struct cost *cost, const struct loupe_trace *trace, const struct loupe_source *source,
	      enum cost_by by)
{
	struct counting counting = {
		.trace = trace,
		.source = source,
		.insn_cnt = loupe_trace_insn_cnt(trace),
		.func_cnt = loupe_trace_subprog_cnt(trace),
	};
	size_t insns = (size_t)counting.insn_cnt + 1;
	int rc = -ENOMEM;

	*cost = (struct cost){ .by = by };
	cost->rows = calloc(insns * 2 + counting.func_cnt, sizeof(*cost->rows));
	counting.own = calloc(insns, sizeof(*counting.own));
	counting.called = calloc(insns, sizeof(*counting.called));
	counting.funcs = calloc((size_t)counting.func_cnt + 1, sizeof(*counting.funcs));
	if (!cost->rows || !counting.own || !counting.called || !counting.funcs)
		goto out;
	for (uint32_t i = 0; i < counting.insn_cnt; i++) {
		uint32_t visits;

		loupe_trace_visits(trace, i, &visits);
		counting.own[i] = visits;
	}
	rc = by == COST_BRANCH ? 0 : count_calls(trace, counting.called, counting.funcs);
	if (rc)
		goto out;
	if (by == COST_INSN)
		by_insn(cost, &counting);
	else if (by == COST_FUNCTION)
		by_function(cost, &counting);
	else
		rc = by == COST_LINE ? by_line(cost, &counting) : by_branch(cost, &counting);
	for (uint32_t i = 0; i < cost->cnt; i++)
		cost->total += cost->rows[i].exclusive;
out:
	free(counting.own);
	free(counting.called);
	free(counting.funcs);
	if (rc)
		cost_finish(cost);
	return rc;
}
