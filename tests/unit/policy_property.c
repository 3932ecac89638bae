// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: policy_property [--full]
 * Random policies: what they say, what the compiler makes of them and what the optimizer makes of
 * that is the same on calls that reach every instruction of both programs, and the proof agrees.
 * With --full many more of them.
 */
#include "policy_check.h"

#include "filter_reach.h"

enum { POLICIES = 2000, FULL_POLICIES = 10000, RULES = 14, ROWS = 6 };

static uint32_t policy_cnt = POLICIES;

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* Few different values, so that rules meet. */
static uint64_t some_value(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   2,
					   3,
					   5,
					   0x81,
					   0xffff,
					   0x10000,
					   0x7fffffff,
					   0x80000000,
					   0xffffffff,
					   U64(0x100000000),
					   U64(0x100000001),
					   U64(0x8000000000000000),
					   UINT64_MAX - 1,
					   UINT64_MAX };

	return values[below(sizeof(values) / sizeof(values[0]))] + (below(4) ? 0 : below(3));
}

static struct loupe_policy_cond some_cond(void)
{
	struct loupe_policy_cond cond = { .arg = (uint8_t)below(3),
					  .op = (uint8_t)below(6),
					  .mask = UINT64_MAX,
					  .value = some_value() };

	if (cond.op <= LOUPE_POLICY_NE && below(2)) {
		cond.mask = below(2) ? some_value() : ~some_value();
		if (below(4))
			cond.value &= cond.mask;
	} else if (!below(3)) {
		cond.mask = UINT32_MAX;
	}
	return cond;
}

/* Around where x32's numbers start and where they end. */
static uint32_t far_number(void)
{
	return (below(2) ? 0x40000000u : UINT32_MAX) - 1 + below(3);
}

struct random_policy {
	struct loupe_policy policy;
	struct loupe_policy_rule rules[RULES];
	struct loupe_policy_cond conds[RULES][3];
};

static void some_policy(struct random_policy *p)
{
	static const uint32_t actions[] = { ALLOW, ALLOW, ERRNO(1), ERRNO(2), KILL };
	static char name[] = "random", *files[] = { name };

	p->policy = (struct loupe_policy){ .name = name,
					   .files = files,
					 .file_cnt = 1,
					 .arch = AUDIT_ARCH_X86_64,
					 .other_arch = ERRNO(99),
					 .x32_apart = below(2),
					 .default_action = actions[below(5)],
					 .rules = p->rules,
					 .rule_cnt = below(RULES + 1) };
	for (uint32_t i = 0; i < p->policy.rule_cnt; i++) {
		p->rules[i] = (struct loupe_policy_rule){ .nr = below(3)  ? below(4)
							     : below(9) ? below(12) * 40
									: far_number(),
						       .action = actions[below(5)],
						       .cond_cnt = below(4),
						       .conds = p->conds[i],
						       .line = i + 1 };
		for (uint32_t c = 0; c < p->rules[i].cond_cnt; c++)
			p->conds[i][c] = some_cond();
	}
}

/* Calls at the edges of conditions, and of other architectures. */
static void add_calls(const struct random_policy *p, struct reach_inputs *to)
{
	for (int n = 0; n < 60; n++) {
		struct reach_input *input = &to->input[to->cnt++];
		struct loupe_seccomp_data *data = &input->data;

		*data = (struct loupe_seccomp_data){ .arch = below(20) ? AUDIT_ARCH_X86_64
								       : AUDIT_ARCH_I386 };
		input->len = sizeof(*data);
		data->nr = p->policy.rule_cnt && below(8)
				   ? p->rules[below(p->policy.rule_cnt)].nr
				   : below(2) ? below(500) : far_number();
		for (int a = 0; a < 3; a++)
			data->args[a] = some_value();
		if (p->policy.rule_cnt && below(2)) {
			const struct loupe_policy_cond *cond = p->conds[below(p->policy.rule_cnt)];

			data->args[cond->arg % 3] = cond->value + below(3) - 1;
		}
	}
}

static void some_weights(const struct random_policy *p, struct loupe_weights *weights)
{
	weights->arch = AUDIT_ARCH_X86_64;
	weights->cnt = below(ROWS + 1);
	for (uint32_t i = 0; i < weights->cnt; i++) {
		struct loupe_weight *row = &weights->rows[i];

		*row = (struct loupe_weight){ .nr = below(500),
					      .has_args = below(2),
					      .weight = below(1000) };
		if (p->policy.rule_cnt && below(6))
			row->nr = p->rules[below(p->policy.rule_cnt)].nr;
		for (int a = 0; a < 3; a++)
			row->args[a] = some_value();
	}
}

/* What the optimizer makes of a filter, proven. */
static struct loupe_filter *optimized(const struct loupe_filter *filter, uint32_t level,
				      const struct loupe_weights *weights)
{
	const struct loupe_filter_opts opts = { .level = level, .weights = weights };
	struct loupe_filter_proof proof;
	struct loupe_filter *after;
	struct loupe_rewrite *rw;
	struct loupe_error err;
	uint32_t used;

	if (loupe_filter_optimize_proven(filter, &opts, &rw, &proof, &used, &err))
		fail_msg("%s", err.message);
	assert_int_equal(proof.verdict, LOUPE_PROOF_PROVEN);
	assert_int_equal(used, level);
	if (loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, &err))
		fail_msg("%s", err.message);
	loupe_rewrite_destroy(rw);
	return after;
}

static void random_policies_mean_what_they_say(void **state)
{
	struct random_source r = { .state = 1 };
	static struct reach_inputs inputs;
	struct reach_count reach = { 0 };
	uint64_t compiled = 0, after_all = 0, calls = 0;

	(void)state;
	random_state = 1;
	for (uint32_t n = 0; n < policy_cnt; n++) {
		struct loupe_weight rows[ROWS];
		struct loupe_weights weights = { .rows = rows };
		struct loupe_filter *filter, *after;
		struct random_policy p;
		struct loupe_error err;
		bool weighted = below(2);

		some_policy(&p);
		some_weights(&p, &weights);
		if (loupe_policy_compile(&p.policy, weighted ? &weights : NULL, &filter, &err))
			fail_msg("%s", err.message);
		/* the search is slow */
		after = optimized(filter, below(20) ? 1 + below(2) : 3, weighted ? &weights : NULL);
		inputs.cnt = 0;
		add_calls(&p, &inputs);
		reach_all(&r, filter, true, &inputs, &reach);
		reach_all(&r, after, true, &inputs, &reach);
		for (uint32_t i = 0; i < inputs.cnt; i++) {
			uint32_t want = ask(&p.policy, filter, &inputs.input[i].data);

			assert_int_equal(run_filter(after, &inputs.input[i].data), want);
		}
		calls += inputs.cnt;
		compiled += filter->cnt;
		after_all += after->cnt;
		loupe_filter_destroy(after);
		loupe_filter_destroy(filter);
	}
	print_message("%u policies: %llu instructions compiled, %llu optimized and proven; %llu "
		      "calls reach %llu, %llu proven out of reach, %llu open\n",
		      policy_cnt, (unsigned long long)compiled, (unsigned long long)after_all,
		      (unsigned long long)calls, (unsigned long long)reach.reached,
		      (unsigned long long)reach.out_of_reach, (unsigned long long)reach.open);
	assert_int_equal(reach.open, 0);
	assert_true(after_all <= compiled);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_policies_mean_what_they_say),
	};

	if (argc > 1 && !strcmp(argv[1], "--full"))
		policy_cnt = FULL_POLICIES;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
