/* SPDX-License-Identifier: GPL-2.0-only */
/* What the samples share. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Keeps the compiler from computing a value ahead or turning a branch into arithmetic. */
#define keep(value) asm volatile("" : "+r"(value))

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

char LICENSE[] SEC("license") = "GPL";

#endif
