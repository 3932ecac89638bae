// SPDX-License-Identifier: GPL-2.0-only
/* Registers with which callbacks of helpers start. */
#include "verifier/helper.h"

static void no_more_args(struct vf_env *env, struct loupe_frame *callee, uint32_t from)
{
	for (uint32_t i = from; i <= BPF_REG_5; i++)
		vf_reg_not_init(env, &callee->regs[i]);
}

static void set_map_reg(struct loupe_reg *reg, uint32_t type, const struct loupe_reg *of)
{
	vf_reg_known(reg, 0);
	reg->type = type;
	reg->map = of->map;
}

static void in_callback(struct loupe_frame *callee)
{
	callee->in_callback_fn = true;
	callee->callback_ret_range = (struct loupe_retval_range){ 0, 1 };
}

/* Maps over which a program can iterate. */
static bool can_iterate(uint32_t map_type)
{
	switch (map_type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return true;
	default:
		return false;
	}
}

/* callback(map, key, value, ctx) */
static int set_map_elem(struct vf_env *env, const struct loupe_frame *caller,
			struct loupe_frame *callee, int32_t insn_idx)
{
	const struct loupe_reg *map = &caller->regs[BPF_REG_1];

	if (!can_iterate(env->maps[env->aux[insn_idx].map_idx].def->type)) {
		vf_msg(env, "callback function not allowed for map\n");
		return -VF_ENOTSUPP;
	}
	callee->regs[BPF_REG_1] = *map;
	set_map_reg(&callee->regs[BPF_REG_2], PTR_TO_MAP_KEY, map);
	set_map_reg(&callee->regs[BPF_REG_3], PTR_TO_MAP_VALUE, map);
	callee->regs[BPF_REG_4] = caller->regs[BPF_REG_3];
	no_more_args(env, callee, BPF_REG_5);
	in_callback(callee);
	return 0;
}

/* callback(index, ctx) */
static int set_loop(struct vf_env *env, const struct loupe_frame *caller,
		    struct loupe_frame *callee, int32_t insn_idx)
{
	(void)insn_idx;
	callee->regs[BPF_REG_1].type = SCALAR_VALUE;
	callee->regs[BPF_REG_2] = caller->regs[BPF_REG_3];
	no_more_args(env, callee, BPF_REG_3);
	in_callback(callee);
	return 0;
}

/* callback(map, key, value), some time later */
static int set_timer(struct vf_env *env, const struct loupe_frame *caller,
		     struct loupe_frame *callee, int32_t insn_idx)
{
	const struct loupe_reg *timer = &caller->regs[BPF_REG_1];

	(void)insn_idx;
	set_map_reg(&callee->regs[BPF_REG_1], CONST_PTR_TO_MAP, timer);
	set_map_reg(&callee->regs[BPF_REG_2], PTR_TO_MAP_KEY, timer);
	set_map_reg(&callee->regs[BPF_REG_3], PTR_TO_MAP_VALUE, timer);
	no_more_args(env, callee, BPF_REG_4);
	callee->in_async_callback_fn = true;
	callee->callback_ret_range = (struct loupe_retval_range){ 0, 0 };
	return 0;
}

/* callback(dynptr to the record, ctx) */
static int set_ringbuf_drain(struct vf_env *env, const struct loupe_frame *caller,
			     struct loupe_frame *callee, int32_t insn_idx)
{
	enum { DYNPTR_LOCAL = 1 }; /* memory of one's own */
	struct loupe_reg *record = &callee->regs[BPF_REG_1];

	(void)insn_idx;
	vf_reg_known(record, 0);
	record->type = CONST_PTR_TO_DYNPTR;
	record->id = vf_new_id(env);
	record->dynptr.type = DYNPTR_LOCAL;
	record->dynptr.first_slot = true;
	callee->regs[BPF_REG_2] = caller->regs[BPF_REG_3];
	no_more_args(env, callee, BPF_REG_3);
	in_callback(callee);
	return 0;
}

/* bpf_loop can be inlined while its flags are 0 and it always runs the same function. */
static void note_loop(struct vf_env *env, uint32_t subprogno)
{
	struct vf_aux *aux = &env->aux[env->insn_idx];
	bool no_flags;

	if (aux->loop_inline_known && !aux->loop_fit)
		return;
	no_flags = vf_reg_is_null(&vf_cur_regs(env)[BPF_REG_4]);
	if (no_flags)
		vf_mark_chain_precision(env, BPF_REG_4);
	if (!aux->loop_inline_known) {
		aux->loop_inline_known = true;
		aux->loop_fit = no_flags;
		aux->loop_callback_subprog = subprogno;
		return;
	}
	aux->loop_fit = no_flags && aux->loop_callback_subprog == subprogno;
}

static int push_loop(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
		     const struct vf_call_meta *meta)
{
	struct loupe_frame *frame = vf_cur_frame(env);
	int err;

	note_loop(env, meta->subprogno);
	/* Whether the loop is over is decided by R1. */
	err = vf_mark_chain_precision(env, BPF_REG_1);
	if (err)
		return err;
	if (frame->callback_depth < frame->regs[BPF_REG_1].umax)
		return vf_push_callback(env, insn, insn_idx, meta->subprogno, set_loop);
	frame->callback_depth = 0;
	vf_msg2(env, "frame%u bpf_loop iteration limit reached\n", env->cur->curframe);
	return 0;
}

int vf_push_helper_callback(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
			    const struct vf_call_meta *meta)
{
	switch (meta->func_id) {
	case BPF_FUNC_for_each_map_elem:
		return vf_push_callback(env, insn, insn_idx, meta->subprogno, set_map_elem);
	case BPF_FUNC_timer_set_callback:
		return vf_push_callback(env, insn, insn_idx, meta->subprogno, set_timer);
	case BPF_FUNC_loop:
		return push_loop(env, insn, insn_idx, meta);
	case BPF_FUNC_user_ringbuf_drain:
		return vf_push_callback(env, insn, insn_idx, meta->subprogno, set_ringbuf_drain);
	case BPF_FUNC_find_vma:
		return vf_not_judged(env, "insn %d: callback of %s", insn_idx,
				     vf_func_name(meta->func_id));
	default:
		return 0;
	}
}
