/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs made at random for the graph's tests and benchmarks; the same seed, the same program. */
#ifndef TESTS_CFG_RANDOM_H
#define TESTS_CFG_RANDOM_H

#include "bpfloupe/cfg.h"

#include <stdlib.h>

static inline uint32_t rnd(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/*
 * A program of cnt slots: jumps reach at most span slots; one in back jumps goes backwards (0:
 * none). Every slot is its own instruction.
 */
static inline struct loupe_cfg_insn *random_program(uint32_t cnt, uint32_t span, uint32_t back,
						    uint64_t seed)
{
	struct loupe_cfg_insn *insns = calloc(cnt, sizeof(*insns));

	for (uint32_t i = 0; i + 1 < cnt; i++) {
		uint32_t pick = rnd(&seed) % 10, to, reach;

		insns[i].op = LOUPE_CFG_NEXT;
		if (pick >= 5)
			continue;
		reach = 1 + rnd(&seed) % span;
		if (back && rnd(&seed) % back == 0)
			to = reach > i ? 0 : i - reach;
		else
			to = i + 1 + reach >= cnt ? cnt - 1 : i + 1 + reach;
		insns[i].target = to;
		insns[i].other = i + 1;
		insns[i].op = pick == 0 ? LOUPE_CFG_JUMP : LOUPE_CFG_COND;
		if (pick == 1 && rnd(&seed) % 4 == 0)
			insns[i].op = LOUPE_CFG_EXIT;
	}
	insns[cnt - 1].op = LOUPE_CFG_EXIT;
	return insns;
}

/*
 * The shape of compiled code: nested ifs, if/else, loops and early exits, about blocks of them.
 * Fills at most size slots, returns how many.
 */
static inline uint32_t emit_body(struct loupe_cfg_insn *insns, uint32_t at, uint32_t size,
				 uint32_t depth, uint64_t *seed)
{
	uint32_t end = at + size;

	while (at + 16 < end) {
		uint32_t pick = rnd(seed) % 8, room = (end - at - 8) / (depth < 6 ? 2 : 1);
		uint32_t inner = 1 + rnd(seed) % (depth < 8 && room > 1 ? room : 1), start = at;

		for (uint32_t i = rnd(seed) % 3; i > 0; i--)
			insns[at++].op = LOUPE_CFG_NEXT;
		if (pick < 3) { /* if */
			uint32_t cond = at++;

			at = emit_body(insns, at, inner, depth + 1, seed);
			insns[cond] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, at, cond + 1 };
		} else if (pick < 5) { /* if else */
			uint32_t cond = at++, jump;

			at = emit_body(insns, at, inner / 2, depth + 1, seed);
			jump = at++;
			insns[cond] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, at, cond + 1 };
			at = emit_body(insns, at, inner / 2, depth + 1, seed);
			insns[jump] = (struct loupe_cfg_insn){ LOUPE_CFG_JUMP, at, 0 };
		} else if (pick == 5) { /* do while */
			at = emit_body(insns, at, inner, depth + 1, seed);
			insns[at] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, start, at + 1 };
			at++;
		} else if (pick == 6) { /* early exit; slot 1 loads a result */
			insns[at] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, at + 2, at + 1 };
			insns[at + 1].op = LOUPE_CFG_EXIT;
			at += 2;
		} else {
			insns[at++].op = LOUPE_CFG_NEXT;
		}
	}
	insns[at++].op = LOUPE_CFG_NEXT;
	return at;
}

/* A structured program of about size slots; *cnt is its length. */
static inline struct loupe_cfg_insn *structured_program(uint32_t size, uint64_t seed, uint32_t *cnt)
{
	struct loupe_cfg_insn *insns = calloc(size + 64, sizeof(*insns));
	uint32_t end = emit_body(insns, 0, size, 0, &seed);

	insns[end].op = LOUPE_CFG_EXIT;
	*cnt = end + 1;
	return insns;
}

#endif
