/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of expected attach types, as the tables of helpers and contexts name them. */
#ifndef LOUPE_VERIFIER_ATTACH_H
#define LOUPE_VERIFIER_ATTACH_H

#include "verifier/vf.h"

/* Bit 63 stands for every attach type from 63 on. */
#define AT(type) (1ull << BPF_##type)
#define ANY	 UINT64_MAX

static inline bool vf_attach_in(const struct vf_env *env, uint64_t set)
{
	uint32_t type = env->expected_attach_type;

	return set >> (type < 63 ? type : 63) & 1;
}

#endif
