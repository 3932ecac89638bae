// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "bpfloupe/cfg_report.h"
#include "bpfloupe/image.h"

static const struct loupe_insn ebpf[] = {
	{ 0x61, 2, 1, 4, 0 },	     /* 0: r2 = *(u32 *)(r1 +4) */
	{ 0x55, 2, 0, 3, 7 },	     /* 1: if r2 != 0x7 goto pc+3 */
	{ 0x18, 0, 0, 0, 5 }, { 0 }, /* 2: r0 = 0x5 ll */
	{ 0x05, 0, 0, 1, 0 },	     /* 4: goto pc+1 */
	{ 0xb7, 0, 0, 0, 1 },	     /* 5: r0 = 1 */
	{ 0x95, 0, 0, 0, 0 },	     /* 6: exit */
};

static const struct loupe_cbpf_insn cbpf[] = {
	{ 0x20, 0, 0, 0 },	    /* 0: A = nr */
	{ 0x15, 0, 1, 3 },	    /* 1: if A == 0x3 */
	{ 0x06, 0, 0, 0x7fff0000 }, /* 2: return ALLOW */
	{ 0x06, 0, 0, 0 },	    /* 3: return KILL_THREAD */
};

static char *write_with(int (*writer)(const struct loupe_cfg_report *, FILE *), bool classic)
{
	struct loupe_cfg_program prog = { 0 };
	struct loupe_block_content content;
	struct loupe_cfg_report report = { .content = &content,
					   .program = &prog,
					   .title = "a \"title\" <&>" };
	struct loupe_cfg *cfg;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (classic) {
		assert_int_equal(loupe_cfg_from_cbpf(cbpf, 4, &cfg, NULL), 0);
		prog.cbpf = cbpf;
		prog.flavour = LOUPE_FILTER_SECCOMP;
	} else {
		assert_int_equal(loupe_cfg_from_ebpf(ebpf, 7, &cfg, NULL), 0);
		prog.insns = ebpf;
	}
	prog.cfg = report.cfg = cfg;
	loupe_cfg_program_content(&prog, &content);
	assert_int_equal(writer(&report, out), 0);
	fclose(out);
	loupe_cfg_destroy(cfg);
	return text;
}

static void text(void **state)
{
	char *got = write_with(loupe_cfg_write_text, false);

	(void)state;
	assert_string_equal(got, "a \"title\" <&>\n"
				 "  ┌─────────────────────────┐\n"
				 "  │ 0: r2 = *(u32 *)(r1 +4) │\n"
				 "  │ 1: if r2 != 0x7         │\n"
				 "  └────t───────────────f────┘\n"
				 "       │               │\n"
				 "┌──────┴────┐   ┌──────┴─────────┐\n"
				 "│ 5: r0 = 1 │   │ 2: r0 = 0x5 ll │\n"
				 "└─────┬─────┘   │ 4: goto        │\n"
				 "      │         └───────┬────────┘\n"
				 "      └─────┐     ┌─────┘\n"
				 "          ┌─┴─────┴─┐\n"
				 "          │ 6: exit │\n"
				 "          └─────────┘\n");
	free(got);
	got = write_with(loupe_cfg_write_text, true);
	assert_non_null(strstr(got, "│ 1: if A == 0x3 │"));
	assert_non_null(strstr(got, "│ 2: return ALLOW │"));
	free(got);
}

static void json(void **state)
{
	char *got = write_with(loupe_cfg_write_json, false);
	json_t *root = json_loads(got, 0, NULL), *block, *edge;

	(void)state;
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "title")), "a \"title\" <&>");
	assert_int_equal(json_integer_value(json_object_get(root, "insn_cnt")), 7);
	assert_int_equal(json_array_size(json_object_get(root, "blocks")), 4);
	assert_int_equal(json_array_size(json_object_get(root, "edges")), 4);
	block = json_array_get(json_object_get(root, "blocks"), 0);
	assert_true(json_is_null(json_object_get(block, "idom")));
	block = json_array_get(json_object_get(root, "blocks"), 1);
	assert_int_equal(json_integer_value(json_object_get(block, "first")), 2);
	assert_int_equal(json_integer_value(json_object_get(block, "last")), 4);
	assert_int_equal(json_integer_value(json_object_get(block, "idom")), 0);
	/* the wide instruction is one entry; jumps say where to */
	assert_int_equal(json_array_size(json_object_get(block, "insns")), 2);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(block, "insns"), 1), "text")),
			    "goto pc+1");
	edge = json_array_get(json_object_get(root, "edges"), 0);
	assert_string_equal(json_string_value(json_object_get(edge, "kind")), "true");
	assert_int_equal(json_integer_value(json_object_get(edge, "to")), 2);
	json_decref(root);
	free(got);
}

static void dot(void **state)
{
	char *got = write_with(loupe_cfg_write_dot, true);

	(void)state;
	assert_non_null(strstr(got, "digraph \"a \\\"title\\\" <&>\" {"));
	assert_non_null(strstr(got, "b0 [label=\"0: A = nr\\l1: if A == 0x3\\l\"];"));
	assert_non_null(strstr(got, "b0:sw -> b1:n [color=darkgreen, taillabel=\"t\"];"));
	assert_non_null(strstr(got, "b0:se -> b2:n [color=firebrick, taillabel=\"f\"];"));
	free(got);
}

static void svg(void **state)
{
	char *got = write_with(loupe_cfg_write_svg, true);

	(void)state;
	assert_int_equal(strncmp(got, "<svg ", 5), 0);
	assert_non_null(strstr(got, "<title>a \"title\" &lt;&amp;&gt;</title>"));
	assert_non_null(strstr(got, ">if A == 0x3</text>"));
	assert_non_null(strstr(got, "<polyline class=\"edge-true\""));
	assert_non_null(strstr(got, "<polyline class=\"edge-false\""));
	assert_string_equal(got + strlen(got) - 7, "</svg>\n");
	free(got);
}

static void failing_output_is_told(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct loupe_cfg_report report = { 0 };
	struct loupe_cfg_program prog = { .cbpf = cbpf, .flavour = LOUPE_FILTER_SECCOMP };
	struct loupe_block_content content;
	struct loupe_cfg *cfg;

	(void)state;
	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(loupe_cfg_from_cbpf(cbpf, 4, &cfg, NULL), 0);
	prog.cfg = report.cfg = cfg;
	loupe_cfg_program_content(&prog, &content);
	report.content = &content;
	assert_true(loupe_cfg_write_text(&report, full) < 0);
	assert_true(loupe_cfg_write_dot(&report, full) < 0);
	assert_true(loupe_cfg_write_svg(&report, full) < 0);
	assert_true(loupe_cfg_write_json(&report, full) < 0);
	fclose(full);
	loupe_cfg_destroy(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(json),
		cmocka_unit_test(dot),
		cmocka_unit_test(svg),
		cmocka_unit_test(failing_output_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
