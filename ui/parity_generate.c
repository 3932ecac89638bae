// SPDX-License-Identifier: GPL-2.0-only
/* parity --generate: seeds are shared out to processes; what differs is shrunk by who found it. */
#include "parity_generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpfloupe/generate.h"
#include "commands.h"
#include "parity.h"

enum {
	SHRINK_STEPS = 3000,
	SHRINK_INSNS = 100000, /* programs that process more are saved as they are */
	QUICK_INSNS = 10000,   /* most that all but some programs process: others take seconds */
	LONG_ONE_IN = 200,
	ATTEMPTS = 16,
	COMPARED = 1 << 0,
	ACCEPTED = 1 << 1,
	UNJUDGED = 1 << 2,
	DIFFERS = 1 << 3,
	HIT = 1 << 4,
	EVICTION = 1 << 5,
	WALK = 1 << 6,
	CALL = 1 << 7,
	LOOP = 1 << 8,
};

/* What one program was like. */
struct outcome {
	uint32_t insns; /* processed */
	uint32_t flags; /* 0: whoever compared it failed, or died */
};

struct board {
	uint64_t next; /* program to be taken */
	struct outcome outcomes[];
};

struct seen {
	bool walk;
};

static void see_walk(void *ctx, uint32_t frameno, int32_t last_idx, int32_t first_idx,
		     int32_t subseq_idx)
{
	struct seen *seen = ctx;

	(void)frameno;
	(void)last_idx;
	(void)first_idx;
	(void)subseq_idx;
	seen->walk = true;
}

/*
 * Has the program what deep exploration needs? Asked of the model, which the kernel agrees with
 * where nothing differs.
 */
static int describe(const struct loupe_generated *gen, const struct loupe_verify_opts *knobs,
		    struct outcome *out)
{
	static const struct loupe_hooks hooks = { .walk_begin = see_walk };
	const char *text = loupe_generated_text(gen);
	struct loupe_verify_opts opts = *knobs;
	struct loupe_verify_result result;
	struct seen seen = { false };
	int err;

	opts.listeners[opts.listener_cnt++] = (struct loupe_listener){ &hooks, &seen };
	err = loupe_verify(loupe_generated_image(gen), &opts, &result);
	if (err)
		return err;
	out->insns = result.counters.insn_processed;
	if (result.verdict == LOUPE_ACCEPTED)
		out->flags |= ACCEPTED;
	else if (result.verdict != LOUPE_REJECTED)
		out->flags |= UNJUDGED;
	if (result.counters.compare_hits)
		out->flags |= HIT;
	if (result.counters.evictions)
		out->flags |= EVICTION;
	if (seen.walk)
		out->flags |= WALK;
	if (strstr(text, "call f") || strstr(text, "= func f"))
		out->flags |= CALL;
	if (strstr(text, "\nloop") || strstr(text, "\nagain"))
		out->flags |= LOOP;
	loupe_verify_result_finish(&result);
	return 0;
}

static int still_differs(void *ctx, const struct loupe_generated *gen)
{
	struct parity row;

	return !parity_compare(loupe_generated_image(gen), ctx, &row) && parity_differs(&row);
}

static void save(const struct args *args, uint64_t seed, const struct loupe_generated *gen,
		 const struct parity *row)
{
	const char *dir = args->save ? args->save : ".";
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/differs-%llu.bpfasm", dir, (unsigned long long)seed);
	printf("seed %llu differs, saved as %s\n", (unsigned long long)seed, path);
	for (int i = 0; i < PARITY_LEVELS; i++) {
		const struct loupe_log_difference *diff = &row->diffs[i];

		if (row->logs[i] == PARITY_DIFFERS)
			printf("  log level %u, line %llu\n    kernel %s\n    model  %s\n",
			       parity_levels[i], (unsigned long long)diff->line, diff->want,
			       diff->got);
	}
	printf("%s\n", loupe_generated_text(gen));
	fflush(stdout);
	file = fopen(path, "w");
	if (!file || fputs(loupe_generated_text(gen), file) < 0 || fclose(file))
		complain_text("%s: %s", path, strerror(errno));
}

/*
 * Makes the first program of a series that is quick to explore; for some seeds the first one,
 * however long that takes.
 */
static int make_program(const struct args *args, uint64_t seed, struct loupe_generated **gen,
			struct outcome *out)
{
	struct loupe_generate_opts opts = {
		.size = sizeof(opts),
		.prog_type = args->load.prog_type,
		.cpus = args->load.cpus ? args->load.cpus
					: (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.unprivileged = args->verify.unprivileged,
	};
	bool any = seed % LONG_ONE_IN == 0;
	struct loupe_verify_opts knobs = args->verify;

	knobs.insn_limit = any ? args->verify.insn_limit : QUICK_INSNS;
	for (uint64_t attempt = 0;; attempt++) {
		int err;

		opts.seed = seed ^ attempt << 40;
		err = loupe_generate(&opts, gen);
		if (err)
			return err;
		*out = (struct outcome){ 0 };
		err = describe(*gen, &knobs, out);
		if (err || any || out->insns <= QUICK_INSNS || attempt == ATTEMPTS)
			return err;
		loupe_generated_destroy(*gen);
		*gen = NULL;
	}
}

static void compare_seed(const struct args *args, uint64_t seed, struct outcome *out)
{
	struct loupe_generated *gen = NULL;
	struct loupe_verify_opts knobs = args->verify;
	struct outcome outcome;
	struct parity row;
	int err;

	err = make_program(args, seed, &gen, &outcome);
	if (!err)
		err = parity_compare(loupe_generated_image(gen), &knobs, &row);
	if (err)
		complain_text("seed %llu: %s", (unsigned long long)seed, strerror(-err));
	else if (!row.kernel_judged && !(outcome.flags & UNJUDGED))
		complain_text("seed %llu: %s", (unsigned long long)seed, row.reason);
	else
		*out = (struct outcome){ outcome.insns, outcome.flags | COMPARED };
	if (!err && outcome.flags & UNJUDGED)
		printf("seed %llu not judged: %s\n", (unsigned long long)seed, row.reason);
	if (!err && parity_differs(&row)) {
		out->flags |= DIFFERS;
		if (out->insns <= SHRINK_INSNS)
			loupe_generated_shrink(&gen, still_differs, &knobs, SHRINK_STEPS);
		parity_compare(loupe_generated_image(gen), &knobs, &row);
		save(args, seed, gen, &row);
	}
	loupe_generated_destroy(gen);
}

struct work {
	const struct args *args;
	struct board *board;
};

static void compare_number(void *ctx, uint64_t i)
{
	const struct work *work = ctx;

	compare_seed(work->args, work->args->seed + i, &work->board->outcomes[i]);
}

static int by_insns(const void *a, const void *b)
{
	uint32_t x = ((const struct outcome *)a)->insns, y = ((const struct outcome *)b)->insns;

	return x < y ? -1 : x > y;
}

static int summarise(const struct args *args, struct board *board)
{
	static const struct {
		uint32_t flag;
		const char *what;
	} shares[] = {
		{ ACCEPTED, "accepted" },	  { HIT, "with a prune hit" },
		{ EVICTION, "with an eviction" }, { WALK, "with a precision walk" },
		{ CALL, "with calls" },		  { LOOP, "with a loop" },
	};
	uint32_t n = args->generate, differs = 0, failed = 0, unjudged = 0;

	for (uint32_t i = 0; i < n; i++) {
		failed += board->outcomes[i].flags & COMPARED ? 0 : 1;
		differs += board->outcomes[i].flags & DIFFERS ? 1 : 0;
		unjudged += board->outcomes[i].flags & UNJUDGED ? 1 : 0;
	}
	qsort(board->outcomes, n, sizeof(board->outcomes[0]), by_insns);
	printf("%u programs from seed %llu: %u different, %u not judged, %u not compared\n", n,
	       (unsigned long long)args->seed, differs, unjudged, failed);
	printf("processed instructions: median %u, 90 %% at most %u, most %u\n",
	       board->outcomes[n / 2].insns, board->outcomes[(uint64_t)n * 9 / 10].insns,
	       board->outcomes[n - 1].insns);
	for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
		uint32_t cnt = 0;

		for (uint32_t i = 0; i < n; i++)
			cnt += board->outcomes[i].flags & shares[s].flag ? 1 : 0;
		printf("%5.1f %% %s\n", 100.0 * cnt / n, shares[s].what);
	}
	return differs || failed ? STATUS_REJECTED : STATUS_OK;
}

int parity_generate(const struct args *args)
{
	size_t size = sizeof(struct board) + args->generate * sizeof(struct outcome);
	struct board *board =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	if (board == MAP_FAILED)
		return complain_text("out of memory");
	status = parity_share_out(&board->next, args->generate, args->jobs, compare_number,
				  &(struct work){ args, board });
	if (!status)
		status = summarise(args, board);
	munmap(board, size);
	return status;
}
