// SPDX-License-Identifier: GPL-2.0-only
/* The text of stack slots and frames. */
#include "klog/names.h"
#include "klog/reg.h"

#include <string.h>

enum { DYNPTR_SLOTS = 2, ITER_STATE_BITS = 2 };

const char slot_chars[SLOT_CHAR_CNT] = {
	[STACK_INVALID] = '?', [STACK_SPILL] = 'r', [STACK_MISC] = 'm',	    [STACK_ZERO] = '0',
	[STACK_DYNPTR] = 'd',  [STACK_ITER] = 'i',  [STACK_IRQ_FLAG] = 'f',
};

static const char *const iter_states[] = { "<invalid>", "active", "drained", "<unknown>" };

static const char *iter_type_name(struct loupe_names *names, uint32_t btf_id)
{
	static const char prefix[] = "bpf_iter_";
	const char *name;

	if (!btf_id)
		return "<invalid>";
	name = names_type(names, 0, btf_id);
	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? name + sizeof(prefix) - 1 : name;
}

static void slot_name(struct text *t, const char *lead, uint32_t spi)
{
	text_str(t, lead);
	text_str(t, "fp");
	text_dec(t, -(int64_t)(spi + 1) * LOUPE_REG_SIZE);
	text_char(t, '=');
}

static void dynptr_text(struct text *t, const char *lead, const struct loupe_reg *reg, uint32_t spi)
{
	slot_name(t, lead, spi);
	text_str(t, "dynptr_");
	text_str(t, dynptr_type_name(reg->dynptr.type));
	lead = "(";
	if (reg->id) {
		text_str(t, "(id=");
		text_dec(t, (int32_t)reg->id);
		lead = ",";
	}
	if (reg->ref_obj_id) {
		text_str(t, lead);
		text_str(t, "ref_id=");
		text_dec(t, (int32_t)reg->ref_obj_id);
		lead = ",";
	}
	/* in the kernel the flag shares its place with an id, which is what gets printed */
	if (reg->dynptr.first_slot) {
		text_str(t, lead);
		text_str(t, "dynptr_id=1");
		lead = ",";
	}
	text_str(t, lead[0] == '(' ? "()" : ")");
}

static void iter_text(struct text *t, const char *lead, const struct loupe_reg *reg, uint32_t spi,
		      struct loupe_names *names)
{
	/* only one of an iterator's slots holds the reference */
	if (!reg->ref_obj_id)
		return;
	slot_name(t, lead, spi);
	text_str(t, "iter_");
	text_str(t, iter_type_name(names, reg->iter.btf_id));
	text_str(t, "(ref_id=");
	text_dec(t, (int32_t)reg->ref_obj_id);
	text_str(t, ",state=");
	text_str(t, iter_states[reg->iter.state_depth & ((1u << ITER_STATE_BITS) - 1)]);
	text_str(t, ",depth=");
	text_dec(t, reg->iter.state_depth >> ITER_STATE_BITS);
	text_char(t, ')');
}

/* Writes slot *spi after lead; moves *spi to the slot that was named. */
static void slot_text(struct text *t, const char *lead, const struct loupe_frame *frame,
		      uint32_t *spi, struct loupe_names *names)
{
	const struct loupe_slot *slot = &frame->stack->slot[*spi];
	char bytes[LOUPE_REG_SIZE + 1] = { 0 };
	bool used = false;

	for (int i = 0; i < LOUPE_REG_SIZE; i++) {
		used |= slot->type[i] != STACK_INVALID;
		bytes[i] = slot->type[i] < sizeof(slot_chars) ? slot_chars[slot->type[i]] : '?';
	}
	if (!used)
		return;
	switch (slot->type[LOUPE_REG_SIZE - 1]) {
	case STACK_SPILL:
		/* the bytes below a 4-byte spill show as themselves */
		*strchr(bytes, slot_chars[STACK_SPILL]) = '\0';
		slot_name(t, lead, *spi);
		text_str(t, bytes);
		/* an ordinary user's pointer to what was given back */
		if (slot->spilled.type == NOT_INIT)
			text_str(t, "?()");
		else
			reg_text(t, &slot->spilled, frame->frameno, names);
		break;
	case STACK_DYNPTR:
		*spi += DYNPTR_SLOTS - 1;
		if (*spi < frame->slot_cnt)
			dynptr_text(t, lead, &frame->stack->slot[*spi].spilled, *spi);
		break;
	case STACK_ITER:
		iter_text(t, lead, &slot->spilled, *spi, names);
		break;
	default:
		slot_name(t, lead, *spi);
		text_str(t, bytes);
		break;
	}
}

static void refs_text(struct text *t, const struct loupe_state *state)
{
	if (!state->ref_cnt || !state->refs[0].id)
		return;
	text_str(t, " refs=");
	text_dec(t, (int32_t)state->refs[0].id);
	for (uint32_t i = 1; i < state->ref_cnt; i++) {
		if (!state->refs[i].id)
			continue;
		text_char(t, ',');
		text_dec(t, (int32_t)state->refs[i].id);
	}
}

void frame_text(struct text *t, const struct loupe_state *state, uint32_t frameno, uint32_t regs,
		uint64_t slots, struct loupe_names *names)
{
	const struct loupe_frame *frame = state->frame[frameno];

	if (frame->frameno) {
		text_str(t, " frame");
		text_dec(t, frame->frameno);
		text_char(t, ':');
	}
	for (uint32_t i = 0; i < LOUPE_MAX_REG; i++) {
		if (frame->regs[i].type == NOT_INIT || !(regs & 1u << i))
			continue;
		text_str(t, " R");
		text_dec(t, i);
		text_char(t, '=');
		reg_text(t, &frame->regs[i], frame->frameno, names);
	}
	for (uint32_t spi = 0; spi < frame->slot_cnt; spi++) {
		if (slots & 1ull << spi)
			slot_text(t, " ", frame, &spi, names);
	}
	refs_text(t, state);
	if (frame->in_callback_fn)
		text_str(t, " cb");
	if (frame->in_async_callback_fn)
		text_str(t, " async_cb");
}

void reg_mask_text(struct text *t, uint32_t regs)
{
	const char *sep = "";

	for (int i = 0; regs; i++, regs >>= 1) {
		if (!(regs & 1))
			continue;
		text_str(t, sep);
		text_char(t, 'r');
		text_dec(t, i);
		sep = ",";
	}
}

void slot_mask_text(struct text *t, uint64_t slots)
{
	const char *sep = "";

	for (int i = 0; slots; i++, slots >>= 1) {
		if (!(slots & 1))
			continue;
		text_str(t, sep);
		text_dec(t, -(i + 1) * LOUPE_REG_SIZE);
		sep = ",";
	}
}

size_t loupe_slot_print(char *buf, size_t size, const struct loupe_frame *frame, uint32_t spi,
			struct loupe_names *names)
{
	const struct loupe_slot *slot = &frame->stack->slot[spi];
	struct text t = text_in(buf, size);

	if (slot->type[LOUPE_REG_SIZE - 1] != STACK_DYNPTR)
		slot_text(&t, "", frame, &spi, names);
	else if (slot->spilled.dynptr.first_slot)
		dynptr_text(&t, "", &slot->spilled, spi);
	return text_end(&t);
}

size_t loupe_frame_print_some(char *buf, size_t size, const struct loupe_state *state,
			      uint32_t frameno, uint32_t regs, uint64_t slots,
			      struct loupe_names *names)
{
	struct text t = text_in(buf, size);

	frame_text(&t, state, frameno, regs, slots, names);
	return text_end(&t);
}

size_t loupe_frame_print(char *buf, size_t size, const struct loupe_state *state, uint32_t frameno,
			 struct loupe_names *names)
{
	return loupe_frame_print_some(buf, size, state, frameno, ALL_REGS, ALL_SLOTS, names);
}

size_t loupe_reg_mask_print(char *buf, size_t size, uint32_t regs)
{
	struct text t = text_in(buf, size);

	reg_mask_text(&t, regs);
	return text_end(&t);
}

size_t loupe_slot_mask_print(char *buf, size_t size, uint64_t slots)
{
	struct text t = text_in(buf, size);

	slot_mask_text(&t, slots);
	return text_end(&t);
}
