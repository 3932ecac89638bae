// SPDX-License-Identifier: GPL-2.0-only
/* Knobs that the kernel has not: states kept as they are, one checkpoint never evicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/verify.h"

static void assemble(const char *text, struct loupe_program_list *list)
{
	struct loupe_error err;

	assert_int_equal(loupe_asm_load("knobs.bpfasm", text, strlen(text), list, &err), 0);
	assert_int_equal(list->cnt, 1);
}

/*
 * What the sides of the branch leave in the stack is never read. The checkpoint where they meet is
 * cleaned of it before the second arrives; as it was stored it would not cover that one.
 */
static void test_states_are_kept(void **state)
{
	static const char text[] = ".type xdp\n"
				   "	call bpf_get_prandom_u32\n"
				   "	if r0 > 5 goto other\n"
				   "	*(u64 *)(r10 -8) = 1\n"
				   "	r0 = 1\n"
				   "	goto join\n"
				   "other:	*(u64 *)(r10 -8) = r10\n"
				   "	r0 = 1\n"
				   "join:	r0 += 1\n"
				   "	r0 += 1\n"
				   "	r0 += 1\n"
				   "	exit\n";
	struct loupe_program_list list;
	struct loupe_verify_opts opts;
	struct loupe_verify_result cleaned, kept;

	(void)state;
	assemble(text, &list);
	loupe_verify_opts_init(&opts);
	opts.checkpoint_always = true;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &cleaned), 0);
	opts.no_cleaning = true;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &kept), 0);
	assert_int_equal(cleaned.verdict, LOUPE_ACCEPTED);
	assert_int_equal(kept.verdict, LOUPE_ACCEPTED);
	assert_int_equal(cleaned.counters.compare_hits, 1);
	assert_int_equal(kept.counters.compare_hits, 0);
	/* the four insns from the join on, but for the arrival there */
	assert_int_equal(kept.counters.insn_processed, cleaned.counters.insn_processed + 3);
	loupe_verify_result_finish(&cleaned);
	loupe_verify_result_finish(&kept);
	loupe_program_list_finish(&list);
}

struct heard {
	uint32_t evicted; /* the last one */
	uint32_t of_kept; /* evictions of the one that is kept */
	uint32_t keep;
};

static void on_evict(void *ctx, const struct loupe_state *st, uint32_t hits, uint32_t misses)
{
	struct heard *heard = ctx;

	(void)hits;
	(void)misses;
	heard->of_kept += st->serial == heard->keep;
	heard->evicted = (uint32_t)st->serial;
}

/* Sixteen paths arrive with different exact values at one insn: the first checkpoint there goes. */
static void test_one_is_never_evicted(void **state)
{
	static const struct loupe_hooks hooks = { .evict = on_evict };
	static const char text[] = ".type xdp\n"
				   "	*(u64 *)(r10 -64) = 0\n"
				   "	call bpf_get_prandom_u32\n"
				   "	r7 = r0\n"
				   "	r6 = 0\n"
				   "	if r7 & 1 goto a\n"
				   "	r6 += 1\n"
				   "a:	if r7 & 2 goto b\n"
				   "	r6 += 2\n"
				   "b:	if r7 & 4 goto c\n"
				   "	r6 += 4\n"
				   "c:	if r7 & 8 goto d\n"
				   "	r6 += 8\n"
				   "d:	r1 = r10\n"
				   "	r1 += r6\n"
				   "	*(u8 *)(r1 -32) = 1\n"
				   "	r0 = 1\n"
				   "	exit\n";
	struct loupe_program_list list;
	struct loupe_verify_result before, after;
	struct loupe_verify_opts opts;
	struct heard heard = { 0 };

	(void)state;
	assemble(text, &list);
	loupe_verify_opts_init(&opts);
	opts.checkpoint_always = true;
	opts.listeners[opts.listener_cnt++] = (struct loupe_listener){ &hooks, &heard };
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &before), 0);
	assert_true(heard.evicted > 0);
	opts.keep = heard.keep = heard.evicted;
	heard.of_kept = 0;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &after), 0);
	assert_int_equal(heard.of_kept, 0);
	assert_true(after.counters.evictions < before.counters.evictions);
	loupe_verify_result_finish(&before);
	loupe_verify_result_finish(&after);
	loupe_program_list_finish(&list);
}

/* The allocator changes nothing but time. */
static void test_allocators_agree(void **state)
{
	static const char text[] = ".type xdp\n"
				   "	r6 = 0\n"
				   "turn:	*(u64 *)(r10 -512) = 0\n"
				   "	r6 += 1\n"
				   "	if r6 < 200 goto turn\n"
				   "	r0 = 1\n"
				   "	exit\n";
	struct loupe_verify_result slabs, general;
	struct loupe_program_list list;
	struct loupe_verify_opts opts;

	(void)state;
	assemble(text, &list);
	loupe_verify_opts_init(&opts);
	opts.checkpoint_always = true;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &slabs), 0);
	opts.general_allocator = true;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &general), 0);
	assert_int_equal(slabs.verdict, LOUPE_ACCEPTED);
	assert_int_equal(general.verdict, LOUPE_ACCEPTED);
	assert_memory_equal(&slabs.counters, &general.counters, sizeof(slabs.counters));
	loupe_verify_result_finish(&slabs);
	loupe_verify_result_finish(&general);
	/* a limit holds for both */
	opts.memory_limit = 4096;
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &general), 0);
	assert_int_equal(general.verdict, LOUPE_STOPPED);
	loupe_verify_result_finish(&general);
	loupe_program_list_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_are_kept),
		cmocka_unit_test(test_one_is_never_evicted),
		cmocka_unit_test(test_allocators_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
