// SPDX-License-Identifier: GPL-2.0-only
#include "verifier/tnum.h"

struct loupe_tnum tnum_arshift(struct loupe_tnum t, uint32_t shift, uint32_t bits)
{
	/* An unknown sign bit spreads as unknown bits, a known one as known bits. */
	if (bits == 32)
		return (struct loupe_tnum){ .value = (uint32_t)((int32_t)t.value >> shift),
					    .mask = (uint32_t)((int32_t)t.mask >> shift) };
	return (struct loupe_tnum){ .value = (uint64_t)((int64_t)t.value >> shift),
				    .mask = (uint64_t)((int64_t)t.mask >> shift) };
}

struct loupe_tnum tnum_neg(struct loupe_tnum t)
{
	return tnum_sub(tnum_const(0), t);
}

struct loupe_tnum tnum_mul(struct loupe_tnum a, struct loupe_tnum b)
{
	struct loupe_tnum product = tnum_const(0);

	/* Long multiplication; an unknown digit of a may or may not add its row. */
	for (; a.value | a.mask; a = tnum_rshift(a, 1), b = tnum_lshift(b, 1)) {
		if (a.value & 1)
			product = tnum_add(product, b);
		else if (a.mask & 1)
			product = tnum_union(product, tnum_add(product, b));
	}
	return product;
}

