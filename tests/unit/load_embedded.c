// SPDX-License-Identifier: GPL-2.0-only
#include "load/embedded.h"
#include "load_objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { SIZE = 16384, FIRST_AT = 1000, SECOND_AT = 8192 };

struct container {
	uint8_t data[SIZE];
	size_t object_len;
};

/* An executable's header and then whatever put() adds. */
static void begin(struct container *container)
{
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
	};

	memset(container, 0, sizeof(*container));
	memcpy(container->data, &ehdr, sizeof(ehdr));
}

static void put(struct container *container, size_t at)
{
	struct obj obj;
	uint8_t *data;

	obj_init(&obj);
	obj_program(&obj, "xdp", "prog", obj_return_1, 2);
	data = obj_build(&obj, &container->object_len);
	assert_true(at + container->object_len <= SIZE);
	memcpy(container->data + at, data, container->object_len);
	free(data);
}

static void test_kind(void **state)
{
	struct container container;

	(void)state;
	begin(&container);
	put(&container, FIRST_AT);
	assert_int_equal(elf_kind(container.data, SIZE), ELF_OTHER);
	assert_int_equal(elf_kind(container.data + FIRST_AT, container.object_len), ELF_BPF);
	assert_int_equal(elf_kind(container.data + FIRST_AT, 10),
			 ELF_BPF); /* damaged, not foreign */
	assert_int_equal(elf_kind((const uint8_t *)"text", 4), ELF_NOT);
	assert_int_equal(elf_kind((const uint8_t *)"\x7f", 1), ELF_NOT);
}

static void test_names(void **state)
{
	struct embedded_object objects[4];
	struct container container;

	(void)state;
	begin(&container);
	put(&container, FIRST_AT);
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 1);
	assert_int_equal(objects[0].offset, FIRST_AT);
	assert_int_equal(objects[0].len, container.object_len);
	assert_string_equal(objects[0].name, "at 0x3e8");

	strcpy((char *)container.data + 200, "execsnoop_bpf");
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 1);
	assert_string_equal(objects[0].name, "execsnoop_bpf");

	/* Twice the same is the same; two names are no name; nor is the tail of something else. */
	strcpy((char *)container.data + 300, "execsnoop_bpf");
	strcpy((char *)container.data + 400, "cannot open the_bpf");
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 1);
	assert_string_equal(objects[0].name, "execsnoop_bpf");
	strcpy((char *)container.data + 500, "other_bpf");
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 1);
	assert_string_equal(objects[0].name, "at 0x3e8");
}

static void test_several(void **state)
{
	struct embedded_object objects[4];
	struct container container;

	(void)state;
	begin(&container);
	put(&container, FIRST_AT);
	put(&container, SECOND_AT);
	strcpy((char *)container.data + 200, "execsnoop_bpf");
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 2);
	assert_int_equal(objects[0].offset, FIRST_AT);
	assert_int_equal(objects[1].offset, SECOND_AT);
	assert_string_equal(objects[0].name, "at 0x3e8");
	assert_string_equal(objects[1].name, "at 0x2000");
	assert_int_equal(embedded_find(container.data, SIZE, objects, 1), 1);
}

/* Wherever the file ends, what is found lies inside it. */
static void test_cut(void **state)
{
	struct container container;

	(void)state;
	begin(&container);
	put(&container, FIRST_AT);
	strcpy((char *)container.data + 200, "execsnoop_bpf");
	for (size_t len = 0; len < SIZE; len += 7) {
		struct embedded_object objects[4];
		uint8_t *copy = malloc(len ? len : 1);
		size_t cnt;

		memcpy(copy, container.data, len);
		cnt = embedded_find(copy, len, objects, 4);
		for (size_t i = 0; i < cnt; i++)
			assert_true(objects[i].offset + objects[i].len <= len);
		free(copy);
	}
}

/* A section header that points past the end: the object is taken to reach to the end. */
static void test_wild_section(void **state)
{
	struct embedded_object objects[4];
	struct container container;
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr;

	(void)state;
	begin(&container);
	put(&container, FIRST_AT);
	memcpy(&ehdr, container.data + FIRST_AT, sizeof(ehdr));
	memcpy(&shdr, container.data + FIRST_AT + ehdr.e_shoff + sizeof(shdr), sizeof(shdr));
	shdr.sh_size = UINT64_MAX - 8;
	memcpy(container.data + FIRST_AT + ehdr.e_shoff + sizeof(shdr), &shdr, sizeof(shdr));
	assert_int_equal(embedded_find(container.data, SIZE, objects, 4), 1);
	assert_int_equal(objects[0].len, SIZE - FIRST_AT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind),	     cmocka_unit_test(test_names),
		cmocka_unit_test(test_several),	     cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wild_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
