// SPDX-License-Identifier: GPL-2.0-only
/* What a program may read and write of its context and of sockets. */
#include "verifier/attach.h"
#include "verifier/mem.h"

enum kind {
	PADDING,
	NARROW,	      /* 4 bytes, read also in parts */
	NARROW_FIRST, /* 4 bytes, or their first one or two */
	NARROW_HALF,  /* 4 bytes, or a half of them */
	NARROW_PAD,   /* 2 bytes, read also in parts */
	NARROW_LONG,  /* 8 bytes, read also in parts */
	WIDE,	      /* 4 bytes, read also in parts, and two such fields at once */
	PORT,	      /* 2 bytes, read also in parts or with the padding after it */
	LONG_HALF,    /* 8 bytes, whole; the rewriting trips over a read of the second half */
	BYTE,
	WORD,	/* 4 bytes, whole */
	DWORD,	/* 8 bytes, whole */
	CB,	/* any aligned part of the control block */
	PLAIN,	/* any size: the access is not rewritten */
	PACKET, /* packet pointers in 4 bytes */
	PACKET_META,
	PACKET_END,
	SOCK,	/* pointer to a socket, may be null */
	FLOW_KEYS, /* from here on pointers in 8 bytes, by the type that they have then */
	DATA,
	DATA_END,
	SOCKET,
	SOCKET_OR_NULL,
	COMMON_OR_NULL,
	BUFFER,
	KERNEL, /* of a kernel type */
};

static const uint32_t read_types[] = {
	[PACKET] = PTR_TO_PACKET,
	[PACKET_META] = PTR_TO_PACKET_META,
	[PACKET_END] = PTR_TO_PACKET_END,
	[SOCK] = PTR_TO_SOCK_COMMON | PTR_MAYBE_NULL,
	[FLOW_KEYS] = PTR_TO_FLOW_KEYS,
	[DATA] = PTR_TO_PACKET,
	[DATA_END] = PTR_TO_PACKET_END,
	[SOCKET] = PTR_TO_SOCKET,
	[SOCKET_OR_NULL] = PTR_TO_SOCKET | PTR_MAYBE_NULL,
	[COMMON_OR_NULL] = PTR_TO_SOCK_COMMON | PTR_MAYBE_NULL,
	[BUFFER] = PTR_TO_TP_BUFFER,
	[KERNEL] = PTR_TO_BTF_ID,
};

/* --- any structure ----------------------------------------------------------------------- */

/* A field that is read in parts is loaded whole and cut. */
static bool narrow(int size, int whole, struct vf_ctx_access *info)
{
	info->ctx_field_size = (uint32_t)whole;
	return size <= whole;
}

static bool is_wide(int off, int size, int end)
{
	return size == 8 && off % 8 == 0 && off + size <= end;
}

static bool read_fits(enum kind kind, int off, int size, int start, int end,
		      struct vf_ctx_access *info)
{
	switch (kind) {
	case NARROW:
		return narrow(size, 4, info);
	case NARROW_FIRST:
		return (off - start) % 4 == 0 && narrow(size, 4, info);
	case NARROW_HALF:
		return size >= 2 && narrow(size, 4, info);
	case NARROW_PAD:
		return narrow(size, 2, info);
	case NARROW_LONG:
		return narrow(size, 8, info);
	case WIDE:
		return narrow(size, 4, info) || is_wide(off, size, end);
	case PORT:
		return narrow(size, size == 4 ? 4 : 2, info);
	case LONG_HALF:
		info->unconvertible = size == 4 && (off - start) % 8;
		return size == 8 || info->unconvertible;
	case BYTE:
		return size == 1;
	case WORD:
		return size == 4;
	case CB:
		return off + size <= end;
	case PLAIN:
		return true;
	case PACKET:
	case PACKET_META:
	case PACKET_END:
		return size == 4 && !info->is_ldsx;
	case PADDING:
		return false;
	default: /* DWORD and pointers */
		return size == 8;
	}
}

static bool write_fits(enum kind kind, int off, int size, int end)
{
	switch (kind) {
	case NARROW:
	case WORD:
		return size == 4;
	case WIDE:
		return size == 4 || is_wide(off, size, end);
	case BYTE:
		return size == 1;
	case DWORD:
		return size == 8;
	case CB:
		return off + size <= end;
	case PLAIN:
		return true;
	default:
		return false;
	}
}

/* The field at [start, end), which may be accessed, may be so. */
static bool field_access_ok(enum kind kind, int off, int size, int start, int end,
			    enum vf_access t, struct vf_ctx_access *info)
{
	if (t == VF_WRITE)
		return write_fits(kind, off, size, end);
	if (!read_fits(kind, off, size, start, end, info))
		return false;
	if (kind < sizeof(read_types) / sizeof(read_types[0]) && read_types[kind])
		info->reg_type = read_types[kind];
	return true;
}

/* --- struct __sk_buff -------------------------------------------------------------------- */

enum {
	N = 0,
	R = 1,
	W = 2,
	RW = R | W,
	CAP = 4, /* only with CAP_BPF */
	B = R | CAP,
	BW = R | W | CAP, /* reading is free, writing needs CAP_BPF */
};

enum skb_user { SOCKET_FILTER, SCHED_CLS, CGROUP_SKB, LWT, SK_SKB, FLOW_DISSECTOR, SKB_USERS };

static const struct {
	uint16_t off, end;
	uint8_t kind;
	uint8_t allowed[SKB_USERS];
} skb_fields[] = {
#define CTX_FIELD(off_, end_, kind_, ...)                                                          \
	{ .off = (off_), .end = (end_), .kind = (kind_), .allowed = { __VA_ARGS__ } },
#include "kernel/6.18/ctx_skb.def"
#undef CTX_FIELD
};

enum { SKB_SIZE = 192 };

static bool is_allowed(const struct vf_env *env, uint8_t allowed, enum vf_access t)
{
	if (!(allowed & (t == VF_WRITE ? W : R)))
		return false;
	if (!(allowed & CAP) || env->bpf_capable)
		return true;
	return allowed == BW && t == VF_READ;
}

static bool skb_access_ok(const struct vf_env *env, enum skb_user user, int off, int size,
			  enum vf_access t, struct vf_ctx_access *info)
{
	uint32_t i = 0;

	if (off < 0 || off >= SKB_SIZE || off % size)
		return false;
	while (off >= skb_fields[i].end)
		i++;
	return is_allowed(env, skb_fields[i].allowed[user], t) &&
	       field_access_ok(skb_fields[i].kind, off, size, skb_fields[i].off, skb_fields[i].end,
			       t, info);
}

/* --- other structures -------------------------------------------------------------------- */

struct field {
	int32_t off, end;
	uint8_t kind;
	uint64_t read, write; /* expected attach types */
};

#define NEVER	0
#define NO_MORE	INT32_MAX
#define CTX_STRUCT(name) static const struct field name##_fields[] = {
#define CTX_FIELD(off_, end_, kind_, read_, write_) { off_, end_, kind_, read_, write_ },
#define CTX_END { NO_MORE, NO_MORE, PADDING, NEVER, NEVER } };
#include "kernel/6.18/ctx.def"
#undef CTX_STRUCT
#undef CTX_FIELD
#undef CTX_END

static bool access_ok(const struct vf_env *env, const struct field *field, int off, int size,
		      enum vf_access t, struct vf_ctx_access *info)
{
	if (off % size)
		return false;
	while (off >= field->end)
		field++;
	if (off < field->off || !vf_attach_in(env, t == VF_WRITE ? field->write : field->read))
		return false;
	return field_access_ok(field->kind, off, size, field->off, field->end, t, info);
}

/* struct xdp_md: six words. */
static bool xdp_access_ok(const struct vf_env *env, int off, int size, enum vf_access t,
			  struct vf_ctx_access *info)
{
	enum {
		DATA_OFF = 0,
		DATA_END_OFF = 4,
		DATA_META_OFF = 8,
		EGRESS_IFINDEX = 20,
		XDP_SIZE = 24
	};

	if (off == EGRESS_IFINDEX && env->expected_attach_type != BPF_XDP_DEVMAP)
		return false;
	if (t == VF_WRITE)
		return false;
	if (off == DATA_OFF || off == DATA_META_OFF || off == DATA_END_OFF) {
		if (info->is_ldsx)
			return false;
		info->reg_type = off == DATA_OFF	? PTR_TO_PACKET
				 : off == DATA_META_OFF ? PTR_TO_PACKET_META
							: PTR_TO_PACKET_END;
	}
	return off >= 0 && off < XDP_SIZE && off % size == 0 && size == 4;
}

static const struct field *const layouts[LOUPE_PROG_TYPE_CNT] = {
	[BPF_PROG_TYPE_CGROUP_SOCK] = cgroup_sock_fields,
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = sock_addr_fields,
	[BPF_PROG_TYPE_CGROUP_DEVICE] = cgroup_dev_fields,
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = sysctl_fields,
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = sockopt_fields,
	[BPF_PROG_TYPE_SOCK_OPS] = sock_ops_fields,
	[BPF_PROG_TYPE_SK_MSG] = sk_msg_fields,
	[BPF_PROG_TYPE_SK_LOOKUP] = sk_lookup_fields,
	[BPF_PROG_TYPE_SK_REUSEPORT] = sk_reuseport_fields,
	[BPF_PROG_TYPE_KPROBE] = pt_regs_fields,
	[BPF_PROG_TYPE_TRACEPOINT] = tracepoint_fields,
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = raw_tracepoint_fields,
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = raw_tracepoint_writable_fields,
	[BPF_PROG_TYPE_PERF_EVENT] = perf_event_fields,
	[BPF_PROG_TYPE_NETFILTER] = netfilter_fields,
	[BPF_PROG_TYPE_SYSCALL] = syscall_fields,
};

static const int8_t skb_users[LOUPE_PROG_TYPE_CNT] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = SOCKET_FILTER + 1,
	[BPF_PROG_TYPE_SCHED_CLS] = SCHED_CLS + 1,
	[BPF_PROG_TYPE_SCHED_ACT] = SCHED_CLS + 1,
	[BPF_PROG_TYPE_CGROUP_SKB] = CGROUP_SKB + 1,
	[BPF_PROG_TYPE_LWT_IN] = LWT + 1,
	[BPF_PROG_TYPE_LWT_OUT] = LWT + 1,
	[BPF_PROG_TYPE_LWT_XMIT] = LWT + 1,
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = LWT + 1,
	[BPF_PROG_TYPE_SK_SKB] = SK_SKB + 1,
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = FLOW_DISSECTOR + 1,
};

int vf_check_ctx_access(struct vf_env *env, int32_t insn_idx, int off, int size, enum vf_access t,
			struct vf_ctx_access *info)
{
	uint32_t type = env->image->prog_type;
	bool ok;

	if (type == BPF_PROG_TYPE_TRACING)
		ok = vf_target_access(env, off, size, t, info);
	else if (type == BPF_PROG_TYPE_XDP)
		ok = xdp_access_ok(env, off, size, t, info);
	else if (type < LOUPE_PROG_TYPE_CNT && layouts[type])
		ok = access_ok(env, layouts[type], off, size, t, info);
	else if (type < LOUPE_PROG_TYPE_CNT && skb_users[type])
		ok = skb_access_ok(env, (enum skb_user)(skb_users[type] - 1), off, size, t, info);
	else
		return vf_not_judged(env, "insn %d: context of program type %u", insn_idx, type);
	if (ok && info->reg_type == PTR_TO_BTF_ID)
		return vf_not_judged(env, "insn %d: pointer of a kernel type in the context",
				     insn_idx);
	if (ok) {
		env->aux[insn_idx].ctx_field_size = info->ctx_field_size;
		return 0;
	}
	vf_msg(env, "invalid bpf_context access off=%d size=%d\n", off, size);
	return -EACCES;
}

int vf_check_sock_access(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size)
{
	static const struct field *const by_type[] = {
		[PTR_TO_SOCKET] = sock_fields,
		[PTR_TO_SOCK_COMMON] = sock_common_fields,
		[PTR_TO_TCP_SOCK] = tcp_sock_fields,
		[PTR_TO_XDP_SOCK] = xdp_sock_fields,
	};
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	struct vf_ctx_access info = { .reg_type = SCALAR_VALUE };
	char buf[VF_TYPE_NAME];

	if (reg->smin < 0) {
		vf_msg(env,
		       "R%u min value is negative, either use unsigned index or do a if (index >=0) check.\n",
		       regno);
		return -EACCES;
	}
	if (access_ok(env, by_type[reg->type], off, size, VF_READ, &info)) {
		env->aux[insn_idx].ctx_field_size = info.ctx_field_size;
		env->aux[insn_idx].unconvertible |= info.unconvertible;
		return 0;
	}
	vf_msg(env, "R%u invalid %s access off=%d size=%d\n", regno, vf_type_str(buf, reg->type),
	       off, size);
	return -EACCES;
}
