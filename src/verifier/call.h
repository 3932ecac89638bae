/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls: argument types, entering functions and callbacks, and coming back. */
#ifndef LOUPE_VERIFIER_CALL_H
#define LOUPE_VERIFIER_CALL_H

#include "verifier/mem.h"

/* What a helper or a global function takes; flags of enum loupe_type_flag may be or-ed. */
enum vf_arg_type {
	ARG_DONTCARE, /* unused */
	ARG_CONST_MAP_PTR,
	ARG_PTR_TO_MAP_KEY,
	ARG_PTR_TO_MAP_VALUE,
	ARG_PTR_TO_MEM,
	ARG_PTR_TO_ARENA,
	ARG_CONST_SIZE,
	ARG_CONST_SIZE_OR_ZERO,
	ARG_PTR_TO_CTX,
	ARG_ANYTHING,
	ARG_PTR_TO_SPIN_LOCK,
	ARG_PTR_TO_SOCK_COMMON,
	ARG_PTR_TO_SOCKET,
	ARG_PTR_TO_BTF_ID,
	ARG_PTR_TO_RINGBUF_MEM,
	ARG_CONST_ALLOC_SIZE_OR_ZERO,
	ARG_PTR_TO_BTF_ID_SOCK_COMMON,
	ARG_PTR_TO_PERCPU_BTF_ID,
	ARG_PTR_TO_FUNC,
	ARG_PTR_TO_STACK,
	ARG_PTR_TO_CONST_STR,
	ARG_PTR_TO_TIMER,
	ARG_KPTR_XCHG_DEST,
	ARG_PTR_TO_DYNPTR,
	ARG_TYPE_CNT,
};

/* helperargs.c: the fixed offset of an argument register is one that arg_type takes. */
int vf_check_arg_off(struct vf_env *env, const struct loupe_reg *reg, uint32_t regno,
		     uint32_t arg_type);
/* A maybe-null pointer as it is once it was found not to be null (branch.c). */
void vf_mark_ptr_not_null(const struct vf_env *env, struct loupe_reg *reg);

/* funcargs.c: does the BTF prototype of subprog say what exploration needs? Fills its args. */
int vf_prepare_func_args(struct vf_env *env, uint32_t subprogno);
/* The present registers fit the prototype: 0, -EINVAL with message, -EFAULT. */
int vf_check_func_args(struct vf_env *env, uint32_t subprogno);

/* Fills the callee's registers from the caller's; frames are of the state in which it runs. */
typedef int (*vf_set_callee)(struct vf_env *env, const struct loupe_frame *caller,
			     struct loupe_frame *callee, int32_t insn_idx);
/* func.c: a helper at insn will run subprogno, at once or later. */
int vf_push_callback(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
		     uint32_t subprogno, vf_set_callee set_callee);
/* "… should have been in [min, max]" of a scalar that is not. */
void vf_msg_invalid_scalar(struct vf_env *env, const struct loupe_reg *reg,
			   struct loupe_retval_range range, const char *ctx, const char *reg_name);
bool vf_retval_within(struct loupe_retval_range range, const struct loupe_reg *reg);

#endif
