/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOUPE_FILTER_IR_THREAD_H
#define LOUPE_FILTER_IR_THREAD_H

#include "filter/ir.h"

enum {
	FILTER_THREAD_TESTS = 1, /* over tests that a way decides */
	FILTER_THREAD_LOADS = 2, /* over loads of what is held or what nobody uses */
	FILTER_THREAD_RELOADS = 4, /* words of a call are loaded again rather than read from M[] */
};

/**
 * Leads each way as far as it is clear where it goes: over tests that are decided on it, over loads
 * of what the register holds already, over what nobody uses afterwards. Repeated, and equal
 * suffixes shared in between, until nothing changes. The graph only gets smaller, and no run of it
 * longer. What is stored in scratch memory stays stored, unless the program reads none.
 * @param what  FILTER_THREAD_*
 * @param ir    replaced
 * @return 0, -ENOMEM
 */
int filter_ir_thread(struct filter_ir *ir, enum loupe_filter_flavour flavour, uint32_t what);

/** Whether the graph reads scratch memory. */
bool filter_ir_reads_scratch(const struct filter_ir *ir);

#endif
