// SPDX-License-Identifier: GPL-2.0-only
/* Firecracker's JSON: operators and widths, both spellings of actions, several filters, errors. */
#include "policy_check.h"

#define FILTER(rules)                                                              \
	"{ \"vmm\": { \"default_action\": \"trap\", \"filter_action\": \"allow\"," \
	" \"filter\": [ " rules " ] } }"
#define RULE(args) "{ \"syscall\": \"read\", \"args\": [ " args " ] }"
#define ARG(index, type, op, val)                                       \
	"{ \"index\": " #index ", \"type\": \"" type "\", \"op\": " op \
	", \"val\": " #val ", \"comment\": \"x\" }"
#define TRAP SECCOMP_RET_TRAP

static void operators(void **state)
{
	static const struct {
		const char *text;
		uint64_t holds, fails;
	} rows[] = {
		{ FILTER("{ \"syscall\": \"read\" }"), 0, 0 },
		{ FILTER(RULE(ARG(1, "dword", "\"eq\"", 5))), U64(0x700000005), 4 },
		{ FILTER(RULE(ARG(1, "qword", "\"eq\"", 5))), 5, U64(0x700000005) },
		{ FILTER(RULE(ARG(1, "dword", "\"ne\"", 5))), 6, U64(0x700000005) },
		{ FILTER(RULE(ARG(1, "qword", "\"ne\"", 5))), U64(0x700000005), 5 },
		{ FILTER(RULE(ARG(1, "dword", "\"lt\"", 5))), U64(0x700000004), 5 },
		{ FILTER(RULE(ARG(1, "dword", "\"le\"", 5))), U64(0x700000005), 6 },
		{ FILTER(RULE(ARG(1, "dword", "\"gt\"", 5))), 6, U64(0x700000005) },
		{ FILTER(RULE(ARG(1, "dword", "\"ge\"", 5))), 5, U64(0x700000004) },
		{ FILTER(RULE(ARG(1, "qword", "\"ge\"", 5))), U64(0x100000000), 4 },
		{ FILTER(RULE(ARG(1, "dword", "{\"masked_eq\": 240}", 33))), U64(0xf0000002f),
		  0x1f },
		{ FILTER(RULE(ARG(1, "dword", "\"eq\"", -1))), 0xffffffff, 1 },
		{ FILTER(RULE(ARG(1, "dword", "\"eq\"", 1)) "," RULE(
			  ARG(1, "dword", "\"eq\"", 2))),
		  2, 3 },
		{ FILTER(RULE(ARG(1, "dword", "\"ge\"", 1) "," ARG(1, "dword", "\"le\"", 3))), 3,
		  4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(answer(rows[i].text, 0, 1, rows[i].holds), ALLOW);
		if (i)
			assert_int_equal(answer(rows[i].text, 0, 1, rows[i].fails), TRAP);
		assert_int_equal(answer(rows[i].text, 1, 1, rows[i].holds), TRAP);
	}
}

static void actions(void **state)
{
	static const struct {
		const char *action;
		uint32_t value;
	} rows[] = {
		{ "\"allow\"", ALLOW },
		{ "\"trap\"", TRAP },
		{ "\"kill_process\"", KILL },
		{ "\"kill_thread\"", SECCOMP_RET_KILL_THREAD },
		{ "\"log\"", SECCOMP_RET_LOG },
		{ "{\"errno\": 22}", ERRNO(22) },
		{ "{\"trace\": 9}", SECCOMP_RET_TRACE | 9 },
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"a\": {\"mismatch_action\": \"kill_process\", \"match_action\": %s, "
			 "\"filter\": [{\"syscall\": \"read\"}]}}",
			 rows[i].action);
		assert_int_equal(answer(text, 0, 0, 0), rows[i].value);
		assert_int_equal(answer(text, 1, 0, 0), KILL);
	}
}

static void several(void **state)
{
	static const char text[] =
		"{\"vmm\": {\"default_action\": \"trap\", \"filter_action\": \"allow\","
		" \"filter\": []}, \"api\": {\"default_action\": \"log\","
		" \"filter_action\": \"allow\", \"filter\": []}}";
	struct loupe_policy_opts opts = { .filter = "api" };
	struct loupe_policy *policy = read_policy(text, &opts);

	(void)state;
	assert_int_equal(policy->default_action, SECCOMP_RET_LOG);
	assert_true(policy->x32_apart);
	assert_string_equal(policy->name, "test: api");
	loupe_policy_destroy(policy);
	expect_error(text, NULL,
		     "test:1:1: $: there are several filters, choose one with --prog: vmm, api");
	opts.filter = "x";
	expect_error(text, &opts, "test:1:1: $: there is no filter 'x'");
}

static void errors(void **state)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "{\"a\": 1}", "test:1:7: $.a: expected an object, not an integer" },
		{ "{\"a\": {\"filter\": []}}",
		  "test:1:7: $.a: there is no member 'default_action'" },
		{ FILTER("{\"syscall\": \"reed\"}"),
		  "test:1:88: $.vmm.filter[0].syscall: 'reed' is no system call of x86_64" },
		{ FILTER(RULE(ARG(1, "word", "\"eq\"", 5))),
		  "test:1:129: $.vmm.filter[0].args[0].type: a type is dword or qword" },
		{ FILTER(RULE(ARG(1, "dword", "\"eq\"", 4294967296))),
		  "test:1:157: $.vmm.filter[0].args[0].val: does not fit a dword" },
		{ FILTER(RULE(ARG(1, "dword", "\"is\"", 5))),
		  "test:1:144: $.vmm.filter[0].args[0].op: an operator is eq, ne, lt, le, gt, ge or "
		  "{\"masked_eq\": mask}" },
	};
	struct loupe_policy_opts opts = { .format = LOUPE_POLICY_FIRECRACKER };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_error(rows[i].text, &opts, rows[i].line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators),
		cmocka_unit_test(actions),
		cmocka_unit_test(several),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
