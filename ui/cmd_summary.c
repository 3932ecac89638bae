// SPDX-License-Identifier: GPL-2.0-only
/* What the explorer shows first, as text: verdict, counters, the error in plain sight. */
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "bpfloupe/log.h"
#include "beside.h"
#include "blame.h"
#include "commands.h"
#include "cost.h"
#include "explain.h"
#include "input.h"
#include "panes.h"
#include "subject.h"

/* More processed instructions, which takes another --insn-limit, are not recorded for a summary. */
enum { MOST_ANSWERED = 2000000 };

/* The counters that the kernel prints, too. */
static void print_counters(const struct loupe_counters *c)
{
	printf("  processed %u insn%s, %u state%s, %u at peak, at most %u in one walk\n",
	       c->insn_processed, plural(c->insn_processed), c->total_states,
	       plural(c->total_states), c->peak_states, c->max_states_per_insn);
}

static void print_where(const struct loupe_image *image)
{
	const char *type = loupe_prog_type_name(image->prog_type);
	const char *btf = input_kernel_btf(image);

	printf("%s%s%s: %s, %s, %u insn%s, %u map%s, loaded by %s%s%s\n",
	       input_base_name(image->file), image->object ? " > " : "",
	       image->object ? image->object : "", image->name, type ? type : "unknown type",
	       image->insn_cnt, plural(image->insn_cnt), image->map_cnt, plural(image->map_cnt),
	       image->host.loader ? image->host.loader : "unknown loader",
	       btf ? " with kernel BTF " : "", btf ? btf : "");
}

/* The last lines of the log, indented: a rejection ends with its reason. */
static void print_tail(const char *text, size_t len)
{
	enum { LINES = 6 };
	const char *at = text + len;
	int lines = 0;

	while (at > text && lines <= LINES)
		lines += *--at == '\n';
	if (*at == '\n')
		at++;
	while (at < text + len) {
		const char *end = memchr(at, '\n', (size_t)(text + len - at));
		size_t line = end ? (size_t)(end - at) : (size_t)(text + len - at);

		printf("    %.*s\n", (int)line, at);
		at += line + 1;
	}
}

/* Whether the model agrees with the user's log of it. @return status */
static int print_beside(const struct args *args, const struct beside *beside,
			const struct loupe_logged *logged, const struct loupe_image *image)
{
	struct beside_result result;

	if (beside_compare(beside->path, logged, image, &args->verify, &result))
		return complain_text("out of memory");
	printf("%s\n", result.words);
	for (int i = 0; i < 3 && result.diff.line; i++) {
		if (*result.diff.before[i])
			printf("           %s\n", result.diff.before[i]);
	}
	if (result.diff.line)
		printf("    log:   %s\n    model: %s\n", result.diff.want, result.diff.got);
	return result.agrees ? STATUS_OK : STATUS_REJECTED;
}

static void answered(void *data, struct subject *subject)
{
	(void)data;
	(void)subject;
}

/* Text broken at blanks, indented. */
static void print_wrapped(const char *text)
{
	enum { WIDTH = 96 };

	while (*text) {
		size_t len = strlen(text);

		for (size_t at = len > WIDTH ? WIDTH : 0; at; at--) {
			if (text[at] == ' ') {
				len = at;
				break;
			}
		}
		printf("  %.*s\n", (int)len, text);
		text += len + (text[len] == ' ');
	}
}

/* What made a program too large. */
static void print_cost(const struct subject *subject)
{
	const struct loupe_trace *trace = subject->trace;
	struct listing listing = { 0 };
	struct cost branches = { 0 };
	char text[400];

	if (!listing_init(&listing, loupe_trace_insns(trace), loupe_trace_insn_cnt(trace),
			  subject->source) &&
	    !cost_make(&branches, trace, subject->source, COST_BRANCH)) {
		cost_why_long(&branches, trace, &listing, "", text, sizeof(text));
		print_wrapped(text);
	}
	cost_finish(&branches);
	listing_finish(&listing);
}

static void print_rejection(const struct subject *subject)
{
	const struct explanation *explanation = explain_error(subject->error);
	struct loupe_fault fault;
	struct blame blame = { 0 };
	bool enough;

	if (explain_counts(subject) && subject->trace)
		print_cost(subject);
	else if (explanation && !strncmp(subject->error, "rejected", 8))
		print_wrapped(subject->error);
	if (explain_blames(subject) && !loupe_trace_fault(subject->trace, subject->error, &fault) &&
	    !blame_make(&blame, subject, fault.at, fault.loc))
		print_wrapped(blame.answer);
	enough = blame.enough;
	blame_finish(&blame);
	if (!explanation || enough)
		return;
	print_wrapped(explanation->rule);
	print_wrapped(explanation->ways);
}

static void print_findings(const struct findings *findings)
{
	char text[FINDING_TEXT + 2];

	for (uint32_t i = 0; i < findings->cnt; i++) {
		snprintf(text, sizeof(text), "%s.", findings->at[i].text);
		print_wrapped(text);
	}
}

/* What the explorer would say on the screen that opens. */
static void print_answer(const struct args *args, const struct input *input, uint32_t n)
{
	struct jobs *jobs = jobs_create();
	struct subject subject;
	struct job *job;

	subject_init(&subject, input, n);
	job = jobs ? subject_job(&subject, &args->verify, answered, NULL) : NULL;
	if (job) {
		jobs_add(jobs, job);
		jobs_wait(jobs);
	}
	if (job && subject.state == SUBJECT_READY && subject.trace) {
		if (subject.result.verdict == LOUPE_REJECTED)
			print_rejection(&subject);
		else if (subject.result.verdict == LOUPE_ACCEPTED)
			print_findings(&subject.findings);
	}
	subject_finish(&subject);
	jobs_destroy(jobs);
}

/* What a log says. */
static int summarize_log(const struct args *args, const struct input *input, uint32_t n)
{
	const struct loupe_logged *logged = loupe_log_file_at(input->log, n);
	const struct loupe_image *image = input->progs.progs[n].image;
	struct loupe_verify_result result;
	char verdict[512], lacks[256];
	const char *text;
	int status;
	size_t len;

	if (loupe_logged_replay(logged, NULL, &result))
		return complain_text("out of memory");
	verdict_text(&result, verdict, sizeof(verdict));
	loupe_lacks_print(lacks, sizeof(lacks), result.lacks);
	printf("%s: %s, verifier log, %u insns\n", input_base_name(image->file), image->name,
	       image->insn_cnt);
	printf("  %s\n", verdict);
	print_counters(&result.counters);
	printf("  %u steps read; the log lacks: %s\n", loupe_logged_step_cnt(logged), lacks);
	text = loupe_logged_text(logged, &len);
	if (result.verdict == LOUPE_REJECTED)
		print_tail(text, len);
	print_answer(args, input, n);
	status = verdict_status(result.verdict);
	loupe_verify_result_finish(&result);
	return status;
}

static int summarize_image(const struct args *args, const struct input *input, uint32_t n)
{
	const struct loupe_image *image = input->progs.progs[n].image;
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts), .level = LOUPE_LOG_LEVEL1 };
	struct loupe_verify_opts opts = args->verify;
	struct loupe_verify_result result;
	struct loupe_log *log;
	const char *text;
	char verdict[512];
	size_t len;
	int status;

	if (loupe_log_create(image, &log_opts, &log))
		return complain_text("out of memory");
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_verify(image, &opts, &result) || loupe_log_finish(log)) {
		loupe_log_destroy(log);
		return complain_text("out of memory");
	}
	verdict_text(&result, verdict, sizeof(verdict));
	print_where(image);
	printf("  %s\n", verdict);
	print_counters(&result.counters);
	printf("  comparisons: %llu hit%s, %llu miss%s, %llu uncounted; %llu eviction%s\n",
	       (unsigned long long)result.counters.compare_hits,
	       plural(result.counters.compare_hits),
	       (unsigned long long)result.counters.compare_misses,
	       result.counters.compare_misses == 1 ? "" : "es",
	       (unsigned long long)result.counters.compare_uncounted,
	       (unsigned long long)result.counters.evictions, plural(result.counters.evictions));
	text = loupe_log_text(log, &len);
	if (result.verdict == LOUPE_REJECTED && text)
		print_tail(text, len);
	loupe_log_destroy(log);
	if (result.counters.insn_processed <= MOST_ANSWERED)
		print_answer(args, input, n);
	status = verdict_status(result.verdict);
	loupe_verify_result_finish(&result);
	return status;
}

static int summarize_filter(const struct args *args, const struct input *input)
{
	const struct loupe_filter *filter = input->filter;
	struct loupe_filter_opts opts = args->passes;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw;
	uint32_t level;
	struct loupe_error err;
	char *text;
	size_t len;

	opts.weights = &input->weights;
	if (loupe_filter_optimize_proven(filter, &opts, &rw, &proof, &level, &err))
		return complain(&err);
	if (loupe_filter_emit(filter, rw, LOUPE_EMIT_STATS, &text, &len)) {
		loupe_rewrite_destroy(rw);
		return complain_text("out of memory");
	}
	printf("%s: %s filter, %u edits at level %u, %s\n", filter->name,
	       filter->flavour == LOUPE_FILTER_SECCOMP ? "seccomp" : "socket",
	       loupe_rewrite_edit_cnt(rw), level,
	       proof.verdict == LOUPE_PROOF_PROVEN ? "proven equivalent" : "tested, not proven");
	fwrite(text, 1, len, stdout);
	free(text);
	loupe_rewrite_destroy(rw);
	return STATUS_OK;
}

/* The status is that of the worst: unreadable, not judged, rejected, accepted. */
static int worse(int a, int b)
{
	static const int rank[] = { [STATUS_OK] = 0, [STATUS_REJECTED] = 1, [STATUS_NOT_JUDGED] = 2,
				    [STATUS_USAGE] = 3 };

	return rank[a] >= rank[b] ? a : b;
}

static int summarize_beside(const struct args *args, const char *file, const struct input *input)
{
	struct beside beside;
	struct loupe_error err;
	int status = STATUS_OK, found = 0;

	if (beside_open(args->log, &beside, &err))
		return complain(&err);
	for (uint32_t i = 0; i < input->progs.cnt; i++) {
		const struct loupe_program *prog = &input->progs.progs[i];
		const struct loupe_logged *logged =
			prog->image ? beside_find(&beside, prog->name, input->progs.cnt == 1,
						  args->load.prog_name) : NULL;

		if (!logged)
			continue;
		found++;
		status = worse(status, print_beside(args, &beside, logged, prog->image));
	}
	if (!found)
		status = complain_text(
			"%s: not of a program of %s; --prog chooses the one that it is of",
			args->log, file);
	beside_close(&beside);
	return status;
}

static int summarize_file(const struct args *args, const char *file)
{
	struct loupe_error err;
	struct input input;
	int status = STATUS_OK;

	if (input_open(file, &args->load, &args->filters, &input, &err))
		return complain(&err);
	if (input.kind == INPUT_FILTER)
		status = summarize_filter(args, &input);
	else if (!input.progs.cnt)
		status = complain_text("%s: holds no such BPF program", file);
	if (args->log && status == STATUS_OK && input.kind == INPUT_PROGRAMS && !input.log)
		status = summarize_beside(args, file, &input);
	for (uint32_t i = 0;
	     status != STATUS_USAGE && input.kind == INPUT_PROGRAMS && i < input.progs.cnt; i++) {
		const struct loupe_program *prog = &input.progs.progs[i];

		if (input.log)
			status = worse(status, summarize_log(args, &input, i));
		else if (prog->image)
			status = worse(status, summarize_image(args, &input, i));
		else
			status = worse(status, complain_text("%s: %s does not load: %s", file,
							     prog->name, prog->reason));
	}
	input_finish(&input);
	return status;
}

int cmd_summary(const struct args *args)
{
	int status = STATUS_OK;

	for (uint32_t i = 0; i < args->file_cnt; i++)
		status = worse(status, summarize_file(args, args->files[i]));
	return status;
}
