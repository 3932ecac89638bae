// SPDX-License-Identifier: GPL-2.0-only
/* The compiler: shape, weights, limits. Random policies are in policy_property.c. */
#include "policy_check.h"

/* -1 stands for a call that a tracer skips: it is no number of x32. */
static void no_call(void **state)
{
	struct loupe_policy *policy =
		read_policy("@default return 1\nread: allow\n4294967295: return 2\n", NULL);
	struct loupe_seccomp_data data = { .nr = UINT32_MAX, .arch = AUDIT_ARCH_X86_64 };
	struct loupe_filter *filter;

	(void)state;
	policy->x32_apart = true;
	policy->other_arch = ERRNO(7);
	filter = compile_policy(policy);
	assert_int_equal(ask(policy, filter, &data), ERRNO(2));
	data.nr--;
	assert_int_equal(ask(policy, filter, &data), ERRNO(7));
	data.nr = 0x3fffffff;
	assert_int_equal(ask(policy, filter, &data), ERRNO(1));
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
}

/* Without a table old calls of x86-64 count more, and a policy's own word more than that. */
static void own_weights(void **state)
{
	struct loupe_policy *policy = read_policy("read: allow\nmkdirat: allow\n", NULL);
	struct loupe_weights weights;
	double read = 0, mkdirat = 0, write = 0;

	(void)state;
	assert_int_equal(loupe_policy_weights(policy, &weights), 0);
	assert_int_equal(weights.arch, AUDIT_ARCH_X86_64);
	for (uint32_t i = 0; i < weights.cnt; i++) {
		double *of = weights.rows[i].nr == 0   ? &read
			     : weights.rows[i].nr == 1 ? &write
						       : &mkdirat;

		if (weights.rows[i].nr <= 1 || weights.rows[i].nr == 258)
			*of = weights.rows[i].weight;
	}
	assert_true(read > mkdirat && mkdirat > 0 && write > 0 && write < read);
	loupe_weights_finish(&weights);
	policy->frequency.rows = calloc(1, sizeof(*policy->frequency.rows));
	policy->frequency.rows[0] = (struct loupe_weight){ .nr = 258, .weight = 3 };
	policy->frequency.cnt = 1;
	assert_int_equal(loupe_policy_weights(policy, &weights), 0);
	assert_true(weights.cnt == 1 && weights.rows[0].nr == 258);
	loupe_weights_finish(&weights);
	loupe_policy_destroy(policy);
}

static struct loupe_filter_run run_of(const struct loupe_filter *filter, uint32_t nr, uint64_t arg0)
{
	struct loupe_seccomp_data data = { .nr = nr, .arch = AUDIT_ARCH_X86_64, .args = { arg0 } };
	struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
	struct loupe_filter_run run = { 0 };

	assert_int_equal(loupe_filter_eval(filter, &input, &run, NULL), 0);
	return run;
}

/* A call that is allowed by its number loads the architecture and the number, nothing more. */
static void loads(void **state)
{
	struct loupe_policy *policy = read_policy("read: 1\nwrite: arg0 == 1\nclose: 1\n"
						  "fstat: arg0 >= 0\nlseek: arg0 < 3\n",
						  NULL);
	struct loupe_filter *filter = compile_policy(policy);

	(void)state;
	assert_int_equal(run_of(filter, 0, 0).loads, 2);
	assert_int_equal(run_of(filter, 3, 0).loads, 2);
	assert_int_equal(run_of(filter, 5, 0).loads, 2);
	assert_int_equal(run_of(filter, 2, 0).loads, 2);
	assert_int_equal(run_of(filter, 1, 2).loads, 3);
	assert_int_equal(run_of(filter, 1, 1).loads, 4);
	assert_int_equal(run_of(filter, 77, 0).result, KILL);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
}

/* Every load and test tells the line of a rule. */
static void lines(void **state)
{
	struct loupe_policy *policy = read_policy("read: 1\n\nwrite: arg0 == 1\n", NULL);
	struct loupe_filter *filter = compile_policy(policy);
	uint32_t of_rule = 0;

	(void)state;
	for (uint32_t i = 0; i < filter->cnt; i++) {
		struct loupe_filter_read read =
			loupe_filter_read_of(filter->flavour, filter->insns[i]);

		if (read.word == LOUPE_WORD_ARG_LO || read.word == LOUPE_WORD_ARG_HI) {
			assert_int_equal(filter->lines[i], 3);
			of_rule++;
		}
	}
	assert_int_equal(of_rule, 2);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
}

static void weights(void **state)
{
	static const char table[] = "# name\tnr\targ0\targ1\tweight\n"
				    "futex\t202\t0x5\t0\t90\nread\t0\t0\t0\t10\n# end\n";
	struct loupe_policy *policy =
		read_policy("read: 1\nopen: 1\nstat: 1\npoll: 1\nmmap: 1\n"
			    "brk: 1\nioctl: 1\nfutex: arg0 == 5 || arg0 == 7\n"
			    "socket: 1\nclone: 1\nfork: 1\nptrace: 1\n",
			    NULL);
	struct loupe_filter *plain, *shaped;
	struct loupe_weights rows;
	struct loupe_error err;

	(void)state;
	assert_int_equal(loupe_weights_load("t", table, strlen(table), AUDIT_ARCH_X86_64, &rows,
					    &err),
			 0);
	assert_int_equal(rows.cnt, 2);
	assert_true(rows.rows[0].has_args && rows.rows[0].args[0] == 5);
	assert_int_equal(loupe_policy_compile(policy, &rows, &shaped, &err), 0);
	plain = compile_policy(policy);
	/* architecture, number, one test, both halves, return */
	assert_int_equal(run_of(shaped, 202, 5).executed, 9);
	assert_true(run_of(plain, 202, 5).executed > 9);
	loupe_filter_destroy(plain);
	loupe_filter_destroy(shaped);
	loupe_weights_finish(&rows);
	loupe_policy_destroy(policy);

	assert_int_equal(loupe_weights_load("t", "read 5\nwrite 7\n", 14, AUDIT_ARCH_X86_64, &rows,
					    &err),
			 0);
	assert_true(rows.cnt == 2 && rows.rows[1].nr == 1 && !rows.rows[1].has_args);
	loupe_weights_finish(&rows);
}

static void tables(void **state)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "read 5\nwrite x\n", "t:2:7: 'x' is no weight" },
		{ "read -1\n", "t:1:6: '-1' is no weight" },
		{ "read nan\n", "t:1:6: 'nan' is no weight" },
		{ "raed 5\n", "t:1:1: 'raed' is no system call of this architecture" },
		{ "# nr weight\n4294967296 1\n", "t:2:1: '4294967296' is no system call's number" },
		{ "# nr weight\n0x 1\n", "t:2:1: '0x' is no number" },
		{ "# name nr weight\nread 0\n", "t:2:7: the line ends before its last column" },
		{ "read\t0\t1\t2\t3\t4\t5\t-6\t1\n", "t:1:18: '-6' is no number" },
		{ "", "t:1:1: a table of weights without rows" },
		{ "# only a comment\n", "t:2:1: a table of weights without rows" },
	};
	struct loupe_weights weights;
	struct loupe_error err;
	char line[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(loupe_weights_load("t", rows[i].text, strlen(rows[i].text),
						    AUDIT_ARCH_X86_64, &weights, &err),
				 -EINVAL);
		loupe_error_format(&err, line, sizeof(line));
		assert_string_equal(line, rows[i].line);
		assert_null(weights.rows);
	}
	assert_int_equal(
		loupe_weights_load("t", "read 1\n\0write 1", 15, AUDIT_ARCH_X86_64, &weights, &err),
		-EINVAL);
	assert_string_equal(err.message, "a zero byte in a text");
}

/* More than the kernel takes: the message says what takes the room. */
static void too_large(void **state)
{
	char *text = malloc(4 << 20), *at = text;
	struct loupe_policy *policy;
	struct loupe_filter *filter;
	struct loupe_error err;

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "read: 1\nioctl: arg1 == 0 && arg2 == 1");
	for (int i = 1; i < 3000; i++)
		at += sprintf(at, " || arg1 == %d && arg2 == %d", i * 10, i * 7);
	policy = read_policy(text, NULL);
	assert_int_equal(loupe_policy_compile(policy, NULL, &filter, &err), -E2BIG);
	assert_non_null(strstr(err.message, "the kernel takes 4096; most are for ioctl (16): "));
	loupe_policy_destroy(policy);
	free(text);
}

/* Rules by the ten thousand are given up in seconds. */
static void too_many_cases(void **state)
{
	char *text = malloc(4 << 20), *at = text;
	struct loupe_policy *policy;
	struct loupe_filter *filter;
	struct loupe_error err;

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "read: arg0 == 0 && arg1 == 1");
	for (int i = 1; i < 15000; i++)
		at += sprintf(at, " || arg%d == %d && arg%d == %d", i % 3, i * 7919 % 100003,
			      (i + 1) % 3, i * 31);
	policy = read_policy(text, NULL);
	assert_int_equal(loupe_policy_compile(policy, NULL, &filter, &err), -E2BIG);
	assert_string_equal(err.message, "the rules of read (0) fall into too many cases for a "
					 "filter: make them fewer");
	loupe_policy_destroy(policy);
	free(text);
}

/* Programs of more than 255 instructions need jumps that reach. */
static void far_jumps(void **state)
{
	char *text = malloc(1 << 20), *at = text;
	struct loupe_policy *policy;
	struct loupe_filter *filter;

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "@default kill\n");
	for (int nr = 0; nr < 300; nr += 2)
		at += sprintf(at, "%d: arg0 == %d; return %d\n", nr, nr * 3, nr % 50);
	policy = read_policy(text, NULL);
	filter = compile_policy(policy);
	assert_true(filter->cnt > 512);
	for (uint32_t nr = 0; nr < 302; nr++) {
		struct loupe_seccomp_data data = { .nr = nr, .arch = AUDIT_ARCH_X86_64 };

		data.args[0] = nr * 3;
		assert_int_equal(ask(policy, filter, &data),
				 nr % 2 || nr >= 300 ? KILL : ERRNO(nr % 50));
		data.args[0]++;
		assert_int_equal(ask(policy, filter, &data), KILL);
	}
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads),
		cmocka_unit_test(lines),	   cmocka_unit_test(weights),
		cmocka_unit_test(no_call),     cmocka_unit_test(own_weights),
		cmocka_unit_test(too_large),	   cmocka_unit_test(far_jumps),
		cmocka_unit_test(tables),	   cmocka_unit_test(too_many_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
