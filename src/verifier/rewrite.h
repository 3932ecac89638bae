/* SPDX-License-Identifier: GPL-2.0-only */
/* What the phases after exploration share. */
#ifndef LOUPE_VERIFIER_REWRITE_H
#define LOUPE_VERIFIER_REWRITE_H

#include "verifier/vf.h"

/* The program while it is rewritten, each insn with its number in the image. */
struct vf_program {
	struct loupe_insn *insns;
	uint32_t *orig;
	uint32_t cnt;
};

/* deadcode.c: hard-wires branches with one outcome, then removes what no path reached and no-ops.
 * Functions that are gone leave env->subprogs, whose starts count in the result from then on. */
int vf_remove_dead_code(struct vf_env *env, struct vf_program *prog);

/* expand.c: room that the insns need after rewriting; refuses jumps that would not reach. */
int vf_check_loop_inlining(struct vf_env *env);
int vf_check_expansion(struct vf_env *env, const struct vf_program *prog);

#endif
