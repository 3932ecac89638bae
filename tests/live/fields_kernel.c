// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: fields_kernel
 * Maps whose values hold locks, timers and work queues, and maps that belong to sockets, tasks,
 * inodes and cgroups, against the running kernel: which programs may have them, which bytes they
 * may touch, and how the helpers for such fields may be called.
 */
#include "rig.h"

/* --- BTF
 * --------------------------------------------------------------------------------------------- */

/* Kinds as the format numbers them. */
enum { INT = 1, ARRAY = 3, STRUCT = 4 };

struct btf_writer {
	uint8_t types[1024];
	uint32_t types_len;
	char strings[512];
	uint32_t strings_len;
	uint32_t cnt; /* types so far */
};

static uint32_t add_string(struct btf_writer *w, const char *s)
{
	uint32_t at = w->strings_len;

	memcpy(w->strings + at, s, strlen(s) + 1);
	w->strings_len += (uint32_t)strlen(s) + 1;
	return at;
}

static void add_words(struct btf_writer *w, const uint32_t *words, uint32_t cnt)
{
	memcpy(w->types + w->types_len, words, cnt * sizeof(*words));
	w->types_len += cnt * (uint32_t)sizeof(*words);
}

static uint32_t add_type(struct btf_writer *w, const char *name, uint32_t kind, uint32_t vlen,
			 uint32_t size)
{
	const uint32_t words[] = { *name ? add_string(w, name) : 0, kind << 24 | vlen, size };

	add_words(w, words, 3);
	return ++w->cnt;
}

static uint32_t add_int(struct btf_writer *w, const char *name, uint32_t size)
{
	const uint32_t bits = size * 8;
	uint32_t id = add_type(w, name, INT, 0, size);

	add_words(w, &bits, 1);
	return id;
}

static uint32_t add_array(struct btf_writer *w, uint32_t of, uint32_t index, uint32_t cnt)
{
	const uint32_t words[] = { of, index, cnt };
	uint32_t id = add_type(w, "", ARRAY, 0, 0);

	add_words(w, words, 3);
	return id;
}

static void add_member(struct btf_writer *w, const char *name, uint32_t type, uint32_t off)
{
	const uint32_t words[] = { add_string(w, name), type, off * 8 };

	add_words(w, words, 3);
}

static uint32_t finish_btf(const struct btf_writer *w, uint8_t *out)
{
	const uint32_t header[] = { 0x0001eb9f, 24, 0, w->types_len, w->types_len, w->strings_len };

	memcpy(out, header, sizeof(header));
	memcpy(out + sizeof(header), w->types, w->types_len);
	memcpy(out + sizeof(header) + w->types_len, w->strings, w->strings_len);
	return (uint32_t)sizeof(header) + w->types_len + w->strings_len;
}

/* --- maps
 * ------------------------------------------------------------------------------------------- */

enum { VALUE_SIZE = 40, FIELD_OFF = 8 };

enum map_name {
	PLAIN,
	LOCK,
	OTHER_LOCK,
	TIMER,
	WORK,
	RES_LOCK,
	SOCK_STORAGE,
	SOCK_LOCK,
	TASK_STORAGE,
	INODE_STORAGE,
	CGROUP_STORAGE,
	MAPS
};

static struct loupe_map maps[MAPS] = {
	[PLAIN] = { .name = "plain", .type = BPF_MAP_TYPE_HASH },
	[LOCK] = { .name = "lock", .type = BPF_MAP_TYPE_HASH },
	[OTHER_LOCK] = { .name = "other_lock", .type = BPF_MAP_TYPE_ARRAY },
	[TIMER] = { .name = "timer", .type = BPF_MAP_TYPE_ARRAY },
	[WORK] = { .name = "work", .type = BPF_MAP_TYPE_ARRAY },
	[RES_LOCK] = { .name = "res_lock", .type = BPF_MAP_TYPE_ARRAY },
	[SOCK_STORAGE] = { .name = "sock_storage", .type = BPF_MAP_TYPE_SK_STORAGE },
	[SOCK_LOCK] = { .name = "sock_lock", .type = BPF_MAP_TYPE_SK_STORAGE },
	[TASK_STORAGE] = { .name = "task_storage", .type = BPF_MAP_TYPE_TASK_STORAGE },
	[INODE_STORAGE] = { .name = "inode_storage", .type = BPF_MAP_TYPE_INODE_STORAGE },
	[CGROUP_STORAGE] = { .name = "cgroup_storage", .type = BPF_MAP_TYPE_CGRP_STORAGE },
};

/* struct NAME_value { u64 before; struct NAME field; u32 after[]; } */
static uint32_t add_value(struct btf_writer *w, const char *name, uint32_t field,
			  uint32_t field_size, uint32_t u64_id, uint32_t u32_id, uint32_t index)
{
	uint32_t rest = (VALUE_SIZE - FIELD_OFF - field_size) / 4;
	uint32_t after = add_array(w, u32_id, index, rest);
	uint32_t id = add_type(w, name, STRUCT, 3, VALUE_SIZE);

	add_member(w, "before", u64_id, 0);
	add_member(w, "field", field, FIELD_OFF);
	add_member(w, "after", after, FIELD_OFF + field_size);
	return id;
}

static uint32_t make_maps(uint8_t *btf)
{
	static struct btf_writer w;
	uint32_t u32_id, u64_id, pair, lock, timer, work, res_lock, plain;

	w.strings_len = 1; /* the empty string */
	u32_id = add_int(&w, "unsigned int", 4);
	u64_id = add_int(&w, "unsigned long", 8);
	pair = add_array(&w, u64_id, u32_id, 2);
	lock = add_type(&w, "bpf_spin_lock", STRUCT, 1, 4);
	add_member(&w, "val", u32_id, 0);
	res_lock = add_type(&w, "bpf_res_spin_lock", STRUCT, 1, 4);
	add_member(&w, "val", u32_id, 0);
	timer = add_type(&w, "bpf_timer", STRUCT, 1, 16);
	add_member(&w, "opaque", pair, 0);
	work = add_type(&w, "bpf_wq", STRUCT, 1, 16);
	add_member(&w, "opaque", pair, 0);
	plain = add_value(&w, "plain_value", u32_id, 4, u64_id, u32_id, u32_id);
	lock = add_value(&w, "lock_value", lock, 4, u64_id, u32_id, u32_id);
	timer = add_value(&w, "timer_value", timer, 16, u64_id, u32_id, u32_id);
	work = add_value(&w, "work_value", work, 16, u64_id, u32_id, u32_id);
	res_lock = add_value(&w, "res_lock_value", res_lock, 4, u64_id, u32_id, u32_id);
	for (int i = 0; i < MAPS; i++) {
		bool storage = i >= SOCK_STORAGE;

		maps[i].key_size = 4;
		maps[i].value_size = VALUE_SIZE;
		maps[i].max_entries = storage ? 0 : 1;
		maps[i].map_flags = storage ? BPF_F_NO_PREALLOC : 0;
		maps[i].inner_map_fd = -1;
		maps[i].btf_key_type_id = u32_id;
		maps[i].btf_value_type_id = i == LOCK || i == OTHER_LOCK || i == SOCK_LOCK ? lock
					    : i == TIMER				   ? timer
					    : i == WORK					   ? work
					    : i == RES_LOCK ? res_lock
							    : plain;
	}
	return finish_btf(&w, btf);
}

/* --- programs
 * ---------------------------------------------------------------------------------------- */

static const struct subject {
	uint32_t type, attach;
	int sock; /* offset of a socket in the context, -1 */
	bool sleepable;
} subjects[] = {
	{ BPF_PROG_TYPE_SOCKET_FILTER, 0, 168, false },
	{ BPF_PROG_TYPE_SCHED_CLS, 0, 168, false },
	{ BPF_PROG_TYPE_XDP, 0, -1, false },
	{ BPF_PROG_TYPE_CGROUP_SKB, 0, 168, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, -1, false },
	{ BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 64, false },
	{ BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, -1, false },
	{ BPF_PROG_TYPE_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL, -1, false },
	{ BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, 0, false },
	{ BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, 184, false },
	{ BPF_PROG_TYPE_SK_SKB, 0, 168, false },
	{ BPF_PROG_TYPE_SK_MSG, 0, 72, false },
	{ BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, 0, false },
	{ BPF_PROG_TYPE_SK_REUSEPORT, 0, 40, false },
	{ BPF_PROG_TYPE_FLOW_DISSECTOR, 0, -1, false },
	{ BPF_PROG_TYPE_LWT_XMIT, 0, 168, false },
	{ BPF_PROG_TYPE_KPROBE, 0, -1, false },
	{ BPF_PROG_TYPE_KPROBE, 0, -1, true },
	{ BPF_PROG_TYPE_TRACEPOINT, 0, -1, false },
	{ BPF_PROG_TYPE_RAW_TRACEPOINT, 0, -1, false },
	{ BPF_PROG_TYPE_PERF_EVENT, 0, -1, false },
	{ BPF_PROG_TYPE_SYSCALL, 0, -1, true },
	{ BPF_PROG_TYPE_NETFILTER, BPF_NETFILTER, -1, false },
};

enum { R_CTX = BPF_REG_6, R_VALUE = BPF_REG_7, R_OTHER = BPF_REG_8 };

static void start(struct rig *rig, const struct subject *subject)
{
	rig_start(rig, subject->type, subject->attach);
	rig->image.prog_flags = subject->sleepable ? BPF_F_SLEEPABLE : 0;
	rig_add(rig, RIG_MOV(R_CTX, 1));
	rig_add(rig, RIG_STORE_IMM(BPF_DW, BPF_REG_10, -8, 0));
}

static void finish(struct rig *rig)
{
	rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
}

/* Looks key 0 up; leaves the program if there is none. */
static void add_lookup(struct rig *rig, int reg, uint32_t map)
{
	rig_add_map(rig, BPF_REG_1, map, false, 0);
	rig_add(rig, RIG_MOV(BPF_REG_2, BPF_REG_10));
	rig_add(rig, RIG_ADD_IMM(BPF_REG_2, -8));
	rig_add(rig, RIG_CALL(BPF_FUNC_map_lookup_elem));
	rig_add(rig, RIG_JMP_IMM(BPF_JNE, 0, 0, 2));
	finish(rig);
	rig_add(rig, RIG_MOV(reg, 0));
}

static void add_field_call(struct rig *rig, int reg, int off, int func)
{
	rig_add(rig, RIG_MOV(BPF_REG_1, reg));
	if (off)
		rig_add(rig, RIG_ADD_IMM(BPF_REG_1, off));
	rig_add(rig, RIG_CALL(func));
}

static void try_mention(struct rig *rig, const struct subject *subject, uint32_t map)
{
	start(rig, subject);
	rig_add_map(rig, BPF_REG_1, map, false, 0);
	finish(rig);
	rig_compare(rig, "mention of map %s", maps[map].name);
	if (map < SOCK_STORAGE && maps[map].type == BPF_MAP_TYPE_ARRAY) {
		start(rig, subject);
		rig_add_map(rig, BPF_REG_1, map, true, 4);
		finish(rig);
		rig_compare(rig, "address in map %s", maps[map].name);
	}
}

static void try_bytes(struct rig *rig, const struct subject *subject, uint32_t map)
{
	static const int sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

	for (int i = 0; i < 4; i++) {
		for (int off = 0; off < VALUE_SIZE + 4; off++) {
			for (int write = 0; write < 2; write++) {
				start(rig, subject);
				add_lookup(rig, R_VALUE, map);
				rig_add(rig, write ? RIG_STORE_IMM(sizes[i], R_VALUE, off, 1)
						   : RIG_LOAD(sizes[i], 1, R_VALUE, off));
				finish(rig);
				rig_compare(rig, "%s at %d of map %s, size code %d",
					    write ? "write" : "read", off, maps[map].name,
					    sizes[i]);
			}
		}
	}
	/* a helper that writes over the field */
	start(rig, subject);
	add_lookup(rig, R_VALUE, map);
	rig_add(rig, RIG_MOV(BPF_REG_1, R_VALUE));
	rig_add(rig, RIG_MOV_IMM(BPF_REG_2, VALUE_SIZE));
	rig_add(rig, RIG_MOV_IMM(BPF_REG_3, 0));
	rig_add(rig, RIG_CALL(BPF_FUNC_probe_read_kernel));
	finish(rig);
	rig_compare(rig, "helper's write over map %s", maps[map].name);
}

/* Calls of the helpers for fields with each map and at each offset. */
static void try_helpers(struct rig *rig, const struct subject *subject, uint32_t map)
{
	static const int funcs[] = { BPF_FUNC_spin_lock,   BPF_FUNC_spin_unlock,
				     BPF_FUNC_timer_init,  BPF_FUNC_timer_set_callback,
				     BPF_FUNC_timer_start, BPF_FUNC_timer_cancel,
				     BPF_FUNC_kptr_xchg };

	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		for (int off = -4; off < 20; off += 4) {
			for (uint32_t other = 0; other < SOCK_STORAGE; other++) {
				start(rig, subject);
				add_lookup(rig, R_VALUE, map);
				rig_add_map(rig, BPF_REG_2, other, false, 0);
				rig_add(rig, RIG_MOV_IMM(BPF_REG_3, 0));
				add_field_call(rig, R_VALUE, off, funcs[i]);
				finish(rig);
				rig_compare(rig, "helper %d at %d of map %s, map %s", funcs[i], off,
					    maps[map].name, maps[other].name);
			}
		}
		start(rig, subject);
		add_lookup(rig, R_VALUE, map);
		rig_add(rig, RIG_CALL(BPF_FUNC_get_prandom_u32));
		rig_add(rig, rig_insn(BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, 8));
		rig_add(rig, rig_insn(BPF_ALU64 | BPF_ADD | BPF_X, R_VALUE, 0, 0, 0));
		add_field_call(rig, R_VALUE, 0, funcs[i]);
		finish(rig);
		rig_compare(rig, "helper %d somewhere in map %s", funcs[i], maps[map].name);
	}
}

/* What may be done while a lock is held; each step is a letter. */
static void add_steps(struct rig *rig, const char *steps)
{
	for (; *steps; steps++) {
		switch (*steps) {
		case 'l':
			add_field_call(rig, R_VALUE, FIELD_OFF, BPF_FUNC_spin_lock);
			break;
		case 'u':
			add_field_call(rig, R_VALUE, FIELD_OFF, BPF_FUNC_spin_unlock);
			break;
		case 'L':
			add_field_call(rig, R_OTHER, FIELD_OFF, BPF_FUNC_spin_lock);
			break;
		case 'U':
			add_field_call(rig, R_OTHER, FIELD_OFF, BPF_FUNC_spin_unlock);
			break;
		case 'w':
			rig_add(rig, RIG_STORE_IMM(BPF_W, R_VALUE, 16, 1));
			break;
		case 'c':
			rig_add(rig, RIG_CALL(BPF_FUNC_ktime_get_ns));
			break;
		case 'k':
			add_lookup(rig, R_VALUE, LOCK);
			break;
		case 'j':
			rig_add(rig, RIG_JMP_IMM(BPF_JEQ, 0, 3, 1));
			rig_add(rig, RIG_MOV_IMM(0, 3));
			break;
		case 't':
			rig_add(rig, RIG_MOV(BPF_REG_1, R_CTX));
			rig_add_map(rig, BPF_REG_2, LOCK, false, 0);
			rig_add(rig, RIG_MOV_IMM(BPF_REG_3, 0));
			rig_add(rig, RIG_CALL(BPF_FUNC_tail_call));
			break;
		default:
			break;
		}
	}
}

static void try_locks(struct rig *rig, const struct subject *subject)
{
	static const char *const steps[] = { "lu",   "lwu", "l",    "u",    "ll",  "luu",  "lcu",
					     "lLUu", "lU",  "LuU",  "luLU", "lku", "lkul", "lju",
					     "ltu",  "lut", "lulu", "lwwu", "LwU", "lulLU" };
	static const uint32_t others[] = { LOCK, OTHER_LOCK, PLAIN, RES_LOCK };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
			start(rig, subject);
			add_lookup(rig, R_OTHER, others[k]);
			add_lookup(rig, R_VALUE, LOCK);
			add_steps(rig, steps[i]);
			finish(rig);
			rig_compare(rig, "locking %s, other map %s", steps[i],
				    maps[others[k]].name);
		}
	}
}

static void add_storage_args(struct rig *rig, const struct subject *subject, uint32_t map,
			     int owner)
{
	if (owner == 1)
		rig_add(rig, RIG_LOAD(BPF_DW, R_VALUE, R_CTX, subject->sock));
	rig_add_map(rig, BPF_REG_1, map, false, 0);
	if (owner == 0)
		rig_add(rig, RIG_MOV(BPF_REG_2, R_CTX));
	else if (owner == 1)
		rig_add(rig, RIG_MOV(BPF_REG_2, R_VALUE));
	else if (owner == 2)
		rig_add(rig, RIG_MOV_IMM(BPF_REG_2, 0));
	else
		rig_add(rig, RIG_MOV(BPF_REG_2, BPF_REG_10));
}

static void try_storage(struct rig *rig, const struct subject *subject, uint32_t map)
{
	static const int funcs[] = { BPF_FUNC_sk_storage_get,	 BPF_FUNC_sk_storage_delete,
				     BPF_FUNC_task_storage_get,	 BPF_FUNC_task_storage_delete,
				     BPF_FUNC_cgrp_storage_get,	 BPF_FUNC_cgrp_storage_delete,
				     BPF_FUNC_inode_storage_get, BPF_FUNC_map_lookup_elem,
				     BPF_FUNC_map_update_elem,	 BPF_FUNC_kptr_xchg,
				     BPF_FUNC_for_each_map_elem };

	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		for (int owner = 0; owner < 4; owner++) {
			for (int initial = 0; initial < 2; initial++) {
				if (owner == 1 && subject->sock < 0)
					continue;
				start(rig, subject);
				add_storage_args(rig, subject, map, owner);
				if (owner == 1) {
					rig_add(rig, RIG_JMP_IMM(BPF_JNE, BPF_REG_2, 0, 2));
					finish(rig);
				}
				rig_add(rig, RIG_MOV_IMM(BPF_REG_3, 0));
				if (initial) {
					rig_add(rig, RIG_MOV(BPF_REG_3, BPF_REG_10));
					rig_add(rig, RIG_ADD_IMM(BPF_REG_3, -8));
				}
				rig_add(rig, RIG_MOV_IMM(BPF_REG_4, 1));
				rig_add(rig, RIG_CALL(funcs[i]));
				rig_add(rig, RIG_JMP_IMM(BPF_JEQ, 0, 0, 2));
				rig_add(rig, RIG_LOAD(BPF_W, 1, 0, 16));
				rig_add(rig, RIG_LOAD(BPF_W, 1, 0, FIELD_OFF));
				finish(rig);
				rig_compare(rig, "helper %d of map %s, owner %d", funcs[i],
					    maps[map].name, owner);
			}
		}
	}
}

int main(void)
{
	static uint8_t btf[2048];
	static struct rig rig;
	struct loupe_error err;
	uint32_t btf_size;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	btf_size = make_maps(btf);
	for (size_t s = 0; s < sizeof(subjects) / sizeof(subjects[0]); s++) {
		if (rig_init_btf(&rig, maps, MAPS, btf, btf_size))
			return 1;
		for (uint32_t map = 0; map < MAPS; map++) {
			try_mention(&rig, &subjects[s], map);
			if (map < SOCK_STORAGE && s < 3)
				try_bytes(&rig, &subjects[s], map);
			if (map < SOCK_STORAGE)
				try_helpers(&rig, &subjects[s], map);
			if (map >= SOCK_STORAGE)
				try_storage(&rig, &subjects[s], map);
		}
		try_locks(&rig, &subjects[s]);
		rig_finish(&rig);
	}
	printf("%u same, %u different, %u not judged; %u accepted\n", rig.same, rig.differ,
	       rig.not_judged, rig.accepted);
	return rig.differ ? 1 : 0;
}
