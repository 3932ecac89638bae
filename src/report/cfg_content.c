// SPDX-License-Identifier: GPL-2.0-only
/* What blocks show when they show their instructions: of an image or of a classic filter. */
#include "bpfloupe/cfg_report.h"
#include "bpfloupe/insn.h"

#include <stdio.h>
#include <string.h>

static uint32_t block_lines(void *data, uint32_t block)
{
	const struct loupe_cfg_program *prog = data;

	return prog->cfg->insn_line[prog->cfg->blocks[block].last] + 1;
}

static uint32_t digits(uint32_t n)
{
	uint32_t cnt = 1;

	for (; n >= 10; n /= 10)
		cnt++;
	return cnt;
}

void loupe_cfg_insn_text(const struct loupe_cfg_program *prog, uint32_t slot, bool flow, char *buf,
			 size_t size)
{
	const struct loupe_insn_print_opts opts = {
		.symbol = loupe_insn_symbol,
		.ctx = (void *)(uintptr_t)prog->image,
		.no_code = true,
	};
	char *jump;

	if (!size)
		return;
	if (prog->cbpf) {
		if (flow)
			loupe_filter_insn_text(prog->flavour, prog->cbpf[slot], slot,
					       LOUPE_SYNTAX_WORDS, buf, size);
		else
			loupe_filter_insn_words(prog->flavour, prog->cbpf[slot], buf, size);
		return;
	}
	loupe_insn_print(buf, size, &prog->insns[slot], &opts);
	if (flow)
		return;
	/* the edges show where it leads: "if r1 > r2 goto pc+3", "goto pc+3", "may_goto pc+3" */
	jump = strstr(buf, " goto pc");
	if (!jump && (!strncmp(buf, "goto", 4) || !strncmp(buf, "may_goto", 8)))
		jump = strstr(buf, " pc");
	if (jump)
		*jump = '\0';
}

static void block_line(void *data, uint32_t block, uint32_t i, struct loupe_block_line *line)
{
	const struct loupe_cfg_program *prog = data;
	const struct loupe_block *b = &prog->cfg->blocks[block];
	uint32_t slot = loupe_cfg_line_insn(prog->cfg, block, i);
	int n;

	n = snprintf(line->text, sizeof(line->text), "%*u: ", (int)digits(b->last), slot);
	line->number = (uint8_t)n;
	loupe_cfg_insn_text(prog, slot, false, line->text + n, sizeof(line->text) - (size_t)n);
}

/* A block's number; what is nothing but a return also says what it returns: "217 ALLOW". */
static void block_label(void *data, uint32_t block, char *buf, size_t size)
{
	const struct loupe_cfg_program *prog = data;
	const struct loupe_block *b = &prog->cfg->blocks[block];
	static const char word[] = "return ";
	char text[64];

	snprintf(buf, size, "%u", b->first);
	if (!b->exits || b->first != b->last)
		return;
	loupe_cfg_insn_text(prog, b->first, false, text, sizeof(text));
	snprintf(buf, size, "%u %s", b->first,
		 strncmp(text, word, sizeof(word) - 1) ? text : text + sizeof(word) - 1);
}

void loupe_cfg_program_content(const struct loupe_cfg_program *prog,
			       struct loupe_block_content *content)
{
	*content = (struct loupe_block_content){
		.data = (void *)(uintptr_t)prog,
		.lines = block_lines,
		.line = block_line,
		.label = block_label,
	};
}
