// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of the program's own functions as their BTF prototypes state them. */
#include "verifier/call.h"

enum { MAX_ARGS = 5 };

enum tag {
	TAG_CTX = 1 << 0,
	TAG_NONNULL = 1 << 1,
	TAG_TRUSTED = 1 << 2,
	TAG_NULLABLE = 1 << 3,
	TAG_ARENA = 1 << 4,
	TAG_UNTRUSTED = 1 << 5,
};

static const struct {
	const char *name;
	enum tag tag;
} tags[] = {
	{ "ctx", TAG_CTX },	      { "trusted", TAG_TRUSTED }, { "untrusted", TAG_UNTRUSTED },
	{ "nonnull", TAG_NONNULL },   { "nullable", TAG_NULLABLE }, { "arena", TAG_ARENA },
};

static const struct {
	uint32_t prog_type;
	const char *name;
	const char *other;
} ctx_types[] = {
#define CTX_TYPE(prog_type, name, other) { prog_type, name, other },
#include "kernel/6.18/ctx_types.def"
#undef CTX_TYPE
};

/* Names of BTF kinds as the kernel's messages print them. */
static const char *const kind_names[] = {
	[BTF_KIND_UNKN] = "UNKNOWN",   [BTF_KIND_INT] = "INT",
	[BTF_KIND_PTR] = "PTR",	       [BTF_KIND_ARRAY] = "ARRAY",
	[BTF_KIND_STRUCT] = "STRUCT",  [BTF_KIND_UNION] = "UNION",
	[BTF_KIND_ENUM] = "ENUM",      [BTF_KIND_FWD] = "FWD",
	[BTF_KIND_TYPEDEF] = "TYPEDEF", [BTF_KIND_VOLATILE] = "VOLATILE",
	[BTF_KIND_CONST] = "CONST",    [BTF_KIND_RESTRICT] = "RESTRICT",
	[BTF_KIND_FUNC] = "FUNC",      [BTF_KIND_FUNC_PROTO] = "FUNC_PROTO",
	[BTF_KIND_VAR] = "VAR",	       [BTF_KIND_DATASEC] = "DATASEC",
	[BTF_KIND_FLOAT] = "FLOAT",    [BTF_KIND_DECL_TAG] = "DECL_TAG",
	[BTF_KIND_TYPE_TAG] = "TYPE_TAG", [BTF_KIND_ENUM64] = "ENUM64",
};

static bool is_number(const struct btf *btf, uint32_t id)
{
	uint32_t kind = btf_kind(btf, id);

	return kind == BTF_KIND_INT || kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;
}

static int find_tags(struct vf_env *env, const struct vf_subprog *sub, uint32_t arg,
		     uint32_t *found)
{
	uint32_t id = 0;

	*found = 0;
	while ((id = btf_find_decl_tag(env->btf, sub->func_type_id, (int32_t)arg, id))) {
		const char *name = btf_name(env->btf, id);
		size_t i = 0;

		if (strncmp(name, "arg:", 4))
			continue;
		if (!sub->is_global) {
			vf_msg(env, "arg#%u type tag is not supported in static functions\n", arg);
			return -EOPNOTSUPP;
		}
		while (i < sizeof(tags) / sizeof(tags[0]) && strcmp(name + 4, tags[i].name))
			i++;
		if (i == sizeof(tags) / sizeof(tags[0])) {
			vf_msg(env, "arg#%u has unsupported set of tags\n", arg);
			return -EOPNOTSUPP;
		}
		*found |= tags[i].tag;
	}
	return 0;
}

static int refuse_tags(struct vf_env *env, uint32_t arg)
{
	vf_msg(env, "arg#%u has invalid combination of tags\n", arg);
	return -EINVAL;
}

/* Type that ptr_id points to, without qualifiers but with typedefs. */
static uint32_t pointed_to(const struct btf *btf, uint32_t ptr_id)
{
	uint32_t id = btf_type(btf, ptr_id)->type, kind = btf_kind(btf, id);

	while (btf_kind_is_modifier(kind) && kind != BTF_KIND_TYPEDEF) {
		id = btf_type(btf, id)->type;
		kind = btf_kind(btf, id);
	}
	return id;
}

static bool points_to_user_regs(const struct btf *btf, uint32_t ptr_id)
{
	uint32_t id = pointed_to(btf, ptr_id);

	return btf_kind(btf, id) == BTF_KIND_TYPEDEF &&
	       !strcmp(btf_name(btf, id), "bpf_user_pt_regs_t");
}

/* Index into ctx_types, -1: the program type's context has no structure of its own. */
static int ctx_type_of(uint32_t prog_type)
{
	for (size_t i = 0; i < sizeof(ctx_types) / sizeof(ctx_types[0]); i++)
		if (ctx_types[i].prog_type == prog_type)
			return (int)i;
	return -1;
}

/* The pointer is to the program type's context. */
static bool is_ctx_pointer(struct vf_env *env, uint32_t ptr_id)
{
	uint32_t id = btf_resolve(env->btf, btf_type(env->btf, ptr_id)->type);
	uint32_t kind = btf_kind(env->btf, id);
	int which = ctx_type_of(env->image->prog_type);
	const char *name = btf_name(env->btf, id);

	if (env->image->prog_type == BPF_PROG_TYPE_KPROBE && points_to_user_regs(env->btf, ptr_id))
		return true;
	if ((kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) || which < 0)
		return false;
	return !strcmp(name, ctx_types[which].name) ||
	       (ctx_types[which].other && !strcmp(name, ctx_types[which].other));
}

/* A tracing program's context has the arguments of what it attaches to. */
static bool is_tracing_ctx(const struct vf_env *env, uint32_t id, const char *name)
{
	static const char iterators[] = "bpf_iter__";
	uint32_t kind = btf_kind(env->btf, id);
	bool words = kind == BTF_KIND_INT && btf_type(env->btf, id)->size == 8;

	switch (env->expected_attach_type) {
	case BPF_TRACE_RAW_TP:
		return words ||
		       (kind == BTF_KIND_STRUCT && !strcmp(name, "bpf_raw_tracepoint_args"));
	case BPF_TRACE_ITER:
		return kind == BTF_KIND_STRUCT && !strncmp(name, iterators, strlen(iterators));
	case BPF_TRACE_FENTRY:
	case BPF_TRACE_FEXIT:
	case BPF_MODIFY_RETURN:
		return words;
	default:
		return false;
	}
}

/* Types that a context may have besides its structure. */
static bool is_other_ctx(const struct vf_env *env, uint32_t id, const char *name)
{
	uint32_t kind = btf_kind(env->btf, id);

	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_PERF_EVENT:
		return kind == BTF_KIND_STRUCT && !strcmp(name, "pt_regs");
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
		return kind == BTF_KIND_INT && btf_type(env->btf, id)->size == 8;
	case BPF_PROG_TYPE_TRACING:
		return is_tracing_ctx(env, id, name);
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_SYSCALL:
		return true;
	default:
		return false;
	}
}

/* An argument that is tagged as the context points to what a context can be. */
static int check_tagged_ctx(struct vf_env *env, uint32_t ptr_id, uint32_t arg)
{
	uint32_t type = env->image->prog_type;
	uint32_t id = btf_resolve(env->btf, btf_type(env->btf, ptr_id)->type);
	const char *name = btf_name(env->btf, id);
	int which = ctx_type_of(type);

	if ((type == BPF_PROG_TYPE_KPROBE || type == BPF_PROG_TYPE_PERF_EVENT) &&
	    points_to_user_regs(env->btf, ptr_id))
		return 0;
	if (!id) /* void */
		return 0;
	if (!*name) {
		vf_msg(env, "arg#%u type doesn't have a name\n", arg);
		return -EINVAL;
	}
	if (is_other_ctx(env, id, name))
		return 0;
	if (which < 0) {
		vf_msg(env, "arg#%u should be void pointer\n", arg);
		return -EINVAL;
	}
	if (btf_kind(env->btf, id) == BTF_KIND_STRUCT && !strcmp(ctx_types[which].name, name))
		return 0;
	vf_msg(env, "arg#%u should be `struct %s *`\n", arg, ctx_types[which].name);
	return -EINVAL;
}

static bool is_dynptr_pointer(struct vf_env *env, uint32_t ptr_id)
{
	uint32_t id = btf_resolve(env->btf, btf_type(env->btf, ptr_id)->type);

	return btf_kind(env->btf, id) == BTF_KIND_STRUCT &&
	       !strcmp(btf_name(env->btf, id), "bpf_dynptr");
}

/* Memory of the pointed-to type's size: what a global function takes unless told otherwise. */
static int prepare_memory(struct vf_env *env, struct vf_arg *out, uint32_t ptr_id, uint32_t arg,
			  uint32_t found)
{
	uint32_t id = btf_resolve(env->btf, btf_type(env->btf, ptr_id)->type);
	uint32_t kind = btf_kind(env->btf, id);

	if (found & TAG_NULLABLE)
		return refuse_tags(env, arg);
	if (btf_size(env->btf, id, &out->mem_size)) {
		vf_msg(env, "arg#%u reference type('%s %s') size cannot be determined: %d\n", arg,
		       kind_names[kind], btf_name(env->btf, id), -EINVAL);
		return -EINVAL;
	}
	out->type = ARG_PTR_TO_MEM | (found & TAG_NONNULL ? 0 : PTR_MAYBE_NULL);
	return 0;
}

/* Memory that is only read, and so that a wrong address does no harm. */
static int prepare_untrusted(struct vf_env *env, const struct vf_subprog *sub, struct vf_arg *out,
			     uint32_t ptr_id, uint32_t arg, uint32_t found)
{
	uint32_t id = btf_resolve(env->btf, btf_type(env->btf, ptr_id)->type);

	if (found & ~(uint32_t)TAG_UNTRUSTED) {
		vf_msg(env, "arg#%u untrusted cannot be combined with any other tags\n", arg);
		return -EINVAL;
	}
	if (id && !is_number(env->btf, id))
		return vf_not_judged(env, "function %s: argument %u of a kernel type", sub->name,
				     arg);
	out->type = ARG_PTR_TO_MEM | MEM_RDONLY | PTR_UNTRUSTED;
	return 0;
}

static int prepare_pointer(struct vf_env *env, const struct vf_subprog *sub, struct vf_arg *out,
			   uint32_t ptr_id, uint32_t arg, uint32_t found)
{
	if ((found & TAG_CTX) || is_ctx_pointer(env, ptr_id)) {
		if (found & ~(uint32_t)TAG_CTX)
			return refuse_tags(env, arg);
		if ((found & TAG_CTX) && check_tagged_ctx(env, ptr_id, arg))
			return -EINVAL;
		out->type = ARG_PTR_TO_CTX;
		return 0;
	}
	if (is_dynptr_pointer(env, ptr_id))
		return vf_not_judged(env, "function %s: argument %u is a dynptr", sub->name, arg);
	if (found & TAG_UNTRUSTED && !(found & TAG_TRUSTED))
		return prepare_untrusted(env, sub, out, ptr_id, arg, found);
	if (found & TAG_TRUSTED)
		return vf_not_judged(env, "function %s: argument %u of a kernel type", sub->name,
				     arg);
	if (found & TAG_ARENA) {
		if (found & ~(uint32_t)TAG_ARENA) {
			vf_msg(env, "arg#%u arena cannot be combined with any other tags\n", arg);
			return -EINVAL;
		}
		out->type = ARG_PTR_TO_ARENA;
		return 0;
	}
	if (sub->is_global)
		return prepare_memory(env, out, ptr_id, arg, found);
	return -EINVAL;
}

static int prepare_arg(struct vf_env *env, struct vf_subprog *sub, uint32_t arg, uint32_t type_id,
		       const char *func)
{
	struct vf_arg *out = &sub->args[arg];
	uint32_t found, id = btf_resolve(env->btf, type_id), kind = btf_kind(env->btf, id);
	int err = find_tags(env, sub, arg, &found);

	if (err)
		return err;
	if (kind == BTF_KIND_PTR && (sub->is_global || is_ctx_pointer(env, id) ||
				     is_dynptr_pointer(env, id)))
		return prepare_pointer(env, sub, out, id, arg, found);
	if (found) {
		vf_msg(env, "arg#%u has pointer tag, but is not a pointer type\n", arg);
		return -EINVAL;
	}
	if (is_number(env->btf, id)) {
		out->type = ARG_ANYTHING;
		return 0;
	}
	if (sub->is_global)
		vf_msg(env, "Arg#%u type %s in %s() is not supported yet.\n", arg,
		       kind < sizeof(kind_names) / sizeof(kind_names[0]) ? kind_names[kind] : "",
		       func);
	return -EINVAL;
}

int vf_prepare_func_args(struct vf_env *env, uint32_t subprogno)
{
	struct vf_subprog *sub = &env->subprogs[subprogno];
	const struct btf_type *proto;
	const char *name;
	uint32_t cnt;

	if (sub->args_cached)
		return 0;
	if (!sub->func_type_id) {
		if (!sub->is_global)
			return -EINVAL;
		vf_msg(env, "Global functions need valid BTF\n");
		return -EFAULT;
	}
	name = btf_name(env->btf, sub->func_type_id);
	proto = btf_func_proto(env->btf, sub->func_type_id);
	if (!proto) {
		vf_msg(env, "Invalid type of function %s()\n", name);
		return -EFAULT;
	}
	cnt = btf_type_vlen(proto);
	if (cnt > MAX_ARGS) {
		if (sub->is_global)
			vf_msg(env, "Global function %s() with %u > %d args. Buggy compiler.\n",
			       name, cnt, MAX_ARGS);
		return -EINVAL;
	}
	if (!is_number(env->btf, btf_resolve(env->btf, proto->type))) {
		if (sub->is_global)
			vf_msg(env,
			       "Global function %s() doesn't return scalar. Only those are supported.\n",
			       name);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		int err = prepare_arg(env, sub, i, btf_params(proto)[i].type, name);

		if (err)
			return err;
	}
	sub->arg_cnt = (uint8_t)cnt;
	sub->args_cached = true;
	return 0;
}

/* --- at a call -------------------------------------------------------------------------------- */

/* The register points to size bytes that may be read and written, or is null. */
static int check_mem_arg(struct vf_env *env, uint32_t regno, uint32_t size)
{
	struct loupe_reg *reg = &vf_cur_regs(env)[regno], saved = *reg;
	int err;

	if (vf_reg_is_null(reg))
		return 0;
	if (saved.type & PTR_MAYBE_NULL)
		vf_mark_ptr_not_null(env, reg);
	err = vf_check_helper_mem(env, regno, (int)size, VF_READ, true, NULL);
	if (!err)
		err = vf_check_helper_mem(env, regno, (int)size, VF_WRITE, true, NULL);
	if (saved.type & PTR_MAYBE_NULL)
		*reg = saved;
	return err;
}

static int check_func_arg(struct vf_env *env, const struct vf_arg *arg, uint32_t i)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[i + 1];
	uint32_t regno = i + 1;
	int err;

	switch (arg->type & LOUPE_BASE_TYPE_MASK) {
	case ARG_ANYTHING:
		if (reg->type != SCALAR_VALUE) {
			vf_msg(env, "R%u is not a scalar\n", regno);
			return -EINVAL;
		}
		return 0;
	case ARG_PTR_TO_CTX:
		err = vf_check_arg_off(env, reg, regno, ARG_DONTCARE);
		if (err < 0)
			return err;
		if (reg->type != PTR_TO_CTX) {
			vf_msg(env, "arg#%u expects pointer to ctx\n", i);
			return -EINVAL;
		}
		return 0;
	case ARG_PTR_TO_MEM:
		if (arg->type & PTR_UNTRUSTED)
			return 0;
		err = vf_check_arg_off(env, reg, regno, ARG_DONTCARE);
		if (err < 0)
			return err;
		err = check_mem_arg(env, regno, arg->mem_size);
		if (err)
			return err == VF_NOT_JUDGED ? err : -EINVAL;
		if (!(arg->type & PTR_MAYBE_NULL) && (reg->type & PTR_MAYBE_NULL)) {
			vf_msg(env, "arg#%u is expected to be non-NULL\n", i);
			return -EINVAL;
		}
		return 0;
	default: /* ARG_PTR_TO_ARENA */
		if (reg->type != PTR_TO_ARENA && reg->type != SCALAR_VALUE) {
			vf_msg(env, "R%u is not a pointer to arena or scalar.\n", regno);
			return -EINVAL;
		}
		return 0;
	}
}

int vf_check_func_args(struct vf_env *env, uint32_t subprogno)
{
	const struct vf_subprog *sub = &env->subprogs[subprogno];
	int err = vf_prepare_func_args(env, subprogno);

	for (uint32_t i = 0; !err && i < sub->arg_cnt; i++)
		err = check_func_arg(env, &sub->args[i], i);
	return err;
}

/* --- at the start of an exploration ----------------------------------------------------------- */

static void set_arg(struct vf_env *env, const struct vf_arg *arg, uint32_t regno)
{
	struct loupe_reg *reg = &vf_cur_regs(env)[regno];

	switch (arg->type & LOUPE_BASE_TYPE_MASK) {
	case ARG_PTR_TO_CTX:
		vf_mark_reg_known_zero(env, regno);
		reg->type = PTR_TO_CTX;
		break;
	case ARG_PTR_TO_MEM:
		vf_mark_reg_known_zero(env, regno);
		reg->type = PTR_TO_MEM |
			    (arg->type & (PTR_MAYBE_NULL | PTR_UNTRUSTED | MEM_RDONLY));
		reg->mem.size = arg->mem_size;
		if (reg->type & PTR_MAYBE_NULL)
			reg->id = vf_new_id(env);
		break;
	default: /* numbers and arena pointers */
		vf_mark_reg_unknown(env, regno);
		break;
	}
}

int vf_prepare_args(struct vf_env *env, uint32_t subprogno)
{
	struct vf_subprog *sub = &env->subprogs[subprogno];
	int err;

	if (subprogno == 0 && env->image->prog_type != BPF_PROG_TYPE_EXT) {
		if (env->image->func_info_cnt) {
			err = vf_prepare_func_args(env, 0);
			if (err == VF_NOT_JUDGED)
				return err;
			if (err || sub->arg_cnt != 1 || sub->args[0].type != ARG_PTR_TO_CTX)
				sub->unreliable = true;
		}
		vf_mark_reg_known_zero(env, BPF_REG_1);
		vf_cur_regs(env)[BPF_REG_1].type = PTR_TO_CTX;
		return 0;
	}
	err = vf_prepare_func_args(env, subprogno);
	if (!err && sub->is_exception_cb) {
		env->cur->frame[0]->in_exception_callback_fn = true;
		if (sub->arg_cnt != 1 || sub->args[0].type != ARG_ANYTHING) {
			vf_msg(env, "exception cb only supports single integer argument\n");
			return -EINVAL;
		}
	}
	for (uint32_t i = 0; !err && i < sub->arg_cnt; i++)
		set_arg(env, &sub->args[i], i + 1);
	return err;
}
