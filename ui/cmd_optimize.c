// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe optimize: a classic filter, shorter. */
#include <stdlib.h>

#include "commands.h"

int cmd_optimize(const struct args *args)
{
	struct loupe_filter *filter = NULL;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	int form = args->emit ? loupe_filter_emit_by_name(args->emit) : LOUPE_EMIT_DDD;
	char *text = NULL;
	size_t len = 0;
	int status;

	if (form < 0)
		return complain_text("--emit takes ddd, asm, words, c, raw or stats, not '%s'", args->emit);
	if (loupe_filter_load(args->files[0], NULL, 0, NULL, &filter, &err))
		return complain(&err);
	if (loupe_filter_optimize(filter, &args->passes, &rw, &err))
		status = complain(&err);
	else if (args->explain ? loupe_filter_explain(filter, rw, &text, &len)
			       : loupe_filter_emit(filter, rw, (enum loupe_filter_emit_as)form, &text, &len))
		status = complain_text("out of memory");
	else
		status = STATUS_OK;
	if (text)
		fwrite(text, 1, len, stdout);
	free(text);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
	return status;
}
