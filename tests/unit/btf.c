// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf/btf.h"

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

/* BTF under construction. */
struct maker {
	uint32_t types[256];
	uint32_t words;
	char strs[256];
	uint32_t str_len;
};

static uint32_t str(struct maker *m, const char *s)
{
	uint32_t off = m->str_len ? m->str_len : 1;

	memcpy(m->strs + off, s, strlen(s) + 1);
	m->str_len = off + (uint32_t)strlen(s) + 1;
	return off;
}

static void words(struct maker *m, uint32_t cnt, const uint32_t *w)
{
	memcpy(m->types + m->words, w, cnt * sizeof(*w));
	m->words += cnt;
}

#define PUT(m, ...)                                                      \
	words(m, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), \
	      (uint32_t[]){ __VA_ARGS__ })

/* The finished BTF; *size bytes, freed by the caller. */
static void *make(struct maker *m, size_t *size)
{
	struct btf_header hdr = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(hdr),
		.type_len = m->words * (uint32_t)sizeof(uint32_t),
		.str_off = m->words * (uint32_t)sizeof(uint32_t),
		.str_len = m->str_len ? m->str_len : 1,
	};
	char *data;

	*size = sizeof(hdr) + hdr.type_len + hdr.str_len;
	data = malloc(*size);
	assert_non_null(data);
	memcpy(data, &hdr, sizeof(hdr));
	memcpy(data + sizeof(hdr), m->types, hdr.type_len);
	memcpy(data + sizeof(hdr) + hdr.type_len, m->strs, hdr.str_len);
	return data;
}

/* int, struct value { int a; int b[3]; }, typedef, func, a cycle of typedefs. */
static void fill(struct maker *m)
{
	PUT(m, str(m, "int"), INFO(BTF_KIND_INT, 0), 4, BTF_INT_SIGNED << 24 | 32); /* 1 */
	PUT(m, 0, INFO(BTF_KIND_ARRAY, 0), 0, 1, 1, 3);				    /* 2 */
	PUT(m, str(m, "value"), INFO(BTF_KIND_STRUCT, 2), 16, str(m, "a"), 1, 0, str(m, "b"), 2,
	    32);									    /* 3 */
	PUT(m, str(m, "value_t"), INFO(BTF_KIND_TYPEDEF, 0), 3);			    /* 4 */
	PUT(m, 0, INFO(BTF_KIND_CONST, 0), 4);						    /* 5 */
	PUT(m, 0, INFO(BTF_KIND_PTR, 0), 5);						    /* 6 */
	PUT(m, 0, INFO(BTF_KIND_FUNC_PROTO, 1), 1, str(m, "v"), 6);			    /* 7 */
	PUT(m, str(m, "get"), INFO(BTF_KIND_FUNC, BTF_FUNC_GLOBAL), 7);			    /* 8 */
	PUT(m, str(m, "loop1"), INFO(BTF_KIND_TYPEDEF, 0), 10);				    /* 9 */
	PUT(m, str(m, "loop2"), INFO(BTF_KIND_TYPEDEF, 0), 9);				    /* 10 */
	PUT(m, str(m, "tag"), INFO(BTF_KIND_DECL_TAG, 0), 8, 0);			    /* 11 */
	PUT(m, 0, INFO(BTF_KIND_ARRAY, 0), 0, 2, 1, 0x40000000);			    /* 12 */
	PUT(m, 0, INFO(BTF_KIND_STRUCT, 1) | 1u << 31, 4, str(m, "bits"), 1, 3u << 24 | 5); /* 13 */
}

static struct btf *open_filled(void **data)
{
	struct maker m = { 0 };
	struct btf *btf;
	size_t size;

	fill(&m);
	*data = make(&m, &size);
	assert_int_equal(btf_open(*data, size, &btf, NULL), 0);
	return btf;
}

static void test_lookup(void **state)
{
	void *data;
	struct btf *btf = open_filled(&data);

	(void)state;
	assert_int_equal(btf_type_cnt(btf), 14);
	assert_null(btf_type(btf, 0));
	assert_null(btf_type(btf, 14));
	assert_string_equal(btf_name(btf, 3), "value");
	assert_string_equal(btf_name(btf, 99), "");
	assert_string_equal(btf_str(btf, UINT32_MAX), "");
	assert_int_equal(btf_kind(btf, 8), BTF_KIND_FUNC);
	assert_int_equal(btf_kind(btf, 0), BTF_KIND_UNKN);
	assert_int_equal(btf_find(btf, "value_t", BTF_KIND_TYPEDEF), 4);
	assert_int_equal(btf_find(btf, "value_t", BTF_KIND_STRUCT), 0);
	assert_int_equal(btf_find_decl_tag(btf, 8, 0, 0), 11);
	assert_int_equal(btf_find_decl_tag(btf, 8, 0, 11), 0);
	assert_int_equal(btf_find_decl_tag(btf, 8, -1, 0), 0);
	btf_close(btf);
	free(data);
}

static void test_follow(void **state)
{
	void *data;
	struct btf *btf = open_filled(&data);
	const struct btf_type *t;
	uint32_t size;

	(void)state;
	assert_int_equal(btf_resolve(btf, 5), 3);
	assert_int_equal(btf_resolve(btf, 0), 0);
	assert_int_equal(btf_resolve(btf, 9), BTF_NO_TYPE);
	assert_int_equal(btf_resolve(btf, 77), BTF_NO_TYPE);
	assert_int_equal(btf_size(btf, 5, &size), 0);
	assert_int_equal(size, 16);
	assert_int_equal(btf_size(btf, 2, &size), 0);
	assert_int_equal(size, 12);
	assert_int_equal(btf_size(btf, 6, &size), 0);
	assert_int_equal(size, 8);
	assert_int_equal(btf_size(btf, 8, &size), -EINVAL);
	assert_int_equal(btf_size(btf, 9, &size), -EINVAL);
	assert_int_equal(btf_size(btf, 12, &size), -EINVAL); /* 12 GiB */
	assert_int_equal(btf_size(btf, 0, &size), -EINVAL);

	t = btf_func_proto(btf, 8);
	assert_non_null(t);
	assert_int_equal(btf_type_vlen(t), 1);
	assert_int_equal(btf_params(t)[0].type, 6);
	assert_int_equal(btf_func_linkage(btf_type(btf, 8)), BTF_FUNC_GLOBAL);
	assert_null(btf_func_proto(btf, 3));

	t = btf_type(btf, 3);
	assert_int_equal(btf_member_bit_offset(t, 1), 32);
	assert_int_equal(btf_member_bit_size(t, 1), 0);
	t = btf_type(btf, 13);
	assert_int_equal(btf_member_bit_offset(t, 0), 5);
	assert_int_equal(btf_member_bit_size(t, 0), 3);
	btf_close(btf);
	free(data);
}

static void test_unaligned_memory(void **state)
{
	struct maker m = { 0 };
	struct btf *btf;
	size_t size;
	char *data, *moved;

	(void)state;
	fill(&m);
	data = make(&m, &size);
	moved = malloc(size + 1);
	assert_non_null(moved);
	memcpy(moved + 1, data, size);
	assert_int_equal(btf_open(moved + 1, size, &btf, NULL), 0);
	assert_string_equal(btf_name(btf, 3), "value");
	btf_close(btf);
	free(moved);
	free(data);
}

static void expect_refused(struct maker *m)
{
	struct loupe_error err;
	struct btf *btf;
	size_t size;
	void *data = make(m, &size);

	assert_int_equal(btf_open(data, size, &btf, &err), -EINVAL);
	assert_null(btf);
	assert_true(err.offset >= 0);
	free(data);
}

static void test_refused(void **state)
{
	struct maker m;

	(void)state;
	m = (struct maker){ 0 }; /* a type id that does not exist */
	PUT(&m, 0, INFO(BTF_KIND_PTR, 0), 2);
	expect_refused(&m);
	m = (struct maker){ 0 }; /* a name outside of the strings */
	PUT(&m, 1, INFO(BTF_KIND_FWD, 0), 0);
	expect_refused(&m);
	m = (struct maker){ 0 }; /* members without room */
	PUT(&m, 0, INFO(BTF_KIND_STRUCT, 2), 8, 0, 0, 0);
	expect_refused(&m);
	m = (struct maker){ 0 }; /* half a type */
	PUT(&m, 0, INFO(BTF_KIND_FWD, 0));
	expect_refused(&m);
	m = (struct maker){ 0 }; /* an unknown kind */
	PUT(&m, 0, INFO(31, 0), 0);
	expect_refused(&m);
	m = (struct maker){ 0 }; /* an array of something that does not exist */
	PUT(&m, 0, INFO(BTF_KIND_ARRAY, 0), 0, 9, 1, 1);
	expect_refused(&m);
}

static void test_truncated(void **state)
{
	struct maker m = { 0 };
	size_t size;
	char *data;

	(void)state;
	fill(&m);
	data = make(&m, &size);
	for (size_t len = 0; len < size; len++) {
		char *part = malloc(len ? len : 1);
		struct btf *btf;

		assert_non_null(part);
		memcpy(part, data, len);
		assert_int_equal(btf_open(part, len, &btf, NULL), -EINVAL);
		free(part);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),		 cmocka_unit_test(test_follow),
		cmocka_unit_test(test_unaligned_memory), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
