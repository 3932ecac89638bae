/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's verifier log: a listener that writes it while a verification runs, and the text of
 * registers, stack slots and frames in the log's notation.
 */
#ifndef BPFLOUPE_LOG_H
#define BPFLOUPE_LOG_H

#include "common.h"
#include "image.h"
#include "state.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Log levels, or-ed. 0 writes nothing. */
enum {
	LOUPE_LOG_LEVEL1 = 1, /* instructions and states of the path that failed */
	LOUPE_LOG_LEVEL2 = 2, /* of all paths, with everything that the verifier does on the way */
	LOUPE_LOG_STATS = 4,  /* times, stack depths and counters at the end */
	LOUPE_LOG_FIXED = 8, /* of a log that outgrows its buffer the beginning stays, not the
				end */
	LOUPE_LOG_LEVELS = LOUPE_LOG_LEVEL1 | LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS | LOUPE_LOG_FIXED,
};

/*
 * Names that the text of registers needs: maps by loupe_reg_map() and BTF types. An index of
 * image->map_cnt or more stands for the template that map (index - image->map_cnt) has for its
 * inner maps, which the kernel keeps without a name.
 */
struct loupe_names;

/**
 * Prepares the names of an image. The kernel's BTF (image->host.kernel_btf) is read when the first
 * of its types is shown; a type without a readable BTF is shown as "?".
 * @param image  must live as long as the names; NULL: nothing has a name
 * @param out    free with loupe_names_destroy()
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_names_create(const struct loupe_image *image, struct loupe_names **out);

/** Frees the names. NULL is fine. */
LOUPE_API void loupe_names_destroy(struct loupe_names *names);

/*
 * The functions below write text in the log's notation into buf, cut at size and always
 * NUL-terminated (size 0: nothing is written), and return the length of the whole text, as
 * snprintf. names may be NULL: then maps and BTF types have no names.
 */

/**
 * A register's value: "ctx()", "P5", "scalar(id=1,smin=0,smax=umax=255,...)". Empty for NOT_INIT.
 * @param frameno  frame that holds it: a stack pointer into another frame shows that frame's number
 */
LOUPE_API size_t loupe_reg_print(char *buf, size_t size, const struct loupe_reg *reg,
				 uint32_t frameno, struct loupe_names *names);

/**
 * A stack slot: "fp-8=mmmm0000". Empty when nothing was stored there, or when another slot of the
 * same dynptr or iterator stands for it.
 * @param spi  slot, 0 is fp-8; below frame->slot_cnt
 */
LOUPE_API size_t loupe_slot_print(char *buf, size_t size, const struct loupe_frame *frame,
				  uint32_t spi, struct loupe_names *names);

/** A whole frame, as after "from 1 to 2:": " frame1: R0=... fp-8=... refs=1 cb", no newline. */
LOUPE_API size_t loupe_frame_print(char *buf, size_t size, const struct loupe_state *state,
				   uint32_t frameno, struct loupe_names *names);

/**
 * loupe_frame_print() of some registers and slots.
 * @param regs   bit n: Rn
 * @param slots  bit n: fp-8*(n+1)
 */
LOUPE_API size_t loupe_frame_print_some(char *buf, size_t size, const struct loupe_state *state,
					uint32_t frameno, uint32_t regs, uint64_t slots,
					struct loupe_names *names);

/** A register type's name: "map_value_or_null", "rdonly_mem", "ptr_" (a BTF type's name
 * follows). */
LOUPE_API size_t loupe_reg_type_print(char *buf, size_t size, uint32_t type);

/** A known-bits number: "5", "0x12345" or "(0x0; 0xff)". */
LOUPE_API size_t loupe_tnum_print(char *buf, size_t size, struct loupe_tnum tnum);

/** Registers of a mask: "r0,r7". Empty for 0. */
LOUPE_API size_t loupe_reg_mask_print(char *buf, size_t size, uint32_t regs);

/** Slots of a mask: "-8,-16". Empty for 0. */
LOUPE_API size_t loupe_slot_mask_print(char *buf, size_t size, uint64_t slots);

/* How to write a log. Zero-initialise, then set size and what differs. */
struct loupe_log_opts {
	size_t size;	/* sizeof(struct loupe_log_opts) */
	uint32_t level; /* LOUPE_LOG_*, at most LOUPE_LOG_LEVELS */
	/*
	 * Receives the text piece by piece as soon as it cannot be taken back any more (at level 1
	 * that is at the end, otherwise now and then). NULL: all of it is kept in memory.
	 */
	void (*sink)(void *ctx, const char *text, size_t len);
	void *sink_ctx;
	bool unprivileged; /* as in loupe_verify_opts: pointers print as 0x0 */
	/*
	 * Bytes of the buffer that the kernel would write to, its final NUL included. Of a log that
	 * outgrows it only what the buffer would hold is given to the sink or kept. 0: no bound.
	 */
	uint32_t buffer_size;
};

struct loupe_log;

/**
 * Creates a log. One log is for one verification.
 * @param image  what will be verified; must live as long as the log
 * @param opts   NULL: level 0
 * @param out    free with loupe_log_destroy()
 * @return 0, -EINVAL for a level that does not exist, -ENOMEM
 */
LOUPE_API int loupe_log_create(const struct loupe_image *image, const struct loupe_log_opts *opts,
			       struct loupe_log **out);

/** The listener to put into loupe_verify_opts.listeners. At level 0 all of its hooks are NULL. */
LOUPE_API struct loupe_listener loupe_log_listener(struct loupe_log *log);

/**
 * Gives the rest of the text to the sink; call it when loupe_verify() has returned.
 * @return 0, or -ENOMEM when text is missing because memory ran out
 */
LOUPE_API int loupe_log_finish(struct loupe_log *log);

/**
 * The text that was not given to a sink, NUL-terminated.
 * @param len  receives its length in bytes, may be NULL
 */
LOUPE_API const char *loupe_log_text(const struct loupe_log *log, size_t *len);

/** Bytes that a log buffer needs to hold this log, as the kernel's log_true_size says it. */
LOUPE_API uint64_t loupe_log_true_size(const struct loupe_log *log);

/**
 * Did the log fit into its buffer? A load ends with this error whatever the verdict, even when text
 * that did not fit was taken back later.
 * @return 0 or -ENOSPC
 */
LOUPE_API int loupe_log_overflow(const struct loupe_log *log);

/** Frees the log. NULL is fine. */
LOUPE_API void loupe_log_destroy(struct loupe_log *log);

#ifdef __cplusplus
}
#endif

#endif
