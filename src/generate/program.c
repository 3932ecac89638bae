// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a random program. What every register and stack slot holds is followed as the statements
 * are made, roughly as the verifier will see it; a small share of statements ignores that on
 * purpose.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "generate/gen.h"

/* --- statements
 * -------------------------------------------------------------------------------------- */

static const struct {
	void (*make)(struct gen *gen);
	int weight;
	bool nests;
} statements[] = {
	{ gen_make_constant, 8, false },
	{ gen_make_unknown, 12, false },
	{ gen_make_alu, 14, false },
	{ gen_make_unary, 4, false },
	{ gen_make_copy, 7, false },
	{ gen_make_spill, 8, false },
	{ gen_make_store, 4, false },
	{ gen_make_fill, 8, false },
	{ gen_make_atomic, 2, false },
	{ gen_make_value_access, 6, false },
	{ gen_make_packet_access, 6, false },
	{ gen_make_sized_call, 6, false },
	{ gen_make_if, 22, true },
	{ gen_make_early_exit, 2, false },
	{ gen_make_loop, 4, true },
	{ gen_make_may_goto, 1, true },
	{ gen_make_lookup, 7, true },
	{ gen_make_packet_check, 6, true },
	{ gen_make_call, 5, false },
	{ gen_make_ringbuf, 2, true },
	{ gen_make_tail_call, 1, false },
	{ gen_make_recipe, 16, true },
	{ gen_make_checked_access, 3, true },
	{ gen_make_stack_pointer, 3, false },
};

static void make_statement(struct gen *gen)
{
	enum { CNT = sizeof(statements) / sizeof(statements[0]) };
	int total = 0, n;

	if (gen->chaotic && gen_one_in(gen, CHAOS)) {
		gen_make_chaos(gen);
		return;
	}
	for (int i = 0; i < CNT; i++)
		total += statements[i].weight;
	n = gen_below(gen, total);
	for (int i = 0; i < CNT; i++) {
		n -= statements[i].weight;
		if (n >= 0)
			continue;
		if (!statements[i].nests || gen->depth < MAX_DEPTH)
			statements[i].make(gen);
		return;
	}
}

void gen_make_block(struct gen *gen, int cnt)
{
	gen->depth++;
	while (cnt-- > 0 && gen->budget > 0) {
		gen->budget--;
		make_statement(gen);
	}
	gen->depth--;
}

enum { LONG_ONE_IN = 300 };

/* --- functions
 * ----------------------------------------------------------------------------------------- */

static const char *context_type(uint32_t prog_type)
{
	return prog_type == BPF_PROG_TYPE_XDP ? "xdp_md" : "__sk_buff";
}

static void start_function(struct gen *gen, int func)
{
	static const char *const linkage[] = { "static", "static", "global", "static" };
	enum func_kind kind = gen->func_kind[func];
	const char *ctx = context_type(gen->prog_type);
	int at;

	memset(&gen->now, 0, sizeof(gen->now));
	gen->func = func;
	gen->depth = gen->loops = 0;
	gen->counters = 0;
	/* without loops and calls only a long program is a deep one */
	if (gen->unprivileged)
		gen->budget = 60 + gen_below(gen, 200);
	else
		gen->budget = func ? 8 + gen_below(gen, 24) : 50 + gen_below(gen, 110);
	if (func == 0 && gen->funcs)
		at = gen_line(gen->tree, ".func \"int main0(struct %s *ctx)\" global\n", ctx);
	else if (func == 0)
		at = 0;
	else if (kind == CALLBACK)
		at = gen_line(gen->tree, ".func \"long f%d(__u32 index, void *arg)\" static\n",
			      func);
	else
		at = gen_line(gen->tree, ".func \"int f%d(struct %s *ctx, __u64 n)\" %s\n", func,
			      ctx, linkage[kind]);
	gen_put(gen, at);
	if (kind == CALLBACK) {
		gen_put(gen, gen_line(gen->tree, "\tr7 = r1\n\tr8 = r2\n\tr6 = 0\n"));
		gen_set_number(gen, 7, UINT64_MAX);
		gen->now.reg[6].kind = NOTHING;
		return;
	}
	gen_put(gen, gen_line(gen->tree, "\tr6 = r1\n"));
	gen->now.reg[6].kind = CONTEXT;
	if (func) {
		gen_put(gen, gen_line(gen->tree, "\tr7 = r2\n"));
		gen_set_number(gen, 7, UINT64_MAX);
	}
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

static void make_function(struct gen *gen, int func)
{
	enum func_kind kind = gen->func_kind[func];
	int r;

	start_function(gen, func);
	if (kind == CALLBACK) {
		/* no context here: numbers, and the caller's slot through r8 */
		gen_put(gen, gen_line(gen->tree, "\tr1 = *(u64 *)(r8 +0)\n\tr1 += %d\n",
				      gen_below(gen, 3)));
		if (gen_one_in(gen, 2))
			gen_put(gen, gen_line(gen->tree, "\tr1 &= 0xff\n"));
		if (gen_one_in(gen, 2))
			gen_put(gen, gen_line(gen->tree, "\tif r7 > %d goto +1\n\tr1 = 0\n",
					      gen_below(gen, 9)));
		gen_put(gen, gen_line(gen->tree, "\t*(u64 *)(r8 +0) = r1\n\tr0 = 0\n"));
		if (gen_one_in(gen, 2))
			gen_put(gen, gen_line(gen->tree, "\tif r7 s< %d goto +1\n\tr0 = 1\n",
					      gen_below(gen, 30)));
		gen_put(gen, gen_line(gen->tree, "\texit\n"));
		return;
	}
	if (gen->unprivileged)
		clear_stack(gen);
	gen_make_unknown(gen);
	if (!func && !gen->unprivileged && gen_one_in(gen, LONG_ONE_IN))
		gen_make_long_jump(gen);
	gen_make_block(gen, gen->budget);
	if (!func)
		gen_call_the_rest(gen);
	r = gen_pick(gen, NUMBER);
	if (r >= 0 && !(gen->prog_type == BPF_PROG_TYPE_CGROUP_SKB && func == 0) &&
	    gen_one_in(gen, 3))
		gen_put(gen, gen_line(gen->tree, "\tr0 = r%d\n", r));
	else
		gen_put(gen, gen_line(gen->tree, "\tr0 = %d\n", gen_below(gen, 2)));
	gen_put(gen, gen_line(gen->tree, "\texit\n"));
}

static const char *type_name(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_XDP:
		return "xdp";
	case BPF_PROG_TYPE_SCHED_CLS:
		return "sched_cls";
	case BPF_PROG_TYPE_CGROUP_SKB:
		return "cgroup_skb";
	default:
		return "socket_filter";
	}
}

static const char head[] = ".type %s\n.license \"GPL\"\n%s%s"
			   ".map hash type=hash key=4 value=64 entries=8\n"
			   ".map array type=array key=4 value=64 entries=4\n"
			   ".map progs type=prog_array key=4 value=4 entries=4\n"
			   ".map ring type=ringbuf entries=4096\n"
			   ".map small type=hash key=8 value=8 entries=4\n"
			   ".map percpu type=percpu_array key=4 value=64 entries=4\n"
			   ".map events type=perf_event_array key=4 value=4 entries=4\n"
			   ".map outer type=array_of_maps key=4 value=4 entries=4 inner=array\n"
			   ".map .rodata type=array key=4 value=8 entries=1 flags=0x80 frozen "
			   "data=6162630000000000\n"
			   "%s%s%s.prog generated\n";
static const char types_head[] = ".decl \"struct bpf_spin_lock { __u32 val; };\"\n"
				 ".decl \"struct val { struct bpf_spin_lock l; int n; };\"\n";
static const char types_map[] =
	".map locked type=array key=4 value=8 entries=4 btf_key=5 btf_value=4\n";
static const char root_maps[] = ".map queue type=queue key=0 value=8 entries=4\n"
				".map devices type=devmap key=4 value=4 entries=4\n";
static const char storage_map[] = ".map storage type=cgroup_storage key=16 value=64 entries=0\n";

int gen_program(struct gen_tree *tree, const struct loupe_generate_opts *opts)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_XDP,
					  BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SOCKET_FILTER };
	struct gen gen = {
		.tree = tree,
		.random = opts->seed * 0x2545f4914f6cdd1dull + 1,
		.unprivileged = opts->unprivileged,
	};

	gen.prog_type = opts->prog_type ? opts->prog_type : types[gen_below(&gen, 4)];
	if (opts->unprivileged && !opts->prog_type)
		gen.prog_type = gen_one_in(&gen, 2) ? BPF_PROG_TYPE_SOCKET_FILTER
						    : BPF_PROG_TYPE_CGROUP_SKB;
	gen.chaotic = gen_one_in(&gen, 4);
	if (!opts->unprivileged && gen_one_in(&gen, 2))
		gen.funcs = 1 + gen_below(&gen, MAX_FUNCS);
	for (int i = 1; i <= gen.funcs; i++)
		gen.func_kind[i] = STATIC + (enum func_kind)gen_below(&gen, 3);
	gen.types = !opts->unprivileged && gen_one_in(&gen, 3);
	if (asprintf(&tree->head, head, type_name(gen.prog_type),
		     gen.prog_type == BPF_PROG_TYPE_CGROUP_SKB ? ".attach cgroup_inet_ingress\n"
							       : "",
		     gen.types ? types_head : "", gen.types ? types_map : "",
		     opts->unprivileged ? "" : root_maps,
		     gen.prog_type == BPF_PROG_TYPE_CGROUP_SKB ? storage_map : "") < 0) {
		tree->head = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i <= gen.funcs; i++)
		make_function(&gen, i);
	return gen.failed ? -ENOMEM : 0;
}
