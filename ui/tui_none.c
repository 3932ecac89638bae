// SPDX-License-Identifier: GPL-2.0-only
/* Stands in for the explorer in builds without it. */
#include "args.h"
#include "tui.h"

int tui_run(const struct tui_options *opts)
{
	(void)opts;
	return complain_text("this build has no terminal explorer; see bpfloupe --help");
}

void tui_keys_write(FILE *out, enum tui_keys_format format)
{
	(void)out;
	(void)format;
}
