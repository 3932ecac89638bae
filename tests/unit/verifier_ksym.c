// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of kernel symbols: what the kernel says of each kind of type. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/load.h"
#include "bpfloupe/verify.h"
#include "btf/kernel_types.h"

#define TYPES SAMPLES "/../../tests/golden/kernel.btf"

static char messages[4096];

static void hear(void *ctx, const char *text, bool level2)
{
	(void)ctx;
	if (!level2)
		strncat(messages, text, sizeof(messages) - strlen(messages) - 1);
}

/* Number of a type of the kernel's; name NULL: it is kind. */
static uint32_t number(const char *name, uint32_t kind)
{
	struct btf *btf;
	uint32_t id;

	if (!name)
		return kind;
	assert_int_equal(btf_open_file(TYPES, &btf, NULL), 0);
	id = btf_find(btf, name, kind);
	btf_close(btf);
	assert_int_not_equal(id, 0);
	return id;
}

/* Verifies "r1 = the symbol", then rest; answers the verdict, and *err. */
static enum loupe_verdict judge(const char *name, uint32_t kind, uint32_t fd, const char *rest,
				int *err)
{
	const struct loupe_load_opts load = { .size = sizeof(load), .kernel_btf = TYPES };
	static const struct loupe_hooks hooks = { .message = hear };
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;
	struct loupe_program_list list;
	struct loupe_error error;
	char text[512];

	snprintf(text, sizeof(text), ".type raw_tracepoint\n\tr1 = btf_id %u fd %u\n%s",
		 number(name, kind), fd, rest);
	assert_int_equal(loupe_load_bytes("t.bpfasm", text, strlen(text), &load, &list, &error), 0);
	messages[0] = '\0';
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = (struct loupe_listener){ &hooks, NULL };
	assert_int_equal(loupe_verify(list.progs[0].image, &opts, &result), 0);
	if (result.verdict == LOUPE_NOT_JUDGED)
		strcat(messages, result.reason);
	*err = result.err;
	loupe_verify_result_finish(&result);
	loupe_program_list_finish(&list);
	return result.verdict;
}

static void kinds_of_symbols(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind, fd;
		enum loupe_verdict verdict;
		int err;
		const char *words;
	} rows[] = {
		{ "bpf_rcu_read_lock", BTF_KIND_FUNC, 0, LOUPE_ACCEPTED, 0, "" },
		{ "use_bpf_array", BTF_KIND_VAR, 0, LOUPE_REJECTED, -ENOENT,
		  "ldimm64 failed to find the address for kernel symbol 'use_bpf_array'.\n" },
		{ "vfs_open", BTF_KIND_FUNC, 0, LOUPE_NOT_JUDGED, 0, "function vfs_open" },
		{ "bpf_array", BTF_KIND_STRUCT, 0, LOUPE_REJECTED, -EINVAL,
		  "in ldimm64 isn't KIND_VAR or KIND_FUNC\n" },
		{ NULL, 0, 0, LOUPE_REJECTED, -EINVAL,
		  "pseudo btf_id 0 in ldimm64 isn't KIND_VAR or KIND_FUNC\n" },
		{ NULL, 900000, 0, LOUPE_REJECTED, -ENOENT,
		  "ldimm64 insn specifies invalid btf_id 900000.\n" },
		{ NULL, UINT32_MAX, 0, LOUPE_REJECTED, -ENOENT,
		  "ldimm64 insn specifies invalid btf_id -1.\n" },
		{ NULL, 1, 7, LOUPE_NOT_JUDGED, 0, "module" },
	};
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(judge(rows[i].name, rows[i].kind, rows[i].fd, "r0 = 0\nexit\n",
				       &err),
				 rows[i].verdict);
		assert_int_equal(err, rows[i].err);
		if (!strstr(messages, rows[i].words))
			fail_msg("'%s' is not in '%s'", rows[i].words, messages);
	}
}

/* A function is memory of no size that is not NULL. */
static void what_a_function_is(void **state)
{
	static const struct {
		const char *rest;
		int err;
		const char *words;
	} rows[] = {
		{ "r0 = 0\nif r1 != 0 goto out\nr0 = r9\nout: exit\n", 0, "" },
		{ "r0 = *(u8 *)(r1 +0)\nexit\n", -EACCES,
		  "invalid access to memory, mem_size=0 off=0 size=1\n" },
		{ "*(u8 *)(r1 +0) = 0\nr0 = 0\nexit\n", -EACCES,
		  "R1 cannot write into rdonly_mem\n" },
	};
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		judge("bpf_rcu_read_lock", BTF_KIND_FUNC, 0, rows[i].rest, &err);
		assert_int_equal(err, rows[i].err);
		if (!strstr(messages, rows[i].words))
			fail_msg("'%s' is not in '%s'", rows[i].words, messages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_symbols),
		cmocka_unit_test(what_a_function_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
