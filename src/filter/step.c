// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program between two edits as a filter that runs. Its conditional jumps may lead farther than
 * they reach, because the edit that brings things near comes later: behind such a jump go two
 * unconditional ones, one for each side, which nothing else falls into.
 */
#include "filter/opcode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 255 };

struct stepper {
	const struct loupe_rewrite_prog *prog;
	uint8_t *far;  /* by index: two jumps stand behind it */
	uint32_t *pos; /* by index: place in what is made */
	uint32_t cnt;
};

static void number(struct stepper *s)
{
	s->cnt = 0;
	for (uint32_t i = 0; i < s->prog->cnt; i++) {
		s->pos[i] = s->cnt;
		s->cnt += s->far[i] ? 3 : 1;
	}
}

/* Marks the jumps that do not reach. @return whether there are new ones */
static bool mark(struct stepper *s)
{
	bool again = false;

	for (uint32_t i = 0; i < s->prog->cnt; i++) {
		if (s->far[i] || s->prog->jf[i] == LOUPE_NONE)
			continue;
		s->far[i] = s->pos[s->prog->jt[i]] - s->pos[i] - 1 > REACH ||
			    s->pos[s->prog->jf[i]] - s->pos[i] - 1 > REACH;
		again |= s->far[i];
	}
	return again;
}

static struct loupe_cbpf_insn jump(uint32_t from, uint32_t to)
{
	return (struct loupe_cbpf_insn){ BPF_JMP | BPF_JA, 0, 0, to - from - 1 };
}

static void write(const struct stepper *s, struct loupe_cbpf_insn *out)
{
	for (uint32_t i = 0; i < s->prog->cnt; i++) {
		uint32_t at = s->pos[i], jt = s->prog->jt[i], jf = s->prog->jf[i];

		out[at] = s->prog->insns[i].cbpf;
		if (s->far[i]) {
			out[at].jt = 0;
			out[at].jf = 1;
			out[at + 1] = jump(at + 1, s->pos[jt]);
			out[at + 2] = jump(at + 2, s->pos[jf]);
		} else if (jf != LOUPE_NONE) {
			out[at].jt = (uint8_t)(s->pos[jt] - at - 1);
			out[at].jf = (uint8_t)(s->pos[jf] - at - 1);
		} else if (jt != LOUPE_NONE) {
			out[at] = jump(at, s->pos[jt]);
		}
	}
}

static int make(const struct loupe_filter *filter, const struct loupe_rewrite_prog *prog,
		struct loupe_filter **out, struct loupe_error *err)
{
	struct stepper s = {
		.prog = prog,
		.far = calloc(prog->cnt + 1, sizeof(*s.far)),
		.pos = calloc(prog->cnt + 1, sizeof(*s.pos)),
	};
	struct loupe_cbpf_insn *insns = NULL;
	int ret = -ENOMEM;

	if (s.far && s.pos) {
		do
			number(&s);
		while (mark(&s));
		insns = calloc(s.cnt + 1, sizeof(*insns));
	}
	if (insns) {
		write(&s, insns);
		ret = loupe_filter_create(filter->name, insns, s.cnt, filter->flavour, out, err);
	} else {
		loupe_error_set(err, ret, "out of memory");
	}
	free(insns);
	free(s.far);
	free(s.pos);
	return ret;
}

int loupe_filter_at_edit(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
			 uint32_t n, struct loupe_filter **out, struct loupe_error *err)
{
	struct loupe_rewrite_prog prog;
	int ret;

	*out = NULL;
	if (loupe_rewrite_kind(rw) != LOUPE_REWRITE_CBPF)
		return loupe_error_set(err, -EINVAL, "not the rewrite of a filter");
	ret = loupe_rewrite_prog_at(rw, n, &prog);
	if (ret)
		return loupe_error_set(err, ret, "program after edit %u: %s", n, strerror(-ret));
	ret = make(filter, &prog, out, err);
	loupe_rewrite_prog_finish(&prog);
	return ret;
}
