// SPDX-License-Identifier: GPL-2.0-only
/* The tables of helpers, and what phases before exploration ask of them. */
#include "verifier/attach.h"
#include "verifier/helper.h"

/* Kinds of programs, by the helpers that they have; a bit for each. */
enum {
	SF = 1 << 0, /* socket filter */
	CLS = 1 << 1, /* tc classifier and action */
	XDP = 1 << 2,
	CG_SKB = 1 << 3,
	CG_SOCK = 1 << 4,
	CG_ADDR = 1 << 5,
	CG_DEV = 1 << 6,
	CG_SYSCTL = 1 << 7,
	CG_SOCKOPT = 1 << 8,
	SOCK_OPS = 1 << 9,
	SK_SKB = 1 << 10,
	SK_MSG = 1 << 11,
	SK_LOOKUP = 1 << 12,
	SK_REUSEPORT = 1 << 13,
	FLOW = 1 << 14, /* flow dissector */
	LWT_OUT = 1 << 15,
	LWT_IN = 1 << 16,
	LWT_XMIT = 1 << 17,
	LWT_SEG6 = 1 << 18,
	KPROBE = 1 << 19,
	TP = 1 << 20,
	RAW_TP = 1 << 21, /* raw tracepoints, writable or not */
	PERF = 1 << 22,	  /* perf events */
	SYSCALL = 1 << 23,
	NETFILTER = 1 << 24,
	TRACING = 1 << 25, /* by the kernel's types */
	ALL = (1 << 26) - 1,
};

/* Groups of them. */
enum {
	CGROUP = CG_SOCK | CG_ADDR | CG_DEV | CG_SYSCTL | CG_SOCKOPT,
	LWT = LWT_OUT | LWT_IN | LWT_XMIT | LWT_SEG6,
	TRACE = KPROBE | TP | RAW_TP | PERF | SYSCALL | TRACING,
	/* those that may turn a socket into one of its protocol */
	SOCK_CASTS = SF | CLS | XDP | CG_SKB | CG_ADDR | SOCK_OPS | SK_SKB | SK_MSG | SK_LOOKUP |
		     FLOW | LWT | SYSCALL | TRACING,
};

#define NO_RETVAL                                                                                  \
	(AT(CGROUP_INET_INGRESS) | AT(CGROUP_INET_EGRESS) | AT(CGROUP_SOCK_OPS) |                  \
	 AT(CGROUP_UDP4_RECVMSG) | AT(CGROUP_UDP6_RECVMSG) | AT(CGROUP_UNIX_RECVMSG) |             \
	 AT(CGROUP_INET4_GETPEERNAME) | AT(CGROUP_INET6_GETPEERNAME) |                             \
	 AT(CGROUP_UNIX_GETPEERNAME) | AT(CGROUP_INET4_GETSOCKNAME) |                              \
	 AT(CGROUP_INET6_GETSOCKNAME) | AT(CGROUP_UNIX_GETSOCKNAME))
#define MULTI                                                                                      \
	(AT(TRACE_KPROBE_MULTI) | AT(TRACE_KPROBE_SESSION) | AT(TRACE_UPROBE_MULTI) |              \
	 AT(TRACE_UPROBE_SESSION))

static const uint32_t kinds[LOUPE_PROG_TYPE_CNT] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = SF,
	[BPF_PROG_TYPE_SCHED_CLS] = CLS,
	[BPF_PROG_TYPE_SCHED_ACT] = CLS,
	[BPF_PROG_TYPE_XDP] = XDP,
	[BPF_PROG_TYPE_CGROUP_SKB] = CG_SKB,
	[BPF_PROG_TYPE_CGROUP_SOCK] = CG_SOCK,
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = CG_ADDR,
	[BPF_PROG_TYPE_CGROUP_DEVICE] = CG_DEV,
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = CG_SYSCTL,
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = CG_SOCKOPT,
	[BPF_PROG_TYPE_SOCK_OPS] = SOCK_OPS,
	[BPF_PROG_TYPE_SK_SKB] = SK_SKB,
	[BPF_PROG_TYPE_SK_MSG] = SK_MSG,
	[BPF_PROG_TYPE_SK_LOOKUP] = SK_LOOKUP,
	[BPF_PROG_TYPE_SK_REUSEPORT] = SK_REUSEPORT,
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = FLOW,
	[BPF_PROG_TYPE_LWT_OUT] = LWT_OUT,
	[BPF_PROG_TYPE_LWT_IN] = LWT_IN,
	[BPF_PROG_TYPE_LWT_XMIT] = LWT_XMIT,
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = LWT_SEG6,
	[BPF_PROG_TYPE_KPROBE] = KPROBE,
	[BPF_PROG_TYPE_TRACEPOINT] = TP,
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = RAW_TP,
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = RAW_TP,
	[BPF_PROG_TYPE_PERF_EVENT] = PERF,
	[BPF_PROG_TYPE_SYSCALL] = SYSCALL,
	[BPF_PROG_TYPE_NETFILTER] = NETFILTER,
	[BPF_PROG_TYPE_TRACING] = TRACING,
};

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
	uint32_t kinds;
	uint64_t attach; /* expected attach types */
} rows[] = {
#define HELPER(func, proto_, cap_, kinds_, attach_)                                                \
	{ BPF_FUNC_##func, P_##proto_, cap_, kinds_, attach_ },
#include "kernel/6.18/helpers.def"
#undef HELPER
};

static uint32_t kind_of(const struct vf_env *env)
{
	uint32_t type = env->image->prog_type;

	return type < LOUPE_PROG_TYPE_CNT ? kinds[type] : 0;
}

int vf_check_modelled(struct vf_env *env)
{
	if (kind_of(env))
		return 0;
	return vf_not_judged(env, "helpers of program type %u", env->image->prog_type);
}

int vf_helpers_init(struct vf_env *env)
{
	uint32_t kind = kind_of(env);

	env->helpers = vf_zalloc(env->slabs, VF_HELPER_CNT * sizeof(env->helpers[0]));
	if (!env->helpers)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(rows[i].kinds & kind) || !vf_attach_in(env, rows[i].attach) ||
		    (rows[i].cap && !env->bpf_capable) ||
		    (rows[i].cap == PERFMON && !env->allow_ptr_leaks))
			continue;
		env->helpers[rows[i].func_id] = &protos[rows[i].proto];
	}
	return 0;
}

uint64_t loupe_helper_types(int32_t func_id)
{
	uint64_t types = 0;
	uint32_t kind = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].func_id == func_id && !(protos[rows[i].proto].flags & DENIED))
			kind |= rows[i].kinds;
	}
	for (uint32_t type = 0; type < LOUPE_PROG_TYPE_CNT; type++)
		types |= (uint64_t)((kinds[type] & kind) != 0) << type;
	return types;
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
