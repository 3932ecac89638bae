// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's cache of system calls that a seccomp filter allows whatever their arguments (since
 * Linux 5.11): when a filter is installed the kernel walks it for each number with only number and
 * architecture known. It gives up at the first instruction of any other kind than these.
 */
#include "bpfloupe/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

bool loupe_seccomp_is_cached(const struct loupe_filter *filter, uint32_t arch, uint32_t nr)
{
	uint32_t a = 0;

	if (filter->flavour != LOUPE_FILTER_SECCOMP)
		return false;
	for (uint32_t pc = 0; pc < filter->cnt; pc++) {
		struct loupe_cbpf_insn insn = filter->insns[pc];
		bool taken;

		switch (insn.code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (insn.k == offsetof(struct loupe_seccomp_data, nr))
				a = nr;
			else if (insn.k == offsetof(struct loupe_seccomp_data, arch))
				a = arch;
			else
				return false;
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= insn.k;
			continue;
		case BPF_RET | BPF_K:
			return insn.k == SECCOMP_RET_ALLOW;
		case BPF_JMP | BPF_JA:
			pc += insn.k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			taken = a == insn.k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			taken = a > insn.k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			taken = a >= insn.k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			taken = a & insn.k;
			break;
		default:
			return false;
		}
		pc += taken ? insn.jt : insn.jf;
	}
	return false;
}
