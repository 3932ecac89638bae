// SPDX-License-Identifier: GPL-2.0-only
/* Texts were read in a 6.18 kernel's log of programs with the same accesses. */
#include "phases_env.h"

static struct loupe_frame frames[2];
static struct loupe_state cur;

static void start(struct phases_env *p, const struct loupe_insn *insns, uint32_t cnt)
{
	phases_start(p, insns, cnt);
	assert_int_equal(vf_add_subprogs(p->env), 0);
	assert_int_equal(vf_compute_postorder(p->env), 0);
	assert_int_equal(vf_livestack_init(p->env), 0);
	memset(frames, 0, sizeof(frames));
	memset(&cur, 0, sizeof(cur));
	frames[0].callsite = -1;
	cur.frame[0] = &frames[0];
	p->env->cur = &cur;
}

/* Simulates an insn that reads or writes slots of a frame. */
static void step(struct phases_env *p, uint32_t insn_idx, uint32_t frameno, uint64_t reads,
		 uint64_t writes)
{
	assert_int_equal(vf_livestack_reset_writes(p->env, insn_idx), 0);
	if (reads)
		assert_int_equal(vf_livestack_read(p->env, frameno, insn_idx, reads), 0);
	if (writes)
		vf_livestack_write(p->env, frameno, writes);
	assert_int_equal(vf_livestack_commit_writes(p->env), 0);
}

static void end_of_path(struct phases_env *p)
{
	assert_int_equal(vf_livestack_update(p->env), 0);
}

static bool alive_at(struct phases_env *p, int32_t insn_idx, uint32_t frameno, uint32_t spi)
{
	cur.insn_idx = insn_idx;
	assert_int_equal(vf_livestack_query(p->env, &cur), 0);
	return vf_livestack_alive(p->env, frameno, spi);
}

/* Log behind the lines of functions. */
static const char *stack_log(struct phases_env *p)
{
	return strstr(phases_log(p), "(");
}

/* if r0 == 0 goto +1; r0 = 1; fp-272 = r0; fp-8 = r0; r1 = fp-272; r2 = fp-8; r0 = 0; exit */
static const struct loupe_insn straight[] = {
	INSN(0x85, 0, 0, 0, 7),	    INSN(0x15, 0, 0, 1, 0),   INSN(0xb7, 0, 0, 0, 1),
	INSN(0x7b, 10, 0, -272, 0), INSN(0x7b, 10, 0, -8, 0), INSN(0x79, 1, 10, -272, 0),
	INSN(0x79, 2, 10, -8, 0),   INSN(0xb7, 0, 0, 0, 0),   INSN(0x95, 0, 0, 0, 0),
};

static void slots_are_live_from_write_to_read(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, straight, 9);
	p.env->aux[1].prune_point = p.env->aux[3].prune_point = true;
	for (uint32_t i = 0; i < 3; i++)
		step(&p, i, 0, 0, 0);
	step(&p, 3, 0, 0, 1ull << 33);
	step(&p, 4, 0, 0, 1);
	step(&p, 5, 0, 1ull << 33, 0);
	step(&p, 6, 0, 1, 0);
	step(&p, 7, 0, 0, 0);
	step(&p, 8, 0, 0, 0);
	end_of_path(&p);
	assert_string_equal(stack_log(&p), "(0) frame 0 insn 6 +live -8 \n"
					   "(0) frame 0 insn 5 +live -8,-272 \n"
					   "(0) frame 0 insn 4 +live -272 \n"
					   "(0) frame 0 insn 4 +written -8 \n"
					   "(0) frame 0 insn 3 +written -8,-272 \n"
					   "(0) frame 0 insn 1 +written -8,-272 \n"
					   "(0) frame 0 insn 0 +written -8,-272 \n"
					   "(0) live stack update done in 2 iterations\n");
	assert_false(alive_at(&p, 4, 0, 0));
	assert_true(alive_at(&p, 4, 0, 33));
	assert_true(alive_at(&p, 6, 0, 0));
	assert_false(alive_at(&p, 6, 0, 33));
	assert_false(alive_at(&p, 3, 0, 33));
	phases_end(&p);
}

/* A quirk: slots beyond fp-256 are not taken back by a visit that does not write them ... */
static void deep_writes_stay(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, straight, 9);
	step(&p, 3, 0, 0, 1ull << 33);
	step(&p, 5, 0, 1ull << 33, 0);
	end_of_path(&p);
	step(&p, 3, 0, 0, 0);
	end_of_path(&p);
	assert_false(alive_at(&p, 0, 0, 33));
	phases_end(&p);
}

/* ... but go together with a nearer slot that is. */
static void deep_writes_go_with_others(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, straight, 9);
	step(&p, 3, 0, 0, 1ull << 33 | 1);
	step(&p, 5, 0, 1ull << 33, 0);
	end_of_path(&p);
	assert_false(alive_at(&p, 0, 0, 33));
	step(&p, 3, 0, 0, 1ull << 33);
	end_of_path(&p);
	assert_true(alive_at(&p, 0, 0, 33));
	phases_end(&p);
}

/* A visit that does not write takes the slot back from all insns before. */
static void must_write_is_the_intersection(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, straight, 9);
	step(&p, 4, 0, 0, 1);
	step(&p, 6, 0, 1, 0);
	end_of_path(&p);
	assert_false(alive_at(&p, 0, 0, 0));
	step(&p, 4, 0, 0, 0);
	end_of_path(&p);
	assert_true(alive_at(&p, 0, 0, 0));
	phases_end(&p);
}

/* r1 = r10; r1 += -8; call; r0 = fp-8; exit; callee: *r1 = 3; r0 = 0; exit */
static const struct loupe_insn with_callee[] = {
	INSN(0xbf, 1, 10, 0, 0),  INSN(0x07, 1, 0, 0, -8), INSN(0x85, 0, 1, 0, 2),
	INSN(0x79, 0, 10, -8, 0), INSN(0x95, 0, 0, 0, 0),  INSN(0x7a, 1, 0, 0, 3),
	INSN(0xb7, 0, 0, 0, 0),	  INSN(0x95, 0, 0, 0, 0),
};

static void enter_callee(struct phases_env *p)
{
	vf_livestack_reset_chain(p->env);
	frames[1].callsite = 2;
	frames[1].subprogno = 1;
	frames[1].frameno = 1;
	cur.frame[1] = &frames[1];
	cur.curframe = 1;
}

static void callees_write_for_their_callers(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, with_callee, 8);
	for (uint32_t i = 0; i < 2; i++)
		step(&p, i, 0, 0, 0);
	enter_callee(&p);
	step(&p, 5, 0, 0, 1);
	step(&p, 6, 1, 0, 0);
	end_of_path(&p);
	cur.curframe = 0;
	vf_livestack_reset_chain(p.env);
	step(&p, 3, 0, 1, 0);
	end_of_path(&p);
	assert_string_equal(stack_log(&p), "(2,5) frame 0 insn 5 +written -8 \n"
					   "(2,5) live stack update done in 2 iterations\n"
					   "(0) frame 0 insn 2 +written -8 \n"
					   "(0) frame 0 insn 0 +written -8 \n"
					   "(0) live stack update done in 2 iterations\n"
					   "(0) frame 0 insn 3 +live -8 \n"
					   "(0) live stack update done in 2 iterations\n");
	assert_false(alive_at(&p, 1, 0, 0));
	assert_true(alive_at(&p, 3, 0, 0));
	phases_end(&p);
}

/* Inside the callee the caller's slot is live if the caller reads it after the call. */
static void callers_slots_live_through_the_call(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, with_callee, 8);
	step(&p, 3, 0, 1, 0);
	end_of_path(&p);
	enter_callee(&p);
	assert_true(alive_at(&p, 6, 0, 0));
	assert_false(alive_at(&p, 6, 0, 1));
	assert_false(alive_at(&p, 6, 1, 0));
	phases_end(&p);
}

/* A callback returns to its call, so what the call itself needs is live too. */
static void callbacks_return_to_the_call(void **state)
{
	struct phases_env p;

	(void)state;
	start(&p, with_callee, 8);
	step(&p, 2, 0, 2, 0);
	end_of_path(&p);
	enter_callee(&p);
	assert_false(alive_at(&p, 6, 0, 1));
	p.env->aux[2].calls_callback = true;
	assert_true(alive_at(&p, 6, 0, 1));
	phases_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_live_from_write_to_read),
		cmocka_unit_test(deep_writes_stay),
		cmocka_unit_test(deep_writes_go_with_others),
		cmocka_unit_test(must_write_is_the_intersection),
		cmocka_unit_test(callees_write_for_their_callers),
		cmocka_unit_test(callers_slots_live_through_the_call),
		cmocka_unit_test(callbacks_return_to_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
