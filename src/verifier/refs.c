// SPDX-License-Identifier: GPL-2.0-only
/* Acquired references, held locks, and what must not be held at an exit or a call. */
#include "verifier/vf.h"

enum { LOCK_TYPES = REF_TYPE_LOCK | REF_TYPE_RES_LOCK | REF_TYPE_RES_LOCK_IRQ };

static struct loupe_ref *ref_add(struct vf_env *env, int32_t insn_idx)
{
	struct loupe_state *st = env->cur;
	struct loupe_ref *ref;

	if (st->ref_cnt == st->ref_cap) {
		uint32_t cap = st->ref_cap ? st->ref_cap * 2 : 4;
		struct loupe_ref *refs = vf_alloc(env->slabs, cap * sizeof(*refs));

		if (!refs)
			return NULL;
		if (st->ref_cnt)
			memcpy(refs, st->refs, st->ref_cnt * sizeof(*refs));
		vf_free(env->slabs, st->refs, st->ref_cap * sizeof(*refs));
		st->refs = refs;
		st->ref_cap = cap;
	}
	ref = &st->refs[st->ref_cnt++];
	*ref = (struct loupe_ref){ .insn_idx = insn_idx };
	return ref;
}

/* The order of those that remain matters: interrupts are restored like a stack. */
static void ref_remove(struct loupe_state *st, uint32_t i)
{
	st->ref_cnt--;
	memmove(&st->refs[i], &st->refs[i + 1], (st->ref_cnt - i) * sizeof(st->refs[0]));
}

int vf_ref_acquire(struct vf_env *env, int32_t insn_idx)
{
	struct loupe_ref *ref = ref_add(env, insn_idx);

	if (!ref)
		return -ENOMEM;
	ref->type = REF_TYPE_PTR;
	ref->id = vf_new_id(env);
	return (int)ref->id;
}

int vf_ref_drop(struct loupe_state *st, uint32_t id)
{
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		if (st->refs[i].type == REF_TYPE_PTR && st->refs[i].id == id) {
			ref_remove(st, i);
			return 0;
		}
	}
	return -EINVAL;
}

int vf_ref_release(struct vf_env *env, uint32_t id)
{
	const struct loupe_reg *reg;
	struct vf_reg_iter it;
	int err = vf_ref_drop(env->cur, id);

	if (err)
		return err;
	vf_reg_iter_init(&it, env, env->cur);
	while ((reg = vf_reg_iter_next(&it))) {
		if (reg->ref_obj_id == id && vf_reg_iter_forget(&it))
			return -ENOMEM;
	}
	return 0;
}

bool vf_ref_find(const struct loupe_state *st, uint32_t id)
{
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		if (st->refs[i].id == id)
			return true;
	}
	return false;
}

int vf_lock_acquire(struct vf_env *env, int32_t insn_idx, uint32_t type, uint32_t id, uint64_t ptr)
{
	struct loupe_ref *ref = ref_add(env, insn_idx);

	if (!ref)
		return -ENOMEM;
	ref->type = type;
	ref->id = id;
	ref->ptr = ptr;
	env->cur->active_locks++;
	env->cur->active_lock_id = id;
	env->cur->active_lock_ptr = ptr;
	return 0;
}

int vf_lock_release(struct loupe_state *st, uint32_t type, uint32_t id, uint64_t ptr)
{
	uint64_t outer_ptr = 0;
	uint32_t outer_id = 0;

	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		const struct loupe_ref *ref = &st->refs[i];

		if (ref->type == type && ref->id == id && ref->ptr == ptr) {
			ref_remove(st, i);
			st->active_locks--;
			st->active_lock_id = outer_id;
			st->active_lock_ptr = outer_ptr;
			return 0;
		}
		if (ref->type & LOCK_TYPES) {
			outer_id = ref->id;
			outer_ptr = ref->ptr;
		}
	}
	return -EINVAL;
}

/* References that nobody can release any more when the outermost function ends. */
static int check_ref_leak(struct vf_env *env, bool exception_exit)
{
	const struct loupe_state *st = env->cur;
	bool leak = false;

	if (!exception_exit && st->curframe)
		return 0;
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		if (st->refs[i].type != REF_TYPE_PTR)
			continue;
		vf_msg(env, "Unreleased reference id=%u alloc_insn=%d\n", st->refs[i].id,
		       st->refs[i].insn_idx);
		leak = true;
	}
	return leak ? -EINVAL : 0;
}

int vf_check_resource_leak(struct vf_env *env, bool exception_exit, bool check_lock,
			   const char *prefix)
{
	const struct loupe_state *st = env->cur;
	int err;

	if (check_lock && st->active_locks) {
		vf_msg(env, "%s cannot be used inside bpf_spin_lock-ed region\n", prefix);
		return -EINVAL;
	}
	err = check_ref_leak(env, exception_exit);
	if (err) {
		vf_msg(env, "%s would lead to reference leak\n", prefix);
		return err;
	}
	if (!check_lock)
		return 0;
	if (st->active_irq_id) {
		vf_msg(env, "%s cannot be used inside bpf_local_irq_save-ed region\n", prefix);
		return -EINVAL;
	}
	if (st->active_rcu_locks) {
		vf_msg(env, "%s cannot be used inside bpf_rcu_read_lock-ed region\n", prefix);
		return -EINVAL;
	}
	if (st->active_preempt_locks) {
		vf_msg(env, "%s cannot be used inside bpf_preempt_disable-ed region\n", prefix);
		return -EINVAL;
	}
	return 0;
}
