// SPDX-License-Identifier: GPL-2.0-only
/* Live registers and marks of insns; right values were read in a 6.18 kernel's log. */
#include <stdio.h>

#include "phases_env.h"
#include "verifier/helper.h"

/* Runs the phases up to live registers. */
static int compute(struct phases_env *p, const struct loupe_insn *insns, uint32_t cnt)
{
	int err;

	phases_start(p, insns, cnt);
	err = vf_helpers_init(p->env);
	err = err ? err : vf_add_subprogs(p->env);
	err = err ? err : vf_check_cfg(p->env);
	err = err ? err : vf_compute_postorder(p->env);
	err = err ? err : vf_compute_scc(p->env);
	return err ? err : vf_compute_live_regs(p->env);
}

static const struct {
	struct loupe_insn insn;
	const char *live; /* before it, when it is followed by r0 = 0; exit */
} rows[] = {
	{ INSN(0xbf, 0, 9, 0, 0), ".........9" },     { INSN(0x0f, 1, 2, 0, 0), ".12......." },
	{ INSN(0xb7, 3, 0, 0, 1), ".........." },     { INSN(0xd7, 4, 0, 0, 16), "....4....." },
	{ INSN(0x61, 1, 2, 0, 0), "..2......." },     { INSN(0x91, 1, 2, 0, 0), "..2......." },
	{ INSN(0x62, 3, 0, 0, 1), "...3......" },     { INSN(0x63, 3, 4, 0, 0), "...34....." },
	{ INSN(0xdb, 3, 4, 0, 0), "...34....." },     { INSN(0xdb, 3, 4, 0, 0xf1), "0..34....." },
	{ INSN(0xdb, 3, 4, 0, 0xe1), "...34....." },  { INSN(0xdb, 3, 4, 0, 0x100), "....4....." },
	{ INSN(0xdb, 3, 4, 0, 0x110), "...34....." }, { INSN(0x20, 0, 0, 0, 0), "0123456789" },
	{ INSN(0x15, 5, 0, 0, 0), ".....5...." },     { INSN(0x2d, 5, 6, 0, 0), ".....56..." },
	{ INSN(0xe5, 0, 0, 0, 0), ".........." },     { INSN(0x85, 0, 0, 0, 7), ".........." },
	{ INSN(0x85, 0, 0, 0, 1), ".12......." },     { INSN(0x85, 0, 0, 0, 9999), ".12345...." },
};

static void each_insn_uses_and_defines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct loupe_insn insns[] = { rows[i].insn, INSN(0xb7, 0, 0, 0, 0),
						    INSN(0x95, 0, 0, 0, 0) };
		struct phases_env p;
		char live[11] = "..........";

		assert_int_equal(compute(&p, insns, 3), 0);
		for (int r = 0; r < 10; r++)
			if (p.env->aux[0].live_regs >> r & 1)
				live[r] = (char)('0' + r);
		if (strcmp(live, rows[i].live) != 0)
			fail_msg("row %zu: %s", i, live);
		phases_end(&p);
	}
}

static void the_log_shows_them(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0xbf, 6, 1, 0, 0), INSN(0xb7, 7, 0, 0, 0), INSN(0xe5, 0, 0, 3, 0),
		INSN(0x85, 0, 0, 0, 7), INSN(0x0f, 7, 0, 0, 0), INSN(0x05, 0, 0, -4, 0),
		INSN(0xbf, 0, 7, 0, 0), INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	assert_int_equal(compute(&p, insns, 8), 0);
	assert_string_equal(phases_log(&p), "func#0 @0\n"
					    "Live regs before insn:\n"
					    "      0: .1........ (bf) r6 = r1\n"
					    "      1: .......... (b7) r7 = 0\n"
					    "  1   2: .......7.. (e5) may_goto pc+3\n"
					    "  1   3: .......7.. (85) call bpf_get_prandom_u32#7\n"
					    "  1   4: 0......7.. (0f) r7 += r0\n"
					    "  1   5: .......7.. (05) goto pc-4\n"
					    "      6: .......7.. (bf) r0 = r7\n"
					    "      7: 0......... (95) exit\n");
	/* may_goto is a checkpoint at each visit; targets get history entries */
	assert_true(p.env->aux[2].force_checkpoint);
	assert_true(p.env->aux[2].prune_point && p.env->aux[2].jmp_point);
	assert_true(p.env->aux[4].prune_point && p.env->aux[4].jmp_point);
	assert_true(p.env->aux[6].prune_point && p.env->aux[6].jmp_point);
	assert_false(p.env->aux[3].prune_point || p.env->aux[3].force_checkpoint);
	assert_false(p.env->aux[5].prune_point);
	phases_end(&p);
}

static void loops_need_privileges(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0xb7, 0, 0, 0, 0),
		INSN(0x07, 0, 0, 0, 1),
		INSN(0xa5, 0, 0, -2, 9),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	phases_start(&p, insns, 4);
	p.env->bpf_capable = false;
	assert_int_equal(vf_add_subprogs(p.env), 0);
	assert_int_equal(vf_check_cfg(p.env), -EINVAL);
	assert_string_equal(phases_log(&p), "func#0 @0\nback-edge from insn 2 to 1\n");
	phases_end(&p);
}

/* What a function does to packets or may wait for, its callers do too. */
static void effects_reach_callers(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x85, 0, 1, 0, 1),
		INSN(0x95, 0, 0, 0, 0),
		INSN(0x85, 0, 1, 0, 1),
		INSN(0x95, 0, 0, 0, 0),
		INSN(0x85, 0, 0, 0, BPF_FUNC_skb_store_bytes),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	assert_int_equal(compute(&p, insns, 6), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(p.env->subprogs[i].changes_pkt_data);
		assert_false(p.env->subprogs[i].might_sleep);
	}
	phases_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_insn_uses_and_defines),
		cmocka_unit_test(the_log_shows_them),
		cmocka_unit_test(loops_need_privileges),
		cmocka_unit_test(effects_reach_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
