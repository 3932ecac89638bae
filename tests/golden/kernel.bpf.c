// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types of Linux 6.18 that golden programs name, in place of a kernel's BTF: the tests run
 * anywhere. kernel.btf is made of them by
 *
 *	clang --target=bpf -g -O2 -c kernel.bpf.c -o kernel.o
 *	llvm-objcopy --dump-section .BTF=kernel.btf kernel.o
 *
 * and is kept, so that nobody else needs a compiler for BPF.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long size_t;
typedef unsigned int gfp_t;

enum bpf_map_type { BPF_MAP_TYPE_UNSPEC, BPF_MAP_TYPE_HASH, BPF_MAP_TYPE_ARRAY };

struct pt_regs;
struct task_struct;

union tmigr_state {
	u32 state;
	struct {
		u8 active;
		u8 migrator;
		u16 seq;
	};
};
struct tmigr_group;

typedef int (*initcall_t)(void);

/* Tracepoints: their own data, then the arguments. */
typedef void (*btf_trace_cpu_frequency)(void *, unsigned int, unsigned int);
typedef void (*btf_trace_initcall_start)(void *, initcall_t);
typedef void (*btf_trace_kmalloc)(void *, unsigned long, const void *, size_t, size_t, gfp_t, int);
typedef void (*btf_trace_sys_enter)(void *, struct pt_regs *, long);
typedef void (*btf_trace_tmigr_group_set_cpu_inactive)(void *, struct tmigr_group *,
						       union tmigr_state, u32);

/* Structures behind maps. Members that no program names are bytes. */
typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic64_t;

struct bpf_map {
	u8 sha[32];
	u32 excl;
	const struct bpf_map_ops *ops;
	struct bpf_map *inner_map_meta;
	void *security;
	enum bpf_map_type map_type;
	u32 key_size;
	u32 value_size;
	u32 max_entries;
	u64 map_extra;
	u32 map_flags;
	u32 id;
	void *record;
	int numa_node;
	u32 btf_key_type_id;
	u32 btf_value_type_id;
	u32 btf_vmlinux_value_type_id;
	void *btf;
	void *objcg;
	char name[16];
	u64 freeze_mutex[4];
	atomic64_t refcnt;
	atomic64_t usercnt;
	u64 work[4];
	atomic64_t writecnt;
	u64 owner_lock;
	void *owner;
	_Bool bypass_spec_v1;
	_Bool frozen;
	char init_private;
	_Bool free_after_mult_rcu_gp;
	_Bool free_after_rcu_gp;
	atomic64_t sleepable_refcnt;
	void *elem_count;
	u64 cookie;
	char *excl_prog_sha;
};

struct bpf_array {
	struct bpf_map map;
	u32 elem_size;
	u32 index_mask;
	void *aux;
	union {
		struct {
			struct {
			} __empty_value;
			char value[0];
		};
	};
};

struct bpf_htab {
	struct bpf_map map;
	u64 allocators[16];
	void *buckets;
	u64 elems[34];
	void *extra_elems;
	u64 pcount[5];
	atomic_t count;
	_Bool use_percpu_counter;
	u32 n_buckets;
	u32 elem_size;
	u32 hashrnd;
	u8 rest[56];
};

/* A function that programs may call, and one that they may not. */
#define KFUNC __attribute__((btf_decl_tag("bpf_kfunc")))
KFUNC void bpf_rcu_read_lock(void)
{
}

int vfs_open(void *path, void *file)
{
	return path != file;
}

/* What iterators attach to. */
struct bpf_iter_meta;
struct udp_sock;
struct sock_common;

int bpf_iter_bpf_map_elem(struct bpf_iter_meta *meta, struct bpf_map *map, void *key, void *value)
{
	return 0;
}

int bpf_iter_udp(struct bpf_iter_meta *meta, struct udp_sock *udp_sk, u32 uid, int bucket)
{
	return 0;
}

int bpf_iter_tcp(struct bpf_iter_meta *meta, struct sock_common *sk_common, u32 uid)
{
	return 0;
}

#define USE(type) type use_##type
USE(btf_trace_cpu_frequency);
USE(btf_trace_initcall_start);
USE(btf_trace_kmalloc);
USE(btf_trace_sys_enter);
USE(btf_trace_tmigr_group_set_cpu_inactive);
struct bpf_array use_bpf_array;
struct bpf_htab use_bpf_htab;

_Static_assert(sizeof(struct bpf_map) == 296, "bpf_map");
_Static_assert(sizeof(struct bpf_array) == 312, "bpf_array");
_Static_assert(sizeof(struct bpf_htab) == 832, "bpf_htab");
_Static_assert(__builtin_offsetof(struct bpf_htab, count) == 752, "bpf_htab");
