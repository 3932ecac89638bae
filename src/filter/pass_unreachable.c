// SPDX-License-Identifier: GPL-2.0-only
/* Unreachable code: jumps go forward only, so one walk in order finds it. */
#include "filter/opt.h"

#include <errno.h>
#include <stdlib.h>

static const struct loupe_reason led_away = { "led-away",
					      "no way leads here since %i (%e) leads to %i" };
static const struct loupe_reason now_return = { "now-return",
						"no way leads here since %i is a return" };
static const struct loupe_reason never = { "never-reached",
					   "no jump leads here, and %i before it does not go on" };

static int remove_run(struct filter_opt *opt, uint32_t first, uint32_t cnt)
{
	uint32_t id = first;

	for (uint32_t i = 0; i < cnt; i++, id = filter_node(opt, id)->next) {
		struct filter_lost lost = opt->lost[id];

		if (lost.from == LOUPE_NONE)
			continue;
		if (lost.to == LOUPE_NONE)
			return filter_remove(opt, first, cnt, &now_return, FILTER_ARGS(lost.from));
		return filter_remove(opt, first, cnt, &led_away,
				     FILTER_ARGS(lost.from, lost.way, lost.to));
	}
	return filter_remove(opt, first, cnt, &never, FILTER_ARGS(filter_node(opt, first)->prev));
}

static void reach_from(const struct filter_opt *opt, uint32_t id, bool *reached)
{
	enum loupe_way way[2];
	uint32_t to[2];

	for (unsigned int i = filter_ways(opt, id, to, way); i--;) {
		if (to[i] != LOUPE_NONE)
			reached[to[i]] = true;
	}
}

/* Takes a run out, or, where the kernel's check needs it, keeps it and what it leads to. */
static int settle_run(struct filter_opt *opt, uint32_t first, uint32_t cnt, bool *reached)
{
	int err;

	if (filter_scratch_ok(opt, LOUPE_NONE, first, cnt)) {
		err = remove_run(opt, first, cnt);
		return err ? err : 1;
	}
	for (uint32_t id = first; cnt--; id = filter_node(opt, id)->next)
		reach_from(opt, id, reached);
	return 0;
}

int filter_pass_unreachable(struct filter_opt *opt)
{
	bool *reached = calloc(opt->list->id_cnt, sizeof(*reached));
	uint32_t run = LOUPE_NONE, cnt = 0, next;
	int edits = 0, made = 0;

	if (!reached)
		return -ENOMEM;
	reached[opt->list->first] = true;
	for (uint32_t id = opt->list->first; made >= 0 && id != LOUPE_NONE; id = next) {
		next = filter_node(opt, id)->next;
		if (reached[id])
			reach_from(opt, id, reached);
		else if (!cnt++)
			run = id;
		if (cnt && (reached[id] || next == LOUPE_NONE)) {
			made = settle_run(opt, run, cnt, reached);
			edits += made;
			cnt = 0;
		}
	}
	free(reached);
	return made < 0 ? made : edits;
}
