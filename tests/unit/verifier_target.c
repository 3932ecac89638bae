// SPDX-License-Identifier: GPL-2.0-only
/* Types of the kernel's that a tracing program cannot attach to, and the kernel's words for it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpfloupe/verify.h"
#include "btf/kernel_types.h"
#include "insn/opcodes.h"

static char messages[4096], path[64];

static void hear(void *ctx, const char *text, bool level2)
{
	(void)ctx;
	if (!level2)
		strncat(messages, text, sizeof(messages) - strlen(messages) - 1);
}

/* --- the types, by the numbers that they get ---------------------------------------------- */

enum {
	VOID,
	INT,
	DOUBLE,
	BIG,	   /* struct of 24 bytes */
	UNION,	   /* of 4 bytes */
	MANY,	   /* prototypes from here on */
	RETURNS_UNION,
	RETURNS_DOUBLE,
	TAKES_BIG,
	TAKES_DOUBLE,
	VARIADIC,
	TAKES_VOID,
	PLAIN,
	FUNC, /* functions of these prototypes, FUNC + n of MANY + n */
	FUNC_LAST = FUNC + PLAIN - MANY,
	TRACE,	   /* typedefs: btf_trace_… of an integer, and one of another name */
	OTHER,
	CNT,
};

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (uint32_t)(vlen))

/* Names: "f" for functions, then the typedefs'. */
static const char strs[] = "\0f\0btf_trace_t\0other";
enum { NAME_FUNC = 1, NAME_TRACE = 3, NAME_OTHER = 15 };

static void write_types(void)
{
	static const struct {
		uint32_t ret, cnt, args[13];
	} protos[] = {
		{ INT, 13, { INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT, INT } },
		{ UNION, 0, { 0 } },
		{ DOUBLE, 0, { 0 } },
		{ INT, 2, { INT, BIG } },
		{ INT, 1, { DOUBLE } },
		{ INT, 2, { INT, VOID } },
		{ INT, 2, { VOID, INT } },
		{ VOID, 1, { INT } },
	};
	uint32_t words[256], n = 0;
	struct btf_header hdr = { .magic = BTF_MAGIC,
				  .version = BTF_VERSION,
				  .hdr_len = sizeof(hdr) };
	FILE *f = fopen(path, "w");

#define PUT(...)                                                                                   \
	do {                                                                                       \
		const uint32_t w_[] = { __VA_ARGS__ };                                             \
		memcpy(words + n, w_, sizeof(w_));                                                 \
		n += sizeof(w_) / sizeof(w_[0]);                                                   \
	} while (0)
	PUT(NAME_FUNC, INFO(BTF_KIND_INT, 0), 4, 32);
	PUT(NAME_FUNC, INFO(BTF_KIND_FLOAT, 0), 8);
	PUT(NAME_FUNC, INFO(BTF_KIND_STRUCT, 0), 24);
	PUT(NAME_FUNC, INFO(BTF_KIND_UNION, 0), 4);
	for (size_t i = 0; i < sizeof(protos) / sizeof(protos[0]); i++) {
		PUT(0, INFO(BTF_KIND_FUNC_PROTO, protos[i].cnt), protos[i].ret);
		for (uint32_t a = 0; a < protos[i].cnt; a++)
			PUT(0, protos[i].args[a]);
	}
	for (uint32_t i = MANY; i <= PLAIN; i++)
		PUT(NAME_FUNC, INFO(BTF_KIND_FUNC, 0), i);
	PUT(NAME_TRACE, INFO(BTF_KIND_TYPEDEF, 0), INT);
	PUT(NAME_OTHER, INFO(BTF_KIND_TYPEDEF, 0), INT);
	hdr.type_len = hdr.str_off = n * (uint32_t)sizeof(words[0]);
	hdr.str_len = sizeof(strs);
	assert_non_null(f);
	fwrite(&hdr, sizeof(hdr), 1, f);
	fwrite(words, sizeof(words[0]), n, f);
	fwrite(strs, sizeof(strs), 1, f);
	fclose(f);
}

/* --- what is said of them ----------------------------------------------------------------- */

static enum loupe_verdict judge(uint32_t attach_type, uint32_t id, int *err)
{
	static const struct loupe_hooks hooks = { .message = hear };
	struct loupe_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct loupe_image image = {
		.insns = insns,
		.insn_cnt = 2,
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = attach_type,
		.attach_btf_id = id,
		.license = (char *)"GPL",
		.kernel_types = loupe_kernel_types_create(path),
	};
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;

	messages[0] = '\0';
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = (struct loupe_listener){ &hooks, NULL };
	assert_int_equal(loupe_verify(&image, &opts, &result), 0);
	if (result.verdict == LOUPE_NOT_JUDGED)
		strcat(messages, result.reason);
	*err = result.err;
	loupe_verify_result_finish(&result);
	loupe_kernel_types_unref(image.kernel_types);
	return result.verdict;
}

static void targets(void **state)
{
	static const struct {
		uint32_t attach_type, id;
		const char *words; /* all that is said before the counters */
	} rows[] = {
		{ BPF_TRACE_RAW_TP, VOID, "Tracing programs must provide btf_id\n" },
		{ BPF_TRACE_RAW_TP, CNT, "attach_btf_id 23 is invalid\n" },
		{ BPF_TRACE_RAW_TP, FUNC, "attach_btf_id 13 is not a typedef\n" },
		{ BPF_TRACE_RAW_TP, OTHER, "attach_btf_id 22 points to wrong type name other\n" },
		{ BPF_TRACE_ITER, OTHER, "attach_btf_id 22 is not a function\n" },
		{ BPF_TRACE_ITER, FUNC,
		  "The function f has 13 arguments. Too many.\n" },
		{ BPF_TRACE_ITER, FUNC + RETURNS_UNION - MANY,
		  "The function f return type UNION is unsupported.\n" },
		{ BPF_TRACE_ITER, FUNC + RETURNS_DOUBLE - MANY,
		  "The function f return type FLOAT is unsupported.\n" },
		{ BPF_TRACE_ITER, FUNC + TAKES_BIG - MANY,
		  "The function f arg1 type STRUCT is unsupported.\n" },
		{ BPF_TRACE_ITER, FUNC + TAKES_DOUBLE - MANY,
		  "The function f arg0 type FLOAT is unsupported.\n" },
		{ BPF_TRACE_ITER, FUNC + VARIADIC - MANY,
		  "The function f with variable args is unsupported.\n" },
		{ BPF_TRACE_ITER, FUNC + TAKES_VOID - MANY,
		  "The function f has malformed void argument.\n" },
		{ BPF_TRACE_ITER, FUNC + PLAIN - MANY, "" }, /* no iterator's */
		{ BPF_CGROUP_INET_INGRESS, FUNC, "" },
	};
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(judge(rows[i].attach_type, rows[i].id, &err), LOUPE_REJECTED);
		assert_int_equal(err, -EINVAL);
		assert_string_equal(messages, rows[i].words);
	}
}

/* Types of a name that promises a tracepoint, but that are none: no kernel has such. */
static void no_tracepoint(void **state)
{
	int err;

	(void)state;
	assert_int_equal(judge(BPF_TRACE_RAW_TP, TRACE, &err), LOUPE_NOT_JUDGED);
	assert_non_null(strstr(messages, "no such tracepoint"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets),
		cmocka_unit_test(no_tracepoint),
	};
	int failed;

	snprintf(path, sizeof(path), "/tmp/verifier_target.%d", getpid());
	write_types();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
