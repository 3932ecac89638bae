// SPDX-License-Identifier: GPL-2.0-only
#include "filter/opt.h"

#include "filter/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Add a pass: one row here, one function in a file of its own. Rows run in this order; those
 * without a function are parts of the levels that work on a graph.
 */
static const struct filter_pass passes[] = {
	{ { "jump-threading", "lead jumps past jumps, to where they end" }, filter_pass_thread },
	{ { "unreachable", "take out what no way leads to" }, filter_pass_unreachable },
	{ { "redundant-load", "take out loads of what a register already holds" },
	  filter_pass_load },
	{ { "merge-returns", "share equal returns" }, filter_pass_return },
	{ { "share-suffixes", "share equal tails of ways, from level 1 on (off: level 0)" }, NULL },
	{ { "resynthesis", "build the filter anew from what it decides, from level 2 on" }, NULL },
	{ { "word-order", "try orders in which words are asked for, at level 3" }, NULL },
	{ { "bit-tests", "tell windows of values apart by bits, at level 3 and by weights" },
	  NULL },
};

/* Rows of the table. */
enum { THREAD, UNREACHABLE, LOAD, RETURN, SHARE, SYNTH, SEARCH, BITS };

#define PASS_CNT (sizeof(passes) / sizeof(passes[0]))

const struct loupe_filter_pass *loupe_filter_passes(uint32_t *cnt)
{
	static struct loupe_filter_pass info[PASS_CNT];

	/* Always the same values: it does not matter who fills them in first. */
	for (size_t i = 0; i < PASS_CNT; i++)
		info[i] = passes[i].info;
	*cnt = PASS_CNT;
	return info;
}

int loupe_filter_opts_set(struct loupe_filter_opts *opts, const char *pass, bool on)
{
	for (size_t i = 0; i < PASS_CNT; i++) {
		if (strcmp(passes[i].info.name, pass))
			continue;
		if (on)
			opts->off &= ~(UINT64_C(1) << i);
		else
			opts->off |= UINT64_C(1) << i;
		return 0;
	}
	return -ENOENT;
}

static int describe(const void *arg, union loupe_rewrite_insn insn, char *buf, size_t size)
{
	/* The flavour is kept in the pointer: the rewrite may outlive everything else. */
	enum loupe_filter_flavour flavour = (enum loupe_filter_flavour)(uintptr_t)arg;
	struct loupe_filter_read read = loupe_filter_read_of(flavour, insn.cbpf);

	if (read.word != LOUPE_WORD_NONE)
		return loupe_filter_read_text(read, buf, size);
	return loupe_filter_insn_words(flavour, insn.cbpf, buf, size);
}

int filter_opt_init(struct filter_opt *opt, const struct loupe_filter *filter)
{
	*opt = (struct filter_opt){ .filter = filter, .pass = "" };
	opt->rw = loupe_rewrite_create_cbpf(filter->insns, filter->cnt);
	if (!opt->rw)
		return -errno;
	loupe_rewrite_set_describe(opt->rw, describe, (void *)(uintptr_t)filter->flavour);
	opt->list = rewrite_head(opt->rw);
	for (uint32_t i = 0; i < filter->cnt; i++)
		opt->scratch |= filter_opcode_of(filter->insns[i].code)->form == FORM_MEM;
	return 0;
}

void filter_opt_finish(struct filter_opt *opt)
{
	loupe_rewrite_destroy(opt->rw);
	free(opt->pos);
	free(opt->ins);
	free(opt->lost);
	*opt = (struct filter_opt){ 0 };
}

static int reserve(struct filter_opt *opt)
{
	uint32_t cap = opt->list->id_cnt;
	struct filter_lost *lost;
	uint32_t *grown;

	if (cap <= opt->cap)
		return 0;
	cap += cap / 4;
	grown = realloc(opt->pos, cap * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	opt->pos = grown;
	grown = realloc(opt->ins, cap * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	opt->ins = grown;
	lost = realloc(opt->lost, cap * sizeof(*lost));
	if (!lost)
		return -ENOMEM;
	for (uint32_t i = opt->cap; i < cap; i++)
		lost[i].from = LOUPE_NONE;
	opt->lost = lost;
	opt->cap = cap;
	return 0;
}

unsigned int filter_ways(const struct filter_opt *opt, uint32_t id, uint32_t to[2],
			 enum loupe_way way[2])
{
	uint16_t code = filter_insn(opt, id).code;

	if (filter_is_cond(code)) {
		to[0] = rewrite_list_target(opt->list, id, way[0] = LOUPE_WAY_TRUE);
		to[1] = rewrite_list_target(opt->list, id, way[1] = LOUPE_WAY_FALSE);
		return 2;
	}
	if (filter_is_ret(code))
		return 0;
	way[0] = filter_is_ja(code) ? LOUPE_WAY_JUMP : LOUPE_WAY_FALL;
	to[0] = rewrite_list_target(opt->list, id, way[0]);
	return 1;
}

int filter_opt_number(struct filter_opt *opt)
{
	uint32_t n = 0, to[2];
	enum loupe_way way[2];
	int err = reserve(opt);

	if (err)
		return err;
	memset(opt->ins, 0, opt->list->id_cnt * sizeof(*opt->ins));
	for (uint32_t id = opt->list->first; id != LOUPE_NONE; id = filter_node(opt, id)->next) {
		opt->pos[id] = n++;
		for (unsigned int i = filter_ways(opt, id, to, way); i--;)
			opt->ins[to[i]]++;
	}
	return 0;
}

static int record(struct filter_opt *opt, struct loupe_edit *edit,
		  const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS],
		  uint32_t *id)
{
	edit->pass = opt->pass;
	edit->reason = reason;
	memcpy(edit->args, args, sizeof(edit->args));
	return loupe_rewrite_edit(opt->rw, edit, id);
}

static struct loupe_edit edit_of(enum loupe_edit_kind kind, uint32_t id)
{
	return (struct loupe_edit){ .kind = kind,
				    .id = id,
				    .cnt = 1,
				    .where = LOUPE_NONE,
				    .into = LOUPE_NONE,
				    .jt = LOUPE_NONE,
				    .jf = LOUPE_NONE };
}

int filter_remove(struct filter_opt *opt, uint32_t id, uint32_t cnt,
		  const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS])
{
	struct loupe_edit edit = edit_of(LOUPE_EDIT_REMOVED, id);

	edit.cnt = cnt;
	return record(opt, &edit, reason, args, NULL);
}

int filter_merge(struct filter_opt *opt, uint32_t id, uint32_t into,
		 const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS])
{
	struct loupe_edit edit = edit_of(LOUPE_EDIT_REMOVED, id);

	edit.into = into;
	return record(opt, &edit, reason, args, NULL);
}

int filter_retarget(struct filter_opt *opt, uint32_t id, enum loupe_way way, uint32_t to,
		    const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS])
{
	struct loupe_edit edit = edit_of(LOUPE_EDIT_RETARGETED, id);

	opt->lost[rewrite_list_target(opt->list, id, way)] =
		(struct filter_lost){ .from = id, .to = to, .way = way };
	edit.way = way;
	edit.jt = to;
	return record(opt, &edit, reason, args, NULL);
}

int filter_replace(struct filter_opt *opt, uint32_t id, struct loupe_cbpf_insn insn, uint32_t jt,
		   const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS])
{
	struct loupe_edit edit = edit_of(LOUPE_EDIT_REPLACED, id);
	enum loupe_way way[2];
	uint32_t to[2];

	for (unsigned int i = filter_ways(opt, id, to, way); i--;) {
		if (to[i] != jt)
			opt->lost[to[i]] =
				(struct filter_lost){ .from = id, .to = jt, .way = way[i] };
	}
	edit.insn.cbpf = insn;
	edit.jt = jt;
	return record(opt, &edit, reason, args, NULL);
}

int filter_insert(struct filter_opt *opt, uint32_t where, struct loupe_cbpf_insn insn, uint32_t jt,
		  const struct loupe_reason *reason, const uint32_t args[LOUPE_REASON_ARGS],
		  uint32_t *id)
{
	struct loupe_edit edit = edit_of(LOUPE_EDIT_INSERTED, LOUPE_NONE);

	edit.where = where;
	edit.insn.cbpf = insn;
	edit.jt = jt;
	return record(opt, &edit, reason, args, id);
}

bool filter_scratch_ok(const struct filter_opt *opt, uint32_t as_return, uint32_t skip,
		       uint32_t skip_cnt)
{
	uint32_t behind = skip; /* what follows the instructions that go */
	uint16_t *masks, valid = 0;
	bool ok = true;

	if (!opt->scratch)
		return true;
	masks = malloc(opt->list->id_cnt * sizeof(*masks));
	if (!masks)
		return false;
	memset(masks, 0xff, opt->list->id_cnt * sizeof(*masks));
	for (uint32_t i = 0; behind != LOUPE_NONE && i < skip_cnt; i++)
		behind = filter_node(opt, behind)->next;
	for (uint32_t id = opt->list->first; ok && id != LOUPE_NONE;
	     id = filter_node(opt, id)->next) {
		struct loupe_cbpf_insn insn;
		enum loupe_way way[2];
		uint32_t to[2];

		if (id == skip) {
			/* Jumps to them, which unreachable code may have, lead on. */
			while (id != behind) {
				valid &= masks[id];
				id = filter_node(opt, id)->next;
			}
			if (id == LOUPE_NONE)
				break;
		}
		insn = filter_insn(opt, id);
		valid &= masks[id];
		if (id == as_return)
			continue;
		switch (filter_opcode_of(insn.code)->form) {
		case FORM_ST:
			valid |= (uint16_t)(1u << insn.k);
			break;
		case FORM_MEM:
			ok = valid & 1u << insn.k;
			break;
		case FORM_JA:
		case FORM_JMP_K:
		case FORM_JMP_X:
			for (unsigned int i = filter_ways(opt, id, to, way); i--;)
				masks[to[i]] &= valid;
			valid = 0xffff;
			break;
		default:
			break;
		}
	}
	free(masks);
	return ok;
}

static int run_in_place(struct filter_opt *opt, uint64_t off)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < PASS_CNT; i++) {
			int edits;

			if (!passes[i].run || off & UINT64_C(1) << i)
				continue;
			opt->pass = passes[i].info.name;
			edits = filter_opt_number(opt);
			if (!edits)
				edits = passes[i].run(opt);
			if (edits < 0)
				return edits;
			again |= edits > 0;
		}
	}
	opt->pass = "reach";
	return filter_make_reach(opt);
}

static bool is_off(uint64_t off, uint32_t row)
{
	return off >> row & 1;
}

static int run_passes(struct filter_opt *opt, const struct loupe_filter_opts *opts)
{
	uint64_t off = opts->off;
	uint32_t use = 0;
	int ret = 0;

	opt->used = opts->level;

	if (!is_off(off, THREAD))
		use |= FILTER_USE_TESTS;
	if (!is_off(off, LOAD))
		use |= FILTER_USE_LOADS;
	if (opts->level >= 2 && !is_off(off, SYNTH))
		use |= FILTER_USE_SYNTH;
	if (opts->level >= 3 && !is_off(off, SEARCH))
		use |= FILTER_USE_SEARCH;
	/* Looking for them takes time, which whoever gives weights has. */
	if ((opts->level >= 3 || opts->weights) && !is_off(off, BITS))
		use |= FILTER_USE_BITS;
	/* A graph has neither unreachable code nor two equal returns. */
	if (opts->level && !is_off(off, UNREACHABLE) && !is_off(off, RETURN) && !is_off(off, SHARE))
		ret = filter_optimize_graph(opt, use, opts->weights);
	else if (opts->level) {
		opt->used = 0;
		opt->why = "passes that a graph needs are switched off";
	}
	return ret ? ret : run_in_place(opt, off);
}

/* The kernel must take what we made; anything else is a mistake of ours and must not get out. */
static int check_result(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
			struct loupe_error *err)
{
	struct loupe_filter *after;
	int ret = loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, err);

	loupe_filter_destroy(after);
	return ret;
}

/* As loupe_filter_optimize(); tells the level that was used, and why it is not the one asked
 * for. */
static int optimize(const struct loupe_filter *filter, const struct loupe_filter_opts *opts,
		    struct loupe_rewrite **out, uint32_t *used, const char **why,
		    struct loupe_error *err)
{
	const struct loupe_filter_opts none = { 0 };
	struct filter_opt opt;
	int ret = filter_opt_init(&opt, filter);

	*out = NULL;
	if (!ret)
		ret = run_passes(&opt, opts ? opts : &none);
	if (ret >= 0)
		ret = loupe_rewrite_seal(opt.rw);
	if (ret)
		loupe_error_set(err, ret, "optimizing: %s", strerror(-ret));
	else
		ret = check_result(filter, opt.rw, err);
	if (!ret) {
		*out = opt.rw;
		opt.rw = NULL;
	}
	*used = opt.used;
	*why = opt.why;
	filter_opt_finish(&opt);
	return ret;
}

int loupe_filter_optimize(const struct loupe_filter *filter, const struct loupe_filter_opts *opts,
			  struct loupe_rewrite **out, struct loupe_error *err)
{
	const char *why;
	uint32_t used;

	return optimize(filter, opts, out, &used, &why, err);
}

static int judge(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
		 struct loupe_filter_proof *proof, struct loupe_error *err)
{
	struct loupe_filter *after;
	int ret = loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, err);

	if (!ret)
		ret = loupe_filter_prove(filter, after, proof, err);
	loupe_filter_destroy(after);
	return ret;
}

int loupe_filter_optimize_proven(const struct loupe_filter *filter,
				 const struct loupe_filter_opts *opts, struct loupe_rewrite **out,
				 struct loupe_filter_proof *proof, uint32_t *level,
				 struct loupe_error *err)
{
	struct loupe_filter_opts at = opts ? *opts : (struct loupe_filter_opts){ 0 };
	const char *refused = NULL;

	for (;;) {
		const char *why;
		uint32_t used;
		int ret = optimize(filter, &at, out, &used, &why, err);

		if (!ret)
			ret = judge(filter, *out, proof, err);
		if (ret || proof->verdict != LOUPE_PROOF_REFUTED || !used) {
			if (!ret && proof->verdict == LOUPE_PROOF_REFUTED)
				ret = loupe_error_set(
					err, -EPROTO,
					"the optimized filter is not the same; it is not "
					"used");
			if (ret) {
				loupe_rewrite_destroy(*out);
				*out = NULL;
			}
			proof->lower = refused ? refused : why;
			if (level)
				*level = used;
			return ret;
		}
		loupe_rewrite_destroy(*out);
		*out = NULL;
		at.level = used - 1;
		refused = "what a higher level made is not the same filter, which is a mistake of "
			  "ours";
	}
}

int loupe_filter_from_rewrite(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
			      uint32_t n, struct loupe_filter **out, struct loupe_error *err)
{
	const struct loupe_rewrite_prog *after = loupe_rewrite_after(rw);
	struct loupe_rewrite_prog made = { 0 };
	struct loupe_cbpf_insn *insns = NULL;
	int ret = 0;

	*out = NULL;
	if (loupe_rewrite_kind(rw) != LOUPE_REWRITE_CBPF)
		return loupe_error_set(err, -EINVAL, "not the rewrite of a filter");
	if (!after || after->edits != n) {
		ret = loupe_rewrite_prog_at(rw, n, &made);
		after = &made;
	}
	if (!ret && !after->encodable)
		ret = -ERANGE;
	if (!ret) {
		insns = malloc((after->cnt + !after->cnt) * sizeof(*insns));
		ret = insns ? 0 : -ENOMEM;
	}
	if (ret) {
		loupe_error_set(err, ret, "program after edit %u: %s", n, strerror(-ret));
	} else {
		for (uint32_t i = 0; i < after->cnt; i++)
			insns[i] = after->insns[i].cbpf;
		ret = loupe_filter_create(filter->name, insns, after->cnt, filter->flavour, out,
					  err);
	}
	free(insns);
	loupe_rewrite_prog_finish(&made);
	return ret;
}
