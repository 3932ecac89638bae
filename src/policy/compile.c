// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a policy to a filter. The rules of each system call become a decision graph, and that
 * becomes instructions, in several orders of the argument words; the order that costs least is
 * taken, what other calls have already counting nothing. Over the calls stands a search tree of
 * numbers.
 */
#include "filter/plan.h"
#include "policy/decide.h"
#include "policy/policy.h"
#include "policy/split.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PERMUTED	4u   /* arguments of which every order is tried */
#define SPREAD		0.02 /* share of calls that no table knows */
#define OFFSET_NR	((uint32_t)offsetof(struct loupe_seccomp_data, nr))
#define OFFSET_ARCH	((uint32_t)offsetof(struct loupe_seccomp_data, arch))
#define OFFSET_WORD(n)	((uint32_t)offsetof(struct loupe_seccomp_data, args) + 4u * (n))

/* One system call that has rules. */
struct call {
	uint32_t nr;
	uint32_t entry; /* node */
	double weight;	/* share of all calls */
	struct loupe_weight *rows; /* those with arguments, weights as shares */
	uint32_t row_cnt;
	double spread; /* share without known arguments */
};

struct compiler {
	const struct loupe_policy *policy;
	struct code code;
	struct call *calls; /* by ascending number */
	uint32_t call_cnt;
	struct loupe_weight *rows; /* all of the calls' rows */
	double unknown;		   /* share of each gap between numbers */
	struct loupe_error *err;
};

/* ---- one call ----------------------------------------------------------------------------- */

struct render {
	struct code *code;
	const struct decide *d;
	uint32_t *entry; /* by decision node: with its word loaded first */
	uint32_t *body;	 /* A holds its word */
	bool *used;
};

/* Where to go on, A holding a word. */
static uint32_t way_on(const struct render *r, uint32_t child, uint8_t word)
{
	const struct decide_node *node = &r->d->nodes[child];

	return node->kind == DECIDE_MASK && node->word == word ? r->body[child] : r->entry[child];
}

static int render_split(const struct render *r, const struct decide_node *node, uint32_t *out)
{
	struct split_item *items = malloc(node->cnt * sizeof(*items));
	int ret;

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < node->cnt; i++) {
		items[i] = (struct split_item){ .lo = i ? node->ends[i - 1] + 1 : 0,
						.hi = node->ends[i],
						.target = way_on(r, node->children[i], node->word),
						.weight = node->weights[i] };
	}
	ret = split_build(r->code, items, node->cnt, out);
	free(items);
	return ret;
}

static uint32_t render_mask(const struct render *r, const struct decide_node *node)
{
	uint32_t yes = way_on(r, node->children[0], node->word);
	uint32_t no = way_on(r, node->children[1], node->word);

	if (!node->value)
		return code_jump(r->code, CODE_JSET, node->mask, no, yes);
	if (node->value == node->mask && !(node->mask & (node->mask - 1)))
		return code_jump(r->code, CODE_JSET, node->mask, yes, no);
	/* A holds the word no more */
	yes = r->entry[node->children[0]];
	no = r->entry[node->children[1]];
	return code_and(r->code, node->mask,
			code_jump(r->code, CODE_JEQ, node->value, yes, no));
}

static void mark_used(const struct render *r)
{
	r->used[r->d->root] = true;
	for (uint32_t n = r->d->root + 1; n--;) {
		for (uint32_t i = 0; r->used[n] && i < r->d->nodes[n].cnt; i++)
			r->used[r->d->nodes[n].children[i]] = true;
	}
}

static int render(struct code *code, const struct decide *d, uint32_t *out)
{
	struct render r = {
		.code = code,
		.d = d,
		.entry = calloc(d->cnt, sizeof(uint32_t)),
		.body = calloc(d->cnt, sizeof(uint32_t)),
		.used = calloc(d->cnt, sizeof(bool)),
	};
	int ret = r.entry && r.body && r.used ? 0 : -ENOMEM;

	if (!ret)
		mark_used(&r);
	for (uint32_t n = 0; !ret && n <= d->root; n++) {
		const struct decide_node *node = &d->nodes[n];

		if (!r.used[n])
			continue;
		code->line = node->line;
		switch ((enum decide_kind)node->kind) {
		case DECIDE_ACTION:
			r.entry[n] = code_ret(code, node->action);
			continue;
		case DECIDE_SPLIT:
			ret = render_split(&r, node, &r.body[n]);
			break;
		case DECIDE_MASK:
			r.body[n] = render_mask(&r, node);
			break;
		}
		r.entry[n] = code_load(code, OFFSET_WORD(node->word), r.body[n]);
		if (code->failed)
			ret = -ENOMEM;
	}
	if (!ret)
		*out = r.entry[d->root];
	code->line = 0;
	free(r.entry);
	free(r.body);
	free(r.used);
	return ret;
}

static int build_call(struct compiler *c, const struct call *call, const struct lower_rules *rules,
		      const uint8_t order[LOWER_WORDS], uint32_t *entry)
{
	struct decide d;
	int ret = decide_build(rules, order, &d);

	if (!ret) {
		decide_weigh(&d, call->rows, call->row_cnt, call->spread);
		ret = render(&c->code, &d, entry);
	}
	decide_finish(&d);
	return ret;
}

static double cost_of(const struct compiler *c, const struct call *call, uint32_t entry,
		      uint32_t nodes_before)
{
	double cost = FILTER_SIZE_COST * (c->code.cnt - nodes_before);

	for (uint32_t i = 0; i < call->row_cnt; i++) {
		struct loupe_seccomp_data data = { .nr = call->nr };

		memcpy(data.args, call->rows[i].args, sizeof(data.args));
		cost += call->rows[i].weight * code_run(&c->code, entry, 0, &data);
	}
	return cost;
}

/* Low words in the order of args, then high words, in the reverse order or in the same. */
static void order_words(const uint8_t args[6], bool reversed, uint8_t order[LOWER_WORDS])
{
	for (uint8_t i = 0; i < 6; i++) {
		order[args[i] * 2] = i;
		order[args[i] * 2 + 1] = (uint8_t)(6 + (reversed ? 5 - i : i));
	}
}

static void swap(uint8_t *a, uint8_t *b)
{
	uint8_t was = *a;

	*a = *b;
	*b = was;
}

/* The next permutation of the first cnt in lexical order. @return false behind the last */
static bool permute(uint8_t *args, uint32_t cnt)
{
	uint32_t pivot, other = cnt;

	for (pivot = cnt; pivot > 1 && args[pivot - 2] > args[pivot - 1]; pivot--)
		;
	if (pivot < 2)
		return false;
	pivot -= 2;
	while (args[--other] < args[pivot])
		;
	swap(&args[pivot], &args[other]);
	for (uint32_t low = pivot + 1, high = cnt - 1; low < high; low++, high--)
		swap(&args[low], &args[high]);
	return true;
}

/* Arguments that are tested, then the others. @return how many are tested */
static uint32_t tested_args(const struct lower_rules *rules, uint8_t args[6])
{
	bool tested[6] = { false };
	uint32_t cnt = 0, all;

	for (uint32_t i = 0; i < rules->cnt; i++) {
		for (uint32_t a = 0; a < rules->rules[i].cnt; a++)
			tested[rules->rules[i].atoms[a].word / 2] = true;
	}
	for (uint8_t a = 0; a < 6; a++) {
		if (tested[a])
			args[cnt++] = a;
	}
	all = cnt;
	for (uint8_t a = 0; a < 6; a++) {
		if (!tested[a])
			args[all++] = a;
	}
	return cnt;
}

static int try_orders(struct compiler *c, struct call *call, const struct lower_rules *rules)
{
	uint8_t args[6], order[LOWER_WORDS], best[LOWER_WORDS];
	uint32_t permuted = tested_args(rules, args), before = c->code.cnt;
	double least = 1e300;
	int ret, worst = -E2BIG;

	/* without a test every order is the same; large sets of rules are not tried 48 times */
	if (permuted > MAX_PERMUTED || rules->cnt > 500)
		permuted = 0;
	do {
		for (int reversed = 1; reversed >= 0; reversed--) {
			uint32_t entry;
			double cost;

			order_words(args, reversed, order);
			ret = build_call(c, call, rules, order, &entry);
			cost = ret ? 1e300 : cost_of(c, call, entry, before);
			code_rollback(&c->code, before);
			if (ret == -ENOMEM)
				return ret;
			if (cost < least) {
				least = cost;
				memcpy(best, order, sizeof(best));
				worst = 0;
			}
			if (rules->cnt == 1)
				break;
		}
	} while (permute(args, permuted));
	return worst ? worst : build_call(c, call, rules, best, &call->entry);
}

static int compile_call(struct compiler *c, struct call *call)
{
	struct lower_rules rules;
	const char *name = loupe_syscall_name(c->policy->arch, call->nr);
	int ret = lower_rules(c->policy, call->nr, &rules);

	c->code.owner = call->nr;
	if (!ret)
		ret = try_orders(c, call, &rules);
	c->code.owner = CODE_COMMON;
	if (ret == -E2BIG)
		loupe_error_set(c->err, ret,
				"the rules of %s (%u) fall into too many cases for a filter: "
				"make them fewer",
				name ? name : "a call", call->nr);
	lower_finish(&rules);
	return ret;
}

/* ---- weights ------------------------------------------------------------------------------ */

static int compare_calls(const void *a, const void *b)
{
	uint32_t x = ((const struct call *)a)->nr, y = ((const struct call *)b)->nr;

	return (x > y) - (x < y);
}

static int collect_calls(struct compiler *c)
{
	const struct loupe_policy *policy = c->policy;
	uint32_t kept = 0;

	c->calls = calloc(policy->rule_cnt + 1, sizeof(*c->calls));
	if (!c->calls)
		return -ENOMEM;
	for (uint32_t i = 0; i < policy->rule_cnt; i++)
		c->calls[i].nr = policy->rules[i].nr;
	qsort(c->calls, policy->rule_cnt, sizeof(*c->calls), compare_calls);
	for (uint32_t i = 0; i < policy->rule_cnt; i++) {
		bool apart = policy_is_apart(policy, c->calls[i].nr);

		if (!apart && (!kept || c->calls[kept - 1].nr != c->calls[i].nr))
			c->calls[kept++].nr = c->calls[i].nr;
	}
	c->call_cnt = kept;
	return 0;
}

/* Weights become shares of all calls; a small part stays for calls that the table lacks. */
static int share_weights(struct compiler *c, const struct loupe_weights *weights)
{
	double total = 0, spread;
	uint32_t used = 0;

	for (uint32_t i = 0; weights && i < weights->cnt; i++)
		total += weights->rows[i].weight;
	spread = (total > 0 ? SPREAD : 1.0) / (c->call_cnt + 1);
	c->unknown = spread / 10;
	c->rows = calloc((weights ? weights->cnt : 0) + 1, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->call_cnt; i++) {
		struct call *call = &c->calls[i];

		call->rows = c->rows + used;
		call->weight = call->spread = spread;
		for (uint32_t r = 0; total > 0 && r < weights->cnt; r++) {
			double share = weights->rows[r].weight / total;

			if (weights->rows[r].nr != call->nr)
				continue;
			call->weight += share;
			if (weights->rows[r].has_args) {
				call->rows[call->row_cnt] = weights->rows[r];
				call->rows[call->row_cnt++].weight = share;
				used++;
			} else {
				call->spread += share;
			}
		}
	}
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static double gap_weight(const struct compiler *c, const struct loupe_weights *weights, uint32_t lo,
			 uint32_t hi)
{
	double total = 0, inside = 0;

	for (uint32_t i = 0; weights && i < weights->cnt; i++) {
		total += weights->rows[i].weight;
		if (weights->rows[i].nr >= lo && weights->rows[i].nr <= hi)
			inside += weights->rows[i].weight;
	}
	return c->unknown + (total > 0 ? inside / total : 0);
}

static int compile_numbers(struct compiler *c, const struct loupe_weights *weights, uint32_t *out)
{
	const struct loupe_policy *policy = c->policy;
	struct split_item *items = malloc((2 * (size_t)c->call_cnt + 4) * sizeof(*items));
	uint32_t end = policy->x32_apart ? POLICY_X32_BIT - 1 : UINT32_MAX, cnt = 0, next = 0;
	uint32_t fallback = code_ret(&c->code, policy->default_action), call_cnt = c->call_cnt;
	const struct call *none = NULL; /* rules for the number -1 */
	bool full = false;
	int ret;

	if (!items)
		return -ENOMEM;
	if (policy->x32_apart && call_cnt && c->calls[call_cnt - 1].nr == POLICY_NO_CALL)
		none = &c->calls[--call_cnt];
	for (uint32_t i = 0; i <= call_cnt; i++) {
		uint32_t nr = i < call_cnt ? c->calls[i].nr : end;

		if (next < nr || (i == call_cnt && next == nr && !full)) {
			uint32_t hi = i < call_cnt ? nr - 1 : end;

			items[cnt++] = (struct split_item){ next, hi, fallback,
							    gap_weight(c, weights, next, hi) };
		}
		if (i < call_cnt) {
			items[cnt++] = (struct split_item){ nr, nr, c->calls[i].entry,
							    c->calls[i].weight };
			full = nr == end;
			next = full ? nr : nr + 1;
		}
		if (full)
			break;
	}
	if (policy->x32_apart) {
		items[cnt++] = (struct split_item){ POLICY_X32_BIT, POLICY_NO_CALL - 1,
						    code_ret(&c->code, policy->other_arch),
						    c->unknown };
		items[cnt++] = (struct split_item){ POLICY_NO_CALL, POLICY_NO_CALL,
						    none ? none->entry : fallback,
						    none ? none->weight : c->unknown };
	}
	ret = c->code.failed ? -ENOMEM : split_build(&c->code, items, cnt, out);
	free(items);
	return ret;
}

static void mark_reached(const struct code *code, uint32_t n, bool *reached)
{
	if (n == CODE_NONE || reached[n])
		return;
	reached[n] = true;
	mark_reached(code, code->nodes[n].yes, reached);
	mark_reached(code, code->nodes[n].no, reached);
}

/* Says which calls have most of the instructions. */
static int too_large(struct compiler *c, uint32_t root, uint32_t cnt)
{
	bool *reached = calloc(c->code.cnt, sizeof(*reached));
	char names[200] = "";

	if (!reached)
		return -ENOMEM;
	mark_reached(&c->code, root, reached);
	for (int place = 0; place < 3; place++) {
		uint32_t most = 0, nr = 0;
		size_t used = strlen(names);
		const char *name;

		for (uint32_t i = 0; i < c->call_cnt; i++) {
			uint32_t own = 0;

			for (uint32_t n = 0; n < c->code.cnt; n++)
				own += reached[n] && c->code.nodes[n].owner == c->calls[i].nr;
			if (own > most) {
				most = own;
				nr = c->calls[i].nr;
			}
		}
		if (!most)
			break;
		for (uint32_t n = 0; n < c->code.cnt; n++)
			reached[n] &= c->code.nodes[n].owner != nr;
		name = loupe_syscall_name(c->policy->arch, nr);
		snprintf(names + used, sizeof(names) - used, "%s%s (%u): %u", place ? ", " : "",
			 name ? name : "call", nr, most);
	}
	free(reached);
	return loupe_error_set(
		c->err, -E2BIG,
		"the filter has %u instructions, the kernel takes %u; most are for %s", cnt,
		LOUPE_FILTER_MAX_INSNS, names);
}

static int make_filter(struct compiler *c, uint32_t root, struct loupe_filter **out)
{
	struct loupe_cbpf_insn *insns = NULL;
	uint32_t *lines = NULL, cnt;
	int ret = code_encode(&c->code, root, &insns, &lines, &cnt);

	if (ret)
		return ret;
	if (cnt > LOUPE_FILTER_MAX_INSNS)
		ret = too_large(c, root, cnt);
	else
		ret = loupe_filter_create(c->policy->name, insns, cnt, LOUPE_FILTER_SECCOMP, out,
					  c->err);
	free(insns);
	if (ret) {
		free(lines);
		return ret;
	}
	(*out)->lines = lines;
	return 0;
}

static int compile(struct compiler *c, const struct loupe_weights *weights,
		   struct loupe_filter **out)
{
	uint32_t numbers, root;
	int ret = code_init(&c->code);

	if (!ret)
		ret = collect_calls(c);
	if (!ret)
		ret = share_weights(c, weights);
	for (uint32_t i = 0; !ret && i < c->call_cnt; i++)
		ret = compile_call(c, &c->calls[i]);
	if (!ret)
		ret = compile_numbers(c, weights, &numbers);
	if (ret)
		return ret;
	if (c->code.nodes[numbers].kind != CODE_RET)
		numbers = code_load(&c->code, OFFSET_NR, numbers);
	root = code_jump(&c->code, CODE_JEQ, c->policy->arch, numbers,
			 code_ret(&c->code, c->policy->other_arch));
	if (c->code.nodes[root].kind != CODE_RET)
		root = code_load(&c->code, OFFSET_ARCH, root);
	return c->code.failed ? -ENOMEM : make_filter(c, root, out);
}

int loupe_policy_compile(const struct loupe_policy *policy, const struct loupe_weights *weights,
			 struct loupe_filter **out, struct loupe_error *err)
{
	struct compiler c = { .policy = policy, .err = err };
	struct loupe_weights own = { 0 };
	int ret = 0;

	*out = NULL;
	if (!weights)
		ret = loupe_policy_weights(policy, &own);
	if (!ret)
		ret = compile(&c, weights ? weights : &own, out);
	loupe_weights_finish(&own);
	if (ret == -ENOMEM)
		loupe_error_set(err, ret, "out of memory");
	else if (ret && err)
		snprintf(err->file, sizeof(err->file), "%s", policy->files[0]);
	code_finish(&c.code);
	free(c.calls);
	free(c.rows);
	return ret;
}
