// SPDX-License-Identifier: GPL-2.0-only
/*
 * A child with two stacked filters: what is read out of it is what it installed, the newest first,
 * and stacked answers are the kernel's. Skipped where filters cannot be read.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpfloupe/kernel.h"

enum { SKIPPED = 77 };

#define ERRNO(n) (SECCOMP_RET_ERRNO | (n))

/* Two calls that do no harm: the first filter answers both, the second one of them. */
static const struct loupe_cbpf_insn older[] = {
	{ BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 },
	{ BPF_JMP | BPF_JEQ | BPF_K, 2, 0, SYS_getppid },
	{ BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_getuid },
	{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	{ BPF_RET | BPF_K, 0, 0, ERRNO(11) },
};
static const struct loupe_cbpf_insn newer[] = {
	{ BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 },
	{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid },
	{ BPF_RET | BPF_K, 0, 0, ERRNO(22) },
	{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
};

static bool install(const struct loupe_cbpf_insn *insns, size_t cnt)
{
	struct sock_fprog prog = { (unsigned short)cnt, (struct sock_filter *)(uintptr_t)insns };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* Installs both, tells what the kernel answers to the two calls, and waits. */
static _Noreturn void child(int out, int in)
{
	long answers[2] = { -1, -1 };
	char byte;

	if (install(older, 5) && install(newer, 4)) {
		answers[0] = syscall(SYS_getppid) < 0 ? errno : 0;
		answers[1] = syscall(SYS_getuid) < 0 ? errno : 0;
	}
	if (write(out, answers, sizeof(answers)) != sizeof(answers))
		_exit(1);
	_exit(read(in, &byte, 1) < 0);
}

static int differ(const char *what)
{
	printf("%s\n", what);
	return 1;
}

static bool is_same(const struct loupe_filter *filter, const struct loupe_cbpf_insn *insns,
		    uint32_t cnt)
{
	return filter->cnt == cnt && filter->flavour == LOUPE_FILTER_SECCOMP &&
	       !memcmp(filter->insns, insns, cnt * sizeof(*insns));
}

static int check_answers(const struct loupe_seccomp_stack *stack, const long answers[2])
{
	static const uint32_t calls[] = { SYS_getppid, SYS_getuid };

	for (int i = 0; i < 2; i++) {
		struct loupe_seccomp_data data = { .nr = calls[i], .arch = AUDIT_ARCH_X86_64 };
		struct loupe_filter_input input = { .data = &data, .len = sizeof(data) };
		uint32_t results[2], which;

		for (uint32_t n = 0; n < 2; n++) {
			struct loupe_filter_run run = { 0 };

			if (loupe_filter_eval(stack->filters[n], &input, &run, NULL))
				return differ("a filter that was read does not run");
			results[n] = run.result;
		}
		if (loupe_seccomp_stack_answer(results, 2, &which) != ERRNO((uint32_t)answers[i]) ||
		    which != (uint32_t)i)
			return differ("the stack answers otherwise than the kernel");
	}
	return 0;
}

static int check(pid_t pid, const long answers[2])
{
	struct loupe_seccomp_stack stack;
	struct loupe_error err = { 0 };
	int rc = loupe_seccomp_stack_read(pid, &stack, &err), status = 0;

	if (rc == -EPERM || rc == -EACCES || rc == -EIO) {
		printf("skipped: %s\n", err.message);
		return SKIPPED;
	}
	if (rc)
		return differ(err.message);
	if (stack.cnt != 2 || !is_same(stack.filters[0], newer, 4) ||
	    !is_same(stack.filters[1], older, 5))
		status = differ("what was read is not what was installed");
	else
		status = check_answers(&stack, answers);
	loupe_seccomp_stack_finish(&stack);
	if (!status && loupe_seccomp_stack_read(getpid(), &stack, &err) != -EPERM)
		status = differ("a process traces itself");
	return status;
}

int main(void)
{
	int there[2], back[2], status;
	long answers[2];
	pid_t pid;

	if (pipe(there) || pipe(back))
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid)
		child(there[1], back[0]);
	if (read(there[0], answers, sizeof(answers)) != sizeof(answers) || answers[0] < 0) {
		printf("skipped: no seccomp filters here\n");
		status = SKIPPED;
	} else {
		status = check(pid, answers);
	}
	/* it goes on as if nothing had been */
	if (!status && (waitpid(pid, NULL, WNOHANG) || write(back[1], "", 1) != 1))
		status = differ("the child is gone");
	else if (status)
		kill(pid, SIGKILL);
	waitpid(pid, &(int){ 0 }, 0);
	return status;
}
