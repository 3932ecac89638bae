// SPDX-License-Identifier: GPL-2.0-only
/* Jump threading: a jump that leads to an unconditional jump leads to where that one ends. */
#include "filter/opt.h"

static const struct loupe_reason over_ja = { "over-ja", "%i there is only a jump to %i" };
static const struct loupe_reason same_targets = { "same-targets",
						  "true and false both lead to %i" };
static const struct loupe_reason to_next = { "to-next", "%i is the next instruction anyway" };
static const struct loupe_reason to_return = { "to-return", "all it does is reach %i, %d" };

/*
 * Where a jump from id that leads to target may lead instead: to the last in the chain of
 * unconditional jumps that starts there, as far as reach goes.
 */
static uint32_t end_of_chain(const struct filter_opt *opt, uint32_t id, uint32_t target,
			     uint32_t reach)
{
	uint32_t best = target;

	while (filter_is_ja(filter_insn(opt, target).code)) {
		target = rewrite_list_target(opt->list, target, LOUPE_WAY_JUMP);
		if (opt->pos[target] - opt->pos[id] - 1 <= reach)
			best = target;
	}
	return best;
}

static int thread_cond(struct filter_opt *opt, uint32_t id)
{
	uint32_t to[2];
	enum loupe_way way[2];
	int edits = 0, err;

	filter_ways(opt, id, to, way);
	for (int i = 0; i < 2; i++) {
		uint32_t best = end_of_chain(opt, id, to[i], FILTER_REACH);

		if (best == to[i])
			continue;
		err = filter_retarget(opt, id, way[i], best, &over_ja, FILTER_ARGS(to[i], best));
		if (err)
			return err;
		to[i] = best;
		edits++;
	}
	if (to[0] == to[1]) {
		err = filter_replace(opt, id, (struct loupe_cbpf_insn){ BPF_JMP | BPF_JA, 0, 0, 0 },
				     to[0], &same_targets, FILTER_ARGS(to[0]));
		if (err)
			return err;
		edits++;
	}
	return edits;
}

static int thread_ja(struct filter_opt *opt, uint32_t id)
{
	uint32_t to = rewrite_list_target(opt->list, id, LOUPE_WAY_JUMP);
	uint32_t end = end_of_chain(opt, id, to, UINT32_MAX);
	struct loupe_cbpf_insn there = filter_insn(opt, end);
	int edits = 0, err;

	if (end != to) {
		err = filter_retarget(opt, id, LOUPE_WAY_JUMP, end, &over_ja, FILTER_ARGS(to, end));
		if (err)
			return err;
		edits++;
	}
	if (end == filter_node(opt, id)->next)
		err = filter_remove(opt, id, 1, &to_next, FILTER_ARGS(end));
	else if (filter_is_ret(there.code) && filter_scratch_ok(opt, id, LOUPE_NONE, 0))
		err = filter_replace(opt, id, there, LOUPE_NONE, &to_return, FILTER_ARGS(end, end));
	else
		return edits;
	return err ? err : edits + 1;
}

int filter_pass_thread(struct filter_opt *opt)
{
	uint32_t next;
	int edits = 0;

	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = next) {
		uint16_t code = filter_insn(opt, id).code;
		int made = 0;

		next = filter_node(opt, id)->next;
		if (filter_is_cond(code))
			made = thread_cond(opt, id);
		if (made >= 0 && filter_is_ja(filter_insn(opt, id).code)) {
			int more = thread_ja(opt, id);

			made = more < 0 ? more : made + more;
		}
		if (made < 0)
			return made;
		edits += made;
	}
	return edits;
}
