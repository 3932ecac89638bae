// SPDX-License-Identifier: GPL-2.0-only
#include "filter/opcode.h"

static bool reads_input(enum loupe_filter_flavour flavour, struct loupe_cbpf_insn insn)
{
	struct loupe_filter_read read = loupe_filter_read_of(flavour, insn);

	return read.word != LOUPE_WORD_NONE && read.word != LOUPE_WORD_IMM &&
	       read.word != LOUPE_WORD_MEM;
}

struct loupe_filter_stats loupe_filter_stats_of(enum loupe_filter_flavour flavour,
						const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	/* Longest way to each instruction, 0 if none leads there; whether one begins a block. */
	uint32_t longest[LOUPE_FILTER_MAX_INSNS + 1] = { [0] = 1 };
	bool leader[LOUPE_FILTER_MAX_INSNS + 1] = { [0] = true };
	struct loupe_filter_stats stats = { .insns = cnt };

	for (uint32_t i = 0; i < cnt && cnt <= LOUPE_FILTER_MAX_INSNS; i++) {
		uint32_t to[2] = { i + 1, i + 1 };
		bool jumps = true;

		stats.loads += reads_input(flavour, insns[i]);
		if (filter_is_cond(insns[i].code)) {
			stats.branches++;
			to[0] += insns[i].jt;
			to[1] += insns[i].jf;
		} else if (filter_is_ja(insns[i].code)) {
			stats.jumps++;
			to[0] = to[1] = i + 1 + insns[i].k;
		} else {
			jumps = false;
		}
		if (filter_is_ret(insns[i].code)) {
			stats.returns++;
			if (longest[i] > stats.longest)
				stats.longest = longest[i];
			/* What follows starts a block if anything leads there. */
			leader[i + 1] = true;
			continue;
		}
		leader[i + 1] |= jumps;
		for (int way = 0; longest[i] && way < 2; way++) {
			leader[to[way]] |= jumps;
			if (longest[to[way]] < longest[i] + 1)
				longest[to[way]] = longest[i] + 1;
		}
	}
	for (uint32_t i = 0; i < cnt && cnt <= LOUPE_FILTER_MAX_INSNS; i++)
		stats.blocks += leader[i] && longest[i];
	return stats;
}
