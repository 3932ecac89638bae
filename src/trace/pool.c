// SPDX-License-Identifier: GPL-2.0-only
/* Growing arrays, and the pool of values. */
#include "trace/store.h"

bool trace_vec_grow(void **at, size_t *cap, size_t need, size_t elem)
{
	size_t want = *cap ? *cap * 2 : 256;
	void *p;

	if (want < need)
		want = need;
	if (want > SIZE_MAX / elem)
		return false;
	p = realloc(*at, want * elem);
	if (!p)
		return false;
	*at = p;
	*cap = want;
	return true;
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
	free(pool->words.at);
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
