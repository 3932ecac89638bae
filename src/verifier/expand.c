// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rewriting makes a program longer: context accesses become accesses to kernel structures, some
 * helpers are inlined, divisions get guards. Jumps reach 32,767 insns, so a program can be refused
 * for it. Only the room is modelled here: exact for most insns, bounds for context accesses; where
 * a bound leaves the verdict open there is none.
 */
#include "verifier/rewrite.h"

enum pass { PASS_LOOP, PASS_PROLOGUE, PASS_CTX, PASS_FIXUP, PASS_MAY_GOTO, PASS_ZEXT, PASS_CNT };

enum {
	MAX_JUMP = INT16_MAX,
	MAX_PATCH = 31, /* longest replacement of one insn */
	MAX_PROLOGUE = 16,
	LOOP_PATCH = 19,    /* bpf_loop() as a loop */
	MAY_GOTO_PATCH = 7, /* with a look at the clock */
	MAX_POKES = 1024,   /* tail calls with a constant index */
};

struct room {
	uint32_t min, max; /* insns that an insn takes */
};

struct grown {
	struct vf_env *env;
	const struct loupe_insn *insns;
	const uint32_t *orig; /* NULL: the insn's own number */
	uint32_t cnt;
	struct room *room; /* per insn, so far */
};

static const struct vf_aux *aux_of(const struct grown *g, uint32_t i)
{
	return &g->env->aux[g->orig ? g->orig[i] : i];
}

static struct room exactly(uint32_t cnt)
{
	return (struct room){ cnt, cnt };
}

/* Guards of a division or remainder by a register; off 1: signed. */
static uint32_t division(const struct loupe_insn *insn)
{
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64, is_div = BPF_OP(insn->code) == BPF_DIV;

	if (BPF_SRC(insn->code) != BPF_X)
		return 1;
	if (insn->off == 1)
		return is_div ? 8 : is64 ? 7 : 9;
	return is_div ? 4 : is64 ? 2 : 4;
}

/* Spectre masking of pointer arithmetic. */
static uint32_t masked_alu(const struct vf_aux *aux)
{
	enum { SRC = 1 << 0, DST = 1 << 1, NEG = 1 << 2, NON_POINTER = 1 << 3, IMM = 1 << 4 };
	uint32_t state = aux->alu_state;
	bool src = (state & (SRC | DST)) == SRC;
	uint32_t cnt = src ? 1 : 2;

	if (!state || state == NON_POINTER)
		return 1;
	if (state & IMM)
		cnt += 1;
	else
		cnt += 6;
	if (!(state & IMM) && (state & NEG))
		cnt += src ? 2 : 1;
	return cnt;
}

/* An inlined bpf_map_lookup_elem(). */
static uint32_t map_lookup(const struct vf_env *env, const struct loupe_map *map)
{
	uint32_t mask = env->bypass_spec_v1 ? 0 : 1;
	bool inner = map->map_flags & BPF_F_INNER_MAP;

	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:
		return inner ? 1 : 7 + mask;
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return inner ? 1 : 9 + mask;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return 9 + mask;
	case BPF_MAP_TYPE_HASH:
		return 3;
	case BPF_MAP_TYPE_LRU_HASH:
		return 6;
	case BPF_MAP_TYPE_PERCPU_HASH:
		return 5;
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return 4;
	case BPF_MAP_TYPE_XSKMAP:
		return 8;
	default:
		return 1;
	}
}

static struct room helper(const struct vf_env *env, const struct loupe_insn *insn,
			  const struct vf_aux *aux)
{
	switch (insn->imm) {
	case BPF_FUNC_map_lookup_elem:
		if (aux->map_poison || aux->map_idx < 0)
			return exactly(1);
		return exactly(map_lookup(env, env->maps[aux->map_idx].def));
	case BPF_FUNC_tail_call:
		return exactly(aux->map_unpriv ? 3 : 1);
	case BPF_FUNC_timer_set_callback:
	case BPF_FUNC_jiffies64:
	case BPF_FUNC_get_smp_processor_id:
		return exactly(3);
	case BPF_FUNC_task_storage_get:
	case BPF_FUNC_sk_storage_get:
	case BPF_FUNC_inode_storage_get:
	case BPF_FUNC_cgrp_storage_get:
	case BPF_FUNC_kptr_xchg:
		return exactly(2);
	case BPF_FUNC_get_branch_snapshot:
		return exactly(11);
	case BPF_FUNC_get_func_arg:
	case BPF_FUNC_get_func_ret:
	case BPF_FUNC_get_func_arg_cnt:
	case BPF_FUNC_get_func_ip:
		return (struct room){ 1, 12 };
	default:
		return exactly(aux->call_with_percpu_alloc_ptr ? 2 : 1);
	}
}

static struct room fixup(const struct vf_env *env, const struct loupe_insn *insn,
			 const struct vf_aux *aux)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code), mode = BPF_MODE(insn->code);

	if (class == BPF_ALU || class == BPF_ALU64) {
		if (op == BPF_DIV || op == BPF_MOD)
			return exactly(division(insn));
		if (class == BPF_ALU64 && (op == BPF_ADD || op == BPF_SUB) &&
		    BPF_SRC(insn->code) == BPF_X)
			return exactly(masked_alu(aux));
		return exactly(1);
	}
	if (class == BPF_LD && mode == BPF_ABS)
		return exactly(6);
	if (class == BPF_LD && mode == BPF_IND)
		return exactly(insn->imm ? 7 : 6);
	if (insn_is_may_goto(insn))
		return exactly(MAY_GOTO_PATCH);
	if (insn_is_helper_call(insn))
		return helper(env, insn, aux);
	return exactly(1);
}

/* A load or store through a pointer whose fields are not where the program sees them. */
static struct room access(const struct loupe_insn *insn, const struct vf_aux *aux)
{
	uint8_t class = BPF_CLASS(insn->code), mode = BPF_MODE(insn->code);
	uint32_t barrier = aux->nospec ? 1 : 0;
	struct room room = exactly(1);

	if ((class == BPF_LDX && (mode == BPF_MEM || mode == BPF_MEMSX)) ||
	    ((class == BPF_ST || class == BPF_STX) && mode == BPF_MEM)) {
		if (class != BPF_LDX && aux->nospec_result)
			barrier++;
		else if (aux->ptr_type == PTR_TO_CTX || aux->ptr_type == PTR_TO_SOCKET ||
			 aux->ptr_type == PTR_TO_SOCK_COMMON || aux->ptr_type == PTR_TO_TCP_SOCK ||
			 aux->ptr_type == PTR_TO_XDP_SOCK)
			room.max = MAX_PATCH;
	}
	room.min += barrier;
	room.max += barrier;
	return room;
}

static bool starts_with_may_goto(const struct grown *g, uint32_t i)
{
	int subprogno = vf_find_subprog(g->env, (int32_t)i);
	const struct vf_subprog *sub;

	if (subprogno < 0)
		return false;
	sub = &g->env->subprogs[subprogno];
	for (uint32_t k = sub->start; k < sub[1].start; k++)
		if (insn_is_may_goto(&g->insns[k]))
			return true;
	return false;
}

static struct room patch(const struct grown *g, enum pass pass, uint32_t i)
{
	const struct loupe_insn *insn = &g->insns[i];
	const struct vf_aux *aux = aux_of(g, i);
	bool cmpxchg = BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC &&
		       insn->imm == BPF_CMPXCHG;

	switch (pass) {
	case PASS_LOOP:
		return exactly(insn_is_helper_call(insn) && insn->imm == BPF_FUNC_loop &&
					       aux->loop_fit
				       ? LOOP_PATCH
				       : 1);
	case PASS_PROLOGUE:
		return i == 0 && g->env->seen_direct_write ? (struct room){ 1, MAX_PROLOGUE }
							   : exactly(1);
	case PASS_CTX:
		return access(insn, aux);
	case PASS_FIXUP:
		return fixup(g->env, insn, aux);
	case PASS_MAY_GOTO:
		return exactly(starts_with_may_goto(g, i) ? 3 : 1);
	default:
		if (g->env->image->prog_flags & BPF_F_TEST_RND_HI32)
			return (struct room){ 1, 4 };
		return exactly(cmpxchg && aux->zext_dst ? 2 : 1);
	}
}

static bool has_short_jump(const struct loupe_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	if (class == BPF_JMP32)
		return op != BPF_JA;
	return class == BPF_JMP && op != BPF_CALL && op != BPF_EXIT;
}

/* Insns that a jump at i passes over: [*from, *to). */
static void passed_over(const struct grown *g, uint32_t i, uint32_t *from, uint32_t *to)
{
	int32_t target = (int32_t)i + 1 + g->insns[i].off;

	*from = g->insns[i].off >= 0 ? i + 1 : (uint32_t)target;
	*to = g->insns[i].off >= 0 ? (uint32_t)target : i;
}

enum reach { ALL_REACH, SOME_MAY_NOT, UNKNOWN_REACH };

static bool has_exact_rooms(const struct grown *g, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (g->room[i].min != g->room[i].max)
			return false;
	return true;
}

/* Do jumps reach with each insn at its largest? UNKNOWN_REACH: over insns whose size is not
 * known. */
static enum reach jumps_reach(const struct grown *g, uint64_t *sum)
{
	enum reach reach = ALL_REACH;

	sum[0] = 0;
	for (uint32_t i = 0; i < g->cnt; i++)
		sum[i + 1] = sum[i] + g->room[i].max;
	if (sum[g->cnt] <= MAX_JUMP)
		return ALL_REACH;
	for (uint32_t i = 0; i < g->cnt; i++) {
		uint32_t from, to;

		if (!has_short_jump(&g->insns[i]))
			continue;
		passed_over(g, i, &from, &to);
		if (sum[to] - sum[from] + 1 <= MAX_JUMP)
			continue;
		if (!has_exact_rooms(g, from, to))
			return UNKNOWN_REACH;
		reach = SOME_MAY_NOT;
	}
	return reach;
}

/* At most what all passes together make of an insn. */
static uint32_t most_room(const struct loupe_insn *insn, const struct vf_aux *aux)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	switch (class) {
	case BPF_ALU:
	case BPF_ALU64:
		return op == BPF_DIV || op == BPF_MOD || aux->alu_state ? MAX_PATCH : 1;
	case BPF_JMP:
	case BPF_JMP32:
		return op == BPF_CALL || op == BPF_JCOND ? MAX_PATCH : 1;
	case BPF_LD:
		return MAX_PATCH;
	default:
		return access(insn, aux).max + 1;
	}
}

/* Most programs are so short that no jump can get too long, whatever the passes do. */
static bool surely_fits(const struct grown *g)
{
	uint32_t may_goto_start = 2 * g->env->subprog_cnt;
	uint64_t sum = MAX_PROLOGUE + may_goto_start;

	if (g->env->image->prog_flags & BPF_F_TEST_RND_HI32)
		return false;
	for (uint32_t i = 0; i < g->cnt; i++)
		sum += most_room(&g->insns[i], aux_of(g, i));
	return sum <= MAX_JUMP;
}

static int cannot_patch(struct grown *g, uint32_t i)
{
	vf_msg(g->env, "insn %u cannot be patched due to 16-bit range\n", g->orig ? g->orig[i] : i);
	return VF_KERNEL_ENOMEM;
}

/* The first patch of the pass that pushes a jump out of reach. Jumps over insns of unknown size
 * reach. */
static int find_first_failure(struct grown *g, enum pass pass)
{
	uint32_t first = UINT32_MAX;

	for (uint32_t i = 0; i < g->cnt; i++) {
		uint32_t from, to;
		uint64_t span = 0;

		if (!has_short_jump(&g->insns[i]))
			continue;
		passed_over(g, i, &from, &to);
		for (uint32_t k = from; k < to; k++)
			span += g->room[k].min;
		/* backwards, the jump itself counts: its distance is measured from behind it */
		span += g->insns[i].off < 0;
		for (uint32_t k = from; k < to && k < first; k++) {
			uint32_t more = patch(g, pass, k).min - 1;

			span += more;
			if (more && span > (uint64_t)MAX_JUMP + (g->insns[i].off < 0))
				first = k;
		}
	}
	return first == UINT32_MAX ? 0 : cannot_patch(g, first);
}

static void apply(struct grown *g, enum pass pass)
{
	for (uint32_t i = 0; i < g->cnt; i++) {
		struct room room = patch(g, pass, i);

		g->room[i].min += room.min - 1;
		g->room[i].max += room.max - 1;
	}
}

static int check_passes(struct grown *g, enum pass from, enum pass to)
{
	size_t room_size = g->cnt * sizeof(*g->room);
	struct room *before = vf_alloc(g->env->slabs, room_size);
	uint64_t *sum = vf_alloc(g->env->slabs, (g->cnt + 1) * sizeof(*sum));

	if (!before || !sum)
		return -ENOMEM;
	memcpy(before, g->room, room_size);
	for (enum pass pass = from; pass <= to; pass++)
		apply(g, pass);
	switch (jumps_reach(g, sum)) {
	case ALL_REACH:
		return 0;
	case UNKNOWN_REACH:
		return vf_not_judged(g->env,
				     "jumps over more than %u insns of rewritten context accesses",
				     MAX_JUMP);
	case SOME_MAY_NOT:
		break;
	}
	memcpy(g->room, before, room_size);
	for (enum pass pass = from; pass <= to; pass++) {
		int err = find_first_failure(g, pass);

		if (err)
			return err;
		apply(g, pass);
	}
	return 0;
}

static int start(struct grown *g, struct vf_env *env, const struct loupe_insn *insns,
		 const uint32_t *orig, uint32_t cnt)
{
	*g = (struct grown){ .env = env, .insns = insns, .orig = orig, .cnt = cnt };
	g->room = vf_alloc(env->slabs, cnt * sizeof(*g->room));
	if (!g->room)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		g->room[i] = exactly(1);
	return 0;
}

int vf_check_loop_inlining(struct vf_env *env)
{
	struct grown g;
	bool any = false;
	int err;

	for (uint32_t i = 0; i < env->insn_cnt; i++)
		any |= env->aux[i].loop_fit;
	if (!any)
		return 0;
	err = start(&g, env, env->insns, NULL, env->insn_cnt);
	if (err)
		return err;
	err = check_passes(&g, PASS_LOOP, PASS_LOOP);
	if (err)
		return err;
	/* registers that the loop uses are kept below the function's stack */
	for (uint32_t s = 0; s < env->subprog_cnt; s++) {
		struct vf_subprog *sub = &env->subprogs[s];
		bool inlined = false;

		for (uint32_t i = sub->start; i < sub[1].start; i++)
			inlined |= g.room[i].min > 1;
		if (inlined)
			sub->stack_depth = ((sub->stack_depth + 7) & ~7u) + 3 * LOUPE_REG_SIZE;
	}
	return 0;
}

/*
 * The JIT patches a tail call through one constant entry when that entry changes. An ordinary
 * user's tail call masks its index, for which the map must be known. A kernel function that there
 * is not must not be called.
 */
static int check_calls(struct vf_env *env, const struct vf_program *prog)
{
	uint32_t pokes = 0;

	for (uint32_t i = 0; i < prog->cnt; i++) {
		const struct vf_aux *aux = &env->aux[prog->orig[i]];
		const struct loupe_insn *insn = &prog->insns[i];

		if (insn_is_kfunc_call(insn) && !insn->imm) {
			vf_msg(env,
			       "invalid kernel function call not eliminated in verifier pass\n");
			return -EINVAL;
		}
		if (!insn_is_helper_call(insn) || insn->imm != BPF_FUNC_tail_call)
			continue;
		if (aux->map_unpriv && aux->map_poison) {
			vf_msg(env, "tail_call abusing map_ptr\n");
			return -EINVAL;
		}
		if (!env->bpf_capable || aux->map_poison || aux->map_unpriv ||
		    (aux->map_key & VF_MAP_KEY_POISON))
			continue;
		if (++pokes > MAX_POKES) {
			vf_msg(env, "adding tail call poke descriptor failed\n");
			return -ENOSPC;
		}
	}
	return 0;
}

/* may_goto keeps its counter and a time stamp below the function's stack. */
static void add_may_goto_stack(struct vf_env *env, const struct vf_program *prog)
{
	for (uint32_t s = 0; s < env->subprog_cnt; s++) {
		struct vf_subprog *sub = &env->subprogs[s];

		for (uint32_t i = sub->start; i < sub[1].start; i++)
			if (insn_is_may_goto(&prog->insns[i]))
				sub->stack_extra = 2 * LOUPE_REG_SIZE;
		sub->stack_depth += sub->stack_extra;
	}
}

/* A callback that no path runs is gone; its address must point to some function all the same. */
static int check_callees(struct grown *g)
{
	struct room at = { 0, 0 };

	if (g->env->subprog_cnt <= 1)
		return 0;
	for (uint32_t i = 0; i < g->cnt; i++) {
		const struct loupe_insn *insn = &g->insns[i];
		uint32_t to = (uint32_t)((int32_t)i + 1 + insn->imm);

		if (!insn_is_pseudo_func(insn) || vf_find_subprog(g->env, (int32_t)to) >= 0)
			continue;
		for (uint32_t k = 0; k < to && k < g->cnt; k++) {
			at.min += g->room[k].min;
			at.max += g->room[k].max;
		}
		if (at.min != at.max)
			return vf_not_judged(g->env, "address of a function that no path runs");
		/* it may point further than the end */
		at.min += to > g->cnt ? to - g->cnt : 0;
		vf_msg(g->env, "verifier bug: No program to jit at insn %u (subprog < 0)\n",
		       at.min);
		return -EFAULT;
	}
	return 0;
}

static int check_conversions(struct vf_env *env, const struct vf_program *prog)
{
	for (uint32_t i = 0; i < prog->cnt; i++) {
		if (!env->aux[prog->orig[i]].unconvertible)
			continue;
		vf_msg(env, "verifier bug: error during ctx access conversion (0)\n");
		return -EFAULT;
	}
	return 0;
}

int vf_check_expansion(struct vf_env *env, const struct vf_program *prog)
{
	struct grown g;
	int err = start(&g, env, prog->insns, prog->orig, prog->cnt);
	bool fits;

	if (err)
		return err;
	/* where functions are called, the sizes decide more than that */
	fits = env->subprog_cnt <= 1 && surely_fits(&g);
	if (!fits)
		apply(&g, PASS_LOOP);
	err = check_conversions(env, prog);
	if (!err)
		err = check_calls(env, prog);
	if (!err && !fits)
		err = check_passes(&g, PASS_PROLOGUE, PASS_ZEXT);
	if (!err)
		add_may_goto_stack(env, prog);
	return err ? err : check_callees(&g);
}
