// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/rewrite.h"

#define NONE LOUPE_NONE

static const struct loupe_reason because = { "because", "%i (%e) comes from %d, %u of %x%%" };

static int describe(const void *arg, union loupe_rewrite_insn insn, char *buf, size_t size)
{
	return snprintf(buf, size, "%s %u", (const char *)arg, insn.cbpf.k);
}

/* 0: ld [0]; 1: jeq #1 true 2 false 3; 2: ja 4; 3: ld [4]; 4: ret #7 */
static const struct loupe_cbpf_insn small[] = {
	{ 0x20, 0, 0, 0 }, { 0x15, 0, 1, 1 }, { 0x05, 0, 0, 1 },
	{ 0x20, 0, 0, 4 }, { 0x06, 0, 0, 7 },
};

static struct loupe_rewrite *start(void)
{
	struct loupe_rewrite *rw = loupe_rewrite_create_cbpf(small, 5);

	assert_non_null(rw);
	return rw;
}

static struct loupe_edit edit_of(enum loupe_edit_kind kind, uint32_t id)
{
	return (struct loupe_edit){ .pass = "test",
				    .reason = &because,
				    .kind = kind,
				    .id = id,
				    .cnt = 1,
				    .where = NONE,
				    .into = NONE,
				    .jt = NONE,
				    .jf = NONE };
}

static void removing_forwards_references(void **state)
{
	struct loupe_rewrite *rw = start();
	struct loupe_edit edit = edit_of(LOUPE_EDIT_RETARGETED, 1);
	const struct loupe_rewrite_prog *after;

	(void)state;
	edit.way = LOUPE_WAY_TRUE;
	edit.jt = 4;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	edit = edit_of(LOUPE_EDIT_REMOVED, 2);
	edit.cnt = 2;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	assert_int_equal(loupe_rewrite_seal(rw), 0);
	after = loupe_rewrite_after(rw);
	assert_int_equal(after->cnt, 3);
	/* The false side led to 3, which went together with 2: it now reaches 4. */
	assert_int_equal(after->insns[1].cbpf.jt, 0);
	assert_int_equal(after->insns[1].cbpf.jf, 0);
	assert_int_equal(after->jt[1], 2);
	assert_int_equal(after->jf[1], 2);
	assert_int_equal(after->jt[0], NONE);
	assert_int_equal(loupe_rewrite_after_of(rw, 4), 2);
	assert_int_equal(loupe_rewrite_after_of(rw, 3), -1);
	assert_int_equal(loupe_rewrite_before_of(rw, 2), 4);
	assert_int_equal(loupe_rewrite_removed_by(rw, 3), 1);
	assert_int_equal(loupe_rewrite_removed_by(rw, 4), -1);
	loupe_rewrite_destroy(rw);
}

static void any_number_of_edits_replays(void **state)
{
	struct loupe_rewrite *rw = start();
	struct loupe_edit edit = edit_of(LOUPE_EDIT_INSERTED, 0);
	struct loupe_rewrite_prog prog;
	uint32_t id, ids[4] = { 0 };

	(void)state;
	edit.where = 4;
	edit.insn.cbpf = (struct loupe_cbpf_insn){ 0x06, 0, 0, 9 };
	assert_int_equal(loupe_rewrite_edit(rw, &edit, &id), 0);
	assert_int_equal(id, 5);
	edit = edit_of(LOUPE_EDIT_RETARGETED, 2);
	edit.way = LOUPE_WAY_JUMP;
	edit.jt = 5;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	edit = edit_of(LOUPE_EDIT_MOVED, 5);
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	edit = edit_of(LOUPE_EDIT_REMOVED, 3);
	edit.cnt = 3;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	edit.id = 1;
	edit.cnt = 3;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL);

	assert_int_equal(loupe_rewrite_prog_at(rw, 0, &prog), 0);
	assert_int_equal(prog.cnt, 5);
	assert_memory_equal(prog.insns, small, sizeof(small));
	assert_int_equal(prog.index_of[4], 4);
	loupe_rewrite_prog_finish(&prog);

	assert_int_equal(loupe_rewrite_prog_at(rw, 2, &prog), 0);
	assert_int_equal(prog.cnt, 6);
	assert_int_equal(prog.ids[4], 5);
	assert_int_equal(prog.index_of[4], 5);
	assert_int_equal(prog.jt[2], 4);
	assert_int_equal(prog.insns[2].cbpf.k, 1);
	loupe_rewrite_prog_finish(&prog);

	assert_int_equal(loupe_rewrite_prog_at(rw, 3, &prog), 0);
	assert_int_equal(prog.ids[5], 5);
	assert_int_equal(prog.insns[2].cbpf.k, 2);
	assert_true(prog.encodable);
	loupe_rewrite_prog_finish(&prog);

	assert_int_equal(loupe_rewrite_edit_ids(rw, 3, ids, 4), 3);
	assert_int_equal(ids[0], 3);
	assert_int_equal(ids[1], 4);
	assert_int_equal(ids[2], 5);
	assert_int_equal(loupe_rewrite_prog_at(rw, 5, &prog), -EINVAL);
	/* Everything behind the jumps is gone: such a program has no layout. */
	assert_int_equal(loupe_rewrite_seal(rw), -ERANGE);
	loupe_rewrite_destroy(rw);
}

static void wrong_edits_change_nothing(void **state)
{
	struct loupe_rewrite *rw = start();
	struct loupe_edit edit = edit_of(LOUPE_EDIT_RETARGETED, 0);

	(void)state;
	edit.jt = 4;
	edit.way = LOUPE_WAY_TRUE;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL); /* 0 is no jump */
	edit.id = 1;
	edit.jt = 5;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL); /* no such target */
	edit.jt = 4;
	edit.way = LOUPE_WAY_JUMP;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL); /* 1 is conditional */
	edit = edit_of(LOUPE_EDIT_MOVED, 1);
	edit.cnt = 3;
	edit.where = 2;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL); /* before its own part */
	assert_int_equal(loupe_rewrite_edit_cnt(rw), 0);
	assert_int_equal(loupe_rewrite_seal(rw), 0);
	assert_memory_equal(loupe_rewrite_after(rw)->insns, small, sizeof(small));
	edit = edit_of(LOUPE_EDIT_REMOVED, 3);
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), -EINVAL); /* sealed */
	loupe_rewrite_destroy(rw);
}

static void reasons_are_written_from_data(void **state)
{
	struct loupe_rewrite *rw = start();
	struct loupe_edit edit = edit_of(LOUPE_EDIT_INSERTED, 0);
	char buf[200];
	uint32_t id;

	(void)state;
	edit.where = 1;
	edit.insn.cbpf = (struct loupe_cbpf_insn){ 0x20, 0, 0, 8 };
	edit.args[0] = 1;
	edit.args[1] = LOUPE_WAY_FALSE;
	edit.args[2] = 3;
	edit.args[3] = 12;
	edit.args[4] = 0xff;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, &id), 0);
	edit = edit_of(LOUPE_EDIT_REMOVED, id);
	edit.args[0] = id;
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	loupe_rewrite_set_describe(rw, describe, "word");
	loupe_rewrite_reason(rw, 0, buf, sizeof(buf));
	assert_string_equal(buf, "1 (false) comes from word 4, 12 of 0xff%");
	loupe_rewrite_edit_line(rw, 0, buf, sizeof(buf));
	assert_string_equal(buf,
			    "new 1 inserted before 1: 1 (false) comes from word 4, 12 of 0xff%");
	loupe_rewrite_reason(rw, 1, buf, sizeof(buf));
	assert_string_equal(buf, "new 1 (falls through) comes from word 0, 0 of 0x0%");
	assert_int_equal(loupe_rewrite_reason(rw, 0, buf, 4), 40);
	assert_string_equal(buf, "1 (");
	assert_int_equal(loupe_rewrite_reason(rw, 2, buf, sizeof(buf)), -EINVAL);
	loupe_rewrite_destroy(rw);
}

static void ebpf_branches_lose_their_dead_side(void **state)
{
	/* 0: if r1 == 0 goto 3; 1: call 4; 2: goto 0 (32-bit form); 3: exit; 4: r0 = 0; 5: exit */
	static const struct loupe_insn insns[] = {
		{ .code = 0x15, .dst_reg = 1, .off = 2 },
		{ .code = 0x85, .src_reg = 1, .imm = 2 },
		{ .code = 0x06, .imm = -3 },
		{ .code = 0x95 },
		{ .code = 0xb7 },
		{ .code = 0x95 },
	};
	struct loupe_rewrite *rw = loupe_rewrite_create_ebpf(insns, 6);
	struct loupe_edit edit = edit_of(LOUPE_EDIT_REMOVED, 0);
	const struct loupe_rewrite_prog *after;

	(void)state;
	assert_non_null(rw);
	assert_int_equal(loupe_rewrite_kind(rw), LOUPE_REWRITE_EBPF);
	assert_int_equal(loupe_rewrite_before(rw)->jt[1], 4);
	assert_int_equal(loupe_rewrite_before(rw)->jt[2], 0);
	assert_int_equal(loupe_rewrite_before(rw)->jf[0], NONE);
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	edit = edit_of(LOUPE_EDIT_REMOVED, 3);
	assert_int_equal(loupe_rewrite_edit(rw, &edit, NULL), 0);
	assert_int_equal(loupe_rewrite_seal(rw), 0);
	after = loupe_rewrite_after(rw);
	assert_int_equal(after->cnt, 4);
	assert_int_equal(after->insns[0].ebpf.imm, 1); /* call of what is now 2 */
	assert_int_equal(after->insns[1].ebpf.imm, -2);
	loupe_rewrite_destroy(rw);
}

static void bad_programs_are_refused(void **state)
{
	static const struct loupe_cbpf_insn beyond[] = { { 0x15, 0, 1, 0 }, { 0x06, 0, 0, 0 } };
	static const struct loupe_insn behind[] = { { .code = 0x05, .off = -2 } };

	(void)state;
	errno = 0;
	assert_null(loupe_rewrite_create_cbpf(beyond, 2));
	assert_int_equal(errno, EINVAL);
	assert_null(loupe_rewrite_create_cbpf(beyond, 0));
	assert_null(loupe_rewrite_create_ebpf(behind, 1));
	loupe_rewrite_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(removing_forwards_references),
		cmocka_unit_test(any_number_of_edits_replays),
		cmocka_unit_test(wrong_edits_change_nothing),
		cmocka_unit_test(reasons_are_written_from_data),
		cmocka_unit_test(ebpf_branches_lose_their_dead_side),
		cmocka_unit_test(bad_programs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
