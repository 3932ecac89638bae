// SPDX-License-Identifier: GPL-2.0-only
/* All differences of a comparison, not only the one that decided. */
#include "prune.h"

#include <errno.h>
#include <stdlib.h>

int prune_fill_diffs(struct prune_view *prune, const struct loupe_compare_info *compare)
{
	int rc;

	if (prune->diffs && prune->differing == compare->row)
		return 0;
	if (!prune->diffs)
		prune->diffs = calloc(PRUNE_DIFFS, sizeof(*prune->diffs));
	if (!prune->diffs)
		return -ENOMEM;
	prune->differing = compare->row;
	rc = loupe_cursor_compare_diffs(prune->then, prune->now, compare->row, prune->diffs,
					PRUNE_DIFFS, &prune->diff_cnt);
	if (rc || prune->diff_cnt > PRUNE_DIFFS)
		prune->diff_cnt = 0;
	if (rc)
		prune->differing = LOUPE_NO_ROW;
	return rc;
}

struct loupe_compare_info prune_diff_info(const struct loupe_compare_info *compare,
					  const struct loupe_diff *diff)
{
	struct loupe_compare_info info = *compare;

	info.diff = diff->kind;
	info.frameno = (uint8_t)diff->frameno;
	info.reg = diff->reg;
	info.spi = diff->spi;
	return info;
}

static bool loc_of(const struct loupe_diff *diff, struct loupe_loc *loc)
{
	struct loupe_compare_info info = { .reg = -1, .spi = -1 };

	info = prune_diff_info(&info, diff);
	return prune_loc(&info, loc);
}

const struct loupe_diff *prune_diff_of(const struct prune_view *prune, struct loupe_loc loc)
{
	struct loupe_loc at;

	for (uint32_t i = 0; i < prune->diff_cnt; i++) {
		if (loc_of(&prune->diffs[i], &at) && at.kind == loc.kind &&
		    at.frameno == loc.frameno && at.index == loc.index)
			return &prune->diffs[i];
	}
	return NULL;
}

void prune_other_diffs(const struct prune_view *prune, char *buf, size_t size)
{
	struct loupe_loc loc;
	char name[32];
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 1; i < prune->diff_cnt && len < size; i++) {
		if (loc_of(&prune->diffs[i], &loc))
			words_loc(&loc, false, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "%s", prune_kind_words(prune->diffs[i].kind));
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i > 1 ? ", " : "", name);
	}
}
