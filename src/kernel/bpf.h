/* SPDX-License-Identifier: GPL-2.0-only */
/* bpf(2) without a library: the commands that asking the kernel needs. */
#ifndef KERNEL_BPF_H
#define KERNEL_BPF_H

#include <stdint.h>

#include "bpfloupe/image.h"

/* The attributes of BPF_PROG_LOAD up to the newest one that we set. */
struct kernel_prog_load {
	uint32_t prog_type;
	uint32_t insn_cnt;
	uint64_t insns;
	uint64_t license;
	uint32_t log_level;
	uint32_t log_size;
	uint64_t log_buf;
	uint32_t kern_version;
	uint32_t prog_flags;
	char prog_name[16];
	uint32_t prog_ifindex;
	uint32_t expected_attach_type;
	uint32_t prog_btf_fd;
	uint32_t func_info_rec_size;
	uint64_t func_info;
	uint32_t func_info_cnt;
	uint32_t line_info_rec_size;
	uint64_t line_info;
	uint32_t line_info_cnt;
	uint32_t attach_btf_id;
	uint32_t attach_btf_obj_fd;
	uint32_t core_relo_cnt;
	uint64_t fd_array;
	uint64_t core_relos;
	uint32_t core_relo_rec_size;
	uint32_t log_true_size;
};

/* Each returns a file descriptor or 0, or a negative errno. */

int kernel_map_create(const struct loupe_map *map, int inner_fd, int btf_fd);
int kernel_map_update(int fd, const void *key, const void *value);
int kernel_map_freeze(int fd);
int kernel_btf_load(const void *data, uint32_t size);
int kernel_prog_load(struct kernel_prog_load *attr);
/* Translated instructions of a loaded program, calls of functions as they were loaded; *insns is to
 * be freed. */
int kernel_prog_xlated(int fd, struct loupe_insn **insns, uint32_t *cnt);

#endif
