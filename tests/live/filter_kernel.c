// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: filter_kernel [COUNT [SEED]]
 * Random classic programs against the running kernel: it takes what loupe_filter_check() takes
 * (socket filters and seccomp), and answers what loupe_filter_eval() answers, for the program and
 * for what the optimizer makes of it.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit/filter_random.h"

enum { SKIPPED = 77, MAX_INSNS = 60, INPUTS = 12, PACKET = 48 };

static unsigned int failures;

_Static_assert(sizeof(struct loupe_cbpf_insn) == sizeof(struct sock_filter), "same layout");

static void differ(const char *what, const struct loupe_cbpf_insn *insns, uint32_t cnt,
		   enum loupe_filter_flavour flavour)
{
	char text[160];

	failures++;
	printf("%s\n", what);
	for (uint32_t i = 0; i < cnt; i++) {
		loupe_filter_insn_text(flavour, insns[i], i, LOUPE_SYNTAX_WORDS, text,
				       sizeof(text));
		printf("%4u: %s\n", i, text);
	}
}

static struct sock_fprog fprog(const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	return (struct sock_fprog){ .len = (unsigned short)cnt,
				    .filter = (struct sock_filter *)(uintptr_t)insns };
}

static bool attach(int fd, const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	struct sock_fprog prog = fprog(insns, cnt);

	return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

/* Breaks a valid program in some way, sometimes. */
static void spoil(struct random_source *r, struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	struct loupe_cbpf_insn *insn = &insns[random_below(r, cnt)];

	switch (random_below(r, 5)) {
	case 0:
		insn->code = (uint16_t)random_below(r, random_below(r, 8) ? 256 : 65536);
		break;
	case 1:
		insn->k = random_below(r, 2) ? random_next(r) : random_below(r, 70);
		break;
	case 2:
		insn->jt = (uint8_t)random_below(r, 256);
		break;
	case 3:
		insn->code = BPF_LD | BPF_MEM;
		insn->k = random_below(r, 20);
		break;
	default:
		break;
	}
}

static void compare_verdicts(struct random_source *r, unsigned int count, int fd)
{
	unsigned int taken = 0;

	for (unsigned int n = 0; n < count; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		uint32_t cnt = random_filter(r, false, insns, MAX_INSNS);
		bool ours, theirs;

		spoil(r, insns, cnt);
		ours = !loupe_filter_check(insns, cnt, LOUPE_FILTER_SOCKET, NULL, NULL);
		theirs = attach(fd, insns, cnt);
		taken += theirs;
		if (ours != theirs)
			differ(theirs ? "the kernel takes what we refuse"
				      : "the kernel refuses what we take",
			       insns, cnt, LOUPE_FILTER_SOCKET);
	}
	printf("socket: %u programs, of which the kernel takes %u\n", count, taken);
}

/* Installs a seccomp filter in this process. */
static bool install(const struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	struct sock_fprog prog = fprog(insns, cnt);

	return !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

static void compare_seccomp_verdicts(struct random_source *r, unsigned int count)
{
	unsigned int taken = 0;

	for (unsigned int n = 0; n < count; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		uint32_t cnt = random_filter(r, true, insns, MAX_INSNS);
		bool ours, theirs;
		pid_t child;
		int status;

		spoil(r, insns, cnt);
		ours = !loupe_filter_check(insns, cnt, LOUPE_FILTER_SECCOMP, NULL, NULL);
		child = fork();
		if (!child) {
			/* Nothing can be said any more once it is installed. */
			if (install(insns, cnt))
				__builtin_trap();
			_exit(0);
		}
		waitpid(child, &status, 0);
		theirs = !WIFEXITED(status);
		taken += theirs;
		if (ours != theirs)
			differ(theirs ? "seccomp takes what we refuse"
				      : "seccomp refuses what we take",
			       insns, cnt, LOUPE_FILTER_SECCOMP);
	}
	printf("seccomp: %u programs, of which the kernel takes %u\n", count, taken);
}

/* What the optimizer makes of a filter. */
static struct loupe_filter *optimized(const struct loupe_filter *filter, uint32_t level)
{
	const struct loupe_filter_opts opts = { .level = level };
	struct loupe_filter *after = NULL;
	struct loupe_rewrite *rw;

	if (!loupe_filter_optimize(filter, &opts, &rw, NULL))
		loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, NULL);
	loupe_rewrite_destroy(rw);
	return after;
}

/* Bytes of the packet that the kernel lets through, 0 when it drops it. */
static uint32_t send_through(int to, int from, const uint8_t *packet, size_t len)
{
	uint8_t got[PACKET];
	ssize_t n;

	if (send(to, packet, len, MSG_DONTWAIT) < 0)
		return 0;
	n = recv(from, got, sizeof(got), MSG_DONTWAIT);
	return n < 0 ? 0 : (uint32_t)n;
}

static void compare_packets(struct random_source *r, unsigned int count, const int fds[2])
{
	for (unsigned int n = 0; n < count; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		uint32_t cnt = random_filter(r, false, insns, MAX_INSNS);
		struct loupe_filter *before = NULL, *after;

		for (uint32_t i = 0; i < cnt; i++) {
			if (insns[i].code == (BPF_RET | BPF_K))
				insns[i].k *= 5;
		}
		loupe_filter_create("t", insns, cnt, LOUPE_FILTER_SOCKET, &before, NULL);
		after = optimized(before, n % 3);
		if (!after || !attach(fds[1], after->insns, after->cnt)) {
			differ("the kernel refuses the optimized program", insns, cnt,
			       LOUPE_FILTER_SOCKET);
			continue;
		}
		for (int twice = 0; twice < 2; twice++) {
			struct random_source same = { .state = n + 1 };

			for (int i = 0; i < INPUTS; i++) {
				uint8_t packet[PACKET];
				size_t len = random_packet(&same, insns, cnt, packet, PACKET);
				struct loupe_filter_input input = { .data = packet, .len = len };
				struct loupe_filter_run run = { 0 };
				uint32_t got = send_through(fds[0], fds[1], packet, len);

				loupe_filter_eval(before, &input, &run, NULL);
				if (run.result > len)
					run.result = (uint32_t)len;
				if (run.result != got)
					differ("a packet fares otherwise in the kernel", insns, cnt,
					       LOUPE_FILTER_SOCKET);
			}
			attach(fds[1], before->insns, before->cnt);
		}
		loupe_filter_destroy(before);
		loupe_filter_destroy(after);
	}
	printf("socket: %u programs and their optimized ones, %d packets each\n", count, INPUTS);
}

/* What a child finds under its filter, where no system call works any more. */
struct shared {
	struct loupe_seccomp_data inputs[INPUTS];
	volatile long results[INPUTS];
	volatile int done;
};

static long raw_syscall(const struct loupe_seccomp_data *data)
{
	register long r10 __asm__("r10") = (long)data->args[3];
	register long r8 __asm__("r8") = (long)data->args[4];
	register long r9 __asm__("r9") = (long)data->args[5];
	long ret = (long)data->nr;

	__asm__ volatile("syscall"
			 : "+a"(ret)
			 : "D"(data->args[0]), "S"(data->args[1]), "d"(data->args[2]), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static void ask_kernel(const struct loupe_filter *filter, struct shared *shared)
{
	struct timespec nap = { .tv_nsec = 100000 };
	pid_t child;

	shared->done = 0;
	for (int i = 0; i < INPUTS; i++)
		shared->results[i] = 1;
	child = fork();
	if (!child) {
		if (!install(filter->insns, filter->cnt))
			_exit(1);
		for (int i = 0; i < INPUTS; i++)
			shared->results[i] = raw_syscall(&shared->inputs[i]);
		shared->done = 1;
		for (;;)
			__builtin_ia32_pause();
	}
	for (int i = 0; !shared->done && i < 100000; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return;
		nanosleep(&nap, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Every action becomes an errno of its own, so that no call runs. */
static void compare_calls(struct random_source *r, unsigned int count, struct shared *shared)
{
	for (unsigned int n = 0; n < count; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		uint32_t cnt = random_filter(r, true, insns, MAX_INSNS);
		struct loupe_filter *filters[2] = { NULL, NULL };

		for (uint32_t i = 0; i < cnt; i++) {
			if (BPF_CLASS(insns[i].code) == BPF_RET) {
				insns[i].code = BPF_RET | BPF_K;
				insns[i].k = SECCOMP_RET_ERRNO | (insns[i].k % 4 + 1);
			}
		}
		loupe_filter_create("t", insns, cnt, LOUPE_FILTER_SECCOMP, &filters[0], NULL);
		filters[1] = optimized(filters[0], n % 4);
		for (int i = 0; i < INPUTS; i++) {
			random_seccomp_data(r, insns, cnt, &shared->inputs[i]);
			shared->inputs[i].nr &= 0x7fffffff;
			shared->inputs[i].arch = AUDIT_ARCH_X86_64;
		}
		for (int f = 0; f < 2; f++) {
			ask_kernel(filters[f], shared);
			for (int i = 0; i < INPUTS; i++) {
				struct loupe_filter_input input = { .data = &shared->inputs[i],
								    .len = 64 };
				struct loupe_filter_run run = { 0 };

				loupe_filter_eval(filters[0], &input, &run, NULL);
				/* Division by X = 0 gives 0, which kills the thread. */
				if (run.out_of_input && !shared->done)
					break;
				if (run.out_of_input ||
				    shared->results[i] != -(long)(run.result & 0xffff)) {
					differ("a call fares otherwise in the kernel", insns, cnt,
					       LOUPE_FILTER_SECCOMP);
					break;
				}
			}
		}
		loupe_filter_destroy(filters[0]);
		loupe_filter_destroy(filters[1]);
	}
	printf("seccomp: %u programs and their optimized ones, %d calls each\n", count, INPUTS);
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 1000;
	struct random_source r = { .state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 };
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static const struct loupe_cbpf_insn all = { BPF_RET | BPF_K, 0, 0, 65535 };
	int fds[2];

#ifndef __x86_64__
	printf("skipped: only x86-64 is known here\n");
	return SKIPPED;
#endif
	setvbuf(stdout, NULL, _IONBF, 0);
	if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) ||
	    !attach(fds[1], &all, 1) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){ SECCOMP_RET_ERRNO })) {
		printf("skipped: no socket or seccomp filters here: %s\n", strerror(errno));
		return SKIPPED;
	}
	compare_verdicts(&r, count * 20, fds[1]);
	compare_seccomp_verdicts(&r, count);
	compare_packets(&r, count * 4, fds);
	compare_calls(&r, count, shared);
	return failures != 0;
}
