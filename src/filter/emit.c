// SPDX-License-Identifier: GPL-2.0-only
#include "filter/opcode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[LOUPE_EMIT_DDD] = "ddd", [LOUPE_EMIT_ASM] = "asm", [LOUPE_EMIT_WORDS] = "words",
	[LOUPE_EMIT_C] = "c",	  [LOUPE_EMIT_RAW] = "raw", [LOUPE_EMIT_STATS] = "stats",
};

const char *loupe_filter_emit_name(enum loupe_filter_emit_as as)
{
	return names[as];
}

int loupe_filter_emit_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name))
			return (int)i;
	}
	return -1;
}

static void emit_ddd(FILE *f, const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	fprintf(f, "%u\n", cnt);
	for (uint32_t i = 0; i < cnt; i++)
		fprintf(f, "%u %u %u %u\n", insns[i].code, insns[i].jt, insns[i].jf, insns[i].k);
}

static void emit_lines(FILE *f, enum loupe_filter_flavour flavour,
		       const struct loupe_cbpf_insn *insns, uint32_t cnt,
		       enum loupe_filter_syntax syntax)
{
	char text[160];

	for (uint32_t i = 0; i < cnt; i++) {
		loupe_filter_insn_text(flavour, insns[i], i, syntax, text, sizeof(text));
		fprintf(f, syntax == LOUPE_SYNTAX_ASM ? "(%03u) %s\n" : "%4u: %s\n", i, text);
	}
}

static void emit_c(FILE *f, enum loupe_filter_flavour flavour, const struct loupe_cbpf_insn *insns,
		   uint32_t cnt)
{
	char text[160];

	for (uint32_t i = 0; i < cnt; i++) {
		loupe_filter_insn_text(flavour, insns[i], i, LOUPE_SYNTAX_WORDS, text,
				       sizeof(text));
		fprintf(f, "{ 0x%02x, %3u, %3u, 0x%08x }, /* %4u: %s */\n", insns[i].code,
			insns[i].jt, insns[i].jf, insns[i].k, i, text);
	}
}

static void emit_raw(FILE *f, const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		const uint8_t bytes[8] = {
			(uint8_t)insns[i].code,
			(uint8_t)(insns[i].code >> 8),
			insns[i].jt,
			insns[i].jf,
			(uint8_t)insns[i].k,
			(uint8_t)(insns[i].k >> 8),
			(uint8_t)(insns[i].k >> 16),
			(uint8_t)(insns[i].k >> 24),
		};

		fwrite(bytes, sizeof(bytes), 1, f);
	}
}

static void emit_stats(FILE *f, struct loupe_filter_stats before, struct loupe_filter_stats after)
{
	const struct {
		const char *name;
		uint32_t before, after;
	} rows[] = {
		{ "instructions", before.insns, after.insns },
		{ "loads", before.loads, after.loads },
		{ "branches", before.branches, after.branches },
		{ "jumps", before.jumps, after.jumps },
		{ "returns", before.returns, after.returns },
		{ "blocks", before.blocks, after.blocks },
		{ "longest path", before.longest, after.longest },
	};

	fprintf(f, "%-14s %8s %8s\n", "", "before", "after");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(f, "%-14s %8u %8u\n", rows[i].name, rows[i].before, rows[i].after);
}

static void emit(FILE *f, const struct loupe_filter *filter, const struct loupe_cbpf_insn *insns,
		 uint32_t cnt, enum loupe_filter_emit_as as)
{
	switch (as) {
	case LOUPE_EMIT_DDD:
		emit_ddd(f, insns, cnt);
		break;
	case LOUPE_EMIT_ASM:
		emit_lines(f, filter->flavour, insns, cnt, LOUPE_SYNTAX_ASM);
		break;
	case LOUPE_EMIT_WORDS:
		emit_lines(f, filter->flavour, insns, cnt, LOUPE_SYNTAX_WORDS);
		break;
	case LOUPE_EMIT_C:
		emit_c(f, filter->flavour, insns, cnt);
		break;
	case LOUPE_EMIT_RAW:
		emit_raw(f, insns, cnt);
		break;
	case LOUPE_EMIT_STATS:
		emit_stats(f, loupe_filter_stats_of(filter->flavour, filter->insns, filter->cnt),
			   loupe_filter_stats_of(filter->flavour, insns, cnt));
		break;
	}
}

int loupe_filter_emit(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
		      enum loupe_filter_emit_as as, char **out, size_t *len)
{
	const struct loupe_rewrite_prog *after = rw ? loupe_rewrite_after(rw) : NULL;
	struct loupe_cbpf_insn *insns = filter->insns;
	uint32_t cnt = filter->cnt;
	FILE *f;

	*out = NULL;
	*len = 0;
	if ((rw && (!after || loupe_rewrite_kind(rw) != LOUPE_REWRITE_CBPF)) ||
	    as > LOUPE_EMIT_STATS)
		return -EINVAL;
	if (after) {
		insns = malloc(after->cnt * sizeof(*insns));
		if (!insns)
			return -ENOMEM;
		cnt = after->cnt;
		for (uint32_t i = 0; i < cnt; i++)
			insns[i] = after->insns[i].cbpf;
	}
	f = open_memstream(out, len);
	if (f) {
		emit(f, filter, insns, cnt, as);
		if (fclose(f)) {
			free(*out);
			*out = NULL;
		}
	}
	if (after)
		free(insns);
	return *out ? 0 : -ENOMEM;
}
