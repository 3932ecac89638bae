// SPDX-License-Identifier: GPL-2.0-only
#include "emit.h"

#include <stdlib.h>
#include <string.h>

#include "bpfloupe/cfg.h"
#include "bpfloupe/cfg_report.h"
#include "bpfloupe/why.h"
#include "commands.h"

/* Forms that are pictures of the graph. */
static const struct {
	const char *name;
	int (*write)(const struct loupe_cfg_report *report, FILE *out);
} pictures[] = {
	{ "graph", loupe_cfg_write_text },
	{ "dot", loupe_cfg_write_dot },
	{ "svg", loupe_cfg_write_svg },
};

enum { PICTURES = sizeof(pictures) / sizeof(pictures[0]) };

bool emit_knows(const char *form)
{
	if (!form || !strcmp(form, "json") || loupe_filter_emit_by_name(form) >= 0)
		return true;
	for (size_t i = 0; i < PICTURES; i++) {
		if (!strcmp(form, pictures[i].name))
			return true;
	}
	return false;
}

static int emit_picture(size_t picture, const struct loupe_filter *filter)
{
	struct loupe_cfg_program prog = { .cbpf = filter->insns, .flavour = filter->flavour };
	struct loupe_block_content content;
	struct loupe_cfg_report report = { .content = &content,
					   .program = &prog,
					   .title = filter->name };
	struct loupe_error err;
	struct loupe_cfg *cfg;
	int status = STATUS_OK;

	if (loupe_cfg_from_cbpf(filter->insns, filter->cnt, &cfg, &err))
		return complain(&err);
	prog.cfg = report.cfg = cfg;
	loupe_cfg_program_content(&prog, &content);
	/* what could not be written is told at the end */
	if (pictures[picture].write(&report, stdout) && !ferror(stdout))
		status = complain_text("cannot draw the graph: out of memory, or it is too large");
	loupe_cfg_destroy(cfg);
	return status;
}

int emission_why(const struct emission *e, struct loupe_why **before, struct loupe_why **after)
{
	const struct input *input = e->input;
	struct loupe_error err;

	if (loupe_why_create(input->filter, input->policy, input->arch, before, &err) ||
	    loupe_why_create(e->result, input->policy, input->arch, after, &err))
		return complain(&err);
	return STATUS_OK;
}

static int emit_json(const struct emission *e)
{
	struct loupe_why *before = NULL, *after = NULL;
	char *text = NULL;
	size_t len = 0;
	int status = emission_why(e, &before, &after);

	if (!status && loupe_why_json(before, after, e->rw, e->proof, &text, &len))
		status = complain_text("out of memory");
	if (!status)
		fwrite(text, 1, len, stdout);
	free(text);
	loupe_why_destroy(after);
	loupe_why_destroy(before);
	return status;
}

int emit(const char *form, const struct emission *e)
{
	int as = form ? loupe_filter_emit_by_name(form) : LOUPE_EMIT_DDD;
	char *text = NULL;
	size_t len = 0;

	if (as < 0 && !strcmp(form, "json"))
		return emit_json(e);
	for (size_t i = 0; as < 0 && i < PICTURES; i++) {
		if (!strcmp(form, pictures[i].name))
			return emit_picture(i, e->result);
	}
	if (loupe_filter_emit(e->input->filter, e->rw, (enum loupe_filter_emit_as)as, &text, &len))
		return complain_text("out of memory");
	fwrite(text, 1, len, stdout);
	free(text);
	return STATUS_OK;
}
