// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: sequences_kernel [COUNT [SEED]]
 * Random programs of every type, against the running kernel: calls of helpers with arguments that
 * are mostly right (learnt from the kernel first), whose results are kept, tested, used and
 * released, with jumps around them, and accesses to the context.
 */
#include "calls.h"

enum {
	DEFAULT_COUNT = 12000,
	MAX_FUNC = 211,
	SUBJECTS = sizeof(subjects) / sizeof(subjects[0]),
	R_KEPT = BPF_REG_9, /* what a block leaves for later ones */
};

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % n;
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

/* --- learning
 * ---------------------------------------------------------------------------------------- */

enum result { NUMBER, MEMORY, MEMORY_OR_NULL, SOCKET_OR_NULL, RING_OR_NULL, SOMETHING };

/* A call that the kernel takes, by program type and helper. */
static struct known {
	bool available;
	enum result result;
	bool acquires;
	struct call call;
} known[SUBJECTS][MAX_FUNC + 1];

/* Reads of the context that the kernel takes, by program type. */
static struct {
	struct {
		int off, size;
	} read[512];
	uint32_t cnt;
} contexts[SUBJECTS];

static const int sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

/* The kernel takes the present program, and the model knows what it needs. */
static bool is_usable(struct rig *rig)
{
	struct loupe_log_difference diff;
	char reason[256];

	rig_ask_kernel(rig);
	return (!rig->kernel_err || strstr(rig->log, "Unreleased")) &&
	       rig_ask_model(rig, &diff, reason, sizeof(reason)) != 1;
}

static void learn_context(struct rig *rig, int s)
{
	contexts[s].cnt = 0;
	for (int off = 0; off < 224; off += 4) {
		for (int i = 0; i < 4; i++) {
			rig_start(rig, subjects[s].type, subjects[s].attach);
			rig_add(rig, RIG_LOAD(sizes[i], 2, 1, off));
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
			if (!is_usable(rig))
				continue;
			contexts[s].read[contexts[s].cnt].off = off;
			contexts[s].read[contexts[s].cnt++].size = sizes[i];
		}
	}
}

static void learn_result(const struct rig *rig, struct known *out)
{
	static const struct {
		const char *text;
		enum result result;
	} results[] = {
		{ "R0=scalar", NUMBER },
		{ "R0=map_value(", MEMORY },
		{ "R0=map_value_or_null", MEMORY_OR_NULL },
		{ "R0=ringbuf_mem_or_null", RING_OR_NULL },
		{ "R0=sock_or_null", SOCKET_OR_NULL },
		{ "R0=sock_common_or_null", SOCKET_OR_NULL },
		{ "R0=tcp_sock_or_null", SOCKET_OR_NULL },
	};
	const char *call = NULL;

	out->result = SOMETHING;
	for (const char *p = strstr(rig->log, ") call "); p; p = strstr(p + 1, ") call "))
		call = p;
	for (size_t i = 0; call && i < sizeof(results) / sizeof(results[0]); i++)
		if (strstr(call, results[i].text))
			out->result = results[i].result;
	out->acquires = strstr(rig->log, "Unreleased") != NULL;
}

static void learn(struct rig *rig, const struct subject *subject, int func, struct known *out)
{
	struct call call = { .subject = subject, .func = func, .map = map_of_helper(func) };

	call.args[0] = NOTHING;
	call.arg_cnt = 1;
	if (add_call(rig, &call)) {
		rig_add(rig, RIG_MOV_IMM(0, 1));
		rig_add(rig, RIG_EXIT);
		rig_ask_kernel(rig);
		if (!rig->kernel_err)
			call.arg_cnt = 0;
	}
	for (uint32_t k = 0; k < ARGS && call.arg_cnt; k++) {
		call.arg_cnt = k + 1;
		for (int value = 0; value < VALUES; value++) {
			call.args[k] = (enum value)value;
			if (value == NOTHING || !add_call(rig, &call))
				continue;
			rig_add(rig, RIG_MOV_IMM(0, 1));
			rig_add(rig, RIG_EXIT);
			rig_ask_kernel(rig);
			if (were_right(rig, k + 1))
				break;
			call.args[k] = NOTHING;
		}
		if (call.args[k] == NOTHING)
			return;
		if (!rig->kernel_err || strstr(rig->log, "Unreleased"))
			break;
	}
	out->available = is_usable(rig);
	out->call = call;
	learn_result(rig, out);
}

/* --- blocks
 * ------------------------------------------------------------------------------------------ */

static const struct known *random_available(int s)
{
	/* helpers that all types have are many */
	for (int tries = 0; tries < 400; tries++) {
		uint32_t func = 1 + below(MAX_FUNC);

		if (known[s][func].available && (!known[0][func].available || s == 0 || one_in(4)))
			return &known[s][func];
	}
	return NULL;
}

static void add_release(struct rig *rig, int func)
{
	rig_add(rig, RIG_MOV(BPF_REG_1, R_KEPT));
	rig_add(rig, RIG_MOV_IMM(BPF_REG_2, 0));
	rig_add(rig, RIG_CALL(func));
}

static void add_pointer_use(struct rig *rig)
{
	int size = sizes[below(4)], off = 4 * (int)below(4);

	switch (below(8)) {
	case 0:
		rig_add(rig, RIG_STORE(size, R_KEPT, one_in(4) ? R_CTX : R_SAVED, off));
		break;
	case 1:
		rig_add(rig, RIG_STORE_IMM(size, R_KEPT, off, 7));
		break;
	case 2:
		rig_add(rig, RIG_ADD_IMM(R_KEPT, 4));
		break;
	case 3:
		rig_add(rig, RIG_STORE(BPF_DW, BPF_REG_10, R_KEPT, -72));
		break;
	default:
		rig_add(rig, RIG_LOAD(BPF_W, 1, R_KEPT, off));
		break;
	}
}

/* Jump of insn at goes to what is added next. */
static void land(struct rig *rig, uint32_t at)
{
	rig->insns[at].off = (int16_t)(rig->image.insn_cnt - at - 1);
}

static void add_block(struct rig *rig, int s, uint32_t depth);

/* The result is kept, tested, used and released, mostly as it should be. */
static void add_result_use(struct rig *rig, int s, const struct known *k, uint32_t depth)
{
	uint32_t at = rig->image.insn_cnt;

	rig_add(rig, RIG_MOV(R_KEPT, 0));
	if (k->result == NUMBER || k->result == SOMETHING)
		return;
	if (k->result == MEMORY)
		return add_pointer_use(rig);
	at = rig->image.insn_cnt;
	if (!one_in(20))
		rig_add(rig, RIG_JMP_IMM(BPF_JEQ, one_in(2) ? 0 : R_KEPT, 0, 0));
	if (one_in(2))
		add_pointer_use(rig);
	if (one_in(3) && depth < 3)
		add_block(rig, s, depth + 1);
	if (k->acquires && !one_in(20))
		add_release(rig, k->result != RING_OR_NULL ? BPF_FUNC_sk_release
				 : one_in(2)		   ? BPF_FUNC_ringbuf_submit
							   : BPF_FUNC_ringbuf_discard);
	if (BPF_OP(rig->insns[at].code) == BPF_JEQ && BPF_CLASS(rig->insns[at].code) == BPF_JMP)
		land(rig, at);
	if (k->acquires || one_in(2))
		rig_add(rig, RIG_MOV_IMM(R_KEPT, 3));
}

static void add_random_call(struct rig *rig, int s, uint32_t depth)
{
	const struct known *k = random_available(s);
	uint32_t before = rig->image.insn_cnt;
	struct call call;

	if (!k)
		return;
	call = k->call;
	if (one_in(25))
		call.args[below(ARGS)] = (enum value)below(VALUES);
	if (one_in(40))
		call.map = below(MAPS);
	/* programs that share tail calls must share these, which would depend on earlier programs
	 */
	if (maps[call.map].type == BPF_MAP_TYPE_CGROUP_STORAGE ||
	    maps[call.map].type == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE)
		return;
	if (!add_arguments(rig, &call)) {
		rig->image.insn_cnt = before;
		return;
	}
	for (uint32_t i = 0; i < call.arg_cnt; i++)
		if (one_in(40))
			rig_add(rig, RIG_MOV((int)i + 1, R_KEPT));
	rig_add(rig, RIG_CALL(call.func));
	if (k->acquires || one_in(2))
		add_result_use(rig, s, k, depth);
}

static void add_context_access(struct rig *rig, int s)
{
	uint32_t i;

	if (!contexts[s].cnt || one_in(30)) {
		rig_add(rig, RIG_STORE(BPF_W, R_CTX, R_SAVED, 4 * (int)below(56)));
		return;
	}
	i = below(contexts[s].cnt);
	rig_add(rig, RIG_LOAD(contexts[s].read[i].size, one_in(2) ? R_KEPT : R_SAVED, R_CTX,
			      contexts[s].read[i].off));
}

/* Blocks that a comparison jumps over; both sides meet again. */
static void add_branch(struct rig *rig, int s, uint32_t depth)
{
	static const int ops[] = {
		BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JSGT, BPF_JLE, BPF_JSLT, BPF_JSET
	};
	uint32_t at;

	rig_add(rig, RIG_CALL(BPF_FUNC_get_prandom_u32));
	if (one_in(3))
		rig_add(rig, RIG_MOV(R_KEPT, 0));
	at = rig->image.insn_cnt;
	rig_add(rig, RIG_JMP_IMM(ops[below(7)], one_in(10) ? R_KEPT : 0, (int)below(9), 0));
	add_block(rig, s, depth + 1);
	if (one_in(2))
		add_block(rig, s, depth + 1);
	land(rig, at);
}

static void add_block(struct rig *rig, int s, uint32_t depth)
{
	switch (below(depth < 3 ? 12 : 8)) {
	case 0:
		add_context_access(rig, s);
		break;
	case 1:
		if (one_in(10))
			add_pointer_use(rig);
		break;
	case 2:
		rig_add(rig, one_in(2) ? RIG_STORE(BPF_DW, BPF_REG_10, R_KEPT, -72)
				       : RIG_LOAD(BPF_DW, R_KEPT, BPF_REG_10, -72));
		break;
	case 3:
		if (one_in(20))
			add_release(rig, BPF_FUNC_sk_release);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		add_random_call(rig, s, depth);
		break;
	default:
		add_branch(rig, s, depth);
		break;
	}
}

static void make_program(struct rig *rig, int s)
{
	uint32_t blocks = 3 + below(9);

	start_program(rig, &subjects[s]);
	rig_add(rig, RIG_MOV_IMM(R_SAVED, 0));
	rig_add(rig, RIG_STORE_IMM(BPF_DW, BPF_REG_10, -72, 5));
	rig_add(rig, one_in(2) ? RIG_MOV_IMM(R_KEPT, 1) : RIG_MOV(R_KEPT, R_CTX));
	for (uint32_t i = 0; i < blocks && rig->image.insn_cnt < RIG_MAX_INSNS - 60; i++)
		add_block(rig, s, 0);
	if (one_in(20))
		rig_add(rig, RIG_MOV(0, R_KEPT));
	else
		rig_add(rig, RIG_MOV_IMM(0, 1));
	rig_add(rig, RIG_EXIT);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : DEFAULT_COUNT;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	static struct rig rig;
	struct loupe_error err;
	uint32_t accepted = 0;

	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	/* some maps take programs of one type only, so that each type needs its own */
	for (int s = 0; s < SUBJECTS; s++) {
		if (init_calls(&rig))
			return 1;
		for (int func = 1; func <= MAX_FUNC; func++)
			if (is_available(&rig, &subjects[s], func))
				learn(&rig, &subjects[s], func, &known[s][func]);
		learn_context(&rig, s);
		rig.accepted = accepted;
		for (int i = s; i < count; i += SUBJECTS) {
			state = seed + (uint64_t)i * 0x9e3779b97f4a7c15ull;
			below(2);
			make_program(&rig, s);
			rig_compare(&rig, "program %d", i);
		}
		accepted = rig.accepted;
		rig_finish(&rig);
	}
	printf("%u same, %u different, %u not judged; %u accepted\n", rig.same, rig.differ,
	       rig.not_judged, rig.accepted);
	return rig.differ ? 1 : 0;
}
