// SPDX-License-Identifier: GPL-2.0-only
/* How a program and its image travel. Each put has its get beside it, field by field. */
#include "load/wire.h"

#include "bpfloupe/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Less than a map takes in a frame: a wrong count cannot ask for much memory. */
enum { MIN_MAP_BYTES = 64 };

static void put_map(struct wire_buf *buf, const struct loupe_map *map)
{
	wire_put(buf, map->name, sizeof(map->name));
	wire_put_u32(buf, (uint32_t)map->fd);
	wire_put_u32(buf, map->type);
	wire_put_u32(buf, map->key_size);
	wire_put_u32(buf, map->value_size);
	wire_put_u32(buf, map->max_entries);
	wire_put_u32(buf, map->map_flags);
	wire_put_u64(buf, map->map_extra);
	wire_put_u32(buf, (uint32_t)map->inner_map_fd);
	wire_put_u32(buf, map->numa_node);
	wire_put_u32(buf, map->btf_key_type_id);
	wire_put_u32(buf, map->btf_value_type_id);
	wire_put_u32(buf, map->btf_vmlinux_value_type_id);
	wire_put_u32(buf, map->frozen);
	wire_put_bytes(buf, map->data, map->data_len);
}

static void get_map(struct wire_reader *reader, struct loupe_map *map)
{
	wire_get(reader, map->name, sizeof(map->name));
	map->name[sizeof(map->name) - 1] = '\0';
	map->fd = (int32_t)wire_get_u32(reader);
	map->type = wire_get_u32(reader);
	map->key_size = wire_get_u32(reader);
	map->value_size = wire_get_u32(reader);
	map->max_entries = wire_get_u32(reader);
	map->map_flags = wire_get_u32(reader);
	map->map_extra = wire_get_u64(reader);
	map->inner_map_fd = (int32_t)wire_get_u32(reader);
	map->numa_node = wire_get_u32(reader);
	map->btf_key_type_id = wire_get_u32(reader);
	map->btf_value_type_id = wire_get_u32(reader);
	map->btf_vmlinux_value_type_id = wire_get_u32(reader);
	map->frozen = wire_get_u32(reader) != 0;
	map->data = wire_get_array(reader, 1, &map->data_len);
	/* Views and verifier take it that data is a whole value. */
	if (map->data && map->data_len != map->value_size)
		reader->failed = true;
}

static void put_maps(struct wire_buf *buf, const struct loupe_image *image)
{
	wire_put_u32(buf, image->map_cnt);
	for (uint32_t i = 0; i < image->map_cnt; i++)
		put_map(buf, &image->maps[i]);
}

static void get_maps(struct wire_reader *reader, struct loupe_image *image)
{
	uint32_t cnt = wire_get_u32(reader);

	if (!cnt)
		return;
	if (cnt > (size_t)(reader->end - reader->pos) / MIN_MAP_BYTES) {
		reader->failed = true;
		return;
	}
	image->maps = calloc(cnt, sizeof(*image->maps));
	if (!image->maps) {
		reader->failed = true;
		return;
	}
	image->map_cnt = cnt;
	for (uint32_t i = 0; i < cnt && !reader->failed; i++)
		get_map(reader, &image->maps[i]);
}

static void put_image(struct wire_buf *buf, const struct loupe_image *image)
{
	wire_put(buf, image->prog_name, sizeof(image->prog_name));
	wire_put_bytes(buf, image->insns, image->insn_cnt * sizeof(*image->insns));
	wire_put_u32(buf, image->prog_type);
	wire_put_u32(buf, image->expected_attach_type);
	wire_put_u32(buf, image->attach_btf_id);
	wire_put_u32(buf, (uint32_t)image->attach_btf_fd);
	wire_put_str(buf, image->attach_target);
	wire_put_u32(buf, image->attach_unset);
	wire_put_u32(buf, image->own_types);
	wire_put_u32(buf, image->prog_flags);
	wire_put_u32(buf, image->kern_version);
	wire_put_u32(buf, image->prog_ifindex);
	wire_put_str(buf, image->license);
	put_maps(buf, image);
	wire_put_bytes(buf, image->fd_array, image->fd_array_cnt * sizeof(*image->fd_array));
	wire_put_bytes(buf, image->btf, image->btf_size);
	wire_put_bytes(buf, image->func_info, image->func_info_cnt * sizeof(*image->func_info));
	wire_put_bytes(buf, image->line_info, image->line_info_cnt * sizeof(*image->line_info));
	wire_put_str(buf, image->host.kernel_btf);
	wire_put_str(buf, image->host.kconfig);
	wire_put_str(buf, image->host.kallsyms);
	wire_put_str(buf, image->host.loader);
	wire_put_u32(buf, image->host.kernel_version);
	wire_put_u32(buf, image->host.cpus);
}

static void get_image(struct wire_reader *reader, struct loupe_image *image)
{
	wire_get(reader, image->prog_name, sizeof(image->prog_name));
	image->prog_name[sizeof(image->prog_name) - 1] = '\0';
	image->insns = wire_get_array(reader, sizeof(*image->insns), &image->insn_cnt);
	image->prog_type = wire_get_u32(reader);
	image->expected_attach_type = wire_get_u32(reader);
	image->attach_btf_id = wire_get_u32(reader);
	image->attach_btf_fd = (int32_t)wire_get_u32(reader);
	image->attach_target = wire_get_str(reader);
	image->attach_unset = wire_get_u32(reader) != 0;
	image->own_types = wire_get_u32(reader) != 0;
	image->prog_flags = wire_get_u32(reader);
	image->kern_version = wire_get_u32(reader);
	image->prog_ifindex = wire_get_u32(reader);
	image->license = wire_get_str(reader);
	get_maps(reader, image);
	image->fd_array = wire_get_array(reader, sizeof(*image->fd_array), &image->fd_array_cnt);
	image->btf = wire_get_array(reader, 1, &image->btf_size);
	image->func_info = wire_get_array(reader, sizeof(*image->func_info), &image->func_info_cnt);
	image->line_info = wire_get_array(reader, sizeof(*image->line_info), &image->line_info_cnt);
	image->host.kernel_btf = wire_get_str(reader);
	image->host.kconfig = wire_get_str(reader);
	image->host.kallsyms = wire_get_str(reader);
	image->host.loader = wire_get_str(reader);
	image->host.kernel_version = wire_get_u32(reader);
	image->host.cpus = wire_get_u32(reader);
}

void wire_put_program(struct wire_buf *buf, const struct loupe_program *program)
{
	wire_put_str(buf, program->name);
	wire_put_str(buf, program->section);
	wire_put_str(buf, program->reason);
	wire_put_u32(buf, program->image != NULL);
	if (program->image)
		put_image(buf, program->image);
}

int wire_get_program(struct wire_reader *reader, struct loupe_program *program)
{
	*program = (struct loupe_program){ 0 };
	program->name = wire_get_str(reader);
	program->section = wire_get_str(reader);
	program->reason = wire_get_str(reader);
	if (wire_get_u32(reader)) {
		program->image = loupe_image_create();
		if (program->image)
			get_image(reader, program->image);
		else
			reader->failed = true;
	}
	if (!program->name || reader->pos != reader->end)
		reader->failed = true;
	if (!reader->failed)
		return 0;
	loupe_program_finish(program);
	return -EBADMSG;
}
