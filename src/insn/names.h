/* SPDX-License-Identifier: GPL-2.0-only */
/* Lookups in the tables of names, which are indexed by the kernel's numbers. */
#ifndef LOUPE_INSN_NAMES_H
#define LOUPE_INSN_NAMES_H

#include "bpfloupe/insn.h"

/** Entry id of a table of cnt names, NULL beyond it or in a gap. */
const char *insn_table_name(const char *const *table, size_t cnt, uint32_t id);

/** Index of the entry that equals name, -ENOENT if there is none. */
int insn_table_find(const char *const *table, size_t cnt, const char *name);

#endif
