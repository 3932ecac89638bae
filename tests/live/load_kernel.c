// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images against the running kernel: each program of the given files is loaded by libbpf into the
 * kernel itself, and what libbpf hands over is compared, field by field, with the image that
 * loupe_load_file() makes. Needs root; skips without. Without arguments: the installed objects of
 * xdp-tools and the executables of libbpf-tools.
 */
#include "bpfloupe/load.h"
#include "load/embedded.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static char log_buf[64 * 1024];

/* The image that the load at hand must equal; NULL while no load is watched. */
static struct {
	const struct loupe_image *image;
	bool came, map_refused;
	unsigned int differences;
	const char *file, *prog;
} watched;

static struct {
	unsigned int equal, different, lacking, refused, accepted;
} total;

static void differ(const char *fmt, ...) LOUPE_PRINTF(1, 2);

static void differ(const char *fmt, ...)
{
	va_list args;

	if (watched.differences++ > 5)
		return;
	printf("%s %s: ", watched.file, watched.prog);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

#define SAME(name, ours, theirs)                                                                \
	do {                                                                                    \
		if ((ours) != (theirs))                                                         \
			differ("%s: image %llx, kernel %llx", name, (unsigned long long)(ours), \
			       (unsigned long long)(theirs));                                   \
	} while (0)

static void compare_map(const struct loupe_insn *insn, int fd)
{
	int index = loupe_image_map_by_fd(watched.image, insn->imm);
	struct bpf_map_info info = { 0 };
	const struct loupe_map *map;
	uint32_t len = sizeof(info), zero = 0;
	uint8_t *value;

	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		SAME("no map's fd", insn->imm, fd);
		return;
	}
	if (index < 0) {
		differ("no map of fd %d, kernel has %s", insn->imm, info.name);
		return;
	}
	map = &watched.image->maps[index];
	if (strncmp(map->name, info.name, sizeof(map->name)) != 0)
		differ("map %s, kernel has %s", map->name, info.name);
	SAME("map type", map->type, info.type);
	SAME("key size", map->key_size, info.key_size);
	SAME("value size", map->value_size, info.value_size);
	SAME("max entries", map->max_entries, info.max_entries);
	/* The kernel itself makes these two read-only for programs. */
	if (info.type == BPF_MAP_TYPE_DEVMAP || info.type == BPF_MAP_TYPE_DEVMAP_HASH)
		info.map_flags &= ~(uint32_t)BPF_F_RDONLY_PROG | map->map_flags;
	SAME("map flags", map->map_flags, info.map_flags);
	SAME("map extra", map->map_extra, info.map_extra);
	SAME("key type", map->btf_key_type_id, info.btf_key_type_id);
	SAME("value type", map->btf_value_type_id, info.btf_value_type_id);
	/* The kernel itself puts list heads and the like into writable values. */
	if (map->type != BPF_MAP_TYPE_ARRAY || !(map->map_flags & BPF_F_RDONLY_PROG))
		return;
	value = calloc(1, info.value_size + 8);
	if (value && !bpf_map_lookup_elem(fd, &zero, value)) {
		bool zeros = true;

		for (uint32_t i = 0; i < info.value_size; i++)
			zeros = zeros && !value[i];
		if (map->data ? memcmp(map->data, value, info.value_size) != 0 : !zeros)
			differ("contents of map %s", map->name);
	}
	free(value);
}

static void compare_insns(const struct loupe_insn *theirs, uint32_t cnt)
{
	const struct loupe_image *image = watched.image;

	SAME("instructions", image->insn_cnt, cnt);
	if (image->insn_cnt != cnt)
		return;
	for (uint32_t i = 0; i < cnt; i++) {
		struct loupe_insn want = theirs[i];
		bool map = want.code == 0x18 && (want.src_reg == BPF_PSEUDO_MAP_FD ||
						 want.src_reg == BPF_PSEUDO_MAP_VALUE);

		if (map) {
			compare_map(&image->insns[i], want.imm);
			want.imm = image->insns[i].imm;
		}
		if (memcmp(&want, &image->insns[i], sizeof(want)) != 0)
			differ("instruction %u: image %016llx, kernel %016llx", i,
			       *(const unsigned long long *)&image->insns[i],
			       *(const unsigned long long *)&want);
	}
}

static void compare_records(const char *what, const void *ours, uint32_t our_cnt,
			    const void *theirs, uint32_t their_cnt, uint32_t rec_size, size_t size)
{
	SAME(what, our_cnt, their_cnt);
	if (our_cnt != their_cnt || !our_cnt)
		return;
	SAME("record size", rec_size, size);
	if (memcmp(ours, theirs, our_cnt * size) != 0)
		differ("%s differ", what);
}

static void compare_btf(int fd)
{
	struct bpf_btf_info info = { 0 };
	uint32_t len = sizeof(info);
	uint8_t *data;

	if (!fd) {
		SAME("BTF", watched.image->btf_size, 0);
		return;
	}
	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		differ("BTF: %s", strerror(errno));
		return;
	}
	SAME("BTF size", watched.image->btf_size, info.btf_size);
	if (watched.image->btf_size != info.btf_size)
		return;
	data = malloc(info.btf_size);
	info = (struct bpf_btf_info){ .btf = (uintptr_t)data, .btf_size = info.btf_size };
	len = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    memcmp(data, watched.image->btf, info.btf_size) != 0)
		differ("BTF differs");
	free(data);
}

static const void *pointer(uint64_t value)
{
	return (const void *)(uintptr_t)value;
}

static void compare(const union bpf_attr *attr)
{
	const struct loupe_image *image = watched.image;

	watched.came = true;
	if (!image) {
		differ("no image, but the kernel gets a load");
		return;
	}
	compare_insns(pointer(attr->insns), attr->insn_cnt);
	SAME("program type", image->prog_type, attr->prog_type);
	SAME("attach type", image->expected_attach_type, attr->expected_attach_type);
	SAME("attach BTF id", image->attach_btf_id, attr->attach_btf_id);
	SAME("attach BTF fd", (uint32_t)image->attach_btf_fd, attr->attach_btf_obj_fd);
	SAME("flags", image->prog_flags, attr->prog_flags);
	SAME("kernel version", image->kern_version, attr->kern_version);
	SAME("ifindex", image->prog_ifindex, attr->prog_ifindex);
	if (strncmp(image->prog_name, attr->prog_name, sizeof(image->prog_name)) != 0)
		differ("name: image %s, kernel %.16s", image->prog_name, attr->prog_name);
	if (strcmp(image->license, pointer(attr->license)) != 0)
		differ("licence: image %s", image->license);
	compare_records("func info", image->func_info, image->func_info_cnt,
			pointer(attr->func_info), attr->func_info_cnt, attr->func_info_rec_size,
			sizeof(*image->func_info));
	compare_records("line info", image->line_info, image->line_info_cnt,
			pointer(attr->line_info), attr->line_info_cnt, attr->line_info_rec_size,
			sizeof(*image->line_info));
	compare_btf((int)attr->prog_btf_fd);
}

/* libbpf's way to the kernel leads through here; everything goes on to it. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && arg[0] == BPF_PROG_LOAD) {
		union bpf_attr attr = { 0 };
		size_t size = (size_t)arg[2];

		memcpy(&attr, (const void *)arg[1], size < sizeof(attr) ? size : sizeof(attr));
		if (attr.log_buf == (uintptr_t)log_buf && !watched.came) {
			long ret = real(number, arg[0], arg[1], arg[2]);
			int saved = errno;

			compare(&attr);
			if (ret >= 0)
				total.accepted++;
			errno = saved;
			return ret;
		}
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* Another program's map may be one that its tool must complete; libbpf then loads none at all. */
static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_WARN && strstr(fmt, "failed to create"))
		watched.map_refused = true;
	(void)args;
	return 0;
}

/* The same preparation as loupe_load_file() documents. */
static void prepare_maps(struct bpf_object *obj)
{
	static const unsigned int exempt[] = { 11, 19, 21, 24, 27, 28, 29, 31, 32, 33 };
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		uint32_t entries = bpf_map__max_entries(map);
		bool skip = false;

		bpf_map__set_pin_path(map, NULL);
		for (size_t i = 0; i < sizeof(exempt) / sizeof(*exempt); i++)
			skip = skip || exempt[i] == (unsigned int)bpf_map__type(map);
		if (!skip && !entries)
			bpf_map__set_max_entries(map, 1);
		else if (!skip && entries > 1000000)
			bpf_map__set_max_entries(map, 1000);
	}
}

/* A section name that this libbpf does not know: its type is from our table. */
static void set_type(struct bpf_program *prog, const struct loupe_image *image)
{
	if (!image || bpf_program__type(prog) != BPF_PROG_TYPE_UNSPEC)
		return;
	bpf_program__set_type(prog, (enum bpf_prog_type)image->prog_type);
	bpf_program__set_expected_attach_type(prog,
					      (enum bpf_attach_type)image->expected_attach_type);
	bpf_program__set_flags(prog, image->prog_flags);
}

static void load_program(const char *file, const uint8_t *data, size_t len, const char *object,
			 const struct loupe_program *ours, uint32_t index)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = object);
	struct bpf_object *obj = bpf_object__open_mem(data, len, &opts);
	struct bpf_program *prog;
	uint32_t i = 0;

	if (!obj)
		return;
	watched.image = ours->image;
	watched.file = file;
	watched.prog = ours->name;
	watched.came = watched.map_refused = false;
	watched.differences = 0;
	bpf_object__for_each_program(prog, obj)
	{
		bpf_program__set_autoload(prog, i == index);
		if (i++ == index) {
			bpf_program__set_log_buf(prog, log_buf, sizeof(log_buf));
			bpf_program__set_log_level(prog, 1);
			set_type(prog, ours->image);
			if (strcmp(bpf_program__name(prog), ours->name) != 0)
				differ("the kernel's is %s", bpf_program__name(prog));
		}
	}
	prepare_maps(obj);
	bpf_object__load(obj);
	if (!watched.came) {
		if (ours->image && !ours->reason && !watched.map_refused)
			differ("the kernel gets no load");
		else if (ours->image)
			total.lacking++;
		else
			total.refused++;
	}
	if (watched.differences)
		total.different++;
	else if (watched.came)
		total.equal++;
	bpf_object__close(obj);
}

static uint8_t *read_file(const char *path, size_t *len)
{
	struct stat st;
	uint8_t *data = NULL;
	FILE *f = fopen(path, "r");

	if (f && !fstat(fileno(f), &st) && S_ISREG(st.st_mode)) {
		data = malloc((size_t)st.st_size + 1);
		*len = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	}
	if (f)
		fclose(f);
	return data;
}

/* Has libbpf nothing to load here either? */
static bool is_empty(const uint8_t *data, size_t len)
{
	struct bpf_object *obj = bpf_object__open_mem(data, len, NULL);
	bool empty = !obj || !bpf_object__next_program(obj, NULL);

	bpf_object__close(obj);
	return empty;
}

static void check_file(const char *path)
{
	struct loupe_program_list list;
	struct embedded_object *objects = calloc(EMBEDDED_MAX, sizeof(*objects));
	struct loupe_error err = { .offset = -1 };
	size_t len = 0, cnt = 1;
	uint8_t *data = read_file(path, &len);
	const char *slash = strrchr(path, '/');
	uint32_t index = 0;

	if (!data || !objects || loupe_load_file(path, NULL, &list, &err)) {
		if (data && is_empty(data, len)) {
			total.refused++;
		} else {
			printf("%s: %s\n", path, err.message);
			total.different++;
		}
		free(objects);
		free(data);
		return;
	}
	if (elf_kind(data, len) == ELF_BPF) {
		const char *base = slash ? slash + 1 : path;

		objects[0] = (struct embedded_object){ .len = len };
		snprintf(objects[0].name, sizeof(objects[0].name), "%.*s", (int)strcspn(base, "."),
			 base);
	} else {
		cnt = embedded_find(data, len, objects, EMBEDDED_MAX);
	}
	for (uint32_t i = 0; i < list.cnt; i++) {
		const struct embedded_object *object = objects;

		for (size_t j = 0; list.progs[i].object && j < cnt; j++) {
			if (strcmp(objects[j].name, list.progs[i].object) == 0)
				object = &objects[j];
		}
		if (i && list.progs[i].object &&
		    strcmp(list.progs[i].object, list.progs[i - 1].object) != 0)
			index = 0;
		load_program(path, data + object->offset, object->len, object->name, &list.progs[i],
			     index++);
	}
	loupe_program_list_finish(&list);
	free(objects);
	free(data);
}

static bool kernel_answers(void)
{
	const struct loupe_insn insns[] = { { .code = 0xb7 }, { .code = 0x95 } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, NULL, "GPL", (const struct bpf_insn *)insns, 2,
			       &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && geteuid() == 0;
}

int main(int argc, char **argv)
{
	static const char *const patterns[] = {
		"/usr/lib/*/bpf/*.o", "/usr/sbin/*snoop",    "/usr/sbin/*dist",
		"/usr/sbin/tcp*",     "/usr/sbin/klockstat", "/usr/sbin/readahead",
		"/usr/sbin/vfsstat",  "/usr/sbin/hardirqs",  "/usr/sbin/ksnoop",
	};
	glob_t found = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(quiet);
	if (!kernel_answers()) {
		puts("skipped: bpf(2) needs root and a kernel that allows it");
		return SKIPPED;
	}
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	for (size_t i = 0; argc == 1 && i < sizeof(patterns) / sizeof(*patterns); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t len = 0;
		uint8_t *data = read_file(found.gl_pathv[i], &len);
		struct embedded_object one;
		bool bpf = data &&
			   (elf_kind(data, len) == ELF_BPF || embedded_find(data, len, &one, 1));

		free(data);
		if (bpf)
			check_file(found.gl_pathv[i]);
	}
	globfree(&found);
	printf("%u equal (%u accepted by the kernel), %u different, %u lacking something, as said, "
	       "%u refused by libbpf\n",
	       total.equal, total.accepted, total.different, total.lacking, total.refused);
	if (!total.equal && !total.different) {
		puts("skipped: neither xdp-tools nor libbpf-tools is installed");
		return SKIPPED;
	}
	return total.different != 0;
}
