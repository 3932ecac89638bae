// SPDX-License-Identifier: GPL-2.0-only
#include "filter/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/commit.h"
#include "filter/ir_thread.h"
#include "filter/synth.h"

/*
 * Who gives weights wants calls to be fast: so many tests more than necessary may be spent on the
 * tree of numbers, each of which divides a long row.
 */
enum { SPARE_TESTS = 5 };

/* Orders of words that the search tries. */
enum { TRIALS = 48 };

/* A graph and its program. */
struct result {
	struct filter_ir ir;
	struct filter_ir_code code;
};

static void result_finish(struct result *r)
{
	filter_ir_finish(&r->ir);
	free(r->code.items);
	*r = (struct result){ 0 };
}

static int copy_weights(const struct loupe_filter_weights *from, struct filter_weights *to)
{
	*to = (struct filter_weights){ .cnt = from->cnt };
	to->rows = malloc((from->cnt + 1) * sizeof(*to->rows));
	if (!to->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->cnt; i++)
		to->rows[i] = (struct filter_weight){ from->nr[i], from->weight[i] };
	return 0;
}

/*
 * Builds a graph anew for one order of words.
 * @return 0; -ENOTSUP, -E2BIG when it is not decided what the filter decides; -ENOMEM
 */
static int build_anew(const struct filter_ir *ir, const uint8_t *order, uint32_t use,
		      const struct loupe_filter_weights *weights, struct result *out)
{
	struct filter_weights w = { 0 };
	struct filter_ir made = { 0 };
	struct choices c;
	int err = choices_init(&c, order);

	*out = (struct result){ 0 };
	if (!err)
		err = choices_read(&c, ir);
	if (!err)
		err = weights && weights->cnt ? copy_weights(weights, &w)
					      : filter_weights_guess(&c, ir, &w);
	if (!err)
		err = filter_synth(&c, &w, weights && weights->cnt ? SPARE_TESTS : 0, &made);
	if (!err)
		err = filter_ir_thread(&made, LOUPE_FILTER_SECCOMP,
				       (use & FILTER_USE_TESTS ? FILTER_THREAD_TESTS : 0) |
					       (use & FILTER_USE_LOADS ? FILTER_THREAD_LOADS : 0));
	if (!err)
		err = filter_ir_arrange(&made, &out->ir);
	if (!err)
		err = filter_ir_encode(&out->ir, &out->code);
	if (err)
		result_finish(out);
	filter_ir_finish(&made);
	choices_finish(&c);
	free(w.rows);
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

/* Moves words about at random and keeps what makes the filter no longer. */
static int search(const struct filter_ir *ir, uint32_t use,
		  const struct loupe_filter_weights *weights, struct result *best)
{
	uint8_t order[FILTER_WORD_CNT], tried[FILTER_WORD_CNT], places[FILTER_WORD_CNT];
	uint32_t cnt = words_asked(ir, places);
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
		err = build_anew(ir, tried, use, weights, &trial);
		if (!err && trial.code.cnt <= best->code.cnt) {
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

static int commit_best(struct filter_opt *opt, const struct result *kept, struct result *anew)
{
	uint32_t cnt = kept->code.cnt;

	if (anew->code.cnt && anew->code.cnt < cnt && anew->code.cnt <= opt->filter->cnt) {
		int err = filter_commit_new(opt, &anew->ir, &anew->code);

		return err ? err : 1;
	}
	if (cnt <= opt->filter->cnt) {
		int err = filter_commit_graph(opt, &kept->ir, &kept->code);

		return err ? err : 1;
	}
	return 0;
}

int filter_optimize_graph(struct filter_opt *opt, uint32_t use,
			  const struct loupe_filter_weights *weights)
{
	const struct loupe_filter *filter = opt->filter;
	struct result kept = { 0 }, anew = { 0 };
	int err;

	if (opt->scratch)
		return 0;
	err = filter_ir_read(&kept.ir, filter->insns, filter->cnt, NULL);
	if (!err)
		err = filter_ir_thread(&kept.ir, filter->flavour,
				       (use & FILTER_USE_TESTS ? FILTER_THREAD_TESTS : 0) |
					       (use & FILTER_USE_LOADS ? FILTER_THREAD_LOADS : 0));
	if (!err)
		err = filter_ir_encode(&kept.ir, &kept.code);
	if (!err && use & FILTER_USE_SYNTH && filter->flavour == LOUPE_FILTER_SECCOMP) {
		err = build_anew(&kept.ir, NULL, use, weights, &anew);
		if (!err && use & FILTER_USE_SEARCH)
			err = search(&kept.ir, use, weights, &anew);
		/* What cannot be decided keeps its structure. */
		if (err == -ENOTSUP || err == -E2BIG)
			err = 0;
	}
	if (!err)
		err = commit_best(opt, &kept, &anew);
	result_finish(&kept);
	result_finish(&anew);
	return err;
}
