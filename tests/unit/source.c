// SPDX-License-Identifier: GPL-2.0-only
/* Lines and names of a program with a hand-made BTF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <string.h>

#include "bpfloupe/source.h"

static const char strings[] = "\0main\0  r0 = 1;\0/src/dir/prog.c\0sub";

enum {
	STR_MAIN = 1,
	STR_LINE = 6,
	STR_FILE = 16,
	STR_SUB = 32,
};

struct raw_btf {
	struct btf_header header;
	struct btf_type proto; /* id 1: void (void) */
	struct btf_type main;  /* id 2 */
	struct btf_type sub;   /* id 3 */
	char strings[sizeof(strings)];
};

static void fill_btf(struct raw_btf *raw)
{
	memset(raw, 0, sizeof(*raw));
	raw->header = (struct btf_header){
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(raw->header),
		.type_len = 3 * sizeof(struct btf_type),
		.str_off = 3 * sizeof(struct btf_type),
		.str_len = sizeof(strings),
	};
	raw->proto.info = BTF_KIND_FUNC_PROTO << 24;
	raw->main =
		(struct btf_type){ .name_off = STR_MAIN, .info = BTF_KIND_FUNC << 24, .type = 1 };
	raw->sub = (struct btf_type){ .name_off = STR_SUB, .info = BTF_KIND_FUNC << 24, .type = 1 };
	memcpy(raw->strings, strings, sizeof(strings));
}

static void finds_lines_and_functions(void **state)
{
	struct loupe_insn insns[4] = { { .code = 0xb7 }, { .code = 0x95 }, { .code = 0xb7 },
				       { .code = 0x95 } };
	struct loupe_func_info funcs[] = { { 0, 2 }, { 2, 3 } };
	struct loupe_line_info lines[] = { { 1, STR_FILE, STR_LINE, 7 << 10 | 3 } };
	struct loupe_image image = { .insns = insns, .insn_cnt = 4, .func_info = funcs,
				     .func_info_cnt = 2, .line_info = lines, .line_info_cnt = 1 };
	struct loupe_source_line line;
	struct loupe_source *source;
	struct raw_btf raw;

	(void)state;
	fill_btf(&raw);
	image.btf = (uint8_t *)&raw;
	image.btf_size = sizeof(raw);
	assert_int_equal(loupe_source_create(&image, &source), 0);

	assert_false(loupe_source_line_of(source, 0, &line));
	assert_true(loupe_source_line_of(source, 3, &line));
	assert_string_equal(line.text, "r0 = 1;");
	assert_string_equal(line.file, "prog.c");
	assert_string_equal(line.path, "/src/dir/prog.c");
	assert_int_equal(line.line, 7);
	assert_int_equal(line.column, 3);
	assert_int_equal(line.first_insn, 1);
	assert_false(loupe_source_line_of(source, 4, &line));

	assert_string_equal(loupe_source_func(source, 0), "main");
	assert_string_equal(loupe_source_func(source, 2), "sub");
	assert_null(loupe_source_func(source, 1));
	assert_string_equal(loupe_source_func_of(source, 1), "main");
	assert_string_equal(loupe_source_func_of(source, 3), "sub");
	loupe_source_destroy(source);
}

static void does_without_btf(void **state)
{
	struct loupe_insn insn = { .code = 0x95 };
	struct loupe_func_info func = { 0, 2 };
	struct loupe_image image = { .insns = &insn, .insn_cnt = 1, .func_info = &func,
				     .func_info_cnt = 1 };
	struct loupe_source_line line;
	struct loupe_source *source;
	uint8_t garbage[8] = { 1, 2, 3 };

	(void)state;
	assert_int_equal(loupe_source_create(&image, &source), 0);
	assert_false(loupe_source_line_of(source, 0, &line));
	assert_string_equal(line.text, "");
	assert_null(loupe_source_func(source, 0));
	loupe_source_destroy(source);

	image.btf = garbage;
	image.btf_size = sizeof(garbage);
	assert_int_equal(loupe_source_create(&image, &source), 0);
	assert_null(loupe_source_func_of(source, 0));
	loupe_source_destroy(source);
}

static void prints_with_names(void **state)
{
	struct loupe_insn insns[] = {
		{ .code = 0x18, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = 7 },
		{ 0 },
		{ .code = 0x85, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = 5 },
	};
	struct loupe_map map = { .name = "events", .fd = 7 };
	struct loupe_image image = { .insns = insns, .insn_cnt = 3, .maps = &map, .map_cnt = 1 };
	struct loupe_insn_print_opts opts;
	struct loupe_source *source;
	char buf[128];

	(void)state;
	assert_int_equal(loupe_source_create(&image, &source), 0);
	opts = loupe_source_print_opts(source, true);
	loupe_insn_print(buf, sizeof(buf), &insns[0], &opts);
	assert_string_equal(buf, "r1 = map[events]");
	/* without the kernel's BTF, a kernel function has no name */
	loupe_insn_print(buf, sizeof(buf), &insns[2], &opts);
	assert_non_null(strstr(buf, "<error>"));
	loupe_source_destroy(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_lines_and_functions),
		cmocka_unit_test(does_without_btf),
		cmocka_unit_test(prints_with_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
