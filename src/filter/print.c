// SPDX-License-Identifier: GPL-2.0-only
/* One instruction as text: tcpdump -d's syntax, and words. */
#include "filter/opcode.h"

#include <stdio.h>
#include <string.h>

struct loupe_filter_read loupe_filter_read_of(enum loupe_filter_flavour flavour,
					      struct loupe_cbpf_insn insn)
{
	static const struct {
		uint8_t word;
		uint8_t arg;
	} seccomp_words[16] = {
		{ LOUPE_WORD_NR, 0 },	  { LOUPE_WORD_ARCH, 0 },   { LOUPE_WORD_IP_LO, 0 },
		{ LOUPE_WORD_IP_HI, 0 },  { LOUPE_WORD_ARG_LO, 0 }, { LOUPE_WORD_ARG_HI, 0 },
		{ LOUPE_WORD_ARG_LO, 1 }, { LOUPE_WORD_ARG_HI, 1 }, { LOUPE_WORD_ARG_LO, 2 },
		{ LOUPE_WORD_ARG_HI, 2 }, { LOUPE_WORD_ARG_LO, 3 }, { LOUPE_WORD_ARG_HI, 3 },
		{ LOUPE_WORD_ARG_LO, 4 }, { LOUPE_WORD_ARG_HI, 4 }, { LOUPE_WORD_ARG_LO, 5 },
		{ LOUPE_WORD_ARG_HI, 5 },
	};
	struct loupe_filter_read read = {
		.word = LOUPE_WORD_NONE,
		.size = 4,
		.to_x = BPF_CLASS(insn.code) == BPF_LDX,
		.offset = insn.k,
	};

	switch (filter_opcode_of(insn.code)->form) {
	case FORM_ABS:
		if (flavour == LOUPE_FILTER_SECCOMP) {
			if (insn.k % 4 || insn.k >= SECCOMP_DATA_SIZE) {
				read.word = LOUPE_WORD_PACKET;
				break;
			}
			read.word = seccomp_words[insn.k / 4].word;
			read.arg = seccomp_words[insn.k / 4].arg;
			break;
		}
		read.word = insn.k >= FILTER_AD_OFF ? LOUPE_WORD_ANCILLARY : LOUPE_WORD_PACKET;
		if (read.word == LOUPE_WORD_ANCILLARY)
			read.offset = insn.k - FILTER_AD_OFF;
		break;
	case FORM_IND:
		read.word = LOUPE_WORD_PACKET_IND;
		break;
	case FORM_MSH:
		read.word = LOUPE_WORD_MSH;
		read.size = 1;
		break;
	case FORM_LEN:
		read.word = LOUPE_WORD_LEN;
		break;
	case FORM_IMM:
		read.word = LOUPE_WORD_IMM;
		break;
	case FORM_MEM:
		read.word = LOUPE_WORD_MEM;
		break;
	default:
		break;
	}
	if (read.word == LOUPE_WORD_PACKET || read.word == LOUPE_WORD_PACKET_IND) {
		if (BPF_SIZE(insn.code) == BPF_H)
			read.size = 2;
		else if (BPF_SIZE(insn.code) == BPF_B)
			read.size = 1;
	}
	return read;
}

/* Packet offsets below the ancillary ones count from a header. */
static int packet_text(struct loupe_filter_read read, const char *index, char *buf, size_t size)
{
	unsigned int bits = read.size * 8u;

	if (!*index && read.offset >= FILTER_NET_OFF)
		return snprintf(buf, size, "u%u packet[net + %u]", bits,
				read.offset - FILTER_NET_OFF);
	if (!*index && read.offset >= FILTER_LL_OFF)
		return snprintf(buf, size, "u%u packet[mac + %u]", bits,
				read.offset - FILTER_LL_OFF);
	return snprintf(buf, size, "u%u packet[%s%d]", bits, index, (int)read.offset);
}

int loupe_filter_read_text(struct loupe_filter_read read, char *buf, size_t size)
{
	const char *name;

	switch (read.word) {
	case LOUPE_WORD_NR:
		return snprintf(buf, size, "nr");
	case LOUPE_WORD_ARCH:
		return snprintf(buf, size, "arch");
	case LOUPE_WORD_IP_LO:
		return snprintf(buf, size, "ip.lo");
	case LOUPE_WORD_IP_HI:
		return snprintf(buf, size, "ip.hi");
	case LOUPE_WORD_ARG_LO:
		return snprintf(buf, size, "args[%u].lo", read.arg);
	case LOUPE_WORD_ARG_HI:
		return snprintf(buf, size, "args[%u].hi", read.arg);
	case LOUPE_WORD_PACKET:
		return packet_text(read, "", buf, size);
	case LOUPE_WORD_PACKET_IND:
		return packet_text(read, "X + ", buf, size);
	case LOUPE_WORD_MSH:
		return snprintf(buf, size, "4 * (packet[%d] & 0xf)", (int)read.offset);
	case LOUPE_WORD_ANCILLARY:
		name = filter_ancillary_name(read.offset);
		return snprintf(buf, size, "%s", name ? name : "unknown ancillary data");
	case LOUPE_WORD_LEN:
		return snprintf(buf, size, "length");
	case LOUPE_WORD_IMM:
		return snprintf(buf, size, "0x%x", read.offset);
	case LOUPE_WORD_MEM:
		return snprintf(buf, size, "M[%u]", read.offset);
	case LOUPE_WORD_NONE:
		break;
	}
	return snprintf(buf, size, "%s", "");
}

int loupe_seccomp_action_text(uint32_t ret, char *buf, size_t size)
{
	static const struct {
		uint32_t value;
		const char *name;
		bool data; /* the low 16 bits mean something */
	} actions[] = {
		{ 0x80000000, "KILL_PROCESS", false }, { 0x00000000, "KILL_THREAD", false },
		{ 0x00030000, "TRAP", true },	       { 0x00050000, "ERRNO", true },
		{ 0x7fc00000, "USER_NOTIF", false },   { 0x7ff00000, "TRACE", true },
		{ 0x7ffc0000, "LOG", false },	       { 0x7fff0000, "ALLOW", false },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (actions[i].value != (ret & 0xffff0000))
			continue;
		/* Data that means nothing is shown only where somebody put some. */
		if (actions[i].data || ret & 0xffff)
			return snprintf(buf, size, "%s(%u)", actions[i].name, ret & 0xffff);
		return snprintf(buf, size, "%s", actions[i].name);
	}
	return snprintf(buf, size, "0x%x", ret);
}

int loupe_filter_insn_words(enum loupe_filter_flavour flavour, struct loupe_cbpf_insn insn,
			    char *buf, size_t size)
{
	const struct filter_opcode *op = filter_opcode_of(insn.code);
	struct loupe_filter_read read = loupe_filter_read_of(flavour, insn);
	char text[64];

	if (read.word == LOUPE_WORD_ANCILLARY && read.offset == 40)
		return snprintf(buf, size, "A ^= X");
	if (read.word != LOUPE_WORD_NONE) {
		loupe_filter_read_text(read, text, sizeof(text));
		return snprintf(buf, size, "%c = %s", read.to_x ? 'X' : 'A', text);
	}
	switch (op->form) {
	case FORM_ST:
		return snprintf(buf, size, "M[%u] = %c", insn.k, insn.code == BPF_ST ? 'A' : 'X');
	case FORM_MISC:
		return snprintf(buf, size, insn.code == (BPF_MISC | BPF_TAX) ? "X = A" : "A = X");
	case FORM_ALU_K:
		return snprintf(buf, size, insn.k < 10 ? "A %s= %u" : "A %s= 0x%x", op->sign,
				insn.k);
	case FORM_ALU_X:
		return snprintf(buf, size, "A %s= X", op->sign);
	case FORM_NEG:
		return snprintf(buf, size, "A = -A");
	case FORM_JA:
		return snprintf(buf, size, "goto");
	case FORM_JMP_K:
		return snprintf(buf, size, "if A %s 0x%x", op->sign, insn.k);
	case FORM_JMP_X:
		return snprintf(buf, size, "if A %s X", op->sign);
	case FORM_RET_K:
		if (flavour == LOUPE_FILTER_SECCOMP)
			loupe_seccomp_action_text(insn.k, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%u", insn.k);
		return snprintf(buf, size, "return %s", text);
	case FORM_RET_A:
		return snprintf(buf, size, "return A");
	default:
		return snprintf(buf, size, "code 0x%x", insn.code);
	}
}

/* Operand in tcpdump -d's syntax. */
static void operand(enum loupe_filter_flavour flavour, struct loupe_cbpf_insn insn, uint32_t index,
		    char *buf, size_t size)
{
	bool bits = BPF_OP(insn.code) == BPF_AND || BPF_OP(insn.code) == BPF_OR ||
		    BPF_OP(insn.code) == BPF_XOR;

	switch (filter_opcode_of(insn.code)->form) {
	case FORM_ABS:
		snprintf(buf, size, "[%d]", (int)insn.k);
		break;
	case FORM_IND:
		snprintf(buf, size, "[x + %d]", (int)insn.k);
		break;
	case FORM_IMM:
	case FORM_JMP_K:
		snprintf(buf, size, "#0x%x", insn.k);
		break;
	case FORM_LEN:
		snprintf(buf, size, "#pktlen");
		break;
	case FORM_MEM:
	case FORM_ST:
		snprintf(buf, size, "M[%u]", insn.k);
		break;
	case FORM_MSH:
		snprintf(buf, size, "4*([%d]&0xf)", (int)insn.k);
		break;
	case FORM_ALU_K:
		snprintf(buf, size, bits ? "#0x%x" : "#%u", insn.k);
		break;
	case FORM_ALU_X:
	case FORM_JMP_X:
		snprintf(buf, size, "x");
		break;
	case FORM_JA:
		snprintf(buf, size, "%llu", index + 1 + (unsigned long long)insn.k);
		break;
	case FORM_RET_K:
		/* seccomp's actions are unreadable in decimal. */
		snprintf(buf, size, flavour == LOUPE_FILTER_SECCOMP ? "#0x%x" : "#%u", insn.k);
		break;
	default:
		snprintf(buf, size, "%s", "");
	}
}

int loupe_filter_insn_text(enum loupe_filter_flavour flavour, struct loupe_cbpf_insn insn,
			   uint32_t index, enum loupe_filter_syntax syntax, char *buf, size_t size)
{
	const struct filter_opcode *op = filter_opcode_of(insn.code);
	bool cond = filter_is_cond(insn.code) && op->form != FORM_INVALID;
	unsigned int t = index + 1 + insn.jt, f = index + 1 + insn.jf;
	char text[96];

	if (op->form == FORM_INVALID)
		return snprintf(buf, size, "unimp    0x%x", insn.code);
	if (syntax == LOUPE_SYNTAX_ASM) {
		operand(flavour, insn, index, text, sizeof(text));
		if (cond)
			return snprintf(buf, size, "%-8s %-16s jt %u\tjf %u", op->name, text, t, f);
		if (!*text)
			return snprintf(buf, size, "%s", op->name);
		return snprintf(buf, size, "%-8s %s", op->name, text);
	}
	loupe_filter_insn_words(flavour, insn, text, sizeof(text));
	if (cond)
		return snprintf(buf, size, "%s goto %u else %u", text, t, f);
	if (op->form == FORM_JA)
		return snprintf(buf, size, "goto %llu", index + 1 + (unsigned long long)insn.k);
	return snprintf(buf, size, "%s", text);
}
