// SPDX-License-Identifier: GPL-2.0-only
/* Jumps over so much that what divisions are translated to may not fit between. */
#include <stdlib.h>
#include <string.h>

#include "generate/gen.h"

enum {
	LEAST = 6000, /* divisions; 8,191 and more do not fit, where each becomes four insns */
	MOST = 9500,
};

void gen_make_long_jump(struct gen *gen)
{
	static const char *const ops[] = { "\tr0 /= r7\n", "\tw0 /= w7\n", "\tw0 %= w7\n",
					   "\tr0 s/= r7\n" };
	size_t cnt = (size_t)(LEAST + gen_below(gen, MOST - LEAST));
	const char *op = ops[gen_below(gen, 4)];
	size_t len = strlen(op);
	char *text = malloc(cnt * len + 1);
	int label = gen->label++;

	if (!text) {
		gen->failed = true;
		return;
	}
	for (size_t i = 0; i < cnt; i++)
		memcpy(text + i * len, op, len);
	text[cnt * len] = '\0';
	gen_put(gen, gen_line(gen->tree,
			      "\tcall bpf_ktime_get_ns\n\tr7 = r0\n\tr7 |= 1\n"
			      "\tif r0 %s 0 goto far%d\n%sfar%d:\n",
			      gen_one_in(gen, 2) ? "==" : "s<", label, text, label));
	free(text);
	gen_lose_temporaries(gen);
	gen_set_number(gen, 0, UINT64_MAX);
	gen_set_number(gen, 7, UINT64_MAX);
}
