// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe optimize: a classic filter, or what a policy compiles to, shorter, and proven to be the
 * same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/why.h"
#include "commands.h"
#include "emit.h"

/* The verdict as a comment below a text that people read. */
static void write_proof(const struct loupe_filter_proof *proof, uint32_t level)
{
	printf("# level %" PRIu32, level);
	if (proof->lower)
		printf(" (%s)", proof->lower);
	if (proof->verdict == LOUPE_PROOF_PROVEN)
		printf(", proven equivalent\n");
	else
		printf(", tested on %" PRIu32 " inputs, not proven: %s\n", proof->inputs,
		       proof->why_not);
}

/* What --explain= names: a call, a call and an argument, a line. */
static int parse_what(const struct args *args, const struct loupe_why *why,
		      struct loupe_why_select *select)
{
	const char *what = args->explain_what, *colon = what ? strrchr(what, ':') : NULL;
	const struct loupe_callers *callers;
	char name[64], *end;
	uint32_t cnt;
	unsigned long n;

	if (!what)
		return 0;
	if (colon) {
		n = strtoul(colon + 1, &end, 10);
		if (colon[1] < '0' || colon[1] > '9' || *end || n > UINT32_MAX)
			return complain_text(
				"--explain takes CALL, CALL:ARGUMENT or :LINE, not '%s'", what);
		if (colon == what) {
			select->line = (uint32_t)n;
			return 0;
		}
		if (n > 5)
			return complain_text("a system call has arguments 0 to 5, not %lu", n);
		select->by_arg = true;
		select->arg = (uint32_t)n;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(colon ? (size_t)(colon - what) : strlen(what)),
		 what);
	callers = loupe_why_callers(why, &cnt);
	for (uint32_t c = 0; c < cnt && !select->by_call; c++) {
		const char *known = loupe_syscall_name(callers[c].arch, callers[c].nr);
		char number[16];

		snprintf(number, sizeof(number), "%" PRIu32, callers[c].nr);
		if (callers[c].kind != LOUPE_CALLERS_CALL ||
		    ((!known || strcmp(known, name)) && strcmp(number, name)))
			continue;
		select->by_call = true;
		select->arch = callers[c].arch;
		select->nr = callers[c].nr;
	}
	if (select->by_call)
		return 0;
	return complain_text("--explain: %s says nothing of a call '%s'",
			     loupe_why_policy(why) ? "the policy" : "the filter", name);
}

static int explain(const struct args *args, const struct emission *e, uint32_t level)
{
	struct loupe_why_select select = { .level = level };
	struct loupe_why *before = NULL, *after = NULL;
	char *text = NULL;
	size_t len = 0;
	int status = emission_why(e, &before, &after);

	if (!status)
		status = parse_what(args, after, &select);
	if (!status && loupe_why_text(before, after, e->rw, &select, &text, &len))
		status = complain_text("out of memory");
	if (!status) {
		write_proof(e->proof, level);
		fwrite(text, 1, len, stdout);
	}
	free(text);
	loupe_why_destroy(after);
	loupe_why_destroy(before);
	return status;
}

static int write_result(const struct args *args, const struct emission *e, uint32_t level)
{
	if (args->explain)
		return explain(args, e, level);
	if (args->emit && !strcmp(args->emit, "stats"))
		write_proof(e->proof, level);
	return emit(args->emit, e);
}

int cmd_optimize(const struct args *args)
{
	struct loupe_filter_opts opts = args->passes;
	struct loupe_filter *result = NULL;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	struct input input;
	uint32_t level;
	int status;

	if (!emit_knows(args->emit))
		return complain_text("--emit takes " EMIT_FORMS ", not '%s'", args->emit);
	if (input_open_filter(args->files[0], &args->filters, false, &input, &err))
		return complain(&err);
	opts.weights = &input.weights;
	if (loupe_filter_optimize_proven(input.filter, &opts, &rw, &proof, &level, &err) ||
	    loupe_filter_from_rewrite(input.filter, rw, loupe_rewrite_edit_cnt(rw), &result,
				      &err)) {
		status = complain(&err);
	} else {
		const struct emission e = {
			.input = &input, .result = result, .rw = rw, .proof = &proof
		};

		/* of packet filters nobody expects more than level 1 */
		if (level < opts.level && (input.filter->flavour == LOUPE_FILTER_SECCOMP || !level))
			fprintf(stderr, "bpfloupe: %s: level %" PRIu32 ", not %" PRIu32 ": %s\n",
				args->files[0], level, opts.level, proof.lower);
		status = write_result(args, &e, level);
	}
	loupe_filter_destroy(result);
	loupe_rewrite_destroy(rw);
	input_finish(&input);
	return status;
}
