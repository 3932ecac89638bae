// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes as a filter file, read in each format, and as what a random filter is made from. Whatever
 * is a filter is printed, read back, optimized and run beside the result.
 */
#include <assert.h>
#include <stdlib.h>

#include "../unit/filter_random.h"
#include "bpfloupe/why.h"

enum { RUNS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From level 1 on a shared tail may cost a jump, or words are asked in another order. */
static void compare(const struct loupe_filter *before, const struct loupe_filter *after,
		    uint32_t level)
{
	struct random_source r = { .state = 1 };

	for (int n = 0; n < RUNS; n++) {
		static const uint32_t ancillary[16] = { 8, 1, 2 };
		struct loupe_filter_run a = { 0 }, b = { 0 };
		struct loupe_seccomp_data seccomp;
		uint8_t packet[64];
		struct loupe_filter_input input = { .data = &seccomp,
						    .len = sizeof(seccomp),
						    .ancillary = ancillary };

		if (before->flavour == LOUPE_FILTER_SECCOMP) {
			random_seccomp_data(&r, before->insns, before->cnt, &seccomp);
		} else {
			input.len = random_packet(&r, before->insns, before->cnt, packet,
						  sizeof(packet));
			input.data = packet;
		}
		/* A netlink attribute search is not evaluated, on either side. */
		if (loupe_filter_eval(before, &input, &a, NULL))
			continue;
		assert(!loupe_filter_eval(after, &input, &b, NULL));
		assert(a.result == b.result && (level || b.executed <= a.executed));
	}
}

static void read_back(const struct loupe_filter *filter, enum loupe_filter_emit_as as)
{
	struct loupe_filter *again;
	size_t len;
	char *text;

	if (loupe_filter_emit(filter, NULL, as, &text, &len))
		abort();
	if (loupe_filter_load("again", text, len, NULL, &again, NULL))
		abort();
	assert(again->cnt == filter->cnt &&
	       !memcmp(again->insns, filter->insns, filter->cnt * sizeof(*filter->insns)));
	free(text);
	loupe_filter_destroy(again);
}

static void explain(const struct loupe_filter *filter, const struct loupe_filter *result,
		    const struct loupe_rewrite *rw)
{
	struct loupe_why *before, *after;
	struct loupe_error err;
	size_t len;
	char *text;

	if (loupe_why_create(filter, NULL, 0, &before, &err) ||
	    loupe_why_create(result, NULL, 0, &after, &err) ||
	    loupe_why_text(before, after, rw, NULL, &text, &len))
		abort();
	free(text);
	loupe_why_destroy(after);
	loupe_why_destroy(before);
}

static void use(struct loupe_filter *filter, uint32_t level)
{
	const struct loupe_filter_opts opts = { .level = level };
	struct loupe_filter *after;
	struct loupe_rewrite *rw;
	struct loupe_error err;

	read_back(filter, LOUPE_EMIT_DDD);
	read_back(filter, LOUPE_EMIT_C);
	read_back(filter, LOUPE_EMIT_RAW);
	if (loupe_filter_optimize(filter, &opts, &rw, &err))
		abort();
	if (loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, &err))
		abort();
	explain(filter, after, rw);
	assert(after->cnt <= filter->cnt);
	compare(filter, after, level);
	loupe_filter_destroy(after);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_cbpf_insn insns[80];
	struct random_source r = { .bytes = data, .len = size };
	struct loupe_filter *filter;
	struct loupe_error err;
	bool seccomp;
	uint32_t cnt;

	if (!size)
		return 0;
	for (int format = LOUPE_FILTER_FORMAT_AUTO; format <= LOUPE_FILTER_C; format++) {
		struct loupe_filter_load_opts opts = { .format = (enum loupe_filter_format)format };

		err.message[0] = 0;
		if (!loupe_filter_load("fuzz", data, size, &opts, &filter, &err))
			use(filter, size & 1);
		else if (!err.message[0])
			abort();
	}
	seccomp = *data & 1;
	cnt = random_filter(&r, seccomp, insns, sizeof(insns) / sizeof(insns[0]));
	if (loupe_filter_create("made", insns, cnt, LOUPE_FILTER_AUTO, &filter, &err))
		abort();
	/* the search of level 3 is slow */
	use(filter, size % 16 ? size % 3 : 3);
	return 0;
}
