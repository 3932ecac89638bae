/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel as a second opinion: loads an image with bpf(2) as it is and reports what the
 * kernel said. Nothing else of the library talks to bpf(2); call these only where the user asked
 * for the kernel's word. Nothing stays: every file descriptor is closed before a call returns.
 */
#ifndef BPFLOUPE_KERNEL_H
#define BPFLOUPE_KERNEL_H

#include "common.h"
#include "filter.h"
#include "image.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to ask. Zero-initialise, then set size and what differs. */
struct loupe_kernel_opts {
	size_t size;	    /* sizeof(struct loupe_kernel_opts) */
	uint32_t log_level; /* LOUPE_LOG_* of the log wanted; 0: no log */
	uint64_t log_size;  /* bytes for that log, at most UINT32_MAX / 4; 0: all that the kernel
			       takes. Only what is written occupies memory */
	uint32_t runs;	    /* loads that are timed, 0: 1 */
	bool unprivileged;  /* load in a child process as the user 65534; only the BTF is root's */
	bool xlated;	    /* fetch the translated program of an accepted one */
};

/* What the kernel said. Free with loupe_kernel_result_finish(). */
struct loupe_kernel_result {
	bool accepted;
	int err;	    /* 0, or the negative errno of the program load */
	bool has_counters;  /* the load came far enough for the statistics line */
	struct loupe_counters counters; /* only those that the kernel has */
	uint64_t verification_us, slowest_us; /* the kernel's own time: least and most of the
						 runs */
	char *stats;	    /* log at level 4, NUL-terminated: messages and statistics */
	char *log;	    /* log at the level asked for, NUL-terminated; NULL if none was asked */
	size_t log_len;
	uint32_t log_true_size; /* bytes that the buffer would have needed */
	int log_err;	    /* negative errno of the load that wrote the log: err, or -ENOSPC when
			       the log does not fit */
	struct loupe_insn *xlated; /* NULL unless asked for and accepted */
	uint32_t xlated_cnt;
	/* private */
	size_t log_mapped;
};

/**
 * Can this process ask the kernel at all?
 * @return 0, or a negative errno (-EPERM: not root; -ENOSYS: no bpf(2)) with the reason in err
 */
LOUPE_API int loupe_kernel_usable(struct loupe_error *err);

/** Release of the running kernel, "6.18.44-..."; "" if it does not say. */
LOUPE_API void loupe_kernel_release(char *buf, size_t size);

/** Is the running kernel of the modelled series (6.18.y on x86-64)? */
LOUPE_API bool loupe_kernel_is_modelled(void);

/**
 * Loads image into the running kernel: its maps with contents, its BTF, then the program. Verdict,
 * errno, counters and time come from loads at level 4, where no log can overflow and turn the
 * result into ENOSPC; the log from a load of its own.
 * @param opts    NULL for defaults
 * @param result  filled where 0 is returned
 * @param err     why there is no verdict, "not judged by the kernel: ..."
 * @return 0 when the kernel gave a verdict, whichever; otherwise the negative errno of what failed
 *         before the program load (a map, BTF, a target that an image cannot name), or -ENOMEM
 */
LOUPE_API int loupe_kernel_verify(const struct loupe_image *image,
				  const struct loupe_kernel_opts *opts,
				  struct loupe_kernel_result *result, struct loupe_error *err);

/** Frees what *result owns and zeroes it. */
LOUPE_API void loupe_kernel_result_finish(struct loupe_kernel_result *result);

/* --- comparing logs -------------------------------------------------------------------------- */

/*
 * Compares a kernel's log with a model's while the latter is being written. Equal means byte for
 * byte, but for kernel addresses in ldimm64 lines and the verification time.
 */
struct loupe_log_compare;

/**
 * @param want  the kernel's log, len bytes; must live as long as the comparison
 * @return NULL when out of memory; free with loupe_log_compare_destroy()
 */
LOUPE_API struct loupe_log_compare *loupe_log_compare_create(const char *want, size_t len);

/** The next piece of the model's log; fits loupe_log_opts.sink, with the comparison as ctx. */
LOUPE_API void loupe_log_compare_feed(void *compare, const char *text, size_t len);

/* Where two logs part. */
struct loupe_log_difference {
	uint64_t line;	       /* 1-based, 0: the logs are equal */
	char before[3][256];   /* the lines before it, nearest last, "" where there is none */
	char want[1024];       /* the kernel's line, cut; "<end>" if its log is shorter */
	char got[1024];	       /* the model's */
};

/** Ends the model's log. @return true if the logs are equal; *diff is filled in any case */
LOUPE_API bool loupe_log_compare_end(struct loupe_log_compare *compare,
				     struct loupe_log_difference *diff);

/** Frees the comparison. NULL is fine. */
LOUPE_API void loupe_log_compare_destroy(struct loupe_log_compare *compare);

/**
 * Replaces what differs from one load to the next (kernel addresses in ldimm64 lines, the
 * verification time) by constants, in place, without changing the length of any line but the
 * time's.
 * @param text  len bytes and a NUL
 * @return the new length
 */
LOUPE_API size_t loupe_log_normalise(char *text, size_t len);

/* ---- filters of a live process ------------------------------------------------------------ */

/* The seccomp filters of a process: all of them run for each system call. */
struct loupe_seccomp_stack {
	struct loupe_filter **filters; /* the newest, which runs first, is the first */
	uint32_t cnt;
};

/**
 * Reads the filters of a process or thread, which is stopped for a moment. Needs CAP_SYS_ADMIN and
 * leave to trace it, a kernel with checkpoint/restore, and no filter on the caller itself.
 * @param out  filled on success; free with loupe_seccomp_stack_finish()
 * @return 0; -EPERM, -EACCES, -ESRCH, -EINVAL (it has no filter), -EIO (not in this kernel) ...
 *         with one line that says so
 */
LOUPE_API int loupe_seccomp_stack_read(int32_t pid, struct loupe_seccomp_stack *out,
				       struct loupe_error *err);

/** Frees the filters and zeroes it. */
LOUPE_API void loupe_seccomp_stack_finish(struct loupe_seccomp_stack *stack);

/**
 * What the kernel does when stacked filters return different values: the action that is worst for
 * the call wins, among equal ones the newest filter's.
 * @param results  what each filter returned, the newest first; at least one
 * @param which    receives whose answer that is, may be NULL
 */
LOUPE_API uint32_t loupe_seccomp_stack_answer(const uint32_t *results, uint32_t cnt,
					      uint32_t *which);

#ifdef __cplusplus
}
#endif

#endif
