// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/kernel.h"

#include "load/helper/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the oldest kernel headers that this builds with. */
enum { MAP_TYPE_ARENA = 33, PSEUDO_MAP_IDX = 5, PSEUDO_MAP_IDX_VALUE = 6 };

enum {
	FIRST_FD = 3,	     /* of an image's maps */
	TARGET_BTF_ID = 1,   /* of the program behind kernel_target_fd() */
	MAX_KEPT = 64 << 20, /* bytes of one map's contents in an image */
};

enum object_kind { OBJ_MAP, OBJ_BTF, OBJ_PROG };

/* What a descriptor stands for. Libraries duplicate descriptors, so the memory file's inode names
 * it. */
struct object {
	ino_t ino;
	enum object_kind kind;
	bool used; /* by the load that is kept */
	struct loupe_map map;
	ino_t inner; /* template of a map in map, 0 if none */
	void *btf;
	uint32_t btf_size;
};

static struct {
	struct object *objects;
	uint32_t cnt, cap;
	const char *log;
	struct loupe_image *image;
	int error;
} kernel;

static const void *pointer(uint64_t value)
{
	return (const void *)(uintptr_t)value;
}

static struct object *find(uint32_t fd)
{
	struct stat st;

	if (fstat((int)fd, &st))
		return NULL;
	for (uint32_t i = 0; i < kernel.cnt; i++) {
		if (kernel.objects[i].ino == st.st_ino)
			return &kernel.objects[i];
	}
	return NULL;
}

static struct object *find_kind(uint32_t fd, enum object_kind kind)
{
	struct object *object = find(fd);

	return object && object->kind == kind ? object : NULL;
}

/* Returns the descriptor, or -1 with errno; on success *out stays valid until the next object. */
static int add_object(enum object_kind kind, struct object **out)
{
	struct stat st;
	int fd;

	if (kernel.cnt == kernel.cap) {
		uint32_t cap = kernel.cap ? kernel.cap * 2 : 64;
		struct object *grown = realloc(kernel.objects, cap * sizeof(*grown));

		if (!grown) {
			errno = ENOMEM;
			return -1;
		}
		kernel.objects = grown;
		kernel.cap = cap;
	}
	fd = memfd_create("bpf", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st)) {
		close(fd);
		return -1;
	}
	*out = &kernel.objects[kernel.cnt++];
	**out = (struct object){ .ino = st.st_ino, .kind = kind };
	return fd;
}

static bool is_map_in_map(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* The size that a map's memory must have for libraries that look into it. */
static off_t mapped_size(const struct loupe_map *map)
{
	uint64_t value = ((uint64_t)map->value_size + 7) & ~7ULL;

	if (map->type == BPF_MAP_TYPE_ARRAY && (map->map_flags & BPF_F_MMAPABLE))
		return (off_t)(value * map->max_entries);
	if (map->type == MAP_TYPE_ARENA)
		return (off_t)map->max_entries * sysconf(_SC_PAGESIZE);
	return 0;
}

static int map_create(const union bpf_attr *attr)
{
	const struct object *inner = NULL;
	struct object *object;
	ino_t inner_ino;
	int fd;

	if (is_map_in_map(attr->map_type)) {
		inner = find_kind(attr->inner_map_fd, OBJ_MAP);
		if (!inner) {
			errno = EBADF;
			return -1;
		}
	}
	inner_ino = inner ? inner->ino : 0;
	fd = add_object(OBJ_MAP, &object);
	if (fd < 0)
		return -1;
	object->inner = inner_ino;
	object->map = (struct loupe_map){
		.type = attr->map_type,
		.key_size = attr->key_size,
		.value_size = attr->value_size,
		.max_entries = attr->max_entries,
		.map_flags = attr->map_flags,
		.map_extra = attr->map_extra,
		.inner_map_fd = -1,
		.numa_node = attr->map_flags & BPF_F_NUMA_NODE ? attr->numa_node : 0,
		.btf_key_type_id = attr->btf_key_type_id,
		.btf_value_type_id = attr->btf_value_type_id,
		.btf_vmlinux_value_type_id = attr->btf_vmlinux_value_type_id,
	};
	memcpy(object->map.name, attr->map_name, sizeof(object->map.name) - 1);
	if (mapped_size(&object->map) && ftruncate(fd, mapped_size(&object->map))) {
		/* Nobody need ever look into it. */
		errno = 0;
	}
	return fd;
}

static bool all_zero(const uint8_t *data, size_t len)
{
	return !len || (!data[0] && !memcmp(data, data + 1, len - 1));
}

static int map_update(const union bpf_attr *attr)
{
	struct object *object = find_kind(attr->map_fd, OBJ_MAP);
	const uint8_t *value = pointer(attr->value);
	struct loupe_map *map;
	uint32_t key;

	if (!object) {
		errno = EBADF;
		return -1;
	}
	map = &object->map;
	if (map->type != BPF_MAP_TYPE_ARRAY || map->key_size != sizeof(key))
		return 0;
	memcpy(&key, pointer(attr->key), sizeof(key));
	if (key)
		return 0;
	free(map->data);
	map->data = NULL;
	map->data_len = 0;
	if (all_zero(value, map->value_size))
		return 0;
	if (map->value_size > MAX_KEPT) {
		errno = E2BIG;
		return -1;
	}
	map->data = malloc(map->value_size);
	if (!map->data) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(map->data, value, map->value_size);
	map->data_len = map->value_size;
	if (mapped_size(map) && pwrite((int)attr->map_fd, value, map->value_size, 0) < 0)
		return -1;
	return 0;
}

static int map_freeze(const union bpf_attr *attr)
{
	struct object *object = find_kind(attr->map_fd, OBJ_MAP);

	if (!object) {
		errno = EBADF;
		return -1;
	}
	object->map.frozen = true;
	return 0;
}

static int add_btf(const void *data, uint32_t size)
{
	struct object *object;
	int fd = add_object(OBJ_BTF, &object);

	if (fd < 0)
		return -1;
	object->btf = malloc(size ? size : 1);
	if (!object->btf) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(object->btf, data, size);
	object->btf_size = size;
	return fd;
}

/* The BTF of the unset attach target: one function without parameters. */
static int add_target_btf(void)
{
	static const struct {
		struct btf_header header;
		struct btf_type proto, func;
		char strings[8];
	} __attribute__((packed)) target = {
		.header = {
			.magic = BTF_MAGIC,
			.version = BTF_VERSION,
			.hdr_len = sizeof(struct btf_header),
			.type_len = 2 * sizeof(struct btf_type),
			.str_off = 2 * sizeof(struct btf_type),
			.str_len = sizeof(target.strings),
		},
		.proto = { .info = BTF_KIND_FUNC_PROTO << 24 },
		.func = { .name_off = 1, .info = BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL, .type = 1 },
		.strings = "\0" KERNEL_TARGET_FUNC,
	};

	return add_btf(&target, sizeof(target));
}

static int get_info(union bpf_attr *attr)
{
	struct object *object = find(attr->info.bpf_fd);
	union {
		struct bpf_prog_info prog;
		struct bpf_map_info map;
	} info = { 0 };
	uint32_t len = attr->info.info_len;

	if (!object) {
		errno = EBADF;
		return -1;
	}
	switch (object->kind) {
	case OBJ_MAP:
		info.map.type = object->map.type;
		info.map.key_size = object->map.key_size;
		info.map.value_size = object->map.value_size;
		info.map.max_entries = object->map.max_entries;
		info.map.map_flags = object->map.map_flags;
		info.map.map_extra = object->map.map_extra;
		memcpy(info.map.name, object->map.name, sizeof(info.map.name));
		len = len < sizeof(info.map) ? len : sizeof(info.map);
		break;
	case OBJ_PROG:
		info.prog.btf_id = TARGET_BTF_ID;
		len = len < sizeof(info.prog) ? len : sizeof(info.prog);
		break;
	case OBJ_BTF: {
		struct bpf_btf_info btf = { 0 };

		/* The caller's buffers are described in the info that it passes. */
		len = len < sizeof(btf) ? len : sizeof(btf);
		memcpy(&btf, pointer(attr->info.info), len);
		if (btf.btf && btf.btf_size)
			memcpy((void *)(uintptr_t)btf.btf, object->btf,
			       btf.btf_size < object->btf_size ? btf.btf_size : object->btf_size);
		if (btf.name && btf.name_len)
			*(char *)(uintptr_t)btf.name = '\0';
		btf.btf_size = object->btf_size;
		btf.id = TARGET_BTF_ID;
		btf.name_len = 0;
		memcpy((void *)(uintptr_t)attr->info.info, &btf, len);
		attr->info.info_len = len;
		return 0;
	}
	}
	memcpy((void *)(uintptr_t)attr->info.info, &info, len);
	attr->info.info_len = len;
	return 0;
}

/* Copies cnt records of at least size bytes each, which lie rec_size apart. */
static void *copy_records(uint64_t from, uint32_t cnt, uint32_t rec_size, size_t size)
{
	const uint8_t *src = pointer(from);
	uint8_t *copy;

	if (!src || !cnt || rec_size < size)
		return NULL;
	copy = calloc(cnt, size);
	for (uint32_t i = 0; copy && i < cnt; i++)
		memcpy(copy + i * size, src + (size_t)i * rec_size, size);
	return copy;
}

static bool is_ldimm64(const struct loupe_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static void use_map(struct object *object)
{
	object->used = true;
	for (uint32_t i = 0; object->inner && i < kernel.cnt; i++) {
		if (kernel.objects[i].ino == object->inner)
			kernel.objects[i].used = true;
	}
}

/* Marks the maps that the load names, and counts the descriptors of its array that it names. */
static void find_uses(struct loupe_image *image, const int32_t *fd_array)
{
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		const struct loupe_insn *insn = &image->insns[i];
		uint32_t index, fd = (uint32_t)insn->imm;
		struct object *object;

		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL &&
		    insn->off > 0 && (uint32_t)insn->off >= image->fd_array_cnt)
			image->fd_array_cnt = (uint32_t)insn->off + 1;
		if (!is_ldimm64(insn))
			continue;
		i++;
		switch (insn->src_reg) {
		case PSEUDO_MAP_IDX:
		case PSEUDO_MAP_IDX_VALUE:
			index = (uint32_t)insn->imm;
			if (!fd_array || index >= 4096)
				continue;
			if (index >= image->fd_array_cnt)
				image->fd_array_cnt = index + 1;
			fd = (uint32_t)fd_array[index];
			break;
		case BPF_PSEUDO_MAP_FD:
		case BPF_PSEUDO_MAP_VALUE:
			break;
		default:
			continue;
		}
		object = find_kind(fd, OBJ_MAP);
		if (object)
			use_map(object);
	}
	if (!fd_array)
		image->fd_array_cnt = 0;
}

/* Gives the used maps their numbers, and the image its copies. */
static int number_maps(struct loupe_image *image)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < kernel.cnt; i++) {
		if (kernel.objects[i].used)
			kernel.objects[i].map.fd = FIRST_FD + (int32_t)cnt++;
	}
	if (!cnt)
		return 0;
	image->maps = calloc(cnt, sizeof(*image->maps));
	if (!image->maps)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel.cnt; i++) {
		const struct object *object = &kernel.objects[i];
		struct loupe_map *map = &image->maps[image->map_cnt];

		if (!object->used)
			continue;
		*map = object->map;
		map->data = NULL;
		map->data_len = 0;
		image->map_cnt++;
		if (object->map.data) {
			map->data = malloc(object->map.data_len);
			if (!map->data)
				return -ENOMEM;
			memcpy(map->data, object->map.data, object->map.data_len);
			map->data_len = object->map.data_len;
		}
		for (uint32_t j = 0; object->inner && j < kernel.cnt; j++) {
			if (kernel.objects[j].ino == object->inner)
				map->inner_map_fd = kernel.objects[j].map.fd;
		}
	}
	return 0;
}

/* Puts the maps' numbers in place of descriptors; what is no map stays, for the verifier to refuse.
 */
static int renumber(struct loupe_image *image, const int32_t *fd_array)
{
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		struct loupe_insn *insn = &image->insns[i];
		const struct object *object;

		if (!is_ldimm64(insn))
			continue;
		i++;
		if (insn->src_reg != BPF_PSEUDO_MAP_FD && insn->src_reg != BPF_PSEUDO_MAP_VALUE)
			continue;
		object = find_kind((uint32_t)insn->imm, OBJ_MAP);
		if (object)
			insn->imm = object->map.fd;
	}
	if (!image->fd_array_cnt)
		return 0;
	image->fd_array = calloc(image->fd_array_cnt, sizeof(*image->fd_array));
	if (!image->fd_array)
		return -ENOMEM;
	for (uint32_t i = 0; i < image->fd_array_cnt; i++) {
		const struct object *object = find_kind((uint32_t)fd_array[i], OBJ_MAP);

		image->fd_array[i] = object ? object->map.fd : fd_array[i];
	}
	return 0;
}

static int keep_infos(struct loupe_image *image, const union bpf_attr *attr)
{
	const struct object *btf = attr->prog_btf_fd ? find_kind(attr->prog_btf_fd, OBJ_BTF) : NULL;

	if (!btf)
		return 0;
	image->btf = malloc(btf->btf_size ? btf->btf_size : 1);
	if (!image->btf)
		return -ENOMEM;
	memcpy(image->btf, btf->btf, btf->btf_size);
	image->btf_size = btf->btf_size;
	image->func_info = copy_records(attr->func_info, attr->func_info_cnt,
					attr->func_info_rec_size, sizeof(*image->func_info));
	image->func_info_cnt = image->func_info ? attr->func_info_cnt : 0;
	image->line_info = copy_records(attr->line_info, attr->line_info_cnt,
					attr->line_info_rec_size, sizeof(*image->line_info));
	image->line_info_cnt = image->line_info ? attr->line_info_cnt : 0;
	return 0;
}

static int keep_load(struct loupe_image *image, const union bpf_attr *attr)
{
	const int32_t *fd_array = pointer(attr->fd_array);
	const char *license = pointer(attr->license);
	const struct object *target;
	int ret;

	image->insns = copy_records(attr->insns, attr->insn_cnt, sizeof(*image->insns),
				    sizeof(*image->insns));
	image->license = strdup(license ? license : "");
	if (!image->insns || !image->license)
		return -ENOMEM;
	image->insn_cnt = attr->insn_cnt;
	memcpy(image->prog_name, attr->prog_name, sizeof(image->prog_name) - 1);
	image->prog_type = attr->prog_type;
	image->expected_attach_type = attr->expected_attach_type;
	image->prog_flags = attr->prog_flags;
	image->kern_version = attr->kern_version;
	image->prog_ifindex = attr->prog_ifindex;
	target = attr->attach_prog_fd ? find_kind(attr->attach_prog_fd, OBJ_PROG) : NULL;
	if (target)
		image->attach_unset = true;
	else
		image->attach_btf_id = attr->attach_btf_id;
	find_uses(image, fd_array);
	ret = number_maps(image);
	if (!ret)
		ret = renumber(image, fd_array);
	if (!ret)
		ret = keep_infos(image, attr);
	return ret;
}

/*
 * libbpf probes for direct map value addresses at far offsets by a load that must fail with these
 * words.
 */
static bool refused_probe(const union bpf_attr *attr)
{
	const struct loupe_insn *insns = pointer(attr->insns);

	for (uint32_t i = 0; i + 1 < attr->insn_cnt && i < 16; i++) {
		const struct object *object;
		uint32_t off = (uint32_t)insns[i + 1].imm;

		if (!is_ldimm64(&insns[i]) || insns[i].src_reg != BPF_PSEUDO_MAP_VALUE)
			continue;
		object = find_kind((uint32_t)insns[i].imm, OBJ_MAP);
		if (!object || off < object->map.value_size)
			continue;
		if (attr->log_buf && attr->log_size)
			snprintf((char *)(uintptr_t)attr->log_buf, attr->log_size,
				 "invalid access to map value pointer, value_size=%u off=%u\n",
				 object->map.value_size, off);
		return true;
	}
	return false;
}

static int prog_load(const union bpf_attr *attr)
{
	struct object *object;

	if (kernel.log && pointer(attr->log_buf) == kernel.log && !kernel.image) {
		kernel.image = loupe_image_create();
		kernel.error = kernel.image ? keep_load(kernel.image, attr) : -ENOMEM;
		if (kernel.error) {
			errno = -kernel.error;
			return -1;
		}
	} else if (refused_probe(attr)) {
		errno = EINVAL;
		return -1;
	}
	return add_object(OBJ_PROG, &object);
}

/* Answers as the kernel's own entry does: fields that the caller does not know are zero. */
static int bpf(int cmd, void *uattr, unsigned int size)
{
	union bpf_attr attr = { 0 };
	int ret;

	memcpy(&attr, uattr, size < sizeof(attr) ? size : sizeof(attr));
	switch (cmd) {
	case BPF_MAP_CREATE:
		return map_create(&attr);
	case BPF_MAP_UPDATE_ELEM:
		return map_update(&attr);
	case BPF_MAP_FREEZE:
		return map_freeze(&attr);
	case BPF_PROG_LOAD:
		return prog_load(&attr);
	case BPF_BTF_LOAD:
		if (!check_btf(pointer(attr.btf), attr.btf_size)) {
			errno = EINVAL;
			return -1;
		}
		return add_btf(pointer(attr.btf), attr.btf_size);
	case BPF_BTF_GET_FD_BY_ID:
		if (attr.btf_id == TARGET_BTF_ID)
			return add_target_btf();
		break;
	case BPF_OBJ_GET_INFO_BY_FD:
		ret = get_info(&attr);
		if (!ret)
			memcpy(uattr, &attr, size < sizeof(attr) ? size : sizeof(attr));
		return ret;
	case BPF_PROG_BIND_MAP:
		return 0;
	case BPF_LINK_CREATE:
		/* Links of the kinds that libbpf probes for exist: only its descriptors are wrong.
		 */
		errno = EBADF;
		return -1;
	case BPF_MAP_LOOKUP_ELEM:
	case BPF_OBJ_GET:
	case BPF_PROG_GET_NEXT_ID:
	case BPF_MAP_GET_NEXT_ID:
	case BPF_BTF_GET_NEXT_ID:
	case BPF_LINK_GET_NEXT_ID:
	case BPF_PROG_GET_FD_BY_ID:
	case BPF_MAP_GET_FD_BY_ID:
	case BPF_LINK_GET_FD_BY_ID:
		break;
	default:
		errno = EINVAL;
		return -1;
	}
	errno = ENOENT;
	return -1;
}

/*
 * libbpf makes every bpf(2) through the C library's syscall(). The program's own comes first in the
 * dynamic linker's order, so libbpf gets this one.
 */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf)
		return bpf((int)arg[0], (void *)arg[1], (unsigned int)arg[2]);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

void kernel_begin(const char *log)
{
	for (uint32_t i = 0; i < kernel.cnt; i++) {
		free(kernel.objects[i].map.data);
		free(kernel.objects[i].btf);
	}
	kernel.cnt = 0;
	loupe_image_destroy(kernel.image);
	kernel.image = NULL;
	kernel.error = 0;
	kernel.log = log;
}

struct loupe_image *kernel_take(int *error)
{
	struct loupe_image *image = kernel.image;

	*error = kernel.error;
	kernel.image = NULL;
	kernel.log = NULL;
	if (!*error)
		return image;
	loupe_image_destroy(image);
	return NULL;
}

int kernel_target_fd(void)
{
	struct object *object;
	int fd = add_object(OBJ_PROG, &object);

	return fd < 0 ? -errno : fd;
}
