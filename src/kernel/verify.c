// SPDX-License-Identifier: GPL-2.0-only
/* Loads an image into the running kernel and reads what the kernel says. */
#include "bpfloupe/kernel.h"

#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpfloupe/log.h"
#include "kernel/bpf.h"
#include "kernel/prepare.h"

enum {
	NOBODY = 65534,
	STATS_SIZE = 4 << 20,
	XLATED_MAX = 1 << 20, /* insns; a translated program may be longer than the one loaded */
	RUNS_MAX = 1000,
};

/* What one process finds out; shared memory where a child does it. */
struct answer {
	int not_judged; /* negative errno of what failed before the program load, else 0 */
	struct loupe_error why;
	int err;	/* 0 or the negative errno of the load */
	int log_err;
	uint64_t least_us, most_us;
	uint32_t log_true_size;
	uint32_t xlated_cnt;
};

/* Where to write, NULL where nothing is wanted. */
struct buffers {
	struct answer *answer;
	char *stats;
	char *log;
	size_t log_size;
	struct loupe_insn *xlated;
};

static void *map_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void fill_load(const struct kernel_prepared *prep, struct kernel_prog_load *attr)
{
	const struct loupe_image *image = prep->image;

	*attr = (struct kernel_prog_load){
		.prog_type = image->prog_type,
		.insn_cnt = image->insn_cnt,
		.insns = address(prep->insns),
		/* The kernel wants a string; none is an empty one. */
		.license = address(image->license ? image->license : ""),
		.kern_version = image->kern_version,
		.prog_flags = image->prog_flags,
		.prog_ifindex = image->prog_ifindex,
		.expected_attach_type = image->expected_attach_type,
		.attach_btf_id = image->attach_btf_id,
		.fd_array = address(prep->fd_array),
	};
	memcpy(attr->prog_name, image->prog_name, sizeof(attr->prog_name) - 1);
	if (prep->btf_fd < 0)
		return;
	attr->prog_btf_fd = (uint32_t)prep->btf_fd;
	if (image->func_info_cnt) {
		attr->func_info = address(image->func_info);
		attr->func_info_cnt = image->func_info_cnt;
		attr->func_info_rec_size = sizeof(struct loupe_func_info);
	}
	if (image->line_info_cnt) {
		attr->line_info = address(image->line_info);
		attr->line_info_cnt = image->line_info_cnt;
		attr->line_info_rec_size = sizeof(struct loupe_line_info);
	}
}

/* Last number after what in text, -1 if what is not there. */
static int64_t last_number(const char *text, const char *what)
{
	int64_t n = -1;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n = strtoll(p + strlen(what), NULL, 10);
	return n;
}

/* The verdict: loads at level 4. @return fd of the program, or negative errno */
static int load_timed(const struct kernel_prepared *prep, uint32_t runs, const struct buffers *to)
{
	struct kernel_prog_load attr;
	int fd = -1;

	to->answer->least_us = UINT64_MAX;
	for (uint32_t i = 0; i < runs; i++) {
		int64_t us;

		if (fd >= 0)
			close(fd);
		fill_load(prep, &attr);
		attr.log_level = LOUPE_LOG_STATS;
		attr.log_buf = address(to->stats);
		attr.log_size = STATS_SIZE;
		to->stats[0] = '\0';
		fd = kernel_prog_load(&attr);
		us = last_number(to->stats, "verification time ");
		if (us < 0)
			us = 0;
		if ((uint64_t)us < to->answer->least_us)
			to->answer->least_us = (uint64_t)us;
		if ((uint64_t)us > to->answer->most_us)
			to->answer->most_us = (uint64_t)us;
	}
	return fd;
}

static void load_logged(const struct kernel_prepared *prep, uint32_t level,
			const struct buffers *to)
{
	struct kernel_prog_load attr;
	int fd;

	fill_load(prep, &attr);
	attr.log_level = level;
	attr.log_buf = address(to->log);
	attr.log_size = (uint32_t)to->log_size;
	fd = kernel_prog_load(&attr);
	to->answer->log_err = fd < 0 ? fd : 0;
	to->answer->log_true_size = attr.log_true_size;
	if (fd >= 0)
		close(fd);
}

static int fetch_xlated(int prog_fd, const struct buffers *to, struct loupe_error *err)
{
	struct loupe_insn *insns;
	uint32_t cnt;
	int ret = kernel_prog_xlated(prog_fd, &insns, &cnt);

	if (!ret && cnt > XLATED_MAX) {
		free(insns);
		ret = -E2BIG;
	}
	if (ret)
		return loupe_error_set(err, ret, "not judged by the kernel: it gives no translated "
				       "program: %s", strerror(-ret));
	memcpy(to->xlated, insns, cnt * sizeof(*insns));
	to->answer->xlated_cnt = cnt;
	free(insns);
	return 0;
}

static void ask(const struct loupe_image *image, const struct loupe_kernel_opts *opts, int btf_fd,
		const struct buffers *to)
{
	struct answer *answer = to->answer;
	struct kernel_prepared prep;
	int fd;

	answer->not_judged = kernel_prepare(image, btf_fd, &prep, &answer->why);
	if (!answer->not_judged) {
		fd = load_timed(&prep, opts->runs ? opts->runs : 1, to);
		answer->err = fd < 0 ? fd : 0;
		if (fd >= 0 && to->xlated)
			answer->not_judged = fetch_xlated(fd, to, &answer->why);
		if (fd >= 0)
			close(fd);
		if (to->log)
			load_logged(&prep, opts->log_level, to);
	}
	kernel_prepared_finish(&prep);
}

static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	return setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			       setresuid(NOBODY, NOBODY, NOBODY)
		       ? -errno
		       : 0;
}

/* As ask(), in a child without privileges. */
static void ask_as_nobody(const struct loupe_image *image, const struct loupe_kernel_opts *opts,
			  int btf_fd, const struct buffers *to)
{
	struct answer *answer = to->answer;
	pid_t child = fork();
	int status = 0;

	if (!child) {
		int err = become_nobody();

		if (err)
			answer->not_judged = loupe_error_set(&answer->why, err,
				"not judged by the kernel: cannot become an ordinary user: %s",
				strerror(-err));
		else
			ask(image, opts, btf_fd, to);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		answer->not_judged = loupe_error_set(&answer->why, child < 0 ? -errno : -EIO,
			"not judged by the kernel: the unprivileged child failed");
}

static void parse_stats(const char *stats, struct loupe_kernel_result *result)
{
	struct loupe_counters *c = &result->counters;
	const char *line = NULL;

	for (const char *p = strstr(stats, "processed "); p; p = strstr(p + 1, "processed "))
		line = p;
	if (line && sscanf(line,
			   "processed %u insns (limit %*u) max_states_per_insn %u total_states %u "
			   "peak_states %u mark_read %u",
			   &c->insn_processed, &c->max_states_per_insn, &c->total_states,
			   &c->peak_states, &c->longest_mark_read_walk) == 5)
		result->has_counters = true;
}

static int copy_answer(const struct buffers *from, struct loupe_kernel_result *result,
		       struct loupe_error *err)
{
	const struct answer *answer = from->answer;
	size_t size = answer->xlated_cnt * sizeof(*result->xlated);

	if (answer->not_judged) {
		if (err)
			*err = answer->why;
		return answer->not_judged;
	}
	result->accepted = !answer->err;
	result->err = answer->err;
	result->log_err = answer->log_err;
	result->log_true_size = answer->log_true_size;
	result->verification_us = answer->least_us;
	result->slowest_us = answer->most_us;
	result->stats = strdup(from->stats);
	if (answer->xlated_cnt) {
		result->xlated = malloc(size);
		if (result->xlated)
			memcpy(result->xlated, from->xlated, size);
		result->xlated_cnt = answer->xlated_cnt;
	}
	if (!result->stats || (answer->xlated_cnt && !result->xlated))
		return loupe_error_set(err, -ENOMEM, "out of memory");
	parse_stats(result->stats, result);
	return 0;
}

static void unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

static bool opts_valid(const struct loupe_kernel_opts *opts)
{
	return opts->log_level <= LOUPE_LOG_LEVELS && opts->log_size <= UINT32_MAX / 4 &&
	       opts->runs <= RUNS_MAX;
}

/* Where ordinary users may not load programs at all, the kernel's answer says nothing of this
 * one. */
static int check_unprivileged(struct loupe_error *err)
{
	FILE *f = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
	int disabled = f ? fgetc(f) : '0';

	if (f)
		fclose(f);
	if (disabled == '0')
		return 0;
	return loupe_error_set(err, -EPERM, "not judged by the kernel: ordinary users may load no "
			       "programs: kernel.unprivileged_bpf_disabled is %c", disabled);
}

/* What an image cannot name in this process. */
static int check_image(const struct loupe_image *image, struct loupe_error *err)
{
	if (image->attach_unset)
		return loupe_error_set(
			err, -ENOENT, "not judged by the kernel: the program has no attach target");
	if (image->attach_btf_fd)
		return loupe_error_set(err, -EBADF,
				       "not judged by the kernel: the program attaches to another "
				       "program or a module");
	return 0;
}

static int ask_kernel(const struct loupe_image *image, const struct loupe_kernel_opts *opts,
		      const struct buffers *to, struct loupe_kernel_result *result,
		      struct loupe_error *err)
{
	int btf_fd = kernel_prepare_btf(image, err);

	if (btf_fd < -1)
		return btf_fd;
	if (opts->unprivileged)
		ask_as_nobody(image, opts, btf_fd, to);
	else
		ask(image, opts, btf_fd, to);
	if (btf_fd >= 0)
		close(btf_fd);
	return copy_answer(to, result, err);
}

int loupe_kernel_verify(const struct loupe_image *image, const struct loupe_kernel_opts *opts,
			struct loupe_kernel_result *result, struct loupe_error *err)
{
	static const struct loupe_kernel_opts defaults = { .size = sizeof(defaults) };
	const size_t xlated_size = XLATED_MAX * sizeof(struct loupe_insn);
	struct buffers to = { 0 };
	int ret;

	memset(result, 0, sizeof(*result));
	if (!opts)
		opts = &defaults;
	if (!opts_valid(opts))
		return loupe_error_set(err, -EINVAL, "log level, log size or runs out of range");
	ret = check_image(image, err);
	if (!ret && opts->unprivileged)
		ret = check_unprivileged(err);
	if (ret)
		return ret;
	to.answer = map_shared(sizeof(*to.answer));
	to.stats = map_shared(STATS_SIZE);
	if (opts->log_level) {
		to.log_size = opts->log_size ? opts->log_size : UINT32_MAX / 4;
		to.log = map_shared(to.log_size);
	}
	if (opts->xlated)
		to.xlated = map_shared(xlated_size);
	if (!to.answer || !to.stats || (opts->log_level && !to.log) || (opts->xlated && !to.xlated))
		ret = loupe_error_set(err, -ENOMEM, "out of memory");
	else
		ret = ask_kernel(image, opts, &to, result, err);
	if (!ret && to.log) {
		result->log = to.log;
		result->log_mapped = to.log_size;
		result->log_len = strnlen(to.log, to.log_size - 1);
		to.log = NULL;
	}
	unmap(to.log, to.log_size);
	unmap(to.xlated, xlated_size);
	unmap(to.stats, STATS_SIZE);
	unmap(to.answer, sizeof(*to.answer));
	if (ret)
		loupe_kernel_result_finish(result);
	return ret;
}

void loupe_kernel_result_finish(struct loupe_kernel_result *result)
{
	free(result->stats);
	free(result->xlated);
	unmap(result->log, result->log_mapped);
	memset(result, 0, sizeof(*result));
}

int loupe_kernel_usable(struct loupe_error *err)
{
	/* r0 = 0; exit */
	static const struct loupe_insn insns[] = { { .code = 0xb7 }, { .code = 0x95 } };
	struct kernel_prog_load attr = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insn_cnt = 2,
		.insns = address(insns),
		.license = address(""),
	};
	int fd = kernel_prog_load(&attr);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -EPERM)
		return loupe_error_set(err, fd, "asking the running kernel needs root (CAP_BPF, "
				       "CAP_PERFMON and CAP_NET_ADMIN)");
	return loupe_error_set(err, fd, "the running kernel loads no BPF programs: %s",
			       strerror(-fd));
}

void loupe_kernel_release(char *buf, size_t size)
{
	struct utsname name;

	snprintf(buf, size, "%s", uname(&name) ? "" : name.release);
}

bool loupe_kernel_is_modelled(void)
{
	struct utsname name;
	unsigned int major, minor;

	return !uname(&name) && !strcmp(name.machine, "x86_64") &&
	       sscanf(name.release, "%u.%u", &major, &minor) == 2 && major == 6 && minor == 18;
}
