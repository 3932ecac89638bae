// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/sections.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>

/* Newer than the oldest kernel headers that this builds with; the numbers are the kernel's ABI. */
enum {
	PROG_NETFILTER = 32,
	AT_NETFILTER = 45,
	AT_TCX_INGRESS = 46,
	AT_TCX_EGRESS = 47,
	AT_UPROBE_MULTI = 48,
	AT_UNIX_CONNECT = 49,
	AT_UNIX_SENDMSG = 50,
	AT_UNIX_RECVMSG = 51,
	AT_UNIX_GETPEERNAME = 52,
	AT_UNIX_GETSOCKNAME = 53,
	AT_NETKIT_PRIMARY = 54,
	AT_NETKIT_PEER = 55,
	AT_KPROBE_SESSION = 56,
	AT_UPROBE_SESSION = 57,
};

/* Since libbpf 1.2. */
static const struct section_type newer[] = {
	{ "cgroup/connect_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, AT_UNIX_CONNECT, false },
	{ "cgroup/getpeername_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, AT_UNIX_GETPEERNAME, false },
	{ "cgroup/getsockname_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, AT_UNIX_GETSOCKNAME, false },
	{ "cgroup/recvmsg_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, AT_UNIX_RECVMSG, false },
	{ "cgroup/sendmsg_unix", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, AT_UNIX_SENDMSG, false },
	{ "kprobe.session+", BPF_PROG_TYPE_KPROBE, AT_KPROBE_SESSION, false },
	{ "netfilter", PROG_NETFILTER, AT_NETFILTER, false },
	{ "netkit/peer", BPF_PROG_TYPE_SCHED_CLS, AT_NETKIT_PEER, false },
	{ "netkit/primary", BPF_PROG_TYPE_SCHED_CLS, AT_NETKIT_PRIMARY, false },
	{ "sk_skb/verdict", BPF_PROG_TYPE_SK_SKB, BPF_SK_SKB_VERDICT, false },
	{ "tc/egress", BPF_PROG_TYPE_SCHED_CLS, AT_TCX_EGRESS, false },
	{ "tc/ingress", BPF_PROG_TYPE_SCHED_CLS, AT_TCX_INGRESS, false },
	{ "tcx/egress", BPF_PROG_TYPE_SCHED_CLS, AT_TCX_EGRESS, false },
	{ "tcx/ingress", BPF_PROG_TYPE_SCHED_CLS, AT_TCX_INGRESS, false },
	{ "uprobe.multi+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, false },
	{ "uprobe.multi.s+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, true },
	{ "uprobe.session+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_SESSION, false },
	{ "uprobe.session.s+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_SESSION, true },
	{ "uretprobe.multi+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, false },
	{ "uretprobe.multi.s+", BPF_PROG_TYPE_KPROBE, AT_UPROBE_MULTI, true },
	{ "usdt.s+", BPF_PROG_TYPE_KPROBE, 0, true },
};

/* Names as the kernel's own old samples have them: a type and then anything. */
static const struct section_type older[] = {
	{ "classifier*", BPF_PROG_TYPE_SCHED_CLS, 0, false },
	{ "action*", BPF_PROG_TYPE_SCHED_ACT, 0, false },
	{ "socket*", BPF_PROG_TYPE_SOCKET_FILTER, 0, false },
	{ "sockops*", BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, false },
	{ "xdp*", BPF_PROG_TYPE_XDP, 0, false },
	{ "lwt_in*", BPF_PROG_TYPE_LWT_IN, 0, false },
	{ "lwt_out*", BPF_PROG_TYPE_LWT_OUT, 0, false },
	{ "lwt_xmit*", BPF_PROG_TYPE_LWT_XMIT, 0, false },
	{ "cgroup/skb*", BPF_PROG_TYPE_CGROUP_SKB, 0, false },
	{ "cgroup/sock*", BPF_PROG_TYPE_CGROUP_SOCK, 0, false },
};

static bool matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern) - 1;

	switch (pattern[len]) {
	case '+':
		return strncmp(pattern, name, len) == 0 && (!name[len] || name[len] == '/');
	case '*':
		return strncmp(pattern, name, len) == 0;
	default:
		return strcmp(pattern, name) == 0;
	}
}

const struct section_type *section_find(const char *name, bool old)
{
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++) {
		if (matches(newer[i].name, name))
			return &newer[i];
	}
	for (size_t i = 0; old && i < sizeof(older) / sizeof(*older); i++) {
		if (matches(older[i].name, name))
			return &older[i];
	}
	return NULL;
}
