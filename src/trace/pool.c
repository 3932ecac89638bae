// SPDX-License-Identifier: GPL-2.0-only
/* Growing arrays, and the pool of values. */
#include <sys/mman.h>

#include "trace/store.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	VEC_START = 4096, /* bytes, at least of some elements */
	VEC_START_CNT = 4,
	VEC_MAPPED =
		1 << 16,     /* bytes from which on an array has pages of its own, a power of two */
	VEC_AHEAD = 1 << 15, /* bytes of it that are made ready at a time, whole pages */
	VEC_AHEAD_MAX = 1 << 18, /* the same for large arrays */
};

/* Bytes mapped for an array of that many bytes; pages not touched cost nothing. */
static size_t mapped_size(size_t bytes)
{
	size_t size = VEC_MAPPED;

	while (size < bytes)
		size *= 2;
	return size;
}

/*
 * Large arrays grow in place or by moving pages, never by copying. Their next part is made ready at
 * once, because page faults one by one cost as much as recording does; the part not ready yet is
 * left out of *cap.
 */
static bool grow_mapped(void **at, size_t *cap, size_t need, size_t elem)
{
	size_t old = *cap * elem, size, ready, ahead = old / 8 / VEC_AHEAD * VEC_AHEAD;
	char *p = *at;

	if (need < VEC_MAPPED + elem)
		need = VEC_MAPPED + elem;
	size = mapped_size(need);
	if (old < VEC_MAPPED) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return false;
		if (old)
			memcpy(p, *at, old);
		free(*at);
		old = 0;
	} else if (size > mapped_size(old)) {
		p = mremap(p, mapped_size(old), size, MREMAP_MAYMOVE);
		if (p == MAP_FAILED)
			return false;
	}
	ahead = ahead < VEC_AHEAD ? VEC_AHEAD : ahead > VEC_AHEAD_MAX ? VEC_AHEAD_MAX : ahead;
	ready = (need + ahead) / VEC_AHEAD * VEC_AHEAD;
	if (ready < need || ready > size)
		ready = size;
	/* Older kernels cannot do this: then the faults come one by one. */
	old = old / VEC_AHEAD * VEC_AHEAD;
	madvise(p + old, ready - old, MADV_POPULATE_WRITE);
	*at = p;
	*cap = ready / elem;
	return true;
}

bool trace_vec_grow(void **at, size_t *cap, size_t need, size_t elem)
{
	size_t want = *cap ? *cap * 2 : VEC_START / elem;
	void *p;

	if (want < VEC_START_CNT)
		want = VEC_START_CNT;
	if (need > SIZE_MAX / 8 / elem)
		return false;
	if (want < need)
		want = need;
	if (want * elem >= VEC_MAPPED)
		return grow_mapped(at, cap, need * elem, elem);
	p = realloc(*at, want * elem);
	if (!p)
		return false;
	*at = p;
	*cap = want;
	return true;
}

void trace_vec_free(void *at, size_t cap, size_t elem)
{
	if (cap * elem < VEC_MAPPED)
		free(at);
	else
		munmap(at, mapped_size(cap * elem));
}

bool trace_pool_init(struct trace_pool *pool)
{
	uint32_t *first =
		TRACE_ROOM(&pool->words, 1 + TRACE_SLACK) ? TRACE_PUSH(&pool->words) : NULL;

	pool->regs = calloc(TRACE_REG_CACHE, sizeof(*pool->regs));
	pool->slots = calloc(TRACE_SLOT_CACHE, sizeof(*pool->slots));
	if (!first || !pool->regs || !pool->slots)
		return false;
	*first = 0;
	return true;
}

void trace_pool_seal(struct trace_pool *pool)
{
	free(pool->regs);
	free(pool->slots);
	pool->regs = NULL;
	pool->slots = NULL;
}

void trace_pool_finish(struct trace_pool *pool)
{
	trace_pool_seal(pool);
	TRACE_FREE(&pool->words);
	memset(pool, 0, sizeof(*pool));
}

uint32_t trace_pool_add(struct trace_pool *pool, const uint32_t *words, uint32_t n)
{
	uint32_t off;

	if (pool->words.cnt > TRACE_POOL_MAX - n || !TRACE_ROOM(&pool->words, n + TRACE_SLACK))
		return 0;
	off = (uint32_t)pool->words.cnt;
	for (uint32_t i = 0; i < n; i++)
		pool->words.at[off + i] = words[i];
	pool->words.cnt += n;
	return off;
}
