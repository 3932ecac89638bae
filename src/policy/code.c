// SPDX-License-Identifier: GPL-2.0-only
#include "policy/code.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192u
#define REACH	255u

int code_init(struct code *code)
{
	*code = (struct code){ .owner = CODE_COMMON };
	code->buckets = malloc(BUCKETS * sizeof(*code->buckets));
	if (!code->buckets)
		return -ENOMEM;
	memset(code->buckets, 0xff, BUCKETS * sizeof(*code->buckets));
	return 0;
}

void code_finish(struct code *code)
{
	free(code->nodes);
	free(code->buckets);
	*code = (struct code){ 0 };
}

static uint32_t bucket_of(uint8_t kind, uint32_t k, uint32_t yes, uint32_t no)
{
	uint64_t h = kind;

	h = (h ^ k) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29 ^ yes) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 31 ^ no) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(h >> 40) % BUCKETS;
}

static uint32_t node_of(struct code *code, uint8_t kind, uint32_t k, uint32_t yes, uint32_t no)
{
	uint32_t bucket = bucket_of(kind, k, yes, no);

	for (uint32_t n = code->buckets[bucket]; n != CODE_NONE; n = code->nodes[n].next) {
		const struct code_node *node = &code->nodes[n];

		if (node->kind == kind && node->k == k && node->yes == yes && node->no == no)
			return n;
	}
	if (code->cnt == code->cap) {
		uint32_t cap = code->cap ? code->cap * 2 : 256;
		struct code_node *bigger = realloc(code->nodes, cap * sizeof(*bigger));

		if (!bigger) {
			code->failed = true;
			return 0;
		}
		code->nodes = bigger;
		code->cap = cap;
	}
	code->nodes[code->cnt] = (struct code_node){ .kind = kind,
						     .k = k,
						     .yes = yes,
						     .no = no,
						     .line = code->line,
						     .owner = code->owner,
						     .next = code->buckets[bucket] };
	code->buckets[bucket] = code->cnt;
	return code->cnt++;
}

uint32_t code_ret(struct code *code, uint32_t value)
{
	return node_of(code, CODE_RET, value, CODE_NONE, CODE_NONE);
}

uint32_t code_load(struct code *code, uint32_t offset, uint32_t then)
{
	return node_of(code, CODE_LOAD, offset, then, CODE_NONE);
}

uint32_t code_and(struct code *code, uint32_t mask, uint32_t then)
{
	return node_of(code, CODE_AND, mask, then, CODE_NONE);
}

uint32_t code_jump(struct code *code, enum code_kind kind, uint32_t k, uint32_t yes, uint32_t no)
{
	return yes == no ? yes : node_of(code, (uint8_t)kind, k, yes, no);
}

void code_rollback(struct code *code, uint32_t cnt)
{
	while (code->cnt > cnt) {
		const struct code_node *node = &code->nodes[--code->cnt];

		/* the newest of a bucket is its first */
		code->buckets[bucket_of(node->kind, node->k, node->yes, node->no)] = node->next;
	}
}

static uint32_t word_at(const struct loupe_seccomp_data *data, uint32_t offset)
{
	if (offset < 16)
		return offset == 0 ? data->nr : data->arch;
	return (uint32_t)(data->args[(offset - 16) / 8] >> (offset & 4 ? 32 : 0));
}

uint32_t code_run(const struct code *code, uint32_t node, uint32_t a,
		  const struct loupe_seccomp_data *data)
{
	for (uint32_t executed = 1;; executed++) {
		const struct code_node *n = &code->nodes[node];
		bool yes = true;

		switch ((enum code_kind)n->kind) {
		case CODE_RET:
			return executed;
		case CODE_LOAD:
			a = word_at(data, n->k);
			break;
		case CODE_AND:
			a &= n->k;
			break;
		case CODE_JEQ:
			yes = a == n->k;
			break;
		case CODE_JGE:
			yes = a >= n->k;
			break;
		case CODE_JSET:
			yes = a & n->k;
			break;
		}
		node = yes ? n->yes : n->no;
	}
}

/* ---- order -------------------------------------------------------------------------------- */

/*
 * The program grows from its end: a node is put down when all that it leads to stands behind it
 * already. Places count from the end.
 */
struct layout {
	const struct code *code;
	struct loupe_cbpf_insn *insns; /* by place */
	uint32_t *lines;
	uint32_t cnt, cap;
	uint32_t *place; /* by node, CODE_NONE: not yet */
	uint32_t *near;	 /* by node: newest place from which it is reached: itself, a copy, a
			    jump */
	uint32_t *load;	 /* by node: a load or AND that goes on there */
	double *size;	 /* by node: instructions below, shared ones counted each time */
	bool failed;
};

static uint32_t put(struct layout *l, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k,
		    uint32_t line)
{
	if (l->cnt == l->cap) {
		uint32_t cap = l->cap ? l->cap * 2 : 512;
		struct loupe_cbpf_insn *insns = realloc(l->insns, cap * sizeof(*insns));
		uint32_t *lines;

		if (insns)
			l->insns = insns;
		lines = insns ? realloc(l->lines, cap * sizeof(*lines)) : NULL;
		if (!lines) {
			l->failed = true;
			return 0;
		}
		l->lines = lines;
		l->cap = cap;
	}
	l->insns[l->cnt] = (struct loupe_cbpf_insn){ code, jt, jf, k };
	l->lines[l->cnt] = line;
	return l->cnt++;
}

/* Sizes, and which node each load goes on to. */
static double measure(struct layout *l, uint32_t n)
{
	const struct code_node *node = &l->code->nodes[n];

	if (l->size[n] > 0)
		return l->size[n];
	l->size[n] = 1;
	if (node->yes != CODE_NONE)
		l->size[n] += measure(l, node->yes);
	if (node->no != CODE_NONE)
		l->size[n] += measure(l, node->no);
	else if (node->yes != CODE_NONE)
		l->load[node->yes] = n;
	return l->size[n];
}

/* Makes node n reachable by a conditional jump that is put down behind `more` further ones. */
static void bring_near(struct layout *l, uint32_t n, uint32_t more)
{
	const struct code_node *node = &l->code->nodes[n];

	if (l->cnt + more - l->near[n] - 1 <= REACH)
		return;
	if (node->kind == CODE_RET)
		l->near[n] = put(l, BPF_RET | BPF_K, 0, 0, node->k, node->line);
	else
		l->near[n] = put(l, BPF_JMP | BPF_JA, 0, 0, l->cnt - l->place[n] - 1, node->line);
}

static void place_node(struct layout *l, uint32_t n);

/* A conditional jump whose ways stand already. @return its place */
static uint32_t put_jump(struct layout *l, const struct code_node *node)
{
	static const uint16_t codes[] = {
		[CODE_JEQ] = BPF_JMP | BPF_JEQ | BPF_K,
		[CODE_JGE] = BPF_JMP | BPF_JGE | BPF_K,
		[CODE_JSET] = BPF_JMP | BPF_JSET | BPF_K,
	};

	bring_near(l, node->yes, 1);
	bring_near(l, node->no, 0);
	return put(l, codes[node->kind], (uint8_t)(l->cnt - l->near[node->yes] - 1),
		   (uint8_t)(l->cnt - l->near[node->no] - 1), node->k, node->line);
}

static void place_jump(struct layout *l, uint32_t n)
{
	const struct code_node *node = &l->code->nodes[n];
	bool yes_first = l->size[node->yes] >= l->size[node->no];

	/* the larger part goes far, so that most jumps are short */
	place_node(l, yes_first ? node->yes : node->no);
	place_node(l, yes_first ? node->no : node->yes);
	l->place[n] = put_jump(l, node);
}

/* What a load falls through into, when that stands elsewhere: a copy is as short as a jump
 * there. */
static void put_next(struct layout *l, uint32_t n, uint32_t line)
{
	const struct code_node *node = &l->code->nodes[n];

	if (l->near[n] + 1 == l->cnt)
		return;
	if (node->kind >= CODE_JEQ)
		l->near[n] = put_jump(l, node);
	else
		put(l, BPF_JMP | BPF_JA, 0, 0, l->cnt - l->place[n] - 1, line);
}

static void place_node(struct layout *l, uint32_t n)
{
	const struct code_node *node = &l->code->nodes[n];

	if (l->place[n] != CODE_NONE || l->failed)
		return;
	switch ((enum code_kind)node->kind) {
	case CODE_RET:
		l->place[n] = put(l, BPF_RET | BPF_K, 0, 0, node->k, node->line);
		break;
	case CODE_LOAD:
	case CODE_AND:
		place_node(l, node->yes);
		if (l->place[n] != CODE_NONE)
			return; /* put down with it */
		put_next(l, node->yes, node->line);
		l->place[n] = put(l,
				  node->kind == CODE_LOAD ? BPF_LD | BPF_W | BPF_ABS
							  : BPF_ALU | BPF_AND | BPF_K,
				  0, 0, node->k, node->line);
		break;
	default:
		place_jump(l, n);
	}
	l->near[n] = l->place[n];
	/* what falls through into this one stands right before it */
	if (l->load[n] != CODE_NONE && !l->failed)
		place_node(l, l->load[n]);
}

static void reverse(struct layout *l)
{
	for (uint32_t i = 0; i < l->cnt / 2; i++) {
		uint32_t other = l->cnt - 1 - i, line = l->lines[i];
		struct loupe_cbpf_insn insn = l->insns[i];

		l->insns[i] = l->insns[other];
		l->insns[other] = insn;
		l->lines[i] = l->lines[other];
		l->lines[other] = line;
	}
}

int code_encode(const struct code *code, uint32_t root, struct loupe_cbpf_insn **insns,
		uint32_t **lines, uint32_t *cnt)
{
	size_t bytes = code->cnt * sizeof(uint32_t);
	struct layout l = {
		.code = code,
		.place = malloc(bytes),
		.near = malloc(bytes),
		.load = malloc(bytes),
		.size = calloc(code->cnt, sizeof(*l.size)),
	};

	l.failed = !l.place || !l.near || !l.load || !l.size;
	if (!l.failed) {
		memset(l.place, 0xff, bytes);
		memset(l.near, 0xff, bytes);
		memset(l.load, 0xff, bytes);
		measure(&l, root);
		place_node(&l, root);
	}
	free(l.place);
	free(l.near);
	free(l.load);
	free(l.size);
	if (l.failed) {
		free(l.insns);
		free(l.lines);
		return -ENOMEM;
	}
	reverse(&l);
	*insns = l.insns;
	*lines = l.lines;
	*cnt = l.cnt;
	return 0;
}
