// SPDX-License-Identifier: GPL-2.0-only
/* A loop that the verifier walks turn by turn: every turn is another state until the counter ends it. */
#include "sample.h"

SEC("xdp")
int bounded_loop(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 sum = 0;

	if (data + 20 > end)
		return XDP_DROP;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 20; i++) {
		keep(sum);
		sum += data[i];
	}
	return sum & 1 ? XDP_PASS : XDP_DROP;
}
