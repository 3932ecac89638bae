// SPDX-License-Identifier: GPL-2.0-only
/* What a program may read and write of its context, by program type. */
#include "verifier/mem.h"

enum kind {
	NEVER,
	NARROW, /* 4 bytes, read also in parts */
	BYTE,
	WORD,	/* 4 bytes, whole */
	DWORD,	/* 8 bytes, whole */
	CB,	/* any aligned part of the control block */
	PACKET,
	PACKET_META,
	PACKET_END,
	SOCK,	/* pointer to a socket, may be null */
};

enum {
	N = 0,
	R = 1,
	W = 2,
	RW = R | W,
	CAP = 4,	 /* only with CAP_BPF */
	B = R | CAP,
	BW = R | W | CAP, /* reading is free, writing needs CAP_BPF */
};

enum skb_user { SOCKET_FILTER, SCHED_CLS, CGROUP_SKB, LWT, SK_SKB, SKB_USERS };

struct ctx_field {
	uint16_t off, end;
	uint8_t kind;
	uint8_t allowed[SKB_USERS];
};

#define CTX_FIELD(off_, end_, kind_, ...)                                                          \
	{ .off = (off_), .end = (end_), .kind = (kind_), .allowed = { __VA_ARGS__ } },
static const struct ctx_field skb_fields[] = {
#include "kernel/6.18/ctx_skb.def"
};
#undef CTX_FIELD

enum { SKB_SIZE = 192 };

static const uint32_t read_types[] = {
	[PACKET] = PTR_TO_PACKET,
	[PACKET_META] = PTR_TO_PACKET_META,
	[PACKET_END] = PTR_TO_PACKET_END,
	[SOCK] = PTR_TO_SOCK_COMMON | PTR_MAYBE_NULL,
};

static bool size_fits(const struct ctx_field *field, int off, int size, enum vf_access t,
		      struct vf_ctx_access *info)
{
	switch ((enum kind)field->kind) {
	case NARROW:
		if (t == VF_WRITE)
			return size == 4;
		info->ctx_field_size = 4;
		return size <= 4;
	case BYTE:
		return size == 1;
	case WORD:
		return size == 4;
	case DWORD:
		return size == 8;
	case CB:
		return off + size <= field->end;
	case PACKET:
	case PACKET_META:
	case PACKET_END:
		return size == 4 && !info->is_ldsx;
	case SOCK:
		return size == 8 && t == VF_READ;
	case NEVER:
		break;
	}
	return false;
}

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
	const struct ctx_field *field = skb_fields;

	if (off < 0 || off >= SKB_SIZE || off % size)
		return false;
	while (off >= field->end)
		field++;
	if (!is_allowed(env, field->allowed[user], t) || !size_fits(field, off, size, t, info))
		return false;
	if (field->kind < sizeof(read_types) / sizeof(read_types[0]) && read_types[field->kind])
		info->reg_type = read_types[field->kind];
	return true;
}

/* struct xdp_md: six words. */
static bool xdp_access_ok(const struct vf_env *env, int off, int size, enum vf_access t,
			  struct vf_ctx_access *info)
{
	enum { DATA = 0, DATA_END = 4, DATA_META = 8, EGRESS_IFINDEX = 20, XDP_SIZE = 24 };

	if (off == EGRESS_IFINDEX && env->expected_attach_type != BPF_XDP_DEVMAP)
		return false;
	if (t == VF_WRITE)
		return false;
	if (off == DATA || off == DATA_META || off == DATA_END) {
		if (info->is_ldsx)
			return false;
		info->reg_type = off == DATA	    ? PTR_TO_PACKET
				 : off == DATA_META ? PTR_TO_PACKET_META
						    : PTR_TO_PACKET_END;
	}
	return off >= 0 && off < XDP_SIZE && off % size == 0 && size == 4;
}

int vf_check_ctx_access(struct vf_env *env, int32_t insn_idx, int off, int size, enum vf_access t,
			struct vf_ctx_access *info)
{
	bool ok;

	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_XDP:
		ok = xdp_access_ok(env, off, size, t, info);
		break;
	case BPF_PROG_TYPE_SOCKET_FILTER:
		ok = skb_access_ok(env, SOCKET_FILTER, off, size, t, info);
		break;
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
		ok = skb_access_ok(env, SCHED_CLS, off, size, t, info);
		break;
	case BPF_PROG_TYPE_CGROUP_SKB:
		ok = skb_access_ok(env, CGROUP_SKB, off, size, t, info);
		break;
	case BPF_PROG_TYPE_LWT_IN:
	case BPF_PROG_TYPE_LWT_OUT:
	case BPF_PROG_TYPE_LWT_XMIT:
	case BPF_PROG_TYPE_LWT_SEG6LOCAL:
		ok = skb_access_ok(env, LWT, off, size, t, info);
		break;
	case BPF_PROG_TYPE_SK_SKB:
		ok = skb_access_ok(env, SK_SKB, off, size, t, info);
		break;
	default:
		return vf_not_judged(env, "insn %d: context of program type %u", insn_idx,
				     env->image->prog_type);
	}
	if (ok) {
		env->aux[insn_idx].ctx_field_size = info->ctx_field_size;
		return 0;
	}
	vf_msg(env, "invalid bpf_context access off=%d size=%d\n", off, size);
	return -EACCES;
}
