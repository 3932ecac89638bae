// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's types, read once for all who need them, and not before. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "btf/kernel_types.h"

struct loupe_kernel_types {
	char *path;
	atomic_uint refs;
	pthread_mutex_t lock; /* for what follows */
	bool tried;
	struct btf *btf;
};

struct loupe_kernel_types *loupe_kernel_types_create(const char *path)
{
	struct loupe_kernel_types *types = calloc(1, sizeof(*types));

	if (!types)
		return NULL;
	types->path = strdup(path);
	if (!types->path) {
		free(types);
		return NULL;
	}
	atomic_init(&types->refs, 1);
	pthread_mutex_init(&types->lock, NULL);
	return types;
}

struct loupe_kernel_types *loupe_kernel_types_ref(struct loupe_kernel_types *types)
{
	if (types)
		atomic_fetch_add(&types->refs, 1);
	return types;
}

void loupe_kernel_types_unref(struct loupe_kernel_types *types)
{
	if (!types || atomic_fetch_sub(&types->refs, 1) != 1)
		return;
	btf_close(types->btf);
	pthread_mutex_destroy(&types->lock);
	free(types->path);
	free(types);
}

const char *loupe_kernel_types_used(struct loupe_kernel_types *types)
{
	bool used;

	if (!types)
		return NULL;
	pthread_mutex_lock(&types->lock);
	used = types->btf != NULL;
	pthread_mutex_unlock(&types->lock);
	return used ? types->path : NULL;
}

const struct btf *kernel_types_btf(struct loupe_kernel_types *types)
{
	const struct btf *btf;

	if (!types)
		return NULL;
	pthread_mutex_lock(&types->lock);
	if (!types->tried)
		btf_open_file(types->path, &types->btf, NULL);
	types->tried = true;
	btf = types->btf;
	pthread_mutex_unlock(&types->lock);
	return btf;
}
