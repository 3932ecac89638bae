// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two-slot loads are resolved to the maps that they name, each map is checked to fit the program,
 * and opcodes that do not exist are refused.
 */
#include "verifier/resolve.h"
#include "verifier/vf.h"

/* What the program already uses of that which it may use once. */
struct once {
	uint32_t map_cnt;
	int32_t storage, percpu_storage, arena; /* map indices, -1 none */
};

static bool is_tracing_type(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_KPROBE:
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
		return true;
	default:
		return false;
	}
}

static bool sleepable_may_use(uint32_t map_type)
{
	switch (map_type) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_CGRP_STORAGE:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_ARENA:
		return true;
	default:
		return false;
	}
}

/* Fields of a map's value that programs of the tracing types must not have within reach. */
static int check_special_fields(struct vf_env *env, const struct vf_map *map)
{
	const bool lock = map->spin_lock_off >= 0 || map->res_spin_lock_off >= 0;
	const struct {
		bool has;
		const char *name;
	} fields[] = {
		{ vf_map_has_field(map, VF_FIELD_ROOT), "bpf_{list_head,rb_root}" },
		{ lock, "bpf_spin_lock" },
		{ map->timer_off >= 0, "bpf_timer" },
		{ vf_map_has_field(map, VF_FIELD_WQ), "bpf_wq" },
	};

	if (lock && env->image->prog_type == BPF_PROG_TYPE_SOCKET_FILTER) {
		vf_msg(env, "socket filter progs cannot use bpf_spin_lock yet\n");
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].has && is_tracing_type(env->image->prog_type)) {
			vf_msg(env, "tracing progs cannot use %s yet\n", fields[i].name);
			return -EINVAL;
		}
	}
	return 0;
}

/* A program has one cgroup storage of each kind and one arena. */
static int check_once(struct vf_env *env, int32_t idx, struct once *once)
{
	int32_t *slot;

	switch (env->maps[idx].def->type) {
	case BPF_MAP_TYPE_CGROUP_STORAGE:
		slot = &once->storage;
		break;
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE:
		slot = &once->percpu_storage;
		break;
	case BPF_MAP_TYPE_ARENA:
		if (once->arena >= 0) {
			vf_msg(env, "Only one arena per program\n");
			return -EBUSY;
		}
		if (!env->allow_ptr_leaks || !env->bpf_capable) {
			vf_msg(env, "CAP_BPF and CAP_PERFMON are required to use arena\n");
			return -EPERM;
		}
		once->arena = idx;
		return 0;
	default:
		return 0;
	}
	if (*slot >= 0) {
		vf_msg(env, "only one cgroup storage of each type is allowed\n");
		return -EBUSY;
	}
	*slot = idx;
	return 0;
}

static int check_compatible(struct vf_env *env, int32_t idx, struct once *once)
{
	const struct vf_map *map = &env->maps[idx];
	int err = check_special_fields(env, map);

	if (err)
		return err;
	if (map->def->type == BPF_MAP_TYPE_STRUCT_OPS) {
		vf_msg(env, "bpf_struct_ops map cannot be used in prog\n");
		return -EINVAL;
	}
	if (env->sleepable && !sleepable_may_use(map->def->type)) {
		vf_msg(env, "Sleepable programs can only use array, hash, ringbuf and local "
			    "storage maps\n");
		return -EINVAL;
	}
	return check_once(env, idx, once);
}

/* Index of the map that fd names, noted as used. */
static int use_map(struct vf_env *env, int32_t fd, struct once *once)
{
	int idx = loupe_image_map_by_fd(env->image, fd), err;

	if (idx < 0) {
		vf_msg(env, "fd %d is not pointing to valid bpf_map\n", fd);
		return -EBADF;
	}
	if (env->maps[idx].used)
		return idx;
	if (once->map_cnt >= VF_MAX_MAPS) {
		vf_msg(env, "The total number of maps per program has reached the limit of %u\n",
		       VF_MAX_MAPS);
		return -E2BIG;
	}
	err = check_compatible(env, idx, once);
	if (err)
		return err;
	env->maps[idx].used = true;
	once->map_cnt++;
	return idx;
}

/* A map's value has an address of its own, and off lies in it. */
static int check_direct_value(struct vf_env *env, const struct loupe_map *map, uint32_t off)
{
	int err = 0;

	if (off >= VF_MAX_VAR_OFF) {
		vf_msg(env, "direct value offset of %u is not allowed\n", off);
		return -EINVAL;
	}
	switch (map->type) {
	case BPF_MAP_TYPE_ARRAY:
		if (map->max_entries != 1)
			err = -VF_ENOTSUPP;
		else if (off >= map->value_size)
			err = -EINVAL;
		break;
	case BPF_MAP_TYPE_ARENA:
		if (off > (uint64_t)map->max_entries * 4096)
			err = -ERANGE;
		break;
	default:
		vf_msg(env, "no direct value access support for this map type\n");
		return -EINVAL;
	}
	if (err)
		vf_msg(env, "invalid access to map value pointer, value_size=%u off=%u\n",
		       map->value_size, off);
	return err;
}

/* The fd that insn names itself or through the load's fd_array. */
static int named_fd(struct vf_env *env, const struct loupe_insn *insn, int32_t *fd)
{
	const struct loupe_image *image = env->image;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE) {
		*fd = insn->imm;
		return 0;
	}
	if (!image->fd_array) {
		vf_msg(env, "fd_idx without fd_array is invalid\n");
		return -EPROTO;
	}
	if (insn->imm < 0 || (uint32_t)insn->imm >= image->fd_array_cnt)
		return -EFAULT;
	*fd = image->fd_array[insn->imm];
	return 0;
}

static int resolve_map(struct vf_env *env, uint32_t i, struct once *once)
{
	const struct loupe_insn *insn = &env->insns[i];
	bool value =
		insn->src_reg == BPF_PSEUDO_MAP_VALUE || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
	bool map = insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_IDX;
	int32_t fd;
	int err, idx;

	if (!value && (!map || insn[1].imm != 0)) {
		vf_msg(env, "unrecognized bpf_ld_imm64 insn\n");
		return -EINVAL;
	}
	err = named_fd(env, insn, &fd);
	if (err)
		return err;
	idx = use_map(env, fd, once);
	if (idx < 0)
		return idx;
	env->aux[i].map_idx = idx;
	if (!value)
		return 0;
	env->aux[i].map_off = (uint32_t)insn[1].imm;
	return check_direct_value(env, env->maps[idx].def, env->aux[i].map_off);
}

static int resolve_ldimm64(struct vf_env *env, uint32_t i, struct once *once)
{
	const struct loupe_insn *insn = &env->insns[i];

	if (i == env->insn_cnt - 1 || insn[1].code || insn[1].dst_reg || insn[1].src_reg ||
	    insn[1].off) {
		vf_msg(env, "invalid bpf_ld_imm64 insn\n");
		return -EINVAL;
	}
	switch (insn->src_reg) {
	case 0:
		return 0;
	case BPF_PSEUDO_BTF_ID:
		return vf_resolve_ksym(env, i);
	case BPF_PSEUDO_FUNC:
		env->aux[i].ptr_type = PTR_TO_FUNC;
		return 0;
	default:
		return resolve_map(env, i, once);
	}
}

/* Opcodes that a program may have: a bit for each. */
static bool is_known_opcode(uint8_t code)
{
	static const uint64_t alu_ops = 0x3fff; /* bit BPF_OP / 16: ADD to END */
	uint8_t op = BPF_OP(code), size = BPF_SIZE(code), mode = BPF_MODE(code);
	bool reg = BPF_SRC(code) == BPF_X;

	switch (BPF_CLASS(code)) {
	case BPF_ALU:
	case BPF_ALU64:
		if (op == BPF_NEG)
			return !reg;
		if (op == BPF_END)
			return BPF_CLASS(code) == BPF_ALU || !reg;
		return alu_ops >> (op >> 4) & 1;
	case BPF_JMP:
		if (op == BPF_CALL || op == BPF_EXIT || op == BPF_JA || op == BPF_JCOND)
			return !reg;
		return op <= BPF_JSLE;
	case BPF_JMP32:
		if (op == BPF_JA)
			return !reg;
		return op <= BPF_JSLE && op != BPF_CALL && op != BPF_EXIT;
	case BPF_ST:
		return mode == BPF_MEM;
	case BPF_STX:
		return mode == BPF_MEM || mode == BPF_ATOMIC;
	case BPF_LDX:
		return mode == BPF_MEM || (mode == BPF_MEMSX && size != BPF_DW);
	default: /* BPF_LD */
		if (mode == BPF_IMM)
			return size == BPF_DW;
		return (mode == BPF_ABS || mode == BPF_IND) && size != BPF_DW;
	}
}

int vf_resolve_maps(struct vf_env *env)
{
	struct once once = { .storage = -1, .percpu_storage = -1, .arena = -1 };
	int err = vf_collect_maps(env);

	if (err)
		return err;
	for (uint32_t i = 0; i < env->insn_cnt; i++)
		env->aux[i].map_idx = -1;
	for (uint32_t i = 0; i < env->insn_cnt; i++) {
		const struct loupe_insn *insn = &env->insns[i];
		uint8_t mode = BPF_MODE(insn->code);

		if (BPF_CLASS(insn->code) == BPF_LDX &&
		    ((mode != BPF_MEM && mode != BPF_MEMSX) || insn->imm)) {
			vf_msg(env, "BPF_LDX uses reserved fields\n");
			return -EINVAL;
		}
		if (insn_is_ldimm64(insn)) {
			err = resolve_ldimm64(env, i, &once);
			if (err)
				return err;
			i++;
			continue;
		}
		if (!is_known_opcode(insn->code)) {
			vf_msg(env, "unknown opcode %02x\n", insn->code);
			return -EINVAL;
		}
	}
	return 0;
}
