// SPDX-License-Identifier: GPL-2.0-only
/* Any text: no crash; and an image that it makes is written as text that makes the same image. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/asm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *write_image(const struct loupe_image *image, size_t *len)
{
	char *text;

	if (loupe_asm_write(image, &text, len))
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_program_list list, again;
	struct loupe_error err;

	if (loupe_asm_load("input", (const char *)data, size, &list, &err)) {
		if (!err.message[0])
			abort();
		return 0;
	}
	for (uint32_t i = 0; i < list.cnt; i++) {
		size_t len, len_again;
		char *text = write_image(list.progs[i].image, &len), *text_again;

		if (loupe_asm_load("written", text, len, &again, &err) || again.cnt != 1)
			abort();
		text_again = write_image(again.progs[0].image, &len_again);
		if (len != len_again || memcmp(text, text_again, len) != 0)
			abort();
		loupe_program_list_finish(&again);
		free(text);
		free(text_again);
	}
	loupe_program_list_finish(&list);
	return 0;
}
