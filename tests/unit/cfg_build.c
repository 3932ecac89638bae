// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/cfg.h"
#include "cfg_random.h"

#define NONE LOUPE_CFG_NONE

/* eBPF, by opcode */
#define MOV_IMM(dst, k)		{ 0xb7, dst, 0, 0, k }
#define JEQ_IMM(dst, k, o)	{ 0x15, dst, 0, o, k }
#define JA(o)			{ 0x05, 0, 0, o, 0 }
#define GOTOL(k)		{ 0x06, 0, 0, 0, k }
#define MAY_GOTO(o)		{ 0xe5, 0, 0, o, 0 }
#define CALL_HELPER(k)		{ 0x85, 0, 0, 0, k }
#define CALL_SUBPROG(k)		{ 0x85, 0, 1, 0, k }
#define LDIMM64(src, k)		{ 0x18, 1, src, 0, k }, { 0 }
#define EXIT			{ 0x95, 0, 0, 0, 0 }

static struct loupe_cfg *from_ebpf(const struct loupe_insn *insns, uint32_t cnt)
{
	struct loupe_cfg *cfg;
	struct loupe_error err = { .message = "" };

	if (loupe_cfg_from_ebpf(insns, cnt, &cfg, &err))
		fail_msg("%s", err.message);
	return cfg;
}

static struct loupe_cfg *from_flow(const struct loupe_cfg_insn *insns, uint32_t cnt)
{
	struct loupe_cfg *cfg;
	struct loupe_error err = { .message = "" };

	if (loupe_cfg_build(insns, cnt, &cfg, &err))
		fail_msg("%s", err.message);
	return cfg;
}

static void assert_edge(const struct loupe_cfg *cfg, uint32_t e, uint32_t from, uint32_t to,
			enum loupe_edge_kind kind, bool back)
{
	assert_in_range(e, 0, cfg->edge_cnt - 1);
	assert_int_equal(cfg->edges[e].from, from);
	assert_int_equal(cfg->edges[e].to, to);
	assert_int_equal(cfg->edges[e].kind, kind);
	assert_int_equal(cfg->edges[e].back, back);
}

static void diamond(void **state)
{
	const struct loupe_insn insns[] = {
		MOV_IMM(0, 1),	  JEQ_IMM(1, 0, 2), /* 0, 1 */
		MOV_IMM(0, 2),	  JA(1),	    /* 2, 3 */
		MOV_IMM(0, 3),			    /* 4 */
		EXIT,				    /* 5 */
	};
	struct loupe_cfg *cfg = from_ebpf(insns, 6);
	const uint32_t first[] = { 0, 2, 4, 5 }, last[] = { 1, 3, 4, 5 };
	const uint32_t idom[] = { NONE, 0, 0, 0 }, block[] = { 0, 0, 1, 1, 2, 3 };

	(void)state;
	assert_int_equal(cfg->block_cnt, 4);
	assert_int_equal(cfg->subprog_cnt, 1);
	assert_int_equal(cfg->loop_cnt, 0);
	for (uint32_t n = 0; n < 4; n++) {
		assert_int_equal(cfg->blocks[n].first, first[n]);
		assert_int_equal(cfg->blocks[n].last, last[n]);
		assert_int_equal(cfg->blocks[n].idom, idom[n]);
		assert_int_equal(cfg->blocks[n].exits, n == 3);
		assert_true(cfg->blocks[n].reachable);
	}
	assert_memory_equal(cfg->insn_block, block, sizeof(block));
	for (uint32_t i = 0; i < cfg->insn_cnt; i++)
		assert_int_equal(loupe_cfg_line_insn(cfg, cfg->insn_block[i], cfg->insn_line[i]),
				 i && cfg->insn_block[i - 1] == cfg->insn_block[i] &&
						 cfg->insn_line[i - 1] == cfg->insn_line[i] ?
					 i - 1 :
					 i);
	assert_int_equal(cfg->edge_cnt, 4);
	assert_edge(cfg, 0, 0, 2, LOUPE_EDGE_TRUE, false);
	assert_edge(cfg, 1, 0, 1, LOUPE_EDGE_FALSE, false);
	assert_edge(cfg, 2, 1, 3, LOUPE_EDGE_JUMP, false);
	assert_edge(cfg, 3, 2, 3, LOUPE_EDGE_FALLTHROUGH, false);
	assert_int_equal(cfg->blocks[3].pred_cnt, 2);
	assert_int_equal(cfg->preds[cfg->blocks[3].pred], 2);
	assert_int_equal(cfg->preds[cfg->blocks[3].pred + 1], 3);
	assert_int_equal(cfg->rpo[0], 0);
	assert_int_equal(cfg->rpo[3], 3);
	assert_true(loupe_cfg_dominates(cfg, 0, 3));
	assert_true(loupe_cfg_dominates(cfg, 3, 3));
	assert_false(loupe_cfg_dominates(cfg, 1, 3));
	loupe_cfg_destroy(cfg);
}

static void subprogs_calls_and_wide_insns(void **state)
{
	const struct loupe_insn insns[] = {
		LDIMM64(4, 7),	 /* 0: function at 8 */
		CALL_HELPER(181), /* 2 */
		CALL_SUBPROG(2), /* 3: to 6 */
		JEQ_IMM(0, 0, 0), /* 4: both sides to 5 */
		EXIT,		 /* 5 */
		GOTOL(-1),	 /* 6: to itself */
		EXIT,		 /* 7: never reached */
		MOV_IMM(0, 0),	 /* 8 */
		EXIT,		 /* 9 */
	};
	struct loupe_cfg *cfg = from_ebpf(insns, 10);

	(void)state;
	assert_int_equal(cfg->subprog_cnt, 3);
	assert_int_equal(cfg->subprogs[1].first, 6);
	assert_int_equal(cfg->subprogs[1].last, 7);
	assert_int_equal(cfg->subprogs[2].first, 8);
	assert_true(cfg->subprogs[1].reachable);
	assert_true(cfg->subprogs[2].reachable);
	assert_int_equal(cfg->call_cnt, 2);
	assert_int_equal(cfg->calls[0].insn, 0);
	assert_int_equal(cfg->calls[0].callee, 2);
	assert_true(cfg->calls[0].callback);
	assert_int_equal(cfg->calls[1].insn, 3);
	assert_int_equal(cfg->calls[1].callee, 1);
	assert_false(cfg->calls[1].callback);
	/* blocks: 0-4, 5, 6, 7, 8-9: calls do not end blocks */
	assert_int_equal(cfg->block_cnt, 5);
	assert_int_equal(cfg->blocks[0].last, 4);
	assert_edge(cfg, 0, 0, 1, LOUPE_EDGE_TRUE, false);
	assert_edge(cfg, 1, 0, 1, LOUPE_EDGE_FALSE, false);
	assert_edge(cfg, 2, 2, 2, LOUPE_EDGE_JUMP, true);
	assert_false(cfg->blocks[3].reachable);
	assert_int_equal(cfg->blocks[3].idom, NONE);
	assert_int_equal(cfg->blocks[3].rpo, NONE);
	assert_int_equal(cfg->blocks[4].idom, NONE);
	assert_int_equal(cfg->rpo_cnt, 4);
	assert_int_equal(cfg->loop_cnt, 1);
	assert_int_equal(cfg->loops[0].header, 2);
	assert_int_equal(cfg->loops[0].block_cnt, 1);
	loupe_cfg_destroy(cfg);
}

static void may_goto_has_two_sides(void **state)
{
	const struct loupe_insn insns[] = {
		MOV_IMM(0, 0), MAY_GOTO(2), MOV_IMM(0, 1), JA(-3), EXIT,
	};
	struct loupe_cfg *cfg = from_ebpf(insns, 5);

	(void)state;
	/* blocks: 0, 1, 2-3, 4 */
	assert_int_equal(cfg->block_cnt, 4);
	assert_edge(cfg, 0, 0, 1, LOUPE_EDGE_FALLTHROUGH, false);
	assert_edge(cfg, 1, 1, 3, LOUPE_EDGE_MAY_GOTO, false);
	assert_edge(cfg, 2, 1, 2, LOUPE_EDGE_FALSE, false);
	assert_edge(cfg, 3, 2, 1, LOUPE_EDGE_JUMP, true);
	assert_int_equal(cfg->loop_cnt, 1);
	assert_int_equal(cfg->loops[0].header, 1);
	assert_int_equal(cfg->loops[0].block_cnt, 2);
	assert_false(cfg->loops[0].irreducible);
	loupe_cfg_destroy(cfg);
}

static void classic_jumps(void **state)
{
	const struct loupe_cbpf_insn insns[] = {
		{ 0x20, 0, 0, 4 },	    /* 0: A = word 4 */
		{ 0x15, 0, 1, 0xc000003e }, /* 1: true 2, false 3 */
		{ 0x05, 0, 0, 1 },	    /* 2: ja 4 */
		{ 0x06, 0, 0, 0 },	    /* 3 */
		{ 0x06, 0, 0, 0x7fff0000 }, /* 4 */
	};
	struct loupe_cfg *cfg;

	(void)state;
	assert_int_equal(loupe_cfg_from_cbpf(insns, 5, &cfg, NULL), 0);
	assert_int_equal(cfg->block_cnt, 4);
	assert_edge(cfg, 0, 0, 1, LOUPE_EDGE_TRUE, false);
	assert_edge(cfg, 1, 0, 2, LOUPE_EDGE_FALSE, false);
	assert_edge(cfg, 2, 1, 3, LOUPE_EDGE_JUMP, false);
	assert_true(cfg->blocks[2].exits);
	assert_true(cfg->blocks[3].exits);
	loupe_cfg_destroy(cfg);
}

static void loops_nest(void **state)
{
	/* 0; outer 1..6 { 2; inner 3..4; 5: if → 8 (leave) }; second loop 8..9 inside nothing */
	const struct loupe_cfg_insn insns[] = {
		{ LOUPE_CFG_NEXT, 0, 0 },  /* 0 */
		{ LOUPE_CFG_COND, 7, 2 },  /* 1: outer header */
		{ LOUPE_CFG_NEXT, 0, 0 },  /* 2 */
		{ LOUPE_CFG_NEXT, 0, 0 },  /* 3: inner header */
		{ LOUPE_CFG_COND, 3, 5 },  /* 4 */
		{ LOUPE_CFG_COND, 8, 6 },  /* 5 */
		{ LOUPE_CFG_JUMP, 1, 0 },  /* 6 */
		{ LOUPE_CFG_EXIT, 0, 0 },  /* 7 */
		{ LOUPE_CFG_NEXT, 0, 0 },  /* 8 */
		{ LOUPE_CFG_COND, 8, 10 }, /* 9 */
		{ LOUPE_CFG_EXIT, 0, 0 },  /* 10 */
	};
	struct loupe_cfg *cfg = from_flow(insns, 11);
	uint32_t inner = cfg->blocks[cfg->insn_block[3]].loop;
	uint32_t outer = cfg->blocks[cfg->insn_block[1]].loop;
	uint32_t second = cfg->blocks[cfg->insn_block[8]].loop;

	(void)state;
	assert_int_equal(cfg->loop_cnt, 3);
	assert_int_equal(cfg->loops[inner].parent, outer);
	assert_int_equal(cfg->loops[inner].depth, 2);
	assert_int_equal(cfg->loops[inner].block_cnt, 1);
	assert_int_equal(cfg->loops[outer].parent, NONE);
	assert_int_equal(cfg->loops[outer].depth, 1);
	assert_int_equal(cfg->loops[outer].header, cfg->insn_block[1]);
	/* 1, 2, 3-4, 5, 6 */
	assert_int_equal(cfg->loops[outer].block_cnt, 5);
	assert_int_equal(cfg->loops[second].block_cnt, 1);
	assert_int_equal(cfg->loops[second].parent, NONE);
	assert_int_equal(cfg->blocks[cfg->insn_block[7]].loop, NONE);
	assert_true(loupe_cfg_in_loop(cfg, outer, cfg->insn_block[3]));
	assert_false(loupe_cfg_in_loop(cfg, outer, cfg->insn_block[8]));
	assert_false(loupe_cfg_in_loop(cfg, inner, cfg->insn_block[5]));
	for (uint32_t l = 0; l < cfg->loop_cnt; l++)
		assert_false(cfg->loops[l].irreducible);
	loupe_cfg_destroy(cfg);
}

static void two_entries_are_irreducible(void **state)
{
	const struct loupe_cfg_insn insns[] = {
		{ LOUPE_CFG_COND, 3, 1 }, /* 0: into the loop at 1 or at 3 */
		{ LOUPE_CFG_NEXT, 0, 0 }, /* 1 */
		{ LOUPE_CFG_NEXT, 0, 0 }, /* 2 */
		{ LOUPE_CFG_COND, 1, 4 }, /* 3 */
		{ LOUPE_CFG_EXIT, 0, 0 }, /* 4 */
	};
	struct loupe_cfg *cfg = from_flow(insns, 5);
	uint32_t retreating = 0;

	(void)state;
	assert_int_equal(cfg->loop_cnt, 1);
	assert_true(cfg->loops[0].irreducible);
	assert_int_equal(cfg->loops[0].block_cnt, 2);
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		retreating += cfg->edges[e].retreating;
		assert_false(cfg->edges[e].back);
	}
	assert_int_equal(retreating, 1);
	loupe_cfg_destroy(cfg);
}

static void assert_no_graph(const struct loupe_insn *insns, uint32_t cnt, const char *message)
{
	struct loupe_error err;
	struct loupe_cfg *cfg;

	assert_int_equal(loupe_cfg_from_ebpf(insns, cnt, &cfg, &err), -EINVAL);
	assert_null(cfg);
	assert_string_equal(err.message, message);
}

static void bad_programs_say_what_is_wrong(void **state)
{
	const struct loupe_insn out[] = { JEQ_IMM(0, 0, 7), EXIT };
	const struct loupe_insn before[] = { JA(-2), EXIT };
	const struct loupe_insn middle[] = { JEQ_IMM(0, 0, 1), LDIMM64(0, 1), EXIT };
	const struct loupe_insn end[] = { MOV_IMM(0, 0) };
	const struct loupe_insn half[] = { { 0x18, 0, 0, 0, 0 } };
	const struct loupe_insn across[] = { CALL_SUBPROG(1), EXIT, JA(-2) };
	const struct loupe_insn into[] = { CALL_SUBPROG(1), MOV_IMM(0, 0), EXIT };
	const struct loupe_insn reg[] = { { 0x0d, 0, 0, 0, 0 }, EXIT };

	(void)state;
	assert_no_graph(out, 2, "insn 0 jumps to 8, but the program ends at insn 1");
	assert_no_graph(before, 2, "insn 0 jumps to a place before the program");
	assert_no_graph(middle, 4, "insn 0 jumps to 2, the middle of an instruction");
	assert_no_graph(end, 1,
			"insn 0 is the last of its subprogram, but control goes on after it");
	assert_no_graph(half, 1, "insn 0 needs two slots, but is in the last one");
	assert_no_graph(across, 3, "insn 2 jumps to 1, out of its subprogram (insns 2 to 2)");
	assert_no_graph(into, 3,
			"insn 1 is the last of its subprogram, but control goes on after it");
	assert_no_graph(reg, 2, "insn 0 jumps to an address in a register: no graph can be made of "
				"opcode 0x0d");
	assert_no_graph(end, 0, "the program has no instructions");
}

/* Blocks that can be reached from the entry without passing through without. */
static void mark_reachable(const struct loupe_cfg *cfg, uint32_t n, uint32_t without, bool *seen)
{
	if (n == without || seen[n])
		return;
	seen[n] = true;
	for (uint32_t i = 0; i < cfg->blocks[n].succ_cnt; i++)
		mark_reachable(cfg, cfg->edges[cfg->blocks[n].succ + i].to, without, seen);
}

/* Blocks from which to can be reached without passing through without. */
static void mark_reaching(const struct loupe_cfg *cfg, uint32_t n, uint32_t without, bool *seen)
{
	if (n == without || seen[n] || !cfg->blocks[n].reachable)
		return;
	seen[n] = true;
	for (uint32_t i = 0; i < cfg->blocks[n].pred_cnt; i++)
		mark_reaching(cfg, cfg->edges[cfg->preds[cfg->blocks[n].pred + i]].from, without,
			      seen);
}

static void check_dominators(const struct loupe_cfg *cfg)
{
	bool *all = calloc(cfg->block_cnt, sizeof(bool)), *seen;

	mark_reachable(cfg, 0, NONE, all);
	for (uint32_t a = 0; a < cfg->block_cnt; a++) {
		assert_int_equal(cfg->blocks[a].reachable, all[a]);
		seen = calloc(cfg->block_cnt, sizeof(bool));
		mark_reachable(cfg, 0, a, seen);
		for (uint32_t b = 0; b < cfg->block_cnt; b++)
			assert_int_equal(loupe_cfg_dominates(cfg, a, b),
					 all[a] && all[b] && !seen[b]);
		free(seen);
	}
	/* the immediate one is dominated by every other strict dominator */
	for (uint32_t b = 0; b < cfg->block_cnt; b++) {
		uint32_t d = cfg->blocks[b].idom;

		if (d == NONE) {
			assert_true(b == 0 || !all[b]);
			continue;
		}
		assert_true(d != b && loupe_cfg_dominates(cfg, d, b));
		for (uint32_t a = 0; a < cfg->block_cnt; a++) {
			if (a != b && loupe_cfg_dominates(cfg, a, b))
				assert_true(loupe_cfg_dominates(cfg, a, d));
		}
	}
	free(all);
}

/* The natural loop of a header: it and what reaches one of its back edges without passing it. */
static void check_loops(const struct loupe_cfg *cfg)
{
	uint32_t *expected = calloc(cfg->block_cnt, sizeof(*expected));
	uint32_t total = 0;

	for (uint32_t l = 0; l < cfg->loop_cnt; l++) {
		const struct loupe_loop *loop = &cfg->loops[l];
		bool *seen = calloc(cfg->block_cnt, sizeof(bool));
		uint32_t cnt = 1, entries = 0;

		assert_true(loop->parent == NONE || loop->parent < l);
		assert_int_equal(cfg->loop_blocks[loop->first], loop->header);
		for (uint32_t i = 0; i < loop->block_cnt; i++)
			assert_true(loupe_cfg_in_loop(cfg, l, cfg->loop_blocks[loop->first + i]));
		for (uint32_t b = 0; b < cfg->block_cnt; b++) {
			for (uint32_t i = 0; i < cfg->blocks[b].pred_cnt; i++) {
				uint32_t from =
					cfg->edges[cfg->preds[cfg->blocks[b].pred + i]].from;

				if (loupe_cfg_in_loop(cfg, l, b) && cfg->blocks[from].reachable &&
				    !loupe_cfg_in_loop(cfg, l, from)) {
					entries += b != loop->header;
					break;
				}
			}
		}
		assert_int_equal(loop->irreducible, entries > 0);
		if (!loop->irreducible) {
			for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
				if (cfg->edges[e].back && cfg->edges[e].to == loop->header)
					mark_reaching(cfg, cfg->edges[e].from, loop->header, seen);
			}
			for (uint32_t b = 0; b < cfg->block_cnt; b++) {
				cnt += seen[b];
				assert_int_equal(loupe_cfg_in_loop(cfg, l, b),
						 seen[b] || b == loop->header);
			}
			assert_int_equal(loop->block_cnt, cnt);
		}
		for (uint32_t i = 0; i < loop->block_cnt; i++)
			expected[cfg->loop_blocks[loop->first + i]] = l;
		if (loop->parent == NONE)
			total += loop->block_cnt;
		free(seen);
	}
	for (uint32_t b = 0; b < cfg->block_cnt; b++)
		total -= cfg->blocks[b].loop != NONE;
	assert_int_equal(total, 0);
	for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
		if (cfg->edges[e].retreating)
			assert_true(cfg->blocks[cfg->edges[e].to].loop != NONE);
	}
	free(expected);
}

static void random_graphs_against_brute_force(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		uint32_t cnt = 10 + (uint32_t)seed % 90;
		struct loupe_cfg_insn *insns = random_program(cnt, 3 + (uint32_t)seed % 40,
							      (uint32_t)seed % 5, seed);
		struct loupe_cfg *cfg = from_flow(insns, cnt);

		check_dominators(cfg);
		check_loops(cfg);
		loupe_cfg_destroy(cfg);
		free(insns);
	}
	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint32_t cnt;
		struct loupe_cfg_insn *insns = structured_program(200, seed, &cnt);
		struct loupe_cfg *cfg = from_flow(insns, cnt);

		check_dominators(cfg);
		check_loops(cfg);
		for (uint32_t l = 0; l < cfg->loop_cnt; l++)
			assert_false(cfg->loops[l].irreducible);
		loupe_cfg_destroy(cfg);
		free(insns);
	}
}

/* Every edge that does not retreat leads to a later place in the order. */
static void reverse_postorder_orders_forward_edges(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct loupe_cfg_insn *insns = random_program(120, 30, 4, seed);
		struct loupe_cfg *cfg = from_flow(insns, 120);

		for (uint32_t i = 0; i < cfg->rpo_cnt; i++)
			assert_int_equal(cfg->blocks[cfg->rpo[i]].rpo, i);
		for (uint32_t e = 0; e < cfg->edge_cnt; e++) {
			const struct loupe_edge *edge = &cfg->edges[e];

			if (cfg->blocks[edge->from].reachable && !edge->retreating)
				assert_true(cfg->blocks[edge->from].rpo <
					    cfg->blocks[edge->to].rpo);
		}
		loupe_cfg_destroy(cfg);
		free(insns);
	}
}

/* Between two edits; ids tell which instruction is which. */
static void programs_of_a_rewrite(void **state)
{
	const struct loupe_cbpf_insn insns[] = {
		{ 0x20, 0, 0, 0 }, /* 0: A = nr */
		{ 0x05, 0, 0, 0 }, /* 1: ja 2 */
		{ 0x15, 1, 0, 7 }, /* 2: true 4, false 3 */
		{ 0x06, 0, 0, 0 }, /* 3 */
		{ 0x06, 0, 0, 1 }, /* 4 */
	};
	static const struct loupe_reason reason = { "test", "it does nothing" };
	const struct loupe_edit edit = {
		.pass = "test", .reason = &reason, .kind = LOUPE_EDIT_REMOVED,
		.id = 1, .cnt = 1, .where = LOUPE_NONE, .into = LOUPE_NONE,
		.jt = LOUPE_NONE, .jf = LOUPE_NONE,
	};
	struct loupe_rewrite *rw = loupe_rewrite_create_cbpf(insns, 5);
	const struct loupe_rewrite_prog *before, *after;
	struct loupe_cfg *cfg;
	uint32_t map[5];

	(void)state;
	assert_non_null(rw);
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	assert_int_equal(loupe_rewrite_seal(rw), 0);
	before = loupe_rewrite_before(rw);
	after = loupe_rewrite_after(rw);
	assert_int_equal(loupe_cfg_from_rewrite(before, LOUPE_REWRITE_CBPF, &cfg, NULL), 0);
	assert_int_equal(cfg->block_cnt, 4);
	assert_edge(cfg, 0, 0, 1, LOUPE_EDGE_JUMP, false);
	loupe_cfg_destroy(cfg);
	assert_int_equal(loupe_cfg_from_rewrite(after, LOUPE_REWRITE_CBPF, &cfg, NULL), 0);
	assert_int_equal(cfg->block_cnt, 3);
	assert_edge(cfg, 0, 0, 2, LOUPE_EDGE_TRUE, false);
	assert_edge(cfg, 1, 0, 1, LOUPE_EDGE_FALSE, false);
	loupe_cfg_destroy(cfg);
	loupe_cfg_map_rewrite(after, before, map);
	assert_int_equal(map[0], 0);
	assert_int_equal(map[1], 2);
	assert_int_equal(map[3], 4);
	loupe_cfg_map_rewrite(before, after, map);
	assert_int_equal(map[1], NONE);
	assert_int_equal(map[4], 3);
	loupe_rewrite_destroy(rw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diamond),
		cmocka_unit_test(subprogs_calls_and_wide_insns),
		cmocka_unit_test(may_goto_has_two_sides),
		cmocka_unit_test(classic_jumps),
		cmocka_unit_test(programs_of_a_rewrite),
		cmocka_unit_test(loops_nest),
		cmocka_unit_test(two_entries_are_irreducible),
		cmocka_unit_test(bad_programs_say_what_is_wrong),
		cmocka_unit_test(random_graphs_against_brute_force),
		cmocka_unit_test(reverse_postorder_orders_forward_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
