// SPDX-License-Identifier: GPL-2.0-only
#include "klog/names.h"

#include <errno.h>
#include <stdlib.h>

#include "btf/btf.h"

enum { KERNEL_BTF, PROGRAM_BTF, BTF_CNT };

struct loupe_names {
	const struct loupe_image *image;
	struct btf *btf[BTF_CNT];
	bool tried[BTF_CNT]; /* opening was tried; btf stays NULL if it failed */
};

int loupe_names_create(const struct loupe_image *image, struct loupe_names **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->image = image;
	return 0;
}

void loupe_names_destroy(struct loupe_names *names)
{
	if (!names)
		return;
	for (int i = 0; i < BTF_CNT; i++)
		btf_close(names->btf[i]);
	free(names);
}

struct map_text names_map(const struct loupe_names *names, uint32_t idx)
{
	const struct loupe_image *image = names ? names->image : NULL;
	const struct loupe_map *map;
	int inner;

	if (!image)
		return (struct map_text){ .name = "" };
	if (idx < image->map_cnt) {
		map = &image->maps[idx];
		return (struct map_text){ map->name, map->key_size, map->value_size };
	}
	idx -= image->map_cnt;
	inner = idx < image->map_cnt ? loupe_image_map_by_fd(image, image->maps[idx].inner_map_fd)
				     : -1;
	if (inner < 0)
		return (struct map_text){ .name = "" };
	map = &image->maps[inner];
	return (struct map_text){ "", map->key_size, map->value_size };
}

static void open_btf(struct loupe_names *names, uint32_t which)
{
	const struct loupe_image *image = names->image;

	names->tried[which] = true;
	if (!image)
		return;
	if (which == KERNEL_BTF && image->host.kernel_btf)
		btf_open_file(image->host.kernel_btf, &names->btf[which], NULL);
	if (which == PROGRAM_BTF && image->btf)
		btf_open(image->btf, image->btf_size, &names->btf[which], NULL);
}

const char *names_type(struct loupe_names *names, uint32_t which, uint32_t id)
{
	if (!names || which >= BTF_CNT)
		return "?";
	/* what a log names is in the image that was made of it */
	if (names->image && names->image->from_log)
		which = PROGRAM_BTF;
	if (!names->tried[which])
		open_btf(names, which);
	if (!names->btf[which] || !btf_type(names->btf[which], id))
		return "?";
	return btf_name(names->btf[which], id);
}
