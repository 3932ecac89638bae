// SPDX-License-Identifier: GPL-2.0-only
/* The same work unrolled and through bpf_loop(): the unrolled form is walked copy by copy, the
 * callback converges after a few turns. */
#include "sample.h"

enum { BYTES = 48 };

SEC("xdp")
int unrolled(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 odd = 0, even = 0;

	if (data + BYTES > end)
		return XDP_DROP;
#pragma clang loop unroll(full)
	for (int i = 0; i < BYTES; i++) {
		if (data[i] & 1) {
			odd += data[i];
			keep(odd);
		} else {
			even += data[i];
			keep(even);
		}
	}
	return odd > even ? XDP_PASS : XDP_DROP;
}

struct walk {
	struct xdp_md *ctx;
	__u64 odd, even;
};

static int add_byte(__u32 index, void *arg)
{
	struct walk *walk = arg;
	__u8 byte;

	if (bpf_xdp_load_bytes(walk->ctx, index, &byte, sizeof(byte)))
		return 1;
	if (byte & 1)
		walk->odd += byte;
	else
		walk->even += byte;
	return 0;
}

SEC("xdp")
int looped(struct xdp_md *ctx)
{
	struct walk walk = { .ctx = ctx };

	bpf_loop(BYTES, add_byte, &walk, 0);
	return walk.odd > walk.even ? XDP_PASS : XDP_DROP;
}
