// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging of returns: one that only conditional jumps lead to goes where an equal one stands
 * farther on, as far as all of these jumps reach.
 */
#include "filter/opt.h"

#include <errno.h>
#include <stdlib.h>

static const struct loupe_reason equal_return = { "equal-return",
						  "%i, %d, is the same and in reach of %i" };

struct landing {
	uint32_t first_jump; /* earliest conditional jump that leads here, LOUPE_NONE if none */
	bool fixed;	     /* the instruction before it goes on to it */
};

static void note_jumps(const struct filter_opt *opt, struct landing *landings)
{
	for (uint32_t i = 0; i < opt->list->id_cnt; i++)
		landings[i] = (struct landing){ .first_jump = LOUPE_NONE };
	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		enum loupe_way way[2];
		uint32_t to[2];

		for (unsigned int i = filter_ways(opt, id, to, way); i--;) {
			if (way[i] == LOUPE_WAY_FALL)
				landings[to[i]].fixed = true;
			else if (way[i] != LOUPE_WAY_JUMP &&
				 landings[to[i]].first_jump == LOUPE_NONE)
				landings[to[i]].first_jump = id;
		}
	}
}

/* The farthest equal return behind id that jump reaches, LOUPE_NONE if there is none. */
static uint32_t farthest_equal(const struct filter_opt *opt, uint32_t id, uint32_t jump)
{
	struct loupe_cbpf_insn insn = filter_insn(opt, id);
	uint32_t best = LOUPE_NONE;

	for (uint32_t at = filter_node(opt, id)->next; at != LOUPE_NONE;
	     at = filter_node(opt, at)->next) {
		struct loupe_cbpf_insn there = filter_insn(opt, at);

		if (opt->pos[at] - opt->pos[jump] - 1 > FILTER_REACH)
			break;
		if (there.code == insn.code && (there.k == insn.k || insn.code & BPF_A))
			best = at;
	}
	return best;
}

int filter_pass_return(struct filter_opt *opt)
{
	struct landing *landings;
	int edits = 0, err = 0;
	uint32_t next;

	/* The kernel's check of scratch memory looks at what stands behind a return. */
	if (opt->scratch)
		return 0;
	landings = malloc(opt->list->id_cnt * sizeof(*landings));
	if (!landings)
		return -ENOMEM;
	note_jumps(opt, landings);
	for (uint32_t id = opt->list->first; !err && id != LOUPE_NONE; id = next) {
		uint32_t jump = landings[id].first_jump, into;

		next = filter_node(opt, id)->next;
		if (!filter_is_ret(filter_insn(opt, id).code) || landings[id].fixed ||
		    jump == LOUPE_NONE)
			continue;
		into = farthest_equal(opt, id, jump);
		if (into == LOUPE_NONE)
			continue;
		if (landings[into].first_jump == LOUPE_NONE ||
		    opt->pos[landings[into].first_jump] > opt->pos[jump])
			landings[into].first_jump = jump;
		err = filter_merge(opt, id, into, &equal_return, FILTER_ARGS(into, into, jump));
		edits++;
	}
	free(landings);
	return err ? err : edits;
}
