/* SPDX-License-Identifier: GPL-2.0-only */
/* Section names that the installed libbpf may not know. */
#ifndef HELPER_SECTIONS_H
#define HELPER_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct section_type {
	const char *
		name; /* "x": exactly; "x+": x, or x/ and anything; "x*": anything that starts so */
	uint32_t prog_type, attach_type;
	bool sleepable;
};

/* The row for a section name, NULL if there is none. old also allows what only loaders before
 * libbpf 1.0 took. */
const struct section_type *section_find(const char *name, bool old);

#endif
