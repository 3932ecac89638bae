// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "insn/opcodes.h"
#include "kernel/bpf.h"

enum {
	MAP_IN_MAP_DEPTH = 2, /* the kernel allows one level of inner maps */
};

static int refused(struct loupe_error *err, int code, const char *what, const char *name)
{
	return loupe_error_set(err, code, "not judged by the kernel: %s%s%s: %s", what,
			       name[0] ? " " : "", name, strerror(-code));
}

int kernel_prepare_btf(const struct loupe_image *image, struct loupe_error *err)
{
	int fd;

	if (!image->btf_size)
		return -1;
	fd = kernel_btf_load(image->btf, image->btf_size);
	if (fd >= 0)
		return fd;
	refused(err, fd, "its BTF is refused", "");
	/* -1 means that there is none. */
	return fd == -1 ? -EACCES : fd;
}

/*
 * An arena without an address of its own gets the one that it is mapped at, as from the loader of
 * every program that can use it. The address outlives the mapping.
 */
static int place_arena(const struct loupe_map *map, int fd)
{
	size_t size = (size_t)map->max_entries * (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	if (map->type != BPF_MAP_TYPE_ARENA || map->map_extra)
		return 0;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	munmap(at, size);
	return 0;
}

static int create_map(struct kernel_prepared *prep, uint32_t index, int depth,
		      struct loupe_error *err)
{
	const struct loupe_map *map = &prep->image->maps[index];
	bool typed = map->btf_key_type_id || map->btf_value_type_id;
	const uint32_t key = 0;
	int inner = -1, ret;

	if (prep->map_fds[index] >= 0)
		return 0;
	if (map->inner_map_fd >= 0) {
		int which = loupe_image_map_by_fd(prep->image, map->inner_map_fd);

		if (which < 0 || depth >= MAP_IN_MAP_DEPTH)
			return refused(err, -EINVAL, "no template for the maps in map", map->name);
		ret = create_map(prep, (uint32_t)which, depth + 1, err);
		if (ret)
			return ret;
		inner = prep->map_fds[which];
	}
	ret = kernel_map_create(map, inner, typed ? prep->btf_fd : -1);
	if (ret < 0)
		return refused(err, ret, "map refused:", map->name);
	prep->map_fds[index] = ret;
	if (map->data && map->data_len) {
		ret = kernel_map_update(prep->map_fds[index], &key, map->data);
		if (ret)
			return refused(err, ret, "cannot fill map", map->name);
	}
	ret = place_arena(map, prep->map_fds[index]);
	if (ret)
		return refused(err, ret, "cannot map arena", map->name);
	if (map->frozen) {
		ret = kernel_map_freeze(prep->map_fds[index]);
		if (ret)
			return refused(err, ret, "cannot freeze map", map->name);
	}
	return 0;
}

/*
 * The file descriptor here for a number of the image's. A number that names no map stays as it is,
 * as long as it is none of ours: that load fails in the kernel, as it must.
 */
static int real_fd(const struct kernel_prepared *prep, int32_t *fd, struct loupe_error *err)
{
	int index = loupe_image_map_by_fd(prep->image, *fd);

	if (index >= 0) {
		*fd = prep->map_fds[index];
		return 0;
	}
	if (*fd >= 0 && fcntl(*fd, F_GETFD) >= 0)
		return loupe_error_set(
			err, -EBADF,
			"not judged by the kernel: the program names fd %d, which is no "
			"map of its own",
			*fd);
	return 0;
}

static int patch_insns(struct kernel_prepared *prep, struct loupe_error *err)
{
	const struct loupe_image *image = prep->image;

	for (uint32_t i = 0; i + 1 < image->insn_cnt; i++) {
		struct loupe_insn *insn = &prep->insns[i];
		int ret = 0;

		if (!insn_is_ldimm64(insn))
			continue;
		if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE)
			ret = real_fd(prep, &insn->imm, err);
		else if ((insn->src_reg == BPF_PSEUDO_MAP_IDX ||
			  insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE) &&
			 image->fd_array && (uint32_t)insn->imm >= image->fd_array_cnt)
			ret = loupe_error_set(err, -EFAULT,
					      "not judged by the kernel: insn %u names entry %d of "
					      "fd_array, which has %u",
					      i, insn->imm, image->fd_array_cnt);
		else if (insn->src_reg == BPF_PSEUDO_BTF_ID && prep->insns[i + 1].imm)
			ret = loupe_error_set(
				err, -EBADF,
				"not judged by the kernel: insn %u names a module's BTF", i);
		if (ret)
			return ret;
		i++;
	}
	return 0;
}

static int patch_fd_array(struct kernel_prepared *prep, struct loupe_error *err)
{
	const struct loupe_image *image = prep->image;
	size_t size = image->fd_array_cnt * sizeof(*prep->fd_array);

	if (!image->fd_array)
		return 0;
	prep->fd_array = malloc(size ? size : 1);
	if (!prep->fd_array)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	memcpy(prep->fd_array, image->fd_array, size);
	for (uint32_t i = 0; i < image->fd_array_cnt; i++) {
		int ret = real_fd(prep, &prep->fd_array[i], err);

		/* Entry 0 stands for the kernel's own BTF in calls of its functions. */
		if (ret && (i || image->fd_array[0]))
			return ret;
	}
	return 0;
}

int kernel_prepare(const struct loupe_image *image, int btf_fd, struct kernel_prepared *prep,
		   struct loupe_error *err)
{
	size_t size = image->insn_cnt * sizeof(*prep->insns);
	int ret;

	*prep = (struct kernel_prepared){ .image = image, .btf_fd = btf_fd };
	prep->map_fds = malloc((image->map_cnt + 1) * sizeof(*prep->map_fds));
	prep->insns = malloc(size ? size : 1);
	if (!prep->map_fds || !prep->insns)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < image->map_cnt; i++)
		prep->map_fds[i] = -1;
	if (size)
		memcpy(prep->insns, image->insns, size);
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		ret = create_map(prep, i, 1, err);
		if (ret)
			return ret;
	}
	ret = patch_insns(prep, err);
	if (!ret)
		ret = patch_fd_array(prep, err);
	return ret;
}

void kernel_prepared_finish(struct kernel_prepared *prep)
{
	for (uint32_t i = 0; prep->map_fds && i < prep->image->map_cnt; i++) {
		if (prep->map_fds[i] >= 0)
			close(prep->map_fds[i]);
	}
	free(prep->map_fds);
	free(prep->insns);
	free(prep->fd_array);
	*prep = (struct kernel_prepared){ .btf_fd = -1 };
}
