// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of helpers in generated programs, as texts with gaps:
 *
 *	$n  a number: a register of r7-r9, or a constant	$c  a constant from 0 to 7
 *	$k  offset of a stack slot that is set and holds no pointer; $j likewise
 *	$w  offset of the lowest slot, when all slots are set and hold no pointer
 *	$l  number of a label			$p  a register that nothing else writes
 *	$v  a register of r7-r9 that holds a map's value
 *	$m  offset of the context's metadata pointer, $d of its packet pointer
 */
#include <stdio.h>
#include <string.h>

#include <linux/bpf.h>

#include "generate/gen.h"

enum {
	FOR_XDP = 1 << 0,
	FOR_CLS = 1 << 1,
	FOR_FILTER = 1 << 2,
	FOR_CGROUP = 1 << 3,
	FOR_SKB = FOR_CLS | FOR_FILTER | FOR_CGROUP,
	FOR_TRACE = 1 << 10,
	FOR_NET = FOR_XDP | FOR_SKB,
	FOR_ALL = FOR_NET | FOR_TRACE,
	NEEDS_ROOT = 1 << 4,
	MOVES_PACKET = 1 << 5,
	WRITES_ALL = 1 << 6, /* every slot holds numbers then */
	HOLDS = 1 << 7,	     /* a reference, until the end of what nests */
	NEEDS_TYPES = 1 << 8,
	MAY_NOT_SLEEP = 1 << 9,
};

struct recipe {
	uint32_t flags;
	enum kind result; /* what r0 holds after: of the text, or where others nest */
	const char *text;
	const char *close; /* behind what nests; NULL: nothing nests */
};

static const struct recipe recipes[] = {
	{ FOR_ALL, NUMBER, "\tcall bpf_ktime_get_ns\n", NULL },
	{ FOR_ALL, NUMBER, "\tcall bpf_ktime_get_boot_ns\n", NULL },
	{ FOR_ALL, NUMBER, "\tcall bpf_get_numa_node_id\n", NULL },
	{ FOR_ALL, NUMBER, "\tcall bpf_get_smp_processor_id\n", NULL },
	{ FOR_ALL, NUMBER, "\tcall bpf_get_smp_processor_id\n", NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER, "\tcall bpf_jiffies64\n", NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = $c\n\tr4 &= 3\n\tr3 = r10\n\tr3 += $j\n\tr2 = r10\n\tr2 += $k\n\tr1 = "
	  "map[small]\n"
	  "\tcall bpf_map_update_elem\n",
	  NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = r10\n\tr3 += $w\n\tr2 = r10\n\tr2 += $k\n\tr1 = map[hash]\n"
	  "\tcall bpf_map_update_elem\n",
	  NULL },
	{ FOR_ALL, NUMBER,
	  "\tr2 = r10\n\tr2 += $k\n\tr1 = map[small]\n\tcall bpf_map_delete_elem\n", NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr3 = $c\n\tr2 = r10\n\tr2 += $k\n\tr1 = map[queue]\n\tcall bpf_map_push_elem\n",
	  NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr2 = r10\n\tr2 += $k\n\tr1 = map[queue]\n\tcall bpf_map_pop_elem\n", NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr2 = r10\n\tr2 += $k\n\tr1 = map[queue]\n\tcall bpf_map_peek_elem\n", NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = 8\n\tr2 = r10\n\tr2 += $k\n\tr1 = map[ring]\n\tcall "
	  "bpf_ringbuf_output\n",
	  NULL },
	{ FOR_ALL, NUMBER, "\tr2 = $n\n\tr1 = map[ring]\n\tcall bpf_ringbuf_query\n", NULL },
	{ FOR_ALL, NUMBER,
	  "\tr3 = map_value[.rodata]+0\n\tr2 = 8\n\tr1 = r10\n\tr1 += $k\n\tcall bpf_strncmp\n",
	  NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = r10\n\tr4 += $j\n\tr3 = 0\n\tr2 = 8\n\tr1 = r10\n\tr1 += $k\n\tcall bpf_strtol\n",
	  NULL },
	{ FOR_ALL | MAY_NOT_SLEEP, NUMBER,
	  "\tr5 = 8\n\tr4 = r10\n\tr4 += $k\n\tw3 = -1\n\tr2 = map[events]\n\tr1 = r6\n"
	  "\tcall bpf_perf_event_output\n",
	  NULL },
	{ FOR_SKB, NUMBER,
	  "\tr4 = 8\n\tr3 = r10\n\tr3 += $k\n\tr2 = $n\n\tr1 = r6\n\tcall bpf_skb_load_bytes\n",
	  NULL },
	{ FOR_SKB, NUMBER,
	  "\tr4 = $n\n\tr4 &= 31\n\tr4 += 1\n\tr3 = r10\n\tr3 += $w\n\tr2 = $c\n\tr1 = r6\n"
	  "\tcall bpf_skb_load_bytes\n",
	  NULL },
	{ FOR_SKB, NUMBER,
	  "\tr5 = 0\n\tr4 = 4\n\tr3 = r10\n\tr3 += $k\n\tr2 = $c\n\tr1 = r6\n"
	  "\tcall bpf_skb_load_bytes_relative\n",
	  NULL },
	{ FOR_SKB, NUMBER, "\tr1 = r6\n\tcall bpf_get_socket_cookie\n", NULL },
	{ FOR_SKB, NUMBER, "\tr1 = r6\n\tcall bpf_get_socket_uid\n", NULL },
	{ FOR_CLS | FOR_FILTER, NUMBER, "\tr0 = *(u16 *)skb[$c]\n", NULL },
	{ FOR_CLS | FOR_FILTER, NUMBER, "\tr1 = $n\n\tr0 = *(u32 *)skb[r1 +$c]\n", NULL },
	{ FOR_CGROUP | FOR_CLS, NUMBER, "\tr1 = r6\n\tcall bpf_skb_cgroup_id\n", NULL },
	{ FOR_CGROUP | FOR_CLS, NUMBER, "\tr2 = $c\n\tr1 = r6\n\tcall bpf_skb_ancestor_cgroup_id\n",
	  NULL },
	{ FOR_CGROUP | FOR_CLS, NUMBER, "\tr1 = r6\n\tcall bpf_skb_ecn_set_ce\n", NULL },
	{ FOR_CGROUP, VALUE, "\tr2 = 0\n\tr1 = map[storage]\n\tcall bpf_get_local_storage\n",
	  NULL },
	{ FOR_CLS | MOVES_PACKET, NUMBER, "\tr2 = $c\n\tr1 = r6\n\tcall bpf_skb_pull_data\n",
	  NULL },
	{ FOR_CLS | MOVES_PACKET, NUMBER,
	  "\tr5 = $c\n\tr5 &= 1\n\tr4 = 8\n\tr3 = r10\n\tr3 += $k\n\tr2 = $n\n\tr1 = r6\n"
	  "\tcall bpf_skb_store_bytes\n",
	  NULL },
	{ FOR_CLS | WRITES_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = 28\n\tr2 = r10\n\tr2 += $w\n\tr1 = r6\n\tcall bpf_skb_get_tunnel_key\n",
	  NULL },
	{ FOR_CLS, NUMBER, "\tr1 = r6\n\tcall bpf_get_hash_recalc\n", NULL },
	{ FOR_CLS, NUMBER, "\tr2 = 0\n\tr1 = $n\n\tcall bpf_redirect\n", NULL },
	{ FOR_XDP, NUMBER,
	  "\tr3 = $c\n\tr3 &= 3\n\tr2 = $n\n\tr1 = map[devices]\n\tcall bpf_redirect_map\n", NULL },
	{ FOR_XDP | MOVES_PACKET, NUMBER, "\tr2 = $c\n\tr1 = r6\n\tcall bpf_xdp_adjust_head\n",
	  NULL },
	{ FOR_XDP | FOR_CLS, NUMBER,
	  "\tr5 = $n\n\tr4 = 8\n\tr3 = r10\n\tr3 += $k\n\tr2 = 8\n\tr1 = r10\n\tr1 += $j\n"
	  "\tcall bpf_csum_diff\n",
	  NULL },
	{ FOR_XDP | FOR_CLS | WRITES_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = 64\n\tr2 = r10\n\tr2 += $w\n\tr1 = r6\n\tcall bpf_fib_lookup\n", NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr3 = 0\n\tr2 = $n\n\tr2 &= 31\n\tr1 = r10\n\tr1 += $w\n\tcall bpf_probe_read_kernel\n",
	  NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr5 = 0\n\tr4 = 0\n\tr3 = map_value[.rodata]+0\n\tr2 = 8\n\tr1 = r10\n\tr1 += $w\n"
	  "\tcall bpf_snprintf\n",
	  NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER, "\tr1 = map_value[.rodata]+0\n\tr0 = *(u16 *)(r1 +$c)\n",
	  NULL },
	{ FOR_ALL | NEEDS_ROOT, NUMBER,
	  "\tr1 = map_value[.rodata]+0\n\tr2 = $n\n\tr2 &= 7\n\tr1 += r2\n\tr0 = *(s8 *)(r1 +0)\n",
	  NULL },
	{ FOR_TRACE, NUMBER, "\tcall bpf_get_current_pid_tgid\n", NULL },
	{ FOR_TRACE, NUMBER, "\tr2 = 16\n\tr1 = r10\n\tr1 += $w\n\tcall bpf_get_current_comm\n",
	  NULL },
	{ FOR_TRACE, NUMBER,
	  "\tr4 = 0\n\tr3 = 64\n\tr2 = r10\n\tr2 += $w\n\tr1 = r6\n\tcall bpf_get_stack\n", NULL },
	/* memory is a map's value */
	{ FOR_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = r$v\n\tr2 = r10\n\tr2 += $k\n\tr1 = map[hash]\n"
	  "\tcall bpf_map_update_elem\n",
	  NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = 0\n\tr3 = $n\n\tr3 &= 63\n\tr2 = r$v\n\tr1 = map[ring]\n\tcall "
	  "bpf_ringbuf_output\n",
	  NULL },
	{ FOR_ALL, NUMBER,
	  "\tr4 = r$v\n\tr3 = 0\n\tr2 = $n\n\tr2 &= 7\n\tr1 = r$v\n\tr1 += 8\n\tcall bpf_strtol\n",
	  NULL },
	{ FOR_SKB, NUMBER,
	  "\tr4 = $n\n\tr4 &= 31\n\tr4 += 1\n\tr3 = r$v\n\tr3 += $c\n\tr2 = $c\n\tr1 = r6\n"
	  "\tcall bpf_skb_load_bytes\n",
	  NULL },
	/* results that may be NULL */
	{ FOR_CLS | FOR_XDP, NUMBER,
	  "\tr2 = *(u32 *)(r6 +$m)\n\tr3 = *(u32 *)(r6 +$d)\n\tr4 = r2\n\tr4 += 8\n"
	  "\tif r4 > r3 goto none$l\n\tr0 = *(u32 *)(r2 +$c)\n",
	  "none$l:\n" },
	{ FOR_ALL, VALUE,
	  "\tr3 = $c\n\tr2 = r10\n\tr2 += $k\n\tr1 = map[percpu]\n\tcall "
	  "bpf_map_lookup_percpu_elem\n"
	  "\tif r0 == 0 goto none$l\n",
	  "none$l:\n" },
	{ FOR_ALL, VALUE,
	  "\tr2 = r10\n\tr2 += $k\n\tr1 = map[outer]\n\tcall bpf_map_lookup_elem\n"
	  "\tif r0 == 0 goto none$l\n\tr2 = r10\n\tr2 += $j\n\tr1 = r0\n\tcall "
	  "bpf_map_lookup_elem\n"
	  "\tif r0 == 0 goto none$l\n",
	  "none$l:\n" },
	{ FOR_CGROUP | FOR_CLS, NUMBER,
	  "\tr1 = *(u64 *)(r6 +168)\n\tif r1 == 0 goto none$l\n\tcall bpf_sk_fullsock\n"
	  "\tif r0 == 0 goto none$l\n\tr0 = *(u32 *)(r0 +12)\n",
	  "none$l:\n" },
	{ FOR_CGROUP | FOR_CLS, NUMBER,
	  "\tr1 = *(u64 *)(r6 +168)\n\tif r1 == 0 goto none$l\n\tcall bpf_tcp_sock\n"
	  "\tif r0 == 0 goto none$l\n\tr0 = *(u32 *)(r0 +0)\n",
	  "none$l:\n" },
	{ FOR_CGROUP | FOR_CLS, NUMBER,
	  "\tr1 = *(u64 *)(r6 +168)\n\tif r1 == 0 goto none$l\n\tr0 = *(u32 *)(r1 +4)\n",
	  "none$l:\n" },
	{ FOR_CGROUP | FOR_CLS | FOR_XDP | HOLDS, NUMBER,
	  "\tr5 = 0\n\tr4 = -1\n\tr3 = 8\n\tr2 = r10\n\tr2 += $k\n\tr1 = r6\n\tcall "
	  "bpf_sk_lookup_tcp\n"
	  "\tif r0 == 0 goto none$l\n\tr$p = r0\n\tr0 = *(u32 *)(r0 +4)\n",
	  "\tr1 = r$p\n\tcall bpf_sk_release\nnone$l:\n" },
	{ FOR_ALL | HOLDS, NUMBER,
	  "\tr3 = 0\n\tr2 = 24\n\tr1 = map[ring]\n\tcall bpf_ringbuf_reserve\n"
	  "\tif r0 == 0 goto none$l\n\tr$p = r0\n\t*(u64 *)(r0 +8) = $c\n\tr0 = 0\n",
	  "\t*(u32 *)(r$p +16) = 1\n\tr2 = 0\n\tr1 = r$p\n\tcall bpf_ringbuf_submit\nnone$l:\n" },
	{ FOR_CLS | NEEDS_TYPES | NEEDS_ROOT, NUMBER,
	  "\tr2 = r10\n\tr2 += $k\n\tr1 = map[locked]\n\tcall bpf_map_lookup_elem\n"
	  "\tif r0 == 0 goto none$l\n\tr$p = r0\n\tr1 = r0\n\tcall bpf_spin_lock\n"
	  "\t*(u32 *)(r$p +4) = $c\n\tr1 = r$p\n\tcall bpf_spin_unlock\n\tr0 = *(u32 *)(r$p +4)\n",
	  "none$l:\n" },
};

static uint32_t type_flag(const struct gen *gen)
{
	switch (gen->prog_type) {
	case BPF_PROG_TYPE_XDP:
		return FOR_XDP;
	case BPF_PROG_TYPE_SCHED_CLS:
		return FOR_CLS;
	case BPF_PROG_TYPE_CGROUP_SKB:
		return FOR_CGROUP;
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
		return FOR_TRACE;
	default:
		return FOR_FILTER;
	}
}

static bool has_numbers(const struct slot *slot)
{
	return slot->set && !slot->pointer;
}

/* A slot that can be read as bytes, or -1. */
static int pick_slot(struct gen *gen)
{
	int start = gen_below(gen, SLOTS);

	for (int i = 0; i < SLOTS; i++) {
		int s = (start + i) % SLOTS;

		if (has_numbers(&gen->now.slot[s]))
			return s;
	}
	return -1;
}

static bool all_numbers(const struct gen *gen)
{
	for (int s = 0; s < SLOTS; s++) {
		if (!has_numbers(&gen->now.slot[s]))
			return false;
	}
	return true;
}

/* A register for what nests: r7 to r9, or -1. */
static int pick_own(const struct gen *gen)
{
	for (int r = 7; r < REGS; r++) {
		if (!gen_is_pinned(gen, r))
			return r;
	}
	return -1;
}

/* A register that holds a map's value and that recipes leave alone, or -1. */
static int pick_value(const struct gen *gen)
{
	for (int r = 7; r < REGS; r++) {
		if (gen->now.reg[r].kind == VALUE)
			return r;
	}
	return -1;
}

static bool can_fill(struct gen *gen, const char *text)
{
	if (strstr(text, "$k") && pick_slot(gen) < 0)
		return false;
	if (strstr(text, "$w") && !all_numbers(gen))
		return false;
	if (strstr(text, "$v") && pick_value(gen) < 0)
		return false;
	return !strstr(text, "$p") || pick_own(gen) >= 0;
}

/* Fills gaps of the text. The stack slots it names are written to, for all that is known. */
static void fill(struct gen *gen, const char *text, int label, int own, char *buf, size_t size)
{
	bool xdp = gen->prog_type == BPF_PROG_TYPE_XDP;
	size_t len = 0;

	for (; *text && len + 16 < size; text++) {
		int r, s;

		if (*text != '$') {
			buf[len++] = *text;
			continue;
		}
		switch (*++text) {
		case 'n':
			r = gen_pick(gen, NUMBER);
			len += (size_t)(r >= 7 ? snprintf(buf + len, size - len, "r%d", r)
					       : snprintf(buf + len, size - len, "%d",
							  gen_below(gen, 100)));
			break;
		case 'k':
		case 'j':
			s = pick_slot(gen);
			if (!gen_one_in(gen, 4))
				gen->now.slot[s].kind = NUMBER;
			len += (size_t)snprintf(buf + len, size - len, "-%d", 8 * (s + 1));
			break;
		case 'w':
			len += (size_t)snprintf(buf + len, size - len, "-%d", 8 * SLOTS);
			break;
		case 'l':
			len += (size_t)snprintf(buf + len, size - len, "%d", label);
			break;
		case 'v':
			len += (size_t)snprintf(buf + len, size - len, "%d", pick_value(gen));
			break;
		case 'm':
			len += (size_t)snprintf(buf + len, size - len, "%d", xdp ? 8 : 140);
			break;
		case 'd':
			len += (size_t)snprintf(buf + len, size - len, "%d", xdp ? 0 : 76);
			break;
		case 'p':
			len += (size_t)snprintf(buf + len, size - len, "%d", own);
			break;
		default:
			len += (size_t)snprintf(buf + len, size - len, "%d", gen_below(gen, 8));
			break;
		}
	}
	buf[len] = '\0';
}

static void lose_packets(struct gen *gen)
{
	for (int r = 0; r < REGS; r++) {
		if (gen->now.reg[r].kind == PACKET || gen->now.reg[r].kind == END)
			gen->now.reg[r].kind = NOTHING;
	}
	for (int s = 0; s < SLOTS; s++) {
		if (gen->now.slot[s].kind == PACKET)
			gen->now.slot[s].kind = NOTHING;
	}
}

static void set_result(struct gen *gen, enum kind kind)
{
	gen_lose_temporaries(gen);
	gen->now.reg[0] = (struct reg){ .kind = kind, .max = UINT64_MAX };
}

static void nest(struct gen *gen, const struct recipe *recipe, const char *text, int label, int own)
{
	uint32_t counters = gen->counters;
	struct frame before;
	char close[200];
	int at;

	set_result(gen, NOTHING);
	if (own >= 0)
		gen->now.reg[own].kind = NOTHING;
	before = gen->now;
	at = gen_open(gen->tree, "%s", text);
	gen_put(gen, at);
	gen->now.reg[0] = (struct reg){ .kind = recipe->result, .max = UINT64_MAX };
	if (own >= 0)
		gen->counters |= 1u << own;
	gen->held += recipe->flags & HOLDS ? 1 : 0;
	if (recipe->result == VALUE)
		gen_make_value_access(gen);
	gen_make_block(gen, 1 + gen_below(gen, 4));
	gen->held -= recipe->flags & HOLDS ? 1 : 0;
	gen->counters = counters;
	fill(gen, recipe->close, label, own, close, sizeof(close));
	gen_close(gen->tree, at, "%s", close);
	gen_lose_temporaries(gen);
	gen_meet(&gen->now, &before);
}

void gen_make_recipe(struct gen *gen)
{
	enum { CNT = sizeof(recipes) / sizeof(recipes[0]) };
	const struct recipe *recipe = &recipes[gen_below(gen, CNT)];
	int label = gen->label++, own = -1;
	char text[400];

	while (!(recipe->flags & type_flag(gen)) ||
	       (recipe->flags & NEEDS_ROOT && gen->unprivileged) ||
	       (recipe->flags & MAY_NOT_SLEEP && gen->sleepable) ||
	       (recipe->flags & NEEDS_TYPES && !gen->types))
		recipe = &recipes[gen_below(gen, CNT)];
	/* what moves the packet in a function does so for its callers as well */
	if (recipe->flags & MOVES_PACKET && gen->func)
		return;
	if (recipe->close && gen->depth >= MAX_DEPTH)
		return;
	/*
	 * Leaves the program when the packet is too short. In a function that is a return without
	 * its exit, which 6.18 loses count of when it walks back for precision: it writes where it
	 * must not.
	 */
	if ((gen->held || gen->func) && strstr(recipe->text, "skb["))
		return;
	if (!can_fill(gen, recipe->text))
		return;
	if (strstr(recipe->text, "$p"))
		own = pick_own(gen);
	fill(gen, recipe->text, label, own, text, sizeof(text));
	if (recipe->flags & MOVES_PACKET)
		lose_packets(gen);
	if (recipe->flags & WRITES_ALL) {
		for (int s = 0; s < SLOTS; s++)
			gen->now.slot[s].kind = NUMBER;
	}
	if (recipe->close) {
		nest(gen, recipe, text, label, own);
		return;
	}
	gen_put(gen, gen_line(gen->tree, "%s", text));
	set_result(gen, recipe->result);
}

/* An offset that a comparison limits, in place of a mask. */
void gen_make_checked_access(struct gen *gen)
{
	int v = gen_pick(gen, VALUE), r = gen_unknown_offset(gen), label = gen->label++, at;
	bool atomic = gen_one_in(gen, 2);
	struct frame before;

	if (v < 0 || r < 0 || gen_is_pinned(gen, v))
		return;
	before = gen->now;
	before.reg[v].kind = NOTHING;
	if (atomic)
		gen_put(gen, gen_line(gen->tree, "\tr%d &= -8\n", r));
	at = gen_open(gen->tree, "\tif r%d > %d goto over%d\n\tr%d += r%d\n", r, gen_below(gen, 56),
		      label, v, r);
	gen_put(gen, at);
	gen_set_number(gen, r, 56);
	gen->now.reg[v].kind = NOTHING;
	if (!atomic)
		gen_put(gen, gen_line(gen->tree, "\t*(u8 *)(r%d +%d) = %d\n", v, gen_below(gen, 8),
				      gen_below(gen, 100)));
	else
		gen_put(gen, gen_line(gen->tree, "\tlock *(u64 *)(r%d +0) += r%d\n", v, r));
	gen_make_block(gen, 1 + gen_below(gen, 3));
	gen_close(gen->tree, at, "over%d:\n", label);
	gen_meet(&gen->now, &before);
}

/* The stack through another register, at a known or a limited place. */
void gen_make_stack_pointer(struct gen *gen)
{
	int r = gen_target(gen), s = pick_slot(gen), n = -1, size = 1 << gen_below(gen, 4), t;

	if (s < 0)
		return;
	if (!gen->unprivileged && all_numbers(gen) && gen_one_in(gen, 2))
		n = gen_limited(gen, 8 * SLOTS - 8);
	if (n == r)
		return;
	if (n >= 0)
		gen_put(gen, gen_line(gen->tree, "\tr%d = r10\n\tr%d += -%d\n\tr%d += r%d\n", r, r,
				      8 * SLOTS, r, n));
	else
		gen_put(gen, gen_line(gen->tree, "\tr%d = r10\n\tr%d += -%d\n", r, r, 8 * (s + 1)));
	gen->now.reg[r].kind = NOTHING;
	t = gen_pick(gen, NUMBER);
	if (t >= 0 && gen_one_in(gen, 2)) {
		gen_put(gen, gen_line(gen->tree, "\t*(u%d *)(r%d +0) = r%d\n", size * 8, r, t));
		for (int i = 0; n >= 0 && i < SLOTS; i++)
			gen->now.slot[i].kind = NUMBER;
		gen->now.slot[s].kind = NUMBER;
		return;
	}
	gen_put(gen, gen_line(gen->tree, "\tr%d = *(u%d *)(r%d +0)\n", r, size * 8, r));
	gen_set_number(gen, r, UINT64_MAX);
}
