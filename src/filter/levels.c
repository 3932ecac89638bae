// SPDX-License-Identifier: GPL-2.0-only
#include "filter/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/commit.h"
#include "filter/ir_thread.h"
#include "filter/plan.h"
#include "filter/synth.h"

/* Orders of words that the search tries. */
enum { TRIALS = 48 };

/* A graph and its program. */
struct result {
	struct filter_ir ir;
	struct filter_ir_code code;
	double cost; /* instructions; or, by weights, what a call costs */
};

/* What all results are made from. */
struct maker {
	const struct loupe_filter *filter;
	const struct filter_ir *ir;
	uint32_t use;			     /* FILTER_USE_* */
	const struct loupe_weights *weights; /* NULL: none */
	struct filter_plans *plans;
};

static void result_finish(struct result *r)
{
	filter_ir_finish(&r->ir);
	free(r->code.items);
	*r = (struct result){ 0 };
}

/* Mean of the instructions that calls execute. */
static int mean_of(const struct loupe_filter *filter, const struct loupe_weights *weights,
		   double *mean)
{
	double total = 0, sum = 0;

	for (uint32_t i = 0; i < weights->cnt; i++) {
		const struct loupe_weight *row = &weights->rows[i];
		struct loupe_seccomp_data data = { .nr = row->nr, .arch = weights->arch };
		const struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		struct loupe_filter_run run = { 0 };
		int err;

		memcpy(data.args, row->args, sizeof(data.args));
		err = loupe_filter_eval(filter, &input, &run, NULL);
		if (err)
			return err;
		total += row->weight;
		sum += row->weight * run.executed;
	}
	*mean = sum / total;
	return 0;
}

/* What a program costs, in instructions executed, its length included. */
static int cost_by_weight(const struct loupe_cbpf_insn *insns, uint32_t cnt,
			  const struct loupe_weights *weights, double *cost)
{
	struct loupe_filter filter = { .flavour = LOUPE_FILTER_SECCOMP, .cnt = cnt };
	int err;

	filter.insns = malloc(cnt * sizeof(*filter.insns));
	if (!filter.insns)
		return -ENOMEM;
	memcpy(filter.insns, insns, cnt * sizeof(*insns));
	err = mean_of(&filter, weights, cost);
	*cost += FILTER_SIZE_COST * cnt;
	free(filter.insns);
	return err;
}

static int measure(const struct maker *m, struct result *r)
{
	struct loupe_cbpf_insn *insns;
	int err;

	r->cost = r->code.cnt;
	if (!m->weights)
		return 0;
	insns = malloc(r->code.cnt * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->code.cnt; i++)
		insns[i] = r->code.items[i].insn;
	err = cost_by_weight(insns, r->code.cnt, m->weights, &r->cost);
	free(insns);
	return err;
}

static int thread(const struct maker *m, struct filter_ir *ir, uint32_t more)
{
	uint32_t what = more;

	if (m->use & FILTER_USE_TESTS)
		what |= FILTER_THREAD_TESTS;
	if (m->use & FILTER_USE_LOADS)
		what |= FILTER_THREAD_LOADS;
	return filter_ir_thread(ir, m->filter->flavour, what);
}

/* Makes a graph of what was decided. */
static int synthesize(const struct maker *m, const struct choices *c, struct filter_ir *made)
{
	struct filter_synth_opts opts = { .like = m->ir,
					  .plans = m->plans,
					  .bits = m->use & FILTER_USE_BITS };
	double *flow = NULL;
	int err;

	if (m->weights) {
		flow = filter_flow(c, m->weights);
		if (!flow)
			return -ENOMEM;
		opts.flow = flow;
	}
	err = filter_synth(c, &opts, made);
	free(flow);
	return err;
}

/*
 * Builds a graph anew for one order of words.
 * @return 0; -ENOTSUP, -E2BIG when it is not decided what the filter decides; -ENOMEM
 */
static int build_anew(const struct maker *m, const uint8_t *order, struct result *out)
{
	struct filter_ir made = { 0 };
	struct choices c;
	int err = choices_init(&c, order);

	*out = (struct result){ 0 };
	if (!err)
		err = choices_read(&c, m->ir);
	if (!err)
		err = synthesize(m, &c, &made);
	if (!err)
		err = thread(m, &made, 0);
	if (!err)
		err = filter_ir_arrange(&made, &out->ir);
	if (!err)
		err = filter_ir_encode(&out->ir, &out->code);
	if (!err)
		err = measure(m, out);
	if (err)
		result_finish(out);
	filter_ir_finish(&made);
	choices_finish(&c);
	return err;
}

/* Places in an order of the words that a graph asks for, but for nr and arch. */
static uint32_t words_asked(const struct filter_ir *ir, uint8_t places[FILTER_WORD_CNT])
{
	bool asked[FILTER_WORD_CNT] = { false };
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < ir->cnt; i++) {
		if (ir->nodes[i].code == FILTER_LD_WORD)
			asked[ir->nodes[i].k / 4] = true;
	}
	for (uint8_t i = FILTER_WORD_ARCH / 4 + 1; i < FILTER_WORD_CNT; i++) {
		if (asked[i])
			places[cnt++] = i;
	}
	return cnt;
}

/* Gives the word at place `word` the rank of the one at `to`; those in between move up. */
static void move_word(uint8_t order[FILTER_WORD_CNT], uint8_t word, uint8_t to)
{
	uint8_t from = order[word], goal = order[to];

	for (uint32_t i = 0; i < FILTER_WORD_CNT; i++) {
		if (order[i] > from && order[i] <= goal)
			order[i]--;
		else if (order[i] < from && order[i] >= goal)
			order[i]++;
	}
	order[word] = goal;
}

/* Moves words about at random and keeps what makes the filter cost no more. */
static int search(const struct maker *m, struct result *best)
{
	uint8_t order[FILTER_WORD_CNT], tried[FILTER_WORD_CNT], places[FILTER_WORD_CNT];
	uint32_t cnt = words_asked(m->ir, places);
	uint64_t random = 4;
	int err = 0;

	memcpy(order, choice_usual_order, sizeof(order));
	for (int i = 0; i < TRIALS && cnt > 1 && !err; i++) {
		struct result trial;
		uint32_t word, to;

		/* Knuth's MMIX generator; its high bits. */
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		word = (uint32_t)(random >> 40) % cnt;
		to = (uint32_t)(random >> 52) % cnt;
		if (word == to)
			continue;
		memcpy(tried, order, sizeof(order));
		move_word(tried, places[word], places[to]);
		err = build_anew(m, tried, &trial);
		if (!err && trial.cost <= best->cost) {
			result_finish(best);
			*best = trial;
			memcpy(order, tried, sizeof(order));
		} else if (!err) {
			result_finish(&trial);
		} else if (err == -E2BIG) {
			err = 0;
		}
	}
	return err;
}

/*
 * Whether the kernel takes the program. A store must come before each read of what it stores in the
 * order of instructions too, which an order that is good otherwise may break.
 */
static int is_taken(const struct maker *m, const struct result *r, bool *taken)
{
	struct loupe_cbpf_insn *insns = malloc(r->code.cnt * sizeof(*insns));

	if (!insns)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->code.cnt; i++)
		insns[i] = r->code.items[i].insn;
	*taken = !loupe_filter_check(insns, r->code.cnt, m->filter->flavour, NULL, NULL);
	free(insns);
	return 0;
}

static int commit_kept(struct filter_opt *opt, const struct maker *m, const struct result *kept)
{
	bool scratch = opt->scratch, taken = true;
	int err = scratch ? is_taken(m, kept, &taken) : 0;

	if (err)
		return err;
	if (!taken || kept->code.cnt > opt->filter->cnt) {
		opt->used = 0;
		opt->why = taken ? "its own order is the shortest"
				 : "the kernel takes its scratch memory in this order only";
		return 0;
	}
	/* What comes out is known to be right, so what is in between need not be. */
	opt->scratch = false;
	err = filter_commit_graph(opt, &kept->ir, &kept->code);
	opt->scratch = scratch;
	return err ? err : 1;
}

/* The best is used if it costs less than what was there, and is no longer. */
static int commit_best(struct filter_opt *opt, const struct maker *m, const struct result *kept,
		       const struct result *anew)
{
	double was = opt->filter->cnt;
	int err = 0;

	if (m->weights)
		err = cost_by_weight(opt->filter->insns, opt->filter->cnt, m->weights, &was);
	if (err)
		return err;
	if (!anew->code.cnt || anew->cost >= kept->cost || anew->cost > was ||
	    anew->code.cnt > opt->filter->cnt)
		return commit_kept(opt, m, kept);
	err = filter_commit_new(opt, &anew->ir, &anew->code);
	return err ? err : 1;
}

static bool has_weight(const struct loupe_weights *weights)
{
	for (uint32_t i = 0; weights && i < weights->cnt; i++) {
		if (weights->rows[i].weight > 0)
			return true;
	}
	return false;
}

/* What can be decided about the filter, and the best of it. */
static int decide(struct filter_opt *opt, struct maker *m, struct result *anew)
{
	struct filter_ir reloaded = { 0 };
	int err = 0;

	/* Scratch memory is in the way of deciding. */
	if (opt->scratch) {
		err = filter_ir_read(&reloaded, m->filter->insns, m->filter->cnt, NULL);
		if (!err)
			err = thread(m, &reloaded, FILTER_THREAD_RELOADS);
		m->ir = &reloaded;
	}
	if (!err)
		err = build_anew(m, NULL, anew);
	if (!err && m->use & FILTER_USE_SEARCH)
		err = search(m, anew);
	/* What cannot be decided keeps its structure. */
	if (err == -ENOTSUP || err == -E2BIG) {
		opt->used = 1;
		opt->why = err == -E2BIG ? "what it decides is too much"
					 : "it does more than test words and bits of words";
		err = 0;
	}
	filter_ir_finish(&reloaded);
	return err;
}

int filter_optimize_graph(struct filter_opt *opt, uint32_t use,
			  const struct loupe_weights *weights)
{
	const struct loupe_filter *filter = opt->filter;
	struct result kept = { 0 }, anew = { 0 };
	struct filter_plans plans = { 0 };
	bool is_seccomp = filter->flavour == LOUPE_FILTER_SECCOMP;
	struct maker m = { filter, &kept.ir, use,
			   is_seccomp && has_weight(weights) ? weights : NULL, &plans };
	int err = filter_ir_read(&kept.ir, filter->insns, filter->cnt, NULL);

	if (!err)
		err = thread(&m, &kept.ir, 0);
	if (!err)
		err = filter_ir_encode(&kept.ir, &kept.code);
	if (!err)
		err = measure(&m, &kept);
	if (!err && use & FILTER_USE_SYNTH && is_seccomp) {
		err = decide(opt, &m, &anew);
	} else if (!err && opt->used > 1) {
		opt->used = 1;
		opt->why = is_seccomp ? "building anew is switched off"
				      : "only what decides on calls is built anew";
	}
	if (!err)
		err = commit_best(opt, &m, &kept, &anew);
	filter_plans_finish(&plans);
	result_finish(&kept);
	result_finish(&anew);
	return err;
}
