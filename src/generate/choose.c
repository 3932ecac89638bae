// SPDX-License-Identifier: GPL-2.0-only
/* Random choices, and what registers hold. */
#include "generate/gen.h"

/* splitmix64, Steele et al., OOPSLA 2014. */
uint64_t gen_next_random(struct gen *gen)
{
	uint64_t z = gen->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

int gen_below(struct gen *gen, int n)
{
	return (int)(gen_next_random(gen) % (uint64_t)n);
}

bool gen_one_in(struct gen *gen, int n)
{
	return gen_below(gen, n) == 0;
}

int64_t gen_constant(struct gen *gen)
{
	static const int64_t odd[] = { 0,
				       1,
				       -1,
				       2,
				       7,
				       8,
				       15,
				       16,
				       31,
				       63,
				       64,
				       255,
				       256,
				       0x7fff,
				       0xffff,
				       0x7fffffff,
				       -0x80000000ll,
				       -8,
				       -16,
				       4095,
				       100,
				       1000 };

	if (gen_one_in(gen, 3))
		return (int32_t)gen_next_random(gen);
	return odd[gen_below(gen, sizeof(odd) / sizeof(odd[0]))];
}

/* A register of that kind, or -1. */
int gen_pick(struct gen *gen, enum kind kind)
{
	int start = gen_below(gen, REGS);

	for (int i = 0; i < REGS; i++) {
		int r = (start + i) % REGS;

		if (gen->now.reg[r].kind == kind)
			return r;
	}
	return -1;
}

/* r6 always holds the context; some loops keep their counter in a register. */
bool gen_is_pinned(const struct gen *gen, int r)
{
	return r == 6 || (gen->counters >> r & 1);
}

/* A register to write to. */
int gen_target(struct gen *gen)
{
	for (;;) {
		int r = gen_below(gen, REGS);

		if (!gen_is_pinned(gen, r))
			return r;
	}
}

void gen_set_number(struct gen *gen, int r, uint64_t max)
{
	gen->now.reg[r] = (struct reg){ .kind = NUMBER, .max = max };
}

void gen_put(struct gen *gen, int at)
{
	gen->failed |= at < 0;
}
