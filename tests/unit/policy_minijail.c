// SPDX-License-Identifier: GPL-2.0-only
/* Minijail's policy text: statements, operators, constants, included files, errors. */
#include "policy_check.h"

#include <unistd.h>

static void operators(void **state)
{
	static const struct {
		const char *text;
		uint64_t holds, fails;
	} rows[] = {
		{ "read: arg1 == 0x100000002", U64(0x100000002), 2 },
		{ "read: arg1 != 0x100000002", 2, U64(0x100000002) },
		{ "read: arg1 < 0x100000000", 0xffffffff, U64(0x100000000) },
		{ "read: arg1 < 0x100000001", U64(0x100000000), U64(0x100000001) },
		{ "read: arg1 <= 0x100000000", U64(0x100000000), U64(0x100000001) },
		{ "read: arg1 > 0xffffffff", U64(0x100000000), 0xffffffff },
		{ "read: arg1 > 5", U64(0x200000000), 5 },
		{ "read: arg1 >= 0x200000003", U64(0x300000000), U64(0x200000002) },
		{ "read: arg1 >= 7", 7, 6 },
		{ "read: arg1 & 0x8000000000000001", U64(1) << 63, 2 },
		{ "read: arg1 & 6", 4, U64(0x600000000) },
		{ "read: arg1 in 0x81", 0x81, U64(0x100000000) },
		{ "read: arg1 in 0x81", 0, 0x83 },
		{ "read: arg1 in ~4", ~U64(4), 4 },
		{ "read: (arg1 & 0xc000ffff) == 0xc00046c8", 0xd23446c8, 0xc00046c9 },
		{ "read: (arg1 & 0xff00) != 0x1200", 0x1300, 0x1234 },
		{ "read: (arg1 & ~0xff) == 0x12345600", 0x123456ff, 0x12345700 },
		{ "read: arg1 == -1", UINT64_MAX, 0xffffffff },
		{ "read: arg1 == 010", 8, 10 },
		{ "read: arg1 == O_RDWR|O_CLOEXEC", 02000002, 2 },
		{ "read: arg1 in ~PROT_EXEC", 3, 4 },
		{ "read: arg1 == (PROT_READ | PROT_WRITE) | 8", 11, 3 },
		{ "read: arg1 == ~(1|2)", ~U64(3), 3 },
		{ "read: arg1 == EPERM", 1, 2 },
		{ "read: arg1 == 3 || arg1 == 5", 5, 4 },
		{ "read: arg1 >= 3 && arg1 <= 5", 4, 6 },
		{ "read: arg1 > 3 && arg1 < 9 || arg1 == 0", 0, 9 },
		{ "read: arg1 != 3 && arg1 != 0x500000003", U64(0x300000003), U64(0x500000003) },
		{ "read:\targ1 \\\n == 3 # three\n", 3, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(answer(rows[i].text, 0, 1, rows[i].holds), ALLOW);
		assert_int_equal(answer(rows[i].text, 0, 1, rows[i].fails), KILL);
	}
}

static void actions(void **state)
{
	static const struct {
		const char *action;
		uint32_t value;
	} rows[] = {
		{ "1", ALLOW },
		{ "allow", ALLOW },
		{ "kill", KILL },
		{ "kill-process", KILL },
		{ "kill-thread", SECCOMP_RET_KILL_THREAD },
		{ "trap", SECCOMP_RET_TRAP },
		{ "trace", SECCOMP_RET_TRACE },
		{ "log", SECCOMP_RET_LOG },
		{ "user-notify", SECCOMP_RET_USER_NOTIF },
		{ "return 5", ERRNO(5) },
		{ "return EACCES", ERRNO(13) },
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "write: %s", rows[i].action);
		assert_int_equal(answer(text, 1, 0, 0), rows[i].value);
		snprintf(text, sizeof(text), "write: arg0 == 1; %s", rows[i].action);
		assert_int_equal(answer(text, 1, 0, 1), rows[i].value);
		assert_int_equal(answer(text, 1, 0, 2), KILL);
		snprintf(text, sizeof(text), "@default %s", rows[i].action);
		assert_int_equal(answer(text, 1, 0, 2), rows[i].value);
	}
}

static void lists(void **state)
{
	static const char list[] = "{ read, write[arch=arm64], close[arch=x86_64,arm64], 4 }: "
				   "{ arg0 == 1, arg0 == 2; return 2, arg0 < 10; trap, return 9 }";

	(void)state;
	for (uint32_t nr = 0; nr < 5; nr++) {
		bool there = nr != 1 && nr != 2;

		assert_int_equal(answer(list, nr, 0, 1), there ? ALLOW : KILL);
		assert_int_equal(answer(list, nr, 0, 2), there ? ERRNO(2) : KILL);
		assert_int_equal(answer(list, nr, 0, 3), there ? SECCOMP_RET_TRAP : KILL);
		assert_int_equal(answer(list, nr, 0, 10), there ? ERRNO(9) : KILL);
	}
	/* statements of one call add up */
	assert_int_equal(answer("read: arg0 == 1\nread: arg0 == 2; return 2", 0, 0, 1), ALLOW);
	assert_int_equal(answer("read: arg0 == 1\nread: arg0 == 2; return 2", 0, 0, 2), ERRNO(2));
	/* the name of a call that is an action too */
	assert_int_equal(answer("kill: 1", 62, 0, 0), ALLOW);
	/* all but what is listed */
	assert_int_equal(answer("@denylist\nread: return 7", 0, 0, 0), ERRNO(7));
	assert_int_equal(answer("@denylist\nread: return 7", 1, 0, 0), ALLOW);
}

static void architectures(void **state)
{
	struct loupe_policy_opts arm = { .arch = AUDIT_ARCH_AARCH64 };
	struct loupe_policy *policy = read_policy("openat: arg2 == O_DIRECTORY", &arm);
	struct loupe_filter *filter = compile_policy(policy);
	struct loupe_seccomp_data data = {
		.nr = 56, .arch = AUDIT_ARCH_AARCH64, .args = { 0, 0, 0x4000 }
	};

	(void)state;
	assert_int_equal(ask(policy, filter, &data), ALLOW);
	data.arch = AUDIT_ARCH_X86_64;
	assert_int_equal(ask(policy, filter, &data), KILL);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
	/* a default that permits must not permit x32's numbers */
	assert_int_equal(answer("@default allow\nread: return 1", 0x40000000, 0, 0), KILL);
	assert_int_equal(answer("@default return 1\nread: allow", 0x40000000, 0, 0), ERRNO(1));
	assert_int_equal(answer("@default kill\n4294967295: allow", UINT32_MAX, 0, 0), ALLOW);
	assert_int_equal(answer("@default kill\n4294967295: allow", UINT32_MAX - 1, 0, 0), KILL);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void files(void **state)
{
	char dir[] = "/tmp/policyXXXXXX", path[100], error[300], line[1024];
	struct loupe_policy *policy;
	struct loupe_error err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/common", dir);
	write_file(path, "write: 1\nread: arg0 == 2\n");
	snprintf(path, sizeof(path), "%s/often", dir);
	write_file(path, "# calls\nread: 900\n{ write, close }: 50\n");
	snprintf(path, sizeof(path), "%s/main", dir);
	write_file(path, "read: arg0 == 1\n@include ./common\n@frequency ./often\nclose: 1\n");
	assert_int_equal(loupe_policy_load(path, NULL, 0, NULL, &policy, &err), 0);
	assert_int_equal(policy->rule_cnt, 4);
	assert_int_equal(policy->file_cnt, 3);
	assert_int_equal(policy->rules[2].file, 1);
	assert_int_equal(policy->rules[2].line, 2);
	assert_int_equal(policy->rules[3].line, 4);
	assert_int_equal(policy->frequency.cnt, 3);
	assert_true(policy->frequency.rows[0].weight == 900 && !policy->frequency.rows[0].nr);
	loupe_policy_destroy(policy);

	write_file(path, "read: 1\n  @include ./absent\n");
	assert_int_equal(loupe_policy_load(path, NULL, 0, NULL, &policy, &err), -EINVAL);
	loupe_error_format(&err, line, sizeof(line));
	snprintf(error, sizeof(error),
		 "%s:2:12: cannot read %s/./absent: No such file or directory", path, dir);
	assert_string_equal(line, error);
	write_file(path, "@include ./main\n");
	assert_int_equal(loupe_policy_load(path, NULL, 0, NULL, &policy, &err), -EINVAL);
	assert_non_null(strstr(err.message, "nested more than 10 deep"));
	unlink(path);
	snprintf(path, sizeof(path), "%s/common", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/often", dir);
	unlink(path);
	rmdir(dir);
}

static void errors(void **state)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "read 1\n", "test:1:6: expected ':'" },
		{ "read:\n", "test:1:6: the line ends before its filter" },
		{ "read: 1 2\n", "test:1:9: unexpected text behind the statement" },
		{ "# x\n\nreed: 1\n", "test:3:1: 'reed' is no system call of x86_64" },
		{ "{ read, wriite }: 1\n", "test:1:9: 'wriite' is no system call of x86_64" },
		{ "read: arg6 == 1\n", "test:1:7: expected arg0 ... arg5" },
		{ "read: arg1 = 1\n", "test:1:12: expected an operator: == != < <= > >= & in" },
		{ "read: arg1 == FOO\n",
		  "test:1:15: there is no constant 'FOO' in the table; write its number" },
		{ "read: arg1 == 0x1g\n", "test:1:18: 'g' is no digit of a number of base 16" },
		{ "read: arg1 == 18446744073709551616\n",
		  "test:1:15: a number of more than 64 bits" },
		{ "read: arg1 == (1|2\n", "test:1:19: the line ends before its ')'" },
		{ "read: { arg1 == 1, 1\n", "test:1:21: the line ends before its '}'" },
		{ "read: (arg1 & 3) < 1\n", "test:1:18: a masked argument takes == or !=" },
		{ "read: return 65536\n", "test:1:14: an errno value is at most 65535" },
		{ "read[os=x]: 1\n", "test:1:6: metadata is [arch=NAME]" },
		{ "read: 1\nread: arg0 == 1\n",
		  "test:2:1: read: line 1 of test decides every call already" },
		{ "@inclood x\n",
		  "test:1:1: expected @include, @frequency, @default or @denylist" },
		{ "read: 12\n", "test:1:7: expected an action" },
		{ "read: maybe\n", "test:1:7: expected arg0 ... arg5 or an action: 1, allow, "
				   "return N, kill, trap, trace, log, user-notify" },
		{ "read: arg0 == 1 && \\\n  arg9 == 2\n", "test:2:3: expected arg0 ... arg5" },
	};
	struct loupe_policy_opts opts = { .format = LOUPE_POLICY_MINIJAIL };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_error(rows[i].text, &opts, rows[i].line);
}

static void sniffing(void **state)
{
	static const struct {
		const char *text;
		enum loupe_policy_format format;
	} rows[] = {
		{ "# comment\nread: 1\n", LOUPE_POLICY_MINIJAIL },
		{ "@include x\n", LOUPE_POLICY_MINIJAIL },
		{ "{ read, write }: 1\n", LOUPE_POLICY_MINIJAIL },
		{ "read[arch=arm64]: 1\n", LOUPE_POLICY_MINIJAIL },
		{ "{ \"defaultAction\": 1 }", LOUPE_POLICY_OCI },
		{ "{ \"vmm\": { \"filter_action\": 1 } }", LOUPE_POLICY_FIRECRACKER },
		{ "2\n6 0 0 1\n", LOUPE_POLICY_AUTO },
		{ "0: (bf) r6 = r1\n", LOUPE_POLICY_AUTO },
		{ "{ 0x20, 0, 0, 4 },\n", LOUPE_POLICY_AUTO },
		{ "struct sock_filter x[] = {\n", LOUPE_POLICY_AUTO },
		{ "", LOUPE_POLICY_AUTO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(loupe_policy_sniff(rows[i].text, strlen(rows[i].text)),
				 rows[i].format);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators),	 cmocka_unit_test(actions),
		cmocka_unit_test(lists),	 cmocka_unit_test(architectures),
		cmocka_unit_test(files),	 cmocka_unit_test(errors),
		cmocka_unit_test(sniffing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
