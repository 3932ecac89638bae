// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe optimize: a classic filter, or what a policy compiles to, shorter, and proven to be the same. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands.h"
#include "policy_input.h"

/* The verdict as a comment below a text that people read. */
static void write_proof(const struct loupe_filter_proof *proof, uint32_t level)
{
	if (proof->verdict == LOUPE_PROOF_PROVEN)
		printf("# level %" PRIu32 ", proven equivalent\n", level);
	else
		printf("# level %" PRIu32 ", tested on %" PRIu32 " inputs, not proven: %s\n", level,
		       proof->inputs, proof->why_not);
}

static int write_result(const struct args *args, enum loupe_filter_emit_as form,
			const struct loupe_filter *filter, const struct loupe_rewrite *rw,
			const struct loupe_filter_proof *proof, uint32_t level)
{
	char *text = NULL;
	size_t len = 0;

	if (args->explain ? loupe_filter_explain(filter, rw, &text, &len)
			  : loupe_filter_emit(filter, rw, form, &text, &len))
		return complain_text("out of memory");
	if (args->explain || form == LOUPE_EMIT_STATS)
		write_proof(proof, level);
	fwrite(text, 1, len, stdout);
	free(text);
	return STATUS_OK;
}

int cmd_optimize(const struct args *args)
{
	struct loupe_filter_opts opts = args->passes;
	struct loupe_weights weights = { 0 };
	struct loupe_filter *filter = NULL;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	int form = args->emit ? loupe_filter_emit_by_name(args->emit) : LOUPE_EMIT_DDD;
	uint32_t level;
	int status;

	if (form < 0)
		return complain_text("--emit takes ddd, asm, words, c, raw or stats, not '%s'", args->emit);
	opts.weights = &weights;
	if (policy_input_filter(args->files[0], args, false, &filter, &weights, &err) ||
	    loupe_filter_optimize_proven(filter, &opts, &rw, &proof, &level, &err)) {
		status = complain(&err);
	} else {
		if (level < opts.level)
			complain_text("what level %" PRIu32 " made is not the same filter and not used; "
				      "this is level %" PRIu32, opts.level, level);
		status = write_result(args, (enum loupe_filter_emit_as)form, filter, rw, &proof, level);
	}
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
	loupe_weights_finish(&weights);
	return status;
}
