// SPDX-License-Identifier: GPL-2.0-only
/* Two ways meet with another length each; the length bounds a helper's access, so it is precise,
 * and the second way must be walked again. */
#include "sample.h"

SEC("xdp")
int precise_scalar(struct xdp_md *ctx)
{
	char header[16] = {};
	__u64 length;

	if (ctx->rx_queue_index > 3) {
		count(0);
		length = 8;
	} else {
		count(1);
		length = 16;
	}
	keep(length);
	count(2); /* same place, other length: no pruning here */
	bpf_xdp_load_bytes(ctx, 0, header, length);
	return header[0] ? XDP_PASS : XDP_DROP;
}
