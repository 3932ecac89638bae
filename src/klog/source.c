// SPDX-License-Identifier: GPL-2.0-only
/* Names and lines of the source, from BTF. */
#include "klog/klog.h"

#include <string.h>

/* The last entry that begins at insn or before it; NULL if there is none. */
static const struct loupe_line_info *find_line(const struct loupe_image *image, uint32_t insn_idx)
{
	uint32_t low = 0, high = image->line_info_cnt;

	if (insn_idx >= image->insn_cnt)
		return NULL;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (image->line_info[mid].insn_off <= insn_idx)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &image->line_info[low - 1] : NULL;
}

static uint32_t line_number(const struct loupe_line_info *line)
{
	return line->line_col >> 10;
}

/* What the kernel's isspace() knows: ASCII's blanks and Latin-1's. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

void log_source_line(struct loupe_log *log, int32_t insn_idx)
{
	const struct loupe_line_info *line, *prev = log->prev_line;
	const char *text, *file, *slash;

	if (insn_idx < 0 || !log->btf)
		return;
	line = find_line(log->form.image, (uint32_t)insn_idx);
	if (!line || line == prev)
		return;
	/* two entries of one line differ only in the column, which the log does not show */
	if (prev && line->file_name_off == prev->file_name_off &&
	    line_number(line) == line_number(prev))
		return;

	if (log->phase == LOUPE_PHASE_CFG)
		log_put(log, FORM_SOURCE_PREFIX_INSN, &NUMBER(insn_idx));
	else
		log_put(log, FORM_SOURCE_PREFIX, NULL);
	text = btf_str(log->btf, line->line_off);
	while (is_blank(*text))
		text++;
	log_put_cut(log, FORM_SOURCE_TEXT, &TEXT(text));
	file = btf_str(log->btf, line->file_name_off);
	slash = strrchr(file, '/');
	log_put_cut(log, FORM_SOURCE_FILE,
		    (struct field[]){ TEXT(slash ? slash + 1 : file), NUMBER(line_number(line)) });
	log->prev_line = line;
}

const char *log_subprog_name(const struct loupe_log *log, uint32_t subprogno)
{
	const struct loupe_image *image = log->form.image;

	if (!log->btf || subprogno >= image->func_info_cnt)
		return "";
	return btf_name(log->btf, image->func_info[subprogno].type_id);
}
