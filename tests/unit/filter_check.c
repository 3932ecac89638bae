// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/filter.h"

#define RET                   \
	{                     \
		0x06, 0, 0, 0 \
	}

/* Up to six instructions, code 0xffff ends the list; the kernel's answer and our words. */
static const struct {
	struct loupe_cbpf_insn insns[6];
	uint32_t cnt;
	bool socket, seccomp; /* taken as such */
	const char *message;  /* of the socket check, or seccomp's where a socket may */
} rows[] = {
	{ { RET }, 1, true, true, NULL },
	{ { { 0x16 } }, 1, true, true, NULL },
	{ { { 0x00 } },
	  1,
	  false,
	  false,
	  "instruction 0 (ld #0x0): the last instruction must be a return" },
	{ { { 0x0e }, RET },
	  2,
	  false,
	  false,
	  "instruction 0: no classic BPF instruction has code 0x0e" },
	{ { { 0x120 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0: no classic BPF instruction has code 0x120" },
	{ { { 0x94, 0, 0, 3 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (mod #3): seccomp does not allow it" },
	{ { { 0x28, 0, 0, 12 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (ldh [12]): seccomp does not allow it" },
	{ { { 0xb1, 0, 0, 14 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (ldxb 4*([14]&0xf)): seccomp does not allow it" },
	{ { { 0x20, 0, 0, 64 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (ld [64]): seccomp data has words at 0, 4 ... 60, not at 64" },
	{ { { 0x20, 0, 0, 2 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (ld [2]): seccomp data has words at 0, 4 ... 60, not at 2" },
	{ { { 0x20, 0, 0, 0xfffff004 }, RET },
	  2,
	  true,
	  false,
	  "instruction 0 (ld [-4092]): seccomp data has words at 0, 4 ... 60, not at "
	  "4294963204" },
	{ { { 0x20, 0, 0, 0xfffff001 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (ld [-4095]): no ancillary data at offset 0xfffff001" },
	{ { { 0x34 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (div #0): division by the constant 0" },
	{ { { 0x3c }, RET }, 2, true, true, NULL },
	{ { { 0x64, 0, 0, 32 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (lsh #32): shift by 32 or more" },
	{ { { 0x74, 0, 0, 31 }, RET }, 2, true, true, NULL },
	{ { { 0x02, 0, 0, 16 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (st M[16]): no scratch word M[16]: there are M[0] to M[15]" },
	{ { { 0x05, 0, 0, 0 }, RET }, 2, true, true, NULL },
	{ { { 0x05, 0, 0, 1 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (ja 2): leads to 2, but the last instruction is 1" },
	{ { { 0x05, 0, 0, 0xffffffff }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (ja 4294967296): leads to 4294967296, but the last instruction "
	  "is 1" },
	{ { { 0x15, 0, 2, 0 }, RET, RET },
	  3,
	  false,
	  false,
	  "instruction 0 (jeq #0x0 jt 1 jf 3): false leads to 3, but the last "
	  "instruction is 2" },
	{ { { 0x60, 0, 0, 1 }, RET },
	  2,
	  false,
	  false,
	  "instruction 0 (ld M[1]): reads a scratch word that is not written on every way "
	  "here" },
	{ { { 0x02, 0, 0, 1 }, { 0x60, 0, 0, 1 }, RET }, 3, true, true, NULL },
	/* M[1] is written on one side only. */
	{ { { 0x15, 0, 1, 0 }, { 0x02, 0, 0, 1 }, { 0x61, 0, 0, 1 }, RET },
	  4,
	  false,
	  false,
	  "instruction 2 (ldx M[1]): reads a scratch word that is not written on every way "
	  "here" },
	/* The read is unreachable, and behind a jump anything counts as written. */
	{ { { 0x05, 0, 0, 1 }, { 0x60, 0, 0, 1 }, RET }, 3, true, true, NULL },
	/* But behind a return it does not, although nothing goes on from there. */
	{ { { 0x15, 0, 2, 0 }, { 0x02, 0, 0, 1 }, { 0x05, 0, 0, 1 }, RET, { 0x60, 0, 0, 1 }, RET },
	  6,
	  false,
	  false,
	  "instruction 4 (ld M[1]): reads a scratch word that is not written on every way "
	  "here" },
};

static void kernel_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct loupe_error err = { 0 };
		int ret;

		ret = loupe_filter_check(rows[i].insns, rows[i].cnt, LOUPE_FILTER_SOCKET, NULL,
					 &err);
		assert_int_equal(ret, rows[i].socket ? 0 : -EINVAL);
		ret = loupe_filter_check(rows[i].insns, rows[i].cnt, LOUPE_FILTER_SECCOMP, NULL,
					 rows[i].socket ? &err : NULL);
		assert_int_equal(ret, rows[i].seccomp ? 0 : -EINVAL);
		if (rows[i].message)
			assert_string_equal(err.message, rows[i].message);
	}
}

static void length_is_limited(void **state)
{
	static struct loupe_cbpf_insn insns[LOUPE_FILTER_MAX_INSNS + 1];
	struct loupe_error err;

	(void)state;
	for (size_t i = 0; i <= LOUPE_FILTER_MAX_INSNS; i++)
		insns[i] = (struct loupe_cbpf_insn)RET;
	assert_int_equal(loupe_filter_check(insns, 4096, LOUPE_FILTER_SECCOMP, NULL, &err), 0);
	assert_int_equal(loupe_filter_check(insns, 4097, LOUPE_FILTER_SECCOMP, NULL, &err),
			 -EINVAL);
	assert_string_equal(err.message, "4097 instructions; the kernel takes at most 4096");
	assert_int_equal(loupe_filter_check(insns, 0, LOUPE_FILTER_SECCOMP, NULL, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_rules),
		cmocka_unit_test(length_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
