// SPDX-License-Identifier: GPL-2.0-only
/* What a program, an asynchronous callback or a global function may return. */
#include "verifier/call.h"

enum { ANY = -1 };

static const struct {
	uint32_t prog_type;
	int32_t attach_type;
	struct loupe_retval_range range;
} rows[] = {
#define RETVAL(prog_type, attach_type, min, max) { prog_type, attach_type, { min, max } },
#include "kernel/6.18/retval.def"
#undef RETVAL
};

/* NULL: anything goes. */
static const struct loupe_retval_range *range_of(const struct vf_env *env)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].prog_type == env->image->prog_type &&
		    (rows[i].attach_type == ANY ||
		     (uint32_t)rows[i].attach_type == env->expected_attach_type))
			return &rows[i].range;
	}
	return NULL;
}

static int enforce(struct vf_env *env, uint32_t regno, const char *reg_name,
		   struct loupe_retval_range range, const char *ctx)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	char buf[VF_TYPE_NAME];
	int err;

	if (reg->type != SCALAR_VALUE) {
		vf_msg(env, "%s the register R%u is not a known value (%s)\n", ctx, regno,
		       vf_type_str(buf, reg->type));
		return -EINVAL;
	}
	err = vf_mark_chain_precision(env, regno);
	if (err)
		return err;
	if (!vf_retval_within(range, reg)) {
		vf_msg_invalid_scalar(env, reg, range, ctx, reg_name);
		return -EINVAL;
	}
	return 0;
}

int vf_check_return_value(struct vf_env *env, uint32_t regno, const char *reg_name)
{
	const struct loupe_frame *frame = env->cur->frame[0];
	const struct loupe_retval_range *range;
	char buf[VF_TYPE_NAME];
	int err;

	if (env->image->prog_type == BPF_PROG_TYPE_LSM ||
	    env->image->prog_type == BPF_PROG_TYPE_STRUCT_OPS)
		return vf_not_judged(env, "insn %d: return value of an LSM or struct_ops program",
				     env->insn_idx);
	err = vf_check_reg_arg(env, regno, VF_SRC_OP);
	if (err)
		return err;
	if (vf_is_pointer_value(env, regno)) {
		vf_msg(env, "R%u leaks addr as return value\n", regno);
		return -EACCES;
	}
	if (frame->in_async_callback_fn)
		return enforce(env, regno, reg_name, frame->callback_ret_range,
			       "At async callback return");
	if (frame->subprogno && !frame->in_exception_callback_fn) {
		const struct loupe_reg *reg = &vf_cur_regs(env)[regno];

		if (reg->type == SCALAR_VALUE)
			return 0;
		vf_msg(env, "At subprogram exit the register R%u is not a scalar value (%s)\n",
		       regno, vf_type_str(buf, reg->type));
		return -EINVAL;
	}
	if (env->image->prog_type == BPF_PROG_TYPE_RAW_TRACEPOINT && env->image->attach_btf_id)
		return enforce(env, regno, reg_name, (struct loupe_retval_range){ 0, 0 },
			       "At program exit");
	range = range_of(env);
	return range ? enforce(env, regno, reg_name, *range, "At program exit") : 0;
}
