// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sandbox for a worker process, rule after rule, as a simple rule compiler writes it: each rule
 * loads the number again, each alternative loads both halves of its argument again, and conditions
 * lead to jumps. Open it in bpfloupe to see what is left of that.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

static const struct sock_filter worker[] = {
	/* Only 64-bit system calls. */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 58),
	/* What needs no look at arguments. */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 54),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 51),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 48),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 45),
	/* ioctl(fd, TCGETS | TIOCGWINSZ | FIONREAD) */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 19),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5401, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 38),
	BPF_STMT(BPF_JMP | BPF_JA, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5413, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 32),
	BPF_STMT(BPF_JMP | BPF_JA, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x541b, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 26),
	BPF_STMT(BPF_JMP | BPF_JA, 0),
	BPF_STMT(BPF_JMP | BPF_JA, 23),
	/* mmap() and mprotect() without PROT_EXEC */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 3, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 4),
	BPF_STMT(BPF_JMP | BPF_JA, 0),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x4, 16, 0),
	BPF_STMT(BPF_JMP | BPF_JA, 16),
	/* openat() for reading: (flags & O_ACCMODE) == O_RDONLY */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 5),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 3),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 10),
	BPF_STMT(BPF_JMP | BPF_JA, 8),
	/* futex(): FUTEX_WAIT and FUTEX_WAKE, private or not */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_futex, 0, 5),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~0x80),
	BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 1, 1, 0),
	BPF_STMT(BPF_JMP | BPF_JA, 3),
	BPF_STMT(BPF_JMP | BPF_JA, 1),
	BPF_STMT(BPF_JMP | BPF_JA, 0),
	/* Where everything ends. */
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
