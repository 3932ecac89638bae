// SPDX-License-Identifier: GPL-2.0-only
#include "policy/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS	  4096u
#define MAX_NODES 200000u
#define MAX_LOOKS (UINT64_C(1) << 27) /* at rules: seconds, and no filter has room for what comes of
					 it */
#define MAX_KNOWN 64
#define NONE	  UINT32_MAX

/* The node of a list of rules that are still possible, from a place in the order on. */
struct decide_memo {
	uint32_t level;
	uint32_t *list;
	uint32_t cnt;
	uint32_t node;
	uint32_t next;
};

/* Rules that are still possible, by index, in their order; the last one always holds. */
struct list {
	uint32_t *at;
	uint32_t cnt;
};

/* A masked test whose answer is known on this path. */
struct known {
	uint32_t mask, value;
	bool holds;
};

/* An interval of a word, and masked tests of it. */
struct place {
	uint8_t word;
	uint32_t level;
	uint32_t lo, hi;
	struct known known[MAX_KNOWN];
	uint32_t known_cnt;
};

enum truth { FALSE, TRUE, OPEN };

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static uint32_t node_bucket(const struct decide_node *node)
{
	uint64_t h = mix(node->kind, node->word);

	h = mix(mix(mix(h, node->action), node->mask), node->value);
	for (uint32_t i = 0; i < node->cnt; i++)
		h = mix(mix(h, node->children[i]), node->ends ? node->ends[i] : 0);
	return (uint32_t)(h >> 32) % BUCKETS;
}

static bool same_node(const struct decide_node *a, const struct decide_node *b)
{
	return a->kind == b->kind && a->word == b->word && a->action == b->action &&
	       a->mask == b->mask && a->value == b->value && a->cnt == b->cnt &&
	       (!a->cnt || !memcmp(a->children, b->children, a->cnt * sizeof(*a->children))) &&
	       (!a->ends || !memcmp(a->ends, b->ends, a->cnt * sizeof(*a->ends)));
}

/* Takes a copy of node, whose arrays are the caller's; an old one if there is one alike. */
static int add_node(struct decide *d, const struct decide_node *node, uint32_t *out)
{
	uint32_t bucket = node_bucket(node);
	struct decide_node *copy;
	size_t bytes = node->cnt * sizeof(uint32_t);

	for (uint32_t n = d->buckets[bucket]; n != NONE; n = d->nodes[n].next) {
		if (same_node(&d->nodes[n], node)) {
			*out = n;
			return 0;
		}
	}
	if (d->cnt == MAX_NODES)
		return -E2BIG;
	if (d->cnt == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 64;
		struct decide_node *bigger = realloc(d->nodes, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		d->nodes = bigger;
		d->cap = cap;
	}
	copy = &d->nodes[d->cnt];
	*copy = *node;
	copy->ends = copy->children = NULL;
	copy->weights = NULL;
	if (node->cnt) {
		copy->children = malloc(bytes);
		copy->weights = calloc(node->cnt, sizeof(*copy->weights));
		copy->ends = node->ends ? malloc(bytes) : NULL;
	}
	d->cnt++; /* from here on decide_finish() frees it */
	if (node->cnt && (!copy->children || !copy->weights || (node->ends && !copy->ends)))
		return -ENOMEM;
	if (node->cnt)
		memcpy(copy->children, node->children, bytes);
	if (node->ends)
		memcpy(copy->ends, node->ends, bytes);
	copy->next = d->buckets[bucket];
	d->buckets[bucket] = d->cnt - 1;
	*out = d->cnt - 1;
	return 0;
}

static int add_action(struct decide *d, uint32_t action, uint32_t *out)
{
	struct decide_node node = { .kind = DECIDE_ACTION, .action = action };

	return add_node(d, &node, out);
}

/* ---- memory of what was decided already --------------------------------------------------- */

static uint32_t memo_bucket(uint32_t level, const struct list *list)
{
	uint64_t h = level;

	for (uint32_t i = 0; i < list->cnt; i++)
		h = mix(h, list->at[i]);
	return (uint32_t)(h >> 32) % BUCKETS;
}

static bool recall(const struct decide *d, uint32_t level, const struct list *list, uint32_t *out)
{
	for (uint32_t m = d->memo_buckets[memo_bucket(level, list)]; m != NONE;
	     m = d->memos[m].next) {
		const struct decide_memo *memo = &d->memos[m];

		if (memo->level == level && memo->cnt == list->cnt &&
		    !memcmp(memo->list, list->at, list->cnt * sizeof(*list->at))) {
			*out = memo->node;
			return true;
		}
	}
	return false;
}

static int remember(struct decide *d, uint32_t level, const struct list *list, uint32_t node)
{
	uint32_t bucket = memo_bucket(level, list), *copy;

	if (d->memo_cnt == MAX_NODES)
		return -E2BIG;
	if (d->memo_cnt == d->memo_cap) {
		uint32_t cap = d->memo_cap ? d->memo_cap * 2 : 64;
		struct decide_memo *bigger = realloc(d->memos, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		d->memos = bigger;
		d->memo_cap = cap;
	}
	copy = malloc(list->cnt * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, list->at, list->cnt * sizeof(*copy));
	d->memos[d->memo_cnt] = (struct decide_memo){ .level = level,
						      .list = copy,
						      .cnt = list->cnt,
						      .node = node,
						      .next = d->memo_buckets[bucket] };
	d->memo_buckets[bucket] = d->memo_cnt++;
	return 0;
}

/* ---- tests -------------------------------------------------------------------------------- */

/* What is known of a test when its word lies in an interval. */
static enum truth truth_of(const struct lower_atom *atom, const struct place *p)
{
	uint32_t unlike = p->lo ^ p->hi, fixed = UINT32_MAX;

	if (atom->mask == UINT32_MAX)
		return (p->lo >= atom->lo && p->lo <= atom->hi) != atom->differs ? TRUE : FALSE;
	if (unlike)
		fixed = (uint32_t)(~UINT64_C(0) << (32 - __builtin_clz(unlike)));
	if ((p->lo ^ atom->lo) & atom->mask & fixed)
		return atom->differs ? TRUE : FALSE;
	if (!(atom->mask & ~fixed))
		return atom->differs ? FALSE : TRUE;
	for (uint32_t k = 0; k < p->known_cnt; k++) {
		const struct known *known = &p->known[k];

		if (known->mask == atom->mask && known->value == atom->lo)
			return known->holds != atom->differs ? TRUE : FALSE;
		if (known->mask == atom->mask && known->holds)
			return atom->differs ? TRUE : FALSE;
	}
	return OPEN;
}

/* What is known of a rule's tests of the word; an open one in *open. */
static enum truth rule_truth(const struct lower_rule *rule, const struct place *p,
			     const struct lower_atom **open)
{
	enum truth all = TRUE;

	for (uint32_t i = 0; i < rule->cnt; i++) {
		enum truth one;

		if (rule->atoms[i].word != p->word)
			continue;
		one = truth_of(&rule->atoms[i], p);
		if (one == FALSE)
			return FALSE;
		if (one == OPEN && all == TRUE) {
			all = OPEN;
			*open = &rule->atoms[i];
		}
	}
	return all;
}

/* First place from level on at which a rule tests a word, NONE if it tests nothing more. */
static uint32_t next_test(const struct decide *d, const struct lower_rule *rule, uint32_t level)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < rule->cnt; i++) {
		uint32_t place = d->order[rule->atoms[i].word];

		if (place >= level && place < best)
			best = place;
	}
	return best;
}

static int build(struct decide *d, uint32_t level, struct list list, uint32_t *out);

/* Whether a masked test is one instruction and leaves A as it is. */
static bool is_plain(const struct lower_atom *atom)
{
	return !atom->lo || (atom->lo == atom->mask && !(atom->mask & (atom->mask - 1)));
}

/*
 * Rules whose tests of this word are decided go on to the next words; one that is open is tested
 * first.
 */
static int build_place(struct decide *d, const struct list *list, struct place *p, uint32_t *out)
{
	uint32_t *left = malloc((list->cnt + 1) * sizeof(*left)), ways[2], line = 0;
	const struct lower_atom *chosen = NULL;
	struct list rest = { .at = left };
	struct decide_node node;
	int ret = 0;

	if (!left)
		return -ENOMEM;
	d->looks += list->cnt;
	if (d->looks > MAX_LOOKS) {
		free(left);
		return -E2BIG;
	}
	for (uint32_t i = 0; i < list->cnt; i++) {
		const struct lower_rule *rule = &d->rules->rules[list->at[i]];
		const struct lower_atom *open = NULL;

		if (rule_truth(rule, p, &open) == FALSE)
			continue;
		left[rest.cnt++] = list->at[i];
		if (open && (!chosen || (!is_plain(chosen) && is_plain(open)))) {
			chosen = open;
			line = rule->line;
		}
		/* nothing behind a rule that holds whatever comes */
		if (!open && next_test(d, rule, p->level + 1) == NONE)
			break;
	}
	if (!chosen) {
		ret = build(d, p->level + 1, rest, out);
		free(left);
		return ret;
	}
	if (p->known_cnt == MAX_KNOWN)
		ret = -E2BIG;
	for (int way = 0; !ret && way < 2; way++) {
		p->known[p->known_cnt++] =
			(struct known){ chosen->mask, chosen->lo, way == 0 };
		ret = build_place(d, &rest, p, &ways[way]);
		p->known_cnt--;
	}
	free(left);
	if (ret)
		return ret;
	if (ways[0] == ways[1]) {
		*out = ways[0];
		return 0;
	}
	node = (struct decide_node){ .kind = DECIDE_MASK,
				     .word = p->word,
				     .mask = chosen->mask,
				     .value = chosen->lo,
				     .cnt = 2,
				     .children = ways,
				     .line = line };
	return add_node(d, &node, out);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Where intervals start: at each bound of a test. @return how many, without doubles */
static uint32_t find_starts(const struct decide *d, const struct list *list, uint8_t word,
			    uint32_t *starts)
{
	uint32_t cnt = 0, kept = 1;

	starts[cnt++] = 0;
	for (uint32_t i = 0; i < list->cnt; i++) {
		const struct lower_rule *rule = &d->rules->rules[list->at[i]];

		for (uint32_t a = 0; a < rule->cnt; a++) {
			const struct lower_atom *atom = &rule->atoms[a];

			if (atom->word != word || atom->mask != UINT32_MAX)
				continue;
			starts[cnt++] = atom->lo;
			if (atom->hi != UINT32_MAX)
				starts[cnt++] = atom->hi + 1;
		}
	}
	qsort(starts, cnt, sizeof(*starts), compare_u32);
	for (uint32_t i = 1; i < cnt; i++) {
		if (starts[i] != starts[kept - 1])
			starts[kept++] = starts[i];
	}
	return kept;
}

static uint32_t count_atoms(const struct decide *d, const struct list *list)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < list->cnt; i++)
		cnt += d->rules->rules[list->at[i]].cnt;
	return cnt;
}

static uint32_t line_of_test(const struct decide *d, const struct list *list, uint8_t word)
{
	for (uint32_t i = 0; i < list->cnt; i++) {
		const struct lower_rule *rule = &d->rules->rules[list->at[i]];

		for (uint32_t a = 0; a < rule->cnt; a++) {
			if (rule->atoms[a].word == word)
				return rule->line;
		}
	}
	return 0;
}

static int build_split(struct decide *d, uint32_t level, uint8_t word, const struct list *list,
		       uint32_t *out)
{
	size_t room = count_atoms(d, list) * 2u + 2;
	uint32_t *starts = malloc(3 * room * sizeof(*starts));
	uint32_t *ends = starts + room, *children = ends + room, cnt, kept = 0;
	struct decide_node node;
	int ret = 0;

	if (!starts)
		return -ENOMEM;
	cnt = find_starts(d, list, word, starts);
	for (uint32_t i = 0; !ret && i < cnt; i++) {
		struct place p = { .word = word,
				   .level = level,
				   .lo = starts[i],
				   .hi = i + 1 < cnt ? starts[i + 1] - 1 : UINT32_MAX };
		uint32_t child;

		ret = build_place(d, list, &p, &child);
		if (kept && !ret && children[kept - 1] == child) {
			ends[kept - 1] = p.hi;
		} else if (!ret) {
			children[kept] = child;
			ends[kept++] = p.hi;
		}
	}
	node = (struct decide_node){ .kind = DECIDE_SPLIT,
				     .word = word,
				     .cnt = kept,
				     .ends = ends,
				     .children = children,
				     .line = line_of_test(d, list, word) };
	if (!ret && kept == 1)
		*out = children[0];
	else if (!ret)
		ret = add_node(d, &node, out);
	free(starts);
	return ret;
}

/* What the rules of a list decide by the words from a place in the order on. */
static int build(struct decide *d, uint32_t level, struct list list, uint32_t *out)
{
	const struct lower_rule *rules = d->rules->rules;
	uint32_t next = NONE, word = 0, i = 0;
	int ret;

	/* what stands behind a rule that holds is out of reach */
	while (next_test(d, &rules[list.at[i]], level) != NONE)
		i++;
	list.cnt = i + 1;
	/* and what does the same as the one that remains is not needed */
	while (list.cnt > 1 &&
	       rules[list.at[list.cnt - 2]].action == rules[list.at[list.cnt - 1]].action) {
		list.at[list.cnt - 2] = list.at[list.cnt - 1];
		list.cnt--;
	}
	if (list.cnt == 1)
		return add_action(d, rules[list.at[0]].action, out);
	for (i = 0; i < list.cnt; i++) {
		uint32_t test = next_test(d, &rules[list.at[i]], level);

		if (test < next)
			next = test;
	}
	while (d->order[word] != next)
		word++;
	if (recall(d, next, &list, out))
		return 0;
	ret = build_split(d, next, (uint8_t)word, &list, out);
	return ret ? ret : remember(d, next, &list, *out);
}

int decide_build(const struct lower_rules *rules, const uint8_t order[LOWER_WORDS],
		 struct decide *out)
{
	struct list all = { .cnt = rules->cnt };
	int ret = -ENOMEM;

	*out = (struct decide){ .rules = rules, .order = order };
	out->buckets = malloc(BUCKETS * sizeof(*out->buckets));
	out->memo_buckets = malloc(BUCKETS * sizeof(*out->memo_buckets));
	all.at = malloc(rules->cnt * sizeof(*all.at));
	if (out->buckets && out->memo_buckets && all.at) {
		memset(out->buckets, 0xff, BUCKETS * sizeof(*out->buckets));
		memset(out->memo_buckets, 0xff, BUCKETS * sizeof(*out->memo_buckets));
		for (uint32_t i = 0; i < rules->cnt; i++)
			all.at[i] = i;
		ret = build(out, 0, all, &out->root);
	}
	free(all.at);
	return ret;
}

void decide_finish(struct decide *d)
{
	for (uint32_t i = 0; i < d->cnt; i++) {
		free(d->nodes[i].ends);
		free(d->nodes[i].children);
		free(d->nodes[i].weights);
	}
	for (uint32_t i = 0; i < d->memo_cnt; i++)
		free(d->memos[i].list);
	free(d->nodes);
	free(d->memos);
	free(d->buckets);
	free(d->memo_buckets);
	*d = (struct decide){ 0 };
}

/* ---- weights ------------------------------------------------------------------------------ */

static uint32_t way_of(const struct decide_node *node, const uint64_t args[6])
{
	uint32_t word = (uint32_t)(args[node->word / 2] >> (node->word & 1 ? 32 : 0));
	uint32_t low = 0, high = node->cnt - 1;

	if (node->kind == DECIDE_MASK)
		return (word & node->mask) == node->value ? 0 : 1;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (word <= node->ends[mid])
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void decide_weigh(struct decide *d, const struct loupe_weight *rows, uint32_t cnt, double spread)
{
	double *arriving = calloc(d->cnt, sizeof(*arriving));

	/* without memory for it the trees are merely less well shaped */
	if (arriving)
		arriving[d->root] = spread;
	for (uint32_t n = d->root + 1; arriving && n--;) {
		const struct decide_node *node = &d->nodes[n];

		for (uint32_t i = 0; i < node->cnt; i++) {
			node->weights[i] += arriving[n] / node->cnt;
			arriving[node->children[i]] += arriving[n] / node->cnt;
		}
	}
	free(arriving);
	for (uint32_t r = 0; r < cnt; r++) {
		uint32_t n = d->root;

		while (d->nodes[n].cnt) {
			uint32_t way = way_of(&d->nodes[n], rows[r].args);

			d->nodes[n].weights[way] += rows[r].weight;
			n = d->nodes[n].children[way];
		}
	}
}
