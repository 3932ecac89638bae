// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's rules for classic programs: bpf_check_classic() and, for seccomp,
 * seccomp_check_filter(), in the order in which a reader of the message would fix them.
 */
#include "filter/opcode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong with one instruction by itself, NULL if nothing; buf is room for the words. */
static const char *bad_operand(struct loupe_cbpf_insn insn, const struct filter_opcode *op,
			       enum loupe_filter_flavour flavour, char *buf, size_t size)
{
	switch (op->form) {
	case FORM_ALU_K:
		if (!insn.k && (BPF_OP(insn.code) == BPF_DIV || BPF_OP(insn.code) == BPF_MOD))
			return "division by the constant 0";
		if (insn.k >= 32 && (BPF_OP(insn.code) == BPF_LSH || BPF_OP(insn.code) == BPF_RSH))
			return "shift by 32 or more";
		break;
	case FORM_MEM:
	case FORM_ST:
		if (insn.k >= BPF_MEMWORDS) {
			snprintf(buf, size, "no scratch word M[%u]: there are M[0] to M[15]",
				 insn.k);
			return buf;
		}
		break;
	case FORM_ABS:
		if (flavour == LOUPE_FILTER_SECCOMP) {
			if (insn.k % 4 || insn.k >= SECCOMP_DATA_SIZE) {
				snprintf(buf, size,
					 "seccomp data has words at 0, 4 ... 60, not at %u",
					 insn.k);
				return buf;
			}
		} else if (insn.k >= FILTER_AD_OFF &&
			   !filter_ancillary_name(insn.k - FILTER_AD_OFF)) {
			snprintf(buf, size, "no ancillary data at offset 0x%x", insn.k);
			return buf;
		}
		break;
	default:
		break;
	}
	return NULL;
}

/* What is wrong with where an instruction leads. */
static const char *bad_jump(struct loupe_cbpf_insn insn, uint32_t index, uint32_t cnt, char *buf,
			    size_t size)
{
	const uint64_t next = index + 1;

	if (filter_is_ja(insn.code) && next + insn.k >= cnt)
		snprintf(buf, size, "leads to %llu, but the last instruction is %u",
			 (unsigned long long)(next + insn.k), cnt - 1);
	else if (filter_is_cond(insn.code) && next + insn.jt >= cnt)
		snprintf(buf, size, "true leads to %llu, but the last instruction is %u",
			 (unsigned long long)(next + insn.jt), cnt - 1);
	else if (filter_is_cond(insn.code) && next + insn.jf >= cnt)
		snprintf(buf, size, "false leads to %llu, but the last instruction is %u",
			 (unsigned long long)(next + insn.jf), cnt - 1);
	else
		return NULL;
	return buf;
}

/*
 * Scratch words must be written before they are read. The kernel's walk treats a return as if it
 * went on to the next instruction, so do we.
 * @return index of the first bad read, cnt if there is none, LOUPE_NONE when out of memory
 */
static uint32_t bad_scratch(const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	uint16_t *masks = malloc(cnt * sizeof(*masks)), valid = 0;
	uint32_t i;

	if (!masks)
		return LOUPE_NONE;
	memset(masks, 0xff, cnt * sizeof(*masks));
	for (i = 0; i < cnt; i++) {
		struct loupe_cbpf_insn insn = insns[i];

		valid &= masks[i];
		switch (filter_opcode_of(insn.code)->form) {
		case FORM_ST:
			valid |= (uint16_t)(1u << insn.k);
			break;
		case FORM_MEM:
			if (!(valid & 1u << insn.k))
				goto out;
			break;
		case FORM_JA:
			masks[i + 1 + insn.k] &= valid;
			valid = 0xffff;
			break;
		case FORM_JMP_K:
		case FORM_JMP_X:
			masks[i + 1 + insn.jt] &= valid;
			masks[i + 1 + insn.jf] &= valid;
			valid = 0xffff;
			break;
		default:
			break;
		}
	}
out:
	free(masks);
	return i;
}

static int report(struct loupe_error *err, const struct loupe_cbpf_insn *insns, uint32_t index,
		  enum loupe_filter_flavour flavour, const char *what)
{
	char text[160], *out = text + 1;

	loupe_filter_insn_text(flavour, insns[index], index, LOUPE_SYNTAX_ASM, text, sizeof(text));
	/* Columns are for listings. */
	for (const char *p = text + 1; *p; p++) {
		bool blank = *p == ' ' || *p == '\t';

		if (!blank || out[-1] != ' ')
			*out++ = blank ? ' ' : *p;
	}
	*out = 0;
	return loupe_error_set(err, -EINVAL, "instruction %u (%s): %s", index, text, what);
}

int loupe_filter_check(const struct loupe_cbpf_insn *insns, uint32_t cnt,
		       enum loupe_filter_flavour flavour, uint32_t *bad, struct loupe_error *err)
{
	uint32_t unused, i;

	if (!bad)
		bad = &unused;
	*bad = 0;
	if (!cnt)
		return loupe_error_set(err, -EINVAL, "no instructions");
	if (cnt > LOUPE_FILTER_MAX_INSNS)
		return loupe_error_set(err, -EINVAL, "%u instructions; the kernel takes at most %u",
				       cnt, LOUPE_FILTER_MAX_INSNS);
	for (i = 0; i < cnt; i++) {
		const struct filter_opcode *op = filter_opcode_of(insns[i].code);
		const char *what;
		char buf[128];

		*bad = i;
		if (op->form == FORM_INVALID)
			return loupe_error_set(
				err, -EINVAL,
				"instruction %u: no classic BPF instruction has code 0x%02x", i,
				insns[i].code);
		if (flavour == LOUPE_FILTER_SECCOMP && !op->seccomp)
			return report(err, insns, i, flavour, "seccomp does not allow it");
		what = bad_operand(insns[i], op, flavour, buf, sizeof(buf));
		if (!what)
			what = bad_jump(insns[i], i, cnt, buf, sizeof(buf));
		if (what)
			return report(err, insns, i, flavour, what);
	}
	*bad = cnt - 1;
	if (!filter_is_ret(insns[cnt - 1].code))
		return report(err, insns, cnt - 1, flavour,
			      "the last instruction must be a return");
	i = bad_scratch(insns, cnt);
	if (i == LOUPE_NONE)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	if (i < cnt) {
		*bad = i;
		return report(err, insns, i, flavour,
			      "reads a scratch word that is not written on every way here");
	}
	return 0;
}
