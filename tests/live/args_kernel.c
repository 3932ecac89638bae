// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: args_kernel [--unprivileged] [HELPER]
 * Arguments of helpers, against the running kernel: every helper that a program type has is called
 * with every kind of value in its first argument, then in its second with a right first one, and so
 * on; with every kind of map; and its result is used. What is right is learnt from the kernel. A
 * helper that all types have is tried with a third of them, unless RIG_ALL is in the environment.
 */
#include "rig.h"

enum { VALUE_SIZE = 64, ARGS = 5 };

/* --- maps ------------------------------------------------------------------------------------------- */

#define MAP(name_, type_, key, value, entries, flags)                                              \
	{ .name = name_, .type = BPF_MAP_TYPE_##type_, .key_size = key, .value_size = value,       \
	  .max_entries = entries, .map_flags = flags, .inner_map_fd = -1 }

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

enum { MAPS = sizeof(maps) / sizeof(maps[0]), ARRAY_MAP = 0, READ_ONLY_MAP, WRITE_ONLY_MAP, HASH_MAP };

static uint32_t map_of_type(uint32_t type)
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

/* --- program types ---------------------------------------------------------------------------------- */

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

/* --- values ------------------------------------------------------------------------------------------ */

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
	[CTX] = "ctx", [STACK] = "stack", [MAP_PTR] = "map", [SOCK] = "socket", [NUMBER_8] = "8",
	[NUMBER_4] = "4", [VALUE] = "map value", [NULL_PTR] = "0", [RING_MEM] = "ring buffer memory",
	[NOTHING] = "nothing", [NUMBER_NEGATIVE] = "-1", [NUMBER_ANY] = "any number",
	[NUMBER_BOUNDED] = "number up to 15", [NUMBER_BIG] = "2^29", [CTX_MOVED] = "ctx + 4",
	[FRAME] = "fp", [STACK_UNINIT] = "uninitialized stack", [STACK_MISALIGNED] = "fp - 61",
	[STACK_SHORT] = "fp - 2", [VALUE_READ_ONLY] = "read-only value",
	[VALUE_WRITE_ONLY] = "write-only value", [VALUE_OR_NULL] = "value or null",
	[VALUE_VARIABLE] = "value + variable", [VALUE_END] = "last bytes of a value",
	[INNER_MAP] = "inner map", [PACKET] = "packet", [PACKET_UNCHECKED] = "unchecked packet",
	[PACKET_END] = "packet's end", [SOCK_UNCHECKED] = "unchecked socket", [TCP_SOCK] = "tcp_sock",
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

static void add_exit_if_null(struct rig *rig, int reg)
{
	rig_add(rig, RIG_JMP_IMM(BPF_JNE, reg, 0, 2));
	rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
}

static void add_lookup(struct rig *rig, uint32_t map)
{
	rig_add_map(rig, BPF_REG_1, map, false, 0);
	rig_add(rig, RIG_MOV(BPF_REG_2, BPF_REG_10));
	rig_add(rig, RIG_ADD_IMM(BPF_REG_2, -64));
	rig_add(rig, RIG_CALL(BPF_FUNC_map_lookup_elem));
}

/* What needs calls, made ready in R7 (and R8) before any argument is set. @return false: not here */
static bool prepare(struct rig *rig, const struct subject *subject, enum value value)
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

static void add_moved(struct rig *rig, int reg, int from, int by)
{
	rig_add(rig, RIG_MOV(reg, from));
	if (by)
		rig_add(rig, RIG_ADD_IMM(reg, by));
}

static void set_argument(struct rig *rig, int reg, enum value value, uint32_t map)
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

static bool needs_saved(enum value value)
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

/* @return false if the program cannot be made: two values need R7, or the type has no such value */
static bool add_call(struct rig *rig, const struct call *call)
{
	enum value saved = NOTHING;

	rig_start(rig, call->subject->type, call->subject->attach);
	rig_add(rig, RIG_MOV(R_CTX, 1));
	for (int off = -64; off < 0; off += 8)
		rig_add(rig, RIG_STORE_IMM(BPF_DW, BPF_REG_10, off, 0));
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
	rig_add(rig, RIG_CALL(call->func));
	return true;
}

static void compare(struct rig *rig, const struct call *call, const char *what)
{
	char args[256] = "";

	for (uint32_t i = 0; i < call->arg_cnt; i++) {
		size_t len = strlen(args);

		snprintf(args + len, sizeof(args) - len, "%s%s", i ? ", " : "",
			 value_names[call->args[i]]);
	}
	rig_compare(rig, "helper %d(%s) of map %s%s", call->func, args, maps[call->map].name, what);
}

/* The call, with nothing done with its result, or with all that can be done with a pointer. */
static bool try_call(struct rig *rig, const struct call *call, bool use_result)
{
	if (!add_call(rig, call))
		return false;
	if (use_result) {
		rig_add(rig, RIG_MOV(R_SAVED, 0));
		rig_add(rig, RIG_JMP_IMM(BPF_JEQ, 0, 0, 3));
		rig_add(rig, RIG_LOAD(BPF_W, 1, 0, 0));
		rig_add(rig, RIG_ADD_IMM(0, 4));
		rig_add(rig, RIG_LOAD(BPF_DW, 1, 0, 0));
		rig_add(rig, RIG_LOAD(BPF_B, 1, R_SAVED, 0));
	}
	/* a helper that writes to the stack leaves no zero there */
	rig_add(rig, RIG_LOAD(BPF_DW, 1, BPF_REG_10, -64));
	rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
	compare(rig, call, use_result ? ", result used" : "");
	return true;
}

/* The kernel found no fault with the arguments set so far. */
static bool were_right(const struct rig *rig, uint32_t arg_cnt)
{
	char missing[32];

	snprintf(missing, sizeof(missing), "\nR%u !read_ok\n", arg_cnt + 1);
	return !rig->kernel_err || strstr(rig->log, missing) || strstr(rig->log, "Unreleased") ||
	       strstr(rig->log, "cannot pass map_type");
}

static void try_helper(struct rig *rig, const struct subject *subject, int func)
{
	struct call call = { .subject = subject, .func = func };

	for (size_t i = 0; i < sizeof(maps_of_funcs) / sizeof(maps_of_funcs[0]) && !call.map; i++)
		if (maps_of_funcs[i].func == func)
			call.map = map_of_type(maps_of_funcs[i].map_type);
	/* does it take any argument, and may it be called at all? */
	call.args[0] = NOTHING;
	call.arg_cnt = 1;
	try_call(rig, &call, false);
	if (!strstr(rig->log, "\nR1 !read_ok\n")) {
		try_call(rig, &call, true);
		return;
	}
	for (uint32_t k = 0; k < ARGS; k++) {
		int right = -1;

		call.arg_cnt = k + 1;
		for (int value = 0; value < VALUES; value++) {
			call.args[k] = (enum value)value;
			if (!try_call(rig, &call, false))
				continue;
			if (value != NOTHING && right < 0 && were_right(rig, k + 1))
				right = value;
			if (value == MAP_PTR && right == value) {
				uint32_t own = call.map;

				for (call.map = 0; call.map < MAPS; call.map++)
					try_call(rig, &call, false);
				call.map = own;
			}
		}
		if (right < 0)
			return;
		call.args[k] = (enum value)right;
		try_call(rig, &call, false);
		if (rig->kernel_err && !strstr(rig->log, "!read_ok"))
			return;
		if (!rig->kernel_err)
			break;
	}
	try_call(rig, &call, true);
	for (uint32_t map = 0; map < MAPS; map++) {
		call.map = map;
		try_call(rig, &call, true);
	}
}

static bool is_available(struct rig *rig, const struct subject *subject, int func)
{
	rig_start(rig, subject->type, subject->attach);
	rig_add(rig, RIG_CALL(func));
	rig_add(rig, RIG_EXIT);
	rig_ask_kernel(rig);
	return !strstr(rig->log, "cannot use helper") && !strstr(rig->log, "invalid func");
}

/* Reads and writes through a pointer to a map, not to its values. */
static void try_map_pointers(struct rig *rig, const struct subject *subject)
{
	static const int offs[] = { -8, -1, 0, 8, 32000 };

	for (uint32_t map = 0; map < MAPS; map++) {
		for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
			for (int write = 0; write < 3; write++) {
				rig_start(rig, subject->type, subject->attach);
				rig_add_map(rig, BPF_REG_1, map, false, 0);
				rig_add(rig, RIG_MOV_IMM(BPF_REG_2, 0));
				rig_add(rig, write == 0	  ? RIG_LOAD(BPF_B, 2, 1, offs[i])
					     : write == 1 ? RIG_STORE(BPF_B, 1, 2, offs[i])
							  : RIG_STORE_IMM(BPF_B, 1, offs[i], 0));
				rig_add(rig, RIG_MOV_IMM(0, 1));
				rig_add(rig, RIG_EXIT);
				rig_compare(rig, "%s at %d of map %s itself", write ? "write" : "read",
					    offs[i], maps[map].name);
			}
		}
	}
}

static int wanted; /* helper, 0: all */

/* Helpers of all types are the same in most. */
static bool is_tried(const struct rig *rig, int func, int index)
{
	static const int common[] = {
		BPF_FUNC_map_lookup_elem, BPF_FUNC_map_update_elem, BPF_FUNC_map_delete_elem,
		BPF_FUNC_ktime_get_ns, BPF_FUNC_trace_printk, BPF_FUNC_get_prandom_u32,
		BPF_FUNC_tail_call, BPF_FUNC_perf_event_read, BPF_FUNC_perf_event_read_value,
		BPF_FUNC_map_push_elem, BPF_FUNC_map_pop_elem, BPF_FUNC_map_peek_elem,
		BPF_FUNC_strtol, BPF_FUNC_strtoul, BPF_FUNC_probe_read_user,
		BPF_FUNC_probe_read_kernel, BPF_FUNC_probe_read_user_str,
		BPF_FUNC_probe_read_kernel_str, BPF_FUNC_ringbuf_output, BPF_FUNC_ringbuf_reserve,
		BPF_FUNC_ringbuf_submit, BPF_FUNC_ringbuf_discard, BPF_FUNC_ringbuf_query,
		BPF_FUNC_get_task_stack, BPF_FUNC_copy_from_user, BPF_FUNC_snprintf_btf,
		BPF_FUNC_task_storage_get, BPF_FUNC_task_storage_delete, BPF_FUNC_for_each_map_elem,
		BPF_FUNC_snprintf, BPF_FUNC_timer_init, BPF_FUNC_timer_set_callback,
		BPF_FUNC_timer_start, BPF_FUNC_timer_cancel, BPF_FUNC_trace_vprintk,
		BPF_FUNC_find_vma, BPF_FUNC_loop, BPF_FUNC_strncmp, BPF_FUNC_copy_from_user_task,
		BPF_FUNC_kptr_xchg, BPF_FUNC_map_lookup_percpu_elem, BPF_FUNC_dynptr_from_mem,
		BPF_FUNC_ringbuf_reserve_dynptr, BPF_FUNC_dynptr_read, BPF_FUNC_dynptr_write,
		BPF_FUNC_user_ringbuf_drain,
	};

	if (wanted)
		return wanted == func;
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (common[i] == func && (func + index) % 3 && !rig->unprivileged && !getenv("RIG_ALL"))
			return false;
	return true;
}

static int run(struct rig *rig, int index)
{
	const struct subject *subject = &subjects[index];

	if (rig_init(rig, maps, MAPS))
		return 1;
	if (rig->unprivileged && !rig_drop_privileges())
		return 1;
	if (!wanted)
		try_map_pointers(rig, subject);
	for (int func = 1; func <= 211; func++)
		if (is_tried(rig, func, index) && is_available(rig, subject, func))
			try_helper(rig, subject, func);
	rig_finish(rig);
	if (rig->unprivileged)
		printf("type %u: %u same, %u different, %u not judged\n", subject->type, rig->same,
		       rig->differ, rig->not_judged);
	return rig->differ ? 1 : 0;
}

static int run_unprivileged(struct rig *rig, int index)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_CGROUP_SKB };
	int i = 0;

	while (subjects[i].type != types[index])
		i++;
	return run(rig, i);
}

int main(int argc, char **argv)
{
	static struct rig rig;
	struct loupe_error err;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	for (uint32_t i = 0; i < MAPS; i++)
		if (maps[i].type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		    maps[i].type == BPF_MAP_TYPE_HASH_OF_MAPS)
			maps[i].inner_map_fd = RIG_FIRST_FD + HASH_MAP;
	if (argc > 1 && !strcmp(argv[1], "--unprivileged")) {
		wanted = argc > 2 ? atoi(argv[2]) : 0;
		return rig_run_unprivileged(&rig, 2, run_unprivileged);
	}
	wanted = argc > 1 ? atoi(argv[1]) : 0;
	/* some maps take programs of one type only, so that each type needs its own */
	for (size_t s = 0; s < sizeof(subjects) / sizeof(subjects[0]); s++)
		run(&rig, (int)s);
	printf("%u same, %u different, %u not judged\n", rig.same, rig.differ, rig.not_judged);
	return rig.differ ? 1 : 0;
}
