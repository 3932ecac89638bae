// SPDX-License-Identifier: GPL-2.0-only
/*
 * Phases around exploration through the whole verifier. Verdicts, messages and rewritten programs
 * are those of a 6.18 kernel for the same insns, loaded by root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/log.h"
#include "bpfloupe/verify.h"
#include "insn/opcodes.h"

#define INSN(c, d, s, o, i)                                                         \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}
#define MAX_ROW 14

static char log_text[4096];

/* Verifies a socket filter unless image says otherwise; the log of level 2 is in log_text. */
static void verify(struct loupe_image *image, struct loupe_insn *insns, uint32_t cnt,
		   struct loupe_verify_result *result)
{
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts), .level = LOUPE_LOG_LEVEL2 };
	struct loupe_verify_opts opts;
	struct loupe_log *log;

	image->insns = insns;
	image->insn_cnt = cnt;
	image->license = (char *)"GPL";
	if (!image->prog_type)
		image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	assert_int_equal(loupe_log_create(image, &log_opts, &log), 0);
	loupe_verify_opts_init(&opts);
	opts.listeners[0] = loupe_log_listener(log);
	opts.listener_cnt = 1;
	assert_int_equal(loupe_verify(image, &opts, result), 0);
	assert_int_equal(loupe_log_finish(log), 0);
	log_text[0] = '\0';
	strncat(log_text, loupe_log_text(log, NULL), sizeof(log_text) - 1);
	loupe_log_destroy(log);
}

static const struct {
	const char *name;
	struct loupe_insn insns[MAX_ROW];
	int err;
	const char *message; /* must be in the log; NULL: the log is empty */
} refused[] = {
	{ "jump into ldimm64",
	  { INSN(0x15, 1, 0, 1, 0), INSN(0x18, 0, 0, 0, 1), INSN(0, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "jump into the middle of ldimm64 insn 1\n" },
	{ "unreachable",
	  { INSN(0x05, 0, 0, 1, 0), INSN(0xb7, 0, 0, 0, 1), INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "unreachable insn 1\n" },
	{ "unknown opcode",
	  { INSN(0x8f, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "unknown opcode 8f\n" },
	{ "fields of ldimm64's second slot",
	  { INSN(0x18, 1, 0, 0, 0), INSN(0, 0, 0, 1, 0), INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "invalid bpf_ld_imm64 insn\n" },
	{ "pseudo source",
	  { INSN(0x18, 1, 7, 0, 3), INSN(0, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "unrecognized bpf_ld_imm64 insn\n" },
	{ "no such map",
	  { INSN(0x18, 1, 1, 0, 99), INSN(0, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  -EBADF,
	  "fd 99 is not pointing to valid bpf_map\n" },
	{ "index without fd_array",
	  { INSN(0x18, 1, 5, 0, 0), INSN(0, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  -EPROTO,
	  "fd_idx without fd_array is invalid\n" },
	{ "reserved fields of a load",
	  { INSN(0x61, 0, 1, 0, 1), INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "BPF_LDX uses reserved fields\n" },
	{ "LD_ABS in a function",
	  { INSN(0x85, 0, 1, 0, 1), INSN(0x95, 0, 0, 0, 0), INSN(0x20, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "LD_ABS is not allowed in subprogs without BTF\n" },
	{ "tail call in a function",
	  { INSN(0x85, 0, 1, 0, 1), INSN(0x95, 0, 0, 0, 0), INSN(0x85, 0, 0, 0, 12),
	    INSN(0x95, 0, 0, 0, 0) },
	  -EINVAL,
	  "tail_call is not allowed in subprogs without BTF\n" },
	/* 256 bytes in main, 264 in the function it calls */
	{ "stack of two functions",
	  { INSN(0x7a, 10, 0, -256, 1), INSN(0x85, 0, 1, 0, 2), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0), INSN(0x7a, 10, 0, -264, 1), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  -EACCES,
	  "combined stack size of 2 calls is 528. Too large\n" },
};

/* Rows end where an exit is followed by nothing. */
static uint32_t row_len(const struct loupe_insn *insns)
{
	uint32_t cnt = MAX_ROW;

	while (cnt && insns[cnt - 1].code != (BPF_JMP | BPF_EXIT))
		cnt--;
	return cnt;
}

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct loupe_insn insns[MAX_ROW];
		struct loupe_image image = { 0 };
		struct loupe_verify_result result;

		memcpy(insns, refused[i].insns, sizeof(insns));
		verify(&image, insns, row_len(insns), &result);
		if (result.err != refused[i].err || !strstr(log_text, refused[i].message))
			fail_msg("%s: %d, %s", refused[i].name, result.err, log_text);
		assert_null(result.final_insns);
		loupe_verify_result_finish(&result);
	}
}

static const struct {
	const char *name;
	uint32_t prog_type, attach_type, prog_flags, insn_cnt;
	char prog_name[16];
	int err;
} loads[] = {
	{ "no insns", BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, 0, "", -E2BIG },
	{ "unknown flag", BPF_PROG_TYPE_SOCKET_FILTER, 0, 1u << 8, 2, "", -EINVAL },
	{ "type unspecified", BPF_PROG_TYPE_UNSPEC, 0, 0, 2, "", -EINVAL },
	{ "type without support", BPF_PROG_TYPE_LIRC_MODE2, 0, 0, 2, "", -EINVAL },
	{ "type beyond all", 33, 0, 0, 2, "", -EINVAL },
	{ "attach type of another", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_SOCK_OPS, 0, 2, "",
	  -EINVAL },
	{ "attach type needed", BPF_PROG_TYPE_SK_LOOKUP, 0, 0, 2, "", -EINVAL },
	{ "attach type by default", BPF_PROG_TYPE_CGROUP_SOCK, 0, 0, 2, "", 0 },
	{ "attach type not looked at", BPF_PROG_TYPE_SOCKET_FILTER, 40, 0, 2, "", 0 },
	{ "name", BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, 2, "a-b", -EINVAL },
	{ "name with dot", BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, 2, "a_b.c", 0 },
	{ "sleeping filter", BPF_PROG_TYPE_SOCKET_FILTER, 0, BPF_F_SLEEPABLE, 2, "", -EINVAL },
};

static void load_checks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct loupe_insn insns[] = { INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) };
		struct loupe_image image = { .prog_type = loads[i].prog_type,
					     .expected_attach_type = loads[i].attach_type,
					     .prog_flags = loads[i].prog_flags,
					     .insns = insns,
					     .insn_cnt = loads[i].insn_cnt,
					     .license = (char *)"GPL" };
		struct loupe_verify_result result;

		memcpy(image.prog_name, loads[i].prog_name, sizeof(image.prog_name));
		assert_int_equal(loupe_verify(&image, NULL, &result), 0);
		if (result.err != loads[i].err)
			fail_msg("%s: %d", loads[i].name, result.err);
		loupe_verify_result_finish(&result);
	}
}

static const struct {
	const char *name;
	struct loupe_insn before[MAX_ROW], after[MAX_ROW];
} removed[] = {
	{ "branch never taken",
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x55, 0, 0, 2, 0), INSN(0xb7, 1, 0, 0, 1),
	    INSN(0x05, 0, 0, 1, 0), INSN(0xb7, 1, 0, 0, 2), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0xb7, 1, 0, 0, 1), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) } },
	{ "branch always taken",
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x15, 0, 0, 2, 0), INSN(0xb7, 1, 0, 0, 1),
	    INSN(0x05, 0, 0, 1, 0), INSN(0xb7, 1, 0, 0, 2), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0xb7, 1, 0, 0, 2), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) } },
	/* the first jump becomes a no-op when the second goes, too late to be removed */
	{ "jump over a no-op",
	  { INSN(0x79, 1, 10, -8, 0), INSN(0x15, 1, 0, 1, 0), INSN(0x05, 0, 0, 1, 0),
	    INSN(0x05, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0x79, 1, 10, -8, 0), INSN(0x15, 1, 0, 1, 0), INSN(0x05, 0, 0, 0, 0),
	    INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) } },
	{ "may_goto over a may_goto",
	  { INSN(0xe5, 0, 0, 1, 0), INSN(0xe5, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) } },
	{ "ldimm64",
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x15, 0, 0, 2, 0), INSN(0x18, 0, 0, 0, 1),
	    INSN(0, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) } },
	/* a gotol without distance is no no-op */
	{ "gotol",
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x55, 0, 0, 1, 0), INSN(0x06, 0, 0, 0, 1),
	    INSN(0xb7, 0, 0, 0, 3), INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x06, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) } },
	{ "backward jump",
	  { INSN(0xb7, 1, 0, 0, 0), INSN(0xb7, 2, 0, 0, 0), INSN(0x07, 1, 0, 0, 1),
	    INSN(0x15, 2, 0, 1, 0), INSN(0xb7, 2, 0, 0, 7), INSN(0xa5, 1, 0, -4, 9),
	    INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 1, 0, 0, 0), INSN(0xb7, 2, 0, 0, 0), INSN(0x07, 1, 0, 0, 1),
	    INSN(0xa5, 1, 0, -2, 9), INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) } },
	/* the function that is left is called from where it is now */
	{ "function",
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x15, 0, 0, 1, 0), INSN(0x85, 0, 1, 0, 3),
	    INSN(0x85, 0, 1, 0, 4), INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0),
	    INSN(0xb7, 0, 0, 0, 1), INSN(0x95, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 2),
	    INSN(0x95, 0, 0, 0, 0) },
	  { INSN(0xb7, 0, 0, 0, 0), INSN(0x85, 0, 1, 0, 2), INSN(0xb7, 0, 0, 0, 0),
	    INSN(0x95, 0, 0, 0, 0), INSN(0xb7, 0, 0, 0, 2), INSN(0x95, 0, 0, 0, 0) } },
};

static void dead_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
		uint32_t cnt = row_len(removed[i].after);
		struct loupe_insn insns[MAX_ROW];
		struct loupe_image image = { 0 };
		struct loupe_verify_result result;

		memcpy(insns, removed[i].before, sizeof(insns));
		verify(&image, insns, row_len(insns), &result);
		if (result.verdict != LOUPE_ACCEPTED || result.final_cnt != cnt ||
		    memcmp(result.final_insns, removed[i].after, cnt * sizeof(insns[0])) != 0)
			fail_msg("%s: %u insns, %s", removed[i].name, result.final_cnt, log_text);
		for (uint32_t k = 0; k < cnt; k++)
			assert_int_equal(result.final_insns[k].dst_reg,
					 insns[result.final_to_orig[k]].dst_reg);
		assert_int_equal(result.final_to_orig[cnt - 1], i == 7 ? 9 : row_len(insns) - 1);
		loupe_verify_result_finish(&result);
	}
}

/* r1 = 1; fp-8 = r1; call; r1 = fp-8; r0 = r1; exit */
static void spill_around_call(uint32_t prog_type, struct loupe_verify_result *result)
{
	struct loupe_insn insns[] = {
		INSN(0xb7, 1, 0, 0, 1),
		INSN(0x7b, 10, 1, -8, 0),
		INSN(0x85, 0, 0, 0, BPF_FUNC_get_smp_processor_id),
		INSN(0x79, 1, 10, -8, 0),
		INSN(0xb7, 0, 0, 0, 0),
		INSN(0x95, 0, 0, 0, 0),
	};
	struct loupe_image image = { .prog_type = prog_type, .host = { .cpus = 2 } };

	verify(&image, insns, 6, result);
	assert_int_equal(result->verdict, LOUPE_ACCEPTED);
}

/* Socket filters have another helper of that number, which is called in earnest. */
static void spills_around_inlined_calls_go(void **state)
{
	struct loupe_verify_result result;

	(void)state;
	spill_around_call(BPF_PROG_TYPE_XDP, &result);
	assert_int_equal(result.final_cnt, 4);
	assert_int_equal(result.stack_depth[0], 0);
	loupe_verify_result_finish(&result);
	spill_around_call(BPF_PROG_TYPE_SOCKET_FILTER, &result);
	assert_int_equal(result.final_cnt, 6);
	assert_int_equal(result.stack_depth[0], 8);
	loupe_verify_result_finish(&result);
}

/* r6 = 3; r7 = 8; r0 = unknown; if r0 == 0 goto +n; n insns, that at 7 is guarded; exit */
static void jump_over(int16_t n, struct loupe_insn guarded, struct loupe_verify_result *result)
{
	static const struct loupe_insn head[] = { INSN(0xb7, 6, 0, 0, 3), INSN(0xb7, 7, 0, 0, 8),
						  INSN(0x79, 0, 10, -8, 0),
						  INSN(0x15, 0, 0, 0, 0) };
	static const struct loupe_insn tail[] = { INSN(0xb7, 0, 0, 0, 0), INSN(0x95, 0, 0, 0, 0) };
	static const struct loupe_insn filler = INSN(0xb7, 8, 0, 0, 1);
	struct loupe_insn *insns = calloc((size_t)n + 6, sizeof(*insns));
	struct loupe_image image = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	assert_non_null(insns);
	memcpy(insns, head, sizeof(head));
	insns[3].off = n;
	for (int k = 0; k < n; k++)
		insns[4 + k] = k == 7 ? guarded : filler;
	memcpy(insns + 4 + n, tail, sizeof(tail));
	verify(&image, insns, (uint32_t)n + 6, result);
	free(insns);
}

static const struct {
	int16_t n;
	struct loupe_insn insn;
	int err;
} expansions[] = {
	{ 32764, INSN(0x3f, 7, 6, 0, 0), 0 }, { 32765, INSN(0x3f, 7, 6, 0, 0), -ENOMEM },
	{ 32766, INSN(0x9f, 7, 6, 0, 0), 0 }, { 32767, INSN(0x9f, 7, 6, 0, 0), -ENOMEM },
	{ 32764, INSN(0x9c, 7, 6, 0, 0), 0 }, { 32765, INSN(0x9c, 7, 6, 0, 0), -ENOMEM },
	{ 32760, INSN(0x3f, 7, 6, 1, 0), 0 }, { 32761, INSN(0x3f, 7, 6, 1, 0), -ENOMEM },
	{ 32759, INSN(0x9c, 7, 6, 1, 0), 0 }, { 32760, INSN(0x9c, 7, 6, 1, 0), -ENOMEM },
	{ 32767, INSN(0x37, 7, 0, 0, 3), 0 },
};

static void jumps_reach_after_rewriting(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expansions) / sizeof(expansions[0]); i++) {
		struct loupe_verify_result result;

		jump_over(expansions[i].n, expansions[i].insn, &result);
		if (result.err != expansions[i].err)
			fail_msg("row %zu: %d", i, result.err);
		assert_int_equal(result.verdict,
				 expansions[i].err ? LOUPE_REJECTED : LOUPE_ACCEPTED);
		loupe_verify_result_finish(&result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(load_checks),
		cmocka_unit_test(dead_code),
		cmocka_unit_test(spills_around_inlined_calls_go),
		cmocka_unit_test(jumps_reach_after_rewriting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
