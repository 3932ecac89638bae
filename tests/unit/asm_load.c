// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/btf.h>

#include "bpfloupe/asm.h"
#include "insn/opcodes.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* Assembles text that must be right. */
static struct loupe_program_list assemble(const char *text)
{
	struct loupe_program_list list;
	struct loupe_error err;

	if (loupe_asm_load("dir/sample.bpfasm", text, strlen(text), &list, &err))
		fail_msg("%s:%u:%u: %s", err.file, err.line, err.column, err.message);
	return list;
}

static void assert_text(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void assert_bytes(const void *a, const void *b, size_t len)
{
	if (len)
		assert_memory_equal(a, b, len);
}

static void assert_same_image(const struct loupe_image *a, const struct loupe_image *b)
{
	assert_text(a->name, b->name);
	assert_text(a->section, b->section);
	assert_text(a->license, b->license);
	assert_string_equal(a->prog_name, b->prog_name);
	assert_int_equal(a->insn_cnt, b->insn_cnt);
	assert_bytes(a->insns, b->insns, a->insn_cnt * sizeof(*a->insns));
	assert_int_equal(a->prog_type, b->prog_type);
	assert_int_equal(a->expected_attach_type, b->expected_attach_type);
	assert_int_equal(a->attach_btf_id, b->attach_btf_id);
	assert_int_equal(a->attach_btf_fd, b->attach_btf_fd);
	assert_text(a->attach_target, b->attach_target);
	assert_int_equal(a->attach_unset, b->attach_unset);
	assert_int_equal(a->prog_flags, b->prog_flags);
	assert_int_equal(a->kern_version, b->kern_version);
	assert_int_equal(a->prog_ifindex, b->prog_ifindex);
	assert_int_equal(a->map_cnt, b->map_cnt);
	for (uint32_t i = 0; i < a->map_cnt; i++) {
		struct loupe_map left = a->maps[i], right = b->maps[i];

		assert_int_equal(left.data_len, right.data_len);
		assert_bytes(left.data, right.data, left.data_len);
		assert_string_equal(left.name, right.name);
		assert_int_equal(left.fd, right.fd);
		assert_int_equal(left.type, right.type);
		assert_int_equal(left.key_size, right.key_size);
		assert_int_equal(left.value_size, right.value_size);
		assert_int_equal(left.max_entries, right.max_entries);
		assert_int_equal(left.map_flags, right.map_flags);
		assert_true(left.map_extra == right.map_extra);
		assert_int_equal(left.inner_map_fd, right.inner_map_fd);
		assert_int_equal(left.numa_node, right.numa_node);
		assert_int_equal(left.btf_key_type_id, right.btf_key_type_id);
		assert_int_equal(left.btf_value_type_id, right.btf_value_type_id);
		assert_int_equal(left.btf_vmlinux_value_type_id, right.btf_vmlinux_value_type_id);
		assert_int_equal(left.frozen, right.frozen);
	}
	assert_int_equal(a->fd_array_cnt, b->fd_array_cnt);
	assert_bytes(a->fd_array, b->fd_array, a->fd_array_cnt * sizeof(*a->fd_array));
	assert_int_equal(a->btf_size, b->btf_size);
	assert_bytes(a->btf, b->btf, a->btf_size);
	assert_int_equal(a->func_info_cnt, b->func_info_cnt);
	assert_bytes(a->func_info, b->func_info, a->func_info_cnt * sizeof(*a->func_info));
	assert_int_equal(a->line_info_cnt, b->line_info_cnt);
	assert_bytes(a->line_info, b->line_info, a->line_info_cnt * sizeof(*a->line_info));
}

/* The image must survive being written and read. */
static void check_write(const struct loupe_image *image)
{
	struct loupe_program_list again;
	char *text;
	size_t len;

	assert_int_equal(loupe_asm_write(image, &text, &len), 0);
	assert_int_equal(len, strlen(text));
	again = assemble(text);
	assert_int_equal(again.cnt, 1);
	assert_same_image(image, again.progs[0].image);
	free(text);
	loupe_program_list_finish(&again);
}

static const char everything[] =
	".type 3 ; sched_cls\n"
	".license \"Dual BSD/GPL\"\r\n"
	".map inner type=array key=4 value=8 entries=1\n"
	".map outer fd=30 type=array_of_maps key=4 value=4 entries=2 inner=inner flags=0x80\n"
	".map .rodata type=array key=4 value=4 entries=1 frozen data=01020304 numa=2 "
	"extra=0xffffffffffffffff\n"
	".map \"odd name\" type=1000 key=0 value=0 entries=0 btf_key=1 btf_value=2 "
	"btf_vmlinux_value=3\n"
	".data .rodata 0506 07\n"
	".fd_array 0 1 -1\n"
	"\n"
	"# two programs\n"
	".prog a_rather_long_name\n"
	".section \"tc\\n\"\n"
	".attach tcx_ingress\n"
	".attach_target \"mod:func\"\n"
	".attach_btf_id 77 fd 5\n"
	".flags strict_alignment 0x8\n"
	".kern_version 0x61203\n"
	".ifindex 4\n"
	"	r1 = map[outer]\n"
	"	r2 = map_value[.rodata]+2\n"
	"	r3 = map[#1 inner]\n"
	"again:	if w1 == 7 goto out\n"
	"	r4 = func cb\n"
	"	may_goto again\n"
	"	gotol again\n"
	"out: exit_: exit\n"
	"cb:	call leaf\n"
	"	goto exit_\n"
	"leaf:	r0 = 1 ll\n"
	"	.insn 0x07 1 2 3 4\n"
	"	exit\n"
	".prog \"second\"\n"
	".attach_target softirq_entry\n"
	".name 2nd\n"
	".license none\n"
	"0: (b7) r0 = 0\n"
	"1: (95) exit\n";

static void programs_maps_and_labels(void **state)
{
	struct loupe_program_list list = assemble(everything);
	const struct loupe_image *image = list.progs[0].image;
	const struct loupe_insn *insns = image->insns;

	(void)state;
	assert_int_equal(list.cnt, 2);
	assert_string_equal(list.progs[0].name, "a_rather_long_name");
	assert_string_equal(list.progs[0].section, "tc\n");
	assert_string_equal(image->file, "dir/sample.bpfasm");
	assert_string_equal(image->host.loader, "assembler");
	assert_string_equal(image->prog_name, "a_rather_long_n");
	assert_string_equal(image->license, "Dual BSD/GPL");
	assert_int_equal(image->prog_type, BPF_PROG_TYPE_SCHED_CLS);
	assert_int_equal(image->expected_attach_type, BPF_TCX_INGRESS);
	assert_int_equal(image->attach_btf_id, 77);
	assert_int_equal(image->attach_btf_fd, 5);
	assert_string_equal(image->attach_target, "mod:func");
	assert_false(image->attach_unset);
	assert_string_equal(list.progs[1].image->attach_target, "softirq_entry");
	assert_true(list.progs[1].image->attach_unset);
	assert_int_equal(image->prog_flags, BPF_F_STRICT_ALIGNMENT | BPF_F_TEST_STATE_FREQ);
	assert_int_equal(image->kern_version, 0x61203);
	assert_int_equal(image->prog_ifindex, 4);

	assert_int_equal(image->map_cnt, 4);
	assert_int_equal(image->maps[0].fd, 1);
	assert_int_equal(image->maps[0].inner_map_fd, -1);
	assert_int_equal(image->maps[1].fd, 30);
	assert_int_equal(image->maps[1].inner_map_fd, 1);
	assert_int_equal(image->maps[1].map_flags, 0x80);
	assert_int_equal(image->maps[2].fd, 31);
	assert_int_equal(image->maps[2].data_len, 7);
	assert_memory_equal(image->maps[2].data, "\1\2\3\4\5\6\7", 7);
	assert_true(image->maps[2].frozen);
	assert_true(image->maps[2].map_extra == UINT64_MAX);
	assert_string_equal(image->maps[3].name, "odd name");
	assert_int_equal(image->fd_array_cnt, 3);

	assert_int_equal(image->insn_cnt, 18);
	assert_int_equal(insns[0].imm, 30);
	assert_int_equal(insns[2].imm, 31);
	assert_int_equal(insns[3].imm, 2);
	assert_int_equal(insns[4].src_reg, BPF_PSEUDO_MAP_IDX);
	assert_int_equal(insns[6].off, 4);  /* to 11 */
	assert_int_equal(insns[7].imm, 4);  /* to 12 */
	assert_int_equal(insns[9].off, -4); /* to 6 */
	assert_int_equal(insns[10].imm, -5);
	assert_int_equal(insns[12].imm, 1); /* to 14 */
	assert_int_equal(insns[13].off, -3);
	assert_int_equal(insns[16].code, 0x07);
	assert_int_equal(insns[16].off, 3);

	image = list.progs[1].image;
	assert_null(image->license);
	assert_string_equal(image->name, "second");
	assert_string_equal(image->prog_name, "2nd");
	assert_int_equal(image->insn_cnt, 2);
	assert_int_equal(image->map_cnt, 4);
	assert_int_equal(image->maps[2].data_len, 7);
	assert_int_equal(image->prog_flags, 0);
	for (uint32_t i = 0; i < list.cnt; i++)
		check_write(list.progs[i].image);
	loupe_program_list_finish(&list);
}

static void a_program_without_prog_has_the_files_name(void **state)
{
	struct loupe_program_list list = assemble(".type xdp\nexit");

	(void)state;
	assert_string_equal(list.progs[0].name, "sample");
	assert_string_equal(list.progs[0].image->license, "GPL");
	assert_null(list.progs[0].image->btf);
	check_write(list.progs[0].image);
	loupe_program_list_finish(&list);
}

/* The type with that id, walking as a reader of BTF does. */
static const struct btf_type *type_of(const struct loupe_image *image, uint32_t id)
{
	static const uint8_t extra[] = { [BTF_KIND_INT] = 4,
					 [BTF_KIND_ARRAY] = sizeof(struct btf_array),
					 [BTF_KIND_DECL_TAG] = 4,
					 [BTF_KIND_MAX] = 0 };
	const struct btf_header *header = (const void *)image->btf;
	const uint8_t *p = image->btf + header->hdr_len + header->type_off;
	const uint8_t *end = p + header->type_len;

	while (--id) {
		const struct btf_type *type = (const void *)p;
		uint32_t kind = BTF_INFO_KIND(type->info), vlen = BTF_INFO_VLEN(type->info);

		p += sizeof(*type) + extra[kind];
		if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION)
			p += vlen * sizeof(struct btf_member);
		if (kind == BTF_KIND_FUNC_PROTO)
			p += vlen * sizeof(struct btf_param);
		assert_true(p < end);
	}
	return (const void *)p;
}

static const char *string_of(const struct loupe_image *image, uint32_t off)
{
	const struct btf_header *header = (const void *)image->btf;

	assert_true(off < header->str_len);
	return (const char *)image->btf + header->hdr_len + header->str_off + off;
}

static void c_declarations_become_btf(void **state)
{
	struct loupe_program_list list = assemble(
		".type sched_cls\n"
		".decl \"struct pair { char tag; const struct pair *next; unsigned long long "
		"v[2][3]; };\"\n"
		".func \"int prog(struct __sk_buff *skb)\"\n"
		".line 10 \"a.c\" \"int prog(struct __sk_buff *skb)\"\n"
		"call first\n"
		".line 11:5\n"
		"exit\n"
		".func \"long first(void *ctx __arg_ctx, struct pair *p __arg_nonnull)\" static\n"
		"exit\n");
	const struct loupe_image *image = list.progs[0].image;
	const struct btf_type *func, *proto, *type;
	const struct btf_param *params;
	const struct btf_member *members;
	const struct btf_array *array;

	(void)state;
	assert_int_equal(image->insns[0].imm, 1);
	assert_int_equal(image->func_info_cnt, 2);
	assert_int_equal(image->func_info[0].insn_off, 0);
	assert_int_equal(image->func_info[1].insn_off, 2);
	func = type_of(image, image->func_info[0].type_id);
	assert_int_equal(BTF_INFO_KIND(func->info), BTF_KIND_FUNC);
	assert_int_equal(BTF_INFO_VLEN(func->info), BTF_FUNC_GLOBAL);
	assert_string_equal(string_of(image, func->name_off), "prog");
	func = type_of(image, image->func_info[1].type_id);
	assert_int_equal(BTF_INFO_VLEN(func->info), BTF_FUNC_STATIC);
	assert_string_equal(string_of(image, func->name_off), "first");
	proto = type_of(image, func->type);
	assert_int_equal(BTF_INFO_KIND(proto->info), BTF_KIND_FUNC_PROTO);
	assert_int_equal(BTF_INFO_VLEN(proto->info), 2);
	assert_string_equal(string_of(image, type_of(image, proto->type)->name_off), "long");
	params = (const void *)(proto + 1);
	assert_string_equal(string_of(image, params[1].name_off), "p");
	type = type_of(image, params[0].type);
	assert_int_equal(BTF_INFO_KIND(type->info), BTF_KIND_PTR);
	assert_int_equal(type->type, 0);

	type = type_of(image, type_of(image, params[1].type)->type);
	assert_int_equal(BTF_INFO_KIND(type->info), BTF_KIND_STRUCT);
	assert_string_equal(string_of(image, type->name_off), "pair");
	assert_int_equal(type->size, 64);
	assert_int_equal(BTF_INFO_VLEN(type->info), 3);
	members = (const void *)(type + 1);
	assert_int_equal(members[0].offset, 0);
	assert_int_equal(members[1].offset, 64);
	assert_int_equal(members[2].offset, 128);
	type = type_of(image, members[2].type);
	array = (const void *)(type + 1);
	assert_int_equal(array->nelems, 2);
	array = (const void *)(type_of(image, array->type) + 1);
	assert_int_equal(array->nelems, 3);

	type = type_of(image, image->func_info[1].type_id + 1);
	assert_int_equal(BTF_INFO_KIND(type->info), BTF_KIND_DECL_TAG);
	assert_string_equal(string_of(image, type->name_off), "arg:ctx");
	assert_int_equal(type->type, image->func_info[1].type_id);

	assert_int_equal(image->line_info_cnt, 2);
	assert_int_equal(image->line_info[1].insn_off, 1);
	assert_int_equal(image->line_info[1].line_col, 11 << 10 | 5);
	assert_string_equal(string_of(image, image->line_info[1].file_name_off), "a.c");
	assert_string_equal(string_of(image, image->line_info[0].line_off),
			    "int prog(struct __sk_buff *skb)");
	check_write(image);
	loupe_program_list_finish(&list);
}

/* Any bits at all come back the same, whether they have a text or not. */
static void any_slots_survive_writing(void **state)
{
	struct loupe_image *image = loupe_image_create();
	uint64_t seed = 0x9e3779b97f4a7c15;

	(void)state;
	image->insn_cnt = 3000;
	image->insns = calloc(image->insn_cnt, sizeof(*image->insns));
	image->maps = calloc(2, sizeof(*image->maps));
	image->map_cnt = 2;
	for (uint32_t i = 0; i < 2; i++) {
		image->maps[i] = (struct loupe_map){ .name = "same", .fd = (int32_t)i };
		image->maps[i].inner_map_fd = -1;
	}
	image->name = strdup("r1 = r2\n.prog x");
	image->prog_type = 999;
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < image->insn_cnt; i++) {
			struct loupe_insn *insn = &image->insns[i];

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			*insn = (struct loupe_insn){ .code = (uint8_t)seed };
			if (seed >> 60 == 0)
				insn->code = 0x18;
			if (seed >> 8 & 1)
				insn->dst_reg = seed >> 10 & 0xf;
			if (seed >> 9 & 1)
				insn->src_reg = seed >> 14 & 0x3;
			if (seed >> 20 & 1)
				insn->off =
					(int16_t)(seed >> 32 & 1 ? seed >> 40 : seed >> 40 & 0xff);
			if (seed >> 21 & 1)
				insn->imm =
					(int32_t)(seed >> 33 & 1 ? seed >> 22 : seed >> 22 & 0x1ff);
		}
		check_write(image);
	}
	loupe_image_destroy(image);
}

static const struct {
	const char *text;
	uint32_t line, column;
	const char *message; /* part of it */
} mistakes[] = {
	{ "", 0, 0, "no instruction" },
	{ "; nothing\n\n", 2, 0, "no instruction" },
	{ "exit\n", 1, 0, "has no type" },
	{ ".type xpd\nexit\n", 1, 7, "unknown program type 'xpd'" },
	{ ".type xdp\n.frob 1\n", 2, 1, "unknown directive '.frob'" },
	{ ".type xdp 6\n", 1, 11, "should end here" },
	{ ".type xdp\nr1 = map[m]\nexit", 2, 10, "no map 'm'" },
	{ ".type xdp\n.map m fd=1\n.map m fd=2\nr1 = map[m]", 4, 10, "several maps" },
	{ ".type xdp\n.map m fd=1\n.map n fd=1\n", 3, 6, "another map has fd 1" },
	{ ".map sixteen_letters_", 1, 6, "longer than 15" },
	{ ".map m size=4", 1, 8, "a map has no 'size'" },
	{ ".map m data=123", 1, 13, "pairs of hexadecimal" },
	{ ".map m data=12zz", 1, 15, "pairs of hexadecimal" },
	{ ".map m key", 1, 11, "expected '='" },
	{ ".data m 00", 1, 7, "no map has this name" },
	{ ".type xdp\ngoto nowhere\n", 2, 6, "no label 'nowhere'" },
	{ ".type xdp\nx: exit\nx: exit\n", 3, 1, "label 'x' stands in line 2 too" },
	{ ".type xdp\nbpf_loop: exit\n", 2, 1, "helper's name" },
	{ ".type xdp\n.prog a\nx: exit\n.prog b\ngoto x\n", 5, 6, "no label 'x'" },
	{ ".type xdp\nexit\n3: exit\n", 3, 1, "numbered 3, but this is instruction 1" },
	{ ".type xdp\n  r1 += w2\n", 2, 9, "both registers" },
	{ ".type xdp\n.insn 256 0 0 0 0\n", 2, 7, "the opcode is out of range" },
	{ ".type xdp\n.insn 1 2 3\n", 2, 12, "the offset is missing" },
	{ ".license GPL", 1, 10, "double quotes" },
	{ ".license \"GPL", 1, 10, "no closing" },
	{ ".license \"\\q\"", 1, 11, "escape" },
	{ ".flags fast", 1, 8, "unknown flag 'fast'" },
	{ ".func \"int f(struct)\"", 1, 20, "name of the struct" },
	{ ".func \"int f(foo x)\"", 1, 14, "unknown type 'foo'" },
	{ ".func \"int f(int)\"", 1, 17, "needs a type and a name" },
	{ ".func \"short char f(void)\"", 1, 8, "no integer type" },
	{ ".decl \"struct a { struct a b; };\"", 1, 28, "type with a size" },
	{ ".decl \"enum e { A };\"", 1, 8, "expected struct, union or typedef" },
	{ ".btf 00\n.decl \"struct a {};\"", 2, 6, "cannot be mixed" },
	{ ".decl \"struct a {};\"\n.btf 00", 2, 5, "cannot be mixed" },
};

static void mistakes_are_pointed_at(void **state)
{
	struct loupe_program_list list;
	struct loupe_error err;

	(void)state;
	for (size_t i = 0; i < CNT(mistakes); i++) {
		const char *text = mistakes[i].text;

		assert_int_equal(loupe_asm_load("f", text, strlen(text), &list, &err), -EINVAL);
		if (err.line != mistakes[i].line || err.column != mistakes[i].column ||
		    !strstr(err.message, mistakes[i].message))
			fail_msg("'%s': %u:%u: %s", text, err.line, err.column, err.message);
		assert_string_equal(err.file, "f");
		assert_int_equal(list.cnt, 0);
		assert_null(list.progs);
	}
	assert_int_equal(loupe_asm_load("f", ".type xdp\nex\0it", 14, &list, &err), -EINVAL);
	assert_int_equal(err.column, 3);
}

/* A program whose first instruction jumps over 32,768 others to a label. */
static const char *far_jump(const char *jump)
{
	static char text[400000];
	char *p = text + sprintf(text, ".type xdp\n%s far\n", jump);

	for (int i = 0; i < 32768; i++)
		p = stpcpy(p, "r0 = 0\n");
	strcpy(p, "far: exit\n");
	return text;
}

static void far_jumps_need_gotol(void **state)
{
	const char *text = far_jump("goto");
	struct loupe_program_list list;
	struct loupe_error err;

	(void)state;
	assert_int_equal(loupe_asm_load("f", text, strlen(text), &list, &err), -EINVAL);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.column, 6);
	assert_non_null(strstr(err.message, "gotol"));
	list = assemble(far_jump("gotol"));
	assert_int_equal(list.progs[0].image->insns[0].imm, 32768);
	loupe_program_list_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_maps_and_labels),
		cmocka_unit_test(a_program_without_prog_has_the_files_name),
		cmocka_unit_test(c_declarations_become_btf),
		cmocka_unit_test(any_slots_survive_writing),
		cmocka_unit_test(mistakes_are_pointed_at),
		cmocka_unit_test(far_jumps_need_gotol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
