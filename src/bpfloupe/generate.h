/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random eBPF programs for comparing verifiers: made from a seed, deep rather than arbitrary (types
 * are followed while a program is made, so that most of it is valid), and shrunk by taking
 * statements out while a property holds.
 */
#ifndef BPFLOUPE_GENERATE_H
#define BPFLOUPE_GENERATE_H

#include "common.h"
#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct loupe_generated;

struct loupe_generate_opts {
	size_t size;	   /* sizeof(struct loupe_generate_opts) */
	uint64_t seed;	   /* same seed, same program */
	uint32_t prog_type; /* BPF_PROG_TYPE_XDP, SCHED_CLS, SOCKET_FILTER, CGROUP_SKB, KPROBE or
			       TRACEPOINT; 0: by seed */
	uint32_t cpus;	   /* possible CPUs of the image's host, 0: unknown */
	bool unprivileged; /* only what a user without capabilities may try */
};

/**
 * Makes a program.
 * @param out  free with loupe_generated_destroy()
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_generate(const struct loupe_generate_opts *opts, struct loupe_generated **out);

/** The program as assembler text; belongs to gen. */
LOUPE_API const char *loupe_generated_text(const struct loupe_generated *gen);

/** The program, assembled; belongs to gen. */
LOUPE_API const struct loupe_image *loupe_generated_image(const struct loupe_generated *gen);

/** NULL is fine. */
LOUPE_API void loupe_generated_destroy(struct loupe_generated *gen);

/**
 * Takes statements out of *gen as long as keep says so of what remains, until no single one can go.
 * @param gen   replaced by smaller programs
 * @param keep  nonzero: the program still has the property; must hold for *gen
 * @param steps most programs to try, 0: no limit
 * @return 0 or -ENOMEM
 */
LOUPE_API int loupe_generated_shrink(struct loupe_generated **gen,
				     int (*keep)(void *ctx, const struct loupe_generated *gen),
				     void *ctx, uint32_t steps);

#ifdef __cplusplus
}
#endif

#endif
