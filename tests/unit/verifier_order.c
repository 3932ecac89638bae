// SPDX-License-Identifier: GPL-2.0-only
/* Components were read in the "Live regs before insn" lines of a 6.18 kernel's log. */
#include "phases_env.h"

static void compute_order(struct phases_env *p, const struct loupe_insn *insns, uint32_t cnt)
{
	phases_start(p, insns, cnt);
	assert_int_equal(vf_add_subprogs(p->env), 0);
	assert_int_equal(vf_compute_postorder(p->env), 0);
	assert_int_equal(vf_compute_scc(p->env), 0);
}

/* r0 += 1 in a loop up to 10, then in another up to 20 */
static const struct loupe_insn two_loops[] = {
	INSN(0xb7, 0, 0, 0, 0), INSN(0x07, 0, 0, 0, 1),	  INSN(0xa5, 0, 0, -2, 10),
	INSN(0x07, 0, 0, 0, 1), INSN(0xa5, 0, 0, -2, 20), INSN(0x95, 0, 0, 0, 0),
};

static void inner_components_come_first(void **state)
{
	static const uint32_t scc[] = { 0, 2, 2, 1, 1, 0 };
	struct phases_env p;

	(void)state;
	compute_order(&p, two_loops, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(p.env->aux[i].scc, scc[i]);
	assert_int_equal(p.env->scc_cnt, 3);
	phases_end(&p);
}

/* may_goto loop with a helper call, gotol back; a function that loops */
static const struct loupe_insn with_function[] = {
	INSN(0xbf, 6, 1, 0, 0),	 INSN(0xb7, 7, 0, 0, 0),  INSN(0xe5, 0, 0, 6, 0),
	INSN(0x85, 0, 0, 0, 7),	 INSN(0x15, 0, 0, 2, 0),  INSN(0x0f, 7, 0, 0, 0),
	INSN(0x05, 0, 0, -4, 0), INSN(0x07, 7, 0, 0, 1),  INSN(0x06, 0, 0, 0, -7),
	INSN(0xbf, 0, 7, 0, 0),	 INSN(0x85, 0, 1, 0, 1),  INSN(0x95, 0, 0, 0, 0),
	INSN(0xbf, 0, 1, 0, 0),	 INSN(0x1d, 0, 3, -2, 0), INSN(0x95, 0, 0, 0, 0),
};

static void components_count_on_over_functions(void **state)
{
	static const uint32_t scc[] = { 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 0 };
	struct phases_env p;

	(void)state;
	compute_order(&p, with_function, 15);
	for (uint32_t i = 0; i < 15; i++)
		assert_int_equal(p.env->aux[i].scc, scc[i]);
	phases_end(&p);
}

static void an_insn_alone_repeats_only_by_itself(void **state)
{
	/* goto -1 behind a branch; the branch itself is no component */
	static const struct loupe_insn insns[] = {
		INSN(0x15, 1, 0, 1, 0),
		INSN(0x05, 0, 0, -1, 0),
		INSN(0xb7, 0, 0, 0, 0),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	compute_order(&p, insns, 4);
	assert_int_equal(p.env->aux[0].scc, 0);
	assert_int_equal(p.env->aux[1].scc, 1);
	assert_int_equal(p.env->aux[2].scc, 0);
	phases_end(&p);
}

/* The last successor is finished first, so fall-through stands behind the jump's target. */
static void postorder_of_a_diamond(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x15, 1, 0, 2, 0), INSN(0xb7, 0, 0, 0, 0), INSN(0x05, 0, 0, 1, 0),
		INSN(0xb7, 0, 0, 0, 1), INSN(0x95, 0, 0, 0, 0),
	};
	static const uint32_t order[] = { 4, 3, 2, 1, 0 };
	struct phases_env p;

	(void)state;
	compute_order(&p, insns, 5);
	assert_int_equal(p.env->postorder_cnt, 5);
	assert_memory_equal(p.env->postorder, order, sizeof(order));
	phases_end(&p);
}

/* A function that begins with a jump to itself has each insn once. */
static void postorder_of_an_endless_loop(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x85, 0, 1, 0, 2), INSN(0x95, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0),
		INSN(0x05, 0, 0, -1, 0),
	};
	static const uint32_t order[] = { 1, 0, 3 };
	struct phases_env p;

	(void)state;
	compute_order(&p, insns, 4);
	assert_int_equal(p.env->postorder_cnt, 3);
	assert_memory_equal(p.env->postorder, order, sizeof(order));
	phases_end(&p);
}

static void each_function_has_its_range(void **state)
{
	struct phases_env p;

	(void)state;
	compute_order(&p, with_function, 15);
	assert_int_equal(p.env->subprog_cnt, 2);
	assert_int_equal(p.env->subprogs[0].postorder_start, 0);
	assert_int_equal(p.env->subprogs[1].postorder_start, 12);
	assert_int_equal(p.env->subprogs[2].postorder_start, 15);
	assert_int_equal(p.env->postorder[11], 0);
	assert_int_equal(p.env->postorder[14], 12);
	assert_int_equal(vf_find_containing_subprog(p.env, 11), 0);
	assert_int_equal(vf_find_containing_subprog(p.env, 12), 1);
	assert_int_equal(vf_find_subprog(p.env, 12), 1);
	assert_int_equal(vf_find_subprog(p.env, 13), -1);
	assert_int_equal(vf_find_subprog(p.env, 15), -1);
	assert_int_equal(vf_find_subprog(p.env, -1), -1);
	phases_end(&p);
}

static void successors(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x18, 0, 0, 0, 0), INSN(0, 0, 0, 0, 0),	 INSN(0x06, 0, 0, 0, 1),
		INSN(0x95, 0, 0, 0, 0), INSN(0x25, 1, 0, -4, 0), INSN(0x85, 0, 0, 0, 12),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;
	uint32_t succ[2] = { 0 };

	(void)state;
	phases_start(&p, insns, 7);
	assert_int_equal(vf_insn_successors(p.env, 0, succ), 1);
	assert_int_equal(succ[0], 2);
	assert_int_equal(vf_insn_successors(p.env, 2, succ), 1);
	assert_int_equal(succ[0], 4);
	assert_int_equal(vf_insn_successors(p.env, 3, succ), 0);
	assert_int_equal(vf_insn_successors(p.env, 4, succ), 2);
	assert_int_equal(succ[0], 5);
	assert_int_equal(succ[1], 1);
	assert_int_equal(vf_insn_successors(p.env, 5, succ), 1);
	assert_int_equal(succ[0], 6);
	phases_end(&p);
}

/* Starts of functions in the order of the program, whoever is called first. */
static void functions_are_sorted(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x85, 0, 1, 0, 4), INSN(0x85, 0, 1, 0, 1), INSN(0x95, 0, 0, 0, 0),
		INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 1),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	phases_start(&p, insns, 7);
	assert_int_equal(vf_add_subprogs(p.env), 0);
	assert_string_equal(phases_log(&p), "func#0 @0\nfunc#1 @3\nfunc#2 @5\n");
	assert_int_equal(vf_check_subprogs(p.env), 0);
	phases_end(&p);
}

static void jumps_stay_inside(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x85, 0, 1, 0, 1),
		INSN(0x95, 0, 0, 0, 0),
		INSN(0x05, 0, 0, -2, 0),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	phases_start(&p, insns, 4);
	assert_int_equal(vf_add_subprogs(p.env), 0);
	assert_int_equal(vf_check_subprogs(p.env), -EINVAL);
	assert_string_equal(phases_log(&p), "func#0 @0\nfunc#1 @2\n"
					    "jump out of range from insn 2 to 1\n");
	phases_end(&p);
}

static void a_function_does_not_fall_into_the_next(void **state)
{
	static const struct loupe_insn insns[] = {
		INSN(0x85, 0, 1, 0, 0),
		INSN(0xb7, 0, 0, 0, 0),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct phases_env p;

	(void)state;
	phases_start(&p, insns, 3);
	assert_int_equal(vf_add_subprogs(p.env), 0);
	assert_int_equal(vf_check_subprogs(p.env), -EINVAL);
	assert_string_equal(phases_log(&p),
			    "func#0 @0\nfunc#1 @1\nlast insn is not an exit or jmp\n");
	phases_end(&p);
}

static void callees_lie_in_the_program(void **state)
{
	static const int32_t imms[] = { 1, -2, INT32_MAX, INT32_MIN };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct loupe_insn insns[] = { INSN(0x85, 0, 1, 0, 0), INSN(0x95, 0, 0, 0, 0) };
		struct phases_env p;

		insns[0].imm = imms[i];
		phases_start(&p, insns, 2);
		assert_int_equal(vf_add_subprogs(p.env), -EINVAL);
		assert_string_equal(phases_log(&p), "call to invalid destination\n");
		phases_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inner_components_come_first),
		cmocka_unit_test(components_count_on_over_functions),
		cmocka_unit_test(an_insn_alone_repeats_only_by_itself),
		cmocka_unit_test(postorder_of_a_diamond),
		cmocka_unit_test(postorder_of_an_endless_loop),
		cmocka_unit_test(each_function_has_its_range),
		cmocka_unit_test(successors),
		cmocka_unit_test(functions_are_sorted),
		cmocka_unit_test(jumps_stay_inside),
		cmocka_unit_test(a_function_does_not_fall_into_the_next),
		cmocka_unit_test(callees_lie_in_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
