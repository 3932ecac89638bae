// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's types of a load, and the attach targets that assembler text names. */
#include "load/target.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "btf/kernel_types.h"

#define HOST_BTF "/sys/kernel/btf/vmlinux"

/* How the kernel's types spell a target's name, by attach type; others are functions as they
 * are. */
static const struct {
	uint32_t attach_type;
	const char *prefix;
	uint32_t kind;
} spellings[] = {
	{ BPF_TRACE_RAW_TP, "btf_trace_", BTF_KIND_TYPEDEF },
	{ BPF_TRACE_ITER, "bpf_iter_", BTF_KIND_FUNC },
	{ BPF_LSM_MAC, "bpf_lsm_", BTF_KIND_FUNC },
	{ BPF_LSM_CGROUP, "bpf_lsm_", BTF_KIND_FUNC },
};

/* The file of the kernel's types that these programs were or would be loaded for; NULL: none. */
static const char *types_path(const struct loupe_program_list *list, const char *chosen)
{
	for (uint32_t i = 0; i < list->cnt; i++)
		if (list->progs[i].image && list->progs[i].image->host.kernel_btf)
			return list->progs[i].image->host.kernel_btf;
	if (!chosen)
		return HOST_BTF;
	return strcmp(chosen, "none") == 0 ? NULL : chosen;
}

int target_give_types(struct loupe_program_list *list, const char *chosen)
{
	const char *path = types_path(list, chosen);
	struct loupe_kernel_types *types;

	if (!path)
		return 0;
	types = loupe_kernel_types_create(path);
	if (!types)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->cnt; i++)
		if (list->progs[i].image)
			list->progs[i].image->kernel_types = loupe_kernel_types_ref(types);
	loupe_kernel_types_unref(types);
	return 0;
}

static int find(const struct btf *btf, const struct loupe_image *image, uint32_t *id)
{
	const char *prefix = "";
	uint32_t kind = BTF_KIND_FUNC;
	char *name;

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		if (spellings[i].attach_type != image->expected_attach_type)
			continue;
		prefix = spellings[i].prefix;
		kind = spellings[i].kind;
	}
	name = malloc(strlen(prefix) + strlen(image->attach_target) + 1);
	if (!name)
		return -ENOMEM;
	strcpy(name, prefix);
	strcat(name, image->attach_target);
	*id = btf_find(btf, name, kind);
	free(name);
	return 0;
}

int target_resolve(struct loupe_image *image, const char *chosen)
{
	const char *path = chosen ? chosen : HOST_BTF;
	const struct btf *btf;

	if (!image->attach_target || !image->attach_unset ||
	    strcmp(image->host.loader, "assembler") != 0)
		return 0;
	btf = kernel_types_btf(image->kernel_types);
	if (!btf)
		return 0;
	image->host.kernel_btf = strdup(path);
	if (!image->host.kernel_btf || find(btf, image, &image->attach_btf_id))
		return -ENOMEM;
	image->attach_unset = !image->attach_btf_id;
	return 0;
}
