/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inputs for a filter that reach each of its instructions. Random ones come first; for what they
 * miss, the instruction is made a return of its own and the prover asked for an input that shows
 * the difference. The evaluator has the last word: what it does not reach is not reached.
 */
#ifndef LOUPE_TEST_FILTER_REACH_H
#define LOUPE_TEST_FILTER_REACH_H

#include <stdlib.h>

#include "filter_random.h"

enum {
	REACH_RANDOM = 30,
	REACH_MOST = 400,
	REACH_PACKET = 40,
	REACH_PACKETS = 300,
	REACH_TRIES = 20000, /* where the prover does not know */
};

/* An answer that no random filter or policy gives. */
#define REACH_MARK 0x5eedface

struct reach_input {
	struct loupe_seccomp_data data;
	uint8_t packet[REACH_PACKET];
	size_t len; /* of the packet; 64 for seccomp */
};

struct reach_inputs {
	struct reach_input input[REACH_MOST];
	uint32_t cnt;
};

/* How far inputs got; added up. */
struct reach_count {
	uint64_t reached;     /* instructions */
	uint64_t out_of_reach; /* proven: no input gets there */
	uint64_t open;	      /* connected, not reached, and nothing proven */
};

static inline struct loupe_filter_run reach_run(const struct loupe_filter *filter,
						const struct reach_input *input, uint32_t *path)
{
	bool seccomp = filter->flavour == LOUPE_FILTER_SECCOMP;
	const struct loupe_filter_input in = { .data = seccomp ? (const void *)&input->data
							       : input->packet,
					       .len = input->len };
	struct loupe_filter_run run = { .path = path };

	if (loupe_filter_eval(filter, &in, &run, NULL))
		abort();
	return run;
}

/* @return how many instructions are new */
static inline uint32_t reach_try(const struct loupe_filter *filter, const struct reach_input *input,
				 bool *hit)
{
	uint32_t path[LOUPE_FILTER_MAX_INSNS], fresh = 0;
	struct loupe_filter_run run = reach_run(filter, input, path);

	for (uint32_t i = 0; i < run.executed; i++) {
		fresh += !hit[path[i]];
		hit[path[i]] = true;
	}
	return fresh;
}

/* What the graph connects with the start. */
static inline void reach_connect(const struct loupe_filter *filter, bool *connected)
{
	connected[0] = true;
	for (uint32_t i = 0; i < filter->cnt; i++) {
		struct loupe_cbpf_insn insn = filter->insns[i];

		if (!connected[i] || BPF_CLASS(insn.code) == BPF_RET)
			continue;
		if (insn.code == (BPF_JMP | BPF_JA)) {
			connected[i + 1 + insn.k] = true;
		} else if (BPF_CLASS(insn.code) == BPF_JMP) {
			connected[i + 1 + insn.jt] = true;
			connected[i + 1 + insn.jf] = true;
		} else {
			connected[i + 1] = true;
		}
	}
}

/* Asks the prover for an input that reaches an instruction. */
static inline enum loupe_proof_verdict reach_ask(const struct loupe_filter *filter, uint32_t index,
						 struct reach_input *input)
{
	struct loupe_cbpf_insn insns[LOUPE_FILTER_MAX_INSNS];
	struct loupe_filter_proof proof = { .verdict = LOUPE_PROOF_TESTED };
	struct loupe_filter marked = *filter;

	/* The kernel might not take it: it thinks that scratch memory is read behind a return. */
	memcpy(insns, filter->insns, filter->cnt * sizeof(*insns));
	insns[index] = (struct loupe_cbpf_insn){ BPF_RET | BPF_K, 0, 0, REACH_MARK };
	marked.insns = insns;
	if (loupe_filter_prove(filter, &marked, &proof, NULL))
		abort();
	input->data = proof.data;
	return proof.verdict;
}

static inline void reach_random(struct random_source *r, const struct loupe_filter *filter,
				struct reach_input *input)
{
	input->len = sizeof(input->data);
	if (filter->flavour == LOUPE_FILTER_SECCOMP)
		random_seccomp_data(r, filter->insns, filter->cnt, &input->data);
	else
		input->len = random_packet(r, filter->insns, filter->cnt, input->packet,
					   sizeof(input->packet));
}

/*
 * Adds inputs until every instruction that some input reaches is reached.
 * @param decided  the prover decides such filters quickly
 */
static inline void reach_all(struct random_source *r, const struct loupe_filter *filter,
			     bool decided, struct reach_inputs *to, struct reach_count *count)
{
	bool hit[LOUPE_FILTER_MAX_INSNS] = { false }, connected[LOUPE_FILTER_MAX_INSNS] = { false };
	bool seccomp = filter->flavour == LOUPE_FILTER_SECCOMP;

	reach_connect(filter, connected);
	for (uint32_t i = 0; i < to->cnt; i++)
		reach_try(filter, &to->input[i], hit);
	for (uint32_t n = 0; n < REACH_RANDOM && to->cnt < REACH_MOST; n++) {
		struct reach_input *input = &to->input[to->cnt++];

		reach_random(r, filter, input);
		reach_try(filter, input, hit);
	}
	for (uint32_t n = 0; !seccomp && n < REACH_PACKETS && to->cnt < REACH_MOST; n++) {
		reach_random(r, filter, &to->input[to->cnt]);
		to->cnt += reach_try(filter, &to->input[to->cnt], hit) > 0;
	}
	for (uint32_t i = 0; i < filter->cnt; i++) {
		enum loupe_proof_verdict verdict = LOUPE_PROOF_TESTED;

		if (!connected[i])
			continue;
		if (!hit[i] && decided && to->cnt < REACH_MOST) {
			struct reach_input *input = &to->input[to->cnt];

			input->len = sizeof(input->data);
			verdict = reach_ask(filter, i, input);
			if (verdict == LOUPE_PROOF_REFUTED)
				to->cnt += reach_try(filter, input, hit) > 0;
			for (uint32_t n = 0; n < REACH_TRIES && !hit[i] && to->cnt < REACH_MOST &&
					     verdict == LOUPE_PROOF_TESTED; n++) {
				reach_random(r, filter, &to->input[to->cnt]);
				to->cnt += reach_try(filter, &to->input[to->cnt], hit) > 0;
			}
		}
		count->reached += hit[i];
		count->out_of_reach += !hit[i] && verdict == LOUPE_PROOF_PROVEN;
		count->open += !hit[i] && verdict != LOUPE_PROOF_PROVEN;
	}
}

#endif
