// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tracing program attaches to, a type of the kernel's, and the arguments that it finds there
 * as its context. Numbers and buffers are judged; a pointer to a structure of the kernel's is a
 * type of its own, which is not.
 */
#include "verifier/helper.h"

static const char trace_prefix[] = "btf_trace_", iter_prefix[] = "bpf_iter_";

static const struct vf_iter {
	const char *name;
	uint32_t rdonly_buf, buf; /* arguments, 0: none */
	bool sockopts;
} iters[] = {
#define ITER(name, rdonly_buf, buf, sockopts) { #name, rdonly_buf, buf, sockopts },
#include "kernel/6.18/iters.def"
#undef ITER
};

enum {
	MAX_ARGS = 12, /* 8 bytes each, of any function */
	WORD = 8,
};

/* --- what it attaches to ------------------------------------------------------------------ */

/* A tracepoint is a typedef of a pointer to a function of its arguments. */
static int check_tracepoint(struct vf_env *env, const struct btf_type *t)
{
	const struct btf *btf = env->kernel_btf;
	uint32_t id = env->image->attach_btf_id;

	if (btf_type_kind(t) != BTF_KIND_TYPEDEF) {
		vf_msg(env, "attach_btf_id %u is not a typedef\n", id);
		return -EINVAL;
	}
	if (strncmp(env->target.name, trace_prefix, strlen(trace_prefix)) != 0) {
		vf_msg(env, "attach_btf_id %u points to wrong type name %s\n", id,
		       env->target.name);
		return -EINVAL;
	}
	env->target.name += strlen(trace_prefix);
	t = btf_type(btf, t->type);
	if (t && btf_type_kind(t) == BTF_KIND_PTR)
		t = btf_type(btf, t->type);
	if (!t || btf_type_kind(t) != BTF_KIND_FUNC_PROTO || !btf_type_vlen(t))
		return vf_not_judged(env, "attaching to %s: the kernel BTF has no such tracepoint",
				     env->target.name);
	env->target.proto = t;
	env->target.skips_first = true;
	return 0;
}

static bool is_struct(const struct btf_type *t)
{
	return t && (btf_type_kind(t) == BTF_KIND_STRUCT || btf_type_kind(t) == BTF_KIND_UNION);
}

/* Bytes in which a value of the type is passed, 0 for void, or -EINVAL. *t is the type behind
 * it. */
static int passed_size(const struct vf_env *env, uint32_t id, const struct btf_type **t)
{
	*t = vf_kernel_type(env, id);
	if (!id)
		return 0;
	switch (*t ? btf_type_kind(*t) : BTF_KIND_UNKN) {
	case BTF_KIND_PTR:
		return WORD;
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (*t)->size <= INT_MAX ? (int)(*t)->size : INT_MAX;
	default:
		return -EINVAL;
	}
}

static int check_passed_arg(struct vf_env *env, uint32_t type_id, uint32_t arg, bool last)
{
	const struct btf_type *t;
	int size;

	if (last && !type_id) {
		vf_msg(env, "The function %s with variable args is unsupported.\n",
		       env->target.name);
		return -EINVAL;
	}
	size = passed_size(env, type_id, &t);
	if (size < 0 || size > 2 * WORD)
		vf_msg(env, "The function %s arg%u type %s is unsupported.\n", env->target.name,
		       arg, vf_btf_kind_str(t));
	else if (!size)
		vf_msg(env, "The function %s has malformed void argument.\n", env->target.name);
	else
		return 0;
	return -EINVAL;
}

/* A function whose arguments and returned value can be passed on to a program. */
static int check_function(struct vf_env *env, const struct btf_type *t)
{
	uint32_t id = env->image->attach_btf_id;
	const struct btf_type *proto, *ret;

	if (btf_type_kind(t) != BTF_KIND_FUNC) {
		vf_msg(env, "attach_btf_id %u is not a function\n", id);
		return -EINVAL;
	}
	proto = btf_func_proto(env->kernel_btf, id);
	if (!proto)
		return -EINVAL;
	if (btf_type_vlen(proto) > MAX_ARGS) {
		vf_msg(env, "The function %s has %u arguments. Too many.\n", env->target.name,
		       btf_type_vlen(proto));
		return -EINVAL;
	}
	if (passed_size(env, proto->type, &ret) < 0 || is_struct(ret)) {
		vf_msg(env, "The function %s return type %s is unsupported.\n", env->target.name,
		       vf_btf_kind_str(ret));
		return -EINVAL;
	}
	for (uint32_t i = 0; i < btf_type_vlen(proto); i++) {
		int err = check_passed_arg(env, btf_params(proto)[i].type, i,
					   i == btf_type_vlen(proto) - 1);

		if (err)
			return err;
	}
	env->target.proto = proto;
	return 0;
}

/* An iterator's target is the function that is called for each element. */
static int check_iterator(struct vf_env *env, const struct btf_type *t)
{
	int err = check_function(env, t);
	const char *name;

	if (err)
		return err;
	if (strncmp(env->target.name, iter_prefix, strlen(iter_prefix)) != 0)
		return -EINVAL;
	name = env->target.name + strlen(iter_prefix);
	for (size_t i = 0; i < sizeof(iters) / sizeof(iters[0]); i++) {
		if (strcmp(name, iters[i].name) != 0)
			continue;
		env->target.iter = &iters[i];
		if (!iters[i].sockopts)
			env->helpers[BPF_FUNC_setsockopt] = env->helpers[BPF_FUNC_getsockopt] =
				NULL;
		return 0;
	}
	return -EINVAL;
}

int vf_check_target(struct vf_env *env)
{
	uint32_t id = env->image->attach_btf_id;
	const struct btf_type *t;
	int err;

	if (!id) {
		vf_msg(env, "Tracing programs must provide btf_id\n");
		return -EINVAL;
	}
	err = vf_need_kernel_btf(env);
	if (err)
		return err;
	t = btf_type(env->kernel_btf, id);
	if (!t) {
		vf_msg(env, "attach_btf_id %u is invalid\n", id);
		return -EINVAL;
	}
	env->target.name = btf_name(env->kernel_btf, id);
	switch (env->expected_attach_type) {
	case BPF_TRACE_RAW_TP:
		return check_tracepoint(env, t);
	case BPF_TRACE_ITER:
		return check_iterator(env, t);
	case BPF_LSM_MAC:
	case BPF_LSM_CGROUP:
		return vf_not_judged(env, "attaching to a kernel function");
	default:
		return -EINVAL;
	}
}

/* --- what its context has ----------------------------------------------------------------- */

/* Bytes that an argument takes; of what is no argument, 0. */
static uint32_t room_of(const struct vf_env *env, uint32_t type_id)
{
	const struct btf_type *t = vf_kernel_type(env, type_id);

	if (!t)
		return 0;
	switch (btf_type_kind(t)) {
	case BTF_KIND_PTR:
		return WORD;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return t->size <= MAX_ARGS * WORD ? (t->size + WORD - 1) / WORD * WORD : t->size;
	default:
		return 0;
	}
}

/*
 * Number of the argument that off lies in; that of the arguments for the returned value, which
 * comes behind them, and one more for what is beyond.
 */
static uint32_t arg_at(const struct vf_env *env, uint32_t off)
{
	const struct btf_type *proto = env->target.proto;
	const struct btf_param *params = btf_params(proto);
	uint32_t cnt = btf_type_vlen(proto), end = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		end += room_of(env, params[i].type);
		if (off < end)
			return i;
	}
	return off < end + room_of(env, proto->type) ? cnt : cnt + 1;
}

static bool is_number(const struct btf_type *t)
{
	switch (btf_type_kind(t)) {
	case BTF_KIND_INT:
		return t->size <= WORD;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_STRUCT: /* by value */
	case BTF_KIND_UNION:
		return true;
	default:
		return false;
	}
}

/* An argument that is a pointer. One to void or to an integer is no better than a number. */
static bool pointer_access(struct vf_env *env, uint32_t arg, const struct btf_type *t, int size,
			   struct vf_ctx_access *info)
{
	uint32_t to = btf_resolve(env->kernel_btf, t->type);
	const struct vf_iter *iter = env->target.iter;
	const char *name = env->target.name;

	if (size != WORD) {
		vf_msg(env, "func '%s' size %d must be 8\n", name, size);
		return false;
	}
	if (iter && arg && (arg == iter->rdonly_buf || arg == iter->buf)) {
		info->reg_type = PTR_TO_BUF | PTR_MAYBE_NULL;
		if (arg == iter->rdonly_buf)
			info->reg_type |= MEM_RDONLY;
		return true;
	}
	if (!to || btf_kind(env->kernel_btf, to) == BTF_KIND_INT)
		return true;
	t = btf_type(env->kernel_btf, to);
	if (!is_struct(t)) {
		vf_msg(env, "func '%s' arg%u type %s is not a struct\n", name, arg,
		       vf_btf_kind_str(t));
		return false;
	}
	info->reg_type = PTR_TO_BTF_ID;
	return true;
}

bool vf_target_access(struct vf_env *env, int off, int size, enum vf_access t,
		      struct vf_ctx_access *info)
{
	const struct vf_target *target = &env->target;
	const struct btf_param *params = btf_params(target->proto);
	uint32_t cnt = btf_type_vlen(target->proto), arg;
	const struct btf_type *type;

	if (off < 0 || off >= MAX_ARGS * WORD || t != VF_READ || off % size)
		return false;
	if (off % WORD) {
		vf_msg(env, "func '%s' offset %d is not multiple of 8\n", target->name, off);
		return false;
	}
	arg = arg_at(env, (uint32_t)off);
	if (target->skips_first) {
		params++;
		cnt--;
	}
	if (arg >= cnt) {
		vf_msg(env, "func '%s' doesn't have %u-th argument\n", target->name, arg + 1);
		return false;
	}
	type = vf_kernel_type(env, params[arg].type);
	if (type && is_number(type))
		return true;
	if (type && btf_type_kind(type) == BTF_KIND_PTR)
		return pointer_access(env, arg, type, size, info);
	vf_msg(env, "func '%s' arg%u '%s' has type %s. Only pointer access is allowed\n",
	       target->name, arg, vf_kernel_name(env, type),
	       vf_btf_kind_str(type));
	return false;
}
