// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading needs no privilege and no bpf(2): as nobody, with bpf(2) denied by a seccomp filter
 * (EPERM) and the kernel's BTF hidden, every program of the given files (default: xdp-tools'
 * objects) has an image.
 */
#include "bpfloupe/load.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, NOBODY = 65534 };

/* The build tree may lie where nobody cannot go. */
static int copy_helper(const char *to)
{
	char from[4096], buf[65536];
	int in, out, ret = -1;
	ssize_t n = -1;

	if (loupe_load_helper(NULL, from, sizeof(from)))
		return -1;
	in = open(from, O_RDONLY);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (in >= 0 && out >= 0) {
		while ((n = read(in, buf, sizeof(buf))) > 0) {
			if (write(out, buf, (size_t)n) != n)
				break;
		}
		ret = n || fchmod(out, 0755) ? -1 : 0;
	}
	close(in);
	close(out);
	return ret;
}

static int deny_bpf(void)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return -1;
	return syscall(SYS_bpf, 0, NULL, 0) == -1 && errno == EPERM ? 0 : -1;
}

static int become_nobody(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		return -1;
	return deny_bpf();
}

static int load(const char *path, const char *helper, unsigned int *cnt)
{
	struct loupe_load_opts opts = {
		.size = sizeof(opts),
		.kernel_btf = "none",
		.helper = helper,
	};
	struct loupe_program_list list;
	struct loupe_error err;
	int failed = 0;

	if (loupe_load_file(path, &opts, &list, &err)) {
		printf("%s: %s\n", path, err.message);
		return 1;
	}
	for (uint32_t i = 0; i < list.cnt; i++) {
		const struct loupe_image *image = list.progs[i].image;

		/* What was missing is said, and nothing is missing that is not said. */
		if (image && (image->own_types || image->attach_unset) == !!list.progs[i].reason) {
			++*cnt;
			continue;
		}
		printf("%s %s: %s\n", path, list.progs[i].name,
		       list.progs[i].reason ? list.progs[i].reason : "lacks a reason");
		failed = 1;
	}
	loupe_program_list_finish(&list);
	return failed;
}

static int run(char **paths, size_t cnt, const char *helper)
{
	unsigned int images = 0;
	int failed = 0;

	if (become_nobody()) {
		puts("skipped: a seccomp filter cannot be installed here");
		return SKIPPED;
	}
	for (size_t i = 0; i < cnt; i++)
		failed |= load(paths[i], helper, &images);
	printf("%u images from %zu files, as uid %d without bpf(2) and without kernel BTF\n",
	       images, cnt, (int)getuid());
	fflush(stdout);
	return failed;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/load_nobody.XXXXXX", helper[64];
	glob_t found = { 0 };
	int status = 0;
	pid_t pid;

	if (argc == 1 && glob("/usr/lib/*/bpf/*.o", 0, NULL, &found)) {
		puts("skipped: xdp-tools is not installed");
		return SKIPPED;
	}
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return 1;
	snprintf(helper, sizeof(helper), "%s/bpfloupe-load", folder);
	if (copy_helper(helper)) {
		puts("the loader program cannot be copied");
		return 1;
	}
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(argc > 1 ? run(argv + 1, (size_t)argc - 1, helper)
			       : run(found.gl_pathv, found.gl_pathc, helper));
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	globfree(&found);
	unlink(helper);
	rmdir(folder);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
