// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe cfg: the graph of a program, or of a filter before or after optimization. */
#include <langinfo.h>
#include <string.h>
#include <unistd.h>

#include "bpfloupe/cfg.h"
#include "bpfloupe/cfg_report.h"
#include "commands.h"
#include "input.h"

static const struct {
	const char *name;
	int (*write)(const struct loupe_cfg_report *report, FILE *out);
} formats[] = {
	{ "text", loupe_cfg_write_text },
	{ "dot", loupe_cfg_write_dot },
	{ "svg", loupe_cfg_write_svg },
	{ "json", loupe_cfg_write_json },
};

/* A file gets UTF-8 whatever the locale is; a terminal may have another character set. */
static bool shows_utf8(void)
{
	return !isatty(STDOUT_FILENO) || strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static int write_graph(const struct args *args, struct loupe_cfg_program *prog, const char *title)
{
	const char *name = args->output ? args->output : "text";
	struct loupe_block_content content;
	struct loupe_cfg_report report = {
		.cfg = prog->cfg,
		.content = &content,
		.program = prog,
		.title = title,
		.ascii = args->ascii || !shows_utf8(),
	};

	loupe_cfg_program_content(prog, &content);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name))
			continue;
		/* what could not be written is told at the end */
		if (!formats[i].write(&report, stdout) || ferror(stdout))
			return STATUS_OK;
		return complain_text("cannot draw the graph: out of memory, or it is too large");
	}
	return complain_text("-o takes text, dot, svg or json, not '%s'", name);
}

static int cfg_of_insns(const struct args *args, const struct loupe_image *image,
			const struct loupe_insn *insns, uint32_t cnt)
{
	struct loupe_cfg_program prog = { .insns = insns, .image = image };
	struct loupe_error err;
	struct loupe_cfg *cfg;
	int status;

	if (loupe_cfg_from_ebpf(insns, cnt, &cfg, &err))
		return complain_text("%s: %s: %s", image->file, image->name, err.message);
	prog.cfg = cfg;
	status = write_graph(args, &prog, image->name);
	loupe_cfg_destroy(cfg);
	return status;
}

/* What verification leaves of an accepted program; otherwise the program as it is. */
static int cfg_of_image(const struct args *args, const struct loupe_image *image)
{
	struct loupe_verify_result result;
	int status;

	if (args->before)
		return cfg_of_insns(args, image, image->insns, image->insn_cnt);
	if (loupe_verify(image, &args->verify, &result))
		return complain_text("out of memory");
	if (result.final_insns)
		status = cfg_of_insns(args, image, result.final_insns, result.final_cnt);
	else
		status = cfg_of_insns(args, image, image->insns, image->insn_cnt);
	loupe_verify_result_finish(&result);
	return status;
}

static int cfg_of_filter(const struct args *args, const struct input *input)
{
	const struct loupe_filter *filter = input->filter;
	struct loupe_filter_opts opts = args->passes;
	struct loupe_filter_proof proof;
	struct loupe_filter *after = NULL;
	struct loupe_rewrite *rw = NULL;
	struct loupe_error err;
	struct loupe_cfg *cfg;
	int status;

	if (!args->before) {
		opts.weights = &input->weights;
		if (loupe_filter_optimize_proven(filter, &opts, &rw, &proof, NULL, &err) ||
		    loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after,
					      &err)) {
			loupe_rewrite_destroy(rw);
			return complain(&err);
		}
		loupe_rewrite_destroy(rw);
		filter = after;
	}
	if (loupe_cfg_from_cbpf(filter->insns, filter->cnt, &cfg, &err)) {
		status = complain(&err);
	} else {
		struct loupe_cfg_program prog = {
			.cfg = cfg,
			.cbpf = filter->insns,
			.flavour = filter->flavour,
		};

		status = write_graph(args, &prog, filter->name);
		loupe_cfg_destroy(cfg);
	}
	loupe_filter_destroy(after);
	return status;
}

int cmd_cfg(const struct args *args)
{
	const struct loupe_image *image;
	struct loupe_error err;
	struct input input;
	int status = STATUS_USAGE;

	if (input_open(args->files[0], &args->load, &args->filters, &input, &err))
		return complain(&err);
	if (input.kind == INPUT_FILTER) {
		status = cfg_of_filter(args, &input);
	} else if (!input.progs.cnt) {
		status = complain_text("%s: no such program; bpfloupe stat lists them",
				       args->files[0]);
	} else {
		image = only_program(args, &input.progs, args->files[0]);
		if (image)
			status = cfg_of_image(args, image);
	}
	input_finish(&input);
	return status;
}
