/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of helpers by programs of every type, with maps and values of every kind. */
#ifndef TESTS_LIVE_CALLS_H
#define TESTS_LIVE_CALLS_H

#include "rig.h"

enum { VALUE_SIZE = 64, ARGS = 5 };

/* --- maps
 * ------------------------------------------------------------------------------------------- */

#define MAP(name_, type_, key, value, entries, flags)                                              \
	{                                                                                          \
		.name = name_, .type = BPF_MAP_TYPE_##type_, .key_size = key, .value_size = value, \
		.max_entries = entries, .map_flags = flags, .inner_map_fd = -1                     \
	}

static struct loupe_map maps[] = {
	MAP("array", ARRAY, 4, VALUE_SIZE, 1, 0),
	MAP("read_only", ARRAY, 4, VALUE_SIZE, 1, BPF_F_RDONLY_PROG),
	MAP("write_only", ARRAY, 4, VALUE_SIZE, 1, BPF_F_WRONLY_PROG),
	MAP("hash", HASH, 8, VALUE_SIZE, 4, 0),
	MAP("percpu_array", PERCPU_ARRAY, 4, VALUE_SIZE, 2, 0),
	MAP("percpu_hash", PERCPU_HASH, 8, VALUE_SIZE, 4, 0),
	MAP("lru", LRU_HASH, 8, VALUE_SIZE, 4, 0),
	MAP("trie", LPM_TRIE, 8, VALUE_SIZE, 4, BPF_F_NO_PREALLOC),
	MAP("progs", PROG_ARRAY, 4, 4, 4, 0),
	MAP("events", PERF_EVENT_ARRAY, 4, 4, 4, 0),
	MAP("stacks", STACK_TRACE, 4, 40, 4, 0),
	MAP("cgroups", CGROUP_ARRAY, 4, 4, 4, 0),
	MAP("storage", CGROUP_STORAGE, 16, VALUE_SIZE, 0, 0),
	MAP("cpu_storage", PERCPU_CGROUP_STORAGE, 16, VALUE_SIZE, 0, 0),
	MAP("devices", DEVMAP, 4, 4, 4, 0),
	MAP("device_hash", DEVMAP_HASH, 4, 8, 4, 0),
	MAP("cpus", CPUMAP, 4, 4, 2, 0),
	MAP("xsks", XSKMAP, 4, 4, 4, 0),
	MAP("socks", SOCKMAP, 4, 8, 4, 0),
	MAP("sock_hash", SOCKHASH, 8, 8, 4, 0),
	MAP("reuseport", REUSEPORT_SOCKARRAY, 4, 8, 4, 0),
	MAP("queue", QUEUE, 0, 8, 4, 0),
	MAP("stack", STACK, 0, 8, 4, 0),
	MAP("bloom", BLOOM_FILTER, 0, 8, 4, 0),
	MAP("ring", RINGBUF, 0, 0, 4096, 0),
	MAP("user_ring", USER_RINGBUF, 0, 0, 4096, 0),
	MAP("maps", ARRAY_OF_MAPS, 4, 4, 4, 0),
	MAP("map_hash", HASH_OF_MAPS, 8, 4, 4, 0),
};

enum {
	MAPS = sizeof(maps) / sizeof(maps[0]),
	ARRAY_MAP = 0,
	READ_ONLY_MAP,
	WRITE_ONLY_MAP,
	HASH_MAP
};

static inline uint32_t map_of_type(uint32_t type)
{
	for (uint32_t i = 0; i < MAPS; i++)
		if (maps[i].type == type)
			return i;
	return ARRAY_MAP;
}

/* Helpers that take only some maps. */
static const struct {
	int func;
	uint32_t map_type;
} maps_of_funcs[] = {
#define MAP_ONLY(map, func)
#define FUNC_ONLY(func, map) { BPF_FUNC_##func, BPF_MAP_TYPE_##map },
#include "kernel/6.18/map_funcs.def"
#undef MAP_ONLY
#undef FUNC_ONLY
};

/* --- program types
 * ---------------------------------------------------------------------------------- */

/* Offsets in the context, -1 where there is no such field. */
static const struct subject {
	uint32_t type, attach;
	int data, data_end, pointer_size;
	int sock;
} subjects[] = {
	{ BPF_PROG_TYPE_SOCKET_FILTER, 0, -1, -1, 0, 168 },
	{ BPF_PROG_TYPE_SCHED_CLS, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_XDP, 0, 0, 4, BPF_W, -1 },
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, -1, -1, 0, 64 },
	{ BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, 8, 16, BPF_DW, 0 },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT, 8, 16, BPF_DW, 0 },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_DEVICE, 192, 200, BPF_DW, 184 },
	{ BPF_PROG_TYPE_SK_SKB, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_SK_MSG, 0, 0, 8, BPF_DW, 72 },
	{ BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, -1, -1, 0, 0 },
	{ BPF_PROG_TYPE_SK_REUSEPORT, 0, 0, 8, BPF_DW, 40 },
	{ BPF_PROG_TYPE_FLOW_DISSECTOR, 0, 76, 80, BPF_W, -1 },
	{ BPF_PROG_TYPE_LWT_IN, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_LWT_OUT, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_LWT_XMIT, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_LWT_SEG6LOCAL, 0, 76, 80, BPF_W, 168 },
	{ BPF_PROG_TYPE_KPROBE, 0, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_TRACEPOINT, 0, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_RAW_TRACEPOINT, 0, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_PERF_EVENT, 0, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_SYSCALL, 0, -1, -1, 0, -1 },
	{ BPF_PROG_TYPE_NETFILTER, BPF_NETFILTER, -1, -1, 0, -1 },
};

/* --- values
 * ------------------------------------------------------------------------------------------ */

/* In the order in which a right one is looked for. */
enum value {
	CTX,
	STACK,
	MAP_PTR, /* the helper's own map, or an array */
	SOCK,
	NUMBER_8,
	NUMBER_4,
	VALUE,
	NULL_PTR,
	RING_MEM,
	NOTHING,
	NUMBER_NEGATIVE,
	NUMBER_ANY,
	NUMBER_BOUNDED,
	NUMBER_BIG,
	CTX_MOVED,
	FRAME,
	STACK_UNINIT,
	STACK_MISALIGNED,
	STACK_SHORT,
	VALUE_READ_ONLY,
	VALUE_WRITE_ONLY,
	VALUE_OR_NULL,
	VALUE_VARIABLE,
	VALUE_END,
	INNER_MAP,
	PACKET,
	PACKET_UNCHECKED,
	PACKET_END,
	SOCK_UNCHECKED,
	TCP_SOCK,
	RING_MEM_MOVED,
	VALUES,
};

static const char *const value_names[] = {
	[CTX] = "ctx",
	[STACK] = "stack",
	[MAP_PTR] = "map",
	[SOCK] = "socket",
	[NUMBER_8] = "8",
	[NUMBER_4] = "4",
	[VALUE] = "map value",
	[NULL_PTR] = "0",
	[RING_MEM] = "ring buffer memory",
	[NOTHING] = "nothing",
	[NUMBER_NEGATIVE] = "-1",
	[NUMBER_ANY] = "any number",
	[NUMBER_BOUNDED] = "number up to 15",
	[NUMBER_BIG] = "2^29",
	[CTX_MOVED] = "ctx + 4",
	[FRAME] = "fp",
	[STACK_UNINIT] = "uninitialized stack",
	[STACK_MISALIGNED] = "fp - 61",
	[STACK_SHORT] = "fp - 2",
	[VALUE_READ_ONLY] = "read-only value",
	[VALUE_WRITE_ONLY] = "write-only value",
	[VALUE_OR_NULL] = "value or null",
	[VALUE_VARIABLE] = "value + variable",
	[VALUE_END] = "last bytes of a value",
	[INNER_MAP] = "inner map",
	[PACKET] = "packet",
	[PACKET_UNCHECKED] = "unchecked packet",
	[PACKET_END] = "packet's end",
	[SOCK_UNCHECKED] = "unchecked socket",
	[TCP_SOCK] = "tcp_sock",
	[RING_MEM_MOVED] = "ring buffer memory + 4",
};

/* A call of func with some arguments. */
struct call {
	const struct subject *subject;
	int func;
	uint32_t map; /* of MAP_PTR */
	enum value args[ARGS];
	uint32_t arg_cnt;
};

enum { R_CTX = BPF_REG_6, R_SAVED = BPF_REG_7, R_END = BPF_REG_8 };

static inline void add_exit_if_null(struct rig *rig, int reg)
{
	rig_add(rig, RIG_JMP_IMM(BPF_JNE, reg, 0, 2));
	rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
}

static inline void add_lookup(struct rig *rig, uint32_t map)
{
	rig_add_map(rig, BPF_REG_1, map, false, 0);
	rig_add(rig, RIG_MOV(BPF_REG_2, BPF_REG_10));
	rig_add(rig, RIG_ADD_IMM(BPF_REG_2, -64));
	rig_add(rig, RIG_CALL(BPF_FUNC_map_lookup_elem));
}

/* What needs calls, made ready in R7 (and R8) before any argument is set. @return false: not here
 */
static inline bool prepare(struct rig *rig, const struct subject *subject, enum value value)
{
	switch (value) {
	case NUMBER_ANY:
	case NUMBER_BOUNDED:
	case VALUE_VARIABLE:
		rig_add(rig, RIG_CALL(BPF_FUNC_get_prandom_u32));
		if (value != NUMBER_ANY)
			rig_add(rig, rig_insn(BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, 15));
		break;
	case VALUE_OR_NULL:
		add_lookup(rig, HASH_MAP);
		break;
	case INNER_MAP:
		add_lookup(rig, map_of_type(BPF_MAP_TYPE_ARRAY_OF_MAPS));
		add_exit_if_null(rig, 0);
		break;
	case RING_MEM:
	case RING_MEM_MOVED:
		rig_add_map(rig, BPF_REG_1, map_of_type(BPF_MAP_TYPE_RINGBUF), false, 0);
		rig_add(rig, RIG_MOV_IMM(2, 16));
		rig_add(rig, RIG_MOV_IMM(3, 0));
		rig_add(rig, RIG_CALL(BPF_FUNC_ringbuf_reserve));
		add_exit_if_null(rig, 0);
		break;
	case PACKET:
	case PACKET_UNCHECKED:
	case PACKET_END:
		if (subject->data < 0)
			return false;
		rig_add(rig, RIG_LOAD(subject->pointer_size, 0, R_CTX, subject->data));
		rig_add(rig, RIG_LOAD(subject->pointer_size, R_END, R_CTX, subject->data_end));
		if (value == PACKET) {
			rig_add(rig, RIG_MOV(1, 0));
			rig_add(rig, RIG_ADD_IMM(1, 24));
			rig_add(rig, RIG_JMP(BPF_JLE, 1, R_END, 2));
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
		} else if (value == PACKET_END) {
			rig_add(rig, RIG_MOV(0, R_END));
		}
		break;
	case SOCK:
	case SOCK_UNCHECKED:
	case TCP_SOCK:
		if (subject->sock < 0)
			return false;
		rig_add(rig, RIG_LOAD(BPF_DW, 0, R_CTX, subject->sock));
		if (value == SOCK_UNCHECKED)
			break;
		add_exit_if_null(rig, 0);
		if (value == SOCK)
			break;
		rig_add(rig, RIG_MOV(1, 0));
		rig_add(rig, RIG_CALL(BPF_FUNC_tcp_sock));
		add_exit_if_null(rig, 0);
		break;
	default:
		return true;
	}
	rig_add(rig, RIG_MOV(R_SAVED, 0));
	return true;
}

static inline void add_moved(struct rig *rig, int reg, int from, int by)
{
	rig_add(rig, RIG_MOV(reg, from));
	if (by)
		rig_add(rig, RIG_ADD_IMM(reg, by));
}

static inline void set_argument(struct rig *rig, int reg, enum value value, uint32_t map)
{
	switch (value) {
	case CTX:
		return add_moved(rig, reg, R_CTX, 0);
	case CTX_MOVED:
		return add_moved(rig, reg, R_CTX, 4);
	case STACK:
		return add_moved(rig, reg, BPF_REG_10, -64);
	case STACK_UNINIT:
		return add_moved(rig, reg, BPF_REG_10, -128);
	case STACK_MISALIGNED:
		return add_moved(rig, reg, BPF_REG_10, -61);
	case STACK_SHORT:
		return add_moved(rig, reg, BPF_REG_10, -2);
	case FRAME:
		return add_moved(rig, reg, BPF_REG_10, 0);
	case MAP_PTR:
		return rig_add_map(rig, reg, map, false, 0);
	case VALUE:
		return rig_add_map(rig, reg, ARRAY_MAP, true, 0);
	case VALUE_END:
		return rig_add_map(rig, reg, ARRAY_MAP, true, VALUE_SIZE - 2);
	case VALUE_READ_ONLY:
		return rig_add_map(rig, reg, READ_ONLY_MAP, true, 0);
	case VALUE_WRITE_ONLY:
		return rig_add_map(rig, reg, WRITE_ONLY_MAP, true, 0);
	case VALUE_VARIABLE:
		rig_add_map(rig, reg, ARRAY_MAP, true, 0);
		rig_add(rig, rig_insn(BPF_ALU64 | BPF_ADD | BPF_X, reg, R_SAVED, 0, 0));
		return;
	case RING_MEM_MOVED:
		return add_moved(rig, reg, R_SAVED, 4);
	case NUMBER_8:
	case NUMBER_4:
	case NULL_PTR:
	case NUMBER_NEGATIVE:
	case NUMBER_BIG:
		rig_add(rig, RIG_MOV_IMM(reg, value == NUMBER_8		 ? 8
					      : value == NUMBER_4	 ? 4
					      : value == NUMBER_NEGATIVE ? -1
					      : value == NUMBER_BIG	 ? 1 << 29
									 : 0));
		return;
	case NOTHING:
		return;
	default:
		return add_moved(rig, reg, R_SAVED, 0);
	}
}

static inline bool needs_saved(enum value value)
{
	switch (value) {
	case SOCK:
	case RING_MEM:
	case NUMBER_ANY:
	case NUMBER_BOUNDED:
	case VALUE_OR_NULL:
	case VALUE_VARIABLE:
	case INNER_MAP:
	case PACKET:
	case PACKET_UNCHECKED:
	case PACKET_END:
	case SOCK_UNCHECKED:
	case TCP_SOCK:
	case RING_MEM_MOVED:
		return true;
	default:
		return false;
	}
}

/* R6 is the context, the last 64 bytes of the stack are zero. */
static inline void start_program(struct rig *rig, const struct subject *subject)
{
	rig_start(rig, subject->type, subject->attach);
	rig_add(rig, RIG_MOV(R_CTX, 1));
	for (int off = -64; off < 0; off += 8)
		rig_add(rig, RIG_STORE_IMM(BPF_DW, BPF_REG_10, off, 0));
}

/* @return false if the call cannot be made: two values need R7, or the type has no such value */
static inline bool add_arguments(struct rig *rig, const struct call *call)
{
	enum value saved = NOTHING;

	for (uint32_t i = 0; i < call->arg_cnt; i++) {
		if (!needs_saved(call->args[i]) || saved == call->args[i])
			continue;
		if (saved != NOTHING || !prepare(rig, call->subject, call->args[i]))
			return false;
		saved = call->args[i];
	}
	/* what earlier calls left in registers is gone; R1 would hold the context without any */
	if (saved == NOTHING && call->args[0] == NOTHING)
		rig_add(rig, RIG_CALL(BPF_FUNC_get_prandom_u32));
	for (uint32_t i = 0; i < call->arg_cnt; i++)
		set_argument(rig, (int)i + 1, call->args[i], call->map);
	return true;
}

static inline bool add_call(struct rig *rig, const struct call *call)
{
	start_program(rig, call->subject);
	if (!add_arguments(rig, call))
		return false;
	rig_add(rig, RIG_CALL(call->func));
	return true;
}

/* The inner maps of maps of maps, and the rig. @return 0 or what rig_init() says */
static inline int init_calls(struct rig *rig)
{
	for (uint32_t i = 0; i < MAPS; i++)
		if (maps[i].type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		    maps[i].type == BPF_MAP_TYPE_HASH_OF_MAPS)
			maps[i].inner_map_fd = RIG_FIRST_FD + HASH_MAP;
	return rig_init(rig, maps, MAPS);
}

/* The map that the helper wants, an array if it takes any. */
static inline uint32_t map_of_helper(int func)
{
	for (size_t i = 0; i < sizeof(maps_of_funcs) / sizeof(maps_of_funcs[0]); i++)
		if (maps_of_funcs[i].func == func)
			return map_of_type(maps_of_funcs[i].map_type);
	return ARRAY_MAP;
}

/* The kernel found no fault with the arguments set so far. */
static inline bool were_right(const struct rig *rig, uint32_t arg_cnt)
{
	char missing[32];

	snprintf(missing, sizeof(missing), "\nR%u !read_ok\n", arg_cnt + 1);
	return !rig->kernel_err || strstr(rig->log, missing) || strstr(rig->log, "Unreleased") ||
	       strstr(rig->log, "cannot pass map_type");
}

static inline bool is_available(struct rig *rig, const struct subject *subject, int func)
{
	rig_start(rig, subject->type, subject->attach);
	rig_add(rig, RIG_CALL(func));
	rig_add(rig, RIG_EXIT);
	rig_ask_kernel(rig);
	return !strstr(rig->log, "cannot use helper") && !strstr(rig->log, "invalid func");
}

#endif
