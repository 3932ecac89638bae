// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe bench: how long the model takes, bare and with listeners, and the running kernel. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpfloupe/insn.h"
#include "bpfloupe/kernel.h"
#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"
#include "commands.h"

/* The things that are timed, in turn. */
enum contest { BARE, RECORDING, LOGGING, KERNEL, CONTESTS };

static const char *const contest_names[CONTESTS] = {
	[BARE] = "model",
	[RECORDING] = "model, recording a trace",
	[LOGGING] = "model, log level 6",
	[KERNEL] = "kernel, its own time",
};

static const double spread_limit = 1.5;

enum { MIN_INSNS = 10000 }; /* of programs whose memory a processed insn says something */

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

/* One verification with or without a listener, timed until its outcome can be used, as the kernel
 * times itself. @return 0 or -ENOMEM */
static int run_model(const struct loupe_image *image, enum contest contest,
		     struct loupe_verify_result *result, double *ms)
{
	double start = now_ms();
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
	*ms = now_ms() - start;
	loupe_trace_destroy(trace);
	loupe_log_destroy(log);
	return err;
}

static int time_model(const struct loupe_image *image, enum contest contest, struct timing *timing)
{
	struct loupe_verify_result result;
	double ms;

	if (run_model(image, contest, &result, &ms))
		return complain_text("out of memory");
	note(timing, ms);
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
		double ms;

		_exit(!baseline && run_model(image, contest, &result, &ms));
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

/* All that is measured of one program. */
struct measured {
	struct timing timings[CONTESTS];
	long kib[RECORDING + 1]; /* peak of BARE and RECORDING, -1 unknown */
	uint32_t insns, states;
	char verdict[512];
};

static bool is_clear(const struct timing *timing)
{
	return timing->most <= timing->least * spread_limit;
}

/* Ratio of minima, 0 if one is missing. */
static double ratio(const struct measured *m, enum contest a, enum contest b)
{
	if (!m->timings[a].runs || !m->timings[b].runs || m->timings[b].least <= 0)
		return 0;
	return m->timings[a].least / m->timings[b].least;
}

static void print_ratio(const char *what, const struct measured *m, enum contest a, enum contest b)
{
	if (ratio(m, a, b) > 0)
		printf("%-26s %10.2f%s\n", what, ratio(m, a, b),
		       is_clear(&m->timings[a]) && is_clear(&m->timings[b]) ?
			       "" :
			       "   no result: a spread is above 1.5");
}

static void print_timings(const struct measured *m)
{
	printf("%-26s %10s %10s %10s %10s\n", "", "least ms", "most ms", "spread", "peak MiB");
	for (int i = 0; i < CONTESTS; i++) {
		const struct timing *timing = &m->timings[i];

		if (!timing->runs)
			continue;
		printf("%-26s %10.3f %10.3f", contest_names[i], timing->least, timing->most);
		if (timing->least > 0)
			printf(" %10.2f", timing->most / timing->least);
		if (i <= RECORDING && m->kib[i] >= 0)
			printf(" %10.1f", (double)m->kib[i] / 1024);
		putchar('\n');
	}
	print_ratio("model / kernel", m, BARE, KERNEL);
	print_ratio("recording / model", m, RECORDING, BARE);
	print_ratio("recording / kernel", m, RECORDING, KERNEL);
}

/* Runs the contests up to last and the kernel in turn. @return exit status */
static int measure(const struct args *args, const struct loupe_image *image, enum contest last,
		   struct measured *m)
{
	struct loupe_verify_result result;
	struct loupe_error err;
	bool kernel = !loupe_kernel_usable(&err);
	double ms;
	int status;

	*m = (struct measured){ 0 };
	measure_memory(image, m->kib);
	if (run_model(image, BARE, &result, &ms))
		return complain_text("out of memory");
	verdict_text(&result, m->verdict, sizeof(m->verdict));
	m->insns = result.counters.insn_processed;
	m->states = result.counters.total_states;
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
	for (uint32_t i = 0; i < args->runs; i++) {
		for (int j = BARE; j <= (int)last; j++) {
			if (time_model(image, (enum contest)j, &m->timings[j]))
				return STATUS_USAGE;
		}
		if (kernel)
			time_kernel(image, &m->timings[KERNEL], &kernel);
	}
	return status;
}

static int bench(const struct args *args, const struct loupe_image *image)
{
	struct measured m;
	int status = measure(args, image, LOGGING, &m);

	if (status == STATUS_USAGE)
		return status;
	printf("%s: %s, %u insns processed, %u states; %u runs of each in turn\n", image->name,
	       m.verdict, m.insns, m.states, args->runs);
	print_timings(&m);
	return status;
}

static int bench_file(const struct args *args, const char *file, struct measured *row)
{
	const struct loupe_image *image;
	struct loupe_program_list list;
	int status = load_programs(args, file, &list);

	if (status)
		return status;
	image = only_program(args, &list, file);
	if (!image)
		status = STATUS_USAGE;
	else if (row)
		status = measure(args, image, RECORDING, row);
	else
		status = bench(args, image);
	loupe_program_list_finish(&list);
	return status;
}

/* --- a list of programs ------------------------------------------------------------------- */

/* Ratios over the programs of a list. */
struct totals {
	double log_sum[RECORDING + 1], worst[RECORDING + 1]; /* to the kernel's */
	double mib_per_million[RECORDING + 1];		     /* most of a program */
	uint32_t cnt;
};

static void print_row(const char *program, const struct measured *m, struct totals *totals)
{
	bool clear = true;

	printf("%-16.16s %8u", program, m->insns);
	for (int i = BARE; i < CONTESTS; i++) {
		if (i != LOGGING)
			printf(" %9.3f", m->timings[i].least);
		clear = clear && is_clear(&m->timings[i]);
	}
	for (int i = BARE; i <= RECORDING; i++) {
		double one = ratio(m, (enum contest)i, KERNEL);
		double mib = (double)m->kib[i] * 1e6 / 1024 / m->insns;

		printf(" %9.2f", one);
		if (one > 0)
			totals->log_sum[i] += log(one);
		if (one > totals->worst[i])
			totals->worst[i] = one;
		if (m->insns >= MIN_INSNS && mib > totals->mib_per_million[i])
			totals->mib_per_million[i] = mib;
	}
	totals->cnt += m->timings[KERNEL].runs != 0;
	printf(" %8.1f%s\n", (double)m->kib[RECORDING] / 1024, clear ? "" : " *");
	fflush(stdout);
}

static void print_totals(const struct totals *totals)
{
	static const char *const names[] = { [BARE] = "model", [RECORDING] = "recording" };

	printf("*: a spread (most / least of a column's runs) is above 1.5\n");
	for (int i = BARE; i <= RECORDING; i++) {
		if (totals->cnt)
			printf("%s / kernel: geometric mean %.3f of %u programs, worst %.2f\n",
			       names[i], exp(totals->log_sum[i] / totals->cnt), totals->cnt,
			       totals->worst[i]);
		printf("%s: at most %.0f MiB for a million processed insns\n", names[i],
		       totals->mib_per_million[i]);
	}
}

/* A line of the list: FILE [PROGRAM [TYPE]]. @return exit status; what is not installed is no
 * error */
static int bench_line(const struct args *args, const char *dir, char *line, struct totals *totals)
{
	char *file = strtok(line, " \t\n"), *prog = strtok(NULL, " \t\n"),
	     *type = strtok(NULL, " \t\n");
	struct args own = *args;
	struct measured m;
	char path[4096];
	int status;

	if (!file || file[0] == '#')
		return STATUS_OK;
	snprintf(path, sizeof(path), "%s%s", file[0] == '/' ? "" : dir, file);
	if (access(path, F_OK)) {
		printf("%-16.16s there is no %s\n", prog ? prog : "", path);
		return STATUS_OK;
	}
	own.load.prog_name = prog;
	if (type) {
		int number = loupe_prog_type_by_name(type);

		if (number < 0)
			return complain_text("there is no program type '%s'", type);
		own.load.prog_type = (uint32_t)number;
	}
	status = bench_file(&own, path, &m);
	if (status != STATUS_USAGE)
		print_row(prog ? prog : "", &m, totals);
	return status;
}

static int bench_list(const struct args *args)
{
	const char *list = args->files[0], *slash = strrchr(list, '/');
	struct totals totals = { 0 };
	char line[4096], dir[4096];
	FILE *in = fopen(list, "r");
	int status = STATUS_OK;

	if (!in)
		return complain_text("%s: %s", list, strerror(errno));
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - list) + 1 : 0, list);
	printf("%-16s %8s %9s %9s %9s %9s %9s %8s\n%-16s %8s %9s %9s %9s %9s %9s %8s\n", "program",
	       "insns", "model", "recording", "kernel", "model /", "recording", "peak", "", "",
	       "ms", "ms", "ms", "kernel", "/ kernel", "MiB");
	while (status != STATUS_USAGE && fgets(line, sizeof(line), in)) {
		int one = bench_line(args, dir, line, &totals);

		if (one)
			status = one;
	}
	fclose(in);
	print_totals(&totals);
	return status;
}

int cmd_bench(const struct args *args)
{
	return args->list ? bench_list(args) : bench_file(args, args->files[0], NULL);
}
