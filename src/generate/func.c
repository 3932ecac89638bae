// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of generated programs: main, static and global ones, callbacks. A callback that runs at
 * once finds the context in its caller's stack, so that any statement fits into it.
 */
#include <stdio.h>
#include <string.h>

#include <linux/bpf.h>

#include "generate/gen.h"

enum { LONG_ONE_IN = 300 };

void gen_choose_functions(struct gen *gen)
{
	static const enum func_kind kinds[] = { STATIC, GLOBAL, CALLBACK, EACH, MEMORY };

	if (!gen->unprivileged && gen_one_in(gen, 2))
		gen->funcs = 1 + gen_below(gen, MAX_FUNCS);
	for (int i = 1; i <= gen->funcs; i++)
		gen->func_kind[i] = kinds[gen_below(gen, 5)];
	/* a timer's is called by none of the others */
	if (gen->types && gen->funcs > 1 && gen_one_in(gen, 2))
		gen->func_kind[gen->funcs] = LATER;
}

/* --- calls ----------------------------------------------------------------------------------- */

/* The context for a callback that runs at once, and a number of its caller's. */
static void lend_context(struct gen *gen)
{
	gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = r6\n", 8 * CONTEXT_SLOT));
	if (!gen->now.slot[0].set || gen->now.slot[0].pointer)
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -8) = 0\n"));
	gen->now.slot[0] = (struct slot){ NUMBER, true, false };
}

static void call_looping(struct gen *gen, int callee)
{
	int turns = gen_one_in(gen, 4) ? gen_limited(gen, 32) : -1;

	lend_context(gen);
	if (turns >= 0)
		gen_put(gen, gen_line(gen->tree, "\tr1 = r%d\n", turns));
	else
		gen_put(gen, gen_line(gen->tree, "\tr1 = %d\n", 1 + gen_below(gen, 20)));
	gen_put(gen, gen_line(gen->tree,
			      "\tr2 = func f%d\n\tr3 = r10\n\tr3 += -%d\n\tr4 = 0\n"
			      "\tcall bpf_loop\n",
			      callee, 8 * CONTEXT_SLOT));
}

static void call_for_each(struct gen *gen, int callee)
{
	lend_context(gen);
	gen_put(gen, gen_line(gen->tree,
			      "\tr1 = map[%s]\n\tr2 = func f%d\n\tr3 = r10\n\tr3 += -%d\n"
			      "\tr4 = 0\n\tcall bpf_for_each_map_elem\n",
			      gen_one_in(gen, 2) ? "array" : "hash", callee, 8 * CONTEXT_SLOT));
}

/* The bytes are a map value's, the stack's, or none. */
static void call_with_memory(struct gen *gen, int callee)
{
	int v = gen_pick(gen, VALUE);
	bool stack = true;

	for (int s = 0; s < SLOTS; s++)
		stack &= gen->now.slot[s].set && !gen->now.slot[s].pointer;
	if (v >= 0)
		gen_put(gen, gen_line(gen->tree, "\tr2 = r%d\n", v));
	else if (stack)
		gen_put(gen, gen_line(gen->tree, "\tr2 = r10\n\tr2 += -%d\n", 8 * SLOTS));
	else
		gen_put(gen, gen_line(gen->tree, "\tr2 = 0\n"));
	gen_put(gen, gen_line(gen->tree, "\tr1 = r6\n\tcall f%d\n", callee));
	for (int s = 0; v < 0 && stack && s < SLOTS; s++)
		gen->now.slot[s].kind = NUMBER;
}

static void start_timer(struct gen *gen, int callee)
{
	int label = gen->label++;

	gen_put(gen,
		gen_line(gen->tree,
			 "\t*(u32 *)(r10 -%d) = %d\n\tr2 = r10\n\tr2 += -%d\n\tr1 = map[timed]\n"
			 "\tcall bpf_map_lookup_elem\n\tif r0 == 0 goto none%d\n"
			 "\tr2 = func f%d\n\tr1 = r0\n\tcall bpf_timer_set_callback\n"
			 "none%d:\n",
			 8 * CONTEXT_SLOT, gen_below(gen, 6), 8 * CONTEXT_SLOT, label, callee,
			 label));
}

static void call_function(struct gen *gen, int callee)
{
	int r = gen_pick(gen, NUMBER);

	switch (gen->func_kind[callee]) {
	case CALLBACK:
		call_looping(gen, callee);
		break;
	case EACH:
		call_for_each(gen, callee);
		break;
	case MEMORY:
		call_with_memory(gen, callee);
		break;
	case LATER:
		start_timer(gen, callee);
		break;
	default:
		if (r >= 0)
			gen_put(gen, gen_line(gen->tree, "\tr2 = r%d\n", r));
		else
			gen_put(gen, gen_line(gen->tree, "\tr2 = %d\n", gen_below(gen, 100)));
		gen_put(gen, gen_line(gen->tree, "\tr1 = r6\n\tcall f%d\n", callee));
		break;
	}
	gen->called[callee] = true;
	gen_lose_temporaries(gen);
	gen_set_number(gen, 0, UINT64_MAX);
}

void gen_make_call(struct gen *gen)
{
	int callee = gen->func + 1 + gen_below(gen, gen->funcs + 1 - gen->func);

	if (callee <= gen->funcs)
		call_function(gen, callee);
}

/* A function that nobody calls is none: its bytes would belong to another. */
static void call_the_rest(struct gen *gen)
{
	for (int i = 1; i <= gen->funcs; i++) {
		if (!gen->called[i])
			call_function(gen, i);
	}
}

/* --- bodies ---------------------------------------------------------------------------------- */

static const char *context_type(const struct gen *gen)
{
	if (gen->tracing)
		return "void *ctx __arg_ctx";
	return gen->prog_type == BPF_PROG_TYPE_XDP ? "struct xdp_md *ctx" : "struct __sk_buff *ctx";
}

static void declare(struct gen *gen, int func)
{
	const char *ctx = context_type(gen);
	int at = 0;

	switch (gen->func_kind[func]) {
	case MAIN:
		if (gen->funcs)
			at = gen_line(gen->tree, ".func \"int main0(%s)\" global\n",
				      gen->tracing ? "void *ctx" : ctx);
		break;
	case STATIC:
		at = gen_line(gen->tree, ".func \"int f%d(%s, __u64 n)\" static\n", func,
			      gen->tracing ? "void *ctx" : ctx);
		break;
	case GLOBAL:
		at = gen_line(gen->tree, ".func \"int f%d(%s, __u64 n)\" global\n", func, ctx);
		break;
	case MEMORY:
		at = gen_line(gen->tree, ".func \"int f%d(%s, struct memory *p%s)\" global\n", func,
			      ctx, gen->func & 1 ? " __arg_nonnull" : "");
		break;
	case CALLBACK:
		at = gen_line(gen->tree, ".func \"long f%d(__u32 index, void *arg)\" static\n",
			      func);
		break;
	case EACH:
		at = gen_line(gen->tree,
			      ".func \"long f%d(void *map, void *key, void *value, void *arg)\" "
			      "static\n",
			      func);
		break;
	case LATER:
		at = gen_line(gen->tree,
			      ".func \"int f%d(void *map, void *key, void *value)\" static\n",
			      func);
		break;
	}
	gen_put(gen, at);
}

static int choose_budget(struct gen *gen, enum func_kind kind)
{
	switch (kind) {
	case MAIN:
		/* without loops and calls only a long program is a deep one */
		return gen->unprivileged ? 60 + gen_below(gen, 200) : 50 + gen_below(gen, 110);
	case CALLBACK:
	case EACH:
	case LATER:
		return gen_below(gen, 8);
	default:
		return 8 + gen_below(gen, 24);
	}
}

/* What the function finds in its arguments. */
static void take_arguments(struct gen *gen, enum func_kind kind)
{
	gen->now.reg[6].kind = CONTEXT;
	switch (kind) {
	case MAIN:
		gen_put(gen, gen_line(gen->tree, "\tr6 = r1\n"));
		break;
	case STATIC:
	case GLOBAL:
		gen_put(gen, gen_line(gen->tree, "\tr6 = r1\n\tr7 = r2\n"));
		gen_set_number(gen, 7, UINT64_MAX);
		break;
	case MEMORY:
		gen_put(gen, gen_line(gen->tree, "\tr6 = r1\n\tr7 = r2\n"));
		if (!(gen->func & 1) || gen_one_in(gen, 8))
			gen_put(gen,
				gen_line(gen->tree, "\tif r7 != 0 goto +2\n\tr0 = 0\n\texit\n"));
		gen->now.reg[7].kind = VALUE;
		break;
	case CALLBACK:
		gen_put(gen, gen_line(gen->tree, "\tr6 = *(u64 *)(r2 +0)\n\tr7 = r1\n\tr8 = r2\n"));
		gen_set_number(gen, 7, UINT64_MAX);
		break;
	case EACH:
		gen_put(gen, gen_line(gen->tree, "\tr6 = *(u64 *)(r4 +0)\n\tr7 = *(u32 *)(r2 +0)\n"
						 "\tr8 = r4\n\tr9 = r3\n"));
		gen_set_number(gen, 7, UINT64_MAX);
		gen->now.reg[9].kind = VALUE;
		break;
	case LATER:
		gen_put(gen, gen_line(gen->tree, "\tr7 = *(u32 *)(r2 +0)\n\tr8 = *(u64 *)(r3 +16)\n"
						 "\tr6 = 0\n"));
		gen->now.reg[6].kind = NOTHING;
		gen_set_number(gen, 7, UINT64_MAX);
		gen_set_number(gen, 8, UINT64_MAX);
		break;
	}
}

/* The caller's number, which is counted up: r8 is the caller's stack. */
static void change_callers_number(struct gen *gen)
{
	gen_put(gen, gen_line(gen->tree, "\tr1 = *(u64 *)(r8 +%d)\n\tr1 += %d\n",
			      8 * CONTEXT_SLOT - 8, gen_below(gen, 3)));
	if (gen_one_in(gen, 2))
		gen_put(gen, gen_line(gen->tree, "\tr1 &= 0xff\n"));
	if (gen_one_in(gen, 2))
		gen_put(gen,
			gen_line(gen->tree, "\tif r7 > %d goto +1\n\tr1 = 0\n", gen_below(gen, 9)));
	gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r8 +%d) = r1\n", 8 * CONTEXT_SLOT - 8));
	gen_set_number(gen, 1, UINT64_MAX);
}

/* A callback goes on, or ends what calls it. */
static void return_from_callback(struct gen *gen, enum func_kind kind)
{
	int r = gen_pick(gen, NUMBER);

	gen_put(gen, gen_line(gen->tree, "\tr0 = 0\n"));
	if (kind != LATER && r > 0 && gen_one_in(gen, 2))
		gen_put(gen, gen_line(gen->tree, "\tif r%d s< %d goto +1\n\tr0 = 1\n", r,
				      gen_below(gen, 30)));
	gen_put(gen, gen_line(gen->tree, "\texit\n"));
}

static void return_number(struct gen *gen, bool main)
{
	int r = gen_pick(gen, NUMBER);

	if (r >= 0 && !(gen->prog_type == BPF_PROG_TYPE_CGROUP_SKB && main) && gen_one_in(gen, 3))
		gen_put(gen, gen_line(gen->tree, "\tr0 = r%d\n", r));
	else
		gen_put(gen, gen_line(gen->tree, "\tr0 = %d\n", gen_below(gen, 2)));
	gen_put(gen, gen_line(gen->tree, "\texit\n"));
}

/* Ordinary users read no byte of the stack that was not written. */
static void clear_stack(struct gen *gen)
{
	for (int s = 0; s < SLOTS; s++) {
		if (gen_one_in(gen, 30))
			continue;
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r10 -%d) = %d\n", 8 * (s + 1),
				      gen_below(gen, 3)));
		gen->now.slot[s] = (struct slot){ NUMBER, true, false };
	}
}

void gen_make_function(struct gen *gen, int func)
{
	enum func_kind kind = gen->func_kind[func];

	memset(&gen->now, 0, sizeof(gen->now));
	gen->func = func;
	gen->depth = gen->loops = 0;
	gen->counters = 0;
	gen->budget = choose_budget(gen, kind);
	declare(gen, func);
	take_arguments(gen, kind);
	if (kind == LATER) {
		return_from_callback(gen, kind);
		return;
	}
	if (kind == CALLBACK || kind == EACH) {
		change_callers_number(gen);
		gen_make_block(gen, gen->budget);
		return_from_callback(gen, kind);
		return;
	}
	if (gen->unprivileged)
		clear_stack(gen);
	gen_make_unknown(gen);
	if (!func && !gen->unprivileged && gen_one_in(gen, LONG_ONE_IN))
		gen_make_long_jump(gen);
	gen_make_block(gen, gen->budget);
	if (!func)
		call_the_rest(gen);
	return_number(gen, !func);
}
