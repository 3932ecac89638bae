// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures recording against its budgets: time with and without, bytes a step, seeking.
 *
 * usage: bench_trace [--check] [FILE [PROGRAM]]; without FILE two built-in programs that run into
 * the instruction limit. --check compares every state that the trace gives back with the one shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../unit/trace_check.h"
#include "bpfloupe/load.h"
#include "insn/opcodes.h"

enum { RUNS = 9, SEEKS = 20000, MAX_KB = 100 * 1024 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t rnd(uint32_t n)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 20) % n;
}

#define I(c, d, s, o, i)                                                            \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}

static struct loupe_image *image_of(const char *name, const struct loupe_insn *insns, uint32_t cnt)
{
	struct loupe_image *image = loupe_image_create();

	image->name = strdup(name);
	image->insn_cnt = cnt;
	image->insns = malloc(cnt * sizeof(*insns));
	memcpy(image->insns, insns, cnt * sizeof(*insns));
	image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	image->license = strdup("GPL");
	return image;
}

/* A loop whose turns never equal each other. */
static struct loupe_image *endless(void)
{
	static const struct loupe_insn insns[] = {
		I(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, 0),
		I(BPF_LDX | BPF_MEM | BPF_W, 8, 1, 0, 0),
		/* 3: loop */
		I(BPF_ALU64 | BPF_ADD | BPF_K, 6, 0, 0, 1),
		I(BPF_ALU64 | BPF_MOV | BPF_X, 2, 6, 0, 0),
		I(BPF_ALU64 | BPF_AND | BPF_K, 2, 0, 0, 63),
		I(BPF_STX | BPF_MEM | BPF_DW, 10, 2, -8, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
		I(BPF_ALU64 | BPF_ADD | BPF_X, 3, 2, 0, 0),
		I(BPF_ST | BPF_MEM | BPF_B, 3, 0, -80, 7),
		I(BPF_JMP | BPF_JGT | BPF_K, 8, 0, 1, 100),
		I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 1),
		I(BPF_LDX | BPF_MEM | BPF_DW, 4, 10, -8, 0),
		I(BPF_JMP | BPF_JNE | BPF_K, 6, 0, -11, 30000000),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return image_of("endless", insns, sizeof(insns) / sizeof(insns[0]));
}

/* Each turn doubles the paths, and a stack access demands the number that keeps them apart. */
static struct loupe_image *multiplying(void)
{
	enum { TURNS = 24 };
	struct loupe_insn insns[2 + 6 * TURNS + 2] = {
		I(BPF_LDX | BPF_MEM | BPF_W, 8, 1, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, 0),
	};
	uint32_t n = 2;

	for (int i = 0; i < TURNS; i++) {
		const struct loupe_insn turn[] = {
			I(BPF_JMP | BPF_JSET | BPF_K, 8, 0, 1, 1 << i),
			I(BPF_ALU64 | BPF_ADD | BPF_K, 7, 0, 0, 1 + i),
			I(BPF_ALU64 | BPF_MOV | BPF_X, 3, 10, 0, 0),
			I(BPF_ALU64 | BPF_ADD | BPF_X, 3, 7, 0, 0),
			I(BPF_ST | BPF_MEM | BPF_B, 3, 0, -510, 7),
			I(BPF_STX | BPF_MEM | BPF_DW, 10, 7, -8, 0),
		};

		memcpy(&insns[n], turn, sizeof(turn));
		n += 6;
	}
	insns[n++] = (struct loupe_insn)I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	insns[n++] = (struct loupe_insn)I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return image_of("multiplying", insns, n);
}

static void on_nothing(void *ctx, const struct loupe_step *step)
{
	(void)ctx;
	(void)step;
}

static double verify(const struct loupe_image *image, const struct loupe_listener *listener)
{
	struct loupe_verify_opts opts;
	struct loupe_verify_result res;
	double t;

	loupe_verify_opts_init(&opts);
	if (listener)
		opts.listeners[opts.listener_cnt++] = *listener;
	t = now_ns();
	if (loupe_verify(image, &opts, &res))
		exit(1);
	t = now_ns() - t;
	loupe_verify_result_finish(&res);
	return t;
}

#define BYTES(name, vec)                                                     \
	printf("  %-16s %9zu  %6.2f\n", name, (vec).cnt * sizeof(*(vec).at), \
	       (double)((vec).cnt * sizeof(*(vec).at)) / t->step_cnt)

static void print_bytes(const struct loupe_trace *t)
{
	uint64_t hops = 0;

	printf("bytes: %zu, %.1f a step\n", loupe_trace_bytes(t),
	       (double)loupe_trace_bytes(t) / t->step_cnt);
	BYTES("steps", t->steps);
	BYTES("scratched slots", t->scratched_slots);
	BYTES("changes", t->changes);
	BYTES("values", t->pool.words);
	BYTES("paths", t->paths);
	BYTES("pushes", t->pushes);
	BYTES("keyframes", t->keyframe_data);
	BYTES("checkpoints", t->checkpoints);
	BYTES("runs", t->runs);
	BYTES("comparisons", t->compare_bytes);
	BYTES("evictions", t->evicts);
	BYTES("walks", t->walks);
	BYTES("marks", t->marks);
	BYTES("messages", t->messages);
	BYTES("texts", t->texts);
	BYTES("sccs", t->sccs);
	BYTES("live stack", t->lives);
	for (size_t i = 0; i < t->walks.cnt; i++)
		hops += t->walks.at[i].hops;
	printf("comparisons: %llu, kinds %zu; walks: %zu, hops %.1f a step\n",
	       (unsigned long long)t->compare_cnt, t->compare_codes.cnt, t->walks.cnt,
	       (double)hops / t->step_cnt);
}

static void time_queries(const struct loupe_trace *t)
{
	struct loupe_cursor *cursor = loupe_cursor_create(t);
	double sum = 0, worst = 0, start = now_ns(), one;
	struct loupe_blame chain[64];

	for (int i = 0; i < SEEKS; i++) {
		uint32_t step = i ? rnd(t->step_cnt) : t->step_cnt - 1;

		one = now_ns();
		if (!loupe_cursor_seek(cursor, step))
			exit(1);
		one = now_ns() - one;
		sum += one;
		if (one > worst)
			worst = one;
	}
	printf("seek: mean %.1f us, worst %.1f us of %d\n", sum / SEEKS / 1e3, worst / 1e3, SEEKS);
	start = now_ns();
	for (uint32_t s = 0; s < t->step_cnt; s++)
		loupe_cursor_seek(cursor, s);
	printf("forward: %.0f ns a step\n", (now_ns() - start) / t->step_cnt);
	start = now_ns();
	for (int i = 0; i < 1000; i++)
		loupe_trace_blame_chain(t, rnd(t->step_cnt),
					(struct loupe_loc){ LOUPE_LOC_REG, 0, (uint8_t)rnd(10) },
					chain, 64);
	printf("blame chain: %.1f us\n", (now_ns() - start) / 1e6);
	worst = 0;
	for (uint32_t s = 1; s <= t->checkpoints.cnt && s <= 2000; s++) {
		struct loupe_compare_info info;

		one = now_ns();
		loupe_trace_checkpoint_compares(t, 1 + rnd((uint32_t)t->checkpoints.cnt), 0, &info,
						0);
		one = now_ns() - one;
		worst = one > worst ? one : worst;
	}
	printf("comparisons of a checkpoint: worst %.2f ms\n", worst / 1e6);
	loupe_cursor_destroy(cursor);
}

/* deep: also looks for changes where the insn was not expected to make any. */
static unsigned check(const struct loupe_image *image, bool deep)
{
	struct trace_check c = { .sample = 1 };
	struct loupe_trace *t = loupe_trace_create(image);
	struct loupe_verify_opts opts;
	struct loupe_verify_result res;
	uint64_t missed;
	unsigned bad;

	loupe_verify_opts_init(&opts);
	opts.listeners[0] = loupe_trace_listener(t);
	opts.listeners[1] = (struct loupe_listener){ &check_hooks, &c };
	opts.listener_cnt = 2;
	if (deep)
		trace_recorder_check(t);
	if (loupe_verify(image, &opts, &res))
		exit(1);
	missed = trace_recorder_missed(t);
	loupe_trace_finish(t);
	bad = check_trace(&c, t, missed);
	printf("%s: verdict %d, %u steps, %llu comparisons: %s\n", image->name, res.verdict,
	       t->step_cnt, (unsigned long long)t->compare_cnt, bad ? "DIFFERS" : "same");
	if (res.verdict == LOUPE_NOT_JUDGED)
		printf("  %s\n", res.reason);
	loupe_verify_result_finish(&res);
	loupe_trace_destroy(t);
	check_finish(&c);
	return bad;
}

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Returns 1 if recording took more memory than it may. */
static unsigned measure(const struct loupe_image *image)
{
	static const struct loupe_hooks idle_hooks = { .arrive = on_nothing };
	const struct loupe_listener idle = { .hooks = &idle_hooks };
	double plain = 1e18, heard = 1e18, recorded = 1e18, finish = 1e18;
	struct loupe_trace *t = NULL;
	long before, after = 0;

	verify(image, NULL);
	before = peak_kb();
	for (int i = 0; i < RUNS; i++) {
		struct loupe_listener to;
		double ns;

		loupe_trace_destroy(t);
		t = loupe_trace_create(image);
		to = loupe_trace_listener(t);
		ns = verify(image, &to);
		recorded = ns < recorded ? ns : recorded;
		ns = now_ns();
		loupe_trace_finish(t);
		ns = now_ns() - ns;
		finish = ns < finish ? ns : finish;
		if (!i)
			after = peak_kb();
		ns = verify(image, NULL);
		plain = ns < plain ? ns : plain;
		ns = verify(image, &idle);
		heard = ns < heard ? ns : heard;
	}
	printf("%s: %u steps, %zu checkpoints, %zu paths, verdict %d\n", image->name, t->step_cnt,
	       t->checkpoints.cnt, t->paths.cnt, t->result.verdict);
	printf("plain %.1f ms (%.0f ns a step), idle listener %.1f ms, recording %.1f ms + %.1f "
	       "ms: "
	       "ratio %.2f\n",
	       plain / 1e6, plain / t->step_cnt, heard / 1e6, recorded / 1e6, finish / 1e6,
	       recorded / plain);
	printf("peak resident: %ld kB more, %.1f bytes a step\n", after - before,
	       1024.0 * (double)(after - before) / t->step_cnt);
	print_bytes(t);
	time_queries(t);
	loupe_trace_destroy(t);
	if (after - before <= MAX_KB)
		return 0;
	printf("more than the %d kB that recording may take\n", MAX_KB);
	return 1;
}

int main(int argc, char **argv)
{
	bool checking = argc > 1 && !strcmp(argv[1], "--check");
	struct loupe_load_opts opts = { .size = sizeof(opts) };
	struct loupe_program_list list;
	struct loupe_error err;
	unsigned bad = 0;

	argc -= checking;
	argv += checking;
	if (argc < 2) {
		struct loupe_image *images[] = { endless(), multiplying() };

		for (int i = 0; i < 2; i++) {
			if (checking)
				bad += check(images[i], false) + check(images[i], true);
			else
				bad += measure(images[i]);
			loupe_image_destroy(images[i]);
		}
		return bad != 0;
	}
	opts.prog_name = argc > 2 ? argv[2] : NULL;
	if (loupe_load_file(argv[1], &opts, &list, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	for (uint32_t i = 0; i < list.cnt; i++) {
		if (!list.progs[i].image)
			continue;
		if (checking)
			bad += check(list.progs[i].image, false) + check(list.progs[i].image, true);
		else
			bad += measure(list.progs[i].image);
	}
	loupe_program_list_finish(&list);
	return bad != 0;
}
