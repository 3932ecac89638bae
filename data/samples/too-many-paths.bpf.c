// SPDX-License-Identifier: GPL-2.0-only
/* Each bit of a number changes a length that must be known exactly, so that no checkpoint covers
 * another path: ways multiply at every branch until 1,000,000 instructions are processed. */
#include "sample.h"

SEC("xdp")
int too_many_paths(struct xdp_md *ctx)
{
	__u32 queue = ctx->rx_queue_index;
	char header[256] = {};
	__u64 length = 1;

#pragma clang loop unroll(full)
	for (int i = 0; i < 20; i++) {
		if (queue & 1U << i)
			length += i + 1;
		keep(length);
	}
	bpf_xdp_load_bytes(ctx, 0, header, length);
	return header[0] ? XDP_PASS : XDP_DROP;
}
