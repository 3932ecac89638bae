// SPDX-License-Identifier: GPL-2.0-only
/* Names of program, attach and map types of Linux 6.18, spelled as libbpf spells them. */
#include "insn/names.h"

#include <errno.h>
#include <string.h>

#include "insn/opcodes.h"

const char *insn_table_name(const char *const *table, size_t cnt, uint32_t id)
{
	return id < cnt ? table[id] : NULL;
}

int insn_table_find(const char *const *table, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++) {
		if (table[i] && strcmp(table[i], name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

static const char *const prog_types[LOUPE_PROG_TYPE_CNT] = {
	[BPF_PROG_TYPE_UNSPEC] = "unspec",
	[BPF_PROG_TYPE_SOCKET_FILTER] = "socket_filter",
	[BPF_PROG_TYPE_KPROBE] = "kprobe",
	[BPF_PROG_TYPE_SCHED_CLS] = "sched_cls",
	[BPF_PROG_TYPE_SCHED_ACT] = "sched_act",
	[BPF_PROG_TYPE_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_XDP] = "xdp",
	[BPF_PROG_TYPE_PERF_EVENT] = "perf_event",
	[BPF_PROG_TYPE_CGROUP_SKB] = "cgroup_skb",
	[BPF_PROG_TYPE_CGROUP_SOCK] = "cgroup_sock",
	[BPF_PROG_TYPE_LWT_IN] = "lwt_in",
	[BPF_PROG_TYPE_LWT_OUT] = "lwt_out",
	[BPF_PROG_TYPE_LWT_XMIT] = "lwt_xmit",
	[BPF_PROG_TYPE_SOCK_OPS] = "sock_ops",
	[BPF_PROG_TYPE_SK_SKB] = "sk_skb",
	[BPF_PROG_TYPE_CGROUP_DEVICE] = "cgroup_device",
	[BPF_PROG_TYPE_SK_MSG] = "sk_msg",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = "cgroup_sock_addr",
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = "lwt_seg6local",
	[BPF_PROG_TYPE_LIRC_MODE2] = "lirc_mode2",
	[BPF_PROG_TYPE_SK_REUSEPORT] = "sk_reuseport",
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = "flow_dissector",
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = "cgroup_sysctl",
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = "raw_tracepoint_writable",
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = "cgroup_sockopt",
	[BPF_PROG_TYPE_TRACING] = "tracing",
	[BPF_PROG_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_PROG_TYPE_EXT] = "ext",
	[BPF_PROG_TYPE_LSM] = "lsm",
	[BPF_PROG_TYPE_SK_LOOKUP] = "sk_lookup",
	[BPF_PROG_TYPE_SYSCALL] = "syscall",
	[BPF_PROG_TYPE_NETFILTER] = "netfilter",
};

static const char *const attach_types[LOUPE_ATTACH_TYPE_CNT] = {
	[BPF_CGROUP_INET_INGRESS] = "cgroup_inet_ingress",
	[BPF_CGROUP_INET_EGRESS] = "cgroup_inet_egress",
	[BPF_CGROUP_INET_SOCK_CREATE] = "cgroup_inet_sock_create",
	[BPF_CGROUP_SOCK_OPS] = "cgroup_sock_ops",
	[BPF_SK_SKB_STREAM_PARSER] = "sk_skb_stream_parser",
	[BPF_SK_SKB_STREAM_VERDICT] = "sk_skb_stream_verdict",
	[BPF_CGROUP_DEVICE] = "cgroup_device",
	[BPF_SK_MSG_VERDICT] = "sk_msg_verdict",
	[BPF_CGROUP_INET4_BIND] = "cgroup_inet4_bind",
	[BPF_CGROUP_INET6_BIND] = "cgroup_inet6_bind",
	[BPF_CGROUP_INET4_CONNECT] = "cgroup_inet4_connect",
	[BPF_CGROUP_INET6_CONNECT] = "cgroup_inet6_connect",
	[BPF_CGROUP_INET4_POST_BIND] = "cgroup_inet4_post_bind",
	[BPF_CGROUP_INET6_POST_BIND] = "cgroup_inet6_post_bind",
	[BPF_CGROUP_UDP4_SENDMSG] = "cgroup_udp4_sendmsg",
	[BPF_CGROUP_UDP6_SENDMSG] = "cgroup_udp6_sendmsg",
	[BPF_LIRC_MODE2] = "lirc_mode2",
	[BPF_FLOW_DISSECTOR] = "flow_dissector",
	[BPF_CGROUP_SYSCTL] = "cgroup_sysctl",
	[BPF_CGROUP_UDP4_RECVMSG] = "cgroup_udp4_recvmsg",
	[BPF_CGROUP_UDP6_RECVMSG] = "cgroup_udp6_recvmsg",
	[BPF_CGROUP_GETSOCKOPT] = "cgroup_getsockopt",
	[BPF_CGROUP_SETSOCKOPT] = "cgroup_setsockopt",
	[BPF_TRACE_RAW_TP] = "trace_raw_tp",
	[BPF_TRACE_FENTRY] = "trace_fentry",
	[BPF_TRACE_FEXIT] = "trace_fexit",
	[BPF_MODIFY_RETURN] = "modify_return",
	[BPF_LSM_MAC] = "lsm_mac",
	[BPF_TRACE_ITER] = "trace_iter",
	[BPF_CGROUP_INET4_GETPEERNAME] = "cgroup_inet4_getpeername",
	[BPF_CGROUP_INET6_GETPEERNAME] = "cgroup_inet6_getpeername",
	[BPF_CGROUP_INET4_GETSOCKNAME] = "cgroup_inet4_getsockname",
	[BPF_CGROUP_INET6_GETSOCKNAME] = "cgroup_inet6_getsockname",
	[BPF_XDP_DEVMAP] = "xdp_devmap",
	[BPF_CGROUP_INET_SOCK_RELEASE] = "cgroup_inet_sock_release",
	[BPF_XDP_CPUMAP] = "xdp_cpumap",
	[BPF_SK_LOOKUP] = "sk_lookup",
	[BPF_XDP] = "xdp",
	[BPF_SK_SKB_VERDICT] = "sk_skb_verdict",
	[BPF_SK_REUSEPORT_SELECT] = "sk_reuseport_select",
	[BPF_SK_REUSEPORT_SELECT_OR_MIGRATE] = "sk_reuseport_select_or_migrate",
	[BPF_PERF_EVENT] = "perf_event",
	[BPF_TRACE_KPROBE_MULTI] = "trace_kprobe_multi",
	[BPF_LSM_CGROUP] = "lsm_cgroup",
	[BPF_STRUCT_OPS] = "struct_ops",
	[BPF_NETFILTER] = "netfilter",
	[BPF_TCX_INGRESS] = "tcx_ingress",
	[BPF_TCX_EGRESS] = "tcx_egress",
	[BPF_TRACE_UPROBE_MULTI] = "trace_uprobe_multi",
	[BPF_CGROUP_UNIX_CONNECT] = "cgroup_unix_connect",
	[BPF_CGROUP_UNIX_SENDMSG] = "cgroup_unix_sendmsg",
	[BPF_CGROUP_UNIX_RECVMSG] = "cgroup_unix_recvmsg",
	[BPF_CGROUP_UNIX_GETPEERNAME] = "cgroup_unix_getpeername",
	[BPF_CGROUP_UNIX_GETSOCKNAME] = "cgroup_unix_getsockname",
	[BPF_NETKIT_PRIMARY] = "netkit_primary",
	[BPF_NETKIT_PEER] = "netkit_peer",
	[BPF_TRACE_KPROBE_SESSION] = "trace_kprobe_session",
	[BPF_TRACE_UPROBE_SESSION] = "trace_uprobe_session",
};

static const char *const map_types[LOUPE_MAP_TYPE_CNT] = {
	[BPF_MAP_TYPE_UNSPEC] = "unspec",
	[BPF_MAP_TYPE_HASH] = "hash",
	[BPF_MAP_TYPE_ARRAY] = "array",
	[BPF_MAP_TYPE_PROG_ARRAY] = "prog_array",
	[BPF_MAP_TYPE_PERF_EVENT_ARRAY] = "perf_event_array",
	[BPF_MAP_TYPE_PERCPU_HASH] = "percpu_hash",
	[BPF_MAP_TYPE_PERCPU_ARRAY] = "percpu_array",
	[BPF_MAP_TYPE_STACK_TRACE] = "stack_trace",
	[BPF_MAP_TYPE_CGROUP_ARRAY] = "cgroup_array",
	[BPF_MAP_TYPE_LRU_HASH] = "lru_hash",
	[BPF_MAP_TYPE_LRU_PERCPU_HASH] = "lru_percpu_hash",
	[BPF_MAP_TYPE_LPM_TRIE] = "lpm_trie",
	[BPF_MAP_TYPE_ARRAY_OF_MAPS] = "array_of_maps",
	[BPF_MAP_TYPE_HASH_OF_MAPS] = "hash_of_maps",
	[BPF_MAP_TYPE_DEVMAP] = "devmap",
	[BPF_MAP_TYPE_SOCKMAP] = "sockmap",
	[BPF_MAP_TYPE_CPUMAP] = "cpumap",
	[BPF_MAP_TYPE_XSKMAP] = "xskmap",
	[BPF_MAP_TYPE_SOCKHASH] = "sockhash",
	[BPF_MAP_TYPE_CGROUP_STORAGE] = "cgroup_storage",
	[BPF_MAP_TYPE_REUSEPORT_SOCKARRAY] = "reuseport_sockarray",
	[BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE] = "percpu_cgroup_storage",
	[BPF_MAP_TYPE_QUEUE] = "queue",
	[BPF_MAP_TYPE_STACK] = "stack",
	[BPF_MAP_TYPE_SK_STORAGE] = "sk_storage",
	[BPF_MAP_TYPE_DEVMAP_HASH] = "devmap_hash",
	[BPF_MAP_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_MAP_TYPE_RINGBUF] = "ringbuf",
	[BPF_MAP_TYPE_INODE_STORAGE] = "inode_storage",
	[BPF_MAP_TYPE_TASK_STORAGE] = "task_storage",
	[BPF_MAP_TYPE_BLOOM_FILTER] = "bloom_filter",
	[BPF_MAP_TYPE_USER_RINGBUF] = "user_ringbuf",
	[BPF_MAP_TYPE_CGRP_STORAGE] = "cgrp_storage",
	[BPF_MAP_TYPE_ARENA] = "arena",
};

const char *loupe_prog_type_name(uint32_t type)
{
	return insn_table_name(prog_types, LOUPE_PROG_TYPE_CNT, type);
}

int loupe_prog_type_by_name(const char *name)
{
	return insn_table_find(prog_types, LOUPE_PROG_TYPE_CNT, name);
}

const char *loupe_attach_type_name(uint32_t type)
{
	return insn_table_name(attach_types, LOUPE_ATTACH_TYPE_CNT, type);
}

int loupe_attach_type_by_name(const char *name)
{
	return insn_table_find(attach_types, LOUPE_ATTACH_TYPE_CNT, name);
}

const char *loupe_map_type_name(uint32_t type)
{
	return insn_table_name(map_types, LOUPE_MAP_TYPE_CNT, type);
}

int loupe_map_type_by_name(const char *name)
{
	return insn_table_find(map_types, LOUPE_MAP_TYPE_CNT, name);
}
