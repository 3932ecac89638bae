// SPDX-License-Identifier: GPL-2.0-only
/* The search for special fields in the values of maps ends, whatever their types are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/btf.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/verify.h"

enum { INT_ID = 1, FIRST_ID = 2 };

static void put_hex(FILE *out, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	fprintf(out, ".btf ");
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	fprintf(out, "\n");
}

static uint32_t info(uint32_t kind, uint32_t vlen)
{
	return kind << 24 | vlen;
}

/* A structure of two members of one type. */
static void put_pair(FILE *out, uint32_t size, uint32_t first, uint32_t second, uint32_t bit)
{
	const struct btf_type type = { .info = info(BTF_KIND_STRUCT, 2), .size = size };
	const struct btf_member members[] = { { .name_off = 1, .type = first },
					      { .name_off = 3, .type = second, .offset = bit } };

	put_hex(out, &type, sizeof(type));
	put_hex(out, members, sizeof(members));
}

/*
 * A program whose map's value is a number and an empty structure, in which each of depth structures
 * holds the next one twice: 2^depth members in all.
 */
static char *nested(uint32_t depth)
{
	static const char strings[] = "\0a\0b";
	const struct btf_type number = { .name_off = 1, .info = info(BTF_KIND_INT, 0), .size = 4 };
	const struct btf_type empty = { .info = info(BTF_KIND_STRUCT, 0) };
	const uint32_t encoding = 32;
	struct btf_header hdr = { .magic = 0xeb9f, .version = 1, .hdr_len = sizeof(hdr) };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	hdr.type_len = (uint32_t)(2 * sizeof(number) + sizeof(encoding) +
				  (depth + 1) * (sizeof(empty) + 2 * sizeof(struct btf_member)));
	hdr.str_off = hdr.type_len;
	hdr.str_len = sizeof(strings);
	fprintf(out, ".type xdp\n");
	put_hex(out, &hdr, sizeof(hdr));
	put_hex(out, &number, sizeof(number));
	put_hex(out, &encoding, sizeof(encoding));
	put_hex(out, &empty, sizeof(empty));
	for (uint32_t i = 0; i < depth; i++)
		put_pair(out, 0, FIRST_ID + i, FIRST_ID + i, 0);
	put_pair(out, 4, INT_ID, FIRST_ID + depth, 32);
	put_hex(out, strings, sizeof(strings));
	fprintf(out,
		".map m type=array key=4 value=4 entries=1 btf_key=1 btf_value=%u\n"
		"	r1 = map[m]\n"
		"	r0 = 2\n"
		"	exit\n",
		FIRST_ID + depth + 1);
	fclose(out);
	return text;
}

static void verify(uint32_t depth, struct loupe_verify_result *result)
{
	struct loupe_program_list list;
	struct loupe_error err;
	char *text = nested(depth);

	assert_int_equal(loupe_asm_load("fields.bpfasm", text, strlen(text), &list, &err), 0);
	assert_int_equal(loupe_verify(list.progs[0].image, NULL, result), 0);
	loupe_program_list_finish(&list);
	free(text);
}

static void test_many_members(void **state)
{
	struct loupe_verify_result result;

	(void)state;
	verify(12, &result);
	assert_int_equal(result.verdict, LOUPE_ACCEPTED);
	loupe_verify_result_finish(&result);
}

/* A thousand million: looking at all takes a minute. */
static void test_too_many_members(void **state)
{
	struct loupe_verify_result result;

	(void)state;
	verify(30, &result);
	assert_int_equal(result.verdict, LOUPE_NOT_JUDGED);
	assert_string_equal(result.reason,
			    "map 'm': its values' types hold too many members");
	loupe_verify_result_finish(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_members),
		cmocka_unit_test(test_too_many_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
