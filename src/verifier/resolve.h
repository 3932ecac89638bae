/* SPDX-License-Identifier: GPL-2.0-only */
/* What resolve.c and maps.c share. */
#ifndef LOUPE_VERIFIER_RESOLVE_H
#define LOUPE_VERIFIER_RESOLVE_H

struct vf_env;

/* Fills env->maps from the image, with the special fields of the maps' values. */
int vf_collect_maps(struct vf_env *env);

#endif
