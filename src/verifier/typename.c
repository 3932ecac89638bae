// SPDX-License-Identifier: GPL-2.0-only
/* Names of register types, as messages and logs print them. */
#include "verifier/typename.h"

#include <stdio.h>

static const char *const base_names[] = {
	[NOT_INIT] = "?",
	[SCALAR_VALUE] = "scalar",
	[PTR_TO_CTX] = "ctx",
	[CONST_PTR_TO_MAP] = "map_ptr",
	[PTR_TO_MAP_VALUE] = "map_value",
	[PTR_TO_MAP_KEY] = "map_key",
	[PTR_TO_STACK] = "fp",
	[PTR_TO_PACKET_META] = "pkt_meta",
	[PTR_TO_PACKET] = "pkt",
	[PTR_TO_PACKET_END] = "pkt_end",
	[PTR_TO_FLOW_KEYS] = "flow_keys",
	[PTR_TO_SOCKET] = "sock",
	[PTR_TO_SOCK_COMMON] = "sock_common",
	[PTR_TO_TCP_SOCK] = "tcp_sock",
	[PTR_TO_TP_BUFFER] = "tp_buffer",
	[PTR_TO_XDP_SOCK] = "xdp_sock",
	[PTR_TO_BTF_ID] = "ptr_",
	[PTR_TO_MEM] = "mem",
	[PTR_TO_ARENA] = "arena",
	[PTR_TO_BUF] = "buf",
	[PTR_TO_FUNC] = "func",
	[CONST_PTR_TO_DYNPTR] = "dynptr_ptr",
};

/* Flags that a name shows, in the order of its prefixes. */
static const struct {
	uint32_t flag;
	const char *prefix;
} flag_names[] = {
	{ MEM_RDONLY, "rdonly_" },   { MEM_RINGBUF, "ringbuf_" }, { MEM_USER, "user_" },
	{ MEM_PERCPU, "percpu_" },   { MEM_RCU, "rcu_" },	  { PTR_UNTRUSTED, "untrusted_" },
	{ PTR_TRUSTED, "trusted_" },
};

const char *vf_type_str(char buf[VF_TYPE_NAME], uint32_t type)
{
	enum { SIZE = VF_TYPE_NAME, FLAGS = sizeof(flag_names) / sizeof(flag_names[0]) };
	uint32_t base = loupe_base_type(type);
	const char *name =
		base < sizeof(base_names) / sizeof(base_names[0]) ? base_names[base] : "?";
	const char *postfix = "";
	size_t len = 0;

	if (type & PTR_MAYBE_NULL)
		postfix = base == PTR_TO_BTF_ID ? "or_null_" : "_or_null";
	for (int i = 0; i < FLAGS; i++) {
		if (type & flag_names[i].flag)
			len += (size_t)snprintf(buf + len, SIZE - len, "%s", flag_names[i].prefix);
	}
	snprintf(buf + len, SIZE - len, "%s%s", name, postfix);
	return buf;
}
