// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/bpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "insn/opcodes.h"

/* The attributes of BPF_MAP_CREATE up to the newest one that we set. */
struct map_create {
	uint32_t map_type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t map_flags;
	uint32_t inner_map_fd;
	uint32_t numa_node;
	char map_name[16];
	uint32_t map_ifindex;
	uint32_t btf_fd;
	uint32_t btf_key_type_id;
	uint32_t btf_value_type_id;
	uint32_t btf_vmlinux_value_type_id;
	uint64_t map_extra;
};

struct map_elem {
	uint32_t map_fd;
	uint32_t unused;
	uint64_t key;
	uint64_t value;
	uint64_t flags;
};

struct btf_load {
	uint64_t btf;
	uint64_t btf_log_buf;
	uint32_t btf_size;
	uint32_t btf_log_size;
	uint32_t btf_log_level;
	uint32_t unused;
};

struct get_info {
	uint32_t bpf_fd;
	uint32_t info_len;
	uint64_t info;
};

static int bpf(int cmd, void *attr, size_t size)
{
	long ret = syscall(SYS_bpf, cmd, attr, size);

	return ret < 0 ? -errno : (int)ret;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int kernel_map_create(const struct loupe_map *map, int inner_fd, int btf_fd)
{
	struct map_create attr = {
		.map_type = map->type,
		.key_size = map->key_size,
		.value_size = map->value_size,
		.max_entries = map->max_entries,
		.map_flags = map->map_flags,
		.inner_map_fd = inner_fd < 0 ? 0 : (uint32_t)inner_fd,
		.numa_node = map->numa_node,
		.map_extra = map->map_extra,
		.btf_vmlinux_value_type_id = map->btf_vmlinux_value_type_id,
	};

	memcpy(attr.map_name, map->name, sizeof(attr.map_name) - 1);
	if (btf_fd >= 0) {
		attr.btf_fd = (uint32_t)btf_fd;
		attr.btf_key_type_id = map->btf_key_type_id;
		attr.btf_value_type_id = map->btf_value_type_id;
	}
	return bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

int kernel_map_update(int fd, const void *key, const void *value)
{
	struct map_elem attr = { (uint32_t)fd, 0, address(key), address(value), 0 };

	return bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

int kernel_map_freeze(int fd)
{
	uint32_t attr = (uint32_t)fd;

	return bpf(BPF_MAP_FREEZE, &attr, sizeof(attr));
}

int kernel_btf_load(const void *data, uint32_t size)
{
	struct btf_load attr = { .btf = address(data), .btf_size = size };

	return bpf(BPF_BTF_LOAD, &attr, sizeof(attr));
}

int kernel_prog_load(struct kernel_prog_load *attr)
{
	int ret = -EAGAIN;

	/* A pending signal makes the kernel give up. */
	for (int i = 0; i < 5 && ret == -EAGAIN; i++)
		ret = bpf(BPF_PROG_LOAD, attr, sizeof(*attr));
	return ret;
}

/*
 * Once functions are compiled, a call of one holds its number, and the distance to it in the
 * field for offsets.
 */
static void restore_calls(struct loupe_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		if (insn_is_ldimm64(&insns[i])) {
			i++;
		} else if (insn_is_pseudo_call(&insns[i])) {
			insns[i].imm = insns[i].off;
			insns[i].off = 0;
		}
	}
}

int kernel_prog_xlated(int fd, struct loupe_insn **insns, uint32_t *cnt)
{
	struct bpf_prog_info info = { 0 };
	struct get_info attr = { (uint32_t)fd, sizeof(info), address(&info) };
	uint32_t len;
	int err = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));

	if (err)
		return err;
	len = info.xlated_prog_len;
	*insns = malloc(len ? len : 1);
	if (!*insns)
		return -ENOMEM;
	memset(&info, 0, sizeof(info));
	info.xlated_prog_len = len;
	info.xlated_prog_insns = address(*insns);
	attr.info_len = sizeof(info);
	err = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	/* Where the kernel hides its addresses it gives no instructions. */
	if (!err && (!info.xlated_prog_insns || info.xlated_prog_len != len))
		err = -EPERM;
	if (err) {
		free(*insns);
		*insns = NULL;
		return err;
	}
	*cnt = len / (uint32_t)sizeof(**insns);
	if (info.jited_prog_len)
		restore_calls(*insns, *cnt);
	return 0;
}
