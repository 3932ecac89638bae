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
	{ gen_make_constant, 8, false },      { gen_make_unknown, 12, false },
	{ gen_make_alu, 14, false },	      { gen_make_unary, 4, false },
	{ gen_make_copy, 7, false },	      { gen_make_spill, 8, false },
	{ gen_make_store, 4, false },	      { gen_make_fill, 8, false },
	{ gen_make_atomic, 2, false },	      { gen_make_value_atomic, 2, false },
	{ gen_make_value_access, 6, false },  { gen_make_packet_access, 6, false },
	{ gen_make_sized_call, 6, false },    { gen_make_if, 22, true },
	{ gen_make_early_exit, 2, false },    { gen_make_loop, 4, true },
	{ gen_make_may_goto, 1, true },	      { gen_make_lookup, 7, true },
	{ gen_make_packet_check, 6, true },   { gen_make_packet_walk, 4, true },
	{ gen_make_call, 5, false },	      { gen_make_ringbuf, 2, true },
	{ gen_make_tail_call, 1, false },     { gen_make_recipe, 16, true },
	{ gen_make_checked_access, 3, true }, { gen_make_stack_pointer, 3, false },
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

static const char *type_name(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_XDP:
		return "xdp";
	case BPF_PROG_TYPE_SCHED_CLS:
		return "sched_cls";
	case BPF_PROG_TYPE_CGROUP_SKB:
		return "cgroup_skb";
	case BPF_PROG_TYPE_TRACEPOINT:
		return "tracepoint";
	case BPF_PROG_TYPE_KPROBE:
		return "kprobe";
	default:
		return "socket_filter";
	}
}

/* Flags that change what is explored, or how. */
static const char *flags(struct gen *gen)
{
	if (gen->sleepable)
		return ".flags sleepable\n";
	if (gen->unprivileged || gen_one_in(gen, 2))
		return "";
	switch (gen_below(gen, 6)) {
	case 0:
		return ".flags test_state_freq\n";
	case 1:
		return ".flags test_reg_invariants\n";
	case 2:
		return ".flags strict_alignment\n";
	case 3:
		return ".flags test_rnd_hi32 test_state_freq\n";
	default:
		return "";
	}
}

static const char head[] = ".type %s\n.license \"GPL\"\n%s%s%s%s"
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
static const char memory_head[] = ".decl \"struct memory { __u64 a[8]; };\"\n";
static const char types_head[] = ".decl \"struct bpf_spin_lock { __u32 val; };\"\n"
				 ".decl \"struct val { struct bpf_spin_lock l; int n; };\"\n"
				 ".decl \"struct bpf_timer { __u64 a[2]; };\"\n"
				 ".decl \"struct timed { struct bpf_timer t; __u64 n; };\"\n";
static const char types_map[] =
	".map locked type=array key=4 value=8 entries=4 btf_key=5 btf_value=4\n"
	".map timed type=array key=4 value=24 entries=4 btf_key=5 btf_value=11\n";
static const char root_maps[] = ".map queue type=queue key=0 value=8 entries=4\n"
				".map devices type=devmap key=4 value=4 entries=4\n";
static const char storage_map[] = ".map storage type=cgroup_storage key=16 value=64 entries=0\n";

int gen_program(struct gen_tree *tree, const struct loupe_generate_opts *opts)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_XDP,	   BPF_PROG_TYPE_XDP,
					  BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SCHED_CLS,
					  BPF_PROG_TYPE_KPROBE,	   BPF_PROG_TYPE_TRACEPOINT };
	struct gen gen = {
		.tree = tree,
		.random = opts->seed * 0x2545f4914f6cdd1dull + 1,
		.unprivileged = opts->unprivileged,
	};

	gen.prog_type = opts->prog_type ? opts->prog_type : types[gen_below(&gen, 6)];
	if (opts->unprivileged && !opts->prog_type)
		gen.prog_type = gen_one_in(&gen, 2) ? BPF_PROG_TYPE_SOCKET_FILTER
						    : BPF_PROG_TYPE_CGROUP_SKB;
	else if (!opts->prog_type && gen_one_in(&gen, 5))
		gen.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	gen.tracing =
		gen.prog_type == BPF_PROG_TYPE_KPROBE || gen.prog_type == BPF_PROG_TYPE_TRACEPOINT;
	gen.sleepable = gen.prog_type == BPF_PROG_TYPE_KPROBE && gen_one_in(&gen, 3);
	gen.chaotic = gen_one_in(&gen, 4);
	gen.types = !opts->unprivileged && !gen.tracing &&
		    gen.prog_type != BPF_PROG_TYPE_SOCKET_FILTER && gen_one_in(&gen, 2);
	gen_choose_functions(&gen);
	if (asprintf(&tree->head, head, type_name(gen.prog_type),
		     gen.prog_type == BPF_PROG_TYPE_CGROUP_SKB ? ".attach cgroup_inet_ingress\n"
							       : "",
		     flags(&gen), gen.types ? types_head : "", gen.funcs ? memory_head : "",
		     gen.types ? types_map : "", opts->unprivileged ? "" : root_maps,
		     gen.prog_type == BPF_PROG_TYPE_CGROUP_SKB ? storage_map : "") < 0) {
		tree->head = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i <= gen.funcs; i++)
		gen_make_function(&gen, i);
	return gen.failed ? -ENOMEM : 0;
}
