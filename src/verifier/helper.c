// SPDX-License-Identifier: GPL-2.0-only
/* The tables of helpers, and what phases before exploration ask of them. */
#include "verifier/helper.h"

/* Program types whose helpers the table knows. */
enum { SF = 1 << 0, CLS = 1 << 1, XDP = 1 << 2 };

static const struct vf_proto protos[] = {
#define ARGS(...)  .arg = { __VA_ARGS__ }
#define SIZES(...) .size = { __VA_ARGS__ }
#define PROTO(name, ret_, flags_, args_, sizes_) { .ret = ret_, .flags = flags_, args_, sizes_ },                  
#include "kernel/6.18/helper_protos.def"
#undef PROTO
#undef ARGS
#undef SIZES
};

/* Index of each prototype by its name. */
enum {
#define PROTO(name, ...) P_##name,
#include "kernel/6.18/helper_protos.def"
#undef PROTO
};

enum cap { NO_CAP, BPF, PERFMON };

static const struct {
	int32_t func_id;
	uint16_t proto;
	uint8_t cap;
	uint8_t types;
} rows[] = {
#define HELPER(func, proto_, cap_, types_) { BPF_FUNC_##func, P_##proto_, cap_, types_ },
#include "kernel/6.18/helpers.def"
#undef HELPER
};

static uint32_t type_bit(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_SOCKET_FILTER:
		return SF;
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
		return CLS;
	case BPF_PROG_TYPE_XDP:
		return XDP;
	default:
		return 0;
	}
}

int vf_check_modelled(struct vf_env *env)
{
	if (type_bit(env->image->prog_type))
		return 0;
	return vf_not_judged(env, "helpers of program type %u", env->image->prog_type);
}

int vf_helpers_init(struct vf_env *env)
{
	uint32_t type = type_bit(env->image->prog_type);

	env->helpers = vf_zalloc(env->slabs, VF_HELPER_CNT * sizeof(env->helpers[0]));
	if (!env->helpers)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(rows[i].types & type) || (rows[i].cap && !env->bpf_capable) ||
		    (rows[i].cap == PERFMON && !env->allow_ptr_leaks))
			continue;
		env->helpers[rows[i].func_id] = &protos[rows[i].proto];
	}
	return 0;
}

bool vf_helper_is_sync_callback(int32_t func_id)
{
	return func_id == BPF_FUNC_for_each_map_elem || func_id == BPF_FUNC_find_vma ||
	       func_id == BPF_FUNC_loop || func_id == BPF_FUNC_user_ringbuf_drain;
}

bool vf_helper_is_async_callback(int32_t func_id)
{
	return func_id == BPF_FUNC_timer_set_callback;
}

bool vf_helper_changes_pkt_data(int32_t func_id)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].func_id == func_id)
			return protos[rows[i].proto].flags & CHANGES;
	}
	return false;
}

bool vf_helper_might_sleep(const struct vf_env *env, int32_t func_id)
{
	const struct vf_proto *proto = vf_helper_proto(env, func_id);

	return proto && (proto->flags & SLEEP);
}

int vf_helper_arg_cnt(const struct vf_env *env, int32_t func_id, bool *void_ret)
{
	const struct vf_proto *proto = vf_helper_proto(env, func_id);
	int cnt = 0;

	if (!proto)
		return -1;
	*void_ret = proto->ret == RET_VOID;
	while (cnt < 5 && proto->arg[cnt] != ARG_DONTCARE)
		cnt++;
	return cnt;
}

bool vf_helper_is_fastcall(const struct vf_env *env, int32_t func_id)
{
	const struct vf_proto *proto = vf_helper_proto(env, func_id);

	return proto && (proto->flags & FASTCALL) && func_id == BPF_FUNC_get_smp_processor_id;
}
