// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe compile: a policy as the compiler leaves it, without the optimizer. */
#include "commands.h"
#include "emit.h"

int cmd_compile(const struct args *args)
{
	struct loupe_error err;
	struct input input;
	int status;

	if (!emit_knows(args->emit))
		return complain_text("--emit takes " EMIT_FORMS ", not '%s'", args->emit);
	if (input_open_filter(args->files[0], &args->filters, true, &input, &err))
		return complain(&err);
	status = emit(args->emit, &(struct emission){ .input = &input, .result = input.filter });
	input_finish(&input);
	return status;
}
