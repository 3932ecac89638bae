// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe disasm: instructions as the assembler reads them back. */
#include <stdlib.h>

#include "bpfloupe/asm.h"
#include "commands.h"
#include "input.h"

static int disasm_programs(const struct loupe_program_list *list)
{
	int status = STATUS_OK;

	for (uint32_t i = 0; i < list->cnt; i++) {
		const struct loupe_program *prog = &list->progs[i];
		char *text;
		size_t len;

		if (!prog->image) {
			status = complain_text("%s does not load: %s", prog->name, prog->reason);
			continue;
		}
		if (loupe_asm_write(prog->image, &text, &len))
			return complain_text("out of memory");
		if (i)
			putchar('\n');
		fwrite(text, 1, len, stdout);
		free(text);
	}
	return status;
}

static int disasm_filter(const struct loupe_filter *filter)
{
	char *text;
	size_t len;

	if (loupe_filter_emit(filter, NULL, LOUPE_EMIT_WORDS, &text, &len))
		return complain_text("out of memory");
	fwrite(text, 1, len, stdout);
	free(text);
	return STATUS_OK;
}

int cmd_disasm(const struct args *args)
{
	struct loupe_error err;
	struct input input;
	int status;

	if (input_open(args->files[0], &args->load, &args->filters, &input, &err))
		return complain(&err);
	if (input.kind == INPUT_FILTER)
		status = disasm_filter(input.filter);
	else
		status = disasm_programs(&input.progs);
	input_finish(&input);
	return status;
}
