// SPDX-License-Identifier: GPL-2.0-only
#include "bpfloupe/image.h"
#include "load/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct loupe_image *sample_image(void)
{
	struct loupe_image *image = loupe_image_create();

	assert_non_null(image);
	strcpy(image->prog_name, "fifteen_letters");
	image->insn_cnt = 2;
	image->insns = calloc(2, sizeof(*image->insns));
	image->insns[0] = (struct loupe_insn){
		.code = 0xb7, .dst_reg = 3, .src_reg = 9, .off = -2, .imm = -7
	};
	image->insns[1].code = 0x95;
	image->prog_type = 26;
	image->expected_attach_type = 24;
	image->attach_btf_id = 0xfedcba98;
	image->attach_target = strdup("tcp_connect");
	image->attach_unset = true;
	image->prog_flags = 0x10;
	image->kern_version = 0x6122c;
	image->license = strdup("GPL");
	image->map_cnt = 2;
	image->maps = calloc(2, sizeof(*image->maps));
	image->maps[0] = (struct loupe_map){ .name = "m",
					     .fd = 3,
					     .type = 2,
					     .key_size = 4,
					     .value_size = 5,
					     .max_entries = 6,
					     .map_flags = 7,
					     .map_extra = 1ULL << 40,
					     .inner_map_fd = -1,
					     .frozen = true,
					     .data_len = 5,
					     .data = (uint8_t *)strdup("data") };
	image->maps[1].fd = 4;
	image->fd_array_cnt = 1;
	image->fd_array = calloc(1, sizeof(*image->fd_array));
	image->fd_array[0] = -3;
	image->btf_size = 3;
	image->btf = (uint8_t *)strdup("bt");
	image->line_info_cnt = 1;
	image->line_info = calloc(1, sizeof(*image->line_info));
	image->line_info[0].line_col = 77;
	image->host.loader = strdup("libbpf 9.9");
	image->host.cpus = 4;
	return image;
}

static struct wire_buf sample_frame(void)
{
	struct loupe_program program = {
		.name = (char *)"prog",
		.section = (char *)"fentry/x",
		.reason = (char *)"a\nb",
		.image = sample_image(),
	};
	struct wire_buf buf = { 0 };

	wire_put_program(&buf, &program);
	assert_false(buf.failed);
	loupe_image_destroy(program.image);
	return buf;
}

static void test_round_trip(void **state)
{
	struct wire_buf buf = sample_frame();
	struct wire_reader reader = { .pos = buf.data, .end = buf.data + buf.len };
	struct loupe_program program;
	const struct loupe_image *image;

	(void)state;
	assert_int_equal(wire_get_program(&reader, &program), 0);
	image = program.image;
	assert_string_equal(program.name, "prog");
	assert_string_equal(program.section, "fentry/x");
	assert_string_equal(program.reason, "a?b"); /* one printable line */
	assert_null(program.object);
	assert_string_equal(image->prog_name, "fifteen_letters");
	assert_int_equal(image->insn_cnt, 2);
	assert_int_equal(image->insns[0].code, 0xb7);
	assert_int_equal(image->insns[0].dst_reg, 3);
	assert_int_equal(image->insns[0].src_reg, 9);
	assert_int_equal(image->insns[0].off, -2);
	assert_int_equal(image->insns[0].imm, -7);
	assert_int_equal(image->prog_type, 26);
	assert_int_equal(image->expected_attach_type, 24);
	assert_int_equal(image->attach_btf_id, 0xfedcba98);
	assert_string_equal(image->attach_target, "tcp_connect");
	assert_true(image->attach_unset);
	assert_int_equal(image->prog_flags, 0x10);
	assert_int_equal(image->kern_version, 0x6122c);
	assert_string_equal(image->license, "GPL");
	assert_int_equal(image->map_cnt, 2);
	assert_string_equal(image->maps[0].name, "m");
	assert_int_equal(image->maps[0].value_size, 5);
	assert_true(image->maps[0].map_extra == 1ULL << 40);
	assert_int_equal(image->maps[0].inner_map_fd, -1);
	assert_true(image->maps[0].frozen);
	assert_int_equal(image->maps[0].data_len, 5);
	assert_memory_equal(image->maps[0].data, "data", 5);
	assert_int_equal(image->maps[1].fd, 4);
	assert_null(image->maps[1].data);
	assert_int_equal(image->fd_array_cnt, 1);
	assert_int_equal(image->fd_array[0], -3);
	assert_int_equal(image->btf_size, 3);
	assert_memory_equal(image->btf, "bt", 3);
	assert_null(image->func_info);
	assert_int_equal(image->line_info_cnt, 1);
	assert_int_equal(image->line_info[0].line_col, 77);
	assert_string_equal(image->host.loader, "libbpf 9.9");
	assert_null(image->host.kernel_btf);
	assert_int_equal(image->host.cpus, 4);
	loupe_program_finish(&program);
	wire_buf_finish(&buf);
}

/* Cut anywhere: refused, nothing leaks. */
static void test_truncated(void **state)
{
	struct wire_buf buf = sample_frame();

	(void)state;
	for (size_t len = 0; len < buf.len; len++) {
		uint8_t *copy = malloc(len ? len : 1);
		struct wire_reader reader = { .pos = copy, .end = copy + len };
		struct loupe_program program;

		memcpy(copy, buf.data, len);
		assert_int_equal(wire_get_program(&reader, &program), -EBADMSG);
		assert_null(program.image);
		free(copy);
	}
	wire_buf_finish(&buf);
}

/* Any one byte changed: read whole or refused, never out of bounds (the sanitizers watch). */
static void test_corrupted(void **state)
{
	struct wire_buf buf = sample_frame();

	(void)state;
	for (size_t at = 0; at < buf.len; at++) {
		static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

		for (size_t i = 0; i < sizeof(values); i++) {
			struct wire_reader reader = { .pos = buf.data, .end = buf.data + buf.len };
			uint8_t saved = buf.data[at];
			struct loupe_program program;

			buf.data[at] = values[i];
			if (!wire_get_program(&reader, &program))
				loupe_program_finish(&program);
			buf.data[at] = saved;
		}
	}
	wire_buf_finish(&buf);
}

static void test_trailing_bytes(void **state)
{
	struct wire_buf buf = sample_frame();
	struct wire_reader reader;
	struct loupe_program program;

	(void)state;
	wire_put_u32(&buf, 0);
	reader = (struct wire_reader){ .pos = buf.data, .end = buf.data + buf.len };
	assert_int_equal(wire_get_program(&reader, &program), -EBADMSG);
	wire_buf_finish(&buf);
}

static void test_request(void **state)
{
	static const uint8_t object[] = { 1, 2, 3 };
	struct wire_request in = {
		.object_name = (char *)"o",
		.kconfig = (char *)"/a\nb",
		.kernel_version = 5,
		.cpus = 6,
		.prog_type = 7,
		.timeout_ms = 8,
		.maps_as_is = true,
		.object = object,
		.object_len = 3,
	}, out;
	struct wire_buf buf = { 0 };
	struct wire_reader reader;

	(void)state;
	wire_put_request(&buf, &in);
	reader = (struct wire_reader){ .pos = buf.data, .end = buf.data + buf.len };
	assert_int_equal(wire_get_request(&reader, &out), 0);
	assert_string_equal(out.object_name, "o");
	assert_null(out.prog_name);
	assert_string_equal(out.kconfig, "/a\nb"); /* a file name is not touched */
	assert_int_equal(out.kernel_version, 5);
	assert_int_equal(out.cpus, 6);
	assert_int_equal(out.prog_type, 7);
	assert_int_equal(out.timeout_ms, 8);
	assert_true(out.maps_as_is);
	assert_false(out.list_only);
	assert_int_equal(out.object_len, 3);
	assert_memory_equal(out.object, object, 3);
	wire_request_finish(&out);
	for (size_t len = 0; len < buf.len; len++) {
		reader = (struct wire_reader){ .pos = buf.data, .end = buf.data + len };
		assert_int_equal(wire_get_request(&reader, &out), -EBADMSG);
	}
	wire_buf_finish(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_corrupted),  cmocka_unit_test(test_trailing_bytes),
		cmocka_unit_test(test_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
