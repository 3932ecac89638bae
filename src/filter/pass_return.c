// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging of returns. Each conditional jump to a return is content with any equal return that it
 * reaches. Taking the jumps in order and giving each one that no kept return serves the farthest
 * that it reaches keeps the fewest (points that stab intervals; Cormen et al., Greedy Algorithms).
 */
#include "filter/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct loupe_reason equal_return = { "equal-return",
						  "%i, %d, is the same and in reach of %i" };
static const struct loupe_reason other_equal = { "other-equal-return",
						 "%i, %d, is the same as %i and in reach" };

/* What the pass knows of a return. */
struct landing {
	uint32_t next;	/* next equal return in the order, LOUPE_NONE if it is the last */
	uint32_t group; /* number of its kind */
	uint32_t into;	/* not kept: where all its jumps go, LOUPE_NONE when they part */
	bool fixed;	/* the instruction before it goes on to it */
	bool kept;
	bool jumped; /* into is set */
};

/* Returns of a kind. */
struct group {
	struct loupe_cbpf_insn insn;
	uint32_t last;	 /* newest one that was found */
	uint32_t chosen; /* newest one that was chosen to be kept, LOUPE_NONE if none yet */
};

struct merger {
	struct filter_opt *opt;
	struct landing *landings; /* by id, for returns */
	struct group *groups;
	uint32_t group_cnt;
	uint32_t (*serves)[2]; /* by id, for conditional jumps: the return for true and false */
};

static bool is_return(const struct filter_opt *opt, uint32_t id)
{
	return filter_is_ret(filter_insn(opt, id).code);
}

static uint32_t find_group(struct merger *m, struct loupe_cbpf_insn insn)
{
	uint32_t g = 0;

	while (g < m->group_cnt &&
	       (m->groups[g].insn.code != insn.code || m->groups[g].insn.k != insn.k))
		g++;
	if (g == m->group_cnt)
		m->groups[m->group_cnt++] = (struct group){ insn, LOUPE_NONE, LOUPE_NONE };
	return g;
}

/* Chains equal returns and notes those that something else than a conditional jump leads to. */
static void find_returns(struct merger *m)
{
	const struct filter_opt *opt = m->opt;

	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		struct landing *landing = &m->landings[id];
		enum loupe_way way[2];
		uint32_t to[2];

		for (unsigned int i = filter_ways(opt, id, to, way); i--;) {
			if (way[i] == LOUPE_WAY_FALL || way[i] == LOUPE_WAY_JUMP)
				m->landings[to[i]].fixed = m->landings[to[i]].kept = true;
		}
		if (!is_return(opt, id))
			continue;
		landing->next = LOUPE_NONE;
		landing->group = find_group(m, filter_insn(opt, id));
		if (m->groups[landing->group].last != LOUPE_NONE)
			m->landings[m->groups[landing->group].last].next = id;
		m->groups[landing->group].last = id;
	}
}

/* The return that serves a jump at id which leads to target now. */
static uint32_t serve(struct merger *m, uint32_t id, uint32_t target)
{
	const uint32_t *pos = m->opt->pos;
	struct group *group = &m->groups[m->landings[target].group];
	uint32_t best = LOUPE_NONE, fixed = LOUPE_NONE;

	if (group->chosen != LOUPE_NONE && pos[group->chosen] > pos[id])
		return group->chosen;
	for (uint32_t at = target; at != LOUPE_NONE; at = m->landings[at].next) {
		if (pos[at] - pos[id] - 1 > FILTER_REACH)
			break;
		best = at;
		if (m->landings[at].fixed)
			fixed = at;
	}
	if (fixed != LOUPE_NONE)
		return fixed;
	group->chosen = best;
	m->landings[best].kept = true;
	return best;
}

static void serve_all(struct merger *m)
{
	const struct filter_opt *opt = m->opt;

	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		enum loupe_way way[2];
		uint32_t to[2];

		if (!filter_is_cond(filter_insn(opt, id).code))
			continue;
		filter_ways(opt, id, to, way);
		for (int i = 0; i < 2; i++) {
			struct landing *landing = &m->landings[to[i]];

			if (!is_return(opt, to[i]))
				continue;
			m->serves[id][i] = serve(m, id, to[i]);
			if (!landing->jumped)
				landing->into = m->serves[id][i];
			else if (landing->into != m->serves[id][i])
				landing->into = LOUPE_NONE;
			landing->jumped = true;
		}
	}
}

/* Sends the jumps of a return that is not kept to those that serve them. */
static int redirect(struct merger *m, uint32_t id, enum loupe_way way, uint32_t target,
		    uint32_t serving)
{
	const struct landing *landing = &m->landings[target];

	if (landing->into != LOUPE_NONE)
		return filter_merge(m->opt, target, landing->into, &equal_return,
				    FILTER_ARGS(landing->into, landing->into, id));
	return filter_retarget(m->opt, id, way, serving, &other_equal,
			       FILTER_ARGS(serving, serving, target));
}

static int redirect_all(struct merger *m)
{
	const struct filter_opt *opt = m->opt;
	int edits = 0;

	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		enum loupe_way way[2];
		uint32_t to[2];

		if (!filter_is_cond(filter_insn(opt, id).code))
			continue;
		for (int i = 0; i < 2; i++) {
			int err;

			/* The other side may have led to the same one, which is gone then. */
			filter_ways(opt, id, to, way);
			if (!is_return(opt, to[i]) || m->landings[to[i]].kept)
				continue;
			err = redirect(m, id, way[i], to[i], m->serves[id][i]);
			if (err)
				return err;
			edits++;
		}
	}
	return edits;
}

int filter_pass_return(struct filter_opt *opt)
{
	uint32_t cnt = opt->list->id_cnt;
	struct merger m = { .opt = opt };
	int edits = -ENOMEM;

	/* The kernel's check of scratch memory looks at what stands behind a return. */
	if (opt->scratch)
		return 0;
	m.landings = calloc(cnt, sizeof(*m.landings));
	m.groups = calloc(cnt, sizeof(*m.groups));
	m.serves = calloc(cnt, sizeof(*m.serves));
	if (m.landings && m.groups && m.serves) {
		find_returns(&m);
		serve_all(&m);
		edits = redirect_all(&m);
	}
	free(m.landings);
	free(m.groups);
	free(m.serves);
	return edits;
}
