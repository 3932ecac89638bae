/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOUPE_FILTER_PROOF_H
#define LOUPE_FILTER_PROOF_H

#include "bpfloupe/filter.h"

enum proof_decision {
	PROOF_EQUAL,
	PROOF_DIFFERENT,
	PROOF_UNDECIDED,
};

/**
 * Decides whether two seccomp filters return the same for every input.
 * @param data     different: receives an input that shows it
 * @param why_not  undecided: receives the reason, static storage
 * @param nodes    receives the size of the diagrams that were needed
 * @return enum proof_decision, or -ENOMEM
 */
int proof_decide(const struct loupe_filter *a, const struct loupe_filter *b,
		 struct loupe_seccomp_data *data, const char **why_not, uint32_t *nodes);

#endif
