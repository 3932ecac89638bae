/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOUPE_VERIFIER_TYPENAME_H
#define LOUPE_VERIFIER_TYPENAME_H

#include "bpfloupe/state.h"

enum { VF_TYPE_NAME = 128 }; /* room for the longest name */

/* "map_value_or_null", "rdonly_mem", "ptr_" (a BTF type's name follows) …; returns buf. */
const char *vf_type_str(char buf[VF_TYPE_NAME], uint32_t type);

/*
 * The type that a name shows (flags that names do not show are lost); *used: its length, for ptr_
 * without the BTF type's name. False if text does not begin with one.
 */
bool vf_type_scan(const char *text, size_t len, uint32_t *type, size_t *used);

#endif
