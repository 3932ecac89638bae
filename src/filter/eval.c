// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a filter as the kernel would. It shares nothing with the optimizer, so that it can judge
 * it: opcodes are spelled out here.
 */
#include "bpfloupe/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>

struct machine {
	uint32_t a, x;
	uint32_t m[16];
};

/* Where a packet offset points, NULL when size bytes are not all inside the packet. */
static const uint8_t *packet_at(const struct loupe_filter_input *input, uint32_t offset,
				uint32_t size)
{
	int64_t at = (int32_t)offset;

	if (at < 0) {
		if (at >= SKF_NET_OFF)
			at = at - SKF_NET_OFF + input->net_off;
		else if (at >= SKF_LL_OFF)
			at = at - SKF_LL_OFF;
		else
			return NULL;
	}
	if (at + size > (int64_t)input->len)
		return NULL;
	return (const uint8_t *)input->data + at;
}

static bool load_packet(const struct loupe_filter_input *input, uint32_t offset, uint16_t size,
			uint32_t *value)
{
	uint32_t bytes = size == BPF_W ? 4 : size == BPF_H ? 2 : 1;
	const uint8_t *p = packet_at(input, offset, bytes);

	if (!p)
		return false;
	*value = 0;
	while (bytes--)
		*value = *value << 8 | *p++;
	return true;
}

/* An absolute load. 0, 1 when it ends the run, -ENOTSUP. */
static int load_absolute(const struct loupe_filter *filter, const struct loupe_filter_input *input,
			 struct loupe_cbpf_insn insn, struct machine *m, struct loupe_error *err)
{
	uint32_t ad = insn.k - (uint32_t)SKF_AD_OFF;

	if (filter->flavour == LOUPE_FILTER_SECCOMP) {
		memcpy(&m->a, (const uint8_t *)input->data + insn.k, sizeof(m->a));
		return 0;
	}
	if (insn.k < (uint32_t)SKF_AD_OFF)
		return load_packet(input, insn.k, insn.code & 0x18, &m->a) ? 0 : 1;
	if (ad == SKF_AD_ALU_XOR_X) {
		m->a ^= m->x;
		return 0;
	}
	if (ad == SKF_AD_NLATTR || ad == SKF_AD_NLATTR_NEST)
		return loupe_error_set(err, -ENOTSUP, "netlink attribute search is not evaluated");
	if (!input->ancillary)
		return loupe_error_set(err, -ENOTSUP,
				       "the filter reads ancillary data, and no values are given");
	m->a = input->ancillary[ad / 4];
	return 0;
}

/* false: division by X = 0, which ends the run. */
static bool alu(struct loupe_cbpf_insn insn, struct machine *m)
{
	uint32_t operand = insn.code & BPF_X ? m->x : insn.k;

	switch (insn.code & 0xf0) {
	case BPF_ADD:
		m->a += operand;
		break;
	case BPF_SUB:
		m->a -= operand;
		break;
	case BPF_MUL:
		m->a *= operand;
		break;
	case BPF_DIV:
		if (!operand)
			return false;
		m->a /= operand;
		break;
	case BPF_MOD:
		if (!operand)
			return false;
		m->a %= operand;
		break;
	case BPF_OR:
		m->a |= operand;
		break;
	case BPF_AND:
		m->a &= operand;
		break;
	case BPF_XOR:
		m->a ^= operand;
		break;
	case BPF_LSH:
		m->a <<= operand & 31;
		break;
	case BPF_RSH:
		m->a >>= operand & 31;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	}
	return true;
}

static bool condition(struct loupe_cbpf_insn insn, const struct machine *m)
{
	uint32_t operand = insn.code & BPF_X ? m->x : insn.k;

	switch (insn.code & 0xf0) {
	case BPF_JEQ:
		return m->a == operand;
	case BPF_JGT:
		return m->a > operand;
	case BPF_JGE:
		return m->a >= operand;
	default:
		return m->a & operand;
	}
}

/* Loads into A and X. 0, 1 when it ends the run, negative errno. */
static int load(const struct loupe_filter *filter, const struct loupe_filter_input *input,
		struct loupe_cbpf_insn insn, struct machine *m, struct loupe_filter_run *run,
		struct loupe_error *err)
{
	bool to_x = (insn.code & 7) == BPF_LDX;
	uint32_t value = 0;

	switch (insn.code & 0xe0) {
	case BPF_IMM:
		value = insn.k;
		break;
	case BPF_MEM:
		value = m->m[insn.k];
		break;
	case BPF_LEN:
		value = (uint32_t)input->len;
		run->loads++;
		break;
	case BPF_MSH:
		run->loads++;
		if (!load_packet(input, insn.k, BPF_B, &value))
			return 1;
		value = (value & 0xf) * 4;
		break;
	case BPF_IND:
		run->loads++;
		return load_packet(input, m->x + insn.k, insn.code & 0x18, &m->a) ? 0 : 1;
	default:
		run->loads++;
		return load_absolute(filter, input, insn, m, err);
	}
	*(to_x ? &m->x : &m->a) = value;
	return 0;
}

int loupe_filter_eval(const struct loupe_filter *filter, const struct loupe_filter_input *input,
		      struct loupe_filter_run *run, struct loupe_error *err)
{
	struct machine m = { 0 };
	uint32_t pc = 0;
	int ret;

	run->result = run->executed = run->loads = 0;
	run->out_of_input = false;
	if (filter->flavour == LOUPE_FILTER_SECCOMP &&
	    input->len != sizeof(struct loupe_seccomp_data))
		return loupe_error_set(err, -EINVAL, "seccomp data has %zu bytes, not %zu",
				       sizeof(struct loupe_seccomp_data), input->len);
	for (;;) {
		struct loupe_cbpf_insn insn = filter->insns[pc];

		if (run->path)
			run->path[run->executed] = pc;
		run->executed++;
		pc++;
		switch (insn.code & 7) {
		case BPF_LD:
		case BPF_LDX:
			ret = load(filter, input, insn, &m, run, err);
			if (ret < 0)
				return ret;
			if (ret) {
				run->out_of_input = true;
				return 0;
			}
			break;
		case BPF_ST:
			m.m[insn.k] = m.a;
			break;
		case BPF_STX:
			m.m[insn.k] = m.x;
			break;
		case BPF_ALU:
			if (!alu(insn, &m)) {
				run->out_of_input = true;
				return 0;
			}
			break;
		case BPF_JMP:
			if ((insn.code & 0xf0) == BPF_JA)
				pc += insn.k;
			else
				pc += condition(insn, &m) ? insn.jt : insn.jf;
			break;
		case BPF_RET:
			run->result = insn.code & BPF_A ? m.a : insn.k;
			return 0;
		default:
			if (insn.code & BPF_TXA)
				m.a = m.x;
			else
				m.x = m.a;
		}
	}
}
