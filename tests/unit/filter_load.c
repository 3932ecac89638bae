// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"
#include "filter/constants.h"

static struct loupe_filter *load(const char *text)
{
	struct loupe_filter *filter = NULL;
	struct loupe_error err = { 0 };

	if (loupe_filter_load("dir/some.txt", text, strlen(text), NULL, &filter, &err))
		fail_msg("%u:%u: %s", err.line, err.column, err.message);
	return filter;
}

/* Loading fails with this error, written as a person sees it. */
static void refuses(const char *text, const char *message)
{
	struct loupe_filter *filter = NULL;
	struct loupe_error err = { 0 };
	char buf[700];

	assert_int_equal(loupe_filter_load("f", text, strlen(text), NULL, &filter, &err), -EINVAL);
	assert_null(filter);
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, message);
}

static void same(const struct loupe_filter *filter, const struct loupe_cbpf_insn *insns,
		 uint32_t cnt)
{
	assert_int_equal(filter->cnt, cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		assert_int_equal(filter->insns[i].code, insns[i].code);
		assert_int_equal(filter->insns[i].jt, insns[i].jt);
		assert_int_equal(filter->insns[i].jf, insns[i].jf);
		assert_int_equal(filter->insns[i].k, insns[i].k);
	}
}

/* if nr == 1 allow else errno 1 */
static const struct loupe_cbpf_insn write_only[] = {
	{ 0x20, 0, 0, 0 },
	{ 0x15, 0, 1, 1 },
	{ 0x06, 0, 0, 0x7fff0000 },
	{ 0x06, 0, 0, 0x00050001 },
};

static void ddd_is_read(void **state)
{
	struct loupe_filter *filter =
		load("4\n32 0 0 0\n21 0 1 1\n\n6 0 0 2147418112\r\n6 0 0 327681");

	(void)state;
	same(filter, write_only, 4);
	assert_int_equal(filter->format, LOUPE_FILTER_DDD);
	assert_int_equal(filter->flavour, LOUPE_FILTER_SECCOMP);
	assert_string_equal(filter->name, "some.txt");
	assert_string_equal(filter->file, "dir/some.txt");
	assert_int_equal(filter->lines[0], 2);
	assert_int_equal(filter->lines[2], 5);
	loupe_filter_destroy(filter);
}

static void ddd_errors_have_positions(void **state)
{
	(void)state;
	refuses("2\n6 0 0 0\n", "f:1:1: the first line says 2 instructions, but 1 follow");
	refuses("1\n6 0 0\n", "f:2:6: the line ends before its k");
	refuses("1\n6 0 0 x\n", "f:2:7: k is not a decimal number");
	refuses("1\n6 0 300 0\n", "f:2:5: jf is more than 255");
	refuses("1\n6 0 0 4294967296\n", "f:2:7: k is more than 4294967295");
	refuses("1\n6 0 0 0 0\n", "f:2:9: unexpected text at the end of the line");
	refuses("0\n", "f: no instructions");
	refuses("", "f: empty input, not a filter");
	refuses("2\n32 0 0 0\n\n21 0 0 5\n",
		"f:4: instruction 1 (jeq #0x5 jt 2 jf 2): true leads to 2, but the "
		"last instruction is 1");
}

static void c_forms_are_read(void **state)
{
	static const char *const forms[] = {
		"{ 0x20, 0, 0, 0x00000000 },\n{ 0x15, 0, 1, 0x00000001 },\n"
		"{ 0x6, 0, 0, 0x7fff0000 },\n{ 0x6, 0, 0, 0x00050001 },\n",
		"BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),\n"
		"BPF_JUMP(BPF_JMP+BPF_JEQ+BPF_K, __NR_write, 0, 1),\n"
		"BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),\n"
		"BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA))",
		"#include <linux/filter.h>\n"
		"#define NR (offsetof(struct seccomp_data, nr)) // the number\n"
		"#define DENY \\\n  SECCOMP_RET_ERRNO + ONE\n#define ONE 1u\n"
		"int x[] = { 1, 2 };\n"
		"static const struct sock_filter filter[4] = {\n"
		"  /* load */ BPF_STMT(BPF_LD|BPF_W|BPF_ABS, NR),\n"
		"  { .code = BPF_JMP | BPF_JEQ, .jf = 1, .k = 1 },\n"
		"  { BPF_RET, 0, 0, SECCOMP_RET_ALLOW },\n"
		"  { BPF_RET, .k = DENY },\n"
		"};\nint main(void) { return 0; }\n",
		"{ { 32 }, { 21, 0, 1, 1 }, { 6, 0, 0, 0x7fffUL << 16 }, { 6, 0, 0, 5 * 65536 + 1 "
		"} };",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct loupe_filter *filter = load(forms[i]);

		same(filter, write_only, 4);
		assert_int_equal(filter->format, LOUPE_FILTER_C);
		loupe_filter_destroy(filter);
	}
}

static void c_expressions_are_c(void **state)
{
	struct loupe_filter *filter =
		load("BPF_STMT(0, ~0), BPF_STMT(0, -2), BPF_STMT(0, 1|2^3&2),"
		     "BPF_STMT(0, 1 + 2 << 3), BPF_STMT(0, 010 - 0x2 - 1),"
		     "BPF_STMT(0, offsetof(struct seccomp_data, args[2]) + 4),"
		     "BPF_STMT(6, 0)");
	static const uint32_t k[] = { 0xffffffff, 0xfffffffe, 1, 24, 5, 36, 0 };

	(void)state;
	for (uint32_t i = 0; i < filter->cnt; i++)
		assert_int_equal(filter->insns[i].k, k[i]);
	loupe_filter_destroy(filter);
}

static void c_errors_have_positions(void **state)
{
	(void)state;
	refuses("{ 6, 0, 0, 0 }\n{ 6, 0, 0, 0 }", "f:2:1: ',' expected, not '{'");
	refuses("{ 6, 0, 0, 0, 0 }", "f:1:15: '}' after four values expected, not '0'");
	refuses("{ 6, 256, 0, 0 }", "f:1:6: jt is more than 255");
	refuses("{ 6, 0, 0, 0x100000000 }", "f:1:12: k is more than 4294967295");
	refuses("BPF_STMT(BPF_RET, KILL)",
		"f:1:19: unknown name 'KILL': define it in this file, or preprocess it first");
	refuses("#define A B\n#define B A\nBPF_STMT(6, A)",
		"f:2:11: 'A' is defined by itself or nested too deeply");
	refuses("BPF_STMT(6, 0", "f:1:14: ')' expected, but this ends here");
	refuses("struct sock_filter f[] = {\n{ 6 },\n", "f:3:1: '}' expected, but this ends here");
	refuses("struct sock_filter f[] = { { 6 } };\nstruct sock_filter g[] = { { 6 } };",
		"f:2:27: a second filter in the same file; keep one");
	refuses("hello", "f:1:1: { code, jt, jf, k }, BPF_STMT() or BPF_JUMP() expected, not 'h'");
	refuses("{ .cod = 6 }", "f:1:4: struct sock_filter has no field 'cod'");
	refuses("/* nothing */", "f:1:14: no filter in this text");
	refuses("{ 12x, 0, 0, 0 }", "f:1:5: unexpected 'x' in a number");
	refuses("BPF_STMT(6, offsetof(struct iphdr, tos))",
		"f:1:29: only struct seccomp_data is known to offsetof()");
}

static void raw_bytes_are_read(void **state)
{
	struct loupe_filter *filter;
	struct loupe_error err;
	char *raw, buf[700];
	size_t len;

	(void)state;
	assert_int_equal(
		loupe_filter_create("made", write_only, 4, LOUPE_FILTER_AUTO, &filter, &err), 0);
	assert_int_equal(loupe_filter_emit(filter, NULL, LOUPE_EMIT_RAW, &raw, &len), 0);
	loupe_filter_destroy(filter);
	assert_int_equal(len, 32);
	assert_true(loupe_filter_sniff(raw, len));
	assert_int_equal(loupe_filter_load("raw", raw, len, NULL, &filter, &err), 0);
	same(filter, write_only, 4);
	assert_int_equal(filter->format, LOUPE_FILTER_RAW);
	assert_null(filter->lines);
	loupe_filter_destroy(filter);
	assert_int_equal(loupe_filter_load("raw", raw, 31, NULL, &filter, &err), -EINVAL);
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf,
			    "raw: at byte 24: 31 bytes are no whole number of 8-byte instructions");
	raw[16] = 0x55;
	assert_int_equal(loupe_filter_load("raw", raw, len, NULL, &filter, &err), -EINVAL);
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(
		buf, "raw: at byte 16: instruction 2: no classic BPF instruction has code 0x55");
	free(raw);
}

static void flavour_follows_from_the_program(void **state)
{
	struct loupe_filter *filter = load("2\n40 0 0 12\n6 0 0 0\n");

	(void)state;
	assert_int_equal(filter->flavour, LOUPE_FILTER_SOCKET);
	loupe_filter_destroy(filter);
	filter = load("2\n32 0 0 12\n6 0 0 0\n");
	assert_int_equal(filter->flavour, LOUPE_FILTER_SECCOMP);
	loupe_filter_destroy(filter);
}

static void sniffing_tells_filters_from_others(void **state)
{
	static const char *const no[] = { "{ \"defaultAction\": 1 }", "12 apples\n", "hello\n",
					  "read: 1\nwrite: 1\n", "2\n1 2 3\n" };
	static const char *const yes[] = { "1\n6 0 0 0\n", "{ 0x6, 0, 0, 0 },", "{ { 6 } }",
					   "BPF_STMT(6, 0)", "struct sock_filter x[] = {" };

	(void)state;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(loupe_filter_sniff(no[i], strlen(no[i])));
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(loupe_filter_sniff(yes[i], strlen(yes[i])));
	assert_false(loupe_filter_sniff("\177ELF\2\1\1", 8));
}

static void missing_files_are_reported(void **state)
{
	struct loupe_filter *filter;
	struct loupe_error err;
	char buf[700];

	(void)state;
	assert_int_equal(loupe_filter_load("/nonexistent/f", NULL, 0, NULL, &filter, &err),
			 -ENOENT);
	loupe_error_format(&err, buf, sizeof(buf));
	assert_string_equal(buf, "/nonexistent/f: No such file or directory");
}

static void constants_are_found(void **state)
{
	static const struct {
		const char *name;
		uint32_t value;
	} rows[] = { { "BPF_JSET", 0x40 },
		     { "SECCOMP_RET_USER_NOTIF", 0x7fc00000 },
		     { "AUDIT_ARCH_X86_64", 0xc000003e },
		     { "AUDIT_ARCH_AARCH64", 0xc00000b7 },
		     { "ENOSYS", 38 },
		     { "SKF_AD_OFF", 0xfffff000 },
		     { "BPF_A", 0x10 },
		     { "__X32_SYSCALL_BIT", 0x40000000 } };
	uint32_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(filter_constant(rows[i].name, &value));
		assert_int_equal(value, rows[i].value);
	}
	assert_false(filter_constant("ENOTHING", &value));
}

static void syscalls_have_names(void **state)
{
	(void)state;
	assert_string_equal(loupe_syscall_name(0xc000003e, 16), "ioctl");
	assert_string_equal(loupe_syscall_name(0xc00000b7, 29), "ioctl");
	assert_null(loupe_syscall_name(0xc000003e, 387));
	assert_null(loupe_syscall_name(1, 0));
	assert_int_equal(loupe_syscall_nr(0xc000003e, "file_setattr"), 469);
	assert_int_equal(loupe_syscall_nr(0xc00000b7, "openat"), 56);
	assert_int_equal(loupe_syscall_nr(0xc00000b7, "open"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ddd_is_read),
		cmocka_unit_test(ddd_errors_have_positions),
		cmocka_unit_test(c_forms_are_read),
		cmocka_unit_test(c_expressions_are_c),
		cmocka_unit_test(c_errors_have_positions),
		cmocka_unit_test(raw_bytes_are_read),
		cmocka_unit_test(flavour_follows_from_the_program),
		cmocka_unit_test(sniffing_tells_filters_from_others),
		cmocka_unit_test(missing_files_are_reported),
		cmocka_unit_test(constants_are_found),
		cmocka_unit_test(syscalls_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
