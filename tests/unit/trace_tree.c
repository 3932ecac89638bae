// SPDX-License-Identifier: GPL-2.0-only
/* The tree has each checkpoint, branch and path's end once, with sizes counted step by step. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/generate.h"
#include "bpfloupe/tree.h"
#include "insn/opcodes.h"

#define I(c, d, s, o, i)                                                            \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}

static struct loupe_trace *record(const struct loupe_image *image)
{
	struct loupe_trace *t = loupe_trace_create(image);
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;

	loupe_verify_opts_init(&opts);
	opts.insn_limit = 20000;
	opts.checkpoint_always = image->insn_cnt % 2;
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(t);
	assert_int_equal(loupe_verify(image, &opts, &result), 0);
	loupe_verify_result_finish(&result);
	assert_int_equal(loupe_trace_finish(t), 0);
	return t;
}

static struct loupe_trace *record_insns(const struct loupe_insn *insns, uint32_t cnt)
{
	struct loupe_image *image = loupe_image_create();
	struct loupe_trace *t;

	image->insns = malloc(cnt * sizeof(*insns));
	memcpy(image->insns, insns, cnt * sizeof(*insns));
	image->insn_cnt = cnt;
	image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	image->license = strdup("GPL");
	t = record(image);
	loupe_image_destroy(image);
	return t;
}

/* Steps that descend from each checkpoint, counted by going up from every step. */
static uint32_t *count_under(const struct loupe_trace *t)
{
	uint32_t cnt = loupe_trace_checkpoint_cnt(t);
	uint32_t *under = calloc(cnt + 1, sizeof(*under));

	for (uint32_t step = 0; step < loupe_trace_step_cnt(t); step++) {
		uint32_t until = step, path = loupe_trace_path_of(t, step);
		struct loupe_path_info info;

		while (path != LOUPE_NO_PATH) {
			loupe_trace_path(t, path, &info);
			for (uint32_t serial = 1; serial <= cnt; serial++) {
				struct loupe_checkpoint_info point;

				loupe_trace_checkpoint(t, serial, &point);
				under[serial] += point.born >= info.first && point.born <= until;
			}
			until = info.parent_step;
			path = info.parent;
		}
	}
	return under;
}

/* Steps of a path and of all that descend from it. */
static uint32_t count_path(const struct loupe_trace *t, uint32_t top)
{
	uint32_t cnt = 0;

	for (uint32_t path = top; path < loupe_trace_path_cnt(t); path++) {
		struct loupe_path_info info, up;

		loupe_trace_path(t, path, &info);
		up = info;
		while (up.path != top && up.parent != LOUPE_NO_PATH)
			loupe_trace_path(t, up.parent, &up);
		cnt += up.path == top ? info.last - info.first + 1 : 0;
	}
	return cnt;
}

static void check_rows(const struct loupe_trace *t, const struct loupe_tree *tree)
{
	uint32_t *under = count_under(t), checkpoints = 0, leaves = 0, unexplored = 0;
	uint64_t pushes = 0, roots = 0;

	for (uint32_t i = 0; i < loupe_tree_row_cnt(tree); i++) {
		const struct loupe_tree_row *row = loupe_tree_row(tree, i);
		struct loupe_push_info push;

		assert_false(row->folded);
		assert_true(loupe_tree_parent(tree, i) < i || row->kind == LOUPE_TREE_ROOT);
		switch (row->kind) {
		case LOUPE_TREE_ROOT:
			roots += row->insns;
			break;
		case LOUPE_TREE_CHECKPOINT:
			checkpoints++;
			assert_int_equal(row->insns, under[row->serial]);
			break;
		case LOUPE_TREE_BRANCH:
			pushes++;
			assert_int_equal(loupe_trace_push(t, row->push, &push), 0);
			assert_int_equal(push.step, row->step);
			if (push.path != LOUPE_NO_PATH && !row->now_hangs)
				assert_int_equal(row->insns, count_path(t, push.path));
			if (!row->insns)
				unexplored++;
			else if (!row->can_fold)
				leaves++;
			break;
		case LOUPE_TREE_LOOP:
			assert_int_equal(row->insns, under[row->serial] - under[row->last_serial]);
			break;
		case LOUPE_TREE_TURN:
			assert_true(row->turns >= 1);
			break;
		case LOUPE_TREE_LEAF:
			leaves++;
			break;
		}
	}
	assert_int_equal(checkpoints, loupe_trace_checkpoint_cnt(t));
	assert_int_equal(pushes, loupe_trace_rows(t, LOUPE_TABLE_PUSH));
	assert_int_equal(leaves, loupe_trace_path_cnt(t));
	assert_int_equal(roots, loupe_trace_step_cnt(t));
	free(under);
}

/* Step of the last checkpoint at or before step on its way from the root. */
static uint32_t last_checkpoint(const struct loupe_trace *t, uint32_t step)
{
	struct loupe_checkpoint_info info = { 0 };
	struct loupe_step_info at;

	loupe_trace_step(t, step, &at);
	if (at.flags & LOUPE_STEP_CHECKPOINT)
		return step;
	loupe_trace_checkpoint(t, loupe_trace_parent_checkpoint(t, step), &info);
	return info.born;
}

/* All is found again after folding; only what hides it unfolds. */
static void check_find(const struct loupe_trace *t, struct loupe_tree *tree)
{
	for (uint32_t serial = 1; serial <= loupe_trace_checkpoint_cnt(t); serial += 7) {
		struct loupe_checkpoint_info info;
		uint32_t row;

		assert_int_equal(loupe_tree_fold_all(tree, true), 0);
		row = loupe_tree_find_checkpoint(tree, serial);
		assert_non_null(loupe_tree_row(tree, row));
		assert_int_equal(loupe_tree_row(tree, row)->kind, LOUPE_TREE_CHECKPOINT);
		assert_int_equal(loupe_tree_row(tree, row)->serial, serial);
		loupe_trace_checkpoint(t, serial, &info);
		assert_int_equal(loupe_tree_row(tree, row)->step, info.born);
	}
	for (uint32_t step = 0; step < loupe_trace_step_cnt(t); step += 13) {
		const struct loupe_tree_row *found;

		loupe_tree_fold_all(tree, true);
		found = loupe_tree_row(tree, loupe_tree_find_step(tree, step));
		assert_non_null(found);
		assert_true(found->step <= step);
		/* a checkpoint on the way cannot be passed over */
		assert_true(found->step >= last_checkpoint(t, step));
	}
}

static void test_random_programs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct loupe_generate_opts opts = { .size = sizeof(opts), .seed = seed };
		struct loupe_generated *gen;
		struct loupe_trace *t;
		struct loupe_tree *tree;

		assert_int_equal(loupe_generate(&opts, &gen), 0);
		t = record(loupe_generated_image(gen));
		if (loupe_trace_step_cnt(t) && loupe_trace_step_cnt(t) < 4000) {
			tree = loupe_tree_create(t);
			assert_non_null(tree);
			assert_int_equal(loupe_tree_fold_all(tree, false), 0);
			check_rows(t, tree);
			check_find(t, tree);
			loupe_tree_destroy(tree);
		}
		loupe_trace_destroy(t);
		loupe_generated_destroy(gen);
	}
}

static const struct loupe_tree_row *find_kind(const struct loupe_tree *tree,
					      enum loupe_tree_kind kind, uint32_t *n)
{
	for (; *n < loupe_tree_row_cnt(tree); ++*n) {
		if (loupe_tree_row(tree, *n)->kind == kind)
			return loupe_tree_row(tree, *n);
	}
	return NULL;
}

/*
 * A loop of 90 turns that no path leaves early; its counter is known, so that no branch is left.
 * Inside loops checkpoints are stored every ten such turns.
 */
static void test_loop_is_folded(void **state)
{
	static const struct loupe_insn insns[] = {
		I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, 0),
		/* 2: a turn, ten insns and three jumps long */
		I(BPF_ALU64 | BPF_ADD | BPF_K, 6, 0, 0, 1),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_JMP | BPF_JGT | BPF_K, 6, 0, 0, 100),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_JMP | BPF_JGT | BPF_K, 6, 0, 0, 100),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 3),
		I(BPF_JMP | BPF_JNE | BPF_K, 6, 0, -10, 90),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct loupe_trace *t = record_insns(insns, sizeof(insns) / sizeof(insns[0]));
	struct loupe_tree *tree = loupe_tree_create(t);
	const struct loupe_tree_row *loop;
	struct loupe_checkpoint_info first, last;
	uint32_t at = 0, turns = 0, folded_rows, arrivals;

	(void)state;
	assert_non_null(tree);
	loop = find_kind(tree, LOUPE_TREE_LOOP, &at);
	assert_non_null(loop);
	assert_true(loop->folded);
	loupe_trace_checkpoint(t, loop->serial, &first);
	loupe_trace_checkpoint(t, loop->last_serial, &last);
	assert_int_equal(first.insn_idx, last.insn_idx);
	assert_int_equal(loop->insns, last.born - first.born);
	/* ten insns a turn: an arrival each time */
	assert_int_equal(loop->insns, loop->turns * 10);
	arrivals = loop->turns;
	folded_rows = loupe_tree_row_cnt(tree);
	assert_int_equal(loupe_tree_fold(tree, at, false), 0);
	for (uint32_t i = at + 1; i < loupe_tree_row_cnt(tree); i++) {
		const struct loupe_tree_row *row = loupe_tree_row(tree, i);

		if (row->kind != LOUPE_TREE_TURN)
			break;
		assert_int_equal(row->turn, turns + 1);
		assert_int_equal(loupe_tree_parent(tree, i), at);
		turns += row->turns;
	}
	assert_int_equal(turns, arrivals);
	assert_int_equal(loupe_tree_fold(tree, at, true), 0);
	assert_int_equal(loupe_tree_row_cnt(tree), folded_rows);
	loupe_tree_destroy(tree);
	loupe_trace_destroy(t);
}

/* Two ways that meet: the second is pruned by the checkpoint where they do. */
static void test_pruned_leaf(void **state)
{
	static const struct loupe_insn insns[] = {
		I(BPF_LDX | BPF_MEM | BPF_W, 6, 1, 0, 0),
		I(BPF_LDX | BPF_MEM | BPF_W, 7, 1, 4, 0),
		I(BPF_JMP | BPF_JGT | BPF_K, 6, 0, 1, 5),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 9),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 8, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct loupe_trace *t = record_insns(insns, sizeof(insns) / sizeof(insns[0]));
	struct loupe_tree *tree = loupe_tree_create(t);
	struct loupe_checkpoint_info by;
	const struct loupe_tree_row *row;
	uint32_t at = 0;

	(void)state;
	assert_non_null(tree);
	row = find_kind(tree, LOUPE_TREE_BRANCH, &at);
	assert_non_null(row);
	assert_int_equal(loupe_trace_step_insn(t, row->step), 2);
	/* the side that was left is one arrival */
	assert_false(row->now_hangs);
	assert_false(row->can_fold);
	assert_int_equal(row->insns, 1);
	assert_int_equal(row->end, LOUPE_END_PRUNED);
	assert_int_equal(loupe_trace_step_insn(t, row->end_step), 4);
	assert_int_equal(loupe_trace_checkpoint(t, row->pruned_by, &by), 0);
	assert_int_equal(by.insn_idx, 4);
	row = find_kind(tree, LOUPE_TREE_LEAF, &at);
	assert_int_equal(row->end, LOUPE_END_EXIT);
	assert_int_equal(loupe_tree_checkpoint_insns(t, 0), 0);
	loupe_trace_checkpoint(t, 1, &by);
	assert_int_equal(loupe_tree_checkpoint_insns(t, 1), loupe_trace_step_cnt(t) - by.born);
	loupe_tree_destroy(tree);
	loupe_trace_destroy(t);
}

/* A later phase rejects: the path came to its end all the same. A stopped one did not. */
static void test_ends(void **state)
{
	static const struct loupe_insn deep[] = {
		I(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -400, 0),
		I(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 2),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		I(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -400, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static const struct loupe_insn endless[] = {
		I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 0),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 6, 0, 0, 1),
		I(BPF_JMP | BPF_JNE | BPF_K, 6, 0, -2, 30000000),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct loupe_trace *t = record_insns(deep, sizeof(deep) / sizeof(deep[0]));
	struct loupe_tree *tree = loupe_tree_create(t);
	uint32_t at = 0;

	(void)state;
	assert_int_equal(loupe_trace_result(t)->phase, LOUPE_PHASE_STACK_DEPTH);
	assert_int_equal(find_kind(tree, LOUPE_TREE_LEAF, &at)->end, LOUPE_END_EXIT);
	loupe_tree_destroy(tree);
	loupe_trace_destroy(t);

	t = record_insns(endless, sizeof(endless) / sizeof(endless[0]));
	tree = loupe_tree_create(t);
	at = 0;
	assert_int_equal(loupe_trace_result(t)->err, -E2BIG);
	assert_int_equal(find_kind(tree, LOUPE_TREE_LEAF, &at)->end, LOUPE_END_REJECTED);
	loupe_tree_destroy(tree);
	loupe_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_loop_is_folded),
		cmocka_unit_test(test_pruned_leaf),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
