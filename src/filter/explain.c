// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edits with their reasons, and for each load and comparison that stayed what made it stay.
 */
#include "filter/opcode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Ways listed for one load; a shared block may have a hundred. */
#define MAX_WAYS 6

enum hold_kind {
	HOLD_NOTHING, /* no way leads here */
	HOLD_START,   /* 0, as when the filter starts */
	HOLD_WORD,    /* what the load at `at` gives */
	HOLD_CHANGED, /* made by the instruction at `at`, from the word that `base` loads */
	HOLD_MIXED,   /* not the same on all ways */
};

/* What a register holds. */
struct hold {
	enum hold_kind kind;
	uint32_t at;	 /* index; where ways that agree meet, of one of them */
	uint32_t base;	 /* index of a load, LOUPE_NONE if unknown */
	uint32_t lo, hi; /* of a word: the comparisons on the ways here leave these values */
};

struct registers {
	struct hold a, x;
};

struct explainer {
	FILE *f;
	const struct loupe_filter *filter;
	const struct loupe_rewrite_prog *prog;
	struct registers *before; /* by index: what is held when an instruction is reached */
	uint32_t *way_cnt;	  /* by index: ways that lead there */
};

static struct loupe_cbpf_insn insn_at(const struct explainer *e, uint32_t i)
{
	return e->prog->insns[i].cbpf;
}

static struct loupe_filter_read read_at(const struct explainer *e, uint32_t i)
{
	return loupe_filter_read_of(e->filter->flavour, insn_at(e, i));
}

static bool is_input(struct loupe_filter_read read)
{
	return read.word != LOUPE_WORD_NONE && read.word != LOUPE_WORD_IMM &&
	       read.word != LOUPE_WORD_MEM;
}

/* Whether two loads read the same word; one that X or the moment decides never does. */
static bool same_word(const struct explainer *e, uint32_t i, uint32_t j)
{
	struct loupe_filter_read a = read_at(e, i), b = read_at(e, j);

	if (i == j)
		return true;
	if (a.word == LOUPE_WORD_PACKET_IND || a.word == LOUPE_WORD_ANCILLARY)
		return false;
	return a.word == b.word && a.arg == b.arg && a.size == b.size && a.offset == b.offset;
}

static bool same_hold(const struct explainer *e, struct hold a, struct hold b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == HOLD_WORD)
		return same_word(e, a.at, b.at);
	return a.kind != HOLD_CHANGED || a.at == b.at;
}

static void meet(const struct explainer *e, struct hold *into, struct hold other)
{
	if (into->kind == HOLD_NOTHING) {
		*into = other;
	} else if (!same_hold(e, *into, other)) {
		*into = (struct hold){ .kind = HOLD_MIXED, .base = LOUPE_NONE };
	} else {
		into->lo = other.lo < into->lo ? other.lo : into->lo;
		into->hi = other.hi > into->hi ? other.hi : into->hi;
	}
}

static struct hold changed(struct hold was, uint32_t at)
{
	return (struct hold){ .kind = HOLD_CHANGED,
			      .at = at,
			      .base = was.kind == HOLD_WORD ? was.at : was.base };
}

/* What is held behind instruction i. */
static struct registers after(const struct explainer *e, uint32_t i)
{
	struct registers r = e->before[i];
	struct loupe_cbpf_insn insn = insn_at(e, i);

	switch (BPF_CLASS(insn.code)) {
	case BPF_LD:
	case BPF_LDX: {
		struct hold *to = BPF_CLASS(insn.code) == BPF_LDX ? &r.x : &r.a;

		if (read_at(e, i).word == LOUPE_WORD_MEM)
			*to = (struct hold){ .kind = HOLD_CHANGED, .at = i, .base = LOUPE_NONE };
		else
			*to = (struct hold){ HOLD_WORD, i, LOUPE_NONE, 0, UINT32_MAX };
		break;
	}
	case BPF_ALU:
		r.a = changed(r.a, i);
		break;
	case BPF_MISC:
		if (insn.code == (BPF_MISC | BPF_TAX))
			r.x = r.a;
		else
			r.a = r.x;
		break;
	}
	return r;
}

/* The ways out of i. */
static unsigned int ways(const struct explainer *e, uint32_t i, uint32_t to[2], const char *name[2])
{
	uint16_t code = insn_at(e, i).code;

	if (filter_is_ret(code))
		return 0;
	to[0] = e->prog->jt[i];
	to[1] = e->prog->jf[i];
	name[0] = " (true)";
	name[1] = " (false)";
	if (filter_is_cond(code))
		return 2;
	name[0] = "";
	if (!filter_is_ja(code))
		to[0] = i + 1;
	return 1;
}

/* What a comparison with a constant leaves of A's values on one of its ways. */
static void narrow(struct hold *a, struct loupe_cbpf_insn insn, bool taken)
{
	uint32_t lo = a->lo, hi = a->hi;

	if (a->kind != HOLD_WORD || BPF_SRC(insn.code) != BPF_K)
		return;
	switch (BPF_OP(insn.code)) {
	case BPF_JEQ:
		if (taken) {
			lo = hi = insn.k;
		} else {
			lo += lo == insn.k;
			hi -= hi == insn.k;
		}
		break;
	case BPF_JGT:
		if (taken && insn.k >= lo && insn.k < UINT32_MAX)
			lo = insn.k + 1;
		else if (!taken && insn.k < hi)
			hi = insn.k;
		break;
	case BPF_JGE:
		if (taken && insn.k > lo)
			lo = insn.k;
		else if (!taken && insn.k && insn.k - 1 < hi)
			hi = insn.k - 1;
		break;
	default:
		return;
	}
	/* A way that no value takes keeps what was known. */
	if (lo > hi || lo < a->lo || hi > a->hi)
		return;
	a->lo = lo;
	a->hi = hi;
}

static void flow(struct explainer *e)
{
	e->before[0].a.kind = e->before[0].x.kind = HOLD_START;
	for (uint32_t i = 0; i < e->prog->cnt; i++) {
		const char *name[2];
		struct registers r;
		uint32_t to[2];

		if (e->before[i].a.kind == HOLD_NOTHING)
			continue;
		r = after(e, i);
		for (unsigned int w = ways(e, i, to, name); w--;) {
			struct hold a = r.a;

			if (filter_is_cond(insn_at(e, i).code))
				narrow(&a, insn_at(e, i), !w);
			e->way_cnt[to[w]]++;
			meet(e, &e->before[to[w]].a, a);
			meet(e, &e->before[to[w]].x, r.x);
		}
	}
}

static void write_hold(const struct explainer *e, struct hold hold, char reg)
{
	char text[96], word[64];

	switch (hold.kind) {
	case HOLD_START:
		fprintf(e->f, "%c is 0, as at the start", reg);
		break;
	case HOLD_WORD:
		loupe_filter_read_text(read_at(e, hold.at), word, sizeof(word));
		fprintf(e->f, "%c holds %s, loaded at %u", reg, word, hold.at);
		break;
	case HOLD_CHANGED:
		loupe_filter_insn_words(e->filter->flavour, insn_at(e, hold.at), text,
					sizeof(text));
		if (hold.base != LOUPE_NONE) {
			loupe_filter_read_text(read_at(e, hold.base), word, sizeof(word));
			fprintf(e->f, "%c held %s until %u changed it (%s)", reg, word, hold.at,
				text);
		} else {
			fprintf(e->f, "%c is what %u made it (%s)", reg, hold.at, text);
		}
		break;
	default:
		fprintf(e->f, "%c is not the same on all ways there", reg);
	}
}

static void explain_load(const struct explainer *e, uint32_t load)
{
	struct loupe_filter_read read = read_at(e, load);
	uint32_t there = 0, listed = 0;
	char word[64];

	loupe_filter_read_text(read, word, sizeof(word));
	fprintf(e->f, "%u: %c = %s", load, read.to_x ? 'X' : 'A', word);
	if (e->prog->ids[load] < e->filter->cnt)
		fprintf(e->f, " (%u before)", e->prog->ids[load]);
	fprintf(e->f, "\n");
	if (!load)
		fprintf(e->f, "    the filter starts here: nothing is loaded yet\n");
	for (uint32_t i = 0; i < load; i++) {
		const char *name[2];
		struct registers r;
		uint32_t to[2];

		if (e->before[i].a.kind == HOLD_NOTHING)
			continue;
		for (unsigned int w = 0; w < ways(e, i, to, name); w++) {
			struct hold hold;

			if (to[w] != load)
				continue;
			r = after(e, i);
			hold = read.to_x ? r.x : r.a;
			there += hold.kind == HOLD_WORD && same_word(e, hold.at, load);
			if (listed++ >= MAX_WAYS)
				continue;
			fprintf(e->f, "    from %u%s: ", i, name[w]);
			write_hold(e, hold, read.to_x ? 'X' : 'A');
			fprintf(e->f, "\n");
		}
	}
	if (listed > MAX_WAYS)
		fprintf(e->f, "    and %u more ways\n", listed - MAX_WAYS);
	if (there)
		fprintf(e->f,
			"    already there on %u of %u ways; it could go from these if they did "
			"not meet the others here\n",
			there, e->way_cnt[load]);
}

static void explain_test(const struct explainer *e, uint32_t test)
{
	struct hold a = e->before[test].a;
	char text[96];

	loupe_filter_insn_words(e->filter->flavour, insn_at(e, test), text, sizeof(text));
	fprintf(e->f, "%u: %s", test, text);
	if (e->prog->ids[test] < e->filter->cnt)
		fprintf(e->f, " (%u before)", e->prog->ids[test]);
	fprintf(e->f, "\n    ");
	write_hold(e, a, 'A');
	if (a.kind == HOLD_WORD && (a.lo || a.hi != UINT32_MAX))
		fprintf(e->f, "; what was asked before leaves 0x%x to 0x%x of it", a.lo, a.hi);
	else if (a.kind == HOLD_WORD)
		fprintf(e->f, "; nothing that was asked before bounds it on all ways here");
	fprintf(e->f, "\n");
}

static void explain(struct explainer *e, const struct loupe_rewrite *rw)
{
	uint32_t cnt = loupe_rewrite_edit_cnt(rw);
	char line[512];

	fprintf(e->f, "# %u edits; numbers are those before\n", cnt);
	for (uint32_t n = 0; n < cnt; n++) {
		loupe_rewrite_edit_line(rw, n, line, sizeof(line));
		fprintf(e->f, "%u: %s: %s\n", n + 1, loupe_rewrite_edit_get(rw, n)->pass, line);
	}
	flow(e);
	fprintf(e->f, "\n# loads that stay; numbers are those after\n");
	for (uint32_t i = 0; i < e->prog->cnt; i++) {
		if (is_input(read_at(e, i)))
			explain_load(e, i);
	}
	fprintf(e->f, "\n# comparisons that stay; numbers are those after\n");
	for (uint32_t i = 0; i < e->prog->cnt; i++) {
		if (filter_is_cond(insn_at(e, i).code) && e->before[i].a.kind != HOLD_NOTHING)
			explain_test(e, i);
	}
}

int loupe_filter_explain(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
			 char **out, size_t *len)
{
	struct explainer e = { .filter = filter, .prog = loupe_rewrite_after(rw) };

	*out = NULL;
	*len = 0;
	if (!e.prog || loupe_rewrite_kind(rw) != LOUPE_REWRITE_CBPF)
		return -EINVAL;
	e.before = calloc(e.prog->cnt, sizeof(*e.before));
	e.way_cnt = calloc(e.prog->cnt, sizeof(*e.way_cnt));
	e.f = e.before && e.way_cnt ? open_memstream(out, len) : NULL;
	if (e.f) {
		explain(&e, rw);
		if (fclose(e.f)) {
			free(*out);
			*out = NULL;
		}
	}
	free(e.before);
	free(e.way_cnt);
	return *out ? 0 : -ENOMEM;
}
