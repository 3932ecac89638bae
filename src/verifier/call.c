// SPDX-License-Identifier: GPL-2.0-only
/* Calls of helpers. */
#include "verifier/helper.h"

enum { MAX_ERRNO = 4095 };

/* State of a tail call's constant index in vf_aux.map_key. */
#define KEY_POISON (1ull << 63)
#define KEY_SEEN   (1ull << 62)

/* The call may be made here at all. */
static int check_context(struct vf_env *env, const struct vf_proto *proto, int32_t func_id)
{
	const struct loupe_state *st = env->cur;
	const char *name = vf_func_name(func_id);

	if (!env->gpl_compatible && (proto->flags & GPL)) {
		vf_msg(env,
		       "cannot call GPL-restricted function from non-GPL compatible program\n");
		return -EINVAL;
	}
	if (proto->flags & DENIED) {
		vf_msg(env, "helper call is not allowed in probe\n");
		return -EINVAL;
	}
	if (!(proto->flags & SLEEP))
		return 0;
	if (!st->in_sleepable)
		vf_msg(env, "helper call might sleep in a non-sleepable prog\n");
	else if (st->active_rcu_locks)
		vf_msg(env, "sleepable helper %s#%d in rcu_read_lock region\n", name, func_id);
	else if (st->active_preempt_locks)
		vf_msg(env, "sleepable helper %s#%d in non-preemptible region\n", name, func_id);
	else if (st->active_irq_id)
		vf_msg(env, "sleepable helper %s#%d in IRQ-disabled region\n", name, func_id);
	else
		return 0;
	return -EINVAL;
}

/* Helpers whose calls are rewritten for the one map that they always get. */
static bool map_is_recorded(int32_t func_id)
{
	switch (func_id) {
	case BPF_FUNC_tail_call:
	case BPF_FUNC_map_lookup_elem:
	case BPF_FUNC_map_update_elem:
	case BPF_FUNC_map_delete_elem:
	case BPF_FUNC_map_push_elem:
	case BPF_FUNC_map_pop_elem:
	case BPF_FUNC_map_peek_elem:
	case BPF_FUNC_for_each_map_elem:
	case BPF_FUNC_redirect_map:
	case BPF_FUNC_map_lookup_percpu_elem:
		return true;
	default:
		return false;
	}
}

static int record_map(struct vf_env *env, const struct vf_call_meta *meta, int32_t insn_idx)
{
	struct vf_aux *aux = &env->aux[insn_idx];
	bool changes = meta->func_id == BPF_FUNC_map_delete_elem ||
		       meta->func_id == BPF_FUNC_map_update_elem ||
		       meta->func_id == BPF_FUNC_map_push_elem ||
		       meta->func_id == BPF_FUNC_map_pop_elem;

	if (!map_is_recorded(meta->func_id))
		return 0;
	if (meta->map < 0)
		return -EFAULT;
	if ((env->maps[meta->map].flags & BPF_F_RDONLY_PROG) && changes) {
		vf_msg(env, "write into map forbidden\n");
		return -EACCES;
	}
	if (aux->map_idx >= 0 && aux->map_idx != meta->map)
		aux->map_poison = true;
	aux->map_idx = meta->map;
	aux->map_unpriv = !env->bypass_spec_v1;
	return 0;
}

/* A tail call through a constant index becomes a direct jump. */
static int record_key(struct vf_env *env, const struct vf_call_meta *meta, int32_t insn_idx)
{
	const struct loupe_reg *index = &vf_cur_regs(env)[BPF_REG_3];
	struct vf_aux *aux = &env->aux[insn_idx];
	const struct loupe_map *map;
	uint64_t poison;
	int err;

	if (meta->func_id != BPF_FUNC_tail_call)
		return 0;
	map = meta->map >= 0 ? env->maps[meta->map].def : NULL;
	if (!map || map->type != BPF_MAP_TYPE_PROG_ARRAY) {
		vf_msg(env, "expected prog array map for tail call");
		return -EINVAL;
	}
	poison = aux->map_key & KEY_POISON;
	if (!vf_reg_is_const(index) || index->var_off.value >= map->max_entries) {
		aux->map_key = KEY_SEEN | KEY_POISON;
		return 0;
	}
	err = vf_mark_chain_precision(env, BPF_REG_3);
	if (err)
		return err;
	if (!(aux->map_key & KEY_SEEN))
		aux->map_key = index->var_off.value | KEY_SEEN;
	else if (!poison && (aux->map_key & ~(KEY_SEEN | KEY_POISON)) != index->var_off.value)
		aux->map_key = KEY_SEEN | KEY_POISON;
	return 0;
}

/* What a helper fills of the stack holds some number afterwards. */
static int fill_stack(struct vf_env *env, const struct vf_call_meta *meta, int32_t insn_idx)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[meta->regno];

	if (meta->access_size > 0 && vf_stack_fillable(env, reg))
		return vf_stack_fill(env, reg->frameno, (int)reg->var_off.value + reg->off,
				     meta->access_size, insn_idx);
	for (int i = 0; i < meta->access_size; i++) {
		int err = vf_check_mem_access(env, insn_idx, (uint32_t)meta->regno, i, BPF_B,
					      VF_WRITE, -1, false, false);

		if (err)
			return err;
	}
	return 0;
}

static int release_arg(struct vf_env *env, const struct vf_call_meta *meta)
{
	int err = -EINVAL;

	if (!meta->release_regno)
		return 0;
	if (meta->ref_obj_id)
		err = vf_ref_release(env, meta->ref_obj_id);
	else if (vf_reg_is_null(&vf_cur_regs(env)[meta->release_regno]))
		err = 0;
	if (err)
		vf_msg(env, "func %s#%d reference has not been acquired before\n",
		       vf_func_name(meta->func_id), meta->func_id);
	return err;
}

/* Rules of single helpers. */
static int check_special(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
			 const struct vf_call_meta *meta)
{
	switch (meta->func_id) {
	case BPF_FUNC_tail_call:
		return vf_check_resource_leak(env, false, true, "tail_call");
	case BPF_FUNC_get_local_storage:
		if (vf_reg_is_null(&vf_cur_regs(env)[BPF_REG_2]))
			return 0;
		vf_msg(env, "get_local_storage() doesn't support non-zero flags\n");
		return -EINVAL;
	case BPF_FUNC_snprintf:
		return vf_check_snprintf(env);
	default:
		return vf_push_helper_callback(env, insn, insn_idx, meta);
	}
}

static int set_map_value_result(struct vf_env *env, struct loupe_reg *r0, uint32_t flags,
				const struct vf_call_meta *meta)
{
	const struct vf_map *map;

	if (meta->map < 0)
		return -EFAULT;
	map = &env->maps[meta->map];
	if (meta->func_id == BPF_FUNC_map_lookup_elem && vf_map_always_has_key(map->def) &&
	    meta->const_map_key >= 0 && meta->const_map_key < map->def->max_entries)
		flags &= ~(uint32_t)PTR_MAYBE_NULL;
	r0->type = PTR_TO_MAP_VALUE | flags;
	r0->map.nr = (uint32_t)meta->map + 1;
	r0->map.uid = meta->map_uid;
	if (!(flags & PTR_MAYBE_NULL) && (map->spin_lock_off >= 0 || map->res_spin_lock_off >= 0))
		r0->id = vf_new_id(env);
	return 0;
}

static int set_result(struct vf_env *env, const struct vf_proto *proto,
		      const struct vf_call_meta *meta)
{
	struct loupe_reg *r0 = &vf_cur_regs(env)[BPF_REG_0];
	uint32_t flags = loupe_type_flags(proto->ret);
	int err;

	switch (loupe_base_type(proto->ret)) {
	case RET_INTEGER:
		vf_mark_reg_unknown(env, BPF_REG_0);
		return 0;
	case RET_VOID:
		r0->type = NOT_INIT;
		return 0;
	case RET_PTR_TO_MEM_OR_BTF_ID:
	case RET_PTR_TO_BTF_ID:
		return vf_not_judged(env, "insn %d: %s#%d returns a pointer of kernel type",
				     env->insn_idx, vf_func_name(meta->func_id), meta->func_id);
	default:
		break;
	}
	vf_mark_reg_known_zero(env, BPF_REG_0);
	switch (loupe_base_type(proto->ret)) {
	case RET_PTR_TO_MAP_VALUE:
		err = set_map_value_result(env, r0, flags, meta);
		if (err)
			return err;
		break;
	case RET_PTR_TO_SOCKET:
		r0->type = PTR_TO_SOCKET | flags;
		break;
	case RET_PTR_TO_SOCK_COMMON:
		r0->type = PTR_TO_SOCK_COMMON | flags;
		break;
	case RET_PTR_TO_TCP_SOCK:
		r0->type = PTR_TO_TCP_SOCK | flags;
		break;
	default: /* RET_PTR_TO_MEM */
		r0->type = PTR_TO_MEM | flags;
		r0->mem.size = meta->mem_size;
		break;
	}
	if (r0->type & PTR_MAYBE_NULL)
		r0->id = vf_new_id(env);
	return 0;
}

static bool acquires(const struct vf_env *env, const struct vf_call_meta *meta)
{
	uint32_t map_type = meta->map >= 0 ? env->maps[meta->map].def->type : 0;

	switch (meta->func_id) {
	case BPF_FUNC_sk_lookup_tcp:
	case BPF_FUNC_sk_lookup_udp:
	case BPF_FUNC_skc_lookup_tcp:
	case BPF_FUNC_ringbuf_reserve:
		return true;
	case BPF_FUNC_map_lookup_elem:
		return map_type == BPF_MAP_TYPE_SOCKMAP || map_type == BPF_MAP_TYPE_SOCKHASH;
	default:
		return false;
	}
}

/* The result is another view of the socket that was passed. */
static bool is_cast(int32_t func_id)
{
	switch (func_id) {
	case BPF_FUNC_tcp_sock:
	case BPF_FUNC_sk_fullsock:
	case BPF_FUNC_skc_to_tcp_sock:
	case BPF_FUNC_skc_to_tcp6_sock:
	case BPF_FUNC_skc_to_udp6_sock:
	case BPF_FUNC_skc_to_mptcp_sock:
	case BPF_FUNC_skc_to_tcp_timewait_sock:
	case BPF_FUNC_skc_to_tcp_request_sock:
		return true;
	default:
		return false;
	}
}

static int set_reference(struct vf_env *env, const struct vf_call_meta *meta, int32_t insn_idx)
{
	struct loupe_reg *r0 = &vf_cur_regs(env)[BPF_REG_0];
	int id;

	if (is_cast(meta->func_id)) {
		r0->ref_obj_id = meta->ref_obj_id;
		return 0;
	}
	if (!acquires(env, meta))
		return 0;
	id = vf_ref_acquire(env, insn_idx);
	if (id < 0)
		return id;
	r0->id = r0->ref_obj_id = (uint32_t)id;
	return 0;
}

/* Results that are known to lie in a range. */
static int refine_result(struct vf_env *env, const struct vf_proto *proto,
			 const struct vf_call_meta *meta)
{
	struct loupe_reg *r0 = &vf_cur_regs(env)[BPF_REG_0];
	uint32_t cpus = env->image->host.cpus;

	if (proto->ret != RET_INTEGER)
		return 0;
	switch (meta->func_id) {
	case BPF_FUNC_get_stack:
	case BPF_FUNC_get_task_stack:
	case BPF_FUNC_probe_read_str:
	case BPF_FUNC_probe_read_kernel_str:
	case BPF_FUNC_probe_read_user_str:
		r0->smax = (int64_t)meta->msize_max_value;
		r0->s32_max = (int32_t)meta->msize_max_value;
		r0->smin = -MAX_ERRNO;
		r0->s32_min = -MAX_ERRNO;
		vf_bounds_sync(r0);
		break;
	case BPF_FUNC_get_smp_processor_id:
		if (!cpus)
			return vf_not_judged(env, "insn %d: the number of CPUs is not known",
					     env->insn_idx);
		r0->umax = r0->u32_max = cpus - 1;
		r0->smax = r0->s32_max = (int32_t)cpus - 1;
		r0->umin = r0->u32_min = 0;
		r0->smin = r0->s32_min = 0;
		vf_bounds_sync(r0);
		break;
	default:
		break;
	}
	return vf_bounds_sanity(env, r0, "retval");
}

/* Only probes know where they are. */
static int check_func_ip(struct vf_env *env)
{
	uint32_t type = env->image->prog_type;

	if (type == BPF_PROG_TYPE_KPROBE)
		return 0;
	if (type == BPF_PROG_TYPE_TRACING) {
		vf_msg(env, "func %s#%d supported only for fentry/fexit/fmod_ret programs\n",
		       vf_func_name(BPF_FUNC_get_func_ip), BPF_FUNC_get_func_ip);
		return -VF_ENOTSUPP;
	}
	vf_msg(env, "func %s#%d not supported for program type %u\n",
	       vf_func_name(BPF_FUNC_get_func_ip), BPF_FUNC_get_func_ip, type);
	return -VF_ENOTSUPP;
}

/*
 * A tail call that succeeds returns to the caller of the function that holds it, with what the
 * other program leaves; that is the present path, and the failed tail call is left for later.
 */
static int leave_by_tail_call(struct vf_env *env)
{
	int err = 0;

	vf_mark_scratched_reg(env, BPF_REG_0);
	/* that too many are pending is said but does not stop 6.18 here: see quirks */
	if (!vf_push_branch(env, env->insn_idx + 1, env->insn_idx, false, &err) && err != -EFAULT)
		return err;
	err = vf_clear_pkt_pointers(env);
	if (err)
		return err;
	vf_mark_reg_unknown(env, BPF_REG_0);
	err = vf_func_return(env, &env->insn_idx);
	env->insn_idx--;
	return err;
}

int vf_check_helper_call(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx)
{
	struct vf_call_meta meta = { .func_id = insn->imm, .map = -1, .const_map_key = -1 };
	const struct vf_proto *proto;
	int err = 0;

	if (insn->imm < 0 || insn->imm >= VF_HELPER_CNT) {
		vf_msg(env, "invalid func %s#%d\n", vf_func_name(insn->imm), insn->imm);
		return -EINVAL;
	}
	proto = vf_helper_proto(env, insn->imm);
	if (!proto) {
		vf_msg(env, "program of this type cannot use helper %s#%d\n",
		       vf_func_name(insn->imm), insn->imm);
		return -EINVAL;
	}
	err = check_context(env, proto, insn->imm);
	if (err)
		return err;
	meta.pkt_access = proto->flags & PKT;
	for (uint32_t i = 0; !err && i < 5; i++)
		err = vf_check_helper_arg(env, i, proto, &meta);
	if (!err)
		err = record_map(env, &meta, *insn_idx);
	if (!err)
		err = record_key(env, &meta, *insn_idx);
	if (!err)
		err = fill_stack(env, &meta, *insn_idx);
	if (!err)
		err = release_arg(env, &meta);
	if (!err)
		err = check_special(env, insn, *insn_idx, &meta);
	if (err)
		return err;

	vf_clear_caller_saved(env, vf_cur_regs(env));
	vf_cur_regs(env)[BPF_REG_0].subreg_def = 0;
	err = set_result(env, proto, &meta);
	if (!err)
		err = set_reference(env, &meta, *insn_idx);
	if (!err)
		err = refine_result(env, proto, &meta);
	if (!err)
		err = vf_check_map_func(env, meta.map, meta.func_id);
	if (!err && meta.func_id == BPF_FUNC_get_func_ip)
		err = check_func_ip(env);
	if (!err && meta.func_id == BPF_FUNC_tail_call)
		return env->cur->curframe ? leave_by_tail_call(env) : 0;
	if (!err && (proto->flags & CHANGES))
		err = vf_clear_pkt_pointers(env);
	return err;
}
