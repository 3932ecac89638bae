// SPDX-License-Identifier: GPL-2.0-only
/*
 * A classic conditional jump skips at most 255 instructions. One that must lead farther goes to a
 * jump in between: one that is there already, or a new one right behind it (both of its sides name
 * their target, so nothing falls into the new one). Where the target is a return, its copy serves
 * better.
 */
#include "filter/opt.h"

static const struct loupe_reason too_far = {
	"too-far", "%i is %u instructions away from %i (%e), which reaches 255"
};
static const struct loupe_reason by_way = { "by-way", "%i goes to %i, which is too far from here" };

static bool same_insn(struct loupe_cbpf_insn a, struct loupe_cbpf_insn b)
{
	return a.code == b.code && a.k == b.k;
}

/* Something within reach of id that does what target does; LOUPE_NONE if there is nothing. */
static uint32_t find_stand_in(const struct filter_opt *opt, uint32_t id, uint32_t target)
{
	struct loupe_cbpf_insn there = filter_insn(opt, target);
	uint32_t at = filter_node(opt, id)->next;

	for (uint32_t i = 0; i <= FILTER_REACH && at != LOUPE_NONE; i++) {
		struct loupe_cbpf_insn insn = filter_insn(opt, at);

		if (filter_is_ja(insn.code) &&
		    rewrite_list_target(opt->list, at, LOUPE_WAY_JUMP) == target)
			return at;
		if (filter_is_ret(insn.code) && same_insn(insn, there))
			return at;
		at = filter_node(opt, at)->next;
	}
	return LOUPE_NONE;
}

static int bring_near(struct filter_opt *opt, uint32_t id, enum loupe_way way, uint32_t target,
		      uint32_t distance, bool *inserted)
{
	struct loupe_cbpf_insn insn = filter_insn(opt, target);
	uint32_t stand_in = find_stand_in(opt, id, target), jt = LOUPE_NONE;
	int err;

	*inserted = stand_in == LOUPE_NONE;
	if (*inserted) {
		/* A return behind a branch would upset the kernel's check of scratch memory. */
		if (!filter_is_ret(insn.code) || opt->scratch) {
			insn = (struct loupe_cbpf_insn){ BPF_JMP | BPF_JA, 0, 0, 0 };
			jt = target;
		}
		err = filter_insert(opt, filter_node(opt, id)->next, insn, jt, &too_far,
				    FILTER_ARGS(target, distance, id, way), &stand_in);
		if (!err)
			err = filter_opt_number(opt);
		if (err)
			return err;
	}
	return filter_retarget(opt, id, way, stand_in, &by_way, FILTER_ARGS(stand_in, target));
}

int filter_make_reach(struct filter_opt *opt)
{
	uint32_t id;
	int edits = 0, err = filter_opt_number(opt);

	if (err)
		return err;
again:
	for (id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		enum loupe_way way[2];
		uint32_t to[2];

		if (!filter_is_cond(filter_insn(opt, id).code))
			continue;
		filter_ways(opt, id, to, way);
		for (int i = 0; i < 2; i++) {
			uint32_t distance = opt->pos[to[i]] - opt->pos[id] - 1;
			bool inserted;

			if (distance <= FILTER_REACH)
				continue;
			err = bring_near(opt, id, way[i], to[i], distance, &inserted);
			if (err)
				return err;
			edits += 1 + inserted;
			/* What is before may be out of reach now. */
			if (inserted)
				goto again;
		}
	}
	return edits;
}
