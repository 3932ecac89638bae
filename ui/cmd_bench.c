// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe bench: how long the model takes, bare and with listeners, and the running kernel. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpfloupe/kernel.h"
#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"
#include "commands.h"

enum { DEFAULT_RUNS = 10 };

/* The things that are timed, in turn. */
enum contest { BARE, RECORDING, LOGGING, KERNEL, CONTESTS };

static const char *const contest_names[CONTESTS] = {
	[BARE] = "model",
	[RECORDING] = "model, recording a trace",
	[LOGGING] = "model, log level 6",
	[KERNEL] = "kernel, its own time",
};

static const double spread_limit = 1.5;

struct timing {
	double least, most; /* milliseconds */
	uint32_t runs;
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void note(struct timing *timing, double ms)
{
	if (!timing->runs || ms < timing->least)
		timing->least = ms;
	if (!timing->runs || ms > timing->most)
		timing->most = ms;
	timing->runs++;
}

static void drop(void *ctx, const char *text, size_t len)
{
	*(uint64_t *)ctx += len;
	(void)text;
}

/* One verification with or without a listener. @return 0 or -ENOMEM */
static int run_model(const struct loupe_image *image, enum contest contest,
		     struct loupe_verify_result *result)
{
	uint64_t log_bytes = 0;
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS,
		.sink = drop,
		.sink_ctx = &log_bytes,
	};
	struct loupe_verify_opts opts;
	struct loupe_trace *trace = NULL;
	struct loupe_log *log = NULL;
	int err = 0;

	loupe_verify_opts_init(&opts);
	if (contest == RECORDING) {
		trace = loupe_trace_create(image);
		if (!trace)
			return -ENOMEM;
		opts.listeners[opts.listener_cnt++] = loupe_trace_listener(trace);
	} else if (contest == LOGGING) {
		err = loupe_log_create(image, &log_opts, &log);
		if (err)
			return err;
		opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	}
	err = loupe_verify(image, &opts, result);
	if (!err && trace)
		err = loupe_trace_finish(trace);
	if (!err && log)
		err = loupe_log_finish(log);
	loupe_trace_destroy(trace);
	loupe_log_destroy(log);
	return err;
}

static int time_model(const struct loupe_image *image, enum contest contest, struct timing *timing)
{
	struct loupe_verify_result result;
	double start = now_ms();
	int err = run_model(image, contest, &result);

	if (err)
		return complain_text("out of memory");
	note(timing, now_ms() - start);
	loupe_verify_result_finish(&result);
	return 0;
}

/* @return 0; a kernel that does not judge ends its column with a line on stderr */
static void time_kernel(const struct loupe_image *image, struct timing *timing, bool *usable)
{
	struct loupe_kernel_opts opts = { .size = sizeof(opts) };
	struct loupe_kernel_result result;
	struct loupe_error err;

	if (loupe_kernel_verify(image, &opts, &result, &err)) {
		complain(&err);
		*usable = false;
		return;
	}
	note(timing, (double)result.verification_us / 1e3);
	loupe_kernel_result_finish(&result);
}

/* Most memory that a process needs which verifies, in KiB; baseline: one that does nothing. */
static long peak_kib(const struct loupe_image *image, enum contest contest, bool baseline)
{
	struct rusage usage = { 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct loupe_verify_result result;

		_exit(!baseline && run_model(image, contest, &result));
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		return -1;
	return usage.ru_maxrss;
}

/* Measured first: later, memory that a run has freed would serve the next one. */
static void measure_memory(const struct loupe_image *image, long *kib)
{
	long none = peak_kib(image, BARE, true);

	for (int i = BARE; i <= RECORDING; i++) {
		kib[i] = none < 0 ? -1 : peak_kib(image, (enum contest)i, false);
		if (kib[i] >= 0)
			kib[i] = kib[i] > none ? kib[i] - none : 0;
	}
}

static void print_ratio(const char *what, const struct timing *a, const struct timing *b)
{
	bool clear = a->most <= a->least * spread_limit && b->most <= b->least * spread_limit;

	if (a->runs && b->runs && b->least > 0)
		printf("%-26s %10.2f%s\n", what, a->least / b->least,
		       clear ? "" : "   no result: a spread is above 1.5");
}

static void print_timings(const struct timing *timings, const long *kib)
{
	printf("%-26s %10s %10s %10s %10s\n", "", "least ms", "most ms", "spread", "peak MiB");
	for (int i = 0; i < CONTESTS; i++) {
		if (!timings[i].runs)
			continue;
		printf("%-26s %10.3f %10.3f", contest_names[i], timings[i].least, timings[i].most);
		if (timings[i].least > 0)
			printf(" %10.2f", timings[i].most / timings[i].least);
		if (i <= RECORDING && kib[i] >= 0)
			printf(" %10.1f", (double)kib[i] / 1024);
		putchar('\n');
	}
	print_ratio("model / kernel", &timings[BARE], &timings[KERNEL]);
	print_ratio("recording / model", &timings[RECORDING], &timings[BARE]);
	print_ratio("recording / kernel", &timings[RECORDING], &timings[KERNEL]);
}

static int bench(const struct args *args, const struct loupe_image *image)
{
	uint32_t runs = args->runs ? args->runs : DEFAULT_RUNS;
	struct timing timings[CONTESTS] = { 0 };
	struct loupe_verify_result result;
	struct loupe_error err;
	bool kernel = !loupe_kernel_usable(&err);
	char verdict[512];
	long kib[CONTESTS];
	int status;

	measure_memory(image, kib);
	if (run_model(image, BARE, &result))
		return complain_text("out of memory");
	verdict_text(&result, verdict, sizeof(verdict));
	printf("%s: %s, %u insns processed, %u states; %u runs of each in turn\n", image->name,
	       verdict, result.counters.insn_processed, result.counters.total_states, runs);
	status = result.verdict == LOUPE_ACCEPTED || result.verdict == LOUPE_REJECTED ?
			 STATUS_OK :
			 STATUS_NOT_JUDGED;
	if (kernel && result.kernel_crashes) {
		snprintf(err.message, sizeof(err.message), "%s", result.reason);
		kernel = false;
	}
	loupe_verify_result_finish(&result);
	if (!kernel)
		fprintf(stderr, "bpfloupe: no kernel column: %s\n", err.message);
	for (uint32_t i = 0; i < runs; i++) {
		for (int j = BARE; j <= LOGGING; j++) {
			if (time_model(image, (enum contest)j, &timings[j]))
				return STATUS_USAGE;
		}
		if (kernel)
			time_kernel(image, &timings[KERNEL], &kernel);
	}
	print_timings(timings, kib);
	return status;
}

int cmd_bench(const struct args *args)
{
	const struct loupe_image *image;
	struct loupe_program_list list;
	int status = load_programs(args, args->files[0], &list);

	if (status)
		return status;
	image = only_program(args, &list, args->files[0]);
	status = image ? bench(args, image) : STATUS_USAGE;
	loupe_program_list_finish(&list);
	return status;
}
