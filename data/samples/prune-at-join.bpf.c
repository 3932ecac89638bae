// SPDX-License-Identifier: GPL-2.0-only
/* Two ways meet, and nothing that differs between them is used afterwards: the second is pruned. */
#include "sample.h"

SEC("xdp")
int prune_at_join(struct xdp_md *ctx)
{
	__u32 queue = ctx->rx_queue_index;

	if (queue > 3)
		count(0);
	else
		count(1);
	count(2); /* both ways come here with the same state */
	return XDP_PASS;
}
