/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many small programs, each given to the model and to the running kernel; a difference in errno or
 * in the log at level 6 is printed. The maps are made once for all of them.
 */
#ifndef TESTS_LIVE_RIG_H
#define TESTS_LIVE_RIG_H

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpfloupe/image.h"
#include "bpfloupe/kernel.h"
#include "bpfloupe/log.h"
#include "bpfloupe/verify.h"
#include "insn/opcodes.h"
#include "kernel/bpf.h"
#include "kernel/prepare.h"

enum {
	RIG_MAX_INSNS = 256,
	RIG_LOG_SIZE = 1 << 20,
	RIG_SKIPPED = 77,
	RIG_SHOWN = 40,
	RIG_FIRST_FD = 1000
};

struct rig {
	struct loupe_image image; /* the present program; insns are rig's */
	struct loupe_insn insns[RIG_MAX_INSNS];
	struct kernel_prepared prep;
	char *log;	   /* what the kernel said of the last program */
	int kernel_err;	   /* and its errno, negative */
	uint32_t accepted; /* by the kernel, of all */
	uint32_t same, differ, not_judged;
	bool unprivileged;
};

static inline struct loupe_insn rig_insn(int code, int dst, int src, int off, int imm)
{
	return (struct loupe_insn){ .code = (uint8_t)code,
				    .dst_reg = (uint8_t)(dst & 15),
				    .src_reg = (uint8_t)(src & 15),
				    .off = (int16_t)off,
				    .imm = imm };
}

#define RIG_MOV(dst, src)		   rig_insn(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define RIG_MOV_IMM(dst, imm)		   rig_insn(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define RIG_ADD_IMM(dst, imm)		   rig_insn(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm)
#define RIG_LOAD(size, dst, src, off)	   rig_insn(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define RIG_STORE(size, dst, src, off)	   rig_insn(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define RIG_STORE_IMM(size, dst, off, imm) rig_insn(BPF_ST | BPF_MEM | (size), dst, 0, off, imm)
#define RIG_CALL(func)			   rig_insn(BPF_JMP | BPF_CALL, 0, 0, 0, func)
#define RIG_EXIT			   rig_insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define RIG_JMP_IMM(op, dst, imm, off)	   rig_insn(BPF_JMP | (op) | BPF_K, dst, 0, off, imm)
#define RIG_JMP(op, dst, src, off)	   rig_insn(BPF_JMP | (op) | BPF_X, dst, src, off, 0)

static inline void rig_start(struct rig *rig, uint32_t prog_type, uint32_t attach_type)
{
	rig->image.insn_cnt = 0;
	rig->image.prog_type = prog_type;
	rig->image.expected_attach_type = attach_type;
	rig->image.prog_flags = prog_type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0;
}

static inline void rig_add(struct rig *rig, struct loupe_insn insn)
{
	if (rig->image.insn_cnt < RIG_MAX_INSNS)
		rig->insns[rig->image.insn_cnt++] = insn;
}

static inline void rig_add_map(struct rig *rig, int dst, uint32_t map, bool value, int off)
{
	rig_add(rig, rig_insn(BPF_LD | BPF_IMM | BPF_DW, dst,
			      value ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD, 0,
			      rig->image.maps[map].fd));
	rig_add(rig, rig_insn(0, 0, 0, 0, off));
}

/* The counts go on from an earlier use of the rig; zero it before the first. */
static inline int rig_init_btf(struct rig *rig, struct loupe_map *maps, uint32_t map_cnt,
			       uint8_t *btf, uint32_t btf_size)
{
	struct loupe_error err;
	int ret;

	rig->image = (struct loupe_image){ 0 };
	rig->log = malloc(RIG_LOG_SIZE);
	rig->image.insns = rig->insns;
	rig->image.maps = maps;
	rig->image.map_cnt = map_cnt;
	rig->image.license = (char *)(uintptr_t) "GPL";
	rig->image.host.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	for (uint32_t i = 0; i < map_cnt; i++)
		maps[i].fd = RIG_FIRST_FD + (int32_t)i;
	rig->image.btf = btf;
	rig->image.btf_size = btf_size;
	ret = kernel_prepare_btf(&rig->image, &err);
	if (ret >= -1)
		ret = kernel_prepare(&rig->image, ret, &rig->prep, &err);
	if (ret)
		printf("%s\n", err.message);
	return ret;
}

static inline int rig_init(struct rig *rig, struct loupe_map *maps, uint32_t map_cnt)
{
	return rig_init_btf(rig, maps, map_cnt, NULL, 0);
}

static inline void rig_finish(struct rig *rig)
{
	if (rig->prep.btf_fd >= 0)
		close(rig->prep.btf_fd);
	kernel_prepared_finish(&rig->prep);
	free(rig->log);
}

static inline void rig_ask_kernel(struct rig *rig)
{
	struct loupe_insn insns[RIG_MAX_INSNS];
	struct kernel_prog_load attr = {
		.prog_type = rig->image.prog_type,
		.insn_cnt = rig->image.insn_cnt,
		.insns = (uint64_t)(uintptr_t)insns,
		.license = (uint64_t)(uintptr_t)rig->image.license,
		.log_level = LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS,
		.log_size = RIG_LOG_SIZE,
		.log_buf = (uint64_t)(uintptr_t)rig->log,
		.prog_flags = rig->image.prog_flags,
		.expected_attach_type = rig->image.expected_attach_type,
		.prog_btf_fd = rig->prep.btf_fd > 0 ? (uint32_t)rig->prep.btf_fd : 0,
	};
	int fd;

	memcpy(insns, rig->insns, rig->image.insn_cnt * sizeof(insns[0]));
	for (uint32_t i = 0; i < rig->image.insn_cnt; i++) {
		int map;

		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		map = loupe_image_map_by_fd(&rig->image, insns[i].imm);
		if (map >= 0)
			insns[i].imm = rig->prep.map_fds[map];
		i++;
	}
	rig->log[0] = '\0';
	fd = kernel_prog_load(&attr);
	rig->kernel_err = fd < 0 ? fd : 0;
	rig->accepted += fd >= 0;
	if (fd >= 0)
		close(fd);
}

/* @return the model's errno, or 1 when the program is not judged */
static inline int rig_ask_model(struct rig *rig, struct loupe_log_difference *diff, char *reason,
				size_t reason_size)
{
	struct loupe_log_compare *compare = loupe_log_compare_create(rig->log, strlen(rig->log));
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS,
		.sink = loupe_log_compare_feed,
		.sink_ctx = compare,
		.unprivileged = rig->unprivileged,
	};
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;
	struct loupe_log *log;
	int err;

	loupe_verify_opts_init(&opts);
	opts.unprivileged = rig->unprivileged;
	if (loupe_log_create(&rig->image, &log_opts, &log))
		abort();
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_verify(&rig->image, &opts, &result))
		abort();
	loupe_log_finish(log);
	loupe_log_compare_end(compare, diff);
	err = result.verdict == LOUPE_NOT_JUDGED ? 1 : result.err;
	snprintf(reason, reason_size, "%s", err == 1 ? result.reason : "");
	loupe_verify_result_finish(&result);
	loupe_log_destroy(log);
	loupe_log_compare_destroy(compare);
	return err;
}

/* Compares the present program; the rest names it. */
static inline void LOUPE_PRINTF(2, 3) rig_compare(struct rig *rig, const char *fmt, ...)
{
	struct loupe_log_difference diff;
	char reason[256];
	va_list args;
	int err;

	rig_ask_kernel(rig);
	err = rig_ask_model(rig, &diff, reason, sizeof(reason));
	if (err == 1) {
		rig->not_judged++;
		if (!getenv("RIG_UNJUDGED"))
			return;
	} else if (err == rig->kernel_err && !diff.line) {
		rig->same++;
		return;
	} else {
		rig->differ++;
	}
	if (rig->differ > (getenv("RIG_ALL") ? UINT32_MAX - 1 : RIG_SHOWN))
		return;
	printf("type %u attach %u: ", rig->image.prog_type, rig->image.expected_attach_type);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	if (err == 1) {
		printf(": %s\n", reason);
		return;
	}
	printf(": kernel %d, model %d\n", rig->kernel_err, err);
	if (diff.line)
		printf("   after  %s\n   kernel %s\n   model  %s\n", diff.before[2], diff.want,
		       diff.got);
}

/* --- without privileges
 * ------------------------------------------------------------------------------ */

/*
 * Calls run, given an index, in a child each for 0 … cnt-1. Ordinary users must be allowed to use
 * bpf(2): see with_unprivileged.sh. @return an exit status
 */
static inline int rig_run_unprivileged(struct rig *rig, int cnt,
				       int (*run)(struct rig *rig, int index))
{
	int status = 0;

	rig->unprivileged = true;
	fflush(NULL);
	for (int i = 0; i < cnt; i++) {
		pid_t child = fork();
		int child_status = 1;

		if (!child)
			exit(run(rig, i));
		if (child < 0 || waitpid(child, &child_status, 0) < 0 || child_status)
			status = 1;
	}
	return status;
}

/* For good; what is open stays open. */
static inline bool rig_drop_privileges(void)
{
	enum { NOBODY = 65534 };

	return geteuid() != 0 || (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
				  !setresuid(NOBODY, NOBODY, NOBODY));
}

#endif
