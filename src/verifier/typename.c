// SPDX-License-Identifier: GPL-2.0-only
/* Names of register types, as messages and logs print them. */
#include "verifier/typename.h"

#include <stdio.h>
#include <string.h>

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

/* Text begins with word. */
static bool leads(const char *text, size_t len, const char *word)
{
	return len >= strlen(word) && !memcmp(text, word, strlen(word));
}

bool vf_type_scan(const char *text, size_t len, uint32_t *type, size_t *used)
{
	enum { BASES = sizeof(base_names) / sizeof(base_names[0]) };
	const char *p = text, *end = text + len;
	size_t best = 0;

	*type = 0;
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
		if (leads(p, (size_t)(end - p), flag_names[i].prefix)) {
			*type |= flag_names[i].flag;
			p += strlen(flag_names[i].prefix);
		}
	}
	for (uint32_t i = SCALAR_VALUE; i < BASES; i++) {
		if (strlen(base_names[i]) > best && leads(p, (size_t)(end - p), base_names[i])) {
			best = strlen(base_names[i]);
			*type = loupe_type_flags(*type) | i;
		}
	}
	if (!best)
		return false;
	p += best;
	if (loupe_base_type(*type) == PTR_TO_BTF_ID ? leads(p, (size_t)(end - p), "or_null_")
						    : leads(p, (size_t)(end - p), "_or_null")) {
		*type |= PTR_MAYBE_NULL;
		p += strlen("_or_null");
	}
	*used = (size_t)(p - text);
	return true;
}
