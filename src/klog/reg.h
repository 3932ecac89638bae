/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of registers, slots and frames, into a struct text. */
#ifndef KLOG_REG_H
#define KLOG_REG_H

#include "bpfloupe/log.h"
#include "klog/text.h"

/* All registers and slots of a frame; see loupe_frame_print_some(). */
#define ALL_REGS  UINT32_MAX
#define ALL_SLOTS UINT64_MAX

/* How a byte of a slot is written, by enum loupe_slot_type. */
enum { SLOT_CHAR_CNT = STACK_IRQ_FLAG + 1 };
extern const char slot_chars[SLOT_CHAR_CNT];

void reg_text(struct text *t, const struct loupe_reg *reg, uint32_t frameno,
	      struct loupe_names *names);
void frame_text(struct text *t, const struct loupe_state *state, uint32_t frameno, uint32_t regs,
		uint64_t slots, struct loupe_names *names);

/* "r0,r7" and "-8,-16". */
void reg_mask_text(struct text *t, uint32_t regs);
void slot_mask_text(struct text *t, uint64_t slots);

/* "local", "skb" ... of a dynptr's kind. */
const char *dynptr_type_name(uint32_t type);

#endif
