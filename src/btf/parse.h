/* SPDX-License-Identifier: GPL-2.0-only */
/* What a view of BTF consists of; parse.c fills it, btf.c answers from it. */
#ifndef BTF_PARSE_H
#define BTF_PARSE_H

#include "btf/btf.h"

struct btf {
	const struct btf_type **types; /* by id; [0] is NULL for void */
	uint32_t type_cnt;
	const char *strs; /* str_len bytes, the first and the last one are NUL */
	uint32_t str_len;
	void *owned; /* the bytes behind the view if it owns them, else NULL */
};

/* btf_open() of data, which the view frees as owned when it is closed, or at once after an
 * error. */
int btf_open_owned(const void *data, size_t size, void *owned, struct btf **out,
		   struct loupe_error *err);

#endif
