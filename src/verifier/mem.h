/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of memory accesses that insns and helper arguments share. */
#ifndef LOUPE_VERIFIER_MEM_H
#define LOUPE_VERIFIER_MEM_H

#include "verifier/range.h"
#include "verifier/vf.h"

enum { VF_MAX_VAR_SIZE = 1 << 29 }; /* largest size argument of a helper */

/* What is learnt about a helper call from its arguments. */
struct vf_call_meta {
	int32_t func_id;
	int32_t map;		  /* the map argument: index into env->maps, -1 none */
	uint32_t map_uid;
	bool raw_mode;		  /* the argument in check is filled by the helper */
	bool pkt_access;	  /* the helper takes pointers into the packet */
	uint8_t release_regno;	  /* argument that is released, 0 none */
	int32_t regno;		  /* stack argument that the helper fills */
	int32_t access_size;	  /* and how many bytes, -1: none yet */
	uint32_t mem_size;	  /* size of memory that the call returns */
	uint64_t msize_max_value; /* largest size argument */
	uint32_t ref_obj_id;
	uint32_t subprogno;	  /* callback */
	int64_t const_map_key;	  /* constant key of the lookup, -1 unknown */
};

/* "(0xVALUE; 0xMASK)", or the constant, as messages print a tnum; returns buf. */
const char *vf_tnum_str(char buf[48], struct loupe_tnum t);

/* The pointer must be as it was given out: no variable offset, and no fixed one unless allowed. */
int vf_check_ptr_off(struct vf_env *env, const struct loupe_reg *reg, uint32_t regno,
		     bool fixed_off_ok);
/* [off + variable part, + size) lies in mem_size bytes. */
int vf_check_mem_region(struct vf_env *env, uint32_t regno, int off, int size, uint32_t mem_size,
			bool zero_size_ok);
int vf_check_map_access_type(struct vf_env *env, uint32_t regno, int off, int size,
			     enum vf_access t);
int vf_check_map_access(struct vf_env *env, uint32_t regno, int off, int size, bool zero_size_ok);
int vf_check_packet_access(struct vf_env *env, uint32_t regno, int off, int size,
			   bool zero_size_ok);
/* ctx.c: a read of size bytes at off in the socket that regno points to. */
int vf_check_sock_access(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size);
/* mapfuncs.c: an access at off in the structure behind the map pointer regno. */
int vf_check_map_ptr_access(struct vf_env *env, uint32_t regno, int off, int size,
			    enum vf_access t, int value_regno);
/* The program type may touch packets; meta: through a helper's argument, NULL: directly. */
bool vf_may_access_packet(struct vf_env *env, const struct vf_call_meta *meta, enum vf_access t);
/* A stack access by insn or helper lies in the frame; grows the stack to it. */
int vf_stack_within_bounds(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t);
/* A helper reads, or will fill, bytes of the stack through regno. meta may be NULL. */
int vf_stack_range_initialized(struct vf_env *env, uint32_t regno, int off, int access_size,
			       bool zero_size_ok, enum vf_access t, struct vf_call_meta *meta);
/* A helper touches access_size bytes through regno. */
int vf_check_helper_mem(struct vf_env *env, uint32_t regno, int access_size, enum vf_access t,
			bool zero_size_ok, struct vf_call_meta *meta);
/* The same for memory of fixed size that must be aligned to it. */
int vf_check_aligned_mem(struct vf_env *env, uint32_t regno, int size, enum vf_access t,
			 struct vf_call_meta *meta);
/* regno holds the size of what regno - 1 points to. */
int vf_check_mem_size_reg(struct vf_env *env, uint32_t regno, enum vf_access t, bool zero_size_ok,
			  struct vf_call_meta *meta);
/* Remembers the pointer type that the insn works on; two paths must agree. */
int vf_save_ptr_type(struct vf_env *env, uint32_t type, bool allow_trust_mismatch);

static inline bool vf_type_is_sk(uint32_t type)
{
	return type == PTR_TO_SOCKET || type == PTR_TO_SOCK_COMMON || type == PTR_TO_TCP_SOCK ||
	       type == PTR_TO_XDP_SOCK;
}

#endif
