// SPDX-License-Identifier: GPL-2.0-only
/* Removal of what no path reached, once the program is accepted. */
#include "bpfloupe/insn.h"
#include "verifier/rewrite.h"

static const struct loupe_insn nop = { .code = BPF_JMP | BPF_JA };
static const struct loupe_insn may_goto_next = { .code = BPF_JMP | BPF_JCOND };

/* Insns still in the program, as a list in order. */
struct alive {
	const struct vf_env *env;
	struct vf_program *prog; /* insns at their places in the image */
	uint32_t *next, *prev;	 /* per insn; next of a removed one leads on to a later one */
};

#define NONE UINT32_MAX

static bool was_seen(const struct vf_env *env, uint32_t idx)
{
	return env->aux[idx].pass_seen != 0;
}

/* The second slot of an ldimm64 shares the fate of the first. */
static void mark_second_slots(struct vf_env *env)
{
	for (uint32_t i = 0; i + 1 < env->insn_cnt; i += loupe_insn_slots(&env->insns[i]))
		if (insn_is_ldimm64(&env->insns[i]))
			env->aux[i + 1].pass_seen = env->aux[i].pass_seen;
}

static bool is_cond_jump(const struct loupe_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	if (class == BPF_JMP32)
		return op != BPF_JA;
	return class == BPF_JMP && op != BPF_JA && op != BPF_EXIT && op != BPF_CALL;
}

static void hard_wire_branches(const struct vf_env *env, struct vf_program *prog)
{
	for (uint32_t i = 0; i < prog->cnt; i++) {
		struct loupe_insn *insn = &prog->insns[i];
		struct loupe_insn ja = nop;

		if (!is_cond_jump(insn))
			continue;
		if (!was_seen(env, i + 1))
			ja.off = insn->off;
		else if (was_seen(env, (uint32_t)((int32_t)i + 1 + insn->off)))
			continue;
		*insn = ja;
	}
}

/* First insn at or after idx that is still there, the program's length if none. */
static uint32_t at_or_after(struct alive *alive, uint32_t idx)
{
	uint32_t end = idx;

	while (end < alive->prog->cnt && alive->next[end] != end)
		end = alive->next[end];
	while (idx != end) {
		uint32_t next = alive->next[idx];

		alive->next[idx] = end;
		idx = next;
	}
	return end;
}

static void remove_insn(struct alive *alive, uint32_t idx)
{
	uint32_t after;

	alive->next[idx] = idx + 1;
	after = at_or_after(alive, idx + 1);
	if (after < alive->prog->cnt)
		alive->prev[after] = alive->prev[idx];
}

static bool same_insn(const struct loupe_insn *a, const struct loupe_insn *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Jump without an effect: to what follows it now, in the form that the kernel looks for. */
static bool is_jump_to_next(struct alive *alive, uint32_t idx, const struct loupe_insn *form)
{
	struct loupe_insn insn = alive->prog->insns[idx];
	uint32_t to = (uint32_t)((int32_t)idx + 1 + insn.off);

	if (insn.code != form->code || insn.off < 0)
		return false;
	insn.off = 0;
	return same_insn(&insn, form) && at_or_after(alive, to) == at_or_after(alive, idx + 1);
}

static void remove_nops(struct alive *alive)
{
	uint32_t i = at_or_after(alive, 0);

	while (i < alive->prog->cnt) {
		bool may_goto = is_jump_to_next(alive, i, &may_goto_next);

		if (!may_goto && !is_jump_to_next(alive, i, &nop)) {
			i = at_or_after(alive, i + 1);
			continue;
		}
		remove_insn(alive, i);
		/* a may_goto over this one may have become a no-op */
		if (may_goto && alive->prev[i] != NONE)
			i = alive->prev[i];
		else
			i = at_or_after(alive, i);
	}
}

/*
 * Where the address of a function points that is gone itself. Removal moves targets behind the
 * removed range only, so one inside it comes to lie as far behind the range as it was in it.
 */
static uint32_t dangling_target(struct alive *alive, uint32_t to)
{
	uint32_t removed = 0, cnt = alive->prog->cnt, i, end;

	/* what no path reached, range by range */
	for (i = 0; i < cnt; i = end + 1) {
		for (end = i; end < cnt && !was_seen(alive->env, end); end++)
			;
		/* in the numbering that earlier removals left, the range ends at end - removed */
		if (end > i && end - removed <= to)
			to -= end - i;
		removed += end - i;
	}
	/* then no-ops, one by one */
	removed = 0;
	for (i = 0, end = 0; i < cnt; i++) {
		if (!was_seen(alive->env, i))
			continue;
		if (alive->next[i] != i) {
			to -= end - removed < to ? 1 : 0;
			removed++;
		}
		end++;
	}
	return to;
}

/* Moves what is left to the front; jumps, calls and callbacks keep their targets. */
static void compact(struct alive *alive, uint32_t *new_idx)
{
	struct vf_program *prog = alive->prog;
	uint32_t old_cnt = prog->cnt, cnt = 0;

	for (uint32_t i = 0; i < old_cnt; i++) {
		new_idx[i] = cnt;
		cnt += alive->next[i] == i;
	}
	new_idx[old_cnt] = cnt;
	for (uint32_t i = 0; i < old_cnt; i++) {
		struct loupe_insn insn = prog->insns[i];
		uint8_t class = BPF_CLASS(insn.code), op = BPF_OP(insn.code);
		bool by_imm = insn_is_pseudo_func(&insn) || insn_is_pseudo_call(&insn) ||
			      insn.code == (BPF_JMP32 | BPF_JA);
		bool by_off = !by_imm && (class == BPF_JMP || class == BPF_JMP32) &&
			      op != BPF_CALL && op != BPF_EXIT;
		uint32_t to = (uint32_t)((int32_t)i + 1 + (by_imm ? insn.imm : insn.off));

		if (alive->next[i] != i)
			continue;
		if (by_imm || by_off) {
			uint32_t new_to =
				was_seen(alive->env, to) ? new_idx[to] : dangling_target(alive, to);
			int32_t off = (int32_t)(new_to - new_idx[i] - 1);

			if (by_imm)
				insn.imm = off;
			else
				insn.off = (int16_t)off;
		}
		prog->insns[new_idx[i]] = insn;
		prog->orig[new_idx[i]] = i;
	}
	prog->cnt = cnt;
}

static void compact_subprogs(struct vf_env *env, const uint32_t *new_idx)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < env->subprog_cnt; i++) {
		uint32_t start = env->subprogs[i].start;

		if (!was_seen(env, start))
			continue;
		env->subprogs[cnt] = env->subprogs[i];
		env->subprogs[cnt++].start = new_idx[start];
	}
	env->subprogs[cnt].start = new_idx[env->insn_cnt];
	env->subprog_cnt = cnt;
}

/* Without privileges nothing is removed: a trap stands where no path came. */
static void set_traps(const struct vf_env *env, struct vf_program *prog)
{
	struct loupe_insn trap = nop;

	trap.off = -1;
	for (uint32_t i = 0; i < prog->cnt; i++)
		if (!was_seen(env, i))
			prog->insns[i] = trap;
}

static int remove_unseen(struct vf_env *env, struct vf_program *prog)
{
	size_t size = (prog->cnt + 1) * sizeof(uint32_t);
	struct alive alive = {
		.env = env,
		.prog = prog,
		.next = vf_alloc(env->slabs, size),
		.prev = vf_alloc(env->slabs, size),
	};
	uint32_t *new_idx = vf_alloc(env->slabs, size);

	if (!alive.next || !alive.prev || !new_idx)
		return -ENOMEM;
	hard_wire_branches(env, prog);
	for (uint32_t i = 0; i <= prog->cnt; i++) {
		alive.next[i] = i;
		alive.prev[i] = i ? i - 1 : NONE;
	}
	for (uint32_t i = 0; i < prog->cnt; i++)
		if (!was_seen(env, i))
			remove_insn(&alive, i);
	remove_nops(&alive);
	compact(&alive, new_idx);
	compact_subprogs(env, new_idx);
	return 0;
}

int vf_remove_dead_code(struct vf_env *env, struct vf_program *prog)
{
	size_t size = env->insn_cnt * sizeof(*prog->insns);

	prog->cnt = env->insn_cnt;
	prog->insns = vf_alloc(env->slabs, size);
	prog->orig = vf_alloc(env->slabs, env->insn_cnt * sizeof(*prog->orig));
	if (!prog->insns || !prog->orig)
		return -ENOMEM;
	memcpy(prog->insns, env->insns, size);
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		prog->orig[i] = i;
	mark_second_slots(env);
	if (env->bpf_capable)
		return remove_unseen(env, prog);
	set_traps(env, prog);
	return 0;
}
