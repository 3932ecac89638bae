/* SPDX-License-Identifier: GPL-2.0-only */
/* Helper functions: prototypes, who may call them, what they do with maps. */
#ifndef LOUPE_VERIFIER_HELPER_H
#define LOUPE_VERIFIER_HELPER_H

#include "verifier/call.h"

/* What a helper returns; flags of enum loupe_type_flag may be or-ed. */
enum vf_ret_type {
	RET_INTEGER,
	RET_VOID,
	RET_PTR_TO_MAP_VALUE,
	RET_PTR_TO_SOCKET,
	RET_PTR_TO_TCP_SOCK,
	RET_PTR_TO_SOCK_COMMON,
	RET_PTR_TO_MEM,
	RET_PTR_TO_MEM_OR_BTF_ID,
	RET_PTR_TO_BTF_ID,
};

enum vf_proto_flag {
	GPL = 1 << 0,	   /* only for GPL-compatible programs */
	PKT = 1 << 1,	   /* takes pointers into the packet */
	SLEEP = 1 << 2,	   /* may sleep */
	FASTCALL = 1 << 3, /* keeps R1-R5 that it does not use, if the JIT inlines it */
	CHANGES = 1 << 4,  /* moves the packet: pointers into it become useless */
	DENIED = 1 << 5,   /* its own rule lets only other programs call it */
};

struct vf_proto {
	uint32_t ret;
	uint32_t flags;
	uint32_t arg[5];
	uint16_t size[5]; /* of fixed-size memory arguments, bytes */
};

enum { VF_HELPER_CNT = 212 }; /* helpers of 6.18, number 0 is none */

/* Fills env->helpers for the program's type and rights. */
int vf_helpers_init(struct vf_env *env);

/* NULL: this program cannot use it, or there is no such helper. */
static inline const struct vf_proto *vf_helper_proto(const struct vf_env *env, int32_t func_id)
{
	return func_id >= 0 && func_id < VF_HELPER_CNT ? env->helpers[func_id] : NULL;
}

/* The program type's helpers and context are modelled; 0 or VF_NOT_JUDGED. */
int vf_check_modelled(struct vf_env *env);
/* helperargs.c: one argument, i from 0. */
int vf_check_helper_arg(struct vf_env *env, uint32_t i, const struct vf_proto *proto,
			struct vf_call_meta *meta);
/* format.c: the format string of bpf_snprintf() fits its arguments. */
int vf_check_snprintf(struct vf_env *env);
/* mapfuncs.c: the map may be passed to the helper. map: index, -1 none. */
int vf_check_map_func(struct vf_env *env, int32_t map, int32_t func_id);
/* callback.c: pushes the callback that the helper will run. */
int vf_push_helper_callback(struct vf_env *env, const struct loupe_insn *insn, int32_t insn_idx,
			    const struct vf_call_meta *meta);

static inline const char *vf_func_name(int32_t func_id)
{
	const char *loupe_helper_name(uint32_t id);
	const char *name = func_id >= 0 ? loupe_helper_name((uint32_t)func_id) : NULL;

	return name ? name : "unknown";
}

/*
 * Looking up with a known key below the number of entries never fails. An inner map may have fewer
 * entries than its template if it is created so.
 */
static inline bool vf_map_always_has_key(const struct loupe_map *map)
{
	return (map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY) &&
	       !(map->map_flags & BPF_F_INNER_MAP);
}

#endif
