// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of one verification: chunks cut into size classes with a free list each; large blocks
 * stand alone. Nothing is given back before the end. Who needs much gets huge pages, which spare
 * hundreds of page faults each. A few chunks are kept, as getting cleared ones takes time too.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "verifier/vf.h"

enum {
	CHUNK = 1 << 18,      /* bytes asked for at first */
	HUGE_CHUNK = 1 << 21, /* and when as much as HUGE_AFTER was asked for: a huge page */
	HUGE_AFTER = 1 << 19,
	SPARE = 4,	      /* chunks kept for the next verification */
	GRAIN = 64,	    /* sizes are rounded up to a multiple: a cache line */
	SMALL = 8192,	    /* the largest of a class */
	CLASSES = SMALL / GRAIN + 1,
};

struct chunk {
	struct chunk *next;
	void *mapping;	      /* that it is part of, NULL: it is malloc's */
	size_t mapped;	      /* bytes of the mapping */
	size_t size;	      /* bytes of the chunk */
	char pad[GRAIN - 32]; /* blocks are aligned to GRAIN */
};

_Static_assert(sizeof(struct chunk) == GRAIN, "blocks follow the header");

struct large {
	struct large *next, **pprev;
	size_t size;
	size_t pad;
};

struct free_block {
	struct free_block *next;
};

struct vf_slabs {
	struct chunk *chunks;
	struct large *large;
	char *at, *end; /* unused rest of the newest chunk */
	uint64_t used, limit;
	size_t small; /* larger blocks come from malloc */
	struct chunk *spare; /* for later */
	struct free_block *free[CLASSES];
};

/* Chunks that the last verification of this process has left; taken and put as a whole. */
static _Atomic(struct chunk *) spare_chunks;

static void free_chunks(struct chunk *list)
{
	while (list) {
		struct chunk *chunk = list;

		list = chunk->next;
		if (chunk->mapping)
			munmap(chunk->mapping, chunk->mapped);
		else
			free(chunk);
	}
}

/* Puts some chunks of list aside, beside those of spare, and frees the others. */
static void put_chunks(struct chunk *list, struct chunk *spare)
{
	struct chunk *other = NULL;
	uint32_t cnt = 0;

	for (struct chunk *chunk = spare; chunk; chunk = chunk->next)
		cnt++;
	while (list) {
		struct chunk *chunk = list, **to = &other;

		list = chunk->next;
		if (cnt < SPARE) {
			to = &spare;
			cnt++;
		}
		chunk->next = *to;
		*to = chunk;
	}
	free_chunks(other);
	free_chunks(atomic_exchange(&spare_chunks, spare));
}

struct vf_slabs *vf_slabs_create(uint64_t limit, bool general)
{
	struct vf_slabs *slabs = calloc(1, sizeof(*slabs));

	if (!slabs)
		return NULL;
	slabs->limit = limit ? limit : UINT64_MAX;
	slabs->spare = atomic_exchange(&spare_chunks, NULL);
	slabs->small = general ? 0 : SMALL;
	return slabs;
}

void vf_slabs_destroy(struct vf_slabs *slabs)
{
	if (!slabs)
		return;
	put_chunks(slabs->chunks, slabs->spare);
	while (slabs->large) {
		struct large *large = slabs->large;

		slabs->large = large->next;
		free(large);
	}
	free(slabs);
}

static void *alloc_large(struct vf_slabs *slabs, size_t size)
{
	struct large *large;

	if (size > slabs->limit - slabs->used || size > SIZE_MAX - sizeof(*large))
		return NULL;
	large = malloc(sizeof(*large) + size);
	if (!large)
		return NULL;
	large->size = size;
	large->next = slabs->large;
	large->pprev = &slabs->large;
	if (large->next)
		large->next->pprev = &large->next;
	slabs->large = large;
	slabs->used += size;
	return large + 1;
}

/* A huge page of its own, where the system has one to give. */
static struct chunk *map_huge_chunk(void)
{
	const uintptr_t last = HUGE_CHUNK - 1;
	size_t size = 2 * HUGE_CHUNK; /* room for alignment; what is not touched costs nothing */
	char *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct chunk *chunk;

	if (start == MAP_FAILED)
		return NULL;
	chunk = (struct chunk *)(((uintptr_t)start + last) & ~last);
	madvise(chunk, HUGE_CHUNK, MADV_HUGEPAGE);
	chunk->mapping = start;
	chunk->mapped = size;
	chunk->size = HUGE_CHUNK;
	return chunk;
}

static struct chunk *malloc_chunk(void)
{
	struct chunk *chunk = aligned_alloc(GRAIN, CHUNK);

	if (chunk) {
		chunk->mapping = NULL;
		chunk->size = CHUNK;
	}
	return chunk;
}

static bool new_chunk(struct vf_slabs *slabs)
{
	uint64_t left = slabs->limit - slabs->used;
	struct chunk *chunk = slabs->spare;

	if (chunk && chunk->size <= left)
		slabs->spare = chunk->next;
	else if (slabs->used >= HUGE_AFTER && left >= HUGE_CHUNK)
		chunk = map_huge_chunk();
	else
		chunk = left >= CHUNK ? malloc_chunk() : NULL;
	if (!chunk)
		return false;
	chunk->next = slabs->chunks;
	slabs->chunks = chunk;
	slabs->used += chunk->size;
	slabs->at = (char *)(chunk + 1);
	slabs->end = (char *)chunk + chunk->size;
	return true;
}

void *vf_alloc(struct vf_slabs *slabs, size_t size)
{
	size_t class = (size + GRAIN - 1) / GRAIN;
	struct free_block *block;
	char *p;

	if (size > slabs->small)
		return alloc_large(slabs, size);
	block = slabs->free[class];
	if (block) {
		slabs->free[class] = block->next;
		return block;
	}
	if ((size_t)(slabs->end - slabs->at) < class * GRAIN && !new_chunk(slabs))
		return NULL;
	p = slabs->at;
	slabs->at += class * GRAIN;
	return p;
}

void *vf_zalloc(struct vf_slabs *slabs, size_t size)
{
	void *p = vf_alloc(slabs, size);

	if (p)
		memset(p, 0, size);
	return p;
}

void vf_free(struct vf_slabs *slabs, void *p, size_t size)
{
	size_t class = (size + GRAIN - 1) / GRAIN;
	struct free_block *block = p;

	if (!p || !class)
		return;
	if (size > slabs->small) {
		struct large *large = (struct large *)p - 1;

		*large->pprev = large->next;
		if (large->next)
			large->next->pprev = large->pprev;
		slabs->used -= large->size;
		free(large);
		return;
	}
	block->next = slabs->free[class];
	slabs->free[class] = block;
}
