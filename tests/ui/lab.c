// SPDX-License-Identifier: GPL-2.0-only
/* Knobs as words become rules; what is no knob is told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "lab.h"

static struct loupe_verify_opts defaults(void)
{
	struct loupe_verify_opts opts;

	loupe_verify_opts_init(&opts);
	return opts;
}

static void a_sweep_is_one_run_a_value(void **state)
{
	struct loupe_verify_opts opts = defaults();
	struct lab lab = { 0 };

	(void)state;
	assert_int_equal(lab_sweep(&lab, &opts, "evict=off,1,10", NULL, 0), 0);
	assert_int_equal(lab.cnt, 3);
	assert_int_equal(lab.runs[0].opts.evict_n, LOUPE_EVICT_OFF);
	assert_int_equal(lab.runs[1].opts.evict_n, 1);
	assert_int_equal(lab.runs[2].opts.evict_n, 10);
	assert_string_equal(lab.runs[2].name, "evict=10");
	lab_finish(&lab);
}

static void each_knob_turns_one_rule(void **state)
{
	struct loupe_verify_opts opts = defaults();
	struct lab lab = { 0 };

	(void)state;
	assert_int_equal(lab_add(&lab, &opts, NULL, NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "pruning=off", NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "checkpoints=always", NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "privileged=no", NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "insn-limit=5000", NULL, 0), 0);
	assert_int_equal(lab.runs[0].opts.evict_n, 3);
	assert_false(lab.runs[0].opts.no_pruning);
	assert_true(lab.runs[1].opts.no_pruning);
	assert_true(lab.runs[2].opts.checkpoint_always);
	assert_false(lab.runs[2].opts.no_pruning);
	assert_true(lab.runs[3].opts.unprivileged);
	assert_int_equal(lab_add(&lab, &opts, "states=kept", NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "keep=17", NULL, 0), 0);
	assert_int_equal(lab_add(&lab, &opts, "allocator=general", NULL, 0), 0);
	assert_true(lab.runs[7].opts.general_allocator);
	assert_true(lab.runs[5].opts.no_cleaning);
	assert_int_equal(lab.runs[6].opts.keep, 17);
	assert_int_equal(lab.runs[4].opts.insn_limit, 5000);
	lab_finish(&lab);
}

static void faults_are_told(void **state)
{
	static const struct {
		const char *sweep, *why;
	} cases[] = {
		{ "evict", "KNOB=VALUE" },		{ "evict=", "takes off or N" },
		{ "evict=1,,2", "takes off or N" },	{ "evict=-1", "takes off or N" },
		{ "pruning=maybe", "takes on or off" }, { "insn-limit=0", "a number above 0" },
		{ "states=dirty", "takes cleaned or kept" }, { "keep=0", "a checkpoint's number" },
		{ "allocator=big", "takes slabs or general" },
		{ "colour=red", "no knob 'colour'" },
	};
	struct loupe_verify_opts opts = defaults();
	struct lab lab = { 0 };
	char why[160];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lab_sweep(&lab, &opts, cases[i].sweep, why, sizeof(why)), -EINVAL);
		assert_non_null(strstr(why, cases[i].why));
	}
	lab_finish(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sweep_is_one_run_a_value),
		cmocka_unit_test(each_knob_turns_one_rule),
		cmocka_unit_test(faults_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
