// SPDX-License-Identifier: GPL-2.0-only
#include "bpfloupe/image.h"

#include <stdlib.h>

struct loupe_image *loupe_image_create(void)
{
	return calloc(1, sizeof(struct loupe_image));
}

void loupe_image_destroy(struct loupe_image *image)
{
	if (!image)
		return;
	for (uint32_t i = 0; i < image->map_cnt; i++)
		free(image->maps[i].data);
	free(image->maps);
	free(image->fd_array);
	free(image->insns);
	free(image->btf);
	free(image->func_info);
	free(image->line_info);
	free(image->license);
	free(image->file);
	free(image->object);
	free(image->section);
	free(image->name);
	free(image->attach_target);
	free(image->host.kernel_btf);
	free(image->host.kconfig);
	free(image->host.kallsyms);
	free(image->host.loader);
	loupe_kernel_types_unref(image->kernel_types);
	free(image);
}

void loupe_program_finish(struct loupe_program *program)
{
	free(program->name);
	free(program->section);
	free(program->object);
	free(program->reason);
	loupe_image_destroy(program->image);
	*program = (struct loupe_program){ 0 };
}

void loupe_program_list_finish(struct loupe_program_list *list)
{
	for (uint32_t i = 0; i < list->cnt; i++)
		loupe_program_finish(&list->progs[i]);
	free(list->progs);
	*list = (struct loupe_program_list){ 0 };
}

int loupe_image_map_by_fd(const struct loupe_image *image, int32_t fd)
{
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		if (image->maps[i].fd == fd)
			return (int)i;
	}
	return -1;
}
