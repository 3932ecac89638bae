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
typedef unsigned long size_t;
typedef unsigned int gfp_t;

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

#define USE(type) type use_##type
USE(btf_trace_cpu_frequency);
USE(btf_trace_initcall_start);
USE(btf_trace_kmalloc);
USE(btf_trace_sys_enter);
USE(btf_trace_tmigr_group_set_cpu_inactive);
