// SPDX-License-Identifier: GPL-2.0-only
#include "bpfloupe/load.h"
#include "load_objects.h"

#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/load_file.XXXXXX";
static char path[128];

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void write_bytes(const char *name, const void *data, size_t len)
{
	FILE *f;

	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void write_object(const char *name, struct obj *obj)
{
	size_t len;
	uint8_t *data = obj_build(obj, &len);

	write_bytes(name, data, len);
	free(data);
}

static void add_license(struct obj *obj)
{
	obj_section(obj, "license", SHF_ALLOC, "GPL", 4);
}

static int load(struct loupe_load_opts *opts, struct loupe_program_list *list,
		struct loupe_error *err)
{
	opts->size = sizeof(*opts);
	opts->kernel_btf = "none";
	return loupe_load_file(path, opts, list, err);
}

static void test_xdp(void **state)
{
	struct loupe_load_opts opts = { .cpus = 7, .kernel_version = 0x060c03 };
	struct loupe_program_list list;
	const struct loupe_image *image;
	struct loupe_error err;
	struct obj obj;

	(void)state;
	obj_init(&obj);
	add_license(&obj);
	obj_program(&obj, "xdp", "a_rather_long_program_name", obj_return_1, 2);
	write_object("one.bpf.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 1);
	assert_string_equal(list.progs[0].name, "a_rather_long_program_name");
	assert_string_equal(list.progs[0].section, "xdp");
	assert_null(list.progs[0].reason);
	image = list.progs[0].image;
	assert_non_null(image);
	assert_string_equal(image->file, path);
	assert_null(image->object);
	assert_string_equal(image->name, "a_rather_long_program_name");
	assert_string_equal(image->prog_name, "a_rather_long_p");
	assert_string_equal(image->license, "GPL");
	assert_int_equal(image->prog_type, BPF_PROG_TYPE_XDP);
	assert_int_equal(image->expected_attach_type, BPF_XDP);
	assert_int_equal(image->insn_cnt, 2);
	assert_memory_equal(image->insns, obj_return_1, sizeof(obj_return_1));
	assert_int_equal(image->map_cnt, 0);
	assert_false(image->attach_unset);
	assert_int_equal(image->host.cpus, 7);
	assert_int_equal(image->host.kernel_version, 0x060c03);
	assert_null(image->host.kernel_btf);
	loupe_program_list_finish(&list);
}

/* Section names newer than the libbpf that is installed, and one that nobody knows. */
static void test_sections(void **state)
{
	static const struct {
		const char *section;
		uint32_t type, attach_type, flags;
	} rows[] = {
		{ "netkit/peer", BPF_PROG_TYPE_SCHED_CLS, 55, 0 },
		{ "tc", BPF_PROG_TYPE_SCHED_CLS, 0, 0 },
		{ "tcx/ingress", BPF_PROG_TYPE_SCHED_CLS, 46, 0 },
		{ "uprobe.multi.s//bin/sh:main", BPF_PROG_TYPE_KPROBE, 48, BPF_F_SLEEPABLE },
		{ "my_section", BPF_PROG_TYPE_SOCKET_FILTER, 0, 0 },
	};
	struct loupe_load_opts opts = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };
	enum { CNT = sizeof(rows) / sizeof(*rows) };
	struct loupe_program_list list;
	struct loupe_error err;
	char names[CNT][8];
	struct obj obj;

	(void)state;
	obj_init(&obj);
	add_license(&obj);
	for (int i = 0; i < CNT; i++) {
		snprintf(names[i], sizeof(names[i]), "prog%d", i);
		obj_program(&obj, rows[i].section, names[i], obj_return_1, 2);
	}
	write_object("sections.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, CNT);
	for (int i = 0; i < CNT; i++) {
		const struct loupe_image *image = list.progs[i].image;

		assert_non_null(image);
		assert_string_equal(list.progs[i].section, rows[i].section);
		assert_int_equal(image->prog_type, rows[i].type);
		assert_int_equal(image->expected_attach_type, rows[i].attach_type);
		assert_int_equal(image->prog_flags, rows[i].flags);
	}
	loupe_program_list_finish(&list);

	/* Without a choice, the unknown one is refused alone, with the reason. */
	opts.prog_type = 0;
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, CNT);
	for (int i = 0; i < CNT; i++) {
		bool known = i != CNT - 1;

		assert_int_equal(list.progs[i].image != NULL, known);
		assert_int_equal(list.progs[i].reason != NULL, !known);
	}
	assert_non_null(strstr(list.progs[CNT - 1].reason, "my_section"));
	loupe_program_list_finish(&list);
}

static void test_choose(void **state)
{
	struct loupe_load_opts opts = { .prog_name = "second" };
	struct loupe_program_list list;
	struct loupe_error err;
	struct obj obj;

	(void)state;
	obj_init(&obj);
	add_license(&obj);
	obj_program(&obj, "xdp", "first", obj_return_1, 2);
	obj_program(&obj, "tc", "second", obj_return_1, 2);
	write_object("two.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 1);
	assert_string_equal(list.progs[0].name, "second");
	loupe_program_list_finish(&list);

	opts.prog_name = "xdp"; /* by section */
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 1);
	assert_string_equal(list.progs[0].name, "first");
	loupe_program_list_finish(&list);

	opts.prog_name = "third";
	assert_int_equal(load(&opts, &list, &err), -ENOENT);
	assert_int_equal(list.cnt, 0);
	assert_non_null(strstr(err.message, "third"));
	assert_string_equal(err.file, path);

	opts = (struct loupe_load_opts){ .list_only = true };
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 2);
	assert_null(list.progs[0].image);
	assert_null(list.progs[0].reason);
	loupe_program_list_finish(&list);
}

/* A tracing program without a target that can be found still has an image, and says so. */
static void test_unset_target(void **state)
{
	static const char *const sections[] = { "fentry/nothing_like_it", "freplace/func",
						"fexit" };
	struct loupe_load_opts opts = { 0 };
	struct loupe_program_list list;
	struct loupe_error err;
	struct obj obj;

	(void)state;
	obj_init(&obj);
	add_license(&obj);
	obj_program(&obj, sections[0], "a", obj_return_1, 2);
	obj_program(&obj, sections[1], "b", obj_return_1, 2);
	obj_program(&obj, sections[2], "c", obj_return_1, 2);
	write_object("trace.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 3);
	for (int i = 0; i < 3; i++) {
		assert_non_null(list.progs[i].reason);
		assert_non_null(list.progs[i].image);
		assert_true(list.progs[i].image->attach_unset);
		assert_int_equal(list.progs[i].image->attach_btf_id, 0);
		assert_int_equal(list.progs[i].image->attach_btf_fd, 0);
	}
	assert_string_equal(list.progs[0].image->attach_target, "nothing_like_it");
	assert_int_equal(list.progs[0].image->prog_type, BPF_PROG_TYPE_TRACING);
	assert_int_equal(list.progs[0].image->expected_attach_type, BPF_TRACE_FENTRY);
	assert_int_equal(list.progs[1].image->prog_type, BPF_PROG_TYPE_EXT);
	assert_null(list.progs[2].image->attach_target);
	loupe_program_list_finish(&list);
}

/* struct bpf_elf_map: type, key size, value size, entries, flags, id, pinning, inner id, inner
 * index. */
static void test_legacy(void **state)
{
	static const uint32_t maps[3][9] = {
		{ BPF_MAP_TYPE_HASH, 4, 8, 500000, 1, 0, 2, 0, 0 },
		{ BPF_MAP_TYPE_HASH_OF_MAPS, 4, 0, 10, 0, 1, 0, 0, 0 },
		{ BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 0, 0, 2, 0, 0, 0 },
	};
	struct loupe_load_opts opts = { 0 };
	struct loupe_program_list list;
	const struct loupe_image *image;
	struct loupe_error err;
	uint16_t text, section;
	size_t symbol[3];
	struct obj obj;

	(void)state;
	obj_init(&obj);
	add_license(&obj);
	section = obj_section(&obj, "maps", SHF_ALLOC | SHF_WRITE, maps, sizeof(maps));
	symbol[0] = obj_symbol(&obj, "plain_hash", section, STT_OBJECT, 0, sizeof(maps[0]));
	symbol[1] =
		obj_symbol(&obj, "outer", section, STT_OBJECT, sizeof(maps[0]), sizeof(maps[0]));
	symbol[2] = obj_symbol(&obj, "events", section, STT_OBJECT, 2 * sizeof(maps[0]),
			       sizeof(maps[0]));
	text = obj_program(&obj, "2/7", "tail", obj_map_user, 4);
	obj_program(&obj, "xdp_prog1", "old", obj_return_1, 2);
	obj_rel(&obj, text, 0, symbol[1]);
	write_object("old.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 2);
	assert_string_equal(list.progs[0].name, "2/7");
	image = list.progs[0].image;
	assert_non_null(image);
	assert_string_equal(image->license, "GPL");
	assert_string_equal(image->host.loader, "legacy maps loader");
	assert_int_equal(image->prog_type, BPF_PROG_TYPE_SCHED_CLS);
	assert_int_equal(image->insn_cnt, 4);
	/* Only the map that it uses, after its template. */
	assert_int_equal(image->map_cnt, 2);
	assert_int_equal(image->maps[0].type, BPF_MAP_TYPE_HASH);
	assert_int_equal(image->maps[0].value_size, 4);
	assert_int_equal(image->maps[1].type, BPF_MAP_TYPE_HASH_OF_MAPS);
	assert_string_equal(image->maps[1].name, "outer");
	assert_int_equal(image->maps[1].value_size, 4);
	assert_int_equal(image->maps[1].inner_map_fd, image->maps[0].fd);
	assert_int_equal(image->insns[0].src_reg, BPF_PSEUDO_MAP_FD);
	assert_int_equal(image->insns[0].imm, image->maps[1].fd);
	assert_int_equal(list.progs[1].image->prog_type, BPF_PROG_TYPE_XDP);
	assert_int_equal(list.progs[1].image->map_cnt, 0);
	loupe_program_list_finish(&list);

	obj.rels[0].r_info = ELF64_R_INFO(symbol[0], 1);
	write_object("old.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.progs[0].image->map_cnt, 1);
	assert_int_equal(list.progs[0].image->maps[0].max_entries, 1000);
	assert_int_equal(list.progs[0].image->maps[0].map_flags, 1);
	loupe_program_list_finish(&list);

	opts.maps_as_is = true;
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.progs[0].image->maps[0].max_entries, 500000);
	loupe_program_list_finish(&list);
	opts.maps_as_is = false;

	obj.rels[0].r_info = ELF64_R_INFO(symbol[2], 1);
	write_object("old.o", &obj);
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.progs[0].image->maps[0].max_entries, 2);
	assert_null(list.progs[0].reason);
	loupe_program_list_finish(&list);

	/* As it is, the kernel would not create it: there is an image, and this is said. */
	opts.maps_as_is = true;
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.progs[0].image->maps[0].max_entries, 0);
	assert_non_null(strstr(list.progs[0].reason, "map events"));
	loupe_program_list_finish(&list);
	opts.maps_as_is = false;

	/* A definition cut short refuses the object. */
	obj.symbols[symbol[2]].value = sizeof(maps) - 4;
	write_object("old.o", &obj);
	assert_int_equal(load(&opts, &list, &err), -EINVAL);
	assert_non_null(strstr(err.message, "events"));
}

static void test_assembler(void **state)
{
	static const char text[] = "\t.type xdp\n.prog first\nr0 = 1\nexit\n"
				   ".prog second\n.section \"tc\"\n.type sched_cls\nr0 = 2\nexit\n";
	struct loupe_load_opts opts = { 0 };
	struct loupe_program_list list;
	struct loupe_error err;

	(void)state;
	write_bytes("any_name", text, strlen(text));
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 2);
	assert_string_equal(list.progs[0].name, "first");
	assert_int_equal(list.progs[0].image->prog_type, BPF_PROG_TYPE_XDP);
	assert_int_equal(list.progs[1].image->insns[0].imm, 2);
	loupe_program_list_finish(&list);

	opts.prog_name = "tc"; /* by section */
	assert_int_equal(load(&opts, &list, &err), 0);
	assert_int_equal(list.cnt, 1);
	assert_string_equal(list.progs[0].name, "second");
	loupe_program_list_finish(&list);

	opts.prog_name = "third";
	assert_int_equal(load(&opts, &list, &err), -ENOENT);

	/* By its name it is assembler even without a .type line, so the assembler says what is
	 * missing. */
	opts.prog_name = NULL;
	write_bytes("mistake.bpfasm", "r0 = 1\nwhat is this\n", 20);
	assert_int_equal(load(&opts, &list, &err), -EINVAL);
	assert_int_not_equal(err.line, 0);
	write_bytes("prose", "not a .type line\n", 17);
	assert_int_equal(load(&opts, &list, &err), -EINVAL);
	assert_non_null(strstr(err.message, "neither"));
}

static void expect_error(int code, const char *words)
{
	struct loupe_load_opts opts = { .timeout_ms = 2000 };
	struct loupe_program_list list;
	struct loupe_error err;

	assert_int_equal(load(&opts, &list, &err), code);
	assert_int_equal(list.cnt, 0);
	assert_null(list.progs);
	assert_string_equal(err.file, path);
	if (!strstr(err.message, words))
		fail_msg("\"%s\" lacks \"%s\"", err.message, words);
}

static void test_refusals(void **state)
{
	struct obj obj;
	uint8_t *data;
	size_t len;

	(void)state;
	write_bytes("empty", "", 0);
	expect_error(-EINVAL, "empty");
	write_bytes("binary", "\0\1\2", 3);
	expect_error(-EINVAL, "neither");
	write_bytes("short.o",
		    "\x7f"
		    "ELF",
		    4);
	expect_error(-EINVAL, "libbpf refuses");
	obj_init(&obj);
	add_license(&obj);
	write_object("none.o", &obj);
	expect_error(-ENOENT, "no BPF program");
	obj_init(&obj);
	obj_program(&obj, "xdp", "prog", obj_return_1, 2);
	data = obj_build(&obj, &len);
	write_bytes("cut.o", data, len - 100);
	expect_error(-EINVAL, "libbpf refuses");
	free(data);
	unlink(path);
	snprintf(path, sizeof(path), "%s/absent", folder);
	expect_error(-ENOENT, "cannot open");
}

static void test_choices_must_exist(void **state)
{
	struct loupe_load_opts opts = { .size = sizeof(opts), .kernel_btf = "/nonexistent/btf" };
	struct loupe_program_list list;
	struct loupe_error err;
	struct obj obj;

	(void)state;
	obj_init(&obj);
	obj_program(&obj, "xdp", "prog", obj_return_1, 2);
	write_object("one.o", &obj);
	assert_int_equal(loupe_load_file(path, &opts, &list, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nonexistent/btf"));
	opts.kernel_btf = NULL;
	opts.kconfig = "/nonexistent/config";
	assert_int_equal(loupe_load_file(path, &opts, &list, &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nonexistent/config"));
}

/* Loaders that die, hang, or talk nonsense cost one clear line. */
static void test_bad_helpers(void **state)
{
	static const struct {
		const char *script, *words;
		int code;
	} rows[] = {
		{ "exit 3", "status 3", -EINVAL },
		{ "kill -SEGV $$", "signal 11", -EINVAL },
		{ "cat <&3 >/dev/null", "300 ms", -ETIMEDOUT },
		{ "exec sleep 60", "300 ms", -ETIMEDOUT },
		{ "head -c 100000 /dev/zero >&3", "nonsense", -EINVAL },
		{ "head -c 100000 /bin/sh >&3", "nonsense", -EINVAL },
		/* a program frame of 4 bytes, all zero */
		{ "printf '\\002\\000\\000\\000\\004\\000\\000\\000\\000\\000\\000\\000' >&3",
		  "nonsense", -EINVAL },
		/* the end before anything else is an empty list */
		{ "printf '\\004\\000\\000\\000\\000\\000\\000\\000' >&3", "no BPF program",
		  -ENOENT },
	};
	struct loupe_load_opts opts = { .size = sizeof(opts), .timeout_ms = 300 };
	char helper[64];
	struct obj obj;

	(void)state;
	obj_init(&obj);
	obj_program(&obj, "xdp", "prog", obj_return_1, 2);
	write_object("one.o", &obj);
	snprintf(helper, sizeof(helper), "%s/helper", folder);
	opts.helper = helper;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		FILE *f = fopen(helper, "w");
		struct loupe_program_list list;
		struct loupe_error err;

		assert_non_null(f);
		fprintf(f, "#!/bin/sh\n%s\n", rows[i].script);
		fclose(f);
		chmod(helper, 0700);
		assert_int_equal(loupe_load_file(path, &opts, &list, &err), rows[i].code);
		assert_null(list.progs);
		if (!strstr(err.message, rows[i].words))
			fail_msg("\"%s\" lacks \"%s\"", err.message, rows[i].words);
	}
	unlink(helper);
	{
		struct loupe_program_list list;
		struct loupe_error err;

		assert_int_equal(loupe_load_file(path, &opts, &list, &err), -ENOEXEC);
		assert_non_null(strstr(err.message, helper));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xdp),	    cmocka_unit_test(test_sections),
		cmocka_unit_test(test_choose),	    cmocka_unit_test(test_unset_target),
		cmocka_unit_test(test_legacy),	    cmocka_unit_test(test_assembler),
		cmocka_unit_test(test_refusals),    cmocka_unit_test(test_choices_must_exist),
		cmocka_unit_test(test_bad_helpers),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
