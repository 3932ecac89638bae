// SPDX-License-Identifier: GPL-2.0-only
#include "klog/forms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL2 LOUPE_LOG_LEVEL2
#define STATS  LOUPE_LOG_STATS
#define PATHS  (LOUPE_LOG_LEVEL1 | LOUPE_LOG_LEVEL2)
#define ANY    LOUPE_LOG_LEVELS

const struct form forms[FORM_CNT] = {
#define FORM(name, levels, format, fields) [FORM_##name] = { #name, levels, format, fields },
#include "klog/forms.def"
#undef FORM
};

static void number_text(struct text *t, int64_t value, size_t width)
{
	char buf[32];
	struct text digits = text_in(buf, sizeof(buf));

	text_dec(&digits, value);
	if (digits.len < width)
		text_fill(t, ' ', width - digits.len);
	text_mem(t, buf, digits.len);
}

static void insn_text(struct text *t, int32_t idx, const struct form_ctx *ctx)
{
	struct loupe_insn two[2] = { 0 };
	char buf[1024];

	if (idx < 0 || (uint32_t)idx >= ctx->image->insn_cnt)
		return;
	two[0] = ctx->image->insns[idx];
	if ((uint32_t)idx + 1 < ctx->image->insn_cnt)
		two[1] = ctx->image->insns[idx + 1];
	loupe_insn_print(buf, sizeof(buf), two, &ctx->insn_opts);
	text_str(t, buf);
}

static void chain_text(struct text *t, const struct loupe_chain *chain, bool loop)
{
	text_char(t, '(');
	for (uint32_t i = 0; i + 1 < chain->cnt; i++) {
		/* the chain of a loop takes call site 0 for its end, as the kernel's does */
		if (loop && !chain->at[i])
			break;
		text_dec(t, chain->at[i]);
		text_char(t, ',');
	}
	if (chain->cnt)
		text_dec(t, chain->at[chain->cnt - 1]);
	text_char(t, ')');
}

static void field_text(struct text *t, const struct field *f, size_t width,
		       const struct form_ctx *ctx)
{
	switch (f->conversion) {
	case 'd':
		number_text(t, f->number, width);
		break;
	case 's':
		text_str(t, f->text);
		break;
	case 'i':
		insn_text(t, f->insn_idx, ctx);
		break;
	case 'r':
		reg_mask_text(t, f->regs);
		break;
	case 'k':
		slot_mask_text(t, f->slots);
		break;
	case 'f':
		frame_text(t, f->frame.state, f->frame.frameno, f->frame.regs, f->frame.slots,
			   ctx->names);
		break;
	case 'c':
	case 'l':
		chain_text(t, f->chain, f->conversion == 'l');
		break;
	default:
		assert(!"conversion of a form");
	}
}

void form_text(struct text *t, enum form_id id, const struct field *fields,
	       const struct form_ctx *ctx)
{
	const char *p = forms[id].format;

	for (;;) {
		const char *percent = strchr(p, '%');
		unsigned long width;
		char *end;

		if (!percent) {
			text_str(t, p);
			return;
		}
		text_mem(t, p, (size_t)(percent - p));
		width = strtoul(percent + 1, &end, 10);
		assert(*end == fields->conversion);
		field_text(t, fields++, width, ctx);
		p = end + 1;
	}
}
