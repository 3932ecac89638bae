/* SPDX-License-Identifier: GPL-2.0-only */
/* From an optimized graph to the edits that make its program. */
#ifndef LOUPE_FILTER_COMMIT_H
#define LOUPE_FILTER_COMMIT_H

#include "filter/ir.h"
#include "filter/opt.h"

/**
 * Records how the filter becomes the encoded graph when each node of it has an origin: ways are led
 * elsewhere, what nothing leads to goes, then what is left is moved. All ways that change do so
 * together: in between the filter may mean something else.
 * @return 0, -ENOMEM, -EINVAL when the graph does not come from the filter
 */
int filter_commit_graph(struct filter_opt *opt, const struct filter_ir *ir,
			const struct filter_ir_code *code);

/** Records how the filter is replaced by an encoded graph that was built anew. As above. */
int filter_commit_new(struct filter_opt *opt, const struct filter_ir *ir,
		      const struct filter_ir_code *code);

#endif
