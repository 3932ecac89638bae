// SPDX-License-Identifier: GPL-2.0-only
/* The explanation as text. */
#include "why/why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names, lines and ways in a row before the rest is counted. */
enum { MOST_NAMES = 3, MOST_WAYS = 6 };

struct writer {
	FILE *f;
	const struct loupe_why *why;
	const struct loupe_why_select *select;
	int64_t callers; /* class that was selected, -1: all */
};

/* ---- words -------------------------------------------------------------------------------- */

static void write_callers(const struct writer *w, const uint64_t *set, uint32_t cnt)
{
	uint32_t written = 0;

	for (uint32_t c = 0; c < w->why->caller_cnt && written < MOST_NAMES; c++) {
		char text[64];

		if (!why_bit(set, c))
			continue;
		loupe_callers_text(w->why->callers[c], text, sizeof(text));
		fprintf(w->f, "%s%s", written++ ? ", " : "", text);
	}
	if (cnt > written)
		fprintf(w->f, " and %u more", cnt - written);
}

static void word_text(const struct writer *w, uint32_t load, char *buf, size_t size)
{
	loupe_filter_read_text(why_read(w->why, load), buf, size);
}

static void write_hold(const struct writer *w, struct loupe_hold hold, char reg)
{
	char text[96], word[64];

	switch (hold.kind) {
	case LOUPE_HOLD_START:
		fprintf(w->f, "%c is 0, as at the start", reg);
		break;
	case LOUPE_HOLD_WORD:
		word_text(w, hold.at, word, sizeof(word));
		fprintf(w->f, "%c holds %s, loaded at %u", reg, word, hold.at);
		break;
	case LOUPE_HOLD_CHANGED:
		loupe_filter_insn_words(w->why->filter->flavour, why_insn(w->why, hold.at), text,
					sizeof(text));
		if (hold.base != LOUPE_NONE) {
			word_text(w, hold.base, word, sizeof(word));
			fprintf(w->f, "%c held %s until %u changed it (%s)", reg, word, hold.at,
				text);
		} else {
			fprintf(w->f, "%c is what %u made it (%s)", reg, hold.at, text);
		}
		break;
	case LOUPE_HOLD_MIXED:
		fprintf(w->f, "%c is not the same on all ways there", reg);
	}
}

static const char *way_word(const struct loupe_arrival *arrival)
{
	return arrival->way == LOUPE_WAY_TRUE	 ? " true"
	       : arrival->way == LOUPE_WAY_FALSE ? " false"
						 : "";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_selected_rule(const struct writer *w, uint32_t rule)
{
	const struct loupe_policy_rule *r = &w->why->policy->rules[rule];

	if (w->callers >= 0 && r->nr != w->why->callers[w->callers].nr)
		return false;
	return !w->select->line || (r->line == w->select->line && !r->file);
}

/* Rules of a line and a call that an instruction serves, from rule on. @return behind the last one
 */
static uint32_t count_like(const struct writer *w, uint32_t insn, uint32_t rule, uint32_t *cnt)
{
	const struct loupe_policy *policy = w->why->policy;
	const struct loupe_policy_rule *first = &policy->rules[rule];
	uint32_t r = rule;

	*cnt = 0;
	for (; r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *at = &policy->rules[r];

		if (at->nr != first->nr || at->line != first->line || at->file != first->file)
			break;
		*cnt += loupe_why_serves(w->why, insn, r);
	}
	return r;
}

static void write_rules(const struct writer *w, uint32_t insn)
{
	const struct loupe_policy *policy = w->why->policy;
	uint32_t written = 0, more = 0;

	for (uint32_t r = 0; policy && r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];
		char call[64], text[200];
		uint32_t cnt, end;

		if (!loupe_why_serves(w->why, insn, r) || !is_selected_rule(w, r))
			continue;
		end = count_like(w, insn, r, &cnt);
		if (written++ >= MOST_NAMES) {
			more++;
			r = end - 1;
			continue;
		}
		loupe_callers_text(
			(struct loupe_callers){ LOUPE_CALLERS_CALL, policy->arch, rule->nr }, call,
			sizeof(call));
		fprintf(w->f, "    for %s:%u, %s", base_name(policy->files[rule->file]), rule->line,
			call);
		loupe_policy_rule_text(rule, text, sizeof(text));
		if (cnt == 1)
			fprintf(w->f, ": %s\n", text);
		else
			fprintf(w->f, ": %u of its rules\n", cnt);
		r = end - 1;
	}
	if (more)
		fprintf(w->f, "    and for %u more lines of the policy\n", more);
}

static void write_title(const struct writer *w, uint32_t insn, uint32_t id)
{
	char text[96];

	loupe_filter_insn_words(w->why->filter->flavour, why_insn(w->why, insn), text,
				sizeof(text));
	fprintf(w->f, "%u: %s", insn, text);
	if (id != LOUPE_NONE)
		fprintf(w->f, " (%u before)", id);
	fprintf(w->f, "\n");
}

static bool is_selected_way(const struct writer *w, const struct loupe_arrival *arrival)
{
	return w->callers < 0 || why_bit(arrival->callers, (uint32_t)w->callers);
}

/* ---- loads -------------------------------------------------------------------------------- */

/* What the ways to a load have in common. */
struct load_ways {
	uint32_t all;
	uint32_t there;		      /* the register holds it already */
	uint32_t had;		      /* it was loaded before */
	uint32_t loaded_at, taken_at; /* one of these: where, and what took the register since */
};

/* Whether an instruction writes the register. */
static bool changes(const struct writer *w, uint32_t insn, bool x)
{
	struct loupe_cbpf_insn it = why_insn(w->why, insn);

	switch (BPF_CLASS(it.code)) {
	case BPF_LD:
	case BPF_ALU:
		return !x;
	case BPF_LDX:
		return x;
	case BPF_MISC:
		return x == (it.code == (BPF_MISC | BPF_TAX));
	}
	return false;
}

static struct load_ways look_at_ways(const struct writer *w, uint32_t load, bool to_x)
{
	const struct why_list *list = &w->why->lists[load];
	struct load_ways ways = { 0 };

	for (uint32_t n = 0; n < list->cnt; n++) {
		const struct loupe_arrival *arrival = &list->at[n];
		struct loupe_hold hold = to_x ? arrival->x : arrival->a;
		uint32_t loaded = LOUPE_NONE, taken = LOUPE_NONE;

		if (!is_selected_way(w, arrival))
			continue;
		ways.all++;
		if (hold.kind == LOUPE_HOLD_WORD && why_same_word(w->why, hold.at, load)) {
			ways.there++;
			continue;
		}
		for (uint32_t i = 0; i < arrival->path_cnt; i++) {
			uint32_t at = arrival->path[i];

			bool input = why_is_input(why_read(w->why, at));

			if (input && why_same_word(w->why, at, load)) {
				loaded = at;
				taken = LOUPE_NONE;
			} else if (taken == LOUPE_NONE && changes(w, at, to_x)) {
				taken = at;
			}
		}
		if (loaded == LOUPE_NONE)
			continue;
		ways.had++;
		ways.loaded_at = loaded;
		ways.taken_at = taken == LOUPE_NONE ? hold.at : taken;
	}
	return ways;
}

/* Instructions that use what a load gives. */
static uint32_t count_users(const struct writer *w, uint32_t load)
{
	uint32_t cnt = 0;

	for (uint32_t i = load + 1; i < w->why->filter->cnt; i++) {
		const struct why_list *list = &w->why->lists[i];
		bool uses = false;

		for (uint32_t n = 0; n < list->cnt && !uses; n++)
			uses = list->at[n].a.at == load || list->at[n].a.base == load;
		cnt += uses && !why_is_input(why_read(w->why, i)) &&
		       why_insn(w->why, i).code != (BPF_RET | BPF_K);
	}
	return cnt;
}

static void write_load_advice(const struct writer *w, uint32_t load, struct load_ways ways)
{
	struct loupe_filter_read read = why_read(w->why, load);
	uint32_t never = ways.all - ways.there - ways.had, users;
	char word[64], taken[64];

	word_text(w, load, word, sizeof(word));
	if (ways.there) {
		fprintf(w->f,
			"    stays: %c holds it already on %u of %u ways, but not on the others, "
			"which "
			"meet them here\n",
			read.to_x ? 'X' : 'A', ways.there, ways.all);
		users = count_users(w, load);
		fprintf(w->f, "    would go from these ways if ");
		if (users == 1)
			fprintf(w->f, "the instruction that uses it");
		else
			fprintf(w->f, "the %u instructions that use it", users);
		fprintf(w->f, " stood there once more\n");
	}
	if (ways.had && ways.taken_at == LOUPE_NONE) {
		fprintf(w->f,
			"    stays: on %u of %u ways %u had loaded it, then these met others\n",
			ways.had, ways.all, ways.loaded_at);
	} else if (ways.had) {
		fprintf(w->f, "    stays: on %u of %u ways %u had loaded it, then %u ", ways.had,
			ways.all, ways.loaded_at, ways.taken_at);
		if (why_is_input(why_read(w->why, ways.taken_at))) {
			word_text(w, ways.taken_at, taken, sizeof(taken));
			fprintf(w->f, "took A for %s", taken);
		} else {
			loupe_filter_insn_words(w->why->filter->flavour,
						why_insn(w->why, ways.taken_at), taken,
						sizeof(taken));
			fprintf(w->f, "changed it (%s)", taken);
		}
		fprintf(w->f,
			"; X or M[] would give it back in one instruction, as the load does\n"
			"    would go if it were asked for in another order%s\n",
			w->why->filter->flavour != LOUPE_FILTER_SECCOMP ? ""
			: w->select->level >= 3 ? ", but none that was tried is shorter"
						: "; -O3 tries some");
	}
	if (!never)
		return;
	fprintf(w->f, "    stays: ");
	if (never < ways.all)
		fprintf(w->f, "on %u of %u ways ", never, ways.all);
	fprintf(w->f, "nothing has loaded %s yet%s\n", word,
		read.to_x ? "" : ", and comparisons look at A");
	if (read.word == LOUPE_WORD_ARG_LO || read.word == LOUPE_WORD_ARG_HI)
		fprintf(w->f, "    would go if %s asked for args[%u]\n",
			w->why->policy ? "none of these rules" : "nothing behind it", read.arg);
	else if (read.word == LOUPE_WORD_NR)
		fprintf(w->f, "    would go if all calls got the same answer\n");
	else if (read.word == LOUPE_WORD_ARCH)
		fprintf(w->f, "    would go if calls of all architectures got the same answer\n");
}

/* ---- the ways to a load ------------------------------------------------------------------- */

/* Ways on which a register holds the same. */
struct group {
	const struct why_list *list;
	const struct loupe_arrival *first;
	bool to_x;
	uint32_t cnt;
	bool same_callers;
	bool varies[LOUPE_WHY_WORDS]; /* a word of which ways know different things */
	uint32_t varying;
	uint32_t common; /* instructions that all paths start with */
};

static struct loupe_hold hold_of(const struct loupe_arrival *arrival, bool to_x)
{
	return to_x ? arrival->x : arrival->a;
}

static bool in_group(const struct writer *w, const struct group *g,
		     const struct loupe_arrival *arrival)
{
	struct loupe_hold a = hold_of(g->first, g->to_x), b = hold_of(arrival, g->to_x);

	return is_selected_way(w, arrival) && arrival->from != LOUPE_NONE && a.kind == b.kind &&
	       a.at == b.at;
}

static struct group look_at_group(const struct writer *w, const struct why_list *list, uint32_t n,
				  bool to_x)
{
	struct group g = {
		.list = list, .first = &list->at[n], .to_x = to_x, .same_callers = true
	};

	g.common = g.first->path_cnt;
	for (uint32_t i = 0; i < list->cnt; i++) {
		const struct loupe_arrival *at = &list->at[i];
		uint32_t same = 0;

		if (!in_group(w, &g, at))
			continue;
		g.cnt++;
		g.same_callers &= !memcmp(at->callers, g.first->callers,
					  w->why->caller_words * sizeof(*at->callers));
		for (uint32_t word = 4; word < LOUPE_WHY_WORDS; word++)
			g.varies[word] |= at->lo[word] != g.first->lo[word] ||
					  at->hi[word] != g.first->hi[word];
		while (same < g.common && same < at->path_cnt &&
		       at->path[same] == g.first->path[same])
			same++;
		g.common = same;
	}
	for (uint32_t word = 4; word < LOUPE_WHY_WORDS; word++)
		g.varying += g.varies[word];
	return g;
}

static bool is_known(const struct loupe_arrival *arrival, uint32_t word)
{
	return arrival->lo[word] || arrival->hi[word] != UINT32_MAX;
}

static void write_range(FILE *f, uint32_t lo, uint32_t hi)
{
	if (lo == hi)
		fprintf(f, "0x%x", lo);
	else if (!lo && hi == UINT32_MAX)
		fprintf(f, "anything");
	else if (!lo)
		fprintf(f, "up to 0x%x", hi);
	else if (hi == UINT32_MAX)
		fprintf(f, "from 0x%x", lo);
	else
		fprintf(f, "0x%x to 0x%x", lo, hi);
}

static void write_word(FILE *f, uint32_t word)
{
	fprintf(f, "args[%u].%s", word / 2 - 2, word % 2 ? "hi" : "lo");
}

/* "read and 3 more with args[0].lo up to 0x7fffffff": what all ways of a group have in common. */
static void write_common(const struct writer *w, const struct group *g)
{
	const char *before = " with ";

	if (w->callers >= 0) {
		char text[64];

		loupe_callers_text(w->why->callers[w->callers], text, sizeof(text));
		fprintf(w->f, ", %s", text);
	} else if (g->same_callers) {
		fprintf(w->f, ", ");
		write_callers(w, g->first->callers, g->first->caller_cnt);
	}
	for (uint32_t word = 4; word < LOUPE_WHY_WORDS; word++) {
		if (g->varies[word] || !is_known(g->first, word))
			continue;
		fprintf(w->f, "%s", before);
		write_word(w->f, word);
		fprintf(w->f, " ");
		write_range(w->f, g->first->lo[word], g->first->hi[word]);
		before = ", ";
	}
	if (g->varying != 1)
		return;
	for (uint32_t word = 4; word < LOUPE_WHY_WORDS; word++) {
		if (!g->varies[word])
			continue;
		fprintf(w->f, "; by ");
		write_word(w->f, word);
	}
}

/* "210 true (0x44)" */
static void write_way(const struct writer *w, const struct group *g,
		      const struct loupe_arrival *arrival)
{
	const char *before = " (";

	fprintf(w->f, "%u%s", arrival->from, way_word(arrival));
	if (w->callers < 0 && !g->same_callers) {
		fprintf(w->f, "%s", before);
		write_callers(w, arrival->callers, arrival->caller_cnt);
		before = ", ";
	}
	for (uint32_t word = 4; word < LOUPE_WHY_WORDS; word++) {
		if (!g->varies[word] || (g->varying > 1 && !is_known(arrival, word)))
			continue;
		fprintf(w->f, "%s", before);
		if (g->varying > 1) {
			write_word(w->f, word);
			fprintf(w->f, " ");
		}
		write_range(w->f, arrival->lo[word], arrival->hi[word]);
		before = ", ";
	}
	if (before[0] == ',')
		fprintf(w->f, ")");
}

/* Numbers of a path, those from one to the next in order as a stretch. */
static void write_path(const struct writer *w, const struct loupe_arrival *arrival, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t first = i;

		while (i + 1 < cnt && arrival->path[i + 1] == arrival->path[i] + 1)
			i++;
		fprintf(w->f, " %u", arrival->path[first]);
		if (i > first)
			fprintf(w->f, "-%u", arrival->path[i]);
	}
}

static void write_group(const struct writer *w, const struct group *g)
{
	uint32_t listed = 0, most = w->callers >= 0 || w->select->line ? UINT32_MAX : MOST_WAYS;

	fprintf(w->f, "    ");
	write_hold(w, hold_of(g->first, g->to_x), g->to_x ? 'X' : 'A');
	if (g->cnt > 1)
		fprintf(w->f, ", on %u ways", g->cnt);
	write_common(w, g);
	fprintf(w->f, "\n        from ");
	for (uint32_t i = 0; i < g->list->cnt; i++) {
		if (!in_group(w, g, &g->list->at[i]))
			continue;
		if (listed++ >= most)
			continue;
		if (listed > 1)
			fprintf(w->f, listed % 4 == 1 ? ",\n             " : ", ");
		write_way(w, g, &g->list->at[i]);
	}
	if (listed > most)
		fprintf(w->f, " and %u more", listed - most);
	fprintf(w->f, "\n        path");
	write_path(w, g->first, g->common);
	fprintf(w->f, g->common < g->first->path_cnt ? " and on\n" : "\n");
}

static void explain_load(const struct writer *w, uint32_t load, uint32_t id)
{
	const struct why_list *list = &w->why->lists[load];
	bool to_x = why_read(w->why, load).to_x, start = false;
	struct load_ways ways;

	write_title(w, load, id);
	write_rules(w, load);
	for (uint32_t n = 0; n < list->cnt; n++) {
		struct group g;
		bool again = false;

		if (!is_selected_way(w, &list->at[n]))
			continue;
		if (list->at[n].from == LOUPE_NONE) {
			start = true;
			continue;
		}
		g = look_at_group(w, list, n, to_x);
		for (uint32_t m = 0; m < n; m++)
			again |= in_group(w, &g, &list->at[m]);
		if (!again)
			write_group(w, &g);
	}
	ways = look_at_ways(w, load, to_x);
	if (start)
		fprintf(w->f, "    stays: the filter starts here, nothing is loaded yet\n");
	else if (ways.all)
		write_load_advice(w, load, ways);
}

/* ---- comparisons -------------------------------------------------------------------------- */

/* What A holds, once for each of its contents. */
static void write_contents(const struct writer *w, uint32_t insn)
{
	const struct why_list *list = &w->why->lists[insn];

	for (uint32_t n = 0; n < list->cnt; n++) {
		struct loupe_hold a = list->at[n].a;
		uint32_t ways = 0;
		bool again = false;

		if (!is_selected_way(w, &list->at[n]))
			continue;
		for (uint32_t m = 0; m < list->cnt; m++) {
			const struct loupe_arrival *other = &list->at[m];

			if (!is_selected_way(w, other) || other->a.kind != a.kind ||
			    other->a.at != a.at)
				continue;
			again |= m < n;
			ways++;
			a.lo = other->a.lo < a.lo ? other->a.lo : a.lo;
			a.hi = other->a.hi > a.hi ? other->a.hi : a.hi;
		}
		if (again)
			continue;
		fprintf(w->f, "    ");
		write_hold(w, a, 'A');
		if (a.lo || a.hi != UINT32_MAX)
			fprintf(w->f, "; what was asked before leaves 0x%x to 0x%x", a.lo, a.hi);
		fprintf(w->f, ways > 1 ? ", on %u ways\n" : "\n", ways);
	}
}

static void explain_test(const struct writer *w, uint32_t test, uint32_t id)
{
	struct loupe_seccomp_data call[2];
	uint32_t answer[2];
	char calls[2][160], answers[2][64];

	write_title(w, test, id);
	write_rules(w, test);
	write_contents(w, test);
	if (!loupe_why_witness(w->why, test, call, answer))
		return;
	for (int i = 0; i < 2; i++) {
		loupe_seccomp_call_text(&call[i], calls[i], sizeof(calls[i]));
		loupe_seccomp_action_text(answer[i], answers[i], sizeof(answers[i]));
	}
	fprintf(w->f, "    stays: true for %s, which gets %s; false for %s, which gets %s\n",
		calls[0], answers[0], calls[1], answers[1]);
	fprintf(w->f, "    would go if both got the same answer\n");
}

static void explain_insn(const struct writer *w, uint32_t insn, uint32_t id)
{
	struct loupe_cbpf_insn it = why_insn(w->why, insn);

	if (why_is_input(why_read(w->why, insn))) {
		explain_load(w, insn, id);
	} else if (filter_is_cond(it.code)) {
		explain_test(w, insn, id);
	} else {
		write_title(w, insn, id);
		write_rules(w, insn);
		if (!filter_is_ret(it.code))
			write_contents(w, insn);
	}
}

/* ---- the whole ---------------------------------------------------------------------------- */

static bool is_selected(const struct writer *w, uint32_t insn)
{
	if (!w->why->lists[insn].cnt)
		return false;
	if (w->callers >= 0 && !loupe_why_reaches(w->why, (uint32_t)w->callers, insn))
		return false;
	return !w->select->line || loupe_why_serves_line(w->why, insn, 0, w->select->line);
}

static bool is_load_of(const struct loupe_why *why, uint32_t insn, uint32_t word)
{
	return why_word_of(why, insn) == word;
}

static struct writer writer_of(FILE *f, const struct loupe_why *why,
			       const struct loupe_why_select *select)
{
	static const struct loupe_why_select all = { 0 };
	struct writer w = { .f = f, .why = why, .select = select ? select : &all, .callers = -1 };

	if (w.select->by_call)
		w.callers = loupe_why_callers_of(why, w.select->arch, w.select->nr);
	return w;
}

static bool is_wanted_word(const struct writer *w, uint32_t word)
{
	return !w->select->by_arg || word / 2 == 2 + w->select->arg;
}

/* Loads of each word, and everything, before and after. */
static void write_counts(const struct writer *before, const struct writer *after)
{
	const struct writer *both[2] = { before, after };
	uint32_t insns[2] = { 0 }, loads[2] = { 0 }, of[2][LOUPE_WHY_WORDS] = { { 0 } };
	FILE *f = after->f;

	for (int s = 0; s < 2; s++) {
		const struct loupe_why *why = both[s]->why;

		for (uint32_t i = 0; i < why->filter->cnt; i++) {
			if (!is_selected(both[s], i))
				continue;
			insns[s]++;
			loads[s] += why_is_input(why_read(why, i));
			for (uint32_t word = 0; word < LOUPE_WHY_WORDS; word++)
				of[s][word] += is_load_of(why, i, word);
		}
	}
	fprintf(f, "# %-20s %8s %8s\n", "", "before", "after");
	fprintf(f, "# %-20s %8u %8u\n", "instructions", insns[0], insns[1]);
	fprintf(f, "# %-20s %8u %8u\n", "loads", loads[0], loads[1]);
	for (uint32_t word = 0; word < LOUPE_WHY_WORDS; word++) {
		struct loupe_cbpf_insn insn = { BPF_LD | BPF_W | BPF_ABS, 0, 0, 4 * word };
		char text[64] = "  ";

		if ((!of[0][word] && !of[1][word]) || !is_wanted_word(after, word))
			continue;
		loupe_filter_read_text(loupe_filter_read_of(LOUPE_FILTER_SECCOMP, insn), text + 2,
				       sizeof(text) - 2);
		fprintf(f, "# %-20s %8u %8u\n", text, of[0][word], of[1][word]);
	}
}

/* What was selected, and where the policy speaks of it. */
static void write_selection(const struct writer *w)
{
	const struct loupe_policy *policy = w->why->policy;
	uint32_t rules = 0, lines = 0, line = 0, file = 0;
	char text[64] = "";

	if (w->callers >= 0)
		loupe_callers_text(w->why->callers[w->callers], text, sizeof(text));
	for (uint32_t r = 0; policy && r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];

		if (!is_selected_rule(w, r))
			continue;
		lines += !rules || rule->line != line || rule->file != file;
		rules++;
		line = rule->line;
		file = rule->file;
	}
	fprintf(w->f, "# %s", text);
	if (w->callers >= 0)
		fprintf(w->f, " (%u)%s", w->select->nr, rules ? ", " : "");
	if (rules)
		fprintf(w->f, "%s:%u%s, %u rule%s", base_name(policy->files[file]), line,
			lines > 1 ? " and before" : "", rules, rules == 1 ? "" : "s");
	fprintf(w->f, "\n");
}

static void write_edits(FILE *f, const struct loupe_rewrite *rw)
{
	uint32_t cnt = loupe_rewrite_edit_cnt(rw);
	char line[512];

	fprintf(f, "\n# %u edits; numbers are those before\n", cnt);
	for (uint32_t n = 0; n < cnt; n++) {
		loupe_rewrite_edit_line(rw, n, line, sizeof(line));
		fprintf(f, "%u: %s: %s\n", n + 1, loupe_rewrite_edit_get(rw, n)->pass, line);
	}
}

/* What an instruction was called before, LOUPE_NONE if it is new. */
static uint32_t id_before(const struct loupe_rewrite *rw, uint32_t insn)
{
	int64_t id = rw ? loupe_rewrite_before_of(rw, insn) : -1;

	return id < 0 ? LOUPE_NONE : (uint32_t)id;
}

static void write_loads(const struct writer *w, const struct loupe_rewrite *rw, bool of_args)
{
	for (uint32_t i = 0; i < w->why->filter->cnt; i++) {
		uint32_t word = why_word_of(w->why, i);
		bool arg = word == LOUPE_NONE || word >= 4;

		if (!is_selected(w, i) || !why_is_input(why_read(w->why, i)))
			continue;
		if (arg == of_args && (word == LOUPE_NONE || is_wanted_word(w, word)))
			explain_load(w, i, id_before(rw, i));
	}
}

static void write_all(const struct writer *before, const struct writer *after,
		      const struct loupe_rewrite *rw)
{
	bool selected = after->callers >= 0 || after->select->line;
	FILE *f = after->f;

	if (selected)
		write_selection(after);
	write_counts(before, after);
	if (rw && !selected)
		write_edits(f, rw);
	fprintf(f, "\n# loads that stay; numbers are those after\n");
	write_loads(after, rw, true);
	if (after->select->by_arg)
		return;
	write_loads(after, rw, false);
	fprintf(f, "\n# comparisons that stay; numbers are those after\n");
	for (uint32_t i = 0; i < after->why->filter->cnt; i++) {
		struct loupe_cbpf_insn insn = why_insn(after->why, i);

		if (is_selected(after, i) &&
		    (filter_is_cond(insn.code) || BPF_CLASS(insn.code) == BPF_ALU))
			explain_insn(after, i, id_before(rw, i));
	}
}

int loupe_why_rules_text(const struct loupe_why *why, uint32_t insn, char *buf, size_t size)
{
	const struct loupe_policy *policy = why->policy;
	const struct writer w = { .why = why, .callers = -1 };
	uint32_t lines = 0, file = LOUPE_NONE;
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	for (uint32_t r = 0; policy && r < policy->rule_cnt && used < size; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];
		uint32_t cnt, end;
		char call[64];

		if (!loupe_why_serves(why, insn, r))
			continue;
		end = count_like(&w, insn, r, &cnt);
		if (lines++ < MOST_NAMES) {
			loupe_callers_text((struct loupe_callers){ LOUPE_CALLERS_CALL, policy->arch,
								   rule->nr },
					   call, sizeof(call));
			used += (size_t)snprintf(
				buf + used, size - used, "%s%s:%u (%s)", lines > 1 ? ", " : "",
				rule->file == file ? "" : base_name(policy->files[rule->file]),
				rule->line, call);
			file = rule->file;
		}
		r = end - 1;
	}
	if (lines > MOST_NAMES && used < size)
		used += (size_t)snprintf(buf + used, size - used, " and %u more lines",
					 lines - MOST_NAMES);
	return (int)used;
}

static int close_text(FILE *f, char **out)
{
	if (fclose(f)) {
		free(*out);
		*out = NULL;
	}
	return *out ? 0 : -ENOMEM;
}

int loupe_why_text(const struct loupe_why *before, const struct loupe_why *after,
		   const struct loupe_rewrite *rw, const struct loupe_why_select *select,
		   char **out, size_t *len)
{
	struct writer was, is;
	FILE *f;

	*out = NULL;
	*len = 0;
	f = open_memstream(out, len);
	if (!f)
		return -ENOMEM;
	was = writer_of(f, before, select);
	is = writer_of(f, after, select);
	write_all(&was, &is, rw);
	return close_text(f, out);
}

int loupe_why_insn_text(const struct loupe_why *why, uint32_t insn, uint32_t id,
			const struct loupe_why_select *select, char **out, size_t *len)
{
	struct writer w;
	FILE *f;

	*out = NULL;
	*len = 0;
	if (insn >= why->filter->cnt)
		return -EINVAL;
	f = open_memstream(out, len);
	if (!f)
		return -ENOMEM;
	w = writer_of(f, why, select);
	if (why->lists[insn].cnt) {
		explain_insn(&w, insn, id);
	} else {
		write_title(&w, insn, id);
		fprintf(f, "    no way leads here\n");
	}
	return close_text(f, out);
}
