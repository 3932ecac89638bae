// SPDX-License-Identifier: GPL-2.0-only
/* Many ways meet, each with another precise length: the checkpoint there never prunes anything,
 * and after four misses without a hit it is evicted. */
#include "sample.h"

SEC("xdp")
int evicted_checkpoint(struct xdp_md *ctx)
{
	__u32 queue = ctx->rx_queue_index;
	char header[64] = {};
	__u64 length = 64;

	if (queue == 1) {
		count(0);
		length = 8;
	} else if (queue == 2) {
		count(0);
		length = 16;
	} else if (queue == 3) {
		count(0);
		length = 24;
	} else if (queue == 4) {
		count(0);
		length = 32;
	} else if (queue == 5) {
		count(0);
		length = 40;
	} else if (queue == 6) {
		count(0);
		length = 48;
	} else if (queue == 7) {
		count(0);
		length = 56;
	}
	keep(length);
	count(1);
	bpf_xdp_load_bytes(ctx, 0, header, length);
	return header[0] ? XDP_PASS : XDP_DROP;
}
