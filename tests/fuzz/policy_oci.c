// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_policy(data, size, LOUPE_POLICY_OCI);
}
