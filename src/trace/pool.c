// SPDX-License-Identifier: GPL-2.0-only
/* Growing arrays, and the pool that keeps each distinct value once. */
#include "trace/store.h"

enum {
	TABLE_START = 1 << 12, /* entries, a power of two */
};

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
	uint32_t *first = TRACE_PUSH(&pool->words);

	pool->table = calloc(TABLE_START, sizeof(*pool->table));
	pool->table_size = TABLE_START;
	if (!first || !pool->table)
		return false;
	*first = 0;
	return true;
}

void trace_pool_seal(struct trace_pool *pool)
{
	free(pool->table);
	pool->table = NULL;
	pool->table_size = 0;
}

void trace_pool_finish(struct trace_pool *pool)
{
	trace_pool_seal(pool);
	free(pool->words.at);
	memset(pool, 0, sizeof(*pool));
}

/* Multiply and fold, two words at a time. */
static uint64_t hash_words(const uint32_t *words, uint32_t n)
{
	uint64_t h = n * 0x9e3779b97f4a7c15u;
	uint32_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		uint64_t w = words[i] | (uint64_t)words[i + 1] << 32;

		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	if (i < n)
		h = (h ^ words[i]) * 0xff51afd7ed558ccdu;
	h ^= h >> 29;
	h *= 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 32;
}

/* A slot's place follows from the stored half of the hash, so that growing needs no re-hashing. */
static size_t place(uint32_t half, size_t size)
{
	return (half * (uint64_t)0x9e3779b97f4a7c15u >> 24) & (size - 1);
}

static bool grow_table(struct trace_pool *pool)
{
	size_t size = pool->table_size * 2;
	uint64_t *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < pool->table_size; i++) {
		uint64_t slot = pool->table[i];
		size_t at = place((uint32_t)(slot >> 32), size);

		if (!slot)
			continue;
		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = slot;
	}
	free(pool->table);
	pool->table = table;
	pool->table_size = size;
	return true;
}

uint32_t trace_pool_intern(struct trace_pool *pool, const uint32_t *words, uint32_t n)
{
	uint32_t half = (uint32_t)(hash_words(words, n) >> 32);
	size_t at = place(half, pool->table_size);
	uint32_t off;

	for (uint64_t slot; (slot = pool->table[at]) != 0; at = (at + 1) & (pool->table_size - 1)) {
		off = (uint32_t)slot;
		if (slot >> 32 == half && off + n <= pool->words.cnt &&
		    !memcmp(&pool->words.at[off], words, n * sizeof(*words)))
			return off;
	}
	if (pool->words.cnt > UINT32_MAX - n || !TRACE_ROOM(&pool->words, n))
		return 0;
	if (pool->used >= pool->table_size - pool->table_size / 4) {
		if (!grow_table(pool))
			return 0;
		at = place(half, pool->table_size);
		while (pool->table[at])
			at = (at + 1) & (pool->table_size - 1);
	}
	off = (uint32_t)pool->words.cnt;
	memcpy(&pool->words.at[off], words, n * sizeof(*words));
	pool->words.cnt += n;
	pool->table[at] = (uint64_t)half << 32 | off;
	pool->used++;
	return off;
}
