// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "btf/btf.h"
#include "btf/kernel_types.h"

#define OBJECT SAMPLES "/lost-bound.bpf.o"
#define RAW    SAMPLES "/../../tests/golden/kernel.btf"

static char path[64];

static void write_file(const uint8_t *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static size_t read_file(const char *from, uint8_t **data)
{
	FILE *f = fopen(from, "r");
	size_t len;

	assert_non_null(f);
	*data = malloc(1 << 20);
	assert_non_null(*data);
	len = fread(*data, 1, 1 << 20, f);
	fclose(f);
	return len;
}

static void raw_and_elf(void **state)
{
	struct btf *btf;

	(void)state;
	assert_int_equal(btf_open_file(RAW, &btf, NULL), 0);
	assert_int_not_equal(btf_find(btf, "btf_trace_kmalloc", BTF_KIND_TYPEDEF), 0);
	btf_close(btf);
	assert_int_equal(btf_open_file(OBJECT, &btf, NULL), 0);
	assert_int_not_equal(btf_find(btf, "xdp_md", BTF_KIND_STRUCT), 0);
	btf_close(btf);
	assert_int_equal(btf_open_file("/nonexistent/btf", &btf, NULL), -ENOENT);
	assert_null(btf);
}

/* An ELF file that ends anywhere, or whose headers name places outside of it. */
static void damaged_elf(void **state)
{
	struct loupe_error err;
	struct btf *btf;
	uint8_t *data;
	size_t len = read_file(OBJECT, &data);

	(void)state;
	for (size_t cut = 4; cut < len; cut += 97) {
		write_file(data, cut);
		assert_int_equal(btf_open_file(path, &btf, &err), -EINVAL);
		assert_null(btf);
	}
	for (size_t i = 4; i < 64; i++) {
		for (int bit = 0; bit < 8; bit++) {
			data[i] ^= (uint8_t)(1 << bit);
			write_file(data, len);
			if (!btf_open_file(path, &btf, &err))
				btf_close(btf);
			else
				assert_string_equal(err.file, path);
			data[i] ^= (uint8_t)(1 << bit);
		}
	}
	free(data);
}

static void types_are_shared_and_late(void **state)
{
	struct loupe_kernel_types *types = loupe_kernel_types_create(RAW), *other;
	const struct btf *btf;

	(void)state;
	assert_null(loupe_kernel_types_used(types));
	btf = kernel_types_btf(types);
	assert_non_null(btf);
	assert_string_equal(loupe_kernel_types_used(types), RAW);
	other = loupe_kernel_types_ref(types);
	assert_ptr_equal(other, types);
	loupe_kernel_types_unref(types);
	assert_ptr_equal(kernel_types_btf(other), btf);
	loupe_kernel_types_unref(other);

	assert_null(kernel_types_btf(NULL));
	assert_null(loupe_kernel_types_used(NULL));
	assert_null(loupe_kernel_types_ref(NULL));
	loupe_kernel_types_unref(NULL);

	types = loupe_kernel_types_create(path);
	unlink(path);
	assert_null(kernel_types_btf(types));
	assert_null(loupe_kernel_types_used(types));
	loupe_kernel_types_unref(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_and_elf),
		cmocka_unit_test(damaged_elf),
		cmocka_unit_test(types_are_shared_and_late),
	};
	int failed;

	snprintf(path, sizeof(path), "/tmp/btf_file.%d", getpid());
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
