// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: types_kernel [--unprivileged | PART…]
 * What programs of each type may do, against the running kernel: which helpers they may call
 * (helpers), what they may read and write of their context (ctx) and of sockets (sockets), what
 * they may return (returns), and how they may be loaded at all (loads). With RIG_ALL in the
 * environment, nothing is left out.
 */
#include "rig.h"

/* Program types and attach types that make a difference to any table. */
static const struct subject {
	uint32_t type, attach;
	int size; /* of the context, bytes */
	bool sleepable;
} all_subjects[] = {
	{ BPF_PROG_TYPE_SOCKET_FILTER, 0, 192, false },
	{ BPF_PROG_TYPE_SCHED_CLS, 0, 192, false },
	{ BPF_PROG_TYPE_SCHED_ACT, 0, 192, false },
	{ BPF_PROG_TYPE_XDP, 0, 24, false },
	{ BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP, 24, false },
	{ BPF_PROG_TYPE_XDP, BPF_XDP_CPUMAP, 24, false },
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 192, false },
	{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 192, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, 0, 80, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, 80, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_RELEASE, 80, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET4_POST_BIND, 80, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET6_POST_BIND, 80, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_BIND, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UNIX_CONNECT, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_SENDMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_SENDMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UNIX_SENDMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_RECVMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_RECVMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UNIX_RECVMSG, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETPEERNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETPEERNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UNIX_GETPEERNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETSOCKNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETSOCKNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UNIX_GETSOCKNAME, 72, false },
	{ BPF_PROG_TYPE_CGROUP_DEVICE, 0, 12, false },
	{ BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, 12, false },
	{ BPF_PROG_TYPE_CGROUP_SYSCTL, 0, 8, false },
	{ BPF_PROG_TYPE_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL, 8, false },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_GETSOCKOPT, 40, false },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, 40, false },
	{ BPF_PROG_TYPE_SOCK_OPS, 0, 224, false },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, 224, false },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_DEVICE, 224, false },
	{ BPF_PROG_TYPE_SOCK_OPS, 200, 224, false },
	{ BPF_PROG_TYPE_SK_SKB, 0, 192, false },
	{ BPF_PROG_TYPE_SK_SKB, BPF_SK_SKB_STREAM_VERDICT, 192, false },
	{ BPF_PROG_TYPE_SK_MSG, 0, 80, false },
	{ BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, 72, false },
	{ BPF_PROG_TYPE_SK_REUSEPORT, 0, 56, false },
	{ BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT, 56, false },
	{ BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT_OR_MIGRATE, 56, false },
	{ BPF_PROG_TYPE_FLOW_DISSECTOR, 0, 192, false },
	{ BPF_PROG_TYPE_LWT_IN, 0, 192, false },
	{ BPF_PROG_TYPE_LWT_OUT, 0, 192, false },
	{ BPF_PROG_TYPE_LWT_XMIT, 0, 192, false },
	{ BPF_PROG_TYPE_LWT_SEG6LOCAL, 0, 192, false },
	{ BPF_PROG_TYPE_KPROBE, 0, 168, false },
	{ BPF_PROG_TYPE_KPROBE, 0, 168, true },
	{ BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 168, false },
	{ BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_SESSION, 168, false },
	{ BPF_PROG_TYPE_KPROBE, BPF_TRACE_UPROBE_MULTI, 168, false },
	{ BPF_PROG_TYPE_KPROBE, BPF_TRACE_UPROBE_SESSION, 168, false },
	{ BPF_PROG_TYPE_TRACEPOINT, 0, 80, false },
	{ BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 96, false },
	{ BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, 0, 96, false },
	{ BPF_PROG_TYPE_PERF_EVENT, 0, 184, false },
	{ BPF_PROG_TYPE_SYSCALL, 0, 80, true },
	{ BPF_PROG_TYPE_NETFILTER, BPF_NETFILTER, 16, false },
};

static const struct subject *subjects = all_subjects;
static int subject_cnt = sizeof(all_subjects) / sizeof(all_subjects[0]);

static const int sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
static const int bytes[] = { 1, 2, 4, 8 };

static void begin(struct rig *rig, const struct subject *subject)
{
	rig_start(rig, subject->type, subject->attach);
	rig->image.prog_flags = subject->sleepable ? BPF_F_SLEEPABLE : 0;
}

static void try_helpers(struct rig *rig)
{
	for (int s = 0; s < subject_cnt; s++) {
		for (int license = 0; license < 2; license++) {
			rig->image.license = (char *)(uintptr_t)(license ? "none" : "GPL");
			for (int func = -1; func <= 213; func++) {
				begin(rig, &subjects[s]);
				rig_add(rig, RIG_CALL(func));
				rig_add(rig, RIG_MOV_IMM(0, 1));
				rig_add(rig, RIG_EXIT);
				rig_compare(rig, "call of helper %d, licence %s", func,
					    rig->image.license);
			}
		}
	}
	rig->image.license = (char *)(uintptr_t) "GPL";
}

/* Ways of touching memory at R6 + off. */
enum way {
	READ,
	READ_SX,
	WRITE,
	WRITE_IMM,
	ATOMIC,
	CMPXCHG,
	LOAD_ACQ,
	STORE_REL,
	READ_CHAIN,
	WAYS
};

static const char *const way_names[] = { "read",
					 "sign-extending read",
					 "write",
					 "write of constant",
					 "atomic add",
					 "cmpxchg",
					 "load_acq",
					 "store_rel",
					 "read, and reads through it" };

/* @return false if there is no such insn */
static bool add_access(struct rig *rig, enum way way, int size, int off)
{
	switch (way) {
	case READ:
		rig_add(rig, RIG_LOAD(size, 2, 6, off));
		return true;
	case READ_SX:
		rig_add(rig, rig_insn(BPF_LDX | BPF_MEMSX | size, 2, 6, off, 0));
		return size != BPF_DW;
	case WRITE:
		rig_add(rig, RIG_MOV_IMM(2, 0));
		rig_add(rig, RIG_STORE(size, 6, 2, off));
		return true;
	case WRITE_IMM:
		rig_add(rig, RIG_STORE_IMM(size, 6, off, 1));
		return true;
	case ATOMIC:
	case CMPXCHG:
		rig_add(rig, RIG_MOV_IMM(2, 0));
		rig_add(rig, RIG_MOV_IMM(0, 0));
		rig_add(rig, rig_insn(BPF_STX | BPF_ATOMIC | size, 6, 2, off,
				      way == ATOMIC ? BPF_ADD : BPF_CMPXCHG));
		return size == BPF_W || size == BPF_DW;
	case LOAD_ACQ:
		rig_add(rig, rig_insn(BPF_STX | BPF_ATOMIC | size, 2, 6, off, BPF_LOAD_ACQ));
		return true;
	case STORE_REL:
		rig_add(rig, RIG_MOV_IMM(2, 0));
		rig_add(rig, rig_insn(BPF_STX | BPF_ATOMIC | size, 6, 2, off, BPF_STORE_REL));
		return true;
	default:
		rig_add(rig, RIG_LOAD(size, 2, 6, off));
		rig_add(rig, RIG_LOAD(size, 3, 2, 0));
		return true;
	}
}

static void try_memory(struct rig *rig, const struct subject *subject, const char *what,
		       const struct loupe_insn *before, uint32_t before_cnt, int from, int to)
{
	for (int way = 0; way < WAYS; way++) {
		for (int i = 0; i < 4; i++) {
			for (int off = from; off < to; off++) {
				/* these hardly depend on where */
				if (way >= ATOMIC && off % 8 && !getenv("RIG_ALL"))
					continue;
				begin(rig, subject);
				for (uint32_t k = 0; k < before_cnt; k++)
					rig_add(rig, before[k]);
				if (!add_access(rig, (enum way)way, sizes[i], off))
					break;
				rig_add(rig, RIG_MOV_IMM(0, 1));
				rig_add(rig, RIG_EXIT);
				rig_compare(rig, "%s: %s of %d bytes at %d", what, way_names[way],
					    bytes[i], off);
			}
		}
	}
}

static void try_ctx(struct rig *rig)
{
	const struct loupe_insn moved = RIG_MOV(6, 1);

	for (int s = 0; s < subject_cnt; s++)
		try_memory(rig, &subjects[s], "context", &moved, 1, -8, subjects[s].size + 16);
	for (int s = 0; s < subject_cnt; s++) {
		const int ends[] = { 88, 96, 160, 8176, 8184, 8190, 8192, 32767 };

		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			try_memory(rig, &subjects[s], "far context", &moved, 1, ends[i] - 1,
				   ends[i] + 1);
	}
}

/* --- sockets -------------------------------------------------------------------------------------
 */

/* Where programs get sockets from: a pointer in the context, then a helper that casts it. */
static const struct source {
	struct subject subject;
	int off;
	bool maybe_null;
	int cast; /* helper, 0 none */
} sources[] = {
	{ { BPF_PROG_TYPE_SCHED_CLS, 0, 0, false }, 168, true, 0 },
	{ { BPF_PROG_TYPE_SCHED_CLS, 0, 0, false }, 168, true, BPF_FUNC_sk_fullsock },
	{ { BPF_PROG_TYPE_SCHED_CLS, 0, 0, false }, 168, true, BPF_FUNC_tcp_sock },
	{ { BPF_PROG_TYPE_CGROUP_SKB, 0, 0, false }, 168, true, BPF_FUNC_get_listener_sock },
	{ { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 0, false }, 64, false, 0 },
	{ { BPF_PROG_TYPE_SOCK_OPS, 0, 0, false }, 184, true, 0 },
	{ { BPF_PROG_TYPE_SOCK_OPS, 0, 0, false }, 184, true, BPF_FUNC_tcp_sock },
	{ { BPF_PROG_TYPE_SK_MSG, 0, 0, false }, 72, false, 0 },
	{ { BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, 0, false }, 0, true, 0 },
	{ { BPF_PROG_TYPE_SK_REUSEPORT, 0, 0, false }, 40, false, 0 },
	{ { BPF_PROG_TYPE_SK_REUSEPORT, 0, 0, false }, 48, true, 0 },
	{ { BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, 0, false },
	  0,
	  false,
	  BPF_FUNC_tcp_sock },
	{ { BPF_PROG_TYPE_FLOW_DISSECTOR, 0, 0, false }, 144, false, 0 },	 /* the keys */
	{ { BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, 0, 0, false }, 0, false, 0 }, /* the buffer */
};

static uint32_t add_null_check(struct loupe_insn *insns, uint32_t cnt, int reg)
{
	insns[cnt++] = RIG_JMP_IMM(BPF_JNE, reg, 0, 2);
	insns[cnt++] = RIG_MOV_IMM(0, 1);
	insns[cnt++] = RIG_EXIT;
	return cnt;
}

static void try_sockets(struct rig *rig)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct source *source = &sources[i];
		struct loupe_insn insns[16];
		uint32_t cnt = 0;

		insns[cnt++] = RIG_LOAD(BPF_DW, 6, 1, source->off);
		try_memory(rig, &source->subject, "unchecked socket", insns, cnt, 0, 1);
		if (source->maybe_null)
			cnt = add_null_check(insns, cnt, 6);
		if (source->cast) {
			insns[cnt++] = RIG_MOV(1, 6);
			insns[cnt++] = RIG_CALL(source->cast);
			insns[cnt++] = RIG_MOV(6, 0);
			try_memory(rig, &source->subject, "unchecked cast", insns, cnt, 0, 1);
			cnt = add_null_check(insns, cnt, 6);
		}
		try_memory(rig, &source->subject, "socket", insns, cnt, -8, 130);
		insns[cnt++] = RIG_ADD_IMM(6, 4);
		try_memory(rig, &source->subject, "moved socket", insns, cnt, -4, 1);
	}
}

/* --- return values -------------------------------------------------------------------------------
 */

static void try_returns(struct rig *rig)
{
	for (int s = 0; s < subject_cnt; s++) {
		for (int value = -2; value < 6; value++) {
			begin(rig, &subjects[s]);
			rig_add(rig, RIG_MOV_IMM(0, value));
			rig_add(rig, RIG_EXIT);
			rig_compare(rig, "return of %d", value);
		}
		begin(rig, &subjects[s]);
		rig_add(rig, RIG_CALL(BPF_FUNC_get_prandom_u32));
		rig_add(rig, RIG_EXIT);
		rig_compare(rig, "return of any number");
		begin(rig, &subjects[s]);
		rig_add(rig, RIG_MOV(0, 1));
		rig_add(rig, RIG_EXIT);
		rig_compare(rig, "return of the context");
		begin(rig, &subjects[s]);
		rig_add(rig, RIG_EXIT);
		rig_compare(rig, "return of nothing");
		begin(rig, &subjects[s]);
		rig_add(rig, RIG_MOV(6, 1));
		rig_add(rig, rig_insn(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0));
		rig_add(rig, RIG_MOV_IMM(0, 1));
		rig_add(rig, RIG_EXIT);
		rig_compare(rig, "load of the packet's first word");
	}
}

/* --- loads
 * ------------------------------------------------------------------------------------------ */

static void try_loads(struct rig *rig)
{
	static const char *const licenses[] = {
		"GPL", "GPL v2", "gpl", "Dual MIT/GPL", "none", ""
	};

	for (uint32_t type = 0; type < 40; type++) {
		for (uint32_t attach = 0; attach < 72; attach++) {
			rig_start(rig, type, attach);
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
			rig_compare(rig, "load");
		}
		for (uint32_t bit = 0; bit < 32; bit++) {
			rig_start(rig, type, 0);
			rig->image.prog_flags = 1u << bit;
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
			rig_compare(rig, "load with flags 0x%x", rig->image.prog_flags);
		}
		for (size_t i = 0; i < sizeof(licenses) / sizeof(licenses[0]); i++) {
			rig_start(rig, type, 0);
			rig->image.license = (char *)(uintptr_t)licenses[i];
			rig_add(rig, RIG_MOV_IMM(1, 0));
			rig_add(rig, RIG_MOV_IMM(2, 0));
			rig_add(rig, RIG_CALL(BPF_FUNC_probe_read_kernel));
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
			rig_compare(rig, "licence %s", licenses[i]);
		}
		rig->image.license = (char *)(uintptr_t) "GPL";
	}
}

static const struct {
	const char *name;
	void (*run)(struct rig *rig);
} parts[] = {
	{ "loads", try_loads }, { "returns", try_returns }, { "helpers", try_helpers },
	{ "ctx", try_ctx },	{ "sockets", try_sockets },
};

static int run_parts(struct rig *rig, char **names, bool drop)
{
	uint32_t differ = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		bool is_wanted = !*names;

		for (char **name = names; *name; name++)
			is_wanted = is_wanted || !strcmp(*name, parts[i].name);
		if (!is_wanted)
			continue;
		rig->same = rig->differ = rig->not_judged = 0;
		if (rig_init(rig, NULL, 0))
			return 1;
		if (drop && !rig_drop_privileges())
			return 1;
		parts[i].run(rig);
		printf("%s: %u same, %u different, %u not judged\n", parts[i].name, rig->same,
		       rig->differ, rig->not_judged);
		differ += rig->differ;
		rig_finish(rig);
	}
	return differ ? 1 : 0;
}

/* Sockets come from types that only the privileged can load. */
static int run_unprivileged(struct rig *rig, int index)
{
	static const struct subject ordinary[] = {
		{ BPF_PROG_TYPE_SOCKET_FILTER, 0, 192, false },
		{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 192, false },
		{ BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 192, false },
		{ BPF_PROG_TYPE_XDP, 0, 0, false }, /* refused */
	};
	static char *names[] = { (char *)(uintptr_t) "returns", (char *)(uintptr_t) "helpers",
				 (char *)(uintptr_t) "ctx", NULL };

	(void)index;
	subjects = ordinary;
	subject_cnt = sizeof(ordinary) / sizeof(ordinary[0]);
	return run_parts(rig, names, true);
}

int main(int argc, char **argv)
{
	static struct rig rig;
	struct loupe_error err;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	if (argc > 1 && !strcmp(argv[1], "--unprivileged"))
		return rig_run_unprivileged(&rig, 1, run_unprivileged);
	return run_parts(&rig, argv + 1, false);
}
