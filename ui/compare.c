// SPDX-License-Identifier: GPL-2.0-only
/* Aligns two explorations. */
#include "compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"

enum {
	MAX_TABLE = 16 << 20,  /* cells of the table that aligns lines */
	WINDOW = 400,	       /* runs looked ahead to find where both go on alike */
	MAX_LOOKS = 200 << 20, /* of such looks in all */
	TEXT = 256,
};

/* --- lines ----------------------------------------------------------------------------------- */

/* A line of one side, in the order of its first insn. */
struct own_line {
	char *text;
	uint32_t line;
	int32_t insn;
	uint32_t id; /* of both sides */
};

struct own_lines {
	struct own_line *at;
	uint32_t cnt;
	uint32_t *of_insn;
};

static uint32_t find_own(const struct own_lines *own, const char *text, uint32_t line)
{
	/* lines near by are the likely ones */
	for (uint32_t i = own->cnt; i-- > 0;) {
		if (own->at[i].line == line && !strcmp(own->at[i].text, text))
			return i;
	}
	return own->cnt;
}

static void insn_text(const struct loupe_trace *trace, const struct loupe_source *source,
		      uint32_t insn, char *buf, size_t size)
{
	const struct loupe_insn *insns = loupe_trace_insns(trace);
	struct loupe_insn_print_opts opts = loupe_source_print_opts(source, true);
	struct loupe_insn two[2] = { insns[insn] };

	if (insn + 1 < loupe_trace_insn_cnt(trace))
		two[1] = insns[insn + 1];
	loupe_insn_print(buf, size, two, &opts);
}

static int list_lines(const struct loupe_trace *trace, const struct loupe_source *source,
		      bool by_line, struct own_lines *own)
{
	uint32_t cnt = loupe_trace_insn_cnt(trace);

	own->at = calloc((size_t)cnt + 1, sizeof(*own->at));
	own->of_insn = calloc((size_t)cnt + 1, sizeof(*own->of_insn));
	if (!own->at || !own->of_insn)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		struct loupe_source_line line;
		char text[TEXT];
		uint32_t n = own->cnt;

		if (by_line && loupe_source_line_of(source, i, &line)) {
			snprintf(text, sizeof(text), "%s", line.text);
			n = find_own(own, text, line.line);
		} else {
			line.line = 0;
			insn_text(trace, source, i, text, sizeof(text));
		}
		own->of_insn[i] = n;
		if (n < own->cnt)
			continue;
		own->at[n] = (struct own_line){ .text = strdup(text),
						.line = line.line,
						.insn = (int32_t)i };
		if (!own->at[n].text)
			return -ENOMEM;
		own->cnt++;
	}
	return 0;
}

static bool same_text(const struct own_line *a, const struct own_line *b)
{
	return !a->line == !b->line && !strcmp(a->text, b->text);
}

/* Numbers lines of both: one that is in both has one number. The longest common sequence decides.
 */
static int match_lines(struct compare *c, struct own_lines own[COMPARE_SIDES])
{
	uint32_t n = own[0].cnt, m = own[1].cnt, i = 0, j = 0;
	uint16_t *best = NULL;

	c->lines = calloc((size_t)n + m + 1, sizeof(*c->lines));
	if (!c->lines)
		return -ENOMEM;
	if (n < UINT16_MAX && m < UINT16_MAX && (uint64_t)(n + 1) * (m + 1) <= MAX_TABLE) {
		best = calloc((size_t)(n + 1) * (m + 1), sizeof(*best));
		if (!best)
			return -ENOMEM;
		for (uint32_t x = n; x-- > 0;) {
			for (uint32_t y = m; y-- > 0;) {
				uint16_t *at = &best[(size_t)x * (m + 1) + y];
				uint16_t down = at[m + 1], right = at[1];

				*at = same_text(&own[0].at[x], &own[1].at[y])
					      ? (uint16_t)(at[m + 2] + 1)
				      : down > right ? down
						     : right;
			}
		}
	}
	while (i < n || j < m) {
		struct compare_line *line = &c->lines[c->line_cnt];
		bool both = i < n && j < m && same_text(&own[0].at[i], &own[1].at[j]);
		/* without a table, what is not alike goes side by side */
		bool of_a = i < n && (both || j == m || !best ||
				      best[(size_t)(i + 1) * (m + 1) + j] >=
					      best[(size_t)i * (m + 1) + j + 1]);
		struct own_line *own_line = of_a ? &own[0].at[i] : &own[1].at[j];

		*line = (struct compare_line){ .text = strdup(own_line->text),
					       .insn = { COMPARE_NONE, COMPARE_NONE } };
		if (!line->text) {
			free(best);
			return -ENOMEM;
		}
		for (int side = 0; side < COMPARE_SIDES; side++) {
			if (!both && of_a != !side)
				continue;
			own_line = side ? &own[1].at[j++] : &own[0].at[i++];
			line->line[side] = own_line->line;
			line->insn[side] = own_line->insn;
			own_line->id = c->line_cnt;
		}
		c->line_cnt++;
	}
	free(best);
	return 0;
}

static bool has_lines(const struct loupe_trace *trace, const struct loupe_source *source)
{
	struct loupe_source_line line;

	for (uint32_t i = 0; i < loupe_trace_insn_cnt(trace); i++) {
		if (loupe_source_line_of(source, i, &line) && *line.text)
			return true;
	}
	return false;
}

static int make_lines(struct compare *c)
{
	struct own_lines own[COMPARE_SIDES] = { 0 };
	int rc = 0;

	c->by_line = has_lines(c->trace[0], c->source[0]) && has_lines(c->trace[1], c->source[1]);
	for (int side = 0; side < COMPARE_SIDES && !rc; side++)
		rc = list_lines(c->trace[side], c->source[side], c->by_line, &own[side]);
	if (!rc)
		rc = match_lines(c, own);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		uint32_t cnt = loupe_trace_insn_cnt(c->trace[side]);

		for (uint32_t i = 0; i < cnt && !rc; i++)
			own[side].of_insn[i] = own[side].at[own[side].of_insn[i]].id;
		c->line_of[side] = own[side].of_insn;
		for (uint32_t i = 0; i < own[side].cnt; i++)
			free(own[side].at[i].text);
		free(own[side].at);
	}
	return rc;
}

/* --- runs ------------------------------------------------------------------------------------ */

static enum compare_end end_of(const struct loupe_step_info *info)
{
	if (info->flags & LOUPE_STEP_ERROR)
		return COMPARE_REJECTED;
	if (info->flags & LOUPE_STEP_PRUNED)
		return COMPARE_PRUNED;
	return info->flags & LOUPE_STEP_PATH_END ? COMPARE_EXITS : COMPARE_GOES_ON;
}

static int make_runs(struct compare *c, int side)
{
	const struct loupe_trace *trace = c->trace[side];
	uint32_t cnt = loupe_trace_step_cnt(trace);
	struct compare_run *runs = malloc(((size_t)cnt + 1) * sizeof(*runs)), *run = NULL;
	int64_t n = 0;

	c->runs[side] = runs;
	if (!runs)
		return -ENOMEM;
	for (uint32_t s = 0; s < cnt; s++) {
		struct loupe_step_info info;
		uint32_t line;

		loupe_trace_step(trace, s, &info);
		line = c->line_of[side][info.insn_idx];
		c->lines[line].cost[side]++;
		if (!run || run->line != line || info.flags & LOUPE_STEP_PATH_START) {
			run = &runs[n++];
			*run = (struct compare_run){ .step = s, .line = line };
		}
		run->cnt++;
		run->end = end_of(&info);
	}
	c->run_cnt[side] = n;
	return 0;
}

static bool same_run(const struct compare *c, int64_t a, int64_t b)
{
	return a < c->run_cnt[0] && b < c->run_cnt[1] && c->runs[0][a].line == c->runs[1][b].line &&
	       c->runs[0][a].end == c->runs[1][b].end;
}

/* How many runs each side goes on alone before both are alike again. False if that is too far. */
static bool find_again(const struct compare *c, int64_t a, int64_t b, int64_t *skip_a,
		       int64_t *skip_b, uint64_t *looks)
{
	for (int64_t all = 1; all <= WINDOW; all++) {
		for (int64_t x = 0; x <= all; x++) {
			if (++*looks > MAX_LOOKS)
				return false;
			/* one run alike may be chance, unless it is the last */
			if (!same_run(c, a + x, b + all - x) ||
			    (!same_run(c, a + x + 1, b + all - x + 1) &&
			     a + x + 1 < c->run_cnt[0] && b + all - x + 1 < c->run_cnt[1]))
				continue;
			*skip_a = x;
			*skip_b = all - x;
			return true;
		}
	}
	return false;
}

static void add_pair(struct compare *c, int64_t a, int64_t b, bool same)
{
	if (!same && c->first < 0)
		c->first = c->pair_cnt;
	c->pairs[c->pair_cnt++] = (struct compare_pair){ { a, b }, same };
}

static int make_pairs(struct compare *c)
{
	int64_t a = 0, b = 0, skip_a, skip_b;
	uint64_t looks = 0;

	c->first = -1;
	c->pairs = malloc((size_t)(c->run_cnt[0] + c->run_cnt[1] + 1) * sizeof(*c->pairs));
	if (!c->pairs)
		return -ENOMEM;
	while (a < c->run_cnt[0] && b < c->run_cnt[1]) {
		if (same_run(c, a, b)) {
			add_pair(c, a++, b++, true);
			continue;
		}
		/* the same line that ends otherwise belongs together */
		if (c->runs[0][a].line == c->runs[1][b].line) {
			add_pair(c, a++, b++, false);
			continue;
		}
		if (!find_again(c, a, b, &skip_a, &skip_b, &looks)) {
			add_pair(c, a++, b++, false);
			continue;
		}
		for (; skip_a && skip_b; skip_a--, skip_b--)
			add_pair(c, a++, b++, false);
		for (; skip_a; skip_a--)
			add_pair(c, a++, COMPARE_NONE, false);
		for (; skip_b; skip_b--)
			add_pair(c, COMPARE_NONE, b++, false);
	}
	while (a < c->run_cnt[0])
		add_pair(c, a++, COMPARE_NONE, false);
	while (b < c->run_cnt[1])
		add_pair(c, COMPARE_NONE, b++, false);
	return 0;
}

/* --- words ----------------------------------------------------------------------------------- */

void compare_place(const struct compare *c, int side, uint32_t line, char *buf, size_t size)
{
	const struct compare_line *l = &c->lines[line];

	if (l->line[side])
		snprintf(buf, size, ":%u", l->line[side]);
	else if (l->insn[side] != COMPARE_NONE)
		snprintf(buf, size, "insn %d", l->insn[side]);
	else
		snprintf(buf, size, "-");
}

/* What a side does at its run: 'is pruned at :12 "if (x)" (step 40)'. */
static void deed(const struct compare *c, int side, int64_t run, bool tell_line, char *buf,
		 size_t size)
{
	static const char *const words[] = {
		[COMPARE_GOES_ON] = "goes on at",
		[COMPARE_PRUNED] = "is pruned at",
		[COMPARE_EXITS] = "exits at",
		[COMPARE_REJECTED] = "is rejected at",
	};
	const struct compare_run *r;
	char place[40];

	if (run == COMPARE_NONE) {
		/* the other side alone goes on */
		snprintf(buf, size, "is done");
		return;
	}
	r = &c->runs[side][run];
	compare_place(c, side, r->line, place, sizeof(place));
	if (tell_line)
		snprintf(buf, size, "%s %s \"%.40s\" (step %u)", words[r->end], place,
			 c->lines[r->line].text, r->step);
	else
		snprintf(buf, size, "%s %s (step %u)", words[r->end], place, r->step);
}

static void make_words(struct compare *c)
{
	const struct compare_pair *pair;
	int64_t run[COMPARE_SIDES];
	char a[160], b[160];
	bool tell_line;

	if (c->first < 0) {
		snprintf(c->words, sizeof(c->words),
			 "Both take the same way, line by line: %lld stretches.",
			 (long long)c->pair_cnt);
		return;
	}
	pair = &c->pairs[c->first];
	for (int side = 0; side < COMPARE_SIDES; side++) {
		run[side] = pair->run[side];
		/* a side without a run here has its next one further on */
		for (int64_t p = c->first; run[side] == COMPARE_NONE && p < c->pair_cnt; p++)
			run[side] = c->pairs[p].run[side];
	}
	tell_line = run[0] == COMPARE_NONE || run[1] == COMPARE_NONE ||
		    c->runs[0][run[0]].line != c->runs[1][run[1]].line;
	deed(c, 0, run[0], tell_line, a, sizeof(a));
	deed(c, 1, run[1], tell_line, b, sizeof(b));
	snprintf(c->words, sizeof(c->words), "They part after %lld stretches: A %s, B %s.",
		 (long long)c->first, a, b);
}

int64_t compare_pair_of(const struct compare *c, int side, uint32_t step)
{
	int64_t at = 0;

	for (int64_t i = 0; i < c->pair_cnt; i++) {
		int64_t run = c->pairs[i].run[side];

		if (run == COMPARE_NONE)
			continue;
		if (c->runs[side][run].step > step)
			break;
		at = i;
	}
	return at;
}

/* --- lines by what they cost ----------------------------------------------------------------- */

uint64_t compare_difference(const struct compare_line *line)
{
	return line->cost[0] > line->cost[1] ? line->cost[0] - line->cost[1]
					     : line->cost[1] - line->cost[0];
}

static int by_difference(const void *x, const void *y, void *data)
{
	const struct compare *c = data;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint64_t da = compare_difference(&c->lines[a]), db = compare_difference(&c->lines[b]);

	if (da != db)
		return da > db ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int sort_lines(struct compare *c)
{
	c->by_cost = calloc((size_t)c->line_cnt + 1, sizeof(*c->by_cost));
	if (!c->by_cost)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->line_cnt; i++) {
		if (c->lines[i].cost[0] || c->lines[i].cost[1])
			c->by_cost[c->cost_cnt++] = i;
	}
	qsort_r(c->by_cost, c->cost_cnt, sizeof(*c->by_cost), by_difference, c);
	return 0;
}

int compare_make(struct compare *c, const struct loupe_trace *const traces[COMPARE_SIDES],
		 const struct loupe_source *const sources[COMPARE_SIDES])
{
	int rc;

	*c = (struct compare){ .trace = { traces[0], traces[1] },
			       .source = { sources[0], sources[1] },
			       .first = -1 };
	rc = make_lines(c);
	for (int side = 0; side < COMPARE_SIDES && !rc; side++)
		rc = make_runs(c, side);
	if (!rc)
		rc = sort_lines(c);
	if (!rc)
		rc = make_pairs(c);
	if (!rc)
		make_words(c);
	return rc;
}

void compare_finish(struct compare *c)
{
	for (uint32_t i = 0; i < c->line_cnt; i++)
		free(c->lines[i].text);
	free(c->lines);
	free(c->by_cost);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		free(c->line_of[side]);
		free(c->runs[side]);
	}
	free(c->pairs);
	*c = (struct compare){ .first = -1 };
}
