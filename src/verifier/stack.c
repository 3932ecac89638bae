// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes of the stack: registers spilled and filled, single bytes, variable offsets. */
#include "verifier/mem.h"

static bool is_store_imm(const struct loupe_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_ST && BPF_MODE(insn->code) == BPF_MEM;
}

static bool is_spillable(uint32_t type)
{
	switch (loupe_base_type(type)) {
	case NOT_INIT:
	case SCALAR_VALUE:
	case PTR_TO_TP_BUFFER:
	case CONST_PTR_TO_DYNPTR:
		return false;
	default:
		return true;
	}
}

/* Bits that the largest value needs. */
static int reg_width(const struct loupe_reg *reg)
{
	return reg->umax ? 64 - __builtin_clzll(reg->umax) : 0;
}

static int slot_of(int off)
{
	return (-off - 1) / LOUPE_REG_SIZE;
}

/* The byte of its slot that lies at fp+off. */
static int byte_of(int off)
{
	return (-off - 1) % LOUPE_REG_SIZE;
}

static uint32_t hist_flags(uint32_t frameno, int spi)
{
	return LOUPE_HIST_STACK_ACCESS | (uint32_t)spi << LOUPE_HIST_SPI_SHIFT | frameno;
}

/* A byte beside a narrow spill: what it holds is no part of the register. */
static void byte_to_misc(uint8_t *type)
{
	if (*type != STACK_ZERO && *type != STACK_INVALID)
		*type = STACK_MISC;
}

static void scrub_byte(uint8_t *type)
{
	if (*type != STACK_INVALID)
		*type = STACK_MISC;
}

/* What the slot held as a whole is destroyed. */
static void scrub_slot(struct loupe_slot *slot)
{
	uint8_t type = slot->type[LOUPE_REG_SIZE - 1];

	slot->spilled.type = NOT_INIT;
	if (type == STACK_INVALID || type == STACK_MISC || type == STACK_ZERO)
		return;
	for (int i = 0; i < LOUPE_REG_SIZE; i++)
		scrub_byte(&slot->type[i]);
}

static void spill(struct loupe_slot *slot, const struct loupe_reg *reg, int size)
{
	int i = LOUPE_REG_SIZE;

	slot->spilled = *reg;
	for (; i > LOUPE_REG_SIZE - size; i--)
		slot->type[i - 1] = STACK_SPILL;
	for (; i; i--)
		byte_to_misc(&slot->type[i - 1]);
}

/* --- writes ----------------------------------------------------------------------------------- */

static void note_spec_v4(struct vf_env *env, const struct loupe_slot *slot,
			 const struct loupe_reg *reg, int off, int size, int32_t insn_idx)
{
	bool sanitize = reg && is_spillable(reg->type);
	int highest = byte_of(off);

	if (env->bypass_spec_v4)
		return;
	for (int i = highest; i > highest - size && !sanitize; i--)
		sanitize = slot->type[i] != STACK_MISC && slot->type[i] != STACK_ZERO;
	if (sanitize)
		env->aux[insn_idx].nospec_result = true;
}

/* Bytes that are no spill of a register. */
static int write_bytes(struct vf_env *env, struct loupe_slot *slot, int off, int size,
		       const struct loupe_reg *reg, int value_regno, int32_t insn_idx)
{
	const struct loupe_insn *insn = &env->insns[insn_idx];
	uint8_t type = STACK_MISC;

	scrub_slot(slot);
	if ((reg && vf_reg_is_null(reg)) || (!reg && is_store_imm(insn) && insn->imm == 0)) {
		/* Zero bytes are zero only if the register always is. */
		if (value_regno >= 0) {
			int err = vf_mark_chain_precision(env, (uint32_t)value_regno);

			if (err)
				return err;
		}
		type = STACK_ZERO;
	}
	for (int i = 0; i < size; i++)
		slot->type[byte_of(off + i)] = type;
	return 0;
}

static int write_fixed(struct vf_env *env, uint32_t frameno, int off, int size, int value_regno,
		       int32_t insn_idx)
{
	const struct loupe_insn *insn = &env->insns[insn_idx];
	bool aligned = off % LOUPE_REG_SIZE == 0;
	struct loupe_reg *reg = value_regno >= 0 ? &vf_cur_regs(env)[value_regno] : NULL;
	int spi = slot_of(off);
	struct loupe_slot *slot = vf_slots_mut(env, env->cur, frameno);

	if (!slot)
		return -ENOMEM;
	slot += spi;
	if (!env->allow_ptr_leaks && vf_slot_is_spill(slot) && !vf_slot_is_spilled_scalar(slot) &&
	    size != LOUPE_REG_SIZE) {
		vf_msg(env, "attempt to corrupt spilled pointer on stack\n");
		return -EACCES;
	}
	note_spec_v4(env, slot, reg, off, size, insn_idx);
	if (aligned && size == LOUPE_REG_SIZE)
		vf_livestack_write(env, frameno, 1ull << spi);
	vf_fastcall_stack_access(env, env->cur->frame[frameno], insn_idx, off);
	vf_mark_scratched_slot(env, (uint32_t)spi);

	if (reg && aligned && reg->type == SCALAR_VALUE && env->bpf_capable) {
		bool fits = reg_width(reg) <= size * 8;

		if (fits)
			vf_assign_scalar_id(env, reg);
		spill(slot, reg, size);
		if (!fits)
			slot->spilled.id = 0;
	} else if (!reg && aligned && is_store_imm(insn) && env->bpf_capable) {
		struct loupe_reg constant;

		vf_reg_constant(&constant, (uint64_t)(int64_t)insn->imm);
		spill(slot, &constant, size);
	} else if (reg && is_spillable(reg->type)) {
		if (size != LOUPE_REG_SIZE) {
			vf_source_line(env, insn_idx);
			vf_msg(env, "invalid size of register spill\n");
			return -EACCES;
		}
		if (frameno != env->cur->curframe && reg->type == PTR_TO_STACK) {
			vf_msg(env,
			       "cannot spill pointers to stack into stack frame of the caller\n");
			return -EINVAL;
		}
		spill(slot, reg, size);
	} else {
		return write_bytes(env, slot, off, size, reg, value_regno, insn_idx);
	}
	return vf_hist_push(env, env->cur, hist_flags(frameno, spi), 0);
}

/* One byte that may or may not be written; *zero_used: it stays zero because zero is written. */
static int maybe_write_byte(struct vf_env *env, struct loupe_slot *slots, int off, bool zero,
			    bool *zero_used, int32_t insn_idx)
{
	struct loupe_slot *slot = &slots[slot_of(off)];
	uint8_t *type = &slot->type[byte_of(off)], new_type = STACK_MISC;

	vf_mark_scratched_slot(env, (uint32_t)slot_of(off));
	if (!env->allow_ptr_leaks && *type != STACK_MISC && *type != STACK_ZERO) {
		vf_msg(env, "spilled ptr in range of var-offset stack write; insn %d, ptr off: %d",
		       insn_idx, off);
		return -EINVAL;
	}
	if (zero && *type == STACK_SPILL && vf_slot_is_spilled_scalar(slot) &&
	    tnum_equals_const(slot->spilled.var_off, 0)) {
		*zero_used = true;
		return 0;
	}
	scrub_slot(slot);
	if (zero && *type == STACK_ZERO) {
		new_type = STACK_ZERO;
		*zero_used = true;
	}
	if (*type == STACK_INVALID && !env->allow_uninit_stack) {
		vf_msg(env,
		       "uninit stack in range of var-offset write prohibited for !root; insn %d, off: %d",
		       insn_idx, off);
		return -EINVAL;
	}
	*type = new_type;
	return 0;
}

static int write_variable(struct vf_env *env, const struct loupe_reg *ptr, int off, int size,
			  int value_regno, int32_t insn_idx)
{
	const struct loupe_insn *insn = &env->insns[insn_idx];
	const struct loupe_reg *value = value_regno >= 0 ? &vf_cur_regs(env)[value_regno] : NULL;
	int min_off = (int)ptr->smin + off, max_off = (int)ptr->smax + off + size;
	bool zero = value ? vf_reg_is_null(value) : is_store_imm(insn) && insn->imm == 0;
	bool zero_used = false;
	struct loupe_slot *slots;

	vf_fastcall_stack_access(env, env->cur->frame[ptr->frameno], insn_idx, min_off);
	slots = vf_slots_mut(env, env->cur, ptr->frameno);
	if (!slots)
		return -ENOMEM;
	for (int i = min_off; i < max_off; i++) {
		int err = maybe_write_byte(env, slots, i, zero, &zero_used, insn_idx);

		if (err)
			return err;
	}
	if (zero_used && value_regno >= 0)
		return vf_mark_chain_precision(env, (uint32_t)value_regno);
	return 0;
}

int vf_stack_write(struct vf_env *env, uint32_t ptr_regno, int off, int size, int value_regno,
		   int32_t insn_idx)
{
	const struct loupe_reg *ptr = &vf_cur_regs(env)[ptr_regno];

	if (!tnum_is_const(ptr->var_off))
		return write_variable(env, ptr, off, size, value_regno, insn_idx);
	off += (int)ptr->var_off.value;
	return write_fixed(env, ptr->frameno, off, size, value_regno, insn_idx);
}

int vf_stack_fill(struct vf_env *env, uint32_t frameno, int off, int size, int32_t insn_idx)
{
	struct loupe_slot *slots = vf_slots_mut(env, env->cur, frameno);

	if (!slots)
		return -ENOMEM;
	vf_fastcall_stack_access(env, env->cur->frame[frameno], insn_idx, off);
	for (int i = off, end = off + size; i < end; i++) {
		struct loupe_slot *slot = &slots[slot_of(i)];

		if (i == off || byte_of(i) == LOUPE_REG_SIZE - 1) {
			vf_mark_scratched_slot(env, (uint32_t)slot_of(i));
			scrub_slot(slot);
		}
		slot->type[byte_of(i)] = STACK_MISC;
	}
	return 0;
}

/* --- reads ------------------------------------------------------------------------------------ */

/* dst gets what lies in [min_off, max_off): zero if all of it is, else some number. */
static void read_bytes(struct vf_env *env, uint32_t frameno, int min_off, int max_off,
		       int dst_regno)
{
	const struct loupe_slot *slots = env->cur->frame[frameno]->stack->slot;
	int i = min_off;

	for (; i < max_off; i++) {
		vf_mark_scratched_slot(env, (uint32_t)slot_of(i));
		if (slots[slot_of(i)].type[byte_of(i)] != STACK_ZERO)
			break;
	}
	if (i == max_off)
		vf_reg_const_zero(env, &vf_cur_regs(env)[dst_regno]);
	else
		vf_mark_reg_unknown(env, (uint32_t)dst_regno);
}

static bool byte_readable(const struct vf_env *env, uint8_t type)
{
	return type == STACK_MISC || type == STACK_ZERO ||
	       (type == STACK_INVALID && env->allow_uninit_stack);
}

static int refuse_read(struct vf_env *env, int off, int i, int size)
{
	vf_msg(env, "invalid read from stack off %d+%d size %d\n", off, i, size);
	return -EACCES;
}

/* Part of a spilled scalar, or a narrow one, goes to dst. *filled: it is (part of) the register. */
static int fill_part(struct vf_env *env, uint32_t frameno, int off, int size, int spill_size,
		     int dst_regno, bool *filled)
{
	const struct loupe_slot *slot = &env->cur->frame[frameno]->stack->slot[slot_of(off)];
	struct loupe_reg *dst = &vf_cur_regs(env)[dst_regno];
	int spills = 0, zeros = 0;

	if (size <= spill_size && off % LOUPE_REG_SIZE == 0) {
		int32_t subreg_def = dst->subreg_def;

		*dst = slot->spilled;
		dst->subreg_def = subreg_def;
		if (reg_width(&slot->spilled) > size * 8)
			vf_clear_scalar_id(dst);
		*filled = true;
		return 0;
	}
	for (int i = 0; i < size; i++) {
		uint8_t type = slot->type[byte_of(off + i)];

		if (type == STACK_SPILL)
			spills++;
		else if (!byte_readable(env, type))
			return refuse_read(env, off, i, size);
		zeros += type == STACK_ZERO;
	}
	*filled = spills == size && tnum_equals_const(slot->spilled.var_off, 0);
	if (*filled || zeros == size)
		vf_reg_const_zero(env, dst);
	else
		vf_mark_reg_unknown(env, (uint32_t)dst_regno);
	return 0;
}

static int read_spill(struct vf_env *env, uint32_t frameno, int off, int size, int dst_regno,
		      bool *filled)
{
	const struct loupe_slot *slot = &env->cur->frame[frameno]->stack->slot[slot_of(off)];
	int spill_size = 1;

	for (int i = LOUPE_REG_SIZE - 1; i > 0 && slot->type[i - 1] == STACK_SPILL; i--)
		spill_size++;
	if (size != LOUPE_REG_SIZE || spill_size != LOUPE_REG_SIZE) {
		if (slot->spilled.type != SCALAR_VALUE) {
			vf_source_line(env, env->insn_idx);
			vf_msg(env, "invalid size of register fill\n");
			return -EACCES;
		}
		if (dst_regno < 0) {
			*filled = false;
			return 0;
		}
		return fill_part(env, frameno, off, size, spill_size, dst_regno, filled);
	}
	*filled = true;
	if (dst_regno >= 0) {
		vf_cur_regs(env)[dst_regno] =
			env->cur->frame[frameno]->stack->slot[slot_of(off)].spilled;
	} else if (!env->allow_ptr_leaks && slot->spilled.type != SCALAR_VALUE) {
		vf_msg(env, "leaking pointer from stack off %d\n", off);
		return -EACCES;
	}
	return 0;
}

static int read_fixed(struct vf_env *env, uint32_t frameno, int off, int size, int dst_regno)
{
	const struct loupe_slot *slot = &env->cur->frame[frameno]->stack->slot[slot_of(off)];
	int spi = slot_of(off), err;
	bool filled = false;

	vf_mark_scratched_slot(env, (uint32_t)spi);
	vf_fastcall_stack_access(env, vf_cur_frame(env), env->insn_idx, off);
	err = vf_livestack_read(env, frameno, (uint32_t)env->insn_idx, 1ull << spi);
	if (err)
		return err;
	if (vf_slot_is_spill(slot)) {
		err = read_spill(env, frameno, off, size, dst_regno, &filled);
		if (err)
			return err;
	} else {
		for (int i = 0; i < size; i++) {
			if (!byte_readable(env, slot->type[byte_of(off + i)]))
				return refuse_read(env, off, i, size);
		}
		if (dst_regno >= 0)
			read_bytes(env, frameno, off, off + size, dst_regno);
	}
	return filled ? vf_hist_push(env, env->cur, hist_flags(frameno, spi), 0) : 0;
}

static int read_variable(struct vf_env *env, uint32_t ptr_regno, int off, int size, int dst_regno)
{
	const struct loupe_reg *ptr = &vf_cur_regs(env)[ptr_regno];
	int min_off, max_off, err;
	uint32_t frameno = ptr->frameno;

	err = vf_stack_range_initialized(env, ptr_regno, off, size, false, VF_READ, NULL);
	if (err)
		return err;
	min_off = (int)ptr->smin + off;
	max_off = (int)ptr->smax + off;
	read_bytes(env, frameno, min_off, max_off + size, dst_regno);
	vf_fastcall_stack_access(env, env->cur->frame[frameno], env->insn_idx, min_off);
	return 0;
}

int vf_stack_read(struct vf_env *env, uint32_t ptr_regno, int off, int size, int dst_regno)
{
	const struct loupe_reg *ptr = &vf_cur_regs(env)[ptr_regno];
	char buf[48];

	if (tnum_is_const(ptr->var_off)) {
		off += (int)ptr->var_off.value;
		return read_fixed(env, ptr->frameno, off, size, dst_regno);
	}
	if (dst_regno < 0) {
		vf_msg(env,
		       "variable offset stack pointer cannot be passed into helper function; var_off=%s off=%d size=%d\n",
		       vf_tnum_str(buf, ptr->var_off), off, size);
		return -EACCES;
	}
	return read_variable(env, ptr_regno, off, size, dst_regno);
}

/* --- bounds, and what helpers do -------------------------------------------------------------- */

int vf_stack_within_bounds(struct vf_env *env, uint32_t regno, int off, int size, enum vf_access t)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	const char *what = t == VF_READ ? " read from" : " write to";
	const struct loupe_frame *frame = vf_reg_frame(env, reg);
	int64_t lowest = t == VF_WRITE || env->allow_uninit_stack
				 ? -LOUPE_MAX_STACK
				 : -(int64_t)frame->slot_cnt * LOUPE_REG_SIZE;
	bool fixed = tnum_is_const(reg->var_off);
	int64_t min_off, max_off;
	char buf[48];
	int err = 0;

	if (fixed) {
		min_off = (int64_t)reg->var_off.value + off;
		max_off = min_off + size;
	} else {
		if (reg->smax >= VF_MAX_VAR_OFF || reg->smin <= -VF_MAX_VAR_OFF) {
			vf_msg(env, "invalid unbounded variable-offset%s stack R%u\n", what, regno);
			return -EACCES;
		}
		min_off = reg->smin + off;
		max_off = reg->smax + off + size;
	}
	if (min_off < lowest || min_off > -1)
		err = -EACCES;
	else if (max_off > 0)
		err = -EINVAL;
	else if (size < 0)
		err = -EFAULT;
	if (!err)
		return vf_stack_grow(env, env->cur, reg->frameno, (int)-min_off);
	if (fixed)
		vf_msg(env, "invalid%s stack R%u off=%d size=%d\n", what, regno, off, size);
	else
		vf_msg(env, "invalid variable-offset%s stack R%u var_off=%s off=%d size=%d\n", what,
		       regno, vf_tnum_str(buf, reg->var_off), off, size);
	return err;
}

/* A byte of the stack that a helper reads or may overwrite: false if it must not. */
static int helper_touches_byte(struct vf_env *env, uint32_t frameno, int off, bool clobber,
			       bool *ok)
{
	const struct loupe_slot *slot = &env->cur->frame[frameno]->stack->slot[slot_of(off)];
	uint8_t type = slot->type[byte_of(off)];
	struct loupe_slot *slots;
	bool spilled = false;

	*ok = true;
	if (type == STACK_MISC)
		return 0;
	if (type != STACK_ZERO && !(type == STACK_INVALID && env->allow_uninit_stack)) {
		spilled = vf_slot_is_spill(slot) &&
			  (slot->spilled.type == SCALAR_VALUE || env->allow_ptr_leaks);
		if (!spilled) {
			*ok = false;
			return 0;
		}
	}
	if (!clobber)
		return 0;
	slots = vf_slots_mut(env, env->cur, frameno);
	if (!slots)
		return -ENOMEM;
	if (!spilled) {
		slots[slot_of(off)].type[byte_of(off)] = STACK_MISC;
		return 0;
	}
	vf_reg_unknown(env, &slots[slot_of(off)].spilled);
	for (int i = 0; i < LOUPE_REG_SIZE; i++)
		scrub_byte(&slots[slot_of(off)].type[i]);
	return 0;
}

static int refuse_helper_read(struct vf_env *env, uint32_t regno, int min_off, int i, int size)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	char buf[48];

	if (tnum_is_const(reg->var_off))
		vf_msg(env, "invalid read from stack R%u off %d+%d size %d\n", regno, min_off,
		       i - min_off, size);
	else
		vf_msg(env, "invalid read from stack R%u var_off %s+%d size %d\n", regno,
		       vf_tnum_str(buf, reg->var_off), i - min_off, size);
	return -EACCES;
}

/* The bytes [from, to), one by one; *read: slots of those that are fine. */
static int helper_touches(struct vf_env *env, uint32_t regno, int from, int to, int access_size,
			  bool clobber, uint64_t *read)
{
	uint32_t frameno = vf_cur_regs(env)[regno].frameno;

	for (int i = from; i < to; i++) {
		bool ok;
		int err;

		if ((uint32_t)slot_of(i) >= env->cur->frame[frameno]->slot_cnt) {
			vf_msg(env, "allocated_stack too small\n");
			return -EFAULT;
		}
		err = helper_touches_byte(env, frameno, i, clobber, &ok);
		if (err)
			return err;
		if (!ok)
			return refuse_helper_read(env, regno, from, i, access_size);
		*read |= 1ull << slot_of(i);
	}
	return 0;
}

int vf_stack_range_initialized(struct vf_env *env, uint32_t regno, int off, int access_size,
			       bool zero_size_ok, enum vf_access t, struct vf_call_meta *meta)
{
	const struct loupe_reg *reg = &vf_cur_regs(env)[regno];
	int min_off, max_off, err, live_err;
	uint64_t read = 0;
	char buf[48];

	if (access_size == 0 && !zero_size_ok) {
		vf_msg(env, "invalid zero-sized read\n");
		return -EACCES;
	}
	err = vf_stack_within_bounds(env, regno, off, access_size, t);
	if (err)
		return err;
	if (tnum_is_const(reg->var_off)) {
		min_off = max_off = (int)reg->var_off.value + off;
	} else {
		if (!env->bypass_spec_v1) {
			vf_msg(env,
			       "R%u variable offset stack access prohibited for !root, var_off=%s\n",
			       regno, vf_tnum_str(buf, reg->var_off));
			return -EACCES;
		}
		/* Which bytes would be filled is not known: they must all hold something
		 * already. */
		if (meta && meta->raw_mode)
			meta = NULL;
		min_off = (int)reg->smin + off;
		max_off = (int)reg->smax + off;
	}
	if (meta && meta->raw_mode) {
		meta->access_size = access_size;
		meta->regno = (int32_t)regno;
		return 0;
	}
	err = helper_touches(env, regno, min_off, max_off + access_size, access_size,
			     t == VF_WRITE, &read);
	live_err = read ? vf_livestack_read(env, reg->frameno, (uint32_t)env->insn_idx, read) : 0;
	return err ? err : live_err;
}
