// SPDX-License-Identifier: GPL-2.0-only
/* Bytes as a table of calls: what is read has sane numbers, what is not has a reason. */
#include <assert.h>
#include <linux/audit.h>
#include <math.h>

#include "bpfloupe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_weights weights;
	struct loupe_error err = { 0 };

	if (loupe_weights_load("fuzz", data, size, AUDIT_ARCH_X86_64, &weights, &err)) {
		assert(err.message[0] && !weights.rows && !weights.cnt);
		return 0;
	}
	assert(weights.cnt);
	for (uint32_t i = 0; i < weights.cnt; i++)
		assert(weights.rows[i].weight >= 0 && isfinite(weights.rows[i].weight));
	loupe_weights_finish(&weights);
	return 0;
}
