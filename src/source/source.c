// SPDX-License-Identifier: GPL-2.0-only
/* Lines and names of an image, looked up in its BTF and the kernel's. */
#include "bpfloupe/source.h"

#include "btf/btf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

struct loupe_source {
	const struct loupe_image *image;
	struct btf *btf;	/* NULL if the image has none that can be read */
	struct btf *kernel_btf; /* only for programs that call kernel functions */
};

static bool calls_kernel_functions(const struct loupe_image *image)
{
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		const struct loupe_insn *insn = &image->insns[i];

		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
			return true;
	}
	return false;
}

int loupe_source_create(const struct loupe_image *image, struct loupe_source **out)
{
	struct loupe_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->image = image;
	/* BTF that cannot be read means that nothing has a name, which is no error here */
	if (image->btf && btf_open(image->btf, image->btf_size, &source->btf, NULL))
		source->btf = NULL;
	if (image->host.kernel_btf && calls_kernel_functions(image) &&
	    btf_open_file(image->host.kernel_btf, &source->kernel_btf, NULL))
		source->kernel_btf = NULL;
	*out = source;
	return 0;
}

bool loupe_source_is_logged(const struct loupe_source *source)
{
	return source->image->from_log;
}

void loupe_source_destroy(struct loupe_source *source)
{
	if (!source)
		return;
	btf_close(source->btf);
	btf_close(source->kernel_btf);
	free(source);
}

/* Entries of the tables are sorted by insn_off, which the verifier checks and we only rely on to
 * find something. */
static const struct loupe_line_info *find_line(const struct loupe_image *image, uint32_t insn)
{
	uint32_t low = 0, high = image->line_info_cnt;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (image->line_info[mid].insn_off <= insn)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &image->line_info[low - 1] : NULL;
}

bool loupe_source_line_of(const struct loupe_source *source, uint32_t insn,
			  struct loupe_source_line *line)
{
	const struct loupe_line_info *info;
	const char *slash;

	*line = (struct loupe_source_line){ .text = "", .file = "", .path = "" };
	if (!source->btf || insn >= source->image->insn_cnt)
		return false;
	info = find_line(source->image, insn);
	if (!info)
		return false;
	line->text = btf_str(source->btf, info->line_off);
	while (*line->text == ' ' || *line->text == '\t')
		line->text++;
	line->path = btf_str(source->btf, info->file_name_off);
	slash = strrchr(line->path, '/');
	line->file = slash ? slash + 1 : line->path;
	line->line = info->line_col >> 10;
	line->column = info->line_col & 0x3ff;
	line->first_insn = info->insn_off;
	/* an image made from a log says so where it knows no line */
	return !source->image->from_log || *line->text || *line->path;
}

static const char *func_name(const struct loupe_source *source, const struct loupe_func_info *func)
{
	const char *name = source->btf ? btf_name(source->btf, func->type_id) : "";

	return *name ? name : NULL;
}

const char *loupe_source_func(const struct loupe_source *source, uint32_t insn)
{
	const struct loupe_image *image = source->image;

	for (uint32_t i = 0; i < image->func_info_cnt; i++) {
		if (image->func_info[i].insn_off == insn)
			return func_name(source, &image->func_info[i]);
	}
	return NULL;
}

const char *loupe_source_func_of(const struct loupe_source *source, uint32_t insn)
{
	const struct loupe_image *image = source->image;
	const struct loupe_func_info *best = NULL;

	for (uint32_t i = 0; i < image->func_info_cnt; i++) {
		const struct loupe_func_info *func = &image->func_info[i];

		if (func->insn_off <= insn && (!best || func->insn_off > best->insn_off))
			best = func;
	}
	return best ? func_name(source, best) : NULL;
}

static const char *kfunc_name(void *ctx, const struct loupe_insn *insn)
{
	const struct loupe_source *source = ctx;

	/* off 0 is the kernel itself; others are modules' BTF, which an image does not hold */
	if (insn->off || !source->kernel_btf || insn->imm <= 0)
		return NULL;
	return btf_kind(source->kernel_btf, (uint32_t)insn->imm) == BTF_KIND_FUNC
		       ? btf_name(source->kernel_btf, (uint32_t)insn->imm)
		       : NULL;
}

/* The one context that both callbacks get is the source. */
static int symbol(void *ctx, const struct loupe_insn *insn, char *buf, size_t size)
{
	const struct loupe_source *source = ctx;

	/* its parameter is not const because contexts in general are not; it only reads */
	return loupe_insn_symbol((void *)(uintptr_t)source->image, insn, buf, size);
}

struct loupe_insn_print_opts loupe_source_print_opts(const struct loupe_source *source,
						     bool hide_code)
{
	return (struct loupe_insn_print_opts){
		.kfunc_name = kfunc_name,
		.symbol = symbol,
		.ctx = (void *)(uintptr_t)source,
		.no_code = hide_code,
	};
}
