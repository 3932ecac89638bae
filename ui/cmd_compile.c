// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe compile: a policy as the compiler leaves it, without the optimizer. */
#include <stdlib.h>

#include "commands.h"

int cmd_compile(const struct args *args)
{
	struct input input;
	struct loupe_error err;
	int form = args->emit ? loupe_filter_emit_by_name(args->emit) : LOUPE_EMIT_DDD;
	char *text = NULL;
	size_t len;
	int status;

	if (form < 0)
		return complain_text("--emit takes ddd, asm, words, c, raw or stats, not '%s'", args->emit);
	if (input_open_filter(args->files[0], &args->filters, true, &input, &err))
		return complain(&err);
	if (loupe_filter_emit(input.filter, NULL, (enum loupe_filter_emit_as)form, &text, &len))
		status = complain_text("out of memory");
	else
		status = fwrite(text, 1, len, stdout) == len ? STATUS_OK : complain_text("cannot write to stdout");
	free(text);
	input_finish(&input);
	return status;
}
