// SPDX-License-Identifier: GPL-2.0-only
/* OCI and Docker profiles: operators, several entries, conditions on the machine, errors. */
#include "policy_check.h"

#define PROFILE(entries) \
	"{ \"defaultAction\": \"SCMP_ACT_ERRNO\", \"syscalls\": [ " entries " ] }"
#define ENTRY(args, action) \
	"{ \"names\": [\"read\"], \"action\": \"" action "\", \"args\": [ " args " ] }"
#define ARG(index, op, value, two)                                   \
	"{ \"index\": " #index ", \"op\": \"SCMP_CMP_" op "\", " \
	"\"value\": " #value ", \"valueTwo\": " #two " }"
#define ALLOWED "SCMP_ACT_ALLOW"

static void operators(void **state)
{
	static const struct {
		const char *text;
		uint64_t holds, fails;
	} rows[] = {
		{ PROFILE(ENTRY(ARG(1, "EQ", 4294967298, 0), ALLOWED)), U64(0x100000002), 2 },
		{ PROFILE(ENTRY(ARG(1, "NE", 4294967298, 0), ALLOWED)), 2, U64(0x100000002) },
		{ PROFILE(ENTRY(ARG(1, "LT", 5, 0), ALLOWED)), 4, 5 },
		{ PROFILE(ENTRY(ARG(1, "LE", 5, 0), ALLOWED)), 5, 6 },
		{ PROFILE(ENTRY(ARG(1, "GT", 5, 0), ALLOWED)), U64(1) << 40, 5 },
		{ PROFILE(ENTRY(ARG(1, "GE", 5, 0), ALLOWED)), 5, 4 },
		{ PROFILE(ENTRY(ARG(1, "MASKED_EQ", 240, 32), ALLOWED)), 0x2f, 0x3f },
		{ PROFILE(ENTRY(ARG(1, "MASKED_EQ", 2114060288, 0), ALLOWED)), 0x10000,
		  0x10000000 },
		{ PROFILE(ENTRY(ARG(1, "EQ", 18446744073709551615, 0), ALLOWED)), UINT64_MAX,
		  0xffffffff },
		/* one index twice: each condition alone is enough */
		{ PROFILE(ENTRY(ARG(1, "EQ", 3, 0) "," ARG(1, "EQ", 4, 0), ALLOWED)), 4, 5 },
		{ PROFILE(ENTRY(ARG(1, "GE", 3, 0) "," ARG(1, "LT", 2, 0), ALLOWED)), 1, 2 },
		/* otherwise all must hold */
		{ PROFILE(ENTRY(ARG(1, "EQ", 3, 0) "," ARG(0, "EQ", 0, 0), ALLOWED)), 3, 4 },
		/* several entries are alternatives */
		{ PROFILE(ENTRY(ARG(1, "EQ", 3, 0), ALLOWED) "," ENTRY(ARG(1, "EQ", 9, 0),
								       ALLOWED)),
		  9, 8 },
		/* an entry that does what the default does says nothing */
		{ PROFILE(ENTRY(ARG(1, "GE", 3, 0), "SCMP_ACT_ERRNO") "," ENTRY(ARG(1, "EQ", 3, 0),
										ALLOWED)),
		  3, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(answer(rows[i].text, 0, 1, rows[i].holds), ALLOW);
		assert_int_equal(answer(rows[i].text, 0, 1, rows[i].fails), ERRNO(1));
	}
}

static void actions(void **state)
{
	static const struct {
		const char *members;
		uint32_t value;
	} rows[] = {
		{ "\"action\": \"SCMP_ACT_ALLOW\"", ALLOW },
		{ "\"action\": \"SCMP_ACT_KILL\"", SECCOMP_RET_KILL_THREAD },
		{ "\"action\": \"SCMP_ACT_KILL_THREAD\"", SECCOMP_RET_KILL_THREAD },
		{ "\"action\": \"SCMP_ACT_KILL_PROCESS\"", KILL },
		{ "\"action\": \"SCMP_ACT_TRAP\"", SECCOMP_RET_TRAP },
		{ "\"action\": \"SCMP_ACT_LOG\"", SECCOMP_RET_LOG },
		{ "\"action\": \"SCMP_ACT_NOTIFY\"", SECCOMP_RET_USER_NOTIF },
		{ "\"action\": \"SCMP_ACT_TRACE\"", SECCOMP_RET_TRACE | 1 },
		{ "\"action\": \"SCMP_ACT_TRACE\", \"errnoRet\": 7", SECCOMP_RET_TRACE | 7 },
		{ "\"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 38", ERRNO(38) },
		{ "\"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 0", ERRNO(0) },
		{ "\"action\": \"SCMP_ACT_ERRNO\", \"errno\": \"ENOSYS\"", ERRNO(38) },
	};
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), PROFILE("{ \"names\": [\"write\", \"close\"], %s }"),
			 rows[i].members);
		assert_int_equal(answer(text, 3, 0, 0), rows[i].value);
		assert_int_equal(answer(text, 0, 0, 0), ERRNO(1));
	}
	assert_int_equal(answer("{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"defaultErrnoRet\": 22}",
				0, 0, 0),
			 ERRNO(22));
	/* the older form with one name */
	assert_int_equal(answer(PROFILE("{\"name\": \"read\", \"action\": \"SCMP_ACT_LOG\"}"), 0, 0,
				0),
			 SECCOMP_RET_LOG);
	/* without arguments decides, wherever it stands */
	assert_int_equal(answer(PROFILE(ENTRY(ARG(1, "EQ", 3, 0), "SCMP_ACT_KILL") "," ENTRY(
					"", ALLOWED)),
				0, 1, 3),
			 ALLOW);
	/* x32 numbers, and the same as a container's whole configuration */
	assert_int_equal(answer("{\"defaultAction\": \"SCMP_ACT_ALLOW\"}", 0x40000001, 0, 0),
			 SECCOMP_RET_KILL_THREAD);
	assert_int_equal(answer("{\"linux\": {\"seccomp\": {\"defaultAction\": \"SCMP_ACT_LOG\"}}}",
				1, 0, 0),
			 SECCOMP_RET_LOG);
}

static uint32_t under(const char *conditions, const struct loupe_policy_opts *opts)
{
	struct loupe_seccomp_data data = { .nr = 0, .arch = AUDIT_ARCH_X86_64 };
	struct loupe_policy *policy;
	char text[400];
	uint32_t ret;

	snprintf(text, sizeof(text),
		 PROFILE("{ \"names\": [\"read\"], \"action\": \"SCMP_ACT_ALLOW\", %s }"),
		 conditions);
	if (opts->arch == AUDIT_ARCH_AARCH64)
		data = (struct loupe_seccomp_data){ .nr = 63, .arch = AUDIT_ARCH_AARCH64 };
	policy = read_policy(text, opts);
	ret = loupe_policy_eval(policy, &data, NULL);
	loupe_policy_destroy(policy);
	return ret;
}

static void conditions(void **state)
{
	static const char *const caps[] = { "CAP_BPF", "CAP_SYS_ADMIN" };
	static const struct loupe_policy_opts none = { 0 }, with = { .caps = caps, .cap_cnt = 2 },
					      old = { .kernel = { 4, 7 } },
					      arm = { .arch = AUDIT_ARCH_AARCH64 };
	static const struct {
		const char *text;
		const struct loupe_policy_opts *opts;
		bool applies;
	} rows[] = {
		{ "\"includes\": {}", &none, true },
		{ "\"includes\": null", &none, true },
		{ "\"includes\": {\"caps\": [\"CAP_BPF\"]}", &none, false },
		{ "\"includes\": {\"caps\": [\"CAP_BPF\"]}", &with, true },
		{ "\"includes\": {\"caps\": [\"CAP_BPF\", \"CAP_KILL\"]}", &with, false },
		{ "\"excludes\": {\"caps\": [\"CAP_BPF\"]}", &none, true },
		{ "\"excludes\": {\"caps\": [\"CAP_KILL\", \"CAP_BPF\"]}", &with, false },
		{ "\"includes\": {\"arches\": [\"amd64\", \"x32\"]}", &none, true },
		{ "\"includes\": {\"arches\": [\"amd64\"]}", &arm, false },
		{ "\"includes\": {\"arches\": [\"arm\", \"arm64\"]}", &arm, true },
		{ "\"excludes\": {\"arches\": [\"arm64\"]}", &arm, false },
		{ "\"includes\": {\"minKernel\": \"4.8\"}", &none, true },
		{ "\"includes\": {\"minKernel\": \"4.8\"}", &old, false },
		{ "\"excludes\": {\"minKernel\": \"4.8\"}", &none, false },
		{ "\"excludes\": {\"minKernel\": \"4.8\"}", &old, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(under(rows[i].text, rows[i].opts),
				 rows[i].applies ? ALLOW : ERRNO(1));
}

static void notes(void **state)
{
	struct loupe_policy *policy = read_policy(
		"{ \"defaultAction\": \"SCMP_ACT_KILL\", \"architectures\": [\"SCMP_ARCH_X86_64\","
		" \"SCMP_ARCH_X86\"], \"syscalls\": [ {\"names\": [\"read\", \"chown32\"],"
		" \"action\": \"SCMP_ACT_ALLOW\"} ] }",
		NULL);

	(void)state;
	assert_int_equal(policy->rule_cnt, 1);
	assert_int_equal(policy->note_cnt, 2);
	assert_string_equal(policy->notes[0], "$.architectures[1]: calls of SCMP_ARCH_X86 are "
					      "killed, this filter is for x86_64");
	assert_string_equal(policy->notes[1],
			    "$.syscalls[0].names[1]: 'chown32' is no system call of x86_64");
	loupe_policy_destroy(policy);
}

static void errors(void **state)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "{", "test:1:2: expected a member's name in quotes" },
		{ "{\n \"a\" 1}", "test:2:6: expected ':' behind a member's name" },
		{ "{\"a\": 1,\n  \"b\": [1 2]}", "test:2:11: expected ',' or ']'" },
		{ "{\"a\": \"b\n\"}", "test:1:7: a string without its closing quote" },
		{ "{\"a\": 01}", "test:1:7: a number that starts with 0" },
		{ "{\"a\": \"\\q\"}", "test:1:8: unknown escape in a string" },
		{ "{\"a\": 1} x", "test:1:10: unexpected text behind the document" },
		{ "{\"a\": tru}", "test:1:7: expected a value" },
		{ "{\"a\": 1,\n \"b\": 2, \"a\": 3}",
		  "test:2:10: this object has a member of this name already" },
		{ "[]", "test:1:1: $: expected an object, not an array" },
		{ "{}", "test:1:1: $: there is no member 'defaultAction'" },
		{ "{\"defaultAction\": 3}",
		  "test:1:19: $.defaultAction: expected a string, not an integer" },
		{ "{\"defaultAction\": \"SCMP_ACT_NO\"}",
		  "test:1:19: $.defaultAction: there is no action 'SCMP_ACT_NO'" },
		{ "{\"defaultAction\": \"SCMP_ACT_LOG\",\n\"syscalls\": [{\"names\": [\"read\", 7],"
		  "\n\"action\": \"SCMP_ACT_ALLOW\"}]}",
		  "test:2:33: $.syscalls[0].names[1]: expected a string, not an integer" },
		{ PROFILE(ENTRY("{\"index\": 6, \"op\": \"SCMP_CMP_EQ\", \"value\": 1}", ALLOWED)),
		  "test:1:121: $.syscalls[0].args[0].index: must be from 0 to 5" },
		{ PROFILE(ENTRY("{\"index\": 0, \"op\": \"EQ\", \"value\": 1}", ALLOWED)),
		  "test:1:130: $.syscalls[0].args[0].op: there is no operator 'EQ'" },
		{ PROFILE(ENTRY("{\"index\": 0, \"op\": \"SCMP_CMP_EQ\", \"value\": 1.5}",
				ALLOWED)),
		  "test:1:154: $.syscalls[0].args[0].value: expected an integer, not a number that "
		  "is no 64-bit integer" },
		{ "{\"defaultAction\": \"SCMP_ACT_LOG\", \"architectures\": [\"VAX\"]}",
		  "test:1:53: $.architectures[0]: there is no architecture 'VAX'" },
	};
	struct loupe_policy_opts opts = { .format = LOUPE_POLICY_OCI };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_error(rows[i].text, &opts, rows[i].line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators), cmocka_unit_test(actions),
		cmocka_unit_test(conditions), cmocka_unit_test(notes),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
