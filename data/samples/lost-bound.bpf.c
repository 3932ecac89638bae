// SPDX-License-Identifier: GPL-2.0-only
/* The packet's length is checked before the pointer moves on by a number from the packet: the bound
 * is lost, and the access behind it is rejected. */
#include "sample.h"

SEC("xdp")
int lost_bound(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 options;

	if (data + 34 > end)
		return XDP_DROP;
	options = (data[14] & 15) * 4;
	keep(options);
	data += options; /* from here on nobody knows where data points */
	return data[20] ? XDP_PASS : XDP_DROP;
}
