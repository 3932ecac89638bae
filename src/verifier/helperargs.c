// SPDX-License-Identifier: GPL-2.0-only
/* Arguments of helper calls. */
#include "verifier/helper.h"

/* --- register types that an argument takes ---------------------------------------------------- */

enum { MAX_TYPES = 10 };

#define DYNPTR_FLAGS                                                                               \
	(DYNPTR_TYPE_LOCAL | DYNPTR_TYPE_RINGBUF | DYNPTR_TYPE_SKB | DYNPTR_TYPE_XDP |             \
	 DYNPTR_TYPE_SKB_META)

#define MEM_TYPES                                                                                  \
	PTR_TO_STACK, PTR_TO_PACKET, PTR_TO_PACKET_META, PTR_TO_MAP_KEY, PTR_TO_MAP_VALUE,         \
		PTR_TO_MEM, PTR_TO_MEM | MEM_RINGBUF, PTR_TO_BUF, PTR_TO_BTF_ID | PTR_TRUSTED
#define SOCK_TYPES PTR_TO_SOCK_COMMON, PTR_TO_SOCKET, PTR_TO_TCP_SOCK, PTR_TO_XDP_SOCK

/* In the order in which messages list them; the first unused entry is NOT_INIT. */
static const uint32_t compatible[ARG_TYPE_CNT][MAX_TYPES] = {
	[ARG_PTR_TO_MAP_KEY] = { MEM_TYPES },
	[ARG_PTR_TO_MAP_VALUE] = { MEM_TYPES },
	[ARG_PTR_TO_MEM] = { MEM_TYPES },
	[ARG_CONST_SIZE] = { SCALAR_VALUE },
	[ARG_CONST_SIZE_OR_ZERO] = { SCALAR_VALUE },
	[ARG_CONST_ALLOC_SIZE_OR_ZERO] = { SCALAR_VALUE },
	[ARG_CONST_MAP_PTR] = { CONST_PTR_TO_MAP },
	[ARG_PTR_TO_CTX] = { PTR_TO_CTX },
	[ARG_PTR_TO_SOCK_COMMON] = { SOCK_TYPES },
	[ARG_PTR_TO_BTF_ID_SOCK_COMMON] = { SOCK_TYPES, PTR_TO_BTF_ID,
					    PTR_TO_BTF_ID | PTR_TRUSTED },
	[ARG_PTR_TO_SOCKET] = { PTR_TO_SOCKET },
	[ARG_PTR_TO_BTF_ID] = { PTR_TO_BTF_ID, PTR_TO_BTF_ID | PTR_TRUSTED,
				PTR_TO_BTF_ID | MEM_RCU },
	[ARG_PTR_TO_SPIN_LOCK] = { PTR_TO_MAP_VALUE, PTR_TO_BTF_ID | MEM_ALLOC },
	[ARG_PTR_TO_RINGBUF_MEM] = { PTR_TO_MEM | MEM_RINGBUF },
	[ARG_PTR_TO_PERCPU_BTF_ID] = { PTR_TO_BTF_ID | MEM_PERCPU,
				       PTR_TO_BTF_ID | MEM_PERCPU | MEM_RCU,
				       PTR_TO_BTF_ID | MEM_PERCPU | PTR_TRUSTED },
	[ARG_PTR_TO_FUNC] = { PTR_TO_FUNC },
	[ARG_PTR_TO_STACK] = { PTR_TO_STACK },
	[ARG_PTR_TO_CONST_STR] = { PTR_TO_MAP_VALUE },
	[ARG_PTR_TO_TIMER] = { PTR_TO_MAP_VALUE },
	[ARG_KPTR_XCHG_DEST] = { PTR_TO_MAP_VALUE, PTR_TO_BTF_ID | MEM_ALLOC },
	[ARG_PTR_TO_DYNPTR] = { PTR_TO_STACK, CONST_PTR_TO_DYNPTR },
};

static int check_reg_type(struct vf_env *env, uint32_t regno, uint32_t arg_type)
{
	const uint32_t *types = compatible[loupe_base_type(arg_type)];
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	uint32_t type = reg->type;
	char buf[VF_TYPE_NAME];
	int cnt = 0;

	if (arg_type & MEM_RDONLY)
		type &= ~(uint32_t)MEM_RDONLY;
	if (arg_type & PTR_MAYBE_NULL)
		type &= ~(uint32_t)PTR_MAYBE_NULL;
	if (loupe_base_type(arg_type) == ARG_PTR_TO_MEM)
		type &= ~(uint32_t)DYNPTR_FLAGS;
	for (; cnt < MAX_TYPES && types[cnt] != NOT_INIT; cnt++) {
		if (type != types[cnt])
			continue;
		if (loupe_base_type(reg->type) == PTR_TO_BTF_ID)
			return vf_not_judged(env, "insn %d: argument R%u of a kernel type",
					     env->insn_idx, regno);
		return 0;
	}
	vf_msg(env, "R%u type=%s expected=", regno, vf_type_str(buf, reg->type));
	for (int i = 0; i < cnt; i++)
		vf_msg(env, "%s%s", vf_type_str(buf, types[i]), i + 1 < cnt ? ", " : "\n");
	return -EACCES;
}

int vf_check_arg_off(struct vf_env *env, const struct loupe_reg *reg, uint32_t regno,
		     uint32_t arg_type)
{
	if (arg_type & OBJ_RELEASE) {
		if (loupe_base_type(arg_type) == ARG_PTR_TO_DYNPTR && reg->type == PTR_TO_STACK)
			return 0;
		if (reg->off) {
			vf_msg(env,
			       "R%u must have zero offset when passed to release func or trusted arg to kfunc\n",
			       regno);
			return -EINVAL;
		}
		return vf_check_ptr_off(env, reg, regno, false);
	}
	switch (reg->type) {
	case PTR_TO_STACK:
	case PTR_TO_PACKET:
	case PTR_TO_PACKET_META:
	case PTR_TO_MAP_KEY:
	case PTR_TO_MAP_VALUE:
	case PTR_TO_MEM:
	case PTR_TO_MEM | MEM_RDONLY:
	case PTR_TO_MEM | MEM_RINGBUF:
	case PTR_TO_BUF:
	case PTR_TO_BUF | MEM_RDONLY:
	case PTR_TO_ARENA:
	case SCALAR_VALUE:
		return 0;
	case PTR_TO_BTF_ID:
	case PTR_TO_BTF_ID | MEM_ALLOC:
	case PTR_TO_BTF_ID | PTR_TRUSTED:
	case PTR_TO_BTF_ID | MEM_RCU:
	case PTR_TO_BTF_ID | MEM_ALLOC | NON_OWN_REF:
	case PTR_TO_BTF_ID | MEM_ALLOC | NON_OWN_REF | MEM_RCU:
		return vf_check_ptr_off(env, reg, regno, true);
	default:
		return vf_check_ptr_off(env, reg, regno, false);
	}
}

/* --- maps: keys, values, locks, timers, strings ----------------------------------------------- */

static int no_map(struct vf_env *env, const char *what)
{
	vf_msg(env, "invalid map_ptr to access map->%s\n", what);
	return -EACCES;
}

/* The argument's real type depends on the map. */
static int resolve_map_value(struct vf_env *env, const struct vf_call_meta *meta,
			     uint32_t *arg_type)
{
	if (meta->map < 0)
		return no_map(env, "type");
	switch (env->maps[meta->map].def->type) {
	case BPF_MAP_TYPE_SOCKMAP:
	case BPF_MAP_TYPE_SOCKHASH:
		if (*arg_type != ARG_PTR_TO_MAP_VALUE) {
			vf_msg(env, "invalid arg_type for sockmap/sockhash\n");
			return -EINVAL;
		}
		*arg_type = ARG_PTR_TO_BTF_ID_SOCK_COMMON;
		break;
	case BPF_MAP_TYPE_BLOOM_FILTER:
		if (meta->func_id == BPF_FUNC_map_peek_elem)
			*arg_type = ARG_PTR_TO_MAP_VALUE;
		break;
	default:
		break;
	}
	return 0;
}

/* The key when the stack is known to hold a constant one of its size, else -1 in *key. */
static int constant_key(struct vf_env *env, const struct loupe_reg *reg, int key_size, int64_t *key)
{
	const struct loupe_slot *slot;
	int at, byte, spi, zeros = 0, spills = 0, err;

	*key = -1;
	if (!env->bpf_capable || reg->type != PTR_TO_STACK || !tnum_is_const(reg->var_off))
		return 0;
	at = -(reg->off + (int)reg->var_off.value) - 1;
	spi = at / LOUPE_REG_SIZE;
	byte = at % LOUPE_REG_SIZE;
	slot = &vf_reg_frame(env, reg)->stack->slot[spi];
	for (int i = byte; i >= 0 && slot->type[i] == STACK_ZERO; i--)
		zeros++;
	if (zeros >= key_size) {
		*key = 0;
		return 0;
	}
	if (!vf_slot_is_spilled_scalar(slot))
		return 0;
	for (int i = byte; i >= 0 && slot->type[i] == STACK_SPILL; i--)
		spills++;
	if (spills != key_size || !tnum_is_const(slot->spilled.var_off))
		return 0;
	*key = (int64_t)slot->spilled.var_off.value;
	env->bt.stack_masks[reg->frameno] |= 1ull << spi;
	err = vf_backtrack_run(env, env->cur, NULL);
	return err;
}

static int check_map_key(struct vf_env *env, uint32_t regno, struct vf_call_meta *meta)
{
	const struct loupe_map *map;
	int err;

	if (meta->map < 0)
		return no_map(env, "key");
	map = env->maps[meta->map].def;
	err = vf_check_helper_mem(env, regno, (int)map->key_size, VF_READ, false, NULL);
	if (err || !vf_map_always_has_key(map))
		return err;
	return constant_key(env, &vf_cur_regs(env)[regno], (int)map->key_size,
			    &meta->const_map_key);
}

static int check_map_value(struct vf_env *env, uint32_t regno, uint32_t arg_type,
			   struct vf_call_meta *meta)
{
	if ((arg_type & PTR_MAYBE_NULL) && vf_reg_is_null(&vf_cur_regs(env)[regno]))
		return 0;
	if (meta->map < 0)
		return no_map(env, "value");
	meta->raw_mode = arg_type & MEM_UNINIT;
	return vf_check_helper_mem(env, regno, (int)env->maps[meta->map].def->value_size,
				   arg_type & MEM_WRITE ? VF_WRITE : VF_READ, false, meta);
}

static bool map_has_btf(const struct loupe_map *map)
{
	return map->btf_key_type_id || map->btf_value_type_id;
}

/* The register points at the map value's one field of that name. */
static int check_field_pointer(struct vf_env *env, uint32_t regno, const char *name,
			       int32_t field_off)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const struct loupe_map *map = env->maps[loupe_reg_map(reg)].def;
	int64_t off = (int64_t)reg->var_off.value + reg->off;

	if (!tnum_is_const(reg->var_off)) {
		vf_msg(env,
		       "R%u doesn't have constant offset. %s has to be at the constant offset\n",
		       regno, name);
		return -EINVAL;
	}
	if (!map_has_btf(map)) {
		vf_msg(env, "map '%s' has to have BTF in order to use %s\n", map->name, name);
		return -EINVAL;
	}
	if (field_off < 0) {
		vf_msg(env, "map '%s' has no valid %s\n", map->name, name);
		return -EINVAL;
	}
	if (field_off != off) {
		vf_msg(env, "off %lld doesn't point to 'struct %s' that is at %d\n", (long long)off,
		       name, field_off);
		return -EINVAL;
	}
	return 0;
}

static int check_timer(struct vf_env *env, uint32_t regno, struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err = check_field_pointer(env, regno, "bpf_timer",
				      env->maps[loupe_reg_map(reg)].timer_off);

	if (err)
		return err;
	meta->map = (int32_t)loupe_reg_map(reg);
	meta->map_uid = reg->map.uid;
	return 0;
}

static int check_spin_lock(struct vf_env *env, uint32_t regno, const struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	uint64_t ptr = reg->map.nr;
	struct loupe_state *st = env->cur;
	int err = check_field_pointer(env, regno, "bpf_spin_lock",
				      env->maps[loupe_reg_map(reg)].spin_lock_off);
	bool held = false;

	if (err)
		return err;
	if (meta->func_id == BPF_FUNC_spin_lock)
		return vf_lock_acquire(env, env->insn_idx, REF_TYPE_LOCK, reg->id, ptr);
	if (!st->active_locks) {
		vf_msg(env, "bpf_spin_unlock without taking a lock\n");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < st->ref_cnt; i++)
		held |= st->refs[i].type == REF_TYPE_LOCK && st->refs[i].id == reg->id &&
			st->refs[i].ptr == ptr;
	if (!held) {
		vf_msg(env, "bpf_spin_unlock of different lock\n");
		return -EINVAL;
	}
	if (reg->id != st->active_lock_id || ptr != st->active_lock_ptr) {
		vf_msg(env, "bpf_spin_unlock cannot be out of order\n");
		return -EINVAL;
	}
	return vf_lock_release(st, REF_TYPE_LOCK, reg->id, ptr);
}

/* A kernel pointer in a map's value; those need kernel types, their absence does not. */
static int check_kptr(struct vf_env *env, uint32_t regno)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const struct vf_map *map = &env->maps[loupe_reg_map(reg)];

	if (!map_has_btf(map->def)) {
		vf_msg(env, "map '%s' has to have BTF in order to use bpf_kptr_xchg\n",
		       map->def->name);
		return -EINVAL;
	}
	if (!tnum_is_const(reg->var_off)) {
		vf_msg(env,
		       "R%u doesn't have constant offset. kptr has to be at the constant offset\n",
		       regno);
		return -EINVAL;
	}
	if (vf_map_has_field(map, VF_FIELD_POINTER))
		return vf_not_judged(env, "insn %d: map '%s' holds pointers of kernel types",
				     env->insn_idx, map->def->name);
	vf_msg(env, "R%u has no valid kptr\n", regno);
	return -EINVAL;
}

/* A string constant: in a frozen read-only map, zero-terminated. */
static int check_const_str(struct vf_env *env, uint32_t regno)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const struct loupe_map *map = env->maps[loupe_reg_map(reg)].def;
	uint32_t off;
	int err;

	if (!(map->map_flags & BPF_F_RDONLY_PROG) || !map->frozen) {
		vf_msg(env, "R%u does not point to a readonly map'\n", regno);
		return -EACCES;
	}
	if (!tnum_is_const(reg->var_off)) {
		vf_msg(env, "R%u is not a constant address'\n", regno);
		return -EACCES;
	}
	if (map->type != BPF_MAP_TYPE_ARRAY) {
		vf_msg(env, "no direct value access support for this map type\n");
		return -EACCES;
	}
	err = vf_check_map_access(env, regno, reg->off, (int)map->value_size - reg->off, false);
	if (err)
		return err;
	if (map->max_entries != 1) {
		vf_msg(env, "direct value access on string failed\n");
		return -VF_ENOTSUPP;
	}
	off = (uint32_t)(reg->off + (int)reg->var_off.value);
	/* what was never written is zero */
	if (off >= map->data_len || memchr(map->data + off, 0, map->data_len - off) ||
	    map->data_len < map->value_size)
		return 0;
	vf_msg(env, "string is not zero-terminated\n");
	return -EINVAL;
}

/* --- one argument ----------------------------------------------------------------------------- */

static int note_reference(struct vf_env *env, uint32_t regno, uint32_t arg_type,
			  struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];

	if (arg_type & OBJ_RELEASE) {
		if (loupe_base_type(arg_type) == ARG_PTR_TO_DYNPTR)
			return vf_not_judged(env, "insn %d: %s#%d releases a dynptr", env->insn_idx,
					     vf_func_name(meta->func_id), meta->func_id);
		if (!reg->ref_obj_id && !vf_reg_is_null(reg)) {
			vf_msg(env, "R%u must be referenced when passed to release function\n",
			       regno);
			return -EINVAL;
		}
		meta->release_regno = (uint8_t)regno;
	}
	if (!reg->ref_obj_id)
		return 0;
	if (meta->ref_obj_id) {
		vf_msg(env, "more than one arg with ref_obj_id R%u %u %u", regno, reg->ref_obj_id,
		       meta->ref_obj_id);
		return -EACCES;
	}
	meta->ref_obj_id = reg->ref_obj_id;
	return 0;
}

static int check_map_ptr(struct vf_env *env, const struct loupe_reg *reg, struct vf_call_meta *meta)
{
	/* A timer's first argument already named the map that its value belongs to. */
	if (meta->map >= 0 &&
	    (meta->map != (int32_t)loupe_reg_map(reg) || meta->map_uid != reg->map.uid)) {
		vf_msg(env,
		       "timer pointer in R1 map_uid=%u doesn't match map pointer in R2 map_uid=%u\n",
		       meta->map_uid, reg->map.uid);
		return -EINVAL;
	}
	meta->map = (int32_t)loupe_reg_map(reg);
	meta->map_uid = reg->map.uid;
	return 0;
}

static int check_by_kind(struct vf_env *env, uint32_t i, uint32_t arg_type,
			 const struct vf_proto *proto, struct vf_call_meta *meta)
{
	uint32_t regno = i + 1, prev = i ? proto->arg[i - 1] : 0;
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	enum vf_access size_access = prev & MEM_WRITE ? VF_WRITE : VF_READ;
	enum vf_access access = arg_type & MEM_WRITE ? VF_WRITE : VF_READ;

	switch (loupe_base_type(arg_type)) {
	case ARG_CONST_MAP_PTR:
		return check_map_ptr(env, reg, meta);
	case ARG_PTR_TO_MAP_KEY:
		return check_map_key(env, regno, meta);
	case ARG_PTR_TO_MAP_VALUE:
		return check_map_value(env, regno, arg_type, meta);
	case ARG_PTR_TO_SPIN_LOCK:
		return check_spin_lock(env, regno, meta);
	case ARG_PTR_TO_TIMER:
		return check_timer(env, regno, meta);
	case ARG_PTR_TO_FUNC:
		meta->subprogno = reg->subprogno;
		return 0;
	case ARG_PTR_TO_MEM:
		meta->raw_mode = arg_type & MEM_UNINIT;
		if (!(arg_type & MEM_FIXED_SIZE))
			return 0;
		if (arg_type & MEM_ALIGNED)
			return vf_check_aligned_mem(env, regno, proto->size[i], access, meta);
		return vf_check_helper_mem(env, regno, proto->size[i], access, false, meta);
	case ARG_CONST_SIZE:
		return vf_check_mem_size_reg(env, regno, size_access, false, meta);
	case ARG_CONST_SIZE_OR_ZERO:
		return vf_check_mem_size_reg(env, regno, size_access, true, meta);
	case ARG_CONST_ALLOC_SIZE_OR_ZERO:
		if (!tnum_is_const(reg->var_off)) {
			vf_msg(env, "R%u is not a known constant'\n", regno);
			return -EACCES;
		}
		meta->mem_size = (uint32_t)reg->var_off.value;
		return vf_mark_chain_precision(env, regno);
	case ARG_PTR_TO_CONST_STR:
		return check_const_str(env, regno);
	case ARG_KPTR_XCHG_DEST:
		return check_kptr(env, regno);
	case ARG_PTR_TO_DYNPTR:
	case ARG_PTR_TO_PERCPU_BTF_ID:
		return vf_not_judged(env, "insn %d: %s#%d takes a dynptr or a kernel type",
				     env->insn_idx, vf_func_name(meta->func_id), meta->func_id);
	default:
		return 0;
	}
}

int vf_check_helper_arg(struct vf_env *env, uint32_t i, const struct vf_proto *proto,
			struct vf_call_meta *meta)
{
	uint32_t regno = i + 1, arg_type = proto->arg[i];
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err;

	if (arg_type == ARG_DONTCARE)
		return 0;
	err = vf_check_reg_arg(env, regno, VF_SRC_OP);
	if (err)
		return err;
	if (arg_type == ARG_ANYTHING) {
		if (vf_is_pointer_value(env, regno)) {
			vf_msg(env, "R%u leaks addr into helper function\n", regno);
			return -EACCES;
		}
		return 0;
	}
	if (vf_is_pkt_pointer(reg->type) && !vf_may_access_packet(env, meta, VF_READ)) {
		vf_msg(env, "helper access to the packet is not allowed\n");
		return -EACCES;
	}
	if (loupe_base_type(arg_type) == ARG_PTR_TO_MAP_VALUE) {
		err = resolve_map_value(env, meta, &arg_type);
		if (err)
			return err;
	}
	/* a NULL is a scalar: no pointer's type to compare */
	if (!vf_reg_is_null(reg) || !(arg_type & PTR_MAYBE_NULL)) {
		err = check_reg_type(env, regno, arg_type);
		if (!err)
			err = vf_check_arg_off(env, reg, regno, arg_type);
	}
	if (!err)
		err = note_reference(env, regno, arg_type, meta);
	if (!err)
		err = check_by_kind(env, i, arg_type, proto, meta);
	return err;
}
