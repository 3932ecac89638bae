// SPDX-License-Identifier: GPL-2.0-only
/* Names of constants that filters in C source and policies use. */
#include "filter/constants.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	uint32_t value;
};

/* In strcmp() order. */
/* clang-format off */
static const struct row rows[] = {
	{ "AUDIT_ARCH_AARCH64", 0xc00000b7 }, { "AUDIT_ARCH_ALPHA", 0xc0009026 },
	{ "AUDIT_ARCH_ARCOMPACT", 0x4000005d }, { "AUDIT_ARCH_ARCOMPACTBE", 93 },
	{ "AUDIT_ARCH_ARCV2", 0x400000c3 }, { "AUDIT_ARCH_ARCV2BE", 195 },
	{ "AUDIT_ARCH_ARM", 0x40000028 }, { "AUDIT_ARCH_ARMEB", 40 },
	{ "AUDIT_ARCH_C6X", 0x4000008c }, { "AUDIT_ARCH_C6XBE", 140 },
	{ "AUDIT_ARCH_CRIS", 0x4000004c }, { "AUDIT_ARCH_CSKY", 0x400000fc },
	{ "AUDIT_ARCH_FRV", 0x5441 }, { "AUDIT_ARCH_H8300", 46 }, { "AUDIT_ARCH_HEXAGON", 164 },
	{ "AUDIT_ARCH_I386", 0x40000003 }, { "AUDIT_ARCH_IA64", 0xc0000032 },
	{ "AUDIT_ARCH_LOONGARCH32", 0x40000102 }, { "AUDIT_ARCH_LOONGARCH64", 0xc0000102 },
	{ "AUDIT_ARCH_M32R", 88 }, { "AUDIT_ARCH_M68K", 4 }, { "AUDIT_ARCH_MICROBLAZE", 189 },
	{ "AUDIT_ARCH_MIPS", 8 }, { "AUDIT_ARCH_MIPS64", 0x80000008 },
	{ "AUDIT_ARCH_MIPS64N32", 0xa0000008 }, { "AUDIT_ARCH_MIPSEL", 0x40000008 },
	{ "AUDIT_ARCH_MIPSEL64", 0xc0000008 }, { "AUDIT_ARCH_MIPSEL64N32", 0xe0000008 },
	{ "AUDIT_ARCH_NDS32", 0x400000a7 }, { "AUDIT_ARCH_NDS32BE", 167 },
	{ "AUDIT_ARCH_NIOS2", 0x40000071 }, { "AUDIT_ARCH_OPENRISC", 92 },
	{ "AUDIT_ARCH_PARISC", 15 }, { "AUDIT_ARCH_PARISC64", 0x8000000f },
	{ "AUDIT_ARCH_PPC", 20 }, { "AUDIT_ARCH_PPC64", 0x80000015 },
	{ "AUDIT_ARCH_PPC64LE", 0xc0000015 }, { "AUDIT_ARCH_RISCV32", 0x400000f3 },
	{ "AUDIT_ARCH_RISCV64", 0xc00000f3 }, { "AUDIT_ARCH_S390", 22 },
	{ "AUDIT_ARCH_S390X", 0x80000016 }, { "AUDIT_ARCH_SH", 42 },
	{ "AUDIT_ARCH_SH64", 0x8000002a }, { "AUDIT_ARCH_SHEL", 0x4000002a },
	{ "AUDIT_ARCH_SHEL64", 0xc000002a }, { "AUDIT_ARCH_SPARC", 2 },
	{ "AUDIT_ARCH_SPARC64", 0x8000002b }, { "AUDIT_ARCH_TILEGX", 0xc00000bf },
	{ "AUDIT_ARCH_TILEGX32", 0x400000bf }, { "AUDIT_ARCH_TILEPRO", 0x400000bc },
	{ "AUDIT_ARCH_UNICORE", 0x4000006e }, { "AUDIT_ARCH_X86_64", 0xc000003e },
	{ "AUDIT_ARCH_XTENSA", 94 }, { "BPF_A", 16 }, { "BPF_ABS", 32 }, { "BPF_ADD", 0 },
	{ "BPF_ALU", 4 }, { "BPF_AND", 80 }, { "BPF_B", 16 }, { "BPF_DIV", 48 }, { "BPF_H", 8 },
	{ "BPF_IMM", 0 }, { "BPF_IND", 64 }, { "BPF_JA", 0 }, { "BPF_JEQ", 16 },
	{ "BPF_JGE", 48 }, { "BPF_JGT", 32 }, { "BPF_JMP", 5 }, { "BPF_JSET", 64 },
	{ "BPF_K", 0 }, { "BPF_LD", 0 }, { "BPF_LDX", 1 }, { "BPF_LEN", 128 }, { "BPF_LSH", 96 },
	{ "BPF_MEM", 96 }, { "BPF_MEMWORDS", 16 }, { "BPF_MISC", 7 }, { "BPF_MOD", 144 },
	{ "BPF_MSH", 160 }, { "BPF_MUL", 32 }, { "BPF_NEG", 128 }, { "BPF_OR", 64 },
	{ "BPF_RET", 6 }, { "BPF_RSH", 112 }, { "BPF_ST", 2 }, { "BPF_STX", 3 },
	{ "BPF_SUB", 16 }, { "BPF_TAX", 0 }, { "BPF_TXA", 128 }, { "BPF_W", 0 }, { "BPF_X", 8 },
	{ "BPF_XOR", 160 }, { "CLONE_NEWNS", 0x20000 }, { "CLONE_NEWUSER", 0x10000000 },
	{ "E2BIG", 7 }, { "EACCES", 13 }, { "EADDRINUSE", 98 }, { "EADDRNOTAVAIL", 99 },
	{ "EADV", 68 }, { "EAFNOSUPPORT", 97 }, { "EAGAIN", 11 }, { "EALREADY", 114 },
	{ "EBADE", 52 }, { "EBADF", 9 }, { "EBADFD", 77 }, { "EBADMSG", 74 }, { "EBADR", 53 },
	{ "EBADRQC", 56 }, { "EBADSLT", 57 }, { "EBFONT", 59 }, { "EBUSY", 16 },
	{ "ECANCELED", 125 }, { "ECHILD", 10 }, { "ECHRNG", 44 }, { "ECOMM", 70 },
	{ "ECONNABORTED", 103 }, { "ECONNREFUSED", 111 }, { "ECONNRESET", 104 },
	{ "EDEADLK", 35 }, { "EDEADLOCK", 35 }, { "EDESTADDRREQ", 89 }, { "EDOM", 33 },
	{ "EDOTDOT", 73 }, { "EDQUOT", 122 }, { "EEXIST", 17 }, { "EFAULT", 14 },
	{ "EFBIG", 27 }, { "EHOSTDOWN", 112 }, { "EHOSTUNREACH", 113 }, { "EHWPOISON", 133 },
	{ "EIDRM", 43 }, { "EILSEQ", 84 }, { "EINPROGRESS", 115 }, { "EINTR", 4 },
	{ "EINVAL", 22 }, { "EIO", 5 }, { "EISCONN", 106 }, { "EISDIR", 21 }, { "EISNAM", 120 },
	{ "EKEYEXPIRED", 127 }, { "EKEYREJECTED", 129 }, { "EKEYREVOKED", 128 },
	{ "EL2HLT", 51 }, { "EL2NSYNC", 45 }, { "EL3HLT", 46 }, { "EL3RST", 47 },
	{ "ELIBACC", 79 }, { "ELIBBAD", 80 }, { "ELIBEXEC", 83 }, { "ELIBMAX", 82 },
	{ "ELIBSCN", 81 }, { "ELNRNG", 48 }, { "ELOOP", 40 }, { "EMEDIUMTYPE", 124 },
	{ "EMFILE", 24 }, { "EMLINK", 31 }, { "EMSGSIZE", 90 }, { "EMULTIHOP", 72 },
	{ "ENAMETOOLONG", 36 }, { "ENAVAIL", 119 }, { "ENETDOWN", 100 }, { "ENETRESET", 102 },
	{ "ENETUNREACH", 101 }, { "ENFILE", 23 }, { "ENOANO", 55 }, { "ENOBUFS", 105 },
	{ "ENOCSI", 50 }, { "ENODATA", 61 }, { "ENODEV", 19 }, { "ENOENT", 2 }, { "ENOEXEC", 8 },
	{ "ENOKEY", 126 }, { "ENOLCK", 37 }, { "ENOLINK", 67 }, { "ENOMEDIUM", 123 },
	{ "ENOMEM", 12 }, { "ENOMSG", 42 }, { "ENONET", 64 }, { "ENOPKG", 65 },
	{ "ENOPROTOOPT", 92 }, { "ENOSPC", 28 }, { "ENOSR", 63 }, { "ENOSTR", 60 },
	{ "ENOSYS", 38 }, { "ENOTBLK", 15 }, { "ENOTCONN", 107 }, { "ENOTDIR", 20 },
	{ "ENOTEMPTY", 39 }, { "ENOTNAM", 118 }, { "ENOTRECOVERABLE", 131 }, { "ENOTSOCK", 88 },
	{ "ENOTSUP", 95 }, { "ENOTTY", 25 }, { "ENOTUNIQ", 76 }, { "ENXIO", 6 },
	{ "EOPNOTSUPP", 95 }, { "EOVERFLOW", 75 }, { "EOWNERDEAD", 130 }, { "EPERM", 1 },
	{ "EPFNOSUPPORT", 96 }, { "EPIPE", 32 }, { "EPROTO", 71 }, { "EPROTONOSUPPORT", 93 },
	{ "EPROTOTYPE", 91 }, { "ERANGE", 34 }, { "EREMCHG", 78 }, { "EREMOTE", 66 },
	{ "EREMOTEIO", 121 }, { "ERESTART", 85 }, { "ERFKILL", 132 }, { "EROFS", 30 },
	{ "ESHUTDOWN", 108 }, { "ESOCKTNOSUPPORT", 94 }, { "ESPIPE", 29 }, { "ESRCH", 3 },
	{ "ESRMNT", 69 }, { "ESTALE", 116 }, { "ESTRPIPE", 86 }, { "ETH_P_8021Q", 0x8100 },
	{ "ETH_P_ARP", 0x806 }, { "ETH_P_IP", 0x800 }, { "ETH_P_IPV6", 0x86dd }, { "ETIME", 62 },
	{ "ETIMEDOUT", 110 }, { "ETOOMANYREFS", 109 }, { "ETXTBSY", 26 }, { "EUCLEAN", 117 },
	{ "EUNATCH", 49 }, { "EUSERS", 87 }, { "EWOULDBLOCK", 11 }, { "EXDEV", 18 },
	{ "EXFULL", 54 }, { "IPPROTO_ICMP", 1 }, { "IPPROTO_ICMPV6", 58 }, { "IPPROTO_TCP", 6 },
	{ "IPPROTO_UDP", 17 }, { "SECCOMP_RET_ACTION", 0x7fff0000 },
	{ "SECCOMP_RET_ACTION_FULL", 0xffff0000 }, { "SECCOMP_RET_ALLOW", 0x7fff0000 },
	{ "SECCOMP_RET_DATA", 0xffff }, { "SECCOMP_RET_ERRNO", 0x50000 },
	{ "SECCOMP_RET_KILL", 0 }, { "SECCOMP_RET_KILL_PROCESS", 0x80000000 },
	{ "SECCOMP_RET_KILL_THREAD", 0 }, { "SECCOMP_RET_LOG", 0x7ffc0000 },
	{ "SECCOMP_RET_TRACE", 0x7ff00000 }, { "SECCOMP_RET_TRAP", 0x30000 },
	{ "SECCOMP_RET_USER_NOTIF", 0x7fc00000 }, { "SKF_AD_ALU_XOR_X", 40 },
	{ "SKF_AD_CPU", 36 }, { "SKF_AD_HATYPE", 28 }, { "SKF_AD_IFINDEX", 8 },
	{ "SKF_AD_MARK", 20 }, { "SKF_AD_MAX", 64 }, { "SKF_AD_NLATTR", 12 },
	{ "SKF_AD_NLATTR_NEST", 16 }, { "SKF_AD_OFF", 0xfffff000 }, { "SKF_AD_PAY_OFFSET", 52 },
	{ "SKF_AD_PKTTYPE", 4 }, { "SKF_AD_PROTOCOL", 0 }, { "SKF_AD_QUEUE", 24 },
	{ "SKF_AD_RANDOM", 56 }, { "SKF_AD_RXHASH", 32 }, { "SKF_AD_VLAN_TAG", 44 },
	{ "SKF_AD_VLAN_TAG_PRESENT", 48 }, { "SKF_AD_VLAN_TPID", 60 },
	{ "SKF_LL_OFF", 0xffe00000 }, { "SKF_NET_OFF", 0xfff00000 },
	{ "UINT32_MAX", 0xffffffff }, { "__X32_SYSCALL_BIT", 0x40000000 },
};
/* clang-format on */

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct row *)row)->name);
}

bool filter_constant(const char *name, uint32_t *value)
{
	const struct row *row =
		bsearch(name, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), compare);

	if (row)
		*value = row->value;
	return row;
}
