// SPDX-License-Identifier: GPL-2.0-only
/* A filter and why it is so, as one JSON object. */
#include "bpfloupe/why.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* jansson takes valid UTF-8 only; names of files may be anything. */
static json_t *string(const char *text)
{
	json_t *value = json_string(text);
	char clean[512];

	if (value)
		return value;
	snprintf(clean, sizeof(clean), "%s", text);
	for (char *c = clean; *c; c++) {
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	}
	return json_string(clean);
}

static json_t *number(uint32_t n)
{
	return n == LOUPE_NONE ? json_null() : json_integer(n);
}

static json_t *stats_of(const struct loupe_filter *filter)
{
	struct loupe_filter_stats s =
		loupe_filter_stats_of(filter->flavour, filter->insns, filter->cnt);

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "insns", (json_int_t)s.insns, "loads",
			 (json_int_t)s.loads, "branches", (json_int_t)s.branches, "jumps",
			 (json_int_t)s.jumps, "returns", (json_int_t)s.returns, "blocks",
			 (json_int_t)s.blocks, "longest", (json_int_t)s.longest);
}

static json_t *proof_of(const struct loupe_filter_proof *proof)
{
	static const char *const words[] = {
		[LOUPE_PROOF_PROVEN] = "proven",
		[LOUPE_PROOF_TESTED] = "tested",
		[LOUPE_PROOF_REFUTED] = "refuted",
	};

	if (!proof)
		return json_null();
	return json_pack("{s:s,s:I,s:s?}", "verdict", words[proof->verdict], "inputs",
			 (json_int_t)proof->inputs, "why_not", proof->why_not);
}

static json_t *callers_of(const struct loupe_why *why)
{
	json_t *list = json_array();
	uint32_t cnt;
	const struct loupe_callers *callers = loupe_why_callers(why, &cnt);

	for (uint32_t c = 0; c < cnt; c++) {
		bool call = callers[c].kind == LOUPE_CALLERS_CALL;
		char text[64];

		loupe_callers_text(callers[c], text, sizeof(text));
		json_array_append_new(list, json_pack("{s:o,s:o,s:I}", "name", string(text), "nr",
						      number(call ? callers[c].nr : LOUPE_NONE),
						      "arch", (json_int_t)callers[c].arch));
	}
	return list;
}

static json_t *rules_of(const struct loupe_policy *policy)
{
	json_t *list = json_array();

	for (uint32_t r = 0; policy && r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];
		char text[512], action[64];

		loupe_policy_rule_text(rule, text, sizeof(text));
		loupe_seccomp_action_text(rule->action, action, sizeof(action));
		json_array_append_new(list,
				      json_pack("{s:I,s:o,s:I,s:s,s:s}", "nr", (json_int_t)rule->nr,
						"file", string(policy->files[rule->file]), "line",
						(json_int_t)rule->line, "conditions", text,
						"action", action));
	}
	return list;
}

static json_t *hold_of(const struct loupe_hold *hold)
{
	static const char *const kinds[] = {
		[LOUPE_HOLD_START] = "start",
		[LOUPE_HOLD_WORD] = "word",
		[LOUPE_HOLD_CHANGED] = "changed",
		[LOUPE_HOLD_MIXED] = "mixed",
	};

	return json_pack("{s:s,s:o,s:I,s:I}", "holds", kinds[hold->kind], "at", number(hold->at),
			 "min", (json_int_t)hold->lo, "max", (json_int_t)hold->hi);
}

/* Numbers of a set. */
static json_t *members(const uint64_t *set, uint32_t cnt)
{
	json_t *list = json_array();

	for (uint32_t n = 0; n < cnt; n++) {
		if (set[n / 64] >> (n % 64) & 1)
			json_array_append_new(list, json_integer(n));
	}
	return list;
}

static json_t *ways_of(const struct loupe_why *why, uint32_t insn)
{
	static const char *const words[] = {
		[LOUPE_WAY_FALL] = "next",
		[LOUPE_WAY_JUMP] = "jump",
		[LOUPE_WAY_TRUE] = "true",
		[LOUPE_WAY_FALSE] = "false",
	};
	json_t *list = json_array();
	uint32_t cnt, callers;
	const struct loupe_arrival *arrivals = loupe_why_arrivals(why, insn, &cnt);

	loupe_why_callers(why, &callers);
	for (uint32_t n = 0; n < cnt; n++) {
		json_t *path = json_array();

		for (uint32_t i = 0; i < arrivals[n].path_cnt; i++)
			json_array_append_new(path, json_integer(arrivals[n].path[i]));
		json_array_append_new(
			list,
			json_pack("{s:o,s:s,s:o,s:o,s:o}", "from", number(arrivals[n].from), "way",
				  words[arrivals[n].way], "a", hold_of(&arrivals[n].a), "callers",
				  members(arrivals[n].callers, callers), "path", path));
	}
	return list;
}

static json_t *insns_of(const struct loupe_why *why, const struct loupe_rewrite *rw)
{
	const struct loupe_filter *filter = loupe_why_filter(why);
	const struct loupe_policy *policy = loupe_why_policy(why);
	json_t *list = json_array();

	for (uint32_t i = 0; i < filter->cnt; i++) {
		struct loupe_cbpf_insn insn = filter->insns[i];
		int64_t was = rw ? loupe_rewrite_before_of(rw, i) : -1;
		json_t *rules = json_array();
		char text[160];

		for (uint32_t r = 0; policy && r < policy->rule_cnt; r++) {
			if (loupe_why_serves(why, i, r))
				json_array_append_new(rules, json_integer(r));
		}
		loupe_filter_insn_text(filter->flavour, insn, i, LOUPE_SYNTAX_WORDS, text,
				       sizeof(text));
		json_array_append_new(
			list, json_pack("{s:I,s:I,s:I,s:I,s:s,s:o,s:o,s:o}", "code",
					(json_int_t)insn.code, "jt", (json_int_t)insn.jt, "jf",
					(json_int_t)insn.jf, "k", (json_int_t)insn.k, "text", text,
					"before", number(was < 0 ? LOUPE_NONE : (uint32_t)was),
					"rules", rules, "ways", ways_of(why, i)));
	}
	return list;
}

static json_t *edits_of(const struct loupe_rewrite *rw)
{
	json_t *list = json_array();

	for (uint32_t n = 0; rw && n < loupe_rewrite_edit_cnt(rw); n++) {
		const struct loupe_edit *edit = loupe_rewrite_edit_get(rw, n);
		char line[512];

		loupe_rewrite_edit_line(rw, n, line, sizeof(line));
		json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "pass", edit->pass, "kind",
						      loupe_edit_kind_name(edit->kind), "text",
						      string(line)));
	}
	return list;
}

int loupe_why_json(const struct loupe_why *before, const struct loupe_why *after,
		   const struct loupe_rewrite *rw, const struct loupe_filter_proof *proof,
		   char **out, size_t *len)
{
	const struct loupe_filter *filter = loupe_why_filter(after);
	json_t *top =
		json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", string(filter->name),
			  "kind", filter->flavour == LOUPE_FILTER_SECCOMP ? "seccomp" : "socket",
			  "proof", proof_of(proof), "before", stats_of(loupe_why_filter(before)),
			  "after", stats_of(filter), "callers", callers_of(after), "rules",
			  rules_of(loupe_why_policy(after)), "insns", insns_of(after, rw), "edits",
			  edits_of(rw));
	char *text = top ? json_dumps(top, JSON_INDENT(1)) : NULL;
	FILE *f;

	json_decref(top);
	*out = NULL;
	*len = 0;
	if (!text)
		return -ENOMEM;
	f = open_memstream(out, len);
	if (f) {
		fprintf(f, "%s\n", text);
		if (fclose(f)) {
			free(*out);
			*out = NULL;
		}
	}
	free(text);
	return *out ? 0 : -ENOMEM;
}
