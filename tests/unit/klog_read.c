// SPDX-License-Identifier: GPL-2.0-only
/* Logs as people have them: with libbpf's lines around, pasted, cut, from other kernels, or none at
 * all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/log.h"
#include "bpfloupe/log_read.h"
#include "bpfloupe/source.h"
#include "bpfloupe/trace.h"

static const char rejected[] =
	"0: R1=ctx() R10=fp0\n"
	"; int x = *p; @ a.c:3\n"
	"0: (b7) r2 = 7                        ; R2=7\n"
	"1: (18) r3 = 0xffff888100000000       ; R3=map_ptr(map=counts,ks=4,vs=8)\n"
	"; return *q; @ a.c:4\n"
	"3: (79) r0 = *(u64 *)(r2 +0)\n"
	"R2 invalid mem access 'scalar'\n"
	"processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 "
	"mark_read 0\n";

struct read {
	struct loupe_log_file *file;
	const struct loupe_image *image;
	const struct loupe_logged *logged;
	struct loupe_trace *trace;
	const struct loupe_verify_result *result;
};

static void read_log(struct read *r, const char *text, uint32_t programs, uint32_t n)
{
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;
	struct loupe_error err;

	assert_true(loupe_log_sniff(text, strlen(text)));
	assert_int_equal(loupe_log_read("x.log", text, strlen(text), &r->file, &err), 0);
	assert_int_equal(loupe_log_file_programs(r->file)->cnt, programs);
	r->image = loupe_log_file_programs(r->file)->progs[n].image;
	r->logged = loupe_log_file_at(r->file, n);
	r->trace = loupe_trace_create(r->image);
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(r->trace);
	assert_int_equal(loupe_logged_replay(r->logged, &opts, &result), 0);
	loupe_verify_result_finish(&result);
	assert_int_equal(loupe_trace_finish(r->trace), 0);
	r->result = loupe_trace_result(r->trace);
}

static void finish(struct read *r)
{
	loupe_trace_destroy(r->trace);
	loupe_log_file_destroy(r->file);
}

static void test_rejected(void **state)
{
	struct loupe_source_line line;
	struct loupe_source *source;
	struct loupe_value value;
	struct read r;
	size_t len;

	(void)state;
	read_log(&r, rejected, 1, 0);
	assert_int_equal(loupe_logged_level(r.logged), LOUPE_LOG_LEVEL1);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_int_equal(r.result->err, 0);
	assert_true(r.result->lacks & LOUPE_LACKS_ERRNO);
	assert_true(r.result->lacks & LOUPE_LACKS_CHECKPOINTS);
	assert_false(r.result->lacks &
		     (LOUPE_LACKS_BEGINNING | LOUPE_LACKS_END | LOUPE_LACKS_STEPS));
	assert_int_equal(r.result->phase, LOUPE_PHASE_EXPLORE_MAIN);
	assert_string_equal(loupe_trace_error(r.trace), "R2 invalid mem access 'scalar'");
	assert_int_equal(loupe_trace_step_cnt(r.trace), 3);
	assert_int_equal(loupe_trace_error_step(r.trace), 2);
	assert_int_equal(loupe_trace_step_insn(r.trace, 2), 3);
	assert_int_equal(loupe_trace_value(r.trace, 2, (struct loupe_loc){ .index = 2 }, &value),
			 0);
	assert_int_equal(value.reg.type, SCALAR_VALUE);
	assert_int_equal(value.reg.umin, 7);
	/* who wrote it is known from the instructions */
	assert_int_equal(loupe_trace_writer(r.trace, 2, (struct loupe_loc){ .index = 2 }), 0);
	assert_int_equal(r.image->map_cnt, 1);
	assert_string_equal(r.image->maps[0].name, "counts");
	assert_int_equal(r.image->maps[0].value_size, 8);
	assert_int_equal(loupe_source_create(r.image, &source), 0);
	assert_true(loupe_source_line_of(source, 3, &line));
	assert_string_equal(line.text, "return *q;");
	assert_string_equal(line.file, "a.c");
	assert_int_equal(line.line, 4);
	assert_true(loupe_source_line_of(source, 1, &line));
	assert_int_equal(line.line, 3);
	loupe_source_destroy(source);
	assert_memory_equal(loupe_logged_text(r.logged, &len) +
				    loupe_logged_step_offset(r.logged, 2),
			    "3: (79)", 7);
	finish(&r);
}

static void test_libbpf(void **state)
{
	char text[4096];
	struct read r;

	(void)state;
	snprintf(text, sizeof(text),
		 "libbpf: prog 'count_all': BPF program load failed: Permission denied\r\n"
		 "libbpf: prog 'count_all': -- BEGIN PROG LOAD LOG --\n"
		 "%s"
		 "-- END PROG LOAD LOG --\n"
		 "libbpf: prog 'count_all': failed to load: -13\n"
		 "Error: failed to load object file\n",
		 rejected);
	read_log(&r, text, 1, 0);
	assert_string_equal(loupe_log_file_programs(r.file)->progs[0].name, "count_all");
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_int_equal(r.result->err, -13);
	assert_false(r.result->lacks & LOUPE_LACKS_ERRNO);
	assert_int_equal(loupe_trace_step_cnt(r.trace), 3);
	finish(&r);
}

static void test_several(void **state)
{
	char text[4096];
	struct read r;

	(void)state;
	/* pasted with tabs in front, as Go's loaders print it */
	snprintf(text, sizeof(text),
		 "%s\n\t0: R1=ctx() R10=fp0\n\t0: (b7) r0 = 0      ; R0=0\n"
		 "\t1: (95) exit\n\tprocessed 2 insns (limit 1000000) max_states_per_insn 0 "
		 "total_states 0 "
		 "peak_states 0 mark_read 0\n",
		 rejected);
	read_log(&r, text, 2, 1);
	assert_int_equal(loupe_trace_step_cnt(r.trace), 2);
	assert_int_equal(r.result->counters.insn_processed, 2);
	finish(&r);
}

static void test_cut(void **state)
{
	struct read r;

	(void)state;
	/* the kernel keeps the end of a log that is too long for the buffer */
	read_log(&r,
		 "r1 += 4\n7: (07) r1 += 4      ; R1=pkt(off=4,r=0)\n8: (61) r0 = *(u32 *)(r1 +0)\n"
		 "invalid access to packet, off=4 size=4, R1(id=0,off=4,r=0)\nR1 offset is outside "
		 "of the packet\n"
		 "processed 9 insns (limit 1000000) max_states_per_insn 0 total_states 0 "
		 "peak_states 0 mark_read 0\n",
		 1, 0);
	assert_true(r.result->lacks & LOUPE_LACKS_BEGINNING);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_int_equal(loupe_trace_step_cnt(r.trace), 2);
	assert_string_equal(loupe_trace_error(r.trace),
			    "invalid access to packet, off=4 size=4, R1(id=0,off=4,r=0)\n"
			    "R1 offset is outside of the packet");
	finish(&r);
	read_log(&r, "0: R1=ctx() R10=fp0\n0: (b7) r0 = 0      ; R0=0\n", 1, 0);
	assert_true(r.result->lacks & LOUPE_LACKS_END);
	finish(&r);
}

static void test_message_without_newline(void **state)
{
	struct read r;

	(void)state;
	read_log(
		&r,
		"invalid type id 1 in func infoprocessed 0 insns (limit 1000000) max_states_per_insn 0 "
		"total_states 0 peak_states 0 mark_read 0\n",
		1, 0);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_string_equal(loupe_trace_error(r.trace), "invalid type id 1 in func info");
	finish(&r);
	/* some refusals are silent */
	read_log(
		&r,
		"processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 "
		"mark_read 0\n",
		1, 0);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	finish(&r);
}

static void test_level_4(void **state)
{
	struct read r;

	(void)state;
	read_log(&r,
		 "verification time 12 usec\nstack depth 8+16\nprocessed 5 insns (limit 1000000) "
		 "max_states_per_insn 1 total_states 2 peak_states 3 mark_read 4\n",
		 1, 0);
	assert_int_equal(loupe_logged_level(r.logged), LOUPE_LOG_STATS);
	assert_int_equal(r.result->verdict, LOUPE_ACCEPTED);
	assert_int_equal(r.result->verification_ns, 12000);
	assert_int_equal(r.result->subprog_cnt, 2);
	assert_int_equal(r.result->stack_depth[1], 16);
	assert_int_equal(r.result->counters.peak_states, 3);
	assert_true(r.result->lacks & LOUPE_LACKS_STEPS);
	assert_int_equal(loupe_trace_step_cnt(r.trace), 0);
	finish(&r);
}

#define LAST_LINE(insns)                                                                           \
	"processed " insns " insns (limit 1000000) max_states_per_insn 0 total_states 0 "          \
	"peak_states 0 mark_read 0\n"

/* Rejected before a state was known. */
static void test_early(void **state)
{
	struct read r;

	(void)state;
	/* the kernel ends some messages without a newline */
	read_log(&r, "nonzero insn_off 1 for the first func info record" LAST_LINE("0"), 1, 0);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_true(r.result->phase < LOUPE_PHASE_EXPLORE_MAIN);
	assert_string_equal(loupe_trace_error(r.trace),
			    "nonzero insn_off 1 for the first func info record");
	assert_int_equal(loupe_trace_step_cnt(r.trace), 0);
	assert_int_equal(loupe_trace_error_step(r.trace), LOUPE_NO_STEP);
	assert_true(r.result->lacks & LOUPE_LACKS_STEPS);
	assert_false(r.result->lacks & LOUPE_LACKS_END);
	finish(&r);
	/* such a message ends its log, too */
	read_log(&r, "missing btf func_info" LAST_LINE("0") LAST_LINE("7"), 2, 1);
	assert_int_equal(r.result->verdict, LOUPE_ACCEPTED);
	finish(&r);
	read_log(&r,
		 "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
		 "missing btf func_info\n-- END PROG LOAD LOG --\n",
		 1, 0);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_string_equal(loupe_trace_error(r.trace), "missing btf func_info");
	finish(&r);
	/* what was explored shows in the counters alone at level 4 */
	read_log(&r, "R0 !read_ok\n" LAST_LINE("3"), 1, 0);
	assert_int_equal(r.result->verdict, LOUPE_REJECTED);
	assert_int_equal(r.result->phase, LOUPE_PHASE_EXPLORE_MAIN);
	assert_int_equal(loupe_trace_error_step(r.trace), LOUPE_NO_STEP);
	finish(&r);
}

/* Rejected by a phase after exploration. */
static void test_late(void **state)
{
	static const struct {
		const char *message;
		enum loupe_phase phase;
	} rows[] = {
		{ "verifier bug: subprog has tail_call and async cb", LOUPE_PHASE_STACK_DEPTH },
		{ "tail_call abusing map_ptr", LOUPE_PHASE_REWRITE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct read r;

		snprintf(text, sizeof(text),
			 "Live regs before insn:\n"
			 "      0: .......... (b7) r0 = 0\n      1: 0......... (95) exit\n"
			 "0: R1=ctx() R10=fp0\n0: (b7) r0 = 0      ; R0=0\n1: (95) exit\n%s\n%s",
			 rows[i].message, LAST_LINE("2"));
		read_log(&r, text, 1, 0);
		assert_int_equal(r.result->verdict, LOUPE_REJECTED);
		assert_int_equal(r.result->phase, rows[i].phase);
		assert_int_equal(loupe_trace_error_step(r.trace), LOUPE_NO_STEP);
		finish(&r);
	}
}

static void test_insns(void **state)
{
	struct read r;

	(void)state;
	/* no form: only the code is known; its arrival has a line like any other */
	read_log(&r,
		 "0: R1=ctx() R10=fp0\n0: (b7) r1 = 1      ; R1=1\n1: BUG_db\n"
		 "BPF_ATOMIC uses invalid atomic opcode 33\n" LAST_LINE("2"),
		 1, 0);
	assert_int_equal(loupe_trace_step_cnt(r.trace), 2);
	assert_int_equal(r.image->insns[1].code, 0xdb);
	assert_int_equal(loupe_trace_error_step(r.trace), 1);
	finish(&r);
	/* of an ldimm64 that is wrong the second slot is not reached */
	read_log(&r,
		 "0: R1=ctx() R10=fp0\n0: (18) r1 = 0x1      ; R1=1\n2: (18) r0 = 0x1\n"
		 "BPF_LD_IMM64 uses reserved fields\n" LAST_LINE("2"),
		 1, 0);
	assert_int_equal(r.image->insn_cnt, 4);
	assert_memory_equal(r.result->insn_seen, "\1\1\1\0", 4);
	finish(&r);
}

static void test_other_kernel(void **state)
{
	struct loupe_value value;
	struct read r;

	(void)state;
	read_log(&r,
		 "0: R1=ctx(off=0,imm=0) R10=fp0\n0: (b7) r2 = 5                        ; R2_w=5\n"
		 "1: (95) exit\nR0 !read_ok\nprocessed 2 insns (limit 1000000) max_states_per_insn "
		 "0 "
		 "total_states 0 peak_states 0 mark_read 0\n",
		 1, 0);
	assert_true(r.result->lacks & LOUPE_LACKS_STATES);
	assert_int_equal(loupe_trace_value(r.trace, 1, (struct loupe_loc){ .index = 2 }, &value),
			 0);
	assert_int_equal(value.reg.type, REG_NOT_LOGGED);
	assert_string_equal(loupe_trace_error(r.trace), "R0 !read_ok");
	finish(&r);
}

static void test_control_characters(void **state)
{
	struct loupe_source_line line;
	struct loupe_source *source;
	struct read r;
	size_t len;
	const char *text;

	(void)state;
	read_log(&r,
		 "0: R1=ctx() R10=fp0\n; \x1b[31mred\x07 @ a\x1b.c:3\n0: (b7) r0 = 0      ; "
		 "R0=0\n\x1b]0;x\x07\n",
		 1, 0);
	text = loupe_logged_text(r.logged, &len);
	for (size_t i = 0; i < len; i++)
		assert_true((unsigned char)text[i] >= ' ' || text[i] == '\n');
	assert_int_equal(loupe_source_create(r.image, &source), 0);
	assert_true(loupe_source_line_of(source, 0, &line));
	assert_string_equal(line.text, "?[31mred?");
	loupe_source_destroy(source);
	finish(&r);
}

static void test_no_log(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"hello\n",
		"\x7f"
		"ELF\x02\x01\x01",
		".type xdp\n\tr0 = 0\n\texit\n",
		"0: (b7) r0 = 0\n1: (95) exit\n", /* assembler text with numbers and codes */
		"{ \"defaultAction\": \"SCMP_ACT_ERRNO\" }\n",
		"read: allow\n",
		"2,40 0 0 12,6 0 0 65535\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct loupe_log_file *file;
		struct loupe_error err = { .message = "" };

		assert_false(loupe_log_sniff(texts[i], strlen(texts[i])));
		assert_true(loupe_log_read("x", texts[i], strlen(texts[i]), &file, &err) < 0);
		assert_non_null(strstr(err.message, "holds no verifier log"));
		assert_null(file);
	}
}

static void test_lacks(void **state)
{
	char text[256];

	(void)state;
	loupe_lacks_print(text, sizeof(text), LOUPE_LACKS_CHECKPOINTS);
	assert_string_equal(text, "checkpoints, misses and evictions");
	assert_int_equal(loupe_lacks_print(text, 8, LOUPE_LACKS_CHECKPOINTS | LOUPE_LACKS_ERRNO),
			 strlen("the error number; checkpoints, misses and evictions"));
	assert_string_equal(text, "the err");
	assert_int_equal(loupe_lacks_print(NULL, 0, LOUPE_LACKS_STEPS), strlen("the steps"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_libbpf),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_message_without_newline),
		cmocka_unit_test(test_level_4),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_insns),
		cmocka_unit_test(test_other_kernel),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
