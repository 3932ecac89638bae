// SPDX-License-Identifier: GPL-2.0-only
/* Loads and stores by insns, and helpers' accesses, through every kind of pointer. */
#include "verifier/mem.h"

const char *vf_tnum_str(char buf[48], struct loupe_tnum t)
{
	unsigned long long value = t.value;

	if (t.mask)
		snprintf(buf, 48, "(0x%llx; 0x%llx)", value, (unsigned long long)t.mask);
	else
		snprintf(buf, 48, value <= UINT16_MAX ? "%llu" : "0x%llx", value);
	return buf;
}

int vf_save_ptr_type(struct vf_env *env, uint32_t type, bool allow_trust_mismatch)
{
	uint32_t *seen = &env->aux[env->insn_idx].ptr_type;
	uint32_t both = type | *seen, base = loupe_base_type(type), old = loupe_base_type(*seen);
	/* accesses through these are rewritten, each kind in its own way */
	static const uint32_t rewritten = 1u << PTR_TO_CTX | 1u << PTR_TO_SOCKET |
					  1u << PTR_TO_SOCK_COMMON | 1u << PTR_TO_TCP_SOCK |
					  1u << PTR_TO_XDP_SOCK | 1u << PTR_TO_BTF_ID |
					  1u << PTR_TO_ARENA;

	if (*seen == NOT_INIT) {
		*seen = type;
		return 0;
	}
	if (type == *seen || !((1u << base | 1u << old) & rewritten))
		return 0;
	if (!allow_trust_mismatch || (base != PTR_TO_MEM && base != PTR_TO_BTF_ID) ||
	    (old != PTR_TO_MEM && old != PTR_TO_BTF_ID)) {
		vf_msg(env, "same insn cannot be used with different pointers\n");
		return -EINVAL;
	}
	*seen = base == PTR_TO_MEM || old == PTR_TO_MEM ? PTR_TO_MEM : PTR_TO_BTF_ID;
	*seen |= both & (PTR_UNTRUSTED | MEM_RDONLY);
	return 0;
}

/* --- alignment -------------------------------------------------------------------------------- */

static const char *const alignment_names[] = {
	[PTR_TO_FLOW_KEYS] = "flow keys ", [PTR_TO_MAP_KEY] = "key ",
	[PTR_TO_MAP_VALUE] = "value ",	   [PTR_TO_CTX] = "context ",
	[PTR_TO_STACK] = "stack ",	   [PTR_TO_SOCKET] = "sock ",
	[PTR_TO_SOCK_COMMON] = "sock_common ", [PTR_TO_TCP_SOCK] = "tcp_sock ",
	[PTR_TO_XDP_SOCK] = "xdp_sock ",
};

static int check_alignment(struct vf_env *env, const struct loupe_reg *reg, int off, int size,
			   bool strict_once)
{
	enum { IP_ALIGN = 2 }; /* where the network layer puts the packet's first byte */
	bool strict = env->strict_alignment || strict_once || reg->type == PTR_TO_STACK;
	int align = vf_is_pkt_pointer(reg->type) ? IP_ALIGN : 0;
	struct loupe_tnum whole;
	const char *name = "";
	char buf[48];

	if (!strict || size == 1 || reg->type == PTR_TO_ARENA)
		return 0;
	whole = tnum_add(reg->var_off, tnum_const((uint64_t)(int64_t)(align + reg->off + off)));
	if (tnum_is_aligned(whole, (uint64_t)size))
		return 0;
	vf_tnum_str(buf, reg->var_off);
	if (align) {
		vf_msg(env, "misaligned packet access off %d+%s+%d+%d size %d\n", align, buf,
		       reg->off, off, size);
		return -EACCES;
	}
	if (reg->type < sizeof(alignment_names) / sizeof(alignment_names[0]) &&
	    alignment_names[reg->type])
		name = alignment_names[reg->type];
	vf_msg(env, "misaligned %saccess off %s+%d+%d size %d\n", name, buf, reg->off, off, size);
	return -EACCES;
}

/* --- regions of known size -------------------------------------------------------------------- */

int vf_check_ptr_off(struct vf_env *env, const struct loupe_reg *reg, uint32_t regno,
		     bool fixed_off_ok)
{
	char type[VF_TYPE_NAME], buf[48];

	if (reg->off < 0) {
		vf_msg(env, "negative offset %s ptr R%u off=%d disallowed\n",
		       vf_type_str(type, reg->type), regno, reg->off);
		return -EACCES;
	}
	if (!fixed_off_ok && reg->off) {
		vf_msg(env, "dereference of modified %s ptr R%u off=%d disallowed\n",
		       vf_type_str(type, reg->type), regno, reg->off);
		return -EACCES;
	}
	if (!tnum_equals_const(reg->var_off, 0)) {
		vf_msg(env, "variable %s access var_off=%s disallowed\n",
		       vf_type_str(type, reg->type), vf_tnum_str(buf, reg->var_off));
		return -EACCES;
	}
	return 0;
}

/* One end of the range that the access may reach. */
static int check_region_end(struct vf_env *env, uint32_t regno, int64_t off64, int size,
			    uint32_t mem_size, bool zero_size_ok)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	bool size_ok = size > 0 || (size == 0 && zero_size_ok);
	int off = (int)off64;

	if (off >= 0 && size_ok && (uint64_t)off + (uint64_t)size <= mem_size)
		return 0;
	switch (reg->type) {
	case PTR_TO_MAP_KEY:
		vf_msg(env, "invalid access to map key, key_size=%d off=%d size=%d\n",
		       (int)mem_size, off, size);
		break;
	case PTR_TO_MAP_VALUE:
		vf_msg(env, "invalid access to map value, value_size=%d off=%d size=%d\n",
		       (int)mem_size, off, size);
		break;
	case PTR_TO_PACKET:
	case PTR_TO_PACKET_META:
	case PTR_TO_PACKET_END:
		vf_msg(env, "invalid access to packet, off=%d size=%d, R%u(id=%u,off=%d,r=%d)\n",
		       off, size, regno, reg->id, off, (int)mem_size);
		break;
	default:
		vf_msg(env, "invalid access to memory, mem_size=%u off=%d size=%d\n", mem_size, off,
		       size);
	}
	return -EACCES;
}

static int refuse_negative_min(struct vf_env *env, uint32_t regno)
{
	vf_msg(env,
	       "R%u min value is negative, either use unsigned index or do a if (index >=0) check.\n",
	       regno);
	return -EACCES;
}

int vf_check_mem_region(struct vf_env *env, uint32_t regno, int off, int size, uint32_t mem_size,
			bool zero_size_ok)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err;

	if (reg->smin < 0 &&
	    (reg->smin == INT64_MIN || off + reg->smin != (int32_t)(off + reg->smin) ||
	     reg->smin + off < 0))
		return refuse_negative_min(env, regno);
	err = check_region_end(env, regno, reg->smin + off, size, mem_size, zero_size_ok);
	if (err) {
		vf_msg(env, "R%u min value is outside of the allowed memory range\n", regno);
		return err;
	}
	if (reg->umax >= VF_MAX_VAR_OFF) {
		vf_msg(env,
		       "R%u unbounded memory access, make sure to bounds check any such access\n",
		       regno);
		return -EACCES;
	}
	err = check_region_end(env, regno, (int64_t)reg->umax + off, size, mem_size, zero_size_ok);
	if (err)
		vf_msg(env, "R%u max value is outside of the allowed memory range\n", regno);
	return err;
}

/* --- map values ------------------------------------------------------------------------------- */

int vf_check_map_access_type(struct vf_env *env, uint32_t regno, int off, int size,
			     enum vf_access t)
{
	const struct vf_map *map = &env->maps[loupe_reg_map(&vf_cur_regs(env)[regno])];

	if (t == VF_WRITE && (map->flags & BPF_F_RDONLY_PROG)) {
		vf_msg(env, "write into map forbidden, value_size=%u off=%d size=%d\n",
		       map->def->value_size, off, size);
		return -EACCES;
	}
	if (t == VF_READ && (map->flags & BPF_F_WRONLY_PROG) &&
	    !(map->flags & BPF_F_RDONLY_PROG)) {
		vf_msg(env, "read from map forbidden, value_size=%u off=%d size=%d\n",
		       map->def->value_size, off, size);
		return -EACCES;
	}
	return 0;
}

/* Parts of a value that only their own helpers may touch. */
static int check_special_fields(struct vf_env *env, const struct vf_map *map,
				const struct loupe_reg *reg, int off, int size)
{
	static const char *const names[] = {
		[VF_FIELD_SPIN_LOCK] = "bpf_spin_lock",
		[VF_FIELD_RES_SPIN_LOCK] = "bpf_res_spin_lock",
		[VF_FIELD_TIMER] = "bpf_timer",
		[VF_FIELD_WQ] = "bpf_wq",
		[VF_FIELD_TASK_WORK] = "bpf_task_work",
		[VF_FIELD_REFCOUNT] = "bpf_refcount",
	};
	const struct vf_field *first = NULL;

	for (uint32_t i = 0; i < map->field_cnt; i++) {
		const struct vf_field *field = &map->fields[i];

		if (reg->smin + off >= (int64_t)field->off + field->size ||
		    field->off >= reg->umax + (uint64_t)(int64_t)(off + size))
			continue;
		if (!first || field->off < first->off)
			first = field;
	}
	if (!first)
		return 0;
	if (first->kind == VF_FIELD_ROOT || first->kind == VF_FIELD_POINTER)
		return vf_not_judged(env, "insn %d: map '%s' holds pointers of kernel types",
				     env->insn_idx, map->def->name);
	vf_msg(env, "%s cannot be accessed directly by load/store\n", names[first->kind]);
	return -EACCES;
}

int vf_check_map_access(struct vf_env *env, uint32_t regno, int off, int size, bool zero_size_ok)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const struct vf_map *map = &env->maps[loupe_reg_map(reg)];
	int err = vf_check_mem_region(env, regno, off, size, map->def->value_size, zero_size_ok);

	if (err)
		return err;
	return check_special_fields(env, map, reg, off, size);
}

static bool map_is_constant(const struct loupe_map *map)
{
	return (map->map_flags & BPF_F_RDONLY_PROG) && map->frozen &&
	       map->type == BPF_MAP_TYPE_ARRAY;
}

static uint64_t read_little_endian(const struct loupe_map *map, int off, int size, bool sign_extend)
{
	uint64_t value = 0;
	int shift = 64 - size * 8;

	for (int i = 0; i < size; i++) {
		if ((uint32_t)(off + i) < map->data_len)
			value |= (uint64_t)map->data[off + i] << (i * 8);
	}
	return sign_extend ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static int access_map_value(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t,
			    int value_regno, bool is_ldsx)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const struct loupe_map *map = env->maps[loupe_reg_map(reg)].def;
	int err;

	if (t == VF_WRITE && value_regno >= 0 && vf_is_pointer_value(env, (uint32_t)value_regno)) {
		vf_msg(env, "R%d leaks addr into map\n", value_regno);
		return -EACCES;
	}
	err = vf_check_map_access_type(env, regno, off, size, t);
	if (!err)
		err = vf_check_map_access(env, regno, off, size, false);
	if (err || t != VF_READ || value_regno < 0)
		return err;
	if (tnum_is_const(reg->var_off) && map_is_constant(map)) {
		if (map->max_entries != 1)
			return -VF_ENOTSUPP;
		off += (int)reg->var_off.value;
		vf_reg_known(&vf_cur_regs(env)[value_regno],
			     read_little_endian(map, off, size, is_ldsx));
		return 0;
	}
	vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return 0;
}

/* --- packets and other buffers ---------------------------------------------------------------- */

bool vf_may_access_packet(struct vf_env *env, const struct vf_call_meta *meta, enum vf_access t)
{
	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_LWT_IN:
	case BPF_PROG_TYPE_LWT_OUT:
	case BPF_PROG_TYPE_LWT_SEG6LOCAL:
	case BPF_PROG_TYPE_SK_REUSEPORT:
	case BPF_PROG_TYPE_FLOW_DISSECTOR:
	case BPF_PROG_TYPE_CGROUP_SKB:
		if (t == VF_WRITE)
			return false;
		/* fallthrough */
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_LWT_XMIT:
	case BPF_PROG_TYPE_SK_SKB:
	case BPF_PROG_TYPE_SK_MSG:
		if (meta)
			return meta->pkt_access;
		env->seen_direct_write = true;
		return true;
	case BPF_PROG_TYPE_CGROUP_SOCKOPT:
		if (t == VF_WRITE)
			env->seen_direct_write = true;
		return true;
	default:
		return false;
	}
}

int vf_check_packet_access(struct vf_env *env, uint32_t regno, int off, int size, bool zero_size_ok)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err;

	if (reg->smin < 0)
		return refuse_negative_min(env, regno);
	err = reg->range < 0 ? -EINVAL
			     : check_region_end(env, regno, off, size, (uint32_t)reg->range,
						zero_size_ok);
	if (err)
		vf_msg(env, "R%u offset is outside of the packet\n", regno);
	return err;
}

static int check_buffer(struct vf_env *env, const char *what, const struct loupe_reg *reg,
			uint32_t regno, int off, int size)
{
	char buf[48];

	if (off < 0) {
		vf_msg(env, "R%u invalid %s buffer access: off=%d, size=%d\n", regno, what, off,
		       size);
		return -EACCES;
	}
	if (!tnum_equals_const(reg->var_off, 0)) {
		vf_msg(env, "R%u invalid variable buffer offset: off=%d, var_off=%s\n", regno, off,
		       vf_tnum_str(buf, reg->var_off));
		return -EACCES;
	}
	return 0;
}

static int refuse_write(struct vf_env *env, uint32_t regno, uint32_t type)
{
	char buf[VF_TYPE_NAME];

	vf_msg(env, "R%u cannot write into %s\n", regno, vf_type_str(buf, type));
	return -EACCES;
}

static int access_packet(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t,
			 int value_regno)
{
	int err;

	if (t == VF_WRITE && !vf_may_access_packet(env, NULL, t)) {
		vf_msg(env, "cannot write into packet\n");
		return -EACCES;
	}
	if (t == VF_WRITE && value_regno >= 0 && vf_is_pointer_value(env, (uint32_t)value_regno)) {
		vf_msg(env, "R%d leaks addr into packet\n", value_regno);
		return -EACCES;
	}
	err = vf_check_packet_access(env, regno, off, size, false);
	if (!err && t == VF_READ && value_regno >= 0)
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}

static int access_flow_keys(struct vf_env *env, int off, int size, enum vf_access t,
			    int value_regno)
{
	enum { FLOW_KEYS_SIZE = 56 }; /* struct bpf_flow_keys */

	if (t == VF_WRITE && value_regno >= 0 && vf_is_pointer_value(env, (uint32_t)value_regno)) {
		vf_msg(env, "R%d leaks addr into flow keys\n", value_regno);
		return -EACCES;
	}
	if (size < 0 || off < 0 || off + size > FLOW_KEYS_SIZE) {
		vf_msg(env, "invalid access to flow keys off=%d size=%d\n", off, size);
		return -EACCES;
	}
	if (t == VF_READ && value_regno >= 0)
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return 0;
}

static int access_mem(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t,
		      int value_regno)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	bool rdonly = reg->type & MEM_RDONLY;
	char buf[VF_TYPE_NAME];
	int err = 0;

	if (reg->type & PTR_MAYBE_NULL) {
		vf_msg(env, "R%u invalid mem access '%s'\n", regno, vf_type_str(buf, reg->type));
		return -EACCES;
	}
	if (t == VF_WRITE && rdonly)
		return refuse_write(env, regno, reg->type);
	if (t == VF_WRITE && value_regno >= 0 && vf_is_pointer_value(env, (uint32_t)value_regno)) {
		vf_msg(env, "R%d leaks addr into mem\n", value_regno);
		return -EACCES;
	}
	if (!rdonly || !(reg->type & PTR_UNTRUSTED))
		err = vf_check_mem_region(env, regno, off, size, reg->mem.size, false);
	if (!err && value_regno >= 0 && (t == VF_READ || rdonly))
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}

static int access_ctx(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size,
		      enum vf_access t, int value_regno, bool is_ldsx)
{
	struct vf_ctx_access info = { .reg_type = SCALAR_VALUE, .is_ldsx = is_ldsx };
	struct loupe_reg *reg = &vf_cur_regs(env)[regno], *dst;
	int err;

	if (t == VF_WRITE && value_regno >= 0 && vf_is_pointer_value(env, (uint32_t)value_regno)) {
		vf_msg(env, "R%d leaks addr into ctx\n", value_regno);
		return -EACCES;
	}
	err = vf_check_ptr_off(env, reg, regno, false);
	if (err)
		return err;
	err = vf_check_ctx_access(env, insn_idx, off, size, t, &info);
	if (err) {
		vf_source_line(env, insn_idx);
		return err;
	}
	if (t != VF_READ || value_regno < 0)
		return 0;
	dst = &vf_cur_regs(env)[value_regno];
	if (info.reg_type == SCALAR_VALUE) {
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
		return 0;
	}
	vf_mark_reg_known_zero(env, (uint32_t)value_regno);
	if (info.reg_type & PTR_MAYBE_NULL)
		dst->id = vf_new_id(env);
	dst->subreg_def = 0;
	dst->type = info.reg_type;
	return 0;
}

static int access_sock(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size,
		       int value_regno)
{
	int err = vf_check_sock_access(env, insn_idx, regno, off, size);

	if (!err && value_regno >= 0)
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}

/* --- any access ------------------------------------------------------------------------------- */

static int access_stack(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size,
			enum vf_access t, int value_regno)
{
	int err = vf_stack_within_bounds(env, regno, off, size, t);

	if (err)
		return err;
	if (t == VF_READ)
		return vf_stack_read(env, regno, off, size, value_regno);
	return vf_stack_write(env, regno, off, size, value_regno, insn_idx);
}

static int access_map_key(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t,
			  int value_regno)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err;

	if (t == VF_WRITE) {
		vf_msg(env, "write to change key R%u not allowed\n", regno);
		return -EACCES;
	}
	err = vf_check_mem_region(env, regno, off, size,
				  env->maps[loupe_reg_map(reg)].def->key_size, false);
	if (!err && value_regno >= 0)
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}

static int access_buffer(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t,
			 int value_regno)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	bool rdonly = reg->type & MEM_RDONLY;
	int err;

	if (rdonly && t == VF_WRITE)
		return refuse_write(env, regno, reg->type);
	err = check_buffer(env,
			   loupe_base_type(reg->type) == PTR_TO_TP_BUFFER ? "tracepoint"
			   : rdonly					  ? "rdonly"
									  : "rdwr",
			   reg, regno, off, size);
	if (!err && value_regno >= 0 && (rdonly || t == VF_READ))
		vf_mark_reg_unknown(env, (uint32_t)value_regno);
	return err;
}

static int access_by_type(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int size,
			  enum vf_access t, int value_regno, bool is_ldsx)
{
	uint32_t type = vf_cur_regs(env)[regno].type;
	char buf[VF_TYPE_NAME];

	switch (type) {
	case PTR_TO_MAP_KEY:
		return access_map_key(env, regno, off, size, t, value_regno);
	case PTR_TO_MAP_VALUE:
		return access_map_value(env, regno, off, size, t, value_regno, is_ldsx);
	case PTR_TO_CTX:
		return access_ctx(env, insn_idx, regno, off, size, t, value_regno, is_ldsx);
	case PTR_TO_STACK:
		return access_stack(env, insn_idx, regno, off, size, t, value_regno);
	case PTR_TO_PACKET:
	case PTR_TO_PACKET_META:
		return access_packet(env, regno, off, size, t, value_regno);
	case PTR_TO_FLOW_KEYS:
		return access_flow_keys(env, off, size, t, value_regno);
	case PTR_TO_TP_BUFFER:
		return access_buffer(env, regno, off, size, t, value_regno);
	case PTR_TO_SOCKET:
	case PTR_TO_SOCK_COMMON:
	case PTR_TO_TCP_SOCK:
	case PTR_TO_XDP_SOCK:
		if (t == VF_WRITE)
			return refuse_write(env, regno, type);
		return access_sock(env, insn_idx, regno, off, size, value_regno);
	case CONST_PTR_TO_MAP:
		return vf_check_map_ptr_access(env, regno, off, size, t, value_regno);
	case PTR_TO_ARENA:
		if (t == VF_READ && value_regno >= 0)
			vf_mark_reg_unknown(env, (uint32_t)value_regno);
		return 0;
	}
	switch (loupe_base_type(type)) {
	case PTR_TO_MEM:
		return access_mem(env, regno, off, size, t, value_regno);
	case PTR_TO_BUF:
		if (!(type & PTR_MAYBE_NULL))
			return access_buffer(env, regno, off, size, t, value_regno);
		break;
	case PTR_TO_BTF_ID:
		if (!(type & PTR_MAYBE_NULL))
			return vf_not_judged(
				env, "insn %d: access through a pointer of kernel type", insn_idx);
	}
	vf_msg(env, "R%u invalid mem access '%s'\n", regno, vf_type_str(buf, type));
	return -EACCES;
}

static int bytes_of(int bpf_size)
{
	switch (bpf_size) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

int vf_check_mem_access(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int bpf_size,
			enum vf_access t, int value_regno, bool strict_once, bool is_ldsx)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int size = bytes_of(bpf_size), err;

	err = check_alignment(env, reg, off, size, strict_once);
	if (err)
		return err;
	off += reg->off;
	err = access_by_type(env, insn_idx, regno, off, size, t, value_regno, is_ldsx);
	if (!err && size < LOUPE_REG_SIZE && value_regno >= 0 && t == VF_READ &&
	    vf_cur_regs(env)[value_regno].type == SCALAR_VALUE) {
		if (is_ldsx)
			vf_coerce_size_sx(&vf_cur_regs(env)[value_regno], size);
		else
			vf_coerce_size(&vf_cur_regs(env)[value_regno], size);
	}
	return err;
}

/* --- insns ------------------------------------------------------------------------------------ */

int vf_check_load(struct vf_env *env, const struct loupe_insn *insn, bool strict_once,
		  bool sign_extend, bool allow_trust_mismatch, const char *ctx)
{
	uint32_t type;
	int err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);

	if (!err)
		err = vf_check_reg_arg(env, insn->dst_reg, VF_DST_OP_NO_MARK);
	if (err)
		return err;
	type = vf_cur_regs(env)[insn->src_reg].type;
	err = vf_check_mem_access(env, env->insn_idx, insn->src_reg, insn->off,
				  BPF_SIZE(insn->code), VF_READ, insn->dst_reg, strict_once,
				  sign_extend);
	if (!err)
		err = vf_save_ptr_type(env, type, allow_trust_mismatch);
	if (!err)
		err = vf_bounds_sanity(env, &vf_cur_regs(env)[insn->dst_reg], ctx);
	return err;
}

int vf_check_store_reg(struct vf_env *env, const struct loupe_insn *insn, bool strict_once)
{
	uint32_t type;
	int err = vf_check_reg_arg(env, insn->src_reg, VF_SRC_OP);

	if (!err)
		err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;
	type = vf_cur_regs(env)[insn->dst_reg].type;
	err = vf_check_mem_access(env, env->insn_idx, insn->dst_reg, insn->off,
				  BPF_SIZE(insn->code), VF_WRITE, insn->src_reg, strict_once,
				  false);
	return err ? err : vf_save_ptr_type(env, type, false);
}

int vf_check_store_imm(struct vf_env *env, const struct loupe_insn *insn)
{
	uint32_t type;
	int err;

	if (BPF_MODE(insn->code) != BPF_MEM || insn->src_reg != 0) {
		vf_msg(env, "BPF_ST uses reserved fields\n");
		return -EINVAL;
	}
	err = vf_check_reg_arg(env, insn->dst_reg, VF_SRC_OP);
	if (err)
		return err;
	type = vf_cur_regs(env)[insn->dst_reg].type;
	err = vf_check_mem_access(env, env->insn_idx, insn->dst_reg, insn->off,
				  BPF_SIZE(insn->code), VF_WRITE, -1, false, false);
	return err ? err : vf_save_ptr_type(env, type, false);
}

/* --- helpers' accesses ------------------------------------------------------------------------ */

/* Accesses to the context are not rewritten, so that a function may be given it as memory. */
static bool ctx_is_plain(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
	case BPF_PROG_TYPE_TRACING:
	case BPF_PROG_TYPE_CGROUP_DEVICE:
	case BPF_PROG_TYPE_SYSCALL:
	case BPF_PROG_TYPE_NETFILTER:
		return true;
	default:
		return false;
	}
}

int vf_check_helper_mem(struct vf_env *env, uint32_t regno, int access_size, enum vf_access t,
			bool zero_size_ok, struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	char type[VF_TYPE_NAME];

	switch (loupe_base_type(reg->type)) {
	case PTR_TO_PACKET:
	case PTR_TO_PACKET_META:
		return vf_check_packet_access(env, regno, reg->off, access_size, zero_size_ok);
	case PTR_TO_MAP_KEY:
		if (t == VF_WRITE)
			return refuse_write(env, regno, reg->type);
		return vf_check_mem_region(env, regno, reg->off, access_size,
					   env->maps[loupe_reg_map(reg)].def->key_size, false);
	case PTR_TO_MAP_VALUE:
		if (vf_check_map_access_type(env, regno, reg->off, access_size, t))
			return -EACCES;
		return vf_check_map_access(env, regno, reg->off, access_size, zero_size_ok);
	case PTR_TO_MEM:
		if ((reg->type & MEM_RDONLY) && t == VF_WRITE)
			return refuse_write(env, regno, reg->type);
		return vf_check_mem_region(env, regno, reg->off, access_size, reg->mem.size,
					   zero_size_ok);
	case PTR_TO_BUF:
		if ((reg->type & MEM_RDONLY) && t == VF_WRITE)
			return refuse_write(env, regno, reg->type);
		return check_buffer(env, reg->type & MEM_RDONLY ? "rdonly" : "rdwr", reg, regno,
				    reg->off, access_size);
	case PTR_TO_STACK:
		return vf_stack_range_initialized(env, regno, reg->off, access_size, zero_size_ok,
						  t, meta);
	case PTR_TO_BTF_ID:
		return vf_not_judged(env, "insn %d: access through a pointer of kernel type",
				     env->insn_idx);
	case PTR_TO_CTX:
		if (ctx_is_plain(env->image->prog_type)) {
			if (access_size == 0)
				return zero_size_ok ? 0 : -EACCES;
			return vf_check_mem_access(env, env->insn_idx, regno, access_size - 1,
						   BPF_B, t, -1, false, false);
		}
		break;
	default:
		break;
	}
	if (zero_size_ok && access_size == 0 && vf_reg_is_null(reg))
		return 0;
	vf_msg(env, "R%u type=%s ", regno, vf_type_str(type, reg->type));
	vf_msg(env, "expected=%s\n", vf_type_str(type, PTR_TO_STACK));
	return -EACCES;
}

int vf_check_aligned_mem(struct vf_env *env, uint32_t regno, int size, enum vf_access t,
			 struct vf_call_meta *meta)
{
	int err = vf_check_helper_mem(env, regno, size, t, false, meta);

	return err ? err : check_alignment(env, &vf_cur_regs(env)[regno], 0, size, true);
}

int vf_check_mem_size_reg(struct vf_env *env, uint32_t regno, enum vf_access t, bool zero_size_ok,
			  struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int err;

	meta->msize_max_value = reg->umax;
	/* Of a size that varies, the helper may fill only part: all must be initialized. */
	if (!tnum_is_const(reg->var_off))
		meta = NULL;
	if (reg->smin < 0) {
		vf_msg(env, "R%u min value is negative, either use unsigned or 'var &= const'\n",
		       regno);
		return -EACCES;
	}
	if (reg->umin == 0 && !zero_size_ok) {
		vf_msg(env, "R%u invalid zero-sized read: u64=[%lld,%lld]\n", regno,
		       (long long)reg->umin, (long long)reg->umax);
		return -EACCES;
	}
	if (reg->umax >= VF_MAX_VAR_SIZE) {
		vf_msg(env,
		       "R%u unbounded memory access, use 'var &= const' or 'if (var < const)'\n",
		       regno);
		return -EACCES;
	}
	err = vf_check_helper_mem(env, regno - 1, (int)reg->umax, t, zero_size_ok, meta);
	return err ? err : vf_mark_chain_precision(env, regno);
}
